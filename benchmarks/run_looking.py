"""Measure figures and reports and write the section "Figures and reports" of benchmarks/RESULTS.md.

    python benchmarks/run_looking.py [--only PART ...] [--dry]

Each part runs in a process of its own (Linux).  The logs are those of FAULTSIM_DATA, or of ../shared/data beside the
checkout.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from results import peak, table, write_section

import faultsim as fs

DATA = Path(os.environ.get("FAULTSIM_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "swf"
HEAD = """
Seconds by the clock until the file is written, each once (the first figure has the import of matplotlib in it), and
the largest resident memory of the whole process meanwhile: the result and its record are in it.  The line `simulate` is
the recorded run itself.  CEA-Curie's processors are a flat machine; its record is a list of all nodes of every job,
736 MB.
"""


def curie():
    log = fs.read_swf(DATA / "CEA-Curie-2011-2.1-cln.swf.gz")
    log = log[log.runtime > 0]
    return log, fs.Run(log, fs.Cluster(log.max_nodes), record=True)


def sdsc():
    log = fs.krevat_span(fs.read_swf(DATA / "SDSC-SP2-1998-4.2-cln.swf.gz"), "sdsc")
    trace = fs.synthetic.weibull_failures(
        128, 1.2 * float(log.submit[-1]), 0.85, 18_000.0, downtime=3600.0, count=2000, rng=2004
    )
    return log, fs.Run(log, fs.Torus.bluegene_l(), record=True, failures=trace, checkpointing=fs.Periodic(7200, 300))


PARTS = {part.__name__: part for part in (curie, sdsc)}


def forget_peak():
    Path("/proc/self/clear_refs").write_text("5")


def measure(name):
    """The rows of a part."""
    from faultsim.plot import (
        animate_occupancy,
        plot_gantt,
        plot_ledger,
        plot_occupancy,
        plot_queue,
        plot_utilization,
        save,
    )
    from faultsim.report import report_run

    log, run = PARTS[name]()
    rows = []

    def timed(what, call, path=None):
        forget_peak()
        begin = time.perf_counter()
        made = call()
        seconds = time.perf_counter() - begin
        size = "" if path is None else f"{path.stat().st_size / 1e6:.2f}"
        rows.append({"what": what, "s": f"{seconds:.2f}", "memory, MB": f"{peak():,.0f}", "file, MB": size})
        return made

    result = timed("simulate, recorded", run.simulate)
    title = f"{len(log):,} jobs on {result.machine}, {len(result.allocations['job']):,} stays"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        figures = {"gantt": plot_gantt, "utilization": plot_utilization, "queue": plot_queue, "ledger": plot_ledger}
        if hasattr(result.machine, "shape"):
            figures["occupancy"] = plot_occupancy
        for what, draw in figures.items():
            path = place / f"{what}.png"
            timed(f"plot_{what}, PNG", lambda draw=draw, path=path: save(draw(result), path), path)
        if "occupancy" in figures:
            path = place / "torus.gif"
            timed("animate_occupancy, 40 frames", lambda: animate_occupancy(result, path), path)
        page = place / "run.html"
        timed("report_run, HTML", lambda: report_run(result).write(page), page)
    return title, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", nargs="+", metavar="PART", choices=PARTS, help=f"of {', '.join(PARTS)}; implies --dry"
    )
    parser.add_argument("--dry", action="store_true", help="print only, do not write RESULTS.md")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        print(json.dumps(measure(arguments.part)))
        return
    texts = []
    for name in arguments.only or PARTS:
        done = subprocess.run([sys.executable, __file__, "--part", name], stdout=subprocess.PIPE, text=True, check=True)
        title, rows = json.loads(done.stdout)
        texts.append(f"### {title}\n\n{table(rows)}\n")
        print(texts[-1], flush=True)
    if not arguments.dry and not arguments.only:
        write_section("looking", "Figures and reports", HEAD + "\n" + "\n".join(texts))


if __name__ == "__main__":
    main()
