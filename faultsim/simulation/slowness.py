"""The clocks of jobs that outages slow down, as columns that both engines take (model.md#slowness)."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faultsim.data.slowdowns import SlowOutage
from faultsim.data.workload import Workload
from faultsim.errors import FaultsimError, InputError, OptionError
from faultsim.machines import Pod
from faultsim.machines.pod_jobs import SHAPE
from faultsim.simulation.options import RunOptions


class _Form(NamedTuple):
    """What is the same of jobs that are slow at the same times: a shape, and cubes (else nodes) along each axis."""

    shape: str
    along: tuple[int, int, int]


def check_slowdowns(run: RunOptions) -> None:
    """Refuse slowdowns of another machine, and of slices that it does not have."""
    outages = () if run.failures is None else run.failures.slowdowns
    for outage in outages:
        if outage.nodes != run.machine.nodes:
            raise InputError(
                f"failures: {outage.domain!r} slows jobs on {outage.nodes} nodes, and {run.machine} has "
                f"{run.machine.nodes}: give domains of this machine to map_domains"
            )
    for effect in dict.fromkeys(outage.effect for outage in outages):
        if not isinstance(run.machine, Pod):
            if effect.shapes or effect.axis:
                raise OptionError(f"{effect!r} is about slices, and {run.machine} has none: give one speed, no axis")
            continue
        if effect.axis and run.machine.wiring != "ocs":
            raise OptionError(
                f"{effect!r}: no switches serve the axis {effect.axis} of all cubes of {run.machine}: leave out the "
                f"axis, or use wiring='ocs'"
            )
        for shape in effect.shapes:
            try:
                found = run.machine.slice_of(shape=shape)
            except FaultsimError as error:
                raise OptionError(f"{effect!r}: {error}") from None
            if found.cubes == 0:
                raise OptionError(f"{effect!r}: a slice {shape} lies inside a cube, and uses nothing that all share")


def clocks(run: RunOptions, log: Workload) -> dict[str, NDArray[Any]] | None:
    """The speeds of the jobs over time; None if nobody is ever slow.

    Returns
    -------
    dict or None
        ``of`` (n,): the clock of each job, -1 for none; ``first`` (k + 1,): that of clock i are the rows from
        ``first[i]`` to ``first[i + 1]``; ``time`` (m,), in seconds, ascending in each clock, and ``speed`` (m,) from
        then on, in seconds a second.
    """
    outages = () if run.failures is None else run.failures.slowdowns
    if not outages:
        return None
    forms, which = _forms(run, log)
    corners = [speeds(outages, form.shape, form.along) for form in forms]
    numbers, made = [], list[list[tuple[float, float]]]()
    for found in corners:
        numbers.append(len(made) if found else -1)
        made += [found] if found else []
    if not made:
        return None
    rows = np.array([row for found in made for row in found], dtype=np.float64)
    return {
        "of": np.array(numbers, dtype=np.int32)[which],
        "first": np.cumsum([0, *(len(found) for found in made)], dtype=np.int64),
        "time": np.ascontiguousarray(rows[:, 0]),
        "speed": np.ascontiguousarray(rows[:, 1]),
    }


def speeds(outages: Sequence[SlowOutage], shape: str, along: tuple[int, int, int]) -> list[tuple[float, float]]:
    """When the speed of a slice changes, and to what; nothing if it never does.

    Examples
    --------
    >>> from faultsim.data.slowdowns import Slowdown
    >>> x, y = Slowdown(0.5), Slowdown(0.8)
    >>> outages = [SlowOutage(10, 20, "x", 64, x), SlowOutage(15, 20, "x", 64, x), SlowOutage(20, 5, "y", 64, y)]
    >>> speeds(outages, "", (2, 1, 1))
    [(10.0, 0.5), (20.0, 0.4), (25.0, 0.5), (35.0, 1.0)]
    """
    changes: list[tuple[float, int, int]] = []  # time, 1 or -1, place of what is out
    places: dict[tuple[str, Any], int] = {}
    factors: list[float] = []
    for outage in outages:
        speed = outage.effect.of(shape, along)
        if speed == 1.0 or outage.duration == 0.0:
            continue
        at = places.setdefault((outage.domain, outage.effect), len(places))
        if at == len(factors):
            factors.append(speed)
        changes.append((float(outage.time), 1, at))
        if outage.duration < math.inf:
            changes.append((float(outage.time + outage.duration), -1, at))
    changes.sort()
    found: list[tuple[float, float]] = []
    out: dict[int, int] = {}
    for row, (time, step, at) in enumerate(changes):
        out[at] = out.get(at, 0) + step
        if out[at] == 0:
            del out[at]
        if row + 1 < len(changes) and changes[row + 1][0] == time:
            continue
        speed = 1.0
        for place in sorted(out):
            speed *= factors[place]
        if speed != (found[-1][1] if found else 1.0):
            found.append((time, speed))
    return found


def _forms(run: RunOptions, log: Workload) -> tuple[list[_Form], NDArray[np.intp]]:
    """The different forms of the jobs, and which one each job has."""
    if not isinstance(run.machine, Pod):
        return [_Form("", (1, 1, 1)), _Form("", (2, 1, 1))], (log.size > 1).astype(np.intp)
    pod = run.machine
    hosts = np.array([each.hosts for each in pod.slices])
    # The first of as many hosts is the most cubic one.
    default = np.searchsorted(hosts, log.size)
    different, which = np.unique(default, return_inverse=True)
    if SHAPE in log.further:
        asked = log.columns[SHAPE].astype(str)
        by_text: dict[str, int] = {str(each): at for at, each in enumerate(pod.slices)}
        own = np.array([by_text.get(text, -1) for text in asked.tolist()])
        different, which = np.unique(np.where(own >= 0, own, default), return_inverse=True)
    edge = pod.cube[0]
    forms = []
    for at in different.tolist():
        found = pod.slices[at]
        a, b, c = (max(extent // edge, 1) for extent in found.shape)
        forms.append(_Form(str(found), (a, b, c) if found.cubes else (1, 1, 1)))
    return forms, which
