"""What a newcomer does on the first day, in a new environment and outside of the checkout.

    python tests/newcomer/newcomer.py WHEEL [--extras plot]

Installs the wheel, runs the blocks of README.md and of the tutorial in their order, with the command and Python of that
environment, builds and runs what the guide on compiled policies prints, and then makes one mistake of each kind: each
must be told in one line that says what is wrong.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\{code-cell\}|\w+)[^\n]*\n(.*?)^```\s*?$", re.MULTILINE | re.DOTALL)
#: Blocks that need the checkout or make an environment of their own, and what a newcomer has done already.
NOT_HERE = ("pip install", "git clone", ".ci/run")
LONGEST = 300
#: What the guide on compiled policies calls the files of its blocks.
FILES = {"cython": "easy_outside.pyx", "py": "setup.py", "c": "roomiest.c"}

#: Arguments of the command -> words of the one line that it answers.
COMMANDS = {
    ("rnu",): "did you mean 'run'",
    ("run", "--schedular", "easy"): "did you mean '--scheduler'",
    ("run", "--scheduler", "esay"): "did you mean 'easy'",
    ("run", "nowhere.swf"): "nowhere.swf: no such file",
    ("run", "notes.txt"): "notes.txt",
    ("run", "half.swf"): "half.swf",
    ("run", "--machine", "torus:4x4"): "torus:4x4",
    ("run", "--machine", "cluster:4"): "larger than the machine",
    ("run", "--machine", "cluster:128", "--placement", "mfp"): "has none",
    ("run", "--jobs", "many"): "many",
    ("run", "--head", "0"): "at least 1",
    ("run", "--migration", "defragment"): "torus",
    ("run", "--rescheduling", "fars:300,sul"): "predictor",
    ("run", "--checkpointing", "periodic:10,300"): "cost",
    ("run", "--scheduler", "easy", "--scheduler", "fcfs"): "twice",
    ("run", "--save", "no/such/folder/x.npz"): "folder does not exist",
    ("run", "--csv", "-", "--json"): "standard output",
    ("run", "--failures", "nowhere.csv"): "nowhere.csv",
    ("failures", "summary", "notes.txt"): "notes.txt",
    ("log", "convert", "half.swf", "out.xyz"): ".xyz",
    ("workflow", "run", "notes.txt"): "notes.txt",
    ("show", "nowhere.npz"): "no such file",
    ("sweep", "broken.toml"): "broken.toml",
    ("status", "notes.txt"): "not a sweep store",
    ("reproduce", "krevat2000"): "did you mean 'krevat2002'",
}
#: Python -> the error's class and words of its one line.
CODE = {
    "fs.simulate(log)": ("TypeError", "machine"),
    "fs.simulate(log, 128)": ("OptionError", "Cluster"),
    "fs.simulate(log, fs.Cluster(128), sheduler=fs.Fcfs())": ("TypeError", "sheduler"),
    "fs.simulate(log, fs.Cluster(128), scheduler=fs.Fcfs)": ("OptionError", "Fcfs"),
    "fs.simulate(log, fs.Cluster(2))": ("InputError", "larger than the machine"),
    "fs.Workload(submit=[0], runtime=[-5], size=[1])": ("InputError", "runtime"),
    "fs.Workload(submit=[0, 1], runtime=[5], size=[1])": ("InputError", "runtime"),
    "fs.Cluster(0)": ("OptionError", "at least 1"),
    "fs.Torus(4, 4, 0)": ("OptionError", "at least 1"),
    "fs.read_swf('nowhere.swf')": ("InputError", "no such file"),
    "fs.FailureTrace([5], [200], span=3).map_nodes(0)": ("InputError", "span"),
    "fs.simulate(log, fs.Cluster(128), failures=fs.FailureTrace([5], [200], span=9))": ("InputError", "200"),
    "fs.Key('wait +')": ("OptionError", "wait +"),
    "fs.Workflow([1, 1], [(0, 1), (1, 0)])": ("InputError", "cycle"),
    "fs.load_result('notes.txt')": ("InputError", "notes.txt"),
    "log.runtime[0] = 5": ("ValueError", "read-only"),
    "fs.simulate(log, fs.Cluster(128)).metrics['mean_wiat']": ("KeyError", "mean_wiat"),
}


def run(command: list[str], folder: Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        command, cwd=folder, input=text, capture_output=True, text=True, timeout=LONGEST, check=False, env=own
    )


def documents(python: Path, folder: Path) -> list[str]:
    """Run README.md and the tutorial; what failed."""
    failed = []
    for name in ("README.md", "docs/tutorial.md"):
        code: list[str] = []
        blocks = FENCE.findall((CHECKOUT / name).read_text(encoding="utf-8"))
        for language, text in blocks:
            if language in ("python", "{code-cell}"):
                code.append(text)
            elif language == "bash" and not any(words in text for words in NOT_HERE):
                done = run(["bash", "-c", f'PATH="{python.parent}:$PATH"; set -e; {text}'], folder)
                print(f"  {name}: {text.splitlines()[0]} -> {done.returncode}", flush=True)
                if done.returncode:
                    failed.append(f"{name}: {text}\n{done.stderr}")
        done = run([str(python), "-"], folder, "\n".join(code))
        print(f"  {name}: {len(code)} blocks of Python -> {done.returncode}", flush=True)
        if done.returncode:
            failed.append(f"{name}: {done.stderr}")
    return failed


def recipe(python: Path, folder: Path) -> list[str]:
    """Build the compiled policies of the guide by the commands that it prints, and run its Python; what failed."""
    name = "docs/guides/compiled.md"
    folder.mkdir()
    code: list[str] = []
    for language, text in FENCE.findall((CHECKOUT / name).read_text(encoding="utf-8")):
        if language in FILES:
            (folder / FILES[language]).write_text(text, encoding="utf-8")
        elif language == "python":
            code.append(text)
        elif language == "bash":
            done = run(["bash", "-c", f'PATH="{python.parent}:$PATH"; set -e; {text}'], folder)
            print(f"  {name}: {text.splitlines()[-1]} -> {done.returncode}", flush=True)
            if done.returncode:
                return [f"{name}: {text}\n{done.stdout}{done.stderr}"]
    done = run([str(python), "-"], folder, "\n".join(code))
    print(f"  {name}: {len(code)} blocks of Python -> {done.stdout.split()}", flush=True)
    return [f"{name}: {done.stdout}{done.stderr}"] if done.stdout.count("True") != 2 else []


def mistakes(python: Path, folder: Path) -> list[str]:
    (folder / "notes.txt").write_text("buy milk, eggs\nand bread\n")
    (folder / "half.swf").write_text("1 0 0 10 4 -1\n")
    (folder / "broken.toml").write_text("[base\n")
    failed = []
    for arguments, words in COMMANDS.items():
        done = run([str(python.parent / "faultsim"), *arguments], folder)
        told = done.stderr.strip().splitlines()
        print(f"  faultsim {' '.join(arguments)}: {done.stderr.strip()}", flush=True)
        if done.returncode != 2 or len(told) != 1 or words not in told[0] or len(told[0]) > 400:
            failed.append(f"faultsim {' '.join(arguments)}: status {done.returncode}, wanted {words!r} in {told}")
    begin = "import faultsim as fs\nlog = fs.synthetic.sdsc_like(50, rng=1)\n"
    for code, (kind, words) in CODE.items():
        done = run([str(python), "-c", begin + code], folder)
        last = (done.stderr.strip().splitlines() or [""])[-1]
        print(f"  {code}: {last}", flush=True)
        name = last.partition(":")[0].rpartition(".")[2]
        if done.returncode != 1 or name != kind or words not in last or len(last) > 400:
            failed.append(f"{code}: wanted {kind} with {words!r}, got {last!r}")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--extras", default="plot,cli")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home, folder = Path(scratch) / "environment", Path(scratch) / "first day"
        folder.mkdir()
        venv.create(home, with_pip=True)
        python = home / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        wheel = f"{options.wheel.resolve()}[{options.extras}]"
        subprocess.run([python, "-m", "pip", "install", "-q", "--only-binary", ":all:", wheel], check=True)
        where = run([str(python), "-c", "import faultsim; print(faultsim.__file__)"], folder).stdout.strip()
        print(f"installed: {where}", flush=True)
        failed = [] if where.startswith(str(home)) else [f"imported from {where}"]
        failed += documents(python, folder) + recipe(python, folder / "compiled") + mistakes(python, folder)
    for text in failed:
        print(f"failed: {text}", file=sys.stderr)
    print(f"{len(COMMANDS) + len(CODE)} mistakes; {len(failed)} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
