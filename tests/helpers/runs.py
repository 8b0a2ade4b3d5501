"""Hypothesis strategies for whole runs: small machines, every policy, every option, with failures and without."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import strategies as st

import faultsim as fs
from faultsim.policies.registry import row_of
from faultsim.simulation.options import RunOptions
from helpers.drawn_policies import policies

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
def pods(draw: st.DrawFn, wiring: str | None = None) -> fs.Pod:
    """Few cubes: the plain engine lists every set of them."""
    cubes = draw(st.sampled_from([(1, 1, 1), (1, 1, 3), (1, 2, 2), (1, 1, 5), (2, 1, 3), (2, 2, 2)]))
    wiring = wiring or draw(st.sampled_from(["ocs", "static"]))
    spares = draw(st.just(0) | st.integers(0, math.prod(cubes) - 1))
    largest = draw(st.none() | st.integers(1, math.prod(cubes) - spares))
    aligned = wiring == "ocs" or draw(st.booleans())
    hosts = draw(st.sampled_from([1, 2, 4, 8]))
    return fs.Pod(cubes, (2, 2, 2), hosts, wiring, aligned=aligned, largest=largest, spares=spares)


@st.composite
def shaped_pods(draw: st.DrawFn) -> fs.Pod:
    """With static wiring, and with sizes that have several shapes or orientations."""
    cubes = draw(st.sampled_from([(1, 2, 2), (2, 1, 3), (2, 2, 2), (3, 2, 2), (1, 2, 4), (2, 4, 1)]))
    spares = draw(st.sampled_from([0, 0, 1]))
    aligned, hosts = draw(st.booleans()), draw(st.sampled_from([1, 2, 4]))
    return fs.Pod(cubes, (2, 2, 2), hosts, "static", aligned=aligned, spares=spares)


def with_shapes(draw: st.DrawFn, pod: fs.Pod, log: fs.Workload) -> fs.Workload:
    """Most of the jobs ask for a shape, which says their size."""
    slices = [each for each in pod.slices if each.cubes] or list(pod.slices)
    asked = draw(st.lists(st.none() | st.sampled_from(slices), min_size=len(log), max_size=len(log)))
    size = [each.hosts if each else int(own) for each, own in zip(asked, log.size, strict=True)]
    shape = [str(each) if each else "" for each in asked]
    return fs.Workload(log.submit, log.runtime, size, estimate=log.estimate, columns={"shape": np.array(shape, "U20")})


def holds_back(scheduler: fs.Scheduler) -> bool:
    """Whether it counts the spare cubes of a pod."""
    fixed = getattr(scheduler, "reservation", "any") == "fixed"
    return not fixed and not isinstance(scheduler, fs.Backfill | fs.ConservativeBackfill)


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
        coin=column(st.sampled_from([0.1, 0.4, 0.8])),
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
        # On a few nodes all pairs of interval and node may have a failure, and none is left for a false alarm.
        precisions = [0.7, 1.0] if nodes >= 4 else [1.0]
        known += [
            st.just(fs.Perfect()),
            SHARES.map(fs.Confidence),
            SHARES.map(fs.Accuracy),
            st.builds(fs.IntervalPredictor, st.sampled_from(precisions), SHARES.filter(bool), st.sampled_from([7, 20])),
        ]
    return st.one_of(known)


def leaves_time(checkpointing: Any) -> bool:
    """Whether a run takes it: not one that saves for ten times as long as it works."""
    return not isinstance(checkpointing, fs.Periodic) or checkpointing.cost <= 10 * checkpointing.interval


@st.composite
def failing_options(draw: st.DrawFn, machine: fs.Cluster | fs.Torus | fs.Pod, asks: bool) -> dict[str, Any]:
    """Failures, and the policies that are about them, in combinations with a meaning.

    `asks` says whether the placement needs a predictor.
    """
    nodes, kind = machine.nodes, machine.name
    checkpointing = draw(st.none() | policies("checkpointing", kind).filter(leaves_time))
    options: dict[str, Any] = {"checkpointing": checkpointing, "failures": draw(failure_traces(nodes))}
    options["recovery"] = draw(st.none() | policies("recovery", kind, lacking=["staying"]))
    asks |= isinstance(checkpointing, fs.RiskBased)
    predictor = predictors(nodes, failing=True)
    if not asks:
        predictor = st.none() | predictor
        if not isinstance(checkpointing, fs.BeforeFailure):
            own = checkpointing.bucket if isinstance(checkpointing, fs.PredictedWindows) else fs.Buckets("36s")
            predictor = predictor | st.just(own)
    options["predictor"] = draw(predictor)
    if options["predictor"] is not None and options["predictor"].says_where and draw(st.booleans()):
        saves = not isinstance(checkpointing, fs.NoCheckpoint | None)
        pools = [fs.Static(k) for k in (0, 1, 3) if k < nodes and kind == "cluster"]
        strategy = policies("strategy", kind, lacking=() if saves else ("checkpoints",))
        spares = st.sampled_from(["dynamic", *pools])
        options["rescheduling"] = draw(policies("rescheduling", kind, strategy=strategy, spares=spares))
    return options


@st.composite
def runs(
    draw: st.DrawFn,
    max_jobs: int = 12,
    record: bool | None = None,
    failing: bool | None = None,
    torus: bool | None = None,
    moving: bool = True,
    preempting: bool = True,
    on: st.SearchStrategy | None = None,
    hot: bool = False,
    shaped: bool = False,
) -> fs.Run:
    """Any run; `failing` says whether nodes may fail (and jobs write checkpoints), None leaves it open.

    `moving` says whether jobs may move from predicted failures, `preempting` whether jobs may stop others; `on` draws
    other machines; `hot`: jobs have hot spares, on machines where they can; `shaped`: jobs ask for shapes, on pods.
    """
    machine = draw(machines(torus) if on is None else on)
    failing = draw(st.booleans()) if failing is None else failing
    lacking = [*(["predictor"] if not failing else []), *(["coordinates"] if machine.shape is None else [])]
    placement = draw(policies("placement", machine.name, lacking=lacking))
    asks = "predictor" in row_of(type(placement)).needs
    more = draw(failing_options(machine, asks)) if failing else {}
    if not moving:
        more.pop("rescheduling", None)
    spares = more["rescheduling"].spares if "rescheduling" in more else None
    nodes = machine.nodes - (spares.nodes if isinstance(spares, fs.Static) else 0)
    if isinstance(machine, fs.Pod):
        nodes = machine.most_hosts
    if hot:
        more["recovery"] = draw(policies("recovery", machine.name, names=["hot_spares"]))
        more.pop("rescheduling", None)
        held = RunOptions.nodes_needed(SimpleNamespace(**more, machine=machine), np.arange(nodes + 1))
        fitting = np.flatnonzero(held <= nodes)
        if fitting[-1] > 0:
            nodes = int(fitting[-1])
        else:
            more["recovery"] = fs.HotSpares(0)
    schedulers = policies("scheduler", machine.name)
    if isinstance(machine, fs.Pod) and machine.spares:
        schedulers = schedulers.filter(holds_back)
    log = draw(logs(nodes, max_jobs))
    if shaped:
        log = with_shapes(draw, machine, log)
    return fs.Run(
        log,
        machine,
        scheduler=draw(schedulers if preempting else schedulers.filter(lambda one: not isinstance(one, fs.Preemptive))),
        placement=placement,
        migration=None if hot else draw(st.none() | policies("migration", machine.name)),
        estimates=draw(st.sampled_from(["requested", "actual", 0.5, 3.0])),
        overrun=draw(st.sampled_from(["extend", "kill"])),
        start_delay=draw(st.sampled_from([0.0, 1.0, 2.5])),
        record=draw(st.booleans()) if record is None else record,
        **more,
    )
