"""RESULTS.md in sections, each written by a script of its own and by nothing else.

A section stands between ``<!-- begin: NAME -->`` and ``<!-- end: NAME -->``; a new one goes to the end of the file.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what is measured is this checkout

RESULTS = Path(__file__).with_name("RESULTS.md")
TITLE = "# Results\n\nEach section is written by the command that it names; nothing here is typed by hand.\n"


def machine() -> str:
    """The processor, its cores, Python and the compiler, in one line."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        found = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.M)
        model = found[1] if found else model
    try:
        compiler = subprocess.run([os.environ.get("CC", "cc"), "--version"], capture_output=True, text=True, check=True)
        compiled = compiler.stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError):
        compiled = platform.python_compiler()
    return f"{model}, {os.cpu_count()} cores; Python {platform.python_version()}; {compiled}; {platform.system()}"


def peak() -> float:
    """Largest resident memory of this process so far, in MB.

    Not the kernel's ``ru_maxrss``: a process that was just begun inherits that of the one which began it.
    """
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def number(value: object) -> str:
    """Three digits that mean something; a dash for None."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return str(value)


def table(rows: Sequence[dict[str, object]], names: dict[str, str] | None = None) -> str:
    """Rows as a Markdown table; `names` gives columns other headings."""
    header = [(names or {}).get(key, key) for key in rows[0]]
    lines = [header, ["---"] * len(header), *([number(value) for value in row.values()] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_section(name: str, title: str, body: str) -> None:
    """Replace the section of this name in RESULTS.md, or add it."""
    command = "python " + " ".join([Path(sys.argv[0]).as_posix(), *sys.argv[1:]])
    section = (
        f"<!-- begin: {name} -->\n## {title}\n\n`{command}` on {machine()}.\n\n{body.strip()}\n<!-- end: {name} -->\n"
    )
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else TITLE
    pattern = re.compile(rf"<!-- begin: {re.escape(name)} -->.*?<!-- end: {re.escape(name)} -->\n", re.S)
    if pattern.search(text):
        text = pattern.sub(lambda _: section, text)
    else:
        text = text.rstrip("\n") + "\n\n" + section
    RESULTS.write_text(text, encoding="utf-8")


def run_parts(name: str, title: str, head: str, parts: Mapping[str, Callable[[], tuple[str, str]]], doc: str) -> None:
    """Run the parts of a section, each giving (title, text), or those of ``--only``; write the section."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", nargs="+", metavar="PART", choices=parts, help=f"of {', '.join(parts)}; implies --dry"
    )
    parser.add_argument("--dry", action="store_true", help="print only, do not write RESULTS.md")
    arguments = parser.parse_args()
    done = []
    for part in arguments.only or parts:
        heading, text = parts[part]()
        done.append(f"### {heading}\n\n{text}\n")
        print(done[-1], flush=True)
    if not arguments.dry and not arguments.only:
        write_section(name, title, head.rstrip("\n") + "\n\n" + "\n".join(done))
