"""A signer signs no head that contradicts its last one, here and in a process of its own alike."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from service.audit.checkpoint import Checkpoint, open_checkpoint
from service.audit.tree import EMPTY_ROOT
from service.audit.witness import KnownCheckpoint
from service.errors import SettingsError
from service.proving.signing import CheckpointRefused, Signer, SignerUnavailable
from service.proving.signing.checkpoint_files import CheckpointFiles, hashed
from service.proving.signing.local import LocalSigner
from service.proving.signing.open import open_signer
from service.proving.signing.remote import HEAD_TYPE, SIGN_TYPE, RemoteSigner, encode_sign, head_text, parse_sign
from service.web.server import serving
from service.web.signer_api import make_signer_api
from tests.fixtures.secret_files import mounted
from tests.fixtures.vouching import FORK, LOG, NEXT, ORIGIN, STRANGER, TREE, WITNESS, Tree, answering, http

TOKEN = "a-token-that-nobody-guesses"


@asynccontextmanager
async def signer(where: str, folder: Path) -> AsyncIterator[Signer]:
    """A signer with two keys on a folder: in this process, or asked over HTTP."""
    local = LocalSigner([LOG, NEXT], CheckpointFiles(folder))
    if where == "local":
        yield local
    else:
        async with serving(make_signer_api(local, TOKEN)) as address:
            remote = RemoteSigner(address, TOKEN)
            yield remote
            await remote.close()
    await local.close()


@pytest.fixture(params=["local", "remote"])
async def opened(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Signer]:
    async with signer(request.param, tmp_path) as found:
        yield found


async def sign(signer: Signer, old: int, new: int, tree: Tree = TREE) -> bytes:
    """What an honest sequencer asks."""
    return await signer.sign(tree.checkpoint(new), LOG.public, tree.path(old, new))


async def test_the_keys_are_told_in_their_order(opened: Signer) -> None:
    assert await opened.keys() == (LOG.public, NEXT.public)


async def test_a_growing_log_is_signed_with_the_key_that_is_asked_for(opened: Signer) -> None:
    assert await opened.last(ORIGIN) is None

    for old, new, key in [(0, 1, LOG), (1, 6, LOG), (6, 8, NEXT), (8, 8, LOG), (8, 40, LOG)]:
        note = await opened.sign(TREE.checkpoint(new), key.public, TREE.path(old, new))

        assert open_checkpoint(note, [key.public]) == (TREE.checkpoint(new), (key.public,))
        assert await opened.last(ORIGIN) == TREE.head(new)


async def test_a_log_may_begin_with_any_head_and_with_an_empty_one(opened: Signer) -> None:
    assert await sign(opened, 0, 33)
    assert await opened.sign(Checkpoint("elsewhere/ä b", 0, EMPTY_ROOT), LOG.public, ())

    assert await opened.last("elsewhere/ä b") == KnownCheckpoint(0, EMPTY_ROOT)


async def test_logs_do_not_hinder_each_other(opened: Signer) -> None:
    await sign(opened, 0, 20)

    await sign(opened, 0, 3, Tree(origin=f"{ORIGIN}0"))

    assert await opened.last(ORIGIN) == TREE.head(20)


# What is asked after a head of 12 leaves was signed, and why it is refused.
REFUSED = {
    "a smaller tree": (TREE.checkpoint(11), (), "has shrunk"),
    "a smaller tree with a path": (TREE.checkpoint(11), TREE.path(11, 12), "has shrunk"),
    "an empty tree": (Checkpoint(ORIGIN, 0, EMPTY_ROOT), (), "has shrunk"),
    "a split view": (FORK.checkpoint(12), (), "two roots for 12 leaves"),
    "the same head with a path": (TREE.checkpoint(12), TREE.path(5, 12), "no consistency path is needed"),
    "a rewritten tree": (FORK.checkpoint(30), FORK.path(12, 30), "another root of size 12"),
    "a longer tree without a path": (TREE.checkpoint(30), (), "is empty"),
    "a path from elsewhere": (TREE.checkpoint(30), TREE.path(11, 30), "consistency path"),
    "a path that goes on": (TREE.checkpoint(30), (*TREE.path(12, 30), b"\0" * 32), "more hashes"),
    "a path cut short": (TREE.checkpoint(30), TREE.path(12, 30)[:-1], "fewer hashes"),
}


@pytest.mark.parametrize("asked", REFUSED.values(), ids=list(REFUSED))
async def test_a_head_that_contradicts_the_last_is_refused_and_the_last_is_told(
    opened: Signer, asked: tuple[Checkpoint, tuple[bytes, ...], str]
) -> None:
    await sign(opened, 0, 12)

    with pytest.raises(CheckpointRefused, match=asked[2]) as error:
        await opened.sign(asked[0], LOG.public, asked[1])

    assert error.value.last == TREE.head(12)
    assert ORIGIN in error.value.detail
    assert await opened.last(ORIGIN) == TREE.head(12)
    assert await sign(opened, 12, 13)


@pytest.mark.parametrize("asked", REFUSED.values(), ids=list(REFUSED))
async def test_a_refusal_is_told_in_the_same_words_near_and_far(
    tmp_path: Path, asked: tuple[Checkpoint, tuple[bytes, ...], str]
) -> None:
    told = []
    for where in ("local", "remote"):
        async with signer(where, tmp_path / where) as found:
            await sign(found, 0, 12)
            with pytest.raises(CheckpointRefused) as error:
                await found.sign(asked[0], LOG.public, asked[1])
            told.append(error.value.detail)

    assert told[0] == told[1]


async def test_a_path_where_none_is_needed_is_refused_also_when_nothing_was_signed(opened: Signer) -> None:
    with pytest.raises(CheckpointRefused) as error:
        await opened.sign(TREE.checkpoint(12), LOG.public, TREE.path(5, 12))

    assert error.value.last is None
    assert await opened.last(ORIGIN) is None


async def test_a_key_that_the_signer_does_not_have_signs_nothing(opened: Signer) -> None:
    with pytest.raises(SignerUnavailable, match="does not have the key") as error:
        await opened.sign(TREE.checkpoint(12), STRANGER.public, ())

    assert STRANGER.public.id.hex() in error.value.detail
    assert await opened.last(ORIGIN) is None


async def test_of_two_heads_of_one_size_at_once_one_is_signed(opened: Signer) -> None:
    await sign(opened, 0, 5)
    trees = [Tree(fork=f"fork {n}") for n in range(8)]

    came = await asyncio.gather(*(sign(opened, 5, 12, tree) for tree in trees), return_exceptions=True)

    signed = [tree for tree, note in zip(trees, came, strict=True) if isinstance(note, bytes)]
    assert len(signed) == 1
    assert sum(isinstance(each, CheckpointRefused) for each in came) == 7
    assert await opened.last(ORIGIN) == signed[0].head(12)


@pytest.mark.parametrize("where", ["local", "remote"])
async def test_a_signer_that_begins_again_remembers(tmp_path: Path, where: str) -> None:
    async with signer(where, tmp_path) as before:
        await sign(before, 0, 12)

    async with signer(where, tmp_path) as after:
        assert await after.last(ORIGIN) == TREE.head(12)
        with pytest.raises(CheckpointRefused):
            await sign(after, 0, 11)


async def test_nothing_is_signed_while_the_last_head_cannot_be_read(opened: Signer, tmp_path: Path) -> None:
    await sign(opened, 0, 12)
    path = tmp_path / f"{hashed(ORIGIN)}.signed"
    path.write_bytes(path.read_bytes()[:-1])

    with pytest.raises(SignerUnavailable):
        await opened.last(ORIGIN)
    with pytest.raises(SignerUnavailable):
        await sign(opened, 12, 13)


def test_a_witness_s_key_signs_no_log(tmp_path: Path) -> None:
    for keys in ([WITNESS], [LOG, WITNESS], []):
        with pytest.raises(SettingsError, match="Ed25519"):
            LocalSigner(keys, CheckpointFiles(tmp_path))


# -- over HTTP alone


@pytest.fixture
async def address(tmp_path: Path) -> AsyncIterator[str]:
    async with serving(make_signer_api(LocalSigner([LOG], CheckpointFiles(tmp_path)), TOKEN)) as found:
        yield found


@pytest.mark.parametrize("token", [None, "another-token-of-some-length", TOKEN + "x", TOKEN[:-1]])
async def test_without_the_token_nothing_is_told_or_signed(address: str, token: str | None) -> None:
    remote = RemoteSigner(address, token)

    for ask in (remote.keys(), remote.last(ORIGIN), sign(remote, 0, 12)):
        with pytest.raises(SignerUnavailable, match="GAINSAY_SIGNER_TOKEN"):
            await ask

    await remote.close()


async def test_without_a_token_of_its_own_a_signer_answers_anybody(tmp_path: Path) -> None:
    async with serving(make_signer_api(LocalSigner([LOG], CheckpointFiles(tmp_path)), None)) as address:
        remote = RemoteSigner(address)
        assert await sign(remote, 0, 12)
        await remote.close()


@pytest.mark.parametrize(
    ("body", "media_type", "status"),
    [
        (encode_sign(TREE.checkpoint(3), LOG.public, ()), "text/plain", 415),
        (encode_sign(TREE.checkpoint(3), LOG.public, ()), "application/x-www-form-urlencoded", 415),
        (b"", SIGN_TYPE, 400),
        (b"key nobody\n\n" + TREE.checkpoint(3).body().encode(), SIGN_TYPE, 400),
        (b"key " + LOG.public.encode().encode() + b"\nAAAA\n\n" + TREE.checkpoint(3).body().encode(), SIGN_TYPE, 400),
        (encode_sign(TREE.checkpoint(3), LOG.public, ())[:-1], SIGN_TYPE, 400),
        (encode_sign(TREE.checkpoint(3), LOG.public, ()) + b"\xff", SIGN_TYPE, 400),
        (b"x" * 100_000, SIGN_TYPE, 413),
    ],
)
async def test_what_cannot_be_read_is_not_signed(address: str, body: bytes, media_type: str, status: int) -> None:
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": media_type}
    async with httpx.AsyncClient(base_url=address, headers=headers) as client:
        answered = await client.post("/sign", content=body)
        last = await client.get("/last", params={"origin": ORIGIN})

    assert (answered.status_code, last.status_code) == (status, 204)


async def test_a_signer_says_that_it_lives_and_counts_what_it_answers(address: str) -> None:
    async with httpx.AsyncClient(base_url=address) as client:
        refused, alive = await client.get("/keys"), await client.get("/livez")
        counted = (await client.get("/metrics")).text

    assert (refused.status_code, alive.status_code) == (401, 200)
    assert 'gainsay_http_requests_total{method="GET",route="/keys",status="401"}' in counted


def test_a_request_to_sign_is_read_as_it_was_written() -> None:
    asked = (TREE.checkpoint(30), LOG.public, TREE.path(12, 30))

    assert parse_sign(encode_sign(*asked)) == asked


LINE = TREE.note(12).decode().split("\n\n")[1]
FOREIGN = {
    "not HTTP": b"hello\n",
    "nothing": b"",
    "a fault": http("500 Oops", "oops"),
    "a redirect": http("302 Found", Location="http://127.0.0.1:1/keys"),
    "a page": http("200 OK", "<html>", Content_Type="text/html"),
    "another signature": http("200 OK", TREE.note(12, NEXT).decode().split("\n\n")[1]),
    "a signature over another head": http("200 OK", TREE.note(11).decode().split("\n\n")[1]),
    "two lines": http("200 OK", LINE * 2),
    "too much": http("200 OK", "x" * 100_000),
    "packed": http("200 OK", LINE, Content_Encoding="gzip"),
    "other bytes": http("200 OK", b"\xff\xff"),
    "half an answer": http("200 OK", LINE)[:-10],
    "a page that is not there": http("404 Not Found", "<html>", Content_Type="text/html"),
    "a conflict without a head": http("409 Conflict", "no", Content_Type="text/plain"),
    "a conflict with a head of another log": http(
        "409 Conflict", head_text("elsewhere", TREE.head(3)), Content_Type=HEAD_TYPE
    ),
    "no content": http("204 No Content"),
}


@pytest.mark.parametrize("answer", FOREIGN.values(), ids=list(FOREIGN))
async def test_what_is_no_signature_of_the_key_over_the_head_is_not_believed(answer: bytes) -> None:
    async with answering(answer) as address:
        remote = RemoteSigner(address)

        with pytest.raises(SignerUnavailable):
            await sign(remote, 0, 12)

        await remote.close()


@pytest.mark.parametrize("name", [name for name in FOREIGN if name != "no content"])
async def test_what_is_no_head_is_not_believed_and_never_taken_for_none(name: str) -> None:
    async with answering(FOREIGN[name]) as address:
        remote = RemoteSigner(address)

        with pytest.raises(SignerUnavailable):
            await remote.last(ORIGIN)
        with pytest.raises(SignerUnavailable):
            await remote.keys()

        await remote.close()


async def test_a_refusal_for_no_reason_is_a_refusal() -> None:
    answer = http("409 Conflict", head_text(ORIGIN, TREE.head(12)), Content_Type=HEAD_TYPE)
    async with answering(answer) as address:
        remote = RemoteSigner(address)

        with pytest.raises(CheckpointRefused, match="gives no reason"):
            await sign(remote, 12, 30)

        await remote.close()


async def test_a_signer_that_is_not_there_is_told_so(unused: str) -> None:
    remote = RemoteSigner(unused)

    with pytest.raises(SignerUnavailable, match="no connection"):
        await remote.keys()

    await remote.close()


@pytest.fixture
async def unused() -> str:
    async with answering(b"") as address:
        return address


# -- where a signer is


async def test_a_signer_is_opened_from_a_file_a_variable_or_an_address(tmp_path: Path, address: str) -> None:
    path = tmp_path / "log.key"
    path.write_text(LOG.encode())
    path.chmod(0o600)
    environment = {"LOG_KEY": LOG.encode(), "GAINSAY_SIGNER_TOKEN": TOKEN}

    for place in (f"file:{path}", "env:LOG_KEY", address, f"{address}/"):
        found = open_signer(place, tmp_path / "own", environment)
        assert await found.keys() == (LOG.public,)
        await found.close()


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("https://signer.example", "GAINSAY_SIGNER_TOKEN"),
        ("http://10.0.0.7:8323", "GAINSAY_SIGNER_TOKEN"),
        ("http://", "the address of a signer"),
        ("http://127.0.0.1:99999", "the address of a signer"),
        ("http://user:secret@127.0.0.1", "the address of a signer"),
        ("http://127.0.0.1/?token=secret", "the address of a signer"),
        ("https://[::1", "the address of a signer"),
        ("kms:arn", "file:PATH or env:NAME"),
    ],
)
def test_a_signer_that_cannot_be_asked_stops_the_start(tmp_path: Path, place: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told) as error:
        open_signer(place, tmp_path, {})

    assert "secret" not in error.value.detail


async def test_a_token_that_is_replaced_in_its_file_is_used_by_both_sides_from_the_next_request(tmp_path: Path) -> None:
    for side in ("here", "there"):
        (tmp_path / side).mkdir()
    swaps = [mounted(tmp_path / side, "token", TOKEN) for side in ("here", "there")]
    here, there = (f"file:{tmp_path / side / 'token'}" for side in ("here", "there"))
    async with serving(make_signer_api(LocalSigner([LOG], CheckpointFiles(tmp_path / "heads")), there)) as address:
        remote = open_signer(address, tmp_path, {"GAINSAY_SIGNER_TOKEN": here})
        former = RemoteSigner(address, TOKEN)

        assert await remote.keys() == (LOG.public,)
        swaps[1]("another-token-that-nobody-guesses")
        with pytest.raises(SignerUnavailable, match="401"):  # until the mount of the other side is swapped too
            await remote.keys()
        swaps[0]("another-token-that-nobody-guesses")
        assert await remote.keys() == (LOG.public,)
        with pytest.raises(SignerUnavailable, match="401"):
            await former.keys()

        await remote.close()
        await former.close()


@pytest.mark.parametrize("place", ["http://signer.bank.example:8323", "http://8.8.8.8:8323"])
def test_a_token_does_not_cross_a_network_in_clear(place: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="expected https:// for a signer"):
        open_signer(place, tmp_path, {"GAINSAY_SIGNER_TOKEN": TOKEN})
