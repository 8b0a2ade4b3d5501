"""Reading compressed job logs: growing heads of CEA-Curie."""

import gzip
import tempfile
from functools import cache
from pathlib import Path

import faultsim as fs
from scaling.row import DATA, Row, cpu


@cache
def lines() -> list[bytes]:
    with gzip.open(DATA / "CEA-Curie-2011-2.1-cln.swf.gz") as file:
        return [line for line in file if not line.startswith(b";")]


def measure(jobs: int) -> tuple[float, float, int]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "head.swf.gz"
        path.write_bytes(gzip.compress(b"".join(lines()[:jobs]), 6))

        def unpack() -> None:
            with gzip.open(path) as file:
                while file.read(1 << 18):
                    pass

        return cpu(lambda: fs.read_swf(path), 5), cpu(unpack, 5), jobs


ROW = Row(
    title="Reading compressed logs: the first jobs of CEA-Curie",
    grows="jobs",
    sizes=(4_000, 16_000, 64_000, 256_000),
    measure=measure,
    run="read_swf",
    against="unpacking alone",
    reach="0.5 us a job",
)
