"""What is recomputed gives what it gave when its version was recorded; a change without a new version fails here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from service.debate.versions import Part
from service.running import versions
from service.running.checker import ENGINES
from service.verify.checks import ENGINES as KNOWN_ENGINES
from tests.vectors import perturbed
from tests.vectors.goldens import RELEASED, Golden, difference, registry, stored, write

GOLDENS = registry()
HELD: tuple[Part, ...] = ("gate", "seating", "usage", "classification")
"""The parts of which each version has a golden here."""


@pytest.mark.parametrize("name", GOLDENS)
def test_a_version_gives_what_it_gave(name: str) -> None:
    changed = difference(name, GOLDENS[name], stored().get(name))

    assert changed is None, changed


@pytest.mark.parametrize(
    ("module", "family", "what"),
    [
        ("service/checks/judgement/critique.py", "critiques", "3 -> 4"),
        ("service/checks/judgement/injection.py", "injections", "50 -> 49"),
        ("service/checks/overlap.py", "overlaps", "3 -> 4"),
        ("service/gate.py", "gates", "('forced', 'policy') without 'forced'"),
        ("service/money/prices.py", "usages", "160 -> 161"),
        ("service/checks/question_type.py", "question_types", "4000 -> 3999"),
    ],
)
def test_the_goldens_see_a_threshold_that_moves_by_one(module: str, family: str, what: str) -> None:
    """A few of those that ``python -m tests.vectors.perturbed`` tries, each in a process of its own."""
    moved = [change for change in perturbed.changes(perturbed.ROOT / module) if change.what == what]

    assert moved
    assert all(perturbed.seen(change, family) for change in moved)


def test_goldens_that_nothing_has_moved_are_seen_as_they_are() -> None:
    path = perturbed.ROOT / "service/gate.py"
    same = perturbed.Change("service/gate.py", 1, "as it is", ast.parse(path.read_text()))

    assert not perturbed.seen(same, "gates")


def test_every_version_of_this_build_is_held_by_a_golden() -> None:
    engines = {name for names in KNOWN_ENGINES.values() for name in names}
    parts = {name for part in HELD for name in versions.KNOWN[part]}

    held = {golden.version for golden in GOLDENS.values()}

    assert engines | parts <= held, "add the version to a module of tests/vectors/goldens"
    assert set(ENGINES.values()) <= engines, "what is recorded can be verified"


def test_every_golden_has_a_maker() -> None:
    gone = set(stored()) - set(GOLDENS)

    assert not gone, "the rules of a recorded version have gone: put them back, or run python -m tests.vectors.goldens"


def test_no_released_version_has_gone() -> None:
    assert {golden.version for golden in GOLDENS.values()} >= RELEASED


def test_a_difference_says_what_was_recorded_and_what_to_do() -> None:
    golden = Golden("judgement/1", lambda: b"a\nnew\n")

    told = difference("judgement-1.jsonl", golden, b"a\nold\n")

    assert told is not None
    assert told.startswith("these are recorded under judgement/1: give it a new version (docs/how-to/change-a-rule.md)")
    assert "python -m tests.vectors.goldens" in told
    assert told.endswith("judgement-1.jsonl, line 2\n  recorded old\n  now      new")
    assert difference("judgement-1.jsonl", golden, b"a\nnew\n") is None
    assert "judgement-1.jsonl is missing" in (difference("judgement-1.jsonl", golden, None) or "")
    assert "line 2\n  recorded \n  now      new" in (difference("judgement-1.jsonl", golden, b"a\n") or "")


def test_the_command_writes_what_differs_and_drops_what_nothing_makes(tmp_path: Path) -> None:
    (tmp_path / "same.jsonl").write_bytes(b"same")
    (tmp_path / "gone.jsonl").write_bytes(b"gone")
    (tmp_path / "code.py").write_bytes(b"")
    goldens = {name: Golden("gate/1", name.partition(".")[0].encode) for name in ("same.jsonl", "new.jsonl")}

    changed = write(goldens, tmp_path)

    assert sorted(changed) == ["gone.jsonl", "new.jsonl"]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "same.jsonl": b"same",
        "new.jsonl": b"new",
        "code.py": b"",
    }


@pytest.mark.parametrize(
    ("goldens", "said"),
    [
        ({"a.jsonl": Golden("gate/1", lambda: b"other"), "b.jsonl": Golden("gate/2", lambda: b"")}, "another a.jsonl"),
        ({"b.jsonl": Golden("gate/2", lambda: b"")}, "none of gate/1"),
    ],
)
def test_the_command_changes_nothing_where_a_released_version_would_change(
    tmp_path: Path, goldens: dict[str, Golden], said: str
) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"released")

    with pytest.raises(ValueError, match=said):
        write(goldens, tmp_path, frozenset({"gate/1"}))

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.jsonl": b"released"}


def test_a_released_version_may_have_a_successor(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"released")
    goldens = {"a.jsonl": Golden("gate/1", lambda: b"released"), "b.jsonl": Golden("gate/2", lambda: b"new")}

    assert write(goldens, tmp_path, frozenset({"gate/1"})) == ["b.jsonl"]


def test_a_module_that_adds_a_file_of_another_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.vectors.goldens.gates.goldens", lambda: {"usage-1.usage.jsonl": Golden("gate/1", bytes)})

    with pytest.raises(ValueError, match=r"two goldens are called usage-1\.usage\.jsonl"):
        registry()
