"""Run a paper's experiments again: its figures, their data, and a table that judges each of its claims.

  faultsim reproduce krevat2002        Krevat, Castanos, Moreira: Job Scheduling for the BlueGene/L System (JSSPP 2002)

The real logs are used when --data (or the environment variable FAULTSIM_DATA) names a folder that holds
NASA-iPSC-1993-3.1-cln.swf.gz and SDSC-SP2-1998-4.2-cln.swf.gz (or a folder swf with them); else built-in look-alikes.
"""

import os
from collections.abc import Sequence

from faultsim.cli.output import print_json
from faultsim.cli.parser import Action, Parser, choose
from faultsim.errors import NotAvailableError, OptionError
from faultsim.progress import reporting
from faultsim.version import __version__

__all__ = ["main"]


def _ambient() -> str | None:
    """The folder that FAULTSIM_DATA names, if it holds one of the logs; unlike --data it may be meant for others."""
    from faultsim.reproduce.krevat_inputs import FILES, find_log

    folder = os.environ.get("FAULTSIM_DATA")
    return folder if folder and any(find_log(folder, name) for name in FILES) else None


def _krevat2002(parser: Parser, argv: Sequence[str]) -> int:
    parser.description = "Run the experiments of Krevat, Castanos, Moreira (JSSPP 2002) and judge their claims."
    parser.add_argument("--data", metavar="DIR", help="folder with the real logs (default: FAULTSIM_DATA, else none)")
    parser.add_argument("--quick", action="store_true", help="half of the load coefficients: under ten seconds")
    parser.add_argument(
        "--out",
        default="krevat2002-out",
        metavar="DIR",
        help="folder for figures, data and claims (default krevat2002-out)",
    )
    parser.add_argument("--workers", type=int, metavar="N", help="threads (default: one a processor)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the look-alikes (default 0)")
    parser.add_argument("--page", metavar="FILE", help="write the claims there instead of DIR/CLAIMS.md")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a claim does not hold")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    args = parser.parse_args(argv)
    workers = args.workers if args.workers is not None else os.cpu_count() or 1
    if workers < 1:
        raise OptionError(f"--workers: got {workers}, at least 1 is needed")
    from faultsim.reproduce import krevat2002

    with reporting(True, "runs") as report:
        done = krevat2002.reproduce(
            data=args.data or _ambient(),
            quick=args.quick,
            out=args.out,
            workers=workers,
            seed=args.seed,
            page=args.page,
            progress=report,
        )
    if args.json:
        print_json({"faultsim": __version__, **done.document()})
    else:
        print(done.text())
    return 1 if args.strict and done.failed else 0


def _later(paper: str) -> Action:
    def refuse(parser: Parser, argv: Sequence[str]) -> int:
        raise NotAvailableError(f"'faultsim reproduce {paper}' is not in this version yet; there is: krevat2002")

    return refuse


ACTIONS: dict[str, Action] = {"krevat2002": _krevat2002} | {
    name: _later(name) for name in ("oliner2004", "zhang2004", "li2009", "yu2010", "all")
}


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim reproduce``."""
    return choose(parser, argv, ACTIONS, "paper")
