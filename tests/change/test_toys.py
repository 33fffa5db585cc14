"""A format, a field, a metric, a wire and a rule, as a newcomer adds them by their how-tos.

Applied half, one run of ``python -m tests.change.check`` names every place that is missing. Applied whole, nothing is
missing, and each works end to end: three of them in a deployment that goes on from the unchanged code. A step that is
left out alone is named too. `make changes` runs all of it. `make test` draws one of the two trees and one step of it,
from GAINSAY_TEST_CHANGES_SEED or else from the commit; of the other tree it asks whether each step still fits.

Changes share two trees, of which a step is left out in place, and trees share one cache of mypy, because each copy,
each command of a how-to and each run of mypy over a changed kernel takes seconds.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.change import tree
from tests.change.toy import HERE, KINDS, toy
from tests.change.tree import ROOT, Result, Run, Step, Tree, without
from tests.fixtures.postgres import passable_folder

TOYS = {kind: toy(kind) for kind in KINDS}
CLOSED, OPEN = ("wire", "format"), ("metric", "field", "rule")
"""The changes of which half does not start, and those of which it does."""
SEED = os.environ.get("GAINSAY_TEST_CHANGES_SEED") or tree.commit()
DRAWN: tuple[str, ...] = KINDS
LEFT_OUT = [(kind, name) for kind, change in TOYS.items() for name, said in change.said.items() if said.named]
if os.environ.get("GAINSAY_TEST_CHANGES") != "all":
    DRAWN = random.Random(SEED).choice([CLOSED, OPEN])
    LEFT_OUT = [random.Random(SEED).choice([one for one in LEFT_OUT if one[0] in DRAWN])]
NOT_DRAWN = f"`make changes` runs it; the seed {SEED} draws {', '.join(DRAWN)}"
if_closed = pytest.mark.skipif("format" not in DRAWN, reason=NOT_DRAWN)
if_open = pytest.mark.skipif("rule" not in DRAWN, reason=NOT_DRAWN)

ONLY = {
    "GAINSAY_TEST_WIRES": "toy",
    "GAINSAY_TEST_GOLDENS_LEFT_OUT": "citations- consensus- seating- texts- usage-",
}
"""The contract suites have run on the other wires elsewhere, and no toy changes the engines of these goldens."""
KEY = "toy-0123456789abcdef"
BANK = "The liability is uncapped: Annex C prevails, and its indemnity is without limit."
SUPPLIER = "The liability is capped: Order Form No. 2 sets a single aggregate cap that includes every indemnity."
Called = dict[str, Any]
# A check takes 40 s of processor time, and a busy machine gives it a tenth of one.
pytestmark = [pytest.mark.timeout(1_800), pytest.mark.long]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Where mypy keeps what it has seen of any tree; it begins with what it has seen of the repository."""
    kept = tmp_path_factory.mktemp("mypy") / "cache"
    if (ROOT / ".mypy_cache").is_dir():
        shutil.copytree(ROOT / ".mypy_cache", kept)
    return {"MYPY_CACHE_DIR": str(kept)}


def check(where: Tree, kinds: Sequence[str], cache: Mapping[str, str] = {}) -> Result:
    """What ``python -m tests.change.check`` says in a tree."""
    result = where.python("-m", "tests.change.check", *kinds, env=cache)
    if "malformed" in result.output or "INTERNAL ERROR" in result.output:
        shutil.rmtree(cache["MYPY_CACHE_DIR"])  # it was copied while another run wrote it
        result = where.python("-m", "tests.change.check", *kinds, env=cache)
    return result


def missing(texts: Mapping[str, tuple[str, ...]], output: str) -> dict[str, list[str]]:
    """The steps whose texts do not all stand in an output."""
    return {step: left for step, of in texts.items() if (left := [text for text in of if text not in output])}


def test_each_step_of_the_tree_that_is_not_drawn_fits() -> None:
    with tree.lend() as found:
        for kind in KINDS:
            if kind not in DRAWN:
                found.apply([step for step in TOYS[kind].whole if not isinstance(step, Run)])


# -- half


@if_closed
def test_half_a_wire_and_half_a_format_do_not_start_and_one_run_names_every_place(cache: dict[str, str]) -> None:
    texts = {f"{kind} {step}": of for kind in CLOSED for step, of in TOYS[kind].missing.items()}
    refused = {}
    with tree.lend() as half:
        for kind in reversed(CLOSED):  # of two tables that lack a row the first imported is named, a wire's
            half.apply(TOYS[kind].half)
            refused[kind] = half.python("-m", "service", "gate", "--sample", "contract")
        checked = check(half, CLOSED, cache)

    assert {kind: result.code for kind, result in refused.items()} == dict.fromkeys(CLOSED, 3)
    assert re.fullmatch(
        r"gainsay: incomplete_wire: expected a row for each wire in the table of the layer \w+ \(service/\S+\.py\), "
        r"found none for: toy-wire; add it as docs/how-to/add-a-vendor\.md says\n",
        refused["wire"].output,
    )
    assert refused["format"].output == (
        "gainsay: incomplete_format: expected a row for each format in the table of the layer debate "
        "(service/debate/kernel.py), found none for: duel; add it as docs/how-to/add-a-format.md says\n"
    )
    assert checked.code == 1, checked.output
    assert re.search(r"^IncompleteFormat: expected a row", checked.output, re.MULTILINE), checked.output
    assert missing(texts, checked.output) == {}, checked.output


@if_open
def test_half_a_field_a_metric_and_a_rule_start_and_one_run_names_every_place() -> None:
    texts = {f"{kind} {step}": of for kind in OPEN for step, of in TOYS[kind].missing.items()}
    with tree.lend() as half:
        for kind in OPEN:
            half.apply(TOYS[kind].half)
        checked = check(half, OPEN, ONLY)

    assert checked.code == 1, checked.output
    assert missing(texts, checked.output) == {}, checked.output


# -- whole


@dataclass(frozen=True)
class Whole:
    """A tree with whole changes, the deployment that it serves, and what was said before all was there."""

    tree: Tree
    data: Path
    folder: Path
    before: tuple[Called, ...] = ()
    texts: tuple[Result, ...] = ()

    def call(self, *commands: tuple[str, ...], **env: str) -> tuple[Called, ...]:
        return called(self.tree, self.data, *commands, **env)


def called(where: Tree, data: Path, *commands: tuple[str, ...], **env: str) -> tuple[Called, ...]:
    """The commands in one process of the tree, each with its code and its output."""
    env = {"GAINSAY_DATA_DIR": str(data), "GAINSAY_WARM_S": "0", "COLUMNS": "200", **env}
    result = where.python("-m", "tests.change.calling", json.dumps(commands), env=env)
    assert result.code == 0, result.output
    return tuple(json.loads(line) for line in result.output.splitlines() if line.startswith('{"words"'))


def bundled(zipped: Path) -> tuple[str, ...]:
    """The command that writes the bundle of the last debate."""
    return ("audit", "bundle", "{debate}", "--out", str(zipped))


def verified(data: Path, *zipped: Path) -> list[tuple[str, ...]]:
    """The commands that verify bundles with the deployment's key."""
    shown = ("audit", "key", "show", str(data / "keys" / "log.key"))
    return [shown, *(("audit", "verify", str(path), "--key", "{key}", "--allow-unwitnessed") for path in zipped)]


@contextmanager
def deployment(folder: Path) -> Iterator[Whole]:
    """An unchanged tree, and where it keeps its data."""
    with passable_folder() as data, tree.lend() as found:
        yield Whole(found, data / "data", folder)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    """A metric, a field and a rule, in a deployment with a debate of the unchanged code."""
    with deployment(tmp_path_factory.mktemp("opened")) as of:
        before = of.call(("review", "--sample", "contract", "--json"), bundled(of.folder / "old.zip"))
        steps = [step for kind in OPEN for step in TOYS[kind].whole]
        of.tree.apply([step for step in steps if step.step != "8 goldens"])  # the rule has the same command
        yield replace(of, before=before)


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    """A format and a wire, and what three commands say before the format has descriptions, schemas and all prompts."""
    change = TOYS["format"].whole
    runs = [step for step in change if isinstance(step, Run)]
    kept: list[Step] = without(without(change, "8 descriptions"), "7 prompt of the judge")
    quote = ("-m", "service", "quote", "--sample", "contract/duel")
    with deployment(tmp_path_factory.mktemp("closed")) as of:
        of.tree.apply(TOYS["wire"].whole)
        of.tree.apply([step for step in kept if not isinstance(step, Run)])
        undescribed = of.tree.python(*runs[0].words)
        of.tree.apply([step for step in runs if step.step == "10 pins"])
        without_schema = of.tree.python(*quote)
        of.tree.apply([step for step in change if step.step in ("8 descriptions", "10 schemas", "10 pins")])
        without_prompt = of.tree.python(*quote)
        of.tree.apply([*(step for step in change if step.step == "7 prompt of the judge"), *runs])
        yield replace(of, texts=(undescribed, without_schema, without_prompt))


@if_closed
def test_a_text_that_a_format_lacks_is_named_with_what_makes_it(closed: Whole) -> None:
    undescribed, without_schema, without_prompt = closed.texts

    assert undescribed.code == 1
    assert undescribed.output == (
        "expected a description of Speech in service/prompts/descriptions.py for: itself, arguments\n"
        "expected a description of Award in service/prompts/descriptions.py for: itself, winner, reasoning, "
        "confidenceLevel, explicitUncertainties\n"
    )
    assert without_schema.code == without_prompt.code == 3
    assert (
        "expected prompt 'schema.duel.debater' in the manifest, found none; run `python -m service.prompts.schemas`, "
        "which writes it to prompts/schemas/duel.debater.v1.json, and record it with `gainsay prompts pin`"
    ) in without_schema.output
    assert (
        "expected prompt 'duel.judge' in the manifest, found none; write it to prompts/duel.judge.v1.md, "
        "and record it with `gainsay prompts pin`"
    ) in without_prompt.output


@if_closed
def test_with_a_whole_format_and_wire_nothing_is_missing(closed: Whole, cache: dict[str, str]) -> None:
    checked = check(closed.tree, CLOSED, {**cache, **ONLY})

    assert checked.code == 0, checked.output
    assert len([*(closed.tree.folder / "tests/vectors/duel-1").glob("*.jsonl")]) == 14  # seven debates and their moves


@if_open
def test_with_a_whole_field_metric_and_rule_nothing_is_missing(opened: Whole) -> None:
    checked = check(opened.tree, OPEN, ONLY)

    assert checked.code == 0, checked.output
    name = "tests/vectors/goldens/judgement-1.critique.jsonl"
    assert (opened.tree.folder / name).read_bytes() == (ROOT / name).read_bytes()


@if_open
def test_a_deployment_goes_on_with_a_field_a_metric_and_a_rule(opened: Whole) -> None:
    old, later, new = (opened.folder / f"{name}.zip" for name in ("old", "later", "new"))
    review = ("review", "--sample", "contract", "--json")
    opened.call(("later",), review, bundled(later))

    reviewed, _, report, export, _, _, *ended, metrics = opened.call(
        (*review, "--business-unit", "Treasury"),
        bundled(new),
        ("report", "{debate}", "--markdown"),
        ("audit", "export", "--format", "csv"),
        ("audit", "export", "--out", str(opened.folder / "new.jsonl")),
        *verified(opened.data, old, later, new),
        ("metrics",),
    )

    assert [one["code"] for one in (*opened.before, reviewed, report, export, *ended)] == [0, 0, 0, 0, 0, 0, 4, 0]
    assert engines(opened.before[0]) == {"judgement/1"}
    assert engines(reviewed) == {"judgement/2"}
    ends = ["VERIFIED, UNWITNESSED", "NOT ALL CHECKABLE: 20 checks", "VERIFIED, UNWITNESSED"]
    for one, end in zip(ended, ends, strict=True):
        assert one["out"].splitlines()[-1].startswith(end), one["out"]
    assert "checks by judgement/3, and this build has" in ended[1]["out"]
    assert verified_by_the_unchanged_code(new) == ["records", "context", "parts", "gate", "checks", "report"]
    exported = new.with_suffix(".jsonl")
    assert verified_by_the_unchanged_code(exported) == ["records", "payloads", "moves", "sources"]
    assert "Business unit" in report["out"]
    assert "Treasury" in report["out"]
    debates = {row["debate"]: row["businessUnit"] for row in csv.DictReader(io.StringIO(export["out"], newline=""))}
    assert debates[json.loads(reviewed["out"])["debateId"]] == "Treasury"
    assert debates[json.loads(opened.before[0]["out"])["debateId"]] == ""
    series = [line for line in metrics["out"].splitlines() if line.startswith("gainsay_arguments_struck_total{")]
    seats = ('seat="critic"', 'seat="proposer"')
    assert {label for line in series for label in seats if label in line} == {*seats}


def verified_by_the_unchanged_code(file: Path) -> list[str]:
    """What an earlier build cannot check of an honest record; it finds no failure."""
    words = ("audit", "verify", str(file), "--json", "--allow-unsigned", "--allow-unwitnessed")
    report = json.loads(Tree(ROOT).python("-m", "service", *words).output)
    states = {step["name"]: step["state"] for step in report["steps"] if not step.get("allowed")}
    assert report["exit"] == 4, states
    return [name for name, state in states.items() if state != "OK"]


def engines(reviewed: Called) -> set[str]:
    """The versions by which the critiques of a debate were judged."""
    return {check["engine"] for check in json.loads(reviewed["out"])["checks"] if check["kind"] == "critique"}


@if_closed
def test_a_format_tells_each_debater_its_stance_names_the_winner_and_verifies(closed: Whole) -> None:
    zipped = closed.folder / "duel.zip"

    help_ = closed.tree.python("-m", "service", "review", "--help").output
    assert "stances, ballot, convergence and duel:\n  --debater NAME[=STANCE]" in help_
    assert "A debater, in speaking order; with stances or duel, also its position." in " ".join(help_.split())

    page, bundle, report, _, verdict, asked = closed.call(
        ("review", "--sample", "contract/duel", "--format", "duel"),
        bundled(zipped),
        ("report", "{debate}", "--markdown"),
        *verified(closed.data, zipped),
        ("asked", str(zipped)),
    )

    assert (page["code"], bundle["code"]) == (0, 0), page["out"]
    said = " ".join(re.sub("[┃│]", " ", page["out"]).split())
    (winner,) = {stance for stance in (BANK, SUPPLIER) if f"Winner {stance}" in said}
    assert "Debate duel, at most 1 round" in " ".join(page["beside"].split())
    assert "CHOSEN" in said
    assert f"The judge chose “{winner}”" in report["out"]
    assert (verdict["code"], verdict["out"].splitlines()[-1]) == (0, "VERIFIED, UNWITNESSED"), verdict["out"]
    assert "by the rules of duel/1" in verdict["out"]
    assert re.search(r"^\d+ +requests +OK +3 requests rendered again", verdict["out"], re.MULTILINE)
    texts = json.loads(asked["out"]).items()
    stances = {turn: re.findall(r"begin stance-of-this-seat \{\}\]\]\n(.*)\n", text) for turn, text in texts}
    assert stances == {"1.debater-1.1": [BANK], "1.debater-2.1": [SUPPLIER], "1.judge.1": []}


@if_closed
def test_a_wire_is_charged_by_its_own_usage_and_verifies(closed: Whole) -> None:
    zipped, rules = closed.folder / "toy.zip", closed.folder / "policy.toml"
    with vendor(closed.tree) as url:
        rules.write_text(policy(url), encoding="utf-8")
        page, *_, verdict = closed.call(
            ("review", "--sample", "contract"),
            bundled(zipped),
            *verified(closed.data, zipped),
            GAINSAY_POLICY=str(rules),
            TOY_KEY=KEY,
        )
        stats = json.loads(closed.tree.python("-c", FETCH, f"{url}/stats").output)

    assert page["code"] == 0, page["out"]
    tokens = [billed for model, billed in stats["billed"].items() if model.startswith("toy-")]
    cost = sum(billed["input"] + 4 * billed["output"] for billed in tokens)  # micro-dollars, as policy.toml.txt has it
    assert stats["callsByPath"] == {"/toy": stats["billedCalls"]}
    assert stats["billedCalls"] >= 5
    assert (verdict["code"], verdict["out"].splitlines()[-1]) == (0, "VERIFIED, UNWITNESSED"), verdict["out"]
    charges = f"{stats['billedCalls']} charges by usage and price row, {cost / 1_000_000:.6f}".rstrip("0")
    assert charges in verdict["out"]


FETCH = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())"


@contextmanager
def vendor(where: Tree) -> Iterator[str]:
    """The address of the tests' upstream in a process of the tree: it speaks the wire from the vendor's side."""
    env = {"PYTHONPATH": str(where.folder), "PATH": os.environ["PATH"]}
    words = [sys.executable, "-m", "tests.fixtures.upstream"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=env, cwd=where.folder, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def policy(url: str) -> str:
    """The shipped policy with the toy's models at every seat of an adversarial debate."""
    shipped = (ROOT / "service/gainsay.toml").read_text(encoding="utf-8")
    before = shipped.partition("[providers.offline]")[0]
    before, _, after = before.partition("[formats.auto]")  # whose formats need seats that are not filled here
    toys = (HERE / "wire" / "policy.toml.txt").read_text(encoding="utf-8")
    return before + after[after.index("\n[") :] + toys.replace("URL", url)


# -- a step left out


@pytest.mark.parametrize(("kind", "step"), LEFT_OUT, ids=lambda value: value.replace(" ", "-"))
def test_a_step_that_is_left_out_is_named(
    kind: str, step: str, cache: dict[str, str], request: pytest.FixtureRequest
) -> None:
    change = TOYS[kind]
    of: Whole = request.getfixturevalue("closed" if kind in CLOSED else "opened")
    with of.tree.without(change.whole, step):
        result = check(of.tree, (kind,), {**cache, **ONLY})

    assert result.code == 1, result.output
    assert missing({step: change.said[step].named}, result.output) == {}, result.output
