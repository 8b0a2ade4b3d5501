"""Plans of pods: against all states of small pods, the plain formulas, counting by hand, and simulation."""

import itertools
import math

import numpy as np
import pytest

import faultsim as fs
from faultsim.planning.blocks import Level, all_blocks, block_of_host, nested_levels
from faultsim.planning.chances import at_least, least_count, nested_up
from faultsim.planning.over_time import blocks_up
from faultsim.planning.wanted import wanted_slices
from faultsim.reference.pod import promises as plain
from helpers.small_pods import chance_by_all_states, fit, in_cubes, twin

DAY = 86_400.0


SMALL = fs.Pod((1, 2, 2), cube=(2, 2, 2), hosts=2)
ROW = fs.Pod((1, 1, 5), cube=(2, 2, 2), hosts=2)


@pytest.mark.parametrize(
    ("pod", "shapes"),
    [
        (SMALL, "2x2x1=3"),
        (SMALL, "2x2x2=2,2x2x1=2"),
        (SMALL, "2x2x4=1,2x2x1=3"),
        (ROW, "2x2x4=1,2x2x2=1,2x2x1=2"),
        (ROW, "2x2x6=1,2x2x1=2"),
    ],
)
@pytest.mark.parametrize("wiring", ["ocs", "static"])
def test_all_at_once_by_all_states_of_the_hosts(pod, shapes, wiring):
    """Every set of hosts that are down, and every way to place the slices among the others."""
    pod = fs.Pod(pod.cubes, pod.cube, pod.hosts, wiring)
    wanted, _ = wanted_slices(pod, shapes)
    for a in (0.8, 0.97):
        found = fs.plan(pod, shapes, availability=a)
        expected = chance_by_all_states(pod, wanted, a)
        assert found.spares["chance"][-1] == pytest.approx(expected, abs=1e-12)
        assert 0.0 < expected < 1.0


@pytest.mark.parametrize("wiring", ["ocs", "static"])
@pytest.mark.parametrize("a", [0.99, 0.999])
def test_promises_are_those_of_the_plain_formulas(wiring, a):
    pod = fs.Pod.tpu7x(wiring)
    shapes = ["2x2x1", "2x4x4", "4x4x4", "4x8x8", "8x8x16", "4x4x12"]
    found = fs.plan(pod, shapes, availability=a, probabilities=(0.5, 0.97, 0.999)).promises
    slices = twin(pod)
    for row, shape in enumerate(shapes):
        of = pod.slice_of(shape=shape)
        blocks = len(slices.blocks(in_cubes(pod, of))) if wiring == "static" and of.cubes else None
        law = plain.slices_of_size(pod.n_cubes, of.hosts, a, pod.hosts, blocks)
        assert found["mean"][row] == pytest.approx(plain.mean(law), rel=1e-9)
        for name, probability in (("50", 0.5), ("97", 0.97), ("99.9", 0.999)):
            assert found[f"slices_{name}"][row] == plain.promised(law, probability)
            assert found[f"share_{name}"][row] == found[f"slices_{name}"][row] * of.chips / pod.chips


def test_the_share_of_4096_chips_that_can_be_promised():
    """1,024 chips at 99.9 %: a quarter by wires, three by switches."""
    shares = [
        fs.plan(fs.Pod.tpu_v4(wiring), 1024, availability=0.999).promises["share_97"][0] for wiring in ("static", "ocs")
    ]
    assert shares == [0.25, 0.75]


def test_spare_cubes_are_those_of_the_plain_formula():
    found = fs.plan(fs.Pod.tpu_v5p(), "8x8x16=6,4x4x4=20", availability=0.998, probabilities=[0.9, 0.97, 0.999]).spares
    assert found["wanted"].tolist() == ["6 of 8x8x16", "20 of 4x4x4", "6 of 8x8x16 and 20 of 4x4x4"]
    assert found["cubes"].tolist() == [96, 20, 116]
    for row, cubes in enumerate(found["cubes"].tolist()):
        assert found["chance"][row] == pytest.approx(plain.at_least(140, cubes, 0.998**16), rel=1e-12)
        for name, probability in (("90", 0.9), ("97", 0.97), ("99.9", 0.999)):
            assert found[f"spare_{name}"][row] == plain.spare_cubes(cubes, 0.998, 16, probability, 1000)


def test_spare_cubes_with_slices_inside_cubes_by_all_states():
    """A whole cube and two halves, cubes of two hosts: least cubes with 90 %, each number of them counted out."""
    shapes, a = "2x2x2=1,2x2x1=2", 0.8
    chances = {n: chance_by_all_states(pod, wanted_slices(pod, shapes)[0], a) for n, pod in _pods_of(range(2, 6))}
    least = min(n for n, chance in chances.items() if chance >= 0.9)
    found = fs.plan(fs.Pod((1, 1, 5), (2, 2, 2), 2), shapes, availability=a, probabilities=[0.9]).spares
    assert found["cubes"][-1] == 2
    assert found["spare_90"][-1] == least - 2 > 0


def _pods_of(counts):
    return [(n, fs.Pod((1, 1, n), (2, 2, 2), 2)) for n in counts]


def test_spare_blocks_of_static_wiring():
    """By hand: a block of two cubes is up with 0.81; two blocks: 1 - 0.19**2 = 0.9639, three 0.993."""
    pod = fs.Pod((1, 1, 6), (2, 2, 2), 1, "static")
    found = fs.plan(pod, "2x2x4=1", availability=0.9, probabilities=(0.8, 0.96, 0.99)).spares[0]
    assert [found[f"spare_{p}"] for p in ("80", "96", "99")] == [0, 2, 4]
    assert found["chance"] == pytest.approx(1 - 0.19**3)


def test_more_cubes_than_the_pod_has_are_a_note():
    found = fs.plan("pod:4x4x4", "16x16x16=1", availability=0.999)
    assert found.spares["spare_97"][0] + 64 > 64
    assert len(found.spares.notes) == 1
    assert "cubes are needed, 64 are there" in found.spares.notes[0]


def test_binomial_tails():
    for n, k, p in itertools.product((1, 5, 140, 160), (0, 1, 3, 141), (0.2, 0.98)):
        assert at_least(n, k, p) == pytest.approx(plain.at_least(n, k, p), rel=1e-9, abs=1e-300)
    assert nested_up([Level(1, 4, 5)], 0.9) == 0.0
    assert nested_up([Level(1, 5000, 3000), Level(2, 2500, 1000), Level(4, 1250, 100)], 0.9) is None
    for least in (1, 2, 17, 100):
        assert least_count(lambda n, least=least: float(n >= least), 1, 100, 0.5) == least
    assert least_count(lambda n: 0.0, 1, 100, 0.5) is None


def test_blocks_are_those_of_the_plain_slices():
    pod = fs.Pod((2, 3, 4), (2, 2, 2), 2, "static")
    slices = twin(pod)
    for of in pod.slices:
        if not of.cubes:
            continue
        blocks = {slices.place(each).mask for each in slices.blocks(in_cubes(pod, of))}
        block = block_of_host(pod, of)
        assert blocks == {sum(1 << int(h) for h in np.flatnonzero(block == b)) for b in range(block.max() + 1)}
        assert sorted(all_blocks(pod, of)) == sorted(
            sum(1 << cube for cube in each) for each in slices.blocks(in_cubes(pod, of))
        )


def test_levels_need_what_is_inside_larger_ones():
    pod = fs.Pod.tpu_v4("static")
    wanted, _ = wanted_slices(pod, "2x2x1=5,4x4x4=3,8x8x8=2")
    assert nested_levels(pod, wanted) == [Level(1, 1024, 5 + 16 * 19), Level(16, 64, 3 + 16), Level(128, 8, 2)]
    assert nested_levels(pod, wanted_slices(pod, "4x4x16,8x8x8")[0]) is None


# -- over the time of a trace


def test_a_trace_is_counted_by_hand():
    """Two cubes of two hosts; host 0 is down 10-30 and 20-40, host 3 35-60 of 100 s."""
    trace = fs.FailureTrace([10, 20, 35], [0, 0, 3], [20, 20, 25], span=100)
    found = fs.plan(fs.Pod((1, 1, 2), (2, 2, 2), 2), "2x2x2,2x2x1", failures=trace, probabilities=(0.5, 0.95, 0.96))
    assert found.availability == pytest.approx(1 - 55 / 400)
    assert (found.mtbf, found.downtime) == (345 / 2, 55 / 2)
    rows = [row for row in map(found.promises.row, range(4)) if row["failures"] == "trace"]
    # Both cubes 50 s, one 45 s, none 5 s; all four hosts 50 s, three 45 s, two 5 s.
    assert [rows[0][f"slices_{p}"] for p in ("50", "95", "96")] == [2, 1, 0]
    assert [rows[1][f"slices_{p}"] for p in ("50", "95", "96")] == [4, 3, 2]
    assert rows[0]["mean"] == pytest.approx(1.45)
    assert rows[1]["mean"] == pytest.approx(3.45)


def test_a_trace_against_looking_at_every_instant():
    rng = np.random.default_rng(3)
    pod = fs.Pod((2, 2, 2), (2, 2, 2), 2, "static")
    trace = fs.FailureTrace(
        rng.integers(0, 900, 120), rng.integers(0, pod.nodes, 120), rng.integers(0, 30, 120), span=900
    )
    shapes = "2x2x1=3,2x2x2=2,2x4x4=1"
    found = fs.plan(pod, shapes, failures=trace, any_rate=True, probabilities=[0.5])
    slices, (wanted, _) = twin(pod), wanted_slices(pod, shapes)
    asked = sorted(((w.slice.hosts, in_cubes(pod, w.slice)) for w in wanted for _ in range(w.number)), reverse=True)
    up = 0
    for second in range(900):
        is_down = (trace.time <= second) & (second < trace.time + trace.downtime)
        up += fit(slices, sum(1 << int(node) for node in set(trace.node[is_down])), asked)
    rows = [row for row in map(found.spares.row, range(len(found.spares))) if row["failures"] == "trace"]
    assert 0 < up < 900
    assert rows[-1]["chance"] == pytest.approx(up / 900)


def test_failures_of_whole_domains_show():
    """The same availability of hosts: one host a time takes 16 cubes away one by one, a rack all its cubes at once."""
    pod = fs.Pod.tpu_v4()
    apart = fs.FailureTrace(np.arange(64) * 100.0, np.arange(64) * 16, 100, span=100_000)
    rack = fs.FailureTrace(np.zeros(64), np.arange(64) * 16, 100, span=100_000)
    both = [fs.plan(pod, "4x4x4", failures=each, probabilities=[0.97, 0.9995]).promises for each in (apart, rack)]
    assert [table["slices_97"][0] for table in both] == [63, 64]
    assert [table["slices_99.95"][0] for table in both] == [63, 0]
    assert both[0]["slices_97"][1] == both[1]["slices_97"][1], "independent hosts know nothing of it"


def test_spare_cubes_of_a_trace_are_chosen_at_random():
    """One cube of three is down all the time: of two at random one is up for sure, one alone with 2/3."""
    trace = fs.FailureTrace([0], [0], [100], span=100)
    found = fs.plan(fs.Pod((1, 1, 3), (2, 2, 2), 1), "2x2x2=1", failures=trace, probabilities=(0.6, 0.7))
    assert [found.spares[0][f"spare_{p}"] for p in ("60", "70")] == [0, 1]
    two = fs.plan(fs.Pod((1, 1, 3), (2, 2, 2), 1), "2x2x2=3", failures=trace).spares
    assert math.isnan(two[0]["spare_90"])


def test_an_outage_at_the_end_and_one_without_length():
    trace = fs.FailureTrace([10, 90], [0, 1], [0, 50], span=100)
    found = blocks_up(trace, np.array([0, 1]))
    assert (found.since.tolist(), found.up.tolist(), found.share.tolist()) == ([0, 90], [2, 1], [0.9, 0.1])
    assert blocks_up(trace[:0], np.array([0, 1])).up.tolist() == [2]


def test_the_long_run_of_a_simulation():
    """Slices of four cubes that are always wanted, eight cubes: the share of the time with both, and with one."""
    pod, a, repair, span = fs.Pod((2, 2, 2), (2, 2, 2), 2), 0.97, 1.0, 4000.0
    failures = fs.synthetic.renewal_failures(pod.nodes, span, repair * a / (1 - a), repair, rng=5, any_rate=True)
    n = int(span)
    jobs = pod.jobs(fs.Workload(np.zeros(n), np.full(n, 1.5), np.full(n, 32)), chips="size")
    held = fs.simulate(jobs, pod, scheduler="fcfs", failures=failures, record=True).allocations
    at = np.linspace(20, 2000, 20_000)
    running = np.searchsorted(np.sort(held["begin"]), at, "right") - np.searchsorted(np.sort(held["end"]), at, "right")
    law = at_least(8, np.array([4, 8]), a**2)
    assert [(running >= 1).mean(), (running >= 2).mean()] == pytest.approx(law.tolist(), abs=0.03)
    both = fs.plan(pod, "2x4x4", failures=failures, any_rate=True).promises
    assert both["mean"][0] == pytest.approx(both["mean"][1], abs=0.03) == pytest.approx(law.sum(), abs=0.03)


# -- training time


def test_ratios_are_those_of_the_formulas():
    found = fs.plan(
        "pod:tpu-v4", [1024, 64], mtbf="100d", downtime="4h", cost=30, restart_cost=120, interval="30m"
    ).ettr
    assert found["checkpointing"].tolist()[:5] == ["none", "periodic", "young", "daly", "max_availability"]
    assert found["interval"][0] == np.inf
    assert found["interval"][1] == 1800
    mtbf = 100 * DAY
    assert found["interval"][2] == fs.Young(30, mtbf).work_between([256])[0]
    assert found["interval"][4] == fs.MaxAvailability(30, mtbf, 120).work_between([256])[0]
    for row in range(1, 5):
        job = {"nodes": 256, "mtbf": mtbf, "interval": found["interval"][row], "cost": 30, "restart_cost": 120}
        assert found["first_order"][row] == fs.expected_ettr(**job)
        assert found["renewal"][row] == fs.expected_ettr(**job, rule="renewal")
    assert any("off by more than a point in 1 of 10" in note for note in found.notes)


def test_simulated_ratios_are_inside_their_intervals():
    """20 runs; with one rule and shape the 95 % interval is known to hold for this seed, and is narrow."""
    found = fs.plan(
        "pod:tpu-v4", 1024, mtbf="100d", downtime="4h", checkpointing="periodic:1h,1m", simulate=True, rng=2
    )
    row = found.ettr[0]
    assert row["low"] <= row["renewal"] <= row["high"]
    assert row["low"] < row["simulated"] < row["high"] < row["low"] + 0.03
    assert 300 < row["hits"] < 450, "20 jobs of 7 days, hit every 9.4 hours"
    assert len(found.ettr.notes) == 1
    few = fs.plan("pod:tpu-v4", 64, mtbf="900d", downtime="4h", checkpointing="none", simulate=True, runtime="1d").ettr
    assert few["hits"][0] < 20
    assert "longer runtime" in few.notes[-1]


def test_a_job_as_large_as_the_pod_waits_for_repairs():
    """Which the formulas do not know."""
    found = fs.plan("pod:2x2x2", 512, mtbf="50d", downtime="8h", checkpointing=["daly:60,50d"], simulate=True).ettr[0]
    assert found["high"] < found["renewal"] - 0.1


def test_training_time_by_a_trace():
    """One failure of the only cube a day, repaired after six hours."""
    trace = fs.FailureTrace(np.arange(1, 10) * DAY, [0] * 9, DAY / 4, span=10 * DAY)
    pod = fs.Pod((1, 1, 1))
    found = fs.plan(pod, 64, failures=trace, checkpointing="periodic:1h,1m", simulate=True, runtime="20d").ettr[0]
    assert found["mttf"] == pytest.approx((10 * DAY - 9 * DAY / 4) / 9)
    assert found["simulated"] == pytest.approx(0.75, abs=0.03)


def test_hosts_that_fail_together_hit_a_slice_once():
    """A rack of four cubes fails once in ten days for a day; single hosts of as many failures would hit 64 times."""
    pod, hosts = fs.Pod((1, 1, 8)), np.arange(64)
    trace = fs.FailureTrace(np.full(64, 3 * DAY), hosts, DAY, span=10 * DAY)
    found = fs.plan(pod, "4x4x4,4x4x16,4x4x12", failures=trace).ettr
    mttf = dict(zip(found["shape"], found["mttf"], strict=True))
    assert mttf == {"4x4x4": 76 * DAY / 4, "4x4x16": 19 * DAY, "4x4x12": 18 * DAY / 2}
    assert found["interval"][7] == pytest.approx(fs.Young(60, 19 * DAY).work_between([1])[0])
    job = {"nodes": 1, "mtbf": 19 * DAY, "interval": "1h", "cost": "1m", "restart_cost": "5m"}
    assert found["renewal"][6] == pytest.approx(fs.expected_ettr(**job, rule="renewal"))


def test_rules_that_need_predictions_have_no_formula():
    found = fs.plan(
        "pod:tpu-v4", 64, mtbf="100d", downtime="4h", checkpointing=["before-failure:60", fs.Young(60, "9d")]
    )
    assert found.ettr["checkpointing"].tolist() == ["before-failure:60", "Young(cost=60.0, mtbf=777600.0)"]
    assert math.isnan(found.ettr["renewal"][0])
    assert math.isnan(found.ettr["first_order"][0])
    assert found.ettr["renewal"][1] > 0.9


# -- what comes back


def test_ways_to_name_a_shape():
    pod = fs.Pod.tpu_v4()
    slice_ = pod.slice_of(chips=1024)
    for given in ("8x8x16", 1024, "1024", (8, 8, 16), [(8, 8, 16)], slice_, [slice_], ["1024"], np.array([1024])):
        found = fs.plan(pod, given, availability=0.99)
        assert found.spares["wanted"].tolist() == ["1 of 8x8x16"]
    for given in ("8x8x16=2, 64=3", {"8x8x16": 2, 64: 3}, {slice_: 2, (4, 4, 4): 3}, ["8x8x16=2", "4x4x4=3"]):
        found = fs.plan(pod, given, availability=0.99)
        assert found.spares["wanted"].tolist()[-1] == "2 of 8x8x16 and 3 of 4x4x4"


def test_tables_of_a_plan():
    found = fs.plan("pod:tpu-v4", "8x8x16=2", availability=0.999, downtime="4h")
    assert found.mtbf == pytest.approx(4 * 3600 * 999)
    assert list(found.to_pandas()) == list(found.promises)
    assert found.to_pandas("spares")["wanted"].tolist() == ["2 of 8x8x16"]
    assert found.to_arrow("ettr").num_rows == 5
    assert "8x8x16" in found._repr_html_()
    assert "spare_97" in str(found)
    assert "2 of 8x8x16 on pod:4x4x4" in repr(found)
    with pytest.raises(fs.OptionError, match="give downtime= or mtbf=, too"):
        _ = fs.plan("pod:tpu-v4", 64, availability=0.999).ettr
    with pytest.raises(fs.OptionError, match=r"unknown table 'jobs'.*promises"):
        found.to_pandas("jobs")


def test_shares_over_the_availability():
    found = fs.plan("pod:tpu-v4", 1024, availability=0.999)
    assert found.promised_share("8x8x16", [0.99, 0.999], 0.97, "ocs").tolist() == [0.75, 0.75]
    assert found.promised_share("8x8x16", 0.999, 0.97, "static") == 0.25
    assert np.isnan(found.promised_share("4x4x32", 0.999, 0.97, "static")), "eight cubes in a row do not fit"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pod": "cluster:4"}, "plan: the machine must be a pod, such as 'tpu-v5p', got cluster:4"),
        ({"pod": "pod:4x4x4,wiring=static,aligned=false"}, "with aligned=False no formula says"),
        ({"shapes": "4x4x6"}, r"4x4x6 of a slice is not allowed; the nearest that are: 4x4x4 \(64 chips\) and 4x4x8"),
        ({"shapes": "100"}, r"no slice has 100 chips; the nearest that are allowed have 64 \(4x4x4\) and 128"),
        ({"shapes": 30}, "which is no multiple of 4, the chips of the smallest slice"),
        ({"shapes": "8x8x16=5"}, "5 of 8x8x16 need more than pod:4x4x4 has, 64 cubes: at most 4 of 8x8x16 fit"),
        ({"shapes": "8x8x16=3,4x4x4=20"}, "at most 2 of 8x8x16 or 16 of 4x4x4 fit beside the others"),
        ({"shapes": "4x4x4=x"}, "'4x4x4=x' needs a whole number after '='"),
        ({"shapes": {"4x4x4": 0}}, "slices of 4x4x4 must be at least 1, got 0"),
        ({"shapes": []}, "shapes: give at least one"),
        ({"shapes": "4x4x4,64"}, "shapes: 4x4x4 is given twice$"),
        ({"shapes": [8, 8, 16]}, "shapes: 2x2x2 is given twice; one shape of three extents is '8x8x16'$"),
        ({"pod": "tpu-v6e"}, "a tpu-v6e has no cubes"),
        ({"shapes": "many"}, "expected a shape such as '4x4x8' or a number of chips, got 'many'"),
        ({"availability": 1.0}, "availability must be above 0 and below 1, such as 0.999, got 1.0$"),
        ({"availability": 99.9}, r"got 99.9 \(is that in %\?\)"),
        ({"availability": None}, "give availability=, or mtbf= and downtime=, or failures="),
        ({"mtbf": "1d", "downtime": "1h"}, "give two of the three"),
        ({"probabilities": (0.9, 97)}, "probability must be above 0 and below 1, such as 0.97, got 97"),
        ({"probabilities": ()}, "probabilities must be numbers such as"),
        ({"simulate": True}, "plan: simulate= needs to know how often hosts fail; give downtime= or mtbf=, too"),
        ({"checkpointing": "young:60,1d"}, "plan: checkpointing= needs to know"),
        ({"downtime": "1h", "checkpointing": []}, "checkpointing: give at least one rule"),
        ({"downtime": "1h", "checkpointing": ["none", "none"]}, "checkpointing: none is given twice"),
        ({"downtime": "1h", "cost": 0}, "cost must be above 0 seconds"),
    ],
)
def test_bad_use_is_one_line(options, message):
    given = {"pod": "pod:4x4x4", "shapes": "4x4x4", "availability": 0.99} | options
    with pytest.raises(fs.OptionError, match=message) as raised:
        fs.plan(given.pop("pod"), given.pop("shapes"), **given)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (fs.FailureTrace([1], [1024]), "1024 is outside the machine of 1024 nodes"),
        (fs.FailureTrace(range(100), [1] * 100, 0.1), "are the times in days?"),
        (fs.FailureTrace([0], [0]), "the trace has no span"),
        ("trace.csv", "failures must be a FailureTrace, got 'trace.csv'"),
    ],
)
def test_traces_that_are_refused(trace, message):
    with pytest.raises(fs.InputError, match=message):
        fs.plan("pod:4x4x4", 64, failures=trace)


def test_a_trace_and_an_availability():
    with pytest.raises(fs.OptionError, match="failures= says when hosts are up"):
        fs.plan("pod:4x4x4", 64, failures=fs.FailureTrace([1], [0], span=10), availability=0.9)
    calm = fs.plan("pod:4x4x4", 64, failures=fs.FailureTrace([], [], span=10))
    assert calm.promises["slices_99"].tolist() == [64, 64]
    assert calm.ettr["renewal"][1] == pytest.approx(60 / 61)
