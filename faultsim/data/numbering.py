"""`Numbering`: the meaning of the node numbers of a failure trace: nodes of a machine, or rows of failure domains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from faultsim import checks
from faultsim.data.columns import MAX_NODES
from faultsim.data.domain_table import DomainTable
from faultsim.errors import InputError

#: Kinds of domains that a message lists; further ones are counted.
_LISTED = 6


class Numbering(NamedTuple):
    """The meaning of the numbers in the column ``node`` of a trace.

    Attributes
    ----------
    nodes : int
        Nodes of the machine.
    domains : tuple of (str, int)
        Without domains the numbers are those of nodes.  Else they are rows of a table `faultsim.Domains`: its kinds,
        and how many domains there are of each.
    names : str
        Digest of the names of these domains, in order; "" without domains.

    Examples
    --------
    >>> import faultsim as fs
    >>> print(fs.FailureTrace([60], [3], of=fs.Cluster(128)).of)
    128 nodes
    >>> print(fs.FailureTrace([60], [3], of=fs.Domains.blocks(128, 16, kind="rack")).of)
    domains of 128 nodes (rack 8)
    """

    nodes: int
    domains: tuple[tuple[str, int], ...] = ()
    names: str = ""

    @property
    def size(self) -> int:
        """How many numbers there are: nodes, or domains."""
        return sum(count for _, count in self.domains) if self.domains else self.nodes

    @property
    def word(self) -> str:
        """What a number stands for: ``"node"`` or ``"domain"``."""
        return "domain" if self.domains else "node"

    def __str__(self) -> str:
        if not self.domains:
            return f"{self.nodes:,} node{'s' * (self.nodes != 1)}"
        kinds = [f"{kind} {count:,}" for kind, count in self.domains[:_LISTED]]
        more = [f"{len(self.domains) - _LISTED:,} more kinds"] if len(self.domains) > _LISTED else []
        return f"domains of {self.nodes:,} nodes ({', '.join([*kinds, *more])})"

    def as_text(self) -> str:
        """As a line of a file has it.

        Examples
        --------
        >>> Numbering(128).as_text()
        'nodes of 128'
        >>> Numbering(128, (("rack", 8),), "5a").as_text()
        'domains of 128: {"rack": 8} named 5a'
        """
        if not self.domains:
            return f"nodes of {self.nodes}"
        import json

        return f"domains of {self.nodes}: {json.dumps(dict(self.domains))} named {self.names}"


def numbering(of: object) -> Numbering | None:
    """The meaning of numbers from a machine, its number of nodes, a table of domains, or a meaning.

    Examples
    --------
    >>> numbering(128), numbering(None)
    (Numbering(nodes=128, domains=(), names=''), None)
    """
    if of is None:
        return None
    if isinstance(of, Numbering):
        return of
    if isinstance(of, DomainTable):
        import hashlib

        names = hashlib.blake2b("\0".join(of.names).encode(), digest_size=8).hexdigest()
        return Numbering(of.nodes, tuple((kind, len(of.rows(kind))) for kind in of.kinds) or (("domain", 0),), names)
    nodes: object = getattr(of, "nodes", of)
    return Numbering(checks.whole("of, the nodes of the machine,", nodes, low=1, high=MAX_NODES))


def numbering_of_text(text: str) -> Numbering:
    """What `Numbering.as_text` wrote.

    Raises
    ------
    InputError
        For other text.

    Examples
    --------
    >>> numbering_of_text('domains of 128: {"rack": 8} named 5a').size
    8
    """
    import json

    try:
        what, _, rest = text.partition(" of ")
        if what == "nodes":
            return Numbering(_counted(checks.parsed(rest, int), 1))
        if what != "domains":
            raise ValueError
        nodes, _, rest = rest.partition(": ")
        kinds, _, names = rest.rpartition(" named ")
        parsed = json.loads(kinds)
        if not isinstance(parsed, dict) or not parsed or not names.isalnum():
            raise ValueError
        domains = tuple((kind, _counted(count, 0)) for kind, count in parsed.items())
        return Numbering(_counted(checks.parsed(nodes, int), 1), domains, names)
    except (ValueError, RecursionError):
        raise InputError(f"numbers: {text!r:.80} says no meaning of node numbers; such as 'nodes of 128'") from None


def _counted(count: object, low: int) -> int:
    if type(count) is not int or not low <= count <= MAX_NODES:
        raise ValueError
    return count


class Numbered(Protocol):
    """A trace of failures: what its numbers mean, and the least number of nodes that has them all."""

    @property
    def of(self) -> Numbering | None: ...
    @property
    def min_nodes(self) -> int: ...


def common_numbering(what: str, tables: Sequence[Numbered]) -> Numbering | None:
    """The one meaning of several traces; those of unknown meaning take that of the others.

    Raises
    ------
    InputError
        For two meanings, or a number that the meaning of another trace does not have.
    """
    known: list[Numbering] = list(dict.fromkeys(table.of for table in tables if table.of is not None))
    if not known:
        return None
    if len(known) > 1:
        both_nodes = not (known[0].domains or known[1].domains)
        remedy = "map_nodes(n) first, with the nodes n of one machine" if both_nodes else "map_domains(domains) first"
        raise InputError(
            f"{what}: one trace is of {known[0]}, another of {known[1]}, so that equal numbers mean different things: "
            f"{remedy}"
        )
    for place, table in enumerate(tables):
        if table.min_nodes > known[0].size:
            raise InputError(
                f"{what}: item {place} has failures of number {table.min_nodes - 1}, and another trace is of {known[0]}"
                f": map_nodes(n) or map_domains(domains) first, or give both traces the same of="
            )
    return known[0]
