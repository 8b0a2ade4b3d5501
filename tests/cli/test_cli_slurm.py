"""``faultsim sweep --slurm``: what is submitted, by a stand-in for sbatch, and what cannot be meant."""

import os
import stat
import subprocess
import sys

import numpy as np
import pytest

import faultsim as fs
from helpers.command import refused, run
from helpers.scripts import CHECKOUT

SPEC = """
replicates = 3
[base]
log = { synthetic = "nasa_like", jobs = 60 }
machine = "cluster:128"
[grid]
scheduler = ["fcfs", "easy"]
"""
# Runs each task of an array at once, in order, and keeps what it was given.
SBATCH = """#!/bin/sh
count=$(ls {folder}/given 2>/dev/null | wc -l)
mkdir -p {folder}/given
number=$((count + 41))
printf '%s\\n' "$@" >{folder}/given/$number
cat >{folder}/script
tasks=$(printf '%s\\n' "$@" | sed -n 's/--array=1-//p')
for task in $(seq ${{tasks:-1}}); do
    SLURM_ARRAY_TASK_ID=$task sh {folder}/script >{folder}/log || exit 1
done
echo "$number;cluster"
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "my sweep%.toml").write_text(SPEC)
    (tmp_path / "bin").mkdir()
    sbatch = tmp_path / "bin" / "sbatch"
    sbatch.write_text(SBATCH.format(folder=tmp_path))
    sbatch.chmod(sbatch.stat().st_mode | stat.S_IXUSR)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(CHECKOUT))
    return tmp_path


def test_the_array_fills_what_one_run_would(here, capsys):
    status, out, _ = run(capsys, "sweep", "my sweep%.toml", "--slurm", "-p short --time=60", "--shards", 4)
    assert status == 0
    assert out == (
        "array   41: 4 tasks\nmerge   42: writes my sweep%.db when they have ended\nstatus  squeue --jobs 41,42\n"
    )
    merged, whole = fs.load_sweep("my sweep%.db"), fs.read_sweep("my sweep%.toml").run()
    for name in whole:
        np.testing.assert_array_equal(merged[name], whole[name])
    array = (here / "given" / "41").read_text().splitlines()
    assert array[:3] == ["--parsable", "--job-name=my sweep%%", "--array=1-4"]
    assert array[-3:] == ["-p", "short", "--time=60"]
    assert array[array.index("--chdir") + 1] == os.getcwd()
    merge = (here / "given" / "42").read_text().splitlines()
    assert "--dependency=afterany:41" in merge
    assert merge[-3:] == ["-p", "short", "--time=60"]


def test_what_would_be_submitted(here, capsys):
    command = ["sweep", "my sweep%.toml", "--slurm", "", "--shards", "2", "--workers", "3", "--processes", "--retry"]
    status, out, _ = run(capsys, *command, "--dry-run", "--store", "here/all.db")
    assert status == 0
    assert not (here / "given").exists()
    array, merge = out.split("END\nsbatch")
    assert "--array=1-2" in array
    assert "--dependency=afterany:NUMBER" in merge
    words = "sweep --quiet --processes --retry"
    assert f"exec {sys.executable} -m faultsim {words} --shard" in array
    assert """--store=here/all."$SLURM_ARRAY_TASK_ID"of2.db --workers 3 -- 'my sweep%.toml'\n""" in array
    assert merge.endswith("faultsim merge -- here/all.db here/all.1of2.db here/all.2of2.db\nEND\n")


def test_without_slurm(here, capsys, monkeypatch):
    command = ["sweep", "my sweep%.toml", "--slurm", "", "--shards", "2"]
    (here / "bin" / "sbatch").write_text(
        "#!/bin/sh\necho 'sbatch: error: Batch job failed: no partition' >&2; exit 1\n"
    )
    assert "sbatch: Batch job failed: no partition" in refused(capsys, *command)
    (here / "bin" / "sbatch").unlink()
    monkeypatch.setenv("PATH", str(here / "bin"))
    assert "there is no sbatch here; --slurm --dry-run prints" in refused(capsys, *command)


def test_an_array_without_its_merge_is_told(here, capsys):
    sbatch = here / "bin" / "sbatch"
    sbatch.write_text(sbatch.read_text().replace("cat >", "[ $count = 0 ] || { echo full >&2; exit 1; }\ncat >"))
    err = refused(capsys, "sweep", "my sweep%.toml", "--slurm", "", "--shards", "2")
    assert "job array 41 is submitted, but not the job that merges: sbatch: full" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--slurm", ""], "--slurm needs --shards N"),
        (["--shards", "3"], "--shards is for --slurm; one part of a sweep is --shard I/N"),
        (["--slurm", "", "--shards", "0"], "--shards: got 0"),
        (["--slurm", "", "--shards", "1000000"], "--shards: got 1,000,000, at most 10,000, as the job that merges"),
        (["--slurm", "--array=1-3", "--shards", "3"], "--slurm: --array is set by faultsim"),
        (["--slurm", "-p short -a1-3", "--shards", "3"], "--slurm: -a is set by faultsim"),
        (["--slurm", "-p 'short", "--shards", "3"], "--slurm: No closing quotation"),
        (["--slurm", "", "--shards", "3", "--shard", "1/3"], "--shard and --slurm exclude each other"),
        (["--slurm", "", "--shards", "3", "--csv", "x.csv"], "--csv and --slurm exclude each other"),
    ],
)
def test_what_cannot_be_meant(here, capsys, options, message):
    assert message in refused(capsys, "sweep", "my sweep%.toml", *options)
    assert not (here / "given").exists()


def test_the_scripts_are_sound_shell(here, capsys):
    out = run(capsys, "sweep", "my sweep%.toml", "--slurm", '-J "a b"', "--shards", "2", "--dry-run")[1]
    subprocess.run(["sh", "-n"], input=out, text=True, check=True)


def test_names_that_begin_with_a_dash(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-a.toml").write_text('[base]\nmachine = "torus:4x4x8"\nlog = { synthetic = "nasa_like", jobs = 20 }\n')
    assert run(capsys, "sweep", "--quiet", "--", "-a.toml")[0] == 0
    assert "1" in run(capsys, "status", "--", "-a.db")[1]
    assert run(capsys, "merge", "--", "-b.db", "-a.db")[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["-a.db", "-a.toml", "-b.db"]
    out = run(capsys, "sweep", "--slurm", "", "--shards", "2", "--dry-run", "--", "-a.toml")[1]
    assert "-m faultsim merge -- -a.db -a.1of2.db -a.2of2.db" in out
    assert "--store=-a." in out
    assert " -- -a.toml" in out
