"""``gainsay evaluate statistic``: lines in, lines out, and an exit code that says whether they could be read."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from service.cli import exit_codes, main
from service.cli.evaluate import statistic

ASKED = '{"id":"a","statistic":"wilson","input":{"k":0,"n":0}}'


class Bytes:
    """A standard input of bytes."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], str]:
    code = main(["evaluate", "statistic", *arguments])
    captured = capfd.readouterr()
    return code, captured.out.splitlines(), captured.err


def test_each_line_of_standard_input_is_answered_in_its_order(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Bytes(f"{ASKED}\r\n\n nothing\n{ASKED}".encode()))

    code, out, err = run(capfd)

    assert (code, err) == (exit_codes.DONE, "")
    assert [json.loads(line)["id"] for line in out] == ["a", None, "a"]
    assert out[0] == out[2] == '{"id":"a","output":{"rate":null,"low":0.0,"high":1.0,"n":0}}'


def test_a_file_is_read_and_one_that_is_not_there_is_a_usage_error(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "asked.jsonl").write_text(f"{ASKED}\n")

    assert run(capfd, str(tmp_path / "asked.jsonl"))[:2] == (exit_codes.DONE, [_answer()])
    code, out, err = run(capfd, str(tmp_path / "gone.jsonl"))
    assert (code, out) == (exit_codes.USAGE, [])
    assert "No such file" in err


def test_a_line_that_is_too_long_is_answered_and_the_next_one_read(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistic, "LONGEST_LINE", 100)
    monkeypatch.setattr("service.evaluation.statistics.lines.LONGEST_LINE", 100)
    monkeypatch.setattr(statistic, "PIECE", 64)
    (tmp_path / "asked.jsonl").write_text(f"{'x' * 1000}\n{ASKED}\n{'y' * 101}\n{ASKED}\n{'z' * 102}")

    code, out, _ = run(capfd, str(tmp_path / "asked.jsonl"))

    assert code == exit_codes.DONE
    assert ["at most 100 bytes" in line for line in out] == [True, False, True, False, True]
    assert out[1] == out[3] == _answer()


def test_the_help_shows_a_line_and_what_answers_it(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, out, _ = run(capfd, "--help")
    shown = [line.strip() for line in out if line.strip().startswith("{")]
    (tmp_path / "asked.jsonl").write_text(shown[0])

    _, answers, _ = run(capfd, str(tmp_path / "asked.jsonl"))

    (expected,), (found,) = ([json.loads(line)["output"] for line in lines] for lines in (shown[1:], answers))
    assert found == pytest.approx(expected, abs=1e-9)


def _answer() -> str:
    return '{"id":"a","output":{"rate":null,"low":0.0,"high":1.0,"n":0}}'
