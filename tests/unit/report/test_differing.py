"""What a decider changed is said in JSON, Markdown, HTML, PDF and on the terminal, beside both of its takes."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from rich.console import Console

from service.cli.display import page
from service.debate.facts import Facts
from service.debate.model import AdversarialOptions, Turn
from service.debate.replies import Judgement, Moderation, Reply, Ruling
from service.report import Result, build_result, html, labels, markdown, pdf
from service.report.result.differing import ASKED_TWICE, DIFFERS
from service.report.result.seat_types import DifferingReplies
from tests.fixtures.debates import a_start, drive, start_of
from tests.fixtures.quoting import CLEAN, INVENTED, WORDS, agreeing, options_of, quoting
from tests.unit.report.pdf_text import text_of
from tests.unit.report.played import lines

MARKED = f'{WORDS}" \u27e6not in any document\u27e7'
TAKES = {
    "adversarial": ("moderator", "synthesis"),
    "stances": ("judge", "verdict"),
    "convergence": ("judge", "justification"),
}


def turned(form: str, **options: Any) -> Result:
    """A debate whose decider invents in its first take and decides otherwise in its second, less sure."""
    seat, member = TAKES[form]
    given = options_of(form, **options)
    started = replace(a_start(), options=given) if isinstance(given, AdversarialOptions) else start_of(given)
    r = 0 if form == "convergence" else 1
    said = {f"{r}.{seat}.1": {member: INVENTED}, f"{r}.{seat}.2": {member: CLEAN}}

    def reply(turn: Turn, facts: Facts) -> Reply:
        first = quoting(said)(turn, facts)
        if not turn.id.endswith(".2"):
            return first
        match first:
            case Moderation():
                return replace(first, conclusion="rejected", confidence_level="MODERATE")
            case Judgement():
                return replace(first, winner="do not sign", confidence_level="MODERATE")
            case Ruling():
                return replace(first, final_answer="Wait.", confidence_level="MODERATE")
            case _:
                return first

    return build_result("d1", lines(drive(started, reply, findings=agreeing)))


def terminal(result: Result) -> str:
    out = io.StringIO()
    page.show(Console(file=out, width=400), result)
    return out.getvalue()


WHY, LESS_SURE = "asked again because of the marks in its words, gave", "another confidence (first HIGH; then MODERATE)"


@pytest.mark.parametrize(
    ("form", "who", "gave"),
    [
        ("adversarial", "The moderator of round 1", "another conclusion (first modified; then rejected)"),
        ("stances", "The judge of round 1", "another winner"),
        ("convergence", "The judge of round 0", "another final answer"),
    ],
)
def test_every_report_says_what_changed_and_shows_the_first_take_with_its_marks(form: str, who: str, gave: str) -> None:
    sentence = f"{who}, {WHY} {gave} and {LESS_SURE}."

    result = turned(form)

    (told,) = json.loads(msgspec.json.encode(result.differing))
    assert told["sentence"] == sentence
    assert "secondTakeDiffers" in result.flags
    for report in (markdown(result), terminal(result)):
        flat = " ".join(report.replace("\\", "").split())
        assert sentence in flat
        assert labels.FLAG["secondTakeDiffers"] in flat
        assert flat.count(WORDS) == flat.count(MARKED) > 0
    assert sentence in html(result)
    assert "".join(sentence.split()) in text_of(pdf(result))


def test_a_decider_that_changed_nothing_has_no_such_line() -> None:
    started = replace(a_start(), options=options_of("adversarial"))
    said = {"1.moderator.1": {"synthesis": INVENTED}, "1.moderator.2": {"synthesis": CLEAN}}

    result = build_result("d1", lines(drive(started, quoting(said), findings=agreeing)))

    assert result.differing == ()
    assert "Two replies" not in markdown(result) + terminal(result)


def test_the_example_of_the_page_on_calling_is_one_that_the_service_could_give(root: Path) -> None:
    part = (root / "docs/calling.md").read_text().partition("\n## Read what a decider changed\n")[2]
    example = part.partition("```json\n")[2].partition("```")[0]

    found = msgspec.json.decode(example, type=DifferingReplies)

    assert msgspec.json.decode(msgspec.json.encode(found)) == msgspec.json.decode(example)
    assert found.sentence == turned("adversarial").differing[0].sentence.replace("modified", "upheld").replace(
        " and another confidence (first HIGH; then MODERATE)", ""
    )


def test_every_code_of_a_difference_has_words() -> None:
    for form in TAKES:
        for pair in turned(form).differing:
            assert pair.why in ASKED_TWICE
            assert {one.member for one in pair.members} <= set(DIFFERS)
