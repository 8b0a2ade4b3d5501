"""The partition finders: finds a second, by machine and occupancy.

pytest benchmarks/bench_partitions.py --benchmark-enable -s        (run_partitions.py writes the table of RESULTS.md)
"""

import numpy as np
import pytest

from faultsim._core.torus.finders import Finder
from faultsim._core.torus.occupancy import Torus
from faultsim.bench.partitions import MACHINES, OCCUPANCIES, occupancies
from faultsim.kernels.partition import ALGORITHMS

# What one answer may cost: beyond these nodes it can be minutes.
LIMIT = {"naive": 512, "divisor": 1024}


@pytest.mark.parametrize("busy", OCCUPANCIES)
@pytest.mark.parametrize("shape", MACHINES, ids=lambda shape: "x".join(map(str, shape)))
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_largest(benchmark, algorithm, shape, busy):
    if np.prod(shape) > LIMIT.get(algorithm, 2**31):
        pytest.skip("one answer can take minutes")
    n = MACHINES[shape][0]
    scenes = occupancies(shape, busy, n).view(np.uint8)
    torus, out, plain = Torus(*shape), np.empty((n, 6), np.int32), np.empty((n, 6), np.int32)
    finder = Finder(torus, ALGORITHMS[algorithm].number, scenes)
    benchmark.group = f"{'x'.join(map(str, shape))}, {busy}"
    benchmark(finder.largest, out)
    Finder(torus, ALGORITHMS["pop"].number, scenes).largest(plain)
    assert np.array_equal(out, plain)
    if benchmark.stats:
        rate = n / benchmark.stats.stats.min
        benchmark.extra_info["finds/s"] = rate
        print(f"\n{algorithm}, {benchmark.group}: {rate:,.0f} finds/s")
