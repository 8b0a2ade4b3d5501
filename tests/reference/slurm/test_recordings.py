"""Priorities of recorded runs of Slurm, each from the recorded state before it."""

import lzma
from dataclasses import replace
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.data import slurmctld_records as records
from faultsim.readers.slurm_requests import read_slurm_requests
from faultsim.readers.slurmctld_log import read_slurmctld_log
from faultsim.reference.slurm.compare_priorities import compare_priorities
from faultsim.reference.slurm.replay import Replay
from faultsim.reference.slurm.site_priorities import site_of
from helpers.scripts import script

CHECKOUT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
PAGE = (CHECKOUT / "docs" / "background" / "slurm-exactness.md").read_text(encoding="utf-8")
LINES = PAGE.splitlines()
SECOND = next(at for at, line in enumerate(LINES) if line.startswith("| recording | main passes"))
ROWS = [line for line in LINES[:SECOND] if line[:2] == "| " and line[2].isdigit()]
DECISIONS = {line.split(" | ")[0][2:]: line for line in LINES[SECOND:] if line[:2] == "| " and line[2].isdigit()}
SCENE = CHECKOUT / "tests" / "readers" / "slurm" / "08s-scene"


@pytest.fixture(scope="module")
def recordings():
    return script("slurm_recordings")


@pytest.mark.parametrize("expected", ROWS, ids=[row.split(" | ")[0][2:] for row in ROWS])
def test_rows_of_the_page(recordings, data_dir, expected):
    name = expected.split(" | ")[0][2:]
    folder = data_dir / "slurm" / "runs" / name
    if not folder.is_dir():
        pytest.skip(f"no recordings of Slurm: {folder} is no folder")
    found = recordings.compared(folder)
    assert recordings.priorities_row(name, [found]) == expected
    assert recordings.decisions_row(name, [found]) == DECISIONS[name]
    assert found.with_jobs.priorities.share >= 0.999
    differences = found.decisions.cycles.differences
    assert len(differences) == found.decisions.cycles.total - found.decisions.cycles.exact
    assert all(each.cause for each in differences)


def test_enough_cycles_and_passes_agree(recordings):
    """The sums of the page."""
    cells = next(line for line in LINES[SECOND:] if line.startswith("| **all**")).split(" | ")
    shares = [int(one.replace(",", "")) / int(all_.replace(",", "")) for one, all_ in (
        cell.strip(" |").split(" of ") for cell in cells[1:4]
    )]  # fmt: skip
    assert shares[0] >= 0.998
    assert shares[2] >= 0.995


def test_all_of_a_scene_with_failures_and_requeues(recordings):
    """This recording is in the repository."""
    result = recordings.compared(SCENE)
    found = result.with_jobs
    kinds = (found.priorities, found.charges, found.levels, found.run_seconds)
    assert [(each.exact, each.total) for each in kinds] == [(23, 23), (77, 77), (140, 140), (2464, 2464)]
    assert found.priorities.late == 0
    decisions = result.decisions
    kinds = (decisions.passes, decisions.cycles, decisions.plans)
    assert [(each.exact, each.total) for each in kinds] == [(49, 49), (27, 27), (6, 6)]


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"half_life": 1201.0}, "levels"),
        ({"dampening": 2.0}, None),  # of the classic formula only
    ],
)
def test_another_configuration_is_noticed(change, cause):
    log = read_slurmctld_log(SCENE / "slurmctld.log.xz")
    conf = fs.read_slurm_conf(SCENE / "slurm.conf", [SCENE / "accounts.txt"])
    requests = read_slurm_requests(SCENE / "sacct.txt")
    found = compare_priorities(log, replace(site_of(conf), **change), requests)
    assert bool(found.charges.differences or found.levels.differences) == (cause is not None)


@pytest.mark.parametrize("name", ["age", "fairshare", "job_size", "partition"])
def test_another_weight_is_noticed(name):
    log = read_slurmctld_log(SCENE / "slurmctld.log.xz")
    site = site_of(fs.read_slurm_conf(SCENE / "slurm.conf", [SCENE / "accounts.txt"]))
    weights = replace(site.weights, **{name: getattr(site.weights, name) * 1.1})
    found = compare_priorities(log, replace(site, weights=weights), read_slurm_requests(SCENE / "sacct.txt"))
    assert found.priorities.differences


def test_a_log_that_begins_while_the_controller_runs(tmp_path):
    """Usage is then derived from the printed levels; what is not in the log is left out with its reason."""
    lines = lzma.decompress((SCENE / "slurmctld.log.xz").read_bytes()).splitlines(keepends=True)
    path = tmp_path / "cut.log"
    path.write_bytes(b"".join(lines[len(lines) // 4 :]))
    conf = fs.read_slurm_conf(SCENE / "slurm.conf", [SCENE / "sacctmgr.cfg", SCENE / "qos.txt"])
    log = read_slurmctld_log(path)
    found = compare_priorities(log, site_of(conf), read_slurm_requests(SCENE / "sacct.txt"))
    assert found.levels.exact == found.levels.total > 0
    assert found.priorities.exact == found.priorities.total > 0
    kept = sum(1 for _ in log.of(records.Priority))
    assert found.priorities.total + sum(found.priorities.left_out.values()) == kept


def test_usage_that_an_administrator_resets(tmp_path):
    """The levels that are printed then are the state of all that follows: one tree differs."""
    log = read_slurmctld_log(SCENE / "slurmctld.log.xz")
    site = site_of(fs.read_slurm_conf(SCENE / "slurm.conf", [SCENE / "accounts.txt"]))
    for each in site.accounts.root.all():
        each.usage = 1000.0  # another state than that of the controller, which begins without usage
    found = compare_priorities(log, site, read_slurm_requests(SCENE / "sacct.txt"))
    trees = {difference.line for difference in found.levels.differences}
    assert len(trees) == 1
    assert found.priorities.exact == found.priorities.total == 23


def test_nodes_that_do_not_respond_serve_no_job(tmp_path):
    """As one that never registered in a recording, until they do."""
    (tmp_path / "slurmctld.log").write_text(
        "[2026-12-01T00:02:02.884] slurmctld version 22.05.8 started on cluster c\n"
        "[2026-12-01T00:02:14.956] priority/multifactor: _internal_setup: PRIO: priority: Max Age is 1200\n"
        "[2026-12-01T00:02:30.892] error: Nodes g1,n[1-2] not responding\n"
        "[2026-12-01T00:02:35.000] debug:  sched: Running job scheduler for default depth.\n"
        "[2026-12-01T00:02:40.000] Node n2 now responding\n"
    )
    replay = Replay(read_slurmctld_log(tmp_path / "slurmctld.log"), fs.read_slurm_conf(SCENE / "slurm.conf"), {})
    names, seen = replay.site.names, []
    for record in read_slurmctld_log(tmp_path / "slurmctld.log").records:
        replay.take(record)
        seen.append(set(names) - {names[node] for node in replay.state.up})
    assert seen[-3:] == [{"g1", "n1", "n2"}, {"g1", "n1", "n2"}, {"g1", "n1"}]
