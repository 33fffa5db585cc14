"""A charge can be computed again from what its record holds, whoever made the call."""

from __future__ import annotations

from msgspec.structs import replace

from service import budget
from service.budget import Usage
from service.calling import Attempt, Calling
from service.debate.entries import TurnAsked
from service.debate.facts import Facts
from service.debate.model import Turn
from service.ports import Answer, Provider
from service.prompts import Prompts
from service.prompts.request import Request, Spoken
from tests.debates import a_plan


class Told(Provider):
    """Answers with a usage that it reads in its own way."""

    def __init__(self, usage: Usage | None, raw: dict[str, object] | None) -> None:
        self._answer = Answer("not JSON", usage, raw)

    def encode(self, request: Request) -> bytes:
        raise NotImplementedError

    def spoken(self, body: bytes) -> Spoken:
        raise NotImplementedError

    async def send(self, body: bytes) -> Answer:
        return self._answer


async def test_usage_is_read_as_the_record_says_and_not_as_the_provider_s_setting_says_by_now() -> None:
    """A policy that changes while a debate runs would leave charges that nobody can explain."""
    plan = replace(a_plan("critic", "oak"), wire="openai-compatible", reasoning="inside")
    raw = {"prompt_tokens": 1_000, "completion_tokens": 400, "completion_tokens_details": {"reasoning_tokens": 100}}
    otherwise = budget.normalise("openai-compatible", raw, "outside")
    asked = TurnAsked("1.critic.1", 1, plan.model, "", "", 1_000, 5_000)
    calling = Calling(Prompts.load(), {plan.provider: Told(otherwise, raw)}, {})

    made = await calling.make(Attempt(asked, Turn("1.critic.1", "critic"), plan, b""), Facts(), 5.0)

    again = budget.charge(budget.normalise(plan.wire, raw, plan.reasoning), asked.held, plan.price)
    assert otherwise != budget.normalise(plan.wire, raw, plan.reasoning)
    assert made.entry.charge == again
