"""Dates on the clock of failure records."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

from faultsim.errors import OptionError
from faultsim.readers.timestamps import seconds, written


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2001-01-01", 978_307_200),
        (" 2001-01-01 12:30 ", 978_307_200 + 45_000),
        ("2001-01-01T12:30:05", 978_307_200 + 45_005),
        ("2001-01-01T12:30:05+01:00", 978_307_200 + 41_405),
        (date(2001, 1, 1), 978_307_200),
        (datetime(2001, 1, 1), 978_307_200),
        (datetime(2001, 1, 1, tzinfo=UTC), 978_307_200),
        (datetime(2001, 1, 1, tzinfo=timezone(timedelta(hours=2))), 978_300_000),
        (978_307_200, 978_307_200),
        (np.float64(0.5), 0.5),
    ],
)
def test_moments(moment: object, expected: float) -> None:
    assert seconds("begin", moment) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("moment", ["soon", "2001-13-01", "", None, True, float("nan"), float("inf"), [1]])
def test_no_moments(moment: object) -> None:
    with pytest.raises(OptionError, match=r"^begin: "):
        seconds("begin", moment)  # type: ignore[arg-type]


def test_written() -> None:
    assert written(978_307_200 + 45_059.9) == "2001-01-01 12:30"
    assert written(-30.0) == "1969-12-31 23:59"
