"""Queue orders compiled elsewhere, by every way to a C function; and those written in Python at the same speed."""

import ctypes
import importlib
import os
import pickle
import shlex
import subprocess
import sys
import sysconfig

import numpy as np
import pytest
from scipy import LowLevelCallable

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.policies.compiled import SIGNATURE
from helpers.engines import head_of

ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])
DOUBLES = ctypes.POINTER(ctypes.c_double)
ARGTYPES = [ctypes.c_int64, DOUBLES, DOUBLES, DOUBLES, ctypes.c_double, DOUBLES, ctypes.c_void_p]
KIND = ctypes.CFUNCTYPE(None, *ARGTYPES)
C = """
#include <math.h>
#include "faultsim/policy.h"

#if FAULTSIM_POLICY_VERSION != 1
#error "another contract"
#endif

void wfp3(int64_t n, const double *submit, const double *estimate, const double *size, double now, double *key,
          void *user_data)
{
    double power = user_data ? *(double *)user_data : 3.0;
    for (int64_t i = 0; i < n; i++)
        key[i] = -pow((now - submit[i]) / (estimate[i] > 1.0 ? estimate[i] : 1.0), power) * size[i];
}

faultsim_queue_keys_t checked = wfp3;
"""
CYTHON = """
# cython: language_level=3
from libc.math cimport pow
from libc.stdint cimport int64_t
from faultsim.policy cimport faultsim_queue_keys_t

cdef api void wfp3(int64_t n, const double *submit, const double *estimate, const double *size, double now,
                   double *key, void *user_data) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        key[i] = -pow((now - submit[i]) / (estimate[i] if estimate[i] > 1.0 else 1.0), 3.0) * size[i]

cdef api void other(int64_t n, const float *submit) noexcept nogil:
    pass

cdef faultsim_queue_keys_t checked = wfp3
"""
SETUP = """
import faultsim
from Cython.Build import cythonize
from setuptools import Extension, setup

setup(name="orders_outside", ext_modules=cythonize(
    [Extension("orders_outside", ["orders_outside.pyx"], include_dirs=[faultsim.get_include()],
               extra_compile_args=["-O0"])], include_path=[faultsim.get_include()]))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The C source as a library, compiled by the compiler of this Python."""
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "order.c").write_text(C, encoding="utf-8")
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    command = [*compiler, "-O1", "-shared", "-fPIC", "-I", fs.get_include(), "-o", "order.so", "order.c", "-lm"]
    try:
        subprocess.run(command, cwd=folder, check=True)
    except FileNotFoundError:
        pytest.skip(f"no C compiler {compiler[0]}")
    return ctypes.CDLL(str(folder / "order.so"))


@pytest.fixture
def function(library):
    made = library.wfp3
    made.restype, made.argtypes = None, ARGTYPES
    return made


def starts(order, engine="core", jobs=400, data_dir=None):
    log = fs.synthetic.sdsc_like(jobs, rng=np.random.default_rng(5)) if data_dir is None else data_dir
    return fs.simulate(log, fs.Cluster(128), scheduler=fs.EasyBackfill(order=order), engine=engine).jobs["start"]


@ENGINES
def test_a_function_of_ctypes(function, engine):
    np.testing.assert_array_equal(starts(fs.CompiledOrder(function), engine), starts(fs.Wfp3(), engine))


@ENGINES
def test_a_low_level_callable_with_data_of_its_own(function, engine):
    power = ctypes.c_double(1.0)
    data = ctypes.cast(ctypes.byref(power), ctypes.c_void_p)
    order = fs.CompiledOrder(LowLevelCallable(function, data))
    same = starts("-(wait / max(estimate, 1)) * size", engine)
    np.testing.assert_array_equal(starts(order, engine), same)
    np.testing.assert_array_equal(starts(fs.CompiledOrder(LowLevelCallable(function)), engine), starts("wfp3", engine))


def test_a_capsule_of_cython(tmp_path, monkeypatch):
    (tmp_path / "orders_outside.pyx").write_text(CYTHON, encoding="utf-8")
    (tmp_path / "setup.py").write_text(SETUP, encoding="utf-8")
    subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=tmp_path, check=True)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("orders_outside")
    np.testing.assert_array_equal(starts(fs.CompiledOrder(module.__pyx_capi__["wfp3"])), starts("wfp3"))
    callable_ = LowLevelCallable.from_cython(module, "wfp3")
    np.testing.assert_array_equal(starts(fs.CompiledOrder(callable_)), starts("wfp3"))
    with pytest.raises(OptionError, match="it takes 2 parameters, not 7"):
        fs.CompiledOrder(module.__pyx_capi__["other"])


@ENGINES
def test_a_cfunc_of_numba(engine):
    numba = pytest.importorskip("numba")
    pointer, number = numba.types.CPointer(numba.types.float64), numba.types.float64
    head = (numba.types.int64, pointer, pointer, pointer, number, pointer)

    @numba.cfunc(numba.types.void(*head, numba.types.voidptr))
    def areas(n, submit, estimate, size, now, key, user_data):
        for i in range(n):
            key[i] = estimate[i] * size[i]

    np.testing.assert_array_equal(starts(fs.CompiledOrder(areas), engine), starts("estimate * size", engine))

    @numba.cfunc(numba.types.void(*head))
    def short(n, submit, estimate, size, now, key):
        key[0] = 0.0

    with pytest.raises(OptionError, match="it takes 6 parameters, not 7"):
        fs.CompiledOrder(short)


@ENGINES
def test_a_function_of_cffi(function, engine):
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()
    address = ctypes.cast(function, ctypes.c_void_p).value
    found = ffi.cast(SIGNATURE.replace("(", "(*)(", 1), address)
    np.testing.assert_array_equal(starts(fs.CompiledOrder(found), engine), starts("wfp3", engine))
    with pytest.raises(OptionError, match="parameter 2, submit, is float \\*, not double \\*"):
        fs.CompiledOrder(ffi.cast("void(*)(int64_t, float *, double *, double *, double, double *, void *)", address))
    with pytest.raises(OptionError, match=r"a compiled order needs a scipy.LowLevelCallable, .*, got <cdata 'int"):
        fs.CompiledOrder(ffi.new("int *"))


def capsule(name):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(1, name, None)


KEPT = [
    b"void(int64_t, double *, double *, double *, double, double *, void *)",
    b"void (*)(int64_t n, const double *submit, double const *estimate, const double *size, double now, double *key, "
    b"void *user_data)",
    b"void (long long n, const double *, const double *, const double *, double x, double * restrict key, void *)",
    b"void (int64_t, double const *, double const *, double const *, double, double *, void *) nogil",
]


@pytest.mark.parametrize("name", KEPT)
def test_signatures_that_are_the_same(name):
    assert fs.CompiledOrder(capsule(name)).address == 1


def changed(at, kind, result=None):
    return ctypes.CFUNCTYPE(result, *ARGTYPES[:at], kind, *ARGTYPES[at + 1 :])(lambda *_: 0)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: capsule(b"int (int64_t, double *, double *, double *, double, double *, void *)"), "returns int, not"),
        (lambda: capsule(b"void (int, double *, double *, double *, double, double *, void *)"),
         "parameter 1, n, is int, not int64_t"),
        (lambda: capsule(b"void (int64_t, double *, double *, double *, float, double *, void *)"),
         "parameter 5, now, is float, not double"),
        (lambda: capsule(b"void (int64_t, double *)"), "it takes 2 parameters, not 7"),
        (lambda: capsule(b"faultsim.something"), "'faultsim.something'"),
        (lambda: capsule(None), "the PyCapsule has no name; its name must be its signature: void"),
        (lambda: changed(0, ctypes.c_int), "parameter 1, n, is c_int, not int64_t"),
        (lambda: changed(0, ctypes.c_uint64), "parameter 1, n, is c_ulong, not int64_t"),
        (lambda: changed(1, ctypes.POINTER(ctypes.c_float)), r"parameter 2, submit, is float \*, not double \*"),
        (lambda: changed(5, ctypes.c_void_p), r"parameter 6, key, is void \*, not double \*"),
        (lambda: changed(6, ctypes.c_void_p, ctypes.c_int), "it returns c_int, not void"),
        (lambda: ctypes.CDLL(None).abs, "the function of ctypes has no argtypes; they must be those of void"),
        (lambda: KIND(0), "the function of ctypes is a null pointer"),
        (lambda: print, "a compiled order needs a scipy.LowLevelCallable, a numba cfunc, .* got <built-in function pr"),
        (lambda: None, "got None"),
        (lambda: 140000000, "got 140000000"),
    ],
)  # fmt: skip
def test_another_signature_is_told_and_not_called(made, said):
    with pytest.raises(OptionError, match=said) as error:
        fs.CompiledOrder(made())
    assert "\n" not in str(error.value)


LOG = fs.Workload(submit=[3, 4, 4, 4], runtime=[10, 5, 5, 5], size=[2, 2, 1, 2])


@ENGINES
def test_keys_that_are_not_written_or_no_numbers(engine):
    @KIND
    def first_only(n, submit, estimate, size, now, key, user_data):
        key[0] = 1.0

    with pytest.raises(OptionError, match=r"CompiledOrder\.keys returned NaN for job 2 at time 13"):
        fs.simulate(LOG, fs.Cluster(2), scheduler=fs.Fcfs(fs.CompiledOrder(first_only)), engine=engine)


def test_many_on_threads_and_copies(function):
    log = fs.synthetic.sdsc_like(300, rng=np.random.default_rng(5))
    order = fs.CompiledOrder(function)
    runs = [fs.Run(log, fs.Cluster(128), scheduler=scheduler(order)) for scheduler in (fs.Fcfs, fs.EasyBackfill)]
    assert not any(run.has_python for run in runs)
    for run, result in zip(runs * 4, fs.simulate_many(runs * 4, threads=3), strict=True):
        same = run.with_options(scheduler=type(run.scheduler)("wfp3")).simulate()
        np.testing.assert_array_equal(result.jobs["start"], same.jobs["start"])
    one = fs.Simulation(log, fs.Cluster(128), scheduler=fs.EasyBackfill(order))
    one.run(until=float(log.submit[150]))
    two = one.copy()
    one.run()
    del one
    two.run()
    np.testing.assert_array_equal(two.result().jobs["start"], runs[1].simulate().jobs["start"])


def test_saved_results_and_sweeps_say_what_they_need(function, tmp_path):
    order = fs.CompiledOrder(function, version="1")
    result = fs.simulate(LOG, fs.Cluster(2), scheduler=fs.Fcfs(order))
    kept = result.provenance["settings"]["scheduler"]["order"]
    assert (kept["name"], kept["class"]) == ("compiled", "faultsim.policies.compiled.CompiledOrder")
    np.testing.assert_array_equal(fs.rerun(result).jobs["start"], result.jobs["start"])
    result.save(tmp_path / "run.npz")
    with pytest.raises(OptionError, match=r"used an order compiled elsewhere .* not saved; pass it again"):
        fs.rerun(fs.load_result(tmp_path / "run.npz"))
    base = {"log": LOG, "machine": fs.Cluster(2)}
    assert fs.Sweep({**base, "scheduler": fs.Fcfs(order)}).run(tmp_path / "a.db")["mean_wait"].shape == (1,)
    with pytest.raises(OptionError, match=r'give CompiledOrder\(\.\.\., version="..."\)'):
        fs.Sweep({**base, "scheduler": fs.Fcfs(fs.CompiledOrder(function))}).run(tmp_path / "a.db")
    with pytest.raises(pickle.PicklingError, match="is an address in this process: run on threads, give its name as"):
        pickle.dumps(order)
    with pytest.raises(fs.WorkerError, match="is an address in this process: run on threads"):
        fs.Sweep({**base, "scheduler": fs.Fcfs(fs.CompiledOrder(function, version="2"))}).run(
            tmp_path / "a.db", executor="processes", workers=1
        )
    with pytest.raises(OptionError, match="version of a compiled order must be text, got 3"):
        fs.CompiledOrder(function, version=3)


# -- orders written in Python


class Watching(fs.QueueOrder):
    """Notes what it sees; answers with its own mixture of types."""

    def __init__(self, kind=np.float64):
        self.seen, self.kind = [], kind

    def keys(self, queue, now):
        columns = [getattr(queue, name).tolist() for name in ("index", "submit", "estimate", "size", "restarts")]
        self.seen.append((now, *columns))
        key = (queue.size % 3 - queue.restarts).astype(self.kind)
        return key.tolist() if self.kind is object else key


FAILING = fs.FailureTrace(time=np.arange(5, 400, 7), node=np.arange(57) * 5 % 16, downtime=np.full(57, 3.0))


def busy_log(seed):
    rng = np.random.default_rng(seed)
    submit = np.sort(rng.integers(0, 200, 60)).astype(float)
    return fs.Workload(submit=submit, runtime=rng.integers(0, 30, 60), size=rng.integers(1, 20, 60))


@pytest.mark.parametrize("scheduler", [fs.Fcfs, fs.EasyBackfill, fs.ConservativeBackfill])
@pytest.mark.parametrize("place", ["arrival", "tail"])
def test_both_engines_show_an_order_the_same(scheduler, place):
    for seed in range(10):
        seen = []
        for engine in ("core", "reference"):
            order = Watching()
            fs.simulate(
                busy_log(seed), fs.Cluster(16), scheduler=scheduler(order=order), failures=FAILING,
                recovery=fs.Requeue(place=place), oversized="drop", engine=engine,
            )  # fmt: skip
            seen.append(order.seen)
        assert seen[0] == seen[1]
        assert any(max(row[5]) for row in seen[0]) or seed


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32, np.uint8, np.dtype(">f8"), object])
def test_numbers_of_any_kind_are_keys(kind):
    def run(order):
        return fs.simulate(busy_log(3), fs.Cluster(16), scheduler=fs.Fcfs(order), oversized="drop").jobs["start"]

    np.testing.assert_array_equal(run(Watching(kind)), run("size - 3 * ((size > 2) + (size > 5) + (size > 8) + "
                                  "(size > 11) + (size > 14))"))  # fmt: skip


def test_nobody_is_asked_where_nobody_could_start():
    log = fs.Workload(submit=[0, 1, 2, 3], runtime=[100, 5, 5, 5], size=[3, 2, 3, 4])
    for engine in ("core", "reference"):
        order = Watching()
        fs.simulate(log, fs.Cluster(4), scheduler=fs.EasyBackfill(order=order), engine=engine)
        assert [row[0] for row in order.seen] == [0.0, 100.0, 105.0, 110.0]


def test_what_it_was_shown_can_be_kept():
    kept = []

    class Keeping(fs.QueueOrder):
        def keys(self, queue, now):
            kept.append(queue)
            return queue.estimate

    fs.simulate(busy_log(1), fs.Cluster(20), scheduler=fs.Fcfs(Keeping()))
    for queue in kept:
        assert len(queue) == len(queue.index) == len(queue.submit)
        assert (np.diff(queue.index) > 0).all()
        assert queue.size is queue.size


@ENGINES
def test_a_placement_sees_the_row_that_the_user_gave(engine):
    rows = []

    class First(fs.Placement):
        def choose(self, job, candidates, state):
            rows.append(job.index)
            return 0

    log = fs.Workload(submit=[0, 1, 2], runtime=[5, 5, 5], size=[9, 2, 2])
    fs.simulate(log, fs.Torus(2, 2, 2), placement=First(), oversized="drop", engine=engine)
    assert set(rows) == {1, 2}


def test_on_a_real_log(function, data_dir):
    log = head_of(data_dir, "SDSC-SP2-1998-4.2-cln", 5000)
    np.testing.assert_array_equal(starts(fs.CompiledOrder(function), data_dir=log), starts("wfp3", data_dir=log))


def by(compute):
    """A function of ctypes whose key is that of `compute(submit, estimate, size, now, i, n)`."""

    @KIND
    def function(n, submit, estimate, size, now, key, user_data):
        for i in range(n):
            key[i] = compute(submit[i], estimate[i], size[i], now, i, n)

    return function


SHORTEST = by(lambda submit, estimate, size, now, i, n: estimate)


@ENGINES
@pytest.mark.parametrize("scheduler", [fs.Fcfs, fs.EasyBackfill, fs.ConservativeBackfill])
def test_static_orders_sort_as_the_built_in_one(engine, scheduler):
    log = fs.synthetic.lublin(120, rng=3)
    failures = fs.synthetic.exponential_failures(128, 4e5, 3e6, downtime=600.0, rng=2)
    for options in ({}, {"failures": failures}, {"failures": failures, "recovery": fs.Requeue(place="tail")}):
        expected = fs.simulate(log, fs.Cluster(128), scheduler=scheduler(order="shortest"), engine=engine, **options)
        order = fs.CompiledOrder(SHORTEST, static=True)
        result = fs.simulate(log, fs.Cluster(128), scheduler=scheduler(order=order), engine=engine, **options)
        assert np.array_equal(result.jobs["start"], expected.jobs["start"])


def test_static_orders_in_copies_rollouts_and_live_simulations():
    log = fs.synthetic.lublin(150, rng=4)
    order = fs.CompiledOrder(SHORTEST, static=True)
    expected = fs.simulate(log, fs.Cluster(128), scheduler=fs.EasyBackfill(order="shortest")).jobs["start"]
    sim = fs.Simulation(log, fs.Cluster(128), scheduler=fs.EasyBackfill(order=order))
    sim.run(until=float(log.submit[70]))
    fork = sim.copy()
    del sim
    fork.run()
    assert np.array_equal(fork.result().jobs["start"], expected)
    outside = fs.Simulation(log, fs.Cluster(128), scheduler=fs.External())
    assert np.array_equal(outside.rollout(fs.EasyBackfill(order=order)).jobs["start"], expected)
    live = fs.Simulation(log[:50], fs.Cluster(128), scheduler=fs.EasyBackfill(order=order), live=len(log))
    live.submit(log[50:])
    live.run()
    assert np.array_equal(live.result().jobs["start"], expected)


@ENGINES
@pytest.mark.parametrize(
    ("compute", "words"),
    [
        (lambda submit, estimate, size, now, i, n: now - submit, "the key of job 0 is 0 at 5 s and 3602 at 3607 s"),
        (lambda submit, estimate, size, now, i, n: i, "make it without static=True"),
        (lambda submit, estimate, size, now, i, n: np.nan if size > 1 else 0, "returned NaN for job 1 at time 6"),
    ],
)
def test_a_static_order_that_is_none_is_refused(engine, compute, words):
    log = fs.Workload(submit=[5, 6, 7], runtime=[9, 8, 7], size=[1, 2, 1])
    order = fs.CompiledOrder(by(compute), static=True)
    with pytest.raises(OptionError, match=words):
        fs.simulate(log, fs.Cluster(2), scheduler=fs.Fcfs(order), engine=engine)


def test_static_is_part_of_a_name_that_is_pickled(tmp_path, monkeypatch):
    (tmp_path / "an_order_by_size.py").write_text(
        "import ctypes\n"
        "d = ctypes.POINTER(ctypes.c_double)\n"
        "@ctypes.CFUNCTYPE(None, ctypes.c_int64, d, d, d, ctypes.c_double, d, ctypes.c_void_p)\n"
        "def largest(n, submit, estimate, size, now, key, user_data):\n"
        "    for i in range(n):\n"
        "        key[i] = -size[i]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for static in (True, False):
        order = pickle.loads(pickle.dumps(fs.CompiledOrder("an_order_by_size:largest", version="1", static=static)))
        assert (order.static, order.version) == (static, "1")
    with pytest.raises(OptionError, match="static must be True or False"):
        fs.CompiledOrder(SHORTEST, static="yes")
