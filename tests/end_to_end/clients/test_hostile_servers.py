"""The clients before a server that lies, is busy, is slow, or is newer than they are."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.client_drivers import AsyncDriver, Driver, Failed, SyncDriver
from tests.fixtures.hostile_servers import STREAM_HEAD, Asked, answer, certified, event, lying
from tests.fixtures.waiting import within

pytestmark = pytest.mark.asyncio(loop_scope="module")

ID = "01920000-0000-7000-8000-000000000000"
TAKEN = {"debateId": ID, "status": "queued", "gate": {}, "links": {}}
LOG = "gainsay.example/log/1"
CASE: dict[str, Any] = {"question": "Sign?", "taskType": "contract", "estimatedDownside": "250000.10"}
SOON_S = 30.0
"""Far more than a call takes that is given up, and less than the 60 s for which a client goes on by default."""


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def problem(status: int, code: str, headers: dict[str, str] | None = None, **members: Any) -> bytes:
    return answer(status, {"code": code, "detail": f"{code} happened", "requestId": "req_1", **members}, headers)


async def test_what_a_newer_service_adds_passes(driver: Driver) -> None:
    newer = {
        "debateId": ID,
        "status": "archived",
        "view": "summary",
        "decision": {"outcome": "postponed", "answer": "Later.", "by": "chair", "weather": {"rain": [1, None]}},
    }
    unknown = [event(1, "omen", {"n": 1, "raven": True}), event(2, "final", newer)]

    def say(asked: Asked) -> bytes:
        stream = asked.path.endswith("/events")
        return STREAM_HEAD + b"".join(unknown) if stream else answer(200, newer)

    async with lying(say) as server, driver.open(server.url) as client:
        assert await client.call("result", ID) == newer
        assert await client.call("wait", ID, timeout=0) == newer
        assert (await client.call("submit", CASE))["status"] == "archived"
        assert await client.collect("follow", ID) == [
            {"id": 1, "name": "omen", "data": {"n": 1, "raven": True}},
            {"id": 2, "name": "final", "data": newer},
        ]


async def test_the_version_of_the_latest_answer_is_known_and_no_other_text_passes_for_one(driver: Driver) -> None:
    said = iter(["1.0", "1.4", "", "<script>", "9" * 5_000, "2.0"])

    def say(_: Asked) -> bytes:
        return answer(200, {"models": []}, {"gainsay-version": next(said)})

    async with lying(say) as server, driver.open(server.url) as client:
        found = [await client.call("api_version")]
        for _ in range(6):
            await client.call("models")
            found.append(await client.call("api_version"))

    assert found == [None, "1.0", "1.4", "1.4", "1.4", "1.4", "2.0"]


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "bad_request", "Refused"),
        (401, "no_key", "Unauthorized"),
        (402, "budget_exhausted", "BudgetExhausted"),
        (403, "forbidden", "Unauthorized"),
        (404, "not_found", "NotFound"),
        (409, "not_over", "Conflict"),
        (418, "teapot_of_a_newer_service", "Refused"),
        (422, "idempotency_key_reused", "KeyReused"),
        (500, "evidence_damaged", "ServiceFault"),
        (501, "unknown_fault", "ServiceFault"),
    ],
)
async def test_an_error_is_of_its_family_and_is_not_asked_for_again(
    driver: Driver, status: int, code: str, kind: str
) -> None:
    def say(_: Asked) -> bytes:
        return problem(status, code, {"retry-after": "1"}, errors=[{"pointer": "/x", "detail": "bad"}])

    async with lying(say) as server, driver.open(server.url) as client:
        with pytest.raises(Failed) as raised:
            await client.call("submit", CASE)

    members = raised.value.members
    assert (raised.value.kind, members["code"], members["status"]) == (kind, code, status)
    assert (members["requestId"], members["retryAfter"]) == ("req_1", 1)
    assert members["errors"] == [{"pointer": "/x", "detail": "bad"}]
    assert len(server.seen) == 1


async def test_a_result_of_another_debate_is_refused(driver: Driver) -> None:
    mixed_up = {"debateId": ID.replace("2", "3"), "status": "completed", "view": "summary"}

    async with lying(lambda _: answer(200, mixed_up)) as server, driver.open(server.url) as client:
        for name in ("result", "wait"):
            with pytest.raises(Failed, match="unexpected_answer"):
                await client.call(name, ID)
        assert (await client.call("result", mixed_up["debateId"].upper())) == mixed_up


async def test_amounts_are_sent_as_they_were_given(driver: Driver) -> None:
    async with lying(lambda _: answer(202, TAKEN)) as server, driver.open(server.url) as client:
        await client.call("submit", CASE)

    assert json.loads(server.seen[0].body) == CASE


async def test_a_busy_service_is_asked_again_after_what_it_says_and_no_longer_than_the_call_may_take(
    driver: Driver,
) -> None:
    times: list[float] = []

    def say(_: Asked) -> bytes:
        times.append(time.monotonic())
        return problem(503, "queue_full", {"retry-after": "1"}) if len(times) < 3 else answer(202, TAKEN)

    async with lying(say) as server, driver.open(server.url) as client:
        submitted = await client.call("submit", CASE)

    assert submitted["debate_id"] == ID
    assert all(later - earlier >= 1 for earlier, later in pairwise(times))
    assert len({asked.headers["idempotency-key"] for asked in server.seen}) == 1


async def test_a_storm_of_503_ends_with_the_time_of_the_call(driver: Driver) -> None:
    async with (
        lying(lambda _: problem(503, "overloaded", {"retry-after": "0"})) as server,
        driver.open(server.url, give_up_after=1.0) as client,
    ):
        with pytest.raises(Failed) as raised:
            await within(SOON_S, client.call("submit", CASE))

    assert (raised.value.kind, raised.value.members["code"]) == ("Unavailable", "overloaded")
    assert 3 <= len(server.seen) <= 12  # each pause is twice as long


async def test_a_pause_that_would_end_too_late_is_not_begun(driver: Driver) -> None:
    async with (
        lying(lambda _: problem(503, "overloaded", {"retry-after": "3600"})) as server,
        driver.open(server.url) as client,
    ):
        with pytest.raises(Failed) as raised:
            await within(SOON_S, client.call("models"))

    assert raised.value.members["retryAfter"] == 3600
    assert len(server.seen) == 1


async def test_without_a_key_nothing_that_spends_is_sent_twice(driver: Driver) -> None:
    async with lying(lambda _: b"") as server, driver.open(server.url, give_up_after=1.0) as client:
        with pytest.raises(Failed) as raised:
            await client.call("request", "POST", "/v1/debates", body=CASE)
        once = len(server.seen)
        with pytest.raises(Failed):
            await client.call("request", "POST", "/v1/debates", body=CASE, headers={"Idempotency-Key": "k"})

    assert raised.value.kind == "Unreachable"
    assert once == 1
    assert len(server.seen) > 2


async def test_where_nothing_listens_the_call_gives_up(driver: Driver) -> None:
    async with driver.open("http://127.0.0.1:9", give_up_after=0.3) as client:
        with pytest.raises(Failed) as raised:
            await client.call("submit", CASE)

    assert (raised.value.kind, raised.value.members["code"]) == ("Unreachable", "unreachable")


@pytest.mark.parametrize("status", [202, 200, 409])
async def test_a_location_of_another_origin_is_refused_and_nothing_is_sent_there(driver: Driver, status: int) -> None:
    async with lying(lambda _: answer(200, {})) as elsewhere:

        def say(_: Asked) -> bytes:
            told = {**TAKEN, "code": "idempotency_in_progress", "detail": "under way"}
            return answer(status, told, {"location": f"{elsewhere.url}/v1/debates/{ID}"})

        async with lying(say) as server, driver.open(server.url, token="secret") as client:
            with pytest.raises(Failed) as raised:
                await client.call("review", CASE)

        assert raised.value.kind == "UntrustedAddress"
        assert elsewhere.seen == []
        assert {asked.headers["authorization"] for asked in server.seen} == {"Bearer secret"}


@pytest.mark.parametrize("location", ["http://[", "http://gainsay.example:99999/", "//[x", "http://gainsay:x/"])
async def test_a_location_that_is_no_address_is_refused_as_one_of_another_origin(driver: Driver, location: str) -> None:
    async with lying(lambda _: answer(202, TAKEN, {"location": location})) as server, driver.open(server.url) as client:
        with pytest.raises(Failed) as raised:
            await client.call("submit", CASE)

    assert raised.value.kind == "UntrustedAddress"


@pytest.mark.parametrize("path", ["@{}/v1/models", ".{}/v1/models", "v1/models", ""])
async def test_a_path_cannot_lead_to_another_origin(driver: Driver, path: str) -> None:
    async with (
        lying(lambda _: answer(200, {})) as elsewhere,
        lying(lambda _: answer(200, {})) as server,
        driver.open(server.url, token="secret") as client,
    ):
        with pytest.raises(Failed) as raised:
            await client.call("request", "GET", path.format(elsewhere.url.removeprefix("http://")))

    assert raised.value.kind == "Refused"
    assert server.seen == elsewhere.seen == []


@pytest.mark.parametrize("status", [200, 422])
async def test_json_that_is_nested_too_deeply_is_no_answer(driver: Driver, status: int) -> None:
    async with (
        lying(lambda _: answer(status, b"[" * 200_000 + b"]" * 200_000)) as server,
        driver.open(server.url) as client,
    ):
        with pytest.raises(Failed) as raised:
            await client.call("models")

    assert raised.value.kind == ("UnexpectedAnswer" if status == 200 else "Refused")


@pytest.mark.parametrize(
    ("call", "given", "named"),
    [
        ("create_batch", ['{"question": "cut \ud83d"}'], {"ceiling": "1"}),
        ("create_batch", ["{}"], {"ceiling": "1", "name": "cut \ud83d"}),
        ("find_page", [], {"q": "cut \ud83d"}),
        ("find_page", [], {"metadata": {"ticket": "\ude00"}}),
        ("document", [ID, "\ud83d"], {}),
    ],
)
async def test_a_text_that_was_cut_within_a_character_is_sent_as_no_other(
    driver: Driver, call: str, given: list[Any], named: dict[str, Any]
) -> None:
    async with lying(lambda _: answer(200, {})) as server, driver.open(server.url) as client:
        with pytest.raises(Failed) as raised:
            await client.call(call, *given, **named)

    assert raised.value.kind == "Refused"
    assert "found half of one" in raised.value.members["detail"]
    assert server.seen == []


async def test_an_empty_key_is_refused_and_not_replaced(driver: Driver) -> None:
    async with lying(lambda _: answer(202, TAKEN)) as server, driver.open(server.url) as client:
        for call in ("submit", "review"):
            with pytest.raises(Failed) as raised:
                await client.call(call, CASE, key="")
            assert raised.value.kind == "Refused"

    assert server.seen == []


async def test_a_case_that_was_lost_before_the_service_was_busy_is_told_with_its_key(driver: Driver) -> None:
    answers = [b"", *[problem(503, "store_unavailable")] * 20]
    async with (
        lying(lambda _: answers.pop(0)) as server,
        driver.open(server.url, give_up_after=0.3) as client,
    ):
        with pytest.raises(Failed) as raised:
            await client.call("submit", CASE)

    assert raised.value.kind == "Unavailable"
    assert server.seen[0].headers["idempotency-key"] == f'"{raised.value.members["key"]}"'


async def test_a_case_whose_fate_is_unknown_is_told_with_its_key(driver: Driver) -> None:
    async with lying(lambda _: b"") as server, driver.open(server.url, give_up_after=0.3) as client:
        for call, terms in (("submit", {}), ("review", {"timeout": 0.5})):
            with pytest.raises(Failed) as raised:
                await client.call(call, CASE, **terms)
            sent = server.seen[-1].headers["idempotency-key"].strip('"')
            assert (raised.value.kind, raised.value.members["key"]) == ("Unreachable", sent)
            assert sent in raised.value.members["text"]


@pytest.mark.parametrize(
    ("then", "kind"),
    [
        (b"", "Unreachable"),
        (problem(503, "store_unavailable"), "Unavailable"),
        (problem(500, "evidence_damaged"), "ServiceFault"),
        (problem(410, "records_lost"), "NotFound"),
        (answer(200, {**TAKEN, "debateId": ID.replace("2", "3")}), "UnexpectedAnswer"),
        (answer(200, {**TAKEN, "status": "running"}), "TimedOut"),
    ],
)
async def test_a_review_that_ends_after_its_case_was_recorded_tells_its_key_and_its_debate(
    driver: Driver, then: bytes, kind: str
) -> None:
    def say(asked: Asked) -> bytes:
        return answer(202, TAKEN) if asked.method == "POST" else then

    async with lying(say) as server, driver.open(server.url, give_up_after=0.3) as client:
        with pytest.raises(Failed) as raised:
            await client.call("review", CASE, timeout=0.5)

    members = raised.value.members
    sent = server.seen[0].headers["idempotency-key"].strip('"')
    assert (raised.value.kind, members["debateId"], members["key"]) == (kind, ID, sent)
    if kind == "Unreachable":
        assert f"debate {ID} is recorded" in members["text"]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_not_followed(driver: Driver, status: int) -> None:
    async with lying(lambda _: answer(200, {})) as elsewhere:

        def say(_: Asked) -> bytes:
            return answer(status, b"", {"location": f"{elsewhere.url}/v1/models"})

        async with lying(say) as server, driver.open(server.url, token="secret") as client:
            with pytest.raises(Failed) as raised:
                await client.call("models")
            with pytest.raises(Failed) as followed:
                await client.collect("follow", ID)

        assert raised.value.kind == followed.value.kind == "UnexpectedAnswer"
        assert elsewhere.seen == []
        assert "secret" not in raised.value.members["text"]


async def test_the_page_of_a_proxy_is_no_answer(driver: Driver) -> None:
    def say(_: Asked) -> bytes:
        return answer(200, b"<html>Please log in</html>", {"content-type": "text/html"})

    async with lying(say) as server, driver.open(server.url) as client:
        with pytest.raises(Failed) as raised:
            await client.call("models")
        with pytest.raises(Failed) as stream:
            await client.collect("follow", ID)

    assert raised.value.kind == "UnexpectedAnswer"
    assert "Please log in" in raised.value.members["detail"]
    assert stream.value.kind == "UnexpectedAnswer"


@pytest.mark.parametrize(
    ("name", "given", "form"),
    [
        ("bundle", (ID,), None),
        ("export", (LOG,), "csv"),
        ("export", (LOG,), "jsonl"),
        ("batch_results", (ID,), "csv"),
        ("batch_results", (ID,), "jsonl"),
        ("export_evaluation", (ID,), "bundle"),
    ],
)
async def test_the_page_of_a_proxy_is_no_file(
    driver: Driver, tmp_path: Path, name: str, given: tuple[str, ...], form: str | None
) -> None:
    page = answer(200, b"<html>Please log in</html>", {"content-type": "text/html"})
    named = {} if form is None else {"form": form}
    async with lying(lambda _: page) as server, driver.open(server.url) as client:
        with pytest.raises(Failed) as raised:
            await client.call(name, *given, str(tmp_path / "evidence"), **named)

    assert raised.value.kind == "UnexpectedAnswer"
    assert "found text/html" in raised.value.members["detail"]
    assert len(server.seen) == 1
    assert names(tmp_path) == []


@pytest.mark.parametrize(("name", "given"), [("export", (LOG,)), ("batch_results", (ID,))])
async def test_a_form_that_there_is_none_of_is_not_asked_for(
    driver: Driver, tmp_path: Path, name: str, given: tuple[str, ...]
) -> None:
    async with lying(lambda _: problem(400, "bad_request")) as server, driver.open(server.url) as client:
        with pytest.raises(Failed) as raised:
            await client.call(name, *given, str(tmp_path / "file"), form="xlsx")

    assert raised.value.kind == "Refused"
    assert "jsonl" in raised.value.members["detail"]
    assert server.seen == []


@pytest.mark.parametrize(
    ("name", "given"),
    [("document", (ID, "D1")), ("checkpoint", (LOG,)), ("consistency", (LOG, 1)), ("prove_record", (LOG, 1))],
)
async def test_the_page_of_a_proxy_is_no_text(driver: Driver, name: str, given: tuple[Any, ...]) -> None:
    page = answer(200, b"<html>Please log in</html>", {"content-type": "text/html"})
    async with lying(lambda _: page) as server, driver.open(server.url) as client:
        with pytest.raises(Failed) as raised:
            await client.call(name, *given)

    assert raised.value.kind == "UnexpectedAnswer"
    assert "expected text/plain" in raised.value.members["detail"]


@pytest.mark.parametrize("debate", ["", "..", "../audit/keys", "a/b", "x?y#z"])
async def test_an_id_is_one_part_of_a_path(driver: Driver, debate: str) -> None:
    async with lying(lambda _: problem(404, "not_found")) as server, driver.open(server.url) as client:
        with pytest.raises(Failed):
            await client.call("result", debate)

    assert [asked.path.count("/") for asked in server.seen] in ([], [3])
    assert all(set(asked.query) == {"view"} for asked in server.seen)


async def dribbled(_: Asked) -> AsyncIterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{"
    for _n in range(200):
        yield b" "
        await asyncio.sleep(0.05)


async def test_an_answer_that_comes_too_slowly_is_given_up(driver: Driver) -> None:
    async with (
        lying(dribbled) as server,
        driver.open(server.url, answer_within=0.3, give_up_after=0.8) as client,
    ):
        with pytest.raises(Failed) as raised:
            await within(SOON_S, client.call("models"))

    assert raised.value.kind == "Unreachable"
    assert len(server.seen) >= 2


def in_turn(*streams: bytes, stays_open: bool = False) -> Any:
    """Says one stream after the other."""
    left = list(streams)

    async def say(_: Asked) -> AsyncIterator[bytes]:
        yield STREAM_HEAD + b"retry: 10\n\n" + (left.pop(0) if left else b"")
        if stays_open:
            await asyncio.sleep(30)

    return say


async def test_events_of_an_entry_come_once_and_together_although_the_stream_breaks_between_them(
    driver: Driver,
) -> None:
    first, second = event(None, "consensus", {"n": 2}), event(2, "accuracy", {"n": 2})
    final = event(3, "final", {"n": 3})
    streams = [event(1, "gate", {"n": 1}) + first, first + second[:20], first + second, first + second + final]

    async with lying(in_turn(*streams)) as server, driver.open(server.url) as client:
        events = await client.collect("follow", ID)

    assert [(each["id"], each["name"]) for each in events] == [
        (1, "gate"),
        (2, "consensus"),
        (2, "accuracy"),
        (3, "final"),
    ]
    assert [asked.headers.get("last-event-id") for asked in server.seen] == [None, "1", "1", "2"]


async def test_a_stream_that_stays_silent_is_opened_again(driver: Driver) -> None:
    streams = [event(1, "gate", {"n": 1}), b"id: 2\n\n", event(3, "final", {"n": 3})]

    async with (
        lying(in_turn(*streams, stays_open=True)) as server,
        driver.open(server.url, silence=0.2) as client,
    ):
        events = await client.collect("follow", ID)

    assert [each["name"] for each in events] == ["gate", "final"]
    assert [asked.headers.get("last-event-id") for asked in server.seen] == [None, "1", "2"]


async def test_streams_that_say_nothing_are_given_up_with_the_time_of_a_call(driver: Driver) -> None:
    async with lying(in_turn()) as server, driver.open(server.url, give_up_after=0.5) as client:
        with pytest.raises(Failed) as raised:
            await client.collect("follow", ID)

    assert raised.value.kind == "Unreachable"
    assert len(server.seen) > 2


async def test_a_stream_that_a_proxy_repeats_without_its_end_is_given_up(driver: Driver) -> None:
    def say(_: Asked) -> bytes:
        return STREAM_HEAD + b"retry: 10\n\n" + event(None, "consensus", {"n": 1}) + event(1, "accuracy", {"n": 1})

    async with lying(say) as server, driver.open(server.url, give_up_after=0.5) as client:
        with pytest.raises(Failed) as raised:
            await within(5, client.collect("follow", ID))

    assert raised.value.kind == "Unreachable"
    assert len(server.seen) > 2


async def test_a_stream_that_goes_on_slowly_is_followed_for_longer_than_a_call_may_take(driver: Driver) -> None:
    left = [event(n, "final" if n == 8 else "asked", {"n": n}) for n in range(1, 9)]

    async def say(_: Asked) -> AsyncIterator[bytes]:
        await asyncio.sleep(0.15)
        yield STREAM_HEAD + b"retry: 10\n\n" + left.pop(0)

    async with lying(say) as server, driver.open(server.url, give_up_after=0.6) as client:
        events = await client.collect("follow", ID)

    assert [each["id"] for each in events] == list(range(1, 9))


async def test_a_heartbeat_keeps_a_stream_alive_longer_than_a_call_may_take(driver: Driver) -> None:
    async def say(_: Asked) -> AsyncIterator[bytes]:
        yield STREAM_HEAD
        for _n in range(12):
            yield b": still here\n\n"
            await asyncio.sleep(0.1)
        yield event(1, "final", {"n": 1})

    async with (
        lying(say) as server,
        driver.open(server.url, silence=0.6, give_up_after=0.3) as client,
    ):
        assert [each["name"] for each in await client.collect("follow", ID)] == ["final"]

    assert len(server.seen) == 1


async def test_a_huge_event_passes_whole(driver: Driver) -> None:
    told = {"n": 1, "answer": "é" * 3_000_000}

    async with lying(in_turn(event(1, "final", told))) as server, driver.open(server.url) as client:
        (found,) = await client.collect("follow", ID)

    assert found["data"] == told


@pytest.mark.parametrize("stream", [b"id: x\nevent: gate\ndata: {}\n\n", b"id: 1\nevent: gate\ndata: [1\n\n"])
async def test_what_is_no_event_of_the_service_is_refused(driver: Driver, stream: bytes) -> None:
    async with lying(in_turn(stream)) as server, driver.open(server.url) as client:
        with pytest.raises(Failed) as raised:
            await client.collect("follow", ID)

    assert raised.value.kind == "UnexpectedAnswer"


async def test_a_list_whose_pages_never_end_is_refused(driver: Driver) -> None:
    async with (
        lying(lambda _: answer(200, {"debates": [{"debateId": ID}], "next": "same"})) as server,
        driver.open(server.url) as client,
    ):
        with pytest.raises(Failed) as raised:
            await client.collect("find")

    assert raised.value.kind == "UnexpectedAnswer"
    assert len(server.seen) == 2


@pytest.mark.parametrize("driver_", [SyncDriver(), AsyncDriver()], ids=["sync", "async"])
async def test_a_certificate_holds_by_the_authority_that_is_given_and_by_no_other(
    driver_: Driver, tmp_path: Path
) -> None:
    authority = tmp_path / "authority.pem"
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(certified(tmp_path, authority))

    async with lying(lambda _: answer(200, {"models": []}), tls=own) as server:
        async with driver_.open(server.url, verify=str(authority)) as client:
            assert await client.call("models") == {"models": []}
        async with driver_.open(server.url, token="secret") as client:
            with pytest.raises(Failed) as raised:
                await within(SOON_S, client.call("models"))  # it is not tried again

    assert raised.value.kind == "Unreachable"
    assert "CERTIFICATE_VERIFY_FAILED" in raised.value.members["detail"]
    assert len(server.seen) == 1
