"""Columns of numbers inside a page: one after the other, compressed, for its script to unpack."""

import base64
import json
import zlib
from collections.abc import Mapping

from faultsim.arrays import Values

Columns = Mapping[str, Values]


def layout(arrays: Columns) -> tuple[list[list[object]], bytes]:
    """Name, type and length of each column, and all of them one after the other, each from a multiple of 4.

    Examples
    --------
    >>> import numpy as np
    >>> layout({"size": np.array([1, 2, 3], "<u2")})
    ([['size', 'u2', 3]], b'\\x01\\x00\\x02\\x00\\x03\\x00\\x00\\x00')
    """
    about = [[name, array.dtype.str[1:], len(array)] for name, array in arrays.items()]
    return about, b"".join(array.tobytes() + b"\0" * (-array.nbytes % 4) for array in arrays.values())


def packed(document: Mapping[str, object], arrays: Columns) -> str:
    """Two elements that a page does not show: a document, with the layout of columns, and the columns."""
    about, data = layout(arrays)
    # Nothing in it may close the element that contains it.
    text = json.dumps({**document, "columns": about}, sort_keys=True).replace("<", "\\u003c")
    # Level 9 takes six times as long, for half a percent of bytes.
    columns = base64.b64encode(zlib.compress(data, 6)).decode()
    return (
        f'<script type="application/json" class="about">{text}</script>\n'
        f'<script type="application/octet-stream" class="data">{columns}</script>'
    )
