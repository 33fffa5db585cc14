"""The parts that every evaluation's report ends with: what was counted, the power, the sets, every statistic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from service.evaluation.scoring.result import ArmShown, Counts, Figure, Result
from service.evaluation.scoring.written import MISSING, per_cent
from service.report.document.blocks import Block, Bullets, Fact, FactList, ReportPart, TableBlock, Text
from service.report.evaluation.parts import said

_LONGEST = 160
"""The most characters of an input that a table shows: the JSON has all of it."""


def counted(r: Result) -> Iterator[Block]:
    """Every denominator with what is missing in it, by reason."""
    yield ReportPart("counted", "What was counted")
    yield Bullets(said(r, "excluded"))
    yield TableBlock(
        "Asked is answered and missing together, in debates (items times repeats) and in items (by majority)",
        ("Arm", "Counted", "Asked", "Answered", "Missing", "Why"),
        tuple(row for arm in r.arms for row in _counts(arm)),
        numeric=(2, 3, 4),
    )
    yield TableBlock(
        "The models of the seats and the pinned prompts, as the debates recorded them",
        ("Arm", "Seat, alias, and the vendor's name; prompts by their hash"),
        tuple((arm.name, seen) for arm in r.arms for seen in (*arm.models, *(f"prompts {pin}" for pin in arm.prompts))),
    )
    if fallbacks := sum(arm.fallbacks for arm in r.arms):
        yield Text(f"Turns in which a fallback spoke in the place of the seat's own model: {fallbacks}.", "note")


def _counts(arm: ArmShown) -> Iterator[tuple[str, ...]]:
    for name, counts in (("debates", arm.debates), ("items", arm.items)):
        yield arm.name, name, str(counts.asked), str(counts.answered), str(counts.asked - counts.answered), _why(counts)


def _why(counts: Counts) -> str:
    return "; ".join(f"{n}: {MISSING.get(why, why)}" for why, n in counts.missing.items()) or "none is missing"


def power(r: Result) -> Iterator[Block]:
    """What the plan could show."""
    yield ReportPart("power", "What these items could show")
    yield Bullets(said(r, "power"))
    if r.power.n == 0:
        return
    yield TableBlock(
        f"Power with {r.power.n} {r.power.counted.rstrip(',')}, at alpha {r.power.alpha:.4g}",
        ("Effect", "n", "Shown in", "n for 80 %"),
        tuple(
            (
                row.name,
                str(r.power.n),
                per_cent(row.power),
                str(row.needed) if row.needed is not None else "not computed",
            )
            for row in r.power.rows
        ),
        numeric=(1, 3),
    )


def sets(r: Result) -> Iterator[Block]:
    """Who labelled the sets and how, and which bytes they are."""
    yield ReportPart("sets", "The sets and their labels")
    yield Bullets(said(r, "provenance"))
    yield TableBlock(
        "Sets by their hashes",
        ("Set", "Version", "Split", "Items", "Basis", "SHA-256"),
        tuple((one.id, str(one.version), one.split, str(one.items), one.basis, one.sha256) for one in r.sets),
        numeric=(1, 3),
        code=(5,),
    )


def plan(r: Result) -> Iterator[Block]:
    """The registered rules by which the result was judged."""
    yield ReportPart("plan", "The plan")
    yield FactList(
        (
            Fact("Plan", r.plan, code=True),
            Fact("Standing", r.standing),
            Fact("Alpha", per_cent(r.alpha)),
            Fact("Margin", per_cent(r.margin)),
            Fact("Missing answers", f"count as wrong; over {per_cent(r.missing_limit)} in an arm nothing is concluded"),
            Fact("Repeats of an item", str(r.repeats)),
            Fact("Items, and their groups", f"{r.items} of {r.planned} items, in {r.groups} groups"),
            Fact("Seed", r.seed, code=True),
        )
    )


def figures_table(figures: Sequence[Figure]) -> Iterator[Block]:
    """Every statistic with its input and its output."""
    yield ReportPart("statistics", "Every statistic")
    yield Text(
        "Each is recomputed by gainsay evaluate statistic from its input. The JSON report has every input whole; a "
        "long one is cut here.",
        "note",
    )
    yield TableBlock(
        "Statistics by the place where they are used",
        ("Used as", "Statistic", "Input", "Output"),
        tuple((figure.id, figure.statistic, _json(figure, "input"), _json(figure, "output")) for figure in figures),
        code=(0, 1, 2, 3),
    )


def _json(figure: Figure, member: str) -> str:
    written = msgspec.json.encode(getattr(figure, member), order="sorted").decode()
    spaced = written.replace(",", ", ").replace('":', '": ')
    return spaced if len(spaced) <= _LONGEST else f"{spaced[:_LONGEST]}… ({len(written)} characters in all)"
