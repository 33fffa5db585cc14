"""What the house finds in its own bundle before it leaves: whatever commits to a part of it, the dated heads too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from service.audit.bundle import BEFORE, FIRST, Bundle, digests, unpack
from service.audit.note import PublicKey
from service.verify.bundle import find_damage
from service.verify.steps import Trust

BUNDLES = Path(__file__).resolve().parents[2] / "vectors" / "bundles"
KEY = PublicKey.parse((BUNDLES / "log.vkey").read_text("ascii").strip())
TRUST = Trust(keys=(KEY,), allow_unwitnessed=True)
Edit = Callable[[dict[str, bytes]], dict[str, bytes]]


def edited(change: Edit, name: str = "adversarial") -> Bundle:
    found = unpack((BUNDLES / f"{name}.zip").read_bytes())
    files = change(dict(found.files))
    return Bundle(files, replace(found.manifest, files=digests(files)))


def with_file(path: str, content: Callable[[dict[str, bytes]], bytes]) -> Edit:
    return lambda files: {**files, path: content(files)}


@pytest.mark.parametrize("name", ["adversarial", "declined", "witnessed"])
def test_a_bundle_as_it_was_recorded_has_none(name: str) -> None:
    assert find_damage(edited(lambda files: files, name), TRUST) is None


@pytest.mark.parametrize(
    ("step", "change"),
    [
        ("signature", with_file("checkpoints/0001.txt", lambda f: f["checkpoints/0001.txt"].replace(b"/1\n", b"/2\n"))),
        ("tree", with_file("proofs/0003.tlog-proof", lambda f: f["proofs/0002.tlog-proof"])),
        ("records", with_file("records/0003.salt", lambda f: f["records/0002.salt"])),
        ("context", with_file("context.salt", lambda f: f["records/0002.salt"])),
        ("parts", with_file("approval.txt", lambda _: b"Approved")),
        ("prompts", with_file("prompts/critic.v1.md", lambda _: b"Agree.")),
        ("policy", with_file("policy.json", lambda f: f["policy.json"] + b" ")),
        ("times", with_file(FIRST, lambda f: f[BEFORE])),
        ("times", with_file(BEFORE, lambda f: f[FIRST])),
    ],
)
def test_each_step_that_compares_commitments_finds_its_damage(step: str, change: Edit) -> None:
    found = find_damage(edited(change, "witnessed" if step == "times" else "adversarial"), TRUST)

    assert found is not None
    assert found.name == step
