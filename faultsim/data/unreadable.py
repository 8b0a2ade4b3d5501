"""Counts of records that could not be read, among those that were left out."""

from __future__ import annotations

from collections.abc import Mapping

#: How the reason of a record that cannot be read begins; others (``"job step"``) are no mistakes in the file.
UNREADABLE = "unreadable"
#: Share of unreadable records from which on the numbers that follow are doubtful.
MOST_UNREADABLE = 0.05


def unreadable(dropped: Mapping[str, int]) -> int:
    """How many of the records that were dropped could not be read.

    Examples
    --------
    >>> unreadable({"job step": 5, "unreadable size": 2})
    2
    """
    return sum(count for reason, count in dropped.items() if reason.startswith(UNREADABLE))
