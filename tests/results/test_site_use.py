"""What is held and stranded of each resource: cases by hand, and second by second."""

import numpy as np
import pytest

import faultsim as fs


def run(site, **columns):
    n = len(columns["cores"])
    times = [columns.pop(name, default) for name, default in (("submit", [0] * n), ("runtime", [10] * n))]
    return fs.simulate(fs.Workload(*times, [1] * n, columns=columns), site, record=True)


def test_gpus_beside_taken_cores_are_stranded_while_a_job_waits_for_them():
    found = run("site:n=1x4cx2v100", cores=[4, 1], gpus=[0, 1])
    assert dict(found.utilization) == {"cores": 40 / 80 + 10 / 80, "gpus": 10 / 40}
    assert dict(found.stranded) == {"cores": 0.0, "gpus": 20 / 40}


def test_nothing_is_stranded_that_no_waiting_job_requests():
    found = run("site:n=1x4cx2v100", cores=[4, 1], gpus=[0, 0])
    assert dict(found.stranded) == {"cores": 0.0, "gpus": 0.0}


def test_memory_strands_cores():
    # The first job has all memory and one core of 4; the second waits for memory: 3 cores for 10 s of 20.
    found = run("site:n=1x4c8G", cores=[1, 2], memory=[8192, 1])
    assert found.stranded["cores"] == 30 / 80
    assert found.stranded["memory"] == 0.0
    assert found.utilization["memory"] == pytest.approx((8192 * 10 + 10) / (8192 * 20))


def test_what_other_jobs_may_not_use_is_not_stranded():
    site = "site:a=1x4cx2v100,b=1x4c"
    found = run(site, cores=[4, 4], gpus=[0, 1], features=["", ""])
    # The first job is on a; the second waits for its cores, and b has no GPUs.
    assert found.jobs["start"].tolist() == [0, 10]
    assert dict(found.stranded) == {"cores": 0.0, "gpus": 20 / 40}


def test_exclusive_jobs_hold_whole_nodes():
    found = run("site:n=2x4c8G", cores=[1, 1], exclusive=[True, False], nodes=[1, 1])
    assert found.utilization["cores"] == (40 + 10) / 80
    assert found.utilization["memory"] == 0.5


def test_random_runs_second_by_second():
    rng = np.random.default_rng(8)
    for _ in range(15):
        n = 12
        site = fs.Site(
            [fs.NodeClass("a", 2, cores=4, memory="10M", gpus=2), fs.NodeClass("b", 1, cores=6, memory="9M")]
        )
        columns = {
            "cores": rng.integers(1, 5, n), "nodes": np.ones(n, int), "memory": rng.integers(0, 9, n),
            "gpus": rng.choice([0, 0, 1], n),
        }  # fmt: skip
        log = fs.Workload(np.sort(rng.integers(0, 20, n)), rng.integers(1, 12, n), [1] * n, columns=columns)
        trace = fs.FailureTrace([5, 9], [0, 1], [7, 0], span=1000)
        found = fs.simulate(log, site, failures=trace, record=True)
        begin, end = (int(t) for t in found.span)
        has = np.array([[4, 10, 2], [4, 10, 2], [6, 9, 0]])
        asks = np.stack([columns[name] for name in ("cores", "memory", "gpus")], axis=1)
        held, stranded, down = np.zeros(3), np.zeros(3), np.zeros(3)
        table = found.allocations
        for t in range(begin, end):
            free = has.copy()
            runs = set()
            for at in range(len(table["job"])):
                if table["begin"][at] <= t < table["end"][at]:
                    runs.add(int(table["job"][at]))
                    free[table["nodes"][table["node_offsets"][at]]] -= asks[table["job"][at]]
            held += (has - free).sum(axis=0)
            waits = [j for j in range(n) if log.submit[j] <= t < found.jobs["finish"][j] and j not in runs]
            for node in range(3):
                if node == 0 and 5 <= t < 12:
                    down += free[node]
                    continue
                for r in range(3):
                    want = [j for j in waits if asks[j, r] > 0 and (asks[j] <= has[node]).all()]
                    other = [q for q in range(3) if q != r]
                    if want and all((asks[j, other] > free[node, other]).any() for j in want):
                        stranded[r] += free[node, r]
        total = has.sum(axis=0) * (end - begin)
        assert list(found.utilization.values()) == pytest.approx(held / total)
        assert list(found.stranded.values()) == pytest.approx(stranded / total)
        ledger = found.resources
        assert ledger["unit"].tolist() == ["core-s", "MiB-s", "GPU-s"]
        for name, expected in {"capacity": total, "held": held, "stranded": stranded, "down": down}.items():
            assert ledger[name] == pytest.approx(expected)
        assert ledger["idle"] == pytest.approx(total - held - stranded - down)
        assert ledger["down"][0] == pytest.approx(found.ledger["down"])


def test_what_has_no_resources_says_so():
    whole = fs.simulate(fs.Workload([0], [1], [1]), fs.Cluster(2), record=True)
    with pytest.raises(fs.OptionError, match=r"here jobs take whole nodes: use metrics\['utilization'\]"):
        _ = whole.utilization
    with pytest.raises(fs.OptionError, match="record=True"):
        _ = fs.simulate(fs.Workload([0], [1], [1], columns={"cores": [1]}), "site:n=1x1c").stranded
    split = run("site:n=2x2c", cores=[3])
    with pytest.raises(fs.OptionError, match="job 1 of any number of nodes is on several"):
        _ = split.stranded
