"""Whole debates between offline models: the real kernel, renderer, citation engine and checks, over lists."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

import service
from service.checks import citations, given, judgement
from service.checks.injection import check_injection
from service.debate.entries import Entry
from service.debate.facts import Facts
from service.debate.findings import Finding
from service.debate.model import Case, Check, Document, Outcome, Position, Turn, documents_of_round
from service.debate.replies import Reply, statements
from service.debate.turns import round_of, seat_of
from service.money import Usage, normalise
from service.prompts.render import render
from service.prompts.request import Request, encode
from service.running.checker import Checker
from service.simulated import MODELS, scripted
from service.simulated.faulty import FaultyModels
from service.simulated.provider import answer
from tests.fixtures.debates import a_start, drive, outcome

SAMPLES = Path(service.__file__).parent / "samples"
SEATS = ("framing", "proposer", "critic", "rebuttal", "moderator")
_reply: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)


class Source(NamedTuple):
    """A document of a test's case."""

    title: str
    text: str
    round: int = 1


class Played(NamedTuple):
    """A debate that was played: what is known of it, how it ended, the sources, the requests by turn, its entries."""

    facts: Facts
    outcome: Outcome
    sources: Mapping[str, str]
    requests: Mapping[str, Request]
    entries: Sequence[Entry]


class Plain:
    """Prompts that are nothing but their names."""

    def text(self, prompt: str) -> str:
        return f"Play {prompt}."

    def schema(self, seat: str) -> dict[str, Any]:
        return {"title": seat}


def play(
    question: str,
    sources: Sequence[Source],
    *,
    models: Mapping[str, str] | str = "alder-large",
    rounds: int = 1,
    answer_given: str | None = None,
    positions: Mapping[str, str] | None = None,
    personas: Mapping[str, str] | None = None,
    allowance: int = 1_500,
    task: str = "contract",
    script: scripted.ReplyScript | None = None,
    faulty: FaultyModels | None = None,
    alter: Callable[[Turn, Facts, Reply], Reply] = lambda _turn, _facts, reply: reply,
) -> Played:
    """Play a whole adversarial debate; ``models`` is one for all seats, or one a seat.

    A provider of the kind ``scripted`` gives the replies of ``script``; ``faulty`` are models with known faults;
    ``alter`` changes replies before they are used.
    """
    ids = [f"D{i}" for i in range(1, len(sources) + 1)]
    texts = {i: s.text for i, s in zip(ids, sources, strict=True)}
    documents = tuple(Document(i, s.title, "00" * 32, len(s.text), s.round) for i, s in zip(ids, sources, strict=True))
    case = Case(question, task, documents, Decimal(500_000), single_agent_answer=answer_given)
    started = a_start(rounds, ceiling=10**9)
    options = msgspec.structs.replace(
        started.options,
        positions=tuple(Position(i, text) for i, text in (positions or {}).items()),
        personas=dict(personas or {}),
    )
    names = {seat: models if isinstance(models, str) else models[seat] for seat in SEATS}
    seats = tuple(
        msgspec.structs.replace(p, model=names[p.seat], model_name=names[p.seat], allowance=allowance)
        for p in started.seats
    )
    requests: dict[str, Request] = {}
    usage: dict[str, Usage] = {}

    def speak(turn: Turn, facts: Facts) -> Reply:
        requests[turn.id] = render(Plain(), case, texts, facts, turn)
        body = encode(requests[turn.id])
        said = asyncio.run(scripted.ScriptedProvider(script).send(body)) if script else answer(body, faulty)
        told = normalise("offline", said.raw_usage)
        assert told is not None
        assert told.output <= allowance
        usage[turn.id] = told
        return alter(turn, facts, decode(turn.seat, said.text))

    def find(check: Check, facts: Facts) -> Finding:
        return _finding(check, facts, case, texts)

    entries = drive(
        msgspec.structs.replace(started, options=options, seats=seats), speak, case=case, findings=find, used=usage.get
    )
    return Played(Facts.of(entries), outcome(entries), texts, requests, entries)


def decode(seat: str, text: str) -> Reply:
    """A reply as the runner reads it: the seat is put back."""
    return _reply.decode(json.dumps({**json.loads(text), "seat": seat}))


def _finding(check: Check, facts: Facts, case: Case, texts: Mapping[str, str]) -> Finding:
    if check.kind == "injection":
        return check_injection(given.INJECTIONS["injection/1"](case, facts, check.over).over(texts))
    if check.kind == "texts":
        return Checker(texts).check(case, facts, check).finding
    if check.kind == "voices":
        return judgement.check_voices(*given.VOICES["judgement/1"](case, facts, check.over).over(texts))
    said = {turn: facts.said[turn] for turn in check.over}
    if check.kind == "citations":
        last = max(round_of(turn) for turn in check.over)
        sources = citations.Sources({i: texts[i] for i in documents_of_round(case, last)})
        return citations.check_citations(said, lambda c: citations.check(c, sources))
    return judgement.check_critique(*given.CRITIQUES["judgement/1"](case, facts, check.over).over(texts))


def quotes(played: Played, *seats: str) -> list[str]:
    """Every quotation of these seats (of all without any), in order."""
    said = [r for t, r in sorted(played.facts.said.items()) if not seats or seat_of(t) in seats]
    return [c.quote for r in said for a in statements(r) for c in a.citations]


@lru_cache(maxsize=16)
def sample(name: str, file: str = "case.json") -> dict[str, Any]:
    """The arguments of `play` for a sample case."""
    folder = SAMPLES / name
    case = {**json.loads((folder / "case.json").read_text()), **json.loads((folder / file).read_text())}
    options = case.get("options", {})
    return {
        "question": case["question"],
        "sources": tuple(
            Source(d["title"], (folder / d["file"]).read_text(), d.get("round", 1)) for d in case["documents"]
        ),
        "answer_given": case.get("singleAgentAnswer"),
        "rounds": options.get("maxRounds", 1),
        "positions": {p["id"]: p["text"] for p in options.get("positions", ())},
        "personas": options.get("personas", {}),
        "task": case["taskType"],
    }


CASES = (
    ("contract", "case.json"),
    ("security", "case.json"),
    ("architecture", "case.json"),
    ("investment", "case.json"),
    ("compliance", "case.json"),
    ("contract", "case-personas.json"),
    ("architecture", "case-positions.json"),
    ("investment", "case-evidence.json"),
)
NAMES = tuple(MODELS)
