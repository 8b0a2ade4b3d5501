"""Where a caller says that a job starts, or goes: nodes, a box, or the slice of a pod (model.md#decisions)."""

from collections.abc import Callable
from typing import NoReturn

import numpy as np

from faultsim.reference.job import Job
from faultsim.reference.pod.slices import Shaped
from faultsim.reference.pod.table import PodTable
from faultsim.reference.state import State
from faultsim.reference.torus.boxes import Box

Refuse = Callable[[str], NoReturn]

#: What jobs of a machine take, and how that is said.
_TAKEN = {
    "cluster": ("nodes", ("nodes",)),
    "torus": ("boxes", ("box",)),
    "pod": ("slices", ("cubes", "nodes")),
    "site": ("shares of nodes", ("nodes",)),
}


def given_place(
    state: State, job: Job, given: dict[str, object], refuse: Refuse, end: float, *, moves: bool
) -> tuple[Box | None, list[int]] | None:
    """The box or slice, or the nodes of a cluster, that a job may have until `end`; None: none is named.

    A job that `moves` may keep what it has.
    """
    said = {name: value for name, value in given.items() if value is not None}
    if len(said) > 1:
        got = " and ".join(f"{name}=" for name in said)
        refuse(f"say where job {job.row} goes by one of nodes=, box= and cubes=, got {got}")
    if not said:
        return None
    ((what, value),) = said.items()
    numbers = whole(value)
    if numbers is None:
        refuse(f"{what} of job {job.row} must be whole numbers, got {value!r}")
    machine = state.settings.machine["name"]
    kind, ways = _TAKEN[machine]
    if what not in ways:
        refuse(f"jobs on a {machine} take {kind}: give {' or '.join(f'{way}=' for way in ways)}, not {what}=")
    if what == "box":
        box = _free(state, job, _box(state, numbers, refuse), f"box {tuple(numbers)}", refuse, end, moves)
        check_open(state, job, {f"box {tuple(numbers)}": box.mask}, end, refuse, moves)
        return box, []
    asked, hosts = numbers, 1
    if what == "cubes":
        assert isinstance(state.table, PodTable)
        hosts = state.table.slices.hosts
        _distinct(asked, state.table.slices.n_cubes, "cube", job, refuse)
        numbers = [cube * hosts + host for cube in asked for host in range(hosts)]
    _distinct(numbers, state.nodes, "node", job, refuse)
    if state.shares:
        check_open(state, job, {f"node {node}": 1 << node for node in numbers}, end, refuse, moves)
        return None, numbers
    if state.table is None:
        if len(numbers) != job.size:
            refuse(f"job {job.row} asks for {job.size} nodes, got {len(numbers)}")
        for node in numbers:
            is_free = node in state.free_nodes and not state.drained_mask >> node & 1
            if not is_free and not (moves and node in job.nodes):
                refuse(f"node {node} is not free")
        check_open(state, job, {f"node {node}": 1 << node for node in numbers}, end, refuse, moves)
        return None, sorted(numbers)
    mask = sum(1 << node for node in numbers)
    shaped = isinstance(job.needs, Shaped)
    slices = state.table.all_of_size(job.needs) if shaped else state.table.of_size.get(len(numbers), [])
    found = next((box for box in slices if box.mask == mask), None)
    if found is None:
        shape = f" of the shape {state.world.columns['shape'][job.row]}" if shaped else ""
        refuse(f"the {len(numbers)} nodes given for job {job.row} are no slice of this pod{shape}")
    taken = (state.blocked | state.drained_mask) & ~(job.mask if moves else 0)
    first = next((number for number in asked if taken >> number * hosts & ((1 << hosts) - 1)), None)
    kind = what.removesuffix("s")
    found = _free(state, job, found, f"{kind} {first}", refuse, end, moves)
    parts = {f"{kind} {number}": ((1 << hosts) - 1) << number * hosts for number in asked}
    check_open(state, job, parts, end, refuse, moves)
    return found, []


def check_open(state: State, job: Job, parts: dict[str, int], end: float, refuse: Refuse, moves: bool) -> None:
    """Refuse what is closed to a job from now to `end`; one that moves keeps what it has."""
    if state.absences is None:
        return
    own = sum(1 << node for node in range(state.nodes) if job.has(node)) if moves else 0
    for name, nodes in parts.items():
        if why := state.absences.in_the_way(job, state.now, max(state.now, end), nodes & ~own):
            refuse(f"job {job.row} cannot have {name}: {why}")


def _distinct(numbers: list[int], end: int, what: str, job: Job, refuse: Refuse) -> None:
    for number in numbers:
        if not 0 <= number < end:
            refuse(f"there is no {what} {number}: {what}s are 0 to {end - 1}")
    if len(set(numbers)) != len(numbers):
        refuse(f"{what}s of job {job.row} are named twice")


def _box(state: State, numbers: list[int], refuse: Refuse) -> Box:
    assert state.table is not None
    if len(numbers) != 6:
        refuse(f"a box is six numbers (x, y, z, a, b, c), got {len(numbers)}")
    boxes = (other for size in state.table.sizes for other in state.table.of_size[size])
    found = next((other for other in boxes if other[:6] == tuple(numbers)), None)
    if found is None:
        refuse(f"{tuple(numbers)} is no box of this machine")
    return found


def _free(state: State, job: Job, box: Box, name: str, refuse: Refuse, end: float, moves: bool) -> Box:
    """A place that is large enough, if nobody else has a node of it and what is held back stays so."""
    own = job.mask if moves else 0
    assert state.table is not None
    kind = state.table.place
    if moves and box.size != job.allocated:
        refuse(f"job {job.row} moves to a {kind} of the {job.allocated} nodes that it has, got {box.size}")
    if box.size < job.size:
        refuse(f"job {job.row} asks for {job.size} nodes, and the {kind} has {box.size}")
    if box.mask & (state.blocked | state.drained_mask) & ~own:
        refuse(f"{name} is not free")
    assert state.table is not None
    claimed = 0 if state.absences is None else state.absences.claimed(job, state.now, max(state.now, end))
    if not state.table.may_be_busy(state.busy & ~own | box.mask | claimed):
        refuse(f"job {job.row} cannot have this slice: it would use cubes that are held back")
    if moves and box == job.box:
        refuse(f"job {job.row} already has this {kind}")
    return box


def whole(values: object) -> list[int] | None:
    try:
        array = np.asarray(values)
    except ValueError:
        return None
    return array.ravel().tolist() if array.dtype.kind in "iu" else None
