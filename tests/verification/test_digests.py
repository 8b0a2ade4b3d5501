"""What runs give is what it was, to the byte: see `digests`."""

import digests
import pytest

import faultsim as fs

#: File of random cases -> how many of them are a sample.
SAMPLE = {
    "random": 500,
    "big_jobs": 60,
    "rescheduling": 150,
    "workflows": 150,
    "pods": 300,
    "preemption": 150,
    "shapes": 150,
}


def assert_same(file, n=None):
    report = digests.check(file, n)
    assert not report.different, f"{report}; python tests/verification/digests.py show {file} CASE says what they are"
    if report.skipped:
        pytest.skip(str(report))
    assert report.same > 2 * report.refused


@pytest.mark.parametrize("file", SAMPLE)
def test_sample_of_random_cases(file):
    assert_same(file, SAMPLE[file])


@pytest.mark.slow
@pytest.mark.parametrize("file", SAMPLE)
def test_all_random_cases(file):
    assert_same(file)


def test_no_result_that_is_kept_is_a_broken_engine():
    """An error of the engine is a fault, and keeping it would keep the fault."""
    files = sorted(digests.GOLDEN.glob("*.txt"))
    assert [path.stem for path in files] == sorted(digests.FILES)
    assert [path.name for path in files if "EngineError" in path.read_text()] == []


def test_a_difference_is_noticed(tmp_path):
    digests.write("big_jobs", tmp_path, 5)
    path = tmp_path / "big_jobs.txt"
    lines = path.read_text().splitlines()
    name, inputs, jobs, rest = lines[2].split(maxsplit=3)
    path.write_text("\n".join([*lines[:2], f"{name} {inputs} {jobs[::-1]} {rest}", *lines[3:]]))
    assert digests.check("big_jobs", folder=tmp_path).different == [f"{name} (jobs)"]
    path.write_text("\n".join([*lines[:2], f"{name} {inputs[::-1]} {jobs} {rest}", *lines[3:]]))
    report = digests.check("big_jobs", folder=tmp_path)
    assert (report.skipped, report.same) == ([name], 4)


@pytest.mark.parametrize("change", ["start", "finish", "lost_work", "backfilled"])
def test_a_digest_sees_every_column(change):
    log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    made = digests.tables(fs.simulate(log, fs.Cluster(2), record=True))
    other = {**made, "jobs": [(name, values + (name == change)) for name, values in made["jobs"]]}
    before, after = digests.line_of(made).split(), digests.line_of(other).split()
    assert before[1:] == after[1:]
    assert before[0] != after[0]


def test_first_public_logs(data_dir, monkeypatch):
    monkeypatch.setenv("FAULTSIM_DATA", str(data_dir))
    assert_same("logs", 2 * len(digests.digest_logs.RUNS))


@pytest.mark.slow
@pytest.mark.parametrize("file", ["logs", "dags"])
def test_all_public_logs(data_dir, monkeypatch, file):
    monkeypatch.setenv("FAULTSIM_DATA", str(data_dir))
    assert_same(file)
