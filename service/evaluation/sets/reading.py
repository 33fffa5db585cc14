"""Read a golden set from the bytes of its files: whole, or refused with every fault by file and line.

1  the files                 those of a set and no others, UTF-8, LF, within their limits
2  set.toml                  `manifest`
3  documents                 `documents`: named by their bytes, all used, none missing
4  items and labels          `shape`: unknown members, wrong values; an item has no member of a label
5  ids                       `pairing`: once each, an item with its label, a twin with its twin
6  answers and propositions  `balance`: of the closed list, two-sided in each split
7  sides                     `sides`: a pair's judgements are balanced, its feature is on the side that has it
8  quotations                `quotes`: spans exactly, citations by the engine of debates
9  blinding                  `blinding`: nothing of a label in what is asked
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from hashlib import sha256

import msgspec

from service.evaluation.sets.balance import check_answers, check_bases, check_propositions
from service.evaluation.sets.blinding import check_family_names, check_notes, check_telling_ids
from service.evaluation.sets.documents import check_documents, read_documents
from service.evaluation.sets.faults import BadSet, Fault
from service.evaluation.sets.form import (
    DOCUMENTS_MAX,
    FILES,
    ITEMS,
    ITEMS_MAX,
    LABELS,
    SET,
    TOTAL_BYTES,
    bytes_max,
)
from service.evaluation.sets.golden_set import GoldenSet
from service.evaluation.sets.items import ITEM_TYPES, Item, ItemSet
from service.evaluation.sets.labels import LABEL_TYPES, MEMBERS, Label
from service.evaluation.sets.lines import read_lines, text_of
from service.evaluation.sets.manifest import NOTHING, Outline, read_manifest
from service.evaluation.sets.pairing import check_ids, check_labels_of_critics, check_pairs, check_planted
from service.evaluation.sets.parts import At, Parts
from service.evaluation.sets.quotes import check_citations_of_given, check_spans
from service.evaluation.sets.shape import read_shape
from service.evaluation.sets.sides import check_features, check_judgements

FORM = "gainsay.set/1"
Rule = Callable[[Parts], Iterator[Fault]]
RULES: Sequence[Rule] = (
    check_documents,
    check_ids,
    check_pairs,
    check_planted,
    check_labels_of_critics,
    check_answers,
    check_bases,
    check_propositions,
    check_judgements,
    check_features,
    check_spans,
    check_citations_of_given,
    check_notes,
    check_family_names,
    check_telling_ids,
)
_NOT_IN_AN_ITEM = {
    **dict.fromkeys(MEMBERS, f"this is a label's member and belongs into {LABELS}; an item tells nothing of it"),
    "seat": "a given reply has no seat; remove it",
}
_NOT_IN_A_LABEL = {"split": f"this is an item's member and belongs into {ITEMS}"}


def read_set(files: Mapping[str, bytes], today: date, found: Sequence[Fault] = ()) -> GoldenSet:
    """The set that these files are, by their paths inside it; raises `BadSet` with all faults.

    ``today`` is the last day on which it can have been published. ``found`` are faults of the folder.
    """
    parts, faults = _read(files, today)
    faults = [*found, *faults]
    manifest = parts.outline.manifest
    if faults or manifest is None:
        raise BadSet(_ordered(faults))
    hashes = {path: sha256(raw).hexdigest() for path, raw in sorted(files.items())}
    asked = ItemSet(manifest, hash_of(hashes), tuple(parts.items.values()), parts.texts)
    return GoldenSet(asked, {label.id: label for label in parts.labels.values()}, hashes)


def hash_of(files: Mapping[str, str]) -> str:
    """The hash of a set by the SHA-256 of each file: that of canonical JSON with the form's name."""
    whole = {"form": FORM, "files": dict(files)}
    return sha256(msgspec.json.encode(whole, order="sorted")).hexdigest()


def _read(files: Mapping[str, bytes], today: date) -> tuple[Parts, list[Fault]]:
    faults: list[Fault] = []
    files = _within(files, faults)
    texts = {path: text_of(path, raw, faults) for path, raw in files.items() if path in FILES}
    manifest = texts.get(SET)
    outline = NOTHING if manifest is None else read_manifest(manifest, today, faults)
    documents = read_documents(files, faults)
    item_lines, items = _lines(ITEMS, texts.get(ITEMS), outline, faults)
    label_lines, labels = _lines(LABELS, texts.get(LABELS), outline, faults)
    parts = Parts(outline, item_lines, label_lines, items, labels, documents)  # type: ignore[arg-type]
    whole = outline.kind is not None and None not in (texts.get(ITEMS), texts.get(LABELS))
    for rule in RULES if whole else ():
        faults.extend(rule(parts))
    return parts, faults


def _within(files: Mapping[str, bytes], faults: list[Fault]) -> dict[str, bytes]:
    """The files that are within their limits."""
    kept = {}
    for path, raw in files.items():
        if len(raw) > (most := bytes_max(path)):
            faults.append(Fault(path, 0, "", f"the file may have {most:,} bytes, found {len(raw):,}; divide the set"))
        else:
            kept[path] = raw
    faults.extend(Fault(name, 0, "", "this file is missing; a set has it") for name in FILES if name not in files)
    if len(files) > DOCUMENTS_MAX + len(FILES):
        faults.append(Fault("documents", 0, "", f"a set may have {DOCUMENTS_MAX:,} documents, found more; divide it"))
    if (all_ := sum(map(len, files.values()))) > TOTAL_BYTES:
        faults.append(Fault("documents", 0, "", f"a set may have {TOTAL_BYTES:,} bytes, found {all_:,}; divide it"))
    return kept


def _lines(
    file: str, text: str | None, outline: Outline, faults: list[Fault]
) -> tuple[tuple[At, ...], dict[int, Item | Label]]:
    """Every line that is an object, and by its number each that is an item or a label of the set's kind."""
    whole: list[At] = []
    read: dict[int, Item | Label] = {}
    if text is None:
        return (), {}
    for number, written in read_lines(file, text, faults):
        if len(whole) == ITEMS_MAX:
            faults.append(Fault(file, number, "", f"a set may have {ITEMS_MAX:,} items, found more; divide it"))
            break
        whole.append(At(number, written))
        if outline.kind is None:
            continue
        types = ITEM_TYPES if file == ITEMS else LABEL_TYPES
        elsewhere = _NOT_IN_AN_ITEM if file == ITEMS else _NOT_IN_A_LABEL
        found, wrong = read_shape(written, types[outline.kind], elsewhere)
        faults.extend(Fault(file, number, place, words) for place, words in wrong)
        if found is not None:
            read[number] = found
    return tuple(whole), read


def _ordered(faults: Sequence[Fault]) -> list[Fault]:
    """Faults by file, in the order of the files, and by line."""
    order = {name: i for i, name in enumerate(FILES)}
    return sorted(dict.fromkeys(faults), key=lambda one: (order.get(one.file, len(order)), one.file, one.line))
