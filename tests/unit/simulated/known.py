"""Cases of a key for models with known faults, and the bodies in which their seats are shown them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from service.debate.replies import REPLY_TYPES
from service.debate.replies.decoding import decode_reply
from service.evaluation.sets.key_line import (
    HashedArgument,
    KeyLine,
    KeySpan,
    hash_of_case,
    hash_of_material,
    hash_of_reply,
)
from service.policy.known_faults import FLAW_FAMILIES, ModelFaults
from service.prompts.fence import Block, fence
from service.prompts.request import Message, Request, encode
from service.simulated.faulty import FaultyModels
from service.simulated.known_cases import KnownCases
from service.simulated.provider import answer

NONCE = "0123456789abcdef"
SPAN = "The fee is due within 30 days of the invoice."
OTHER = "The supplier shall keep records of each delivery."
DOCUMENTS = {"D1": f"1. Fees\n\n{SPAN}\n\n2. Records\n\n{OTHER}\n"}
THESIS = "The fee is due."
ANSWERS = ("yes", "no", "partly")
MODEL, SECOND = "alder-small", "birch-small"


def question(n: int) -> str:
    """The question of the nth case."""
    return f"May the supplier of order {n} ask for the fee before the invoice is due?"


def argument(n: int, case: int, **more: Any) -> dict[str, Any]:
    """An argument as it is shown."""
    return {"n": n, "text": f"Ground {n} of order {case} carries it.", "basis": "reasoning", "citations": [], **more}


def statement(arguments: Sequence[Mapping[str, Any]], **attributes: Any) -> Block:
    """An earlier reply as a block of a request."""
    kind = "own-statement" if attributes.pop("own", False) else "statement"
    body = {"thesis": THESIS, "arguments": [*arguments]} | attributes.pop("body", {})
    return Block(kind, {"round": 1, **attributes}, msgspec.json.encode(body).decode())


def hash_of(arguments: Sequence[Mapping[str, Any]]) -> str:
    """The hash of a reply of arguments without quotations."""
    return hash_of_reply(THESIS, (HashedArgument(a["n"], a["text"], ()) for a in arguments))


def body_of(
    kind: str,
    n: int,
    *blocks: Block,
    model: str = MODEL,
    seat: str = "",
    fragments: Sequence[str] = (),
    asked: str = "",
    mark: str = NONCE,
) -> bytes:
    """What the provider is sent for a turn of a kind about the nth case, in the debate with this mark."""
    case = [Block("question", {}, asked or question(n))]
    case += [Block("document", {"id": id, "title": "Terms", "round": 1}, text) for id, text in DOCUMENTS.items()]
    data = ["\n".join(fence(mark, block) for block in shown) for shown in (case, blocks)]
    messages = (*(Message("data", text) for text in data), Message("seat", "Play.", (kind, *fragments)))
    return encode(Request(seat or kind.rpartition(".")[2], model, model, messages, kind, {}, 4_000))


def request_of(body: bytes) -> Request:
    """The request that a body is."""
    return msgspec.json.decode(body, type=Request)


def case_of(n: int, *replies: str) -> tuple[str, str, str]:
    """The hashes and the question of the nth case with given replies."""
    material = hash_of_material(DOCUMENTS, replies)
    return material, hash_of_case(question(n), material), question(n)


def question_line(n: int, right: str = "yes") -> KeyLine:
    """The line of a question; its proposition states "yes"."""
    return KeyLine(*case_of(n), "questions", right, ANSWERS, f"Order {n} may.", "yes")


def proposal_of(n: int) -> list[dict[str, Any]]:
    """The arguments of a given proposal; the planted one is the second."""
    return [argument(1, n), argument(2, n), argument(3, n)]


def critic_line(n: int, answer: str, family: str = FLAW_FAMILIES[0]) -> KeyLine:
    """The line of a given proposal whose second argument has the flaw, or would have it."""
    case = case_of(n, hash_of(proposal_of(n)))
    return KeyLine(*case, "critic", answer, family=family, argument=2, span=KeySpan("D1", SPAN), value="30 days")


def pair_of(n: int, longer: str = "") -> dict[str, list[dict[str, Any]]]:
    """The arguments of the three replies that a moderator is given, by seat."""
    said = {
        "proposer": [argument(1, n)],
        "critic": [argument(1, n, against=[{"label": "Statement 1", "n": 1}])],
        "rebuttal": [argument(1, n, answers={"label": "Statement 2", "n": 1})],
    }
    if longer:
        said[longer][0]["text"] += " It is so, as each reader of the terms will find on the second reading." * 3
    return said


def pair_line(n: int, answer: str = "upheld", longer: str = "", feature: str = "length", favours: Any = "") -> KeyLine:
    """The line of replies that a moderator is given."""
    case = case_of(n, *(hash_of(arguments) for arguments in pair_of(n, longer).values()))
    return KeyLine(*case, "pairs", answer, feature=feature, favours=favours)


def critic_body(n: int, *, again: bool = False, **more: Any) -> bytes:
    """What a critic of a given proposal is sent, also when it is asked again."""
    retry = [Block("retry", {}, "{}")] if again else []
    return body_of("critic", n, statement(proposal_of(n), by="proposer"), *retry, **more)


def moderator_body(n: int, *, longer: str = "", swapped: bool = False, **more: Any) -> bytes:
    """What a moderator of given replies is sent, in one order or the other."""
    said = pair_of(n, longer)
    first, third = ("Statement 3", "Statement 1") if swapped else ("Statement 1", "Statement 3")
    said["critic"][0]["against"][0]["label"] = first
    blocks = [
        statement(said["proposer"], label=first),
        statement(said["critic"], label="Statement 2"),
        statement(said["rebuttal"], label=third, body={"concedes": []}),
    ]
    return body_of("moderator", n, *(blocks[::-1] if swapped else blocks), **more)


def ballot_body(n: int, *, seat: str = "debater-1", phase: str = "proposal", **more: Any) -> bytes:
    """What a debater is sent, who sees no other."""
    votes = Block("votes", {}, msgspec.json.encode({"options": [*ANSWERS, "escalate"]}).decode())
    return body_of("ballot.debater", n, votes, seat=seat, fragments=(f"ballot.{phase}",), **more)


def models(lines: Sequence[KeyLine], **shares: Any) -> FaultyModels:
    """Two models with the same faults, which know these cases."""
    faults = ModelFaults(**shares)
    return FaultyModels({MODEL: faults, SECOND: faults}, KnownCases(lines))


def said(body: bytes, faulty: FaultyModels | None, kind: str) -> Any:
    """The reply to a body, as the runner reads it."""
    read = decode_reply(kind, answer(body, faulty).text)
    assert not isinstance(read, str), read
    assert isinstance(read.reply, REPLY_TYPES[kind])
    return read.reply
