"""Which nodes a job gets: ``select/cons_tres`` (model.md#slurm-nodes)."""

from __future__ import annotations

from collections.abc import Sequence

from faultsim.data.slurm_site import SlurmPartition
from faultsim.reference.slurm.state import Ask, Room, Running, SlurmNodes, Waiting

#: More nodes than any cluster has.
_MANY = 1 << 30


def is_exclusive(ask: Ask, partition: SlurmPartition) -> bool:
    """Whether a job takes whole nodes in a partition."""
    return ask.exclusive or partition.over_subscribe.upper().startswith("EXCLUSIVE")


def memory_asked(ask: Ask, partition: SlurmPartition, site: SlurmNodes) -> tuple[int, bool]:
    """Memory in MiB, and whether it is for each CPU; 0: all of a node's memory."""
    if ask.memory:
        return ask.memory, ask.per_cpu
    settings = site.conf.settings
    per_cpu = partition.def_mem_per_cpu or settings["DefMemPerCPU"]
    per_node = partition.def_mem_per_node or settings["DefMemPerNode"]
    return (per_node, False) if per_node else (per_cpu, True) if per_cpu else (0, False)


def free_gpus(ask: Ask, gpus: dict[str, int]) -> int:
    """GPUs of the type that a job asks for."""
    return gpus.get(ask.gpu_type, 0) if ask.gpu_type else sum(gpus.values())


def available(ask: Ask, node: int, room: Room, partition: SlurmPartition, *, all_cores: bool = False) -> int:
    """CPUs of a node that a job could have; 0 if it cannot use the node.

    Parameters
    ----------
    ask : Ask
        The job.
    node : int
        Index of the node.
    room : Room
        What is free.
    partition : SlurmPartition
        In which it would run.
    all_cores : bool, default False
        Count cores that other jobs hold as free: the first of the two stages of a test.
    """
    site = room.site
    exclusive = is_exclusive(ask, partition)
    if room.exclusive[node] or (exclusive and room.jobs[node]):
        return 0
    cpus = site.cores[node] if all_cores or exclusive else room.cores[node]
    if partition.max_cpus_per_node is not None:
        held = 0 if all_cores else room.of_partition[node].get(partition.name, 0)
        cpus = min(cpus, max(0, partition.max_cpus_per_node - held))
    if site.manages_memory:
        memory, per_cpu = memory_asked(ask, partition, site)
        if not memory:
            if room.memory[node] < site.memory[node]:
                return 0
        elif not per_cpu:
            if room.memory[node] < memory:
                return 0
        elif exclusive:
            if room.memory[node] < memory * cpus:
                return 0
        else:
            cpus = min(cpus, room.memory[node] // memory)
            if room.memory[node] < memory * ask.cpus_per_task:
                return 0
            if ask.cpus_per_task > 1:
                cpus -= cpus % ask.cpus_per_task
    if ask.gpus and free_gpus(ask, room.gpus[node]) < ask.gpus:
        return 0
    least = ask.tasks * ask.cpus_per_task if ask.max_nodes == 1 else ask.cpus_per_task
    if cpus < max(1, least):
        return 0
    if ask.max_nodes == 1 and ask.gpus and not exclusive:
        cpus = least
    return cpus


class Selection:
    """Tests of jobs on sets of nodes, which change the sort keys of nodes as Slurm's tests do.

    Parameters
    ----------
    keys : list of int
        Sort key of each node; changed in place.
    """

    def __init__(self, keys: list[int]) -> None:
        self._keys = keys

    def choose(
        self,
        ask: Ask,
        candidates: Sequence[int],
        room: Room,
        partition: SlurmPartition,
        *,
        idle_now: Sequence[bool] | None = None,
    ) -> dict[int, int] | None:
        """Nodes for a job and the CPUs on each, or None.

        Parameters
        ----------
        ask : Ask
            The job.
        candidates : sequence of int
            Indices of nodes, rising; nodes without the job's features do not count.
        room : Room
            What is free of them.
        partition : SlurmPartition
            In which it would run.
        idle_now : sequence of bool, optional
            Which nodes hold no job now: only of a test in the future with ``bf_busy_nodes``.
        """
        site = room.site
        wanted = site.features_of(ask.features)
        nodes = [node for node in candidates if wanted[node] and node not in ask.excluded]
        if ask.gpus:
            exclusive = is_exclusive(ask, partition)
            for node in nodes:
                if available(ask, node, room, partition, all_cores=True):
                    number = sum(site.gpus[node].values()) if exclusive else ask.gpus
                    self._keys[node] = (self._keys[node] | 255) - min(number, 255)
        least = max(1, ask.min_nodes)
        avail = {node: cpus for node in nodes if (cpus := available(ask, node, room, partition))}
        if ask.required and not ask.required <= avail.keys():
            return None
        if len(avail) < least:
            return None
        found = self._choose(ask, avail, room, partition, idle_now)
        if found is not None:
            return self._layout(ask, found, room, partition)
        gpus = {node: sum(room.gpus[node].values()) if ask.gpus else 0 for node in avail}
        largest = max(avail[node] + gpus[node] for node in avail)
        for least_cpus in range(1, largest + 1):
            if len(avail) <= least:
                break
            removed = False
            for node in list(avail):
                if len(avail) <= least:
                    break
                if avail[node] + gpus[node] <= least_cpus and node not in ask.required:
                    del avail[node]
                    removed = True
            if removed or least_cpus == 1:
                found = self._choose(ask, avail, room, partition, idle_now)
                if found is not None:
                    return self._layout(ask, found, room, partition)
        return None

    def _choose(
        self, ask: Ask, avail: dict[int, int], room: Room, partition: SlurmPartition, idle_now: Sequence[bool] | None
    ) -> dict[int, int] | None:
        """Nodes and the most CPUs that the job takes of each: one of the three ways."""
        fill = _Fill(ask, avail, partition, is_exclusive(ask, partition))
        for node in sorted(ask.required):
            if not fill.done():
                fill.take(node)
        if idle_now is not None:
            self._busy_first(avail, idle_now, fill)
        elif room.site.least_loaded or partition.lln:
            self._least_loaded(avail, room, fill)
        elif room.site.pack_serial_at_end and ask.need == 1 and ask.min_nodes <= 1:
            lowest = min(self._keys[node] for node in avail)
            fill.take(max(node for node in avail if self._keys[node] == lowest))
        else:
            self._best_fit(ask, avail, fill)
        return fill.chosen if fill.enough() else None

    def _busy_first(self, avail: dict[int, int], idle_now: Sequence[bool], fill: _Fill) -> None:
        """By weight; within a weight first the nodes that hold a job now, then the idle ones, by index.

        Slurm turns to the idle nodes of a weight also where the others were enough, so that one more node is taken.
        """
        over = fill.done() or not fill.most
        for key in sorted({self._keys[node] for node in avail}):
            for idle in () if over else (False, True):
                for node in sorted(avail):
                    if self._keys[node] != key or idle_now[node] != idle or node in fill.chosen:
                        continue
                    fill.take(node)
                    if fill.done() or not fill.most:
                        over = True
                        break

    def _best_fit(self, ask: Ask, avail: dict[int, int], fill: _Fill) -> None:
        """Consecutive best fit: runs of neighbours of equal key, the fullest that is sufficient first."""
        runs: list[list[int]] = []
        last = -2
        for node in sorted(avail):
            if node in fill.chosen:
                continue
            if node != last + 1 or self._keys[node] != self._keys[last]:
                runs.append([])
            runs[-1].append(node)
            last = node
        while runs and fill.most > 0 and not fill.done():
            best, best_sum, best_enough = 0, 0, False
            for at, run in enumerate(runs):
                total = sum(avail[node] for node in run)
                slack = max(0, ask.max_nodes - ask.min_nodes) if ask.max_nodes else 0
                enough = total >= fill.cpus and len(run) >= fill.nodes - slack
                key, best_key = self._keys[run[0]], self._keys[runs[best][0]]
                if at == 0 or key < best_key or (
                    key == best_key
                    and (
                        (enough and not best_enough)
                        or (enough and total < best_sum)
                        or (not enough and total > best_sum)
                    )
                ):  # fmt: skip
                    best, best_sum, best_enough = at, total, enough
            run = runs.pop(best)
            if fill.nodes <= 1:
                fitting = [node for node in run if avail[node] >= fill.cpus]
                if fitting:
                    run = [min(fitting, key=lambda node: (avail[node], node))]
            for node in run:
                if fill.most <= 0 or fill.done():
                    break
                if fill.most == 1 and avail[node] < fill.cpus:
                    continue
                fill.take(node)

    def _least_loaded(self, avail: dict[int, int], room: Room, fill: _Fill) -> None:
        """By weight; within a weight the node with the largest share of free cores."""
        fill.most = min(fill.most, max(1, fill.ask.tasks))
        rest = [node for node in avail if node not in fill.chosen]
        while rest and fill.most > 0 and not fill.done():
            lowest = min(self._keys[node] for node in rest)
            level = [node for node in rest if self._keys[node] == lowest]
            last = -1
            while level and fill.most > 0 and not fill.done():
                best = level[0]
                share = -1.0
                for node in level:
                    own = room.cores[node] / room.site.cores[node]
                    if own > share:
                        best, share = node, own
                        if last >= 0 and room.cores[node] == last:
                            break
                last = room.cores[best]
                level.remove(best)
                rest.remove(best)
                fill.take(best)

    @staticmethod
    def _layout(ask: Ask, found: dict[int, int], room: Room, partition: SlurmPartition) -> dict[int, int]:
        """CPUs on each chosen node: one task on each, then one more on each in turn that has room for a whole one.

        After a turn that leaves no node room for a whole task, the other tasks are laid on all nodes in turn: each gets
        the CPUs that are left of a node, down to none.
        """
        nodes = sorted(found)
        if is_exclusive(ask, partition):
            return {node: room.site.cores[node] for node in nodes}
        per_task = ask.cpus_per_task
        cpus = {node: min(per_task, found[node]) for node in nodes}
        left = max(ask.tasks, ask.need // max(1, per_task)) - len(nodes)
        anywhere = all(cpus[node] == found[node] for node in nodes)
        while left > 0:
            room_for_more = False
            for node in nodes:
                if left > 0 and (anywhere or found[node] - cpus[node] >= per_task):
                    cpus[node] = min(cpus[node] + per_task, found[node])
                    left -= 1
                    room_for_more |= found[node] - cpus[node] >= per_task
            anywhere |= not room_for_more
        return cpus


class _Fill:
    """Nodes that are taken one after the other until a job has enough.

    ``cpus`` and ``nodes`` are still needed, at most ``most`` nodes may come.
    """

    def __init__(self, ask: Ask, avail: dict[int, int], partition: SlurmPartition, exclusive: bool) -> None:
        self.ask, self.avail = ask, avail
        self.chosen: dict[int, int] = {}
        self.cpus = ask.need
        least = max(1, ask.min_nodes)
        self.nodes = max(least, ask.max_nodes)
        self.most = ask.max_nodes or partition.max_nodes or _MANY
        if ask.tasks < self.most:
            self.most = max(ask.tasks, least)
        self._wanted, self._least, self._exclusive = ask.need, least, exclusive

    def take(self, node: int) -> None:
        """Take a node, and of it no more CPUs than leave one for each further node."""
        cpus = self.avail[node]
        if not self._exclusive:
            still = max(1, self._least - len(self.chosen))
            cpus = min(cpus, max(self._wanted - (still - 1), self.ask.cpus_per_task))
        self.chosen[node] = cpus
        self.cpus -= cpus
        self._wanted -= cpus
        self.nodes -= 1
        self.most -= 1

    def done(self) -> bool:
        """Whether nothing more is wanted."""
        return self.nodes <= 0 and self.cpus <= 0

    def enough(self) -> bool:
        """Whether the job can run on what is taken."""
        return self.cpus <= 0 and (self.nodes <= 0 or len(self.chosen) >= self._least)


def placed(job: Waiting, found: dict[int, int], partition: SlurmPartition, room: Room, now: float) -> Running:
    """A job on its nodes."""
    ask, site = job.ask, room.site
    nodes = sorted(found)
    memory, per_cpu = memory_asked(ask, partition, site)
    held_memory, held_gpus = [], []
    for node in nodes:
        amount = memory * found[node] if per_cpu else memory if memory else site.memory[node]
        held_memory.append(amount if site.manages_memory else 0)
        left, kinds = ask.gpus, {}
        for kind, number in room.gpus[node].items():
            if left and (not ask.gpu_type or kind == ask.gpu_type) and number > 0:
                kinds[kind] = min(left, number)
                left -= kinds[kind]
        held_gpus.append(kinds)
    return Running(
        job.job, partition.name, now, job.limit, nodes, [found[node] for node in nodes], held_memory, held_gpus,
        is_exclusive(ask, partition), job.user, job.account, job.qos, job.array, job.reservation,
    )  # fmt: skip
