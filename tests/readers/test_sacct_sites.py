"""`read_sacct` on files as sites have them: each found in a public report, and others of its kind."""

import contextlib
import json
import math

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import InputError, OptionError
from helpers.refusals import refused

FIELDS = "JobID|User|Submit|Start|End|ElapsedRaw|TimelimitRaw|NNodes|State"
DAY = "2024-03-01T08:"


def row(job=1, user="u1", submit="00:00", start="00:05", end="10:05", elapsed=600, limit=60, nodes=2,
        state="COMPLETED"):  # fmt: skip
    times = "|".join(time if time[:1] in "UN" or "T" in time else DAY + time for time in (submit, start, end))
    return f"{job}|{user}|{times}|{elapsed}|{limit}|{nodes}|{state}"


@pytest.fixture
def read(tmp_path):
    """Reads lines, or a text."""

    def call(*lines, **options):
        path = tmp_path / "sacct.txt"
        content = lines[0] if isinstance(lines[0], bytes) else "\n".join([*lines, ""]).encode()
        path.write_bytes(content)
        return fs.read_sacct(path, **options)

    return call


# -- names with separators and line breaks -----------------------------------------------------------------------------

NAMED = "JobID|JobName|User|Submit|Start|End|Elapsed|Timelimit|NNodes|State"
TIMES = "2024-03-01T08:00:00|2024-03-01T08:00:05|2024-03-01T08:10:05|00:10:00|01:00:00|2|COMPLETED"


@pytest.mark.parametrize("name", ["a|b", "|", "||||", "x|2024-03-01T08:00:00", "a\nb", "one\ntwo|three\n", "\n|\n"])
def test_a_name_with_separators_or_line_breaks_is_read(read, name):
    log = read(NAMED, f"1|prep|u1|{TIMES}", f"2|{name}|u2|{TIMES}", f"3|post|u1|{TIMES}", columns=["JobName"])
    assert log.id.tolist() == [1, 2, 3]
    assert log.user.tolist() == [0, 1, 0]
    assert [text.strip() for text in log.columns["JobName"].tolist()] == ["prep", name.strip(), "post"]
    assert dict(log.dropped) == {}


def test_two_free_texts_are_divided_by_what_is_between_them(read):
    header = "JobName|JobID|User|Submit|ElapsedRaw|NNodes|State|SubmitLine"
    log = read(header, "a|b|7|u|2024-03-01T08:00:00|60|2|COMPLETED|sbatch -J 'a|b' x.sh", columns=["SubmitLine"])
    assert (log.id.tolist(), log.columns["SubmitLine"].tolist()) == ([7], ["sbatch -J 'a|b' x.sh"])


def test_a_line_break_in_the_last_field(read):
    header = "JobID|User|Submit|ElapsedRaw|NNodes|State|JobName"
    lines = [f"{job}|u|2024-03-01T08:00:00|60|2|COMPLETED|first" for job in (1, 2)]
    log = read(header, lines[0], "rest of the name", lines[1])
    assert (log.id.tolist(), dict(log.dropped)) == ([1, 2], {})


@pytest.mark.parametrize("bad", ["9|u1|half", "sacct: error: slurmdbd", "9|u1|x|y|z|1|2|3|4|5|6", "9|u1\n9|u1"])
def test_an_unreadable_record_is_dropped_and_counted_or_refused(read, bad):
    log = read(FIELDS, row(1), bad, row(2))
    assert (log.id.tolist(), set(log.dropped)) == ([1, 2], {"unreadable record"})
    refused(InputError, "sacct.txt, line 3: .*fields, expected 9.*strict=False", read, FIELDS, row(1), bad, row(2),
            strict=True)  # fmt: skip


def test_a_file_cut_off_in_a_record(read):
    log = read(("\n".join([FIELDS, row(1), row(2)])[:-40]).encode())
    assert (log.id.tolist(), dict(log.dropped)) == ([1], {"unreadable record": 1})


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"elapsed": "1:2:3:4"}, "ElapsedRaw"), ({"nodes": "two"}, "NNodes"), ({"nodes": "1.5"}, "NNodes"),
        ({"nodes": "9" * 400}, "NNodes"),
        ({"submit": "2024-13-01T00:00:00"}, "Submit"), ({"limit": "soon"}, "TimelimitRaw"),
        ({"job": "abc"}, "JobID"), ({"submit": "Yesterday 8:00"}, "Submit"), ({"elapsed": "9" * 30}, "ElapsedRaw"),
    ],
)  # fmt: skip
def test_a_bad_field_drops_its_record_only(read, change, field):
    log = read(FIELDS, row(1), row(**({"job": 2} | change)), row(3))
    assert (log.id.tolist(), dict(log.dropped)) == ([1, 3], {f"unreadable {field}": 1})
    refused(InputError, f"line 2: column '{field}'", read, FIELDS, row(**({"job": 2} | change)))


@pytest.mark.parametrize("elapsed", ["-0:00:16", "-1-00:00:00", "-00:02", "-5s", "-2:03"])
def test_negative_run_times_are_counted(read, elapsed):
    log = read(FIELDS, row(1), row(2, elapsed=elapsed))
    assert (log.id.tolist(), dict(log.dropped)) == ([1], {"run time negative": 1})


def test_moments_with_and_without_a_zone_do_not_mix(read):
    log = read(FIELDS, row(1), row(2, submit="2024-03-01T08:00:00+0100"), row(3))
    assert (log.id.tolist(), dict(log.dropped)) == ([1, 3], {"unreadable Submit": 1})


def test_a_field_that_is_not_needed_drops_nothing(read):
    log = read(FIELDS + "|ReqMem|AllocCPUS", row(1) + "|lots|many", row(2) + "|4G|64")
    assert (len(log), dict(log.dropped)) == (2, {})
    np.testing.assert_array_equal(log.columns["memory"], [np.nan, 4096])
    np.testing.assert_array_equal(log.columns["cores"], [np.nan, 64])


# -- separators and lines of names -------------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", ["^|^", ",", ";", "\t", "\x1f", "@@", " | "])
def test_separators_are_told_by_the_line_of_names(read, separator):
    plain = read(FIELDS, row(1), row(2, nodes=4))
    assert read(*(line.replace("|", separator) for line in (FIELDS, row(1), row(2, nodes=4)))) == plain
    assert read(*(line.replace("|", separator) for line in (FIELDS, row(1), row(2, nodes=4))),
                separator=separator) == plain  # fmt: skip


def test_a_separator_of_letters_has_to_be_given(read):
    lines = [line.replace("|", "xyx") for line in (FIELDS, row(1))]
    assert len(read(*lines, separator="xyx")) == 1
    refused(InputError, "sacct.txt", read, *lines)
    refused(OptionError, "separator: expected the text between two fields", read, FIELDS, row(1), separator="")


def test_any_order_of_fields_and_any_case(read):
    fields, cells = FIELDS.split("|"), row(7, nodes=3).split("|")
    plain = read(FIELDS, row(7, nodes=3))
    for shift in range(1, 9):
        order = [*range(shift, 9), *range(shift)]
        assert read("|".join(fields[at].lower() for at in order), "|".join(cells[at] for at in order)) == plain
    assert read(FIELDS + "|", row(7, nodes=3) + "|") == plain
    assert read("\ufeff" + FIELDS + "\r", row(7, nodes=3) + "\r") == plain
    assert read(FIELDS + "|Colour", row(7, nodes=3) + "|blue") == plain


def test_a_line_of_names_may_come_again_also_another(read):
    again = read(FIELDS, row(1), FIELDS, row(2), "", FIELDS, FIELDS, row(3))
    assert (again.id.tolist(), dict(again.dropped)) == ([1, 2, 3], {})
    other = "Partition|" + "|".join(FIELDS.split("|")[::-1])
    log = read(FIELDS, row(1), other, "batch|" + "|".join(row(2, nodes=5).split("|")[::-1]))
    assert (log.id.tolist(), log.size.tolist()) == ([1, 2], [2, 5])
    assert log.columns["partition"].tolist() == ["", "batch"]


def test_the_raw_id_is_an_id(read):
    log = read(FIELDS.replace("JobID", "JobIDRaw"), row(1), row("1.batch"), row(2))
    assert (log.id.tolist(), dict(log.dropped)) == ([1, 2], {"job step": 1})


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((row(1),), r"line 1: not a line with the names of fields.*--noheader \(-n\)"),
        (("JobID   User  State", "------- ----- -----", "1   u1   COMPLETED"), "fixed width.*--parsable2"),
        (("JobID      User      State", "1   u1   COMPLETED"), "spaces between the names.*--parsable2"),
        (("JobID|State", "1|COMPLETED"), "no field Submit; no field ElapsedRaw.*; no field AllocNodes.*with --format"),
        ((FIELDS,), r"no jobs are left \(the file has none\)"),
        ((FIELDS + "|State", row(1) + "|FAILED"), "field 'State' appears twice"),
        (("",), "empty; expected a line with the names of the fields"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_table_is_refused_with_the_option_that_helps(read, lines, said):
    refused(InputError, said, read, *lines)


# -- sizes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tres", "sizes"),
    [
        ("billing=64,cpu=64,gres/gpu=8,mem=500G,node=2", (2, 64, 8)),
        ("cpu=4,gres/gpu:a100=2,gres/gpu:v100=1,node=1", (1, 4, 3)),
        ("cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64000M,node=4", (4, 8, 4)),
        ("node=3,cpu=1.50K,gres/gpu=1", (3, 1536, 1)),
        ("cpu=1,energy=5,node=1,gres/gpu=2,gres/shard=7", (1, 1, 2)),
    ],
)
@pytest.mark.parametrize("field", ["AllocTRES", "ReqTRES"])
def test_sizes_from_resources(read, tres, sizes, field):
    lines = FIELDS.replace("NNodes", field), row(1, nodes=tres)
    assert tuple(read(*lines, size=size).size[0] for size in ("nodes", "cpus", "gpus")) == sizes


def test_resources_are_columns(read):
    fields = FIELDS + "|Partition|Account|QOS|Reservation|Priority|Constraints|AllocTRES"
    log = read(fields, row(1) + "|batch|phys|high|maint|77|ib|cpu=64,gres/gpu=8,mem=2G,node=2",
               row(2) + "|gpu|bio|low||5||cpu=32,mem=512M,node=2")  # fmt: skip
    assert {name: log.columns[name].tolist() for name in log.further} == {
        "partition": ["batch", "gpu"], "account": ["phys", "bio"], "qos": ["high", "low"],
        "reservation": ["maint", ""], "features": ["ib", ""], "priority": [77, 5], "State": ["COMPLETED"] * 2,
        "cores": [64, 32], "memory": [2048, 512], "memory_per": ["job"] * 2, "gpus": [8, 0], "gpus_per": ["job"] * 2,
        "nodes": [2, 2], "user_name": ["u1", "u1"],
    }  # fmt: skip
    assert read(fields, row(1) + "|b|p|q|r|7|ib|node=2", columns=["features", "Partition"]).further == (
        "features", "Partition")  # fmt: skip
    assert "nodes" in read(fields, row(1) + "|b|p|q|r|7|ib|cpu=5,node=2", size="cpus").further


@pytest.mark.parametrize(("text", "nodes"), [("1.50K", 1536), ("2K", 2048), ("96", 96), ("0.5K", 512), ("1M", 2**20)])
def test_counts_with_suffixes(read, text, nodes):
    assert read(FIELDS, row(1, nodes=text)).size.tolist() == [nodes]


@pytest.mark.parametrize(("text", "mebibytes"), [("4Gn", 8192), ("1800Mc", 115_200), ("500G", 512_000), ("16", 16),
                                                  ("1T", 2**20)])  # fmt: skip
def test_memory_of_old_and_new_releases(read, text, mebibytes):
    log = read(FIELDS + "|NCPUS|ReqMem", row(1) + f"|64|{text}")
    assert log.columns["memory"].tolist() == [mebibytes]


# -- several records of one id -----------------------------------------------------------------------------------------


def test_a_recycled_id_is_another_job(read):
    log = read(FIELDS, row(5, end="2024-03-01T09:00:00"), row(5, user="u9", submit="2031-03-01T08:00:00",
               start="2031-03-01T08:00:00", end="2031-03-01T09:00:00"))  # fmt: skip
    assert (log.id.tolist(), dict(log.dropped), log.lost_runs) == ([5, 5], {}, None)
    for state in ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED by 5", "OUT_OF_ME+"):
        log = read(FIELDS, row(5, state=state), row(5, submit="30:00", start="31:00", end="41:00"))
        assert (len(log), dict(log.dropped)) == (2, {})
    years = row(5, submit="2031-03-01T08:00:00", start="2031-03-01T08:00:00", end="2031-03-01T09:00:00")
    assert len(read(FIELDS, row(5, state="NODE_FAIL"), years)) == 2
    assert len(read(FIELDS, row(5, state="NODE_FAIL"), row(5, user="u2", submit="11:00"))) == 2


@pytest.mark.parametrize("state", ["NODE_FAIL", "PREEMPTED", "REQUEUED", "BOOT_FAIL", "PREEMPTED+", "NODE_FAIL by 0"])
def test_a_requeued_job_is_one_job_with_its_first_submit(read, state):
    fields = FIELDS + "|NodeList"
    log = read(
        fields,
        row(7, state=state) + "|n[2-3]",
        row(8) + "|n9",
        row(7, submit="10:05", start="20:00", end="25:00", elapsed=300, state=state, nodes=4) + "|rack[01-04]-n1",
        row(7, submit="25:00", start="30:00", end="50:00", elapsed=1200, nodes=4) + "|n[2-5]",
    )
    assert (log.id.tolist(), log.submit.tolist(), log.runtime.tolist(), log.size.tolist()) == (
        [8, 7], [28_800, 28_800], [600, 1200], [2, 4])  # fmt: skip
    assert dict(log.dropped) == {"earlier run of a requeued job": 2}
    lost = log.lost_runs
    assert (lost.time.tolist(), lost.downtime.tolist(), lost.node.tolist()) == ([29_405, 30_300], [0, 0], [0, 1])
    assert (lost.nodes, lost.reasons.tolist()) == (("n2", "rack01-n1"), [state.partition(" ")[0].rstrip("+")] * 2)
    assert fs.simulate(log, fs.Cluster(8), failures=lost).counters["failures"] == 1  # the other is after the end


def test_lost_runs_stay_with_the_log_while_its_clock_does(read):
    import pickle

    log = read(
        FIELDS, row(7, state="NODE_FAIL"), row(7, submit="10:05", end="40:05"), row(8, submit="30:00", end="50:00")
    )
    lost = log.lost_runs
    assert (len(lost), lost.nodes, lost.node.tolist()) == (1, (), [0])
    for same in (log[:1], log.renamed("x"), log.with_columns(a=[1, 2]), pickle.loads(pickle.dumps(log))):
        assert same.lost_runs == lost
        assert same.lost_runs.reasons.tolist() == ["NODE_FAIL"]
    for moved in (log.from_zero(), log.with_gap_factor(2.0), fs.concat([log])):
        assert moved.lost_runs is None
    later = read(FIELDS, row(7, state="NODE_FAIL"), row(7, submit="10:05", end="40:05"), row(8, submit="30:00"),
                 begin="2024-03-01T08:29:00")  # fmt: skip
    assert later.lost_runs is None


def test_parts_of_a_resized_job(read):
    log = read(
        FIELDS,
        row(9, start="00:00", end="20:00", elapsed=1200, nodes=4, state="RESIZING"),
        row(9, start="20:00", end="30:00", elapsed=600, nodes=8, state="RESIZING"),
        row(9, start="30:00", end="35:00", elapsed=300, nodes=1),
    )
    assert (log.id.tolist(), log.size.tolist()) == ([9, 9, 9], [4, 8, 1])
    assert log.submit.tolist() == [28_800, 30_000, 30_600]
    assert log.estimate.tolist() == [3600, 2400, 1800]
    assert float((log.size * log.runtime).sum()) == 4 * 1200 + 8 * 600 + 300
    assert "resized while they ran: 2" in log.header["Note"]


def test_records_that_exports_share_count_once(read):
    running = row(1, end="Unknown", state="RUNNING")
    pending = row(2, start="Unknown", end="Unknown", elapsed=0, state="PENDING")
    for lines in ((row(1), row(1)), (running, row(1)), (row(1), running), (pending, row(2)), (row(2), pending)):
        log = read(FIELDS, *lines)
        assert (len(log), dict(log.dropped)) == (1, {"repeated record": 1})


@pytest.mark.parametrize("state", ["CANCELLED", "CANCELLED+", "CANCELLED by 1000", "CANCELLE+", "cancelled"])
def test_jobs_cancelled_in_the_queue(read, state):
    log = read(FIELDS, row(1), row(2, end="00:05", elapsed=0, state=state), row(3, elapsed=600, state=state))
    assert (log.id.tolist(), dict(log.dropped)) == ([1, 3], {"never started": 1})


def test_requeued_heterogeneous_jobs_that_are_recycled(read):
    lines = [row(f"9+{part}", submit=submit, start=submit, end=end, elapsed=600, nodes=1 + 2 * part, state=state)
             for submit, end, state in (("00:00", "10:00", "NODE_FAIL"), ("10:00", "20:00", "COMPLETED"))
             for part in (0, 1)]  # fmt: skip
    later = [row(f"9+{part}", submit=f"2031-03-01T08:0{part}:00", start="2031-03-01T08:02:00",
                 end="2031-03-01T08:12:00") for part in (0, 0)]  # fmt: skip
    log = read(FIELDS, *lines, later[0])
    assert (log.id.tolist(), log.size.tolist(), len(log.lost_runs)) == ([9, 9], [4, 2], 1)
    assert dict(log.dropped) == {"earlier run of a requeued job": 2, "component of a heterogeneous job": 1}


# -- clocks ------------------------------------------------------------------------------------------------------------


def test_spans_across_a_change_of_the_clock(read):
    fields = FIELDS.replace("|ElapsedRaw", "")
    lines = [fields]
    for job, start, end in ((1, "2024-03-31T01:30:00", "2024-03-31T03:30:00"), (2, "2024-10-26T23:00:00",
                            "2024-10-27T03:30:00"), (3, "2024-10-27T02:30:00", "2024-10-27T03:30:00")):  # fmt: skip
        lines.append(f"{job}|u|{start}|{start}|{end}|60|1|COMPLETED")
    assert read(*lines).runtime.tolist() == [7200, 16_200, 3600]
    log = read(*lines, zone="Europe/Berlin")
    assert log.runtime.tolist() == [3600, 19_800, 7200]
    assert "1 record has a moment in an hour that clocks in Europe/Berlin show twice" in log.header["Note"]
    assert log.header["UnixStartTime"] == "1711843200"
    refused(OptionError, "zone: 'Mars'", read, *lines, zone="Mars")


@pytest.mark.parametrize(
    "other",
    ["2024-02-30T00:00:00", "0000-01-01T00:00:00", "2024-03-01T24:00:00", "2024-03-01 08:00:00", "2024-03-01T08:00",
     "1709280000", "Unknown", "None", "2024-03-01T08:00:60", "2024-03-01T08:00:05.25"],
)  # fmt: skip
def test_moments_of_one_form_and_of_others_are_the_same(read, other):
    """A column of plain moments is read at once, one with another form among them one by one."""
    from faultsim import vocabulary

    plain = read(FIELDS, row(1), row(2, start="03:00"), row(3, submit="05:00"))
    mixed = read(FIELDS, row(1), row(2, start="03:00"), row(3, submit="05:00"), f"9|u1|{other}|" + row(9)[25:])
    assert mixed[mixed.id < 9].submit.tolist() == plain.submit.tolist()
    moment = vocabulary.moment(other)
    seconds = float(other) if other.isdigit() else math.nan if moment is None else moment[0]
    found = mixed.submit[mixed.id == 9] + float(mixed.header["UnixStartTime"])
    np.testing.assert_array_equal(found, [] if math.isnan(seconds) else [seconds])


@pytest.mark.parametrize("limit", ["UNLIMITED", "Partition_Limit", "INVALID", "", "unlimited"])
def test_words_for_no_limit(read, limit):
    assert read(FIELDS, row(1, limit=limit)).estimate.tolist() == [-1]


# -- JSON --------------------------------------------------------------------------------------------------------------


def job(number, **changes):
    time = {"submission": 1709280000, "start": 1709280005, "end": 1709280605, "elapsed": 600,
            "limit": {"set": True, "infinite": False, "number": 60}}  # fmt: skip
    return {"job_id": number, "time": time, "allocation_nodes": 2, "user": "u1", "partition": "batch",
            "state": {"current": ["COMPLETED"], "reason": "None"}, "steps": []} | changes  # fmt: skip


def test_json_of_new_and_old_releases(read):
    tres = [{"type": "cpu", "name": "", "id": 1, "count": 64}, {"type": "mem", "name": "", "count": 2048},
            {"type": "node", "name": "", "count": 3}, {"type": "gres", "name": "gpu:a100", "count": 4}]  # fmt: skip
    old = job(1)["time"] | {"limit": 60}
    document = {"jobs": [
        job(501, time=old, state={"current": "COMPLETED"}),
        job(502, allocation_nodes=3, tres={"allocated": tres}, priority={"set": True, "number": 9}, constraints="ib",
            time=old | {"limit": {"infinite": True}}),
        job(503, array={"job_id": 503, "task_id": {"set": True, "number": 4}}),
        job(504, state={"current": ["PENDING"]}, time=old | {"start": 0, "end": 0, "elapsed": 0}),
        "no job",
    ], "meta": {}}  # fmt: skip
    for indent in (None, 2):
        log = read(json.dumps(document, indent=indent).encode())
        assert log.id.tolist() == ["501", "502", "503_4"]
        assert (log.estimate.tolist(), log.size.tolist()) == ([3600, -1, 3600], [2, 3, 2])
        assert dict(log.dropped) == {"unreadable record": 1, "never started": 1}
    assert (log.columns["gpus"][1], log.columns["cores"][1], log.columns["memory"][1]) == (4, 64, 2048)
    assert log.columns["features"].tolist() == ["", "ib", ""]
    refused(InputError, "job 5: .*is no object", read, json.dumps(document).encode(), strict=True)


def test_a_requeued_job_in_json(read):
    first = job(7, state={"current": ["NODE_FAIL"]}, nodes="n[4-5]")
    second = job(7, time=job(7)["time"] | {"submission": 1709280605, "start": 1709280700, "end": 1709281000,
                                             "elapsed": 300})  # fmt: skip
    log = read(json.dumps({"jobs": [first, second]}).encode())
    assert (len(log), log.runtime.tolist(), log.lost_runs.nodes) == (1, [300], ("n4",))


@pytest.mark.parametrize("text", [b'{"jobs": 5}', b'{"job": []}', b'{"jobs": [', b'{"jobs": []}', b"{" * 5000])
def test_json_that_is_none_of_sacct(read, text):
    refused(InputError, "sacct.txt", read, text)


# -- bad input in bounded time -----------------------------------------------------------------------------------------


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "content",
    [
        FIELDS + "\n" + "|" * 900_000,
        "JobID|JobName|Comment|SubmitLine|Submit|NNodes|ElapsedRaw\n" + ("|" * 60 + "\n") * 3000,
        FIELDS + "\n" + "x\n" * 300_000,
        FIELDS + "\n" + (row(7, state="RESIZING") + "\n") * 8000,
        FIELDS + "\n" + "".join(row(7, state="NODE_FAIL", submit=f"{n % 60:02}:00") + "\n" for n in range(8000)),
        "|".join(f"F{n}" for n in range(100_000)) + "|JobID|State\n",
        (FIELDS + "\n") * 5000,
        FIELDS.replace("NNodes", "AllocTRES") + "\n" + row(1, nodes="x" * 500_000) + "\n",
        FIELDS + "|NodeList\n" + row(1, state="NODE_FAIL") + "|n[1-999999999999]\n" + row(1, submit="09:00") + "|n1",
    ],
)
def test_crafted_files_are_read_or_refused_in_time(tmp_path, content):
    path = tmp_path / "crafted.txt"
    path.write_text(content)
    with contextlib.suppress(InputError):
        fs.read_sacct(path)


# -- recordings of a real Slurm ----------------------------------------------------------------------------------------


def test_recordings_of_a_real_slurm_are_read(data_dir):
    paths = sorted((data_dir / "slurm" / "runs").glob("*/sacct.txt"))
    if not paths:
        pytest.skip("no recordings of Slurm in the data folder")
    for path in paths:
        log = fs.read_sacct(path, strict=True)
        records = len(path.read_text().splitlines()) - 1
        assert len(log) + sum(log.dropped.values()) == records
        assert {"partition", "account", "qos", "priority", "cores", "gpus"} <= set(log.further)
        # ReqMem is all of a node's memory where SelectTypeParameters=CR_Core gives out none.
        conf = path.with_name("slurm.conf").read_text()
        assert ("memory" in log.further) == ("CR_Core_Memory" in conf)
        lost = log.dropped.get("earlier run of a requeued job", 0)
        assert (0 if log.lost_runs is None else len(log.lost_runs)) == lost
    reasons = {path.parent.name: fs.read_sacct(path).lost_runs for path in paths}
    assert set(reasons["08-failures"].reasons.tolist()) == {"NODE_FAIL"}
    assert set(reasons["09a-preempt-requeue"].reasons.tolist()) == {"PREEMPTED"}
