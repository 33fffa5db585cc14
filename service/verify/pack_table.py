"""The table of a pack, compared row after row with what its bundles say, in bounded memory."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from io import StringIO
from typing import IO

from service.audit.export import csv_line
from service.audit.pack import TABLE, WORDS, encode_columns, encode_row
from service.verify.steps import Differs, expect

CELL_MAX = 1 << 22
"""The longest cell of a table, far more than any question has, and more than the csv module allows by itself."""
csv.field_size_limit(CELL_MAX)


class DecisionTable:
    """The rows of the table, compared one at a time; the first difference is kept."""

    def __init__(self, file: IO[bytes]) -> None:
        self._read = list[bytes]()
        self._found = csv.reader(self._lines(file), strict=True)
        self._columns = _cells(encode_columns())
        self.broken: Differs | None = None
        self.said: list[str] = []
        """The debates whose sentences are others than those of this build."""
        self.statuses = Counter[str]()
        self.count = 0
        self._expect("the columns", self._columns, self._next())

    def compare(self, row: Mapping[str, str]) -> None:
        """Compare the next row with the one that follows from a bundle; sentences that differ are noted."""
        self.count += 1
        self.statuses[row["status"]] += 1
        cells = _cells(encode_row(row))
        found = self._next()
        self._expect(f"the cells of debate {row['debate']}", len(cells), len(found))
        for name, one, other in zip(self._columns, cells, found, strict=False):
            if name not in WORDS:
                self._expect(f"{name} of debate {row['debate']}", one, other)
            elif one != other:
                self.said.append(row["debate"])

    def end(self) -> None:
        """Compare the end."""
        self._expect("the row after the last", [], self._next())

    def _lines(self, file: IO[bytes]) -> Iterator[str]:
        while line := file.readline(CELL_MAX):
            self._read.append(line)
            yield line.decode()

    def _next(self) -> list[str]:
        """The cells of the next row, which must be spelled as a pack spells them, and run by no spreadsheet."""
        self._read.clear()
        try:
            found = next(self._found, [])
        except (csv.Error, UnicodeDecodeError):
            return ["a line that is no CSV"]
        if found:
            self._expect("the spelling of a row", sha256(csv_line(found)).hexdigest(), self._digest())
        return found

    def _digest(self) -> str:
        return sha256(b"".join(self._read)).hexdigest()

    def _expect(self, what: str, expected: object, found: object) -> None:
        if self.broken is None:
            try:
                expect(what, expected, found, file=TABLE)
            except Differs as difference:
                self.broken = difference


def _cells(line: bytes) -> list[str]:
    return next(csv.reader(StringIO(line.decode(), newline="")))
