"""Patterns without regard to case find what `re.IGNORECASE` finds, in every text."""

import re
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.checks.judgement.wording import polarity, softening
from service.checks.judgement.wording.caseless import LIKE_ASCII, Caseless, in_small

WORDED = [*softening._soft().items(), ("lexer", polarity._LEXER)]
WORDS = (
    "I",
    "DON'T",
    "deny",
    "That",
    "argument 2",
    "Fails,",
    "it",
    "IS",
    "soun\u212a",
    "\u017fo",
    "\u0130t",
    "\u201cx\u201d",
    ".",
)


def found(caseless: Caseless, text: str) -> list[tuple[tuple[int, int], str | None]]:
    pattern, searched = caseless.over(text, in_small(text))
    return [(match.span(), match.lastgroup) for match in pattern.finditer(searched)]


def as_re_finds(caseless: Caseless, text: str) -> list[tuple[tuple[int, int], str | None]]:
    return [(match.span(), match.lastgroup) for match in re.finditer(caseless.pattern, text, re.IGNORECASE)]


def test_no_other_letter_is_taken_for_an_ascii_one() -> None:
    letters = re.compile("[a-z]", re.IGNORECASE)

    taken = [c for c in map(chr, range(128, sys.maxunicode + 1)) if letters.match(c)]

    assert taken == [*LIKE_ASCII.pattern[1:-1]]


@pytest.mark.parametrize(("name", "caseless"), WORDED, ids=[name for name, _ in WORDED])
def test_patterns_have_ascii_letters_alone(name: str, caseless: Caseless) -> None:
    assert not [c for c in caseless.pattern if c.isalpha() and not c.isascii()], name


@pytest.mark.parametrize("pattern", [r"\bNo\S+ (?P<Name>\W|[A-C]+)", r"(?i:THE) \D+\\N"])
@pytest.mark.parametrize("text", ["NOT abc", "not CBA", "the x\\n", "THE Y\\N", "no\u017f a", "No\u212a B", ""])
def test_signs_and_names_of_groups_stay_as_they_are(pattern: str, text: str) -> None:
    assert found(Caseless(pattern), text) == as_re_finds(Caseless(pattern), text)


@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text(max_size=40))
@example("The \u212aelvin reading HOLDS; It would be WRONG to say that ARGUMENT 1 fails.")
def test_softening_is_found_as_without_regard_to_case(text: str) -> None:
    for _, caseless in WORDED:
        assert found(caseless, text) == as_re_finds(caseless, text)
