"""A third program for sites: every node and every second is tried, on a grid of whole seconds.

It shares no code with the engines and is written from model.md#sites.  What a job may have is searched among all sets
of nodes, what time it may have among all seconds; only the placement rules are written as on the page.

`python tests/verification/plain_site.py --runs 20000` compares it with an engine on random small cases.
"""

import argparse
import itertools
from dataclasses import dataclass, field

import numpy as np

import faultsim as fs

HORIZON = 400
SCHEDULERS = ("fcfs", "easy", "backfill", "conservative")
NEVER = 10**9


@dataclass(eq=False)  # two jobs may be equal in all that they ask for
class Job:
    submit: int
    runtime: int
    estimate: int
    nodes: int
    cores: int  # in all
    memory: int  # on each node, or of each core
    gpus: int
    by_core: bool
    exclusive: bool
    classes: tuple[int, ...]
    start: int = -1
    finish: int = -1
    expected: int = -1  # end
    restarts: int = 0
    backfilled: bool = False
    has: dict = field(default_factory=dict)
    stays: list = field(default_factory=list)
    held: bool = False
    down: list = field(default_factory=list)  # held: node, resource, amount, until of its units that are down

    @property
    def on_each(self):
        return -(-self.cores // self.nodes)


@dataclass
class Case:
    classes: list  # (count, cores, memory, gpus, weight)
    jobs: list
    scheduler: str
    placement: str
    failures: list = field(default_factory=list)  # (time, node, downtime), (resource, amount) and x of a part, or None
    repairs: str = "known"
    depth: int = 2
    restart_cost: int | None = None  # of Hold; None: Requeue


class Program:
    def __init__(self, case):
        self.case = case
        self.total = np.array([row[1:4] for row in case.classes for _ in range(row[0])])
        self.class_of = [at for at, row in enumerate(case.classes) for _ in range(row[0])]
        self.weight = [row[4] for row in case.classes for _ in range(row[0])]
        self.real = self.total.copy()
        self.up = {}
        self.lost = []  # node, resource, amount that no job has, until, held jobs that have some
        self.queue, self.running, self.plan = [], [], {}
        self.disturbed, self.last_pass = False, None

    # -- what a node can give

    def can_give(self, job, node, free):
        """Cores, tried one by one from all that the node has."""
        if self.class_of[node] not in job.classes or min(free) < 0:
            return 0
        if job.exclusive:
            whole = (free == self.total[node]).all() and free[2] >= job.gpus
            least = job.on_each if job.nodes else 1
            enough = free[1] >= job.memory * (least if job.by_core else 1)
            if not whole or not enough:
                return 0
            most = free[0] if not (job.by_core and job.memory) else min(free[0], free[1] // job.memory)
            return int(most) if most >= least else 0
        for cores in range(int(free[0]), 0, -1):
            if (self.share(job, node, cores) <= free).all():
                return cores if not job.nodes or cores >= job.on_each else 0
        return 0

    def share(self, job, node, cores):
        if job.exclusive:
            return self.total[node]
        return np.array([cores, job.memory * cores if job.by_core else job.memory, job.gpus])

    def has_room(self, job, free):
        """Whether some set of nodes serves the job, of all sets."""
        gives = [self.can_give(job, node, free[node]) for node in range(len(free))]
        if not job.nodes:
            return sum(gives) >= job.cores
        sets = itertools.combinations(range(len(free)), job.nodes)
        return any(all(gives[node] for node in some) for some in sets)

    def serves(self, job, node, free):
        there = self.can_give(job, node, free)
        return (there > 0) if job.nodes else there

    def costs(self, head, free, taken):
        after = free.copy()
        for node, share in taken.items():
            after[node] = after[node] - share
        return sum(
            int(self.serves(head, node, free[node])) - int(self.serves(head, node, after[node]))
            for node in taken
            if min(free[node]) >= 0
        )

    def leaves_room(self, head, free, taken):
        after = free.copy()
        for node, share in taken.items():
            if min(after[node]) >= 0:
                after[node] = after[node] - share
        return self.has_room(head, after)

    # -- the placement rules

    def ranked(self, job, free):
        """The nodes that can serve, in the order of the rule; and what each can give."""
        gives = {n: c for n in range(len(free)) if (c := self.can_give(job, n, free[n]))}
        if self.case.placement == "first_fit":
            return sorted(gives), gives
        if self.case.placement == "best_fit":
            return sorted(gives, key=lambda n: (*free[n].tolist(), n)), gives
        if self.case.placement == "least_loaded":
            return sorted(gives, key=lambda n: (-(free[n][0] / self.total[n][0]), n)), gives
        return None, gives

    def pick(self, job, free, gives, count):
        """The nodes of the rule among `gives`: `count` nodes, or cores in all; cores by node."""
        order, _ = self.ranked(job, free)
        if order is None:
            return self.consecutive(job, dict(gives), count)
        taken = {}
        for node in order:
            if node in gives and count > 0:
                taken[node] = job.on_each if job.nodes else min(gives[node], count)
                count -= 1 if job.nodes else taken[node]
        return taken

    def consecutive(self, job, gives, count):
        if job.gpus and job.nodes == 1:
            gives = dict.fromkeys(gives, job.on_each)
        nodes, cores = (count, count * job.on_each) if job.nodes else (1, count)
        left, taken = sorted(gives), {}
        runs = []
        for node in left:
            follows = runs and node == runs[-1][-1] + 1 and self.weight[node] == self.weight[runs[-1][-1]]
            runs[-1].append(node) if follows else runs.append([node])
        while runs and cores > 0:
            best = None
            for run in runs:
                key, total = self.weight[run[0]], sum(gives[node] for node in run)
                enough = total >= cores and len(run) >= nodes
                if (
                    best is None
                    or key < best[0]
                    or (
                        key == best[0]
                        and ((enough and (not best[2] or total < best[1])) or (not enough and total > best[1]))
                    )
                ):
                    best = key, total, enough, run
            run = best[3]
            runs.remove(run)
            fitting = [node for node in run if gives[node] >= cores]
            if nodes <= 1 and fitting:
                least = min(gives[node] for node in fitting)
                run = [next(node for node in fitting if gives[node] == least)]
            for node in run:
                if nodes > 0 or cores > 0:
                    taken[node] = job.on_each if job.nodes else min(gives[node], cores)
                    cores, nodes = cores - taken[node], nodes - 1
        return taken

    def grant(self, job, free, head=None, head_free=None):
        """What the job gets: node -> amounts; None: nothing that it may have."""
        if not self.has_room(job, free):
            return None
        gives = {n: c for n in range(len(free)) if (c := self.can_give(job, n, free[n]))}
        need = job.nodes or job.cores
        found = self.shares(job, self.pick(job, free, gives, need))
        if head is None or self.leaves_room(head, head_free, found):
            return found
        if not job.nodes:
            harmless = {}
            for node, most in gives.items():
                for cores in [most] if job.exclusive else range(most, 0, -1):
                    if self.costs(head, head_free, {node: self.share(job, node, cores)}) <= 0:
                        harmless[node] = cores
                        break
            if sum(harmless.values()) < need:
                return None
            return self.shares(job, self.pick(job, free, harmless, need))
        # Of all sets of nodes: the least cost, then the rule's first of those with the same costs.
        price = {node: self.costs(head, head_free, {node: self.share(job, node, job.on_each)}) for node in gives}
        sets = list(itertools.combinations(sorted(gives), job.nodes))
        least = min(sum(price[node] for node in some) for some in sets)
        if not any(
            self.leaves_room(head, head_free, {n: self.share(job, n, job.on_each) for n in some}) for some in sets
        ):
            return None
        highest = max(price[node] for node in next(s for s in sets if sum(price[n] for n in s) == least))
        taken = {}
        for value in sorted(set(price.values())):
            some = {node: gives[node] for node in gives if price[node] == value}
            if value < highest:
                taken |= self.pick(job, free, some, len(some))
            elif value == highest:
                taken |= self.pick(job, free, some, job.nodes - len(taken))
        return self.shares(job, taken)

    def shares(self, job, taken):
        return {node: self.share(job, node, cores) for node, cores in taken.items()}

    # -- the grid

    def free_now(self):
        free = self.real.copy()
        for node in self.up:
            free[node] = -1
        return free

    def grid(self, reserved=()):
        """What is free of each node in each second from now on; -1: it is down."""
        there = np.repeat(self.total[None], HORIZON, axis=0)
        for job in self.running:
            until = min(HORIZON, max(0, job.expected - self.now))
            for node, share in job.has.items():
                there[:until, node] -= share
        for _, begin, end, taken in reserved:
            for node, share in taken.items():
                there[begin - self.now : end - self.now, node] -= share
        for node, at, amount, until, _ in self.lost:
            last = min(until - self.now, HORIZON) if self.case.repairs == "known" else HORIZON
            there[:last, node, at] -= amount
        for node, until in self.up.items():
            last = min(until - self.now, HORIZON) if self.case.repairs == "known" else HORIZON
            there[:last, node] = -1
        return there

    def start(self, job, taken, backfilled):
        self.queue.remove(job)
        self.running.append(job)
        job.start, job.has, job.backfilled = self.now, taken, backfilled
        job.finish, job.expected = self.now + job.runtime, self.now + job.estimate
        for node, share in taken.items():
            self.real[node] -= share

    # -- passes

    def heads(self):
        while self.queue and (taken := self.grant(self.queue[0], self.free_now())) is not None:
            self.start(self.queue[0], taken, False)

    def shadow(self, head):
        there = self.grid()
        return next((t for t in range(HORIZON) if self.has_room(head, there[t])), None)

    def easy(self):
        self.heads()
        if not self.queue:
            return
        head = self.queue[0]
        at = self.shadow(head)
        for job in self.queue[1:]:
            if at is None or job.estimate <= at:
                taken = self.grant(job, self.free_now())
            else:
                taken = self.grant(job, self.free_now(), head, self.grid()[at])
            if taken is not None:
                self.start(job, taken, True)

    def backfill(self):
        self.heads()
        if not self.queue:
            return
        head, plan, asked, open_at = self.queue[0], [], 0, None
        for job in list(self.queue):
            if job is not head:
                there = self.grid(plan)
                free = there[: job.estimate].min(axis=0)
                free = np.where((free.min(axis=1) < 0)[:, None], -1, np.minimum(free, self.free_now()))
                if self.try_in(job, free, head, open_at, there, 0):
                    continue
            if asked < self.case.depth:
                asked += 1
                if job is head:
                    at = self.shadow(head)
                    open_at = None if at is None else (at, at + head.estimate)
                    continue
                there = self.grid(plan)
                for t in range(HORIZON // 2):
                    free = there[t : t + job.estimate].min(axis=0)
                    if (taken := self.in_plan(job, free, head, open_at, there, t)) is not None:
                        plan.append((job, self.now + t, self.now + t + job.estimate, taken))
                        break

    def in_plan(self, job, free, head, open_at, there, t):
        meets = open_at is not None and (open_at[0] <= t < open_at[1] or t <= open_at[0] < t + job.estimate)
        if not meets:
            return self.grant(job, free)
        return self.grant(job, free, head, there[open_at[0] : open_at[1]].min(axis=0))

    def try_in(self, job, free, head, open_at, there, t):
        if open_at is not None and open_at[0] < job.estimate:
            taken = self.grant(job, free, head, there[open_at[0] : open_at[1]].min(axis=0))
        else:
            taken = self.grant(job, free)
        if taken is not None:
            self.start(job, taken, True)
        return taken is not None

    def conservative(self):
        overdue = any(job.expected <= self.now for job in self.running)
        missed = any(row[1] < self.now or row[1] == self.last_pass for row in self.plan.values())
        if self.disturbed or overdue or missed:
            self.plan.clear()
        self.disturbed, waits = False, False
        for job in list(self.queue):
            old = self.plan.pop(id(job), None)
            there = self.grid(self.plan.values())
            new, starts = None, False
            free = there[: job.estimate].min(axis=0)
            # Really free now, and free of reservations as long as it lasts.
            reserved = self.grid(self.plan.values()) - self.grid()
            now = self.free_now()
            now = np.where((now.min(axis=1) < 0)[:, None], -1, now + reserved[0])
            later = there[1 : job.estimate].min(axis=0) if job.estimate > 1 else now
            down = (now.min(axis=1) < 0) | (later.min(axis=1) < 0)
            now = np.where(down[:, None], -1, np.minimum(now, later))
            if (taken := self.grant(job, now)) is not None:
                new, starts = (job, self.now, self.now + job.estimate, taken), True
            for t in range(HORIZON // 2) if new is None else ():
                free = there[t : t + job.estimate].min(axis=0)
                if (taken := self.grant(job, free)) is not None:
                    new = (job, self.now + t, self.now + t + job.estimate, taken)
                    break
            if old is not None and (new is None or old[1] < new[1]):
                free = self.free_now()
                new, starts = old, old[1] == self.now and all((free[n] >= s).all() for n, s in old[3].items())
            if starts:
                self.start(job, new[3], waits)
                continue
            if new is not None:
                self.plan[id(job)] = new
            waits = True

    # -- events

    def leave(self, job):
        self.running.remove(job)
        job.stays.append((job.start, self.now, sorted(job.has)))
        for node, share in job.has.items():
            self.real[node] += share

    def fail(self, node, downtime, part, x):
        """A failure, and whether it had an effect."""
        hit = [job for job in self.case.jobs if job in self.running and node in job.has]
        units, mine, until = [], [], self.now + downtime
        if part is not None:
            at, amount = part
            # Each unit that is up, with the job that has it.
            for job in hit:
                gone = sum(row[2] for row in job.down if row[:2] == (node, at))
                units += [job] * (int(job.has[node][at]) - gone)
            units += [None] * int(self.real[node, at])
            first = int(x * len(units))
            units = [units[(first + i) % len(units)] for i in range(min(amount, len(units)))]
            hit = mine = [job for job in hit if job in units]
        hit = [job for job in hit if not job.held]
        for job in hit:
            job.restarts += 1
            if self.case.restart_cost is None:
                self.leave(job)
                self.queue = sorted([*self.queue, job], key=lambda each: (each.submit, self.case.jobs.index(each)))
            else:
                job.held, job.finish = True, NEVER
        effect = bool(hit)
        if part is None and until > self.up.get(node, self.now):
            self.up[node], effect = until, True
        if part is not None and units and downtime:
            kept = [job for job in mine if job.held]
            free = sum(unit not in kept for unit in units)
            self.lost.append((node, at, free, until, kept))
            self.real[node, at] -= free
            for job in kept:
                job.down.append((node, at, units.count(job), until, kept))
            effect = True
        return effect

    def go_on(self):
        """Held jobs of which nothing is down work again; the others are expected to be up when all of it is."""
        for job in self.case.jobs:
            if not job.held:
                continue
            times = [row[3] for row in job.down] + [until for node, until in self.up.items() if node in job.has]
            begin = max(times, default=self.now) + self.case.restart_cost
            job.expected = begin + job.estimate if self.case.repairs == "known" or not times else NEVER
            if not times:
                job.held, job.finish = False, begin + job.runtime

    def run(self):
        jobs, failures = self.case.jobs, list(self.case.failures)
        coming = list(jobs)
        self.now = jobs[0].submit
        while coming or self.queue or self.running:
            times = [job.finish for job in self.running] + [job.submit for job in coming[:1]]
            times += [row[3] for row in self.lost] + list(self.up.values()) + [row[0] for row in failures[:1]]
            self.now, due = min(times), False
            for job in [each for each in jobs if each in self.running and each.finish == self.now]:
                self.disturbed |= job.finish > job.expected
                self.leave(job)
                due = True
            for node in sorted(self.up):
                if self.up[node] == self.now:
                    del self.up[node]
                    self.go_on()
                    self.disturbed = due = True
            for row in [row for row in self.lost if row[3] == self.now]:
                self.lost.remove(row)
                self.real[row[0], row[1]] += row[2]
                for job in row[4]:
                    job.down = [unit for unit in job.down if unit[4] is not row[4]]
                self.go_on()
                self.disturbed = due = True
            while failures and failures[0][0] == self.now:
                effect = self.fail(*failures.pop(0)[1:])
                self.disturbed |= effect
                due |= effect
            self.go_on()
            while coming and coming[0].submit == self.now:
                self.queue.append(coming.pop(0))
                due = True
            if due:
                {"fcfs": self.heads, "easy": self.easy, "backfill": self.backfill,
                 "conservative": self.conservative}[self.case.scheduler]()  # fmt: skip
                self.last_pass = self.now
        return jobs


def draw(rng, scheduler, parts=False):
    """A small case; with `parts`, failures are of parts of nodes, but for some."""
    classes = [
        (int(rng.integers(1, 4)), int(rng.integers(1, 7)), int(rng.integers(4, 12)), int(rng.integers(0, 3)),
         int(rng.integers(0, 2)))
        for _ in range(int(rng.integers(1, 4)))
    ]  # fmt: skip
    classes = classes if sum(row[0] for row in classes) <= 5 else classes[:1]
    jobs, submit = [], 0
    for _ in range(int(rng.integers(3, 12))):
        submit += int(rng.integers(0, 4))
        for _try in range(50):
            nodes = int(rng.choice([0, 1, 1, 1, 2, 3]))
            cores = (
                int(rng.integers(1, 8)) if nodes == 0 else nodes * int(rng.integers(1, 5)) - (nodes > 1 > rng.random())
            )
            by_core = nodes == 0 and rng.random() < 0.4
            memory = int(rng.integers(0, 3)) if by_core else int(rng.integers(0, 7))
            usable = tuple(at for at in range(len(classes)) if rng.random() < 0.8)
            gpus = int(rng.choice([0, 0, 0, 1, 2]))
            runtime = int(rng.integers(1, 12))
            estimate = max(1, runtime + int(rng.choice([-3, 0, 0, 0, 2, 5])))
            job = Job(submit, runtime, estimate, nodes, cores, memory, gpus, by_core, rng.random() < 0.15, usable)
            probe = Program(Case(classes, [], "fcfs", "first_fit"))
            if probe.has_room(job, probe.total):
                jobs.append(job)
                break
    if not jobs:
        return draw(rng, scheduler, parts)
    count, span = sum(row[0] for row in classes), submit + 30
    failures = []
    if rng.random() < 0.5:
        times = sorted(rng.integers(0, span, int(rng.integers(1, 5))).tolist())
        failures = [
            (t, int(rng.integers(0, count)), int(rng.choice([0, 1, 4, 9])), None, 0.0)
            for t in times
            if t >= jobs[0].submit
        ]
    placement = str(rng.choice(["first_fit", "best_fit", "consecutive_best_fit", "least_loaded"]))
    repairs = str(rng.choice(["known", "unknown"]))
    case = Case(classes, jobs, scheduler, placement, failures, repairs, int(rng.integers(1, 5)))
    if rng.random() < 0.4:
        case.restart_cost = int(rng.integers(0, 3))
    if parts and failures:
        case.failures = [(*row[:3], drawn_part(rng, Program(case).total[row[1]]), 0.0) for row in failures]
        units = trace_of(case).part_units().tolist()
        case.failures = [(*row[:4], x) for row, x in zip(case.failures, units, strict=True)]
    return case


def drawn_part(rng, has):
    """A resource of a node and an amount of it, or None."""
    at = int(rng.choice(np.flatnonzero(has)))
    return None if rng.random() < 0.2 else (at, int(rng.integers(1, has[at] + 1)))


def trace_of(case):
    """The failures for faultsim."""
    time, node, downtime, parts, _ = (list(column) for column in zip(*case.failures, strict=True))
    names = ["" if part is None else f"{('cores', 'memory', 'gpus')[part[0]]}:{part[1]}" for part in parts]
    return fs.FailureTrace(time, node, downtime, part=names, span=10**6)


def as_run(case, **options):
    """The same case for faultsim."""
    classes = [
        fs.NodeClass(f"c{at}", count, cores=cores, memory=f"{memory}M", gpus=gpus, weight=weight, features=f"f{at}")
        for at, (count, cores, memory, gpus, weight) in enumerate(case.classes)
    ]
    jobs = case.jobs
    log = fs.Workload(
        [job.submit for job in jobs], [job.runtime for job in jobs], [1] * len(jobs),
        estimate=[job.estimate for job in jobs],
        columns={
            "cores": [job.cores for job in jobs], "nodes": [job.nodes for job in jobs],
            "memory": [job.memory for job in jobs], "memory_per": ["core" if job.by_core else "node" for job in jobs],
            "gpus": [job.gpus for job in jobs], "exclusive": [job.exclusive for job in jobs],
            "features": ["|".join(f"f{at}" for at in job.classes) for job in jobs],
        },
    )  # fmt: skip
    repairs = {} if case.scheduler == "fcfs" else {"repairs": case.repairs}
    scheduler = {
        "fcfs": fs.Fcfs, "easy": fs.EasyBackfill, "conservative": fs.ConservativeBackfill,
        "backfill": lambda **given: fs.Backfill(case.depth, **given),
    }[case.scheduler](**repairs)  # fmt: skip
    if case.failures:
        recovery = fs.Requeue() if case.restart_cost is None else fs.Hold(case.restart_cost)
        options |= {"failures": trace_of(case), "recovery": recovery}
    return fs.Run(log, fs.Site(classes), scheduler=scheduler, placement=case.placement, record=True, **options)


def differences(case, engine):
    """What the third program and an engine do not have in common, as text; empty if there is nothing."""
    found = as_run(case).simulate(engine=engine)
    jobs = Program(case).run()
    said = []
    for name, mine in {
        "start": [job.start for job in jobs],
        "finish": [job.finish for job in jobs],
        "restarts": [job.restarts for job in jobs],
        "backfilled": [job.backfilled for job in jobs],
        "allocated": [int(sum(share[0] for share in job.has.values())) for job in jobs],
    }.items():
        if found.jobs[name].tolist() != mine:
            said.append(f"{name}: engine {found.jobs[name].tolist()}, third program {mine}")
    held, stays = found.allocations, {}
    nodes = held["nodes"].tolist()
    first = held["node_offsets"].tolist()
    for at, job in enumerate(held["job"].tolist()):
        stays.setdefault(job, []).append((held["begin"][at], held["end"][at], nodes[first[at] : first[at + 1]]))
    mine = {at: job.stays for at, job in enumerate(jobs)}
    return [*said, *([] if stays == mine else [f"stays: engine {stays}, third program {mine}"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", default="core")
    parser.add_argument("--parts", action="store_true", help="failures are of parts of nodes")
    args = parser.parse_args()
    for run in range(args.runs):
        scheduler = SCHEDULERS[run % len(SCHEDULERS)]
        case = draw(np.random.default_rng([args.seed, run]), scheduler, args.parts)
        if said := differences(case, args.engine):
            print(f"case {args.seed} {run}: {case.scheduler}, {case.placement}, {case.classes}", *said, sep="\n  ")
            return 1
    print(f"{args.runs} cases are equal")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
