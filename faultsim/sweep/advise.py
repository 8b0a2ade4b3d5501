"""`advise_shapes`: lists of shapes for a log and a torus, searched by successive halving over weeks of the log."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from faultsim import checks
from faultsim.arrays import Floats
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.errors import InputError, OptionError
from faultsim.machines import Machine, as_machine
from faultsim.policies import EasyBackfill, Scheduler, SlurmTorus
from faultsim.policies.shapes import shapes_of
from faultsim.simulation.run import Run
from faultsim.simulation.simulate_many import simulate_many
from faultsim.sweep.intervals import interval_of_mean

#: Fewest jobs of a week that counts, and fewest weeks: half of them are held out.
FEWEST_JOBS, FEWEST_WEEKS = 10, 6
#: Lists of every box are only tried on tori of at most so many nodes: they are as many shapes.
MOST_FOR_EVERY_BOX = 1024


@dataclass(frozen=True)
class ShapeAdvice:
    """What `advise_shapes` found.

    Attributes
    ----------
    placement : SlurmTorus
        The best of the candidates on the weeks of the search.
    gain : float
        The metric of the usual placement divided by that of `placement`, the geometric mean over held-out weeks: above
        1, the advice is better.
    low, high : float
        The 95 % confidence interval of `gain`.
    rounds : tuple of (int, tuple of (SlurmTorus, float))
        Of each round of the search, the number of weeks, and the candidates with their geometric means, best first.
    weeks : int
        Number of held-out weeks.
    usual : SlurmTorus
        What it is compared with.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.synthetic.sdsc_like(1500, rng=1)
    >>> advice = fs.advise_shapes(log, "torus:4x4x8", candidates=["one-per-size", "every-box"], week="1d")
    >>> advice.low <= advice.gain <= advice.high
    True
    """

    placement: SlurmTorus
    gain: float
    low: float
    high: float
    rounds: tuple[tuple[int, tuple[tuple[SlurmTorus, float], ...]], ...]
    weeks: int
    usual: SlurmTorus

    def __str__(self) -> str:
        held = f"{self.weeks} held-out weeks"
        sure = "better" if self.low > 1 else "worse" if self.high < 1 else "not clearly different"
        return (
            f"{self.placement!r}: {self.gain:.3f} [{self.low:.3f}, {self.high:.3f}] times as good as {self.usual!r} on "
            f"{held}, {sure}"
        )


def candidates_for(log: Workload, machine: Machine) -> list[SlurmTorus]:
    """Lists of shapes, spacings and seeds to try: few and many shapes, anchors by extent and at each node."""
    dims = machine.shape
    assert dims is not None
    boxes = shapes_of("one-per-size", "", "", dims)
    by_size = {shape.size: str(shape) for shape in boxes}
    frequent, counts = np.unique(log.size, return_counts=True)
    common = {int(size) for size in frequent[np.argsort(-counts)][:12]} & set(by_size)
    powers = {shape.size: str(shape) for shape in shapes_of("powers-of-two", "", "", dims)}
    own = {**{size: by_size[size] for size in common}, **powers}
    lists = ["powers-of-two", "one-per-size", "+".join(own[size] for size in sorted(own))]
    if machine.nodes <= MOST_FOR_EVERY_BOX:
        lists.append("every-box")
    found = []
    for shapes in lists:
        for spacing in ("", "1x1x1"):
            found.append(SlurmTorus(shapes, spacing, unlisted="round_up"))
        found.append(
            SlurmTorus(shapes, seed="x".join("1" if extent > 1 else "0" for extent in dims), unlisted="round_up")
        )
    return found


@entry
def advise_shapes(
    log: Workload,
    torus: Machine | str,
    *,
    candidates: Sequence[SlurmTorus | str] | None = None,
    usual: SlurmTorus | None = None,
    scheduler: Scheduler | None = None,
    metric: str = "mean_bounded_slowdown",
    week: float | str = "7d",
) -> ShapeAdvice:
    """Search shapes, spacings and seeds of `SlurmTorus` for a log, and measure the gain on held-out weeks.

    Weeks are simulated on their own. Every other week is held out; on the others, successive halving tries all
    candidates on few weeks, the better half on twice as many, and so on.

    Parameters
    ----------
    log : Workload
    torus : Torus or str
    candidates : sequence of SlurmTorus or str, optional
        What is tried; text is a list of shapes, with sizes rounded up. By default few and many shapes with several
        spacings and seeds.
    usual : SlurmTorus, optional
        What the advice is compared with; by default one shape per power of two, sizes rounded up.
    scheduler : Scheduler, optional
        By default ``EasyBackfill(reservation="fixed")``, as Slurm plans.
    metric : str, default "mean_bounded_slowdown"
        A metric of results, of which less is better.
    week : float or str, default "7d"
        Length of the parts of the log, in seconds or with a unit.

    Returns
    -------
    ShapeAdvice

    Raises
    ------
    InputError
        If the log has fewer than six weeks of at least ten jobs, or no job that fits.
    OptionError
        If there is no candidate, or no such metric.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.synthetic.sdsc_like(1500, rng=1)
    >>> advice = fs.advise_shapes(log, "torus:4x4x8", candidates=["powers-of-two", "one-per-size"], week="1d")
    >>> advice.placement.shapes in ("powers-of-two", "one-per-size")
    True
    """
    machine = as_machine(torus)
    if not machine.has_boxes:
        raise OptionError(f"advise_shapes is about tori, got {machine}: give a Torus")
    usual = usual or SlurmTorus(unlisted="round_up")
    given = candidates_for(log, machine) if candidates is None else list(candidates)
    tried = [SlurmTorus(each, unlisted="round_up") if isinstance(each, str) else each for each in given]
    if not tried:
        raise OptionError("advise_shapes: candidates is empty: give lists of shapes, or leave it out")
    parts = _weeks(log, checks.duration("week", week, above=0.0))
    if len(parts) < FEWEST_WEEKS:
        raise InputError(
            f"advise_shapes: the log has {len(parts)} weeks of at least {FEWEST_JOBS} jobs, and {FEWEST_WEEKS} "
            f"are needed: "
            f"give a longer log, or shorter parts, week='2d'"
        )
    planning = scheduler or EasyBackfill(reservation="fixed")
    search, held = parts[::2], parts[1::2]

    def measured(placements: Sequence[SlurmTorus], weeks: Sequence[Workload]) -> Floats:
        """Logarithms of the metric, by placement and week."""
        runs = [
            Run(each, machine, scheduler=planning, placement=placement, oversized="drop")
            for placement in placements
            for each in weeks
        ]
        values = [_value(result.metrics, metric) for result in simulate_many(runs)]
        logarithms: Floats = np.log(np.maximum(np.array(values), 1e-9)).reshape(len(placements), len(weeks))
        return logarithms

    rounds, weeks, left = [], min(2, len(search)), tried
    while True:
        means = np.exp(measured(left, search[:weeks]).mean(axis=1))
        order = np.argsort(means, kind="stable").tolist()
        rounds.append((weeks, tuple((left[at], float(means[at])) for at in order)))
        left = [left[at] for at in order[: max(1, (len(left) + 1) // 2)]]
        if len(left) == 1 or weeks == len(search):
            break
        weeks = min(2 * weeks, len(search))
    one, other = measured([usual, left[0]], held)
    gains = one - other
    low, high = interval_of_mean(gains, 0.975)
    return ShapeAdvice(
        left[0], math.exp(float(gains.mean())), math.exp(low), math.exp(high), tuple(rounds), len(held), usual
    )


def _value(metrics: Mapping[str, float], metric: str) -> float:
    if metric not in metrics:
        raise OptionError(
            f"unknown metric {metric!r}{checks.did_you_mean(metric, metrics)}; known: {', '.join(metrics)}"
        )
    return float(metrics[metric])


def _weeks(log: Workload, length: float) -> list[Workload]:
    """Parts of the log by submit time, those of enough jobs."""
    number = np.floor((log.submit - log.submit[0]) / length)
    parts = []
    for each in np.unique(number):
        rows = np.flatnonzero(number == each)
        if len(rows) >= FEWEST_JOBS:
            parts.append(Workload(log.submit[rows], log.runtime[rows], log.size[rows], estimate=log.estimate[rows]))
    return parts
