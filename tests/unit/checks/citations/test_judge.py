"""The verdicts, by example, on two documents."""

from hashlib import sha256

import pytest

from service.checks.citations import ENGINE, Sources, check, check_all
from service.checks.citations.text import lexicon
from service.debate.findings import Citation, CitationVerdict, Edit

CONTRACT = """1. Liability. The Supplier's total liability shall not exceed $1,000,000 in any Product Year (the "Cap"),
except for breach of Section 9.3. Either party may terminate on thirty (30) days' prior written notice after 15
March 2024.

2. Payment. The Customer shall pay 5 % interest per month on sums that are overdue for more than one hundred and
fifty days, and a non-refundable fee of 2.5 million euros. This clause survives for ten years and cannot be waived.
"""
LETTER = (
    "Acme Corp. will indemnify Beta Ltd. fully. Nothing else was agreed between them. Acme Corp. will pay tomorrow."
)
SOURCES = Sources({"contract": CONTRACT, "letter": LETTER})


def judge(quote: str, source_id: str | None = None, location: str | None = None) -> CitationVerdict:
    return check(Citation(quote=quote, source_id=source_id, location=location), SOURCES)


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ("total liability shall not exceed $1,000,000", "total liability shall not exceed $1,000,000"),
        ("“Total liability shall NOT exceed $1,000,000.”", "total liability shall not exceed $1,000,000"),
        ("(the “Cap”), except for breach", '(the "Cap"),\nexcept for breach'),
        ("- Either party may terminate;", "Either party may terminate"),
        ("…thirty (30) days’ prior written notice [...]", "thirty (30) days' prior written notice"),
        ("pay 5\u00a0% interest per month", "pay 5 % interest per month"),
        ("a non–refundable fee of 2.5 million euros", "a non-refundable fee of 2.5 million euros"),
        ("survives for ten years and cannot be waived!", "survives for ten years and cannot be waived"),
    ],
)
def test_a_true_quotation_is_verified_with_its_own_words_in_the_document(quote: str, words: str) -> None:
    verdict = judge(quote, "contract")

    start = CONTRACT.index(words)
    assert verdict == CitationVerdict("verified", source_id="contract", span=(start, start + len(words)), text=words)


def test_an_ellipsis_may_stand_for_a_short_stretch() -> None:
    verdict = judge(
        "The Customer shall pay 5 % interest [...] on sums that are overdue for more than one hundred and fifty days"
    )

    assert verdict.verdict == "verified"
    assert verdict.text is not None
    assert verdict.text.startswith("The Customer shall")
    assert verdict.text.endswith("fifty days")


@pytest.mark.parametrize(
    "quote",
    [
        "The Supplier's total liability … exceed $1,000,000 in any Product Year",  # hides "shall not"
        "in any Product Year … Either party may terminate",  # hides an exception
        "Either party may terminate … total liability shall not exceed",  # turned round
        "The … Customer … shall … pay … a … fee",  # picks single words
        "Liability. The Supplier's ... survives for ten years and",  # hides more than 300 characters
        "Either party may termin… prior written notice",  # cuts a word
    ],
)
def test_an_ellipsis_may_not_hide_what_turns_the_sense(quote: str) -> None:
    assert judge(quote, "contract").verdict != "verified"


@pytest.mark.parametrize(
    ("document", "quote", "kind", "words"),
    [
        (
            "The Bank reads each notice, and it can at any time terminate the agreement.",
            "The Bank reads each notice ... at any time terminate the agreement",
            "modal",
            "can",
        ),
        (
            "The Supplier shall not without consent subcontract the services.",
            "The Supplier shall ... subcontract the services",
            "negation",
            "not",
        ),
    ],
)
def test_an_edit_names_the_words_that_made_what_dots_hide_material(
    document: str, quote: str, kind: str, words: str
) -> None:
    (edit,) = check(Citation(quote), Sources({"D1": document})).edits
    assert (edit.kind, edit.because, edit.material) == (kind, words, True)


@pytest.mark.parametrize(
    ("hidden", "verified"),
    [
        (f" {'x' * 298} ", True),
        (f" {'x' * 299} ", False),
        (f" x{' ' * 298}", True),
        (f" x{' ' * 299}", False),
    ],
)
def test_an_ellipsis_stands_for_at_most_300_characters(hidden: str, verified: bool) -> None:
    document = f"The first words of all{hidden}the last words of all"

    found = check(Citation(quote="first words of all … the last words of all"), Sources({"a": document}))

    assert (found.verdict == "verified") is verified


@pytest.mark.parametrize(
    ("quote", "verified"),
    [
        ("Each party pays … the loser pays", True),
        ("Each party pays … loser pays …", False),
        ("Each party … the loser pays", False),
    ],
)
def test_a_piece_beside_an_ellipsis_has_at_least_twelve_letters(quote: str, verified: bool) -> None:
    document = "Each party pays its own fees and the loser pays"

    found = check(Citation(quote=quote), Sources({"a": document}))

    assert (found.verdict == "verified") is verified


@pytest.mark.parametrize(
    ("quote", "edit"),
    [
        ("total liability shall exceed $1,000,000 in any", Edit("negation", "not", "")),
        ("Either party may not terminate on thirty", Edit("negation", "", "not")),
        ("shall not exceed $2,000,000 in any Product Year", Edit("number", "1,000,000", "2,000,000")),
        ("terminate on sixty (30) days' prior written notice", Edit("number", "thirty", "sixty")),
        ("total liability shall not exceed €1,000,000 in any", Edit("currency", "$", "€")),
        ("days' prior written notice after 15 April 2024", Edit("date", "March", "April")),
        ("Either party must terminate on thirty (30) days'", Edit("modal", "may", "must")),
        ("The Supplier shall pay 5 % interest per month", Edit("name", "Customer", "Supplier")),
        ("The Customer shall pay 5 % tax per month on sums", Edit("word", "interest", "tax")),
        ("on thirty (30) days' written notice after 15", Edit("dropped", "prior", "")),
        ("5 % interest per calendar month on sums that are", Edit("inserted", "", "calendar")),
        ("Nothing else was agreed between them?", Edit("punctuation", "", "?")),
        ("1,000,000 in any Product Year", Edit("cut", "$1,000,000", "1,000,000")),
        ("refundable fee of 2.5 million euros", Edit("cut", "non-refundable", "refundable")),
        ("overdue for more than one hundred", Edit("cut", "hundred and", "hundred")),
    ],
)
def test_a_bent_quotation_is_altered_and_the_difference_is_named(quote: str, edit: Edit) -> None:
    verdict = judge(quote)

    assert verdict.verdict == "altered"
    assert verdict.edits == (edit,)


def test_an_altered_quotation_is_shown_beside_the_documents_own_words() -> None:
    verdict = judge("Either party must terminate on thirty (30) days", "contract")

    words = "Either party may terminate on thirty (30) days"
    assert verdict.span == (CONTRACT.index(words), CONTRACT.index(words) + len(words))
    assert verdict.text == words


@pytest.mark.parametrize(
    "quote", ["party may terminate on thirty (3", "customer shall pay 5", "for breach of Section 9"]
)
def test_a_match_inside_a_longer_word_or_number_is_not_verified(quote: str) -> None:
    assert judge(quote, "contract").verdict == "altered"


def test_a_true_head_with_an_invented_tail_is_not_verified() -> None:
    short = judge("Acme Corp. will indemnify Beta Ltd. fully and without limit", "letter")
    long = judge("Acme Corp. will indemnify and pay whatever sums it may ever come to owe to anybody at all", "letter")

    assert short.verdict == "altered"
    assert short.text == "Acme Corp. will indemnify Beta Ltd. fully"
    assert long == CitationVerdict("not_found")


def test_words_that_only_another_source_has_are_not_found_but_told() -> None:
    assert judge("Acme Corp. will indemnify Beta", "contract") == CitationVerdict("not_found", found_in="letter")


def test_an_unknown_source_is_not_found_and_told_where_the_words_are() -> None:
    verdict = judge("Acme Corp. will indemnify Beta", "annex")

    assert verdict == CitationVerdict("not_found", found_in="letter", reason="unknown_source")


@pytest.mark.parametrize("order", [("b", "a"), ("a", "b")])
def test_of_several_sources_that_have_the_words_the_first_by_id_is_taken_and_the_others_are_told(
    order: tuple[str, ...],
) -> None:
    texts = {"b": "One clause says so.", "a": "Another says: one clause says so."}

    verdict = check(Citation(quote="one clause says so"), Sources({name: texts[name] for name in order}))

    assert (verdict.verdict, verdict.source_id, verdict.note) == ("verified", "a", "stands in b too")


@pytest.mark.parametrize(
    "quote", ["", "   ", "…", "\u200b", "“”", "the Supplier", "5 % interest", "(i) (ii) (iii) - 1!"]
)
def test_fewer_than_twelve_letters_and_digits_are_too_short(quote: str) -> None:
    assert judge(quote) == CitationVerdict("too_short", reason="too_short")


def test_twelve_letters_and_digits_are_enough() -> None:
    eleven, twelve = judge("Corp. will pay", "letter"), judge("Acme Corp. will", "letter")

    assert eleven.reason == "too_short"
    assert twelve.verdict == "verified"


@pytest.mark.parametrize(
    ("location", "start"),
    [(None, 0), ("0", 0), ("chars 70", 81), ("81", 81), ("Char: 9999999", 81), ("offset 30-41", 0), ("Section 9", 0)],
)
def test_of_several_places_the_one_nearest_to_the_location_is_taken(location: str | None, start: int) -> None:
    assert LETTER.rindex("Acme Corp. will") == 81

    verdict = judge("Acme Corp. will", "letter", location)

    assert (verdict.verdict, verdict.span, verdict.text) == ("verified", (start, start + 15), "Acme Corp. will")
    assert verdict.note is not None
    assert "stands 2 times in this document" in verdict.note


def test_many_citations_are_judged_in_their_order() -> None:
    citations = [Citation(quote="Nothing else was agreed"), Citation(quote="short")]

    assert check_all(citations, SOURCES) == tuple(check(citation, SOURCES) for citation in citations)
    assert [verdict.verdict for verdict in check_all(citations, SOURCES)] == ["verified", "too_short"]


def test_out_of_steps_is_a_refusal() -> None:
    verdict = check(Citation(quote="Nothing else was agreed"), SOURCES, max_steps=10)

    assert verdict == CitationVerdict("not_found", reason="out_of_steps")


def test_a_document_is_read_once_for_all_sources_that_have_its_text() -> None:
    sources = Sources({"a": "some text"})

    assert sources.document("a") is sources.document("a") is Sources({"b": "some text"}).document("b")
    assert list(sources) == ["a"]
    assert "b" not in sources


def test_the_engine_names_its_rules_and_its_list_of_words() -> None:
    digest = sha256("\n".join(sorted(lexicon.words())).encode()).hexdigest()

    assert f"citations/3+scowl2020-{digest[:8]}" == ENGINE
