"""Which nodes of a site a job gets (model.md#site-placement)."""

from collections.abc import Callable, Sequence

from faultsim.reference.capacity import Amounts
from faultsim.reference.job import Job
from faultsim.reference.scheduling.placement import Window
from faultsim.reference.site.nodes import Ask, Grant, Nodes
from faultsim.reference.state import State

#: Node -> the cores that it can give.
Offers = dict[int, int]
Free = Sequence[Amounts | None]
Rule = Callable[[State, Ask, Offers, int, Free, Window], Offers]


def offers(nodes: Nodes, ask: Ask, free: Free) -> Offers:
    """The nodes that can serve a job, ascending."""
    found = {node: nodes.available(ask, node, left) for node, left in enumerate(free)}
    return {node: cores for node, cores in found.items() if cores > 0}


def choose(state: State, job: Job, free: Free, window: Window) -> Grant | None:
    """The nodes that the placement rule takes, and what of each; None: the job has no room."""
    ask, nodes = job.ask, state.site
    if not nodes.fits(ask, free):
        return None
    return granted(nodes, ask, rule_of(state)(state, ask, offers(nodes, ask, free), ask.needed, free, window))


def choose_beside(state: State, job: Job, free: Free, window: Window, head: Ask, head_free: Free) -> Grant | None:
    """The same, of what leaves room for the head, in what is free for it.

    model.md#site-easy: "The placement rule chooses among all nodes. If the head then has no room, the job takes nodes
    where its share costs the head nothing; if these do not suffice, all of them, and others by what they cost, the
    least first; the rule chooses among those of equal cost. A job of any number of nodes takes of each what costs the
    head nothing."
    """
    ask, nodes = job.ask, state.site
    found = choose(state, job, free, window)
    slack = nodes.all_served(head, head_free) - head.needed
    if found is None or cost(nodes, head, head_free, found) <= slack:
        return found
    rule, there = rule_of(state), offers(nodes, ask, free)
    if not ask.nodes:
        harmless = {node: without_cost(nodes, ask, node, cores, head, head_free) for node, cores in there.items()}
        harmless = {node: cores for node, cores in harmless.items() if cores > 0}
        if sum(harmless.values()) < ask.cores:
            return None
        return granted(nodes, ask, rule(state, ask, harmless, ask.cores, free, window))
    of_cost: dict[int, Offers] = {}
    for node, cores in there.items():
        share = {node: nodes.share(ask, node, ask.cores)}
        of_cost.setdefault(cost(nodes, head, head_free, share), {})[node] = cores
    taken: Offers = {}
    for _, group in sorted(of_cost.items()):
        count = min(len(group), ask.nodes - len(taken))
        taken |= rule(state, ask, group, count, free, window) if count else {}
    found = granted(nodes, ask, taken)
    return found if cost(nodes, head, head_free, found) <= slack else None


def granted(nodes: Nodes, ask: Ask, taken: Offers) -> Grant:
    """The amounts on each node."""
    return {node: nodes.share(ask, node, cores) for node, cores in sorted(taken.items())}


def cost(nodes: Nodes, head: Ask, head_free: Free, grant: Grant) -> int:
    """By how much of what the head needs fewer nodes, or cores, serve it beside a grant."""
    return sum(
        nodes.served(head, node, left) - nodes.served(head, node, rest(left, share))
        for node, share in grant.items()
        if (left := head_free[node]) is not None
    )


def rest(left: Amounts, share: Amounts) -> Amounts | None:
    """What a share leaves; None where it is more than what is free, as it may be at another time than its own."""
    return left.plus(share, -1) if share.within(left) else None


def without_cost(nodes: Nodes, ask: Ask, node: int, cores: int, head: Ask, head_free: Free) -> int:
    """The most cores, up to `cores`, that a job can take of a node at no cost of the head."""
    while cores > 0 and cost(nodes, head, head_free, {node: nodes.share(ask, node, cores)}) > 0:
        cores = 0 if ask.exclusive else cores - 1
    return cores


def rule_of(state: State) -> Rule:
    """The placement rule."""
    rule: Rule = state.rules["placement"]
    return rule


# -- the rules: `count` nodes with `ask.cores` on each, or `count` cores in all, of those that are offered


def in_order(ask: Ask, offered: Offers, count: int, key: Callable[[int], float | tuple[float, ...]]) -> Offers:
    """ "the first nodes in the order of the rule, each with all that it can give until there are enough" """
    taken: Offers = {}
    for node in sorted(offered, key=key):
        if count <= 0:
            break
        taken[node] = ask.cores if ask.nodes else min(offered[node], count)
        count -= 1 if ask.nodes else taken[node]
    return taken


def free_of(free: Free, node: int) -> Amounts:
    """What is free of a node that is offered."""
    found = free[node]
    assert found is not None
    return found


def first_fit(state: State, ask: Ask, offered: Offers, count: int, free: Free, window: Window) -> Offers:
    return in_order(ask, offered, count, lambda node: node)


def best_fit(state: State, ask: Ask, offered: Offers, count: int, free: Free, window: Window) -> Offers:
    """ "the least free cores, then the least free memory, then the fewest free GPUs" """
    return in_order(ask, offered, count, lambda node: (*free_of(free, node), node))


def least_loaded(state: State, ask: Ask, offered: Offers, count: int, free: Free, window: Window) -> Offers:
    """ "the largest share of free cores" """
    has = state.site.amounts
    return in_order(ask, offered, count, lambda node: (-(free_of(free, node).cores / has[node].cores), node))


def least_failures_first(state: State, ask: Ask, offered: Offers, count: int, free: Free, window: Window) -> Offers:
    return in_order(ask, offered, count, lambda node: (state.failures_of[node], node))


def safest_first(state: State, ask: Ask, offered: Offers, count: int, free: Free, window: Window) -> Offers:
    failing = state.world.failing(*window)
    return in_order(ask, offered, count, lambda node: (node in failing, node))


def consecutive_best_fit(state: State, ask: Ask, offered: Offers, count: int, free: Free, window: Window) -> Offers:
    """model.md#consecutive-best-fit, as Slurm chooses nodes.

    "Nodes that can serve the job are cut into *runs*: of consecutive numbers and equal weight. [...] A run is
    sufficient if it has as many cores and nodes as the job still needs."
    """
    weight = state.site.weight
    if ask.gpus and ask.nodes == 1:
        offered = dict.fromkeys(
            offered, ask.cores
        )  # "For a job of one node with GPUs all nodes count as equally full."
    nodes, cores = (count, count * ask.cores) if ask.nodes else (1, count)
    runs: list[list[int]] = []
    for node in sorted(offered):
        if runs and runs[-1][-1] == node - 1 and weight[node] == weight[node - 1]:
            runs[-1].append(node)
        else:
            runs.append([node])
    taken: Offers = {}
    while cores > 0 and runs:
        run = best_run(runs, offered, weight, nodes, cores)
        runs.remove(run)
        if nodes <= 1:
            alone = [node for node in run if offered[node] >= cores]
            if alone:  # "the node with the fewest cores that suffice, alone"
                run = [min(alone, key=lambda node: (offered[node], node))]
        for node in run:
            if cores <= 0 and nodes <= 0:
                break
            taken[node] = ask.cores if ask.nodes else min(offered[node], cores)
            cores -= taken[node]
            nodes -= 1
    return taken


def best_run(runs: list[list[int]], offered: Offers, weight: list[int], nodes: int, cores: int) -> list[int]:
    """ "A run replaces the best one so far if its weight is smaller or, at equal weights, if it is sufficient and the
    best one is not, if it is sufficient and has fewer cores, or if it is insufficient and has more." """
    best = runs[0]
    for run in runs[1:]:
        a, b = weight[run[0]], weight[best[0]]
        mine, other = (sum(offered[node] for node in each) for each in (run, best))
        enough = mine >= cores and len(run) >= nodes
        best_enough = other >= cores and len(best) >= nodes
        if a < b or (a == b and (mine < other or not best_enough if enough else mine > other)):
            best = run
    return best
