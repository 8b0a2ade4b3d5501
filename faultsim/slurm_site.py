"""`SlurmConf`: a site as its configuration of Slurm says; `read_slurm_conf`, which reads it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from faultsim import checks
from faultsim.data.slurm_site import SlurmPartition, SlurmRecord
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.machines import Site
from faultsim.machines.node_classes import NO_TYPE
from faultsim.policies.slurm import Slurm
from faultsim.readers.node_tables import NodeRow
from faultsim.readers.slurm_conf import read_conf
from faultsim.site_rows import site_of


@dataclass(frozen=True)
class SlurmConf(SlurmRecord):
    """A site as its configuration of Slurm says.

    Attributes
    ----------
    settings : mapping of str to object
        Settings that the model reads, by Slurm's names, with the defaults of 22.05: times in seconds or minutes as
        `Slurm` has them, words as tuples, memory in MiB; words of SchedulerParameters stand among them.
    nodes : tuple of SlurmNode
        Sorted as Slurm does: by name, letters first, then the number.
    partitions : tuple of SlurmPartition
        In the order of the file.
    associations : tuple of SlurmAssociation
        Accounts and users, each below its account, root first; () without a file of accounts.
    qos : mapping of str to SlurmQos
        By name.
    ignored : tuple of IgnoredKey
        Each key that is not read, with its line and what it would change.
    odd : tuple of str
        What is allowed, but hardly meant: a sentence each.
    version : str
        Whose defaults and rules.
    name : str
        Of the file.

    Examples
    --------
    >>> import faultsim as fs
    >>> with open("slurm.conf", "w") as file:
    ...     _ = file.write("PriorityType=priority/multifactor\\nPriorityWeightAge=1000\\nNodeName=n[1-2] CPUs=8\\n"
    ...                    "PartitionName=batch Nodes=ALL Default=YES MaxTime=60\\n")
    >>> conf = fs.read_slurm_conf("slurm.conf")
    >>> conf.settings["PriorityWeightAge"], conf.settings["bf_window"]
    (1000, 1440.0)
    >>> conf.site
    Site('site:n=2x8c1M/batch=n,max_time=3600s,default')
    >>> conf.scheduler
    Slurm(PriorityType='priority/multifactor', PriorityWeightAge=1000)
    """

    @cached_property
    def site(self) -> Site:
        """The nodes and partitions as a machine: nodes of equal amounts, features and partitions are a class.

        Nodes with a State that no job starts on, such as DOWN, are left out; partitions stay, whatever their State.

        Raises
        ------
        OptionError
            What no `Site` can have: GPUs of several types on a node, more than 64 kinds of nodes, a name.
        """

        rows = []
        used = [part for part in self.partitions if part.nodes]
        for node in self.nodes:
            if not node.is_up:
                continue
            gpus = [(kind or NO_TYPE, number) for kind, number in node.gpus.items() if number]
            if len(gpus) > 1:
                listed = ", ".join(kind for kind, _ in gpus)
                raise OptionError(
                    f"node {node.name} has GPUs of several types ({listed}); a Site has one type on a node"
                )
            of = [part for part in used if node.name in part.nodes]
            rows.append(
                NodeRow(
                    self.name, node.name, cores=node.cpus, memory=node.memory, gpus=gpus[0] if gpus else None,
                    weight=node.weight, features=node.features, partitions=tuple(part.name for part in of),
                    default=next((part.name for part in used if part.default), ""),
                    max_time={part.name: part.max_time for part in of if part.max_time is not None},
                )
            )  # fmt: skip
        if not rows:
            raise OptionError(f"{self.name}: no node on which jobs start: see the State of the nodes")
        return site_of(rows)

    @cached_property
    def scheduler(self) -> Slurm:
        """Slurm's scheduler with the options that the file sets, and its partitions, accounts and QOS."""
        left_out = ("ClusterName", "GresTypes")
        options = {name: self.settings[name] for name in self.given if name not in left_out}
        return Slurm(self.version, conf=self, **options)

    def partition(self, name: str) -> SlurmPartition:
        """The partition of this name.

        Raises
        ------
        OptionError
            If there is none.
        """
        if not isinstance(name, str):
            raise OptionError(f"the name of a partition must be text, got {checks.shown(name)}")
        found = next((each for each in self.partitions if each.name == name), None)
        if found is None:
            known = [each.name for each in self.partitions]
            raise OptionError(f"no partition {name!r:.60}{checks.did_you_mean(name, known)}; known: {', '.join(known)}")
        return found


@entry
def read_slurm_conf(
    conf: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    accounts: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    gres: str | os.PathLike[str] | None = None,
) -> SlurmConf:
    """Read the configuration of a site that runs Slurm.

    Parameters
    ----------
    conf : path or sequence of path
        slurm.conf, with its Include files; or what ``scontrol show config``, ``scontrol show node`` and
        ``scontrol show partition`` print, in any order.
    accounts : path or sequence of path, optional
        What ``sacctmgr dump`` writes, or a script of commands of sacctmgr; for a dump, which has no QOS, also what
        ``sacctmgr --parsable2 show qos`` prints.
    gres : path, optional
        gres.conf, which says the types of GPUs.

    Returns
    -------
    SlurmConf
        Nothing is left out without a word: `SlurmConf.ignored` has each key that is not read.

    Raises
    ------
    InputError
        No such file, a line that is no Key=value, a value that cannot be read, a node or partition that is named twice
        or not there; with file and line.

    Examples
    --------
    >>> import faultsim as fs
    >>> with open("slurm.conf", "w") as file:
    ...     _ = file.write("NodeName=n[01-03] CPUs=8 TmpDisk=9\\nPartitionName=a Nodes=n[01-02]\\n")
    >>> conf = fs.read_slurm_conf("slurm.conf")
    >>> [node.name for node in conf.nodes], conf.partitions[0].nodes
    (['n01', 'n02', 'n03'], ('n01', 'n02'))
    >>> conf.ignored[0].name, conf.ignored[0].where
    ('TmpDisk', 'slurm.conf, line 1')
    """
    tree = None if accounts is None else _paths(accounts)
    record = read_conf(_paths(conf), tree, None if gres is None else checks.file_name(gres))
    return SlurmConf(**vars(record))


def _paths(given: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    several = [given] if isinstance(given, str | os.PathLike) else list(given)
    if not several:
        raise OptionError("no file given")
    return [checks.file_name(each) for each in several]


def changed_site(conf: SlurmConf, settings: Sequence[str], nodes: Sequence[str]) -> tuple[Site, Slurm]:
    """The site and the scheduler of a configuration with other settings (``K=V``) and more nodes (``C:N``)."""
    scheduler = changed_settings(conf.scheduler, settings, "--set ")
    site = conf.site
    for text in nodes:
        site = more_nodes(site, text, "--add-nodes ")
    return site, scheduler


def changed_settings(scheduler: Slurm, settings: Sequence[str], where: str = "") -> Slurm:
    """A scheduler with other settings, each as text (``K=V``); errors begin with `where`.

    Examples
    --------
    >>> import faultsim as fs
    >>> changed_settings(fs.Slurm(), ["bf_window=3-0:00:00", "bf_max_job_user=20"])
    Slurm(bf_window=4320.0, bf_max_job_user=20)
    """
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals:
            raise OptionError(f"{where}{text}: expected KEY=VALUE, as in bf_window=4320")
        scheduler = scheduler.replace(**{name.strip(): value.strip()})
    return scheduler


def more_nodes(site: Site, text: str, where: str = "") -> Site:
    """A site with more nodes of a class, or of a partition that has one class (``C:N``); errors begin with `where`.

    Examples
    --------
    >>> import faultsim as fs
    >>> more_nodes(fs.Site([fs.NodeClass("g", 2, cores=4)]), "g:3")
    Site('site:g=5x4c')
    """
    name, colon, number = text.partition(":")
    if not colon or not number.isdigit() or int(number) < 1:
        raise OptionError(f"{where}{text}: expected CLASS:N, as in gpu:20")
    classes = [each.name for each in site.classes]
    if name not in classes:
        of = next((part.classes for part in site.partitions if part.name == name), None)
        if of is None:
            known = [*classes, *(part.name for part in site.partitions)]
            hint = checks.did_you_mean(name, known)
            raise OptionError(f"{where}{text}: the site has no class or partition {name!r}{hint}")
        if len(of) > 1:
            raise OptionError(f"{where}{text}: the partition {name} has the classes {', '.join(of)}: name one")
        name = of[0]
    before = next(each.count for each in site.classes if each.name == name)
    return site.with_nodes(name, before + int(number))
