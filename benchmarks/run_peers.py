"""Measure other simulators on the log and the question of faultsim, and write a section of RESULTS.md.

    python benchmarks/run_peers.py FOLDER [--accasim PYTHON] [--python2 PYTHON] [--java-classes FOLDER] [--dry]

FOLDER has checkouts of those that are not on PyPI: pyss/src, cqsim/src, alea/Alea; those that are absent are left out.
PYTHON of --accasim is an environment with ``pip install accasim`` (Python 3.9 or older), that of --python2 for pyss.
Alea is compiled first: ``javac -cp lib/simjava.jar:lib/gridsim.jar -d CLASSES $(find src -name '*.java')``.

All get the same file, SDSC-SP2 in the Standard Workload Format: run times of at least 1 s, requested times of at least
the run times, so that no simulator ends a job early. The time is that of the whole process, reading and writing
included, in CPU seconds: other work on the machine disturbs it little. The mean wait is computed from what each writes.
"""

import argparse
import datetime
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from results import table, write_section

import faultsim as fs

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("FAULTSIM_DATA") or ROOT.parent / "shared" / "data")
LOG = "SDSC-SP2-1998-4.2-cln.swf.gz"
NODES = 128
LONGEST = 1800  # seconds

Found = tuple[float, "float | None"]  # CPU seconds, mean wait in hours

ACCASIM = """
import sys
from accasim.base.simulator_class import Simulator
from accasim.base.scheduler_class import EASYBackfilling
from accasim.base.allocator_class import FirstFit
Simulator(sys.argv[1], sys.argv[2], EASYBackfilling(FirstFit()), scheduling_output=True, statistics_output=False,
          show_statistics=False, RESULTS_FOLDER_NAME=sys.argv[3]).start_simulation()
"""
ACCASIM_MACHINE = (
    f'{{"groups": {{"g0": {{"core": 1}}}}, "resources": {{"g0": {NODES}}}, '
    '"equivalence": {"processor": {"core": 1}}, "start_time": 0}'
)
OWN = """
import sys
import faultsim as fs
log = fs.read_swf(sys.argv[1])
fs.simulate(log, fs.Cluster(128)).write_csv(sys.argv[2])
"""


def write_log(path: Path) -> fs.Workload:
    """The log that all read."""
    log = fs.read_swf(DATA / "swf" / LOG)
    submit = (log.submit - log.submit[0]).astype(int)
    runtime = np.maximum(log.runtime, 1).astype(int)
    requested = np.maximum(np.ceil(log.requested).astype(int), runtime)
    rows = (
        f"{i + 1} {s} -1 {r} {n} -1 -1 {n} {q} -1 1 {max(u, 0)} 1 1 1 1 -1 -1"
        for i, (s, r, n, q, u) in enumerate(zip(submit, runtime, log.size, requested, log.user, strict=True))
    )
    head = f"; Version: 2.2\n; MaxJobs: {len(log)}\n; MaxNodes: {NODES}\n; MaxProcs: {NODES}\n; UnixStartTime: 0\n"
    path.write_text(head + "\n".join(rows) + "\n", encoding="ascii")
    return fs.read_swf(path)


def cpu(command: Sequence[str | os.PathLike[str]], where: Path) -> float:
    """CPU seconds of a process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = where / "out.txt"
    with open(out, "w", encoding="utf-8") as file:
        subprocess.run(command, cwd=where, stdout=file, stderr=subprocess.STDOUT, timeout=LONGEST, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def own(log: Path, where: Path) -> Found:
    environment = [sys.executable, "-c", OWN, log, where / "jobs.csv"]
    taken = cpu(environment, where)
    return taken, float(fs.simulate(fs.read_swf(log), fs.Cluster(NODES)).metrics["mean_wait"]) / 3600


def pyss(log: Path, where: Path, checkout: Path, python: str) -> Found:
    shutil.copytree(checkout / "pyss" / "src", where / "src")
    run = [python, "-O", "run_simulator.py", "--num-processors", str(NODES), "--input-file", log]
    return cpu([*run, "--scheduler", "EasyBackfillScheduler"], where / "src"), None  # it prints the wait of a part


def accasim(log: Path, where: Path, python: str) -> Found:
    (where / "machine.json").write_text(ACCASIM_MACHINE, encoding="ascii")
    taken = cpu([python, "-c", ACCASIM, log, where / "machine.json", where / "results"], where)
    waits = []
    for line in (where / "results" / f"sched-{log.name}").read_text(encoding="ascii").splitlines():
        ends = line.split("__")
        begin, queued = ends[2].split(";")[0], ends[0].split(";")[2]
        waits.append((datetime.datetime.fromisoformat(begin) - datetime.datetime.fromisoformat(queued)).total_seconds())
    return taken, float(np.mean(waits)) / 3600


def cqsim(log: Path, where: Path, checkout: Path) -> Found:
    shutil.copytree(checkout / "cqsim" / "src", where / "src")
    for folder in ("InputFiles", "Results", "Fmt", "Debug"):
        (where / "data" / folder).mkdir(parents=True)
    shutil.copy(log, where / "data" / "InputFiles")
    path = where / "src" / "cqsim_path.py"
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("path_cqsim")]
    path.write_text("\n".join([lines[0], f"path_cqsim = {f'{where}/'!r}", *lines[1:]]) + "\n", encoding="utf-8")
    run = [sys.executable, "cqsim.py", "-j", log.name, "-n", log.name, "-R", "1000000", "-b", "1", "-w", "0"]
    taken = cpu(run, where / "src")
    rows = (where / "data" / "Results" / f"{log.stem}.rst").read_text(encoding="ascii").splitlines()
    return taken, float(np.mean([float(row.split(";")[5]) for row in rows])) / 3600


def alea(log: Path, where: Path, checkout: Path, classes: Path) -> Found:
    there = checkout / "alea" / "Alea"
    jobs = [line for line in log.read_text(encoding="ascii").splitlines() if not line.startswith(";")]
    (where / "data-set").mkdir()
    (where / "data-set" / "log.swf").write_text("\n".join(line.replace(" ", "\t") for line in ["0;", *jobs]) + "\n")
    (where / "data-set" / "log.swf.machines").write_text(f"0\tone\t{NODES}\t1\t1\t1000000000\n")
    given = {
        "data_sets": "log.swf",
        "data_set_dir": "./data-set",
        "total_gridlet": str(len(jobs)),
        "first_arrival": "0",
        "skip": "1",
        "algorithms": "2",
        "use_RAM": "false",
        "estimate": "true",
    }
    lines = (there / "configuration.properties").read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if line.partition("=")[0].strip() not in given]
    lines += [f"{name}={value}" for name, value in given.items()]
    (where / "configuration.properties").write_text("\n".join(lines) + "\n", encoding="utf-8")
    shutil.copy(there / "configurationDefaults.properties", where)
    jars = [there / "lib" / name for name in ("simjava.jar", "gridsim.jar")]
    path = os.pathsep.join(map(str, [classes, *jars]))
    taken = cpu(["java", "-Djava.awt.headless=true", "-cp", path, "xklusac.environment.ExperimentSetup"], where)
    (found,) = where.glob("results/*/Results(*.csv")
    head, row = (line.split("\t") for line in found.read_text(encoding="utf-8").splitlines()[:2])
    return taken, float(row[head.index("wait")].replace(",", ".")) / 3600


def commit(checkout: Path) -> str:
    """Date and short name of the commit, as its file COMMIT says, for a checkout without history."""
    file = checkout / "COMMIT"
    return file.read_text(encoding="utf-8").strip() if file.exists() else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="checkouts, each with a file COMMIT that says which")
    parser.add_argument("--accasim", metavar="PYTHON", default="")
    parser.add_argument("--python2", metavar="PYTHON", default="")
    parser.add_argument("--java-classes", metavar="FOLDER", type=Path)
    parser.add_argument("--dry", action="store_true", help="print only")
    args = parser.parse_args()
    folder = args.folder.resolve()
    runs: dict[str, tuple[str, Callable[[Path, Path], Found]]] = {
        "faultsim": (f"{fs.__version__}", own),
    }
    args.accasim, args.python2 = (os.path.abspath(one) if "/" in one else one for one in (args.accasim, args.python2))
    if args.accasim:
        show = [args.accasim, "-c", "from importlib.metadata import version; print(version('accasim'))"]
        version = subprocess.run(show, capture_output=True, text=True, check=True).stdout.strip()
        runs["AccaSim"] = (version, lambda log, where: accasim(log, where, args.accasim))
    if args.python2 and (folder / "pyss").exists():
        runs["pyss"] = (commit(folder / "pyss"), lambda log, where: pyss(log, where, folder, args.python2))
    if (folder / "cqsim").exists():
        runs["CQSim"] = (commit(folder / "cqsim"), lambda log, where: cqsim(log, where, folder))
    if args.java_classes and (folder / "alea").exists():
        classes = args.java_classes.resolve()
        runs["Alea"] = (commit(folder / "alea"), lambda log, where: alea(log, where, folder, classes))
    rows: list[dict[str, object]] = []
    for name, (version, run) in runs.items():
        with tempfile.TemporaryDirectory() as scratch:
            log = Path(scratch) / "log.swf"
            jobs = len(write_log(log))
            where = Path(scratch) / "run"
            where.mkdir()
            taken, wait = run(log, where)
        rows.append({"simulator": name, "version": version, "CPU, s": taken, "mean wait, h": wait})
        print(rows[-1], flush=True)
    body = (
        f"EASY backfilling of the {jobs:,} jobs of SDSC-SP2 on {NODES} nodes, on {datetime.date.today().isoformat()}: "
        "CPU seconds of the\nwhole process, with start, reading the log and writing the schedule, and the mean wait of "
        "all jobs where what is\nwritten has it. Tie-breaking and details of the rule differ between simulators, so "
        "that waits differ a little.\n\n" + table(rows)
    )
    print(body)
    if not args.dry:
        write_section("peers", "Other simulators", body)


if __name__ == "__main__":
    main()
