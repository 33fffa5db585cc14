"""What is made of pinned files once, for all debates that promised them: no text of a debate is in it."""

from __future__ import annotations

from typing import Any

import msgspec


class Made:
    """The texts and schemas of pinned files, by file, and counts of their texts.

    Files bound it: a seat's message joins a few of them in a few ways.
    """

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._schemas: dict[str, dict[str, Any]] = {}
        self._schema_bytes: dict[str, tuple[bytes, bytes]] = {}
        self._schema_texts: dict[str, str] = {}
        self.counts: dict[tuple[str, str], int] = {}
        """Tokens of pinned texts, by tokenizer and text, as callers have counted them."""

    def text(self, file: str, content: bytes) -> str:
        """A file's text: one string for all requests that have it."""
        if (text := self._texts.get(file)) is None:
            text = self._texts[file] = content.decode()
        return text

    def schema(self, file: str, content: bytes) -> dict[str, Any]:
        """A file's schema: one for all requests that have it."""
        if (schema := self._schemas.get(file)) is None:
            schema = self._schemas[file] = msgspec.json.decode(content)
        return schema

    def schema_bytes(self, file: str, content: bytes) -> tuple[bytes, bytes]:
        """A file's schema as it goes out: with its members in the order of the file, or sorted.

        To compare with, so it is made of the file and not of the schema that requests share.
        """
        if (written := self._schema_bytes.get(file)) is None:
            schema = msgspec.json.decode(content)
            in_order, in_alphabet = msgspec.json.encode(schema), msgspec.json.encode(schema, order="sorted")
            written = self._schema_bytes[file] = in_order, in_alphabet
        return written

    def schema_text(self, file: str, content: bytes) -> str:
        """A file's schema as it is counted: one string for all requests that have it."""
        if (text := self._schema_texts.get(file)) is None:
            text = self._schema_texts[file] = self.schema_bytes(file, content)[0].decode()
        return text
