"""A witness answers as C2SP tlog-witness has it, over HTTP, and never countersigns two heads that contradict."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from service.audit.checkpoint import Checkpoint, cosignatures, open_checkpoint, sign_checkpoint
from service.audit.note import COSIGNATURE, Note, SigningKey, parse_note, parse_signature_line
from service.audit.tree import EMPTY_ROOT
from service.audit.witness import AddCheckpoint
from service.errors import SettingsError
from service.proving.signing.checkpoint_files import CheckpointFiles, hashed
from service.proving.signing.countersigner import Countersigner
from service.web.server import serving
from service.web.signer_api import make_witness_api
from tests.fixtures.vouching import FORK, HOST, LOG, NEXT, ORIGIN, STRANGER, TREE, WITNESS, Tree, running

AT = 1_790_000_000
OLDER = SigningKey.from_seed("witness.example", bytes(range(4, 36)), COSIGNATURE)
SIZE = "text/x.tlog.size"
PLAIN = "text/plain; charset=utf-8"


@asynccontextmanager
async def witness(folder: Path, *keys: SigningKey) -> AsyncIterator[httpx.AsyncClient]:
    """A witness of the host's logs, which signs with one key unless more are given."""
    heads = CheckpointFiles(folder, "witnessed")
    found = Countersigner(keys or [WITNESS], [LOG.public, NEXT.public], heads, now=lambda: AT + 0.9)
    async with serving(make_witness_api(found)) as address, httpx.AsyncClient(base_url=address) as client:
        yield client
    heads.close()


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with witness(tmp_path) as found:
        yield found


async def add(client: httpx.AsyncClient, body: bytes) -> tuple[int, str, str]:
    answered = await client.post("/add-checkpoint", content=body)
    return answered.status_code, answered.headers["content-type"], answered.text


def cosigned(lines: str, checkpoint: Checkpoint, *keys: SigningKey) -> dict[str, int]:
    """Who countersigned, and when, by the lines of an answer."""
    signatures = tuple(parse_signature_line(f"{line}\n") for line in lines.splitlines())
    assert lines.endswith("\n")
    return cosignatures(Note(checkpoint.body(), signatures), checkpoint, [key.public for key in keys])


async def test_a_growing_log_is_countersigned_all_the_way(client: httpx.AsyncClient) -> None:
    for old, new, key in [(0, 1, LOG), (1, 5, LOG), (5, 12, NEXT), (12, 12, LOG), (12, 40, LOG)]:
        status, media_type, lines = await add(client, TREE.submission(old, new, key))

        assert (status, media_type) == (200, PLAIN)
        assert cosigned(lines, TREE.checkpoint(new), WITNESS) == {"witness.example": AT}


# What is submitted while a head of 12 leaves is held, and what C2SP tlog-witness answers.
SPLIT = AddCheckpoint(12, (), FORK.note(12)).encode()
ANSWERS = {
    "an old size that is behind": (TREE.submission(5, 30), 409, SIZE, "12\n"),
    "an old size of nothing": (TREE.submission(0, 30), 409, SIZE, "12\n"),
    "an old size that is ahead": (TREE.submission(20, 30), 409, SIZE, "12\n"),
    "a smaller tree": (TREE.submission(5, 11), 409, SIZE, "12\n"),
    "another head of the size that is held": (SPLIT, 409, PLAIN, None),
    "a rewritten tree": (FORK.submission(12, 30), 422, PLAIN, None),
    "a longer tree without a proof": (AddCheckpoint(12, (), TREE.note(30)).encode(), 422, PLAIN, None),
    "a proof that goes on": (
        AddCheckpoint(12, (*TREE.path(12, 30), b"\0" * 32), TREE.note(30)).encode(),
        422,
        PLAIN,
        None,
    ),
    "the same head with a proof": (AddCheckpoint(12, TREE.path(5, 12), TREE.note(12)).encode(), 422, PLAIN, None),
    "an old size above the checkpoint's": (AddCheckpoint(13, (), TREE.note(12)).encode(), 400, PLAIN, None),
    "an unknown log": (Tree(origin="elsewhere/default/1").submission(0, 3), 404, PLAIN, None),
    "a host whose name begins alike": (Tree(origin=f"{HOST}s/default/1").submission(0, 3), 404, PLAIN, None),
    "an unknown key": (TREE.submission(12, 30, STRANGER), 403, PLAIN, None),
    "a forged signature": (TREE.submission(12, 30).replace(b"\n30\n", b"\n31\n"), 403, PLAIN, None),
    "nothing": (b"", 400, PLAIN, None),
    "no empty line": (b"old 12\n" + TREE.note(30), 400, PLAIN, None),
    "an old size with a zero before it": (b"old 012\n\n" + TREE.note(12), 400, PLAIN, None),
    "an old size below nothing": (b"old -1\n\n" + TREE.note(12), 400, PLAIN, None),
    "64 hashes": (b"old 12\n" + b"A" * 43 + b"=\n" * 64 + b"\n" + TREE.note(30), 400, PLAIN, None),
    "a hash cut short": (b"old 12\nAAAA\n\n" + TREE.note(30), 400, PLAIN, None),
    "no signature": (b"old 12\n\n" + TREE.checkpoint(12).body().encode(), 400, PLAIN, None),
    "a note that is no checkpoint": (b"old 12\n\n" + TREE.note(12).replace(b"\n12\n", b"\ntwelve\n"), 400, PLAIN, None),
    "other bytes": (b"\xff\xfe\n\n\xff", 400, PLAIN, None),
}


@pytest.mark.parametrize("case", ANSWERS.values(), ids=list(ANSWERS))
async def test_what_does_not_follow_is_answered_as_the_protocol_says_and_changes_nothing(
    client: httpx.AsyncClient, case: tuple[bytes, int, str, str | None]
) -> None:
    body, status, media_type, text = case
    await add(client, TREE.submission(0, 12))

    answered = await add(client, body)

    assert answered[:2] == (status, media_type)
    assert answered[2] == text if text is not None else answered[2].endswith("\n")
    assert (await add(client, TREE.submission(12, 13)))[0] == 200


@pytest.mark.parametrize(
    ("submission", "status"),
    [
        (TREE.submission(0, 12), 200),
        (AddCheckpoint(0, (), sign_checkpoint(Checkpoint(HOST, 0, EMPTY_ROOT), LOG)).encode(), 200),
        (Tree(origin=HOST).submission(0, 3), 200),
        (TREE.submission(5, 12), 409),
        (AddCheckpoint(0, TREE.path(5, 12), TREE.note(12)).encode(), 422),
    ],
    ids=["a first head", "an empty log", "the host's own log", "an old size", "a proof from nothing"],
)
async def test_a_log_begins_with_any_head_for_a_witness_that_has_seen_none(
    client: httpx.AsyncClient, submission: bytes, status: int
) -> None:
    answered = await add(client, submission)

    assert answered[0] == status
    assert answered[1:] == (SIZE, "0\n") or status != 409


async def test_signatures_of_unknown_keys_are_passed_over_and_not_kept(client: httpx.AsyncClient) -> None:
    ours, foreign = parse_note(TREE.note(12)).signatures[0], parse_note(TREE.note(12, STRANGER)).signatures[0]
    note = Note(TREE.checkpoint(12).body(), (foreign,) * 90 + (ours,) * 10).encode()

    status, _, lines = await add(client, AddCheckpoint(0, (), note).encode())

    kept = await client.get(f"/{hashed(ORIGIN)}/checkpoint")
    assert status == 200
    assert cosigned(lines, TREE.checkpoint(12), WITNESS)
    assert "stranger" not in kept.text


async def test_every_key_of_the_witness_signs_so_that_older_pins_hold(tmp_path: Path) -> None:
    async with witness(tmp_path, WITNESS, OLDER) as client:
        _, _, lines = await add(client, TREE.submission(0, 12))

    assert len(lines.splitlines()) == 2
    for key in (WITNESS, OLDER):
        assert cosigned(lines, TREE.checkpoint(12), key) == {"witness.example": AT}


async def test_the_last_head_can_be_had_with_the_signatures_of_log_and_witness(client: httpx.AsyncClient) -> None:
    path = f"/{hashed(ORIGIN)}/checkpoint"
    assert (await client.get(path)).status_code == 404
    await add(client, TREE.submission(0, 12))

    told = (await client.get(path)).content

    checkpoint, signers = open_checkpoint(told, [LOG.public, WITNESS.public])
    assert (checkpoint, signers) == (TREE.checkpoint(12), (LOG.public, WITNESS.public))
    for other in ("nothing", "..%2f..", hashed(ORIGIN).upper()):
        assert (await client.get(f"/{other}/checkpoint")).status_code == 404


async def test_of_two_different_heads_of_one_size_at_once_one_is_countersigned(client: httpx.AsyncClient) -> None:
    await add(client, TREE.submission(0, 5))
    trees = [Tree(fork=f"fork {n}") for n in range(12)]

    came = await asyncio.gather(*(add(client, tree.submission(5, 12)) for tree in trees))

    won = [tree for tree, (status, _, _) in zip(trees, came, strict=True) if status == 200]
    assert len(won) == 1
    assert [answer[1:] for answer in came if answer[0] != 200] == [(SIZE, "12\n")] * 11
    assert (await add(client, won[0].submission(12, 30)))[0] == 200


async def test_heads_of_many_sizes_at_once_are_never_rolled_back(client: httpx.AsyncClient) -> None:
    await add(client, TREE.submission(0, 5))

    came = await asyncio.gather(*(add(client, TREE.submission(5, new)) for new in range(6, 30)))

    (won,) = [new for new, answer in zip(range(6, 30), came, strict=True) if answer[0] == 200]
    assert {answer[2] for answer in came if answer[0] == 409} == {f"{won}\n"}


async def test_two_witness_processes_on_one_folder_are_as_one(tmp_path: Path) -> None:
    async with witness(tmp_path) as one, witness(tmp_path) as two:
        trees = [Tree(fork=f"fork {n}") for n in range(8)]

        came = await asyncio.gather(
            *(add(client, tree.submission(0, 12)) for tree, client in zip(trees, [one, two] * 4, strict=True))
        )

    assert sorted(status for status, _, _ in came) == [200] + [409] * 7


async def test_a_witness_that_is_killed_between_keeping_and_answering_has_seen_the_head(tmp_path: Path) -> None:
    folder = tmp_path / "heads"
    with running(tmp_path, str(folder), module="tests.end_to_end.signing.dying_witness") as process:
        async with httpx.AsyncClient(base_url=process["address"]) as client:
            with pytest.raises(httpx.TransportError):
                await add(client, TREE.submission(0, 12))

    async with witness(folder) as client:
        assert await add(client, FORK.submission(0, 12)) == (409, SIZE, "12\n")
        assert (await add(client, SPLIT))[0] == 409
        assert (await add(client, TREE.submission(12, 12)))[0] == 200
        assert (await add(client, TREE.submission(12, 30)))[0] == 200


async def test_nothing_is_countersigned_while_the_last_head_cannot_be_read(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    await add(client, TREE.submission(0, 12))
    (tmp_path / f"{hashed(ORIGIN)}.witnessed").write_bytes(b"")

    assert (await client.post("/add-checkpoint", content=TREE.submission(0, 30))).status_code == 503


@pytest.mark.parametrize("body", [SPLIT, FORK.submission(12, 30)], ids=["a split view", "a rewritten tree"])
async def test_a_log_that_contradicts_itself_is_told_of_with_the_head_that_its_key_signed(
    client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, body: bytes
) -> None:
    await add(client, TREE.submission(0, 12))

    with caplog.at_level(logging.ERROR, "gainsay"):
        await add(client, TREE.submission(5, 30))
        await add(client, TREE.submission(12, 30, STRANGER))
        assert not caplog.records
        await add(client, body)

    (record,) = caplog.records
    assert record.getMessage() == "a log contradicts itself"
    assert (vars(record)["origin"], "checkpoint" in vars(record)) == (ORIGIN, True)


async def test_a_path_that_a_witness_lacks_is_answered_with_those_that_it_has(client: httpx.AsyncClient) -> None:
    refused, options = await client.get("/openapi.json"), await client.options("/add-checkpoint")

    assert refused.status_code == 404
    assert "those here are /add-checkpoint, /livez, /metrics, " in refused.json()["detail"]
    assert "openapi" not in refused.json()["detail"]
    assert options.headers["allow"] == "OPTIONS, POST"


async def test_a_submission_without_end_is_refused(client: httpx.AsyncClient) -> None:
    assert (await client.post("/add-checkpoint", content=b"x" * 100_000)).status_code == 413
    assert (await client.get("/add-checkpoint")).status_code == 405
    assert (await client.get("/livez")).status_code == 200


def test_keys_of_the_wrong_type_stop_the_start(tmp_path: Path) -> None:
    heads = CheckpointFiles(tmp_path, "witnessed")

    for keys in ([LOG], [WITNESS, LOG], []):
        with pytest.raises(SettingsError, match="key new --witness"):
            Countersigner(keys, [LOG.public], heads)
    for logs in ([WITNESS.public], []):
        with pytest.raises(SettingsError, match="keys of logs"):
            Countersigner([WITNESS], logs, heads)
