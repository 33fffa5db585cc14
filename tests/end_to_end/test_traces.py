"""Traces as a collector receives them: a debate that two workers ran is one trace, with its caller's request in it."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import httpx
import pytest

from tests.end_to_end.processes import Deployment, Process, deployed
from tests.fixtures.otlp import Receiver, Seen, disconnected, receiving
from tests.fixtures.postgres import Database
from tests.fixtures.serving import a_case, slow_policy

pytestmark = pytest.mark.long

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
WITHIN_S = 60.0
UNDER_WAY = "SELECT FROM gainsay.charge JOIN gainsay.debate_head h USING (debate) WHERE h.held > 0"
"""A debate has had a reply, and waits for another."""


def exporting(receiver: Receiver, protocol: str = "http/protobuf", **more: str) -> dict[str, str]:
    """The variables of a process that sends its spans there."""
    endpoint = receiver.grpc if protocol == "grpc" else receiver.http
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol, **more}


async def api(deployment: Deployment, **variables: str) -> tuple[Process, str]:
    """A process that serves and does nothing else, and its address."""
    serve = deployment.start("serve", "--port", "0", "--no-worker", GAINSAY_DRAIN_S="0", **variables)
    return serve, await serve.address()


async def ended(process: Process) -> None:
    """Stop a process, which sends the spans that it still has."""
    process.send(signal.SIGTERM)
    assert await process.ends() == 0


async def submitted(http: httpx.AsyncClient, **headers: str) -> str:
    """The id of a debate of a case that was sent now."""
    answer = await http.post("/v1/debates", json=a_case(), headers=headers)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["debateId"])


async def concluded(http: httpx.AsyncClient, debate: str) -> httpx.Response:
    """The whole result of a debate, once it has ended."""
    for _ in range(round(WITHIN_S / 0.1)):
        answer = await http.get(f"/v1/debates/{debate}", params={"view": "full"})
        if answer.status_code == 200 and answer.json()["status"] not in ("queued", "running"):
            return answer
        await asyncio.sleep(0.1)
    raise AssertionError("the debate did not end")


def named(spans: list[Seen], name: str) -> list[Seen]:
    """Those whose name begins with this."""
    return [span for span in spans if span.name.split(" ")[0] == name]


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
async def test_a_debate_that_a_second_worker_took_is_one_connected_trace(
    database: Database, tmp_path: Path, protocol: str
) -> None:
    policy = slow_policy(tmp_path, 800)
    with receiving() as receiver:
        to = exporting(receiver, protocol, GAINSAY_LEASE_S="1", GAINSAY_POLICY=str(policy))
        async with deployed(database, tmp_path, **to) as deployment:
            serve, address = await api(deployment)
            async with httpx.AsyncClient(base_url=address, timeout=90) as http:
                first = deployment.start("work")
                debate = await submitted(http, traceparent=f"00-{TRACE}-{SPAN}-01")
                await deployment.finds(UNDER_WAY)
                first.kill()
                second = deployment.start("work")
                result = await concluded(http, debate)
            await ended(second)
            await ended(serve)

        spans = receiver.of(TRACE)
        assert len({span.id for span in spans}) == len(spans)
        assert disconnected(spans, outside=[SPAN]) == []
        (request,) = [span for span in spans if span.name == "POST /v1/debates"]
        assert (request.kind, request.parent) == ("server", SPAN)
        (whole,) = named(spans, "debate")
        assert (whole.kind, whole.parent, whole.error) == ("consumer", request.id, None)
        assert whole.attributes["gainsay.debate"] == debate
        assert len(whole.attributes["gainsay.worker"]) == 2  # the workers, and not the caller, who wrote the case
        assert "debate.claimed" in whole.events
        assert {span.attributes["gainsay.worker"] for span in named(spans, "chat")} == {
            *whole.attributes["gainsay.worker"]
        }
        lost = [span for span in named(spans, "chat") if span.error == "lost"]
        assert len(lost) == 1
        assert lost[0].attributes["error.type"] == "lost"
        turns = {span.id for span in named(spans, "turn")}
        assert all(span.parent in turns for span in named(spans, "chat"))
        assert all(span.parent == whole.id for name in ("turn", "check", "append") for span in named(spans, name))
        assert all(whole.start_ns <= span.start_ns <= span.end_ns <= whole.end_ns for span in spans if span != request)
        assert {span.resource["service.name"] for span in spans} == {"gainsay-serve", "gainsay-work"}
        assert result.json()["arrival"] == {"trace": TRACE, "span": request.id, "sampled": True}
        charged = sum(span.attributes.get("gainsay.charged_usd", 0.0) for span in named(spans, "chat"))
        assert whole.attributes["gainsay.cost_usd"] == pytest.approx(charged)


async def test_no_word_of_a_case_or_a_reply_is_in_a_span(database: Database, tmp_path: Path) -> None:
    with receiving() as receiver:
        async with deployed(database, tmp_path, **exporting(receiver, OTEL_TRACES_SAMPLER_ARG="1")) as deployment:
            serve = deployment.start("serve", "--port", "0", GAINSAY_DRAIN_S="0")
            async with httpx.AsyncClient(base_url=await serve.address(), timeout=90) as http:
                debate = await submitted(http)
                result = (await concluded(http, debate)).json()
                report = await http.get(f"/v1/debates/{debate}/report", headers={"accept": "text/markdown"})
            await ended(serve)

        (whole,) = named(receiver.spans, "debate")
        words = str(receiver.spans)
        question = str(a_case()["question"])
        assert question not in words
        assert all(document["text"][:40] not in words for document in a_case()["documents"])
        assert result["decision"]["answer"][:40] not in words
        assert result["arrival"]["trace"] == whole.trace
        assert whole.trace in report.text
        assert disconnected(receiver.of(whole.trace)) == []


async def test_of_what_is_not_drawn_that_is_kept_which_went_wrong(database: Database, tmp_path: Path) -> None:
    with receiving() as receiver:
        async with deployed(database, tmp_path, **exporting(receiver, OTEL_TRACES_SAMPLER_ARG="0")) as deployment:
            serve = deployment.start("serve", "--port", "0", GAINSAY_DRAIN_S="0")
            async with httpx.AsyncClient(base_url=await serve.address(), timeout=90) as http:
                debate = await submitted(http)
                result = (await concluded(http, debate)).json()
                for_person = result["decision"]["humanReview"]["required"]
                missing = await http.get("/v1/debates/0190a5f0-0000-7000-8000-000000000000")
            await ended(serve)

        wholes = named(receiver.spans, "debate")
        assert missing.status_code == 404
        assert missing.json()["traceId"] in missing.headers["traceresponse"]
        assert [span.attributes["gainsay.debate"] for span in wholes] == ([debate] if for_person else [])
        assert named(receiver.spans, "GET") + named(receiver.spans, "POST") == []
        assert all(span.parent == "" for span in wholes)


async def test_a_collector_that_is_away_costs_spans_and_nothing_else(database: Database, tmp_path: Path) -> None:
    away = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_TRACES_SAMPLER_ARG": "1"}
    async with deployed(database, tmp_path, **away, OTEL_EXPORTER_OTLP_TIMEOUT="1") as deployment:
        serve = deployment.start("serve", "--port", "0", GAINSAY_DRAIN_S="0")
        async with httpx.AsyncClient(base_url=await serve.address(), timeout=90) as http:
            result = await concluded(http, await submitted(http))
            assert result.json()["status"] == "completed"
        await serve.says(r"traces\.spans_lost")
        await ended(serve)


async def test_lines_of_the_log_are_sent_too_where_that_is_asked_for(database: Database, tmp_path: Path) -> None:
    with receiving() as receiver:
        to = exporting(receiver, OTEL_LOGS_EXPORTER="otlp")
        async with deployed(database, tmp_path, **to) as deployment:
            serve = deployment.start("serve", "--port", "0", GAINSAY_DRAIN_S="0")
            async with httpx.AsyncClient(base_url=await serve.address(), timeout=90) as http:
                debate = await submitted(http, traceparent=f"00-{TRACE}-{SPAN}-01")
                await concluded(http, debate)
            await ended(serve)

        (request,) = [line for line in receiver.lines if line.attributes.get("gainsay.route") == "/v1/debates"]
        assert (request.event, request.trace, request.severity) == ("http.request", TRACE, "INFO")
        (end,) = [line for line in receiver.lines if line.event == "debate.ended"]
        assert (end.attributes["gainsay.debate"], end.trace) == (debate, TRACE)
        assert {"process.serving", "process.stopped"} <= {line.event for line in receiver.lines}
        assert str(a_case()["question"]) not in str(receiver.lines)
        assert all(line.words in serve.told for line in receiver.lines)


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "http://HOST:PORT"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", "http/protobuf or grpc"),
        ("OTEL_TRACES_SAMPLER", "always_on", "parentbased_traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "5%", "from 0 to 1"),
    ],
)
async def test_a_variable_that_cannot_be_followed_stops_the_start(
    database: Database, tmp_path: Path, name: str, value: str, wanted: str
) -> None:
    async with deployed(database, tmp_path, **{name: value}) as deployment:
        serve = deployment.start("serve", "--port", "0")

        assert await serve.ends() == 2
        assert name in serve.told
        assert wanted in serve.told
