"""What a release has may not change or go; a successor beside it may come."""

from __future__ import annotations

import json

import pytest

from service.debate.kernel import FORMATS
from service.prompts import Prompts
from service.running import versions
from supply import frozen
from tests.unit.release.conftest import Repository

HERE = frozen.things()
ROOT = frozen.ROOT
FILES = {
    "tests/vectors/adversarial-1/plain.jsonl": "format adversarial/1",
    "tests/vectors/goldens/gate-1.decisions.jsonl": "engine gate/1",
    "tests/vectors/goldens/policy-1/shipped.json": "form policy/1",
    "tests/vectors/payloads/payload.turn.asked.v1.jsonl": "record payload.turn.asked.v1",
    "tests/vectors/bundles/plain.zip": "bundle plain.zip",
    "service/audit/schemas/1/leaf.v1.json": "form schemas/1",
    "service/prompts/critic.v1.md": "template critic version 1",
    "migrations/0001_schema.sql": "migration 0001_schema",
}
"""A file of each kind in the small tree, and what it defines."""


def test_nothing_that_a_release_has_was_changed() -> None:
    assert frozen.faults(ROOT, HERE) == []


def test_this_build_knows_every_format_and_template_that_a_release_has() -> None:
    """The files hold what a version means; the tables say whether there is code for it. Goldens do this for engines."""
    known = FORMATS.keys() | {f"{entry.id} version {entry.version}" for entry in Prompts.load().entries}
    toy = frozen.fill(ROOT, HERE, "9.9.9")

    assert {one.name for one in toy if one.kind in ("format", "template")} == known


def test_every_version_of_this_build_would_be_frozen() -> None:
    """What is sealed in a decision is on the list that a release fills, under the same name."""
    there = {name for _, name in frozen.present(ROOT)}
    layouts = {f"template.layout version {one.partition('/')[2]}" for one in versions.KNOWN["layout"]}
    sealed = {one for part, rows in versions.KNOWN.items() if part != "layout" for one in rows} | layouts

    assert sealed | FORMATS.keys() <= there
    assert {path.name for path in (ROOT / "migrations").glob("*.sql")} == {
        f"{name}.sql" for kind, name in frozen.present(ROOT) if kind == "migration"
    }
    assert {kind for kind, _ in frozen.present(ROOT)} == frozen.HOW.keys()
    assert all((ROOT / page).is_file() for page in frozen.HOW.values())


def test_the_list_is_read_as_it_was_written(repository: Repository) -> None:
    listed = frozen.fill(repository.root, [], "1.0.0")

    assert {(one.kind, one.name) for one in listed} == {
        ("bundle", "plain.zip"),
        ("engine", "gate/1"),
        ("form", "policy/1"),
        ("form", "schemas/1"),
        ("format", "adversarial/1"),
        ("migration", "0001_schema"),
        ("record", "payload.turn.asked.v1"),
        ("template", "critic version 1"),
    }
    assert frozen.read(frozen.written(listed)) == listed
    assert frozen.faults(repository.root, listed) == []
    assert frozen.unlisted(repository.root, listed) == {}


@pytest.mark.parametrize(("path", "thing"), FILES.items())
def test_a_change_of_what_a_release_has_is_named(repository: Repository, path: str, thing: str) -> None:
    listed = frozen.fill(repository.root, [], "1.0.0")
    file = repository.root / path
    text = file.read_bytes()

    file.write_bytes(text[:-1] + bytes([text[-1] ^ 1]))
    (changed,) = frozen.faults(repository.root, listed)
    file.unlink()
    gone = frozen.faults(repository.root, listed)

    assert changed.startswith(f"{thing} of release 1.0.0 was changed: {path}; put it back, and ")
    assert gone == [f"{thing} of release 1.0.0 is not there any more: {path}; put it back, since records name it"]
    with pytest.raises(ValueError, match="is not there any more"):
        frozen.fill(repository.root, listed, "1.1.0")


def test_only_kept_payloads_may_get_longer(repository: Repository) -> None:
    listed = frozen.fill(repository.root, [], "1.0.0")
    for path in FILES:
        with (repository.root / path).open("ab") as file:
            file.write(b"\n")

    found = {fault.partition(" of release")[0] for fault in frozen.faults(repository.root, listed)}

    assert found == {thing for thing in FILES.values() if not thing.startswith("record ")}


def test_a_template_that_the_manifest_does_not_name_any_more_is_gone(repository: Repository) -> None:
    listed = frozen.fill(repository.root, [], "1.0.0")
    manifest = repository.root / frozen.MANIFEST
    entry = {"id": "critic", "version": 2, "file": "critic.v1.md"}
    manifest.write_text(json.dumps({"entries": [entry]}))

    (fault,) = frozen.faults(repository.root, listed)

    assert fault.startswith("template critic version 1 of release 1.0.0 is not there any more")


def test_successors_stand_beside_and_are_the_next_releases(repository: Repository) -> None:
    first = frozen.fill(repository.root, [], "1.0.0")
    repository.write("tests/vectors/goldens/gate-2.decisions.jsonl", '{"version":"gate/2"}\n"declined"\n')
    repository.write("tests/vectors/goldens/gate-1.documents.jsonl", '{"version":"gate/1"}\n')
    repository.write("tests/vectors/adversarial-1/later.jsonl", "{}\n")

    second = frozen.fill(repository.root, first, "1.1.0")

    assert second[: len(first)] == first
    assert [str(one) for one in second[len(first) :]] == [
        "engine gate/1 of release 1.1.0",
        "engine gate/2 of release 1.1.0",
        "format adversarial/1 of release 1.1.0",
    ]
    (repository.root / frozen.LIST).write_text(frozen.written(second))
    assert frozen.released(repository.root) == {"gate/1", "gate/2", "policy/1"}
    assert frozen.recorded_by_the_first_release(repository.root) == frozenset({"adversarial-1/plain"})


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"form":"gainsay-frozen/2","frozen":[]}', '{"form":"gainsay-frozen/1"}']
)
def test_a_text_that_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a list of what is frozen"):
        frozen.read(text)


def test_the_command_names_what_was_changed(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = repository.root
    (root / frozen.LIST).write_text(frozen.written(frozen.fill(root, [], "1.0.0")))
    monkeypatch.setattr(frozen, "ROOT", root)
    monkeypatch.setattr(frozen.things, "__defaults__", (root,))

    assert frozen.main(["check"]) == 0
    assert frozen.main(["list"]) == 0
    assert "engine gate/1 of release 1.0.0: 1 files\n" in capsys.readouterr().out
    repository.replace("migrations/0001_schema.sql", "1", "2")
    assert frozen.main(["check"]) == 1
    assert capsys.readouterr().err.startswith("migration 0001_schema of release 1.0.0 was changed")
    assert frozen.main([]) == 2


def test_the_list_is_empty_before_the_first_release() -> None:
    from service import __version__

    assert bool(HERE) == (int(__version__.partition(".")[0]) >= 1)
