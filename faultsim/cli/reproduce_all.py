"""Run the experiments of all papers again, and write one report: every claim, its value there and here, the figures.

Each paper's files go to a folder of its own below --out, with the report beside them.
"""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from faultsim.cli.output import print_json, table
from faultsim.cli.parser import Parser
from faultsim.errors import OptionError
from faultsim.simulation.progress import reporting
from faultsim.version import __version__

__all__ = ["main"]

#: Imports a paper: its ``reproduce``, and the names of its logs.
Load = Callable[[], tuple[Callable[..., Any], Sequence[str]]]


def _add_arguments(parser: Parser) -> None:
    parser.description = __doc__
    parser.add_argument(
        "--data", metavar="DIR", help="folder with the real logs (default: FAULTSIM_DATA, else none); a paper none of "
        "whose logs are there runs on look-alikes"
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="every paper's quick run: about two minutes")
    parser.add_argument("--out", default="reproduce-all-out", metavar="DIR", help="folder (default reproduce-all-out)")
    parser.add_argument("--workers", type=int, metavar="N", help="threads (default: one a processor)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of all that is drawn (default 0)")
    parser.add_argument("--report", metavar="FILE", help="where the HTML report goes (default DIR/report.html)")
    parser.add_argument("--page", metavar="FILE", help="where the claims go as Markdown (default DIR/CLAIMS.md)")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a claim does not hold")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")


def _data(folder: str | None, files: dict[str, Sequence[str]]) -> dict[str, str | None]:
    """Name of the paper -> the folder, if one of its logs is there; --data must have one for some paper."""
    from faultsim.reproduce.inputs import find_file

    given = folder or os.environ.get("FAULTSIM_DATA")
    found = {name: given if given and find_file(given, names) else None for name, names in files.items()}
    if folder and not any(found.values()):
        raise OptionError(f"--data {folder}: none of the papers' logs are there (nor in its folders swf and failures)")
    return found


def main(parser: Parser, argv: Sequence[str], papers: Mapping[str, Load]) -> int:
    """``faultsim reproduce all``."""
    from faultsim.plot import require_matplotlib

    _add_arguments(parser)
    args = parser.parse_args(argv)
    workers = args.workers if args.workers is not None else os.cpu_count() or 1
    if workers < 1:
        raise OptionError(f"--workers: got {workers}, at least 1 is needed")
    require_matplotlib()
    from faultsim.reproduce import everything
    from faultsim.reproduce.html import page_of_all
    from faultsim.reproduce.report import folder

    out = folder(args.out)
    loaded = {name: papers[name]() for name in everything.PAPERS}
    data = _data(args.data, {name: files for name, (_, files) in loaded.items()})
    report, page = Path(args.report or out / "report.html"), Path(args.page or out / "CLAIMS.md")
    for path in (report, page):
        if not path.absolute().parent.is_dir():
            raise OptionError(f"{path}: its folder does not exist")
    done: list[Any] = []
    for name, (reproduce, _) in loaded.items():
        with reporting(True, f"{name} runs") as progress:
            done.append(
                reproduce(
                    data=data[name],
                    quick=args.quick,
                    out=out / name,
                    workers=workers,
                    seed=args.seed,
                    progress=progress,
                )
            )
    page_of_all(done, command=shlex.join(["faultsim", "reproduce", "all", *argv])).write(report)
    documents = {one.command: one.document() for one in done}
    relative = Path(os.path.relpath(out, page.absolute().parent))
    links = {name: (relative / name / "CLAIMS.md").as_posix() for name in documents}
    page.write_text(everything.page(documents, links=links), encoding="utf-8")
    if args.json:
        print_json(
            {
                "faultsim": __version__,
                "papers": documents,
                "report": str(report),
                "page": str(page),
            }
        )
    else:
        print(table([row[:-1] for row in everything.overview(documents)], everything.COLUMNS[:-1]))
        for one in done:
            if one.failed:
                print(f"{one.command}: does not hold: {', '.join(one.failed)}")
        print(everything.closing(documents))
        print(f"written  {report}")
        print(f"written  {page}")
    return 1 if args.strict and any(one.failed for one in done) else 0
