"""Hypothesis strategies for whole runs: small machines, every policy, every option, with failures and without."""

import math
from typing import Any

from hypothesis import strategies as st

import faultsim as fs
from faultsim.policies.registry import row_of

ORDERS = st.sampled_from(["arrival", "shortest", "largest", "wfp3", "unicef"])
BOX_ORDERS = st.sampled_from(["extents-descending", "extents-ascending", "bases"])
SHORT = st.sampled_from([0, 1, 2.5, 4])
SHARES = st.sampled_from([0.0, 0.3, 0.5, 1.0])


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
def machines(draw: st.DrawFn, torus: bool | None = None) -> fs.Cluster | fs.Torus:
    if not (draw(st.booleans()) if torus is None else torus):
        shape = draw(st.none() | st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 4)))
        return fs.Cluster(draw(st.integers(1, 24)) if shape is None else math.prod(shape), shape=shape)
    extent = st.integers(1, 4)
    return fs.Torus(draw(extent), draw(extent), draw(extent), wrap=draw(st.booleans()))


@st.composite
def failure_traces(draw: st.DrawFn, nodes: int, max_failures: int = 10) -> fs.FailureTrace:
    """Failures at whole seconds, some at one instant, some before the first submit, transient and lasting."""
    n = draw(st.integers(0, max_failures))

    def column(values: st.SearchStrategy) -> list:
        return draw(st.lists(values, min_size=n, max_size=n))

    return fs.FailureTrace(
        column(st.integers(0, 90)),
        column(st.integers(0, nodes - 1)),
        column(st.sampled_from([0, 0, 1, 5, 30])),
        column(st.sampled_from([0.1, 0.4, 0.8])),
        span=draw(st.sampled_from([90, 400])),
    )


def predictors(nodes: int, failing: bool) -> st.SearchStrategy:
    """Those that say where; those that look at the failures of the run only if there are some."""
    node, second = st.integers(0, nodes - 1), st.integers(0, 90)
    dated = st.lists(st.tuples(second, node), max_size=8).map(
        lambda rows: fs.PredictionTrace([t for t, _ in rows], [n for _, n in rows])
    )
    pairs = st.lists(st.tuples(st.integers(0, 12), node), max_size=8, unique=True).map(
        lambda rows: fs.IntervalPredictor.from_pairs(
            [k for k, _ in rows], [n for _, n in rows], interval=7, precision=0.6
        )
    )
    known = [st.just(fs.Blind()), dated, pairs]
    if failing:
        known += [
            st.just(fs.Perfect()),
            SHARES.map(fs.Confidence),
            SHARES.map(fs.Accuracy),
            st.builds(fs.IntervalPredictor, st.sampled_from([0.7, 1.0]), SHARES.filter(bool), st.sampled_from([7, 20])),
        ]
    return st.one_of(known)


def checkpointings() -> st.SearchStrategy:
    intervals = st.sampled_from([2, 5, 5.5, 100])
    victims = st.one_of(
        st.just(fs.AllJobs()), st.sampled_from([0, 3, 10]).map(fs.LongJobs), st.integers(1, 3).map(fs.BigJobs)
    )
    return st.one_of(
        st.just(fs.NoCheckpoint()),
        st.builds(fs.Periodic, intervals, SHORT),
        st.builds(fs.Young, st.sampled_from([0.5, 2]), st.sampled_from([10, 200])),
        st.builds(fs.MaxAvailability, st.sampled_from([0.5, 2]), st.sampled_from([1, 10, 200]), st.just(3)),
        st.builds(fs.Daly, st.sampled_from([0.5, 2]), st.sampled_from([1, 10, 200])),
        st.builds(fs.BeforeFailure, SHORT),
        st.builds(fs.PredictedWindows, st.sampled_from([10 / 3600, 0.01]), victims, intervals, SHORT),
        st.builds(fs.RiskBased, intervals, SHORT),
    )


@st.composite
def reschedulings(draw: st.DrawFn, nodes: int, torus: bool, stealing: bool) -> fs.Fars:
    """`Fars` on a machine of `nodes` nodes; `stealing` says whether jobs write checkpoints."""
    strategies = [fs.ServiceUnitLoss(), fs.JobFailureRate(), fs.FailureSlowdown()]
    spares = ["dynamic"]
    if not torus:
        strategies += [fs.NodeStealing()] if stealing else []
        spares += [fs.Static(k) for k in (0, 1, 3) if k < nodes]
    return fs.Fars(
        draw(st.sampled_from([7, 20, 3])),
        draw(st.sampled_from(strategies)),
        draw(st.sampled_from(spares)),
        draw(SHORT),
        draw(SHORT),
        draw(st.booleans()),
        draw(st.sampled_from(["last", "ignore"])),
        draw(st.sampled_from(["last", "mean"])),
        draw(st.sampled_from(["printed", "difference"])),
    )


@st.composite
def failing_options(draw: st.DrawFn, nodes: int, torus: bool, asks: bool, failing: bool) -> dict[str, Any]:
    """Failures (if there are to be some), and the policies that are about them, in combinations with a meaning.

    `asks` says whether the placement needs a predictor.
    """
    options: dict[str, Any] = {"checkpointing": draw(st.one_of(st.none(), checkpointings()))}
    if failing:
        options["failures"] = draw(failure_traces(nodes))
        options["recovery"] = draw(
            st.one_of(
                st.none(), st.builds(fs.Requeue, st.sampled_from(["arrival", "tail"]), SHORT), st.builds(fs.Hold, SHORT)
            )
        )
    asks |= isinstance(options["checkpointing"], fs.RiskBased)
    predictor = predictors(nodes, failing)
    if not asks:
        predictor = st.one_of(st.none(), predictor)
        if failing and not isinstance(options["checkpointing"], fs.BeforeFailure):
            windows = options["checkpointing"]
            own = windows.bucket if isinstance(windows, fs.PredictedWindows) else fs.Buckets(0.01)
            predictor = st.one_of(predictor, st.just(own))
    options["predictor"] = draw(predictor)
    if options["predictor"] is not None and options["predictor"].says_where and draw(st.booleans()):
        stealing = not isinstance(options["checkpointing"], fs.NoCheckpoint | None)
        options["rescheduling"] = draw(reschedulings(nodes, torus, stealing))
    return options


@st.composite
def runs(
    draw: st.DrawFn,
    max_jobs: int = 12,
    record: bool | None = None,
    failing: bool | None = None,
    torus: bool | None = None,
    moving: bool = True,
) -> fs.Run:
    """Any run; `failing` says whether nodes may fail (and jobs write checkpoints), None leaves it open.

    `moving` says whether jobs may move from predicted failures.
    """
    machine = draw(machines(torus))
    torus = isinstance(machine, fs.Torus)
    failing = draw(st.booleans()) if failing is None else failing
    order = draw(ORDERS)
    growth = draw(st.integers(0, 3)) if torus else 1
    repairs = draw(st.sampled_from(["known", "unknown"]))
    schedulers = [
        fs.Fcfs(order),
        fs.EasyBackfill(
            order,
            max_growth=growth,
            reservation=draw(st.sampled_from(["any", "fixed"])) if torus else "any",
            repairs=repairs,
        ),
        fs.Backfill(
            draw(st.sampled_from([1, 2, 4, None])),
            order,
            max_growth=growth,
            reservation=draw(st.sampled_from(["any", "fixed"])) if torus else "any",
            repairs=repairs,
        ),
        fs.ConservativeBackfill(order, max_growth=growth, repairs=repairs),
    ]
    migration = None
    if torus:
        boxes = [fs.FirstFit, fs.MaxFreePartition, fs.MostCubic, *([fs.Balancing, fs.TieBreaking] if failing else [])]
        chosen = draw(st.sampled_from(boxes))
        rule = {"rule": draw(st.sampled_from(["prod", "max"]))} if chosen is fs.Balancing else {}
        placement = chosen(box_order=draw(BOX_ORDERS), **rule)
        if draw(st.booleans()):
            migration = fs.Defragment(
                min_free=draw(st.sampled_from([0.0, 0.1])),
                max_concentration=draw(st.sampled_from([0.7, 1.0])),
                cost=draw(st.sampled_from([0, 3])),
                when=draw(st.sampled_from(["waiting", "always"])),
                keep_promise=draw(st.booleans()),
            )
    else:
        rules = [fs.FirstFit(), *([fs.LeastFailuresFirst(), fs.SafestFirst()] if failing else [])]
        if machine.shape is not None:
            rules += [fs.CurveBestFit("snake"), fs.CurveBestFit("hilbert")]
        placement = draw(st.sampled_from(rules))
        if failing and draw(st.booleans()):
            migration = fs.LeastFailuresMigration(draw(st.sampled_from([0, 1])), draw(SHORT))
    asks = "predictor" in row_of(type(placement)).needs
    more = draw(failing_options(machine.nodes, torus, asks, failing)) if failing else {}
    if not moving:
        more.pop("rescheduling", None)
    spares = more["rescheduling"].spares if "rescheduling" in more else None
    nodes = machine.nodes - (spares.k if isinstance(spares, fs.Static) else 0)
    return fs.Run(
        draw(logs(nodes, max_jobs)),
        machine,
        scheduler=draw(st.sampled_from(schedulers)),
        placement=placement,
        migration=migration,
        estimates=draw(st.sampled_from(["requested", "actual", 0.5, 3.0])),
        overrun=draw(st.sampled_from(["extend", "kill"])),
        start_delay=draw(st.sampled_from([0.0, 1.0, 2.5])),
        record=draw(st.booleans()) if record is None else record,
        **more,
    )
