"""What docs/webhooks.md shows is done here: its commands, and its receivers in Python and in Node."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from service.delivering import dispatcher, schedule, sender
from service.delivering.endpoints import KEEP_HOURS
from service.delivering.master_keys import MasterKeys
from service.policy.keys import read
from service.policy.webhooks import USUAL_WEBHOOKS, Webhooks
from tests.end_to_end.test_webhooks import here
from tests.fixtures.postgres import Database
from tests.fixtures.running import repository
from tests.fixtures.serving import a_declined_case, served
from tests.store.workers import until

DOCUMENT = (repository() / "docs" / "webhooks.md").read_text("utf-8")
PROGRAMS = {"python": [sys.executable, "-u", "-c"], "js": [shutil.which("node") or "node", "-e"]}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


def shell(script: str, folder: Path, **variables: str) -> str:
    """What a script of the document prints."""
    ended = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@contextmanager
def running(language: str, port: int, secret: str, folder: Path) -> Iterator[Path]:
    """A receiver of the document; the file has what it prints."""
    (program,) = blocks(language)
    out = folder / f"{language}.txt"
    with out.open("wb") as told:
        process = subprocess.Popen(
            [*PROGRAMS[language], program],
            env={**os.environ, "PORT": str(port), "SECRET": secret},
            stdout=told,
            stderr=told,
        )
    try:
        yield out
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.mark.parametrize("language", PROGRAMS)
async def test_its_receivers_take_real_messages_once_and_refuse_others(
    database: Database, tmp_path: Path, language: str
) -> None:
    create, rotate, _ = blocks("sh")
    port = free_port()
    async with served(database.service_url, deliver=True, GAINSAY_POLICY=here(tmp_path)) as site:
        given = {"GAINSAY": site.url, "KEY": "k", "RECEIVER": f"http://127.0.0.1:{port}/hook"}
        granted = json.loads(await asyncio.to_thread(shell, create, tmp_path, **given))
        endpoint = granted["webhook"]["webhook"]
        rotated = json.loads(await asyncio.to_thread(shell, rotate, tmp_path, WEBHOOK=endpoint, **given))
        assert rotated["secret"] != granted["secret"]
        with running(language, port, granted["secret"], tmp_path) as out:
            await until(lambda: listens(port))
            debate = (await site.http.post("/v1/debates", json=a_declined_case())).json()["debateId"]
            await until(lambda: shows(out, debate), 30.0)
            here_ = f"/v1/webhooks/{endpoint}/deliveries"
            (delivery,) = (await site.http.get(here_)).json()["deliveries"]
            await until(lambda: is_delivered(site.http, here_, 1))
            await site.http.post(f"{here_}/{delivery['delivery']}/redeliver")
            await until(lambda: is_delivered(site.http, here_, 2))
            async with httpx.AsyncClient() as http:
                forged = {"webhook-id": "msg_1", "webhook-timestamp": "1", "webhook-signature": "v1,AAAA"}
                assert not await took(http, f"http://127.0.0.1:{port}/", forged)

        assert out.read_text("utf-8").count(debate) == (2 if language == "python" else 1)  # its id and its path
        assert "debate.ended" in out.read_text("utf-8")


async def took(http: httpx.AsyncClient, url: str, headers: dict[str, str]) -> bool:
    """Whether a receiver takes a request."""
    try:
        return (await http.post(url, content=b"{}", headers=headers)).is_success
    except httpx.HTTPError:
        return False


async def listens(port: int) -> bool:
    await asyncio.sleep(0.05)
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True


async def shows(out: Path, debate: str) -> bool:
    await asyncio.sleep(0.05)
    return debate in await asyncio.to_thread(out.read_text, "utf-8")


async def is_delivered(http: httpx.AsyncClient, path: str, attempts: int) -> bool:
    await asyncio.sleep(0.05)
    (delivery,) = (await http.get(path)).json()["deliveries"]
    return bool(delivery["state"] == "delivered" and delivery["attempts"] >= attempts)


def test_its_key_and_its_policy_are_read(tmp_path: Path) -> None:
    *_, key = blocks("sh")
    place = shell(f'{key}\nprintf %s "$GAINSAY_WEBHOOK_KEY"', tmp_path)
    assert place == "file:webhook.key"
    assert MasterKeys.at(f"file:{tmp_path / 'webhook.key'}", {}).newest()

    (policy,) = blocks("toml")
    found = read(tomllib.loads(policy)["webhooks"], Webhooks, ("webhooks",))
    assert (found.allow_networks, found.ports) == (("10.20.0.0/16",), (443, 8443))


def test_its_numbers_are_those_of_the_code() -> None:
    assert f"nothing in {USUAL_WEBHOOKS.timeout_s} seconds" in DOCUMENT
    assert f"after {USUAL_WEBHOOKS.retry_hours} hours" in DOCUMENT
    assert f"has {USUAL_WEBHOOKS.endpoints} active endpoints" in DOCUMENT
    assert f"after {schedule.FIRST_S:g} seconds" in DOCUMENT
    assert f"For {KEEP_HOURS} hours" in DOCUMENT
    assert f"kept for {dispatcher.FORGET_DAYS} days" in DOCUMENT
    assert (sender.HOPS, schedule.LONGEST_S, schedule.RETRY_AFTER_MAX_S) == (3, 3_600.0, 3_600.0)
    assert (dispatcher.PER_ENDPOINT, dispatcher.PER_TENANT) == (4, 32)
    assert f"a tenant has\n{dispatcher.PER_TENANT}." in DOCUMENT
