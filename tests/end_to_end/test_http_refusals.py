"""Everything that is refused: each with its own problem document, and nothing written."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
import pytest_asyncio

from service import samples
from service.web.debates import GATE_BODY
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, Served, a_case, served
from tests.fixtures.waiting import within

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNKNOWN = "00000000-0000-7000-8000-000000000000"
TEXT = samples.load("contract").documents[0].text


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(module_database: Database) -> AsyncIterator[Served]:
    async with served(module_database.service_url, work=False) as site:
        yield site


def problem_in(answer: httpx.Response, status: int, code: str) -> JSON:
    """The problem document of an answer, after what every one must satisfy has been checked."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem: JSON = answer.json()
    assert (problem["status"], problem["code"]) == (status, code), problem
    assert problem["type"] == f"/problems/{code}"
    assert problem["title"]
    assert problem["detail"]
    assert problem["requestId"] == answer.headers["request-id"]
    assert unquote(problem["instance"]) == answer.request.url.path
    assert re.fullmatch(r"/[A-Za-z0-9._~:@!$&'()*+,;=/%-]*", problem["instance"]), "it is a URI reference"
    return problem


def pointers(problem: JSON) -> list[str]:
    return [error["pointer"] for error in problem.get("errors", [])]


async def count(site: Served) -> int:
    return len((await site.http.get("/v1/debates?limit=100")).json()["debates"])


async def post(site: Served, body: bytes, **headers: str) -> httpx.Response:
    given = {"content-type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
    return await site.http.post("/v1/debates", content=body, headers=given)


CASE = json.dumps(a_case()).encode()

UNREADABLE: dict[str, tuple[bytes, list[str]]] = {
    "nothing": (b"", []),
    "not JSON": (b"question=why", []),
    "cut off": (CASE[:-1], []),
    "more after the end": (CASE + b"{}", []),
    "UTF-16": (CASE.decode().encode("utf-16"), []),
    "Latin-1": ('{"question":"Haftung für Schäden","taskType":"contract"}'.encode("latin-1"), []),
    "half a surrogate pair": (b'{"question":"\\ud800","taskType":"contract"}', []),
    "nested without end": (b'{"question":' + b"[" * 100_000, []),
    "NaN and no end": (b'{"question":"q","taskType":"contract","estimatedDownside":NaN', []),
    "a wrong type and no end": (b'{"question":7,"taskType":"contract"', []),
}
MISSHAPEN: dict[str, tuple[bytes, list[str]]] = {
    "an array": (b"[]", []),
    "NaN": (b'{"question":"q","taskType":"contract","estimatedDownside":NaN}', ["/estimatedDownside"]),
    "-Infinity": (b'{"question":"q","taskType":"contract","confidenceScore":-Infinity}', ["/confidenceScore"]),
    "NaN for a text that is required": (b'{"question":NaN,"taskType":"contract"}', ["/question"]),
    "several": (
        json.dumps(
            a_case(
                question=7,
                taskType=None,
                documents=[{"text": 1}, {"text": "t", "round": "2", "file": "x"}],
                options={"format": "adversarial", "maxRounds": 1.5, "votes": ["a", 2, "b", 3], "models": []},
                costCeilingUSD=float("nan"),
                maxRounds=2,
            )
        ).encode(),
        [
            "/costCeilingUSD",
            "/question",
            "/taskType",
            "/documents/0/text",
            "/documents/1/round",
            "/documents/1/file",
            "/options/maxRounds",
            "/options/votes/1",
            "/options/votes/3",
            "/options/models",
            "/maxRounds",
        ],
    ),
    "a list of the wrong things": (json.dumps(a_case(documents=[7, {"text": "t"}])).encode(), ["/documents/0"]),
    "no text of a document": (
        json.dumps(a_case(documents=[{}, {"text": 1}])).encode(),
        ["/documents/0/text", "/documents/1/text"],
    ),
    "a number of ten thousand digits": (CASE[:-1] + b',"deadline":' + b"9" * 10_000 + b"}", ["/deadline"]),
    "an unknown member": (CASE[:-1] + b',"maxRounds":2}', ["/maxRounds"]),
    "an unknown option": (
        json.dumps(a_case(options={"format": "adversarial", "a/b~c": 1})).encode(),
        ["/options/a~1b~0c"],
    ),
    "an unknown member of a document": (
        json.dumps(a_case(documents=[{"text": "t"}, {"text": "t", "file": "x"}])).encode(),
        ["/documents/1/file"],
    ),
    "no question": (b'{"taskType":"contract"}', ["/question"]),
    "a number for a text": (json.dumps(a_case(question=7)).encode(), ["/question"]),
    "a text for a number": (
        json.dumps(a_case(options={"format": "adversarial", "maxRounds": "2"})).encode(),
        ["/options/maxRounds"],
    ),
    "a fraction for a whole number": (
        json.dumps(a_case(options={"format": "adversarial", "maxRounds": 1.5})).encode(),
        ["/options/maxRounds"],
    ),
    "a truth value for an amount": (json.dumps(a_case(estimatedDownside=True)).encode(), ["/estimatedDownside"]),
    "an amount that is no number": (json.dumps(a_case(costCeilingUSD="a lot")).encode(), ["/costCeilingUSD"]),
    "an unknown materiality": (json.dumps(a_case(materiality="huge")).encode(), ["/materiality"]),
    "metadata that is no text": (json.dumps(a_case(metadata={"ticket": 7})).encode(), ["/metadata"]),
    "a member twice": (b'{"question":"mine",' + CASE[1:], ["/question"]),
    "a member of a document twice": (
        CASE.replace(b'"documents": [{', b'"documents": [{"title": "Another",', 1),
        ["/documents/0/title"],
    ),
    "an escaped member twice": (b'{"qu\\u0065stion":"mine",' + CASE[1:], ["/question"]),
}


@pytest.mark.parametrize("name", UNREADABLE)
async def test_a_body_that_is_no_json_cannot_be_read(site: Served, name: str) -> None:
    body, named = UNREADABLE[name]
    before = await count(site)

    problem = problem_in(await post(site, body), 400, "bad_request")

    assert pointers(problem) == named
    assert await count(site) == before


@pytest.mark.parametrize("name", MISSHAPEN)
async def test_json_of_another_shape_is_refused_with_every_field_named(site: Served, name: str) -> None:
    body, named = MISSHAPEN[name]
    before = await count(site)

    problem = problem_in(await post(site, body), 422, "wrong_shape")

    assert sorted(pointers(problem)) == sorted(named)
    assert all(error["detail"] in problem["detail"] for error in problem.get("errors", []))
    assert await count(site) == before


async def test_faults_in_several_fields_of_a_case_are_answered_together(site: Served) -> None:
    answer = await site.http.post(
        "/v1/debates",
        json=a_case(
            question=" ", taskType="Contract", options={"format": "adversarial", "maxRounds": 4}, costCeilingUSD=0
        ),
    )

    problem = problem_in(answer, 422, "invalid_case")
    assert pointers(problem) == ["/question", "/costCeilingUSD", "/options/maxRounds", "/taskType"]
    assert "did you mean 'contract'" in problem["errors"][3]["detail"]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("\\ud83d", "\\ud83d at line 1, column 14 (byte 13)"),
        ("cut \\uD83D", "\\uD83D at line 1, column 18 (byte 17)"),
        ("\\udc00 first", "\\udc00 at line 1, column 14 (byte 13)"),
        ("\\ud83d\\u0041", "\\ud83d at line 1, column 14 (byte 13)"),
        ("\\ud83d\\ude00 \\\\ud83d \\ud83d\\ud83d\\ude00", "\\ud83d at line 1, column 35 (byte 34)"),
    ],
)
async def test_a_text_that_was_cut_within_a_character_is_said_to_be_so(site: Served, said: str, found: str) -> None:
    for end in ('","taskType":"contract"}', '"}', '","documents":[{"text":7}]}'):
        problem = problem_in(await post(site, f'{{"question":"{said}{end}'.encode()), 400, "bad_request")
        assert f"found half a character, {found}: a text was cut" in problem["detail"], problem
    problem = problem_in(await post(site, f'"{said}"'.encode()), 400, "bad_request")
    assert "found half a character" in problem["detail"], "it is no body that was cut off"


@pytest.mark.parametrize("said", ["1_0", "1_000.50", "\u0663", "\uff15", "5\u00a0"])
async def test_a_number_in_another_notation_is_no_amount(site: Served, said: str) -> None:
    names = ("estimatedDownside", "confidenceScore", "costCeilingUSD")
    for path in ("/v1/debates", "/v1/quotes"):
        answer = await site.http.post(path, json=a_case(**dict.fromkeys(names, said), metadata={names[0]: said}))
        problem = problem_in(answer, 422, "wrong_shape")
        assert sorted(pointers(problem)) == sorted(f"/{name}" for name in names)
        assert f'found "{said}"' in problem["detail"]
    answer = await site.http.post(
        "/v1/batches", params={"ceilingUSD": said}, content=CASE, headers={"content-type": "application/jsonl"}
    )
    assert "expected ceilingUSD above 0" in problem_in(answer, 400, "bad_request")["detail"]


async def test_a_byte_order_mark_is_named(site: Served) -> None:
    problem = problem_in(await post(site, b"\xef\xbb\xbf" + CASE), 400, "bad_request")

    assert "found a byte order mark before it; leave that out" in problem["detail"]


async def test_a_byte_that_is_not_utf8_is_named_by_its_place(site: Served) -> None:
    body = b'{"question":"' + b"a" * 1_000 + b'\xff"}'

    problem = problem_in(await post(site, body), 400, "bad_request")

    assert "0xff at line 1, column 1014 (byte 1013)" in problem["detail"]


async def test_a_byte_that_is_not_utf8_is_named_behind_a_fault_of_the_shape_too(site: Served) -> None:
    problem = problem_in(await post(site, b'{"colour":"caf\xe9"}'), 400, "bad_request")

    assert "0xe9 at line 1, column 15 (byte 14)" in problem["detail"]


INVALID: dict[str, tuple[dict[str, Any], str]] = {
    "a NUL in the question": ({"question": "why\0?"}, "/question"),
    "a NUL in a document": ({"documents": [{"text": TEXT}, {"text": f"{TEXT}\0"}]}, "/documents/1/text"),
    "a NUL in a title": ({"documents": [{"text": TEXT, "title": "\0"}]}, "/documents/0/title"),
    "a NUL in metadata": ({"metadata": {"ticket": "7\0"}}, "/metadata"),
    "a NUL in a key of metadata": ({"metadata": {"tick\0et": "7"}}, "/metadata"),
    "a NUL in an answer": ({"singleAgentAnswer": "yes\0"}, "/singleAgentAnswer"),
    "a NUL in a reason": ({"force": {"debate": True, "reason": "so\0"}}, "/force/reason"),
    "empty question": ({"question": ""}, "/question"),
    "blank question": ({"question": " \n\t"}, "/question"),
    "no documents": ({"documents": []}, "/documents"),
    "empty document": ({"documents": [{"text": TEXT}, {"text": " "}]}, "/documents/1/text"),
    "misspelled task type": ({"taskType": "Contract"}, "/taskType"),
    "unknown format": ({"options": {"format": "shouting"}}, "/options/format"),
    "unknown seat for a persona": (
        {"options": {"format": "adversarial", "personas": {"jury": "x"}}},
        "/options/personas/jury",
    ),
    "unknown seat for a model": (
        {"options": {"format": "adversarial", "models": {"jury": "alder-large"}}},
        "/options/models/jury",
    ),
    "unknown model": ({"options": {"format": "adversarial", "models": {"critic": "oracle"}}}, "/options/models/critic"),
    "four rounds": ({"options": {"format": "adversarial", "maxRounds": 4}}, "/options/maxRounds"),
    "no rounds": ({"options": {"format": "adversarial", "maxRounds": 0}}, "/options/maxRounds"),
    "rounds beyond any number": ({"options": {"format": "adversarial", "maxRounds": 10**30}}, "/options/maxRounds"),
    "strength above ten": (
        {"options": {"format": "adversarial", "minChallengeStrength": 11}},
        "/options/minChallengeStrength",
    ),
    "no downside": ({"estimatedDownside": None}, "/estimatedDownside"),
    "negative downside": ({"estimatedDownside": -1}, "/estimatedDownside"),
    "downside NaN as text": ({"estimatedDownside": "NaN"}, "/estimatedDownside"),
    "downside signalling NaN": ({"estimatedDownside": "sNaN"}, "/estimatedDownside"),
    "downside infinite": ({"estimatedDownside": "Infinity"}, "/estimatedDownside"),
    "confidence above one": ({"confidenceScore": 1.01}, "/confidenceScore"),
    "confidence negative": ({"confidenceScore": "-0.01"}, "/confidenceScore"),
    "confidence NaN": ({"confidenceScore": "nan"}, "/confidenceScore"),
    "ceiling zero": ({"costCeilingUSD": 0}, "/costCeilingUSD"),
    "ceiling negative": ({"costCeilingUSD": "-0.50"}, "/costCeilingUSD"),
    "ceiling NaN": ({"costCeilingUSD": "NaN"}, "/costCeilingUSD"),
    "ceiling beyond any number": ({"costCeilingUSD": "1e999999999"}, "/costCeilingUSD"),
    "ceiling above policy's": ({"costCeilingUSD": "25.01"}, "/costCeilingUSD"),
    "ceiling finer than a micro-dollar": ({"costCeilingUSD": "0.0000001"}, "/costCeilingUSD"),
    "the same document id twice": ({"documents": [{"id": "D1", "text": TEXT}] * 2}, "/documents"),
    "a document id that no database can hold": ({"documents": [{"id": "D\0", "text": TEXT}]}, "/documents/0/id"),
    "a document id of several lines": ({"documents": [{"id": "D1\nD2", "text": TEXT}]}, "/documents/0/id"),
    "a document id without end": ({"documents": [{"id": "D" * 101, "text": TEXT}]}, "/documents/0/id"),
    "documents of a round that is not held": (
        {
            "documents": [{"text": TEXT}, {"text": TEXT, "round": 3}],
            "options": {"format": "adversarial", "maxRounds": 1},
        },
        "/documents",
    ),
    "deadline in the past": ({"deadline": "2020-01-01T00:00:00Z"}, "/deadline"),
    "deadline without an offset": ({"deadline": "2099-01-01T00:00:00"}, "/deadline"),
    "deadline that is none": ({"deadline": "tomorrow"}, "/deadline"),
    "force without a reason": ({"force": {"debate": True, "reason": " "}}, "/force/reason"),
    "one position": (
        {"options": {"format": "adversarial", "positions": [{"id": "a", "text": "t"}]}},
        "/options/positions",
    ),
    "an option of another format": ({"options": {"format": "adversarial", "votes": ["a", "b"]}}, "/options/votes"),
    "stances of nobody": ({"options": {"format": "stances"}}, "/options/debaters"),
    "a debater without a stance": (
        {"options": {"format": "stances", "debaters": [{"name": "a", "stance": "yes"}, {"name": "b"}]}},
        "/options/debaters/1/stance",
    ),
    "a prompt that is none": (
        {"options": {"format": "ballot", "debaters": [{"name": "a", "prompt": "house"}, {"name": "b"}]}},
        "/options/debaters/0/prompt",
    ),
    "a vote to abstain": ({"options": {"format": "ballot", "votes": ["a", "abstention"]}}, "/options/votes"),
    "a panel of eleven": ({"options": {"format": "panel", "debaters": 11}}, "/options/debaters"),
    "one model as debater and synthesizer": (
        {"options": {"format": "panel", "models": {"synthesizer": "alder-large", "debater-1": "alder-large"}}},
        "/options/models/synthesizer",
    ),
    "a similarity above one": (
        {"options": {"format": "convergence", "convergenceSimilarity": 1.5}},
        "/options/convergenceSimilarity",
    ),
}
SEVERAL = ("one model as debater and synthesizer",)
"""What is wrong in more than one place: the first of them is looked at."""


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"question": 7}, "expected 'string', got 'integer'"),
        ({"options": {"format": "adversarial", "maxRounds": "2"}}, "expected 'integer | null', got 'string'"),
        ({"metadata": {"ticket": 1.5}}, "expected 'string', got 'number'"),
        ({"contested": "yes"}, "expected 'boolean | null', got 'string'"),
    ],
)
async def test_a_wrong_type_is_named_in_the_words_of_json(site: Served, changes: dict[str, Any], words: str) -> None:
    answer = await site.http.post("/v1/debates", json=a_case(**changes))

    assert problem_in(answer, 422, "wrong_shape")["detail"] == words


@pytest.mark.parametrize("path", ["/v1/debates", "/v1/gate", "/v1/quotes"])
async def test_a_format_beside_the_options_is_refused_and_told_where_it_belongs(site: Served, path: str) -> None:
    known = a_case() if path != "/v1/gate" else {"taskType": "contract", "estimatedDownside": 250_000}

    answer = await site.http.post(path, json={**known, "format": "panel", "maxRounds": 2, "shape": 1})

    said = {error["pointer"]: error["detail"] for error in problem_in(answer, 422, "wrong_shape")["errors"]}
    assert said == {
        "/format": 'format belongs into options: send "options": {"format": ...}, with the options of that format '
        "beside it",
        "/maxRounds": "maxRounds belongs into options, beside the format whose option it is",
        "/shape": said["/shape"],
    }
    assert said["/shape"].startswith("object contains unknown field 'shape'; known here: ")
    assert "taskType, estimatedDownside" in said["/shape"]


@pytest.mark.parametrize("options", [{}, {"maxRounds": 2}, {"format": None}, None])
async def test_options_without_their_format_are_refused(site: Served, options: Any) -> None:
    answer = await site.http.post("/v1/debates", json=a_case(options=options))

    pointers = {error["pointer"] for error in problem_in(answer, 422, "wrong_shape")["errors"]}
    assert pointers <= {"/options", "/options/format"}


async def test_a_nul_is_refused_with_its_place_in_the_text(site: Served) -> None:
    answer = await site.http.post("/v1/debates", json=a_case(question="first line\nsecond\0"))

    problem = problem_in(answer, 422, "invalid_case")
    assert "NUL character (U+0000), at line 2, column 7 of the text (after 17 characters)" in problem["detail"]
    debate = "00000000-0000-7000-8000-000000000000"
    aborted = await site.http.post(f"/v1/debates/{debate}/abort", json={"reason": "enough\0"})
    assert pointers(problem_in(aborted, 422, "invalid_case")) == ["/reason"]


@pytest.mark.parametrize(
    ("changes", "pointer", "words"),
    [
        ({"qestion": "why?"}, "/qestion", "unknown field 'qestion'; did you mean 'question'?"),
        ({"documents": [{"text": "t", "titel": "x"}]}, "/documents/0/titel", "did you mean 'title'?"),
        (
            {"options": {"format": "panel", "max_rounds": 2}},
            "/options/max_rounds",
            "did you mean 'maxRounds'?",
        ),
        ({"materiality": "moderat"}, "/materiality", "low, moderate, found \"moderat\"; did you mean 'moderate'?"),
        ({"onDisconnect": "kill"}, "/onDisconnect", 'expected one of abort, continue, found "kill"'),
        ({"confidenceScore": "a lot"}, "/confidenceScore", 'as 0.75 or "0.75", found "a lot"'),
        ({"costCeilingUSD": "$5"}, "/costCeilingUSD", 'found "$5"'),
    ],
)
async def test_a_refusal_says_what_was_found_and_what_was_probably_meant(
    site: Served, changes: dict[str, Any], pointer: str, words: str
) -> None:
    problem = problem_in(await site.http.post("/v1/debates", json=a_case(**changes)), 422, "wrong_shape")

    assert {error["pointer"]: words in error["detail"] for error in problem["errors"]} == {pointer: True}, problem


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"format": "pannel"}, "did you mean 'panel'?"),
        ({"format": "adversarial", "models": {"critc": "alder-large"}}, "did you mean 'critic'?"),
        ({"format": "adversarial", "models": {"critic": "alder_large"}}, "did you mean 'alder-large'?"),
        ({"format": "adversarial", "personas": {"Proposer": "A judge."}}, "did you mean 'proposer'?"),
    ],
)
async def test_a_slip_in_the_name_of_a_format_a_seat_or_a_model_is_answered_with_what_was_meant(
    site: Served, options: JSON, words: str
) -> None:
    answer = await site.http.post("/v1/debates", json=a_case(options=options))

    assert words in problem_in(answer, 422, "invalid_case")["detail"]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/v1/debate", 404, "did you mean /v1/debates?"),
        (f"/v1/debates/{UNKNOWN}/event", 404, f"did you mean /v1/debates/{UNKNOWN}/events?"),
        ("/debates", 404, "did you mean /v1/debates?"),
        ("/v1/elsewhere", 404, "no such path; /openapi.json"),
        ("/v1/debates?limt=3", 400, "did you mean 'limit'?"),
        (
            f"/v1/debates/{UNKNOWN}?view=ful",
            400,
            "view must be one of summary, full, found 'ful'; did you mean 'full'?",
        ),
        (f"/v1/debates/{UNKNOWN}/report?paper=A4", 400, "did you mean 'a4'?"),
        ("/v1/audit/logs/localhost/default/1/records?format=json", 400, "did you mean 'jsonl'?"),
        ("/v1/audit/logs/localhost/default/1/records?status=complete", 400, "did you mean 'completed'?"),
    ],
)
async def test_a_slip_in_an_address_is_answered_with_what_was_meant(
    site: Served, path: str, status: int, words: str
) -> None:
    answer = await site.http.get(path)

    assert words in problem_in(answer, status, "not_found" if status == 404 else "bad_request")["detail"]


async def test_a_cut_body_is_answered_with_the_place_of_the_cut(site: Served) -> None:
    body = b'{"question": "why",\n "taskType": "contr'

    detail = problem_in(await post(site, body), 400, "bad_request")["detail"]

    assert "end too early, at line 2, column 20 (byte 39), inside the text that begins at line 2, column 14" in detail
    whole = problem_in(await post(site, b'{"question": "why",}'), 400, "bad_request")["detail"]
    assert "at line 1, column 20 (byte 19)" in whole


async def test_a_member_that_comes_twice_is_answered_with_both_places(site: Served) -> None:
    problem = problem_in(await post(site, b'{"question":"mine",\n' + CASE[1:]), 422, "wrong_shape")

    assert "twice, at line 1, column 2 (byte 1) and at line 2, column " in problem["detail"]


@pytest.mark.parametrize("name", INVALID)
async def test_a_case_that_asks_for_what_is_not_to_be_had_is_refused(site: Served, name: str) -> None:
    changes, pointer = INVALID[name]
    before = await count(site)

    answer = await site.http.post("/v1/debates", json=a_case(**changes))

    found = pointers(problem_in(answer, 422, "invalid_case"))
    assert found[:1] == [pointer]
    assert len(found) == 1 or name in SEVERAL
    assert await count(site) == before


@pytest.mark.parametrize("path", ["/v1/gate", "/v1/quotes"])
@pytest.mark.parametrize("name", [name for name, (changes, _) in INVALID.items() if {*changes} == {"options"}])
async def test_the_gate_and_a_quote_refuse_a_format_and_its_options_as_a_debate_does(
    site: Served, name: str, path: str
) -> None:
    changes, pointer = INVALID[name]
    known = ("taskType", "estimatedDownside", "confidenceScore", "materiality", "options")
    case = a_case(**changes)
    body = case if path == "/v1/quotes" else {key: value for key, value in case.items() if key in known}

    answer = await site.http.post(path, json=body)

    assert pointers(problem_in(answer, 422, "invalid_case"))[0] == pointer


TOO_LARGE: dict[str, tuple[dict[str, Any], str]] = {
    "question": ({"question": "q" * 4_001}, "/question"),
    "document": ({"documents": [{"text": "w" * 5_000_001}]}, "/documents/0/text"),
    "documents": ({"documents": [{"text": TEXT}] * 21}, "/documents"),
    "answer": ({"singleAgentAnswer": "a" * 20_001}, "/singleAgentAnswer"),
    "persona": (
        {"options": {"format": "adversarial", "personas": {"critic": "p" * 2_001}}},
        "/options/personas/critic",
    ),
}


@pytest.mark.parametrize("name", TOO_LARGE)
async def test_a_part_above_its_limit_is_refused(site: Served, name: str) -> None:
    changes, pointer = TOO_LARGE[name]
    before = await count(site)

    answer = await site.http.post("/v1/debates", json=a_case(**changes))

    assert pointers(problem_in(answer, 413, "too_large")) == [pointer]
    assert await count(site) == before


async def test_a_ceiling_too_small_for_a_single_turn_is_refused(site: Served) -> None:
    before = await count(site)

    answer = await site.http.post("/v1/debates", json=a_case(costCeilingUSD="0.01"))

    problem = problem_in(answer, 422, "ceiling_too_small")
    assert pointers(problem) == ["/costCeilingUSD"]
    assert "0.01" in problem["detail"]
    assert await count(site) == before


async def test_a_downside_beyond_any_number_is_answered_and_not_an_error_of_ours(site: Served) -> None:
    body = CASE.replace(b'"estimatedDownside": 6150000', b'"estimatedDownside": 1e999999999')

    answer = await post(site, body)

    assert answer.status_code in (202, 422), answer.text


@pytest.mark.parametrize(
    ("headers", "word"),
    [
        ({"content-type": "text/plain"}, "text/plain"),
        ({"content-type": "application/x-www-form-urlencoded"}, "application/json"),
        ({"content-type": ""}, "none"),
        ({"content-type": "application/json; charset=iso-8859-1"}, "UTF-8"),
        ({"content-type": "application/json", "content-encoding": "gzip"}, "gzip"),
    ],
)
async def test_a_body_of_another_type_is_refused(site: Served, headers: dict[str, str], word: str) -> None:
    answer = await site.http.post("/v1/debates", content=CASE, headers=headers)

    assert word in problem_in(answer, 415, "unsupported_media_type")["detail"]


async def test_json_that_says_that_it_is_utf8_is_read(site: Served) -> None:
    answer = await post(site, CASE, content_type='Application/JSON; charset="UTF-8"')

    assert answer.status_code == 202


async def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_sent(site: Served) -> None:
    """Only the head is sent: an answer comes although the body never does."""
    head = (
        "POST /v1/gate HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {GATE_BODY + 1}",
    )
    url = httpx.URL(site.url)

    reader, writer = await asyncio.open_connection(url.host, url.port)
    writer.write("".join(f"{line}\r\n" for line in (*head, "")).encode())
    status = await within(5, reader.readline())
    writer.close()
    await writer.wait_closed()

    assert status.split()[1] == b"413"


async def test_a_body_that_does_not_say_its_length_is_cut_at_the_limit(site: Served) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield b'{"taskType":"'
        while sent < 64 * GATE_BODY:
            sent += 1 << 16
            yield b"x" * (1 << 16)

    answer = await site.http.post("/v1/gate", content=endless(), headers={"content-type": "application/json"})

    problem_in(answer, 413, "too_large")


@pytest.mark.parametrize("key", ["", '""', '"half', "two words", '"caf\u00e9"', "k" * 256, '"a", "b"'])
async def test_a_key_that_cannot_be_read_is_refused_and_nothing_recorded(site: Served, key: str) -> None:
    before = await count(site)

    answer = await site.http.post("/v1/debates", json=a_case(), headers=[(b"idempotency-key", key.encode())])

    problem_in(answer, 400, "bad_request")
    assert "Idempotency-Key" in answer.json()["detail"]
    assert await count(site) == before


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1", 404, "not_found"),
        ("POST", "/", 405, "method_not_allowed"),
        ("GET", "/v1/nothing", 404, "not_found"),
        ("GET", "/doks", 404, "not_found"),
        ("GET", "/schema", 404, "not_found"),
        ("GET", f"/v1/debates/{UNKNOWN}", 404, "not_found"),
        ("GET", "/v1/debates/contract", 404, "not_found"),
        ("GET", f"/v1/debates/{UNKNOWN}/events", 404, "not_found"),
        ("GET", f"/v1/debates/{UNKNOWN}/report", 404, "not_found"),
        ("POST", f"/v1/debates/{UNKNOWN}/abort", 404, "not_found"),
        ("POST", "/v1/debates/%00/abort", 404, "not_found"),
        ("DELETE", "/v1/debates", 405, "method_not_allowed"),
        ("PUT", f"/v1/debates/{UNKNOWN}", 405, "method_not_allowed"),
        ("GET", f"/v1/debates/{UNKNOWN}/abort", 405, "method_not_allowed"),
        ("POST", "/livez", 405, "method_not_allowed"),
        ("GET", "/v1/debates?limit=0", 400, "bad_request"),
        ("GET", "/v1/debates?limit=101", 400, "bad_request"),
        ("GET", "/v1/debates?limit=many", 400, "bad_request"),
        ("GET", "/v1/debates?limit=%C2%B2", 400, "bad_request"),
        ("GET", "/v1/debates?after=yesterday", 400, "bad_request"),
        ("GET", "/v1/debates?status=done", 400, "bad_request"),
        ("GET", f"/v1/debates/{UNKNOWN}?expand=rounds", 400, "bad_request"),
        ("GET", f"/v1/debates/{UNKNOWN}?view=brief", 400, "bad_request"),
        ("POST", "/v1/debates?view=", 400, "bad_request"),
        ("GET", f"/v1/debates/{UNKNOWN}/events?lastEventId=now", 400, "bad_request"),
        ("GET", f"/v1/debates/{UNKNOWN}/events?lastEventId=-2", 400, "bad_request"),
        ("GET", f"/v1/debates/{UNKNOWN}/events?lastEventId=\u0663", 400, "bad_request"),
        ("GET", "/v1/debates/%C3%98%20%0B%22%3F%25", 404, "not_found"),
    ],
)
async def test_every_refusal_is_a_problem_document(
    site: Served, method: str, path: str, status: int, code: str
) -> None:
    answer = await site.http.request(method, path)

    problem_in(answer, status, code)


async def test_a_method_that_a_path_does_not_take_is_answered_with_those_that_it_takes(site: Served) -> None:
    assert (await site.http.delete("/v1/debates")).headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert (await site.http.get(f"/v1/debates/{UNKNOWN}/abort")).headers["allow"] == "OPTIONS, POST"


async def test_options_of_every_path_says_the_methods_that_a_refusal_says_and_that_are_described(site: Served) -> None:
    described = (await site.http.get("/openapi.json")).json()["paths"]
    for path, operations in described.items():
        found = re.sub(r"\{\w+\}", "0", path)
        methods = {name.upper() for name in operations if name in ("get", "put", "post", "delete", "patch")} | {
            "OPTIONS"
        }
        methods |= {"HEAD"} if "GET" in methods else set()

        options, refused = (await site.http.options(found)), (await site.http.request("TRACE", found))

        assert (options.status_code, refused.status_code) == (204, 405), path
        assert options.headers["allow"] == refused.headers["allow"] == ", ".join(sorted(methods)), path


async def test_a_form_that_cannot_be_given_is_not_given(site: Served) -> None:
    debate = (await site.submit())["debateId"]

    report = await site.http.get(f"/v1/debates/{debate}/report", headers={"accept": "application/json"})
    none = await site.http.get(f"/v1/debates/{debate}/report", headers={"accept": "*/*;q=0"})
    events = await site.http.get(f"/v1/debates/{debate}/events", headers={"accept": "text/html"})

    for answer in (report, none, events):
        problem_in(answer, 406, "not_acceptable")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"why":"x"}', 422, "wrong_shape"),
        (b'{"reason":7}', 422, "wrong_shape"),
        (b"not JSON", 400, "bad_request"),
        (json.dumps({"reason": "r" * 1_001}).encode(), 422, "wrong_shape"),
    ],
)
async def test_an_abort_whose_reason_cannot_be_read_is_refused_and_aborts_nothing(
    site: Served, body: bytes, status: int, code: str
) -> None:
    debate = (await site.submit())["debateId"]
    path = f"/v1/debates/{debate}"

    answer = await site.http.post(f"{path}/abort", content=body, headers={"content-type": "application/json"})

    problem_in(answer, status, code)
    assert (await site.http.get(path)).json()["entries"] == 3


async def test_the_gate_refuses_what_a_case_would_be_refused_for(site: Served) -> None:
    asked = {"taskType": "contract", "estimatedDownside": 250_000}

    unknown = await site.http.post("/v1/gate", json={**asked, "question": "why?"})
    negative = await site.http.post("/v1/gate", json={**asked, "estimatedDownside": -1})

    assert pointers(problem_in(unknown, 422, "wrong_shape")) == ["/question"]
    assert pointers(problem_in(negative, 422, "invalid_case")) == ["/estimatedDownside"]
