"""Quotations stand in their documents: a span exactly, a citation by the engine that checks those of a debate.

A flaw that code finds by itself says nothing about a critic, so a given reply has no citation that is not verified,
and no argument that would be struck.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.checks.citations import judging
from service.debate.replies import Reply
from service.debate.turns import turn_id
from service.evaluation.sets.faults import Fault, said
from service.evaluation.sets.items import CriticItem, Item, PairItem
from service.evaluation.sets.labels import CriticLabel
from service.evaluation.sets.parts import Parts, of_item, of_label

_TURN = turn_id(1, "proposer")
_GIVEN = ("proposal", "critique", "rebuttal")


def check_spans(parts: Parts) -> Iterator[Fault]:
    """The quotation of a span stands in its document, character by character, and once."""
    items = {item.id: item for item in parts.items.values()}
    for line, label in parts.labels.items():
        item = items.get(label.id)
        if not isinstance(label, CriticLabel) or item is None:
            continue
        text = _texts(parts, item).get(label.span.document)
        if text is None:
            continue  # a fault of its own
        if not (times := text.count(label.span.quote)):
            words = (
                f"{said(label.span.quote)} does not stand in {label.span.document}; copy it exactly, with its line ends"
            )
            yield of_label(line, "span.quote", words)
        elif times > 1:
            words = f"it stands {times} times in {label.span.document}; take more of the passage, so that it is one"
            yield of_label(line, "span.quote", words)


def check_citations_of_given(parts: Parts) -> Iterator[Fault]:
    """Every citation of a given reply is verified, and code strikes none of its arguments."""
    for line, item in parts.items.items():
        texts = _texts(parts, item)
        if len(texts) < len(item.documents):
            continue  # a document is missing, which is a fault of its own
        for member, reply in _given(item).items():
            yield from _of_reply(line, member, reply, texts)


def _given(item: Item) -> Mapping[str, Reply]:
    if isinstance(item, CriticItem):
        return {"proposal": item.proposal}
    if isinstance(item, PairItem):
        return {f"given.{name}": getattr(item.given, name) for name in _GIVEN}
    return {}


def _of_reply(line: int, member: str, reply: Reply, texts: Mapping[str, str]) -> Iterator[Fault]:
    for argument in judging(texts)({_TURN: reply}).arguments:
        place = f"{member} argument {argument.n}"
        for i, verdict in enumerate(argument.verdicts, start=1):
            if verdict.verdict != "verified":
                why = f" ({verdict.reason})" if verdict.reason else ""
                words = f"its citation {i} is {verdict.verdict}{why}; quote the document's words, and name it by its id"
                yield of_item(line, place, words)
        if argument.struck == "uncited":
            words = "it claims evidence and cites nothing, so code would strike it; cite a passage"
            yield of_item(line, place, words)


def _texts(parts: Parts, item: Item) -> dict[str, str]:
    return {one.id: parts.texts[one.sha256] for one in item.documents if one.sha256 in parts.texts}
