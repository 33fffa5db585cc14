"""Nothing of a label shows in what is asked: no sentence of a note, no name of a family, no id that tells.

A sentence counts from `SENTENCE_WORDS` words on; case, punctuation and blanks are no difference. Documents count as
asked, because every request has them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from service.evaluation.sets.faults import Fault, said
from service.evaluation.sets.form import ITEMS, LABELS, document_path
from service.evaluation.sets.items import CriticItem, QuestionItem
from service.evaluation.sets.labels import FAMILIES, CriticLabel
from service.evaluation.sets.parts import Parts, of_item, of_label

SENTENCE_WORDS = 5
TELLING = ("flaw", "sound", "wrong", "correct", "upheld", "reject", "planted")
"""Parts of an id that say which twin it is."""
ORDERED_PAIRS = 8
"""From so many pairs on, an order that tells is distinguished from chance."""
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_FAMILY = re.compile("|".join(FAMILIES), re.IGNORECASE)


def check_notes(parts: Parts) -> Iterator[Fault]:
    """No sentence of a note stands in an item or in a document; of several places the first is named."""
    sentences = _sentences(parts)
    if not sentences:
        return
    for place, words in _asked(parts):
        for line, sentence in _found(words, sentences):
            where = f"{place.file}:{place.line}" if place.line else place.file
            yield of_label(
                line, "note", f"its sentence {said(sentence)} stands in {where}; a note is read at scoring alone"
            )


_Sentences = Mapping[tuple[str, ...], list[tuple[tuple[str, ...], int, str]]]
"""By its first words: each sentence's words, the line of its label, and the sentence."""


def _sentences(parts: Parts) -> _Sentences:
    found: dict[tuple[str, ...], list[tuple[tuple[str, ...], int, str]]] = defaultdict(list)
    for line, label in parts.labels.items():
        for sentence in _SENTENCE_END.split(label.note):
            words = _words(sentence)
            if len(words) >= SENTENCE_WORDS:
                found[words[:SENTENCE_WORDS]].append((words, line, sentence))
    return found


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _found(words: Sequence[str], sentences: _Sentences) -> Iterator[tuple[int, str]]:
    """The sentences that stand in a text, by the line of their label; each is taken out, and so named once."""
    for at in range(len(words) - SENTENCE_WORDS + 1):
        key = tuple(words[at : at + SENTENCE_WORDS])
        for one in tuple(sentences.get(key, ())):
            whole, line, sentence = one
            if tuple(words[at : at + len(whole)]) == whole:
                sentences[key].remove(one)
                yield line, sentence


def _asked(parts: Parts) -> Iterator[tuple[Fault, tuple[str, ...]]]:
    """The words of each item and of each document, with its place."""
    for at in parts.item_lines:
        yield of_item(at.line, "", ""), tuple(word for text in _texts(at.written) for word in _words(text))
    for sha256, text in parts.texts.items():
        yield Fault(document_path(sha256), 0, "", ""), _words(text)


def _texts(value: Any) -> Iterator[str]:
    """Every text of an item."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def check_family_names(parts: Parts) -> Iterator[Fault]:
    """No item and no document has the name of a family of flaws."""
    for at in parts.item_lines:
        for text in _texts(at.written):
            if found := _FAMILY.search(text):
                yield of_item(at.line, "", f"it has {said(found[0])}, the name of a family of flaws; say it otherwise")
                break
    for sha256, text in parts.texts.items():
        if found := _FAMILY.search(text):
            yield Fault(document_path(sha256), 0, "", f"it has {said(found[0])}, the name of a family of flaws")


def check_telling_ids(parts: Parts) -> Iterator[Fault]:
    """No id says which answer is right, and no order of ids or lines does."""
    for line, item in parts.items.items():
        if isinstance(item, QuestionItem):
            continue
        for part in TELLING:
            if part in item.id.casefold():
                yield of_item(line, "id", f"{said(part)} in an id tells which twin it is; take an opaque id")
    yield from _telling_orders(parts)


def _telling_orders(parts: Parts) -> Iterator[Fault]:
    """Whether the flawed twin comes first, or last, in more than four of five pairs."""
    labels = parts.label_of()
    pairs: dict[str, list[tuple[int, str, bool]]] = defaultdict(list)
    for line, item in parts.active():
        _, label = labels.get(item.id, (0, None))
        if isinstance(item, CriticItem) and isinstance(label, CriticLabel):
            pairs[item.pair].append((line, item.id, label.answer == "flawed"))
    whole = [twins for twins in pairs.values() if len(twins) == 2 and twins[0][2] != twins[1][2]]
    if len(whole) < ORDERED_PAIRS:
        return
    for what, place in (("ids, sorted,", 1), ("lines", 0)):
        first = sum(min(twins, key=lambda one, p=place: one[p])[2] for twins in whole)  # type: ignore[misc]
        if max(first, len(whole) - first) * 5 > len(whole) * 4:
            words = (
                f"the order of the {what} tells which twin is flawed: it comes first in {first} of {len(whole)} pairs; "
                f"order them by chance, and {LABELS} alike"
            )
            yield Fault(ITEMS, 0, "id", words)
