"""The files of a set from mapped lines: documents by hash, splits by groups, propositions on both sides.

Whatever is drawn is drawn by SHA-256 of the seed and the id, so the same files and options make the same bytes.

    split   groups in the order of their draws go into `held` until it has its share of the items
    states  in each split, half of the items in the order of their draws state the labelled answer; the others state
            another one, of the answers that questions of the same kind have, or else of the closed list
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from hashlib import sha256
from typing import NamedTuple, get_args

import msgspec

from service.evaluation.sets.faults import BadSet, Fault
from service.evaluation.sets.form import ITEMS, LABELS, SET, Split, document_path
from service.evaluation.sets.golden_set import GoldenSet
from service.evaluation.sets.importing.mapped import ImportOptions, Mapped
from service.evaluation.sets.reading import read_set

_OPEN = "For work on prompts and models."
_HELD = "For claims: each look at its labels is counted."


class Built(NamedTuple):
    """The files of a set by their paths, and the set that they are. ``rewritten`` documents had line ends with CR."""

    files: Mapping[str, bytes]
    golden: GoldenSet
    rewritten: int


class _Placed(NamedTuple):
    """A mapped line with all that it left open."""

    source: Mapped
    documents: tuple[tuple[str, str], ...]
    group: str
    split: str
    states: str
    proposition: str


def build(mapped: Sequence[Mapped], options: ImportOptions, today: date, faults: list[Fault]) -> Built:
    """The set; raises `BadSet` with the faults so far and all that are found now, by the lines of the source."""
    faults.extend(_of_all(mapped, options))
    if faults or not mapped:
        raise BadSet(_by_line(faults) or [Fault("import", 0, "", "the files have no line to import")])
    changed = [tuple((title, _lf(text)) for title, text in one.documents) for one in mapped]
    rewritten = sum(
        old != new
        for one, texts in zip(mapped, changed, strict=True)
        for old, new in zip(one.documents, texts, strict=True)
    )
    answers = options.answers or tuple(sorted({one.answer for one in mapped}))
    placed = _placed(mapped, changed, answers, options)
    files = _files(placed, answers, options)
    try:
        return Built(files, read_set(files, today), rewritten)
    except BadSet as error:
        raise BadSet(_by_line([_at_the_source(fault, placed) for fault in error.faults])) from None


def _by_line(faults: Sequence[Fault]) -> list[Fault]:
    """Each fault once, by file, as the files are given, and by line."""
    files = {name: i for i, name in enumerate(dict.fromkeys(fault.file for fault in faults))}
    return sorted(dict.fromkeys(faults), key=lambda fault: (files[fault.file], fault.line))


def _of_all(mapped: Sequence[Mapped], options: ImportOptions) -> Iterator[Fault]:
    """What the lines have to have in common."""
    for name in ("task_type", "licence"):
        given = getattr(options, name)
        for one in mapped:
            mine = getattr(one, name)
            if given is None and mine is None:
                option = name.replace("_", "-")
                yield Fault(one.file, one.line, name, f"the line names none; say it for the set with --{option}")
            elif name == "task_type" and mine != (given or mapped[0].task_type) and mine is not None:
                words = f"{mine!r} is not the set's, {given or mapped[0].task_type!r}; a set has one task type"
                yield Fault(one.file, one.line, name, words)
    for one in mapped:
        if options.answers and one.answer not in options.answers:
            words = f"{one.answer!r} is not one of the answers given by --answer"
            yield Fault(one.file, one.line, "answer", words)
        if one.states is None and one.proposition is not None:
            words = "a proposition is given and not which answer it states; add states"
            yield Fault(one.file, one.line, "states", words)
        if one.proposition is None and options.proposition is None:
            words = "the line has none; give a template, such as --proposition 'The right answer is \"{answer}\".'"
            yield Fault(one.file, one.line, "proposition", words)
    yield from _mixed(mapped)
    if not options.answers and len({one.answer for one in mapped}) == 1 and mapped:
        words = f"all answers are {mapped[0].answer!r}; give the closed list with --answer, two times or more"
        yield Fault(mapped[0].file, mapped[0].line, "answer", words)


def _mixed(mapped: Sequence[Mapped]) -> Iterator[Fault]:
    """Splits and states are given on all lines or on none: what is drawn has to be balanced as a whole."""
    for name in ("states", "split"):
        without = [one for one in mapped if getattr(one, name) is None]
        if without and len(without) < len(mapped):
            for one in without:
                yield Fault(one.file, one.line, name, f"other lines have {name} and this one has none; add it")


def _placed(
    mapped: Sequence[Mapped],
    documents: Sequence[tuple[tuple[str, str], ...]],
    answers: Sequence[str],
    options: ImportOptions,
) -> list[_Placed]:
    groups = [one.group or _group(one, texts) for one, texts in zip(mapped, documents, strict=True)]
    splits = [one.split for one in mapped]
    drawn = _held(groups, options)
    in_split = [split or ("held" if group in drawn else "open") for split, group in zip(splits, groups, strict=True)]
    states = _states(mapped, in_split, answers, options)
    return [
        _Placed(one, texts, group, split, states_, _proposition(one, states_, options))
        for one, texts, group, split, states_ in zip(mapped, documents, groups, in_split, states, strict=True)
    ]


def _group(one: Mapped, documents: Sequence[tuple[str, str]]) -> str:
    """The documents that an item has; an item without any is a group of its own."""
    hashes = sorted(_sha256(text) for _, text in documents)
    return f"d-{_sha256(' '.join(hashes))[:12]}" if hashes else one.id


def _held(groups: Sequence[str], options: ImportOptions) -> set[str]:
    """The groups that go into `held`."""
    sizes: dict[str, int] = defaultdict(int)
    for group in groups:
        sizes[group] += 1
    held, n = set[str](), 0
    for group in sorted(sizes, key=lambda one: _draw(options, "split", one)):
        if n * 100 >= options.held_per_cent * len(groups):
            break
        held.add(group)
        n += sizes[group]
    return held


def _states(
    mapped: Sequence[Mapped], splits: Sequence[str], answers: Sequence[str], options: ImportOptions
) -> list[str]:
    """The answer that each proposition states."""
    alike: dict[tuple[int, str], set[str]] = defaultdict(set)
    for one in mapped:
        for key in enumerate(one.likeness):
            alike[key].add(one.answer)
    right: set[int] = set()
    for split in get_args(Split):
        mine = [i for i, found in enumerate(splits) if found == split]
        mine.sort(key=lambda i: _draw(options, "states", mapped[i].id))
        right.update(mine[: len(mine) // 2])
    found = []
    for i, one in enumerate(mapped):
        pools = [*(alike[key] for key in enumerate(one.likeness)), set(answers)]
        others = next(sorted(pool - {one.answer}) for pool in pools if pool - {one.answer})
        wrong = others[int(_draw(options, "other", one.id), 16) % len(others)]
        found.append(one.states or (one.answer if i in right else wrong))
    return found


def _proposition(one: Mapped, states: str, options: ImportOptions) -> str:
    if one.proposition is not None:
        return one.proposition
    template = options.proposition or ""
    return template.replace("{question}", one.question).replace("{answer}", states)


def _draw(options: ImportOptions, what: str, id: str) -> str:
    return _sha256("\n".join(("gainsay.import/1", options.seed, what, id)))


def _sha256(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _files(placed: Sequence[_Placed], answers: Sequence[str], options: ImportOptions) -> dict[str, bytes]:
    files = {SET: _manifest(placed, answers, options).encode()}
    items, labels = [], []
    for one in placed:
        documents = []
        for i, (title, text) in enumerate(one.documents, start=1):
            documents.append({"id": f"D{i}", "title": title, "sha256": _sha256(text)})
            files[document_path(_sha256(text))] = text.encode()
        items.append(
            {
                "id": one.source.id,
                "question": _lf(one.source.question),
                "documents": documents,
                "proposition": _lf(one.proposition),
                "states": one.states,
                "group": one.group,
                "split": one.split,
            }
        )
        label = {"id": one.source.id, "answer": one.source.answer, "basis": options.basis, "note": _lf(one.source.note)}
        labels.append(label)
    files[ITEMS], files[LABELS] = _lines(items), _lines(labels)
    return files


def _lines(rows: Sequence[Mapping[str, object]]) -> bytes:
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def _manifest(placed: Sequence[_Placed], answers: Sequence[str], options: ImportOptions) -> str:
    licences = dict.fromkeys(one.source.licence or "" for one in placed)
    drawn = placed[0].source.states is None
    labelling = options.labelling
    if drawn:
        labelling = (
            f"{labelling} Propositions were written when the set was imported, from a template; half of them in each "
            f"split state the labelled answer, chosen by SHA-256 with the seed {options.seed}."
        )
    published = options.published.isoformat() if options.published else "false"
    return f"""\
id = {_toml(options.id)}
version = {options.version}
task_type = {_toml(options.task_type or placed[0].source.task_type or "")}
kind = "questions"
answers = [{", ".join(map(_toml, answers))}]
labelled_by = {_toml(options.labelled_by)}
labelling = {_toml(labelling)}
basis = {_toml(options.basis)}
licence = {_toml(options.licence or "; ".join(licences))}
published = {published}

[splits]
open = {_toml(_OPEN)}
held = {_toml(_HELD)}
"""


def _toml(text: str) -> str:
    """A text as a basic string of TOML, whose escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _at_the_source(fault: Fault, placed: Sequence[_Placed]) -> Fault:
    """The fault of a finished set by the line of the file that it comes from."""
    if fault.file in (ITEMS, LABELS) and 0 < fault.line <= len(placed):
        source = placed[fault.line - 1].source
        return fault._replace(file=source.file, line=source.line)
    for one in placed:
        if fault.file in (document_path(_sha256(text)) for _, text in one.documents):
            return fault._replace(file=one.source.file, line=one.source.line, member="document")
    return fault
