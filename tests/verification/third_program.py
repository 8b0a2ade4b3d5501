"""A third program: the whole model without failures, from docs/background/model.md alone; for machines of a few nodes.

It shares nothing with the engines: no class, no helper, no data structure.  A box is the set of its nodes, an occupancy
is a set of nodes, and everything that the fast engine keeps between passes is computed anew at every question.
"""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

NOTHING = frozenset()


class Box(NamedTuple):
    """A box of a torus: base and extents (x, y, z, a, b, c), and its nodes."""

    place: tuple
    nodes: frozenset


class Torus:
    """Every box of a torus or mesh by number of nodes, in the order that is part of the contract (sections 4 and 5)."""

    def __init__(self, x, y, z, wrap, box_order):
        dims = (x, y, z)
        self.nodes = x * y * z
        self.boxes = {}
        for extents in itertools.product(*(range(1, dim + 1) for dim in dims)):
            bases = [
                [0] if extent == dim else range(dim if wrap else dim - extent + 1)
                for dim, extent in zip(dims, extents, strict=True)
            ]
            for base in itertools.product(*bases):
                nodes = frozenset(
                    ((base[0] + i) % x * y + (base[1] + j) % y) * z + (base[2] + k) % z
                    for i, j, k in itertools.product(*map(range, extents))
                )
                self.boxes.setdefault(len(nodes), []).append(Box(base + extents, nodes))
        keys = {
            "extents-descending": lambda box: (*(-extent for extent in box.place[3:]), *box.place[:3]),
            "extents-ascending": lambda box: box.place[3:] + box.place[:3],
            "bases": lambda box: box.place,
        }
        for boxes in self.boxes.values():
            boxes.sort(key=keys[box_order])
        self.sizes = sorted(self.boxes)

    def sizes_from(self, size):
        """The sizes that have boxes, from `size` up."""
        return [feasible for feasible in self.sizes if feasible >= size]

    def max_free(self, busy):
        """The size of the largest free box (MFP)."""
        for size in reversed(self.sizes):
            if any(not (box.nodes & busy) for box in self.boxes[size]):
                return size
        return 0

    def free_boxes(self, busy, size, permitted=lambda nodes: True):
        return [box for box in self.boxes[size] if not (box.nodes & busy) and permitted(box.nodes)]

    def choose(self, placement, candidates, busy):
        """The placement rule among candidates in contract order (section 7)."""
        if placement == "first_fit":
            return candidates[0]
        best, best_left = None, -1
        for box in candidates:
            left = self.max_free(busy | box.nodes)
            if left > best_left:
                best, best_left = box, left
        return best


class Reservation(NamedTuple):
    """The time [begin, end) that conservative backfilling promises, for `size` nodes (on a torus: of this box)."""

    begin: float
    end: float
    size: int
    box: Box | None


@dataclass(eq=False)
class Job:
    """Its columns (`runtime` as executed, `size` as requested, `rounded` to a box), then what becomes of it."""

    index: int
    submit: float
    runtime: float
    estimate: float
    size: int
    rounded: int
    decision: float = math.nan
    start: float = math.nan
    finish: float = math.nan
    expected_end: float = math.nan
    allocated: int = 0
    box: Box | None = None
    moves: int = 0
    backfilled: bool = False
    reservation: Reservation | None = None

    @property
    def key(self):
        return self.submit, self.index


class Program:
    """One run.  `machine` is a number of nodes or a `Torus`; `migration` the parameters of Defragment (section 8)."""

    def __init__(
        self,
        submit,
        runtime,
        estimate,
        size,
        machine,
        *,
        scheduler,
        order="arrival",
        reservation="any",
        max_growth=1,
        placement="max_free_partition",
        migration=None,
        overrun="extend",
        start_delay=0.0,
    ):
        self.torus = machine if isinstance(machine, Torus) else None
        self.nodes = self.torus.nodes if self.torus else machine
        self.scheduler, self.order, self.reservation_rule = scheduler, order, reservation
        self.max_growth, self.placement, self.migration, self.delay = max_growth, placement, migration, start_delay
        self.jobs = [
            Job(
                index,
                submit[index],
                min(runtime[index], estimate[index]) if overrun == "kill" else runtime[index],
                estimate[index],
                size[index],
                self.torus.sizes_from(size[index])[0] if self.torus else size[index],
            )
            for index in range(len(submit))
        ]
        self.queue, self.running = [], []
        self.attempted = self.successful = 0
        self.busy_after_attempt = None
        self.last_pass = None
        self.rebuild = False
        self.now = -math.inf

    def run(self):
        """All ends of an instant, then all arrivals, then one pass; again if the pass made an end at this instant
        (section 2).
        """
        arrivals, done = list(self.jobs), 0
        while done < len(self.jobs):
            self.now = min([job.finish for job in self.running] + [job.submit for job in arrivals[:1]])
            while True:
                ended = [job for job in self.running if job.finish == self.now]
                for job in ended:
                    self.running.remove(job)
                    done += 1
                    self.rebuild |= job.expected_end < self.now
                arrived = [job for job in arrivals if job.submit == self.now]
                self.queue += arrived
                del arrivals[: len(arrived)]
                if not (ended or arrived):
                    break
                self.one_pass()
        return self

    def one_pass(self):
        """One scheduling pass: in queue order as it is at its beginning (sections 6 and 8)."""
        queue = self.in_order()
        if self.scheduler == "conservative":
            self.conservative(queue)
            if self.migration:
                queue = [job for job in queue if job in self.queue]
                if self.defragment(queue):
                    self.conservative(queue, disturbed=True)
            return
        self.fcfs(queue)
        if self.migration and self.defragment(queue):
            self.fcfs(queue)
        if self.scheduler == "easy" and len(queue) > 1 and self.running:
            self.backfill(queue)

    def in_order(self):
        """The queue orders of section 6, ties by (submit, index)."""

        def key(job):
            wait, estimate = self.now - job.submit, max(job.estimate, 1.0)
            first = {
                "arrival": 0.0,
                "shortest": job.estimate,
                "largest": -job.size,
                "wfp3": -((wait / estimate) ** 3) * job.size,
                "unicef": -wait / (math.log2(max(job.size, 2)) * estimate),
            }
            return first[self.order], *job.key

        return sorted(self.queue, key=key)

    def busy(self):
        return NOTHING.union(*(job.box.nodes for job in self.running))

    def free(self):
        return self.nodes - sum(job.allocated for job in self.running)

    def end(self, job):
        """The expected end of a running job: now if it outlives its estimate (section 3)."""
        return max(self.now, job.expected_end)

    def begin(self, job, allocated, box, backfilled):
        """Start a job: its nodes are held from the decision, it works from the end of the start delay."""
        job.decision, job.start = self.now, self.now + self.delay
        job.finish, job.expected_end = job.start + job.runtime, job.start + job.estimate
        job.allocated, job.box, job.backfilled = allocated, box, backfilled
        self.running.append(job)
        self.queue.remove(job)

    def fcfs(self, queue):
        """Head first; stop at the first job that cannot start (section 6)."""
        while queue:
            head = queue[0]
            if not self.torus:
                if head.size > self.free():
                    return
                self.begin(head, head.size, None, False)
            else:
                busy = self.busy()
                for size in self.torus.sizes_from(head.rounded):
                    candidates = self.torus.free_boxes(busy, size)
                    if candidates:
                        self.begin(head, size, self.torus.choose(self.placement, candidates, busy), False)
                        break
                else:
                    return
            queue.pop(0)

    def shadow(self, head, held):
        """T, the first release after which a box serves the head, and the nodes held after it (section 6).

        `held` has one (expected end, nodes) a running job.
        """
        for time in sorted({end for end, _ in held}):
            later = NOTHING.union(*(nodes for end, nodes in held if end > time))
            if self.torus.max_free(later) >= head.rounded:
                return time, later
        return math.inf, NOTHING

    def backfill(self, queue):
        """The backfill phase of EASY: one scan behind the head (section 6)."""
        if self.torus:
            self.backfill_on_torus(queue)
            return
        head = queue[0]
        for shadow in sorted({self.end(job) for job in self.running}):
            there = self.free() + sum(job.allocated for job in self.running if self.end(job) <= shadow)
            if there >= head.size:
                break
        extra = there - head.size
        for job in queue[1:]:
            if job.size > self.free():
                continue
            if self.now + self.delay + job.estimate <= shadow:
                self.begin(job, job.size, None, True)
            elif job.size <= extra:
                extra -= job.size
                self.begin(job, job.size, None, True)

    def backfill_on_torus(self, queue):
        head, torus = queue[0], self.torus
        shadow, later = self.shadow(head, [(self.end(job), job.box.nodes) for job in self.running])
        fixed = NOTHING
        if self.reservation_rule == "fixed":
            for size in torus.sizes_from(head.rounded):
                candidates = torus.free_boxes(later, size)
                if candidates:
                    fixed = torus.choose(self.placement, candidates, later).nodes
                    break

        def leaves_the_head_a_box(nodes):
            if self.reservation_rule == "fixed":
                return not (nodes & fixed)
            return torus.max_free(later | nodes) >= head.rounded

        for job in queue[1:]:
            busy, is_long = self.busy(), self.now + self.delay + job.estimate > shadow
            permitted = leaves_the_head_a_box if is_long else lambda nodes: True
            for size in torus.sizes_from(job.rounded):
                if size > job.rounded + self.max_growth:
                    break
                candidates = torus.free_boxes(busy, size, permitted)
                if candidates:
                    box = torus.choose(self.placement, candidates, busy)
                    self.begin(job, size, box, True)
                    if is_long:
                        later |= box.nodes
                    break

    def defragment(self, queue):
        """Attempt a migration; true if the new arrangement was adopted (section 8)."""
        busy, free, rule, torus = self.busy(), self.free(), self.migration, self.torus
        if (not queue and rule["when"] != "always") or free <= 0 or free < Fraction(str(rule["min_free"])) * self.nodes:
            return False
        if not self.running or torus.max_free(busy) > Fraction(str(rule["max_concentration"])) * free:
            return False
        if self.busy_after_attempt == busy:
            return False
        self.attempted += 1
        new, rearranged = self.rearrange()
        adopted = False
        if torus.max_free(rearranged) > torus.max_free(busy):
            self.successful += 1
            adopted = not (rule["keep_promise"] and queue) or self.promise_is_kept(queue[0], new, busy, rearranged)
        if adopted:
            for job, box in new.items():
                if box.place != job.box.place:
                    job.box = box
                    job.moves += 1
                    job.finish += rule["cost"]
                    job.expected_end += rule["cost"]
        self.busy_after_attempt = self.busy()
        return adopted

    def rearrange(self):
        """Re-place the running jobs on an empty torus; a job that fits nowhere keeps its box, and all starts again."""
        jobs = sorted(self.running, key=lambda job: (-job.allocated, job.decision, *job.key))
        stay = []
        while True:
            busy = NOTHING.union(*(job.box.nodes for job in stay))
            new = {}
            for job in jobs:
                if job in stay:
                    continue
                candidates = self.torus.free_boxes(busy, job.allocated)
                if not candidates:
                    stay.append(job)
                    break
                new[job] = self.torus.choose(self.placement, candidates, busy)
                busy |= new[job].nodes
            else:
                return new, busy

    def promise_is_kept(self, head, new, busy, rearranged):
        """Whether the head's T, with the cost of the moves in the expected ends, is no later than before."""

        def promise(held, occupied):
            if self.torus.max_free(occupied) >= head.rounded:
                return self.now
            return self.shadow(head, held)[0]

        before = [(self.end(job), job.box.nodes) for job in self.running]
        after = []
        for job in self.running:
            box = new.get(job, job.box)
            cost = self.migration["cost"] if box.place != job.box.place else 0
            after.append((max(self.now, job.expected_end + cost), box.nodes))
        return promise(after, rearranged) <= promise(before, busy)

    def conservative(self, queue, disturbed=False):
        """One sweep in queue order; after a disturbance all reservations are given anew (section 6)."""
        disturbed |= self.rebuild or any(job.expected_end <= self.now for job in self.running)
        for job in queue:
            if job.reservation and (job.reservation.begin < self.now or job.reservation.begin == self.last_pass):
                disturbed = True
        self.rebuild = False
        if disturbed:
            for job in queue:
                job.reservation = None
        somebody_waits = False
        for job in queue:
            old, (hole, starts) = job.reservation, self.earliest_hole(job, somebody_waits)
            if old and (hole is None or hole.begin > old.begin):  # a reservation is kept, never made later
                hole = old
                starts = old.begin == self.now and (
                    not (old.box.nodes & self.busy()) if self.torus else job.size <= self.free()
                )
            if hole and starts:
                self.begin(job, hole.size, hole.box, somebody_waits)
                job.reservation = None
            else:
                job.reservation = hole
                somebody_waits = True
        self.last_pass = self.now

    def earliest_hole(self, job, behind):
        """The earliest hole given all running jobs and other reservations, and whether the job can start in it now."""
        others = [other.reservation for other in self.queue if other is not job and other.reservation]
        fits = self.fits_torus if self.torus else self.fits_cluster

        def hole(time, really_free):
            until = (time + self.delay) + job.estimate
            found = fits(job, time, until, others, really_free, behind)
            return found and Reservation(time, until, *found)

        if found := hole(self.now, True):
            return found, True
        ends = {self.end(other) for other in self.running} | {other.end for other in others if other.end >= self.now}
        for time in sorted(ends):
            if found := hole(time, False):
                return found, False
        return None, False

    def fits_cluster(self, job, begin, until, others, really_free, behind):
        def free_at(time):
            running = sum(other.allocated for other in self.running if self.end(other) > time)
            return self.nodes - running - sum(other.size for other in others if other.begin <= time < other.end)

        if really_free and job.size > self.free():
            return None
        times = [begin, *(other.begin for other in others if begin < other.begin < until)]
        return None if any(free_at(time) < job.size for time in times) else (job.size, None)

    def fits_torus(self, job, begin, until, others, really_free, behind):
        """Boxes free over the whole time, the choice judged on the occupancy at its beginning; only the first job of
        the queue may take any larger box.
        """
        at_begin = NOTHING.union(*(run.box.nodes for run in self.running if really_free or self.end(run) > begin))
        meanwhile = at_begin
        for other in others:
            if other.begin < other.end:
                if other.begin <= begin < other.end:
                    at_begin |= other.box.nodes
                    meanwhile |= other.box.nodes
                elif begin < other.begin < until:
                    meanwhile |= other.box.nodes
        for size in self.torus.sizes_from(job.rounded):
            if behind and size > job.rounded + self.max_growth:
                break
            candidates = self.torus.free_boxes(meanwhile, size)
            if candidates:
                return size, self.torus.choose(self.placement, candidates, at_begin)
        return None
