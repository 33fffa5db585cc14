"""The outline of a document: what people would cite a part of it by."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.citations.outline import Place, outline

ROOT = Path(__file__).resolve().parents[3]

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
        numbers = [int(p.number) for p in outline(path.read_text("utf-8")) if p.kind == "clause" and p.level == 2]
        assert numbers == sorted(set(numbers)), path.name
        assert len(numbers) > 2
    assert len(texts) >= 5


def test_an_excerpt_keeps_the_clauses_that_have_others_under_them() -> None:
    text = (ROOT / "service" / "samples" / "contract" / "msa.txt").read_text("utf-8")

    clauses = [p.number for p in outline(text) if p.kind == "clause" and p.level == 2]

    assert clauses == ["1", "2", "9", "11", "12", "13", "15"]


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
    open_: list[Place] = []
    for place in places:
        assert 0 <= place.span[0] < place.span[1] <= len(text)
        while open_ and open_[-1].span[1] <= place.span[0]:
            open_.pop()
        if open_:
            assert open_[-1].level < place.level
            assert place.span[1] <= open_[-1].span[1]
        open_.append(place)
