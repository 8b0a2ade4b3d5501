"""The vocabulary of durations, dates, sizes and missing values: as docs/units.md lists it, everywhere."""

import math
import re
from pathlib import Path

import pytest

import faultsim as fs
from faultsim import checks, vocabulary
from faultsim.cli.parser import duration
from faultsim.errors import OptionError
from helpers.refusals import refused

PAGE = Path(__file__).resolve().parents[1] / "docs" / "units.md"


def rows():
    """Text, kind and value of each word in the table of the page."""
    _, found, rest = PAGE.read_text(encoding="utf-8").partition("| text | kind | value |\n|---|---|---|\n")
    assert found
    for line in rest.partition("\n\n")[0].splitlines():
        texts, kind, value = (cell.strip() for cell in line.strip("|").split(" | "))
        words = re.findall(r"`([^`]+)`", texts)
        assert len(words) > 1
        for word in ["", *words] if texts.startswith("the empty text") else words:
            yield word, kind, value


ROWS = list(rows())
READ = {
    "duration": vocabulary.duration,
    "no duration": vocabulary.duration,
    "size": vocabulary.size,
    "date": lambda text: vocabulary.moment(text) and vocabulary.moment(text)[0],
    "no date": vocabulary.moment,
    "missing": lambda text: math.nan if vocabulary.is_missing(text) else None,
}


def test_the_page_has_every_kind():
    assert len(ROWS) > 50
    assert {kind for _, kind, _ in ROWS} == set(READ)


@pytest.mark.parametrize(("text", "kind", "value"), ROWS)
def test_words_of_the_page(text, kind, value):
    for written in (text, text.upper(), f" {text} "):
        if kind in ("date", "no date") and written != text and written == text.upper():
            continue
        found = READ[kind](written)
        if value == "refused":
            assert found is None
        elif value == "missing":
            assert math.isnan(found)
        elif value == "no limit":
            assert math.isinf(found)
        else:
            assert found == pytest.approx(float(value.removesuffix(" s")), rel=1e-15)


@pytest.mark.parametrize(("text", "kind", "value"), [row for row in ROWS if row[1] == "duration"])
def test_durations_are_the_same_everywhere(tmp_path, text, kind, value):
    if value == "no limit":
        assert fs.Workload(submit=[0], runtime=[1], size=[1], estimate=[text]).estimate.tolist() == [-1]
        return
    seconds = float(value.removesuffix(" s"))
    assert checks.seconds(text) == duration(text) == pytest.approx(seconds, rel=1e-15)
    if seconds < 0:
        return
    path = tmp_path / "a.csv"
    path.write_text(f"submit,runtime,size\n0,{text},1\n")
    assert fs.read_jobs(path).runtime.tolist() == [pytest.approx(seconds, rel=1e-15)]
    assert fs.Workload(submit=[0], runtime=[text], size=[1]) == fs.read_jobs(path)
    assert fs.Requeue(restart_cost=text) == fs.Requeue(restart_cost=checks.seconds(text))


@pytest.mark.parametrize("digits", ["9" * 100_000, "1h" * 50_000, ":" * 100_000, "1-" * 50_000, "1" * 50_000 + "K"])
def test_long_text_takes_linear_time(digits):
    for read in (vocabulary.duration, vocabulary.size, vocabulary.moment, vocabulary.is_missing):
        read(digits + "!")


@pytest.mark.parametrize("zone", ["Nowhere/Nothing", "", "/etc/passwd", "..", None])
def test_zones_that_are_none(zone):
    refused(OptionError, "zone: .* is no time zone known here; expected one such as", vocabulary.zone_of, zone)


@pytest.mark.parametrize("word", ["min", "m", "mins", "minute", "minutes", "MIN"])
def test_a_unit_has_all_its_names_wherever_there_is_one(word, tmp_path):
    (tmp_path / "jobs.csv").write_text("submit,runtime,size\n0,1,1\n2,3,1\n")
    (tmp_path / "failures.csv").write_text("time,node,downtime\n1,0,2\n")
    assert fs.read_jobs(tmp_path / "jobs.csv", unit=word).runtime.tolist() == [60, 180]
    assert fs.read_jobs(tmp_path / "jobs.csv", unit={"runtime": word}).submit.tolist() == [0, 2]
    assert fs.read_failures(tmp_path / "failures.csv", unit=word).downtime.tolist() == [120]
