"""What releases have, and no later build may change: ``python -m supply.frozen check`` or ``list``.

Evidence names versions: of a format, an engine, a template, a form. A version that a release has means the same for
ever, so whatever defines it is listed in ``frozen.json`` with its SHA-256 when the release is cut. Kinds:

    format     recorded debates, which replay move by move       tests/vectors/NAME-N/
    engine     what a version gives over fixed cases             tests/vectors/goldens/NAME-N.*
    form       policy.json, reports, README.txt, JSON Schemas    goldens, service/audit/schemas/, docs/format/schemas/
    record     payloads as they were written; lines are added    tests/vectors/payloads/
    template   prompts, schemas and layouts, by the manifest     service/prompts/
    bundle     evidence files, with their keys                   tests/vectors/bundles/
    migration  files that databases have applied                 migrations/

The tests hold the code to these files; this list holds the files. Nothing here imports the service.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = "supply/frozen.json"
FORM = "gainsay-frozen/1"
FORMS = {"policy", "readme", "report", "schemas"}
"""Families of goldens that say how something is written; the others are engines."""
SETTINGS = "policy-file."
"""A schema of what people write and no record names: it gets keys as the service does."""
GROWS = {"record"}
"""Kinds whose files may get more bytes at their end."""
MANIFEST = "service/prompts/manifest.json"
GOLDENS = "tests/vectors/goldens"
HOW = {
    "format": "docs/how-to/add-a-format.md",
    "engine": "docs/how-to/change-a-rule.md",
    "form": "docs/how-to/change-a-rule.md",
    "record": "docs/how-to/add-a-field.md",
    "template": "docs/policy.md",
    "bundle": "tests/vectors/bundles/README.md",
    "migration": "migrations/README.md",
}


@dataclass(frozen=True)
class Thing:
    """A version of something, and what defines it: path -> (bytes, SHA-256)."""

    kind: str
    name: str
    release: str
    files: Mapping[str, tuple[int, str]]

    def __str__(self) -> str:
        return f"{self.kind} {self.name} of release {self.release}"


def present(root: Path) -> dict[tuple[str, str], list[str]]:
    """Every version that a tree has: (kind, name) -> the paths that define it, in order."""
    found: dict[tuple[str, str], list[str]] = {}
    for kind, name, path in sorted({*_formats(root), *_goldens(root), *_forms(root), *_templates(root), *_files(root)}):
        found.setdefault((kind, name), []).append(path)
    return found


def _versions(root: Path, pattern: str) -> Iterator[tuple[str, Path]]:
    for path in sorted(root.glob(pattern)):
        if path.is_file():
            yield path.relative_to(root).as_posix(), path


def _formats(root: Path) -> Iterator[tuple[str, str, str]]:
    for path, file in _versions(root, "tests/vectors/*-*/*.jsonl"):
        yield "format", _version(file.parent.name), path


def _goldens(root: Path) -> Iterator[tuple[str, str, str]]:
    for path, file in _versions(root, f"{GOLDENS}/*.jsonl"):
        version = _stated(file)
        yield _kind(version), version, path
    for path, file in _versions(root, f"{GOLDENS}/*-*/*"):
        version = _version(file.parent.name)
        yield _kind(version), version, path


def _stated(golden: Path) -> str:
    """The version that a golden's first line states, or, of one that was damaged, that of its name."""
    try:
        return str(json.loads(golden.read_bytes().partition(b"\n")[0])["version"])
    except (KeyError, TypeError, ValueError):
        return _version(golden.name.partition(".")[0])


def _forms(root: Path) -> Iterator[tuple[str, str, str]]:
    for path, file in _versions(root, "service/audit/schemas/*/*.json"):
        yield "form", f"schemas/{file.parent.name}", path
    for path, file in _versions(root, "docs/format/schemas/*.json"):
        if not file.name.startswith(SETTINGS):
            yield "form", file.stem, path


def _templates(root: Path) -> Iterator[tuple[str, str, str]]:
    manifest = root / MANIFEST
    entries = json.loads(manifest.read_text("utf-8"))["entries"] if manifest.is_file() else []
    for entry in entries:
        yield "template", f"{entry['id']} version {entry['version']}", f"service/prompts/{entry['file']}"


def _files(root: Path) -> Iterator[tuple[str, str, str]]:
    for path, file in _versions(root, "tests/vectors/payloads/*.jsonl"):
        yield "record", file.stem, path
    for path, file in _versions(root, "tests/vectors/bundles/*"):
        if file.suffix in (".zip", ".pdf", ".vkey"):
            yield "bundle", file.name, path
    for path, file in _versions(root, "migrations/*.sql"):
        yield "migration", file.stem, path


def _version(folder: str) -> str:
    name, _, number = folder.rpartition("-")
    return f"{name}/{number}"


def _kind(version: str) -> str:
    return "form" if version.partition("/")[0] in FORMS else "engine"


def read(text: str) -> list[Thing]:
    """The things of a list; raises `ValueError` for a text that is none."""
    try:
        found = json.loads(text)
        if found.pop("form") != FORM or found.keys() != {"frozen"}:
            raise ValueError(f"expected form {FORM} and frozen alone")
        things = [
            Thing(one["kind"], one["name"], one["release"], {path: (n, h) for path, (n, h) in one["files"].items()})
            for one in found["frozen"]
        ]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"expected a list of what is frozen, as supply/frozen.py describes it, found none: {error}"
        ) from error
    return things


def written(things: Sequence[Thing]) -> str:
    """The text of a list: a line for each file, so that a diff shows what a release added."""
    frozen = [
        {
            "kind": one.kind,
            "name": one.name,
            "release": one.release,
            "files": {k: list(v) for k, v in one.files.items()},
        }
        for one in things
    ]
    text = json.dumps({"form": FORM, "frozen": frozen}, indent=1, ensure_ascii=False)
    return re.sub(r"\[\s+(\d+),\s+(\"[0-9a-f]{64}\")\s+\]", r"[\1, \2]", text) + "\n"


def things(root: Path = ROOT) -> list[Thing]:
    """What the list of a tree has; raises `ValueError`, and `OSError` where there is no list."""
    return read((root / LIST).read_text("utf-8"))


def released(root: Path = ROOT) -> frozenset[str]:
    """The names of the engines and forms that have goldens and that a release has."""
    return frozenset(one.name for one in things(root) if any(path.startswith(f"{GOLDENS}/") for path in one.files))


def recorded_by_the_first_release(root: Path = ROOT) -> frozenset[str] | None:
    """The recorded debates of the first release that froze any, as FORMAT-N/NAME; `None` before there is one."""
    formats = [one for one in things(root) if one.kind == "format"]
    if not formats:
        return None
    first = formats[0].release
    paths = [Path(path) for one in formats if one.release == first for path in one.files]
    return frozenset(f"{path.parent.name}/{path.stem}" for path in paths)


def faults(root: Path, frozen: Sequence[Thing]) -> list[str]:
    """What a tree has changed or lost of what is frozen, each with what to do; empty where all is as it was."""
    here = {(kind, name, path) for (kind, name), paths in present(root).items() for path in paths}
    found = []
    for one in frozen:
        for path, (size, digest) in one.files.items():
            file = root / path
            data = file.read_bytes() if file.is_file() else None
            kept = data[:size] if data is not None and one.kind in GROWS else data
            if kept is not None and (len(kept), sha256(kept).hexdigest()) != (size, digest):
                more = "add lines at its end alone" if one.kind in GROWS else "give what is new a version of its own"
                found.append(f"{one} was changed: {path}; put it back, and {more} ({HOW[one.kind]})")
            elif kept is None or (one.kind, one.name, path) not in here:
                found.append(f"{one} is not there any more: {path}; put it back, since records name it")
    return found


def unlisted(root: Path, frozen: Sequence[Thing]) -> dict[tuple[str, str], list[str]]:
    """What a tree has and the list lacks: (kind, name) -> paths."""
    listed = {(one.kind, one.name, path) for one in frozen for path in one.files}
    left = {key: [path for path in paths if (*key, path) not in listed] for key, paths in present(root).items()}
    return {key: paths for key, paths in left.items() if paths}


def fill(root: Path, frozen: Sequence[Thing], release: str) -> list[Thing]:
    """The list with all that a tree has and the list lacks, under the name of a release.

    Raises `ValueError` where the tree has changed what is frozen already.
    """
    if wrong := faults(root, frozen):
        raise ValueError("\n".join(wrong))
    new = []
    for (kind, name), paths in unlisted(root, frozen).items():
        data = {path: (root / path).read_bytes() for path in paths}
        new.append(Thing(kind, name, release, {path: (len(d), sha256(d).hexdigest()) for path, d in data.items()}))
    return [*frozen, *new]


def main(arguments: Sequence[str]) -> int:
    """Say what was changed, or what is frozen: exit codes 0 and 1, and 2 for usage."""
    if list(arguments) == ["list"]:
        for one in things():
            sys.stdout.write(f"{one}: {len(one.files)} files\n")
        return 0
    if list(arguments) != ["check"]:
        sys.stderr.write("usage: python -m supply.frozen check|list\n")
        return 2
    wrong = faults(ROOT, things())
    sys.stderr.write("".join(f"{line}\n" for line in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
