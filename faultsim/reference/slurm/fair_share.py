"""Factors of fair share: the fair tree and the classic formula (model.md#slurm-fair-share)."""

import math
from collections.abc import Iterator

from faultsim.reference.slurm.accounts import OF_PARENT, Accounts, Association


def members(parent: Association) -> Iterator[Association]:
    """What shares a level: the children, and those of accounts with ``fairshare=parent`` in the account's stead."""
    for child in parent.children:
        if child.shares == OF_PARENT and not child.user:
            yield from members(child)
        else:
            yield child


def shares_of(parent: Association) -> int:
    """The sum of the shares of a level."""
    return sum(each.shares for each in members(parent) if each.shares != OF_PARENT)


def level_of(child: Association, parent: Association, total: int | None = None) -> float:
    """Level of fair share: share of the shares over share of the usage of the level.

    Parameters
    ----------
    child, parent : Association
        The association, and the account whose level it is in.
    total : int, optional
        The sum of the shares of the level, if it is at hand.
    """
    if child.shares == OF_PARENT:
        return math.inf
    total = shares_of(parent) if total is None else total
    shares = child.shares / total if total else 0.0
    used = child.usage / parent.usage if parent.usage else 0.0
    if shares == 0.0:
        return 0.0
    return shares / used if used else math.inf


class FairTree:
    """Ranks of all users by a walk through the tree.

    Parameters
    ----------
    accounts : Accounts
        With the usage that is meant.
    merge_tied : bool
        Whether accounts with equal levels are one at the next level, as the manual says and versions after 22.05 do.

    Attributes
    ----------
    factors : dict of tuple of (str, str) to float
        Of (account, user).
    levels : list of tuple of (Association, int, float)
        Association, depth and level, in the order of the walk.

    Examples
    --------
    >>> tree = Accounts([(Association("root"), ""), (Association("a"), "root"), (Association("a", "u"), "a"),
    ...                  (Association("a", "v"), "a")])
    >>> tree.find("a", "u").usage = tree.find("a").usage = tree.root.usage = 5.0
    >>> FairTree(tree).factors
    {('a', 'v'): 1.0, ('a', 'u'): 0.5}
    """

    def __init__(self, accounts: Accounts, *, merge_tied: bool = False) -> None:
        self.factors: dict[tuple[str, str], float] = {}
        self.levels: list[tuple[Association, int, float]] = []
        self._merge = merge_tied
        self._count = len(accounts.users())
        self._rank = self._next = self._count
        if self._count:
            self._walk([accounts.root], 1, False)

    def _walk(self, parents: list[Association], depth: int, tied_above: bool) -> None:
        """Rank all below some accounts: one, or several that are tied and merged."""
        found = []
        for parent in parents:
            total = shares_of(parent)
            found += [(level_of(child, parent, total), child) for child in members(parent)]
        # Sorting is stable; at equal levels users go before accounts.
        found.sort(key=lambda pair: (-pair[0], not pair[1].user))
        at = 0
        while at < len(found):
            level, child = found[at]
            tied = tied_above if at == 0 else level == found[at - 1][0]
            group = [child]
            if self._merge and not child.user:
                while at + len(group) < len(found) and found[at + len(group)][0] == level:
                    group.append(found[at + len(group)][1])
            self.levels += [(each, depth, level) for each in group]
            if child.user:
                if not tied:
                    self._rank = self._next
                self.factors[child.account, child.user] = self._rank / self._count
                self._next -= 1
            else:
                self._walk(group, depth + 1, tied)
            at += len(group)


class Classic:
    """The formula of ``PriorityFlags=NO_FAIR_TREE``.

    The values of accounts are computed when a calculation period begins, before its decay; that of a user when it is
    first needed in a period.

    Parameters
    ----------
    accounts : Accounts
        The tree, with its present usage.
    dampening : float
        ``FairShareDampeningFactor``.

    Examples
    --------
    >>> tree = Accounts([(Association("root"), ""), (Association("a"), "root"), (Association("a", "u"), "a")])
    >>> Classic(tree).factor(tree.find("a", "u"))
    1.0
    """

    def __init__(self, accounts: Accounts, dampening: float = 1.0) -> None:
        self._accounts, self._dampening = accounts, dampening
        self._effective: dict[Association, float] = {}
        self._totals = {
            parent: sum(each.shares for each in parent.children if each.shares != OF_PARENT)
            for parent in accounts.root.all()
        }
        self.begin_period()

    def begin_period(self) -> None:
        """Compute the values of accounts, and drop those of users."""
        self._effective = {}
        for each in self._accounts.root.all():
            if not each.user and each.parent is not None:
                self._effective[each] = self._compute(each)

    def effective(self, association: Association) -> float:
        """Effective usage of an association: the one of this period."""
        if association not in self._effective:
            self._effective[association] = self._compute(association)
        return self._effective[association]

    def _compute(self, association: Association) -> float:
        root, parent = self._accounts.root, association.parent
        own = association.usage / root.usage if root.usage else 0.0
        if parent is None or parent is root:
            return own
        share = self._share(association)
        return own + (self._effective[parent] - own) * share

    def _share(self, association: Association) -> float:
        """Its shares over those of its level."""
        parent = association.parent
        if parent is None:
            return 1.0
        total = self._totals[parent]
        return association.shares / total if total else 0.0

    def factor(self, association: Association) -> float:
        """The factor of fair share of a user."""
        shares = math.prod(self._share(each) for each in association.path())
        if shares <= 0.0:
            return 0.0
        return float(2.0 ** (-(self.effective(association) / shares) / self._dampening))
