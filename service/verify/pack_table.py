"""The table of a pack, compared byte for byte with the rows that its bundles give, in bounded memory.

Bytes are compared, so a table has one reading, whatever program opens it. Only where the sentence of a build may differ
is a row taken apart, and then it must be spelled as a pack spells it.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import IO

from service.audit.csv_line import csv_line
from service.audit.pack import COLUMNS, COLUMNS_BEFORE, TABLE, WORDS, encode_columns, encode_row
from service.verify.steps import Differs, NotCheckable, expect

ROW_MAX = 1 << 23
"""The most bytes of a row that is taken apart, far more than any question and answer have."""
SHOWN_MAX = 40
csv.field_size_limit(ROW_MAX)


class DecisionTable:
    """The rows of the table, compared one at a time; behind the first difference nothing is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._ahead = file, bytearray()
        self.broken: Differs | None = None
        """The first difference."""
        self.said: list[str] = []
        """The debates whose sentences are others than those of this build."""
        self.skipped: list[str] = []
        """The debates whose rows this build cannot make."""
        self.unmarked: list[str] = []
        """The items of evaluations in a table whose columns do not tell them from decisions."""
        self.statuses = Counter[str]()
        self.count = 0
        known = (columns for columns in (COLUMNS, COLUMNS_BEFORE) if self._follows(encode_columns(columns)))
        self._columns = next(known, ())
        if not self._columns:
            self._differ("the line of the columns", "as a pack writes it", repr(bytes(self._ahead[:SHOWN_MAX])))

    def compare(self, row: Mapping[str, str]) -> None:
        """Compare the next row with the one that follows from a bundle; sentences that differ are noted."""
        self.count += 1
        self.statuses[row["status"]] += 1
        if row["evaluation"] and "evaluation" not in self._columns:
            self.unmarked.append(row["debate"])
        if self.broken is None and not self._follows(encode_row(row, self._columns)):
            try:
                self._compare(row, self._cells(row["debate"]))
            except Differs as difference:
                self.broken = difference

    def skip(self, debate: str) -> None:
        """Pass over the row of a debate that this build cannot read."""
        self.count += 1
        self.skipped.append(debate)
        if self.broken is None:
            try:
                self._cells(debate)
            except Differs as difference:
                self.broken = difference

    def end(self) -> None:
        """Compare the end: no byte follows the last row."""
        self._fill(SHOWN_MAX)
        if self.broken is None and self._ahead:
            self._differ("what follows the last row", "nothing", repr(bytes(self._ahead[:SHOWN_MAX])))

    def refuse_doubtful(self) -> None:
        """Raise `NotCheckable` for sentences that are not this build's, and for items of evaluations without a mark."""
        if said := self.said:
            raise NotCheckable(
                f"{', '.join(sorted(WORDS))} of debate {said[0]}{more(said)} is "
                "not as this build says it: another build made the pack, or the cell was edited. Read report.md of "
                "the bundle instead"
            )
        if unmarked := self.unmarked:
            raise NotCheckable(
                f"debate {unmarked[0]}{more(unmarked)} decides nothing, as an item of an evaluation, and this table "
                "has no column that says so: an earlier build made the pack, or the column was taken out. Make the "
                "pack again to count decisions"
            )

    def _compare(self, row: Mapping[str, str], found: list[str]) -> None:
        """Compare the cells of a row whose bytes are others; raises `Differs`."""
        cells = next(csv.reader(StringIO(encode_row(row, self._columns).decode(), newline="")))
        for name, one, other in zip(self._columns, cells, found, strict=True):
            if name not in WORDS:
                expect(f"{name} of debate {row['debate']}", one, other, file=TABLE)
        self.said.append(row["debate"])

    def _cells(self, debate: str) -> list[str]:
        """The cells of the next row, which must be spelled as a pack spells them, and run by no spreadsheet."""
        line = self._line(debate)
        try:
            rows = csv.reader(StringIO(line.decode(), newline=""), strict=True)
            cells, more = next(rows), next(rows, None)
        except (csv.Error, UnicodeDecodeError):
            raise Differs(f"the row of debate {debate}", "a line of CSV", "none", file=TABLE) from None
        expect(f"the cells of debate {debate}", len(self._columns), len(cells), file=TABLE)
        if more is not None or csv_line(cells) != line:
            raise Differs(f"the spelling of the row of debate {debate}", "that of a pack", "another", file=TABLE)
        return cells

    def _line(self, debate: str) -> bytes:
        """The bytes of the next row, up to the first end of a line that no quotation marks enclose."""
        at, marks = 0, 0
        while True:
            if (end := self._ahead.find(b"\n", at)) >= 0:
                marks += self._ahead.count(b'"', at, end)
                at = end + 1
                if marks % 2 == 0:
                    line = bytes(self._ahead[:at])
                    del self._ahead[:at]
                    return line
            elif len(self._ahead) > ROW_MAX:
                raise Differs(f"the row of debate {debate}", f"at most {ROW_MAX} bytes", "more", file=TABLE)
            elif more := self._file.readline(ROW_MAX):
                self._ahead += more
            else:
                found = "the end of the file within it" if self._ahead else "the end of the file"
                raise Differs(f"the row of debate {debate}", "a row", found, file=TABLE)

    def _follows(self, expected: bytes) -> bool:
        """Whether these bytes come next; then they are read."""
        self._fill(len(expected))
        if follows := self._ahead.startswith(expected):
            del self._ahead[: len(expected)]
        return follows

    def _fill(self, count: int) -> None:
        while len(self._ahead) < count and (more := self._file.read(count - len(self._ahead))):
            self._ahead += more

    def _differ(self, what: str, expected: str, found: str) -> None:
        self.broken = Differs(what, expected, found, file=TABLE)


def more(debates: Sequence[str]) -> str:
    """How many debates there are besides the one that is named."""
    return f" and of {len(debates) - 1} more" * (len(debates) > 1)
