"""Key files are for their owner alone, whole or not there, and no message shows what is in them."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from service.audit.note import COSIGNATURE, ED25519, BadKey, SigningKey
from service.errors import SettingsError
from service.proving.signing.keys import add_key, make_key_file, parse_keys, read_keys
from service.proving.signing.open import read_place, read_token, signing_key
from tests.fixtures.vouching import LOG, NEXT, WITNESS

SECRET = LOG.encode()


def key_file(tmp_path: Path, text: str, mode: int = 0o600) -> Path:
    path = tmp_path / "some.key"
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("algorithm", [ED25519, COSIGNATURE])
def test_a_made_key_is_read_back_and_its_file_is_for_its_owner_alone(tmp_path: Path, algorithm: int) -> None:
    path = tmp_path / "log.key"

    made = make_key_file(path, "host.example", algorithm)

    assert [key.public for key in read_keys(path)] == [made.public]
    assert (made.public.name, made.public.algorithm) == ("host.example", algorithm)
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_two_keys_are_never_alike(tmp_path: Path) -> None:
    assert make_key_file(tmp_path / "a", "host").public != make_key_file(tmp_path / "b", "host").public


def test_a_key_file_never_replaces_another_file(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    made = make_key_file(path, "host.example")

    with pytest.raises(SettingsError, match="it was not changed"):
        make_key_file(path, "host.example")

    assert [key.public for key in read_keys(path)] == [made.public]
    assert list(tmp_path.iterdir()) == [path]


def test_of_many_who_make_one_file_one_does(tmp_path: Path) -> None:
    def make(_n: int) -> SigningKey | None:
        try:
            return make_key_file(tmp_path / "log.key", "host.example")
        except SettingsError:
            return None

    with ThreadPoolExecutor(8) as pool:
        made = [key for key in pool.map(make, range(24)) if key]

    assert [key.public for key in made] == [key.public for key in read_keys(tmp_path / "log.key")]


def test_a_name_that_no_note_carries_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadKey):
        make_key_file(tmp_path / "log.key", "two words")

    assert list(tmp_path.iterdir()) == []


def test_an_added_key_comes_first_and_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    path = key_file(tmp_path, f"# ours since 2025\n\n{SECRET}\n# and before\n{NEXT.encode()}\n")

    added = add_key(path)

    assert [key.public for key in read_keys(path)] == [added.public, LOG.public, NEXT.public]
    assert (added.public.name, added.public.algorithm) == (LOG.public.name, ED25519)
    assert "# ours since 2025\n" in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_witness_s_file_gets_another_witness_s_key(tmp_path: Path) -> None:
    assert add_key(key_file(tmp_path, WITNESS.encode())).public.algorithm == COSIGNATURE


def test_of_many_keys_that_are_added_at_once_none_is_lost(tmp_path: Path) -> None:
    path = key_file(tmp_path, SECRET + "\n")

    with ThreadPoolExecutor(8) as pool:
        added = [key.public for key in pool.map(lambda _n: add_key(path), range(24))]

    assert {key.public for key in read_keys(path)} == {LOG.public, *added}


def test_a_link_to_a_key_file_stays_a_link(tmp_path: Path) -> None:
    path = key_file(tmp_path, SECRET)
    link = tmp_path / "link"
    link.symlink_to(path)

    added = add_key(link)

    assert link.is_symlink()
    assert read_keys(path)[0].public == added.public


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o610, 0o601])
def test_a_file_that_others_may_touch_is_refused(tmp_path: Path, mode: int) -> None:
    path = key_file(tmp_path, SECRET, mode)

    for use in (read_keys, add_key):
        with pytest.raises(SettingsError, match="chmod 600"):
            use(path)

    assert path.read_text() == SECRET


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "found none"),
        ("# only a comment\n", "found none"),
        (f"{SECRET}\n{SECRET}x\n", "line 2: "),
        (f"# first\n{SECRET[:-8]}\n", "line 2: "),
        (f"{SECRET}\n{SECRET}\n", "line 2: expected each key once"),
        (LOG.public.encode(), "begins with PRIVATE"),
        ("password=hunter2-hunter2", "begins with PRIVATE"),
    ],
)
def test_what_is_no_key_is_refused_with_its_line_and_never_shown(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_keys(key_file(tmp_path, text))

    assert told in error.value.detail
    assert "hunter2" not in error.value.detail
    assert SECRET.rpartition("+")[2][:12] not in error.value.detail


@pytest.mark.parametrize("what", ["nothing", "a folder", "a long file", "other bytes"])
def test_what_is_no_key_file_is_refused(tmp_path: Path, what: str) -> None:
    path = tmp_path / "some.key"
    match what:
        case "a folder":
            path.mkdir()
        case "a long file":
            path.write_text("#" * 100_000)
            path.chmod(0o600)
        case "other bytes":
            path.write_bytes(b"\xff\xfe")
            path.chmod(0o600)

    with pytest.raises(SettingsError, match="expected a key file"):
        read_keys(path)


def test_keys_come_from_a_file_or_a_variable(tmp_path: Path) -> None:
    path = key_file(tmp_path, SECRET)
    environment = {"LOG_KEY": f"{NEXT.encode()}\n{SECRET}\n"}

    assert [key.public for key in read_place(f"file:{path}", environment)] == [LOG.public]
    assert [key.public for key in read_place("env:LOG_KEY", environment)] == [NEXT.public, LOG.public]
    assert parse_keys(SECRET, "here")[0].public == LOG.public


@pytest.mark.parametrize("place", [SECRET, "env:", "file:", "env:NOT_THERE", "env:WRONG", "file:/nowhere/at/all", ""])
def test_a_place_without_a_key_is_refused_and_a_key_in_its_stead_is_not_shown(place: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_place(place, {"WRONG": SECRET + "x"})

    assert SECRET.rpartition("+")[2][:12] not in error.value.detail


def test_a_machine_of_its_own_gets_a_key_once_however_many_begin_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        places = set(pool.map(lambda _n: signing_key(tmp_path / "data", "localhost"), range(24)))

    (place,) = places
    assert [key.public.name for key in read_place(place, {})] == ["localhost"]
    assert (tmp_path / "data" / "keys").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("token", ["", "short", "with a space in between", "ä" * 20])
def test_a_token_that_is_easily_guessed_is_refused(token: str) -> None:
    with pytest.raises(SettingsError, match="16 printable"):
        read_token({"GAINSAY_SIGNER_TOKEN": token})


def test_a_home_that_nobody_has_is_no_place_of_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("os.getuid", lambda: 1_000_730_000)

    with pytest.raises(SettingsError, match="found the home of a user who has none"):
        read_place("file:~/log.key", {})
