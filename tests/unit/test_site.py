"""The site of the docs: each page is in its navigation, each link leads somewhere, what tables name is there."""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache, reduce
from pathlib import Path, PurePosixPath

import pytest

from docs.site import access, checked, errors, not_run
from docs.site.fences import REASONS, ROOT, RUN_BY, SHELLS, Fence, all_fences, fences, lines, sources
from docs.site.navigation import pages, sections
from docs.site.words import unknown_words
from service.audit.log_events import KINDS
from service.web.openapi import document
from service.web.problem_texts import TEXTS

_ANSWERS = {"*evidence produced*", "*institution must do*", "*out of scope*"}
_ANY_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
_BLOCK = re.compile(r"^( *)```[^\n]*\n.*?^\1```$", re.MULTILINE | re.DOTALL)
_LAWS = (
    "SR 26-2",
    "SR 11-7",
    "NIST AI Risk",
    "ISO/IEC 42001",
    *(f"Article {number}" for number in (12, 13, 14, 15, 19, 26)),
)


@cache
def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings; a heading that stands twice has a number behind its second anchor."""
    found: dict[str, int] = {}
    for heading in re.findall(r"^#+ (.+)$", _BLOCK.sub("", page.read_text("utf-8")), re.MULTILINE):
        anchor = not_run.anchor(heading)
        found[anchor] = found.get(anchor, 0) + 1
    return frozenset(found) | {f"{anchor}-{n}" for anchor, times in found.items() for n in range(1, times)}


def rows(page: str) -> list[list[str]]:
    """The cells of every row of the tables of a page, without their heads."""
    found = re.findall(r"^\|[-|]+\|\n((?:\|.*\|\n)+)", text_of(page), re.MULTILINE)
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for table in found for row in table.splitlines()
    ]


def test_each_page_is_in_the_navigation() -> None:
    listed = {page.relative_to(ROOT).with_suffix("").as_posix() for page in sources()}

    assert len(listed) > 150
    assert listed - pages() == set()
    assert pages() - listed == set()


def test_each_kind_of_reader_has_a_section() -> None:
    assert [len(found) > 4 for found in sections().values()] == [True] * 5


def test_a_page_that_no_index_links_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "README.md").write_text("# Where\n\n## Callers\n\n[one](one.md)\n")

    assert pages(tmp_path) == {"README", "docs/README", "docs/one"}


def dead(page: Path) -> list[str]:
    found = []
    for path, anchor in _ANY_LINK.findall(_BLOCK.sub("", page.read_text("utf-8"))):
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            found.append(f"{path}#{anchor}")
    return found


def test_each_link_and_each_anchor_leads_somewhere() -> None:
    assert {page.as_posix(): dead(page) for page in sources() if dead(page)} == {}


def test_a_dead_anchor_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "one.md"
    page.write_text("# One\n\n## A `thing` here\n\n[a](#a-thing-here) [b](#b) [c](two.md)\n")

    assert dead(page) == ["#b", "two.md#"]


def test_what_is_wrong_with_a_page_of_the_site_is_found(tmp_path: Path) -> None:
    (tmp_path / "two.html").write_text('<html lang="en"><p id="there">')
    (tmp_path / "one.html").write_text(
        '<html lang="en"><script src="https://cdn.example/x.js"></script><img src="two.html">'
        '<a href="two.html#there">a</a><a href="two.html#gone">b</a><a href="three.html">c</a><p id="x"><p id="x">'
        '<a href="https://www.python.org/">d</a><link rel="stylesheet" href="//fonts.example/f.css">'
    )
    (tmp_path / "looks.css").write_text("@font-face { src: url(https://fonts.example/f.woff2) }")

    found = "\n".join(checked.faults(tmp_path))

    assert found.count("one.html: ") == 6
    for fault in ("cdn.example/x.js is loaded", "fonts.example/f.css is loaded", "no words", "#x stands twice"):
        assert fault in found
    for fault in ("two.html#gone leads nowhere", "three.html leads nowhere", "looks.css: loads from outside"):
        assert fault in found


_OF_FURO = """<html lang="en">
<aside class="sidebar-drawer"><p class="caption" role="heading">Callers</p></aside><pre>code</pre>
<div class="table-wrapper docutils container"><table><tr><th class="head text-center"><p></p></th></tr><tr>
<td><code><span class="pre">gainsay_log_head_age_seconds</span></code></td></tr></table></div>
<div class="table-wrapper docutils container"><table><tr><td><a href="one.html">a</a></td></tr></table></div>
<aside class="toc-drawer no-toc"></aside></html>"""


def test_what_keyboards_and_screen_readers_need_is_written_into_a_page_and_else_missed(tmp_path: Path) -> None:
    (tmp_path / "one.html").write_text(_OF_FURO)
    before = checked.faults(tmp_path)
    (tmp_path / "one.html").write_text(access.written(_OF_FURO))
    after = (tmp_path / "one.html").read_text()

    assert len(before) == 4
    assert checked.faults(tmp_path) == []
    assert access.written(after) == after, "twice is once"
    assert after.count("tabindex") == 2, "a table with a link is reached by that"
    assert "<th" not in after
    assert "gainsay_<wbr>log_<wbr>head_<wbr>age_<wbr>seconds" in after


def test_the_page_of_errors_is_what_the_service_would_answer() -> None:
    assert text_of("docs/errors.md") == errors.written(), "run python -m docs.site.errors"
    assert {code for code in TEXTS if f"| `{code}` |" not in text_of("docs/errors.md")} == set()


def test_the_list_of_what_is_not_run_is_that_of_the_pages() -> None:
    assert text_of("docs/not-run.md") == not_run.written(all_fences()), "run python -m docs.site.not_run"


def test_each_page_whose_blocks_are_run_is_named_with_the_test_that_runs_them() -> None:
    run = {fence.page for fence in all_fences() if fence.is_run and fence.language != "console"}

    assert run == set(RUN_BY)
    for page, test in RUN_BY.items():
        assert PurePosixPath(page).name in text_of(test) or page in text_of(test), f"{test} does not read {page}"


@pytest.mark.parametrize(
    "first", ["```sh not-run", "```sh not-run: mood", "```sh run", "```json not-run: cluster", "```sh not-run:"]
)
def test_a_mark_of_another_form_is_refused(tmp_path: Path, first: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# A\n\n{first}\nls\n```\n")

    with pytest.raises(ValueError, match="not-run: REASON"):
        fences(page, tmp_path)


def _not_run() -> list[Fence]:
    return [fence for fence in all_fences() if fence.needs]


def test_what_is_not_run_can_be_read_by_a_shell_and_names_what_there_is() -> None:
    for fence in _not_run():
        if fence.language in SHELLS - {"powershell"}:
            text = "\n".join(lines(fence))
            read = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
            assert read.returncode == 0, f"{fence.page}: {read.stderr}"
        assert [(fence.page, word) for line in lines(fence) for word in unknown_words(line)] == []
    assert {fence.needs for fence in _not_run()} <= set(REASONS)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("gainsay audit verify case.zip --key K", []),
        ("verifier/bin/gainsay audit verfy case.zip", ["gainsay audit verfy"]),
        ("gainsay keys create --rolle requester", ["gainsay keys create --rolle"]),
        ("gainsay sing &", ["gainsay sing"]),
        ("A=1 gainsay serve --port 8321 --no-worker &", []),
        ("helm upgrade --install gainsay helm/gainsay --values values.yaml", []),
        ("helm upgarde gainsay helm/gainsay", ["helm upgarde"]),
        ("kubectl -n risk get pods && kubectl crate job x", ["kubectl crate"]),
        ("docker compose up --wait", []),
        ("docker composse up", ["docker composse"]),
        ("docker compose upp", ["docker compose upp"]),
    ],
)
def test_a_command_that_there_is_not_is_found(line: str, found: list[str]) -> None:
    assert unknown_words(line) == found


@cache
def _operations() -> set[str]:
    paths = document()["paths"]
    return {f"{method.upper()} {re.sub(r'{[^}]*}', '{}', path)}" for path, found in paths.items() for method in found}


_PLACE = re.compile(r"`([^`]+)`(?: \(((?:`\w+`(?:, )?)+)\))?")


def unknown_places(cell: str) -> list[str]:
    """What a cell names and there is not: an endpoint, a kind of record, a member of either, a command, a target."""
    found = []
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    for code, named in _PLACE.findall(cell):
        if re.match(r"(GET|POST) /", code):
            known = re.sub(r"{[^}]*}", "{}", code) in _operations()
        elif code.startswith("gainsay "):
            known = unknown_words(code) == []
        elif code.startswith("make "):
            known = code.removeprefix("make ") in targets
        else:
            known = code in _recorded()
        found += [] if known else [code]
        found += [f"{code}: {member}" for member in re.findall(r"\w+", named) if member not in _members(code)]
    return found


@cache
def _members(place: str) -> frozenset[str]:
    """The members, at any depth, of an endpoint's good answer or of a kind of record."""
    if place.startswith("GET /"):
        whole = document()
        within: object = whole["paths"][place.removeprefix("GET ")]["get"]["responses"]["200"]
    else:
        file = ROOT / "service" / "audit" / "schemas" / "1" / f"payload.{place}.v1.json"
        whole = within = json.loads(file.read_text("utf-8")) if file.exists() else {}
    found: set[str] = set()
    seen: set[str] = set()
    left = [within]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            found.update(part.get("properties", {}))
            if (name := part.get("$ref", "")) and name not in seen:
                seen.add(name)
                left.append(reduce(lambda at, step: at[step], name.removeprefix("#/").split("/"), whole))
            left += part.values()
        elif isinstance(part, list):
            left += part
    return frozenset(found)


@cache
def _recorded() -> set[str]:
    schemas = (ROOT / "service" / "audit" / "schemas" / "1").glob("payload.*.v1.json")
    return {*KINDS, *(schema.name.removeprefix("payload.").removesuffix(".v1.json") for schema in schemas)}


def test_each_row_of_the_crosswalk_has_one_of_three_answers_and_a_place_that_there_is() -> None:
    found = [row for row in rows("docs/crosswalk.md") if len(row) == 4]

    assert len(found) > 80
    assert {row[1] for row in found} == _ANSWERS
    assert [row[0] for row in rows("docs/crosswalk.md") if len(row) != 4] == []
    assert [(row[0], wrong) for row in found for wrong in unknown_places(row[3])] == []
    assert [row[0] for row in found if row[1] == "*evidence produced*" and not re.search(r"`|\]\(", row[3])] == []
    assert [row[0] for row in found if row[1] == "*out of scope*" and row[3]] == []


def test_what_evaluations_record_serves_a_row_of_the_crosswalk() -> None:
    """A row may say that an institution measures accuracy, and not that nothing here measures it."""
    places = " ".join(row[3] for row in rows("docs/crosswalk.md") if len(row) == 4)

    kinds = ("evaluation.registered", "item.scored", "evaluation.concluded", "moderator.found")
    assert [kind for kind in kinds if f"`{kind}`" not in places] == []


def test_a_place_that_there_is_not_is_found() -> None:
    there = "`GET /v1/models` (`trackRecords`), `turn.spoke` (`servedModel`, `usage`), `gainsay models`, `make sbom`"
    assert unknown_places(there) == []
    wrong = "`GET /v1/debates/{id}/audits`, `turn.spoken`, `gainsay audit packs`, `make sboms`"
    assert len(unknown_places(wrong)) == 4
    wrong = "`turn.asked` (`attempt`, `provider`), `GET /v1/models` (`provider`, `weights`)"
    assert unknown_places(wrong) == ["turn.asked: provider", "GET /v1/models: weights"]


@pytest.mark.parametrize("law", _LAWS)
def test_the_crosswalk_has_a_table_for_each_text(law: str) -> None:
    assert re.search(rf"^###? .*{law}.*\n+(?:[^|#\n].*\n+)*\| ", text_of("docs/crosswalk.md"), re.MULTILINE)


def test_each_text_of_the_crosswalk_names_its_edition_and_what_it_was_compared_with() -> None:
    texts = re.split(r"^(?:## |### (?=Former))", text_of("docs/crosswalk.md"), flags=re.MULTILINE)[1:]

    assert len(texts) == 5
    for text in texts:
        before = text.partition("\n|")[0]
        assert "\n*Edition.* " in before, text.splitlines()[0]
        assert "\n*Compared with* " in before, text.splitlines()[0]


@cache
def _named_tests() -> frozenset[str]:
    files = (ROOT / "tests").rglob("test_*.py")
    return frozenset(name for file in files for name in re.findall(r"def (test_\w+)", file.read_text("utf-8")))


def test_each_failure_names_tests_alerts_and_lines_of_the_log_that_there_are() -> None:
    found = rows("docs/failures.md")
    rules = "".join(file.read_text("utf-8") for file in (ROOT / "dashboards" / "rules").glob("*.y*ml"))
    logged = text_of("service/log_lines.py")

    assert len(found) > 25
    assert {len(row) for row in found} == {6}
    for row in found:
        tests = re.findall(r"`(test_\w+)`", row[5])
        assert tests, row[0]
        assert set(tests) <= _named_tests(), row[0]
        assert [alert for alert in re.findall(r"`(Gainsay\w+)`", row[3]) if f"alert: {alert}\n" not in rules] == []
        assert [line for line in re.findall(r"`([a-z]+\.[a-z_]+)`", row[3]) if f'"{line}"' not in logged] == []
        assert [code for code in re.findall(r"\d{3} `(\w+)`", row[1]) if code not in TEXTS] == []
        assert all(row[:5])
