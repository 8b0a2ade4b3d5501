"""The accounts of the capacity ledger, and their groups."""

#: Accounts of the capacity ledger in the order in which they are shown (model.md#ledger).
LEDGER_ACCOUNTS = (
    "useful",
    "lost",
    "checkpoint",
    "restart",
    "migration",
    "slowed",
    "start_delay",
    "growth",
    "held_for_repair",
    "down",
    "idle_no_demand",
    "idle_demand",
)

#: Groups of these accounts, each in one (model.md#goodput).
GOODPUT_ACCOUNTS: dict[str, tuple[str, ...]] = {
    "productive": ("useful",),
    "rolled_back": ("lost",),
    "checkpointing": ("checkpoint",),
    "restarting": ("restart", "migration", "start_delay"),
    "slowed": ("slowed",),
    "waiting_for_repair": ("held_for_repair", "down"),
    "rounded_up": ("growth",),
    "idle_despite_demand": ("idle_demand",),
    "idle_without_demand": ("idle_no_demand",),
}
