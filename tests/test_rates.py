"""Mean times, repair times, costs and intervals that look like a mistake in units: one check, wherever they enter."""

import inspect
import re
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import faultsim as fs
import faultsim.rl
from faultsim import rates
from faultsim.errors import OptionError
from faultsim.policies import from_lowered, parse_policy
from faultsim.results.caveats import of_pauses
from faultsim.results.ledger import LEDGER_ACCOUNTS
from faultsim.sweep.labels import word
from helpers import command
from helpers.refusals import refused

DAY = 86_400.0
#: Names of parameters that are a mean time, a time to repair, a cost or an interval, whatever stands before them.
SUCH = re.compile(
    r"(?:^|_)(?:mtbf|mttf|mttr|mean|sd|repair|downtime|costs?|interval|per_day|scale|delay|availability)$"
)

HOSTS = fs.Domains.hosts(64)
POD = "pod:tpu-v4"
#: Function or class -> values of all of its parameters that are accepted.
ACCEPTED: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Daly": (fs.Daly, {"cost": 60, "mtbf": "56d"}),
    "MaxAvailability": (fs.MaxAvailability, {"cost": 60, "mtbf": "56d", "downtime": "1h"}),
    "Periodic": (fs.Periodic, {"interval": "1h", "cost": 60}),
    "PredictedWindows": (fs.PredictedWindows, {"bucket": "4h", "interval": "1h", "cost": 60}),
    "RiskBased": (fs.RiskBased, {"interval": "1h", "cost": 60}),
    "Young": (fs.Young, {"cost": 60, "mtbf": "56d"}),
    "expected_ettr": (
        fs.expected_ettr,
        {"nodes": 64, "mtbf": "56d", "interval": "1h", "cost": 60, "restart_cost": 300},
    ),
    "plan": (
        fs.plan,
        {"pod": POD, "shapes": 64, "mtbf": "100d", "downtime": "4h", "interval": "1h", "cost": 60, "restart_cost": 300},
    ),
    "domain_failures": (
        fs.synthetic.domain_failures,
        {"domains": HOSTS, "span": "1d", "per_day": 0.1, "downtime": "1h", "rng": 1},
    ),
    "exponential_failures": (
        fs.synthetic.exponential_failures,
        {"nodes": 64, "span": "1d", "mtbf": "10d", "downtime": "1h", "rng": 1},
    ),
    "renewal_failures": (
        fs.synthetic.renewal_failures,
        {"nodes": 64, "span": "1d", "mtbf": "10d", "downtime": "1h", "rng": 1},
    ),
    "weibull_failures": (
        fs.synthetic.weibull_failures,
        {"nodes": 64, "span": "1d", "shape": 0.85, "scale": "5h", "downtime": "1h", "rng": 1},
    ),
}
#: Function and parameter -> a value that is surely wrong beside the others.
WRONG: dict[tuple[str, str], Any] = {
    ("Daly", "cost"): "60d",
    ("Daly", "mtbf"): 56,
    ("MaxAvailability", "cost"): "60d",
    ("MaxAvailability", "mtbf"): 56,
    ("MaxAvailability", "downtime"): "60d",
    ("Periodic", "cost"): "11h",
    ("Periodic", "interval"): 1,
    ("PredictedWindows", "cost"): "11h",
    ("PredictedWindows", "interval"): 1,
    ("RiskBased", "cost"): "11h",
    ("RiskBased", "interval"): 1,
    ("Young", "cost"): "60d",
    ("Young", "mtbf"): 56,
    ("domain_failures", "downtime"): "20d",
    ("domain_failures", "per_day"): 50,
    ("expected_ettr", "cost"): "11h",
    ("expected_ettr", "interval"): 1,
    ("expected_ettr", "mtbf"): 56,
    ("expected_ettr", "restart_cost"): "57d",
    ("exponential_failures", "downtime"): "11d",
    ("exponential_failures", "mtbf"): 240,
    ("plan", "cost"): "11h",
    ("plan", "interval"): 1,
    ("plan", "mtbf"): 100,
    ("plan", "downtime"): "101d",
    ("plan", "restart_cost"): "101d",
    ("renewal_failures", "mtbf"): 240,
    ("renewal_failures", "downtime"): "11d",
    ("weibull_failures", "downtime"): "60d",
    ("weibull_failures", "scale"): 5,
}
_ALONE = "alone: Result.warnings says if it takes most of the time"
_COLUMN = "of each row: no rate is known"
#: Those that cannot be judged where they are given, and why.
ELSEWHERE: dict[tuple[str, str], str] = {
    ("BeforeFailure", "cost"): _ALONE,
    ("Decision.move", "checkpoint_cost"): _ALONE,
    ("Decision.move", "restart_cost"): _ALONE,
    ("Defragment", "cost"): _ALONE,
    ("Domains", "downtime"): "beside the rate, in domain_failures",
    **{
        (f"Domains.{name}", "downtime"): "beside the rate, in domain_failures"
        for name in ("blocks", "hosts", "lines", "links", "planes")
    },
    ("ExponentialTimes", "mean"): "where it is used",
    ("FailureTrace", "downtime"): _COLUMN,
    ("Fars", "checkpoint_cost"): _ALONE,
    ("Fars", "interval"): "moves are rare: it says nothing of their cost",
    ("Fars", "restart_cost"): _ALONE,
    ("Fars", "queue_cost"): "a word",
    ("Hold", "restart_cost"): _ALONE,
    ("HotSpares", "restart_cost"): _ALONE,
    ("IntervalPredictor", "interval"): "how far ahead it looks",
    ("IntervalPredictor.from_pairs", "interval"): "how far ahead it looks",
    ("LeastFailuresMigration", "cost"): _ALONE,
    ("LognormalTimes", "mean"): "where it is used",
    ("LognormalTimes", "sd"): "where it is used",
    ("Requeue", "restart_cost"): _ALONE,
    ("Run", "start_delay"): _ALONE,
    ("SharedOutputs", "cost"): "of a copy of a file",
    ("Simulation.fail", "downtime"): _COLUMN,
    ("Simulation", "start_delay"): _ALONE,
    ("SweepTable.compare", "interval"): "a word",
    ("SweepTable.summary", "interval"): "a word",
    ("WeibullTimes", "scale"): "where it is used",
    ("Workflow", "cost"): "the work of a job",
    ("Workflow.from_networkx", "cost"): "the name of a column",
    ("Workflow.with_cost", "cost"): "the work of a job",
    ("PodPlan.promised_share", "availability"): "the axis of a picture",
    ("plan", "availability"): "not with mtbf and downtime: test_availability",
    ("random_dag", "cost"): "the work of a job",
    ("DagProperties", "mean_cost"): "the work of a job",
    ("read_bluegene_ras", "downtime"): _COLUMN,
    ("read_failures", "downtime"): "the name of a column",
    ("read_fta", "min_downtime"): _COLUMN,
    ("read_titan", "downtime"): _COLUMN,
    ("simulate", "start_delay"): _ALONE,
}


def public_parameters():
    """(function, parameter) of everything public whose name says that it is such a time."""
    found = set()
    for module in (fs, fs.synthetic, faultsim.rl):
        for name in module.__all__:
            value = getattr(module, name)
            if not callable(value):
                continue
            calls = {name: value}
            if inspect.isclass(value):
                methods = {key: getattr(value, key) for key in dir(value) if not key.startswith("_")}
                calls |= {f"{name}.{key}": method for key, method in methods.items() if callable(method)}
            for called, call in calls.items():
                try:
                    parameters = inspect.signature(call).parameters
                except ValueError:
                    continue
                found |= {(called, each) for each in parameters if SUCH.search(each)}
    return found


def test_every_such_parameter_is_in_one_of_the_tables():
    """A new one must be judged, or say here why it cannot be."""
    assert not WRONG.keys() & ELSEWHERE.keys()
    assert public_parameters() == WRONG.keys() | ELSEWHERE.keys()


@pytest.mark.parametrize(("name", "parameter"), WRONG, ids=lambda word: word)
def test_what_is_surely_wrong_is_refused(name, parameter):
    call, given = ACCEPTED[name]
    call(**given)
    wrong = given | {parameter: WRONG[name, parameter]}
    with pytest.raises(OptionError, match=r"any_rate=True") as said:
        call(**wrong)
    assert parameter in str(said.value)
    assert "\n" not in str(said.value)
    with pytest.raises(OptionError, match="any_rate"):
        call(**wrong, any_rate=False)
    with pytest.raises(OptionError, match="any_rate must be True or False"):
        call(**wrong, any_rate=1)
    call(**wrong, any_rate=True)


def test_the_words():
    said = "mtbf=20 is 20 s: 4,320 failures per node and day; are these hours? write mtbf='20h', or any_rate=True"
    for call, name in (
        (lambda: fs.synthetic.exponential_failures(128, "60d", mtbf=20, rng=1), "exponential_failures"),
        (lambda: fs.synthetic.renewal_failures(128, "60d", mtbf=20, downtime=4, rng=1), "renewal_failures"),
        (lambda: fs.Young(60, 20), "Young"),
        (lambda: fs.Daly(60, 20.0), "Daly"),
        (lambda: fs.MaxAvailability(60, np.float64(20), 4), "MaxAvailability"),
        (lambda: fs.expected_ettr(64, 20, 60), "expected_ettr"),
        (lambda: parse_policy("checkpointing", "young:60,20"), "Young"),
    ):
        with pytest.raises(OptionError) as error:
            call()
        assert str(error.value) == f"{name}: {said}"
    with pytest.raises(OptionError) as error:
        fs.plan(POD, 64, mtbf=100, downtime=4)
    said = "mtbf=100 is 100 s: 864 failures per host and day; are these hours? write mtbf='100h', or any_rate=True"
    assert str(error.value) == f"plan: {said}"


@pytest.mark.parametrize("hours", [1, 2, 20, 23.9])
def test_a_unit_is_believed(hours):
    """More than a failure a day is a mistake in a bare number, and may be meant with a unit."""
    for given in (f"{hours}h", timedelta(hours=hours), np.timedelta64(round(3600 * hours), "s")):
        assert fs.synthetic.exponential_failures(8, "1d", given, rng=1)
        assert fs.Young(60, given).mtbf == pytest.approx(3600 * hours)
    bare = 3600 * hours
    refused(OptionError, r"are these hours\? write mtbf='\d+(\.\d+)?h', mtbf='\d+(\.\d+)?s'", fs.Young, 60, bare)
    assert fs.Young(60, bare, any_rate=True) == fs.Young(60, f"{hours}h")


@pytest.mark.parametrize("mtbf", ["20s", "59m", timedelta(minutes=59), np.timedelta64(1, "s")])
def test_more_than_hourly_is_refused_with_any_unit(mtbf):
    refused(OptionError, "more than 24 are taken for a mistake in units; any_rate=True", fs.Young, 1, mtbf)


def test_a_rare_failure_is_no_mistake():
    for mtbf in (DAY, 56 * DAY, 1e30):
        assert fs.Young(60, mtbf).mtbf == mtbf
    assert not fs.Young(60, DAY).any_rate


def test_days_are_proposed_for_parts_of_them():
    refused(OptionError, r"are these days\? write mtbf='0.5d', or any_rate=True", fs.Young, 0.1, 0.5)
    refused(OptionError, "check its unit, or give any_rate=True", fs.Young, 1e-9, 1e-6)


def test_policies_keep_it_through_every_form():
    for policy in (
        fs.Young(60, 20, any_rate=True),
        fs.MaxAvailability(60, "12h", "13h", any_rate=True),
        fs.Periodic(1, 60, any_rate=True),
        fs.Young(60, "12h"),
    ):
        assert policy.any_rate
        assert from_lowered("checkpointing", policy.lower()) == policy
        assert parse_policy("checkpointing", word(policy)) == policy
        assert eval(repr(policy), vars(fs)) == policy
        assert replace(policy, cost=61.0).cost == 61
    plain = fs.Young(60, "56d")
    assert plain.lower() == {"name": "young", "cost": 60.0, "mtbf": 56 * DAY}
    assert repr(plain) == "Young(cost=60.0, mtbf=4838400.0)"
    log = fs.Workload([0], [10], [1])
    assert fs.simulate(log, fs.Cluster(2), checkpointing=fs.Young(1, 20, any_rate=True)).jobs["finish"][0] == 11


def test_availability():
    refused(
        OptionError, r"availability=0.3: .* down for most of the time.*any_rate", fs.plan, POD, 64, availability=0.3
    )
    assert fs.plan(POD, 64, availability=0.3, any_rate=True).availability == 0.3
    with pytest.raises(
        OptionError, match=r"downtime=4 is 4 s: 21.62 failures per host and day; .* write downtime='4h'"
    ):
        fs.plan(POD, 64, availability=0.999, downtime=4)
    assert fs.plan(POD, 64, availability=0.999, downtime="4h").mtbf == pytest.approx(3996 * 3600)


@pytest.mark.parametrize(
    "times",
    [
        fs.synthetic.ExponentialTimes("20d"),
        fs.synthetic.LognormalTimes("20d", "1h"),
        fs.synthetic.WeibullTimes(1, "20d"),
        lambda n, rng: np.full(n, 20 * DAY),
        timedelta(days=20),
        np.float64(20 * DAY),
    ],
)
def test_down_times_that_are_drawn(times):
    wide = {"nodes": 512, "span": "10d", "rng": 1}
    for call, name in ((fs.synthetic.exponential_failures, "downtime"), (fs.synthetic.renewal_failures, "downtime")):
        refused(OptionError, "longer than .* most of the time", call, **wide, mtbf="10d", **{name: times})
        assert len(call(**wide, mtbf="10d", **{name: times}, any_rate=True))
        assert len(call(**wide, mtbf="30d", **{name: times}))


def test_scales_of_machines_and_counts():
    weibull = fs.synthetic.weibull_failures
    assert len(weibull(4, "62d", 0.85, 18_000, rng=1)), "a small machine may fail often by its own scale"
    assert len(weibull(4, "1h", 0.85, 5, count=266, rng=1)) == 266, "a count is meant"


def test_the_number_of_failures_is_known_before_any_is_drawn():
    tracemalloc.start()
    many = r"are about \d+(,\d{3})+ failures, and at most 10,000,000 are drawn at once"
    wide = {"nodes": 128, "span": "60d", "any_rate": True, "rng": 1}
    refused(OptionError, many, fs.synthetic.exponential_failures, **wide, mtbf=20)
    refused(OptionError, many, fs.synthetic.renewal_failures, **wide, mtbf=20, downtime=4)
    refused(OptionError, many, fs.synthetic.weibull_failures, **wide, shape=1, scale=0.1)
    refused(OptionError, many, fs.synthetic.weibull_failures, **wide, shape=1, scale=60, burst=128)
    often = {"per_day": 10_000, "downtime": 1, "any_rate": True, "rng": 1}
    refused(OptionError, many, fs.synthetic.domain_failures, HOSTS, "60d", **often)
    switches = fs.Domains.blocks(1_000_000, 1_000_000, kind="switch")
    trace = fs.FailureTrace(np.arange(11) * DAY, [0] * 11)
    refused(OptionError, many, trace.map_domains, switches)
    refused(
        OptionError,
        "count must be .* at most 10000000",
        fs.synthetic.weibull_failures,
        8,
        "1d",
        1,
        9,
        count=10**8,
        rng=1,
    )
    assert tracemalloc.get_traced_memory()[1] < 60e6
    tracemalloc.stop()


def test_in_sweeps(tmp_path):
    text = """
[base]
log = {{ synthetic = "nasa_like", jobs = 20 }}
machine = "cluster:128"
failures = {{ synthetic = "renewal", {} }}
checkpointing = "{}"
"""
    path = tmp_path / "sweep.toml"
    good = ('mtbf = "2d", downtime = "1h"', "young:cost=60,mtbf=2d")
    path.write_text(text.format("mtbf = 20, downtime = 4", good[1]))
    refused(fs.FaultsimError, r"sweep.toml:5: .*mtbf=20 is 20 s: 4,320 failures per node and day", fs.read_sweep, path)
    path.write_text(text.format(good[0], "young:cost=60,mtbf=20"))
    refused(fs.FaultsimError, r"sweep.toml:6: .*mtbf=20 is 20 s: 4,320 failures per node and day", fs.read_sweep, path)
    for failures, checkpointing in (
        good,
        ('mtbf = "2h", downtime = "3h", any_rate = true', "young:cost=60,mtbf=20,any_rate=true"),
    ):
        path.write_text(text.format(failures, checkpointing))
        assert len(fs.read_sweep(path).run()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "plan 64 --mtbf 100 --downtime 4",
            "--mtbf 100 is 100 s: 864 failures per host and day; are these hours? write --mtbf 100h, or --any-rate",
        ),
        ("plan 64 --mtbf 100d --downtime 200d", "--downtime 200d is 1.728e+07 s, longer than --mtbf 100d, 8.64e+06 s"),
        ("plan 64 --mtbf 100d --downtime 4h --interval 1", "(--interval 1): less than a tenth of the time"),
        ("plan 64 --availability 0.2", "--availability 0.2: a node would be down for most of the time"),
        ("failures generate exponential - --mtbf 20s", "--mtbf 20s is 20 s: 4,320 failures per node and day"),
        (
            "failures generate renewal - --mtbf 20h --downtime 30h",
            "--downtime 30h is 108,000 s, longer than --mtbf 20h",
        ),
        ("failures generate weibull - --scale 5", "--scale 5 is 5 s"),
        ("failures generate weibull - --scale 5h --downtime 900d", "--downtime 900d is 7.776e+07 s, longer than"),
        (
            "run --failures synthetic:renewal,mtbf=20h,downtime=30h",
            "downtime=30h is 108,000 s, longer than mtbf=20h, 72,000 s",
        ),
        ("run --checkpointing young:60,20", "are these hours? write mtbf=20h, or any_rate=true"),
        ("workflow run --nodes 4 --failures synthetic:exponential,mtbf=20s", "mtbf=20s is 20 s: 4,320 failures"),
    ],
)
def test_on_the_command_line(capsys, words, said):
    assert said in command.refused(capsys, *words.split())


@pytest.mark.parametrize(
    "words",
    [
        "plan 64 --mtbf 100 --downtime 4 --any-rate",
        "plan 64 --mtbf 12h --downtime 4h",
        "failures generate renewal - --mtbf 20h --downtime 30h --any-rate",
        "failures generate weibull - --scale 5 --span 1h --any-rate",
        "run --failures synthetic:renewal,mtbf=20h,downtime=30h,any-rate",
        "run --checkpointing young:1,20,any_rate=true",
    ],
)
def test_on_the_command_line_with_any_rate(capsys, words):
    assert command.run(capsys, *words.split())[0] == 0


def test_pauses_that_take_most_of_the_time():
    log = fs.Workload(submit=[0], runtime=[100], size=[1])
    slow = fs.simulate(log, fs.Cluster(1), start_delay=1000)
    assert any(said.startswith("start delays take 90.9 %") for said in slow.warnings)
    failures = fs.FailureTrace([50], [0], 1, span=1e5)
    again = fs.simulate(log, fs.Cluster(1), failures=failures, recovery=fs.Requeue(restart_cost=1000))
    assert any("check the unit of restart_cost" in said for said in again.warnings)
    down = fs.simulate(log, fs.Cluster(1), failures=fs.FailureTrace([50], [0], 1000, span=1e5))
    assert any(said.startswith("nodes are down for 87.0 % of the time") for said in down.warnings)
    assert not list(of_pauses({**dict.fromkeys(LEDGER_ACCOUNTS, 0.0), "useful": 10.0, "restart": 9.0, "down": 10.0}))


def test_the_limits_are_those_of_the_page():
    assert (rates.MOST_PER_DAY, rates.MOST_PER_DAY_WITH_UNIT, rates.MOST_FAILURES) == (1, 24, 10_000_000)
    assert (rates.MOST_COST, rates.LEAST_UP) == (10, 0.5)
