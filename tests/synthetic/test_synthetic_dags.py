"""Random workflows have the properties that they are asked for."""

from operator import call

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.synthetic import bench_dags, dag_properties, random_dag
from helpers.refusals import refusals


@given(
    st.integers(1, 60),
    st.integers(0, 2**32),
    st.integers(1, 12),
    st.floats(1, 5),
    st.floats(1, 6),
)
def test_what_is_asked_for_is_met(jobs: int, seed: int, levels: int, meshing: float, length: float) -> None:
    levels = min(levels, jobs)
    try:
        wf = random_dag(
            jobs, rng=seed, levels=levels, meshing=meshing, edge_length=length, cost=(2, 9), transfer=(1, 3)
        )
    except OptionError:
        assume(False)
    found = dag_properties(wf)
    assert (found.size, found.levels) == (jobs, levels)
    assert ((wf.cost >= 2) & (wf.cost <= 9)).all()
    assert ((wf.transfer >= 1) & (wf.transfer <= 3)).all()
    assert (wf.edge_from < wf.edge_to).all(), "jobs are numbered level by level"
    later = jobs - len(wf.entries)
    assert wf.n_edges == max(round(meshing * later), later)


@pytest.mark.parametrize("length", [1.0, 1.5, 2.0, 4.0])
@pytest.mark.parametrize("meshing", [2.0, 3.5])
def test_edge_length_in_the_mean(length: float, meshing: float) -> None:
    found = [
        dag_properties(random_dag(200, rng=seed, meshing=meshing, edge_length=length)).edge_length for seed in range(20)
    ]
    assert np.mean(found) == pytest.approx(length, rel=0.03)


def test_a_full_graph_and_one_too_many() -> None:
    assert random_dag(4, rng=1, levels=4, meshing=2).n_edges == 6
    with pytest.raises(
        OptionError, match="meshing: 7 edges do not fit; 4 jobs on 4 levels have room for 6, so at most 2"
    ):
        random_dag(4, rng=1, levels=4, meshing=2.4)


def test_ccr_and_costs_that_differ() -> None:
    assert random_dag(50, rng=3, ccr=0.25).ccr == pytest.approx(0.25)
    assert dag_properties(random_dag(50, rng=3, ccr=0)).mean_transfer == 0
    even = random_dag(50, rng=3)
    wf = random_dag(50, rng=3, nodes=4, spread=0.2)
    assert wf.cost.shape == (50, 4)
    ratio = wf.cost / even.cost[:, None]
    assert 0.8 <= ratio.min() < 0.85
    assert 1.15 < ratio.max() <= 1.2
    assert random_dag(50, rng=3, nodes=4).cost.std(axis=1).max() == 0


def test_the_same_seed_gives_the_same_workflow() -> None:
    assert random_dag(30, rng=5) == random_dag(30, rng=5)
    assert random_dag(30, rng=5) != random_dag(30, rng=6)
    rng = np.random.default_rng(1)
    assert random_dag(30, rng=rng) != random_dag(30, rng=rng)


def test_the_group_of_the_bench() -> None:
    group = bench_dags(30, rng=7)
    found = [dag_properties(wf) for wf in group]
    assert all(175 <= f.size <= 249 for f in found)
    assert all(0.95 <= f.meshing <= 4.05 and 1 <= f.edge_length <= 4 and 0.1 <= f.ccr <= 1 for f in found)
    assert all(wf.cost.min() >= 300 and wf.cost.max() <= 30_000 for wf in group)
    for name, least in (("meshing", 1.5), ("edge_length", 0.8), ("ccr", 0.5), ("levels", 10)):
        values = [getattr(f, name) for f in found]
        assert max(values) - min(values) > least, f"{name} hardly varies"
    assert bench_dags(3, rng=7) == group[:3]
    assert [wf.n_jobs for wf in bench_dags(5, rng=1, jobs=(10, 10), unit=1)] == [10] * 5


def test_properties_of_a_workflow_without_edges() -> None:
    found = dag_properties(fs.Workflow([1, 2]))
    assert (found.size, found.levels) == (2, 1)
    assert np.isnan([found.meshing, found.edge_length, found.mean_transfer, found.ccr]).all()


test_bad_options = refusals(
    OptionError,
    call,
    (lambda: random_dag(0, rng=1), "jobs must be at least 1 .*, got 0"),
    (lambda: random_dag(5, rng=None), "rng must be a seed"),
    (lambda: random_dag(5, rng=1, levels=6), "levels must be at least 1 and at most 5"),
    (lambda: random_dag(5, rng=1, meshing=0.5), "meshing must be at least 1"),
    (lambda: random_dag(5, rng=1, edge_length=0), "edge_length must be at least 1"),
    (lambda: random_dag(5, rng=1, cost=(3, 2)), "largest cost must be at least 3"),
    (lambda: random_dag(5, rng=1, cost=3), "cost: expected .least, largest., got 3"),
    (lambda: random_dag(5, rng=1, transfer=(-1, 2)), "least transfer must be at least 0"),
    (lambda: random_dag(5, rng=1, ccr=-1), "ccr must be at least 0"),
    (lambda: random_dag(5, rng=1, spread=0.5), "spread needs nodes"),
    (lambda: random_dag(5, rng=1, nodes=2, spread=1), "spread must be below 1"),
    (lambda: bench_dags(1, rng=1, jobs=(9, 8)), "largest number of jobs must be at least 9"),
    (lambda: bench_dags(1, rng=1, unit=0), "unit must be above 0"),
)
