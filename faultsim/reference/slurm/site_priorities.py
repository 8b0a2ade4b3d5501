"""What priorities of a site depend on, from its configuration."""

from __future__ import annotations

import math
from collections.abc import Iterable

from faultsim.data.slurm_site import SlurmRecord
from faultsim.errors import InputError
from faultsim.reference.slurm import priority as rules
from faultsim.reference.slurm.accounts import OF_PARENT, Accounts, Association
from faultsim.reference.slurm.compare_priorities import PrioritySite

#: ``PriorityFlags`` that are modelled, or change no priority of a waiting job.
FLAGS = frozenset({
    "ACCRUE_ALWAYS", "CALCULATE_RUNNING", "FAIR_TREE", "INCR_ONLY", "MAX_TRES", "NO_FAIR_TREE", "NO_NORMAL_ALL",
    "NO_NORMAL_ASSOC", "NO_NORMAL_PART", "NO_NORMAL_QOS", "NO_NORMAL_TRES", "SMALL_RELATIVE_TO_TIME",
})  # fmt: skip


def site_of(conf: SlurmRecord, *, merge_tied: bool = False) -> PrioritySite:
    """What priorities of a site depend on."""
    settings = conf.settings
    if settings["PriorityType"] != "priority/multifactor":
        raise InputError(f"{conf.name}: PriorityType={settings['PriorityType']}: only priority/multifactor has factors")
    weights = rules.Weights(
        age=settings["PriorityWeightAge"], assoc=settings["PriorityWeightAssoc"],
        fairshare=settings["PriorityWeightFairshare"], job_size=settings["PriorityWeightJobSize"],
        partition=settings["PriorityWeightPartition"], qos=settings["PriorityWeightQOS"],
        tres={name.lower(): value for name, value in settings["PriorityWeightTRES"]},
        max_age=_endless(settings["PriorityMaxAge"]),
        favor_small=settings["PriorityFavorSmall"],
        flags=_flags(conf.name, settings["PriorityFlags"]),
    )  # fmt: skip
    rows = []
    for each in conf.associations:
        shares = OF_PARENT if each.shares is None else each.shares
        parent = each.account if each.user else each.parent
        rows.append((Association(each.account, each.user, shares, each.priority), parent))
    there = {(each.account, each.user) for each in conf.associations}
    for user, parent in (("", ""), ("root", "root")):
        if ("root", user) not in there:
            rows.append((Association("root", user), parent))
    accounts = Accounts(rows)
    nodes = {node.name: node for node in conf.nodes}
    partitions = {
        part.name: rules.Totals(
            {
                "cpu": float(sum(nodes[name].cpus for name in part.nodes)),
                "mem": float(sum(nodes[name].memory for name in part.nodes)),
                "node": float(len(part.nodes)),
                "gres/gpu": float(sum(nodes[name].gpu_count for name in part.nodes)),
            },
            part.priority_job_factor,
        )
        for part in conf.partitions
    }
    half_life = _endless(settings["PriorityDecayHalfLife"])
    dampening = settings["FairShareDampeningFactor"]
    if dampening < 1:
        raise InputError(f"{conf.name}: FairShareDampeningFactor={dampening:g}: expected at least 1")
    return PrioritySite(
        weights=weights,
        cluster=rules.Cluster(
            len(nodes), sum(node.cpus for node in conf.nodes),
            max((part.priority_job_factor for part in conf.partitions), default=1),
            max((each.priority for each in conf.qos.values()), default=0), accounts.largest_priority(),
        ),
        partitions=partitions,
        billing={part.name: {name.lower(): value for name, value in part.billing} for part in conf.partitions},
        node_cpus={name: node.cpus for name, node in nodes.items()},
        accounts=accounts,
        qos={name: each.priority for name, each in conf.qos.items()},
        usage_factors={name: each.usage_factor for name, each in conf.qos.items()},
        half_life=0.0 if math.isinf(half_life) else half_life,
        dampening=dampening,
        merge_tied=merge_tied,
    )  # fmt: skip


def _endless(seconds: float | None) -> float:
    return math.inf if seconds is None else seconds


def _flags(where: str, words: Iterable[str]) -> frozenset[str]:
    """``PriorityFlags``, of which none is accepted without effect."""
    flags = {word.upper() for word in words}
    unknown = sorted(flags - FLAGS)
    if unknown:
        known = ", ".join(sorted(FLAGS))
        raise InputError(f"{where}: PriorityFlags={unknown[0]}: priorities are not modelled with it; known: {known}")
    if "NO_NORMAL_ALL" in flags:
        flags |= {f"NO_NORMAL_{name}" for name in ("ASSOC", "PART", "QOS", "TRES")}
    return frozenset(flags)
