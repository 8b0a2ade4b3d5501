"""The reference engine behind the calls of the compiled one, for ``faultsim.simulate(..., engine="reference")``."""

import math
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from faultsim.errors import NotAvailableError
from faultsim.reference.engine import simulate


class ReferenceEngine:
    """The plain Python engine behind the same calls; it runs a whole log at once."""

    n_done = 0
    now = 0.0

    def __init__(
        self,
        settings: dict[str, Any],
        submit: NDArray[np.float64],
        runtime: NDArray[np.float64],
        estimate: NDArray[np.float64],
        size: NDArray[np.int32],
        world: dict[str, Any] | None = None,
    ) -> None:
        self._arguments = (settings, submit, runtime, estimate, size, world)
        self._output: dict[str, Any] = {}

    def run(self, budget: int, until: float = math.inf) -> str:
        if until != math.inf:
            self._whole()
        self._output = simulate(*self._arguments)
        self.n_done, self.now = len(self._arguments[1]), self._output["makespan_end"]
        return "done"

    def output(self) -> dict[str, Any]:
        return self._output

    def _whole(self, *_: object) -> NoReturn:
        raise NotAvailableError('the reference engine runs a whole log at once; step with engine="core"')

    step = copy = verify = queue = running = _whole

    @property
    def free(self) -> int:
        return int(self._whole())
