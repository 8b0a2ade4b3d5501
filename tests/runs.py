"""Hypothesis strategies for whole runs: small machines, every policy, every option."""

from hypothesis import strategies as st

import faultsim as fs

ORDERS = st.sampled_from(["arrival", "shortest", "largest", "wfp3", "unicef"])
BOX_ORDERS = st.sampled_from(["extents-descending", "extents-ascending", "bases"])


@st.composite
def logs(draw: st.DrawFn, nodes: int, max_jobs: int = 12, whole: bool = True) -> fs.Workload:
    """Jobs that fit on `nodes`, close enough together to queue; whole seconds, so that instants coincide."""
    n = draw(st.integers(1, max_jobs))
    seconds = st.integers(0, 40) if whole else st.floats(0, 40, allow_nan=False)

    def column(values: st.SearchStrategy) -> list:
        return draw(st.lists(values, min_size=n, max_size=n))

    return fs.Workload(
        submit=sorted(column(seconds)),
        runtime=column(seconds),
        size=column(st.integers(1, nodes)),
        estimate=column(st.one_of(st.just(-1.0), seconds)),
    )


@st.composite
def machines(draw: st.DrawFn) -> fs.Cluster | fs.Torus:
    if draw(st.booleans()):
        return fs.Cluster(draw(st.integers(1, 24)))
    extent = st.integers(1, 4)
    return fs.Torus(draw(extent), draw(extent), draw(extent), wrap=draw(st.booleans()))


@st.composite
def runs(draw: st.DrawFn, max_jobs: int = 12, record: bool | None = None) -> fs.Run:
    machine = draw(machines())
    torus = isinstance(machine, fs.Torus)
    order = draw(ORDERS)
    growth = draw(st.integers(0, 3)) if torus else 1
    schedulers = [
        fs.Fcfs(order),
        fs.EasyBackfill(
            order, max_growth=growth, reservation=draw(st.sampled_from(["any", "fixed"])) if torus else "any"
        ),
        fs.ConservativeBackfill(order, max_growth=growth),
    ]
    placement = migration = None
    if torus:
        placement = draw(st.sampled_from([fs.FirstFit, fs.MaxFreePartition]))(box_order=draw(BOX_ORDERS))
        if draw(st.booleans()):
            migration = fs.Defragment(
                min_free=draw(st.sampled_from([0.0, 0.1])),
                max_concentration=draw(st.sampled_from([0.7, 1.0])),
                cost=draw(st.sampled_from([0, 3])),
                when=draw(st.sampled_from(["waiting", "always"])),
                keep_promise=draw(st.booleans()),
            )
    return fs.Run(
        draw(logs(machine.nodes, max_jobs)),
        machine,
        scheduler=draw(st.sampled_from(schedulers)),
        placement=placement,
        migration=migration,
        estimates=draw(st.sampled_from(["requested", "actual", 0.5, 3.0])),
        overrun=draw(st.sampled_from(["extend", "kill"])),
        start_delay=draw(st.sampled_from([0.0, 1.0, 2.5])),
        record=draw(st.booleans()) if record is None else record,
    )
