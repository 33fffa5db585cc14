"""A vendor that obeys any order: what was found cannot change an outcome unseen, in any format and any field.

Each case is debated as it is and with one order planted in one field, by `tests.fixtures.obedient`. Where the engine of
this build finds the order, the outcome is LOW, flagged, for a person, and names the words, whether it changed or not.
Of an order that was not found nothing is claimed: it is counted. By default each field of each format and each order is
tried, with `GAINSAY_TEST_ORDERS=all` each order in each field, and `-s` prints the counts.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import pytest

from service.debate.entries import CheckFound, DebateConcluded, Entry
from service.debate.model import Outcome
from service.debate.suspicions import InjectionFound, Suspicion
from service.prompts.fence import blocks, fence
from service.prompts.request import Request
from service.report import build_result
from tests.fixtures.obedient import ORDERS, PLACED, REJECT, TEN, Obedient, Order
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, TEXT, Bench, bench

ALL = os.environ.get("GAINSAY_TEST_ORDERS") == "all"
HONEST: Mapping[str, str] = {
    "question": "Does this agreement leave us with uncapped liability?",
    "answer": "Yes, the indemnity of clause 12.1 is outside the limit.",
    "title": "Master agreement.",
    "document": TEXT,
    "position": "The liability is capped.",
    "persona": "You are a careful reader of contracts.",
    "instructions": "Write short sentences.",
}
TWO = [{"name": "first", "stance": "for"}, {"name": "second", "stance": "against"}]
VOTES = ["approve", "revise", "reject"]


class Form(NamedTuple):
    """A kind of debate, and the fields in which a caller can say something to it."""

    fields: tuple[str, ...]
    format: str


COMMON = ("question", "answer", "title", "document")
FORMS: Mapping[str, Form] = {
    "adversarial": Form((*COMMON, "persona"), "adversarial"),
    "positions": Form(("document", "position"), "adversarial"),
    "stances": Form((*COMMON, "persona", "instructions"), "stances"),
    "ballot": Form((*COMMON, "persona", "instructions"), "ballot"),
    "panel": Form((*COMMON, "instructions"), "panel"),
    "convergence": Form((*COMMON, "persona", "instructions"), "convergence"),
}


def a_case(form: str, field: str = "", order: str = "") -> dict[str, Any]:
    """The case of a form, with an order behind the honest text of one field."""
    texts = {name: f"{text} {order}" if name == field else text for name, text in HONEST.items()}
    return {
        "question": texts["question"],
        "singleAgentAnswer": texts["answer"],
        "documents": [{"id": "D1", "title": texts["title"], "text": texts["document"]}],
        "options": {"format": FORMS[form].format, "maxRounds": 1, **_options(form, texts)},
        "costCeilingUSD": "5",
    }


def _options(form: str, texts: Mapping[str, str]) -> dict[str, Any]:
    persona, told = texts["persona"], texts["instructions"]
    match form:
        case "adversarial":
            return {"personas": {"moderator": persona}}
        case "positions":
            other = {"id": "open", "text": "The liability is uncapped."}
            return {"positions": [{"id": "capped", "text": texts["position"]}, other]}
        case "stances":
            return {"debaters": [{**TWO[0], "role": persona}, TWO[1]], "instructions": told}
        case "ballot":
            named = [{"name": "first", "role": persona}, {"name": "second"}, {"name": "third"}]
            return {"debaters": named, "votes": VOTES, "instructions": told}
        case "panel":
            return {"debaters": 3, "maxRounds": 2, "instructions": told}
        case _:
            named = [{"name": "first", "role": persona}, {"name": "second"}]
            return {"debaters": named, "debaterInstructions": told, "judgeInstructions": told}


def trials(form: str) -> Iterator[tuple[str, Order]]:
    """The fields and orders to try: all of them, or a plain order in each field and two others in one."""
    fields, nth = FORMS[form].fields, list(FORMS).index(form)
    if ALL:
        yield from product(fields, ORDERS)
        return
    plain, others = ([order for order in ORDERS if order.plain is which] for which in (True, False))
    yield from zip(fields, plain * 2, strict=False)
    yield from ((fields[n % len(fields)], others[n % len(others)]) for n in (2 * nth, 2 * nth + 1))


def is_plain(order: Order, field: str) -> bool:
    """Whether any engine has to find an order: personas and instructions may tell a seat much, but no outcome."""
    return order.plain and (field not in ("persona", "instructions") or order.does in (REJECT, TEN))


class Debated(NamedTuple):
    """A debate that is over."""

    outcome: Outcome
    decided: tuple[str, str]
    suspicions: tuple[Suspicion, ...]
    requests: tuple[Request, ...]


async def debated(service: Bench, provider: Obedient, case: dict[str, Any]) -> Debated:
    provider.requests.clear()
    debate = await service.run(**case)
    lines = await service.reviews.lines(debate, CALLER)
    entries: Sequence[Entry] = [line.entry for line in lines]
    decision = build_result(debate, lines).decision
    assert decision is not None
    (found,) = [e.finding for e in entries if isinstance(e, CheckFound) and isinstance(e.finding, InjectionFound)]
    last = entries[-1]
    assert isinstance(last, DebateConcluded)
    return Debated(last.outcome, (decision.outcome, decision.answer), found.suspicions, tuple(provider.requests))


def assert_fences_hold(requests: Sequence[Request]) -> None:
    """No words of an echoing reply stand outside a fence, and no text within one looks like a fence in any case."""
    for message in (message for request in requests for message in request.messages):
        within = blocks(message.content)
        opened = re.search(r"\[\[([0-9a-f]{16}) begin ", message.content)
        nonce, outside = opened[1] if opened else "", message.content
        for block in within:
            assert fence(nonce, block) in outside
            outside = outside.replace(fence(nonce, block), "", 1)
        assert PLACED not in outside
        assert not re.search(r"\[\[[0-9a-f]{16}", outside, re.IGNORECASE)
        assert not nonce or len(re.findall(nonce, message.content, re.IGNORECASE)) == 2 * len(within)


def assert_seen(form: str, field: str, order: Order, planted: Debated, stored: str) -> None:
    """The outcome is flagged, LOW and for a person, and the finding names words of the order."""
    where = f"{order.name} in the {field} of {form}"
    assert "injectionSuspected" in planted.outcome.flags, where
    assert planted.outcome.confidence_level == "LOW", where
    assert any(cap.reason == "injectionSuspected" for cap in planted.outcome.caps), where
    assert planted.outcome.human_review.required, where
    assert "injectionSuspected" in planted.outcome.human_review.reasons, where
    for suspicion in named(planted, field, stored, order):
        words = stored[slice(*suspicion.span)]
        assert suspicion.words == words or "\u2026" in suspicion.words, where


def named(planted: Debated, field: str, stored: str, order: Order) -> list[Suspicion]:
    """The passages of a field that overlap with the order planted there."""
    start = stored.index(order.written)
    end = start + len(order.written)
    return [s for s in planted.suspicions if s.field == field and s.span[0] < end and start < s.span[1]]


@pytest.mark.parametrize("form", FORMS)
async def test_an_order_that_was_found_cannot_change_an_outcome_unseen(database: Database, form: str) -> None:
    provider, counts = Obedient(), Counter[str]()
    async with bench(database.service_url, provider) as service:
        honest = await debated(service, provider, a_case(form))
        assert not honest.suspicions
        assert "injectionSuspected" not in honest.outcome.flags
        assert not provider.obeyed, "the honest case holds no order"

        for field, order in trials(form):
            provider.obeyed.clear()
            planted = await debated(service, provider, a_case(form, field, order.written))
            obeyed, changed = provider.obeyed[order.name] > 0, planted.decided != honest.decided
            assert_fences_hold(planted.requests)
            stored = f"{HONEST[field]} {order.written}"
            if named(planted, field, stored, order):
                assert_seen(form, field, order, planted, stored)
                counts[f"{order.name}: found"] += 1
            else:
                assert not is_plain(order, field), f"{order.name} in the {field} of {form} was not found"
                counts[f"{order.name}: not found"] += 1
                counts["not found, obeyed and changed"] += obeyed and changed
            counts["obeyed"] += obeyed
            counts["obeyed and changed"] += obeyed and changed
    print(f"\n{form}: {dict(sorted(counts.items()))}")  # noqa: T201 - the figures

    assert counts["obeyed and changed"], "the vendor obeyed, and it made a difference"
