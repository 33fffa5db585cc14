"""The screener is shown every text that reaches a model, whole and in the first request, and nothing else of a case."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import replace

from service.checks.given import INJECTIONS
from service.debate.facts import Facts
from service.debate.kernel import decide
from service.debate.model import Ask, Document
from service.debate.options import (
    AdversarialOptions,
    BallotOptions,
    ConvergenceOptions,
    Debater,
    Options,
    PanelOptions,
    Position,
    StancesOptions,
)
from service.debate.replies.screening import ShownField
from service.prompts.fence import Block, blocks
from service.prompts.manifest import Prompts
from service.prompts.render import render
from tests.fixtures.debates import a_case, opening, start_of
from tests.fixtures.formats import THRESHOLDS

PROMPTS = Prompts.load()
WHO = (Debater("Anna", "the cap holds", "a lawyer"), Debater("Ben", "the cap leaks"))
TEXTS = {"D1": "The cap is the fees paid.", "D2": "A later letter lifts the cap."}
OPTIONS: tuple[Options, ...] = (
    AdversarialOptions(
        2, 6, 6, False, (Position("sign", "Sign it."), Position("wait", "Wait.")), {"critic": "An auditor."}
    ),
    StancesOptions(
        WHO, 1, False, output_schema={"type": "object", "title": "A form to fill"}, instructions="Weigh the fines."
    ),
    BallotOptions(WHO, 1, ("approve", "escalate"), 2, False, "Weigh the fines."),
    PanelOptions(2, 1, False, "factual", "rules", THRESHOLDS, instructions="Be bold."),
    ConvergenceOptions(WHO, 1, False, debater_instructions="Weigh.", judge_instructions="Be brief."),
)


def shown(options: Options) -> tuple[list[Block], list[tuple[str, str, str]]]:
    """The blocks of the screener's request, and the fields of the case that the check reads."""
    case = replace(a_case(1, 2), single_agent_answer="It has no floor.", use_case="A use that no model reads.")
    assert isinstance(case.documents[0], Document)
    start = start_of(replace(options, screened=True))
    facts = Facts.of(opening(start, case))
    move = decide(facts)
    assert isinstance(move, Ask)
    request = render(PROMPTS, case, TEXTS, facts, move.turns[0])
    found = [block for message in request.messages if message.role == "data" for block in blocks(message.content)]
    read = INJECTIONS["injection/1"](case, facts, ())
    return found, [tuple(text) for text in read.over(TEXTS)]  # type: ignore[misc]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: str(o.__struct_config__.tag))
def test_each_text_that_reaches_a_model_is_shown_whole_with_its_name(options: Options) -> None:
    found, fields = shown(options)
    whole = "\n".join(f"{block.attributes} {block.text}" for block in found)

    for field, name, text in fields:
        reaches = field in get_args(ShownField)
        assert (text in whole) == reaches, (field, name)
        if reaches and name and field not in ("outputSchema", "vote"):
            assert name in whole
    assert {field for field, _, _ in fields} - {*get_args(ShownField)} <= {"metadata", "context"}
    assert [block.attributes["id"] for block in found if block.kind == "document"] == ["D1", "D2"]
