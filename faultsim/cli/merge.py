"""Merge the stores of several sweeps, or of the shards of one, into one.

  faultsim merge ALL.db SPEC.1of8.db SPEC.2of8.db ...

The others are unchanged. A run that several have is kept once. All must be of one model revision.
"""

from collections.abc import Sequence

from faultsim.cli.output import print_json
from faultsim.cli.parser import Parser
from faultsim.cli.targets import add_older, add_quiet


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim merge``."""
    parser.add_argument("target", metavar="TARGET", help="store that the rows go into; created if needed")
    parser.add_argument("sources", metavar="STORE", nargs="+", help="stores that they come from")
    parser.add_argument("--json", action="store_true", help="print only one JSON document")
    add_older(parser)
    add_quiet(parser)
    args = parser.parse_args(argv)

    from faultsim.sweep.merge import merge

    merged = merge(args.target, args.sources, allow_older_results=args.allow_older_results)
    if args.json:
        print_json({"target": args.target, "sources": args.sources, **merged._asdict()})
        return 0
    if args.quiet:
        return 0
    print(f"{args.target}: {merged.runs:,} runs and {merged.tasks:,} rows added from {len(args.sources)} stores")
    if merged.differing:
        print(
            f"note: {merged.differing:,} runs have different numbers in two stores; the first were kept "
            f"(the machines' arithmetic differs)"
        )
    return 0
