"""Requests repeat earlier ones from their beginning, so that vendors' prefix caches can serve them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from bench.prefixes import GOAL, STARTS, Repeated, cost, played, repeated
from service.debate.model import Turn
from service.money import tokenizers
from service.prompts.request import Request
from tests.fixtures.running import TEXT

DOCUMENT = "\n".join(f"Part {n}. {TEXT}" for n in range(40))[:10_000]


@cache
def requests(name: str) -> Sequence[tuple[Turn, Request]]:
    return played(STARTS[name](), DOCUMENT)


def of_debate(name: str) -> Repeated:
    tokenizers.load(["o200k_base"])
    return repeated([request for _, request in requests(name)])


@pytest.mark.parametrize("name", STARTS)
def test_every_request_of_a_debate_begins_with_the_same_system_prompt_and_case(name: str) -> None:
    beginnings = {request.messages[:2] for _, request in requests(name)}

    assert len(beginnings) == 1
    assert all([m.role for m in request.messages] == ["house", "data", "data", "seat"] for _, request in requests(name))


@pytest.mark.parametrize("name", [name for name in STARTS if not name.startswith(("ballot", "panel"))])
def test_a_seat_that_is_asked_again_is_shown_what_it_was_shown_and_then_what_is_new(name: str) -> None:
    last, again = dict[str, str](), 0
    for turn, request in requests(name):
        shown = request.messages[2].content
        if turn.seat in last:
            assert shown.startswith(last[turn.seat]), turn.id
            again += 1
        last[turn.seat] = shown

    assert again
    assert of_debate(name).repeated == of_debate(name).before


def test_a_panel_is_shown_the_latest_answers_alone_so_its_prefix_ends_with_the_case() -> None:
    of = of_debate("panel, 3 debaters, 3 rounds")

    assert of.again
    assert GOAL - 0.1 < of.repeated / of.before < 1


@pytest.mark.parametrize("name", [name for name in STARTS if name.startswith(("stances", "panel", "convergence"))])
def test_a_vendor_that_keeps_what_is_marked_is_paid_less_than_for_every_case_or_for_none(name: str) -> None:
    of, started = of_debate(name), STARTS[name]()
    whole = [request for _, request in requests(name)]

    assert cost(whole, started, "usual") < cost(whole, started, "every") < of.all
    assert cost(whole[:1], started, "usual") > repeated(whole[:1]).all, "what is written and not read costs more"
