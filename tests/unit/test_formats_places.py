"""What a format needs beside the tables that mypy and the start hold: texts, players, samples, debates and a page.

The service does not start with an incomplete format. So these tests read files, import no table, and one run names
every place that lacks one. docs/how-to/add-a-format.md lists the places in order.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

from service.debate.formats import NAMES
from service.debate.options import Options
from service.debate.replies import REPLY_TYPES
from service.debate.results import FormatResult

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = ROOT / "service/prompts"
VERSIONS = tuple(str(kind.__struct_config__.tag) for kind in get_args(Options))
"""The newest version of each format, by its options."""


def lacking(said: str, found: Iterable[str], wanted: Iterable[str]) -> str:
    """What is to be done for each name that is wanted and was not found, a line each."""
    there = set(found)
    return "".join(f"{said.format(name)}\n" for name in wanted if name not in there)


def keys(path: str) -> Iterator[str]:
    """The keys of every table, and the cases of every ``match``, that a module writes down."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        match node:
            case ast.Dict(keys=of):
                yield from (key.value for key in of if isinstance(key, ast.Constant) and isinstance(key.value, str))
            case ast.MatchValue(value=ast.Constant(value=str(name))):
                yield name
            case _:
                pass


def strings(path: str) -> list[str]:
    """Every string constant of a module."""
    tree = ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    return [node.value for node in tree if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def named(folder: Path, ending: str) -> list[str]:
    """Of which kinds of turns a folder has texts; a kind may have several: ``stances.debater.open`` is one of them."""
    found = [path.name.removesuffix(ending).rpartition(".v")[0] for path in folder.glob(f"*.v*{ending}")]
    return [*found, *(name.rpartition(".")[0] for name in found)]


def test_every_kind_of_turn_has_a_prompt() -> None:
    found = named(PROMPTS, ".md")

    assert lacking("write a prompt for {0} to service/prompts/{0}.v1.md", found, REPLY_TYPES) == ""


def test_every_reply_has_a_description() -> None:
    found = [*keys("service/prompts/descriptions.py")]
    types = [kind.__name__ for kind in REPLY_TYPES.values()]

    assert lacking("describe {} in service/prompts/descriptions.py", found, types) == ""


def test_every_reply_has_a_schema() -> None:
    found = [path.name.rpartition(".v")[0] for path in (PROMPTS / "schemas").glob("*.json")]

    assert lacking("run python -m service.prompts.schemas for {}", found, REPLY_TYPES) == ""


def test_every_prompt_and_schema_is_pinned() -> None:
    pinned = {entry["id"] for entry in json.loads((PROMPTS / "manifest.json").read_text(encoding="utf-8"))["entries"]}
    prompts = [*pinned, *(name.rpartition(".")[0] for name in pinned)]
    schemas = [name.removeprefix("schema.") for name in pinned if name.startswith("schema.")]

    assert lacking("run gainsay prompts pin for {}", set(prompts) & set(schemas), REPLY_TYPES) == ""


def test_every_kind_of_turn_has_a_player() -> None:
    found = keys("service/simulated/provider.py")

    assert lacking("add a player of {} to service/simulated/provider.py", found, REPLY_TYPES) == ""


def test_every_sample_has_a_case_of_every_format_but_the_usual_one() -> None:
    samples = sorted(path.parent for path in (ROOT / "service/samples").glob("*/case.json"))
    wanted = [str((at / f"case-{name}.json").relative_to(ROOT)) for at in samples for name in NAMES[1:]]

    assert NAMES[0] == "adversarial"
    assert len(samples) > 3
    assert lacking("write {}", (path for path in wanted if (ROOT / path).is_file()), wanted) == ""


def test_every_version_has_options_debates_and_ends_in_tests() -> None:
    """The first format's debates are played by `tests/vectors/record.py` itself."""
    places = {
        "tests/fixtures/formats.py": VERSIONS,
        "tests/vectors/played.py": VERSIONS[1:],
        "tests/unit/debate/test_recorded.py": VERSIONS,
        "tests/vectors/goldens/texts.py": VERSIONS,
    }

    assert "".join(lacking(f"add {{}} to {at}", keys(at), wanted) for at, wanted in places.items()) == ""


def test_options_and_results_have_names_in_the_openapi_document() -> None:
    """Without a name there, the document is not served."""
    wanted = [kind.__name__ for union in (Options, FormatResult) for kind in get_args(union)]
    at, vector = "service/web/schema_names.py", "tests/vectors/openapi_names.json"
    found = strings(at)
    kept = texts(json.loads((ROOT / vector).read_text(encoding="utf-8")))

    assert lacking(f"add {{}} to {at}", found, wanted) + lacking(f"add {{}} to {vector}", kept, wanted) == ""


def test_every_event_has_a_type_and_a_name_in_the_openapi_document() -> None:
    """Without them the document does not say what the stream sends."""
    of_events = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "service/report/events").glob("*.py")]
    classes = [node.name for tree in of_events for node in tree.body if isinstance(node, ast.ClassDef)]
    wanted = sorted(name for name in classes if name.endswith("Event") and name != "Event")
    document, names, vector = (
        "service/web/stream_schemas.py",
        "service/web/schema_names.py",
        "tests/vectors/openapi_names.json",
    )
    tree = ast.walk(ast.parse((ROOT / document).read_text(encoding="utf-8")))
    sent = [node.id for node in tree if isinstance(node, ast.Name)]

    assert (
        lacking(f"add {{}} to EVENTS in {document}", sent, wanted)
        + lacking(f"add {{}} to {names}", strings(names), wanted)
        + lacking(f"add {{}} to {vector}", texts(json.loads((ROOT / vector).read_text(encoding="utf-8"))), wanted)
        == ""
    )


def test_requests_of_every_version_are_laid_out() -> None:
    debates = [key.partition(" ")[0] for key in keys("tests/vectors/layouts.py")]
    layouts = [json.loads(path.read_text(encoding="utf-8")) for path in PROMPTS.glob("layout.v*.json")]
    found = [debate["name"].partition(" ")[0] for layout in layouts for debate in layout["debates"]]

    added = lacking("add a debate of {} to tests/vectors/layouts.py", debates, VERSIONS)
    assert added + lacking("run python -m tests.vectors.layouts for {}", found, VERSIONS) == ""


def test_debates_of_every_version_are_recorded() -> None:
    found = [version for version in VERSIONS if [*(ROOT / "tests/vectors" / version.replace("/", "-")).glob("*.jsonl")]]

    assert lacking("run python -m tests.vectors.record {}", found, VERSIONS) == ""


def test_the_form_of_a_start_knows_the_options_of_every_version() -> None:
    forms = (ROOT / "service/audit/schemas").glob("*/payload.debate.started.v1.json")
    found = [text for form in forms for text in texts(json.loads(form.read_text(encoding="utf-8")))]
    what = "add a row to SCHEMAS in service/audit/bundle_texts.py and run python -m tests.vectors.schemas for {}"

    assert lacking(what, found, VERSIONS) == ""


def test_bytes_of_the_options_of_every_version_are_kept() -> None:
    """`tests/unit/audit/test_payloads.py` names each member of options, replies and results that no line gives."""
    name = "tests/vectors/payloads/payload.debate.started.v1.jsonl"
    found = [json.loads(line)["options"]["format"] for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]

    assert lacking(f"add lines to {name} for {{}}", found, VERSIONS) == ""


def test_the_report_of_a_debate_of_every_version_is_kept() -> None:
    kept = (ROOT / "tests/vectors/goldens").glob("report-*/*.md")
    found = [path.stem.replace("-", "/") for path in kept]

    assert lacking("run python -m tests.vectors.goldens for {}", found, VERSIONS) == ""


def texts(tree: Any) -> Iterator[str]:
    """Every text in a JSON tree."""
    match tree:
        case str():
            yield tree
        case dict():
            yield from (text for inner in tree.values() for text in texts(inner))
        case list():
            yield from (text for inner in tree for text in texts(inner))
        case _:
            pass


def test_the_page_has_a_row_and_a_section_of_every_format() -> None:
    page = (ROOT / "docs/formats.md").read_text(encoding="utf-8")
    table = page.split("| `format` | what it is |")[1].split("\n\n")[0]

    rows = lacking("add {} to the table of docs/formats.md", re.findall(r"^\| `(\w+)`", table, re.MULTILINE), NAMES)
    assert (
        rows + lacking("add the section {} to docs/formats.md", re.findall(r"^## (\w+)$", page, re.MULTILINE), NAMES)
        == ""
    )
