"""A folder of prompts is refused unless every byte of it is the one that manifest and pin promise."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.debate.ballot import DRAFT
from service.debate.replies import REPLY_TYPES
from service.errors import PromptMismatch
from service.prompts import DIRECTORY, Prompts, PromptsUnwritable, pin, verify_files
from service.prompts.undocumented import UNDOCUMENTED

SHIPPED = Prompts.load()
FILES = sorted(entry.file for entry in SHIPPED.entries)
FIRST = SHIPPED.entries[0].id

Edit = Callable[[list[dict[str, Any]]], object]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the shipped folder, code included."""
    return Path(shutil.copytree(DIRECTORY, tmp_path / "prompts", ignore=shutil.ignore_patterns("__pycache__")))


def restored(folder: Path) -> Path:
    """A copy for many examples; of the files that an example may change, those that differ are copied again."""
    if not folder.exists():
        shutil.copytree(DIRECTORY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in (*FILES, "manifest.json"):
        if (content := _shipped(file)) != (folder / file).read_bytes():
            (folder / file).write_bytes(content)
    return folder


@cache
def _shipped(file: str) -> bytes:
    return (DIRECTORY / file).read_bytes()


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def edit(folder: Path, change: Edit) -> None:
    """Change the manifest's entries by hand."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_bytes())
    change(manifest["entries"])
    path.write_text(json.dumps(manifest), encoding="utf-8")


def test_the_shipped_folder_is_what_its_manifest_says() -> None:
    problems = verify_files(DIRECTORY, SHIPPED.pin)

    assert problems == []
    assert digest(DIRECTORY / "manifest.json") == SHIPPED.pin


def test_the_shipped_manifest_is_as_pinning_writes_it(folder: Path) -> None:
    before = (folder / "manifest.json").read_bytes()
    (folder / "manifest.json").unlink()

    change = pin(folder)

    assert (folder / "manifest.json").read_bytes() == before
    assert change.before is None
    assert {c.file for c in change.changed} == set(FILES)


def test_every_seat_has_a_prompt_and_a_schema() -> None:
    for seat in REPLY_TYPES:
        assert SHIPPED.text(seat).startswith("# Your seat: ")
        assert SHIPPED.schema(seat)["type"] == "object"
    alternatives = {"stances.debater.open"}
    whole = {"house", DRAFT, *REPLY_TYPES} | alternatives
    undocumented = {f"{prompt}{UNDOCUMENTED}" for prompt in whole}
    assert {e.id for e in SHIPPED.entries if e.kind == "prompt"} == whole | undocumented
    assert {alternative for kind in REPLY_TYPES for alternative in SHIPPED.alternatives(kind)} == alternatives
    assert SHIPPED.alternatives("stances.debater") == ("stances.debater.open",)


def test_the_requests_that_hold_a_layout_are_pinned_as_well() -> None:
    templates = {e.id: e.file for e in SHIPPED.entries if e.kind == "template"}

    assert templates == {"template.layout": "layout.v1.json"}
    assert SHIPPED.layout == "layout/1"


def test_images_whose_layouts_differ_say_so_in_one_hash(folder: Path) -> None:
    assert Prompts.load(folder).templates == SHIPPED.templates
    (folder / "critic.v9.md").write_text("Object.\n", encoding="utf-8")
    pin(folder)
    assert Prompts.load(folder).templates == SHIPPED.templates, "a text that debates promise by itself"

    (folder / "layout.v2.json").write_text('{"layout": "layout/2", "debates": []}\n', encoding="utf-8")
    pin(folder)

    assert Prompts.load(folder).layout == "layout/2"
    assert Prompts.load(folder).templates != SHIPPED.templates


def test_code_that_is_moved_or_reformatted_changes_no_pin(folder: Path) -> None:
    with (folder / "render.py").open("a", encoding="utf-8") as file:
        file.write("# a remark\n")
    (folder / "fence.py").unlink()

    assert Prompts.load(folder, SHIPPED.pin).pin == SHIPPED.pin


def test_the_manifest_is_sorted_by_id_and_version() -> None:
    order = [(e.id, e.version) for e in SHIPPED.entries]

    assert order == sorted(order)


@given(file=st.sampled_from(FILES), data=st.data())
def test_no_byte_of_any_file_can_change_unseen(
    tmp_path_factory: pytest.TempPathFactory, file: str, data: st.DataObject
) -> None:
    folder = restored(tmp_path_factory.getbasetemp() / "flipped")
    content = bytearray((folder / file).read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    (folder / file).write_bytes(content)

    with pytest.raises(PromptMismatch) as refused:
        Prompts.load(folder, SHIPPED.pin)

    assert f"found {sha256(content).hexdigest()[:12]}…; restore prompts/{file} or" in refused.value.detail


@given(data=st.data())
def test_no_byte_of_the_manifest_can_change_unseen(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = restored(tmp_path_factory.getbasetemp() / "flipped-manifest")
    content = bytearray((folder / "manifest.json").read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    (folder / "manifest.json").write_bytes(content)

    with pytest.raises(PromptMismatch):
        Prompts.load(folder, SHIPPED.pin)


@given(file=st.sampled_from(FILES), data=st.data())
def test_no_file_can_be_cut_or_lengthened(
    tmp_path_factory: pytest.TempPathFactory, file: str, data: st.DataObject
) -> None:
    folder = restored(tmp_path_factory.getbasetemp() / "cut")
    content = (folder / file).read_bytes()
    cut = content[: data.draw(st.integers(0, len(content) - 1))]
    (folder / file).write_bytes(
        data.draw(st.sampled_from([cut, content + b" ", content + b"\n", b"\xef\xbb\xbf" + content]))
    )

    with pytest.raises(PromptMismatch):
        Prompts.load(folder, SHIPPED.pin)


def test_an_edited_prompt_is_named_with_both_hashes_and_the_way_out(folder: Path) -> None:
    path = folder / "critic.v1.md"
    expected = digest(path)
    path.write_text(path.read_text(encoding="utf-8").replace("Never say", "Always say"), encoding="utf-8")

    with pytest.raises(PromptMismatch) as refused:
        Prompts.load(folder)

    assert refused.value.detail == (
        f"prompt 'critic' does not match its manifest: expected sha256 {expected[:12]}…, found {digest(path)[:12]}…; "
        "restore prompts/critic.v1.md or record the change with `gainsay prompts pin`"
    )
    assert refused.value.code == "prompt_changed"


def test_windows_line_ends_are_a_change(folder: Path) -> None:
    path = folder / "house.v1.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    with pytest.raises(PromptMismatch, match="'house' does not match"):
        Prompts.load(folder)


@pytest.mark.parametrize("file", FILES)
def test_a_missing_file_is_refused_by_name(folder: Path, file: str) -> None:
    (folder / file).unlink()

    problems = verify_files(folder, SHIPPED.pin)

    assert len(problems) == 1
    assert f"prompts/{file} is missing" in problems[0]


@pytest.mark.parametrize("file", ["critic.v2.md", "notes.txt", "schemas/critic.json", "more/critic.v1.md"])
def test_a_file_that_nobody_recorded_is_refused_by_name(folder: Path, file: str) -> None:
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text("Be kind.", encoding="utf-8")

    with pytest.raises(PromptMismatch, match=f"prompts/{re.escape(file)} is not in the manifest; remove it"):
        Prompts.load(folder)


@pytest.mark.parametrize("file", [".DS_Store", "__pycache__/manifest.cpython-311.pyc", "other.py", ".critic.v1.md.swp"])
def test_caches_hidden_files_and_other_code_are_no_prompts(folder: Path, file: str) -> None:
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_bytes(b"\x00")

    assert verify_files(folder, SHIPPED.pin) == []


def test_another_manifest_than_the_pinned_one_is_refused_although_it_agrees_with_its_files(folder: Path) -> None:
    (folder / "moderator.v1.md").write_text("You prefer that the proposition stands.\n", encoding="utf-8")
    now = pin(folder).after

    with pytest.raises(PromptMismatch) as refused:
        Prompts.load(folder, SHIPPED.pin)

    assert f"GAINSAY_PROMPTS_PIN expects sha256 {SHIPPED.pin}, found {now};" in refused.value.detail
    assert Prompts.load(folder, now).pin == now


@pytest.mark.parametrize("wrong", ["", "abc", SHIPPED.pin.upper(), f"sha256:{SHIPPED.pin}", SHIPPED.pin + "\n"])
def test_a_pin_that_is_no_hash_is_refused(wrong: str) -> None:
    with pytest.raises(PromptMismatch, match="GAINSAY_PROMPTS_PIN to be 64 hexadecimal digits"):
        Prompts.load(DIRECTORY, wrong)


def twice(entries: list[dict[str, Any]]) -> None:
    entries.append(entries[0])


def two_current(entries: list[dict[str, Any]]) -> None:
    entries.append({**entries[0], "version": 2, "file": entries[0]["file"].replace("v1", "v2")})


def none_current(entries: list[dict[str, Any]]) -> None:
    entries[0]["current"] = False


def outside(entries: list[dict[str, Any]]) -> None:
    entries[0]["file"] = "../../etc/passwd"


def swapped(entries: list[dict[str, Any]]) -> None:
    """The moderator's text under the critic's name."""
    by_id = {entry["id"]: entry for entry in entries}
    by_id["critic"]["file"], by_id["critic"]["sha256"] = by_id["moderator"]["file"], by_id["moderator"]["sha256"]


def another_kind(entries: list[dict[str, Any]]) -> None:
    next(entry for entry in entries if entry["id"] == "persona")["kind"] = "prompt"


def unknown_kind(entries: list[dict[str, Any]]) -> None:
    entries[0]["kind"] = "advice"


def extra_field(entries: list[dict[str, Any]]) -> None:
    entries[0]["note"] = "trust me"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (twice, f"expected v1 of {FIRST!r} once in the manifest, found it 2 times"),
        (two_current, f"expected one current version of {FIRST!r} in the manifest, found 2"),
        (none_current, f"expected one current version of {FIRST!r} in the manifest, found 0"),
        (outside, "found '../../etc/passwd'"),
        (swapped, "expected the file of prompt 'critic' v1, found 'moderator.v1.md'"),
        (another_kind, "expected the file of prompt 'persona' v1, found 'persona.v1.md'"),
        (unknown_kind, "expected a prompt manifest in"),
        (extra_field, "expected a prompt manifest in"),
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused(folder: Path, change: Edit, said: str) -> None:
    edit(folder, change)

    with pytest.raises(PromptMismatch) as refused:
        Prompts.load(folder)

    assert said in refused.value.detail


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"format": "gainsay-prompts/1"}', b"\xff"])
def test_a_manifest_that_is_none_is_refused(folder: Path, content: bytes) -> None:
    (folder / "manifest.json").write_bytes(content)

    with pytest.raises(PromptMismatch, match="restore it"):
        Prompts.load(folder)
    assert len(verify_files(folder)) == 1
    with pytest.raises(PromptMismatch, match="restore it"):
        pin(folder)


def test_a_manifest_of_another_format_is_refused(folder: Path) -> None:
    (folder / "manifest.json").write_bytes(b'{"format": "gainsay-prompts/2", "entries": []}')

    with pytest.raises(PromptMismatch, match="format 'gainsay-prompts/1', found 'gainsay-prompts/2'"):
        Prompts.load(folder)


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PromptMismatch, match="found none that can be read"):
        Prompts.load(tmp_path / "nowhere")


def test_verifying_lists_every_problem_and_loading_names_the_first(folder: Path) -> None:
    (folder / "critic.v1.md").write_text("Agree.", encoding="utf-8")
    (folder / "persona.v1.md").unlink()
    (folder / "extra.v1.md").write_text("More.", encoding="utf-8")

    problems = verify_files(folder, SHIPPED.pin)

    assert [re.findall(r"[a-z]+\.v1\.md", p)[0] for p in problems] == ["critic.v1.md", "persona.v1.md", "extra.v1.md"]
    with pytest.raises(PromptMismatch, match=r"'critic'.* \(2 more: `gainsay prompts verify` lists them\)"):
        Prompts.load(folder, SHIPPED.pin)


def test_pinning_records_a_deliberate_change_and_says_what_changed(folder: Path) -> None:
    path = folder / "critic.v1.md"
    before = digest(path)
    path.write_text("Refute it.\n", encoding="utf-8")

    change = pin(folder)

    assert [(c.id, c.version, c.before, c.after) for c in change.changed] == [("critic", 1, before, digest(path))]
    assert (change.before, change.after) == (SHIPPED.pin, digest(folder / "manifest.json"))
    assert Prompts.load(folder, change.after).text("critic") == "Refute it.\n"


def test_pinning_what_is_pinned_changes_nothing(folder: Path) -> None:
    before = (folder / "manifest.json").stat().st_ino

    change = pin(folder)

    assert change.changed == ()
    assert change.before == change.after == SHIPPED.pin
    assert (folder / "manifest.json").stat().st_ino == before


def test_pinning_a_new_version_makes_it_current_and_keeps_the_old_one(folder: Path) -> None:
    for version in (2, 10):
        (folder / f"critic.v{version}.md").write_text(f"Version {version}.\n", encoding="utf-8")

    change = pin(folder)
    prompts = Prompts.load(folder, change.after)

    assert [(c.id, c.version, c.before) for c in change.changed] == [("critic", 10, None), ("critic", 2, None)]
    assert prompts.text("critic") == "Version 10.\n"
    assert prompts.text_at("critic", 2) == "Version 2.\n"
    assert prompts.text_at("critic", 1) == SHIPPED.text("critic")


def test_pinning_a_removed_file_forgets_it(folder: Path) -> None:
    (folder / "persona.v1.md").unlink()

    change = pin(folder)

    assert [(c.id, c.after) for c in change.changed] == [("persona", None)]
    with pytest.raises(PromptMismatch, match="expected prompt 'persona' in the manifest, found none"):
        Prompts.load(folder).text("persona")


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("critic.md", b"x"),
        ("Critic.v2.md", b"x"),
        ("critic.v0.md", b"x"),
        ("critic.v2.txt", b"x"),
        ("a.v1.json", b"{}"),
        ("layout.v0.json", b"{}"),
    ],
)
def test_pinning_refuses_a_file_whose_name_says_nothing(folder: Path, file: str, content: bytes) -> None:
    (folder / file).write_bytes(content)

    with pytest.raises(PromptMismatch, match=re.escape(f"found prompts/{file}; rename it")):
        pin(folder)
    assert digest(folder / "manifest.json") == SHIPPED.pin


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("critic.v2.md", b"\xff\xfe"),
        ("critic.v2.md", b" \n"),
        ("schemas/critic.v2.json", b"{"),
        ("schemas/critic.v2.json", b"[]"),
        ("layout.v2.json", b"[]"),
    ],
)
def test_pinning_refuses_a_file_that_cannot_be_used(folder: Path, file: str, content: bytes) -> None:
    (folder / file).write_bytes(content)

    with pytest.raises(PromptMismatch, match=re.escape(f"in prompts/{file}, found other bytes")):
        pin(folder)
    assert digest(folder / "manifest.json") == SHIPPED.pin


def test_a_manifest_that_cannot_be_written_is_left_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "critic.v2.md").write_text("Refute it.\n", encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(Path, "replace", full)

    with pytest.raises(PromptsUnwritable, match="No space left on device"):
        pin(folder)
    assert digest(folder / "manifest.json") == SHIPPED.pin
    assert not list(folder.glob(".manifest*"))


def test_pins_name_version_and_hash_of_all_that_is_current() -> None:
    pins = SHIPPED.pins()

    assert set(pins) == {entry.id for entry in SHIPPED.entries}
    assert pins["critic"] == f"v1:{digest(DIRECTORY / 'critic.v1.md')}"
    assert pins["schema.critic"] == f"v1:{digest(DIRECTORY / 'schemas' / 'critic.v1.json')}"


def test_a_running_debate_keeps_its_versions(folder: Path) -> None:
    promised = SHIPPED.pins()
    (folder / "critic.v2.md").write_text("Refute it.\n", encoding="utf-8")
    (folder / "schemas" / "critic.v2.json").write_text('{"type": "string"}', encoding="utf-8")
    (folder / "jester.v1.md").write_text("Joke.\n", encoding="utf-8")
    now = Prompts.load(folder, pin(folder).after)

    running = now.at(promised)

    assert now.text("critic") == "Refute it.\n"
    assert running.text("critic") == SHIPPED.text("critic")
    assert running.schema("critic") == SHIPPED.schema("critic")
    assert running.pins() == promised
    with pytest.raises(PromptMismatch, match="expected prompt 'jester' in the manifest, found none"):
        running.text("jester")


def test_a_debate_whose_prompts_are_gone_is_refused(folder: Path) -> None:
    promised = SHIPPED.pins()
    (folder / "critic.v1.md").write_text("Refute it.\n", encoding="utf-8")
    now = Prompts.load(folder, pin(folder).after)

    with pytest.raises(PromptMismatch) as refused:
        now.at(promised)

    was, found = promised["critic"][3:15], now.pins()["critic"][3:15]
    assert refused.value.detail.startswith(
        f"the debate was started with prompt 'critic' v1 ({was}…), but this image has v1 ({found}…); finish the debate"
    )


def test_asking_for_what_is_no_prompt_is_refused() -> None:
    with pytest.raises(PromptMismatch, match="expected prompt 'jester' in the manifest, found none"):
        SHIPPED.text("jester")
    with pytest.raises(PromptMismatch, match=r"expected a prompt or a fragment, found 'template\.layout'"):
        SHIPPED.text("template.layout")
    with pytest.raises(PromptMismatch, match="expected version 7 of prompt 'critic'"):
        SHIPPED.text_at("critic", 7)


def test_a_refusal_says_how_to_make_what_is_missing() -> None:
    with pytest.raises(PromptMismatch, match=r"write it to prompts/jester\.v1\.md, and record it with `gainsay promp"):
        SHIPPED.text("jester")
    with pytest.raises(PromptMismatch, match=r"run `python -m service\.prompts\.schemas`, which writes it to pro"):
        SHIPPED.schema("jester")


def test_a_schema_is_decoded_once_for_all_requests() -> None:
    prompts = Prompts.load()

    assert prompts.schema("critic") is prompts.schema("critic")


def test_no_text_of_a_prompt_shows_in_messages_or_logs() -> None:
    assert SHIPPED.text("house")[:40] not in repr(SHIPPED)
