"""Parts of the clients alone: proofs, events in pieces, pauses, files; and that both languages agree."""

from __future__ import annotations

import asyncio
import base64
import inspect
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gainsay_client import AsyncGainsay, FileHeads, Gainsay, GainsayError, Head, MemoryHeads, Refused, Unavailable
from gainsay_client.calls import asked_of
from gainsay_client.connection import settings_of
from gainsay_client.consistency import BadConsistency, verify_consistency
from gainsay_client.events import Decoder
from gainsay_client.exchange import Exchange, Terms
from gainsay_client.files import PartFile
from gainsay_client.head_memory import HeadMemory
from gainsay_client.steps import Broken, Pause, Send
from gainsay_client.wire import Answer, Request, Server, encode
from service.web.openapi import document
from tests.fixtures import merkle
from tests.fixtures.hostile_servers import lasting

if TYPE_CHECKING:
    from gainsay_client.types import CaseRequest, Summary

HERE = Path(__file__).parent
MOST = 17


def base64_of(value: bytes) -> str:
    return base64.b64encode(value).decode()


def holds(old: int, size: int, path: list[bytes], roots: tuple[bytes, bytes]) -> bool:
    try:
        verify_consistency(old, size, path, *roots)
    except BadConsistency:
        return False
    return True


def proofs() -> Iterator[tuple[int, int, list[bytes], tuple[bytes, bytes]]]:
    """Every proof of small trees, whole and spoilt."""
    leaves = merkle.leaves(MOST)
    draw = random.Random(7)
    for size in range(1, MOST + 1):
        for old in range(1, size + 1):
            path = merkle.proof(old, leaves[:size])
            roots = merkle.mth(leaves[:old]), merkle.mth(leaves[:size])
            yield old, size, path, roots
            yield old, size, [*path, bytes(32)], roots
            yield old, size, path[:-1], roots
            yield old, size, path, (roots[0], bytes(32))
            yield old, size, path, (bytes(32), roots[1])
            yield old + draw.choice((-1, 1)), size, path, roots


def verdict(old: int, size: int, path: list[bytes], roots: tuple[bytes, bytes]) -> bool:
    """By the definitions of RFC 6962, in another way than the clients."""
    if old > size or old < 1:
        return old == 0 and not path and roots[0] == merkle.mth([])
    return merkle.roots_by_proof(old, size, path, roots[0]) == roots


STREAM = (
    '﻿: hello\nretry: 5\n\nevent: gate\ndata: {"é": 1}\nid: 1\n\n\n\nid: 2\n\nevent: a\ndata: x\ndata:y\n\n'
    "id: 3\r\nevent: ü\r\ndata: 🎉\r\n\r\nid: 4\revent: z\rdata\r\r"
    "id: 5\r\n\nid: 6\n\r\ndata: cut"
).encode()
FRAMES = [
    [None, "message", None],
    ["1", "gate", '{"é": 1}'],
    ["2", "message", None],
    [None, "a", "x\ny"],
    ["3", "ü", "🎉"],
    ["4", "z", ""],
    ["5", "message", None],
    ["6", "message", None],
]


def pieces(cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(STREAM), *(cut % len(STREAM) for cut in cuts)})
    return [STREAM[a:b] for a, b in pairwise(places)]


def test_a_proof_holds_exactly_where_the_definition_says_so() -> None:
    found = [holds(*each) for each in proofs()]

    assert found == [verdict(*each) for each in proofs()]
    assert {True, False} == set(found)


@given(cuts=st.lists(st.integers(0, 500)))
def test_events_are_the_same_however_the_bytes_are_cut(cuts: list[int]) -> None:
    decoder = Decoder()

    frames = [frame for piece in pieces(cuts) for frame in decoder.feed(piece)]

    assert [[frame.id, frame.name, frame.data] for frame in frames] == FRAMES


def test_both_languages_agree_on_proofs_and_events(node_program: Path) -> None:
    streams = ([], list(range(len(STREAM))), *([a, a + 1, 3 * a] for a in range(len(STREAM))))
    asked = {
        "proofs": [
            {
                "old": old,
                "size": size,
                "path": [base64_of(node) for node in path],
                "oldRoot": base64_of(roots[0]),
                "newRoot": base64_of(roots[1]),
            }
            for old, size, path, roots in proofs()
        ],
        "streams": [[base64_of(piece) for piece in pieces(cuts)] for cuts in streams],
    }
    program = node_program.with_name("parts.mjs")
    program.write_bytes((HERE / "parts.mjs").read_bytes())

    done = subprocess.run(
        ["node", str(program)], input=json.dumps(asked), capture_output=True, text=True, check=True, timeout=60
    )

    told = json.loads(done.stdout)
    assert told["proofs"] == [verdict(*each) for each in proofs()]
    assert told["streams"] == [FRAMES] * len(streams)


class Clock:
    """A clock that only pauses move."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


BUSY = Answer(503, {"retry-after": "2", "content-type": "application/problem+json"}, b'{"code": "queue_full"}')


@given(
    script=st.lists(st.sampled_from(["busy", "lost", "unsent"]), max_size=40),
    repeatable=st.booleans(),
    seconds=st.floats(0.1, 100),
)
def test_whatever_fails_a_call_ends_in_time_waits_as_it_is_told_and_never_repeats_what_it_must_not(
    script: list[str], repeatable: bool, seconds: float
) -> None:
    clock, sent, pauses = Clock(), 0, []
    terms = Terms(Server.at("http://x"), {}, seconds, 60, 60, 0.25, clock, lambda: 0.5)
    memory = HeadMemory(MemoryHeads(), 1, clock, lambda _: None)
    steps = Exchange(terms, memory).send(Request("POST", "/v1/debates", repeatable=repeatable))
    faults: dict[str, Answer | Broken] = {
        "busy": BUSY,
        "lost": Broken("lost", sent=True),
        "unsent": Broken("refused", sent=False),
    }
    ended: Answer | GainsayError
    try:
        step = next(steps)
        while True:
            if isinstance(step, Pause):
                pauses.append(step.seconds)
                clock.now += step.seconds
                step = steps.send(None)
                continue
            assert isinstance(step, Send)
            outcome = faults[script[sent]] if sent < len(script) else Answer(200, {}, b"{}")
            sent += 1
            step = steps.throw(outcome) if isinstance(outcome, Broken) else steps.send(outcome)
    except StopIteration as end:
        ended = end.value
    except GainsayError as error:
        ended = error

    assert clock.now <= seconds
    assert all(pause >= 2 for name, pause in zip(script, pauses, strict=False) if name == "busy")
    if not repeatable:
        assert all(name == "unsent" for name in script[: sent - 1])
    if isinstance(ended, Unavailable):
        assert ended.code == "queue_full"


KEEPING = """
import sys
from gainsay_client import FileHeads, Head
file, log, start = sys.argv[1:]
store = FileHeads(file)
for size in range(int(start), 40, 2):
    while (kept := store.heads().get(log)) is None or kept.size < size:
        store.keep(Head(log, size, bytes(32)), kept)
"""


@pytest.mark.parametrize("kind", ["pipe", "folder", "name of an open file"])
def test_a_download_takes_the_place_of_no_pipe_folder_or_open_file(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "bundle.zip"
    match kind:
        case "pipe":
            os.mkfifo(target)
        case "folder":
            target.mkdir()
        case _:
            target.symlink_to("/proc/self/fd/1")
    before = target.lstat()

    with pytest.raises(FileExistsError, match="expected the name of a file"):
        PartFile(target)

    assert target.lstat() == before
    assert list(tmp_path.iterdir()) == [target]


def test_processes_that_write_one_file_lose_no_head(tmp_path: Path) -> None:
    file = tmp_path / "heads.json"
    asked = [(log, start) for log in ("h/a/1", "h/b/1") for start in ("1", "2")]
    processes = [subprocess.Popen([sys.executable, "-c", KEEPING, str(file), *each]) for each in asked]

    assert [process.wait(60) for process in processes] == [0, 0, 0, 0]
    assert {log: head.size for log, head in FileHeads(file).heads().items()} == {"h/a/1": 39, "h/b/1": 39}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["heads.json", "heads.json.lock"]


def test_a_head_is_kept_only_in_the_place_of_the_one_that_was_seen(tmp_path: Path) -> None:
    one, two, three = (Head("h/t/1", size, bytes(32)) for size in (1, 2, 3))
    for store in (MemoryHeads(), FileHeads(tmp_path / "heads.json")):
        assert store.keep(one, None) == one
        assert store.keep(two, None) == one
        assert store.keep(two, one) == two
        assert store.keep(three, one) == two


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"x"])
def test_what_json_cannot_say_is_refused_before_it_is_sent(value: object) -> None:
    with pytest.raises(Refused):
        encode({"estimatedDownside": value})


@pytest.mark.parametrize(
    "address", ["gainsay.example", "ftp://x", "http://", "http://u:p@x", "http://x?y", "http://x#y"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        Gainsay(address)


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "tök"])
def test_a_token_that_would_be_another_header_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="token"):
        Gainsay("http://x", token=token)


def test_a_token_is_in_no_text_of_the_client() -> None:
    with Gainsay("http://x", token="secret") as client:
        assert "secret" not in repr(client)
    with pytest.raises(ValueError, match="both"):
        Gainsay("http://x", token="secret", headers={"Authorization": "Basic x"})


async def test_further_headers_go_with_the_requests_of_their_client_alone_by_its_connections() -> None:
    async with lasting({"models": []}) as server:
        async with AsyncGainsay(server.url, token="secret", headers={"x-a": "own"}) as client:
            other = client.with_headers({"X-A": "other"}).with_headers({"X-B": "b"})
            for each in (client, other, client):
                await each.models()
            await other.request("GET", "/", headers={"x-b": "asked"})
        alone = server.connections

        def threaded() -> None:
            with Gainsay(server.url, token="secret", headers={"x-a": "own"}) as client:
                other = client.with_headers({"X-A": "other"}).with_headers({"X-B": "b"})
                for each in (client, other, client):
                    each.models()
                other.request("GET", "/", headers={"x-b": "asked"})

        await asyncio.to_thread(threaded)

    expected = [("own", None), ("other", "b"), ("own", None), ("other", "asked")]
    assert [(asked.headers["x-a"], asked.headers.get("x-b")) for asked in server.seen] == expected * 2
    assert {asked.headers["authorization"] for asked in server.seen} == {"Bearer secret"}
    assert (alone, server.connections) == (1, 2)


def test_certificates_are_verified_by_the_public_authorities_unless_others_are_given() -> None:
    terms = Terms(Server.at("https://x"), {}, 1, 1, 1, 1, Clock(), lambda: 0.0)

    trusted = settings_of(terms, None)["verify"]

    assert trusted.verify_mode.name == "CERT_REQUIRED"
    assert trusted.check_hostname
    with pytest.raises(FileNotFoundError):
        settings_of(terms, "/nonexistent/ca.pem")


def test_filters_are_written_as_the_service_writes_them() -> None:
    query = asked_of(
        {"task_type": ["contract", "security"], "human_review": True, "q": "cap", "since": None},
        {"desk": "rates", "team": None},
    )

    assert query == (
        ("taskType", "contract"),
        ("taskType", "security"),
        ("humanReview", "true"),
        ("q", "cap"),
        ("metadata", "desk=rates"),
        ("metadata", "team"),
    )
    with pytest.raises(TypeError, match="tasktype"):
        asked_of({"tasktype": "contract"})


CALLS = {
    "submitCase": "submit",
    "listDebates": "find_page",
    "readDebate": "result",
    "followDebate": "follow",
    "abortDebate": "abort",
    "readReport": "report",
    "listDocuments": "documents",
    "readDocument": "document",
    "createBatch": "create_batch",
    "listBatches": "batches",
    "readBatch": "batch",
    "batchResults": "batch_results",
    "abortBatch": "abort_batch",
    "registerEvaluation": "register_evaluation",
    "listEvaluations": "evaluations",
    "listEvaluationSets": "evaluation_sets",
    "readEvaluation": "evaluation",
    "followEvaluation": "follow_evaluation",
    "stopEvaluation": "stop_evaluation",
    "readEvaluationReport": "evaluation_report",
    "exportEvaluation": "export_evaluation",
    "readBundle": "bundle",
    "listKeys": "keys",
    "listLogs": "logs",
    "readCheckpoint": "checkpoint",
    "proveRecord": "prove_record",
    "proveConsistency": "consistency",
    "exportRecords": "export",
    "recall": "recall",
    "decide": "gate",
    "quoteCase": "quote",
    "checkCitations": "check_citations",
    "listPrompts": "prompts",
    "listModels": "models",
    "readPolicy": "policy",
    "readBudget": "budget",
    "readCaller": "caller",
}
NO_CALL = {
    *("readTile", "landing", "alive", "ready", "metrics", "openapi", "openapi30"),
    *("listProblems", "readProblem", "docs", "docsFile"),
    # OpenAI's own clients call these, unchanged: docs/completions.md.
    *("createChatCompletion", "readChatModel"),
    # Registers are kept by operators with commands. A key in an answer must not pass through code that logs answers.
    *("issueApiKey", "listApiKeys", "readApiKey", "rotateApiKey", "revokeApiKey"),
    *("listSubjects", "readSubject", "revokeSubject", "createTenant", "listTenants"),
    *("listReviewers", "assignReviewer", "removeReviewer"),
    # The same holds for the secrets of endpoints, which operators manage.
    *("createWebhook", "listWebhooks", "readWebhook", "rotateWebhook", "disableWebhook", "enableWebhook"),
    *("testWebhook", "listWebhookDeliveries", "redeliverWebhook"),
}
"""What `request` is for."""


def test_every_operation_has_its_call_in_both_languages() -> None:
    found = {each["operationId"] for path in document()["paths"].values() for each in path.values()}
    typescript = (HERE.parents[2] / "clients" / "typescript" / "src" / "client.ts").read_text("utf-8")

    assert found - set(CALLS) == NO_CALL, "give it a call in both clients, or name it in NO_CALL"
    for name in CALLS.values():
        assert callable(getattr(Gainsay, name))
        first, *rest = name.split("_")
        assert f" {first}{''.join(word.capitalize() for word in rest)}" in typescript


def test_both_clients_of_python_have_the_same_calls() -> None:
    def calls(kind: type) -> dict[str, Any]:
        public = {name: each for name, each in vars(kind).items() if not name.startswith("_")}
        return {name: list(inspect.signature(each).parameters) for name, each in public.items() if callable(each)}

    assert calls(Gainsay) == calls(AsyncGainsay)
    assert list(inspect.signature(Gainsay).parameters.items()) == list(
        inspect.signature(AsyncGainsay).parameters.items()
    )


def typed(client: Gainsay) -> Summary:
    """Read by mypy alone: a case and an answer have their types."""
    case: CaseRequest = {"question": "Sign?", "taskType": "contract", "estimatedDownside": 250_000}
    result = client.review(case, timeout=60)
    wrong: CaseRequest = {"question": "Sign?", "taskType": "contract"}  # type: ignore[typeddict-item]
    client.review(wrong)
    assert result["status"] != "conpleted"  # type: ignore[comparison-overlap]
    whole = client.result("x", view="full")
    whole["attempts"]
    result["attempts"]  # type: ignore[typeddict-item]
    return result
