"""The form of a golden set: its files, its closed lists, the forms of ids, and how large each part may be.

    set.toml                    what the set is (`service.evaluation.sets.manifest`)
    documents/<sha256>.txt      the documents, by the SHA-256 of their bytes
    items.jsonl                 what is asked, one item a line (`service.evaluation.sets.items`)
    labels.jsonl                what is right, one label a line (`service.evaluation.sets.labels`)

Text is UTF-8 without a byte order mark, and lines end with LF. Members are camelCase, and unknown ones are refused.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta

SET, ITEMS, LABELS, DOCUMENTS = "set.toml", "items.jsonl", "labels.jsonl", "documents"
FILES: Final = (SET, ITEMS, LABELS)
"""The files of a set beside its documents."""

Kind = Literal["questions", "critic", "pairs"]
Split = Literal["open", "held"]
"""``open`` is for work on prompts, ``held`` for claims."""
Basis = Literal["expert", "construction", "outcome"]
"""What a label rests on."""

ID = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}\Z"
SET_ID = r"^[a-z][a-z0-9-]{2,59}\Z"
SHA256 = r"^[0-9a-f]{64}\Z"

SET_BYTES = 1 << 16
LINES_BYTES = 1 << 26
LINE_BYTES = 1 << 20
DOCUMENT_BYTES = 1 << 23
TOTAL_BYTES = 1 << 28
"""The most bytes of all files of a set together."""
ITEMS_MAX = 20_000
DOCUMENTS_MAX = 20_000
DOCUMENTS_OF_AN_ITEM = 20
ANSWERS_MAX = 200

Id = Annotated[str, Meta(pattern=ID)]
Hash = Annotated[str, Meta(pattern=SHA256)]
Title = Annotated[str, Meta(min_length=1, max_length=300)]
Group = Annotated[str, Meta(min_length=1, max_length=200)]
Question = Annotated[str, Meta(min_length=1, max_length=20_000)]
AnswerText = Annotated[str, Meta(min_length=1, max_length=200)]
Text = Annotated[str, Meta(min_length=1, max_length=20_000)]
Note = Annotated[str, Meta(max_length=20_000)]
LongText = Annotated[str, Meta(min_length=1, max_length=DOCUMENT_BYTES)]


def document_path(sha256: str) -> str:
    """The path of a document inside a set."""
    return f"{DOCUMENTS}/{sha256}.txt"


def bytes_max(path: str) -> int:
    """The most bytes of a file of a set."""
    if path == SET:
        return SET_BYTES
    return LINES_BYTES if path in FILES else DOCUMENT_BYTES
