"""A format is complete or does not start: every layer's table has a row for each, or nothing begins."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec.structs import fields

import service
from service.cli import main, startup
from service.debate.formats import NAMES, FormatName, Rows, complete_formats, name_of
from service.debate.kernel import CURRENT, FORMATS
from service.debate.model import Options
from service.debate.options import format_of
from service.debate.replies import REPLY_TYPES, Reply
from service.debate.results import FormatResult
from service.errors import IllegalEntry, IncompleteFormat
from service.intake import worst_case
from service.simulated import provider
from tests.fixtures import formats
from tests.fixtures.tables import import_changed, leave_out

HOW_TO = "docs/how-to/add-a-format.md"
ROOT = Path(service.__file__).parent.parent
TABLES = {
    "debate": ("service.debate.kernel", "CURRENT"),
    "policy": ("service.policy.formats", "FORMAT_RULES"),
    "prompts": ("service.prompts.render", "_BLOCKS"),
    "intake": ("service.intake.formats", "READINGS"),
    "verify": ("service.verify.asked", "_FORMATS"),
    "decision": ("service.report.result.decision", "DECISIONS"),
    "dissent": ("service.report.result.dissenters", "DISSENTS"),
    "report": ("service.report.formats", "TELLINGS"),
    "events": ("service.report.events.formats", "STREAMS"),
    "evaluation": ("service.evaluation.scoring.answers", "ANSWERS"),
    "reviews": ("service.reviews.evaluation_cases", "CLOSED"),
    "web": ("service.web.formats", "BOUNDS"),
    "cli": ("service.cli.format_options", "ASKING"),
    "display": ("service.cli.display.outcome", "PAGES"),
}
"""Each layer's one table: its module and its name there."""
CHECKED = {"complete_formats", "complete_wires", "complete_checks", "complete_gates", "require_parts"}
"""What checks a table over a closed list; each is a call of `in_order` or `require_rows`."""
WITHOUT = [(layer, name) for layer in TABLES for name in NAMES]


def table(layer: str) -> Mapping[str, Any]:
    """The table of a layer as it stands."""
    module, name = TABLES[layer]
    found: Mapping[str, Any] = getattr(import_module(module), name)
    return found


def place(layer: str) -> Path:
    """The file that holds a layer's table."""
    return Path(str(import_module(TABLES[layer][0]).__file__))


def place_of(layer: str) -> str:
    """The path of a layer's table, also where its module is not imported."""
    path = ROOT.joinpath(*TABLES[layer][0].split("."))
    return str((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).relative_to(ROOT))


def calls(tree: ast.AST) -> list[ast.Call]:
    """Every call of `complete_formats`."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "complete_formats"
    ]


def run(source: str) -> subprocess.CompletedProcess[str]:
    """A program of its own."""
    return subprocess.run(
        [sys.executable, "-c", source], check=False, capture_output=True, text=True, timeout=60, cwd=ROOT
    )


# -- the tables


def test_the_tables_are_all_there_are() -> None:
    found = {}
    for path in (ROOT / "service").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for call in calls(ast.parse(source)) if " complete_formats(" in source else ():
            layer = call.args[1]
            assert isinstance(layer, ast.Constant), path
            found[layer.value] = path

    assert found == {layer: place(layer) for layer in TABLES}


@pytest.mark.parametrize("layer", TABLES)
def test_a_layer_knows_each_format_in_the_order_of_the_list(layer: str) -> None:
    assert tuple(table(layer)) == NAMES


@pytest.mark.parametrize(("layer", "name"), WITHOUT)
def test_a_layer_that_lacks_a_format_cannot_be_imported(layer: str, name: str) -> None:
    source = ast.parse(place(layer).read_text(encoding="utf-8"))
    (call,) = calls(source)
    leave_out(call.args[0], name)

    with pytest.raises(IncompleteFormat) as refused:
        import_changed(TABLES[layer][0], source)

    assert refused.value.code == "incomplete_format"
    where = f"the table of the layer {layer} ({place(layer).relative_to(ROOT)})"
    assert refused.value.detail == (
        f"expected a row for each format in {where}, found none for: {name}; add it as {HOW_TO} says"
    )


def test_a_row_for_a_name_that_is_not_in_the_list_is_refused() -> None:
    with pytest.raises(IncompleteFormat, match="found beside them: joust; add the name as"):
        complete_formats({**table("web"), "joust": None}, "web", str(place("web")))  # type: ignore[typeddict-item]


def test_half_a_format_does_not_start_and_the_command_says_where_it_is_missing() -> None:
    half = (
        "import sys, service.debate.formats as formats\n"
        "formats.NAMES = (*formats.NAMES, 'joust')\n"
        "from service.cli import main\n"
        "sys.exit(main(['review', '--help']))"
    )

    ended = run(half)

    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr == (
        "gainsay: incomplete_format: expected a row for each format in the table of the layer debate "
        f"(service/debate/kernel.py), found none for: joust; add it as {HOW_TO} says\n"
    )


# -- the start


def test_every_process_imports_every_table_over_a_closed_list_at_its_start() -> None:
    holding = set()
    for path in (ROOT / "service").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for node in ast.parse(source).body if any(f"{name}(" in source for name in CHECKED) else ():
            called = {ast.unparse(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) and called & CHECKED:
                holding.add(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))

    assert sorted(holding) == list(startup.TABLES)
    assert {module for module, _ in TABLES.values()} <= holding


@pytest.mark.parametrize("words", [("work",), ("review", "--sample", "contract", "--format", "convergence")])
@pytest.mark.parametrize("layer", TABLES)
def test_no_command_that_runs_debates_starts_where_one_layer_lacks_a_format(
    layer: str, words: Sequence[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No row of any other layer is missing, so nothing but the check at the start can name this one."""

    def lacking(rows: Mapping[str, Any], of: str, file: str) -> object:
        kept = {name: row for name, row in rows.items() if (of, name) != (layer, "convergence")}
        return complete_formats(kept, of, file)  # type: ignore[arg-type]

    monkeypatch.setenv("GAINSAY_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    monkeypatch.setenv("GAINSAY_WAIT_S", "0")
    import_module(f"service.cli.{'serve' if words[0] == 'work' else words[0]}")
    for module in startup.TABLES:
        import_module(module)
    monkeypatch.delitem(sys.modules, TABLES[layer][0])
    monkeypatch.setattr("service.debate.formats.complete_formats", lacking)

    assert main(words) == 3

    assert capsys.readouterr().err == (
        f"gainsay: incomplete_format: expected a row for each format in the table of the layer {layer} "
        f"({place_of(layer)}), found none for: convergence; add it as {HOW_TO} says\n"
    )


# -- the list


def test_nothing_treats_a_format_by_its_name_outside_the_tables() -> None:
    """A comparison with a name, or a row that is taken by one, does nothing for a format that is added later."""
    found = []
    for path in sorted((ROOT / "service").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if any(f'"{name}"' in source for name in NAMES) else ():
            match node:
                case ast.Compare(left, _, others):
                    used = [constant for side in (left, *others) for constant in ast.walk(side)]
                case ast.Subscript(_, row):
                    used = [row]
                case _:
                    used = []
            if any(isinstance(one, ast.Constant) and one.value in NAMES for one in used):
                found.append(f"{path.relative_to(ROOT)}: {ast.unparse(node)}")

    assert found == []


def test_the_list_is_the_same_wherever_it_is_written() -> None:
    assert get_args(FormatName) == NAMES == tuple(Rows.__annotations__)
    assert {name_of(version) for version in FORMATS} == set(NAMES)
    assert {name: form.FORMAT.partition("/")[0] for name, form in CURRENT.items()} == {name: name for name in NAMES}


def test_every_format_has_options_of_its_own_and_all_but_the_adversarial_a_result() -> None:
    options = {str(kind.__struct_config__.tag) for kind in get_args(Options)}
    results = {str(kind.__struct_config__.tag) for kind in get_args(FormatResult)}

    assert options == set(FORMATS)
    assert results == set(NAMES) - {"adversarial"}


@pytest.mark.parametrize("options", get_args(Options))
def test_what_every_page_says_of_options_is_always_recorded(options: type[Any]) -> None:
    always = {field.encode_name for field in fields(options) if field.required}

    assert {"maxRounds", "humanReview"} <= always


def test_the_how_to_names_the_file_of_every_table() -> None:
    told = (ROOT / HOW_TO).read_text(encoding="utf-8")

    for layer in TABLES:
        path = str(place(layer).relative_to(ROOT))
        assert f"`{path}`" in told or f"`{path.replace('__init__', 'NAME')}` and `__init__.py` there" in told, layer
    named = {path for path in re.findall(r"`((?:service|tests|docs)/[^`*]*)`", told) if "NAME" not in path}
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("version", FORMATS)
def test_options_say_their_format(version: str) -> None:
    assert format_of(formats.plain(version)) == name_of(version) == version.partition("/")[0]


@pytest.mark.parametrize("name", ["joust", "", "Ballot", "ballots/1"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(IllegalEntry, match="expected one of the formats adversarial, "):
        name_of(name)


def test_every_kind_of_turn_has_a_reply_of_its_own_a_shortest_one_and_one_offline() -> None:
    shortest = set(worst_case._REPLIES)

    assert set(REPLY_TYPES.values()) == set(get_args(Reply))
    assert shortest | {"panel.accuracy"} == set(REPLY_TYPES)  # whose shortest reply names the debaters that it saw
    assert set(provider._SEATS) == set(REPLY_TYPES)


# -- what mypy holds


def test_mypy_refuses_a_match_that_leaves_a_case_out() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]

    assert config["strict"] is True
    assert "exhaustive-match" in config["enable_error_code"]
    assert "service" in config["files"]
    disabled = [part["module"] for part in config["overrides"] if "disable_error_code" in part]
    assert ("disable_error_code" in config, disabled) == (False, [["tests.*"]])


def test_mypy_names_the_row_and_the_case_that_are_missing(tmp_path: Path) -> None:
    known = [name for name in NAMES if name != "panel"]
    rows = ", ".join(f'"{name}": 1' for name in known)
    cases = "".join(f'        case "{name}":\n            return 1\n' for name in known)
    half = tmp_path / "half.py"
    half.write_text(
        "from service.debate.formats import FormatName, complete_formats\n"
        f'TABLE = complete_formats({{{rows}}}, "half", __file__)\n'
        f"def number(name: FormatName) -> int | None:\n    match name:\n{cases}    return None\n"
    )

    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", str(ROOT / ".mypy_cache" / "half"), half],
        check=False,
        capture_output=True,
        text=True,
        timeout=180,
        cwd=ROOT,
    )

    assert 'Missing key "panel" for TypedDict' in checked.stdout
    assert "unhandled case for values of type \"Literal['panel']\"" in checked.stdout
