"""Random small sites under Slurm, with jobs and failures, and the two controllers side by side."""

import random

import numpy as np

import faultsim as fs
from faultsim._core.slurm import controller as compiled
from faultsim.reference.slurm import controller as written

#: Words that a site has or has not.
SCHEDULING = (
    "bf_window=60", "bf_window=2880", "bf_resolution=1", "bf_resolution=300", "bf_interval=10", "bf_max_job_user=2",
    "bf_max_job_assoc=3", "bf_max_job_part=4", "bf_max_job_user_part=2", "bf_max_job_test=6", "bf_max_job_start=1",
    "bf_node_space_size=8", "bf_window_linear=60", "bf_min_age_reserve=600", "bf_min_prio_reserve=900",
    "bf_one_resv_per_job", "bf_busy_nodes", "default_queue_depth=3", "partition_job_depth=3", "sched_interval=20",
    "batch_sched_delay=20", "pack_serial_at_end",
)  # fmt: skip
SETTINGS = (
    "PriorityFlags=SMALL_RELATIVE_TO_TIME", "PriorityFlags=INCR_ONLY", "PriorityFlags=NO_NORMAL_ALL",
    "PriorityFlags=MAX_TRES", "PriorityFavorSmall=YES", "PriorityType=priority/basic", "OverTimeLimit=2",
    "KillWait=60", "JobRequeue=0", "PriorityMaxAge=0-1", "PriorityWeightTRES=cpu=500,mem=300,gres/gpu=900",
    "PriorityWeightQOS=800", "PriorityWeightPartition=600", "PriorityWeightAssoc=400", "SchedulerType=sched/builtin",
    "DefMemPerCPU=500", "DefMemPerNode=2000",
)  # fmt: skip
SELECTING = ("CR_Core_Memory", "CR_Core_Memory", "CR_Core", "CR_Core,CR_LLN", "CR_Memory", "CR_CPU_Memory")
OF_PARTITION = (
    "PriorityTier=5", "PriorityJobFactor=3", "MaxTime=45", "MaxNodes=2", "MaxCPUsPerNode=5", "OverSubscribe=EXCLUSIVE",
    "LLN=YES", "DefMemPerCPU=300", "TRESBillingWeights=CPU=1.0,Mem=0.5G,GRES/gpu=4", "MinNodes=2", "OverTimeLimit=1",
)  # fmt: skip
#: Limits, with the values that they may have: numbers, or amounts by resource.
AMOUNTS = {
    "cpu": (4, 8, 12, 20), "mem": (2000, 6000, 12000), "node": (1, 2, 3), "gres/gpu": (1, 2), "billing": (6, 14),
    "gres/gpu:v100": (0, 1),
}  # fmt: skip
MINUTES = {
    "cpu": (60, 200, 600),
    "billing": (99, 400),
    "mem": (60000, 300000),
    "node": (20, 60, 150),
    "gres/gpu": (20, 60),
}
OF_GROUP = {
    "GrpJobs": (1, 2, 3), "GrpTRES": AMOUNTS, "GrpTRESMins": MINUTES, "GrpTRESRunMins": MINUTES, "GrpSubmit": (3,),
}  # fmt: skip
OF_JOB = {"MaxWall": (10, 20, 35), "MaxTRESPerJob": AMOUNTS, "MaxTRESPerNode": AMOUNTS, "MaxTRESMinsPerJob": MINUTES}
OF_QOS = {
    **OF_GROUP, **OF_JOB, "MaxJobsPerUser": (1, 2), "MaxJobsPerAccount": (1, 2, 3), "MaxTRESPerUser": AMOUNTS,
    "MaxTRESPerAccount": AMOUNTS, "MinTRESPerJob": {"cpu": (2, 3), "node": (2,), "gres/gpu": (1,)},
}  # fmt: skip
OF_USER = {**OF_GROUP, **OF_JOB, "MaxJobs": (1, 2)}
#: Decisions of a run; without preemption they are far fewer.
MOST_DECISIONS = 10_000
USERS = {"u1": "bio", "u2": "bio", "u3": "phys", "u4": "chem", "u5": "math"}


def some(draw, words, share):
    """Some of the words, each key once."""
    found = [word for word in words if draw.random() < share]
    return list({word.partition("=")[0]: word for word in found}.values())


def accounts_of(draw, more):
    lines = ["add QOS Name=high Priority=100", "add QOS Name=low Priority=10 UsageFactor=0.5"]
    lines += [f"add account {name} fairshare={draw.choice([1, 5, 'parent'])}" for name in ("bio", "phys", "math")]
    lines.append("add account chem parent=phys fairshare=2")
    for user, account in USERS.items():
        words = [f"fairshare={draw.choice([1, 1, 10])}", *some(draw, [f"priority={draw.randrange(9)}"], 0.3)]
        lines.append(f"add user {user} account={account} {' '.join(words)}")
    return "\n".join(lines + more) + "\n"


def limits_of(draw, kinds):
    """Some limits as sacctmgr takes them."""
    found = []
    for name in draw.sample(sorted(kinds), draw.choice([1, 1, 2, 3])):
        values = kinds[name]
        if isinstance(values, dict):
            drawn = draw.sample(sorted(values), draw.choice([1, 1, 2]) if len(values) > 1 else 1)
            found.append(f"{name}={','.join(f'{kind}={draw.choice(values[kind])}' for kind in drawn)}")
        else:
            found.append(f"{name}={draw.choice(values)}")
    return " ".join(found)


def with_limits(draw):
    """What `random_site` takes for limits of QOS, accounts and users."""
    words = [f"AccountingStorageEnforce={draw.choice(['limits', 'limits', 'safe', 'limits,qos', 'associations'])}"]
    accounts = ["add QOS Name=part Priority=50"]
    flags = draw.choice(["", "", " flags=OverPartQOS", " flags=DenyOnLimit"])
    for name in ("high", "low", "part"):
        if draw.random() < 0.6:
            accounts.append(f"modify QOS {name} set {limits_of(draw, OF_QOS)}{flags}")
    for name in ("bio", "phys", "chem", "root"):
        if draw.random() < 0.3:
            accounts.append(f"modify account {name} set {limits_of(draw, OF_USER)}")
    accounts += [f"modify user {name} set {limits_of(draw, OF_USER)}" for name in USERS if draw.random() < 0.3]
    stops = ["assoc_limit_stop"] if draw.random() < 0.3 else []
    return {
        "more": words, "accounts": accounts, "scheduling": stops,
        "parts": lambda: " QOS=part" if draw.random() < 0.4 else "",
    }  # fmt: skip


def with_preemption(draw):
    """What `random_site` takes for preemption by QOS or by partition."""
    by_qos = draw.random() < 0.5
    modes = ["REQUEUE", "REQUEUE", "CANCEL", *(["OFF"] if draw.random() < 0.1 else [])]
    words = [f"PreemptType=preempt/{'qos' if by_qos else 'partition_prio'}", f"PreemptMode={draw.choice(modes)}"]
    words += some(draw, ["PreemptExemptTime=00:05:00", "MessageTimeout=60"], 0.2)
    scheduling = some(draw, ["preempt_youngest_first", f"preempt_reorder_count={draw.choice([0, 2, 3])}"], 0.3)
    accounts, names = ["add QOS Name=part Priority=50"], draw.sample(["high", "low", "part"], 3)
    for at, name in enumerate(names) if by_qos else ():  # none its own, or those that preempt it: that has no end
        taken = [other for other in names[at + 1 :] if draw.random() < 0.7]
        own = [f"Preempt={','.join(taken)}"] if taken else []
        own += some(draw, [f"GraceTime={draw.choice([20, 90])}"], 0.2)
        own += some(draw, [f"PreemptMode={draw.choice([*modes, 'cluster', 'OFF'])}"], 0.2)
        accounts += [f"modify QOS {name} set {' '.join(own)}"] if own else []
    accounts += [f"modify user {name} set DefaultQOS=part" for name in USERS if draw.random() < 0.3]

    def part():
        words = [f"PriorityTier={draw.choice([1, 2, 5])}"]
        words += some(draw, [f"PreemptMode={draw.choice([*modes, 'OFF'])}", f"GraceTime={draw.choice([20, 90])}"], 0.2)
        return " " + " ".join(words)

    jobs = draw.randrange(15, 40)
    return {"more": words, "accounts": accounts, "scheduling": scheduling, "parts": part, "jobs": jobs}


def both(one, other):
    """What `random_site` takes for two kinds of rules."""
    more, scheduling = [*one["more"], *other["more"]], [*one["scheduling"], *other["scheduling"]]
    accounts = list(dict.fromkeys([*one["accounts"], *other["accounts"]]))
    return {
        "more": more, "accounts": accounts, "scheduling": scheduling,
        "parts": lambda: one["parts"]() + other["parts"](),
        "jobs": one.get("jobs", other.get("jobs")),
    }  # fmt: skip


def of_kind(seed):
    """What `random_site` takes for the site of a number: in turn with limits, with preemption, with both or neither."""
    draw = random.Random(f"{seed} rules")
    if seed % 8 == 7:
        return both(with_limits(draw), with_preemption(draw))
    return with_limits(draw) if seed % 8 in (1, 3, 5) else with_preemption(draw) if seed % 8 in (2, 4) else {}


def random_site(folder, seed, *, more=(), accounts=(), scheduling=(), parts=lambda: "", jobs=None):
    """A configuration of up to 10 nodes with words drawn at random.

    There are `more` lines of it, and of the accounts, further words of SchedulerParameters, and of each partition;
    `jobs` is their number.
    """
    draw = random.Random(seed)
    counts = draw.randrange(1, 5), draw.randrange(0, 3), draw.randrange(0, 4)
    lines = [
        "PriorityType=priority/multifactor", "SelectType=select/cons_tres",
        f"SelectTypeParameters={draw.choice(SELECTING)}",
        f"PriorityWeightAge={draw.choice([0, 1000])}", f"PriorityWeightFairshare={draw.choice([0, 2000])}",
        f"PriorityWeightJobSize={draw.choice([0, 300])}",
        f"PriorityDecayHalfLife={draw.choice(['1-0', '01:00:00', '0'])}",
        f"PriorityCalcPeriod={draw.choice(['00:01:00', '00:05:00'])}",
        f"SchedulerParameters={','.join([*some(draw, SCHEDULING, 0.12), *scheduling]) or 'bf_window=1440'}",
        *some(draw, SETTINGS, 0.1), *more,
        f"NodeName=a[1-{counts[0]}] CPUs=8 RealMemory=8000 Weight={draw.choice([1, 1, 5])} Feature=old,ib",
    ]  # fmt: skip
    names = [f"a[1-{counts[0]}]"]
    if counts[1]:
        gpus = draw.choice(["gpu:2", "gpu:v100:2", "gpu:v100:4"])
        lines.append(f"NodeName=g[1-{counts[1]}] CPUs=16 RealMemory=16000 Gres={gpus} Weight=10 Feature=new")
        names.append(f"g[1-{counts[1]}]")
    if counts[2]:
        lines.append(f"NodeName=b[1-{counts[2]}] CPUs=4 RealMemory=4000 Weight={draw.choice([1, 3])} Feature=new,ib")
        names.append(f"b[1-{counts[2]}]")
    kinds = ["MaxTime=600"] * 3
    named = ["batch"]
    lines.append(f"PartitionName=batch Nodes={','.join(names)} Default=YES {part_words(draw, kinds[0])}{parts()}")
    if draw.random() < 0.6:
        named.append("short")
        lines.append(f"PartitionName=short Nodes={names[0]} {part_words(draw, 'MaxTime=60')}{parts()}")
    if counts[1]:
        named.append("gpu")
        lines.append(f"PartitionName=gpu Nodes={names[1]} {part_words(draw, 'MaxTime=600')}{parts()}")
    (folder / "slurm.conf").write_text("\n".join(lines) + "\n")
    with_accounts = draw.random() < 0.6 or accounts
    (folder / "accounts.txt").write_text(accounts_of(draw, list(accounts)))
    conf = fs.read_slurm_conf(folder / "slurm.conf", folder / "accounts.txt" if with_accounts else None)
    return conf, random_jobs(seed, conf, named, bool(with_accounts), jobs), failures_of(seed, sum(counts))


def part_words(draw, time):
    """Words of a partition; each key once."""
    words = {word.partition("=")[0]: word for word in (time, *some(draw, OF_PARTITION, 0.12))}
    return " ".join(words.values())


def random_jobs(seed, conf, parts, with_accounts, n=None):
    """Random jobs that overload the nodes; some are killed at their limits, and some can never run."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(8, 40)) if n is None else n
    nodes = draw.choice([0, 1, 1, 1, 2, 3], n)
    has_gpus = "gpu" in parts
    gpus = np.where((nodes == 1) & (draw.random(n) < 0.3) & has_gpus, draw.integers(1, 3, n), 0)
    limit = 60.0 * draw.integers(1, 45, n)
    users = draw.choice(list(USERS), n)
    partition = np.array([draw.choice(parts) for _ in range(n)], dtype=object)
    several = draw.random(n) < 0.3
    partition[several] = ",".join(parts)
    partition[gpus > 0] = "gpu" if draw.random() < 0.5 else "batch"
    columns = {
        "cores": np.maximum(1, nodes) * draw.integers(1, 9, n), "nodes": nodes, "gpus": gpus,
        "memory": draw.choice([0, 100, 1000, 3000], n), "account": np.array([USERS[user] for user in users]),
        "user_name": users, "partition": partition.astype(str), "exclusive": (draw.random(n) < 0.1) & (nodes > 0),
        "features": draw.choice(["", "", "", "ib", "old", "ib|old", "ib&old"], n),
    }  # fmt: skip
    if with_accounts:
        columns["qos"] = draw.choice(["high", "low"], n)
    if draw.random() < 0.3:
        columns["nice"] = draw.choice([0.0, 0.0, 100.0, -50.0], n)
    return fs.Workload(
        np.sort(draw.integers(0, 3600, n)).astype(float), np.ceil(limit * draw.random(n) * draw.choice([1.0, 1.2])),
        np.ones(n, int), estimate=limit, user=[list(USERS).index(user) for user in users], columns=columns,
    )  # fmt: skip


def with_reservations(seed, conf, log):
    """The jobs, of which some name a reservation, and the reservations; half of the sites have none."""
    draw = random.Random(f"{seed} reserved")
    if draw.random() < 0.5:
        return log, []
    made, nodes = [], conf.site.nodes
    for at in range(draw.randrange(1, 4)):
        begin = draw.randrange(0, 7200) + draw.choice([0.0, 0.25])
        end = begin + draw.randrange(60, 5400)
        where = draw.choice(["all", "some", "some", "partition"])
        if where == "some":
            where = sorted(draw.sample(range(nodes), draw.randrange(1, nodes + 1)))
        elif where == "partition":
            where = f"partition={draw.choice(conf.site.partitions).name}"
        users = draw.sample(range(len(USERS)), 3) if draw.random() < 0.6 else None
        every = draw.choice([None, None, end - begin + 1800.0, 86400.0])
        made.append(fs.Reservation(where, begin, end, users, f"r{at}", every))
    named = [
        next(
            (each.name for each in draw.sample(made, len(made)) if user in (each.users or ()) and draw.random() < 0.5),
            "",
        )
        for user in log.user.tolist()
    ]
    return log.with_columns(reservation=np.array(named, dtype=str)), made


def occurrences(each, until):
    """Begins and ends of a reservation."""
    begin, end = each.begin, each.end
    while begin < until:
        yield begin, end
        if each.every is None:
            return
        begin, end = begin + each.every, end + each.every


def stay_off(result, reservations, machine, over_run=0.0):
    """Test by the record of a run that no limit reaches into others' reservations, and that jobs of one keep to it."""
    held, jobs = result.allocations, result.jobs
    until = float(np.nanmax(jobs["finish"])) if len(jobs["finish"]) else 0.0
    named = jobs["reservation"].tolist()
    count = 0
    for row, job in enumerate(held["job"].tolist()):
        nodes = set(held["nodes"][held["node_offsets"][row] : held["node_offsets"][row + 1]].tolist())
        start, end = float(held["begin"][row]), float(held["end"][row])
        for each in reservations:
            reserved = set(each.node_numbers(machine).tolist())
            times = list(occurrences(each, until))
            if each.name and named[job] == each.name:
                assert nodes <= reserved
                (last,) = (last for first, last in times if np.floor(first) <= start < np.ceil(last))
                assert end <= np.ceil(last) + over_run + 30.0
                count += 1
            elif nodes & reserved:
                ends = start + float(jobs["estimate"][job])
                assert not any(first < ends and start < last for first, last in times)
    return count


def failures_of(seed, nodes):
    """None for some sites."""
    draw = random.Random(seed)
    return None if draw.random() < 0.3 else trace(draw, nodes, 15_000)


def trace(draw, nodes, latest):
    """Failures of nodes, none of one that is down."""
    rows = sorted((draw.randrange(0, latest), draw.randrange(nodes), draw.randrange(60, 3000)) for _ in range(8))
    kept, up = [], [0] * nodes
    for time, node, down in rows:
        if time > up[node]:
            kept.append((time, node, down))
            up[node] = time + down
    return fs.FailureTrace(*map(list, zip(*kept, strict=True)), span=100_000)


class Endless(Exception):
    """A run in which jobs preempt each other again and again."""


class Both:
    """Both controllers: what they are told is the same, and so must be what they say."""

    def __init__(self, site, priorities, begin, booked=()):
        self.other, self.one = (of.Controller(site, priorities, begin, booked) for of in (compiled, written))
        self.acts = self.decisions = 0

    def submit(self, job, now, nice=0.0):
        self.other.submit(job, now, nice)
        self.one.submit(job, now, nice)

    def withdraw(self, job):
        self.other.withdraw(job)
        self.one.withdraw(job)

    def end(self, job, now, *, again=None):
        self.other.end(job, now, again=again)
        self.one.end(job, now, again=again)

    def node(self, node, up):
        self.other.node(node, up)
        self.one.node(node, up)

    def next(self, now):
        soon = self.one.next(now)
        assert self.other.next(now) == soon
        return soon

    def decide(self, now):
        acts, others = self.one.decide(now), self.other.decide(now)
        found = [(now, each.stop, [(run.job, run.nodes, run.cpus) for run in each.start]) for each in (acts, others)]
        assert found[0] == found[1]
        self.acts += len(acts.start)
        self.decisions += 1
        if self.decisions > MOST_DECISIONS:
            raise Endless
        return acts
