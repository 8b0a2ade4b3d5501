"""Reservations under Slurm (model.md#slurm-reservations): hand-made cases, and a recorded run."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.reference.slurm.state import Booked, Reserved
from faultsim.simulation import slurm_run
from helpers.slurm_sites import stay_off

SITE = fs.Site([fs.NodeClass("n", 4, cores=8)])
ENGINES = ("core", "reference")


def log_of(*jobs, **more):
    """Jobs of submit, run time, limit, nodes and reservation, perhaps user."""
    submit, runtime, limit, nodes, named = zip(*(job[:5] for job in jobs), strict=True)
    columns = {"cores": [8 * each for each in nodes], "nodes": nodes, "reservation": named}
    users = [job[5] if len(job) > 5 else 1 for job in jobs]
    return fs.Workload(submit, runtime, [1] * len(jobs), estimate=limit, user=users, columns=columns, **more)


def starts(log, *reservations, engine, **options):
    """Starts, and ends, of a run."""
    result = fs.simulate(
        log, SITE, scheduler=fs.Slurm(**options), reservations=reservations, engine=engine, record=True
    )
    stay_off(result, reservations, SITE, 60.0 * options.get("ResvOverRun", 0))
    return result.jobs["start"].tolist(), result.jobs["finish"].tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_limit_that_ends_at_maintenance_is_no_obstacle_and_a_minute_more_is(engine):
    """The second one starts at the pass that is asked for at the end, a full one."""
    log = log_of((0, 300, 600, 4, ""), (0, 60, 660, 4, ""))
    assert starts(log, fs.Reservation("all", 600, 1200), engine=engine)[0] == [0.0, 1200.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_other_nodes_are_used_during_maintenance(engine):
    log = log_of((0, 300, 1200, 2, ""), (0, 300, 1200, 3, ""))
    assert starts(log, fs.Reservation([0, 1], 600, 1140), engine=engine)[0] == [0.0, 1140.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_job_of_a_reservation_waits_for_it_and_goes_first(engine):
    """It starts at the first look after the begin, and the job before it in age when the reservation is over."""
    log = log_of((0, 60, 120, 2, ""), (10, 100, 600, 2, "team"), (20, 60, 6000, 4, ""))
    begun, _ = starts(log, fs.Reservation([0, 1], 1003, 2000, users=1, name="team"), engine=engine)
    assert begun == [0.0, 1005.0, 2000.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_job_is_killed_at_the_look_after_the_end_of_its_reservation(engine):
    """Looks are at 0, 30, ...: an end at 1200 is noticed at 1230."""
    log = log_of((0, 5000, 6000, 1, "team"), (0, 5000, 6000, 1, "other"))
    window = fs.Reservation([0], 0, 1200, users=1, name="team"), fs.Reservation([1], 0, 1201, users=1, name="other")
    assert starts(log, *window, engine=engine)[1] == [1230.0, 1230.0]
    assert starts(log, *window, engine=engine, ResvOverRun=2)[1] == [1350.0, 1350.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_job_that_misses_its_reservation_is_withdrawn(engine):
    log = log_of((0, 60, 60, 1, ""), (0, 60, 60, 3, "team"), (300, 60, 60, 1, "team"))
    result = fs.simulate(
        log, SITE, scheduler=fs.Slurm(), reservations=fs.Reservation([0], 0, 200, name="team"), engine=engine
    )
    assert result.jobs["state"].tolist() == ["ended", "withdrawn", "withdrawn"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_reservation_that_comes_again_takes_jobs_each_time(engine):
    """Others run between two times if their limits do."""
    log = log_of((0, 100, 100, 1, "team"), (301, 100, 600, 4, ""), (400, 100, 300, 1, "team"))
    begun, _ = starts(log, fs.Reservation([0], 100, 300, name="team", every=1100), engine=engine)
    assert begun == [100.0, 301.0, 1200.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_reservation_without_end_leaves_its_nodes_to_its_jobs(engine):
    log = log_of((0, 100, 100, 1, "team"), (0, 100, 86400, 3, ""))
    assert starts(log, fs.Reservation([2], 50, name="team"), engine=engine)[0] == [50.0, 0.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_job_waits_for_the_end_longer_than_for_anything_else(engine, monkeypatch):
    """A run in which nothing happens for long is a deadlock, but not before the last of the reservations."""
    monkeypatch.setattr(slurm_run, "GIVE_UP", 1200.0)
    log = log_of((0, 100, 3600, 4, ""))
    assert starts(log, fs.Reservation("all", 60, 9000), engine=engine)[0] == [9000.0]
    with pytest.raises(fs.DecisionError, match="deadlock"):
        starts(log, fs.Reservation("all", 60, 1200, every=2000), engine=engine)


def test_what_slurm_would_refuse():
    log = log_of((0, 60, 60, 1, "team", 7))
    for reservation, error, message in (
        (
            fs.Reservation([0], 0, 9, users=[1, 2], name="team"),
            fs.InputError,
            "user 7 names the reservation 'team', which",
        ),
        (fs.Reservation([0], 0, 9, overrun="kill"), fs.NotAvailableError, "Slurm kills no job at the begin"),
        ([fs.Reservation([0], 0, 9, name="team")] * 2, fs.OptionError, "names the reservation 'team', and 2 have"),
    ):
        with pytest.raises(error, match=message):
            fs.simulate(log, SITE, scheduler=fs.Slurm(), reservations=reservation)
    other = fs.Reservation([0], 0, 60, name="other")
    assert fs.simulate(log, SITE, scheduler=fs.Slurm(), reservations=other).jobs["start"].tolist() == [0.0]


def test_the_occurrence_that_is_not_over():
    booked = Booked(Reserved("r", frozenset({0}), 10.5, 20.25), 100.0)
    found = [(each.start, each.end) for each in map(booked.at, (0.0, 20.0, 21.0, 120.0, 121.0, 1e6))]
    assert found == [(10, 21), (10, 21), (110, 121), (110, 121), (210, 221), (1000010, 1000021)]
    assert [booked.next_edge(now) for now in (0.0, 10.0, 15.0, 21.0)] == [10, 21, 21, 110]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_recorded_run_with_three_reservations(data_dir, engine):
    """One is for an account, which may name it; the record of the wait is 371 s, and 221 s without reservations."""
    folder = data_dir / "slurm" / "runs" / "07-reservations"
    if not folder.is_dir():
        pytest.skip(f"no recordings of Slurm: {folder} is no folder")
    conf = fs.read_slurm_conf(folder / "slurm.conf", [folder / "accounts.txt"], folder / "gres.conf")
    log = fs.read_sacct(folder / "sacct.txt")
    hosts = [host for each in conf.site.classes for host in each.hosts]
    made = [
        fs.Reservation([hosts.index(name) for name in names.split()], begin, end, name=called)
        for called, names, begin, end in (
            ("maint", "n1 n2 n3 n4", 707, 1007), ("team", "n5 n6", 349, 949), ("some", "g1 g2", 1011, 1371),
        )
    ]  # fmt: skip
    result = fs.simulate(log, conf.site, scheduler=conf.scheduler, reservations=made, engine=engine, record=True)
    stay_off(result, made, conf.site)
    ran = ~np.isnan(result.jobs["wait"])
    named = ran & (log.columns["reservation"] != "")
    assert np.abs(result.jobs["wait"] - log.recorded_wait)[named].max() <= 3.0
    assert abs(result.jobs["wait"][ran].mean() - log.recorded_wait[ran].mean()) < 10.0
