"""Queries of every operation: a second value that would have no effect, and bytes that are no text."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from service.web.openapi import document
from tests.fixtures.postgres import Database
from tests.fixtures.serving import Served, served

pytestmark = pytest.mark.asyncio(loop_scope="module")
HERE = {
    "host": "localhost",
    "tenant": "default",
    "epoch": "1",
    "record": "0",
    "document": "D1",
    "webhook": "whk_00000000000000000000000000",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(module_database: Database) -> AsyncIterator[Served]:
    async with served(module_database.service_url, work=False) as site:
        yield site


def queries() -> list[tuple[str, str, dict[str, Any]]]:
    """Each operation with each of its parameters of a query: the method, the path, the parameter."""
    described: dict[str, Any] = document()
    return [
        (method.upper(), path, parameter)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query"
    ]


def address(path: str) -> str:
    """The path with some value in each of its places."""
    for name in [part[1:-1] for part in path.split("/") if part.startswith("{")]:
        path = path.replace(f"{{{name}}}", HERE.get(name, "00000000-0000-7000-8000-000000000000"))
    return path


async def test_a_parameter_that_takes_one_value_is_refused_with_two(site: Served) -> None:
    once = [each for each in queries() if each[2]["schema"].get("type") != "array"]

    for method, path, parameter in once:
        name = parameter["name"]
        answer = await site.http.request(method, f"{address(path)}?{name}=1&{name}=2")
        assert answer.status_code == 400, f"{method} {path}: {answer.text}"
        assert f"expected {name} once, found it 2 times" in answer.json()["detail"], f"{method} {path}: {answer.text}"
    assert {"view", "paper", "lastEventId", "limit", "after", "subject", "size", "ceilingUSD"} <= {
        parameter["name"] for _, _, parameter in once
    }


async def test_a_parameter_that_takes_several_values_takes_two(site: Served) -> None:
    several = [each for each in queries() if each[2]["schema"].get("type") == "array"]

    for method, path, parameter in several:
        name = parameter["name"]
        answer = await site.http.request(method, f"{address(path)}?{name}=1&{name}=2")
        assert f"expected {name} once" not in answer.text, f"{method} {path}: {answer.text}"
    assert {path for _, path, _ in several} == {"/v1/debates", "/v1/subjects"}


@pytest.mark.parametrize("given", ["caf%E9", "%ED%A0%80", "%C3&limit=1", "%F0%9F%98"])
async def test_a_query_that_is_no_utf8_is_refused_and_not_read_with_other_letters(site: Served, given: str) -> None:
    for method, path, parameter in queries():
        answer = await site.http.request(method, f"{address(path)}?{parameter['name']}={given}")
        assert answer.status_code == 400, f"{method} {path}: {answer.text}"
        assert "expected the query of the address in UTF-8, found the byte 0x" in answer.json()["detail"]


async def test_a_query_in_utf8_is_read_as_it_was_written(site: Served) -> None:
    for given in ("caf%C3%A9", "cafe%CC%81", "%F0%9F%98%80", "%D7%A9%D7%9C%D7%95%D7%9D"):
        answer = await site.http.get(f"/v1/debates?useCase={given}")
        assert answer.json() == {"debates": []}, answer.text
