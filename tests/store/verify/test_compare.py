"""`gainsay audit compare` as an examiner runs it: two files and a pinned key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from service.audit.bundle import pack
from service.audit.note import SigningKey
from service.cli.audit.compare import compare
from tests.fixtures.bundles import LOG_KEY, OTHER_KEY, WITNESSES, Draft, Tree, export, tree

Drafts = Mapping[str, Draft]
KEY = ["--key", LOG_KEY.public.encode()]


def log_of(drafts: list[Draft], extra: int = 0, key: SigningKey = LOG_KEY) -> Tree:
    """A log of the records of these debates, one debate after the other, and of further leaves."""
    leaves = [leaf for draft in drafts for leaf in draft.leaves] + [b"further %d" % n for n in range(extra)]
    return tree(leaves, drafts[0].envelope.log, key, WITNESSES[:1])


@pytest.fixture(scope="module")
def files(drafts: Drafts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of one log as it grew, and of a fork."""
    folder = tmp_path_factory.mktemp("compared")
    plain, retried = drafts["plain"], drafts["retried"]
    early, late = log_of([plain]), log_of([plain, retried], extra=5)
    (folder / "early.zip").write_bytes(pack(plain.bundle(early)))
    (folder / "late.zip").write_bytes(pack(retried.bundle(late)))
    (folder / "same.zip").write_bytes(pack(plain.bundle(late)))
    (folder / "early.txt").write_bytes(early.note)
    (folder / "header.txt").write_text(f"Gainsay-Checkpoint: {' '.join(early.note.decode().split(chr(10))[:3])}\n")
    (folder / "all.jsonl").write_bytes(b"".join(export([plain, retried])))
    (folder / "first.jsonl").write_bytes(b"".join(export([plain])))
    (folder / "some.jsonl").write_bytes(b"".join(export([plain], complete=False, others=[retried])))
    (folder / "others.jsonl").write_bytes(b"".join(export([retried], complete=False, others=[plain])))
    (folder / "third.txt").write_bytes(tree(late.leaves[:3], plain.envelope.log, LOG_KEY, ()).note)
    forged = plain.copy().reseal(
        lambda n, envelope: envelope.update(recorded="2026-11-22T00:00:00.000Z") if n == 3 else None
    )
    (folder / "fork.zip").write_bytes(pack(forged.bundle(log_of([forged, retried], extra=5))))
    (folder / "fork.jsonl").write_bytes(b"".join(export([forged])))
    (folder / "foreign.zip").write_bytes(pack(plain.bundle(log_of([plain], key=OTHER_KEY))))
    other = log_of([drafts["limited"]])
    (folder / "tenant.zip").write_bytes(pack(drafts["limited"].bundle(other)))
    (folder / "words.txt").write_text("This is no head.\n")
    whole = pack(plain.bundle(late))
    (folder / "cut.zip").write_bytes(whole[: len(whole) // 2])
    lines = export([plain])
    (folder / "cut.jsonl").write_bytes(b"".join(lines[:-2]))
    (folder / "edited.jsonl").write_bytes(b"".join([*lines[:3], *lines[4:]]))
    return folder


def run(files: Path, *arguments: str) -> Result:
    named = [str(files / word) if (files / word).exists() else word for word in arguments]
    return CliRunner().invoke(compare, [*named, *KEY], standalone_mode=False)


@pytest.mark.parametrize(
    ("one", "other", "code", "words"),
    [
        ("early.zip", "early.zip", 0, "both have the head of size"),
        ("early.zip", "early.txt", 0, "both have the head of size"),
        ("early.zip", "header.txt", 0, "both have the head of size"),
        ("first.jsonl", "early.zip", 0, "both have the head of size"),
        ("late.zip", "same.zip", 0, "both have the head of size"),
        ("early.zip", "same.zip", 0, "are the first of the"),
        ("early.txt", "late.zip", 0, "are the first of the"),
        ("third.txt", "late.zip", 4, "do not show whether"),
        ("some.jsonl", "all.jsonl", 0, "both have the head of size"),
        ("third.txt", "first.jsonl", 0, "the 3 records of"),
        ("others.jsonl", "all.jsonl", 1, "FORK PROVEN"),
        ("same.zip", "fork.zip", 1, "FORK PROVEN"),
        ("early.zip", "fork.zip", 1, "FORK PROVEN"),
        ("early.txt", "fork.jsonl", 1, "FORK PROVEN"),
        ("header.txt", "fork.jsonl", 1, "CONTRADICTED, and one head is UNSIGNED"),
        ("first.jsonl", "fork.jsonl", 1, "FORK PROVEN"),
        ("early.zip", "tenant.zip", 4, "no log is in both files"),
        ("early.zip", "foreign.zip", 1, "the signature of a known key, found none"),
        ("early.zip", "words.txt", 1, "neither a bundle, an export nor a head"),
        ("early.zip", "cut.zip", 1, "expected"),
        ("early.zip", "cut.jsonl", 1, "was the file cut?"),
        ("early.zip", "edited.jsonl", 1, "the index of the next record of a complete log"),
    ],
)
def test_two_files_come_to(files: Path, one: str, other: str, code: int, words: str) -> None:
    for pair in ((one, other), (other, one)):
        result = run(files, *pair)

        assert (result.return_value, words in result.output) == (code, True), result.output


def test_json_has_the_signed_heads_for_filing(files: Path) -> None:
    result = run(files, "same.zip", "fork.zip", "--json")
    found: dict[str, Any] = json.loads(result.output)

    assert (found["verdict"], found["exit"]) == ("notConsistent", 1)
    notes = [head["note"] for letter in "AB" for head in found["files"][letter]["heads"]]
    assert len(set(notes)) == 2
    assert all("localhost" in note for note in notes)
    assert [step["name"] for step in found["steps"]] == ["A", "B", "localhost/default/1"]


def test_without_a_key_nothing_is_compared_unless_that_is_allowed(files: Path) -> None:
    words = [str(files / "early.zip"), str(files / "same.zip")]

    refused = CliRunner().invoke(compare, words, standalone_mode=False)
    allowed = CliRunner().invoke(compare, [*words, "--allow-unsigned"], standalone_mode=False)

    assert (refused.return_value, "UNSIGNED" in refused.output) == (4, True)
    assert (allowed.return_value, "CONSISTENT" in allowed.output) == (0, True)
