"""/docs shows every operation in a browser, from files that the service has itself."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from service.web import docs
from tests.fixtures.chromium import needs_browser, shown
from tests.fixtures.postgres import Database
from tests.fixtures.serving import Served, served

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(module_database: Database) -> AsyncIterator[Served]:
    async with served(module_database.service_url, work=False) as site:
        yield site


async def test_the_files_are_kept_for_ever_and_the_page_is_asked_for_again(site: Served) -> None:
    page = await site.http.get("/docs")
    links = re.findall(r'(?:src|href)="(docs/[^"]+)"', page.text)

    assert len(links) == 4
    assert re.findall(r'(?:src|href|data-description)="(?:/|http)', page.text) == [], "a proxy may add a prefix"
    assert page.headers["cache-control"] == "no-cache"
    for link in links:
        answer = await site.http.get(f"/{link}")
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["x-content-type-options"] == "nosniff"
        form = "text/javascript" if link.endswith(".js") else "text/css"
        assert answer.headers["content-type"] == f"{form}; charset=utf-8"
        again = await site.http.get(f"/{link}", headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert (await site.http.head(f"/{link}")).headers["etag"] == answer.headers["etag"]
    again = await site.http.get("/docs", headers={"if-none-match": page.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    "path",
    [
        "/docs/0000000000000000/swagger-ui.css",
        "/docs/{version}/vendored.json",
        "/docs/{version}/..%2F..%2Fapi.py",
        "/docs/{version}/page.html",
        "/docs/{version}",
    ],
)
async def test_no_other_file_is_given(site: Served, path: str) -> None:
    """A file of another build would be kept for ever under this build's address."""
    answer = await site.http.get(path.replace("{version}", docs.docs_version()))

    assert answer.status_code == 404
    assert answer.headers["cache-control"] == "no-store"


async def test_a_link_cannot_have_the_page_load_another_description(site: Served) -> None:
    answer = await site.http.get("/docs?url=https://elsewhere.example/openapi.json")

    assert answer.status_code == 400
    assert "queryConfigEnabled: false" in (await site.http.get(f"/docs/{docs.docs_version()}/start.js")).text


async def test_the_policy_of_the_page_allows_its_own_files_alone(site: Served) -> None:
    page = await site.http.get("/docs")
    policy = dict(part.split(" ", 1) for part in page.headers["content-security-policy"].split("; "))

    assert policy == {
        "default-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "connect-src": "'self'",
        "img-src": "'self' data:",
        "script-src": "'self'",
        "style-src": "'self'",
    }
    assert re.findall(r"<script(?! src=)|<style|\son\w+=|\sstyle=", page.text) == []


@needs_browser
@pytest.mark.parametrize("path", ["/docs", "/docs/"])
async def test_the_page_shows_every_operation_and_asks_no_other_host(site: Served, tmp_path: Path, path: str) -> None:
    described = (await site.http.get("/openapi.json")).json()["paths"]
    operations = {one["operationId"] for methods in described.values() for one in methods.values()}

    page = await shown(f"{site.url}{path}", tmp_path)

    assert {found for found in operations if f'-{found}"' in page.dom} == operations
    assert "Submit a case" in page.dom
    assert "Warning" not in page.dom
    assert page.hosts == {site.url.removeprefix("http://")}
    assert page.console == (), "no policy is broken and no script fails"


@needs_browser
async def test_a_page_that_asks_elsewhere_would_be_seen(tmp_path: Path) -> None:
    page = await shown("data:text/html,<img src=http://elsewhere.example/x.png>", tmp_path)

    assert page.hosts == {"elsewhere.example"}


@needs_browser
@pytest.mark.parametrize("path", ["/problems", "/problems/budget_exhausted"])
async def test_a_page_of_problems_loads_nothing_and_breaks_no_policy(site: Served, tmp_path: Path, path: str) -> None:
    page = await shown(f"{site.url}{path}", tmp_path)

    assert (page.hosts, page.console) == (frozenset(), ())
    assert "<h1>" in page.dom
