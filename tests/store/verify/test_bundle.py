"""A bundle that nobody touched verifies whole; one that somebody did says in which step and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from service import money
from service.audit.approval import Approval
from service.audit.approval import encode as encode_approval
from service.audit.bundle import decode_index, encode_index
from service.audit.note import SigningKey
from service.audit.record import commit, leaf_hash
from service.debate.model import PanelOptions, SeatPlan
from service.policy import decode_policy, encode_configuration, encode_policy, price_hash, seating
from service.verify.export import verify_export
from service.verify.steps import Trust
from tests.fixtures.bundles import (
    LOG_KEY,
    OTHER_KEY,
    PINNED,
    TOOLS,
    WITNESSES,
    Draft,
    export,
    failed,
    rehashed,
    sha,
    step,
    tree,
    uncheckable,
    verify,
)
from tests.store.verify.conftest import SAMPLES

Drafts = Mapping[str, Draft]
OTHERS = (
    *("plain", "retried", "truncated", "failed", "fabricated", "declined"),
    *("forced", "repaired", "aborted", "limited", "fallback"),
)
STARTED = 2


@pytest.mark.parametrize("name", [*("-".join(filter(None, sample)) for sample in SAMPLES), *OTHERS])
def test_whatever_a_debate_came_to_its_bundle_verifies_in_every_step(drafts: Drafts, name: str) -> None:
    report = verify(drafts[name].bundle())

    assert (report.code, failed(report), uncheckable(report)) == (0, [], [])
    assert [step.number for step in report.steps] == list(range(1, len(report.steps) + 1))


def test_the_debates_that_are_verified_ended_in_different_ways(drafts: Drafts) -> None:
    ends = {name: step(verify(drafts[name].bundle()), "outcome").detail for name in OTHERS}

    assert ends["truncated"].startswith("truncated for budget")
    assert ends["failed"].startswith("failed for seatSilent")
    assert ends["declined"] == "the gate declined; there was no debate"
    assert ends["aborted"].startswith("aborted for aborted")
    assert drafts["retried"].entry(drafts["retried"].find("attempt.failed"))["reason"] == "overload"
    assert drafts["repaired"].entry(drafts["repaired"].find("attempt.failed"))["reason"] == "malformedReply"
    assert drafts["fallback"].entry(drafts["fallback"].find("turn.asked", 3))["because"] == "failed"
    assert drafts["truncated"].entry(drafts["truncated"].find("budget.refused"))["limit"] == "debateCeiling"
    assert drafts["limited"].entry(drafts["limited"].find("budget.refused"))["limit"] == "tenantDay"
    assert "1 refusal by a tenant's limit is stated" in step(verify(drafts["limited"].bundle()), "money").detail


# Whoever changes something and has the log's key, and seals all hashes, the chain, the tree and the head again.

Edit = Callable[[dict[str, Any]], object]


def spoke(nth: int, edit: Edit) -> tuple[str, int, Edit]:
    return "turn.spoke", nth, edit


def bump(digits: str) -> str:
    """Another last digit."""
    return f"{digits[:-1]}{(int(digits[-1]) + 1) % 10}"


def priced(entry: dict[str, Any]) -> None:
    entry["seats"][1]["price"]["output"] += 1


def quoted(entry: dict[str, Any]) -> None:
    citation = entry["reply"]["arguments"][0]["citations"][0]
    citation["quote"] = citation["quote"].replace(" shall ", ", shall ")


def misquoted(entry: dict[str, Any]) -> None:
    citation = entry["reply"]["arguments"][0]["citations"][0]
    citation["quote"] = citation["quote"].replace(" shall ", " may ")


def struck(entry: dict[str, Any]) -> None:
    entry["finding"]["arguments"][0]["struck"] = "uncited"


def twice(started: dict[str, Any]) -> None:
    """A decider that nothing at stake has asked twice."""
    started["options"]["swapped"] = True


def easier(started: dict[str, Any]) -> None:
    """A consensus that policy does not take for one."""
    started["options"]["thresholds"]["factual"] = 100


def longer(started: dict[str, Any]) -> None:
    """More rounds than the case asked for."""
    started["options"]["maxRounds"] = 11


def options(**changed: object) -> Edit:
    """Other options than the case asked for."""
    return lambda started: started["options"].update(changed)


def renamed(started: dict[str, Any]) -> None:
    """A debater under a name that nobody gave it."""
    started["options"]["debaters"][0]["name"] = "The board"


def seated_otherwise(started: dict[str, Any]) -> None:
    """Two debaters in each other's place, with the pairs that this makes."""
    first, second = (plan for plan in started["seats"] if plan["seat"] in ("debater-1", "debater-2"))
    first["seat"], second["seat"] = second["seat"], first["seat"]
    plans = msgspec.convert(started["seats"], tuple[SeatPlan, ...])
    apart = seating.choose_table(msgspec.convert(started["options"], PanelOptions)).apart
    started["pairs"] = msgspec.to_builtins(seating.pairs(plans, apart))


def recorded(started: dict[str, Any]) -> None:
    """A track record of a model that is not in policy's pool."""
    started["options"]["trackRecords"][0]["model"] = "cedar-large"


FORGED: dict[str, tuple[str, str, int, Edit, str]] = {
    "one digit of a price": ("plain", "debate.started", 0, priced, "seats"),
    "one comma of a quote": ("plain", *spoke(1, quoted), "requests"),
    "one word of a quote": ("plain", *spoke(1, misquoted), "checks"),
    "one input of the gate": ("plain", "case.received", 0, lambda e: e["case"].update(confidenceScore="0.95"), "gate"),
    "a downside": ("plain", "case.received", 0, lambda e: e["case"].update(estimatedDownside="250001"), "context"),
    "a question": ("plain", "case.received", 0, lambda e: e["case"].update(question="Is it capped?"), "moves"),
    "who brought it": ("plain", "case.received", 0, lambda e: e.update(subject="somebody"), "complete"),
    "what it asked for": ("plain", "case.received", 0, lambda e: e.update(asked={"maxRounds": 3}), "seats"),
    "the ceiling that it asked for": ("plain", "case.received", 0, lambda e: e.update(askedCeiling=999_999), "seats"),
    "a rule of the gate": ("plain", "gate.decided", 0, lambda e: e["decision"]["rules"][5].update(holds=False), "gate"),
    "what the gate compared": ("plain", "gate.decided", 0, lambda e: e["decision"].update(factor=49), "gate"),
    "what it was expected to cost": ("plain", "debate.started", 0, lambda e: e.update(expectedCost=71461), "gate"),
    "a ceiling above policy's": ("plain", "debate.started", 0, lambda e: e.update(ceiling=10**9), "seats"),
    "a lower ceiling than policy's": ("plain", "debate.started", 0, lambda e: e.update(ceiling=999_999), "seats"),
    "the least strength": ("plain", "debate.started", 0, options(minChallengeStrength=1), "seats"),
    "when a critic is asked again": ("plain", "debate.started", 0, options(requireCriticRetryBelow=1), "seats"),
    "a debater's name": ("contract-stances", "debate.started", 0, renamed, "seats"),
    "a ceiling below what was spent": ("plain", "debate.started", 0, lambda e: e.update(ceiling=25_000), "money"),
    "a model": ("plain", "debate.started", 0, lambda e: e["seats"][0].update(modelName="oak"), "seats"),
    "a parameter": ("plain", "debate.started", 0, lambda e: e["seats"][0].update(parameters={"t": 1}), "seats"),
    "how far apart the seats are": ("plain", "debate.started", 0, lambda e: e.update(diversity="sameModel"), "seats"),
    "a simulated debate": ("plain", "debate.started", 0, lambda e: e.pop("simulated"), "seats"),
    "why it has its format": ("plain", "debate.started", 0, lambda e: e.update(formatReason="auto: so"), "seats"),
    "a decider that is asked twice": ("contract-stances", "debate.started", 0, twice, "seats"),
    "an easier consensus": ("contract-panel", "debate.started", 0, easier, "seats"),
    "a panel that was not drawn": ("contract-panel", "debate.started", 0, seated_otherwise, "seats"),
    "a track record of nobody": ("contract-panel", "debate.started", 0, recorded, "seats"),
    "a larger panel than was asked for": ("contract-panel", "debate.started", 0, longer, "seats"),
    "an approval": ("plain", "debate.started", 0, lambda e: e.update(approvedBy="risk"), "approval"),
    "a pin": ("plain", "debate.started", 0, lambda e: e["pins"].update(critic=f"v1:{'00' * 32}"), "prompts"),
    "the manifest's pin": ("plain", "debate.started", 0, lambda e: e.update(pin="00" * 32), "prompts"),
    "the price table": ("plain", "debate.started", 0, lambda e: e.update(priceHash="00" * 32), "policy"),
    "the configuration": ("plain", "debate.started", 0, lambda e: e.update(configurationHash="00" * 32), "policy"),
    "the build": ("plain", "debate.started", 0, lambda e: e.update(buildHash="11" * 32), "complete"),
    "the seed": ("plain", "debate.started", 0, lambda e: e.update(seed="00" * 32), "moves"),
    "a reply that others saw": ("plain", *spoke(1, lambda e: e["reply"].update(thesis="It does not.")), "requests"),
    "a conclusion": ("plain", *spoke(4, lambda e: e["reply"].update(conclusion="rejected")), "outcome"),
    "a label that nobody has": ("plain", *spoke(4, lambda e: e["reply"].update(scores=[])), "moves"),
    "a usage": ("plain", *spoke(2, lambda e: e["usage"].update(output_tokens=1)), "charges"),
    "a charge": ("plain", *spoke(2, lambda e: e["charge"].update(amount=e["charge"]["amount"] - 1)), "charges"),
    "a charge for nothing told": ("retried", "attempt.failed", 0, lambda e: e["charge"].update(amount=5), "charges"),
    "what was held": ("plain", "turn.asked", 1, lambda e: e.update(held=e["held"] - 1), "charges"),
    "the tokens of a request": ("plain", "turn.asked", 1, lambda e: e.update(inputTokens=1), "requests"),
    "the hash of a request": ("plain", "turn.asked", 1, lambda e: e.update(requestHash="00" * 32), "requests"),
    "the hash of what went out": ("plain", "turn.asked", 1, lambda e: e.update(wireHash="00" * 32), "requests"),
    "a strike": ("plain", "check.found", 2, struck, "checks"),
    "how a critique was judged": ("plain", "check.found", 6, lambda e: e["finding"].update(novelty=1), "checks"),
    "a suspicion": (
        "plain",
        "check.found",
        0,
        lambda e: e["finding"].update(
            suspicions=[{"field": "document", "name": "D1", "span": [0, 3], "family": "address", "words": "w"}]
        ),
        "checks",
    ),
    "what a refusal needed": ("truncated", "budget.refused", 0, lambda e: e.update(needed=e["needed"] + 1), "money"),
    "what was left": ("truncated", "budget.refused", 0, lambda e: e.update(left=e["left"] - 1), "money"),
    "an outcome": ("plain", "debate.concluded", 0, lambda e: e["outcome"].update(confidenceLevel="HIGH"), "outcome"),
    "a cap": ("fabricated", "debate.concluded", 0, lambda e: e["outcome"].pop("caps"), "outcome"),
    "a detail": ("plain", "debate.concluded", 0, lambda e: e["outcome"].update(detail="well"), "outcome"),
    "a member that nobody knows": ("plain", *spoke(4, lambda e: e.update(extra=1)), "records"),
}


@pytest.mark.parametrize("what", FORGED)
def test_whoever_has_the_logs_key_is_still_found_out_by_what_does_not_follow(drafts: Drafts, what: str) -> None:
    name, kind, nth, edit, where = FORGED[what]
    draft = drafts[name]

    report = verify(draft.change(draft.find(kind, nth), edit).bundle())

    assert report.code == 1
    assert where in failed(report)
    assert not {"file", "chain", "tree", "signature", "witnesses"} & set(failed(report))


@pytest.mark.parametrize("what", FORGED)
def test_whoever_lacks_the_logs_key_fails_at_the_signature(drafts: Drafts, what: str) -> None:
    name, kind, nth, edit, _ = FORGED[what]
    draft = drafts[name]
    forged = draft.change(draft.find(kind, nth), edit)

    report = verify(forged.bundle(forged.tree(OTHER_KEY, ())))

    assert {"signature", "witnesses"} <= set(failed(report))


@pytest.mark.parametrize("what", FORGED)
def test_whoever_seals_nothing_again_fails_at_the_record(drafts: Drafts, what: str) -> None:
    name, kind, nth, edit, _ = FORGED[what]
    draft = drafts[name]
    n = draft.find(kind, nth)
    path = f"records/{n:04d}.payload.json"
    bundle = draft.bundle()

    report = verify(rehashed(bundle, {**bundle.files, path: draft.change(n, edit).payloads[n]}))

    assert failed(report)[0] == "records"
    assert (step(report, "records").file, step(report, "records").record) == (path, n)


SAID = {
    "why it has its format": "why it has this format",
    "a decider that is asked twice": "the options.swapped",
    "an easier consensus": "the options.thresholds.factual",
    "a panel that was not drawn": "the models of the seats.debater-",
    "a track record of nobody": "the models with a track record",
    "a larger panel than was asked for": "the options.maxRounds",
}


@pytest.mark.parametrize("what", SAID)
def test_what_does_not_follow_from_the_policy_is_named(drafts: Drafts, what: str) -> None:
    name, kind, nth, edit, where = FORGED[what]

    found = step(verify(drafts[name].change(drafts[name].find(kind, nth), edit).bundle()), where)

    assert found.detail.startswith(SAID[what])


def test_four_changes_have_four_findings(drafts: Drafts) -> None:
    draft, found = drafts["plain"], {}
    for what in ("one digit of a price", "one comma of a quote", "one input of the gate"):
        _, kind, nth, edit, where = FORGED[what]
        found[what] = step(verify(draft.change(draft.find(kind, nth), edit).bundle()), where)
    found["one prompt byte"] = step(verify(_with_prompt(draft, "house").bundle()), "requests")

    assert re.match(r"seat 'proposer'.price.output: expected \d+, found \d+", found["one digit of a price"].detail)
    assert found["one comma of a quote"].detail.startswith("the salted hash of the request of 1.critic.1:")
    assert found["one input of the gate"].detail.startswith("the decision.")
    assert found["one prompt byte"].detail.startswith("the salted hash of the request of 0.framing.1:")
    assert len({(one.name, one.record) for one in found.values()}) == 4


def _with_prompt(draft: Draft, prompt: str) -> Draft:
    """One byte of a prompt, with manifest, pins and configuration made right again."""
    changed = draft.copy()
    manifest = msgspec.json.decode(changed.prompts["manifest.json"])
    (listed,) = [entry for entry in manifest["entries"] if entry["id"] == prompt and entry["current"]]
    file = listed["file"]
    changed.prompts[file] = changed.prompts[file][:-2] + b"!\n"
    listed["sha256"] = sha(changed.prompts[file])
    changed.prompts["manifest.json"] = msgspec.json.encode(manifest)
    pin = sha(changed.prompts["manifest.json"])
    changed.configuration = encode_configuration(decode_policy(changed.policy), pin)

    def edit(entry: dict[str, Any]) -> None:
        entry.update(pin=pin, configurationHash=sha(changed.configuration))
        entry["pins"][prompt] = f"v{listed['version']}:{listed['sha256']}"

    return changed.change(STARTED, edit)


def test_a_prompt_that_was_changed_with_all_its_hashes_fails_the_requests(drafts: Drafts) -> None:
    assert failed(verify(_with_prompt(drafts["plain"], "critic").bundle())) == ["requests"]


def _with_policy(draft: Draft, edit: Edit, started: Edit = lambda _: None) -> Draft:
    """Another policy, with every hash of it made right again; the seed follows from the first record."""
    changed, content = draft.copy(), msgspec.json.decode(draft.policy)
    edit(content)
    policy = decode_policy(msgspec.json.encode(content))
    changed.policy = encode_policy(policy)
    digest = sha(changed.policy)
    pin = draft.entry(STARTED)["pin"]
    changed.configuration = encode_configuration(decode_policy(changed.policy), pin)
    changed = changed.change(1, lambda e: e["decision"].update(policyHash=digest))
    changed.reseal(lambda _, envelope: envelope.update(policy=digest))

    def begun(entry: dict[str, Any]) -> None:
        entry.update(policyHash=digest, priceHash=price_hash(decode_policy(changed.policy)))
        entry.update(configurationHash=sha(changed.configuration))
        started(entry)

    return changed.change(STARTED, begun)


def test_a_price_that_was_changed_in_the_policy_too_fails_at_gate_and_charges(drafts: Drafts) -> None:
    draft = drafts["plain"]
    alias = draft.entry(STARTED)["seats"][1]["model"]

    def dearer(policy: dict[str, Any]) -> None:
        policy["models"][alias]["prices"][0]["output"] += 100_000

    def begun(entry: dict[str, Any]) -> None:
        for plan in entry["seats"]:
            if plan["model"] == alias:
                plan["price"]["output"] += 100_000

    report = verify(_with_policy(draft, dearer, begun).bundle())

    assert {"gate", "charges"} <= set(failed(report))
    assert not {"policy", "seats", "complete"} & set(failed(report))


def test_a_policy_that_was_changed_alone_fails_by_its_hash(drafts: Drafts) -> None:
    bundle = drafts["plain"].bundle()

    other = bundle.files["policy.json"].replace(b'"0.9"', b'"0.8"')

    report = verify(rehashed(bundle, {**bundle.files, "policy.json": other}))

    assert failed(report)[0] == "policy"
    assert step(report, "policy").file == "policy.json"


def test_an_outcome_that_does_not_follow_is_named_to_the_member(drafts: Drafts) -> None:
    draft = drafts["plain"]
    n = draft.find("debate.concluded")

    found = step(verify(draft.change(n, FORGED["an outcome"][3]).bundle()), "outcome")

    assert (found.record, found.expected, found.found) == (n, "MODERATE", "HIGH")
    assert found.detail.startswith("the outcome.confidenceLevel: ")


# Records that were dropped, swapped, put in, or are another debate's.


def test_a_record_that_was_dropped_fails_whichever_it_is(drafts: Drafts) -> None:
    draft = drafts["plain"]

    for n in range(len(draft.leaves)):
        assert {"complete", "moves", "outcome"} & set(failed(verify(draft.drop(n).bundle()))), n


def test_two_records_that_changed_places_fail(drafts: Drafts) -> None:
    draft = drafts["plain"]

    for n in range(len(draft.leaves) - 1):
        assert {"complete", "moves", "context"} & set(failed(verify(draft.swap(n, n + 1).bundle()))), n


def test_a_record_that_is_there_twice_fails(drafts: Drafts) -> None:
    draft = drafts["plain"].copy()
    for part in (draft.leaves, draft.payloads, draft.salts):
        part.insert(5, part[4])

    report = verify(draft.reseal().bundle())

    assert step(report, "moves").record == 5


def test_attempts_that_nobody_can_have_made_are_not_played_again(drafts: Drafts) -> None:
    draft = drafts["retried"].copy()
    n, many = draft.find("attempt.failed"), 21
    asked, lost = draft.entry(n - 1), draft.entry(n)
    made = [entry | {"attempt": at} for at in range(1, many + 1) for entry in (asked, lost)]
    draft.payloads[n - 1 : n + 1] = [msgspec.json.encode(entry, order="sorted") for entry in made]
    draft.leaves[n - 1 : n + 1] = [draft.leaves[n]] * len(made)
    draft.salts[n - 1 : n + 1] = [draft.salts[n]] * len(made)
    draft = draft.change(STARTED, lambda entry: entry.update(attemptsPerTurn=10**6))

    found = step(verify(draft.bundle()), "moves")

    assert (found.state, found.record) == ("FAILED", n - 1 + 2 * (many - 1))
    assert "more than 20000 entries, or 20 attempts at one turn" in found.detail


def test_a_record_of_another_debate_fails(drafts: Drafts) -> None:
    draft, other = drafts["plain"].copy(), drafts["fabricated"]
    n = draft.find("turn.spoke", 1)
    draft.leaves[n], draft.payloads[n], draft.salts[n] = other.leaves[n], other.payloads[n], other.salts[n]

    report = verify(draft.reseal().bundle())

    assert step(report, "complete").state == "FAILED"
    assert step(report, "complete").record == n


def test_a_chain_that_was_not_sealed_again_names_the_record_behind_the_gap(drafts: Drafts) -> None:
    draft = drafts["plain"].copy()
    for part in (draft.leaves, draft.payloads, draft.salts):
        del part[4]

    report = verify(draft.bundle())

    assert (step(report, "chain").state, step(report, "chain").record) == ("FAILED", 4)


def test_a_debate_that_is_not_over_is_not_complete(drafts: Drafts) -> None:
    draft = drafts["plain"].copy()
    for part in (draft.leaves, draft.payloads, draft.salts):
        del part[9:]

    report = verify(draft.bundle())

    assert failed(report) == ["complete"]
    assert step(report, "outcome").state == "NOT CHECKABLE"


def test_a_conclusion_before_the_end_fails(drafts: Drafts) -> None:
    draft = drafts["plain"].copy()
    for part in (draft.leaves, draft.payloads, draft.salts):
        part.insert(9, part[-1])

    report = verify(draft.reseal().bundle())

    assert "moves" in failed(report)
    assert step(report, "moves").record == 9


ENVELOPES: dict[str, tuple[Edit, str]] = {
    "the tenant": (lambda e: e.update(tenant="other"), "complete"),
    "the debate": (lambda e: e.update(debate="0199c0de-0000-7000-8000-000000000001"), "complete"),
    "the log": (lambda e: e.update(log="localhost/default/2"), "complete"),
    "the policy": (lambda e: e.update(policy="00" * 32), "complete"),
    "the context": (lambda e: e.update(context="00" * 32), "complete"),
    "the number": (lambda e: e.update(n=e["n"] + 1), "chain"),
    "the record before": (lambda e: e.update(prev="00" * 32), "chain"),
}


@pytest.mark.parametrize("what", ENVELOPES)
def test_envelopes_that_disagree_with_each_other_fail(drafts: Drafts, what: str) -> None:
    edit, where = ENVELOPES[what]
    draft = drafts["plain"].copy().reseal(lambda n, envelope: edit(envelope) if n == 7 else None)

    report = verify(draft.bundle())

    assert where in failed(report)
    assert step(report, where).record in (7, 8)


def test_a_payload_of_a_later_version_cannot_be_checked_and_says_which(drafts: Drafts) -> None:
    draft = drafts["plain"].copy().reseal(lambda n, envelope: envelope.update(schema=2) if n == 7 else None)

    report = verify(draft.bundle())

    found = step(report, "records")
    assert (failed(report), found.state, report.code) == ([], "NOT CHECKABLE", 4)
    assert f"schema 2 of {draft.entry(7)['kind']!r} is not known to this build" in found.detail


@pytest.mark.parametrize("changes", [{"commitment": "0" * 64}, {"build": "none"}, {"policy": ""}])
def test_what_the_envelope_of_a_later_payload_says_is_compared(drafts: Drafts, changes: Mapping[str, str]) -> None:
    later = {"schema": 2, **changes}
    draft = drafts["plain"].copy().reseal(lambda n, envelope: envelope.update(later) if n == 7 else None)

    assert "records" in failed(verify(draft.bundle()))


@pytest.mark.parametrize("schema", [-1, 0])
def test_a_payload_of_a_version_that_no_build_had_fails(drafts: Drafts, schema: int) -> None:
    draft = drafts["plain"].copy().reseal(lambda n, envelope: envelope.update(schema=schema) if n == 7 else None)

    found = step(verify(draft.bundle()), "records")

    assert (found.state, found.record) == ("FAILED", 7)
    assert "expected from 1 to 1, found" in found.detail


@pytest.mark.parametrize(
    ("version", "state", "why"),
    [(2, "NOT CHECKABLE", "a context of version 2 is not known to this build"), (1, "FAILED", "another spelling")],
)
def test_a_context_says_its_version_from_the_second_on(drafts: Drafts, version: int, state: str, why: str) -> None:
    draft = drafts["plain"].copy()
    salt, content = draft.context[0], draft.context[1][:-1] + b',"v":%d}' % version
    draft.context = (salt, content)

    report = verify(draft.reseal(lambda _, envelope: envelope.update(context=commit(salt, content))).bundle())

    found = step(report, "context")
    assert (found.state, why in found.detail) == (state, True), found


UNSAID: dict[str, Edit] = {
    "no actor": lambda e: e["actor"].update(id=""),
    "no role": lambda e: e["actor"].update(role=""),
    "a time that is none": lambda e: e.update(occurred="yesterday"),
    "a day that no calendar has": lambda e: e.update(recorded="2026-02-31T09:00:00.000Z"),
    "an hour that no day has": lambda e: e.update(occurred="2026-02-28T25:00:00.000Z"),
    "a time in another zone": lambda e: e.update(recorded="2026-11-21T10:00:00.000+02:00"),
    "no build": lambda e: e.update(build=""),
    "no policy": lambda e: e.update(policy=""),
    "no context": lambda e: e.update(context=""),
    "a debate by another spelling": lambda e: e.update(debate=e["debate"].upper()),
    "a debate that is none": lambda e: e.update(debate="contract"),
    "a tenant that is not its log's": lambda e: e.update(tenant="other"),
}


@pytest.mark.parametrize("what", UNSAID)
def test_every_record_says_who_when_and_by_what(drafts: Drafts, what: str) -> None:
    def everywhere(_: int, envelope: dict[str, Any]) -> None:
        UNSAID[what](envelope)

    draft = drafts["declined"].copy().reseal(everywhere)

    assert failed(verify(draft.bundle()))[0] == "records"
    assert "records" in failed(verify_export(iter(export([draft])), PINNED))


OFFICER = {"id": "Jane Doe, CRO", "kind": "person", "role": "approver", "via": "keyboard"}
ACTORS: dict[str, tuple[str, int, dict[str, str]]] = {
    "a person who replies": ("turn.spoke", 1, OFFICER),
    "a person who concludes": ("debate.concluded", 0, OFFICER),
    "a person who makes a check": ("check.found", 0, OFFICER),
    "a caller who decides": ("gate.decided", 0, OFFICER),
    "a caller who begins": ("debate.started", 0, OFFICER),
    "a worker of another role": ("turn.asked", 0, {"role": "operator"}),
    "a worker that nothing authenticates": ("turn.asked", 0, {"via": "none"}),
    "a worker that is a person": ("turn.asked", 0, {"kind": "person"}),
}


@pytest.mark.parametrize("what", ACTORS)
def test_a_record_has_an_actor_who_may_write_it(drafts: Drafts, what: str) -> None:
    kind, nth, actor = ACTORS[what]
    at = drafts["plain"].find(kind, nth)
    draft = drafts["plain"].copy().reseal(lambda n, e: e["actor"].update(actor) if n == at else None)

    found = step(verify(draft.bundle()), "complete")
    lines = verify_export(iter(export([draft])), PINNED)

    assert (found.state, found.record) == ("FAILED", at)
    assert failed(lines)


def test_an_abort_may_be_that_of_a_caller_and_what_is_not_one_may_not(drafts: Drafts) -> None:
    at = drafts["aborted"].find("debate.stopped")

    def by(actor: dict[str, str]) -> list[str]:
        draft = drafts["aborted"].copy().reseal(lambda n, e: e["actor"].update(actor) if n == at else None)
        return failed(verify(draft.bundle()))

    assert by(OFFICER) == []
    assert "complete" in by({**OFFICER, "role": "worker"})
    late = drafts["aborted"].change(at, lambda e: e.update(by="deadline"))
    late.reseal(lambda n, e: e["actor"].update(OFFICER) if n == at else None)
    assert "complete" in failed(verify(late.bundle()))


def test_the_case_is_not_brought_by_what_runs_debates(drafts: Drafts) -> None:
    def everywhere(n: int, envelope: dict[str, Any]) -> None:
        if n < 3:
            envelope["actor"] |= {"role": "worker"}

    assert "complete" in failed(verify(drafts["plain"].copy().reseal(everywhere).bundle()))


def test_one_build_takes_a_case_and_opens_its_debate(drafts: Drafts) -> None:
    draft = drafts["plain"].copy().reseal(lambda n, e: e.update(build="11" * 32) if n == 1 else None)

    assert "complete" in failed(verify(draft.bundle()))


def test_a_kind_that_its_payload_does_not_have_fails(drafts: Drafts) -> None:
    draft = drafts["plain"].copy()
    n = draft.find("turn.asked")
    draft.leaves[n] = draft.leaves[n].replace(b'"kind":"turn.asked"', b'"kind":"turn.spoke"')

    assert "complete" in failed(verify(draft.bundle()))


def test_prices_that_were_not_in_force_on_the_day_of_the_case_fail(drafts: Drafts) -> None:
    draft = drafts["plain"].copy().reseal(lambda _, envelope: envelope.update(occurred="2025-12-31T23:59:59.000Z"))

    assert "seats" in failed(verify(draft.bundle()))


def test_texts_of_documents_and_of_the_context_fail_by_their_commitments(drafts: Drafts) -> None:
    bundle = drafts["security"].bundle()
    for path in ("documents/0001.txt", "context.json"):
        content = bundle.files[path]

        report = verify(rehashed(bundle, {**bundle.files, path: content[:-1] + b"?"}))

        assert "context" in failed(report)
        assert step(report, "context").file == path


def test_documents_in_each_others_places_fail(drafts: Drafts) -> None:
    draft = drafts["plain"].copy()
    id_, title, text, salt = draft.documents[0]
    draft.documents[0] = (id_, f"{title} as amended", text, salt)

    assert "context" in failed(verify(draft.bundle()))


def test_records_that_lie_in_the_log_in_another_order_fail(drafts: Drafts) -> None:
    draft = drafts["plain"]
    leaves = draft.tree().leaves
    i = leaves.index(draft.leaves[7])
    leaves[i], leaves[i + 1] = leaves[i + 1], leaves[i]

    report = verify(draft.bundle(tree(leaves, draft.envelope.log, LOG_KEY, WITNESSES[:1])))

    assert failed(report) == ["tree", "times"]
    assert step(report, "tree").record == 8


def test_nobody_is_asked_after_a_vendor_billed_above_what_was_held(drafts: Drafts) -> None:
    draft = drafts["plain"]
    asked, said = draft.entry(draft.find("turn.asked")), draft.find("turn.spoke")
    plan = msgspec.convert(draft.entry(STARTED)["seats"][0], SeatPlan)
    usage = {"input_tokens": asked["inputTokens"], "output_tokens": 50_000}
    charge = money.charge(money.normalise("offline", usage), asked["held"], plan.price)

    billed = draft.change(said, lambda e: e.update(usage=usage, charge=msgspec.to_builtins(charge)))

    report, flagged = verify(billed.bundle()), verify(billed.change(-1, flag_overrun).bundle())

    assert charge.excess > 0
    assert failed(report) == ["money", "outcome"]
    assert failed(flagged) == ["money"]
    assert step(flagged, "charges").state == step(flagged, "outcome").state == "OK"
    assert step(flagged, "money").detail.startswith("after a charge above its reservation")


def flag_overrun(entry: dict[str, Any]) -> None:
    """Change the outcome of a debate without flags to that of one with an overrun."""
    end = entry["outcome"]
    assert "flags" not in end
    reasons = [*end["humanReview"].get("reasons", ()), "providerOverrun"]
    end.update(flags=["providerOverrun"], humanReview={"required": True, "reasons": reasons})


def test_an_attempt_whose_worker_died_is_never_charged_nothing(drafts: Drafts) -> None:
    draft = drafts["retried"]

    report = verify(draft.change(draft.find("attempt.failed"), lambda e: e.update(reason="lost")).bundle())

    assert "charges" in failed(report)


def test_seats_nearer_to_each_other_than_policy_requires_fail(drafts: Drafts) -> None:
    def strict(policy: dict[str, Any]) -> None:
        policy["debate"]["diversity"] = "crossFamily"
        for model in policy["models"].values():
            model["family"] = "oak"

    def begun(entry: dict[str, Any]) -> None:
        for plan in entry["seats"]:
            plan["family"] = "oak"
        plans = msgspec.convert(entry["seats"], tuple[SeatPlan, ...])
        entry["pairs"] = msgspec.to_builtins(seating.pairs(plans))
        entry["diversity"] = seating.diversity(plans)

    found = step(verify(_with_policy(drafts["plain"], strict, begun).bundle()), "seats")

    assert found.state == "FAILED"
    assert "policy requires models of different families" in found.detail


# Signatures and witnesses.


def test_another_key_is_not_believed_even_if_it_has_the_same_name(drafts: Drafts) -> None:
    bundle = drafts["plain"].bundle()

    report = verify(bundle, replace(PINNED, keys=(OTHER_KEY.public,)))

    assert failed(report) == ["signature", "times"]
    assert OTHER_KEY.public.encode() in str(step(report, "signature").expected)


def test_a_key_that_is_pinned_for_something_else_signs_no_head(drafts: Drafts) -> None:
    draft = drafts["plain"]
    approver = SigningKey.from_seed("model-risk", bytes([7]) * 32)
    trust = replace(PINNED, keys=(approver.public,))

    report = verify(draft.bundle(draft.tree(approver)), trust)

    assert failed(report) == ["signature", "times"]


def test_a_head_of_another_log_of_the_same_key_is_not_that_of_the_records(drafts: Drafts) -> None:
    draft = drafts["plain"]
    other = draft.copy().reseal(lambda _, envelope: envelope.update(log="localhost/other/1"))
    bundle, theirs = draft.bundle(), other.tree()

    report = verify(rehashed(bundle, {**bundle.files, "checkpoints/0001.txt": theirs.note}))

    assert {"tree", "signature"} <= set(failed(report))


@pytest.mark.parametrize(
    ("signed_by", "pinned", "quorum", "state"),
    [
        ((0,), (0,), 1, "OK"),
        ((0, 1), (0, 1), 2, "OK"),
        ((0,), (0, 1), 1, "OK"),
        ((0,), (0, 1), 2, "FAILED"),
        ((), (0,), 1, "FAILED"),
        ((1,), (0,), 1, "FAILED"),
        ((0,), (), 1, "NOT CHECKABLE"),
    ],
)
def test_a_quorum_is_of_pinned_witnesses(
    drafts: Drafts, signed_by: tuple[int, ...], pinned: tuple[int, ...], quorum: int, state: str
) -> None:
    draft = drafts["plain"]
    trust = replace(PINNED, witnesses=tuple(WITNESSES[n].public for n in pinned), quorum=quorum)

    report = verify(draft.bundle(draft.tree(LOG_KEY, [WITNESSES[n] for n in signed_by])), trust)

    assert step(report, "witnesses").state == state
    assert ("UNWITNESSED" in step(report, "witnesses").detail) == (not pinned)
    assert report.code == {"OK": 0, "FAILED": 1, "NOT CHECKABLE": 4}[state]


def test_a_wrong_line_of_a_pinned_witness_fails(drafts: Drafts) -> None:
    draft = drafts["plain"]
    own, other = draft.tree(), draft.drop(7).tree()
    line = other.note.decode().splitlines(keepends=True)[-1]
    note = "".join([*own.note.decode().splitlines(keepends=True)[:-1], line]).encode()

    report = verify(draft.bundle(own._replace(note=note)))

    assert failed(report) == ["witnesses", "lines"]


def test_without_a_key_nothing_is_verified_unless_that_is_allowed(drafts: Drafts) -> None:
    bundle = drafts["plain"].bundle()

    nobody, allowed = verify(bundle, Trust()), verify(bundle, Trust(allow_unsigned=True, allow_unwitnessed=True))

    assert (nobody.code, uncheckable(nobody)) == (4, ["signature", "witnesses", "lines", "times"])
    assert (allowed.code, uncheckable(allowed)) == (0, ["signature", "witnesses", "lines", "times"])
    assert verify(bundle, Trust(allow_unsigned=True)).code == 4
    assert verify(bundle, replace(PINNED, witnesses=(), allow_unsigned=True)).code == 4


@pytest.mark.parametrize("trust", [PINNED, Trust(), Trust(allow_unsigned=True, allow_unwitnessed=True)])
@pytest.mark.parametrize("part", ["proofs/", "checkpoints/"])
def test_there_is_no_bundle_without_proofs_or_without_a_head_whatever_is_pinned(
    drafts: Drafts, trust: Trust, part: str
) -> None:
    draft = drafts["plain"].copy()
    draft.absent = (part,)

    assert failed(verify(draft.bundle(), trust))[0] == "file"


def test_a_genuine_head_beside_records_that_it_does_not_hold_fails_at_the_tree(drafts: Drafts) -> None:
    draft = drafts["plain"]
    forged = draft.change(draft.find("turn.spoke", 4), lambda entry: entry["reply"].update(synthesis="It is capped."))
    bundle = forged.bundle()

    report = verify(rehashed(bundle, {**bundle.files, "checkpoints/0001.txt": draft.tree().note}))

    assert (report.code, failed(report)) == (1, ["tree", "lines", "times"])


# What is absent, and what belongs to other versions.

ABSENT = {
    "context.json": {"context"},
    "context.salt": {"context"},
    "documents/": {"context", "gate", "requests", "checks"},
    "prompts/": {"prompts", "requests"},
    "policy.json": {"policy", "times", "seats", "approval", "gate"},
    "configuration.json": {"policy"},
}


@pytest.mark.parametrize("part", ABSENT)
def test_what_the_records_name_is_never_absent(drafts: Drafts, part: str) -> None:
    draft = drafts["plain"].copy()
    draft.absent = (part,)

    report = verify(draft.bundle())

    assert (report.code, failed(report)) == (1, ["parts"])
    assert str(step(report, "parts").expected).startswith(part)
    assert set(uncheckable(report)) == ABSENT[part]


@pytest.mark.parametrize("name", ["plain", "declined"])
@pytest.mark.parametrize(
    "path",
    [
        *("approval.txt", "heads/0001.leaf.json", "heads/0099.salt", "documents/0009.txt", "prompts/board.md"),
        *("schema/approved.json", "checkpoints/0002.txt", "records/0500.salt"),
    ],
)
def test_nothing_is_there_that_the_records_do_not_name(drafts: Drafts, name: str, path: str) -> None:
    bundle = drafts[name].bundle()

    report = verify(rehashed(bundle, {**bundle.files, path: b"Approved by the board."}))

    assert {"file", "parts"} & set(failed(report))
    assert path in {one.file for one in report.failed}


@pytest.mark.parametrize("path", ["configuration.json", "prompts/manifest.json", "prompts/critic.v1.md"])
def test_a_declined_case_has_nothing_that_only_a_debate_has(drafts: Drafts, path: str) -> None:
    bundle = drafts["declined"].bundle()

    report = verify(rehashed(bundle, {**bundle.files, path: drafts["plain"].bundle().files[path]}))

    assert (failed(report), step(report, "parts").file) == (["parts"], path)


def test_what_was_not_kept_for_records_of_the_first_version_is_a_gap(drafts: Drafts) -> None:
    draft, prev = drafts["declined"].copy(), b""
    draft.absent = ("policy.json", "context.")
    for n, leaf in enumerate(draft.leaves):
        content = msgspec.json.decode(leaf) | {"v": 1, "prev": prev.hex()}
        content |= {"at": content["occurred"], "actor": content["actor"]["id"]}
        members = ("v", "log", "tenant", "kind", "schema", "debate", "n", "prev", "at", "actor", "commitment")
        draft.leaves[n] = msgspec.json.encode({name: content[name] for name in members})
        prev = leaf_hash(draft.leaves[n])

    report = verify(draft.bundle())

    assert (report.code, failed(report)) == (4, [])
    assert "policy" in uncheckable(report)


def test_a_document_that_is_listed_without_its_text_fails(drafts: Drafts) -> None:
    bundle = drafts["plain"].bundle()
    (listed,) = decode_index(bundle.files["documents/index.json"])
    files = {path: content for path, content in bundle.files.items() if path != listed.file}
    files["documents/index.json"] = encode_index((replace(listed, file=None, salt=None),))

    report = verify(rehashed(bundle, files))

    assert (report.code, failed(report)) == (1, ["context", "parts"])


def test_a_missing_payload_is_a_failure_whatever_the_manifest_says(drafts: Drafts) -> None:
    bundle = drafts["plain"].bundle()
    files = {path: content for path, content in bundle.files.items() if path != "records/0004.payload.json"}

    report = verify(rehashed(bundle, files))

    assert {"file", "parts"} <= set(failed(report))


def test_a_debate_of_a_format_that_has_no_rules_here_says_so(drafts: Drafts) -> None:
    def older(entry: dict[str, Any]) -> None:
        entry["format"] = entry["options"]["format"] = "adversarial/0"

    report = verify(drafts["plain"].change(STARTED, older).bundle())

    assert (report.code, failed(report)) == (4, [])
    assert "'adversarial/0'" in step(report, "moves").detail
    assert "adversarial/1" in step(report, "moves").detail
    assert {"moves", "requests", "checks", "charges", "money", "outcome"} <= set(uncheckable(report))


def test_a_version_of_the_envelope_that_is_not_known_here_says_so(drafts: Drafts) -> None:
    draft = drafts["plain"].copy()
    draft.leaves[-1] = draft.leaves[-1].replace(b'{"v":2,', b'{"v":3,')

    report = verify(draft.bundle())

    assert (report.code, failed(report)) == (4, [])
    assert "version 3" in step(report, "records").detail


def test_checks_of_another_engine_are_stated_and_not_recomputed(drafts: Drafts) -> None:
    draft = drafts["plain"]
    n = draft.find("check.found", 2)

    report = verify(draft.change(n, lambda e: e.update(engine="citations/9+list-1")).bundle())

    assert (report.code, failed(report)) == (4, [])
    assert "citations/9+list-1" in step(report, "checks").detail


@pytest.mark.parametrize("name", ["citations/1", "citations/3+other-00", "judgement/1", "citations"])
def test_checks_of_an_engine_that_no_build_ever_had_fail(drafts: Drafts, name: str) -> None:
    draft = drafts["plain"]
    n = draft.find("check.found", 2)

    report = verify(draft.change(n, lambda e: e.update(engine=name)).bundle())

    assert (report.code, failed(report)) == (1, ["checks"])
    assert f"found {name}" in step(report, "checks").detail


def test_without_a_tokenizer_requests_have_their_hash_and_no_count(drafts: Drafts) -> None:
    report = verify(drafts["plain"].bundle(), tools=replace(TOOLS, ready=lambda _: False))

    assert failed(report) == []
    assert "5 requests have their hash" in step(report, "requests").detail


# Who approved.


@pytest.mark.parametrize(
    ("signer", "hashed", "state"),
    [(7, True, "NOT CHECKABLE"), (8, True, "FAILED"), (7, False, "FAILED")],
)
def test_an_approval_is_the_policys_key_over_the_configuration(
    drafts: Drafts, signer: int, hashed: bool, state: str
) -> None:
    approver = SigningKey.from_seed("model-risk", bytes([7]) * 32)
    key = SigningKey.from_seed("model-risk", bytes([signer]) * 32)
    named = _with_policy(drafts["plain"], lambda p: p["approval"].update(key=approver.public.encode()))
    digest = sha(named.configuration) if hashed else "00" * 32
    note = encode_approval(Approval(digest, "2026-11-21", "2026-11-21T09:00:00Z"), key)

    approved = named.change(STARTED, lambda e: e.update(approvedBy="model-risk", approval=note.decode()))
    approved.approval = note

    found = step(verify(approved.bundle()), "approval")
    assert found.state == state
    if state == "NOT CHECKABLE":
        pinned = step(verify(approved.bundle(), replace(PINNED, keys=(*PINNED.keys, approver.public))), "approval")
        allowed = step(verify(approved.bundle(), replace(PINNED, allow_self_approved=True)), "approval")
        assert found.detail.startswith("SELF-APPROVED: approved by model-risk at 2026-11-21T09:00:00Z")
        assert "pin it with --key" in found.detail
        assert (found.allowed, allowed.allowed) == (False, True)
        assert (pinned.state, pinned.detail[-13:]) == ("OK", ", pinned here")


def test_the_key_of_the_log_approves_nothing(drafts: Drafts) -> None:
    named = _with_policy(drafts["plain"], lambda p: p["approval"].update(key=LOG_KEY.public.encode()))
    note = encode_approval(Approval(sha(named.configuration), "2026-11-21", "2026-11-21T09:00:00Z"), LOG_KEY)
    approved = named.change(STARTED, lambda e: e.update(approvedBy="localhost", approval=note.decode()))
    approved.approval = note

    found = step(verify(approved.bundle()), "approval")

    assert (found.state, found.allowed) == ("NOT CHECKABLE", False)
    assert "also signs this log" in found.detail


def test_a_policy_that_requires_an_approval_fails_a_debate_without_one(drafts: Drafts) -> None:
    required = _with_policy(drafts["plain"], lambda p: p["approval"].update(required=True))

    assert "approval" in failed(verify(required.bundle()))
    assert (
        step(verify(drafts["plain"].bundle()), "approval").detail == "no approval: this configuration was not approved"
    )
