"""Answers are packed as Accept-Encoding asks, and say of themselves what they are: size, tag, what they vary by."""

from __future__ import annotations

import asyncio
import gzip
import os
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx
import pytest
import pytest_asyncio
import zstandard

from service.web.compression import INLINE, LEAST, Compression
from service.web.docs import docs_version
from service.web.server import serving
from tests.fixtures.serving import NO_TLS, Served, a_case
from tests.fixtures.waiting import within

pytestmark = pytest.mark.asyncio(loop_scope="module")

LOG = "/v1/audit/logs/localhost/default/1"
CODINGS = ("gzip", "zstd")
REPEATED = (
    "/v1/debates/{debate}?view=full",
    "/v1/policy",
    "/v1/prompts",
    "/openapi.json",
    "/problems",
    "/problems/too_large",
    f"/docs/{docs_version()}/swagger-ui.css",
)
"""Each is answered with the same bytes twice."""
CHANGING = ("/metrics", "/v1/debates?limit=100")


class Got(NamedTuple):
    """An answer as it was on the wire."""

    status: int
    headers: httpx.Headers
    wire: bytes

    @property
    def coding(self) -> str | None:
        found: str | None = self.headers.get("content-encoding")
        return found

    @property
    def body(self) -> bytes:
        """The bytes, unpacked."""
        match self.coding:
            case "gzip":
                return gzip.decompress(self.wire)
            case "zstd":
                return zstandard.ZstdDecompressor().decompressobj().decompress(self.wire)
        return self.wire


async def got(http: httpx.AsyncClient, path: str, accepted: str | None = None, **headers: str) -> Got:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    request = http.build_request("GET", path, headers=sent)
    request.headers.pop("accept-encoding")
    if accepted is not None:
        request.headers["accept-encoding"] = accepted
    answer = await http.send(request, stream=True)
    wire = b"".join([chunk async for chunk in answer.aiter_raw()])
    await answer.aclose()
    if "content-length" in answer.headers and answer.status_code == 200:
        assert int(answer.headers["content-length"]) == len(wire), path
    return Got(answer.status_code, answer.headers, wire)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def finished(site: Served) -> str:
    return str((await site.finished())["debateId"])


@pytest.mark.parametrize("coding", CODINGS)
async def test_a_packed_answer_is_the_same_answer(site: Served, finished: str, coding: str) -> None:
    paths = [path.replace("{debate}", finished) for path in REPEATED]
    reports = [(f"/v1/debates/{finished}/report", {"accept": form}) for form in ("text/html", "text/markdown")]
    for path, headers in [*((path, {}) for path in paths), *reports]:
        plain = await got(site.http, path, **headers)
        packed = await got(site.http, path, coding, **headers)

        assert (plain.coding, packed.coding) == (None, coding), path
        assert packed.body == plain.body
        assert len(packed.wire) < len(plain.wire) * 0.7
        assert "accept-encoding" in packed.headers["vary"].lower()
        assert packed.headers["vary"] == plain.headers["vary"]
        assert packed.headers["content-type"] == plain.headers["content-type"]
        if "etag" in plain.headers:
            assert packed.headers["etag"] == f'{plain.headers["etag"][:-1]}+{coding}"', "no two answers share a tag"
    for path in CHANGING:
        assert (await got(site.http, path, coding)).body


@pytest.mark.parametrize("form", ["jsonl", "csv"])
async def test_an_export_is_packed_in_pieces(site: Served, finished: str, form: str) -> None:
    for coding in CODINGS:
        packed = await got(site.http, f"{LOG}/records?format={form}", coding)

        assert packed.coding == coding
        assert "content-length" not in packed.headers
        assert packed.headers["vary"] == "Accept, Accept-Encoding"
        assert finished.encode() in packed.body
        assert packed.body.count(b"\n") > 10
        assert len(packed.wire) < len(packed.body) / 2


async def test_what_holds_no_repetition_is_sent_as_it_is(site: Served, finished: str) -> None:
    pdf = await got(site.http, f"/v1/debates/{finished}/report", "gzip, zstd", accept="application/pdf")
    bundle = await got(site.http, f"/v1/debates/{finished}/audit", "zstd")
    tiny = await got(site.http, "/livez", "gzip, zstd")
    tile = await got(site.http, f"{LOG}/tile/0/000.p/1", "gzip, zstd")

    assert [one.coding for one in (pdf, bundle, tiny, tile)] == [None] * 4
    assert pdf.wire.startswith(b"%PDF")
    assert bundle.wire.startswith(b"PK")
    assert len(tiny.wire) < LEAST


async def test_events_are_never_packed_and_wait_for_no_buffer(site: Served) -> None:
    debate = (await site.submit(a_case()))["debateId"]
    for accepted in ("gzip, zstd", "identity;q=0, gzip", "*;q=0, zstd"):
        events = await got(site.http, f"/v1/debates/{debate}/events", accepted)
        assert events.coding is None
        assert events.wire.startswith(b"retry: ")
        assert b"event: final" in events.wire
        assert "vary" not in events.headers


async def test_a_client_that_refuses_identity_gets_everything_packed(site: Served, finished: str) -> None:
    for path, accept in (("/livez", "*/*"), (f"/v1/debates/{finished}/report", "application/pdf")):
        packed = await got(site.http, path, "gzip, identity;q=0", accept=accept)
        assert packed.coding == "gzip"
        assert packed.body
    disregarded = await got(site.http, "/livez", "br, identity;q=0")
    assert (disregarded.status, disregarded.coding) == (200, None), "an answer is not lost over a coding"


async def test_a_problem_is_packed_too_and_keeps_its_type(site: Served) -> None:
    answer = await got(site.http, "/v1/debates?" + "&".join(f"{'x' * 70}{n}=1" for n in range(60)), "gzip")

    assert (answer.status, answer.coding) == (400, "gzip")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.body.startswith(b'{"type":"/problems/bad_request"')


async def test_each_tag_is_known_again_under_its_coding_alone(site: Served, finished: str) -> None:
    for path in (f"/v1/debates/{finished}?view=full", "/problems/too_large", f"/docs/{docs_version()}/start.js"):
        tags = {coding: (await got(site.http, path, coding)).headers["etag"] for coding in (*CODINGS, "identity")}
        assert len({*tags.values()}) == 3
        for coding, tag in tags.items():
            for sent in (tag, f"W/{tag}", f'"other", {tag}'):
                again = await got(site.http, path, coding, if_none_match=sent)
                assert (again.status, again.wire, again.headers["etag"]) == (304, b"", tag), (path, sent)
                assert "accept-encoding" in again.headers["vary"].lower()
            assert (await got(site.http, path, coding, if_none_match="*")).status == 304
            every = await got(site.http, path, "gzip, zstd, identity", if_none_match=tag)
            assert (every.status, every.headers["etag"]) == (304, tag), "of whichever coding the client kept it"
        for accepted, other in (("gzip", "zstd"), ("zstd", "gzip"), ("identity", "gzip"), (None, "zstd")):
            anew = await got(site.http, path, accepted, if_none_match=tags[other])
            assert anew.status == 200, "a cache must not give packed bytes to a client that cannot unpack them"
            assert anew.headers["etag"] == tags[accepted or "identity"]


async def test_head_has_the_header_fields_of_get_under_each_coding(site: Served, finished: str) -> None:
    own = {
        "date",
        "request-id",
        "traceresponse",
        "gainsay-checkpoint",
        "content-length",
        "transfer-encoding",
        "ratelimit",
    }
    paths = (
        *(path.replace("{debate}", finished) for path in REPEATED),
        *("/", "/livez", "/readyz", "/v1/debates", "/v1/models", f"/v1/debates/{finished}/report", f"{LOG}/checkpoint"),
        f"{LOG}/records",
        f"{LOG}/tile/0/000.p/1",
        "/v1/elsewhere",
    )
    for path in paths:
        for accepted in ("identity", *CODINGS):
            read = await got(site.http, path, accepted)
            head = await site.http.head(path, headers={"accept-encoding": accepted})
            assert head.status_code == read.status, path
            assert head.content == b""
            assert {k: v for k, v in head.headers.items() if k not in own} == {
                k: v for k, v in read.headers.items() if k not in own
            }, path
            if not path.endswith(("/v1/debates", "/records", "/elsewhere")):
                assert head.headers.get("content-length") == read.headers.get("content-length"), path


async def test_a_packed_answer_keeps_what_a_caller_decides_by(site: Served) -> None:
    case = a_case()
    answer = await site.http.post(
        "/v1/debates?view=full", json=case, headers={"prefer": "wait=30", "accept-encoding": "gzip"}
    )

    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["preference-applied"] == "wait=30"
    assert answer.headers["vary"] == "Prefer, Accept-Encoding, Authorization"
    assert answer.headers["location"] == f"/v1/debates/{answer.json()['debateId']}"
    assert answer.headers["gainsay-checkpoint"]
    assert answer.headers["request-id"]


@pytest.mark.parametrize(
    "sent",
    [
        [("content-encoding", "gzip")],
        [("content-encoding", "GZIP")],
        [("content-encoding", "identity"), ("content-encoding", "gzip")],
        [("content-encoding", "identity, zstd")],
    ],
)
async def test_a_packed_body_is_refused_and_not_unpacked(site: Served, sent: list[tuple[str, str]]) -> None:
    bomb = gzip.compress(b'{"question":"' + b"a" * 50_000_000 + b'"}')

    answer = await site.http.post("/v1/debates", content=bomb, headers=[("content-type", "application/json"), *sent])

    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")
    assert "a packed body is not unpacked" in answer.json()["detail"]
    assert answer.headers["accept-encoding"] == "identity"


@asynccontextmanager
async def packed_by(app: Any) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(Compression(app)) as url, httpx.AsyncClient(base_url=url, verify=NO_TLS, timeout=60) as http:
        yield http


def start(*headers: tuple[bytes, bytes]) -> dict[str, Any]:
    return {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain"), *headers]}


@pytest.mark.parametrize("coding", CODINGS)
async def test_a_piece_reaches_the_client_before_the_next_is_there(coding: str) -> None:
    """An export whose next records take long to find does not keep back those that it has."""
    arrived = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(start())
        await send({"type": "http.response.body", "body": b"first\n", "more_body": True})
        await within(20, arrived.wait())
        await send({"type": "http.response.body", "body": b"second\n", "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async with packed_by(app) as http, http.stream("GET", "/", headers={"accept-encoding": coding}) as answer:
        assert answer.headers["content-encoding"] == coding
        reader = zstandard.ZstdDecompressor().decompressobj() if coding == "zstd" else zlib.decompressobj(31)
        text = b""
        async for chunk in answer.aiter_raw():
            text += reader.decompress(chunk)
            if text == b"first\n":
                arrived.set()
    assert text == b"first\nsecond\n"


async def test_an_answer_that_breaks_off_is_not_ended_as_if_it_were_whole() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(start())
        await send({"type": "http.response.body", "body": b"first\n" * 1_000, "more_body": True})
        raise ConnectionError("the database is away")

    async with packed_by(app) as http:
        with pytest.raises(httpx.RemoteProtocolError):
            await http.get("/", headers={"accept-encoding": "gzip"})


async def test_the_event_loop_goes_on_while_a_large_answer_is_packed() -> None:
    content = os.urandom(1 << 20).hex().encode() * 10

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(start((b"content-length", str(len(content)).encode())))
        await send({"type": "http.response.body", "body": content, "more_body": False})

    messages: list[Any] = []

    async def taken(message: Any) -> None:
        messages.append(message)

    scope: Any = {"type": "http", "headers": [(b"accept-encoding", b"gzip")]}
    packing = asyncio.create_task(Compression(app)(scope, None, taken))  # type: ignore[arg-type]
    turns = 0
    while not packing.done():
        await asyncio.sleep(0.001)
        turns += 1

    assert len(content) > INLINE
    assert turns > 20, "more than one millisecond is left to others"
    assert gzip.decompress(messages[-1]["body"]) == content


async def test_an_answer_that_must_not_be_changed_is_not(site: Served) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(start((b"content-length", b"2000"), (b"cache-control", b"no-transform"), (b"etag", b'W/"5"')))
        await send({"type": "http.response.body", "body": b"a" * 2_000, "more_body": False})

    async with packed_by(app) as http:
        answer = await got(http, "/", "gzip")
    assert (answer.coding, answer.wire, answer.headers["etag"]) == (None, b"a" * 2_000, 'W/"5"')
