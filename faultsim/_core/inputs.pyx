"""Columns from Python; the contract is in inputs.pxd."""

from libc.stdint cimport int32_t, int64_t

import numpy as np


cdef object input_column(dict columns, object given, str name, dtype, Py_ssize_t length):
    values = np.ascontiguousarray(given, dtype=dtype)
    if values.ndim != 1 or values.shape[0] != length:
        raise ValueError(f"{name}: expected {length} values in one column, got shape {values.shape}")
    columns["kept"].append(values)
    return values


cdef int check_nodes(sim_t *s, object node, int least) except -1:
    if len(node) and (node.min() < least or node.max() >= s.nodes):
        raise ValueError(f"nodes must be in {least}..{s.nodes - 1}, got {node.min()}..{node.max()}")
    return 0


cdef int check_ascending(str name, object values) except -1:
    if np.isnan(values).any() or (np.diff(values) < 0).any():
        raise ValueError(f"{name} must ascend")
    return 0


cdef int set_failures(sim_t *s, dict columns, object table) except -1:
    cdef const double[::1] time, downtime, unit
    cdef const int32_t[::1] node
    cdef const int64_t[::1] part
    cdef Py_ssize_t n = len(table.time)
    if n == 0:
        return 0
    time = input_column(columns, table.time, "time", np.float64, n)
    downtime = input_column(columns, table.downtime, "downtime", np.float64, n)
    node = input_column(columns, table.node, "node", np.int32, n)
    check_ascending("the times of failures", np.asarray(time))
    check_nodes(s, np.asarray(node), 0)
    if not (np.asarray(downtime) >= 0).all():
        raise ValueError("down times must be numbers and not negative")
    if table.part is not None:
        if not s.machine.shared:
            raise ValueError("parts fail of nodes that jobs share")
        part = input_column(columns, np.asarray(table.part).ravel(), "part", np.int64, 3 * n)
        unit = input_column(columns, table.unit, "unit", np.float64, n)
        if (np.asarray(part) < 0).any() or not ((np.asarray(unit) >= 0) & (np.asarray(unit) < 1)).all():
            raise ValueError("parts of nodes must not be negative, and their units in [0, 1)")
        s.trace.part, s.trace.unit = &part[0], &unit[0]
    s.trace.endless = np.isinf(downtime).any()
    s.trace.n, s.trace.time, s.trace.downtime, s.trace.node = n, &time[0], &downtime[0], &node[0]
    return 0


cdef int set_predictions(sim_t *s, dict columns, object table) except -1:
    cdef const double[::1] begin, end
    cdef const int32_t[::1] node
    cdef Py_ssize_t n = len(table.begin)
    if n == 0:
        return 0
    begin = input_column(columns, table.begin, "begin", np.float64, n)
    end = input_column(columns, table.end, "end", np.float64, n)
    node = input_column(columns, table.node, "node", np.int32, n)
    check_ascending("the begins of predictions", np.asarray(begin))
    check_ascending("the ends of predictions", np.asarray(end))
    check_nodes(s, np.asarray(node), 0)
    s.predictions.n, s.predictions.p = n, table.p
    s.predictions.begin, s.predictions.end, s.predictions.node = &begin[0], &end[0], &node[0]
    return 0


cdef int set_requests(sim_t *s, dict columns, object table) except -1:
    cdef const double[::1] time
    cdef const int32_t[::1] node
    cdef Py_ssize_t n = len(table.time)
    if n == 0:
        return 0
    time = input_column(columns, table.time, "time", np.float64, n)
    node = input_column(columns, table.node, "node", np.int32, n)
    check_ascending("the times of requests", np.asarray(time))
    check_nodes(s, np.asarray(node), -1)
    s.requests.n, s.requests.time, s.requests.node = n, &time[0], &node[0]
    return 0


cdef int set_clocks(sim_t *s, dict columns, object table) except -1:
    cdef const int32_t[::1] of
    cdef const int64_t[::1] first
    cdef const double[::1] time, speed, shown
    cdef double[::1] sums
    cdef Py_ssize_t n = len(table.time), clocks = len(table.first) - 1, k
    cdef int64_t i
    if n == 0:
        return 0
    of = input_column(columns, table.of, "of", np.int32, s.n)
    first = input_column(columns, table.first, "first", np.int64, clocks + 1)
    time = input_column(columns, table.time, "time", np.float64, n)
    speed = input_column(columns, table.speed, "speed", np.float64, n)
    if not (np.asarray(speed) > 0).all() or not np.isfinite(speed).all() or not np.isfinite(time).all():
        raise ValueError("speeds must be positive, and their times finite")
    if first[0] != 0 or first[clocks] != n or (np.diff(first) < 1).any():
        raise ValueError("each clock has at least one corner")
    if np.min(of) < -1 or np.max(of) >= clocks:
        raise ValueError(f"there are {clocks} clocks")
    sums = np.empty(n)
    for k in range(clocks):
        sums[first[k]] = time[first[k]]
        for i in range(first[k] + 1, first[k + 1]):
            if not time[i] > time[i - 1]:
                raise ValueError("the times of speeds must ascend")
            sums[i] = sums[i - 1] + speed[i - 1] * (time[i] - time[i - 1])
    shown = input_column(columns, np.asarray(sums), "shown", np.float64, n)
    s.track.clocks.of, s.track.clocks.first = &of[0], &first[0]
    s.track.clocks.time, s.track.clocks.speed, s.track.clocks.shown = &time[0], &speed[0], &shown[0]
    return 0


cdef int set_inputs(sim_t *s, dict columns) except -1:
    cdef const int32_t[::1] row
    world = columns["world"]
    s.n_rows = s.n
    if world.rows is not None:
        row = input_column(columns, world.rows, "rows", np.int32, s.n)
        s.row = &row[0]
        row = input_column(columns, world.jobs, "jobs", np.int32, len(world.jobs))
        s.job_of, s.n_rows = &row[0], len(world.jobs)
    if world.shape_rank is not None:
        row = input_column(columns, world.shape_rank, "shape_rank", np.int32, s.n)
        s.rank = &row[0]
    if world.failures is not None:
        set_failures(s, columns, world.failures)
    if world.predictions is not None:
        set_predictions(s, columns, world.predictions)
    if world.alarms is not None:
        set_requests(s, columns, world.alarms)
    if world.clocks is not None:
        set_clocks(s, columns, world.clocks)
    return 0
