"""A dashboard: rows of lines of panels, the variables, and the links to the other dashboards."""

from __future__ import annotations

from dataclasses import dataclass

from grafana_foundation_sdk.builders import dashboard as built
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import dashboard as model

from dashboards.boards.panels import SOURCE, Panel
from dashboards.boards.promql import NAMESPACE

WIDTH = 24
TITLES = {
    "gainsay-overview": "Gainsay / Overview",
    "gainsay-quality": "Gainsay / Debate quality",
    "gainsay-evaluations": "Gainsay / Evaluations",
    "gainsay-money": "Gainsay / Money",
    "gainsay-integrity": "Gainsay / Audit and integrity",
    "gainsay-vendors": "Gainsay / Vendors",
    "gainsay-platform": "Gainsay / Platform",
}
"""Every dashboard by its uid, which links and alerts name."""


@dataclass(frozen=True)
class Line:
    """Panels beside each other, all of one height and one width."""

    height: int
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Row:
    """Lines of panels under a heading."""

    title: str
    lines: tuple[Line, ...]


def line(height: int, *panels: Panel) -> Line:
    """A line; its panels share the width, so their number divides 24. Raises `ValueError` where it does not."""
    if WIDTH % len(panels):
        raise ValueError(f"expected a number of panels that divides {WIDTH}, found {len(panels)}")
    return Line(height, panels)


def chosen(name: str, label: str, metric: str, *matchers: str) -> built.QueryVariable:
    """A variable with the values of a label; all of them at first, and series without the label count as well."""
    where = f"{{{','.join(matchers)}}}" if matchers else ""
    query = f"label_values({metric}{where}, {name})"
    return (
        built.QueryVariable(name)
        .label(label)
        .datasource(SOURCE)
        .query({"query": query, "refId": f"variable-{name}"})
        .refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(model.VariableSort.ALPHABETICAL_ASC)
        .multi(True)
        .include_all(True)
        .all_value(".*")
        .current(model.VariableOption(text="All", value="$__all", selected=True))
    )


TASK_TYPE = chosen("task_type", "Task type", "gainsay_debates_started_total", NAMESPACE)
FORMAT = chosen("format", "Format", "gainsay_debates_started_total", NAMESPACE)
MODEL = chosen("model", "Model", "gainsay_model_call_seconds_count", NAMESPACE)
TENANT = chosen("tenant", "Tenant", "gainsay_tenant_spent_usd", NAMESPACE)


def _begun(uid: str, says: str, since: str) -> built.Dashboard:
    begun = built.Dashboard(TITLES[uid]).uid(uid).description(says).tags(["gainsay"]).editable()
    begun.time(f"now-{since}", "now").refresh("1m").timezone("browser").tooltip(model.DashboardCursorSync.CROSSHAIR)
    begun.with_variable(built.DatasourceVariable("datasource").label("Data source").type("prometheus"))
    return begun.with_variable(chosen("namespace", "Namespace", "gainsay_build_info"))


def _typed(name: str, label: str, value: str, says: str) -> built.TextBoxVariable:
    text = model.VariableOption(text=value, value=value, selected=True)
    return built.TextBoxVariable(name).label(label).description(says).default_value(value).current(text).options([text])


def _linked(board: built.Dashboard, uid: str) -> None:
    for other, title in TITLES.items():
        if other != uid:
            link = built.DashboardLink(title.removeprefix("Gainsay / ")).type(model.DashboardLinkType.LINK)
            board.link(link.url(f"/d/{other}").icon("dashboard").include_vars(True).keep_time(True))
    report = built.DashboardLink("Report of the debate").type(model.DashboardLinkType.LINK).icon("doc")
    report.url("${service}/v1/debates/${debate}/report").target_blank(True)
    board.link(report.tooltip("Put the id of a debate into the field Debate first."))


def laid_out(
    uid: str,
    says: str,
    since: str,
    variables: tuple[built.QueryVariable | built.IntervalVariable, ...],
    rows: tuple[Row, ...],
) -> model.Dashboard:
    """A dashboard with its rows below each other, and every panel with an id and a place."""
    board = _begun(uid, says, since)
    for variable in variables:
        board.with_variable(variable)
    board.with_variable(
        _typed(
            "service",
            "Service",
            "http://localhost:8321",
            "Where your browser reaches the service, without a / at its end.",
        )
    )
    board.with_variable(_typed("debate", "Debate", "", "The id of a debate, from a line of the log or an answer."))
    _linked(board, uid)
    y, number = 0, 0
    for row in rows:
        number += 1
        place = model.GridPos(x=0, y=y, w=WIDTH, h=1)
        board.with_row(built.Row(row.title).id(number).grid_pos(place))
        y += 1
        for one in row.lines:
            width = WIDTH // len(one.panels)
            for at, panel in enumerate(one.panels):
                number += 1
                placed = panel.build()
                placed.id_val, placed.grid_pos = number, model.GridPos(x=at * width, y=y, w=width, h=one.height)
                board.with_panel(_Built(placed))
            y += one.height
    return board.build()


@dataclass(frozen=True)
class _Built(Builder[model.Panel]):
    """A panel that is built already, as the builder of a dashboard takes it."""

    panel: model.Panel

    def build(self) -> model.Panel:
        return self.panel
