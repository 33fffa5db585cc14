"""The names of the OpenAPI document are written down: clients generate classes and methods from them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service.web.openapi import document
from service.web.schema_names import SCHEMA_NAMES, named_schemas

VECTOR = Path(__file__).resolve().parents[2] / "vectors" / "openapi_names.json"


class Unnamed(msgspec.Struct):
    """A type that SCHEMA_NAMES does not know."""

    text: str


def references(value: Any) -> Iterator[str]:
    """The names of all schemas that a JSON value refers to."""
    if isinstance(value, dict):
        kind, _, name = str(value.get("$ref", "")).rpartition("/")
        if kind == "#/components/schemas":
            yield name
        value = list(value.values())
    for part in value if isinstance(value, list) else ():
        yield from references(part)


def test_schemas_and_operations_keep_their_names() -> None:
    whole = document()

    names = {
        "operations": sorted(op["operationId"] for path in whole["paths"].values() for op in path.values()),
        "schemas": sorted(whole["components"]["schemas"]),
    }

    assert names == json.loads(VECTOR.read_text(encoding="utf-8"))


@pytest.fixture
def renamed() -> Iterator[None]:
    """Every class has another name than the one written down."""
    names = {type_: type_.__name__ for type_ in SCHEMA_NAMES}
    for number, type_ in enumerate(SCHEMA_NAMES):
        type_.__name__ = f"Renamed{number}"
    yield
    for type_, name in names.items():
        type_.__name__ = name


@pytest.mark.usefixtures("renamed")
def test_renamed_classes_leave_the_names_of_the_document() -> None:
    components = document()["components"]["schemas"]

    assert sorted(components) == json.loads(VECTOR.read_text(encoding="utf-8"))["schemas"]
    assert "Renamed" not in json.dumps(components)


def test_every_name_is_of_one_type_that_the_document_refers_to() -> None:
    whole = document()

    assert len(set(SCHEMA_NAMES.values())) == len(SCHEMA_NAMES)
    assert whole["components"]["schemas"].keys() == set(references(whole))


def test_a_type_without_a_name_is_refused() -> None:
    with pytest.raises(LookupError, match="name these types in SCHEMA_NAMES: Unnamed"):
        named_schemas([Unnamed])
