"""Records of a file that a reader leaves out: see `DroppedRecords`."""

from __future__ import annotations

from dataclasses import dataclass, field

from faultsim.data.unreadable import MOST_UNREADABLE, UNREADABLE, unreadable
from faultsim.errors import InputError
from faultsim.readers.input_lines import shown

#: Records of each reason that a message shows.
_SHOWN = 3


@dataclass
class _Reason:
    count: int = 0
    examples: list[str] = field(default_factory=list)


class DroppedRecords:
    """The records that a reader leaves out, by reason, with the places and texts of the first three of each.

    There are two kinds of reasons.  `unreadable` is for mistakes in the file (a field too many, a size that is no
    number): ``strict=True`` refuses the file at the first of them, and many of them are a caveat.  `left_out` is for
    records that are no jobs or failures by the rules of the format (a job step, a job that never started).

    Parameters
    ----------
    where : str
        The file, for messages.
    strict : bool
        Whether an unreadable record is an error.

    Examples
    --------
    >>> dropped = DroppedRecords("jobs.csv")
    >>> dropped.left_out("job step", 7)
    >>> dropped.unreadable("record", "line 3", "5 fields, expected 4: 'a,b,c,d,e'")
    >>> dropped.finish(100, expected="4 fields")
    >>> dropped.counts
    {'job step': 7, 'unreadable record': 1}
    >>> DroppedRecords("jobs.csv", strict=True).unreadable("size", "line 3", "'x' is not a number")
    Traceback (most recent call last):
    faultsim.errors.InputError: jobs.csv, line 3: 'x' is not a number; strict=False leaves such records out
    """

    def __init__(self, where: str, *, strict: bool = False) -> None:
        self.where, self.strict = where, strict
        self._reasons: dict[str, _Reason] = {}

    def left_out(self, reason: str, count: int = 1) -> None:
        """Count records that the format says are none of those wanted."""
        if count:
            self._reasons.setdefault(reason, _Reason()).count += count

    def unreadable(self, what: str, place: str, problem: str, text: bytes | str = b"") -> None:
        """Count a record that cannot be read, as ``unreadable WHAT``.

        Parameters
        ----------
        what : str
            The part that is wrong: ``record``, or the name of a field.
        place : str
            ``line 3`` or ``row 1``.
        problem : str
            What was found and what is expected.
        text : bytes or str, optional
            The record or field, quoted after the problem.

        Raises
        ------
        InputError
            If the reader is strict.
        """
        if text:
            problem = f"{problem}: {shown(text.encode() if isinstance(text, str) else text)}"
        if self.strict:
            raise InputError(f"{self.where}, {place}: {problem}; strict=False leaves such records out")
        reason = self._reasons.setdefault(f"{UNREADABLE} {what}", _Reason())
        reason.count += 1
        if len(reason.examples) < _SHOWN:
            reason.examples.append(f"{place}: {problem}")

    @property
    def counts(self) -> dict[str, int]:
        """Reasons and counts, for the `dropped` of a log, a trace or a workflow."""
        return {name: reason.count for name, reason in self._reasons.items()}

    @property
    def count_unreadable(self) -> int:
        """Records that could not be read."""
        return unreadable(self.counts)

    def examples(self) -> str:
        """The first unreadable records of each reason, as a message lists them; empty if there are none.

        Examples
        --------
        >>> dropped = DroppedRecords("jobs.csv")
        >>> dropped.unreadable("size", "line 3", "'x' is not a number")
        >>> dropped.examples()
        "line 3: 'x' is not a number"
        """
        return "; ".join(text for reason in self._reasons.values() for text in reason.examples)

    def finish(self, total: int, *, expected: str = "") -> None:
        """Refuse a file of which no record could be read; log those that could not, with the first of each reason.

        Parameters
        ----------
        total : int
            Records in the file, those left out included.
        expected : str
            What a record should be, or how to write a file that can be read.

        Raises
        ------
        InputError
            If all records are unreadable: the first problem, and `expected`.
        """
        count = self.count_unreadable
        if not count:
            return
        hint = f"; expected {expected}" if expected else ""
        if count >= total:
            many = "" if total == 1 else f"; none of the {total:,} records can be read"
            first = next(text for reason in self._reasons.values() for text in reason.examples)
            raise InputError(f"{self.where}, {first}{many}{hint}")
        import logging

        share = f" ({100 * count / total:.1f} %)" if count > MOST_UNREADABLE * total else ""
        logging.getLogger("faultsim").warning(
            "%s: %s of %s records%s left out, for they cannot be read: %s",
            *(self.where, f"{count:,}", f"{total:,}", share, self.examples()),
        )
