"""A location never turns a verdict: it chooses between places, and is told when it is wrong."""

import pytest

from service.checks.citations import Sources, check
from service.debate.findings import Citation

FILLER = "The parties have read this clause and agree to every word that it holds. " * 3
DOCUMENT = (
    f"ARTICLE I GENERAL\n\n1.1 Fees. The fee is due at the end of each month.\n{FILLER}\n\n"
    f"1.2 Term. The term of this agreement is five years.\n{FILLER}\n\nPage 1\n\n"
    f"ARTICLE II SPECIAL\n\n2.1 Cap. Liability is capped at the fees of one year.\n{FILLER}\n\n"
    f"2.2 Fees again. The fee is due at the end of each month.\n{FILLER}\n\nPage 2\n\nThe end.\n"
)
CAP = "Liability is capped at the fees of one year"
LINE = DOCUMENT[: DOCUMENT.index(CAP)].count("\n") + 1
FEE = "The fee is due at the end of each month"


def note(quote: str, location: str | None) -> str | None:
    verdict = check(Citation(quote=quote, location=location), Sources({"doc": DOCUMENT}))
    assert verdict.verdict == "verified"
    return verdict.note


@pytest.mark.parametrize(
    "location",
    [
        None,
        "",
        "2.1",
        "Section 2.1",
        "Sec. 2.1(a)",
        "clause 2.1",
        "§ 2.1",
        "Contract, Section 2.1, first sentence",
        "2.1 Cap",
        "Article II",
        "ARTICLE II",
        "Cap",
        "page 2",
        "p. 2",
        "pp. 2",
        f"line {LINE}",
        f"lines {LINE - 2}-{LINE + 1}",
        f"L{LINE}",
        f"chars {DOCUMENT.index(CAP)}",
        "chars 0",
    ],
)
def test_a_location_that_is_right_needs_no_note(location: str | None) -> None:
    assert note(CAP, location) is None


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("Section 1.2", 'not in "Section 1.2"; stands in Section 2.1'),
        ("Article I", 'not in "Article I"; stands in Section 2.1'),
        ("page 1", 'not in "page 1"; stands in Section 2.1'),
        ("line 3", 'not in "line 3"; stands in Section 2.1'),
        ("Section 9.4", 'the document has no "Section 9.4" that can be told; stands in Section 2.1'),
        ("line 999", 'the document has no "line 999" that can be told; stands in Section 2.1'),
        ("somewhere near the end", "location not understood"),
        ("the fees", "location not understood"),
    ],
)
def test_a_location_that_is_wrong_is_told_with_where_the_words_stand(location: str, told: str) -> None:
    assert note(CAP, location) == told


@pytest.mark.parametrize(
    ("location", "which"),
    [(None, 0), ("Section 1.1", 0), ("Section 2.2", 1), ("Article II", 1), ("page 2", 1), (f"{len(DOCUMENT)}", 1)],
)
def test_between_several_places_the_location_chooses(location: str | None, which: int) -> None:
    verdict = check(Citation(quote=FEE, location=location), Sources({"doc": DOCUMENT}))

    starts = DOCUMENT.index(FEE), DOCUMENT.rindex(FEE)
    assert verdict.span is not None
    assert verdict.span[0] == starts[which]
    assert verdict.note == "stands 2 times in this document"


ANNEXED = (
    f"1. Fees. The fee is due at once.\n{FILLER}\n\nANNEX C SECURITY\n\nC7.1 Incidents. {CAP}.\n{FILLER}\n\n"
    f"C7.2 Reports. A report is made.\n{FILLER}\n\nEXHIBIT B-2 PRICES\n\nClause A-3 Rounding. Prices are rounded up "
    f"to cents.\n{FILLER}\n\nEXHIBIT B-3 LEVELS\n\nLevels of service are met by all means.\n{FILLER}\n"
)


@pytest.mark.parametrize(
    ("location", "quote", "told"),
    [
        ("Section C7.1", CAP, None),
        ("section c7.1(a)", CAP, None),
        ("C7.1", CAP, None),
        ("§ C7.1", CAP, None),
        ("Annex C", CAP, None),
        ("Annex C, Section C7.1", CAP, None),
        ("Section C7.2", CAP, 'not in "Section C7.2"; stands in Section C7.1'),
        ("Section C8", CAP, 'the document has no "Section C8" that can be told; stands in Section C7.1'),
        ("Clause A-3", "Prices are rounded up", None),
        ("clause A3", "Prices are rounded up", None),
        ("A-3", "Prices are rounded up", None),
        ("Exhibit B-2", "Prices are rounded up", None),
        ("EXHIBIT B-2, Rounding", "Prices are rounded up", None),
        ("Exhibit B-3", "Prices are rounded up", 'not in "Exhibit B-3"; stands in Section A-3'),
        ("Exhibit B-2", "Levels of service are met", 'not in "Exhibit B-2"; stands in Exhibit B-3'),
        ("Exhibit B", CAP, 'the document has no "Exhibit B" that can be told; stands in Section C7.1'),
    ],
)
def test_numbers_with_a_letter_are_understood(location: str, quote: str, told: str | None) -> None:
    verdict = check(Citation(quote=quote, location=location), Sources({"doc": ANNEXED}))

    assert (verdict.verdict, verdict.note) == ("verified", told)


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("Article 2.1", None),
        ("Article 1.2", 'not in "Article 1.2"; stands in Section 2.1'),
        ("page 2, Section 2.1", None),
        ("Part of the agreement", "location not understood"),
    ],
)
def test_an_article_with_a_point_is_a_clause(location: str, told: str | None) -> None:
    assert note(CAP, location) == told


def test_a_document_without_parts_says_nothing_of_a_section() -> None:
    verdict = check(Citation(quote=CAP, location="Section 4"), Sources({"doc": f"Words. {CAP}. More words."}))

    assert (verdict.verdict, verdict.note) == ("verified", None)


def test_a_hint_chooses_between_more_places_than_are_counted() -> None:
    document = " ".join(f"{FEE}, says line {i}." for i in range(500))
    at = document.index(FEE, 15_000)

    verdict = check(Citation(quote=FEE, location=str(at + 3)), Sources({"doc": document}))

    assert verdict.span == (at, at + len(FEE))
    assert verdict.note is not None
    assert "many times" in verdict.note
