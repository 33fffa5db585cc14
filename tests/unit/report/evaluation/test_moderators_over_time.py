"""Reports of audits of recorded moderators: from the JSON alone, each plot with its table, few cases drawn hollow."""

import re
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from service.evaluation.moderators.audit import audit_of, encode
from service.evaluation.scoring.refused_words import refused_in
from service.evaluation.scoring.sentences import SIMULATED
from service.report.document.blocks import Block, OverTime, Plot, ReportPart, TableBlock, Text
from service.report.document.html import POLICY
from service.report.document.plots import draw
from service.report.evaluation import write_audit
from service.report.evaluation.moderators_over_time import moderators_report
from tests.fixtures.moderator_audits import EVERY, made
from tests.unit.report.pdf_text import pages_of

NAMES = sorted(EVERY)


def blocks(name: str) -> tuple[Block, ...]:
    return moderators_report(made(name)).blocks


def drawn(name: str) -> list[tuple[OverTime, ElementTree.Element]]:
    return [(block, ElementTree.fromstring(draw(block))) for block in blocks(name) if isinstance(block, OverTime)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["markdown", "html"])
def test_no_report_holds_a_refused_word_and_each_is_made_of_its_json_alone(name: str, form: str) -> None:
    written = write_audit(made(name), form)  # type: ignore[arg-type]
    words = re.sub(r"<style>.*?</style>|<[^>]+>|[\\*]", " ", written.decode(), flags=re.DOTALL)

    assert len(words) > 1_000
    assert not refused_in(words)
    assert write_audit(audit_of(encode(made(name))), form) == written  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_every_plot_has_a_table_behind_it_and_every_part_is_there(name: str) -> None:
    found = blocks(name)

    for i, block in enumerate(found):
        if isinstance(block, Plot):
            assert isinstance(found[i + 1], TableBlock), block.title
    parts = {block.name for block in found if isinstance(block, ReportPart)}
    assert parts == {"findings", "over-time", "orders", "golden", "counted", "power", "not-shown", "statistics"}
    if not made(name).series:
        assert not [block for block in found if isinstance(block, Plot)]
        assert [block for block in found if isinstance(block, Text) and block.text.startswith("No figure of tilt")]


def test_a_window_with_few_decided_debates_is_drawn_hollow_and_one_without_any_is_not_drawn() -> None:
    ((plot, svg),) = drawn("tilt")

    assert [(p.window, p.hollow, p.at is None, p.below) for p in plot.points] == [
        ("2026-01", False, False, "n = 36"),
        ("2026-02", False, False, "n = 32"),
        ("2026-03", True, True, "n = 0"),
        ("2026-04", True, False, "n = 7"),
        ("2026-05", True, True, "n = 0"),
        ("2026-06", True, True, "n = 0"),
    ]
    dots = [circle.attrib for circle in svg.iter("{*}circle")] or [c.attrib for c in svg.iter("circle")]
    assert [dot["fill"] == "none" for dot in dots] == [False, False, True, True], "two, a hollow one, and its key"
    table = next(b for b in blocks("tilt") if isinstance(b, TableBlock) and b.head[0] == "Window")
    assert [row[-1] for row in table.rows] == ["yes", "yes", "yes", *["no, under 23"] * 4]
    assert "2026-04: 5 of 7 decided for the proposer" in plot.shown


@pytest.mark.parametrize("name", NAMES)
def test_every_drawing_is_xml_of_finite_numbers_within_its_picture(name: str) -> None:
    for plot, svg in drawn(name):
        width, height = (float(size) for size in svg.attrib["viewBox"].split()[2:])
        assert "nan" not in draw(plot)
        for circle in svg.iter("circle"):
            assert 0 <= float(circle.attrib["cx"]) <= width
            assert 0 <= float(circle.attrib["cy"]) <= height
        named = [text.text for text in svg.iter("text")]
        assert sum((text or "").startswith("n = ") for text in named) <= 13, "names do not run into each other"


@pytest.mark.parametrize("name", NAMES)
def test_html_is_one_file_that_loads_and_runs_nothing(name: str) -> None:
    page = write_audit(made(name), "html").decode()

    assert POLICY in page
    assert not re.search(r"<script|<img|<link|<iframe|\son\w+=|https?://|<b>\*", page)
    assert len(re.findall(r'id="([^"]+)"', page)) == len(set(re.findall(r'id="([^"]+)"', page)))


def test_simulated_models_are_said_on_each_page_and_the_first_page_has_what_must_be_read() -> None:
    simulated, real = made("none seen"), replace(made("tilt"), simulated=False)

    assert f'<footer class="running">{SIMULATED}</footer>' in write_audit(simulated, "html").decode()
    assert "running" not in write_audit(real, "html").decode()
    pages = pages_of(write_audit(simulated, "pdf"))
    assert all("Simulated:nolanguagemodeltookpart" in page for page in pages)
    for words in ("Question", "Excluded", "Power", "Doesnotshow", "Period"):
        assert words in pages[0]
    assert "Findings" in pages[1]


def test_the_json_is_the_audit() -> None:
    assert write_audit(made("tilt"), "json") == encode(made("tilt"))
