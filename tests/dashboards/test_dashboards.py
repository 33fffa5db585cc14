"""The dashboards: that the code makes what is committed, and the rules that every one of them keeps."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from html import escape

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.boards.layout import TITLES
from dashboards.boards.writing import texts
from service import telemetry  # noqa: F401 - it declares every metric
from service.observing.labelled import REGISTRY
from tests.dashboards.boards import FOLDER, GRAFANA, ROOT, VARIABLE, boards, metrics, panels, queries
from tests.dashboards.rules import alerts, recorded

BOARDS = boards()
UNITS = {"short", "none", "s", "bytes", "percentunit", "ops", "reqps", "currencyUSD"}
KINDS = {"timeseries", "stat", "bargauge", "heatmap", "table"}
"""Kinds of panel that Grafana 11, 12 and 13 all have built in."""
KEPT_FOR_DASHBOARDS = {"datasource", "service", "debate"}
"""Variables that no expression uses: the source of all panels, and the parts of the link to a report."""
COLLECTED = re.compile(
    r"up|process_(?:cpu_seconds_total|(?:resident|virtual)_memory_bytes|open_fds|max_fds|start_time_seconds)"
    r"|python_gc_(?:collections|objects_(?:un)?collect(?:ed|able))_total|python_info"
)
"""What Prometheus or its Python client name by themselves."""

each = pytest.mark.parametrize("uid", sorted(BOARDS))


def test_what_is_committed_is_what_the_code_makes() -> None:
    committed = {path.name: path.read_text("utf-8") for path in FOLDER.iterdir()}
    assert committed == texts(), "run make dashboards"


def test_every_dashboard_that_is_linked_is_there_under_its_fixed_uid() -> None:
    assert {uid: board["title"] for uid, board in BOARDS.items()} == TITLES
    assert all(board["uid"] == uid and "id" not in board for uid, board in BOARDS.items())


@each
def test_a_dashboard_loads_unedited(uid: str) -> None:
    """No inputs to fill in, one data source by variable, a schema that 11 reads and later ones migrate."""
    board = BOARDS[uid]
    assert not [key for key in board if key.startswith("__")]
    assert board["schemaVersion"] == 41
    again = json.loads(json.dumps(Dashboard.from_json(json.loads(json.dumps(board))), cls=JSONEncoder))
    assert again == board, "the types of Grafana 11.6 read another dashboard than was written"
    sources = list(_members(board["panels"], "datasource"))
    assert sources
    assert all(source == {"type": "prometheus", "uid": "${datasource}"} for source in sources)


def _members(value: object, name: str) -> Iterator[object]:
    if isinstance(value, dict):
        for key, member in value.items():
            if key == name:
                yield member
            else:
                yield from _members(member, name)
    elif isinstance(value, list):
        for member in value:
            yield from _members(member, name)


@each
def test_panels_have_ids_of_their_own_and_places_that_do_not_overlap(uid: str) -> None:
    ids = Counter(panel["id"] for panel in BOARDS[uid]["panels"])
    assert ids == Counter(set(ids))
    taken: set[tuple[int, int]] = set()
    for panel in BOARDS[uid]["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert place["x"] + place["w"] <= 24
        assert not cells & taken, f"{panel['title']} overlaps another panel"
        taken |= cells


@each
def test_each_panel_says_what_it_means_in_a_unit_with_steps_and_words_for_no_data(uid: str) -> None:
    for panel in panels(BOARDS[uid]):
        name, defaults = panel["title"], panel["fieldConfig"]["defaults"]
        assert panel["type"] in KINDS, name
        assert re.fullmatch(r"[A-Za-z01].{38,}\.", panel["description"]), name
        assert (panel["options"]["yAxis"]["unit"] if panel["type"] == "heatmap" else defaults["unit"]) in UNITS, name
        assert defaults["noValue"], name
        assert all(target["interval"] == "30s" for target in panel["targets"]), f"{name}: a rate needs four scrapes"
        steps = [step["value"] for step in defaults["thresholds"]["steps"]]
        assert steps[0] is None, name
        assert steps[1:] == sorted(steps[1:]), name
        if panel["type"] in ("stat", "bargauge"):
            assert any(mapping["type"] == "special" for mapping in defaults["mappings"]), name
        if len(steps) > 1:
            drawn = panel["type"] in ("stat", "bargauge") or defaults["custom"]["thresholdsStyle"]["mode"] == "dashed"
            assert drawn, f"{name} has steps that are not shown"


@each
def test_its_picture_shows_every_panel_that_it_has_now(uid: str) -> None:
    picture = (ROOT / "docs" / "dashboards" / f"{uid}.svg").read_text("utf-8")
    shown = re.findall(r"<g><title>(.*?)</title>", picture)
    described = [escape(f"{panel['title']}: {panel['description']}") for panel in panels(BOARDS[uid])]
    assert shown == described, "run make dashboards-preview"
    assert f"dashboards/{uid}.svg" in (ROOT / "docs" / "dashboards.md").read_text("utf-8")


@each
def test_titles_are_not_given_twice_under_one_heading(uid: str) -> None:
    heading, seen = "", Counter[tuple[str, str]]()
    for panel in BOARDS[uid]["panels"]:
        heading = panel["title"] if panel["type"] == "row" else heading
        seen[heading, panel["title"]] += 1
    assert [name for name, count in seen.items() if count > 1] == []


@each
def test_every_variable_is_defined_and_used(uid: str) -> None:
    board = BOARDS[uid]
    defined = {variable["name"] for variable in board["templating"]["list"]}
    expressions = " ".join(query.expr for query in queries(board))
    used = {found[1] or found[2] for found in VARIABLE.finditer(expressions)} - GRAFANA
    assert used <= defined
    assert defined - used == KEPT_FOR_DASHBOARDS
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            assert variable["includeAll"], variable
            assert variable["allValue"] == ".*", "series without the label count too"
            assert variable["datasource"]["uid"] == "${datasource}"
            assert {"gainsay_build_info", *known()} >= set(re.findall(r"gainsay_\w+", variable["query"]["query"]))


@each
def test_links_lead_to_all_other_dashboards_and_to_the_report(uid: str) -> None:
    links = BOARDS[uid]["links"]
    urls = [link["url"] for link in links]
    assert urls[:-1] == [f"/d/{other}" for other in TITLES if other != uid]
    assert all(link["includeVars"] and link["keepTime"] for link in links[:-1])
    assert urls[-1] == "${service}/v1/debates/${debate}/report"


@each
def test_no_expression_paints_the_dead_green_or_sums_what_all_processes_share(uid: str) -> None:
    shared = {name for name in known() if name.startswith(SHARED)}
    for query in queries(BOARDS[uid]):
        assert "vector(" not in query.expr, query
        for name in metrics(query.expr):
            wanted = ['namespace=~"$namespace"', *([] if name.startswith("gainsay") else ['job=~"gainsay-.+"'])]
            assert all(part in chosen for chosen in matchers(query.expr, name) for part in wanted), query
            assert name not in shared or f"sum({name}" not in query.expr, query
        largest = re.findall(r"sum(?: by \(\w+\))? \(max( by \([\w, ]+\))?", query.expr)
        assert all("namespace" in by for by in largest), f"of several installations it shows one: {query}"


SHARED = (
    "gainsay_log_unproven", "gainsay_log_incidents", "gainsay_webhook_messages_waiting", "gainsay_webhook_late",
    "gainsay_evidence_damage_open", "gainsay_debates_queued", "gainsay_debates_left", "gainsay_batches_open",
    "gainsay_money_held", "gainsay_tenant_", "gainsay_log_head_age", "gainsay_witness_age", "gainsay_evaluations_open",
    "gainsay_evaluation_waiting", "gainsay_evaluation_still", "gainsay_evaluation_ceiling", "gainsay_golden_sets_worn",
)  # fmt: skip
"""What every process reads from the database, as docs/metrics.md has it."""


def matchers(expr: str, name: str) -> list[str]:
    """What stands in the braces behind each place of a metric."""
    return re.findall(rf"(?<![\w:]){re.escape(name)}\{{([^}}]*)\}}", expr)


def known() -> set[str]:
    """The names of all series that the service declares, and of those that rules record."""
    names: set[str] = set()
    for family in REGISTRY.collect():
        suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}.get(family.type, ("",))
        names |= {f"{family.name}{suffix}" for suffix in suffixes}
    return names | {rule.name for rule in recorded()}


@each
def test_every_metric_that_is_named_exists(uid: str) -> None:
    names = set().union(*(metrics(query.expr) for query in queries(BOARDS[uid])))
    assert len(names) > 5
    assert [name for name in sorted(names - known()) if not COLLECTED.fullmatch(name)] == []


def test_every_metric_that_exists_is_on_a_dashboard_or_in_an_alert() -> None:
    expressions = [query.expr for board in BOARDS.values() for query in queries(board)]
    expressions += [rule.expr for rule in [*alerts(), *recorded()]]
    named = " ".join(expressions)
    families = [family.name for family in REGISTRY.collect()]
    assert len(families) > 60
    assert [name for name in families if not re.search(rf"\b{name}(?:_total|_bucket|_sum|_count)?\b", named)] == []
