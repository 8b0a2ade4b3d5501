"""A small machine with a clock of its own: it steps whole seconds, and it alone knows when jobs end.

It stands for a digital twin, or for a real system that faultsim follows.
"""

from collections import defaultdict
from typing import NamedTuple

LATER, ENDS, UP, DOWN, ARRIVES = range(5)


class News(NamedTuple):
    """What has happened in one second."""

    time: int
    ended: list
    up: list
    down: list
    arrived: list  # (id, size, limit in seconds)


class TickingEngine:
    """Jobs and nodes, second by second.

    Parameters
    ----------
    log : Workload
        Whole seconds; run times of at least one second, which nobody is told.
    nodes : int
    late : sequence of int, optional
        Seconds by which the end of each job is put off once it has begun, each time.
    outages : sequence of (node, down, up)
    patient : bool
        Whether a node on which a job ends in this very second goes down one second later.
    """

    def __init__(self, log, nodes, *, late=None, outages=(), patient=True):
        self.log, self.late, self.patient = log, late, patient
        self.now = int(log.submit[0]) - 1
        self.holds = [None] * nodes  # the job of each node
        self.is_down = [False] * nodes
        self.nodes, self.end, self.left = {}, {}, len(log)
        self.starts, self.ends, self.held = {}, {}, {}
        self.outages = []
        self.due = defaultdict(list)
        for job, t in enumerate(log.submit.tolist()):
            self.due[int(t)].append((ARRIVES, job, 0))
        for node, down, up in outages:
            self.due[down].append((DOWN, node, up))

    def __getstate__(self):
        return vars(self) | {"due": dict(self.due)}

    def __setstate__(self, state):
        vars(self).update(state, due=defaultdict(list, state["due"]))

    def tick(self):
        """One second more."""
        self.now += 1
        news = News(self.now, [], [], [], [])
        for kind, which, more in sorted(self.due.pop(self.now, ())):
            if kind == ARRIVES:
                news.arrived.append((f"job-{which}", int(self.log.size[which]), float(self.log.estimate[which])))
            elif kind == UP:
                self.is_down[which] = False
                self.outages.append((which, more, self.now))
                news.up.append(which)
            elif kind == DOWN:
                self._down(which, more, news)
            elif self.end.get(which) == (self.now if kind == ENDS else more):
                if kind == LATER:
                    self._ends(which, more + self.late[which])
                else:
                    self._leave(which)
                    news.ended.append(f"job-{which}")
        return news

    def _down(self, node, up, news):
        if self.patient and any(node in self.held[int(job[4:])] for job in news.ended):
            self.due[self.now + 1].append((DOWN, node, up))
        elif not self.is_down[node] and up > self.now:
            if self.holds[node] is not None:
                self._leave(self.holds[node], done=False)
            self.is_down[node] = True
            self.due[up].append((UP, node, self.now))
            news.down.append(node)

    def _ends(self, job, at):
        self.end[job] = at
        self.due[at].append((ENDS, job, 0))

    def _leave(self, job, done=True):
        del self.end[job]
        self.held[job] = self.nodes.pop(job)
        for node in self.held[job]:
            self.holds[node] = None
        if done:
            self.ends[job] = self.now
            self.left -= 1

    def still_down(self):
        """Nodes that are down, and since when."""
        return [(which, more) for due in self.due.values() for kind, which, more in due if kind == UP]

    def start(self, name, nodes):
        """Begin a job now."""
        job = int(name[4:])
        assert len(set(nodes)) == self.log.size[job]
        assert not any(self.is_down[node] or self.holds[node] is not None for node in nodes)
        self.starts[job], self.nodes[job] = self.now, nodes
        for node in nodes:
            self.holds[node] = job
        self._ends(job, self.now + int(self.log.runtime[job]))
        if self.late is not None:
            self.due[self.now + 1].append((LATER, job, self.end[job]))

    def stop(self, name):
        """End a job now, whatever it has done."""
        self._leave(int(name[4:]))
