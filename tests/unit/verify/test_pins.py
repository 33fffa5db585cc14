"""Keys that are pinned for some logs, one use or some time are valid for nothing else, and a register pins nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click import UsageError
from click.testing import CliRunner, Result

from service.audit.bundle import pack, unpack
from service.audit.checkpoint import Checkpoint, cosign
from service.audit.note import COSIGNATURE, Note, SigningKey, parse_note, sign_note
from service.cli.audit.verify import tools, verify
from service.policy import RegisteredKey
from service.policy.faults import WrongSetting
from service.policy.file.witnesses import check_register
from service.verify.bundle import verify_bundle
from service.verify.log import check_signature, countersigned
from service.verify.steps import Differs, NotCheckable, Period, Trust, when
from tests.fixtures.bundles import LOG_KEY, OTHER_KEY, WITNESSES, Draft, failed, step, told
from tests.fixtures.bundles import verify as verified

BUNDLES = Path(__file__).parents[2] / "vectors" / "bundles"
LOG = "localhost/default/1"
DAY = timedelta(days=1)
Row = Mapping[str, Any]


def vkey(name: str) -> str:
    return (BUNDLES / f"{name}.vkey").read_text("ascii").strip()


def row(key: str, use: str, **more: Any) -> Row:
    return {"key": key, "use": use, **more}


@pytest.fixture
def pins(tmp_path: Path) -> Path:
    return tmp_path / "keys.toml"


def run(file: str | Path, pins: Path, rows: Sequence[Row], *options: str) -> Result:
    """The command with a file of pinned keys."""
    tables = ["\n".join(["[[audit.keys]]", *(f"{k} = {json.dumps(v)}" for k, v in each.items())]) for each in rows]
    pins.write_text("\n".join(tables), "utf-8")
    path = BUNDLES / f"{file}.zip" if isinstance(file, str) else file
    return CliRunner().invoke(verify, [str(path), "--keys", str(pins), *options], standalone_mode=False)


def says(found: Result) -> str:
    assert not isinstance(found.exception, UsageError), found.exception
    return " ".join(found.output.split())


def the_day() -> date:
    """The day on which the witness of the recorded bundle signed last."""
    report = verify_bundle((BUNDLES / "witnessed.zip").read_bytes(), trust(), tools())
    return datetime.fromisoformat(report.about["recorded"]["until"]["time"]).astimezone(UTC).date()


def trust(**periods: Period) -> Trust:
    from service.audit.note import PublicKey

    log, witness = PublicKey.parse(vkey("log")), PublicKey.parse(vkey("witness"))
    named = {"log": log, "witness": witness}
    return Trust((log,), (witness,), periods={named[name]: period for name, period in periods.items()})


# -- logs


def test_a_rotation_over_two_keys_verifies_with_both_and_fails_with_one_and_says_which_is_missing(
    pins: Path, tmp_path: Path
) -> None:
    new = row(vkey("log"), "log", logs=["localhost/default/2"])
    old = row(LOG_KEY.public.encode(), "log", logs=[LOG])
    first = Draft.of(unpack((BUNDLES / "declined.zip").read_bytes()))
    log = first.tree(witnesses=())
    before = tmp_path / "before.zip"
    before.write_bytes(pack(told(first, log).bundle(log)))

    for file in (before, BUNDLES / "witnessed.zip"):
        assert run(file, pins, [new, old], "--allow-unwitnessed", "--allow-unchecked-lines").return_value == 0
    lacking_old = run(before, pins, [new], "--allow-unwitnessed")
    lacking_new = run("witnessed", pins, [old], "--allow-unwitnessed")

    assert (lacking_old.return_value, lacking_new.return_value) == (1, 1)
    assert f"lines of localhost+{LOG_KEY.public.id.hex()}" in says(lacking_old)
    assert "pinned keys" in says(lacking_old)
    assert "localhost (for logs for localhost/default/1)" in says(lacking_new)


def test_a_key_that_is_pinned_for_another_log_of_its_host_signs_nothing_here(pins: Path) -> None:
    found = run("declined", pins, [row(vkey("log"), "log", logs=["localhost/default/2"])], "--allow-unwitnessed")

    assert found.return_value == 1
    assert "one for the log localhost/default/1" in says(found)


@pytest.mark.parametrize("logs", [["localhost"], ["localhost/default"], [LOG], []])
def test_a_key_is_pinned_for_the_logs_below_a_name(pins: Path, logs: list[str]) -> None:
    assert run("declined", pins, [row(vkey("log"), "log", logs=logs)], "--allow-unwitnessed").return_value == 0


def test_a_name_is_no_beginning_of_a_longer_one() -> None:
    period = Period(logs=("localhost/default/1",))

    assert period.covers("localhost/default/1")
    assert not period.covers("localhost/default/11")
    assert not period.covers("localhost/default")


def test_a_key_that_is_pinned_for_approvals_signs_no_log(pins: Path) -> None:
    found = run("declined", pins, [row(vkey("log"), "approver")], "--allow-unwitnessed")

    assert found.return_value == 1
    assert "localhost (for approvers)" in says(found)


# -- time


def dated(pins: Path, log: Row, witness: Row, *options: str) -> Result:
    return run(
        "witnessed", pins, [row(vkey("log"), "log", **log), row(vkey("witness"), "witness", **witness)], *options
    )


def days(first: int | None, last: int | None) -> Row:
    """A time around the day on which the witness signed."""
    ends = {"since": first, "until": last}
    return {name: (the_day() + each * DAY).isoformat() for name, each in ends.items() if each is not None}


@pytest.mark.parametrize("time", [(-1, 1), (-1, None), (None, 1)])
def test_within_its_time_a_key_of_a_log_or_of_a_witness_is_valid(pins: Path, time: tuple[int, int]) -> None:
    assert dated(pins, days(*time), days(*time)).return_value == 0


@pytest.mark.parametrize("time", [(None, -2), (2, None), (2, 3)])
def test_a_log_that_is_signed_outside_of_the_time_of_its_key_fails(pins: Path, time: tuple[int, int]) -> None:
    found = dated(pins, days(*time), {})

    assert found.return_value == 1
    assert "FAILED: step 2 (signature)" in says(found)
    assert "within the time of its key" in says(found)


@pytest.mark.parametrize("time", [(None, -2), (2, None)])
def test_a_witness_that_signed_outside_of_the_time_of_its_key_did_not_sign(pins: Path, time: tuple[int, int]) -> None:
    found = dated(pins, {}, days(*time))

    assert found.return_value == 1
    assert "FAILED: step 3 (witnesses)" in says(found)
    assert "for which its key is not pinned" in says(found)


def test_without_a_witness_nothing_says_whether_a_key_was_in_its_time(pins: Path) -> None:
    rows = [row(vkey("log"), "log", **days(-1, 1))]

    found = run("witnessed", pins, rows, "--allow-unchecked-lines")
    accepted = run("witnessed", pins, rows, "--allow-unchecked-lines", "--allow-unwitnessed")

    assert (found.return_value, accepted.return_value) == (4, 0)
    assert "UNDATED" in says(found)


def head_of(*cosigned: tuple[int, str]) -> tuple[Note, Checkpoint]:
    """A head by the log's key, with a cosignature of the nth witness on each of these days."""
    checkpoint = Checkpoint(LOG, 9, b"r" * 32)
    note = sign_note(checkpoint.body(), LOG_KEY).encode()
    signed_at = [(nth, int(datetime.fromisoformat(f"{day}T12:00:00+00:00").timestamp())) for nth, day in cosigned]
    lines = [cosign(checkpoint, seconds, WITNESSES[nth]) for nth, seconds in signed_at]
    return parse_note(note + "".join(lines).encode()), checkpoint


def until_2025(quorum: int) -> Trust:
    """The log's key pinned until the end of 2025, and three witnesses."""
    periods = {LOG_KEY.public: Period("log", until=date(2025, 12, 31))}
    return Trust((LOG_KEY.public,), tuple(key.public for key in WITNESSES[:3]), periods, quorum)


def test_one_witness_that_lies_about_the_time_does_not_bring_an_expired_key_back() -> None:
    """The key leaks after its time, and one of three witnesses dates its cosignature back for the thief."""
    forged = head_of((0, "2025-06-01"), (1, "2026-11-01"), (2, "2026-11-01"))

    with pytest.raises(Differs, match="first countersigned") as refused:
        check_signature(*forged, until_2025(quorum=2))

    assert refused.value.found == "2026-11-01T12:00:00Z"
    with pytest.raises(NotCheckable, match="fewer pinned witnesses than the quorum of 2"):
        check_signature(*head_of((0, "2025-06-01")), until_2025(quorum=2))


def test_a_head_that_is_countersigned_again_later_was_signed_when_it_was_first() -> None:
    again = head_of((0, "2025-06-01"), (1, "2025-06-02"), (0, "2026-11-01"), (1, "2026-11-01"))

    assert LOG in check_signature(*again, until_2025(quorum=2))
    times = countersigned(*again, until_2025(quorum=2)).values()
    assert {when(seconds)[:10] for seconds in times} == {"2026-11-01"}, "what bounds a debate stays the latest"


def test_a_witness_that_is_not_pinned_for_this_log_does_not_count(pins: Path) -> None:
    found = dated(pins, {}, {"logs": ["localhost/other"]})

    assert found.return_value == 1
    assert "FAILED: step 3 (witnesses)" in says(found)


def test_two_keys_of_one_witness_count_once(pins: Path) -> None:
    again = SigningKey.from_seed("witness.example", b"\x31" * 32, COSIGNATURE).public.encode()
    rows = [row(vkey("log"), "log"), row(vkey("witness"), "witness", **days(-1, 1)), row(again, "witness")]

    assert run("witnessed", pins, rows).return_value == 0
    twice = run("witnessed", pins, rows, "--quorum", "2")
    assert isinstance(twice.exception, UsageError)
    assert "found 1" in twice.exception.message


# -- approvals


def test_an_approval_is_by_a_key_that_is_pinned_for_approvals_and_in_its_time(pins: Path) -> None:
    def approved(use: str, **more: Any) -> Result:
        rows = [row(vkey("log"), "log"), row(vkey("approver"), use, **more)]
        return run("approved", pins, rows, "--allow-unwitnessed")

    assert approved("approver").return_value == 0
    late = approved("approver", until="2001-01-01")
    assert late.return_value == 1
    assert "when the configuration was approved" in says(late)
    for_logs = approved("log")
    assert for_logs.return_value == 4
    assert "SELF-APPROVED" in says(for_logs)


def test_an_approval_by_a_key_that_is_only_in_the_policy_is_not_checkable(pins: Path) -> None:
    rows = [row(vkey("log"), "log")]

    assert run("approved", pins, rows, "--allow-unwitnessed").return_value == 4
    assert run("approved", pins, rows, "--allow-unwitnessed", "--allow-self-approved").return_value == 0


# -- the register pins nothing


def with_register(draft: Draft, rows: Sequence[Row]) -> Draft:
    """A declined case whose policy has a register, sealed again by whoever has a key."""
    policy = json.loads(draft.policy)
    policy["audit"]["keys"] = [msgspec.to_builtins(RegisteredKey(**each)) for each in rows]
    changed = draft.copy()
    changed.policy = msgspec.json.Encoder(order="sorted").encode(policy)
    digest = sha256(changed.policy).hexdigest()

    def decided(entry: dict[str, Any]) -> None:
        entry["decision"]["policyHash"] = digest

    return changed.change(1, decided).reseal(lambda _n, envelope: envelope.update(policy=digest))


def test_a_register_that_names_a_forger_s_keys_pins_none_of_them() -> None:
    genuine = Draft.of(unpack((BUNDLES / "declined.zip").read_bytes()))
    rows = [
        row(OTHER_KEY.public.encode(), "log", vouched_by="the regulator, letter of 3 May"),
        row(WITNESSES[0].public.encode(), "witness", vouched_by="the regulator"),
    ]
    forged = with_register(genuine, rows)
    log = forged.tree(key=OTHER_KEY)
    bundle = told(forged, log).bundle(log)

    unpinned = verified(bundle, Trust(), tools())
    by_the_genuine_key = verified(bundle, trust(), tools())
    by_its_own = verified(bundle, Trust((OTHER_KEY.public,), (WITNESSES[0].public,)), tools())

    assert unpinned.code == 4
    assert {step(unpinned, name).state for name in ("signature", "witnesses")} == {"NOT CHECKABLE"}
    assert {"signature", "witnesses"} <= set(failed(by_the_genuine_key))
    assert (by_its_own.code, failed(by_its_own)) == (0, [])
    assert "its register of 2 keys is only words" in step(by_its_own, "policy").detail


def test_a_register_that_was_written_into_a_sealed_policy_fails() -> None:
    bundle = unpack((BUNDLES / "declined.zip").read_bytes())
    policy = json.loads(bundle.files["policy.json"])
    policy["audit"]["keys"] = [{"key": OTHER_KEY.public.encode(), "use": "log", "logs": [], "vouchedBy": "the board"}]
    files = {**bundle.files, "policy.json": msgspec.json.Encoder(order="sorted").encode(policy)}

    from tests.fixtures.bundles import rehashed

    assert "policy" in failed(verified(rehashed(bundle, files), trust(), tools()))


# -- files


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "audit"),
        ("[audit]\nkeys = []", "at least one table"),
        ("[audit]\nlate_s = 3", "this key is unknown"),
        ("[gate]\nfactor = 50\n[[audit.keys]]", "this key is unknown"),
        ("[[audit.keys]]\nuse = 'log'", "this key is missing"),
        ("[[audit.keys]]\nkey = 'x'\nuse = 'log'", "name+hash+base64"),
        ("[[audit.keys]]\nkey = 'LOG'\nuse = 'witness'", "of algorithm 4"),
        ("[[audit.keys]]\nkey = 'LOG'\nuse = 'anything'", "expected one of: log, witness, approver"),
        ("[[audit.keys]]\nkey = 'LOG'\nuse = 'log'\nsince = 2026-01-31", "write it in quotes"),
        ("[[audit.keys]]\nkey = 'LOG'\nuse = 'log'\nsince = '2026-02-31'", "expected a day"),
        ("[[audit.keys]]\nkey = 'LOG'\nuse = 'log'\nsince = '20260131'", "expected a day"),
        ("[[audit.keys]]\nkey = 'LOG'\nuse = 'log'\nsince = '2026-02-01'\nuntil = '2026-01-31'", "or a later day"),
        ("[[audit.keys]]\nkey = 'LOG'\nuse = 'log'\nlogs = ['elsewhere/default/1']", "of the key's host localhost"),
        ("[[audit.keys]]\nkey = 'LOG'\nuse = 'approver'\nlogs = ['localhost']", "signs configurations"),
        ("[[audit.keys]]\nkey = 'LOG'\nuse = 'log'\n" * 2, "has a row already"),
        ("[[audit.keys", "is not TOML"),
    ],
)
def test_a_file_of_pins_that_says_too_little_or_too_much_is_refused(pins: Path, text: str, words: str) -> None:
    pins.write_text(text.replace("LOG", vkey("log")), "utf-8")

    found = CliRunner().invoke(verify, [str(BUNDLES / "declined.zip"), "--keys", str(pins)], standalone_mode=False)

    assert isinstance(found.exception, UsageError)
    assert words in found.exception.message


def test_a_file_of_pins_is_read_as_editors_write_it(pins: Path) -> None:
    rows = f'[[audit.keys]]\r\nkey = "{vkey("log")}"\r\nuse = "log"\r\n'
    declined = [str(BUNDLES / "declined.zip"), "--keys", str(pins), "--allow-unwitnessed"]

    pins.write_bytes(b"\xef\xbb\xbf" + rows.encode())
    marked = CliRunner().invoke(verify, declined, standalone_mode=False)
    pins.write_bytes(rows.encode("utf-16"))
    other = CliRunner().invoke(verify, declined, standalone_mode=False)

    assert marked.return_value == 0, marked.output
    assert isinstance(other.exception, UsageError)
    assert other.exception.message == f"--keys: {pins} is not TOML in UTF-8 (byte 0); save it as UTF-8"


def test_a_key_is_pinned_once(pins: Path) -> None:
    found = run("declined", pins, [row(vkey("log"), "log")], "--key", vkey("log"))

    assert isinstance(found.exception, UsageError)
    assert "pin it once" in found.exception.message


def test_what_a_key_is_pinned_for_is_in_the_certificate(pins: Path, tmp_path: Path) -> None:
    out = tmp_path / "certificate.json"

    found = run("declined", pins, [row(vkey("log"), "log", logs=[LOG])], "--allow-unwitnessed", "--out", str(out))

    assert found.return_value == 0
    assert json.loads(out.read_text("ascii"))["periods"] == {vkey("log"): f"for logs for {LOG}"}


def test_words_of_the_register_are_bounded() -> None:
    with pytest.raises(WrongSetting, match="printable"):
        check_register([RegisteredKey(vkey("log"), "log", vouched_by="a\nb")], ("audit", "keys"))
