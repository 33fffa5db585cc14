"""Commands against a running service do what they do on a database: one table, run both ways, one output."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import click
import msgspec
import pytest

from gainsay_client import Gainsay
from service import samples
from service.cli import exit_codes, gainsay, main
from service.cli.audit import audit
from service.policy.settings import SHIPPED_POLICY, read_policy
from tests.end_to_end.processes import Deployment
from tests.fixtures.beside import beside
from tests.fixtures.hostile_servers import Asked, Fault, answer, cutting, lying
from tests.fixtures.postgres import Database
from tests.fixtures.running import repository
from tests.fixtures.serving import a_case, a_declined_case, slow_policy

ESCAPES = "\x1b[31mred\x1b[0m\x1b]0;title\x07 \u202eabc"
FORMATS = ("stances", "ballot", "convergence")


class Ended(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


class Both:
    """A command on the database, and on the service that is on the same database."""

    def __init__(self, capfd: pytest.CaptureFixture[str], address: str) -> None:
        self._capfd, self.address = capfd, address

    def here(self, *words: str | Path) -> Ended:
        """In this process."""
        self._capfd.readouterr()
        code = main([str(word) for word in words])
        return Ended(code, *self._capfd.readouterr())

    def there(self, *words: str | Path, at: int = 1) -> Ended:
        """By the service; the option stands behind so many words of the command."""
        return self.here(*words[:at], "--server", self.address, *words[at:])

    def same(self, *words: str | Path, at: int = 1) -> Ended:
        """Both ways, with one outcome."""
        here, there = self.here(*words), self.there(*words, at=at)
        said = there.err.splitlines(keepends=True)
        assert (there.code, there.out) == (here.code, here.out), (words, there.err)
        assert "".join(line for line in said if not line.startswith("Request: ")) == here.err, words
        return here


@pytest.fixture(scope="module")
def deployment(module_database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    deployment = Deployment(module_database, tmp_path_factory.mktemp("deployment"), GAINSAY_WARM_S="0")
    yield deployment
    deployment.end()


@pytest.fixture(scope="module")
def address(deployment: Deployment) -> str:
    """A service as its operators run it."""
    return asyncio.run(deployment.start("serve", "--port", "0").address())


@pytest.fixture
def both(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    module_database: Database,
    address: str,
    data_folder: Path,
) -> Both:
    """The service proves the records, so a command on the database has no sequencer."""
    monkeypatch.setenv("GAINSAY_DATABASE_URL", module_database.service_url)
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(data_folder))
    return Both(capfd, address)


@pytest.fixture(scope="module")
def debates(address: str) -> dict[str, str]:
    """Debates in every format and in several states, by a name."""
    said = {"stances": "security/stances", "ballot": "contract/ballot", "convergence": "contract/convergence"}
    cases: dict[str, Any] = {"adversarial": a_case(metadata={"ticket": "LEGAL-31", "note": ESCAPES})}
    for name, sample in said.items():
        base, _, variant = sample.partition("/")
        cases[name] = samples.load(base, variant).case
    cases["panel"] = samples.load("architecture", "panel").case
    cases["declined"] = a_declined_case()
    with Gainsay(address) as client:
        scarce = {**cases["convergence"], "question": f"Is it {ESCAPES} capped?", "useCase": "=HYPERLINK(1)"}
        cases["truncated"] = {**scarce, "costCeilingUSD": client.quote(scarce)["neededUSD"]}
        found = {name: client.review(case)["debateId"] for name, case in cases.items()}
        assert {client.result(id_)["status"] for id_ in found.values()} == {"completed", "declined", "truncated"}
    return found


# -- finding


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--json",),
        ("--jsonl",),
        ("--csv",),
        ("--ids",),
        ("--facets",),
        ("--facets", "--json"),
        ("--limit", "2", "--json"),
        ("--all", "--sort", "createdAt", "--jsonl"),
        ("--sort", "-spentUSD", "--limit", "3"),
        ("--since", "1d", "--until", "2999-01-01"),
        ("--task-type", "contract", "--task-type", "security"),
        ("--format", "ballot", "--format", "panel"),
        ("--flag", "DEBATE_TRUNCATED"),
        ("--no-human-review",),
        ("--model", "alder-large"),
        ("--metadata", "ticket=LEGAL-31"),
        ("--question", "Security Incident"),
        ("--question", "zebra"),
        ("--status", "nearly"),
        ("--since", "next week", "--sort", "luck"),
        ("--metadata", "=x"),
    ],
    ids=" ".join,
)
def test_a_list_is_the_same_by_a_service(both: Both, debates: dict[str, str], words: tuple[str, ...]) -> None:
    both.same("list", *words)


def test_each_filter_passes_what_it_says(both: Both, debates: dict[str, str]) -> None:
    def found(*words: str) -> set[str]:
        lines = both.there("list", "--all", "--jsonl", *words).out.splitlines()
        by_id = {id_: name for name, id_ in debates.items()}
        return {by_id[json.loads(line)["debateId"]] for line in lines if json.loads(line)["debateId"] in by_id}

    assert found() == set(debates)
    assert found("--status", "declined") == found("--outcome", "declined") == {"declined"}
    assert found("--format", "ballot", "--format", "panel") == {"ballot", "panel"}
    assert found("--flag", "DEBATE_TRUNCATED") == {"truncated"} <= found("--human-review")
    assert found("--metadata", "ticket=LEGAL-31") == found("--metadata", "ticket") == {"adversarial"}
    assert found("--use-case", "=HYPERLINK(1)") == {"truncated"}
    assert found("--human-review") | found("--no-human-review") == set(debates)
    assert found("--until", "7d") == set() == found("--since", "2999-01-01")
    assert found("--since", "today") == set(debates)


def test_a_list_that_is_empty_says_which_filters_were_used(both: Both, debates: dict[str, str]) -> None:
    ended = both.same("list", "--question", "zebra crossing", "--human-review", "--format", "panel")

    assert ended == Ended(0, "no debate passes --format panel --human-review --question 'zebra crossing'\n", "")


def test_pages_are_joined_up_to_the_limit(both: Both, debates: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = json.loads(both.same("list", "--all", "--json").out)
    monkeypatch.setattr("service.cli.listing.PAGE_MAX", 2)

    every = json.loads(both.same("list", "--all", "--json", "--facets").out)
    three = json.loads(both.same("list", "--limit", "3", "--json").out)

    assert every["debates"] == whole["debates"]
    assert every["total"] == {"count": len(whole["debates"])}
    assert three["debates"] == whole["debates"][:3]
    assert three["next"]
    assert "next" not in every


def test_no_control_character_of_a_case_reaches_the_terminal(both: Both, debates: dict[str, str]) -> None:
    for words in (("list",), ("list", "--ids"), ("list", "--facets"), ("show", debates["truncated"])):
        ended = both.same(*words)
        assert "red" in ended.out or words[0] == "list"
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", ended.out + ended.err), words
    assert r"\u001b" in both.there("list", "--json").out, "JSON has what was given, escaped"


def test_a_cell_that_a_spreadsheet_would_run_is_disarmed(both: Both, debates: dict[str, str]) -> None:
    assert ",'=HYPERLINK(1)," in both.there("list", "--csv", "--use-case", "=HYPERLINK(1)").out


def test_forms_that_contradict_each_other_are_usage(both: Both) -> None:
    assert both.there("list", "--csv", "--json").code == exit_codes.USAGE
    assert "counts" in both.there("list", "--csv", "--facets").err


# -- one debate


@pytest.mark.parametrize("name", ["adversarial", *FORMATS, "panel", "declined", "truncated"])
def test_a_debate_is_shown_alike_by_a_service(both: Both, debates: dict[str, str], name: str) -> None:
    for words in ((), ("--follow", "--brief"), *((("--json",), ("--brief",)) if name == "panel" else ())):
        ended = both.same("show", debates[name], *words)
        assert ended.code == 0, words


@pytest.mark.parametrize(
    "words",
    [
        ("--documents",),
        ("--documents", "--json"),
        ("--document", "D1"),
        ("--document", "D9"),
        ("--document", "../x"),
        ("--brief", "--documents"),
        ("--document", "D1", "--json"),
    ],
    ids=" ".join,
)
def test_the_documents_of_a_debate_are_the_same(both: Both, debates: dict[str, str], words: tuple[str, ...]) -> None:
    both.same("show", debates["adversarial"], *words)


def test_a_document_comes_as_it_was_given(both: Both, debates: dict[str, str]) -> None:
    assert both.there("show", debates["adversarial"], "--document", "D1").out == a_case()["documents"][0]["text"]


def test_a_debate_is_named_by_its_beginning_or_as_the_last(both: Both, debates: dict[str, str]) -> None:
    debate = debates["panel"]
    whole = both.same("show", debate, "--json").out

    for given in (debate[:13], debate[:13].replace("-", ""), debate[:20], debate.upper(), UUID(debate).hex):
        assert both.same("show", given, "--json").out == whole, given
    newest = json.loads(both.same("list", "--limit", "1", "--json").out)["debates"][0]["debateId"]
    assert json.loads(both.same("show", "last", "--json").out)["debateId"] == newest


@pytest.mark.parametrize(
    "given",
    ["01980000", "01980000-0000", "ffffffff", "0198", "nonsense", "01980000-0000-7000-8000-000000000000", "../x"],
)
def test_what_names_no_debate_is_refused(both: Both, debates: dict[str, str], given: str) -> None:
    ended = both.same("show", given)

    assert (ended.code, ended.out) == (exit_codes.USAGE, "")
    assert ended.err.startswith("gainsay: not_found: ")


def test_the_beginning_of_several_debates_is_refused_with_their_ids(both: Both, debates: dict[str, str]) -> None:
    """All debates of this module began within some minutes."""
    ids = sorted(debates.values())
    shared = next(n for n in range(8, 13) if len({id_.replace("-", "")[:n] for id_ in ids}) > 0)
    beginnings = [id_.replace("-", "")[:shared] for id_ in ids]
    common = max(set(beginnings), key=beginnings.count)

    ended = both.same("show", common)

    if beginnings.count(common) > 1:
        assert ended.code == exit_codes.USAGE
        assert "gainsay: usage: " in ended.err
        assert "give more digits" in ended.err


# -- reports and evidence


@pytest.mark.parametrize("words", [("--json",), ("--markdown",), ("--html",), ("--html", "--paper", "letter"), ()])
def test_a_report_is_the_same(both: Both, debates: dict[str, str], words: tuple[str, ...]) -> None:
    both.same("report", debates["adversarial"], *words)


def test_a_pdf_is_issued_by_a_service_and_the_bundle_knows_it(
    both: Both, debates: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf, bundle = tmp_path / "r.pdf", tmp_path / "b.zip"

    assert both.there("report", debates["adversarial"][:13], "-o", pdf).code == 0
    assert both.there("audit", "bundle", debates["adversarial"][:13], "-o", bundle, at=2).code == 0
    key = json.loads(both.there("audit", "keys", "--json", at=2).out)["keys"][0]["key"]
    verified = both.here("audit", "verify", bundle, "--key", key, "--allow-unwitnessed", "--report", pdf)
    assert (verified.code, verified.out.splitlines()[-1]) == (0, "VERIFIED, UNWITNESSED")
    again = both.there("audit", "bundle", debates["adversarial"], "-o", bundle, at=2)
    assert again.code == exit_codes.USAGE
    monkeypatch.chdir(tmp_path)
    assert both.there("audit", "bundle", debates["panel"][:13], at=2).err == f"wrote {debates['panel']}.zip\n"


@pytest.mark.parametrize(
    "words",
    [
        ("keys",),
        ("keys", "--pins"),
        ("checkpoint", "--log", "localhost/default/9"),
        ("export", "--log", "nonsense"),
        ("export", "--status", "nearly"),
        ("recall", "--model", "never-asked"),
        ("recall", "--price", "nonsense"),
        ("bundle", "01980000-0000-7000-8000-000000000000"),
    ],
    ids=" ".join,
)
def test_the_audit_log_answers_alike(both: Both, debates: dict[str, str], words: tuple[str, ...]) -> None:
    both.same("audit", *words, at=2)


def test_an_export_by_a_service_verifies(both: Both, debates: dict[str, str], tmp_path: Path) -> None:
    whole, some = tmp_path / "whole.jsonl", tmp_path / "some.jsonl"

    assert both.there("audit", "export", "-o", whole, at=2) == Ended(0, "", f"wrote {whole}\n")
    some.write_text(both.there("audit", "export", "--task-type", "contract", at=2).out)
    assert both.there("audit", "export", "--format", "csv", at=2).out.startswith("log,")

    key = json.loads(both.there("audit", "keys", "--json", at=2).out)["keys"][0]["key"]
    for file in (whole, some):
        words = ("audit", "verify", file, "--key", key, "--allow-unwitnessed", "--scope", "records")
        verified = both.here(*words)
        assert verified.code == 0, (file, file.read_bytes()[:300], verified.out)


def test_a_kept_head_is_held_against_the_log_of_a_service(both: Both, debates: dict[str, str], tmp_path: Path) -> None:
    head, forged = tmp_path / "head.txt", tmp_path / "forged.txt"
    head.write_text(both.there("audit", "checkpoint", at=2).out)
    origin, size, _root = head.read_text().splitlines()[:3]
    both.there("audit", "export", "-o", tmp_path / "more.jsonl", at=2)  # adds a record: that it was issued

    forged.write_text(f"{origin} {int(size) - 1} {'A' * 43}=\n")
    ended, grown = (both.there("audit", "checkpoint", "--against", file, at=2) for file in (forged, head))

    assert (ended.code, ended.out) == (exit_codes.NEGATIVE, "")
    assert ended.err.startswith("gainsay: contradicted: ")
    assert grown.code == 0
    assert f"the {size} records of the head that was kept are the beginning of this one" in grown.err
    forged.write_text(f"{origin} 999999 {'A' * 43}=\n")
    assert "records are lost" in both.there("audit", "checkpoint", "--against", forged, at=2).err


def test_a_recall_by_a_service_finds_the_same_debates(both: Both, debates: dict[str, str]) -> None:
    """Each search is recorded, so the place in the log of later ones differs in nothing but that."""
    here, there = (
        both.here("audit", "recall", "--model", "alder-large"),
        both.there("audit", "recall", "--model", "alder-large", at=2),
    )
    assert there == here
    assert {line.split()[0] for line in there.out.splitlines()} >= {debates["adversarial"], debates["truncated"]}
    told = json.loads(both.there("audit", "recall", "--model", "alder-large", "--json", at=2).out)
    assert told == json.loads(both.here("audit", "recall", "--model", "alder-large", "--json").out)


# -- review


def test_a_review_by_a_service_is_followed_and_shown_like_one_here(both: Both, debates: dict[str, str]) -> None:
    here, there = both.here("review", "--sample", "contract"), both.there("review", "--sample", "contract")

    def leads(text: str) -> list[str]:
        return [line.split()[0] for line in text.splitlines() if line and not line.startswith(" ")]

    assert (there.code, here.code) == (0, 0)
    assert leads(there.err) == leads(here.err) == ["Gate", "Debate", "Framing", "Round", "Completed"]
    for word in ("Gate", "Not cited", "Cost", "Record", "Prompts", "Policy", "Build"):
        line = re.compile(rf"^{word}.*$", re.MULTILINE)
        assert line.findall(there.out) == line.findall(here.out) != [], word
    found = re.findall(r"gainsay report (\S+) --server (\S+) --html", there.out)
    assert found
    assert found[0][1] == both.address
    assert json.loads(both.same("show", found[0][0], "--json").out)["askedBy"]["via"] == "none"


def test_a_case_that_a_service_refuses_is_refused_as_here(both: Both, debates: dict[str, str]) -> None:
    case = ("--task-type", "contract", "--downside", "5e5", "--question", "Is it capped?")

    for words in (
        (*case,),
        (*case, "--rounds", "9", "--model", "critic=gpt"),
        (*case, "--format", "panel", "--debaters", "99"),
        (*case, "--vote", "yes"),
        ("--sample", "contract", "--ceiling", "0.0001"),
        ("--sample", "contract", "--deadline", "2020-01-01T00:00:00Z"),
    ):
        ended = both.same("review", *words)
        assert (ended.code, ended.out) == (exit_codes.USAGE, ""), words
    refused = both.there("review", *case, "--rounds", "9")
    assert "[--rounds]" in refused.err
    assert re.search(r"^Request: \S+, for the service's log$", refused.err, re.MULTILINE)


def test_a_declined_case_is_declined_by_a_service(both: Both) -> None:
    ended = both.there("review", "--sample", "contract", "--downside", "1", "--materiality", "low", "--confidence", "1")

    assert ended.code == exit_codes.NEGATIVE
    assert "NO DEBATE" in ended.out


def test_the_request_that_would_be_sent_to_a_service_is_printed(both: Both) -> None:
    both.same("review", "--sample", "security/ballot", "--print-request")


def test_a_case_under_a_key_is_one_debate_for_both_ways(both: Both, debates: dict[str, str]) -> None:
    case = ("review", "--sample", "contract", "--use-case", "keyed", "--key", "LEGAL-31")
    first = both.there(*case, "--detach")
    debate = first.out.strip()

    shown = both.there(*case, "--json")
    here = both.here(*case, "--json")
    other = both.there(*case, "--downside", "7e6")

    assert (first.code, first.err) == (0, "")
    assert json.loads(shown.out)["debateId"] == json.loads(here.out)["debateId"] == debate
    assert [
        json.loads(line)["debateId"] for line in both.there("list", "--use-case", "keyed", "--jsonl").out.splitlines()
    ] == [debate]
    assert (other.code, other.out) == (exit_codes.USAGE, "")
    assert other.err.startswith("gainsay: idempotency_key_reused: ")
    assert debate in other.err


def test_a_key_that_is_none_is_refused_before_anything_is_asked(both: Both) -> None:
    for key in ("", "a\nb", "\u00e9", "k" * 256):
        ended = both.same("review", "--sample", "contract", "--key", key)
        assert (ended.code, ended.out) == (exit_codes.USAGE, ""), key
        assert "1 to 255 printable ASCII characters" in ended.err


def test_a_command_that_does_not_wait_says_what_it_needs(both: Both) -> None:
    declined = both.there(
        "review", "--sample", "contract", "--downside", "1", "--materiality", "low", "--confidence", "1", "--detach"
    )

    assert declined.code == exit_codes.NEGATIVE
    assert json.loads(both.there("show", declined.out.strip(), "--json").out)["status"] == "declined"
    assert "--detach needs --server" in both.here("review", "--sample", "contract", "--detach").err
    for output in ("--json", "--print-request"):
        ended = both.there("review", "--sample", "contract", "--detach", output)
        assert (ended.code, ended.out) == (exit_codes.USAGE, "")
        assert output in ended.err


def test_a_debate_is_aborted_alike_by_a_service(both: Both, debates: dict[str, str]) -> None:
    late = both.same("abort", debates["panel"][:13])
    assert late.code == exit_codes.NEGATIVE
    assert late.out.startswith(f"too late: debate {debates['panel']} is completed; spent 0.")
    for given in ("01980000-0000-7000-8000-000000000000", "nonsense"):
        assert both.same("abort", given).code == exit_codes.USAGE


def test_a_whole_case_is_sent_to_a_service(both: Both, tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text(json.dumps(a_declined_case()))

    for command in ("quote", "review"):
        ended = both.there(command, "--case", tmp_path / "case.json")
        assert (ended.code, ended.err.count("gainsay:")) == (exit_codes.NEGATIVE, 0), ended.err
        assert "NO DEBATE" in ended.out


@pytest.mark.parametrize(
    "words",
    [
        ("gate", "--task-type", "contract", "--downside", "5e5", "--confidence", "0.6"),
        ("gate", "--task-type", "contract", "--downside", "5", "--not-contested", "--json"),
        ("gate", "--task-type", "contract", "--downside", "-1", "--confidence", "7"),
        ("gate", "--task-type", "contract", "--downside", "5", "--force", "because"),
        ("gate", "--case", "CASE"),
        ("quote", "--sample", "contract"),
        ("quote", "--sample", "architecture/panel"),
        ("quote", "--sample", "security/stances"),
        ("quote", "--sample", "contract/convergence", "--ceiling", "0.01"),
        ("quote", "--case", "CASE", "--ceiling", "2"),
        ("models",),
        ("models", "--json"),
        ("budget",),
        ("budget", "--json"),
    ],
    ids=" ".join,
)
def test_a_service_decides_and_quotes_as_this_machine_does_with_its_policy(
    both: Both, debates: dict[str, str], words: tuple[str, ...], tmp_path: Path
) -> None:
    case = tmp_path / "case.json"
    case.write_text(json.dumps(a_case(estimatedDownside=6150000.50)))

    both.same(*(str(case) if word == "CASE" else word for word in words))


def test_a_quote_of_a_service_knows_what_is_left_of_the_limits(both: Both) -> None:
    words = ("quote", "--sample", "contract", "--json")
    here, there = (json.loads(quote(*words).out) for quote in (both.here, both.there))

    assert set(there.pop("tenantLeft")) == {"dayUSD", "monthUSD"}
    assert there == here


# -- where the service is


def test_the_variable_names_a_service_and_the_option_wins(
    both: Both, debates: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = both.here("list")
    monkeypatch.setenv("GAINSAY_SERVER", "http://127.0.0.1:9")
    assert both.here("list").code == exit_codes.FAILED
    assert both.there("list") == expected
    monkeypatch.setenv("GAINSAY_SERVER", f"{both.address}/")
    monkeypatch.setenv("GAINSAY_DATABASE_URL", "postgresql://127.0.0.1:9/none")
    assert both.here("list") == expected


def test_a_command_on_a_database_is_not_asked_of_a_service_by_mistake(
    both: Both, debates: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAINSAY_SERVER", both.address)
    assert both.here("replay", debates["panel"]).code == 0, "GAINSAY_DATABASE_URL names the database"
    monkeypatch.delenv("GAINSAY_DATABASE_URL")

    for words in (
        ("replay", debates["panel"]),
        ("rebuild",),
        ("audit", "check"),
        ("audit", "rotate", "--all"),
        ("audit", "remember"),
        ("audit", "pack", "--since", "2026-01-01", "--until", "2026-01-02", "-o", "x.zip"),
    ):
        ended = both.here(*words)
        assert (ended.code, ended.out) == (exit_codes.USAGE, ""), words
        assert "env -u GAINSAY_SERVER gainsay" in ended.err


HEAVY = (
    "psycopg",
    "psycopg_pool",
    "litestar",
    "uvicorn",
    "service.app",
    "service.simulated",
    "service.store.pool",
    "typst",
)


@pytest.mark.parametrize(
    "words", [("list",), ("show", "last"), ("audit", "checkpoint"), ("review", "--sample", "contract")]
)
def test_a_command_that_asks_a_service_imports_no_database_no_server_and_no_model(
    address: str, debates: dict[str, str], words: tuple[str, ...], data_folder: Path
) -> None:
    code = (
        f"import sys; from service.cli import main; main({[*words, '--server', address]!r}); "
        f"print([m for m in {HEAVY} if m in sys.modules], file=sys.stderr)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=repository())

    assert done.stdout
    assert done.stderr.splitlines()[-1] == "[]"


def test_an_address_with_the_beginning_of_a_path_is_answered_with_the_right_one(both: Both) -> None:
    ended = both.here("list", "--server", f"{both.address}/v1")

    assert (ended.code, ended.out) == (exit_codes.FAILED, "")
    assert f"write {both.address}\n" in ended.err


# -- a connection that breaks, and the keyboard


def test_a_broken_connection_neither_ends_a_review_nor_sends_its_case_twice(
    both: Both, debates: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = ("list", "--all", "--jsonl")
    before = both.there(*listed).out.splitlines()
    whole = both.there("review", "--sample", "security")

    with beside(cutting(both.address), cuts=True) as proxy:
        proxy.only = lambda asked: asked.method == "POST" or asked.path.endswith("/events")
        proxy.faults = [Fault("cutAnswer", 20), Fault("cutRequest"), Fault("cutBeforeAnswer"), Fault("pass")]
        proxy.faults += [Fault("cutAnswer", 3_000), Fault("busy", 1)]
        ended = both.here("review", "--sample", "security", "--server", proxy.url)

    assert proxy.hit == ["cutAnswer", "cutRequest", "cutBeforeAnswer", "cutAnswer", "busy"]
    assert ended.code == 0, ended.err
    assert len(ended.err.splitlines()) == len(whole.err.splitlines()), "each event once"
    assert len(both.there(*listed).out.splitlines()) == len(before) + 2


@pytest.fixture
def slow(database: Database, tmp_path: Path) -> Iterator[str]:
    """A service with slow models, on a database of its own: no other worker may take its debates."""
    policy = slow_policy(tmp_path, 700)
    deployment = Deployment(database, tmp_path, GAINSAY_WARM_S="0", GAINSAY_POLICY=str(policy))
    try:
        yield asyncio.run(deployment.start("serve", "--port", "0").address())
    finally:
        deployment.end()


class Started:
    """A command in a process of its own, until it is interrupted."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._said = folder / "stderr.txt"
        with self._said.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "service", *words],
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=repository(),
                text=True,
                env={**os.environ, "GAINSAY_DATA_DIR": str(folder / "data")},
            )

    @property
    def said(self) -> str:
        """Its standard error."""
        return self._said.read_text("utf-8")

    def hears(self, pattern: str) -> None:
        """Wait until it says something."""
        until = time.monotonic() + 30
        while not re.search(pattern, self.said):
            assert time.monotonic() < until, self.said
            time.sleep(0.02)

    def ends(self) -> tuple[int, str]:
        """Its exit code and its output."""
        out, _ = self.process.communicate(timeout=30)
        return self.process.returncode, out


def test_ctrl_c_aborts_a_review_by_a_service_and_a_second_one_leaves_it_there(slow: str, tmp_path: Path) -> None:
    first = Started(tmp_path, "review", "--sample", "contract", "--server", slow, "--json")
    first.hears("Framing")

    first.process.send_signal(signal.SIGINT)

    code, out = first.ends()
    assert code == exit_codes.FAILED, first.said
    assert re.search(
        r"^gainsay: aborted: the debate was aborted; spent 0\.\d+ USD; waiting for calls in flight, at most 0\.\d+ USD "
        r"more; Ctrl-C again leaves them to the service$",
        first.said,
        re.MULTILINE,
    ), first.said
    assert json.loads(out)["status"] == "aborted"

    (tmp_path / "second").mkdir()
    second = Started(tmp_path / "second", "review", "--sample", "contract", "--server", slow)
    second.hears("Framing")
    second.process.send_signal(signal.SIGINT)
    second.hears("Ctrl-C again")
    second.process.send_signal(signal.SIGINT)

    assert second.ends() == (exit_codes.FAILED, ""), second.said
    assert re.search(r"interrupted: no longer waiting; debate \S+ is aborted, spent 0\.\d+ USD", second.said), (
        second.said
    )
    assert "Traceback" not in first.said + second.said


def test_ctrl_c_ends_what_follows_a_debate_and_not_the_debate(slow: str, tmp_path: Path) -> None:
    with Gainsay(slow) as client:
        debate = client.submit(a_case()).debate_id
        following = Started(tmp_path, "show", debate, "--follow", "--server", slow)
        following.hears("Debate ")

        following.process.send_signal(signal.SIGINT)

        assert following.ends() == (exit_codes.FAILED, "")
        assert "stopped by the keyboard" in following.said
        assert "Traceback" not in following.said
        assert client.wait(debate)["status"] == "completed"


def test_what_the_manual_asks_of_a_service_is_answered(
    both: Both, debates: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    manual = (repository() / "docs" / "terminal.md").read_text("utf-8")
    first, *lines = re.findall(r"^## Against a service\n.*?^```text\n(.*?)^```", manual, re.MULTILINE | re.DOTALL)[
        0
    ].splitlines()
    assert first == "export GAINSAY_SERVER=https://gainsay.example"
    assert len(lines) > 5
    monkeypatch.setenv("GAINSAY_SERVER", both.address)
    monkeypatch.delenv("GAINSAY_DATABASE_URL")
    monkeypatch.chdir(tmp_path)

    for line in lines:
        program, *words = shlex.split(line)
        ended = both.here(*words)
        assert (program, ended.code) == ("gainsay", 0), (line, ended.err)


def test_the_manual_says_of_each_command_whether_it_asks_a_service() -> None:
    """The first column of its table, against the options that the commands have."""
    table = re.findall(
        r"^\| (`.*`) \| (asks|refused)", (repository() / "docs" / "terminal.md").read_text("utf-8"), re.MULTILINE
    )
    said = {kind: re.findall(r"`([^`]+)`", names) for names, kind in table}
    context = click.Context(gainsay)
    groups = {"": gainsay, "audit ": audit}
    found = {
        f"{prefix}{name}"
        for prefix, group in groups.items()
        for name in group.list_commands(context)
        if "--server" in [o for p in group.get_command(context, name).params for o in p.opts]  # type: ignore[union-attr]
    }

    def whole(names: list[str]) -> set[str]:
        """A name behind one of the group is of the group."""
        at = next(n for n, name in enumerate(names) if name.startswith("audit "))
        return {*names[:at], *(f"audit {name.removeprefix('audit ')}" for name in names[at:])}

    assert whole(said["asks"]) == found
    sources = [(name, (repository() / "service/cli" / path).read_text()) for name, path in DATABASE_ALONE.items()]
    assert whole(said["refused"]) == {name for name, text in sources if f'place.refuse_server("{name}")' in text}


DATABASE_ALONE = {
    "baseline record": "baseline.py",
    "baseline show": "baseline.py",
    "replay": "report.py",
    "rebuild": "rebuild.py",
    "audit pack": "audit/pack.py",
    "audit check": "audit/check.py",
    "audit rotate": "audit/rotate.py",
    "audit remember": "audit/remember.py",
}


def test_ctrl_c_while_a_case_is_sent_says_that_it_may_be_recorded(tmp_path: Path) -> None:
    limits = json.loads(msgspec.json.encode(read_policy(SHIPPED_POLICY).limits))
    asked = []

    async def hang() -> bytes:
        await asyncio.sleep(3600)
        return b""

    def say(request: Asked) -> Any:
        asked.append(request.path)
        return hang() if request.method == "POST" else answer(200, {"limits": limits, "debate": {"format": "panel"}})

    with beside(lying(say)) as server:
        process = Started(tmp_path, "review", "--sample", "contract", "--server", server.url)
        until = time.monotonic() + 30
        while "/v1/debates" not in asked:
            assert time.monotonic() < until, process.said
            time.sleep(0.02)
        process.process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        assert process.process.poll() is None, "an answer may still come, and then the debate is aborted"
        process.process.send_signal(signal.SIGINT)

        assert process.ends() == (exit_codes.FAILED, "")
    assert process.said == (
        f"gainsay: interrupted: waiting until {server.url} has recorded the case, to abort it; Ctrl-C again ends the "
        "command\n"
        f"gainsay: interrupted: stopped by the keyboard before {server.url} answered; the case may have been recorded "
        "there: see `gainsay list`\n"
    )
