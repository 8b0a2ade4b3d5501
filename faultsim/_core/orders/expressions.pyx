# cython: cdivision=True
# 1/0 is infinite in an expression, also in a debug build.
"""Queue orders that are expressions: a program runs over batches of the queue's columns; the contract is in
expressions.pxd.

Every operation is one of IEEE doubles or a function of the C library, as in the reference engine, never one of NumPy's.
"""

from cpython.ref cimport PyObject
from libc.math cimport exp, fabs, log, log10, log2, pow, sqrt
from libc.stdint cimport int32_t
from libc.string cimport memset

import numpy as np

from faultsim._core.containers.memory cimport close_state, open_state, own_block, own_jobs
from faultsim._core.orders.by_entry cimport refuse_key
from faultsim._core.orders.by_slope cimport sort_by_slope
from faultsim._core.orders.sorting cimport entry_of, open_sorter, reorder, sorter_t
from faultsim._core.state cimport sim_t
from faultsim._core.status cimport OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.thresholds cimport thresholds

cdef struct key_order_t:
    program_t program
    program_t part[8]        # the program keeps their values
    int32_t n_parts
    bint live                # jobs may arrive after their columns were made
    sorter_t sorter
    double *slope            # per job; NULL: the order is none of by_slope.pxd
    PyObject *refused        # makes the exception for a key that is no number; the engine keeps it


cdef enum:
    MOST_DEGREE = 3          # of a power of `wait`, so that no score of by_slope.pyx leaves the range of a double


cdef inline void push_column(const program_t *p, const sim_t *s, int32_t which, const int32_t *job, int32_t count,
                             double *to) noexcept nogil:
    cdef const double *column
    cdef int32_t i
    if which == COL_SUBMIT:
        for i in range(count):
            to[i] = s.submit[job[i]]
    elif which == COL_ESTIMATE:
        for i in range(count):
            to[i] = s.estimate[job[i]]
    elif which == COL_SIZE:
        for i in range(count):
            to[i] = s.size[job[i]]
    elif which == COL_INDEX:
        for i in range(count):
            to[i] = job[i] if s.row == NULL else s.row[job[i]]
    elif which == COL_RESTARTS:
        for i in range(count):
            to[i] = s.restarts[job[i]]
    elif which == COL_WAIT:
        for i in range(count):
            to[i] = 1.0 if p.unit else s.now - s.submit[job[i]]
    elif which >= FURTHER:
        column = s.queue.column + (which - FURTHER) * s.queue.length
        for i in range(count):
            to[i] = column[job[i] if s.row == NULL else s.row[job[i]]]
    elif which >= N_COLUMNS:
        for i in range(count):
            to[i] = p.kept[which - N_COLUMNS][job[i]]
    else:
        for i in range(count):
            to[i] = s.now


cdef inline void apply_to_one(int32_t what, double *a, int32_t count) noexcept nogil:
    cdef int32_t i
    if what == OP_NEGATE:
        for i in range(count):
            a[i] = -a[i]
    elif what == OP_ABS:
        for i in range(count):
            a[i] = fabs(a[i])
    elif what == OP_SQRT:
        for i in range(count):
            a[i] = sqrt(a[i])
    elif what == OP_EXP:
        for i in range(count):
            a[i] = exp(a[i])
    elif what == OP_LOG:
        for i in range(count):
            a[i] = log(a[i])
    elif what == OP_LOG2:
        for i in range(count):
            a[i] = log2(a[i])
    else:
        for i in range(count):
            a[i] = log10(a[i])


cdef inline void apply_to_two(int32_t what, double *a, const double *b, int32_t count) noexcept nogil:
    cdef int32_t i
    if what == OP_ADD:
        for i in range(count):
            a[i] = a[i] + b[i]
    elif what == OP_SUBTRACT:
        for i in range(count):
            a[i] = a[i] - b[i]
    elif what == OP_MULTIPLY:
        for i in range(count):
            a[i] = a[i] * b[i]
    elif what == OP_DIVIDE:
        for i in range(count):
            a[i] = a[i] / b[i]
    elif what == OP_POWER:
        for i in range(count):
            a[i] = pow(a[i], b[i])
    elif what == OP_MIN:
        for i in range(count):
            a[i] = a[i] if a[i] < b[i] or a[i] != a[i] else b[i]
    elif what == OP_MAX:
        for i in range(count):
            a[i] = a[i] if a[i] > b[i] or a[i] != a[i] else b[i]
    elif what == OP_LESS:
        for i in range(count):
            a[i] = a[i] < b[i]
    elif what == OP_AT_MOST:
        for i in range(count):
            a[i] = a[i] <= b[i]
    elif what == OP_MORE:
        for i in range(count):
            a[i] = a[i] > b[i]
    elif what == OP_AT_LEAST:
        for i in range(count):
            a[i] = a[i] >= b[i]
    elif what == OP_EQUAL:
        for i in range(count):
            a[i] = a[i] == b[i]
    else:
        for i in range(count):
            a[i] = a[i] != b[i]


cdef void look(program_t *p, const double *a, int32_t count) noexcept nogil:
    """With bounds this wide, no wait from 1e-30 s to 1e18 s takes a part of a key out of the range of a double."""
    cdef int32_t i
    for i in range(count):
        if not 1e-60 < fabs(a[i]) < 1e60:
            p.strange = True


cdef void run_program(program_t *p, const sim_t *s, const int32_t *job, int32_t count) noexcept nogil:
    cdef double *top = p.stack       # behind the last value
    cdef const int32_t *code = p.code
    cdef const int32_t *end = p.code + 2 * p.n
    cdef const double *b
    cdef const double *c
    cdef double *a
    cdef double number
    cdef int32_t what, i
    while code != end:
        what = code[0]
        if what == OP_NUMBER:
            number = p.number[code[1]]
            for i in range(count):
                top[i] = number
            top += BATCH
        elif what == OP_COLUMN:
            push_column(p, s, code[1], job, count, top)
            top += BATCH
        elif what < OP_ADD:
            apply_to_one(what, top - BATCH, count)
        elif what < OP_WHERE:
            top -= BATCH
            apply_to_two(what, top - BATCH, top, count)
        else:
            top -= 2 * BATCH
            a, b, c = top - BATCH, top, top + BATCH
            for i in range(count):
                if a[i] == a[i]:
                    a[i] = b[i] if a[i] != 0.0 else c[i]
        if p.unit:
            look(p, top - BATCH, count)
        code += 2


cdef int sort(void *state, void *sim) noexcept nogil:
    cdef key_order_t *p = <key_order_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef const int32_t *job = &s.queue.job[s.queue.head]
    cdef int32_t n = s.queue.end - s.queue.head, at = 0, count, i, wrong = -1
    if s.order.slope_of != NULL and sort_by_slope(&p.sorter, s, p.slope):
        return OK
    while at < n:
        count = min(n - at, p.program.batch)
        if p.live:
            keep_parts(p, s, job + at, count)
        run_program(&p.program, s, job + at, count)
        for i in range(count):
            p.sorter.item[at].key = p.program.stack[i]
            p.sorter.item[at].entry = entry_of(s, job[at])
            p.sorter.item[at].job = job[at]
            if p.program.stack[i] != p.program.stack[i] and (
                    wrong < 0 or p.sorter.item[at].entry < p.sorter.item[wrong].entry):
                wrong = at
            at += 1
    if wrong >= 0:
        return refuse_key(s, p.refused, p.sorter.item[wrong].job)
    if n > 1:
        reorder(&p.sorter, s)
    return OK


cdef int check_program(
    const int32_t[:, ::1] code, Py_ssize_t numbers, Py_ssize_t kept, Py_ssize_t further, int depth
) except -1:
    """Programs come from faultsim.policies.expressions; a wrong one must not reach memory that is not there."""
    cdef int at = 0, i
    cdef Py_ssize_t most
    for i in range(code.shape[0]):
        if not 0 <= code[i, 0] < N_OPERATIONS:
            raise ValueError(f"queue_program: no operation {code[i, 0]}")
        most = numbers if code[i, 0] == OP_NUMBER else N_COLUMNS + kept if code[i, 0] == OP_COLUMN else 1
        if code[i, 0] == OP_COLUMN and code[i, 1] >= FURTHER:
            most = FURTHER + further
        if not 0 <= code[i, 1] < most:
            raise ValueError(f"queue_program: operation {code[i, 0]} has no argument {code[i, 1]}")
        at += 1 if code[i, 0] < OP_NEGATE else 0 if code[i, 0] < OP_ADD else -1 if code[i, 0] < OP_WHERE else -2
        if not 1 <= at <= depth:
            raise ValueError(f"queue_program: {at} values on a stack of {depth}")
    if at != 1:
        raise ValueError(f"queue_program: {at} values are left")
    return 0


cdef double[::1] every_value(program_t *p, const sim_t *s):
    """The values of all jobs at s.now."""
    cdef double[::1] value = np.empty(s.n)
    cdef int32_t job[BATCH]
    cdef int32_t at = 0, count, i
    while at < s.n:
        count = min(s.n - at, p.batch)
        for i in range(count):
            job[i] = at + i
        run_program(p, s, job, count)
        for i in range(count):
            value[at + i] = p.stack[i]
        at += count
    return value


cdef void keep_parts(key_order_t *p, const sim_t *s, const int32_t *job, int32_t count) noexcept nogil:
    """What does not change of at most BATCH jobs."""
    cdef int32_t i, k
    for k in range(p.n_parts):
        p.part[k].stack = p.program.stack
        run_program(&p.part[k], s, job, count)
        for i in range(count):
            p.program.kept[k][job[i]] = p.program.stack[i]


cdef int read_program(program_t *p, object program, int kept, Py_ssize_t further) except -1:
    cdef const int32_t[:, ::1] code = program.code
    cdef const double[::1] numbers = program.numbers
    p.depth, p.batch = program.depth, thresholds.program_batch
    check_program(code, numbers.shape[0], kept, further, p.depth)
    p.code, p.n = &code[0, 0], <int32_t>code.shape[0]
    if numbers.shape[0]:
        p.number = &numbers[0]
    return 0


cdef int set_program(key_order_t *p, sim_t *s, object program, object further) except -1:
    """`further` has the further columns of the log that the program names, with a number for each row."""
    cdef int32_t job[BATCH]
    cdef int32_t at = 0, count, i, depth
    cdef const double[:, ::1] named
    if further is not None:
        named = further
        s.queue.column, s.queue.length = &named[0, 0], named.shape[1]
        if named.shape[0] != len(program.further):
            raise ValueError(f"queue_columns: expected {len(program.further)}, got {named.shape[0]}")
    p.n_parts = <int32_t>min(len(program.kept), <int>MOST_KEPT)
    read_program(&p.program, program, p.n_parts, 0 if further is None else len(further))
    depth = p.program.depth
    for i in range(p.n_parts):
        read_program(&p.part[i], program.kept[i], 0, 0 if further is None else len(further))
        depth = max(depth, p.part[i].depth)
        own_jobs(p, &p.program.kept[i], s.n, sizeof(double))
    own_block(p, &p.program.stack, <size_t>depth * BATCH, sizeof(double))
    while at < s.n and p.n_parts:
        count = min(s.n - at, p.program.batch)
        for i in range(count):
            job[i] = at + i
        keep_parts(p, s, job, count)
        at += count
    return 0


cdef int set_keys(key_order_t *p, sim_t *s, dict columns) except -1:
    """Keys that never change: a column, by which jobs are entered."""
    cdef double[::1] key = every_value(&p.program, s)
    cdef int32_t i
    for i in range(s.known):
        if key[i] != key[i]:
            raise columns["queue_refused"](i if s.row == NULL else s.row[i], s.submit[i])
    columns["queue_key"] = np.asarray(key)
    s.queue.key = &key[0]
    return 0


cdef double key_of(const void *sim, int32_t job) noexcept nogil:
    cdef const sim_t *s = <const sim_t *>sim
    cdef key_order_t *p = <key_order_t *>s.order.state
    run_program(&p.program, s, &job, 1)
    return p.program.stack[0]


cdef double slope_of(const void *sim, int32_t job) noexcept nogil:
    return (<const key_order_t *>(<const sim_t *>sim).order.state).slope[job]


cdef int find_slopes(key_order_t *p, sim_t *s, double degree) except -1:
    """A key -c wait**d with c > 0, or c wait**-d, orders jobs as wait times c**(1/d) does, largest first."""
    cdef int32_t job[BATCH]
    cdef int32_t at = 0, count, i
    cdef double slope
    p.program.unit, p.program.strange = True, False
    own_jobs(p, &p.slope, s.n, sizeof(double))
    while at < s.n:
        count = min(s.n - at, p.program.batch)
        for i in range(count):
            job[i] = at + i
        run_program(&p.program, s, job, count)
        for i in range(count):
            slope = pow(-p.program.stack[i] if degree > 0.0 else p.program.stack[i], 1.0 / degree)
            p.slope[at + i] = slope
            if not 1e-60 < slope < 1e60:
                p.program.strange = True
        at += count
    p.program.unit = False
    if not p.program.strange:
        s.order.key_of, s.order.slope_of = key_of, slope_of
    return 0


def values(program, submit, estimate, size, index, restarts, double now, further=None):
    """What a program gives for jobs in these columns: of a key that never changes, for jobs that come later.

    `further` has the further columns that it names, by `index`.
    """
    cdef sim_t s
    cdef key_order_t *p
    cdef const double[::1] submits = submit, estimates = estimate
    cdef const int32_t[::1] sizes = size, kills = restarts, rows = index
    memset(&s, 0, sizeof(s))
    s.n, s.now, s.row = <int32_t>submits.shape[0], now, &rows[0]
    s.submit, s.estimate, s.size, s.restarts = &submits[0], &estimates[0], &sizes[0], <int32_t *>&kills[0]
    p = <key_order_t *>open_state(&s.order, sizeof(key_order_t))
    try:
        set_program(p, &s, program, further)
        return np.asarray(every_value(&p.program, &s))
    finally:
        close_state(p)


cdef int open_key(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef key_order_t *p = <key_order_t *>open_state(&s.order, sizeof(key_order_t))
    set_program(p, s, columns["queue_program"], columns.get("queue_columns"))
    if columns["queue_program"].static:
        return set_keys(p, s, columns)
    p.live = s.known < s.n
    p.refused = <PyObject *>columns["queue_refused"]
    open_sorter(p, &p.sorter, s.n)
    s.order.sort = sort
    degree = columns["queue_program"].degree
    if degree is not None and 0.5 <= abs(degree) <= <int>MOST_DEGREE and not p.live:
        find_slopes(p, s, degree)
    return 0


KEY = factory(open_key)
