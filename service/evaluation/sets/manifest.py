"""``set.toml``: what a golden set is, who labelled it and how, and when it was published."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, NamedTuple, get_args

from msgspec import Meta, Struct, structs

from service.evaluation.sets.faults import Fault, said
from service.evaluation.sets.form import ANSWERS_MAX, ID, SET, SET_ID, AnswerText, Basis, Kind
from service.evaluation.sets.shape import read_shape

Words = Annotated[str, Meta(min_length=1, max_length=2_000)]
BY_CONSTRUCTION, BY_EXPERTS, BY_OUTCOME = "labels by construction", "labels by experts", "labels by outcomes"
_BASES: Mapping[Basis, str] = {"construction": BY_CONSTRUCTION, "expert": BY_EXPERTS, "outcome": BY_OUTCOME}
_SENTENCE = re.compile(r"\S \S")


class Splits(Struct, frozen=True, forbid_unknown_fields=True):
    """What each split is for, a sentence each."""

    open: Words
    held: Words


class Stated(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The keys of ``set.toml`` that are texts, numbers and lists; ``answers`` is of questions alone."""

    id: Annotated[str, Meta(pattern=SET_ID)]
    version: Annotated[int, Meta(ge=1, le=100_000)]
    task_type: Annotated[str, Meta(min_length=1, max_length=100)]
    kind: Kind
    labelled_by: Words
    labelling: Words
    basis: Basis
    licence: Words
    splits: Splits
    answers: Annotated[tuple[AnswerText, ...], Meta(min_length=2, max_length=ANSWERS_MAX)] | None = None


class Manifest(Stated, frozen=True, kw_only=True):
    """What a golden set is. ``retired`` has the reason by the id of an item; ``published`` is ``None`` for never."""

    retired: Mapping[str, str]
    published: date | None

    @property
    def provenance(self) -> str:
        """What the labels rest on and who made them, as each report has to show it."""
        return f"{_BASES[self.basis]}, by {self.labelled_by}"


class Outline(NamedTuple):
    """What the rest of a set is read by, as far as ``set.toml`` says it: a set with faults has them all listed."""

    kind: Kind | None
    basis: Basis | None
    answers: tuple[str, ...]
    retired: frozenset[str]
    manifest: Manifest | None


def read_manifest(text: str, today: date, faults: list[Fault]) -> Outline:
    """The manifest of a set, without `Outline.manifest` where it has faults, which are noted."""
    try:
        written: dict[str, Any] = tomllib.loads(text)
    except RecursionError:
        faults.append(Fault(SET, 0, "", "a value is nested too deeply"))
        return NOTHING
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        faults.append(Fault(SET, int(line[1]) if line else 0, "", f"expected TOML, found other text: {error}"))
        return NOTHING
    published, retired = written.pop("published", _NONE), written.pop("retired", {})
    found, wrong = read_shape(written, Stated, {})
    faults.extend(Fault(SET, 0, place, words) for place, words in wrong)
    before = len(faults)
    day = _published(published, today, faults)
    _check_retired(retired, faults)
    if found is not None:
        _check_values(found, faults)
    manifest = None
    if found is not None and len(faults) == before:
        manifest = Manifest(**structs.asdict(found), published=day, retired=retired)
    kind, basis, answers = written.get("kind"), written.get("basis"), written.get("answers")
    return Outline(
        kind if kind in get_args(Kind) else None,
        basis if basis in get_args(Basis) else None,
        tuple(one for one in answers if isinstance(one, str)) if isinstance(answers, list) else (),
        frozenset(retired) if isinstance(retired, dict) else frozenset(),
        manifest,
    )


NOTHING = Outline(None, None, (), frozenset(), None)
"""Of a file that says nothing."""
_NONE = object()


def _published(value: object, today: date, faults: list[Fault]) -> date | None:
    if value is False:
        return None
    if value is _NONE:
        faults.append(Fault(SET, 0, "published", "this key is missing; write the date of publication, or false"))
    elif not isinstance(value, date) or isinstance(value, datetime):
        words = f"expected a date without quotes, such as 2026-11-01, or false, found {said(value)}"
        faults.append(Fault(SET, 0, "published", words))
    elif value > today:
        words = f"the date {value} is in the future (today is {today}); write false until the set is published"
        faults.append(Fault(SET, 0, "published", words))
    else:
        return value
    return None


def _check_retired(value: object, faults: list[Fault]) -> None:
    if not isinstance(value, dict):
        faults.append(Fault(SET, 0, "retired", 'expected a table of ids, each with its reason: id = "why"'))
        return
    for id, reason in value.items():
        if not re.search(ID, id):
            faults.append(Fault(SET, 0, f"retired.{said(id)}", "this is the id of no item"))
        if not isinstance(reason, str) or not reason.strip():
            faults.append(
                Fault(SET, 0, f"retired.{said(id)}", "expected the reason as a text; an item is retired for one")
            )


def _check_values(found: Stated, faults: list[Fault]) -> None:
    if found.kind == "questions" and found.answers is None:
        words = 'this key is missing; a set of questions needs its closed list, such as answers = ["yes", "no"]'
        faults.append(Fault(SET, 0, "answers", words))
    if found.kind != "questions" and found.answers is not None:
        faults.append(Fault(SET, 0, "answers", f"a set of kind {found.kind} has no list of answers; remove it"))
    for answer, times in Counter(one.casefold() for one in found.answers or ()).items():
        if times > 1:
            faults.append(Fault(SET, 0, "answers", f"the answer {said(answer)} stands {times} times; keep one"))
    if not found.task_type.isprintable() or not found.task_type.strip():
        faults.append(Fault(SET, 0, "task_type", "expected one line of printable characters"))
    for name, sentence in structs.asdict(found.splits).items():
        if not _SENTENCE.search(sentence.strip()):
            words = f"expected a sentence that says what the split is for, found {said(sentence)}"
            faults.append(Fault(SET, 0, f"splits.{name}", words))
