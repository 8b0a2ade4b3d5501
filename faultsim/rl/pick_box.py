"""`PickBox`: where on the torus a job starts."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium import spaces

from faultsim import checks
from faultsim._core.decisions import Decision
from faultsim.arrays import Flags, Integers
from faultsim.data.workload import Workload
from faultsim.errors import OptionError
from faultsim.machines import Torus, as_machine
from faultsim.policies import External, QueueOrder
from faultsim.policies.words import OrderWord
from faultsim.rl.environment import Environment
from faultsim.rl.observations import MOST_CHOICES, squash, time_to_end
from faultsim.synthetic import sdsc_like


class PickBox(Environment):
    """Where on the torus a job starts (``faultsim/PickBox-v0``).

    Who starts is decided as by `EasyBackfill`, or as by `Fcfs`.  An action is the number of a box among the free ones
    of the smallest size that has any, in the order of `Decision.boxes`.  A decision is shown where there is a choice.
    A backfilled job that may outlive the shadow time of the first in the queue is placed by the placement rule, which
    knows which boxes delay nobody.  An action that is not possible is taken for the first box.

    The observation is a dict: ``nodes`` (x, y, z), t / (t + 1 h) of the time t to the expected end of the job that has
    a node, 0 of a free node, 1 of one that is down; ``job``, share of the nodes, estimate and waiting time
    t / (t + 1 h); ``boxes``, base x, y, z and extents a, b, c in nodes, 0 where there is none.

    Parameters
    ----------
    log : Workload, optional
        What episodes are taken from; by default the jobs of `synthetic.sdsc_like`, of 10,000, that fit into a box.
    machine : Torus, or text such as "torus:4x4x8", optional
        By default `Torus` of 4 x 4 x 8 nodes.
    boxes : int, default 64
        How many boxes are shown, the first ones.
    backfill : bool, default True
        Whether `EasyBackfill` decides who starts.
    order, jobs, reward, metric, **options
        As for `PickJob`.

    Raises
    ------
    OptionError
        By invalid options, and by `step` after the end of an episode.

    Examples
    --------
    >>> import faultsim as fs, faultsim.rl, gymnasium
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 10], size=[2, 4])
    >>> env = gymnasium.make("faultsim/PickBox-v0", log=log, machine=fs.Torus(2, 2, 2), jobs=2)
    >>> seen, info = env.reset()
    >>> seen["boxes"][:3].tolist(), int(info["action_mask"].sum())
    ([[0, 0, 0, 2, 1, 1], [0, 0, 1, 2, 1, 1], [0, 1, 0, 2, 1, 1]], 12)
    """

    def __init__(
        self,
        log: Workload | None = None,
        machine: Torus | str | None = None,
        *,
        boxes: int = 64,
        backfill: bool = True,
        order: QueueOrder | OrderWord = "arrival",
        jobs: int = 256,
        reward: str = "telescoping",
        metric: str = "mean_bounded_slowdown",
        **options: Any,
    ) -> None:
        on: Any = Torus(4, 4, 8) if machine is None else as_machine(machine)
        if not on.has_boxes:
            raise OptionError(f"PickBox needs a Torus: a {on.name} has no boxes, got {on!r}; PickJob takes any machine")
        if log is None:
            log = sdsc_like(10_000, rng=0)
            log = log[(log.size & (log.size - 1)) == 0]
        super().__init__(log, on, jobs=jobs, reward=reward, metric=metric, **options)
        self._n, self._backfill = (
            checks.whole("boxes", boxes, low=1, high=MOST_CHOICES),
            checks.flag("backfill", backfill),
        )
        self._scheduler, self._torus = External(order=order), on
        shape = on.shape
        self.action_space = spaces.Discrete(self._n)
        self.observation_space = spaces.Dict(
            nodes=spaces.Box(0.0, 1.0, shape, np.float32),
            job=spaces.Box(0.0, 1.0, (3,), np.float32),
            boxes=spaces.Box(0, max(shape), (self._n, 6), np.int32),
        )

    def _settle(self) -> Decision | None:
        self._choices = self._passes()
        return next(self._choices, None)

    def _act(self, decision: Decision, action: int) -> Decision | None:
        self._begin(decision, self._job, self._boxes[action])
        return next(self._choices, None)

    def _passes(self) -> Iterator[Decision]:
        """The decisions of all passes; whoever goes on has started `_job`."""
        while (decision := self._sim.advance()) is not None:
            waiting = decision.queue.tolist()
            while waiting and decision.fits(waiting[0]):
                yield from self._choose(decision, waiting[0], self._smallest(decision, waiting[0]))
                del waiting[0]
            for job in waiting[1:] if self._backfill else ():
                if decision.may_backfill(job):
                    yield from self._choose(decision, job, self._harmless(decision, job, waiting[0]))

    def _choose(self, decision: Decision, job: int, boxes: Integers) -> Iterator[Decision]:
        """Start the job, if need be after asking where."""
        self._job, self._boxes = job, boxes[: self._n]
        if len(boxes) > 1:
            yield decision
        elif len(boxes) == 1:
            self._begin(decision, job, boxes[0])
        elif decision.backfill(job):
            self._reward.started(job, decision.now)

    def _smallest(self, decision: Decision, job: int) -> Integers:
        """The free boxes of the smallest size that has any."""
        boxes, size = decision.boxes(job), int(decision.queue.size[decision.queue.tolist().index(job)])
        while not len(boxes):
            size += 1
            boxes = decision.boxes(job, size)
        return boxes

    def _harmless(self, decision: Decision, job: int, head: int) -> Integers:
        """All free boxes of its size, if the job ends before the first in the queue can start; else none."""
        estimate = decision.queue.estimate[decision.queue.tolist().index(job)]
        delay = self._options.get("start_delay", 0.0)
        in_time = decision.now + delay + estimate <= decision.shadow(head)[0]
        return decision.boxes(job) if in_time else np.empty((0, 6), np.int32)

    def _mask(self, decision: Decision) -> Flags:
        return np.arange(self._n) < len(self._boxes)

    def _observe(self, decision: Decision | None) -> Any:
        shape = (self._torus.x, self._torus.y, self._torus.z)
        if decision is None:
            return {
                "nodes": np.zeros(shape, np.float32),
                "job": np.zeros(3, np.float32),
                "boxes": np.zeros((self._n, 6), np.int32),
            }
        nodes = squash(time_to_end(decision, self._torus))
        nodes.ravel()[decision.down] = 1.0
        queue = decision.queue
        at = queue.tolist().index(self._job)
        job = [queue.size[at] / self._torus.nodes, squash(queue.estimate[at]), squash(queue.wait[at])]
        boxes = np.zeros((self._n, 6), np.int32)
        boxes[: len(self._boxes)] = self._boxes
        return {"nodes": nodes.astype(np.float32), "job": np.array(job, np.float32), "boxes": boxes}
