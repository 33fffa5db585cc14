"""Which version of the API answers, and which one a request asks for (docs/versions.md).

Gainsay-Version    of every answer: the version of the API. A request that names one that this service does not have
                   is refused, before it does anything.
Gainsay-Release    of an answer to a known caller: the release that runs. A stranger could look up its faults.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from service import __version__
from service.errors import BadRequest

API_VERSION = "1.0"
"""The first number stands in each path as ``/v1``. The second grows with a release that adds to the API."""
VERSION, RELEASE = b"gainsay-version", b"gainsay-release"
ANSWERED = (VERSION, API_VERSION.encode())
RELEASED = (RELEASE, __version__.encode())
QUOTED = 32
"""The most characters of a version that a refusal repeats."""
_VERSION = re.compile(r"(0|[1-9][0-9]{0,3})(?:\.(0|[1-9][0-9]{0,3}))?")


def expect_version(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Raise `BadRequest` for a request that names a version of the API that this service does not have.

    ``1`` is any of the first; ``1.2`` is one that has at least what 1.2 has.
    """
    for name, value in headers:
        if name == VERSION and not _is_had(value.decode("latin-1").strip(" \t")):
            said = value[:QUOTED].decode("latin-1")
            raise BadRequest(
                f"this service has version {API_VERSION} of the API, and takes 1 to {API_VERSION} in Gainsay-Version, "
                f"found {said!r}; leave the header out, or ask a service of a later release"
            )


def _is_had(said: str) -> bool:
    if (found := _VERSION.fullmatch(said)) is None:
        return False
    major, minor = map(int, API_VERSION.split("."))
    return int(found[1]) == major and int(found[2] or 0) <= minor
