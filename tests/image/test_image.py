"""The image itself, built and run: `make image-check`. `make test` reads the Dockerfile alone (test_dockerfile.py).

With buildah and debootstrap the real Dockerfile is built twice; the same checks run on what a replay of its commands
leaves in a layer over this machine.
"""

from __future__ import annotations

import json
import os
import signal
import time

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.utils import canonicalize_name

from service import __version__
from supply.locks import read_lock
from tests.image import building
from tests.image.conftest import DATA, EPOCH, USER, Image
from tests.image.container import Container, running
from tests.image.dockerfile import ROOT, stages

pytestmark = [
    pytest.mark.skipif(not os.environ.get("GAINSAY_TEST_IMAGE"), reason="make image-check builds and runs the image"),
    pytest.mark.timeout(1800),
]


def test_the_image_says_what_it_is_and_how_it_is_run(builder: building.Builder) -> None:
    said = builder.inspect("localhost/gainsay:first")["config"]

    assert said["User"] == "10001:0"
    assert said["Entrypoint"] == ["gainsay"]
    assert said["Healthcheck"]["Test"] == ["CMD", "gainsay", "health"]
    assert said["StopSignal"] == "SIGTERM"
    assert said["Labels"]["org.opencontainers.image.version"] == __version__
    assert said["Labels"]["org.opencontainers.image.revision"] == "0" * 40
    assert list(said["Volumes"]) == [DATA]


def test_two_builds_have_the_same_layers(builder: building.Builder) -> None:
    first, second = (builder.inspect(f"localhost/gainsay:{name}") for name in ("first", "second"))

    assert first["rootfs"]["diff_ids"] == second["rootfs"]["diff_ids"]
    assert len(first["rootfs"]["diff_ids"]) > 1


def test_all_that_is_added_has_the_time_that_was_asked_for(image: Image) -> None:
    added = list((image.files / "opt/gainsay").rglob("*"))

    assert len(added) > 5000
    assert {path.lstat().st_mtime for path in added} == {EPOCH}


def test_nothing_that_is_added_can_be_changed_or_raises_rights(image: Image) -> None:
    for path in (image.files / "opt/gainsay", *(image.files / "opt/gainsay").rglob("*")):
        found = path.lstat()
        assert (found.st_uid, found.st_gid) == (0, 0), path
        assert path.is_symlink() or not found.st_mode & 0o6022, path


def test_bytecode_is_there_and_is_not_compared_with_the_files(image: Image) -> None:
    compiled = list((image.files / "opt/gainsay/lib").rglob("*.pyc"))

    assert len(compiled) > 3000
    for path in compiled:
        with path.open("rb") as file:
            assert file.read(8)[4:] == b"\x01\x00\x00\x00", path  # by a hash, and unchecked


def test_nothing_that_builds_or_installs_is_in_it(image: Image) -> None:
    code, said = image.ends(
        "python",
        "-c",
        "import importlib.util as u; print([n for n in ('pip', 'setuptools', 'wheel', 'hatchling') if u.find_spec(n)])",
    )
    left = [path.name for path in (image.files / "usr/local/bin").glob("pip*")]
    tools = [name for name in ("gcc", "cc", "ld", "make", "g++") if (image.files / "usr/bin" / name).exists()]

    assert (code, said.strip()) == (0, "[]")
    assert (left, tools) == ([], [])


def test_the_list_of_what_is_in_it_names_all_that_is_installed(image: Image) -> None:
    text = (image.files / "opt/gainsay/sbom.cdx.json").read_text("utf-8")
    listed = json.loads(text)
    there = {(each["name"], each["version"]) for each in listed["components"] if each.get("scope") != "excluded"}
    ask = "import importlib.metadata as m; [print(d.name, d.version) for d in m.distributions()]"
    code, said = image.ends("python", "-c", ask)
    installed = {(canonicalize_name(name), version) for name, version in map(str.split, said.splitlines())}

    assert code == 0, said
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    assert installed - there == {("gainsay", __version__), ("gainsay-client", __version__)}
    assert there <= {(each.name, each.version) for each in read_lock(ROOT / "requirements.txt")}
    assert listed["metadata"]["component"]["version"] == __version__


@pytest.mark.parametrize("user", [10001, USER])
def test_the_whole_service_runs_under_any_user_on_a_read_only_root(image: Image, user: int) -> None:
    code, said = image.ends("gainsay", "demo", user=user)

    assert code == 0, said
    assert "VERIFIED" in said


def test_every_command_answers(image: Image) -> None:
    ask = """
import contextlib, io, sys
from service.cli import gainsay
import click
for name in gainsay.list_commands(click.Context(gainsay)):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert gainsay.main([name, "--help"], standalone_mode=False) == 0, name
    assert f"gainsay {name}" in said.getvalue() or "Usage:" in said.getvalue(), name
print("all")
"""
    code, said = image.ends("python", "-c", ask)

    assert (code, said.strip()) == (0, "all")


def test_the_default_command_does_not_start_without_identities(image: Image) -> None:
    *_, last = stages()[1]
    entry, arguments = last.all("ENTRYPOINT")[0].words, last.all("CMD")[0].words
    code, said = image.ends(*entry, *arguments)

    assert code == 2, said
    assert "GAINSAY_IDENTITY" in said


def healthy(found: Container, seconds: float = 90) -> str:
    until = time.monotonic() + seconds
    while (asked := found.run("gainsay", "health")).returncode:
        assert found.outside.poll() is None
        assert time.monotonic() < until, asked.stderr
        time.sleep(0.5)
    return asked.stdout.strip()


def test_a_service_is_unhealthy_until_it_answers_decides_a_case_and_ends_in_its_time(image: Image) -> None:
    command = ("gainsay", "serve")
    with running(
        image.tree, [image.volume()], *command, user=USER, environment=image.environment, at=image.at()
    ) as found:
        first = found.run("gainsay", "health")
        assert first.returncode == 1
        assert healthy(found) == "alive: `serve` answers at 127.0.0.1:8321"
        asked = found.run("gainsay", "review", "--sample", "contract", "--server", "http://127.0.0.1:8321", "--json")
        assert asked.returncode == 0, asked.stderr
        assert json.loads(asked.stdout)["status"] == "completed"
        written = found.run(
            "sh",
            "-c",
            "for f in / /opt/gainsay /etc /usr /var; do touch $f/x && echo $f; done; touch /tmp/x && echo /tmp",
        )
        assert written.stdout.split() == ["/tmp"]
        status = found.run("cat", "/proc/1/status").stdout
        for line in ("CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert f"{line}:\t0000000000000000" in status
        assert f"Uid:\t{USER}" in status
        begun = time.monotonic()
        code, said = found.end(signal.SIGTERM)

    assert code == 0, said
    assert time.monotonic() - begun < 35


def test_an_image_whose_prompts_are_others_does_not_start(image: Image) -> None:
    code, said = image.ends("gainsay", "serve", GAINSAY_PROMPTS_PIN="0" * 64)

    assert code == 3, said
    assert "prompt" in said.lower()
