"""docs/evaluation.md, *Golden sets*: its commands print what it shows, and its tables have what there is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from service.evaluation.sets import form
from service.evaluation.sets.importing import READERS
from service.evaluation.sets.importing.csv_table import NEEDED, OPTIONAL
from service.evaluation.sets.importing.golden_lines import GoldenLine
from service.evaluation.sets.importing.inspect_lines import Metadata
from service.evaluation.sets.items import ITEM_TYPES, QuestionItem
from service.evaluation.sets.labels import FAMILIES, LABEL_TYPES
from service.evaluation.sets.manifest import Manifest

PAGE = (Path(__file__).resolve().parents[4] / "docs" / "evaluation.md").read_text("utf-8")
SECTION = PAGE.split("\n## Golden sets\n")[1].split("\n## ")[0]
BLOCKS = re.findall(r"```(sh|text)\n(.*?)```", SECTION, re.DOTALL)


def test_the_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shown, printed = 0, ""

    for kind, text in BLOCKS:
        if kind == "text":
            assert printed.rstrip("\n") == text.rstrip("\n")
            shown += 1
            continue
        ran = subprocess.run(
            ["bash", "-euc", text],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
            cwd=tmp_path,
            env={"PATH": path, "HOME": str(tmp_path)},
        )
        printed = ran.stdout

    assert shown == 2
    assert len(BLOCKS) == 5


def row(name: str) -> set[str]:
    """The names in code marks of a row, by what stands in its first cell."""
    (found,) = re.findall(rf"^\| `{name}` \|(.*)\|$", SECTION, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", found))


def test_every_key_of_set_toml_has_a_row() -> None:
    table = SECTION.split("| key of `set.toml` |")[1].split("\n\n")[0]
    named = {name for line in table.splitlines()[2:] for name in re.findall(r"`\[?(\w+)\]?`", line.split("|")[1])}

    assert named == set(Manifest.__struct_fields__)


@pytest.mark.parametrize("kind", get_args(form.Kind))
def test_every_member_of_items_and_labels_is_named(kind: form.Kind) -> None:
    common = set(QuestionItem.__struct_encode_fields__) & set(ITEM_TYPES["critic"].__struct_encode_fields__)
    members = {*ITEM_TYPES[kind].__struct_encode_fields__, *LABEL_TYPES[kind].__struct_encode_fields__}

    assert common == {"id", "question", "documents", "group", "split"}
    assert members - common - {"basis", "note"} <= row(kind) | {"answer"}


def test_every_family_and_every_form_is_named() -> None:
    assert all(f"`{family}`" in SECTION for family in FAMILIES)
    assert row("golden") >= set(GoldenLine.__struct_fields__)
    assert row("inspect") >= set(Metadata.__struct_fields__)
    assert row("csv") >= {*NEEDED, *OPTIONAL}
    assert set(READERS) == {"golden", "inspect", "csv"}
    assert f"{form.DOCUMENT_BYTES >> 20} MiB" in SECTION
    assert f"{form.ITEMS_MAX:,} items and {form.TOTAL_BYTES >> 20} MiB" in SECTION
