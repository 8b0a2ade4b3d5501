"""The tree of accounts and users, in which usage and shares are counted (model.md#slurm-usage)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from faultsim.errors import InputError

#: Most levels of a tree.
MOST_LEVELS = 100
#: ``fairshare=parent``: the association takes no part in its level.
OF_PARENT = -1


@dataclass(eq=False)
class Association:
    """An account, or a user in an account.

    Parameters
    ----------
    account : str
        The account.
    user : str
        "" for the account itself.
    shares : int
        ``fairshare``; `OF_PARENT` if it is ``parent``.
    priority : int, optional
        Its own; None: that of the nearest ancestor with one.
    """

    account: str
    user: str = ""
    shares: int = 1
    priority: int | None = None
    parent: "Association | None" = None
    children: "list[Association]" = field(default_factory=list)
    #: Decayed CPU-seconds or billing-seconds, its own and of all below it.
    usage: float = 0.0

    @property
    def name(self) -> str:
        """The user, or the account."""
        return self.user or self.account

    def path(self) -> "Iterator[Association]":
        """Itself and its ancestors, up to root."""
        here: Association | None = self
        while here is not None:
            yield here
            here = here.parent

    def all(self) -> "Iterator[Association]":
        """Itself and all associations below it."""
        yield self
        for child in self.children:
            yield from child.all()

    def own_priority(self) -> int:
        """The priority of the nearest association upwards that has one; 0 if none has (model.md#slurm-priority)."""
        return next((each.priority for each in self.path() if each.priority is not None), 0)


class Accounts:
    """The tree of associations.

    Parameters
    ----------
    rows : sequence of tuple of (Association, str)
        Each association and the name of its parent account ("" for root); parents in any order.

    Raises
    ------
    InputError
        No root, an unknown parent, an association that is listed twice, a circle.

    Examples
    --------
    >>> tree = Accounts([(Association("root"), ""), (Association("a"), "root"), (Association("a", "u"), "a")])
    >>> [each.name for each in tree.find("a", "u").path()]
    ['u', 'a', 'root']
    """

    def __init__(self, rows: Sequence[tuple[Association, str]]) -> None:
        self._by_name: dict[tuple[str, str], Association] = {}
        for each, _ in rows:
            if (each.account, each.user) in self._by_name:
                what = f"user {each.user!r} of account {each.account!r}" if each.user else f"account {each.account!r}"
                raise InputError(f"{what} is listed twice")
            self._by_name[each.account, each.user] = each
        root = self._by_name.get(("root", ""))
        if root is None:
            raise InputError("the accounts have no root")
        self.root = root
        for each, parent in rows:
            if each is root:
                continue
            above = self._by_name.get((parent, ""))
            if above is None:
                raise InputError(f"{each.name!r}: unknown parent account {parent!r}")
            each.parent = above
            above.children.append(each)
        for each in self._by_name.values():
            # Where levels are equal, Slurm keeps this order: users first, then by name.
            each.children.sort(key=lambda child: (not child.user, child.name))
            depth = sum(1 for _ in islice(each.path(), MOST_LEVELS + 1))
            if depth > MOST_LEVELS:
                raise InputError(f"{each.name!r}: its parents form a circle, or are more than {MOST_LEVELS}")

    def find(self, account: str, user: str = "") -> Association | None:
        """An account, or a user's association in it."""
        return self._by_name.get((account, user))

    def users(self) -> list[Association]:
        """All associations of users."""
        return [each for each in self.root.all() if each.user]

    def largest_priority(self) -> int:
        """The largest priority that an association has; 0 if none has one."""
        return max((each.priority or 0 for each in self.root.all()), default=0)
