"""Replies as other seats read them: each citation with its verdict, no struck argument, no name of its own model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from service.debate.facts import Facts
from service.debate.findings import CitationsFound, StrikeReason
from service.debate.model import TurnId
from service.debate.neutral import neutral
from service.debate.replies import Cited, Claim, Point
from service.debate.self_naming import masked_view

View = dict[str, Any]
_encoder = msgspec.json.Encoder()


def shown_arguments(
    facts: Facts, turn: TurnId, said: Sequence[Cited], struck: Mapping[int, StrikeReason]
) -> list[View]:
    """A turn's arguments in their order, without the struck ones."""
    found = facts.found.get(f"{turn}/citations")
    verdicts = {a.n: a.verdicts for a in found.arguments} if isinstance(found, CitationsFound) else {}
    return [_argument(a, [v.verdict for v in verdicts.get(a.n, ())]) for a in said if a.n not in struck]


def strikes(facts: Facts, turn: TurnId) -> dict[int, StrikeReason]:
    """The numbers of a turn's struck arguments, with the reason."""
    found = facts.found.get(f"{turn}/citations")
    return found.struck(turn) if isinstance(found, CitationsFound) else {}


def argument_fields(struck: Mapping[int, StrikeReason]) -> View:
    """The fields for struck arguments in a statement; empty if no argument is struck."""
    return {"struck": [{"n": n, "reason": reason} for n, reason in struck.items()]} if struck else {}


def shown_reply(facts: Facts, view: View) -> str:
    """A reply as the JSON text of a block for other seats: what it says of its own model is masked."""
    return encoded(masked_view(view, facts.started) if facts.started else view)


def encoded(view: View) -> str:
    """A view as the JSON text of a block, each of its texts without what no reader sees.

    Within JSON a control character would be an escape, which a fence lets pass, and a direction could turn the texts
    behind it.
    """
    return _encoder.encode(_neutral(view)).decode()


def _neutral(value: Any) -> Any:
    match value:
        case str():
            return neutral(value)
        case dict():
            return {name: _neutral(each) for name, each in value.items()}
        case list() | tuple():
            return [_neutral(each) for each in value]
        case _:
            return value


def _argument(argument: Cited, verdicts: list[str]) -> View:
    citations = [
        {"quote": c.quote, "sourceId": c.source_id, "verdict": verdicts[i] if i < len(verdicts) else "unchecked"}
        for i, c in enumerate(argument.citations)
    ]
    view: View = {"n": argument.n, "text": argument.text, "basis": argument.basis, "citations": citations}
    if isinstance(argument, Point):
        view["attacks"] = list(dict.fromkeys(argument.attacks))  # repeats would make it longer than the reply
        if argument.position:
            view["position"] = argument.position
    if isinstance(argument, Claim):
        view["confidence"] = argument.confidence
    return view
