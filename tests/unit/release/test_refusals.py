"""A release is refused, by name, for everything that it may not be; the cut writes what it needs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import service
from supply import frozen
from supply.release import __main__ as command
from supply.release import changelog, cut, signing, source, versions
from tests.unit.release.conftest import BASE, Repository

Spoil = Callable[[Repository], None]


def test_what_was_cut_is_released(repository: Repository) -> None:
    repository.cut("0.2.0")

    assert repository.faults() == []
    assert {*versions.stated(repository.root).values()} == {"0.2.0"}
    assert '"x": {"version": "7"}' in (repository.root / "clients/typescript/package.json").read_text()
    assert (repository.root / "CHANGELOG.md").read_text() == (
        "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2027-01-31\n\n### Added\n\n- Something new.\n"
    )
    assert frozen.things(repository.root) == []


def test_from_the_first_release_on_the_cut_lists_what_the_release_has(repository: Repository) -> None:
    repository.cut("1.0.0")

    assert repository.faults() == []
    assert len(frozen.things(repository.root)) == 8


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda r: r.write("service/new.py", "x"), "found 1 files that differ: ?? service/new.py"),
        (lambda r: r.replace("Dockerfile", "made", "built"), "found 1 files that differ:  M Dockerfile"),
        (lambda r: r.replace("helm/gainsay/Chart.yaml", "version: 1.0.0", "version: 1.0.1"), "1.0.1 in helm/gainsay"),
        (lambda r: r.replace("helm/gainsay/Chart.yaml", '"1.0.0"', '"0.1.0"'), "everywhere, found 0.1.0 in helm/"),
        (lambda r: r.replace("clients/typescript/package.json", "1.0.0", "1.0"), "found 1.0 in clients/typescript"),
        (lambda r: r.replace("clients/typescript/README.md", "1.0.0", "0.9.0"), "0.9.0 in clients/typescript/README"),
        (lambda r: r.replace("clients/python/src/gainsay_client/__init__.py", "__v", "v"), "found it 0 times"),
        (lambda r: r.replace("service/__init__.py", "1.0.0", "1.0.0rc1"), "a version of three numbers"),
        (lambda r: r.git("rm", "-rq", "helm"), "expected the Helm chart in helm/gainsay, found none"),
        (lambda r: r.replace("CHANGELOG.md", "## [1.0.0] - 2027-01-31", ""), "expected a section `## [1.0.0] -"),
        (lambda r: r.replace("CHANGELOG.md", " - 2027-01-31", ""), "expected a section `## [1.0.0] -"),
        (
            lambda r: r.replace("CHANGELOG.md", "\n\n### Added\n\n- Something new.", ""),
            "expected a section `## [1.0.0]",
        ),
        (
            lambda r: r.replace("CHANGELOG.md", "ed]\n", "ed]\n\n- Late.\n"),
            "nothing unreleased in CHANGELOG.md, found '- L",
        ),
        (lambda r: r.replace("CHANGELOG.md", "## [1.0.0] -", "## 1.0.0 -"), "expected headings such as"),
        (lambda r: r.write("migrations/0002_more.sql", ""), "expected migration 0002_more in supply/frozen.json"),
        (lambda r: r.replace("migrations/0001_schema.sql", "1", "2"), "migration 0001_schema of release 1.0.0 was"),
        (lambda r: r.write("supply/frozen.json", "{}"), "expected a list of what is frozen"),
        (lambda r: r.git("rm", "-q", "supply/frozen.json"), "No such file"),
        (lambda r: r.git("rm", "-q", "supply/release.pub"), "expected the public key of releases"),
    ],
)
def test_what_is_not_ready_is_refused(repository: Repository, spoil: Spoil, said: str) -> None:
    repository.cut("1.0.0")
    spoil(repository)
    if "files that differ" not in said:
        repository.commit()

    found = repository.faults()

    assert any(said in fault for fault in found), found


def test_all_that_is_wrong_is_said_at_once(repository: Repository) -> None:
    repository.cut("1.0.0")
    repository.write("migrations/0002_more.sql", "")
    found = source.faults(source.Asked(repository.root, "python:3", repository.root / "none.key"))

    assert [fault.partition(",")[0].replace(signing.MAKE, "x") for fault in found] == [
        "expected a tree as it was committed",
        "expected a base image with tag and digest",
        f"expected the key that signs releases in {repository.root}/none.key: No such file or directory; make one: x",
        "expected migration 0002_more in supply/frozen.json",
    ]


@pytest.mark.parametrize("base", ["", "python", "python:3.13-slim", "python@sha256:" + "ab" * 32, f"{BASE[:-1]}"])
def test_a_base_that_can_be_another_one_tomorrow_is_refused(repository: Repository, base: str) -> None:
    repository.cut("0.2.0")

    (fault,) = source.faults(source.Asked(repository.root, base, repository.key))

    assert fault.startswith("expected a base image with tag and digest")
    assert "docker buildx imagetools inspect" in fault


def test_a_key_that_is_not_the_published_one_or_that_others_can_read_is_refused(repository: Repository) -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption
    from cryptography.hazmat.primitives.serialization import PrivateFormat as Form

    repository.cut("0.2.0")
    key = repository.key
    pem = key.read_bytes()
    other = Ed25519PrivateKey.generate()
    found = {}
    for name, text, mode in (
        ("shared", pem, 0o640),
        ("other", other.private_bytes(Encoding.PEM, Form.PKCS8, NoEncryption()), 0o600),
        ("locked", other.private_bytes(Encoding.PEM, Form.PKCS8, BestAvailableEncryption(b"x")), 0o600),
        ("rsa", generate_private_key(65537, 2048).private_bytes(Encoding.PEM, Form.PKCS8, NoEncryption()), 0o600),
        ("none", b"hello", 0o600),
    ):
        key.write_bytes(text)
        key.chmod(mode)
        (found[name],) = repository.faults()

    assert found["shared"].startswith("expected a key that its owner alone can read, found mode 040 for others")
    assert found["other"].startswith("expected the key that belongs to ")
    assert "without a passphrase" in found["locked"]
    assert "found another kind" in found["rsa"]
    assert "without a passphrase" in found["none"]


def test_a_build_that_is_only_compared_needs_no_key_and_a_place_of_its_own(repository: Repository) -> None:
    repository.cut("0.2.0")

    assert source.faults(source.Asked(repository.root, BASE, None)) == []
    with pytest.raises(SystemExit) as refused:
        command.parsed(["build", "--base", BASE])
    assert refused.value.code == 2


@pytest.mark.parametrize("words", [["check"], ["build", "--out", "made"]])
def test_the_commands_say_what_is_wrong_and_build_nothing(
    words: list[str], repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.cut("1.0.0")
    monkeypatch.setattr(command, "ROOT", repository.root)
    monkeypatch.chdir(repository.key.parent)

    assert command.main([*words, "--base", "python:3", "--key", str(repository.key)]) == 1
    assert capsys.readouterr().err.startswith("expected a base image with tag and digest")
    assert not (repository.key.parent / "made").exists()


def test_before_the_first_release_nothing_is_frozen(repository: Repository) -> None:
    repository.cut("0.2.0")
    repository.write(frozen.LIST, frozen.written(frozen.fill(repository.root, [], "0.2.0")))
    repository.commit()

    assert repository.faults() == ["expected nothing in supply/frozen.json before 1.0.0, found 8 entries"]


# -- beside the releases before


def test_a_released_version_is_not_released_again_from_another_commit(repository: Repository) -> None:
    repository.cut("1.0.0", tag=True)
    assert repository.faults() == []
    repository.commit()

    assert repository.faults() == [
        "expected tag v1.0.0 at this commit, found it at another: 1.0.0 is released; cut the version after it"
    ]


def test_a_list_from_which_a_row_was_taken_is_refused_beside_the_release_that_had_it(repository: Repository) -> None:
    """Who edits what is frozen and the list as well is found by the tag."""
    repository.cut("1.0.0", tag=True)
    repository.replace("CHANGELOG.md", "ed]\n", "ed]\n\n- More.\n")
    listed = [one for one in frozen.things(repository.root) if one.kind != "engine"]
    repository.write(frozen.LIST, frozen.written(listed))
    repository.replace("tests/vectors/goldens/gate-1.decisions.jsonl", "debated", "declined")
    repository.commit()
    repository.cut("1.1.0")

    assert repository.faults() == [
        "expected engine gate/1 of release 1.0.0 in supply/frozen.json as v1.0.0 has it, found another"
    ]
    repository.git("tag", "--delete", "v1.0.0")
    assert repository.faults() == ["expected tag v1.0.0, whose list is compared, found none; git fetch --tags"]


def test_a_list_that_was_emptied_is_refused(repository: Repository) -> None:
    repository.cut("1.0.0", tag=True)
    repository.write(frozen.LIST, frozen.written([]))
    repository.replace("CHANGELOG.md", "ed]\n", "ed]\n\n- More.\n")
    repository.commit()
    versions.set_everywhere(repository.root, "0.9.0")

    assert any(said.startswith("expected a version after 1.0.0") for said in repository.faults())
    assert any(said == "expected what 1.0.0 has in supply/frozen.json, found nothing" for said in repository.faults())


def test_a_successor_is_released(repository: Repository) -> None:
    repository.cut("1.0.0", tag=True)
    repository.replace("CHANGELOG.md", "ed]\n", "ed]\n\n### Added\n\n- More.\n")
    repository.write("tests/vectors/goldens/gate-2.decisions.jsonl", '{"version":"gate/2"}\n')
    repository.commit()
    repository.cut("1.1.0", tag=True)

    assert repository.faults() == []
    assert [str(one) for one in frozen.things(repository.root)][-1] == "engine gate/2 of release 1.1.0"


# -- the cut


@pytest.mark.parametrize(
    ("spoil", "version", "said"),
    [
        (lambda r: r.write("new", ""), "0.2.0", "as it was committed, so that the cut is a commit of its own"),
        (lambda _: None, "0.0.9", "expected a version after 0.1.0, found 0.0.9"),
        (lambda _: None, "1.0", "a version of three numbers"),
        (lambda _: None, "1.0.0-rc.1", "a version of three numbers"),
        (lambda _: None, "v1.0.0", "a version of three numbers"),
        (lambda r: r.cut("0.2.0"), "0.3.0", "expected lines under `## [Unreleased]`"),
        (lambda r: r.cut("0.2.0"), "0.2.0", "expected no section 0.2.0"),
        (lambda r: r.git("rm", "-rq", "helm"), "0.2.0", "expected the version once in helm/gainsay/Chart.yaml"),
    ],
)
def test_a_cut_that_may_not_be_writes_nothing(repository: Repository, spoil: Spoil, version: str, said: str) -> None:
    spoil(repository)
    if version != "0.2.0" or "committed" not in said:
        repository.commit()
    before = repository.git("status", "--porcelain")

    with pytest.raises(ValueError, match="expected") as refused:
        cut.cut(repository.root, version, "2027-01-31")

    assert said in str(refused.value)
    assert repository.git("status", "--porcelain") == before


def test_the_changelog_of_this_tree_can_be_cut_and_its_version_is_everywhere() -> None:
    root = frozen.ROOT
    text = (root / changelog.FILE).read_text("utf-8").replace("ed]\n", "ed]\n\n- News.\n", 1)

    assert changelog.sections(changelog.cut(text, "9.9.9", "2027-01-31"))["9.9.9"][0] == "2027-01-31"
    assert versions.current(root) == service.__version__
