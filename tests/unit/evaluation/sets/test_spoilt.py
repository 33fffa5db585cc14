"""Whatever stands in the files, a set is read or refused with its faults; no other error comes out."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from service.evaluation.sets.faults import BadSet
from service.evaluation.sets.golden_set import GoldenSet
from service.evaluation.sets.importing import READERS, Built, Form, ImportOptions, import_set
from tests.fixtures.golden_sets import (
    CRITIC,
    ITEM_FILES,
    PAIRS,
    QUESTIONS,
    TODAY,
    Files,
    files_of,
    read,
    rows,
    with_rows,
)

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["D1", "yes", "flawed", "c1", "k1", "open", "upheld", "", "\u2028", "EUR 80,000"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
SEVERAL = settings(max_examples=150, deadline=None)


def outcome(files: Files) -> GoldenSet | BadSet:
    """The set, or why there is none."""
    try:
        return read(files)
    except BadSet as error:
        return error


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every object and list with every key in it."""
    found: list[tuple[Any, Any]] = []
    if isinstance(value, dict | list):
        for key in [*value] if isinstance(value, dict) else range(len(value)):
            found += [(value, key), *places(value[key])]
    return found


@SEVERAL
@given(
    name=st.sampled_from([QUESTIONS, CRITIC, PAIRS]), file=st.sampled_from(ITEM_FILES[1:]), value=VALUES, data=st.data()
)
def test_any_value_in_the_place_of_another(name: str, file: str, value: object, data: st.DataObject) -> None:
    files = files_of(name)
    changed = rows(files, file)
    holder, key = data.draw(st.sampled_from([place for row in changed for place in places(row)]))
    holder[key] = value

    found = outcome(with_rows(files, file, changed))

    if isinstance(found, BadSet):
        assert found.faults
        assert all(fault.words and fault.file for fault in found.faults)
    else:
        assert found.sealed.keys() == {item.id for item in found.asked.items}


@SEVERAL
@given(
    name=st.sampled_from([QUESTIONS, CRITIC]),
    file=st.sampled_from(ITEM_FILES),
    at=st.integers(0, 4_000),
    length=st.integers(0, 60),
    put=st.binary(max_size=12),
)
def test_any_bytes_in_the_place_of_others(name: str, file: str, at: int, length: int, put: bytes) -> None:
    files = files_of(name)
    raw = files[file]
    spoilt = {**files, file: raw[:at] + put + raw[at + length :]}

    found = outcome(spoilt)

    assert isinstance(found, BadSet) or found.files.keys() == files.keys()


OPTIONS = ImportOptions("my-set", "us", "By hand.", "expert", None, proposition="{answer}", task_type="t", licence="l")


def imported(form: Form, raw: bytes) -> Built | BadSet:
    """What is made of a file, or why nothing is."""
    try:
        return import_set(form, [("in", raw)], OPTIONS, TODAY)
    except BadSet as error:
        return error


@SEVERAL
@given(
    form=st.sampled_from(sorted(READERS)),
    members=st.lists(
        st.dictionaries(
            st.sampled_from(
                ["id", "input", "target", "choices", "files", "metadata", "question", "context", "label", "more"]
            ),
            VALUES,
            max_size=6,
        ),
        max_size=4,
    ),
)
def test_any_lines_are_imported_or_refused(form: Form, members: list[dict[str, object]]) -> None:
    raw = "".join(json.dumps(row) + "\n" for row in members).encode()

    found = imported(form, raw)

    if isinstance(found, BadSet):
        assert found.faults
    else:
        assert read(found.files).hash == found.golden.hash


@SEVERAL
@given(text=st.text(alphabet='abq,"\n\r;id \u00e4', max_size=60))
def test_any_table_is_imported_or_refused(text: str) -> None:
    raw = ("id,question,answer,context\n" + text).encode()

    found = imported("csv", raw)

    if isinstance(found, BadSet):
        assert found.faults
    else:
        assert read(found.files).hash == found.golden.hash
