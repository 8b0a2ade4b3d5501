"""The capacity ledger (model.md#ledger): "Every node-second [...] is in exactly one account"."""

from math import fsum

from faultsim.reference.job import Job
from faultsim.reference.state import State


def advance(state: State, now: float) -> None:
    """Let the time pass."""
    state.now = now
    state.catch_up()


def ledger(state: State, jobs: list[Job]) -> dict[str, float]:
    """All accounts at the end of a run, or as of now, in node-seconds.

    "All work of such a job, also what was safe before an earlier kill, is in the account "cut at limit"", and "A job
    that an act kills before its limit is not cut" (model.md#overrun).
    """
    done = set(state.done)
    cut = {job for job in jobs if job in done and job.timed_out and not job.killed}
    return {
        "useful": fsum(job.size * job.useful for job in jobs if job not in cut),
        "cut_at_limit": fsum(job.size * job.useful for job in cut),
        "lost": fsum(job.size * job.lost for job in jobs),
        "checkpoint": fsum(job.size * job.checkpoint for job in jobs),
        "restart": fsum(job.size * job.restart for job in jobs),
        "migration": fsum(job.size * job.migration for job in jobs),
        "slowed": fsum(job.size * job.slowed for job in jobs),
        "start_delay": fsum(job.size * job.start_delay for job in jobs),
        "growth": fsum(job.growth for job in jobs),
        "held_for_repair": fsum(job.size * job.hold for job in jobs),
        "down": state.down_time,
        "reserved": state.reserved,
        "drained": state.drained,
        "idle_no_demand": state.idle_no_demand,
        "idle_demand": state.idle_demand,
    }


def balance(accounts: dict[str, float], nodes: int, begin: float, end: float) -> float:
    """How far the accounts are from N*T, relative: at most 1e-9."""
    capacity = nodes * (end - begin)
    return abs(fsum(accounts.values()) - capacity) / capacity if capacity > 0 else abs(fsum(accounts.values()))
