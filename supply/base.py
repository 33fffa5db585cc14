"""Refuses a base image that is not named by the digest of what was looked up: `python -m supply.base REFERENCE`.

A tag names another image tomorrow. A release is built on one that is named by digest, and says in its notes which.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from supply.ending import ended

_PINNED = re.compile(r"(?P<name>[a-z0-9][a-z0-9._:/-]*)@sha256:(?P<digest>[0-9a-f]{64})")


def pinned(reference: str) -> str:
    """The reference itself; raises `ValueError` for one without a tag and a digest, with the command that finds it."""
    found = _PINNED.fullmatch(reference)
    if found and ":" in found["name"].rsplit("/", 1)[-1] and len(set(found["digest"])) > 1:
        return reference
    name = reference.partition("@")[0] or "python:3.13-slim-trixie"
    raise ValueError(
        f"expected a base image with tag and digest, NAME:TAG@sha256:..., found {reference!r}; look the digest up:\n"
        f"  docker buildx imagetools inspect {name} --format '{{{{.Manifest.Digest}}}}'"
    )


def main(arguments: Sequence[str]) -> int:
    """Print the reference, or what is wrong with it: exit codes 0 and 1, and 2 for usage."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m supply.base REFERENCE\n")
        return 2
    return ended(lambda: sys.stdout.write(f"{pinned(arguments[0])}\n"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
