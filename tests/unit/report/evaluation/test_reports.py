"""Reports of evaluations: the same from the JSON, plots with tables and n, no refused word, simulated on each page."""

import json
import re
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from service.evaluation.scoring.refused_words import refused_in
from service.evaluation.scoring.result import Result, result_of
from service.evaluation.scoring.sentences import SIMULATED
from service.report.document.blocks import Block, Chart, Plot, ReportPart, TableBlock, Text
from service.report.document.html import POLICY
from service.report.document.plots import draw
from service.report.evaluation import encode_json, report, write
from tests.fixtures.evaluation_results import EVERY, made
from tests.unit.report.pdf_text import pages_of

AT = "2026-11-27T06:00:00Z"
NAMES = sorted(EVERY)
SVG = re.compile(r"<svg .*?</svg>", re.DOTALL)


def text(result: Result, form: str) -> str:
    return write(result, AT, form).decode()  # type: ignore[arg-type]


def blocks(name: str) -> tuple[Block, ...]:
    return report(made(name), AT).blocks


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["markdown", "html"])
def test_no_report_of_any_finding_holds_a_refused_word(name: str, form: str) -> None:
    words = re.sub(r"<style>.*?</style>|<[^>]+>|[\\*]", " ", text(made(name), form), flags=re.DOTALL)

    assert len(words) > 1_000
    assert not refused_in(words)


@pytest.mark.parametrize("name", NAMES)
def test_every_report_is_made_of_its_json_alone(name: str) -> None:
    read = result_of(encode_json(made(name)))

    for form in ("markdown", "html"):
        assert text(read, form) == text(made(name), form)


@pytest.mark.parametrize("name", NAMES)
def test_every_plot_has_a_table_behind_it_and_says_its_numbers_in_words(name: str) -> None:
    found = blocks(name)

    for i, block in enumerate(found):
        if isinstance(block, Plot | Chart):
            table = found[i + 1]
            assert isinstance(table, TableBlock), block.title
            assert table.rows
        if isinstance(block, Plot):
            assert any(character.isdigit() for character in block.shown)


@pytest.mark.parametrize("name", ["better", "passes", "tilt"])
def test_reports_with_cases_have_plots_and_reports_without_one_have_the_reason(name: str) -> None:
    empty = {"better": "no question", "passes": "no proposal", "tilt": "no pair"}[name]
    plots, none = ([b for b in blocks(of) if isinstance(b, Plot)] for of in (name, empty))
    reasons = [b.text for b in blocks(empty) if isinstance(b, Text) and b.text.startswith("No figure of ")]

    assert plots
    assert not none
    assert reasons


@pytest.mark.parametrize("name", NAMES)
def test_every_drawing_is_xml_of_finite_numbers_within_its_picture(name: str) -> None:
    for block in blocks(name):
        if isinstance(block, Plot):
            drawn = draw(block)
            root = ElementTree.fromstring(drawn)
            width, height = (float(size) for size in root.attrib["viewBox"].split()[2:])
            assert "nan" not in drawn
            assert "inf" not in drawn
            for circle in root.iter("circle"):
                assert 0 <= float(circle.attrib["cx"]) <= width
                assert 0 <= float(circle.attrib["cy"]) <= height


@pytest.mark.parametrize("name", NAMES)
def test_html_is_one_file_that_loads_and_runs_nothing(name: str) -> None:
    page = text(made(name), "html")

    assert POLICY in page
    assert not re.search(r"<script|<img|<link|<iframe|\son\w+=|https?://", page)
    assert len(re.findall(r'id="([^"]+)"', page)) == len(set(re.findall(r'id="([^"]+)"', page)))


def test_what_a_plan_asks_is_shown_as_it_is_written_and_never_becomes_markup() -> None:
    hostile = replace(made("better"), question='<script>alert(1)</script> | "# a" [b](c)')

    page, markdown = text(hostile, "html"), text(hostile, "markdown")

    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "\\<script\\>" in markdown


def test_simulated_models_are_said_on_each_page_of_each_form() -> None:
    simulated = made("better")
    real = replace(simulated, simulated=False, sentences=tuple(s for s in simulated.sentences if s.part != "simulated"))

    assert SIMULATED in text(simulated, "markdown")
    assert f'<footer class="running">{SIMULATED}</footer>' in text(simulated, "html")
    assert ".running { position: fixed;" in text(simulated, "html")
    assert "running" not in text(real, "html")
    pages = pages_of(write(simulated, AT, "pdf"))
    assert len(pages) > 3
    assert all("Simulated:nolanguagemodeltookpart" in page for page in pages)
    assert all("Simulated" not in page for page in pages_of(write(real, AT, "pdf")))


@pytest.mark.parametrize("name", ["worn and published", "blind spot", "tilt", "again"])
def test_a_pdf_has_its_first_page_to_itself(name: str) -> None:
    first, second, *_ = pages_of(write(made(name), AT, "pdf"))

    for words in ("Question", "Excluded", "Power", "Doesnotshow", "Labels"):
        assert words in first
    assert "Findings" in second


@pytest.mark.parametrize("name", NAMES)
def test_every_part_stands_in_every_report(name: str) -> None:
    parts = {block.name for block in blocks(name) if isinstance(block, ReportPart)}

    assert {"findings", "counted", "power", "sets", "plan", "not-shown", "statistics"} <= parts


def test_the_json_has_every_figure_that_a_report_shows() -> None:
    written = json.loads(encode_json(made("passes")))

    assert {"figures", "findings", "arms", "rows", "sentences", "sets", "power", "lostToInterruptions"} <= set(written)
    assert written["form"] == "gainsay.result/1"


def test_what_was_lost_in_interruptions_is_shown_apart() -> None:
    killed = replace(made("better"), lost_to_interruptions=1_230_000)

    assert "Lost in interruptions: 1.23 USD, which enters no figure." in text(killed, "html")
    assert "Lost in interruptions" not in text(made("better"), "html")
