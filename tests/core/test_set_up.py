"""Ctrl-C while a large machine is set up and searched, and numbers that no machine has."""

import os
import signal
import time

import numpy as np
import pytest

import faultsim as fs
from faultsim._core.torus.occupancy import Torus
from helpers.refusals import refused

LOG = fs.Workload(submit=[0, 1], runtime=[5, 5], size=[2, 4])


class Stop(Exception):
    pass


def stopped_after(call, seconds=0.05):
    """Processor seconds that a call went on after a signal's handler wanted to raise."""

    def stop(*_):
        raise Stop

    before = signal.signal(signal.SIGPROF, stop)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        begun = time.process_time()
        with pytest.raises(Stop):
            call()
        return time.process_time() - begun - seconds
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def soonest(call):
    """The least share of the whole time that a call goes on after a signal: nearly four fifths if nothing stops it."""
    begun = time.process_time()
    call()
    whole = time.process_time() - begun
    return min(stopped_after(call, whole / 5) for _ in range(6)) / whole


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(
    "call", [lambda: fs.Simulation(LOG, fs.Torus(256, 256, 128)), lambda: Torus(256, 256, 128)], ids=["run", "handle"]
)
def test_a_large_torus_can_be_stopped_while_it_is_set_up(call):
    assert soonest(call) < 0.6


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(("algorithm", "side"), [("pop", 64), ("divisor", 24), ("naive", 16)])  # each about a second
def test_finders_can_be_stopped(algorithm, side):
    busy = np.random.default_rng(1).random((side, side, side)) < 0.01
    fs.partition.find_partitions(busy, 1)  # the torus is made once
    assert soonest(lambda: fs.partition.max_free_partition(busy, algorithm)) < 0.6
    assert len(fs.partition.find_partitions(busy[:4, :4, :4], 1, algorithm)) > 50


def test_more_nodes_than_a_finder_takes():
    many = np.broadcast_to(np.zeros(1, bool), (2**16, 2**15, 1))
    for call in (lambda: fs.partition.find_partitions(many, 8), lambda: fs.partition.max_free_partition(many)):
        refused(fs.InputError, r"shape \(65536, 32768, 1\): at most 1,073,741,823 nodes", call)
    refused(fs.OptionError, r"at most 2\*\*31 - 2 nodes", fs.partition.feasible_sizes, 2**16, 2**15, 1)


def test_numbers_of_nodes_that_no_machine_has():
    sim = fs.Simulation(LOG, fs.Torus(2, 2, 2), scheduler=fs.External())
    d = sim.advance()
    for size in (2**70, -(2**70), 9, 0, 7):
        assert len(d.boxes(0, size=size)) == 0
    assert len(d.boxes(0, size=8)) == 1
    d.start(0)
    d = sim.advance()
    refused(fs.DecisionError, "cannot be backfilled ahead of itself", d.may_backfill, 1, max_growth=2**70)
