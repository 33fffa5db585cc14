"""The texts of a case that came from outside, each with its field, in the order in which seats read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from service.debate.model import Case
from service.debate.options import (
    Options,
    StancesOptions,
    debater_seats,
    debaters_of,
    instructions_of,
    personas_of,
    positions_of,
    votes_of,
)
from service.debate.suspicions import CaseField, InjectionFamily

POSING: frozenset[InjectionFamily] = frozenset(("fence", "reply", "tool", "system", "authority"))
COUNTED: Mapping[CaseField, frozenset[InjectionFamily]] = {
    **dict.fromkeys(("persona", "instructions", "outputSchema"), POSING | {"verdict", "score", "secrecy"}),
    **dict.fromkeys(("debater", "stance", "vote"), POSING | {"secrecy"}),
}
"""What counts in the fields whose text is the caller's own: it may address its seat and order tone, language and form,
and a stance or a vote names the side that it is for. In other fields every family counts."""


class FieldText(NamedTuple):
    """A text that came with a case: its field, which one of the field it is, and the text as it is stored."""

    field: CaseField
    name: str
    text: str


def texts_before_documents(case: Case, options: Options) -> Iterator[FieldText]:
    """What seats read of a case before its documents, and the documents' titles."""
    yield FieldText("question", "", case.question)
    if case.single_agent_answer:
        yield FieldText("answer", "", case.single_agent_answer)
    for position in positions_of(options):
        yield FieldText("position", position.id, position.text)
    for document in case.documents:
        yield FieldText("title", document.id, document.title)


def texts_after_documents(case: Case, options: Options) -> Iterator[FieldText]:
    """What single seats read of the caller's own, and what no model reads but a person does."""
    for seat, persona in personas_of(options).items():
        yield FieldText("persona", seat, persona)
    yield from _instructions(options)
    for seat, debater in zip(debater_seats(options), debaters_of(options), strict=False):
        yield FieldText("debater", seat, debater.name)
        if debater.stance:
            yield FieldText("stance", seat, debater.stance)
    for number, vote in enumerate(votes_of(options), start=1):
        yield FieldText("vote", str(number), vote)
    if isinstance(options, StancesOptions) and options.output_schema is not None:
        for path, text in _strings(options.output_schema):
            yield FieldText("outputSchema", path, text)
    for key, value in case.metadata.items():
        yield FieldText("metadata", key, value)
    for name, context in _context(case).items():
        if context:
            yield FieldText("context", name, context)


def _instructions(options: Options) -> Iterator[FieldText]:
    """The caller's instructions, each text once, under the first seat that it reaches."""
    seats = dict[str, str]()
    for seat in (*debater_seats(options), "judge", "synthesizer"):
        if text := instructions_of(options, seat):
            seats.setdefault(text, seat)
    for text, seat in seats.items():
        yield FieldText("instructions", seat, text)


def _context(case: Case) -> dict[str, str | None]:
    return {
        "taskType": case.asked_task_type,
        "downsideBasis": case.downside_basis,
        "useCase": case.use_case,
        "intendedUse": case.intended_use,
        "materiality": case.materiality,
        "force.reason": case.force.reason if case.force else None,
    }


def _strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text within a JSON value, with its JSON Pointer (RFC 6901)."""
    match value:
        case str():
            yield path, value
        case dict():
            for key, one in value.items():
                yield from _strings(one, f"{path}/{key.replace('~', '~0').replace('/', '~1')}")
        case list():
            for n, one in enumerate(value):
                yield from _strings(one, f"{path}/{n}")
        case _:
            return
