"""The reference engine behind the calls of the compiled one, for ``faultsim.simulate(..., engine="reference")``."""

import math
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from faultsim.errors import NotAvailableError
from faultsim.reference.decisions import Decision
from faultsim.reference.engine import Run, simulate


class ReferenceEngine:
    """The plain Python engine behind the same calls; it runs a whole log at once, or from decision to decision."""

    n_done = n_handled = 0
    acts: list[Any] | None = None
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
        self._run: Run | None = None

    def advance(self, until: float = math.inf) -> Decision | None:
        """To the next decision from outside."""
        if self._run is None:
            self._run = Run(*self._arguments)
        decision = self._run.advance(until)
        state = self._run.state
        self.n_done, self.now = len(state.done), state.now
        if self.n_done == len(state.jobs):
            self._output = self._run.output()
        return decision

    def run(self, budget: int, until: float = math.inf) -> str:
        if until != math.inf or self._run is not None:
            self._whole()
        self._output = simulate(*self._arguments)
        self.n_done, self.now = len(self._arguments[1]), self._output["makespan_end"]
        return "done"

    def output(self) -> dict[str, Any]:
        return self._output

    def output_so_far(self) -> dict[str, Any]:
        self._run = self._run or Run(*self._arguments)
        return self._run.output_so_far()

    def _whole(self, *_: object) -> NoReturn:
        raise NotAvailableError('the reference engine runs a whole log at once; step with engine="core"')

    step = copy = verify = queue = running = decision = next_time = _whole

    @property
    def free(self) -> int:
        return int(self._whole())
