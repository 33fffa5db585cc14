"""The alerts and the recorded series: what Prometheus's own tool says of them, and the rules of this project."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.metrics import MetricWrapperBase

from service import telemetry
from service.debate.kernel import FORMATS
from service.log_lines import EVERY
from service.observing import labelled
from service.observing.labelled import Given, Labelled
from tests.dashboards.rules import ALERTS, CASES, RECORDING, Rule, alerts, read, recorded
from tests.fixtures.prometheus import program

GROUPS = ["gainsay-service", "gainsay-money", "gainsay-integrity", "gainsay-quality", "gainsay-platform"]
BOTH = [*recorded(), *alerts()]
POLICY_KEYS = {"audit.damage_unready"}
"""Keys of the policy that look like names of log lines."""


def plain(metric: MetricWrapperBase | Labelled[Any]) -> MetricWrapperBase:
    """The metric of the library behind a declaration."""
    found: MetricWrapperBase = metric.metric if isinstance(metric, Labelled) else metric
    return found


METRICS: dict[str, MetricWrapperBase | Labelled[Any]] = {
    family.name: found
    for found in vars(telemetry).values()
    if isinstance(found, MetricWrapperBase | Labelled)
    for family in plain(found).describe()
}


def declared(series: str) -> MetricWrapperBase | Labelled[Any] | None:
    """What the service declares under the name of a series, if it does."""
    return METRICS.get(re.sub(r"_(total|bucket|sum|count)$", "", series)) or METRICS.get(series)


def named(rule: Rule) -> str:
    return rule.name


# -- what Prometheus's tool says


@pytest.mark.parametrize("path", [ALERTS, RECORDING], ids=lambda path: path.name)
def test_promtool_finds_no_fault(path: Path) -> None:
    done = subprocess.run([program("promtool"), "check", "rules", path], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS" in done.stdout


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_promtool_finds_each_alert_firing_and_silent_where_it_has_to_be(path: Path) -> None:
    done = subprocess.run([program("promtool"), "test", "rules", path], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def test_each_alert_has_a_case_in_which_it_fires_and_one_in_which_it_is_silent() -> None:
    fires, silent = Counter[str](), Counter[str]()
    for path in CASES:
        for case in read(path)["tests"]:
            for expected in case["alert_rule_test"]:
                (fires if expected["exp_alerts"] else silent)[expected["alertname"]] += 1

    names = {rule.name for rule in alerts()}
    assert fires.keys() == names
    # One silent case stands for all alerts at once, with the database away: each has another one of its own.
    assert {name for name, count in silent.items() if count >= 2 or name == "GainsayDatabaseDown"} == names


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_the_cases_run_all_groups_recorded_series_first(path: Path) -> None:
    cases = read(path)

    assert cases["rule_files"] == [f"../{RECORDING.name}", f"../{ALERTS.name}"]
    assert cases["group_eval_order"] == [*dict.fromkeys(rule.group for rule in recorded()), *GROUPS]


def blocks(root: Path) -> dict[str, str]:
    """The files that the runbook shows in YAML, by the names in their first lines."""
    page = (root / "docs" / "runbook.md").read_text("utf-8")
    return dict(re.findall(r"^```yaml\n# ([\w.]+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL))


def test_promtool_takes_the_configuration_that_the_runbook_shows(root: Path, tmp_path: Path) -> None:
    shown = blocks(root)["prometheus.yml"]
    (tmp_path / "prometheus.yml").write_text(shown.replace("/etc/prometheus", str(ALERTS.parent)))
    done = subprocess.run(
        [program("promtool"), "check", "config", tmp_path / "prometheus.yml"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("rules found") == 2


def test_what_the_runbook_holds_back_while_the_database_is_down_are_alerts(root: Path) -> None:
    (rule,) = yaml.safe_load(blocks(root)["alertmanager.yml"])["inhibit_rules"]
    (source,), (target,) = (
        re.findall(r'^alertname=~?"(.*)"$', rule[f"{of}_matchers"][0]) for of in ("source", "target")
    )
    names = {found.name for found in alerts()}

    assert source in names
    held = {pattern: [name for name in names if re.fullmatch(pattern, name)] for pattern in target.split("|")}
    assert all(held.values()), held
    assert not re.fullmatch(target, source)
    assert rule["equal"] == ["namespace"]


GOING_ON = {"GainsayAppendFailing": "[5m]", "GainsaySecretNearEnd": "[15m]"}
"""Alerts of events of which one alone heals by itself, and the window in which they are counted."""


@pytest.mark.parametrize(("name", "window"), GOING_ON.items())
def test_an_alert_of_what_goes_on_waits_for_longer_than_its_window(name: str, window: str) -> None:
    """One event is in an increase for as long as the window, so it cannot fire."""
    (rule,) = (rule for rule in alerts() if rule.name == name)

    assert set(re.findall(r"increase\(\w+(\[\w+\])\)", rule.expr)) == {window}
    assert minutes(rule.for_) > minutes(window.strip("[]"))


def minutes(duration: str) -> int:
    """A duration of Prometheus in minutes."""
    return int(duration[:-1]) * {"m": 1, "h": 60}[duration[-1]]


# -- what each alert has


def test_there_are_at_most_thirty_five_alerts_in_the_known_groups_each_under_a_name_of_its_own() -> None:
    names = [rule.name for rule in alerts()]

    assert len(names) == len(set(names)) <= 35
    assert list(dict.fromkeys(rule.group for rule in alerts())) == GROUPS
    assert all(re.fullmatch(r"Gainsay[A-Z]\w+", name) for name in names)


@pytest.mark.parametrize("rule", alerts(), ids=named)
def test_an_alert_says_how_urgent_it_is_what_it_is_and_where_to_look(rule: Rule) -> None:
    said = rule.annotations

    assert rule.labels in ({"severity": "page"}, {"severity": "ticket"})
    assert list(said) == ["summary", "description", "dashboard", "runbook_url"]
    assert "$labels.namespace" in said["summary"]
    assert len(said["summary"]) < 170
    assert said["description"].endswith(".")
    is_so_or_not = re.search(r"== [01]\b", rule.expr) is not None
    assert is_so_or_not or "$value" in said["description"], "the description says the value"


@pytest.mark.parametrize("rule", alerts(), ids=named)
def test_an_alert_leads_to_a_dashboard_that_is_there(rule: Rule, root: Path) -> None:
    boards = [json.loads(path.read_text("utf-8")) for path in (root / "dashboards" / "grafana").glob("*.json")]
    known = {board["uid"] for board in boards} or {
        f"gainsay-{of}" for of in ("overview", "quality", "evaluations", "money", "integrity", "vendors", "platform")
    }

    assert rule.annotations["dashboard"].removeprefix("/d/") in known


def sections(root: Path) -> dict[str, str]:
    """Each section of the runbook by its anchor, as GitHub makes it: up to the next heading."""
    page = (root / "docs" / "runbook.md").read_text("utf-8")
    parts = re.split(r"^#{2,3} (.+)$", page, flags=re.MULTILINE)[1:]
    titles, texts = parts[::2], parts[1::2]
    anchors = [re.sub(r"[^\w\- ]", "", title).lower().replace(" ", "-") for title in titles]
    assert len(anchors) == len(set(anchors))
    return dict(zip(anchors, texts, strict=True))


@pytest.mark.parametrize("rule", alerts(), ids=named)
def test_an_alert_leads_to_a_section_of_the_runbook_that_names_lines_of_the_log_as_they_are(
    rule: Rule, root: Path
) -> None:
    page, _, anchor = rule.annotations["runbook_url"].partition("#")
    names = {line.name for line in EVERY.values()}
    rooms = "|".join({name.partition(".")[0] for name in names})

    assert page == "docs/runbook.md"
    found = sections(root)[anchor]
    assert re.search(r"^1\. |^\| ", found, re.MULTILINE), "it says what to do"
    assert set(re.findall(rf"`((?:{rooms})\.\w+)`", found)) <= names | POLICY_KEYS


# -- what the expressions read


@pytest.mark.parametrize("rule", BOTH, ids=named)
def test_an_expression_reads_series_that_are_there_by_labels_that_they_have(rule: Rule) -> None:
    written = {other.name for other in recorded()}

    for series, matchers in rule.selectors:
        if series in written:
            continue
        if series == "up":
            assert matchers == [("job", "=~", "gainsay-.+")]
            continue
        metric = declared(series)
        assert metric is not None, f"{series} is neither declared in service/telemetry.py nor recorded"
        for label, operator, value in matchers:
            check(metric, series, label, operator, value)


def check(metric: MetricWrapperBase | Labelled[Any], series: str, label: str, operator: str, value: str) -> None:
    """A matcher names a label of the metric, and a value that the label can have."""
    if label == "le":
        buckets = plain(metric)._kwargs["buckets"]
        assert value in [str(float(bound)) for bound in buckets], f"{series} has no bucket {value}"
        return
    assert isinstance(metric, Labelled), f"{series} has no labels"
    values = metric.known[label]
    known = tuple(FORMATS) if values is Given.FORMATS else values
    if isinstance(known, Given) or not known or operator == "!=":
        return
    assert any(re.fullmatch(value, one) for one in known), f"{label} of {series} is never {value}"


def test_every_recorded_series_is_read_by_a_rule_or_a_panel(root: Path) -> None:
    panels = "".join(path.read_text("utf-8") for path in (root / "dashboards" / "grafana").glob("*.json"))
    read_by = "\n".join([panels, *(rule.expr for rule in BOTH)])

    assert [rule.name for rule in recorded() if not re.search(rf"{rule.name}\b", read_by)] == []


@pytest.mark.parametrize("rule", BOTH, ids=named)
def test_an_expression_keeps_installations_apart(rule: Rule) -> None:
    sums = re.findall(r"\b(?:sum|max|min|avg|count|group|topk|quantile)\b\s*(?:by\s*)?\(([^)]*)\)", rule.expr)

    assert all(by.split(",")[0].strip() == "namespace" for by in sums), rule.expr
    assert not re.search(r"\b(?:sum|max|min|avg|count|group)\s+without\b|on \((?!slo\)|namespace\b)", rule.expr)


@pytest.mark.parametrize("rule", BOTH, ids=named)
def test_no_expression_paints_what_is_not_there(rule: Rule) -> None:
    if rule.name != "gainsay:slo_budget:ratio":
        assert "vector(" not in rule.expr
    assert ("absent" in rule.expr) == (rule.name == "GainsayNothingScraped")
    assert "!=" not in re.sub(r"\{[^}]*\}", "", rule.expr), "NaN is not equal to anything, so it would fire"


@pytest.mark.parametrize("rule", BOTH, ids=named)
def test_counters_are_summed_and_what_every_process_shows_of_the_database_is_not(rule: Rule) -> None:
    for series, _ in rule.selectors:
        if series.startswith("gainsay_") and (metric := declared(series)) is not None:
            if plain(metric)._type == "gauge":
                assert not re.search(rf"\b(?:sum|avg|increase|rate)\b[^()]*\([^()]*\)?\s*\(?{series}\b", rule.expr)
            else:
                assert re.search(rf"increase\(\s*{series}\b", rule.expr), f"{series} counts since the process began"


@pytest.mark.parametrize(
    "rule", [rule for rule in alerts() if "increase(" in rule.expr and rule.name not in GOING_ON], ids=named
)
def test_an_alert_of_events_sees_the_first_one_after_a_restart(rule: Rule) -> None:
    ((series, matchers),) = rule.selectors
    metric = declared(series)

    assert metric is not None
    assert rule.for_ == "", "an increase is over when its window is"
    assert re.search(r"> 0$", rule.expr)
    if isinstance(metric, Labelled):
        labelled.initialise(task_types=("contract",), formats=tuple(FORMATS), models=("a",), seats=("critic",))
        (family,) = metric.metric.collect()
        begun = [s.labels for s in family.samples if s.value == 0]
        assert any(all(labels[label] == value for label, _, value in matchers) for labels in begun)


def test_the_skip_says_what_to_do_where_prometheus_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    with pytest.raises(pytest.skip.Exception, match=r"no promtool on the PATH \(Debian: prometheus\): install it"):
        program("promtool")
