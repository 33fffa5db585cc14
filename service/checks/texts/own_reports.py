"""What a text says in its own words: the clauses that it names and reports of, without the words that it quotes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from service.checks.citations.text.clause_names import clauses, named
from service.checks.texts.clause_reports import report
from service.checks.texts.names_in_words import in_words

Span = tuple[int, int]


class Reports:
    """The clauses that a text names, and what it reports of them in its own words."""

    def __init__(self, text: str, quoted: Sequence[Span]) -> None:
        self._text, self._quoted = text, quoted
        self._reported = {start for start, _ in clauses(text)}
        self.names = sorted([*named(text), *in_words(text)])
        self._places = [span for span, _ in self.names]

    @cached_property
    def _own(self) -> str:
        own = list(self._text)
        for start, end in self._quoted:
            own[start:end] = " " * (end - start)
        return "".join(own)

    def is_reported(self, span: Span) -> bool:
        """Whether the clause is said to state something."""
        return span[0] in self._reported

    def report(self, span: Span) -> str | None:
        """The words outside quotation marks that are given as the clause's, or ``None``."""
        return report(self._own, span, self._places)


class Stretches:
    """Stretches of a text, to be asked whether one of them holds another."""

    def __init__(self, spans: Sequence[Span]) -> None:
        ordered = sorted(spans)
        self._starts = [start for start, _ in ordered]
        self._reach = list(accumulate((end for _, end in ordered), max))

    def __contains__(self, span: Span) -> bool:
        k = bisect_right(self._starts, span[0]) - 1
        return k >= 0 and span[1] <= self._reach[k]
