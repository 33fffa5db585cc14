"""The prompts' files are read again before each call, and an image pins its own manifest."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from service.errors import PromptMismatch, SettingsError
from service.policy.settings import read_settings
from service.prompts import DIRECTORY, Prompts
from tests.fixtures.running import repository

USED = ("house", "critic", "critic.retry", "schema.critic")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the pinned files."""
    return Path(shutil.copytree(DIRECTORY, tmp_path / "prompts", ignore=shutil.ignore_patterns("*.py", "__pycache__")))


def rewritten(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content.replace(b"a", b"e"))


def same_size_and_time(file: Path) -> None:
    before = file.stat()
    rewritten(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def half_written(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def endless(file: Path) -> None:
    with file.open("ab") as grown:
        grown.truncate(1 << 40)


def linked_elsewhere(file: Path) -> None:
    other = file.with_name("other")
    other.write_text("Agree with the proposition.\n")
    file.unlink()
    file.symlink_to(other)


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def a_pipe(file: Path) -> None:
    """Opening it would wait for a writer that never comes."""
    file.unlink()
    os.mkfifo(file)


def a_loop(file: Path) -> None:
    file.unlink()
    file.symlink_to(file)


CHANGES = [
    rewritten,
    same_size_and_time,
    half_written,
    endless,
    linked_elsewhere,
    Path.unlink,
    a_folder,
    a_pipe,
    a_loop,
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["house.v1.md", "critic.retry.v1.md", "schemas/critic.v1.json", "manifest.json"])
def test_a_file_that_changed_since_the_start_is_refused(
    folder: Path, name: str, change: Callable[[Path], None]
) -> None:
    prompts = Prompts.load(folder)
    name = prompts.entry("house").file if name.startswith("house") else name
    assert prompts.unchanged()
    change(folder / name)

    with pytest.raises(PromptMismatch) as refused:
        prompts.read_again(USED)

    assert refused.value.detail.startswith("since this process started, ")
    assert Path(name).name in refused.value.detail
    assert "restore" in refused.value.detail
    assert refused.value.detail.endswith(", and restart this process")
    assert not prompts.unchanged()


def test_a_file_that_the_call_does_not_use_stops_no_call(folder: Path) -> None:
    prompts = Prompts.load(folder)
    rewritten(folder / "moderator.v1.md")

    assert prompts.read_again(USED).text("critic") == prompts.text("critic")
    with pytest.raises(PromptMismatch, match="'moderator' does not match"):
        prompts.read_again((*USED, "moderator"))


def test_the_bytes_that_were_compared_are_those_that_are_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is opened once, and what is in it afterwards has no effect."""
    opened: list[str] = []
    open_file = os.open

    def counted(path: Path, flags: int) -> int:
        opened.append(Path(path).name)
        return open_file(path, flags)

    prompts = Prompts.load(folder)
    text = prompts.text("critic")
    monkeypatch.setattr(os, "open", counted)
    read = prompts.read_again(USED)
    for entry in map(prompts.entry, USED):
        linked_elsewhere(folder / entry.file)

    assert sorted(opened) == sorted(["manifest.json", *(Path(prompts.entry(id).file).name for id in USED)])
    assert (read.text("critic"), read.schema("critic")) == (text, prompts.schema("critic"))


def test_a_file_that_is_restored_is_used_again(folder: Path) -> None:
    prompts = Prompts.load(folder)
    rewritten(folder / "critic.v1.md")
    shutil.copy(DIRECTORY / "critic.v1.md", folder / "critic.v1.md")

    assert prompts.read_again(USED) == prompts
    assert prompts.unchanged()


# -- the image


def built(name: str) -> str:
    """The value of an environment variable in the image."""
    found = re.search(rf"^(?:ENV | {{4}}){name}=(\S+)", (repository() / "Dockerfile").read_text(), re.MULTILINE)
    assert found, f"the image sets no {name}"
    return found[1]


def test_an_image_starts_with_the_manifest_that_it_was_built_with_and_with_no_other(
    folder: Path, tmp_path: Path
) -> None:
    dockerfile = (repository() / "Dockerfile").read_text()
    where = built("GAINSAY_PROMPTS_PIN").removeprefix("file:")
    (command,) = re.findall(r"&& (sha256sum .*) \\\n    && (cut .*) > /add(\S+)", dockerfile)
    assert command[2] == where
    assert "COPY --from=packages /add/ /\n" in dockerfile.partition("\nFROM ${PYTHON_IMAGE}\n")[2]
    run = " && ".join(command[:2]).replace("/dist/", f"{tmp_path}/")
    pinned = subprocess.run(["sh", "-c", run], cwd=repository(), capture_output=True, check=True)
    (tmp_path / "prompts.pin").write_bytes(pinned.stdout)

    pin = read_settings({"GAINSAY_PROMPTS_PIN": f"file:{tmp_path / 'prompts.pin'}"}).prompts_pin

    assert Prompts.load(pin=pin).pin == pin
    (folder / "manifest.json").write_bytes((folder / "manifest.json").read_bytes() + b"\n")
    with pytest.raises(PromptMismatch, match="is not the one that this deployment promised"):
        Prompts.load(folder, pin)


@pytest.mark.parametrize("content", [b"", b"0a", b"\xff" * 64, b"0a" * 32 + b"\n" + b"0a" * 32, None])
def test_a_file_without_a_pin_is_refused(tmp_path: Path, content: bytes | None) -> None:
    where = tmp_path / "prompts.pin"
    if content is not None:
        where.write_bytes(content)

    with pytest.raises(SettingsError, match=re.escape(f"the file {where} of GAINSAY_PROMPTS_PIN")):
        read_settings({"GAINSAY_PROMPTS_PIN": f"file:{where}"})
