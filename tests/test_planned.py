"""Names of the design that are not here yet are refused by name."""

import pytest

import faultsim as fs
from faultsim.errors import NotAvailableError
from faultsim.planned import PLANNED


@pytest.mark.parametrize("name", PLANNED)
def test_planned_names(name):
    assert name not in fs.__all__
    with pytest.raises(NotAvailableError, match=f"faultsim.{name} is part of the design and comes with "):
        getattr(fs, name)


def test_importing_a_planned_name():
    with pytest.raises(NotAvailableError, match=r"comes with sweeps; .* \(here: simulate, simulate_many\)"):
        from faultsim import Sweep  # noqa: F401


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
