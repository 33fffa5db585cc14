"""Every text of a reply is listed: as read by people, or by name with the reason why it is none."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from msgspec import Struct, inspect

from service.debate.findings import Citation
from service.debate.replies import REPLY_TYPES, Moderation, Projection, Proposal, Statement
from service.debate.replies.adversarial import Objection
from service.debate.replies.texts import NAMES, READ, _members, texts_of, with_texts


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


def generated(found: Any, draw: random.Random) -> Any:
    """A value of a type; a text may be JSON, as the output of a projection is."""
    match found:
        case inspect.StructType(cls, fields):
            while True:
                with suppress(ValueError):  # two of one number or label, or bounds in the wrong order
                    return cls(**{field.name: generated(field.type, draw) for field in fields})
        case inspect.VarTupleType(item_type):
            return tuple(generated(item_type, draw) for _ in range(draw.randint(0, 3)))
        case inspect.UnionType(types):
            return generated(draw.choice(types), draw)
        case inspect.LiteralType(values):
            return draw.choice(values)
        case inspect.StrType():
            return draw.choice(("", "Words.", '{"a": ["Words.", 1, {"b": "More."}], "c": null}', "[]"))
        case inspect.BoolType():
            return draw.random() < 0.5
        case inspect.NoneType():
            return None
    assert isinstance(found, inspect.IntType)
    return draw.randint(1, 1_000_000)


@pytest.mark.parametrize("kind", sorted(set(REPLY_TYPES.values()), key=str))
def test_the_texts_of_a_reply_are_those_that_can_be_changed(kind: type[Struct]) -> None:
    """In their order, each with its path; and no part without a text holds another one."""
    draw, info = random.Random(str(kind)), inspect.type_info(kind)
    for _ in range(50):
        reply, noted = generated(info, draw), list[tuple[str, str]]()

        def note(path: str, text: str, noted: list[tuple[str, str]] = noted) -> str:
            noted.append((path, text))
            return f"{text}!"

        changed = with_texts(reply, note)
        assert texts_of(reply) == tuple(noted)
        assert [text for _, text in texts_of(changed)] == [f"{text}!" for _, text in noted]
        for cls in structs(info):
            assert set(READ.get(cls, ())) <= {member for member, *_ in _members(cls)}
