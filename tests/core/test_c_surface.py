"""`cimport faultsim` from outside: a small module is built against the package, as a user would, and run."""

import json
from pathlib import Path

import faultsim
from helpers import scripts

OUTSIDE = """
# cython: language_level=3, freethreading_compatible=True
cimport faultsim
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free

def drain(events):
    cdef faultsim.heap_t heap
    cdef faultsim.event_t event
    found = []
    assert faultsim.heap_init(&heap, 0) == 0
    for time, kind, serial in events:
        assert faultsim.heap_push(&heap, time, kind, serial) == 0
    while faultsim.heap_top(&heap) != NULL:
        faultsim.heap_pop(&heap, &event)
        found.append((event.time, event.kind, event.serial))
    faultsim.heap_free(&heap)
    return found

def fill(double[::1] values, int64_t[::1] weights, int64_t capacity, uint8_t[::1] taken):
    cdef faultsim.knapsack_t sack
    cdef double total
    faultsim.knapsack_init(&sack)
    cdef int status = faultsim.knapsack_solve(
        &sack, &values[0], &weights[0], values.shape[0], capacity, &taken[0], &total)
    faultsim.knapsack_free(&sack)
    assert status == 0
    return total

def largest_beside(int x, int y, int z, held):
    "The largest free box of a torus on which one box is held, and how many nodes are busy; finders asked."
    cdef faultsim.torus_t torus
    cdef faultsim.finder_t finder
    cdef faultsim.box_t box
    cdef int size, busy
    assert faultsim.torus_init(&torus, x, y, z, True) == 0
    assert faultsim.finder_init(&finder, &torus) == 0
    cdef uint64_t *occupancy = <uint64_t *> calloc(torus.words, sizeof(uint64_t))
    assert occupancy != NULL
    box.x, box.y, box.z, box.a, box.b, box.c = held
    with nogil:
        faultsim.occ_fill(&torus, occupancy, &box)
        size = faultsim.largest_free(&finder, occupancy, &box)
        busy = faultsim.occ_count(&torus, occupancy)
    assert size == faultsim.box_size(&box)

    # Every finder of the table says the same.
    cdef const faultsim.finder_row_t *row = faultsim.finder_row(0)
    cdef void *state
    cdef int rows = 0
    while row != NULL:
        state = row.open(&torus)
        assert state != NULL
        assert row.largest(state, occupancy, &box) == size, row.name
        row.close(state)
        rows += 1
        row = faultsim.finder_row(rows)
    free(occupancy)
    faultsim.finder_free(&finder)
    faultsim.torus_free(&torus)
    return size, busy, rows
"""

SETUP = """
import faultsim
from Cython.Build import cythonize
from setuptools import Extension, setup

setup(name="outside", ext_modules=cythonize(
    [Extension("outside", ["outside.pyx"], extra_compile_args=["-O0"])], include_path=[faultsim.get_include()]))
"""

RUN = """
import array, json, outside
taken = bytearray(3)
total = outside.fill(array.array("d", [60, 100, 120]), array.array("q", [10, 20, 30]), 50, taken)
print(json.dumps({
    "heap": outside.drain([(2.0, 0, 1), (1.0, 5, 3), (1.0, 0, 9)]),
    "knapsack": [list(taken), total],
    "torus": outside.largest_beside(4, 4, 8, (0, 0, 0, 1, 4, 8)),
}))
"""


def python(*arguments: str, cwd: Path) -> str:
    done = scripts.python(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_outside_module_builds_and_runs(tmp_path):
    (tmp_path / "outside.pyx").write_text(OUTSIDE, encoding="utf-8")
    (tmp_path / "setup.py").write_text(SETUP, encoding="utf-8")
    python("setup.py", "build_ext", "--inplace", "-q", cwd=tmp_path)
    answer = json.loads(python("-c", RUN, cwd=tmp_path).splitlines()[-1])
    assert answer["heap"] == [[1.0, 0, 9], [1.0, 5, 3], [2.0, 0, 1]]
    assert answer["knapsack"] == [[0, 1, 1], 220.0]
    assert answer["torus"] == [96, 32, len(faultsim.partition.ALGORITHMS)]


def test_include_folder_holds_the_headers():
    folder = Path(faultsim.get_include())
    assert (folder / "faultsim" / "__init__.pxd").is_file()
    assert (folder / "faultsim" / "_core" / "torus" / "occupancy.pxd").is_file()
