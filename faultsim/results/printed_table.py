"""Small tables of a result, which print as they are read."""

from collections.abc import Mapping, Sequence

import numpy as np

from faultsim.arrays import Values
from faultsim.data.notebook import table_html
from faultsim.data.tabular import Columns


class PrintedTable(Columns):
    """Columns by name, rows by number; ``print`` shows all rows and what is said below them.

    Examples
    --------
    >>> import numpy as np
    >>> table = PrintedTable({"size": np.array([1, 2]), "share": np.array([0.25, 0.75])}, "jobs", {"share": "{:.0%}"})
    >>> print(table)
    size  share
       1    25%
       2    75%
    """

    def __init__(
        self,
        columns: Mapping[str, Values],
        what: str,
        formats: Mapping[str, str],
        notes: Sequence[str] = (),
        most: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(columns, what)
        self._formats, self._notes = dict(formats), tuple(notes)
        #: Values by column beyond which only that is printed.
        self._most = dict(most or {})

    @property
    def notes(self) -> tuple[str, ...]:
        """What is said below the rows."""
        return self._notes

    def _cells(self) -> dict[str, list[str]]:
        """Every value as text."""
        return {
            name: ["-" if value != value else self._cell(name, value) for value in column.tolist()]
            for name, column in self.items()
        }

    def _cell(self, name: str, value: float) -> str:
        form = self._formats.get(name, "{}")
        most = self._most.get(name)
        return form.format(value) if most is None or value <= most else f"> {form.format(most)}"

    def __str__(self) -> str:
        lined = {name: [name, *cells] for name, cells in self._cells().items()}
        for name, cells in lined.items():
            wide, is_number = max(map(len, cells)), self[name].dtype.kind in "iuf"
            lined[name] = [cell.rjust(wide) if is_number else cell.ljust(wide) for cell in cells]
        rows = ["  ".join(row).rstrip() for row in zip(*lined.values(), strict=True)]
        return "\n".join([*rows, *self._notes])

    def _repr_html_(self) -> str:
        cells = self._cells()
        return table_html(repr(self)[1:-1], list(cells), list(zip(*cells.values(), strict=True)), list(self._notes))


def suited(values: Values, decimals: int) -> str:
    """The format of a column: so many decimals, or, where all values are below 100, four digits.

    Examples
    --------
    >>> suited(np.array([0.0, 12_345.6]), 1), suited(np.array([0.012, np.inf]), 1)
    ('{:,.1f}', '{:,.4g}')
    """
    finite = values[np.isfinite(values)]
    return "{:,.4g}" if not len(finite) or finite.max() < 100.0 else f"{{:,.{decimals}f}}"
