"""The samples are well formed, and each holds the tension that it is there for."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from importlib.resources import files

import pytest

from service.debate import formats
from service.errors import GainsayError
from service.samples import Sample, SourceFile, UnknownSample, load, names, variants

NAMES = ("architecture", "compliance", "contract", "investment", "security")
FORMATS: tuple[str, ...] = tuple(sorted(set(formats.NAMES) - {"adversarial"}))
OWN = {"architecture": "positions", "contract": "personas", "investment": "evidence"}
VARIANTS = {name: tuple(sorted({*FORMATS, *([OWN[name]] if name in OWN else [])})) for name in NAMES}
EVERY = [(name, variant) for name in NAMES for variant in (None, *VARIANTS[name])]
SOURCES = [pytest.param(d, id=f"{name}/{d.name}") for name in NAMES for d in load(name).documents]

# What ``POST /v1/debates`` takes and a sample may use.
MEMBERS = {"question", "taskType", "confidenceScore", "estimatedDownside", "downsideBasis", "singleAgentAnswer"}
MEMBERS |= {"useCase", "intendedUse", "materiality", "documents", "costCeilingUSD", "options"}
REQUIRED = MEMBERS - {"options"}

CLAUSE = re.compile(r"^[CT]?\d+(?:\.\d+)?\.? ")
REFERENCE = re.compile(r"(?:Section|[Pp]aragraph|gap|driver)s? C?\d+\.\d+(?:(?:,| to| and| or) C?\d+\.\d+)*")
NUMBER = re.compile(r"C?\d+\.\d+")
ADVERSE = re.compile(
    r"\b(not|no|nor|none|cannot|except|unless|but|although|failed|exclud\w+|unaudited)\b", re.IGNORECASE
)


def paragraphs(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]


def sentences(text: str) -> list[str]:
    """The sentences that end as sentences do, without the numbers of their clauses; headings are left out."""
    found = []
    for line in paragraphs(text):
        found += [s for s in re.split(r"(?<=[.?])\s+(?=[A-Z])", CLAUSE.sub("", line)) if s.endswith(".")]
    return found


def clause_like(text: str) -> list[str]:
    return [s for s in sentences(text) if 10 <= len(s.split()) <= 45]


def clauses(text: str) -> set[str]:
    """The clause numbers of a document, each with the numbers of the clauses that hold it."""
    own = re.findall(r"^([CT]?\d+(?:\.\d+)?)\.? ", text, re.MULTILINE)
    return {*own, *(number.partition(".")[0] for number in own)}


def adverse_share(sample: Sample) -> float:
    said = [s for d in sample.documents for s in sentences(d.text)]
    return sum(bool(ADVERSE.search(s)) for s in said) / len(said)


def test_there_is_one_sample_for_each_task_type() -> None:
    listed = names()

    task_types = [load(name).case["taskType"] for name in listed]

    assert listed == NAMES
    assert task_types == list(NAMES)


def test_the_variants_are_those_that_the_folders_hold() -> None:
    found = {name: variants(name) for name in NAMES}

    assert found == VARIANTS


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_a_case_has_the_members_of_a_request_and_no_others(name: str, variant: str | None) -> None:
    case = load(name, variant).case

    assert set(case) <= MEMBERS
    assert set(case) >= REQUIRED
    assert all(set(d) <= {"id", "title", "text", "round"} for d in case["documents"])


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_a_case_can_be_posted_as_it_is(name: str, variant: str | None) -> None:
    sample = load(name, variant)

    sent = json.loads(json.dumps(sample.case, allow_nan=False))

    assert sent == sample.case
    assert [d["text"] for d in sent["documents"]] == [d.text for d in sample.documents]


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_document_ids_and_files_are_unique_within_a_case(name: str, variant: str | None) -> None:
    sample = load(name, variant)

    ids = [d["id"] for d in sample.case["documents"]]
    file_names = [d.name for d in sample.documents]

    assert len(set(ids)) == len(ids) > 0
    assert len(set(file_names)) == len(file_names)


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_every_case_is_uncertain_and_worth_fifty_times_its_whole_ceiling(name: str, variant: str | None) -> None:
    case = load(name, variant).case

    ceiling = Decimal(case["costCeilingUSD"])

    assert isinstance(case["costCeilingUSD"], str)
    assert 0 < case["confidenceScore"] < 0.9
    assert case["estimatedDownside"] > ceiling * 50


@pytest.mark.parametrize("name", NAMES)
def test_every_file_of_a_folder_belongs_to_a_case(name: str) -> None:
    present = {entry.name for entry in files("service.samples").joinpath(name).iterdir()}

    used = {d.name for variant in (None, *variants(name)) for d in load(name, variant).documents}

    assert present == used | {"case.json"} | {f"case-{variant}.json" for variant in variants(name)}


@pytest.mark.parametrize("source", SOURCES)
def test_a_document_is_plain_ascii_with_line_feeds_and_one_paragraph_a_line(source: SourceFile) -> None:
    text = source.text

    assert text.isascii()
    assert text.endswith(".\n")
    assert all(line == line.strip() and line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("source", SOURCES)
def test_a_document_is_a_page_or_two(source: SourceFile) -> None:
    words = len(source.text.split())

    assert 600 <= words <= 1_400


@pytest.mark.parametrize("source", SOURCES)
def test_a_document_has_at_least_twenty_five_sentences_that_can_be_quoted(source: SourceFile) -> None:
    quotable = clause_like(source.text)

    assert len(quotable) >= 25
    assert len(quotable) >= 0.8 * len(sentences(source.text))
    assert len(set(quotable)) == len(quotable)


@pytest.mark.parametrize("name", NAMES)
def test_every_clause_that_a_document_refers_to_exists(name: str) -> None:
    documents = load(name).documents
    known = set().union(*(clauses(d.text) for d in documents))

    phrases = [found[0] for d in documents for found in REFERENCE.finditer(d.text)]
    referred = {number for phrase in phrases for number in NUMBER.findall(phrase)}

    assert referred <= known


def test_the_architecture_sample_holds_far_less_against_its_proposition_than_any_other() -> None:
    shares = {name: adverse_share(load(name)) for name in NAMES}

    thin = shares.pop("architecture")

    assert thin <= 0.05
    assert all(share >= 0.2 for share in shares.values())


def test_the_credit_review_disputes_figures_that_the_memorandum_states() -> None:
    memorandum, review = (d.text for d in load("investment").documents)
    disputed = {
        "retains 96 percent": "retain 91 percent of customer revenue, not 96 percent",
        "account for 34 percent": "account for 41 percent",
        "Closing leverage is 5.6 times": "closing leverage is 6.03 times",
        "supports the view that demand does not follow the industrial cycle": "is offered as proof of resilience, but",
    }

    for stated, contradicted in disputed.items():
        assert stated in memorandum
        assert contradicted in review
        assert contradicted not in memorandum


def test_the_positions_variant_has_three_positions_with_ids_of_their_own() -> None:
    case = load("architecture", "positions").case

    positions = case["options"]["positions"]

    assert len({p["id"] for p in positions}) == 3
    assert all(set(p) == {"id", "text"} for p in positions)


def test_the_evidence_variant_brings_the_review_only_in_the_second_of_two_rounds() -> None:
    case = load("investment", "evidence").case

    rounds = {d["id"]: d.get("round", 1) for d in case["documents"]}

    assert rounds == {"D1": 1, "D2": 2}
    assert case["options"] == {"format": "adversarial", "maxRounds": 2}


def test_the_personas_variant_gives_every_arguing_seat_and_the_moderator_a_persona() -> None:
    case = load("contract", "personas").case

    personas = case["options"]["personas"]

    assert set(personas) == {"proposer", "critic", "rebuttal", "moderator"}
    assert all(text.startswith("You are ") for text in personas.values())


def test_a_variant_keeps_every_member_that_it_does_not_name() -> None:
    plain, variant = load("architecture").case, load("architecture", "positions").case

    changed = {key for key in variant if variant[key] != plain.get(key)}

    assert changed == {"question", "options"}


def test_changing_a_loaded_case_leaves_the_next_one_as_it_was() -> None:
    first = load("contract")

    first.case["documents"].clear()
    first.case["question"] = "another"

    assert load("contract").case["question"].startswith("Is the Supplier's liability")
    assert len(load("contract").case["documents"]) == 2


@pytest.mark.parametrize("name", ["", "nothing", "Contract", "../samples/contract", "contract/case.json"])
def test_an_unknown_name_is_refused_with_the_names_that_exist(name: str) -> None:
    with pytest.raises(UnknownSample, match="architecture, compliance, contract, investment, security") as refused:
        load(name)

    assert isinstance(refused.value, GainsayError)
    assert refused.value.code == "unknown_sample"


def test_an_unknown_variant_is_refused_with_the_variants_that_exist() -> None:
    choices = ", ".join(VARIANTS["contract"])
    with pytest.raises(UnknownSample, match=f"'contract', found 'positions'; choose one of: {choices}"):
        load("contract", "positions")


def test_every_sample_has_a_variant_in_every_other_format_with_options_that_are_that_formats() -> None:
    members = {
        "stances": {"debaters", "maxRounds", "synthesizer", "outputSchema", "instructions"},
        "ballot": {"debaters", "maxRounds", "votes", "consensusThreshold"},
        "panel": {"debaters", "maxRounds", "questionType", "adjudicator"},
        "convergence": {
            *("debaters", "maxRounds", "convergenceSimilarity", "judge"),
            *("debaterInstructions", "judgeInstructions"),
        },
    }

    for name in NAMES:
        for format_, known in members.items():
            case = load(name, format_).case
            assert case["options"]["format"] == format_
            assert set(case["options"]) <= {"format", *known}


def test_debaters_of_stances_and_ballots_have_names_of_their_own_and_every_debater_of_stances_a_stance() -> None:
    stances = {name: load(name, "stances").case["options"]["debaters"] for name in NAMES}
    ballots = {name: load(name, "ballot").case["options"]["debaters"] for name in NAMES}

    for debaters in (*stances.values(), *ballots.values()):
        assert len({d["name"] for d in debaters}) == len(debaters) >= 2
    assert all(len({d["stance"] for d in debaters}) == len(debaters) for debaters in stances.values())
    assert {len(debaters) for debaters in stances.values()} == {2, 3}


def test_a_ballot_can_always_be_decided_by_fewer_than_all_and_by_more_than_half() -> None:
    for name in NAMES:
        options = load(name, "ballot").case["options"]
        seats, votes = len(options["debaters"]), options["votes"]
        threshold = options.get("consensusThreshold", seats // 2 + 1)

        assert seats / 2 < threshold < seats
        assert len(set(votes)) == len(votes)
        assert votes[-1] == "escalate"


def test_the_panels_ask_questions_of_five_types() -> None:
    types = {load(name, "panel").case["options"]["questionType"] for name in NAMES}

    assert types == {"business", "prediction", "factual", "normative", "brainstorm"}
