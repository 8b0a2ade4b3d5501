"""The tables that ``sacct --parsable2`` and ``sacctmgr --parsable2`` print, record by record: see `table_of_text`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, islice, pairwise

from faultsim.data.limits import check_unpacked
from faultsim.errors import InputError, OptionError
from faultsim.readers.dropped_records import DroppedRecords
from faultsim.readers.input_lines import shown

#: Fields whose text users or administrators choose: the only ones that may contain separators or line breaks.
_FREE = frozenset({"jobname", "comment", "admincomment", "systemcomment", "submitline", "workdir", "reason", "extra"})
#: What other fields look like, by their name in lower case; a field without a row may be anything without line breaks.
_COUNT = r"(\d[\d.]*[KMGTP]?|UNLIMITED|Partition_Limit|INVALID)?"
_MOMENT = r"(\d[\dT:.+-]*(Z|[+-]\d\d:?\d\d)?|Unknown|None)?"
_LOOKS = {
    **dict.fromkeys(("submit", "start", "end", "eligible", "timestart", "timeend"), re.compile(_MOMENT, re.ASCII)),
    **dict.fromkeys(
        ("elapsedraw", "timelimitraw", "allocnodes", "nnodes", "reqnodes", "alloccpus", "ncpus", "reqcpus", "uid",
         "priority", "jobidraw"),
        re.compile(rf"-?{_COUNT}(\.\w+)?", re.ASCII),
    ),
    **dict.fromkeys(("elapsed", "timelimit"), re.compile(r"[-\d:.]*|UNLIMITED|Partition_Limit|INVALID", re.ASCII)),
    **dict.fromkeys(("alloctres", "reqtres"), re.compile(r"([\w/:.-]+=[^|]*)?", re.ASCII)),
    **dict.fromkeys(("user", "account", "partition", "qos"), re.compile(r"\S*")),
    "jobid": re.compile(r"\d+\S*", re.ASCII),
    "state": re.compile(r"([A-Z][A-Z_*+$#~-]*( by \S+)?)?", re.ASCII),
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*", re.ASCII)
_DASHES = re.compile(r"\s*-{2,}(\s+-{2,})*\s*")
#: Most lines that one record may take, and ways to divide its separators among free texts that are tried.
_MOST_LINES, _MOST_WAYS = 200, 300


@dataclass
class SlurmTable:
    """Records as columns of text, by the names of the fields in lower case, and the place of each record.

    Parameters
    ----------
    name : str
        The file, for messages.
    fields : tuple of str
        The names as the file has them.
    columns : dict of str to list of str
        The fields of all records, "" where a record has none.
    places : list of int
        Line of each record, or its number in a JSON document.
    size : int
        Bytes of the file, unpacked.
    unit : str
        What `places` counts.
    """

    name: str
    fields: tuple[str, ...]
    columns: dict[str, list[str]]
    places: list[int]
    size: int
    unit: str = "line"

    def where(self, row: int) -> str:
        """The place of a record as messages give it."""
        return f"{self.unit} {self.places[row]}"

    def first_of(self, *names: str) -> str | None:
        """The first of some fields that the table has."""
        return next((name for name in names if name in self.columns), None)

    def rows(self, chosen: list[int]) -> SlurmTable:
        """Some of the records."""
        columns = {name: [values[row] for row in chosen] for name, values in self.columns.items()}
        places = [self.places[row] for row in chosen]
        return SlurmTable(self.name, self.fields, columns, places, self.size, self.unit)

    def text(self, name: str, chosen: Iterable[int]) -> list[str]:
        """A field of some records that may become an array, each element of which takes as much as the longest."""
        values = self.columns[name]
        found = [values[row] for row in chosen]
        check_unpacked(f"{self.name}: field {name!r}", 4 * len(found) * max(map(len, found), default=0), self.size)
        return found


def table_of_text(
    name: str,
    text: str,
    known: frozenset[str],
    command: str,
    separator: str | None,
    dropped: DroppedRecords,
) -> SlurmTable:
    """The records of a table with a line of names, fields in any order.

    A job's name may contain separators and line breaks.  A line with too many fields is divided such that all others
    look as they should, one with too few goes on in the next line; what fits in no way is dropped as an ``unreadable
    record``.  Further lines of names, of tables that were appended, are no records; their fields may be others.

    Parameters
    ----------
    name : str
        The file, for messages.
    text : str
        Its content.
    known : frozenset of str
        Fields that the command prints, in lower case: a line with two of them, or a single one, has the names.
    command : str
        The command, for messages.
    separator : str, optional
        By default the text between the names of the first line.
    dropped : DroppedRecords
        Counts the records that are left out.

    Raises
    ------
    InputError
        No line of names; columns of fixed width.

    Examples
    --------
    >>> found = table_of_text(
    ...     "a.txt", "JobID|JobName|State\\n7|a|b|FAILED\\n", frozenset({"jobid", "state"}), "sacct -P", None,
    ...     DroppedRecords("a.txt"),
    ... )
    >>> found.columns["jobname"]
    ['a|b']
    """
    if separator is not None and (not isinstance(separator, str) or not separator or "\n" in separator):
        raise OptionError(f"separator: expected the text between two fields, such as '|', got {separator!r:.60}")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip()), None)
    if first is None:
        raise InputError(f"{name}: empty; expected a line with the names of the fields, as {command} prints")
    header = lines[first]
    if first + 1 < len(lines) and _DASHES.fullmatch(lines[first + 1]):
        raise InputError(
            f"{name}: columns of fixed width, in which long values are cut; "
            f"add --parsable2 (-P) to the command, as in {command}"
        )
    found = _NAME.findall(header if separator is None else header.replace(separator, " "))
    if sum(word.lower() in known for word in found) < min(2, len(found)) or not found:
        is_record = "T" in header and (header.count("|") > 1 or separator is not None)
        mend = "leave out --noheader (-n) of the command" if is_record else f"expected what {command} prints"
        raise InputError(
            f"{name}, line {first + 1}: not a line with the names of fields but {shown(header.encode())}; {mend}"
        )
    between = separator or _between(name, header, known)
    fields, rows, places = _records(lines, first, between, known, dropped)
    if "" in fields:
        raise InputError(f"{name}, line {first + 1}: a field without a name: {shown(header.encode())}")
    columns: dict[str, list[str]] = {}
    for key, values in zip(fields, zip(*rows, strict=True) if rows else ((),) * len(fields), strict=True):
        if key.lower() in columns:
            raise InputError(f"{name}: field {key!r} appears twice")
        columns[key.lower()] = _stripped(values)
    return SlurmTable(name, tuple(fields), columns, places, len(text))


def _stripped(values: Sequence[str]) -> list[str]:
    """Fields without space around them; most columns have none at all, which one look at all of them shows."""
    joined = "".join(values)
    return list(values) if joined.split(None, 1) == [joined] else [value.strip() for value in values]


def _between(name: str, header: str, known: frozenset[str]) -> str:
    """The text between the names of a header: the shortest beside a known field."""
    found = list(_NAME.finditer(header))
    gaps = [
        header[one.end() : other.start()]
        for one, other in pairwise(found)
        if one[0].lower() in known or other[0].lower() in known
    ]
    if not gaps:
        return header[found[-1].end() :].strip() or "|"
    likely = min(gaps, key=len)
    if not likely.strip(" "):
        raise InputError(
            f"{name}: spaces between the names of fields; add --parsable2 (-P) to the command, or say separator="
        )
    return likely


def _records(
    lines: list[str], first: int, between: str, known: frozenset[str], dropped: DroppedRecords
) -> tuple[list[str], list[list[str]], list[int]]:
    """Names of all fields, and the fields and the line of each record."""
    names = _names(lines[first], between)
    union, order = list(names), list(range(len(names)))
    rows: list[list[str]] = []
    places: list[int] = []
    for place, fields in _split(lines, first, between, names, known, dropped):
        if fields is None:  # a further line of names
            names = _names(lines[place - 1], between)
            lower = {key.lower(): at for at, key in enumerate(union)}
            for key in names:
                if key.lower() not in lower:
                    lower[key.lower()] = len(union)
                    union.append(key)
                    for row in rows:
                        row.append("")
            order = [lower[key.lower()] for key in names]
            continue
        row = fields
        if len(names) < len(union) or order != list(range(len(names))):
            row = [""] * len(union)
            for at, value in zip(order, fields, strict=True):
                row[at] = value
        rows.append(row)
        places.append(place)
    return union, rows, places


def _names(line: str, between: str) -> list[str]:
    names = [name.strip() for name in _fields(line, between)]
    return names[:-1] if len(names) > 1 and not names[-1] else names  # --parsable ends each line with a separator


def _fields(line: str, between: str) -> list[str]:
    if between in (",", ";", "\t") and '"' in line:  # as spreadsheets write them; Slurm itself quotes nothing
        import csv

        try:
            return next(csv.reader([line], delimiter=between), [])
        except csv.Error:
            return line.split(between)
    return line.split(between)


def _split(
    lines: list[str], first: int, between: str, names: list[str], known: frozenset[str], dropped: DroppedRecords
) -> Iterator[tuple[int, list[str] | None]]:
    """The line and the fields of each record; None instead of fields for a further line of names.

    Invariant: `begun` are the lines of a record that has too few fields so far, `count` of them.
    """
    begun: list[str] = []
    count, place = 0, 0
    header = lines[first].strip()
    width = len(names)
    trailing = len(_fields(lines[first].rstrip(" "), between)) > width
    heads = known | {names[0].strip().lower()}  # how a further line of names may begin
    for at in range(first + 1, len(lines)):
        line = lines[at]
        if not line.strip() and not begun:
            continue
        fields = _fields(line, between)
        if not begun and len(fields) == width and not trailing and fields[0].strip().lower() not in heads:
            yield at + 1, fields
            continue
        again = line.strip() == header or _has_names(fields, known)
        whole = len(fields) - trailing == width and (not begun or _plausible(names, fields))
        if begun and (again or whole or len(begun) == _MOST_LINES):
            if count > 1 or names[-1].lower() not in _FREE:  # else the rest of the text that ends the record before
                _unreadable(dropped, place, begun, count, width)
            begun, count = [], 0
        if again:
            new = _names(line, between)
            width, names, header = len(new), new, line.strip()
            heads = known | {names[0].strip().lower()}
            trailing = len(_fields(line.rstrip(" "), between)) > width
            yield at + 1, None
            continue
        if not begun:
            place = at + 1
        begun.append(line)
        count = count - 1 + len(fields) if len(begun) > 1 else len(fields)
        if count < width + trailing:
            continue
        if len(begun) > 1:
            fields = _fields("\n".join(begun), between)
        if trailing and fields[-1].strip() == "":
            fields.pop()
        divided = fields if len(fields) == width else _divided(fields, names, between)
        if divided is None:
            _unreadable(dropped, place, begun, len(fields), width)
        else:
            yield place, divided
        begun, count = [], 0
    if begun and (count > 1 or names[-1].lower() not in _FREE):
        _unreadable(dropped, place, begun, count, width)


def _has_names(fields: list[str], known: frozenset[str]) -> bool:
    """Whether a line has names of fields: two or more, and nothing else."""
    words = (word.strip().lower() for word in fields)
    return len(fields) > 1 and fields[0].strip().lower() in known and all(not word or word in known for word in words)


def _unreadable(dropped: DroppedRecords, place: int, begun: list[str], count: int, width: int) -> None:
    dropped.unreadable("record", f"line {place}", f"{count} fields, expected {width}", "\n".join(begun[:2])[:200])


def _plausible(names: list[str], fields: list[str]) -> bool:
    """Whether each field looks like one of its kind."""
    return all(
        looks.fullmatch(value.strip())
        for name, value in zip(names, fields, strict=False)
        if (looks := _LOOKS.get(name.lower())) is not None
    )


def _divided(fields: list[str], names: list[str], between: str) -> list[str] | None:
    """The fields of a line with too many: those of free texts joined such that all others look as they should."""
    free = [at for at, name in enumerate(names) if name.lower() in _FREE]
    more = len(fields) - len(names)
    if not free or more <= 0 or (len(free) > 1 and more > 50):
        return None
    for chosen in islice(combinations_with_replacement(free, more), _MOST_WAYS):
        made: list[str] = []
        at = 0
        for column in range(len(names)):
            taken = 1 + (chosen.count(column) if column in free else 0)
            made.append(between.join(fields[at : at + taken]))
            at += taken
        if _plausible(names, made):
            return made
    return None
