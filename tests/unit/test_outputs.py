"""No output interprets what a document, a caller or a model wrote: each payload in each output.

`python -m tests.unit.test_outputs` writes the table of docs/outputs.md anew.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from markdown_it import MarkdownIt
from prometheus_client.exposition import generate_latest
from rich.console import Console

from service import telemetry
from service.audit.csv_line import csv_line
from service.cli.display.console import row, text
from service.cli.logs import line_formatter
from service.cli.terminal_text import clean, json_lines, say, standard_output, write_out
from service.observing import labelled
from service.report import sent
from service.report.document import html, markdown, pdf
from service.report.document.blocks import (
    Argued,
    Banner,
    Block,
    Bullets,
    Fact,
    FactList,
    Quotation,
    ReportBlocks,
    ReportPart,
    TableBlock,
    Text,
    Verbatim,
    legible,
)
from service.report.document.html_text import escape
from service.web.file_names import kept_as
from tests.fixtures.payloads import PAYLOADS
from tests.unit.report.pdf_text import text_of

PAGE = Path(__file__).parents[2] / "docs" / "outputs.md"
ACTS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
)
"""Characters that none of the outputs may hold, written down apart from the table of the code."""
PRIOR = logging.LogRecord("gainsay", logging.INFO, "", 0, "words", None, None)


def terminal(payload: str) -> str:
    """A line of a page."""
    written = io.StringIO()
    Console(file=written, width=400, markup=False, highlight=False, emoji=False).print(text(payload))
    return written.getvalue().removesuffix("\n")


def in_json(payload: str) -> str:
    """A member of an answer."""
    return sent.encode(payload).decode()


def cell(payload: str) -> str:
    """A cell of a table, as a spreadsheet reads it."""
    (found,) = csv.reader(io.StringIO(csv_line(["x", payload]).decode(), newline=""), strict=True)
    return found[1]


def logged(payload: str) -> str:
    """A field of a log's line."""
    record = logging.makeLogRecord({**vars(PRIOR), "detail": payload})
    return line_formatter(traces=False).format(record).partition(" words event=library detail=")[2]


def logged_in_json(payload: str) -> str:
    """A field of a line of a log in JSON."""
    record = logging.makeLogRecord({**vars(PRIOR), "detail": payload})
    return line_formatter("json", traces=False).format(record).partition('"detail":')[2].removesuffix("}")


OUTPUTS: dict[str, Callable[[str], str]] = {
    "terminal": terminal,
    "JSON, JSONL": in_json,
    "CSV cell": cell,
    "Markdown": markdown.escape,
    "HTML": escape,
    "log": logged,
    "log in JSON": logged_in_json,
}


def table() -> str:
    """What each output shows of each payload."""
    rows = [f"| payload | it is | {' | '.join(OUTPUTS)} |", "|---|---|" + "---|" * len(OUTPUTS)]
    for name, payload in PAYLOADS.items():
        cells = [name, _code(in_json(payload)[1:-1]), *(_code(show(payload)) for show in OUTPUTS.values())]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _code(shown: str) -> str:
    """A text as code in a cell of a table; one that looks like a link has its signs by their numbers."""
    if "](" in shown:
        return f"<code>{re.sub(r'[^A-Za-z0-9 ]', lambda sign: f'&#{ord(sign.group())};', shown)}</code>"
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    pad = " " if "`" in shown or shown != shown.strip() else ""
    return f"{ticks}{pad}{shown.replace('|', chr(92) + '|')}{pad}{ticks}"


def written(page: str) -> str:
    """The page with the table as it is."""
    place = re.compile(r"<!-- outputs -->\n(\n\|.*?\n(?=\n))?", re.DOTALL)
    assert len(place.findall(page)) == 1
    return place.sub(lambda _: f"<!-- outputs -->\n\n{table()}\n", page)


def test_the_page_shows_what_each_output_shows() -> None:
    page = PAGE.read_text("utf-8")

    assert page == written(page), "python -m tests.unit.test_outputs writes it"
    assert not ACTS.search(page)


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_no_output_holds_a_character_that_acts_or_a_line_of_its_own(output: str, payload: str) -> None:
    shown = OUTPUTS[output](payload)

    assert not ACTS.search(shown)
    assert "\n" not in shown


# -- each output by a reader of its own


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_a_terminal_is_told_the_same_by_every_command(payload: str, capsys: pytest.CaptureFixture[str]) -> None:
    say(f"file {payload}")
    Console(width=400).print(row(payload, payload, payload))
    printed = capsys.readouterr()

    for shown in (clean(payload), printed.out):
        assert not ACTS.search(shown)


class Terminal(io.TextIOWrapper):
    """A terminal, which keeps what was written to it."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_a_file_is_shown_on_a_terminal_and_written_exactly_to_a_pipe(
    payload: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = payload.encode()
    screen, pipe = Terminal(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    monkeypatch.setattr("sys.stdout", screen)
    write_out(content)
    terminal = standard_output()
    for byte in content:
        terminal.write(bytes([byte]))
    terminal.flush()
    monkeypatch.setattr("sys.stdout", pipe)
    write_out(content)

    assert not ACTS.search(screen.buffer.getvalue().decode())  # type: ignore[attr-defined]
    assert pipe.buffer.getvalue() == content


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_json_is_the_same_value(payload: str) -> None:
    value = {payload: [payload]}

    for encoded in (sent.encode(value), json_lines(value), json_lines(value, indented=False)):
        assert json.loads(encoded) == msgspec.json.decode(encoded) == value
        assert not ACTS.search(encoded.decode())
    assert json_lines(value, indented=False).count(b"\n") == 1


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_a_spreadsheet_takes_no_cell_for_a_formula_by_any_separator(payload: str) -> None:
    line = csv_line(["x", payload]).decode()

    for separator in (",", ";", "\t", "|", "\r\n"):
        for one in line.split(separator):
            assert not one.strip().lstrip('"').startswith(("=", "+", "-", "@", "\uff1d"))


def report(words: str) -> ReportBlocks:
    """A report with these words in every kind of place."""
    blocks: tuple[Block, ...] = (
        Banner("warn", words, (words,)),
        ReportPart("part", words),
        Text(words),
        FactList((Fact(words, words), Fact(words, words, code=True))),
        TableBlock(words, (words, words), ((words, words),), code=(1,)),
        Argued(words, words, words, words, (Quotation("bad", words, words, words, (words,)),)),
        Bullets((words,)),
        Verbatim((words,)),
    )
    return ReportBlocks(words, words, "en", False, "2026-11-25T00:00:00Z", blocks)


class Tags(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[object] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))

    def handle_comment(self, data: str) -> None:
        self.found.append(data)


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_a_browser_finds_no_element_and_no_attribute_that_is_not_ours(payload: str) -> None:
    page = html.write(report(payload))

    assert Tags(page).found == Tags(html.write(report("word"))).found
    assert not ACTS.search(page.replace("\n", " "))


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_a_reader_of_markdown_finds_no_markup_that_is_not_ours(payload: str) -> None:
    def kinds(text: str) -> list[str]:
        tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
        inner = [child.type for token in tokens for child in token.children or ()]
        return [token.type for token in tokens] + [kind for kind in inner if kind not in ("text", "text_special")]

    page = markdown.write(report(payload))

    assert kinds(page) == kinds(markdown.write(report("word")))
    assert not ACTS.search(page)
    prose = re.sub(r"^(`{3,})\n.*?^\1$", "", page, flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"[a-z]://|www\.|@[\w-]+\.|\W@\w", prose), "GitHub makes links of these"


def test_a_pdf_shows_every_payload_and_does_nothing() -> None:
    blocks = (ReportPart("part", "Payloads"), Bullets(tuple(PAYLOADS.values())))
    made = pdf.write(ReportBlocks("Title", "sub", "en", False, "2026-11-25T00:00:00Z", blocks))
    read = text_of(made).replace("\u200b", "")

    assert [name for name, payload in PAYLOADS.items() if "".join(legible(payload).split()) not in read] == [
        "formula in full width"  # a font of the file lacks this character, and shows a box
    ]
    assert not re.search(rb"/(?:URI|JavaScript|JS|Launch|EmbeddedFile|OpenAction|AA|SubmitForm)\b", made)


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_a_line_of_a_log_is_one_line_and_has_its_own_fields_alone(payload: str) -> None:
    fields = {**vars(PRIOR), "msg": f"said {payload}", "detail": payload, "request": "req_1"}
    error = ValueError(payload)
    whole = line_formatter(traces=False).format(
        logging.makeLogRecord({**fields, "exc_info": (ValueError, error, None)})
    )
    first, *below = whole.splitlines()

    assert not ACTS.search(whole)
    assert all(line.startswith("  ") for line in below)
    assert (
        re.sub(r'"(?:[^"\\]|\\.)*"', "", line_formatter(traces=False).format(logging.makeLogRecord(fields))).count(
            " request="
        )
        == 1
    )
    assert first.startswith("20")


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_a_file_is_named_by_safe_characters_alone(payload: str) -> None:
    (found,) = kept_as("inline", payload, "txt", otherwise="f" * 64).values()

    name = re.fullmatch(r'inline; filename="([A-Za-z0-9_-][A-Za-z0-9._-]*)"', found)
    assert name
    assert name[1] == f"{'f' * 64}.txt"


@pytest.mark.parametrize("stem", ["con", "NUL", "aux.a", "COM1", "lpt9.x.y", ".hidden", "a" * 101, "", "a b", "a/b"])
def test_a_name_that_a_system_refuses_is_not_given(stem: str) -> None:
    assert kept_as("attachment", stem, "zip", otherwise="bundle") == {
        "Content-Disposition": 'attachment; filename="bundle.zip"'
    }


def test_a_plain_name_is_given() -> None:
    assert kept_as("inline", "D1.v2", "txt", otherwise="x") == {"Content-Disposition": 'inline; filename="D1.v2.txt"'}


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_a_label_of_a_metric_is_of_a_closed_list(payload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled, "strict", False)
    telemetry.ATTEMPTS_FAILED.labels(model=payload, reason=payload).inc(0)
    exposed = [
        line for line in generate_latest(labelled.REGISTRY).decode().splitlines() if "gainsay_attempts_failed" in line
    ]

    assert not any('reason="' in line and 'reason="other"' not in line and payload in line for line in exposed)
    assert not any(line.startswith("gainsay_x") for line in exposed)


# -- one place for each


SERVICE = Path(__file__).parents[2] / "service"
WAYS = {
    r"\bclick\.s?echo\(|(?<![\w.])print\(|\bsys\.std(?:out|err)\.(?:buffer\.)?write\(": {"cli/terminal_text.py"},
    r"\bcsv\.(?:writer|DictWriter)\(|\bdef _quoted\(cell": {"audit/csv_line.py"},
    r"from html import escape|\bhtml\.escape\(": {"report/document/html_text.py", "web/problem_pages.py"},
    r"[\"']Content-Disposition[\"']: f": {"web/file_names.py"},
    r"\blogging\.(?:StreamHandler|Formatter)\(": {"cli/logs.py"},
}
"""What writes an output, and the modules that may hold it."""


@pytest.mark.parametrize("way", WAYS)
def test_each_output_is_written_in_one_place(way: str) -> None:
    found = {
        str(path.relative_to(SERVICE))
        for path in SERVICE.rglob("*.py")
        if re.search(way, path.read_text("utf-8")) and "checks" not in path.parts
    }

    assert found == WAYS[way]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
