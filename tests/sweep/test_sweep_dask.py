"""Dask as a place where sweeps run: the same rows, inputs sent once, workers that are killed."""

import pickle
import socket
import subprocess
import sys

import pytest

import faultsim as fs
from faultsim.sweep import dask_executor
from faultsim.sweep.dask_executor import open_client
from faultsim.sweep.wanted import Wanted
from helpers import sweep_victim
from helpers.scripts import environment, python
from helpers.stores import VICTIM, rows


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two worker processes on loopback, as in a shell."""
    distributed = pytest.importorskip("distributed")
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    dask = [sys.executable, "-W", "ignore", "-m", "dask"]
    dask_environment = {**environment(VICTIM.parents[1]), "DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "1h"}
    where = {"env": dask_environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [*dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"], **where
    )
    worker = [*dask, "worker", address, "--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    workers = [subprocess.Popen(worker, **where) for _ in range(2)]
    client = None
    try:
        client = distributed.Client(address, timeout=60)
        client.wait_for_workers(2, timeout=60)
        yield client, workers, worker, where
    finally:
        if client is not None:
            client.close()
        for process in [*workers, scheduler]:
            process.kill()
            process.wait()


@pytest.mark.filterwarnings("ignore")
def test_dask_gives_the_same_store_and_the_command_finds_it(cluster, tmp_path, undisturbed):
    client, *_ = cluster
    sweep_victim.sweep().run(tmp_path / "dask.db", executor=client)
    assert rows(tmp_path / "dask.db") == undisturbed
    spec = tmp_path / "s.toml"
    spec.write_text("replicates = 9\n[base]\nlog = { synthetic = 'nasa_like', jobs = 50 }\nmachine = 'torus:4x4x8'\n")
    done = python("-m", "faultsim", "sweep", spec, "--dask", client.scheduler.address)
    assert done.returncode == 0, done.stderr
    assert "9 runs made" in done.stdout


@pytest.mark.filterwarnings("ignore")
def test_an_input_that_runs_share_is_sent_once(cluster, monkeypatch):
    client, *_ = cluster
    sent, plain = [], client.submit
    monkeypatch.setattr(client, "submit", lambda task, *rest, **more: sent.append(task) or plain(task, *rest, **more))
    run = fs.Run(fs.synthetic.nasa_like(4000, rng=0), fs.Cluster(128))
    assert fs.Sweep(run, {"start_delay": list(range(40))}).run(executor=client).complete
    assert sent.count(pickle.loads) == 1
    assert len(sent) > 2


@pytest.mark.filterwarnings("ignore")
def test_dask_workers_that_are_killed_lose_nothing(cluster, tmp_path):
    """One in the middle, then both of those that are left, with all inputs that they held."""
    client, workers, command, where = cluster
    sweep = sweep_victim.sweep(40, 2500)  # logs above the size from which inputs are sent on their own
    sweep.run(tmp_path / "threads.db")
    killed = []

    def kill(done, total, seconds):
        if done >= 20 and not killed:
            killed.append(workers[0])
            workers[0].kill()
        elif done >= 100 and len(killed) == 1:
            killed.append(workers[1])
            workers[1].kill()
            workers.append(subprocess.Popen(command, **where))

    table = sweep.run(tmp_path / "dask.db", executor=client, progress=kill)
    assert len(killed) == 2
    assert table.complete
    assert rows(tmp_path / "dask.db") == rows(tmp_path / "threads.db")


def test_a_worker_of_another_version_is_refused():
    from faultsim.sweep.dask_executor import do_packed, pack

    blob, inputs = pack([], Wanted())
    with pytest.raises(fs.WorkerError, match=r"this worker has faultsim .*, the sweep is one of faultsim 0\.0"):
        do_packed(blob, inputs, "0.0")


def test_workers_that_cannot_start_end_in_one_line(tmp_path):
    """The command, with workers that load a module that there is not."""
    pytest.importorskip("distributed")
    spec = tmp_path / "a.toml"
    spec.write_text('[base]\nlog = { synthetic = "nasa_like", jobs = 9 }\nmachine = "cluster:128"\n')
    done = subprocess.run(
        [sys.executable, "-m", "faultsim", "sweep", str(spec), "--dask", "local", "--workers", "1", "--store",
         str(tmp_path / "a.db")],
        env={**environment(), "DASK_DISTRIBUTED__WORKER__PRELOAD": '["no_such_module"]'}, capture_output=True,
        text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    said = (
        "faultsim: error: Dask cannot start workers on this machine (127.0.0.1): ModuleNotFoundError: No module named"
    )
    assert done.stderr.splitlines()[-1].startswith(said)  # distributed may warn of a port before
    assert "Traceback" not in done.stderr


def test_a_machine_without_loopback_is_said_at_once(monkeypatch):
    pytest.importorskip("distributed")

    def refuse(*_, **__):
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(dask_executor.socket, "create_connection", refuse)
    with pytest.raises(fs.WorkerError, match=r"cannot start workers .*Network is unreachable; without Dask"):
        open_client("local", 1).__enter__()
