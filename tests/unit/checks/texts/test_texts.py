"""What the texts of a reply quote is compared with all that its seat was shown."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from service.checks.given import ReadTexts
from service.checks.texts import compare
from service.checks.texts.compare import MAX_STEPS
from service.debate.findings import Passage
from service.debate.replies import Moderation, Proposal, Reply, Statement
from service.debate.turns import TurnId

CONTRACT = """SERVICES AGREEMENT

9. Liability
9.1 Nothing in this Agreement limits liability for fraud.
9.2 The total liability of the Supplier in each contract year shall not exceed one hundred thousand euro. The Supplier \
shall not be liable for indirect loss.
9.3 The Customer may (a) inspect the premises; or (b) audit the records of the Supplier within thirty days.
10. Term
10.1 This Agreement ends on 31 December 2027.
"""
QUESTION = "Should the bank sign the agreement although its losses are capped?"
SAID = Proposal(
    'It holds: clause 99.9 states "the Supplier shall be liable without any limit".',
    (Statement(1, "The cap is far too low for a bank of this size."),),
    "upheld",
)
PROPOSER = TurnId("1.proposer.1")


def moderation(text: str) -> Moderation:
    return Moderation((), (), (), False, text, "HIGH", ("Nothing is certain.",), "upheld")


def passages(
    text: str,
    marked: Sequence[str] = (),
    documents: dict[str, str] | None = None,
    said: Reply = SAID,
    max_steps: int = MAX_STEPS,
) -> tuple[Passage, ...]:
    given = {"D1": CONTRACT} if documents is None else documents
    read = ReadTexts(moderation(text), tuple(given), ("Services Agreement",), (QUESTION,), {PROPOSER: said}, marked)
    return compare(read, given, max_steps).passages


def marks(text: str, marked: Sequence[str] = ()) -> list[str]:
    """The passages of which a reader is warned, as misleading or as unclear."""
    return [text[slice(*passage.span)] for passage in passages(text, marked) if passage.marked or passage.unclear]


def test_an_invented_clause_and_its_words_in_a_synthesis_are_marked() -> None:
    """The departure as it was sent: the contract has neither the clause nor the words."""
    text = (
        'The proposition is upheld: clause 99.9 states "the Supplier shall be liable to the Bank without any limit '
        'whatsoever", which decides the matter.'
    )
    read = ReadTexts(moderation(text), ("D1",), ("Services Agreement",), (QUESTION,), {}, ())

    clause, words = compare(read, {"D1": CONTRACT}).passages

    assert (clause.field, clause.kind, clause.status, clause.reason) == (
        "synthesis",
        "clause",
        "nowhere",
        "no_such_clause",
    )
    assert (words.kind, words.status, words.attributed) == ("quotation", "nowhere", "document")
    assert text[slice(*clause.span)] == "clause 99.9"
    assert text[slice(*words.span)] == "the Supplier shall be liable to the Bank without any limit whatsoever"
    assert clause.marked
    assert words.marked


@pytest.mark.parametrize(
    "text",
    [
        "Clause 9.2 expressly provides that “the Supplier shall be liable for indirect loss”.",
        'As 9.2 puts it, "the total liability of the Supplier shall not exceed one million euro".',
        'Clause 9.2 states "The Supplier shall ... be liable for indirect loss".',
        'Clause 9.2 says "The total liability of the Supplier shall not exceed two hundred thousand euro".',
        'The Agreement says "This Agreement ends on 31 December 2029".',
        '"Nothing in this Agreement limits liability for fraud or gross negligence" (9.1).',
        "Clause 9.2 states: the Supplier shall bear every loss of the Bank without limit.",
        "Clause 9.2 states *the Supplier shall bear every loss of the Bank without limit*.",
        "Thus the contract.\n\n> The Supplier shall bear every loss\n> of the Bank without any limit.\n",
        "The contract says 'the Supplier shall bear every loss of the Bank'.",
        "The contract says „the Supplier shall bear every loss of the Bank“.",
        "The contract says «the Supplier shall bear every loss of the Bank».",
        "The contract says ``the Supplier shall bear every loss of the Bank''.",
        "The document states &quot;the Supplier shall be liable for every loss of the Bank&quot;.",
        'The contract says "the Supplier" "shall bear" "every loss".',
        "The contract says \"the Supplier 'shall bear every loss' of the Bank\".",
        'The contract states "the Supplier shall be liable for every loss of the Bank',
        'Clause 9.2 states "no limit".',
        'The contract provides that liability is "not limited in any way".',
        '"the Supplier waives every limit of liability in favour of the Bank" decides the matter.',
        'We suggest upholding it: "the Supplier waives every limit of its liability" (clause 9.2).',
        'It is not in doubt that clause 9.2 states "the Supplier accepts unlimited liability for every loss".',
        'We recommend to sign, because the contract reads "the Supplier indemnifies the Bank against all fines".',
        'Without a doubt the contract says "the Supplier waives every limit of its liability".',
        'Nothing is missing: clause 9.2 says "the Supplier waives every limit of its liability".',
        'This is no paraphrase: clause 9.2 says "the Supplier waives every limit of its liability".',
        'Is it not written in clause 9.2 that "the Supplier is liable for everything"?',
        'Nowhere else but here. It states "the Supplier indemnifies the Bank against all fines".',
        'The contract says "the cap is far too low for a bank of this size".',
        'As statement 1 rightly shows, clause 99.9 states "the Supplier shall be liable without any limit".',
        'A careful reader could not miss "the Supplier waives every limit of its liability" in clause 9.2.',
        'It would be wrong to overlook clause 9.2, "the Supplier waives every limit of its liability".',
        'One should read clause 9.2: "the Supplier waives every limit of its liability".',
        'One could add that clause 9.2 has "the Supplier waives every limit of its liability".',
        'The critic does not say why clause 9.2, "the Supplier waives every limit of its liability", should not count.',
        'Not only does clause 9.2 say "the Supplier waives every limit of its liability", it says it twice.',
        "Under clause 22.1 the Customer may withhold all fees.",
        "Clauses 9.2 and 17.3 state that fines are recoverable.",
        "§ 44 grants the Bank a right to all fines.",
        "Schedule 7 requires the Supplier to hold insurance of ten million.",
        "The contract (clause 9.3(f)) allows a price review.",
    ],
)
def test_words_and_clauses_that_no_document_has_are_marked(text: str) -> None:
    assert marks(text)


@pytest.mark.parametrize(
    "text",
    [
        'Clause 9.2 says "in each contract year shall not exceed one hundred thousand euro".',
        '"[T]he total liability of the Supplier in each contract year shall not exceed" (9.2) a sum.',
        'Under clause 9.2 the Supplier shall not "be liable for indirect loss".',
        'The Customer may "inspect the premises" and "audit the records of the Supplier" under clause 9.3(b).',
        'Clause 9.2 should read "the Supplier shall be liable without any limit at all".',
        'We propose to insert "the Supplier shall be liable without any limit at all" in clause 9.2.',
        'Recommended wording: "The Supplier indemnifies the Bank against regulatory fines."',
        'Replace "one hundred thousand euro" with "two hundred and fifty thousand euro".',
        "The Bank should ask for a new clause 9.4.",
        'A court might say "this cap is too low to be reasonable".',
        'Had the parties wanted more they would have written "for each and every claim of the Bank".',
        'The contract nowhere says "the Supplier shall be liable without any limit at all".',
        'We looked for "the Supplier warrants uninterrupted service" and did not find it.',
        '"The Supplier shall be liable without any limit", as quoted by the proposer, is not in the contract.',
        'A cleaner text: "The Supplier indemnifies the Bank against regulatory fines." That would do.',
        'Sign when a line "the Supplier pays all fines of the Bank" is added to clause 9.',
        'Does the contract say "the Supplier pays all fines of the Bank"? It does not.',
        'The cap "shall not exceed [a sum of] one hundred thousand euro".',
        "There is no clause 14 in the agreement.",
        "Clause 12, if it existed, would settle this.",
        'Statement 1 claims that clause 99.9 states "the Supplier shall be liable without any limit".',
        'Statement 1 claims that clause 99.9 states "the Supplier shall be liable"; no such clause exists.',
        'The proposer says that "the cap is far too low for a bank", and I agree.',
        'Our answer to "Should the bank sign the agreement although its losses are capped?" is yes.',
        'The "best efforts" approach and the "catch-all" clause are wide.',
        "It's the parties' own bargain, and they don't want the agents' view of '29.",
        'As the saying goes, "a chain is as strong as its weakest link".',
        'The title "Services Agreement" says little; "Contract Year" says more.',
        "Article 33 of the GDPR requires notice within 72 hours.",
        "Section 2 of the critique has no citation.",
        "There are 19\" racks and 24' cables in clause 9.3.",
    ],
)
def test_an_honest_text_is_not_marked(text: str) -> None:
    assert marks(text) == []


def test_a_passage_names_where_it_stands() -> None:
    text = 'Clause 9.1 says "limits liability for fraud"; the proposer says "the cap is far too low".'

    found = {text[slice(*p.span)]: p for p in passages(text)}

    assert found["Clause 9.1"].source_id == "D1"
    assert found["the cap is far too low"].status == "inDebate"
    assert found["the cap is far too low"].turn == PROPOSER
    assert not any(passage.marked for passage in found.values())


def test_words_that_a_shown_reply_was_marked_for_are_marked_again_without_their_author() -> None:
    """A repetition does not launder an invention; a text that names its author reports it."""
    invented = "the Supplier shall be liable without any limit"

    assert marks(f'"{invented}" decides the matter.') == []
    assert marks(f'"{invented}" decides the matter.', marked=[invented]) == [invented]
    assert marks(f'The proposer claims "{invented}".', marked=[invented]) == []


def test_words_of_a_later_document_are_not_among_those_that_the_seat_was_given() -> None:
    text = 'The letter says "we accept every loss of the Bank without limit".'
    letter = "Dear Sirs, we accept every loss of the Bank without limit."

    assert marks(text)
    assert not any(p.marked for p in passages(text, documents={"D1": CONTRACT, "D2": letter}))


def test_single_words_terms_and_names_of_clauses_are_no_passages() -> None:
    assert passages('The word "total" and the term "contract year" matter; clause 9.2 is silent on fines.') == ()


def test_every_text_of_a_reply_is_compared() -> None:
    words = 'clause 77.7 states "the Supplier pays every loss of the Bank at once"'
    reply = Moderation((), (words,), (words,), False, words, "HIGH", (words, words), "upheld")
    read = ReadTexts(reply, ("D1",), (), (QUESTION,), {}, ())

    found = compare(read, {"D1": CONTRACT}).marked

    assert sorted({passage.field for passage in found}) == [
        "explicitUncertainties[0]",
        "explicitUncertainties[1]",
        "resolvedPoints[0]",
        "synthesis",
        "unresolvedPoints[0]",
    ]
    assert len(found) == 10


_M = 100_000
"""Characters: a search that takes the square of them would go on for minutes, and the time limit ends it."""
HOSTILE = {
    "quotation marks": '"' * _M,
    "single marks": "'a " * (_M // 3),
    "marks of all kinds": "“‘«\"'" * (_M // 5),
    "open marks": '"a ' * (_M // 3),
    "quotations": 'clause 9 says "a b c d e f" ' * (_M // 28),
    "clauses": "clause 1.1 and 2.2, " * (_M // 20),
    "places": "(clause " * (_M // 8),
    "block quotations": "> a b c d e f\n\n" * (_M // 15),
    "italics": "states: *a b c d e f* " * (_M // 22),
    "entities": "&quot;a" * (_M // 7),
    "brackets": 'says "' + "[a] " * (_M // 4) + '"',
    "ellipses": 'says "' + "the company shall pay … " * (_M // 24) + '"',
    "blanks": " " * _M,
    "capitals": "A " * (_M // 2) + "clause 9",
    "underscores": "_" * _M + "! signed",
}
OUT_OF_STEPS = {"marks of all kinds", "quotations", "clauses", "block quotations", "italics", "brackets", "ellipses"}
"""The texts that would take more work than they are allowed."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_ends(name: str) -> None:
    """The text that takes longest has all the work that is allowed; the others end by the same count of steps."""
    steps = MAX_STEPS if name == "quotations" else MAX_STEPS // 5
    found = passages(HOSTILE[name], documents={"D1": CONTRACT, "D2": "a b c d e " * 20_000}, max_steps=steps)

    assert len(found) <= 800
    assert any(passage.reason == "out_of_steps" for passage in found) == (name in OUT_OF_STEPS)


def test_passages_beyond_the_work_allowed_are_marked() -> None:
    text = "The contract says " + " ".join(
        f'"the fee is {i} dollars per month and year on liability", and' for i in range(30)
    )
    read = ReadTexts(moderation(text), ("D1",), (), (QUESTION,), {}, ())

    found = compare(read, {"D1": CONTRACT}, max_steps=400_000).passages

    assert (found[-1].status, found[-1].reason) == ("nowhere", "out_of_steps")
