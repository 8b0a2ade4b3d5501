"""Checkpointing (MODEL.md section 11); so far only doing without."""

from dataclasses import dataclass
from typing import ClassVar

from faultsim.policies.base import Policy

__all__ = ["Checkpointing", "NoCheckpoint"]


class Checkpointing(Policy):
    """Base of checkpointing policies."""

    kind: ClassVar[str] = "checkpointing"


@dataclass(frozen=True)
class NoCheckpoint(Checkpointing):
    """Takes no checkpoint.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.NoCheckpoint().lower()
    {'name': 'none'}
    """

    name: ClassVar[str] = "none"
