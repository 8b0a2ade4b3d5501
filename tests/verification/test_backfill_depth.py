"""`Backfill(depth=1)` is `EasyBackfill`, byte for byte, on the random runs of `digests` (model.md#backfill)."""

from dataclasses import fields

import digest_cases
import digests
import pytest

import faultsim as fs

#: File of random cases -> how many of them are drawn; of these about half have EasyBackfill.
DRAWN = {"random": 300, "rescheduling": 150}


def lines(case):
    """Digests of all that a run tells, or the error that refuses it."""
    found = digests.outcome(lambda: digests.looked_at(case))
    return str(found) if isinstance(found, fs.FaultsimError) else digests.line_of(digests.tables(*found))


def depth_1_is_easy(about, n):
    compared = 0
    for seed in range(n):
        first, second = (digest_cases.drawn(list(digests.FILES).index(about), seed, about=about) for _ in range(2))
        easy = first.options["scheduler"]
        if isinstance(easy, fs.EasyBackfill):
            options = {field.name: getattr(easy, field.name) for field in fields(easy)}
            second.options["scheduler"] = fs.Backfill(1, **options)
            assert lines(second) == lines(first), seed
            compared += 1
    assert compared > n / 3


@pytest.mark.parametrize("about", DRAWN)
def test_depth_1_is_easy_on_a_sample(about):
    depth_1_is_easy(about, DRAWN[about])


@pytest.mark.slow
@pytest.mark.parametrize("about", DRAWN)
def test_depth_1_is_easy_on_thousands(about):
    depth_1_is_easy(about, 40 * DRAWN[about])
