"""`read_stepfun`: faults and repairs of GPU servers."""

import json

import pytest

import faultsim as fs
from faultsim.errors import InputError, OptionError
from helpers.refusals import refused

DAY = 86_400


def event(node, day, what, level="Hardware Failure", cause="GPU Lost"):
    kind = {"Level": level, "Class": "GPU", "Desc": cause}
    return {"node_id": node, "event_time": day, "event_type": f"fault_{what}", "fault_type": kind}


def stepfun(tmp_path, *events):
    path = tmp_path / "fault_trace.json"
    path.write_text(json.dumps(events, indent=4))
    return path


FEW = (
    event("b", 1, "start"),
    event("a", 1.5, "start", "Other Failure"),
    event("b", 2, "start", cause="NIC Lost"),
    event("b", 2.5, "end"),
    event("a", 3, "end", "Other Failure"),
    event("b", 4, "end", cause="NIC Lost"),
    event("c", 5, "start"),
    event("a", 6, "start", "Software Failure"),
    event("a", 6.25, "end", "Software Failure"),
)


def test_faults_end_with_their_own_ends(tmp_path):
    path = stepfun(tmp_path, *FEW)
    trace = fs.read_stepfun(path)
    assert (trace.time / DAY).tolist() == [1, 1.5, 6]
    assert (trace.downtime / DAY).tolist() == [3, 1.5, 0.25]
    assert trace.node.tolist() == [0, 1, 1]
    assert (trace.span, trace.name) == (6.25 * DAY, "StepFun")
    assert dict(trace.dropped) == {"without an end": 1, "overlapping outage merged": 1}
    assert (fs.read_stepfun(path, merge=False).downtime / DAY).tolist() == [1.5, 1.5, 2, 0.25]
    hardware = fs.read_stepfun(path, "hardware")
    assert (hardware.node.tolist(), hardware.dropped["of another kind"]) == ([0], 2)


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([{"node_id": "a"}], "event 0: no 'event_time'"),
        ([5], "event 0: no 'node_id'"),
        ([event("a", "soon", "start")], "event 0: event_time 'soon' is no number of days"),
        ([event("a", 1, "middle")], "event 0: event_type 'fault_middle' is neither fault_start nor fault_end"),
        ([event("a", 1, "start"), event("a", 2, "end", cause="?")], "event 1: an end without its begin"),
        ([event("a", 1, "start")], r"no failures are left \(without an end: 1\)"),
        ([], r"no failures are left \(the file has none\)"),
        ([event("a", 1, "start") | {"fault_type": "GPU"}], "event 0: fault_type has no 'Level'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, events, said):
    refused(InputError, f"fault_trace.json.*: {said}" if "event" not in said else said, fs.read_stepfun,
            stepfun(tmp_path, *events))  # fmt: skip


def test_other_files(tmp_path):
    path = tmp_path / "fault_trace.json"
    path.write_text("[1,")
    refused(InputError, "fault_trace.json: not JSON: ", fs.read_stepfun, path)
    path.write_text("{}")
    refused(InputError, "fault_trace.json: expected a JSON list of events, got dict", fs.read_stepfun, path)
    refused(OptionError, "unknown kinds 'software'", fs.read_stepfun, path, "software")


def test_the_real_file(data_dir):
    path = data_dir / "failures" / "stepfun" / "fault_trace.json.xz"
    trace = fs.read_stepfun(path, merge=False)
    assert (len(trace), trace.min_nodes, sum(trace.dropped.values())) == (584, 231, 0)
    assert 348.9 < trace.span / DAY < 349
    assert fs.read_stepfun(path).dropped["overlapping outage merged"] == 2
    summary = trace.summary(nodes=400)
    assert round(1000 * len(trace) / 400 / (trace.span / DAY), 2) in (4.18, 4.20)  # faults per 1,000 node-days
    assert (round(summary["downtime_mean"] / DAY, 1), round(summary["downtime_median"] / DAY, 2)) == (5.5, 0.85)
