"""Messages say what to write on the command line, or in a sweep's file, in no word of Python."""

import re

import pytest

import faultsim as fs
from faultsim.cli.app import main
from faultsim.cli.own_words import in_own_words

MISTAKES = [
    (
        "--machine cluster:99 --placement balancing",
        "balancing places boxes, .* use --placement first-fit, or use a torus",
    ),
    (
        "--machine torus:4x4x8 --placement safest-first",
        "safest-first chooses .* use --placement balancing, tie-breaking",
    ),
    (
        "--machine cluster:128 --migration defragment",
        "defragment is not supported .*: use no --migration, or use a torus",
    ),
    (
        "--machine torus:4x4x8 --migration lfm --failures synthetic",
        "use --migration defragment or None, or use a cluster",
    ),
    ("--predictor confidence:0.1", "confidence:probability=0.1 predicts .* give --failures, or omit .*blind where"),
    ("--machine cluster:8", "take a larger machine or pass --oversized drop"),
    (
        "--failures synthetic --rescheduling fars:300,sul",
        "fars requires a predictor: give --predictor interval:precision",
    ),
    ("--machine cluster:128 --scheduler easy:reservation=fixed", "--reservation fixed is .* use --reservation any, or"),
    (
        "--checkpointing periodic:1,30",
        "periodic: cost=30 is 30 s for a checkpoint after each 1 s of work .*write interval=1h, or any_rate=true",
    ),
    ("--machine cluster:128 --placement curve", "use --machine cluster:XxYxZ, or --placement first-fit"),
    ("--start-delay -1", "--start-delay must be at least 0 seconds, got -1.0"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES, ids=[words for words, _ in MISTAKES])
def test_mistakes(words, said, capsys):
    assert main(["run", "--jobs", "50", "--quiet", *words.split()]) == 2
    err = capsys.readouterr().err
    assert re.search(said, err), err
    assert not re.search(r"\w\(|\w=[A-Z]|[a-z]= ", err), err


WORKFLOWS = [
    (
        "--scheduler heft --predictor perfect --failures synthetic:exponential,mtbf=1d",
        "heft plans .* so --predictor is",
    ),
    ("--scheduler heft --transfers in_turn", "so --transfers in_turn is .* use rank-hybd, flaw or fifo"),
    ("--scheduler heft --outputs shared:3", "so --outputs shared:3.0 is not supported"),
    ("--scheduler flaw --predictor buckets:4h", "but buckets:length=14400.0 only says when"),
    ("--predictor perfect", "perfect predicts the failures of the run, .* give --failures, or blind"),
    ("--nodes 0", "--nodes must be at least 1"),
    ("--bandwidth -1", "--bandwidth must be above 0, got -1"),
]


@pytest.mark.parametrize(("words", "said"), WORKFLOWS, ids=[words for words, _ in WORKFLOWS])
def test_mistakes_with_workflows(words, said, capsys):
    assert main(["workflow", "run", "--count", "1", *words.split()]) == 2
    err = capsys.readouterr().err
    assert re.search(said, err), err
    assert not re.search(r"\w\(|\w=[A-Z]|[a-z]= ", err), err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('placement = "balancing"', 'balancing places boxes, .* use placement = "first-fit", or use a torus'),
        ('migration = "defragment"', "defragment is not supported .* use no migration, or use a torus"),
        ('predictor = "confidence:0.1"', "confidence:probability=0.1 predicts .* give failures, or omit .*blind where"),
    ],
)
def test_mistakes_in_files(line, said, tmp_path, capsys):
    path = tmp_path / "s.toml"
    path.write_text(
        f'[base]\nlog = {{ synthetic = "nasa_like", jobs = 20 }}\nmachine = "cluster:128"\n{line}\n'
        '[grid]\nscheduler = ["fcfs"]\n'
    )
    assert main(["sweep", str(path)]) == 2
    err = capsys.readouterr().err
    assert re.search(rf"s.toml:5: grid: cell scheduler=fcfs: {said}", err), err


def test_files_keep_their_names():
    for text in (
        "Torus/x.swf: no such file",
        "'Balancing' is no log",
        "data/Key.swf.gz:3: bad",
        "Hold.swf: no such file",
        "Torus: no such file",
    ):
        assert in_own_words(text) == text


def test_python_keeps_its_own():
    log = fs.Workload([0], [1], [1])
    with pytest.raises(fs.OptionError, match=r"use placement=FirstFit\(\), or use a Torus"):
        fs.simulate(log, fs.Cluster(2), placement="balancing")


def test_what_was_not_recorded_names_the_option_of_the_command(tmp_path, capsys):
    saved = str(tmp_path / "run.npz")
    assert main(["run", "--jobs", "20", "--save", saved, "--quiet"]) == 0
    for argv in (["show", saved, "--gantt"], ["plot", "gantt", saved, "--out"]):
        assert main([*argv, str(tmp_path / "x.svg")]) == 2
        assert "this run recorded no allocations: save it with --record" in capsys.readouterr().err


def test_changes_of_inputs_name_their_options(tmp_path, capsys):
    trace = tmp_path / "trace.csv"
    trace.write_text("time,node\n1,0\n2,1\n")
    convert = ["failures", "convert", str(trace), str(tmp_path / "new.csv"), "--count", "9"]
    for argv, words in (
        (["log", "summary", "--load", "0"], "error: --load must be above 0"),
        (["run", "--jobs", "5", "--gap-factor", "0"], "error: --gap-factor must be above 0"),
        (convert, "error: --count: the trace has 2 failures, 9 are requested; --repeat repeats it"),
        (["run", "--head", "x"], "argument --head: 'x' is no whole number"),
        (["sweep", str(trace)], "trace.csv"),
        (["workflow", "figure"], "are required: FILE (see"),
    ):
        assert main(argv) == 2
        assert words in capsys.readouterr().err
    assert main([*convert, "--repeat"]) == 0


def test_notes_are_in_own_words_and_results_are_no_sweeps(tmp_path, capsys):
    saved = str(tmp_path / "run.npz")
    assert main(["run", "--jobs", "20", "--recovery", "hold", "--save", saved]) == 0
    assert "note: --recovery hold has no effect" in capsys.readouterr().out
    assert main(["sweep", saved]) == 2
    assert "saved results, and no file of a sweep: 'faultsim show" in capsys.readouterr().err
