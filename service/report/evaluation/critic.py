"""The parts of a critic's report: hits and alarms by task type and family, ratings, the release table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.evaluation.scoring.release import SHIPPED
from service.evaluation.scoring.result import Figure, Result, Row
from service.evaluation.scoring.written import FAMILY, LIMIT, dollars, number, p_value, per_cent
from service.report.document.blocks import (
    Block,
    IntervalMark,
    IntervalRow,
    Intervals,
    Limit,
    ReportPart,
    Scatter,
    ScatterPoint,
    TableBlock,
    Text,
)
from service.report.evaluation.parts import no_figure, rate, spend

SERIES = ("hits of planted flaws", "false alarms on sound twins")


def critic(r: Result) -> Iterator[Block]:
    """What a reader of a critic's trial needs, after the findings."""
    counted = r.table("critic")
    types = [row for row in counted if row.cells["taskType"] != "all"]
    yield ReportPart("task-types", "Hits and false alarms by task type")
    if not types:
        yield no_figure("hits and false alarms", "no proposal was asked")
    else:
        yield _rates(r, "taskType", _named(types, "taskType"))
        yield _type_table(r, types)
        yield _points(r, types)
        yield _detection(r, counted)
    yield ReportPart("families", "Hits and false alarms by family")
    yield from _families(r)
    yield ReportPart("conduct", "Ratings, retries and whole debates")
    yield from _conduct(r, counted)
    yield ReportPart("release", "The rules of a release, and how often they let a critic pass")
    yield from _release(r)
    yield ReportPart("spend", "Spend")
    yield from spend(r)


def _named(rows: Sequence[Row], member: str) -> list[tuple[str, str]]:
    """The label of each row, and the end of its figures' ids."""
    several = len({row.cells["arm"] for row in rows}) > 1
    found = []
    for row in rows:
        arm, name = row.cells["arm"], row.cells[member]
        label = FAMILY.get(name, name)
        found.append((f"{arm}: {label}" if several else label, f"{arm}/{name}"))
    return found


_DRAWN = {
    "taskType": ("rates-by-task-type", "Hits and false alarms by task type", "hits", "alarms"),
    "family": ("rates-by-family", "Hits and false alarms by family", "familyHits", "familyAlarms"),
}
"""What a plot is drawn by: its name, its title, and the figures of its two series."""


def _rates(r: Result, by: str, named: Sequence[tuple[str, str]]) -> Intervals:
    """Hits and alarms, row by row, each with its exact interval, and the limits of the rules."""
    name, title, *ids = _DRAWN[by]
    rows, words = [], []
    for label, at in named:
        hits, alarms = (r.figure(f"{id_}/{at}") for id_ in ids)
        rows.append(IntervalRow(label, (*_mark(0, hits), *_mark(1, alarms)), f"{_of_all(hits)}, {_of_all(alarms)}"))
        words.append(f"{label}: {_of_all(hits)} hits, {_of_all(alarms)} false alarms")
    limits = _limits(r)
    shown = ("family",) if by == "family" else ("alarms", "hits")
    return Intervals(
        name=name,
        title=f"{title}, with exact 95 % intervals",
        rows=tuple(rows),
        series=SERIES,
        start=0.0,
        end=1.0,
        limits=tuple(Limit(limits[name], f"{name} {limits[name] * 100:g} %") for name in shown),
        shown="; ".join(words) + ".",
    )


def _limits(r: Result) -> dict[str, float]:
    """The limits by which this result was judged."""
    (row,) = r.table("limits")
    return dict(row.cells)


def _of_all(figure: Figure) -> str:
    return f"{figure.input['k']} of {figure.input['n']}"


def _mark(series: int, figure: Figure) -> tuple[IntervalMark, ...]:
    """A rate's mark; a rate of no case has none."""
    output = figure.output
    if output["rate"] is None:
        return ()
    return (IntervalMark(series, output["rate"], output["low"], output["high"]),)


def _type_table(r: Result, rows: Sequence[Row]) -> TableBlock:
    body = []
    for (label, at), row in zip(_named(rows, "taskType"), rows, strict=True):
        hits, alarms = r.figure(f"hits/{at}"), r.figure(f"alarms/{at}")
        low, high = r.figure(f"hitBound/{at}").output["bound"], r.figure(f"alarmBound/{at}").output["bound"]
        outcome = next(one.outcome for one in r.findings if "/".join(one.about) == at)
        missed = (str(row.cells[name]) for name in ("byCode", "misses", "unusableFlawed"))
        body.append((label, *rate(hits)[:2], per_cent(low), *missed, *rate(alarms)[:2], per_cent(high), outcome))
    return TableBlock(
        "By task type; hits, by code, misses and unusable add up to the flawed proposals",
        (
            *("Task type", "Hits", "Rate", "At least", "By code", "Misses", "Unusable"),
            *("Alarms", "Rate", "At most", "Release"),
        ),
        tuple(body),
        numeric=(4, 5, 6),
    )


def _points(r: Result, rows: Sequence[Row]) -> Block:
    """Each task type as a point: alarms to the right, hits upwards."""
    points = []
    for label, at in _named(rows, "taskType"):
        hit, alarm = (r.figure(f"{name}/{at}").output["rate"] for name in ("hits", "alarms"))
        if hit is not None and alarm is not None:
            n = tuple(r.figure(f"{name}/{at}").input["n"] for name in ("hits", "alarms"))
            points.append(ScatterPoint(f"{label} (n = {n[0]} + {n[1]})", alarm, hit))
    if not points:
        return no_figure("hits against false alarms", "no task type has both flawed and sound proposals")
    return Scatter(
        name="hits-against-alarms",
        title="Hits against false alarms, with the limits of the rules; on the diagonal both are alike",
        x_title="false alarms",
        y_title="hits",
        points=tuple(points),
        x_limit=_limits(r)["alarms"],
        y_limit=_limits(r)["hits"],
        shown="; ".join(f"{i} {p.label}: hits {per_cent(p.y)}, alarms {per_cent(p.x)}" for i, p in enumerate(points, 1))
        + ".",
    )


def _detection(r: Result, rows: Sequence[Row]) -> TableBlock:
    body = []
    for label, at in _named(rows, "taskType"):
        found, twins = r.figure(f"detection/{at}").output, r.figure(f"twins/{at}")
        n = (r.figure(f"hits/{at}").input["n"], r.figure(f"alarms/{at}").input["n"])
        low, high = number(found["low"]), number(found["high"])
        bounds = f"{low} to {high}" if found["dPrime"] is not None else "undefined"
        alone = (str(twins.input["b"]), str(twins.input["c"]), p_value(twins.output["p"]))
        body.append((label, f"{n[0]} + {n[1]}", number(found["dPrime"]), bounds, number(found["criterion"]), *alone))
    return TableBlock(
        "Sensitivity d' and criterion (log-linear correction), and yes to one twin alone; these stop nothing",
        ("Task type", "n", "d'", "95 % interval", "Criterion", "Flawed alone", "Sound alone", "p"),
        tuple(body),
        numeric=(5, 6),
    )


def _families(r: Result) -> Iterator[Block]:
    rows = r.table("families")
    if not rows:
        yield no_figure("families", "no proposal was asked")
        return
    named = _named(rows, "family")
    yield _rates(r, "family", named)
    yield TableBlock(
        f"By family, over all task types; a blind spot is not above {per_cent(_limits(r)['family'])} at most",
        (
            "Family",
            "Hits",
            "Rate",
            "95 % interval",
            "At most",
            "By code",
            "Misses",
            "Unusable",
            "Alarms",
            "Rate of alarms",
        ),
        tuple(
            (
                label,
                *rate(r.figure(f"familyHits/{at}")),
                per_cent(r.figure(f"familyBound/{at}").output["bound"]),
                *(str(row.cells[name]) for name in ("byCode", "misses", "unusableFlawed")),
                *rate(r.figure(f"familyAlarms/{at}"))[:2],
            )
            for (label, at), row in zip(named, rows, strict=True)
        ),
        numeric=(5, 6, 7),
    )


def _conduct(r: Result, rows: Sequence[Row]) -> Iterator[Block]:
    body = []
    for (label, at), row in zip(_named(rows, "taskType"), rows, strict=True):
        rating, area = r.figure(f"rating/{at}").output, r.figure(f"ratingAuroc/{at}").output["auroc"]
        spread = f"{number(rating['low'])} to {number(rating['high'])}" if rating["low"] is not None else "undefined"
        counts = (str(row.cells[name]) for name in ("runs", "retries", "weak", "soft"))
        body.append(
            (
                label,
                str(rating["n"]),
                number(rating["mean"]),
                spread,
                number(area),
                *counts,
                dollars(row.cells["charge"]),
            )
        )
    yield TableBlock(
        "The critic's rating of itself (1 to 10), how well it tells hits from misses (0.5: not at all), its conduct",
        ("Task type", "Ratings", "Mean", "95 % interval", "AUROC", "Runs", "Retries", "Weak", "Soft signs", "Charged"),
        tuple(body),
        numeric=(1, 5, 6, 7, 8),
    )
    whole = [
        (figure, what)
        for what in ("flawedUpheld", "soundOverturned")
        for figure in r.figures
        if figure.id.startswith(what)
    ]
    if whole:
        words = {"flawedUpheld": "Flawed proposals upheld", "soundOverturned": "Sound proposals overturned"}
        yield TableBlock(
            "Whole debates after the critique",
            ("What", "Arm", "Cases", "Rate", "95 % interval"),
            tuple((words[what], figure.id.partition("/")[2], *rate(figure)) for figure, what in whole),
        )
    else:
        yield Text("The debates ended after the critique, so there is no figure of whole debates.", "note")


def _release(r: Result) -> Iterator[Block]:
    limits = _limits(r)
    yield TableBlock(
        "The limits that were applied",
        ("Rule", "Applied", "Shipped"),
        tuple((words, f"{limits[name]:g}", f"{getattr(SHIPPED, name):g}") for name, words in LIMIT.items()),
    )
    yield TableBlock(
        "How often hits and alarms together let a critic pass, in one task type",
        ("Flawed + sound", "Fewest hits", "Most alarms", "A critic of", "Passes"),
        tuple(
            (
                f"{row.cells['flawed']} + {row.cells['sound']}",
                str(row.cells["fewestHits"]) if row.cells["fewestHits"] is not None else "none is enough",
                str(row.cells["mostAlarms"]) if row.cells["mostAlarms"] is not None else "none is few enough",
                f"{row.cells['hits']:.2f} hits, {row.cells['alarms']:.2f} alarms",
                per_cent(row.cells["passes"]),
            )
            for row in r.table("release")
        ),
    )
    yield Text(
        "20 + 20 is the least that a release asks for; 40 + 40 is what we recommend, because a good critic is stopped "
        "less often. The bounds are exact and one-sided at 95 %.",
        "note",
    )
