"""The 0-1 knapsack, plainly: the dynamic programme with its whole table."""

from collections.abc import Sequence


def knapsack(values: Sequence[float], weights: Sequence[int], capacity: int) -> tuple[list[bool], float]:
    """Choose items by the rule of model.md#knapsack: the reference implementation of `faultsim.knapsack`.

    An item is taken only if that is strictly better; the choice is read back from the last item.  It trusts its caller:
    the arguments are not checked.

    Examples
    --------
    >>> knapsack([60.0, 100.0, 120.0], [10, 20, 30], 50)
    ([False, True, True], 220.0)
    """
    best = [0.0] * (capacity + 1)
    decisions = []
    for value, weight in zip(values, weights, strict=True):
        row = []
        after = []
        for room in range(capacity + 1):
            with_it = best[room - weight] + value if weight <= room else best[room]
            row.append(with_it > best[room])
            after.append(max(with_it, best[room]))
        best = after
        decisions.append(row)

    taken = [False] * len(decisions)
    room = capacity
    for item in reversed(range(len(decisions))):
        if decisions[item][room]:
            taken[item] = True
            room -= weights[item]
    return taken, best[capacity]
