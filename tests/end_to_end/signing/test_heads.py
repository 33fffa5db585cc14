"""The last head of each log is on disk before anything is given out, and is never forgotten by mistake."""

import fcntl
import os
import re
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.audit.checkpoint import Checkpoint, sign_checkpoint
from service.audit.note import is_note_text
from service.errors import SettingsError
from service.proving.signing import checkpoint_files as module
from service.proving.signing.checkpoint_files import CheckpointFiles, CheckpointFilesUnusable, StoredCheckpoint, hashed
from tests.end_to_end.signing.racing import race
from tests.fixtures.vouching import FORK, LOG, ORIGIN, ROOT, TREE

FILE = f"{hashed(ORIGIN)}.signed"


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def keep(heads: CheckpointFiles, size: int) -> StoredCheckpoint | None:
    return heads.advance(ORIGIN, lambda _last: TREE.note(size))


def test_nothing_is_kept_of_a_log_that_was_never_signed(tmp_path: Path) -> None:
    assert CheckpointFiles(tmp_path / "new" / "heads").last(ORIGIN) is None


def test_what_is_kept_is_there_with_its_note_for_whoever_opens_the_folder_next(tmp_path: Path) -> None:
    keep(CheckpointFiles(tmp_path), 7)

    again = CheckpointFiles(tmp_path)

    assert again.last(ORIGIN) == StoredCheckpoint(ORIGIN, TREE.head(7), TREE.note(7))
    assert again.last_of(hashed(ORIGIN)) == again.last(ORIGIN)
    assert again.count() == 1


def test_the_last_head_is_given_to_whoever_decides(tmp_path: Path) -> None:
    heads = CheckpointFiles(tmp_path)
    seen: list[StoredCheckpoint | None] = []

    def decide(last: StoredCheckpoint | None) -> bytes:
        seen.append(last)
        return TREE.note(3 * len(seen))

    heads.advance(ORIGIN, decide)
    heads.advance(ORIGIN, decide)

    assert seen == [None, StoredCheckpoint(ORIGIN, TREE.head(3), TREE.note(3))]


def test_a_decision_against_changes_nothing(tmp_path: Path) -> None:
    heads = CheckpointFiles(tmp_path)
    keep(heads, 7)

    def refuse(_last: StoredCheckpoint | None) -> bytes:
        raise LookupError

    assert heads.advance(ORIGIN, lambda _last: None) is None
    with pytest.raises(LookupError):
        heads.advance(ORIGIN, refuse)

    assert heads.last(ORIGIN) == StoredCheckpoint(ORIGIN, TREE.head(7), TREE.note(7))
    assert names(tmp_path) == [FILE]


@pytest.mark.parametrize("note", [TREE.note(6), FORK.note(7)], ids=["smaller", "another root"])
def test_no_decision_can_make_a_kept_head_shrink_or_change(tmp_path: Path, note: bytes) -> None:
    heads = CheckpointFiles(tmp_path)
    keep(heads, 7)

    with pytest.raises(ValueError, match="expected a head after size 7"):
        heads.advance(ORIGIN, lambda _last: note)

    assert heads.last(ORIGIN) == StoredCheckpoint(ORIGIN, TREE.head(7), TREE.note(7))


def test_a_note_of_another_log_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="of another"):
        CheckpointFiles(tmp_path).advance("elsewhere", lambda _last: TREE.note(7))


@given(st.one_of(st.sampled_from(["../../x", "/etc/passwd", "a/b", ".", "..", "x" * 300, "Ä/ä"]), st.text(min_size=1)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_origin_its_file_lies_in_the_folder(tmp_path: Path, origin: str) -> None:
    heads, folder = CheckpointFiles(tmp_path / "heads"), tmp_path / "heads"
    if "\n" in origin or not is_note_text(origin):
        assert heads.last(origin) is None
        return

    heads.advance(origin, lambda _last: sign_checkpoint(Checkpoint(origin, 1, b"\1" * 32), LOG))

    assert heads.last(origin) is not None
    assert names(tmp_path) == ["heads"]
    assert all(re.fullmatch(r"[0-9a-f]{64}\.signed", name) for name in names(folder))


@pytest.mark.parametrize("hash_", ["", "..", f"../{hashed(ORIGIN)}", hashed(ORIGIN).upper()])
def test_only_a_hash_names_a_file(tmp_path: Path, hash_: str) -> None:
    heads = CheckpointFiles(tmp_path / "heads")
    keep(heads, 7)

    assert heads.last_of(hash_) is None


def whole(tmp_path: Path) -> bytes:
    keep(CheckpointFiles(tmp_path), 7)
    return (tmp_path / FILE).read_bytes()


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_with_any_byte_changed_or_missing_is_refused_and_never_taken_for_none(
    tmp_path: Path, data: st.DataObject
) -> None:
    content = whole(tmp_path / "whole")
    at = data.draw(st.integers(0, len(content) - 1))
    bent = data.draw(
        st.sampled_from([content[:at], content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :], content + b"\n"])
    )
    folder = tmp_path / "bent"
    heads = CheckpointFiles(folder)
    (folder / FILE).write_bytes(bent)

    with pytest.raises(CheckpointFilesUnusable, match="never read as none"):
        heads.last(ORIGIN)
    with pytest.raises(CheckpointFilesUnusable, match="never read as none"):
        keep(heads, 9)

    assert (folder / FILE).read_bytes() == bent


def test_the_file_of_another_log_in_its_place_is_refused(tmp_path: Path) -> None:
    heads = CheckpointFiles(tmp_path)
    keep(heads, 7)
    (tmp_path / FILE).rename(tmp_path / f"{hashed('other')}.signed")

    with pytest.raises(CheckpointFilesUnusable):
        heads.last("other")


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_what_is_no_file_in_its_place_is_refused(tmp_path: Path, kind: str) -> None:
    heads = CheckpointFiles(tmp_path)
    match kind:
        case "folder":
            (tmp_path / FILE).mkdir()
        case "link":
            (tmp_path / "elsewhere").write_bytes(b"")
            (tmp_path / FILE).symlink_to(tmp_path / "elsewhere")
        case "pipe":
            os.mkfifo(tmp_path / FILE)

    with pytest.raises(CheckpointFilesUnusable):
        heads.last(ORIGIN)


# What a kept head goes through: file synced (fsync 1), renamed, folder synced (fsync 2).
@pytest.mark.parametrize(
    ("function", "when", "call", "size"),
    [
        ("fsync", "before", 1, 7),
        ("fsync", "after", 1, 7),
        ("rename", "before", 1, 7),
        ("rename", "after", 1, 9),
        ("fsync", "before", 2, 9),
        ("fsync", "after", 2, 9),
    ],
)
def test_a_crash_leaves_the_old_head_or_the_new_one_whole(
    tmp_path: Path, function: str, when: str, call: int, size: int
) -> None:
    keep(CheckpointFiles(tmp_path), 7)

    died = subprocess.run(
        [sys.executable, "-m", "tests.end_to_end.signing.dying", str(tmp_path), function, when, str(call)],
        cwd=ROOT,
        check=False,
    )

    after = CheckpointFiles(tmp_path)
    assert died.returncode == -9
    assert after.last(ORIGIN) == StoredCheckpoint(ORIGIN, TREE.head(size), TREE.note(size))
    assert keep(after, 12) == after.last(ORIGIN)
    assert names(tmp_path) == [FILE]


def test_of_several_processes_on_one_folder_one_is_first_at_each_size(tmp_path: Path) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.end_to_end.signing.racing", str(tmp_path), name, "60"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in "abc"
    ]

    for child in children:
        assert child.stdin
        child.stdin.write("go\n")
        child.stdin.flush()
    won = [[int(size) for size in child.communicate()[0].split()] for child in children]

    sizes = sorted(size for each in won for size in each)
    assert len(sizes) == len(set(sizes))
    assert sizes[-1] == 60
    last = CheckpointFiles(tmp_path).last(ORIGIN)
    assert last
    assert last.head.size == 60


def test_of_several_threads_on_one_folder_one_is_first_at_each_size(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        won = [size for each in pool.map(lambda name: race(tmp_path, name, 40), "abcd") for size in each]

    assert len(won) == len(set(won))
    assert max(won) == 40


def test_a_step_does_not_wait_for_ever_for_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOCK_WAIT_S", 0.05)
    heads = CheckpointFiles(tmp_path)
    descriptor = os.open(tmp_path, os.O_RDONLY)

    fcntl.flock(descriptor, fcntl.LOCK_EX)
    with pytest.raises(CheckpointFilesUnusable, match="another process"):
        keep(heads, 7)
    os.close(descriptor)

    assert keep(heads, 7)


def test_two_that_were_meant_to_be_apart_cannot_serve_one_folder(tmp_path: Path) -> None:
    first, second, other = CheckpointFiles(tmp_path), CheckpointFiles(tmp_path), CheckpointFiles(tmp_path, "witnessed")
    first.alone()

    with pytest.raises(SettingsError, match="a folder of its own"):
        second.alone()
    other.alone()
    first.close()

    second.alone()


def test_a_signer_and_a_witness_in_one_folder_remember_apart(tmp_path: Path) -> None:
    signed, witnessed = CheckpointFiles(tmp_path), CheckpointFiles(tmp_path, "witnessed")

    keep(signed, 9)
    keep(witnessed, 7)

    assert [heads.last(ORIGIN) for heads in (signed, witnessed)] == [
        StoredCheckpoint(ORIGIN, TREE.head(9), TREE.note(9)),
        StoredCheckpoint(ORIGIN, TREE.head(7), TREE.note(7)),
    ]
    assert (signed.count(), witnessed.count()) == (1, 1)


def test_a_disk_that_takes_nothing_more_is_a_trouble_until_it_does(tmp_path: Path) -> None:
    """And not until the next head comes: who is not ready is sent none."""
    heads = CheckpointFiles(tmp_path)
    keep(heads, 3)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with pytest.raises(CheckpointFilesUnusable):
            keep(heads, 7)
        full = heads.troubles(), heads.troubles()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert full == ((f"the folder of heads {tmp_path} is gone, or cannot be written",),) * 2
    assert heads.troubles() == ()
    assert keep(heads, 7)
    assert names(tmp_path) == [FILE]


def test_a_folder_that_cannot_be_had_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(SettingsError, match="expected a folder"):
        CheckpointFiles(tmp_path / "file")
    with pytest.raises(SettingsError, match="expected a folder"):
        CheckpointFiles(tmp_path / "file" / "below")


def test_a_closed_folder_keeps_nothing(tmp_path: Path) -> None:
    heads = CheckpointFiles(tmp_path)
    heads.close()

    with pytest.raises(CheckpointFilesUnusable):
        heads.last(ORIGIN)
    with pytest.raises(CheckpointFilesUnusable):
        keep(heads, 7)
