"""`gainsay evaluate plan|run|show|resume`, on a database, and killed in the middle of what they do."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random

import pytest

from service.evaluation.scoring.result import compared, result_of
from tests.end_to_end.processes import PATIENCE_S, Deployment, Process, deployed
from tests.end_to_end.test_cli_server import Ended
from tests.fixtures.evaluating import GOLDEN, a_plan
from tests.fixtures.policies import policy_file, vendors
from tests.fixtures.postgres import Database
from tests.fixtures.serving import SIGNING_KEY
from tests.store.workers import until

pytestmark = pytest.mark.long
KILLS = 5
REPORTS = (".html", ".md", ".json", ".pdf")
RESULT = "SELECT evaluation, result FROM gainsay.evaluation WHERE result IS NOT NULL ORDER BY evaluation"


def a_file(folder: Path, text: str, name: str = "plan.toml") -> str:
    path = folder / name
    path.write_text(text, "utf-8-sig")  # with the mark that some editors begin a file with
    return str(path)


async def asked(deployment: Deployment, *words: str, of: str = "evaluate") -> Ended:
    """A command, to its end."""
    process = deployment.start(of, *words)
    code = await process.ends()
    return Ended(code, process.said, process.told)


async def has_begun(process: Process) -> bool:
    """Whether a command goes on with an evaluation, or has found it concluded."""
    return "evaluation" in process.told or not process.runs


async def test_a_plan_is_shown_run_listed_and_shown_again(database: Database, tmp_path: Path) -> None:
    plan = a_file(tmp_path, a_plan("critic"))
    sets = ("--sets", str(GOLDEN / "tiny-critic"))
    async with deployed(database, tmp_path) as deployment:
        shown = await asked(deployment, "plan", plan, *sets)
        assert shown.code == 0, shown.err
        assert "set tiny-critic v1, open: 2 items" in shown.out
        assert "power with 1 flawed proposals" in shown.out
        assert deployment.ask("SELECT FROM gainsay.evaluation") == []

        ran = await asked(deployment, "run", plan, *sets)
        listed = await asked(deployment, "show")
        again = await asked(deployment, "show", evaluation := listed.out.split()[0], "--json")
        reports = [await asked(deployment, "report", evaluation, "-o", str(tmp_path / f"r{end}")) for end in REPORTS]
        printed = await asked(deployment, "report", evaluation)
        unknown = await asked(deployment, "report", "01890a5d-ac96-774b-bcce-b302099a8057")
        wrong = await asked(deployment, "report", evaluation, "-o", "r.txt")
        export = str(tmp_path / "log.jsonl")
        exported = await asked(deployment, "export", "--out", export, of="audit")
        trusted = ("--key", SIGNING_KEY.public.encode(), "--allow-unwitnessed", "--scope", "records")
        verified = await asked(deployment, "verify", export, *trusted, *sets, of="audit")

    assert exported.code == 0, exported.err
    assert verified.code == 0, verified.out
    assert "1 evaluations: 2 scores and 1 results computed again" in verified.out
    assert [one.code for one in (*reports, printed, unknown, wrong)] == [0, 0, 0, 0, 0, 2, 2]
    html, markdown, written, pdf = ((tmp_path / f"r{end}").read_bytes() for end in REPORTS)
    assert markdown.decode() == printed.out
    assert b"Trial of a critic on planted flaws" in html
    assert pdf.startswith(b"%PDF")
    assert json.loads(written) == json.loads(again.out)["result"]
    found = json.loads(again.out)
    assert found["result"]["kind"] == "critic"
    assert "2 of 2 scored" in ran.out
    assert "Simulated models" in ran.out
    expected = {"passes": 0, "inconclusive": 5, "notEnough": 5}.get(found["result"]["findings"][0]["outcome"], 1)
    assert (ran.code, again.code, listed.code) == (expected, expected, 0)


def content_of(path: str) -> bytes:
    return Path(path).read_bytes()


async def test_the_bundle_of_an_evaluation_is_written_and_verified(database: Database, tmp_path: Path) -> None:
    sets = ("--sets", str(GOLDEN / "tiny-critic"))
    key = ("--key", SIGNING_KEY.public.encode(), "--allow-unwitnessed")
    whole, bare, pdf, written = (str(tmp_path / name) for name in ("whole.zip", "bare.zip", "c.pdf", "c.json"))
    async with deployed(database, tmp_path) as deployment:
        await asked(deployment, "run", a_file(tmp_path, a_plan("critic")), *sets)
        evaluation = (await asked(deployment, "show")).out.split()[0]
        made = [
            await asked(deployment, "export", evaluation, "-o", whole, *sets, "--held"),
            await asked(deployment, "export", evaluation, "-o", bare, *sets),
            await asked(deployment, "export", evaluation, "-o", bare, *sets),
        ]
        checks = [
            await asked(deployment, "verify", whole, *key, "--out", pdf, of="audit"),
            await asked(deployment, "verify", whole, *key, "--out", written, of="audit"),
            await asked(deployment, "verify", bare, *key, of="audit"),
            await asked(deployment, "verify", bare, *key, *sets, of="audit"),
            await asked(deployment, "verify", whole, *key, "--report", pdf, of="audit"),
        ]

    assert [one.code for one in made] == [0, 0, 2], [one.err for one in made]
    assert "(debates: 2)" in made[0].err
    assert "the labels of tiny-critic are not in it, only their hash" in made[1].err
    assert [one.code for one in checks] == [0, 0, 4, 0, 2], [one.out for one in checks]
    assert checks[0].out.splitlines()[-1] == "VERIFIED, UNWITNESSED"
    assert "scores of tiny-critic are not computed again, because its labels were withheld" in checks[2].out
    assert content_of(pdf).startswith(b"%PDF")
    assert json.loads(content_of(written))["kind"] == "evaluation"


async def test_every_fault_of_a_plan_is_named_by_its_line(database: Database, tmp_path: Path) -> None:
    text = a_plan().replace("repeats = 1", "repeats = 2").replace("drafts = 3", "drafts = 99")
    plan = a_file(tmp_path, text)
    lines = {words: text.splitlines().index(words) + 1 for words in ("repeats = 2", "drafts = 99")}
    async with deployed(database, tmp_path) as deployment:
        for command in ("plan", "run"):
            refused = await asked(deployment, command, plan)
            assert refused.code == 2, refused.err
            assert f"{plan}:{lines['repeats = 2']}: plan.repeats: expected an odd number" in refused.err
            assert f"{plan}:{lines['drafts = 99']}: arms.2.drafts: expected a whole number" in refused.err
            assert "sets.1.id: there is no set 'tiny-questions'" in refused.err
        absent = await asked(deployment, "show", "01890a5d-ac96-774b-bcce-b302099a8057")
        assert (absent.code, deployment.ask("SELECT FROM gainsay.evaluation")) == (2, [])


async def test_a_held_split_needs_a_validator(database: Database, tmp_path: Path) -> None:
    plan = a_file(tmp_path, a_plan("critic").replace('split = "open"', 'split = "held"'))
    sets = ("--sets", str(GOLDEN / "tiny-critic"))
    async with deployed(database, tmp_path) as deployment:
        refused = await asked(deployment, "plan", plan, *sets)
        assert refused.code == 2
        assert "callers with the role validator" in refused.err
        for look in (1, 2):
            ran = await asked(deployment, "run", plan, *sets, "--held")
            assert f"held: 2 items, look {look} at it" in ran.err
        evaluation = (await asked(deployment, "show")).out.split()[0]
        closed = await asked(deployment, "items", evaluation)
        open_ = await asked(deployment, "items", evaluation, "--held")
        unknown = await asked(deployment, "items", evaluation, "--held", "--arm", "judge")
        wrong = await asked(deployment, "items", evaluation, "--held", "--wrong")
    assert (closed.code, open_.code, unknown.code, wrong.code) == (2, 0, 2, 0)
    assert "close to their labels; act as a validator by --held" in closed.err
    assert "expected an arm of the plan (critic), found 'judge'" in unknown.err
    assert open_.out.count("debate ") == 2
    assert all("of a flawed proposal" in one or "of a sound proposal" in one for one in open_.out.splitlines())
    assert [one for one in open_.out.splitlines() if "  not as labelled: " in one] == [
        one for one in wrong.out.splitlines() if "not as labelled" in one
    ]


async def test_a_run_that_is_killed_again_and_again_comes_to_the_same_result(
    database: Database, tmp_path: Path
) -> None:
    random = Random(25)
    plan = a_file(tmp_path, a_plan(repeats=5))
    sets = ("--sets", str(GOLDEN / "tiny-questions"))
    async with deployed(database, tmp_path, GAINSAY_LEASE_S="0.5") as deployment:
        whole = await asked(deployment, "run", plan, *sets)
        assert whole.code == 5, whole.err

        process = deployment.start("evaluate", "run", plan, *sets)
        evaluation = await process.says(r"evaluation ([0-9a-f-]{36})")
        kills = 0
        while process.runs and kills < KILLS:
            await asyncio.sleep(random.uniform(0.05, 0.8))
            kills += process.runs
            process.kill()
            process = deployment.start("evaluate", "resume", evaluation, *sets)
            await until(partial(has_begun, process), PATIENCE_S)
        assert await process.ends() == 5, process.told
        (_, first), (_, second) = deployment.ask(RESULT)
        debates = deployment.ask("SELECT count(*) FROM gainsay.debate_head")

    assert kills >= 2
    assert isinstance(first, bytes)
    assert isinstance(second, bytes)
    assert compared(result_of(first)) == compared(result_of(second))
    assert debates == [(2 * 3 * 5 * 2,)]


async def test_what_asks_no_model_needs_no_vendor_s_key(database: Database, tmp_path: Path) -> None:
    plan, sets = a_file(tmp_path, a_plan("critic")), ("--sets", str(GOLDEN / "tiny-critic"))
    keyless = vendors()
    for name in ("openai", "anthropic"):
        keyless["providers"][name]["key"] = f"file:{tmp_path}/none"
    async with deployed(database, tmp_path, GAINSAY_POLICY=str(policy_file(tmp_path, **keyless))) as deployment:
        planned = await asked(deployment, "plan", plan, *sets)
        detached = await asked(deployment, "run", plan, *sets, "--detach")
        evaluation = detached.out.strip()
        listed, shown = await asked(deployment, "show"), await asked(deployment, "show", evaluation)
        refused = [await asked(deployment, *words, *sets) for words in (("resume", evaluation), ("run", plan))]
        registered = deployment.ask("SELECT count(*) FROM gainsay.evaluation")
        stopped = await asked(deployment, "stop", evaluation, "--why", "No key is here.")
        early = await asked(deployment, "report", evaluation)

    assert [one.code for one in (planned, detached, listed, shown, stopped, early)] == [0, 0, 0, 0, 0, 2], shown.out
    for one in refused:
        assert (one.code, registered) == (2, [(1,)])
        assert "providers.openai.key: expected a secret in the file" in one.err


UNPROVEN = (
    "SELECT (SELECT count(*) FROM gainsay.pending) + (SELECT count(*) FROM gainsay.leaf l WHERE l.idx >= coalesce("
    "(SELECT max(c.size) FROM gainsay.checkpoint c WHERE c.log = l.log), 0))"
)


async def test_a_command_leaves_no_record_without_a_checkpoint(database: Database, tmp_path: Path) -> None:
    """What waited for the next process would be reported there as late."""
    plan, sets = a_file(tmp_path, a_plan("critic")), ("--sets", str(GOLDEN / "tiny-critic"))
    async with deployed(database, tmp_path) as deployment:
        detached = await asked(deployment, "run", plan, *sets, "--detach")
        left = [deployment.ask(UNPROVEN)]
        stopped = await asked(deployment, "stop", detached.out.strip(), "--why", "No more is asked.")
        left.append(deployment.ask(UNPROVEN))
        resumed = await asked(deployment, "resume", detached.out.strip(), *sets)
        left.append(deployment.ask(UNPROVEN))

    assert (detached.code, stopped.code, resumed.code) == (0, 0, 1), resumed.err
    assert left == [[(0,)], [(0,)], [(0,)]]


async def test_moderators_of_recorded_debates_are_audited_and_reported(database: Database, tmp_path: Path) -> None:
    until = (datetime.now(UTC) + timedelta(days=2)).date().isoformat()
    since = (datetime.now(UTC) - timedelta(days=40)).date().isoformat()
    period = ("moderator", "--since", since, "--until", until)
    async with deployed(database, tmp_path) as deployment:
        nothing = await asked(deployment, *period)
        for _ in range(2):
            assert (await asked(deployment, "--sample", "contract", of="review")).code == 0
        plan = a_file(tmp_path, a_plan("pairs"))
        ran = await asked(deployment, "run", plan, "--sets", str(GOLDEN / "tiny-pairs"))
        printed = await asked(deployment, *period, "--window", "week")
        written = await asked(deployment, *period, "--json")
        reports = [await asked(deployment, *period, "-o", str(tmp_path / f"m{end}")) for end in REPORTS]
        refused = [
            await asked(deployment, *words)
            for words in (
                ("moderator", "--since", until, "--until", since),
                ("moderator", "--since", "soon", "--until", until),
                (*period, "-o", "m.txt"),
                (*period, "--window", "year"),
                (*period, "--tenant", "nobody"),
                ("moderator", "--since", "2000-01-01", "--until", "2100-01-01"),
                ("moderator", "--since", since),
            )
        ]
        records = deployment.ask(
            "SELECT convert_from(p.body, 'utf8')::json->>'what' FROM gainsay.entry e JOIN gainsay.payload p "
            "USING (debate, n) WHERE convert_from(e.leaf, 'utf8')::json->>'kind' = 'audit.read'"
        )

    assert nothing.code == 2
    assert "the tenant 'default' has no debate here" in nothing.err
    assert ran.code in (1, 5), ran.err
    assert (printed.code, written.code) == (5, 5), printed.err
    audit = json.loads(written.out)
    assert audit["form"] == "gainsay.moderators/1"
    assert audit["read"]["counted"] == 2
    assert audit["read"]["left"] == {"evaluation": 2}
    assert {one["aspect"] for one in audit["evaluations"]} >= {"position", "side"}
    assert "finding: " in printed.out
    assert "no debate is decided, so nothing is said of a pull to the proposer or the critic" in printed.out
    assert "a tilt may be true" in printed.out
    assert "Simulated models" in printed.out
    assert [one.code for one in reports] == [5] * 4
    html, markdown, as_json, pdf = ((tmp_path / f"m{end}").read_bytes() for end in REPORTS)
    assert b"Tilt over time" in html
    assert b"Tilt over time" in markdown
    assert pdf.startswith(b"%PDF")
    assert json.loads(as_json) == audit
    assert [one.code for one in refused] == [2] * 7, [one.err for one in refused]
    assert not [one.err for one in refused if "Traceback" in one.err]
    assert records == [("moderators",)] * 6, "a reading that was refused read nothing"
