"""A service without identities answers this machine alone, whatever a web page or another machine tries."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from service.identity.authentication import LocalAuthenticator
from service.web.probe_server import make_probe_app
from service.web.server import listening, serving
from service.web.socket_file import SocketFile
from tests.fixtures.callers import identity_file
from tests.fixtures.running import repository
from tests.fixtures.serving import NO_TLS, Served, a_declined_case

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATHS = ("/", "/livez", "/metrics", "/v1/debates", "/docs", "/openapi.json", "/v1/nothing")


@pytest.mark.parametrize(
    "host", ["rebound.example", "rebound.example:8321", "10.0.0.7", "0.0.0.0", "localhost.example"]
)
async def test_a_page_whose_name_was_made_to_lead_here_reads_nothing(site: Served, host: str) -> None:
    for path in PATHS:
        answer = await site.http.get(path, headers={"host": host})

        assert (answer.status_code, answer.json()["code"]) == (421, "misdirected"), path
        assert host in answer.json()["detail"]
        assert answer.headers["request-id"]


async def test_a_request_without_a_host_or_with_two_is_refused(site: Served) -> None:
    url = httpx.URL(site.url)
    for lines in (
        ["GET /v1/debates HTTP/1.0"],
        ["GET /v1/debates HTTP/1.1", "Host: localhost", "Host: rebound.example"],
    ):
        reader, writer = await asyncio.open_connection(url.host, url.port)
        writer.write("".join(f"{line}\r\n" for line in (*lines, "")).encode())
        status = (await reader.readline()).split()[1]
        writer.close()
        await writer.wait_closed()
        assert status in (b"400", b"421"), lines


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://localhost:3000"}, 200),
        ({"origin": "http://[::1]:3000", "sec-fetch-site": "same-site"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://localhost.evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "file://"}, 403),
        ({"origin": "http://localhost/x"}, 403),
        ({"origin": "http://["}, 403),
        ({"origin": "http://[evil]"}, 403),
        ({"origin": "http://localhost@evil.example"}, 403),
        ({"origin": "http://loc\talhost"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
    ],
)
async def test_a_web_page_of_another_site_changes_nothing(site: Served, headers: dict[str, str], status: int) -> None:
    answer = await site.http.post("/v1/debates", json=a_declined_case(), headers=headers)

    assert answer.status_code == status, answer.text
    if status == 403:
        assert answer.json()["code"] == "forbidden"


async def test_a_link_of_another_site_to_a_page_is_followed_and_no_answer_is_shared_with_origins(site: Served) -> None:
    followed = await site.http.get("/docs", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"})
    preflight = await site.http.options(
        "/v1/debates", headers={"origin": "http://localhost:3000", "access-control-request-method": "POST"}
    )

    assert followed.status_code == 200
    for answer in (followed, preflight):
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


async def test_metrics_of_a_process_without_identities_are_for_this_machine(site: Served) -> None:
    async def none() -> list[str]:
        return []

    async with (
        serving(make_probe_app(none, LocalAuthenticator())) as url,
        httpx.AsyncClient(base_url=url, verify=NO_TLS) as http,
    ):
        assert (await http.get("/metrics")).status_code == 200
        rebound = {"host": "rebound.example"}
        assert (await http.get("/metrics", headers=rebound)).status_code == 403
        assert [(await http.get(path, headers=rebound)).status_code for path in ("/livez", "/readyz")] == [200, 200]


PASSED_ON = [
    ("forwarded", "for=10.0.0.7"),
    ("via", "1.1 proxy"),
    ("x-forwarded-for", "10.0.0.7"),
    ("x-real-ip", "10.0.0.7"),
]


@pytest.mark.parametrize("added", [None, *PASSED_ON])
async def test_a_proxy_of_this_machine_that_rewrites_host_learns_no_reason_and_no_metrics(
    site: Served, monkeypatch: pytest.MonkeyPatch, added: tuple[str, str] | None
) -> None:
    """What it passes on names this machine and comes from it, and is of a stranger all the same."""

    async def troubles() -> list[str]:
        return ["the log localhost/acme/1 contradicts its checkpoints"]

    monkeypatch.setattr(type(site.app), "troubles", lambda _self: troubles())
    headers = dict([added] if added else [])
    ready, metrics = await site.http.get("/readyz", headers=headers), await site.http.get("/metrics", headers=headers)

    assert ready.status_code == 503
    assert ("acme" in ready.text) == (added is None)
    assert metrics.status_code == (200 if added is None else 403)


async def test_what_comes_by_a_socket_file_is_of_this_machine_unless_a_proxy_passes_it_on(
    site: Served, tmp_path: Path
) -> None:
    socket = tmp_path / "gainsay.sock"
    async with (
        listening(site.app, unix=SocketFile(socket)),
        httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=str(socket)), base_url="http://localhost") as http,
    ):
        assert (await http.get("/metrics")).status_code == 200
        assert [(await http.get("/metrics", headers=dict([added]))).status_code for added in PASSED_ON] == [403] * 4


def started(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """`gainsay` with these arguments, to its end."""
    return subprocess.run(
        [sys.executable, "-m", "service", *words],
        cwd=repository(),
        env={
            "PATH": os.environ["PATH"],
            "GAINSAY_DATA_DIR": str(folder / "data"),
            "GAINSAY_LOG_FORMAT": "text",
            **variables,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


async def test_the_command_of_the_image_does_not_start_without_an_identity(tmp_path: Path) -> None:
    """As the Dockerfile has it. Nothing is begun: no data folder is there afterwards."""
    command = re.search(r"^CMD \[(.*)\]$", (repository() / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    assert command is not None
    words = [word.strip(' "') for word in command[1].split(",")]

    found = await asyncio.to_thread(started, tmp_path, *words)

    assert words == ["serve", "--host", "0.0.0.0"]
    assert found.returncode == 2, found.stderr
    assert "expected --host to be a loopback address" in found.stderr
    assert "GAINSAY_IDENTITY" in found.stderr
    assert not (tmp_path / "data").exists()


async def test_doctor_says_which_identities_are_configured(tmp_path: Path) -> None:
    with_keys = await asyncio.to_thread(started, tmp_path, "doctor", GAINSAY_IDENTITY=identity_file(tmp_path))
    without = await asyncio.to_thread(started, tmp_path, "doctor")

    assert re.search(r"OK +identity +.*identity\.toml: \[keys\]", with_keys.stdout), with_keys.stdout
    assert "this machine alone is answered" in without.stdout
