"""
A pod that fails
================

Three weeks of a TPU v4 pod: with optical switches any healthy cubes make a slice, with wires a host that is down takes
a block of them away, and the queue grows.
"""

import numpy as np

import faultsim as fs
from faultsim.plot import plot_queue, save

log = fs.synthetic.sdsc_like(1500, rng=3)
chips = 2 ** np.random.default_rng(4).integers(2, 12, len(log))
results = {}
for wiring in ("ocs", "static"):
    pod = fs.Pod.tpu_v4(wiring)
    jobs = pod.jobs(log, chips=chips).with_load(0.6, nodes=pod.nodes)
    span = float(jobs.submit[-1])
    failures = fs.synthetic.renewal_failures(pod.nodes, span, "60d", "6h", rng=2)
    results[wiring] = fs.simulate(jobs, pod, failures=failures, checkpointing="periodic:1h,1m", record=True)
save(plot_queue(results), "pod.png")
