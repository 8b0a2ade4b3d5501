"""Draw saved results, or the sweep in a store.

faultsim plot gantt RUN.npz --by user --out gantt.svg
faultsim plot queue EASY=easy.npz FCFS=fcfs.npz --out queues.png
faultsim plot sweep SPEC.db --metric mean_wait --x load --theme dark --out waits.png

of one result (saved with --record)   gantt, occupancy
of one or more results                utilization, queue, wait, response, slowdown, ledger
of two or more results                kiviat
of a sweep's store                    sweep, panels, heatmap, differences, saturation
"""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import faultsim as fs
from faultsim import checks
from faultsim.cli.parser import Parser, duration
from faultsim.cli.sweep_output import axis_value
from faultsim.cli.targets import add_older, add_quiet, check_targets
from faultsim.errors import OptionError
from faultsim.results.result import Result
from faultsim.results.revision import caveat, in_words

if TYPE_CHECKING:
    from faultsim.sweep.table import SweepTable

#: Figures of one result, of some, of at least two, and of a sweep.
ONE = ("gantt", "occupancy")
SOME = ("utilization", "queue", "wait", "response", "slowdown", "ledger")
SEVERAL = ("kiviat",)
SWEEPS = ("sweep", "panels", "heatmap", "differences", "saturation")
#: Option -> figures that it is for.
_FOR: dict[str, tuple[str, ...]] = {
    "by": ("gantt",),
    "rows": ("gantt",),
    "at": ("occupancy",),
    "view": ("occupancy",),
    "baseline": SEVERAL,
    "sweep": SWEEPS,
    "metric": SWEEPS,
    "select": SWEEPS,
    "x": ("sweep", "panels", "heatmap", "saturation"),
    "y": ("heatmap",),
    "panels": ("panels",),
    "against": ("differences",),
}
_NEEDED = {"x": ("sweep", "panels", "heatmap"), "y": ("heatmap",), "panels": ("panels",), "against": ("differences",)}


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim plot``."""
    kinds = (*ONE, *SOME, *SEVERAL, *SWEEPS)
    parser.add_argument("kind", metavar="KIND", choices=kinds, help="what to draw; see above")
    parser.add_argument("files", metavar="FILE", nargs="+", help="what 'run --save' or 'sweep' wrote, or LABEL=FILE")
    parser.add_argument(
        "-o", "--out", metavar="PICTURE", required=True, help=".svg, .png, .pdf and others; - is SVG on standard output"
    )
    parser.add_argument("--theme", choices=("light", "dark"), default="light", help="default: %(default)s")
    parser.add_argument("--width", type=float, metavar="INCHES", help="of the picture (default: as suits the figure)")
    parser.add_argument("--height", type=float, metavar="INCHES", help="of the picture; not for panels")
    of_run = parser.add_argument_group("of results")
    of_run.add_argument("--by", choices=("job", "user", "size", "wait", "restarts"), help="what colors tell (gantt)")
    of_run.add_argument("--rows", choices=("nodes", "allocation"), help="what the rows are (gantt)")
    of_run.add_argument("--at", type=duration, metavar="TIME", help="since the first submit, such as 12h (occupancy)")
    of_run.add_argument("--view", choices=("slices", "space"), help="layers or cubes (occupancy)")
    of_run.add_argument("--baseline", metavar="LABEL", help="which run gains are over (kiviat)")
    of_sweep = parser.add_argument_group("of sweeps")
    of_sweep.add_argument("--sweep", metavar="NAME", help="name of a sweep in the store (default: the last)")
    of_sweep.add_argument(
        "--metric", metavar="NAME", help="what to draw (default: mean_wait, of workflows mean_makespan)"
    )
    of_sweep.add_argument("--x", metavar="AXIS", help="the axis across")
    of_sweep.add_argument("--y", metavar="AXIS", help="the axis up (heatmap)")
    of_sweep.add_argument("--panels", metavar="AXIS", help="the axis of which each value has a panel (panels)")
    of_sweep.add_argument("--against", metavar="AXIS=VALUE", help="what to compare with (differences)")
    of_sweep.add_argument(
        "--select",
        metavar="AXIS=VALUE",
        action="append",
        default=[],
        help="draw only this part of the sweep; may repeat",
    )
    add_older(parser)
    add_quiet(parser)
    args = parser.parse_args(argv)
    _check(args)

    from faultsim.plot import require_matplotlib, save, use_theme
    from faultsim.plot.base import check_picture

    require_matplotlib()
    check_picture(args.out)
    silent = check_targets({"--out": args.out}) or args.quiet
    with use_theme(args.theme):
        figure, revision = _sweep(args) if args.kind in SWEEPS else _results(args)
        save(figure, args.out)
    if not silent:
        for text in caveat(revision):
            print(f"note: {text}")
        print(f"written  {args.out}")
    return 0


def _check(args: argparse.Namespace) -> None:
    for option, kinds in _FOR.items():
        given = getattr(args, option)
        if given not in (None, []) and args.kind not in kinds:
            raise OptionError(f"--{option} is for {', '.join(kinds)}, not for {args.kind}")
    for option, kinds in _NEEDED.items():
        if args.kind in kinds and getattr(args, option) is None:
            value = "AXIS=VALUE" if option == "against" else "AXIS"
            raise OptionError(f"{args.kind} needs --{option} {value}")
    for option in ("width", "height"):
        if getattr(args, option) is not None:
            checks.number(f"--{option}", getattr(args, option), low=1.0, high=100.0, unit="inches")
    if args.height is not None and args.kind == "panels":
        raise OptionError("--height is not for panels: they are as high as they need")
    count = len(args.files)
    if count > 1 and (args.kind in ONE or args.kind in SWEEPS):
        raise OptionError(f"{args.kind} is drawn of one file; got {count}: {', '.join(args.files)}")
    if count < 2 and args.kind in SEVERAL:
        raise OptionError(f"{args.kind} compares results; give two or more files")


def _results(args: argparse.Namespace) -> tuple[Any, int | None]:
    """The figure, and the model revision of what it shows."""
    from faultsim import plot

    runs: dict[str, Result] = {}
    for word in args.files:
        label, path = _labelled(word)
        if label in runs:
            raise OptionError(f"{word}: a second file named {label!r}; write LABEL=FILE")
        runs[label] = fs.load_result(path, allow_older_results=args.allow_older_results)
    if len({run.model_revision for run in runs.values()}) > 1:
        said = ", ".join(f"{label}: {in_words(run.model_revision)}" for label, run in runs.items())
        raise OptionError(f"results of more than one model revision are not compared ({said}): make them again")
    one = next(iter(runs.values()))
    some = one if len(runs) == 1 else runs
    options = {name: getattr(args, name) for name in ("by", "rows", "view", "baseline") if getattr(args, name)}
    options |= _place(args)
    if args.at is not None:
        options["at"] = args.at
    draw: Mapping[str, Callable[[], object]] = {
        "gantt": lambda: plot.plot_gantt(one, **options),
        "occupancy": lambda: plot.plot_occupancy(one, **options),
        "utilization": lambda: plot.plot_utilization(some, **options),
        "queue": lambda: plot.plot_queue(some, **options),
        "ledger": lambda: plot.plot_ledger(runs, **options),
        "kiviat": lambda: plot.plot_kiviat(runs, **options),
    }
    figure = draw[args.kind]() if args.kind in draw else plot.plot_distribution(some, args.kind, **options)
    return figure, one.model_revision


def _place(args: argparse.Namespace) -> dict[str, Any]:
    """The axes to draw on, if their size was given."""
    if args.width is None and args.height is None:
        return {}
    from faultsim.plot import new_figure

    return {"ax": new_figure(args.width or 8.0, args.height or 4.5).add_subplot()}


def _labelled(word: str) -> tuple[str, str]:
    """Label and file of ``LABEL=FILE``; the name of a file is its label."""
    label, equals, path = word.partition("=")
    if equals and not os.path.exists(word):
        return label, path
    return os.path.basename(word).removesuffix(".npz"), word


def _sweep(args: argparse.Namespace) -> tuple[Any, int | None]:
    """The figure, and the model revision of what it shows."""
    from faultsim.sweep.sweep import load_sweep

    table = load_sweep(args.files[0], args.sweep, allow_older_results=args.allow_older_results)
    for part in args.select:
        axis, value = _pair(table, "--select", part)
        table = table.select(**{axis: value})
    return _drawn(table, args), table.model_revision


def _drawn(table: "SweepTable", args: argparse.Namespace) -> object:
    from faultsim import plot

    metric = args.metric or ("mean_wait" if "mean_wait" in table.metrics else "mean_makespan")
    if args.kind == "panels":
        return plot.plot_panels(table, metric, x=args.x, panels=args.panels, width=args.width or 9.0)
    place = _place(args)
    if args.kind == "differences":
        return plot.plot_differences(table, metric, *_pair(table, "--against", args.against), **place)
    if args.kind == "saturation":
        return plot.plot_saturation(table, metric, x=args.x or "load", **place)
    if args.kind == "heatmap":
        return plot.plot_heatmap(table, metric, x=args.x, y=args.y, **place)
    return plot.plot_sweep(table, metric, x=args.x, **place)


def _pair(table: "SweepTable", option: str, text: str) -> tuple[str, object]:
    axis, equals, value = text.partition("=")
    if not equals:
        raise OptionError(f"{option}: got {text!r}; write AXIS=VALUE, such as scheduler=fcfs")
    return axis, axis_value(table, axis, value)
