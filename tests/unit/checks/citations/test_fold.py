"""Folding: what two printings of the same words have in common, and the way back to the original."""

import re
from itertools import accumulate
from unicodedata import normalize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.checks.citations import fold
from service.checks.citations.text import fold as folding

# Every way a character can fold: plain, upper case, space, dropped, mark, jamo, longer, kept form, astral, surrogate.
NASTY = st.text(
    st.sampled_from(
        "aBſßẞéÉ 5\n\t\u00a0\u00ad\u200b\u2060\ufe0f\u0301\u0323\u093f\u1100\u1161\u11a8각ﬁﬃ…“’—‑−"
        "²½①⒈ｆ５ｶﾞΣςİŉ𝟓𝐀㎏™´\ud800\u202e"
    )
    | st.characters(),
    max_size=60,
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("The  Supplier\r\n\tshall", "the supplier shall"),
        ("“quoted” ‘so’ «or» `so`", "\"quoted\" 'so' \"or\" 'so'"),
        ("non‑stop – 2019—2020 −5", "non-stop - 2019-2020 -5"),
        ("agree\u00adment w\u200bith", "agreement with"),
        ("a \u200b b", "a b"),
        ("e\u0301tude É", "étude é"),
        ("\u1112\u1161\u11ab", "한"),
        ("eﬃcient ﬁling", "efficient filing"),
        ("ＦＵＬＬ ５００", "full 500"),
        ("ΟΔΟΣ οδος", "οδοσ οδοσ"),
        ("wait…", "wait..."),
        ("𝐛𝐨𝐥𝐝", "bold"),
    ],
)
def test_printings_of_the_same_words_fold_alike(text: str, folded: str) -> None:
    assert fold(text).text == folded


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30¹ days", "301 days"),
        ("10² days", "102 days"),
        ("5½ per cent", "51/2 per cent"),
        ("5½ per cent", "51⁄2 per cent"),
        ("①0 items", "10 items"),
        ("1⒈5", "11.5"),
        ("Acme™ Limited", "AcmeTM Limited"),
        ("H₂ₓ", "H2x"),
        ("xⁿ", "xn"),
        ("in Maßen", "in Massen"),
        ("\u202e01\u202c days", "01 days"),
        ("сan", "can"),  # Cyrillic es
        ("n\u0336o\u0336t\u0336", "not"),
    ],
)
def test_other_words_and_numbers_do_not_fold_alike(one: str, other: str) -> None:
    assert fold(one).text != fold(other).text


@given(NASTY, st.data())
def test_any_stretch_that_has_a_span_is_the_fold_of_that_span(text: str, data: st.DataObject) -> None:
    folded = fold(text)
    if not folded.text:
        return
    start = data.draw(st.integers(0, len(folded.text) - 1))
    end = data.draw(st.integers(start + 1, len(folded.text)))

    span = folded.span(start, end)

    if span is not None:
        assert fold(text[slice(*span)]).text == folded.text[start:end]


def plainly(text: str) -> list[tuple[str, int, int, bool]]:
    """The segments of a text by their definition: what each folds to, from where to where, and whether it is whole."""
    dropped = {c for c in text if c in folding._DROPPED}
    marks = {c for c in text if c not in dropped and not c.isspace() and folding._is_mark(c)}
    longer = {c for c in text if len(folding._fold_cluster(c)) > 1} - marks - dropped
    d, m, f = ("".join(map(re.escape, sorted(each))) or r"[^\s\S]" for each in (dropped, marks, longer))
    d, m, f = (each if each.startswith("[") else f"[{each}]" for each in (d, m, f))
    uneven = re.compile(
        rf"(?:\s|{d}){{2,}}|{d}|(?!\s|{d}|{m})[\s\S](?:{d}|{m}){{0,30}}{m}|{m}(?:(?:{d}|{m}){{0,30}}{m})?|{f}"
    )
    found, done = list[tuple[str, int, int, bool]](), 0
    for match in [*uneven.finditer(text), None]:
        at, end = match.span() if match else (len(text), len(text))
        found.append(("".join(map(folding._fold_uneven, text[done:at])), done, at, False))
        found.append((folding._fold_uneven(text[at:end]) if match else "", at, end, True))
        done = end
    return [segment for segment in found if segment[0]]


@example("a  b\0c\u00ad d e\u0301\u00ad\u0301 \u0301 ﬁ \ud800")
@given(NASTY | st.text(st.sampled_from("aB .\n’ﬁ"), max_size=60))
def test_a_text_folds_as_its_clusters_do_by_definition(text: str) -> None:
    folded = fold(text)

    pieces = [segment[0] for segment in plainly(text)]
    assert folded.text == "".join(pieces)
    assert [*zip(folded.origins, folded.ends, folded.whole, strict=True)] == [s[1:] for s in plainly(text)]
    assert [*folded.starts] == [*accumulate(map(len, pieces), initial=0)][: len(pieces)]


@given(NASTY)
def test_the_whole_text_has_a_span_and_nothing_that_is_left_out_folds_to_anything(text: str) -> None:
    folded = fold(text)

    span = folded.span(0, len(folded.text)) if folded.text else (0, 0)

    assert span is not None
    assert fold(text[: span[0]]).text == fold(text[span[1] :]).text == ""


@given(NASTY)
def test_folding_twice_changes_nothing(text: str) -> None:
    once = fold(text).text

    assert fold(once).text == once


def test_characters_fold_once_and_for_all_and_the_same_when_decomposed() -> None:
    characters = [chr(c) for c in (*range(0x3400), *range(0xF900, 0x10000), *range(0x1D400, 0x1D800))]

    unlike = [c for c in characters if not fold(fold(c).text).text == fold(c).text == fold(normalize("NFD", c)).text]

    assert unlike == []


@given(NASTY, NASTY)
def test_a_text_folds_the_same_whatever_stands_behind_a_full_stop(before: str, after: str) -> None:
    assert fold(f"{before}.x.{after}").text == fold(f"{before}.x").text + fold(f".{after}").text


def test_a_ligature_is_not_cut() -> None:
    folded = fold("a ﬁle")

    assert folded.text == "a file"
    assert folded.span(2, 6) == (2, 5)
    assert folded.span(3, 6) is None
    assert folded.span(0, 3) is None
    assert folded.reach(3, 6) == (2, 5)


def test_an_offset_of_the_original_leads_to_the_folded_character_that_came_from_it() -> None:
    folded = fold("one   two\u00ad three")

    offsets = [folded.offset(at) for at in (-5, 0, 6, 11, 99)]

    assert offsets == [0, 0, 4, 8, 13]
