"""How much of a request repeats an earlier one from its beginning, so that a vendor's prefix cache may serve it.

Debates of every format are played in process by the simulated models, over a document that does not repeat itself. A
request is what the wire says in its order: system prompt, case, what the turn is shown, the seat's prompt. Tokens are
those of o200k_base. The numbers are of the layout: what a vendor serves from its cache is the vendor's business.

    of what came before    how much of a seat's earlier request (but its own prompt, which is last) its next one repeats
    of the whole request   the same tokens over all input of the next request: the rest is new statements and the prompt
    of all requests        what any request repeats of an earlier one with the same reply schema, if one model had all
                           seats. Vendors put the schema before the messages, so seats with another one share nothing
    input                  what all input costs where a vendor keeps what is marked, over the same without a cache
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Literal, NamedTuple, get_args

from msgspec.structs import replace

from bench.documents import document as a_document
from bench.figures import Measured, NotRun
from bench.figures import Turn as Rows
from service.debate.entries import DebateStarted
from service.debate.facts import Facts
from service.debate.findings import Finding
from service.debate.kernel import FORMATS
from service.debate.model import Check, Turn
from service.debate.replies import Reply
from service.debate.replies.decoding import decode_reply
from service.money import count_tokens, tokenizers
from service.prompts import Prompts
from service.prompts.layouts import lay_out
from service.prompts.request import Request, encode
from service.running.checker import Checker
from service.simulated.provider import OfflineProvider
from tests.fixtures.debates import a_case, a_start, canned, drive, found
from tests.vectors.played import ballot, convergence, panel, stances

TOKENIZER = "o200k_base"
SIZES = (300, 10_000, 100_000)
WRITING, READING = 1.25, 0.10
"""Prices of a token that is written to a cache or read from it, where requests say what to keep, in fresh tokens."""
GOAL = 0.9
"""Of what came before, for documents of 10 kB and more, in formats that ask a seat again."""
STARTS: Mapping[str, Callable[[], DebateStarted]] = {
    "adversarial, 3 rounds": lambda: a_start(3),
    "stances, 2 debaters, 3 rounds": lambda: stances(2, 3),
    "ballot, 3 debaters, 2 rounds": lambda: ballot(3, 2, 3),
    "panel, 3 debaters, 3 rounds": lambda: panel(3, 3),
    "convergence, 3 debaters, 3 rounds": lambda: convergence(3, 3),
}
_DISAGREEING = ("convergence", "consensus", "critique")
"""Checks whose canned findings let a debate go on, where the simulated models would agree at once."""
Marks = Literal["usual", "every", "transcript"]
"""What is marked: the case of seats that are usually asked again, every case, the first and what was shown too."""


class Repeated(NamedTuple):
    """Tokens of one debate's requests. ``again`` counts the requests of seats that were asked before."""

    again: int
    repeated: int
    before: int
    whole: int
    shared: int
    all: int


def measure() -> Rows:
    """Every format and size; each turn finds the same."""
    tokenizers.load([TOKENIZER])
    document = a_document(max(SIZES), 1)
    return {f"{name}, {size}": _found(name, document[:size]) for size in SIZES for name in STARTS}


def _found(name: str, document: str) -> Measured | NotRun:
    """The share of what came before, in percent."""
    started = STARTS[name]()
    requests = [request for _, request in played(started, document)]
    of = repeated(requests)
    every = 100 * of.shared / of.all
    usual, each, transcript = (cost(requests, started, marks) / of.all for marks in get_args(Marks))
    costs = (
        f"all input costs {usual:.2f} of uncached (every case marked {each:.2f}, the transcript too {transcript:.2f})"
    )
    if not of.again:
        return NotRun(f"no seat is asked again; of all requests {every:.0f} %; {costs}")
    whole = 100 * of.repeated / of.whole
    note = f"of the whole request {whole:.0f} %, of all {every:.0f} %; {costs}"
    return Measured(100 * of.repeated / of.before, None, note)


def played(started: DebateStarted, document: str) -> list[tuple[Turn, Request]]:
    """Every request of a debate over a document, in the order in which they are answered."""
    prompts, provider = Prompts.load(), OfflineProvider()
    started = replace(started, pins=prompts.pins())
    case, sources = a_case(1), {"D1": document}
    checker, requests = Checker(sources, None), list[tuple[Turn, Request]]()

    def reply(turn: Turn, facts: Facts) -> Reply:
        plan = replace(started.seat(turn.seat), model_name="alder-large")
        requests.append((turn, request := lay_out(prompts, case, sources, facts, turn, plan)))
        answer = asyncio.run(provider.send(encode(request)))
        decoded = decode_reply(turn.asks, answer.text)
        return canned(turn, facts) if isinstance(decoded, str) else decoded.reply

    def finding(check: Check, facts: Facts) -> Finding:
        if check.kind in _DISAGREEING:
            return found(check, facts)
        return asyncio.run(checker.find(case, facts, check)).finding

    drive(started, reply, case=case, findings=finding)
    return requests


def repeated(requests: list[Request]) -> Repeated:
    """What each request repeats of earlier ones from its beginning."""
    of, last = Repeated(0, 0, 0, 0, 0, 0), dict[str, Request]()
    others: dict[str, list[Request]] = {}
    for request in requests:
        whole, alike = _tokens(request), others.setdefault(request.schema_id, [])
        shared = max((_common(other, request) for other in alike), default=0)
        of = of._replace(shared=of.shared + shared, all=of.all + whole)
        if before := last.get(request.seat):
            known = _tokens(before) - _count(before.messages[-1].content)
            same = _common(before, request)
            of = of._replace(
                again=of.again + 1,
                repeated=of.repeated + same,
                before=of.before + known,
                whole=of.whole + whole,
            )
        last[request.seat] = request
        alike.append(request)
    return of


def cost(requests: list[Request], started: DebateStarted, marks: Marks) -> float:
    """The input of a debate in fresh tokens, by a vendor that keeps what is marked and finds all that it kept."""
    usual = FORMATS[started.format].table(started.options).usual
    shown, asked, whole = dict[str, str](), Counter[str](), 0.0
    for request in requests:
        seat, (house, case, beside, prompt) = request.seat, (m.content for m in request.messages)
        kept, rest = float(_count(house) + _count(case)), _count(prompt)
        asked[seat] += 1
        if marks == "every" or usual.get(seat, 1) > 1:
            kept *= READING if asked[seat] > 1 else WRITING
        known = shown.get(seat, "")
        if marks == "transcript" and usual.get(seat, 1) > 1:
            before = _count(known) if beside.startswith(known) else 0
            new = _count(beside) - before
            whole += before * READING + new * (WRITING if usual[seat] > asked[seat] else 1)
        else:
            whole += _count(beside)
        whole += kept + rest
        shown[seat] = beside
    return whole


def _count(text: str) -> int:
    return count_tokens(text, TOKENIZER)


def _tokens(request: Request) -> int:
    return sum(_count(message.content) for message in request.messages)


def _common(before: Request, now: Request) -> int:
    """Tokens of the beginning that two requests have in common, message by message."""
    tokens = 0
    for one, other in zip(before.messages[:-1], now.messages[:-1], strict=True):
        pairs = zip(one.content, other.content, strict=False)
        length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        tokens += _count(one.content[:length])
        if length < max(len(one.content), len(other.content)):
            break
    return tokens
