"""What ``faultsim run`` and ``faultsim show`` write of a result, and its part of their JSON documents."""

import argparse
from collections.abc import Mapping, Sequence

from faultsim.data.column_files import write_csv
from faultsim.data.tabular import ColumnTable
from faultsim.errors import OptionError
from faultsim.machines.power import Power
from faultsim.results.provenance import plain
from faultsim.results.result import Result

#: Options of ``--report``, and what each does without it: nothing.
_OF_REPORTS = ("reasons", "title", "against")


def add_report(out: argparse._ArgumentGroup, words: str) -> None:
    """``--report``, ``--reasons`` and ``--title``; `words` are the help of the first."""
    out.add_argument("--report", metavar="FILE", help=words)
    out.add_argument(
        "--reasons",
        type=int,
        metavar="N",
        help="jobs for which the report says why they waited, those that waited longest; each simulates the run again "
        "(default: at most 40, fewer of a long log)",
    )
    out.add_argument("--title", metavar="TEXT", help="heading of the report")


def check_report(args: argparse.Namespace) -> None:
    """Reject options of ``--report`` without it, and a negative number of reasons, before the work."""
    for name in _OF_REPORTS:
        if not args.report and getattr(args, name, None) not in (None, []):
            raise OptionError(f"--{name} is for --report FILE")
    if (getattr(args, "reasons", None) or 0) < 0:
        raise OptionError(f"--reasons must be at least 0, got {args.reasons}")


def require_pictures(args: argparse.Namespace) -> None:
    """Complain of a missing matplotlib before the work, not after it."""
    if args.gantt or args.report or args.recorded_figure:
        from faultsim.plot import require_matplotlib

        require_matplotlib()


def write_result(
    result: Result,
    args: argparse.Namespace,
    *,
    source: Sequence[str],
    command: str = "",
    name: str = "this run",
    against: Mapping[str, Result] | None = None,
) -> None:
    """Write ``--csv``, ``--gantt`` and ``--report``; what follows `args` is for the report."""
    if args.csv:
        write_csv(args.csv, result.jobs)
    if args.gantt:
        from faultsim.plot import plot_gantt, save

        save(plot_gantt(result), args.gantt)
    if args.recorded_figure:
        from faultsim.plot import new_figure, plot_against_recorded, save

        figure = new_figure(11.0, 4.0)
        left, right = figure.subplots(1, 2)
        plot_against_recorded(result, by="time", title="Mean waits over time", ax=left)
        plot_against_recorded(result, by="size", title="Mean waits by size", ax=right)
        save(left, args.recorded_figure)
    if args.report:
        from faultsim.report import report_run

        page = report_run(
            result,
            against=against,
            name=name,
            title=args.title or "",
            command=command,
            source=source,
            power=power_of(args),
            reasons=args.reasons,
        )
        page.write(args.report)


def add_tables(out: argparse._ArgumentGroup) -> None:
    """``--goodput``, ``--against-recorded`` and ``--power``."""
    out.add_argument(
        "--against-recorded", action="store_true", help="print simulated waits beside those that the log recorded"
    )
    out.add_argument("--recorded-figure", metavar="FILE", help="draw them, over time and by size (.png, .pdf, .svg)")
    out.add_argument("--goodput", action="store_true", help="print where the capacity went, and times between kills")
    out.add_argument(
        "--power",
        metavar="W",
        help="watts of a node, as in idle=100,busy=300,down=0: print what the run took in energy",
    )


def power_of(args: argparse.Namespace) -> Power | None:
    """What ``--power`` says."""
    if args.power is None:
        return None
    try:
        return Power.parse(args.power)
    except OptionError as error:
        raise OptionError(f"--power: {str(error).removeprefix('power: ')}") from None


def tables(result: Result, args: argparse.Namespace) -> list[str]:
    """What ``--goodput`` and ``--power`` print."""
    printed = [f"\ngoodput\n{result.goodput}\n\ntime between kills\n{result.mttf()}"] if args.goodput else []
    if args.against_recorded:
        printed.append(f"\n{result.against_recorded()}")
    power = power_of(args)
    return printed if power is None else [*printed, f"\nenergy\n{result.energy(power)}"]


def document(result: Result, args: argparse.Namespace, notes: Sequence[str] = ()) -> dict[str, object]:
    """The result as values of a JSON document; `notes` are further warnings."""
    power = power_of(args)
    asked: dict[str, object] = {"goodput": _rows(result.goodput), "mttf": _rows(result.mttf())} if args.goodput else {}
    if args.against_recorded:
        compared = result.against_recorded()
        asked["against_recorded"] = {
            **compared,
            "by_size": _rows(compared.by_size),
            "over_time": _rows(compared.over_time),
            "findings": list(compared.findings),
        }
    if power is not None:
        energy = result.energy(power)
        asked["energy"] = {
            "power": vars(power),
            "kwh": energy.kwh,
            "per_useful_node_hour": energy.per_useful_node_hour,
            "of_failures": energy.of_failures,
            "accounts": _rows(energy),
        }
    return {
        "model_revision": result.model_revision,
        "settings": plain(result.settings),
        "jobs": len(result),
        "metrics": dict(result.metrics),
        "ledger": dict(result.ledger),
        "warnings": [*result.warnings, *notes],
        **asked,
    }


def _rows(table: ColumnTable) -> list[dict[str, object]]:
    return [table[row] for row in range(len(table))]
