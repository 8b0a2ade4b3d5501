"""Environments for reinforcement learning, with the interface of Gymnasium (``pip install "faultsim[rl]"``).

Importing this module registers them, so that ``gymnasium.make("faultsim/PickJob-v0")`` finds them;
``gymnasium.make("faultsim.rl:faultsim/PickJob-v0")`` imports it first.
"""

from faultsim import checks
from faultsim.entries import guard as _guard

gymnasium = checks.extra("gymnasium", "rl", "faultsim.rl")

from faultsim.rl.observations import OBSERVATIONS, Observation  # noqa: E402 (an error by name comes first)
from faultsim.rl.pick_box import PickBox  # noqa: E402
from faultsim.rl.pick_job import PickJob  # noqa: E402
from faultsim.rl.respond import Respond  # noqa: E402
from faultsim.rl.rewards import REWARDS, Reward  # noqa: E402
from faultsim.rl.vector import VectorPickBox, VectorPickJob, VectorRespond  # noqa: E402

__all__ = [
    "OBSERVATIONS",
    "REWARDS",
    "Observation",
    "PickBox",
    "PickJob",
    "Respond",
    "Reward",
    "VectorPickBox",
    "VectorPickJob",
    "VectorRespond",
]

for _class, _vector in ((PickJob, VectorPickJob), (PickBox, VectorPickBox), (Respond, VectorRespond)):
    _name = f"faultsim/{_class.__name__}-v0"
    if _name not in gymnasium.registry:
        gymnasium.register(
            _name, entry_point=f"faultsim.rl:{_class.__name__}", vector_entry_point=f"faultsim.rl:{_vector.__name__}"
        )

checks.show_types_of(globals())
_guard(globals())
