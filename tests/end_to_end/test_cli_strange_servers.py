"""Commands against what is no service, a newer one, or one that does not behave: a clear line, never a stack trace."""

from __future__ import annotations

import asyncio
import io
import json
import re
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from service.audit.note import encode_base64
from service.cli import exit_codes, main
from service.cli.access import over_http
from service.cli.access.over_http import heads_file, remembered
from service.policy.settings import SHIPPED_POLICY, read_policy, read_server
from service.report import build_result, sent
from tests.fixtures import formats
from tests.fixtures.beside import beside
from tests.fixtures.debates import drive, start_of
from tests.fixtures.hostile_servers import STREAM_HEAD, Asked, Lying, answer, event, lying
from tests.unit.report.played import ruled

pytestmark = pytest.mark.long

DEBATE = "01980000-0000-7000-8000-000000000000"
HTML = b"<!doctype html><title>Welcome</title><p>\x1b[31mIt works!"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
Say = Callable[[Asked], Any]


class Ended(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Call a command; what it prints is always fit for a terminal."""
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(tmp_path / "data"))

    def call(*words: str | Path) -> Ended:
        code = main([str(word) for word in words])
        ended = Ended(code, *capfd.readouterr())
        assert "Traceback" not in ended.err, ended.err
        assert not CONTROL.search(ended.err), ended.err
        return ended

    return call


@contextmanager
def saying(say: Say) -> Iterator[Lying]:
    """A server that says something to each request but the first, which finds out whether there is one."""

    def said(asked: Asked) -> Any:
        return answer(200, b"a line", {"content-type": "text/plain"}) if asked.path == "/" else say(asked)

    with beside(lying(said)) as server:
        yield server


def always(content: bytes) -> Say:
    """The same to every request."""
    return lambda _: content


def closed_port() -> int:
    """A port where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


COMMANDS = [
    ("list",),
    ("list", "--csv"),
    ("show", DEBATE),
    ("show", DEBATE, "--documents"),
    ("show", "last"),
    ("report", DEBATE, "--html"),
    ("review", "--sample", "contract"),
    ("audit", "keys"),
    ("audit", "checkpoint"),
    ("audit", "export"),
    ("audit", "recall", "--model", "x"),
]
ANSWERS = {
    "a page": answer(200, HTML, {"content-type": "text/html"}),
    "a page that says not found": answer(404, HTML, {"content-type": "text/html"}),
    "a redirect": answer(302, b"", {"location": "https://elsewhere.example/login"}),
    "a proxy's refusal": answer(403, HTML, {"content-type": "text/html"}),
    "no object": answer(200, [1, 2]),
    "nothing": answer(200, b""),
    "cut JSON": answer(200, b'{"debates": [{"deb'),
}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_what_is_no_service_is_named_as_that(run: Run, words: tuple[str, ...]) -> None:
    for name, content in ANSWERS.items():
        with saying(always(content)) as server:
            ended = run(*words, "--server", server.url)

        assert (ended.code, ended.out) in (
            (exit_codes.FAILED, ""),
            (exit_codes.FAILED, ended.out * words.count("--csv")),
        )
        assert re.match("gainsay: (unexpected_answer|untrusted_address): ", ended.err), (name, ended.err)
        assert len(server.seen) < 4, "nothing of it is worth another try"


def test_nothing_is_sent_to_where_a_redirect_leads(run: Run) -> None:
    with (
        saying(always(answer(200, {"debates": []}))) as there,
        saying(always(answer(307, b"", {"location": f"{there.url}/v1/debates"}))) as here,
    ):
        ended = run("review", "--sample", "contract", "--server", here.url)

    assert ended.code == exit_codes.FAILED
    assert "redirect (307)" in ended.err
    assert there.seen == []


@pytest.mark.timeout(45)  # the client's own patience is 60 s
def test_a_service_that_is_not_there_is_told_soon_and_with_what_to_do(run: Run) -> None:
    ended = run("list", "--server", f"http://127.0.0.1:{closed_port()}")

    assert (ended.code, ended.out) == (exit_codes.FAILED, "")
    assert re.match(
        r"gainsay: unreachable: no whole answer from http://127\.0\.0\.1:\d+: .*check the address", ended.err
    )
    assert "gainsay serve" in ended.err


@asynccontextmanager
async def without_tls() -> AsyncIterator[str]:
    """An HTTP server that says at once what it thinks of a client's first bytes."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(answer(400, b"what?"))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def test_plain_http_where_tls_is_expected_is_said_as_such(run: Run) -> None:
    with beside(without_tls()) as address:
        ended = run("list", "--server", address)

    assert ended.code == exit_codes.FAILED
    assert ended.err.startswith("gainsay: unreachable: ")
    assert "SSL" in ended.err


@pytest.mark.parametrize("at_once", [True, False])
def test_a_service_that_hangs_is_not_waited_for_without_an_end(
    run: Run, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    monkeypatch.setattr(over_http, "QUICK_S" if at_once else "PATIENT_S", 0.4)

    async def hang() -> Any:
        await asyncio.sleep(3600)

    with beside(lying(lambda _: hang())) if at_once else saying(lambda _: hang()) as server:
        ended = run("list", "--server", server.url)

    assert ended.code == exit_codes.FAILED
    assert re.search(r"the answer was not whole within 0\.\d+ s", ended.err)


def test_a_problem_is_printed_with_its_code_and_its_request_and_no_control_character(run: Run) -> None:
    said = {
        "code": "not\x1b[2J_found",
        "detail": "gone \x1b]0;pwned\x07\u202eaway",
        "requestId": "req\x1b[5m_\u202e1",
        "status": 404,
    }
    with saying(always(answer(404, said))) as server:
        ended = run("show", DEBATE, "--server", server.url)

    assert ended.code == exit_codes.USAGE
    assert ended.err == (
        "gainsay: not[U+001B][2J_found: gone [U+001B] ]0;pwned[U+0007][U+202E]away\n"
        "Request: req[U+001B][5m_[U+202E]1, for the service's log\n"
    )


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, exit_codes.USAGE),
        (402, exit_codes.USAGE),
        (409, exit_codes.FAILED),
        (408, exit_codes.FAILED),
        (429, exit_codes.FAILED),
        (500, exit_codes.FAILED),
    ],
)
def test_an_error_ends_with_the_exit_code_of_one_here(run: Run, status: int, code: int) -> None:
    with saying(always(answer(status, {"code": "some_code", "detail": "some words"}))) as server:
        ended = run("audit", "keys", "--server", server.url)

    how = "; set GAINSAY_TOKEN to your API key or token, or to file:PATH of a file with it" if status == 401 else ""
    assert ended == Ended(code, "", f"gainsay: some_code: some words{how}\n")


FAULTS = "3 faults: (1) no field; (2) too long; (3) a; b (2) c"


@pytest.mark.parametrize(
    ("detail", "errors", "lines"),
    [
        (FAULTS, [("/question", "too long")], ["no field", "too long [--question]", "a; b (2) c"]),
        ("one thing", [("/taskType", "one thing")], ["one thing [--task-type]"]),
        ("3 faults: (1) a; (2) b", [("/question", "a")], ["3 faults: (1) a; (2) b [--question]"]),
        ("2 faults: (1) a; (2) b", [("/question", "else")], ["2 faults: (1) a; (2) b [--question]"]),
        ("9 lives", [("/question", "else")], ["9 lives [--question]"]),
    ],
)
def test_each_fault_has_its_line_and_none_is_lost(
    run: Run, detail: str, errors: list[tuple[str, str]], lines: list[str]
) -> None:
    body = {"code": "x", "detail": detail, "errors": [{"pointer": p, "detail": d} for p, d in errors]}
    with saying(always(answer(422, body))) as server:
        ended = run("list", "--server", server.url)

    assert ended.err.splitlines() == [f"gainsay: x: {line}" for line in lines]


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")

    with saying(always(answer(200, {"debates": []}))) as server:
        assert run("list", "--server", server.url).code == 0


# -- a newer service


@pytest.mark.parametrize(
    "page",
    [
        {},
        {"debates": None},
        {"debates": "many"},
        {"debates": [1, None, {}, {"debateId": 7, "question": {"text": "x"}, "decision": "yes"}]},
        {
            "debates": [
                {
                    "debateId": DEBATE,
                    "decision": {"outcome": "reconsidered", "confidence": "SURE", "cost": {"spentUSD": "?"}},
                }
            ]
        },
        {
            "debates": [{"debateId": DEBATE, "status": "paused", "flags": {"a": 1}, "metadata": [1], "createdAt": 5}],
            "next": 5,
        },
        {
            "debates": [],
            "total": {"count": "lots"},
            "facets": [{"facet": "mood", "values": [{"value": 1, "count": -1}, 5]}, 3],
        },
    ],
    ids=str,
)
@pytest.mark.parametrize("form", [(), ("--facets",), ("--json",), ("--jsonl",), ("--csv",), ("--ids",)], ids=" ".join)
def test_a_list_of_another_version_is_shown_as_far_as_it_can_be(run: Run, page: Any, form: tuple[str, ...]) -> None:
    with saying(always(answer(200, page))) as server:
        ended = run("list", "--server", server.url, *form)

    assert (ended.code, ended.err) == (0, "")
    assert not CONTROL.search(ended.out.replace("\r\n", "\n"))


def with_more(plain: Any) -> Any:
    """JSON of a newer service: every object has a member more."""
    if isinstance(plain, dict):
        return {**{name: with_more(value) for name, value in plain.items()}, "newer": {"a": 1}}
    return [with_more(item) for item in plain] if isinstance(plain, list) else plain


@pytest.mark.parametrize("form", ["adversarial/1", "panel/1"])
def test_the_page_of_a_debate_leaves_out_what_it_does_not_know(run: Run, form: str) -> None:
    result = json.loads(sent.encode(build_result(DEBATE, ruled(drive(start_of(formats.plain(form)))))))
    pages = []
    for answered in (
        result,
        {**result, "newer": [1], "decision": with_more(result["decision"]), "case": with_more(result["case"])},
    ):
        with saying(always(answer(200, answered))) as server:
            pages.append(run("show", DEBATE, "--server", server.url))

    assert pages[0].code == 0, pages[0].err
    assert pages[1] == pages[0]


@pytest.mark.parametrize(
    "change",
    [
        {"status": "paused"},
        {"decision": {"outcome": "reconsidered", "answer": "x", "humanReview": {}, "cost": {"spentUSD": "0"}}},
        {"createdAt": 5},
        {"case": None},
        {"view": "summary"},
        {"overallCost": "x"},
    ],
    ids=str,
)
def test_a_result_that_cannot_be_read_is_said_to_be_of_another_version(run: Run, change: dict[str, Any]) -> None:
    result = json.loads(sent.encode(build_result(DEBATE, ruled(drive(start_of(formats.plain("adversarial/1")))))))
    with saying(always(answer(200, {**result, **change}))) as server:
        ended = run("show", DEBATE, "--server", server.url)

    assert (ended.code, ended.out) == (exit_codes.FAILED, "")
    assert ended.err.startswith("gainsay: unexpected_answer: ")
    assert "newer version" in ended.err
    assert "--json" in ended.err


def test_json_comes_as_a_newer_service_sends_it(run: Run) -> None:
    newer = {"status": "paused", "share": 0.1, "newer": {"a": [None, 1]}, "debateId": DEBATE}
    with saying(always(answer(200, newer))) as server:
        shown, written = (
            run(*words, "--json", "--server", server.url) for words in (("show", DEBATE), ("report", DEBATE))
        )

    assert (shown.code, json.loads(shown.out)) == (0, newer)
    assert written == shown


@pytest.mark.parametrize(
    "events",
    [
        [("unheard_of", {"a": 1})],
        [("gate", {})],
        [("started", {"options": 5}), ("asked", {"turn": None})],
        [("notice", {"notice": "newKind", "reason": "why", "detail": "because \x1b[31mred"})],
        [("final", {"status": "paused"})],
    ],
    ids=str,
)
def test_events_of_another_version_do_not_end_what_follows_them(run: Run, events: list[tuple[str, Any]]) -> None:
    result = sent.encode(build_result(DEBATE, ruled(drive(start_of(formats.plain("ballot/1"))))))

    def say(asked: Asked) -> bytes:
        if not asked.path.endswith("/events"):
            return answer(200, result)
        told = b"".join(event(n, name, data) for n, (name, data) in enumerate(events))
        return STREAM_HEAD + told + event(99, "final", {"status": "declined"})

    with saying(say) as server:
        ended = run("show", DEBATE, "--follow", "--server", server.url)

    assert ended.code == 0, ended.err
    assert not CONTROL.search(ended.out)


# -- a hostile service


@pytest.mark.parametrize("form", [("--all",), ("--all", "--csv"), ("--limit", "5")], ids=" ".join)
def test_a_list_whose_pages_never_end_ends(run: Run, form: tuple[str, ...]) -> None:
    with saying(always(answer(200, {"debates": [], "next": 5}))) as server:
        run("list", *form, "--server", server.url)

    assert len([asked for asked in server.seen if asked.path == "/v1/debates"]) == 2


STRANGE = ["../../away/evil", f"{DEBATE[:13]}/../../../away/evil", f"{DEBATE}\x1b[2J", "", "/tmp/evil"]


@pytest.mark.parametrize("named", STRANGE)
@pytest.mark.parametrize("words", [("report", "--html", "--open"), ("audit", "bundle")], ids=" ".join)
def test_an_id_of_a_service_names_no_other_file(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str, words: tuple[str, ...]
) -> None:
    def say(asked: Asked) -> bytes:
        if asked.path == "/v1/debates":
            return answer(200, {"debates": [{"debateId": named}]})
        return answer(200, b"evil", {"content-type": "text/html", "request-id": "req_1"})

    (tmp_path / "in" / "here").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "in" / "here")
    monkeypatch.setattr("service.cli.viewer.tempfile.mkdtemp", lambda **_: str(tmp_path / "in" / "here"))
    with saying(say) as server:
        for given in ("last", DEBATE[:13]):
            ended = run(*words, given, "--server", server.url)
            assert ended.code in (exit_codes.FAILED, exit_codes.USAGE)

    assert not [*(tmp_path / "in").rglob("*.html"), *(tmp_path / "in").rglob("*.zip"), *tmp_path.rglob("evil*")]


@pytest.mark.parametrize("following", ["same", None], ids=str)
def test_pages_that_never_end_do_not_hold_the_beginning_of_an_id(run: Run, following: str | None) -> None:
    page = {"debates": [{"debateId": DEBATE}], "next": following}
    with saying(always(answer(200, page))) as server:
        run("show", DEBATE[:13], "--server", server.url)

    assert len([asked for asked in server.seen if asked.path == "/v1/debates"]) <= 2


def test_nothing_that_a_service_says_of_an_abort_moves_the_terminal(run: Run) -> None:
    said = {"debateId": DEBATE, "status": "gone\x1b[2J\u009b31m", "spentUSD": "0.1", "stillHeldUSD": "0"}
    with saying(always(answer(200, said))) as server:
        ended = run("abort", DEBATE, "--server", server.url)

    assert ended.code == exit_codes.NEGATIVE
    assert not CONTROL.search(ended.out)


def test_the_id_of_a_recorded_case_is_an_id(run: Run) -> None:
    limits = json.loads(msgspec.json.encode(read_policy(SHIPPED_POLICY).limits))
    said = {"debateId": "x\x1b[2J", "status": "queued"}

    def say(asked: Asked) -> bytes:
        if asked.method == "POST":
            return answer(202, said)
        return answer(200, {"limits": limits, "debate": {"format": "panel"}})

    with saying(say) as server:
        ended = run("review", "--sample", "contract", "--detach", "--server", server.url)

    assert (ended.code, ended.out) == (exit_codes.FAILED, "")
    assert "unexpected_answer" in ended.err


@pytest.mark.parametrize("said", [b"", answer(503, {"code": "store_unavailable", "detail": "away"})], ids=["", "503"])
def test_a_lost_case_is_told_with_the_command_that_pays_nothing_twice(
    run: Run, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(over_http, "PATIENT_S", 0.4)
    limits = json.loads(msgspec.json.encode(read_policy(SHIPPED_POLICY).limits))

    def say(asked: Asked) -> bytes:
        return said if asked.method == "POST" else answer(200, {"limits": limits, "debate": {"format": "panel"}})

    with saying(say) as server:
        ended = run("review", "--sample", "contract", "--server", server.url)

    key = next(asked for asked in server.seen if asked.method == "POST").headers["idempotency-key"].strip('"')
    assert ended.code == exit_codes.FAILED
    assert f"--key {key}" in ended.err


def test_a_review_whose_stream_is_lost_names_its_debate(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(over_http, "PATIENT_S", 0.4)
    limits = json.loads(msgspec.json.encode(read_policy(SHIPPED_POLICY).limits))

    def say(asked: Asked) -> bytes:
        if asked.method == "POST":
            return answer(202, {"debateId": DEBATE, "status": "queued"})
        return b"" if asked.path.endswith("/events") else answer(200, {"limits": limits, "debate": {"format": "panel"}})

    with saying(say) as server:
        ended = run("review", "--sample", "contract", "--server", server.url)

    assert ended.code == exit_codes.FAILED
    assert f"gainsay show {DEBATE}" in ended.err


class Screen(io.TextIOWrapper):
    """Standard output that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    "words",
    [("list", "--csv"), ("list", "--jsonl"), ("report", DEBATE, "--html"), ("show", DEBATE, "--document", "D1")],
)
def test_rows_pages_and_documents_do_not_move_a_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    def say(asked: Asked) -> bytes:
        if asked.path == "/v1/debates":
            return answer(200, {"debates": [{"debateId": DEBATE, "question": "shown \x1b[2J \u009b2J \u202e"}]})
        kind = "text/plain" if "/documents/" in asked.path else "text/html"
        return answer(200, "shown \x1b[2J \u009b2J".encode(), {"content-type": kind, "request-id": "req_1"})

    shown = io.BytesIO()
    with saying(say) as server, monkeypatch.context() as patched:
        patched.setattr("sys.stdout", screen := Screen(shown, encoding="utf-8", newline=""))
        main([*words, "--server", server.url])
        screen.flush()

    assert "shown" in shown.getvalue().decode()
    assert not CONTROL.search(shown.getvalue().decode().replace("\r\n", "\n"))


# -- a log that forks


def head(size: int, letter: bytes) -> dict[str, str]:
    return {"gainsay-checkpoint": f"bank.example/default/1 {size} {encode_base64(letter * 32)}"}


def test_a_log_that_forks_within_a_command_ends_it(run: Run) -> None:
    def say(asked: Asked) -> bytes:
        first = "after" not in asked.query
        page = {"debates": [{"debateId": DEBATE}], **({"next": "more"} if first else {})}
        return answer(200, page, head(5, b"a" if first else b"b"))

    with saying(say) as server:
        ended = run("list", "--all", "--json", "--server", server.url)

    assert (ended.code, ended.out) == (exit_codes.FAILED, "")
    assert ended.err.startswith("gainsay: log_forked: bank.example/default/1 has shown 5 records under two roots, ")
    assert "show them to an auditor" in ended.err
    assert server.url in ended.err


def test_a_log_that_forks_before_the_first_question_ends_the_command(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """One answer in three shows another root; it is the one that only says whether there is a service."""
    monkeypatch.setattr("service.cli.access.place.is_here", lambda _: False)
    roots = iter([b"a", b"a", b"b", b"a"])

    with beside(lying(lambda _: answer(200, {"debates": []}, head(5, next(roots))))) as server:
        assert run("list", "--server", server.url).code == 0
        forked = run("list", "--server", server.url)

    assert forked.code == exit_codes.FAILED
    assert "log_forked" in forked.err


def test_a_service_on_another_machine_is_remembered_between_commands(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("service.cli.access.place.is_here", lambda _: False)
    letters = iter([b"a", b"a", b"b", b"b"])

    with saying(lambda _: answer(200, {"debates": []}, head(5, next(letters)))) as server:
        first, same, forked = (run("list", "--server", server.url) for _ in range(3))
        kept = heads_file(server.url, tmp_path / "data")
        assert first.code == same.code == 0
        assert forked.code == exit_codes.FAILED
        assert "log_forked" in forked.err
        assert str(kept) in forked.err, "who set the service up anew removes this file"
        assert "is not encrypted" in first.err
        kept.write_text("{")
        damaged = run("list", "--server", server.url)

    assert damaged.code == exit_codes.FAILED
    assert "bad_head_store" in damaged.err


def test_a_service_on_this_machine_is_remembered_for_one_command(tmp_path: Path) -> None:
    assert type(remembered("http://127.0.0.1:8321", tmp_path)).__name__ == "MemoryHeads"
    assert type(remembered("https://gainsay.example", tmp_path)).__name__ == "FileHeads"
    names = {
        heads_file(one, tmp_path).name for one in ("https://a.example", "https://a.example:8443", "https://a.example/x")
    }
    assert len(names) == 3


# -- addresses


@pytest.mark.parametrize(
    "address",
    ["", " ", "gainsay.example", "ftp://gainsay.example", "https://", "https://x/?a=b", "https://x:0", "https://x:port",
     "https://x/#y", "http://gainsay.example", "http://8.8.8.8", "https://[::1", "https://exa mple"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    ended = run("list", "--server", address)
    monkeypatch.setenv("GAINSAY_SERVER", address)
    by_variable = run("list")

    assert ended.code == by_variable.code == exit_codes.USAGE
    assert ended.err.startswith("gainsay: bad_settings: --server must ")
    assert "GAINSAY_SERVER" in by_variable.err


def test_a_password_in_an_address_is_refused_and_never_said(run: Run) -> None:
    for address in ("https://ada:s3cret@gainsay.example", "htps://ada:s3cret@x"):
        ended = run("list", "--server", address)
        assert ended.code == exit_codes.USAGE
        assert "s3cret" not in ended.err


def test_an_address_loses_its_last_slash_alone() -> None:
    assert read_server({}, "https://gainsay.example/api/") == "https://gainsay.example/api"
    assert read_server({"GAINSAY_SERVER": "http://gainsay:8321"}) == "http://gainsay:8321"
    assert read_server({}) is None
