"""Word overlap: which words count, how near is near enough, and what never converges however near its words are."""

from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.checks.overlap import NEGATIONS, STOP_WORDS, ComparedAnswer, check_overlap, overlap, words
from service.debate.answer_keys import folded
from service.debate.facts import Facts
from service.debate.findings import CitationsFound, ConvergenceFound, Finding
from service.debate.model import Check, ConvergenceOptions, Turn
from service.debate.replies import Position, Reply, Statement
from service.debate.turns import TurnId
from service.running.checker import Checker
from tests.fixtures.debates import a_case, canned, drive, found, start_of

WORDS = [f"word{i}" for i in range(40)]
FINE = "Fees paid bound every claim"


def judge(
    *voices: tuple[str, Sequence[str]], similarity: int = 850, seats: int | None = None, known: Sequence[str] = ()
) -> ConvergenceFound:
    """Voices as (final answer, arguments), each of another debater."""
    given_ = [
        ComparedAnswer(TurnId(f"1.debater-{i}.1"), answer, arguments)
        for i, (answer, arguments) in enumerate(voices, start=1)
    ]
    return check_overlap(given_, seats=seats or len(voices), similarity=similarity, known=known)


def two(one: str, other: str, similarity: int = 0) -> ConvergenceFound:
    """Two voices with the same answer."""
    return judge(("Sign.", [one]), ("sign", [other]), similarity=similarity)


# Which words count.


def test_words_are_folded_and_keep_their_marks_apostrophes_and_points() -> None:
    assert words("The ＦＥＥＳ, naïve: don\u2019t pay 1.5 or 1,000; कानून.") == (
        "the",
        "fees",
        "naïve",
        "don't",
        "pay",
        "1.5",
        "or",
        "1,000",
        "कानून",
    )


def test_stop_words_and_the_words_of_the_question_and_the_titles_do_not_count() -> None:
    said = ("Sign.", ["The liability of the Agreement is bound by fees"])

    found_ = judge(said, said, known=["Is liability capped?", "Master Services Agreement"])

    assert (found_.pairs[0].shared, found_.pairs[0].either) == (2, 2)
    assert {"the", "of", "is", "by"} <= STOP_WORDS


def test_what_says_how_when_or_how_much_is_no_stop_word_and_no_negation_is() -> None:
    assert not STOP_WORDS & (
        NEGATIONS | set("may must shall should will before after above below all only more".split())
    )


def test_the_words_of_all_arguments_count_however_they_are_divided() -> None:
    assert judge(("Sign.", ["fees paid", "claims bound"]), ("Sign.", ["claims bound fees paid"])).converged


# How near is near enough.


@pytest.mark.parametrize(
    ("shared", "either", "similarity", "converged"),
    [
        (17, 20, 850, True),
        (16, 20, 850, False),
        (33, 39, 850, False),  # 846.15: floats would not be needed to tell, rounding up would be wrong
        (2, 3, 666, True),  # 666.6 of 1,000
        (2, 3, 667, False),
        (1, 40, 0, True),
        (0, 40, 0, True),
        (0, 40, 1, False),
    ],
)
def test_a_pair_is_near_enough_when_shared_words_times_a_thousand_reach_the_similarity_times_all(
    shared: int, either: int, similarity: int, converged: bool
) -> None:
    both, rest = WORDS[:shared], WORDS[shared:either]
    half = len(rest) // 2 if shared else 1

    found_ = two(" ".join(both + rest[:half]), " ".join(both + rest[half:]), similarity)

    assert (found_.pairs[0].shared, found_.pairs[0].either) == (shared, either)
    assert found_.pairs[0].overlap == shared * 1_000 // either
    assert found_.converged is converged
    assert found_.why_not == (() if converged else ("overlap",))


def test_an_empty_union_is_undefined_and_never_converges_at_whatever_similarity() -> None:
    for similarity in (0, 850, 1_000):
        found_ = judge(("Sign.", ["It is."]), ("Sign.", ["It is."]), similarity=similarity)

        assert found_.pairs[0].overlap is None
        assert found_.why_not == ("noWords",)


def test_a_voice_without_a_word_left_never_converges() -> None:
    found_ = two(FINE, "It is.", similarity=0)

    assert found_.pairs[0].overlap == 0
    assert found_.why_not == ("noWords",)


def test_similarity_1000_asks_for_the_same_arguments_and_not_just_the_same_words() -> None:
    assert two("Fees paid bound every claim.", "fees PAID bound  every claim", 1_000).converged
    assert two("Fees paid bound every claim.", "Claim fees bound every, paid", 999).converged
    assert two("Fees paid bound every claim.", "Claim fees bound every, paid", 1_000).why_not == ("order",)
    assert two("Fees bound claims by the year", "Fees bound claims in a year", 1_000).why_not == ("overlap",)


def test_every_pair_has_to_be_near_enough() -> None:
    near = ("Sign.", ["fees paid bound claims"])
    found_ = judge(near, near, ("Sign.", ["insurers would cover losses"]), similarity=500)

    assert [pair.overlap for pair in found_.pairs] == [1_000, 0, 0]
    assert not found_.converged


# What never converges.


def test_different_final_answers_never_converge_whatever_the_words() -> None:
    found_ = judge(("Sign.", [FINE]), ("Do sign.", [FINE]), similarity=0)

    assert found_.pairs[0].apart == ("answers",)
    assert found_.why_not == ("answers",)


@pytest.mark.parametrize(
    "negation",
    [
        *("not", "no", "never", "cannot", "without", "neither", "nor", "nobody", "nothing", "hardly", "fails", "lacks"),
        *("can't", "isn\u2019t", "don't", "won't", "shan't", "ain't", "didnt", "no longer", "non-", "un-"),
    ],
)
def test_a_negation_on_one_side_never_converges(negation: str) -> None:
    rest = "fees paid each year bound claims of all insured buyers"

    found_ = two(f"Losses {rest}", f"Losses {negation} {rest}", similarity=0)

    assert "negation" in found_.pairs[0].apart
    assert found_.why_not == ("negation",)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Liability is limited by fees", "Liability is unlimited by fees"),
        ("The clause is enforceable", "The clause is unenforceable"),
        ("The waiver is valid for fees", "The waiver is invalid for fees"),
        ("The clause is harmful here", "The clause is harmless here"),
        ("Notice is binding on buyers", "Notice is non-binding on buyers"),
        ("The term is regular", "The term is irregular"),
        ("Fines are not covered and costs are", "Fines are covered and costs are not"),  # the count is the same
        ("Fines aren't covered. Costs are covered.", "Fines are covered. Costs aren't covered."),
        ("Fines are not covered, costs are not due", "Fines are covered, costs are due"),  # both times an even number
        ("No. Fees bound claims.", "Fees bound claims."),  # with nothing next to it
    ],
)
def test_the_opposite_in_nearly_the_same_words_never_converges(one: str, other: str) -> None:
    for pair in ((one, other), (other, one)):
        assert two(*pair).why_not == ("negation",)


def test_an_opposite_counts_also_in_words_of_the_question() -> None:
    found_ = judge(
        ("Yes.", ["Liability is limited: fees bound claims"]),
        ("Yes.", ["Liability is unlimited: fees bound claims"]),
        known=["Is liability limited?"],
        similarity=0,
    )

    assert found_.why_not == ("negation",)


def test_the_same_negation_on_both_sides_converges() -> None:
    assert two("Fines aren't covered by fees.", "FINES aren\u2019t covered by fees").converged
    assert two("Fines are not covered by fees.", "fines are not covered by fees", 1_000).converged


@pytest.mark.parametrize(("voices", "seats", "converged"), [(2, 2, True), (3, 3, True), (2, 3, False), (1, 1, False)])
def test_too_few_voices_never_converge(voices: int, seats: int, converged: bool) -> None:
    found_ = judge(*[("Sign.", [FINE])] * voices, seats=seats)

    assert found_.voices == voices
    assert found_.converged is converged
    assert found_.why_not == (() if converged else ("fewVoices",))


def test_nobody_never_converges() -> None:
    assert judge(seats=2, similarity=0).why_not == ("fewVoices",)


TEXTS = st.lists(st.sampled_from([*WORDS[:6], "not", "un", "limited", "unlimited", ".", "the", "no"]), max_size=8).map(
    " ".join
)
VOICES = st.lists(st.tuples(st.sampled_from(["Sign.", "sign", "Wait"]), st.lists(TEXTS, max_size=2)), max_size=4)


@given(VOICES, st.integers(0, 1_000))
def test_whatever_is_said_in_whatever_order_only_the_same_answers_with_words_of_their_own_converge(
    voices: list[tuple[str, list[str]]], similarity: int
) -> None:
    first = judge(*voices, similarity=similarity)

    assert {judge(*order, similarity=similarity).converged for order in permutations(voices)} == {first.converged}
    assert first.converged is not bool(first.why_not)
    if first.converged:
        assert len({folded(answer) for answer, _ in voices}) == 1
        assert len(voices) >= 2
        assert all(pair.overlap is not None and pair.overlap >= similarity for pair in first.pairs)
        assert not any(pair.apart for pair in first.pairs)
        assert judge(*voices, similarity=0).converged


@given(st.frozensets(st.sampled_from(WORDS)), st.frozensets(st.sampled_from(WORDS)))
def test_overlap_is_symmetric_whole_for_the_same_words_and_nothing_without_words(
    one: frozenset[str], other: frozenset[str]
) -> None:
    assert overlap(one, other) == overlap(other, one)
    assert overlap(one, one) == (1_000 if one else None)
    assert overlap(one, frozenset()) == (0 if one else None)


# The check, as a runner has it done.

OPTIONS = ConvergenceOptions(2, 1, human_review=False, convergence_similarity=700)


def speaking(*texts: str, debaters: int = 2) -> Facts:
    """Debaters who sign, the first with these arguments; the second argument of each could not be verified."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        arguments = tuple(Statement(n, text, (), "reasoning") for n, text in enumerate(texts, start=1))
        other = (*arguments[:1], Statement(2, "insurers love it", (), "reasoning"))
        if turn.asks != "convergence.debater":
            return canned(turn, facts)
        return Position("Sign.", arguments if turn.seat == "debater-1" else other)

    def finding(check: Check, facts: Facts) -> Finding:
        verdicts = found(check, facts)
        if not isinstance(verdicts, CitationsFound):
            return verdicts
        struck = tuple(replace(a, struck="uncited") if a.n == 2 else a for a in verdicts.arguments)
        return CitationsFound(struck)

    return Facts.of(drive(start_of(replace(OPTIONS, debaters=debaters)), reply, findings=finding))


def test_what_is_struck_does_not_count_and_the_engine_is_recorded() -> None:
    check = Check("0/convergence", "convergence", (TurnId("0.debater-1.1"), TurnId("0.debater-2.1")))

    entry = Checker({}).check(a_case(), speaking("fees bound claims", "nobody is not harmed"), check)

    assert isinstance(entry.finding, ConvergenceFound)
    assert (entry.check, entry.engine) == ("0/convergence", "wording/1")
    assert (entry.finding.converged, entry.finding.similarity, entry.finding.voices) == (True, 700, 2)
    assert (entry.finding.pairs[0].turns, entry.finding.pairs[0].overlap) == (check.over, 1_000)


def test_the_question_and_the_titles_of_the_case_are_taken_out() -> None:
    check = Check("0/convergence", "convergence", (TurnId("0.debater-1.1"), TurnId("0.debater-2.1")))

    entry = Checker({}).check(a_case(), speaking("uncapped liability of the buyer, document 1", "x"), check)

    assert isinstance(entry.finding, ConvergenceFound)
    assert entry.finding.why_not == ("noWords",)


def test_a_missing_seat_keeps_the_rest_from_converging() -> None:
    check = Check("0/convergence", "convergence", (TurnId("0.debater-1.1"), TurnId("0.debater-2.1")))

    two_of_two, two_of_three = (
        Checker({}).check(a_case(), speaking("fees bound claims", debaters=count), check).finding for count in (2, 3)
    )

    assert isinstance(two_of_two, ConvergenceFound)
    assert isinstance(two_of_three, ConvergenceFound)
    assert (two_of_two.why_not, two_of_three.why_not) == ((), ("fewVoices",))
