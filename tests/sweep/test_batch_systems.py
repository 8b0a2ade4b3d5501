"""Sweeps under real batch systems: Slurm (an array, a node that dies, Dask's workers as its jobs) and MPI.

They need Debian's slurm-wlm, munge and openmpi-bin, mpi4py, and root.
"""

import contextlib
import importlib.util
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import OptionError, StoreError
from helpers.scripts import environment
from helpers.slurm import slurm

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SPEC = """
replicates = {replicates}
[base]
log = {{ synthetic = "nasa_like", jobs = {jobs} }}
machine = "torus:4x4x8"
[grid]
scheduler = ["fcfs", "easy"]
load = [0.7, 0.9]
"""


@pytest.fixture(scope="module")
def system():
    with slurm() as running:
        yield running


def same(store, spec):
    found, whole = fs.load_sweep(store), fs.read_sweep(spec).run()
    assert found.n_rows == whole.n_rows
    for name in whole:
        np.testing.assert_array_equal(found[name], whole[name])


def sweep(system, folder, *options):
    command = [sys.executable, "-m", "faultsim", "sweep", "s.toml", "--slurm", "--time=10", *options]
    done = subprocess.run(command, cwd=folder, env=environment() | system.env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(folder):
    """In all parts that have begun."""
    found = 0
    for store in folder.glob("s.*of*.db"):
        with contextlib.suppress(OptionError, StoreError):  # holds no sweep yet
            found += fs.load_sweep(store).n_rows
    return found


def test_a_job_array(system, tmp_path):
    spec = tmp_path / "s.toml"
    spec.write_text(SPEC.format(replicates=5, jobs=300))
    out = sweep(system, tmp_path, "--shards", "3")
    assert out.startswith("array   ")
    system.wait()
    same(tmp_path / "s.db", spec)


def test_a_node_that_dies_in_the_middle(system, tmp_path):
    """What its tasks had done is kept; they are queued again when it is back, or by the same command."""
    spec = tmp_path / "s.toml"
    spec.write_text(SPEC.format(replicates=60, jobs=12_000))
    sweep(system, tmp_path, "--shards", "2")
    end = time.monotonic() + 120
    while rows(tmp_path) < 10:
        assert time.monotonic() < end
        time.sleep(0.2)
    system.kill_node()
    time.sleep(2)
    kept = rows(tmp_path)
    assert 10 <= kept < 240
    system.tell_node("down")
    time.sleep(2)
    assert rows(tmp_path) == kept  # nothing survived it
    system.start_node()
    system.wait()
    if not (tmp_path / "s.db").exists() or fs.load_sweep(tmp_path / "s.db").n_rows < 240:
        sweep(system, tmp_path, "--shards", "2")
        system.wait()
    same(tmp_path / "s.db", spec)


def test_workers_of_dask_as_jobs(system, tmp_path):
    pytest.importorskip("dask_jobqueue")
    (tmp_path / "s.toml").write_text(SPEC.format(replicates=5, jobs=300))
    program = """
import faultsim as fs
from dask_jobqueue import SLURMCluster
from distributed import Client

if __name__ == "__main__":
    with SLURMCluster(cores=1, memory="1GB", walltime="00:10:00", interface="lo", log_directory=".") as cluster:
        cluster.scale(jobs=2)
        with Client(cluster) as client:
            client.wait_for_workers(1, timeout=120)
            fs.read_sweep("s.toml").run("s.db", executor=client)
"""
    (tmp_path / "sweep.py").write_text(program)
    subprocess.run([sys.executable, "sweep.py"], cwd=tmp_path, env=environment() | system.env, check=True, timeout=300)
    same(tmp_path / "s.db", tmp_path / "s.toml")


def test_mpi(tmp_path):
    missing = [] if shutil.which("mpiexec") else ["mpiexec"]
    missing += [] if importlib.util.find_spec("mpi4py") else ["mpi4py"]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    (tmp_path / "s.toml").write_text(SPEC.format(replicates=5, jobs=300))
    program = """
import faultsim as fs
from mpi4py.futures import MPIPoolExecutor

if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        fs.read_sweep("s.toml").run("s.db", executor=executor, workers=2)
"""
    (tmp_path / "sweep.py").write_text(program)
    command = ["mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", "3", sys.executable, "-m", "mpi4py.futures"]
    subprocess.run([*command, "sweep.py"], cwd=tmp_path, env=environment(), check=True, timeout=300)
    same(tmp_path / "s.db", tmp_path / "s.toml")
