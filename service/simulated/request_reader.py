"""The contents of a request, read from the wire: the case and the earlier statements.

Only fenced blocks of the data messages are read, and of them only the kinds that the layout of requests knows. The seat
comes from the request itself, never from a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from service.debate.turns import split_party
from service.prompts.fence import Block, blocks, mark_of
from service.prompts.request import Request
from service.prompts.undocumented import plain_id

LATER_PHASES = frozenset({"ballot.critique", "ballot.revision", "ballot.consensus"})
"""Phases of a ballot that continue the round of a seat's last reply."""


class ShownSource(NamedTuple):
    """A document of the case."""

    id: str
    title: str
    text: str
    round: int


class Cited(NamedTuple):
    """A citation of an earlier statement, with its verdict."""

    quote: str
    source_id: str
    verdict: str


class ShownReply(NamedTuple):
    """One argument of an earlier statement."""

    n: int
    text: str
    basis: str
    citations: tuple[Cited, ...]
    attacks: tuple[int, ...]
    position: str
    against: tuple[tuple[str, int], ...]
    answers: tuple[str, int] | None


class ShownTurn(NamedTuple):
    """An earlier statement. ``by`` is a seat, or empty if the request has only a neutral label."""

    by: str
    label: str
    round: int
    thesis: str
    conclusion: str
    arguments: tuple[ShownReply, ...]
    concessions: tuple[ShownReply, ...]
    struck: tuple[int, ...]
    position: str
    replies: bool
    phase: str = ""
    own: bool = False
    body: Mapping[str, Any] = MappingProxyType({})


class Ballots(NamedTuple):
    """The rules of a ballot: the options, and the number of seats that decides."""

    options: tuple[str, ...]
    threshold: int
    seats: int


class Reading(NamedTuple):
    """The material of a turn; ``repair`` says whether an earlier reply in it could not be used, ``former`` whether
    the seat's own former reply is asked for again because of what it quotes.

    ``kind`` is the kind of the reply, ``fragments`` the pinned prompts beside the seat's own, ``stance`` the seat's
    stance, ``label`` the letter by which others know it, ``schema`` the caller's shape of a projection, ``judgements``
    the replies of a judge, ``mark`` the nonce of all fences, by which one debate differs from another of the same case.
    """

    seat: str
    question: str
    answer: str | None
    positions: tuple[tuple[str, str], ...]
    documents: tuple[ShownSource, ...]
    persona: str
    proposition: str
    own_position: str
    statements: tuple[ShownTurn, ...]
    unresolved: tuple[str, ...]
    round: int
    retry: bool
    repair: bool
    new_documents: tuple[str, ...]
    allowance: int
    kind: str = ""
    fragments: tuple[str, ...] = ()
    stance: str = ""
    label: str = ""
    ballots: Ballots | None = None
    schema: Any = None
    instructions: str = ""
    judgements: tuple[Mapping[str, Any], ...] = ()
    former: bool = False
    mark: str = ""

    def asks(self, fragment: str) -> bool:
        """Whether a pinned fragment stands beside the seat's own prompt."""
        return fragment in self.fragments


def read(request: Request) -> Reading:
    """The reading of a request; blocks that cannot be read are passed over, as a model would pass over them."""
    found = [b for m in request.messages if m.role == "data" for b in blocks(m.content)]
    by_kind: dict[str, list[Block]] = {}
    for block in found:
        by_kind.setdefault(block.kind, []).append(block)
    evaluations = [(_int(b.attributes.get("round")), _json(b.text)) for b in by_kind.get("evaluation", ())]
    statements = tuple(_spoken(b) for b in found if b.kind in ("statement", "own-statement"))
    seat = split_party(request.seat)[0]
    new = _first(by_kind, "new-evidence")
    return Reading(
        seat=seat,
        question=_text(by_kind, "question"),
        answer=_text(by_kind, "answer-under-review") or None,
        positions=tuple((str(b.attributes.get("id", "")), b.text.strip()) for b in by_kind.get("position", ())),
        documents=tuple(_source(b) for b in by_kind.get("document", ())),
        persona=_text(by_kind, "persona"),
        proposition=str(_json(_text(by_kind, "proposition")).get("thesis", "")),
        own_position=str(p.attributes.get("id", "")) if (p := _first(by_kind, "position-of-this-seat")) else "",
        statements=statements,
        unresolved=tuple(str(p) for _, body in evaluations[-1:] for p in _items(body, "unresolvedPoints")),
        round=_next_round(statements, _pins(request)) if "." in request.schema_id else _round(statements, evaluations),
        retry="retry" in by_kind,
        repair="repair" in by_kind,
        new_documents=tuple(str(d) for d in _listed(new.attributes.get("documents"))) if new else (),
        allowance=request.max_output_tokens,
        kind=request.schema_id,
        fragments=_pins(request),
        stance=_text(by_kind, "stance-of-this-seat"),
        label=_text(by_kind, "label-of-this-seat"),
        ballots=_ballots(_json(_text(by_kind, "votes"))) if "votes" in by_kind else None,
        schema=_any(_text(by_kind, "output-schema")) if "output-schema" in by_kind else None,
        instructions=_text(by_kind, "instructions"),
        judgements=tuple(_json(b.text) for b in by_kind.get("judgement", ())),
        former="former-reply" in by_kind,
        mark=next((mark for m in request.messages if m.role == "data" and (mark := mark_of(m.content))), ""),
    )


def _ballots(body: Mapping[str, Any]) -> Ballots:
    options = tuple(str(o) for o in _items(body, "options"))
    return Ballots(options, _int(body.get("threshold"), 1), _int(body.get("seats"), 1))


def _pins(request: Request) -> tuple[str, ...]:
    """The ids of the pinned texts in the seat's message, those for cases without documents under the plain id."""
    pins = request.messages[-1].pins if request.messages else ()
    return tuple(map(plain_id, pins))


def _next_round(statements: Sequence[ShownTurn], pins: Sequence[str]) -> int:
    """The present round for a seat that sees its own replies: the round of its last reply if a phase of it continues,
    else the one after it, else the first."""
    last = max((s.round for s in statements if s.own), default=-1)
    if last > 0 and not LATER_PHASES.isdisjoint(pins):
        return last
    return last + 1 or max((s.round for s in statements), default=1)


def _round(statements: Sequence[ShownTurn], evaluations: Sequence[tuple[int, Any]]) -> int:
    """The present round: the one after the last moderation, and never before the last statement."""
    judged = max((r for r, _ in evaluations), default=0)
    spoken = max((s.round for s in statements), default=0)
    return max(spoken, judged + 1, 1)


def _first(by_kind: Mapping[str, list[Block]], kind: str) -> Block | None:
    return by_kind[kind][0] if kind in by_kind else None


def _text(by_kind: Mapping[str, list[Block]], kind: str) -> str:
    block = _first(by_kind, kind)
    return block.text.strip() if block else ""


def _source(block: Block) -> ShownSource:
    title = str(block.attributes.get("title") or block.attributes.get("id", ""))
    return ShownSource(str(block.attributes.get("id", "")), title, block.text, _int(block.attributes.get("round"), 1))


def _any(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None


def _json(text: str) -> dict[str, Any]:
    decoded = _any(text)
    return decoded if isinstance(decoded, dict) else {}


def _items(body: Mapping[str, Any], key: str) -> list[Any]:
    return _listed(body.get(key))


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _int(value: object, default: int = 0) -> int:
    return value if isinstance(value, int) else default


_ARGUMENTS = ("arguments", "points", "rebuttals", "rationale", "claims")
"""The names of the fields that hold arguments in the formats' replies."""


def _spoken(block: Block) -> ShownTurn:
    body = _json(block.text)
    arguments = [a for key in _ARGUMENTS for a in _items(body, key)]
    concessions = [*_items(body, "concessions"), *_items(body, "concedes")]
    return ShownTurn(
        by=str(block.attributes.get("by", "")),
        label=str(block.attributes.get("label", "")),
        round=_int(block.attributes.get("round"), 1),
        thesis=str(body.get("thesis", "")),
        conclusion=str(body.get("conclusion", "")),
        arguments=tuple(_said(a) for a in arguments if isinstance(a, dict)),
        concessions=tuple(_said(c) for c in concessions if isinstance(c, dict)),
        struck=tuple(_int(s.get("n")) for s in _items(body, "struck") if isinstance(s, dict)),
        position=str(body.get("position") or split_party(str(block.attributes.get("by", "")))[1]),
        replies="concedes" in body or "concessions" in body,
        phase=str(block.attributes.get("phase") or ""),
        own=block.kind == "own-statement",
        body=body,
    )


def _said(body: Mapping[str, Any]) -> ShownReply:
    answers = body.get("answers")
    return ShownReply(
        n=_int(body.get("n")),
        text=str(body.get("text", "")),
        basis=str(body.get("basis", "evidence")),
        citations=tuple(
            Cited(str(c.get("quote", "")), str(c.get("sourceId", "")), str(c.get("verdict", "")))
            for c in _items(body, "citations")
            if isinstance(c, dict)
        ),
        attacks=tuple(_int(n) for n in _items(body, "attacks")),
        position=str(body.get("position") or ""),
        against=tuple((str(a.get("label")), _int(a.get("n"))) for a in _items(body, "against") if isinstance(a, dict)),
        answers=(str(answers.get("label")), _int(answers.get("n"))) if isinstance(answers, dict) else None,
    )
