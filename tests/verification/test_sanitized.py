"""The run under sanitizers says why it does nothing where a compiler has none, and fails where they find nothing."""

import os

import pytest

from helpers.scripts import CHECKOUT, environment, python

RUN = CHECKOUT / "tests" / "sanitized" / "run.py"


@pytest.mark.skipif(os.name == "nt", reason="/bin/false and shells")
@pytest.mark.parametrize(("compiler", "words"), [("no-such-cc", "no compiler: "), ("false", "false ends with 1")])
def test_no_sanitizers_are_told(tmp_path, compiler, words):
    done = python(RUN, tmp_path / "built", env=environment() | {"CC": compiler})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"sanitizers: skipped: {words}")


@pytest.mark.skipif(os.name == "nt", reason="/bin/sh")
def test_sanitizers_that_find_nothing_fail(tmp_path):
    compiler = tmp_path / "cc"  # as one that knows the options, and does nothing for them
    compiler.write_text('#!/bin/sh\ncase "$*" in *-print-file-name*) exec cc "$@";; esac\n'
                        'for a do shift; case "$a" in -fsanitize*|-fno-sanitize*) ;; *) set -- "$@" "$a";; esac; done\n'
                        'exec cc "$@"\n')  # fmt: skip
    compiler.chmod(0o755)
    done = python(RUN, tmp_path / "built", env=environment() | {"CC": str(compiler)})
    assert done.returncode == 1
    assert done.stdout.startswith("sanitizers: heap-buffer-overflow is not found")
