"""Model risk approves a configuration with a key of its own, and records and reports say so or say that nobody did."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

from service import report
from service.app import deploy, open_app
from service.audit import approval
from service.audit.note import SigningKey
from service.cli import main
from service.debate.entries import DebateStarted
from service.errors import SettingsError
from tests.fixtures.policies import changed, policy_file
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, a_request
from tests.fixtures.serving import a_case, settings_for
from tests.fixtures.vouching import command, running

APPROVER = SigningKey.from_seed("model-risk.example", bytes(range(32)))
DEPLOYER = SigningKey.from_seed("deployer.example", bytes(range(1, 33)))
NAME = APPROVER.public.name
Variables = dict[str, str]


def policy(folder: Path, *, required: bool = False, **tables: Any) -> Path:
    """The shipped policy with an approver."""
    key = {"key": APPROVER.public.encode(), "required": required}
    return policy_file(folder, **{**changed("approval", to=key), **tables})


def approved(folder: Path, key: SigningKey = APPROVER, bent: tuple[bytes, bytes] = (b"", b"")) -> Variables:
    """The variables of a deployment with an approval of its policy, changed as bytes where told."""
    path = folder / "gainsay.toml"
    configuration = deploy(settings_for("postgresql://", GAINSAY_POLICY=str(path))).configuration
    digest = sha256(configuration).hexdigest()
    note = approval.encode(approval.Approval(digest, "1", "2026-11-22T09:30:00Z"), key)
    (folder / "approval.txt").write_bytes(note.replace(*bent))
    return {"GAINSAY_POLICY": str(path), "GAINSAY_APPROVAL": str(folder / "approval.txt")}


async def started(url: str, variables: Variables) -> tuple[DebateStarted, report.Result]:
    """What a debate that begins under these settings records and reports."""
    async with open_app(settings_for(url, **variables), url, pool=2) as app:
        debate = (await app.reviews.submit(a_request(), CALLER)).debate
        entries = [line.entry for line in await app.reviews.lines(debate, CALLER)]
        result = await app.reviews.result(debate, CALLER)
    return next(entry for entry in entries if isinstance(entry, DebateStarted)), result


async def test_an_approved_configuration_says_by_whom_in_record_and_reports(database: Database, tmp_path: Path) -> None:
    policy(tmp_path, required=True)
    variables = approved(tmp_path)

    record, result = await started(database.service_url, variables)

    key = APPROVER.public
    assert record.approved_by == NAME
    assert approval.check(record.approval.encode(), key, record.configuration_hash).policy_version == "1"
    assert result.approved_by == NAME
    for told in (report.markdown(result), report.html(result)):
        assert f"Approval of this configuration: {NAME}" in " ".join(told.split())


async def test_without_an_approval_record_and_reports_say_that_nobody_approved(
    database: Database, tmp_path: Path
) -> None:
    record, result = await started(database.service_url, {"GAINSAY_POLICY": str(policy(tmp_path))})

    assert (record.approved_by, record.approval, result.approved_by) == ("unapproved", "", "unapproved")
    assert "Approval of this configuration: unapproved" in " ".join(report.markdown(result).split())


def not_approved(folder: Path) -> Variables:
    return {"GAINSAY_POLICY": str(policy(folder, required=True))}


def of_another_configuration(folder: Path) -> Variables:
    policy(folder)
    variables = approved(folder)
    policy(folder, limits={**changed("limits", "documents", to=7)["limits"]})
    return variables


def with_a_price_changed(folder: Path) -> Variables:
    policy(folder)
    variables = approved(folder)
    path = folder / "gainsay.toml"
    path.write_text(path.read_text().replace('"output_usd" = "10.00"', '"output_usd" = "10.01"', 1))
    return variables


def by_somebody_else(folder: Path) -> Variables:
    policy(folder)
    return approved(folder, DEPLOYER)


def with_another_time(folder: Path) -> Variables:
    policy(folder)
    return approved(folder, bent=(b"2026-11-22", b"2027-11-22"))


def that_is_not_there(folder: Path) -> Variables:
    policy(folder)
    return {**approved(folder), "GAINSAY_APPROVAL": str(folder / "nothing.txt")}


def that_is_none(folder: Path) -> Variables:
    policy(folder)
    variables = approved(folder)
    (folder / "approval.txt").write_text("approved, go ahead\n")
    return variables


def where_nobody_approves(folder: Path) -> Variables:
    policy(folder)
    variables = approved(folder)
    policy_file(folder, **changed("policy", "version", to="1"))
    return variables


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (not_approved, "with `gainsay approve`"),
        (of_another_configuration, "restore the approved configuration"),
        (with_a_price_changed, "restore the approved configuration"),
        (by_somebody_else, "not signed by the approver model-risk.example"),
        (with_another_time, "not signed by the approver model-risk.example"),
        (that_is_not_there, "expected an approval at"),
        (that_is_none, "expected an approval as a signed note"),
        (where_nobody_approves, "expected approval.key"),
    ],
)
async def test_nothing_starts_with_an_approval_that_is_missing_or_wrong(
    database: Database, tmp_path: Path, given: Callable[[Path], Variables], told: str
) -> None:
    with pytest.raises(SettingsError, match=told):
        await started(database.service_url, given(tmp_path))


# -- at a keyboard


def test_what_is_approved_at_a_desk_is_served(database: Database, tmp_path: Path) -> None:
    key, note = tmp_path / "approver.key", tmp_path / "approval.txt"
    key.write_text(APPROVER.encode())
    key.chmod(0o600)
    variables = {"GAINSAY_DATABASE_URL": database.service_url, "GAINSAY_POLICY": str(policy(tmp_path, required=True))}

    signed = command("approve", "--key", f"file:{key}", "--out", str(note), **variables)

    digest = sha256(deploy(settings_for("", **variables)).configuration).hexdigest()
    assert signed.returncode == 0
    assert approval.check(note.read_bytes(), APPROVER.public, digest).policy_version
    for words in (f"approved by {NAME}", digest, f"GAINSAY_APPROVAL={note}"):
        assert words in signed.stdout
    variables |= {"GAINSAY_API_URL": database.serving_url, "GAINSAY_APPROVAL": str(note)}
    with running(tmp_path, "serve", "--no-worker", "--port", "0", **variables) as server:
        posted = httpx.post(f"{server['address']}/v1/debates", json=a_case())
        told = httpx.get(server["address"] + posted.headers["location"] + "?view=full").json()
    assert told["approvedBy"] == NAME


Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Said:
    """Run a command in this process; its exit code, and what it wrote."""

    def run(*arguments: str, **environment: str) -> tuple[int, str, str]:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        code = main(arguments)
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return run


def test_an_approval_holds_until_the_configuration_changes(tmp_path: Path, say: Said) -> None:
    policy(tmp_path)
    variables = approved(tmp_path)

    held = say("approve", "--check", variables["GAINSAY_APPROVAL"], **variables)
    policy(tmp_path, limits=changed("limits", "documents", to=7)["limits"])
    changed_since = say("approve", "--check", variables["GAINSAY_APPROVAL"], **variables)
    nothing = say("approve", "--check", str(tmp_path / "nothing"), **variables)

    assert (held[0], changed_since[0], nothing[0]) == (0, 1, 2)
    assert f"approved by {NAME} at 2026-11-22T09:30:00Z" in held[1]
    assert "bad_approval" in changed_since[2]


def test_an_approval_goes_to_standard_output_alone_where_no_file_is_named(tmp_path: Path, say: Said) -> None:
    code, out, err = say(
        "approve", "--key", "env:APPROVER_KEY", APPROVER_KEY=APPROVER.encode(), GAINSAY_POLICY=str(policy(tmp_path))
    )

    assert code == 0
    assert approval.parse(out.encode()).configuration_hash in err


def test_only_the_approver_of_the_policy_approves_and_no_key_is_shown(tmp_path: Path, say: Said) -> None:
    none = say("approve", "--key", "env:APPROVER_KEY", APPROVER_KEY=APPROVER.encode())
    both = say("approve", "--key", "env:APPROVER_KEY", "--check", str(tmp_path / "x"))
    other = say(
        "approve", "--key", "env:APPROVER_KEY", APPROVER_KEY=DEPLOYER.encode(), GAINSAY_POLICY=str(policy(tmp_path))
    )

    assert (none[0], both[0], other[0]) == (2, 2, 2)
    assert "names no approver" in none[2]
    assert "expected the approver's key of the policy, model-risk.example+" in other[2]
    assert DEPLOYER.encode()[-20:] not in other[1] + other[2]
