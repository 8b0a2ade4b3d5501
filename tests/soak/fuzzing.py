"""Feed one entry point that reads files with inputs, changed such that they reach code that none has reached before.

python fuzzing.py NAME RUNS CORPUS SEED: the corpus is a folder with files that are as they should be, and for what is
found.  Coverage is what Atheris sees of the modules that read; without Atheris, inputs are changed at random.
"""

import os
import random
import sys
import tempfile
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "trust"))

try:
    import atheris
except ImportError:
    atheris = None
else:
    with atheris.instrument_imports(
        include=["faultsim.readers", "faultsim.data", "faultsim.results", "faultsim.sweep"]
    ):
        import faultsim.readers
        import faultsim.results.saved
        import faultsim.results.saved_workflows
        import faultsim.sweep.merge
        import faultsim.sweep.sweep_file

from test_mutated_files import PIECES, mutated

import faultsim as fs
from faultsim.errors import MOST
from helpers.bounded_reading import SECONDS, entry_points

MEMORY = 1024  # MiB
#: Bytes of an input.
LONGEST = 65_536


class Wrong(Exception):
    """An input that is neither read nor told."""


def feeder(name):
    """What reads bytes by an entry point."""
    read = entry_points()[name]
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    path = folder / "input"
    rest = [folder / f"input{end}" for end in (".merged", ".merged-wal", ".merged-shm", "-wal", "-shm", "-journal")]

    def feed(data):
        for old in rest:
            old.unlink(missing_ok=True)
        path.write_bytes(data)
        begin = time.process_time()
        try:
            read(str(path))
        except fs.FaultsimError as error:
            if any(len(line) > MOST for line in str(error).splitlines()):
                raise Wrong(f"{name}: a message of {len(str(error))} characters") from error
        if (took := time.process_time() - begin) > SECONDS:
            raise Wrong(f"{name}: {took:.1f} s")

    return feed


def at_random(feed, runs, corpus, seed):
    """Without Atheris."""
    known = [path.read_bytes() for path in sorted((corpus / "seeds").iterdir())]
    for number in range(seed, seed + runs):
        draw = random.Random(number)
        data = mutated(draw.choice(known), draw)[:LONGEST]
        try:
            feed(data)
        except BaseException:
            (corpus / "found").mkdir(exist_ok=True)
            (corpus / "found" / str(number)).write_bytes(data)
            raise
    print(f"Done {runs} runs, at random", file=sys.stderr)


def main():
    """All runs."""
    name, runs, corpus, seed = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
    warnings.simplefilter("error")
    feed = feeder(name)
    if atheris is None:
        at_random(feed, runs, corpus, seed)
        return
    found = corpus / "found"
    found.mkdir(exist_ok=True)
    words = corpus / "words.txt"
    lines = ["".join(f"\\x{byte:02x}" for byte in piece) for piece in PIECES if 0 < len(piece) < 60]
    words.write_text("".join(f'"{line}"\n' for line in lines))
    kept = corpus / "kept"
    kept.mkdir(exist_ok=True)
    seeds = corpus / "seeds"
    options = [
        f"-runs={runs}",
        f"-dict={words}",
        f"-timeout={12 * SECONDS}",
        f"-rss_limit_mb={MEMORY}",
        f"-seed={seed}",
    ]
    options += [f"-max_len={LONGEST}", f"-artifact_prefix={found}/", "-print_final_stats=1", "-verbosity=1"]
    atheris.Setup([sys.argv[0], *options, str(kept), str(seeds)], feed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
