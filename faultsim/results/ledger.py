"""The accounts of the capacity ledger, their groups, and what rounding may leave in them."""

from collections.abc import Mapping

#: Accounts of the capacity ledger in the order in which they are shown (model.md#ledger).
LEDGER_ACCOUNTS = (
    "useful",
    "cut_at_limit",
    "lost",
    "checkpoint",
    "restart",
    "migration",
    "slowed",
    "start_delay",
    "growth",
    "held_for_repair",
    "down",
    "reserved",
    "drained",
    "idle_no_demand",
    "idle_demand",
)

#: Groups of these accounts, each in one (model.md#goodput).
GOODPUT_ACCOUNTS: dict[str, tuple[str, ...]] = {
    "productive": ("useful",),
    "cut_at_limit": ("cut_at_limit",),
    "rolled_back": ("lost",),
    "checkpointing": ("checkpoint",),
    "restarting": ("restart", "migration", "start_delay"),
    "slowed": ("slowed",),
    "waiting_for_repair": ("held_for_repair", "down"),
    "rounded_up": ("growth",),
    "idle_despite_demand": ("idle_demand",),
    "idle_without_demand": ("idle_no_demand", "reserved", "drained"),
}


def without_negative(ledger: Mapping[str, float]) -> Mapping[str, float]:
    """The same accounts with the same sum, none of them below 0.

    Times on nodes are differences of clock times, costs and pauses are booked as given: at a late time the two differ
    by the last bits of the clock, and an account that should be 0 may be less.  It becomes 0, and the largest account
    gives what it lacked.

    Examples
    --------
    >>> without_negative({"useful": -0.25, "checkpoint": 3.0, "down": 1.0})
    {'useful': 0.0, 'checkpoint': 2.75, 'down': 1.0}
    """
    if min(ledger.values()) >= 0.0:
        return ledger
    made = dict(ledger)
    lacking = -sum(amount for amount in made.values() if amount < 0.0)
    made = {name: max(amount, 0.0) for name, amount in made.items()}
    for name in sorted(made, key=made.__getitem__, reverse=True):
        given = min(lacking, made[name])
        made[name] -= given
        lacking -= given
    return made


def share_lost(utilized: float, unused: float) -> float:
    """1 - utilized - unused, and 0 where that is negative by more than its last bits; NaN where a share is NaN.

    Work is counted by run times, and the makespan by the clock, which shows late times in steps of a microsecond: short
    jobs that follow each other there may take less time on the clock than their run times.

    Examples
    --------
    >>> share_lost(0.5, 0.25), share_lost(0.75, 0.2501)
    (0.25, 0.0)
    """
    lost = 1.0 - utilized - unused
    return 0.0 if lost < -1e-12 else lost


def account_words(account: str) -> str:
    """An account in words, the same in figures, reports and tables.

    Examples
    --------
    >>> account_words("idle_demand"), account_words("cut_at_limit")
    ('idle despite demand', 'cut at limit')
    """
    words = {"idle_demand": "idle despite demand", "idle_no_demand": "idle without demand"}
    return words.get(account, account.replace("_", " "))
