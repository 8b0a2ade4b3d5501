"""Random workflows with the properties of the test bench [hoenig2004], and the properties of any workflow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from faultsim import checks, renames
from faultsim.arrays import Floats, LongIntegers
from faultsim.data.workflow import Workflow
from faultsim.entries import entry
from faultsim.errors import OptionError

#: What `bench_dags` draws from. The bench is not public, and no paper prints its values; all but the sizes are ours.
_SIZES = (175, 249)
_MESHING = (1.0, 4.0)
_EDGE_LENGTH = (1.0, 3.0)
_WEIGHTS = (1.0, 100.0)
_CCR = (0.1, 1.0)
_ROUNDS = 50  # of drawing edges, before what is left is counted out


class DagProperties(NamedTuple):
    """The properties by which the bench sorts its graphs, as measured by `dag_properties`.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.synthetic.DagProperties._fields
    ('size', 'levels', 'meshing', 'edge_length', 'mean_cost', 'mean_transfer', 'ccr')
    """

    size: int
    levels: int
    meshing: float
    edge_length: float
    mean_cost: float
    mean_transfer: float
    ccr: float


@entry
def dag_properties(workflow: Workflow) -> DagProperties:
    """The properties of a workflow's graph and weights.

    The level of a job is the largest number of edges on a path to it, 0 for an entry.

    Parameters
    ----------
    workflow : Workflow
        Any workflow.

    Returns
    -------
    DagProperties
        `size`: jobs; `levels`: number of levels; `meshing`: edges per job that is not an entry; `edge_length`: mean
        difference of levels along an edge; `mean_cost` (s); `mean_transfer` (s or bytes); `ccr`: their ratio.  NaN
        without edges.

    Notes
    -----
    Source: [yu2010] section 5.A names these properties after [hoenig2004]; the definitions in numbers are ours.

    Examples
    --------
    >>> import faultsim as fs
    >>> chain = fs.Workflow([2, 2, 2], [(0, 1, 1), (1, 2, 1), (0, 2, 4)])
    >>> found = fs.synthetic.dag_properties(chain)
    >>> found.levels, found.meshing, round(found.edge_length, 2), found.ccr
    (3, 1.5, 1.33, 1.0)
    """
    level = np.zeros(workflow.n_jobs, dtype=np.int64)
    for job in workflow.topological_order().tolist():
        ahead = workflow.predecessor[workflow.predecessor_start[job] : workflow.predecessor_start[job + 1]]
        level[job] = level[ahead].max() + 1 if len(ahead) else 0
    edges, none = workflow.n_edges, float("nan")
    return DagProperties(
        size=workflow.n_jobs,
        levels=int(level.max()) + 1,
        meshing=edges / (workflow.n_jobs - len(workflow.entries)) if edges else none,
        edge_length=float((level[workflow.edge_to] - level[workflow.edge_from]).mean()) if edges else none,
        mean_cost=float(workflow.cost.mean()),
        mean_transfer=float(workflow.transfer.mean()) if edges else none,
        ccr=workflow.ccr if edges else none,
    )


@entry
@renames.arguments("random_dag")
def random_dag(
    jobs: int,
    *,
    rng: checks.Random,
    levels: int | None = None,
    meshing: float = 2.0,
    edge_length: float = 1.5,
    cost: tuple[checks.Duration, checks.Duration] = (1.0, 100.0),
    transfer: tuple[checks.Duration, checks.Duration] = (1.0, 100.0),
    ccr: float | None = None,
    nodes: int | None = None,
    spread: float = 0.0,
    name: str = "random",
) -> Workflow:
    """A random workflow of given size, meshing degree, edge length and weights (see `dag_properties`).

    Parameters
    ----------
    jobs : int
        Number of jobs.
    rng : numpy.random.Generator, numpy.random.SeedSequence or int
        Source of randomness, or a seed.
    levels : int, optional
        Number of levels, each of one job or more; the rounded square root of `jobs` by default.  Jobs are numbered
        level by level.
    meshing : float
        Edges per job that is not an entry, 1 or more: each such job has a predecessor on the level before it, and the
        rest are spread at random. Met exactly.
    edge_length : float
        Mean difference of levels along an edge, 1 or more; met as nearly as the draws allow, and only up to what the
        number of levels leaves room for.
    cost, transfer : tuple of float
        Least and largest, between which costs and transfers are uniform, in seconds.
    ccr : float, optional
        Scale the transfers so that mean transfer over mean cost is this.
    nodes : int, optional
        Make the cost a matrix with one column per node: each entry is the job's cost times a uniform number from
        1 - `spread` to 1 + `spread`.
    spread : float
        From 0 to below 1; only with `nodes`.
    name : str
        Name of the workflow.

    Returns
    -------
    Workflow
        A pure function of the options and the generator's state.

    Raises
    ------
    OptionError
        An option outside its bounds; more edges than there are pairs of jobs on different levels.

    Examples
    --------
    >>> import faultsim as fs
    >>> wf = fs.synthetic.random_dag(200, rng=1, meshing=2.5, edge_length=2, ccr=0.5)
    >>> wf
    <Workflow 'random': 200 jobs, 458 edges>
    >>> found = fs.synthetic.dag_properties(wf)
    >>> found.levels, round(found.meshing, 2), round(found.edge_length, 1), round(found.ccr, 3)
    (14, 2.5, 2.0, 0.5)
    """
    count, rng = checks.whole("jobs", jobs, low=1, high=checks.MOST_ROWS), checks.generator(rng)
    deep = round(count**0.5) if levels is None else checks.whole("levels", levels, low=1, high=count)
    mesh = checks.number("meshing", meshing, low=1.0)
    length = checks.number("edge_length", edge_length, low=1.0)
    low, high = _bounds("cost", cost), _bounds("transfer", transfer)
    extra = np.sort(rng.integers(0, deep, count - deep))
    level = np.sort(np.concatenate([np.arange(deep), extra]))
    first = np.searchsorted(level, np.arange(deep + 1))
    pairs = _pairs(level, first, mesh, length, rng)
    base = rng.uniform(*low, count)
    carried = rng.uniform(*high, len(pairs))
    costs = base if nodes is None else _uneven(base, nodes, spread, rng)
    if nodes is None and spread:
        raise OptionError("spread needs nodes: it is how costs differ from node to node")
    edges = np.column_stack([pairs, carried])
    wf = Workflow(costs, edges, name)
    return wf if ccr is None else wf.with_ccr(ccr)


@entry
@renames.arguments("bench_dags")
def bench_dags(
    n: int, *, rng: checks.Random, jobs: tuple[int, int] = _SIZES, unit: checks.Duration = 300.0
) -> list[Workflow]:
    """Workflows like those of the bench that [yu2010] uses: 175 to 249 jobs, with random properties.

    The bench itself is not public, so its values are ours: meshing degree uniform from 1 to 4, edge length from 1 to 3,
    node weights uniform from 1 to 100 units, the communication to computation ratio log-uniform from .1 to 1, levels
    uniform from half to twice the square root of the size.

    Parameters
    ----------
    n : int
        Number of workflows.
    rng : numpy.random.Generator, numpy.random.SeedSequence or int
        Source of randomness, or a seed.
    jobs : tuple of int
        Least and largest number of jobs.
    unit : float
        Seconds in a unit of weight; [yu2010] takes 5 minutes.

    Returns
    -------
    list of Workflow
        The first k of them do not depend on `n`.

    Notes
    -----
    Source: [yu2010] section 5.A.

    Examples
    --------
    >>> import faultsim as fs
    >>> [wf.n_jobs for wf in fs.synthetic.bench_dags(3, rng=1)]
    [229, 191, 247]
    """
    count, rng = checks.whole("n", n, low=1, high=1_000_000), checks.generator(rng)
    low = checks.whole("least number of jobs", jobs[0], low=1)
    high = checks.whole("largest number of jobs", jobs[1], low=low, high=1_000_000)
    seconds = checks.number("unit", unit, above=0.0, unit="s")
    found = []
    for number in range(count):
        size = int(rng.integers(low, high + 1))
        root = size**0.5
        levels = min(max(round(rng.uniform(0.5, 2.0) * root), 1), size)
        wf = random_dag(
            size,
            rng=rng,
            levels=levels,
            meshing=rng.uniform(*_MESHING),
            edge_length=rng.uniform(*_EDGE_LENGTH),
            cost=_WEIGHTS,
            transfer=_WEIGHTS,
            ccr=float(np.exp(rng.uniform(*np.log(_CCR)))),
            name=f"bench {number}",
        )
        found.append(wf.with_cost_factor(seconds).with_transfer_factor(seconds))
    return found


def _bounds(what: str, given: tuple[checks.Duration, checks.Duration]) -> tuple[float, float]:
    try:
        low, high = given
    except (TypeError, ValueError):
        raise OptionError(f"{what}: expected (least, largest), got {given!r}") from None
    least = checks.number(f"least {what}", low, low=0.0, unit="s")
    return least, checks.number(f"largest {what}", high, low=least, unit="s")


def _pairs(
    level: LongIntegers, first: LongIntegers, meshing: float, length: float, rng: np.random.Generator
) -> LongIntegers:
    """The edges, shape (m, 2): one into each job from the level before, the others of geometric length."""
    jobs, start = len(level), int(first[1])
    later = np.arange(start, jobs)
    if not len(later):
        return np.empty((0, 2), dtype=np.int64)
    wanted = max(round(meshing * len(later)), len(later))
    room = int(first[level[later]].sum())
    if wanted > room:
        raise OptionError(
            f"meshing: {wanted:,} edges do not fit; {jobs:,} jobs on {level[-1] + 1:,} levels have room for {room:,}, "
            f"so at most {room / len(later):g} per job"
        )
    codes = dict.fromkeys((_before(level, first, later, 1, rng) * jobs + later).tolist())
    # The first edges have length 1, so the others are longer for the mean to come out.
    others = wanted - len(later)
    steps, weights = _lengths(level, 1.0 + (length - 1.0) * wanted / others if others else 1.0)
    for _ in range(_ROUNDS):
        if len(codes) == wanted:
            break
        step = rng.choice(steps, wanted - len(codes), p=weights)
        job = rng.integers(first[step], jobs)  # jobs are sorted by level, so these lie deep enough
        codes.update(dict.fromkeys((_before(level, first, job, step, rng) * jobs + job).tolist()))
    if len(codes) < wanted:  # nearly full: choose among what is left
        every = np.concatenate([np.arange(first[level[job]]) * jobs + job for job in later.tolist()])
        left = np.setdiff1d(every, np.fromiter(codes, dtype=np.int64))
        codes.update(dict.fromkeys(rng.choice(left, wanted - len(codes), replace=False).tolist()))
    found = np.fromiter(codes, dtype=np.int64, count=wanted)
    return np.column_stack(np.divmod(found, jobs))


def _lengths(level: LongIntegers, mean: float) -> tuple[LongIntegers, Floats]:
    """Lengths 1, 2, ... and how probable each is, so that the mean over the jobs that lie deep enough is `mean`.

    The weights are geometric: q**length times the number of those jobs, where bisection finds q.
    """
    steps = np.arange(1, int(level[-1]) + 1)
    deep = len(level) - np.searchsorted(level, steps)

    def shares(log_q: float) -> Floats:
        raw = np.exp(log_q * (steps - (1 if log_q < 0 else steps[-1]))) * deep
        return np.asarray(raw / raw.sum())

    low, high = -50.0, 3.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (shares(middle) * steps).sum() < mean else (low, middle)
    return steps, shares(low)


def _before(
    level: LongIntegers,
    first: LongIntegers,
    job: LongIntegers,
    step: int | LongIntegers,
    rng: np.random.Generator,
) -> LongIntegers:
    """For each job any one of those that are `step` levels before it."""
    there = level[job] - step
    return np.asarray(rng.integers(first[there], first[there + 1]))


def _uneven(base: Floats, nodes: int, spread: float, rng: np.random.Generator) -> Floats:
    width = checks.whole("nodes", nodes, low=1)
    by = checks.number("spread", spread, low=0.0)
    if by >= 1.0:
        raise OptionError(f"spread must be below 1, got {spread!r}")
    return base[:, None] * rng.uniform(1.0 - by, 1.0 + by, (len(base), width))
