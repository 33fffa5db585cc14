"""The Dockerfile as it is written: what a linter would say, and what it promises. `make image-check` builds it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pytest

from service import __version__
from service.cli import gainsay
from service.cli.health import PORTS
from service.policy.settings import KNOWN, read_environment
from supply.base import main, pinned
from tests.image.dockerfile import ROOT, expanded, instructions, stages
from tests.image.replay import in_context

ARGUMENTS, (PACKAGES, LAST) = stages()
RUNS = [step.text for stage in (PACKAGES, LAST) for step in stage.all("RUN")]
DIGEST = "0f1e" * 16


def test_comments_and_continued_lines_are_read_as_builders_read_them() -> None:
    read = instructions('# no\nRUN one \\\n  # no\n    && two\n\nCMD ["a b", "c"]\nCOPY --from=x --chown=1:0 y z\n')

    assert [(step.word, step.text, step.line) for step in read[:2]] == [
        ("RUN", "one && two", 2),
        ("CMD", '["a b", "c"]', 6),
    ]
    assert read[1].words == ["a b", "c"]
    assert (read[2].flags, read[2].words) == ({"from": "x", "chown": "1:0"}, ["y", "z"])


def test_both_stages_have_the_one_base_that_an_argument_names() -> None:
    assert list(ARGUMENTS) == ["PYTHON_IMAGE"]
    assert PACKAGES.base == LAST.base == expanded("${PYTHON_IMAGE}", ARGUMENTS)
    assert re.fullmatch(r"python:3\.13-slim-[a-z]+", LAST.base), "a tag, and never latest"


def test_everything_that_is_installed_is_locked_by_hash() -> None:
    installs = re.findall(r"(?:pip|--python \S+) install ([^&]+)", " ".join(RUNS))

    assert len(installs) == 3
    for words in installs:
        assert "--require-hashes" in words or "--no-index" in words, words
        assert "--no-deps" in words or "--only-binary :all:" in words, "nothing is compiled here"
    assert "--no-build-isolation" in next(text for text in RUNS if "pip wheel" in text)


@pytest.mark.parametrize("word", ["apt-get", "apk", "curl", "wget", "sudo", "ADD", "git", "gcc"])
def test_nothing_else_is_fetched_or_compiled(word: str) -> None:
    assert not [text for text in RUNS if word in text.split()]
    assert not PACKAGES.all(word)
    assert not LAST.all(word)


def test_a_step_that_fails_ends_the_build() -> None:
    """`a; b` and `a | b` hide the failure of `a`."""
    for text in RUNS:
        assert not re.search(r";(?! (\}|print|exit 1))", text), text
        assert not re.search(r"(?<!\|)\|(?!\|)", text), text


def test_what_is_copied_is_in_the_context_and_is_what_the_wheel_needs() -> None:
    copied = [source for step in PACKAGES.all("COPY") for source in step.words[:-1]]

    assert {"LICENSE", "README.md", "pyproject.toml", "clients/python", "migrations", "service", "supply"} <= set(
        copied
    )
    for source in copied:
        assert in_context(source), source
        assert (ROOT / source).exists(), source
    for kept_out in (".git", "tests", "bench", ".venv", "secrets", "log.key", "service/x.pyc"):
        assert not in_context(kept_out), kept_out
    assert [step.flags["from"] for step in LAST.all("COPY")] == ["packages", "packages"]


def test_the_user_is_a_number_that_is_not_root_and_its_folder_is_open_to_group_0() -> None:
    assert [step.text for step in LAST.all("USER")] == ["10001:0"]
    assert LAST.all("COPY")[-1].flags["chown"] == "10001:0"
    assert "chmod 0770 /data/gainsay" in RUNS[-2]
    assert [step.words for step in LAST.all("VOLUME")] == [["/var/lib/gainsay"]]


def test_its_variables_are_settings_and_no_secrets() -> None:
    environment = LAST.environment({"PATH": "/bin"})
    ours = {name: value for name, value in environment.items() if name.startswith("GAINSAY_")}

    assert read_environment({**ours, "GAINSAY_PROMPTS_PIN": "0" * 64}).faults == ()
    assert set(ours) == {"GAINSAY_DATA_DIR", "GAINSAY_WARM_S", "GAINSAY_PROMPTS_PIN"} <= set(KNOWN)
    assert environment["HOME"] == ours["GAINSAY_DATA_DIR"] == LAST.all("WORKDIR")[0].text
    assert environment["PATH"] == "/opt/gainsay/bin:/bin"


def test_what_it_says_of_itself() -> None:
    labels = {name: value for step in LAST.all("LABEL") for name, value in step.pairs.items()}
    prefix = "org.opencontainers.image."

    assert labels[f"{prefix}version"] == "${VERSION}"
    assert labels[f"{prefix}revision"] == "${REVISION}"
    assert labels[f"{prefix}licenses"] == "Apache-2.0"
    assert {name for step in LAST.all("ARG") for name in step.pairs} == {"VERSION", "REVISION"}
    assert [step.text for step in LAST.all("STOPSIGNAL")] == ["SIGTERM"]


def test_every_command_is_the_images_and_its_health_is_asked_of_itself() -> None:
    health = LAST.all("HEALTHCHECK")[0]
    entry, command = LAST.all("ENTRYPOINT")[0].words, LAST.all("CMD")[0].words
    exposed = {int(port) for step in LAST.all("EXPOSE") for port in step.words}

    assert health.words[0] == "CMD"
    assert health.text.endswith('CMD ["gainsay", "health"]')
    assert entry == ["gainsay"]
    context = gainsay.make_context("gainsay", list(command))
    assert gainsay.resolve_command(context, list(command))[0] == "serve"
    assert {port for port in PORTS.values() if port} <= exposed


@pytest.mark.parametrize(("version", "code"), [(__version__, 0), ("unreleased", 0), ("9.9.9", 1), ("", 1)])
def test_a_build_that_names_another_version_ends(version: str, code: int) -> None:
    step = next(text for text in RUNS if "VERSION" in text)
    here = step.replace("/opt/gainsay/bin/python", shlex.quote(sys.executable))
    done = subprocess.run(
        ["sh", "-c", here],
        env={**os.environ, "VERSION": version},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == code
    assert (f"expected VERSION={__version__}, as the code says, found {version}" in done.stderr) is bool(code)


def test_a_base_is_taken_by_tag_and_digest() -> None:
    for reference in (
        f"python:3.13-slim-trixie@sha256:{DIGEST}",
        f"registry.bank.example:5000/py/base:3.13@sha256:{DIGEST}",
    ):
        assert pinned(reference) == reference


@pytest.mark.parametrize(
    "reference",
    [
        "",
        LAST.base,
        "python",
        f"python@sha256:{DIGEST}",
        f"registry.bank.example:5000/python@sha256:{DIGEST}",
        f"{LAST.base}@sha256:{'0' * 64}",
        f"{LAST.base}@sha256:{DIGEST[:-1]}",
        f"{LAST.base}@sha256:{DIGEST} --privileged",
        "python:3.13-slim-trixie@sha256:...",
    ],
)
def test_any_other_base_is_refused_with_the_command_that_finds_the_digest(
    reference: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match=r"docker buildx imagetools inspect (python|registry)"):
        pinned(reference)

    assert main([reference]) == 1
    assert "expected a base image with tag and digest" in capsys.readouterr().err
