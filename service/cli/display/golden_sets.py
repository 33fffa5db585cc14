"""Golden sets as lines: a row of the list, what one covers, and the page of one. No label is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from service.cli.terminal_text import line
from service.evaluation.sets.coverage import FAMILY_MIN, coverage
from service.evaluation.sets.golden_set import GoldenSet
from service.evaluation.sets.labels import Family


def as_json(golden: GoldenSet) -> dict[str, Any]:
    """A set without its labels, as its JSON."""
    manifest, counted = golden.manifest, coverage(golden)
    return {
        "id": manifest.id,
        "version": manifest.version,
        "hash": golden.hash,
        "taskType": manifest.task_type,
        "kind": manifest.kind,
        "n": counted.items,
        "splits": counted.splits,
        "pairs": counted.pairs,
        "documents": counted.documents,
        "groups": counted.groups,
        "families": counted.families,
        "features": counted.features,
        "provenance": manifest.provenance,
        "labelling": manifest.labelling,
        "licence": manifest.licence,
        "published": manifest.published,
        "retired": manifest.retired,
    }


def row(golden: GoldenSet) -> str:
    """A set in the list: two lines."""
    manifest, counted = golden.manifest, coverage(golden)
    splits = ", ".join(f"{split} {n}" for split, n in counted.splits.items())
    what = f"{line(manifest.task_type)}, {manifest.kind}, n {counted.items} ({splits})"
    return f"{line(manifest.id)} v{manifest.version}  {what}\n    {line(manifest.provenance)}; SHA-256 {golden.hash}"


def covered(golden: GoldenSet) -> str:
    """What a set without faults has, and what to know of it."""
    return "\n".join(
        [f"{row(golden)}\n    {_amounts(golden)}", *_families(golden), *_features(golden), *_remarks(golden)]
    )


def families(counted: Mapping[Family, int]) -> str:
    """Pairs by family over several sets."""
    rows = (
        f"    {n:>4} {name}{'' if n >= FAMILY_MIN else f'  (fewer than {FAMILY_MIN})'}" for name, n in counted.items()
    )
    return "\n".join(["pairs by family, over all of these sets:", *rows])


def page(golden: GoldenSet) -> str:
    """The page of one set."""
    manifest = golden.manifest
    published = manifest.published.isoformat() if manifest.published else "not published"
    rows = [
        covered(golden),
        f"    labelling: {line(manifest.labelling)}",
        f"    licence: {line(manifest.licence)}; published: {published}",
        *([f"    answers: {', '.join(map(line, manifest.answers))}"] if manifest.answers else []),
        f"    open: {line(manifest.splits.open)}",
        f"    held: {line(manifest.splits.held)}",
        *(f"    retired: {line(id)}: {line(why)}" for id, why in manifest.retired.items()),
    ]
    return "\n".join(rows)


def _amounts(golden: GoldenSet) -> str:
    counted = coverage(golden)
    pairs = f"{counted.pairs} pairs, " if counted.pairs else ""
    retired = f", {counted.retired} retired" if counted.retired else ""
    return f"{pairs}{counted.documents} documents, {counted.groups} groups{retired}"


def _families(golden: GoldenSet) -> Iterator[str]:
    counted = coverage(golden).families
    if counted:
        yield f"    pairs by family: {', '.join(f'{name} {n}' for name, n in counted.items())}"


def _features(golden: GoldenSet) -> Iterator[str]:
    counted = coverage(golden).features
    if counted:
        by_split = {
            name: ", ".join(f"{split} {n}" for split, n in of.items())
            for name, of in counted.items()
            if any(of.values())
        }
        yield f"    pairs by feature: {'; '.join(f'{name}: {splits}' for name, splits in by_split.items())}"


def _remarks(golden: GoldenSet) -> Iterator[str]:
    if shared := coverage(golden).shared_groups:
        names = ", ".join(map(line, shared[:5])) + (", ..." if len(shared) > 5 else "")
        yield f"    note: groups with items in both splits, so that `held` is not independent of `open`: {names}"
