"""What small pods can hold, by trying every place in every state of their hosts."""

from faultsim.reference.pod.slices import Slices


def twin(pod):
    sizes = [each.hosts for each in pod.slices if not each.cubes]
    return Slices(pod.cubes, pod.hosts, sizes, pod.wiring, pod.aligned)


def in_cubes(pod, of):
    return tuple(extent // pod.cube[0] for extent in of.shape) if of.cubes else None


def fit(slices, busy, wanted):
    """Whether all of these sizes and shapes have places at once, by trying them."""
    if not wanted:
        return True
    (size, shape), *rest = wanted
    return any(fit(slices, busy | place.mask, rest) for place in slices.free_of_size(busy, size, shape))


def chance_by_all_states(pod, wanted, a):
    """The chance that all are up, and for each number of a single slice that so many are."""
    slices = twin(pod)
    asked = sorted(
        ((each.slice.hosts, in_cubes(pod, each.slice)) for each in wanted for _ in range(each.number)), reverse=True
    )
    found = 0.0
    for down in range(1 << pod.nodes):
        if fit(slices, down, asked):
            failed = down.bit_count()
            found += a ** (pod.nodes - failed) * (1 - a) ** failed
    return found
