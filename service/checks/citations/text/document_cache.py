"""A cache of folded documents, by the SHA-256 of their text, within a bound of memory.

The process has one cache, because a debate checks the same documents after every turn. Threads may share it: a lock
keeps its size and its documents together, and at worst two threads fold the same text at the same time.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from threading import Lock

from service.checks.citations.text.document import Document

MOST_CHARACTERS = 32_000_000
"""The size of the cache in folded characters. A character costs about 6 bytes with its derived data."""


class _Cache:
    """Documents by key, the least recently used ones first, and how many folded characters they have together."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[bytes, Document] = OrderedDict()
        self._characters = 0

    def get(self, key: bytes) -> Document | None:
        """The document of a key, which is then the one that was used last."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def keep(self, key: bytes, document: Document) -> Document:
        """Keep a document, and let go what was not used for longest; returns the one that another thread has kept."""
        with self._lock:
            found = self._kept.setdefault(key, document)
            self._kept.move_to_end(key)
            if found is document:
                self._characters += len(document.folded.text)
            while self._characters > MOST_CHARACTERS and len(self._kept) > 1:
                _, gone = self._kept.popitem(last=False)
                self._characters -= len(gone.folded.text)
            return found

    def clear(self) -> None:
        """Let go of every document."""
        with self._lock:
            self._kept.clear()
            self._characters = 0


_cache = _Cache()
clear = _cache.clear


def document(text: str) -> Document:
    """The document of a text, from the cache or folded now; the least recently used ones are dropped."""
    key = sha256(text.encode("utf-8", "surrogatepass")).digest()
    return _cache.get(key) or _cache.keep(key, Document(text))
