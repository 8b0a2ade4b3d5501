"""How often every policy, option and effect occurs in the random cases of `digests`."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

import faultsim as fs

#: Options that are listed by value; of the others it counts whether they are zero.
LISTED = (
    "record", "estimates", "overrun", "reservation", "max_growth", "repairs", "rule", "box_order", "place", "when",
    "keep_promise", "live", "suspicious", "queue_cost", "residual", "threshold", "wrap",
    "wiring", "aligned", "depth", "backfill",
)  # fmt: skip
#: Numbers that say nothing of what is covered.
UNCOUNTED = ("seed", "probability", "nodes", "x", "y", "z")


def options(settings: Any, at: str = "") -> Iterable[str]:
    """Names of all policies and options in a lowered run."""
    for key, value in settings.items():
        if isinstance(value, dict) and "name" in value:
            yield f"{key} {value['name']}"
            yield from options(value, f"{value['name']} ")
        elif key in LISTED:
            yield f"{at}{key}={value}"
        elif isinstance(value, int | float) and (at == "static " or key not in UNCOUNTED):
            yield f"{at}{key} {'> 0' if value else '= 0'}"
        elif value is None and not at:
            yield f"no {key}"
        elif key == "spares":
            yield f"{at}{key}={value}"


def effects(result: fs.Result) -> Iterable[str]:
    """What really happened in a run."""
    jobs, ledger, counters, settings = result.jobs, result.ledger, result.counters, result.settings
    scheduler, moving = settings["scheduler"]["name"], settings["migration"]
    name = moving["name"] if moving else "fars"
    acting = bool(moving) != bool(settings["rescheduling"])  # of both at once it cannot be told which moved a job
    expected = np.where(result.workload["estimate"] < 0, result.workload["runtime"], result.workload["estimate"])
    overruns = settings["estimates"] == "requested" and bool((result.workload["runtime"] > expected).any())
    stolen = int(jobs["restarts"].sum()) > counters["failures_hit"]
    happened = {
        f"{scheduler}: jobs waited": (jobs["wait"] > 0).any(),
        f"{scheduler}: backfilled": jobs["backfilled"].any(),
        "easy fixed: backfilled": settings["scheduler"].get("reservation") == "fixed" and jobs["backfilled"].any(),
        "growth in the ledger": ledger["growth"] > 0,
        "a backfilled job grew": (jobs["backfilled"] & (jobs["allocated"] > jobs["size"])).any(),
        f"overrun {settings['overrun']}": overruns,
        "kills": counters["failures_hit"] > 0,
        "a job killed twice": (jobs["restarts"] > 1).any(),
        "a killed job had saved work": (counters["failures_hit"] > 0) and ledger["checkpoint"] > 0,
        "nodes down": ledger["down"] > 0,
        "jobs held": ledger["held_for_repair"] > 0,
        "jobs stolen from": stolen,
        "jobs moved": jobs["moves"].any(),
        f"{name} moved jobs": acting and jobs["moves"].any(),
        f"{name} moved none, and some": acting
        and counters["migrations_attempted"] > counters["migrations_successful"] > 0,
        "requested checkpoints": counters["checkpoints"] > 0,
        "restarts paid": ledger["restart"] > 0,
        "start delays paid": ledger["start_delay"] > 0,
        "jobs left out": sum(result.dropped.values()) > 0,
    }
    checkpointing = settings["checkpointing"]
    if checkpointing is not None:
        happened[f"checkpoints by {checkpointing['name']}"] = (jobs["checkpoint_time"] > 0).any()
    return (f"effect: {name}" for name, really in happened.items() if really)


def count(results: Iterable[Any]) -> Counter[str]:
    seen: Counter[str] = Counter()
    for result in results:
        if isinstance(result, fs.Result):
            machine = result.machine
            kind = "mesh" if machine.name == "torus" and not machine.wrap else machine.name
            least = next(least for least in (128, 64, 0) if machine.nodes > least)
            seen.update(["runs", f"{kind} of more than {least} nodes"])
            plain = ("failures", "predictor", "migration", "record")
            if machine.name == "cluster" and not any(result.settings[name] for name in plain):
                seen["cluster that need not know its nodes"] += 1
            seen.update(set(options(result.settings)) | set(effects(result)))
        else:
            seen["refused"] += 1
    return seen


def show(results: Iterable[Any]) -> None:
    seen = count(results)
    for name in sorted(seen):
        print(f"{seen[name]:7,}  {name}{'   RARE' if seen[name] < 50 else ''}")
