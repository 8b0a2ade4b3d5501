"""`examples/learn_order.py`."""

import numpy as np
import pytest

import faultsim as fs
from helpers.scripts import script


@pytest.fixture(scope="module")
def example():
    return script("learn_order", "examples")


def test_windows_are_whole(example):
    log = fs.synthetic.sdsc_like(1100, rng=1)
    parts = example.windows(log, 512)
    assert [len(part) for part in parts] == [512, 512]
    assert parts[1].id[0] == log.id[512]


def test_expected_are_the_last_two_of_the_user_that_had_ended(example):
    log = fs.Workload(
        [0, 1, 2, 30, 31, 32, 33], [10, 20, 99, 5, 5, 5, 5], [1] * 7, user=[1, 1, 2, 1, 2, 1, 1],
        estimate=[50, 50, 500, 50, -1, 50, 12],
    )  # fmt: skip
    # Job 3 knows jobs 0 and 1, job 4 none of its user, and job 6 is cut at its estimate.
    assert example.expected_runtime(log).tolist() == [50, 50, 500, 15, 3600, 15, 12]


def test_the_interval_by_hand(example):
    assert example.interval(np.full(5, 2.0)) == (2.0, 2.0, 2.0)
    mean, low, high = example.interval(np.array([-1.0, 1.0] * 50))
    assert mean == 0.0
    assert (low, high) == pytest.approx((-0.196, 0.196), abs=0.02)  # 1.96 / sqrt(100)


def test_it_learns_and_compares(example, tmp_path, capsys):
    log = fs.synthetic.sdsc_like(10_000, rng=2)
    log.write_swf(tmp_path / "log.swf")
    example.main([str(tmp_path / "log.swf"), "--nodes", "128", "--rounds", "2"])
    printed = capsys.readouterr().out
    assert "round  2: best" in printed
    assert "learned - sjf: " in printed
    means = {line.split()[0]: float(line.split()[2][:-1]) for line in printed.splitlines() if " mean " in line[:14]}
    assert means["learned"] < means["arrival"]
