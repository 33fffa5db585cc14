"""The offline provider: it answers a wire body by fixed rules, in the place of a vendor.

It sees only what a model would see. The same body always gives the same answer. Every framing and every moderation
names it as simulated, and its answers are no model's judgement.
"""

from __future__ import annotations

import asyncio
from hashlib import sha256

import msgspec

from service.debate.replies import Reply
from service.money import bytes_over_four
from service.prompts.request import Request, WireTexts, encode, text_of, wire_texts
from service.running.provider_port import Answer, CallFailed, Provider
from service.simulated.ballot_debater import ballot
from service.simulated.convergence_debater import position
from service.simulated.convergence_judge import ruling
from service.simulated.critic import critique
from service.simulated.faulty import FaultyModels, Speak
from service.simulated.framing import framing
from service.simulated.moderator import moderation
from service.simulated.panel_adjudicator import accuracy, adjudication
from service.simulated.panel_classifier import classification
from service.simulated.panel_debater import answer as objection_answers
from service.simulated.panel_debater import blind, deliberation
from service.simulated.panel_synthesizer import synthesis
from service.simulated.passage_choice import Desk, lay_out
from service.simulated.proposer import proposal
from service.simulated.rebuttal import rebuttal
from service.simulated.request_reader import read
from service.simulated.screener import screening
from service.simulated.stances_debater import argument
from service.simulated.stances_judge import judgement
from service.simulated.stances_synthesizer import projection
from service.simulated.strategies import MODELS

FINGERPRINT = "offline/1"
FAULTY_FINGERPRINT = "offline/1+faults"
"""Of a reply in a case that a model with known faults knows."""
LARGE_BODY = 200_000
"""Larger bodies, in bytes, are read in a thread of their own, so that other debates go on meanwhile."""

_SEATS: dict[str, Speak] = {
    "framing": framing,
    "proposer": proposal,
    "critic": critique,
    "rebuttal": rebuttal,
    "moderator": moderation,
    "stances.debater": argument,
    "stances.judge": judgement,
    "stances.synthesizer": projection,
    "ballot.debater": ballot,
    "panel.classifier": classification,
    "panel.blind": blind,
    "panel.deliberation": deliberation,
    "panel.answer": objection_answers,
    "panel.adjudicator": adjudication,
    "panel.accuracy": accuracy,
    "panel.synthesizer": synthesis,
    "convergence.debater": position,
    "convergence.judge": ruling,
    "screener": screening,
}
_decoder = msgspec.json.Decoder(Request)
_encoder = msgspec.json.Encoder()


class OfflineProvider(Provider):
    """Answers without a network, after ``latency_s`` seconds, for benchmarks and demonstrations.

    ``faulty`` are its models with known faults, if it has any.
    """

    def __init__(self, latency_s: float = 0.0, faulty: FaultyModels | None = None) -> None:
        self._latency_s = latency_s
        self._faulty = faulty

    def encode(self, request: Request) -> bytes:
        """The wire body: the request itself as JSON."""
        return encode(request)

    def decode_request(self, body: bytes) -> WireTexts:
        """The texts in a body."""
        return wire_texts(body)

    async def send(self, body: bytes) -> Answer:
        """The answer to a body; raises `CallFailed` for an unknown model, a seat it cannot play or no room to speak."""
        if self._latency_s:
            await asyncio.sleep(self._latency_s)
        if len(body) > LARGE_BODY:
            return await asyncio.to_thread(answer, body, self._faulty)
        return answer(body, self._faulty)


def answer(body: bytes, faulty: FaultyModels | None = None) -> Answer:
    """Read a body, reason, and count the tokens of both ways by the rule ``bytes/4``."""
    try:
        request = _decoder.decode(body)
    except msgspec.DecodeError as error:
        raise CallFailed("malformedReply", f"the body is no request: {error}", retry=False, billable=False) from error
    strategy = MODELS.get(request.model_name)
    if strategy is None:
        raise CallFailed(
            "unknownModel",
            f"expected one of {', '.join(MODELS)}, found {request.model_name!r}; name one of them in the catalogue",
            retry=False,
            billable=False,
        )
    speak, desk = _seat(request), lay_out(read(request), strategy)
    faults = faulty.in_case(strategy.name, desk.reading) if faulty else None
    said = _fitted(request, desk, faults.speaks(request.schema_id, speak) if faults else speak)
    text = (faults.sent(said, body) if faults else said).decode()
    return Answer(
        text=text,
        raw_usage={"input_tokens": bytes_over_four(text_of(request)), "output_tokens": bytes_over_four(text)},
        served_model=request.model_name,
        request_id=f"offline-{sha256(body).hexdigest()[:24]}",
        fingerprint=FAULTY_FINGERPRINT if faults else FINGERPRINT,
    )


def _seat(request: Request) -> Speak:
    """How the seat of a request speaks; raises `CallFailed` for one that no offline model plays."""
    speak = _SEATS.get(request.schema_id)
    if speak is None:
        raise CallFailed(
            "modelRefused",
            f"the offline models play {', '.join(_SEATS)}, found {request.schema_id!r} of seat {request.seat!r}",
            retry=False,
            billable=False,
        )
    return speak


def _fitted(request: Request, desk: Desk, speak: Speak) -> bytes:
    """The longest reply within the allowance: the lowest ranks are left out first, and no sentence is cut."""
    said = b""
    for limit in range(desk.strategy.most, 0, -1):
        said = _wire(speak(desk, limit))
        if bytes_over_four(said.decode()) <= request.max_output_tokens:
            return said
    raise CallFailed(
        "lengthLimit",
        f"the shortest reply of seat {request.seat!r} needs {bytes_over_four(said.decode())} tokens, "
        f"{request.max_output_tokens} are allowed; raise the seat's allowance",
        retry=False,
    )


def _wire(reply: Reply) -> bytes:
    """The reply as a model sends it: without the tag that names its seat."""
    body = msgspec.to_builtins(reply)
    body.pop("seat", None)
    return _encoder.encode(body)
