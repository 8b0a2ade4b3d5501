"""Work with workflows: graphs of jobs on nodes that may fail.

faultsim workflow summary [WORKFLOW ...]     jobs, edges, levels, costs, transfers of each
faultsim workflow run [WORKFLOW ...]         makespans, loss, reschedulings, accuracy of the predictions
faultsim workflow decisions [WORKFLOW ...]   what happened and what was decided, instant by instant
faultsim workflow figure FILE [WORKFLOW ...] which node worked on which job when (.png, .pdf, .svg)

WORKFLOW is a file of WfCommons (.json), Pegasus (.dax) or the Standard Task Graph Set (.stg), or FILE:FORMAT; without
one, workflows are made up.  The options of all but summary:

  --scheduler  rank-hybd  flaw  fifo  heft                  (rank-hybd:across=descending, fifo:aware=true)
  --failures   FILE  FILE:FORMAT,option=value  synthetic  synthetic:KIND,option=value, as 'faultsim run' takes them
  --predictor  perfect  blind  confidence:0.1  accuracy:0.5  interval:precision=0.7,recall=0.7,interval=300

  faultsim workflow run --nodes 32 --scheduler flaw --failures synthetic:exponential,mtbf=10d --predictor perfect
"""

import argparse
import shlex
from collections.abc import Sequence
from typing import Literal

import faultsim as fs
from faultsim.checks import parsed
from faultsim.cli import specs
from faultsim.cli.file_words import parted
from faultsim.cli.output import print_json, shown, table
from faultsim.cli.own_words import notes_in_own_words
from faultsim.cli.parser import Action, Parser, choose, duration, seed
from faultsim.cli.result_output import check_report
from faultsim.cli.run_failures import MAPPINGS, open_failures
from faultsim.cli.targets import add_quiet, check_targets
from faultsim.data.workflow import Workflow
from faultsim.errors import OptionError
from faultsim.machines.resources import longest_run
from faultsim.policies import parse_policy
from faultsim.readers.table import readers_of, what_is
from faultsim.results.workflow_result import WorkflowResult
from faultsim.version import __version__

FORMATS = readers_of(Workflow)
_MADE_UP = 10
_NODES = 32


def _add_workflows(parser: Parser) -> None:
    formats = "; ".join(f"{name}: {row.summary} ({row.extension})" for name, row in FORMATS.items())
    parser.add_argument("workflows", nargs="*", default=[], metavar="WORKFLOW", help=f"FILE or FILE:FORMAT; {formats}")
    parser.add_argument("--count", type=int, metavar="N", help=f"workflows that are made up (default {_MADE_UP})")
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="seed of all that is drawn (default 0)")
    change = parser.add_argument_group("changes of the workflows, in this order")
    change.add_argument("--cost-factor", type=float, metavar="C", help="costs times C")
    change.add_argument("--ccr", type=float, metavar="R", help="transfers such that they cost R times the jobs")
    change.add_argument("--every", type=duration, metavar="S", help="they arrive S seconds apart (default: as told)")


def _read(word: str) -> Workflow:
    path, kind, options = parted(word, FORMATS)
    if options:
        raise OptionError(f"{word}: workflows are read without options")
    if kind:
        return FORMATS[kind].read(path)
    reader = what_is(path)
    if reader.gives is not Workflow:
        raise OptionError(
            f"{path}: a {reader.called}, and no workflow by its name and first line; write {path}:FORMAT, with "
            f"{', '.join(FORMATS)}"
        )
    workflow: Workflow = reader.read(path)
    return workflow


def _open(args: argparse.Namespace) -> tuple[list[Workflow], str]:
    """The workflows, and one line that says where they come from."""
    if args.seed < 0:
        raise OptionError(f"--seed: got {args.seed}, a number from 0 is needed")
    if args.workflows:
        if args.count is not None:
            raise OptionError("--count is for workflows that are made up; there are files")
        found = [_read(word) for word in args.workflows]
        text = ", ".join(args.workflows)
    else:
        count = _MADE_UP if args.count is None else args.count
        if count < 1:
            raise OptionError(f"--count: got {count}, at least 1 is needed")
        found = list(fs.synthetic.bench_dags(count, rng=args.seed))
        text = f"no WORKFLOW given: {count} made up like those of Yu 2010 (seed {args.seed})"
    if args.cost_factor is not None:
        found = [workflow.with_cost_factor(args.cost_factor) for workflow in found]
    if args.ccr is not None:
        found = [workflow.with_ccr(args.ccr) for workflow in found]
    if args.every is not None:
        found = [workflow.submitted(number * args.every) for number, workflow in enumerate(found)]
    return found, text


def _summary(parser: Parser, argv: Sequence[str]) -> int:
    _add_workflows(parser)
    parser.add_argument("--json", action="store_true", help="print only one JSON document")
    args = parser.parse_args(argv)
    workflows, text = _open(args)
    rows = [
        {
            "name": workflow.name,
            "jobs": len(workflow),
            "edges": workflow.n_edges,
            "levels": (found := fs.synthetic.dag_properties(workflow)).levels,
            "meshing": found.meshing,
            "edge_length": found.edge_length,
            "mean_cost": found.mean_cost,
            "mean_transfer": found.mean_transfer,
            "transfer_unit": workflow.transfer_unit,
            "ccr": found.ccr,
            "submit": workflow.submit,
        }
        for workflow in workflows
    ]
    if args.json:
        print_json({"faultsim": __version__, "source": text, "workflows": rows})
    else:
        print(f"workflows {text}")
        print(table([list(row.values()) for row in rows], list(rows[0])))
    return 0


def _add_run(parser: Parser) -> None:
    _add_workflows(parser)
    on = parser.add_argument_group("nodes")
    on.add_argument("--nodes", type=int, metavar="N", help=f"nodes of equal speed (default {_NODES})")
    on.add_argument("--speed", metavar="X,Y,...", help="speed of each node, instead of --nodes")
    on.add_argument(
        "--bandwidth", type=float, metavar="B", help="bytes a second between nodes; transfers in bytes need it"
    )
    how = parser.add_argument_group("policies (see 'faultsim workflow --help')")
    how.add_argument("--scheduler", default="rank-hybd", metavar="P", help="default rank-hybd")
    how.add_argument("--transfers", choices=("parallel", "in_turn"), default="parallel", help="default parallel")
    how.add_argument(
        "--outputs", default="node", metavar="WHERE", help="node (default), or shared:COST in seconds a job"
    )
    how.add_argument("--failures", metavar="F", help="default: nothing fails")
    how.add_argument("--map-failures", choices=MAPPINGS, help="failures of a file on nodes that there are not")
    how.add_argument("--predictor", metavar="P", help="default none")
    how.add_argument("--engine", choices=("core", "reference"), default="core", help="default core")


def _resources(args: argparse.Namespace) -> fs.Resources:
    if args.speed is None:
        return fs.Resources(_NODES if args.nodes is None else args.nodes, bandwidth=args.bandwidth)
    if args.nodes is not None:
        raise OptionError("--nodes and --speed: give one of the two")
    try:
        speed = [parsed(word, float) for word in args.speed.split(",")]
    except ValueError:
        raise OptionError(f"--speed: got {args.speed!r}; numbers with commas are needed, such as 1,2,2") from None
    return fs.Resources(speed=speed, bandwidth=args.bandwidth)


def _outputs(text: str) -> Literal["node"] | fs.SharedOutputs:
    word, colon, cost = text.partition(":")
    if word == "shared" and colon:
        try:
            return fs.SharedOutputs(duration(cost))
        except argparse.ArgumentTypeError as error:
            raise OptionError(f"--outputs shared:{cost}: {error}") from None
    if text != "node":
        raise OptionError(f"--outputs: got {text!r}; known: node, shared:COST")
    return "node"


def _simulated(args: argparse.Namespace, *, record: bool) -> tuple[WorkflowResult, list[str]]:
    """The run, and lines that say what it was made of."""
    workflows, text = _open(args)
    resources = _resources(args)
    lines = [f"workflows {text}"]
    trace = None
    if args.failures is not None:
        span = longest_run(workflows, resources)
        source = open_failures(args.failures, span, resources.nodes, seed=args.seed, mapping=args.map_failures)
        trace = source.trace
        lines.append(f"failures  {source.text}")
    elif args.map_failures is not None:
        raise OptionError(f"--map-failures {args.map_failures}: there are no --failures to map")
    result = fs.simulate_workflows(
        workflows,
        resources,
        scheduler=parse_policy("workflow_scheduler", args.scheduler),
        failures=trace,
        predictor=specs.policy("predictor", args.predictor),
        transfers=args.transfers,
        outputs=_outputs(args.outputs),
        seed=args.seed,
        record=record,
        progress=not getattr(args, "quiet", False),
        engine=args.engine,
    )
    return result, lines


def _run(parser: Parser, argv: Sequence[str]) -> int:
    _add_run(parser)
    add_output(parser)
    parser.add_argument(
        "--save", metavar="FILE", help="save the result (fs.load_workflow_result and 'faultsim show' read it)"
    )
    parser.add_argument("--record", action="store_true", help="save what --events and --figure of 'faultsim show' need")
    args = parser.parse_args(argv)
    if args.record and not args.save:
        raise OptionError("--record is for --save FILE")
    silent = check_output(args)
    result, lines = _simulated(args, record=bool(args.events or args.figure or args.report or args.record))
    if args.save:
        result.save(args.save)
    command = shlex.join(["faultsim", "workflow", "run", *argv])
    give(result, args, lines, silent=silent, command=command)
    return 0


#: Files that `give` writes, by the options that name them.
_FILES = ("csv", "decisions", "events", "figure", "report", "save")


def add_output(parser: Parser) -> None:
    """What may be written of a result."""
    out = parser.add_argument_group("output (- for FILE is standard output)")
    out.add_argument("--json", action="store_true", help="print only one JSON document")
    out.add_argument("--csv", metavar="FILE", help="write one line per job")
    out.add_argument("--decisions", metavar="FILE", help="write one line each time that a job was put on a node")
    out.add_argument("--events", metavar="FILE", help="write one line per event")
    out.add_argument(
        "--figure", metavar="FILE", help="draw which node worked on which job (.png, .pdf, .svg; - is SVG)"
    )
    out.add_argument("--report", metavar="FILE", help="write metrics, makespans, figure and jobs as one HTML file")
    out.add_argument("--title", metavar="TEXT", help="heading of the report")
    add_quiet(out)


def check_output(args: argparse.Namespace) -> bool:
    """Reject what could not be written; whether nothing else is printed."""
    silent = check_targets({f"--{name}": getattr(args, name, None) for name in _FILES}, json=args.json)
    check_report(args)
    if args.figure or args.report:
        from faultsim.plot import require_matplotlib

        require_matplotlib()
    return silent or args.quiet


def give(
    result: WorkflowResult, args: argparse.Namespace, lines: Sequence[str], *, silent: bool, command: str = ""
) -> None:
    """Write and print a result; `lines` say what it is made of, `command` how for the report."""
    written = [path for name in _FILES if (path := getattr(args, name, None))]
    for path, columns in ((args.csv, "jobs"), (args.decisions, "decisions"), (args.events, "events")):
        if path:
            result.write_csv(path, columns)
    if args.figure:
        _draw(result, args.figure)
    if args.report:
        from faultsim.report import report_workflows

        report_workflows(result, title=args.title or "", command=command).write(args.report)
    if args.json:
        made_by = {"faultsim": __version__, "model_revision": result.model_revision}
        print_json({**made_by, "source": lines, **_document(result), "files": written})
    elif not silent:
        print(shown("\n".join([*lines, notes_in_own_words(str(result)), *(f"written  {path}" for path in written)])))


def _document(result: WorkflowResult) -> dict[str, object]:
    return {
        "settings": dict(result.settings),
        "makespan": result.makespan,
        "makespans": result.makespans,
        "loss_time": result.loss_time,
        "reschedulings": result.reschedulings,
        "aoa": result.aoa,
        "aaa": result.aaa,
        "warnings": list(result.warnings),
    }


def _decisions(parser: Parser, argv: Sequence[str]) -> int:
    _add_run(parser)
    args = parser.parse_args(argv)
    result, lines = _simulated(args, record=True)
    print("\n".join([*lines, result.log()]))
    return 0


def _figure(parser: Parser, argv: Sequence[str]) -> int:
    parser.add_argument("out", metavar="FILE", help=".png, .pdf, .svg; - is SVG on standard output")
    parser.add_argument("--theme", choices=("light", "dark"), default="light", help="default: %(default)s")
    _add_run(parser)
    add_quiet(parser)
    args = parser.parse_args(argv)
    silent = check_targets({"FILE": args.out}) or args.quiet
    from faultsim.plot import require_matplotlib

    require_matplotlib()
    result, lines = _simulated(args, record=True)
    _draw(result, args.out, args.theme)
    if not silent:
        print("\n".join([*lines, f"written   {args.out}"]))
    return 0


def _draw(result: WorkflowResult, path: str, theme: Literal["light", "dark"] = "light") -> None:
    from faultsim.plot import plot_workflow, save

    save(plot_workflow(result, theme=theme), path)


ACTIONS: dict[str, Action] = {"summary": _summary, "run": _run, "decisions": _decisions, "figure": _figure}


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim workflow``."""
    return choose(parser, argv, ACTIONS, "action")
