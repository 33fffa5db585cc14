"""What a terminal shows of a citation that is not verified: why, and which of its words count."""

from __future__ import annotations

import io
from typing import Any, get_args

import pytest
from rich.console import Console

from service.cli.display.arguments import LONGEST_EDIT, arguments
from service.cli.display.summaries import verdicts
from service.debate.findings import Edit, Verdict
from service.report.document.arguments import TONES, argued
from service.report.labels import VERDICT
from service.report.result.argument_types import Argument, Citation


def one(verdict: Any, **others: Any) -> Argument:
    given: dict[str, Any] = {"quote": "nitrogen", "source_id": "D1", "span": None, "text": None} | others
    return Argument(n=1, text="It holds.", citations=(Citation(verdict=verdict, **given),), basis="evidence")


def shown(argument: Argument) -> str:
    written = io.StringIO()
    console = Console(file=written, width=80, highlight=False, markup=False, emoji=False, color_system=None)
    for block in arguments((argument,)):
        console.print(block)
    assert all(len(line.rstrip()) <= 80 for line in written.getvalue().splitlines())
    return " ".join(written.getvalue().split())


def test_a_quotation_that_is_too_short_is_named_so_with_what_to_do_and_not_as_missing() -> None:
    argument = one("too_short", reason="too_short")

    assert "TOO SHORT “nitrogen” D1 it has fewer than 12 letters and digits" in shown(argument)
    assert "NOT FOUND" not in shown(argument)
    (quotation,) = argued("Argument 1", argument, {}).quotations
    assert quotation.verdict == "Too short to check"
    (note,) = quotation.notes
    assert note.startswith("Why it is not verified: it has fewer than 12 letters and digits")


def test_an_edit_is_shown_with_the_words_that_made_it_count_and_others_are_not() -> None:
    edits = (
        Edit("ellipsis", "of the Supplier", "…", material=False),
        Edit("negation", "shall under no circumstances", "…", because="no"),
        Edit("number", "nine", "five"),
    )
    argument = one("altered", text="It shall under no circumstances exceed nine.", edits=edits, span=(0, 44))

    words = shown(argument)

    assert "the document says: “It shall under no circumstances exceed nine.”; negation: “no”; number: “nine”" in words
    assert "ellipsis" not in words
    (quotation,) = argued("Argument 1", argument, {}).quotations
    assert "negation (because of “no”): the source has “shall under no circumstances”, the quotation “…”" in (
        quotation.notes
    )


def test_long_edits_are_shortened_and_many_are_not_all_shown() -> None:
    edits = tuple(Edit("word", f"{n} {'long ' * 40}", "short") for n in range(9))

    words = shown(one("altered", text="It says so.", edits=edits))

    assert words.count("word: “") == 3
    assert "long " * (LONGEST_EDIT // 4) not in words


@pytest.mark.parametrize("verdict", get_args(Verdict))
def test_every_verdict_has_its_words_its_tone_and_its_line(verdict: str) -> None:
    assert VERDICT[verdict]
    assert TONES[verdict]
    assert "nitrogen" in shown(one(verdict, reason="too_short" if verdict == "too_short" else None))


def test_a_summary_of_verdicts_counts_short_quotations_among_those_that_are_not_verified() -> None:
    (line,) = verdicts({"verified": 1, "altered": 0, "tooShort": 2, "notFound": 0, "unchecked": 0, "struck": []})

    assert line.plain == "1/3 quotations verified"


def test_a_summary_of_verdicts_says_of_unchecked_quotations_that_there_was_no_document() -> None:
    (line,) = verdicts({"verified": 0, "altered": 0, "tooShort": 0, "notFound": 0, "unchecked": 2, "struck": []})

    assert line.plain == "2 quotations unchecked: no documents"
