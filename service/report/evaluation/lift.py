"""The parts of a lift's report: differences with margin and n, agreement with labels by arm, spend."""

from __future__ import annotations

from collections.abc import Iterator

from service.evaluation.scoring.result import Result
from service.evaluation.scoring.written import interval, p_value, per_cent, points
from service.report.document.blocks import (
    Block,
    IntervalMark,
    IntervalRow,
    Intervals,
    Limit,
    ReportPart,
    TableBlock,
    Text,
)
from service.report.evaluation.parts import no_figure, rate, spend


def lift(r: Result) -> Iterator[Block]:
    """What a reader of a lift needs, after the findings."""
    yield ReportPart("differences", "Differences")
    if r.items == 0:
        yield no_figure("differences", "no item was asked")
    else:
        yield from _differences(r)
    yield ReportPart("agreement", "Agreement with the labels")
    if r.items == 0:
        yield no_figure("agreement", "no item was asked")
    else:
        yield from _agreement(r)
    yield ReportPart("spend", "Spend")
    yield from spend(r)
    yield from _equal_spend(r)


def _differences(r: Result) -> Iterator[Block]:
    rows = [*_overall(r), *_by_task_type(r)]
    reach = max(0.1, *(abs(bound) for _, _, low, high, _ in rows for bound in (low, high)))
    end = min(1.0, -(-reach * 10 // 1) / 10)
    yield Intervals(
        name="forest",
        title=f"Differences in agreement, with {_level(r)} intervals; the margin is {points(r.margin).lstrip('+')}",
        rows=tuple(
            IntervalRow(label, (IntervalMark(0, at, low, high),), f"{points(at)}, n = {n}")
            for label, at, low, high, n in rows
        ),
        series=(),
        start=-end,
        end=end,
        limits=_margins(r.margin),
        shown="; ".join(
            f"{label}: {points(at)} ({interval(low, high, signed=True)}), n = {n}" for label, at, low, high, n in rows
        )
        + ". A point to the right favours the first arm.",
        signed=True,
    )
    yield from _compared(r)
    if table := r.table("byTaskType"):
        yield TableBlock(
            "By task type: exploratory, adjusted by Benjamini and Hochberg, and decides nothing",
            (
                "Comparison",
                "Task type",
                "Both",
                "First alone",
                "Second alone",
                "Neither",
                "Difference",
                "p",
                "Adjusted",
            ),
            tuple(
                (
                    row.cells["comparison"],
                    row.cells["taskType"],
                    *(str(row.cells[name]) for name in ("both", "first", "second", "neither")),
                    points(row.cells["difference"]),
                    p_value(row.cells["p"]),
                    p_value(row.cells["adjusted"]),
                )
                for row in table
            ),
            numeric=(2, 3, 4, 5, 6),
        )


_Row = tuple[str, float, float, float, int]


def _overall(r: Result) -> Iterator[_Row]:
    for finding in r.findings:
        found = r.figure(finding.figures[1]).output
        if found["difference"] is not None:
            yield " less ".join(finding.about), found["difference"], found["low"], found["high"], found["n"]


def _by_task_type(r: Result) -> Iterator[_Row]:
    for row in r.table("byTaskType"):
        cells = row.cells
        if cells["n"]:
            yield (
                f"{cells['comparison']}, {cells['taskType']}",
                cells["difference"],
                cells["low"],
                cells["high"],
                cells["n"],
            )


def _margins(margin: float) -> tuple[Limit, ...]:
    """The line of no difference, and the registered margin on both sides where there is one."""
    sides = (Limit(-margin, "-margin"), Limit(margin, "margin")) if margin else ()
    return (Limit(0.0, ""), *sides)


def _compared(r: Result) -> Iterator[TableBlock]:
    """How the items of each comparison split, and what the rules make of that."""
    split, found = [], []
    for finding in r.findings:
        name, lifted, apart = " less ".join(finding.about), *(r.figure(id_) for id_ in finding.figures[:2])
        counts = (str(apart.input[cell]) for cell in ("both", "first", "second", "neither"))
        missing = " and ".join(map(str, lifted.output["missing"]))
        split.append((name, str(lifted.output["n"]), *counts, missing, _range(lifted.output["range"])))
        interval_of = interval(lifted.output["low"], lifted.output["high"], signed=True)
        p, adjusted = p_value(lifted.output["p"]), p_value(lifted.input["adjusted"])
        n = str(lifted.output["n"])
        found.append((name, n, points(lifted.output["difference"]), interval_of, p, adjusted, finding.outcome))
    yield TableBlock(
        "Comparisons on the same items: agreed with the labels in both arms, in one alone, in neither",
        ("Comparison", "n", "Both", "First alone", "Second alone", "Neither", "Missing", "Range by what is missing"),
        tuple(split),
        numeric=(1, 2, 3, 4, 5),
    )
    yield TableBlock(
        f"What the rules make of them; intervals at {_level(r)}, p exact (McNemar), adjusted over all (Holm)",
        ("Comparison", "n", "Difference", "Interval", "p", "Adjusted", "Finding"),
        tuple(found),
        numeric=(1,),
    )
    grouped = [(f.about, g) for f in r.findings if (g := r.figure(f.figures[0]).output["groups"]) is not None]
    if grouped:
        yield TableBlock(
            "Whole groups: how many favour each arm on balance; both have to agree with the items",
            ("Comparison", "Groups", "First ahead", "Second ahead", "p", "Interval of whole groups"),
            tuple(
                (
                    " less ".join(about),
                    *(str(group[cell]) for cell in ("n", "firstAhead", "secondAhead")),
                    p_value(group["p"]),
                    interval(group["low"], group["high"], signed=True),
                )
                for about, group in grouped
            ),
            numeric=(1, 2, 3),
        )


def _range(found: list[float] | None) -> str:
    return "undefined" if found is None else f"{points(found[0])} to {points(found[1])}"


def _level(r: Result) -> str:
    return per_cent(1 - r.alpha)


def _agreement(r: Result) -> Iterator[Block]:
    rows = [(arm, r.figure(f"agreement/{arm.name}")) for arm in r.arms]
    yield Intervals(
        name="agreement-by-arm",
        title="Items in which an arm agreed with the labels, with 95 % intervals",
        rows=tuple(
            IntervalRow(
                arm.name,
                (IntervalMark(0, figure.output["rate"], figure.output["low"], figure.output["high"]),),
                f"{figure.input['k']} of {figure.input['n']}",
            )
            for arm, figure in rows
        ),
        series=(),
        start=0.0,
        end=1.0,
        limits=(),
        shown="; ".join(f"{arm.name}: {figure.input['k']} of {figure.input['n']}" for arm, figure in rows) + ".",
    )
    yield TableBlock(
        "Agreement by arm; a missing answer counts as wrong",
        ("Arm", "Does", "Agreed", "Rate", "95 % interval", "Missing"),
        tuple((arm.name, arm.does, *rate(figure), str(arm.items.asked - arm.items.answered)) for arm, figure in rows),
        numeric=(5,),
    )


def _equal_spend(r: Result) -> Iterator[Block]:
    for figure in r.figures:
        if figure.statistic == "equal_spend" and figure.output["ratios"]:
            ratios = ", ".join(f"{arm} {ratio:.2f}" for arm, ratio in figure.output["ratios"].items())
            alike = "within a tenth of each other" if figure.output["equal"] else "not alike"
            yield Text(f"Spend by the debate's ({figure.id.removeprefix('spend/')}): {ratios}; {alike}.", "note")
