"""Failures, predictions and requests, from Python; the contract is in world.pxd."""

from libc.stdint cimport int32_t, int64_t

import numpy as np

from faultsim._core.cluster.node_sets cimport take_first_fit
from faultsim._core.state cimport (
    GAIN_FAILURE_RATE, GAIN_SERVICE_UNITS, GAIN_SLOWDOWN, VICTIMS_ALL, VICTIMS_BIG, VICTIMS_LONG, fars_t, faults_t,
)

_VICTIMS = {"all": <int>VICTIMS_ALL, "long": <int>VICTIMS_LONG, "big": <int>VICTIMS_BIG}


_GAINS = {
    "service_unit_loss": <int>GAIN_SERVICE_UNITS, "job_failure_rate": <int>GAIN_FAILURE_RATE,
    "failure_slowdown": <int>GAIN_SLOWDOWN, "node_stealing": <int>GAIN_SERVICE_UNITS,
}


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
    kept.append(set_fars(s, settings.get("rescheduling"), world.get("ticks")))
    picks = not s.is_torus and s.policy.take != take_first_fit
    f.on = f.n > 0 or f.n_predictions > 0 or f.n_alarms > 0 or f.plans or f.risk or f.evades or picks
    # Which nodes a job has makes no difference to a cluster's schedule unless they fail: else only to be recorded.
    s.identities = not s.is_torus and (
        s.record.on or f.n > 0 or f.n_alarms > 0 or f.evades or f.risk or s.fars.on or picks)
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


cdef object set_fars(sim_t *s, dict settings, dict table):
    cdef fars_t *f = &s.fars
    cdef const double[::1] time
    cdef const int64_t[::1] first
    cdef const int32_t[::1] node
    if not settings:
        return None
    if settings["name"] != "fars":
        raise ValueError(f"unknown rescheduling {settings['name']!r}")
    f.interval, f.live = settings["interval"], settings["live"]
    f.checkpoint_cost, f.restart_cost = settings["checkpoint_cost"], settings["restart_cost"]
    f.strategy = _GAINS[settings["strategy"]["name"]]
    f.steals = settings["strategy"]["name"] == "node_stealing"
    f.spares = -1 if settings["spares"] == "dynamic" else min(settings["spares"]["k"], <object>s.nodes)
    if f.spares > 0:
        s.policy.kept_back = f.spares
    f.last = settings["suspicious"] == "last"
    f.mean = settings["queue_cost"] == "mean"
    f.difference = settings["residual"] == "difference"
    if s.is_torus and (f.spares >= 0 or f.steals):
        raise ValueError("static spares and node stealing are of single nodes")
    if not table or len(table["time"]) == 0:
        return None
    f.on = True
    f.n = len(table["time"])
    kept = [column(table, "time", np.float64, f.n), column(table, "first", np.int64, f.n + 1),
            column(table, "node", np.int32, len(table["node"]))]
    check_ascending("the times of ticks", kept[0])
    check_nodes(s, kept[2], 0)
    if kept[1][0] != 0 or kept[1][f.n] != len(kept[2]) or (np.diff(kept[1]) < 0).any():
        raise ValueError("the rows of ticks must be consecutive")
    time, first, node = kept
    f.time, f.first, f.node = &time[0], &first[0], &node[0]
    return kept
