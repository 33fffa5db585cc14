"""The vectors of docs/format for what is computed again: the gate, tokens, usage, charges, reservations, the ledger.

Each case has all that the rule reads, as the records and the policy have it, and what the rule gives.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any, assert_never

import msgspec
from msgspec.structs import replace

from service import prompts
from service.audit.bundle import unpack
from service.checks import given
from service.checks.given import given_to
from service.debate.entries import (
    AttemptFailed,
    CaseReceived,
    Charge,
    CheckFound,
    DebateStarted,
    Entry,
    EvaluationItem,
    TurnAsked,
    TurnSpoke,
    decode,
)
from service.debate.facts import Facts
from service.debate.kernel import decide
from service.debate.model import Ask, Force, Measure, PriceRow, SeatPlan
from service.debate.model import Case as DebateCase
from service.debate.turns import TurnId, turn_id
from service.errors import InvalidCase
from service.gate import GATE, Declared
from service.money import RECKONING, Counted, Usage
from service.policy import GatePolicy
from service.prompts.layouts import LAYOUTS, LayoutFile, Placeholders
from service.prompts.request import encode
from service.verify.opened_bundle import OpenedBundle
from tests.fixtures.sealing import BUNDLES
from tests.vectors.goldens import CASES, gates
from tests.vectors.goldens.usages import COUNTED, DEAR, NONE, Told, plans
from tests.vectors.record import FOLDER as DEBATES

Case = dict[str, Any]
TEXTS = ("", "a", "four", "five5", "é😀", "two words and more of them " * 9)
SHOWN_OF_A_PLAN = ("allowance", "safetyPerMille", "overheadTokens", "parameters", "price", "tokenizer")
LEDGERS = ("plain", "retried", "aborted", "late-reply")
FINDINGS_EACH = 3
TURN = turn_id(1, "critic")
PROMPTS = Path(prompts.__file__).parent


def plain(value: object) -> Any:
    """A value as its JSON has it."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _plan(plan: SeatPlan) -> Case:
    return {name: value for name, value in plain(plan).items() if name in SHOWN_OF_A_PLAN}


def tokens() -> Iterator[Case]:
    """Requests of several texts under the tokenizer that needs no file."""
    for count in range(len(TEXTS) + 1):
        texts = list(TEXTS[:count])
        yield {"texts": texts, "tokenizer": "bytes/4", "tokens": RECKONING.request_tokens(texts, "bytes/4")}


def _told() -> Iterator[Told]:
    for line in (CASES / "usage.jsonl").read_bytes().splitlines():
        yield msgspec.json.decode(line, type=Told)


def usages() -> Iterator[Case]:
    """What vendors reported, and the usage that is read of it; null where it cannot be true."""
    for told in _told():
        for reasoning in ("inside", "outside"):
            usage = RECKONING.normalise(told.wire, told.usage, reasoning)
            yield {"wire": told.wire, "reasoning": reasoning, "reported": told.usage, "usage": plain(usage)}


def _counted(counted: Counted) -> Case:
    return {"request": counted.request, "reply": counted.reply, "floorPerMille": counted.floor_per_mille}


def _charge(usage: Usage | None, held: int, price: PriceRow, counted: Counted) -> Case:
    charge = RECKONING.charge(usage, held, price, counted)
    given = {"usage": plain(usage), "held": held, "price": plain(price), "counted": _counted(counted)}
    return {**given, "charge": plain(charge)}


def charges() -> Iterator[Case]:
    """Charges by usage, reservation, price row, and what was counted of request and reply."""
    for told in list(_told())[:24]:
        usage = RECKONING.normalise(told.wire, told.usage, told.reasoning)
        for held in (5_000_000, 10):
            yield _charge(usage, held, told.price, NONE)
    for counted in (NONE, *COUNTED):
        for usage in (Usage(100, 50), Usage(40, 9, 30, 20, 41, 10), Usage(3_000, 50, tier="priority")):
            for held in (1, 777_777):
                yield _charge(usage, held, DEAR, counted)
    for usage in (Usage(1, 1, tier="priority"), Usage(1, 1, tier="geo:us"), Usage(1, 1, tier="none.such")):
        yield _charge(usage, 777, DEAR, NONE)
    yield _charge(Usage(1, 1, cache_write_1h=1), 777, replace(DEAR, cache_write_1h=None), NONE)
    yield _charge(None, 777, DEAR, NONE)


def reservations() -> Iterator[Case]:
    """The worst case of an attempt with so many tokens, by the plan of its seat."""
    for plan in plans():
        for count in (0, 1, 999, 1_001, 2_000, 2_001, 50_000):
            yield {"inputTokens": count, "plan": _plan(plan), "held": RECKONING.worst_case(count, plan)}


def closings() -> Iterator[Case]:
    """The most that a closing turn can cost while replies are missing that it will see."""
    for plan in list(plans())[:3]:
        for allowances in ([], [1], [333, 1_800]):
            for labels in ([], ["Model A"], ["x" * 128, "x" * 129, "x" * 1_000]):
                cost = RECKONING.closing_cost(400, allowances, labels, plan)
                yield {"tokens": 400, "allowances": allowances, "labels": labels, "plan": _plan(plan), "cost": cost}


def _shown(entry: Entry) -> Case | None:
    """What the ledger reads of an entry, ``None`` where that is nothing."""
    match entry:
        case DebateStarted():
            return {"kind": "debate.started", "ceiling": entry.ceiling}
        case TurnAsked():
            return {"kind": "turn.asked", "turn": entry.turn, "held": entry.held}
        case TurnSpoke() | AttemptFailed():
            kind = "turn.spoke" if isinstance(entry, TurnSpoke) else "attempt.failed"
            return {"kind": kind, "turn": entry.turn, "charge": plain(entry.charge)}
        case _:
            return None


def ledgers() -> Iterator[Case]:
    """The ledger behind each entry of debates that it reads; the last one has a charge above its reservation."""
    for name in LEDGERS:
        lines = (DEBATES / f"{name}.jsonl").read_bytes().splitlines()
        yield _ledger([msgspec.json.decode(line, type=Entry) for line in lines])
    yield _ledger([TurnAsked(TURN, 1, "m", "", "", 7, 9, ""), _over(TURN)])


def _over(turn: TurnId) -> Entry:
    return AttemptFailed(turn, 1, "refused", "", Charge(12, "usage", 5, excess=3))


def _ledger(entries: list[Entry]) -> Case:
    ledger, shown, after = RECKONING.ledger(0), [], []
    for entry in entries:
        ledger, read = ledger.add(entry), _shown(entry)
        if read is not None:
            shown.append(read)
            held = sum(ledger.held.values())
            after.append({"spent": ledger.spent, "excess": ledger.excess, "held": held, "left": ledger.remaining})
    return {"entries": shown, "after": after}


POLICIES = (
    gates.POLICY,
    replace(gates.POLICY, always=(), never=(), thresholds={}, unknown_task_type="refuse"),
    replace(gates.POLICY, unknown_task_type="as:contract", confidence_floor=Decimal(0), may_force=()),
)


def decisions() -> Iterator[Case]:
    """Decisions of the gate: every rule without its words, or ``refused``."""
    for n, (task, confidence, downside, more) in enumerate(gates.cases()):
        score = None if confidence is None else Decimal(str(confidence))
        if n % 4 == 0 or more or score is None:
            yield _decided(POLICIES[0], task, score, downside, more)
    for policy in POLICIES[1:]:
        for task, more in (
            ("contract", {}),
            ("whatever", {}),
            ("contrast", {}),
            ("contract", {"asked_task_type": "whatever"}),
            ("security", {"asked_task_type": "whatever"}),
            ("other", {"materiality": "high"}),
            ("contract", {"force": Force(True, "The board asks."), "role": "operator"}),
            (" contract", {}),
            ("ca\nb", {}),
        ):
            yield _decided(policy, task, Decimal("0.95"), Decimal(1), more)


def _decided(policy: GatePolicy, task: str, score: Decimal | None, downside: Decimal | None, more: Case) -> Case:
    declared = Declared(**more)
    case = {
        "taskType": task,
        "confidenceScore": None if score is None else str(score),
        "estimatedDownside": None if downside is None else str(downside),
        "contested": declared.contested,
        "singleAgentAnswer": declared.single_agent_answer,
        "force": plain(declared.force),
        "materiality": declared.materiality,
        "askedTaskType": declared.asked_task_type,
    }
    shown = {name: value for name, value in case.items() if value is not None}
    given: Case = {"policy": plain(policy), "case": shown, "role": declared.role, "expectedCost": 10_000}
    try:
        found = plain(GATE(task, score, downside, policy=policy, expected_cost=10_000, declared=declared))
    except InvalidCase as refused:
        return {**given, "refused": refused.detail}
    found["rules"] = [{name: rule[name] for name in ("rule", "holds", "effect")} for rule in found["rules"]]
    found.pop("wouldChange", None)
    return {**given, "decision": found}


def requests() -> Iterator[Case]:
    """Requests of the debates in layout.v1.json, by their names and the numbers of the entries that ask them."""
    held = msgspec.json.decode((PROMPTS / "layout.v1.json").read_bytes(), type=LayoutFile)
    formats = set[str]()
    for debate in held.debates:
        entries = [decode(bytes(entry), 1) for entry in debate.entries]
        if (form := debate.name.partition("/")[0]) in formats:
            continue
        formats.add(form)
        asked = [n for n, entry in enumerate(entries) if isinstance(entry, TurnAsked)]
        for n in (asked[0], asked[-1]):
            body = _request(held.layout, debate.sources, entries, n)
            yield {
                "debate": debate.name,
                "entry": n,
                "seed": _seed(entries),
                "request": base64.b64encode(body).decode(),
                "sha256": sha256(body).hexdigest(),
            }


def seeds() -> Iterator[Case]:
    """Seeds of debates: by the leaf hash of record 0, or by the plan of the evaluation whose item it is."""
    leaf, hashes = "a1" * 32, {"plan": "0e" * 32, "set": "0f" * 32}
    yield {"leafHash": leaf, "evaluation": None, "seed": leaf, "seedFrom": None}
    yield {"leafHash": leaf, "evaluation": None, "seed": leaf, "seedFrom": "plan", "refused": "of no evaluation"}
    for item, arm, repeat in (("clause-7", "debate", 1), ("clause-7", "debate", 11), ("Prüfung 1", "vote", 2)):
        run = EvaluationItem("e1", item=item, arm=arm, repeat=repeat, **hashes)
        yield {"leafHash": leaf, "evaluation": plain(run), "seed": run.seed, "seedFrom": "plan"}
        yield {"leafHash": leaf, "evaluation": plain(run), "seed": leaf, "seedFrom": None, "refused": "not the plan's"}


def _seed(entries: list[Entry]) -> str:
    return next(entry.seed for entry in entries if isinstance(entry, DebateStarted))


def _request(layout: str, sources: Mapping[str, str], entries: list[Entry], n: int) -> bytes:
    """The request that an entry asks, with placeholders for the prompts as the layout's file has them."""
    facts, received, asked = Facts.of(entries[:n]), entries[0], entries[n]
    move = decide(facts)
    assert isinstance(received, CaseReceived)
    assert isinstance(asked, TurnAsked)
    assert isinstance(move, Ask)
    assert facts.started is not None
    turn = next(turn for turn in move.turns if turn.id == asked.turn)
    plan = facts.started.seat(turn.seat).of(asked.model)
    return encode(LAYOUTS[layout](Placeholders(), received.case, sources, facts, turn, plan))


def findings() -> Iterator[Case]:
    """For each engine and kind the first findings of the recorded bundles, with all that the engine was given."""
    count = dict[tuple[str, str], int]()
    for path in sorted(BUNDLES.glob("*.zip")):
        evidence = OpenedBundle(unpack(path.read_bytes()))
        for n, entry, facts in evidence.debate.walk():
            if not isinstance(entry, CheckFound):
                continue
            name = entry.engine, str(entry.finding.__struct_config__.tag)
            count[name] = count.get(name, 0) + 1
            if count[name] <= FINDINGS_EACH:
                given = _given(evidence.debate.case, facts, entry)
                shown = {"bundle": path.name, "record": n, "check": entry.check, "engine": entry.engine}
                yield {**shown, "given": given, "finding": plain(entry.finding)}


def _given(case: DebateCase, facts: Facts, entry: CheckFound) -> Any:
    """What an engine is given: documents by id, replies and the rest whole."""
    move = decide(facts)
    check = next(check for check in move.checks if check.id == entry.check) if isinstance(move, Measure) else None
    assert check is not None
    found: Any
    match check.kind:
        case "citations":
            names = given_to(entry.engine, given.CITATIONS)(case, check.over[0])
            return {"documents": names, "replies": {turn: plain(facts.said[turn]) for turn in check.over}}
        case "injection":
            read = given_to(entry.engine, given.INJECTIONS)(case, facts, check.over)
            return {"before": read.before, "documents": read.documents, "after": read.after}
        case "critique":
            found = given_to(entry.engine, given.CRITIQUES)(case, facts, check.over)
        case "voices":
            found = given_to(entry.engine, given.VOICES)(case, facts, check.over)
        case "texts":
            found = given_to(entry.engine, given.TEXTS)(case, facts, check.over)
        case "convergence":
            found = given_to(entry.engine, given.OVERLAPS)(case, facts, check.over)
        case "consensus" | "accuracy" | "synthesis":
            return {"documents": [d.id for d in case.documents], "turns": check.over}
        case _:
            assert_never(check.kind)
    return _named(found)


def _named(value: Any) -> Any:
    """A value as JSON, named tuples by their members."""
    if hasattr(value, "_asdict"):
        return {name: _named(member) for name, member in value._asdict().items()}
    if isinstance(value, Mapping):
        return {name: _named(member) for name, member in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [_named(member) for member in value]
    return plain(value)


VECTORS = (tokens, usages, charges, reservations, closings, ledgers, decisions, requests, seeds, findings)
