"""Every process that stays answers /livez, /readyz and /metrics, and who reads the metrics is the same for each."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families as read_plain

from service.audit.note import COSIGNATURE, SigningKey
from service.proving.signing.checkpoint_files import CheckpointFiles
from service.proving.signing.countersigner import Countersigner
from service.proving.signing.local import LocalSigner
from service.web.operations import OPERATIONS
from service.web.probe_server import make_probe_app
from service.web.server import serving
from service.web.signer_api import Probed, make_signer_api, make_witness_api
from tests.end_to_end.processes import deployed
from tests.fixtures.callers import Registers, identity_file
from tests.fixtures.postgres import Database
from tests.fixtures.secret_files import write_secret
from tests.fixtures.serving import NO_TLS, SIGNING_KEY, served

pytestmark = pytest.mark.asyncio(loop_scope="module")
TOKEN = "the-token-of-prometheus"
GOOD = {"authorization": f"Bearer {TOKEN}"}
ELSEWHERE = {"host": "sequencer.gainsay.svc:8324"}
"""The name that another machine asks for: a request of this machine names this machine."""
WITNESS = SigningKey.from_seed("witness.example", b"\x08" * 32, COSIGNATURE)
PROCESSES = ("serve", "work", "sequence", "signer", "witness", "mcp")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def addresses(
    module_database: Database, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[dict[str, str]]:
    """One process of each kind, with the token in a file; no process knows identities."""
    folder = tmp_path_factory.mktemp("processes")
    token, key = write_secret(folder / "token", f"{TOKEN}\n"), write_secret(folder / "witness.key", WITNESS.encode())
    log = f"file:{folder / 'log.key'}"
    async with deployed(module_database, folder, GAINSAY_METRICS_TOKEN=f"file:{token}") as processes:
        started = {
            "serve": processes.start("serve", "--port", "0", "--no-worker", "--no-sequencer"),
            "work": processes.start("work", "--port", "0"),
            "sequence": processes.start("sequence", "--port", "0"),
            "signer": processes.start("signer", "--key", log, "--heads", str(folder / "signed"), "--port", "0"),
            "witness": processes.start(
                *("witness", "--key", f"file:{key}", "--heads", str(folder / "seen"), "--port", "0"),
                *("--log", SIGNING_KEY.public.encode()),
            ),
        }
        found = {name: await process.says(r"(http://[\d.]+:\d+)") for name, process in started.items()}
        gateway = processes.start("mcp", "--http", "--port", "0", "--server", found["serve"])
        found["mcp"] = await gateway.says(r"serving MCP on (http://[\d.]+:\d+)")
        yield found


@pytest.mark.parametrize("name", PROCESSES)
async def test_a_process_says_that_it_lives_and_is_ready_and_gives_its_metrics(
    addresses: dict[str, str], name: str
) -> None:
    async with httpx.AsyncClient(base_url=addresses[name], verify=NO_TLS) as http:
        live, ready = await http.get("/livez"), await http.get("/readyz")
        here = await http.get("/metrics")

    assert (live.json(), ready.json()) == ({"status": "alive"}, {"status": "ready"})
    shown = {sample.name: sample.value for family in read_plain(here.text) for sample in family.samples}
    assert {"process_resident_memory_bytes", "python_info"} <= shown.keys()
    has_database = name in ("serve", "work", "sequence")
    assert shown.get("gainsay_database_up") == (1 if has_database else None)
    assert ("gainsay_log_unproven_records" in shown) == has_database, "nothing is shown that is not measured"


@pytest.mark.parametrize(
    ("name", "most"), [("serve", 1_600), ("work", 1_500), ("sequence", 200), ("signer", 200), ("witness", 200)]
)
async def test_a_process_begins_with_a_bounded_number_of_samples(
    addresses: dict[str, str], name: str, most: int
) -> None:
    """With the shipped policy. Each model of a policy adds some 60, each task type some 150."""
    async with httpx.AsyncClient(base_url=addresses[name], verify=NO_TLS) as http:
        samples = [line for line in (await http.get("/metrics")).text.splitlines() if not line.startswith("#")]

    assert len(samples) <= most, "see docs/metrics.md: which labels do not occur together?"


async def test_requests_to_every_route_add_a_bounded_number_of_samples(addresses: dict[str, str]) -> None:
    async with httpx.AsyncClient(base_url=addresses["serve"], verify=NO_TLS) as http:
        for operation in OPERATIONS:
            path = re.sub(r"\{\w+\}", "x", operation.path)
            await http.request(operation.method.upper(), path, headers={"content-length": "0"})
        text = (await http.get("/metrics")).text

    samples = [line for line in text.splitlines() if not line.startswith("#")]
    routes = {sample for sample in samples if sample.startswith("gainsay_http_request_seconds_count")}
    assert len(routes) > 40
    assert len(samples) <= 2_450, len(samples)


@pytest.mark.parametrize("name", PROCESSES[1:])
async def test_another_machine_reads_the_metrics_with_the_token_alone(addresses: dict[str, str], name: str) -> None:
    async with httpx.AsyncClient(base_url=addresses[name], verify=NO_TLS) as http:
        good = await http.get("/metrics", headers={**ELSEWHERE, **GOOD})
        also = await http.get("/metrics", headers={**ELSEWHERE, "authorization": f"bearer  {TOKEN}"})
        none = await http.get("/metrics", headers=ELSEWHERE)
        refused = [
            await http.get("/metrics", headers=[(b"host", b"x"), (b"authorization", value.encode("latin-1"))])
            for value in (
                f"Bearer {TOKEN}x",
                f"Bearer {TOKEN[:-1]}",
                "Bearer",
                f"Basic {TOKEN}",
                TOKEN,
                "Bearer \xff",
            )
        ]
        twice = await http.get("/metrics", headers=[*ELSEWHERE.items(), *GOOD.items(), *GOOD.items()])
        asked = [
            await http.get(f"/metrics?{query}", headers=ELSEWHERE)
            for query in (f"token={TOKEN}", f"access_token={TOKEN}", f"authorization=Bearer%20{TOKEN}")
        ]
        wrong_here = await http.get("/metrics", headers={"authorization": "Bearer another-token-of-16"})
        probes = [(await http.get(path, headers=ELSEWHERE)).status_code for path in ("/livez", "/readyz")]

    assert (good.status_code, also.status_code) == (200, 200)
    assert "process_cpu_seconds_total" in good.text
    for answer in (none, *refused, twice, *asked, wrong_here):
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert TOKEN not in answer.text
        assert "process_" not in answer.text
    assert probes == [200, 200]


async def test_the_token_opens_nothing_but_the_metrics(addresses: dict[str, str]) -> None:
    async with httpx.AsyncClient(verify=NO_TLS, headers=GOOD) as http:
        gateway = await http.post(f"{addresses['mcp']}/mcp", headers=ELSEWHERE, json={})
        page = await http.get(f"{addresses['serve']}/metrics", headers={"host": "rebound.example"})

    assert gateway.status_code == 421
    assert page.status_code == 421, "a service without identities answers this machine alone"


async def test_a_service_with_identities_takes_the_token_beside_keys_and_for_the_metrics_alone(
    database: Database, tmp_path: Path
) -> None:
    identity = identity_file(tmp_path)
    async with served(
        database.service_url, work=False, sequence=False, GAINSAY_IDENTITY=identity, GAINSAY_METRICS_TOKEN=TOKEN
    ) as site:
        registers = Registers(database)
        scrape, requester = await registers.issue("scrape", tenant=None), await registers.issue("requester")

        async def status(path: str, headers: dict[str, str]) -> int:
            return (await site.http.get(path, headers=headers)).status_code

        assert await status("/metrics", GOOD) == 200
        assert await status("/metrics", {**GOOD, **ELSEWHERE}) == 200
        assert await status("/metrics", scrape.headers) == 200
        assert await status("/metrics", requester.headers) == 403
        assert await status("/metrics", {}) == 401
        assert await status("/metrics", {"authorization": "Bearer another-token-of-16"}) == 401
        assert await status(f"/metrics?token={TOKEN}", {}) == 401
        for path in ("/v1/debates", "/v1/policy", "/v1/me", "/v1/audit/logs"):
            assert await status(path, GOOD) in (401, 404), path
        async with (
            serving(make_probe_app(site.app.troubles, site.app.authenticator, metrics_token=TOKEN)) as worker,
            httpx.AsyncClient(base_url=worker, verify=NO_TLS) as http,
        ):
            assert (await http.get("/metrics", headers=GOOD)).status_code == 200
            assert (await http.get("/metrics", headers=scrape.headers)).status_code == 200
            assert (await http.get("/metrics")).status_code == 401


@pytest.mark.parametrize("headers", [{}, ELSEWHERE, {"x-forwarded-for": "10.0.0.7"}])
async def test_why_a_process_is_not_ready_is_said_to_this_machine_alone(headers: dict[str, str]) -> None:
    async def late() -> list[str]:
        return ["the log localhost/bank/1 is late"]

    async with serving(make_probe_app(late)) as url, httpx.AsyncClient(base_url=url, verify=NO_TLS) as http:
        answer = await http.get("/readyz", headers=headers)

    assert answer.status_code == 503
    assert ("bank" in answer.text) == (not headers), answer.text


async def test_without_the_setting_the_metrics_stay_on_this_machine(tmp_path: Path) -> None:
    async def none() -> list[str]:
        return []

    signed, seen = CheckpointFiles(tmp_path / "signed"), CheckpointFiles(tmp_path / "seen", "witnessed")
    apps = (
        make_probe_app(none),
        make_signer_api(LocalSigner([SIGNING_KEY], signed), None),
        make_witness_api(Countersigner([WITNESS], [SIGNING_KEY.public], seen)),
    )
    async with AsyncExitStack() as stack:
        for app in apps:
            url = await stack.enter_async_context(serving(app))
            http = await stack.enter_async_context(httpx.AsyncClient(base_url=url, verify=NO_TLS))
            assert (await http.get("/metrics")).status_code == 200
            for headers in (ELSEWHERE, {**ELSEWHERE, **GOOD}, {"host": "rebound.example"}):
                refused = await http.get("/metrics", headers=headers)
                assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
                assert "GAINSAY_METRICS_TOKEN" in refused.json()["detail"]


async def test_a_signer_whose_folder_is_gone_is_not_ready(tmp_path: Path) -> None:
    heads = CheckpointFiles(tmp_path / "heads")
    app = make_signer_api(LocalSigner([SIGNING_KEY], heads), None, Probed(heads.troubles))
    async with serving(app) as url, httpx.AsyncClient(base_url=url, verify=NO_TLS) as http:
        before = await http.get("/readyz")
        (tmp_path / "heads").rename(tmp_path / "elsewhere")
        gone = await http.get("/readyz")
        (tmp_path / "elsewhere").rename(tmp_path / "heads")
        after = await http.get("/readyz")

    assert (before.status_code, gone.status_code, after.status_code) == (200, 503, 200)
    assert "the folder of heads" in gone.json()["detail"]


@pytest.mark.parametrize("words", [("serve",), ("work",), ("sequence",), ("signer", "--key", "env:K", "--heads", "h")])
@pytest.mark.parametrize("token", ["", "short", "with spaces in the token", "file:/nowhere/token"])
async def test_a_token_that_is_none_is_refused_at_the_start(
    module_database: Database, tmp_path: Path, words: tuple[str, ...], token: str
) -> None:
    async with deployed(module_database, tmp_path, K=SIGNING_KEY.encode()) as processes:
        process = processes.start(*words, "--port", "0", GAINSAY_METRICS_TOKEN=token)

        assert await process.ends() == 2
        assert "GAINSAY_METRICS_TOKEN" in process.told


async def test_a_token_in_a_file_is_read_again(tmp_path: Path) -> None:
    async def none() -> list[str]:
        return []

    file = write_secret(tmp_path / "token", TOKEN)
    async with (
        serving(make_probe_app(none, metrics_token=f"file:{file}")) as url,
        httpx.AsyncClient(base_url=url, verify=NO_TLS, headers=ELSEWHERE) as http,
    ):
        assert (await http.get("/metrics", headers=GOOD)).status_code == 200
        await asyncio.to_thread(write_secret, file, "the-next-token-of-prometheus")
        assert (await http.get("/metrics", headers=GOOD)).status_code == 401
        next_one = {"authorization": "Bearer the-next-token-of-prometheus"}
        assert (await http.get("/metrics", headers=next_one)).status_code == 200
