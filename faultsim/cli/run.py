"""Simulate a job log on a machine and print its metrics.

policies are names, with parameters after a colon:
  --machine    torus:4x4x8  mesh:4x4x8  cluster:128  cluster:4x4x8  bluegene-l  pod:4x4x4  pod:tpu-v5p,wiring=static
  --scheduler  fcfs  easy  backfill:depth=10  conservative  preemptive      (easy:reservation=fixed,max_growth=2)
  --placement  first-fit  mfp  balancing  tie-breaking  least-failures-first  safest-first
  --migration  defragment  least-failures        (defragment:when=always,min_free=0,max_concentration=1)
and, if nodes fail:
  --failures       FILE  FILE:FORMAT,option=value  synthetic  synthetic:KIND,option=value
                   with the formats, kinds and options of 'faultsim failures': LA-UR-05-7318.csv:lanl,system=20
  --recovery       requeue  hold  hot-spares:1    (requeue:place=tail,restart_cost=30)
  --predictor      confidence:0.1  accuracy:0.5  interval:precision=0.7,recall=0.7,interval=300  buckets:4h
                   perfect  blind
  --checkpointing  periodic:2h,5m  young:cost=30,mtbf=56d  daly:...  before-failure:300  risk-based:3600,300
                   predicted-windows:bucket=4h,victims=long  max-availability:cost=30,mtbf=56d,downtime=10m
  --rescheduling   fars:300,sul  fars:interval=300,strategy=jfr,spares=static:16,live=true
                   with the strategies sul, jfr, fsd and node-stealing

examples:
  faultsim run SDSC-SP2-1998-4.2-cln.swf.gz --machine torus:4x4x8 --scheduler easy --migration defragment
  faultsim run --machine torus:4x4x8 --failures synthetic:count=1000 --placement balancing --predictor confidence:0.1
  faultsim run --failures synthetic:count=1000 --predictor interval:0.7,0.7,300 --rescheduling fars:300,sul
  faultsim run --slurm slurm.conf --accounts sacctmgr.cfg qos.txt --jobs sacct.txt --set bf_window=4320 --add-nodes g:2
"""

import shlex
from collections.abc import Sequence
from typing import get_args

import faultsim as fs
from faultsim.cli import specs
from faultsim.cli.changes import add_change_arguments, loaded, spanned
from faultsim.cli.inputs import DEFAULT_NODES, add_log_arguments, open_log
from faultsim.cli.output import print_json
from faultsim.cli.own_words import notes_in_own_words
from faultsim.cli.parser import Parser, duration
from faultsim.cli.result_output import (
    add_report,
    add_tables,
    check_report,
    document,
    power_of,
    require_pictures,
    tables,
    write_result,
)
from faultsim.cli.run_failures import MAPPINGS, open_failures, reach
from faultsim.cli.run_slurm import add_slurm_arguments, use_slurm
from faultsim.cli.targets import add_quiet, check_targets
from faultsim.data.workload import Workload
from faultsim.errors import OptionError
from faultsim.machines import Cluster, Machine, parse_machine
from faultsim.policies.registry import KINDS
from faultsim.simulation.options import OPTIONS, Oversized
from faultsim.version import __version__

#: Options of a run that the command has under the same name: as they are, and policies as text.
_PLAIN = ("overrun", "oversized", "start_delay", "seed")
_POLICIES = tuple(kind for kind in KINDS if kind in OPTIONS and kind not in ("scheduler", "placement"))


def _add_arguments(parser: Parser) -> None:
    add_log_arguments(parser, jobs_file="; with --slurm also the log, of sacct --parsable2 --format=ALL")
    add_change_arguments(parser)
    job = parser.add_argument_group("jobs")
    job.add_argument(
        "--estimates",
        default=OPTIONS["estimates"],
        metavar="WHAT",
        help="requested (default), actual, or a factor of the run time",
    )
    job.add_argument(
        "--overrun",
        default=OPTIONS["overrun"],
        metavar="WHAT",
        help="a job past its estimate: extend (default) or kill",
    )
    job.add_argument(
        "--oversized",
        choices=get_args(Oversized),
        default=OPTIONS["oversized"],
        help="jobs larger than the machine: error (default) or drop",
    )
    job.add_argument(
        "--start-delay",
        type=duration,
        default=OPTIONS["start_delay"],
        metavar="S",
        help="seconds between the decision and the start of a job (default 0)",
    )
    machine = parser.add_argument_group("machine and policies")
    machine.add_argument(
        "--machine", metavar="M", help=f"see above (default: a cluster of the log's size, else cluster:{DEFAULT_NODES})"
    )
    machine.add_argument("--scheduler", default="easy", metavar="P", help="see above (default easy)")
    machine.add_argument(
        "--order",
        metavar="O",
        help="queue order: arrival (default), shortest, largest, wfp3, unicef, f1, ..., or an expression",
    )
    machine.add_argument("--reservation", metavar="R", help="easy on a torus: any (default) or fixed")
    machine.add_argument("--max-growth", type=int, metavar="I", help="nodes a backfilled job may grow by (default 1)")
    machine.add_argument("--placement", metavar="P", help="see above (default mfp on a torus, else first-fit)")
    machine.add_argument("--box-order", metavar="O", help="extents-descending (default), extents-ascending, bases")
    machine.add_argument(
        "--reserve",
        "--reservations",
        dest="reserve",
        action="append",
        default=[],
        metavar="R",
        help="nodes that are closed to jobs at times, as all:begin=7d,end=7d6h,every=7d (may be given again)",
    )
    machine.add_argument("--migration", metavar="P", help="see above (default none)")
    add_slurm_arguments(parser)
    failing = parser.add_argument_group("failures")
    failing.add_argument("--failures", metavar="F", help="see above (default: nothing fails)")
    failing.add_argument(
        "--map-failures",
        choices=MAPPINGS,
        help="failures of a file on nodes that the machine does not have: modulo, permute, drop (default: an error)",
    )
    failing.add_argument("--recovery", metavar="P", help="see above (default requeue)")
    failing.add_argument("--predictor", metavar="P", help="see above (default none)")
    failing.add_argument("--checkpointing", metavar="P", help="see above (default none)")
    failing.add_argument("--rescheduling", metavar="P", help="see above (default none); needs a predictor")
    out = parser.add_argument_group("output (- for FILE is standard output)")
    out.add_argument("--json", action="store_true", help="print only one JSON document")
    out.add_argument("--save", metavar="FILE", help="save the result (fs.load_result and 'faultsim show' read it)")
    out.add_argument(
        "--record", action="store_true", help="save what --gantt and --report of 'faultsim show' need, too"
    )
    out.add_argument("--csv", metavar="FILE", help="write one line per job")
    out.add_argument("--gantt", metavar="FILE", help="draw who ran where and when (.png, .pdf, .svg; - is SVG)")
    add_report(out, "write metrics, figures and tables as one HTML file")
    add_tables(out)
    add_quiet(out)


def _default_machine(log: Workload, *, built_in: bool) -> tuple[Cluster, list[str]]:
    """The machine of the log's header; else 128 nodes, or as many as its largest job needs; and a note if so."""
    nodes = log.max_nodes
    if nodes:
        return fs.Cluster(int(nodes)), []
    assumed = max(DEFAULT_NODES, int(log.size.max()) if len(log) else 1)
    note = f"the log names no machine; {assumed:,} nodes assumed: give --machine"
    return fs.Cluster(assumed), [] if built_in else [note]


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim run``."""
    _add_arguments(parser)
    args = parser.parse_args(argv)
    require_pictures(args)
    power_of(args)  # complains before the work
    check_report(args)
    if args.record and not args.save:
        raise OptionError("--record is for --save FILE")
    files = {"--save": args.save, "--csv": args.csv, "--gantt": args.gantt, "--report": args.report}
    files["--recorded-figure"] = args.recorded_figure
    silent = check_targets(files, json=args.json) or args.quiet
    slurm = use_slurm(args, {"machine": None, "scheduler": "easy", "order": None})
    source = open_log(args)
    log = spanned(source.log, args)
    notes: list[str] = []
    machine: Machine
    if slurm is not None:
        machine = slurm[0]
    elif args.machine is None:
        machine, notes = _default_machine(log, built_in=source.built_in)
    else:
        machine = parse_machine(args.machine)
    log = machine.prepared(log)
    log = loaded(log, args, machine.capacity_for(log.columns))
    if (args.against_recorded or args.recorded_figure) and log.recorded_wait is None:
        raise OptionError(
            "--against-recorded: the log has no recorded waits (field 3 of an SWF log; changes of load, sizes or run "
            "times leave them out)"
        )
    failures = None
    if args.failures is not None:
        failures = open_failures(
            args.failures,
            reach(log),
            machine.nodes,
            seed=args.seed,
            mapping=args.map_failures,
            sites=slurm and slurm[::2],
        )
    elif args.map_failures is not None:
        raise OptionError(f"--map-failures {args.map_failures}: there are no --failures to map")
    result = fs.simulate(
        log,
        machine,
        scheduler=slurm[1]
        if slurm is not None
        else specs.scheduler(
            args.scheduler, order=args.order, reservation=args.reservation, max_growth=args.max_growth
        ),
        placement=specs.placement(args.placement, box_order=args.box_order, on=machine),
        failures=failures and failures.trace,
        estimates=specs.estimates(args.estimates),
        record=bool(args.gantt or args.report or args.record),
        reservations=args.reserve,
        progress=not args.quiet,
        **{kind: specs.policy(kind, getattr(args, kind)) for kind in _POLICIES},
        **{name: getattr(args, name) for name in _PLAIN},
    )
    if args.save:
        result.save(args.save)
    made_of = [f"log: {source.text}", *notes, *([f"failures: {failures.text}"] if failures is not None else [])]
    write_result(result, args, source=made_of, command=shlex.join(["faultsim", "run", *argv]))
    written = [path for path in files.values() if path]
    if args.json:
        print_json(
            {
                "faultsim": __version__,
                "log": {"source": source.text, "built_in": source.built_in},
                "failures": failures and {"source": failures.text, "built_in": failures.built_in},
                **document(result, args, notes),
                "files": written,
            }
        )
    elif not silent:
        print(f"log      {source.text}")
        if failures is not None:
            print(f"failures {failures.text}")
        print("\n".join([notes_in_own_words(str(result)), *(f"note: {note}" for note in notes)]))
        for text in tables(result, args):
            print(text)
        for path in written:
            print(f"written  {path}")
    return 0
