"""Failures of domains as failures of nodes (model.md#domains)."""

Row = tuple[float, int, float, float]


def failures_of_members(
    failures: list[Row], members: list[list[int]], own: list[float | None], down: list[bool]
) -> list[Row]:
    """Failures (time, domain, down time, coin) as failures (time, node, down time, coin)."""
    found = []
    for time, domain, downtime, coin in failures:
        lasting = own[domain]
        for node in sorted(members[domain]):
            if down[domain]:
                found.append((time, node, downtime if lasting is None else lasting, coin))
    return found
