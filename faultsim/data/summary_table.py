"""What the `summary` methods return: a mapping from name to number that prints as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from faultsim.data.notebook import table_html


class SummaryTable(Mapping[str, float]):
    """A read-only mapping from name to number that prints with units and meanings.

    Parameters
    ----------
    rows : mapping of str to (str, str)
        Unit and meaning of every name.
    values : dict of str to float
        The numbers, in the order in which they print.
    name : str
        What they describe: the first line of output.
    dropped : mapping of str to int, optional
        Reasons and counts, printed below the row ``n_dropped``.
    notes : sequence of str
        What should be known before the numbers are believed, printed below the table.

    Examples
    --------
    >>> table = SummaryTable({"span": ("s", "time between them")}, {"span": 60.0})
    >>> table["span"]
    60.0
    >>> print(table)
    span                            60 s       time between them
    """

    __slots__ = ("_dropped", "_name", "_notes", "_rows", "_values")

    def __init__(
        self,
        rows: Mapping[str, tuple[str, str]],
        values: dict[str, float],
        name: str = "",
        dropped: Mapping[str, int] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self._rows = rows
        self._values = values
        self._name = name
        self._dropped = dict(dropped or {})
        self._notes = tuple(notes)

    def __getitem__(self, key: str) -> float:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r}, {self._values!r})"

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        rows = [(key, value, *self._rows[key]) for key, value in self._values.items()]
        notes = [f"{count:,} left out: {reason}" for reason, count in self._dropped.items()]
        notes += [f"note: {text}" for text in self._notes]
        return table_html(self._name or "summary", ("", "value", "unit", "meaning"), rows, notes)

    def __str__(self) -> str:
        lines = [self._name] if self._name else []
        for key, value in self._values.items():
            unit, meaning = self._rows[key]
            lines.append(f"{key:<20} {_show(value):>13} {unit:<7} {meaning}")
            if key == "n_dropped":
                lines += [f"{'':<20} {count:>13} {'':<7}   {reason}" for reason, count in self._dropped.items()]
        return "\n".join([*lines, *(f"note: {text}" for text in self._notes)])


def _show(value: float) -> str:
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e7):
        return f"{int(value)}"
    return f"{value:.4g}" if abs(value) < 1e4 or abs(value) >= 1e7 else f"{value:.0f}"
