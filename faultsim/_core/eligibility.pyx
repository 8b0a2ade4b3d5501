"""When jobs become eligible; the contract is in eligibility.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.string cimport memcpy

import numpy as np

from faultsim._core.containers.event_queue cimport heap_push
from faultsim._core.containers.memory cimport open_state, own_block, own_jobs
from faultsim._core.inputs cimport input_column
from faultsim._core.state cimport EV_READY, FROM_WITHDRAWALS, JOB_DONE, JOB_FUTURE, source_next
from faultsim._core.status cimport NO_MEMORY, OK


cdef int open_eligibility(sim_t *s, object rows) except -1:
    cdef eligible_t *e = <eligible_t *>open_state(&s.eligibility, sizeof(eligible_t))
    cdef Py_ssize_t arrays = len(rows.most), groups = len(rows.group_first) - 1
    cdef int32_t i
    s.eligibility.on = True
    own_jobs(e, &e.eligible, s.n, sizeof(double))
    own_jobs(e, &e.entry, s.n, sizeof(int64_t))
    own_block(e, &e.ended, groups, sizeof(int64_t))
    own_block(e, &e.active, arrays, sizeof(int32_t))
    own_jobs(e, &e.has_slot, s.n, 1)
    own_block(e, &e.first_task, arrays, sizeof(int32_t))
    own_block(e, &e.last_task, arrays, sizeof(int32_t))
    own_jobs(e, &e.next_task, s.n, sizeof(int32_t))
    own_jobs(e, &e.missing, s.n, sizeof(int32_t))
    own_jobs(e, &e.ready, s.n, sizeof(double))
    own_jobs(e, &e.fate, s.n, 1)
    own_jobs(e, &e.begun, s.n, 1)
    own_jobs(e, &e.on_hold, s.n, 1)
    memcpy(e.eligible, s.submit, s.n * sizeof(double))
    e.submitted, s.submit = s.submit, e.eligible
    if s.queue.entry == NULL:            # else killed jobs go to the tail
        s.queue.entry, s.queue.keeps_entry, s.queue.next_entry = e.entry, True, s.n
        for i in range(s.n):             # of jobs that have arrived already
            e.entry[i] = i
    e.n_groups = <int32_t>groups
    for i in range(<int32_t>arrays):
        e.first_task[i] = -1
    return 0


cdef int point_to_conditions(sim_t *s, dict columns, object rows) except -1:
    cdef eligible_t *e = eligible_of(s)
    cdef const int64_t[::1] first = input_column(columns, rows.first, "first", np.int64, s.n + 1)
    cdef const double[::1] cancel = input_column(columns, rows.cancel, "cancel", np.float64, s.n)
    cdef const int32_t[::1] group = input_column(columns, rows.group, "group", np.int32, s.n)
    cdef const uint8_t[::1] single = input_column(columns, rows.single, "single", np.uint8, s.n)
    cdef const int32_t[::1] array = input_column(columns, rows.array, "array", np.int32, s.n)
    e.first, e.cancel, e.group, e.single, e.array = &first[0], &cancel[0], &group[0], &single[0], &array[0]
    return 0


cdef int set_conditions(sim_t *s, dict columns, object rows) except -1:
    """Point at the columns of `rows`, and count the conditions of each job."""
    cdef eligible_t *e = eligible_of(s)
    cdef Py_ssize_t n = len(rows.waiter), withdrawals
    cdef const int32_t[::1] waiter, member, most, withdrawal
    cdef const int64_t[::1] group_first
    cdef const int8_t[::1] kind
    cdef const double[::1] delay, begin
    cdef const int32_t[::1] unmet
    cdef int64_t i
    cdef int32_t job
    point_to_conditions(s, columns, rows)
    begin = input_column(columns, rows.begin, "begin", np.float64, s.n)
    if n > 0:
        waiter = input_column(columns, rows.waiter, "waiter", np.int32, n)
        kind = input_column(columns, rows.kind, "kind", np.int8, n)
        delay = input_column(columns, rows.delay, "delay", np.float64, n)
        e.waiter, e.kind, e.delay = &waiter[0], &kind[0], &delay[0]
    if e.n_groups > 0:
        group_first = input_column(columns, rows.group_first, "group_first", np.int64, e.n_groups + 1)
        member = input_column(columns, rows.member, "member", np.int32, len(rows.member))
        e.group_first, e.member = &group_first[0], &member[0]
    if len(rows.most) > 0:
        most = input_column(columns, rows.most, "most", np.int32, len(rows.most))
        e.most = &most[0]
    withdrawals = len(rows.withdrawal)
    if withdrawals > 0:
        withdrawal = input_column(columns, rows.withdrawal, "withdrawal", np.int32, withdrawals)
        e.withdrawal, e.n_withdrawals = &withdrawal[0], <int32_t>withdrawals
    for job in range(s.n):
        e.ready[job] = begin[job]
    for i in range(n):
        e.missing[waiter[i]] += 1
        e.of_begins = e.of_begins or kind[i] == AFTER_BEGIN
    for i in range(e.n_groups):
        for job in member[group_first[i] + 1:group_first[i + 1]]:
            e.missing[job] += e.single[job]
    unmet = input_column(columns, rows.unmet, "unmet", np.int32, len(rows.unmet))
    for i in range(len(unmet)):
        e.fate[unmet[i]] = UNMET
    return 0


cdef int open_conditions(sim_t *s, dict columns, object rows) except -1:
    open_eligibility(s, rows)
    return set_conditions(s, columns, rows)


cdef bint takes_slot(eligible_t *e, int32_t job) noexcept nogil:
    cdef int32_t array = e.array[job]
    if array < 0 or e.has_slot[job]:
        return True
    if e.active[array] < e.most[array]:
        e.active[array] += 1
        e.has_slot[job] = True
        return True
    e.next_task[job] = -1
    if e.first_task[array] < 0:
        e.first_task[array] = job
    else:
        e.next_task[e.last_task[array]] = job
    e.last_task[array] = job
    return False


cdef int is_eligible(sim_t *s, int32_t job) noexcept nogil:
    cdef eligible_t *e = eligible_of(s)
    cdef double t = s.now
    if e.fate[job] == NO_FATE:
        if e.missing[job] > 0:
            return 0
        if e.ready[job] <= s.now:
            return takes_slot(e, job)
        t = e.ready[job]
    return NO_MEMORY if heap_push(&s.heap, t, EV_READY, job) < 0 else 0


cdef inline int meet(sim_t *s, int32_t job, double t) noexcept nogil:
    """A condition of the job is met at `t`."""
    cdef eligible_t *e = eligible_of(s)
    if e.fate[job] != NO_FATE:
        return OK
    if t > e.ready[job]:
        e.ready[job] = t
    e.missing[job] -= 1
    if e.missing[job] == 0 and job < s.next_arrival:
        t = e.ready[job]
        return heap_push(&s.heap, t if t > s.now else s.now, EV_READY, job)
    return OK


cdef inline int fail(sim_t *s, int32_t job) noexcept nogil:
    """A condition of the job can never be met."""
    cdef eligible_t *e = eligible_of(s)
    if e.fate[job] != NO_FATE:
        return OK
    e.fate[job] = UNMET
    return heap_push(&s.heap, s.now, EV_READY, job) if job < s.next_arrival else OK


cdef int note_begin(sim_t *s, int32_t job) noexcept nogil:
    cdef eligible_t *e = eligible_of(s)
    cdef int64_t i
    if not e.of_begins or e.begun[job]:
        return OK
    e.begun[job] = True
    for i in range(e.first[job], e.first[job + 1]):
        if e.kind[i] == AFTER_BEGIN and meet(s, e.waiter[i], s.now + e.delay[i]) < 0:
            return NO_MEMORY
    return OK


cdef inline int free_slot(sim_t *s, int32_t job) noexcept nogil:
    """The next task of the array becomes eligible."""
    cdef eligible_t *e = eligible_of(s)
    cdef int32_t array = e.array[job], task
    if array < 0 or not e.has_slot[job]:
        return OK
    e.active[array] -= 1
    while e.first_task[array] >= 0:
        task = e.first_task[array]
        e.first_task[array] = e.next_task[task]
        if s.state[task] == JOB_FUTURE:      # not withdrawn
            e.active[array] += 1
            e.has_slot[task] = True
            return heap_push(&s.heap, s.now, EV_READY, task)
    return OK


cdef inline int pass_group(sim_t *s, int32_t group) noexcept nogil:
    """Members of which all earlier ones have ended."""
    cdef eligible_t *e = eligible_of(s)
    cdef int64_t first = e.group_first[group], count = e.group_first[group + 1] - first
    cdef int32_t job
    while e.ended[group] < count and s.state[e.member[first + e.ended[group]]] == JOB_DONE:
        e.ended[group] += 1
        if e.ended[group] < count:
            job = e.member[first + e.ended[group]]
            if e.single[job] and meet(s, job, s.now) < 0:
                return NO_MEMORY
    return OK


cdef int note_end(sim_t *s, int32_t job, bint ok) noexcept nogil:
    cdef eligible_t *e = eligible_of(s)
    cdef int64_t i
    cdef int kind, code
    for i in range(e.first[job], e.first[job + 1]):
        kind = e.kind[i]
        if kind == AFTER_BEGIN and e.begun[job]:
            continue
        if kind == AFTER_ANY or kind == AFTER_BEGIN or (kind == AFTER_OK) == ok:
            code = meet(s, e.waiter[i], s.now + e.delay[i])
        else:
            code = fail(s, e.waiter[i])
        if code < 0:
            return NO_MEMORY
    if e.group[job] >= 0 and pass_group(s, e.group[job]) < 0:
        return NO_MEMORY
    if free_slot(s, job) < 0:
        return NO_MEMORY
    if e.next_withdrawal < e.n_withdrawals and e.withdrawal[e.next_withdrawal] == job:
        next_withdrawal(s)
    return OK


cdef void next_withdrawal(sim_t *s) noexcept nogil:
    cdef eligible_t *e = eligible_of(s)
    if e.n_withdrawals == 0:
        return
    while e.next_withdrawal < e.n_withdrawals and s.state[e.withdrawal[e.next_withdrawal]] == JOB_DONE:
        e.next_withdrawal += 1
    source_next(s, FROM_WITHDRAWALS,
                e.cancel[e.withdrawal[e.next_withdrawal]] if e.next_withdrawal < e.n_withdrawals else INFINITY)
