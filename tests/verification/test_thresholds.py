"""Results do not depend on the thresholds of the core (faultsim/_core/thresholds.pxd).

Cases are too small for most shortcuts at their default thresholds.  With FAULTSIM_THRESHOLDS=least any of the tests,
digests and third programs takes them; here a sample of the digests does, and mixtures of thresholds besides.
"""

import re
from pathlib import Path

import digests
import numpy as np
import pytest

import faultsim as fs
from faultsim._core import thresholds
from helpers.thresholds import at, least
from helpers.thresholds import default as defaults

CORE = Path(thresholds.__file__).parent
#: File of random cases -> how many of them are a sample.
SAMPLE = {
    "random": 150,
    "big_jobs": 30,
    "workflows": 40,
    "rescheduling": 60,
    "pods": 60,
    "preemption": 40,
    "shapes": 40,
}


def read_in(folder):
    """The thresholds that the core reads from its copies, or when it makes these."""
    paths = [path for kind in ("*.pyx", "*.pxd", "*.pxi") for path in folder.rglob(kind) if path.stem != "thresholds"]
    return {name for path in paths for name in re.findall(r"\b(?:limit|thresholds)\.(\w+)", path.read_text())}


def test_the_core_reads_every_threshold():
    if not (CORE / "thresholds.pyx").exists():
        pytest.skip("the sources of the core are not here")
    fields = re.findall(r"^    int(?:32|64)_t (\w+)", (CORE / "thresholds.pxd").read_text(), re.MULTILINE)
    assert fields == list(thresholds.RANGES) == list(thresholds.get())
    assert set(fields) <= read_in(CORE)


def test_a_least_threshold_is_below_its_default():
    for name, (lowest, default, highest) in thresholds.RANGES.items():
        assert lowest < default <= highest, name
        assert name not in thresholds.POWERS or not (lowest & lowest - 1 or default & default - 1), name


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"depth": 1}, "unknown threshold 'depth'"),
        ({"places_left": 5}, "threshold places_left is 5; allowed: 1 to 4"),
        ({"memo_choices": 24}, "threshold memo_choices is 24; allowed: powers of two"),
    ],
)
def test_wrong_thresholds_are_refused(values, message):
    before = thresholds.get()
    with pytest.raises(ValueError, match=message):
        thresholds.set_thresholds(**values)
    assert thresholds.get() == before


# ---------------------------------------------------------------------------------------------- results


def mixture(seed):
    """Of each threshold the least value, the default or a value near the least."""
    rng = np.random.default_rng(seed)
    values = {}
    for name, (lowest, default, _) in thresholds.RANGES.items():
        near = max(2 * lowest, 1) if name in thresholds.POWERS else min(lowest + int(rng.integers(1, 5)), default)
        values[name] = (lowest, default, near)[rng.integers(3)]
    return values


@pytest.mark.parametrize("file", SAMPLE)
def test_results_are_the_same_with_least_thresholds(file):
    with least():
        report = digests.check(file, SAMPLE[file])
    assert not report.different, report


@pytest.mark.parametrize("file", SAMPLE)
def test_results_are_the_same_with_other_thresholds(file):
    for seed in range(4):
        with at(**mixture(seed)):
            report = digests.check(file, SAMPLE[file] // 3)
        assert not report.different, f"{mixture(seed)}: {report}"


def queued(rng, nodes, jobs=60):
    runtime = rng.integers(1, 50, jobs)
    return fs.Workload(
        submit=np.sort(rng.integers(0, 100, jobs)), runtime=runtime, size=rng.integers(1, nodes // 2, jobs),
        estimate=runtime * rng.integers(1, 4, jobs),
    )  # fmt: skip


def outcome(simulation):
    simulation.run()
    return digests.tables(simulation.result())


@pytest.mark.parametrize("machine", [fs.Cluster(40), fs.Torus(4, 4, 3), fs.Pod((2, 2, 1))], ids=repr)
def test_a_copy_keeps_the_thresholds_of_its_simulation(machine):
    log = queued(np.random.default_rng(3), machine.nodes)

    def half_way():
        simulation = fs.Simulation(log, machine, scheduler=fs.EasyBackfill(), record=True)
        simulation.run(until=60.0)
        return simulation

    with least():
        small = half_way()
    made = [outcome(each) for each in (small.copy(), small, half_way())]
    lines = [digests.line_of(tables) for tables in made]
    assert lines[0] == lines[1] == lines[2]


def worked(machine, **options):
    simulation = fs.Simulation(queued(np.random.default_rng(1), 24), machine, **options)
    simulation.run()
    return simulation._execution.engine.work


def test_least_thresholds_take_small_cases_to_the_memories_of_large_ones():
    # A torus of 48 nodes is a single integer, and 12 running jobs are one chunk, unless thresholds are at their least.
    with defaults():
        assert worked(fs.Torus(4, 4, 3))["searched"] == 0
        assert worked(fs.Cluster(48))["moved"] == 0
    with least():
        assert worked(fs.Torus(4, 4, 3))["searched"] > 0
        assert worked(fs.Cluster(48))["moved"] > 0
