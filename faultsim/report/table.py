"""Tables of a page: sorted by a click, numbers to the right, explanations where one points."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

from faultsim.errors import OptionError
from faultsim.report.numbers import MINUS, Amount, Term, exact, three_digits

#: Letters from which the words of a cell may be broken into lines.
_LONG = 40
#: Pixels of a letter, of the space around a cell, and of a column on a page with two of them.
_LETTER, _SPACE, _COLUMN = 7.3, 18.0, 580.0
#: Rows from which a table scrolls below its head.
_TALL = 40
Cell: TypeAlias = str | float | int | Amount | Term | None


@dataclass(frozen=True)
class Table:
    """A table that is sorted by clicking its headers.

    Parameters
    ----------
    head : sequence of str or Term
        Names of the columns, with units.
    rows : sequence of sequence of cells
        A cell is a str, an int (written as it is), a float (three significant digits; the whole number is shown when
        one points at it), an `Amount`, a `Term` or None.  A column whose cells are all numbers (or None) sorts as such
        and stands right.
    title : str
        Its caption.
    kinds : int, optional
        Number of a column whose words are the cells' classes, for their colours ("holds", "partly", ...).

    Examples
    --------
    >>> from faultsim.report import Table
    >>> "data-value" in Table(["wait (s)"], [[1234.5], [None]]).html()
    True
    """

    head: Sequence[str | Term]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    kinds: int | None = None

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.head):
                raise OptionError(f"table {self.title!r}: row {number} has {len(row)} cells, its head {len(self.head)}")

    @property
    def broad(self) -> bool:
        """Whether it takes a whole row of a page with two columns."""
        width = 0.0
        for name, *cells in zip(self.head, *self.rows, strict=True):
            letters = [min(len(_words(cell)), _LONG) for cell in cells]
            width += _SPACE + _LETTER * max([*letters, *(2 + len(part) for part in _words(name).split())], default=0)
        return width > _COLUMN

    def html(self) -> str:
        """As HTML."""
        columns = range(len(self.head))
        numeric = [all(not isinstance(row[i], str | Term) for row in self.rows) and bool(self.rows) for i in columns]
        label = f' role="region" aria-label="{escape(self.title)}"' if self.title else ""
        long = " long" if len(self.rows) > _TALL else ""
        lines = [f'<div class="scroll{long}" tabindex="0"{label}><table class="sortable">']
        if self.title:
            lines.append(f"<caption>{escape(self.title)}</caption>")
        heads = (
            f'<th scope="col" aria-sort="none"{_number(numeric[i])}><button type="button"{_hint(name)}>'
            f"{escape(_words(name))}</button></th>"
            for i, name in enumerate(self.head)
        )
        lines.append("<thead><tr>" + "".join(heads) + "</tr></thead><tbody>")
        for row in self.rows:
            lines.append("<tr>" + "".join(self._cell(i, row[i], numeric[i]) for i in columns) + "</tr>")
        lines.append("</tbody></table></div>")
        return "\n".join(lines)

    def _cell(self, column: int, value: Cell, numeric: bool) -> str:
        if numeric:
            number = value.value if isinstance(value, Amount) else value
            assert not isinstance(number, str | Term)
            known = number is not None and not math.isnan(number)
            key = repr(float(number)).replace("inf", "Infinity") if known and number is not None else ""
            hint = ""
            if isinstance(value, Amount):
                hint = value.hint
            elif isinstance(value, float) and known and _reads(shown(value)) != value:
                hint = exact(value)
            told = f' title="{escape(hint)}"' if hint else ""
            return f'<td class="number" data-value="{key}"{told}>{escape(shown(value))}</td>'
        text = shown(value)
        if isinstance(value, Term):
            return f'<td><span class="term" tabindex="0"{_hint(value)}>{escape(text)}</span></td>'
        kind = text.replace(" ", "-") if column == self.kinds else "words" if len(text) > _LONG else ""
        return f'<td class="{escape(kind)}">{escape(text)}</td>' if kind else f"<td>{escape(text)}</td>"


def _number(numeric: bool) -> str:
    return ' class="number"' if numeric else ""


def _hint(value: str | Term) -> str:
    return f' title="{escape(value.hint)}"' if isinstance(value, Term) and value.hint else ""


def _words(value: Cell) -> str:
    return value.text if isinstance(value, Term) else shown(value)


def _reads(text: str) -> float:
    return float(text.replace(",", "").replace(MINUS, "-"))


def shown(value: Cell) -> str:
    """A cell as text.

    Examples
    --------
    >>> shown(1234567.8), shown(0.123456), shown(1234567), shown(None), shown(float("nan"))
    ('1,230,000', '0.123', '1,234,567', '', 'n/a')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Amount | Term):
        return value.text
    return f"{value:,}".replace("-", MINUS) if isinstance(value, int) else three_digits(value)
