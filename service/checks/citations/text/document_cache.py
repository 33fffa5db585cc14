"""A cache of folded documents, by the SHA-256 of their text, within a bound of memory.

The process has one cache, because a debate checks the same documents after every turn. Every operation on it is one
step of the interpreter, so threads may share it; at worst two of them fold the same text at the same time, and a
document that one of them has added is counted with the next ones.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from hashlib import sha256

from service.checks.citations.text.document import Document

MOST_CHARACTERS = 32_000_000
"""The size of the cache in folded characters. A character costs about 6 bytes with its derived data."""

_kept: OrderedDict[bytes, Document] = OrderedDict()


class _Came:
    """The folded characters that came since the cache was counted."""

    characters = 0


def document(text: str) -> Document:
    """The document of a text, from the cache or folded now; the least recently used ones are dropped."""
    key = sha256(text.encode("utf-8", "surrogatepass")).digest()
    found = _kept.get(key)
    if found is None:
        found = _kept[key] = Document(text)
        _Came.characters += len(found.folded.text)
        if _Came.characters > MOST_CHARACTERS // 32:  # to count is to look at every document
            _Came.characters = 0
            _let_go(key)
    with suppress(KeyError):  # another thread has dropped it
        _kept.move_to_end(key)
    return found


def _let_go(newest: bytes) -> None:
    total = sum(len(one.folded.text) for one in list(_kept.values()))
    for key in list(_kept):
        if total <= MOST_CHARACTERS or key == newest:
            return
        gone = _kept.pop(key, None)
        total -= len(gone.folded.text) if gone else 0
