"""A Dask cluster on which batches run.

Large inputs are sent once, to workers that pass them on to each other; a batch is sent as bytes that refer to them. If
a worker dies, the scheduler gives its batches to others and recreates its inputs.
"""

import importlib
import io
import logging
import pickle
import socket
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, Protocol
from urllib.parse import urlsplit

from faultsim import checks
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.errors import WorkerError
from faultsim.sweep.executors import Pool
from faultsim.sweep.importable import of_main
from faultsim.sweep.tasks import Task, size_of
from faultsim.sweep.wanted import Wanted
from faultsim.sweep.worker import Done, do
from faultsim.version import MODEL_REVISION, __version__

#: Bytes from which an input is sent on its own; smaller ones travel with the batch.
ALONE = 64 * 2**10
#: Seconds to wait for a scheduler.
PATIENCE = 20.0
#: Bytes of inputs that are kept on the workers.
KEPT = 2**30


class Client(Protocol):
    """What is needed of a ``distributed.Client``."""

    def get_executor(self, *, pure: bool, retries: int) -> Executor: ...
    def nthreads(self) -> Mapping[str, int]: ...
    def submit(self, function: Callable[[bytes], object], blob: bytes, *, pure: bool) -> object: ...


class Dask(Pool):
    """Batches on a Dask cluster; the client stays the caller's."""

    target = 0.5

    def __init__(self, client: Client) -> None:
        distributed = checks.extra("distributed.scheduler", "dask", "a Dask cluster")
        self._client = client
        self.lost = (*Pool.lost, distributed.KilledWorker)
        # Dask warns once about large graphs, and a single long log is one.
        self._quiet = partial(
            importlib.import_module("dask.config").set, {"distributed.admin.large-graph-warning-threshold": "1 GB"}
        )
        # Not pure: a task's name is not derived from its content. If a worker dies, its batch is retried elsewhere.
        self._executor = client.get_executor(pure=False, retries=3)
        self._sent: OrderedDict[str, tuple[object, int]] = OrderedDict()
        self._bytes = 0
        self._by_value = False

    @property
    def workers(self) -> int:  # type: ignore[override]
        """Threads of all workers currently connected."""
        return max(1, int(sum(self._client.nthreads().values())))

    @property
    def window(self) -> int:
        """Batches that may be in progress at once: enough that no worker waits for the next one."""
        return 4 * self.workers

    def prepare(self, things: Mapping[str, object]) -> None:
        """Send what is defined in the main program by value, as Dask itself does."""
        self._by_value = bool(of_main(things.values())) or not all(map(_by_name, things.values()))

    def submit(self, tasks: Sequence[Task], wanted: Wanted) -> "Future[Done]":
        """Begin a batch."""
        blob, inputs = pack(tasks, wanted, by_value=self._by_value)
        sent = {digest: self._send(digest, value) for digest, value in inputs.items()}
        future: Future[Done] = self._executor.submit(do_packed, blob, sent, SAME)
        return future

    def _send(self, digest: str, value: object) -> object:
        """The input on the workers, sent once."""
        if digest not in self._sent:
            blob = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
            # A task, not `scatter`: if its workers die the scheduler recreates it, and nothing waits for it.
            with self._quiet():
                self._sent[digest] = self._client.submit(pickle.loads, blob, pure=False), len(blob)
            self._bytes += len(blob)
            while self._bytes > KEPT and len(self._sent) > 4:
                # Batches in progress hold theirs themselves.
                self._bytes -= self._sent.popitem(last=False)[1][1]
        self._sent.move_to_end(digest)
        return self._sent[digest][0]

    def renew(self) -> None:
        """Inputs sent may have been lost with a worker: send them again when needed."""
        self._sent.clear()
        self._bytes = 0

    def close(self) -> None:
        """Forget the inputs sent; the cluster is the caller's."""
        self.renew()


def _by_name(thing: object) -> bool:
    """Whether it can be pickled by the names of what it is made of."""
    try:
        pickle.dumps(thing)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def _pickler(base: Any, file: io.BytesIO, names: Mapping[int, str]) -> pickle.Pickler:
    """A pickler that omits large inputs and refers to them by their digests."""

    class Packer(base):  # type: ignore[misc]
        def persistent_id(self, obj: object) -> str | None:
            return names.get(id(obj)) if isinstance(obj, Workload | FailureTrace | tuple) else None

    return Packer(file, protocol=pickle.HIGHEST_PROTOCOL)


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, inputs: Mapping[str, object]) -> None:
        super().__init__(file)
        self._inputs = inputs

    def persistent_load(self, pid: str) -> object:
        return self._inputs[pid]


def pack(tasks: Sequence[Task], wanted: Wanted, *, by_value: bool = False) -> tuple[bytes, dict[str, object]]:
    """The runs of a batch and what is wanted of them as bytes, and the inputs that they refer to, by digest.

    Examples
    --------
    >>> pack([], Wanted())[1]
    {}
    """
    inputs: dict[str, object] = {}
    names: dict[int, str] = {}
    for task in tasks:
        for digest, value in task.inputs.items():
            if size_of(value) >= ALONE:
                inputs[digest] = value
                names[id(value)] = digest
    file = io.BytesIO()
    base = importlib.import_module("cloudpickle").Pickler if by_value else pickle.Pickler  # Dask requires it
    _pickler(base, file, names).dump(([task.run for task in tasks], wanted))
    return file.getvalue(), inputs


#: What workers have in common with the driver.
SAME = f"{__version__}, model revision {MODEL_REVISION}"


def do_packed(blob: bytes, inputs: Mapping[str, object], version: str) -> Done:
    """What a worker does with a packed batch.

    Raises
    ------
    WorkerError
        If the worker has a different version of faultsim from the one recorded with the rows.
    """
    if version != SAME:
        raise WorkerError(f"this worker has faultsim {SAME}, the sweep is one of faultsim {version}")
    runs, wanted = _Unpacker(io.BytesIO(blob), inputs).load()
    return do(runs, wanted)


def is_open(address: str) -> bool:
    """Whether an address is that of another machine, without encryption.

    Examples
    --------
    >>> [is_open(address) for address in ("tcp://127.0.0.1:8786", "tcp://[::1]:1", "tls://head:8786", "head:8786")]
    [False, False, False, True]
    """
    scheme, separator, rest = address.rpartition("://")
    host = urlsplit(f"//{rest}").hostname or ""
    here = host == "localhost" or host == "::1" or host.startswith("127.")
    return not here and (not separator or scheme in ("tcp", "ws", "ucx"))


def _check_loopback() -> None:
    """Raise `OSError` at once where a machine cannot reach itself; distributed finds out after a minute."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname(), timeout=PATIENCE),
    ):
        pass


def _innermost(error: BaseException) -> str:
    """The first line of the error at the beginning of a chain of them.

    Examples
    --------
    >>> _innermost(OSError(99, "Cannot assign requested address"))
    'OSError: [Errno 99] Cannot assign requested address'
    """
    while (before := error.__cause__ or error.__context__) is not None:
        error = before
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]:.160}" if lines else type(error).__name__


@contextmanager
def open_client(address: str, workers: int) -> Iterator[object]:
    """A client of the scheduler at an address such as ``tcp://127.0.0.1:8786``, or of ``local`` worker processes.

    Raises
    ------
    MissingExtraError
        If distributed is not installed.
    WorkerError
        If there is no scheduler, or workers of this machine do not start.
    """
    distributed = checks.extra("distributed", "dask", "--dask")
    if address == "local":
        with ExitStack() as stack:
            try:
                _check_loopback()
                cluster = stack.enter_context(
                    distributed.LocalCluster(
                        n_workers=workers,
                        threads_per_worker=1,
                        host="127.0.0.1",
                        dashboard_address=None,
                        silence_logs=50,
                    )
                )
                client = stack.enter_context(distributed.Client(cluster, timeout=PATIENCE))
                client.wait_for_workers(1, timeout=PATIENCE)
            except Exception as error:  # of distributed and of the system, of many types
                raise WorkerError(
                    f"Dask cannot start workers on this machine (127.0.0.1): {_innermost(error)}; without Dask, "
                    f"--processes needs no network"
                ) from None
            yield client
        return
    if is_open(address):
        logging.getLogger("faultsim").warning(
            "%s: neither encrypted nor protected, and whoever answers there executes programs here; "
            "use tls:// for a scheduler that is not on this machine",
            address,
        )
    try:
        client = distributed.Client(address, timeout=PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise WorkerError(f"no Dask scheduler answers at {address}: {error}") from None
    with client:
        yield client
