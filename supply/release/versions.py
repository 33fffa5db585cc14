"""The version: `service.__version__` is its place; what else states it is compared with it, and written by the cut."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

PLACE = "service/__init__.py"
_PYTHON = r'^__version__ = "(?P<version>[^"\n]+)"$'
STATED: Mapping[str, tuple[str, ...]] = {
    PLACE: (_PYTHON,),
    "clients/python/src/gainsay_client/__init__.py": (_PYTHON,),
    "clients/typescript/package.json": (r'^  "version": "(?P<version>[^"\n]+)",$',),
    "clients/typescript/README.md": (r"gainsay-client-(?P<version>[0-9][0-9.]*)\.tgz",),
    "helm/gainsay/Chart.yaml": (
        r'^version: "?(?P<version>[^"\s]+)"?$',
        r'^appVersion: "?(?P<version>[^"\s]+)"?$',
    ),
}
"""Where the version stands, and the patterns that find it there: each exactly once."""
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
"""Three numbers, which Python, npm and Helm read alike. A release has no other parts."""


def key(version: str) -> tuple[int, ...]:
    """What versions are ordered by; raises `ValueError` for a text that is none."""
    if not VERSION.fullmatch(version):
        raise ValueError(f"expected a version of three numbers, such as 1.2.0, found {version!r}")
    return tuple(int(part) for part in version.split("."))


def stated(root: Path) -> dict[tuple[str, str], str]:
    """The version at each place of a tree: (path, pattern) -> version. Raises `ValueError` for a place without one."""
    found = {}
    for path, patterns in STATED.items():
        file = root / path
        text = file.read_text("utf-8") if file.is_file() else ""
        for pattern in patterns:
            hits = re.findall(pattern, text, re.MULTILINE)
            if len(hits) != 1:
                raise ValueError(f"expected the version once in {path}, found it {len(hits)} times by {pattern}")
            found[path, pattern] = hits[0]
    return found


def current(root: Path) -> str:
    """The version of a tree; raises `ValueError` where it is missing, is none, or another place states another."""
    found = stated(root)
    version = found[PLACE, _PYTHON]
    key(version)
    other = sorted({f"{other} in {path}" for (path, _), other in found.items() if other != version})
    if other:
        raise ValueError(f"expected version {version}, as {PLACE} says, everywhere, found {', '.join(other)}")
    return version


def set_everywhere(root: Path, version: str) -> list[str]:
    """State this version at every place; returns the paths.

    Raises `ValueError`, and writes nothing, where a place has none.
    """
    key(version)
    stated(root)
    for path, patterns in STATED.items():
        text = (root / path).read_text("utf-8")
        for pattern in patterns:
            hit = next(re.finditer(pattern, text, re.MULTILINE))
            text = text[: hit.start("version")] + version + text[hit.end("version") :]
        (root / path).write_text(text, "utf-8")
    return [*STATED]
