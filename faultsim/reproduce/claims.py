"""A paper's claims as a table: what it says, what we measure, and whether the two agree.

A claim names its rule in words, and the rule is applied as it stands: it is written before the numbers are seen, and a
claim that does not hold is printed as such.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Generic, TypeVar

Evidence = TypeVar("Evidence")


class Verdict(StrEnum):
    """Whether a claim holds under its rule.

    Examples
    --------
    >>> str(Verdict.FAILS)
    'does not hold'
    """

    HOLDS = "holds"
    PARTLY = "partly"
    FAILS = "does not hold"
    NOT_JUDGED = "not judged"  # the runs do not reach the region that the claim is about


@dataclass(frozen=True)
class Finding:
    """What was measured for one claim: our value, the verdict, and a remark."""

    ours: str
    verdict: Verdict
    note: str = ""


@dataclass(frozen=True)
class Claim(Generic[Evidence]):
    """One claim of a paper.

    Parameters
    ----------
    id : str
        Its label, such as ``"K9"``.
    text : str
        The claim in short.
    where : str
        Section, figure or table.
    kind : str
        "number", "order" (an order or a shape) or "unit" (an exact check).
    paper : str
        The paper's value.
    rule : str
        When it holds, and when partly, in words.
    settings : str
        Machine, policies and options of the runs it looks at.
    judge : callable
        From the evidence to a `Finding`.
    """

    id: str
    text: str
    where: str
    kind: str
    paper: str
    rule: str
    settings: str
    judge: Callable[[Evidence], Finding]


class Claims(list[Claim[Evidence]]):
    """Claims in the order of the table, each written down beside the function that judges it."""

    def add(
        self, id: str, where: str, kind: str, paper: str, *, settings: str
    ) -> Callable[[Callable[[Evidence], Finding]], Callable[[Evidence], Finding]]:
        """Adds the claim that a function judges: its docstring is the claim in a sentence, and below that the rule."""

        def added(judge: Callable[[Evidence], Finding]) -> Callable[[Evidence], Finding]:
            text, _, rule = (" ".join(part.split()) for part in (judge.__doc__ or "").partition("\n\n"))
            self.append(Claim(id, text.removesuffix("."), where, kind, paper, rule, settings, judge))
            return judge

        return added


@dataclass(frozen=True)
class Row:
    """A claim with what was found for it."""

    claim: Claim[Any]
    finding: Finding


def combine(*parts: bool) -> Verdict:
    """Holds if all `parts` are true, does not hold if none is, else partly.

    Examples
    --------
    >>> combine(True, False)
    <Verdict.PARTLY: 'partly'>
    """
    return Verdict.HOLDS if all(parts) else Verdict.PARTLY if any(parts) else Verdict.FAILS


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Holds if all do, does not hold if none holds even partly, else partly.

    Examples
    --------
    >>> str(all_of([Verdict.HOLDS, Verdict.FAILS]))
    'partly'
    """
    found = set(verdicts)
    if found == {Verdict.HOLDS}:
        return Verdict.HOLDS
    return Verdict.FAILS if found == {Verdict.FAILS} else Verdict.PARTLY


def nearness(value: float, target: float, tolerance: float) -> Verdict:
    """Holds within `tolerance` of `target`, partly within twice that.

    Examples
    --------
    >>> str(nearness(66.0, 63.0, 2.0))
    'partly'
    """
    off = abs(value - target)
    return Verdict.HOLDS if off <= tolerance else Verdict.PARTLY if off <= 2 * tolerance else Verdict.FAILS


def judged(verdict: Verdict, *numbers: float) -> Verdict:
    """`verdict`, or "not judged" if one of the numbers that it rests on is missing.

    Examples
    --------
    >>> str(judged(Verdict.HOLDS, 1.0, float("nan")))
    'not judged'
    """
    return Verdict.NOT_JUDGED if any(math.isnan(number) for number in numbers) else verdict


def number(value: float) -> str:
    """A number of any size in few characters.

    Examples
    --------
    >>> number(12345.0), number(0.1234)
    ('12,345', '0.123')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def judge(claims: Sequence[Claim[Evidence]], evidence: Evidence) -> list[Row]:
    """Apply every claim's rule to the evidence."""
    return [Row(claim, _readable(claim.judge(evidence))) for claim in claims]


def _readable(finding: Finding) -> Finding:
    """A number that the runs did not give prints as "n/a"."""
    return replace(finding, ours=re.sub(r"\bnan\b", "n/a", finding.ours), note=re.sub(r"\bnan\b", "n/a", finding.note))


def counts(rows: Sequence[Row]) -> str:
    """How many claims hold, and so on, in words."""
    found = {verdict: sum(row.finding.verdict is verdict for row in rows) for verdict in Verdict}
    return ", ".join(f"{count} {verdict}" for verdict, count in found.items() if count)


def text(rows: Sequence[Row], width: int = 100) -> str:
    """The table for a terminal: one block of lines per claim."""
    import textwrap

    lines = []
    for row in rows:
        claim, finding = row.claim, row.finding
        head = f"{claim.id:<4}{str(finding.verdict).upper():<14}"
        lines += textwrap.wrap(claim.text + f" ({claim.where})", width, initial_indent=head, subsequent_indent=" " * 18)
        for label, value in (
            ("paper", claim.paper),
            ("ours", finding.ours),
            ("note", finding.note),
            ("settings", claim.settings),
        ):
            if value:
                lines += textwrap.wrap(value, width, initial_indent=f"{label:>16}  ", subsequent_indent=" " * 18)
    return "\n".join(lines)


def markdown_table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> list[str]:
    """The lines of a table in Markdown.

    Examples
    --------
    >>> markdown_table(["a", "b"], [[1, "x|y"]])
    ['| a | b |', '|---|---|', '| 1 | x\\\\|y |']
    """

    def line(cells: Sequence[object]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return [line(head), "|" + "---|" * len(head), *map(line, rows)]


def markdown(rows: Sequence[Row]) -> str:
    """The table as Markdown, one row per claim, followed by the rules in words."""
    table = []
    for row in rows:
        claim, finding = row.claim, row.finding
        ours = finding.ours + (f" *({finding.note})*" if finding.note else "")
        table.append((claim.id, claim.text, claim.where, claim.paper, ours, f"**{finding.verdict}**", claim.settings))
    lines = markdown_table(("id", "claim", "where", "paper", "ours", "verdict", "settings"), table)
    lines += ["", "## How each claim is judged", ""]
    lines += [f'- <a id="{row.claim.id}"></a>**{row.claim.id}** ({row.claim.kind}): {row.claim.rule}' for row in rows]
    return "\n".join(lines)


def document(rows: Sequence[Row]) -> list[dict[str, str]]:
    """The table as plain data for JSON."""
    return [
        {
            "id": row.claim.id,
            "claim": row.claim.text,
            "where": row.claim.where,
            "kind": row.claim.kind,
            "paper": row.claim.paper,
            "ours": row.finding.ours,
            "verdict": str(row.finding.verdict),
            "note": row.finding.note,
            "rule": row.claim.rule,
            "settings": row.claim.settings,
        }
        for row in rows
    ]
