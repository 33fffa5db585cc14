"""What the clients make of the heads that answers name: only a failed proof or two roots of one size is refused."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gainsay_client import FileHeads, Head
from tests.fixtures import merkle
from tests.fixtures.client_drivers import AsyncDriver, Driver, Failed, SyncDriver
from tests.fixtures.hostile_servers import Asked, answer, lying

pytestmark = pytest.mark.asyncio(loop_scope="module")

LOG = "gainsay.example/default/1"
NEXT = "gainsay.example/default/2"
OTHER = "elsewhere.example/default/1"
TREE = merkle.leaves(40)
FORK = [*TREE[:12], *merkle.leaves(28, seed="fork")]


def root(leaves: Sequence[bytes], size: int) -> str:
    return base64.b64encode(merkle.mth(leaves[:size])).decode()


def head(size: int, leaves: Sequence[bytes] = TREE, log: str = LOG) -> str:
    return f"{log} {size} {root(leaves, size)}"


class Service:
    """A service that shows the heads that it is told to, and proves with the leaves that it is given."""

    def __init__(self, *heads: str, leaves: Sequence[bytes] = TREE) -> None:
        self.heads = list(heads)
        self.leaves = leaves
        self.checkpoints = {LOG: head(20)}
        self.proofs: bytes | None = None
        self.asked: list[tuple[str, ...]] = []

    def __call__(self, asked: Asked) -> bytes:
        if asked.path.endswith("/consistency"):
            self.asked.append(("proof", asked.query["from"], asked.query["to"]))
            return self.proofs if self.proofs is not None else self._proof(asked)
        if asked.path.endswith("/checkpoint"):
            log = asked.path.removeprefix("/v1/audit/logs/").removesuffix("/checkpoint")
            self.asked.append(("checkpoint", log))
            note = self.checkpoints[log].replace(" ", "\n") + "\n\n— x AAAA\n"
            return answer(200, note.encode(), {"content-type": "text/plain"})
        shown = self.heads.pop(0) if len(self.heads) > 1 else self.heads[0]
        return answer(200, {"models": []}, {"gainsay-checkpoint": shown} if shown else {})

    def _proof(self, asked: Asked) -> bytes:
        old, new = int(asked.query["from"]), int(asked.query["to"])
        path = merkle.proof(old, self.leaves[:new])
        lines = "".join(f"{base64.b64encode(node).decode()}\n" for node in path)
        return answer(200, lines.encode(), {"content-type": "text/plain"})


async def calls(client: Any, times: int) -> None:
    for _ in range(times):
        await client.call("models")


async def test_heads_that_grow_shrink_and_come_again_are_proved_and_the_largest_is_kept(driver: Driver) -> None:
    service = Service(head(8), head(8), head(13), head(5), head(13), head(5), head(8), head(20), head(16))

    async with lying(service) as server, driver.open(server.url) as client:
        await calls(client, 9)

        assert await client.call("heads") == {LOG: head(20)}
        assert await client.call("prove_heads") == {}
        assert await client.notices() == []
    assert service.asked == [("proof", *pair) for pair in (("8", "13"), ("5", "13"), ("13", "20"), ("16", "20"))]


@pytest.mark.parametrize("size", [8, 13, 5], ids=["kept", "proved", "smaller"])
async def test_two_roots_of_one_size_are_refused_again_and_again(driver: Driver, size: int) -> None:
    forged = f"{LOG} {size} {base64.b64encode(b'x' * 32).decode()}"
    service = Service(head(8), head(5), head(13), forged, forged, head(13))

    async with lying(service) as server, driver.open(server.url) as client:
        await calls(client, 3)
        with pytest.raises(Failed):
            await client.call("models")
        with pytest.raises(Failed) as raised:
            await client.call("models")
        await client.call("models")

        assert raised.value.kind == "LogForked"
        assert raised.value.members["code"] == "log_forked"
        assert all(part in raised.value.members["detail"] for part in (LOG, f"{size} records", root(TREE, size)))
        assert await client.call("heads") == {LOG: head(13)}


@pytest.mark.parametrize("proves", ["what is shown", "what is kept"])
@pytest.mark.parametrize("size", [25, 14], ids=["larger", "smaller"])
async def test_a_head_of_another_history_is_refused(driver: Driver, size: int, proves: str) -> None:
    service = Service(head(20), head(size, FORK), leaves=FORK if proves == "what is shown" else TREE)

    async with lying(service) as server, driver.open(server.url) as client:
        await client.call("models")
        with pytest.raises(Failed) as raised:
            await client.call("models")

        assert raised.value.kind == "LogForked"
        assert await client.call("heads") == {LOG: head(20)}


async def test_the_shared_beginning_of_a_fork_is_no_fork(driver: Driver) -> None:
    service = Service(head(20), head(12, FORK), head(9, FORK))

    async with lying(service) as server, driver.open(server.url) as client:
        await calls(client, 3)

        assert await client.call("unproved") == {}


@pytest.mark.parametrize(
    "proofs",
    [
        b"",
        answer(503, {"code": "store_unavailable", "detail": "away"}),
        answer(404, {"code": "not_found", "detail": "no such head"}),
        answer(200, b"<html>Please log in</html>", {"content-type": "text/html"}),
        answer(302, b"", {"location": "http://127.0.0.1:9/"}),
    ],
    ids=["cut", "503", "404", "page", "redirect"],
)
async def test_a_proof_that_cannot_be_had_is_told_and_asked_for_again(driver: Driver, proofs: bytes) -> None:
    service = Service(head(8), head(13))
    service.proofs = proofs

    async with lying(service) as server, driver.open(server.url) as client:
        await calls(client, 3)
        assert list(await client.call("unproved")) == [head(13)]
        assert (await client.call("unproved"))[head(13)]
        assert await client.notices() == ["unproved"]
        assert await client.call("heads") == {LOG: head(8)}

        service.proofs = None
        assert await client.call("prove_heads") == {}
        assert await client.call("heads") == {LOG: head(13)}


async def test_proofs_that_hang_hold_a_call_no_longer_than_a_call_may_take(driver: Driver) -> None:
    service = Service(*(head(size) for size in range(8, 20)))
    service.proofs = answer(503, {"code": "store_unavailable", "detail": "away"})
    hanging: list[str] = []

    async def say(asked: Asked) -> bytes:
        if hanging:
            hanging.append(asked.path)
            await asyncio.sleep(30)
        return service(asked)

    terms = {"answer_within": 0.5, "give_up_after": 1.2}
    async with lying(say) as server, driver.open(server.url, **terms) as client:
        await calls(client, 12)
        hanging.append("from now on")
        begun = time.monotonic()
        unproved = await client.call("prove_heads")
        took = time.monotonic() - begun

    assert len(unproved) == 11
    assert 1.2 <= took < 4
    assert len(hanging) <= 1 + 4


async def test_proofs_are_asked_for_in_batches_and_not_for_every_answer(driver: Driver) -> None:
    service = Service(*(head(size) for size in range(5, 16)))

    async with lying(service) as server, driver.open(server.url, prove_every=30.0) as client:
        await calls(client, 11)
        assert service.asked == [("proof", "5", "6")]
        assert len(await client.call("unproved")) == 9

        service.heads = [head(14, FORK)]
        with pytest.raises(Failed) as raised:
            await client.call("models")
        assert raised.value.kind == "LogForked"  # before any proof

        assert await client.call("prove_heads") == {}
        assert await client.call("heads") == {LOG: head(15)}


async def test_more_heads_than_are_kept_aside_are_told(driver: Driver) -> None:
    service = Service(*(head(size) for size in range(5, 30)))

    async with lying(service) as server, driver.open(server.url, prove_every=30.0) as client:
        await calls(client, 25)

        assert len(await client.call("unproved")) == 16
        assert set(await client.notices()) == {"dropped"}


async def test_a_rotation_is_followed_and_the_old_log_has_to_continue(driver: Driver) -> None:
    service = Service(head(8), head(2, log=NEXT), head(3, log=NEXT))

    async with lying(service) as server, driver.open(server.url) as client:
        await calls(client, 3)

        assert await client.call("heads") == {LOG: head(20), NEXT: head(3, log=NEXT)}
        assert await client.notices() == ["rotated"]
    assert service.asked == [("checkpoint", LOG), ("proof", "8", "20"), ("proof", "2", "3")]


async def test_a_rotation_that_hides_a_fork_of_the_old_log_is_refused(driver: Driver) -> None:
    service = Service(head(14), head(2, log=NEXT), leaves=FORK)
    service.checkpoints = {LOG: head(20, FORK)}

    async with lying(service) as server, driver.open(server.url) as client:
        await client.call("models")
        with pytest.raises(Failed) as raised:
            await client.call("models")

    assert raised.value.kind == "LogForked"


async def test_another_log_is_told_and_an_answer_without_a_head_passes(driver: Driver) -> None:
    service = Service(head(8), "", head(2, log=OTHER))

    async with lying(service) as server, driver.open(server.url) as client:
        await calls(client, 3)

        assert await client.notices() == ["otherLog"]
        assert set(await client.call("heads")) == {LOG, OTHER}


async def test_a_server_that_names_ever_other_logs_fills_no_store(driver: Driver) -> None:
    service = Service(*(head(3, log=f"host/tenant{n}/1") for n in range(110)))

    async with lying(service) as server, driver.open(server.url) as client:
        await calls(client, 110)

        assert len(await client.call("heads")) == 100
        assert (await client.notices()).count("dropped") == 10


@pytest.mark.parametrize("shown", ["nonsense", "a/b 3 x", f"{LOG} 03 {root(TREE, 3)}", f"../x/1 3 {root(TREE, 3)}"])
async def test_a_head_that_is_none_is_refused(driver: Driver, shown: str) -> None:
    async with lying(Service(shown)) as server, driver.open(server.url) as client:
        with pytest.raises(Failed) as raised:
            await client.call("models")

    assert raised.value.kind == "UnexpectedAnswer"


async def test_further_words_of_a_newer_head_pass(driver: Driver) -> None:
    async with lying(Service(head(3) + " cosigned")) as server, driver.open(server.url) as client:
        await client.call("models")

        assert await client.call("heads") == {LOG: head(3)}


@pytest.mark.parametrize("driver_", [SyncDriver(), AsyncDriver()], ids=["threads", "tasks"])
async def test_many_calls_at_a_time_keep_the_largest_head_and_refuse_a_fork(driver_: Driver) -> None:
    sizes = [*range(6, 20), 38, *range(19, 5, -1)]
    service = Service(head(5), *(head(size) for size in sizes), head(38))

    async with lying(service) as server, driver_.open(server.url) as client:
        await client.call("models")
        await asyncio.gather(*(client.call("models") for _ in sizes))
        service.heads = [head(39, FORK)]
        told = await asyncio.gather(*(client.call("models") for _ in range(8)), return_exceptions=True)

        assert any(isinstance(each, Failed) and each.kind == "LogForked" for each in told)
        with pytest.raises(Failed, match="log_forked"):
            await client.call("models")
        service.heads = [head(38)]
        assert await client.call("prove_heads") == {}
        assert await client.call("heads") == {LOG: head(38)}


@pytest.mark.parametrize("driver_", [SyncDriver(), AsyncDriver()], ids=["sync", "async"])
async def test_a_file_remembers_for_the_next_process(driver_: Driver, tmp_path: Path) -> None:
    file = tmp_path / "state" / "heads.json"
    service = Service(head(8), head(13), head(13, FORK))

    async with lying(service) as server:
        async with driver_.open(server.url, heads_file=file) as client:
            await calls(client, 2)
        async with driver_.open(server.url, heads_file=file) as client:
            with pytest.raises(Failed) as raised:
                await client.call("models")

    assert raised.value.kind == "LogForked"
    assert FileHeads(file).heads() == {LOG: Head(LOG, 13, merkle.mth(TREE[:13]))}


@pytest.mark.parametrize("text", ["", "{}", '{"heads": 3}', '{"heads": {"a/b/1": {"size": -1, "root": "x"}}}', "\xff"])
async def test_a_damaged_file_is_refused_and_not_begun_anew(tmp_path: Path, text: str) -> None:
    file = tmp_path / "heads.json"
    file.write_text(text, "latin-1")

    async with lying(Service(head(8))) as server, SyncDriver().open(server.url, heads_file=file) as client:
        with pytest.raises(Failed) as raised:
            await client.call("models")

    assert raised.value.kind == "BadHeadStore"
    assert str(file) in raised.value.members["detail"]
    assert file.read_text("latin-1") == text


async def test_two_clients_with_one_file_prove_their_heads_against_each_other(tmp_path: Path) -> None:
    file = tmp_path / "heads.json"

    async with (
        lying(Service(head(8), head(13))) as one,
        lying(Service(head(10, FORK), head(15, FORK), leaves=FORK)) as two,
        SyncDriver().open(one.url, heads_file=file) as first,
        AsyncDriver().open(two.url, heads_file=file) as second,
    ):
        await calls(first, 1)
        await calls(second, 1)  # 8 and 10 records are the same in both
        with pytest.raises(Failed) as raised:
            await asyncio.gather(calls(first, 1), calls(second, 1))

    assert raised.value.kind == "LogForked"
