"""Many `PickJob` in compiled code, on threads: `Compiled`."""

import copy
import threading
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete, Space
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode

from faultsim._core.environments import PickJobs
from faultsim.arrays import Flags, LongIntegers, Values
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.machines import Machine
from faultsim.policies import External, Fcfs, Hold, Requeue
from faultsim.rl.observations import Compact, ObservationChoice, RLScheduler
from faultsim.rl.rewards import COSTS, RewardChoice
from faultsim.simulation.stepping import Simulation

#: What the compiled environments have, in the order of their numbers there.
PRESETS: dict[str, type[Compact | RLScheduler]] = {"compact": Compact, "rlscheduler": RLScheduler}
REWARDS = ("terminal", "telescoping")
#: Options of a simulation that they take.
OPTIONS = frozenset({"failures", "recovery"})
#: How many of an environment's next episodes are drawn at once.
AHEAD = 16
MODES = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED)


def why_not(
    machine: Machine,
    observation: ObservationChoice,
    reward: RewardChoice,
    order: object,
    render_mode: str | None,
    options: dict[str, object],
) -> str:
    """What the compiled environments do not have of this; "": nothing."""
    others = sorted(set(options) - OPTIONS)
    failures, recovery = options.get("failures"), options.get("recovery")
    reasons = {
        f"on {machine!r}": not machine.any_nodes,
        f"with observation={observation!r}": observation not in PRESETS,
        f"with reward={reward!r}": reward not in REWARDS,
        f"with order={order!r}": order != "arrival",
        f"with render_mode={render_mode!r}": render_mode is not None,
        f"with {others[0]}=" if others else "": bool(others),
        "with outages that slow jobs down": isinstance(failures, FailureTrace) and len(failures.slowdowns) > 0,
        f"with recovery={recovery!r}": type(recovery) not in (type(None), Requeue, Hold),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


class Compiled:
    """Environments in compiled code that write what they give into the arrays of a `VectorEnvironment`.

    Parameters
    ----------
    log, machine, slots, jobs, observation, reward, metric, options
        As of `VectorPickJob`, checked.
    columns : tuple of arrays
        What they read of the log (environments.pyx).
    n, mode, threads
        How many, when the next episode begins, and on how many threads.
    out : dict of arrays
        Where they write, for as long as they are used.
    """

    final: dict[int, object]

    def __init__(
        self,
        log: Workload,
        machine: Machine,
        *,
        slots: int,
        jobs: int,
        observation: str,
        reward: str,
        metric: str,
        options: dict[str, Any],
        columns: tuple[Values, ...],
        n: int,
        mode: AutoresetMode,
        threads: int,
        out: dict[str, Values],
    ) -> None:
        self._n, self._mode, self._jobs, self._last = n, mode, jobs, len(log) - jobs
        shown = PRESETS[observation](log, machine, slots)
        self.space: Space[object] = shown.space
        self._nothing, self.final = shown.nothing(), {}
        out["seen"][:] = self._nothing  # a step writes where something has changed
        self._given: dict[str, Any] = {
            "log": log, "machine": machine, "slots": slots, "jobs": jobs, "observation": observation, "reward": reward,
            "metric": metric, "options": options, "columns": columns, "n": n, "mode": mode, "threads": threads,
            "out": out,
        }  # fmt: skip
        self._generators: list[np.random.Generator] = [np_random()[0] for _ in range(n)]
        self._first = np.zeros((n, AHEAD), np.int64)
        first = Workload(submit=np.zeros(jobs), runtime=log.runtime[:jobs], size=log.size[:jobs])  # before all failures
        # Without failures nothing has to be known of nodes but how many are free.
        scheduler = Fcfs() if options.get("failures") is None else External()
        template = Simulation(first, machine, scheduler=scheduler, **options)
        self._core = PickJobs(
            template._execution.engine,
            columns,
            {**out, "first": self._first},
            slots=slots,
            preset=list(PRESETS).index(observation),
            metric=list(COSTS).index(metric),
            autoreset=MODES.index(mode),
            telescoping=reward == "telescoping",
            threads=threads,
        )
        self._helpers = [self._helper() for _ in range(threads - 1)]
        self._dismiss = weakref.finalize(self, self._core.dismiss)
        self.environments = [One(self, i, out, slots) for i in range(n)]

    # -- copies: the actions of the episodes so far are repeated

    def __getstate__(self) -> dict[str, object]:
        return {
            "given": self._given,
            "generators": self._generators,
            "first": self._first,
            "states": [self._core.state(i) for i in range(self._n)],
            "own": [one.own for one in self.environments],
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["given"])  # type: ignore[misc]
        out = {name: values.copy() for name, values in self._given["out"].items()}
        self._generators, self._first[:] = state["generators"], state["first"]
        for i, of in enumerate(state["states"]):
            self._core.restore(i, *of)
            vars(self.environments[i]).update(state["own"][i])
        for name, values in out.items():  # what the last step gave, of those that began again too
            self._given["out"][name][:] = values

    def __deepcopy__(self, memo: dict[int, object]) -> "Compiled":
        for name in ("log", "machine", "options", "columns"):
            memo[id(self._given[name])] = self._given[name]
        other = memo[id(self)] = Compiled.__new__(Compiled)
        other.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return other

    def _helper(self) -> threading.Thread:
        """A thread that waits for work."""
        helper = threading.Thread(target=self._core.serve, args=(self._core.enlist(),), daemon=True)
        helper.start()
        return helper

    def begin(self, which: Iterable[int], seeds: list[int | None], out: dict[str, object]) -> None:
        """Begin episodes of these."""
        seeded = [i for i in which if seeds[i] is not None]
        for i in seeded:
            self._generators[i] = np_random(seeds[i])[0]
        self._draw(seeded)
        self._draw(self._core.used_up())
        if self._core.reset(np.array(list(which), np.int64)):
            self._draw(self._core.used_up())

    def go(self, actions: LongIntegers, out: dict[str, Values]) -> bool | None:
        """A step of each; whether an episode ended; None: there is no such action."""
        told = self._core.step(actions)
        if told is None:
            return None
        any_ended, used_up = told
        if used_up:
            self._draw(self._core.used_up())
        if any_ended and self._mode == AutoresetMode.SAME_STEP:
            self.final = dict.fromkeys(np.flatnonzero(out["ended"]).tolist(), self._nothing)
        return any_ended

    def _draw(self, which: list[int]) -> None:
        """Where the next episodes of these environments begin."""
        for i in which:
            self._first[i] = self._generators[i].integers(0, self._last + 1, AHEAD)
            self._core.drawn(i)

    def close(self) -> None:
        """End the threads."""
        self._dismiss()
        for helper in self._helpers:
            helper.join()


class One:
    """One of the environments, for what is wanted of it alone; further attributes are a caller's own."""

    render_mode = None

    def __init__(self, compiled: Compiled, i: int, out: dict[str, Values], slots: int) -> None:
        self._compiled, self._i, self._out = weakref.proxy(compiled), i, out
        self.observation_space, self.action_space = compiled.space, Discrete(slots + 1)
        self._names = frozenset([*vars(self), "_names"])

    @property
    def own(self) -> dict[str, object]:
        """Attributes of a caller."""
        return {name: value for name, value in vars(self).items() if name not in self._names}

    def action_masks(self) -> Flags:
        """Which actions are possible now, one bool per action."""
        mask: Flags = self._out["mask"][self._i].astype(np.bool_)
        return mask

    @property
    def np_random(self) -> np.random.Generator:
        """Draws its episodes, `AHEAD` at a time."""
        generator: np.random.Generator = self._compiled._generators[self._i]
        return generator
