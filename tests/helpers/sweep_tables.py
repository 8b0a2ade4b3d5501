"""Tables of sweeps that never ran."""

import numpy as np

from faultsim.sweep.axis_columns import as_column
from faultsim.sweep.table import SweepTable


def table(values, runs=None):
    """A table with an axis ``policy`` and a column ``mean_wait`` of shape (policies, replicates)."""
    values = np.asarray(values, float)
    policies, replicates = values.shape
    names = [f"{p}/{r}" for p in range(policies) for r in range(replicates)] if runs is None else runs
    return SweepTable(
        {
            "policy": as_column(["abc"[p] for p in range(policies) for _ in range(replicates)]),
            "replicate": np.tile(np.arange(replicates), policies),
            "mean_wait": values.ravel(),
            "run": np.array(names),
        },
        axes=("policy",),
    )
