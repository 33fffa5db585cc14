"""What a case would cost, as a calling system and as a user at a terminal learn it, and what its debate then costs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from rich.console import Console

from service.cli import exit_codes, main
from service.cli.display import page
from service.cli.display.progress import Progress
from service.identity.caller import Caller
from service.policy.settings import SHIPPED_POLICY
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, Served, a_case, a_declined_case, served
from tests.fixtures.waiting import until

MICRO = Decimal("0.000001")


async def quoted(site: Served, case: JSON) -> JSON:
    answer = await site.http.post("/v1/quotes", json=case)
    assert answer.status_code == 200, answer.text
    told: JSON = answer.json()
    return told


@pytest.mark.asyncio(loop_scope="module")
async def test_a_quote_says_beforehand_what_the_debate_begins_with_and_bounds_what_it_costs(site: Served) -> None:
    quote = await quoted(site, a_case())

    result = await site.finished(a_case())

    cost = result["overallCost"]
    assert quote["gate"] == result["gate"]
    assert quote["startable"] is True
    assert (quote["ceilingUSD"], quote["expectedUSD"]) == (cost["ceilingUSD"], cost["expectedUSD"])
    assert Decimal(cost["spentUSD"]) <= Decimal(quote["worstUSD"]) <= Decimal(quote["ceilingUSD"])
    for seat in quote["seats"]:
        assert seat["expectedUSD"] == cost["bySeat"][seat["seat"]]["expectedUSD"]
    assert [(s["seat"], s["model"]["alias"]) for s in quote["seats"]] == [
        (s["seat"], s["alias"]) for s in result["seats"]
    ]
    assert (quote["diversity"], quote["pairs"]) == (result["diversity"], result["pairs"])
    hashes = result["hashes"]
    assert quote["priceHash"] == hashes["priceHash"]
    assert (quote["policyHash"], quote["promptsPin"]) == (hashes["policyHash"], hashes["promptsPin"])


@pytest.mark.asyncio(loop_scope="module")
async def test_the_first_requests_are_counted_as_the_debate_counts_them(site: Served) -> None:
    quote = await quoted(site, a_case())

    attempts = (await site.finished(a_case()))["attempts"]

    first = {seat["seat"]: seat["firstRequestTokens"] for seat in quote["seats"]}
    (framing,) = [a["inputTokensCounted"] for a in attempts if a["seat"] == "framing"]
    proposer = next(a["inputTokensCounted"] for a in attempts if a["seat"] == "proposer")
    assert abs(framing - first["framing"]) <= 2
    assert proposer > first["proposer"]
    assert all(document["tokens"]["bytes/4"] > 100 for document in quote["documents"])


@pytest.mark.asyncio(loop_scope="module")
async def test_a_quote_stores_nothing_and_decides_nothing(site: Served) -> None:
    async def known() -> tuple[JSON, list[str]]:
        counted = (await site.http.get("/metrics")).text.splitlines()
        metrics = [line for line in counted if re.match(r"gainsay_(gate|entries|debates|tokens)\w*_total", line)]
        return (await site.http.get("/v1/debates?limit=1")).json(), metrics

    before = await known()
    await quoted(site, a_case())

    assert await known() == before


@pytest.mark.asyncio(loop_scope="module")
async def test_a_ceiling_that_is_too_small_is_told_with_what_is_needed_to_the_micro_dollar(site: Served) -> None:
    short = await quoted(site, a_case(costCeilingUSD="0.01"))
    needed = Decimal(short["neededUSD"])

    enough = await site.http.post("/v1/debates", json=a_case(costCeilingUSD=str(needed)))
    scarce = await site.http.post("/v1/debates", json=a_case(costCeilingUSD=str(needed - MICRO)))

    assert (short["startable"], short["worstUSD"]) == (False, "0.01")
    assert enough.status_code == 202
    assert (scarce.status_code, scarce.json()["code"]) == (422, "ceiling_too_small")


@pytest.mark.asyncio(loop_scope="module")
async def test_a_declined_case_is_priced_with_the_decision(site: Served) -> None:
    quote = await quoted(site, a_declined_case())

    assert quote["gate"]["debate"] is False
    assert Decimal(quote["expectedUSD"]) > 0
    assert quote["startable"] is True


@pytest.mark.parametrize(
    "body",
    [
        {"question": 1},
        a_case(maxRounds=2),
        a_case(taskType="Contract"),
        a_case(question="q" * 9_000),
        a_case(estimatedDownside="NaN"),
        a_case(costCeilingUSD="1E+30"),
        a_case(options={"format": "adversarial", "models": {"critic": "nobody"}}),
        a_case(options={"format": "adversarial", "maxRounds": 4}),
        a_case(documents=[]),
        a_case(deadline="2020-01-01T00:00:00Z"),
        a_case(force={"debate": True, "reason": " "}),
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_what_cannot_be_a_case_is_refused_alike(site: Served, body: JSON) -> None:
    submitted = await site.http.post("/v1/debates", json=body)
    quote = await site.http.post("/v1/quotes", json=body)

    assert quote.status_code == submitted.status_code >= 400
    ours, theirs = quote.json(), submitted.json()
    assert {k: ours[k] for k in ("type", "code", "detail", "errors") if k in ours} == {
        k: theirs[k] for k in ("type", "code", "detail", "errors") if k in theirs
    }


@pytest.mark.asyncio(loop_scope="module")
async def test_what_the_tenant_has_left_is_told_and_shrinks_with_every_debate(
    site: Served, module_database: Database
) -> None:
    def nothing_runs() -> bool:
        """A debate that another test began gives back at its end what it has drawn and not spent."""
        with psycopg.connect(module_database.admin_url) as admin:
            rows = admin.execute("SELECT FROM gainsay.debate_head WHERE state IN ('queued', 'running')").fetchall()
        return not rows

    await until(nothing_runs)
    before = (await quoted(site, a_case()))["tenantLeft"]

    spent = Decimal((await site.finished(a_case()))["overallCost"]["spentUSD"])

    after = (await quoted(site, a_case()))["tenantLeft"]
    for period in ("dayUSD", "monthUSD"):
        assert Decimal(before[period]) - Decimal(after[period]) >= spent


@pytest.mark.asyncio(loop_scope="module")
async def test_a_tenant_with_too_little_left_cannot_start_and_one_without_limits_has_none_told(
    module_database: Database, tmp_path: Path
) -> None:
    shipped = SHIPPED_POLICY.read_text("utf-8")
    poor, free = tmp_path / "poor.toml", tmp_path / "free.toml"
    poor.write_text(re.sub(r'day_usd = "[\d.]+"', 'day_usd = "0.000001"', shipped), "utf-8")
    free.write_text(re.sub(r'(day|month)_usd = "[\d.]+"', r'\1_usd = "unlimited"', shipped), "utf-8")

    async with served(module_database.service_url, work=False, GAINSAY_POLICY=str(poor)) as site:
        short = await quoted(site, a_case())
    async with served(module_database.service_url, work=False, GAINSAY_POLICY=str(free)) as site:
        unlimited = await quoted(site, a_case())

    assert short["startable"] is False
    assert Decimal(short["tenantLeft"]["dayUSD"]) < Decimal(short["neededUSD"]) < Decimal(short["ceilingUSD"])
    assert (unlimited["startable"], "tenantLeft" in unlimited) == (True, False)


# -- on the command line


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Call a command where no database is, and none can be started."""
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(tmp_path / "nowhere"))
    monkeypatch.delenv("GAINSAY_DATABASE_URL", raising=False)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        captured = capfd.readouterr()
        assert not (tmp_path / "nowhere").exists()
        return code, captured.out, captured.err

    return call


def test_a_quote_is_one_page_and_exit_0(run: Any) -> None:
    code, out, err = run("quote", "--sample", "contract")

    assert (code, err) == (exit_codes.DONE, "")
    assert "Gate         debate: The rules on the merits all hold." in out
    assert re.search(r"Ceiling +0\.50 USD; a debate of this case needs 0\.\d+ USD to begin", out)
    assert re.search(r"At most +0\.5000 USD, the ceiling; without it \d\.\d{4} USD", out)
    assert re.search(r"Critic +birch-large +4 +[\d,]+ tokens +0\.\d{4} +\d\.\d{4}\n", out)
    assert re.search(r"birch-large +birch +3\.00 +15\.00 +2026-01-01 +made up for the simulated models\n", out)
    assert re.search(r"D1 +Master Services Agreement.* [\d,]+ tokens of bytes/4\n", out)
    assert "models of different families: moderator and proposer" in out
    assert "not binding" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_quote_and_a_gate_name_the_format_that_they_price(run: Any) -> None:
    chosen = ("--task-type", "architecture", "--downside", "500000", "--format", "auto")

    _, plain, _ = run("quote", "--sample", "contract")
    _, panel, _ = run("quote", "--sample", "contract/panel")
    _, auto, _ = run("quote", "--sample", "architecture", "--format", "auto")
    _, gate, _ = run("gate", *chosen)

    assert "Format" not in plain
    assert re.search(r"^Format +panel$", panel, re.MULTILINE)
    assert re.search(r"^Format +ballot: auto: policy debates the task type architecture", auto, re.MULTILINE)
    assert "A debate of the format ballot is expected to cost" in gate


def test_a_quote_names_every_model_and_every_column_in_full(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAINSAY_POLICY", "examples/openai-anthropic.toml")

    _, out, _ = run("quote", "--sample", "contract")

    assert re.search(r"seat +model +turns +first request +expected +at most\n", out)
    assert re.search(r"Critic +claude-sonnet, then +\d", out)
    assert re.search(r"\n +claude-haiku *\n", out)
    assert "\N{HORIZONTAL ELLIPSIS}" not in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--ceiling", "0.05"), "0.05 USD is TOO SMALL: a debate of this case needs 0."),
        (("--force-decline", "not now"), "NO DEBATE: the rule “Forced by a caller” decides"),
    ],
)
def test_what_would_not_be_debated_is_said_with_exit_1(run: Any, options: tuple[str, ...], words: str) -> None:
    code, out, _ = run("quote", "--sample", "contract", *options)

    assert code == exit_codes.NEGATIVE
    assert words in out


def test_a_declined_case_is_told_what_would_change_it(run: Any) -> None:
    code, out, _ = run("quote", "--sample", "contract", "--downside", "1", "--confidence", "0.99")

    assert code == exit_codes.NEGATIVE
    assert "what would change it: a downside above" in out


def test_an_expectation_above_the_ceiling_is_said(run: Any) -> None:
    _, out, _ = run("quote", "--sample", "contract", "--rounds", "3", "--ceiling", "0.16")

    assert "more than the ceiling" in out


@pytest.mark.parametrize(
    ("form", "who"),
    [("adversarial", "the moderator"), ("panel", "the synthesizer"), ("convergence", "the judge"), ("ballot", None)],
)
def test_a_quote_says_which_deciders_may_be_asked_again_for_their_words(run: Any, form: str, who: str | None) -> None:
    _, out, _ = run("quote", "--sample", "architecture", "--format", form)

    told = " ".join(out.split())
    assert (f"{who} asked again for its words" in told) is (who is not None)
    assert ("asked again" in told) is (who is not None)


def test_a_quote_as_json_is_that_of_the_api(run: Any) -> None:
    code, out, _ = run("quote", "--sample", "contract", "--json")

    told = json.loads(out)
    assert code == exit_codes.DONE
    assert (told["startable"], told["ceilingUSD"], "tenantLeft" in told) == (True, "0.50", False)
    assert sum(Decimal(seat["expectedUSD"]) for seat in told["seats"]) == Decimal(told["expectedUSD"])
    assert sum(Decimal(seat["worstUSD"]) for seat in told["seats"]) == Decimal(told["askedAtMostUSD"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rounds", "4"), "from 1 to 3, found 4 [--rounds]"),
        (("--task-type", "Contract"), "did you mean 'contract'?"),
        (("--model", "critic=nobody"), "unknown model 'nobody'"),
    ],
)
def test_what_cannot_be_a_case_is_usage(run: Any, options: tuple[str, ...], words: str) -> None:
    code, out, err = run("quote", "--sample", "contract", *options)

    assert (code, out) == (exit_codes.USAGE, "")
    assert words in err


@pytest.mark.parametrize("command", ["quote", "review"])
def test_a_case_is_counted_with_the_tokenizers_of_its_models_before_anything_is_opened(
    command: str, tmp_path: Path
) -> None:
    """In a process of its own: the rank files are loaded once, and another test may have done that."""
    real = tmp_path / "policy.toml"
    real.write_text(
        SHIPPED_POLICY.read_text("utf-8").replace('tokenizer = "bytes/4"', 'tokenizer = "o200k_base"'), "utf-8"
    )

    done = subprocess.run(
        [sys.executable, "-m", "service", command, "--sample", "contract", "--ceiling", "0.01"],
        env={**os.environ, "GAINSAY_POLICY": str(real), "GAINSAY_DATA_DIR": str(tmp_path / "nowhere")},
        capture_output=True,
        text=True,
        check=False,
    )

    if command == "quote":
        assert (done.returncode, done.stderr) == (exit_codes.NEGATIVE, "")
        assert re.search(r"[\d,]+ tokens of o200k_base", done.stdout)
    else:
        assert (done.returncode, done.stderr.split(":")[1]) == (exit_codes.USAGE, " ceiling_too_small")


def test_a_quote_starts_without_the_server_and_without_what_few_cases_need() -> None:
    unneeded = ("litestar", "uvicorn", "httpx", "httpx_aiohttp", "jsonschema", "anthropic")
    call = "import sys; from service.cli import main; main(['quote', '--sample', 'contract', '--json'])"
    code = f"{call}; print([m for m in {unneeded} if m in sys.modules], file=sys.stderr)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stderr.splitlines()[-1] == "[]"


# -- the page of a result


@pytest.mark.asyncio(loop_scope="module")
async def test_the_page_of_a_result_has_one_line_and_one_table_of_costs(site: Served) -> None:
    debate = (await site.finished(a_case()))["debateId"]
    screen = Console(width=80, record=True, file=StringIO())

    page.show(screen, await site.app.reviews.result(debate, Caller()))

    said = screen.export_text()
    spent = r"^Spent 0\.\d{4} USD of 0\.50 USD \(a share of 0\.\d+\); expected before 0\.\d{4} USD *$"
    assert len(re.findall(spent, said, re.MULTILINE)) == 1
    assert re.search(r"^By round: 0\.\d{4} before round 1, 0\.\d{4} in round 1 *$", said, re.MULTILINE)
    assert re.search(r"^seat +model +attempts +estimate +actual *$", said, re.MULTILINE)
    assert re.search(r"^Critic +birch-large +\d +0\.\d{4} +0\.\d{4} *$", said, re.MULTILINE)


def test_what_a_vendor_billed_above_what_was_held_is_said_where_a_debate_ends() -> None:
    screen = Console(width=200, record=True, file=StringIO())
    refused = {
        "notice": "budgetRefused",
        "seats": [{"turn": "1.critic.1", "seat": "critic"}],
        "reason": "providerOverrun",
        "detail": "a vendor billed more than was held for it, and after that nobody is asked",
    }

    Progress(screen).show_event("notice", refused)
    cost = {"spentUSD": "0.003249", "ceilingUSD": "0.50", "excessUSD": "0.142828"}
    Progress(screen).show_event("final", {"status": "truncated", "stopReason": "budget", "decision": {"cost": cost}})

    said = screen.export_text()
    assert re.search(r"Critic is not asked; a vendor billed more .* nobody is asked *$", said, re.MULTILINE)
    assert "spent 0.0032 of 0.50 USD, and a vendor billed 0.1428 USD above its reservation" in said
