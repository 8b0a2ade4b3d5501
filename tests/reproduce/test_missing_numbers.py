"""Numbers that the runs did not give: what rests on them is open, and neither true nor false."""

import numpy as np
import pytest

from faultsim.errors import OptionError
from faultsim.reproduce.parts import known, sized
from faultsim.reproduce.studies import STUDIES
from faultsim.sweep.jackknife import Estimate
from helpers.tiny_studies import TINY


def without_numbers(values):
    """The same columns, in which every float is NaN."""
    if isinstance(values, dict):
        return {name: without_numbers(value) for name, value in values.items()}
    return np.full(values.shape, np.nan) if values.dtype.kind == "f" else values


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", STUDIES)
def test_no_part_is_false_for_want_of_numbers(name, tiny_study):
    study, tiny = STUDIES[name], TINY[name]
    _, evidence_of = study.prepare(tiny.what, data=None, quick=True, seed=0, **tiny.options)
    whole, judged = tiny_study(name), 0
    evidence = evidence_of(without_numbers(whole.made))
    for before in whole.done.rows:
        try:
            [row] = study.judge([before.claim], evidence)
        except (ValueError, OptionError):  # a curve of no points
            continue
        parts, judged = row.finding.parts, judged + 1
        if parts != before.finding.parts:  # some are about logs alone
            assert parts.held + parts.open == parts.of, (before.claim.id, parts)
    assert judged > len(study.claims) / 3


def test_a_comparison_with_a_missing_number_is_open():
    missing = float("nan")
    assert known(abs(missing - 3) <= 2, missing) is None
    assert known(True, 1.0, missing) is None
    assert known(np.bool_(False), 1.0) is False
    assert sized(Estimate(missing, missing), False) is None
    assert sized(Estimate(1.0, 0.1), False) is False
