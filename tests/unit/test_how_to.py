"""A how-to lists exactly what its toy change does, and names what is there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.change.check import GOLDENS, KINDS, SENSITIVITY
from tests.change.toy import HERE, NotAStepError, read, toy
from tests.change.tree import Run

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/how-to"
PAGES = {
    "format": "add-a-format.md",
    "field": "add-a-field.md",
    "metric": "add-a-metric.md",
    "wire": "add-a-vendor.md",
    "rule": "change-a-rule.md",
}
"""The page of each kind of change."""
STEP = re.compile(r"^(?:(?P<listed>\d+)\. |\| (?P<row>\d+) \| )(?P<text>(?:.*\n)(?:   .*\n|\n(?=   ))*)", re.MULTILINE)
NAME = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)`")
NOT_CODE = {"businessUnit", "business_unit", "schemas"}
"""Words of the examples, which are in the code once their change is made."""


def page(kind: str) -> str:
    return (FOLDER / PAGES[kind]).read_text(encoding="utf-8")


def steps(kind: str) -> dict[int, str]:
    """The text of each step of a page, up to the first list that begins again."""
    found: dict[int, str] = {}
    for one in STEP.finditer(page(kind)):
        number = int(one["listed"] or one["row"])
        if number != len(found) + 1:
            break
        found[number] = one["text"]
    return found


def number_of(step: str) -> int:
    return int(step.partition(" ")[0])


def named(path: str, text: str) -> bool:
    """Whether a step names a file, by its path, as a link, or by the pattern of its folder."""
    folder, _, file = path.rpartition("/")
    generic = re.sub(r"\b(duel|toy)(?=[._/-]|\b)", "NAME", path)
    choices = {
        path,
        generic,
        re.sub(r"\bNAME\.(debater|judge)\b", "NAME.SEAT", generic),
        f"../{path.removeprefix('docs/')}",
    }
    if path == "CHANGELOG.md":
        return "changelog" in text.lower()
    return (
        any(choice in text for choice in choices)
        or (f"`{folder}/`" in text or f"`{folder}/NAME.py`" in text)
        or (file == "__init__.py" and f"`{folder}/" in text and "`__init__.py`" in text)
        or re.sub(r"service/samples/\w+/", "service/samples/*/", generic) in text
    )


@cache
def words() -> frozenset[str]:
    """Every word of the code, of the tests and of the toy changes."""
    files = [path for of in ("service", "tests", "migrations") for path in (ROOT / of).rglob("*") if path.is_file()]
    texts = (
        path.read_text(encoding="utf-8") for path in files if path.suffix in {".py", ".toml", ".sql", ".txt", ".json"}
    )
    own = {path.stem for path in files}
    return frozenset(own.union(*(re.findall(r"\w+", text) for text in texts)))


def unknown(text: str) -> list[str]:
    """The names in code marks, a part each, that stand in no file."""
    codes = [code for code in re.findall(r"`([^`]+)`", text) if "NAME" not in code]
    parts = {part for name in codes if NAME.fullmatch(f"`{name}`") for part in name.split(".")}
    parts |= {part for code in codes for part in re.findall(r"\b[a-z]+(?:_[a-z0-9]+)+\b", code)}
    return sorted(part for part in parts if part not in words() | NOT_CODE)


def test_what_a_check_leaves_out_is_there(root: Path) -> None:
    written = (root / GOLDENS).read_text(encoding="utf-8")

    assert [name for name in SENSITIVITY if f"\ndef {name}(" not in written] == []


def test_every_kind_of_change_has_a_page_a_toy_and_a_check() -> None:
    there = {path.name for path in FOLDER.glob("*.md")} - {"README.md"}

    assert set(PAGES.values()) == there
    assert set(KINDS) == set(PAGES) == {path.parent.name for path in HERE.glob("*/steps.txt")}


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_has_the_steps_of_its_toy_and_no_other(kind: str) -> None:
    numbers = {number_of(step) for step in toy(kind).said} - {0}

    assert set(steps(kind)) == numbers


@pytest.mark.parametrize("kind", PAGES)
def test_a_step_of_a_page_names_each_file_and_command_of_its_toy(kind: str) -> None:
    texts, missing = steps(kind), []
    for step in toy(kind).whole:
        text = texts[number_of(step.step)]
        if isinstance(step, Run):
            told = " ".join(step.words).removeprefix("-m ").replace("service prompts", "gainsay prompts")
            if told.replace("duel", "NAME") not in text:
                missing.append(f"{step.step}: {told}")
        elif not named(step.path, text):
            missing.append(f"{step.step}: {step.path}")

    assert missing == [], f"docs/how-to/{PAGES[kind]}"


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_names_the_command_that_names_what_is_missing(kind: str) -> None:
    assert f"make missing KIND={kind}" in page(kind)


@pytest.mark.parametrize("kind", PAGES)
def test_every_name_and_path_of_a_page_is_there(kind: str) -> None:
    paths = set(re.findall(r"`((?:service|tests|docs|migrations)/[^`*\s]*)`", page(kind)))
    made = {step.path for step in toy(kind).whole if not isinstance(step, Run)}
    later = ("tests/vectors/goldens/judgement-2", "tests/vectors/goldens/schemas-2", "service/audit/schemas/2")

    assert [
        path
        for path in sorted(paths - made)
        if not re.search(r"NAME|VERSION|[.]v2[.]", path) and not path.startswith(later)
        if not (ROOT / path).exists()
    ] == []
    assert unknown(page(kind)) == []


def test_a_name_that_has_gone_is_noticed() -> None:
    gone = "check_" + "critics"  # written apart, because this file is read too

    assert unknown(f'`"judgement/2": critique_2.{gone}`, `check_critique`, `NAME`, `service/gate.py`') == [gone]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("== 1 a\nnamed by: x\n", "expected something to do in '1 a', found nothing"),
        ("== 1 a\n\n$ python -m x\n", "expected either what names '1 a' or why nothing does"),
        ("== 1 a\nnamed: x\n\n$ python -m x\n", "expected lines as tests/change/toy.py lists them in '1 a'"),
        ("== 1 a\nhalf\n\nx\n$ python -m x\n", "expected a file or a command first in '1 a', found"),
        ("== 1 a\nhalf\n\n=== a.py\n--- old\nx\n", "expected a text and what replaces it in a.py of '1 a', found none"),
        ("== 1 a\nhalf\n\n$ python x\n\n== 1 a\nhalf\n\n$ python x\n", "expected each step once, found '1 a' again"),
    ],
)
def test_steps_that_cannot_be_read_are_refused(text: str, told: str) -> None:
    with pytest.raises(NotAStepError, match=re.escape(told)):
        read("wire", text)
