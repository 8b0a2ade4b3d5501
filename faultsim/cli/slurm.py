"""Slurm's own files: its configuration, and its log of decisions.

faultsim slurm check slurm.conf --accounts dump.cfg qos.txt
faultsim slurm forecast slurm.conf squeue.txt --jobs sacct.txt
faultsim slurm compare-decisions slurmctld.log
faultsim slurm compare-decisions slurmctld.log --conf slurm.conf --accounts dump.cfg qos.txt --jobs sacct.txt
"""

from collections.abc import Callable, Sequence

from faultsim.cli import slurm_check, slurm_decisions, slurm_forecast
from faultsim.cli.parser import Parser

#: Each adds one command, which sets `perform`: a function of the arguments that returns the exit status.
COMMANDS: tuple[Callable[..., None], ...] = (
    slurm_check.add_command,
    slurm_decisions.add_command,
    slurm_forecast.add_command,
)


def main(parser: Parser, argv: Sequence[str] | None = None) -> int:
    """Entry point of ``faultsim slurm``."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for add in COMMANDS:
        add(commands)
    args = parser.parse_args(argv)
    status: int = args.perform(args)
    return status
