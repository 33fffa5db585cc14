"""Every text of a reply is listed: as read by people, or by name with the reason why it is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import Struct, inspect

from service.debate.findings import Citation
from service.debate.replies import REPLY_TYPES, Moderation, Projection, Proposal, Statement
from service.debate.replies.adversarial import Objection
from service.debate.replies.texts import NAMES, READ, texts_of, with_texts


def structs(found: Any) -> Iterator[type[Struct]]:
    """Every struct that a type holds, itself first."""
    match found:
        case inspect.StructType(cls, fields):
            yield cls
            for field in fields:
                yield from structs(field.type)
        case inspect.VarTupleType(item_type) | inspect.ListType(item_type):
            yield from structs(item_type)
        case inspect.UnionType(types):
            for one in types:
                yield from structs(one)


def is_text(found: Any) -> bool:
    """Whether a member holds free text, or several: the names of a closed list are none."""
    match found:
        case inspect.StrType():
            return True
        case inspect.VarTupleType(item_type):
            return is_text(item_type)
        case inspect.UnionType(types):
            return any(map(is_text, types))
    return False


ALL: set[type[Struct]] = {cls for reply in REPLY_TYPES.values() for cls in structs(inspect.type_info(reply))}


@pytest.mark.parametrize("cls", sorted(ALL, key=str))
def test_each_text_of_a_reply_is_read_or_excused(cls: type[Struct]) -> None:
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)
    texts = {field.name for field in info.fields if is_text(field.type)}

    assert set(READ.get(cls, ())) | NAMES.get(cls, {}).keys() == texts
    assert set(READ.get(cls, ())) & NAMES.get(cls, {}).keys() == set()


def test_the_tables_have_no_other_rows() -> None:
    assert READ.keys() | NAMES.keys() <= ALL


def test_a_text_has_the_path_that_it_has_in_json() -> None:
    reply = Proposal(
        "A thesis.",
        (Statement(1, "One.", (Citation("words", "D1"),)), Statement(2, "Two.")),
        "upheld",
        (Objection("But?", "No."),),
    )

    assert texts_of(reply) == (
        ("thesis", "A thesis."),
        ("arguments[0].text", "One."),
        ("arguments[1].text", "Two."),
        ("objections[0].text", "But?"),
        ("objections[0].answer", "No."),
    )


def test_the_strings_of_an_output_are_texts_of_their_own() -> None:
    reply = Projection('{"decision": "Sign.", "conditions": ["A cap."], "cost": 3}')

    assert texts_of(reply) == (("output.decision", "Sign."), ("output.conditions[0]", "A cap."))
    changed = with_texts(reply, lambda path, text: f"{path}: {text}")
    assert msgspec.json.decode(changed.output) == {
        "decision": "output.decision: Sign.",
        "conditions": ["output.conditions[0]: A cap."],
        "cost": 3,
    }


def test_texts_that_stay_as_they_are_leave_the_reply_itself() -> None:
    reply = Moderation((), ("One.",), (), False, "Two.", "HIGH", ("Three.",), "upheld")

    assert with_texts(reply, lambda _, text: text) is reply
    assert with_texts(reply, lambda path, text: "New." if path == "resolvedPoints[0]" else text).resolved_points == (
        "New.",
    )
