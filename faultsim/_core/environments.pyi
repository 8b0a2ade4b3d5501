from faultsim._core.team import Team
from faultsim.arrays import LongIntegers, Values

class PickJobs(Team):
    def __init__(
        self,
        template: object,
        columns: tuple[Values, ...],
        out: dict[str, Values],
        *,
        slots: int,
        preset: int,
        metric: int,
        autoreset: int,
        telescoping: bool,
        threads: int = 1,
    ) -> None: ...
    def reset(self, which: LongIntegers) -> bool: ...
    def step(self, actions: LongIntegers) -> tuple[bool, bool] | None: ...
    def used_up(self) -> list[int]: ...
    def drawn(self, i: int) -> None: ...
    def translate(self, code: int) -> None: ...
