"""The goldens of words and forms reach every format, every way to end, every schema and every key of the policy."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from service.audit.bundle_texts import READMES, SCHEMAS
from service.debate.kernel import FORMATS
from service.debate.versions import FIRST, Part, newest, number, standing
from service.policy import FORMS, Policy, decode_policy, encode_policy
from service.report.document.markdown import escape
from service.report.versions import REPORTS
from service.running import versions
from tests.vectors import perturbed
from tests.vectors.goldens.texts import SHOWN, all_reports, every_key, recorded
from tests.vectors.schemas import FOLDER

WHOLE = {"failed", "aborted", "truncated", "deadline"}

ON_A_PAGE = "the legend of a picture, which Markdown does not have"
NOT_ENDED = "only a page shows a debate that has not ended"
DECLINED = "the declined case of the goldens is declined for its downside"
CLOSED = "the noun of a closed list, in the error of a table that lacks a row"
NOT_TOLD = {
    "expected the entries of a debate from case.received on; read them from the first": "an error",
    "The case was erased from the database, and with it the words of its decision.": "a list and a batch say it",
    r"\b(\d{1,3}) to (\d{1,3}) %": "a pattern, no words",
    r"\b(\d{1,3}) %": "a pattern, no words",
    r"(?<=span more than )(\d{1,3}) points\b": "a pattern, no words",
    "cited by a proposer": ON_A_PAGE,
    "cited by a critic": ON_A_PAGE,
    "cited by a rebuttal": ON_A_PAGE,
    "cited by that debater": ON_A_PAGE,
    "cited only in arguments that were struck for other evidence": ON_A_PAGE,
    "quoted wrongly there: not counted as cited": ON_A_PAGE,
    "a part begins": ON_A_PAGE,
    "Queued: the debate has not begun": NOT_ENDED,
    "Running: the debate has not ended": NOT_ENDED,
    "Held for calls under way": NOT_ENDED,
    "not yet": NOT_ENDED,
    "not ended yet": NOT_ENDED,
    "its text was not read for this telling, so its parts are not named": "a bundle's report is given all texts",
    "the debate's ceiling": "a refusal by this limit does not name it",
    "AnyFacts": "the name of a type",
    "injection family": CLOSED,
    "field of a case": CLOSED,
    "a caller who is entitled to it asked for no debate": DECLINED,
    "policy holds no debate on the task type “": DECLINED,
    "the task type “": DECLINED,
    "” is in no risk category": DECLINED,
    "the task type is": DECLINED,
    "the matter is declared not contested, as a factual lookup": DECLINED,
    "nothing shows doubt of the single answer": DECLINED,
    "it was weak": "a critique is asked for again only for a reason that is told",
}
"""Words of a report's modules that no report of a bundle has."""


def test_every_word_of_a_report_stands_in_a_golden(root: Path) -> None:
    """So whichever word is changed, a golden of its version fails."""
    reports = "\n".join(report.decode() for _, _, report in all_reports("report/1"))
    apart = ("events", "evaluation")  # no report of a debate is made of their words
    paths = [path for path in sorted((root / "service/report").glob("*/*.py")) if path.parent.name not in apart]
    said = {
        words: path.name
        for path in (*paths, *(root / "service/report").glob("*labels.py"))
        if path.name not in perturbed.DRAWN
        for words in _words(ast.parse(path.read_text()))
    }

    untold = {words for words in said if words not in reports and escape(words) not in reports}

    assert len(said) > 500
    assert sorted(f"{said[words]}: {words}" for words in untold - set(NOT_TOLD)) == [], (
        "add a debate whose report says it to tests/vectors/rarely_worded.py"
    )
    assert sorted(set(NOT_TOLD) - untold) == [], "is in a golden or in no module: take it out of NOT_TOLD"


def _words(tree: ast.Module) -> Iterator[str]:
    """Texts that are no codes: of several words, or with a capital. Docstrings, annotations and errors apart."""
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant() as text):
                skipped.add(text)
            case ast.Raise() | ast.Assign(targets=[ast.Name(id="__all__")]):
                skipped.update(ast.walk(node))
            case ast.AnnAssign(annotation=kind) | ast.arg(annotation=ast.AST() as kind):
                skipped.update(ast.walk(kind))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in skipped:
            words = node.value.strip()
            if perturbed.is_worded(words):
                yield words


def test_reports_are_held_for_every_format_and_every_way_to_end() -> None:
    debates: dict[str, set[str]] = {form: set() for form in FORMATS}
    for form, name, _ in recorded():
        debates[form].add(name)

    assert set(SHOWN) == set(FORMATS)
    assert all(debates[form] >= WHOLE for form in FORMATS)
    assert all(SHOWN[form] in debates[form] for form in FORMATS)


@pytest.mark.parametrize(
    ("part", "known"), [("policy", FORMS), ("report", REPORTS), ("readme", READMES), ("schemas", SCHEMAS)]
)
def test_the_version_that_is_sealed_is_here_with_all_before_it(part: Part, known: Mapping[str, Any]) -> None:
    current = versions.CURRENT[part]

    assert standing(current, known) == "here"
    assert list(known) == [f"{FIRST[part].partition('/')[0]}/{n}" for n in range(1, number(current) + 1)]


def test_a_later_form_of_the_policy_is_what_is_written_and_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One table says which form is the newest, so what is written and what is sealed cannot disagree."""
    first = FORMS["policy/1"]
    later = first._replace(encode=lambda policy: first.encode(policy) + b"\n")
    monkeypatch.setitem(FORMS, "policy/2", later)
    written = encode_policy(every_key())

    assert written == encode_policy(every_key(), "policy/2")
    assert written != encode_policy(every_key(), "policy/1")
    assert newest(versions.KNOWN["policy"]) == "policy/2"


def test_every_schema_of_the_folder_belongs_to_a_version() -> None:
    named = {f"{brought_by}/{name}.json" for forms in SCHEMAS.values() for name, brought_by in forms.items()}

    assert {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()} == named


def test_a_version_of_the_schemas_brings_files_under_its_own_number_and_changes_none_before_it() -> None:
    before: Mapping[str, int] = {}
    for version, forms in SCHEMAS.items():
        assert {brought_by for name, brought_by in forms.items() if brought_by != before.get(name)} == {number(version)}
        assert before.keys() <= forms.keys()
        before = forms


@pytest.mark.parametrize("version", FORMS)
def test_a_policy_is_read_back_as_it_was_written(version: str) -> None:
    written = encode_policy(every_key(), version)

    assert encode_policy(decode_policy(written, version), version) == written


def test_every_key_of_the_policy_stands_away_from_its_default() -> None:
    """So a key that is left out at its default, or that is read and not written, is missed here."""
    written = set(_paths(msgspec.json.decode(encode_policy(every_key()))))

    assert written == set(_keys(inspect.type_info(Policy)))


def _paths(value: Any, path: str = "") -> Iterator[str]:
    match value:
        case dict() if "a key" in value or set(value) <= {"belief"}:
            for one in value.values():
                yield from _paths(one, path)
        case dict():
            for name, one in value.items():
                yield f"{path}.{name}"
                yield from _paths(one, f"{path}.{name}")
        case list():
            for one in value:
                yield from _paths(one, path)


def _keys(kind: inspect.Type, path: str = "") -> Iterator[str]:
    match kind:
        case inspect.StructType():
            for field in kind.fields:
                yield f"{path}.{field.encode_name}"
                yield from _keys(field.type, f"{path}.{field.encode_name}")
        case inspect.UnionType():
            for one in kind.types:
                yield from _keys(one, path)
        case inspect.DictType():
            yield from _keys(kind.value_type, path)
        case inspect.VarTupleType():
            yield from _keys(kind.item_type, path)
