"""What an environment shows of queue and machine: `OBSERVATIONS`.

All are arrays of float32 of a fixed shape.  An empty place in the queue is filled in as the preset says.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray

from faultsim import checks
from faultsim._core.decisions import Decision
from faultsim.arrays import Floats, LongIntegers, Values
from faultsim.data.workload import Workload
from faultsim.errors import OptionError
from faultsim.machines import Machine

Array = NDArray[np.float32]

#: Seconds at which a time shows as 1/2.
HALF = 3600.0
#: RLScheduler's longest waiting time (s), and its distance from 0 and 1.
LONGEST, NEARLY = 12 * 3600.0, 1e-5


#: A time, or an array of times.
Time = TypeVar("Time", float, Floats)


def squash(seconds: Time) -> Time:
    """A time of 0 s or more between 0 and 1: t / (t + 1 h)."""
    return seconds / (seconds + HALF)


class Observation:
    """What `PickJob` shows, to be subclassed: ``observation=MyObservation`` makes one per environment.

    A subclass sets `space`, and defines the call, and `nothing` if the space is not a Box.

    Parameters
    ----------
    log : Workload
        What episodes are taken from.
    machine : Cluster, Torus or Pod
    slots : int
        How many places of the queue are shown; the default of an environment is the attribute `slots` of the class.

    Examples
    --------
    >>> import faultsim as fs, numpy as np
    >>> from gymnasium.spaces import Box
    >>> from faultsim.rl import Observation, PickJob
    >>> class Free(Observation):
    ...     def __init__(self, log, machine, slots):
    ...         self.space = Box(0.0, machine.nodes, (2,), np.float32)
    ...     def __call__(self, decision, fits):
    ...         return np.array([decision.free, sum(fits)], np.float32)
    >>> log = fs.Workload(submit=[0, 0], runtime=[10, 10], size=[2, 4])
    >>> PickJob(log, fs.Cluster(4), jobs=2, observation=Free).reset()[0]
    array([4., 2.], dtype=float32)
    """

    slots: ClassVar[int] = 16
    space: Space[object]

    def __init__(self, log: Workload, machine: Machine, slots: int) -> None:
        raise NotImplementedError

    def __call__(self, decision: Decision, fits: Sequence[bool]) -> object:
        """What there is at a decision; `fits` has a bool for each of the first jobs of the queue, at most `slots`."""
        raise NotImplementedError

    def nothing(self) -> Any:
        """Of an episode that has ended."""
        if not isinstance(self.space, Box):
            raise NotImplementedError(f"{type(self).__name__} has to define nothing(), as its space is no Box")
        return np.zeros(self.space.shape, self.space.dtype)


class Compact(Observation):
    """The machine, then a row per place in the queue; shape (slots + 1, 4), all from 0 to 1.

    The machine: shares of nodes that are free and that are down; n / (n + slots) of n waiting jobs; the time to the
    next expected end (1: nobody runs).  A job: waiting time, estimate, share of the nodes, whether it fits now.  A time
    t is t / (t + 1 h), an empty place 0.
    """

    slots = 16

    def __init__(self, log: Workload, machine: Machine, slots: int) -> None:
        self._nodes, self._slots = machine.nodes, slots
        self.space = Box(0.0, 1.0, (slots + 1, 4), np.float32)

    def still(self, estimate: Floats, jobs: Mapping[str, Values]) -> list[Values]:
        """What never changes of jobs: columns 1 and 2."""
        return [squash(estimate), jobs["size"] / self._nodes]

    def __call__(self, decision: Decision, fits: Sequence[bool]) -> Array:
        seen: Array = self.nothing()
        queue, n = decision.queue, len(fits)
        ends = decision.running.expected_end
        soon = squash(max(0.0, ends.min() - decision.now)) if len(ends) else 1.0
        waiting = len(queue)
        seen[0] = (
            decision.free / self._nodes,
            len(decision.down) / self._nodes,
            waiting / (waiting + self._slots),
            soon,
        )
        seen[1 : n + 1, 0] = squash(queue.wait[:n])
        seen[1 : n + 1, 1], seen[1 : n + 1, 2] = self.still(queue.estimate[:n], {"size": queue.size[:n]})
        seen[1 : n + 1, 3] = fits
        return seen


class RLScheduler(Observation):
    """A row per place in the queue, as RLScheduler (SC 2020) shows them; shape (128, 8), all from 0 to 1.

    Waiting time in 12 h; estimate, size, memory, user, group and executable as shares of the largest, which is the
    machine for sizes and that of the log for the others (1: not known); whether it fits now (1e-5 or 1 - 1e-5).  An
    empty place is 0, six times 1, 0.
    """

    slots = 128

    _further = ("memory", "user", "group", "executable")

    def __init__(self, log: Workload, machine: Machine, slots: int) -> None:
        self._nodes = machine.nodes
        self._longest = max(1.0, float(log.requested.max()))
        known = [name for name in self._further if name in log.columns]
        self._largest = {name: max(1.0, float(log.columns[name].max())) for name in known}
        self._empty = np.tile(np.array([0, 1, 1, 1, 1, 1, 1, 0], np.float32), (slots, 1))
        self.space = Box(0.0, 1.0, (slots, 8), np.float32)

    def still(self, estimate: Floats, jobs: Mapping[str, Values]) -> list[Values]:
        """What never changes of jobs: columns 1 to 6."""
        shares = [estimate / self._longest, jobs["size"] / self._nodes]
        shares += [
            jobs[name] / self._largest[name] if name in self._largest else np.full(len(estimate), -1.0)
            for name in self._further
        ]
        return [np.where(share < 0, 1.0, np.minimum(share, 1.0 - NEARLY)) for share in shares]

    def __call__(self, decision: Decision, fits: Sequence[bool]) -> Array:
        seen: Array = self.nothing()
        queue, n = decision.queue, len(fits)
        columns = {name: getattr(queue, name)[:n] for name in ("size", *self._largest)}
        seen[:n, 0] = np.minimum(queue.wait[:n] / LONGEST, 1.0 - NEARLY)
        for column, values in enumerate(self.still(queue.estimate[:n], columns), start=1):
            seen[:n, column] = values
        seen[:n, 7] = np.where(fits, 1.0 - NEARLY, NEARLY)
        return seen

    def nothing(self) -> Array:
        """Of an episode that has ended."""
        return self._empty.copy()


class CqGym(Observation):
    """Two rows per place in the queue, then one per node, as CQGym shows them; shape (2 slots + nodes, 2).

    A job: (size, estimate), (0, waiting time).  A node: (1, 0) if it is free, else (0, time to the expected end of the
    job that has it, 0 if that has passed, or the node is down).  Nodes and seconds, up to 1e9; an empty place is 0.
    """

    slots = 50
    _most = 1e9

    def __init__(self, log: Workload, machine: Machine, slots: int) -> None:
        self._nodes, self._slots, self._machine = machine.nodes, slots, machine
        self.space = Box(0.0, self._most, (2 * slots + self._nodes, 2), np.float32)

    def __call__(self, decision: Decision, fits: Sequence[bool]) -> Array:
        seen: Array = self.nothing()
        queue, n = decision.queue, len(fits)
        seen[0 : 2 * n : 2, 0] = queue.size[:n]
        seen[0 : 2 * n : 2, 1] = queue.estimate[:n]
        seen[1 : 2 * n : 2, 1] = queue.wait[:n]
        nodes = seen[2 * self._slots :]
        nodes[:, 0] = ~decision.occupancy.ravel()
        nodes[:, 1] = time_to_end(decision, self._machine).ravel()
        return np.minimum(seen, np.float32(self._most))


class Cubes(Observation):
    """A row per place in the queue, then one per cube of a pod; shape (slots + cubes, 4), all from 0 to 1.

    A job as in `Compact`.  A cube: shares of its hosts that are free and that are down, whether all are free, and the
    time until the last of its jobs is expected to end, 0 if there is none.  A time t is t / (t + 1 h), an empty place
    0.
    """

    slots = 16

    def __init__(self, log: Workload, machine: Machine, slots: int) -> None:
        if machine.blocks is None:
            raise OptionError(f"the observation 'cubes' is of a Pod, got {machine!r}: use 'compact' or another")
        self._pod, self._slots = machine, slots
        cubes, self._hosts = machine.blocks
        self.space = Box(0.0, 1.0, (slots + cubes, 4), np.float32)

    def __call__(self, decision: Decision, fits: Sequence[bool]) -> Array:
        seen: Array = self.nothing()
        queue, n = decision.queue, len(fits)
        seen[:n, 0] = squash(queue.wait[:n])
        seen[:n, 1] = squash(queue.estimate[:n])
        seen[:n, 2] = queue.size[:n] / self._pod.nodes
        seen[:n, 3] = fits
        cubes, hosts = seen[self._slots :], self._hosts
        down = np.zeros(self._pod.nodes)
        down[decision.down] = 1.0
        cubes[:, 0] = 1.0 - decision.occupancy.reshape(-1, hosts).mean(axis=1)
        cubes[:, 1] = down.reshape(-1, hosts).mean(axis=1)
        cubes[decision.free_cubes, 2] = 1.0
        cubes[:, 3] = squash(time_to_end(decision, self._pod).reshape(-1, hosts).max(axis=1))
        return seen


def time_to_end(decision: Decision, machine: Machine) -> Floats:
    """Time (s) until the job of each node is expected to end, 0 where none is; as `Decision.occupancy` is shaped."""
    return on_nodes(decision, machine, np.maximum(0.0, decision.running.expected_end - decision.now), 0.0)


def in_box(shape: Sequence[int], box: Sequence[int]) -> tuple[LongIntegers, ...]:
    """The index of a box's nodes in an array of this shape; boxes go round."""
    return np.ix_(*(np.arange(at, at + n) % m for at, n, m in zip(box[:3], box[3:], shape, strict=True)))


def on_nodes(decision: Decision, machine: Machine, values: Iterable[float], nobody: float) -> Floats:
    """What belongs to each running job, written to its nodes, as `Decision.occupancy` is shaped."""
    shape = machine.array_shape
    found = np.full(shape, nobody)
    for where, value in zip(decision.running.where, values, strict=True):
        if machine.has_boxes:
            found[in_box(shape, where)] = value
        else:
            found[where] = value
    return found


#: Name -> what it is.
OBSERVATIONS: dict[str, type[Observation]] = {
    "compact": Compact,
    "rlscheduler": RLScheduler,
    "cqgym": CqGym,
    "cubes": Cubes,
}

#: Most places of a queue, boxes or environments: what an observation holds of each is a row.
MOST_CHOICES = 1_000_000

#: A name of `OBSERVATIONS`, or what makes one: a subclass of `Observation`, or a function.
ObservationChoice = str | Callable[[Workload, Machine, int], Observation]


def slots_shown(observation: ObservationChoice, slots: int | None) -> int:
    """How many places of the queue are shown: as given, or the default of the observation."""
    made_by = OBSERVATIONS.get(observation, Observation) if isinstance(observation, str) else observation
    default: int = getattr(made_by, "slots", Observation.slots)
    return default if slots is None else checks.whole("slots", slots, low=1, high=MOST_CHOICES)


def make_observation(observation: ObservationChoice, log: Workload, machine: Machine, slots: int) -> Observation:
    """The observation of this name, or one of the user's own."""
    if isinstance(observation, Observation):
        name = type(observation).__name__
        raise OptionError(f"observation makes one per environment: write observation={name}, without brackets")
    if not callable(observation):
        return OBSERVATIONS[checks.choice("observation", observation, OBSERVATIONS)](log, machine, slots)
    is_other_class = isinstance(observation, type) and not issubclass(observation, Observation)
    made = None if is_other_class else observation(log, machine, slots)
    if not isinstance(made, Observation) or not isinstance(getattr(made, "space", None), Space):
        raise OptionError(
            f"observation must be one of {', '.join(map(repr, OBSERVATIONS))} or a subclass of faultsim.rl.Observation "
            f"that sets its space, got {checks.shown_function(observation)}"
        )
    return made
