"""The tab key: what a shell is told, through the protocol of argcomplete."""

import os
import subprocess
import sys

import pytest

from helpers.command import refused, run

pytest.importorskip("argcomplete")


def asked(line, tmp_path):
    """The words with which `line` may go on."""
    out = tmp_path / "answer"
    environment = {**os.environ, "COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE": "1",
                   "_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_STDOUT_FILENAME": str(out)}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "faultsim"], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return [word.strip() for word in out.read_text().split("\n") if word.strip()]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("faultsim wor", ["workflow"]),
        ("faultsim log ", ["-h", "--help", "summary", "head", "convert", "generate"]),
        ("faultsim run --sched", ["--scheduler"]),
        ("faultsim run --scheduler ", ["fcfs", "easy", "backfill", "conservative"]),
        ("faultsim run --placement least", ["least-failures-first", "least-loaded"]),
        ("faultsim workflow run --transfers ", ["parallel", "in_turn"]),
        ("faultsim plan --prob", ["--probability"]),
        ("faultsim plan --checkpointing max", ["max-availability"]),
        ("faultsim status x.db --metric mean_bounded", ["mean_bounded_slowdown"]),
        ("faultsim nothing --", []),
    ],
)
def test_words_go_on(line, words, tmp_path):
    assert set(words) <= set(asked(line, tmp_path))
    if words and not line.endswith(" "):
        assert asked(line, tmp_path) == words


def test_files_are_offered(tmp_path):
    (tmp_path / "kept.swf").write_text("")
    assert asked("faultsim run ke", tmp_path) == ["kept.swf"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(capsys, shell):
    status, out, err = run(capsys, "completion", shell)
    assert (status, err) == (0, "")
    assert "faultsim" in out


def test_other_shells_are_refused(capsys):
    assert "bash" in refused(capsys, "completion", "tcsh")
