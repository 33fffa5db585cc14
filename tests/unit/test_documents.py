"""The changelog says nothing twice, and each decision has a title of its own and one row in the table."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
ROW = re.compile(r"^\| \[(\d{4})\]\(([\w.-]+)\) \| (.+?) \| (.+?) \|$", re.MULTILINE)


def twice(texts: list[str]) -> list[str]:
    """The texts that stand twice, and those with which another one begins."""
    plain = Counter(" ".join(text.casefold().split()) for text in texts)
    longer = [text for text in plain if any(other.startswith(f"{text},") for other in plain)]
    return [text for text, number in plain.items() if number > 1] + longer


def test_the_changelog_says_nothing_twice() -> None:
    items = re.findall(r"^- (.+(?:\n  .+)*)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)

    assert len(items) > 30
    assert twice(items) == []


def test_no_two_decisions_have_the_same_title() -> None:
    titles = [page.read_text("utf-8").split("\n", 1)[0].partition(": ")[2] for page in PAGES]

    assert all(titles)
    assert twice(titles) == []


def test_each_decision_has_one_row_in_the_table_and_a_name_of_its_own() -> None:
    rows = ROW.findall((ROOT / "docs" / "decisions" / "README.md").read_text("utf-8"))

    assert [file for _, file, _, _ in rows] == [page.name for page in PAGES]
    assert all(file.startswith(f"{number}-") for number, file, _, _ in rows)
    assert twice([name for _, _, name, _ in rows]) == []


def test_a_text_that_stands_twice_is_noticed_however_its_lines_break() -> None:
    assert twice(["A limit holds\n  for all.", "a limit holds for all."]) == ["a limit holds for all."]
    assert twice(["The same", "The same"]) == ["the same"]
    assert twice(["What has a version", "What has a version, and more"]) == ["what has a version"]
