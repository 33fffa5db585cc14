"""Keys, witnesses and signers as commands and processes of their own."""

import os
import signal
from pathlib import Path

import pytest

from service.audit.checkpoint import verify_cosignature
from service.audit.note import COSIGNATURE, ED25519, PublicKey, SigningKey, parse_signature_line
from service.cli import main
from service.policy import Witness
from service.proving.signing import SignerUnavailable
from service.proving.signing.keys import read_keys
from service.proving.signing.remote import RemoteSigner
from service.proving.signing.witnesses import WitnessConflict, Witnesses, WitnessRefused
from tests.fixtures.vouching import FORK, HOST, ORIGIN, TREE, command, running

TOKEN = "a-token-that-nobody-guesses"


def key(capfd: pytest.CaptureFixture[str], *arguments: str) -> list[PublicKey]:
    """What a key command prints."""
    assert main(["audit", "key", *arguments]) == 0
    return [PublicKey.parse(line) for line in capfd.readouterr().out.splitlines()]


def test_keys_are_made_shown_and_added_and_never_overwritten(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "log.key")

    (made,) = key(capfd, "new", "--name", HOST, "--out", path)
    (witness,) = key(capfd, "new", "--name", "witness.example", "--witness", "--out", f"{path}.witness")
    (added,) = key(capfd, "add", path)

    assert key(capfd, "show", path) == [added, made]
    assert (made.algorithm, witness.algorithm, added.name) == (ED25519, COSIGNATURE, HOST)
    assert main(["audit", "key", "new", "--name", HOST, "--out", path]) == 2
    assert key(capfd, "show", path) == [added, made]
    assert main(["audit", "key", "new", "--name", "two words", "--out", f"{path}.x"]) == 2
    Path(path).chmod(0o644)
    assert main(["audit", "key", "show", path]) == 2
    assert "chmod 600" in capfd.readouterr().err
    assert "PRIVATE" not in capfd.readouterr().out


def made(folder: Path, name: str, *more: str) -> tuple[str, SigningKey]:
    """A key that the command has made: its place, and itself."""
    path = folder / f"{name}.key"
    assert main(["audit", "key", "new", "--name", name, "--out", str(path), *more]) == 0
    return f"file:{path}", read_keys(path)[0]


async def test_a_witness_process_remembers_over_sigkill_and_serves_its_folder_alone(tmp_path: Path) -> None:
    place, witness = made(tmp_path, "witness.example", "--witness")
    _, log = made(tmp_path, HOST)
    arguments = ("witness", "--key", place, "--heads", str(tmp_path / "heads"), "--log", log.public.encode())
    witnesses = Witnesses()

    with running(tmp_path, *arguments, "--port", "0") as process:
        pinned = Witness(process["address"], witness.public.encode())
        line = await witnesses.submit(pinned, 0, (), TREE.note(12, log))
        second = command(*arguments, "--port", "0")
        os.kill(int(process["pid"]), signal.SIGKILL)
    with running(tmp_path, *arguments, "--port", "0") as process:
        pinned = Witness(process["address"], witness.public.encode())
        with pytest.raises(WitnessConflict) as stale:
            await witnesses.submit(pinned, 0, (), FORK.note(30, log))
        with pytest.raises(WitnessRefused, match="split view"):
            await witnesses.submit(pinned, 12, (), FORK.note(12, log))
        assert await witnesses.submit(pinned, 12, TREE.path(12, 30), TREE.note(30, log))
    await witnesses.close()

    at = verify_cosignature(TREE.checkpoint(12), parse_signature_line(line), witness.public)
    assert at > 1_700_000_000
    assert stale.value.size == 12
    assert second.returncode == 2
    assert "a folder of its own" in second.stderr


async def test_a_signer_process_signs_for_whoever_has_its_token(tmp_path: Path) -> None:
    place, log = made(tmp_path, HOST)
    arguments = ("signer", "--key", place, "--heads", str(tmp_path / "heads"), "--host", "0.0.0.0", "--port", "0")

    open_to_all = command(*arguments)
    with running(tmp_path, *arguments, GAINSAY_SIGNER_TOKEN=TOKEN) as process:
        address = process["address"].replace("0.0.0.0", "127.0.0.1")
        known, stranger = RemoteSigner(address, TOKEN), RemoteSigner(address)
        assert await known.keys() == (log.public,)
        assert await known.sign(TREE.checkpoint(12), log.public, ()) == TREE.note(12, log)
        assert await known.last(ORIGIN) == TREE.head(12)
        with pytest.raises(SignerUnavailable):
            await stranger.sign(TREE.checkpoint(13), log.public, TREE.path(12, 13))
        await known.close()
        await stranger.close()

    assert open_to_all.returncode == 2
    assert "GAINSAY_SIGNER_TOKEN" in open_to_all.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["witness", "--key", "env:KEY", "--heads", "h"], "--log"),
        (["witness", "--key", "env:KEY", "--heads", "h", "--log", "nonsense"], "--log"),
        (["witness", "--key", "env:KEY", "--heads", "h", "--log", "LOG"], "key new --witness"),
        (["witness", "--key", "env:NOTHING", "--heads", "h", "--log", "LOG"], "NOTHING"),
        (["signer", "--key", "PRIVATE+KEY+x", "--heads", "h"], "file:PATH or env:NAME"),
        (["signer", "--key", "env:KEY", "--heads", "file"], "file"),
    ],
)
def test_what_cannot_vouch_does_not_start(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    arguments: list[str],
    told: str,
) -> None:
    log = SigningKey.from_seed(HOST, bytes(32))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEY", log.encode())
    (tmp_path / "file").write_text("")

    code = main([log.public.encode() if argument == "LOG" else argument for argument in arguments])

    said = capfd.readouterr().err
    assert code == 2
    assert told in said
    assert log.encode()[-20:] not in said
