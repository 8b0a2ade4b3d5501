"""The table, picture and numbers of docs/guides/backfilling.md about the depth of reservations."""

import csv
import re
import sys

import pytest

import faultsim as fs
from helpers.scripts import CHECKOUT, script

GUIDES = CHECKOUT / "docs" / "guides"
MEANS = ("mean wait, h", "mean wait of wide jobs, h", "mean bounded slowdown")


@pytest.fixture(scope="module")
def depth():
    """The script, which imports its neighbours by name; `results` is also a folder of tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(CHECKOUT / "benchmarks")
        patch.delitem(sys.modules, "results", raising=False)
        module = script("run_depth")
        del sys.modules["results"]
    return module


@pytest.fixture(scope="module")
def rows():
    with open(GUIDES / "backfilling" / "depth.csv", encoding="utf-8") as file:
        return {(row.pop("log"), row.pop("depth")): row for row in csv.DictReader(file)}


def test_the_table_has_every_scheduler_for_each_log(depth, rows):
    logs = dict.fromkeys(name for name, _ in rows)
    assert list(rows) == [(name, scheduler) for name in logs for scheduler in depth.SCHEDULERS]
    assert len(logs) == 2
    for name in logs:
        assert [rows[name, "EASY"][mean] for mean in MEANS] == [rows[name, "1"][mean] for mean in MEANS]


def test_numbers_of_the_page_are_in_the_table(rows):
    page = (GUIDES / "backfilling.md").read_text(encoding="utf-8")
    claims = page.partition("**What depth costs.**")[2].partition("At this load")[0]
    quoted = re.findall(r"([\d.,]*\d) (?:s|h)\b", claims)
    assert len(quoted) == 11
    known = {cell for row in rows.values() for cell in (*row.values(), row["CPU, s"].removesuffix(".0"))}
    # The largest difference that depth makes to the mean wait of the week.
    waits = [float(row["mean wait, h"]) for (log, _), row in rows.items() if log == "university week"]
    assert max(waits) - min(waits) <= 0.1
    assert {number.replace(",", "") for number in quoted} - known == {"0.1"}


def test_the_week_still_has_the_means_of_the_table(depth, rows, data_dir, monkeypatch):
    if not (data_dir / "slurm" / "ub-hpc").is_dir():
        pytest.skip("the folder of public logs has no slurm/ub-hpc")
    monkeypatch.setattr(depth, "DATA", data_dir)
    log = depth.university_week()
    assert len(log) == 19_579
    for scheduler in ("EASY", "1", "10", "100"):
        metrics = fs.simulate(log, fs.Cluster(217), scheduler=depth.SCHEDULERS[scheduler]).metrics
        row = rows["university week", scheduler]
        assert float(f"{metrics['mean_wait'] / 3600:.5g}") == float(row["mean wait, h"])
        assert float(f"{metrics['mean_bounded_slowdown']:.5g}") == float(row["mean bounded slowdown"])


@pytest.mark.parametrize(("limit", "expected"), [("3-00:00:00", 259_200), ("01:02:03", 3_723)])
def test_limits_of_slurm(depth, limit, expected):
    assert depth.seconds(limit) == expected
