"""What a reply takes in a later request is bounded by what it took when it was said: `budget.shown_tokens`."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from service.debate.model import Turn, party
from service.debate.replies import Critique, Moderation
from service.debate.turns import TurnId
from service.money import TOKENIZERS, bytes_over_four, count_tokens, shown_tokens, tokenizers
from service.prompts.fence import fence
from service.prompts.render import turn_blocks
from tests.unit.simulated.debates import play, sample

FILES = [
    ("architecture", "case.json"),
    ("architecture", "case-positions.json"),
    ("compliance", "case.json"),
    ("contract", "case.json"),
    ("contract", "case-personas.json"),
    ("investment", "case-evidence.json"),
    ("security", "case.json"),
]


@pytest.mark.parametrize(("name", "file"), FILES)
@pytest.mark.parametrize("seat", ["moderator", "proposer"])
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_no_reply_takes_more_in_a_later_request_than_its_bound(name: str, file: str, seat: str, tokenizer: str) -> None:
    tokenizers.load([tokenizer])
    played = play(**sample(name, file))
    case, started = played.facts.case, played.facts.started
    assert case is not None
    assert started is not None
    sees = [t for t, reply in sorted(played.facts.said.items()) if t.startswith("1.") and party(t) != "moderator"]
    if seat == "proposer":
        sees += [t for t, reply in played.facts.said.items() if isinstance(reply, Moderation)]

    blocks = list(turn_blocks(case, started, played.facts, Turn(TurnId(f"3.{seat}.1"), seat, tuple(sees))))

    shown = blocks[-len(sees) :]
    for turn, block in zip(sees, shown, strict=True):
        said = count_tokens(msgspec.json.encode(played.facts.said[turn]).decode(), tokenizer)
        assert count_tokens(fence("0" * 16, block), tokenizer) <= shown_tokens(said), turn


def test_an_argument_that_a_point_names_again_and_again_is_shown_once() -> None:
    played = play(**sample("contract"))
    case, started, facts = played.facts.case, played.facts.started, played.facts
    assert case is not None
    assert started is not None
    critique = facts.said[TurnId("1.critic.1")]
    assert isinstance(critique, Critique)
    points = tuple(replace(point, attacks=(1,) * 90) for point in critique.points)
    facts.said[TurnId("1.critic.1")] = replace(critique, points=points)

    *_, block = turn_blocks(
        case, started, facts, Turn(TurnId("1.moderator.1"), "moderator", (TurnId("1.proposer.1"), TurnId("1.critic.1")))
    )

    said = bytes_over_four(msgspec.json.encode(facts.said[TurnId("1.critic.1")]).decode())
    assert bytes_over_four(fence("0" * 16, block)) <= shown_tokens(said)
