"""Prompts, templates and schemas: the files, their manifest, and the pins of the debate.

    debate.started.pin    ->  SHA-256 of prompts/manifest.json
    manifest's entries    ->  SHA-256 of every file
    debate.started.pins   ->  exactly the manifest's current entries, by version and hash
    its pin of a layout   ->  the layout that gate.decided names

Requests are rendered again from the texts of the bundle, never from those of this build.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from service.debate.entries import DebateStarted
from service.debate.versions import version_of
from service.errors import PromptMismatch
from service.prompts.layout_pin import layout_of
from service.prompts.layouts import LAYOUTS
from service.verify.opened_bundle import OpenedBundle
from service.verify.steps import Differs, NotCheckable, at, expect
from service.verify.versions import sealed

MANIFEST = "prompts/manifest.json"
FORMAT = "gainsay-prompts/1"
NO_DEBATE = "a declined case has no debate"


class ListedTexts(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of the manifest."""

    id: str
    version: int
    kind: str
    file: str
    sha256: str
    current: bool

    @property
    def mark(self) -> str:
        """The file as a debate pins it."""
        return f"v{self.version}:{self.sha256}"


class ListedFiles(Struct, frozen=True, forbid_unknown_fields=True):
    """The manifest of the prompts."""

    format: str
    entries: tuple[ListedTexts, ...]


class Texts:
    """The pinned texts and schemas of a debate, from the files of its bundle."""

    def __init__(self, pinned: Mapping[str, ListedTexts], contents: Mapping[str, bytes], layout: str) -> None:
        self._pinned = pinned
        self._contents = contents
        self.layout = layout
        """The version of the layout that the debate's requests have."""

    def text(self, prompt: str) -> str:
        """A prompt's or fragment's text; raises `PromptMismatch` where the debate pinned none."""
        return self._content(prompt).decode()

    def schema(self, seat: str) -> dict[str, Any]:
        """The schema of a seat's reply; raises `PromptMismatch` where the debate pinned none."""
        schema: dict[str, Any] = msgspec.json.decode(self._content(f"schema.{seat}"), type=dict[str, Any])
        return schema

    def _content(self, id_: str) -> bytes:
        if id_ not in self._pinned:
            raise PromptMismatch(f"expected {id_!r} among the texts that the debate pinned, found none")
        return self._contents[self._pinned[id_].file]


def check_promised(evidence: OpenedBundle) -> str:
    """Check the texts against the pins of the debate; raises `Differs`."""
    started = evidence.debate.started
    if started is None:
        return f"{NO_DEBATE}, so no model was called"
    texts(evidence, started)
    return f"{len(started.pins)} texts, schemas and templates under the manifest {started.pin}"


def texts(evidence: OpenedBundle, started: DebateStarted) -> Texts:
    """The pinned texts of a debate, every hash checked; raises `Differs` or `NotCheckable`."""
    with at(file=MANIFEST):
        expect("the manifest that the debate pins", started.pin, evidence.digest(MANIFEST))
        manifest = msgspec.json.decode(evidence.file(MANIFEST), type=ListedFiles)
        expect("the manifest's format", FORMAT, manifest.format)
    contents: dict[str, bytes] = {}
    for entry in manifest.entries:
        contents[entry.file] = _file(evidence, entry)
    listed = {f"prompts/{entry.file}" for entry in manifest.entries}
    for path in sorted(evidence.files):
        if path.startswith("prompts/") and path not in listed and path != MANIFEST:
            raise Differs("a file that the manifest does not name", "nothing", path, file=path)
    current = {entry.id: entry for entry in manifest.entries if entry.current}
    with at(file="records/0002.payload.json", record=2):
        expect("the pins of the debate", {id_: e.mark for id_, e in sorted(current.items())}, dict(started.pins))
    return Texts(current, contents, _layout(evidence, started))


def _layout(evidence: OpenedBundle, started: DebateStarted) -> str:
    """The layout that the debate promised; raises `Differs` for one that no build has had, or that its pins deny."""
    decided = evidence.debate.decided
    name, promised = version_of(decided.versions, "layout"), layout_of(started.pins)
    try:
        sealed(decided, "layout", LAYOUTS)
    except NotCheckable:  # a later build's layout, which `requests` cannot render
        if promised is None:  # a later build may pin its layout in another way
            return name
    with at(file="records/0002.payload.json", record=2):
        expect("the layout by the debate's pins", name, promised or "templates that no build has issued")
    return name


def check_pins(evidence: OpenedBundle, started: DebateStarted) -> Texts:
    """The pinned texts for another step; raises `NotCheckable` if they are wrong."""
    try:
        return texts(evidence, started)
    except Differs:
        raise NotCheckable("the prompts are not those that the debate pins") from None


def _file(evidence: OpenedBundle, entry: ListedTexts) -> bytes:
    path = f"prompts/{entry.file}"
    if path not in evidence.files:
        raise Differs("a file of the prompts' manifest", path, "nothing", file=path)
    expect(f"the SHA-256 of {entry.kind} {entry.id!r}", entry.sha256, evidence.digest(path), file=path)
    return evidence.files[path]
