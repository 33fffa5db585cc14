"""`gainsay audit verify` as an examiner runs it, with nothing but a file and a key.

The tables of arguments call the command in one process that has an empty environment; every other test starts the
installed program anew.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from service.audit.bundle import pack
from service.audit.note import COSIGNATURE, ED25519, PublicKey, Signature, SigningKey
from service.cli.audit.verify import tools
from tests.fixtures.bundles import LOG_KEY, OTHER_KEY, WITNESSES, Draft, export, told
from tests.fixtures.evaluating import GOLDEN
from tests.fixtures.stamping import AUTHORITY

Drafts = Mapping[str, Draft]
KEY, WITNESS = ["--key", LOG_KEY.public.encode()], ["--witness", WITNESSES[0].public.encode()]
SECOND = ["--witness", WITNESSES[1].public.encode()]
GAINSAY = Path(sys.executable).with_name("gainsay")

# No database, no HTTP, no way out: sockets raise, and what would open one is not even imported.
NOTHING_ELSE = """
import socket, sys
def refuse(*_): raise AssertionError("the verifier opened a socket")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from service.cli import main
code = main(sys.argv[1:])
tops = {name.partition(".")[0] for name in sys.modules}
strange = tops & {"psycopg", "psycopg_pool", "httpx", "aiohttp", "litestar", "uvicorn", "prometheus_client"}
unwanted = ("service.store", "service.web", "service.policy.settings")
strange |= {name for name in sys.modules if name.startswith(unwanted)}
assert not strange, strange
sys.exit(code)
"""


@pytest.fixture(scope="module")
def folder(drafts: Drafts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bundles and an export, and a bundle with a byte changed."""
    folder = tmp_path_factory.mktemp("handed over")
    draft = told(drafts["contract"])
    (folder / "bundle.zip").write_bytes(draft.packed())
    (folder / "renamed.txt").write_bytes(draft.packed())
    forged = told(draft.change(draft.find("turn.spoke", 2), lambda e: e["charge"].update(amount=1)))
    (folder / "forged.zip").write_bytes(forged.packed())
    edited = replace(draft, report=draft.report.replace(b"MODERATE", b"HIGH"))
    (folder / "edited.zip").write_bytes(edited.packed())
    line = Signature("sec-examiner.gov", bytes(4), bytes(64)).line().encode()
    tree = draft.tree()
    (folder / "line.zip").write_bytes(pack(draft.bundle(tree._replace(note=tree.note + line))))
    (folder / "export.jsonl").write_bytes(b"".join(export([draft, drafts["declined"]])))
    (folder / "refused.jsonl").write_bytes(b"".join(export([drafts["truncated"]])))
    bare = draft.copy()
    bare.absent = ("proofs/", "checkpoints/")
    (folder / "unsigned.zip").write_bytes(pack(bare.bundle()))
    (folder / "words.txt").write_text("This is not a bundle.\n")
    (folder / "empty").write_bytes(b"")
    (folder / "page.zip").write_bytes(b"\n<!doctype html><title>Sign in</title>\n")
    (folder / "first-byte.zip").write_bytes(b"Q" + draft.packed()[1:])
    return folder


def run(arguments: Sequence[str], folder: Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run the command with an empty environment, from a folder of its own."""
    return subprocess.run(
        [str(GAINSAY), "audit", "verify", *arguments], cwd=folder, env={}, input=stdin, capture_output=True, check=False
    )


CALLS = """
import contextlib, io, json, sys
from service.cli import main
for line in sys.stdin:
    said = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    with contextlib.redirect_stdout(said[0]), contextlib.redirect_stderr(said[1]):
        code = main(["audit", "verify", *json.loads(line)])
    print(json.dumps([code, *(one.buffer.getvalue().decode() for one in said)]), flush=True)
"""


class Called(NamedTuple):
    """How a call of the command has ended, and what it has said."""

    code: int
    out: str
    err: str


Call = Callable[[Sequence[str]], Called]


@pytest.fixture(scope="module")
def call(folder: Path) -> Iterator[Call]:
    """Call the command in a process with an empty environment, in the folder of the files."""
    words = [sys.executable, "-c", CALLS]
    with subprocess.Popen(
        words, cwd=folder, env={}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        given, told = process.stdin, process.stdout
        assert given is not None
        assert told is not None

        def called(arguments: Sequence[str]) -> Called:
            given.write(f"{json.dumps(arguments)}\n")
            given.flush()
            return Called(*json.loads(told.readline()))

        yield called
        given.close()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["bundle.zip", *KEY, *WITNESS], 0, "VERIFIED"),
        (["renamed.txt", *KEY, *WITNESS], 0, "VERIFIED"),
        (["bundle.zip", *KEY], 4, "UNWITNESSED"),
        (["bundle.zip", *KEY, "--allow-unwitnessed"], 4, "no pinned key checked the lines of 'witness-0'"),
        (["bundle.zip", *KEY, "--allow-unwitnessed", "--allow-unchecked-lines"], 0, "VERIFIED, UNWITNESSED"),
        (["bundle.zip"], 4, "UNSIGNED"),
        (["bundle.zip", "--allow-unsigned", "--allow-unwitnessed"], 0, "VERIFIED, UNSIGNED, UNWITNESSED"),
        (["bundle.zip", "--key", OTHER_KEY.public.encode(), *WITNESS], 1, "FAILED: step 2 (signature)"),
        (["bundle.zip", *KEY, *SECOND], 1, "FAILED: step 3 (witnesses)"),
        (["bundle.zip", *KEY, *WITNESS, *SECOND, "--quorum", "2"], 1, "expected 2 of 2, found witness-0"),
        (["unsigned.zip", "--allow-unwitnessed", "--allow-unsigned"], 1, "FAILED: step 1 (file)"),
        (["edited.zip", *KEY, *WITNESS], 1, "FAILED: step 24 (report) [report.md]"),
        (["edited.zip", *KEY, *WITNESS], 1, "only words, which no step has compared with the records: report.md"),
        (["line.zip", *KEY, *WITNESS], 4, "NOT ALL CHECKABLE: 11 lines"),
        (["line.zip", *KEY, *WITNESS], 4, "'sec-examiner.gov' (00000000) in checkpoints/0001.txt"),
        (["line.zip", *KEY, *WITNESS, "--allow-unchecked-lines"], 0, "VERIFIED, no pinned key checked the lines of "),
        (["forged.zip", *KEY, *WITNESS], 1, "4 steps after it were left out; --all carries them out"),
        (["forged.zip", *KEY, *WITNESS, "--all"], 1, "24  report "),
        (["forged.zip", *KEY, *WITNESS], 1, "FAILED: step 21 (charges) [records/"),
        (["export.jsonl", *KEY, *WITNESS], 4, "not part of an export"),
        (["export.jsonl", *KEY, *WITNESS, "--scope", "records"], 0, "VERIFIED, RECORDS ONLY"),
        (["refused.jsonl", *KEY, *WITNESS], 4, "12 money, 14 sources"),
        (["refused.jsonl", *KEY, *WITNESS, "--scope", "records"], 0, "VERIFIED, NO REQUESTS, RECORDS ONLY"),
        (["export.jsonl", *KEY, "--scope", "records"], 4, "NOT ALL CHECKABLE: 3 witnesses"),
        (["export.jsonl", "--key", OTHER_KEY.public.encode(), *WITNESS], 1, "FAILED: step 2 (signature)"),
        (["words.txt", *KEY], 1, "neither a bundle, a pack nor an export"),
        (["empty", *KEY], 1, "neither a bundle, a pack nor an export"),
        (["empty", *KEY], 1, "expected a bundle or a pack (a ZIP), or an export (lines of JSON)"),
        (["empty", *KEY], 1, "found an empty file; get the file anew"),
        (["page.zip", *KEY], 1, "found an HTML or XML page"),
        (["first-byte.zip", *KEY], 1, "found another file; get the file anew"),
    ],
)
def test_the_exit_code_and_the_last_line_say_how_it_ended(
    call: Call, arguments: list[str], code: int, says: str
) -> None:
    done = call(arguments)

    assert (done.code, done.err) == (code, "")
    assert says in done.out


def _renamed(key: SigningKey) -> str:
    """The same key as a witness's, under another name."""
    return PublicKey("somebody.example", COSIGNATURE, key.public.public).encode()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "FILE"),
        (["missing.zip", *KEY], "missing.zip cannot be read"),
        ([".", *KEY], "is a folder"),
        (["bundle.zip", "--key", "localhost+00000000+AAAA"], "--key"),
        (["bundle.zip", *KEY, "--scope", "records"], "--scope records is for an export"),
        (["bundle.zip", "--key", WITNESSES[0].public.encode()], f"type {ED25519}"),
        (["bundle.zip", *KEY, "--witness", LOG_KEY.public.encode()], f"type {COSIGNATURE}"),
        (["bundle.zip", *KEY, *WITNESS, "--quorum", "2"], "--quorum 2"),
        (["bundle.zip", *KEY, "--quorum", "1"], "--quorum 1"),
        (["bundle.zip", *KEY, *WITNESS, "--quorum", "0"], "--quorum"),
        (["bundle.zip", *KEY, *WITNESS, "--allow-unwitnessed"], "--allow-unwitnessed"),
        (["bundle.zip", *KEY, *WITNESS, "--witness", _renamed(WITNESSES[0])], "count twice"),
        (["bundle.zip", *KEY, "--witness", _renamed(LOG_KEY)], "count twice"),
    ],
)
def test_what_cannot_be_meant_is_usage(call: Call, arguments: list[str], says: str) -> None:
    done = call(arguments)

    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("file", "option", "says"),
    [
        ("bundle.zip", ["--sets", str(GOLDEN / "tiny-critic")], "--sets: this file has no evaluation"),
        ("export.jsonl", ["--tsa", "stamps.pem"], "--tsa: only bundles have time stamps"),
        ("export.jsonl", ["--report", "stamps.pem"], "--report compares a report with the bundle of its debate"),
    ],
)
def test_an_option_that_a_file_has_nothing_for_leaves_no_certificate(
    call: Call, folder: Path, file: str, option: list[str], says: str
) -> None:
    (folder / "stamps.pem").write_text(AUTHORITY)

    done = call([file, *KEY, "--allow-unwitnessed", *option, "--out", "unmeant.json"])

    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert not (folder / "unmeant.json").exists()


def test_a_program_of_its_own_says_usage_too(folder: Path) -> None:
    done = run(["missing.zip", *KEY], folder)

    assert (done.returncode, done.stdout) == (2, b"")
    assert b"missing.zip cannot be read" in done.stderr


def test_nothing_is_imported_that_speaks_to_a_database_or_a_network(folder: Path) -> None:
    for file in ("bundle.zip", "export.jsonl"):
        arguments = ["audit", "verify", str(folder / file), *KEY, *WITNESS]

        done = subprocess.run(
            [sys.executable, "-c", NOTHING_ELSE, *arguments], cwd="/", env={}, capture_output=True, check=False
        )

        assert (done.returncode, done.stderr) == (0 if file == "bundle.zip" else 4, b"")


def test_settings_are_not_read_not_even_wrong_ones(folder: Path) -> None:
    environment = {"GAINSAY_NO_SUCH": "1", "GAINSAY_POLICY": "/nowhere", "GAINSAY_DATABASE_URL": "postgresql://nobody/"}
    arguments = [str(GAINSAY), "audit", "verify", "bundle.zip", *KEY, *WITNESS]

    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, b"")


def test_standard_input_is_a_file_like_any_other(folder: Path) -> None:
    for file, code in (("bundle.zip", 0), ("export.jsonl", 4), ("words.txt", 1)):
        content = (folder / file).read_bytes()

        assert run(["-", *KEY, *WITNESS], folder, content).returncode == code


def test_json_steers_no_terminal(folder: Path, drafts: Drafts) -> None:
    (folder / "named.zip").write_bytes(pack(drafts["contract"].bundle(tenant="\x9b31m\u202etluafed")))

    said = run(["named.zip", *KEY, "--json"], folder).stdout

    assert said.isascii()
    assert json.loads(said)["about"]["tenant"] == "\x9b31m\u202etluafed"


def test_json_says_the_same_for_a_program(folder: Path) -> None:
    forged = json.loads(run(["forged.zip", *KEY, "--json"], folder).stdout)
    whole = json.loads(run(["bundle.zip", *KEY, *WITNESS, "--json"], folder).stdout)

    (charges,) = [step for step in forged["steps"] if step["state"] == "FAILED"]
    assert (forged["kind"], forged["verdict"], forged["exit"]) == ("bundle", "failed", 1)
    assert (charges["number"], charges["name"], charges["found"]) == (21, "charges", "1")
    assert forged["left"] == ["money", "outcome", "report", "issued"]
    assert {"left", "words"}.isdisjoint(whole)  # nothing to say
    assert charges["file"] == f"records/{charges['record']:04d}.payload.json"
    assert (whole["verdict"], whole["exit"], {step["state"] for step in whole["steps"]}) == ("verified", 0, {"OK"})
    assert [step["number"] for step in whole["steps"]] == list(range(1, 26))


def test_a_debate_is_counted_with_the_tokenizers_that_are_shipped(folder: Path) -> None:
    ready = tools().ready

    assert (ready("bytes/4"), ready("o200k_base"), ready("no such tokenizer")) == (True, True, False)


def test_what_a_file_says_cannot_move_the_cursor(folder: Path, drafts: Drafts) -> None:
    bundle = drafts["plain"].bundle(debate="\x1b[2J\x1b]0;owned\x07", status="\u202e")
    (folder / "escape.zip").write_bytes(pack(bundle))

    done = run(["escape.zip", *KEY, *WITNESS], folder)

    assert done.returncode == 1
    assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout.decode())
