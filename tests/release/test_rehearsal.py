"""A toy 1.0.0 is released, and its evidence, database and policy live on in what is released after it.

`make release-rehearsal` runs this; `make test` runs the parts alone, in tests/unit/release.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from supply import frozen
from tests.change.toy import read, toy
from tests.change.tree import Edit, Run, Step, Write
from tests.fixtures.postgres import passable_folder
from tests.release.toy_release import BASE, Installed, Released, begin, bytes_of, clone, install
from tests.unit.release.test_parts import commands

pytestmark = [
    pytest.mark.timeout(3_600),
    pytest.mark.skipif(os.environ.get("GAINSAY_TEST_RELEASE") != "all", reason="`make release-rehearsal` runs it"),
]

SAMPLES = {
    "adversarial": "contract",
    "ballot": "security/ballot",
    "panel": "investment/panel",
    "convergence": "compliance/convergence",
    "stances": "architecture/stances",
}
OWN = read("release", (Path(__file__).parent / "steps.txt").read_text("utf-8"))
MIGRATION = Write("migration", "migrations/9999_toy.sql", "ALTER TABLE gainsay.schema_floor ADD COLUMN toy text;\n")
HELD = (
    "tests/unit/release/test_frozen.py",
    "tests/unit/test_goldens.py::test_a_version_gives_what_it_gave",
    "tests/unit/test_goldens.py::test_every_golden_has_a_maker",
    "tests/unit/debate/test_recorded.py",
    "tests/unit/prompts/test_layouts.py::test_requests_are_laid_out_as_their_layout_was_recorded",
    "tests/unit/audit/test_payloads.py",
)
"""Tests that hold a successor to what 1.0.0 has."""


@dataclass(frozen=True)
class First:
    """The toy release, and the deployment in which it has run."""

    repository: Released
    out: Path
    wheels: Installed
    data: Path
    policy: Path
    bundles: dict[str, Path]
    key: str

    @property
    def export(self) -> Path:
        """The exported log."""
        return self.policy.with_name("log.jsonl")

    def verified(self, by: Installed) -> dict[str, tuple[int, str]]:
        """What a build says of each bundle and of the export: exit code, and last line."""
        files = {**self.bundles, "export": self.export}
        words = [("audit", "verify", str(path), "--key", self.key, "--allow-unwitnessed") for path in files.values()]
        said = by.call(self.data, *words)
        return {name: (one["code"], one["out"].splitlines()[-1]) for name, one in zip(files, said, strict=True)}

    @property
    def said(self) -> dict[str, tuple[int, str]]:
        """What 1.0.0 said of them: an export has no documents, so its quotations are for a bundle to show."""
        export = (4, "NOT ALL CHECKABLE: 14 sources")
        return {**dict.fromkeys(self.bundles, (0, "VERIFIED, UNWITNESSED")), "export": export}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Released:
    """A repository that was cut as 1.0.0."""
    found = begin(tmp_path_factory.mktemp("repository"))
    found.cut("1.0.0")
    return found


@pytest.fixture(scope="module")
def out(repository: Released) -> Path:
    """The folder of its release, beside the public key that its users have."""
    folder = repository.key.parent / "1.0.0"
    built = repository.build(folder)
    assert built.code == 0, built.output
    return folder


@pytest.fixture(scope="module")
def first(repository: Released, out: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[First]:
    """Debates of every format by the wheel of 1.0.0, with their bundles and an export."""
    folder = tmp_path_factory.mktemp("first")
    wheels = install(out, folder / "wheels")
    policy = folder / "gainsay.toml"
    shutil.copyfile(wheels.folder / "site" / "service" / "gainsay.toml", policy)
    bundles = {name: folder / f"{name}.zip" for name in SAMPLES}
    with passable_folder() as place:
        data = place / "data"
        steps: list[tuple[str, ...]] = [("--version",)]
        for name, sample in SAMPLES.items():
            steps += [("review", "--sample", sample, "--format", name, "--json")]
            steps += [("audit", "bundle", "{debate}", "--out", str(bundles[name]))]
        steps += [("audit", "export", "--out", str(folder / "log.jsonl"))]
        steps += [("audit", "key", "show", str(data / "keys" / "log.key"))]
        said = wheels.call(data, *steps, GAINSAY_POLICY=str(policy))
        assert [one["code"] for one in said] == [0] * len(steps), said
        assert "1.0.0" in said[0]["out"]
        found = First(repository, out, wheels, data, policy, bundles, said[-1]["out"].split()[-1])
        assert found.verified(wheels) == found.said
        yield found


def successor(of: Released, folder: Path, steps: list[Step], news: str) -> tuple[Released, Path]:
    """A clone with a change, released as 1.1.0."""
    found = clone(of, folder / "tree")
    found.tree.apply([step for step in steps if not (isinstance(step, Edit) and step.path == "CHANGELOG.md")])
    found.news(news)
    found.commit(news)
    found.cut("1.1.0")
    built = found.build(folder / "1.1.0")
    assert built.code == 0, built.output
    return found, folder / "1.1.0"


# -- the release


def test_two_builds_in_two_folders_give_the_same_bytes(repository: Released, out: Path, tmp_path: Path) -> None:
    other = clone(repository, tmp_path / "a-folder-of-another-length")
    before = os.umask(0o077)
    try:
        built = other.build(tmp_path / "out", TZ="Asia/Tokyo", PYTHONHASHSEED="7", LC_ALL="C")
    finally:
        os.umask(before)

    assert built.code == 0, built.output
    assert bytes_of(out) == bytes_of(tmp_path / "out")
    assert {*bytes_of(out)} == {
        *(f"gainsay{name}" for name in ("-1.0.0.tar.gz", "-1.0.0-py3-none-any.whl", "_client-1.0.0.tar.gz")),
        *(f"gainsay-1.0.0{name}" for name in ("-image-context.tar", ".cdx.json", "-requirements.txt", "-notes.md")),
        *("gainsay_client-1.0.0-py3-none-any.whl", "gainsay-chart-1.0.0.tgz", "gainsay-1.0.0-prompts.pin"),
        *("SHA256SUMS", "SHA256SUMS.sig"),
    }
    again = repository.build(out)
    assert again.code == 0, again.output
    (out / "SHA256SUMS").write_bytes((out / "SHA256SUMS").read_bytes() + b"\n")
    replaced = repository.build(out)
    (out / "SHA256SUMS").write_bytes((out / "SHA256SUMS").read_bytes()[:-1])
    assert replaced.code == 1
    assert "found others: SHA256SUMS; a release is not replaced" in replaced.output


def test_a_user_checks_it_by_the_commands_of_the_page(out: Path) -> None:
    done = subprocess.run(["bash", "-ec", commands()], cwd=out, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": OK\n") == len(bytes_of(out)) - 2


def test_the_image_context_has_what_the_dockerfile_copies(repository: Released, out: Path, tmp_path: Path) -> None:
    """Its sources build the wheel that was released, byte for byte."""
    with tarfile.open(out / "gainsay-1.0.0-image-context.tar") as tar:
        tar.extractall(tmp_path, filter="data")
    text = (tmp_path / "Dockerfile").read_text("utf-8")
    epoch = repository.git("log", "-1", "--format=%ct").strip()

    assert f"ARG PYTHON_IMAGE={BASE}\n" in text
    assert f"ARG REVISION={repository.git('rev-parse', 'HEAD').strip()}\n" in text
    words = ["-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    built = repository.tree.python(
        "-c",
        f"import os, subprocess, sys; os.chdir({str(tmp_path)!r}); "
        f"sys.exit(subprocess.call([sys.executable, *{words!r}]))",
        env={"SOURCE_DATE_EPOCH": epoch},
    )
    assert built.code == 0, built.output
    name = "gainsay-1.0.0-py3-none-any.whl"
    assert (tmp_path / "dist" / name).read_bytes() == (out / name).read_bytes()


def test_helm_reads_the_chart(out: Path) -> None:
    helm = pytest.importorskip("tests.chart.rendering").HELM
    words = [str(helm), "show", "chart", str(out / "gainsay-chart-1.0.0.tgz")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "version: 1.0.0\n" in done.stdout


# -- successors


def test_evidence_database_and_policy_live_on_beside_a_rule_a_field_a_metric_a_template_and_a_form(
    first: First, tmp_path: Path
) -> None:
    steps: list[Step] = [MIGRATION]
    for kind in ("metric", "field", "rule"):
        steps += [step for step in toy(kind).whole if step.step != "8 goldens"]  # the rule has the same command
    steps = [step for step in OWN.steps if step.step in ("template", "form")] + steps
    found, built = successor(first.repository, tmp_path, steps, "Successors of many things.")
    wheels = install(built, tmp_path / "wheels")
    review = ("review", "--sample", "contract", "--json")

    held = found.tree.python("-m", "pytest", "-q", "--no-header", *HELD)
    version, new, bundle, verified, doctor = wheels.call(
        first.data,
        ("--version",),
        (*review, "--business-unit", "Treasury"),
        ("audit", "bundle", "{debate}", "--out", str(tmp_path / "new.zip")),
        ("audit", "verify", str(tmp_path / "new.zip"), "--key", first.key, "--allow-unwitnessed"),
        ("doctor",),
        GAINSAY_POLICY=str(first.policy),
    )
    old = first.verified(wheels)
    back = first.wheels.call(first.data, review, GAINSAY_POLICY=str(first.policy))

    assert held.code == 0, held.output
    listed = {str(one) for one in frozen.things(found.root) if one.release == "1.1.0"}
    assert listed >= {
        "engine judgement/2 of release 1.1.0",
        "form policy/2 of release 1.1.0",
        "form schemas/2 of release 1.1.0",
        "template critic version 2 of release 1.1.0",
        "migration 9999_toy of release 1.1.0",
    }
    assert "1.1.0" in version["out"]
    assert "9999_toy" in doctor["out"], doctor
    assert (new["code"], bundle["code"], verified["code"]) == (0, 0, 0), (new, verified["out"])
    assert old == first.said
    assert back[0]["code"] == 0, back  # an update can be taken back: 1.0.0 runs on the schema of 1.1.0


def test_evidence_database_and_policy_live_on_beside_a_format_a_wire_and_a_layout(first: First, tmp_path: Path) -> None:
    whole = list(toy("format").whole)
    at = next(n for n, step in enumerate(whole) if step.step == "24 requests")
    layout = [step for step in OWN.steps if step.step == "layout"]
    steps = [*toy("wire").whole, *whole[:at], *layout, *whole[at:]]
    found, built = successor(first.repository, tmp_path, steps, "A format.")
    wheels = install(built, tmp_path / "wheels")

    held = found.tree.python("-m", "pytest", "-q", "--no-header", *HELD)
    new, bundle, verified = wheels.call(
        first.data,
        ("review", "--sample", "contract/duel", "--format", "duel"),
        ("audit", "bundle", "{debate}", "--out", str(tmp_path / "new.zip")),
        ("audit", "verify", str(tmp_path / "new.zip"), "--key", first.key, "--allow-unwitnessed"),
        GAINSAY_POLICY=str(first.policy),
    )
    old = first.verified(wheels)

    assert held.code == 0, held.output
    listed = {str(one) for one in frozen.things(found.root) if one.release == "1.1.0"}
    assert listed >= {"format duel/1 of release 1.1.0", "template template.layout version 2 of release 1.1.0"}
    assert (new["code"], bundle["code"], verified["code"]) == (0, 0, 0), (new, verified["out"])
    assert old == first.said


# -- what is refused


@pytest.mark.parametrize(
    ("path", "thing"),
    [
        ("tests/vectors/panel-1/aborted.jsonl", "format panel/1"),
        ("tests/vectors/goldens/gate-1.decisions.jsonl", "engine gate/1"),
        ("tests/vectors/goldens/policy-1/shipped.json", "form policy/1"),
        ("service/audit/schemas/1/leaf.v2.json", "form schemas/1"),
        ("docs/format/schemas/certificate.v1.json", "form certificate.v1"),
        ("service/prompts/layout.v1.json", "template template.layout version 1"),
        ("tests/vectors/payloads/context.v1.jsonl", "record context.v1"),
        ("tests/vectors/bundles/panel.zip", "bundle panel.zip"),
        ("migrations/0004_provable.sql", "migration 0004_provable"),
    ],
)
def test_a_release_in_which_a_frozen_file_was_changed_is_refused(
    repository: Released, tmp_path: Path, path: str, thing: str
) -> None:
    found = clone(repository, tmp_path / "tree")
    (found.root / path).write_bytes(b"{}\n" + (found.root / path).read_bytes())
    found.news("A change in place.")
    found.commit("Change it")

    cut = found.tree.python("-m", "supply.release", "cut", "1.1.0")
    built = found.build(tmp_path / "out")
    checked = found.tree.python("-m", "supply.frozen", "check")

    for said in (cut, built, checked):
        assert said.code == 1
        assert f"{thing} of release 1.0.0 was changed: {path}; put it back, and " in said.output
    assert not (tmp_path / "out").exists()


def test_a_rule_that_was_changed_in_place_is_refused_whether_its_goldens_are_written_anew_or_not(
    repository: Released, tmp_path: Path
) -> None:
    found = clone(repository, tmp_path / "tree")
    found.tree.apply([step for step in toy("rule").steps if step.step == "0 in place"])

    held = found.tree.python("-m", "pytest", "-q", "--no-header", HELD[1], "-k", "judgement")
    written = found.tree.python("-m", "tests.vectors.goldens")

    assert held.code == 1
    assert "recorded under judgement/1: give it a new version" in held.output
    assert written.code == 1
    assert "found another judgement-1." in written.output


def test_a_template_that_was_pinned_anew_is_refused_by_the_test_of_every_run(
    repository: Released, tmp_path: Path
) -> None:
    found = clone(repository, tmp_path / "tree")
    seat = "# Your seat: critic\n"
    found.tree.apply(
        [
            Edit("x", "service/prompts/critic.v1.md", seat, f"{seat}\nBe brief.\n"),
            Run("x", ("-m", "service", "prompts", "pin")),
        ]
    )

    held = found.tree.python("-m", "pytest", "-q", "--no-header", HELD[0])

    assert held.code == 1
    assert "template critic version 1 of release 1.0.0 was changed: service/prompts/critic.v1.md" in held.output


def test_a_format_whose_code_is_gone_is_refused_by_the_test_of_every_run(repository: Released, tmp_path: Path) -> None:
    found = clone(repository, tmp_path / "tree")
    shutil.rmtree(found.root / "tests" / "vectors" / "ballot-1")

    checked = found.tree.python("-m", "supply.frozen", "check")
    layouts = found.tree.python("-m", "tests.vectors.bundles")

    assert checked.code == 1
    assert "format ballot/1 of release 1.0.0 is not there any more" in checked.output
    assert layouts.code == 1
    assert "a released version has recorded bundles" in layouts.output
