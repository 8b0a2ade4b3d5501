"""RLScheduler's table: its rules against a plain transcription, claims on made-up numbers, inputs, and the real log."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.reproduce.claims import Verdict
from faultsim.reproduce.rlscheduler import CLAIMS, STUDY
from faultsim.reproduce.rlscheduler.inputs import NODES, PUBLISHED, WITH_WAIT, load, old_gym_generator, sequences
from faultsim.reproduce.rlscheduler.remarks import remarks
from faultsim.reproduce.rlscheduler.rules import SCORES, WAITING, Scored, under_its_rules
from faultsim.reproduce.rlscheduler.runs import COLUMNS, Evidence, Plan, plan
from faultsim.results.metrics import mean_bounded_slowdown
from helpers import rlscheduler_rules as plain

RULES = {claim.id: claim for claim in CLAIMS}


# -- the rules


def rows(log):
    return list(zip(log.submit.tolist(), log.runtime.tolist(), log.size.tolist(), log.estimate.tolist(), strict=True))


@st.composite
def logs(draw):
    """Few jobs with many ties; estimates that are missing, or too short."""
    count = draw(st.integers(1, 14))
    gaps = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    powers = st.sampled_from([1, 2, 4, 8])  # of which scores are exact
    column = st.lists(powers, min_size=count, max_size=count)
    estimates = draw(st.lists(st.sampled_from([-1, 1, 2, 4, 8, 16]), min_size=count, max_size=count))
    return fs.Workload(submit=np.cumsum(gaps), runtime=draw(column), size=draw(column), estimate=estimates)


@given(logs(), st.sampled_from(list(SCORES)), st.booleans(), st.booleans())
def test_the_rules_are_those_of_a_plain_transcription(log, policy, backfill, real_wait):
    expected = plain.starts(rows(log), 8, policy, backfill, real_wait)
    for engine in ("core", "reference"):
        result = under_its_rules(log, 8, policy, backfill=backfill, real_wait=real_wait, engine=engine)
        assert result.jobs["start"].tolist() == expected


@pytest.mark.parametrize("policy", SCORES)
@pytest.mark.parametrize("name", NODES)
def test_and_on_some_hundred_jobs(name, policy):
    log = load(None, seed=4)[name].log[500:800]
    for backfill in (False, True):
        for real_wait in (False, True)[: 1 + (policy in WAITING)]:
            result = under_its_rules(log, NODES[name], policy, backfill=backfill, real_wait=real_wait)
            expected = plain.starts(rows(log), NODES[name], policy, backfill, real_wait)
            assert result.jobs["start"].tolist() == expected
            assert mean_bounded_slowdown(result) == pytest.approx(plain.mean_slowdown(rows(log), expected), rel=1e-12)


def test_the_first_job_is_committed_where_the_textbook_sorts_anew():
    log = fs.Workload(submit=[1, 2, 3], runtime=[10, 50, 5], size=[3, 4, 4])
    assert under_its_rules(log, 4, "SJF", backfill=False).jobs["start"].tolist() == [1, 11, 61]
    textbook = fs.simulate(log, fs.Cluster(4), scheduler=fs.Fcfs(order=Scored("SJF")))
    assert textbook.jobs["start"].tolist() == [1, 16, 11]


def test_backfilled_jobs_end_strictly_before_the_expected_start():
    log = fs.Workload(submit=[1, 2, 3, 3], runtime=[10, 50, 8, 7], size=[2, 3, 1, 1])
    assert under_its_rules(log, 4, "FCFS", backfill=True).jobs["start"].tolist() == [1, 11, 11, 3]
    assert fs.simulate(log, fs.Cluster(4)).jobs["start"].tolist() == [1, 11, 3, 3]


def test_fcfs_without_backfilling_is_the_textbooks():
    log = load(None, seed=4)["lublin"].log[500:900]
    ours = under_its_rules(log, 256, "FCFS", backfill=False)
    assert ours.jobs["start"].tolist() == fs.simulate(log, fs.Cluster(256), scheduler=fs.Fcfs()).jobs["start"].tolist()


# -- claims, on numbers where the answer is known


def made(values=None, *, real=True, what=None, margin=1.0):
    """The published values under all rules, unless `values` says otherwise; the best heuristics change by `margin`."""
    what = what or Plan()
    logs = {name: SimpleNamespace(label=name, real=real) for name in NODES}
    runs = {}
    for key in what.settings():
        row = {policy: PUBLISHED[key.log, key.backfill][policy] for policy in SCORES}
        value = row[key.policy]
        if key.rules == "waiting time" and key.log == "lublin":
            value = WITH_WAIT[key.backfill, key.policy]
        if key.rules == "textbook" and value == min(row.values()):
            value *= margin
        slowdown = np.full(what.sequences, value if values is None else values(key, value))
        runs[key] = {"slowdown": slowdown, "longest_wait": 36 * slowdown}
    return Evidence(logs, runs, what)


def verdict(label, evidence):
    return RULES[label].judge(evidence).verdict


def test_claims_follow_the_numbers():
    good = made()
    assert {label: verdict(label, good) for label in RULES} == dict.fromkeys(RULES, Verdict.HOLDS) | {
        "H4": Verdict.FAILS
    }
    worse = made(lambda key, value: 8000.0 if key.rules == "waiting time" and key.policy == "WFP3" else value)
    assert (verdict("H3", worse), verdict("H4", worse)) == (Verdict.PARTLY, Verdict.PARTLY)
    off = made(lambda key, value: value + 0.01 * (key.policy == "SJF"))
    assert [verdict(label, off) for label in ("H1", "H2", "H3", "H7")] == [Verdict.PARTLY] * 2 + [Verdict.HOLDS] * 2
    same = made(lambda key, value: 100.0)
    assert {verdict(label, same) for label in ("H1", "H2", "H3", "H4", "H8")} == {Verdict.FAILS}


def test_orders_and_margins():
    def swapped(key, value):
        return value * (100.0 if key.rules == "textbook" and key.policy == "WFP3" else 1.0)

    assert [verdict(label, made(swapped)) for label in ("H5", "H6", "H9")] == [Verdict.PARTLY, Verdict.PARTLY,
                                                                              Verdict.PARTLY]  # fmt: skip
    turned = made(lambda key, value: 1 / value if key.rules == "textbook" else value)
    assert {verdict(label, turned) for label in ("H5", "H6", "H7", "H9", "H10")} == {Verdict.FAILS}
    assert [verdict("H10", made(margin=m)) for m in (1.0, 0.995, 1.1, 1 / 1.3, 0.1)] == [
        Verdict.HOLDS, Verdict.HOLDS, Verdict.PARTLY, Verdict.PARTLY, Verdict.FAILS,
    ]  # fmt: skip


@pytest.mark.parametrize("evidence", [made(real=False), made(what=plan(True))])
def test_numbers_are_not_judged_without_the_log_and_all_sequences(evidence):
    judged = {label: verdict(label, evidence) for label in RULES}
    assert [label for label in RULES if judged[label] is Verdict.NOT_JUDGED] == ["H1", "H2", "H3", "H7", "H8", "H10"]
    assert not any("2237" in text or "factor of" in text for text in remarks(evidence))


# -- inputs


def test_the_sequences_are_those_of_the_published_seed():
    generator = old_gym_generator(1)
    starts = [int(generator.randint(1024, 10_000 - 1024 - 1)) for _ in range(10)]
    assert starts == [1981, 2756, 4299, 8850, 3316, 2714, 5228, 7762, 4022, 7085]
    log = load(None, seed=0)["lublin"].log
    assert len(log) == 10_000
    assert [part.submit[0] for part in sequences(log, 10, 1024)] == log.submit[starts].tolist()
    assert {len(part) for part in sequences(log, 3, 60)} == {60}
    with pytest.raises(OptionError, match="100 jobs are too few for sequences of 60"):
        sequences(log[:100], 1, 60)


def test_a_size_is_the_larger_one_and_jobs_have_a_run_time(tmp_path):
    tail = "-1 -1 {asked} 60 -1 1 -1 -1 -1 -1 -1 -1 -1"
    jobs = [(5, 2, 4), (5, 8, 4), (0, 1, 1), (5, -1, 3), (5, 3, -1)]
    lines = [f"{i} {i} -1 {run} {given} " + tail.format(asked=asked) for i, (run, given, asked) in enumerate(jobs, 1)]
    (tmp_path / "lublin_256.swf").write_text("\n".join(lines) + "\n")
    logs = load(tmp_path, seed=0)
    assert logs["lublin"].log.size.tolist() == [4, 8, 3, 3]
    assert (logs["lublin"].real, logs["sdsc"].real) == (True, False)
    assert "4 jobs" in logs["lublin"].text
    assert "built-in" in logs["sdsc"].text


# -- the real log


def real(data_dir, name="lublin"):
    log = load(data_dir, seed=0)[name]
    if not log.real:
        pytest.skip(f"{name} is not in the data folder")
    return sequences(log.log, 10, 1024)


def table_value(parts, policy, **options):
    return f"{np.mean([mean_bounded_slowdown(under_its_rules(p, 256, policy, **options)) for p in parts]):.2f}"


def test_a_published_value_to_the_digit(data_dir):
    assert table_value(real(data_dir), "F1", backfill=True) == "75.07"


@pytest.mark.slow
def test_the_published_table_to_the_digit(data_dir):
    parts = real(data_dir)
    for backfill in (False, True):
        for policy in SCORES:
            published = f"{PUBLISHED['lublin', backfill][policy]:.2f}"
            assert table_value(parts, policy, backfill=backfill) == published
            runs = [plain.mean_slowdown(rows(p), plain.starts(rows(p), 256, policy, backfill, False)) for p in parts]
            assert f"{np.mean(runs):.2f}" == published
    for (backfill, policy), value in WITH_WAIT.items():
        assert table_value(parts, policy, backfill=backfill, real_wait=True) == f"{value:.2f}"


@pytest.mark.slow
def test_sdsc_is_the_same_as_the_plain_transcription(data_dir):
    for part in real(data_dir, "sdsc")[:3]:
        for policy in SCORES:
            for backfill in (False, True):
                result = under_its_rules(part, 128, policy, backfill=backfill)
                assert result.jobs["start"].tolist() == plain.starts(rows(part), 128, policy, backfill, False)


# -- all of it


def test_settings_and_what_is_shown(tiny_study):
    settings = plan(False).settings()
    assert len(set(settings)) == len(settings) == 2 * 2 * (5 + 5 + 2)
    assert plan(False).whole
    assert not plan(True).whole
    done = tiny_study("rlscheduler").done
    assert done.runs == 2 * len(settings)
    assert len(done.grids) == 4
    assert all(len(columns[name]) == 2 for columns in done.evidence.runs.values() for name in COLUMNS)


def test_what_the_page_says():
    text = " ".join(remarks(made()))
    assert "UNICEF at 86 times the slowdown of F1" in text
    assert "a factor of 58 to UNICEF and 59 to WFP3" in text
    assert "1.5 % ahead" in text
    assert "91 % of that published difference is the missing waiting time" in text
    assert "H10 has the other rows" in text
    assert "F1 with backfilling 1 h and 1 h" in text
    assert STUDY.paper
