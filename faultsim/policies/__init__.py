"""Policies: frozen dataclasses that define the decisions of a run; each lowers to a plain dict for the engine.

`faultsim.policies.registry` lists them all.  A new policy is a class in one of these modules and a row there; what a
module lists in `__all__` is a name of this package too.
"""

from faultsim import checks as _checks
from faultsim.policies.base import Policy as Policy
from faultsim.policies.checkpointing import *
from faultsim.policies.compiled import *
from faultsim.policies.compiled_tables import *
from faultsim.policies.key import *
from faultsim.policies.migration import *
from faultsim.policies.orders import *
from faultsim.policies.placement import *
from faultsim.policies.predictions import *
from faultsim.policies.predictors import *
from faultsim.policies.queueing import *
from faultsim.policies.recovery import *
from faultsim.policies.registry import POLICIES as POLICIES
from faultsim.policies.registry import WRITTEN as _WRITTEN
from faultsim.policies.registry import PolicyRow as PolicyRow
from faultsim.policies.registry import from_lowered as from_lowered
from faultsim.policies.registry import known_policies as known_policies
from faultsim.policies.rescheduling import *
from faultsim.policies.slurm import *
from faultsim.policies.slurm_torus import *
from faultsim.policies.text import parse_policy as parse_policy
from faultsim.policies.workflows import *

# `help()` shows types without the checks that the fields of a policy have.
for _row in (*POLICIES, *_WRITTEN):
    if "__init__" in vars(_row.cls):
        _checks.show_types(_row.cls.__init__)
