"""Whole debates of the newer formats between offline models: real prompts, renderer, checks and kernel, over lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

import msgspec

from service import samples
from service.debate import kernel
from service.debate.entries import DebateStarted, Entry
from service.debate.facts import Facts
from service.debate.findings import ArgumentVerdict, CitationsFound, Finding
from service.debate.formats import NAMES
from service.debate.model import Case, Check, Document, Options, Outcome, Turn
from service.debate.options import (
    BallotOptions,
    ConvergenceOptions,
    Debater,
    PanelOptions,
    StancesOptions,
    role_of,
)
from service.debate.replies import Reply
from service.debate.turns import TurnId
from service.money import Usage, normalise
from service.prompts.manifest import Prompts
from service.prompts.render import render
from service.prompts.request import Request, encode
from service.running.checker import Checker
from service.simulated.faulty import FaultyModels
from service.simulated.provider import answer
from tests.fixtures.debates import a_start, drive, outcome
from tests.unit.simulated.debates import decode

POOL = ("alder-large", "birch-large", "alder-small", "birch-small", "cedar-small", "cedar-large")
DECIDERS: Mapping[str, int] = {"judge": 0, "synthesizer": 0, "adjudicator": 1, "classifier": 1, "screener": 1}
"""Which of the models that do not debate sits where."""
THRESHOLDS = {"factual": 850, "normative": 800, "business": 850, "prediction": 850, "brainstorm": 800, "belief": 750}
FORMATS = tuple(name for name in NAMES if name != "adversarial")


class Played(NamedTuple):
    """A debate that was played: what is known of it, how it ended, the requests by turn, and its entries."""

    facts: Facts
    outcome: Outcome
    requests: Mapping[str, Request]
    entries: Sequence[Entry]

    def arguments(self) -> list[ArgumentVerdict]:
        """What code found of every argument's citations."""
        return [a for f in self.facts.found.values() if isinstance(f, CitationsFound) for a in f.arguments]

    def said(self, kind: type[Any]) -> dict[TurnId, Any]:
        """The replies of a type, by turn."""
        return {turn: reply for turn, reply in self.facts.said.items() if isinstance(reply, kind)}


@cache
def _prompts() -> Prompts:
    return Prompts.load()


def options_of(form: str, asked: Mapping[str, Any]) -> Options:
    """The options of a format from those that a caller gives, in the caller's names."""
    debaters = asked.get("debaters", 3)
    named = tuple(msgspec.convert(d, Debater) for d in debaters) if isinstance(debaters, list) else ()
    rounds = asked.get("maxRounds", 2)
    match form:
        case "stances":
            return StancesOptions(
                debaters=named,
                max_rounds=rounds,
                human_review=False,
                anonymize_transcript=asked.get("anonymizeTranscript", True),
                synthesizer=asked.get("synthesizer", True),
                output_schema=asked.get("outputSchema"),
                instructions=asked.get("instructions"),
                swapped=asked.get("swapped", False),
            )
        case "ballot":
            votes = tuple(dict.fromkeys((*asked["votes"], "escalate")))
            threshold = asked.get("consensusThreshold", len(named) // 2 + 1)
            return BallotOptions(named, rounds, votes, threshold, human_review=False)
        case "panel":
            return PanelOptions(
                debaters=debaters,
                max_rounds=rounds,
                human_review=False,
                question_type=asked.get("questionType", "factual"),
                typed_by=asked.get("typedBy", "rules"),
                thresholds=dict(asked.get("thresholds", THRESHOLDS)),
                adjudicator=asked.get("adjudicator", "algorithmic"),
                swapped=asked.get("swapped", False),
            )
    return ConvergenceOptions(
        debaters=debaters,
        max_rounds=rounds,
        human_review=False,
        judge=asked.get("judge", True),
        convergence_similarity=round(1000 * asked.get("convergenceSimilarity", 0.85)),
        debater_instructions=asked.get("debaterInstructions"),
        judge_instructions=asked.get("judgeInstructions"),
        swapped=asked.get("swapped", False),
    )


def play_sample(name: str, form: str, *, pool: Sequence[str] = POOL, **changes: Any) -> Played:
    """Play a shipped sample in a format; ``changes`` are options in the caller's names."""
    case = samples.load(name, form).case
    asked = {**case.get("options", {}), **changes}
    return play(form, case["question"], case["documents"], asked, pool=pool, answer_given=case.get("singleAgentAnswer"))


def play(
    form: str,
    question: str,
    documents: Sequence[Mapping[str, Any]],
    asked: Mapping[str, Any],
    *,
    pool: Sequence[str] = POOL,
    allowance: int = 1_500,
    answer_given: str | None = None,
    faulty: FaultyModels | None = None,
) -> Played:
    """Play a whole debate; debaters are seated from the pool in order, and the pool begins again where it ends."""
    texts = {d["id"]: d["text"] for d in documents}
    case = Case(
        question,
        "contract",
        tuple(Document(d["id"], d["title"], "00" * 32, len(d["text"])) for d in documents),
        Decimal(500_000),
        single_agent_answer=answer_given,
    )
    options = msgspec.structs.replace(options_of(form, asked), screened=asked.get("screened", False))
    started = _started(form, options, kernel.FORMATS[f"{form}/1"].table, pool, allowance)
    requests: dict[str, Request] = {}
    usage: dict[str, Usage] = {}

    def speak(turn: Turn, facts: Facts) -> Reply:
        requests[turn.id] = render(_prompts(), case, texts, facts, turn)
        said = answer(encode(requests[turn.id]), faulty)
        told = normalise("offline", said.raw_usage)
        assert told is not None
        assert told.output <= allowance
        usage[turn.id] = told
        return decode(turn.asks, said.text)

    checker = Checker(texts)

    def find(check: Check, facts: Facts) -> Finding:
        return checker.check(case, facts, check).finding

    entries = drive(started, speak, case=case, findings=find, used=usage.get)
    return Played(Facts.of(entries), outcome(entries), requests, entries)


def _started(form: str, options: Options, table: Any, pool: Sequence[str], allowance: int) -> DebateStarted:
    base = a_start(1, ceiling=10**9)
    plan = base.seats[0]
    names = {
        s: pool[(int(s.rpartition("-")[2]) - 1) % len(pool)] for s in table(options).seats if role_of(s) == "debater"
    }
    free = [m for m in reversed(POOL) if m not in names.values()] or ["cedar-large", "cedar-small"]
    names |= {s: free[DECIDERS[s] % len(free)] for s in table(options).seats if s in DECIDERS}
    seats = [
        msgspec.structs.replace(
            plan, seat=seat, model=name, model_name=name, family=name.partition("-")[0], allowance=allowance
        )
        for seat, name in names.items()
    ]
    pins = _prompts().pins()
    return msgspec.structs.replace(base, format=f"{form}/1", options=options, seats=tuple(seats), pins=pins)
