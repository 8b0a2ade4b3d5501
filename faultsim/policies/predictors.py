"""Failure predictors (MODEL.md section 10); so far only the one that predicts nothing."""

from dataclasses import dataclass
from typing import ClassVar

from faultsim.policies.base import Policy

__all__ = ["Blind", "Predictor"]


class Predictor(Policy):
    """Base of predictors."""

    kind: ClassVar[str] = "predictor"


@dataclass(frozen=True)
class Blind(Predictor):
    """Predicts no failure, ever.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Blind().lower()
    {'name': 'blind'}
    """

    name: ClassVar[str] = "blind"
