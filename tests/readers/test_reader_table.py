"""The table of readers."""

import faultsim as fs
from faultsim.cli.traces import _READING
from faultsim.readers.table import READERS, readers_of

#: They read runs and machines.
OF_OTHERS = ("read_squeue", "read_sweep", "read_site", "read_topology_yaml", "read_slurm_conf")


def test_every_reader_is_in_the_table_once():
    functions = [getattr(fs, name) for name in fs.__all__ if name.startswith("read_") and name not in OF_OTHERS]
    assert {row.read for row in READERS} == set(functions)
    assert len({(row.gives, row.name) for row in READERS}) == len(READERS) == len(functions)


def test_the_command_line_has_the_options_of_the_readers_of_failures():
    options = {name for row in readers_of(fs.FailureTrace).values() for name in row.options}
    in_python = {"time", "node", "finish", "nodes", "span", "decimal", "name", "rng"}  # --columns names columns
    assert options - in_python - {"merge"} == set(_READING)  # merging is a change of its own there: --merge-overlaps
