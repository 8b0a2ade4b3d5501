"""Inputs without end at every entry point that reads a file: an error of faultsim, or an object, in time and memory.

Guided by coverage where Atheris is installed (``pip install atheris``), else at random.
"""

import base64
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
FUZZING = Path(__file__).with_name("fuzzing.py")
INPUTS = 10_000_000
#: Of one process: what Atheris adds to the modules keeps some of the memory of each call.
AT_ONCE = 100_000
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
        inputs = 0
        while inputs < each:
            runs = min(AT_ONCE, each - inputs)
            done = python(FUZZING, name, runs, corpus, inputs + 1, env=ENVIRONMENT, timeout=None)
            made = re.search(r"Done (\d+) runs", done.stderr)
            found = [base64.b64encode(path.read_bytes()) for path in sorted((corpus / "found").glob("*"))]
            if done.returncode or made is None or found:
                return inputs, f"{name} ({corpus}): {done.stdout[-1500:]} {done.stderr[-2500:]} {found}"
            inputs += int(made.group(1))
        return inputs, ""

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
