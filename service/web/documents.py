"""The endpoints of a case's documents: a list, and the text of one.

A document is a text of the caller's: it is sent as plain text that no browser runs or takes for another type.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import ClassVar
from urllib.parse import quote

from litestar import Response, get
from msgspec import Struct

from service.debate.suspicions import Suspicion
from service.reviews.case_documents import BY_HASH, CaseDocument
from service.web.app_state import HttpRequest, app_state
from service.web.callers import caller
from service.web.debates import ASK_AGAIN, answered, known_query, note
from service.web.file_names import kept_as
from service.web.pages import is_known
from service.web.types import address

TEXT = "text/plain"
SAFE_TEXT = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": ASK_AGAIN,
}
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", re.ASCII)
"""Ids that stand in an address as they are."""


class ListedDocument(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A document of a case. ``sha256`` and ``bytes`` are of its text in UTF-8; ``href`` leads to that text."""

    id: str
    """The id of the document, by which citations name it."""
    title: str | None = None
    """The title that the caller gave it. Absent if it has none."""
    sha256: str
    """The SHA-256 of the text in UTF-8."""
    bytes: int
    """The size of the text in UTF-8, as a number of bytes."""
    characters: int
    """The length of the text in code points."""
    href: str
    """The path of the text."""
    suspicions: tuple[Suspicion, ...] = ()
    """Passages of the title and the text that speak to a model as if they were instructions, once they are looked for.
    Absent where none was found."""

    @classmethod
    def of(cls, debate: str, found: CaseDocument) -> ListedDocument:
        """A document with its address, which has its hash where its id is not fit for one."""
        name = found.id if _PLAIN.fullmatch(found.id) else f"{BY_HASH}{found.sha256}"
        return cls(
            id=found.id,
            title=found.title or None,
            sha256=found.sha256,
            bytes=len(found.content),
            characters=found.characters,
            href=f"{address(debate)}/documents/{quote(name, safe=':')}",
            suspicions=found.suspicions,
        )


class DocumentList(Struct, frozen=True, kw_only=True, rename="camel"):
    """The documents of a case, in its order."""

    always_sent: ClassVar = ("documents",)

    documents: tuple[ListedDocument, ...]
    """The documents in the order of the case."""


@get("/v1/debates/{debate:str}/documents")
async def documents(request: HttpRequest) -> Response[bytes]:
    """The documents of a debate's case."""
    known_query(request, ())
    debate = str(request.path_params["debate"])
    found = await app_state(request).reviews.documents(debate, caller(request))
    note(request, "documents", debate)
    return answered(DocumentList(documents=tuple(ListedDocument.of(debate, document) for document in found)))


@get("/v1/debates/{debate:str}/documents/{document:str}")
async def document(request: HttpRequest) -> Response[bytes]:
    """The text of one document."""
    known_query(request, ())
    debate, name = str(request.path_params["debate"]), str(request.path_params["document"])
    found = await app_state(request).reviews.document(debate, name, caller(request))
    tag = f'"{found.sha256}"'
    if is_known(request, tag):
        return Response(content=b"", status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": tag, **SAFE_TEXT})
    note(request, "document", debate)
    header_fields = {"ETag": tag, **kept_as("inline", found.id, "txt", otherwise=found.sha256), **SAFE_TEXT}
    return Response(content=found.content, media_type=TEXT, headers=header_fields)
