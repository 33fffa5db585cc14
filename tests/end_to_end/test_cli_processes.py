"""The commands as processes of their own: the demo, Ctrl-C, serving and working until a signal comes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service.policy.settings import SHIPPED_POLICY
from service.store.embedded.server import stop_server
from tests.fixtures.postgres import SEQUENCERS, Database
from tests.fixtures.serving import sequenced

pytestmark = pytest.mark.long

Start = Callable[..., "subprocess.Popen[str]"]
PATIENCE_S = 30.0


@pytest.fixture
def environment(data_folder: Path) -> dict[str, str]:
    return {**os.environ, "GAINSAY_DATA_DIR": str(data_folder), "PYTHONUNBUFFERED": "1", "GAINSAY_DRAIN_S": "0"}


@pytest.fixture
def start(environment: dict[str, str], data_folder: Path, tmp_path: Path) -> Iterator[Start]:
    """Start a command whose standard error goes to a file; whatever still runs at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def call(*arguments: str, **more: str) -> subprocess.Popen[str]:
        if (url := more.get("GAINSAY_DATABASE_URL")) in SEQUENCERS:
            more = {**sequenced(str(url), tmp_path), **more}
        with (tmp_path / f"stderr-{len(started)}").open("w") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-m", "service", *arguments],
                env={**environment, **more},
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        started.append(process)
        return process

    yield call
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    stop_server(data_folder / "postgres")  # warm, or left by processes that were killed


def heard(path: Path, words: str) -> str:
    """The text of a file, once the words are in it."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if re.search(words, text := path.read_text()):
            return text
        time.sleep(0.02)
    raise AssertionError(f"{words!r} did not come within {PATIENCE_S} s: {path.read_text()}")


def test_the_demo_shows_both_runs_replays_them_and_leaves_the_reports(
    environment: dict[str, str], data_folder: Path
) -> None:
    begun = time.monotonic()

    done = subprocess.run(
        [sys.executable, "-m", "service", "demo"], env=environment, capture_output=True, text=True, check=False
    )

    honest, scripted = done.stdout.split("2 A run in which things go wrong")
    told = " ".join(scripted.split())
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert time.monotonic() - begun < 60
    assert "SIMULATED" in honest
    assert "Completed" in honest
    assert "the critic is asked again" in told
    assert "NOT FOUND" not in honest
    assert "argument 3 STRUCK, because it rests on a quotation that is not verified" in told
    assert "money: Critic is not asked" in told
    assert "Moderator modified, confidence MODERATE" in told.partition("Critic is not asked")[2]
    assert "TRUNCATED · MODIFIED" in told
    assert "DEBATE_TRUNCATED" in told
    assert "LOW (the moderator said MODERATE; lowered because" in told
    assert "Both debates agree with themselves." in told
    assert "\x1b" not in done.stdout
    for name in ("honest-run", "scripted-run"):
        assert (data_folder / "demo" / f"{name}.html").stat().st_size > 10_000
        assert (data_folder / "demo" / f"{name}.zip").stat().st_size > 10_000
    assert re.search(r"^ *\d+ +signature +OK ", done.stdout, re.MULTILINE)
    assert "VERIFIED, UNWITNESSED" in done.stdout
    verify = next(line for line in done.stdout.splitlines() if "audit verify" in line).split()
    again = subprocess.run([sys.executable, "-m", "service", *verify[1:]], capture_output=True, text=True, check=False)
    assert (again.returncode, again.stdout.splitlines()[-1]) == (0, "VERIFIED, UNWITNESSED")


def test_the_demo_of_another_format_is_one_run_of_its_own_sample_that_verifies(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "service", "demo", "--format", "ballot"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert re.search(r"  legal +votes \w+, \d+ arguments", done.stdout)
    assert "The debate agrees with itself." in done.stdout
    assert "go wrong on purpose" not in done.stdout
    assert "by the rules of ballot/1" in done.stdout
    assert "demo --format panel" in done.stdout
    assert "demo --format ballot" not in done.stdout
    assert "VERIFIED, UNWITNESSED" in done.stdout


def test_the_demo_writes_nothing_into_a_configured_database(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "service", "demo"],
        env={**environment, "GAINSAY_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


def test_ctrl_c_aborts_the_debate_and_says_what_was_spent(start: Start, database: Database, tmp_path: Path) -> None:
    policy = tmp_path / "slow.toml"
    policy.write_text(SHIPPED_POLICY.read_text().replace('kind = "offline"', 'kind = "offline"\nlatency_ms = 1500'))
    process = start(
        *("review", "--sample", "contract", "--json"),
        GAINSAY_DATABASE_URL=database.service_url,
        GAINSAY_POLICY=str(policy),
    )
    heard(tmp_path / "stderr-0", r"Round 1")

    process.send_signal(signal.SIGINT)

    out, _ = process.communicate(timeout=PATIENCE_S)
    result, err = json.loads(out), (tmp_path / "stderr-0").read_text()
    assert process.returncode == 3
    assert re.search(
        r"gainsay: aborted: the debate was aborted; spent 0\.\d+ USD; waiting for 1 call in flight, at most 0\.\d+ USD "
        r"more; Ctrl-C again cancels it and books that as held\n",
        err,
    )
    assert "starting PostgreSQL" not in err
    assert "Traceback" not in err
    assert (result["status"], result["stopReason"]) == ("aborted", "aborted")
    assert result["overallCost"]["heldUSD"] == "0.00"


def test_a_second_ctrl_c_ends_at_once_and_the_next_review_joins_the_server_and_closes_the_books_in_silence(
    start: Start, data_folder: Path, tmp_path: Path
) -> None:
    """A review before it was killed. That one finds its debate lost, and its log does not say so here."""
    hanging = tmp_path / "hanging.toml"
    hanging.write_text(SHIPPED_POLICY.read_text().replace('kind = "offline"', 'kind = "offline"\nlatency_ms = 600000'))
    words = ("review", "--sample", "contract", "--format", "ballot")
    slow = {"GAINSAY_POLICY": str(hanging), "GAINSAY_LEASE_S": "0.5", "GAINSAY_GRACE_S": "600", "GAINSAY_WARM_S": "600"}
    killed = start(*words, **slow)
    heard(tmp_path / "stderr-0", r"Round 1")
    killed.kill()
    cancelled = start(*words, **slow)
    heard(tmp_path / "stderr-1", r"Round 1")

    cancelled.send_signal(signal.SIGINT)
    heard(tmp_path / "stderr-1", r"waiting for [1-9] calls? in flight, at most 0\.\d+ USD more; Ctrl-C again cancels")
    cancelled.send_signal(signal.SIGINT)
    out, _ = cancelled.communicate(timeout=PATIENCE_S)

    said = (tmp_path / "stderr-1").read_text()
    found = re.search(
        r"interrupted: calls cancelled; debate (\S+) is aborted, spent 0.00 USD; (0\.\d+) USD held for", said
    )
    assert found is not None, said
    assert (cancelled.returncode, out) == (3, "")
    debate, held = found.groups()
    after = start("review", "--sample", "security", "--json", GAINSAY_WARM_S="600")
    result, _ = after.communicate(timeout=PATIENCE_S)
    assert json.loads(result)["status"] == "completed"
    assert "WARNING" not in said + (tmp_path / "stderr-2").read_text()
    told = start("report", debate, "--json", GAINSAY_WARM_S="0").communicate(timeout=PATIENCE_S)[0]
    aborted = json.loads(told)
    assert (aborted["status"], aborted["overallCost"]["heldUSD"]) == ("aborted", "0.00")
    assert aborted["overallCost"]["spentUSD"] == held
    assert "joining the PostgreSQL that runs here" in (tmp_path / "stderr-3").read_text()


def test_a_warm_server_is_stopped_by_its_command(start: Start, data_folder: Path, tmp_path: Path) -> None:
    def stopped() -> tuple[int, str]:
        process = start("stop")
        out, _ = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out.split(str(data_folder))[0]

    serving = start("serve", "--port", "0", GAINSAY_WARM_S="600")
    heard(tmp_path / "stderr-0", r"serving on http")

    assert stopped() == (1, "other commands use the PostgreSQL of ")
    start("migrate", GAINSAY_WARM_S="600").communicate(timeout=PATIENCE_S)
    serving.send_signal(signal.SIGTERM)
    serving.communicate(timeout=PATIENCE_S)
    assert stopped() == (0, "no PostgreSQL runs for ")  # one that serves leaves none warm
    start("migrate", GAINSAY_WARM_S="600").communicate(timeout=PATIENCE_S)
    assert stopped() == (0, "stopped the PostgreSQL of ")


def test_a_look_at_a_warm_server_leaves_it_warm(start: Start) -> None:
    start("migrate", GAINSAY_WARM_S="600").communicate(timeout=PATIENCE_S)
    start("doctor", GAINSAY_WARM_S="600").communicate(timeout=PATIENCE_S)

    out, _ = start("stop").communicate(timeout=PATIENCE_S)
    assert out.startswith("stopped the PostgreSQL of ")


def test_serve_answers_until_sigterm(start: Start, database: Database, tmp_path: Path) -> None:
    process = start("serve", "--port", "0", GAINSAY_DATABASE_URL=database.service_url)
    said = heard(tmp_path / "stderr-0", r"serving on http\S+")
    address = re.findall(r"serving on (http\S+)", said)[0]

    with urllib.request.urlopen(f"{address}/readyz", timeout=10) as answer:
        ready = answer.status
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE_S)

    assert ready == 200
    assert process.returncode == 0
    assert "Traceback" not in (tmp_path / "stderr-0").read_text()


def test_an_address_that_is_taken_fails_in_one_line(start: Start, database: Database, tmp_path: Path) -> None:
    start("serve", "--port", "0", GAINSAY_DATABASE_URL=database.service_url)
    port = re.findall(r"serving on \S+:(\d+) ", heard(tmp_path / "stderr-0", r"serving on http\S+ "))[0]

    second = start("serve", "--port", port, GAINSAY_DATABASE_URL=database.service_url)
    second.communicate(timeout=PATIENCE_S)

    assert second.returncode == 3
    assert (tmp_path / "stderr-1").read_text().startswith("gainsay: cannot_listen: ")


@pytest.mark.parametrize("command", ["serve", "work"])
def test_a_setting_that_cannot_be_used_ends_with_the_exit_code_of_the_help(
    command: str, start: Start, tmp_path: Path
) -> None:
    process = start(command, GAINSAY_WAIT_S="soon")
    process.communicate(timeout=PATIENCE_S)
    shown, _ = start(command, "--help").communicate(timeout=PATIENCE_S)

    (code,) = re.findall(r"(\d)  .*\bsetting\b.* cannot be used", shown)
    assert process.returncode == int(code) == 2
    assert (tmp_path / "stderr-0").read_text().startswith("gainsay: bad_settings: ")


def test_a_worker_takes_what_a_server_without_one_has_queued(start: Start, database: Database, tmp_path: Path) -> None:
    start("serve", "--port", "0", "--no-worker", GAINSAY_DATABASE_URL=database.service_url)
    address = re.findall(r"serving on (http\S+)", heard(tmp_path / "stderr-0", r"serving on http\S+ "))[0]
    body = subprocess.run(
        [sys.executable, "-m", "service", "review", "--sample", "security", "--print-request"],
        capture_output=True,
        check=True,
    ).stdout
    request = urllib.request.Request(f"{address}/v1/debates", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        debate = json.load(answer)["debateId"]

    worker = start("work", GAINSAY_DATABASE_URL=database.service_url)

    until = time.monotonic() + PATIENCE_S
    status = "queued"
    while status in ("queued", "running") and time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"{address}/v1/debates/{debate}?view=full", timeout=10) as answer:
                status = json.load(answer)["status"]
        except urllib.error.HTTPError as held:  # it has ended, and no signed head covers that yet
            if held.code != 503:
                raise
        time.sleep(0.05)
    worker.send_signal(signal.SIGTERM)
    worker.communicate(timeout=PATIENCE_S)
    assert status == "completed"
    assert worker.returncode == 0


def test_migrate_applies_every_file_once(start: Start, empty_database: Database, tmp_path: Path) -> None:
    first = start("migrate", GAINSAY_MIGRATE_URL=empty_database.migrate_url)
    applied, _ = first.communicate(timeout=PATIENCE_S)
    second = start("migrate", GAINSAY_MIGRATE_URL=empty_database.migrate_url)
    again, _ = second.communicate(timeout=PATIENCE_S)

    assert (first.returncode, second.returncode) == (0, 0)
    assert applied.startswith("applied 0001_")
    assert again == "the database is up to date\n"


def test_migrate_refuses_the_services_own_role(start: Start, database: Database, tmp_path: Path) -> None:
    process = start("migrate", GAINSAY_DATABASE_URL=database.service_url)
    process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 2
    assert (tmp_path / "stderr-0").read_text().startswith("gainsay: bad_settings: expected GAINSAY_MIGRATE_URL")


def test_a_reader_that_goes_away_is_no_negative_answer(start: Start, database: Database, tmp_path: Path) -> None:
    process = start("review", "--sample", "security", GAINSAY_DATABASE_URL=database.service_url)
    assert process.stdout is not None

    process.stdout.close()

    assert process.wait(PATIENCE_S) == 3
    assert "Traceback" not in (tmp_path / "stderr-0").read_text()
    assert "Exception ignored" not in (tmp_path / "stderr-0").read_text()
