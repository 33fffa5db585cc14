"""A changed policy is taken whole or not at all, and only with the approval that its process asks for."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from service import telemetry
from service.audit import approval
from service.audit.note import SigningKey
from service.errors import SettingsError, StoreUnavailable
from service.intake.configuration import Configuration, CurrentConfiguration
from service.intake.deployments import deploy
from service.policy.file import snapshot
from service.policy.settings import read_settings
from service.running import reload
from service.running.reload import ConfigurationWatch
from tests.fixtures.policies import WRITTEN, changed, policy_file

APPROVER = SigningKey.from_seed("model-risk.example", bytes(range(32)))
DEPLOYER = SigningKey.from_seed("deployer.example", bytes(range(1, 33)))
REQUIRED = {"key": APPROVER.public.encode(), "required": True}


class House:
    """A process as its watch sees it, with the files of its configuration in a folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
        self.folder, self._meanwhile = folder, list[Callable[[], object]]()
        self.path = folder / "gainsay.toml"
        settings = read_settings({"GAINSAY_POLICY": str(self.path), **variables})
        self.current = CurrentConfiguration(Configuration.of(settings, "build"))
        self.taken: list[Configuration] = []
        self.error: Exception | None = None
        self.counted = {result: value(result) for result in RESULTS}
        self.watch = ConfigurationWatch(self.current, self._take, 0)
        monkeypatch.setattr(reload, "settled", self._settled)

    def while_it_settles(self, *done: Callable[[], object]) -> None:
        """What another process does to the files between their reading and the look at whether they stand, in turn."""
        self._meanwhile += done

    async def _settled(self) -> None:
        if self._meanwhile:
            self._meanwhile.pop(0)()

    async def _take(self, new: Configuration) -> None:
        if self.error is not None:
            raise self.error
        self.taken.append(new)
        self.current.replace(new)

    @property
    def rounds(self) -> int:
        """What is in force, by one key of it."""
        return self.current.now.usual.policy.debate.rounds

    @property
    def results(self) -> dict[str, float]:
        """What was counted since the start, by result."""
        return {result: now - before for result, before in self.counted.items() if (now := value(result)) != before}


RESULTS = ("taken", "unapproved", "faulty", "unsteady", "unavailable", "fault")


def value(result: str) -> float:
    found: float = telemetry.CONFIG_RELOADS.labels(result=result)._value.get()
    return found


def refused_now() -> float:
    found: float = telemetry.CONFIG_REFUSED._value.get()
    return found


@pytest.fixture(autouse=True)
def _metrics() -> Iterator[None]:
    yield
    telemetry.CONFIG_REFUSED.set(0)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    policy_file(tmp_path, **WRITTEN)
    return House(tmp_path, monkeypatch)


def rounds(folder: Path, number: int, **tables: Any) -> Path:
    return policy_file(folder, **{**changed("debate", "rounds", to=number), **tables})


def shown() -> dict[str, str]:
    (sample,) = [s for family in telemetry.CONFIG_INFO.metric.collect() for s in family.samples]
    return sample.labels


async def test_a_changed_policy_is_in_force_as_a_whole_and_its_hash_is_shown(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    before = house.current.now
    assert shown() == {"hash": before.hash, "tenants": ""}
    rounds(house.folder, 3)

    with caplog.at_level(logging.INFO, "gainsay"):
        await house.watch.look()
        await house.watch.look()

    assert (house.rounds, len(house.taken), house.results) == (3, 1, {"taken": 1})
    assert shown()["hash"] == house.current.now.hash != before.hash
    assert house.current.now.usual.prompts is before.usual.prompts
    (line,) = [r for r in caplog.records if r.__dict__.get("event") == "configuration.taken"]
    assert (line.__dict__["configuration"], line.__dict__["before"]) == (house.current.now.hash, before.hash)


async def test_another_comment_is_no_other_configuration(house: House) -> None:
    house.path.write_text(f"# reviewed\n{house.path.read_text()}")

    await house.watch.look()

    assert (house.taken, house.results) == ([], {})


def _broken(path: Path) -> None:
    path.write_text("[policy\n")


def _unknown(path: Path) -> None:
    policy_file(path.parent, **changed("debate", "ronds", to=1))


def _unpriced(path: Path) -> None:
    policy_file(path.parent, **changed("models", 0, "prices", 0, "effective", to="2999-01-01"))


def _gone(path: Path) -> None:
    path.unlink()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _huge(path: Path) -> None:
    with path.open("ab") as file:
        file.truncate(snapshot.BYTES_MAX + 1)


def _audited(path: Path) -> None:
    policy_file(path.parent, **changed("audit", to={"check_minutes": 59}))


FAULTS = [
    (_broken, "is not TOML"),
    (_unknown, "debate.ronds: this key is unknown; did you mean 'rounds'?"),
    (_unpriced, "expected a price in force on"),
    (_gone, "No such file or directory"),
    (_folder, "it is no regular file"),
    (_pipe, "it is no regular file"),
    (_huge, "File too large"),
    (_audited, "has another table [audit], which takes effect at a restart alone"),
]


@pytest.mark.parametrize(("bend", "said"), FAULTS, ids=[bend.__name__[1:] for bend, _ in FAULTS])
async def test_a_fault_leaves_the_old_one_in_force_is_said_once_and_ends_with_the_fault(
    house: House, caplog: pytest.LogCaptureFixture, bend: Callable[[Path], None], said: str
) -> None:
    before, good = house.current.now, house.path.read_bytes()
    bend(house.path)

    with caplog.at_level(logging.INFO, "gainsay"):
        for _ in range(3):
            await house.watch.look()

        assert house.current.now is before
        assert (house.results, refused_now()) == ({"faulty": 1}, 1)
        (line,) = [r for r in caplog.records if r.__dict__.get("event") == "configuration.refused"]
        assert said in line.__dict__["reason"]
        assert line.__dict__["configuration"] == before.hash

        if house.path.is_dir():
            house.path.rmdir()
        house.path.unlink(missing_ok=True)
        house.path.write_bytes(good)
        await house.watch.look()

    assert (house.results, refused_now(), house.taken) == ({"faulty": 1}, 0, [])
    assert caplog.records[-1].__dict__["event"] == "configuration.as_before"


async def test_a_file_that_may_not_be_read_any_more_leaves_the_old_one_in_force(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def denied(path: Any, *rest: Any) -> int:
        if path == house.path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return opened(path, *rest)

    await house.watch.look()
    monkeypatch.setattr(os, "open", denied)

    await house.watch.look()

    assert (house.results, refused_now(), house.rounds) == ({"faulty": 1}, 1, 1)


async def test_a_file_that_is_half_written_when_it_is_read_is_not_taken(house: House) -> None:
    """A half is often a policy too, without the limits of its second half."""
    whole = rounds(house.folder, 2, limits={**WRITTEN["limits"], "documents": 7}).read_text()
    half = "\n".join(line for line in whole.split("\n") if not line.startswith("limits"))
    house.path.write_text(half)
    house.while_it_settles(lambda: house.path.write_text(whole))

    await house.watch.look()

    assert [new.usual.policy.limits.documents for new in house.taken] == [7]
    assert house.rounds == 2


async def test_of_two_quick_changes_the_second_is_taken_alone(house: House) -> None:
    rounds(house.folder, 2)
    house.while_it_settles(lambda: rounds(house.folder, 3))

    await house.watch.look()

    assert [new.usual.policy.debate.rounds for new in house.taken] == [3]


async def test_a_change_that_is_taken_back_at_once_is_none(house: House) -> None:
    good = house.path.read_bytes()
    rounds(house.folder, 2)
    house.while_it_settles(lambda: house.path.write_bytes(good))

    await house.watch.look()

    assert (house.taken, house.results) == ([], {})


async def test_files_that_never_stand_still_are_not_taken(house: House, caplog: pytest.LogCaptureFixture) -> None:
    rounds(house.folder, 2)
    house.while_it_settles(*(lambda n=n: rounds(house.folder, 2 + n % 2) for n in range(1, 11)))

    with caplog.at_level(logging.INFO, "gainsay"):
        await house.watch.look()

    assert (house.taken, house.results, refused_now()) == ([], {"unsteady": 1}, 1)
    (line,) = caplog.records
    assert "changed 10 times in a row; look what writes them" in line.__dict__["reason"]
    assert "PostgreSQL" not in line.getMessage()
    assert "database" not in line.getMessage()

    await house.watch.look()
    assert (house.rounds, refused_now()) == (2, 0), "they stand still now"


async def test_a_mount_that_is_swapped_by_its_link_is_taken_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Kubernetes does it: all files of a version are in one folder, and a link leads to one of them."""

    def version(number: int) -> None:
        folder = tmp_path / f"..{number}"
        folder.mkdir()
        text = f'policy = {{ version = "acme-{number}" }}\ndebate = {{ rounds = {number} }}\n'
        (folder / "acme.toml").write_text(text)
        rounds(folder, number, tenants={"acme": {"policy": "acme.toml"}})

    def swap(number: int) -> None:
        (tmp_path / "..tmp").symlink_to(f"..{number}")
        (tmp_path / "..tmp").replace(tmp_path / "..data")

    for number in (1, 2, 3):
        version(number)
    swap(1)
    for name in ("gainsay.toml", "acme.toml"):
        (tmp_path / name).symlink_to(f"..data/{name}")
    house = House(tmp_path, monkeypatch)
    tenants = shown()["tenants"]
    assert len(tenants) == 64
    swap(2)
    house.while_it_settles(lambda: swap(3))

    await house.watch.look()

    (new,) = house.taken
    assert (new.usual.policy.debate.rounds, new.named["acme"].policy.debate.rounds) == (3, 3)
    assert shown()["tenants"] not in ("", tenants)

    (tmp_path / "..3" / "acme.toml").write_text("policy = { version = 'acme-4' }\n")
    await house.watch.look()
    assert house.current.now.named["acme"].policy.version == "acme-4", "a tenant's own file alone is a change too"


# -- approvals


def approve(folder: Path, policy: Path | None = None, key: SigningKey = APPROVER) -> Path:
    """An approval of what the policy file says now, or of another one."""
    settings = read_settings({"GAINSAY_POLICY": str(policy or folder / "gainsay.toml")})
    digest = sha256(deploy(settings).configuration).hexdigest()
    path = folder / "approval.txt"
    path.write_bytes(approval.encode(approval.Approval(digest, "1", "2026-11-22T09:30:00Z"), key))
    return path


@pytest.fixture
def approved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    rounds(tmp_path, 1, approval=REQUIRED)
    return House(tmp_path, monkeypatch, GAINSAY_APPROVAL=str(approve(tmp_path)))


async def test_where_approval_is_required_a_change_waits_for_the_approval_of_exactly_its_hash(approved: House) -> None:
    folder, before = approved.folder, approved.current.now
    rounds(folder, 2, approval=REQUIRED)
    await approved.watch.look()
    assert (approved.rounds, approved.results, refused_now()) == (1, {"unapproved": 1}, 1)

    other = folder / "other"
    other.mkdir()
    approve(folder, rounds(other, 3, approval=REQUIRED))  # an approval, but of another configuration
    await approved.watch.look()
    assert approved.current.now is before

    approve(folder, key=DEPLOYER)  # of this one, but by another key
    await approved.watch.look()
    assert approved.current.now is before

    approve(folder)
    await approved.watch.look()
    assert (approved.rounds, refused_now(), approved.results["taken"]) == (2, 0, 1)
    assert approved.current.now.usual.approved_by == APPROVER.public.name


@pytest.mark.parametrize("looks", [0, 1])
async def test_an_approval_that_is_gone_keeps_what_is_in_force_and_is_said(approved: House, looks: int) -> None:
    for _ in range(looks):
        await approved.watch.look()
    (approved.folder / "approval.txt").unlink()

    await approved.watch.look()

    assert (approved.rounds, approved.results, refused_now()) == (1, {"unapproved": 1}, 1)


async def test_an_approval_counts_as_it_stood_with_the_policy(approved: House) -> None:
    """One that is taken away while both are read is none."""
    rounds(approved.folder, 2, approval=REQUIRED)
    approve(approved.folder)
    approved.while_it_settles((approved.folder / "approval.txt").unlink)

    await approved.watch.look()

    assert (approved.rounds, approved.results) == (1, {"unapproved": 1})


async def test_a_tenant_s_approval_that_is_gone_is_said_too(approved: House, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = approved.folder
    note = (folder / "approval.txt").read_bytes()
    (folder / "acme.txt").write_bytes(note)
    rounds(folder, 1, approval=REQUIRED, tenants={"acme": {"approval": "acme.txt"}})
    house = House(folder, monkeypatch, GAINSAY_APPROVAL=str(approve(folder)))
    await house.watch.look()
    (folder / "acme.txt").unlink()

    await house.watch.look()

    assert (house.taken, house.results) == ([], {"unapproved": 1})


@pytest.mark.parametrize("table", [{**REQUIRED, "required": False}, {}, {**REQUIRED, "key": DEPLOYER.public.encode()}])
async def test_a_change_cannot_free_itself_from_approval(approved: House, table: dict[str, Any]) -> None:
    """Nor choose its own approver: these words of a policy take a restart, which its operator sees."""
    rounds(approved.folder, 3, approval=table)
    if table.get("required"):
        approve(approved.folder, key=DEPLOYER)

    await approved.watch.look()

    assert (approved.rounds, approved.results) == (1, {"faulty": 1})


# -- taking


async def test_what_cannot_be_put_in_force_now_is_tried_again(house: House) -> None:
    rounds(house.folder, 2)
    house.error = StoreUnavailable("the database is away")
    await house.watch.look()
    await house.watch.look()
    assert (house.rounds, house.results, refused_now()) == (1, {"unavailable": 1}, 1)

    house.error = None
    await house.watch.look()

    assert (house.rounds, house.results, refused_now()) == (2, {"unavailable": 1, "taken": 1}, 0)


async def test_a_fault_of_the_service_is_said_once_shown_and_ended_by_what_mends_it(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    def faults() -> int:
        return sum(record.__dict__.get("event") == "configuration.fault" for record in caplog.records)

    rounds(house.folder, 2)
    for number in range(3):
        house.error = LookupError(f"a fault of look {number}")  # the same fault, whatever words it has
        await house.watch.look()
    assert (house.rounds, house.results, refused_now(), faults()) == (1, {"fault": 1}, 1, 1)
    assert caplog.records[-1].exc_info

    await house.watch.look(asked=True)
    assert (house.results, faults()) == ({"fault": 1}, 2), "who asks for a look is answered"

    house.error = ZeroDivisionError("another fault")
    await house.watch.look()
    assert (house.results, faults()) == ({"fault": 2}, 3)

    house.error = None
    await house.watch.look()
    assert (house.rounds, refused_now()) == (2, 0)


async def test_a_fault_of_the_look_itself_is_shown_until_a_look_succeeds(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await house.watch.look()

    def broken(_: object) -> bool:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(snapshot.FileSnapshot, "stands", broken)
        for _ in range(3):
            await house.watch.look()
    assert (house.results, refused_now()) == ({"fault": 1}, 1)

    with caplog.at_level(logging.INFO, "gainsay"):
        await house.watch.look()
    assert refused_now() == 0
    assert caplog.records[-1].__dict__["event"] == "configuration.as_before"


async def test_a_provider_that_cannot_be_made_keeps_the_old_one(house: House) -> None:
    rounds(house.folder, 2)
    house.error = SettingsError("expected a secret in the variable OPENAI_API_KEY, found none")

    await house.watch.look()

    assert (house.rounds, house.results) == (1, {"faulty": 1})


async def test_a_request_sees_one_configuration_from_its_beginning_to_its_end(house: House) -> None:
    rounds(house.folder, 2)

    with house.current.seen_as_one():
        await house.watch.look()
        assert (house.rounds, house.current.deployment("acme").policy.debate.rounds) == (1, 1)
        assert house.current.in_force.usual.policy.debate.rounds == 2

    assert house.rounds == 2


@pytest.mark.parametrize(
    ("change", "event"),
    [
        (lambda _: None, "configuration.unchanged"),
        (lambda path: rounds(path.parent, 2), "configuration.taken"),
        (_broken, "configuration.refused"),
    ],
)
async def test_who_asks_for_a_look_gets_one_answer_at_each_look(
    house: House, caplog: pytest.LogCaptureFixture, change: Callable[[Path], object], event: str
) -> None:
    change(house.path)

    with caplog.at_level(logging.INFO, "gainsay"):
        await house.watch.look(asked=True)
        await house.watch.look(asked=True)

    again = "configuration.unchanged" if event == "configuration.taken" else event
    assert [r.__dict__["event"] for r in caplog.records] == [event, again]
    assert sum(house.results.values()) == (event != "configuration.unchanged"), "the same finding counts once"
