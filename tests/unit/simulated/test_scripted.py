"""The scripted provider plays what the file says, and says what is wrong with a file that cannot be played."""

import json
from typing import Any

import msgspec
import pytest

from service.debate.replies import Framing, Moderation
from service.errors import SettingsError
from service.money import Usage, bytes_over_four, normalise
from service.prompts.fence import Block, fence, nonce
from service.prompts.request import Message, Request, text_of
from service.running.provider_port import CallFailed
from service.simulated.scripted import ReplyScript, ScriptedProvider, ScriptedReply, load, parse, recorded, turn_of

MARK = nonce("seed")


def request(seat: str, *blocks: Block, model: str = "alder-large", mark: str = MARK) -> Request:
    """A request of a seat with these blocks, as the renderer lays it out."""
    case = "\n".join(fence(mark, b) for b in (Block("question", {}, "Is it capped?"),))
    seen = "\n".join(fence(mark, b) for b in blocks)
    messages = (Message("house", "house"), Message("data", case), Message("data", seen), Message("seat", seat))
    return Request(seat, model, model, messages, seat, {}, 1_000)


def script(turns: dict[str, Any], **rest: Any) -> ReplyScript:
    return parse(json.dumps({"turns": turns, **rest}).encode())


SAID = Block("statement", {"by": "proposer", "round": 2}, "{}")
JUDGED = Block("evaluation", {"round": 1}, "{}")


@pytest.mark.parametrize(
    ("seat", "blocks", "turn"),
    [
        ("framing", (), "0.framing.1"),
        ("proposer", (), "1.proposer.1"),
        ("proposer", (JUDGED,), "2.proposer.1"),
        ("proposer", (Block("position-of-this-seat", {"id": "buy"}, "buy"),), "1.proposer.buy.1"),
        ("critic", (SAID,), "2.critic.1"),
        ("critic", (SAID, Block("retry", {}, "{}")), "2.critic.2"),
        ("critic", (SAID, Block("repair", {}, "{}")), "2.critic.1"),
        ("critic", (SAID, Block("retry", {}, "{}"), Block("repair", {}, "{}")), "2.critic.2"),
        ("moderator", (Block("statement", {"label": "Statement 1", "round": 1}, "{}"),), "1.moderator.1"),
    ],
)
def test_the_turn_is_read_off_what_the_request_shows(seat: str, blocks: tuple[Block, ...], turn: str) -> None:
    asked = request(seat, *blocks)

    found = turn_of(asked)

    assert found == turn


async def test_a_turn_of_its_own_goes_before_its_seat() -> None:
    provider = ScriptedProvider(script({"critic": [{"text": "any"}], "2.critic.1": [{"text": "second round"}]}))

    first = await provider.send(provider.encode(request("critic")))
    second = await provider.send(provider.encode(request("critic", SAID)))

    assert (first.text, second.text) == ("any", "second round")


async def test_a_failure_moves_on_to_the_next_step_and_the_last_step_stays() -> None:
    steps = [{"fail": "timeout"}, {"fail": "rateLimit"}, {"reply": {"thesis": "x"}}]
    provider = ScriptedProvider(script({"1.critic.1": steps}))
    body = provider.encode(request("critic"))

    reasons = []
    for _ in range(2):
        with pytest.raises(CallFailed) as failed:
            await provider.send(body)
        reasons.append(failed.value.reason)
    answers = [(await provider.send(body)).text for _ in range(2)]

    assert reasons == ["timeout", "rateLimit"]
    assert answers == ['{"thesis":"x"}'] * 2


REPAIR = Block("repair", {}, '{"error":"no object"}')


async def said(provider: ScriptedProvider, *asked: Request) -> list[str]:
    """What a provider says to these requests, one after the other; the reason where it fails."""
    told = []
    for one in asked:
        try:
            told.append((await provider.send(provider.encode(one))).text)
        except CallFailed as failed:
            told.append(failed.reason)
    return told


@pytest.mark.parametrize(
    ("steps", "played"),
    [
        ([{"text": "bad"}, {"text": "good"}], ["bad", "good", "good"]),
        ([{"text": "bad"}, {"text": "worse"}, {"text": "good"}], ["bad", "worse", "good"]),
        ([{"text": "bad"}, {"fail": "timeout"}, {"text": "good"}], ["bad", "timeout", "good"]),
        ([{"fail": "timeout"}, {"text": "bad"}, {"text": "good"}], ["timeout", "bad", "good"]),
    ],
)
async def test_a_reply_that_could_not_be_used_moves_on_to_the_next_step(
    steps: list[dict[str, Any]], played: list[str]
) -> None:
    provider = ScriptedProvider(script({"1.critic.1": steps}))
    first, repair = request("critic"), request("critic", REPAIR)
    fallback = request("critic", model="birch-large")
    asked = {"bad": repair, "worse": fallback, "timeout": None, "good": repair}

    told, due = [], first
    for _ in played:
        told += await said(provider, due)
        due = asked[told[-1]] or due

    assert told == played


async def test_a_turn_that_is_asked_again_as_before_is_given_the_same_reply() -> None:
    provider = ScriptedProvider(script({"1.critic.1": [{"text": "bad"}, {"text": "good"}]}))

    told = await said(provider, request("critic"), request("critic"), request("critic", REPAIR))

    assert told == ["bad", "bad", "good"]


@pytest.mark.parametrize(
    ("steps", "again"),
    [
        ([{"text": "bad"}, {"text": "good"}], "good"),
        ([{"fail": "timeout"}, {"text": "bad"}, {"text": "good"}, {"text": "never"}], "good"),
        ([{"fail": "timeout"}, {"fail": "overload"}], "overload"),
        ([{"text": "bad"}], "bad"),
    ],
)
async def test_a_repair_is_given_the_same_reply_by_a_provider_that_is_started_again(
    steps: list[dict[str, Any]], again: str
) -> None:
    provider = ScriptedProvider(script({"1.critic.1": steps}))

    assert await said(provider, request("critic", REPAIR)) == [again]


async def test_failures_in_one_debate_do_not_move_another_on() -> None:
    provider = ScriptedProvider(script({"1.critic.1": [{"text": "bad"}, {"text": "good"}]}))
    here, there = request("critic"), request("critic", mark=nonce("another seed"))
    await said(provider, here, request("critic", REPAIR))

    assert await said(provider, there) == ["bad"]


async def test_a_provider_that_is_started_again_gives_the_same_replies() -> None:
    played = script({"1.proposer.1": [{"text": "a"}], "2.proposer.1": [{"text": "b"}]})
    before, after = ScriptedProvider(played), ScriptedProvider(played)
    await before.send(before.encode(request("proposer")))

    answer = await after.send(after.encode(request("proposer", JUDGED)))

    assert answer.text == "b"


async def test_a_failure_carries_the_usage_and_whether_it_can_have_cost_anything() -> None:
    step = {"fail": "overload", "retry": False, "billable": False, "detail": "busy", "usage": {"input": 7, "output": 0}}
    provider = ScriptedProvider(script({"critic": [step]}))

    with pytest.raises(CallFailed) as failed:
        await provider.send(provider.encode(request("critic")))

    assert (failed.value.retry, failed.value.billable, failed.value.detail) == (False, False, "busy")
    assert failed.value.answer is not None
    assert normalise("scripted", failed.value.answer.raw_usage) == Usage(input=7, output=0)


async def test_every_kind_of_tokens_that_a_step_names_is_told_on_the_wire() -> None:
    usage = Usage(1, 2, cached_input=3, cache_write=4, reasoning=5, cache_write_1h=6, tier="flex")
    provider = ScriptedProvider(script({"critic": [{"text": "four", "usage": msgspec.to_builtins(usage)}]}))

    answer = await provider.send(provider.encode(request("critic")))

    assert normalise("scripted", answer.raw_usage) == usage


async def test_usage_is_counted_when_left_out_given_when_given_and_missing_when_null() -> None:
    steps = {
        "proposer": [{"text": "four"}],
        "critic": [{"text": "four", "usage": {"input": 1, "output": 2}}],
        "rebuttal": [{"text": "four", "usage": None}],
    }
    provider = ScriptedProvider(script(steps))
    asked = {seat: request(seat) for seat in steps}

    answers = {seat: await provider.send(provider.encode(asked[seat])) for seat in steps}

    counted = {"input_tokens": bytes_over_four(text_of(asked["proposer"])), "output_tokens": 1}
    assert answers["proposer"].raw_usage == counted
    assert answers["critic"].raw_usage == {"input_tokens": 1, "output_tokens": 2}
    assert answers["rebuttal"].raw_usage is None


async def test_a_turn_without_a_step_is_an_error_that_names_the_turn() -> None:
    provider = ScriptedProvider(script({}))

    with pytest.raises(CallFailed) as failed:
        await provider.send(provider.encode(request("critic", SAID)))

    assert failed.value.reason == "scriptExhausted"
    assert not failed.value.billable
    assert "2.critic.1" in failed.value.detail


async def test_a_turn_without_a_step_goes_to_the_offline_models_when_the_script_says_so() -> None:
    provider = ScriptedProvider(script({}, otherwise="offline"))

    answer = await provider.send(provider.encode(request("framing")))

    assert answer.fingerprint == "offline/1"


async def test_what_was_recorded_is_played_again() -> None:
    framing = Framing("T.", "S.", ("C",), ())
    moderation = Moderation((), (), (), False, "S.", "LOW", ("U.",), "modified")
    provider = ScriptedProvider(recorded({"0.framing.1": framing, "1.moderator.1": moderation}))

    answer = await provider.send(provider.encode(request("framing")))

    assert json.loads(answer.text) == {"thesis": "T.", "scope": "S.", "criteria": ["C"], "keyDocuments": []}


def test_the_messages_are_those_of_the_request() -> None:
    provider, asked = ScriptedProvider(script({})), request("critic", SAID)

    spoken = provider.decode_request(provider.encode(asked))

    assert (spoken.messages, msgspec.json.decode(spoken.reply_schema)) == (asked.messages, asked.reply_schema)


@pytest.mark.parametrize(
    ("raw", "hint"),
    [
        (b"{", "script"),
        (b'{"turns": {"1.critic.1": [{"repply": {}}]}}', "repply"),
        (b'{"turns": {"1.critic.1": [{"text": "a", "fail": "timeout"}]}}', "exactly one"),
        (b'{"turns": {"1.critic.1": [{}]}}', "exactly one"),
        (b'{"turns": {"1.critic.1": []}}', "at least one step"),
        (b'{"turns": {"round one": [{"text": "a"}]}}', "turn id"),
        (b'{"turns": {"critic": [{"fail": "bored"}]}}', "bored"),
        (b'{"turns": {"critic": [{"text": "a", "latencyS": -1}]}}', "latencyS"),
        (b'{"turns": {}, "otherwise": "online"}', "online"),
    ],
)
def test_a_script_that_cannot_be_played_says_what_is_wrong(raw: bytes, hint: str) -> None:
    with pytest.raises(SettingsError) as error:
        parse(raw)

    assert hint in error.value.detail


def test_a_script_that_is_not_there_is_a_setting_that_cannot_be_used(tmp_path: Any) -> None:
    with pytest.raises(SettingsError) as error:
        load(tmp_path / "missing.json")

    assert "missing.json" in error.value.detail


def test_a_step_is_the_same_from_a_file_and_from_code(tmp_path: Any) -> None:
    file = tmp_path / "script.json"
    file.write_text('{"turns": {"critic": [{"text": "a"}]}}', encoding="utf-8")

    loaded = load(file)

    assert loaded == ReplyScript(turns={"critic": (ScriptedReply(text="a"),)})
