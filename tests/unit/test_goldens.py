"""What is recomputed gives what it gave when its version was recorded; a change without a new version fails here."""

from __future__ import annotations

import ast
import inspect
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import pytest

from service.checks.citations import ENGINES as CITATIONS
from service.checks.consensus import AGREEMENTS, CONDUCTS, SYNTHESES
from service.checks.injection import INJECTIONS
from service.checks.judgement import CRITIQUES, VOICES
from service.checks.overlap import OVERLAPS
from service.checks.question_type import CLASSIFICATIONS
from service.debate.versions import Part
from service.gate import GATES
from service.money.reckoning import USAGES
from service.policy.seating import SEATINGS
from service.running import versions
from service.running.checker import ENGINES
from service.verify.checks import ENGINES as KNOWN_ENGINES
from tests.vectors import perturbed
from tests.vectors.goldens import FOLDER, RELEASED, Golden, difference, lines, recorded, registry, stored, write

GOLDENS = registry()
LEFT_OUT = tuple(os.environ.get("GAINSAY_TEST_GOLDENS_LEFT_OUT", "").split())
"""Goldens whose names begin so are not made again: a toy change that leaves their engines alone names them."""
HELD = {*get_args(Part)} - {"layout"}
"""The parts of which each version has a golden here; a layout's golden is pinned among the prompts."""
TABLES: tuple[Mapping[str, object], ...] = (
    AGREEMENTS,
    CITATIONS,
    CLASSIFICATIONS,
    CONDUCTS,
    CRITIQUES,
    GATES,
    INJECTIONS,
    VOICES,
    OVERLAPS,
    SEATINGS,
    SYNTHESES,
    USAGES,
)
"""The tables of versions, as docs/how-to/change-a-rule.md lists them."""
UNCOUNTED = {"service/policy/policy.py": "`choose_format` reads a table of the policy file, and has no number to move"}
"""Modules of a row that are not perturbed, and why."""
VERSIONED = re.compile(r"(\w+)_[2-9]\d*\.py")
"""The file of a module's later version."""


@pytest.mark.parametrize("name", [name for name in GOLDENS if not name.startswith(LEFT_OUT)])
def test_a_version_gives_what_it_gave(name: str) -> None:
    file = FOLDER / name
    changed = difference(name, GOLDENS[name], file.read_bytes() if file.is_file() else None)

    assert changed is None, changed


@pytest.mark.parametrize(
    ("module", "what"),
    [
        ("service/checks/judgement/critique.py", "3 -> 4"),
        ("service/checks/judgement/voices.py", "800 -> 801"),
        ("service/checks/injection/rules.py", "50 -> 49"),
        ("service/checks/given.py", "1 -> 2"),
        ("service/checks/overlap.py", "3 -> 4"),
        ("service/checks/consensus/transcript.py", "1000 -> 999"),
        ("service/gate.py", "('forced', 'policy') without 'forced'"),
        ("service/policy/seating.py", "4 -> 3"),
        ("service/money/prices.py", "160 -> 161"),
        ("service/money/tokens.py", "4 -> 5 in MESSAGE_TOKENS"),
        ("service/checks/question_type.py", "4000 -> 3999"),
        ("service/checks/citations/text/steps.py", "20000000 -> 19999999"),
        ("service/checks/citations/match/slips.py", "1 -> 0 in len(ours) + 1"),
        ("service/checks/citations/text/quoted_words.py", "5 -> 6 in QUOTED_WORDS"),
        ("service/checks/texts/embedded.py", "3 -> 4 in _SHORTEST_STATED"),
        ("service/report/labels.py", "'Completed' said otherwise"),
    ],
)
def test_the_goldens_see_a_change_in_a_module_that_others_import(module: str, what: str) -> None:
    """One for each family of goldens, of those that ``python -m tests.vectors.perturbed`` tries."""
    moved = [
        (family, change)
        for family, change in perturbed.all_changes([module])
        if f"{change.what} in {change.where}".startswith(what)
    ]

    assert moved
    assert all(perturbed.seen(change, family) for family, change in moved)


def test_every_family_of_goldens_is_shown_to_see_a_change() -> None:
    (shown,) = [
        mark.args[1]
        for mark in test_the_goldens_see_a_change_in_a_module_that_others_import.pytestmark  # type: ignore[attr-defined]
        if mark.name == "parametrize"
    ]
    families = {family for module, _ in shown for family, _ in perturbed.all_changes([module])}

    numbered = {
        family
        for family, patterns in perturbed.FAMILIES.items()
        if any(next(perturbed.changes(path), None) for each in patterns for path in perturbed.ROOT.glob(each))
    }

    assert families == numbered, "a family without a number is shown by none"


@pytest.mark.parametrize(
    ("module", "family"), [("service/gate.py", "gates"), ("service/checks/judgement/__init__.py", "critiques")]
)
def test_goldens_that_nothing_has_moved_are_seen_as_they_are(module: str, family: str) -> None:
    """Also in a package's own module: a process that cannot import it sees a change in everything."""
    same = perturbed.Change(module, 1, "as it is", ast.parse((perturbed.ROOT / module).read_text()))

    assert not perturbed.seen(same, family)


def test_every_module_that_is_perturbed_is_there() -> None:
    """A module that moves takes its goldens' sensitivity along, or fails here."""
    patterns = [pattern for patterns in perturbed.FAMILIES.values() for pattern in patterns]

    assert [pattern for pattern in patterns if not list(perturbed.ROOT.glob(pattern))] == []


def test_every_excuse_is_of_a_change_that_is_tried() -> None:
    paths = {name.partition(": ")[0] for name in perturbed.NOT_SEEN}
    tried = {change.name for path in paths for change in perturbed.changes(perturbed.ROOT / path)}

    assert perturbed.NOT_SEEN.keys() - tried == set()


def test_an_excuse_that_does_not_hold_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = [one for one in perturbed.all_changes(["service/gate.py"]) if one[1].what.endswith("without 'forced'")]
    name = moved[0][1].name

    assert [*perturbed.unseen(moved)] == []

    monkeypatch.setitem(perturbed.NOT_SEEN, name, "nothing forces it")

    assert [line.partition(" of ")[2] for line in perturbed.unseen(moved)] == [
        f"{name}, which is seen, although nothing forces it"
    ]


def test_a_later_version_has_cases_of_its_own() -> None:
    """The file of an older version stays as it is."""
    cases = {2: ["b"], 1: ["a"]}

    assert lines("gate/1", cases) == b'{"version":"gate/1"}\n"a"\n'
    assert lines("gate/2", cases) == b'{"version":"gate/2"}\n"a"\n"b"\n'


def test_a_debate_that_was_recorded_later_is_none_of_an_older_versions_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    debates = {one.name.partition(" ")[0] for one in recorded.checks("critique")}
    one = min(debates)

    monkeypatch.setattr(recorded, "LATER", frozenset({one}))

    assert {each.name.partition(" ")[0] for each in recorded.checks("critique")} == debates - {one}
    assert {each.name.partition(" ")[0] for each in recorded.checks("critique", later=True)} == {one}


def test_a_module_of_a_later_version_is_used_by_a_table() -> None:
    assert forgotten(perturbed.ROOT / "service") == []


def test_a_row_that_was_forgotten_is_named(tmp_path: Path) -> None:
    (tmp_path / "critique.py").write_text("")
    (tmp_path / "critique_2.py").write_text("from x import critique_2\n")
    (tmp_path / "sha_256.py").write_text("")
    (tmp_path / "__init__.py").write_text("from x import critique\n")

    assert forgotten(tmp_path) == ["critique_2.py: no table imports it; add its row (docs/how-to/change-a-rule.md)"]

    (tmp_path / "__init__.py").write_text("from x import critique, critique_2\n")

    assert forgotten(tmp_path) == []


def later(folder: Path) -> list[Path]:
    """The modules of later versions: NAME_2.py beside NAME.py."""
    return sorted(
        path
        for path in folder.rglob("*.py")
        if (found := VERSIONED.fullmatch(path.name)) and path.with_name(f"{found[1]}.py").is_file()
    )


def forgotten(folder: Path) -> list[str]:
    """The modules of later versions that no other module imports."""
    texts = {path: path.read_text() for path in folder.rglob("*.py")}
    return [
        f"{path.name}: no table imports it; add its row (docs/how-to/change-a-rule.md)"
        for path in later(folder)
        if not any(re.search(rf"\b{path.stem}\b", text) for other, text in texts.items() if other != path)
    ]


def test_every_version_of_this_build_is_held_by_a_golden() -> None:
    engines = {name for names in KNOWN_ENGINES.values() for name in names}
    parts = {name for part in HELD for name in versions.KNOWN[part]}

    held = {golden.version for golden in GOLDENS.values()}

    assert engines | parts <= held, "add the version to a module of tests/vectors/goldens"
    assert set(ENGINES.values()) <= engines, "what is recorded can be verified"


def test_every_module_of_judgement_is_of_a_version(root: Path) -> None:
    there = {path.relative_to(root) for path in (root / "service/checks/judgement").glob("[!_]*.py")}

    assert sorted(str(path) for path in there - modules_of(CRITIQUES, VOICES)) == [], (
        "is of no version: add a row in service/checks/judgement/__init__.py"
    )


def test_every_module_of_a_version_is_perturbed() -> None:
    """A module of a row, and one of a later version (NAME_2.py beside NAME.py), has a family that its goldens hold."""
    found = {path.relative_to(perturbed.ROOT) for path in later(perturbed.ROOT / "service")}
    found |= {path for path in modules_of(*TABLES) if path.name != "__init__.py" and str(path) not in UNCOUNTED}
    held = {
        path.relative_to(perturbed.ROOT)
        for patterns in perturbed.FAMILIES.values()
        for pattern in patterns
        for path in perturbed.ROOT.glob(pattern)
    }

    assert len(found) > 8
    assert sorted(str(path) for path in found - held) == [], "add the module to FAMILIES in tests/vectors/perturbed.py"


def modules_of(*tables: Mapping[str, object]) -> set[Path]:
    """The modules of the functions in the rows of some tables; a row may have several."""
    rules = [rule for table in tables for row in table.values() for rule in (row if isinstance(row, tuple) else (row,))]
    modules = {inspect.getmodule(rule) for rule in rules}
    return {Path(str(module.__file__)).relative_to(perturbed.ROOT) for module in modules if module is not None}


def test_every_golden_has_a_maker() -> None:
    gone = sorted(set(stored()) - set(GOLDENS))

    assert not gone, (
        f"no row of a table makes {', '.join(gone)}: put the version's row back, or, where it was never released, run "
        "python -m tests.vectors.goldens"
    )


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

    changed = write(goldens, tmp_path, frozenset())

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
