"""Option values: each check says what, got, and what would be right."""

import math

import numpy as np
import pytest

from faultsim import checks
from faultsim.errors import OptionError
from helpers.refusals import refused


def test_number_takes_numbers_and_gives_floats():
    for value in (3, 3.0, np.float32(3), np.int64(3)):
        assert type(checks.number("x", value)) is float
        assert checks.number("x", value) == 3.0


@pytest.mark.parametrize("value", ["3", None, True, [1, 2], object()])
def test_number_refuses_what_is_none(value):
    refused(OptionError, "x must be a number in seconds, got", checks.number, "x", value, unit="seconds")


@pytest.mark.parametrize(
    ("value", "bounds", "right"),
    [
        (math.nan, {}, "finite"),
        (math.inf, {}, "finite"),
        (math.nan, {"low": 0.0}, "at least 0"),
        (-1, {"low": 0.0}, "at least 0"),
        (2, {"low": 0.0, "high": 1.0}, "at least 0 and at most 1"),
        (0, {"above": 0.0}, "above 0"),
        (math.nan, {"above": 0.0}, "above 0"),
    ],
)
def test_number_refuses_what_is_out_of_bounds(value, bounds, right):
    refused(OptionError, f"x must be {right}, got", checks.number, "x", value, **bounds)


def test_number_may_be_infinite_where_allowed():
    assert checks.number("x", math.inf, finite=False) == math.inf


def test_whole():
    assert checks.whole("n", np.int32(4)) == 4
    for value in (4.0, "4", True, None, math.nan):
        refused(OptionError, "n must be a whole number, got", checks.whole, "n", value)
    refused(OptionError, "n must be at least 1 node, got 0", checks.whole, "n", 0, low=1, unit="nodes")
    refused(OptionError, "n must be at most 2147483647, got 2147483648", checks.whole, "n", 2**31, high=2**31 - 1)


def test_flag():
    assert checks.flag("wrap", False) is False
    for value in (0, 1, "yes", None):
        refused(OptionError, "wrap must be True or False", checks.flag, "wrap", value)


def test_choice():
    assert checks.choice("order", "sjf", ["sjf", "fcfs"]) == "sjf"
    with pytest.raises(OptionError, match=r"unknown order 'sfj' \(did you mean 'sjf'\?\); known: 'sjf', 'fcfs'"):
        checks.choice("order", "sfj", ["sjf", "fcfs"])
    refused(OptionError, "order must be one of 'sjf', got 3", checks.choice, "order", 3, ["sjf"])
