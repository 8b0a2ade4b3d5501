"""Saved results from strangers, and from disks that forget.

Every changed value is told, and no crafted file ends in another error than InputError.
"""

import io
import re
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import MOST
from faultsim.results import saved_file
from helpers.bounded_reading import SECONDS, outcomes
from helpers.damage import facts_of, flipped, members, packed, with_facts
from helpers.refusals import refused
from helpers.results import assert_equal

LOG = fs.synthetic.nasa_like(30, rng=0)
FLIPS, MANY_FLIPS = 300, 10_000


def made() -> fs.Result:
    trace = fs.FailureTrace([500, 900], [0, 1], 60, span=10**6)
    return fs.simulate(LOG, fs.Cluster(128), failures=trace, predictor=fs.PredictionTrace([490], [0]),
                       placement=fs.SafestFirst(), record=True)  # fmt: skip


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("saved") / "run.npz"
    made().save(path)
    return path.read_bytes()


def survives(content: bytes, path: Path, expected: fs.Result) -> bool:
    """Whether a damaged file loads; then nothing that it says may have changed."""
    path.write_bytes(content)
    try:
        loaded = fs.load_result(path)
    except fs.InputError:
        return False
    assert_equal(expected, loaded)
    assert loaded.provenance == expected.provenance
    return True


def flips(count: int, saved: bytes, folder: Path) -> int:
    (folder / "good").write_bytes(saved)
    expected = fs.load_result(folder / "good")
    return sum(survives(flipped(saved, seed), folder / "bad", expected) for seed in range(count))


def test_every_value_that_changes_is_told(saved: bytes, tmp_path: Path) -> None:
    # The container says some things twice or for nobody: the hour of writing, sizes before and after.
    assert flips(FLIPS, saved, tmp_path) < FLIPS // 2


def test_other_compressions_that_are_damaged_are_told(saved: bytes, tmp_path: Path) -> None:
    for method in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        file = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(saved)) as members, zipfile.ZipFile(file, "w", method) as again:
            for name in members.namelist():
                again.writestr(name, members.read(name))
        (tmp_path / "good").write_bytes(file.getvalue())
        assert_equal(made(), fs.load_result(tmp_path / "good"))
        assert flips(100, file.getvalue(), tmp_path) < 50


@pytest.mark.slow
def test_every_value_that_changes_is_told_ten_thousand_times(saved: bytes, tmp_path: Path) -> None:
    assert flips(MANY_FLIPS, saved, tmp_path) < MANY_FLIPS // 2


def set_in(arrays: dict[str, Any], value: Any, *keys: str, layout: int = 3) -> bytes:
    """With another fact, and in a layout without digests: what a stranger would write."""
    facts = facts_of(arrays) | {"schema": layout}
    inner = facts
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return packed(with_facts(arrays, facts))


def other(arrays: dict[str, Any], name: str, row: int, value: float, layout: int = 3) -> bytes:
    column = arrays[name].copy()
    column[row] = value
    return packed(with_facts(arrays | {name: column}, facts_of(arrays) | {"schema": layout}))


def signed(arrays: dict[str, Any], facts: dict[str, Any]) -> bytes:
    """With other facts, and the digest that they should have."""
    return packed(with_facts(arrays, facts_of(arrays) | facts, signed=True))


def deep(arrays: dict[str, Any]) -> bytes:
    return packed(arrays | {"facts.json": np.frombuffer(b"[" * 200_000, np.uint8)})


def header(text: bytes) -> bytes:
    """A file whose only array has this header."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zipped:
        zipped.writestr("jobs/start.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)
    return file.getvalue()


def large() -> bytes:
    rows = 50_000_000
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped, zipped.open("workload/submit.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": (rows,)})
        for _ in range(rows // 10**6):
            member.write(bytes(8 * 10**6))
    return file.getvalue()


#: What is wrong -> what is said, and the file.
FORGED: dict[str, tuple[str, Callable[[dict[str, Any]], bytes]]] = {
    "a start that is no number": ("jobs/start .* has nan in row 3", lambda a: other(a, "jobs/start", 3, np.nan)),
    "a size below 1": ("workload/size .* has -4 in row 2", lambda a: other(a, "workload/size", 2, -4)),
    "too many nodes": ("jobs/allocated .* 2147483647", lambda a: other(a, "jobs/allocated", 0, 2**31 - 1)),
    "a finish before its start": ("jobs/finish .* is before", lambda a: other(a, "jobs/finish", 5, 0)),
    "an event of no kind": ("events_table/kind .* has 99", lambda a: other(a, "events_table/kind", 0, 99)),
    "an event of no job": ("events_table/job .* has 30", lambda a: other(a, "events_table/job", 0, 30)),
    "a node beyond the machine": ("allocations/nodes .* has 128", lambda a: other(a, "allocations/nodes", 0, 128)),
    "a counter named as a column": ("its counters are not", lambda a: set_in(a, [1], "counters", "start")),
    "a counter below 0": ("counter events is -1", lambda a: set_in(a, -1, "counters", "events")),
    "an account that is text": ("ledger, useful: 'much'", lambda a: set_in(a, "much", "ledger", "useful")),
    "no span": ("its span is", lambda a: set_in(a, [1], "span")),
    "dropped text": ("what was dropped", lambda a: set_in(a, {"a": "b"}, "dropped")),
    "no settings": ("its settings are none of a run", lambda a: set_in(a, {}, "provenance", "settings")),
    "no scheduler": ("settings are none", lambda a: set_in(a, 3, "provenance", "settings", "scheduler")),
    "a machine without end": ("settings", lambda a: set_in(a, 10**30, "provenance", "settings", "machine", "nodes")),
    "provenance that is text": ("provenance", lambda a: set_in(a, "here", "provenance")),
    "no source": ("where the log is from", lambda a: set_in(a, {}, "provenance", "input")),
    "facts in one another": ("not a saved result", deep),
    "a header in one another": ("not a saved result", lambda _: header(b"(" * 9000 + b"\n")),
    "a header of another kind": ("not a saved result", lambda _: header(b"{'descr': [('a', '<f8')]}\n")),
    "a shape beyond memory": (
        "not a saved result",
        lambda _: header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }\n"),
    ),
    "400 MB of zeros": ("unpacks to more than 200 times its size", lambda _: large()),
    "another layout": ("saved in layout 'x'", lambda a: set_in(a, "x", "schema", layout=4)),
    "no digests": ("its columns have no digests", lambda a: signed(a, {"columns": None})),
    "digests in a list": ("its columns have no digests", lambda a: signed(a, {"columns": []})),
    "a column too many": ("jobs/more is no column", lambda a: packed(a | {"jobs/more": np.zeros(30)})),
    "a value, with its digest left": ("jobs/lost_work .* not the one", lambda a: other(a, "jobs/lost_work", 0, 7.0, 4)),
    "a fact, with its digest left": ("facts .* not those", lambda a: set_in(a, 7, "counters", "events", layout=4)),
}  # fmt: skip


def test_forged_files_are_told_in_time_and_memory(saved: bytes, tmp_path: Path) -> None:
    arrays, work = members(saved), []
    for at, (_, forge) in enumerate(FORGED.values()):
        path = tmp_path / f"forged-{at}.npz"
        path.write_bytes(forge(arrays))
        work.append(("result", str(path)))
    for (name, (said, _)), (outcome, seconds, message) in zip(FORGED.items(), outcomes(work), strict=True):
        assert outcome == "told", (name, outcome, message)
        assert re.search(said, message), (name, message)
        assert len(message) <= MOST
        assert seconds < SECONDS


def test_results_of_before_there_were_digests_still_load(saved: bytes, tmp_path: Path) -> None:
    arrays = members(saved)
    facts = facts_of(arrays) | {"schema": 3}
    del facts["columns"], facts["digest"]
    (tmp_path / "old.npz").write_bytes(packed(with_facts(arrays, facts)))
    (tmp_path / "new.npz").write_bytes(saved)
    assert_equal(fs.load_result(tmp_path / "new.npz"), fs.load_result(tmp_path / "old.npz"))
    (tmp_path / "none.npz").write_bytes(packed(with_facts(arrays, facts | {"schema": 4})))
    refused(fs.InputError, "facts .* not those", fs.load_result, tmp_path / "none.npz")


def test_headers_are_parsed_by_one_thread_at_a_time(tmp_path, monkeypatch):
    """`ast` of Python before 3.11.9 raises SystemError where several threads use it."""
    path, inside, most = tmp_path / "a.npz", [], []
    fs.simulate(fs.Workload([0, 1], [5, 5], [2, 4]), fs.Cluster(8)).save(path)
    read = saved_file.npy.read_array_header_1_0

    def slow(*given, **options):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.001)
        inside.pop()
        return read(*given, **options)

    monkeypatch.setattr(saved_file.npy, "read_array_header_1_0", slow)
    with ThreadPoolExecutor(4) as pool:
        assert len(list(pool.map(fs.load_result, [path] * 4))) == 4
    assert max(most) == 1
