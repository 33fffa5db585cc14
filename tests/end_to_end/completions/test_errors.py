"""Every refusal of a chat request is the exception that the official client has for it, and is sent again only where
that can help."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from tests.fixtures.callers import Registers, identity_file
from tests.fixtures.chatting import STAKE, chat, official, policy_with, user
from tests.fixtures.postgres import Database
from tests.fixtures.serving import Served, served
from tests.fixtures.waiting import until


async def refusal(client: AsyncOpenAI, kind: type[openai.APIStatusError], body: dict[str, Any]) -> Any:
    """The error with which the client raises a refusal."""
    known = {name: value for name, value in body.items() if name in ("model", "messages", "metadata")}
    more = {name: value for name, value in body.items() if name not in known}
    with pytest.raises(kind) as found:
        await client.chat.completions.create(**known, extra_body=more)
    assert type(found.value) is kind
    return found.value


async def listed(site: Served) -> list[Any]:
    """The debates that are recorded."""
    found: list[Any] = (await site.http.get("/v1/debates")).json()["debates"]
    return found


@asynccontextmanager
async def counted(url: str, **options: Any) -> AsyncIterator[tuple[AsyncOpenAI, list[int]]]:
    """A client, and the statuses of all answers that it gets."""
    statuses: list[int] = []

    async def heard(response: Any) -> None:
        statuses.append(response.status_code)

    http = openai.DefaultAsyncHttpxClient(event_hooks={"response": [heard]})
    async with official(url, http_client=http, **options) as client:
        yield client, statuses


BAD: dict[str, tuple[dict[str, Any], str, str | None, str]] = {
    "no stake": (chat(metadata={}), "stake_missing", "metadata.taskType", "[dropin] of the policy"),
    "no downside": (chat(metadata={"taskType": "contract"}), "stake_missing", "metadata.estimatedDownside", "dropin"),
    "two choices": (chat(n=2), "unsupported_parameter", "n", "one decision"),
    "a tool": (chat(tools=[{"type": "function"}]), "unsupported_parameter", "tools", "calls no tool"),
    "a schema": (chat(response_format={"type": "json_object"}), "unsupported_parameter", "response_format", "schema"),
    "stop": (chat(stop=["."]), "unsupported_parameter", "stop", "never cut"),
    "logprobs": (chat(logprobs=True), "unsupported_parameter", "logprobs", "confidence"),
    "audio": (chat(modalities=["text", "audio"]), "unsupported_parameter", "modalities", "text"),
    "another spelling": (
        chat(metadata={**STAKE, "confidence_score": "0.5"}),
        "unsupported_parameter",
        "metadata.confidence_score",
        "did you mean 'confidenceScore'?",
    ),
    "a slip": (chat(metadata={**STAKE, "deadlin": "x"}), "unsupported_parameter", "metadata.deadlin", "'deadline'"),
    "a member said elsewhere": (
        chat(metadata={**STAKE, "format": "panel"}),
        "unsupported_parameter",
        "metadata.format",
        "it is the model",
    ),
    "unassigned stances": (chat(model="gainsay/stances"), "unsupported_parameter", "metadata.options", "/v1/debates"),
    "no last question": (
        chat(messages=[user("?"), {"role": "assistant", "content": "!"}]),
        "unsupported_parameter",
        "messages",
        "the role user",
    ),
    "an image": (
        chat(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]),
        "unsupported_parameter",
        "messages[0].content",
        "must have a text",
    ),
    "a picture beside the question": (
        chat(
            messages=[
                {
                    "role": "user",
                    "content": [{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "?"}],
                }
            ]
        ),
        "unsupported_parameter",
        "messages[0].content[0]",
        "seats read texts",
    ),
}
"""Chat requests that are refused with 400, with the code, the parameter and a part of the message."""
WRONG: dict[str, tuple[dict[str, Any], str, str | None, str]] = {
    "an unknown parameter": (chat(temprature=1), "wrong_shape", "temprature", "did you mean 'temperature'?"),
    "a case's member beside messages": (
        chat(taskType="contract"),
        "wrong_shape",
        "metadata.taskType",
        "belongs into metadata",
    ),
    "a number": (
        chat(metadata={**STAKE, "estimatedDownside": "much"}),
        "wrong_shape",
        "metadata.estimatedDownside",
        "0.75",
    ),
    "a switch": (chat(metadata={**STAKE, "contested": "yes"}), "wrong_shape", "metadata.contested", "true"),
    "options that are none": (chat(metadata={**STAKE, "options": "{"}), "wrong_shape", "metadata.options", "JSON"),
    "an unknown option": (
        chat(metadata={**STAKE, "options": '{"maxRound": 1}'}),
        "wrong_shape",
        "metadata.options.maxRound",
        "did you mean 'maxRounds'?",
    ),
    "a task type": (
        chat(metadata={**STAKE, "taskType": "Contract"}),
        "invalid_case",
        "metadata.taskType",
        "'contract'",
    ),
    "no evidence": (chat(messages=[{"role": "user", "content": "?"}]), "invalid_case", "messages", "document"),
}
"""Those that are refused with 422."""


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", [*BAD, *WRONG])
async def test_a_request_that_cannot_be_a_case_is_refused_once(site: Served, name: str) -> None:
    body, code, param, words = {**BAD, **WRONG}[name]
    kind = openai.BadRequestError if name in BAD else openai.UnprocessableEntityError
    async with counted(site.url) as (client, statuses):
        error = await refusal(client, kind, body)

    assert (error.code, error.param, error.type) == (code, param, "invalid_request_error")
    assert words in error.message
    assert len(statuses) == 1
    assert error.request_id == error.response.headers["request-id"]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("model", "meant"), [("gpt-4o", None), ("adversarial", "gainsay/adversarial"), ("gainsay/pannel", "gainsay/panel")]
)
async def test_a_model_that_is_no_format_is_not_found(site: Served, model: str, meant: str | None) -> None:
    async with official(site.url) as client:
        error = await refusal(client, openai.NotFoundError, chat(model=model))

    assert (error.code, error.param, error.type) == ("model_not_found", "model", "not_found_error")
    assert "gainsay/auto" in error.message
    assert (f"did you mean {meant!r}?" in error.message) is (meant is not None)


@pytest.mark.asyncio(loop_scope="module")
async def test_what_http_itself_refuses_has_the_same_form(site: Served) -> None:
    form = {"content-type": "application/json"}
    answers = {
        405: await site.http.get("/v1/chat/completions"),
        404: await site.http.post("/v1/chat/completion"),
        415: await site.http.post("/v1/chat/completions", content=b"{}", headers={"content-type": "text/plain"}),
        400: await site.http.post("/v1/chat/completions", content=b"{", headers=form),
    }

    for status, answer in answers.items():
        assert (answer.status_code, set(answer.json())) == (status, {"error"}), answer.text
        assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
        assert answer.headers["x-request-id"] == answer.headers["request-id"]
    assert answers[405].headers["allow"] == "OPTIONS, POST"


async def test_a_caller_that_is_not_let_in(database: Database, tmp_path: Path) -> None:
    identity = identity_file(tmp_path)
    async with served(database.service_url, work=False, GAINSAY_IDENTITY=identity) as site:
        auditor = await Registers(database).issue("auditor")
        async with counted(site.url) as (client, statuses):
            unknown = await refusal(client, openai.AuthenticationError, chat())
        async with official(site.url, auditor.secret) as client:
            forbidden = await refusal(client, openai.PermissionDeniedError, chat())
            with pytest.raises(openai.NotFoundError):
                await client.models.retrieve("gainsay/none")

    assert (unknown.code, unknown.type) == ("unauthenticated", "authentication_error")
    assert unknown.response.headers["www-authenticate"].startswith("Bearer")
    assert (forbidden.code, forbidden.type) == ("forbidden", "permission_error")
    assert statuses == [401]


async def test_a_caller_beyond_its_rate_and_its_waits(database: Database, tmp_path: Path) -> None:
    policy = policy_with(tmp_path, "[rates]\nsubmit_per_minute = 2\nlisteners = 1")
    async with served(database.service_url, work=False, GAINSAY_POLICY=policy) as site:
        async with official(site.url, max_retries=0) as client:
            waiting = asyncio.create_task(client.chat.completions.create(**chat()))
            await until(partial(listed, site))
            listening = await refusal(client, openai.RateLimitError, chat(seed=1))
            rated = await refusal(client, openai.RateLimitError, chat(seed=2))
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        recorded = await listed(site)

    for error in (listening, rated):
        assert (error.code, error.type) == ("rate_limited", "rate_limit_error")
        assert int(error.response.headers["retry-after"]) > 0
    assert "listeners" in listening.message
    assert rated.response.headers["ratelimit"].startswith('"submit";r=0')
    assert len(recorded) == 1, "what is refused is not recorded"


async def test_a_full_queue_is_an_error_that_the_client_sends_again(database: Database, tmp_path: Path) -> None:
    policy = policy_with(tmp_path, "", lambda text: re.sub(r"(?m)^waiting = \d+", "waiting = 1", text))
    async with served(database.service_url, work=False, GAINSAY_POLICY=policy) as site:
        await site.submit()
        async with official(site.url, max_retries=0) as client:
            error = await refusal(client, openai.InternalServerError, chat())

    assert (error.status_code, error.code, error.type) == (503, "queue_full", "server_error")
    assert "x-should-retry" not in error.response.headers
    assert int(error.response.headers["retry-after"]) > 0


async def test_a_tenant_without_money_is_not_asked_for_again(database: Database, tmp_path: Path) -> None:
    policy = policy_with(tmp_path, "", lambda text: re.sub(r'(?m)^day_usd = ".*"$', 'day_usd = "0.0001"', text))
    async with (
        served(database.service_url, work=False, GAINSAY_POLICY=policy) as site,
        counted(site.url) as (client, statuses),
    ):
        error = await refusal(client, openai.APIStatusError, chat())

    assert (error.status_code, error.code, error.type) == (402, "budget_exhausted", "insufficient_quota")
    assert error.response.headers["x-should-retry"] == "false"
    assert statuses == [402]


async def test_a_debate_without_an_answer_is_an_error_and_the_client_begins_no_other(database: Database) -> None:
    async with served(database.service_url, work=False) as site, counted(site.url) as (client, statuses):
        asked = asyncio.create_task(refusal(client, openai.InternalServerError, chat()))
        await until(partial(listed, site))
        debate = (await listed(site))[0]["debateId"]
        await site.http.post(f"/v1/debates/{debate}/abort", json={"reason": "the contract is withdrawn"})
        error = await asked
        again = await refusal(client, openai.InternalServerError, chat())
        stream = await client.chat.completions.create(**chat(), stream=True)
        with pytest.raises(openai.APIError) as streamed:
            [chunk async for chunk in stream]
        debates = await listed(site)

    assert (error.status_code, error.code, error.type) == (502, "no_answer", "server_error")
    assert error.response.headers["x-should-retry"] == "false"
    assert "No decision: the debate aborted (the contract is withdrawn)" in error.message
    assert again.message == error.message
    assert (streamed.value.code, error.code) == ("no_answer", "no_answer")
    assert statuses == [502, 502, 200]
    assert len(debates) == 1


async def test_a_key_with_another_case_is_refused(database: Database) -> None:
    async with served(database.service_url) as site, official(site.url) as client:
        key = {"Idempotency-Key": "8e03978e"}
        first = await client.chat.completions.create(**chat(), extra_headers=key)
        with pytest.raises(openai.UnprocessableEntityError) as reused:
            await client.chat.completions.create(**chat(model="gainsay/ballot"), extra_headers=key)
        same = await client.chat.completions.create(**chat(), extra_headers=key)

    assert reused.value.code == "idempotency_key_reused"
    assert same.id == first.id


async def test_what_the_policy_s_dropin_says_is_taken_where_metadata_does_not(
    database: Database, tmp_path: Path
) -> None:
    table = '[dropin]\ntask_type = "contract"\nestimated_downside_usd = "90000.00"\ndownside_basis = "of the policy"'
    async with served(database.service_url, GAINSAY_POLICY=policy_with(tmp_path, table)) as site:
        async with official(site.url) as client:
            usual = await client.chat.completions.create(**chat(metadata={}))
            own = await client.chat.completions.create(**chat(metadata={"estimatedDownside": "70000"}))
        cases = [
            (await site.http.get(f"/v1/debates/{found.id.removeprefix('chatcmpl-')}?view=full")).json()["case"]
            for found in (usual, own)
        ]

    assert [(c["taskType"], c["estimatedDownside"], c.get("downsideBasis")) for c in cases] == [
        ("contract", "90000.00", "of the policy"),
        ("contract", "70000", None),
    ]


async def test_a_connection_that_is_refused_before_the_application_has_the_form(database: Database) -> None:
    """A service without identities takes requests for this machine alone."""
    async with served(database.service_url, work=False) as site:
        answer = await site.http.post("/v1/chat/completions", json=chat(), headers={"host": "example.com"})

    assert (answer.status_code, answer.json()["error"]["code"]) == (421, "misdirected")
