"""Jobs that ``overrun="kill"`` cuts at their limit: what is counted, printed, booked and written (model.md#overrun)."""

import csv
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulation.test_live import told_runs

import faultsim as fs
import faultsim.cli.app
from faultsim.results.ledger import LEDGER_ACCOUNTS
from helpers.engines import runs_agree
from helpers.runs import runs

ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])
#: Two of three jobs want more than their limit: 20 of 60 s, 10 of 30 s.
LOG = fs.Workload(submit=[0, 0, 0], runtime=[60, 30, 10], size=[2, 1, 1], estimate=[20, 10, 15], id=[4, 5, 6])
UNTIL_LATE = 10_000


def cut(log=LOG, nodes=4, **options):
    return fs.simulate(log, fs.Cluster(nodes), scheduler="fcfs", overrun="kill", **options)


def test_metrics_states_and_accounts_by_hand():
    result = cut()
    assert result.jobs["state"].tolist() == ["timed out", "timed out", "ended"]
    assert result.jobs["runtime"].tolist() == [20, 10, 10]
    assert result.metrics["cut_jobs"] == 2
    assert result.metrics["cut_work_ratio"] == 50 / 60
    assert (result.ledger["useful"], result.ledger["cut_at_limit"]) == (10, 50)
    assert result.metrics["goodput"] == 10 / 80
    assert result.metrics["share_cut_at_limit"] == 50 / 80
    assert result.metrics["capacity_utilized"] == result.metrics["utilization"] == 60 / 80
    assert math.fsum(result.ledger.values()) == 80
    table = result.goodput
    assert dict(zip(table["account"], table["share"], strict=True))["cut at limit"] == 50 / 80


def test_print_shows_them_and_nothing_new_without():
    text = str(cut())
    assert "\ncut_jobs                                2     jobs\n" in text
    assert "\ncut_work_ratio                         83.33 %\n" in text
    assert "\n  cut at limit             62.50%             50\n" in text
    plain = fs.simulate(LOG, fs.Cluster(4), scheduler="fcfs")
    assert "cut" not in str(plain).split("note:")[0]
    assert "cut" not in str(fs.simulate(LOG, fs.Cluster(4), overrun="kill", estimates="actual"))
    assert [plain.metrics[name] for name in ("cut_jobs", "cut_work_ratio", "share_cut_at_limit")] == [0, 0, 0]


@ENGINES
def test_what_was_safe_before_a_kill_is_cut_too(engine):
    """One job of 40 s with a limit of 25 s saves after 10 s of work (1 s), is killed at 15 s, begins again from 10 s of
    work, and is cut after 15 s more, with one more checkpoint.
    """
    log = fs.Workload(submit=[0], runtime=[40], size=[3], estimate=[25])
    failures = fs.FailureTrace([15], [0], span=UNTIL_LATE)
    run = fs.Run(log, fs.Cluster(3), overrun="kill", failures=failures, checkpointing=fs.Periodic(10, 1))
    result = run.simulate(engine=engine)
    assert result.jobs["state"].tolist() == ["timed out"]
    assert result.ledger["cut_at_limit"] == 3 * 25
    assert (result.ledger["useful"], result.ledger["lost"], result.ledger["checkpoint"]) == (0, 3 * 4, 3 * 2)
    assert result.metrics["cut_work_ratio"] == 1


@ENGINES
def test_a_job_that_an_act_kills_before_its_limit_is_not_cut(engine):
    log = fs.Workload(submit=[0], runtime=[100], size=[1], estimate=[80])
    sim = fs.Simulation(
        log, fs.Cluster(1), scheduler=fs.External(), overrun="kill", checkpointing=fs.Periodic(10, 0),
        failures=fs.FailureTrace([15], [0], span=UNTIL_LATE), engine=engine,
    )  # fmt: skip
    sim.advance().start(0)
    while (d := sim.advance(until=31)).kind != "time":
        d.start(0)
    d.kill(0)
    result = sim.result()
    assert result.jobs["state"].tolist() == ["killed"]
    assert (result.ledger["useful"], result.ledger["cut_at_limit"]) == (20, 0)
    assert result.metrics["cut_jobs"] == 0


@ENGINES
def test_a_caller_that_changes_run_times_changes_the_account(engine):
    """Both jobs are killed at 12 s. Then one is told to run on, and is cut; the other is told to end."""
    log = fs.Workload(submit=[0, 0], runtime=[30, 60], size=[1, 2], estimate=[40, 40])
    sim = fs.Simulation(
        log, fs.Cluster(3), live=2, overrun="kill", checkpointing=fs.Periodic(5, 0), engine=engine, scheduler="fcfs"
    )
    sim.advance(until=12)
    sim.fail(0, 0)
    sim.fail(1, 0)
    sim.advance(until=14)
    assert sim.result(partial=True).ledger["cut_at_limit"] == 0
    sim.extend(0, 1000)
    sim.finish(1)
    sim.run()
    result = sim.result()
    assert result.jobs["state"].tolist() == ["timed out", "ended"]
    assert result.ledger["cut_at_limit"] == 40
    assert result.ledger["useful"] == 2 * 12
    assert sum(result.ledger.values()) == pytest.approx(3 * result.metrics["makespan"])


def account_of_limits(result):
    jobs = result.jobs
    work = jobs["size"] * jobs["runtime"]
    is_cut = jobs["state"] == "timed out"
    return math.fsum(work[is_cut]), math.fsum(work[~is_cut])


@given(runs(failing=True).map(lambda run: run.with_options(overrun="kill")))
def test_both_engines_book_the_same_with_everything_else(run):
    """Checkpoints, restarts, holds, moves, start delays: the account is the work of those jobs."""
    result = runs_agree(run)
    limited, kept = account_of_limits(result)
    close = 1e-9 * (1 + sum(result.ledger.values()))
    assert result.ledger["cut_at_limit"] == pytest.approx(limited, rel=0, abs=close)
    assert result.ledger["useful"] == pytest.approx(kept, rel=0, abs=close)
    assert min(result.ledger.values()) >= 0


@given(told_runs().map(lambda run: run.with_options(overrun="kill")), st.data())
def test_both_engines_book_the_same_of_what_is_told(run, data):
    log, failures = run.log, run.failures
    options = {"live": len(log), "record": True, "recovery": run.recovery, "overrun": "kill"}
    sims = [fs.Simulation(log, run.machine, engine=engine, **options) for engine in ("core", "reference")]
    further = data.draw(st.lists(st.sampled_from([0, 5, 60]), min_size=len(failures), max_size=len(failures)))
    for at, node, more in zip(failures.time, failures.node, further, strict=True):
        rows = []
        for sim in sims:
            sim.advance(until=float(at))
            done = []
            for act in (
                lambda sim=sim, node=node: sim.fail(int(node), 0.0),
                lambda sim=sim, more=more: sim.extend(0, more),
            ):
                try:
                    act()
                    done.append(True)
                except fs.DecisionError:
                    done.append(False)
            sim.verify()
            rows.append((done, sim.result(partial=True)))
        (one, fast), (other, slow) = rows
        assert one == other
        assert fast.ledger == pytest.approx(slow.ledger, rel=0, abs=1e-9 * (1 + sum(slow.ledger.values())))
    for sim in sims:
        sim.run()
    fast, slow = (sim.result() for sim in sims)
    assert fast.jobs["state"].tolist() == slow.jobs["state"].tolist()
    assert fast.ledger == pytest.approx(slow.ledger, rel=0, abs=1e-9 * (1 + sum(slow.ledger.values())))


def test_sweeps_keep_the_counts_and_warn():
    table = fs.Sweep(fs.Run(LOG, fs.Cluster(4), scheduler="fcfs"), {"overrun": ["extend", "kill"]}).run()
    assert table["cut_jobs"].tolist() == [0, 2]
    assert table["cut_work_ratio"].tolist() == [0, 50 / 60]
    assert table["ledger_cut_at_limit"].tolist() == [0, 50]
    assert table.warnings == (
        "in 1 of 2 rows 5% of the jobs or of the work, or more, were cut at their limit: that work is not counted as "
        "useful",
    )


def test_groups_of_jobs_count_them():
    by_size = cut().by("size_class")
    assert by_size["cut_jobs"].tolist() == [1, 1]
    assert by_size["cut_work_ratio"].tolist() == [10 / 20, 1]
    assert "cut_jobs" not in fs.simulate(LOG, fs.Cluster(4)).by("size_class")


# -- caveats


def many(jobs, limited, work=1):
    """`limited` of so many jobs of 1 node want twice their limit of 10 s; the others work for `work` s."""
    is_cut = np.arange(jobs) < limited
    return fs.Workload(
        submit=np.arange(jobs), size=np.ones(jobs, int),
        runtime=np.where(is_cut, 20.0, work), estimate=np.where(is_cut, 10.0, 1000.0),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (many(100, 5, 1000), "5 of 100 jobs (5.0 %), with 0.1 % of the work, were cut at their limit: "),
        (many(100, 4, 1000), None),
        (many(1000, 6, 1), "6 of 1,000 jobs (0.6 %), with 5.7 % of the work, were cut at their limit: "),
        (many(1000, 5, 1), None),
        (many(100, 0), None),
    ],
)
def test_a_caveat_from_five_percent_of_jobs_or_work_on(log, said):
    found = [text for text in cut(log, 1200).warnings if "cut at their limit" in text]
    assert [text.startswith(said) for text in found] == ([True] if said else [])
    assert not any("cut at" in text for text in fs.simulate(log, fs.Cluster(1200)).warnings)


# -- files


def test_tables_and_exports_name_the_state(tmp_path, capsys):
    result = cut()
    assert result.jobs[0]["state"] == "timed out"
    result.write_swf(tmp_path / "run.swf")
    rows = [line.split() for line in (tmp_path / "run.swf").read_text().splitlines() if line[0] != ";"]
    assert [row[10] for row in rows] == ["5", "5", "1"]
    result.write_batsim(tmp_path / "jobs.csv")
    with open(tmp_path / "jobs.csv", newline="") as file:
        found = list(csv.DictReader(file))
    assert [row["final_state"] for row in found] == ["COMPLETED_WALLTIME_REACHED"] * 2 + ["COMPLETED_SUCCESSFULLY"]
    assert [row["success"] for row in found] == ["0", "0", "1"]
    LOG.write_csv(tmp_path / "log.csv")
    fs.cli.app.main(["run", str(tmp_path / "log.csv"), "--overrun", "kill", "--csv", str(tmp_path / "out.csv"), "-q"])
    with open(tmp_path / "out.csv", newline="") as file:
        assert [row["state"] for row in csv.DictReader(file)] == ["timed out", "timed out", "ended"]


def test_a_saved_result_is_the_same_and_an_earlier_one_gets_its_account(tmp_path, monkeypatch):
    result = cut()
    result.save(tmp_path / "run.npz")
    loaded = fs.load_result(tmp_path / "run.npz")
    assert loaded.ledger == result.ledger
    assert loaded.jobs["state"].tolist() == result.jobs["state"].tolist()
    # As a version wrote it that counted this work as useful.
    without = {name: value for name, value in result.ledger.items() if name != "cut_at_limit"}
    monkeypatch.setitem(result._output, "ledger", without | {"useful": 60.0})
    result.save(tmp_path / "before.npz")
    assert dict(fs.load_result(tmp_path / "before.npz").ledger) == dict(loaded.ledger)


def test_energy_of_work_that_was_cut_is_that_of_busy_nodes():
    energy = cut().energy(fs.Power(idle=100, busy=300))
    rows = dict(zip(energy["account"], energy["watts"], strict=True))
    assert rows["cut at limit"] == rows["useful"] == 300
    assert energy.per_useful_node_hour == pytest.approx(energy.kwh / (10 / 3600))


def test_the_account_has_a_color_of_its_own():
    from faultsim.plot.ledger import ACCOUNT_COLOURS

    assert len(set(ACCOUNT_COLOURS.values())) == len(LEDGER_ACCOUNTS)
