"""The commands as a user calls them: what they print, where, and with which exit code."""

import io
import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from service.checks import injection
from service.cli import exit_codes, foreground, main
from service.cli.access.port import Aborted
from service.cli.demo import show
from service.cli.foreground import DebateUnfinished
from service.cli.terminal_text import clean
from service.debate.model import Status
from service.debate.suspicions import InjectionFound
from service.report.shortened import short
from service.store.startup import DatabaseAddresses
from tests.fixtures.postgres import Database
from tests.fixtures.serving import a_case, sequenced, settings_for

GATE = ("gate", "--task-type", "contract", "--downside", "500000")
REVIEW = ("review", "--task-type", "contract", "--question", "Is our liability capped?", "--downside", "500000")


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data_folder: Path) -> Run:
    """Call a command in this process, with a data folder of its own and no database configured."""
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(data_folder))

    def call(*arguments: str | Path) -> Ended:
        code = main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Ended(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="module")
def heads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the signer of the module's database keeps its key, and the last head that it signed."""
    return tmp_path_factory.mktemp("heads")


@pytest.fixture
def run_stored(run: Run, monkeypatch: pytest.MonkeyPatch, module_database: Database, heads: Path) -> Run:
    """The same on a database, with a key that signs its log."""
    monkeypatch.setenv("GAINSAY_DATABASE_URL", module_database.service_url)
    for name, value in sequenced(module_database.service_url, heads).items():
        monkeypatch.setenv(name, value)
    return run


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    path = tmp_path / "agreement.txt"
    path.write_text(
        "1. The Supplier shall indemnify the Customer against all losses from a breach of this Agreement.\n\n"
        "2. The Supplier's aggregate liability shall not exceed the fees paid in the last twelve months.\n\n"
        "3. Section 2 does not limit liability for gross negligence or for the indemnity in Section 1.\n"
    )
    return path


# -- gate


def test_gate_says_debate_with_every_rule_and_exits_0(run: Run) -> None:
    ended = run(*GATE, "--confidence", "0.55")

    assert ended.code == 0
    assert ended.out.startswith("Decision: debate (every rule holds)")
    for rule in ("valid amounts", "forced", "set by policy", "risk category", "contested", "worth it", "uncertain"):
        assert rule in ended.out


def test_gate_declines_with_exit_1_and_says_what_would_have_changed_it(run: Run) -> None:
    ended = run("gate", "--task-type", "contract", "--downside", "5", "--confidence", "0.95", "--not-contested")

    assert ended.code == 1
    assert "Decision: no debate (decided by: contested)" in ended.out
    assert "It would be a debate with:" in ended.out
    assert "a confidence below 0.9" in " ".join(ended.out.split())


def test_gate_says_what_would_have_changed_a_debate_and_how_an_unknown_task_type_is_read(run: Run) -> None:
    debated = run(*GATE)
    unknown = run("gate", "--task-type", "marketing", "--downside", "250000")

    assert (
        "It would be no debate with:\n  - a matter that is declared not contested\n  - a downside of at most 3.57"
        in debated.out
    )
    assert "'marketing', which policy does not know; it knows: contract" in " ".join(unknown.out.split())
    assert unknown.code == 1


def test_every_fault_has_a_line_of_its_own(run: Run) -> None:
    ended = run("gate", "--task-type", "Contract", "--downside", "-1", "--confidence", "2", "--rounds", "9")

    lines = ended.err.splitlines()
    assert ended.code == exit_codes.USAGE
    assert [line.rpartition("[")[2] for line in lines] == ["--rounds]", "--task-type]", "--confidence]", "--downside]"]
    assert all(line.startswith("gainsay: invalid_case: ") for line in lines)


def test_gate_as_json_prints_json_alone(run: Run) -> None:
    ended = run(*GATE, "--json")

    decision = json.loads(ended.out)
    assert decision["debate"] is True
    assert [rule["rule"] for rule in decision["rules"]][:3] == ["valid", "forced", "policy"]
    assert ended.err == ""


def test_gate_hears_hedging_in_an_answer_that_is_a_file(run: Run, tmp_path: Path) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_text("It is probably capped.")

    ended = run("gate", "--task-type", "contract", "--downside", "10", "--confidence", "0.99", "--answer", answer)

    assert ended.code == 0
    assert "hedging: 'probably'" in ended.out


def test_gate_imports_neither_server_nor_database_nor_screen() -> None:
    heavy = ("litestar", "uvicorn", "psycopg", "rich", "typst", "httpx", "prometheus_client")
    call = f"import sys; from service.cli import main; main({list(GATE)!r})"
    code = f"{call}; print([m for m in {heavy} if m in sys.modules])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "[]"


# -- what is refused: exit 2, one line, nothing started


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("gate", "--task-type", "contract"), "usage", "missing --downside"),
        (("gate", "--task-type", "contract", "--downside", "NaN"), "invalid_case", "found NaN [--downside]"),
        (("gate", "--task-type", "contract", "--downside", "-1"), "invalid_case", "must not be negative"),
        (("gate", "--task-type", "contract", "--downside", "lots"), "usage", "found 'lots'"),
        ((*GATE, "--confidence", "1.5"), "invalid_case", "from 0 to 1, found 1.5 [--confidence]"),
        ((*GATE[:2], "Contract", *GATE[3:]), "invalid_case", "did you mean 'contract'?"),
        ((*GATE, "--format", "duel"), "invalid_case", "convergence, auto [--format]"),
        ((*GATE, "--rounds", "4"), "invalid_case", "from 1 to 3, found 4 [--rounds]"),
        ((*GATE, "--model", "critic=gpt"), "invalid_case", "unknown model 'gpt'"),
        ((*GATE, "--model", "jury=alder-large"), "invalid_case", "unknown seat 'jury'"),
        ((*GATE, "--position", "a=one"), "invalid_case", "two to 6 positions"),
        ((*GATE, "--force", " "), "invalid_case", "needs a reason"),
        ((*GATE, "--force", "a", "--force-decline", "b"), "usage", "contradict each other"),
        ((*GATE, "--answer", "no/such.txt"), "no_file", "no/such.txt"),
        (("frob",), "usage", "No such command 'frob'"),
        (("demo", "--format", "duel"), "invalid_case", "unknown format 'duel'; use one of: adversarial, stances"),
        (REVIEW, "invalid_case", 'adversarial_without_documents = "allowed" [FILE]'),
        ((*REVIEW, "nowhere.txt"), "no_file", "there is no file nowhere.txt"),
        (("review", "--sample", "poem"), "unknown_sample", "choose one of: architecture"),
        (("review", "--sample", "contract/poem"), "unknown_sample", "personas"),
        ((*GATE, "--vote", "yes"), "usage", "--vote is for ballot; adversarial takes --position ID=TEXT, --persona"),
        ((*GATE, "--format", "ballot", "--position", "a=b"), "usage", "ballot takes --debater NAME, --persona NAME"),
        (
            (*GATE, "--format", "panel", "--no-judge"),
            "usage",
            "--no-judge is for convergence; panel takes --debaters N",
        ),
        ((*GATE, "--format", "auto", "--debaters", "3"), "usage", "the task type decides: name panel or convergence"),
        (
            (*GATE, "--format", "stances", "--debater", "a"),
            "usage",
            "stances needs a stance for each debater: --debater a=STANCE",
        ),
        ((*GATE, "--format", "stances"), "usage", "give --debater NAME=STANCE for each debater"),
        ((*GATE, "--format", "stances", "--debater", "a=b"), "invalid_case", "expected 2 to 6 debaters, found 1"),
        (
            (*GATE, "--format", "ballot", "--debater", "a=b"),
            "usage",
            "the format ballot assigns no stances: --debater a;",
        ),
        ((*GATE, "--format", "ballot", "--debater", "="), "usage", "expected a name or name=text, found '='"),
        ((*GATE, "--format", "panel", "--question-type", "odd"), "usage", "'odd' is not one of 'factual'"),
        ((*GATE, "--format", "convergence", "--similarity", "high"), "usage", "found 'high'"),
        ((*GATE, "--format", "convergence", "--similarity", "1.5"), "invalid_case", "[--similarity]"),
        ((*GATE, "--format", "convergence", "--similarity", "nan"), "invalid_case", "found NaN [--similarity]"),
        ((*GATE, "--format", "convergence", "--similarity", "inf"), "invalid_case", "[--similarity]"),
        ((*GATE, "--format", "panel", "--debaters", "1"), "invalid_case", "found 1 [--debaters]"),
        ((*GATE, "--format", "convergence", "--debaters", "99"), "invalid_case", "found 99 [--debater, --debaters]"),
        ((*GATE, "--format", "ballot", "--debater", "a"), "invalid_case", "found 1 [--debater]"),
        ((*GATE, "--options", "nowhere.json"), "no_file", "there is no file nowhere.json"),
        (("review", "--sample", "contract/ballot", "--persona", "judge=x"), "usage", "are legal, risk, procurement"),
        (("review", "--sample", "contract/ballot", "--threshold", "4"), "invalid_case", "[--threshold]"),
        (("report", "x", "--pdf", "--html"), "usage", "--html and --pdf contradict each other"),
        (("report", "x", "--html", "-o", "r.pdf"), "usage", "--html and the suffix of r.pdf contradict each other"),
        (("report", "x", "-o", "."), "usage", "-o . is a folder; name a file in it"),
        (("review", "--sample", "contract", "--rounds", "9"), "invalid_case", "found 9 [--rounds]"),
        (("review", "--sample", "contract", "--ceiling", "0.001"), "ceiling_too_small", "[--ceiling]"),
        (("review", "--sample", "contract", "--ceiling", "-1"), "invalid_case", "[--ceiling]"),
        (("review", "--sample", "contract", "--deadline", "soon"), "invalid_case", "RFC 3339"),
        (("review", "--sample", "contract", "--question", " "), "invalid_case", "question is empty"),
        (("review", "--sample", "contract", "--persona", "critic"), "usage", "name=text"),
        (("review", "--sample", "contract", "--later", "a.txt"), "bad_file", "FILE:ROUND"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line_before_anything_starts(
    run: Run, data_folder: Path, arguments: Sequence[str], code: str, words: str
) -> None:
    ended = run(*arguments)

    assert ended.code == exit_codes.USAGE
    assert ended.err.startswith(f"gainsay: {code}: ")
    assert words in ended.err
    assert ended.out == ""
    assert not data_folder.exists()


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("[1]", "invalid_case", "expected the options as one JSON object in"),
        ('{"maxRounds": "two"}', "wrong_shape", "[--rounds]"),
        ('{"maxRound": 2}', "wrong_shape", "unknown field 'maxRound'; adversarial may have: maxRounds, min"),
        ('{"maxRound": 2}', "wrong_shape", "positions, personas, models [--options]"),
        ('{"format": "shouting"}', "invalid_case", "unknown format 'shouting'; use one of: adversarial"),
        ('{"format": 3}', "wrong_shape", "expected 'string', got 'integer' [--format]"),
        (
            '{"format": "panel", "votes": ["a"]}',
            "invalid_case",
            "belongs to ballot, and this case asks for panel",
        ),
        ('{"debaters": 2}', "invalid_case", "this case asks for adversarial, which knows: maxRounds"),
    ],
)
def test_a_file_of_options_that_cannot_be_used_is_refused(
    run: Run, tmp_path: Path, content: str, code: str, words: str
) -> None:
    path = tmp_path / "options.json"
    path.write_text(content)

    ended = run(*GATE, "--options", path)

    assert ended.code == exit_codes.USAGE
    assert ended.err.startswith(f"gainsay: {code}: ")
    assert words in ended.err


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (
            (
                "--format",
                "stances",
                "--debater",
                "ops=ship now",
                "--debater",
                "risk=wait",
                "--persona",
                "ops=An operator.",
            ),
            {
                "debaters": [
                    {"name": "ops", "stance": "ship now", "role": "An operator."},
                    {"name": "risk", "stance": "wait"},
                ]
            },
        ),
        (
            ("--format", "stances", "--debater", "a=b", "--no-synthesizer", "--rounds", "3"),
            {"debaters": [{"name": "a", "stance": "b"}], "synthesizer": False, "maxRounds": 3},
        ),
        (
            (
                "--format",
                "ballot",
                "--debater",
                "a",
                "--debater",
                "b",
                "--vote",
                "yes",
                "--vote",
                "no",
                "--threshold",
                "2",
            ),
            {"debaters": [{"name": "a"}, {"name": "b"}], "votes": ["yes", "no"], "consensusThreshold": 2},
        ),
        (
            ("--format", "panel", "--debaters", "4", "--question-type", "belief", "--adjudicator", "model"),
            {"debaters": 4, "questionType": "belief", "adjudicator": "model"},
        ),
        (
            ("--format", "convergence", "--debaters", "2", "--similarity", "0.9", "--no-judge"),
            {"debaters": 2, "convergenceSimilarity": 0.9, "judge": False},
        ),
    ],
)
def test_each_option_of_a_format_is_a_member_of_the_request(
    run: Run, contract: Path, arguments: Sequence[str], options: dict[str, object]
) -> None:
    ended = run(*REVIEW, contract, *arguments, "--print-request")

    body = json.loads(ended.out)
    assert ended.code == exit_codes.DONE
    assert body["options"] == {"format": arguments[1], **options}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ((), "panel"),
        (("--format", "convergence"), "convergence"),
    ],
)
def test_a_file_of_options_may_name_the_format_which_the_command_line_overrides(
    run: Run, contract: Path, tmp_path: Path, said: Sequence[str], expected: str
) -> None:
    path = tmp_path / "options.json"
    path.write_text('{"debaters": 4, "format": "panel"}')

    ended = run(*REVIEW, contract, "--options", path, *said, "--print-request")

    assert json.loads(ended.out)["options"] == {"format": expected, "debaters": 4}


def test_a_case_without_any_option_leaves_the_format_to_policy_and_names_it_with_one(run: Run, contract: Path) -> None:
    bare, with_rounds = (run(*REVIEW, contract, *said, "--print-request") for said in ((), ("--rounds", "2")))

    assert "options" not in json.loads(bare.out)
    assert json.loads(with_rounds.out)["options"] == {"format": "adversarial", "maxRounds": 2}


def test_options_of_a_file_stand_over_a_samples_and_under_what_is_said(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "object"}')
    monkeypatch.setattr("sys.stdin", io.StringIO('{"maxRounds": 1, "shuffleForJudge": false}'))

    ended = run(
        *("review", "--sample", "contract/stances", "--options", "-", "--rounds", "3", "--output-schema", schema),
        "--print-request",
    )

    options = json.loads(ended.out)["options"]
    assert (options["maxRounds"], options["shuffleForJudge"]) == (3, False)
    assert options["outputSchema"] == {"type": "object"}
    assert [d["name"] for d in options["debaters"]] == ["bank", "supplier", "hosting"]


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (b"Liability is capped \x96 mostly.", "bad_file", "byte 0x96 at offset 20"),
        (b"%PDF-1.7 ...", "bad_file", "found a PDF"),
        ("Liability".encode("utf-16"), "bad_file", "found UTF-16"),
        (b"cap\x00ped", "bad_file", "NUL character at offset 3"),
        (b" \n ", "bad_file", "is empty"),
    ],
)
def test_a_file_that_is_no_text_is_refused_by_name(
    run: Run, tmp_path: Path, content: bytes, code: str, words: str
) -> None:
    path = tmp_path / "odd.txt"
    path.write_bytes(content)

    ended = run(*REVIEW, path)

    assert ended.code == exit_codes.USAGE
    assert ended.err.startswith(f"gainsay: {code}: ")
    assert str(path) in ended.err
    assert words in ended.err


def test_a_folder_and_a_file_that_is_too_large_are_refused_by_name(run: Run, tmp_path: Path) -> None:
    large = tmp_path / "large.txt"
    with large.open("wb") as file:
        file.truncate(30_000_000)

    folder, too_large = run(*REVIEW, tmp_path), run(*REVIEW, large)

    assert (folder.code, too_large.code) == (exit_codes.USAGE, exit_codes.USAGE)
    assert "found a folder" in folder.err
    assert too_large.err.startswith(f"gainsay: too_large: {large} has 30000000 bytes")


@pytest.mark.parametrize("said", ["1_0", "\u0663", "\uff15"])
def test_an_amount_is_read_from_digits_that_stand_together(run: Run, said: str) -> None:
    """Python reads 1_0 as ten, and no one else does."""
    ended = run("gate", "--task-type", "contract", "--downside", said)

    assert ended.code == exit_codes.USAGE
    assert f"expected a number such as 250000 or 0.55, found {said!r}" in ended.err


@pytest.mark.parametrize(
    "words",
    [
        GATE,
        ("signer", "--key", "file:none", "--heads", "none"),
        ("witness", *"--key file:none --heads h --log k".split()),
        ("mcp", "--http", "--server", "http://127.0.0.1:9"),
    ],
    ids=lambda words: words[0],
)
def test_an_unknown_setting_is_a_matter_of_usage(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Also where no other setting is read: a signer whose token is misspelt has none, and serves all of its machine."""
    monkeypatch.setenv("GAINSAY_LOG_FORMAT", "text")
    monkeypatch.setenv("GAINSAY_SIGNER_TOKN", "0123456789abcdef")

    ended = run(*words)

    assert ended.code == exit_codes.USAGE
    assert "bad_settings: unknown setting GAINSAY_SIGNER_TOKN; did you mean GAINSAY_SIGNER_TOKEN?" in ended.err


@pytest.mark.parametrize("variable", ["GAINSAY_SEQUENCER_URL", "GAINSAY_MIGRATE_URL"])
def test_a_server_that_is_named_for_others_and_not_for_the_service_is_not_replaced_by_the_embedded_one(
    run: Run, monkeypatch: pytest.MonkeyPatch, data_folder: Path, variable: str
) -> None:
    monkeypatch.delenv("GAINSAY_DATABASE_URL", raising=False)
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(data_folder))
    monkeypatch.setenv(variable, "postgresql://gainsay:sesame@127.0.0.1:1/gainsay")

    ended = run("audit", "rotate", "--all", "--key", "not-asked+for+it")

    assert ended.code == exit_codes.USAGE
    assert ended.err.startswith(f"gainsay: bad_settings: expected GAINSAY_DATABASE_URL beside {variable}, found none")
    assert "sesame" not in ended.err
    assert not data_folder.exists()


# -- what fails: exit 3


def test_a_database_that_is_down_fails_without_its_password(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAINSAY_DATABASE_URL", "postgresql://gainsay:sesame@127.0.0.1:1/gainsay")

    ended = run("review", "--sample", "contract")

    assert ended.code == exit_codes.FAILED
    assert ended.err.startswith("gainsay: store_unavailable: ")
    assert "sesame" not in ended.err
    assert ended.out == ""


@pytest.mark.parametrize("variable", ["GAINSAY_DATABASE_URL", "GAINSAY_MIGRATE_URL"])
@pytest.mark.parametrize(
    "url",
    [
        "mysql://gainsay:sesame@127.0.0.1/gainsay",
        "postgresql://gainsay:sesame@[127.0.0.1/gainsay",
        "postgresql://gainsay:open@sesame@127.0.0.1/gainsay",
        "postgresql://gainsay:sesame/open@127.0.0.1/gainsay",
        "sesame",
    ],
)
def test_an_address_that_cannot_be_read_is_named_and_never_shown(
    run: Run, monkeypatch: pytest.MonkeyPatch, variable: str, url: str
) -> None:
    monkeypatch.setenv(variable, url)
    monkeypatch.setenv("GAINSAY_LOG_LEVEL", "DEBUG")

    ended = run(*(("migrate",) if variable == "GAINSAY_MIGRATE_URL" else ("review", "--sample", "contract")))

    assert ended.code == exit_codes.USAGE
    assert ended.err.startswith("gainsay: bad_settings: ")
    assert variable in ended.err
    assert "sesame" not in ended.err


def test_prompts_that_are_not_those_of_the_pin_fail(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAINSAY_PROMPTS_PIN", "0" * 64)

    ended = run("review", "--sample", "contract")

    assert ended.code == exit_codes.FAILED
    assert ended.err.startswith("gainsay: prompt_changed: ")


def test_a_fault_is_one_line_and_its_place_is_told_on_request(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("wires crossed\nand a second line")

    monkeypatch.setattr("service.cli.gate.read_settings", broken)
    plain = run(*GATE)
    monkeypatch.setenv("GAINSAY_LOG_LEVEL", "DEBUG")
    told = run(*GATE)

    assert (plain.code, told.code) == (exit_codes.FAILED, exit_codes.FAILED)
    assert plain.err == "gainsay: internal: RuntimeError: wires crossed; GAINSAY_LOG_LEVEL=DEBUG shows where\n"
    assert "Traceback" in told.err


# -- prompts


@pytest.fixture
def prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the prompts that may be edited."""
    import shutil

    from service.prompts import DIRECTORY

    folder = tmp_path / "prompts"
    shutil.copytree(DIRECTORY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("service.cli.prompts.DIRECTORY", folder)
    return folder


def test_prompts_verify_names_every_problem_and_exits_1(run: Run, prompts: Path) -> None:
    assert run("prompts", "verify").code == exit_codes.DONE

    (prompts / "critic.v1.md").write_text("Be nice.")
    (prompts / "house.v1.md").unlink()
    ended = run("prompts", "verify")

    assert ended.code == exit_codes.NEGATIVE
    assert "'critic' does not match its manifest" in ended.err
    assert "prompts/house.v1.md is missing" in ended.err


def test_prompts_pin_says_what_was_and_what_is(run: Run, prompts: Path) -> None:
    before = run("prompts", "list").out.splitlines()[-1].partition("=")[2]
    (prompts / "critic.v1.md").write_text("Be strict.")

    ended = run("prompts", "pin")

    after = run("prompts", "list").out.splitlines()[-1].partition("=")[2]
    assert ended.code == exit_codes.DONE
    assert f"pin before: {before}" in ended.out
    assert f"pin now:    {after}" in ended.out
    assert "changed  critic v1" in ended.out
    assert before != after
    assert run("prompts", "pin").out == f"nothing has changed; the pin is {after}\n"


# -- citations


def _check(request: object, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "service", "citations", "check", *options]
    return subprocess.run(command, input=json.dumps(request), capture_output=True, text=True, check=False)


def test_citations_are_judged_one_a_line(run: Run) -> None:
    text = "The cap is three times the fees. The cap is three times the fees."
    request = {
        "sources": [{"id": "D1", "text": text}],
        "citations": [
            {"id": "a", "sourceId": None, "quote": "The cap is three times the fees.", "location": {"charStart": 33}},
            {"id": "b", "sourceId": "D1", "quote": "The cap is four times the fees."},
            {"id": "c", "sourceId": "D9", "quote": "Nobody ever wrote this down."},
        ],
    }

    done, required = _check(request), _check(request, "--require-verified")

    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["id"], line["verdict"]) for line in lines] == [
        ("a", "verified"),
        ("b", "altered"),
        ("c", "not_found"),
    ]
    assert (lines[0]["sourceId"], lines[0]["span"]) == ("D1", [33, 65])
    assert lines[0]["note"] == "stands 2 times in this document"
    assert lines[1]["edits"] == [{"kind": "number", "from": "three", "to": "four", "material": True}]
    assert (done.returncode, required.returncode) == (0, 1)


@pytest.mark.parametrize(
    "request_", [[], {"sources": []}, {"sources": [{"id": "a", "text": "x"}] * 2, "citations": []}]
)
def test_citations_that_cannot_be_read_are_a_matter_of_usage(request_: object) -> None:
    done = _check(request_)

    assert done.returncode == exit_codes.USAGE
    assert done.stderr.startswith(("gainsay: wrong_shape: ", "gainsay: bad_request: "))
    assert done.stdout == ""


# -- review, report, replay


def test_review_as_json_prints_json_alone_and_every_verified_quotation_is_in_its_document(
    run_stored: Run, contract: Path
) -> None:
    ended = run_stored(*REVIEW, contract, "--json")

    result = json.loads(ended.out)
    text = contract.read_text()
    checked = [
        citation
        for round_ in result["rounds"]
        for part in (round_["proposerPosition"], round_["criticPosition"])
        for citation in part["evidence_cited"]
    ]
    assert ended.code == exit_codes.DONE
    assert result["status"] == "completed"
    assert checked
    for citation in checked:
        if citation["verdict"] == "verified":
            assert text[slice(*citation["span"])] == citation["text"]


def test_review_shows_progress_on_one_stream_and_the_result_on_the_other(run_stored: Run) -> None:
    ended = run_stored("review", "--sample", "contract")

    assert ended.code == exit_codes.DONE
    assert re.search(r"Critic +\d points?, strength \d+/10", ended.err)
    assert "USD left" in ended.err
    assert "SIMULATED" in ended.out
    assert "Human review" in ended.out
    assert "✓ “" in ended.out
    assert "strength" in ended.out
    assert "\x1b" not in ended.out + ended.err
    assert max(map(len, (ended.out + ended.err).splitlines())) <= 80


@pytest.mark.parametrize(
    ("sample", "live", "told"),
    [
        ("contract/stances", "Judge", "CHOSEN"),
        ("contract/ballot", "proposal:", "decision_rule: "),
        ("architecture/panel", "Consensus", "Accuracy "),
        ("contract/convergence", "Round 0", "Word overlap"),
    ],
)
def test_every_format_is_reviewed_with_what_suits_it_on_either_stream_and_ends_with_0(
    run_stored: Run, sample: str, live: str, told: str
) -> None:
    ended = run_stored("review", "--sample", sample)

    assert ended.code == exit_codes.DONE
    assert live in ended.err
    assert told in ended.out
    assert re.search(r"confidence (HIGH|MODERATE|LOW); ", " ".join(ended.out.split()))


def test_a_panel_without_consensus_is_an_answer_and_ends_with_0(run_stored: Run) -> None:
    ended = run_stored("review", "--sample", "compliance/panel", "--rounds", "1")

    assert ended.code == exit_codes.DONE
    assert "SPLIT, NOT CHALLENGED, confidence LOW" in ended.out
    assert "it ended before anybody had read another's answer" in " ".join(ended.out.replace("┃", "").split())


def test_a_ceiling_that_pays_for_no_critic_is_refused_and_a_heard_critic_is_not_denied(run_stored: Run) -> None:
    ended = run_stored("review", "--sample", "contract", "--ceiling", "0.07")
    heard = run_stored("review", "--sample", "architecture/positions")

    assert ended.code == exit_codes.USAGE
    assert "ceiling_too_small" in ended.err
    assert "one critique" in ended.err
    assert "NONE was heard" not in heard.out
    assert "NOT CHALLENGED" not in heard.out


def test_a_reviewed_debate_can_be_reported_in_every_form_and_replayed(run_stored: Run, tmp_path: Path) -> None:
    debate = json.loads(run_stored("review", "--sample", "security", "--json").out)["debateId"]

    told = {form: run_stored("report", debate, f"--{form}") for form in ("markdown", "html", "json")}
    page, replayed = run_stored("show", debate), run_stored("replay", debate)
    newest, beginning = run_stored("replay", "last"), run_stored("replay", debate[:13])
    none = run_stored("replay", "not-an-id")

    assert told["markdown"].out.startswith("#")
    assert told["html"].out.lower().startswith("<!doctype html>")
    assert json.loads(told["json"].out)["debateId"] == debate
    assert debate in page.out
    assert replayed.code == exit_codes.DONE
    assert re.match(r"\d+ entries replay, and the money agrees: 0\.\d+ USD spent\n", replayed.out)
    assert newest.out == beginning.out == replayed.out
    assert "give its id, 8 or more of its first digits, or last" in none.err


def test_a_report_is_written_by_the_suffix_of_its_file(run_stored: Run, tmp_path: Path) -> None:
    debate = json.loads(run_stored("review", "--sample", "security", "--json").out)["debateId"]

    written = run_stored("report", debate, "-o", tmp_path / "r.pdf")
    nowhere = run_stored("report", debate, "-o", "/proc/nowhere/r.html")
    unclear = run_stored("report", debate, "-o", tmp_path / "r.docx")

    assert written.code == exit_codes.DONE
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF-")
    assert (nowhere.code, nowhere.err.split(": ")[1]) == (exit_codes.FAILED, "cannot_write")
    assert unclear.code == exit_codes.USAGE


def test_a_debate_that_is_not_there_is_not_reported(run_stored: Run) -> None:
    ended = run_stored("report", "01980000-0000-7000-8000-000000000000", "--html")

    assert ended.code == exit_codes.USAGE
    assert ended.err.startswith("gainsay: not_found: ")


def test_review_that_the_gate_declines_exits_1_and_says_why(run_stored: Run, contract: Path) -> None:
    ended = run_stored(*REVIEW, contract, "--not-contested", "--json")
    told = run_stored(*REVIEW, contract, "--not-contested")

    assert (ended.code, told.code) == (exit_codes.NEGATIVE, exit_codes.NEGATIVE)
    assert json.loads(ended.out)["status"] == "declined"
    assert "NO DEBATE" in told.out
    assert "Would change it" in told.out


def test_options_reach_the_case(run_stored: Run, contract: Path, tmp_path: Path) -> None:
    later = tmp_path / "side-letter.txt"
    later.write_text("The parties agree that Section 2 of the Agreement applies to the indemnity as well.\n")

    ended = run_stored(
        *(*REVIEW, contract, "--json", "--later", f"{later}:2", "--rounds", "2", "--persona", "critic=A litigator."),
        *(
            "--model",
            "critic=cedar-large",
            "--answer",
            "It is capped.",
            "--metadata",
            "ticket=A-1",
            "--confidence",
            "0.4",
        ),
        *("--use-case", "vendor file", "--intended-use", "rating", "--materiality", "low", "--force", "wanted"),
    )

    result = json.loads(ended.out)
    case = result["case"]
    assert [(d["title"], d.get("round", 1)) for d in case["documents"]] == [
        ("agreement.txt", 1),
        ("side-letter.txt", 2),
    ]
    assert result["options"]["personas"] == {"critic": "A litigator."}
    assert {seat["seat"]: seat["alias"] for seat in result["seats"]}["critic"] == "cedar-large"
    assert case["singleAgentAnswer"] == "It is capped."
    assert case["metadata"] == {"ticket": "A-1"}
    assert (case["useCase"], case["intendedUse"], case["materiality"]) == ("vendor file", "rating", "low")
    assert result["gate"]["decidedBy"] == "forced"
    assert len(result["rounds"]) == 2


def test_print_request_prints_a_body_that_says_the_same(run: Run) -> None:
    ended = run("review", "--sample", "architecture/positions", "--print-request")

    body = json.loads(ended.out)
    assert ended.code == exit_codes.DONE
    assert body["taskType"] == "architecture"
    assert len(body["options"]["positions"]) == 3
    assert "force" not in body


# -- what others wrote


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[31mAPPROVED\x1b[0m \x9b1A\u202edexif\u202c \x07\x08"


def test_no_control_character_of_a_document_reaches_the_terminal(run_stored: Run, tmp_path: Path) -> None:
    document = tmp_path / "a\x1b[31mred.txt"
    document.write_text(
        f"1. {HOSTILE}The Supplier shall indemnify the Customer against all losses {HOSTILE} from a breach.\n\n"
        f"2. The Supplier's aggregate liability shall not exceed the fees paid {HOSTILE} in twelve months.\n"
    )

    ended = run_stored(
        "review", "--task-type", "contract", "--downside", "9e5", "--question", f"Capped? {HOSTILE}", document
    )

    assert ended.code == exit_codes.DONE
    assert "Capped?" in ended.out
    unseen = {c for c in ended.out + ended.err if unicodedata.category(c) in ("Cc", "Cf") and c != "\n"}
    assert unseen == set()


@given(st.text())
def test_cleaned_text_never_holds_a_character_that_acts(text: str) -> None:
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]", clean(text)
    )
    assert len(short(text, 20)) <= 20


def test_a_terminal_without_unicode_is_shown_the_nearest() -> None:
    code = "from service.cli import main; main(['--help']); print('✓ “a” – …')"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)

    assert done.stdout.splitlines()[-1] == '+ "a" - ...'


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("aborted", "gainsay: aborted: the debate was aborted; spent 0.01 USD\n"),
        ("completed", "gainsay: interrupted: too late to abort: the debate is completed; spent 0.01 USD\n"),
    ],
)
def test_ctrl_c_is_said_to_abort_only_what_it_aborted(
    capsys: pytest.CaptureFixture[str], status: Status, words: str
) -> None:
    foreground._print_aborted(Aborted("01980000-0000-7000-8000-000000000000", status, spent="0.01", held="0", calls=0))

    assert capsys.readouterr().err == words


async def test_a_demo_whose_worker_cannot_go_on_ends_and_says_why(
    module_database: Database, heads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> InjectionFound:
        raise RuntimeError("no such luck")

    monkeypatch.setitem(injection.INJECTIONS, "injection/1", broken)
    settings = settings_for(module_database.service_url, **sequenced(module_database.service_url, heads))
    where = DatabaseAddresses(module_database.service_url, settings.sequencer_url)

    with pytest.raises(DebateUnfinished, match="is recorded but not finished"):
        await show._run(Console(file=io.StringIO()), settings, where, a_case())


def test_a_fault_in_a_debate_ends_the_review_and_leaves_the_debate_to_the_next_worker(
    run_stored: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> InjectionFound:
        raise RuntimeError("no such luck")

    with monkeypatch.context() as patch:
        patch.setitem(injection.INJECTIONS, "injection/1", broken)
        ended = run_stored("review", "--sample", "security")
    debate = re.findall(r"debate ([0-9a-f-]{36}) is recorded but not finished", ended.err)[0]
    stands = json.loads(run_stored("report", debate, "--json").out)

    assert ended.code == exit_codes.FAILED
    assert "gainsay: debate_unfinished: " in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""
    assert stands["status"] == "queued"
