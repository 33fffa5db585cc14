"""The examples of the OpenAPI document are answers that the service gives."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
import pytest_asyncio

from service.web.answer_examples import MEDIA, examples_of
from service.web.openapi import encoded
from tests.fixtures.serving import JSON, Served, events_of
from tests.vectors.answers import FOLDER, WRITE, Recorded, recorded, write

pytestmark = pytest.mark.asyncio(loop_scope="module")

DRAFT = "https://json-schema.org/draft/2020-12/schema"
WITHOUT = {
    **dict.fromkeys(("readBundle", "readTile"), "bytes"),
    **dict.fromkeys(("openapi", "openapi30"), "the document"),
    **dict.fromkeys(("docs", "docsFile"), "a page for a browser"),
}
"""Operations without an example, and why."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fresh(site: Served) -> dict[str, bytes]:
    """The answers that the service gives now, by the names of the examples' files."""
    found: list[Recorded] = [one async for one in recorded(site)]
    if os.environ.get(WRITE):
        write(found)
    return {one.file: one.content for one in found}


def members(value: Any, path: str = "") -> Iterator[str]:
    """Every member of a JSON value, by its path, with the kind of its value; items of a list share one path."""
    match value:
        case dict():
            for name, part in value.items():
                yield f"{path}/{name}"
                yield from members(part, f"{path}/{name}")
        case list():
            for item in value:
                yield from members(item, f"{path}/*")
        case _:
            yield f"{path}: {type(value).__name__}"


async def test_there_is_an_example_for_each_answer_that_can_have_one(fresh: dict[str, bytes]) -> None:
    document: JSON = json.loads(encoded())
    operations = {op["operationId"]: op for of in document["paths"].values() for op in of.values()}
    having = {
        name
        for name, operation in operations.items()
        for status, answer in operation["responses"].items()
        if status.startswith("2") and any("examples" in content for content in answer.get("content", {}).values())
    }

    assert {path.name for path in FOLDER.iterdir()} == fresh.keys(), "python -m tests.vectors.answers writes them anew"
    assert having == operations.keys() - WITHOUT.keys()
    assert {"202", "200"} <= {
        status
        for status, answer in operations["submitCase"]["responses"].items()
        if any("examples" in content for content in answer["content"].values())
    }


async def test_every_example_has_the_members_of_an_answer_that_is_given_now(fresh: dict[str, bytes]) -> None:
    for file, content in fresh.items():
        kept = (FOLDER / file).read_bytes()
        if file.endswith(".json"):
            assert set(members(json.loads(kept))) == set(members(json.loads(content))), file
        elif file.endswith(".events"):
            old, new = ([*events_of(text.decode())] for text in (kept, content))
            assert [event.name for event in old] == [event.name for event in new]
            for one, other in zip(old, new, strict=True):
                assert set(members(one.data)) == set(members(other.data)), one.name
        else:
            assert len(kept.splitlines()) > 0


async def test_every_example_fits_its_schema() -> None:
    document: JSON = json.loads(encoded())
    found = 0
    for of in document["paths"].values():
        for operation in of.values():
            for status, answer in operation["responses"].items():
                for media, content in answer.get("content", {}).items():
                    schema = {"$schema": DRAFT, "components": document["components"], **content["schema"]}
                    for name, example in content.get("examples", {}).items():
                        found += 1
                        jsonschema.Draft202012Validator(schema).validate(example["value"])
                        assert examples_of(operation["operationId"], int(status), media)[name] == example

    assert found == len([*FOLDER.iterdir()])
    assert {path.suffix for path in FOLDER.iterdir()} == MEDIA.keys()
