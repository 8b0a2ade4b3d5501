"""The accounts of the capacity ledger."""

#: Accounts of the capacity ledger in the order in which they are shown (model.md#ledger).
LEDGER_ACCOUNTS = (
    "useful",
    "lost",
    "checkpoint",
    "restart",
    "migration",
    "start_delay",
    "growth",
    "held_for_repair",
    "down",
    "idle_no_demand",
    "idle_demand",
)
