"""What theory says of jobs that fail and begin again, and how samples are held against it."""

import math

import numpy as np
from scipy import stats

import faultsim as fs


def generator(*key):
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(20043, spawn_key=key)))


def interval(samples):
    """Mean and half-width of its 99.9 % t-interval."""
    samples = np.asarray(samples, dtype=float)
    half = stats.t.ppf(0.9995, len(samples) - 1) * samples.std(ddof=1) / math.sqrt(len(samples))
    return samples.mean(), half


def assert_within(samples, theory, precision, *, wrong=()):
    """`theory` is in the interval, whose half-width is below `precision` of it; none of the values `wrong` is."""
    mean, half = interval(samples)
    assert half <= precision * abs(theory), f"half-width {half:.3g} says little about {theory:.6g}"
    assert abs(mean - theory) <= half, f"{mean:.6g} +- {half:.2g}, theory {theory:.6g}"
    for other in wrong:
        assert abs(mean - other) > half, f"{mean:.6g} +- {half:.2g} does not tell {theory:.6g} from {other:.6g}"


def attempt(rate, length):
    """Of the time X to a failure: P(X < length), and E[X] and E[X^2] where X < length."""
    goes_well = math.exp(-rate * length)
    return (
        1 - goes_well,
        1 / rate - goes_well * (length + 1 / rate),
        2 / rate**2 - goes_well * (length**2 + 2 * length / rate + 2 / rate**2),
    )


def restarted(rate, work, down=0.0, recovery=0.0):
    """Mean and variance of the time that `work` takes without checkpoints.

    Failures come at `rate`; each is followed by `down` without failures and by `recovery`, in which the next may come.
    """

    def first_and_rest(length, before, rest, rest_2):
        """Moments of before + min(X, length) + (what follows, if X < length)."""
        fails, one, two = attempt(rate, length)
        well = (before + length) * (1 - fails)
        mean = well + before * fails + one + fails * rest
        square = (before + length) * well + before**2 * fails + 2 * before * one + two
        return mean, square + 2 * (before * fails + one) * rest + fails * rest_2

    length = recovery + work
    fails = attempt(rate, length)[0]
    later = first_and_rest(length, down, 0.0, 0.0)[0] / (1 - fails)
    later_2 = first_and_rest(length, down, later, 0.0)[1] / (1 - fails)
    mean, square = first_and_rest(work, 0.0, later, later_2)
    return mean, square - mean**2


def expected_time(rate, work, down=0.0, recovery=0.0):
    """The closed form of the mean: e^(rate R) (1 / rate + D) (e^(rate T) - 1)."""
    return math.exp(rate * recovery) * (1 / rate + down) * math.expm1(rate * work)


def stretches(work, interval, cost):
    """Lengths from safe point to safe point of a job with periodic checkpoints: none with `cost` or less left."""
    taken = 0
    while work - (taken + 1) * interval > cost:
        taken += 1
    return [interval + cost] * taken + [work - taken * interval]


def expected_with_checkpoints(rate, work, interval, cost, down=0.0, recovery=0.0):
    """Mean time of a job with periodic checkpoints: each stretch to a safe point is a job without any."""
    return sum(expected_time(rate, length, down, recovery) for length in stretches(work, interval, cost))


def equal_jobs(n, work, size=1):
    """All there at 0, so that on a machine with room for one they run one after another."""
    return fs.Workload(submit=np.zeros(n), runtime=np.full(n, float(work)), size=np.full(n, size), estimate=[work] * n)


def run_through(log, machine, trace, **options):
    """The result, of which the failures lasted to the end, and whose ledger balances."""
    result = fs.simulate(log, machine, scheduler=fs.Fcfs(), failures=trace, **options)
    # Intervals far from the best, and nodes that are mostly down, are meant here.
    assert not [told for told in result.warnings if not told.startswith(("checkpoints take", "nodes are down"))]
    begin, end = result.span
    assert abs(sum(result.ledger.values()) - machine.nodes * (end - begin)) <= 1e-9 * machine.nodes * (end - begin)
    return result


def times_one_by_one(result):
    """How long each job held the machine, jobs being in order."""
    return np.diff(result.jobs["finish"], prepend=0.0)
