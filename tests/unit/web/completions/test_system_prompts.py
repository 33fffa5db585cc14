"""What the check of passages that speak to a model makes of usual system prompts, and of the words before them.

The figures stand in docs/completions.md and decision 0096. The texts were written for this test, to be usual ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from service.checks.injection import check_injection
from service.checks.injection.fields import FieldText
from service.debate.suspicions import CaseField
from service.web.completions.messages import BEFORE, read_messages
from service.web.completions.request import Message

TEXTS = json.loads(Path(__file__).with_name("system_prompts.json").read_text("utf-8"))
SHORT: Sequence[str] = TEXTS["short"]
LONG: Sequence[str] = TEXTS["long"]


def as_recorded(prompt: str) -> str:
    """The document that a system prompt becomes."""
    earlier = [Message("system", prompt), Message("user", "Can you help me?"), Message("assistant", "Yes.")]
    (document,) = read_messages([*earlier, Message("user", "Is it capped?")]).documents
    return document.text


def flagged(prompts: Sequence[str], written: Callable[[str], str], field: CaseField = "document") -> int:
    """How many of these are flagged as the text of a field."""
    titled = FieldText("title", "D1", BEFORE)
    return sum(bool(check_injection([titled, FieldText(field, "D1", written(one))]).suspicions) for one in prompts)


def test_few_usual_system_prompts_are_flagged_and_a_mark_of_the_caller_would_spare_one() -> None:
    assert (len(SHORT), len(LONG)) == (30, 12)
    assert (flagged(SHORT, as_recorded), flagged(LONG, as_recorded)) == (4, 2)
    assert (flagged(SHORT, as_recorded, "instructions"), flagged(LONG, as_recorded, "instructions")) == (3, 2)


def test_the_words_before_a_message_are_no_order_and_those_of_a_transcript_would_be() -> None:
    assert flagged(SHORT, str) == flagged(SHORT, as_recorded)
    assert flagged(SHORT, lambda prompt: f"system: {prompt}\n\nuser: Can you help me?\n\nassistant: Yes.") == 30
    assert flagged(["", "The contract has two parts."], as_recorded) == 0
