"""No seat of any format is shown what a reply says of its own model; names of the case and of citations stay."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from service.debate.entries import TurnSpoke
from service.debate.facts import Facts
from service.debate.kernel import FORMATS, decide
from service.debate.model import Ask, Turn
from service.debate.replies import Critique, Moderation, Reply
from service.debate.self_naming import MASK
from service.prompts.fence import Block, blocks
from service.prompts.layouts import LAYOUTS, Placeholders
from service.report import build_result
from tests.fixtures import formats
from tests.fixtures.debates import a_case, a_start, canned, drive, start_of
from tests.fixtures.self_naming import QUOTE, SAYS, naming
from tests.unit.report.played import lines

QUESTION = "Should we move from OpenAI to Mistral?"
CASE = a_case(question=QUESTION)
DOCUMENT = 'OpenAI may change prices. The log reads "I am Claude, made by Anthropic".'
SOURCES = {document.id: DOCUMENT for document in CASE.documents}
SHOWN = f" As {MASK}, I say: move from OpenAI to Mistral. I was made by {MASK}.\n\n-- {MASK}"


KINDS = {
    "adversarial/1": {"proposition", "statement", "evaluation"},
    "stances/1": {"statement", "own-statement", "judgement"},
    "ballot/1": {"statement", "own-statement"},
    "panel/1": {"statement", "own-statement", "synthesis"},
    "convergence/1": {"statement", "own-statement"},
}
"""The kinds of blocks that hold what a seat said."""


def start(form: str) -> Any:
    return a_start(2) if form == "adversarial/1" else start_of(formats.plain(form))


def again(turn: Turn, facts: Facts) -> Reply:
    """`naming`, but that a moderator asks for a second round."""
    reply = naming(turn, facts)
    return replace(reply, recommend_another_round=turn.round == 1) if isinstance(reply, Moderation) else reply


def requests(form: str) -> list[tuple[Turn, list[Block]]]:
    """Each turn that was asked with the blocks of its request."""
    facts, found = Facts(), list[tuple[Turn, list[Block]]]()
    entries, done = drive(start(form), again, case=CASE), set[str]()
    for entry in entries:
        facts.add(entry)
        move = decide(facts) if facts.started else None
        for turn in move.turns if isinstance(move, Ask) else ():
            if turn.id not in done:
                done.add(turn.id)
                request = LAYOUTS["layout/1"](Placeholders(), CASE, SOURCES, facts, turn)
                found.append((turn, [block for message in request.messages for block in blocks(message.content)]))
    return found


def own_words(value: Any) -> str:
    """All texts of a shown reply but its citations."""
    if isinstance(value, dict):
        return "\n".join(own_words(inner) for name, inner in value.items() if name != "citations")
    return "\n".join(map(own_words, value)) if isinstance(value, list | tuple) else str(value)


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_no_seat_is_shown_what_a_reply_says_of_its_own_model(form: str) -> None:
    kinds = set[str]()
    for turn, shown in requests(form):
        for block in shown:
            if block.kind in ("question", "document"):
                assert block.text in (QUESTION, DOCUMENT)
            elif block.text.startswith("{") and block.kind not in ("votes", "output-schema", "retry", "end-of-debate"):
                words = own_words(msgspec.json.decode(block.text))
                assert "Claude" not in words, (turn.id, block.kind)
                assert "Anthropic" not in words, (turn.id, block.kind)
                assert SHOWN in words, (turn.id, block.kind)
                kinds.add(block.kind)
    assert kinds >= KINDS[form]


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_a_question_about_vendors_and_words_of_a_citation_reach_every_seat_unchanged(form: str) -> None:
    cited = 0
    for _, shown in requests(form):
        assert [block.text for block in shown if block.kind == "question"] == [QUESTION]
        cited += sum(QUOTE.quote in block.text for block in shown if block.kind.endswith("statement"))
        for block in shown:
            assert "move from OpenAI to Mistral" in block.text or not block.kind.endswith("statement")
    assert cited > 0


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_the_record_keeps_the_reply_and_a_notice_tells_what_was_masked(form: str) -> None:
    entries = drive(start(form), naming, case=CASE)

    result = build_result("d1", lines(entries), last_record="ab" * 32)

    spoke = [e.turn for e in entries if isinstance(e, TurnSpoke) and SAYS in own_words(msgspec.to_builtins(e.reply))]
    told = [notice for notice in result.notices if notice.notice == "selfNamed"]
    assert [turn for notice in told for turn in notice.turns] == spoke
    assert all('"Claude" in ' in notice.detail and '"Anthropic" in ' in notice.detail for notice in told)
    assert all(notice.reason == "masked" for notice in told)


def test_a_guess_about_another_seat_is_shown_and_told() -> None:
    def guessing(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        return replace(reply, thesis="Statement 1 sounds like Claude.") if isinstance(reply, Critique) else reply

    entries = drive(a_start(), guessing)
    result = build_result("d1", lines(entries), last_record="ab" * 32)

    (told,) = [notice for notice in result.notices if notice.notice in ("selfNamed", "modelGuessed")]
    assert (told.notice, told.turns, told.reason) == ("modelGuessed", ("1.critic.1",), "shown")
    assert '"Claude" in thesis' in told.detail


def test_a_reply_that_names_no_model_has_no_notice() -> None:
    notices = build_result("d1", lines(drive(a_start())), last_record="ab" * 32).notices

    assert {notice.notice for notice in notices} & {"selfNamed", "modelGuessed"} == set()
