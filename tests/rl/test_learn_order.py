"""`examples/learn_order.py`."""

import numpy as np
import pytest

import faultsim as fs
from helpers.scripts import script


@pytest.fixture(scope="module")
def example():
    return script("learn_order", "examples")


def test_months_are_whole(example):
    log = fs.synthetic.sdsc_like(3000, rng=1)
    parts = example.months(log)
    assert all(part.submit[-1] - part.submit[0] < example.MONTH and len(part) >= 100 for part in parts)
    assert len(parts) >= 1


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
