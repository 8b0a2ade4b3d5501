"""What notebooks show: small tables in HTML, escaped, without styles or anything from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

#: Rows of a table that are shown, the first ones; and characters of a value.
MOST_ROWS, MOST_TEXT = 8, 40


def table_html(title: str, names: Sequence[str], rows: Iterable[Sequence[object]], notes: Sequence[str] = ()) -> str:
    """A title, a table, and notes below it.

    Examples
    --------
    >>> print(table_html("two <jobs>", ["id", "wait"], [[1, 0.5]], ["a & b"]))
    <div><p><b>two &lt;jobs&gt;</b></p>
    <table><thead><tr><th>id</th><th>wait</th></tr></thead>
    <tbody><tr><td>1</td><td>0.5</td></tr></tbody></table>
    <p>a &amp; b</p></div>
    """
    from html import escape

    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(f'<td>{escape(shown(value))}</td>' for value in row)}</tr>" for row in rows)
    lines = [
        f"<div><p><b>{escape(title)}</b></p>",
        f"<table><thead><tr>{head}</tr></thead>",
        f"<tbody>{body}</tbody></table>",
        *(f"<p>{escape(note)}</p>" for note in notes),
    ]
    return "\n".join(lines) + "</div>"


def shown(value: object) -> str:
    """A value as a cell: numbers to six digits, long text cut.

    Examples
    --------
    >>> shown(1234567.891), shown(0.1 + 0.2), shown(float("nan")), shown(12345678)
    ('1.23457e+06', '0.3', '-', '12,345,678')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 3] + "..."
