"""Which word may stand for another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.citations.lexicon import is_english, words
from service.citations.slips import american, distance_is_one, is_respelled, is_slip, near


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("agreement", "agrement"),
        ("agreement", "agreeement"),
        ("agreement", "agreemnet"),
        ("agreement", "agreenent"),
        ("government", "govemment"),
        ("recipient's", "reipient's"),
        ("should", "shoould"),
        ("without", "withuot"),
        ("authenticators", "authentcators"),
    ],
)
def test_a_slip_of_the_finger_is_told(theirs: str, ours: str) -> None:
    assert is_slip(theirs, ours, printed_small=True)


@pytest.mark.parametrize(
    ("theirs", "ours", "small"),
    [
        ("liable", "viable", True),
        ("public", "pubic", True),
        ("mediation", "medication", True),
        ("agreement", "grement", True),  # two letters
        ("lawful", "unlawful", True),
        ("able", "abel", True),  # too short
        ("eleven", "elevn", True),  # a number
        ("january", "janaury", True),  # a date
        ("dollars", "dolars", True),
        ("unless", "unles5", True),
        ("authenticator", "authenticators", True),  # an inflection
        ("purposes", "purposeo", True),
        ("hydraspin", "hydrapsin", False),  # a name
        ("clause9", "cluase9", True),
        ("größe", "grösse", True),
    ],
)
def test_what_may_be_another_word_is_no_slip(theirs: str, ours: str, small: bool) -> None:
    assert not is_slip(theirs, ours, small)


@pytest.mark.parametrize(
    ("british", "spelling"),
    [
        ("colour", "color"),
        ("unfavourable", "unfavorable"),
        ("organisation", "organization"),
        ("authorised", "authorized"),
        ("analyse", "analyze"),
        ("centre", "center"),
        ("cancelled", "canceled"),
        ("labelling", "labeling"),
        ("fulfil", "fulfill"),
        ("instalment", "installment"),
        ("wilful", "willful"),
        ("licence", "license"),
        ("defence", "defense"),
        ("practise", "practice"),
        ("catalogue", "catalog"),
        ("judgement", "judgment"),
        ("acknowledgement", "acknowledgment"),
        ("programme", "program"),
        ("grey", "gray"),
    ],
)
def test_british_and_american_spellings_are_one_word(british: str, spelling: str) -> None:
    assert is_respelled(british, spelling)
    assert is_respelled(spelling, british)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("four", "for"),
        ("prise", "prize"),
        ("filled", "filed"),
        ("advice", "advise"),
        ("metre", "meters"),
        ("sour", "sor"),
    ],
)
def test_unlike_words_are_no_spellings_of_each_other(one: str, other: str) -> None:
    assert not is_respelled(one, other)


def test_hardly_two_words_of_the_list_share_an_american_spelling_but_spellings() -> None:
    alike: dict[str, list[str]] = {}
    for word in words():
        alike.setdefault(american(word), []).append(word)

    shared = [group for group in alike.values() if len(group) > 1]

    assert all(max(map(len, group)) - min(map(len, group)) <= 2 for group in shared)
    assert all(len({word[0] for word in group}) == 1 for group in shared)


_WORD = st.text("abcde", min_size=1, max_size=7)


@given(_WORD, _WORD)
def test_a_distance_of_one_is_told_both_ways_and_by_what_is_near(one: str, other: str) -> None:
    assert distance_is_one(one, other) == distance_is_one(other, one)
    if one[0] == other[0] and one != other and len(other) > 1:
        assert distance_is_one(one, other) == (other in set(near(one)) - {one} or _exchanged(one, other))


def _exchanged(one: str, other: str) -> bool:
    """What `near` leaves out: the first two letters exchanged, where the first is the same."""
    return (
        len(one) == len(other)
        and sorted(one[:2]) == sorted(other[:2])
        and one[2:] == other[2:]
        and one[:2] != other[:2]
    )


@given(st.sampled_from(sorted(words())[::97]), st.data())
def test_an_english_word_is_never_a_slip(word: str, data: st.DataObject) -> None:
    other = data.draw(st.sampled_from(list(near(word))))

    if is_english(other):
        assert not is_slip(word, other, printed_small=True)
