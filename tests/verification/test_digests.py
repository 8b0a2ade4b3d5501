"""What runs give is what it was, to the byte: see `digests`."""

import re
import shutil

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


def test_digests_that_change_raise_the_model_revision():
    """See `digests.py revision`."""
    assert digests.moved() == []


def copied(folder):
    for path in digests.GOLDEN.iterdir():
        shutil.copy(path, folder)
    return folder


def changed(path):
    """Without the last digit of its first case."""
    lines = path.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    path.write_text("\n".join([*lines[:at], lines[at][:-1], *lines[at + 1 :]]) + "\n")


def test_a_changed_digest_needs_a_new_revision(tmp_path):
    now, said = fs.MODEL_REVISION, ["the digests of pods are not those of revision"]
    changed(copied(tmp_path) / "pods.txt")
    assert digests.moved(folder=tmp_path) == [f"{said[0]} {now}"]
    assert "raise MODEL_REVISION in faultsim/version.py" in digests.enter(folder=tmp_path)
    assert digests.moved(folder=tmp_path) == [f"{said[0]} {now}"]
    assert digests.moved(now + 1, tmp_path)[0] == f"MODEL_REVISION is {now + 1}, and the last of the table is {now}"
    assert digests.enter(now + 1, tmp_path) == ""
    assert digests.moved(now + 1, tmp_path) == []
    assert digests.revisions(tmp_path)[now] == digests.revisions()[now]
    assert f"MODEL_REVISION is {now}, and the table has revision {now + 1}" in digests.enter(folder=tmp_path)


def test_new_cases_do_not_need_a_new_revision(tmp_path):
    path = copied(tmp_path) / "pods.txt"
    path.write_text(path.read_text() + "2000 123456 12345678 12345678 - -\n")
    assert digests.moved(folder=tmp_path) == ["pods has 2001 cases, and 2000 in the table"]
    assert digests.enter(folder=tmp_path) == ""
    assert digests.moved(folder=tmp_path) == []
    (tmp_path / "new.txt").write_text("# a new file\n0 123456 12345678 12345678 - -\n")
    assert digests.moved(folder=tmp_path) == ["the digests of new are not those of revision " + str(fs.MODEL_REVISION)]
    assert digests.enter(folder=tmp_path) == ""
    changed(path)
    assert digests.enter(folder=tmp_path) != ""
    assert digests.enter(folder=tmp_path, replace=True) == ""
    assert digests.moved(folder=tmp_path) == []


def test_the_model_page_and_the_changelog_state_the_revision():
    checkout = digests.GOLDEN.parents[2]
    page = (checkout / "docs/background/model.md").read_text(encoding="utf-8")
    table = page[page.index("(revisions)=") :]
    stated = [int(number) for number in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)]
    assert stated == list(range(1, fs.MODEL_REVISION + 1)) == list(digests.revisions())
    assert f"model revision is {fs.MODEL_REVISION}" in (checkout / "CHANGELOG.md").read_text(encoding="utf-8")


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
