"""Progress display: a bar on a terminal with rich, plain lines on a terminal without it, or a callable."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from faultsim.errors import OptionError

#: Called with (done, total, now): jobs done, total jobs, simulated time in seconds.
Progress = Callable[[int, int, float], object]

#: Seconds between two plain lines.
LINE_INTERVAL = 10.0


@contextmanager
def reporting(progress: "bool | Progress", what: str) -> Iterator[Progress | None]:
    """A callable to report to while the block runs, or None if not needed.

    ``True`` shows something only if stderr is a terminal.

    Examples
    --------
    >>> with reporting(lambda done, total, now: print(done, "of", total), "jobs") as report:
    ...     report(1, 2, 0.0)
    1 of 2
    """
    if progress is False or progress is None:
        yield None
    elif callable(progress):
        yield progress
    elif progress is not True:
        raise OptionError(f"progress must be True, False or a callable(done, total, now), got {progress!r}")
    elif not sys.stderr.isatty():
        yield None
    else:
        try:
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
            from rich.progress import Progress as Bars
        except ImportError:
            yield _Lines(what)
            return
        from rich.console import Console
        from rich.progress import ProgressColumn

        columns: list[ProgressColumn] = [
            TextColumn(what),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        ]
        with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
            task = bars.add_task(what, total=None)
            yield lambda done, total, now: bars.update(task, completed=done, total=total)


class _Lines:
    """A plain line on stderr every ten seconds."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.next = time.monotonic() + LINE_INTERVAL

    def __call__(self, done: int, total: int, now: float) -> None:
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + LINE_INTERVAL
            print(f"{done:,} of {total:,} {self.what}", file=sys.stderr, flush=True)
