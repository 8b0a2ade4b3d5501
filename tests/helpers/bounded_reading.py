"""Reads files in a child that may use 5 s of a processor for each and 1 GiB of memory, and says what came of it.

As a script: ``python bounded_reading.py`` reads JSON lines [entry point, path] and answers each with
[outcome, seconds, message].
"""

import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SECONDS, MEMORY = 5, 1 << 30
#: Entry point, other than those of formats -> the public functions and methods that it stands for.
STANDS_FOR = {
    "read": {"read"},
    "result": {"load_result"},
    "workflow result": {"load_workflow_result"},
    "sweep file": {"read_sweep"},
    "table": {"load_sweep"},
    "resume": {"Sweep.run", "Sweep.fill"},
    "policy": {"parse_policy"},
    "key": {"Key"},
    "site": {"read_site"},
    "topology": {"read_topology_yaml"},
    "slurm site": {"read_slurm_conf"},
    "squeue": {"read_squeue"},
}


def outcomes(work: Iterable[tuple[str, str]]) -> list[tuple[str, float, str]]:
    """What came of reading each file: "ok", "told" (an error of faultsim), or the name of another exception."""
    given = "".join(json.dumps(item) + "\n" for item in work)
    said = subprocess.run(
        [sys.executable, __file__],
        input=given,
        capture_output=True,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        check=False,
    )
    found = [tuple(json.loads(line)) for line in said.stdout.splitlines()]
    if len(found) < given.count("\n"):
        found.append(("died", 0.0, said.stderr[-2000:]))
    return found


def entry_points() -> dict[str, Any]:
    """Everything that reads a file, by name."""
    import faultsim as fs
    from faultsim.cli.serve import Server
    from faultsim.cli.slurm_decisions import compare, site_of
    from faultsim.readers.slurm_requests import read_slurm_requests
    from faultsim.readers.slurmctld_log import read_slurmctld_log
    from faultsim.readers.table import READERS, detect, what_is
    from faultsim.sweep.merge import merge
    from faultsim.sweep.store import Store

    scene = Path(__file__).parents[1] / "readers" / "slurm" / "08s-scene"

    def decisions(path: str) -> object:
        conf = fs.read_slurm_conf(scene / "slurm.conf", [scene / "accounts.txt"])
        return compare(read_slurmctld_log(path), conf, read_slurm_requests(scene / "sacct.txt"))

    def status(path: str) -> object:
        with Store(path, write=False) as store:
            return store.sweeps()

    def resumed(path: str) -> object:
        log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
        return fs.Sweep(fs.Run(log, fs.Cluster(2)), {"runtime_factor": [1.0, 2.0]}).run(path, workers=1)

    def described(path: str) -> object:
        result = fs.load_result(path)
        return str(result), result.metrics, result.machine, dict(result.counters), list(result.warnings)

    def served(message: str) -> None:
        log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2], id=[7, 8])
        server = Server(fs.Simulation(log, fs.Cluster(2), scheduler=fs.External()), decides=True)
        server.answer(b'{"request": "ADVANCE"}')
        reply = server.answer(Path(message).read_bytes())
        if "error" in reply:
            raise fs.OptionError(reply["error"])

    def policy(path: str) -> object:
        kind, _, words = text(path).partition(" ")
        return fs.parse_policy(kind, words)

    def text(path: str) -> str:
        return Path(path).read_bytes().decode(errors="surrogateescape")

    found = {f"{row.gives.__name__} {row.name}": row.read for row in READERS}
    return found | {
        "Workload parquet": fs.read_jobs,
        "Workload table": fs.read_jobs,
        "FailureTrace table": fs.read_failures,
        "Workload sacct json": fs.read_sacct,
        "Workload sacct text": fs.read_sacct,
        "what is": what_is,
        "read": fs.read,
        "detect log": lambda path: detect(path, fs.Workload),
        "detect failures": lambda path: detect(path, fs.FailureTrace),
        "result": described,
        "workflow result": lambda path: str(fs.load_workflow_result(path)),
        "sweep file": fs.read_sweep,
        "table": fs.load_sweep,
        "status": status,
        "resume": resumed,
        "merge": lambda path: merge(path + ".merged", [path]),
        "served": served,
        "policy": policy,
        "key": lambda path: fs.Key(text(path)),
        "site": fs.read_site,
        "topology": fs.read_topology_yaml,
        "slurmctld log": decisions,
        "slurm site": fs.read_slurm_conf,
        "squeue": fs.read_squeue,
        "slurm site accounts": lambda path: fs.read_slurm_conf(scene / "slurm.conf", path),
        "slurm site gres": lambda path: fs.read_slurm_conf(scene / "slurm.conf", gres=path),
        "slurm conf": lambda path: site_of(fs.read_slurm_conf(path)),
        "slurm accounts": lambda path: site_of(fs.read_slurm_conf(scene / "slurm.conf", [path])),
        "slurm requests": read_slurm_requests,
    }


def _late(*_: object) -> None:
    raise TimeoutError("out of time")


def _read(points: dict[str, Any], name: str, path: str) -> tuple[str, float, str]:
    from faultsim.errors import FaultsimError

    begin = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, 12 * SECONDS)  # whoever waits uses no processor
    try:
        points[name](path)
        outcome, said = "ok", ""
    except FaultsimError as error:
        outcome, said = "told", str(error)
    except BaseException as error:
        outcome, said = type(error).__name__, str(error)[:500]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return outcome, round(time.process_time() - begin, 3), said


def main() -> None:
    """Answer each line."""
    points = entry_points()
    # What readers import when they need it: where memory is out, a library cannot be mapped any more.
    for module in ("xml.parsers.expat", "tomllib", "sqlite3", "bz2", "lzma", "zipfile", "csv"):
        importlib.import_module(module)
    warnings.simplefilter("error")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, _late)
    for line in sys.stdin:
        name, path = json.loads(line)
        print(json.dumps(_read(points, name, path)), flush=True)


if __name__ == "__main__":
    main()
