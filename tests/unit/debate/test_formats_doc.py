"""What docs/formats.md names is there, and nothing is left out: options, flags, caps, events, sentences, tests."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, get_args

import pytest

from service.debate.ballot import ESCALATE
from service.debate.formats import FormatName
from service.debate.model import StopReason
from service.debate.panel_standing import TRIGGERS
from service.intake.formats import OPTIONS_OF
from service.observing import labelled
from service.policy import FORMATS
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.report.events import EventName
from service.report.events.panel_types import PanelStatus
from service.report.labels import FLAG, REASON

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
SHARED = "What all formats share"
REFERENCES = {
    "adversarial": "eaapl-mag005-debate-agent",
    "stances": "flow-state-debate",
    "ballot": "bounded-debate-pattern",
    "panel": "debatetalk-how-debates-work",
    "convergence": "loomflow-multi-agent-debate",
}
"""The text that each format comes from."""
NO_CAP = {"confidenceLow", "moderatorTilt", "policy", "providerOverrun"}
"""Reasons for which a person has to decide that are no caps."""
RULES = read_policy(SHIPPED_POLICY).formats
ANY = 1_200
"""How many characters of a reference one row may answer for; more would be passed over. Code counts as text."""


def section(heading: str) -> str:
    """A section of the page, without its heading."""
    return TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def rows(text: str) -> list[str]:
    """The rows of the tables of a text, without heads."""
    lines = text.splitlines()
    return [
        line
        for line, before in zip(lines, ["", *lines], strict=False)
        if line.startswith("| ") and before.startswith("|")
    ]


def codes(text: str, header: str) -> set[str]:
    """What stands in code marks in the first cells of the table with this head."""
    if header not in text:
        return set()
    body = text.split(header)[1].split("\n\n", maxsplit=1)[0]
    return {code for row in body.splitlines()[1:] for code in re.findall(r"`([\w.]+)`", row.split("|")[1])}


def cells(format_: str, option: str) -> list[str]:
    """Default and limits of an option as they are told."""
    row = next(row for row in rows(section(format_)) if row.startswith(f"| `{option}` "))
    return [cell.strip() for cell in row.split("|")[2:4]]


def strings(path: str) -> set[str]:
    """All strings that stand in a module."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def names_of_tests() -> set[str]:
    """The names of all tests."""
    return {
        node.name
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


# -- what is named


def test_every_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", TEXT))

    assert len(named) > 300
    assert sorted(named - names_of_tests()) == []


def test_no_row_names_a_test_twice() -> None:
    named = {row: re.findall(r"`(test_\w+)`", row.rpartition(" | ")[2]) for row in rows(TEXT)}

    assert [row[:80] for row, tests in named.items() if len(tests) != len(set(tests))] == []


def test_every_path_that_is_named_exists() -> None:
    named = set(re.findall(r"`((?:service|tests|docs|migrations)/[^`]*)`", TEXT))

    assert len(named) > 80
    assert sorted(path for path in named if not (ROOT / path).exists()) == []
    linked = set(re.findall(r"\]\(([^)#]+)\)", TEXT))
    assert sorted(path for path in linked if not (ROOT / "docs" / path).exists()) == []


CONFORMANCE = [
    *(f"Where each sentence is met: {format_}" for format_ in REFERENCES),
    "What holds for every debate",
]


@pytest.mark.parametrize("row", [row for part in CONFORMANCE for row in rows(section(part))], ids=lambda row: row[2:60])
def test_every_demand_has_a_place_and_a_test_or_says_that_it_has_none(row: str) -> None:
    placed, tested = re.search(r"`(?:service|tests|migrations)/", row), "`test_" in row

    assert (placed and tested) or ("*Departure*" in row and tested) or "*Not here*" in row


def departures(format_: str) -> dict[str, str]:
    """The rows of the departures table of a format, by what the reference says."""
    table = section(format_).split("| the reference | here | why | shown by |")[1].split("\n\n")[0]
    return {row.split("|")[1].strip(): row for row in rows(f"|{table}")}


@pytest.mark.parametrize("format_", REFERENCES)
def test_every_departure_says_why_and_has_a_test(format_: str) -> None:
    told = departures(format_)

    assert len(told) > 8
    for row in told.values():
        _, here, why, tests = row.strip("| ").split(" | ")
        assert here
        assert why
        assert re.search(r"`test_\w+`", tests), row


@pytest.mark.parametrize("format_", REFERENCES)
def test_a_sentence_that_is_departed_from_names_its_row_among_the_departures(format_: str) -> None:
    told = departures(format_)
    marked = [row for row in rows(section(f"Where each sentence is met: {format_}")) if "*Departure*" in row]

    for row in marked:
        named = row.split("*Departure*: ")[1].split(" | ")[0]
        assert named in told, f"no row of the departures of {format_} begins with {named!r}"
        assert set(re.findall(r"`(test_\w+)`", row)) <= set(re.findall(r"`(test_\w+)`", told[named]))


def test_every_series_that_is_named_is_one_of_ours() -> None:
    ours = {metric.name for metric in labelled.REGISTRY.collect()}
    named = set(re.findall(r"gainsay_[a-z_]+", TEXT))

    assert len(named) > 8
    assert {name for name in named if re.sub(r"_(?:total|sum|count)$", "", name) not in ours} == set()


# -- what may not be left out


def test_every_format_has_its_section_and_a_word_on_when_to_take_it() -> None:
    assert codes(TEXT, "| `format` | what it is |") == set(FORMATS)
    assert all(f"`{version}`" in section(name) for name, version in FORMATS.items())


@pytest.mark.parametrize("format_", OPTIONS_OF)
def test_every_option_of_a_format_is_told_and_no_other(format_: FormatName) -> None:
    of_the_case = {"costCeilingUSD"} if format_ == "adversarial" else set()

    assert codes(section(format_), "| option |") == {*OPTIONS_OF[format_], *of_the_case}


@pytest.mark.parametrize("format_", OPTIONS_OF)
def test_the_flags_and_caps_of_a_format_are_those_that_its_file_raises(format_: str) -> None:
    text, raised = section(format_), strings(f"service/debate/{format_}.py")
    common_flags = codes(section(SHARED), "| flag of several formats |")
    common_caps = codes(section(SHARED), "| cap of several formats |")

    assert codes(text, "| flag | when |") == (raised & set(FLAG)) - common_flags
    assert codes(text, "| cap | at most |") == (raised & set(REASON)) - common_caps - NO_CAP


def test_every_flag_and_cap_there_is_is_told() -> None:
    everywhere = [section(part) for part in (SHARED, *FORMATS)]
    flags = [codes(text, "| flag | when |") | codes(text, "| flag of several formats |") for text in everywhere]
    caps = [codes(text, "| cap | at most |") | codes(text, "| cap of several formats |") for text in everywhere]

    assert set().union(*flags) == set(FLAG)
    assert set().union(*caps) == set(REASON) - NO_CAP
    assert all(f"`{reason}`" in section(SHARED) for reason in NO_CAP)


def test_every_reason_for_which_a_debate_stops_is_told() -> None:
    of_the_gate = {"declined"}

    assert codes(section(SHARED), "| `stopReason` |") == set(get_args(StopReason)) - of_the_gate


def test_every_event_is_told() -> None:
    assert codes(section(SHARED), "| event |") == set(get_args(EventName))


def test_the_states_of_a_panel_are_told() -> None:
    assert codes(section("panel"), "| state |") == set(get_args(PanelStatus))


def test_the_types_of_questions_are_told_with_their_triggers_and_thresholds() -> None:
    table = section("panel").split("| type |")[1].split("\n\n")[0]
    told = {row.split("|")[1].strip(" `"): [cell.strip() for cell in row.split("|")[2:4]] for row in rows(f"|{table}")}

    assert told == {kind: [trigger, f"{RULES.panel.thresholds[kind] / 1000:.2f}"] for kind, trigger in TRIGGERS.items()}


def shown(value: object) -> str:
    """A value of policy as the page writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize(
    ("format_", "option", "default", "limits"),
    [
        ("stances", "maxRounds", RULES.stances.rounds, f"1 to {RULES.stances.rounds_max}"),
        ("stances", "debaters", "required", f"2 to {RULES.stances.debaters_max} of"),
        ("stances", "anonymizeTranscript", RULES.stances.anonymize_transcript, "true, false"),
        ("stances", "shuffleForJudge", RULES.stances.shuffle_for_judge, "true, false"),
        ("stances", "synthesizer", RULES.stances.synthesizer, "true, false"),
        ("ballot", "maxRounds", RULES.ballot.rounds, f"1 to {RULES.ballot.rounds_max}"),
        ("ballot", "debaters", f"{RULES.ballot.debaters}, named", f"2 to {RULES.ballot.debaters_max} of"),
        (
            "ballot",
            "votes",
            ", ".join(f"`{v}`" for v in RULES.ballot.votes if v != ESCALATE),
            f"2 to {RULES.ballot.votes_max} with `{ESCALATE}`",
        ),
        ("panel", "maxRounds", RULES.panel.rounds, f"1 to {RULES.panel.rounds_max}"),
        ("panel", "debaters", RULES.panel.debaters, f"2 to {RULES.panel.debaters_max}"),
        ("panel", "adjudicator", f"`{RULES.panel.adjudicator}`", "`algorithmic`, `model`"),
        ("panel", "mode", f"`{RULES.panel.mode}`", "`auto`, `manual`"),
        ("convergence", "maxRounds", RULES.convergence.rounds, f"1 to {RULES.convergence.rounds_max}"),
        ("convergence", "debaters", RULES.convergence.debaters, f"2 to {RULES.convergence.debaters_max}"),
        ("convergence", "judge", RULES.convergence.judge, "true, false"),
        ("convergence", "convergenceCheck", RULES.convergence.convergence_check, "true, false"),
        ("convergence", "convergenceSimilarity", RULES.convergence.similarity_per_mille / 1000, "0 to 1"),
        ("convergence", "ties", f"`{RULES.convergence.ties}`", "`lowestDebater`, `noAnswer`"),
    ],
)
def test_defaults_and_limits_are_those_of_the_shipped_policy(
    format_: str, option: str, default: object, limits: str
) -> None:
    told = cells(format_, option)

    assert told[0].startswith(shown(default))
    assert told[1].startswith(limits)


# -- sentence by sentence


class Place(NamedTuple):
    """Where the sentences of a row begin in their reference, and the row."""

    start: int
    row: str


def folded(text: str) -> str:
    return " ".join(text.casefold().split())


def places(format_: str, text: str) -> list[Place]:
    """Where each row of a table begins, looked for from where the one before it began."""
    found, at = list[Place](), 0
    for row in rows(section(f"Where each sentence is met: {format_}")):
        quoted = re.match(r'\| "([^"]+)"', row)
        assert quoted, f"a row begins with words of its sentence in quotation marks: {row[:80]}"
        start = text.find(folded(quoted[1]), at)
        assert start >= 0, f"not in the reference after the row before it: {quoted[1]}"
        found.append(Place(start, row))
        at = start + 1
    return found


@pytest.mark.parametrize("format_", REFERENCES)
def test_the_rows_follow_the_sentences_of_their_reference_and_pass_over_none(shared: Path, format_: str) -> None:
    text = folded((shared / "reference" / f"{REFERENCES[format_]}.txt").read_text(encoding="utf-8"))

    told = places(format_, text)

    assert told[0].start < 300, "nothing but a title comes before the first row"
    long = {
        here.row[2:60]: there.start - here.start
        for here, there in pairwise([*told, Place(len(text), "")])
        if there.start - here.start > ANY and "*Not here*" not in here.row
    }
    assert long == {}
