"""The documents of a set: each one's name is the SHA-256 of its bytes, all are used, and none is missing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256

from service.evaluation.sets.faults import Fault, said
from service.evaluation.sets.form import DOCUMENTS, FILES, document_path
from service.evaluation.sets.lines import text_of
from service.evaluation.sets.parts import Parts, of_item

_PATH = re.compile(rf"{DOCUMENTS}/([0-9a-f]{{64}})\.txt")


def read_documents(files: Mapping[str, bytes], faults: list[Fault]) -> dict[str, str]:
    """Each document's text by the SHA-256 in its name; files that have no place in a set are faults."""
    texts: dict[str, str] = {}
    for path, raw in files.items():
        if path in FILES:
            continue
        named = _PATH.fullmatch(path)
        if named is None:
            words = f"this file has no place in a set; a document is {DOCUMENTS}/<SHA-256 of its bytes>.txt"
            faults.append(Fault(path, 0, "", words))
            continue
        if (found := sha256(raw).hexdigest()) != named[1]:
            faults.append(Fault(path, 0, "", f"the SHA-256 of its bytes is {found}; rename the file, or restore it"))
        text = text_of(path, raw, faults)
        if text is not None and not text.strip():
            faults.append(Fault(path, 0, "", "the document is empty"))
        texts[named[1]] = text or ""
    return texts


def check_documents(parts: Parts) -> Iterator[Fault]:
    """Every document that an item names is there, once under an id, and every document is named."""
    named: set[str] = set()
    for at in parts.item_lines:
        documents = at.written.get("documents")
        for one in documents if isinstance(documents, list) else ():
            if isinstance(one, dict) and isinstance(one.get("sha256"), str):
                named.add(one["sha256"])
    for line, item in parts.items.items():
        for i, document in enumerate(item.documents):
            if document.sha256 not in parts.texts:
                words = f"there is no file {document_path(document.sha256)}; add it, or mend the hash"
                yield of_item(line, f"documents[{i}].sha256", words)
        for what in ("id", "sha256"):
            for value, times in Counter(getattr(one, what) for one in item.documents).items():
                if times > 1:
                    yield of_item(line, "documents", f"the {what} {said(value)} stands {times} times; keep one")
    for unused in sorted(parts.texts.keys() - named):
        yield Fault(document_path(unused), 0, "", "no item has this document; remove the file")
