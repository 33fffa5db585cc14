"""The official openai client against the served service, unchanged but for its base URL."""

from __future__ import annotations

import pytest
from openai import AsyncOpenAI

from tests.fixtures.serving import Served

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_try(site: Served) -> None:
    client = AsyncOpenAI(base_url=f"{site.url}/v1", api_key="x")
    print(await client.models.list())
    print(await client.models.retrieve("gainsay/adversarial"))
    a = await client.chat.completions.create(model="gainsay/adversarial", messages=[{"role":"system","content":"You are a careful contract analyst."},{"role":"user","content":[{"type":"text","text":"The Supplier shall not be liable for more than 30 days of fees."},{"type":"text","text":"Does this agreement leave us with uncapped liability?"}]}], metadata={"taskType":"contract","estimatedDownside":"250000"})
    print(a.model_dump_json(indent=1))
    s = await client.chat.completions.create(stream=True, stream_options={"include_usage":True}, model="gainsay/adversarial", messages=[{"role":"user","content":[{"type":"text","text":"The Supplier shall not be liable for more than 30 days of fees."},{"type":"text","text":"Does this agreement leave us with uncapped liability?"}]}], metadata={"taskType":"contract","estimatedDownside":"250000"})
    async for c in s: print(c.model_dump_json()[:300])
    assert 0
