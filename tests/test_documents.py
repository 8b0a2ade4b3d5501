"""The code in README.md, CONTRIBUTING.md and docs/ runs, and prints what it says it prints.

Blocks of one document share their names, from top to bottom.  A `python` block followed directly by a `text` block must
print exactly that text; `{code-cell}` blocks are those of notebooks; a block with `>>>` is a doctest; of a `bash` block
the lines that begin with `faultsim ` run.
`<!-- not run: reason -->` on the line above a block leaves it out.
"""

import contextlib
import doctest
import importlib
import io
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted(
    path.relative_to(CHECKOUT).as_posix()
    for path in [CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *(CHECKOUT / "docs").rglob("*.md")]
    if path.exists() and "_build" not in path.parts
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^```(\{code-cell\}|\w*)[^\n]*\n(.*?)^```\s*?$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run: .+ -->\n\Z")


@dataclass
class Block:
    language: str
    text: str
    line: int
    expected: str | None  # what it must print
    runs: bool


def blocks(text: str) -> list[Block]:
    found: list[Block] = []
    end = 0
    for match in FENCE.finditer(text):
        language, body = match.groups()
        language = "python" if language == "{code-cell}" else language
        between = text[end : match.start()]
        if language == "text" and found and not between.strip() and found[-1].language == "python":
            found[-1].expected = body
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(language, body, line, None, not NOT_RUN.search(between)))
        end = match.end()
    return found


def commands(text: str) -> list[list[str]]:
    """Arguments of each `faultsim ...` line; a backslash joins lines, a comment ends one."""
    lines = text.replace("\\\n", " ").splitlines()
    return [
        shlex.split(line.removeprefix("$ "), comments=True)[1:] for line in lines if re.match(r"(\$ )?faultsim ", line)
    ]


def run_python(block: Block, names: dict[str, object], where: str) -> None:
    if block.text.lstrip().startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(block.text, names, where, where, block.line)
        report: list[str] = []
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        runner.run(test, out=report.append, clear_globs=False)
        assert runner.failures == 0, "".join(report)
        names.update(test.globs)
        return
    printed = io.StringIO()
    code = compile("\n" * (block.line - 1) + block.text, where, "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    if block.expected is not None:
        assert printed.getvalue().rstrip() == block.expected.rstrip(), f"{where}:{block.line} prints something else"


def run_command(arguments: list[str], where: str) -> None:
    main = getattr(importlib.import_module("faultsim.cli"), "main", None)
    assert main is not None, f"{where}: there is no command line yet"
    printed, complaints = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complaints):
            status = main(arguments)
    except SystemExit as stop:
        status = stop.code
    assert not status, f"{where}: faultsim {shlex.join(arguments)} ends with {status}: {complaints.getvalue()}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_code_of_a_document_runs(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "document"}
    for block in blocks((CHECKOUT / document).read_text(encoding="utf-8")):
        where = f"{document}:{block.line}"
        if not block.runs:
            continue
        if block.language == "python":
            run_python(block, names, document)
        elif block.language in ("bash", "sh", "console"):
            for arguments in commands(block.text):
                run_command(arguments, where)


SAMPLE = """
Words.

```python
a = 2
print(a + 2)
```

```text
4
```

<!-- not run: needs a log of yours -->
```python
raise SystemExit
```

```{code-cell} python
a += 1
```

```bash
pip install faultsim
faultsim run "a b.swf" \\
    --json    # a comment
```
"""


def test_blocks_are_read():
    python, text, left_out, cell, bash = blocks(SAMPLE)
    assert (python.text, python.line, python.expected, python.runs) == ("a = 2\nprint(a + 2)\n", 5, "4\n", True)
    assert text.language == "text"
    assert not left_out.runs
    assert (cell.language, cell.text, cell.runs) == ("python", "a += 1\n", True)
    assert bash.runs
    assert commands(bash.text) == [["run", "a b.swf", "--json"]]


def test_wrong_output_and_broken_code_are_seen():
    with pytest.raises(AssertionError, match="prints something else"):
        run_python(Block("python", "print(5)\n", 1, "4\n", True), {}, "sample")
    with pytest.raises(ZeroDivisionError):
        run_python(Block("python", "1 / 0\n", 1, None, True), {}, "sample")
    with pytest.raises(AssertionError, match="Expected"):
        run_python(Block("python", ">>> 1 + 1\n3\n", 1, None, True), {}, "sample")
