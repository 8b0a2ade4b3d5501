"""Run a sweep: the grid of runs that a TOML file describes, kept in a store from which it resumes.

  faultsim sweep SPEC.toml                        two threads on two cores; rows go to SPEC.db
  faultsim sweep SPEC.toml --dry-run              how many runs, and how long
  faultsim sweep SPEC.toml --dask local           worker processes; or the address of a scheduler
  faultsim sweep SPEC.toml --shard 2/8            one part of a job array; 'faultsim merge' combines the parts
  faultsim sweep SPEC.toml --slurm "-p short -t 60" --shards 8   a job array of Slurm, and a job that merges
  faultsim status SPEC.db                         progress, also while it runs

a SPEC (of workflows: workflows = ... and resources = ... in place of log and machine):
  name = "placements"
  replicates = 5
  [base]                                          # keywords of faultsim.Run, policies as for 'faultsim run'
  log = { synthetic = "nasa_like", jobs = 1000 }  # or a path; drawn for each replicate
  machine = "torus:4x4x8"
  failures = { synthetic = "weibull", shape = 0.85, scale = 18000 }
  [grid]                                          # all combinations
  load = [0.7, 0.8, 0.9]
  [grid.policy.krevat]                            # bundles under your own name
  placement = "mfp"
  [grid.policy.oliner]
  placement = "balancing"
  predictor = "confidence:0.1"
"""

import argparse
import contextlib
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from faultsim.cli.executors import add_executor_arguments, check_executor_arguments, executor_of, term_as_interrupt
from faultsim.cli.output import print_json, shown
from faultsim.cli.parser import Parser
from faultsim.cli.slurm_array import check_slurm_arguments, joined, shard_store, submit
from faultsim.cli.sweep_output import add_table_arguments, check_table_arguments, show_table, wants_table
from faultsim.errors import InputError, OptionError

if TYPE_CHECKING:
    from faultsim.sweep.sweep import Sweep
    from faultsim.sweep.sweep_rows import SweepEntry


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim sweep``."""
    parser.add_argument("spec", metavar="SPEC", help="TOML file, see above")
    parser.add_argument("--store", metavar="FILE", help="where rows are kept (default: SPEC with .db)")
    add_executor_arguments(parser)
    parser.add_argument("--shard", metavar="I/N", help="only part I of N (default store: SPEC.IofN.db)")
    parser.add_argument("--slurm", metavar="OPTIONS", help="submit a job array with these options of sbatch (or '')")
    parser.add_argument("--shards", type=int, metavar="N", help="tasks of the job array of --slurm")
    parser.add_argument("--retry", action="store_true", help="retry runs that failed before")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="only say how many runs there are and how long they take, or with --slurm what would be submitted",
    )
    add_table_arguments(parser)
    args = parser.parse_args(joined(argv))

    from faultsim.results.revision import caveat
    from faultsim.sweep.store import Store
    from faultsim.sweep.sweep import parse_shard, pick_sweep
    from faultsim.sweep.sweep_file import read_sweep

    check_slurm_arguments(args)
    check_table_arguments(args)
    check_executor_arguments(args)
    shard = parse_shard(args.shard)
    _refuse_results(args.spec)
    try:
        sweep = read_sweep(args.spec)
    except InputError as error:
        from faultsim.cli.own_words import in_words_of_files

        for line in str(error).splitlines():
            print(f"faultsim: error: {shown(in_words_of_files(line))}", file=sys.stderr)
        return 2
    if args.metric is not None and args.metric not in sweep.metrics:
        raise OptionError(f"--metric: no {args.metric!r} in this sweep; known: {', '.join(sweep.metrics)}")
    store = args.store or (shard_store(args.spec, *shard) if shard else str(Path(args.spec).with_suffix(".db")))
    if args.allow_older_results and os.path.exists(store):
        with Store(store, write=False, allow_older_results=True) as kept:
            rows, older = kept.sweeps(), caveat(kept.revision)
        if older:
            return _as_it_is(pick_sweep(rows, store, sweep.name or None), older, store, args)
    if args.slurm is not None:
        submit(args, store)
        return 0
    if args.dry_run:
        return _dry_run(sweep, store, shard, args)
    with executor_of(args) as executor, term_as_interrupt():
        filled = sweep.fill(
            store,
            workers=args.workers,
            executor=executor,
            progress=not args.quiet,
            shard=shard,
            retry=args.retry,
            command=shlex.join(["faultsim", "sweep", *argv]),
        )
    what = repr(sweep)[1:-1].partition(" ")[2]
    said: dict[str, object] = {
        "sweep": what,
        "store": store,
        "rows": filled.total,
        "made": filled.made,
        "failed": filled.failed,
        "seconds": filled.seconds,
    }
    if not args.silent:
        there = filled.total - filled.made
        print(f"sweep   {what}")
        print(f"store   {store}")
        print(
            f"rows    {filled.total:,}: {filled.made:,} runs made in {filled.seconds:,.1f} s"
            + (f", {there:,} were there or are one of them" if there else "")
            + (f", {filled.failed:,} failed (faultsim status {store} says why)" if filled.failed else "")
        )
    show_table(store, sweep.id, args, said)
    return 2 if filled.failed else 0


def _refuse_results(path: str) -> None:
    """Reject a store or a saved result in place of the file of a sweep."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        if file.read(16).startswith((b"PK\x03\x04", b"SQLite format 3\0")):
            raise OptionError(f"{path}: saved results, and no file of a sweep: 'faultsim show {path}' prints them")


def _as_it_is(row: "SweepEntry", older: Sequence[str], store: str, args: argparse.Namespace) -> int:
    """Show what a store of an older model revision has of a sweep; no run is made for it."""
    said: dict[str, object] = {"sweep": row["name"] or row["id"][:8], "store": store, "rows": row["tasks"], "made": 0}
    if not args.silent:
        print(f"sweep   {said['sweep']}")
        print(f"store   {store}")
        print(f"rows    {row['tasks']:,}: {row['done']:,} are there, and no run is made")
        for text in () if wants_table(args) else older:
            print(f"note: {text}")
    show_table(store, row["id"], args, said | {"failed": row["failed"], "notes": list(older)})
    return 0


def _dry_run(sweep: "Sweep", store: str, shard: tuple[int, int] | None, args: argparse.Namespace) -> int:
    from faultsim.sweep.estimate import estimate
    from faultsim.sweep.store import Store

    with contextlib.ExitStack() as stack:
        kept = stack.enter_context(Store(store, write=False)) if os.path.exists(store) else None
        found = estimate(sweep, kept, workers=args.workers, shard=shard)
    if args.json:
        print_json({"sweep": repr(sweep)[1:-1], "store": store, **vars(found)})
        return 0
    about = "" if found.exact else "about "
    print(f"sweep   {repr(sweep)[1:-1].partition(' ')[2]}")
    print(f"store   {store}" + ("" if kept else " (new)"))
    print(f"rows    {found.rows:,}, of which {about}{found.left:,} runs are to be made")
    if found.tried:
        took = f"{found.tried} tried: {1000 * found.each:,.3g} ms a run"
        print(f"time    about {_duration(found.seconds)} on {found.workers} cores ({took} on one)")
    return 0


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 7200 else f"{seconds / 3600:.3g} h"
