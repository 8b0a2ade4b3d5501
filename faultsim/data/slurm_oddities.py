"""What a configuration of Slurm allows, but hardly means."""

from __future__ import annotations

from collections.abc import Iterator

from faultsim import checks
from faultsim.data.slurm_site import SlurmRecord

_MOST = 5


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def oddities(conf: SlurmRecord, stated: set[str]) -> list[str]:
    """Sentences on what is odd; `stated` are the QOS that a file of accounts defines."""
    return [*_of_nodes(conf), *_of_partitions(conf), *_of_priorities(conf), *_of_accounts(conf, stated)]


def _of_nodes(conf: SlurmRecord) -> Iterator[str]:
    used = {name for part in conf.partitions for name in part.nodes}
    if lone := [node.name for node in conf.nodes if node.name not in used]:
        yield f"{checks.count(len(lone), 'nodes')} in no partition: {_listed(lone)}"
    if down := [node.name for node in conf.nodes if not node.is_up]:
        yield f"{checks.count(len(down), 'nodes')} with a State that no job starts on: {_listed(down)}"
    counted = any("Memory" in word for word in conf.settings["SelectTypeParameters"])
    if counted and (small := [node.name for node in conf.nodes if node.memory <= 1]):
        yield f"memory is handed out, but these have no RealMemory (so 1 MiB): {_listed(small)}"
    if conf.settings["SelectType"] == "select/linear":
        yield "SelectType=select/linear hands out whole nodes; the model shares them unless jobs are exclusive"


def _of_partitions(conf: SlurmRecord) -> Iterator[str]:
    by_name = {node.name: node for node in conf.nodes}
    for part in conf.partitions:
        if part.state != "UP":
            yield f"partition {part.name} is {part.state}: none of its jobs starts"
        if not part.nodes:
            yield f"partition {part.name} has no nodes"
        if part.max_time is not None and part.default_time is not None and part.default_time > part.max_time:
            yield f"partition {part.name}: MaxTime ({part.max_time / 60:g} min) is below DefaultTime"
        if part.max_time == 0:
            yield f"partition {part.name}: MaxTime is 0: no job fits"
        if part.max_nodes is not None and part.max_nodes < part.min_nodes:
            yield f"partition {part.name}: MaxNodes ({part.max_nodes}) is below MinNodes ({part.min_nodes})"
        if part.nodes and part.min_nodes > len(part.nodes):
            has = checks.count(len(part.nodes), "nodes")
            yield f"partition {part.name}: MinNodes is {part.min_nodes}, but it has {has}"
        nodes = [by_name[name] for name in part.nodes]
        smallest = min((node.memory for node in nodes), default=0)
        if part.def_mem_per_node is not None and nodes and part.def_mem_per_node > max(node.memory for node in nodes):
            yield f"partition {part.name}: DefMemPerNode ({part.def_mem_per_node} MiB) is more than any node has"
        if part.def_mem_per_cpu is not None and nodes and part.def_mem_per_cpu > smallest:
            yield f"partition {part.name}: DefMemPerCPU ({part.def_mem_per_cpu} MiB) is more than a node of it has"
        if part.max_cpus_per_node is not None and nodes and part.max_cpus_per_node >= max(node.cpus for node in nodes):
            yield f"partition {part.name}: MaxCPUsPerNode ({part.max_cpus_per_node}) limits nothing"
        for name in (*part.allow_qos, *part.deny_qos, part.qos):
            if conf.qos and name and name not in conf.qos:
                hint = checks.did_you_mean(name, conf.qos)
                yield f"partition {part.name} names the QOS {name}, which is not there{hint}"
        accounts = {each.account for each in conf.associations}
        for name in (*part.allow_accounts, *part.deny_accounts):
            if accounts and name not in accounts:
                yield f"partition {part.name} names the account {name}, which is not there"
    if not any(part.default for part in conf.partitions):
        yield "no partition has Default=YES: jobs that name none are refused"


def _of_priorities(conf: SlurmRecord) -> Iterator[str]:
    settings = conf.settings
    weighted = [name for name in settings if name.startswith("PriorityWeight") and settings[name]]
    if settings["PriorityType"] == "priority/basic":
        if weighted:
            yield f"PriorityType is priority/basic: {_listed(weighted)} decide nothing"
    elif not weighted:
        yield "PriorityType is priority/multifactor, but all weights are 0: jobs go in order of submission"
    factors = {part.priority_job_factor for part in conf.partitions}
    if settings["PriorityWeightPartition"] and len(factors) == 1:
        yield "PriorityWeightPartition never decides: PriorityJobFactor is the same in all partitions"
    if conf.associations:
        if settings["PriorityWeightQOS"] and len({each.priority for each in conf.qos.values()}) <= 1:
            yield "PriorityWeightQOS never decides: all QOS have the same priority"
        if settings["PriorityWeightAssoc"] and not any(each.priority for each in conf.associations):
            yield "PriorityWeightAssoc never decides: no association has a priority"
        users = [each for each in conf.associations if each.user and each.user != "root"]
        if settings["PriorityWeightFairshare"] and len(users) <= 1:
            yield f"PriorityWeightFairshare never decides: {checks.count(len(users), 'users')} only"
    for resource, weight in settings["PriorityWeightTRES"]:
        if resource == "gres/gpu" and weight and not any(node.gpu_count for node in conf.nodes):
            yield "PriorityWeightTRES has a weight of gres/gpu, but no node has GPUs"
    if settings["PreemptType"] == "preempt/none" and settings["PreemptMode"] not in (("OFF",), ()):
        yield f"PreemptMode={','.join(settings['PreemptMode'])} has no effect: PreemptType is preempt/none"
    tiers = {part.priority_tier for part in conf.partitions}
    if settings["PreemptType"] == "preempt/partition_prio" and len(tiers) == 1:
        yield "PreemptType=preempt/partition_prio never preempts: PriorityTier is the same in all partitions"
    limits = [part.max_time for part in conf.partitions if part.max_time is not None]
    if limits and max(limits) > settings["bf_window"] * 60.0:
        yield (
            f"bf_window ({settings['bf_window']:g} min) is shorter than the longest MaxTime "
            f"({max(limits) / 60:g} min): jobs that wait for longer get no plan"
        )


def _of_accounts(conf: SlurmRecord, stated: set[str]) -> Iterator[str]:
    if not conf.associations:
        return
    users = [each for each in conf.associations if each.user]
    allowed = {name for each in users for name in each.qos} | {part.qos for part in conf.partitions}
    for name in conf.qos:
        if name not in allowed:
            yield f"QOS {name} has no users, and is that of no partition"
    if unknown := sorted({name for each in users for name in each.qos} - set(conf.qos) - {"normal"}):
        yield f"no file defines the QOS {_listed(unknown)}: give what sacctmgr --parsable2 show qos prints, too"
    parents = {each.parent for each in conf.associations}
    if empty := [each.account for each in conf.associations if not each.user and each.account not in parents]:
        yield f"{checks.count(len(empty), 'accounts')} without users: {_listed(empty)}"
    enforced = conf.settings["AccountingStorageEnforce"]
    limited = [each.user or each.account for each in conf.associations if each.limits]
    limited += [name for name, each in conf.qos.items() if each.limits]
    if limited and not {"limits", "safe", "all", "qos"} & set(enforced):
        yield f"AccountingStorageEnforce has no limits: those of {_listed(limited)} are not enforced"
    most = max((part.max_time for part in conf.partitions if part.max_time is not None), default=None)
    cpus = sum(node.cpus for node in conf.nodes)
    of = [(f"QOS {name}", each.limits) for name, each in conf.qos.items()]
    for each in conf.associations:
        of.append((f"user {each.user}" if each.user else f"account {each.account}", each.limits))
    for name, limits in of:
        for key, limit in limits.items():
            amounts = {} if isinstance(limit, int) else dict(limit)
            if limit == 0 or 0 in amounts.values():
                yield f"{name}: {key} is 0: no job can meet it"
            wall = isinstance(limit, int) and key == "MaxWall" and most is not None
            if wall and isinstance(limit, int) and most is not None and limit * 60 >= most:
                yield f"{name}: MaxWall ({limit} min) limits nothing: no partition allows more than {most / 60:g} min"
            if key in ("GrpTRES", "MaxTRESPerJob", "MaxTRESPerUser") and amounts.get("cpu", 0) >= cpus:
                yield f"{name}: {key} of {amounts['cpu']} CPUs limits nothing: the cluster has {cpus:,}"
