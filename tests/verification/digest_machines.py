"""Random runs on pods, and runs in which jobs stop others, each from a seed, for `digests`."""

from typing import Any

import digest_cases
import numpy as np
from digest_cases import Case, Draw

import faultsim as fs

#: Both wirings, aligned or not, with and without a largest slice; rows of one and of several words.
PODS = (
    fs.Pod((1, 1, 3), (2, 2, 2), 8), fs.Pod((1, 1, 5), (2, 2, 2), 2), fs.Pod((1, 2, 2), (4, 4, 4), 16),
    fs.Pod((2, 2, 2), (4, 4, 4), 16, largest=5), fs.Pod((2, 2, 3), (3, 3, 3), 27), fs.Pod.tpu_v4(),
    fs.Pod.tpu_v5p(), fs.Pod((1, 1, 4), (2, 2, 2), 4, "static"), fs.Pod((2, 2, 2), (4, 4, 4), 16, "static"),
    fs.Pod((2, 2, 4), (4, 4, 4), 16, "static", largest=8), fs.Pod.tpu_v4("static"),
    fs.Pod((2, 2, 3), (2, 2, 2), 2, "static", aligned=False), fs.Pod((3, 1, 3), (4, 4, 4), 16, "static", aligned=False),
    fs.Pod.tpu_v4("static", aligned=False),
)  # fmt: skip
#: Those on which jobs ask for shapes.
SHAPED = (
    *[pod for pod in PODS if pod.wiring == "static"], fs.Pod((2, 3, 4), (2, 2, 2), 2, "static"),
    fs.Pod((4, 2, 3), (2, 2, 2), 4, "static", aligned=False), fs.Pod.tpu_v5p("static"),
    fs.Pod.tpu_v4("static", spares=4),
)  # fmt: skip
#: What ranks jobs: a column of the log, a word, or an expression with many ties.
RANKS = ("-priority", "-priority", "shortest", "largest", "(size > 3) - priority", "estimate * size", "-user")


def drawn(*key: int, about: str) -> Case:
    """The case of a key, about "pods", "shapes" on them or "preemption"; a few are refused."""
    draw = Draw(*key)
    on_pod = about != "preemption"
    machine = (
        draw.one(*(SHAPED if about == "shapes" else PODS)) if on_pod else fs.Cluster(draw.one(*digest_cases.CLUSTERS))
    )
    unit = draw.one(1.0, 1.0, 1.0, 0.1, 1 / 3, 0.7)
    longest = draw.one(10, 60, 1000, 7200)
    most = machine.most_hosts if on_pod and draw.chance(9, 10) else machine.nodes
    log, horizon = digest_cases.jobs(draw, most, longest, "random")
    if draw.chance(1, 3):  # many that fit beside each other
        log["size"] = 1 + log["size"] % max(1, machine.nodes // 8)
    if about == "shapes":
        ask(draw, machine, log)
    failing = draw.chance(3, 4)
    failures = digest_cases.failures_of(draw, machine.nodes, longest, horizon, log) if failing else None
    digest_cases.scale(unit, log, failures)
    wild = draw.chance(1, 40)
    boxes = on_pod and not wild  # a pod has the options of a torus
    policies = digest_cases.options(draw, machine, boxes, unit * longest, failing, wild, "random")
    if boxes:
        policies |= {"placement": draw.one(None, fs.FirstFit()), "migration": None}
        if draw.chance(1, 5):
            depth = {"depth": draw.one(1, 2, 4, "unlimited"), "reservation": draw.one("any", "fixed")}
            more = {"max_growth": draw.one(0, 1, 3, 8), "repairs": draw.one("known", "unknown")}
            policies["scheduler"] = fs.Backfill(order=draw.one("arrival", "shortest", "largest"), **depth, **more)
    if not on_pod:
        ranks = {"order": draw.one(*RANKS), "repairs": draw.one("known", "unknown")}
        policies["scheduler"] = fs.Preemptive(backfill=draw.chance(3, 4), **ranks)
        log["priority"] = draw.column(0, draw.one(1, 3, 50), len(log["size"]))
        log["user"] = draw.column(0, 4, len(log["size"]))
    predicting = failing or not draw.chance(1, 2) or isinstance(policies["placement"], digest_cases.PREDICTING)
    chosen: Any = None
    if predicting:
        end = horizon * unit
        chosen = digest_cases.predictor(draw, policies, machine, unit * longest, failures, end, wild)
    return digest_cases.case_of(draw, log, machine, failures, chosen, policies, horizon, unit)


def ask(draw: Draw, pod: fs.Pod, log: dict[str, Any]) -> None:
    """Most jobs ask for the shape of a slice, a number of `pod.slices`; -1: for none."""
    slices, n = pod.slices, len(log["size"])
    chosen = draw.column(0, len(slices) - 1, n)
    if draw.chance(1, 2):  # many that fit beside each other
        chosen = np.minimum(chosen, draw.column(0, len(slices) - 1, n))
    log["slice"] = np.where(draw.column(1, 4, n) == 1, -1, chosen)
    sizes = np.array([each.hosts for each in slices])
    log["size"] = np.where(log["slice"] < 0, log["size"], sizes[log["slice"]])
