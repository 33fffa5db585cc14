"""Five cases of our own writing, one a task type, with the documents that they are about.

A folder holds ``case.json`` and its documents as text. The case has the shape of ``POST /v1/debates``, except that a
document names the ``file`` that it lies in where the request carries the ``text``. A variant, ``case-<variant>.json``,
holds only the members that differ from the case's own; one that is named after a format is debated in that format.
Parties, people, products and figures are invented.
"""

from __future__ import annotations

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from service.errors import NotFound, did_you_mean

_VARIANT = re.compile(r"case-(.+)\.json")


class UnknownSample(NotFound):
    """There is no sample, or no variant of it, by that name."""

    code = "unknown_sample"
    title = "There is no such sample"


class SourceFile(NamedTuple):
    """A sample's document as it lies in its folder."""

    name: str
    text: str


class Sample(Struct, frozen=True, kw_only=True):
    """A case that can be posted as it is, and its documents apart for callers that want files.

    ``case`` is the body of ``POST /v1/debates``, the documents' texts included; ``documents`` are the same texts in the
    same order under their file names.
    """

    name: str
    variant: str | None = None
    case: dict[str, Any]
    documents: tuple[SourceFile, ...]


def names() -> tuple[str, ...]:
    """List the samples, in alphabetical order; each is named after its task type."""
    return tuple(sorted(entry.name for entry in _root().iterdir() if entry.joinpath("case.json").is_file()))


def variants(name: str) -> tuple[str, ...]:
    """List the variants of a sample, in alphabetical order; raise `UnknownSample` when there is no such sample."""
    found = (_VARIANT.fullmatch(entry.name) for entry in _folder(name).iterdir())
    return tuple(sorted(match[1] for match in found if match))


def load(name: str, variant: str | None = None) -> Sample:
    """Read a sample, or a variant of it, with the text of every document in its case.

    Raises `UnknownSample` when there is no sample, or no variant, of that name.
    """
    folder = _folder(name)
    case = _read(folder, "case.json")
    if variant is not None:
        if variant not in variants(name):
            raise UnknownSample(_expected(f"a variant of sample {name!r}", variants(name), variant))
        case |= _read(folder, f"case-{variant}.json")
    sources = tuple(SourceFile(d["file"], _text(folder, d["file"])) for d in case["documents"])
    case["documents"] = [_with_text(d, source) for d, source in zip(case["documents"], sources, strict=True)]
    return Sample(name=name, variant=variant, case=case, documents=sources)


def _root() -> Traversable:
    return files(__name__)


def _folder(name: str) -> Traversable:
    if name not in names():
        raise UnknownSample(_expected("a sample", names(), name))
    return _root().joinpath(name)


def _expected(what: str, known: tuple[str, ...], found: str) -> str:
    near = did_you_mean(found, known)
    return f"expected the name of {what}, found {found!r};{near} choose one of: {', '.join(known)}"


def _read(folder: Traversable, name: str) -> dict[str, Any]:
    return msgspec.json.decode(folder.joinpath(name).read_bytes(), type=dict[str, Any])


def _text(folder: Traversable, name: str) -> str:
    # Bytes, decoded here: text mode would turn the line endings of the platform into those of the document.
    return folder.joinpath(name).read_bytes().decode("utf-8")


def _with_text(document: dict[str, Any], source: SourceFile) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "file"} | {"text": source.text}
