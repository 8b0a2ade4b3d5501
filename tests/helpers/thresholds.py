"""The thresholds of the core at other values (faultsim/_core/thresholds.pxd), so that small cases take every shortcut.

FAULTSIM_THRESHOLDS=least sets all of them to their least for a run of the tests, of the digests or of the third
programs; single ones follow behind commas, as in least,word_nodes=128.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from faultsim._core import thresholds


def from_environment() -> None:
    named, *others = os.environ.get("FAULTSIM_THRESHOLDS", "default").split(",")
    if named not in ("default", "least"):
        raise ValueError(f"FAULTSIM_THRESHOLDS begins with {named!r}; allowed: default, least")
    if named == "least":
        thresholds.set_thresholds(**thresholds.LEAST)
    for name, _, value in (other.partition("=") for other in others):
        thresholds.set_thresholds(**{name: int(value)})


@contextmanager
def at(**values: int) -> Iterator[None]:
    """Other values for the simulations that are opened meanwhile."""
    before = thresholds.get()
    thresholds.set_thresholds(**values)
    try:
        yield
    finally:
        thresholds.set_thresholds(**before)


def least():  # type: ignore[no-untyped-def]
    return at(**thresholds.LEAST)


def default():  # type: ignore[no-untyped-def]
    return at(**thresholds.DEFAULTS)
