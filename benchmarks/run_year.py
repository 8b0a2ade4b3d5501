"""Measure the whole machine for two years, and write the section "The whole machine" of benchmarks/RESULTS.md.

    python benchmarks/run_year.py [--only PART ...] [--dry]

BlueGene/L node by node, the jobs of SDSC-SP2 with 512 nodes for each of theirs, failures at the rate of the record of
a real Blue Gene/L.  The part "where" counts instructions with valgrind.  Logs and record are those of FAULTSIM_DATA,
or of ../shared/data beside the checkout.
"""

import math
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from long_runs import measured
from results import run_parts, table
from scaling.row import DATA

import faultsim as fs

MACHINE = fs.Torus.bluegene_l_nodes()
SUPERNODE, HOUR, DAY = 512, 3600.0, 86_400.0
#: The record has no repair times.
DOWNTIME = 4 * HOUR
#: Jobs of which instructions are counted, and parts of the package that have fewer of them are left out.
COUNTED, SHOWN = 400, 0.02
HEAD = f"""
{MACHINE.nodes:,} nodes as a torus of 32x32x64, all of SDSC-SP2 (two years), CPU time of `simulate`, once.  Failures are
those of nodes in the record of a real Blue Gene/L (messages of a node closer than an hour are one), repeated to the end
of the log; nodes are down for {DOWNTIME / HOUR:g} hours, as the record has no repair times, and lie on the torus in the
order of their numbers, which the record does not tell either.
"""
#: What a job asks for: 512 nodes for each of SDSC's, or any number that needs as many supernodes.
SIZES = ("whole supernodes", "any number of nodes")


def jobs(sizes: str) -> fs.Workload:
    log = fs.read_swf(DATA / "SDSC-SP2-1998-4.2-cln.swf.gz")
    log = log[log.runtime > 0].with_size_factor(SUPERNODE)
    columns = {**log.columns, "submit": log.submit - log.submit[0]}
    if sizes != SIZES[0]:
        columns["size"] = log.size - np.random.default_rng(2004).integers(0, SUPERNODE, len(log))
    return fs.Workload(**columns)


def failures(span: float) -> fs.FailureTrace:
    path = DATA.parent / "failures" / "Best.all-fail.gz"
    trace = fs.read_bluegene_ras(path, level="node", gap=HOUR, downtime=DOWNTIME)
    return fs.FailureTrace.concat([trace] * math.ceil(span / trace.span)).window(0.0, span)


def runs(log: fs.Workload, trace: fs.FailureTrace) -> dict[str, fs.Run]:
    """Each adds one thing to the one before, so that the differences tell where the seconds go."""
    easy, largest, saves = fs.EasyBackfill(), fs.MaxFreePartition(), fs.Periodic(2 * HOUR, 300.0)
    return {
        "FCFS, FirstFit": fs.Run(log, MACHINE, scheduler=fs.Fcfs(), placement=fs.FirstFit()),
        "EASY, FirstFit": fs.Run(log, MACHINE, scheduler=easy, placement=fs.FirstFit()),
        "EASY, MaxFreePartition": fs.Run(log, MACHINE, scheduler=easy, placement=largest),
        "the same with failures": fs.Run(log, MACHINE, scheduler=easy, placement=largest, failures=trace),
        "and checkpoints every two hours": fs.Run(
            log, MACHINE, scheduler=easy, placement=largest, failures=trace, checkpointing=saves
        ),
    }


def year(sizes: str) -> tuple[str, str]:
    log = jobs(sizes)
    trace = failures(float(log.submit[-1]))
    rows = []
    for name, run in runs(log, trace).items():
        rows.append(measured(name, run))
        print(rows[-1], flush=True)
    text = f"{len(log):,} jobs, {len(trace):,} failures ({len(trace) / trace.span * DAY:.1f} a day).\n\n"
    return f"Jobs of {sizes}", text + table(rows)


def where() -> tuple[str, str]:
    title = f"Where the time goes: instructions of the compiled parts, first {COUNTED} jobs with failures"
    if shutil.which("valgrind") is None:
        return title, "Not counted: there is no valgrind."
    counts: dict[str, Counter[str]] = {}
    for sizes in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            valgrind = ["valgrind", "--tool=callgrind", "-q", f"--callgrind-out-file={out}"]
            subprocess.run([*valgrind, sys.executable, __file__, "--counted", sizes], check=True)
            counts[sizes] = by_part(out)
    parts = sorted(set().union(*counts.values()), key=lambda part: -sum(c[part] / c.total() for c in counts.values()))
    shares = {part: {sizes: c[part] / c.total() for sizes, c in counts.items()} for part in parts}
    rows = [{"function": part, **row} for part, row in shares.items() if max(row.values()) >= SHOWN]
    return title, table(rows) + "\n\nFunctions with less than 2 % are left out."


def by_part(out: Path) -> Counter[str]:
    """Instructions of the compiled functions of the package, without what they call."""
    command = ["callgrind_annotate", "--threshold=100", str(out)]
    found: Counter[str] = Counter()
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
        match = re.match(
            r"\s*([\d,]+) \(.*?:(?:__pyx_f_\w*_core_)?(\w+).* \[.*faultsim/_core/([\w/]+)\.[\w.-]+\]", line
        )
        if match is not None:
            module = match[3].split("/")[-1]
            function = re.sub(rf"^.*\d{module}_|^fs_|_(avx2|avx512|plain)$", "", match[2])
            found[f"{match[3]}: {function}"] += int(match[1].replace(",", ""))
    return found


def main() -> None:
    parts = {**{sizes.split()[0]: (lambda sizes=sizes: year(sizes)) for sizes in SIZES}, "where": where}
    run_parts("year", "The whole machine for two years", HEAD, parts, __doc__ or "")


if __name__ == "__main__":
    if "--counted" in sys.argv:
        log = jobs(sys.argv[-1])
        whole = runs(log.head(COUNTED), failures(float(log.submit[-1])))
        whole["the same with failures"].simulate()
    else:
        main()
