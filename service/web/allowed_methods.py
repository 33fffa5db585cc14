"""OPTIONS of every path: the methods that it takes, as the answer 405 says them (RFC 9110, 9.3.7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from litestar import Response, route
from litestar.handlers import HTTPRouteHandler


def allowed(methods: Iterable[str]) -> str:
    """The header ``Allow`` of a path with these methods; one that takes GET takes HEAD, and each takes OPTIONS."""
    found = {*methods, "OPTIONS"}
    return ", ".join(sorted(found | {"HEAD"} if "GET" in found else found))


def with_options(handlers: Sequence[HTTPRouteHandler]) -> list[HTTPRouteHandler]:
    """The handlers, and in front of them one of OPTIONS for each of their paths.

    Litestar makes such handlers too, but names in them only the method of the first handler of a path.
    """
    methods = defaultdict[str, set[str]](set)
    for handler in handlers:
        for path in handler.paths:
            methods[path] |= {str(method) for method in handler.http_methods}
    return [*(_options(path, allowed(found)) for path, found in methods.items()), *handlers]


def _options(path: str, allow: str) -> HTTPRouteHandler:
    @route(path, http_method="OPTIONS", status_code=204)
    async def options() -> Response[None]:
        return Response(content=None, status_code=204, headers={"Allow": allow, "Cache-Control": "no-store"})

    return options
