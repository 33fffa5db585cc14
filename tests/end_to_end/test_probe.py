"""`gainsay probe` against a real service: what is good, and each thing that is not, with its step and exit code."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
import tomllib
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from decimal import Decimal
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec
import psycopg
import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from service import telemetry
from service.audit import approval
from service.audit.note import COSIGNATURE, SigningKey
from service.cli import main
from service.cli.access import place
from service.cli.access.over_http import OverHTTP
from service.cli.probe import steps
from service.cli.probe.case import the_case
from service.cli.probe.probed import STEPS
from service.cli.probe.steps import Probe
from service.debate.entries import DebateStarted
from service.errors import StoreUnavailable
from service.identity.caller import Caller
from service.intake import Deployment
from service.intake.deployments import deploy, deploy_tenant
from service.providers.anthropic import Anthropic
from service.providers.openai_compatible import OpenAICompatible
from service.report import Result
from service.store.last_probe import LastProbe
from service.store.stored_debate import read_head, read_records
from service.verify.steps import Trust
from tests.end_to_end.test_approval import APPROVER
from tests.fixtures.callers import Known, Registers, identity_file
from tests.fixtures.policies import policy_file
from tests.fixtures.postgres import Database
from tests.fixtures.running import a_request
from tests.fixtures.serving import SIGNING_KEY, Served, a_case, served, settings_for

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE, RUNBOOK = ROOT / "examples" / "openai-anthropic.toml", ROOT / "docs" / "runbook.md"
REAL: dict[str, Any] = tomllib.loads(EXAMPLE.read_text("utf-8"))
VENDOR_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")
ROLES = ("requester", "auditor")


class Ended(NamedTuple):
    """How a probe ended."""

    code: int
    out: str
    err: str


class Site(NamedTuple):
    """A service with real models and a prober, and how it is probed."""

    served: Served
    registers: Registers
    key: Known
    probe: Callable[..., Any]


@pytest.fixture(autouse=True)
def vendors_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of vendors, which no test here may reach."""
    for name in VENDOR_KEYS:
        monkeypatch.setenv(name, "sk-of-a-test-0123456789")


@asynccontextmanager
async def a_site(
    database: Database,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    row: dict[str, Any] | None = None,
    *,
    work: bool = True,
    sequence: bool = True,
    approval: Path | None = None,
) -> AsyncIterator[Site]:
    """A served database whose policy has real models, a prober and another tenant; with an approval of it if given."""
    required = {} if approval is None else {"approval": {"key": APPROVER.public.encode(), "required": True}}
    policy = policy_file(folder, **REAL, **required, tenants={"probe": {"purpose": "probe", **(row or {})}})
    identities = identity_file(folder)
    of_ours = served if approval is None else partial(served, GAINSAY_APPROVAL=str(approval))
    async with of_ours(
        database.service_url, work=work, sequence=sequence, GAINSAY_POLICY=str(policy), GAINSAY_IDENTITY=identities
    ) as site:
        registers = Registers(database)
        for tenant in ("probe", "acme"):
            await registers.add_tenant(tenant)
        key = await registers.issue(*ROLES, tenant="probe")
        monkeypatch.setenv("GAINSAY_DATA_DIR", str(folder / "data"))

        async def probe(*words: str, token: str = key.secret, url: str = site.url) -> Ended:
            monkeypatch.setenv("GAINSAY_TOKEN", token)
            capfd.readouterr()
            code = await asyncio.to_thread(main, ["probe", "--server", url, *words])
            return Ended(code, *capfd.readouterr())

        yield Site(site, registers, key, probe)


def metrics(path: Path) -> dict[str, float]:
    """The samples of a file of metrics, those with a label by its value."""
    families = text_string_to_metric_families(path.read_text("utf-8"))
    return {":".join((s.name, *s.labels.values())): s.value for f in families for s in f.samples}


async def test_the_commands_of_the_runbook_bring_a_prober(database: Database, tmp_path: Path) -> None:
    """As they stand there, by a person with the service's own login and then as the callers that they make."""
    blocks = re.findall(r"^```bash\n(.*?)^```$", RUNBOOK.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if "gainsay probe" in block]
    policy = policy_file(tmp_path, **REAL, tenants={"probe": {"purpose": "probe"}})
    identities = identity_file(tmp_path)
    async with served(database.service_url, GAINSAY_POLICY=str(policy), GAINSAY_IDENTITY=identities) as site:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GAINSAY_")},
            "GAINSAY_POLICY": str(policy),
            "GAINSAY_IDENTITY": identities,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "GAINSAY_DATABASE_URL": database.service_url,
            "GAINSAY_DATA_DIR": str(tmp_path / "data"),
            "LOG_KEY": SIGNING_KEY.public.encode(),
        }
        text = f"set -e; umask 077\n{block.replace('https://gainsay.bank.example', site.url)}"
        run = await asyncio.create_subprocess_exec(
            *("bash", "-c", text), cwd=tmp_path, env=environment, stdout=PIPE, stderr=STDOUT
        )
        said = (await run.communicate())[0].decode()

    assert run.returncode == 0, said
    assert "probe: good" in said
    assert metrics(tmp_path / "gainsay_probe.prom")["gainsay_probe_success"] == 1


async def test_a_good_probe(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "probe.prom"
    async with a_site(database, tmp_path, monkeypatch, capfd) as site:
        ended = await site.probe("--key", SIGNING_KEY.public.encode(), "--metrics", str(file))
        debate = re.findall(r"debate ([0-9a-f-]{36})", ended.out)[0]
        http, headers = site.served.http, site.key.headers
        report = await http.get(f"/v1/debates/{debate}/report", headers={**headers, "accept": "text/markdown"})
        logs = (await http.get("/v1/audit/logs", headers=headers)).json()["logs"]
        caller = Caller(tenant="probe", subject=site.key.subject)
        entries = [line.entry async for line in site.served.app.reviews.follow(debate, caller)]

    assert (ended.code, ended.out.count("\n")) == (0, 1), ended
    assert re.fullmatch(
        r"probe: good in \d+\.\d s, debate \S+: completed; 0\.\d+ of 0\.50 USD charged; VERIFIED.*\n", ended.out
    )
    found = metrics(file)
    assert found["gainsay_probe_success"] == 1
    assert found["gainsay_probe_seconds"] > 0
    assert found["gainsay_probe_timestamp_seconds"] > 1_700_000_000
    assert {name: found[f"gainsay_probe_step_failed:{name}"] for name in STEPS} == dict.fromkeys(STEPS, 0)
    assert "Simulated" in report.text
    assert [log["log"] for log in logs] == ["localhost/probe/1"], "it has a log of its own"
    (started,) = (entry for entry in entries if isinstance(entry, DebateStarted))
    assert started.simulated
    assert {plan.provider for plan in started.seats} == {"offline"}


async def test_a_caller_of_another_tenant_gets_no_simulated_model(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    async with a_site(database, tmp_path, monkeypatch, capfd, work=False) as site:
        other = await site.registers.issue(*ROLES, tenant="acme")
        ended = await site.probe("--json", token=other.secret)
        http = site.served.http
        posed = await http.post("/v1/debates", json=a_case(metadata={"purpose": "probe"}), headers=other.headers)
        named = a_case(options={"format": "adversarial", "models": {"proposer": "alder-large"}})
        asked = await http.post("/v1/debates", json=named, headers=other.headers)
        models = (await http.get("/v1/models", headers=other.headers)).json()
        debates = (await http.get("/v1/debates", headers=other.headers)).json()

    told = json.loads(ended.out)
    assert (ended.code, told["failed"], told["debate"], told["left"]) == (2, "submit", None, [*STEPS[2:]])
    assert "metadata.purpose" in told["steps"][1]["detail"]
    assert (posed.status_code, posed.json()["code"]) == (422, "invalid_case")
    assert (asked.status_code, [e["pointer"] for e in asked.json()["errors"]]) == (422, ["/options/models/proposer"])
    assert not any(model["simulated"] for model in models["models"])
    assert debates["debates"] == []


async def test_the_prober_gets_no_real_model_and_no_debate_of_its_own(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    real = REAL["models"][0]["alias"]
    async with a_site(database, tmp_path, monkeypatch, capfd, work=False) as site:
        http, headers = site.served.http, site.key.headers
        plain = await http.post("/v1/debates", json=a_case(), headers=headers)
        case = {**the_case(60), "options": {"format": "adversarial", "models": {"proposer": real}}}
        named = await http.post("/v1/debates", json=case, headers=headers)
        chat: dict[str, Any] = {
            "model": "gainsay/adversarial",
            "messages": [{"role": "user", "content": "Is it capped?"}],
        }
        chat["metadata"] = {"taskType": "contract", "estimatedDownside": "500000"}
        chatted = await http.post("/v1/chat/completions", json=chat, headers=headers)
        lines = msgspec.json.encode(a_case()) + b"\n"
        batch = await http.post(
            "/v1/batches?ceilingUSD=5", content=lines, headers={**headers, "content-type": "application/jsonl"}
        )
        debates = (await http.get("/v1/debates", headers=headers)).json()

    assert (plain.status_code, plain.json()["errors"][0]["pointer"]) == (422, "/metadata")
    assert "simulated models decide here" in plain.json()["detail"]
    assert (named.status_code, [e["pointer"] for e in named.json()["errors"]]) == (422, ["/options/models/proposer"]), (
        named.text
    )
    assert (chatted.status_code, batch.status_code) == (422, 422), (chatted.text, batch.text)
    assert "simulated models decide here" in chatted.text
    assert "simulated models decide here" in batch.text
    assert debates["debates"] == []


async def test_no_vendor_is_called_for_a_debate_of_before_its_tenant_was_the_prober_s(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for folder in (before, after):
        folder.mkdir()
    plain, prober = policy_file(before, **REAL), policy_file(after, **REAL, tenants={"probe": {"purpose": "probe"}})
    caller, called = Caller(tenant="probe"), list[str]()

    async def noted(_self: object, body: bytes) -> None:
        called.append(body.decode())
        raise AssertionError("a vendor was called")

    for adapter in (OpenAICompatible, Anthropic):
        monkeypatch.setattr(adapter, "send", noted)
    async with served(database.service_url, work=False, GAINSAY_POLICY=str(plain)) as site:
        debate = (await site.app.reviews.record(a_request(), caller)).debate
    with caplog.at_level("WARNING", "gainsay"):
        async with served(database.service_url, GAINSAY_POLICY=str(prober)) as site:
            async with asyncio.timeout(30):
                while not [line for line in caplog.records if vars(line).get("event") == "debate.left_unfinished"]:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            head = await read_head(site.app.database, debate, "probe")
            kinds = [record.kind for record in await read_records(site.app.database, debate, "probe")]

    assert called == []
    assert head["spent"] == head["held"] == 0
    assert kinds == ["case.received", "gate.decided", "debate.started"], "no call was even intended"


async def test_the_prober_s_money_is_its_tenant_s_and_has_its_limit(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    limits = {"day_usd": "0.60", "month_usd": "0.60"}
    async with a_site(database, tmp_path, monkeypatch, capfd, row=limits) as site:
        codes, last = [], None
        for _ in range(60):
            last = await site.probe("--json")
            codes.append(last.code)
            if last.code:
                break
        other = await site.registers.issue(*ROLES, tenant="acme")
        http = site.served.http
        left, own = [(await http.get("/v1/budget", headers=k.headers)).json()["day"] for k in (other, site.key)]

    assert codes[0] == 0
    assert codes[-1] != 0, "the limit holds for the prober too"
    assert last is not None
    told = json.loads(last.out)
    assert (last.code, told["failed"]) == (2, "submit"), told
    assert "budget_exhausted" in told["steps"][1]["detail"]
    assert Decimal(own["limitUSD"]) == Decimal("0.60")
    assert 0 < Decimal(own["spentUSD"]) <= Decimal("0.60")
    assert [Decimal(left[name]) for name in ("limitUSD", "spentUSD")] == [Decimal(100), Decimal(0)], (
        "no other tenant pays for it"
    )


async def test_a_service_without_a_worker_is_too_late(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "probe.prom"
    async with a_site(database, tmp_path, monkeypatch, capfd, work=False) as site:
        ended = await site.probe("--within", "2", "--metrics", str(file))

    assert (ended.code, ended.out.startswith("probe: FAILED at wait after 2.")) == (3, True), ended
    assert "See that workers run" in ended.out
    found = metrics(file)
    assert (found["gainsay_probe_success"], found["gainsay_probe_step_failed:wait"]) == (0, 1)


async def test_a_service_without_a_sequencer_proves_nothing(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    async with a_site(database, tmp_path, monkeypatch, capfd, sequence=False) as site:
        ended = await site.probe("--json", "--within", "8")

    told = json.loads(ended.out)
    assert (ended.code, told["good"]) == (3, False)
    assert told["failed"] in ("wait", "result", "proof")
    assert "sequencer" in ended.out, "what is looked for first where no event says that it is over"


async def test_a_key_that_is_none_is_refused(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    async with a_site(database, tmp_path, monkeypatch, capfd, work=False, sequence=False) as site:
        ended = await site.probe("--json", token="gsk_0123456789abcdefghijklmnop")
        monkeypatch.delenv("GAINSAY_TOKEN")
        without = await asyncio.to_thread(main, ["probe", "--server", site.served.url, "--json"])

    assert (ended.code, json.loads(ended.out)["failed"]) == (2, "submit")
    assert without == 2


async def test_a_pinned_key_that_did_not_sign_is_wrong(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    other = SigningKey.from_seed("localhost", b"\x09" * 32).public.encode()
    async with a_site(database, tmp_path, monkeypatch, capfd) as site:
        ended = await site.probe("--key", other)

    assert (ended.code, "at proof" in ended.out) == (1, True), ended


def note_of(deployment: Deployment) -> bytes:
    """The approver's note of a configuration."""
    digest = sha256(deployment.configuration).hexdigest()
    return approval.encode(approval.Approval(digest, "1", "2026-11-22T09:30:00Z"), APPROVER)


async def test_where_an_approval_is_required_the_approver_s_key_is_pinned_too(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """With the log's key alone the approval is checked by none, and what the line says to do names the key."""
    usual, own = tmp_path / "usual.note", tmp_path / "probe.note"
    row = {"approval": str(own)}
    required = {"key": APPROVER.public.encode(), "required": True}
    policy = policy_file(tmp_path, **REAL, approval=required, tenants={"probe": {"purpose": "probe", **row}})
    settings = settings_for(database.service_url, GAINSAY_POLICY=str(policy))
    usual.write_bytes(note_of(deploy(settings)))
    own.write_bytes(note_of(deploy_tenant(settings, "probe")))
    log, approver = ("--key", SIGNING_KEY.public.encode()), ("--key", APPROVER.public.encode())
    async with a_site(database, tmp_path, monkeypatch, capfd, row, approval=usual) as site:
        half, whole = await site.probe(*log), await site.probe(*log, *approver)

    assert (half.code, "VERIFIED IN PART at proof" in half.out) == (4, True), half
    assert "--key names the approver's key too" in half.out
    assert (whole.code, "probe: good" in whole.out) == (0, True), whole


async def test_a_pinned_witness_has_time_to_countersign_and_is_missed_after_it(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A debate ends sooner than a witness is asked; here none is, so each look at the bundle finds none."""
    looks, bundle = list[str](), OverHTTP.bundle

    async def looked(self: OverHTTP, debate: str, file: IO[bytes]) -> Any:
        looks.append(debate)
        return await bundle(self, debate, file)

    monkeypatch.setattr(OverHTTP, "bundle", looked)
    monkeypatch.setattr(steps, "WITNESSED_S", 0.3)
    monkeypatch.setattr(steps, "WITNESS_PAUSE_S", 0.1)
    witness = SigningKey.from_seed("witness.example", b"\x09" * 32, COSIGNATURE).public.encode()
    async with a_site(database, tmp_path, monkeypatch, capfd) as site:
        ended = await site.probe("--witness", witness)

    assert (ended.code, "pinned witnesses that countersigned" in ended.out) == (1, True), ended
    assert len(looks) > 1


def charged(result: Result, **changes: Any) -> Result:
    return replace(result, overall_cost=replace(result.overall_cost, **changes))


def seat_dearer(result: Result) -> Result:
    seats = dict(result.overall_cost.by_seat)
    seats["critic"] = replace(seats["critic"], amount_usd="0.499999")
    return charged(result, by_seat=seats)


LIES: dict[str, tuple[str, int, Callable[[Result], Result]]] = {
    "a debate of real models": ("result", 1, lambda r: replace(r, simulated=False)),
    "a case that is not the prober's": ("result", 1, lambda r: replace(r, case=replace(r.case, metadata={}))),
    "a debate that ran out of money": ("result", 1, lambda r: replace(r, status="truncated", detail="no money")),
    "a debate that failed": ("result", 3, lambda r: replace(r, status="failed", detail="a fault")),
    "no decision": ("result", 1, lambda r: replace(r, decision=None)),
    "more than the ceiling": ("money", 1, lambda r: charged(r, spent_usd="0.500001")),
    "another ceiling": ("money", 1, lambda r: charged(r, ceiling_usd="5.00")),
    "nothing charged": ("money", 1, lambda r: charged(r, spent_usd="0.00")),
    "an excess": ("money", 1, lambda r: charged(r, excess_usd="0.000001")),
    "money that is still held": ("money", 1, lambda r: charged(r, held_usd="0.01")),
    "less than the attempts": ("money", 1, lambda r: charged(r, spent_usd="0.000001")),
    "a seat that cost more": ("money", 1, seat_dearer),
    "an attempt less": ("money", 1, lambda r: replace(r, attempts=r.attempts[1:])),
    "an amount that is none": ("money", 1, lambda r: charged(r, spent_usd="NaN")),
}


async def test_a_service_that_says_what_must_not_be_is_found_out(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    honest, found = OverHTTP.result, {}
    async with a_site(database, tmp_path, monkeypatch, capfd) as site:
        for name, (_, _, lie) in LIES.items():

            async def lying(self: OverHTTP, debate: str, lie: Callable[[Result], Result] = lie) -> Result:
                return lie(await honest(self, debate))

            monkeypatch.setattr(OverHTTP, "result", lying)
            ended = await site.probe("--json")
            found[name] = (json.loads(ended.out)["failed"], ended.code)

    assert found == {name: (step, code) for name, (step, code, _) in LIES.items()}


def shown(text: str) -> dict[str, float]:
    """What /metrics says of probes."""
    return {name: float(value) for name, value in re.findall(r"^(gainsay_probe_\w+) (\S+)$", text, re.MULTILINE)}


async def test_every_process_shows_the_last_probe_by_what_was_recorded_of_it(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for gauge in (telemetry.PROBE_SUCCESS, telemetry.PROBE_SUCCEEDED, telemetry.PROBE_SECONDS):
        monkeypatch.setattr(gauge, "_is_set", False)
    async with a_site(database, tmp_path, monkeypatch, capfd) as site:
        last = LastProbe(site.served.app.database, lambda: "probe")
        scraper = await site.registers.issue("scrape", tenant=None)

        async def looked() -> dict[str, float]:
            await last.look("probe")
            return shown((await site.served.http.get("/metrics", headers=scraper.headers)).text)

        none = await looked()
        begun = time.time()
        good = json.loads((await site.probe("--json")).out)
        first = await looked()
        dear = json.loads((await site.probe("--json")).out)
        with psycopg.connect(database.admin_url, options="-c search_path=gainsay") as admin:
            admin.execute("UPDATE debate_head SET excess = 1 WHERE debate = %s", [dear["debate"]])
        second = await looked()
        after = json.loads((await site.probe("--json")).out)
        third = await looked()

    assert [probed["exit"] for probed in (good, dear, after)] == [0, 0, 0]
    assert none == {}, "nothing is said before the first"
    assert first["gainsay_probe_success"] == 1
    assert 0 < first["gainsay_probe_seconds"] <= good["seconds"]
    assert begun - 5 <= first["gainsay_probe_last_success_timestamp_seconds"] <= time.time() + 5
    assert second["gainsay_probe_success"] == 0, "it was charged above its ceiling"
    last_good = "gainsay_probe_last_success_timestamp_seconds"
    assert second[last_good] == first[last_good], "it stays that of the good one"
    assert third["gainsay_probe_success"] == 1
    assert third[last_good] > first[last_good]


async def test_a_probe_that_is_not_over_is_not_good(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for gauge in (telemetry.PROBE_SUCCESS, telemetry.PROBE_SUCCEEDED, telemetry.PROBE_SECONDS):
        monkeypatch.setattr(gauge, "_is_set", False)
    async with a_site(database, tmp_path, monkeypatch, capfd, work=False) as site:
        await site.probe("--within", "1")
        last = LastProbe(site.served.app.database, lambda: "probe")
        await last.look("probe")
        early = telemetry.PROBE_SUCCESS._is_set
        monkeypatch.setattr("service.store.last_probe.DUE_S", 0.5)
        await last.look("probe")

    assert not early, "it may still end in time"
    assert telemetry.PROBE_SUCCESS._value.get() == 0
    assert telemetry.PROBE_SECONDS._value.get() > 0.5
    assert not telemetry.PROBE_SUCCEEDED._is_set


async def test_a_bundle_that_was_changed_or_is_another_s_is_found_out(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    honest, said = OverHTTP.bundle, []
    async with a_site(database, tmp_path, monkeypatch, capfd) as site:
        first = json.loads((await site.probe("--json")).out)["debate"]

        async def another(self: OverHTTP, _: str, file: IO[bytes]) -> None:
            await honest(self, first, file)

        async def changed(self: OverHTTP, debate: str, file: IO[bytes]) -> None:
            whole = BytesIO()
            await honest(self, debate, whole)
            file.write(whole.getvalue().replace(b"documents/", b"documentz/"))

        for lie in (another, changed):
            monkeypatch.setattr(OverHTTP, "bundle", lie)
            ended = await site.probe("--json")
            said.append((json.loads(ended.out)["failed"], ended.code))

    assert said == [("proof", 1), ("proof", 1)]


def test_a_fault_of_the_prober_itself_is_in_its_metrics_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(_server: str, _work: object) -> None:
        raise KeyError("a fault")

    monkeypatch.setattr(place, "by_service", broken)

    assert main(["probe", "--server", "http://127.0.0.1:9", "--metrics", str(tmp_path / "p.prom")]) == 3
    assert metrics(tmp_path / "p.prom")["gainsay_probe_success"] == 0
    assert "internal: KeyError" in capfd.readouterr().err


def test_an_error_after_the_last_step_changes_no_result() -> None:
    probe = Probe(Trust(), 60)
    for _ in STEPS:
        probe._note("good")
    probe.fail(StoreUnavailable("the connection broke when it was closed"))
    assert (probe.ended.code, probe.ended.failed, len(probe.ended.steps)) == (0, None, len(STEPS))

    probe = Probe(Trust(), 60)
    probe.fail(StoreUnavailable("no answer"))
    probe.fail(StoreUnavailable("nor when it was closed"))
    assert [step.detail for step in probe.ended.steps] == [f"{StoreUnavailable.code}: no answer"]


def test_no_address_and_a_metrics_file_that_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GAINSAY_SERVER", raising=False)

    assert main(["probe", "--metrics", str(tmp_path / "p.prom")]) == 2
    assert metrics(tmp_path / "p.prom")["gainsay_probe_step_failed:ready"] == 1
    assert [path.name for path in tmp_path.glob("*p.prom*")] == ["p.prom"], "nothing is left beside it"
    assert main(["probe", "--metrics", str(tmp_path / "none" / "p.prom")]) == 3
    assert "cannot_write" in capfd.readouterr().err
