"""`Run`: options are checked once, by name, before anything runs."""

import dataclasses
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from runs import runs

import faultsim as fs
from faultsim.errors import InputError, NotAvailableError, OptionError

LOG = fs.Workload(submit=[0, 1, 2], runtime=[10, 20, 30], size=[1, 2, 4], estimate=[15, -1, 25], id=[11, 12, 13])
FLAT, TORUS = fs.Cluster(4), fs.Torus(2, 2, 2)


class LastBox(fs.Placement):
    def choose(self, job, candidates, state):
        return len(candidates) - 1


def test_defaults():
    assert fs.Run(LOG, FLAT).placement == fs.FirstFit()
    assert fs.Run(LOG, TORUS).placement == fs.MaxFreePartition()
    assert fs.Run(LOG, FLAT).scheduler == fs.EasyBackfill()
    assert fs.Run(LOG, FLAT) == fs.Run(LOG, FLAT)
    with pytest.raises(dataclasses.FrozenInstanceError):
        fs.Run(LOG, FLAT).seed = 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"placement": fs.MaxFreePartition()},
            r"MaxFreePartition places boxes, and cluster:4 has none: use placement=F",
        ),
        ({"placement": LastBox()}, "LastBox places boxes, and cluster:4 has none"),
        ({"placement": fs.FirstFit(box_order="bases")}, "box_order='bases' has no meaning on cluster:4"),
        ({"migration": fs.Defragment()}, "Defragment has no meaning on cluster:4, .* use migration=None"),
        ({"scheduler": fs.EasyBackfill(reservation="fixed")}, "reservation='fixed' has no meaning on cluster:4"),
        ({"scheduler": fs.EasyBackfill(max_growth=2)}, "max_growth=2 has no meaning on cluster:4"),
        ({"scheduler": fs.ConservativeBackfill(max_growth=3)}, "max_growth=3 has no meaning on cluster:4"),
    ],
)
def test_what_has_no_meaning_on_a_cluster(options, said):
    with pytest.raises(OptionError, match=said):
        fs.Run(LOG, FLAT, **options)
    fs.Run(LOG, TORUS, **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scheduler": fs.Fcfs}, r"write scheduler=Fcfs\(\), not scheduler=Fcfs"),
        ({"scheduler": None}, "scheduler must be one of Fcfs, EasyBackfill, ConservativeBackfill, got None"),
        ({"scheduler": fs.FirstFit()}, "scheduler must be one of Fcfs"),
        ({"scheduler": "easy"}, r"scheduler must be an object, got 'easy'; write scheduler=EasyBackfill\("),
        ({"scheduler": "eazy"}, r"unknown scheduler 'eazy' \(did you mean 'easy'\?\)"),
        ({"placement": 3}, "placement must be one of FirstFit, MaxFreePartition, got 3"),
        ({"placement": fs.Placement()}, r"Placement must define choose\(self, job, candidates, state\)"),
        ({"migration": fs.Defragment}, "must be an instance"),
        (
            {"estimates": "reqested"},
            r"unknown estimates 'reqested' \(did you mean 'requested'\?\); known: 'requested', ",
        ),
        ({"estimates": 0}, "estimates, as a factor of the run time, must be above 0, got 0"),
        ({"estimates": math.nan}, "estimates.* got nan"),
        ({"estimates": None}, "estimates.* must be a number, got None"),
        ({"estimates": np.array([1.0, 2.0])}, "estimates.* must be a number, got array"),
        ({"overrun": "stop"}, "unknown overrun 'stop'; known: 'extend', 'kill'"),
        ({"start_delay": -1}, "start_delay must be at least 0 seconds, got -1"),
        ({"start_delay": math.inf}, "start_delay must be at least 0 seconds, got inf"),
        ({"start_delay": "1"}, "start_delay must be a number in seconds, got '1'"),
        ({"seed": 1.5}, "seed must be a whole number, got 1.5"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"record": 1}, "record must be True or False, got 1"),
        ({"oversized": "ignore"}, "unknown oversized 'ignore'; known: 'error', 'drop'"),
    ],
)
def test_bad_options(options, said):
    with pytest.raises(OptionError, match=said):
        fs.Run(LOG, TORUS, **options)


@pytest.mark.parametrize("keyword", ["failures", "recovery", "rescheduling"])
def test_planned_keywords(keyword):
    with pytest.raises(NotAvailableError, match=f"{keyword}= comes with .* this version takes None only, got object"):
        fs.Run(LOG, TORUS, **{keyword: object()})


def test_planned_policies():
    with pytest.raises(NotAvailableError, match="comes with failures"):
        fs.Run(LOG, TORUS, placement="balancing")
    with pytest.raises(OptionError, match=r"predictor must be one of Blind, got 0.1"):
        fs.Run(LOG, TORUS, predictor=0.1)
    run = fs.Run(LOG, TORUS, predictor=fs.Blind(), checkpointing=fs.NoCheckpoint())
    plain = run.with_options(predictor=None, checkpointing=None)
    assert run.simulate().jobs["start"].tolist() == plain.simulate().jobs["start"].tolist()


def test_what_is_no_log_and_no_machine():
    with pytest.raises(InputError, match=r"the log must be a Workload \(read_swf reads one from a file\), got 'x.swf'"):
        fs.Run("x.swf", FLAT)
    with pytest.raises(OptionError, match="the machine must be a Cluster or a Torus, got 128"):
        fs.Run(LOG, 128)
    with pytest.raises(OptionError, match=r"got 'cluster:4'; write Cluster\(nodes=4\)"):
        fs.Run(LOG, "cluster:4")


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ({"runtime": [1.7e308, 1.7e308]}, {}),
        ({"estimate": [1.7e308, 1.7e308]}, {}),
        ({"submit": [0, 1.7e308]}, {}),
        ({}, {"estimates": 1.7e308}),
        ({}, {"start_delay": 1.7e308}),
        ({}, {"migration": fs.Defragment(cost=1.7e308)}),
    ],
)
def test_times_that_add_up_to_infinity(columns, options):
    log = fs.Workload(**{"submit": [0, 0], "runtime": [10, 10], "size": [1, 1], **columns})
    with pytest.raises(InputError, match="the times of this run add up to more than a float64 holds"):
        fs.simulate(log, TORUS, **options)


def test_jobs_larger_than_the_machine():
    log = fs.Workload(submit=range(8), runtime=[1] * 8, size=[9, 1, 9, 10, 11, 12, 13, 8], id=range(100, 108))
    run = fs.Run(log, fs.Torus(2, 2, 2))
    said = (
        r"6 of 8 jobs are larger than the machine \(8 nodes\): id 100 \(9 nodes\), 102 \(9 nodes\), 103 \(10 nodes\), "
        r"104 \(11 nodes\), 105 \(12 nodes\), \.\.\.; take a larger machine or pass oversized=\"drop\""
    )
    with pytest.raises(InputError, match=said):
        run.simulate()
    result = run.with_options(oversized="drop").simulate()
    assert result.jobs["id"].tolist() == [101, 107]
    assert dict(result.dropped) == {"larger than the machine": 6}
    assert "6 jobs left out: larger than the machine" in result.warnings
    with pytest.raises(InputError, match=r"all 6 jobs are larger than the machine \(8 nodes\)"):
        fs.Run(log[log.size > 8], fs.Torus(2, 2, 2), oversized="drop").simulate()


def test_estimates():
    run = fs.Run(LOG, FLAT)
    assert run.expected_runtimes(LOG).tolist() == [15, 20, 25]
    assert run.with_options(estimates="actual").expected_runtimes(LOG).tolist() == [10, 20, 30]
    assert run.with_options(estimates=np.float32(2)).expected_runtimes(LOG).tolist() == [20, 40, 60]
    complete = LOG.scale_runtime(1)[LOG.estimate > 0]
    assert run.expected_runtimes(complete) is complete.estimate


@given(runs())
def test_runs_can_be_sent_to_other_processes(run):
    assert pickle.loads(pickle.dumps(run)) == run
