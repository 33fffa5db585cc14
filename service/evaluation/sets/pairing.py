"""Items and labels belong to each other, and the two items of a pair are twins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from service.evaluation.sets.faults import Fault, said
from service.evaluation.sets.form import ITEMS, LABELS, SET
from service.evaluation.sets.items import CriticItem
from service.evaluation.sets.labels import CriticLabel, Label, PairLabel
from service.evaluation.sets.parts import At, Parts, of_item, of_label


def check_ids(parts: Parts) -> Iterator[Fault]:
    """Each id stands once among the items and once among the labels, and in both."""
    items = _first_lines(parts.item_lines)
    labels = _first_lines(parts.label_lines)
    yield from _twice(ITEMS, parts.item_lines)
    yield from _twice(LABELS, parts.label_lines)
    for id, line in items.items():
        if id not in labels:
            yield of_item(line, "id", f"the item {said(id)} has no label; write one in {LABELS}")
    for id, line in labels.items():
        if id not in items:
            yield of_label(line, "id", f"the label {said(id)} has no item; write it in {ITEMS}, or remove the label")
    for id in sorted(parts.outline.retired - items.keys()):
        words = f"no item has this id; a retired item stays in {ITEMS}, so that its id is never used again"
        yield Fault(SET, 0, f"retired.{id}", words)


def _first_lines(lines: Sequence[At]) -> dict[str, int]:
    """The line on which each id stands first."""
    return {at.id: at.line for at in reversed(lines) if at.id is not None}


def _twice(file: str, lines: Sequence[At]) -> Iterator[Fault]:
    first: dict[str, At] = {}
    for at in lines:
        before = at if at.id is None else first.setdefault(at.id, at)
        if before.written == at.written and before is not at:
            yield Fault(file, at.line, "id", f"line {before.line} is the same; remove one of them")
        elif before is not at:
            words = f"line {before.line} has the id {said(at.id)} with other content; an id is used once"
            yield Fault(file, at.line, "id", words)


def check_pairs(parts: Parts) -> Iterator[Fault]:
    """Each pair has two items that differ in what is given alone, and labels that make them twins."""
    pairs = _pairs(parts)
    retired, labels = parts.outline.retired, parts.label_of()
    for pair, lines in pairs.items():
        first = lines[0].line
        if len(lines) != 2:
            words = f"the pair {said(pair)} needs two items, found {len(lines)}: {_lines(lines)}"
            yield of_item(first, "pair", words)
            continue
        if len({at.id in retired for at in lines}) == 2:
            words = f"one item of the pair {said(pair)} is retired and its twin is not; retire both"
            yield of_item(first, "pair", words)
        one, other = lines
        yield from _differing(one, other)
        yield from _labelled(labels, one, other)


def _pairs(parts: Parts) -> dict[str, list[At]]:
    pairs: dict[str, list[At]] = defaultdict(list)
    for at in parts.item_lines:
        pair = at.written.get("pair")
        if parts.outline.kind in ("critic", "pairs") and isinstance(pair, str):
            pairs[pair].append(at)
    return pairs


def _lines(lines: Sequence[At]) -> str:
    return ", ".join(f"line {at.line}" for at in lines)


def _differing(one: At, other: At) -> Iterator[Fault]:
    """Twins differ in their given replies and in nothing else, or the comparison would be of something else."""
    for name in ("split", "question", "documents", "group"):
        if one.written.get(name) != other.written.get(name):
            words = f"line {one.line} of the same pair has another {name}; twins share it"
            yield of_item(other.line, name, words)
    for name in ("proposal", "given"):
        if name in one.written and one.written[name] == other.written.get(name):
            yield of_item(other.line, name, f"line {one.line}, its twin, has the same {name}; twins differ in it")


def _labelled(labels: Mapping[str, tuple[int, Label]], one: At, other: At) -> Iterator[Fault]:
    pair = one.written.get("pair")
    found = [labels[id] for id in (one.id, other.id) if id is not None and id in labels]
    if len(found) != 2:
        return
    (line, first), (at, second) = found
    if isinstance(first, CriticLabel) and isinstance(second, CriticLabel):
        if first.answer == second.answer:
            words = f"both items of the pair {said(pair)} are {first.answer} (line {line}); one is flawed, one is sound"
            yield of_label(at, "answer", words)
        for name in ("family", "argument", "span", "value"):
            if getattr(first, name) != getattr(second, name):
                words = f"line {line}, of its twin, has another {name}; one rule scores both twins, so they share it"
                yield of_label(at, name, words)
    if isinstance(first, PairLabel) and isinstance(second, PairLabel):
        for name in ("answer", "feature"):
            if getattr(first, name) != getattr(second, name):
                words = f"line {line}, of its twin, has another {name}; a pair is one case, so they share it"
                yield of_label(at, name, words)
        if first.favours == second.favours:
            words = f"both items of the pair {said(pair)} have the feature on the same side; cross them"
            yield of_label(at, "favours", words)


def check_planted(parts: Parts) -> Iterator[Fault]:
    """Twins differ in the argument that their labels name: there the flaw is planted."""
    labels = parts.label_of()
    first: dict[str, tuple[int, CriticItem]] = {}
    for line, item in parts.items.items():
        label = labels.get(item.id, (0, None))[1]
        if not isinstance(item, CriticItem) or not isinstance(label, CriticLabel):
            continue
        before, twin = first.setdefault(item.pair, (line, item))
        mine, other = (
            [argument for argument in one.proposal.arguments if argument.n == label.argument] for one in (item, twin)
        )
        if twin is not item and mine and mine == other:
            words = f"argument {label.argument} is the same as in line {before}, its twin; the flaw is planted in it"
            yield of_item(line, "proposal", words)


def check_labels_of_critics(parts: Parts) -> Iterator[Fault]:
    """A label of a critic's item names an argument of the proposal and a document of the item."""
    items = {item.id: item for item in parts.items.values()}
    for line, label in parts.labels.items():
        item = items.get(label.id)
        if not isinstance(label, CriticLabel) or not isinstance(item, CriticItem):
            continue
        numbers = [argument.n for argument in item.proposal.arguments]
        if label.argument not in numbers:
            have = ", ".join(map(str, numbers)) or "none"
            yield of_label(
                line, "argument", f"the proposal of {label.id} has no argument {label.argument}; it has: {have}"
            )
        ids = [document.id for document in item.documents]
        if label.span.document not in ids:
            words = f"the item {label.id} has no document {said(label.span.document)}; it has: {', '.join(ids)}"
            yield of_label(line, "span.document", words)
        if label.value is not None and label.value not in label.span.quote:
            words = f"{said(label.value)} does not stand in span.quote; write it as the document has it"
            yield of_label(line, "value", words)
