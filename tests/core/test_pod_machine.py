"""The compiled slices of a pod, against the plain ones."""

import itertools
import random

import pytest

from faultsim._core.pod.machine_face import PodMachine
from faultsim.machines.pod import Pod
from faultsim.reference.pod.slices import Slices

PODS = [
    Pod((1, 2, 3), (2, 2, 2), 4),
    Pod((2, 2, 2), (4, 4, 4), 16),
    Pod((1, 1, 5), (4, 4, 4), 64),
    Pod((2, 2, 3), (3, 3, 3), 27, largest=7),  # no slices inside, hosts across the ends of words
    Pod((2, 3, 2), (2, 2, 2), 8, "static"),
    Pod((4, 2, 1), (6, 6, 6), 12, "static"),
    Pod((2, 2, 3), (2, 2, 2), 2, "static", aligned=False),
    Pod((3, 1, 3), (4, 4, 4), 16, "static", aligned=False, largest=6),
    Pod.tpu_v4(),
    Pod.tpu_v4("static"),
    Pod.tpu_v5p(),
    Pod.tpu7x("static"),
    Pod((2, 2, 2), (4, 4, 4), 16, spares=3),
    Pod((1, 3, 3), (2, 2, 2), 4, largest=5, spares=2),
    Pod((2, 3, 2), (2, 2, 2), 8, "static", spares=4),
    Pod((2, 2, 3), (2, 2, 2), 2, "static", aligned=False, spares=1),
    Pod.tpu_v4(spares=4),
]
NAMES = [
    f"{'x'.join(map(str, p.cubes))}-{p.hosts}-{p.wiring}{'' if p.aligned else '-any'}{f'-{p.spares}' * (p.spares > 0)}"
    for p in PODS
]


def both(pod, jobs=0):
    inside = [each.hosts for each in pod.slices if each.cubes == 0]
    return PodMachine(pod.lower(), jobs), Slices(
        pod.cubes, pod.hosts, inside, pod.wiring, pod.aligned, pod.largest or 0, pod.spares
    )


def some_hosts(rng, slices):
    """Whole cubes, slices inside cubes and a few single hosts."""
    share = rng.random()
    busy = sum(slices.cube_mask(cube) for cube in range(slices.n_cubes) if rng.random() < share)
    for _ in range(rng.randrange(4)):
        size = rng.choice([*slices.inside, slices.hosts])
        first = rng.randrange(slices.hosts // size) * size
        busy |= slices.inside_of(rng.randrange(slices.n_cubes), first, size).mask
    for _ in range(rng.randrange(3)):
        busy |= 1 << rng.randrange(slices.n_cubes * slices.hosts)
    return busy


@pytest.mark.parametrize("pod", PODS, ids=NAMES)
def test_sizes(pod):
    machine, slices = both(pod)
    assert slices.sizes == sorted({each.hosts for each in pod.slices})
    for size in range(pod.nodes + 1):
        assert machine.next_size(size) == next((q for q in slices.sizes if q >= size), 0)
    assert machine.next_size(pod.nodes + 1) == 0


@pytest.mark.parametrize("pod", PODS, ids=NAMES)
def test_the_same_places_are_found_and_chosen(pod):
    """Without conditions, with forbidden hosts, and with a slice that must remain at a later time."""
    rng = random.Random(pod.nodes)
    machine, slices = both(pod)
    if pod.spares:
        slices.down = sum({1 << rng.randrange(pod.nodes) for _ in range(3)}) | slices.cube_mask(rng.randrange(2))
        for node in range(pod.nodes):
            if slices.down >> node & 1:
                machine.block(node)
    chosen = 0
    for _ in range(400 if pod.nodes < 100 else 100 if pod.nodes < 400 else 8):
        busy, forbidden, later = (some_hosts(rng, slices) for _ in range(3))
        if rng.random() < 0.5:
            later |= busy & some_hosts(rng, slices)
        if pod.spares:  # what is free is in use later only by who has started since
            busy |= slices.down
            later &= busy
        size, need = rng.choice(slices.sizes), rng.randrange(1, pod.nodes + 1)
        if rng.random() < 0.5:  # most of the sizes of a large pod are large
            size, need = rng.choice(slices.sizes[:8]), rng.choice(slices.sizes[:8])
        first = slices.choose(busy, size)
        free = [first] if first else []
        if pod.wiring == "static" or size < pod.hosts:
            free = slices.free_of_size(busy, size)
        assert machine.ask(busy, size) == (first, free)
        assert machine.free_for(busy, size) == (bool(free), slices.fits(busy, size), slices.largest_free(busy))
        assert machine.ask(busy, size, forbidden)[0] == slices.choose(busy, size, None, forbidden)
        place = slices.choose(busy, size, None, forbidden, later, need)
        found, listed = machine.ask(busy, size, forbidden, later, need)
        assert found == place
        assert listed[:1] == ([] if place is None else [place])
        if pod.wiring == "static" or size < pod.hosts:
            clear = [p for p in free if not p.mask & forbidden]
            some = clear if len(clear) < 50 else rng.sample(clear, 10)  # the plain slices take long
            assert [p for p in some if p in listed] == [p for p in some if slices.fits(later | p.mask, need)]
            assert [p for p in clear if p in listed] == listed
        chosen += place is not None
    assert chosen > 0


@pytest.mark.parametrize("spares", [1, 2, 3])
def test_cubes_beside_a_slice_inside_a_cube(spares):
    """Of all sets of free cubes, the first that leaves a slice inside a cube at the later time, by trying them all.

    Cubes that are free now may be in use then, in part or whole, by jobs that have reserved them.
    """
    pod, rng, others = Pod((1, 1, 6), (2, 2, 2), 4, spares=spares), random.Random(spares), 0
    machine, slices = both(pod)
    for _ in range(3_000):
        busy = later = 0
        for cube in range(6):
            whole, half = slices.cube_mask(cube), slices.inside_of(cube, rng.randrange(2) * 2, 2).mask
            busy |= rng.choice([whole, half, 0, 0])
            later |= rng.choice([whole, half, slices.inside_of(cube, rng.randrange(4), 1).mask, 0, 0])
        need, n = rng.choice([1, 2]), rng.randrange(1, 4)
        free = [cube for cube in range(6) if not busy & slices.cube_mask(cube)]
        sets = [sum(map(slices.cube_mask, some)) for some in itertools.combinations(free, n)]
        sets = sets if slices.has(busy, 4 * n) else []
        expected = next((mask for mask in sets if slices.fits(later | mask, need)), None)
        found, _ = machine.ask(busy, 4 * n, None, later, need)
        assert (found and found[3]) == expected
        others += expected is not None and expected != sets[0]
    assert others > 0


@pytest.mark.parametrize(
    "pod",
    [
        Pod((1, 1, 3), (2, 2, 2), 4),
        Pod((1, 1, 4), (2, 2, 2), 2, largest=3),
        Pod((1, 2, 2), (2, 2, 2), 2, "static"),
        Pod((1, 1, 5), (2, 2, 2), 2, "static", aligned=False),
        Pod((2, 2, 2), (1, 1, 1), 1, "static"),
        Pod((1, 1, 1), (2, 2, 2), 8),
    ],
    ids=str,
)
def test_slices_are_known_by_their_hosts(pod):
    """Of all sets of hosts, those that are a slice, and where it is; in any order."""
    rng = random.Random(3)
    machine, slices = both(pod)
    there = {place.mask: place for size in slices.sizes for place in slices.free_of_size(0, size)}
    for mask in range(1, 1 << pod.nodes):
        nodes = [node for node in range(pod.nodes) if mask >> node & 1]
        rng.shuffle(nodes)
        assert machine.place_with(nodes) == there.get(mask)


@pytest.mark.parametrize("pod", PODS, ids=NAMES)
def test_jobs_that_come_and_go(pod):
    """Places, failures and repairs, told to both; the occupancy is the same all the time, and a copy goes on alone."""
    rng = random.Random(7)
    machine, slices = both(pod, jobs=300)
    held, down, busy = {}, set(), 0
    for job in range(300 if pod.nodes < 400 else 60):
        size = rng.choice(slices.sizes[:6])
        place = slices.choose(busy, size)
        assert machine.take(job, size) == place
        if place is not None:
            held[job] = place
            busy |= place.mask
        if held and rng.random() < 0.5:
            gone = rng.choice(sorted(held))
            machine.give(gone)
            busy &= ~held.pop(gone).mask
        node = rng.randrange(pod.nodes)
        if node in down:
            machine.unblock(node)
            down.remove(node)
            busy &= ~(1 << node)
            slices.down ^= 1 << node
        elif not busy >> node & 1 and rng.random() < 0.2:
            machine.block(node)
            down.add(node)
            busy |= 1 << node
            slices.down ^= 1 << node
        assert machine.busy == busy
    other = machine.twin()
    for job, place in held.items():
        mask = some_hosts(rng, slices)
        nodes = [node for node in range(pod.nodes) if place.mask >> node & 1]
        joined = mask if mask & place.mask else mask | place.mask
        expected = nodes, (mask & place.mask).bit_count(), not mask & place.mask, joined
        assert machine.of_job(job, mask) == other.of_job(job, mask) == expected
    for job in held:
        other.give(job)
    for node in down:
        other.unblock(node)
    assert other.busy == 0
    assert machine.busy == busy


def test_a_pod_of_too_many_cubes_or_hosts_is_refused():
    with pytest.raises(ValueError, match="160 cubes of 64 hosts"):
        PodMachine(Pod((1, 7, 23)).lower(), 0)
    with pytest.raises(ValueError, match="160 cubes of 64 hosts"):
        PodMachine(Pod(cube=(8, 8, 8), hosts=128).lower(), 0)
    assert PodMachine(Pod((4, 5, 8)).lower(), 0).free_for(0, 2560) == (True, True, 2560)
