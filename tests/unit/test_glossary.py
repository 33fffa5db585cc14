"""docs/glossary.md gives each term one place, and its clear-cut old words stay out of the documents and the code."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
OLD: dict[str, str] = {
    r"\b(?:who|whom)ever\b": "the person or process: caller, operator, seat, worker",
    r"\b(?:any|every|some|no)body(?:'s)?\b": "the person or process: caller, operator, seat, worker",
    r"\btold\b": "shown, said, reported, listed",
    r"\b(?:he|him|his|himself)\b": "it, for a machine; a noun, for a person",
    r"\b(?:left|leaves?|leaving) alone\b": "in backoff, or: the circuit is open",
    r"\b(?:given?|gives|gave|giving) up\b": "silent, failed, ended",
    r"\b(?:given?|gives|gave|giving|hand(?:s|ed|ing)?) back\b": "release",
    r"\b(?:tak(?:en?|es|ing)|took) (?:up|over)\b": "claim",
    r"\b(?:fallen|fell) (?:workers?|silent)\b": "a lease that ran out, a worker that is gone",
    r"\basks? nobody\b": "makes no further model calls",
    r"\bhouse prompts?\b": "system prompt",
    r"\bsigned heads?\b": "checkpoint",
    r"\bturned round\b": "in reverse order",
    r"\bbroken? off\b": "aborted, cancelled",
    r"\bmoney held\b": "reservation",
    r"\blazy critics?\b": "weak critique",
}
"""Old words as patterns, each with what to write."""
OLD_NAMES: dict[str, str] = {
    "told|tells?": "the noun: event, headers, lines; or show, render, report",
    "whoever|(?:any|every|some|no)body": "the seat, the caller, the worker",
    "board": "hub (the event hub)",
    "patience": "retry_window",
    "lateness": "lag (the log lag)",
    "news": "entries, notification",
    "resting": "impact, grounds",
    "beat": "renew",
    "parked": "backoff",
    "fallen|fell": "a lease that was lost",
    "(?:give|given|gave|giving)_up": "silent, failed, ended",
    "(?:give|given|gave|giving|hand|handed|handing)_back": "release",
    "(?:take|taken|took|taking)_(?:up|over)": "claim",
    "left_alone": "in backoff, circuit open",
    "broke_off|break_off": "abort, cut",
}
"""Old words in names, as patterns over a name's words joined by `_`, each with what to write."""
ANY_OLD = re.compile("|".join(OLD), re.IGNORECASE | re.ASCII)
ANY_OLD_NAME = re.compile(rf"(?<![a-z])(?:{'|'.join(OLD_NAMES)})(?![a-z])")
ALLOWED: dict[tuple[str, str], int] = {}
"""How often an old word stands in a document, by document and word: exactly so often, so that none comes back."""
ALLOWED_NAMES: dict[str, dict[str, int]] = {
    "service/audit/export.py": {"told": 1},
    "service/policy/limits.py": {"give_up": 1},
}
"""How often an old word may stand in the names of a module: settings, and what is still to be renamed."""
ALLOWED_TEXTS: dict[str, dict[str, int]] = {
    "service/audit/bundle.py": {"signed head": 1},
    "service/audit/bundle_texts.py": {"signed head": 2, "somebody": 2, "whoever": 1},
    "service/audit/checkpoint.py": {"signed heads": 1},
    "service/audit/export.py": {"signed head": 1},
    "service/audit/log_events.py": {"signed head": 2},
    "service/audit/recomputation.py": {"signed head": 4},
    "service/checks/citations/match/quotation.py": {"he": 1},
    "service/checks/citations/text/cue_words.py": {"nobody": 2},
    "service/checks/citations/text/joined_words.py": {"he": 1, "his": 1},
    "service/checks/citations/text/omissions.py": {"he": 1, "his": 1, "nobody": 1},
    "service/checks/citations/text/printed_form.py": {"his": 1},
    "service/checks/citations/text/sentences.py": {"he": 5},
    "service/checks/citations/verdict/location.py": {"told": 1},
    "service/checks/citations/verdict/negations.py": {"him": 1, "his": 1, "nobody": 1},
    "service/checks/citations/verdict/neighbours.py": {"nobody": 1},
    "service/checks/consensus/explanation.py": {"nobody": 1, "somebody": 1},
    "service/checks/coverage/sentences.py": {"nobody": 3},
    "service/checks/judgement/wording/phrases.py": {"his": 3, "everybody": 1, "somebody": 1},
    "service/checks/judgement/wording/polarity.py": {"anybody": 1, "he": 1, "his": 1, "nobody": 3},
    "service/checks/judgement/wording/softening.py": {"nobody": 1},
    "service/checks/judgement/wording/vocabulary.py": {
        "everybody": 1,
        "him": 1,
        "himself": 1,
        "his": 1,
        "nobody": 2,
        "somebody": 1,
        "told": 1,
        "whoever": 1,
    },
    "service/checks/overlap.py": {"he": 2, "him": 1, "his": 1, "nobody": 1},
    "service/checks/question_type.py": {"nobody": 1},
    "service/checks/texts/attribution.py": {"his": 1},
    "service/checks/texts/excuses.py": {"nobody": 2},
    "service/checks/texts/signs.py": {"nobody": 1},
    "service/checks/texts/mood.py": {"nobody": 5, "he": 5, "whoever": 1, "his": 2, "somebody": 1},
    "service/checks/texts/other_texts.py": {"his": 1, "told": 3},
    "service/checks/texts/reports.py": {"his": 1, "nobody": 2},
    "service/checks/texts/speakers.py": {"told": 1},
    "service/cli/display/convergence.py": {"nobody": 2},
    "service/debate/convergence.py": {"nobody": 5},
    "service/debate/panel_standing.py": {"turned round": 1},
    "service/debate/panel_usability.py": {"nobody": 1},
    "service/debate/results.py": {"nobody": 1},
    "service/report/result/summary.py": {"nobody": 1},
    "service/report/result/terms.py": {"nobody": 1},
    "service/policy/rules.py": {"turned round": 1},
    "service/policy/settings.py": {"signed head": 1, "taken over": 1},
    "service/providers/transport.py": {"broke off": 1, "fell silent": 1},
    "service/report/document/closing.py": {"told": 1, "turned round": 1},
    "service/report/document/deciders.py": {"turned round": 1},
    "service/report/document/decision.py": {"nobody": 1},
    "service/report/document/money.py": {"told": 2},
    "service/report/document/sparkline.py": {"told": 2},
    "service/report/document/strip_chart.py": {"told": 2},
    "service/report/document/uncited.py": {"nobody": 1},
    "service/report/formats/adversarial.py": {"turned round": 1},
    "service/report/formats/ballot.py": {"anybody": 1},
    "service/report/formats/convergence.py": {"anybody": 1},
    "service/report/formats/debaters.py": {"anybody": 1, "everybody": 1, "given up": 1, "nobody": 1},
    "service/report/formats/panel.py": {"given up": 1, "nobody": 1, "told": 2},
    "service/report/formats/stances.py": {"nobody": 1},
    "service/report/labels.py": {
        "anybody": 2,
        "given up": 3,
        "left alone": 1,
        "nobody": 6,
        "taken up": 1,
        "told": 1,
        "turned round": 2,
        "whoever": 2,
    },
    "service/report/remarks.py": {"nobody": 1},
    "service/report/result/notices.py": {"told": 1},
    "service/simulated/bearings.py": {"he": 1},
    "service/simulated/checklists.py": {"nobody": 2},
    "service/simulated/cues.py": {"his": 1},
    "service/simulated/panel_debater.py": {"take up": 1},
    "service/simulated/propositions.py": {"he": 1},
    "service/simulated/tables/adoption.py": {"nobody": 1, "somebody": 2},
    "service/simulated/tables/conformity.py": {"taken up": 1, "whoever": 1},
    "service/simulated/tables/exposure.py": {"nobody": 1},
    "service/simulated/tables/presence.py": {"nobody": 1},
    "service/simulated/tables/soundness.py": {"nobody": 1},
    "service/simulated/tables/sufficiency.py": {"nobody": 2, "somebody": 1, "whoever": 1},
    "service/simulated/words.py": {"he": 1, "him": 1, "his": 1},
    "service/store/embedded/data_dir.py": {"nobody": 1},
    "service/checks/injection/lexicons/english.py": {"told": 3},
    "service/checks/injection/lexicons/spanish.py": {"he": 4},
}
"""How often an old word may stand in the docstrings, comments and messages of a module.

These stay: words of versions (`bundle_texts`, reports, recorded details of debates, findings of engines), what the
simulated models argue, JSON values, columns, logged texts, and lists of English words. The numbers may only shrink.
"""
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "migrations/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "format").glob("*.md")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
]
CODE = sorted((ROOT / "service").rglob("*.py"))
BLOCK = re.compile(r"^ *```.*?^ *```$|^ {4,}\S.*$|<!--.*?-->", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r'`[^`]*`|"[^"\n]*"|“[^”]*”|\]\([^)]*\)')


def prose(text: str) -> str:
    """A document without code, quotations and addresses of links, on one line."""
    return " ".join(QUOTED.sub("…", BLOCK.sub("", text)).split())


def old_words(text: str) -> Counter[str]:
    """The old words of a text, with how often each stands there."""
    return Counter(
        found.lower() for pattern in OLD for found in re.findall(pattern, prose(text), re.IGNORECASE | re.ASCII)
    )


@cache
def _read(code: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names and the texts of a module, which is parsed once for both."""
    nodes = list(ast.walk(ast.parse(code)))
    return tuple(names(nodes)), tuple(texts(code, nodes))


def names(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Every name that a module gives: of classes, functions, parameters, variables, attributes and imports."""
    for node in nodes:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name


@cache
def old_names(code: str, module: str = "") -> Counter[str]:
    """The old words in the names of a module, its own among them, each name once for each place that gives it."""
    found: Counter[str] = Counter()
    for name in (*_read(code)[0], module):
        found.update(ANY_OLD_NAME.findall(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()))
    return found


def texts(code: str, nodes: Sequence[ast.AST]) -> Iterator[str]:
    """The docstrings, comments and messages of a module."""
    yield from (
        token.string for token in tokenize.generate_tokens(io.StringIO(code).readline) if token.type == tokenize.COMMENT
    )
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@cache
def old_texts(code: str) -> Counter[str]:
    """The old words in the docstrings, comments and messages of a module; what stands in back quotes is code."""
    found: Counter[str] = Counter()
    for text in _read(code)[1]:
        words = " ".join(re.sub(r"``[^`]*``|`[^`]*`", "…", text).split())
        found.update(word.lower() for word in ANY_OLD.findall(words))
    return found


def instead(words: Counter[str], patterns: Mapping[str, str]) -> dict[str, str]:
    """What to write for each of these words."""
    return {word: next(new for old, new in patterns.items() if re.fullmatch(old, word)) for word in words}


def terms() -> list[str]:
    """The terms of the glossary, several of one row apart."""
    cells = re.findall(r"^\| (\*\*.*?) \|", GLOSSARY.read_text("utf-8"), re.MULTILINE)
    return [term for cell in cells for term in re.findall(r"\*\*(.+?)\*\*", cell)]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page != GLOSSARY], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_a_document_has_the_old_words_that_are_allowed_and_no_others(page: Path) -> None:
    name = page.relative_to(ROOT).as_posix()
    allowed = Counter({word: number for (place, word), number in ALLOWED.items() if place == name})

    found = old_words(page.read_text("utf-8"))

    wrong = instead(found - allowed, OLD)
    assert not wrong, f"{name}: old words, with what to write: {wrong}; see docs/glossary.md"
    assert found == allowed, f"{name}: these no longer stand there, so take them from ALLOWED: {allowed - found}"


def test_no_name_of_the_service_has_an_old_word_beyond_those_that_are_allowed() -> None:
    wrong = {}
    for path in CODE:
        name = path.relative_to(ROOT).as_posix()
        found = old_names(path.read_text("utf-8"), path.parent.name if path.stem == "__init__" else path.stem)
        if more := found - Counter(ALLOWED_NAMES.get(name, {})):
            wrong[name] = instead(more, OLD_NAMES)

    assert wrong == {}, "old words in names, with what to write; see docs/glossary.md"


def test_no_text_of_the_service_has_an_old_word_beyond_those_that_are_allowed() -> None:
    wrong = {}
    for path in CODE:
        name = path.relative_to(ROOT).as_posix()
        if more := old_texts(path.read_text("utf-8")) - Counter(ALLOWED_TEXTS.get(name, {})):
            wrong[name] = instead(more, OLD)

    assert wrong == {}, "old words in docstrings, comments or messages, with what to write; see docs/glossary.md"


def test_no_more_old_words_are_allowed_in_code_than_stand_there() -> None:
    for allowed, count in ((ALLOWED_NAMES, old_names), (ALLOWED_TEXTS, old_texts)):
        for name, words in allowed.items():
            found = count((ROOT / name).read_text("utf-8"))
            assert Counter(words) - found == {}, f"{name} has fewer of these by now: lower the numbers"


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("def _told(): ...", "told"),
        ("class NoNews: ...", "news"),
        ("def f(patience_s): ...", "patience"),
        ("self._board = 1", "board"),
        ("if told := 1: ...", "told"),
        ("match x:\n    case {**told}: ...", "told"),
        ("import a as told", "told"),
        ("handing_back = 1", "handing_back"),
        ("f = lambda tell: 1", "tell"),
    ],
)
def test_an_old_word_is_found_in_every_kind_of_name(code: str, word: str) -> None:
    assert old_names(code) == {word: 1}


@pytest.mark.parametrize("code", ["telling = keyboard = newsletter = 1", "x.told", "f(told=1)", "'told'"])
def test_names_of_others_and_longer_words_are_no_old_names(code: str) -> None:
    assert not old_names(code)


def test_the_name_of_a_module_is_a_name() -> None:
    assert old_names("", "board") == {"board": 1}


@pytest.mark.parametrize(
    "code",
    [
        '"""It is told."""',
        "x = 1  # it is told",
        'raise E("it is told")',
        'raise E(f"{x} is told")',
        'def f():\n    """A text that\n    is told."""',
    ],
)
def test_an_old_word_is_found_in_every_kind_of_text(code: str) -> None:
    assert old_texts(code) == {"told": 1}


def test_code_in_back_quotes_is_no_text() -> None:
    assert not old_texts('"""``told`` and `told_state`"""\ntold = 1')


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The lease of a fallen\nworker runs out.", "fallen worker"),
        ("Nobody's answer is taken.", "nobody's"),
        ("| a cell | Whoever asks is told |", "whoever"),
        ("A worker gives back a debate", "gives back"),
        ("the provider is left alone for 30 s", "left alone"),
        ("a server cuts him off", "him"),
        ("- the signed heads of logs", "signed heads"),
    ],
)
def test_an_old_word_is_found_wherever_it_stands_in_prose(text: str, word: str) -> None:
    assert old_words(text)[word] == 1


@pytest.mark.parametrize(
    "text",
    [
        "`told_state` and `test_nobody_is_told`",
        'the reference says "nobody is told"',
        "```sql\nSELECT 'told';\n```",
        "    gainsay told\n",
        "[a decision](decisions/0001-told.md)",
        "the heel of this hero",
    ],
)
def test_code_and_quotations_are_no_prose(text: str) -> None:
    assert not old_words(text)


def test_every_term_of_the_glossary_has_one_place() -> None:
    found = terms()

    assert [term for term, number in Counter(found).items() if number > 1] == []
    assert 40 <= len(re.findall(r"^\| \*\*", GLOSSARY.read_text("utf-8"), re.MULTILINE)) <= 60


def test_no_term_of_the_glossary_is_an_old_word_of_another() -> None:
    rows = re.findall(r"^\| \*\*.*\|$", GLOSSARY.read_text("utf-8"), re.MULTILINE)
    # A word in brackets names the sense in which it is old: head (of a log).
    old = {word.strip(' "') for row in rows for word in row.split("|")[3].split(",") if "(" not in word}

    assert set(terms()) & (old - {"–", "hold"}) == set(), "hold is said of an answer, and never of money"
    assert {len(row.split("|")) for row in rows} == {6}
