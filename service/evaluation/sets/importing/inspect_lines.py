"""Inspect's dataset form, JSON Lines of samples: input, target, choices, id, metadata, files, sandbox, setup.

input        the question: a text, or one message of the role user whose content is a text
target       the answer; with choices the letter of the right one. A list has one of them
choices      answers. The same list on every line is the closed list; else its letters are, and the question has them
id           the item's; without one it is made of the hash of the input
files        documents by their names, as texts; a path or a data URL is refused, and has to be put in as a text
metadata     context (a document), proposition, states, group, split, note, task_type, licence; others are refused,
             unless they are ignored by name
sandbox, setup  refused, unless they are ignored: a debate runs nothing
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from string import ascii_uppercase
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from service.evaluation.sets.faults import Fault, said
from service.evaluation.sets.form import AnswerText, LongText, Text, Title
from service.evaluation.sets.importing.mapped import ImportOptions, Mapped, objects, opaque
from service.evaluation.sets.manifest import Words
from service.evaluation.sets.shape import read_shape

Report = Callable[[str, str], None]
"""Notes a fault of a member."""
_NOT_RUN = "a debate runs nothing; leave it out knowingly with --ignore {}"
_ELSEWHERE = {name: _NOT_RUN.format(name) for name in ("sandbox", "setup")}


class Metadata(Struct, frozen=True, forbid_unknown_fields=True):
    """The members of a sample's metadata that a set has a place for."""

    context: LongText | None = None
    proposition: Text | None = None
    states: AnswerText | None = None
    group: Title | None = None
    split: Title | None = None
    note: Text | None = None
    task_type: Words | None = None
    licence: Words | None = None


class Sample(Struct, frozen=True, forbid_unknown_fields=True):
    """A sample, its input, target, id and files read apart."""

    choices: Annotated[tuple[AnswerText, ...], Meta(min_length=2, max_length=len(ascii_uppercase))] | None = None
    metadata: Metadata | None = None


class _Read(Struct, frozen=True):
    """A line whose parts were all mapped but for its choices, which depend on those of the other lines."""

    line: int
    input: str
    target: str
    id: str
    files: tuple[tuple[str, str], ...]
    sample: Sample


def read_inspect(file: str, text: str, options: ImportOptions, faults: list[Fault]) -> list[Mapped]:
    """Every line as a question; notes what cannot be mapped."""
    read = []
    for number, written in objects(file, text, options.ignore, faults):
        if (found := _line(file, number, written, faults)) is not None:
            read.append(found)
    lists = {one.sample.choices for one in read}
    mapped = [_mapped(file, one, faults, alike=len(lists) == 1) for one in read]
    return [one for one in mapped if one is not None]


def _line(file: str, number: int, written: dict[str, Any], faults: list[Fault]) -> _Read | None:
    before = len(faults)

    def fault(member: str, words: str) -> None:
        faults.append(Fault(file, number, member, words))

    asked = _input(written.pop("input", None), fault)
    target = _target(written.pop("target", None), fault)
    id = _id(written.pop("id", None), asked, fault)
    files = tuple(_files(written.pop("files", None), fault))
    rest = {name: value for name, value in written.items() if value is not None}
    sample, wrong = read_shape(rest, Sample, _ELSEWHERE)
    for place, words in wrong:
        advice = f"; or leave it out with --ignore {place}" if "unknown" in words else ""
        fault(place, f"{words}{advice}")
    if sample is None or len(faults) > before:
        return None
    return _Read(number, asked, target, id, files, sample)


def _input(value: Any, fault: Report) -> str:
    if isinstance(value, list):
        alone = value[0] if len(value) == 1 and isinstance(value[0], dict) else {}
        if alone.get("role") != "user" or not isinstance(alone.get("content"), str):
            fault(
                "input", "expected a text, or one message of the role user with a text; put the rest into the question"
            )
        value = alone.get("content")
    if isinstance(value, str) and value.strip():
        return value
    fault("input", "expected the question as a text; write it")
    return ""


def _target(value: Any, fault: Report) -> str:
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str) and value.strip():
        return value
    fault("target", f"expected one answer as a text, found {said(value)}; a question has one right answer")
    return ""


def _id(value: Any, asked: str, fault: Report) -> str:
    if value is None:
        return f"q-{sha256(asked.encode()).hexdigest()[:12]}"
    if isinstance(value, str | int) and not isinstance(value, bool) and (id := opaque(str(value))):
        return id
    fault("id", f"expected a text or a number, found {said(value)}")
    return ""


def _files(value: Any, fault: Report) -> Iterator[tuple[str, str]]:
    """The documents of a sample: names with texts."""
    if value is None:
        return
    if not isinstance(value, dict):
        fault("files", f"expected an object of names and texts, found {said(value)}")
        return
    for name, text in value.items():
        if not isinstance(text, str) or not text.strip():
            fault(f"files.{name}", "expected the document as a text")
        elif text.startswith("data:") or not re.search(r"\s", text.strip()):
            fault(f"files.{name}", "a path or a data URL is not read; put the text of the document in its place")
        else:
            yield name, text


def _mapped(file: str, read: _Read, faults: list[Fault], *, alike: bool) -> Mapped | None:
    choices, metadata = read.sample.choices, read.sample.metadata or Metadata()
    question, answer = read.input, read.target
    if choices is not None:
        letters = ascii_uppercase[: len(choices)]
        if len(answer) != 1 or answer not in letters:
            words = f"with choices the target is one of their letters, A to {letters[-1]}; found {said(answer)}"
            faults.append(Fault(file, read.line, "target", words))
            return None
        if alike:
            answer = choices[letters.index(answer)]
        else:
            listed = "\n".join(f"{letter}) {choice}" for letter, choice in zip(letters, choices, strict=True))
            question = f"{question}\n\n{listed}"
    context = (("Context", metadata.context),) if metadata.context else ()
    more = {name: value for name, value in msgspec.structs.asdict(metadata).items() if name not in ("context", "note")}
    return Mapped(
        file=file,
        line=read.line,
        id=read.id,
        question=question,
        documents=(*context, *read.files),
        answer=answer,
        note=metadata.note or "",
        likeness=(str(len(choices)),) if choices is not None else (),
        **more,
    )
