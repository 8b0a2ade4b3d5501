"""Measure policies of one's own and write the section "Policies of one's own" of benchmarks/RESULTS.md.

    python benchmarks/run_policies.py [--only PART ...] [--dry]

The logs are those of FAULTSIM_DATA, or of ../shared/data beside the checkout.
"""

import ctypes
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from results import run_parts, table

import faultsim as fs

DATA = Path(os.environ.get("FAULTSIM_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "swf"
PACKAGE = Path(__file__).resolve().parents[1] / "tests" / "compiled_policies"
LOG = "SDSC-SP2-1998-4.2-cln"
ROUNDS = 7
HEAD = """
Milliseconds of the processor for one run, the best of several rounds in which all take turns. `of the built-in` is how
fast a policy is beside the built-in one of the same meaning in the same rounds: 1 is as fast.
"""
C = """
#include <math.h>
#include "faultsim/policy.h"
void wfp3(int64_t n, const double *submit, const double *estimate, const double *size, double now, double *key, void *u)
{
    for (int64_t i = 0; i < n; i++)
        key[i] = -pow((now - submit[i]) / (estimate[i] > 1.0 ? estimate[i] : 1.0), 3.0) * size[i];
}
"""


class Shortest(fs.QueueOrder):
    """The cheapest order in Python that there is: one column, handed back."""

    calls = jobs = 0

    def keys(self, queue, now):
        return queue.estimate


class Counting(Shortest):
    def keys(self, queue, now):
        self.calls += 1
        self.jobs += len(queue.index)
        return queue.estimate


def by_ctypes(folder):
    """WFP3 in C, compiled here; None without a compiler."""
    (folder / "wfp3.c").write_text(C, encoding="utf-8")
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    flags = ["-O3", "-shared", "-fPIC", "-I", fs.get_include(), "-o", "wfp3.so", "wfp3.c", "-lm"]
    try:
        subprocess.run([*compiler, *flags], cwd=folder, check=True)
    except FileNotFoundError:
        return None
    function = ctypes.CDLL(str(folder / "wfp3.so")).wfp3
    doubles = ctypes.POINTER(ctypes.c_double)
    function.restype = None
    function.argtypes = [ctypes.c_int64, doubles, doubles, doubles, ctypes.c_double, doubles, ctypes.c_void_p]
    return fs.CompiledOrder(function)


def by_numba():
    """WFP3 by numba; None without it."""
    try:
        from numba import cfunc, types
    except ImportError:
        return None
    column = types.CPointer(types.float64)

    @cfunc(types.void(types.int64, column, column, column, types.float64, column, types.voidptr))
    def wfp3(n, submit, estimate, size, now, key, user_data):
        for i in range(n):
            key[i] = -(((now - submit[i]) / max(estimate[i], 1.0)) ** 3.0) * size[i]

    return fs.CompiledOrder(wfp3)


def in_turns(policies, rounds=ROUNDS):
    """Least seconds of the processor by name, each run in every round; `policies`: an order, or options of a run."""
    log = fs.read_swf(DATA / f"{LOG}.swf.gz")
    log = log[log.size <= 128]
    best = dict.fromkeys(policies, float("inf"))
    for _ in range(rounds):
        for name, given in policies.items():
            options = {"scheduler": fs.EasyBackfill(order=given)} if isinstance(given, fs.QueueOrder) else dict(given)
            jobs, machine = options.pop("jobs", len(log)), options.pop("machine", fs.Cluster(128))
            run = fs.Run(log[:jobs], machine, **options)
            begin = time.process_time()
            run.simulate()
            best[name] = min(best[name], time.process_time() - begin)
    return best


def rows(beside, what="order", rounds=ROUNDS):
    """A row for each policy, by the built-in one that it stands beside."""
    best = in_turns({name: policy for name, (policy, _) in beside.items()}, rounds)
    return table(
        [
            {
                what: name,
                "ms": 1e3 * best[name],
                "of the built-in": best[built_in] / best[name] if built_in else None,
            }
            for name, (_, built_in) in beside.items()
        ]
    )


def expressions():
    """Keys, and functions compiled elsewhere."""
    beside = {"`Wfp3`": (fs.Wfp3(), ""), "`Unicef`": (fs.Unicef(), ""), "`ShortestFirst`": (fs.ShortestFirst(), "")}
    for name, built_in in (("wfp3", "`Wfp3`"), ("unicef", "`Unicef`"), ("sjf", "`ShortestFirst`")):
        beside[f"`Key.presets['{name}']`"] = (fs.Key(fs.Key.presets[name].text), built_in)
    beside["`f1`"] = (fs.Key(fs.Key.presets["f1"].text), "")
    with tempfile.TemporaryDirectory() as folder:
        for name, order in (("WFP3 in C", by_ctypes(Path(folder))), ("WFP3 by numba", by_numba())):
            if order is not None:
                beside[name] = (order, "`Wfp3`")
        return f"EASY with a queue order of its own on {LOG}", rows(beside)


def build_package(folder):
    """The package of tests/compiled_policies, compiled as any other, in a copy of its folder."""
    shutil.copytree(PACKAGE, folder / "package", ignore=shutil.ignore_patterns("*.so", "build"))
    env = {**os.environ, "PYTHONPATH": fs.get_include(), "OUTSIDE_CFLAGS": "-O3"}
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(command, cwd=folder / "package", env=env, check=True, stdout=sys.stderr)
    sys.path.insert(0, str(folder / "package"))


def package():
    """Schedulers and placements of a package of their own."""
    torus = {"machine": fs.Torus(4, 4, 8), "jobs": 5000}
    with tempfile.TemporaryDirectory() as folder:
        build_package(Path(folder))
        module, rules = "outside_policies.easy", "outside_policies.placements"
        easy, short, fcfs = (fs.CompiledScheduler(f"{module}:{name}") for name in ("easy", "short_easy", "fcfs"))
        lowest, roomiest = (fs.CompiledPlacement(f"{rules}:{name}") for name in ("first_fit", "roomiest"))
        beside = {
            "`EasyBackfill`": ({}, ""),
            "EASY in its package": ({"scheduler": easy}, "`EasyBackfill`"),
            "EASY in ten lines": ({"scheduler": short}, "`EasyBackfill`"),
            "`Fcfs`": ({"scheduler": fs.Fcfs()}, ""),
            "FCFS in its package": ({"scheduler": fcfs}, "`Fcfs`"),
            "`FirstFit`, nodes by number": ({"record": True}, ""),
            "first fit in its package": ({"record": True, "placement": lowest}, "`FirstFit`, nodes by number"),
            "`EasyBackfill`, torus": (torus, ""),
            "EASY in ten lines, torus": ({**torus, "scheduler": short}, "`EasyBackfill`, torus"),
            "`FirstFit`, torus": ({**torus, "placement": fs.FirstFit()}, ""),
            "first fit in its package, torus": ({**torus, "placement": lowest}, "`FirstFit`, torus"),
            "largest box left, in its package, torus": ({**torus, "placement": roomiest}, "`EasyBackfill`, torus"),
        }
        return f"Compiled in a package of its own, on {LOG} (torus: its first 5,000 jobs)", rows(beside, "policy", 15)


def python():
    """What a call of an order in Python costs besides what it computes."""
    counting = Counting()
    best = in_turns({"built-in": fs.ShortestFirst(), "Python": Shortest(), "counting": counting})
    calls, jobs = counting.calls / ROUNDS, counting.jobs / ROUNDS
    each = (best["Python"] - best["built-in"]) / calls
    row = {"calls": round(calls), "jobs a call": jobs / calls, "us a call, with all its jobs": 1e6 * each}
    return f"`return queue.estimate` on {LOG}", table([row])


if __name__ == "__main__":
    run_parts(
        "policies", "Policies of one's own", HEAD, {f.__name__: f for f in (expressions, package, python)}, __doc__
    )
