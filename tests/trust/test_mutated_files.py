"""Mutated files at every entry point that reads: an error of faultsim, or an object, in time and memory."""

import inspect
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.errors import MOST
from helpers.bounded_reading import SECONDS, STANDS_FOR, entry_points, outcomes
from helpers.counts import record
from helpers.seed_files import seeds

MANY, AT_ONCE = 8_000, 2_000
PIECES = (
    b"", b"\0", b"\n", b"\r", b",", b"\t", b" ", b"-", b"1_0", b"nan", b"inf", b"-1", b"1e308", b"9" * 25, b"9" * 5000,
    b'"', b"'", b"[", b"{", b"<", b"&", b";", b"#", b"|", b"=", b"\xff", b"\xef\xbb\xbf", "٣".encode(), b"x" * 7000,
    b"2147483648", b"-9223372036854775809", b"0.1e-400", b"null", b"true", b"9999-12-31T23:59:59", b"0001-01-01",
    b"Unknown", b"NODE_FAIL", b"RESIZING", b"UNLIMITED", b"1.50K", b"n[1-999999999]", b"1-02:03:04", b"node=9E",
    b"1e400", b"2024-02-30", b"24:00:00", b"+14:00", b"1,5", b"sep=;\n", b"; MaxProcs: nan\n", b"\xff\xfe",
    b"\x1c", b"PAR1",
)  # fmt: skip


def mutated(content: bytes, draw: random.Random) -> bytes:
    """With one to four changes: bytes or pieces put in, taken out, repeated or swapped, cut short; or fields moved."""
    data = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 4))):
        if draw.random() < 0.2:
            data = bytearray(with_fields_moved(bytes(data), draw))
            continue
        at, length = draw.randrange(len(data) + 1), draw.choice((1, 2, 8, 40))
        way = draw.randrange(6)
        if way == 0 and at < len(data):
            data[at] = draw.randrange(256)
        elif way == 1:
            data[at:at] = draw.choice(PIECES)
        elif way == 2:
            del data[at : at + length]
        elif way == 3:
            data[at : at + length] = draw.choice(PIECES)
        elif way == 4:
            data[at:at] = data[at : at + length] * draw.choice((1, 2, 50))
        elif draw.random() < 0.2:
            del data[at:]
    return bytes(data)


def with_fields_moved(content: bytes, draw: random.Random) -> bytes:
    """With fields or lines, whatever separates them, taken out, repeated, swapped, replaced or joined."""
    between = draw.choice([each for each in (b"\n", b"|", b",", b":", b" ", b";", b"\t") if each in content] or [b"\n"])
    fields = content.split(between)
    one, other = draw.randrange(len(fields)), draw.randrange(len(fields))
    way = draw.randrange(6)
    if way == 0:
        del fields[one]
    elif way == 1:
        fields[one], fields[other] = fields[other], fields[one]
    elif way == 2:
        fields.insert(other, fields[one])
    elif way == 3:
        fields[one] = draw.choice(PIECES)
    elif way == 4:
        fields[one : one + 2] = [b"".join(fields[one : one + 2])]
    else:
        fields[one:one] = fields[min(one, other) : max(one, other) + 1] * draw.choice((1, 20))
    return between.join(fields)[:200_000]


def mutants(count: int, folder: Path) -> Iterator[tuple[str, str]]:
    """As many of each kind, each from a number of its own."""
    known = seeds(folder)
    for number in range(count):
        name = list(known)[number % len(known)]
        path = folder / f"{number % AT_ONCE}.mutant"
        for old in (path, Path(f"{path}.merged"), Path(f"{path}-wal"), Path(f"{path}-shm")):
            old.unlink(missing_ok=True)
        path.write_bytes(mutated(known[name], random.Random(number)))
        yield name, str(path)


def read(count: int, folder: Path) -> tuple[Counter[str], list[tuple[int, str, str, str]]]:
    """How many were read and told; and those that were neither, as number, entry point, outcome and message."""
    ends: Counter[str] = Counter()
    wrong = []
    work: list[tuple[str, str]] = []
    for number, item in enumerate(mutants(count, folder)):
        work.append(item)
        if len(work) == AT_ONCE or number == count - 1:
            made = outcomes(work)
            for at, ((name, _), (outcome, seconds, said)) in enumerate(zip(work, made, strict=False)):
                long = outcome == "told" and any(len(line) > MOST for line in said.splitlines())
                if outcome not in ("ok", "told") or seconds > SECONDS or long:
                    wrong.append((number - len(work) + 1 + at, name, outcome, said))
                ends[outcome] += 1
            if len(made) < len(work):
                wrong.append((number, "the child", "died", ""))
            work = []
    return ends, wrong


@pytest.mark.timeout(1800)
def test_mutated_files_are_read_or_told(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    ends, wrong = read(MANY, tmp_path)
    assert wrong == []
    assert ends.total() == MANY
    assert min(ends["ok"], ends["told"]) > MANY / 10
    record(
        "mutated-files", "trouble",
        "Mutated files at every entry point that reads: each is read, or told by an error of faultsim in at most 300 "
        "characters, within 5 s and 1 GiB.",
        {"mutated files": MANY, "read": ends["ok"], "told": ends["told"], "entry points": len(entry_points()),
         "other errors, crashes, or out of time or memory": 0},
        "pytest tests/trust/test_mutated_files.py",
    )  # fmt: skip


def public_readers() -> set[str]:
    """Public functions and methods that take the name of a file, but for those that write it."""
    found = set()
    for name in fs.__all__:
        member = getattr(fs, name)
        members = {name: member} if inspect.isfunction(member) else {}
        if inspect.isclass(member):
            members = {f"{name}.{each}": call for each, call in inspect.getmembers(member, inspect.isroutine)}
        if inspect.ismodule(member):
            members = {f"{name}.{each}": getattr(member, each) for each in member.__all__}
        for each, call in members.items():
            writes = re.match(r"(write_|save$|_)", each.rpartition(".")[2])
            if callable(call) and not writes and takes_a_file(call):
                found.add(each)
    return found


def takes_a_file(call: Callable[..., object]) -> bool:
    try:
        parameters = inspect.signature(call).parameters.values()
    except ValueError:  # of a compiled class
        return False
    return any("PathLike" in str(each.annotation) for each in parameters)


def test_no_entry_point_is_forgotten(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    assert set(seeds(tmp_path)) == set(entry_points())
    formats = {row.read.__name__ for row in fs.READERS}
    others = {name for names in STANDS_FOR.values() for name in names}
    assert set(STANDS_FOR) < set(entry_points())
    assert public_readers() == formats | others - {"parse_policy", "Key"}


def test_what_is_not_mutated_is_read(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    work = []
    for number, (name, content) in enumerate(seeds(tmp_path).items()):
        path = tmp_path / f"{number}.seed"
        path.write_bytes(content)
        work.append((name, str(path)))
    said = dict(zip((name for name, _ in work), outcomes(work), strict=True))
    assert {name: end[2] for name, end in said.items() if end[0] != "ok"} == {}
