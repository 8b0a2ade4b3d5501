"""`read_sacct_events`: node events of Slurm as a failure trace."""

import pickle

import pytest

import faultsim as fs
from faultsim.errors import InputError, OptionError
from helpers.refusals import refused

FIELDS = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User"
DAY = "2024-03-01T"


def event(node="n1", start="08:00:00", end="09:00:00", state="DOWN", reason="x", user="root(0)"):
    times = "|".join(DAY + time if time[:1].isdigit() else time for time in (start, end))
    return f"c1|{node}|{times}|{state}|{reason}|{user}"


@pytest.fixture
def read(tmp_path):
    def call(*lines, **options):
        path = tmp_path / "events.txt"
        path.write_text("\n".join([*lines, ""]))
        return fs.read_sacct_events(path, **options)

    return call


def test_nodes_by_name_reasons_and_open_intervals(read):
    trace = read(
        FIELDS,
        event("n10", end="10:30:00", state="DOWN*", reason="Not responding"),
        event("n2", start="12:00:00", end="Unknown", state="DRAIN", reason="bad dimm"),
        "c1||2024-03-02T00:00:00|2024-03-02T01:00:00||Cluster Registered TRES|",
    )
    assert (trace.nodes, trace.node.tolist()) == (("n2", "n10"), [1, 0])
    assert (trace.time.tolist(), trace.downtime.tolist(), trace.span) == ([28_800, 43_200], [9000, 46_800], 90_000)
    assert trace.reasons.tolist() == ["DOWN*: Not responding", "DRAIN: bad dimm"]
    assert dict(trace.dropped) == {"event of the cluster": 1}
    assert trace.name == "events (0 s = 2024-03-01 00:00)"
    assert "unavailable" in str(trace.summary()) or len(str(trace.summary())) > 0


@pytest.mark.parametrize(
    ("state", "kind"),
    [("DOWN", "down"), ("DOWN*", "down"), ("DOWN*+DRAIN", "down"), ("FAIL", "down"), ("ERROR", "down"),
     ("DRAINED", "drain"), ("IDLE+DRAIN", "drain"), ("DRAINING@", "drain"), ("MIXED+DRAIN*", "drain"),
     ("POWERED_DOWN", ""), ("IDLE+POWERED_DOWN", ""), ("MAINT", ""), ("PLANNED", ""), ("IDLE", "")],
)  # fmt: skip
def test_states_and_kinds(read, state, kind):
    lines = FIELDS, event("n1", state="DOWN"), event("n2", state="DRAIN"), event("n3", state=state)
    for kinds in ("all", "down", "drain"):
        trace = read(*lines, kinds=kinds)
        there = kind in ("down", "drain") if kinds == "all" else kind == kinds
        assert (2 in trace.node.tolist()) == there
        assert trace.nodes == ("n1", "n2", "n3")
        assert trace.dropped.get("no failure", 0) == (kind == "")


def test_events_that_meet_are_one_outage(read):
    lines = [
        event("n1", state="DRAIN", reason="first"),
        event("n1", start="09:00:00", end="10:00:00", reason="second"),
        event("n1", start="11:00:00", end="12:00:00", reason="third"),
        event("n2", start="08:30:00"),
        event("n2", start="08:30:00"),
    ]
    trace = read(FIELDS, *lines)
    assert trace.downtime.tolist() == [7200, 1800, 3600]
    assert trace.reasons.tolist() == ["DRAIN: first", "DOWN: x", "DOWN: third"]
    assert dict(trace.dropped) == {"repeated record": 1, "merged with the outage before": 1}
    assert len(read(FIELDS, *lines, merge=False)) == 4
    assert read(FIELDS, *lines, kinds="down").downtime.tolist() == [1800, 3600, 3600]


def test_reasons_with_separators_other_orders_and_repeated_names(read):
    plain = read(FIELDS, event(reason="a"), event("n2", reason="a"))
    assert read(FIELDS, event(reason="a|b|c"), FIELDS, event("n2", reason="a")).reasons.tolist() == [
        "DOWN: a|b|c", "DOWN: a"]  # fmt: skip
    order = [3, 1, 5, 2, 4]
    cells = [[FIELDS.split("|")[at] for at in order]]
    cells += [[event(node, reason="a").split("|")[at] for at in order] for node in ("n1", "n2")]
    assert read(*("|".join(row) for row in cells)) == plain
    assert read(*("^".join(row) for row in cells)) == plain
    assert read(FIELDS + "|", event(reason="a") + "|", event("n2", reason="a") + "|") == plain
    no_state = read("NodeName|TimeStart|TimeEnd", f"n1|{DAY}08:00:00|{DAY}09:00:00")
    assert (len(no_state), no_state.reasons.tolist()) == (1, [""])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (event(start="soon"), "unreadable TimeStart"), (event(start="Unknown"), "unreadable TimeStart"),
        (event(end="07:00:00"), "unreadable TimeEnd"), (event(end="9 am"), "unreadable TimeEnd"),
        ("c1|n3", "unreadable record"),
    ],
)  # fmt: skip
def test_unreadable_events(read, line, reason):
    assert dict(read(FIELDS, event("n9"), line).dropped) == {reason: 1}
    refused(InputError, "events.txt, line 3", read, FIELDS, event("n9"), line, strict=True)


def test_periods_and_zones(read):
    lines = FIELDS, event(), event("n2", start="20:00:00", end="Unknown"), event("n3", start="22:00:00", end="23:00:00")
    later = read(*lines, begin="2024-03-01 12:00")
    assert (later.time.tolist(), later.nodes, later.reasons.tolist()) == (
        [28_800, 36_000], ("n1", "n2", "n3"), ["DOWN: x"] * 2)  # fmt: skip
    assert later.downtime.tolist() == [10_800, 3600]
    assert read(*lines, zone="Europe/Berlin").time.tolist() == [25_200, 68_400, 75_600]
    refused(OptionError, "kinds", read, *lines, kinds="broken")
    refused(InputError, "no failures in the period", read, *lines, begin="2025-01-01")


def test_names_and_reasons_follow_the_failures(read):
    trace = read(FIELDS, event("n1", reason="a"), event("n2", start="10:00:00", end="11:00:00", reason="b"))
    for same in (trace.renamed("y"), pickle.loads(pickle.dumps(trace)), trace[:2]):
        assert (same.nodes, same.reasons.tolist()) == (trace.nodes, trace.reasons.tolist())
    assert trace[1:].reasons.tolist() == ["DOWN: b"]
    assert trace.window(30_000, 90_000).reasons.tolist() == ["DOWN: b"]
    moved = trace.map_nodes(64, "permute", rng=1)
    assert (moved.nodes, len(moved)) == ((), 2)
    assert fs.FailureTrace([1], [0]).reasons is None


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("Cluster|State|Reason", "c|DOWN|x"), "no field NodeName; no field TimeStart; it has Cluster, State, Reason"),
        ((FIELDS,), "no failures are left"),
        ((event(),), "--noheader"),
        (("   Cluster  NodeName ", "---------- ---------"), "fixed width"),
        ((FIELDS, event(state="IDLE")), "no failures"),
    ],
)
def test_what_holds_no_failures_is_refused(read, lines, said):
    refused(InputError, said, read, *lines)
