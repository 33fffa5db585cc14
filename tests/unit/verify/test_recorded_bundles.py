"""Bundles that stay as they were recorded verify, and every step recomputes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest

from service.audit.bundle import Bundle, unpack
from service.audit.note import PublicKey
from service.cli.audit.verify import tools
from service.debate.entries import DebateStarted, GateDecided
from service.debate.versions import Part
from service.prompts.layout_pin import layout_of
from service.verify.bundle import verify_bundle
from service.verify.opened_bundle import OpenedBundle
from service.verify.steps import Trust, VerificationReport
from tests.fixtures.bundles import LOG_KEY, Draft, failed, rehashed, told, verify

pytestmark = pytest.mark.many

VECTORS = Path(__file__).parents[2] / "vectors" / "bundles"
DEBATES = {
    "adversarial": "adversarial/1",
    "approved": "adversarial/1",
    "ballot": "ballot/1",
    "convergence": "convergence/1",
    "panel": "panel/1",
    "screened": "adversarial/1",
    "stances": "stances/1",
}
BUNDLES = (*DEBATES, "declined")


def vkey(name: str) -> PublicKey:
    return PublicKey.parse((VECTORS / f"{name}.vkey").read_text("ascii").strip())


TRUST = Trust(keys=(vkey("log"), vkey("approver")), allow_unwitnessed=True)
FORGED = Trust(keys=(LOG_KEY.public, vkey("approver")), allow_unwitnessed=True)
"""What trusts a forger who has stolen the log's key."""


def data(name: str) -> bytes:
    return (VECTORS / f"{name}.zip").read_bytes()


def draft(name: str) -> Draft:
    """A bundle taken apart, for a forger who seals it again."""
    return Draft.of(unpack(data(name)))


def forged(changed: Draft) -> VerificationReport:
    """What is found of a draft that a forger seals again, with the report that its records lead to."""
    tree = changed.tree(witnesses=())
    with suppress(Exception):  # of records that nothing can be told of the report stays as it was
        changed = told(changed, tree)
    return verify(changed.bundle(tree), FORGED, tools())


@pytest.mark.parametrize("name", BUNDLES)
def test_a_recorded_bundle_verifies_and_every_step_is_carried_out(name: str) -> None:
    report = verify_bundle(data(name), TRUST, tools())

    assert report.code == 0
    assert len(report.steps) == 25
    assert {step.name: step.state for step in report.steps if step.state != "OK"} == dict.fromkeys(
        ("witnesses", "times"), "NOT CHECKABLE"
    )


@pytest.mark.parametrize(("name", "epochs"), [("witnessed", (2,)), ("rotated", (3, 2)), ("rotated-declined", (3, 2))])
def test_a_recorded_bundle_of_a_witnessed_later_log_lies_between_two_signed_times(
    name: str, epochs: tuple[int, ...]
) -> None:
    trust = Trust(keys=TRUST.keys, witnesses=(vkey("witness"),))
    report = verify_bundle(data(name), trust, tools())

    assert (report.code, {step.state for step in report.steps}) == (0, {"OK"})
    assert {end["signer"] for end in report.about["recorded"].values()} == {"witness.example"}
    assert unpack(data(name)).manifest.logs == tuple(f"localhost/default/{epoch}" for epoch in epochs)


@pytest.mark.parametrize("name", BUNDLES)
def test_a_recorded_bundle_seals_the_version_of_every_part(name: str) -> None:
    decided = OpenedBundle(unpack(data(name))).debate.decided

    assert isinstance(decided, GateDecided)
    assert set(decided.versions) == set(get_args(Part))


@pytest.mark.parametrize(("name", "rules"), DEBATES.items())
def test_a_recorded_bundle_is_of_the_rules_and_the_layout_that_it_names(name: str, rules: str) -> None:
    debate = OpenedBundle(unpack(data(name))).debate

    assert isinstance(debate.started, DebateStarted)
    assert debate.started.format == rules
    assert isinstance(debate.decided, GateDecided)
    assert layout_of(debate.started.pins) == debate.decided.versions["layout"]


def _edit_finding(entry: dict[str, Any]) -> None:
    verdict = next(verdict for argument in entry["finding"]["arguments"] for verdict in argument["verdicts"])
    verdict["span"][0] += 1


def _edit_charge(entry: dict[str, Any]) -> None:
    entry["charge"]["amount"] -= 1


def _edit_decision(entry: dict[str, Any]) -> None:
    entry["decision"]["factor"] += 1


def _edit_outcome(entry: dict[str, Any]) -> None:
    outcome = entry["outcome"]
    outcome["confidenceLevel"] = "HIGH" if outcome["confidenceLevel"] == "LOW" else "LOW"


class Forgery(NamedTuple):
    """The kind of record that a forger edits, and the step that finds it."""

    kind: str
    edit: Callable[[dict[str, Any]], None]
    step: str


FORGERIES = {
    "finding": Forgery("check.found", _edit_finding, "checks"),
    "charge": Forgery("turn.spoke", _edit_charge, "charges"),
    "decision": Forgery("gate.decided", _edit_decision, "gate"),
    "outcome": Forgery("debate.concluded", _edit_outcome, "outcome"),
}
SAMPLED = [*((name, forgery) for name in DEBATES for forgery in FORGERIES), ("declined", "decision")]


@pytest.mark.parametrize(("name", "forgery"), SAMPLED)
def test_a_forgery_in_a_recorded_bundle_fails_where_it_is_recomputed(name: str, forgery: str) -> None:
    kind, edit, step = FORGERIES[forgery]
    honest = draft(name)
    entries = [honest.entry(n) for n in range(len(honest.payloads))]
    n = next(
        n
        for n, entry in enumerate(entries)
        if entry["kind"] == kind and (kind != "check.found" or entry["finding"]["kind"] == "citations")
    )

    assert failed(forged(honest)) == []
    assert step in failed(forged(honest.change(n, edit)))


@pytest.mark.parametrize("name", BUNDLES)
def test_a_flipped_byte_of_a_recorded_report_fails_even_under_a_right_hash(name: str) -> None:
    bundle = unpack(data(name))
    report = bytearray(bundle.files["report.md"])
    report[len(report) // 2] ^= 1

    flipped = rehashed(bundle, {**bundle.files, "report.md": bytes(report)})

    assert failed(verify(flipped, TRUST, tools())) == ["report"]


@pytest.mark.parametrize("name", BUNDLES)
def test_a_flipped_byte_of_a_recorded_payload_fails_even_under_a_right_hash(name: str) -> None:
    bundle = unpack(data(name))
    path = f"records/{bundle.manifest.records - 1:04d}.payload.json"
    payload = bytearray(bundle.files[path])
    payload[len(payload) // 2] ^= 1
    files: Mapping[str, bytes] = {**bundle.files, path: bytes(payload)}

    assert "records" in failed(verify(rehashed(bundle, files), TRUST, tools()))
    assert "file" in failed(verify(Bundle(files, bundle.manifest), TRUST, tools()))
