"""`plan`: what a pod can promise when its hosts fail, and what it needs to promise more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks, rates, renames
from faultsim.arrays import Values
from faultsim.data.failures import FailureTrace
from faultsim.data.notebook import table_html
from faultsim.data.tabular import TablesOfAResult
from faultsim.entries import checked, entry
from faultsim.errors import OptionError
from faultsim.machines.pod import Pod, pod_of
from faultsim.machines.text import as_machine
from faultsim.planning.chances import independent_up, promised
from faultsim.planning.hosts import Hosts, checked_trace, given_hosts, recorded_hosts, share
from faultsim.planning.tables import check_room, ettr_table, name_of, promises_table, spares_table
from faultsim.planning.training import Training, named_rules
from faultsim.planning.wanted import Shapes, Wanted, together, wanted_slices
from faultsim.policies.checkpointing import Checkpointing
from faultsim.results.printed_table import PrintedTable


class PodPlan(checks.OldNames, TablesOfAResult):
    """What `plan` returns: three tables, and what they were computed for.

    ``print`` shows all of it.

    Attributes
    ----------
    pod : Pod
    wanted : list of (Slice, int)
        Slices and how many of each.
    availability, mtbf, downtime : float
        Of a host: share of the time that it is up, and mean times up and down in seconds; NaN: not known.
    probabilities : tuple of float
        The columns of the tables, ``slices_97`` for 0.97.
    failures : FailureTrace or None
    promises, spares : PrintedTable
        See `plan`.

    Examples
    --------
    >>> import faultsim as fs
    >>> found = fs.plan("pod:tpu-v4", {"8x8x16": 3}, availability=0.999)
    >>> found
    <PodPlan: 3 of 8x8x16 on pod:4x4x4, hosts up 99.9000% of the time>
    >>> print(found.spares)
    wanted       cubes  method     chance  low  high  spare_90  spare_97  spare_99
    3 of 8x8x16     48  binomial  100.00%    -     -         2         3         3
    """

    _TABLES: ClassVar[tuple[str, ...]] = ("promises", "spares", "ettr")

    @checked
    def __init__(
        self,
        pod: Pod,
        wanted: Sequence[Wanted],
        hosts: Hosts,
        probabilities: tuple[float, ...],
        failures: FailureTrace | None,
        promises: PrintedTable,
        spares: PrintedTable,
        ettr: PrintedTable | None,
    ) -> None:
        self.pod, self.wanted, self.probabilities, self.failures = pod, list(wanted), probabilities, failures
        self.availability, self.mtbf, self.downtime = hosts
        self.promises, self.spares, self._ettr = promises, spares, ettr

    @property
    def has_ettr(self) -> bool:
        """Whether it is known how often hosts fail, so that there is a table `ettr`."""
        return self._ettr is not None

    @property
    def ettr(self) -> PrintedTable:
        """Effective training time ratio of a long job by slice and checkpoint rule; see `plan`.

        Raises
        ------
        OptionError
            If only the availability was given: it does not say how often hosts fail.
        """
        if self._ettr is None:
            raise OptionError("ettr: availability does not say how often hosts fail; give downtime= or mtbf=, too")
        return self._ettr

    def promised_share(self, shape: str, availability: ArrayLike, probability: float, wiring: str) -> Values:
        """Share of the pod's chips that can be promised as slices of a shape, over the availability of a host.

        Hosts are independent. `wiring` may be the other one than the pod's; a shape that then has no place has NaN.

        Raises
        ------
        OptionError
            An availability or a probability that is not between 0 and 1, or another wiring.
        """
        pod = rewired(self.pod, wiring)
        a = np.asarray(availability, dtype=np.float64)
        chance = share("probability", probability, 0.97)
        try:
            of = pod.slice_of(shape=shape)
        except OptionError:
            return np.full(a.shape, math.nan)
        found = [promised(independent_up(pod, of, share("availability", up, 0.999)), chance) for up in a.ravel()]
        return np.reshape(np.array(found) * (of.chips / pod.chips), a.shape)

    def __str__(self) -> str:
        parts = [_title(self), f"promised\n{self.promises}", f"spare cubes\n{self.spares}"]
        if self._ettr is not None:
            parts.append(f"training time\n{self._ettr}")
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        words = together(self.wanted) if len(self.wanted) < 4 else f"{len(self.wanted)} shapes"
        return f"<PodPlan: {words} on {self.pod}, hosts up {self.availability:.4%} of the time>"

    def _repr_html_(self) -> str:
        """The tables for notebooks."""
        tables = [self.promises, self.spares, *([] if self._ettr is None else [self._ettr])]
        return "\n".join([table_html(repr(self)[1:-1], (), ()), *(each._repr_html_() for each in tables)])

    def to_pandas(self, table: str = "promises") -> object:
        """One of the tables, ``"promises"``, ``"spares"`` or ``"ettr"``, as a pandas frame.

        Raises
        ------
        OptionError
            For another table, or one that there is not.
        MissingExtraError
            If pandas is not installed.
        """
        return self._table(table).to_pandas()

    def to_arrow(self, table: str = "promises") -> object:
        """The same as a pyarrow Table.

        Raises
        ------
        OptionError
            For another table, or one that there is not.
        MissingExtraError
            If pyarrow is not installed.
        """
        return self._table(table).to_arrow()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The promises by the Arrow PyCapsule interface (needs pyarrow)."""
        return self.promises.__arrow_c_stream__(requested_schema)


@entry
@renames.arguments("plan")
def plan(
    pod: Pod | str,
    shapes: Shapes | None = None,
    *,
    availability: float | None = None,
    mtbf: checks.Duration | None = None,
    downtime: checks.Duration | None = None,
    failures: FailureTrace | None = None,
    any_rate: bool = False,
    probabilities: Sequence[float] = (0.9, 0.97, 0.99),
    checkpointing: Sequence[Checkpointing | str] | Checkpointing | str | None = None,
    interval: checks.Duration | None = None,
    cost: checks.Duration | None = None,
    restart_cost: checks.Duration | None = None,
    runtime: checks.Duration | None = None,
    simulate: bool = False,
    rng: checks.Random = 0,
) -> PodPlan:
    """How many slices a pod can promise, how many cubes to hold back for them, and how much of their time jobs work.

    Hosts fail independently of each other, or as in a trace.  A slice is up when all of its hosts are.  With static
    wiring slices lie in the fixed blocks of their shape, and are not turned.

    Parameters
    ----------
    pod : Pod or str
        The machine, or its text, such as ``"pod:tpu-v5p,wiring=static"``.
    shapes : str, int, sequence or mapping, optional
        Shapes, or numbers of chips, several of them in a list; shape -> how many, or text such as
        ``"8x8x16=8,4x4x4=20"``, of slices that are wanted at once.  By default slices of one cube, two, four and so on.
    availability : float, optional
        Share of the time that a host is up.
    mtbf, downtime : duration, optional
        Mean times of a host up and down.  Two of the three give the third.
    failures : FailureTrace, optional
        Failures of the hosts of this pod, instead: what was up is counted over its span.
    any_rate : bool, default False
        Accept what otherwise is taken for a mistake in units: hosts that fail more than once a day (once an hour if
        `mtbf` was given with its unit, or in a trace), or that are down for most of the time; a restart that takes
        longer than `mtbf`; a checkpoint of more than ten times the interval.
    probabilities : sequence of float
        Of what is promised.
    checkpointing : policies or text, optional
        Rules for the table `PodPlan.ettr`; by default all whose checkpoints do not depend on predictions.
    interval : duration, optional
        Of `Periodic`; 1 hour if nothing is said.
    cost, restart_cost : duration, optional
        Of a checkpoint, 1 minute, and from a failure until the job works again, 5 minutes.
    runtime : duration, optional
        Work of the job, 7 days, which matters without checkpoints.
    simulate : bool, default False
        Whether the ratios are simulated, too: one job alone on the pod, 20 times.
    rng : numpy.random.Generator, numpy.random.SeedSequence or int
        For what is drawn.

    Returns
    -------
    PodPlan
        With three tables.  ``promises``, a row for each shape (with a trace two: the trace, and independent hosts of
        the same availability): ``most`` slices of a pod without failures, how many are up on average (``mean``), and
        the most that are up at once with each probability (``slices_97``), with their share of the pod's chips
        (``share_97``).  ``spares``, a row for each shape with its number, and one for all at once: the ``cubes`` that
        they take, the ``chance`` that all are up on the pod, and the cubes needed beyond those for each probability
        (``spare_97``; NaN where it is not known: with static wiring for several shapes).  ``method`` says how: by a
        ``binomial`` tail, by ``counted`` states, by the ``trace``, or by 10,000 states that were ``drawn``, with the
        exact 95 % interval from ``low`` to ``high``: for static wiring and shapes that do not divide each other, such
        as 4x4x16 and 8x8x8.  ``ettr``: for each slice and checkpoint rule the effective training time ratio by both
        rules of `expected_ettr`, and simulated with its 95 % interval and the ``hits`` of failures in all runs;
        ``mttf`` is the mean time in seconds between failures that hit the slice, with a trace of the average place that
        it may have (with optical switches, cubes of consecutive numbers).

    Raises
    ------
    OptionError
        A machine that is no pod, or a pod with ``aligned=False``; shapes that it does not have, or more slices than fit
        into it; an availability or probability that is not between 0 and 1; times that are taken for a mistake in
        units; too much or too little about failures; what
        is for a table that there is not, or for other rules than those of `checkpointing`.
    InputError
        A trace of other hosts, without a span, or in days.

    Examples
    --------
    >>> import faultsim as fs
    >>> found = fs.plan(fs.Pod.tpu_v4(), {"8x8x16": 2, "4x4x4": 20}, availability=0.999)
    >>> print(found.promises)
    shape   chips  cubes  most   mean  slices_90  slices_97  slices_99  share_90  share_97  share_99
    8x8x16  1,024     16     4   3.36          3          3          3    75.00%    75.00%    75.00%
    4x4x4      64      1    64  62.98         62         61         60    96.88%    95.31%    93.75%
    """
    machine = _pod(pod)
    wanted, at_once = wanted_slices(machine, shapes)
    chances = tuple(sorted({share("probability", each, 0.97) for each in _listed("probabilities", probabilities)}))
    if len({name_of(each) for each in chances}) < len(chances):
        raise OptionError(f"probabilities: two would have columns of the same name, got {checks.shown(probabilities)}")
    job = Training(
        checks.number("runtime", _or(runtime, 604_800.0), above=0.0, unit="seconds"),
        checks.number("cost", _or(cost, 60.0), above=0.0, unit="seconds"),
        checks.number("restart_cost", _or(restart_cost, 300.0), low=0.0, unit="seconds"),
        checks.number("interval", _or(interval, 3600.0), above=0.0, unit="seconds"),
    )
    any_rate, draw = checks.flag("any_rate", any_rate), checks.flag("simulate", simulate)
    if failures is None:
        trace, hosts = None, given_hosts(availability, mtbf, downtime, any_rate)
    else:
        if any(each is not None for each in (availability, mtbf, downtime)):
            raise OptionError("plan: failures= says when hosts are up: give no availability=, mtbf= or downtime=")
        trace = checked_trace(failures, machine, any_rate)
        hosts = recorded_hosts(trace, machine.nodes)
    _judge(job, hosts, {"cost": cost, "interval": interval, "restart_cost": restart_cost, "mtbf": mtbf}, any_rate)
    check_room(machine, wanted if at_once else [])
    for each in wanted:
        check_room(machine, [each])
    rules = None if checkpointing is None else named_rules(checkpointing)
    of_usual = [name for name, value in (("interval", interval), ("cost", cost)) if value is not None]
    if rules is not None and of_usual:
        raise OptionError(f"plan: {of_usual[0]}= is for the usual rules, those of checkpointing= have their own")
    of_states, of_runs = checks.generator(rng).spawn(2)
    ettr = None
    if math.isnan(hosts.mtbf):
        said = {"checkpointing": checkpointing, "simulate": simulate or None, "runtime": runtime}
        said |= {"restart_cost": restart_cost, "interval": interval, "cost": cost}
        if what := next((name for name, value in said.items() if value is not None), ""):
            raise OptionError(f"plan: {what}= needs to know how often hosts fail; give downtime= or mtbf=, too")
    else:
        ettr = ettr_table(machine, wanted, hosts, rules, job, trace, of_runs if draw else None)
    return PodPlan(
        machine,
        wanted,
        hosts,
        chances,
        trace,
        promises_table(machine, wanted, hosts, chances, trace),
        spares_table(machine, wanted, at_once, hosts, chances, trace, of_states),
        ettr,
    )


def _judge(job: Training, hosts: Hosts, given: dict[str, object], any_rate: bool) -> None:
    """Check the times of checkpoints and restarts as far as they were given."""

    def named(name: str, seconds: float) -> tuple[str, object, float]:
        return name, given[name], seconds

    if given["cost"] is not None or given["interval"] is not None:
        rates.check_saving("plan", named("cost", job.cost), named("interval", job.interval), any_rate)
    if given["restart_cost"] is not None and hosts.mtbf < job.restart_cost:
        restart, between = named("restart_cost", job.restart_cost), named("mtbf", hosts.mtbf)
        rates.check_repair("plan", restart, between, any_rate, of="host")


def rewired(pod: Pod, wiring: str) -> Pod:
    """The same cubes with this wiring."""
    if wiring == pod.wiring:
        return pod
    return replace(pod, wiring=checks.choice("wiring", wiring, ("ocs", "static")))


def _pod(given: object) -> Pod:
    """The machine, if it is one whose slices can be counted."""
    machine = pod_of(as_machine(given))
    if machine is None:
        raise OptionError(f"plan: the machine must be a pod, such as 'tpu-v5p', got {given!s:.60}")
    if not machine.aligned:
        raise OptionError(
            "plan: with aligned=False no formula says how many boxes of a torus are up at once: use aligned=True for "
            "a lower bound, or simulate"
        )
    return machine


def _or(given: checks.Duration | None, usual: float) -> checks.Duration:
    return usual if given is None else given


def _listed(what: str, given: object) -> list[object]:
    listed = checks.plain(given)
    if isinstance(listed, int | float):
        return [listed]
    if isinstance(listed, str) or not isinstance(listed, Sequence) or not len(listed):
        raise OptionError(f"{what} must be numbers such as (0.9, 0.97, 0.99), got {checks.shown(given)}")
    return list(listed)


def _title(found: PodPlan) -> str:
    pod = found.pod
    wiring = "optical switches" if pod.wiring == "ocs" else "static wiring"
    lines = [f"{pod}  {pod.n_cubes} cubes of {pod.hosts} hosts, {pod.chips:,} chips, {wiring}"]
    cube = found.availability**pod.hosts
    lines.append(f"hosts up {found.availability:.4%} of the time" + ("" if found.failures else f", cubes {cube:.4%}"))
    return "\n".join(lines)
