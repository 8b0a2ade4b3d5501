"""Placements on 4x4x8: EASY with the rule that leaves most free, beside FCFS, over SDSC-SP2 as Krevat has it."""

import faultsim as fs
from scaling.row import DATA, Row, cpu


def measure(jobs):
    log = fs.krevat_span(fs.read_swf(DATA / "SDSC-SP2-1998-4.2-cln.swf.gz"), "sdsc").head(jobs)
    kinds = (fs.EasyBackfill(), fs.Fcfs())
    runs = (fs.Run(log, fs.Torus.bluegene_l(), scheduler=kind, estimates="actual", start_delay=1.0) for kind in kinds)
    easy, fcfs = (cpu(run.simulate, 7) for run in runs)
    return easy, fcfs, jobs


ROW = Row(
    title="Placements on a torus of 4x4x8 nodes",
    grows="jobs of SDSC-SP2",
    sizes=(156, 625, 2_500, 10_000),
    measure=measure,
    run="EASY",
    against="FCFS",
    reach="6,800 instructions an event, half of what they were",
)
