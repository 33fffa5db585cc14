"""Replay of every debate that a test has left in its database, and its money and requests from the record alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import groupby

import psycopg

from service import budget, ranks
from service.debate.entries import (
    AttemptFailed,
    CaseReceived,
    Charge,
    DebateStarted,
    Entry,
    TurnAsked,
    TurnSpoke,
    decode,
)
from service.debate.facts import Facts
from service.debate.kernel import decide, replay
from service.debate.model import Ask, Case, SeatPlan, seat_of
from service.prompts import Prompts
from service.prompts.render import render
from service.prompts.request import encode, texts_of

RECORDS = (
    "SELECT e.debate, p.body FROM gainsay.entry e JOIN gainsay.payload p USING (debate, n) "
    "JOIN gainsay.debate_head USING (debate) ORDER BY e.debate, e.n"  # not what happens to a log itself
)
DOCUMENTS = "SELECT id, body FROM gainsay.document WHERE debate = %s"


def replay_all(url: str) -> int:
    """Replay and recompute all debates of a database, in whatever state they are; how many there were."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(RECORDS).fetchall()
        debates = 0
        for debate, records in groupby(rows, key=lambda row: row[0]):
            entries: list[Entry] = [decode(body) for _, body in records]
            first = entries[0]
            assert isinstance(first, CaseReceived)
            replay(first.case, entries)
            sources = {name: bytes(body).decode() for name, body in connection.execute(DOCUMENTS, (debate,))}
            recompute(first.case, entries, sources)
            debates += 1
    return debates


def recompute(case: Case, entries: Sequence[Entry], sources: Mapping[str, str]) -> None:
    """Every request, hold and charge of a debate as an auditor computes it: from what is recorded and nothing else."""
    facts, asked = Facts(), dict[str, TurnAsked]()
    for entry in entries:
        match entry:
            case DebateStarted():
                ranks.load(p.tokenizer for plan in entry.seats for p in (plan, plan.fallback) if p)
            case TurnAsked():
                asked[entry.turn] = entry
                _recompute_intent(case, facts, entry, sources)
            case TurnSpoke() | AttemptFailed():
                plan = _plan(facts, asked[entry.turn])
                assert entry.charge in _charges(entry, asked[entry.turn], plan), entry
        facts.add(entry)


@cache
def _prompts() -> Prompts:
    """Every file of this image is read and hashed for it: once is enough for a run."""
    return Prompts.load()


def _plan(facts: Facts, asked: TurnAsked) -> SeatPlan:
    assert facts.started is not None
    return facts.started.seat(seat_of(asked.turn)).of(asked.model)


def _recompute_intent(case: Case, facts: Facts, asked: TurnAsked, sources: Mapping[str, str]) -> None:
    plan, move = _plan(facts, asked), decide(facts)
    assert isinstance(move, Ask)
    assert facts.started is not None
    assert asked.held == budget.worst_case(asked.input_tokens, plan)
    (turn,) = [turn for turn in move.turns if turn.id == asked.turn]
    request = render(_prompts().at(facts.started.pins), case, sources, facts, turn, plan)
    assert asked.request_hash == sha256(bytes.fromhex(asked.request_salt) + encode(request)).hexdigest()
    assert asked.input_tokens == budget.count(texts_of(request), plan.tokenizer)


def _charges(entry: TurnSpoke | AttemptFailed, asked: TurnAsked, plan: SeatPlan) -> tuple[Charge, ...]:
    """What the charge may be: by the usage, and nothing at all where no usage is told of an attempt that failed."""
    usage = budget.normalise(plan.wire, entry.usage, plan.reasoning) if entry.usage is not None else None
    charged = budget.charge(usage, asked.held, plan.price)
    failed = isinstance(entry, AttemptFailed) and usage is None
    return (charged, Charge(0, "none")) if failed else (charged,)
