"""All papers at once: which they are, how many of their claims hold, and the page that says so.

It works on what a reproduction writes as ``claims.json``, so that the documentation's page can be made without a run.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from faultsim.reproduce.claims import Verdict, markdown_table
from faultsim.reproduce.documents import ClaimsDocument
from faultsim.reproduce.studies import papers

COLUMNS = ("paper", "claims", *map(str, Verdict), "runs", "title")


def _counts(document: ClaimsDocument) -> list[int]:
    found = [claim["verdict"] for claim in document["claims"]]
    return [found.count(str(verdict)) for verdict in Verdict]


def overview(documents: Mapping[str, ClaimsDocument]) -> list[list[str | int]]:
    """One row per paper, with the head `COLUMNS`.

    Parameters
    ----------
    documents : mapping of str to mapping
        Name of the paper -> what `Report.document` gave.
    """
    return [
        [name, len(document["claims"]), *_counts(document), int(document["runs"]), str(document["paper"])]
        for name, document in documents.items()
    ]


def closing(documents: Mapping[str, ClaimsDocument]) -> str:
    """How many claims there are, and how many of them hold, in a line.

    Examples
    --------
    >>> closing({"a": {"claims": [{"verdict": "holds"}, {"verdict": "partly"}]}})
    '2 claims of 1 paper: 1 holds, 1 partly'
    """
    sums = [sum(column) for column in zip(*map(_counts, documents.values()), strict=True)]
    words = ", ".join(f"{count} {verdict}" for count, verdict in zip(sums, Verdict, strict=False) if count)
    papers = "paper" if len(documents) == 1 else "papers"
    return f"{sum(sums)} claims of {len(documents)} {papers}: {words or 'none'}"


def documents_in(folder: str | Path) -> dict[str, ClaimsDocument]:
    """What reproductions wrote into ``folder/NAME/claims.json``, for those papers that are there."""
    found = {}
    for name in papers():
        path = Path(folder) / name / "claims.json"
        if path.is_file():
            found[name] = json.loads(path.read_text(encoding="utf-8"))
    return found


def page(documents: Mapping[str, ClaimsDocument], *, links: Mapping[str, str]) -> str:
    """Every claim of every paper as Markdown: how many hold, then the paper's value beside ours.

    Parameters
    ----------
    documents : mapping of str to mapping
        Name of the paper -> what `Report.document` gave.
    links : mapping of str to str
        Name of the paper -> the page that has its figures and rules.
    """
    lines = ["# All claims", ""]
    lines += [f"{closing(documents)}. Made from what `faultsim reproduce` writes; nothing here is edited by hand.", ""]
    rows = []
    for first, *rest in overview(documents):
        rows.append([f"[{first}]({links[str(first)]})" if first in links else first, *rest])
    lines += [*markdown_table(COLUMNS, rows), ""]
    for name, document in documents.items():
        about = [f"`{name}`" + (", a quick run" if document["quick"] else "")]
        about += [f"{source['name']}: {source['source']}" for source in document["logs"]]
        lines += [f"## {document['paper']}", "", "; ".join(about) + ".", ""]
        cells = [
            [
                claim["id"],
                claim["claim"],
                claim["where"],
                claim["paper"],
                claim["ours"],
                f"**{claim['verdict']}**",
                claim.get("parts", ""),
                claim.get("support", ""),
            ]
            for claim in document["claims"]
        ]
        lines += [*markdown_table(["id", "claim", "where", "paper", "ours", "verdict", "parts", "support"], cells), ""]
    return "\n".join(lines)
