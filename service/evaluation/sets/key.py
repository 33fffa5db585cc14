"""The key of golden sets for simulated models with known faults: a line for each item, with its label.

A key gives labels away, so it is made for tests of the measuring and is handed to the simulated provider alone. Models
of vendors are never shown a line of it: what renders requests imports neither this module nor labels.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from service.debate.replies.adversarial import Critique, Proposal, Rebuttal
from service.errors import InvalidCase
from service.evaluation.sets.form import Split
from service.evaluation.sets.golden_set import GoldenSet
from service.evaluation.sets.items import CriticItem, Item, PairItem, QuestionItem, numbered_of
from service.evaluation.sets.key_line import (
    HashedArgument,
    KeyLine,
    KeySpan,
    as_shown,
    hash_of_case,
    hash_of_material,
    hash_of_reply,
)
from service.evaluation.sets.labels import CriticLabel, Label, PairLabel, QuestionLabel


class TwoKeys(InvalidCase):
    """Two items are shown alike, and their labels differ."""

    code = "two_keys"
    title = "Two items are shown alike and have different labels"


def key_of(sets: Iterable[GoldenSet], *, allow_held: bool) -> tuple[KeyLine, ...]:
    """The lines of these sets' items in the order of the sets and their files, each once.

    Items of the split held are in it with ``allow_held`` alone. Raises `TwoKeys` for items that a model cannot tell
    apart and that have different answers.
    """
    splits: tuple[Split, ...] = ("open", "held") if allow_held else ("open",)
    lines: dict[tuple[str, str], KeyLine] = {}
    for golden in sets:
        labels = {id: label for split in splits for id, label in golden.labels(split, allow_held=True).items()}
        for item in golden.asked.active():
            if item.id in labels:
                _add(lines, _line(golden, item, labels[item.id]), f"{golden.manifest.id}, item {item.id}")
    return tuple(lines.values())


def write_key(lines: Iterable[KeyLine]) -> bytes:
    """The lines as the JSON Lines of a key file."""
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def _add(lines: dict[tuple[str, str], KeyLine], line: KeyLine, where: str) -> None:
    """Add a line; an item of another set that is the same question with another proposition is a line of its own."""
    if any(other.answer != line.answer for other in lines.values() if other.shown == line.shown):
        raise TwoKeys(
            f"{where} is shown to models as another item of these sets, and its label is {line.answer!r} where that "
            "one has another: leave one of the two sets out"
        )
    lines.setdefault((line.shown, line.proposition), line)


def _line(golden: GoldenSet, item: Item, label: Label) -> KeyLine:
    documents = {one.id: one.text for one in golden.asked.documents(item)}
    material = hash_of_material(documents, _given(item))
    case = (material, hash_of_case(item.question, material), as_shown(item.question))
    match item, label:
        case QuestionItem(), QuestionLabel():
            answers = golden.manifest.answers or ()
            return KeyLine(*case, "questions", label.answer, answers, as_shown(item.proposition), item.states)
        case CriticItem(), CriticLabel(family=family, argument=argument):
            span, value = KeySpan(label.span.document, label.span.quote), label.value or ""
            return KeyLine(*case, "critic", label.answer, family=family, argument=argument, span=span, value=value)
        case PairItem(), PairLabel():
            return KeyLine(*case, "pairs", label.answer, feature=label.feature, favours=label.favours)
        case _:
            raise TypeError(f"the label of {item.id} is of another kind")


def _given(item: Item) -> tuple[str, ...]:
    """The hashes of the replies that are given in an item, but for its framing, which is no statement."""
    match item:
        case QuestionItem():
            return ()
        case CriticItem():
            return (_reply(item.proposal),)
        case PairItem(given=given):
            return (_reply(given.proposal), _reply(given.critique), _reply(given.rebuttal))


def _reply(reply: Proposal | Critique | Rebuttal) -> str:
    """The hash of a reply; a citation without a document is shown with none."""
    quoted = ((a, tuple((c.quote, str(c.source_id)) for c in a.citations)) for a in numbered_of(reply))
    return hash_of_reply(reply.thesis, (HashedArgument(a.n, a.text, quotes) for a, quotes in quoted))
