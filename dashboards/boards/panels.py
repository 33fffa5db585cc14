"""The kinds of panel, each with what every panel needs: a sentence, a unit, steps of colour, words for no data.

A panel without data says so. None shows a zero that Prometheus did not answer: a dead process must not look healthy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from grafana_foundation_sdk.builders import bargauge, common, heatmap, prometheus, stat, table, timeseries
from grafana_foundation_sdk.builders import dashboard as built
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import common as shown
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models import heatmap as heats
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

SOURCE = model.DataSourceRef(type_val="prometheus", uid="${datasource}")
Panel = Builder[model.Panel]
"""A panel without its place."""


@dataclass(frozen=True)
class Asked:
    """One query of a panel: its PromQL, and what its series are called."""

    expr: str
    legend: str


Steps = tuple[tuple[float | None, str], ...]
"""Colours from a value on; the first has no value and holds below all others."""
PLAIN: Steps = ((None, "blue"),)
"""For what has no value that is bad by itself."""


def above(bad: float, warn: float | None = None) -> Steps:
    """Red from a value on, and orange from a lower one."""
    return ((None, "green"), *(((warn, "orange"),) if warn is not None else ()), (bad, "red"))


def below(good: float, bad: float | None = None) -> Steps:
    """Green from a value on; below it orange down to ``bad``, and red below that. Without ``bad`` red at once."""
    return ((None, "red"), *(((bad, "orange"),) if bad is not None else ()), (good, "green"))


TABLE = {"excludeByName": {"Time": True}, "renameByName": {"Value": "processes"}}
P = TypeVar("P", timeseries.Panel, stat.Panel, bargauge.Panel, heatmap.Panel, table.Panel)
NO_DATA = "no data"
SCRAPE = "30s"
"""How far apart scrapes may be (docs/runbook.md), whatever the data source says: a rate looks at four of them."""


def _described(panel: P, title: str, says: str, unit: str, steps: Steps, none: str = NO_DATA) -> P:
    colours = [model.Threshold(value, colour) for value, colour in steps]
    thresholds = built.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(colours)
    panel.title(title).description(says).datasource(SOURCE).unit(unit).no_value(none).thresholds(thresholds)
    return panel


def _queries(panel: P, asked: tuple[Asked, ...], *, instant: bool = False, table: bool = False) -> P:
    for letter, query in zip("ABCDEFGH", asked, strict=False):
        target = prometheus.Dataquery().expr(query.expr).legend_format(query.legend).ref_id(letter).datasource(SOURCE)
        target = target.interval(SCRAPE)
        target = target.instant() if instant else target.range()
        panel.with_target(target.format(PromQueryFormat.TABLE if table else PromQueryFormat.TIME_SERIES))
    return panel


def graph(
    title: str,
    says: str,
    unit: str,
    *asked: Asked,
    steps: Steps = PLAIN,
    stacked: bool = False,
    low: float = 0,
    high: float | None = None,
) -> Panel:
    """Lines over time, and a dashed line at each value of the steps. ``stacked`` piles up parts of a whole."""
    panel = _queries(_described(timeseries.Panel(), title, says, unit, steps), asked)
    panel.line_width(1).fill_opacity(25 if stacked else 5).show_points(shown.VisibilityMode.AUTO).span_nulls(False)
    if stacked:
        panel.stacking(common.StackingConfig().mode(shown.StackingMode.NORMAL).group("A"))
    if len(steps) > 1:
        panel.thresholds_style(common.GraphThresholdsStyleConfig().mode(shown.GraphThresholdsStyleMode.DASHED))
    panel.min(low)
    if high is not None:
        panel.max(high)
    legend = common.VizLegendOptions().display_mode(shown.LegendDisplayMode.LIST).show_legend(True)
    panel.legend(legend.placement(shown.LegendPlacement.BOTTOM))
    return panel.tooltip(common.VizTooltipOptions().mode(shown.TooltipDisplayMode.MULTI))


def number(
    title: str,
    says: str,
    unit: str,
    *asked: Asked,
    steps: Steps = PLAIN,
    words: Mapping[str, tuple[str, str]] | None = None,
    none: str = NO_DATA,
    decimals: int | None = None,
) -> Panel:
    """The newest values as large figures. ``words`` replaces a value by a text and a colour; ``none`` stands for
    no data and for what cannot be measured (NaN)."""
    panel = _queries(_described(stat.Panel(), title, says, unit, steps, none), asked, instant=True)
    if decimals is not None:
        panel.decimals(decimals)
    return (
        panel.mappings(_mappings(words or {}, none))
        .color_mode(shown.BigValueColorMode.VALUE)
        .graph_mode(shown.BigValueGraphMode.NONE)
        .text_mode(shown.BigValueTextMode.AUTO if len(asked) == 1 else shown.BigValueTextMode.VALUE_AND_NAME)
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
    )


def _mappings(words: Mapping[str, tuple[str, str]], none: str) -> list[model.ValueMapping]:
    results = {value: model.ValueMappingResult(text, colour) for value, (text, colour) in words.items()}
    special = model.DashboardSpecialValueMapOptions(
        model.SpecialValueMatch.NULL_AND_NAN, model.ValueMappingResult(none, "text")
    )
    return [*([model.ValueMap(results)] if results else []), model.SpecialValueMap(special)]


def bars(title: str, says: str, unit: str, *asked: Asked, steps: Steps = PLAIN, none: str = NO_DATA) -> Panel:
    """One bar for each series, with its newest value."""
    panel = _queries(_described(bargauge.Panel(), title, says, unit, steps, none), asked, instant=True)
    panel.mappings(_mappings({}, none)).orientation(shown.VizOrientation.HORIZONTAL).min(0)
    if unit == "short":
        panel.decimals(0)
    panel.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
    return panel.display_mode(shown.BarGaugeDisplayMode.BASIC).value_mode(shown.BarGaugeValueMode.TEXT)


def heat(title: str, says: str, unit: str, expr: str) -> Panel:
    """How a distribution moves: each cell is how many fell between two bounds in that time."""
    panel = _described(heatmap.Panel(), title, says, "short", PLAIN)
    target = prometheus.Dataquery().expr(expr).legend_format("{{le}}").ref_id("A").datasource(SOURCE).range()
    target = target.interval(SCRAPE)
    panel.with_target(target.format(PromQueryFormat.HEATMAP)).calculate(False)
    colours = heatmap.HeatmapColorOptions().mode(heats.HeatmapColorMode.SCHEME).scheme("Oranges").steps(64)
    panel.color(colours.fill("dark-orange").exponent(0.5).reverse(False))
    panel.rows_frame(heatmap.RowsHeatmapOptions().layout(shown.HeatmapCellLayout.AUTO)).cell_gap(1)
    panel.y_axis(heatmap.YAxisConfig().unit(unit).axis_placement(shown.AxisPlacement.LEFT))
    panel.cell_values(heatmap.CellValues().unit("short")).mode(shown.TooltipDisplayMode.SINGLE).show_legend()
    return panel.filter_values(heatmap.FilterValueRange().le(1e-9))


def rows_of(title: str, says: str, asked: Asked) -> Panel:
    """A table: a row for each series, a column for each label, and one with its value, which counts processes."""
    panel = _queries(_described(table.Panel(), title, says, "short", PLAIN), (asked,), instant=True, table=True)
    return panel.with_transformation(model.DataTransformerConfig("organize", options=TABLE))
