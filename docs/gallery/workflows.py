"""
Workflows on nodes that fail
============================

Three random task graphs on eight nodes; the scheduler FLAW places jobs where they can finish before the next predicted
failure.
"""

import faultsim as fs
from faultsim.plot import plot_workflow, save

graphs = [fs.synthetic.random_dag(40, rng=seed).submitted(100.0 * seed) for seed in range(3)]
failures = fs.synthetic.exponential_failures(8, 20_000.0, mtbf=1500, downtime=300, any_rate=True, rng=1)
result = fs.simulate_workflows(
    graphs, fs.Resources(8), scheduler=fs.Flaw(), predictor=fs.Perfect(), failures=failures, record=True
)
save(plot_workflow(result), "workflows.png")
print(result)
