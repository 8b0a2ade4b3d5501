"""A third program for failures: the model page once more, written without a look at either engine.

Failures, recovery, predictors, checkpoints and fault-aware placement under FCFS and EASY on a cluster and on small
tori, second by second in plain Python: every free box by trying all of them, every phase of a job as an event.
After `run`: `jobs`, `stretches` (job, begin, end, nodes) and `ledger`, as `fs.simulate` gives them.
"""

import math

import third_program

INF = float("inf")
QUEUED, DELAY, RESTART, WORK, CHECKPOINT, MIGRATION, HELD, DONE = range(8)
ACCOUNT = {
    DELAY: "start_delay",
    RESTART: "restart",
    CHECKPOINT: "checkpoint",
    MIGRATION: "migration",
    HELD: "held_for_repair",
}


class Boxes(third_program.Torus):
    """Every box of a small torus as a set of nodes, in contract order; those that are free are found by trying all."""

    def __init__(self, shape, wrap):
        super().__init__(*shape, wrap, "extents-descending")

    def free_boxes(self, free, size):
        return [box.nodes for box in self.boxes[size] if box.nodes <= free]

    def largest(self, free):
        return max((size for size in self.sizes if self.free_boxes(free, size)), default=0)

    def has_box(self, free, size):
        return self.largest(free) >= size


class Job:
    def __init__(self, index, submit, runtime, estimate, size):
        self.index, self.submit, self.runtime, self.estimate, self.size = index, submit, runtime, estimate, size
        self.ask = size
        self.state = QUEUED
        self.key = (submit, index)
        self.nodes = ()
        self.safe = self.progress = 0.0
        self.killed = self.cut = False
        self.last_kill = -1.0
        self.restarts = self.moves = 0
        self.lost = self.checkpoint_time = 0.0
        self.backfilled = False
        self.first_start = self.start = self.finish = None
        self.stop = INF  # end of the present phase
        self.expected = 0.0
        self.since = self.taken = 0.0  # begin of the present phase; of the stretch on these nodes


class Third:
    """One run of a case that `test_third_failures.draw` made."""

    def __init__(self, case):
        self.c = case
        self.shape = case["shape"]
        self.n = case["nodes"]
        self.jobs = [Job(i, *row) for i, row in enumerate(case["jobs"])]
        for j in self.jobs:
            j.cut = case["overrun"] == "kill" and j.estimate < j.runtime
            if j.cut:
                j.runtime = j.estimate
        self.owner = [None] * self.n
        self.up_at = [0.0] * self.n
        self.down = set()
        self.fails = [0] * self.n
        self.trace = case["failures"]  # (time, node, downtime, coin), sorted
        self.stretches = []
        unused = ("useful", "cut_at_limit", "lost", "growth", "down", "idle_no_demand", "idle_demand")
        self.ledger = dict.fromkeys((*ACCOUNT.values(), *unused), 0.0)
        self.now = 0.0
        self.queue = []
        if self.shape:
            self.torus = Boxes(self.shape, case["wrap"])
            for j in self.jobs:
                j.ask = min(s for s in self.torus.sizes if s >= j.size)

    # predictors and placement
    def seen(self, row):
        name, a = self.c["predictor"]
        return name == "perfect" or (name == "confidence" and a > 0) or (name == "accuracy" and row[3] < a)

    def doomed(self, job):
        """Nodes predicted to fail in the job's window."""
        end = self.now + self.c["delay"] + job.estimate
        return {row[1] for row in self.trace if self.now < row[0] < end and self.seen(row)}

    def place_cluster(self, job, free):
        name = self.c["placement"]
        if name == "least":
            return sorted(sorted(free, key=lambda n: (self.fails[n], n))[: job.size])
        if name == "safest":
            bad = self.doomed(job)
            return sorted(sorted(free, key=lambda n: (n in bad, n))[: job.size])
        return sorted(free)[: job.size]

    def place_torus(self, job, boxes, free):
        name = self.c["placement"]
        if name == "first":
            return boxes[0]
        left = [self.torus.largest(free - b) for b in boxes]
        if name == "mfp":
            return boxes[left.index(max(left))]
        bad = self.doomed(job)
        if name == "tie":
            best = [b for b, m in zip(boxes, left, strict=True) if m == max(left)]
            return next((b for b in best if not b & bad), best[0])
        before = self.torus.largest(free)
        p = self.c["predictor"][1] if self.c["predictor"][0] == "confidence" else 1.0
        choice, least = None, INF
        for b, m in zip(boxes, left, strict=True):
            k = len(b & bad)
            if self.c["rule"] == "max":
                risk = p if k else 0.0
            else:
                ok = 1.0
                for _ in range(k):
                    ok *= 1.0 - p
                risk = 1.0 - ok
            value = before - m + risk * len(b)
            if value < least - 1e-9:
                choice, least = b, value
        return choice

    # phases of a job
    def interval(self, job):
        kind = self.c["checkpoint"]
        if kind[0] == "periodic":
            return kind[1]
        if kind[0] == "young":
            return math.sqrt(2.0 * kind[2] * kind[1] / job.size)
        return INF

    def planned(self, job, left):
        """Checkpoints that a job with `left` to work takes by its policy."""
        gap, cost, count = self.interval(job), self.c["checkpoint"][2], 0
        while left > gap:
            left -= gap
            if left <= cost:
                break
            count += 1
        return count

    def duration(self, job):
        left = max(0.0, job.estimate - job.safe)
        return (
            (self.c["restart_cost"] if job.killed else 0.0) + left + self.planned(job, left) * self.c["checkpoint"][2]
        )

    def expected_end(self, job):
        if job.state == HELD and self.c["repairs"] == "unknown":
            return INF
        return max(self.now, job.expected)

    def enter(self, job, state, length):
        job.state, job.since, job.stop = state, self.now, self.now + length

    def leave(self, job):
        """Book the phase that ends or breaks off now."""
        if job.state in ACCOUNT:
            self.ledger[ACCOUNT[job.state]] += (self.now - job.since) * job.size
            if job.state == CHECKPOINT:
                job.checkpoint_time += self.now - job.since
        elif job.state == WORK:
            job.progress += self.now - job.since
        if job.state != QUEUED:
            self.ledger["growth"] += (len(job.nodes) - job.size) * (self.now - job.since)

    def work(self, job, again=False):
        cost = self.c["checkpoint"][2]
        if not again:  # a stretch of work begins: times count from here, lest roundings add up
            job.anchor = (self.now, job.progress, job.safe)
            job.count = 0
        begin, progress, safe = job.anchor
        at = safe + (job.count + 1) * self.interval(job)
        job.checkpoints_next = job.runtime - at > cost
        self.enter(job, WORK, 0.0)
        job.stop = begin + ((at if job.checkpoints_next else job.runtime) - progress) + job.count * cost

    def resume(self, job):
        """Restart cost, if any, then work."""
        if job.killed and self.c["restart_cost"] > 0:
            self.enter(job, RESTART, self.c["restart_cost"])
        else:
            self.work(job)

    def take_checkpoint(self, job):
        self.enter(job, CHECKPOINT, self.c["checkpoint"][2])
        if job.stop == self.now:
            self.end_phase(job)

    def end_phase(self, job):
        self.leave(job)
        if job.state == DELAY:
            self.begin(job)
            self.resume(job)
        elif job.state == RESTART:
            self.work(job)
        elif job.state in (CHECKPOINT, MIGRATION):
            job.safe = job.progress
            self.work(job, again=job.state == CHECKPOINT and self.interval(job) < INF)
        elif job.state == WORK and job.checkpoints_next:
            job.progress = job.anchor[2] + (job.count + 1) * self.interval(job)
            job.count += 1
            self.enter(job, CHECKPOINT, self.c["checkpoint"][2])
        else:
            job.progress = job.runtime
            self.ledger["cut_at_limit" if job.cut else "useful"] += job.runtime * job.size
            job.finish, job.state, job.stop = self.now, DONE, INF
            self.release(job)
            self.want_pass = True
            if self.c["migration"]:
                self.migrate(job)

    def release(self, job):
        for n in job.nodes:
            self.owner[n] = None
        self.stretches.append((job.index, job.taken, self.now, tuple(sorted(job.nodes))))
        job.nodes = ()

    def idle(self):
        return {n for n in range(self.n) if self.owner[n] is None and n not in self.down}

    def migrate(self, done):
        threshold, cost = self.c["migration"]
        finishes = lambda j: j.state == WORK and not j.checkpoints_next and j.stop <= self.now  # noqa: E731
        for j in self.jobs:
            while j.stop <= self.now and not finishes(j):
                self.end_phase(j)  # what ends now has ended, whatever its job's index
        moving = (RESTART, WORK, CHECKPOINT, MIGRATION)
        later = [j for j in self.jobs if j.state in moving and j.start > done.start and not finishes(j)]
        for j in sorted(later, key=lambda j: (j.start, j.index)):
            nodes, moved = set(j.nodes), 0
            while True:
                free = self.idle() - nodes
                if not free:
                    break
                worst = min(nodes, key=lambda n: (-self.fails[n], n))
                best = min(free, key=lambda n: (self.fails[n], n))
                if self.fails[worst] - self.fails[best] <= threshold:
                    break
                if not moved:
                    self.stretches.append((j.index, j.taken, self.now, tuple(sorted(j.nodes))))
                    j.taken = self.now
                nodes.remove(worst)
                nodes.add(best)
                self.owner[worst], self.owner[best] = None, j.index
                moved += 1
            if moved:
                j.nodes = tuple(sorted(nodes))
                self.leave(j)
                j.moves += 1
                self.enter(j, MIGRATION, cost)
                left = max(0.0, j.estimate - j.progress)
                j.expected = self.now + cost + left + self.planned(j, left) * self.c["checkpoint"][2]
                if cost == 0:
                    self.end_phase(j)

    # failures
    def fail(self, node, downtime):
        self.fails[node] += 1
        owner = self.owner[node]
        later = downtime > 0 and self.up_at[node] < self.now + downtime
        if downtime > 0:
            self.up_at[node] = max(self.up_at[node], self.now + downtime)
            self.down.add(node)
        if owner is None:
            self.want_pass |= later
            return
        self.want_pass = True
        job = self.jobs[owner]
        if job.state == HELD or job.last_kill == self.now:
            if self.c["recovery"] == "hold":
                self.hold(job)
            return
        self.leave(job)
        job.last_kill, job.killed = self.now, True
        job.restarts += 1
        lost = job.progress - job.safe
        job.lost += lost * job.size
        self.ledger["lost"] += lost * job.size
        job.progress = job.safe
        if self.c["recovery"] == "hold":
            if job.state == DELAY:
                self.begin(job)
            job.state, job.since = HELD, self.now
            self.hold(job)
        else:
            self.release(job)
            job.state, job.stop = QUEUED, INF
            if self.c["place"] == "tail":
                self.tail += 1
                job.key = (self.now, -1, self.tail)
            self.queue.append(job)

    def hold(self, job):
        if job.state != HELD:
            self.leave(job)
            job.state, job.since = HELD, self.now
        until = max(self.up_at[n] for n in job.nodes)
        job.hold_end = max(until, self.now)
        job.stop = INF
        job.expected = job.hold_end + self.duration(job)
        if job.hold_end <= self.now:
            self.resume(job)

    # requests for checkpoints
    def requests(self):
        """Times at which the policy asks, each with the nodes (None: the victims)."""
        kind = self.c["checkpoint"]
        asked = {}
        if kind[0] == "before":
            for row in self.trace:
                if self.c["predictor"][0] == "none" or self.seen(row):
                    asked.setdefault(row[0] - kind[2], []).append(row[1])
        elif kind[0] == "windows":
            length, every = kind[1], kind[3]
            for k in {math.ceil(row[0] / length) - 1 for row in self.trace}:
                i = 0
                while i * every < length:
                    asked[k * length + i * every] = None
                    i += 1
        return asked

    def request(self, nodes):
        cost = self.c["checkpoint"][2]
        if nodes is not None:
            for n in nodes:
                if self.owner[n] is not None:
                    self.unforeseen(self.jobs[self.owner[n]], cost)
            return
        working = [j for j in self.jobs if j.state == WORK]
        victims = self.c["checkpoint"][4]
        if victims[0] == "long":
            working = [j for j in working if self.now - j.start >= victims[1]]
        elif victims[0] == "big":
            running = [j for j in self.jobs if DELAY <= j.state <= MIGRATION]
            largest = sorted(running, key=lambda j: (-j.size, j.index))[: victims[1]]
            working = [j for j in largest if j.state == WORK]
        for j in sorted(working, key=lambda j: j.index):
            self.unforeseen(j, cost)

    def may_save(self, job, cost):
        progress = job.progress + self.now - job.since
        return job.state == WORK and progress > job.safe and job.runtime - progress > cost

    def unforeseen(self, job, cost):
        if self.may_save(job, cost):
            self.leave(job)
            job.expected = self.now + cost + max(0.0, job.estimate - job.progress)
            self.take_checkpoint(job)

    # scheduling
    def launch(self, job, nodes, backfilled=False):
        self.queue.remove(job)
        job.nodes = tuple(sorted(nodes))
        for n in nodes:
            assert self.owner[n] is None
            self.owner[n] = job.index
        job.taken = self.now
        job.backfilled = backfilled
        job.expected = self.now + self.c["delay"] + self.duration(job)
        if self.c["delay"] > 0:
            job.start = self.now + self.c["delay"]
            self.enter(job, DELAY, self.c["delay"])
        else:
            self.begin(job)
            self.resume(job)

    def begin(self, job):
        job.start = self.now
        if job.first_start is None:
            job.first_start = self.now

    def run_pass(self):
        self.queue.sort(key=lambda j: j.key)
        while self.queue:
            free, job = self.idle(), self.queue[0]
            if self.shape:
                boxes = next(
                    (b for q in self.torus.sizes if q >= job.ask and (b := self.torus.free_boxes(free, q))), None
                )
                if not boxes:
                    break
                self.launch(job, self.place_torus(job, boxes, free))
            elif len(free) >= job.size:
                self.launch(job, self.place_cluster(job, free))
            else:
                break
        if self.c["scheduler"] == "easy" and len(self.queue) > 1:
            self.backfill()

    def releases(self):
        out = {}
        for j in self.jobs:
            if j.nodes and self.expected_end(j) < INF:
                out.setdefault(self.expected_end(j), set()).update(j.nodes)
        if self.c["repairs"] == "known":
            for n in range(self.n):
                if self.owner[n] is None and self.up_at[n] > self.now:
                    out.setdefault(self.up_at[n], set()).add(n)
        return out

    def backfill(self):
        head, free, out = self.queue[0], self.idle(), self.releases()
        at, avail = INF, set(free)
        for t in sorted(out):
            avail |= out[t]
            if self.torus.has_box(avail, head.ask) if self.shape else len(avail) >= head.size:
                at = t
                break
        extra = len(avail) - head.size
        for job in list(self.queue[1:]):
            ends = self.now + self.c["delay"] + self.duration(job)
            free = self.idle()
            if not self.shape:
                if job.size > len(free):
                    continue
                if not ends <= at:
                    if job.size > extra:
                        continue
                    extra -= job.size
                self.launch(job, self.place_cluster(job, free), True)
                continue
            for q in self.torus.sizes:
                if q < job.ask or q > job.ask + self.c["max_growth"]:
                    continue
                boxes = self.torus.free_boxes(free, q)
                if not ends <= at:
                    boxes = [b for b in boxes if self.torus.has_box(avail - b, head.ask)]
                if boxes:
                    box = self.place_torus(job, boxes, free)
                    self.launch(job, box, True)
                    if not ends <= at:
                        avail -= box
                    break

    # the clock
    def account(self, until):
        if until <= self.now or self.now < self.first:
            return
        gap = until - self.now
        idle = len(self.idle())
        down = sum(self.owner[n] is None for n in self.down)
        wanted = min(idle, sum(j.size for j in self.queue))
        self.ledger["down"] += down * gap
        self.ledger["idle_demand"] += wanted * gap
        self.ledger["idle_no_demand"] += (idle - wanted) * gap

    def run(self):
        asked = self.requests()
        self.first = min(j.submit for j in self.jobs)
        self.tail = 0
        times = {row[0] for row in self.trace} | {j.submit for j in self.jobs} | {t for t in asked if t >= 0}
        self.now = -1.0
        while any(j.state != DONE for j in self.jobs):
            ahead = [t for t in times if t > self.now]
            ahead += [j.stop for j in self.jobs if self.now < j.stop < INF]
            ahead += [t for t in self.up_at if t > self.now]
            t = min(ahead)
            self.account(t)
            self.now = t
            self.want_pass = False
            self.ends()
            if back := {n for n in self.down if self.up_at[n] == t}:
                self.want_pass = True
                self.down -= back
                for j in self.jobs:
                    if j.state == HELD and j.hold_end == t:
                        self.leave(j)
                        self.resume(j)
                self.ends()
            if self.c["checkpoint"] == ("before", 0, 0.0) and t in asked:
                self.request(asked.pop(t))  # the page's one exception to the order: it is to lose nothing
            for row in self.trace:
                if row[0] == t:
                    self.fail(row[1], row[2])
            self.ends()
            if t in asked:
                self.request(asked[t])
            for j in self.jobs:
                if j.submit == t:
                    self.queue.append(j)
                    self.want_pass = True
            while self.want_pass:
                self.want_pass = False
                self.run_pass()
                self.ends()
        return self

    def ends(self):
        while ready := [j for j in self.jobs if j.stop <= self.now]:
            self.end_phase(ready[0])
