"""Which word may stand for another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.checks.citations.match.slips import distance_is_one, is_slip, near
from service.checks.citations.text.derived_words import may_be_made
from service.checks.citations.text.lexicon import common, is_english, is_word, words
from service.checks.citations.text.spelling import american, is_respelled


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
        ("authenticators", "authentcators"),  # in no list, but made of a word that is
        ("namespace", "namesapce"),
        ("holder", "holer"),
        ("limiting", "limitting"),
        ("which", "whcih"),
        ("terms", "terrms"),
        ("party", "pary"),
        ("under", "unfer"),
        ("generally", "generaly"),
        ("shall", "shalk"),
        ("court", "couryt"),
        ("information", "informatio"),
        ("securities", "securitie"),
        ("records", "recordz"),
        ("financial", "financal"),
        ("agrees", "agreees"),
        ("offers", "offes"),
        ("whether", "whethed"),
        ("respect", "respec"),
        ("creditors", "creditorss"),
        ("existence", "existance"),
    ],
)
def test_a_slip_of_the_finger_is_told(theirs: str, ours: str) -> None:
    assert is_slip(theirs, ours, how="plain")


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("agreement", "agreemnet"), ("confidential", "confidntial"), ("intellectual", "intellextual")],
)
def test_in_a_long_word_with_a_capital_the_commonest_slips_are_told(theirs: str, ours: str) -> None:
    assert is_slip(theirs, ours, how="name")


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
        ("therefore", "therefor", True),  # another adverb
        ("pledge", "pledgee", True),  # what is done, and to whom
        ("balances", "balancers", True),
        ("indemnitor", "indemniter", True),
        ("innovative", "innovatise", True),
        ("demarcation", "demarcatian", True),
        ("sulfate", "sulfite", True),
        ("nitrates", "nitrides", True),
        ("performs", "preforms", True),  # rare words are words
        ("invitation", "incitation", True),
        ("harmless", "armless", True),
        ("liability", "lability", True),
        ("deposit", "reposit", True),
        ("unbound", "unsound", True),
        ("readable", "tradable", True),
        ("workplace", "workplate", True),  # a compound in place of another
        ("party", "partz", True),  # of five letters, and no key beside
        ("under", "undper", True),
        ("baker", "bakker", False),  # a name may be told apart by a letter
        ("smith", "smyth", False),
        ("lattice", "latice", False),
        ("infinity", "infiniti", False),
        ("shepherd", "sheppherd", False),
        ("pinnacle", "pinacle", False),
        ("apixaban", "apixabam", True),  # the document's own word is no English one
        ("kubectl", "kubeclt", True),
        ("records", "recordd", True),  # or "record"?
        ("unauthorized", "unauthorizer", True),
        ("nielsen", "neilsen", False),
        ("gonzales", "gonsales", False),
        ("excuse", "excude", True),  # or "exclude"?
        ("extent", "excent", True),  # or "except"?
    ],
)
def test_what_may_be_another_word_is_no_slip(theirs: str, ours: str, small: bool) -> None:
    assert not is_slip(theirs, ours, "plain" if small else "name")


@pytest.mark.parametrize(("theirs", "ours"), [("product", "prodcut"), ("license", "licnse")])
def test_a_defined_term_may_be_shorter_than_what_may_be_a_name(theirs: str, ours: str) -> None:
    assert is_slip(theirs, ours, "term")
    assert not is_slip(theirs, ours, "name")


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
        ("centred", "centered"),
        ("kilometres", "kilometers"),
        ("anaesthetic", "anesthetic"),
        ("paediatric", "pediatric"),
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
        ("metre", "meter"),  # a length, a device
        ("micrometre", "micrometer"),
        ("storey", "story"),
        ("programme", "program"),
        ("apprise", "apprize"),
        ("assise", "assize"),
        ("prologue", "prolog"),
        ("arbour", "arbor"),
        ("paean", "pean"),
        ("cheque", "check"),
        ("tyre", "tire"),
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

    if is_word(other):
        assert not is_slip(word, other, how="plain")


_ENDINGS = ("", "e", "s", "ed", "ee", "er", "or", "ees", "ers", "ors", "ing", "ion", "al", "ic", "ite", "ate", "ide")


@given(st.sampled_from(sorted(common())[::41]), st.sampled_from(_ENDINGS), st.sampled_from(_ENDINGS))
def test_a_word_with_one_ending_is_no_slip_for_the_same_with_another(stem: str, one: str, other: str) -> None:
    theirs, ours = stem.removesuffix("e") + one, stem.removesuffix("e") + other

    if theirs != ours and not _exchanged_at_all(theirs, ours) and len(other) > 1 and other != "ed":
        assert not is_slip(theirs, ours, how="plain")


def _exchanged_at_all(one: str, other: str) -> bool:
    """What no ending does: the letters of two words are the same in another order."""
    return sorted(one) == sorted(other)


@given(st.sampled_from(sorted(common())[::41]), st.sampled_from(["un", "re", "non", "pre", "sub", "over", "mis"]))
def test_a_common_word_with_a_beginning_is_told(word: str, before: str) -> None:
    assert may_be_made(before + word, before + "xyz")


@given(st.sampled_from([w for w in sorted(common())[::13] if len(w) < 8]), st.data())
def test_a_short_word_with_a_capital_is_never_struck_wrongly(word: str, data: st.DataObject) -> None:
    assert not is_slip(word, data.draw(st.sampled_from(list(near(word)))), how="name")


def test_both_lists_of_words_are_whole_and_apart() -> None:
    assert (len(common()), len(words())) == (73_640, 131_925)
    assert is_word("obligor")
    assert not is_english("obligor")
    assert is_english("xyz") is is_word("xyz") is True
