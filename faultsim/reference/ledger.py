"""The capacity ledger: "every node-second of N*T is in exactly one account" (MODEL.md section 14, reading R9)."""

from math import fsum

from faultsim.reference.state import State

__all__ = ["ACCOUNTS", "advance", "balance", "ledger"]

#: All accounts of MODEL.md 14; those of failures and checkpoints stay zero until these exist.
ACCOUNTS = (
    "useful", "lost", "checkpoint", "restart", "migration", "start_delay", "growth", "held_for_repair", "down",
    "idle_no_demand", "idle_demand",
)  # fmt: skip


def advance(state: State, now: float) -> None:
    """Let the time pass: "idle without demand, idle despite demand (min(free, asked for by the queue))"."""
    gap = now - state.now
    wanted = min(state.free, sum(job.size for job in state.queue))
    state.idle_demand += wanted * gap
    state.idle_no_demand += (state.free - wanted) * gap
    state.now = now


def ledger(state: State) -> dict[str, float]:
    """All accounts at the end of a run, in node-seconds."""
    cost = 0.0 if state.settings["migration"] is None else float(state.settings["migration"]["cost"])
    accounts = dict.fromkeys(ACCOUNTS, 0.0)
    # By the clock, so that the accounts sum to N*T however short the job and late the time.
    accounts["useful"] = fsum(job.size * ((job.finish - job.start) - cost * job.moves) for job in state.jobs)
    accounts["start_delay"] = fsum(job.size * (job.start - job.decision) for job in state.jobs)
    accounts["migration"] = fsum(job.size * cost * job.moves for job in state.jobs)
    accounts["growth"] = fsum((job.allocated - job.size) * (job.finish - job.decision) for job in state.jobs)
    accounts["idle_no_demand"] = state.idle_no_demand
    accounts["idle_demand"] = state.idle_demand
    return accounts


def balance(accounts: dict[str, float], nodes: int, begin: float, end: float) -> float:
    """How far the accounts are from N*T, relative: at most 1e-9."""
    capacity = nodes * (end - begin)
    return abs(fsum(accounts.values()) - capacity) / capacity if capacity > 0 else abs(fsum(accounts.values()))
