"""Whole debates over the shipped samples, through runner, pins and engines, whose decider invents a quotation.

The deciders' first takes are scripted; every other reply is that of the offline models.
"""

import json
from functools import cache
from typing import Any

import msgspec
import pytest

from service import samples
from service.debate.entries import BudgetRefused, DebateConcluded, Entry, TurnAsked, TurnSpoke
from service.debate.model import Outcome
from service.debate.options import masked_of
from service.debate.replies import closing
from service.debate.turns import seat_of, take_of
from service.intake.quote import quote
from service.intake.request import CaseRequest
from service.simulated.scripted import ScriptedProvider, parse
from tests.fixtures.quoting import INVENTED
from tests.unit.intake.test_quote import checked, debated

FIELDS = {"adversarial": "synthesis", "stances": "reasoning", "panel": "answer", "convergence": "justification"}
each_format = pytest.mark.parametrize("form", FIELDS)


def request(form: str, **changes: Any) -> CaseRequest:
    """The sample contract in a format."""
    case = {**samples.load("contract", None if form == "adversarial" else form).case, **changes}
    return msgspec.json.decode(msgspec.json.encode(case), type=CaseRequest)


def run(form: str, script: dict[str, Any], **changes: Any) -> list[Entry]:
    """A debate of the sample; turns that the script leaves out are answered offline."""
    prepared, deployment = checked(request(form, **changes))
    turns = {turn: [{"reply": reply}] for turn, reply in script.items()}
    told = json.dumps({"turns": turns, "otherwise": "offline"}).encode()
    return debated(prepared, deployment, ScriptedProvider(parse(told)))[0]


@cache
def honest(form: str) -> list[Entry]:
    return run(form, {})


def outcome(entries: list[Entry]) -> Outcome:
    last = entries[-1]
    assert isinstance(last, DebateConcluded)
    return last.outcome


def inventing(form: str) -> tuple[str, dict[str, Any]]:
    """The turn of the decider in the honest run, and its reply with the quotation of the measured departure."""
    said = {e.turn: e.reply for e in honest(form) if isinstance(e, TurnSpoke)}
    turn = next(turn for turn in reversed(list(said)) if closing(said[turn]) and take_of(turn) == 1)
    reply = msgspec.to_builtins(said[turn])
    del reply["seat"]
    return turn, {**reply, FIELDS[form]: INVENTED, "confidenceLevel": "HIGH"}


@each_format
def test_an_honest_run_asks_no_decider_again_and_marks_nothing(form: str) -> None:
    asked = [entry.turn for entry in honest(form) if isinstance(entry, TurnAsked)]

    assert all(take_of(turn) == 1 or seat_of(turn) == "critic" for turn in asked)
    assert not {"inventedQuotation", "unfoundQuotation"} & {*outcome(honest(form)).flags}


@each_format
def test_a_decider_that_mends_its_words_ends_as_the_honest_run_does(form: str) -> None:
    turn, invented = inventing(form)

    entries = run(form, {turn: invented})

    assert [e.turn for e in entries if isinstance(e, TurnAsked) and e.turn.endswith(".2")] == [f"{turn[:-1]}2"]
    end, plain = outcome(entries), outcome(honest(form))
    assert (end.flags, end.caps, end.confidence_level) == (plain.flags, plain.caps, plain.confidence_level)
    assert end.final_turn == f"{turn[:-1]}2"


@each_format
def test_a_decider_that_repeats_the_quotation_ends_low_for_a_person(form: str) -> None:
    turn, invented = inventing(form)

    entries = run(form, {turn: invented, f"{turn[:-1]}2": invented})

    end = outcome(entries)
    assert (end.status, end.confidence_level) == ("completed", "LOW")
    assert "inventedQuotation" in end.flags
    assert "inventedQuotation" in end.human_review.reasons


@each_format
def test_the_least_ceiling_of_a_quote_pays_for_the_second_asking(form: str) -> None:
    """Whatever is left out for want of money, what closes the debate is asked, and asked once more."""
    prepared, deployment = checked(request(form, costCeilingUSD="9"))
    needed = quote(prepared, deployment).needed
    _, invented = inventing(form)
    tight = msgspec.structs.replace(prepared, ceiling=needed)
    decider = {"stances": "judge", "panel": "synthesizer", "convergence": "judge"}.get(form)
    script = {decider: [{"reply": invented}]} if decider else {}  # a moderator's labels differ from round to round
    told = json.dumps({"turns": script, "otherwise": "offline"}).encode()

    entries = debated(tight, deployment, ScriptedProvider(parse(told)))[0]

    assert outcome(entries).final_turn
    refused = {turn for e in entries if isinstance(e, BudgetRefused) for turn in e.turns}
    assert not any(seat_of(turn) in ("moderator", "judge", "synthesizer") for turn in refused)
    if script:
        assert any(take_of(e.turn) == 2 for e in entries if isinstance(e, TurnSpoke))


def test_a_quote_counts_every_decider_twice() -> None:
    for form, seat, times in (("adversarial", "moderator", 2), ("stances", "judge", 2), ("panel", "synthesizer", 2)):
        prepared, deployment = checked(request(form, options={"format": form, **_options(form), "maxRounds": 1}))
        found = {one.plan.seat: one.turns for one in quote(prepared, deployment).seats}
        assert found[seat] == times * (1 + _asked_twice(prepared)) + masked_of(prepared.options)


def _options(form: str) -> dict[str, Any]:
    options: dict[str, Any] = samples.load("contract", None if form == "adversarial" else form).case.get("options", {})
    return options


def _asked_twice(prepared: Any) -> bool:
    return bool(getattr(prepared.options, "swapped", False))
