"""The work of a call in Python, as the number of lines that it runs: the same on every machine."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(call: Callable[..., Any], *args: Any, **options: Any) -> int:
    """Lines of Python that a call runs; loops in C, such as those of str and list, count as one line."""
    count = 0

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call(*args, **options)
    finally:
        sys.settrace(before)
    return count
