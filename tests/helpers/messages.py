"""The JSON schema of the messages of `faultsim serve`, and whether answers are as it says."""

import json
from functools import cache
from pathlib import Path

import pytest

SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "docs" / "guides" / "socket" / "messages.json").read_text())
DEFINED = SCHEMA["$defs"]


@cache
def _validator(*names):
    """Of anything that one of these definitions takes; of a request without names."""
    jsonschema = pytest.importorskip("jsonschema")
    kinds = [{"$ref": f"#/$defs/{name.replace(' ', '%20')}"} for name in names] or SCHEMA["anyOf"]
    return jsonschema.Draft202012Validator({"$defs": DEFINED, "anyOf": kinds})


def check_answer(message, answer):
    """A request as bytes or text, and its answer: valid both, or the answer is an error."""
    answer = json.loads(json.dumps(answer, allow_nan=False))
    if set(answer) == {"error"}:
        _validator("error").validate(answer)
        return
    request = json.loads(message)
    _validator().validate(request)
    _validator(f"answer {request['request']}").validate(answer)
