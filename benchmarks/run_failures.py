"""Measure what failures cost an event of `simulate` and write the section "Failures" of benchmarks/RESULTS.md.

    python benchmarks/run_failures.py [--only PART ...] [--dry]

All of `simulate` is timed, in CPU seconds of the measuring thread.  The settings of a table take turns, and the least
of several rounds counts, so that what else the machine does disturbs their ratios little.  The logs are those of
FAULTSIM_DATA, or of ../shared/data beside the checkout.
"""

import os
import time
from pathlib import Path

from results import run_parts, table

import faultsim as fs

DATA = Path(os.environ.get("FAULTSIM_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "swf"
HOUR, DAY = 3600.0, 86_400.0
#: Events stretched over so much more time that no queue grows without end when failures take their share.
STRETCH = 2.0
SCHEDULERS = {"FCFS": fs.Fcfs(), "EASY": fs.EasyBackfill(), "conservative": fs.ConservativeBackfill()}
HEAD = """
CPU time of all of `simulate` by event of the engine (finishes, arrivals, repairs, failures, requested checkpoints),
least of several rounds in which the settings take turns.  The ratio is to the same scheduler when nothing can fail,
which on a cluster does not even track which nodes a job has.  Moves of jobs, and requests that `RiskBased` refuses,
cost about as much as events and are not counted as such.  Submit times are stretched so that no queue grows without
end: a longer queue costs more an event, failures or not (the mean wait shows what is left of that).
"""


def log_of(name, largest):
    log = fs.read_swf(DATA / f"{name}.swf.gz")
    return log[(log.runtime > 0) & (log.size <= largest)]


def stretched(log, factor):
    return fs.Workload(**{**log.columns, "submit": log.submit * factor})


def failures(log, nodes, count, downtime, burst=None):
    """Weibull gaps over the time of the log and a fifth more."""
    horizon = 1.2 * float(log.submit[-1])
    count = round(count * horizon / DAY) if count < 100 else count
    return fs.synthetic.weibull_failures(
        nodes, horizon, 0.85, 18_000.0, downtime=downtime, count=count, burst=burst, rng=2004
    )


def flat_settings(trace):
    fails = {"failures": trace}
    saves = {**fails, "checkpointing": fs.Periodic(2 * HOUR, 300.0)}
    first, sees = fs.LeastFailuresFirst(), {"predictor": fs.Confidence(0.5)}
    return {
        "nothing": {},
        "failures": {**fails, "checkpointing": fs.NoCheckpoint()},
        "+ Periodic": saves,
        "+ Periodic, Hold": {**saves, "recovery": fs.Hold(120.0)},
        "+ Periodic, Confidence, SafestFirst": {**saves, **sees, "placement": fs.SafestFirst()},
        "+ Periodic, LeastFailuresFirst": {**saves, "placement": first},
        "+ Periodic, LeastFailuresFirst, migration": {
            **saves,
            "placement": first,
            "migration": fs.LeastFailuresMigration(),
        },
        "+ RiskBased, Confidence": {**fails, **sees, "checkpointing": fs.RiskBased(2 * HOUR, 300.0)},
        "+ BeforeFailure": {**fails, "checkpointing": fs.BeforeFailure(300.0)},
    }


def torus_settings(trace):
    fails = {"failures": trace}
    saves = {**fails, "checkpointing": fs.Periodic(2 * HOUR, 300.0)}
    return {
        "nothing": {},
        "failures": fails,
        "+ Periodic": saves,
        "+ Periodic, Accuracy, TieBreaking": {
            **saves,
            "predictor": fs.Accuracy(0.5),
            "placement": fs.TieBreaking(),
        },
        "+ Periodic, Confidence, Balancing": {
            **saves,
            "predictor": fs.Confidence(0.1),
            "placement": fs.Balancing(),
        },
    }


def measured(log, machine, settings, schedulers, rounds):
    rows = []
    for name in schedulers:
        runs = {what: fs.Run(log, machine, scheduler=SCHEDULERS[name], **more) for what, more in settings.items()}
        least, found = dict.fromkeys(runs, float("inf")), {}
        for _ in range(rounds):
            for what, run in runs.items():
                begin = time.thread_time()
                found[what] = run.simulate()
                least[what] = min(least[what], time.thread_time() - begin)
        each = {what: least[what] / found[what].counters["events"] for what in runs}
        for what, result in found.items():
            rows.append(
                {
                    "scheduler": name,
                    "setting": what,
                    "events": f"{result.counters['events']:,}",
                    "failures": f"{result.counters['failures']:,}",
                    "kills": f"{int(result.jobs['restarts'].sum()):,}",
                    "moves": f"{int(result.jobs['moves'].sum()):,}",
                    "mean wait, h": f"{result.metrics['mean_wait'] / HOUR:.3g}",
                    "CPU, ms": f"{least[what] * 1e3:.3g}",
                    "ns an event": f"{each[what] * 1e9:,.0f}",
                    "ratio": f"{each[what] / each['nothing']:.2f}",
                }
            )
    return table(rows)


def sdsc():
    log = stretched(log_of("SDSC-SP2-1998-4.2-cln", 128), STRETCH)
    trace = failures(log, 128, 2, HOUR)
    title = f"SDSC-SP2, {len(log):,} jobs, 128 nodes; 2 failures a day, down for an hour"
    return title, measured(log, fs.Cluster(128), flat_settings(trace), SCHEDULERS, 15)


def ctc():
    log = stretched(log_of("CTC-SP2-1996-3.1-cln", 338), STRETCH)
    trace = failures(log, 338, 4, HOUR)
    title = f"CTC-SP2, {len(log):,} jobs, 338 nodes; 4 failures a day, down for an hour"
    return title, measured(log, fs.Cluster(338), flat_settings(trace), SCHEDULERS, 10)


def krevat():
    return stretched(fs.krevat_span(fs.read_swf(DATA / "SDSC-SP2-1998-4.2-cln.swf.gz"), "sdsc"), STRETCH)


def torus():
    log = krevat()
    trace = failures(log, 128, 4000, 0.0, burst=4)
    title = f"4x4x8 torus, Krevat's {len(log):,} jobs of SDSC-SP2; 4,000 transient failures in bursts of 4 on average"
    return title, measured(log, fs.Torus.bluegene_l(), torus_settings(trace), ["FCFS", "EASY"], 7)


def torus_conservative():
    log = krevat().head(2500)
    trace = failures(log, 128, 1000, 0.0, burst=4)
    title = f"The same under conservative backfilling: the first {len(log):,} jobs, 1,000 failures"
    return title, measured(log, fs.Torus.bluegene_l(), torus_settings(trace), ["conservative"], 2)


PARTS = {part.__name__: part for part in (sdsc, ctc, torus, torus_conservative)}


def main():
    run_parts("failures", "Failures", HEAD, PARTS, __doc__)


if __name__ == "__main__":
    main()
