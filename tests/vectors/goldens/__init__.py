"""Goldens: what each version of each recomputed rule gives over fixed cases, as files beside this one.

A module of this folder with a function ``goldens`` adds its own: file name -> `Golden`. A file that differs from what
its function makes is a rule that was changed without a new version. ``python -m tests.vectors.goldens`` writes all
files anew, and refuses where a released version would change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import NamedTuple

import msgspec

from service.debate.versions import number
from supply import frozen

FOLDER = Path(__file__).parent
CASES = FOLDER / "cases"
RELEASED = frozen.released()
"""The names of all versions that a release has, from supply/frozen.json. None is ever taken away."""
HOW = (
    "these are recorded under {version}: give it a new version (docs/how-to/change-a-rule.md). Until the first release "
    "a version may be replaced on purpose: run python -m tests.vectors.goldens, and say so in CHANGELOG.md"
)


class Golden(NamedTuple):
    """Bytes that a version of some rules gives, under the name by which records know that version."""

    version: str
    make: Callable[[], bytes]


def registry() -> Mapping[str, Golden]:
    """Every golden by its file's name."""
    found: dict[str, Golden] = {}
    for module in sorted(iter_modules([str(FOLDER)]), key=lambda module: module.name):
        if not module.name.startswith("_"):
            for name, golden in getattr(import_module(f"{__name__}.{module.name}"), "goldens", dict)().items():
                if name in found:
                    raise ValueError(f"two goldens are called {name}")
                found[name] = golden
    return found


def stored(folder: Path = FOLDER) -> Mapping[str, bytes]:
    """The files that are there, by their path in the folder: not the code, and not the cases."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix not in (".py", ".pyc"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files if path.parent != folder / "cases"}


def file_of(version: str, what: str) -> str:
    """The file's name of a golden in lines: ``judgement-1.critique.jsonl``; word lists are not part of it."""
    return f"{version.partition('+')[0].replace('/', '-')}.{what}.jsonl"


def lines(version: str, values: Mapping[int, Iterable[object]]) -> bytes:
    """The name of a version and its values, a line of JSON each.

    ``values`` are listed under the number of the first version that has them, so a later version gets cases of its own
    while the file of an older one stays as it is: ``{1: cases(rules), 2: more_cases(rules)}``.
    """
    encode = msgspec.json.Encoder(order="sorted").encode
    own = (one for first, found in sorted(values.items()) if first <= number(version) for one in found)
    return b"".join(encode(value) + b"\n" for value in ({"version": version}, *own))


def difference(name: str, golden: Golden, recorded: bytes | None) -> str | None:
    """Where a golden differs from what is stored of it, and what to do; ``None`` where it does not."""
    made = golden.make()
    if made == recorded:
        return None
    how = HOW.format(version=golden.version)
    if recorded is None:
        return f"{name} is missing; {how}"
    before, after = recorded.splitlines(), made.splitlines()
    n = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after)))
    there, here = (b"".join(found[n : n + 1])[:300].decode(errors="replace") for found in (before, after))
    return f"{how}\n{name}, line {n + 1}\n  recorded {there}\n  now      {here}"


def write(goldens: Mapping[str, Golden], folder: Path = FOLDER, released: frozenset[str] = RELEASED) -> list[str]:
    """Write what differs, drop what nothing makes, and return the names of both.

    Raises `ValueError`, and changes nothing, where the bytes of a released version would change or go.
    """
    there = stored(folder)
    made = {name: golden.make() for name, golden in goldens.items()}
    changed = [name for name in {**there, **made} if there.get(name) != made.get(name)]
    versions = {golden.version for golden in goldens.values()}
    frozen = [name for name in changed if name in there and name in goldens and goldens[name].version in released]
    if frozen or not released <= versions:
        gone = sorted(released - versions)
        raise ValueError(
            f"expected the released versions {', '.join(sorted(released))} to stay as they are, found "
            f"{', '.join([*(f'another {name}' for name in frozen), *(f'none of {name}' for name in gone)])}; put the "
            "rules of that version back, and give what is new a version of its own"
        )
    for name in changed:
        if name in made:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(made[name])
        else:
            (folder / name).unlink()
    return changed
