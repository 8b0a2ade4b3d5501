"""Random sequences of the verbs of a caller that owns time: simulation, reference engine and server are equal."""

import json

import numpy as np
import pytest
from simulation.test_live_fuzz import check_drawn, live_run, live_run_on_a_site

from faultsim.cli.serve import Server
from faultsim.simulation.job_ids import JobIds
from helpers.messages import check_answer
from helpers.soaking import MARKS, keep, scaled

pytestmark = MARKS
SEQUENCES = 10_000
INFINITY = float("inf")
#: Verb -> names of what it takes by position, as messages name it.
VERBS = {
    "finish": ("id",), "extend": ("id", "seconds"), "fail": ("node", "downtime"), "down": ("node",), "up": ("node",),
    "withdraw": ("id",), "hold": ("id",), "release": ("id",), "drain": ("node",), "resume": ("node",), "foresee": (),
}  # fmt: skip


class Served:
    """A simulation that is told by messages; all else is looked up in the server."""

    def __init__(self, sim, asked):
        self._asked = asked
        self._server = Server(sim, live=True)  # `decides` would turn verbs into acts of a decision

    def __getattr__(self, name):
        if name in VERBS:
            return lambda *args, **given: self._tell(name, args, given)
        return getattr(self._server.sim, name)

    def _tell(self, name, args, given):
        said = dict(zip(VERBS[name], args, strict=True)) | {key: np.asarray(x).tolist() for key, x in given.items()}
        ids = self._server.sim._execution._told["id"].tolist()
        if "id" in said:
            said["id"] = ids[said["id"]]
        if said.get("node") == [] or any(x in (INFINITY, -INFINITY) for x in args):  # of which there are no messages
            return getattr(self._server.sim, name)(*args, **given)
        self._server._ids = JobIds(ids)  # jobs came as logs, with columns that messages have not
        message = json.dumps({"request": name.upper(), **said})
        answer = self._server.answer(message.encode())
        check_answer(message, answer)
        if answer != {"ok": True}:
            getattr(self._server.sim, name)(*args, **given)  # raises the same
            raise AssertionError((message, answer))
        self._asked[name] = self._asked.get(name, 0) + 1
        return None


@pytest.mark.parametrize("drawn", [live_run, live_run_on_a_site])
def test_random_sequences_of_verbs(drawn):
    sequences, asked = scaled(SEQUENCES // 2), {}
    for seed in range(sequences):
        check_drawn(drawn, seed, told=lambda sim: Served(sim, asked))
    kind = "sites" if drawn is live_run_on_a_site else "machines"
    what = f"Random sequences of the verbs of a caller that owns time, on {kind}: simulation, reference, server agree."
    keep(
        f"verbs-{kind}",
        what,
        {"sequences": sequences, "messages": sum(asked.values()), "differences": 0},
        f"test_live_verbs.py -k {drawn.__name__}",
    )
