"""Learn the order of the queue by the cross-entropy method, with NumPy alone, and compare it on months not seen.

    python examples/learn_order.py SDSC-SP2-1998-4.2-cln.swf.gz --nodes 128

The policy is linear: a job's key is the weighted sum of a few logarithms (`FEATURES`), and EASY backfilling takes the
smallest first.  The first half of the months is trained on, the second half compared: mean bounded slowdown of each
month, each from an empty machine, and the difference to the presets `sjf` and `f1` of `fs.Key`, with an interval
from 10,000 resamples of the months.
"""

import argparse
from time import perf_counter

import numpy as np

import faultsim as fs

MONTH = 30 * 86400.0
FEATURES = (
    "log2(estimate + 1)",
    "log2(size)",
    "log2(wait + 1)",
    "log2(estimate + 1) * log2(size)",
)


def linear(weights):
    """The order of these weights: smallest sum first."""
    return fs.Key(" + ".join(f"{weight:.4f} * {feature}" for weight, feature in zip(weights, FEATURES, strict=True)))


def months(log):
    """The months of a log that have at least 100 jobs."""
    number = np.floor((log.submit - log.submit[0]) / MONTH).astype(int)
    return [log[number == month] for month in np.unique(number) if (number == month).sum() >= 100]


def slowdowns(orders, logs, nodes):
    """Mean bounded slowdown under EASY backfilling: a row per order, a column per month."""
    runs = [fs.Run(log, fs.Cluster(nodes), scheduler=fs.EasyBackfill(order=order)) for order in orders for log in logs]
    found = [result.metrics["mean_bounded_slowdown"] for result in fs.simulate_many(runs, threads=2)]
    return np.reshape(found, (len(orders), len(logs)))


def learn(logs, nodes, *, seed=0, rounds=15, population=32, elite=8):
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
    """Mean of the differences, and its 95 % interval, by resampling months."""
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
            f"learned - {name}: {mean:.2f}, 95 % from {low:.2f} to {high:.2f}; less in {better} of {len(logs)} months"
        )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log")
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    each = months(fs.read_swf(given.log))
    seen, unseen = each[: len(each) // 2], each[len(each) // 2 :]
    began = perf_counter()
    weights = learn(seen, given.nodes, seed=given.seed, rounds=given.rounds)
    print(f"{len(seen)} months, {sum(map(len, seen)):,} jobs, {perf_counter() - began:.0f} s: {linear(weights).text}")
    print(f"{len(unseen)} months not seen, {sum(map(len, unseen)):,} jobs:")
    compare(weights, unseen, given.nodes)


if __name__ == "__main__":
    main()
