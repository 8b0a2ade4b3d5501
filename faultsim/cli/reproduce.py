"""Run a paper's experiments again: its figures, their data, and a table that judges each of its claims.

  faultsim reproduce krevat2002        Krevat, Castanos, Moreira: Job Scheduling for the BlueGene/L System (JSSPP 2002)
  faultsim reproduce oliner2004        Oliner and others: Fault-aware Job Scheduling for BlueGene/L Systems (IPDPS 2004)
  faultsim reproduce zhang2004         Zhang, Squillante, Sivasubramaniam, Sahoo: Performance Implications of Failures
                                       in Large-Scale Cluster Scheduling (JSSPP 2004)
  faultsim reproduce li2009            Li, Lan, Gujrati, Sun: Fault-Aware Runtime Strategies for High-Performance
                                       Computing (IEEE TPDS, 2009)
  faultsim reproduce yu2010            Yu, Wang, Shi: Failure-aware workflow scheduling in cluster environments
                                       (Cluster Computing 2010)
  faultsim reproduce bluegene          Oliner's schedulers on the failure record of a real Blue Gene/L
  faultsim reproduce all               every paper, with one report

The real logs are used when --data (or the environment variable FAULTSIM_DATA) names a folder that holds them (or its
folders swf and failures do): NASA-iPSC-1993-3.1-cln.swf.gz and SDSC-SP2-1998-4.2-cln.swf.gz for krevat2002, oliner2004
and bluegene, Best.all-fail.gz for bluegene, else built-in look-alikes; CTC-SP2-1996-3.1-cln.swf.gz for zhang2004,
beside the paper's own kind of workload, and with LA-UR-05-7318-failure-data-1996-2005.csv.gz for li2009; that record
for yu2010, else a synthetic one, and workflows in its folders dags/wfcommons and dags/dax.
"""

import argparse
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faultsim.cli import reproduce_all
from faultsim.cli.output import print_json
from faultsim.cli.parser import Action, Parser, choose
from faultsim.cli.reproduce_all import Load
from faultsim.errors import OptionError
from faultsim.simulation.progress import reporting
from faultsim.version import __version__

__all__ = ["main"]


@dataclass(frozen=True)
class Paper:
    """A row of `PAPERS`.

    Parameters
    ----------
    description : str
        For --help.
    quick : str
        What --quick leaves out, and how long it takes then.
    load : callable
        Imports it: its ``reproduce``, and the names of its logs and traces (a folder that FAULTSIM_DATA names counts if
        it has one of them).
    options : mapping
        Options of its own: flag -> keywords of `add_argument`; they go to ``reproduce`` by their names.
    """

    description: str
    quick: str
    load: Load
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def _krevat2002() -> tuple[Callable[..., Any], Sequence[str]]:
    from faultsim.reproduce import krevat2002, krevat_inputs

    return krevat2002.reproduce, tuple(krevat_inputs.FILES.values())


def _oliner2004() -> tuple[Callable[..., Any], Sequence[str]]:
    from faultsim.reproduce import oliner2004, oliner_inputs

    return oliner2004.reproduce, [name for names in oliner_inputs.FILES.values() for name in names]


def _bluegene() -> tuple[Callable[..., Any], Sequence[str]]:
    from faultsim.reproduce import bluegene, bluegene_inputs

    return bluegene.reproduce, tuple(bluegene_inputs.FILES.values())


def _zhang2004() -> tuple[Callable[..., Any], Sequence[str]]:
    from faultsim.reproduce import zhang2004, zhang_inputs

    return zhang2004.reproduce, (zhang_inputs.FILE,)


def _li2009() -> tuple[Callable[..., Any], Sequence[str]]:
    from faultsim.reproduce import li2009, li_inputs

    return li2009.reproduce, tuple(li_inputs.FILES.values())


#: The baseline of [li2009], chosen by us but for MTBF and load: flag -> what it is, its unit, its default.
_LI_NUMBERS = {
    "--gap": ("mean time between arrivals", "S", "418.5"),
    "--runtime": ("mean run time", "S", "15000"),
    "--size": ("mean size", "NODES", "10"),
    "--mtbf": ("mean time between failures of a node", "DAYS", "56"),
    "--mttr": ("mean time to repair", "HOURS", "1"),
    "--checkpoint-cost": ("time of a checkpoint", "S", "30"),
    "--restart-cost": ("time of a restart", "S", "30"),
    "--interval": ("time between two ticks of FARS", "S", "300"),
    "--precision": ("of the predictor", "P", ".7"),
    "--recall": ("of the predictor", "R", ".45"),
}
_LI_CHOICES = {
    "--suspicious": ("nodes that are predicted to fail are used", ("last", "ignore")),
    "--queue-cost": ("estimate of the wait of a killed job", ("last", "mean")),
    "--residual": ("gain of the residual rule", ("printed", "difference")),
    "--bathtub": ("sub-populations of the bathtub curve", ("per_node", "per_gap")),
}
_LI_OPTIONS: dict[str, Mapping[str, Any]] = {
    "--jobs": {"type": int, "metavar": "N", "help": "jobs of a drawn workload (default 20000)"},
    **{
        flag: {"type": float, "metavar": unit, "help": f"{words} (default {default})"}
        for flag, (words, unit, default) in _LI_NUMBERS.items()
    },
    **{
        flag: {"choices": names, "help": f"{words} (default {names[0]})"}
        for flag, (words, names) in _LI_CHOICES.items()
    },
    "--live": {"action": "store_true", "help": "live migration instead of stop and restart"},
}


def _yu2010() -> tuple[Callable[..., Any], Sequence[str]]:
    from faultsim.reproduce import yu2010, yu_inputs

    return yu2010.reproduce, (yu_inputs.FILE,)


_REPLICATES = {"--replicates": {"type": int, "metavar": "N", "help": "replicates of a setting (default 10)"}}
#: Module of `faultsim.reproduce` -> its row.
PAPERS = {
    "krevat2002": Paper(
        "Run the experiments of Krevat, Castanos, Moreira (JSSPP 2002) and judge their claims.",
        "half of the load coefficients: under ten seconds",
        _krevat2002,
    ),
    "oliner2004": Paper(
        "Run the experiments of Oliner and others (IPDPS 2004) and judge their claims.",
        "three replicates, half of the confidences and failure counts: under twenty seconds",
        _oliner2004,
        _REPLICATES | {"--llnl": {"metavar": "FILE", "help": "the LLNL-T3D log (SWF, 256 nodes), which is not public"}},
    ),
    "zhang2004": Paper(
        "Run the experiments of Zhang, Squillante, Sivasubramaniam, Sahoo (JSSPP 2004) and judge their claims.",
        "three run-time factors, three replicates: under twenty seconds",
        _zhang2004,
    ),
    "li2009": Paper(
        "Run the experiments of Li, Lan, Gujrati, Sun (IEEE TPDS, 2009) and judge their claims.",
        "two replicates, fewer loads, MTBFs, precisions and recalls, a shorter trace: under twenty seconds",
        _li2009,
        {"--replicates": {"type": int, "metavar": "N", "help": "replicates of a setting (default 20)"}} | _LI_OPTIONS,
    ),
    "yu2010": Paper(
        "Run the experiments of Yu, Wang, Shi (Cluster Computing 2010) and judge their claims.",
        "three windows, two prediction traces, two numbers of workflows: under twenty seconds",
        _yu2010,
    ),
    "bluegene": Paper(
        "Run Oliner's schedulers on the failure record of a real Blue Gene/L.",
        "two replicates, two loads, fewer policies: under twenty seconds",
        _bluegene,
        _REPLICATES,
    ),
}


def _ambient(files: Sequence[str]) -> str | None:
    """The folder that FAULTSIM_DATA names, if it holds one of the logs; unlike --data it may be meant for others."""
    from faultsim.reproduce.inputs import find_file

    folder = os.environ.get("FAULTSIM_DATA")
    return folder if folder and find_file(folder, files) else None


def _reproduce(name: str, paper: Paper, parser: Parser, argv: Sequence[str]) -> int:
    parser.description = paper.description
    out = f"{name}-out"
    parser.add_argument("--data", metavar="DIR", help="folder with the real logs (default: FAULTSIM_DATA, else none)")
    parser.add_argument("--quick", action="store_true", help=paper.quick)
    parser.add_argument(
        "--out", default=out, metavar="DIR", help=f"folder for figures, data and claims (default {out})"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="threads (default: one a processor)")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="seed of all that is drawn, look-alikes too (default 0)"
    )
    parser.add_argument("--page", metavar="FILE", help="write the claims there instead of DIR/CLAIMS.md")
    parser.add_argument("--report", metavar="FILE", help="write claims, tables and figures as one HTML file, too")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a claim does not hold")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    for flag, keywords in paper.options.items():
        parser.add_argument(flag, default=argparse.SUPPRESS, **keywords)
    given = vars(parser.parse_args(argv))
    strict, as_json, report_file = given.pop("strict"), given.pop("json"), given.pop("report")
    if report_file and not Path(report_file).absolute().parent.is_dir():
        raise OptionError(f"--report {report_file}: its folder does not exist")
    workers = given["workers"] if given["workers"] is not None else os.cpu_count() or 1
    if workers < 1:
        raise OptionError(f"--workers: got {workers}, at least 1 is needed")
    reproduce, files = paper.load()
    given |= {"workers": workers, "data": given["data"] or _ambient(files)}
    with reporting(True, "runs") as report:
        done = reproduce(**given, progress=report)
    if report_file:
        from faultsim.reproduce.html import page_of

        page_of(done, command=shlex.join(["faultsim", "reproduce", name, *argv])).write(report_file)
    if as_json:
        print_json({"faultsim": __version__, **done.document()})
    else:
        print(done.text())
        if report_file:
            print(f"written  {report_file}")
    return 1 if strict and done.failed else 0


def _action(name: str, paper: Paper) -> Action:
    return lambda parser, argv: _reproduce(name, paper, parser, argv)


def _all(parser: Parser, argv: Sequence[str]) -> int:
    return reproduce_all.main(parser, argv, {name: paper.load for name, paper in PAPERS.items()})


ACTIONS: dict[str, Action] = {name: _action(name, paper) for name, paper in PAPERS.items()} | {"all": _all}


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim reproduce``."""
    return choose(parser, argv, ACTIONS, "paper")
