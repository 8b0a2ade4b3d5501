"""What a `FailureTrace` does with nodes that fail together, or again and again."""

from __future__ import annotations

from typing import Self

import numpy as np

from faultsim import checks
from faultsim.data.domains import Domains
from faultsim.data.failure_table import FailureTable
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
            without effect leaves no row; `dropped` counts its failures as "routed around".

        Raises
        ------
        InputError
            A failure of a row that `domains` does not have; a trace that looks as though it was in days.

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
        if len(self) and int(self.node.max()) >= len(domains):
            row = int(np.argmax(self.node >= len(domains)))
            raise InputError(
                f"map_domains: node, row {row}: {self.node[row]} is no row of the {len(domains)} domains "
                f"(0-{len(domains) - 1})"
            )
        self._refuse_days("map_domains", checks.flag("any_rate", any_rate))
        which, node = domains.taken(self.node)
        own = domains.downtime[self.node]
        lasting = np.where(np.isnan(own), self.downtime, own)
        columns = {"time": self.time, "downtime": lasting, "coin": self.coin}
        around = int((domains.sizes[self.node] == 0).sum())
        dropped = {**self._dropped}
        if around:
            dropped["routed around"] = dropped.get("routed around", 0) + around
        return self._made({key: column[which] for key, column in columns.items()} | {"node": node}, dropped=dropped)

    def _refuse_days(self, what: str, any_rate: bool) -> None:
        if any_rate or len(self) < _FEW:
            return
        failing = len(np.unique(self.node))
        if (between := failing * self._span / len(self)) < _HOUR:
            raise InputError(
                f"{what}: {len(self)} failures of {failing} in {self._span:g} s, each fails every {between:.4g} s: are "
                f"the times in days? times and down times are in seconds; any_rate=True takes them as they are"
            )
