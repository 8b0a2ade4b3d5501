"""`site_of`: a `Site` of rows, each of which describes a node or a class."""

import re

from faultsim.machines import NodeClass, Partition, Site
from faultsim.readers.node_tables import NodeRow


def site_of(merged: list[NodeRow]) -> Site:
    """A site whose classes are the rows with equal amounts, features and partitions.

    Examples
    --------
    >>> str(site_of([NodeRow("", "n1", cores=4), NodeRow("", "n2", cores=4), NodeRow("", "g1", cores=8)]))
    'site:n=2x4c,g=1x8c'
    """
    groups: dict[tuple[object, ...], list[NodeRow]] = {}
    for row in merged:
        key = (row.cores, row.memory, row.gpus, row.weight, row.features, row.partitions)
        groups.setdefault(key if row.count == 1 else (*key, row.name), []).append(row)
    classes: list[NodeClass] = []
    members: dict[str, list[str]] = {}
    taken: dict[str, int] = {}
    for rows in groups.values():
        first, name = rows[0], _class_name(rows, taken)
        hosts = [row.name for row in rows] if all(row.count == 1 for row in rows) else []
        classes.append(
            NodeClass(
                name,
                sum(row.count for row in rows),
                cores=first.cores,
                memory=f"{first.memory}M" if first.memory else "",
                gpus=dict([first.gpus]) if first.gpus else None,
                weight=first.weight,
                features=first.features,
                hosts=hosts,
            )
        )
        for partition in first.partitions:
            members.setdefault(partition, []).append(name)
    default = next((row.default for row in merged if row.default), "")
    limits = {name: limit for row in merged for name, limit in row.max_time.items()}
    partitions = [
        Partition(name, names, max_time=limits.get(name), default=name == default) for name, names in members.items()
    ]
    return Site(classes, partitions)


def _class_name(rows: list[NodeRow], taken: dict[str, int]) -> str:
    """The letters at the begin of the first name, with a number if another class has it.

    `taken` has each name that was given, with the last number that was tried after it.
    """
    found = re.match(r"[A-Za-z_][A-Za-z_.-]*", rows[0].name)
    name = found[0].rstrip("-.") if found and rows[0].count == 1 else re.sub(r"[^\w.-]", "", rows[0].name)
    name = name if re.match(r"[A-Za-z_]", name) else f"class{name}"
    given = name
    while given in taken:
        taken[name] += 1
        given = f"{name}_{taken[name]}"
    taken[given] = 1
    return given
