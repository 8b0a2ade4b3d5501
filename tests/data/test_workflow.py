"""`Workflow`: its columns, what it refuses, and what can be made of it."""

import pickle
import re
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.errors import InputError, OptionError
from helpers.refusals import refusals, refused

DIAMOND = [(2, 3, 1.0), (0, 2, 5.0), (0, 1, 4.0), (1, 3, 2.0)]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[float], list[tuple[int, int, float]]]:
    """Costs and edges in any order, along a random order of the jobs."""
    n = draw(st.integers(1, 12))
    order = draw(st.permutations(range(n)))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40))
    edges = {(order[min(a, b)], order[max(a, b)]) for a, b in pairs if a != b}
    rows = [(a, b, float(draw(st.integers(0, 9)))) for a, b in draw(st.permutations(sorted(edges)))]
    return [float(draw(st.integers(0, 9))) for _ in range(n)], rows


def diamond(**more: object) -> fs.Workflow:
    return fs.Workflow([30, 20, 25, 10], DIAMOND, "diamond", **more)


def test_columns_are_sorted_typed_and_read_only() -> None:
    wf = diamond()
    assert (wf.n_jobs, wf.n_edges, len(wf)) == (4, 4, 4)
    assert wf.edge_from.tolist() == [0, 0, 1, 2]
    assert wf.edge_to.tolist() == [1, 2, 3, 3]
    assert wf.transfer.tolist() == [4, 5, 2, 1]
    assert wf.successor_start.tolist() == [0, 2, 3, 4, 4]
    assert wf.predecessor_start.tolist() == [0, 0, 1, 2, 4]
    assert wf.predecessor.tolist() == [0, 0, 1, 2]
    assert wf.predecessor_transfer.tolist() == [4, 5, 2, 1]
    assert (wf.entries.tolist(), wf.exits.tolist()) == ([0], [3])
    assert wf.cost.dtype == wf.transfer.dtype == np.float64
    assert wf.successor.dtype == wf.predecessor.dtype == np.int32
    assert wf.successor_start.dtype == wf.predecessor_start.dtype == np.int64
    for column in (wf.cost, wf.edge_from, wf.predecessor, wf.successor_start, wf.entries, wf.topological_order()):
        assert not column.flags.writeable
        assert column.flags.c_contiguous
    with pytest.raises(AttributeError, match="read-only: name cannot be set"):
        wf.name = "x"
    with pytest.raises(AttributeError, match="read-only"):
        del wf.name


def test_a_copy_is_kept() -> None:
    cost, edges = np.array([1.0, 2.0]), np.array([[0.0, 1.0, 3.0]])
    wf = fs.Workflow(cost, edges)
    cost[0], edges[0, 2] = 9, 9
    assert (wf.cost.tolist(), wf.transfer.tolist()) == ([1, 2], [3])


@given(graphs())
def test_rows_and_order_against_networkx(made: tuple[list[float], list[tuple[int, int, float]]]) -> None:
    cost, edges = made
    wf = fs.Workflow(cost, edges)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(cost)))
    graph.add_weighted_edges_from(edges)
    for job in range(len(cost)):
        rows = slice(wf.successor_start[job], wf.successor_start[job + 1])
        assert wf.successor[rows].tolist() == sorted(graph.successors(job))
        assert wf.successor_transfer[rows].tolist() == [graph[job][b]["weight"] for b in sorted(graph.successors(job))]
        rows = slice(wf.predecessor_start[job], wf.predecessor_start[job + 1])
        ahead = sorted(graph.predecessors(job))
        assert wf.predecessor[rows].tolist() == ahead
        assert wf.predecessor_transfer[rows].tolist() == [graph[a][job]["weight"] for a in ahead]
    assert wf.topological_order().tolist() == list(nx.lexicographical_topological_sort(graph))
    for a, b in graph.edges:
        graph[a][b]["cost"] = cost[b]
    entry = {job: cost[job] for job in range(len(cost))}
    paths = {a: entry[a] for a in entry}
    for job in nx.topological_sort(graph):
        paths[job] = cost[job] + max((paths[a] for a in graph.predecessors(job)), default=0)
    assert wf.critical_path() == max(paths.values())
    assert wf == fs.Workflow(cost, edges[::-1], name="another")
    assert hash(wf) == hash(fs.Workflow(cost, edges[::-1]))
    assert pickle.loads(pickle.dumps(wf)) == wf
    assert fs.Workflow.from_networkx(wf.to_networkx()) == wf


test_bad_input_is_named = refusals(
    InputError,
    fs.Workflow,
    ([], [], r"cost: a workflow has at least one job and one node, got shape \(0,\)"),
    (5, [], r"cost: expected shape \(jobs,\) or \(jobs, nodes\), got \(\)"),
    ([[]], [], r"cost: a workflow has at least one job and one node, got shape \(1, 0\)"),
    ([1, -2], [], "cost, job 1: -2 is negative; expected at least 0$"),
    ([1, float("nan")], [], "cost, job 1: nan is not a finite number$"),
    ([[1, 2], [3, float("inf")]], [], "cost, job 1, node 1: inf is not a finite number$"),
    ([[1, 2], [3]], [], "cost: expected one number per job or rows of equal length, got a ragged list"),
    (["a"], [], "cost, job 0: 'a' is not a number"),
    ([1, 1], [(0, 2, 1)], "edges, row 0: job 2 is unknown; the jobs are 0 to 1$"),
    ([1, 1], [(0, 1, 1), (-1, 1, 1)], "edges, row 1: -1 is negative; expected at least 0 .edge_from.$"),
    ([1, 1], [(0, 1.5, 1)], "edges, row 0: 1.5 is not a whole number .edge_to.$"),
    ([1, 1], [(0, 1, -1)], "edges, row 0: -1 is negative; expected at least 0 .transfer.$"),
    ([1, 1], [(0, 1, float("nan"))], "edges, row 0: nan is not a finite number .transfer.$"),
    ([1, 1, 1], [(1, 2), (0, 1), (1, 2)], "edges, row 2: 1 -> 2 already appears in row 0; give each edge once$"),
    ([1, 1], [(1, 1)], "edges, row 0: job 1 depends on itself"),
    ([1, 1], [(0, 1, 2, 3)], r"edges: expected rows .* got shape \(1, 4\)"),
    ([1, 1], [(0, 1), (0, 1, 2)], "edges: expected rows .* got a ragged list"),
    ([1, 1], [("a", "b")], "edges: expected numbers"),
    ([1, 1, 1, 1], [(0, 1), (1, 2), (2, 3), (3, 1)], "^cycle: 1 -> 2 -> 3 -> 1$"),
    ([1, 1], [(0, 1), (1, 0)], "^no job can start, since each waits for another; cycle: 0 -> 1 -> 0$"),
)


def test_a_cycle_is_named_by_labels_and_a_long_one_is_cut() -> None:
    with pytest.raises(InputError, match=r"^cycle: 'stage' -> 'run' -> 'stage'$"):
        fs.Workflow([1] * 3, [(0, 1), (1, 2), (2, 1)], labels=["a", "stage", "run"])
    ring = [(k, (k + 1) % 100) for k in range(100)]
    refused(InputError, r"cycle: 0 -> 1 -> .* -> 10 -> \.\.\. -> 0 \(100 jobs\)$", fs.Workflow, [1] * 100, ring)


@given(graphs(), st.data())
def test_what_a_cycle_names_is_one(made: tuple[list[float], list[tuple[int, int, float]]], data: st.DataObject) -> None:
    cost, edges = made
    if not edges:
        return
    a, _, _ = data.draw(st.sampled_from(edges))
    graph = nx.DiGraph([edge[:2] for edge in edges])
    reach = sorted(nx.descendants(graph, a))
    back = (data.draw(st.sampled_from(reach)), a)
    pairs = [*(edge[:2] for edge in edges), back]
    with pytest.raises(InputError, match="cycle: ") as caught:
        fs.Workflow(cost, pairs)
    jobs = [int(text) for text in re.findall(r"\d+", str(caught.value).partition("cycle: ")[2])]
    assert jobs[0] == jobs[-1]
    assert all(pair in pairs for pair in pairwise(jobs))


def test_other_bad_options() -> None:
    refused(InputError, "labels: 1 for 2 jobs", fs.Workflow, [1, 1], labels=["a"])
    refused(InputError, "labels: 'a' appears twice", fs.Workflow, [1, 1], labels=["a", "a"])
    refused(InputError, "submit must be at least 0 s, got -1", fs.Workflow, [1], submit=-1)
    refused(OptionError, r"unknown transfer_unit 'byte'.*did you mean 'bytes'", fs.Workflow, [1], transfer_unit="byte")


def test_changed_copies() -> None:
    wf = diamond(labels="abcd")
    assert wf.submitted(60).submit == 60
    assert wf.submitted(60) != wf
    assert wf.renamed("x") == wf
    assert wf.with_cost_factor(2).cost.tolist() == [60, 40, 50, 20]
    assert wf.with_transfer_factor(2).predecessor_transfer.tolist() == [8, 10, 4, 2]
    assert wf.with_cost([[1, 2]] * 4).cost.shape == (4, 2)
    assert wf.with_ccr(2).ccr == pytest.approx(2)
    assert wf.with_ccr(0).transfer.tolist() == [0] * 4
    assert wf.with_transfer([1, 2, 3, 4], "bytes").transfer_unit == "bytes"
    assert wf.with_cost([1] * 4).labels == tuple("abcd")
    assert np.isnan(fs.Workflow([0]).ccr)
    for bad, message in (
        (lambda: wf.with_cost([1]), "cost: 1 rows for 4 jobs"),
        (lambda: wf.with_transfer([1]), "transfer: expected one for each of 4 edges"),
        (lambda: wf.with_transfer(["a", 2, 3, 4]), "transfer: expected numbers, one for each of 4 edges"),
        (lambda: wf.with_transfer([[1], [2, 3]]), "transfer: expected numbers, one for each of 4 edges"),
        (lambda: wf.with_transfer([1, 2, 3, -4]), "-4 is negative"),
        (lambda: wf.with_transfer_factor(0).with_ccr(1), "all transfers are 0"),
        (lambda: wf.with_cost_factor(0), "factor of with_cost_factor.. must be above 0"),
        (lambda: wf.submitted(float("nan")), "submit must be"),
    ):
        refused(fs.FaultsimError, message, bad)


def test_print() -> None:
    assert repr(diamond()) == "<Workflow 'diamond': 4 jobs, 4 edges>"
    assert repr(fs.Workflow([[1, 2]], submit=5)) == "<Workflow: 1 job, 0 edges, costs on 2 nodes, submit 5 s>"
    assert repr(fs.Workflow([1], transfer_unit="bytes")) == "<Workflow: 1 job, 0 edges, transfers in bytes>"
    assert diamond() != "diamond"


def test_from_networkx_refuses_by_name() -> None:
    graph = nx.DiGraph()
    graph.add_edge("a", "b")
    refused(InputError, "node 'a' has no attribute 'cost'", fs.Workflow.from_networkx, graph)
    refused(InputError, "edges have no direction", fs.Workflow.from_networkx, nx.Graph([(1, 2)]))
    refused(InputError, r"expected a networkx.DiGraph, got \[1\]", fs.Workflow.from_networkx, [1])
    graph.add_edge("b", "a")
    nx.set_node_attributes(graph, 1.0, "cost")
    refused(InputError, "cycle: 'a' -> 'b' -> 'a'", fs.Workflow.from_networkx, graph)
    twice = nx.MultiDiGraph([(1, 2), (1, 2)])
    nx.set_node_attributes(twice, 1.0, "weight")
    refused(InputError, "'1' -> '2' already appears", fs.Workflow.from_networkx, twice, cost="weight")


def test_from_networkx_takes_a_cost_for_every_node() -> None:
    graph = nx.DiGraph(name="two")
    graph.add_node("a", w=[1, 2])
    graph.add_node("b", w=[3, 4])
    graph.add_edge("a", "b", weight=7)
    wf = fs.Workflow.from_networkx(graph, cost="w", transfer="weight")
    assert wf == fs.Workflow([[1, 2], [3, 4]], [(0, 1, 7)])
    assert (wf.name, wf.labels) == ("two", ("a", "b"))


def test_without_networkx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    refused(fs.MissingExtraError, r'pip install "faultsim\[networkx\]"', diamond().to_networkx)
