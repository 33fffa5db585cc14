"""What a reply says of its own model is masked in requests, and a verifier renders the same mask."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

from service.debate.entries import DebateStarted
from service.prompts import arguments
from tests.fixtures.bundles import Draft, failed, verify

Drafts = Mapping[str, Draft]


def unmasked(view: arguments.View, _: DebateStarted) -> arguments.View:
    return view


def test_a_debate_whose_replies_name_their_models_is_verified_and_keeps_their_words(drafts: Drafts) -> None:
    draft = drafts["selfNaming"]

    assert verify(draft.bundle()).code == 0
    said = [msgspec.json.decode(payload).get("reply", {}) for payload in draft.payloads]
    assert sum("I am GPT-4o by OpenAI." in reply.get("thesis", reply.get("synthesis", "")) for reply in said) == 5


def test_a_request_that_was_not_masked_would_have_another_hash(drafts: Drafts, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = drafts["selfNaming"].bundle()
    monkeypatch.setattr(arguments, "masked_view", unmasked)

    assert failed(verify(bundle)) == ["requests"]
    assert verify(drafts["plain"].bundle()).code == 0
