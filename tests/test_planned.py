"""Names of the design that are not here yet are refused by name."""

import pytest

import faultsim as fs
from faultsim.errors import NotAvailableError
from faultsim.planned import PLANNED


def test_planned_names(monkeypatch):
    assert not set(PLANNED) & set(fs.__all__)
    monkeypatch.setitem(PLANNED, "Teleport", ("comes with magic", "here: Defragment"))
    with pytest.raises(NotAvailableError, match=r"Teleport is part .* comes with magic; .* \(here: Defragment\)"):
        _ = fs.Teleport
    with pytest.raises(NotAvailableError, match="comes with magic"):
        from faultsim import Teleport  # noqa: F401


def test_unknown_names():
    with pytest.raises(AttributeError, match=r"no attribute 'Tours' \(did you mean 'Torus'\?\)"):
        _ = fs.Tours
    with pytest.raises(AttributeError, match=r"no attribute 'zebra'$"):
        _ = fs.zebra
    assert not hasattr(fs, "__wrapped__")


def test_public_names_are_there_and_documented():
    for name in fs.__all__:
        value = getattr(fs, name)
        assert isinstance(value, tuple | dict) or value.__doc__, name
