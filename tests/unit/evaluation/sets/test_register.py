"""The register of shipped sets is extended and never changed."""

from __future__ import annotations

import msgspec
import pytest

from service.evaluation.sets.form import ITEMS, LABELS, SET
from service.evaluation.sets.golden_set import GoldenSet
from service.evaluation.sets.register import (
    BadRegister,
    Register,
    differences,
    extended,
    read_register,
    write_register,
)
from tests.fixtures.golden_sets import CRITIC, QUESTIONS, Files, edited, files_of, read, rows, with_rows, with_text

EMPTY = Register({})


def version(files: Files, number: int) -> Files:
    return with_text(files, SET, "version = 1", f"version = {number}")


def registered() -> tuple[Register, list[GoldenSet]]:
    sets = [read(files_of(QUESTIONS)), read(files_of(CRITIC))]
    return extended(EMPTY, sets), sets


def with_another_item(files: Files) -> Files:
    """A version with a further question, whose proposition is wrong where the open split has one more."""
    items, labels = rows(files, ITEMS), rows(files, LABELS)
    new = {**items[0], "id": "q5", "question": "Is the lease one of a warehouse?", "states": "no"}
    files = with_rows(files, ITEMS, [*items, new])
    return with_rows(files, LABELS, [*labels, {**labels[0], "id": "q5", "answer": "yes", "note": "Its title says so."}])


def test_a_register_is_read_as_it_was_written_and_has_each_version_with_its_items() -> None:
    register, sets = registered()

    assert read_register(write_register(register)) == register
    assert [one.hash for one in register.sets[QUESTIONS]] == [sets[0].hash]
    assert register.sets[CRITIC][0].items.keys() == {"c1", "c2", "c3", "c4"}
    assert list(differences(register, sets)) == []
    assert extended(register, sets) == register


def test_a_set_that_was_changed_under_its_version_is_refused() -> None:
    register, _ = registered()
    changed = read(with_text(files_of(QUESTIONS), SET, "Apache-2.0", "CC0-1.0"))

    with pytest.raises(
        BadRegister, match=r"tiny-questions version 1 was registered as \w+ and is \w+; raise its version"
    ):
        extended(register, [changed])
    assert any("raise its version" in words for words in differences(register, [changed]))


def test_a_new_version_is_added_behind_the_one_that_stays() -> None:
    register, sets = registered()
    second = read(version(with_another_item(files_of(QUESTIONS)), 2))

    after = extended(register, [second, sets[1]])

    assert [one.version for one in after.sets[QUESTIONS]] == [1, 2]
    assert after.sets[QUESTIONS][0] == register.sets[QUESTIONS][0]
    assert list(differences(register, [second, sets[1]])) == [
        "tiny-questions version 2 is not registered; run: gainsay evaluate sets register"
    ]
    assert list(differences(after, sets)) == [
        "tiny-questions version 1 is older than the registered version 2; restore that one"
    ]


def test_a_version_is_the_next_one() -> None:
    with pytest.raises(BadRegister, match="tiny-questions version 3 follows version 1; expected version 2"):
        extended(registered()[0], [read(version(files_of(QUESTIONS), 3))])


@pytest.mark.parametrize(
    ("file", "member", "value"), [(ITEMS, "question", "Another?"), (LABELS, "note", "Another."), (ITEMS, "group", "g")]
)
def test_an_id_is_never_used_again_with_other_content(file: str, member: str, value: str) -> None:
    changed = edited(version(files_of(QUESTIONS), 2), file, 1, lambda row: row.update({member: value}))

    with pytest.raises(BadRegister, match="has q1 of version 1 with other content; retire it, take a new id"):
        extended(registered()[0], [read(changed)])


def test_an_item_stays_also_when_it_is_retired() -> None:
    files = version(files_of(CRITIC), 2)
    gone = {**with_rows(with_rows(files, ITEMS, rows(files, ITEMS)[2:]), LABELS, rows(files, LABELS)[2:])}
    unnamed = {path for path in gone if path.startswith("documents/") and path[10:74].encode() not in gone[ITEMS]}
    retired = with_text(files, SET, "[splits]", '[retired]\nc1 = "unclear"\nc2 = "unclear"\n[splits]')

    with pytest.raises(BadRegister, match="lacks c1 of version 1; keep the item and retire it with a reason"):
        extended(registered()[0], [read({path: raw for path, raw in gone.items() if path not in unnamed})])
    assert len(extended(registered()[0], [read(retired)]).sets[CRITIC]) == 2


def test_a_registered_set_that_is_not_shipped_is_missed() -> None:
    register, sets = registered()

    assert list(differences(register, sets[:1])) == [
        "the set tiny-critic is registered and not shipped; restore its folder"
    ]


@pytest.mark.parametrize("raw", [b"", b"[]", b'{"sets": {}, "more": 1}', b'{"sets": {"Tiny": []}}', b"\xff"])
def test_a_register_that_is_none_is_refused(raw: bytes) -> None:
    with pytest.raises(BadRegister, match="restore the file"):
        read_register(raw)


def test_a_register_whose_versions_are_not_in_order_is_refused() -> None:
    register, _ = registered()
    (one,) = register.sets[QUESTIONS]
    twice = Register({QUESTIONS: (one, one)})

    with pytest.raises(BadRegister, match=r"in order, found others of tiny-questions"):
        read_register(msgspec.json.encode(twice))
