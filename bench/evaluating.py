"""What an evaluation costs beyond its debates, its resume, and its report.

overhead    the CPU of an evaluation from its registration to its result, against the same debates submitted as
            ordinary cases and read by their caller; other documents of one length, by turns in the order A B B A.
            As many are open at once in both, and both draw on a day and a month
resume      a feeder that knows nothing yet, on an evaluation of 1,000 items of which one is left: until it is asked
reports     a result of 100 items in three arms, and one of 1,000, written in each form
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple
from uuid import uuid4

import msgspec
import psycopg
import uvloop
from msgspec.structs import replace

from bench.cpu import Postgres
from bench.documents import document
from bench.figures import Measured, Turn
from bench.in_process import LENGTH, Instant
from bench.servers import Server, server
from service.audit.evaluation_events import (
    ArmQuote,
    EvaluationEntry,
    EvaluationProven,
    EvaluationRegistered,
    ItemAsked,
    ItemScored,
    SetAsked,
)
from service.audit.evaluation_rules import SHIPPED_LIMITS, EvaluationRules
from service.evaluation.plan.model import Arm, Comparison, Plan, PlannedSet, plan_hash, plan_members
from service.evaluation.run.progress import Progress
from service.evaluation.run.results import conclusion_of
from service.evaluation.run.units import Unit
from service.evaluation.scoring import QuestionScore
from service.evaluation.scoring.result import result_of
from service.evaluation.sets.files import load_shipped
from service.intake.request import CaseRequest
from service.policy import Budget, Budgets, EvaluationBudget, EvaluationBudgets, Policy
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.report.evaluation import encode_json, write
from service.reviews.batch_callers import bringer_of
from service.reviews.evaluation_cases import Asking, case_of
from service.reviews.evaluation_feed import TOGETHER
from service.reviews.evaluation_proof import proof_of
from service.reviews.evaluations import EvaluationDesk, pins_of
from service.running.worker import Worker
from service.store import evaluations
from tests.fixtures.evaluating import CALLER, a_desk, a_feeder, evaluating, recorded_end
from tests.fixtures.evaluations import RUN, lift_plan
from tests.fixtures.postgres import SERVINGS, Database
from tests.fixtures.running import Bench, a_writer, bench
from tests.fixtures.sequencing import MemorySigner, a_sequencer
from tests.store.workers import a_worker

DEBATES, WARM, AT_ONCE = 100, 20, 8
DAY, MONTH = 10**12, 10**13
BUDGETS, ITEMS = Budgets("UTC", Budget(DAY, MONTH)), EvaluationBudget(DAY, MONTH, AT_ONCE)
LOOK_S = 0.2
"""How often it is asked whether the end of an evaluation is recorded: that it is proven is no work of a feeder."""
CONCLUDED = "2026-11-27T12:00:00Z"
FORMS: tuple[Literal["html", "pdf", "markdown", "json"], ...] = ("html", "pdf", "markdown", "json")
SIGNERS = defaultdict[str, MemorySigner](MemorySigner)
"""The signer of each server, by its address."""
SIZES = (100, 1_000)
MANY = SIZES[-1]
WITHIN_S = 600.0
_PLAN = """[plan]
name = "bench"
question = "What does an evaluation cost?"
kind = "lift"
metric = "accuracy"
alpha = 0.05
margin = 0.10
correction = "holm"
missing = "wrong"
repeats = 1
groups = "whole"
stopping = "fixed"
seed = "{seed}"
ceiling_usd = "100000"
exploratory = true

[[sets]]
id = "{id}"
version = 1
sha256 = "{hash}"
split = "open"

{arms}
[effect]
gain = 0.25
loss = 0.05
"""
_DEBATE = '[[arms]]\nname = "debate"\ndoes = "debate"\nformat = "adversarial"\noptions = { max_rounds = 1 }\n\n'
_AGAINST = '[[comparisons]]\nfirst = "{}"\nsecond = "{}"\n\n'
TWO, ONE_ROUND = ("debate", "again"), {"maxRounds": 1}
TWO_ARMS = _DEBATE + _DEBATE.replace('"debate"\ndoes', '"again"\ndoes') + _AGAINST.format(*TWO)


class Used(NamedTuple):
    """Milliseconds of CPU of a debate: ours, and PostgreSQL's."""

    ours: float
    postgres: float


# The sets.


@contextmanager
def a_set(items: int, first: int, length: int = LENGTH) -> Iterator[Path]:
    """The folder of so many questions, each on another document of one length; ``first`` chooses the documents."""
    with tempfile.TemporaryDirectory(prefix="gainsay-bench-") as name:
        folder = Path(name) / f"bench-{first}"
        (folder / "documents").mkdir(parents=True)
        (folder / "set.toml").write_text(
            f'id = "bench-{first}"\nversion = 1\ntask_type = "contract"\nkind = "questions"\nanswers = ["yes", "no"]\n'
            'labelled_by = "the bench"\nlabelling = "They are drawn."\nbasis = "construction"\nlicence = "ours"\n'
            'published = false\n\n[splits]\nopen = "For the bench."\nheld = "It has no item of this split."\n',
            "utf-8",
        )
        asked, labels = [], []
        for nth in range(items):
            text = document(length, first + nth).encode()
            hashed = sha256(text).hexdigest()
            (folder / "documents" / f"{hashed}.txt").write_bytes(text)
            answer, states = ("yes", "no")[nth % 2], ("yes", "no")[nth // 2 % 2]
            shown = [{"id": "D1", "title": "Agreement", "sha256": hashed}]
            asked.append({"id": f"q{nth:04}", "question": f"Is agreement {nth} good?", "documents": shown,
                          "proposition": f"The answer on agreement {nth} is {states}.", "states": states,
                          "group": f"g{nth}", "split": "open"})  # fmt: skip
            labels.append({"id": f"q{nth:04}", "answer": answer, "basis": "construction", "note": "Drawn."})
        for name_, lines in (("items", asked), ("labels", labels)):
            (folder / f"{name_}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines), "utf-8")
        yield folder


def a_plan(folder: Path, arms: str) -> str:
    """The plan that asks a set."""
    golden = load_shipped(folder)
    return _PLAN.format(seed=folder.name, id=golden.manifest.id, hash=golden.hash, arms=arms)


# Overhead.


def overhead() -> Turn:
    """An evaluation against the same debates as ordinary cases."""
    with server() as here, psycopg.connect(here.admin, autocommit=True) as connection:
        plain, evaluated, planned = uvloop.run(_overhead(here, Postgres(connection)))
    return {
        "overhead": Measured(evaluated.ours, plain.ours, f"{plain.ours:.1f} ms without"),
        "postgres": Measured(evaluated.postgres, plain.postgres, f"{plain.postgres:.1f} ms without"),
        "plan": Measured(planned.ours),
    }


async def _overhead(here: Server, postgres: Postgres) -> tuple[Used, Used, Used]:
    """A B B A, so that what grows with the database falls to both alike."""
    plain, evaluated, planned = list[Used](), list[Used](), list[Used]()
    async with bench(here.service, Instant(), policy=_policy()) as service:
        with a_set(WARM, 900_000) as folder:
            await _submitted(service, folder, postgres)
            desk = a_desk(service, [folder])
            evaluation, _ = await _registered(desk, folder, postgres)
            await _provable(here)
            await _evaluated(here, service, desk, evaluation, postgres)
        for nth, whole in enumerate((False, True, True, False)):
            with a_set(DEBATES // len(TWO), nth * DEBATES) as folder:
                if whole:
                    desk = a_desk(service, [folder])
                    evaluation, used = await _registered(desk, folder, postgres)
                    planned.append(used)
                    await _provable(here)
                    evaluated.append(await _evaluated(here, service, desk, evaluation, postgres))
                else:
                    plain.append(await _submitted(service, folder, postgres))
    return _mean(plain), _mean(evaluated), _mean(planned)


def _mean(found: Sequence[Used]) -> Used:
    return Used(*(sum(values) / len(values) for values in zip(*found, strict=True)))


async def _submitted(service: Bench, folder: Path, postgres: Postgres) -> Used:
    """The debates of a set as ordinary cases: submitted, run, and their results read."""
    cases = list(_cases(folder, service.policy.debate.ceiling_max))
    places = asyncio.Semaphore(AT_ONCE)

    async def answered(case: CaseRequest) -> None:
        async with places:
            debate = (await service.reviews.record(case, CALLER)).debate
            await service.reviews.wait(debate, CALLER, WITHIN_S)
            await service.reviews.result(debate, CALLER)

    began = _now(postgres)
    async with _worker(service):
        await asyncio.gather(*map(answered, cases))
    return _used(began, postgres, len(cases))


def _policy() -> Policy:
    shipped = read_policy(SHIPPED_POLICY)
    return replace(shipped, budgets=BUDGETS, evaluation=replace(shipped.evaluations, budget=ITEMS))


def _worker(service: Bench) -> AbstractAsyncContextManager[Worker]:
    return a_worker(service, lease_s=60.0, limit=AT_ONCE, budgets=BUDGETS, items=EvaluationBudgets(ITEMS))


def _cases(folder: Path, ceiling: int) -> Iterator[CaseRequest]:
    """What the evaluation asks, as a caller would send it."""
    golden = load_shipped(folder)
    plan = lift_plan(
        models={}, arms=tuple(Arm(name, "debate", format="adversarial", options=ONE_ROUND) for name in TWO)
    )
    asking = Asking(str(uuid4()), plan, "00" * 32, {golden.manifest.id: golden.asked}, ceiling)
    for item in golden.asked.items:
        for name in TWO:
            request = case_of(asking, Unit(golden.manifest.id, item.id, name, 1)).request
            yield CaseRequest(**{member: getattr(request, member) for member in CaseRequest.__struct_fields__})


async def _registered(desk: EvaluationDesk, folder: Path, postgres: Postgres) -> tuple[str, Used]:
    """An evaluation whose plan was read, priced and registered; its sets are read before."""
    desk.shelf.at_hand(date.max, CALLER.tenant)
    began = _now(postgres)
    evaluation = await desk.register(await desk.plan(a_plan(folder, TWO_ARMS), CALLER), CALLER)
    return evaluation, _used(began, postgres, DEBATES)


async def _evaluated(here: Server, service: Bench, desk: EvaluationDesk, evaluation: str, postgres: Postgres) -> Used:
    """An evaluation, from its registration to its result."""
    began = _now(postgres)
    async with _worker(service), evaluating(a_feeder(service, desk, only=evaluation)):
        await recorded_end(here.admin, evaluation, look_s=LOOK_S, within_s=WITHIN_S)
    return _used(began, postgres, DEBATES)


def _now(postgres: Postgres) -> tuple[float, float]:
    return time.process_time(), sum(postgres.cpu().values())


def _used(began: tuple[float, float], postgres: Postgres, debates: int) -> Used:
    ours, theirs = (now - before for now, before in zip(_now(postgres), began, strict=True))
    return Used(1_000 * ours / debates, 1_000 * theirs / debates)


async def _provable(here: Server) -> None:
    """Have everything so far under a signed head."""
    database = Database("gainsay", here.admin, "", here.service, here.sequencer, SERVINGS[here.service])
    async with a_sequencer(database, SIGNERS[here.admin]) as sequencer:
        await sequencer.catch_up()


# Resume and reports.


def resume() -> Turn:
    """From a feeder that knows nothing to the next item asked, and to the result of all."""
    with server() as here, a_set(MANY, 0, 300) as folder:
        asked_s, concluded_s = uvloop.run(_resumed(here, folder))
    return {"resume": Measured(asked_s), "conclude": Measured(concluded_s)}


async def _resumed(here: Server, folder: Path) -> tuple[float, float]:
    async with bench(here.service, Instant()) as service:
        desk = a_desk(service, [folder])
        evaluation = await _all_but_one(here, service, desk, folder)
        feeder = a_feeder(service, desk, only=evaluation)
        began = time.process_time()
        await feeder.round()
        asked_s = time.process_time() - began
        (last,) = (await desk.read(evaluation, CALLER)).progress.under_way.values()
        async with a_worker(service, lease_s=60.0):
            await service.reviews.wait(last, CALLER, WITHIN_S)
        began = time.process_time()
        async with evaluating(feeder):
            await recorded_end(here.admin, evaluation, look_s=LOOK_S, within_s=WITHIN_S)
        return asked_s, time.process_time() - began


async def _all_but_one(here: Server, service: Bench, desk: EvaluationDesk, folder: Path) -> str:
    """An evaluation of a set in two arms whose last unit is not asked; no debate was held for the others."""
    arms = tuple(Arm(name, "debate", format="adversarial", options=ONE_ROUND) for name in TWO)
    plan = lift_plan(arms=arms, comparisons=(Comparison(*TWO),), pins=pins_of(service.deployment))
    log, writer = await desk.logs.current(CALLER.tenant), a_writer("bench")
    first, *others = _entries(folder, plan, leave=1)
    await evaluations.register(service.database, first, bringer_of(CALLER), {}, log, writer)
    await _provable(here)
    proof = await proof_of(service.database, first.evaluation, CALLER.tenant) or ""
    proven = EvaluationProven(first.evaluation, 1, proof)
    entries = (proven, *others)
    for at in range(0, len(entries), TOGETHER):
        some = entries[at : at + TOGETHER]
        await evaluations.add_entries(service.database, some, CALLER.tenant, log, writer)
    return first.evaluation


def _entries(folder: Path, plan: Plan, leave: int) -> tuple[EvaluationRegistered, *tuple[EvaluationEntry, ...]]:
    """A plan of a set registered, and every unit asked and scored, all but those that are left; scores are drawn.

    The number 1 is left for the entry that proves the plan.
    """
    golden = load_shipped(folder)
    asked = SetAsked(golden.manifest.id, 1, golden.hash, "open", tuple(item.id for item in golden.asked.items))
    planned = replace(plan, models={}, sets=(PlannedSet(asked.id, 1, asked.sha256, "open"),), ceiling=10**12)
    quote = tuple(ArmQuote(arm.name, 1, 1) for arm in planned.arms)
    members, hash_, rules = plan_members(planned), plan_hash(planned), EvaluationRules(10, SHIPPED_LIMITS, {})
    first = EvaluationRegistered(str(uuid4()), 0, members, hash_, (asked,), quote, rules)
    units = Progress(first).units
    entries = list[EvaluationEntry]()
    for unit in units[: len(units) - leave]:
        debate, score = str(uuid4()), msgspec.to_builtins(_drawn(unit))
        entries.append(ItemAsked(first.evaluation, len(entries) + 2, *unit, debate=debate))
        entries.append(ItemScored(first.evaluation, len(entries) + 2, *unit, debate=debate, score=score))
    return first, *entries


def _drawn(unit: Unit) -> QuestionScore:
    right = sha256(f"{unit.item} {unit.arm}".encode()).digest()[0] < 160
    answer = "yes" if right else "no"
    return QuestionScore(right, answer, None, answer, RUN)


def reports() -> Turn:
    """Each form of the report of a result of 100 items in three arms, and of one of 1,000."""
    found: dict[str, Measured] = {}
    for items in SIZES:
        with a_set(items, 0, 300) as folder:
            golden = load_shipped(folder)
            first, *others = _entries(folder, lift_plan(), leave=0)
            progress = Progress.of((first, EvaluationProven(first.evaluation, 1, "proof"), *others))
        result = result_of(conclusion_of(progress, {golden.manifest.id: golden}).result)
        for form in FORMS:
            began = time.process_time()
            size = len(encode_json(result) if form == "json" else write(result, CONCLUDED, form))
            found[f"{form} {items}"] = Measured(time.process_time() - began, None, f"{size / 1_000:,.0f} kB")
    return found
