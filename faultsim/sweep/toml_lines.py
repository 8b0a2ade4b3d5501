"""Locates each key and value in a TOML file, which `tomllib` does not report.

It reads text that `tomllib` has already accepted, so it need not find mistakes.
"""

from bisect import bisect_left

#: Keys and numbers of list items from the top: ``("grid", "scheduler", 1)``.
Path = tuple[str | int, ...]

_BLANK = " \t\r\n"
_ENDS = ",]}\n#"


def lines(text: str) -> dict[Path, int]:
    """Path of every table, key and list item -> its line, from 1.

    Examples
    --------
    >>> found = lines('a = 1\\n[grid]\\nb = [\\n  1, # one\\n  2,\\n]\\n')
    >>> found["a",], found["grid",], found["grid", "b"], found["grid", "b", 1]
    (1, 2, 3, 5)
    """
    return _Walk(text).found


class _Walk:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._ends = [at for at, mark in enumerate(text) if mark == "\n"]
        self.found: dict[Path, int] = {}
        self._last: dict[Path, int] = {}  # number of the last table of an array of tables
        table: Path = ()
        while self._blank():
            if self._text.startswith("[[", self._at):
                self._at += 2
                name = self._under(self._key(), whole=False)
                self._last[name] = self._last.get(name, -1) + 1
                table = (*name, self._last[name])
                self._note(table)
                self._at += 2
            elif self._text[self._at] == "[":
                self._at += 1
                table = self._under(self._key(), whole=True)
                self._note(table)
                self._at += 1
            else:
                self._pair(table)

    def _note(self, path: Path) -> None:
        line = bisect_left(self._ends, self._at) + 1
        for end in range(1, len(path) + 1):
            self.found.setdefault(path[:end], line)

    def _under(self, key: Path, *, whole: bool) -> Path:
        """A header's path: below an array of tables, it refers to the last one."""
        path: Path = ()
        for number, part in enumerate(key):
            path = (*path, part)
            if path in self._last and (whole or number < len(key) - 1):
                path = (*path, self._last[path])
        return path

    def _blank(self) -> bool:
        """Skip blanks and comments; False at the end."""
        while self._at < len(self._text):
            if self._text[self._at] == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            elif self._text[self._at] in _BLANK:
                self._at += 1
            else:
                return True
        return False

    def _key(self) -> Path:
        """A dotted key; stops after it."""
        parts: list[str] = []
        while True:
            self._blank()
            if self._text[self._at] in "\"'":
                begin = self._at
                self._string()
                parts.append(self._text[begin + 1 : self._at - 1])
            else:
                begin = self._at
                while self._text[self._at].isalnum() or self._text[self._at] in "-_":
                    self._at += 1
                parts.append(self._text[begin : self._at])
            self._blank()
            if self._text[self._at] != ".":
                return tuple(parts)
            self._at += 1

    def _pair(self, table: Path) -> None:
        at = self._at
        path = (*table, *self._key())
        end, self._at = self._at, at
        self._note(path)
        self._at = end + 1  # after the "="
        self._value(path)

    def _value(self, path: Path) -> None:
        self._blank()
        self._note(path)
        mark = self._text[self._at]
        if mark in "\"'":
            self._string()
        elif mark in "[{":
            self._at += 1
            number = 0
            while self._blank() and self._text[self._at] not in "]}":
                if mark == "[":
                    self._value((*path, number))
                    number += 1
                else:
                    self._pair(path)
                if self._blank() and self._text[self._at] == ",":
                    self._at += 1
            self._at += 1
        else:
            while self._at < len(self._text) and self._text[self._at] not in _ENDS:
                self._at += 1

    def _string(self) -> None:
        quote = self._text[self._at]
        if self._text.startswith(3 * quote, self._at):
            self._at += 3
            while not self._text.startswith(3 * quote, self._at):
                self._at += 2 if quote == '"' and self._text[self._at] == "\\" else 1
            self._at += 3
            while self._text.startswith(quote, self._at):  # quotes that end the text itself
                self._at += 1
            return
        self._at += 1
        while self._text[self._at] != quote:
            self._at += 2 if quote == '"' and self._text[self._at] == "\\" else 1
        self._at += 1
