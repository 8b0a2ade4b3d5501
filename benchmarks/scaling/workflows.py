"""Workflows on more and more nodes, beside the smallest machine."""

import faultsim as fs
from scaling.row import Row, cpu

SMALLEST = 64


def took(flows, nodes):
    return cpu(lambda: fs.simulate_workflows(flows, fs.Resources(nodes)))


def measure(nodes):
    flows = [fs.synthetic.random_dag(1_000, rng=number) for number in range(8)]
    return took(flows, nodes), took(flows, SMALLEST), sum(map(len, flows))


ROW = Row(
    title="Workflows on many nodes",
    grows="nodes",
    sizes=(SMALLEST, 1_024, 4_096, 16_384),
    measure=measure,
    run="8 workflows of 1,000 jobs",
    against=f"on {SMALLEST} nodes",
    reach="at most 5 times",
)
