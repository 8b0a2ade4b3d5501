"""Who held which nodes, as runs of consecutive nodes: rectangles of a chart."""

from collections.abc import Iterator, Mapping

import numpy as np

from faultsim.arrays import LongIntegers, Values
from faultsim.results.held import Held

Runs = tuple[LongIntegers, LongIntegers, LongIntegers]  # row of the allocation, first node, node count
BLOCK = 1 << 19  # nodes looked at at a time, so that a long list needs no copy of itself, nor a picture of many shapes


def stay_nodes(held: Mapping[str, Values]) -> LongIntegers:
    """How many nodes each stay held."""
    if "x" in held:
        boxes: LongIntegers = np.asarray(held["a"], dtype=np.int64) * held["b"] * held["c"]
        return boxes
    return np.diff(held["node_offsets"]).astype(np.int64)


def box_runs(held: Mapping[str, Values], shape: tuple[int, int, int]) -> Runs:
    """Boxes as runs of consecutive nodes: one along z for each (x, y), two where it wraps; whole planes joined."""
    ny, nz = shape[1], shape[2]
    x, y, z, a, b, c = (np.asarray(held[name], dtype=np.int64) for name in "xyzabc")
    lines = a * b
    row = np.repeat(np.arange(len(x)), lines)
    k = np.arange(lines.sum()) - np.repeat(np.cumsum(lines) - lines, lines)
    line = ((x[row] + k // b[row]) % shape[0]) * ny + (y[row] + k % b[row]) % ny
    head = np.minimum(c[row], nz - z[row])
    tail = c[row] - head
    wraps = tail > 0
    rows = np.concatenate([row, row[wraps]])
    first = np.concatenate([line * nz + z[row], line[wraps] * nz])
    count = np.concatenate([head, tail[wraps]])
    return _joined(rows, first, count)


def _joined(row: LongIntegers, first: LongIntegers, count: LongIntegers) -> Runs:
    """Join runs of one allocation that touch."""
    order = np.lexsort((first, row))
    row, first, count = row[order], first[order], count[order]
    begins = np.ones(len(row), dtype=bool)
    begins[1:] = (row[1:] != row[:-1]) | (first[1:] != first[:-1] + count[:-1])
    start = np.flatnonzero(begins)
    return row[start], first[start], np.add.reduceat(count, start) if len(start) else count


def list_runs(held: Mapping[str, Values]) -> Runs:
    """Sorted node lists as runs of consecutive nodes."""
    offsets, nodes = np.asarray(held["node_offsets"]), np.asarray(held["nodes"])
    begins = np.ones(len(nodes), dtype=bool)
    np.not_equal(nodes[1:] - nodes[:-1], 1, out=begins[1:])
    begins[offsets[:-1][offsets[:-1] < offsets[1:]]] = True
    start = np.flatnonzero(begins)
    row = np.searchsorted(offsets, start, side="right") - 1
    return row, nodes[start].astype(np.int64), np.diff(np.append(start, len(nodes)))


def blocks(held: Mapping[str, Values], shape: tuple[int, int, int] | None) -> Iterator[Runs]:
    """The runs of all stays, a block of stays at a time."""
    rows = len(held["job"])
    if shape is not None:
        ends = np.cumsum(np.asarray(held["a"], dtype=np.int64) * held["b"])
    elif isinstance(held, Held):
        ends = held.range_offsets[1:]
    else:
        ends = np.asarray(held["node_offsets"][1:])
    lo = 0
    while lo < rows:
        before = int(ends[lo - 1]) if lo else 0
        hi = max(lo + 1, int(np.searchsorted(ends, before + BLOCK, side="right")))
        if shape is not None:
            row, first, count = box_runs({name: held[name][lo:hi] for name in "xyzabc"}, shape)
        elif isinstance(held, Held):
            first, count = held.ranges[before : ends[hi - 1]].astype(np.int64).T
            row = np.repeat(np.arange(hi - lo), np.diff(held.range_offsets[lo : hi + 1]))
        else:
            offsets = held["node_offsets"][lo : hi + 1]
            part = {"node_offsets": offsets - offsets[0], "nodes": held["nodes"][offsets[0] : offsets[-1]]}
            row, first, count = list_runs(part)
        yield row + lo, first, count
        lo = hi


def joined(parts: list[Runs]) -> Runs:
    """Runs one after the other."""
    empty = np.empty(0, np.int64)
    row, first, count = (np.concatenate([empty, *some]) for some in zip(*parts, strict=True)) if parts else (empty,) * 3
    return row, first, count
