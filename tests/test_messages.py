"""Messages name what was given, what is allowed and how to mend it, in the words of where they are read."""

import pytest

import faultsim as fs
from faultsim.checks import did_you_mean
from helpers import command
from helpers.refusals import refused

LOG = fs.Workload(submit=[0, 1, 5], runtime=[9, 9, 3], size=[2, 1, 2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheduler": "easy:10"}, "'10' is no option of scheduler 'easy'; known: order, reservation"),
        ({"scheduler": "backfill:10,20"}, "'20' is no option of scheduler 'backfill'"),
        ({"scheduler": "shortest"}, "it is an order, which is an option of a scheduler"),
        ({"placement": "easy"}, "it is a scheduler"),
        (
            {"scheduler": object},
            r"Preemptive, or an object of your own subclass of fs\.Scheduler, got the class object",
        ),
        ({"scheduler": len}, r"your own subclass of fs\.Scheduler, got the function len"),
        ({"placement": dict}, r"your own subclass of fs\.Placement, got the class dict"),
        ({"recovery": int}, r"your own subclass of fs\.Recovery, got the class int"),
    ],
)
def test_policies(options, message):
    refused(fs.OptionError, message, fs.simulate, LOG, "cluster:4", **options)


def test_kinds_of_policies():
    refused(
        fs.OptionError,
        r"unknown kind of policy 'schedulers' \(did you mean 'scheduler'",
        fs.parse_policy,
        "schedulers",
        "easy",
    )
    refused(fs.OptionError, "kinds: scheduler, order, placement", fs.parse_policy, "easy", "easy")


@pytest.mark.parametrize(
    ("wrong", "right"), [("runtime", "shortest"), ("sizes", "size"), ("fifo", "arrival"), ("sfj", "sjf")]
)
def test_orders(wrong, right):
    refused(fs.OptionError, f"unknown queue order '{wrong}' .did you mean '{right}'", fs.EasyBackfill, order=wrong)


@pytest.mark.parametrize("name", ["f1", "sjf", "wfp3"])
def test_the_name_of_a_key_is_no_key(name):
    order = fs.EasyBackfill(order=fs.Key(name))
    refused(
        fs.OptionError,
        f"the order of this name is order='{name}', without Key",
        fs.simulate,
        LOG,
        "cluster:4",
        scheduler=order,
    )
    with_column = LOG.with_columns(f1=[3, 1, 2])
    assert fs.simulate(with_column, "cluster:4", scheduler=fs.EasyBackfill(order=fs.Key("f1"))).is_over


@pytest.mark.parametrize(
    ("wrong", "known"),
    [
        ("runtime", ["unicef", "wfp3"]),
        ("verbose", ["oversized", "overrun"]),
        ("zzz", ["easy"]),
        ("events", ["placement"]),
    ],
)
def test_what_is_not_near_is_not_suggested(wrong, known):
    assert did_you_mean(wrong, known) == ""


def test_an_episode_longer_than_the_log():
    pytest.importorskip("gymnasium")
    from faultsim import rl

    said = "an episode of 256 jobs needs a longer log, this one has 3: give jobs=3 or less"
    refused(fs.OptionError, said, rl.PickJob, LOG)
    refused(fs.OptionError, said, rl.VectorPickJob, 2, log=LOG)


def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    LOG.write_swf("log.swf")
    (tmp_path / "sweep.toml").write_text("[base]\n")
    (tmp_path / "flow.xml").write_text("<adag></adag>")
    for words, message in (
        ("show log.swf --gantt g.png", "--gantt is for a saved result, and log.swf is a job log"),
        ("show log.swf --why 1", "make one by 'faultsim run log.swf --save run.npz'"),
        ("show sweep.toml", "'faultsim sweep sweep.toml' runs it"),
        ("run log.swf --scheduler sjf", "it is an order, which is an option of a scheduler"),
    ):
        assert message in command.refused(capsys, *words.split()), words
    said = command.refused(capsys, "run", "log.swf", "--verbose")
    assert "unknown argument '--verbose'" in said
    assert "did you mean" not in said
    refused(fs.InputError, "read_dax reads DAX files", fs.read_wfcommons, tmp_path / "flow.xml")


def test_kinds_that_a_stranger_met():
    """Cut values end in dots, one thing is singular, and wrong names of modules suggest the nearest."""
    log = fs.Workload(submit=range(50), runtime=[9] * 50, size=[1] * 50).renamed("a log with quite a long name")
    for wrong, said in (
        (lambda: fs.simulate_workflows(log, fs.Resources(3)), r"got <Workload .* \.\.\.$"),
        (lambda: fs.Backfill(0), "depth must be at least 1 job, got 0"),
        (lambda: fs.Torus(4, 4), r"a torus has three extents: Torus\(4, 4, 8\) or .*, got 4 and 4$"),
        (lambda: fs.simulate(log, "torus:4x4"), "needs three extents, as in 'cluster:128'"),
        (lambda: fs.synthetic.sdsclike, r"'faultsim.synthetic' has no attribute 'sdsclike' \(did you mean 'sdsc_like'"),
        (lambda: fs.simulate(log, "cluster:4").metrics["wait"], "no metric 'wait' .did you mean 'mean_wait'"),
    ):
        with pytest.raises((fs.FaultsimError, AttributeError, KeyError), match=said):
            wrong()
