"""What the documents show is what happens: their commands are run, their links and paths lead somewhere."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path
from zipfile import ZipFile

import pytest

from docs.site.picture import PAGE as PICTURE
from docs.site.picture import shown
from service.cli import main
from tests.fixtures.forked import forked

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
_MAP = (ROOT / "docs" / "map.md").read_text()
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_QUOTE = re.compile(r"the quote of a real run: begin -->\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VERIFIED = re.compile(r"the verification of a real run: begin -->\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ANSWER = re.compile(r"begin -->\n```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^ ?(\d+) ([a-z]+\.[a-z]+) +(\{.*\})$", re.MULTILINE)
_TO_BE_MADE = {
    "service/audit/schemas/2/",
    "service/audit/schemas/2/context.v1.json",
    "tests/vectors/goldens/schemas-2/",
    "service/checks/judgement/critique_2.py",
    "tests/vectors/goldens/judgement-2.critique.jsonl",
    "tests/vectors/payloads/payload.turn.silent.v2.jsonl",
}
"""What a reader of a how-to makes in its example."""
_OURS = "bench|clients|dashboards|deploy|docs|helm|service|supply|tests|migrations"
_PLACE = re.compile(rf"`(?:{_OURS})/|\]\(|`pyproject\.toml`")
PORT = 8321


def commands(document: Path) -> list[str]:
    """The commands of a document's console blocks, continuation lines joined."""
    found: list[str] = []
    for block in _BLOCK.findall(document.read_text()):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(line[2:])
            elif found and found[-1].endswith("\\"):
                found[-1] = f"{found[-1][:-1]} {line.strip()}"
    return found


def script(documents: list[Path], port: int) -> str:
    """The commands of documents, each in a folder of its own; it stops at the first that fails, and says which it is.

    `make` only says what it would do. The service that the first document starts serves those behind it, and the
    embedded server stays warm from one command to the next: both are stopped at the end. Nothing waits for that service
    but what is shown.
    """
    lines = [
        "set -eE",
        "trap 'echo \"failed in $PWD: $BASH_COMMAND\" >&2' ERR",
        "trap 'kill $(jobs -p) 2>/dev/null || true; wait; gainsay stop >/dev/null || true' EXIT",
    ]
    served = False
    for document in documents:
        lines.append(f"mkdir -p $HERE/{document.stem} && cd $HERE/{document.stem} && echo '## {document.stem}'")
        for command in commands(document):
            if command == "gainsay serve &" and served:
                continue
            made = re.sub(r"^make ", f"make -n -C {ROOT} ", command).replace(str(PORT), str(port))
            lines.append(made.replace("gainsay serve", f"gainsay serve --port {port}"))
            served |= made.endswith("&")
    return "\n".join(lines)


@pytest.mark.timeout(300)
def test_every_command_that_a_document_shows_runs(tmp_path: Path, data_folder: Path) -> None:
    """As a reader types them, but for the start of `gainsay`, which is a fork; test_runbook.py has whole processes."""
    missing = [program for program in ("bash", "make", "curl") if not shutil.which(program)]
    if missing:
        pytest.skip(f"not on this machine: {', '.join(missing)}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    readme, record = ROOT / "README.md", ROOT / "docs" / "record.md"
    shown_in = sorted(filter(commands, DOCUMENTS), key=lambda page: "gainsay serve &" in commands(page))

    with forked(tmp_path) as program:
        done = subprocess.run(
            ["bash", "-c", script(shown_in, port)],
            cwd=tmp_path,
            env={
                **os.environ,
                "HERE": str(tmp_path),
                "PATH": f"{program}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "GAINSAY_DATA_DIR": str(data_folder),
                "GAINSAY_DRAIN_S": "0",
                "GAINSAY_WARM_S": "60",
            },
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 0, done.stderr
    assert len(shown_in) > 5
    said = dict(re.findall(r"^## ([\w-]+)\n(.*?)(?=^## |\Z)", done.stdout, re.MULTILINE | re.DOTALL))
    _same_members(
        json.loads(_ANSWER.findall(readme.read_text())[0]),
        json.loads((tmp_path / "README" / "answer.json").read_text()),
    )
    (steps,) = _VERIFIED.findall(record.read_text())
    _shown_by(said["record"], steps.splitlines())
    _shown_by(said["README"], shown(PICTURE.read_text("utf-8")))


def _shown_by(printed: str, expected: list[str]) -> None:
    """Each line is one of what was printed, but for numbers, blanks and words that are left out."""
    real = [" ".join(line.split()) for line in printed.splitlines()]
    assert len(expected) > 6
    assert [line for line in expected if not any(map(_alike(" ".join(line.split())).fullmatch, real))] == []


def test_the_quote_that_the_readme_shows_is_how_a_real_one_begins(capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = _QUOTE.findall((ROOT / "docs" / "first-steps.md").read_text())

    assert main(["quote", "--sample", "contract"]) == 0

    real = capsys.readouterr().out
    assert len(shown.splitlines()) > 8
    assert _without_numbers(real).startswith(_without_numbers(shown))


def test_the_answer_and_the_verification_that_the_readme_shows_are_of_one_debate() -> None:
    cost = json.loads(_ANSWER.findall((ROOT / "README.md").read_text())[0])["decision"]["cost"]
    (steps,) = _VERIFIED.findall((ROOT / "docs" / "record.md").read_text())

    assert f" {cost['spentUSD']} USD in all" in steps


def _alike(shown: str) -> re.Pattern[str]:
    """What a line that is shown may be in another run: its numbers are others, and [...] stands for any words."""
    return re.compile(re.sub(r"\d+", r"\\d+", re.escape(shown)).replace(re.escape("[...]"), ".*"))


def _without_numbers(text: str) -> str:
    """Amounts follow the catalogue and the prompts; a blank before one may be another digit."""
    return re.sub(r" *\d[\d.,]*", " 0", text)


def _same_members(shown: dict[str, object], real: dict[str, object]) -> None:
    """Every member that is shown is one of a real answer, of the same kind."""
    for name, value in shown.items():
        assert name in real
        assert type(value) is type(real[name])
        if isinstance(value, dict):
            inner = real[name]
            assert isinstance(inner, dict)
            _same_members(value, inner)


def test_the_entries_that_the_architecture_shows_are_those_of_a_real_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data_folder: Path
) -> None:
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(data_folder))
    shown = _ENTRY.findall((ROOT / "docs" / "architecture.md").read_text())

    assert main(["review", "--sample", "contract", "--json"]) == 0
    debate = json.loads(capsys.readouterr().out)["debateId"]
    assert main(["audit", "bundle", debate, "--out", str(tmp_path / "case.zip")]) == 0

    with ZipFile(tmp_path / "case.zip") as bundle:
        paths = sorted(path for path in bundle.namelist() if path.endswith(".payload.json"))
        real = [json.loads(bundle.read(path)) for path in paths]
    assert [(int(n), kind) for n, kind, _ in shown] == [(n, payload["kind"]) for n, payload in enumerate(real)]
    for (_, _, shortened), payload in zip(shown, real, strict=True):
        _part_of(json.loads(re.sub(r"(, )?…(?=[\]}])", "", shortened)), payload)


def _part_of(shown: object, real: object) -> None:
    """What is shown is there, and says the same; numbers and shortened texts are others in another run."""
    assert type(shown) is type(real)
    if isinstance(shown, dict) and isinstance(real, dict):
        for name, value in shown.items():
            assert name in real
            _part_of(value, real[name])
    elif isinstance(shown, list) and isinstance(real, list):
        assert len(shown) <= len(real)
        for one, other in zip(shown, real, strict=False):
            _part_of(one, other)
    elif isinstance(shown, str | bool) and "…" not in str(shown):
        assert shown == real


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_every_path_of_a_document_is_there(document: Path) -> None:
    text = document.read_text()
    paths = (
        set(re.findall(r"`((?:clients|dashboards|helm|service|tests|migrations|docs|bench|examples)/[\w./-]*)`", text))
        - _TO_BE_MADE
    )
    tests = set(re.findall(r"`(test_\w+\.py)`", text))

    assert document.name != "map.md" or len(paths) > 100
    named = {path for path in paths if not re.search(r"/(NAME|KIND|VERSION)\b|/NAME", path)}
    assert {path for path in named if not (ROOT / path).exists()} == set()
    assert {test for test in tests if not any((ROOT / "tests").rglob(test))} == set()


def test_every_row_of_the_map_says_what_to_edit_and_names_a_test_that_shows_it() -> None:
    rows = [line for line in _MAP.splitlines() if line.startswith("| ") and not line.startswith("| to change ")]
    bare = []

    for row in rows:
        _, what, edit, shown, _ = row.split("|")
        place = _PLACE.search(edit)
        tests = [test for path in re.findall(r"`(tests/[^`]*)`", shown) for test in _tests(ROOT / path)]
        if not what.strip() or not place or not tests:
            bare.append(what.strip())

    assert len(rows) > 80
    assert bare == []


def _tests(path: Path) -> list[Path]:
    return sorted(path.glob("test_*.py")) if path.is_dir() else [path] if path.name.startswith("test_") else []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_every_target_and_module_that_a_document_runs_is_there(document: Path) -> None:
    text = document.read_text()
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    modules = [ROOT / module.replace(".", "/") for module in re.findall(r"python -m ((?:tests|service)[\w.]*)", text)]

    assert set(re.findall(r"`make ([a-z]+(?:-[a-z]+)*)", text)) - targets == set()
    assert [m for m in modules if not (m.with_suffix(".py").exists() or (m / "__main__.py").exists())] == []


def test_every_folder_of_the_package_is_on_the_map() -> None:
    files = [p for p in (ROOT / "service").glob("*/**/*") if p.is_file() and "__pycache__" not in p.parts]
    folders = {p.relative_to(ROOT / "service").parts[0] for p in files}

    assert len(folders) > 10
    assert {folder for folder in folders if f"service/{folder}/" not in _MAP} == set()


def test_the_map_answers_each_question_once() -> None:
    asked = [line.split(" | ")[0] for line in _MAP.splitlines() if line.startswith("| ")]
    asked = [row for row in asked if row != "| to change"]

    assert len(asked) > 100
    assert [row for row, number in Counter(asked).items() if number > 1] == []
