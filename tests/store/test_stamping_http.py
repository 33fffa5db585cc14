"""An authority over HTTP: OpenSSL's, which has no line of this project, and authorities that lie."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from service.audit.checkpoint import Checkpoint, sign_checkpoint
from service.audit.note import parse_note
from service.audit.timestamp import open_time_stamp
from service.policy import TimeStamps
from service.proving.sequencer import stamping
from service.proving.signing.stamps import TimeStampUnavailable
from service.proving.signing.time_stamps import TimeStampAuthority
from service.proving.signing.wire import BODY_MAX
from service.store.pool import Database as Store
from service.store.row_comparison import compare_shared
from tests.fixtures.postgres import Database
from tests.fixtures.sequencing import KEY, LOG, a_sequencer, stage
from tests.fixtures.stamping import AUTHORITY, AUTHORITY_KEY, a_certificate

pytestmark = pytest.mark.no_replay
Answers = Callable[[bytes], Awaitable[bytes]]
"""From the body of a request to a whole answer of HTTP."""
OPENSSL = shutil.which("openssl")
needs_openssl = pytest.mark.skipif(OPENSSL is None, reason="there is no openssl to be the authority")
NOTE = sign_checkpoint(Checkpoint(LOG, 3, b"\x07" * 32), KEY)
SETTINGS = """
[tsa]
default_tsa = t
[t]
serial = {folder}/serial
signer_cert = {folder}/authority.pem
signer_key = {folder}/authority.key
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256
ess_cert_id_chain = no
ess_cert_id_alg = sha256
"""


def http(body: bytes, status: str = "200 OK", kind: str = "application/timestamp-reply") -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    return head.encode() + body


@asynccontextmanager
async def authority(
    answers: Answers, certificate: str = AUTHORITY, call_s: float = 3.0
) -> AsyncIterator[TimeStampAuthority]:
    """An authority that answers so, and the service's connections to it."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        assert "content-type: application/timestamp-query\r\n" in head
        size = next(int(line.partition(":")[2]) for line in head.splitlines() if line.startswith("content-length"))
        writer.write(await answers(await reader.readexactly(size)))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        client = TimeStampAuthority(TimeStamps(f"http://127.0.0.1:{port}/tsr", certificate), call_s=call_s)
        yield client
        await client.close()


def openssl(folder: Path, key: ec.EllipticCurvePrivateKey = AUTHORITY_KEY, certificate: str = AUTHORITY) -> Answers:
    """OpenSSL as the authority."""
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    files = {"authority.key": pem, "authority.pem": certificate.encode(), "serial": b"01\n"}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / "tsa.conf").write_text(SETTINGS.format(folder=folder))

    async def answer(query: bytes) -> bytes:
        (folder / "query").write_bytes(query)
        command = [str(OPENSSL), "ts", "-reply", "-config", "tsa.conf", "-queryfile", "query", "-out", "reply"]
        await asyncio.to_thread(subprocess.run, command, cwd=folder, check=True, capture_output=True)
        return http((folder / "reply").read_bytes())

    return answer


async def said(body: bytes) -> Answers:
    async def answer(_: bytes) -> bytes:
        return body

    return answer


LIES = {
    "HTML": http(b"<html>please log in</html>", kind="text/html"),
    "HTML under the right name": http(b"<html>please log in</html>"),
    "nothing": http(b""),
    "an enormous body": http(b"\x30" * (BODY_MAX + 1)),
    "an error": http(b"", "503 Service Unavailable"),
    "a redirect": http(b"", "302 Found\r\nlocation: http://127.0.0.1:1/"),
    "no HTTP": b"hello\r\n\r\n",
    "half an answer": http(b"\x30" * 100)[:-50],
}


@pytest.mark.parametrize("lie", LIES)
async def test_an_answer_that_is_no_stamp_is_refused(lie: str) -> None:
    async with authority(await said(LIES[lie])) as client:
        with pytest.raises(TimeStampUnavailable):
            await client.stamp(NOTE)


async def test_an_authority_that_does_not_answer_is_not_waited_for() -> None:
    over = asyncio.Event()

    async def late(_: bytes) -> bytes:
        await over.wait()
        return b""

    async with authority(late, call_s=0.1) as client:
        with pytest.raises(TimeStampUnavailable, match="no complete answer within"):
            await client.stamp(NOTE)
        over.set()
        await asyncio.sleep(0.05)  # the authority closes its end


@needs_openssl
async def test_a_stamp_of_openssl_is_taken(tmp_path: Path) -> None:
    async with authority(openssl(tmp_path)) as client:
        stamp = await client.stamp(NOTE)

    found = open_time_stamp(stamp.token, parse_note(NOTE).text)
    assert (stamp.seconds, stamp.authority) == (found.seconds, found.authority)


@needs_openssl
async def test_the_stamp_of_an_earlier_request_is_refused_by_its_nonce(tmp_path: Path) -> None:
    ask, kept = openssl(tmp_path), list[bytes]()

    async def first_again(query: bytes) -> bytes:
        kept.append(await ask(query))
        return kept[0]

    async with authority(first_again) as client:
        await client.stamp(NOTE)
        with pytest.raises(TimeStampUnavailable):
            await client.stamp(NOTE)


@needs_openssl
async def test_a_stamp_by_another_certificate_is_refused(tmp_path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    async with authority(openssl(tmp_path, key, a_certificate(key=key))) as client:
        with pytest.raises(TimeStampUnavailable):
            await client.stamp(NOTE)


@needs_openssl
async def test_a_stored_stamp_is_opened_again_with_its_head(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamping, "LOOK_S", 0.02)
    stage(database, 1, [0])
    async with authority(openssl(tmp_path)) as client, a_sequencer(database) as sequencer:
        sequencer.stamp_with(client, 600)
        task = asyncio.create_task(sequencer.run())
        with psycopg.connect(database.admin_url, options="-c search_path=gainsay", autocommit=True) as admin:
            async with asyncio.timeout(60):
                while not (rows := admin.execute("SELECT size, token FROM time_stamp").fetchall()):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            sequencer.stop()
            await task
            async with Store.open(database.service_url, size=1) as store:
                assert await compare_shared(store) == 0
                admin.execute("ALTER TABLE time_stamp DISABLE TRIGGER USER")
                admin.execute("UPDATE time_stamp SET stamped = stamped - interval '1 day'")
                assert await compare_shared(store) == 1
                admin.execute("UPDATE time_stamp SET token = %s", (sha256(b"").digest(),))
                assert await compare_shared(store) == 1

    assert [size for size, _ in rows] == [1]


async def test_a_certificate_is_unusable_only_out_of_its_days() -> None:
    expired = a_certificate(until=datetime(2026, 1, 2, tzinfo=UTC))
    async with authority(await said(b"")) as client, authority(await said(b""), expired) as late:
        assert client.unusable() is None
        assert "2026-01-02" in str(late.unusable())
