"""Energy: watts times the accounts of the ledger, by hand; what failures cost; text; sweeps."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.results.energy import OF_FAILURES, POWER_OF
from faultsim.results.ledger import LEDGER_ACCOUNTS
from helpers.refusals import refused
from helpers.runs import runs

WATTS = fs.Power(idle=100, busy=400, down=10)


def failing(**options):
    """Job of 4 nodes and 7,200 s; node 0 fails after an hour and is down for 900 s; restarts take 600 s."""
    log = fs.Workload(submit=[0], runtime=[7200], size=[4])
    failures = fs.FailureTrace(time=[3600], node=[0], downtime=[900], span=100_000)
    return fs.simulate(log, fs.Cluster(4), failures=failures, **options)


def test_by_hand():
    result = failing(recovery=fs.Requeue(restart_cost=600))
    # 1 h lost on 4 nodes; 3 nodes idle despite demand for 900 s, one down; 600 s of restart and 2 h of work on 4 nodes.
    joules = {
        "useful": 4 * 7200 * 400,
        "lost": 4 * 3600 * 400,
        "restart": 4 * 600 * 400,
        "down": 900 * 10,
        "idle despite demand": 3 * 900 * 100,
    }
    energy = result.energy(WATTS)
    assert dict(zip(energy["account"].tolist(), (energy["kwh"] * 3.6e6).tolist(), strict=True)) == pytest.approx(joules)
    assert energy.kwh == pytest.approx(sum(joules.values()) / 3.6e6, rel=1e-15)
    assert energy.of_failures == pytest.approx((joules["lost"] + joules["restart"] + joules["down"]) / 3.6e6)
    assert energy.per_useful_node_hour == pytest.approx(energy.kwh / 8)
    assert energy["share"].sum() == pytest.approx(1)
    assert energy["watts"].tolist() == [400, 400, 400, 10, 100]
    # Against the same run without failures, what it waits for is a cost too.
    undisturbed = fs.simulate(fs.Workload(submit=[0], runtime=[7200], size=[4]), fs.Cluster(4)).energy(WATTS)
    assert energy.kwh - undisturbed.kwh == pytest.approx(
        energy.of_failures + joules["idle despite demand"] / 3.6e6, rel=1e-12
    )
    assert undisturbed.of_failures == 0


def test_a_held_job_idles():
    result = failing(recovery=fs.Hold(restart_cost=600))
    energy = dict(zip(*(result.energy(WATTS)[name].tolist() for name in ("account", "kwh")), strict=True))
    assert energy["held for repair"] == pytest.approx(4 * 900 * 100 / 3.6e6)


def test_every_account_has_a_power():
    assert sorted(POWER_OF) == sorted(LEDGER_ACCOUNTS)
    assert set(OF_FAILURES) < set(POWER_OF)


@given(runs(), st.floats(0, 1000), st.floats(0, 1000))
def test_energy_of_equal_watts_is_that_of_all_nodes_all_the_time(run, watts, down):
    result = run.simulate()
    begin, end = result.span
    energy = result.energy(fs.Power(idle=watts, busy=watts, down=watts))
    assert energy.kwh == pytest.approx(watts * result.machine.nodes * (end - begin) / 3.6e6, rel=1e-9)
    busy = fs.Power(idle=0, busy=down)
    more = result.energy(fs.Power(idle=0, busy=down, down=down)).kwh - result.energy(busy).kwh
    assert more == pytest.approx(down * result.ledger["down"] / 3.6e6, rel=1e-9, abs=1e-12 * energy.kwh)
    assert 0 <= energy.of_failures <= energy.kwh * (1 + 1e-12)


def test_nothing_useful():
    energy = fs.simulate(fs.Workload(submit=[5], runtime=[0], size=[1]), fs.Cluster(2)).energy(WATTS)
    assert energy.kwh == 0
    assert math.isnan(energy.per_useful_node_hour)
    assert len(energy) == 0
    assert str(energy).startswith("account  node_hours  watts  kwh  share\n0 kWh")


def test_text():
    assert fs.Power.parse(" idle=100, busy = 4e2,down=10 ") == WATTS
    assert fs.Power.parse(str(WATTS)) == WATTS
    assert fs.Power(idle=1, busy=2).down == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("idle=100", "power: busy missing in 'idle=100'; expected watts as in idle=100,busy=300,down=0"),
        ("300", "power: expected watts as in idle=100,busy=300,down=0, got '300' in '300'"),
        ("idle=1,busy=2,idle=3", "power: expected watts as in idle=100,busy=300,down=0, got 'idle=3' again"),
        ("idle=1,busy=2,off=3", "got 'off=3'"),
        ("idle=a,busy=2", "power: expected watts as in idle=100,busy=300,down=0, got 'idle=a,busy=2'"),
        ("idle=-1,busy=2", "idle of Power must be at least 0 watts, got -1"),
    ],
)
def test_bad_text(text, said):
    refused(OptionError, said, fs.Power.parse, text)


@pytest.mark.parametrize("name", ["idle", "down"])
def test_a_node_that_works_takes_no_less(name):
    said = f"{name} of Power must be at most busy, 100 watts, got 300 watts"
    refused(OptionError, said, fs.Power, **{"idle": 50, "busy": 100, "down": 0, name: 300})
    assert getattr(fs.Power(**{"idle": 50, "busy": 100, "down": 0, name: 100}), name) == 100
    refused(OptionError, "idle of Power must be at most busy", fs.Power.parse, "idle=300,busy=100")


def test_bad_watts():
    refused(OptionError, "busy of Power must be a number in watts, got '2h'", fs.Power, idle=1, busy="2h")
    refused(OptionError, "down of Power must be at least 0 watts", fs.Power, idle=1, busy=2, down=math.nan)


def test_a_sweep_keeps_what_each_power_makes_of_it(tmp_path):
    base = {"log": fs.Workload(submit=[0], runtime=[3600], size=[2]), "machine": fs.Cluster(4)}
    store, grid = tmp_path / "energy.db", {"start_delay": [0, 3600]}
    for busy, kwh in ((300, [0.8, 1.2]), (500, [1.2, 1.6])):
        power = fs.Power(idle=100, busy=busy)
        metrics = {"kwh": power.kwh, "per": power.per_useful_node_hour, "of_failures": power.of_failures}
        table = fs.Sweep(base, grid, metrics=metrics, name="energy").run(store)
        assert table["kwh"].tolist() == pytest.approx(kwh)
        assert table["per"].tolist() == pytest.approx([total / 2 for total in kwh])
        assert table["of_failures"].tolist() == [0, 0]


# -- what is given, and how it is shown


def test_watts_may_be_text():
    result = failing()
    assert result.energy("idle=100,busy=400,down=10").kwh == result.energy(WATTS).kwh
    refused(OptionError, "power: expected watts as in idle=100,busy=300,down=0, got 300", result.energy, 300)
    refused(OptionError, "power: expected watts as in idle=100,busy=300,down=0, got 5", fs.Power.parse, 5)
    refused(OptionError, "energy: expected a Result, got 5", WATTS.kwh, 5)


@given(st.floats(0, 1e12), st.floats(0, 1e12))
def test_text_keeps_every_digit(idle, busy):
    power = fs.Power(idle=min(idle, busy), busy=max(idle, busy, 1), down=0.1 + 0.2)
    assert fs.Power.parse(str(power)) == power


def test_no_node_takes_a_terawatt():
    refused(OptionError, "idle of Power must be at most", fs.Power, idle=1e308, busy=1)


def test_small_runs_are_not_shown_as_nothing():
    result = fs.simulate(fs.Workload(submit=[0], runtime=[36], size=[1]), fs.Cluster(1))
    row = str(result.energy(fs.Power(idle=0, busy=300))).splitlines()[1].split()
    assert row == ["useful", "0.01", "300", "0.003", "100.00%"]
    log = fs.Workload(submit=[0], runtime=[0.5], size=[1])
    shown = str(fs.simulate(log, fs.Cluster(1)).mttf()).splitlines()[1].split()
    assert shown[2] == "0.5"
