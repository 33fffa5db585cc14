"""A case as a JSON document on the command line: the body of ``POST /v1/debates``, with its errors and their places."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from service import samples
from service.cli import exit_codes, main
from service.errors import GainsayError
from service.intake.decoding import decode, most_bytes
from service.intake.request import CaseRequest
from service.policy.settings import SHIPPED_POLICY, read_policy

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data_folder: Path) -> Run:
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(data_folder))

    def call(*words: str | Path) -> tuple[int, str, str]:
        code = main([str(word) for word in words])
        return (code, *capfd.readouterr())

    return call


@pytest.fixture
def case(tmp_path: Path) -> Callable[[Any], Path]:
    """Write a case, as JSON or as it is."""

    def write(body: Any) -> Path:
        path = tmp_path / "case.json"
        path.write_bytes(body if isinstance(body, bytes) else json.dumps(body).encode())
        return path

    return write


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Give standard input."""

    def give(raw: bytes) -> None:
        stdin = SimpleNamespace(buffer=io.BytesIO(raw), isatty=lambda: False)
        monkeypatch.setattr(sys, "stdin", stdin)

    return give


CONTRACT = samples.load("contract").case
BALLOT = samples.load("contract", "ballot").case


@pytest.mark.parametrize("body", [CONTRACT, BALLOT], ids=["contract", "ballot"])
def test_a_case_that_is_printed_is_read_again_as_the_same(
    run: Run, case: Callable[[Any], Path], body: dict[str, Any]
) -> None:
    _, first, _ = run("review", "--case", case(body), "--print-request")
    _, again, _ = run("review", "--case", case(first.encode()), "--print-request")

    assert json.loads(first) == body
    assert again == first


def test_what_the_options_make_is_the_case_that_they_print(run: Run, case: Callable[[Any], Path]) -> None:
    _, printed, _ = run(
        "review", "--sample", "contract/ballot", "--ceiling", "0.77", "--rounds", "3", "--print-request"
    )

    code, again, _ = run("review", "--case", case(printed.encode()), "--print-request")

    assert (code, again) == (exit_codes.DONE, printed)


def test_numbers_stay_as_they_are_written(run: Run, case: Callable[[Any], Path]) -> None:
    """A float would lose the last digits of one and change the form of the other."""
    raw = json.dumps({**CONTRACT, "estimatedDownside": 0, "costCeilingUSD": 1}).encode()
    raw = raw.replace(b'"estimatedDownside": 0', b'"estimatedDownside": 6150000.123456789012345678')
    raw = raw.replace(b'"costCeilingUSD": 1', b'"costCeilingUSD": 0.50')

    _, out, _ = run("review", "--case", case(raw), "--print-request")

    assert '"estimatedDownside": 6150000.123456789012345678' in out
    assert '"costCeilingUSD": 0.50' in out


def test_a_case_comes_through_a_pipe(run: Run, keyboard: Callable[[bytes], None]) -> None:
    keyboard(json.dumps(CONTRACT).encode())

    code, out, err = run("review", "--case", "-", "--print-request")

    assert (code, json.loads(out), err) == (exit_codes.DONE, CONTRACT, "")


def test_gate_and_quote_take_the_same_case_as_review(run: Run, case: Callable[[Any], Path]) -> None:
    path = case(CONTRACT)

    gate, quote = run("gate", "--case", path, "--json"), run("quote", "--case", path, "--json")
    by_sample = run("quote", "--sample", "contract", "--json")

    assert (gate[0], json.loads(gate[1])["debate"]) == (exit_codes.DONE, True)
    assert json.loads(quote[1]) == json.loads(by_sample[1])


def test_files_are_the_documents_of_a_case_that_has_none(run: Run, case: Callable[[Any], Path], tmp_path: Path) -> None:
    text = tmp_path / "agreement.txt"
    text.write_text("1. The Supplier is liable.")
    without = {name: value for name, value in CONTRACT.items() if name != "documents"}

    _, out, _ = run("review", "--case", case(without), text, "--print-request")
    code, _, err = run("review", "--case", case(CONTRACT), text, "--print-request")

    assert json.loads(out)["documents"] == [{"title": "agreement.txt", "text": "1. The Supplier is liable."}]
    assert (code, err.splitlines()[0]) == (
        exit_codes.USAGE,
        "gainsay: usage: the case has its own documents; leave out FILE, or take them out of the case",
    )


def test_beside_a_case_stand_its_ceiling_its_deadline_and_what_overrules_the_gate(
    run: Run, case: Callable[[Any], Path]
) -> None:
    beside = ("--ceiling", "0.75", "--deadline", "2031-01-31T17:00:00Z", "--force", "the board asks for it")

    _, out, _ = run("review", "--case", case(CONTRACT), *beside, "--print-request")

    assert json.loads(out) == {
        **CONTRACT,
        "costCeilingUSD": "0.75",
        "deadline": "2031-01-31T17:00:00Z",
        "force": {"debate": True, "reason": "the board asks for it"},
    }


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--question", "Is it?"), "--question"),
        (("--sample", "contract"), "--sample"),
        (("--rounds", "2"), "--rounds"),
        (("--format", "ballot"), "--format"),
        (("--debater", "a"), "--debater"),
        (("--options", "options.json"), "--options"),
        (("--no-judge",), "--no-judge"),
        (("--not-contested",), "--contested"),
        (("--metadata", "a=b"), "--metadata"),
        (("--later", "a.txt:2"), "--later"),
    ],
)
def test_any_other_option_beside_a_case_is_refused_by_name(
    run: Run, case: Callable[[Any], Path], words: tuple[str, ...], named: str
) -> None:
    code, out, err = run("review", "--case", case(CONTRACT), *words)

    assert (code, out) == (exit_codes.USAGE, "")
    assert f"--case holds the whole case: leave out {named}, or edit the case. Beside --case may stand --ceiling" in err


BROKEN = {
    "no object": b"[1]",
    "cut off": b'{"question": "Is it',
    "no number": b'{"question": "Is it?", "taskType": "contract", "confidenceScore": NaN}',
    "twice": b'{"question": "Is it?", "taskType": "contract", "taskType": "security"}',
    "not UTF-8": b'{"question": "\xff"}',
    "nested": b"[" * 100_000,
    "empty": b"",
    "of other shapes": b'{"question": 3, "qestion": "Is it?", "estimatedDownside": "much", "documents": [{"text": 4}]}',
    "a misplaced option": b'{"question": "Is it?", "taskType": "contract", "maxRounds": 2}',
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("command", ["review", "gate", "quote"])
def test_a_case_that_cannot_be_read_has_the_errors_of_the_http_body_with_their_places(
    run: Run, case: Callable[[Any], Path], data_folder: Path, command: str, name: str
) -> None:
    path = case(BROKEN[name])
    with pytest.raises(GainsayError) as refusal:
        decode(BROKEN[name], CaseRequest)

    code, out, err = run(command, "--case", path)

    lines = [
        f"gainsay: {part.code}: {path}: {part.detail}" + (f" [{', '.join(part.pointers)}]" if part.pointers else "")
        for part in refusal.value.parts
    ]
    assert (code, out) == (exit_codes.USAGE, "")
    assert err.splitlines() == lines
    assert not data_folder.exists()


def test_what_is_wrong_with_a_readable_case_is_said_with_its_place_and_not_with_an_option(
    run: Run, case: Callable[[Any], Path]
) -> None:
    body = {**CONTRACT, "confidenceScore": 7, "options": {"format": "bllot"}}

    code, _, err = run("review", "--case", case(body))

    assert code == exit_codes.USAGE
    assert "found 7 [/confidenceScore]" in err
    assert "unknown format 'bllot'; did you mean 'ballot'?" in err
    assert "[/options/format]" in err


def test_a_file_that_is_none_or_too_large_is_named(run: Run, tmp_path: Path, keyboard: Callable[[bytes], None]) -> None:
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(100_000_000)
    keyboard(b" " * (most_bytes(read_policy(SHIPPED_POLICY).limits.total_characters) + 1))

    assert (
        run("review", "--case", tmp_path / "none.json")[2]
        == f"gainsay: no_file: there is no file {tmp_path}/none.json\n"
    )
    assert "found a folder" in run("gate", "--case", tmp_path)[2]
    assert f"found more in {large}" in run("quote", "--case", large)[2]
    assert "found more on standard input" in run("review", "--case", "-")[2]


def test_a_placeholder_that_is_not_filled_is_refused_by_its_name(run: Run, case: Callable[[Any], Path]) -> None:
    _, printed, _ = run("templates", "contract/liability", "--fill", "party=the Supplier", "--fill", "event=a breach")

    code, out, err = run("review", "--case", case(printed.encode()))

    assert (code, out) == (exit_codes.USAGE, "")
    assert "found the placeholders counterparty, downside-usd, how-the-loss-was-estimated, answer-to-challenge" in err
    assert "party," not in err.partition("counterparty")[2]


def test_a_document_may_hold_what_looks_like_a_placeholder(run: Run, case: Callable[[Any], Path]) -> None:
    body = {**CONTRACT, "documents": [{"text": "Dear <FILL: name>, you are liable."}]}

    code, _, _ = run("quote", "--case", case(body), "--json")

    assert code == exit_codes.DONE
