"""The column `part` of failure traces: what it takes, what keeps it, what refuses it, and its forms in files."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.data.node_parts import part_of

PARTS = ["gpus:1", "", "memory:16G", "cores:4"]


def trace(**given):
    return fs.FailureTrace([5, 30, 10, 40], [0, 1, 2, 0], [7, 8, 9, 10], **{"part": PARTS, "span": 100, **given})


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("gpus:1", (2, 1)), ("GPU:2", (2, 2)), ("cores: 4", (0, 4)), ("cores=4", (0, 4)), ("memory:16G", (1, 16384)),
        ("memory:100", (1, 100)), ("memory:100M", (1, 100)), ("memory:1TB", (1, 2**20)), ("memory:1500KiB", (1, 2)),
        (" ", None),
    ],
)  # fmt: skip
def test_texts_that_name_parts(text, part):
    assert part_of(text) == part


@pytest.mark.parametrize(
    "text", ["gpus", "gpus:0", "gpus:1G", "disk:1", "cores:-1", "memory:1.5G", "memory:9999999T", "1"]
)
def test_texts_that_name_no_part(text):
    with pytest.raises(fs.InputError, match="part, row 1"):
        fs.FailureTrace([1, 2], [0, 0], part=["", text])


def test_rows_are_sorted_and_a_trace_of_whole_nodes_has_no_column():
    assert trace().part.tolist() == ["gpus:1", "memory:16384M", "", "cores:4"]
    assert "3 of parts" in repr(trace())
    plain = trace(part=["", "", None, float("nan")])
    assert plain.part is None
    assert plain == trace(part=None)
    assert plain.digest() == trace(part=None).digest() != trace().digest()
    assert trace(part="gpus:1").part.tolist() == ["gpus:1"] * 4


@pytest.mark.parametrize("part", [["gpus:1"], [1, 2, 3, 4], [["a"]] * 4])
def test_columns_that_are_none(part):
    with pytest.raises(fs.InputError, match="part"):
        trace(part=part)


def test_methods_keep_parts():
    one = trace()
    assert one.window(8, 35).part.tolist() == ["memory:16384M", ""]
    assert one.with_span(50).part.tolist() == one.part.tolist()
    assert one.map_nodes(2).part.tolist() == one.part.tolist()
    assert one[one.part == ""].part is None
    assert one.whole_nodes().time.tolist() == [30]
    plain = fs.FailureTrace([6, 50], [1, 1], span=60)
    assert one.merge(plain).part.tolist() == ["gpus:1", "", "memory:16384M", "", "cores:4", ""]
    assert plain.merge(one).part.tolist() == one.merge(plain).part.tolist()
    assert fs.FailureTrace.concat([plain, one]).part.tolist() == ["", "", *one.part.tolist()]
    assert "part" not in fs.FailureTrace.concat([plain, plain]).columns
    few = one.with_count(3)
    assert few.part.tolist() == one.part[np.isin(one.time, few.time)].tolist()
    assert one.with_count(8, repeat=True).part.tolist() == one.part.tolist() * 2
    assert one.part_amounts().tolist() == [[0, 0, 1], [0, 16384, 0], [0, 0, 0], [4, 0, 0]]


def test_a_failure_keeps_its_unit():
    one = trace(coin=[0.1, 0.2, 0.3, 0.4])
    assert one.window(8, 35).part_units().tolist() == one.part_units()[1:3].tolist()


def test_a_summary_counts_outages_of_whole_nodes_alone():
    assert trace().summary(nodes=4)["availability"] == 1 - 8 / 400
    assert trace().summary(nodes=4)["n_failures"] == 4


@pytest.mark.parametrize(
    "use",
    [
        lambda trace: trace.merge_overlaps(),
        lambda trace: trace.exclude_lemons(2, 60, any_rate=True),
        lambda trace: trace.map_domains(fs.Domains.hosts(4), any_rate=True),
        lambda trace: fs.simulate(fs.Workload([0], [1], [1]), fs.Cluster(4), reservations=trace),
        lambda trace: fs.simulate_workflows(fs.Workflow([1]), fs.Resources(4), failures=trace),
        lambda trace: fs.simulate(fs.Workload([0], [1], [1]), fs.Torus(2, 2, 2), failures=trace, recovery="requeue"),
    ],
)
def test_what_does_not_know_parts_says_so(use):
    with pytest.raises(fs.FaultsimError, match="parts of nodes"):
        use(trace())


@pytest.mark.parametrize("name", ["trace.csv", "trace.csv.gz"])
def test_files(name, tmp_path):
    trace().write_csv(tmp_path / name)
    found = fs.read_failures(tmp_path / name)
    assert found == trace()
    assert found.part.tolist() == trace().part.tolist()


def test_frames_and_parquet(tmp_path):
    pytest.importorskip("pandas")
    assert fs.FailureTrace.from_pandas(trace().to_pandas(), span=100) == trace()
    pytest.importorskip("pyarrow")
    trace().to_pandas().to_parquet(tmp_path / "trace.parquet")
    assert fs.read_failures(tmp_path / "trace.parquet", span=100).part.tolist() == trace().part.tolist()


def test_tables_of_others(tmp_path):
    path = tmp_path / "outages.csv"
    path.write_text("failed;host;repair_h;part\n2024-01-01 00:00;n1;2;gpu:1\n2024-01-02 00:00;n2;1;\n")
    found = fs.read_failures(path)
    assert found.part.tolist() == ["gpus:1", ""]
    path.write_text("failed;host;repair_h;part\n2024-01-01 00:00;n1;2;fan tray\n2024-01-02 00:00;n2;1;\n")
    assert fs.read_failures(path).part is None  # another meaning of the word
    found = fs.read_failures(path, columns={"part": "part"})
    assert len(found) == 1
    assert sum(found.dropped.values()) == 1


def test_saved_results_keep_parts(tmp_path):
    log = fs.Workload([0, 0], [50, 50], [1, 1], columns={"cores": [4, 4], "gpus": [1, 1]})
    failures = fs.FailureTrace([5, 20], [0, 0], [7, 8], part=["gpus:1", "cores:1"], span=100)
    result = fs.simulate(log, "site:n=1x8cx2v100", failures=failures, recovery="requeue", record=True)
    result.save(tmp_path / "run.npz")
    again = fs.load_result(tmp_path / "run.npz")
    assert again.failures == failures
    assert again.resources["down"].tolist() == result.resources["down"].tolist()
