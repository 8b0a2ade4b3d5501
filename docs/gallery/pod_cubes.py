"""
The cubes of a pod
==================

A TPU v4 pod at its fullest instant: a colour is one slice, and a cube with a frame has a host that is down. With
optical switches the cubes of a slice need not be next to each other.
"""

import numpy as np

import faultsim as fs
from faultsim.plot import plot_occupancy, save

log = fs.synthetic.sdsc_like(300, rng=3)
pod = fs.Pod.tpu_v4()
jobs = pod.jobs(log, chips=2 ** np.random.default_rng(4).integers(4, 11, len(log))).with_load(0.8, nodes=pod.nodes)
failures = fs.synthetic.renewal_failures(pod.nodes, float(jobs.submit[-1]), "60d", "12h", rng=2)
result = fs.simulate(jobs, pod, failures=failures, record=True)
save(plot_occupancy(result), "pod_cubes.png")
