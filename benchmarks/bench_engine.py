"""The engine, all of `simulate`: jobs a second by machine and scheduler.

pytest benchmarks/bench_engine.py --benchmark-enable -s

The cases are those of `faultsim bench engine`, on SDSC-SP2 of FAULTSIM_DATA (or ../shared/data beside the checkout),
else on a made-up log.  `python benchmarks/run_engine.py` measures more and writes RESULTS.md.
"""

import os
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.bench.engine import cases

DATA = Path(os.environ.get("FAULTSIM_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
LOG = DATA / "swf" / "SDSC-SP2-1998-4.2-cln.swf.gz"


def log_of(n):
    return fs.read_swf(LOG).head(n) if LOG.exists() else fs.synthetic.sdsc_like(n, rng=1)


CASES = {f"{run.machine} {name}": run for name, run in cases(log_of(50_000))[:3] + cases(log_of(2_000))[3:]}


@pytest.mark.parametrize("name", CASES)
def test_simulate(benchmark, name):
    run = CASES[name]
    benchmark.group = str(run.machine)
    result = benchmark(run.simulate)
    assert len(result) == len(run.log)
    if benchmark.stats:
        rate = len(result) / benchmark.stats.stats.min
        benchmark.extra_info["jobs/s"] = rate
        print(f"\n{name}: {rate:,.0f} jobs/s")
