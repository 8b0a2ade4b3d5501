"""Result.against_recorded: numbers by hand, a slow replay, the command line and the figure."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.cli import main
from faultsim.results.against_recorded import replayed
from helpers.refusals import refused


def log() -> fs.Workload:
    """Four jobs on 4 nodes; recorded: job 2 waits 10 s too long while job 3 passes it; job 4 does not fit."""
    return fs.Workload(
        submit=[0, 1, 2, 30],
        runtime=[10, 10, 5, 5],
        size=[2, 2, 1, 4],
        recorded_wait=[0, 19, 0, -1],
    )


def test_numbers_by_hand() -> None:
    compared = fs.simulate(log(), fs.Cluster(4)).against_recorded()
    assert (compared["n_jobs"], compared["n_without"]) == (3, 1)
    assert compared["recorded_mean_wait"] == pytest.approx(19 / 3)
    # Simulated: jobs 1 and 2 at once, job 3 when job 1 ends.
    assert compared["simulated_mean_wait"] == pytest.approx(8 / 3)
    assert compared["recorded_utilization"] == pytest.approx(45 / (4 * 30))
    assert compared["simulated_utilization"] == pytest.approx(45 / (4 * 15))
    assert (compared["n_unfit"], compared["n_out_of_order"], compared["n_passed"]) == (0, 1, 1)
    assert compared["recorded_most_nodes"] == 3
    assert compared.by_size["size_class"].tolist() == [1, 2]
    assert compared.by_size["recorded_mean_wait"].tolist() == [0, 9.5]
    assert compared.over_time["jobs"].tolist() == [3]
    assert "pass one of 1 jobs that wait" in str(compared)


def test_a_smaller_machine_is_found() -> None:
    jobs = fs.Workload([0, 0], [10, 10], [2, 2], recorded_wait=[0, 0])
    compared = fs.simulate(jobs, fs.Cluster(3)).against_recorded()
    assert (compared["n_unfit"], compared["recorded_most_nodes"]) == (1, 4)
    assert compared.findings[0].startswith("1 of 2 recorded starts do not fit on 3 nodes (recorded jobs hold up to 4)")
    assert not fs.simulate(jobs, fs.Cluster(4)).against_recorded().findings


def slow(submit: list[int], start: list[int], runtime: list[int], size: list[int], nodes: int) -> tuple[int, ...]:
    """The same, second by second: every start looks at all jobs."""
    most = unfit = out = 0
    passed = set()
    order = sorted(range(len(start)), key=lambda job: start[job])
    for place, job in enumerate(order):
        now, before = start[job], order[:place]
        held = sum(size[other] for other in before if start[other] + runtime[other] > now)
        waiting = [other for other in range(len(start)) if other not in before and submit[other] <= now]
        if waiting[0] != job and size[waiting[0]] <= nodes - held:
            out += 1
            passed.add(waiting[0])
        # A job of run time 0 holds its nodes until the next start is looked at.
        most, unfit = max(most, held + size[job]), unfit + (held + size[job] > nodes)
    return most, unfit, out, len(passed)


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 6), st.integers(1, 4)), min_size=1, max_size=9
    ),
    st.integers(1, 6),
)
def test_replay_is_that_of_a_slow_one(jobs: list[tuple[int, int, int, int]], nodes: int) -> None:
    jobs = sorted(jobs)
    submit, wait, runtime, size = ([job[at] for job in jobs] for at in range(4))
    start = [a + b for a, b in zip(submit, wait, strict=True)]
    arrays = (np.array(values, dtype=float) for values in (submit, start, runtime))
    assert replayed(*arrays, np.array(size), nodes) == slow(submit, start, runtime, size, nodes)


def test_without_waits() -> None:
    plain = fs.Workload([0], [1], [1])
    refused(fs.OptionError, "no recorded waits", fs.simulate(plain, fs.Cluster(1)).against_recorded)
    refused(fs.OptionError, "no recorded waits", fs.simulate(log().with_gap_factor(2), fs.Cluster(4)).against_recorded)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.swf"
    log().write_swf(path)
    argv = ["run", str(path), "--machine", "cluster:4", "--against-recorded"]
    figure, saved = tmp_path / "waits.svg", tmp_path / "r.npz"
    assert main([*argv, "--recorded-figure", str(figure), "--save", str(saved)]) == 0
    assert "recorded_mean_wait" in capsys.readouterr().out
    assert figure.read_text().startswith("<?xml")
    assert main([*argv, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["against_recorded"]
    assert made["n_out_of_order"] == 1
    assert main(["show", str(saved), "--against-recorded"]) == 0
    assert "n_out_of_order" in capsys.readouterr().out
    fs.Workload([0], [1], [1]).write_swf(path)
    assert main(argv) == 2
    assert "no recorded waits" in capsys.readouterr().err


def test_public_log(data_dir: Path) -> None:
    path = data_dir / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz"
    if not path.exists():
        pytest.skip(f"no {path}")
    jobs = fs.read_swf(path)
    compared = fs.simulate(jobs, fs.Cluster(100)).against_recorded()
    assert (compared["n_jobs"], compared["recorded_most_nodes"], compared["n_unfit"]) == (28_475, 104, 23)
    assert compared["recorded_mean_wait"] == pytest.approx(15_296, abs=1)
