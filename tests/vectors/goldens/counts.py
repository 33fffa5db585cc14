"""Tokens under every tokenizer, what closing turns may cost, and what a debate's charges add up to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from msgspec.structs import replace

from service.debate.entries import AttemptFailed, Charge, Entry, TurnAsked, TurnSpoke, decode
from service.debate.model import TurnId
from service.debate.replies import Adjudication
from service.gate import GATES
from service.intake import expected_cost
from service.money import TOKENIZERS, USAGES, Reckoning, tokenizers
from service.policy import seating
from service.prompts.request import Message, Request, texts_of
from service.verify import gate
from tests.vectors.goldens import CASES, Golden, file_of, lines, recorded
from tests.vectors.goldens.gates import READY
from tests.vectors.goldens.seats import DAY, OPTIONS, POOL
from tests.vectors.goldens.usages import plans

WORDS = "The cap covers fines. "
TEXTS = (
    "",
    "It's due.",
    "I'LL say: they've 1234567 reasons",
    "a\r\n\r\n\tb   c\n",
    "\u00dcbergr\u00f6\u00dfe \u65e5\u672c\u8a9e \U0001f4b8",
    "\ud800",
    "<|endoftext|>",
    "camelCaseWORDS snake_case a/b\n/",
    (CASES / "agreement.txt").read_text(),
    (CASES / "memo.txt").read_text(),
)
RUN = "abilities1x" * 5_000
CUTS = tuple(f"{RUN[:end]} {RUN}" for end in (47_999, 48_000, 48_001, 48_002, 49_999, 50_000))
"""Texts that are counted in pieces, with a blank at and before each place where a piece may end."""
REQUEST = Request(
    "critic",
    "oak",
    "oak-1",
    (Message("house", "House.", ("house",)), Message("data", WORDS * 9), Message("seat", "Reply.", ("critic",))),
    "critic",
    {"title": "critic", "properties": {"thesis": {"type": "string"}}},
    500,
    {"seed": 7},
)


def tokens(rules: Reckoning) -> Iterator[object]:
    """The tokens of requests: of no text, of one, of several, of long ones."""
    tokenizers.load(TOKENIZERS)
    for name in TOKENIZERS:
        yield name, [rules.request_tokens((text,), name) for text in TEXTS]
        yield name, [rules.request_tokens(TEXTS[:n], name) for n in range(len(TEXTS))]
        yield name, [rules.request_tokens((text,), name) for text in (WORDS * 5_000, *CUTS)]
        yield name, rules.request_tokens((" " * 100_001,), name)
        yield name, "a request", rules.request_tokens(texts_of(REQUEST), name)
        yield name, [rules.label_tokens((label,), name) for label in ("Model A", WORDS * 9, "\u65e5\u672c\u8a9e" * 20)]


def closing(rules: Reckoning) -> Iterator[object]:
    """What closing turns may cost, with nothing and with much still to be said."""
    for plan in plans():
        for allowances in ((), (1,), (500, 1_000), (10_000,) * 10):
            for labels in ((), ("Model A", "x" * 200)):
                yield [rules.closing_cost(given, allowances, labels, plan) for given in (0, 999, 60_000)]


def ledgers(rules: Reckoning) -> Iterator[object]:
    """What is held, spent and left after each recorded debate and each kind of entry, and what is refused then."""
    for path in recorded.files():
        entries = [decode(line) for line in path.read_bytes().splitlines()]
        yield f"{path.parent.name}/{path.stem}", _sums(rules, entries)
    asked = TurnAsked(TurnId("1.critic.1"), 1, "oak", "", "", 900, 60)
    other = replace(asked, turn=TurnId("1.moderator.1"), held=30)
    for charge in (Charge(0, "none"), Charge(40, "usage"), Charge(60, "reserved"), Charge(75, "usage", excess=15)):
        failed = AttemptFailed(asked.turn, 1, "timeout", "late", charge)
        spoke = TurnSpoke(asked.turn, 1, Adjudication(0, 0, 0, 0, "-"), charge)
        for ended in (failed, spoke):
            yield charge.amount, type(ended).__name__, _sums(rules, [asked, other, ended])


def _sums(rules: Reckoning, entries: list[Entry]) -> object:
    ledger = rules.ledger(100)
    for entry in entries:
        ledger = ledger.add(entry)
    left = ledger.remaining
    refused = [ledger.refuse(needed, holding) for needed, holding in (([left], []), ([left, 1], []), ([left], [1]))]
    return ledger, left, refused


def documents(name: str) -> Iterator[object]:
    """What debates over documents are expected to cost, by both that compute it, under every tokenizer."""
    tokenizers.load(TOKENIZERS)
    table = seating.choose_table(OPTIONS["adversarial"])
    debate = replace(POOL.debate, expected_input_tokens=30, expected_output_per_mille=650)
    for tokenizer in TOKENIZERS:
        models = {alias: replace(model, tokenizer=tokenizer) for alias, model in POOL.models.items()}
        policy = replace(POOL, debate=debate, models=models)
        seats = seating.SEATING.seats(policy, table, {}, DAY)
        for texts in (TEXTS, (WORDS * 5_000,)):
            yield tokenizer, expected_cost.EXPECTED[name](seats, table, policy, texts)
            yield tokenizer, "verified", gate.EXPECTED[name](seats, table.usual, policy, texts, READY)


def goldens() -> dict[str, Golden]:
    """Three goldens for every version of the usage, and one for every version of the gate."""
    made = {"tokens": tokens, "closing": closing, "ledger": ledgers}
    counted = {
        file_of(name, what): Golden(name, partial(_made, name, make, rules))
        for name, rules in USAGES.items()
        for what, make in made.items()
    }
    return {**counted, **{file_of(name, "documents"): Golden(name, partial(_documents, name)) for name in GATES}}


def _made(name: str, make: Callable[[Reckoning], Iterator[object]], rules: Reckoning) -> bytes:
    return lines(name, {1: make(rules)})


def _documents(name: str) -> bytes:
    return lines(name, {1: documents(name)})
