"""What ``faultsim run`` and ``faultsim show`` write of a result, and its part of their JSON documents."""

import argparse
from collections.abc import Sequence

from faultsim.data.column_files import write_csv
from faultsim.results.provenance import plain
from faultsim.results.result import Result


def require_pictures(args: argparse.Namespace) -> None:
    """Complain of a missing matplotlib before the work, not after it."""
    if args.gantt or args.report:
        from faultsim.plot import require_matplotlib

        require_matplotlib()


def write_result(result: Result, args: argparse.Namespace, *, source: Sequence[str], command: str = "") -> None:
    """Write ``--csv``, ``--gantt`` and ``--report``; `source` and `command` are for the report."""
    if args.csv:
        write_csv(args.csv, result.jobs)
    if args.gantt:
        from faultsim.plot import plot_gantt, save

        save(plot_gantt(result), args.gantt)
    if args.report:
        from faultsim.report import report_run

        report_run(result, command=command, source=source).write(args.report)


def document(result: Result) -> dict[str, object]:
    """The result as values of a JSON document."""
    return {
        "settings": plain(result.settings),
        "jobs": len(result),
        "metrics": dict(result.metrics),
        "ledger": dict(result.ledger),
        "warnings": list(result.warnings),
    }
