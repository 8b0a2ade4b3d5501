"""The spans of [krevat2002] Table 1, to the printed digits."""

from pathlib import Path

import numpy as np
import pytest

import faultsim as fs

NASA, SDSC = "NASA-iPSC-1993-3.1-cln", "SDSC-SP2-1998-4.2-cln"


# Printed: size mean and deviation with one decimal, workload 0.881 (5.41) and 7.1 (25.5) million node-seconds.
@pytest.mark.parametrize(
    ("which", "file", "printed", "span_days", "load"),
    [
        ("nasa", NASA, ("6.3", "14.4", "0.881", "5.41"), 17.08, 0.597),
        ("sdsc", SDSC, ("9.7", "14.8", "7.1", "25.5"), 110.6, 0.744),
    ],
)
def test_table_1(
    data_dir: Path, which: str, file: str, printed: tuple[str, ...], span_days: float, load: float
) -> None:
    log = fs.krevat_span(fs.read_swf(data_dir / "swf" / f"{file}.swf.gz"), which)
    summary = log.summary(nodes=128)
    ours = (summary["size_mean"], summary["size_sd"], summary["bin_work_mean"] / 1e6, summary["bin_work_sd"] / 1e6)
    assert tuple(f"{v:.{len(p.partition('.')[2])}f}" for v, p in zip(ours, printed, strict=True)) == printed
    assert len(log) == 10_000
    assert summary["span"] / 86_400 == pytest.approx(span_days, rel=5e-4)
    assert summary["offered_load"] == pytest.approx(load, abs=5e-4)
    assert (summary["power_of_two_share"] == 1.0) == (which == "nasa")


def test_nasa_re_inserts_the_missing_numbers(data_dir: Path) -> None:
    whole = fs.read_swf(data_dir / "swf" / f"{NASA}.swf.gz")
    log = fs.krevat_span(whole, "nasa")
    assert np.array_equal(np.sort(log.id), np.arange(20_001, 30_001))
    added = log[~np.isin(log.id, whole.id)]
    assert len(added) == 6_135
    assert set(added.size.tolist()) == {1}
    assert set(added.runtime.tolist()) == {36.0}
    assert (added.submit == np.floor(added.submit)).all()
    kept = log[np.isin(log.id, whole.id)]
    assert kept == whole[(whole.id >= 20_001) & (whole.id <= 30_000)]
    assert (np.lexsort((log.id, log.submit)) == np.arange(10_000)).all()


def test_a_log_that_lacks_nothing_is_only_cut() -> None:
    ids = np.arange(1, 40_001)
    log = fs.Workload(id=ids, submit=ids, runtime=ids, size=np.ones(40_000, dtype=int))
    span = fs.krevat_span(log, "nasa")
    assert span == log[20_000:30_000]
    holes = fs.krevat_span(log[(ids % 10 != 0)], "nasa")
    assert holes.submit.tolist() == span.submit.tolist(), "arrivals between neighbours a second away are exact"
    assert set(holes.runtime[holes.id % 10 == 0].tolist()) == {36.0}


def test_other_logs_are_refused() -> None:
    log = fs.Workload(submit=[0, 1], runtime=[1, 1], size=[1, 1])
    with pytest.raises(fs.InputError, match="the log has 2 jobs; expected SDSC-SP2"):
        fs.krevat_span(log, "sdsc")
    with pytest.raises(fs.InputError, match=r"job numbers 1-2; expected the NASA iPSC log .* cover 20001-30000"):
        fs.krevat_span(log, "nasa")
    with pytest.raises(fs.OptionError, match="unknown log 'llnl'; known are 'nasa' and 'sdsc'"):
        fs.krevat_span(log, "llnl")
