"""A sweep as a job array of Slurm: one part a task, and a job after them that merges their stores."""

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from faultsim.errors import NotAvailableError, OptionError

#: What `submit` says itself.
OURS = ("--array", "-a", "--dependency", "-d", "--wrap", "--parsable", "--test-only", "--wait", "-W", "--chdir", "-D")
#: Seconds that sbatch may take.
PATIENCE = 60.0
#: Tasks of a job array: the job that merges names the store of each, and Slurm takes scripts of at most 4 MiB.
MOST_SHARDS = 10_000
DEPENDENCY = "--dependency=afterany"


@dataclass(frozen=True)
class Script:
    """What is given to ``sbatch``: its options, and a shell script on its standard input."""

    options: list[str]
    text: str

    def after(self, number: str) -> "Script":
        """With the number of the job that it depends on."""
        options = [f"{DEPENDENCY}:{number}" if each == DEPENDENCY else each for each in self.options]
        return Script(options, self.text)

    def shown(self) -> str:
        """As a user would write it."""
        return f"sbatch {shlex.join(self.options)} <<'END'\n{self.text}END"


def joined(argv: Sequence[str]) -> list[str]:
    """Let options of sbatch follow ``--slurm``: a word that begins with a dash would be an option of ours."""
    words = list(argv)
    for place in range(len(words) - 1):
        if words[place] == "--slurm" and words[place + 1].startswith("-"):
            return [*words[:place], f"--slurm={words[place + 1]}", *words[place + 2 :]]
    return words


def check_slurm_arguments(args: argparse.Namespace) -> None:
    """Reject what cannot be meant, before the specification is read."""
    if args.slurm is None:
        if args.shards is not None:
            raise OptionError("--shards is for --slurm; one part of a sweep is --shard I/N")
        return
    if args.shards is None:
        raise OptionError("--slurm needs --shards N: how many tasks the job array has")
    if args.shards < 1:
        raise OptionError(f"--shards: got {args.shards}, at least 1 is needed")
    if args.shards > MOST_SHARDS:
        raise OptionError(
            f"--shards: got {args.shards:,}, at most {MOST_SHARDS:,}, as the job that merges names the store of "
            "each; a task may make many runs"
        )
    for name in ("shard", "dask", "metric", "csv", "parquet", "report", "json"):
        if getattr(args, name):
            raise OptionError(
                f"--{name} and --slurm exclude each other; the rows are there when the merging job is done"
            )
    for word in _words(args.slurm):
        name = word.partition("=")[0] if word.startswith("--") else word[:2]
        if name in OURS:
            raise OptionError(f"--slurm: {name} is set by faultsim; leave it out")


def scripts(args: argparse.Namespace, store: str) -> tuple[Script, Script]:
    """The job array, and the job that merges, which still lacks the number of the array."""
    options, n = _words(args.slurm), args.shards
    name = Path(args.spec).stem.replace("%", "%%")
    stores = [shard_store(store, i, n) for i in range(1, n + 1)]
    place = ["--chdir", os.getcwd()]
    run = [*_faultsim(), "sweep", "--quiet"]
    run += ["--processes"] if args.processes else []
    run += ["--retry"] if args.retry else []
    # Not all cores of the node: Slurm counts those of the task, but confines it to them only where it is told to.
    workers = str(args.workers) if args.workers else '"${SLURM_CPUS_PER_TASK:-1}"'
    part = f'--shard "$SLURM_ARRAY_TASK_ID/{n}" --store={_numbered(store, n)} --workers {workers}'
    part += f" -- {shlex.quote(args.spec)}"
    array = Script(
        ["--parsable", f"--job-name={name}", f"--array=1-{n}", f"--output={name}.%A_%a.log", *place, *options],
        f"#!/bin/sh\nexec {shlex.join(run)} {part}\n",
    )
    # After the parts, however they ended: what they have is kept, and the same command goes on from there.
    after = [DEPENDENCY, f"--output={name}.%j.merge.log"]
    merge = Script(
        ["--parsable", f"--job-name={name}-merge", *after, *place, *options],
        f"#!/bin/sh\nexec {shlex.join([*_faultsim(), 'merge', '--', store, *stores])}\n",
    )
    return array, merge


def submit(args: argparse.Namespace, store: str) -> None:
    """Submit both, or print them with ``--dry-run``."""
    array, merge = scripts(args, store)
    if args.dry_run:
        print(array.shown())
        print(merge.after("NUMBER").shown())
        return
    number = _sbatch(array)
    try:
        later = _sbatch(merge.after(number))
    except (OptionError, NotAvailableError) as error:
        raise OptionError(f"job array {number} is submitted, but not the job that merges: {error}") from None
    if not args.quiet:
        print(f"array   {number}: {args.shards} tasks")
        print(f"merge   {later}: writes {store} when they have ended")
        print(f"status  squeue --jobs {number},{later}")


def shard_store(store: str, i: int, n: int) -> str:
    """Where part `i` of `n` is kept."""
    return str(Path(store).with_suffix(f".{i}of{n}.db"))


def _numbered(store: str, n: int) -> str:
    """`shard_store` as a word of the shell in the job array."""
    before, _, after = shard_store(store, 0, n).rpartition(f".0of{n}.db")
    return f'{shlex.quote(before + ".")}"$SLURM_ARRAY_TASK_ID"{shlex.quote(f"of{n}.db" + after)}'


def _faultsim() -> list[str]:
    return [sys.executable, "-m", "faultsim"]


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise OptionError(f"--slurm: {error} in {text!r}") from None


def _sbatch(script: Script) -> str:
    """Submit; the number of the job."""
    try:
        done = subprocess.run(
            ["sbatch", *script.options], input=script.text, capture_output=True, text=True, timeout=PATIENCE
        )
    except FileNotFoundError:
        raise NotAvailableError("there is no sbatch here; --slurm --dry-run prints what would be submitted") from None
    except subprocess.TimeoutExpired:
        raise NotAvailableError(f"sbatch does not answer within {PATIENCE:g} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise OptionError(f"sbatch: {lines[-1].removeprefix('sbatch: ').removeprefix('error: ')}")
    return done.stdout.strip().partition(";")[0]  # NUMBER;CLUSTER where there are several
