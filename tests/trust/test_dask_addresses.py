"""An address of a Dask scheduler that others can listen to, or answer for, is told."""

import logging
import sys
import types

import pytest

import faultsim as fs
from faultsim.sweep.dask_executor import is_open, open_client
from helpers.refusals import refused


@pytest.mark.parametrize(
    "address", ["tcp://head:8786", "head:8786", "tcp://10.0.0.1:8786", "ws://head:1", "tcp://[fe80::1]:1"]
)
def test_other_machines_without_encryption(address: str) -> None:
    assert is_open(address)


@pytest.mark.parametrize(
    "address", ["tls://head:8786", "tcp://127.0.0.1:1", "tcp://localhost:1", "tcp://[::1]:1", "127.0.0.1:9"]
)
def test_this_machine_or_with_encryption(address: str) -> None:
    assert not is_open(address)


def test_the_warning_names_the_address_and_what_to_use(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def nobody(*_: object, **__: object) -> None:
        raise OSError("nobody")

    monkeypatch.setitem(sys.modules, "distributed", types.SimpleNamespace(Client=nobody))
    for address, warned in (("tcp://head:8786", True), ("tls://head:8786", False)):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "faultsim"):
            refused(fs.WorkerError, "no Dask scheduler answers", open_client(address, 1).__enter__)
        assert ("tcp://head:8786: neither encrypted" in caplog.text and "use tls://" in caplog.text) == warned
