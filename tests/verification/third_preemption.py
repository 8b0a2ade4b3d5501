"""The third program with `Preemptive`: who is stopped, from the model page alone; the rest is `third_failures`."""

import third_failures
from third_failures import CHECKPOINT, HELD, INF, MIGRATION, QUEUED, RESTART, WORK


class Stopping(third_failures.Third):
    """One run of a case whose jobs have ranks, the smallest first."""

    def __init__(self, case):
        super().__init__(case)
        self.stops = 0
        for job, rank in zip(self.jobs, case["ranks"], strict=True):
            job.rank = rank

    def launch(self, job, nodes, backfilled=False):
        """As always; when it was decided is remembered."""
        job.decided = self.now
        super().launch(job, nodes, backfilled)

    def run_pass(self):
        """Jobs start in order; the head stops others; what is left is backfilled."""
        while True:
            self.queue.sort(key=lambda job: (job.rank, job.key))
            while self.queue and self.queue[0].size <= len(self.idle()):
                self.launch(self.queue[0], self.place_cluster(self.queue[0], self.idle()))
            if not self.queue:
                return
            head = self.queue[0]
            victims = self.victims(head)
            if not victims:
                break
            for job in victims:
                self.stop(job)
            self.launch(head, self.place_cluster(head, self.idle()))
        if self.c["scheduler"] == "easy" and len(self.queue) > 1:
            self.backfill()

    def victims(self, head):
        """Those that are stopped for the head, in order."""
        ends_now = lambda job: job.state == WORK and not job.checkpoints_next and job.stop <= self.now  # noqa: E731
        running = [job for job in self.jobs if job.state in (RESTART, WORK, CHECKPOINT, MIGRATION)]
        lower = [job for job in running if job.rank > head.rank and not ends_now(job)]
        lower.sort(key=lambda job: (job.rank, job.decided, job.index), reverse=True)
        free, taken = len(self.idle()), []
        gain = {job.index: sum(node not in self.down for node in job.nodes) for job in lower}
        for job in lower:
            if free >= head.size:
                break
            taken.append(job)
            free += gain[job.index]
        if free < head.size:
            return []
        for job in reversed(taken[:]):
            if free - gain[job.index] >= head.size:
                free -= gain[job.index]
                taken.remove(job)
        return taken

    def stop(self, job):
        """As by a kill; requeued, by "arrival" where the recovery says nothing of it."""
        assert job.state != HELD
        self.stops += 1
        self.leave(job)
        job.killed = True
        job.restarts += 1
        lost = job.progress - job.safe
        job.lost += lost * job.size
        self.ledger["lost"] += lost * job.size
        job.progress = job.safe
        self.release(job)
        job.state, job.stop = QUEUED, INF
        if self.c["recovery"] == "requeue" and self.c["place"] == "tail":
            self.tail += 1
            job.key = (self.now, INF, self.tail)  # who has arrived now waits already
        self.queue.append(job)
