"""What an outage is that takes nothing away but makes jobs slower."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from faultsim import checks
from faultsim.arrays import Floats
from faultsim.errors import InputError, OptionError

Axis = Literal["x", "y", "z"]
AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Slowdown:
    """The effect of an outage on jobs: while it lasts, a second gives them less than a second's progress.

    For the parameter `effect` of `Domains`, where domains have all nodes of the machine: a switch that all share.

    Parameters
    ----------
    speed : float or mapping of str to float
        Seconds of progress in a second, above 0, at most 1: of all jobs that use what is out, which are those on more
        than one node, on a pod on more than one cube. Or by the shape of the slice in chips, ``{"4x4x8": 0.95}``, on a
        pod: of slices of these shapes, and no others.
    axis : {"x", "y", "z"}, optional
        On a pod with optical switches: only of slices of more than one cube along this axis. A slice of the shape AxBxC
        has A along x, B along y and C along z.

    Raises
    ------
    OptionError
        A speed that is not above 0 and at most 1; what is no shape; shapes that appear twice, or none.

    Examples
    --------
    >>> import faultsim as fs
    >>> pod = fs.Pod.tpu_v4()
    >>> switches = fs.Domains.blocks(pod, pod.nodes, copies=16, kind="switch z", effect=fs.Slowdown(0.95, axis="z"))
    >>> trace = fs.FailureTrace([500], [switches.row("switch z 0.3")], 1000).map_domains(switches)
    >>> log = pod.jobs(fs.Workload(submit=[0, 0], runtime=[1000, 1000], size=[128, 64]), chips="size")
    >>> fs.simulate(log, pod, failures=trace).jobs["finish"].round(3)
    array([1026.316, 1000.   ])
    """

    speed: Floats
    axis: Axis | None = None

    def __post_init__(self) -> None:
        speed: object = self.speed
        if isinstance(speed, tuple):  # as it is kept
            try:
                speed = dict(speed)
            except (TypeError, ValueError):
                raise OptionError(
                    f"speed of Slowdown must be a number, or a dict by shape, got {speed!r:.60}"
                ) from None
        if isinstance(speed, Mapping):
            if not speed:
                raise OptionError("speed of Slowdown: no shapes are given; expected some, such as {'4x4x8': 0.95}")
            found = [(_shape(shape), _speed(value, f"speed of Slowdown for {shape}")) for shape, value in speed.items()]
            if len({shape for shape, _ in found}) < len(found):
                raise OptionError(f"speed of Slowdown: a shape appears twice in {checks.shown(speed)}")
            object.__setattr__(self, "speed", tuple(found))
        else:
            object.__setattr__(self, "speed", _speed(speed, "speed of Slowdown"))
        if self.axis is not None:
            checks.choice("axis of Slowdown", self.axis, AXES)

    @property
    def shapes(self) -> tuple[str, ...]:
        """The shapes that it is for; none: for all."""
        return tuple(shape for shape, _ in self.speed) if isinstance(self.speed, tuple) else ()

    def of(self, shape: str, along: tuple[int, int, int]) -> float:
        """The speed of a slice of this shape, with so many cubes along each axis (of other jobs, 1 or 2 nodes).

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Slowdown(0.9).of("4x4x8", (1, 1, 2)), fs.Slowdown(0.9, axis="x").of("4x4x8", (1, 1, 2))
        (0.9, 1.0)
        """
        if self.axis is not None and along[AXES.index(self.axis)] == 1:
            return 1.0
        if isinstance(self.speed, tuple):
            return float(dict(self.speed).get(shape, 1.0))
        return float(self.speed) if max(along) > 1 else 1.0


class SlowOutage(NamedTuple):
    """When a domain was out whose outages slow jobs down, in seconds, and how many nodes the machine has."""

    time: float
    duration: float
    domain: str
    nodes: int
    effect: Slowdown

    def as_text(self) -> str:
        """As a line of a file says it.

        Examples
        --------
        >>> SlowOutage(60.0, 600.0, "switch 0", 1024, Slowdown({"4x4x8": 0.95}, "z")).as_text()
        '60.0,600.0,1024,z,4x4x8=0.95,switch 0'
        """
        speed = self.effect.speed
        said = ";".join(f"{a}={b!r}" for a, b in speed) if isinstance(speed, tuple) else repr(speed)
        return f"{self.time!r},{self.duration!r},{self.nodes},{self.effect.axis or '-'},{said},{self.domain}"


def slow_outage(text: str) -> SlowOutage:
    """What `SlowOutage.as_text` wrote.

    Raises
    ------
    InputError
        If it did not write this.

    Examples
    --------
    >>> slow_outage("60.0,600.0,1024,-,0.95,switch 0").effect
    Slowdown(speed=0.95, axis=None)
    """
    try:
        time, duration, nodes, axis, said, domain = text.split(",", 5)
        parts = [part.partition("=") for part in said.split(";")]
        by_shape = {shape: checks.parsed(value, float) for shape, _, value in parts} if "=" in said else None
        found = SlowOutage(
            checks.parsed(time, float),
            checks.parsed(duration, float),
            domain,
            checks.parsed(nodes, int),
            Slowdown(checks.parsed(said, float) if by_shape is None else by_shape, None if axis == "-" else axis),  # type: ignore[arg-type]
        )
    except (ValueError, OptionError) as error:
        raise InputError(f"slowdown: {text!r:.80} is none ({error!s:.80})") from None
    return checked_outage(found)


def checked_outage(found: SlowOutage) -> SlowOutage:
    """The same, unless its numbers cannot be."""
    times = np.array([found.time, found.duration])
    beyond = times[np.isfinite(times)] > checks.LATEST
    wrong = not math.isfinite(found.time) or math.isnan(found.duration) or beyond.any() or (times < 0).any()
    if wrong or found.nodes < 1 or not found.domain.isprintable():
        raise InputError(
            f"slowdown: expected times in seconds, 0 to {checks.LATEST}, and nodes, got {found.as_text()!r:.80}"
        )
    return found


def _speed(value: object, what: str) -> float:
    if not isinstance(value, str) and checks.number(what, value, above=0.0) > 1.0:
        raise OptionError(f"{what} must be at most 1, the speed without an outage, got {checks.shown(value)}")
    return checks.number(what, value, above=0.0)


def _shape(value: object) -> str:
    parts = value.lower().split("x") if isinstance(value, str) else ()
    if len(parts) != 3 or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise OptionError(
            f"speed of Slowdown: a shape is three extents in chips, such as '4x4x8', got {checks.shown(value)}"
        )
    return "x".join(str(int(part)) for part in parts)
