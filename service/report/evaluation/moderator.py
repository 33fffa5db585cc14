"""The parts of a moderator's report: two orders as two by two, sides, features, stability and experts."""

from __future__ import annotations

from collections.abc import Iterator

from service.evaluation.scoring.result import ArmShown, Figure, Result
from service.evaluation.scoring.written import ASPECT, interval, number, p_value, per_cent, points
from service.report.document.blocks import (
    Block,
    HeadingBlock,
    IntervalMark,
    IntervalRow,
    Intervals,
    Limit,
    ReportPart,
    TableBlock,
    Text,
)
from service.report.evaluation.parts import no_figure, orders, rate, spend


def moderator(r: Result) -> Iterator[Block]:
    """What a reader of an audit needs, after the findings."""
    yield ReportPart("orders", "The same arguments in two orders")
    for arm in r.arms:
        yield from _orders(r, arm)
    yield ReportPart("sides", "Sides and features")
    yield from _sides(r)
    yield from _features(r)
    yield _adjusted(r)
    yield ReportPart("steadiness", "The same request again, and experts")
    yield from _again(r)
    yield ReportPart("spend", "Spend")
    yield from spend(r)


def _orders(r: Result, arm: ArmShown) -> Iterator[Block]:
    figure = r.figure(f"position/{arm.name}")
    if not figure.input["pairs"]:
        yield no_figure(f"two orders ({arm.name})", "no case was answered in both")
        return
    yield HeadingBlock(3, arm.name)
    yield from orders(f"orders-{arm.name}", figure)


def _sides(r: Result) -> Iterator[Block]:
    figures = [(arm.name, r.figure(f"side/{arm.name}")) for arm in r.arms]
    named = [(f"{row.cells['arm']}, {row.cells['taskType']}", row) for row in r.table("sidesByTaskType")]
    every = [*figures, *((label, r.figure(f"side/{row.cells['arm']}/{row.cells['taskType']}")) for label, row in named)]
    drawn = [(label, figure) for label, figure in every if figure.output["rate"] is not None]
    if not drawn:
        yield no_figure("sides", "no case was decided for a side")
        return
    yield Intervals(
        name="sides-drawn",
        title="Decided cases concluded for the proposition, with 95 % intervals",
        rows=tuple(
            IntervalRow(
                label,
                (IntervalMark(0, figure.output["rate"], figure.output["low"], figure.output["high"]),),
                _of_decided(figure),
            )
            for label, figure in drawn
        ),
        series=(),
        start=0.0,
        end=1.0,
        limits=(Limit(0.5, "50 %"),),
        shown="; ".join(
            f"{label}: {_of_decided(figure)} decided, {figure.output['ties']} in between" for label, figure in drawn
        )
        + ".",
    )
    adjusted = {label: p_value(row.cells["adjusted"]) for label, row in named}
    yield TableBlock(
        "Sides; rows by task type are exploratory (Benjamini and Hochberg) and decide nothing",
        ("Cases", "For", "Against", "In between", "Share for", "95 % interval", "p", "Adjusted, exploratory"),
        tuple(
            (
                label,
                *(str(figure.input[name]) for name in ("first", "second", "ties")),
                per_cent(figure.output["rate"]),
                interval(figure.output["low"], figure.output["high"]),
                p_value(figure.output["p"]),
                adjusted.get(label, "see below"),
            )
            for label, figure in every
        ),
        numeric=(1, 2, 3),
    )


def _of_decided(figure: Figure) -> str:
    return f"{figure.input['first']} of {figure.output['decided']}"


def _features(r: Result) -> Iterator[Block]:
    figures = [figure for figure in r.figures if figure.statistic == "preference"]
    if not figures:
        yield no_figure("features", "the sets cross none")
        return
    drawn = [(figure, _feature(figure.id)) for figure in figures if figure.output["difference"] is not None]
    if drawn:
        yield Intervals(
            name="features-drawn",
            title="Judged right where the side with the feature is right, less where the other is, with 95 % intervals",
            rows=tuple(
                IntervalRow(
                    label,
                    (IntervalMark(0, figure.output["difference"], figure.output["low"], figure.output["high"]),),
                    f"n = {figure.output['n'][0]} + {figure.output['n'][1]}",
                )
                for figure, label in drawn
            ),
            series=(),
            start=-1.0,
            end=1.0,
            limits=(Limit(0.0, "0"),),
            shown="; ".join(f"{label}: {points(figure.output['difference'])}" for figure, label in drawn) + ".",
            signed=True,
        )
    yield TableBlock(
        "Features, on crossed pairs: the same case with the feature on either side",
        ("Feature", "Right with it", "Right without it", "Difference", "95 % interval", "p"),
        tuple(
            (
                _feature(figure.id),
                *(f"{right} of {n}" for right, n in (figure.input["favoured_right"], figure.input["other_right"])),
                points(figure.output["difference"]),
                interval(figure.output["low"], figure.output["high"], signed=True),
                p_value(figure.output["p"]),
            )
            for figure in figures
        ),
    )
    yield Text("Only crossed pairs tell a pull to a feature from unlike difficulty of cases.", "note")


def _feature(id_: str) -> str:
    _, arm, feature = id_.split("/")
    return f"{arm}: {ASPECT.get(feature, feature)}"


def _adjusted(r: Result) -> TableBlock:
    adjusted = r.figure("adjusted").output["adjusted"]
    return TableBlock(
        "All questions of this audit, adjusted together (Holm)",
        ("Pull to", "Arm", "p", "Adjusted", "Finding", "Smallest that would have been seen"),
        tuple(
            (
                ASPECT.get(finding.about[1], finding.about[1]),
                finding.about[0],
                p_value(r.figure(finding.figures[0]).output["p"]),
                p_value(q),
                finding.outcome,
                per_cent(finding.visible) if finding.visible is not None else "none",
            )
            for finding, q in zip(r.findings, adjusted, strict=True)
        ),
    )


def _again(r: Result) -> Iterator[Block]:
    stable = [figure for figure in r.figures if figure.id.startswith("stability/")]
    if stable:
        yield TableBlock(
            "Cases with the same conclusion in every run; a missing run is not the same",
            ("Arm", "Cases", "Rate", "95 % interval"),
            tuple((figure.id.partition("/")[2], *rate(figure)) for figure in stable),
        )
    else:
        yield no_figure("stability", "the plan asks each request once")
    experts = [figure for figure in r.figures if figure.id.startswith("experts/")]
    if not experts:
        yield no_figure("agreement with experts", "no label of these sets is an expert's")
        return
    yield TableBlock(
        "Agreement with experts' labels; kappa is undefined where chance alone agrees",
        ("Arm", "n", "Agreement", "Kappa", "95 % interval", "Experts for the proposition"),
        tuple(
            (
                figure.id.partition("/")[2],
                str(figure.output["n"]),
                per_cent(figure.output["agreement"]),
                number(figure.output["kappa"]),
                "undefined"
                if figure.output["low"] is None
                else f"{number(figure.output['low'])} to {number(figure.output['high'])}",
                str(sum(label == "upheld" for _, label in figure.input["pairs"])),
            )
            for figure in experts
        ),
        numeric=(1, 5),
    )
