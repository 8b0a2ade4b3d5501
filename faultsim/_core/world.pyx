"""Failures, predictions and requests, from Python; the contract is in world.pxd."""

from libc.stdint cimport int32_t

import numpy as np

from faultsim._core.nodes cimport take_first_fit
from faultsim._core.sim cimport VICTIMS_ALL, VICTIMS_BIG, VICTIMS_LONG, faults_t

_VICTIMS = {"all": <int>VICTIMS_ALL, "long": <int>VICTIMS_LONG, "big": <int>VICTIMS_BIG}


cdef object set_world(sim_t *s, dict settings, object world):
    cdef faults_t *f = &s.faults
    world = world or {}
    recovery = settings.get("recovery") or {"name": "requeue", "place": "arrival", "restart_cost": 0.0}
    f.hold = recovery["name"] == "hold"
    f.tail = recovery.get("place") == "tail"
    f.restart_cost = recovery["restart_cost"]
    f.repairs_known = settings["scheduler"].get("repairs") == "known"
    kept = []
    set_checkpointing(s, settings.get("checkpointing") or {"name": "none"})
    kept.append(set_failures(s, world.get("failures")))
    kept.append(set_predictions(s, world.get("predictions")))
    kept.append(set_alarms(s, world.get("alarms")))
    picks = not s.is_torus and s.policy.take != take_first_fit
    f.on = f.n > 0 or f.n_predictions > 0 or f.n_alarms > 0 or f.plans or f.risk or f.evades or picks
    # Which nodes a job has makes no difference to a cluster's schedule unless they fail: else only to be recorded.
    s.identities = not s.is_torus and (
        s.record.on or f.n > 0 or f.n_alarms > 0 or f.evades or f.risk or picks)
    return kept


cdef int set_checkpointing(sim_t *s, dict settings) except -1:
    cdef faults_t *f = &s.faults
    name = settings["name"]
    if name == "none":
        return 0
    f.cost = settings["cost"]
    if name in ("periodic", "risk_based"):
        f.interval = settings["interval"]
        f.plans = name == "periodic"
        f.risk = name == "risk_based"
    elif name == "young":
        f.plans = True
        f.young = settings["mtbf"]
    elif name == "daly":
        f.plans = True
        f.daly = settings["mtbf"]
    elif name == "before_failure":
        f.early = f.cost == 0.0
    elif name == "predicted_windows":
        victims = settings["victims"]
        f.victims = _VICTIMS[victims["name"]]
        f.long_seconds = victims.get("seconds", 0.0)
        f.big = min(victims.get("k", 0), <object>s.nodes)
    else:
        raise ValueError(f"unknown checkpointing {name!r}")
    return 0


cdef object column(dict table, str name, dtype, Py_ssize_t length):
    """A column as the engine reads it, of the table's length."""
    values = np.ascontiguousarray(table[name], dtype=dtype)
    if values.ndim != 1 or values.shape[0] != length:
        raise ValueError(f"{name}: expected {length} values in one column, got shape {values.shape}")
    return values


cdef int check_nodes(sim_t *s, object node, int least) except -1:
    if len(node) and (node.min() < least or node.max() >= s.nodes):
        raise ValueError(f"nodes must be in {least}..{s.nodes - 1}, got {node.min()}..{node.max()}")
    return 0


cdef int check_ascending(str name, object values) except -1:
    if np.isnan(values).any() or (np.diff(values) < 0).any():
        raise ValueError(f"{name} must ascend")
    return 0


cdef object set_failures(sim_t *s, dict table):
    cdef faults_t *f = &s.faults
    cdef const double[::1] time, downtime
    cdef const int32_t[::1] node
    if not table or len(table["time"]) == 0:
        return None
    f.n = len(table["time"])
    kept = [column(table, "time", np.float64, f.n), column(table, "downtime", np.float64, f.n),
            column(table, "node", np.int32, f.n)]
    check_ascending("the times of failures", kept[0])
    check_nodes(s, kept[2], 0)
    if not (kept[1] >= 0).all() or not np.isfinite(kept[1]).all():
        raise ValueError("down times must be finite and not negative")
    time, downtime, node = kept
    f.time, f.downtime, f.node = &time[0], &downtime[0], &node[0]
    return kept


cdef object set_predictions(sim_t *s, dict table):
    cdef faults_t *f = &s.faults
    cdef const double[::1] begin, end
    cdef const int32_t[::1] node
    if not table or len(table["begin"]) == 0:
        return None
    f.n_predictions = len(table["begin"])
    f.p = table["p"]
    kept = [column(table, "begin", np.float64, f.n_predictions), column(table, "end", np.float64, f.n_predictions),
            column(table, "node", np.int32, f.n_predictions)]
    check_ascending("the begins of predictions", kept[0])
    check_ascending("the ends of predictions", kept[1])
    check_nodes(s, kept[2], 0)
    begin, end, node = kept
    f.prediction_begin, f.prediction_end, f.prediction_node = &begin[0], &end[0], &node[0]
    return kept


cdef object set_alarms(sim_t *s, dict table):
    cdef faults_t *f = &s.faults
    cdef const double[::1] time
    cdef const int32_t[::1] node
    if not table or len(table["time"]) == 0:
        return None
    f.n_alarms = len(table["time"])
    kept = [column(table, "time", np.float64, f.n_alarms), column(table, "node", np.int32, f.n_alarms)]
    check_ascending("the times of requests", kept[0])
    check_nodes(s, kept[1], -1)
    time, node = kept
    f.alarm_time, f.alarm_node = &time[0], &node[0]
    return kept
