"""What is refused: one call, or a table of calls, each with the error that it raises and a part of its message."""

import pytest


def refused(error, said, call, *args, **kwargs):
    """Assert that a call raises `error` with a message in which the pattern `said` is found."""
    with pytest.raises(error, match=said):
        call(*args, **kwargs)


def refusals(error, call, *rows):
    """A test of every row (arguments of `call`, and what is said)."""

    @pytest.mark.parametrize("row", rows, ids=lambda row: row[-1])
    def test(row):
        refused(error, row[-1], call, *row[:-1])

    return test
