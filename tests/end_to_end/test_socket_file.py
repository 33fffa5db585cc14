"""The service on a socket file: who may open it, what becomes of it, and that a proxy behind it names callers."""

from __future__ import annotations

import asyncio
import grp
import os
import socket
import stat
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvloop

from service.web.access import presented
from service.web.server import serving
from service.web.socket_file import CannotListen, SocketFile
from tests.fixtures.postgres import Database
from tests.fixtures.serving import NO_TLS, served

PROXY = """
[proxy]
from = [{peers}]
header = "Gainsay-Subject"
tenant = "default"
roles = ["auditor"]
"""


async def told(scope, receive, send) -> None:  # type: ignore[no-untyped-def]
    """An application that answers with the peer that the door sees."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": presented(scope).peer.encode()})


async def ask(path: Path) -> str:
    transport = httpx.AsyncHTTPTransport(uds=str(path), verify=NO_TLS)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        return (await http.get("/")).text


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_its_owner_alone_may_open_the_file_and_it_is_gone_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "gainsay.sock"
    before = os.umask(0)
    os.umask(before)

    async with serving(told, unix=SocketFile(path)) as address:
        assert address == f"unix:{path}"
        assert mode(path) == 0o600
        assert await ask(path) == "unix"

    assert not path.exists()
    assert os.umask(before) == before


def test_the_loop_of_the_command_says_the_same(tmp_path: Path) -> None:
    async def asked() -> str:
        async with serving(told, unix=SocketFile(tmp_path / "gainsay.sock")):
            return await ask(tmp_path / "gainsay.sock")

    assert uvloop.run(asked()) == "unix"


async def test_a_group_may_be_let_in_too(tmp_path: Path) -> None:
    path, group = tmp_path / "gainsay.sock", grp.getgrgid(os.getgid())

    async with serving(told, unix=SocketFile(path, group.gr_name)):
        assert (mode(path), path.stat().st_gid) == (0o660, group.gr_gid)


async def test_a_file_that_was_left_behind_is_replaced_and_one_in_use_is_not(tmp_path: Path) -> None:
    path = tmp_path / "gainsay.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))

    async with serving(told, unix=SocketFile(path)):
        with pytest.raises(CannotListen, match="another process listens on it; choose another --unix"):
            async with serving(told, unix=SocketFile(path)):
                pass
        assert await ask(path) == "unix"


async def test_what_is_no_socket_is_never_removed(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("notes")

    for wrong, said in (
        (path, "no socket"),
        (tmp_path / "none" / "x", "No such file"),
        (tmp_path / ("x" * 200), "long"),
    ):
        with pytest.raises(CannotListen, match=said):
            async with serving(told, unix=SocketFile(wrong)):
                pass
    assert path.read_text() == "notes"


async def test_a_group_that_is_not_there_is_named_and_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "gainsay.sock"

    with pytest.raises(CannotListen, match="to the group no-such-group"):
        async with serving(told, unix=SocketFile(path, "no-such-group")):
            pass
    assert not path.exists()


async def test_over_tcp_the_peer_is_an_address(tmp_path: Path) -> None:
    async with serving(told) as address, httpx.AsyncClient(verify=NO_TLS) as http:
        assert (await http.get(address)).text == "127.0.0.1"


def test_a_client_that_has_left_counts_as_no_socket_file() -> None:
    """A server that can no longer say the client's address says none, as it does for a socket file."""
    scope: dict[str, Any] = {"type": "http", "headers": [], "client": None}

    assert presented({**scope, "server": ("127.0.0.1", 8321)}).peer == ""  # type: ignore[arg-type]
    assert presented({**scope, "server": None}).peer == ""  # type: ignore[arg-type]
    assert presented({**scope, "server": ("/run/gainsay.sock", None)}).peer == "unix"  # type: ignore[arg-type]


async def test_a_listed_proxy_names_the_caller_and_every_other_is_refused(database: Database, tmp_path: Path) -> None:
    identity = tmp_path / "identity.toml"
    identity.write_text(PROXY.format(peers='"127.0.0.1/32"'))
    named = {"Gainsay-Subject": "ada@bank.example"}
    async with served(database.service_url, work=False, sequence=False, GAINSAY_IDENTITY=str(identity)) as site:
        answers = await asyncio.gather(
            site.http.get("/v1/debates", headers=named),
            site.http.get("/v1/debates"),
            site.http.get("/v1/debates", headers=[*named.items(), *named.items()]),
            site.http.get("/v1/debates", headers={**named, "Authorization": "Bearer x"}),
            site.http.post("/v1/debates", json={}, headers=named),
        )
    assert [answer.status_code for answer in answers] == [200, 401, 400, 400, 403]

    identity.write_text(PROXY.format(peers='"10.0.0.0/8", "unix"'))
    async with served(database.service_url, work=False, sequence=False, GAINSAY_IDENTITY=str(identity)) as site:
        forged = await site.http.get("/v1/debates", headers={**named, "X-Forwarded-For": "10.0.0.1"})
    assert forged.status_code == 400
    assert "from a listed proxy alone" in forged.json()["detail"]
