"""What ``faultsim sweep`` and ``faultsim status`` show and write from a sweep's table."""

import argparse
from typing import TYPE_CHECKING, Any

from faultsim.cli.output import print_json, shown
from faultsim.cli.targets import add_older, add_quiet, check_targets
from faultsim.errors import OptionError

if TYPE_CHECKING:
    from faultsim.sweep.table import SweepTable


def add_table_arguments(parser: argparse.ArgumentParser) -> None:
    """``--metric``, ``--against``, ``--interval``, ``--csv``, ``--parquet``, ``--report``, ``--json``."""
    out = parser.add_argument_group("the table")
    out.add_argument("--metric", metavar="NAME", help="print its mean and 95 %% interval in every cell")
    out.add_argument(
        "--against", metavar="AXIS=VALUE", help="print paired differences of --metric against this instead"
    )
    out.add_argument(
        "--interval",
        metavar="KIND",
        help="what the interval is by: Student's t (t, the default), t for the logarithm (log), bca or bootstrap-t",
    )
    out.add_argument("--csv", metavar="FILE", help="write all columns as text; - for FILE is standard output")
    out.add_argument("--parquet", metavar="FILE", help="write all columns as Parquet")
    out.add_argument(
        "--report", metavar="FILE", help="write figures and tables, of --metric if given, as one HTML file"
    )
    out.add_argument("--json", action="store_true", help="print only one JSON document")
    add_older(out)
    add_quiet(out)


def check_table_arguments(args: argparse.Namespace) -> None:
    """Reject before the runs what would otherwise only fail after them; ``args.silent``: nothing else is printed."""
    if args.report:
        from faultsim.plot import require_matplotlib

        require_matplotlib()
    files = {"--csv": args.csv, "--parquet": args.parquet, "--report": args.report}
    taken = check_targets(files, json=args.json)
    if taken and args.metric and args.report != "-":
        raise OptionError("standard output has the rows and nothing else; leave out --metric, or name a file")
    args.silent = taken or args.json or args.quiet
    if args.against is not None:
        if args.metric is None:
            raise OptionError("--against is for a --metric: faultsim ... --metric mean_wait --against scheduler=fcfs")
        if "=" not in args.against:
            raise OptionError(f"--against: got {args.against!r}; write AXIS=VALUE, such as scheduler=fcfs")
    if args.interval is not None:
        if args.metric is None:
            raise OptionError("--interval is for a --metric: faultsim ... --metric mean_wait --interval log")
        from faultsim.checks import choice
        from faultsim.sweep.intervals import INTERVALS

        if choice("--interval", args.interval, INTERVALS) == "log" and args.against is not None:
            raise OptionError("--interval log is for means, without --against, whose relative_low is by logarithms")
    if args.metric is not None:
        from faultsim.checks import did_you_mean
        from faultsim.sweep.row_schema import ALL_COLUMNS

        name = args.metric.removeprefix("metric:")
        if name not in ALL_COLUMNS:
            raise OptionError(
                f"--metric: no {name!r}{did_you_mean(name, ALL_COLUMNS)}; known: {', '.join(ALL_COLUMNS)}"
            )


def wants_table(args: argparse.Namespace) -> bool:
    """Whether the table is read, with which its warnings are shown."""
    return bool(args.metric or args.csv or args.parquet or args.report)


def show_table(store: str, sweep: str | None, args: argparse.Namespace, said: dict[str, object]) -> None:
    """Act on the arguments of `add_table_arguments`; `said` is the rest of the JSON document."""
    wanted = wants_table(args)
    if not wanted and not args.json:
        return
    if wanted:
        from faultsim.sweep.sweep import load_sweep

        table = load_sweep(store, sweep, allow_older_results=args.allow_older_results)
        for path, write in ((args.csv, table.write_csv), (args.parquet, table.write_parquet)):
            if path:
                write(path)
        said["warnings"] = list(table.warnings)
        if args.metric:
            if args.against:
                axis, _, value = args.against.partition("=")
                found = table.compare(args.metric, axis, axis_value(table, axis, value), interval=args.interval or "t")
            else:
                found = table.summary(args.metric, interval=args.interval or "t")
            if args.json:
                said["statistics"] = {name: column.tolist() for name, column in found.items()}
                said["notes"] = list(found.notes)
            elif args.report != "-":
                print(shown(found))
        if not args.json and args.csv != "-":
            for text in table.warnings:
                print(shown(f"note: {text}"))
        if args.report:
            _report(table, args)
            said["report"] = args.report
            if not args.silent:
                print(f"written  {args.report}")
    if args.json:
        print_json(said)


def _report(table: "SweepTable", args: argparse.Namespace) -> None:
    from faultsim.report import report_sweep

    options: dict[str, Any] = {"metrics": [args.metric]} if args.metric else {}
    if args.against:
        axis, _, value = args.against.partition("=")
        options["against"] = (axis, axis_value(table, axis, value))
    report_sweep(table, **options).write(args.report)


def axis_value(table: "SweepTable", axis: str, text: str) -> object:
    """The value of an axis written as text."""
    if axis in table.axes:
        for value in table[axis].tolist():
            if value is None or value != value:
                if text.lower() == "none":
                    return None
            elif str(value) == text or (isinstance(value, float) and _number(text) == value):
                return value
    return text


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
