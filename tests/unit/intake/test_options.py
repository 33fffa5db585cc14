"""The options of five formats: each from the case or from policy, within policy's limits, and nothing foreign."""

from __future__ import annotations

from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service import samples
from service.debate import kernel
from service.debate.entries import DebateStarted, Entry, GateDecided
from service.debate.facts import Facts
from service.debate.formats import FormatName
from service.debate.model import (
    BallotOptions,
    ConvergenceOptions,
    Debater,
    Options,
    PanelOptions,
    StancesOptions,
    TrackRecord,
)
from service.debate.options import AskedOptions, masked_of
from service.errors import GainsayError, InvalidCase
from service.intake import Deployment, Prepared, decide, needs_standings, prepare, start
from service.intake.formats import COMMON, OPTIONS_OF
from service.intake.model_ranking import Standing, rank_models, track_records
from service.intake.request import CaseRequest, document_ids
from service.policy import FORMATS, Policy
from service.web import openapi
from tests.unit.intake.test_intake import (
    DAY,
    NOW,
    POLICY,
    PROMPTS,
    SURROGATE,
    a_case,
    a_gate_request,
    policy,
    refused,
    taken,
)

TWO = [{"name": "for", "stance": "It is capped."}, {"name": "against", "stance": "It is not."}]
THREE = [{"name": "planner"}, {"name": "critic"}, {"name": "operator"}]
SCHEMA = {"type": "object", "properties": {"decision": {"type": "string"}}}
NEW = ("stances", "ballot", "panel", "convergence")


def of(format_: str, **options: Any) -> dict[str, Any]:
    """The members of a request for a format, with the debaters that stances cannot do without."""
    needed = {"debaters": TWO} if format_ == "stances" else {}
    return {"options": {"format": format_, **needed, **options}}


def resolved(format_: str, under: Policy = POLICY, **options: Any) -> Options:
    """The options that a debate would begin with."""
    _, started = taken(a_case(**of(format_, **options), costCeilingUSD=25), under)
    assert started is not None
    return started.options


# -- what is left out


def test_what_a_case_leaves_out_is_policys() -> None:
    thresholds = POLICY.formats.panel.thresholds

    assert resolved("stances") == StancesOptions(tuple(Debater(**d) for d in TWO), 2, human_review=False)
    assert resolved("ballot") == BallotOptions(
        tuple(Debater(f"debater-{n}") for n in (1, 2, 3)), 2, ("approve", "revise", "escalate"), 2, human_review=False
    )
    assert resolved("convergence") == ConvergenceOptions(3, 2, human_review=False)
    pool = ("alder-large", "birch-large", "alder-small", "birch-small")
    assert resolved("panel") == PanelOptions(
        3,
        3,
        human_review=False,
        question_type="factual",
        typed_by="rules",
        thresholds=dict(thresholds.items()),
        track_records=tuple(TrackRecord(alias, 0, 500) for alias in pool),
    )


def with_formats(**changes: Any) -> Policy:
    """The shipped policy with rules of formats changed: ``ballot__rounds=1``."""
    formats = POLICY.formats
    for name, value in changes.items():
        part, _, key = name.partition("__")
        formats = replace(formats, **{part: replace(getattr(formats, part), **{key: value})})
    return policy(formats=formats)


CHANGED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "rounds of stances": ("stances", {"stances__rounds": 5}, {"max_rounds": 5}),
    "names for the judge": ("stances", {"stances__anonymize_transcript": False}, {"anonymize_transcript": False}),
    "no shuffling": ("stances", {"stances__shuffle_for_judge": False}, {"shuffle_for_judge": False}),
    "no synthesizer": ("stances", {"stances__synthesizer": False}, {"synthesizer": False}),
    "votes": ("ballot", {"ballot__votes": ("go", "stop")}, {"votes": ("go", "stop", "escalate")}),
    "all of four": (
        "ballot",
        {"ballot__threshold_per_mille": 1_000, "ballot__debaters": 4},
        {"consensus_threshold": 4},
    ),
    "two thirds of four": (
        "ballot",
        {"ballot__threshold_per_mille": 667, "ballot__debaters": 4},
        {"consensus_threshold": 3},
    ),
    "half of four is no majority": ("ballot", {"ballot__debaters": 4}, {"consensus_threshold": 3}),
    "a larger panel": ("panel", {"panel__debaters": 5, "panel__rounds": 4}, {"debaters": 5, "max_rounds": 4}),
    "a model that adjudicates": ("panel", {"panel__adjudicator": "model"}, {"adjudicator": "model"}),
    "a model that classifies": ("panel", {"panel__classifier": "model"}, {"typed_by": "classifier"}),
    "models by preference": ("panel", {"panel__mode": "manual"}, {"mode": "manual", "track_records": ()}),
    "a majority": ("convergence", {"convergence__judge": False}, {"judge": False}),
    "no early end": ("convergence", {"convergence__convergence_check": False}, {"convergence_check": False}),
    "a nearer agreement": (
        "convergence",
        {"convergence__similarity_per_mille": 1_000},
        {"convergence_similarity": 1_000},
    ),
    "no answer on a tie": ("convergence", {"convergence__ties": "noAnswer"}, {"ties": "noAnswer"}),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_policy_says_of_a_format_holds_where_a_case_does_not_say(name: str) -> None:
    format_, rules, expected = CHANGED[name]

    found = resolved(format_, with_formats(**rules))

    assert {key: getattr(found, key) for key in expected} == expected


@pytest.mark.parametrize("format_", NEW)
def test_a_person_reviews_what_policy_says_in_every_format(format_: str) -> None:
    assert resolved(format_, policy(debate__human_review=("contract",))).human_review


# -- what is asked for

ASKED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "rounds": ("stances", {"maxRounds": 6}, {"max_rounds": 6}),
    "a judge that sees names in order": (
        "stances",
        {"anonymizeTranscript": False, "shuffleForJudge": False},
        {"anonymize_transcript": False, "shuffle_for_judge": False},
    ),
    "a shape": ("stances", {"outputSchema": SCHEMA}, {"output_schema": SCHEMA}),
    "no projection": ("stances", {"synthesizer": False}, {"synthesizer": False}),
    "instructions": ("stances", {"instructions": "Be brief."}, {"instructions": "Be brief."}),
    "a debater with another prompt": (
        "stances",
        {"debaters": [{**TWO[0], "prompt": "stances.debater.open"}, {**TWO[1], "role": "You are an auditor."}]},
        {
            "debaters": (
                Debater(TWO[0]["name"], TWO[0]["stance"], prompt="stances.debater.open"),
                Debater(TWO[1]["name"], TWO[1]["stance"], "You are an auditor."),
            )
        },
    ),
    "votes with escalate where the caller has it": (
        "ballot",
        {"debaters": THREE, "votes": ["Escalate", "go"], "consensusThreshold": 3},
        {"votes": ("escalate", "go"), "consensus_threshold": 3, "debaters": tuple(Debater(**d) for d in THREE)},
    ),
    "one option beside escalate": ("ballot", {"votes": ["go"]}, {"votes": ("go", "escalate")}),
    "a single vote that decides": ("ballot", {"consensusThreshold": 1}, {"consensus_threshold": 1}),
    "the type of the question": (
        "panel",
        {"questionType": "belief"},
        {"question_type": "belief", "typed_by": "caller"},
    ),
    "the largest panel": ("panel", {"debaters": 10, "maxRounds": 10}, {"debaters": 10, "max_rounds": 10}),
    "the smallest panel": ("panel", {"debaters": 2, "maxRounds": 1}, {"debaters": 2, "max_rounds": 1}),
    "debaters by name of a model": ("panel", {"models": {"debater-1": "birch-small"}}, {"mode": "manual"}),
    "another synthesizer": ("panel", {"models": {"synthesizer": "cedar-small"}}, {"mode": "auto"}),
    "debaters of convergence by name": (
        "convergence",
        {"debaters": [{"name": "optimist", "role": "Argue for the positive case."}, {"name": "skeptic"}]},
        {"debaters": (Debater("optimist", role="Argue for the positive case."), Debater("skeptic"))},
    ),
    "every similarity": ("convergence", {"convergenceSimilarity": 0.125}, {"convergence_similarity": 125}),
    "a similarity as text": ("convergence", {"convergenceSimilarity": "1"}, {"convergence_similarity": 1_000}),
    "no similarity": ("convergence", {"convergenceSimilarity": 0}, {"convergence_similarity": 0}),
    "instructions for each": (
        "convergence",
        {"debaterInstructions": "Count.", "judgeInstructions": "Weigh."},
        {"debater_instructions": "Count.", "judge_instructions": "Weigh."},
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_a_case_asks_for_goes_before_policy(name: str) -> None:
    format_, options, expected = ASKED[name]

    found = resolved(format_, **options)

    assert {key: getattr(found, key) for key in expected} == expected


@pytest.mark.parametrize("format_", NEW)
def test_a_model_is_named_for_a_seat_or_for_all_debaters_at_once(format_: str) -> None:
    def seated(**models: str) -> dict[str, str]:
        body = of(format_, models=models, **({} if format_ == "stances" else {"debaters": debaters}))
        _, started = taken(a_case(**body, costCeilingUSD=25))
        assert started is not None
        return {plan.seat: plan.model for plan in started.seats}

    debaters: Any = [{"name": "a"}, {"name": "b"}] if format_ == "ballot" else 2
    usual = seated()
    others = {seat: model for seat, model in usual.items() if not seat.startswith("debater-")}

    assert seated(debater="birch-small") == {**others, "debater-1": "birch-small", "debater-2": "birch-small"}
    assert seated(debater="birch-small", **{"debater-2": "alder-small"})["debater-2"] == "alder-small"
    assert seated(**{"debater-2": "birch-small"})["debater-2"] == "birch-small"
    for seat in others:
        assert seated(**{seat: "cedar-small"})[seat] == "cedar-small"


QUESTIONS = {
    "Will the covenant hold through 2027?": "prediction",
    "What does clause 12 limit?": "factual",
    "What are unconventional ways to control access?": "brainstorm",
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_type_of_a_question_is_told_by_rules_where_nobody_says_it(question: str) -> None:
    _, started = taken(a_case(question=question, **of("panel")))

    assert started is not None
    assert isinstance(started.options, PanelOptions)
    assert (started.options.question_type, started.options.typed_by) == (QUESTIONS[question], "rules")


# -- what is refused

MANY = [{"name": f"n{i}", "stance": "x"} for i in range(7)]
REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "stances without debaters": ("stances", {"debaters": None}, "/options/debaters"),
    "a number of stances": ("stances", {"debaters": 2}, "/options/debaters"),
    "a debate with oneself": ("stances", {"debaters": TWO[:1]}, "/options/debaters"),
    "too many debaters": ("stances", {"debaters": MANY}, "/options/debaters"),
    "two of one name": ("stances", {"debaters": [TWO[0], {**TWO[1], "name": "FOR"}]}, "/options/debaters"),
    "no name": ("stances", {"debaters": [TWO[0], {**TWO[1], "name": " "}]}, "/options/debaters/1/name"),
    "a name of two lines": ("stances", {"debaters": [TWO[0], {**TWO[1], "name": "a\nb"}]}, "/options/debaters/1/name"),
    "a name of marks alone": ("stances", {"debaters": [TWO[0], {**TWO[1], "name": "..."}]}, "/options/debaters"),
    "no stance": ("stances", {"debaters": [TWO[0], {"name": "b"}]}, "/options/debaters/1/stance"),
    "a blank stance": ("stances", {"debaters": [{**TWO[0], "stance": " "}, TWO[1]]}, "/options/debaters/0/stance"),
    "a stance of two lines": (
        "stances",
        {"debaters": [{**TWO[0], "stance": "yes\nand"}, TWO[1]]},
        "/options/debaters/0/stance",
    ),
    "an empty role": ("stances", {"debaters": [{**TWO[0], "role": ""}, TWO[1]]}, "/options/debaters/0/role"),
    "a prompt that is none": (
        "stances",
        {"debaters": [{**TWO[0], "prompt": "x"}, TWO[1]]},
        "/options/debaters/0/prompt",
    ),
    "a prompt of another seat": (
        "stances",
        {"debaters": [{**TWO[0], "prompt": "stances.judge"}, TWO[1]]},
        "/options/debaters/0/prompt",
    ),
    "the prompt that it has anyway": (
        "stances",
        {"debaters": [{**TWO[0], "prompt": "stances.debater"}, TWO[1]]},
        "/options/debaters/0/prompt",
    ),
    "a prompt of stances in a ballot": (
        "ballot",
        {"debaters": [{"name": "a", "prompt": "stances.debater.open"}, {"name": "b"}]},
        "/options/debaters/0/prompt",
    ),
    "a seventh round": ("stances", {"maxRounds": 7}, "/options/maxRounds"),
    "no round": ("stances", {"maxRounds": 0}, "/options/maxRounds"),
    "a shape without a synthesizer": (
        "stances",
        {"outputSchema": SCHEMA, "synthesizer": False},
        "/options/outputSchema",
    ),
    "a shape that is none": ("stances", {"outputSchema": {"type": "objekt"}}, "/options/outputSchema"),
    "a shape that points elsewhere": (
        "stances",
        {"outputSchema": {"$ref": "https://example.org/schema"}},
        "/options/outputSchema",
    ),
    "empty instructions": ("stances", {"instructions": " "}, "/options/instructions"),
    "a stance in a ballot": ("ballot", {"debaters": [TWO[0], {"name": "c"}]}, "/options/debaters/0/stance"),
    "a number of voters": ("ballot", {"debaters": 3}, "/options/debaters"),
    "a stance in convergence": ("convergence", {"debaters": [TWO[0], {"name": "c"}]}, "/options/debaters/0/stance"),
    "two debaters of convergence of one name": (
        "convergence",
        {"debaters": [{"name": "a"}, {"name": "A"}]},
        "/options/debaters",
    ),
    "another format's prompt in convergence": (
        "convergence",
        {"debaters": [{"name": "a", "prompt": "stances.debater.open"}, {"name": "b"}]},
        "/options/debaters/0/prompt",
    ),
    "no votes": ("ballot", {"votes": ["escalate"]}, "/options/votes"),
    "one vote twice": ("ballot", {"votes": ["Go", "go."]}, "/options/votes"),
    "escalate twice": ("ballot", {"votes": ["go", "escalate", "Escalate"]}, "/options/votes"),
    "a vote to abstain": ("ballot", {"votes": ["go", "Abstention"]}, "/options/votes"),
    "a blank vote": ("ballot", {"votes": ["go", " "]}, "/options/votes"),
    "a vote of two lines": ("ballot", {"votes": ["go", "st\nop"]}, "/options/votes/1"),
    "too many votes": ("ballot", {"votes": [f"v{i}" for i in range(10)]}, "/options/votes"),
    "a threshold of nothing": ("ballot", {"consensusThreshold": 0}, "/options/consensusThreshold"),
    "a threshold that nobody can meet": ("ballot", {"consensusThreshold": 4}, "/options/consensusThreshold"),
    "a fifth round of a ballot": ("ballot", {"maxRounds": 5}, "/options/maxRounds"),
    "names in a panel": ("panel", {"debaters": THREE}, "/options/debaters"),
    "a panel of one": ("panel", {"debaters": 1}, "/options/debaters"),
    "a panel of eleven": ("panel", {"debaters": 11}, "/options/debaters"),
    "a panel beyond all numbers": ("panel", {"debaters": 10**30}, "/options/debaters"),
    "an eleventh round": ("panel", {"maxRounds": 11}, "/options/maxRounds"),
    "an automatic choice that is none": (
        "panel",
        {"mode": "auto", "models": {"debater": "alder-large"}},
        "/options/mode",
    ),
    "an adjudicator that no panel has": (
        "panel",
        {"models": {"adjudicator": "alder-large"}},
        "/options/models/adjudicator",
    ),
    "a debater who is not there": ("panel", {"models": {"debater-4": "alder-large"}}, "/options/models/debater-4"),
    "a similarity above one": ("convergence", {"convergenceSimilarity": 1.001}, "/options/convergenceSimilarity"),
    "a negative similarity": ("convergence", {"convergenceSimilarity": -0.1}, "/options/convergenceSimilarity"),
    "a similarity of four decimals": (
        "convergence",
        {"convergenceSimilarity": 0.8501},
        "/options/convergenceSimilarity",
    ),
    "a similarity that is NaN": ("convergence", {"convergenceSimilarity": "NaN"}, "/options/convergenceSimilarity"),
    "a similarity next to nothing": (
        "convergence",
        {"convergenceSimilarity": "1E-999"},
        "/options/convergenceSimilarity",
    ),
    "instructions for a judge who is not there": (
        "convergence",
        {"judge": False, "judgeInstructions": "Weigh."},
        "/options/judgeInstructions",
    ),
    "a model for a judge who is not there": (
        "convergence",
        {"judge": False, "models": {"judge": "alder-large"}},
        "/options/models/judge",
    ),
    "a moderator of a ballot": ("ballot", {"models": {"moderator": "alder-large"}}, "/options/models/moderator"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_format_cannot_be_played_with_is_refused_at_its_place(name: str) -> None:
    format_, options, pointer = REFUSED[name]

    assert refused(a_case(**of(format_, **options))) == ("invalid_case", (pointer,))


LONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "a name": ("stances", {"debaters": [{**TWO[0], "name": "n" * 101}, TWO[1]]}, "/options/debaters/0/name"),
    "a stance": ("stances", {"debaters": [TWO[0], {**TWO[1], "stance": "s" * 2_001}]}, "/options/debaters/1/stance"),
    "a role": ("ballot", {"debaters": [{"name": "a", "role": "r" * 2_001}, THREE[1]]}, "/options/debaters/0/role"),
    "a prompt": ("ballot", {"debaters": [{"name": "a", "prompt": "p" * 101}, THREE[1]]}, "/options/debaters/0/prompt"),
    "a vote": ("ballot", {"votes": ["v" * 201]}, "/options/votes/0"),
    "instructions": ("panel", {"instructions": "i" * 2_001}, "/options/instructions"),
    "instructions to debaters": ("convergence", {"debaterInstructions": "i" * 2_001}, "/options/debaterInstructions"),
    "instructions to a judge": ("convergence", {"judgeInstructions": "i" * 2_001}, "/options/judgeInstructions"),
}


@pytest.mark.parametrize("name", LONG)
def test_a_text_above_its_limit_is_refused(name: str) -> None:
    format_, options, pointer = LONG[name]

    assert refused(a_case(**of(format_, **options))) == ("too_large", (pointer,))


SPOKEN: list[tuple[str, str, Any, str]] = [
    ("stances", "debaters", (Debater(SURROGATE, "x"), Debater("b", "y")), "/options/debaters/0/name"),
    ("stances", "debaters", (Debater("a", SURROGATE), Debater("b", "y")), "/options/debaters/0/stance"),
    ("stances", "debaters", (Debater("a", "x", SURROGATE), Debater("b", "y")), "/options/debaters/0/role"),
    ("stances", "debaters", (Debater("a", "x", prompt=SURROGATE), Debater("b", "y")), "/options/debaters/0/prompt"),
    ("stances", "output_schema", {"title": SURROGATE}, "/options/outputSchema"),
    ("ballot", "votes", (SURROGATE,), "/options/votes/0"),
    ("panel", "instructions", SURROGATE, "/options/instructions"),
    ("convergence", "debater_instructions", SURROGATE, "/options/debaterInstructions"),
    ("convergence", "judge_instructions", SURROGATE, "/options/judgeInstructions"),
]


@pytest.mark.parametrize(("format_", "key", "value", "pointer"), SPOKEN, ids=[row[3] for row in SPOKEN])
def test_half_a_surrogate_pair_is_refused_in_every_option(format_: str, key: str, value: Any, pointer: str) -> None:
    request = a_case(**of(format_))
    request = replace(request, options=replace(request.options, **{key: value}))

    assert refused(request) == ("invalid_case", (pointer,))


VALUES: dict[str, Any] = {
    "maxRounds": 2,
    "minChallengeStrength": 6,
    "requireCriticRetryBelow": 6,
    "positions": [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}],
    "personas": {"critic": "x"},
    "models": {},
    "debaters": 2,
    "anonymizeTranscript": False,
    "shuffleForJudge": True,
    "synthesizer": False,
    "outputSchema": SCHEMA,
    "instructions": "x",
    "votes": ["a", "b"],
    "consensusThreshold": 1,
    "questionType": "belief",
    "adjudicator": "algorithmic",
    "mode": "manual",
    "judge": False,
    "convergenceCheck": False,
    "convergenceSimilarity": 0,
    "ties": "noAnswer",
    "debaterInstructions": "x",
    "judgeInstructions": "x",
}


OWN = sorted({*VALUES} - {*COMMON})
"""The options that not every format knows."""


@pytest.mark.parametrize("option", OWN)
def test_where_policy_chooses_the_format_a_case_may_give_the_options_of_all_formats_alone(option: str) -> None:
    asked = {name: a_case(**of("auto", **{name: VALUES[name]}), taskType="investment") for name in (option, *COMMON)}

    with pytest.raises(InvalidCase, match=f"{option} belongs to .*, and this case asks for auto, which knows: maxR"):
        taken(asked[option])
    assert taken(asked["maxRounds"])[1] is not None
    assert taken(asked["models"])[1] is not None


def test_every_option_belongs_to_a_format() -> None:
    known = {field.encode_name for field in msgspec.structs.fields(AskedOptions)}

    assert known == {name for names in OPTIONS_OF.values() for name in names} == set(VALUES)
    assert set(OPTIONS_OF) == set(FORMATS)


@pytest.mark.parametrize("format_", FORMATS)
def test_an_option_of_another_format_is_refused_and_told_where_it_belongs(format_: FormatName) -> None:
    for option in set(VALUES) - set(OPTIONS_OF[format_]):
        with pytest.raises(InvalidCase) as error:
            taken(a_case(**of(format_, **{option: VALUES[option]})))

        assert error.value.pointers == (f"/options/{option}",), option
        assert f"this case asks for {format_}, which knows" in error.value.detail


def test_the_gate_refuses_options_as_a_debate_does() -> None:
    for format_, options, pointer in REFUSED.values():
        with pytest.raises(GainsayError) as error:
            decide(a_gate_request(**of(format_, **options)), POLICY, DAY, "operator", PROMPTS)

        assert error.value.pointers == (pointer,)


@pytest.mark.parametrize("format_", NEW)
def test_the_gate_weighs_the_cost_of_the_format(format_: str) -> None:
    request = of(format_)

    decision = decide(a_gate_request(**request), POLICY, DAY, "operator", PROMPTS)

    assert decision == taken(a_case(**request))[0].decision
    assert decision.debate_cost_threshold > 0


def test_six_debaters_are_expected_to_cost_twice_what_three_do() -> None:
    """The panel's reference says so; whoever closes the debate is paid once, whatever the number."""

    def expected(debaters: int) -> int:
        _, started = taken(a_case(**of("panel", debaters=debaters, mode="manual"), costCeilingUSD=25))
        assert started is not None
        return sum(cost for seat, cost in started.expected_by_seat.items() if seat.startswith("debater-"))

    share = expected(6) / expected(3)

    assert 1.7 < share < 2.3


def test_documents_of_later_rounds_belong_to_the_adversarial_format() -> None:
    later = [{"text": "One."}, {"text": "Two.", "round": 2}]

    assert taken(a_case(documents=later))[1] is not None
    for format_ in NEW:
        assert refused(a_case(documents=later, **of(format_))) == ("invalid_case", ("/documents",))


# -- formats that are not there, and formats that are chosen


def without_seats(*names: str) -> Policy:
    return policy(seats={name: seat for name, seat in POLICY.seats.items() if name not in names})


@pytest.mark.parametrize(
    ("format_", "gone"),
    [
        ("stances", "judge"),
        ("stances", "synthesizer"),
        ("ballot", "debater"),
        ("panel", "synthesizer"),
        ("convergence", "judge"),
    ],
)
def test_a_format_whose_seats_policy_does_not_fill_is_refused_with_what_to_add(format_: str, gone: str) -> None:
    with pytest.raises(InvalidCase) as error:
        taken(a_case(**of(format_)), without_seats(gone))

    assert error.value.pointers == ("/options/format",)
    assert f"add seats.{gone} to the policy" in error.value.detail


def test_an_option_that_needs_a_seat_which_is_not_there_is_refused_with_what_to_do() -> None:
    changes = with_formats(stances__synthesizer=False, convergence__judge=False)
    under = replace(changes, seats={n: s for n, s in POLICY.seats.items() if n in ("debater", "judge", "synthesizer")})
    bare = replace(under, seats={n: s for n, s in under.seats.items() if n != "judge"})
    unjudged = replace(under, seats={n: s for n, s in under.seats.items() if n != "synthesizer"})

    assert refused(a_case(**of("stances", synthesizer=True)), unjudged) == ("invalid_case", ("/options/synthesizer",))
    assert refused(a_case(**of("convergence", judge=True)), bare) == ("invalid_case", ("/options/judge",))
    assert refused(a_case(**of("panel", adjudicator="model")), under) == ("invalid_case", ("/options/adjudicator",))


@pytest.mark.parametrize(
    ("task_type", "format_", "words"),
    [
        ("investment", "panel/1", "auto: policy debates the task type investment as panel"),
        ("architecture", "ballot/1", "auto: policy debates the task type architecture as ballot"),
        ("contract", "adversarial/1", "auto: policy names no format for the task type contract, so its usual one"),
    ],
)
def test_a_format_that_is_left_to_policy_goes_by_the_task_type_with_the_reason(
    task_type: str, format_: str, words: str
) -> None:
    prepared, started = taken(a_case(taskType=task_type, options={"format": "auto"}))
    named = taken(a_case(taskType=task_type, options={"format": format_.partition("/")[0]}))[1]

    assert started is not None
    assert named is not None
    assert (prepared.case.format, started.format, started.format_reason) == ("auto", format_, words)
    assert (named.format, named.format_reason) == (format_, "")
    alone = decide(a_gate_request(taskType=task_type, options={"format": "auto"}), POLICY, DAY, "operator", PROMPTS)
    assert alone == prepared.decision


def test_options_of_a_format_that_policy_did_not_choose_are_refused() -> None:
    assert refused(a_case(taskType="investment", options={"format": "auto", "votes": ["a"]})) == (
        "invalid_case",
        ("/options/votes",),
    )


# -- at stake


@pytest.mark.parametrize(
    ("format_", "options", "swapped"),
    [
        ("adversarial", {}, True),
        ("stances", {}, True),
        ("panel", {"adjudicator": "model"}, True),
        ("panel", {}, False),
        ("convergence", {}, True),
        ("convergence", {"judge": False}, False),
    ],
)
def test_a_single_decider_is_asked_twice_above_the_stake_of_policy(
    format_: str, options: dict[str, Any], swapped: bool
) -> None:
    def asked_twice(downside: str, stake: int | None) -> bool:
        request = a_case(**of(format_, **options), estimatedDownside=downside)
        answer: bool = getattr(taken(request, policy(debate__swap_above=stake))[0].options, "swapped")  # noqa: B009
        return answer

    assert not asked_twice("1000", 1_000_000_000)
    assert asked_twice("1000.01", 1_000_000_000) == swapped
    assert not asked_twice("999999999", None)


@pytest.mark.parametrize(
    ("format_", "options", "masked"),
    [
        ("adversarial", {}, True),
        ("stances", {}, True),
        ("panel", {"adjudicator": "model"}, True),
        ("panel", {}, True),
        ("convergence", {}, True),
        ("convergence", {"judge": False}, False),
        ("ballot", {}, False),
    ],
)
def test_a_decider_is_asked_once_more_masked_above_a_stake_of_its_own(
    format_: str, options: dict[str, Any], masked: bool
) -> None:
    def asked(downside: str, stake: int | None) -> bool:
        request = a_case(**of(format_, **options), estimatedDownside=downside)
        return masked_of(taken(request, policy(debate__mask_above=stake, debate__swap_above=None))[0].options)

    assert not asked("1000", 1_000_000_000)
    assert asked("1000.01", 1_000_000_000) == masked
    assert not asked("999999999", None)


# -- track records


def test_a_record_is_drawn_to_the_middle_while_there_are_few_debates_and_ties_keep_the_order() -> None:
    def score(debates: int, mean: int) -> int:
        (found,) = track_records(
            ["m"], [Standing("factual", "m", debates, 4 * debates, 4 * mean * debates)], "factual", 5
        )
        return found.score

    assert [score(n, 100) for n in (1, 5, 45)] == [583, 750, 950]
    assert [score(n, 0) for n in (1, 5, 45)] == [416, 250, 50]
    assert score(1_000, 50) == 500
    pool = ["a", "b", "c", "d"]
    records = track_records(
        pool, [Standing("factual", "c", 9, 36, 9 * 280), Standing("belief", "b", 9, 36, 9 * 400)], "factual", 5
    )
    assert records[0] == TrackRecord("a", 0, 500)
    assert rank_models(records) == ("c", "a", "b", "d")


def drawn(standings: list[Standing], under: Policy = POLICY, **options: Any) -> DebateStarted:
    request = a_case(**of("panel", **options), costCeilingUSD=25)
    deployment = Deployment(PROMPTS, under, DAY, "00" * 32)
    salts = {name: bytes(32) for name in document_ids(request)}
    return start(prepare(request, deployment, "operator", salts, NOW, standings), deployment, "ab" * 32)


def test_an_automatic_choice_goes_by_records_of_the_type_after_families() -> None:
    well = [Standing("factual", "birch-small", 20, 80, 20 * 380), Standing("belief", "alder-small", 20, 80, 20 * 400)]

    chosen = [plan.model for plan in drawn(well, debaters=2).seats[:2]]
    of_belief = [plan.model for plan in drawn(well, debaters=2, questionType="belief").seats[:2]]
    by_hand = [plan.model for plan in drawn(well, debaters=2, mode="manual").seats[:2]]

    assert chosen == ["birch-small", "alder-large"]
    assert of_belief == ["alder-small", "birch-large"]
    assert by_hand == ["alder-large", "birch-large"]
    options = drawn(well, debaters=2).options
    assert isinstance(options, PanelOptions)
    assert options.track_records[3] == TrackRecord("birch-small", 20, (20 * 950 + 2_500) // 25)


def test_an_automatic_choice_never_fills_a_panel_from_one_family_and_a_manual_one_may() -> None:
    pool = replace(POLICY.seats["debater"], model="alder-large", alternatives=("alder-small",))
    under = policy(seats={**POLICY.seats, "debater": pool})

    assert refused(a_case(**of("panel", debaters=2)), under) == ("invalid_case", ("/options/mode",))
    assert [p.model for p in drawn([], under, debaters=2, mode="manual").seats[:2]] == ["alder-large", "alder-small"]


# -- always


def begun(request: CaseRequest) -> tuple[Prepared, DebateStarted]:
    prepared, started = taken(request)
    assert started is not None
    return prepared, started


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("sample", samples.names())
def test_every_sample_begins_in_every_format_with_a_start_that_the_kernel_takes(
    sample: str, format_: FormatName
) -> None:
    variant = None if format_ == "adversarial" else format_
    request = msgspec.convert(samples.load(sample, variant).case, CaseRequest)

    prepared, started = begun(request)

    facts = Facts()
    entries: list[Entry] = [prepared.received("local"), GateDecided(prepared.decision), started]
    for entry in entries:
        kernel.refuse_illegal(facts, entry)
        facts.add(entry)
    assert started.format == FORMATS[format_]


LEGAL = st.fixed_dictionaries(
    {},
    optional={
        "maxRounds": st.integers(-1, 12),
        "debaters": st.one_of(
            st.integers(0, 12), st.lists(st.sampled_from([*TWO, *THREE, {"name": ""}]), max_size=7), st.none()
        ),
        "votes": st.lists(st.sampled_from(["a", "A", "b", "escalate", "abstention", " ", "\n"]), max_size=5),
        "consensusThreshold": st.integers(-1, 5),
        "questionType": st.sampled_from(["factual", "belief"]),
        "adjudicator": st.sampled_from(["model", "algorithmic"]),
        "mode": st.sampled_from(["auto", "manual"]),
        "judge": st.booleans(),
        "synthesizer": st.booleans(),
        "convergenceSimilarity": st.decimals(allow_nan=True, allow_infinity=True).map(str),
        "models": st.dictionaries(
            st.sampled_from(["debater", "debater-1", "debater-2", "judge", "synthesizer", "adjudicator", "critic"]),
            st.sampled_from([*POLICY.models, "nobody"]),
            max_size=3,
        ),
    },
)


@given(format_=st.sampled_from([*FORMATS, "auto"]), options=LEGAL, task=st.sampled_from(["contract", "investment"]))
def test_whatever_options_are_asked_for_are_refused_with_a_reason_or_start_a_legal_debate(
    format_: str, options: dict[str, Any], task: str
) -> None:
    try:
        request = a_case(options={"format": format_, **options}, taskType=task, costCeilingUSD=25)
        prepared, started = taken(request)
    except (InvalidCase, msgspec.ValidationError):
        return

    facts = Facts()
    entries: list[Entry] = [prepared.received("local"), GateDecided(prepared.decision)]
    for entry in [*entries, *([started] if started else [])]:
        kernel.refuse_illegal(facts, entry)
        facts.add(entry)


# -- what OpenAPI says of them

DOCUMENT = openapi.document()


def conforms(**members: Any) -> bool:
    """Whether a body of ``POST /v1/debates`` is one by the document."""
    whole = {"components": DOCUMENT["components"], "$ref": "#/components/schemas/CaseRequest"}
    body = {"question": "q", "taskType": "contract", "estimatedDownside": 1, **members}
    return jsonschema.Draft202012Validator(whole).is_valid(body)


@pytest.mark.parametrize("format_", FORMATS)
def test_the_document_knows_the_options_of_a_format_and_no_others(format_: FormatName) -> None:
    own = {name: VALUES[name] for name in OPTIONS_OF[format_]}
    if "debaters" in own:
        own["debaters"] = {"stances": TWO, "ballot": THREE}.get(format_, 2)

    assert conforms(options={"format": format_, **own})
    for option in set(VALUES) - set(OPTIONS_OF[format_]):
        assert not conforms(options={"format": format_, **own, option: VALUES[option]}), option


def test_the_document_says_what_debaters_are_in_each_format() -> None:
    assert conforms()
    assert conforms(options={"format": "auto", "maxRounds": 3, "models": {"critic": "alder-large"}})
    assert not conforms(options={"format": "auto", "debaters": 3})
    assert conforms(options={"format": "ballot"})
    assert not conforms(format="ballot")
    assert not conforms(options={})
    assert not conforms(options={"maxRounds": 1})
    assert not conforms(options={"format": "shouting"})
    assert not conforms(options={"format": "stances"})
    assert not conforms(options={"format": "stances", "debaters": THREE})
    assert not conforms(options={"format": "stances", "debaters": 2})
    assert not conforms(options={"format": "panel", "debaters": THREE})
    assert conforms(options={"format": "convergence", "convergenceSimilarity": 0.85})


@pytest.mark.parametrize("sample", samples.names())
@pytest.mark.parametrize("format_", NEW)
def test_the_samples_are_bodies_by_the_document(sample: str, format_: str) -> None:
    assert conforms(**samples.load(sample, format_).case)


def test_track_records_matter_to_a_format_that_draws_models_and_to_no_other() -> None:
    asked = {name: needs_standings(a_case(**of(name)), POLICY) for name in (*FORMATS, "joust")}

    assert asked == {name: name == "panel" for name in asked}
