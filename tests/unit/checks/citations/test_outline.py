"""The outline of a document: what people would cite a part of it by."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.checks.citations.text.outline import MOST_PLACES, NamedPlace, outline
from service.checks.citations.text.page_furniture import MOST_MARKS, furniture, page_starts

ROOT = Path(__file__).resolve().parents[4]

CONTRACT = """EXHIBIT 10.1

TABLE OF CONTENTS
ARTICLE I DEFINITIONS 1
Section 1.01. Definitions 1
ARTICLE II TERM .......... 4

ARTICLE I DEFINITIONS

Section 1.01. Definitions. In this Agreement the following words are defined.
(a) "Cap" means the sum of Section 9.3.
(b) "Term" means five years.

ARTICLE II TERM

2.1 Length. The term is five years. 2.2 Renewal. It is renewed for
12 months, unless either party objects within
30 days. See 2.1 above.
"""
REGULATION = """§ 1015.3 Prohibited representations.

(a) It is a violation to misrepresent. (b) So is silence, see § 1015.5 of this part.

§ 1015.4 Disclosures required.
The disclosure is in paragraph (b)(1).
"""
GUIDE = """# 5 Requirements

## <a name="x"></a>5.1 Authenticators {#auth}

1. First do this.
2. Then do that.

```
# not a heading
```

### 5.1.1 `Memorized` Secrets

Underlined
----------
The end.
"""
PAGED = "First page\n\nPage 1\n\nsecond page\n\nPage 2\n\nthird page\n"


def _names(text: str, *kinds: str) -> list[tuple[str, str]]:
    return [(p.label, p.title) for p in outline(text) if not kinds or p.kind in kinds]


def test_a_contract_has_divisions_clauses_and_items_and_its_table_of_contents_is_none_of_them() -> None:
    assert _names(CONTRACT) == [
        ("Exhibit 10.1", ""),
        ("Article I", "DEFINITIONS"),
        ("Section 1.01", "Definitions"),
        ("(a)", '"Cap" means the sum of Section 9.3'),
        ("(b)", '"Term" means five years'),
        ("Article II", "TERM"),
        ("Section 2.1", "Length"),
        ("Section 2.2", "Renewal"),
    ]


def test_a_place_holds_what_is_under_it() -> None:
    places = {p.label: CONTRACT[slice(*p.span)] for p in outline(CONTRACT)}

    assert places["Section 1.01"].startswith("Section 1.01. Definitions. In this")
    assert places["Section 1.01"].endswith("five years.\n\n")
    assert places["(a)"].strip() == '(a) "Cap" means the sum of Section 9.3.'
    assert places["Section 2.2"].startswith("2.2 Renewal. It is renewed")
    assert "2.1 Length" in places["Article II"]


def test_a_regulation_has_sections_by_their_sign() -> None:
    assert _names(REGULATION, "clause") == [
        ("§ 1015.3", "Prohibited representations"),
        ("§ 1015.4", "Disclosures required"),
    ]


def test_headings_of_markdown_are_read_without_their_dress_and_outside_of_code() -> None:
    assert [(p.number, p.title) for p in outline(GUIDE) if p.kind == "heading"] == [
        ("5", "5 Requirements"),
        ("5.1", "5.1 Authenticators"),
        ("5.1.1", "5.1.1 `Memorized` Secrets"),
        ("", "Underlined"),
    ]
    assert _names(GUIDE, "item", "clause") == [("1.", "First do this"), ("2.", "Then do that")]


def test_pages_are_told_by_their_marks_or_by_form_feeds() -> None:
    assert [(p.label, PAGED[slice(*p.span)].split(maxsplit=1)[0]) for p in outline(PAGED)] == [
        ("Page 1", "First"),
        ("Page 2", "second"),
        ("Page 3", "third"),
    ]
    assert [p.span for p in outline("one\ftwo\fthree")] == [(0, 4), (4, 8), (8, 13)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain words",
        "in 2020 we paid\n1000 euros and\n30 days later\n5 more",
        "3. Third without a first or second",
        "see section 9.3 of this part\nsection 9.4 also",
        "1.5 million euros\n",
    ],
)
def test_what_only_looks_like_a_number_is_no_place(text: str) -> None:
    assert [p for p in outline(text) if p.label != "Section 1.5"] == []


@pytest.mark.parametrize(
    ("name", "label", "title"),
    [
        ("reg-m-1013", "§ 1013.4", "Content of disclosures"),
        ("cuad-goldresource", "Article 4", "PRE-EMPTIVE RIGHT"),
        ("cuad-reynolds", "Section 7", "Indemnification"),
        ("cuad-energous", "Section 15", "TERM AND TERMINATION"),
        ("cuad-nuveen", "Section 4", "Fees and Expenses"),
        ("nist-63b-auth", "5.1.2", "5.1.2 Look-Up Secrets"),
        ("adr-govuk", "2", "2. Use `aws-eks` Terraform module"),
        ("owasp-k8s", "", "SECTION 1: Securing Kubernetes Hosts"),
    ],
)
def test_real_documents_have_the_places_that_their_readers_name(
    shared: Path, name: str, label: str, title: str
) -> None:
    places = outline((shared / "data" / "documents" / f"{name}.txt").read_text("utf-8"))

    assert (label, title) in {(p.label or p.number, p.title) for p in places}


def test_the_samples_have_their_numbered_clauses_in_order() -> None:
    texts = sorted((ROOT / "service" / "samples").rglob("*.txt"))

    for path in texts:
        numbers = [int(p.number) for p in outline(path.read_text("utf-8")) if p.kind == "clause" and p.number.isdigit()]
        assert numbers == sorted(set(numbers)), path.name
        assert len(numbers) > 2
    assert len(texts) >= 5


def test_an_excerpt_keeps_the_clauses_that_have_others_under_them() -> None:
    text = (ROOT / "service" / "samples" / "contract" / "msa.txt").read_text("utf-8")

    clauses = [p.number for p in outline(text) if p.kind == "clause" and p.level == 2]

    assert clauses == ["1", "2", "9", "11", "12", "13", "15", "c2", "c9"]


def test_an_annex_has_the_clauses_that_bear_its_letter() -> None:
    text = (ROOT / "service" / "samples" / "contract" / "msa.txt").read_text("utf-8")

    found = {p.label: text[slice(*p.span)] for p in outline(text)}

    assert [label for label in found if label.startswith("Section C")] == [
        f"Section {number}" for number in ("C2", "C4.1", "C4.2", "C7.1", "C7.2", "C7.3", "C7.4", "C9")
    ]
    assert found["Section C7.4"].startswith("C7.4 Where a Security Incident originates")
    assert found["Section C7.4"].endswith("from that hosting provider.\n\n")
    assert outline("B12 Levels. They vary.\nC7.1 Indemnity. No annex stands above.\n") == ()


def test_a_clause_with_a_letter_and_its_word_stands_anywhere_and_one_without_it_in_its_annex() -> None:
    text = "Clause A-3 Rounding. Up.\nSection C7.1. Title\nNone.\nANNEX D\nD-2 Levels. High.\nE-2 Levels. None.\n"

    assert _names(text) == [
        ("Section A-3", "Rounding"),
        ("Section C7.1", "Title"),
        ("Annex D", ""),
        ("Section D-2", "Levels"),
    ]
    assert [p.number for p in outline("# C7.1 Title\n\nx\n\n# B-2 Title\n")] == ["c7.1", "b-2"]


def test_the_form_of_a_filing_is_no_page() -> None:
    filed = "one\n-1-\n\nSource: ACME, S-1, 3/1/2020\n\ntwo\n-2-\n\nSource: ACME, S-1, 3/1/2020\n\nthree\n"

    assert [(p.number, filed[p.span[0] :].lstrip()[:8]) for p in outline(filed)] == [
        ("1", "one\n-1-\n"),
        ("2", "Source: "),
        ("3", "Source: "),
    ]


def test_a_clause_is_no_part_of_one_whose_number_it_does_not_bear() -> None:
    text = (ROOT / "service" / "samples" / "contract" / "msa.txt").read_text("utf-8")
    headless = text.replace("9. SECURITY OF CUSTOMER INFORMATION\n", "").replace("11. INSURANCE\n", "")

    second = next(p for p in outline(headless) if p.number == "2")

    assert headless[slice(*second.span)].rstrip().endswith("the Section that it amends.")


def test_a_number_in_the_midst_of_a_clause_does_not_end_it() -> None:
    text = "1. Fees\nThe fee is\n3.5 million euros.\nIt is due.\n2. Term\nOne year.\n"

    assert text[slice(*outline(text)[0].span)].endswith("It is due.\n")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1. Term\nOne year.\n10. Limitation of Liability\nNone.\n", ["1", "10"]),
        ("1. Term\nOne year.\n5. INSURANCE. The Supplier insures.\n8. Notices\nIn writing.\n", ["1", "5", "8"]),
        ("1. Term\nOne year from\n10. The rest of this is a sentence that goes on\n", ["1"]),
        ("1. Term\nOne year from\n12. March 2020 on\n", ["1"]),
        ("1. Term\nOne year.\n90. Limitation of Liability\n", ["1"]),
        ("10. Limitation of Liability\nNone.\n", []),
    ],
)
def test_an_excerpt_may_leave_out_clauses_before_one_with_a_short_title(text: str, numbers: list[str]) -> None:
    assert [p.number for p in outline(text) if p.kind == "clause"] == numbers


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("Appendix No. 1 Prices", "Appendix 1"),
        ("Schedule No 2", "Schedule 2"),
        ("ANNEX NUMBER IV", "Annex IV"),
        ("Exhibit AB", "Exhibit AB"),
        ("Article VII", "Article VII"),
        ("PART OF THE AGREEMENT", None),
        ("TITLE CIVIL CODE", None),
        ("APPENDIX NO", None),
    ],
)
def test_the_number_of_a_division_is_told_from_words(line: str, label: str | None) -> None:
    assert [p.label for p in outline(f"{line}\n")] == ([label] if label else [])


@pytest.mark.parametrize(
    "text",
    ["Article \u0130 Title\n", "\u017fection 1. Title\n", "Section \u0661. Title\n", "\u0661. Title\n", "(\u0130) x\n"],
)
def test_numerals_and_words_of_labels_are_ascii(text: str) -> None:
    assert outline(text) == ()


def test_a_division_that_a_table_of_contents_announces_stands_once_where_its_text_is() -> None:
    contents = "ARTICLE I TERM\nARTICLE II FEES\nSection 2.1 Fees 9 i\n"
    text = f"{contents}\nARTICLE I TERM\nOne year.\nARTICLE II FEES\nSection 2.1 Fees. None.\n"

    assert [(p.label, p.span[0] >= len(contents)) for p in outline(text)] == [
        ("Article I", True),
        ("Article II", True),
        ("Section 2.1", True),
    ]


def test_a_division_with_clauses_stays_when_another_contract_has_its_like() -> None:
    contract = "ARTICLE I TERM\nSection 1.1 Length. One year.\n"

    assert [p.label for p in outline(contract * 2)] == ["Article I", "Section 1.1"] * 2


def test_of_more_marks_than_any_document_has_the_first_are_read() -> None:
    text = "".join(f"Page {n % 9_999}\n" for n in range(MOST_MARKS + 5_000))

    assert len(page_starts(text)) == 19_999
    assert furniture(text) == [(0, 197_787)]


def test_pages_beyond_the_most_are_left_out() -> None:
    places = outline("\f" * (MOST_PLACES + 5))

    assert [p.number for p in places[-2:]] == [str(MOST_PLACES - 1), str(MOST_PLACES)]
    assert places[-1].span == (MOST_PLACES - 1, MOST_PLACES)


_LINES = st.lists(
    st.sampled_from(
        [*CONTRACT.splitlines(), *REGULATION.splitlines(), *GUIDE.splitlines(), "\f", "Page 3", "(i) x", "===", "#"]
    ),
    max_size=30,
).map("\n".join)


@given(_LINES | st.text(max_size=80))
def test_places_lie_in_the_text_in_order_and_within_each_other_or_apart(text: str) -> None:
    places = [p for p in outline(text) if p.kind != "page"]

    assert list(places) == sorted(places, key=lambda p: (p.span[0], p.level))
    open_: list[NamedPlace] = []
    for place in places:
        assert 0 <= place.span[0] < place.span[1] <= len(text)
        while open_ and open_[-1].span[1] <= place.span[0]:
            open_.pop()
        if open_:
            assert open_[-1].level < place.level
            assert place.span[1] <= open_[-1].span[1]
        open_.append(place)
