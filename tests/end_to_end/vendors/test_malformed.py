"""Answers in any shape at all: an adapter brings an `Answer` or raises `CallFailed`, in time, and invents no usage.

spoilt      every node of a good answer left out, replaced, wrapped and doubled: some hundreds of shapes
mutated     several such changes at once, drawn by hypothesis
arbitrary   JSON that was never an answer, and bytes that were never JSON
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.entries import AttemptFailed, Charge, decode, encode
from service.debate.turns import TurnId
from service.running.provider_port import Answer, CallFailed, Provider
from tests.end_to_end.vendors.adapters import WIRES, connect, outcome, usage_of
from tests.end_to_end.vendors.requests import TOLD
from tests.fixtures import vendors
from tests.fixtures.behaviours import Body, Status
from tests.fixtures.upstream import Upstream, upstream
from tests.fixtures.vendors import VENDORS, Answered, Shape, Tokens, Wire

Path = tuple[str | int, ...]
TOKENS = Tokens(input=900, output=80, cached_input=100, cache_write=0, reasoning=20)
INSTEAD: list[Any] = [None, True, 0, -1, 1.5, 10**20, "", "\ud800", "x", [], [None], {}, {"x": 1}, [[[]]]]


@dataclass
class Desk:
    """Both adapters, joined to one upstream, on a loop that lives as long as the module's tests."""

    runner: asyncio.Runner
    up: Upstream
    adapters: Mapping[Wire, Provider]

    def give(self, wire: Wire, raw: bytes) -> Answer | CallFailed:
        """How a call ends that is answered with this."""
        self.up.play(Body(raw))
        return self.runner.run(outcome(self.adapters[wire]))


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    with asyncio.Runner() as runner:
        serving = upstream(Status(500))
        up = runner.run(serving.__aenter__())
        adapters = {wire: runner.run(_connect(wire, up.url)) for wire in WIRES}
        yield Desk(runner, up, adapters)
        for adapter in adapters.values():
            runner.run(adapter.close())
        runner.run(serving.__aexit__(None, None, None))


async def _connect(wire: Wire, url: str) -> Provider:
    return connect(wire, url)


def good(wire: Wire, shape: Shape = "usual") -> dict[str, Any]:
    """A good answer, as the vendor sends it."""
    return vendors.answer(wire, Answered(TOLD, vendors.usage(wire, TOKENS), shape=shape))


def paths(tree: Any, at: Path = ()) -> Iterator[Path]:
    """Every place in a tree, the root apart."""
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inside:
        yield (*at, key)
        yield from paths(value, (*at, key))


def changed(tree: Any, path: Path, how: str, value: Any = None) -> Any:
    """The tree with one place changed; a place that is no longer there changes nothing."""
    tree = copy.deepcopy(tree)
    *above, last = path
    node = tree
    try:
        for key in above:
            node = node[key]
        old = node[last]
    except (KeyError, IndexError, TypeError):
        return tree
    match how:
        case "drop":
            del node[last]
        case "replace":
            node[last] = value
        case "wrap":
            node[last] = [old]
        case "nest":
            node[last] = {str(last): old}
        case "double" if isinstance(node, list):
            node.insert(0, copy.deepcopy(old))
        case "rename" if isinstance(node, dict):
            node[f"{last}s"] = node.pop(last)
    return tree


def encoded(tree: Any) -> bytes:
    """The tree as JSON; a half of a surrogate pair goes out as its escape, as careless servers send it."""
    return json.dumps(tree).encode()


def judge(wire: Wire, raw: bytes, ended: Answer | CallFailed) -> None:
    """What holds of every ending."""
    answer = ended if isinstance(ended, Answer) else ended.answer
    if isinstance(ended, CallFailed):
        assert ended.reason in ("providerFault", "malformedReply", "lengthLimit", "modelRefused") or b'"error' in raw
        assert ended.detail
        assert len(ended.detail) < 500
    if answer is None:
        return
    recordable(answer)
    if usage_of(wire, answer) is not None:
        _told(wire, json.loads(raw).get("usage"), answer)


def recordable(answer: Answer) -> None:
    """The record takes all that came back: no number too long for it, no half of a character, no other type."""
    who = (answer.request_id, answer.served_model, answer.fingerprint)
    entry = AttemptFailed(TurnId("1.critic.1"), 1, "malformedReply", "", Charge(0, "none"), answer.raw_usage, who[0])
    entry = replace(entry, served_model=who[1], fingerprint=who[2], said=answer.text)
    assert decode(encode(entry)) == entry


def _told(wire: Wire, raw: Any, answer: Answer) -> None:
    """The usage is the one that was told, to the token: its sums are numbers of the object itself."""
    usage = usage_of(wire, answer)
    assert usage is not None
    assert usage.believable
    sums = (usage.inputs if VENDORS[wire].cached_in else usage.input, usage.outputs)
    names = VENDORS[wire].counts
    assert type(raw[names[0]]) is int
    assert type(raw[names[1]]) is int
    told = (raw[names[0]], raw[names[1]])
    beside = raw[names[1]] + usage.reasoning  # where the total says that reasoning stands beside the completion
    assert sums == told or sums == (told[0], beside)


SHAPES: list[tuple[Wire, Shape]] = [(w, s) for w in WIRES for s in VENDORS[w].shapes if s in ("usual", "tool")]


@pytest.mark.parametrize(("wire", "shape"), SHAPES)
def test_every_single_change_to_a_good_answer_is_survived(desk: Desk, wire: Wire, shape: Shape) -> None:
    whole = good(wire, shape)
    spoilt = [changed(whole, p, how) for p in paths(whole) for how in ("drop", "wrap", "nest", "double", "rename")]
    spoilt += [changed(whole, p, "replace", value) for p in paths(whole) for value in INSTEAD]
    assert len(spoilt) > 150

    endings = [(encoded(tree), desk.give(wire, encoded(tree))) for tree in spoilt]

    for raw, ended in endings:
        judge(wire, raw, ended)
    assert any(isinstance(ended, Answer) for _, ended in endings)
    assert any(isinstance(ended, CallFailed) for _, ended in endings)


def _keys() -> st.SearchStrategy[str]:
    words = {part for wire in WIRES for path in paths(good(wire)) for part in path if isinstance(part, str)}
    return st.sampled_from(sorted({*words, "error", "type", "code", "tool_calls", "refusal"})) | st.text(max_size=5)


json_trees = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_keys(), inner, max_size=5),
    max_leaves=20,
)


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
def test_any_changes_to_a_good_answer_are_survived(desk: Desk, wire: Wire, data: st.DataObject) -> None:
    tree = good(wire, data.draw(st.sampled_from(VENDORS[wire].shapes)))
    for _ in range(data.draw(st.integers(1, 4))):
        path = data.draw(st.sampled_from(sorted(paths(tree), key=str) or [("id",)]))
        how = data.draw(st.sampled_from(["drop", "replace", "wrap", "nest", "double", "rename"]))
        tree = changed(tree, path, how, data.draw(json_trees) if how == "replace" else None)

    judge(wire, encoded(tree), desk.give(wire, encoded(tree)))


@pytest.mark.parametrize("wire", WIRES)
@given(tree=json_trees)
def test_any_json_is_survived(desk: Desk, wire: Wire, tree: Any) -> None:
    judge(wire, encoded(tree), desk.give(wire, encoded(tree)))


@pytest.mark.parametrize("wire", WIRES)
@given(raw=st.binary(max_size=200))
def test_any_bytes_are_survived(desk: Desk, wire: Wire, raw: bytes) -> None:
    ended = desk.give(wire, raw)

    assert isinstance(ended, CallFailed)
    assert ended.answer is None or usage_of(wire, ended.answer) is None


@pytest.mark.parametrize("wire", WIRES)
@given(tree=json_trees, status=st.sampled_from([400, 401, 404, 422, 429, 500, 503, 529]))
def test_any_error_body_is_survived(desk: Desk, wire: Wire, tree: Any, status: int) -> None:
    desk.up.play(Status(status, {"error": tree}))
    ended = desk.runner.run(outcome(desk.adapters[wire]))

    assert isinstance(ended, CallFailed)
    assert len(ended.detail) < 500
    assert ended.billable == (status == 500 or (status == 503 and ended.billable))


HOSTILE: dict[str, bytes] = {
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"choices":' * 50_000 + b"1" + b"}" * 50_000,
    "deep usage": b'{"usage":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "long number": b'{"usage":{"prompt_tokens":' + b"9" * 1_000_000 + b"}}",
    "not a number": b'{"choices": NaN, "usage": {"prompt_tokens": Infinity}}',
    "two answers": b'{"id":"a"}{"id":"b"}',
    "many keys": json.dumps({f"k{n}": n for n in range(100_000)}).encode(),
    "byte order mark": b"\xef\xbb\xbf" + json.dumps({"id": "x"}).encode(),
    "UTF-16": json.dumps({"id": "x"}).encode("utf-16"),
    "null bytes": b"\x00" * 1_000,
    "half a surrogate": b'{"id":"\\ud800","model":"\\udfff"}',
}


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("wire", WIRES)
def test_hostile_bodies_are_survived(desk: Desk, wire: Wire, raw: bytes) -> None:
    ended = desk.give(wire, raw)

    assert isinstance(ended, CallFailed)
    assert ended.answer is None or usage_of(wire, ended.answer) is None


@pytest.mark.parametrize("wire", WIRES)
def test_text_of_half_a_surrogate_can_be_recorded_or_is_refused(desk: Desk, wire: Wire) -> None:
    """A lone surrogate can be escaped in JSON and can be stored nowhere."""
    whole = encoded(good(wire)).replace(json.dumps(TOLD).encode(), b'"\\ud800 half"')
    ended = desk.give(wire, whole)

    judge(wire, whole, ended)
