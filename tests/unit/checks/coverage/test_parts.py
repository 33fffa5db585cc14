"""How a text is taken apart, and how its parts are named together."""

from __future__ import annotations

import pytest

from service.checks.coverage import coverage
from service.checks.coverage.sentences import brief, name_parts, part_of_all, sentence
from service.checks.coverage.spans import Counter, per_mille, rest, union
from tests.unit.checks.coverage.cited import AGREEMENT, a_case, at, citing, told


@pytest.mark.parametrize(
    ("spans", "joined", "left"),
    [
        ((), (), ((0, 10),)),
        (((0, 10),), ((0, 10),), ()),
        (((2, 4), (4, 6)), ((2, 6),), ((0, 2), (6, 10))),
        (((5, 7), (1, 3), (2, 6)), ((1, 7),), ((0, 1), (7, 10))),
        (((3, 3), (0, 1)), ((0, 1),), ((1, 10),)),
    ],
)
def test_stretches_are_joined_and_turned_round(
    spans: tuple[tuple[int, int], ...], joined: tuple[tuple[int, int], ...], left: tuple[tuple[int, int], ...]
) -> None:
    assert union(spans) == joined
    assert rest(joined, 10) == left


@pytest.mark.parametrize(
    ("part", "whole", "share", "said"),
    [
        (0, 10, 0, "0"),
        (1, 1_000_000, 1, "0.001"),
        (999_999, 1_000_000, 999, "0.999"),
        (10, 10, 1000, "all"),
        (0, 0, 0, "0"),
        (14, 1_000, 14, "0.014"),
        (145, 1_000, 145, "0.145"),
        (20, 1_000, 20, "0.02"),
    ],
)
def test_a_share_says_nothing_only_for_nothing_and_all_only_for_all(
    part: int, whole: int, share: int, said: str
) -> None:
    assert per_mille(part, whole) == share
    assert part_of_all(share) == said


def test_stretches_that_touch_another_are_counted() -> None:
    count = Counter([(0, 5), (3, 9), (9, 12), (4, 4)])

    assert [count(span) for span in ((0, 1), (4, 5), (5, 9), (8, 10), (12, 20), (4, 4))] == [1, 2, 1, 2, 0, 0]


@pytest.mark.parametrize(
    ("text", "quoted", "named"),
    [
        (AGREEMENT, "Swiss law", "the opening, Sections 1 to 3 and Annex A"),
        (
            AGREEMENT.replace("Fees are due", "Under clause 2 they are due"),
            "Swiss law",
            "the opening, Clauses 1 to 3 and Annex A",
        ),
        (AGREEMENT, "Keys are", "the opening, Sections 1 to 4 and Section 1 of Annex A"),
        ("ARTICLE I A\nx\nARTICLE II B\nx\nARTICLE IX C\nx\nARTICLE X D\ny", "y", "Articles I to IX"),
        ("§ 1080.1 A\nx\n§ 1080.2 B\nx\n§ 1080.10 C\ny", "y", "§§ 1080.1 and 1080.2"),
        ("§ 1080.1 A\nx\n§ 1080.2 B\ny", "y", "§ 1080.1"),
        ("ANNEX A Fees\nx\nANNEX B Law\nx\nSCHEDULE 1 People\ny", "y", "Annexes A and B"),
        ("# One\na\n# Two\nb\n# Three\nc\n# Four\ny", "y", "“One” to “Three”"),
        ("# One\n## Status\na\n# Two\n## Status\nb\n## Why\ny", "y", "“One” and “Status” of “Two”"),
        ("# One <a name='x'></a>\na\n# Two {#two}\nb\n# Three\ny", "y", "“One” and “Two”"),
        ("1. SCOPE\n2. ORDER\n2.1 A\n9.1 B\n9.2 C\n10. LIMIT\n10.1 Y", "9.1 B", "Sections 1, 2, 9.2 and 10"),
        ("a\n\nb\nc\n\n\nd\ny", "c", "Lines 1 to 3, 7 and 8"),
        ("a\nb\ny", "y", "Lines 1 and 2"),
        ("a b c y", "y", "Characters 1 to 6"),
        ("a\n" * 1_500 + "y", "y", "Lines 1 to 1,500"),
        ("one\ftwo\fthree\ny", "y", "Pages 1 and 2"),
    ],
)
def test_parts_that_were_never_cited_are_named_as_a_reader_would(text: str, quoted: str, named: str) -> None:
    found = told(citing(at(quoted, text)), text=text)

    assert name_parts(found.never_cited_parts) == named


def test_numbers_that_begin_again_are_no_range() -> None:
    text = "11. A\nx\n12. B\nx\n1. C\nx\n2. D\ny"
    text = "".join(f"{n}. Z\nz\n" for n in range(1, 11)) + text

    found = told(citing(at("y", text)), text=text)

    assert name_parts(found.never_cited_parts) == "Sections 1 to 12 and 1"


def test_of_many_ranges_the_longest_are_named_in_their_order() -> None:
    text = "".join(f"{n}. Title\n{'x' * (n % 7) * 9}\n{'quoted' if n % 2 else ''}\n" for n in range(1, 41))
    cited = [at(f"{n}. Title", text) for n in range(1, 41, 2)]

    found = told(citing(*cited), text=text)

    assert name_parts(found.never_cited_parts, 3) == "Sections 6, 20 and 34, and 17 shorter parts"


@pytest.mark.parametrize(
    ("quoted", "said"),
    [
        ((), "Nobody cited anything from Text 1 (D1)."),
        ((AGREEMENT,), "Text 1 (D1): every part was cited at least once."),
        (("Swiss law",), "Text 1 (D1): the opening, Sections 1 to 3 and Annex A were never cited."),
        ((AGREEMENT[: AGREEMENT.index("ANNEX")],), "Text 1 (D1): Annex A was never cited."),
        ((AGREEMENT[AGREEMENT.index("2. FEES") :],), "Text 1 (D1): the opening and Section 1 were never cited."),
    ],
)
def test_the_first_sentence_says_what_was_never_cited(quoted: tuple[str, ...], said: str) -> None:
    assert sentence(told(citing(*(at(words) for words in quoted)))) == said


def test_a_document_that_came_too_late_is_not_blamed_on_anybody() -> None:
    (found,) = coverage(a_case(AGREEMENT, rounds=(2,)), [], 1, {"D1": AGREEMENT})

    assert sentence(found) == "Text 1 (D1) was given to nobody: the debate ended before round 2."
    assert brief(found) == "given to nobody: the debate ended before round 2"
