"""Why jobs of a site wait: cases by hand, both engines at each instant, and sums beside all explanations."""

from contextlib import suppress

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import DecisionError
from faultsim.reference.scheduling.site_schedulers import free_now, shadow_time
from faultsim.results.reasons import RESOURCE_WORDS
from faultsim.results.site_waits import OTHERS_FIRST
from helpers.site_runs import drawn_run, with_parts

SITE = "site:n=1x4c4G,g=1x4c4Gx2v100"
OPTIONS = ("scheduler", "placement", "failures", "recovery", "predictor", "checkpointing", "start_delay", "record")


def run(site=SITE, scheduler="easy", **columns):
    n = len(columns["cores"])
    times = [columns.pop(name, default) for name, default in (("submit", [0] * n), ("runtime", [10] * n))]
    return fs.simulate(fs.Workload(*times, [1] * n, columns=columns), site, scheduler=scheduler, record=True)


@pytest.mark.parametrize(
    ("columns", "shortage"),
    [
        ({"cores": [1, 1], "gpus": [2, 1]}, "GPUs"),
        ({"cores": [1, 1], "gpus": [1, 1], "memory": [4000, 200]}, "memory beside free GPUs"),
        ({"cores": [4, 1], "gpus": [1, 1]}, "cores beside free GPUs"),
        ({"cores": [4, 1], "gpus": [2, 1]}, "GPUs and cores"),
        ({"cores": [1, 1, 1], "memory": [4000, 4000, 200]}, "memory beside free cores"),
        ({"cores": [4, 4, 1]}, "cores"),
        ({"cores": [3, 3, 1], "exclusive": [False, False, True]}, "empty nodes"),
    ],
)
def test_the_resource_is_named(columns, shortage):
    n = len(columns["cores"])
    last = run(**{"nodes": [1] * n, **columns}, scheduler="fcfs").why(n - 1)
    assert [(span.reason.cause, span.reason.shortage) for span in last] == [(fs.Cause.NO_ROOM, shortage)]
    assert f"waits for {shortage}" in str(last)


def test_amounts_that_are_free_on_different_nodes():
    found = run("site:n=2x4c4G", cores=[3, 1, 2], memory=[100, 4000, 1000], nodes=[1, 1, 1]).why(2)
    assert found[0].reason.cause == fs.Cause.FRAGMENTED
    assert "needs 1 node with 2 cores and 1000 MiB, of which each is free, but not on the same nodes" in str(found)


def test_nodes_that_are_down():
    log = fs.Workload([0, 1], [10, 10], [1, 1], columns={"cores": [1, 1], "gpus": [0, 1], "nodes": [1, 1]})
    found = fs.simulate(log, SITE, failures=fs.FailureTrace([0.5], [1], [30], span=100)).why(1)
    assert [(span.end, span.reason.cause) for span in found] == [(30.5, fs.Cause.NODES_DOWN)]


def stepped(run):
    """Both engines after each instant."""
    options = {name: getattr(run, name) for name in OPTIONS}
    fast = fs.Simulation(run.log, run.machine, oversized="drop", **options)
    plain = fs.Simulation(run.log, run.machine, oversized="drop", engine="reference", **options)
    with suppress(DecisionError):
        while fast.step():
            plain.advance(until=fast.now)
            yield fast, plain


@pytest.mark.parametrize("seed", range(12))
def test_both_engines_give_the_same_true_reasons(seed):
    rng = np.random.default_rng([seed, 44])
    drawn = drawn_run(rng, int(rng.integers(8, 22)))
    if seed % 2:
        drawn = with_parts(rng, drawn) or drawn
    for fast, plain in stepped(drawn):
        state = plain._execution.engine.state
        for job in range(len(fast.log)):
            reason = fast.why(job)
            assert reason == plain.why(job)
            check(state, next((one for one in state.queue if one.index == job), None), reason)


def check(state, job, reason):
    """By the reference engine's rules of room, a resource at a time."""
    if job is None:
        return
    free, site = free_now(state), state.site
    assert (reason.cause in (fs.Cause.NO_ROOM, fs.Cause.FRAGMENTED, fs.Cause.NODES_DOWN)) != site.fits(job.ask, free)
    if reason.cause in (fs.Cause.NO_ROOM, fs.Cause.FRAGMENTED, fs.Cause.NODES_DOWN):
        assert reason.until == shadow_time(state, job)
    if reason.cause == fs.Cause.WOULD_DELAY:
        assert reason.begin == shadow_time(state, next(one for one in state.queue if one.index == reason.blocker))
    if reason.cause in (fs.Cause.NO_ROOM, fs.Cause.FRAGMENTED) and not job.ask.exclusive:
        for at, word in enumerate(RESOURCE_WORDS):
            alone = [
                None if left is None else has._replace(**{has._fields[at]: left[at]})
                for has, left in zip(state.there(), free, strict=True)
            ]
            assert site.fits(job.ask, alone) == (word not in reason.short)


def test_hours_are_those_of_all_explanations():
    for seed in range(9):
        rng = np.random.default_rng([seed, 45])
        drawn = drawn_run(rng, 25)
        log = drawn.log.with_columns(
            nodes=np.maximum(drawn.log.columns["nodes"], 1), memory_per=["node"] * len(drawn.log)
        )
        if isinstance(drawn.recovery, fs.Hold):
            drawn = drawn.with_options(recovery=None)
        if seed % 2:
            drawn = with_parts(rng, drawn) or drawn
        try:
            result = drawn.with_options(log=log, record=True).simulate()
        except DecisionError:
            continue
        groups = np.array(["odd", "even"])[result.jobs["id"] % 2]
        table = result.waits_for(groups)
        found = {
            (group, reason): hours
            for group, reason, hours in zip(
                *(table[name].tolist() for name in ("group", "reason", "hours")), strict=True
            )
        }
        expected: dict[tuple[str, str], float] = {}
        for row in range(len(result)):
            for begin, end, reason in result.why(row):
                if reason.cause == fs.Cause.START_DELAY:
                    continue
                word = reason.shortage or str(reason.cause)
                if reason.cause not in (fs.Cause.NO_ROOM, fs.Cause.FRAGMENTED, fs.Cause.NODES_DOWN):
                    word = OTHERS_FIRST
                key = (str(groups[row]), word)
                expected[key] = expected.get(key, 0.0) + (end - begin) / 3600
        assert found == pytest.approx(expected)


def test_groups_of_waits():
    found = run(cores=[1, 1, 4, 4], gpus=[2, 1, 0, 0], runtime=[7200, 10, 3600, 10], nodes=[1] * 4)
    table = found.waits_for()
    assert set(table["group"].tolist()) <= {"GPU jobs", "other jobs"}
    assert table["hours"].sum() == pytest.approx(found.jobs["wait"].sum() / 3600)
    assert found.waits_for("size_class")["share"].sum() >= 1
    with pytest.raises(fs.OptionError, match="whole nodes"):
        fs.simulate(fs.Workload([0], [1], [1]), fs.Cluster(2), record=True).waits_for()
