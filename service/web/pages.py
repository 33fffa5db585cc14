"""Pages and files that the service has of its own: their headers, their tags, and the answer 304.

No page may run a script that is not its own file, load anything from elsewhere, or stand in another site's frame.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from http import HTTPStatus

from litestar import Response

from service.web.app_state import HttpRequest

_CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
ASK_AGAIN = "no-cache"
IMMUTABLE = "public, max-age=31536000, immutable"
"""For a file whose address changes with its bytes."""


def closed_policy(*sources: str) -> str:
    """A Content-Security-Policy that forbids everything but these sources."""
    return "; ".join((_CLOSED, *sources))


def hashed_source(text: str) -> str:
    """The source of an inline style with exactly this text."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def tag_of(content: bytes) -> str:
    """The entity tag of these bytes."""
    return f'"{sha256(content).hexdigest()[:32]}"'


def is_known(request: HttpRequest, tag: str) -> bool:
    """Whether If-None-Match names the tag or ``*``, compared weakly (RFC 9110, 13.1.2)."""
    given = request.headers.getall("if-none-match", [])
    named = {each.strip().removeprefix("W/") for header in given for each in header.split(",")}
    return not named.isdisjoint((tag, "*"))


def own_file(
    request: HttpRequest, content: bytes, media_type: str, *, policy: str, keep: str = ASK_AGAIN, vary: str = ""
) -> Response[bytes]:
    """A page or file of the service, or 304 where the caller has it."""
    tag = tag_of(content)
    header_fields = {"ETag": tag, "Cache-Control": keep, **({"Vary": vary} if vary else {})}
    if is_known(request, tag):
        return Response(content=b"", status_code=HTTPStatus.NOT_MODIFIED, headers=header_fields)
    safe = {
        "Content-Security-Policy": policy,
        "Content-Type": f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type,
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(content=content, headers={**header_fields, **safe})


def own_description(request: HttpRequest, content: bytes) -> Response[bytes]:
    """A description of the service, or 304 where the caller has it. A cache asks whether it is still so."""
    header_fields = {"ETag": tag_of(content), "Cache-Control": ASK_AGAIN}
    if is_known(request, header_fields["ETag"]):
        return Response(content=b"", status_code=HTTPStatus.NOT_MODIFIED, headers=header_fields)
    return Response(content=content, media_type="application/json", headers=header_fields)


def up(request: HttpRequest) -> str:
    """The way from a page to where all paths begin, which a proxy may have put below a prefix."""
    return "../" * (request.scope["raw_path"].count(b"/") - 1)  # as the browser has it, with its last slash
