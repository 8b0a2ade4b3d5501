"""Check the tori of a topology.yaml of Slurm.

faultsim torus check topology.yaml
faultsim torus check topology.yaml --topology NAME --json

For each torus: its shapes and their anchors, those whose boxes overlap, the sizes that no shape serves, and the share
of the nodes that no box of a size reaches.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import faultsim as fs
from faultsim.cli.output import print_json
from faultsim.cli.parser import Parser


def findings(topology: fs.TorusTopology) -> list[dict[str, object]]:
    """What there is to say of each torus."""
    found = []
    for number, torus in enumerate(topology.tori):
        nodes = sum(node >= 0 for node in torus.cells)
        shapes = [
            {
                "shape": str(shape),
                "size": shape.size,
                "anchors": topology.anchors(number, rank)[0],
                "complete_anchors": topology.anchors(number, rank)[1],
                "overlaps": topology.overlaps(number, rank),
            }
            for rank, shape in enumerate(sorted(torus.shapes, key=lambda shape: shape.size))
        ]
        unreached = {
            size: float(1.0 - (topology.reached(number, size) & topology.filled(number)).sum() / max(1, nodes))
            for size in torus.sizes
        }
        unserved = sorted(set(range(1, nodes + 1)) - set(torus.sizes))
        found.append(
            {
                "torus": torus.name,
                "dims": list(torus.dims),
                "nodes": nodes,
                "empty_cells": len(torus.cells) - nodes,
                "shapes": shapes,
                "sizes": torus.sizes,
                "share_of_sizes_served": len(torus.sizes) / max(1, nodes),
                "sizes_without_a_shape": unserved,
                "unreached_share": unreached,
            }
        )
    return found


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers, runs of them as low-high."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    shown = [str(low) if low == high else f"{low}-{high}" for low, high in parts]
    return ", ".join(shown[:12]) + (f" and {len(shown) - 12} more ranges" if len(shown) > 12 else "")


def _print(topology: fs.TorusTopology, found: list[dict[str, Any]]) -> None:
    if topology.skipped:
        print(f"skipped, as they are of other kinds: {', '.join(topology.skipped)}")
    for torus in found:
        dims = "x".join(map(str, torus["dims"]))
        print(f"torus {torus['torus']}: {dims}, {torus['nodes']:,} nodes, {torus['empty_cells']:,} empty cells")
        print(f"  {'shape':<24}{'size':>8}{'anchors':>9}{'complete':>10}  overlap")
        for shape in torus["shapes"]:
            overlap = "boxes overlap" if shape["overlaps"] else ""
            print(
                f"  {shape['shape']:<24}{shape['size']:>8}{shape['anchors']:>9}{shape['complete_anchors']:>10}  "
                f"{overlap}"
            )
        print(f"  sizes with a shape: {len(torus['sizes'])} of {torus['nodes']:,}")
        print(f"  sizes without one: {ranges(torus['sizes_without_a_shape']) or 'none'}")
        lacking = {size: share for size, share in torus["unreached_share"].items() if share > 0}
        for size, share in lacking.items():
            print(f"  no box of {size} nodes reaches {100 * share:.1f} % of the nodes")
        if not lacking:
            print("  boxes of every listed size reach all nodes")


def _check(args: argparse.Namespace) -> int:
    topology = fs.read_topology_yaml(args.file, topology=args.topology)
    found = findings(topology)
    if args.json:
        print_json({"topology": topology.name, "skipped": list(topology.skipped), "tori": found})
    else:
        _print(topology, found)
    return 0


def main(parser: Parser, argv: Sequence[str] | None = None) -> int:
    """Entry point of ``faultsim torus``."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="check")
    check = commands.add_parser("check", help="what a topology.yaml allows, and what it does not")
    check.add_argument("file", metavar="FILE", help="a topology.yaml")
    check.add_argument("--topology", metavar="NAME", help="which one, if several are of the kind torus3d")
    check.add_argument("--json", action="store_true", help="print only one JSON document")
    return _check(parser.parse_args(argv))
