"""Debates on a real database without a network: a provider that answers by reading its request, and a joined service.

`CannedProvider` stands behind the same port as every vendor and reads only the bytes that would go out. It answers
plainly and always the same, so that two runs of one case can be compared.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from service.audit.record import Actor, Writer
from service.board import Board
from service.budget import Usage, bytes_over_four
from service.debate.entries import Entry
from service.debate.model import Case
from service.intake import Deployment
from service.intake.request import CaseRequest
from service.policy import Budgets, Calls, Policy, decode_policy, encode_policy
from service.ports import Answer, CallFailed, Provider
from service.prompts import Prompts
from service.prompts.fence import Block, blocks
from service.prompts.request import Request, Spoken, encode, spoken, text_of
from service.reviews import Caller, Reviews
from service.runner import Runner
from service.settings import SHIPPED_POLICY, read_policy
from service.store import contents
from service.store.log import DebateLog, read_documents, read_head
from service.store.logs import Logs
from service.store.pool import Database
from service.store.queue import Wanted, claim

CALLER = Caller()
TEXT = (
    "12.1 The Supplier shall indemnify the Bank against all losses arising from a breach of confidence. "
    "12.2 Neither party's liability shall exceed the fees paid in the twelve months before the claim. "
    "12.3 Clause 12.2 does not apply to the indemnity in clause 12.1."
)
QUOTES = {
    "proposer": "The Supplier shall indemnify the Bank against all losses",
    "critic": "Neither party's liability shall exceed the fees paid",
    "rebuttal": "Clause 12.2 does not apply to the indemnity in clause 12.1",
}
WORDS = {
    "proposer": "The indemnity has no ceiling of its own.",
    "critic": "Recovery stops at twelve months of charges, whatever anybody hoped.",
    "rebuttal": "The exception lifts that limit exactly where it matters.",
}

Say = Callable[[str, int, dict[str, Any]], dict[str, Any]]


def a_request(**changes: Any) -> CaseRequest:
    """A contract case that the gate debates, in one round unless told otherwise."""
    body = {
        "question": "Does this agreement leave us with uncapped liability?",
        "taskType": "contract",
        "estimatedDownside": 250000,
        "confidenceScore": 0.55,
        "documents": [{"id": "D1", "title": "Master agreement", "text": TEXT}],
        "options": {"maxRounds": 1},
        **changes,
    }
    return msgspec.json.decode(msgspec.json.encode(body), type=CaseRequest)


def a_writer(name: str) -> Writer:
    """Somebody who writes records in a test."""
    return Writer(Actor(name, "service", "worker", "databaseRole"), "00" * 32)


async def take_log(
    database: Database,
    debate: str,
    epoch: int,
    name: str = "test",
    lease_s: float = 0.0,
    budgets: Budgets = Budgets(),  # noqa: B008 - frozen
) -> DebateLog:
    """The log of a debate for a worker that was given it with this epoch; without the documents."""
    log, _ = await DebateLog.taken(database, debate, a_writer(name), lease_s, epoch, budgets)
    return log


async def visit_log(database: Database, debate: str) -> DebateLog:
    """The log of a debate for somebody who only adds a word, as an abort does."""
    return DebateLog(database, debate, await read_head(database, debate), a_writer("elsewhere"), None, Budgets())


PROMPTLY = Calls(backoff_ms=0)
"""No pause before a model is asked again."""


class CannedProvider(Provider):
    """Answers every seat; ``say`` may change an answer by seat and round, ``fails`` lets first attempts fail."""

    def __init__(
        self,
        say: Say = lambda _seat, _round, reply: reply,
        fails: Mapping[str, int] | None = None,
        latency_s: float = 0.0,
    ) -> None:
        self.calls: Counter[str] = Counter()
        self.begun = asyncio.Event()
        self._say = say
        self._fails = Counter(fails or {})
        self.latency_s = latency_s

    def encode(self, request: Request) -> bytes:
        """The request's own bytes are the wire."""
        return encode(request)

    def spoken(self, body: bytes) -> Spoken:
        """What the body tells."""
        return spoken(body)

    async def send(self, body: bytes) -> Answer:
        """One answer."""
        request = msgspec.json.decode(body, type=Request)
        given = [block for message in request.messages for block in blocks(message.content)]
        round_ = 1 + sum(block.kind == "evaluation" for block in given)
        self.calls[request.seat] += 1
        self.begun.set()
        await asyncio.sleep(self.latency_s)
        if self._fails[request.seat] > 0:
            self._fails[request.seat] -= 1
            raise CallFailed("overload", "try later", billable=False)
        text = json.dumps(self._say(request.seat, round_, _reply(request.seat, given)))
        usage = Usage(bytes_over_four(text_of(request)), bytes_over_four(text))
        return Answer(text, usage, {"input_tokens": usage.input, "output_tokens": usage.output}, request.model_name)


def _reply(seat: str, given: Sequence[Block]) -> dict[str, Any]:
    citations = [{"quote": QUOTES.get(seat, ""), "sourceId": "D1"}]
    match seat:
        case "framing":
            return {
                "thesis": "The agreement leaves us uncapped.",
                "scope": "All.",
                "criteria": ["text"],
                "keyDocuments": [],
            }
        case "proposer":
            argument = {"n": 1, "text": WORDS[seat], "citations": citations}
            return {"thesis": "It does.", "arguments": [argument], "conclusion": "upheld"}
        case "critic":
            point = {"n": 1, "text": WORDS[seat], "citations": citations, "attacks": [1]}
            return {"thesis": "It does not.", "points": [point], "challengeStrength": 7, "conclusion": "rejected"}
        case "rebuttal":
            answer = {"n": 1, "text": WORDS[seat], "citations": citations}
            return {"thesis": "It still does.", "rebuttals": [answer], "concessions": [], "conclusion": "upheld"}
    labels = dict.fromkeys(str(b.attributes["label"]) for b in given if b.kind == "statement")
    return {
        "scores": [{"label": label, "score": 7} for label in labels],
        "resolvedPoints": [],
        "unresolvedPoints": ["Whether the limit reaches the indemnity."],
        "recommendAnotherRound": False,
        "synthesis": "The exception lifts the limit for the indemnity.",
        "confidenceLevel": "MODERATE",
        "explicitUncertainties": ["No schedule was given."],
        "conclusion": "upheld",
    }


class Bench:
    """A service on one database with one provider, without its worker: debates run when they are told to.

    Unless a policy is given it is the shipped one without limits for tenants, so that a test may hold money at once.
    """

    def __init__(
        self,
        database: Database,
        providers: Mapping[str, Provider],
        policy: Policy | None = None,
        calls: Calls = PROMPTLY,
    ) -> None:
        self.database = database
        self.prompts = _prompts()
        self.board = Board()
        self.providers = providers
        self.calls = calls
        chosen = policy or _unlimited()
        self.policy = decode_policy(encode_policy(chosen))  # with the hash of what it is by now
        self.deployment = Deployment(self.prompts, self.policy, "2026-11-21", "00" * 32)
        self.reviews = Reviews(database, lambda: self.deployment, self.board, Logs(database, "localhost"), held=False)
        self._epochs: dict[str, int] = {}

    @property
    def provider(self) -> Provider:
        """The provider of the simulated models."""
        return self.providers["offline"]

    async def submit(self, **changes: Any) -> str:
        """The id of a recorded debate."""
        return (await self.reviews.submit(a_request(**changes), CALLER)).debate

    async def claim(self, lease_s: float = 0.0) -> str:
        """Take the oldest debate, as a worker would."""
        wanted = Wanted(worker="test", lease_s=lease_s, templates=self.prompts.templates)
        (taken,) = await claim(self.database, wanted)
        self._epochs[taken.debate] = taken.epoch
        return taken.debate

    async def runner(self, debate: str, log: DebateLog | None = None) -> Runner:
        """A runner for a debate that was claimed here, or whose log somebody has taken."""
        if log is None:
            log, sources = await DebateLog.taken(
                self.database, debate, a_writer("test"), 0.0, self._epochs[debate], self.policy.budgets
            )
        else:
            sources = await read_documents(self.database, debate)
        return Runner(log, sources, self.prompts, self.providers, calls=self.calls)

    async def run(self, **changes: Any) -> str:
        """Submit a case and run its debate to the end; its id."""
        debate = await self.submit(**changes)
        assert await self.claim() == debate
        await (await self.runner(debate)).run()
        return debate

    async def entries(self, debate: str) -> list[Entry]:
        """What is recorded."""
        return [line.entry for line in await self.reviews.lines(debate, CALLER)]

    async def case(self, debate: str) -> Case:
        """The recorded case."""
        (first, *_) = await self.entries(debate)
        case: Case = getattr(first, "case")  # noqa: B009 - the first entry is case.received, whatever the type says
        return case


@cache
def _prompts() -> Prompts:
    return Prompts.load()


@cache
def _unlimited() -> Policy:
    return msgspec.structs.replace(read_policy(SHIPPED_POLICY), budgets=Budgets())


@asynccontextmanager
async def bench(
    url: str,
    provider: Provider | None = None,
    *,
    policy: Policy | None = None,
    providers: Mapping[str, Provider] | None = None,
    calls: Calls = PROMPTLY,
) -> AsyncIterator[Bench]:
    """A `Bench` on a database: with one provider for the simulated models, or with several by name."""
    async with Database.open(url, size=4) as database:
        made = Bench(database, providers or {"offline": provider or CannedProvider()}, policy, calls)
        await contents.keep_deployment(database, made.deployment)
        yield made


def repository() -> Path:
    """The folder that the project stands in."""
    return Path(__file__).resolve().parent.parent
