"""`Machine`: what every machine that takes job logs answers about itself.

A machine is a subclass in this folder.  Everything outside it reads these answers and never tests for a class, so that
a new machine works everywhere once it gives them.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from faultsim.arrays import Indices, Integers, LongIntegers
from faultsim.checks import OldNames
from faultsim.data.failures import FailureTrace
from faultsim.data.slowdowns import Slowdown
from faultsim.data.workload import Workload
from faultsim.data.world import AskRows
from faultsim.errors import InputError, OptionError
from faultsim.machines.node_classes import NodeClass, Partition
from faultsim.machines.speed_forms import SpeedForm


class Machine(OldNames):
    """Base of the machines; the defaults are those of a machine whose jobs take any free nodes."""

    #: Whether any free nodes serve any job, so that the number of free nodes decides whether a job fits.
    any_nodes: ClassVar[bool] = False
    #: Whether a job has a box of nodes with coordinates, else a set of nodes.
    has_boxes: ClassVar[bool] = False
    #: What a place of the largest size is called, and what it is counted in.
    largest_place: ClassVar[str] = "machine"
    node_unit: ClassVar[str] = "nodes"
    #: What a picture of the machine at one moment shows; "": the nodes are drawn in a row over time only.
    picture: ClassVar[str] = ""

    if TYPE_CHECKING:  # fields of some, properties of others

        @property
        def nodes(self) -> int: ...
        @property
        def shape(self) -> tuple[int, int, int] | None:
            """The extents of the coordinates of nodes; None if they have none."""

    @property
    def name(self) -> str:
        """The kind of machine, as in its lowered form."""
        raise NotImplementedError

    def lower(self) -> dict[str, object]:
        """The plain form that the engine takes and that provenance keeps."""
        raise NotImplementedError

    @property
    def wraps(self) -> bool:
        """Whether the first and the last coordinate along an axis are neighbours."""
        return False

    # -- what a log makes of it

    def kind_of(self, log: Workload) -> str:
        """The kind of machine that schedules this log: its own name, unless the jobs need less of it."""
        return self.name

    def lower_for(self, log: Workload) -> dict[str, object]:
        """The plain form of the machine that schedules this log."""
        return self.lower()

    def capacity_for(self, columns: Mapping[str, object]) -> int:
        """What sizes of jobs count in all: nodes, or cores where these columns of a log say so."""
        return self.nodes

    def prepared(self, log: Workload) -> Workload:
        """The log with sizes in what `capacity_for` counts."""
        return log

    @property
    def has_tiers(self) -> bool:
        """Whether the queue is by the column ``tier``, which `prepared` gives a log."""
        return False

    def in_whole_nodes(self, log: Workload, what: str) -> Workload:
        """The log for `what` moves jobs of whole nodes, with sizes in nodes.

        Raises
        ------
        InputError
            If jobs of the log share nodes.
        """
        return log

    def asks(self, log: Workload) -> AskRows | None:
        """What jobs that share nodes request; None where they take whole ones."""
        return None

    def job_nodes(self, log: Workload) -> Integers:
        """The number of nodes of each job, by which failures hit it: its size, where sizes are nodes."""
        return log.size

    def node_amounts(self) -> LongIntegers | None:
        """Cores, memory (MiB) and GPUs of each node, of shape (nodes, 3), where jobs can share nodes; else None."""
        return None

    def node_classes(self) -> Indices:
        """The number of the class of each node."""
        return np.zeros(self.nodes, np.intp)

    def site_parts(self) -> tuple[Sequence[NodeClass], Sequence[Partition]] | None:
        """The classes of its nodes, and its partitions; None if a scheduler cannot know its nodes one by one."""
        return None

    def nodes_named(self, what: Literal["class", "partition"], name: str) -> Integers:
        """The nodes of a class or a partition, ascending.

        Raises
        ------
        InputError
            If the machine has no such one.
        """
        raise InputError(f"{self} has no node classes and no partitions, so none is called {name!r:.60}: give nodes=")

    def refusals(self, log: Workload) -> dict[int, str]:
        """The rows of jobs that the machine cannot hold for another reason than their size -> why."""
        return {}

    # -- sizes

    @property
    def largest_job(self) -> int:
        """Nodes of the largest job that fits the empty machine."""
        return self.nodes

    @property
    def blocks(self) -> tuple[int, int] | None:
        """The number of blocks of nodes that places are made of (the cubes of a pod), and the nodes of each."""
        return None

    @property
    def held_back(self) -> int:
        """Blocks that no job takes while others are up."""
        return 0

    @property
    def exchanges_nodes(self) -> bool:
        """Whether a part of a job's place can be exchanged for any other that is free."""
        return True

    def spare_units(self, size: Integers) -> tuple[LongIntegers, int]:
        """The units of which `HotSpares` adds some, in jobs of these sizes (0: none is added), and the nodes of one."""
        return size.astype(np.int64), 1

    # -- logs and failures

    def check_log(self, log: Workload) -> None:
        """Refuse a log whose further columns do not fit the machine."""

    def parts_that_fail(self, log: Workload, trace: FailureTrace) -> LongIntegers | None:
        """Cores, MiB and GPUs of the part of a node that each failure takes, of shape (n, 3), 0: all of it.

        None if all failures are of whole nodes.

        Raises
        ------
        OptionError, InputError
            If nodes of this machine do not fail in parts, or do not have such parts.
        """
        if trace.part is not None:
            raise OptionError(
                f"failures: parts of nodes fail, as {trace.part[trace.part != ''][0]!s}, and jobs on {self} take whole "
                f"nodes: use a Site with a log that has cores, or leave them out, trace[trace.part == '']"
            )
        return None

    def shape_ranks(self, log: Workload) -> Integers | None:
        """Which of the shapes of its size each job requests, from 1 on, 0 for any; None where that does not matter."""
        return None

    def check_slowdown(self, effect: Slowdown) -> None:
        """Refuse an effect of an outage on speeds that this machine cannot have."""
        if effect.shapes or effect.axis:
            raise OptionError(f"{effect!r} is about slices, and {self} has none: give one speed, no axis")

    def speed_forms(self, log: Workload) -> tuple[list[SpeedForm], Indices]:
        """The different forms of the jobs, which decide when a job is slow, and the form of each job."""
        return [SpeedForm("", (1, 1, 1)), SpeedForm("", (2, 1, 1))], (self.job_nodes(log) > 1).astype(np.intp)

    # -- how it is shown and simulated

    @property
    def array_shape(self) -> tuple[int, ...]:
        """The shape of an array with one entry per node, such as `Decision.occupancy`."""
        if self.has_boxes:
            assert self.shape is not None
            return self.shape
        return (self.nodes,)

    @property
    def with_coordinates(self) -> str:
        """How to write the same machine with coordinates; empty if it cannot have any."""
        return ""

    def first_events(self, many: int) -> int:
        """Events of the first slice of a run, where `many` suit the scheduler: few if one event may take long."""
        return many
