"""What a model reads of a text: honest scripts as they are, and nothing that no reader sees."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.debate import neutral as rules
from service.debate.neutral import (
    INVISIBLE_CHARACTERS,
    PRINTED,
    TAKEN_KINDS,
    kind_of,
    neutral,
    neutral_line,
    taken,
    unturned,
)
from tests.fixtures.unseen import HOSTILE, hostile_texts

ZWSP, ZWNJ, ZWJ, LRM, RLM, ALM = "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u061c"
LRE, RLE, PDF, LRO, RLO = "\u202a", "\u202b", "\u202c", "\u202d", "\u202e"
LRI, RLI, FSI, PDI = "\u2066", "\u2067", "\u2068", "\u2069"
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
SHALOM = "\u05e9\u05dc\u05d5\u05dd"

HONEST = [
    "Plain ASCII,\twith tabs\nand lines.",
    "Na\u00efve r\u00e9sum\u00e9 \u2013 \u201cquoted\u201d\u2026 5\u00a0% \u7f70\u91d1\u306f\u4e0a\u9650",
    f"\u0645\u06cc{ZWNJ}\u062e\u0648\u0627\u0647\u0645 \u0628\u0631\u0648\u0645",  # Persian: the verb's prefix
    f"\u0647{ZWJ} 1446",  # Arabic: the initial form as an abbreviation
    f"\u0915\u094d{ZWJ}\u0937 \u0915\u094d{ZWNJ}\u0937",  # Devanagari: half form, visible virama
    f"\u0d28\u0d4d{ZWJ} \u0d15",  # Malayalam: a chillu at the end of a word
    f"\u0dc1\u0dca{ZWJ}\u0dbb\u0dd3",  # Sinhala
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",  # a family
    "\u2764\ufe0f\u200d\U0001f525 \U0001f3f3\ufe0f\u200d\U0001f308 \U0001f44d\U0001f3fd 1\ufe0f\u20e3 \u00a9\ufe0f",
    "\U0001f469\U0001f3fd\u200d\u2695\ufe0f",  # a woman doctor with a tone of skin
    f"{ENGLAND} plays",
    "\u845b\U000e0100 \u845b\U000e0101",  # one ideograph, two registered forms
    "\u1820\u180b\u1820",  # Mongolian
    f"{SHALOM}{LRM} C++ {RLM}{SHALOM}",
    f"The firm {FSI}{SHALOM}{PDI} signs, {RLE}{SHALOM} {LRE}x{PDF} {SHALOM}{PDF}.",
    f"{RLI}{SHALOM} {LRI}9.2{PDI} {SHALOM}{PDI}",
    "\u0600\u0661 \u06dd\u0662",  # signs that enclose numbers
]


@pytest.mark.parametrize("text", HONEST)
def test_honest_texts_are_read_as_they_are(text: str) -> None:
    assert neutral(text) == text
    assert taken(text) == {}
    assert unturned(text) == text


@pytest.mark.parametrize(
    ("text", "read", "kinds"),
    [
        ("a\x00b\x08c\x1b[31m\x7f\x9b", "abc[31m", {"control": 5}),
        ("a\r\nb\rc", "a\nb\nc", {}),
        ("a\x0bb\x0cc\x1cd\x1fe\x85f\u2028g\u2029h", "a\nb\nc\nd\ne\nf\ng\nh", {"lineSeparator": 7}),
        (f"ig{ZWSP}no\u00adre\u2060 \ufeffthis\u2063\u034f\u180e", "ignore this", {"zeroWidth": 7}),
        (f"pay{RLO}txt.exe{PDF}now", "paytxt.exenow", {"bidi": 2}),
        (f"{LRO}a{PDF} {RLI}b", "a b", {"bidi": 3}),
        (f"{RLI}a\nb{PDI}", "a\nb", {"bidi": 2}),
        (f"{RLI}{PDI}{LRI} {PDI}a", " a", {"bidi": 4}),
        (f"{RLI}{LRI}{RLI}a{PDI}{PDI}{PDI}", f"{RLI}a{PDI}", {"bidi": 4}),
        (f"{LRI}{RLE}a{PDI}b{PDF}", f"{LRI}a{PDI}b", {"bidi": 2}),
        (f"{RLE}{LRI}a{PDF}b{PDI}c", f"{LRI}ab{PDI}c", {"bidi": 2}),
        (f"a{LRM}b {ALM}c", "ab c", {"bidi": 2}),
        (f"{SHALOM}{LRM}{RLM}{LRM}", f"{SHALOM}{LRM}", {"bidi": 2}),
        (f"a{ZWJ}b{ZWNJ}c", "abc", {"zeroWidth": 2}),
        (f"\u0645\u06cc{ZWNJ}{ZWNJ}{ZWJ}\u062e", f"\u0645\u06cc{ZWNJ}\u062e", {"zeroWidth": 2}),
        ("a\ufe0f\ufe01\U000e0110b", "ab", {"variation": 3}),
        ("\U0001f600\ufe0f\ufe00\U000e0110\ufe0f", "\U0001f600\ufe0f", {"variation": 3}),
        ("\u4e00\U000e0100\U000e0101", "\u4e00\U000e0100", {"variation": 1}),
        ("1\ufe0f2", "12", {"variation": 1}),
        ("hi\U000e0048\U000e0049\U000e0001", "hi", {"tag": 3}),
        (f"\U0001f3f4{ENGLAND[1:-1]}x", "\U0001f3f4x", {"tag": 5}),
        (f"{ENGLAND}\U000e0061\U000e007f", ENGLAND, {"tag": 2}),
        ("a\u115f\u1160\u3164\uffa0\u17b4b", "ab", {"filler": 5}),
        ("a\ufff9b\ufffac\ufffb\U0001d173\U0001bca0\u206a", "abc", {"format": 6}),
        ("\u200b\u2060\ufeff", "", {"zeroWidth": 3}),
    ],
)
def test_what_no_reader_sees_is_kept_from_a_model(text: str, read: str, kinds: dict[str, int]) -> None:
    assert neutral(text) == read
    assert taken(text) == kinds


@given(hostile_texts())
def test_neutral_texts_stay_as_they_are(text: str) -> None:
    read = neutral(text)

    assert neutral(read) == read
    assert taken(read) == {}
    assert not set(read) & set("\r\x0b\x0c\x1c\x85\u2028\u2029\u202d\u202e\u200b\ufeff\u2060\u00ad")


@given(hostile_texts())
def test_a_text_is_only_shortened_and_every_character_is_counted(text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    left = iter("".join("\n" if kind_of(c) == "lineSeparator" else c for c in lines))
    separators = sum(kind_of(c) == "lineSeparator" for c in lines)

    read = neutral(text)

    assert all(c in left for c in read)  # a subsequence: nothing is added and nothing changes its place
    assert sum(taken(text).values()) == len(lines) - len(read) + separators


@given(hostile_texts(), st.integers(1, 9))
def test_where_the_pieces_of_a_text_end_changes_nothing(text: str, piece: int) -> None:
    whole = neutral(text), taken(text), unturned(text)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rules, "PIECE", piece)

        assert (neutral(text), taken(text), unturned(text)) == whole
        assert "".join(rules.pieces_of(text)) == text


@given(hostile_texts() | st.text(alphabet=st.characters(max_codepoint=127)))
def test_a_piece_changes_where_the_expressions_find_a_character(text: str) -> None:
    expression = rules._CONTROL if text.isascii() else rules._ANY

    assert rules._changes(text) is bool(expression.search(text))


def test_the_control_characters_are_those_of_the_expression() -> None:
    assert {at for at in range(128) if rules._CONTROL.search(chr(at))} == set(rules._CONTROLS)


@given(hostile_texts(), hostile_texts())
def test_one_text_does_not_turn_the_next(text: str, other: str) -> None:
    assert neutral(f"{text} \n{other}") == f"{neutral(f'{text} ')}\n{neutral(other)}"


@given(hostile_texts())
def test_what_turns_the_text_goes_without_another_offset(text: str) -> None:
    still = unturned(text)

    assert len(still) == len(text)
    assert neutral(still) == neutral(text)
    assert all(
        a == b or (b == ZWSP and unicodedata.bidirectional(a) in TURNING) for a, b in zip(text, still, strict=True)
    )


TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_an_ascii_text_is_read_as_it_is_in_pieces(text: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rules, "PIECE", 1)
        in_pieces = neutral(text)

    assert neutral(text) == in_pieces


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_a_line_has_no_break(text: str) -> None:
    assert neutral_line(text).splitlines() == ([neutral_line(text)] if neutral(text) else [])


def test_every_format_character_of_unicode_is_taken_or_seen() -> None:
    for at in range(sys.maxunicode + 1):
        if unicodedata.category(chr(at)) in ("Cc", "Cf", "Zl", "Zp") and chr(at) not in "\t\n\r":
            printed = any(first <= at <= last for first, last in PRINTED)
            assert printed is (kind_of(chr(at)) is None), hex(at)


DEFAULT_IGNORABLE = (
    "00AD 034F 061C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-206F 3164 FE00-FE0F FEFF FFA0 FFF0-FFF8"
    " 1BCA0-1BCA3 1D173-1D17A E0000-E0FFF"
)
"""Default_Ignorable_Code_Point in DerivedCoreProperties.txt of Unicode 15.1."""


def test_every_default_ignorable_code_point_has_a_kind() -> None:
    for part in DEFAULT_IGNORABLE.split():
        first, _, last = part.partition("-")
        for at in range(int(first, 16), int(last or first, 16) + 1):
            assert kind_of(chr(at)) in TAKEN_KINDS, hex(at)


def test_what_is_compared_as_nothing_is_what_may_be_taken() -> None:
    """The citation engine leaves out these; line separators are white space to it, and pairs it reads itself."""
    table = set(rules._ANY.findall("".join(map(chr, range(sys.maxunicode + 1))))) - {"\r"}
    others = table - INVISIBLE_CHARACTERS

    assert None not in map(kind_of, table)
    assert others == set(
        "\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029" + LRE + RLE + PDF + LRO + RLO + LRI + RLI + FSI + PDI
    )


@pytest.mark.parametrize("char", HOSTILE)
def test_a_flood_of_any_of_them_is_read_in_one_pass(char: str) -> None:
    """A megabyte: work that grew with the square of it would not end."""
    assert len(neutral(char * 300_000)) <= 300_000
    assert len(neutral(f"{SHALOM}{char}" * 40_000)) <= 200_000 + 40_000 * len(char)


def test_a_flood_of_pairs_keeps_none() -> None:
    pair = f"{RLI}a{PDI}"

    assert neutral(pair * (rules.MOST_TURNS // 2)) == pair * (rules.MOST_TURNS // 2)
    assert neutral(pair * rules.MOST_TURNS) == "a" * rules.MOST_TURNS
