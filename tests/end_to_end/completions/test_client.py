"""The official openai client against the served service, unchanged but for its base URL."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import openai
import pytest
from openai import OpenAI

from service.policy import FORMATS
from tests.fixtures.chatting import QUESTION, SOURCE, STAKE, chat, official, user
from tests.fixtures.serving import Served

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_an_answer_is_the_decision_with_the_whole_decision_beside_it(site: Served) -> None:
    async with official(site.url) as client:
        found = await client.chat.completions.create(**chat())
    extra: Any = found.model_extra
    detail = extra["gainsay"]
    result = (await site.http.get(f"/v1/debates/{detail['debateId']}?view=full")).json()

    assert found.id == f"chatcmpl-{detail['debateId']}"
    assert (found.object, found.model, len(found.choices)) == ("chat.completion", "gainsay/adversarial", 1)
    choice = found.choices[0]
    assert (choice.finish_reason, choice.message.role, choice.message.refusal) == ("stop", "assistant", None)
    answer, _, warning = str(choice.message.content).partition("\n\n")
    assert answer == detail["decision"]["answer"]
    assert "simulated models answered" in warning
    for member in ("decision", "explicitUncertainties", "flags", "gate", "simulated", "links", "status", "debateId"):
        assert detail[member] == result[member], member
    assert isinstance(detail["decision"]["cost"]["spentUSD"], str)
    assert (detail["sources"], detail["ignored"]) == (1, [])
    tokens = [account["tokens"] for account in result["overallCost"]["byModel"].values()]
    assert found.usage is not None
    assert found.usage.completion_tokens == sum(t["output"] + t["reasoning"] for t in tokens) > 0
    assert found.usage.total_tokens == found.usage.prompt_tokens + found.usage.completion_tokens
    assert result["arrival"] == {"door": "completions"}
    assert [document["title"] for document in result["case"]["documents"]] == ["Text 1 of the last message"]


async def test_the_sync_client_and_its_raw_responses(site: Served) -> None:
    def ask() -> tuple[Any, Any]:
        with OpenAI(base_url=f"{site.url}/v1", api_key="none") as client:
            return (
                client.chat.completions.create(**chat(seed=1)),
                client.chat.completions.with_raw_response.create(**chat(seed=1)),
            )

    plain, raw = await asyncio.to_thread(ask)

    assert plain.model_extra["gainsay"]["ignored"] == ["seed"]
    assert raw.parse().id == plain.id, "the second request joins the debate of the first"
    assert raw.request_id == raw.headers["request-id"]
    assert raw.headers["location"] == f"/v1/debates/{plain.model_extra['gainsay']['debateId']}"
    assert raw.headers["idempotency-replayed"] == "true"


async def test_a_stream_begins_at_once_and_ends_with_the_decision(site: Served) -> None:
    async with official(site.url) as client:
        stream = await client.chat.completions.create(
            **chat(seed=2), stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
        whole = await client.chat.completions.create(**chat(seed=2))

    role, content, last, usage = chunks
    assert role.choices[0].delta.role == "assistant"
    assert content.choices[0].delta.content == whole.choices[0].message.content
    assert [chunk.choices[0].finish_reason for chunk in (role, content, last)] == [None, None, "stop"]
    assert (usage.choices, usage.usage) == ([], whole.usage)
    assert last.model_extra is not None
    assert whole.model_extra is not None
    assert last.model_extra["gainsay"] == whole.model_extra["gainsay"]
    assert {chunk.id for chunk in chunks} == {whole.id}
    assert {chunk.model for chunk in chunks} == {"gainsay/adversarial"}


async def test_a_declined_case_is_an_answer_that_says_so(site: Served) -> None:
    case = chat(metadata={**STAKE, "estimatedDownside": "1", "confidenceScore": "0.99"})
    async with official(site.url) as client:
        found = await client.chat.completions.create(**case)
        stream = await client.chat.completions.create(**case, stream=True)
        streamed = "".join([c.choices[0].delta.content or "" async for c in stream])
    extra: Any = found.model_extra

    assert found.choices[0].finish_reason == "stop"
    assert str(found.choices[0].message.content).startswith("No debate was held, because ")
    assert extra["gainsay"]["status"] == "declined"
    assert extra["gainsay"]["gate"]["debate"] is False
    assert [rule["rule"] for rule in extra["gainsay"]["gate"]["rules"] if not rule["holds"]]
    assert found.usage is not None
    assert found.usage.total_tokens == 0
    assert streamed == found.choices[0].message.content


async def test_models_are_listed_and_retrieved_by_both_spellings_of_the_slash(site: Served) -> None:
    async with official(site.url) as client:
        listed = [model async for model in client.models.list()]
        one = await client.models.retrieve("gainsay/adversarial")
        with pytest.raises(openai.NotFoundError) as unknown:
            await client.models.retrieve("gainsay/adversarail")
    catalogue = (await site.http.get("/v1/models")).json()
    plain = await site.http.get("/v1/models/gainsay/auto")

    assert [model.id for model in listed] == ["gainsay/auto", *(f"gainsay/{name}" for name in FORMATS)]
    assert one == listed[1]
    assert (one.object, one.owned_by) == ("model", "gainsay")
    assert unknown.value.code == "model_not_found"
    assert "did you mean 'gainsay/adversarial'?" in unknown.value.message
    assert plain.json()["id"] == "gainsay/auto"
    assert catalogue["object"] == "list"
    assert {"priceHash", "models", "debaterOrder", "data"} <= set(catalogue)


async def test_files_and_earlier_messages_are_documents_and_no_system_prompt(site: Served) -> None:
    coded = base64.b64encode(SOURCE.encode()).decode()
    parts = [
        {"type": "file", "file": {"filename": "terms.md", "file_data": coded}},
        {"type": "file", "file": {"filename": "notes", "file_data": f"data:text/plain;charset=utf-8;base64,{coded}"}},
        {"type": "text", "text": QUESTION},
    ]
    messages = [
        {"role": "system", "content": "You are a careful contract analyst. Answer in JSON."},
        {"role": "user", "content": "What is a cap?"},
        {"role": "assistant", "content": "A limit of liability."},
        {"role": "user", "content": parts},
    ]
    async with official(site.url) as client:
        found = await client.chat.completions.create(**chat(messages=messages))
    extra: Any = found.model_extra
    debate = extra["gainsay"]["debateId"]
    documents = (await site.http.get(f"/v1/debates/{debate}/documents")).json()["documents"]
    texts = [(await site.http.get(f"/v1/debates/{debate}/documents/{one['id']}")).text for one in documents]

    assert [one["title"] for one in documents] == ["Messages before the question", "terms.md", "notes"]
    assert texts[0] == (
        "Message 1, of the role system\n\nYou are a careful contract analyst. Answer in JSON.\n\n"
        "Message 2, of the role user\n\nWhat is a cap?\n\nMessage 3, of the role assistant\n\nA limit of liability."
    )
    assert texts[1:] == [SOURCE, SOURCE]
    assert extra["gainsay"]["sources"] == 2


async def test_an_answer_can_be_sent_back_as_an_earlier_message(site: Served) -> None:
    async with official(site.url) as client:
        first = await client.chat.completions.create(**chat(seed=3))
        again = [user(SOURCE, QUESTION), first.choices[0].message.model_dump(), user(SOURCE, "And the notice period?")]
        second = await client.chat.completions.create(**chat(messages=again))

    assert second.id != first.id


async def test_metadata_gives_the_members_of_the_case_and_the_rest_is_its_own(site: Served) -> None:
    metadata = {
        **STAKE,
        "confidenceScore": "0.4",
        "downsideBasis": "a year of fees",
        "contested": "true",
        "costCeilingUSD": "0.40",
        "options": json.dumps({"maxRounds": 2}),
        "reviewLastAnswer": "true",
        "ticket": "T-7",
    }
    earlier = [user(QUESTION), {"role": "assistant", "content": "Yes, it is uncapped."}]
    async with official(site.url) as client:
        found = await client.chat.completions.create(
            **chat(messages=[*earlier, user(SOURCE, QUESTION)], metadata=metadata)
        )
    extra: Any = found.model_extra
    result = (await site.http.get(f"/v1/debates/{extra['gainsay']['debateId']}?view=full")).json()

    case = result["case"]
    assert (case["confidenceScore"], case["downsideBasis"], case["contested"]) == ("0.4", "a year of fees", True)
    assert case["metadata"] == {"ticket": "T-7"}
    assert case["singleAgentAnswer"] == "Yes, it is uncapped."
    assert result["options"]["maxRounds"] == 2
    assert result["overallCost"]["ceilingUSD"] == "0.40"


@pytest.mark.parametrize("name", ["ballot", "panel", "convergence", "auto"])
async def test_the_other_formats_need_nothing_more(site: Served, name: str) -> None:
    async with official(site.url) as client:
        found = await client.chat.completions.create(**chat(model=f"gainsay/{name}"))
    extra: Any = found.model_extra

    assert extra["gainsay"]["status"] in ("completed", "truncated")


async def test_a_question_without_any_source_says_so(site: Served) -> None:
    messages = [{"role": "system", "content": "You are an analyst."}, {"role": "user", "content": QUESTION}]
    async with official(site.url) as client:
        found = await client.chat.completions.create(**chat(messages=messages))
    extra: Any = found.model_extra

    assert extra["gainsay"]["sources"] == 0
    assert "no source document came with the question" in str(found.choices[0].message.content)


async def test_what_counts_as_a_document_decides_whether_a_case_has_none(site: Served) -> None:
    """What docs/completions.md says of a question alone, and of one with earlier messages."""
    alone = [{"role": "user", "content": QUESTION}]
    before = [{"role": "system", "content": "You are an analyst."}, *alone]
    async with official(site.url) as client:
        with pytest.raises(openai.UnprocessableEntityError, match="documents is empty"):
            await client.chat.completions.create(**chat(messages=alone))
        found = [
            await client.chat.completions.create(**chat(model="gainsay/ballot", messages=messages))
            for messages in (alone, before)
        ]
    details: list[Any] = [(each.model_extra or {})["gainsay"] for each in found]

    assert [each["sources"] for each in details] == [0, 0]
    assert ["noDocuments" in each["flags"] for each in details] == [True, False]
    for each in found:
        assert "no source document came with the question" in str(each.choices[0].message.content)
