"""What the node numbers of a trace mean: nodes of a machine or domains; and who refuses which."""

import copy
import pickle

import numpy as np
import pytest

import faultsim as fs
from faultsim.data.numbering import Numbering, numbering, numbering_of_text
from faultsim.errors import InputError
from helpers import command
from helpers.refusals import refused

DAY = 86_400.0
POD = fs.Pod((1, 2, 2))
NODES = POD.nodes
PARTS = fs.Domains.join([
    fs.Domains.hosts(NODES),
    fs.Domains.blocks(NODES, 16, kind="cube"),
    fs.Domains.blocks(NODES, NODES, copies=2, kind="switch, (spare)", effect="none"),
])  # fmt: skip
OUTAGES = fs.synthetic.domain_failures(PARTS, "200d", per_day=0.01, downtime="8h", rng=1)
MAPPED = OUTAGES.map_domains(PARTS)
LOG = fs.synthetic.exponential(60, rng=1, mean_gap=4 * 3600, mean_runtime=DAY, sizes=[4, 16])
SAID = (
    r"the trace is of domains of 64 nodes \(host 64, cube 4, switch, \(spare\) 2\): its numbers are rows of Domains, "
    r"not nodes; trace\.map_domains\(domains\) first"
)


def test_who_knows_it():
    assert OUTAGES.of == numbering(PARTS)
    assert OUTAGES.of.size == len(PARTS) == 70
    assert MAPPED.of == Numbering(NODES)
    synthetic = fs.synthetic
    for trace, nodes in (
        (synthetic.weibull_failures(320, "62d", 0.85, "5h", rng=1), 320),
        (synthetic.exponential_failures(8, "1d", "5d", rng=1), 8),
        (synthetic.renewal_failures(8, "1d", "5d", "1h", rng=1), 8),
        (fs.FailureTrace([1], [300]).map_nodes(128), 128),
        (fs.FailureTrace([1], [300]).map_nodes(128, "permute", rng=1), 128),
        (fs.FailureTrace([1], [3]).map_nodes(9, [0, 1, 2, 8]), 9),
        (fs.FailureTrace([1], [3]).drop_outside(128), 128),
        (fs.FailureTrace([1], [3], of=128), 128),
        (fs.FailureTrace([1], [3], of=fs.Torus(4, 4, 8)), 128),
    ):
        assert trace.of == Numbering(nodes)
    assert fs.FailureTrace([1], [3]).of is None
    assert fs.FailureTrace([1], [65], of=PARTS).of == OUTAGES.of
    assert fs.FailureTrace([1], [65], of=OUTAGES.of).of == OUTAGES.of


@pytest.mark.parametrize("trace", [OUTAGES, MAPPED], ids=["domains", "nodes"])
def test_every_method_keeps_it(trace, tmp_path):
    path = tmp_path / "trace.csv.gz"
    trace.write_csv(path)
    kept = [
        fs.read_failures(path), pickle.loads(pickle.dumps(trace)), copy.copy(trace), copy.deepcopy(trace), trace[:5],
        trace[trace.time > DAY], trace.window(DAY, 9 * DAY), trace.align(LOG), trace.with_span("1d"),
        trace.with_count(3), trace.with_count(3 * len(trace), repeat=True), trace.renamed("x"), trace.merge_overlaps(),
        trace.exclude_lemons(2, "30d"), trace.merge(trace), fs.FailureTrace.concat([trace, trace]),
        trace.merge(fs.FailureTrace([], [])), fs.FailureTrace([5], [0]).merge(trace),
        fs.FailureTrace.from_pandas(trace.to_pandas(), of=trace.of),
    ]  # fmt: skip
    assert [each.of for each in kept] == [trace.of] * len(kept)
    assert all(each == trace for each in kept[:4])


def test_it_changes_no_digest():
    plain = fs.FailureTrace(OUTAGES.time, OUTAGES.node, OUTAGES.downtime, coin=OUTAGES.coin, span=OUTAGES.span)
    assert plain == OUTAGES
    assert plain.digest() == OUTAGES.digest()


def test_files_of_others(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("time,node\n5,3\n")
    assert fs.read_failures(path).of is None
    path.write_text("# numbers: nodes of 4\ntime,node\n5,3\n")
    assert fs.read_failures(path).of == Numbering(4)
    path.write_text("# numbers: nodes of 3\ntime,node\n5,3\n")
    refused(
        InputError, "trace.csv, line 3: node, row 0: 3 is not below 3; the trace is of=3 nodes", fs.read_failures, path
    )
    bad = ("", "4", "nodes of x", "nodes of 0", "nodes of 1e3", "domains of 4: 3 named a", "domains of 4: {} named a")
    for text in (*bad, 'domains of 4: {"a": -1} named a', 'domains of 4: {"a": 1}', "[" * 9999):
        path.write_text(f"# numbers: {text}\ntime,node\n5,3\n")
        refused(InputError, r"trace.csv, line 1: numbers: .* such as 'nodes of 128'", fs.read_failures, path)
    assert numbering_of_text(OUTAGES.of.as_text()) == OUTAGES.of


@pytest.mark.parametrize(
    "machine", [fs.Cluster(NODES), fs.Cluster(128), fs.Torus(4, 4, 8), POD, fs.Pod.tpu_v4()], ids=str
)
def test_domains_are_no_nodes_of_any_machine(machine):
    """Whether or not all of the numbers are nodes."""
    hosts = fs.synthetic.domain_failures(fs.Domains.hosts(NODES), "9d", per_day=0.1, downtime="1h", rng=1)
    for trace in (OUTAGES, OUTAGES[:0], OUTAGES[:1], hosts):
        refused(InputError, "its numbers are rows of Domains, not nodes", fs.simulate, LOG, machine, failures=trace)
    refused(InputError, SAID, fs.Run, LOG, machine, failures=OUTAGES)
    refused(InputError, SAID, fs.Simulation, LOG, machine, failures=OUTAGES)
    refused(InputError, SAID, fs.Sweep, {"log": LOG, "machine": machine, "failures": OUTAGES}, {"seed": [1, 2]})


def test_domains_elsewhere(tmp_path, capsys):
    refused(InputError, f"failures: {SAID}", fs.plan, POD, "4x4x4", failures=OUTAGES)
    refused(InputError, f"summary: {SAID}", OUTAGES.summary, NODES)
    refused(InputError, f"map_nodes: {SAID}", OUTAGES.map_nodes, NODES)
    refused(InputError, f"map_nodes: {SAID}", OUTAGES.map_nodes, NODES, "permute", rng=1)
    refused(InputError, f"drop_outside: {SAID}", OUTAGES.drop_outside, NODES)
    refused(InputError, f"at_accuracy: {SAID}", fs.PredictionTrace.at_accuracy, OUTAGES, 0.5, 0.5, rng=1)
    flows = [fs.Workflow([1, 2])]
    refused(InputError, f"failures: {SAID}", fs.simulate_workflows, flows, fs.Resources(NODES), failures=OUTAGES)
    refused(InputError, "merge: one trace is of domains .*, another of 64 nodes.*map_domains", OUTAGES.merge, MAPPED)
    refused(
        InputError, "concat: one trace is of 64 nodes, another of domains", fs.FailureTrace.concat, [MAPPED, OUTAGES]
    )
    assert OUTAGES.summary()["nodes"] == 70
    assert OUTAGES.map_nodes(70, np.arange(70)).of == Numbering(70), "one by one is a choice"
    path = tmp_path / "outages.csv"
    OUTAGES.write_csv(path)
    for words in (
        ["run", "--machine", "cluster:64"],
        ["plan", "64", "--machine", "pod:1x2x2"],
        ["workflow", "run", "--nodes", 64],
    ):
        for mapping in ([], ["--map-failures", "modulo"]):
            said = command.refused(capsys, *words, "--failures", path, *mapping)
            assert "its numbers are rows of Domains, not nodes" in said
            assert "read_failures(FILE).map_domains(domains).write_csv(OTHER)" in said
    assert "map_domains" in command.refused(capsys, "failures", "convert", path, "-", "--map-nodes", 64)
    assert "map_domains" in command.refused(capsys, "failures", "summary", path, "--nodes", 64)
    sweep = tmp_path / "sweep.toml"
    for text in ('"outages.csv"', '{ file = "outages.csv", format = "csv", map = "modulo" }'):
        sweep.write_text(
            f'[base]\nlog = {{ synthetic = "nasa_like", jobs = 9 }}\nmachine = "cluster:64"\nfailures = {text}\n'
        )
        with pytest.raises((fs.FaultsimError, RuntimeError), match="map_domains"):
            fs.read_sweep(sweep).run()


def test_other_domains():
    for other in (
        fs.Domains.hosts(NODES),
        fs.Domains.join([fs.Domains.blocks(NODES, 16, kind="cube"), fs.Domains.hosts(NODES)]),
        fs.Domains.blocks(NODES, NODES, copies=70, kind="cable"),
    ):
        refused(InputError, "map_domains: the trace is of domains .* these are other", OUTAGES.map_domains, other)
    again = pickle.loads(pickle.dumps(PARTS))
    assert OUTAGES.map_domains(again) == MAPPED
    elsewhere = fs.Domains.join([
        fs.Domains.hosts(NODES), fs.Domains({f"cube {k}": range(k, NODES, 4) for k in range(4)}, NODES, kind="cube"),
        fs.Domains.blocks(NODES, NODES, copies=2, kind="switch, (spare)"),
    ])  # fmt: skip
    assert OUTAGES.map_domains(elsewhere).of == Numbering(NODES), "the names are the same, and their members a choice"
    racks = fs.Domains.blocks(NODES, 16, kind="rack")
    of_racks = fs.synthetic.renewal_failures(4, "200d", "5d", "8h", rng=1)
    assert of_racks.map_domains(racks).of == Numbering(NODES)
    assert MAPPED.map_domains(PARTS) == MAPPED, "the first rows are the nodes"
    refused(InputError, "map_domains: the trace is of 64 nodes, and these 4 domains", MAPPED.map_domains, racks)


def test_another_machine(tmp_path, capsys):
    trace = fs.synthetic.renewal_failures(NODES, "200d", "50d", "8h", rng=1)
    few = trace[trace.node < 4]
    fewer = "failures: the trace is of 64 nodes, and the machine has 128: its nodes 64-127 would never fail; "
    refused(InputError, fewer, fs.simulate, LOG, fs.Cluster(128), failures=trace)
    refused(InputError, fewer + ".*map_nodes", fs.simulate, LOG, fs.Torus(4, 4, 8), failures=trace)
    refused(
        InputError, "of 64 nodes, and the machine has 16; .*map_nodes", fs.simulate, LOG, fs.Cluster(16), failures=few
    )
    refused(InputError, "of 64 nodes, and the machine has 1,024", fs.plan, fs.Pod.tpu_v4(), "4x4x4", failures=trace)
    refused(
        InputError,
        "of 64 nodes, and the machine has 4",
        fs.simulate_workflows,
        [fs.Workflow([1])],
        fs.Resources(4),
        failures=few,
    )
    refused(InputError, "summary: the trace is of 64 nodes, and the machine has 128", trace.summary, 128)
    refused(
        InputError, "at_accuracy: the trace is of 64", fs.PredictionTrace.at_accuracy, trace, 0.5, 0.5, rng=1, nodes=128
    )
    refused(
        InputError,
        r"merge: one trace is of 64 nodes, another of 8 nodes.*map_nodes\(n\)",
        trace.merge,
        trace.map_nodes(8),
    )
    refused(InputError, "merge: item 1 has failures of number 64", trace.merge, fs.FailureTrace([1], [64]))
    assert few.summary()["nodes"] == NODES, "nodes that did not fail count"
    for machine in (fs.Cluster(NODES), POD):
        assert fs.simulate(LOG, machine, failures=trace).metrics["failures_hit"] > 0
    assert fs.simulate(LOG, fs.Cluster(128), failures=trace.map_nodes(128)).metrics["failures_hit"] > 0
    path = tmp_path / "trace.csv"
    trace.write_csv(path)
    said = command.refused(capsys, "run", "--machine", "cluster:128", "--failures", path)
    assert "the trace is of 64 nodes, and the machine has 128" in said
    assert "--map-failures modulo|permute|drop" in said
    assert (
        command.run(capsys, "run", "--machine", "cluster:128", "--failures", path, "--map-failures", "permute")[0] == 0
    )


def test_a_saved_result_keeps_it(tmp_path):
    result = fs.simulate(LOG, fs.Cluster(NODES), failures=MAPPED)
    result.save(tmp_path / "result.npz")
    assert fs.load_result(tmp_path / "result.npz").failures.of == Numbering(NODES)
    unknown = fs.FailureTrace(MAPPED.time, MAPPED.node, MAPPED.downtime)
    fs.simulate(LOG, fs.Cluster(NODES), failures=unknown).save(tmp_path / "other.npz")
    assert fs.load_result(tmp_path / "other.npz").failures.of is None


def test_without_a_meaning_only_numbers_outside_are_refused():
    trace = fs.FailureTrace([60.0], [3], 60)
    for machine in (fs.Cluster(4), fs.Cluster(128), fs.Torus(4, 4, 8)):
        fs.simulate(LOG[:1], fs.Cluster(128), failures=trace)
        trace.check_against(machine.nodes)
    refused(
        InputError,
        "1 of 1 failures are of nodes outside cluster:3",
        fs.simulate,
        LOG[:1],
        fs.Cluster(3),
        failures=trace,
        oversized="drop",
    )
    refused(
        InputError, r"node, row 1: 9 is not below 4; the trace is of=4 nodes", fs.FailureTrace, [1, 2], [3, 9], of=4
    )
