"""Who reaches whom: each process has one NetworkPolicy, with the ways that it needs and no others."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

import pytest
import yaml

from tests.chart.rendering import CHART, Object, merged, render, rendered
from tests.chart.sets import NEEDED, SETS

GIVEN = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))["networkPolicy"]
WAYS = {name: 1_000 + n for n, name in enumerate(GIVEN["egress"])}
"""A port for each way out, by which it is known again."""
CALLERS = [name for name, found in GIVEN.items() if isinstance(found, list)]
INGRESS = {
    "api": {"callers", "prometheus", "prober"},
    "worker": {"prometheus"},
    "sequencer": {"prometheus"},
    "signer": {"sequencer", "signerClients", "prometheus"},
    "witness": {"sequencer", "witnessClients", "prometheus"},
    "migrate": set[str](),
    "prober": set[str](),
}
EGRESS = {
    "api": {"dns", "database", "identity", "webhooks", "otlp"},
    "worker": {"dns", "database", "vendors", "webhooks", "otlp"},
    "sequencer": {"dns", "database", "signer", "witnesses", "timeStamps", "otlp", "signer:8323", "witness:8322"},
    "signer": {"dns", "otlp"},
    "witness": {"dns", "otlp"},
    "migrate": {"dns", "database"},
    "prober": {"dns", "api:8321"},
}


def peer(name: str) -> Object:
    return {"podSelector": {"matchLabels": {"app.kubernetes.io/component": name}}}


def component(found: Object) -> str:
    name: str = found["podSelector"]["matchLabels"]["app.kubernetes.io/component"]
    return name


@pytest.fixture(scope="module")
def policies() -> dict[str, Object]:
    """The policy of each component, of a release that has all of them and a name for every way."""
    networks: dict[str, Any] = {name: [peer(name)] for name in CALLERS}
    networks["egress"] = {name: [{"ports": [{"port": port}]}] for name, port in WAYS.items()}
    values = merged(merged(SETS["probed"], SETS["signer-elsewhere"]), {"networkPolicy": networks})
    objects = render(merged(NEEDED, {**values, "signer": {}, "signing": {}}))
    found = [x["spec"] for x in objects if x["kind"] == "NetworkPolicy"]
    assert len(found) == len({component(spec) for spec in found})
    return {component(spec): spec for spec in found}


def test_every_process_has_a_policy_for_both_directions(policies: dict[str, Object]) -> None:
    assert policies.keys() == INGRESS.keys() == EGRESS.keys()
    assert [spec["policyTypes"] for spec in policies.values()] == [["Ingress", "Egress"]] * len(policies)


@pytest.mark.parametrize("name", INGRESS)
def test_a_process_is_reached_by_those_who_ask_it_alone(name: str, policies: dict[str, Object]) -> None:
    rules = policies[name]["ingress"]

    assert {component(who) for rule in rules for who in rule["from"]} == INGRESS[name]
    assert [rule["ports"] for rule in rules] == [[{"port": "http", "protocol": "TCP"}]] * bool(INGRESS[name])


@pytest.mark.parametrize("name", EGRESS)
def test_a_process_reaches_what_it_needs_alone(name: str, policies: dict[str, Object]) -> None:
    """Above all: workers alone reach vendors, and the sequencer alone the signer."""
    known = {port: way for way, port in WAYS.items()}
    found = []
    for rule in policies[name]["egress"]:
        (port,) = rule["ports"]
        found += [f"{component(to)}:{port['port']}" for to in rule["to"]] if "to" in rule else [known[port["port"]]]

    assert sorted(found) == sorted(EGRESS[name])


def test_signer_and_witness_reach_nothing_where_nothing_is_traced() -> None:
    for values, name in (("needed", "signer"), ("witness-alone", "witness")):
        specs = [x["spec"] for x in rendered(values) if x["kind"] == "NetworkPolicy"]
        assert [spec["egress"] for spec in specs if component(spec) == name] == [[]]


@pytest.mark.parametrize(
    ("address", "reached"),
    [
        ("198.51.100.7", True),
        ("2001:db8::7", True),
        ("10.1.2.3", False),
        ("100.64.0.1", False),
        ("169.254.169.254", False),
        ("172.31.0.1", False),
        ("192.168.0.1", False),
        ("fd00::1", False),
        ("fe80::1", False),
    ],
)
def test_workers_reach_no_private_address_by_the_way_to_vendors(address: str, reached: bool) -> None:
    (rule,) = GIVEN["egress"]["vendors"]
    blocks = [to["ipBlock"] for to in rule["to"]]
    at = ip_address(address)

    assert rule["ports"] == [{"port": 443, "protocol": "TCP"}]
    assert reached is any(
        at in ip_network(block["cidr"]) and not any(at in ip_network(out) for out in block["except"])
        for block in blocks
    )
