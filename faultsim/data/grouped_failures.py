"""What a `FailureTrace` does with nodes that fail together, or again and again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Self

import numpy as np

from faultsim import checks, rates
from faultsim.arrays import Floats, Integers, LongIntegers
from faultsim.data.domains import Domains
from faultsim.data.failure_table import FailureTable
from faultsim.data.numbering import Numbering, numbering
from faultsim.data.slowdowns import SlowOutage
from faultsim.errors import InputError

# No hardware fails more often than hourly over at least so many failures: then times are not in seconds.
_HOUR, _FEW = 3600.0, 10


class GroupedFailures(FailureTable):
    """Methods of `faultsim.FailureTrace` about failure domains and lemons."""

    __slots__ = ()

    def map_domains(self, domains: Domains, *, any_rate: bool = False) -> Self:
        """The failures of nodes that failures of domains are: `node` says which row of `domains` fails.

        Parameters
        ----------
        domains : Domains
            The hosts, links and switches that fail, and the nodes that each takes away.
        any_rate : bool
            Accept domains that fail more often than once an hour on average, which is otherwise taken for a trace in
            days.

        Returns
        -------
        FailureTrace
            A row for each member of each domain that fails, at the same time, with the same coin (predictors see all or
            none), with the down time of the domain, else of the failure; of one failure in the order of their numbers.
            Overlapping outages stay as they are: a node is down until the last of its domains is repaired.  A domain
            without effect leaves no row; `dropped` counts its failures as "routed around". Outages that slow jobs down
            leave no row either: they are in `slowdowns`, and so in the runs that get the trace.

        Raises
        ------
        InputError
            A failure of a row that `domains` does not have; a trace of other domains, or of nodes that are not the
            first rows of `domains`; one that looks as though it was in days.

        Notes
        -----
        The members of a domain fail at one instant, so that a job on several of them is killed once
        (model.md#failure), and so that a scheduling pass sees all of them down.  `with_count` thins nodes: use it
        before.

        Examples
        --------
        >>> import faultsim as fs
        >>> cubes = fs.Domains.blocks(64, 16, kind="cube")
        >>> switches = fs.Domains.blocks(64, 64, copies=2, kind="switch", effect="none")
        >>> parts = fs.Domains.join([fs.Domains.hosts(64), cubes, switches])
        >>> trace = fs.FailureTrace([60, 3600, 7200], [5, parts.row("cube 3"), parts.row("switch 0.1")], 600)
        >>> trace.map_domains(parts)
        <FailureTrace: 17 failures, nodes 5-63, span 7200 s, 1 dropped>
        """
        if not isinstance(domains, Domains):
            raise InputError(f"map_domains: expected Domains, got {checks.shown(domains)}")
        self._refuse_other_rows(domains)
        self.refuse_parts("map_domains")
        if len(self) and not len(domains):
            raise InputError("map_domains: there are no domains, and so none that could fail")
        if len(self) and int(self.node.max()) >= len(domains):
            row = int(np.argmax(self.node >= len(domains)))
            raise InputError(
                f"map_domains: node, row {row}: {self.node[row]} is no row of the {len(domains)} domains "
                f"(0-{len(domains) - 1})"
            )
        self.refuse_days("map_domains", checks.flag("any_rate", any_rate))
        rates.check_count("map_domains", float(domains.sizes[self.node].sum()), f"{len(self):,} failures of domains")
        which, node = domains.taken(self.node)
        own = domains.downtime[self.node]
        lasting = np.where(np.isnan(own), self.downtime, own)
        columns = {"time": self.time, "downtime": lasting, "coin": self.coin}
        slow = np.array([effect is not None for effect in domains._slow], dtype=bool)[self.node]
        around = int(((domains.sizes[self.node] == 0) & ~slow).sum())
        dropped = {**self._dropped}
        if around:
            dropped["routed around"] = dropped.get("routed around", 0) + around
        rows = zip(self.time[slow].tolist(), lasting[slow].tolist(), self.node[slow].tolist(), strict=True)
        outages = [
            SlowOutage(time, duration, domains.names[row], domains.nodes, effect)
            for time, duration, row in rows
            if (effect := domains._slow[row]) is not None
        ]
        return self._made(
            {key: column[which] for key, column in columns.items()} | {"node": node},
            dropped=dropped,
            slow=(*self._slow, *outages),
        )._numbered(Numbering(domains.nodes))

    def _refuse_other_rows(self, domains: Domains) -> None:
        """Raise `InputError` if numbers of the trace are known to be no rows of these domains."""
        of = self._of
        if of is None:
            return
        if of.domains:
            if of != (wanted := numbering(domains)):
                raise InputError(
                    f"map_domains: the trace is of {of}, and these are other {wanted}, by their number or names: give "
                    f"those that it was made for"
                )
            return
        if of.size not in (0, len(domains)) and not domains.begins_with_nodes(of.size):
            raise InputError(
                f"map_domains: the trace is of {of}, and these {len(domains):,} domains of {domains.nodes:,} nodes do "
                f"not begin with them: give a trace of domains, as domain_failures or FailureTrace(..., of=domains) "
                f"makes it"
            )

    def refuse_domains(self, what: str) -> None:
        """Raise `InputError` if the numbers of the trace are those of domains, where nodes are meant."""
        if self._of is not None and self._of.domains:
            raise InputError(
                f"{what}: the trace is of {self._of}: its numbers are rows of Domains, not nodes; "
                f"trace.map_domains(domains) first, with the domains that it was made for"
            )

    def exclude_lemons(
        self,
        failures: int,
        window: checks.Duration,
        *,
        out: checks.Duration | None = None,
        any_rate: bool = False,
    ) -> Self:
        """Take nodes out of service that fail again and again: their outages become longer.

        Parameters
        ----------
        failures : int
            How many failures of a node, at as many instants, make it a lemon.
        window : float
            Within so many seconds: the last of them at most so long after the first.
        out : float, optional
            For how many seconds a lemon stays out, from the failure that made it one; by default for good, which is to
            the end of the span.
        any_rate : bool
            Accept nodes that fail more often than once an hour on average, which is otherwise taken for a trace in
            days.

        Returns
        -------
        FailureTrace
            The failure that makes a node a lemon is down for as long as the node is out, if that is longer than its own
            down time.  Further failures of a node that is out do not happen, `dropped` counts them as "of a node that
            is out"; but one that lasts beyond the return stays, and the node returns when it is repaired.  Then it
            counts as new.

        Notes
        -----
        Nothing looks ahead: what becomes of a failure depends on those before it (model.md#lemons).  On a trace of
        domains, before `map_domains`, each domain is judged by its own failures; after it, nodes also by those of the
        domains that they belong to.

        Examples
        --------
        >>> import faultsim as fs
        >>> day = 86_400
        >>> trace = fs.FailureTrace([day, 5 * day, 8 * day, 9 * day, 60 * day], [7, 7, 7, 7, 7], 3600, span=90 * day)
        >>> better = trace.exclude_lemons(3, "30d", out="14d")
        >>> better.time / day, better.downtime / day
        (array([ 1.,  5.,  8., 60.]), array([ 0.04166667,  0.04166667, 14.        ,  0.04166667]))
        >>> float(trace.exclude_lemons(3, "30d").downtime[-1]) / day
        82.0
        """
        count = checks.whole("failures of exclude_lemons()", failures, low=1)
        width = checks.number("window of exclude_lemons()", window, above=0.0, unit="s")
        lasting = None if out is None else checks.number("out of exclude_lemons()", out, above=0.0, unit="s")
        self.refuse_parts("exclude_lemons")
        self.refuse_days("exclude_lemons", checks.flag("any_rate", any_rate))
        downtime = self.downtime.copy()
        kept = np.ones(len(self), dtype=bool)
        for rows in _of_suspects(self.time, self.node, count, width):
            times, downs = self.time[rows].tolist(), downtime[rows].tolist()
            recent: deque[float] = deque()
            back = 0.0
            for row, time, own in zip(rows.tolist(), times, downs, strict=True):
                if time < back:
                    kept[row] = time + own > back
                    back = max(back, time + own)
                    continue
                if not recent or recent[-1] != time:
                    recent.append(time)
                while recent[0] < time - width:
                    recent.popleft()
                if len(recent) >= count:
                    until = self._span if lasting is None else time + lasting
                    downtime[row] = max(own, until - time)
                    back = time + downtime[row]
                    recent.clear()
        longer = self._made({**self._columns, "downtime": downtime})
        if kept.all():
            return longer
        reason = "of a node that is out"
        dropped = {**self._dropped, reason: self._dropped.get(reason, 0) + int((~kept).sum())}
        return longer._rows(kept, dropped)

    def refuse_days(self, what: str, any_rate: bool) -> None:
        """Raise `InputError` if each node fails more than once an hour, unless any rate will do."""
        if any_rate or len(self) < _FEW:
            return
        failing = len(np.unique(self.node))
        if (between := failing * self._span / len(self)) < _HOUR:
            raise InputError(
                f"{what}: {len(self)} failures of {failing} in {self._span:g} s, each fails every {between:.4g} s: are "
                f"the times in days? times and down times are in seconds; any_rate=True takes them as they are"
            )


def _of_suspects(time: Floats, node: Integers, count: int, width: float) -> Iterator[LongIntegers]:
    """The rows of each node with so many failures within the window, in order of time; few nodes have them."""
    by_node = np.argsort(node, kind="stable")
    nodes, times = node[by_node], time[by_node]
    late = slice(count - 1, None)
    first = slice(None, max(len(node) - count + 1, 0))
    close = (nodes[late] == nodes[first]) & (times[first] >= times[late] - width)
    for suspect in np.unique(nodes[late][close]):
        yield by_node[np.searchsorted(nodes, suspect) : np.searchsorted(nodes, suspect, side="right")]
