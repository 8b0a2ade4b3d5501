"""One text of a machine means the same machine wherever a machine is taken; extents are given in three ways."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli import main
from helpers.refusals import refused

LOG = fs.Workload(submit=[0, 1, 2], runtime=[10, 5, 3], size=[2, 2, 1])
TEXTS = {"cluster:128": fs.Cluster(128), "torus:4x4x8": fs.Torus(4, 4, 8), "tpu-v4": fs.Pod.tpu_v4()}


@pytest.mark.parametrize(("text", "machine"), TEXTS.items())
def test_a_text_is_taken_wherever_a_machine_is(text, machine, tmp_path):
    assert fs.simulate(LOG, text).machine == machine
    assert fs.Simulation(LOG, text).result(partial=True).machine == machine
    assert fs.Run(LOG, text) == fs.Run(LOG, machine)
    assert fs.Run(LOG, "cluster:4").with_options(machine=text).machine == machine
    axis = fs.Sweep({"log": LOG}, {"machine": [text, "cluster:7"]})
    assert [task.run.machine for task in axis.tasks()] == [machine, fs.Cluster(7)]
    given = {
        "base": fs.Sweep({"log": LOG, "machine": text}),
        "zipped": fs.Sweep({"log": LOG}, zipped={"machine": [text], "seed": [1]}),
        "cells": fs.Sweep({"log": LOG}, cells=[{"machine": text}]),
        "named": fs.Sweep({"log": LOG}, {"machine": {"mine": text}}),
        "bundle": fs.Sweep({"log": LOG}, {"site": {"mine": {"machine": text}}}),
    }
    LOG.write_swf(tmp_path / "log.swf")
    (tmp_path / "sweep.toml").write_text(f'[base]\nlog = "log.swf"\nmachine = "{text}"\n')
    given["file"] = fs.read_sweep(tmp_path / "sweep.toml")
    for where, sweep in given.items():
        assert [task.run.machine for task in sweep.tasks()] == [machine], where
    assert main(["run", str(tmp_path / "log.swf"), "--machine", text, "--save", str(tmp_path / "saved.npz")]) == 0
    assert fs.load_result(tmp_path / "saved.npz").machine == machine


def test_environments_take_texts():
    pytest.importorskip("gymnasium")
    from faultsim import rl

    for make in (rl.PickJob, rl.Respond):
        assert make(LOG, "cluster:128", jobs=2)._machine == fs.Cluster(128)
    assert rl.PickBox(LOG, "torus:2x2x2", jobs=2)._machine == fs.Torus(2, 2, 2)
    assert rl.VectorPickJob(2, log=LOG, machine="cluster:128", jobs=2).single_action_space.n > 1


@pytest.mark.parametrize("text", ["tpu-v4", "tpu-v5p", "tpu7x", "tpu_v4", "tpu-v4,spares=2"])
def test_a_preset_needs_no_prefix(text):
    assert fs.plan(text, availability=0.999).pod == fs.plan(f"pod:{text}", availability=0.999).pod


def test_what_is_no_machine_says_what_is():
    refused(
        fs.OptionError,
        r"a Pod or a Site, or text such as 'cluster:128', got 128 \(did you mean 'cluster:128'",
        fs.Run,
        LOG,
        128,
    )
    refused(fs.OptionError, r"did you mean Cluster\(\.\.\.\)", fs.Run, LOG, fs.Cluster)
    refused(
        fs.OptionError,
        "unknown machine 'clustre:4'.*did you mean 'cluster'",
        fs.Sweep,
        {"log": LOG, "machine": "clustre:4"},
    )
    refused(
        fs.OptionError, "must be a Cluster, a Torus, a Pod or a Site, or text", fs.Sweep, {"log": LOG}, {"machine": [4]}
    )


@pytest.mark.parametrize("three", [(2, 3, 4), [2, 3, 4], np.array([2, 3, 4]), "2x3x4"])
def test_extents_come_as_three_numbers_or_as_one(three):
    assert fs.Torus(three) == fs.Torus(2, 3, 4) == fs.Torus(x=2, y=3, z=4)
    assert fs.Torus(three, wrap=False) == fs.Torus(2, 3, 4, False)
    assert fs.Pod(three) == fs.Pod(2, 3, 4) == fs.Pod(cubes=(2, 3, 4))
    assert fs.Pod(three, (2, 2, 2), 4) == fs.Pod(2, 3, 4, (2, 2, 2), 4) == fs.Pod(2, 3, 4, cube="2x2x2", hosts=4)


@pytest.mark.parametrize("given", [(4,), (4, 4), ((4, 4),), ("4x4",), (None,)])
def test_two_extents_are_refused_in_one_line(given):
    refused(fs.OptionError, "extent|three", fs.Torus, *given)
    refused(fs.OptionError, "three extents", fs.Pod, *given)
