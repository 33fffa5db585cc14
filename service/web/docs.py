"""The description of every operation for people: Swagger UI, from files of this service alone.

The address of a file has the hash of all of them in it, so a file may be kept for ever, and a page never gets files of
another build. The page loads nothing from elsewhere and works without a network.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from litestar import Response, get

from service.errors import NotFound
from service.web.app_state import HttpRequest
from service.web.debates import known_query
from service.web.pages import IMMUTABLE, closed_policy, own_file, up

_HERE = Path(__file__).parent
_TYPES: Mapping[str, str] = {".css": "text/css", ".js": "text/javascript", ".txt": "text/plain", "": "text/plain"}
_FOLDERS: Mapping[Path, tuple[str, ...]] = {
    _HERE / "vendored" / "swagger-ui": (
        "LICENSE",
        "NOTICE",
        "swagger-ui-bundle.js",
        "swagger-ui-bundle.js.LICENSE.txt",
        "swagger-ui.css",
    ),
    _HERE / "docs_files": ("page.css", "start.js"),
}
POLICY = closed_policy("connect-src 'self'", "img-src 'self' data:", "script-src 'self'", "style-src 'self'")
"""No script inside the page, no evaluation of text, and no address but this service's own."""
FILE_POLICY = closed_policy()


@cache
def docs_files() -> Mapping[str, bytes]:
    """The files beside the page, by name."""
    return {name: (folder / name).read_bytes() for folder, names in _FOLDERS.items() for name in names}


@cache
def docs_version() -> str:
    """The hash of all files beside the page, as their addresses have it."""
    digest = sha256()
    for name, content in sorted(docs_files().items()):
        digest.update(f"{name} {sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


@get("/docs")
async def docs_page(request: HttpRequest) -> Response[bytes]:
    """The page; a parameter, such as another description to load, is refused."""
    known_query(request, ())
    page = (_HERE / "docs_files" / "page.html").read_text("utf-8")
    way = up(request)
    content = page.replace("{files}", f"{way}docs/{docs_version()}").replace("{up}", way)
    return own_file(request, content.encode(), "text/html", policy=POLICY)


@get("/docs/{version:str}/{name:str}")
async def docs_file(request: HttpRequest) -> Response[bytes]:
    """A file beside the page."""
    known_query(request, ())
    version, name = str(request.path_params["version"]), str(request.path_params["name"])
    content = docs_files().get(name) if version == docs_version() else None
    if content is None:
        raise NotFound("there is no such file beside /docs in this build; load /docs again")
    return own_file(request, content, _TYPES[Path(name).suffix], policy=FILE_POLICY, keep=IMMUTABLE)


HANDLERS = (docs_page, docs_file)
