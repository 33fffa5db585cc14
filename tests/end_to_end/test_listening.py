"""Where a process listens: ``::`` stands for every address of both families, as an operator expects of it."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.web.server import serving
from service.web.socket_file import CannotListen
from tests.end_to_end.processes import deployed
from tests.fixtures.postgres import Database
from tests.fixtures.secret_files import write_secret
from tests.fixtures.serving import NO_TLS, SIGNING_KEY
from tests.fixtures.vouching import WITNESS


def has_ipv6() -> bool:
    """Whether this machine has an IPv6 loopback address."""
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


pytestmark = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")


async def told(scope: Any, _receive: Any, send: Any) -> None:
    """Answer with the address at the other end."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(scope["client"][0]).encode()})


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(verify=NO_TLS) as client:
        yield client


async def test_both_families_reach_every_address_and_a_peer_of_ipv4_is_known_as_one(http: httpx.AsyncClient) -> None:
    async with serving(told, "::") as address:
        port = httpx.URL(address).port
        peers = [(await http.get(f"http://{host}:{port}")).text for host in ("127.0.0.1", "[::1]")]

    assert address == f"http://[::]:{port}"
    assert peers == ["127.0.0.1", "::1"], "and not ::ffff:127.0.0.1, which no rule about addresses knows"
    for host in ("127.0.0.1", "[::1]"):
        with pytest.raises(httpx.ConnectError):
            await http.get(f"http://{host}:{port}")


@pytest.mark.parametrize(("host", "other"), [("::1", "127.0.0.1"), ("127.0.0.1", "[::1]"), ("0.0.0.0", "[::1]")])
async def test_any_other_address_is_of_its_own_family_alone(http: httpx.AsyncClient, host: str, other: str) -> None:
    async with serving(told, host) as address:
        with pytest.raises(httpx.ConnectError):
            await http.get(f"http://{other}:{httpx.URL(address).port}")


async def test_a_port_that_is_taken_in_one_family_is_refused_and_nothing_stays_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotListen, match=f"expected to listen on :::{port}, found: .*in use"):
            async with serving(told, "::", port):
                raise AssertionError("it must not listen on half of the addresses")
        with socket.create_server(("::", port), family=socket.AF_INET6):
            pass


async def test_a_free_port_is_free_in_both_families(monkeypatch: pytest.MonkeyPatch, http: httpx.AsyncClient) -> None:
    create, busy = socket.create_server, [True, True]

    def create_server(address: Any, **named: Any) -> socket.socket:
        if "family" not in named and busy:
            busy.pop()
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
        return create(address, **named)

    monkeypatch.setattr(socket, "create_server", create_server)
    async with serving(told, "::") as address:
        assert (await http.get(f"http://127.0.0.1:{httpx.URL(address).port}")).text == "127.0.0.1"
    assert busy == []


@pytest.mark.parametrize("code", [errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL])
async def test_a_machine_with_ipv6_alone_listens_on_that(
    monkeypatch: pytest.MonkeyPatch, http: httpx.AsyncClient, code: int
) -> None:
    create = socket.create_server

    def create_server(address: Any, **named: Any) -> socket.socket:
        if "family" not in named:
            raise OSError(code, os.strerror(code))
        return create(address, **named)

    monkeypatch.setattr(socket, "create_server", create_server)
    async with serving(told, "::") as address:
        assert (await http.get(f"http://[::1]:{httpx.URL(address).port}")).text == "::1"


@pytest.mark.parametrize("words", [("work",), ("sequence",), ("signer",), ("witness",)])
async def test_the_door_of_metrics_a_signer_and_a_witness_listen_on_both(
    module_database: Database, tmp_path: Path, http: httpx.AsyncClient, words: tuple[str, ...]
) -> None:
    signs = WITNESS if words[0] == "witness" else SIGNING_KEY
    key = f"file:{write_secret(tmp_path / 'a.key', signs.encode())}"
    more: tuple[str, ...] = (
        ("--key", key, "--heads", str(tmp_path / "heads")) if words[0] in ("signer", "witness") else ()
    )
    more += ("--log", SIGNING_KEY.public.encode()) if words[0] == "witness" else ()
    token = {"GAINSAY_SIGNER_TOKEN": "the-token-of-a-sequencer"} if words[0] == "signer" else {}
    async with deployed(module_database, tmp_path, **token) as processes:
        port = await processes.start(*words, *more, "--host", "::", "--port", "0").says(r"http://\[::\]:(\d+)")
        for host in ("127.0.0.1", "[::1]"):
            assert (await http.get(f"http://{host}:{port}/livez")).status_code == 200
            assert (await http.get(f"http://{host}:{port}/metrics")).status_code == 200, "it is of this machine"
