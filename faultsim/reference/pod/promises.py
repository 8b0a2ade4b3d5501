"""How many slices of one size a pod can promise, from the availability of its hosts: closed forms.

Hosts are up and down independently of each other, each up with probability a in the long run, whatever the
distributions of its times up and down.  A cube of h hosts is up with probability A = a**h, and the number of cubes
that are up is Binomial(n, A).
"""

import math


def binomial(n: int, k: int, p: float) -> float:
    """P(X = k) of X ~ Binomial(n, p).

    Examples
    --------
    >>> binomial(2, 1, 0.5)
    0.5
    """
    if p in (0.0, 1.0):
        return float(k == (n if p == 1.0 else 0))
    if n <= 1000:  # exact up to the last digits
        return math.comb(n, k) * p**k * (1.0 - p) ** (n - k)
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(p) + (n - k) * math.log1p(-p))


def at_least(n: int, k: int, p: float) -> float:
    """P(X >= k) of X ~ Binomial(n, p)."""
    if k > n:
        return 0.0
    return math.fsum(binomial(n, i, p) for i in range(max(k, 0), n + 1))


def slices_of_size(n_cubes: int, size: int, a: float, hosts: int, blocks: int | None) -> list[float]:
    """P(exactly s slices are up), s = 0, 1, ...

    Parameters
    ----------
    n_cubes : int
        Cubes of the pod.
    size : int
        Hosts of a slice: a multiple of those of a cube, or a divisor.
    a : float
        Availability of a host.
    hosts : int
        Hosts of a cube.
    blocks : int or None
        Static wiring: how many aligned blocks of the slice's shape the pod has; each is up or down as a whole.
        None: optical switches, any cubes that are up make a slice.
    """
    if size < hosts:  # inside cubes: every slice has hosts of its own
        total = n_cubes * (hosts // size)
        return [binomial(total, s, a**size) for s in range(total + 1)]
    if blocks is not None:
        return [binomial(blocks, s, a**size) for s in range(blocks + 1)]
    k = size // hosts
    up = [binomial(n_cubes, cubes, a**hosts) for cubes in range(n_cubes + 1)]
    return [math.fsum(up[s * k : (s + 1) * k]) for s in range(n_cubes // k + 1)]


def promised(distribution: list[float], probability: float) -> int:
    """The most slices that are up at once with at least this probability."""
    for s in range(len(distribution) - 1, 0, -1):
        if math.fsum(distribution[s:]) >= probability:
            return s
    return 0


def mean(distribution: list[float]) -> float:
    """The slices that are up on average."""
    return math.fsum(s * p for s, p in enumerate(distribution))


def needed_availability(n: int, healthy: int, probability: float) -> float:
    """The availability of each of n cubes with which at least `healthy` are up with this probability.

    The availability of a host is its root: ``needed_availability(...) ** (1 / hosts)``.
    """
    low, high = 0.0, 1.0
    while high - low > 1e-15:  # the chance rises with the availability
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        low, high = (low, middle) if at_least(n, healthy, middle) >= probability else (middle, high)
    return high


def spare_cubes(wanted: int, a: float, hosts: int, probability: float, most: int) -> int | None:
    """Cubes to hold back so that slices of `wanted` cubes in all are up with this probability, with optical switches.

    None: more than `most` cubes would be needed in all.
    """
    for spare in range(most - wanted + 1):
        if at_least(wanted + spare, wanted, a**hosts) >= probability:
            return spare
    return None
