"""Marks in the place of passages that the check of a case flagged: what a decider that is asked masked is shown.

    a text of the case    every flagged span of it, as the recorded finding has it; overlapping spans become one
    any text              the words of a flagged passage with at least `LEAST` letters, wherever a text repeats them

    ⟦masked: 143 characters that the check "injection" flagged⟧      where at least as many characters are masked
    ⟦masked⟧                                                         elsewhere, so that a mark takes no more room

Repeated words are found by their letters and digits alone: whatever stands between these, the case of letters and
compatible forms make no difference, nor do escapes of JSON, in which a reply may quote them. The middle of a passage
whose words the finding has cut is masked between its two ends. Code alone writes these brackets: any in a text become
square ones. All work is linear in the texts for each passage.

What this does not find: a repetition in other words, in another language or decoded, and a part of a passage.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from service.debate.model import Case, Debater
from service.debate.options import (
    AdversarialOptions,
    BallotOptions,
    ConvergenceOptions,
    Options,
    PanelOptions,
    StancesOptions,
    debater_seats,
    debaters_of,
    instructions_of,
)
from service.debate.suspicions import CaseField, Suspicion

LEAST = 12
"""The fewest letters and digits of words that are masked wherever they are repeated; a letter of `_WIDE` counts as two.
Fewer may be words of any text."""
APART = 30
"""A reply has at most one mark for each so many characters; more become one, from the first to the last. So a reply
takes no more room than money is held for (`service.money.prices`)."""
SHORT = "\u27e6masked\u27e7"
CUT = "\u2026"
"""What stands in a finding for the middle of a long passage."""
_SQUARE = str.maketrans({"\u27e6": "[", "\u27e7": "]"})
_WIDE = 0x2E80
"""The first character of scripts in which one character is a syllable or a word."""
_PLAIN = re.compile(r"\u27e6unfound: |[^\W_]+")
_HIGH, _LOW = r"\\+u[dD][89abAB][0-9a-fA-F]{2}", r"\\+u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPED = re.compile(rf"{_HIGH}{_LOW}|\\+u[0-9a-fA-F]{{4}}|\\+[nrtbf]|{_PLAIN.pattern}")
Span = tuple[int, int]


class Words(NamedTuple):
    """The folded words of a flagged passage: its two ends where the finding has cut it, and its whole length."""

    head: str
    tail: str
    length: int


class Masks:
    """The flagged passages of one case. It keeps the texts that it has masked: the same are needed whenever money is
    held, and they are gone with it."""

    def __init__(self, suspicions: Sequence[Suspicion]) -> None:
        self._spans: dict[tuple[CaseField, str], list[Span]] = {}
        for one in suspicions:
            self._spans.setdefault((one.field, one.name), []).append(one.span)
        self._words = tuple(dict.fromkeys(words for one in suspicions for words in _words(one)))
        self._kept: dict[tuple[str, tuple[Span, ...], bool], str] = {}

    def of(self, field: CaseField, name: str, text: str) -> str:
        """A text of the case; ``name`` is which one of the field it is."""
        return self._masked(text, tuple(self._spans.get((field, name), ())), bounded=False)

    def said(self, text: str) -> str:
        """A text that may repeat flagged words, such as one of a reply."""
        return self._masked(text, (), bounded=True)

    def view(self, value: Any) -> Any:
        """A value of JSON with every text in it, but the names of its members, as `said` gives it."""
        match value:
            case str():
                return self.said(value)
            case dict():
                return {name: self.view(inner) for name, inner in value.items()}
            case list() | tuple():
                return [self.view(inner) for inner in value]
            case _:
                return value

    def instructions(self, options: Options, text: str | None) -> str | None:
        """Instructions of the caller. A finding names the first of the seats that they reach."""
        if text is None:
            return None
        mine = [
            span
            for (field, seat), spans in self._spans.items()
            if field == "instructions" and instructions_of(options, seat) == text
            for span in spans
        ]
        return self._masked(text, tuple(mine), bounded=False)

    def _masked(self, text: str, spans: tuple[Span, ...], *, bounded: bool) -> str:
        key = text, spans, bounded
        if (found := self._kept.get(key)) is None:
            found = self._kept[key] = _masked(text, spans, self._words, bounded=bounded)
        return found


def masked_case(case: Case, masks: Masks) -> Case:
    """A case with the flagged passages of its question, its answer and its titles masked."""
    answer = case.single_agent_answer
    return replace(
        case,
        question=masks.of("question", "", case.question),
        single_agent_answer=answer and masks.of("answer", "", answer),
        documents=tuple(replace(d, title=masks.of("title", d.id, d.title)) for d in case.documents),
    )


def masked_sources(sources: Mapping[str, str], masks: Masks) -> dict[str, str]:
    """The texts of the documents by their ids, with the flagged passages masked."""
    return {name: masks.of("document", name, text) for name, text in sources.items()}


def masked_options(options: Options, masks: Masks) -> Options:
    """Options with the flagged passages of all that a decider is shown of them masked."""
    match options:
        case AdversarialOptions():
            positions = tuple(replace(p, text=masks.of("position", p.id, p.text)) for p in options.positions)
            personas = {seat: masks.of("persona", seat, text) for seat, text in options.personas.items()}
            return replace(options, positions=positions, personas=personas)
        case StancesOptions():
            instructions = masks.instructions(options, options.instructions)
            return replace(options, debaters=masked_debaters(options, masks), instructions=instructions)
        case PanelOptions():
            return replace(options, instructions=masks.instructions(options, options.instructions))
        case ConvergenceOptions():
            named = masked_debaters(options, masks) if isinstance(options.debaters, tuple) else options.debaters
            return replace(
                options,
                debaters=named,
                debater_instructions=masks.instructions(options, options.debater_instructions),
                judge_instructions=masks.instructions(options, options.judge_instructions),
            )
        case BallotOptions():
            return options  # a ballot has no decider


def masked_debaters(options: Options, masks: Masks) -> tuple[Debater, ...]:
    """The debaters that the caller has named, as a masked request names them."""
    return tuple(
        replace(
            debater,
            name=masks.of("debater", seat, debater.name),
            stance=debater.stance and masks.of("stance", seat, debater.stance),
            role=debater.role and masks.of("persona", seat, debater.role),
        )
        for seat, debater in zip(debater_seats(options), debaters_of(options), strict=False)
    )


def _masked(text: str, spans: tuple[Span, ...], words: tuple[Words, ...], *, bounded: bool) -> str:
    """A text without what these spans hold and without these words; ``bounded`` limits the number of its marks."""
    text = text.translate(_SQUARE) if not bounded else text
    inside = [(max(0, start), min(end, len(text))) for start, end in spans]
    masked = apart([*(span for span in inside if span[0] < span[1]), *_repeated(text, words)])
    if bounded and len(masked) > max(1, len(text) // APART):
        masked = [(masked[0][0], masked[-1][1])]
    pieces, done = list[str](), 0
    for start, end in masked:
        pieces += [text[done:start], _mark(end - start, words)]
        done = end
    return "".join((*pieces, text[done:]))


def _mark(characters: int, words: tuple[Words, ...]) -> str:
    """The mark for so many characters; the short one where the long one takes more room, or has a flagged word."""
    whole = f'\u27e6masked: {characters} characters that the check "injection" flagged\u27e7'
    if characters < len(whole):
        return SHORT
    letters = _fold(whole, _PLAIN).text
    return SHORT if any(one.head in letters or one.tail in letters for one in words) else whole


def apart(spans: Sequence[Span]) -> list[Span]:
    """The same characters in their order, with spans that overlap or touch as one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


# Words that are repeated.


class _Folded(NamedTuple):
    """The letters and digits of a text. The piece at ``places[i]`` comes from ``origins[i]``, whose ``widths[i]``
    characters are all behind each of its letters, or one behind each where the width is 0."""

    text: str
    places: list[int]
    origins: list[int]
    widths: list[int]

    def span(self, start: int, end: int) -> Span:
        """The characters of the original behind these letters; there is at least one letter."""
        first, last = (bisect_right(self.places, at) - 1 for at in (start, end - 1))
        begin = self.origins[first] + (0 if self.widths[first] else start - self.places[first])
        return begin, self.origins[last] + (self.widths[last] or end - self.places[last])


def _words(one: Suspicion) -> Iterator[Words]:
    """The words of a passage that are looked for everywhere: read as they are, and with escapes as what they mean."""
    length = max(0, one.span[1] - one.span[0])
    head, _, tail = one.words.partition(CUT) if len(one.words) < length else (one.words, "", one.words)
    for token in (_PLAIN, _ESCAPED):
        ends = [letters for part in (head, tail) if _weight(letters := _fold(part, token).text) >= LEAST]
        if ends:
            yield Words(ends[0], ends[-1], length)


def _weight(letters: str) -> int:
    return sum(2 if ord(letter) >= _WIDE else 1 for letter in letters)


def _repeated(text: str, words: tuple[Words, ...]) -> Iterator[Span]:
    """Where a text has these words, read as it is and with its escapes as what they mean."""
    if not words:
        return
    for token in (_PLAIN, _ESCAPED) if "\\" in text else (_PLAIN,):
        folded = _fold(text, token)
        for one in words:
            for part in dict.fromkeys((one.head, one.tail)):
                at = folded.text.find(part)
                while at >= 0:
                    end = _end(folded.text, at, part, one)
                    yield folded.span(at, end)
                    at = folded.text.find(part, end)


def _end(letters: str, at: int, part: str, one: Words) -> int:
    """The end of repeated words: of their tail, where that follows the head within the length of the passage."""
    end = at + len(part)
    if one.head == one.tail or part != one.head:
        return end
    tail = letters.find(one.tail, end, at + one.length)
    return tail + len(one.tail) if tail >= 0 else end


def _fold(text: str, token: re.Pattern[str]) -> _Folded:
    pieces, places, origins, widths, at = list[str](), list[int](), list[int](), list[int](), 0
    for origin, width, letters in _pieces(text, token):
        if letters:
            pieces.append(letters)
            places.append(at)
            origins.append(origin)
            widths.append(width)
            at += len(letters)
    return _Folded("".join(pieces), places, origins, widths)


def _pieces(text: str, token: re.Pattern[str]) -> Iterator[tuple[int, int, str]]:
    """The runs of letters of a text, folded: where each begins, its width if not letter by letter, and its letters."""
    for found in token.finditer(text):
        run, origin = found.group(), found.start()
        if run[0] == "\\":
            yield origin, len(run), _letters(_meant(run))
        elif run[0] == "\u27e6":
            continue  # the beginning of another mark of code
        elif unicodedata.is_normalized("NFKC", run) and len(folded := run.casefold()) == len(run):
            yield origin, 0, folded
        else:
            yield from ((origin + i, 1, _letters(character)) for i, character in enumerate(run))


def _letters(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())


def _meant(escape: str) -> str:
    """The character of an escape, which may be written with any number of backslashes; a line break is none."""
    units = [int(digits, 16) for digits in re.findall(r"u([0-9a-fA-F]{4})", escape)]
    return b"".join(unit.to_bytes(2, "big") for unit in units).decode("utf-16-be", errors="ignore")
