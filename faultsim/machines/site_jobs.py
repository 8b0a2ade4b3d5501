"""What the jobs of a log ask of a site: the further columns of the log as amounts per node (model.md#site-jobs)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim.arrays import Values
from faultsim.data.workload import Workload
from faultsim.data.world import AskRows
from faultsim.errors import InputError, OptionError
from faultsim.machines.node_classes import NO_TYPE, NodeClass, Partition, mebibytes
from faultsim.vocabulary import is_missing

#: The column by which a log says that its jobs share nodes.
CORES = "cores"
#: The column by which the queue is ordered, where partitions have tiers.
TIER = "tier"
#: The other columns that only a site with shared nodes reads.
SHARED = ("nodes", "memory", "memory_per", "gpus", "gpus_per", "gpu_type", "exclusive", "features")
#: What an amount of memory or GPUs may be stated for.
PER_MEMORY, PER_GPUS = ("node", "core", "job"), ("node", "job")
_TRUE, _FALSE = ("1", "true", "yes", "exclusive"), ("", "0", "false", "no")
_MOST = 2**31 - 1


@dataclass(frozen=True)
class Asks:
    """What jobs ask for, and the rows of those that no nodes can hold, each with the reason."""

    rows: AskRows
    refused: dict[int, str]


def with_sizes(log: Workload) -> Workload:
    """The log with sizes in cores."""
    cores = _whole(log, CORES, 1)
    if not (bad := cores > _MOST).any():
        return log if np.array_equal(cores, log.size) else log._derived(size=cores)
    row = int(np.argmax(bad))
    raise InputError(f"cores, row {row}: {cores[row]} is more than a machine can have")


def with_tiers(partitions: Sequence[Partition], log: Workload) -> Workload:
    """The log with the largest tier of the partitions of each job, in the column `TIER`.

    Raises
    ------
    InputError
        If the log has another column of that name.
    """
    tiers = {each.name: each.tier for each in partitions}
    default = next((each.name for each in partitions if each.default), "")
    names = _texts(log, "partition") if "partition" in log.further else np.full(len(log), "")
    found, at = np.unique(names, return_inverse=True)
    # A partition that is not known has any tier here: `asks_of` refuses it, with the row.
    of = [max(tiers.get(part.strip(), 0) for part in (name or default).split(",")) for name in found.tolist()]
    column = np.array(of, np.int64)[at]
    if TIER in log.further and not np.array_equal(log.columns[TIER], column):
        raise InputError(f"the log has a column {TIER!r}, and partitions of the site have tiers: leave one of them out")
    return log if TIER in log.further else log.with_columns(tier=column)


def check_whole_nodes(classes: Sequence[NodeClass], log: Workload) -> None:
    """Refuse a log without cores that has other columns of shared nodes, or whose nodes are of several classes.

    Raises
    ------
    InputError
        Naming the columns.
    """
    if given := [name for name in SHARED if name in log.further]:
        raise InputError(
            f"the log has the column {given[0]!r} and no column 'cores', which jobs that share the nodes of a site "
            f"need: add it with with_columns(cores=...), or take the others away with with_columns({given[0]}=None)"
        )
    if len(classes) > 1:
        names = ", ".join(each.name for each in classes)
        raise InputError(
            f"the log has no column 'cores', so its jobs take whole nodes, which needs a site of one class; this one "
            f"has {names}: add the column with with_columns(cores=...)"
        )


def in_whole_nodes(classes: Sequence[NodeClass], partitions: Sequence[Partition], log: Workload, what: str) -> Workload:
    """The log of the same jobs with sizes in nodes, without the columns of shared nodes (model.md#site-whole-nodes).

    Raises
    ------
    InputError
        A job that does not take whole nodes, or that no nodes can hold; several classes of nodes.
    """
    if len(classes) > 1:
        names = ", ".join(each.name for each in classes)
        raise InputError(f"{what} moves jobs of whole nodes of one class, and the site has {names}: use None for it")
    asks, each = asks_of(classes, partitions, log), classes[0]
    rows = asks.rows
    for row, why in asks.refused.items():
        raise InputError(f"{what} moves jobs of whole nodes, and job {log.columns['id'][row]} fits none: it {why}")
    gang = rows.nodes > 0
    full = rows.exclusive | (np.where(gang, rows.cores, rows.cores % each.cores + each.cores) == each.cores)
    # A node without the memory for all of its cores offers fewer to a job of any number of nodes.
    full &= gang | ~rows.by_core | (rows.memory.astype(np.int64) * each.cores <= max(each.mebibytes, 0))
    if not full.all():
        row = int(np.argmin(full))
        on_each = f"{rows.cores[row]} cores {'on each node' if gang[row] else 'of any number of nodes'}"
        raise InputError(
            f"{what} moves jobs of whole nodes, and job {log.columns['id'][row]} takes {on_each} of {each.cores}: use "
            f"None for it, or exclusive jobs"
        )
    size = np.where(gang, rows.nodes, -(-rows.cores // each.cores))
    gone: dict[str, Any] = dict.fromkeys(name for name in (CORES, *SHARED) if name in log.further)
    return log.with_columns(**gone)._derived(size=size)


def asks_of(classes: Sequence[NodeClass], partitions: Sequence[Partition], log: Workload) -> Asks:
    """The requests of all jobs, checked; computed once per log and site.

    Raises
    ------
    InputError
        A value that means nothing, an unknown partition, feature or type of GPU; names column and row.
    """
    key = ("asks", *map(str, classes), *map(str, partitions))
    found: Asks | None = log._once.get(str(key))
    if found is None:
        found = log._once[str(key)] = _Reading(classes, partitions, log).asks()
    return found


class _Reading:
    """The columns of one log, read for one site."""

    def __init__(self, classes: Sequence[NodeClass], partitions: Sequence[Partition], log: Workload) -> None:
        self.classes, self.partitions, self.log = classes, partitions, log
        self.every = (1 << len(classes)) - 1
        self.has_memory = bool(classes[0].memory)

    def asks(self) -> Asks:
        log = self.log
        in_all = _whole(log, CORES, 1)
        nodes = _whole(log, "nodes", 0) if "nodes" in log.further else np.zeros(len(log), np.int64)
        exclusive = self._flags("exclusive")
        gang = nodes > 0
        cores = np.where(gang, -(-in_all // np.maximum(nodes, 1)), in_all)
        memory, by_core = self._memory(nodes, in_all, cores)
        gpus = self._gpus(nodes)
        eligible = self._eligible(gpus)
        able = np.zeros(len(log), np.uint64)
        room = np.zeros(len(log), np.int64)
        for at, each in enumerate(self.classes):
            own = ((eligible >> np.uint64(at)) & np.uint64(1)).astype(bool)
            limit = each.mebibytes if self.has_memory else _MOST
            most = np.full(len(log), each.cores, np.int64)
            np.floor_divide(limit, memory, out=most, where=by_core & (memory > 0))
            most = np.minimum(most, each.cores)
            enough = (by_core | (memory <= limit)) & (gpus <= each.gpu_count) & (most >= np.where(gang, cores, 1))
            able |= np.where(own & enough, np.uint64(1 << at), np.uint64(0))
            room += np.where(own & enough, each.count * np.where(gang, 1, most), 0)
        fits = room >= np.where(gang, nodes, in_all)
        refused = {
            int(row): self._why(int(row), nodes, cores, memory, by_core, gpus, eligible)
            for row in np.flatnonzero(~fits)
        }
        late = self._too_long()
        refused |= {row: why for row, why in late.items() if row not in refused}
        rows = AskRows(
            nodes.astype(np.int32),
            cores.astype(np.int32),
            np.minimum(memory, _MOST).astype(np.int32),
            np.minimum(gpus, _MOST).astype(np.int32),
            by_core,
            exclusive,
            able,
        )
        return Asks(rows, dict(sorted(refused.items())))

    # -- amounts

    def _memory(
        self, nodes: NDArray[np.int64], in_all: NDArray[np.int64], cores: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """MiB on each node, or of each core of a job of any number of nodes; 0 where a site does not state any."""
        log = self.log
        nothing = np.zeros(len(log), np.int64), np.zeros(len(log), np.bool_)
        if "memory" not in log.further:
            return nothing
        amount = _memory_amount(log)
        per = self._words("memory_per", PER_MEMORY)
        gang = nodes > 0
        on_each = np.where(per == "core", amount * cores, np.where(per == "job", amount / np.maximum(nodes, 1), amount))
        of_core = np.where(per == "job", amount / in_all, amount)
        by_core = ~gang & (per != "node")
        made = np.ceil(np.where(by_core, of_core, on_each))
        return (np.minimum(made, 2.0**40).astype(np.int64), by_core) if self.has_memory else nothing

    def _gpus(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """GPUs on each node."""
        log = self.log
        if "gpus" not in log.further:
            return np.zeros(len(log), np.int64)
        amount = _amount(log, "gpus")
        of_job = (self._words("gpus_per", PER_GPUS) == "job") & (amount > 0)
        if (bad := of_job & (nodes == 0)).any():
            row = int(np.argmax(bad))
            raise InputError(
                f"gpus, row {row}: {amount[row]:g} GPUs of a job of any number of nodes cannot be shared out; give "
                f"its number of nodes, or gpus_per='node'"
            )
        return np.ceil(np.where(of_job, amount / np.maximum(nodes, 1), amount)).astype(np.int64)

    def _words(self, name: str, known: tuple[str, ...]) -> Values:
        """A column of words, of which the first is the default."""
        log = self.log
        if name not in log.further:
            return np.full(len(log), known[0])
        words = _texts(log, name)
        words = np.where(words == "", known[0], words)
        if (bad := ~np.isin(words, known)).any():
            row = int(np.argmax(bad))
            raise InputError(f"{name}, row {row}: {str(words[row])!r} is none of {', '.join(map(repr, known))}")
        return words

    def _flags(self, name: str) -> NDArray[np.bool_]:
        log = self.log
        if name not in log.further:
            return np.zeros(len(log), np.bool_)
        column = log.columns[name]
        if column.dtype.kind == "b":
            return column.astype(np.bool_)
        if column.dtype.kind in "iuf":
            bad = ~((column == 0) | (column == 1) | (column != column))
            _refuse(bad, name, column, "is neither 0 nor 1")
            return np.asarray(column == 1)
        words = np.char.lower(column.astype(str))
        _refuse(~np.isin(words, (*_TRUE, *_FALSE)), name, column, "is neither 1 nor 0, true nor false")
        return np.isin(words, _TRUE)

    # -- eligible classes

    def _eligible(self, gpus: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The classes that a job may use, one bit each."""
        masks = self._masks("partition", self._of_partition) if self.partitions else self._all()
        masks &= self._masks("features", self._of_features)
        if "gpu_type" in self.log.further:
            types = self._masks("gpu_type", self._of_type)
            masks &= np.where(gpus > 0, types, np.uint64(self.every))
        return masks

    def _all(self) -> NDArray[np.uint64]:
        return np.full(len(self.log), self.every, np.uint64)

    def _masks(self, name: str, mask_of: Callable[[str, int], int]) -> NDArray[np.uint64]:
        """A mask for each job, by the texts of a column; without it, as for ""."""
        if name not in self.log.further:
            return np.full(len(self.log), mask_of("", 0), np.uint64)
        different, first, which = np.unique(_texts(self.log, name), return_index=True, return_inverse=True)
        made = np.zeros(len(different), np.uint64)
        for at in np.argsort(first).tolist():
            made[at] = mask_of(str(different[at]), int(first[at]))
        return made[which]

    def _of_partition(self, text: str, row: int) -> int:
        """The classes of one partition, or of several with commas between them."""
        known = [each.name for each in self.partitions]
        if text == "":
            named = [each for each in self.partitions if each.default]
            named = named or (list(self.partitions) if len(known) == 1 else [])
            if not named:
                raise InputError(
                    f"partition, row {row}: the job names none, and no partition of the site is the default; it has "
                    f"{', '.join(known)}"
                )
            return self._bits(named[0].classes)
        bits = 0
        for name in text.split(","):
            found = next((each for each in self.partitions if each.name == name.strip()), None)
            if found is None:
                hint = checks.did_you_mean(name, known)
                raise InputError(
                    f"partition, row {row}: the site has no partition {name!r}{hint}; it has {', '.join(known)}"
                )
            bits |= self._bits(found.classes)
        return bits

    def _bits(self, names: Sequence[str] | str) -> int:
        return sum(1 << at for at, each in enumerate(self.classes) if each.name in names)

    def _of_features(self, text: str, row: int) -> int:
        """``a&b`` (or ``a,b``): both; ``a|b``: either."""
        if text == "":
            return self.every
        either = "|" in text
        if any(sign in text for sign in "()[]*!") or (either and ("&" in text or "," in text)):
            raise InputError(
                f"features, row {row}: {text!r:.60} cannot be read; write 'a&b' for both features or 'a|b' for either"
            )
        bits = 0 if either else self.every
        known = sorted({feature for each in self.classes for feature in each.features})
        for name in (part.strip() for part in text.replace(",", "&").split("|" if either else "&")):
            if name not in known:
                hint = checks.did_you_mean(name, known)
                has = f"they have {', '.join(known)}" if known else "they have none"
                raise InputError(f"features, row {row}: no node class has the feature {name!r}{hint}; {has}")
            own = sum(1 << at for at, each in enumerate(self.classes) if name in each.features)
            bits = bits | own if either else bits & own
        return bits

    def _of_type(self, text: str, row: int) -> int:
        """The classes with GPUs of a type; "": of any, as where the site's GPUs have no type."""
        known = sorted({each.gpu_type for each in self.classes if each.gpu_count})
        if text == "" or known == [NO_TYPE]:
            return self.every
        if text not in known:
            has = f"it has {', '.join(known)}" if known else "it has no GPUs"
            hint = checks.did_you_mean(text, known)
            raise InputError(f"gpu_type, row {row}: the site has no GPUs of the type {text!r}{hint}; {has}")
        return sum(1 << at for at, each in enumerate(self.classes) if each.gpu_type == text)

    # -- refusals

    def _too_long(self) -> dict[int, str]:
        """Jobs whose requested time is longer than their partition allows."""
        limits = {each.name: float(each.max_time) for each in self.partitions if each.max_time is not None}  # type: ignore[arg-type]
        if not limits:
            return {}
        log = self.log
        default = next((each.name for each in self.partitions if each.default), "")
        default = default or (self.partitions[0].name if len(self.partitions) == 1 else "")
        names = _texts(log, "partition") if "partition" in log.further else np.full(len(log), "")
        found = {}
        for name in np.unique(names).tolist():
            of = [limits.get(part.strip(), np.inf) for part in (name or default).split(",")]
            for row in np.flatnonzero((names == name) & (log.estimate > max(of))).tolist():
                found[row] = f"asks for {log.estimate[row]:g} s; the partition {name or default} allows {max(of):g} s"
        return found

    def _why(
        self,
        row: int,
        nodes: NDArray[np.int64],
        cores: NDArray[np.int64],
        memory: NDArray[np.int64],
        by_core: NDArray[np.bool_],
        gpus: NDArray[np.int64],
        eligible: NDArray[np.uint64],
    ) -> str:
        """Why no nodes can hold a job."""
        there = [each for at, each in enumerate(self.classes) if int(eligible[row]) >> at & 1]
        where = ""
        if self.partitions and "partition" in self.log.further and (name := _texts(self.log, "partition")[row]):
            where = f" of the partition {name}"
        if not there:
            return f"no node class{where} has what its features and type of GPU require"
        most_gpus = max(each.gpu_count for each in there)
        if gpus[row] > most_gpus:
            has = f"has more than {most_gpus}" if most_gpus else "has any"
            return f"asks for {gpus[row]} GPUs on a node; no node class{where} {has}"
        c, m = int(cores[row]) if nodes[row] else 1, int(memory[row])
        with_gpus = [each for each in there if each.gpu_count >= gpus[row]]
        if c > max(each.cores for each in with_gpus):
            return f"asks for {c} cores on a node; no node class{where} has more than {max(e.cores for e in with_gpus)}"
        most = max(each.mebibytes for each in with_gpus)
        if m > most:
            return (
                f"asks for {m} MiB {'per core' if by_core[row] else 'on a node'}; no node class{where} has more "
                f"than {most}"
            )
        if nodes[row]:
            able = sum(
                each.count for each in with_gpus if each.cores >= c and (not self.has_memory or each.mebibytes >= m)
            )
            if able == 0:
                return f"asks for {c} cores and {m} MiB on a node; no node class{where} has both"
            return f"asks for {nodes[row]} nodes; {able}{where} can hold its share"
        return f"asks for {cores[row]} cores; the nodes{where} that it may use have fewer"


def _texts(log: Workload, name: str) -> Values:
    """A column as text."""
    column = log.columns[name]
    if column.dtype.kind == "f":
        return np.where(column != column, "", np.array([f"{value:g}" for value in column.tolist()], dtype=np.str_))
    return column.astype(str)


def _amount(log: Workload, name: str) -> NDArray[np.float64]:
    """A column of amounts; 0 where it is missing (NaN, or -1)."""
    column = log.columns[name]
    if column.dtype.kind not in "iuf":
        unit = "; amounts of memory are numbers of MiB" if name == "memory" else ""
        raise InputError(f"{name}, row 0: {column[0].item()!r:.40} is not a number{unit}")
    values = column.astype(np.float64)
    values = np.where(np.isnan(values) | (values == -1), 0.0, values)
    _refuse((values < 0) | np.isinf(values), name, column, "is no amount")
    return values


def _memory_amount(log: Workload) -> NDArray[np.float64]:
    """MiB: numbers, or text with units; 0 where it is missing."""
    column = log.columns["memory"]
    if column.dtype.kind != "U":
        return _amount(log, "memory")
    different, first, which = np.unique(column, return_index=True, return_inverse=True)
    made = np.zeros(len(different))
    for at in np.argsort(first).tolist():
        text = str(different[at]).strip()
        try:
            made[at] = 0 if is_missing(text) else mebibytes("memory", text)
        except OptionError as error:
            raise InputError(f"memory, row {first[at]}: {str(error).partition(': ')[2] or error}") from None
    return made[which]


def _whole(log: Workload, name: str, least: int) -> NDArray[np.int64]:
    """A column of whole numbers."""
    column = log.columns[name]
    if column.dtype.kind not in "iufb":
        raise InputError(f"{name}, row 0: {column[0].item()!r:.40} is not a number")
    values = column.astype(np.float64)
    _refuse(~(values >= least), name, column, f"is less than {least}" if least else "is no number of nodes")
    _refuse((values != np.floor(values)) | (values > _MOST), name, column, "is no whole number of a machine")
    return values.astype(np.int64)


def _refuse(bad: NDArray[np.bool_], name: str, column: Values, why: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"{name}, row {row}: {column[row].item()!r:.40} {why}")
