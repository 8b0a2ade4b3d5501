"""`CompiledScheduler` and `CompiledPlacement`: tables of C functions from packages of their own (faultsim/policy.h)."""

from typing import ClassVar

from faultsim import checks
from faultsim.data.lowered import Lowered
from faultsim.errors import DecisionError, OptionError
from faultsim.policies.base import MachineFacts, reads_runtimes
from faultsim.policies.contract import MOST_BYTES, PlacementTable, SchedulerTable, Tabled, check_version, table_of
from faultsim.policies.orders import QueueOrder
from faultsim.policies.placement import BOX_ORDERS, BoxOrderWord, Placement
from faultsim.policies.queueing import Scheduler, checked_order

__all__ = ["CompiledPlacement", "CompiledScheduler"]

#: What a scheduler did that is not possible, in the order of `fault` of the core, and ended the run with.
_FAULTS = (
    "there is no place {place} in a queue of {waiting} jobs",
    "job {row} is not waiting: it was started in this pass",
    "job {row} cannot start: it needs {need} nodes and {free} are free",
    "job {row} cannot be backfilled ahead of itself",
    f"wake({{number:g}}): the time must be later than now, and at most {checks.LATEST} s",
    "schedule gave up and returned {number:g}",
    "job {row} cannot start: no box of {need} nodes or more is free",
    "job {row} cannot start: it needs {need} nodes, and of the {free} that are free too few are open to it, as the "
    "others are reserved or drained: call `fits` before `start`",
    "job {row} cannot start: no nodes have what it asks for free and open to it: call `fits` before `start`",
)
_NO_ROOM, _NO_FREE_BOX, _CLOSED, _NO_SHARES = 2, 6, 7, 8

#: What a placement answered that is no choice, in the order of `fault` of the core.
_NO_CHOICES = (
    "choose returned {given}, and there are {count} boxes",
    "take took {given} nodes, and the job needs {count}",
    "take took a node that is not free",
    "take gave up and returned {given}",
)


class CompiledScheduler(Tabled, Scheduler):
    """A scheduler that was compiled elsewhere, such as in a Cython package of its own.

    It is called once in each pass, without the global interpreter lock; runs on threads keep all cores busy.

    Parameters
    ----------
    source : object
        A PyCapsule named ``"faultsim_scheduler_t"`` with a pointer to such a table (``faultsim/policy.h`` says what is
        in it); an object of ctypes at which the table begins, such as ``ctypes.c_uint32.in_dll(library, "table")``; or
        ``"module:attribute"``, where a capsule is found again, in other processes too.
    order : QueueOrder or str, optional
        As for `Fcfs`: the order in which it sees the queue.
    repairs : {"known", "unknown"}, default "known"
        As for `EasyBackfill`: whether shadow times count on the repair of nodes that are down.
    version : str, optional
        What tells it from others of its name; a sweep needs it, as it keeps results by what they come from.

    Raises
    ------
    OptionError
        If there is no such table, or one of another kind, or for a newer version of the contract.
    DecisionError
        In the run, by what is not possible, such as the start of a job that does not fit; the run ends with it.

    Notes
    -----
    The source is kept as long as the scheduler.  Only one that is given by name can be sent to other processes.

    Examples
    --------
    A scheduler that starts whatever fits, made by ctypes; a compiler makes a faster one:

    >>> import ctypes
    >>> import faultsim as fs
    >>> from faultsim.policies.contract import Pass, SchedulerTable
    >>> def start_what_fits(address, state, data):
    ...     now = Pass.from_address(address)
    ...     for place in range(now.waiting):
    ...         if now.fits(address, place):
    ...             now.start(address, place)
    ...     return 0
    >>> function = dict(SchedulerTable._fields_)["schedule"](start_what_fits)
    >>> table = SchedulerTable(SchedulerTable.KIND, 1, b"greedy", function)
    >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 5], size=[2, 4, 2])
    >>> fs.simulate(log, fs.Cluster(4), scheduler=fs.CompiledScheduler(table)).jobs["start"]
    array([ 0., 10.,  2.])
    """

    name: ClassVar[str] = "compiled"
    what: ClassVar[str] = "scheduler"
    sees_jobs: ClassVar[bool] = False
    is_slow: ClassVar[bool] = True
    # Not in __dict__, which says in a sweep what it is.
    __slots__ = ("made_of", "order", "table")

    def __init__(self, source: object, *, order: object = None, repairs: str = "known", version: str = "") -> None:
        self.version: str = check_version("scheduler", version)
        self.repairs = checks.choice("value of repairs", repairs, ("known", "unknown"))
        self.order: QueueOrder = checked_order(order)
        self.made_of: object = source
        self.table: SchedulerTable = table_of(SchedulerTable, source)
        if not self.table.schedule:
            raise OptionError(f"scheduler {self.title!r} has no function schedule")
        for name in ("state_bytes", "job_bytes"):
            if getattr(self.table, name) > MOST_BYTES:
                raise OptionError(f"{name} of scheduler {self.title!r} is {getattr(self.table, name)}")

    @classmethod
    def is_written(cls) -> bool:
        """It needs no interpreter."""
        return False

    def options(self) -> dict[str, object]:
        """What else it was made of."""
        return {"order": self.order, "repairs": self.repairs, "version": self.version}

    def lower(self) -> Lowered:
        """Its name, its order, and the object itself."""
        reads_runtimes(self)
        policy = {"name": self.name, "policy": self.title, "order": self.order.lower(), "repairs": self.repairs}
        return {**policy, "object": self}

    def refused(
        self, what: int, *, now: float, free: int, need: int, placed: bool, shared: bool, **found: float
    ) -> DecisionError:
        """The error for what is not possible."""
        fault = what
        if what == _NO_ROOM and shared:
            fault = _NO_SHARES
        elif what == _NO_ROOM and need <= free:
            fault = _NO_FREE_BOX if placed else _CLOSED
        words = _FAULTS[fault].format(free=free, need=need, **found)
        return DecisionError(f"scheduler {self.title!r} at {now:g} s: {words}")


class CompiledPlacement(Tabled, Placement):
    """A placement rule that was compiled elsewhere: which free box, or which free nodes, a job takes.

    It is called without the global interpreter lock.

    Parameters
    ----------
    source : object
        As for `CompiledScheduler`, with a table ``faultsim_placement_t``.
    box_order : {"extents-descending", "extents-ascending", "bases"}, default "extents-descending"
        Order in which it sees the boxes of a size.  Torus only.
    version : str, optional
        What tells it from others of its name; a sweep needs it, as it keeps results by what they come from.

    Raises
    ------
    OptionError
        If there is no such table, or one of another kind, or for a newer version of the contract; in the run, for a
        choice that is none of the boxes, or not as many free nodes as the job needs.

    Examples
    --------
    The last of the free boxes, by ctypes; a compiler makes a faster one:

    >>> import faultsim as fs
    >>> from faultsim.policies.contract import Boxes, PlacementTable
    >>> choose = dict(PlacementTable._fields_)["choose"](lambda address, data: Boxes.from_address(address).count - 1)
    >>> table = PlacementTable(PlacementTable.KIND, 1, b"last box", choose)
    >>> log = fs.Workload(submit=[0], runtime=[10], size=[8])
    >>> held = fs.simulate(log, fs.Torus(4, 4, 8), placement=fs.CompiledPlacement(table), record=True).allocations
    >>> [int(held[part][0]) for part in "xyzabc"]
    [3, 3, 0, 1, 1, 8]
    """

    name: ClassVar[str] = "compiled"
    what: ClassVar[str] = "placement"
    sees_jobs: ClassVar[bool] = False
    __slots__ = ("made_of", "table")

    def __init__(self, source: object, *, box_order: BoxOrderWord = BOX_ORDERS[0], version: str = "") -> None:
        self.version: str = check_version("placement", version)
        self.box_order: BoxOrderWord = checks.choice("box_order", box_order, BOX_ORDERS)
        self.made_of: object = source
        self.table: PlacementTable = table_of(PlacementTable, source)

    @classmethod
    def is_written(cls) -> bool:
        """It needs no interpreter."""
        return False

    def options(self) -> dict[str, object]:
        """What else it was made of."""
        return {"box_order": self.box_order, "version": self.version}

    def lower(self) -> Lowered:
        """Its name, the order of the boxes, and the object itself."""
        reads_runtimes(self)
        return {"name": self.name, "policy": self.title, "box_order": self.box_order, "object": self}

    def check_machine(self, machine: MachineFacts) -> None:
        """It has a function for boxes, or for nodes."""
        function = "choose" if machine.has_boxes else "take"
        known = machine.has_boxes or machine.any_nodes  # its row says why it is not for others
        if known and not getattr(self.table, function):
            raise OptionError(f"placement {self.title!r} has no function {function}, which {machine} needs")

    def refused(self, what: int, job: int, now: float, given: int, count: int) -> OptionError:
        """The error for a choice that is none."""
        words = _NO_CHOICES[what].format(given=given, count=count)
        return OptionError(f"placement {self.title!r} at {now:g} s, for job {job}: {words}")
