"""Inputs without end at every entry point that reads a file: an error of faultsim, or an object, in time and memory.

Guided by coverage where Atheris is installed (``pip install atheris``), else at random.
"""

import importlib.util
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import faultsim as fs
from helpers.bounded_reading import entry_points
from helpers.scripts import environment, python
from helpers.soaking import MARKS, keep, scaled

pytestmark = MARKS
INPUTS = 10_000_000
#: Where Atheris is found, too.
ENVIRONMENT = environment(*os.environ.get("PYTHONPATH", "").split(os.pathsep))
ATHERIS = importlib.util.find_spec("atheris") is not None


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """Entry point -> files that it reads, as bytes."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "trust"))
    from test_mutated_files import seeds

    folder = tmp_path_factory.mktemp("seeds")
    found = {name: [content] for name, content in seeds(folder).items()}
    flows = fs.simulate_workflows([fs.Workflow([3.0, 4.0], edges=[(0, 1, 1.0)])], fs.Resources(2))
    flows.save(folder / "flows.npz")
    found["workflow result"] = [(folder / "flows.npz").read_bytes()]
    everything = [contents[0] for contents in found.values()]
    return {name: found.get(name, everything) for name in entry_points()}


def test_inputs_without_end_are_read_or_told(known, tmp_path):
    each = scaled(INPUTS / len(known), 50)

    def fuzz(item):
        at, (name, contents) = item
        corpus = tmp_path / str(at)
        (corpus / "seeds").mkdir(parents=True)
        for number, content in enumerate(contents):
            (corpus / "seeds" / str(number)).write_bytes(content)
        done = python(Path(__file__).with_name("fuzzing.py"), name, each, corpus, env=ENVIRONMENT, timeout=None)
        made = re.search(r"Done (\d+) runs", done.stderr)
        if done.returncode or made is None or any((corpus / "found").glob("*")):
            return 0, f"{name} ({corpus}): {done.stderr[-2500:]}"
        return int(made.group(1)), ""

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(fuzz, enumerate(known.items())))
    wrong = [said for _, said in done if said]
    assert not wrong, "\n\n".join(wrong)
    inputs = sum(made for made, _ in done)
    assert inputs >= each * len(known)
    how = "guided by coverage" if ATHERIS else "at random"
    what = (
        f"Inputs that are changed {how}, at every entry point that reads a file, are read or told in time and memory."
    )
    numbers = {"inputs": inputs, "entry points": len(known), "neither read nor told": 0}
    keep("fuzzing", what, numbers, "test_fuzzing.py")
