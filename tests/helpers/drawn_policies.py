"""Hypothesis strategies for every policy of the registry: who adds a row has it drawn."""

from hypothesis import strategies as st

import faultsim as fs
from faultsim.policies.registry import KINDS, POLICIES, WRITTEN
from faultsim.simulation.compatibility import ON_TORUS

COSTS = [1, 0, 2.5, 4]
BOOLEANS = [False, True]
#: Expressions that are numbers for every job, static ones and others, with many ties.
KEYS = [
    "estimate * size", "-size", "where(size > 2, submit, -estimate)", "max(estimate, 1) ** 0.5 + log2(size) / 3",
    "log10(max(estimate, 0.1)) * size + 870 * log10(max(submit, 0.1))", "index < 5", "restarts * 10 - wait",
    "-(wait / max(estimate, 1)) ** 3 * size", "min(wait, 3) * size - abs(now - 7)", "where(wait > 2, -1, exp(-size))",
]  # fmt: skip
#: Orders by which a scheduler may stop jobs, with many ties.
RANKINGS = ["-size", "where(size > 2, submit, -estimate)", "index < 5", "-index", "shortest"]
#: Parameter, or policy and parameter -> values; seconds are those of a log that lasts a minute.
VALUES = {
    "any_rate": [True],
    "backfill": BOOLEANS,
    "box_order": ["extents-descending", "extents-ascending", "bases"],
    "checkpoint_cost": COSTS,
    "cost": COSTS,
    "count": [1, 2, 3],
    "curve": ["snake", "hilbert"],
    "daly.cost": [1, 0.5, 2],
    "defragment.cost": [0, 1, 2.5, 25],
    "depth": [2, 1, 4, None],
    "fars.interval": [7, 2, 20, 3],
    "bucket": ["36s", "10s"],
    "interval": [2, 1, 3, 5.5, 100],
    "keep_promise": BOOLEANS,
    "live": BOOLEANS,
    "max_availability.cost": [1, 0.5, 2],
    "max_concentration": [0.7, 1.0, 0.5],
    "max_growth": [1, 0, 2, 5],
    "min_free": [0.0, 0.1, 0.3],
    "mtbf": [20, 1, 5, 200],
    "per": [0, 2, 1],
    "place": ["arrival", "tail"],
    "queue_cost": ["last", "mean"],
    "downtime": [3, 0],
    "repairs": ["known", "unknown"],
    "reservation": ["any", "fixed"],
    "residual": ["printed", "difference"],
    "restart_cost": COSTS,
    "rule": ["prod", "max"],
    "seconds": [0, 3, 10],
    "spares": ["dynamic"],
    "suspicious": ["last", "ignore"],
    "text": KEYS,
    "threshold": [1.0, 0.0, 2.0],
    "when": ["waiting", "always"],
    "young.cost": [1, 0.5, 2],
}


class CountDown(fs.QueueOrder):
    """A queue order in Python with many ties."""

    def keys(self, queue, now):
        return -(queue.size % 3) - (queue.index % 2)


class MiddleBox(fs.Placement):
    """A placement in Python that looks at everything it is shown."""

    box_order = VALUES["box_order"][0]

    def choose(self, job, candidates, state):
        return (job.index + job.size + int(state.busy.sum())) % len(candidates)

    def choose_nodes(self, job, free, state):
        first = (job.index + job.size + state.nodes) % (len(free) - job.size + 1)
        return free[first : first + job.size]


#: Base class of policies in Python -> the one that is drawn; schedulers in Python have tests of their own.
OURS = {fs.QueueOrder: CountDown, fs.Placement: MiddleBox}
ROWS = (*POLICIES, *(row for row in WRITTEN if row.cls in OURS))


def policies(kind, machine, *, names=None, lacking=(), written=False, unit=1.0, **given):
    """Any policy of a kind on a machine, by its name, but none that needs what is `lacking`; seconds times `unit`.

    Listed shapes, which need planned boxes and sizes that they list, are drawn by `helpers.listed_runs`.

    `written` draws policies in Python, too; `given` has the strategies of some parameters.
    """
    rows = [
        row
        for row in (ROWS if written else POLICIES)
        if row.kind == kind and machine in row.machines and not {*lacking, "planned boxes"} & set(row.needs)
        if names is None or row.name in names
    ]
    context = {"machine": machine, "lacking": lacking, "written": written, "unit": unit}
    return st.one_of([policy_of(row, context, given) for row in rows])


def policy_of(row, context, given):
    drawn = {}
    for parameter in row.parameters if row.name != "python" else ():
        name = parameter.name
        only = [others for kind, key, others, *_ in ON_TORUS if (kind, key) == (row.kind, name)]
        if only and context["machine"] not in ("torus", *only[0]):
            continue
        if name in given or (name in KINDS and name not in VALUES):
            drawn[name] = given[name] if name in given else policies(name, **context)
        else:
            values = VALUES.get(f"{row.name}.{name}") or VALUES[name]
            scale = context["unit"] if parameter.unit == "s" else None
            drawn[name] = st.sampled_from([value * scale for value in values] if scale else values)
    if row.name == "preemptive":
        drawn["order"] = st.sampled_from(RANKINGS)
    elif row.kind == "scheduler":  # first come, first served more often than the others
        drawn["order"] = st.just(fs.ArrivalOrder()) | drawn["order"]
    return st.builds(OURS.get(row.cls, row.cls), **drawn)
