"""Policies that are compiled elsewhere (faultsim/policy.h), called through ctypes, with this engine behind them."""

import ctypes
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim.errors import DecisionError
from faultsim.policies.compiled_tables import CompiledScheduler
from faultsim.policies.contract import ACTS, FAILING_NODES, QUESTIONS, VERSION, Boxes, Nodes, Pass, Release
from faultsim.reference.decisions import Decision
from faultsim.reference.job import Job, expected_if_started
from faultsim.reference.scheduling.placement import Window, predicted_in, window_at
from faultsim.reference.scheduling.schedulers import Fcfs
from faultsim.reference.state import State
from faultsim.reference.torus.boxes import Box

CHANGED_ALL = 2
NO_PLACE, STARTED_BEFORE, NO_ROOM, AHEAD_OF_ITSELF, NOT_LATER, GAVE_UP = range(6)
NO_BOX, NOT_AS_MANY, NOT_FREE, TAKE_GAVE_UP = range(4)


class Compiled(Fcfs):
    """A scheduler in C decides, within the pass (model.md#decisions).  Nothing is promised."""

    memory: "ctypes.Array[ctypes.c_char] | None" = None

    def goes_by_order(self, state: State) -> bool:
        return True

    def run_pass(self, state: State, order: list[Job]) -> None:
        policy = self.rule["object"]
        size = policy.table.state_bytes + policy.table.job_bytes * len(state.jobs) + 1
        before = b"" if self.memory is None else self.memory.raw
        if len(before) < size:  # more for jobs that were submitted since
            self.memory = ctypes.create_string_buffer(before, size)
        CompiledPass(state, order, policy).run(self.memory)


class Acting(Decision):
    """A decision of a scheduler that acts although it is not of the caller."""

    def _act(self, what: str) -> None:
        pass


class CompiledPass:
    """faultsim_pass_t of one pass.

    Attributes
    ----------
    error : BaseException or None
        What went wrong; from then on nothing is done.
    """

    def __init__(self, state: State, order: list[Job], policy: CompiledScheduler) -> None:

        self.state, self.policy, self.waiting = state, policy, list(order)
        self.decision = Acting(state, "schedule", order)
        self.error: BaseException | None = None
        self.kept: list[object] = []
        self.face = face = Pass(version=VERSION, nodes=state.nodes)
        face.placed = state.table is not None or state.shares
        face.waiting, face.change, face.now = len(order), CHANGED_ALL, state.now
        face.disturbed = self.decision.disturbed
        face.job = self.column(ctypes.c_int32, [job.index for job in order])
        face.need = self.column(ctypes.c_int32, [job.needs for job in order])
        least = [expected_if_started(job, 0.0) * (1.0 - 2.0**-23) for job in order]  # rounded down as a float
        face.least = self.column(ctypes.c_float, least)
        columns = {"submit": ctypes.c_double, "estimate": ctypes.c_double, "size": ctypes.c_int32}
        for name, kind in {**columns, "restarts": ctypes.c_int32}.items():
            setattr(face, name, self.column(kind, [getattr(job, name) for job in state.jobs]))
        face.row = self.column(ctypes.c_int32, [job.row for job in state.jobs])
        for name, kind in ACTS.items():
            nothing = {"expected_end": math.nan, "shadow": math.nan, "fits": 0}.get(name, -1)
            self.kept.append(kind(self.guarded(getattr(self, name), nothing)))
            setattr(face, name, self.kept[-1])
        self.renew()

    def column(self, kind: Any, values: Sequence[object]) -> object:
        """An array that is kept for as long as the pass."""
        self.kept.append((kind * max(len(values), 1))(*values))
        return self.kept[-1]

    def renew(self) -> None:
        """What every start changes."""
        state, face = self.state, self.face
        rows = [(job.expected, job.index, job.allocated) for job in state.running]
        if state.repairs_known:
            down = {node: up for node, up in state.up.items() if state.holder(node) is None and up < math.inf}
            rows += [(up, -1 - node, 1) for node, up in down.items()]
        face.free, face.running = state.open_to_start, len(rows)
        face.release = self.column(Release, sorted(rows))

    def run(self, memory: object) -> None:
        """One call of the scheduler."""
        code = self.policy.table.schedule(ctypes.addressof(self.face), memory, self.policy.table.data)
        self.state.n_decisions += 1
        if self.error is None and code != 0:
            self.refuse(GAVE_UP, number=code)
        if self.error is not None:
            raise self.error

    def guarded(self, function: Callable[..., object], nothing: object) -> Callable[..., object]:
        """An exception waits until the scheduler has returned."""

        def call(_: int, *arguments: object) -> object:
            if self.error is None:
                try:
                    return function(*arguments)
                except BaseException as error:
                    self.error = error
            return nothing

        return call

    def refuse(self, what: int, place: int = -1, number: float = 0.0) -> None:
        state = self.state
        job = self.waiting[place] if 0 <= place < len(self.waiting) else None
        raise self.policy.refused(
            what,
            now=state.now,
            free=state.open_to_start,
            need=job.needs if job else 0,
            placed=state.table is not None,
            shared=state.shares,
            place=place,
            waiting=len(self.waiting),
            number=number,
            row=job.row if job else -1,
        )

    def at(self, place: int) -> Job:
        if not 0 <= place < len(self.waiting):
            self.refuse(NO_PLACE, place)
        return self.waiting[place]

    def waits(self, place: int) -> Job:
        job = self.at(place)
        if job not in self.state.queue:
            self.refuse(STARTED_BEFORE, place)
        return job

    # -- the functions of the struct

    def expected_end(self, place: int) -> float:
        return expected_if_started(self.at(place), self.state.now + self.state.delay)

    def fits(self, place: int) -> int:
        return int(self.decision.fits(self.at(place).row))

    def start(self, place: int) -> int:
        job = self.waits(place)
        if not self.decision.fits(job.row):
            self.refuse(NO_ROOM, place)
        self.decision.start(job.row)
        self.renew()
        return 0

    def shadow(self, place: int, extra: "ctypes._Pointer[ctypes.c_int64]") -> float:
        time, left = self.decision.shadow(self.waits(place).row)
        if extra:
            extra[0] = left
        return time

    def backfill(self, place: int, head: int, growth: int) -> int:
        job = self.waits(place)
        if job.needs > self.state.open_to_start and place != head:
            return 0
        other = self.waits(head)
        if job is other:
            self.refuse(AHEAD_OF_ITSELF, place)
        started = self.decision.backfill(job.row, other.row, max_growth=max(growth, 0))
        self.renew()
        return int(started)

    def wake(self, time: float) -> int:
        try:
            self.decision.wake(time)
        except DecisionError:
            self.refuse(NOT_LATER, number=time)
        return 0


# -- placements


def box(state: State, job: Job, candidates: list[Box], occupied: int, window: Window) -> Box:
    """A rule in C: ``choose``."""
    assert state.table is not None
    policy, table = state.settings.placement["object"], state.table
    rows = [part for candidate in candidates for part in candidate[:6]]
    face = Boxes(version=VERSION, job=job.row, size=job.size, now=state.now, count=len(candidates))
    face.shape[:] = table.shape
    face.submit, face.estimate, face.p = job.submit, job.estimate, state.world.p
    kept: list[object] = [(ctypes.c_int32 * len(rows))(*rows)]
    face.box = kept[0]

    def busy(_: int, x: int, y: int, z: int) -> int:
        X, Y, Z = table.shape
        return not (0 <= x < X and 0 <= y < Y and 0 <= z < Z) or bool(occupied >> (x * Y + y) * Z + z & 1)

    def left(_: int, k: int) -> int:
        return largest_left(state, candidates[k], occupied) if 0 <= k < len(candidates) else 0

    def failing(_: int, k: int) -> int:
        return predicted_in(state, [candidates[k]], window)[0] if 0 <= k < len(candidates) else 0

    answers: dict[str, Callable[..., int]] = {"busy": busy, "left": left, "failing": failing}
    for name, function in answers.items():
        kept.append(QUESTIONS[name](function))
        setattr(face, name, kept[-1])
    index: int = policy.table.choose(ctypes.addressof(face), policy.table.data)
    if not 0 <= index < len(candidates):
        raise policy.refused(NO_BOX, job.row, state.now, index, len(candidates))
    return candidates[index]


def largest_left(state: State, candidate: Box, occupied: int) -> int:
    """The largest box that is free beside a candidate."""
    assert state.table is not None
    return state.table.largest_free(occupied | candidate.mask)


def nodes(state: State, job: Job, free: list[int], count: int) -> list[int]:
    """A rule in C: ``take``; none are asked for if none are wanted."""
    if count == 0:
        return []
    policy, words = state.settings.placement["object"], (state.nodes + 63) // 64
    face = Nodes(version=VERSION, job=job.row, count=count, nodes=state.nodes, words=words, now=state.now)
    face.submit, face.estimate, face.p = job.submit, job.estimate, state.world.p
    open_, taken = mask_of(free, words), np.zeros(words, np.uint64)
    failing = mask_of(state.world.failing(*window_at(state, job, state.now)), words)
    face.free = open_.ctypes.data
    kept = (ctypes.c_int32 * state.nodes)(*state.failures_of)
    face.failures = kept
    ask = FAILING_NODES(lambda _: failing.ctypes.data if failing.any() else None)
    face.failing = ask
    code = policy.table.take(ctypes.addressof(face), taken.ctypes.data, policy.table.data)
    chosen = [node for node in range(words * 64) if int(taken[node // 64]) >> node % 64 & 1]
    what = TAKE_GAVE_UP if code else NOT_FREE if set(chosen) - set(free) else NOT_AS_MANY
    if code or what == NOT_FREE or len(chosen) != count:
        raise policy.refused(what, job.row, state.now, code or len(chosen), count)
    return chosen


def mask_of(nodes: Iterable[int], words: int) -> NDArray[np.uint64]:
    """A bit for each node."""
    mask = [0] * words
    for node in nodes:
        mask[node // 64] |= 1 << node % 64
    return np.array(mask, np.uint64)
