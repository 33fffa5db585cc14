"""docs/slo.md says of objectives, budgets and burn rates what the rules compute."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.dashboards.rules import Rule, alerts, recorded

DAYS, MINUTES = 30, 30 * 24 * 60
HOURS = {"5m": 1 / 12, "30m": 0.5, "1h": 1, "6h": 6, "3d": 72}


def tables(root: Path) -> dict[str, list[dict[str, str]]]:
    """The rows of each section's tables by the names of their columns; a section may have several."""
    page = (root / "docs" / "slo.md").read_text("utf-8")
    found: dict[str, list[dict[str, str]]] = {}
    for section in page.split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            head, _, *rows = [[cell.strip() for cell in line.strip("| \n").split(" | ")] for line in table.splitlines()]
            found[f"{title}: {head[1]}"] = [dict(zip(head, row, strict=True)) for row in rows]
    return found


def percent(text: str) -> float:
    return float(text.removesuffix(" %")) / 100


def budgets() -> dict[str, float]:
    """The share of each objective that may be bad, as it is recorded."""
    found = {}
    for rule in recorded():
        if rule.name == "gainsay:slo_budget:ratio":
            (number,) = re.fullmatch(r"vector\((.*)\)", rule.expr).groups()  # type: ignore[union-attr]
            found[rule.labels["slo"]] = float(number)
    return found


def burns(rule: Rule) -> list[tuple[str, str, float, float | None, float]]:
    """Each burn of an alert: long window, short window, the share that is too much, least events, least bad."""
    found = []
    for part in re.split(r"\n\s*or\b", rule.expr):
        ratios = re.findall(r":ratio(\w+)\{slo=\"(\w+)\"\} > ([\d.]+(?: \* [\d.]+)?)", part)
        (long, slo, share), (short, *others) = ratios
        assert others == [slo, share], "both windows have one limit"
        ((bad_over, bad),) = re.findall(r":slo_bad:increase(\w+)\{[^}]*\} >= (\d+)", part)
        events = re.findall(r":slo_events:increase(\w+)\{[^}]*\} >= (\d+)", part)
        assert {bad_over, *(over for over, _ in events)} == {long}
        rate, _, budget = share.rpartition(" * ")
        assert float(budget) == budgets()[slo]
        least = float(events[0][1]) if events else None
        found.append((long, short, float(rate or 1) * float(budget), least, float(bad)))
    return found


def test_the_objectives_and_their_budgets_are_those_that_are_recorded(root: Path) -> None:
    page, recorded_as = tables(root), budgets()
    objectives = {row["`slo`"].strip("`"): row for row in page["The objectives: objective"]}
    shares = {row["`slo`"].strip("`"): row for row in page["The budgets: share"]}

    assert objectives.keys() == shares.keys() == recorded_as.keys()
    for slo, budget in recorded_as.items():
        assert percent(objectives[slo]["objective"]) == pytest.approx(1 - budget)
        assert percent(shares[slo]["share"]) == pytest.approx(budget)
        assert float(shares[slo]["of 10,000 events"]) == pytest.approx(10_000 * budget)
        assert float(shares[slo]["minutes of 43,200"]) == pytest.approx(MINUTES * budget)


@pytest.mark.parametrize(("slo", "unit"), [("decisions", "600 seconds"), ("proofs", "10 seconds")])
def test_the_limit_of_what_is_good_in_time_is_the_bucket_that_is_read(slo: str, unit: str, root: Path) -> None:
    page = tables(root)
    (good,) = [row["good"] for row in page["The objectives: objective"] if row["`slo`"] == f"`{slo}`"]
    (metric,) = [
        v
        for row in page["The objectives: the metric of good and bad"]
        for v in row.values()
        if "le=" in v and slo in str(row)
    ]
    rules = [
        rule for rule in recorded() if rule.name.startswith("gainsay:slo_bad:increase") and rule.labels["slo"] == slo
    ]
    (bound,) = {bound for rule in rules for bound in re.findall(r'le="([\d.]+)"', rule.expr)}

    assert unit in good
    assert f'le="{bound}"' in metric
    assert float(bound) == float(unit.split(maxsplit=1)[0])
    assert len(rules) == 6


def test_what_is_counted_is_the_same_over_every_window() -> None:
    expressions: dict[tuple[str, str], list[str]] = {}
    for rule in recorded():
        if found := re.fullmatch(r"(gainsay:slo_(?:events|bad):(?:increase|ratio))(5m|30m|1h|6h|3d|30d)", rule.name):
            name, window = found.groups()
            plain = rule.expr.replace(f"[{window}]", "[]").replace(f"increase{window}", "increase")
            expressions.setdefault((name, rule.labels.get("slo", "")), []).append(plain)

    assert len(expressions) == 7
    assert {len(each) for each in expressions.values()} == {6}
    assert [key for key, each in expressions.items() if len(set(each)) > 1] == []


def test_each_burn_rate_has_the_windows_the_least_events_and_the_alerts_that_the_page_says(root: Path) -> None:
    rows = tables(root)["The alerts: long window"]
    by_alert: dict[str, list[tuple[str, ...]]] = {}
    names: list[str] = []
    for row in rows:
        names = re.findall(r"`(\w+)`", row["alerts"]) or names
        for name in names:
            by_alert.setdefault(name, []).append(
                tuple(row[k] for k in ("burn rate", "long window", "short window", "least events", "least bad"))
            )
    found = {rule.name: rule for rule in alerts() if "Burn" in rule.name}

    assert by_alert.keys() == found.keys()
    for name, rule in found.items():
        slos = list(dict.fromkeys(re.findall(r'slo="(\w+)"', rule.expr)))
        said = [
            (long, short, float(rate) * budgets()[slo], None if least == "none" else float(least), float(bad))
            for slo in slos
            for rate, long, short, least, bad in by_alert[name]
        ]
        assert [b[:2] + b[3:] for b in burns(rule)] == [b[:2] + b[3:] for b in said]
        assert [b[2] for b in burns(rule)] == pytest.approx([b[2] for b in said])
        assert slos == ([*budgets()] if name.endswith("Slow") else [re.sub(r"Gainsay(\w+)Burn.*", r"\1", name).lower()])
        assert rule.labels["severity"] == ("page" if name.endswith("Fast") else "ticket")


def test_what_a_burn_has_spent_by_then_and_when_all_is_spent_follows_from_its_rate(root: Path) -> None:
    for row in tables(root)["The alerts: long window"]:
        rate = float(row["burn rate"])
        assert percent(row["spent by then"]) == pytest.approx(rate * HOURS[row["long window"]] / (DAYS * 24), rel=0.01)
        assert float(row["all spent after"].removesuffix(" days")) == pytest.approx(DAYS / rate, abs=0.05)


def test_an_alert_says_the_share_that_its_objective_allows(root: Path) -> None:
    shares = {row["`slo`"].strip("`"): row["share"] for row in tables(root)["The budgets: share"]}

    for rule in alerts():
        if "Burn" in rule.name:
            (slo, *others) = dict.fromkeys(re.findall(r'slo="(\w+)"', rule.expr))
            said = (
                f"the objective allows {shares[slo]}." if not others else f"of {slo} the objective allows {shares[slo]}"
            )
            assert said in rule.annotations["description"]
            for other in others:
                assert f"of {other} the objective allows {shares[other]}" in rule.annotations["description"]
