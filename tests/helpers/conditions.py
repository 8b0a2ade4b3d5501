"""Hypothesis strategies for logs with conditions, earliest starts, arrays and withdrawals (model.md#eligibility)."""

import numpy as np
from hypothesis import strategies as st

import faultsim as fs

KINDS = ("after", "afterok", "afterany", "afternotok")


@st.composite
def with_conditions(draw: st.DrawFn, log: fs.Workload) -> fs.Workload:
    """The log with some of the columns; conditions are on earlier rows mostly, and never make a circle."""
    n = len(log)
    seconds = st.integers(0, 30)
    rank = draw(st.permutations(range(n))) if draw(st.integers(0, 3)) == 0 else list(range(n))
    columns: dict[str, object] = {}
    if draw(st.integers(0, 3)):
        texts = []
        for row in range(n):
            others = [other for other in range(n) if rank[other] < rank[row]]
            parts = []
            for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2])) if others else 0):
                delay = draw(st.sampled_from(["", "", "+0", "+3", "+10s", "+1.5"]))
                parts.append(f"{draw(st.sampled_from(KINDS))}:{log.id[draw(st.sampled_from(others))]}{delay}")
            texts.append(",".join(parts))
        columns["after"] = np.array(texts)
    if draw(st.booleans()):
        columns["begin"] = np.array([draw(st.just(-1) | seconds) for _ in range(n)], float)
    if draw(st.booleans()):
        columns["array"] = np.array([draw(st.integers(-1, 2)) for _ in range(n)])
        most = [draw(st.sampled_from([-1, 1, 1, 2, 3])) for _ in range(3)]
        columns["array_limit"] = np.array([-1 if array < 0 else most[array] for array in columns["array"]])
    if draw(st.booleans()):
        patience = st.none() | seconds
        left = [draw(patience) for _ in range(n)]
        columns["cancel"] = np.array(
            [-1 if wait is None else submit + wait for wait, submit in zip(left, log.submit, strict=True)], float
        )
    if "after" not in columns and draw(st.booleans()):  # no condition on a later job, so no circle
        columns["after"] = np.array([draw(st.sampled_from(["", "singleton"])) for _ in range(n)])
        columns["name"] = np.array([draw(st.sampled_from("ab")) for _ in range(n)])
        log = fs.Workload(
            log.submit, log.runtime, log.size, estimate=log.estimate, columns={k: log.columns[k] for k in log.further},
            user=[draw(st.integers(0, 1)) for _ in range(n)],
        )  # fmt: skip
    elif "after" not in columns and draw(st.booleans()):
        before = [draw(st.sampled_from([-1, *range(row)])) for row in range(n)]
        columns["preceding_job"] = np.array([log.id[row] if row >= 0 else -1 for row in before])
        columns["think_time"] = np.array([draw(st.just(-1) | seconds) for _ in range(n)], float)
    return log.with_columns(**columns)
