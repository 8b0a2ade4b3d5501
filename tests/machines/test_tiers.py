"""Partitions with tiers: the queue is by them, then by arrival (model.md#site-tiers)."""

import numpy as np
import pytest

import faultsim as fs

NODES = [fs.NodeClass("n", 3, cores=4)]
PARTS = [
    fs.Partition("long", "n", default=True),
    fs.Partition("debug", "n", tier=5),
    fs.Partition("urgent", "n", tier=2),
]
TIER = {"": 1, "long": 1, "debug": 5, "urgent": 2, "long,urgent": 2, "urgent, debug": 5}
SITE = fs.Site(NODES, PARTS)


def drawn(seed: int) -> tuple[fs.Workload, list[str]]:
    rng = np.random.default_rng([91, seed])
    names = rng.choice(list(TIER), 60).tolist()
    log = fs.Workload(
        submit=np.sort(rng.integers(0, 60, 60)),
        runtime=rng.integers(1, 20, 60),
        size=(cores := rng.integers(1, 13, 60)),
        estimate=rng.integers(10, 30, 60),
        columns={"cores": cores, "partition": names},
    )
    return log, names


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("scheduler", ["fcfs", "easy", "backfill:3", "conservative"])
def test_jobs_are_ordered_as_by_a_column_of_their_own(scheduler: str, engine: str) -> None:
    flat = fs.Site(NODES, [fs.Partition(each.name, "n", default=each.default) for each in PARTS])
    for seed in range(6):
        log, names = drawn(seed)
        found = fs.simulate(log, SITE, scheduler=scheduler, engine=engine)
        by_hand = log.with_columns(urgency=[TIER[name] for name in names])
        same = fs.simulate(by_hand, flat, scheduler=f"{scheduler}{',' if ':' in scheduler else ':'}order=-urgency")
        assert found.jobs["start"].tolist() == same.jobs["start"].tolist()
        assert found.jobs["start"].tolist() != fs.simulate(log, flat, scheduler=scheduler).jobs["start"].tolist()


def test_jobs_of_a_larger_tier_start_first() -> None:
    log = fs.Workload(
        [0, 1, 2, 3], [9] * 4, [12] * 4, columns={"cores": [12] * 4, "partition": ["", "", "debug", "urgent"]}
    )
    assert fs.simulate(log, SITE).jobs["start"].tolist() == [0, 27, 9, 18]
    assert fs.simulate(log, SITE, scheduler=fs.Slurm()).jobs["start"].argsort().tolist() == [0, 2, 3, 1]
    sim = fs.Simulation(log[:1], SITE, live=True)
    sim.submit(log[1:])
    sim.run()
    assert sim.result().jobs["start"].tolist() == [0, 27, 9, 18]


def test_an_order_names_the_tier_or_is_refused() -> None:
    log, _ = drawn(0)
    fs.simulate(log, SITE, scheduler="easy:order=estimate - 1e9 * tier")
    for scheduler in ("easy:order=shortest", "preemptive", "fcfs:order=wfp3"):
        with pytest.raises(fs.NotAvailableError, match="does not know the tiers of partitions"):
            fs.simulate(log.with_columns(priority=[0] * 60), SITE, scheduler=scheduler)
    with pytest.raises(fs.InputError, match="the log has a column 'tier'"):
        fs.simulate(log.with_columns(tier=[7] * 60), SITE)
    with pytest.raises(fs.OptionError, match="tier of the partition 'a' must be"):
        fs.Partition("a", "n", tier=-1)
    with pytest.raises(fs.InputError, match="no partition 'lon'"):
        fs.simulate(log.with_columns(partition=["lon"] * 60), SITE)


def test_texts_and_plain_forms_keep_tiers() -> None:
    assert fs.machines.parse_machine(str(SITE)) == SITE
    assert str(SITE).endswith("/debug=n,tier=5/urgent=n,tier=2")
    assert [row.get("tier") for row in SITE.lower()["partitions"]] == [None, 5, 2]
    log, _ = drawn(1)
    run = fs.Run(log, SITE)
    assert run.with_options(scheduler="fcfs").scheduler == fs.Fcfs("-tier")
    assert fs.simulate(log, SITE).jobs["start"].tolist() == run.with_options(seed=3).simulate().jobs["start"].tolist()
