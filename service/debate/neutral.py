"""A text as models read it: without characters that a reader does not see and that only direct or hide other ones.

    kind            what becomes of it
    control         C0 but tab and line feed, DEL, C1: nothing
    lineSeparator   VT, FF, FS to US, NEL, U+2028, U+2029: a line feed, as are CR LF and CR, which are not counted
    bidi            embeddings and isolates stay in pairs that stand within one line around words of their own; an
                    override never does; one mark (LRM, RLM, ALM) stays beside a letter that is read from right to left
    zeroWidth       one ZWJ stays behind a letter of a script that joins, and between two pictographs; one ZWNJ between
                    two such letters; ZWSP, WORD JOINER, BOM, soft hyphens, invisible operators never do
    variation       one selector stays behind a character that takes it: a pictograph, an ideograph, Mongolian
    tag             those of the flags of England, Scotland and Wales stay
    filler          Hangul fillers and Khmer's inherent vowels: nothing
    format          interlinear annotation, musical and shorthand controls, deprecated ones: nothing

All of Default_Ignorable_Code_Point is in this table. Format characters that print something stay (`PRINTED`). Sources:
UAX #9 (pairs, in a paragraph), UTS #51 (sequences of pictographs and flags), UTR #36 and UTS #39 (what must not be
invisible), the core specification 23.2 (joiners) and 23.4 (selectors).

`neutral` is idempotent and linear, and decides by ranges alone, so that a later version of Unicode changes no request.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from service.debate.whose import by_tenant

TakenKind = Literal["bidi", "control", "filler", "format", "lineSeparator", "tag", "variation", "zeroWidth"]
"""What kind of character is taken from a text before a model reads it."""
TAKEN_KINDS: tuple[TakenKind, ...] = get_args(TakenKind)

Ranges = tuple[tuple[int, int], ...]

_KINDS: Mapping[TakenKind, Ranges] = {
    "control": ((0x00, 0x08), (0x0E, 0x1B), (0x7F, 0x84), (0x86, 0x9F)),
    "lineSeparator": ((0x0B, 0x0C), (0x1C, 0x1F), (0x85, 0x85), (0x2028, 0x2029)),
    "bidi": ((0x061C, 0x061C), (0x200E, 0x200F), (0x202A, 0x202E), (0x2066, 0x2069)),
    "zeroWidth": (
        (0xAD, 0xAD),
        (0x034F, 0x034F),
        (0x180E, 0x180E),
        (0x200B, 0x200D),
        (0x2060, 0x2065),
        (0xFEFF, 0xFEFF),
    ),
    "variation": ((0x180B, 0x180D), (0x180F, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF)),
    "tag": ((0xE0000, 0xE00FF), (0xE01F0, 0xE0FFF)),
    "filler": ((0x115F, 0x1160), (0x17B4, 0x17B5), (0x3164, 0x3164), (0xFFA0, 0xFFA0)),
    "format": ((0x206A, 0x206F), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A)),
}
PRINTED: Ranges = (
    (0x0600, 0x0605),
    (0x06DD, 0x06DD),
    (0x070F, 0x070F),
    (0x0890, 0x0891),
    (0x08E2, 0x08E2),
    (0x110BD, 0x110BD),
    (0x110CD, 0x110CD),
    (0x13430, 0x1345F),
)
"""Format characters that enclose, join or shape what stands beside them, and are seen: they stay."""

MOST_TURNS = 50_000
"""The embeddings, overrides and isolates, with their ends, from which on none of a text stays: a flood would take
seconds to pair, and no honest text has so many."""

PIECE = 4_096
"""The characters of a text that are looked through at a time."""

_MARKS = "\u061c\u200e\u200f"
_JOINERS = "\u200c\u200d"
_ISOLATES, _PDI = "\u2066\u2067\u2068", "\u2069"
_OPENING = f"\u202a\u202b\u202d\u202e{_ISOLATES}"
_PAIRED = f"{_OPENING}\u202c{_PDI}"
_OVERRIDES = "\u202d\u202e"
_FLAG = "\U0001f3f4"
_FLAGS = tuple("".join(chr(0xE0000 + ord(c)) for c in name) + "\U000e007f" for name in ("gbeng", "gbsct", "gbwls"))
"""The tags behind a black flag that make a flag of UTS #51, annex C: the others show a black flag."""

_RIGHT_TO_LEFT: Ranges = (
    (0x0590, 0x08FF),
    (0xFB1D, 0xFDFF),
    (0xFE70, 0xFEFE),
    (0x10800, 0x10FFF),
    (0x1E800, 0x1EFFF),
)
_JOINING: Ranges = (
    (0x0600, 0x07FF),
    (0x0840, 0x0DFF),
    (0x0F00, 0x109F),
    (0x1700, 0x1AAF),
    (0x1B00, 0x1C4F),
    (0x1CD0, 0x1CFF),
    (0xA800, 0xA8FF),
    (0xA980, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0xAAE0, 0xABFF),
    (0xFB50, 0xFDFF),
    (0xFE70, 0xFEFE),
    (0x10A00, 0x10A5F),
    (0x10AC0, 0x10AFF),
    (0x10B80, 0x10BAF),
    (0x10D00, 0x10FFF),
    (0x11000, 0x11FFF),
    (0x16100, 0x1613F),
    (0x1E900, 0x1E95F),
)
"""Scripts whose letters change their form by what they join: Arabic, Syriac, N'Ko, Mandaic; the scripts of India and
those that come from them, from Tibetan and Khmer to Javanese; Mongolian, Manichaean, Sogdian, Adlam."""
_IDEOGRAPHS: Ranges = ((0x3007, 0x3007), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
_MONGOLIAN: Ranges = ((0x1800, 0x180A), (0x1810, 0x18AF), (0x11660, 0x1167F))
_PICTOGRAPHS: Ranges = (
    (0xA9, 0xA9),
    (0xAE, 0xAE),
    (0x203C, 0x203C),
    (0x2049, 0x2049),
    (0x2122, 0x2122),
    (0x2139, 0x2139),
    (0x2194, 0x2199),
    (0x21A9, 0x21AA),
    (0x231A, 0x231B),
    (0x2328, 0x2328),
    (0x2388, 0x2388),
    (0x23CF, 0x23CF),
    (0x23E9, 0x23FA),
    (0x24C2, 0x24C2),
    (0x25AA, 0x25AB),
    (0x25B6, 0x25B6),
    (0x25C0, 0x25C0),
    (0x25FB, 0x25FE),
    (0x2600, 0x27BF),
    (0x2934, 0x2935),
    (0x2B05, 0x2B07),
    (0x2B1B, 0x2B1C),
    (0x2B50, 0x2B50),
    (0x2B55, 0x2B55),
    (0x3030, 0x3030),
    (0x303D, 0x303D),
    (0x3297, 0x3297),
    (0x3299, 0x3299),
    (0x1F000, 0x1FAFF),
    (0x1FC00, 0x1FFFD),
)
"""Extended_Pictographic of UTS #51, with its gaps between symbols closed; the modifiers of skin are among them."""
_KEYCAPS, _KEYCAP = "0123456789#*", "\u20e3"


def _class(ranges: Ranges) -> str:
    return "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in ranges)


_TABLE = "".join(map(_class, _KINDS.values()))
"""The inside of a character class: each character that may be taken."""
_OF_PLACE = f"{_MARKS}{_JOINERS}{_class(_KINDS['variation'])}\U000e0020-\U000e007f"
"""Characters that stay or go by what stands on either side of their run; those of pairs are read by themselves."""
_NEVER = "".join(
    (
        _class(_KINDS["control"]),
        "\u00ad\u034f\u180e\u200b\u2060-\u2065\ufeff",
        "\U000e0000-\U000e001f\U000e0080-\U000e00ff\U000e01f0-\U000e0fff",
        _class(_KINDS["filler"]),
        _class(_KINDS["format"]),
    )
)
INVISIBLE = f"{_NEVER}{_OF_PLACE}"
"""The inside of a character class: what stands for nothing where texts are compared. Line separators are white space
there, and the characters of pairs change what a reader sees."""
INVISIBLE_CHARACTERS = frozenset(
    char
    for kind in TAKEN_KINDS
    if kind != "lineSeparator"
    for first, last in _KINDS[kind]
    for char in map(chr, range(first, last + 1))
    if char not in _PAIRED
)
"""The characters of `INVISIBLE`."""

_ANY = re.compile(f"[\r{_TABLE}]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_CONTROLS = bytes([*range(0x09), *range(0x0B, 0x20), 0x7F])
"""The characters of `_CONTROL`, which is looked for by them: it takes a quarter of the time."""
_LINE = re.compile(f"\r\n?|[{_class(_KINDS['lineSeparator'])}]")
_GONE = re.compile(f"[{_NEVER}]+")
_RUN = re.compile(f"[{_OF_PLACE}]+")
_TURNS = re.compile(f"[{_PAIRED}]")
_SEEN = re.compile(f"[^\\s{_TABLE}]")


def neutral(text: str) -> str:
    """The text as a model reads it, with its line breaks; plain text is returned as it is."""
    if len(text) <= PIECE and not _changes(text):
        return text
    pieces, changed = list[str](), False
    for piece in pieces_of(text):
        read = piece
        if _changes(piece):
            read = _GONE.sub("", _LINE.sub("\n", piece))
            changed = True
        pieces.append(read)
    if not changed:
        return text
    bare = "".join(pieces)
    kept, done = list[str](), 0
    for at in _unpaired(bare):
        kept.append(bare[done:at])
        done = at + 1
    return _without_runs("".join([*kept, bare[done:]]))


def _changes(piece: str) -> bool:
    """Whether a piece holds a character that does not stay as it is, or not wherever it stands."""
    if piece.isascii():
        return len(piece.encode().translate(None, _CONTROLS)) < len(piece)
    return _ANY.search(piece) is not None


def pieces_of(text: str) -> Iterator[str]:
    """A text in short pieces, none of which ends between CR and LF.

    Most pieces of most texts are plain ASCII, which is looked through at once. No step over a long text is one call of
    `re` either, which would keep every other thread of the process waiting.
    """
    at = 0
    while at < len(text):
        end = at + PIECE
        end += text[end - 1 : end + 1] == "\r\n"
        yield text[at:end]
        at = end


def neutral_line(text: str) -> str:
    """The text as a model reads it where it must stay within one line: a blank for each line break."""
    return neutral(text).replace("\n", " ")


def taken(text: str) -> dict[TakenKind, int]:
    """How many characters of each kind `neutral` takes from a text, or makes a line feed; kinds without any left out.

    CR LF and CR are line breaks of honest texts and do not count.
    """
    read = neutral(text)
    if read is text:
        return {}
    before, after = Counter(map(kind_of, _held(text))), Counter(map(kind_of, _held(read)))
    gone = before - after
    return {kind: gone[kind] for kind in TAKEN_KINDS if gone[kind]}


def _held(text: str) -> Iterator[str]:
    """The characters of the table that a text holds, and its CR."""
    for piece in pieces_of(text):
        yield from (_CONTROL if piece.isascii() else _ANY).findall(piece)


def unturned(text: str) -> str:
    """The text with a zero width space for each embedding, override or isolate that `neutral` takes.

    Its offsets are those of the text, so that a passage of what a model has read is found at its place in the original.
    """
    if text.isascii() or not _TURNS.search(text):
        return text
    places = _unpaired(_LINE.sub(lambda found: "\n" * len(found.group()), _GONE.sub(_as_wide, text)))
    pieces, done = list[str](), 0
    for at in places:
        pieces += (text[done:at], "\u200b")
        done = at + 1
    return "".join([*pieces, text[done:]])


def _as_wide(found: re.Match[str]) -> str:
    return "\u200b" * len(found.group())


@lru_cache(maxsize=1_024)
def kind_of(char: str) -> TakenKind | None:
    """The kind of a character of the table, or ``None`` for any other."""
    at = ord(char)
    for kind, ranges in _KINDS.items():
        if any(first <= at <= last for first, last in ranges):
            return kind
    return None


class _Open(NamedTuple):
    """A character that opens a pair, and whether words of its own stand behind it."""

    char: str
    at: int
    seen: bool


class _Line:
    """The pairs of one paragraph (UAX #9, BD9 to BD11): an isolate ends the embeddings that were opened within it."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._isolates = 0
        self.unpaired: list[int] = []

    def words(self) -> None:
        """Note that the innermost pair has words of its own."""
        if self._open and not self._open[-1].seen:
            self._open[-1] = self._open[-1]._replace(seen=True)

    def open(self, char: str, at: int) -> None:
        """Begin a pair."""
        self._open.append(_Open(char, at, False))
        self._isolates += char in _ISOLATES

    def close(self, char: str, at: int) -> None:
        """End the innermost pair of its kind, if there is one."""
        if char == _PDI and self._isolates:
            while self._open[-1].char not in _ISOLATES:
                self._drop()
        elif char == _PDI or not self._open or self._open[-1].char in _ISOLATES:
            self.unpaired.append(at)
            return
        if self._open[-1].char in _OVERRIDES or not self._open[-1].seen:
            self._drop()
            self.unpaired.append(at)
        else:
            self._isolates -= self._open.pop().char in _ISOLATES

    def end(self) -> None:
        """End the paragraph; what is open has no end."""
        while self._open:
            self._drop()

    def _drop(self) -> None:
        """Take the innermost opening; its words are those of the pair around it."""
        last = self._open.pop()
        self._isolates -= last.char in _ISOLATES
        self.unpaired.append(last.at)
        if last.seen:
            self.words()


def _unpaired(text: str) -> list[int]:
    """The places of embeddings, overrides and isolates that do not stay, in order."""
    turns = list(_places(_TURNS, text))
    if not turns or len(turns) > MOST_TURNS:
        return turns
    line, done = _Line(), 0
    for at in turns:
        if (broken := text.rfind("\n", done, at)) >= 0:
            line.end()
            done = broken
        if _SEEN.search(text, done, at):
            line.words()
        done = at + 1
        if text[at] in _OPENING:
            line.open(text[at], at)
        else:
            line.close(text[at], at)
    line.end()
    return sorted(line.unpaired)


def _places(sign: re.Pattern[str], text: str) -> Iterator[int]:
    """The places of single characters beyond ASCII."""
    for at in range(0, len(text), PIECE):
        piece = text[at : at + PIECE]
        if not piece.isascii():
            yield from (at + found.start() for found in sign.finditer(piece))


def _without_runs(text: str) -> str:
    """A text with what stays of each run of selectors, joiners, marks and tags."""
    pieces, done, at = list[str](), 0, 0
    while at < len(text):
        end = at + PIECE
        found = None if text[at:end].isascii() else _RUN.search(text, at, end)
        whole = _RUN.match(text, found.start()) if found else None
        if whole is None:
            at = end
            continue
        pieces += (text[done : whole.start()], _kept_of_run(whole))
        done = at = whole.end()
    return "".join([*pieces, text[done:]]) if pieces else text


def _kept_of_run(found: re.Match[str]) -> str:
    """What stays of a run of selectors, joiners, marks and tags."""
    text, (start, end) = found.string, found.span()
    return _of_run(text[start : min(end, start + _LONGEST)], text[max(0, start - 1) : start], text[end : end + 1])


_LONGEST = 64
"""The characters of a run that are looked at; no honest sequence has more than nine."""


@by_tenant(most=4_096)
def _of_run(run: str, before: str, after: str) -> str:
    return "".join(_staying(run, before, after))


def _staying(run: str, before: str, after: str) -> Iterator[str]:
    """Of each kind the first that its neighbours ask for, in the order of the run; and the tags of a whole flag."""
    flag = _flag(run) if before == _FLAG else ""
    turned = _is(before, _RIGHT_TO_LEFT) or _is(after, _RIGHT_TO_LEFT)
    missing = {"selector", "joiner", "mark"}
    for char in run:
        if flag and char == flag[0]:
            flag = flag[1:]
            yield char
            continue
        kind = "mark" if char in _MARKS else "joiner" if char in _JOINERS else "selector"
        stays = turned if kind == "mark" else _joins(char, before, after) or _selects(char, before, after)
        if stays and kind in missing:
            missing.remove(kind)
            yield char


def _flag(run: str) -> str:
    """The tags that make a flag, if those of the run begin with them."""
    tags = "".join(char for char in run if "\U000e0020" <= char <= "\U000e007f")
    return next((flag for flag in _FLAGS if tags.startswith(flag)), "")


def _joins(char: str, before: str, after: str) -> bool:
    """Whether a joiner or non-joiner changes the form of a letter or makes one pictograph of two."""
    if char == "\u200c":
        return _is(before, _JOINING) and _is(after, _JOINING)
    return char == "\u200d" and (_is(before, _JOINING) or (_is(before, _PICTOGRAPHS) and _is(after, _PICTOGRAPHS)))


def _selects(char: str, before: str, after: str) -> bool:
    """Whether a selector chooses a form of the character before it."""
    if char in "\ufe0e\ufe0f":
        return _is(before, _PICTOGRAPHS) or (
            char == "\ufe0f" and before != "" and before in _KEYCAPS and after == _KEYCAP
        )
    if "\ufe00" <= char <= "\ufe02" or "\U000e0100" <= char <= "\U000e01ef":
        return _is(before, _IDEOGRAPHS)
    return "\u180b" <= char <= "\u180f" and _is(before, _MONGOLIAN)


def _is(char: str, ranges: Ranges) -> bool:
    return bool(char) and any(first <= ord(char) <= last for first, last in ranges)
