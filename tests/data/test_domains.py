"""`Domains`, and failures of domains as failures of nodes."""

from __future__ import annotations

import contextlib
import io
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim import Domains, FailureTrace
from faultsim.errors import InputError, OptionError
from faultsim.reference.faults.domains import failures_of_members
from helpers.refusals import refusals, refused

NODES = 6
LOG = fs.Workload(submit=[0, 0], runtime=[100, 100], size=[3, 2])


@st.composite
def tables(draw: Callable[..., Any]) -> Domains:
    """One to three tables joined, each with its own kind, down time and effect."""
    parts = []
    for at in range(draw(st.integers(1, 3))):
        members = st.lists(st.integers(0, NODES - 1), min_size=1, unique=True)
        lists = draw(st.lists(members, min_size=1, max_size=4))
        downtime = draw(st.sampled_from([None, 0, 7]))
        effect = draw(st.sampled_from(["down", "down", "none"]))
        parts.append(Domains(lists, NODES, kind=f"kind{at}", downtime=downtime, effect=effect))
    return Domains.join(parts)


@st.composite
def cases(draw: Callable[..., Any]) -> tuple[Domains, FailureTrace]:
    domains = draw(tables())
    n = draw(st.integers(0, 12))
    columns = [draw(st.lists(st.integers(0, top), min_size=n, max_size=n)) for top in (20, len(domains) - 1, 9)]
    return domains, FailureTrace(*columns, span=25)


def rows_of(trace: FailureTrace) -> list[tuple[float, int, float, float]]:
    return list(zip(*(trace.columns[name].tolist() for name in ("time", "node", "downtime", "coin")), strict=True))


@given(cases())
def test_failures_of_members_are_those_of_the_plain_twin(case: tuple[Domains, FailureTrace]) -> None:
    domains, trace = case
    mapped = trace.map_domains(domains, any_rate=True)
    plain = failures_of_members(
        rows_of(trace),
        [row.members.tolist() for row in domains],
        [row.downtime for row in domains],
        [row.effect == "down" for row in domains],
    )
    assert rows_of(mapped) == plain
    around = sum(domains[int(row)].effect == "none" for row in trace.node)
    assert mapped.dropped.get("routed around", 0) == around
    assert mapped.span == trace.span
    assert mapped.min_nodes <= NODES


@given(cases())
def test_a_node_is_down_when_a_domain_of_its_is(case: tuple[Domains, FailureTrace]) -> None:
    """Second by second, from the domains that are down then; the engine's ledger says the same of an idle machine."""
    domains, trace = case
    merged = trace.map_domains(domains, any_rate=True).merge_overlaps()
    down = np.zeros((60, NODES), dtype=bool)
    for time, row, lasting in zip(trace.time, trace.node, trace.downtime, strict=True):
        own = domains[int(row)]
        if own.effect == "down":
            until = time + (lasting if own.downtime is None else own.downtime)
            for second in range(int(time), int(until)):
                down[second, own.members] = True
    assert merged.downtime.sum() == down.sum()
    log = fs.Workload(submit=[0, 50], runtime=[0, 1], size=[1, 1])
    result = fs.simulate(log, fs.Cluster(NODES), failures=trace.map_domains(domains, any_rate=True))
    assert result.ledger["down"] == down[:51].sum()


def test_a_domain_kills_a_job_once_and_all_that_are_on_it() -> None:
    halves = Domains({"left": [0, 1, 2, 3], "right": [4, 5]}, NODES)
    trace = FailureTrace([50], [0], 10, span=1000)
    result = fs.simulate(LOG, fs.Cluster(NODES), failures=trace.map_domains(halves), record=True)
    assert result.jobs["restarts"].tolist() == [1, 1]
    assert result.metrics["failures_hit"] == 2
    assert (result.events["kind"] == 2).sum() == 4  # a row for each member
    assert result.jobs["finish"].tolist() == [160.0, 150.0]  # the second job moves to the two nodes that are up


def test_a_transient_failure_of_a_domain() -> None:
    both = Domains([[0, 1, 2, 3, 4]], NODES, downtime=0)
    result = fs.simulate(LOG, fs.Cluster(NODES), failures=FailureTrace([50], [0], 999, span=1000).map_domains(both))
    assert result.jobs["finish"].tolist() == [150.0, 150.0]


# -- tables


def test_rows_names_and_kinds() -> None:
    racks = Domains({"b": [3, 1], "a": (0, 2)}, nodes=4, kind="rack", downtime="1h")
    both = Domains.join([racks, Domains.hosts(fs.Cluster(4))])
    assert (len(both), both.nodes, both.kinds) == (6, 4, ("rack", "host"))
    assert both.names == ("b", "a", "host 0", "host 1", "host 2", "host 3")
    assert both["b"].members.tolist() == [1, 3]
    assert (both["a"].downtime, both["host 1"].downtime) == (3600.0, None)
    assert both.rows("host").tolist() == [2, 3, 4, 5]
    assert [row.name for row in both] == list(both.names)
    assert repr(both) == "<Domains of 4 nodes: rack 2, host 4>"
    assert both[-1].name == "host 3"
    again = pickle.loads(pickle.dumps(both))
    assert [(row.name, row.members.tolist()) for row in again] == [(row.name, row.members.tolist()) for row in both]
    with pytest.raises(AttributeError, match="a Domains is read-only"):
        both.nodes = 7  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        both["b"].members[0] = 5


def neighbours(shape: tuple[int, int, int], wrap: bool) -> set[frozenset[int]]:
    """All pairs of places one step apart, each with each."""
    pairs = set()
    places = list(np.ndindex(*shape))
    for a in places:
        for b in places:
            steps = [abs(i - j) for i, j in zip(a, b, strict=True)]
            if wrap:
                steps = [min(step, n - step) for step, n in zip(steps, shape, strict=True)]
            if sum(steps) == 1:
                pairs.add(frozenset(int(np.ravel_multi_index(place, shape)) for place in (a, b)))
    return pairs


@pytest.mark.parametrize("wrap", [True, False])
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 1, 3), (2, 2, 2), (3, 4, 2), (4, 1, 5)])
def test_links_join_neighbours(shape: tuple[int, int, int], wrap: bool) -> None:
    links = Domains.links(fs.Torus(*shape, wrap=wrap))
    found = [frozenset(row.members.tolist()) for row in links]
    assert len(set(found)) == len(found)
    assert set(found) == neighbours(shape, wrap)
    wide = Domains.links(shape, hosts=2, wrap=wrap)
    assert [{node // 2 for node in row.members.tolist()} for row in wide] == [set(pair) for pair in found]
    assert all(len(row.members) == 4 for row in wide)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_lines_and_planes_by_their_coordinates(axis: str) -> None:
    shape, at = (2, 3, 4), "xyz".index(axis)
    for hosts in (1, 3):
        where = {node: np.unravel_index(node // hosts, shape) for node in range(24 * hosts)}
        planes = Domains.planes(shape, axis, hosts=hosts)  # type: ignore[arg-type]
        assert len(planes) == shape[at]
        for k, plane in enumerate(planes):
            assert plane.name == f"plane {axis} {k}"
            assert plane.members.tolist() == [node for node, place in where.items() if place[at] == k]
        lines = Domains.lines(shape, axis, hosts=hosts)  # type: ignore[arg-type]
        assert len(lines) == 24 // shape[at]
        for line in lines:
            a, b = map(int, line.name.removeprefix(f"row {axis} ").split(","))
            others = {node: [int(c) for i, c in enumerate(place) if i != at] for node, place in where.items()}
            assert line.members.tolist() == [node for node, place in others.items() if place == [a, b]]


def test_a_pod_says_its_cubes_and_hosts() -> None:
    pod = fs.Pod((2, 2, 2), hosts=4, wiring="static")
    assert repr(Domains.planes(pod, "z")) == repr(Domains.planes((2, 2, 2), "z", hosts=4))
    assert Domains.planes(pod, "z").nodes == 32
    assert Domains.planes(pod, "z")[1].members.tolist() == [
        *range(4, 8),
        *range(12, 16),
        *range(20, 24),
        *range(28, 32),
    ]
    cubes = Domains.blocks(pod, pod.hosts, kind="cube")
    assert [row.members.tolist() for row in cubes] == [list(range(4 * k, 4 * k + 4)) for k in range(8)]
    cables = Domains.blocks(pod, pod.hosts, copies=3, kind="cable")
    assert [row.members[0] for row in cables] == [4 * (k // 3) for k in range(24)]
    assert cables.names[:4] == ("cable 0.0", "cable 0.1", "cable 0.2", "cable 1.0")
    refused(OptionError, "a cube of this pod has 4, got 5", Domains.lines, pod, "x", hosts=5)


def test_links_that_no_machine_has() -> None:
    """A cluster's distances do not wrap; cubes behind optical switches are nobody's neighbours."""
    assert len(Domains.links(fs.Cluster(64, shape=(4, 4, 4)))) == 144
    assert len(Domains.links(fs.Cluster(64, shape=(4, 4, 4)), wrap=True)) == 192 == len(Domains.links((4, 4, 4)))
    assert len(Domains.links(fs.Torus(4, 4, 4))) == 192
    assert len(Domains.links(fs.Pod((4, 4, 4), (4, 4, 4), 16, "static"))) == 192
    for made in (Domains.links, lambda pod: Domains.lines(pod, "x"), lambda pod: Domains.planes(pod, "x")):
        refused(OptionError, "optical switches join any cubes", made, fs.Pod.tpu_v4())


def test_what_is_no_domain_is_said() -> None:
    for made_of in (5, "ab"):
        refused(InputError, "domains: expected lists of nodes", Domains, made_of, 4)
    refused(InputError, "domain 'domain 0': expected a list of node numbers", Domains, [[0, [1]]], 4)
    refused(InputError, "domain 'domain 0': expected a list of node numbers", Domains, [("a", [0, 1])], 4)
    refused(InputError, "join: expected tables of domains, got 5", Domains.join, 5)
    for shape in (3.5, {1: 1, 2: 2, 3: 3}):
        refused(OptionError, "domains: expected a machine with coordinates", Domains.lines, shape, "x")
    hosts = Domains.hosts(4)
    refused(InputError, "domains: a name is text, got", hosts.row, ["a"])
    for which in (slice(1, 3), 1.5):
        refused(InputError, "domains: expected the name or the number of one row", hosts.__getitem__, which)
    for row in (-1, 4):
        refused(InputError, "which count from 0", hosts.taken, np.array([row]))
    refused(InputError, "map_domains: there are no domains", FailureTrace([1], [0], 10).map_domains, Domains({}, 4))


def test_tables_compare_by_content() -> None:
    hosts, racks = Domains.hosts(4, downtime=5), Domains.blocks(4, 2, kind="rack")
    assert hosts == Domains.hosts(4, downtime=5) != Domains.hosts(4)
    assert Domains.join([hosts, racks]) == pickle.loads(pickle.dumps(Domains.join([hosts, racks])))
    assert hash(hosts) == hash(Domains.hosts(4, downtime=5))
    assert hosts != 5
    assert "host 1" in hosts
    assert "rack 1" not in hosts
    assert Domains.join([hosts, racks]).rows("rack").tolist() == [4, 5]


test_tables_that_are_none = refusals(
    InputError,
    Domains,
    ({"a": []}, 4, "domain 'a' has no members; expected at least one node"),
    ([[0], [4]], 4, r"domain 'domain 1': node 4 is outside the machine of 4 nodes \(0-3\)"),
    ([[-1]], 4, "domain 'domain 0': node -1 is outside the machine of 4 nodes"),
    ([[1, 2, 1]], 4, "domain 'domain 0': node 1 appears twice"),
    ([[0.5]], 4, "domain 'domain 0': expected a list of node numbers"),
    ({"": [1]}, 4, "the name of a domain is printable text, got ''"),
)


def test_options_that_are_refused() -> None:
    refused(OptionError, "a slowdown needs its speed: give effect=fs.Slowdown", Domains, [], 4, effect="slowdown")
    refused(OptionError, "'domain 0' has 1 of 4 nodes, and", Domains, [[0]], 4, effect=fs.Slowdown(0.5))
    refused(OptionError, "unknown effect of domains 'up'; known: 'down', 'none'", Domains, [], 4, effect="up")
    refused(OptionError, "downtime of domains must be at least 0 s", Domains, [[0]], 4, downtime=-1)
    refused(OptionError, "kind of domains must be printable text", Domains, [[0]], 4, kind="")
    refused(OptionError, "unknown machine '4' \\(did you mean 'cluster:4'", Domains, [[0]], "4")
    refused(OptionError, "nodes of domains must be at least 1", Domains, [[0]], 0)
    refused(OptionError, "10 nodes are no whole number of blocks of 4", Domains.blocks, 10, 4)
    refused(OptionError, "at most 200,000,000 are possible", Domains.blocks, 10**6, 10**6, copies=1000)
    refused(OptionError, "expected a machine with coordinates or three extents", Domains.links, fs.Cluster(8))
    refused(OptionError, "unknown axis 'w'; known: 'x', 'y', 'z'", Domains.planes, (2, 2, 2), "w")
    two, three = Domains.hosts(2), Domains.hosts(3)
    refused(InputError, "domains of 2 nodes and of 3; give those of one machine", Domains.join, [two, three])
    refused(InputError, "'host 0' appears twice", Domains.join, [two, two])
    refused(InputError, "item 0 must be Domains, got 5", Domains.join, [5])
    refused(InputError, "no domain 'hist 1' \\(did you mean 'host 1'\\?\\)", two.row, "hist 1")
    refused(OptionError, "unknown kind of domains 'hosts' \\(did you mean 'host'\\?\\)", two.rows, "hosts")


def test_traces_that_are_refused() -> None:
    hosts = Domains.hosts(4)
    refused(
        InputError,
        r"node, row 1: 4 is no row of the 4 domains \(0-3\)",
        FailureTrace([1, 2], [0, 4]).map_domains,
        hosts,
    )
    refused(InputError, "expected Domains, got 5", FailureTrace([1], [0]).map_domains, 5)
    rng = np.random.default_rng(1)
    days = FailureTrace(rng.uniform(0, 348, 40), rng.integers(4, size=40), rng.exponential(5, 40), span=348)
    said = "40 failures of 4 in 348 s, each fails every 34.8 s: are the times in days"
    refused(InputError, said, days.map_domains, hosts)
    assert len(days.map_domains(hosts, any_rate=True)) == 40
    seconds = FailureTrace(days.time * 86_400, days.node, days.downtime * 86_400, span=348 * 86_400)
    assert len(seconds.map_domains(hosts)) == 40


def test_the_record_of_the_guide(data_dir: Path) -> None:
    """What the guide replays, from the real file: it prints what the guide says."""
    page = Path(__file__).resolve().parents[2] / "docs" / "guides" / "domains.md"
    text = page.read_text(encoding="utf-8")
    found = re.search(r"<!-- not run: needs the record -->\n```python\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert found
    path = data_dir / "failures" / "stepfun" / "fault_trace.json.xz"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(found[1].replace('"fault_trace.json.xz"', repr(str(path))), {"fs": fs, "day": 86_400})
    assert printed.getvalue() == found[2]


def test_machines_may_be_text() -> None:
    assert Domains.blocks("cluster:128", 16) == Domains.blocks(128, 16)
    assert Domains.links("torus:4x4x8") == Domains.links(fs.Torus(4, 4, 8))
    assert Domains.planes("pod:4x4x4,wiring=static", "x") == Domains.planes(fs.Pod((4, 4, 4), wiring="static"), "x")
    assert Domains([[0, 1]], "cluster:4").nodes == 4
    refused(OptionError, "unknown machine 'clustr:8' \\(did you mean 'cluster'", Domains.blocks, "clustr:8", 2)
    refused(OptionError, "expected a machine with coordinates", Domains.links, "cluster:8")
