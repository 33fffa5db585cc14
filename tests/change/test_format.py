"""A toy format: two debaters argue an assigned stance once each, and a judge names the one that prevails.

Half of it is its name in the closed list with its own rules, options, result and replies; whole, it has all that
docs/how-to/add-a-format.md lists, but for the cases of the other four samples and the pages of documentation. Commands
run in processes of their own.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.change.plain_files import change_in
from tests.change.tree import ROOT, Run, Tree, copy, without
from tests.unit.test_formats_complete import TABLES, place

HERE = Path(__file__).parent / "format"
HALF = change_in(HERE / "half")
SCHEMAS = Run("schemas", ("-m", "service.prompts.schemas"))
PIN = Run("pin", ("-m", "service", "prompts", "pin"))
FORMS = Run("forms", ("-m", "tests.vectors.schemas"))
RECORD = Run("record", ("-m", "tests.vectors.record", "duel/1"))
WHOLE = [*HALF, *change_in(HERE / "whole"), SCHEMAS, PIN, FORMS, RECORD]
BANK = "The liability is uncapped: Annex C prevails, and its indemnity is without limit."
SUPPLIER = "The liability is capped: Order Form No. 2 sets a single aggregate cap that includes every indemnity."
MATCHES = {
    "service/debate/options.py": "DuelOptions",
    "service/debate/replies/__init__.py": "Speech | Award",
    "service/prompts/transcript.py": "Speech | Award",
    "service/intake/validation.py": "DuelOptions",
    "service/intake/expected_cost.py": "DuelOptions",
    "service/running/metrics.py": "DuelResult",
    "service/report/document/deciders.py": "Speech | Award",
    "service/report/events/entry_events.py": "Speech | Award",
}
"""The files with a ``match`` that lacks a case, and of what."""


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The repository with half a format."""
    tree = copy(tmp_path_factory.mktemp("half") / "tree")
    tree.apply(HALF)
    return tree


# -- half


def test_one_run_of_mypy_lists_every_layer_and_every_match_that_lacks_the_format(half: Tree) -> None:
    checked = half.mypy("service")

    rows = set(re.findall(r'^(\S+?):\d+: error: Missing key "duel" for TypedDict', checked.output, re.MULTILINE))
    cases = set(re.findall(r'^(\S+?):\d+: error: Match .* of type "(.*?)"  \[exh', checked.output, re.MULTILINE))
    assert checked.code == 1, checked.output
    assert rows == {str(place(layer).relative_to(ROOT)) for layer in TABLES}
    assert cases == set(MATCHES.items())


def test_it_does_not_start_and_the_refusal_names_the_layer(half: Tree) -> None:
    refused = half.python("-m", "service", "review", "--sample", "contract", "--format", "duel")

    assert refused.code == 3
    assert refused.output == (
        "gainsay: incomplete_format: expected a row for each format in the table of the layer debate "
        "(service/debate/kernel.py), found none for: duel; add it as docs/how-to/add-a-format.md says\n"
    )


# -- what mypy cannot see


@pytest.fixture(scope="module")
def nearly(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The repository with a format whose replies have no descriptions and no schemas, and no prompt for the judge."""
    tree = copy(tmp_path_factory.mktemp("nearly") / "tree")
    kept = without(without(WHOLE, "service/prompts/descriptions.py"), "service/prompts/duel.judge.v1.md")
    tree.apply([step for step in kept if not isinstance(step, Run)])
    return tree


def test_each_missing_text_is_named_with_what_makes_it(nearly: Tree) -> None:
    quote = ("-m", "service", "quote", "--sample", "contract/duel")

    undescribed = nearly.python(*SCHEMAS.words)
    nearly.apply([PIN])
    without_schema = nearly.python(*quote)
    nearly.apply([step for step in WHOLE if step.step == "service/prompts/descriptions.py"] + [SCHEMAS, PIN])
    without_prompt = nearly.python(*quote)

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


# -- whole


@pytest.mark.timeout(180)
def test_whole_it_runs_tells_each_debater_its_stance_names_the_winner_and_verifies(tmp_path: Path) -> None:
    tree = copy(tmp_path / "tree")
    tree.apply(WHOLE)
    own, bundle = {"GAINSAY_DATA_DIR": str(tmp_path / "data"), "COLUMNS": "200"}, tmp_path / "duel.zip"

    help_ = tree.python("-m", "service", "review", "--help").output
    assert "stances, ballot and duel:\n  --debater NAME[=STANCE]" in help_
    assert "A debater, in speaking order; with stances or duel, also its position." in " ".join(help_.split())

    page = tree.python("-m", "service", "review", "--sample", "contract/duel", "--format", "duel", env=own)

    assert page.code == 0, page.output
    said = " ".join(page.output.replace("┃", " ").split())
    (winner,) = {stance for stance in (BANK, SUPPLIER) if f"Winner {stance}" in said}
    assert "Debate duel, at most 1 round" in said
    assert "NO CONCLUSION" not in said
    debate = re.findall(r"gainsay report (\S+)", page.output)[0]

    report = tree.python("-m", "service", "report", debate, "--markdown", env=own)
    assert f"The judge's winner: {winner}" in report.output

    key = tree.python("-m", "service", "audit", "key", "show", str(tmp_path / "data" / "keys" / "log.key"), env=own)
    written = tree.python("-m", "service", "audit", "bundle", debate, "-o", str(bundle), env=own)
    assert written.code == 0, written.output
    words = ("audit", "verify", str(bundle), "--key", key.output.split()[-1], "--allow-unwitnessed")
    verified = tree.python("-m", "service", *words)
    assert (verified.code, verified.output.splitlines()[-1]) == (0, "VERIFIED, UNWITNESSED"), verified.output
    assert "by the rules of duel/1" in verified.output
    assert re.search(r"^16 +requests +OK +3 requests rendered again", verified.output, re.MULTILINE)

    asked = json.loads(tree.python(str(HERE / "requests.py.txt"), str(bundle)).output)
    stances = {turn: re.findall(r"begin stance-of-this-seat \{\}\]\]\n(.*)\n", text) for turn, text in asked.items()}
    assert stances == {"1.debater-1.1": [BANK], "1.debater-2.1": [SUPPLIER], "1.judge.1": []}

    suites = ("tests/unit/debate/test_recorded.py", "tests/unit/test_formats_complete.py")
    tested = tree.pytest(*suites, "-k", "duel or every_kind or the_list_is or say_their")
    assert tested.code == 0, tested.output
    assert len(list((tree.folder / "tests/vectors/duel-1").glob("*.jsonl"))) == 14  # seven debates and their moves
