"""Sites: their forms, what they refuse, and how they are changed."""

import json
import pickle

import pytest

import faultsim as fs
from faultsim.cli import main
from faultsim.machines import machine_from_lowered, parse_machine

CPU = fs.NodeClass("cpu", 180, cores=32, memory="187G", weight=10, features="ib,cascade")
GPU = fs.NodeClass("gpu", 8, cores=40, memory="187G", gpus={"v100": 2}, weight=50)
SITE = fs.Site(
    [CPU, GPU], partitions=[fs.Partition("general", "cpu,gpu", max_time="3d", default=True), fs.Partition("gpu", "gpu")]
)
TEXTS = [
    "site:cpu=180x32c187G,gpu=8x40c187Gx2v100",
    "site:n=87x32c187000M@60+CPU-Gold-6130+OPA,gn=2x32c187000Mx2tesla_p100-pcie-16gb@190/a=n+gn,max_time=3600s,default",
    "site:one=1x1c",
    str(SITE),
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_and_plain_form_return_the_same_site(text):
    site = parse_machine(text)
    assert parse_machine(str(site)) == site
    assert machine_from_lowered(json.loads(json.dumps(site.lower()))) == site
    assert pickle.loads(pickle.dumps(site)) == site
    assert hash(site) == hash(parse_machine(text))
    assert eval(repr(site.classes[0]), {"NodeClass": fs.NodeClass}) == site.classes[0]
    assert site._repr_html_().count("<tr>") == len(site.classes) + 1


def test_amounts_are_sums_over_classes():
    assert (SITE.nodes, SITE.cores, SITE.gpus, SITE.mebibytes) == (188, 180 * 32 + 8 * 40, 16, 188 * 187 * 1024)
    assert SITE.nodes_of("gpu") == range(180, 188)
    assert parse_machine(TEXTS[0]).classes[1].gpus == (("v100", 2),)


def test_other_sites_are_made_of_one():
    assert SITE.with_nodes("gpu", 28).nodes == 208
    assert SITE.without("gpu").nodes == 180
    assert [str(each) for each in SITE.without("gpu").partitions] == ["general=cpu,max_time=259200s,default"]
    named = fs.Site([fs.NodeClass("a", 2, hosts=["x", "y"])])
    assert named.with_nodes("a", 1).classes[0].hosts == ("x",)
    assert named.with_nodes("a", 3).classes[0].hosts == ()
    smaller = fs.Site([CPU, GPU], [fs.Partition("all", "cpu,gpu")]).without("gpu")
    assert smaller.partitions[0].classes == ("cpu",)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: fs.NodeClass("cpu", 2, memory="187"),
            r"memory of the node class 'cpu': '187' has no unit; write '187G'",
        ),
        (lambda: fs.NodeClass("cpu", 2, memory=187), r"187 has no unit; write '187G' or '187M'"),
        (lambda: fs.NodeClass("cpu", 2, memory="much"), "must be an amount with its unit"),
        (lambda: fs.NodeClass("cpu", 0), "count of the node class 'cpu' must be"),
        (lambda: fs.NodeClass("cpu", 1, cores=9000), "cores of the node class 'cpu' must be"),
        (lambda: fs.NodeClass("c p", 1), "must be a name of letters"),
        (lambda: fs.NodeClass("cpu", 1, gpus={"a": 1, "b": 2}), "GPUs of one type, got a, b"),
        (lambda: fs.NodeClass("cpu", 1, features="ib,ib"), "'ib' is named twice"),
        (lambda: fs.NodeClass("cpu", 2, hosts=["a"]), "1 name for 2 nodes"),
        (lambda: fs.Partition("p", ""), "the partition 'p' has no nodes"),
        (lambda: fs.Site([]), "at least one NodeClass"),
        (lambda: fs.Site([CPU, CPU]), "two node classes of the site are called 'cpu'"),
        (lambda: fs.Site("cpu"), "must be a list of NodeClass"),
        (lambda: fs.Site([CPU, 3]), "must be a list of NodeClass, got 3 in it"),
        (
            lambda: fs.Site([fs.NodeClass("a", 1, hosts=["x"]), fs.NodeClass("b", 1, hosts=["x"])]),
            "node classes overlap: the host 'x' is in 'a' and 'b'",
        ),
        (lambda: fs.Site([CPU, fs.NodeClass("big", 1)]), "memory of the node class 'big' is missing"),
        (lambda: fs.Site([CPU], [fs.Partition("p", "cpus")]), "did you mean 'cpu'"),
        (
            lambda: fs.Site([CPU], [fs.Partition("p", "cpu", default=True), fs.Partition("q", "cpu", default=True)]),
            "only one partition can be the default, got 'p' and 'q'",
        ),
        (lambda: fs.Site([CPU], [fs.Partition("p", "cpu"), fs.Partition("p", "cpu")]), "two partitions"),
        (lambda: fs.Site([fs.NodeClass(f"c{i}", 1) for i in range(65)]), "at most 64 node classes, got 65"),
        (lambda: SITE.with_nodes("gpus", 2), "no node class 'gpus' .did you mean 'gpu'"),
        (lambda: SITE.without("gpus"), "no node class 'gpus'"),
        (lambda: SITE.without("gpu").without("cpu"), "at least one NodeClass"),
        (lambda: parse_machine("site:cpu=180"), "'cpu=180' is no node class; write NAME=NODESxCORESc"),
        (lambda: parse_machine("site:cpu=180x32c187"), "'187' has no unit"),
        (lambda: parse_machine("site:cpu=1x1c/p=cpu,tiers=2"), "'tiers=2' is no option of a partition"),
        (lambda: parse_machine("site:cpu=1x1c/p"), "is no partition; write NAME=CLASS"),
        (lambda: parse_machine("sit:cpu=1x1c"), "did you mean 'site'"),
    ],
)
def test_what_is_no_site_says_why(make, message):
    with pytest.raises(fs.OptionError, match=message):
        make()


def test_the_command_line_shows_a_site(capsys):
    assert main(["show", TEXTS[0]]) == 0
    assert capsys.readouterr().out == parse_machine(TEXTS[0]).table() + "\n"
    assert "180     32    187G" in parse_machine(TEXTS[0]).table()
    assert main(["show", TEXTS[0], "--json"]) == 2
    assert "--json is for a file" in capsys.readouterr().err


def log_of(**columns):
    n = len(next(iter(columns.values())))
    return fs.Workload(range(n), [5] * n, [1] * n, estimate=[10] * n, columns=columns)


def simulate(log, site=SITE, **options):
    return fs.Run(log, site, **options).simulate(engine="reference")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"cores": [1, 2], "gpus": [0, 8]},
            r"job 2 \(row 1\) asks for 8 GPUs on a node; no node class has more than 2",
        ),
        ({"cores": [64], "nodes": [1]}, "asks for 64 cores on a node; no node class has more than 40"),
        ({"cores": [1], "memory": [200000]}, "asks for 200000 MiB on a node; no node class has more than 191488"),
        ({"cores": [9999]}, "asks for 9999 cores; the nodes that it may use have fewer"),
        ({"cores": [40 * 9], "nodes": [9], "gpus": [1], "partition": ["gpu"]}, "asks for 9 nodes; 8 .* can hold"),
        ({"cores": [1], "features": ["ib"], "partition": ["gpu"]}, "no node class of the partition gpu has what its"),
        ({"cores": [1], "gpus": [4], "partition": ["gpu"]}, "no node class of the partition gpu has more than 2"),
    ],
)
def test_jobs_that_no_node_can_hold_are_named(columns, message):
    with pytest.raises(fs.InputError, match=message):
        simulate(log_of(**columns))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"cores": [1, 1], "partition": ["general", "genral"]},
            "partition, row 1: .* 'genral' .did you mean 'general'",
        ),
        (
            {"cores": [1], "features": ["ibb"]},
            "features, row 0: no node class has the feature 'ibb' .did you mean 'ib'",
        ),
        ({"cores": [1], "features": ["[ib|x]*2"]}, "features, row 0: .* cannot be read; write 'a&b'"),
        ({"cores": [1], "gpus": [1], "gpu_type": ["a100"]}, "gpu_type, row 0: .* type 'a100'.*; it has v100"),
        ({"cores": [0]}, "cores, row 0: 0 is less than 1"),
        ({"cores": [1.5]}, "cores, row 0: 1.5 is no whole number"),
        ({"cores": [1], "nodes": [-2]}, "nodes, row 0: -2 is no number of nodes"),
        ({"cores": [1], "memory": ["32"]}, "memory, row 0: '32' has no unit; write '32G' or '32M'"),
        ({"cores": [1], "memory": [-5]}, "memory, row 0: -5 is no amount"),
        (
            {"cores": [1], "memory": [5], "memory_per": ["cpu"]},
            "memory_per, row 0: 'cpu' is none of 'node', 'core', 'job'",
        ),
        ({"cores": [1], "gpus": [2], "gpus_per": ["job"]}, "gpus, row 0: 2 GPUs of a job of any number of nodes"),
        ({"cores": [1], "exclusive": [2]}, "exclusive, row 0: 2 is neither 0 nor 1"),
        ({"memory": [1]}, "column 'memory' and no column 'cores'"),
        ({"queue": [1]}, "no column 'cores', so its jobs take whole nodes, which needs a site of one class"),
    ],
)
def test_columns_without_sense_are_refused_with_their_row(columns, message):
    with pytest.raises(fs.InputError, match=message):
        simulate(log_of(**columns))


def test_a_time_beyond_that_of_the_partition_is_refused():
    log = fs.Workload([0], [5], [1], estimate=["4d"], columns={"cores": [1]})
    with pytest.raises(fs.InputError, match="asks for 345600 s; the partition general allows 259200 s"):
        simulate(log)
    assert len(simulate(log.with_columns(partition=["gpu"]))) == 1


def test_jobs_that_cannot_be_held_are_dropped_on_request():
    log = log_of(cores=[1, 9999, 2], priority=[3, 1, 2])
    found = simulate(log, oversized="drop", scheduler=fs.EasyBackfill(order=fs.Key("priority")))
    assert found.jobs["id"].tolist() == [1, 3]
    assert dict(found.workload.dropped) == {"no nodes of the site hold it": 1}


def test_a_job_without_a_partition_goes_to_the_default_one():
    site = fs.Site([CPU, GPU], [fs.Partition("a", "cpu"), fs.Partition("b", "gpu")])
    with pytest.raises(fs.InputError, match=r"partition, row 0: the job names none, and no partition .* default"):
        simulate(log_of(cores=[1]), site)
    held = simulate(log_of(cores=[1, 1], partition=["b", "a,b"]), site, record=True)
    assert held.allocations["nodes"].tolist() == [180, 0]


def test_sizes_are_cores_and_so_is_the_capacity():
    log = log_of(cores=[8, 2])
    found = simulate(log)
    assert found.jobs["size"].tolist() == [8, 2]
    assert found.capacity == SITE.cores
    assert sum(found.ledger.values()) == pytest.approx(SITE.cores * found.metrics["makespan"])
    assert found.by("cores")["cores"].tolist() == [2, 8]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"placement": fs.MaxFreePartition()}, "MaxFreePartition"),
        ({"rescheduling": fs.Fars(300, "sul"), "predictor": "interval:precision=1,recall=1,interval=300"}, "Fars"),
        ({"migration": fs.Defragment()}, "Defragment"),
        ({"recovery": fs.HotSpares(1)}, "HotSpares"),
    ],
)
def test_policies_that_do_not_share_nodes_are_refused_by_name(options, message):
    with pytest.raises((fs.OptionError, fs.InputError), match=message):
        fs.Run(log_of(cores=[1]), SITE, **options)


def test_placements_of_shared_nodes_are_refused_elsewhere():
    with pytest.raises(fs.OptionError, match=r"BestFit chooses nodes that jobs share.*use placement=FirstFit\(\)"):
        fs.Run(fs.Workload([0], [1], [1]), fs.Cluster(4), placement=fs.BestFit())


def test_memory_as_text_and_in_mebibytes_are_the_same():
    numbers, texts = log_of(cores=[1], memory=[32768]), log_of(cores=[1], memory=["32G"])
    assert SITE.asks(numbers).memory.tolist() == SITE.asks(texts).memory.tolist() == [32768]


def test_amounts_per_core_node_and_job():
    log = log_of(
        cores=[8, 8, 8, 8], nodes=[2, 2, 2, 0], memory=[100] * 4, memory_per=["node", "core", "job", "job"],
        gpus=[2, 2, 2, 0], gpus_per=["node", "node", "job", ""],
    )  # fmt: skip
    asks = SITE.asks(log)
    assert asks.memory.tolist() == [100, 400, 50, 13]
    assert asks.by_core.tolist() == [False, False, False, True]
    assert asks.gpus.tolist() == [2, 2, 1, 0]
    assert asks.cores.tolist() == [4, 4, 4, 8]
