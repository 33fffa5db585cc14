"""The pinned texts, templates and schemas, and the checks that keep a deployment to them.

    file                          id                     kind
    <id>.v<version>.md            house, critic...       prompt     a whole system or seat prompt
                                  stances.debater.open   prompt     an alternative to stances.debater
                                  ballot.draft           prompt     a ballot's debater that debates with no other
                                  <id>.undocumented      as <id>    in its place, in a case without documents
                                  critic.retry...        fragment   joined to a seat's prompt
    schemas/<seat>.v<n>.json      schema.<seat>          schema     the form of a seat's reply
    layout.v<n>.json              template.layout        template   requests that record a layout (`layouts`)

``manifest.json`` holds the SHA-256 of each file's raw bytes; the deployment pins the SHA-256 of ``manifest.json``
itself. Old versions stay beside new ones, so that a debate which is under way keeps its own (`Prompts.at`). Before each
call, the files that it uses are read again, and the call is rendered from the bytes that were compared
(`Prompts.read_again`). These checks show drift and tampering with texts, but no hostile build: its code replaces them.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, Literal, Self

import msgspec
from msgspec import Raw, Struct

from service.errors import GainsayError, PromptMismatch
from service.prompts.alternatives import WHOLE, replaced_by
from service.prompts.layout_pin import LAYOUT
from service.prompts.made import Made
from service.prompts.present import RESTART, SINCE, present_bytes
from service.prompts.undocumented import plain_id

FORMAT = "gainsay-prompts/1"
MANIFEST = "manifest.json"
DIRECTORY = Path(__file__).parent
PROMISES_MAX = 64
"""How many sets of pins `Prompts.at` keeps: debates that began under one image have a few, by their gate and format."""

Kind = Literal["prompt", "fragment", "schema", "template"]

_TEXT = re.compile(r"(?P<id>[a-z]+(?:\.[a-z]+)*)\.v(?P<version>[1-9]\d{0,3})\.md")
_SCHEMA = re.compile(r"schemas/(?P<seat>[a-z]+(?:\.[a-z]+)*)\.v(?P<version>[1-9]\d{0,3})\.json")
_LAYOUT = re.compile(r"layout\.v(?P<version>[1-9]\d{0,3})\.json")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class PromptsUnwritable(GainsayError):
    """The manifest cannot be written in its folder."""

    code = "prompts_unwritable"
    title = "The prompt manifest cannot be written"


class PinnedFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of the manifest. ``current`` chooses the version that new debates are given."""

    id: str
    version: int
    kind: Kind
    file: str
    sha256: str
    current: bool


class _Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    entries: tuple[PinnedFile, ...]


class Change(Struct, frozen=True, rename="camel"):
    """A file whose hash in the manifest changed; ``before`` is absent for a new one, ``after`` for a removed one."""

    id: str
    version: int
    file: str
    before: str | None
    after: str | None


class PinChange(Struct, frozen=True, rename="camel"):
    """The result of `pin`: the changed files, and the manifest's own hash before and after."""

    changed: tuple[Change, ...]
    before: str | None
    after: str


@dataclass(frozen=True)
class Prompts:
    """The pinned files of one image, every byte checked; ``pin`` is the SHA-256 of the manifest's bytes."""

    pin: str
    entries: tuple[PinnedFile, ...]
    _contents: Mapping[str, bytes] = field(repr=False)
    manifest: bytes = field(repr=False, default=b"")
    """The manifest's own bytes, as they were read."""
    _directory: Path = DIRECTORY

    @classmethod
    def load(cls, directory: Path = DIRECTORY, pin: str | None = None) -> Self:
        """Read and check all files; raises `PromptMismatch` unless all are those of the manifest, and the manifest is
        the one that ``pin`` (the setting GAINSAY_PROMPTS_PIN) names, if it is given."""
        stated, manifest = _read_manifest(directory)
        contents = _read_files(directory)
        if problems := [*_pin_problems(stated, pin), *_problems(manifest, contents)]:
            more = f" ({len(problems) - 1} more: `gainsay prompts verify` lists them)" if problems[1:] else ""
            raise PromptMismatch(problems[0] + more)
        return cls(_hash(stated), manifest.entries, MappingProxyType(contents), stated, directory)

    def text(self, prompt: str) -> str:
        """The current text of a prompt or fragment; raises `PromptMismatch` where there is none."""
        return self._text(self.entry(prompt))

    def text_at(self, prompt: str, version: int) -> str:
        """A certain version of a prompt or fragment; raises `PromptMismatch` where there is none."""
        for entry in self.entries:
            if (entry.id, entry.version) == (prompt, version):
                return self._text(entry)
        raise PromptMismatch(f"expected version {version} of prompt {prompt!r} in this image, found none")

    def files(self) -> Mapping[str, bytes]:
        """The bytes of every pinned file, by its path in the manifest; of `at`, of all that the manifest names."""
        return self._contents

    def schema(self, seat: str) -> dict[str, Any]:
        """The JSON Schema of a seat's reply, one for all: leave it as it is. Raises `PromptMismatch` without one."""
        file = self.entry(f"schema.{seat}").file
        return self.made.schema(file, self._contents[file])

    def has_schema(self, seat: str, found: Raw) -> bool:
        """Whether these bytes are a seat's pinned schema, in its order or sorted; raises `PromptMismatch` without."""
        file = self.entry(f"schema.{seat}").file
        return bytes(found) in self.made.schema_bytes(file, self._contents[file])

    def alternatives(self, kind: str) -> tuple[str, ...]:
        """The pinned prompts that a caller may name in the place of a kind's own."""
        return tuple(e.id for e in self.entries if e.current and e.kind == "prompt" and replaced_by(e.id) == kind)

    def pins(self) -> dict[str, str]:
        """The pins of a debate that starts now: id -> ``v<version>:<sha256>``."""
        return dict(self._pins)

    @property
    def layout(self) -> str:
        """The version of the layout that requests are rendered by."""
        return f"layout/{self.entry(LAYOUT).version}"

    @property
    def templates(self) -> str:
        """The hash, hex, of the layout in the queue: an image with another hash does not claim the debate."""
        current = [(entry.id, entry.version) for entry in self.entries if entry.current and entry.id == LAYOUT]
        return _hash(msgspec.json.encode(current))

    def at(self, pins: Mapping[str, str]) -> Self:
        """The files that a running debate promised to use, and only those, whichever versions are current.

        Raises `PromptMismatch` if this image lacks one of them. Debates with the same pins share what is returned.
        """
        promised = tuple(sorted(pins.items()))
        if (found := self._promised.get(promised)) is None:
            if len(self._promised) >= PROMISES_MAX:
                self._promised.clear()
            found = self._promised[promised] = self._at(pins)
        return found

    def _at(self, pins: Mapping[str, str]) -> Self:
        known = {(entry.id, _mark(entry)): entry for entry in self.entries}
        if gone := sorted(prompt for prompt, mark in pins.items() if (prompt, mark) not in known):
            lost, here = gone[0], self._pins
            raise PromptMismatch(
                f"the debate was started with prompt {lost!r} {_short_mark(pins[lost])}, but this image has "
                f"{_short_mark(here[lost]) if lost in here else 'none'}; finish the debate with an image that has it, "
                "or put that version's file back" + (f" (also missing: {', '.join(gone[1:])})" if gone[1:] else "")
            )
        promised = (known[prompt, mark] for prompt, mark in sorted(pins.items()))
        return replace(self, entries=tuple(msgspec.structs.replace(entry, current=True) for entry in promised))

    def read_again(self, ids: Iterable[str]) -> Self:
        """These prompts, once the files of ``ids`` are read again and have the bytes that were loaded.

        Each file is read once, and nothing stands for reading it. Raises `PromptMismatch` if the manifest or one of the
        files has changed since it was loaded, is missing, or cannot be read. A file that changes later has no effect on
        what is returned.
        """
        present = present_bytes(f"{self._directory}/{MANIFEST}", self.manifest)
        if present != self.manifest and (found := _hash(present)) != self.pin:
            raise PromptMismatch(
                f"{SINCE} the prompt manifest has changed: expected sha256 {short(self.pin)}, found {short(found)}; "
                f"restore prompts/{MANIFEST}, or deploy the change, {RESTART}"
            )
        for entry in map(self.entry, ids):
            if (present := present_bytes(f"{self._directory}/{entry.file}", was := self._contents[entry.file])) != was:
                raise PromptMismatch(f"{SINCE} {mismatch(entry, _hash(present))}, {RESTART}")
        return self

    def unchanged(self) -> bool:
        """Whether the manifest and every current file still have the bytes that were loaded."""
        try:
            self.read_again(entry.id for entry in self.entries if entry.current)
        except PromptMismatch:
            return False
        return True

    def entry(self, id: str) -> PinnedFile:
        """The current entry of an id; raises `PromptMismatch` where there is none."""
        if found := self._current.get(id):
            return found
        raise PromptMismatch(f"expected prompt {id!r} in the manifest, found none; {_how_to_make(id)}")

    @cached_property
    def made(self) -> Made:
        """What is made of these files once."""
        return Made()

    @cached_property
    def _promised(self) -> dict[tuple[tuple[str, str], ...], Self]:
        return {}

    @cached_property
    def _pins(self) -> Mapping[str, str]:
        return {entry.id: _mark(entry) for entry in self.entries if entry.current}

    @cached_property
    def _current(self) -> Mapping[str, PinnedFile]:
        return {entry.id: entry for entry in reversed(self.entries) if entry.current}

    def _text(self, entry: PinnedFile) -> str:
        if entry.kind not in ("prompt", "fragment"):
            raise PromptMismatch(f"expected a prompt or a fragment, found {entry.id!r}, which is a {entry.kind}")
        return self.made.text(entry.file, self._contents[entry.file])


def verify_files(directory: Path = DIRECTORY, pin: str | None = None) -> list[str]:
    """All differences between the folder and its manifest and pin, in words; empty if there are none."""
    try:
        stated, manifest = _read_manifest(directory)
        contents = _read_files(directory)
    except PromptMismatch as unreadable:
        return [unreadable.detail]
    return [*_pin_problems(stated, pin), *_problems(manifest, contents)]


def pin(directory: Path = DIRECTORY) -> PinChange:
    """Pin the present files: write the manifest anew, with the highest version of each id as the current one.

    Raises `PromptMismatch` on a file whose name is no pinned name or whose bytes are no UTF-8, and on a manifest that
    cannot be read (it has to be restored first, or removed); `PromptsUnwritable` where nothing can be written.
    """
    stated, former = _read_manifest(directory) if (directory / MANIFEST).exists() else (None, _Manifest(FORMAT, ()))
    contents = _read_files(directory)
    manifest = _Manifest(FORMAT, tuple(_entries(contents)))
    if problems := list(_problems(manifest, contents)):
        raise PromptMismatch(problems[0])
    encoded = _encode(manifest)
    if encoded != stated:
        _write(directory / MANIFEST, encoded)
    before = {entry.file: entry for entry in former.entries}
    after = {entry.file: entry for entry in manifest.entries}
    changed = tuple(
        Change(entry.id, entry.version, name, _sha256_of(before.get(name)), _sha256_of(after.get(name)))
        for name, entry in sorted({**before, **after}.items())
        if _sha256_of(before.get(name)) != _sha256_of(after.get(name))
    )
    return PinChange(changed, _hash(stated) if stated is not None else None, _hash(encoded))


def mismatch(entry: PinnedFile, found: str) -> str:
    """The sentence that says that an entry's bytes are not those of the manifest; ``found`` is their SHA-256."""
    return (
        f"{entry.kind} {entry.id!r} does not match its manifest: expected sha256 {short(entry.sha256)}, found "
        f"{short(found)}; restore prompts/{entry.file} or record the change with `gainsay prompts pin`"
    )


def short(digest: str) -> str:
    """The first digits of a hash, enough to tell two apart in a message."""
    return f"{digest[:12]}…"


def _how_to_make(id: str) -> str:
    """How to create a missing file: an author writes a text, and a command writes a schema."""
    _, is_schema, seat = id.partition("schema.")
    made = "run `python -m service.prompts.schemas`, which writes it" if is_schema else "write it"
    file = f"schemas/{seat}.v1.json" if is_schema else f"{id}.v1.md"
    return f"{made} to prompts/{file}, and record it with `gainsay prompts pin` (`gainsay prompts list` has all ids)"


def _read_manifest(directory: Path) -> tuple[bytes, _Manifest]:
    path = directory / MANIFEST
    try:
        stated = path.read_bytes()
        manifest = msgspec.json.decode(stated, type=_Manifest)
    except OSError as error:
        raise PromptMismatch(
            f"expected the prompt manifest at {path}, found none that can be read ({error.strerror}); restore it"
        ) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise PromptMismatch(
            f"expected a prompt manifest in {path}, found something else: {error}; restore it"
        ) from error
    if manifest.format != FORMAT:
        raise PromptMismatch(
            f"expected a prompt manifest of format {FORMAT!r}, found {manifest.format!r}; restore {path}"
        )
    return stated, manifest


def _read_files(directory: Path) -> dict[str, bytes]:
    """The bytes of every file that is pinned or looks like a pinned one, by its path in the folder.

    Code, caches and hidden files are left out: they are never sent.
    """
    contents = {}
    try:
        for path in sorted(directory.rglob("*")):
            name = path.relative_to(directory).as_posix()
            hidden = any(part.startswith((".", "__pycache__")) for part in PurePosixPath(name).parts)
            code = path.suffix in (".py", ".pyc")
            if path.is_file() and not hidden and not code and name != MANIFEST:
                contents[name] = path.read_bytes()
    except OSError as error:
        raise PromptMismatch(
            f"expected prompt files that can be read in {directory}, found {error.filename}: {error.strerror}"
        ) from error
    return contents


def _pin_problems(stated: bytes, pin: str | None) -> Iterator[str]:
    if pin is None:
        return
    if not _SHA256.fullmatch(pin):
        yield f"expected GAINSAY_PROMPTS_PIN to be 64 hexadecimal digits in lower case, found {len(pin)} characters"
    elif pin != _hash(stated):
        yield (
            "the prompt manifest is not the one that this deployment promised: GAINSAY_PROMPTS_PIN expects sha256 "
            f"{pin}, found {_hash(stated)}; restore prompts/{MANIFEST}, or approve the change and set the pin to what "
            "was found"
        )


def _problems(manifest: _Manifest, contents: Mapping[str, bytes]) -> Iterator[str]:
    """All differences between the files and the manifest, and all faults of the manifest itself."""
    for (id, version), times in Counter((e.id, e.version) for e in manifest.entries).items():
        if times > 1:
            yield f"expected v{version} of {id!r} once in the manifest, found it {times} times; restore the manifest"
    for id in dict.fromkeys(e.id for e in manifest.entries):
        if (current := sum(e.current for e in manifest.entries if e.id == id)) != 1:
            yield f"expected one current version of {id!r} in the manifest, found {current}; restore the manifest"
    for entry in manifest.entries:
        if (entry.id, entry.version, entry.kind) != _named(entry.file):
            yield f"expected the file of {entry.kind} {entry.id!r} v{entry.version}, found {entry.file!r}; restore it"
        elif entry.file not in contents:
            yield (
                f"{entry.kind} {entry.id!r} is in the manifest, but prompts/{entry.file} is missing; restore it, or "
                "record its removal with `gainsay prompts pin`"
            )
        elif (found := _hash(contents[entry.file])) != entry.sha256:
            yield mismatch(entry, found)
        elif not _readable(entry, contents[entry.file]):
            wanted = "a JSON object" if entry.kind in ("schema", "template") else "UTF-8 text"
            yield f"expected {wanted} in prompts/{entry.file}, found other bytes; restore it"
    listed = {entry.file for entry in manifest.entries}
    for name in sorted(set(contents) - listed):
        yield f"prompts/{name} is not in the manifest; remove it, or record it with `gainsay prompts pin`"


def _readable(entry: PinnedFile, content: bytes) -> bool:
    try:
        if entry.kind in ("schema", "template"):
            return isinstance(msgspec.json.decode(content), dict)
        return bool(content.decode().strip())
    except (UnicodeDecodeError, msgspec.MsgspecError):
        return False


def _named(file: str) -> tuple[str, int, Kind] | None:
    """The id, version and kind of a file, from its name; ``None`` for a name of another form."""
    if text := _TEXT.fullmatch(file):
        plain = plain_id(text["id"])
        whole = plain in WHOLE or replaced_by(plain)
        return text["id"], int(text["version"]), "prompt" if whole else "fragment"
    if schema := _SCHEMA.fullmatch(file):
        return f"schema.{schema['seat']}", int(schema["version"]), "schema"
    if layout := _LAYOUT.fullmatch(file):
        return LAYOUT, int(layout["version"]), "template"
    return None


def _entries(contents: Mapping[str, bytes]) -> Iterator[PinnedFile]:
    """The manifest's entries for these files, in its order: by id, then by version."""
    named: list[tuple[str, int, Kind, str]] = []
    for file in contents:
        if (name := _named(file)) is None:
            raise PromptMismatch(
                f"expected <id>.v<version>.md or schemas/<seat>.v<version>.json, found prompts/{file}; rename it, or "
                "take it out of the folder"
            )
        named.append((*name, file))
    highest = {id: version for id, version, _, _ in sorted(named)}
    for id, version, kind, file in sorted(named):
        yield PinnedFile(
            id=id,
            version=version,
            kind=kind,
            file=file,
            sha256=_hash(contents[file]),
            current=version == highest[id],
        )


def _write(path: Path, content: bytes) -> None:
    """Replace a file in one step: a reader sees the old bytes or the new ones, never half of them."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise PromptsUnwritable(
            f"expected to write {path}, found: {error.strerror}; run `gainsay prompts pin` where it can be written"
        ) from error


def _encode(manifest: _Manifest) -> bytes:
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()


def _mark(entry: PinnedFile) -> str:
    return f"v{entry.version}:{entry.sha256}"


def _short_mark(mark: str) -> str:
    version, _, digest = mark.partition(":")
    return f"{version} ({short(digest)})"


def _sha256_of(entry: PinnedFile | None) -> str | None:
    return entry.sha256 if entry else None
