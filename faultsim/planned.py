"""Names of the design that this version does not have yet: each is refused by name, never pretended.

A row leaves this table when its part arrives.
"""

from faultsim.errors import NotAvailableError

__all__ = ["PLANNED", "refuse_name", "refuse_policy"]

#: Public name -> (with which part it comes, what there is instead).  All of the design is here now.
PLANNED: dict[str, tuple[str, str]] = {}


def refuse_name(name: str) -> None:
    """Raise `NotAvailableError` if ``fs.<name>`` belongs to the design but not to this version."""
    if name in PLANNED:
        part, instead = PLANNED[name]
        raise NotAvailableError(
            f"faultsim.{name} is part of the design and {part}; this version does not have it yet ({instead})"
        )


def refuse_policy(name: str) -> None:
    """The same for a policy's name as the command line takes it, with dashes or underscores."""
    folded = name.strip().lower().replace("-", "").replace("_", "")
    for known in PLANNED:
        if known.lower() == folded:
            refuse_name(known)
