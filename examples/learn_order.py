"""Learn the order of the queue by the cross-entropy method, with NumPy alone, and compare it on jobs not seen.

    python examples/learn_order.py SDSC-SP2-1998-4.2-cln.swf.gz --nodes 128

The policy is linear: a job's key is the weighted sum of a few logarithms (`FEATURES`), and EASY backfilling takes the
smallest first.  Besides what the job asks for, it knows `expected`: what the last jobs of its user took (see
`expected_runtime`).  The log is cut into windows of 512 jobs.  Those of its first 60 % are trained on, the others
compared: mean bounded slowdown of each window, each from an empty machine, and the difference to the presets
`sjf` and `f1` of `fs.Key`, with an interval from 10,000 resamples of the windows.
"""

import argparse
import heapq
from collections import defaultdict, deque
from time import perf_counter

import numpy as np

import faultsim as fs

FEATURES = (
    "log2(expected + 1)",
    "log2(estimate + 1)",
    "log2(size)",
    "log2(wait + 1)",
    "log2(expected + 1) * log2(size)",
)


def linear(weights):
    """The order of these weights: smallest sum first."""
    return fs.Key(" + ".join(f"{weight:.4f} * {feature}" for weight, feature in zip(weights, FEATURES, strict=True)))


def expected_runtime(log):
    """The mean run time of the last two jobs of the same user that had ended, in the recorded schedule, when a job was
    submitted, in seconds, and at most the job's estimate, which it is without such jobs.
    """
    limit = np.where(log.estimate > 0, log.estimate, np.inf)
    expected = np.where(log.estimate > 0, log.estimate, 3600.0)
    waited = 0.0 if log.recorded_wait is None else np.nan_to_num(log.recorded_wait)
    end = log.submit + waited + log.runtime
    running, last = [], defaultdict(lambda: deque(maxlen=2))
    for job, user in enumerate(log.user.tolist()):
        while running and running[0][0] <= log.submit[job]:
            ended = heapq.heappop(running)[1]
            last[int(log.user[ended])].append(float(log.runtime[ended]))
        if last[user]:
            expected[job] = min(np.mean(last[user]), limit[job])
        heapq.heappush(running, (end[job], job))
    return expected


def windows(log, jobs):
    """As many windows of that many jobs as the log has."""
    return [log[begin : begin + jobs] for begin in range(0, len(log) - jobs + 1, jobs)]


def slowdowns(orders, logs, nodes):
    """Mean bounded slowdown under EASY backfilling: a row per order, a column per window."""
    runs = [fs.Run(log, fs.Cluster(nodes), scheduler=fs.EasyBackfill(order=order)) for order in orders for log in logs]
    found = [result.metrics["mean_bounded_slowdown"] for result in fs.simulate_many(runs, threads=2)]
    return np.reshape(found, (len(orders), len(logs)))


def learn(logs, nodes, *, seed=0, rounds=20, population=32, elite=8):
    """Weights by the cross-entropy method: draw, keep the best, fit a normal distribution to these, draw again."""
    rng = np.random.default_rng(seed)
    mean, spread = np.zeros(len(FEATURES)), np.ones(len(FEATURES))
    best, least = mean, np.inf
    for number in range(rounds):
        drawn = mean + spread * rng.standard_normal((population, len(FEATURES)))
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)  # only the direction matters
        scores = slowdowns([linear(weights) for weights in drawn], logs, nodes).mean(axis=1)
        order = np.argsort(scores, kind="stable")[:elite]
        mean, spread = drawn[order].mean(axis=0), drawn[order].std(axis=0) + 0.3 / (number + 1)
        if scores[order[0]] < least:
            best, least = drawn[order[0]], scores[order[0]]
        print(f"round {number + 1:2}: best {scores[order[0]]:.2f}, mean of the elite {scores[order].mean():.2f}")
    return best


def interval(differences, seed=0, resamples=10_000):
    """Mean of the differences, and its 95 % interval, by resampling windows."""
    rng = np.random.default_rng(seed)
    means = rng.choice(differences, (resamples, len(differences))).mean(axis=1)
    return float(np.mean(differences)), *np.quantile(means, [0.025, 0.975])


def compare(weights, logs, nodes):
    """A line per order, and one per difference to the one learned."""
    names = {"learned": linear(weights), "sjf": "sjf", "f1": "f1", "arrival": "arrival"}
    found = dict(zip(names, slowdowns(list(names.values()), logs, nodes), strict=True))
    for name, values in found.items():
        print(f"{name:8} mean {values.mean():6.2f}, median {np.median(values):6.2f}")
    for name in ("sjf", "f1"):
        mean, low, high = interval(found["learned"] - found[name])
        better = int((found["learned"] < found[name]).sum())
        print(
            f"learned - {name}: {mean:.2f}, 95 % from {low:.2f} to {high:.2f}; less in {better} of {len(logs)} windows"
        )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log")
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--jobs", type=int, default=512, help="of a window")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    log = fs.read_swf(given.log)
    log = log.with_columns(expected=expected_runtime(log))
    cut = len(log) * 6 // 10
    seen, unseen = windows(log[:cut], given.jobs), windows(log[cut:], given.jobs)
    began = perf_counter()
    weights = learn(seen, given.nodes, seed=given.seed, rounds=given.rounds)
    print(f"{len(seen)} windows, {perf_counter() - began:.0f} s: {linear(weights).text}")
    print(f"{len(unseen)} windows not seen:")
    compare(weights, unseen, given.nodes)


if __name__ == "__main__":
    main()
