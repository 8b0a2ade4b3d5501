"""The invariants (model.md#invariants), asked after every instant when ``settings.verify`` is true."""

import math

from faultsim.errors import EngineError
from faultsim.reference.ledger import balance
from faultsim.reference.state import State
from faultsim.reference.torus.boxes import union


def check_instant(state: State, between: bool = False) -> None:
    """No node holds two jobs; a job's nodes are one box; free + busy + down = N; every job is in one place.

    In `between`, what was told now may still have to happen.
    """
    held = sum(job.allocated for job in state.running)
    machine = f"free {state.free} + busy {held} + down {state.down}"
    demand(state, state.free + held + state.down == state.capacity, f"{machine} is not {state.capacity}")
    demand(state, state.free >= 0, f"{state.free} nodes free")
    alone = [node for node in state.up if state.holder(node) is None]
    if not state.shares:
        demand(state, len(alone) == state.down, f"{len(alone)} nodes are down, not {state.down}")
    over = len(state.done) == len(state.jobs)  # nothing happens after that: nodes stay down
    returns = [*state.up.values(), *(part.until for part in state.lost.values())]
    demand(state, over or all(up > state.now for up in returns), "a repair was missed")
    for job in state.running:
        demand(state, job.submit <= job.decision <= state.now, f"job {job.index} started before its time")
        demand(
            state,
            job.finish > state.now or (between and job.finish == state.now),
            f"job {job.index} runs past its finish {job.finish}",
        )
        demand(state, job.allocated >= job.size, f"job {job.index} holds {job.allocated} of {job.size}")
        broken = any(job.has(node) for node in state.up)
        broken |= any(job.index in part.held for part in state.lost.values())
        demand(state, broken == job.held, f"job {job.index} runs on a node that is down, or is held without one")
    if state.shares:
        check_shares(state)
    elif state.table is not None:
        masks = [job.mask for job in state.running]
        demand(state, union(masks).bit_count() == held, "a node holds two jobs")
        demand(state, union(masks) == state.busy, "the occupancy is not that of the running jobs")
        demand(state, state.table.may_be_busy(state.busy), "jobs use cubes that are held back")
        boxes = state.table.all_of_size
        demand(state, all(job.box in boxes(job.allocated) for job in state.running), "a job's nodes are not one box")
    else:
        nodes = [node for job in state.running for node in job.nodes] + state.free_nodes + alone
        demand(state, sorted(nodes) == list(range(state.nodes)), "a node holds two jobs or was lost")
    arrived = len(state.queue) + len(state.running) + len(state.done)
    arrived += 0 if state.eligibility is None else len(state.eligibility.pending)
    due, due_before = (sum(job.logged <= t for job in state.jobs) for t in (state.now, math.nextafter(state.now, -1.0)))
    demand(state, arrived == due or (between and due_before <= arrived < due), "a job was lost or doubled")


def check_shares(state: State) -> None:
    """What jobs have of a node and what is left of it are what the node has."""
    left = state.there()
    for part in state.lost.values():  # held jobs have it as a part of their shares
        for amounts in part.held.values():
            left[part.node] = left[part.node].plus(amounts)
    for job in state.running:
        for node, share in job.grant.items():
            left[node] = left[node].plus(share, -1)
        demand(
            state, sum(each.cores for each in job.grant.values()) == job.allocated, f"job {job.index} has other cores"
        )
    demand(state, left == state.left, "the free amounts of a node are not what jobs leave")
    demand(state, all(min(each) >= 0 for each in left), "a node gives more than it has")
    down = sum(left[node].cores for node in state.up)
    down += sum(part.amounts.cores for part in state.lost.values())
    demand(state, down == state.down, f"{down} cores are down, not {state.down}")


def check_end(state: State, accounts: dict[str, float], begin: float, end: float) -> None:
    """Every job ended exactly once, and the ledger balances to 1e-9."""
    ended = sorted(job.index for job in state.done)
    demand(state, ended == list(range(len(state.jobs))), "not every job ended exactly once")
    off = balance(accounts, state.capacity, begin, end)
    demand(state, off <= 1e-9, f"the ledger is off by {off:.3g} of N*T")


def demand(state: State, holds: bool, message: str) -> None:
    """Raise unless it holds."""
    if not holds:
        raise EngineError(f"reference engine at time {state.now}: {message}")
