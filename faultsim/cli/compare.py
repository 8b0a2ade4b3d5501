"""Run the same jobs on two or more sites, and print what each changes.

faultsim compare SITE OTHER --jobs LOG

A site is a file that fs.read_site reads, or text such as site:cpu=180x32c187G,gpu=8x40c187Gx2v100.  Differences are of
the same jobs: what a job waits less than on the first site, on average, with the 95 % interval over days.
"""

from collections.abc import Sequence

from faultsim.cli.parser import Parser
from faultsim.cli.site import add_run_arguments, run_changes, site_of


def main(parser: Parser, argv: Sequence[str] | None = None) -> int:
    """Entry point of ``faultsim compare``."""
    parser.add_argument("site", metavar="SITE", help="what the others are compared with")
    parser.add_argument("other", metavar="OTHER", nargs="+", help="other sites")
    add_run_arguments(parser)
    args = parser.parse_args(argv)
    others = {text: site_of(text) for text in args.other}
    return run_changes(args, site_of(args.site), others)
