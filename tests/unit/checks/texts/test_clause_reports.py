"""What a text reports of a clause in its own words is compared with the clause, in every text that people read."""

from __future__ import annotations

import pytest

from bench.corpora import Document, LabelledText, measure
from service.checks.texts.clause_reports import differs
from service.debate.findings import Passage
from tests.unit.checks.texts.test_sentences import DOCUMENTS, QUESTION, TITLES, marked, sentences

CLAUSE = "9.2 The total liability of the Supplier in each contract year shall not exceed one hundred thousand euro."
REPORTS = {
    "other_amount": (
        "Clause 9.2 caps liability at EUR 5 million.",
        "The cap is EUR 5 million (clause 9.2), which is enough.",
        "| Liability cap | EUR 5 million (clause 9.2) |",
        "### Liability: 3 x fees (clause 9.2)",
        "Under clause 10.2 the Supplier has to give thirty days' notice.",
        "Section 3 keeps logs for twelve months.",
        "Clause 9.2: EUR 5 million for each claim.",
    ),
    "other_date": ("The agreement ends on 31 December 2029 (clause 10.1).", "Clause 10.1 runs until the end of 2030."),
    "other_negation": (
        "Under clause 9.2 the Supplier shall be liable for indirect loss.",
        "Clause 11.1 provides that the Supplier shall not delete backups.",
    ),
    "other_party": (
        "Under clause 9.3 the Supplier may inspect the premises.",
        "According to clause 10.2 the Supplier may terminate within that period.",
    ),
    "other_matter": ("Clause 9.1 gives every visitor a warm breakfast and clean towels beside the pool.",),
    "no_such_clause": (
        "The thirtieth clause makes the Supplier liable.",
        "Section ninety-nine caps the fees.",
        "Clause twenty-two provides that fees are frozen.",
    ),
    "no_such_document": (
        "The Side Letter of 3 May says that the cap does not apply.",
        "According to the Side Letter of 3 May the cap does not apply.",
        "The Harrow Guarantee confirms that the parent is liable.",
    ),
    "not_found": (
        'Clause 9.2 says "without limit".',
        'Clause 9.2: "without limit".',
        'Clause 9.2 states "unlimited liability".',
    ),
}


@pytest.mark.parametrize(("reason", "text"), [(reason, text) for reason, texts in REPORTS.items() for text in texts])
def test_a_report_that_its_clause_does_not_bear_out_is_for_a_person(reason: str, text: str) -> None:
    assert reason in {passage.reason for passage in marked(text, unclear=True)}


@pytest.mark.parametrize("field", measure.REPLIES)
@pytest.mark.parametrize("reason", REPORTS)
def test_it_is_so_in_every_text_that_people_read(reason: str, field: str) -> None:
    assert reason in {passage.reason for passage in found(REPORTS[reason][0], field)}


@pytest.mark.parametrize("text", list(sentences("reported.txt")))
def test_a_true_report_and_what_follows_from_it_cost_nothing(text: str) -> None:
    assert [passage.reason for passage in marked(text, unclear=True)] == []


def test_a_section_of_another_law_is_not_the_clause_of_that_number() -> None:
    """No document can show what it says: it is neither found nor marked."""
    assert found("Section 9.2 of the Framework Act limits liability to EUR 5 million.", "synthesis") == []
    assert found("Section 9.2 limits liability to EUR 5 million.", "synthesis") != []


def test_an_article_may_be_a_laws_where_no_document_has_articles() -> None:
    (passage,) = found("Article 28 binds the bank here.", "synthesis")

    assert (passage.status, passage.reason) == ("unclear", "no_such_clause")


def test_a_code_or_a_part_of_a_clause_shows_that_the_clause_is_there() -> None:
    report = "3.1 Logs are kept.\n3.2 Tokens rotate.\nF3 (medium). Passwords are short. V2 (major): postcode."
    known = {"D1": Document("D1", "Review", report)}

    for text in ("Section 3 says so.", "Finding F3 says so.", "Finding V2 says so."):
        assert [p.status for p in measure.found_in(item(text, "synthesis", ("D1",)), known) if p.marked] == [], text
    (other,) = measure.found_in(item("Finding F9 says so.", "synthesis", ("D1",)), known)
    assert other.reason == "no_such_clause"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (" caps liability at EUR 100,000", None),
        (" caps liability at EUR 100,001", "other_amount"),
        (" caps liability at EUR 100,000, a twentieth of EUR 2 million", None),
        (" caps liability for a year", None),
        (" is about trees, tides, orchards, violins, goalkeepers and sonatas", "other_matter"),
        (" is about trees, tides, orchards, violins and sonatas", None),
    ],
)
def test_the_limits_of_a_report(words: str, expected: str | None) -> None:
    """An amount of the clause's own excuses what is derived from it; six strange words are enough."""
    assert differs(words, [CLAUSE]) == expected


def test_a_chapter_is_not_compared() -> None:
    assert differs(" caps liability at EUR 5 million", [CLAUSE * 100]) is None


def item(text: str, field: str, documents: tuple[str, ...]) -> LabelledText:
    return LabelledText("one", "honest", "reported", field, QUESTION, documents, text)  # type: ignore[arg-type]


def found(text: str, field: str) -> list[Passage]:
    known = {name: Document(name, title, DOCUMENTS[name]) for name, title in zip(DOCUMENTS, TITLES, strict=True)}
    return measure.found_in(item(text, field, tuple(DOCUMENTS)), known)
