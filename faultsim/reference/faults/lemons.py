"""Nodes that fail again and again are taken out (model.md#lemons)."""

Row = tuple[float, int, float, float]


def without_lemons(rows: list[Row], span: float, failures: int, window: float, out: float | None) -> list[Row]:
    """Failures (time, node, down time, coin), in order of time, with longer outages of lemons."""
    kept = []
    history: dict[int, list[float]] = {}  # the instants at which a node has failed since it was new, or came back
    back: dict[int, float] = {}  # when a node that has been taken out comes back
    for time, node, downtime, coin in rows:
        if time < back.get(node, 0.0):
            if time + downtime > back[node]:
                back[node] = time + downtime
                kept.append((time, node, downtime, coin))
            continue
        instants = history.setdefault(node, [])
        if time not in instants:
            instants.append(time)
        recent = [instant for instant in instants if instant >= time - window]
        if len(recent) >= failures:
            until = span if out is None else time + out
            downtime = max(downtime, until - time)
            back[node] = time + downtime
            history[node] = []
        kept.append((time, node, downtime, coin))
    return kept
