"""Passes of Slurm's main loop: node selection, and passes of recordings."""

from pathlib import Path

import pytest

import faultsim as fs
from faultsim.readers.slurm_requests import read_slurm_requests
from faultsim.readers.slurmctld_log import read_slurmctld_log
from faultsim.reference.slurm.compare_passes import compare_passes
from faultsim.reference.slurm.main_pass import main_pass
from faultsim.reference.slurm.state import Ask, Running, SlurmNodes, State, Waiting

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
NodeName=n[1-3] CPUs=8 Weight=1
NodeName=g1 CPUs=16 Gres=gpu:2 Weight=10
PartitionName=batch Nodes=n[1-3],g1 Default=YES MaxTime=60
PartitionName=gpu Nodes=g1 MaxTime=60
"""
RUNS = Path(__file__).parents[4] / "shared/data/slurm/runs"


def state_of(tmp_path: Path, *jobs: Waiting, running: tuple[Running, ...] = ()) -> State:
    """A site of four nodes."""
    path = tmp_path / "slurm.conf"
    path.write_text(CONF)
    return State(SlurmNodes(fs.read_slurm_conf(path)), waiting=list(jobs), running=list(running))


def job(number: int, ask: Ask, partition: str = "batch", priority: int = 1) -> Waiting:
    """A waiting job."""
    return Waiting(number, ask, partitions=(partition,), limit=10.0, priority={"": priority})


def started(state: State) -> list[tuple[int, list[str], list[int]]]:
    """Jobs that a full pass starts, with their nodes and CPUs."""
    names = state.site.names
    return [
        (run.job, [names[node] for node in run.nodes], run.cpus) for run in main_pass(state, 0.0, full=True).started
    ]


def test_the_fullest_node_that_fits_is_taken(tmp_path: Path) -> None:
    """Best fit among nodes of the lowest weight."""
    held = Running(1, "batch", 0.0, 10.0, [2], [5], [0], [{}])
    state = state_of(tmp_path, job(2, Ask(max_nodes=1, tasks=3)), running=(held,))
    assert started(state) == [(2, ["n2"], [3])]


def test_a_job_without_nodes_closes_its_partition_and_takes_its_nodes(tmp_path: Path) -> None:
    """Later jobs of the partition wait, and its nodes serve no other partition."""
    held = Running(1, "batch", 0.0, 10.0, [1], [8], [0], [{}])
    large = job(2, Ask(min_nodes=4, max_nodes=4, tasks=4), priority=9)
    state = state_of(tmp_path, large, job(3, Ask(max_nodes=1)), job(4, Ask(max_nodes=1), "gpu"), running=(held,))
    assert started(state) == []


def test_one_task_goes_to_each_node_first(tmp_path: Path) -> None:
    """The first node gives what leaves one CPU for each other."""
    state = state_of(tmp_path, job(2, Ask(min_nodes=3, max_nodes=3, tasks=8)))
    assert started(state) == [(2, ["n1", "n2", "n3"], [6, 1, 1])]


def test_the_last_task_has_what_is_left(tmp_path: Path) -> None:
    """Of 5 and 7 CPUs two tasks of three fit on the second node; the fourth task has what is left of the first: two.

    So the job gets 11 of the 12 CPUs for which it asks, as one of a recording got 19 of 20.
    """
    held = Running(1, "batch", 0.0, 10.0, [1], [3], [0], [{}])
    ask = Ask(tasks=4, cpus_per_task=3, excluded=frozenset({0, 3}))
    assert started(state_of(tmp_path, job(2, ask), running=(held,))) == [(2, ["n1", "n2"], [5, 6])]


@pytest.mark.parametrize("cleaning", [set(), {1}, {0}])
def test_a_test_of_empty_nodes_leaves_marks_also_beside_a_clean_up(tmp_path: Path, cleaning: set[int]) -> None:
    """The job with GPUs finds none; the key of the node that would serve it if it were empty says so."""
    held = Running(1, "batch", 0.0, 10.0, [0], [16], [0], [{"": 2}])
    state = state_of(tmp_path, job(2, Ask(max_nodes=1, tasks=2, gpus=2)), running=(held,))
    state.cleaning |= cleaning
    assert started(state) == []
    assert state.keys == [10 * 256 + 253, 511, 511, 511]


@pytest.mark.skipif(not RUNS.is_dir(), reason="needs the recordings")
@pytest.mark.parametrize("name", ["03s-scene", "03s-scene-lln", "08s-scene"])
def test_passes_of_scenes_are_reproduced(name: str) -> None:
    """All passes have the recorded starts and nodes."""
    folder = RUNS / name
    log = read_slurmctld_log(folder / "slurmctld.log.xz")
    conf = fs.read_slurm_conf(folder / "slurm.conf", [folder / "accounts.txt"], folder / "gres.conf")
    passes = compare_passes(log, conf, read_slurm_requests(folder / "sacct.txt")).passes
    assert passes.total > 40
    assert passes.exact == passes.total
