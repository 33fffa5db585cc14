"""Every request, rendered again from the bundle's prompts, documents and replies, and compared by its salted hash.

The pinned layout of the debate renders each request. A build without that layout reports NOT CHECKABLE. A vendor
receives the request in its own wire format. The hash of those bytes is recorded; it is recomputed for simulated models
and stated for all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from service import money
from service.debate.entries import DebateStarted, TurnAsked
from service.debate.facts import Facts
from service.debate.kernel import decide
from service.debate.model import Ask, Case, SeatPlan, Turn, seat_of
from service.prompts.layouts import LAYOUTS, lay_out
from service.prompts.request import Request, encode, texts_of
from service.verify.opened_bundle import OpenedBundle
from service.verify.policy import SIMULATED
from service.verify.prompts import NO_DEBATE, Texts, check_pins
from service.verify.steps import Differs, NotCheckable, Tools, at, expect
from service.verify.versions import sealed


class Rendering:
    """Renders the requests of one debate; raises `NotCheckable` if a part of them is absent."""

    def __init__(self, evidence: OpenedBundle, started: DebateStarted, tools: Tools) -> None:
        self._texts: Texts = check_pins(evidence, started)
        sealed(evidence.debate.decided, "layout", LAYOUTS)
        self._case: Case = evidence.debate.case
        self._sources: Mapping[str, str] = evidence.sources
        self._tools = tools
        self._decided = evidence.debate.decided

    def render(self, facts: Facts, turn: Turn, plan: SeatPlan) -> Request:
        """A turn's request to a model, as these facts give it."""
        return lay_out(self._texts, self._case, self._sources, facts, turn, plan)

    def tokens(self, request: Request, plan: SeatPlan) -> int:
        """The tokens of a request under the tokenizer of a model, counted by the sealed version."""
        if not self._tools.ready(plan.tokenizer):
            raise NotCheckable(f"the tokenizer {plan.tokenizer[:40]!r} is not shipped with this build")
        version = sealed(self._decided, "usage", money.USAGES, judged=False)
        return money.USAGES[version].request_tokens(texts_of(request), plan.tokenizer)


def check_requests(evidence: OpenedBundle, tools: Tools) -> str:
    """Check each recorded request against the one rendered at that place."""
    started = evidence.debate.started
    if started is None:
        return f"{NO_DEBATE}, so no model was called"
    rendering, count, uncounted = Rendering(evidence, started, tools), 0, set[str]()
    for n, entry, facts in evidence.debate.walk():
        if isinstance(entry, TurnAsked):
            with at(file=f"records/{n:04d}.payload.json", record=n):
                count += 1
                uncounted |= _asked(rendering, started, facts, entry)
    if uncounted:
        raise NotCheckable(
            f"{count} requests have their hash, but their tokens are not counted: {'; '.join(sorted(uncounted))}"
        )
    return f"{count} requests rendered again, each with its salted hash and its tokens"


def _asked(rendering: Rendering, started: DebateStarted, facts: Facts, entry: TurnAsked) -> set[str]:
    """Check one attempt; returns why this build cannot count its tokens, or nothing."""
    plan, move = plan_of(started, entry), decide(facts)
    turns = {turn.id: turn for turn in move.turns} if isinstance(move, Ask) else {}
    if entry.turn not in turns:
        raise Differs("the turns that are due", ", ".join(turns) or "none", entry.turn)
    request = rendering.render(facts, turns[entry.turn], plan)
    body, salt = encode(request), _salt(entry.request_salt)
    digest = sha256(salt + body).hexdigest()
    expect(f"the salted hash of the request of {entry.turn}", digest, entry.request_hash)
    if plan.wire in SIMULATED:
        expect(f"the salted hash of what went out for {entry.turn}", digest, entry.wire_hash)
    try:
        tokens = rendering.tokens(request, plan)
    except NotCheckable as gap:
        return {gap.reason}
    expect(f"the tokens of the request of {entry.turn}", tokens, entry.input_tokens)
    return set()


def plan_of(started: DebateStarted, entry: TurnAsked) -> SeatPlan:
    """The plan of an attempt; raises `Differs` if its model does not sit in that seat."""
    plan = started.seat(seat_of(entry.turn)).of(entry.model)
    expect(f"the model at {entry.turn}", plan.model, entry.model)
    return plan


def _salt(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise Differs("the salt of a request", "hexadecimal digits", "another text") from None
