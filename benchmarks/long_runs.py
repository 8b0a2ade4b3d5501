"""What is printed of one long run."""

from scaling.row import cpu

import faultsim as fs


def measured(name: str, run: fs.Run) -> dict[str, object]:
    """A row of a table: the processor time of the run, in all and for each job, and what came of it."""
    results: list[fs.Result] = []
    took = cpu(lambda: results.append(run.simulate()), 1)
    got = results[0].metrics
    return {
        "run": name,
        "CPU, s": took,
        "us a job": took / len(run.log) * 1e6,
        "utilization": got["utilization"],
        "mean wait, h": got["mean_wait"] / 3600.0,
        "kills": int(got["failures_hit"]),
    }
