"""Say what a pod can promise: slices that are up at once, spare cubes, training time.

faultsim plan 8x8x16 4x4x4 --machine pod:tpu-v4 --availability 0.999
faultsim plan 8x8x16=6 4x4x4=20 --machine pod:tpu-v5p --mtbf 100d --downtime 4h --simulate
faultsim plan 1024 --machine pod:tpu-v4,wiring=static --failures TRACE.csv --plot promises.svg

SHAPE is a shape in chips or a number of chips; SHAPE=COUNT says how many are wanted at once.  Without one: slices of
one cube, two, four and so on.  Three tables:
  promises  how many slices of each shape are up at once with each probability, and their share of the pod
  spares    cubes to hold back, so that what is wanted is up with each probability
  ettr      share of its time in which a long job works, by checkpoint rule: by formulas, with --simulate also simulated
"""

import argparse
from collections.abc import Sequence

import faultsim as fs
from faultsim.checks import parsed
from faultsim.cli.output import print_json
from faultsim.cli.parser import Parser, duration, duration_as_given, seed
from faultsim.cli.run_failures import MAPPINGS, open_failures
from faultsim.cli.targets import add_quiet, check_targets
from faultsim.cli.traces import TraceSource
from faultsim.data.column_files import write_csv
from faultsim.data.tabular import ColumnTable
from faultsim.errors import OptionError
from faultsim.machines import parse_machine
from faultsim.planning import PodPlan
from faultsim.version import MODEL_REVISION, __version__

_TABLES = ("promises", "spares", "ettr")
_YEAR = 365 * 86_400.0


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help="such as 8x8x16, 1024 (chips), 8x8x16=6")
    parser.add_argument("--machine", default="pod:tpu-v4", metavar="M", help="a pod, as in 'run' (default %(default)s)")
    parser.add_argument(
        "--probability", metavar="P", default="0.9,0.97,0.99", help="of promises, with commas (default %(default)s)"
    )
    failing = parser.add_argument_group("how hosts fail: an availability, two of the first three, or a trace")
    failing.add_argument(
        "--availability", type=float, metavar="A", help="share of the time that a host is up (default 0.999)"
    )
    failing.add_argument("--mtbf", type=duration_as_given, metavar="T", help="mean time up of a host, as in 100d")
    failing.add_argument("--downtime", type=duration_as_given, metavar="T", help="mean time down of a host, as in 4h")
    failing.add_argument("--failures", metavar="F", help="a trace of the pod's hosts, as in 'run'")
    failing.add_argument(
        "--map-failures", choices=MAPPINGS, help="failures of hosts that the pod does not have (default: an error)"
    )
    failing.add_argument("--span", type=duration, metavar="T", help="of synthetic failures (default 365d)")
    failing.add_argument(
        "--any-rate",
        action="store_true",
        help="accept hosts that fail far too often, or are down for most of the time, as after a mistake in units",
    )
    job = parser.add_argument_group("training time")
    job.add_argument(
        "--checkpointing",
        action="append",
        metavar="P",
        help="a rule, as in 'run', instead of all that need no predictions",
    )
    job.add_argument("--interval", type=duration, metavar="T", help="of periodic (default 1h)")
    job.add_argument("--cost", type=duration, metavar="T", help="of a checkpoint (default 1m)")
    job.add_argument("--restart-cost", type=duration, metavar="T", help="of a restart (default 5m)")
    job.add_argument("--runtime", type=duration, metavar="T", help="work of the job (default 7d)")
    job.add_argument("--simulate", action="store_true", help="simulate the job alone on the pod, too, 20 times")
    job.add_argument("--seed", type=seed, default=0, metavar="S", help="of what is drawn (default 0)")
    out = parser.add_argument_group("output (- for FILE is standard output)")
    out.add_argument("--json", action="store_true", help="print only one JSON document")
    out.add_argument("--csv", metavar="FILE", help="write a table")
    out.add_argument("--table", choices=_TABLES, help="which one (default promises)")
    out.add_argument(
        "-o",
        "--plot",
        metavar="FILE",
        help="draw what is promised with the middle --probability, over the availability (.svg, .png; - is SVG)",
    )
    out.add_argument("--theme", choices=("light", "dark"), help="of the picture (default light)")
    add_quiet(out)


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim plan``."""
    _add_arguments(parser)
    args = parser.parse_args(argv)
    _check(args)
    files = {"--csv": args.csv, "--plot": args.plot}
    silent = check_targets(files, json=args.json) or args.quiet
    pod = parse_machine(args.machine)
    trace = _trace(args, pod.nodes)
    found = fs.plan(
        args.machine,
        ",".join(args.shapes) or None,
        **_rates(args),
        failures=trace and trace.trace,
        any_rate=args.any_rate,
        probabilities=_probabilities(args.probability),
        checkpointing=args.checkpointing,
        interval=args.interval,
        cost=args.cost,
        restart_cost=args.restart_cost,
        runtime=args.runtime,
        simulate=args.simulate,
        rng=args.seed,
    )
    written = _write(found, args)
    if args.json:
        made_by = {"faultsim": __version__, "model_revision": MODEL_REVISION}
        print_json({**made_by, **_document(found, trace), "files": written})
    elif not silent:
        if trace is not None:
            print(f"failures {trace.text}")
        print(found)
        for path in written:
            print(f"written  {path}")
    return 0


def _check(args: argparse.Namespace) -> None:
    """Options that belong to others."""
    if args.failures is None:
        for option in ("map_failures", "span"):
            if getattr(args, option) is not None:
                raise OptionError(f"--{option.replace('_', '-')} is for --failures")
    if args.table is not None and not args.csv:
        raise OptionError("--table is for --csv FILE")
    if args.theme is not None and not args.plot:
        raise OptionError("--theme is for --plot FILE")
    if args.plot:
        from faultsim.plot import require_matplotlib
        from faultsim.plot.base import check_picture

        require_matplotlib()
        check_picture(args.plot)


def _rates(args: argparse.Namespace) -> dict[str, float]:
    """How often hosts are up; 0.999 if nothing is said."""
    given = {name: getattr(args, name) for name in ("availability", "mtbf", "downtime")}
    if args.failures is None and all(value is None for value in given.values()):
        given["availability"] = 0.999
    return given


def _trace(args: argparse.Namespace, nodes: int) -> TraceSource | None:
    if args.failures is None:
        return None
    span = _YEAR if args.span is None else args.span
    return open_failures(args.failures, span, nodes, seed=args.seed, mapping=args.map_failures)


def _probabilities(text: str) -> list[float]:
    try:
        return [parsed(part.strip(), float) for part in text.split(",")]
    except ValueError:
        raise OptionError(f"--probability: expected numbers such as 0.9,0.97,0.99, got {text!r}") from None


def _write(found: PodPlan, args: argparse.Namespace) -> list[str]:
    """The files that were asked for."""
    if args.csv:
        write_csv(args.csv, getattr(found, args.table or _TABLES[0]))
    if args.plot:
        from faultsim.plot import plot_promises, save, use_theme

        middle = found.probabilities[len(found.probabilities) // 2]
        with use_theme(args.theme or "light"):
            save(plot_promises(found, middle), args.plot)
    return [path for path in (args.csv, args.plot) if path]


def _document(found: PodPlan, trace: TraceSource | None) -> dict[str, object]:
    """The plan as values of a JSON document."""
    tables = [name for name in _TABLES if name != "ettr" or found.has_ettr]
    return {
        "machine": str(found.pod),
        "availability": found.availability,
        "mtbf": found.mtbf,
        "downtime": found.downtime,
        "repair": found.downtime,  # its name in versions before 0.3
        "probabilities": list(found.probabilities),
        "failures": trace and {"source": trace.text, "built_in": trace.built_in},
        **{name: _rows(getattr(found, name)) for name in tables},
    }


def _rows(table: ColumnTable) -> list[dict[str, object]]:
    return [table[row] for row in range(len(table))]
