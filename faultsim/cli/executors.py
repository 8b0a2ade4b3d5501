"""Where the runs of a command are made: threads, processes or a Dask cluster; and how it ends early."""

import argparse
import contextlib
import signal
from collections.abc import Iterator

from faultsim.errors import OptionError


def add_executor_arguments(parser: argparse.ArgumentParser) -> None:
    """--workers, --processes and --dask."""
    parser.add_argument("--workers", type=int, metavar="N", help="threads or processes (default: one per core)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--processes", action="store_true", help="processes instead of threads")
    where.add_argument("--dask", metavar="ADDRESS", help="a Dask scheduler such as tcp://HOST:8786, or local")


def check_executor_arguments(args: argparse.Namespace) -> None:
    """Reject what no executor can be, and a store that nobody could open afterwards."""
    if args.store == ":memory:":
        raise OptionError("--store: a store in memory is lost afterwards; name a file")
    if args.workers is not None and args.workers < 1:
        raise OptionError(f"--workers: got {args.workers}, at least 1 is needed")


@contextlib.contextmanager
def executor_of(args: argparse.Namespace) -> Iterator[object]:
    """What `Sweep.run` takes as ``executor``, closed afterwards."""
    if args.dask is None:
        yield "processes" if args.processes else None
        return
    from faultsim.sweep.dask_executor import open_client
    from faultsim.sweep.executors import cores

    with open_client(args.dask, args.workers or cores()) as client:
        yield client


@contextlib.contextmanager
def term_as_interrupt() -> Iterator[None]:
    """The signals of batch systems and of closed terminals end a sweep as Ctrl-C does."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {}
    with contextlib.suppress(ValueError):  # not the main thread
        before[signal.SIGTERM] = signal.signal(signal.SIGTERM, stop)
        hangup = getattr(signal, "SIGHUP", None)  # not on Windows; nohup ignores it
        if hangup is not None and signal.getsignal(hangup) == signal.SIG_DFL:
            before[hangup] = signal.signal(hangup, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
