"""The energy of a run by account of its ledger (model.md#energy)."""

import math
from collections.abc import Mapping

import numpy as np

from faultsim.machines.power import Power, power_of
from faultsim.results.ledger import LEDGER_ACCOUNTS, account_words
from faultsim.results.printed_table import PrintedTable, suited

#: Account of the ledger -> which of the powers of `Power` its node-seconds take.
POWER_OF = {
    **dict.fromkeys(("useful", "cut_at_limit", "lost", "checkpoint", "restart", "migration", "slowed"), "busy"),
    **dict.fromkeys(("start_delay", "growth", "held_for_repair", "reserved", "drained"), "idle"),
    **dict.fromkeys(("idle_no_demand", "idle_demand"), "idle"),
    "down": "down",
}
#: Accounts that are empty without kills and repairs, whatever kills.
OF_FAILURES = ("lost", "restart", "held_for_repair", "down")
#: Seconds of an hour, watts of a kilowatt.
_JOULES_OF_A_KWH = 3600.0 * 1000.0
_HOUR = 3600.0


class Energy(PrintedTable):
    """Columns account, node_hours, watts (of a node), kwh and share, a row per account of the ledger that has any.

    Attributes
    ----------
    kwh : float
        All of it, in kWh.
    per_useful_node_hour : float
        kWh per node-hour of work that was done and kept; NaN if there is none.
    of_failures : float
        kWh of the accounts that are empty without kills and repairs: work rolled back, restarts, jobs held for repair,
        and nodes that are down; kills by `NodeStealing`, preemption or an `act` count too. What else failures cost, as
        a run that takes longer is idle for longer, is the difference to the same run without failures; checkpoints are
        not counted.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0], runtime=[3600], size=[2])
    >>> failures = fs.FailureTrace(time=[1800], node=[0], span=10_000)
    >>> energy = fs.simulate(log, fs.Cluster(2), failures=failures).energy(fs.Power(idle=100, busy=300))
    >>> energy.kwh, energy.per_useful_node_hour, energy.of_failures
    (0.9, 0.45, 0.3)
    """

    def __init__(self, ledger: Mapping[str, float], power: Power | str) -> None:
        watts_of = power_of(power)
        used = [account for account in LEDGER_ACCOUNTS if ledger[account]]
        seconds = np.array([ledger[account] for account in used], dtype=np.float64)
        watts = np.array([getattr(watts_of, POWER_OF[account]) for account in used], dtype=np.float64)
        joules = seconds * watts
        kwh = joules / _JOULES_OF_A_KWH
        by_account = dict(zip(used, joules.tolist(), strict=True))
        self.kwh = math.fsum(by_account.values()) / _JOULES_OF_A_KWH
        self.of_failures = math.fsum(by_account.get(account, 0.0) for account in OF_FAILURES) / _JOULES_OF_A_KWH
        useful = ledger["useful"] / _HOUR
        self.per_useful_node_hour = self.kwh / useful if useful else math.nan
        names = [account_words(account) for account in used]
        said = (
            f"{self.kwh:,.4g} kWh: {self.per_useful_node_hour:.4g} kWh per useful node-hour, "
            f"{self.of_failures:,.4g} kWh of failures"
        )
        super().__init__(
            {
                "account": np.array(names, dtype=object),
                "node_hours": seconds / _HOUR,
                "watts": watts,
                "kwh": kwh,
                "share": kwh / self.kwh if self.kwh else np.full(len(kwh), math.nan),
            },
            "energy",
            {"node_hours": suited(seconds / _HOUR, 1), "watts": "{:,.4g}", "kwh": suited(kwh, 1), "share": "{:.2%}"},
            [said],
        )
