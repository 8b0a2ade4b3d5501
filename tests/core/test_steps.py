"""The plan of conservative backfilling on a torus, a step function of masks, equals a list of what holds nodes."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from faultsim._core.scheduling.steps import Steps

TIMES = st.integers(0, 12)
NODES = st.integers(1, 2**10 - 1)


def taken(held, t):
    """The nodes taken at t."""
    mask = 0
    for begin, end, nodes in held:
        mask |= nodes if begin <= t < end else 0
    return mask


def agree(steps, held, always, now):
    shown, last = steps.show()
    begins = [at for at, *_ in shown]
    assert begins == sorted(set(begins))
    assert max(stamp for *_, stamp in shown) <= last
    for (at, mask, left, _), after in zip(shown, [*begins[1:], math.inf], strict=True):
        for t in (max(at, now), max(at, now, min(after, 99) - 0.5)):
            if t < after:
                assert mask == taken(held, t) | always
        assert left == 64 - mask.bit_count()
    edges = {t for begin, end, _ in held for t in (begin, end) if now < t < math.inf}
    assert {at for at in begins if at > now} == edges
    counts = [sum(begin == at for begin, *_ in held) for at in begins]
    assert steps.begins()[1:] == counts[1:]
    for (_, before, *_), (_, mask, *_), count in zip(shown, shown[1:], counts[1:], strict=False):
        assert count > 0 or not mask & ~before


@given(st.lists(st.tuples(TIMES, NODES), max_size=6), NODES, st.data())
@settings(max_examples=150, deadline=None)
def test_steps_are_what_holds_nodes(running, always, data):
    """From what runs, steps change as things are taken and given back, and time goes on."""
    steps, held, now, free = Steps(), [], 0.0, ~always
    for end, nodes in running:
        if end > 0 and nodes & free:
            held.append((0.0, float(end), nodes & free))
            free &= ~nodes
    steps.begin(0.0, always)
    for end in sorted({end for _, end, _ in held}, reverse=True):
        same = [nodes for _, e, nodes in held if e == end]
        steps.before(0.0, end, len(same), sum(same))
    agree(steps, held, always, now)
    for _ in range(data.draw(st.integers(0, 12))):
        before = {at: (mask, stamp) for at, mask, _, stamp in steps.show()[0]}
        what = data.draw(st.sampled_from(["take", "take", "give", "time"]))
        if what == "time":
            now += data.draw(st.integers(0, 3))
            held = [item for item in held if item[1] > now]
            steps.forget(now)
        elif what == "give" and held:
            item = held.pop(data.draw(st.integers(0, len(held) - 1)))
            steps.give(now, *item)
        elif what == "take":
            begin = now + data.draw(TIMES)
            end = data.draw(st.sampled_from([math.inf, begin + 1 + data.draw(TIMES)]))
            nodes = data.draw(NODES) & ~always
            for b, e, n in held:
                nodes &= ~n if b < end and begin < e else -1
            if nodes:
                held.append((begin, end, nodes))
                steps.take(now, *held[-1])
        agree(steps, held, always, now)
        for at, mask, _, stamp in steps.show()[0]:  # what was changed tells so
            if at in before and mask != before[at][0]:
                assert stamp > before[at][1]
