"""Measure what `Fars` costs a run and a tick, and write the section "FARS" of benchmarks/RESULTS.md.

    python benchmarks/run_fars.py [--only PART ...] [--dry]

All of `simulate` is timed, in CPU seconds of the measuring thread.  The settings of a table take turns, and the least
of several rounds counts, so that what else the machine does disturbs them little.  The input is the baseline of
`faultsim reproduce li2009`.
"""

import time

import numpy as np
from results import run_parts, table

import faultsim as fs
from faultsim.policies.interval_reports import ticks
from faultsim.reproduce.li2009.inputs import DAY, NODES, Drawn, Parameters
from faultsim.simulation.engine_inputs import predictions

BASE = Parameters()
INTERVAL = BASE.interval
HEAD = """
CPU time of all of `simulate`, least of several rounds in which the settings take turns.  The engine is given only the
ticks at which something is suspicious, or ceases to be; the others cost what the difference of the second table shows.
"""


def least_of(runs, rounds):
    """Setting -> least CPU seconds and the last result."""
    least, found = dict.fromkeys(runs, float("inf")), {}
    for _ in range(rounds):
        for what, run in runs.items():
            begin = time.thread_time()
            found[what] = run.simulate()
            least[what] = min(least[what], time.thread_time() - begin)
    return {what: (least[what], found[what]) for what in runs}


def baseline():
    drawn = Drawn("", "exponential", BASE, 0)
    log, trace = drawn.log(0, BASE.load), drawn.failures(0, BASE.mtbf)
    saves = {
        "estimates": "actual",
        "failures": trace,
        "recovery": fs.Hold(BASE.restart_cost),
        "checkpointing": fs.Young(BASE.checkpoint_cost, BASE.mtbf * DAY),
    }

    def fars(strategy, precision=BASE.precision, recall=BASE.recall, **more):
        return {
            **saves,
            "predictor": fs.IntervalPredictor(precision, recall, INTERVAL),
            "rescheduling": fs.Fars(INTERVAL, strategy, **more),
        }

    settings = {
        "EASY, nothing fails": {"estimates": "actual"},
        "EASY, failures, checkpoints": saves,
        "FARS, nothing predicted": {**fars(fs.ServiceUnitLoss()), "predictor": fs.Blind()},
        "FARS, SUL-D": fars(fs.ServiceUnitLoss()),
        "FARS, JFR-D": fars(fs.JobFailureRate()),
        "FARS, FSD-D": fars(fs.FailureSlowdown()),
        "FARS, SUL-D, live": fars(fs.ServiceUnitLoss(), live=True),
        "FARS, node stealing": fars(fs.NodeStealing()),
        "FARS, SUL-D, precision .1, recall 1": fars(fs.ServiceUnitLoss(), 0.1, 1.0),
    }
    runs = {what: fs.Run(log, fs.Cluster(NODES), **more) for what, more in settings.items()}
    rows = []
    for what, (seconds, result) in least_of(runs, 15).items():
        span = result.metrics["makespan"]
        rescheduling = runs[what].rescheduling is not None
        acting = 0
        if rescheduling:
            foreseen = predictions(runs[what].predictor, trace, nodes=NODES, seed=0)
            given = ticks(foreseen, INTERVAL).time
            acting = int(np.count_nonzero(given <= log.submit[0] + span))
        rows.append(
            {
                "setting": what,
                "ticks": f"{int(span / INTERVAL):,}" if rescheduling else None,
                "given to the engine": f"{acting:,}" if rescheduling else None,
                "with a suspicious job": f"{result.counters['migrations_attempted']:,}" if rescheduling else None,
                "moves": f"{int(result.metrics['moves']):,}",
                "failed jobs": f"{int(result.metrics['failed_jobs']):,}",
                "events": f"{result.counters['events']:,}",
                "CPU, ms": f"{seconds * 1e3:.3g}",
            }
        )
    return f"{len(log):,} jobs, {NODES} nodes, a tick every {INTERVAL:g} s: the baseline of li2009", table(rows)


def idle():
    count = 300_000
    log = fs.Workload(submit=[0], runtime=[count * INTERVAL], size=[100])
    every = np.arange(count)
    one = fs.IntervalPredictor.from_pairs([count], [0], interval=INTERVAL, precision=1.0)
    free = fs.IntervalPredictor.from_pairs(every, np.full(count, NODES - 1), interval=INTERVAL, precision=1.0)
    fars = fs.Fars(INTERVAL, fs.ServiceUnitLoss())
    runs = {
        "no FARS": fs.Run(log, fs.Cluster(NODES)),
        "nothing is suspicious": fs.Run(log, fs.Cluster(NODES), predictor=one, rescheduling=fars),
        "a free node is suspicious at every tick": fs.Run(log, fs.Cluster(NODES), predictor=free, rescheduling=fars),
    }
    found = least_of(runs, 7)
    base = found["no FARS"][0]
    rows = [
        {"setting": what, "CPU, ms": f"{s * 1e3:.3g}", "ns a tick": f"{max(0.0, s - base) / count * 1e9:.3g}"}
        for what, (s, _) in found.items()
    ]
    return f"One job over {count:,} ticks", table(rows)


PARTS = {part.__name__: part for part in (baseline, idle)}


def main():
    run_parts("fars", "FARS", HEAD, PARTS, __doc__)


if __name__ == "__main__":
    main()
