"""`PickBox`: where on the torus a job starts."""

import os
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
from faultsim.rl.environment import Environment, read_given
from faultsim.rl.observations import MOST_CHOICES, squash, time_to_end
from faultsim.rl.rewards import RewardChoice
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
    log : Workload or path, optional
        What episodes are taken from; by default the jobs of `synthetic.sdsc_like`, of 10,000, that fit into a box.
    machine : Torus, or text such as "torus:4x4x8", optional
        By default `Torus` of 4 x 4 x 8 nodes.
    boxes : int, default 64
        How many boxes are shown, the first ones.
    backfill : bool, default True
        Whether `EasyBackfill` decides who starts.
    order, jobs, reward, metric, render_mode, **options
        As for `PickJob`.

    Raises
    ------
    TypeError
        By a keyword that there is not, with the one that was meant.
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
        log: Workload | str | os.PathLike[str] | None = None,
        machine: Torus | str | None = None,
        *,
        boxes: int = 64,
        backfill: bool = True,
        order: QueueOrder | OrderWord = "arrival",
        jobs: int = 256,
        reward: RewardChoice = "telescoping",
        metric: str = "mean_bounded_slowdown",
        render_mode: str | None = None,
        **options: object,
    ) -> None:
        on: Any = Torus(4, 4, 8) if machine is None else as_machine(machine)
        if not on.has_boxes:
            raise OptionError(f"PickBox needs a Torus: a {on.name} has no boxes, got {on!r}; PickJob takes any machine")
        if log is None:
            whole = sdsc_like(10_000, rng=0)
            whole = whole[(whole.size & (whole.size - 1)) == 0]
        else:
            whole = read_given("log", log, Workload)
        super().__init__(
            whole,
            on,
            External(order=order),
            jobs=jobs,
            reward=reward,
            metric=metric,
            render_mode=render_mode,
            options=options,
        )
        self._n = checks.whole("boxes", boxes, low=1, high=MOST_CHOICES)
        self._backfill = checks.flag("backfill", backfill)
        self._torus = on
        self._waiting: list[int] = []
        self._next = 0
        shape = on.shape
        self.action_space = spaces.Discrete(self._n)
        self.observation_space = spaces.Dict(
            nodes=spaces.Box(0.0, 1.0, shape, np.float32),
            job=spaces.Box(0.0, 1.0, (3,), np.float32),
            boxes=spaces.Box(0, max(shape), (self._n, 6), np.int32),
        )

    def _settle(self) -> Decision | None:
        while (decision := self._sim.advance()) is not None:
            self._waiting, self._next = decision.queue.tolist(), 0
            if self._goes_on(decision):
                return decision
        return None

    def _act(self, decision: Decision, action: int) -> Decision | None:
        self._begin(decision, self._job, self._boxes[action])
        return decision if self._goes_on(decision) else self._settle()

    def _goes_on(self, decision: Decision) -> bool:
        """Go through the pass as far as the next choice; False: the pass is over.

        `_waiting` has the jobs that the pass has not started; those before `_next` were considered.  While it is 0, the
        first one starts if it fits; from 1 on jobs are backfilled.
        """
        while self._next == 0 and self._waiting and decision.fits(self._waiting[0]):
            job = self._waiting.pop(0)
            if self._is_choice(decision, job, self._smallest(decision, job)):
                return True
        self._next = max(1, self._next)
        while self._backfill and self._next < len(self._waiting):
            job, self._next = self._waiting[self._next], self._next + 1
            if decision.may_backfill(job):
                boxes = self._harmless(decision, job, self._waiting[0])
                if self._is_choice(decision, job, boxes):
                    return True
        return False

    def _is_choice(self, decision: Decision, job: int, boxes: Integers) -> bool:
        """Whether there are several boxes for the job, which the next action starts; else it starts now."""
        self._job, self._boxes = job, boxes[: self._n]
        if len(boxes) > 1:
            return True
        if len(boxes) == 1:
            self._begin(decision, job, boxes[0])
        elif decision.backfill(job):
            self._reward.started(job, decision.now)
        return False

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

    def _observe(self, decision: Decision | None) -> object:
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
