"""Parts of a release have the files that they need and no others, and the same bytes every time."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from supply import frozen
from supply.release import parts, signing
from supply.release.build import build
from supply.release.source import CHART, epoch, export
from tests.unit.release.conftest import BASE, Repository

ARGUMENTS = {"PYTHON_IMAGE": BASE, "VERSION": "1.2.3", "REVISION": "ab", "SOURCE_DATE_EPOCH": "7"}
"""What a release gives to the Dockerfile."""


def names(data: bytes) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return tar.getnames()


def test_the_context_has_what_the_dockerfile_copies_and_states_base_version_and_commit(
    repository: Repository, tmp_path: Path
) -> None:
    out = tmp_path / "context.tar"
    parts.context(repository.root, out, 7, ARGUMENTS)

    with tarfile.open(out) as tar:
        dockerfile = tar.extractfile("Dockerfile")
        assert dockerfile is not None
        text = dockerfile.read().decode()
        there = tar.getmembers()
    assert [one.name for one in there] == [
        ".dockerignore",
        "Dockerfile",
        "clients/python/src/gainsay_client/__init__.py",
        "requirements.txt",
        "service/__init__.py",
        "service/audit/schemas/1/leaf.v1.json",
        "service/prompts/critic.v1.md",
        "service/prompts/manifest.json",
    ]
    assert {(one.mtime, one.mode, one.uid, one.gid, one.uname) for one in there} == {(7, 0o644, 0, 0, "")}
    assert text.startswith(f"ARG PYTHON_IMAGE={BASE}\n")
    assert text.count("ARG VERSION=1.2.3\n") == 2
    assert "unreleased" not in text


def test_the_dockerfile_of_this_tree_takes_what_a_release_gives_and_needs_what_is_not_ignored() -> None:
    text = (frozen.ROOT / "Dockerfile").read_text("utf-8")
    kept = [line[1:] for line in (frozen.ROOT / ".dockerignore").read_text("utf-8").splitlines() if line[:1] == "!"]
    copied = parts.copied(text)

    given = parts.with_arguments(text, ARGUMENTS)

    assert all(f"ARG {name}={value}\n" in given for name, value in ARGUMENTS.items())
    assert all(any(f"{one}/".startswith(f"{path}/") for path in copied) for one in kept)
    assert all(any(f"{one}/".startswith(f"{path}/") for one in kept) for path in copied)
    with pytest.raises(ValueError, match="found none: OTHER"):
        parts.with_arguments(text, {"OTHER": "1"})


def test_the_chart_has_its_own_files_below_its_name_and_none_that_it_ignores(
    repository: Repository, tmp_path: Path
) -> None:
    out = tmp_path / "chart.tgz"
    parts.chart(repository.root, out, 7, CHART)

    assert names(out.read_bytes()) == ["gainsay/Chart.yaml", "gainsay/.helmignore", "gainsay/values.yaml"]
    repository.write(f"{CHART}/.helmignore", "a/**/b\n")
    with pytest.raises(ValueError, match=r"found a/\*\*/b"):
        parts.chart(repository.root, out, 7, CHART)


def test_a_part_is_the_same_at_another_time_in_another_folder(repository: Repository, tmp_path: Path) -> None:
    def made(folder: Path) -> list[bytes]:
        folder.mkdir()
        export(repository.root, folder)
        parts.context(folder, folder / "a.tar", 7, {"PYTHON_IMAGE": BASE})
        parts.chart(folder, folder / "b.tgz", 7, CHART)
        return [(folder / name).read_bytes() for name in ("a.tar", "b.tgz")]

    repository.write("service/ignored.pyc", "not committed")
    first = made(tmp_path / "one")
    os.utime(repository.root / "service/__init__.py", (1, 1))
    (repository.root / "service/__init__.py").chmod(0o755)
    before = os.umask(0o077)
    try:
        second = made(tmp_path / "a-longer-name")
    finally:
        os.umask(before)

    assert first == second
    assert "service/ignored.pyc" not in names(first[0])
    assert 0 < time.time() - epoch(repository.root) < 86_400


def test_a_link_is_in_no_part(repository: Repository, tmp_path: Path) -> None:
    (repository.root / "service/link").symlink_to("/etc/hostname")

    with pytest.raises(ValueError, match="links to others"):
        parts.context(repository.root, tmp_path / "x.tar", 7, {})


# -- the whole, but for wheels and the list of packages, which `make release-rehearsal` has as well


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is built by hatchling, and no lock is read."""
    monkeypatch.setattr(parts, "packages", lambda _source, out, _epoch: (out / "a.whl").write_bytes(b"a"))
    monkeypatch.setattr(parts, "bom", lambda _source, out, version: out.write_text(version))


@pytest.mark.usefixtures("light")
def test_a_release_is_of_the_commit_is_signed_and_is_never_written_over(repository: Repository, tmp_path: Path) -> None:
    repository.cut("1.0.0")
    repository.write("service/ignored.pyc", "not committed")
    out = tmp_path / "dist" / "1.0.0"

    built = build(repository.asked, out)

    assert "service/ignored.pyc" not in names((out / "gainsay-1.0.0-image-context.tar").read_bytes())
    signing.check(out, signing.public_key(repository.root / signing.PUBLIC))
    assert build(repository.asked, out) == built
    (out / "a.whl").write_bytes(b"b")
    with pytest.raises(ValueError, match=r"found others: a\.whl; a release is not replaced"):
        build(repository.asked, out)
    assert (out / "a.whl").read_bytes() == b"b"
    assert [path.name for path in out.parent.iterdir()] == ["1.0.0"], "nothing is left of what was made"


@pytest.mark.usefixtures("light")
def test_a_release_that_users_could_not_check_is_not_there(repository: Repository, tmp_path: Path) -> None:
    repository.cut("1.0.0")
    other, out = tmp_path / "other.key", tmp_path / "dist"
    pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    other.touch(mode=0o600)
    other.write_bytes(pem)

    with pytest.raises(ValueError, match="expected a signature by the key of releases"):
        build(replace(repository.asked, key=other), out)
    assert not out.exists()


# -- the signature, by the commands that users have


@pytest.fixture
def signed(repository: Repository, tmp_path: Path) -> Path:
    folder = tmp_path / "release"
    folder.mkdir()
    (folder / "a.whl").write_bytes(b"a")
    (folder / "b.tar").write_bytes(b"b")
    signing.sign(folder, signing.private_key(repository.key))
    (tmp_path / "release.pub").write_bytes((repository.root / signing.PUBLIC).read_bytes())
    return folder


def commands() -> str:
    """What docs/releasing.md shows users to type."""
    page = (frozen.ROOT / "docs" / "releasing.md").read_text("utf-8")
    return page.partition("<!-- check a download -->")[2].partition("```sh\n")[2].partition("```")[0]


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    script = f"set -e\n{commands()}"
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)


def test_a_user_checks_a_download_with_openssl_and_sha256sum(signed: Path) -> None:
    found = check(signed)

    assert found.returncode == 0, found.stderr
    assert "Signature Verified Successfully" in found.stdout
    assert "a.whl: OK\nb.tar: OK\n" in found.stdout


@pytest.mark.parametrize("spoilt", ["a.whl", "SHA256SUMS", "SHA256SUMS.sig", "../release.pub"])
def test_a_download_that_was_altered_is_refused(signed: Path, spoilt: str, repository: Repository) -> None:
    public = signing.public_key(repository.root / signing.PUBLIC)
    signing.check(signed, public)
    if spoilt == "../release.pub":
        other = ["openssl", "genpkey", "-algorithm", "ed25519", "-out", "other.key"]
        subprocess.run(other, cwd=signed.parent, check=True, capture_output=True)
        out = ["openssl", "pkey", "-in", "other.key", "-pubout", "-out", "release.pub"]
        subprocess.run(out, cwd=signed.parent, check=True, capture_output=True)
    else:
        text = (signed / spoilt).read_bytes()
        (signed / spoilt).write_bytes(bytes([text[0] ^ 1]) + text[1:])

    assert check(signed).returncode != 0
    with pytest.raises(ValueError, match="expected"):
        signing.check(signed, signing.public_key(signed.parent / "release.pub") if ".pub" in spoilt else public)


def test_a_file_that_the_checksums_do_not_name_is_refused(signed: Path, repository: Repository) -> None:
    (signed / "c.whl").write_bytes(b"c")

    with pytest.raises(ValueError, match=r"c\.whl"):
        signing.check(signed, signing.public_key(repository.root / signing.PUBLIC))
