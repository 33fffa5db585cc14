"""A layout is held by the requests that it gives, and a debate is rendered by the layout that it promised."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from service.debate.entries import DebateStarted, decode
from service.debate.kernel import FORMATS
from service.errors import PromptMismatch
from service.prompts import DIRECTORY, Prompts, layouts
from service.prompts.layout_check import all_differences, refuse_others
from service.prompts.layout_pin import LAYOUT, layout_of
from service.prompts.layouts import LAYOUTS, LayoutFile, differences, lay_out
from service.prompts.render import render
from service.prompts.request import Message, Request, as_json
from service.running import versions
from tests.unit.prompts.test_render import after
from tests.vectors.layouts import path

SHIPPED = Prompts.load()
NO_LAYOUT = {"kept", "manifest", "promised", "held", "layouts", "wire", "schemas", "descriptions"}
"""Modules of `service.prompts` that decide nothing of what a request says."""
ELSEWHERE = {"blocks", "mark_of", "wire_texts", "texts_of", "text_of", "text", "schema", "plain_id", "_other_forms"}
"""Functions that read requests back, those of a protocol, and one that runs at import."""
UNREACHED = ("raise ", "case ")


def otherwise(*given: Any) -> Request:
    """A renderer that says one word more to every seat."""
    request = render(*given)
    *others, seat = request.messages
    return replace(request, messages=(*others, Message(seat.role, f"{seat.content} Please.", seat.pins)))


@pytest.mark.parametrize("version", LAYOUTS)
def test_requests_are_laid_out_as_their_layout_was_recorded(version: str) -> None:
    assert differences(path(version).read_bytes()) == []


def test_a_layout_that_changed_is_asked_for_a_new_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "LAYOUTS", {"layout/1": otherwise})

    found = all_differences(SHIPPED)

    assert len(found) == len(msgspec.json.decode(path().read_bytes(), type=LayoutFile).debates)
    assert all(one.endswith(": these requests are recorded under layout/1: give it a new version") for one in found)
    with pytest.raises(PromptMismatch, match="give it a new version"):
        refuse_others(SHIPPED)


def test_a_layout_needs_a_file_and_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "LAYOUTS", {"layout/1": render, "layout/2": otherwise})

    assert all_differences(SHIPPED) == (
        "expected a pinned file and code for each layout of requests, found one alone for layout/2",
    )


def test_the_layout_that_is_sealed_is_the_one_that_is_pinned() -> None:
    assert versions.CURRENT["layout"] == SHIPPED.layout == layout_of(SHIPPED.pins())


def test_every_format_is_in_the_file_of_the_layout() -> None:
    held = msgspec.json.decode(path().read_bytes(), type=LayoutFile)
    entries = [decode(bytes(entry)) for debate in held.debates for entry in debate.entries]

    assert {entry.format for entry in entries if isinstance(entry, DebateStarted)} == set(FORMATS)


def test_the_requests_of_the_file_reach_every_line_that_lays_requests_out() -> None:
    """So nothing of a layout can change without one of its requests."""
    modules = {
        module.__file__: module
        for name, module in sys.modules.items()
        if name.startswith("service.prompts.") and name.rpartition(".")[2] not in NO_LAYOUT and module.__file__
    }
    reached = dict[str, set[int]]()

    def trace(frame: FrameType, _event: str, _arg: object) -> Any:
        if frame.f_code.co_filename not in modules:
            return None
        reached.setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno)
        return trace

    as_json.cache_clear()
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        differences(path().read_bytes())
    finally:
        sys.settrace(before)

    missed = []
    for file in reached:
        text = Path(file).read_text(encoding="utf-8")
        lines = text.splitlines()
        for code in functions(compile(text, file, "exec")):
            if code.co_name not in ELSEWHERE:
                missed += [f"{file}:{n}: {lines[n - 1]}" for n in sorted(body(code) - reached[file])]
    assert {file.rpartition("/")[2] for file in reached} >= {"arguments.py", "fence.py", "render.py", "transcript.py"}
    assert [one for one in missed if not one.partition(": ")[2].lstrip().startswith(UNREACHED)] == []


def functions(code: CodeType) -> Iterator[CodeType]:
    """The functions of a module; classes are left out, because their lines run at import."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            if one.co_flags & 0x2:  # CO_NEWLOCALS: a function, and no body of a class
                yield one
            yield from functions(one)


def body(code: CodeType) -> set[int]:
    """The lines of a function behind its first."""
    return {line for _, _, line in code.co_lines() if line and line != code.co_firstlineno}


# By which layout a debate is rendered.


class Promising:
    """The shipped prompts for a debate that promised a layout."""

    def __init__(self, layout: str) -> None:
        self.layout = layout

    def text(self, prompt: str) -> str:
        return SHIPPED.text(prompt)

    def schema(self, seat: str) -> dict[str, Any]:
        return SHIPPED.schema(seat)


def test_a_debate_is_rendered_in_the_layout_that_it_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "LAYOUTS", {"layout/1": render, "layout/2": otherwise})
    facts, turn = after()
    assert facts.case is not None
    sources = {document.id: "The cap." for document in facts.case.documents}

    first, second = (lay_out(Promising(f"layout/{n}"), facts.case, sources, facts, turn) for n in (1, 2))

    assert second.messages[-1].content == f"{first.messages[-1].content} Please."


def test_a_layout_that_is_not_here_is_not_replaced_by_another() -> None:
    facts, turn = after()
    assert facts.case is not None

    with pytest.raises(PromptMismatch, match="laid out by layout/2, and this build has layout/1; finish the debate"):
        lay_out(Promising("layout/2"), facts.case, {}, facts, turn)


@pytest.mark.parametrize(
    ("pins", "layout"),
    [
        ({LAYOUT: "v1:" + "a" * 64}, "layout/1"),
        ({LAYOUT: "v12:" + "a" * 64, "critic": "v1:" + "b" * 64}, "layout/12"),
        ({}, None),
        ({LAYOUT: "v0:" + "a" * 64}, None),
        ({LAYOUT: "v1:short"}, None),
        ({"template.fence": "v1:" + "a" * 64}, None),
        ({"template.fence": "v1:" + "a" * 64, LAYOUT: "v1:" + "a" * 64}, None),
    ],
)
def test_pins_name_a_layout_or_are_of_no_build(pins: Mapping[str, str], layout: str | None) -> None:
    assert layout_of(pins) == layout


def test_no_source_of_code_is_pinned() -> None:
    assert [entry.file for entry in SHIPPED.entries if entry.file.endswith(".py")] == []
    assert not any((DIRECTORY / entry.file).suffix == ".py" for entry in SHIPPED.entries)
