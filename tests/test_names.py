"""The names of the package."""

import pytest

import faultsim as fs


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
