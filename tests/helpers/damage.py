"""Files that are damaged, or crafted: bytes that flip, and saved results with other contents."""

import io
import json
import random
from typing import Any

import numpy as np

from faultsim.results.saved_file import _of_facts


def flipped(content: bytes, seed: int) -> bytes:
    """With another value in one byte."""
    draw = random.Random(seed)
    at = draw.randrange(len(content))
    return content[:at] + bytes([content[at] ^ draw.randrange(1, 256)]) + content[at + 1 :]


def members(saved: bytes) -> dict[str, Any]:
    """The arrays of a saved result."""
    with np.load(io.BytesIO(saved)) as file:
        return dict(file)


def facts_of(arrays: dict[str, Any]) -> dict[str, Any]:
    return json.loads(arrays["facts.json"].tobytes())


def with_facts(arrays: dict[str, Any], facts: dict[str, Any], *, signed: bool = False) -> dict[str, Any]:
    """With these facts; signed, with the digest that they should have, which anybody can work out."""
    facts = facts | {"digest": _of_facts(facts)} if signed else facts
    return arrays | {"facts.json": np.frombuffer(json.dumps(facts).encode(), np.uint8)}


def packed(arrays: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()
