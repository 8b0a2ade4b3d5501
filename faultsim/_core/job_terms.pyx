"""What metrics of jobs add up, all in one pass; the sums are NumPy's, which adds in pairs.

The metrics themselves, computed column by column, are faultsim/results/metrics.py.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t

import numpy as np

from faultsim._core.arrays cimport memory_of

cdef enum:
    N_USUAL = 5     # rows that every run has
    N_TERM_COLUMNS = 12

cdef int[N_TERM_COLUMNS] ITEM_SIZES
ITEM_SIZES[:] = [8, 8, 8, 8, 4, 4, 1, 4, 8, 8, 8, 8]

#: Names of the columns, in the order in which `job_terms` takes them: float64, but int32 of `size`, `moves` and
#: `restarts`, and bool of `backfilled`.
COLUMNS = ("submit", "start", "finish", "runtime", "size", "moves", "backfilled", "restarts", "lost_work",
           "failure_wait", "restart_time", "checkpoint_time")  # fmt: skip


cdef struct term_columns_t:
    const double *submit
    const double *start
    const double *finish
    const double *runtime
    const int32_t *size
    const int32_t *moves
    const char *backfilled
    const int32_t *restarts         # the rest only if requested
    const double *lost_work
    const double *failure_wait
    const double *restart_time
    const double *checkpoint_time

cdef struct term_counts_t:
    Py_ssize_t ran      # jobs with a run time above 0
    Py_ssize_t moves
    Py_ssize_t backfilled
    Py_ssize_t restarted


cdef inline double at_least_10(double value) noexcept nogil:
    return 10.0 if value < 10.0 else value


cdef void usual_terms(term_columns_t *c, Py_ssize_t begin, Py_ssize_t n, double *out,
                      term_counts_t *counts) noexcept nogil:
    """Wait, response, bounded slowdown, slowdown of those that ran, requested node-seconds: a row of n each."""
    cdef Py_ssize_t i, job
    cdef double response, runtime
    for i in range(n):
        job = begin + i
        runtime = c.runtime[job]
        response = c.finish[job] - c.submit[job]
        out[i] = c.start[job] - c.submit[job]
        out[n + i] = response
        out[2 * n + i] = at_least_10(response) / at_least_10(runtime)
        if runtime > 0:
            out[3 * n + counts.ran] = response / runtime
            counts.ran += 1
        out[4 * n + i] = c.size[job] * runtime
        counts.moves += c.moves[job]
        counts.backfilled += c.backfilled[job]


cdef void failure_terms(term_columns_t *c, Py_ssize_t begin, Py_ssize_t n, double *out,
                        term_counts_t *counts) noexcept nogil:
    """Slowdown by failures, and work lost as a share of the run time."""
    cdef Py_ssize_t i, job
    cdef double lost, runtime
    for i in range(n):
        job = begin + i
        runtime = c.runtime[job]
        lost = c.lost_work[job] / c.size[job]
        out[i] = (lost + c.failure_wait[job] + c.restart_time[job]) / at_least_10(runtime)
        out[n + i] = lost / runtime if runtime > 0 else 0.0
        counts.restarted += c.restarts[job] != 0


cdef void checkpoint_terms(term_columns_t *c, Py_ssize_t begin, Py_ssize_t n, double *out) noexcept nogil:
    """Checkpoints as a share of the run time."""
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = c.checkpoint_time[begin + i] / c.runtime[begin + i] if c.runtime[begin + i] > 0 else 0.0


def job_terms(columns not None, Py_ssize_t begin, Py_ssize_t end, bint failures, bint checkpoints):
    """What metrics of the jobs begin..end - 1 are means and sums of.

    Parameters
    ----------
    columns : mapping of str to numpy.ndarray
        Those of `COLUMNS`, contiguous, of the same length; `restarts` and what follows it only if requested.
    begin, end : int
        Which jobs, at least one.
    failures, checkpoints : bool
        Whether the rows of these are wanted.

    Returns
    -------
    terms : numpy.ndarray, shape (5, 6, 7 or 8, end - begin)
        Rows: wait (s), response (s), bounded slowdown, slowdown of the first `ran`, size * run time (node-s); slowdown
        by failures, work lost as a share of the run time; checkpoints as a share of the run time.
    ran, moves, backfilled, restarted : int
        Jobs with a run time above 0, and the sums of the columns; of `restarts`, how many are not 0.

    Raises
    ------
    ValueError
        Columns of other lengths or types, or no such jobs.
    """
    cdef Py_buffer[N_TERM_COLUMNS] views
    cdef void **pointers
    cdef term_columns_t c
    cdef term_counts_t counts
    cdef Py_ssize_t jobs = len(columns["submit"]), n = end - begin
    cdef int got = 0, i, n_rows = N_USUAL
    cdef int wanted = N_TERM_COLUMNS if failures or checkpoints else 7
    if not 0 <= begin < end <= jobs:
        raise ValueError(f"jobs {begin}..{end} of {jobs}")
    n_rows += 2 * failures + checkpoints
    terms = np.empty((n_rows, n))
    cdef double *rows = <double *>memory_of(terms)
    pointers = <void **>&c
    counts.ran = counts.moves = counts.backfilled = counts.restarted = 0
    try:
        for i in range(wanted):
            PyObject_GetBuffer(columns[COLUMNS[i]], &views[i], PyBUF_SIMPLE)
            got = i + 1
            if views[i].len != jobs * ITEM_SIZES[i]:
                raise ValueError(f"column {COLUMNS[i]}: {views[i].len} bytes of {jobs} jobs")
            pointers[i] = views[i].buf
        usual_terms(&c, begin, n, rows, &counts)
        if failures:
            failure_terms(&c, begin, n, rows + N_USUAL * n, &counts)
        if checkpoints:
            checkpoint_terms(&c, begin, n, rows + (n_rows - 1) * n)
    finally:
        for i in range(got):
            PyBuffer_Release(&views[i])
    return terms, counts.ran, counts.moves, counts.backfilled, counts.restarted
