"""Each problem's type leads to a page on the service that answers: of every error, and of no other."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import AsyncIterator, Iterator
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from litestar import Litestar
from litestar.testing import RequestFactory

import service
from service.errors import GainsayError
from service.proving.sequencer.consistency import LogIncident
from service.web import problems
from service.web.pages import hashed_source
from service.web.probe_server import make_probe_app
from service.web.problem_pages import FORMS
from service.web.problem_text import AGAIN
from service.web.problem_texts import TEXTS
from service.web.problems import problem
from service.web.server import serving
from tests.fixtures.postgres import Database
from tests.fixtures.serving import NO_TLS, Served, served

pytestmark = pytest.mark.asyncio(loop_scope="module")

ELSEWHERE = frozenset(
    """
    already_there bad_approval bad_archive bad_bundle bad_export bad_file bad_log_name bad_pack bad_register
    bad_set bad_settings bad_time_stamp call_failed cannot_listen cannot_remember cannot_rotate cannot_write
    contradicted database_newer debate_unfinished embedded_postgres embedded_postgres_folder
    embedded_postgres_missing embedded_postgres_start files_unsteady head_refused incomplete_format
    incomplete_table incomplete_wire interrupted log_incident log_late migration
    migration_busy migration_deleted migration_edited migration_failed migration_file migration_misplaced no_file
    no_identities no_set not_durable open_incident other_encoding out_of_order out_of_steps overtaken
    postgres_too_old prompts_unwritable records_disagree roles_missing shared_sessions signer_forgot stopping
    time_stamp_unavailable tree_damaged two_keys unguarded unknown_sample unknown_template unmigrated unplanned_score
    unsafe_role witness_conflict witness_refused witness_unavailable
    """.split()
)
"""Errors of commands, starts, workers and sequencers. Should one reach a caller, it is answered as ``internal``."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(module_database: Database) -> AsyncIterator[Served]:
    async with served(module_database.service_url, work=False) as site:
        yield site


def errors() -> Iterator[type[GainsayError]]:
    """Every error of the program."""
    for module in pkgutil.walk_packages(service.__path__, "service."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    waiting: list[type[GainsayError]] = [GainsayError]
    while waiting:
        yield (error := waiting.pop())
        waiting += error.__subclasses__()


class Outline(HTMLParser):
    """The elements of a page in order, with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]


async def test_every_error_has_a_page_or_is_of_another_part_of_the_program() -> None:
    codes = {error.code for error in errors() if error.__module__.startswith("service.")}

    assert codes - {*TEXTS} == ELSEWHERE
    assert {*TEXTS} - codes == set()


async def test_the_status_and_the_title_of_a_page_are_those_of_the_error() -> None:
    known = {(error.code, error.status) for error in errors()}

    for code, text in TEXTS.items():
        assert (code, text.example.status) in known
        assert text.meaning.endswith(".")
        assert text.todo
        assert all(step.endswith(".") for step in text.todo)
        assert text.again in AGAIN
    told = {code for code, text in TEXTS.items() if text.again in ("later", "underKey")}
    lasting = {"internal", "request_timeout"}
    assert {code for code in told if TEXTS[code].example.retry_after is None} == lasting, "Retry-After is sent"


async def test_the_type_of_each_problem_leads_to_its_page_in_each_form(site: Served) -> None:
    for code, text in TEXTS.items():
        where = problem(text.example, "/").type
        for form in FORMS if code in ("wrong_shape", "internal") else ("text/html",):
            answer = await site.http.get(where, headers={"accept": form})
            assert answer.status_code == 200, (where, form)
            assert answer.headers["content-type"].startswith(form)
            for said in (text.example.title, text.meaning, *text.todo):
                assert said in answer.text.replace("&#x27;", "'").replace("&quot;", '"').replace("\\", ""), (code, form)


async def test_the_list_names_every_problem_and_links_lead_to_pages(site: Served) -> None:
    page = await site.http.get("/problems")
    listed = (await site.http.get("/problems", headers={"accept": "application/json"})).json()["problems"]

    assert {one["code"] for one in listed} == {*TEXTS}
    for path in ("/problems", "/problems/", "/problems/not_found", "/problems/not_found/"):
        outline = Outline((await site.http.get(path)).text)
        links = [str(attrs["href"]) for attrs in outline.all("a")]
        reached = {str(httpx.URL(f"{site.url}{path}").join(link)) for link in links}
        assert all(not link.startswith(("/", "http")) for link in links), "a proxy may put all paths below a prefix"
        assert len(reached) == (1 if "not_found" in path else len(TEXTS) + 1)
        assert {(await site.http.get(url)).status_code for url in sorted(reached)[:3]} == {200}, path
    assert page.text.count("<tr>") == len(TEXTS) + 1


async def test_an_example_is_a_document_as_the_service_answers_it(site: Served) -> None:
    found = (await site.http.get("/problems/not_found", headers={"accept": "application/json"})).json()["document"]
    answered = (await site.http.get("/v1/debates/01920000-0000-7000-8000-000000000000")).json()

    assert {**found, "requestId": "", "traceId": ""} == {**answered, "requestId": "", "traceId": ""}


async def test_a_page_works_for_every_reader_and_runs_nothing(site: Served) -> None:
    for path in ("/problems", "/problems/budget_exhausted"):
        answer = await site.http.get(path)
        page, outline = answer.text, Outline(answer.text)
        tags = [tag for tag, _ in outline.elements]
        (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)

        assert [(tag, tags.count(tag)) for tag in ("main", "h1", "header", "title")] == [
            ("main", 1), ("h1", 1), ("header", 1), ("title", 1),
        ]  # fmt: skip
        levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h[1-6]", tag)]
        assert levels == sorted(levels), "no level is left out"
        assert outline.all("html") == [{"lang": "en"}]
        assert all("tabindex" in attrs and attrs.get("role") == "region" for attrs in outline.all("pre"))
        assert not {"script", "img", "link", "iframe", "form"} & {*tags}
        assert not [attrs for _, attrs in outline.elements if {"style", "onclick", "onload"} & {*attrs}]
        assert "width=device-width" in page
        assert "prefers-color-scheme: dark" in style
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert f"style-src {hashed_source(style)}" in policy, "this style alone"
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy


async def test_a_page_that_the_caller_has_is_not_sent_again(site: Served) -> None:
    first = await site.http.get("/problems/too_large")
    tag = first.headers["etag"]

    for sent in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        again = await site.http.get("/problems/too_large", headers={"if-none-match": sent})
        assert (again.status_code, again.content) == (304, b""), sent
    assert (await site.http.get("/problems/not_found", headers={"if-none-match": tag})).status_code == 200
    head = await site.http.head("/problems/too_large")
    assert (head.status_code, head.headers["etag"], head.content) == (200, tag, b"")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/problems/toolarge", "did you mean 'too_large'?"),
        ("/problems/%3Cscript%3E", "/problems lists all"),
        ("/problem", "did you mean /problems?"),
    ],
)
async def test_an_unknown_code_is_a_problem_itself(site: Served, path: str, words: str) -> None:
    answer = await site.http.get(path, headers={"accept": "text/html"})

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert words in answer.json()["detail"]


async def test_an_error_of_another_part_is_answered_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    """Should an incident of the sequencer reach a caller, it has no page, and its words stay in the log."""
    app = Litestar([], openapi_config=None, logging_config=None)
    request = RequestFactory(app=app).get("/v1/debates")

    answer = problems.answer(request, LogIncident("localhost/default/1", "has another root"))

    assert b'"type":"/problems/internal"' in answer.content
    assert b"another root" not in answer.content
    assert "another root" in caplog.text, "the operator reads it"


async def test_a_port_of_probes_has_the_pages_too(root: Path) -> None:
    async def none() -> tuple[str, ...]:
        return ()

    async with serving(make_probe_app(none)) as url, httpx.AsyncClient(base_url=url, verify=NO_TLS) as http:
        missing = (await http.get("/elsewhere")).json()
        page = await http.get(missing["type"])
        every = await http.get("/problems")

    assert "docs" not in every.text, "this port has no such page"
    assert page.status_code == 200
    assert "Not found" in page.text
