"""Whether what a critic says is about the case, and whether a passage is about the argument that it is held against."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.checks import kept
from service.checks.judgement import Attacked, Shown, check_critique
from service.checks.judgement.wording import grounds, relation
from service.checks.judgement.wording.relation import case_words, concerns, names_the_case, stems
from service.checks.judgement.wording.vocabulary import FUNCTION
from service.debate.findings import ArgumentVerdict, Citation, CitationVerdict, CritiqueFound
from service.debate.replies import Critique, Point, Proposal, Statement
from service.debate.turns import TurnId

LEASE = (
    "1. The Landlord lets Unit 4 at the dock to the Tenant for ten years from 1 March 2024.\n"
    "2. The Tenant may end the lease on 1 March 2029 by notice of nine months, provided that on the break date the "
    "rent is paid and vacant possession is given.\n"
    "3. Rent is payable by equal quarterly instalments in advance.\n"
    "4. The Tenant pays 12.4% of the Estate Costs, capped in each of the first three years at \u00a322,000.\n"
    "5. Flood is an Insured Risk only while cover can be had in the London market at reasonable cost."
)
PROPOSAL = Proposal(
    "The break right in clause 2 gives the tenant a real exit in 2029.",
    (
        Statement(1, "The only conditions of the break are notice, paid rent and vacant possession."),
        Statement(2, "Repair cannot block the exit, since clause 5 limits repair to what the schedule records."),
        Statement(3, "The cap on the share of costs keeps the total foreseeable for the tenant until then."),
    ),
    "upheld",
)
ASKED = ("Can the tenant leave in March 2029 without undue cost?", "Lease of Unit 4")
THESIS = "The break right fails an ordinary tenant."
WEATHER = (
    "Weather, seasons, tides and orchards show gentle patterns which nobody here disputes at all.",
    "Add two eggs, stir the flour and bake it for an hour until golden.",
    "Rain falls on mountains while rivers carry pebbles to the sea, and no dam lasts.",
    "The striker missed a penalty, so the match was lost and the fans went home.",
    "Outlawing all tourism would bring the islands to a halt; so radical a ban has no support.",
    "Mozart wrote the sonata in one night, yet the second theme is not his.",
)
HONEST = (
    "A quarter's instalment falls due in advance on that very day, so whoever pays only to 1 March has unpaid rent.",
    "One forgotten pallet in the unit, and possession is not vacant; courts read such provisos strictly.",
    "After the third year nothing is capped: the Estate Costs of 2027 to 2029 are open upward.",
    "Notice late by a day = ten years. No relief clause.",
    "Flood drops out as soon as London gets dear, and the unit is at a dock.",
    "With the notice of nine month the tenant must to know already in May 2028; he can not take back.",
)


def judged(text: str, quote: str | None = None, thesis: str = THESIS) -> CritiqueFound:
    """The finding on a critique of one point against argument 1; its citation is verified at its place."""
    verdicts: tuple[ArgumentVerdict, ...] = ()
    if quote:
        start = LEASE.index(quote)
        verdicts = (
            ArgumentVerdict(TurnId("1.critic.1"), 1, (CitationVerdict("verified", "D1", (start, start + len(quote))),)),
        )
    cited = (Citation(quote, "D1"),) if quote else ()
    point = Point(1, text, (1,), cited, "evidence" if quote else "reasoning")
    shown = Shown(ASKED, {"D1": LEASE})
    return check_critique([Attacked(PROPOSAL)], (), Critique(thesis, (point,), 9, "rejected"), verdicts, shown)


@pytest.mark.parametrize("quote", [None, "The Tenant may end the lease on 1 March 2029"])
@pytest.mark.parametrize("text", WEATHER)
def test_a_text_that_names_nothing_of_the_case_is_no_ground_with_a_citation_or_without(
    text: str, quote: str | None
) -> None:
    found = judged(text, quote)

    assert "thin" in found.weak or "namesNothing" in found.soft
    assert "thin" in judged(text, quote, thesis="The lighthouse hums, and so do pebbles.").weak


@pytest.mark.parametrize("text", HONEST)
def test_a_reason_from_the_case_is_a_ground_in_whatever_words(text: str) -> None:
    assert "thin" not in judged(text).weak


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Just look.", "Flood is an Insured Risk"),
        ("The record speaks against it.", "while cover can be had"),
        ("On that the document has this to offer.", "in the London market at reasonable cost"),
    ],
)
def test_a_true_quotation_about_something_else_is_no_ground_by_itself(text: str, quote: str) -> None:
    assert "thin" in judged(text, quote).weak


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Instalments run in advance.", "payable by equal quarterly instalments"),
        ("A flood ends it.", "Flood is an Insured Risk"),
        ("The proviso bites.", "provided that on the break date the rent is paid"),
    ],
)
def test_a_passage_that_the_point_names_or_that_has_the_arguments_words_is_one(text: str, quote: str) -> None:
    assert "thin" not in judged(text, quote).weak


def test_a_few_words_may_lean_on_a_thesis_about_the_case_and_not_on_another() -> None:
    quote = "provided that on the break date the rent is paid"

    assert "thin" not in judged("Read the proviso.", quote).weak
    assert "thin" in judged("Bake bread.", quote, thesis="Roses are red and violets are blue.").weak


def test_without_documents_one_word_of_the_proposals_is_enough() -> None:
    longer = Proposal(
        PROPOSAL.thesis,
        (
            *PROPOSAL.arguments,
            Statement(
                4, "Assignment to an affiliate, a subtenant or a purchaser of the business needs no licence at all."
            ),
            Statement(
                5, "Dilapidations are settled by a surveyor whom both sides appoint, within sixty days of departure."
            ),
            Statement(
                6, "The guarantor, a holding with audited accounts, covers arrears, interest, taxes and insurance."
            ),
        ),
        "upheld",
    )

    def weak(text: str) -> tuple[str, ...]:
        point = Point(1, text, (1,), basis="reasoning")
        critique = Critique("It does not hold.", (point,), 9, "rejected")
        return check_critique([Attacked(longer)], (), critique, (), Shown(ASKED)).weak

    assert "thin" not in weak("A surveyor whom the landlord pays will find dampness that no lessee ever saw.")
    assert "thin" in weak("Mozart wrote the sonata in one night, yet the second theme is not his at all.")


def test_a_case_of_few_words_is_not_compared() -> None:
    case = case_words(["The fee is due."], [])

    assert names_the_case("Mozart wrote the sonata in one night.", (), "", (), case)


def test_the_longer_a_case_the_more_of_a_text_has_to_be_its() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [f"{a}{b}{c}q" for a in letters for b in letters for c in letters]

    assert case_words([], [" ".join(words[:100])]).least == 30
    assert case_words([], [" ".join(words[:300])]).least == 50
    assert case_words([], [" ".join(words)]).least == 120


def test_numbers_of_arguments_general_words_and_faults_name_nothing() -> None:
    assert (
        stems("Argument 1 and points 2, 3 and 4: there is no fault, and nothing wrong, in the contract.") == frozenset()
    )
    assert stems("Clause 4.2 caps 250 tokens") == {"4.2", "cap", "250", "token"}


def test_a_passage_is_read_with_its_sentence_and_not_with_the_next_one() -> None:
    document = "The load of the list is a guess; it was not measured. Tokens rotate."
    start = document.index("it was")
    span = (document.index("load"), start + len("it was not measured"))

    assert concerns(document, span, "Nobody knows the load.", "Reuse revokes.")
    assert not concerns(document, span, "Rotation helps.", "Tokens rotate.")


def test_another_language_than_english_is_not_compared() -> None:
    proposal = Proposal(
        "Die Haftung ist begrenzt.", (Statement(1, "Ziffer 9 begrenzt die Haftung auf ein Entgelt."),), "upheld"
    )
    point = Point(1, "Kartellbussen nimmt Anlage vier ausdruecklich aus.", (1,), basis="reasoning")
    critique = Critique("Falsch.", (point,), 9, "rejected")

    assert "thin" not in check_critique([Attacked(proposal)], (), critique, (), Shown((), {"D1": LEASE})).weak


PIECES = st.sampled_from(
    "statements 3, 4 and 12|Argument 7|po\u0130nt 12|\u017ftatement 5|\ufb06atement 22|1,5|2.50.1|a_b|it's|\u212aey|"
    "Stra\u00dfe|caf\u00e9|arguments|12|or 3|\n|\r|\x85|\u2028| |\t|\xa0|-|\u5951\u7d04".split("|")
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=30).map("".join))
def test_words_are_found_in_pieces_as_in_the_whole_text(text: str) -> None:
    plainly = set(relation._WORD.findall(relation._NUMBERED.sub(" ", text).casefold()))

    assert relation._words(text) == plainly


def test_stems_are_those_of_each_word_also_when_words_were_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relation, "WORDS_KEPT", 7)
    kept.drop()

    for text in (LEASE, *WEATHER, "rent" * 30, LEASE):
        telling = [word for word in relation._words(text) if relation._is_telling(word)]
        assert stems(text) == {relation._stem(word, relation.LIMITS.stem) for word in telling} - {""}
        known: dict[str, str] = kept.once(("stems of words", relation.LIMITS.stem), dict)
        assert 0 < len(known) <= 7
        assert all(len(word) <= 60 for word in known)


APOSTROPHES = st.sampled_from(["o'neil's", "it's", "''", "'tis", "The", "not", "A_b", "x1y", "12"])


@given(st.lists(APOSTROPHES | st.text(max_size=6)))
def test_english_is_known_by_the_same_words_in_ascii(pieces: list[str]) -> None:
    text = " ".join(pieces)
    tokens = grounds._TOKEN.findall(text.casefold())

    plain = text.translate(grounds._LETTERS)
    assert not text.isascii() or sorted(grounds._plain_tokens(plain)) == sorted(tokens)


FREQUENT = st.sampled_from([*"the of to and in for is that on by The. THE's 12.1 'to to' a's fees".split(), "  "])


@given(st.lists(FREQUENT | APOSTROPHES, max_size=40), st.integers(0, 1_000))
def test_a_text_is_english_by_the_share_of_function_words(pieces: list[str], share: int) -> None:
    text = " ".join(pieces)
    tokens = grounds._TOKEN.findall(text.casefold())
    frequent = [token for token in tokens if token in FUNCTION]

    limits = grounds.GroundLimits(english=share)
    assert grounds.is_english(text, limits) == (bool(tokens) and len(frequent) * 1_000 >= share * len(tokens))


def test_the_commonest_words_by_which_a_text_is_seen_to_be_english_are_function_words() -> None:
    assert {word.strip() for word in grounds._COMMONEST} <= FUNCTION
    plain = "The cap of the fees is for the Bank to keep.".translate(grounds._LETTERS)
    assert grounds._is_surely_english(plain, grounds.LIMITS)
