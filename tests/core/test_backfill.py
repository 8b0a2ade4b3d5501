"""`Backfill(depth=1)` is `EasyBackfill`, byte for byte, in the compiled engine (model.md#backfill)."""

from dataclasses import fields, replace

import pytest
from hypothesis import given, settings

import faultsim as fs
from helpers.engines import LOGS, assert_same, compiled
from helpers.failure_strategies import failure_cases
from helpers.rescheduling_strategies import fars_cases
from helpers.results import assert_equal
from helpers.strategies import engine_cases

CASES = {"engine": engine_cases, "failing": failure_cases, "moving": fars_cases}


@pytest.mark.parametrize("machine", ["cluster", "torus"])
@pytest.mark.parametrize("cases", CASES)
def test_depth_1_is_easy_on_random_cases(cases, machine):
    @given(CASES[cases]((machine,), ("easy",)))
    @settings(max_examples=2 * settings.default.max_examples)
    def same(case):
        config, columns, *world = case
        deep = {**config, "scheduler": {**config["scheduler"], "name": "backfill", "depth": 1}}
        assert_same(compiled(deep, columns, *world), compiled(config, columns, *world))

    same()


def deepened(easy: fs.EasyBackfill) -> fs.Backfill:
    return fs.Backfill(1, **{field.name: getattr(easy, field.name) for field in fields(easy)})


WHOLE = {
    "cluster": (fs.Cluster(128), {}),
    "shortest first": (fs.Cluster(128), {"scheduler": fs.EasyBackfill("shortest")}),
    "wfp3": (fs.Cluster(128), {"scheduler": fs.EasyBackfill("wfp3")}),
    "torus": (fs.Torus(4, 4, 8), {"placement": fs.FirstFit()}),
    "fixed": (fs.Torus(4, 4, 8), {"placement": fs.FirstFit(), "scheduler": fs.EasyBackfill(reservation="fixed")}),
}


@pytest.mark.parametrize("case", WHOLE)
def test_depth_1_is_easy_on_a_whole_log(data_dir, case):
    name = "SDSC-SP2-1998-4.2-cln"
    log = fs.read_swf(data_dir / "swf" / f"{name}.swf.gz")
    machine, options = WHOLE[case]
    easy = fs.Run(log[log.size <= LOGS[name]], machine, record=True, **{"scheduler": fs.EasyBackfill(), **options})
    assert_equal(replace(easy, scheduler=deepened(easy.scheduler)).simulate(), easy.simulate())


def test_deeper_is_fairer_and_slower_on_a_whole_log(data_dir):
    """Each reservation is one more thing that backfilling must respect: fewer jobs overtake, and they wait longer."""
    name = "SDSC-SP2-1998-4.2-cln"
    log = fs.read_swf(data_dir / "swf" / f"{name}.swf.gz")
    run = fs.Run(log[log.size <= LOGS[name]], fs.Cluster(128))
    overtaking = [
        int(replace(run, scheduler=fs.Backfill(depth)).simulate().jobs["backfilled"].sum()) for depth in (1, 10, None)
    ]
    assert overtaking == sorted(overtaking, reverse=True)
    assert overtaking[-1] < overtaking[0]


def test_a_depth_beyond_the_queue_is_unlimited():
    @given(engine_cases(("cluster", "torus"), ("backfill",)))
    def same(case):
        config, columns = case
        deep = {**config, "scheduler": {**config["scheduler"], "depth": len(columns["submit"])}}
        unlimited = {**config, "scheduler": {**config["scheduler"], "depth": "unlimited"}}
        assert_same(compiled(deep, columns), compiled(unlimited, columns))

    same()
