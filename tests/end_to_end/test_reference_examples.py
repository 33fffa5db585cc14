"""The references' own examples over HTTP, as they stand in their texts: questions, debaters, votes, shapes and reports.

The texts are read too, so that nobody edits an example here until it runs.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import jsonschema
import pytest
import pytest_asyncio

from service import samples
from service.policy.settings import SHIPPED_POLICY
from tests.end_to_end.test_http_refusals import pointers
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, Event, Served, served

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTIONS = {
    "factual": "What are the proven health effects of caffeine?",
    "normative": "Should AI-generated content be labeled?",
    "business": "Should a Series A startup expand internationally in year one?",
    "prediction": "Will electric vehicles account for more than 50% of new car sales by 2035?",
    "brainstorm": "What are unconventional marketing strategies for a B2B SaaS product?",
    "belief": "Does consciousness require a biological substrate?",
}
"""The question that DebateTalk gives for each of its types."""
SHIP = [{"name": "advocate", "stance": "ship now"}, {"name": "skeptic", "stance": "do not ship now"}]
SHAPE = {
    "type": "object",
    "properties": {"decision": {"type": "string"}, "rationale": {"type": "string"}},
    "required": ["decision", "rationale"],
}
"""flow-state's schema of its example, in JSON Schema."""
VOTERS = {"first": ("release", "revise", "revise"), "split": ("release", "revise", "escalate")}
"""What planner, critic and operator vote in the bounded debate's two examples."""
ROLES = {
    "optimist": "Argue for the positive case.",
    "skeptic": "Argue for the cautious case.",
    "analyst": "Argue from the data.",
}
CIO = "You are the CIO. Read the full debate transcript and pick the best decision with one paragraph of justification."
MODELS = {"claude-opus-4-7": "alder-large", "gpt-4o": "birch-large"}
"""The models of loomflow's example, and the simulated ones that speak under their names here."""


def model(alias: str, name: str, provider: str, family: str) -> str:
    """A model of a policy, at a made-up price."""
    price = "\n".join(
        f'{kind}_usd = "1.00"' for kind in ("input", "cached_input", "cache_write", "output", "reasoning")
    )
    return (
        f'[[models]]\nalias = "{alias}"\nprovider = "{provider}"\nname = "{name}"\nfamily = "{family}"\n'
        f'tokenizer = "bytes/4"\ncontext_window = 2000000\n'
        f'[[models.prices]]\neffective = "2026-01-01"\nsource = "made up"\n{price}\n'
    )


def voter(vote: str) -> JSON:
    """A ballot of the worked examples: the same stance, rationale and vote in every phase."""
    text = f"The migration is risky because it touches every table, so {vote}."
    ground = {"n": 1, "text": text, "basis": "reasoning"}
    return {"reply": {"stance": f"position for {vote}", "rationale": [{**ground, "citations": []}], "vote": vote}}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def examples(module_database: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """A service with the models of loomflow's example, and two that vote as the bounded debate's examples do."""
    folder, text = tmp_path_factory.mktemp("examples"), SHIPPED_POLICY.read_text("utf-8")
    for name, votes in VOTERS.items():
        script = {"turns": {f"debater-{n}": [voter(vote)] for n, vote in enumerate(votes, start=1)}}
        (folder / f"{name}.json").write_text(json.dumps(script), "utf-8")
        text += f'\n[providers.{name}]\nkind = "scripted"\nscript = "{folder / name}.json"\n'
        text += model(name, name, name, name)
    text += "".join(model(alias, name, "offline", name.partition("-")[0]) for alias, name in MODELS.items())
    (folder / "policy.toml").write_text(text, "utf-8")
    async with served(module_database.service_url, GAINSAY_POLICY=str(folder / "policy.toml")) as running:
        yield running


async def debated(site: Served, form: str, question: str, **options: object) -> tuple[JSON, list[Event]]:
    """A question without documents, debated to its end: the result and the stream."""
    case = {"question": question, "taskType": "architecture", "estimatedDownside": 500000, "costCeilingUSD": "5"}
    debate = (await site.submit({**case, "options": {"format": form, **options}}))["debateId"]
    events = await site.events(debate)
    return (await site.http.get(f"/v1/debates/{debate}?view=full")).json(), events


def reference(shared: Path, name: str) -> str:
    """A reference as it stands."""
    return (shared / "reference" / f"{name}.txt").read_text("utf-8")


# -- DebateTalk


def shapes(text: str) -> Mapping[str, JSON]:
    """The JSON examples of the text, by their event; the two answers by their round."""
    found = [json.loads(block) for block in re.findall(r"^json\n(\{.*?^\})", text, re.DOTALL | re.MULTILINE)]
    return {one.get("event", "later" if "corrections" in one else "blind"): one for one in found}


def like(example: object, value: object, place: str = "") -> list[str]:
    """Where a value has not the members of an example with the same kinds of values; letters stand for each other."""
    if isinstance(example, dict) and isinstance(value, dict):
        by_letter = set(example) >= {"model_a"}
        pairs = [(name, next(iter(example.values())), said) for name, said in value.items()] if by_letter else []
        pairs = pairs or [(name, said, value.get(name)) for name, said in example.items()]
        return [fault for name, one, other in pairs for fault in like(one, other, f"{place}/{name}")]
    if isinstance(example, list) and isinstance(value, list):
        return [fault for item in value for fault in like(example[0], item, f"{place}/-")] if example else []
    number = isinstance(example, int | float) and not isinstance(example, bool)
    fits = isinstance(value, int | float) and not isinstance(value, bool) if number else type(value) is type(example)
    if fits and isinstance(example, float) and isinstance(value, int | float):
        fits = 0 <= value <= 1  # each float of the text is a share
    return [] if fits else [f"{place}: {value!r}"]


NOT_CHECKED = {"consensus": {"empirical_overlap: None"}, "accuracy": {"factual_accuracy: None"}}
"""The scores that an event leaves out where no document was there to compare with: departures of docs/formats.md."""
UNDEFINED = {"stance_alignment: None"}
"""A score that a blind round may not have."""


@pytest.mark.parametrize("kind", QUESTIONS)
async def test_a_question_of_debatetalk_is_typed_debated_and_told_as_its_text_has_it(
    examples: Served, shared: Path, kind: str
) -> None:
    text = reference(shared, "debatetalk-how-debates-work")
    assert f'Example: "{QUESTIONS[kind]}"' in text

    r, events = await debated(examples, "panel", QUESTIONS[kind])

    assert (r["status"], r["result"]["questionType"], r["options"]["typedBy"]) == ("completed", kind, "rules")
    assert r["decision"]["outcome"] == ("ranked" if kind == "brainstorm" else "agreed")
    assert r["result"]["synthesis"]
    assert bool(r["result"].get("ideas")) is (kind == "brainstorm")
    shape, seen = shapes(text), Counter[str]()
    assert set(shape) == {"blind", "later", "consensus", "accuracy", "final"}
    for event in events:
        name = ("blind" if event.data["round"] == 1 else "later") if event.name == "round" else event.name
        if name in shape:
            seen[name] += 1
            left_out = {fault.rpartition("/")[2] for fault in like(shape[name], event.data)}
            assert left_out == NOT_CHECKED.get(name, set()) | left_out & UNDEFINED, name
    assert set(seen) == set(shape)
    assert seen["blind"] == 3
    assert seen["consensus"] == r["result"]["roundsCompleted"]


# -- flow-state


async def test_flow_states_example_ends_in_the_callers_shape_beside_the_raw_one(examples: Served, shared: Path) -> None:
    text = reference(shared, "flow-state-debate")
    assert all(f'{{ name: "{d["name"]}", stance: "{d["stance"]}" }}' in text for d in SHIP)
    question = re.findall(r'input: \{ question: "(.*?)" \}', text)[0]

    r, events = await debated(examples, "stances", question, debaters=SHIP, maxRounds=2, outputSchema=SHAPE)

    assert r["status"] == "completed"
    jsonschema.validate(r["result"]["output"], SHAPE)
    raw = r["result"]["raw"]
    assert (raw["rounds"], raw["question"]) == (2, question)
    assert [(one["round"], one["agentName"], one["stance"]) for one in raw["transcript"]] == [
        (n, d["name"], d["stance"]) for n in (1, 2) for d in SHIP
    ]
    assert all(set(one) == {"round", "agentName", "stance", "text"} and one["text"] for one in raw["transcript"])
    assert set(raw["verdict"]) == {"verdict", "winner", "reasoning"}
    assert [e.name for e in events if e.name in ("round", "verdict", "synthesis")] == [
        *["round"] * 4,
        "verdict",
        "synthesis",
    ]


async def test_without_its_synthesizer_flow_states_example_ends_in_the_raw_shape(examples: Served) -> None:
    r, events = await debated(examples, "stances", "Should we ship feature X?", debaters=SHIP, synthesizer=False)

    assert set(r["result"]["raw"]) == {"rounds", "question", "transcript", "verdict"}
    assert "output" not in r["result"]
    assert "synthesis" not in {event.name for event in events}


# -- the bounded debate


async def test_the_bounded_debates_first_example_gives_its_report_byte_for_byte(examples: Served, shared: Path) -> None:
    text = reference(shared, "bounded-debate-pattern")
    expected = text.split('assert result.to_report() == """')[1].split('"""')[0]

    r, _ = await voted(examples, "first")

    assert r["result"]["report"] == expected
    assert (r["result"]["decision"], r["result"]["decisionRule"], r["result"]["roundsRun"]) == (
        "revise",
        "threshold_vote",
        1,
    )
    assert [one["name"] for one in r["transcript"]] == r["result"]["speakerSchedule"]
    assert r["result"]["speakerSelectedBy"] == "schedule"


async def test_the_bounded_debates_split_example_is_escalated_after_all_rounds(examples: Served) -> None:
    r, events = await voted(examples, "split")

    told = r["result"]
    assert (told["decisionRule"], told["decision"]) == ("max_rounds_exhausted", "escalate")
    assert told["roundsRun"] == told["maxRounds"] == 2
    assert {one["vote"]: one["count"] for one in told["voteTally"]} == {"release": 1, "revise": 1, "escalate": 1}
    assert "vote_tally: {release: 1, revise: 1, escalate: 1}" in told["report"]
    assert told["phaseSequence"] == ["proposal", "critique", "revision", "consensus"] * 2
    assert sum(event.name == "round" for event in events) == 24
    assert (r["decision"]["outcome"], r["decision"]["humanReview"]["required"]) == ("escalated", True)


async def voted(site: Served, name: str) -> tuple[JSON, list[Event]]:
    """One of the worked examples, with voters that always vote as it says."""
    asked = {"debaters": [{"name": who} for who in ("planner", "critic", "operator")], "maxRounds": 2}
    votes = {"votes": ["release", "revise", "escalate"], "consensusThreshold": 2, "models": {"debater": name}}
    return await debated(site, "ballot", "Should the risky migration be released?", **asked, **votes)


# -- loomflow


async def test_loomflows_example_is_debated_by_its_three_debaters_and_its_judge(examples: Served, shared: Path) -> None:
    text = reference(shared, "loomflow-multi-agent-debate")
    assert all(f'{who} = Agent("{role}", model=' in text for who, role in ROLES.items())
    assert CIO in "".join(re.findall(r'"(.*?)"', text.split("cio = Agent(")[1].split("model=")[0]))
    opus, gpt = MODELS

    r, events = await debated(
        examples,
        "convergence",
        re.findall(r'team\.run\(\n"(.*?)"', text)[0],
        debaters=[{"name": who, "role": role} for who, role in ROLES.items()],
        judgeInstructions=CIO,
        maxRounds=2,
        convergenceSimilarity=0.85,
        models={"debater-1": opus, "debater-2": opus, "debater-3": gpt, "judge": opus},
    )

    assert (r["status"], r["result"]["decidedBy"]) == ("completed", "judge"), r["decision"]["answer"]
    assert r["result"]["finalAnswer"]
    assert {d["name"]: d["role"] for d in r["options"]["debaters"]} == ROLES
    assert (r["options"]["convergenceSimilarity"], r["options"]["judgeInstructions"]) == (0.85, CIO)
    assert [e.data["round"] for e in events if e.name == "debate.round_started"] == [0, 1, 2]
    spoke = Counter(e.data["name"] for e in events if e.name == "debate.response")
    assert spoke == {"optimist": 3, "skeptic": 3, "analyst": 3}
    assert [plan["alias"] for plan in r["seats"]] == [opus, opus, gpt, opus]
    assert "deciderOnWeighedModel" in {cap["reason"] for cap in r["caps"]}, "its judge is two of its debaters' model"


# -- EAAPL-MAG005


async def test_a_contract_clause_is_reviewed_by_one_call(examples: Served) -> None:
    r = await examples.finished(samples.load("contract").case)

    assert r["status"] == "completed"
    for record in r["rounds"]:
        assert {"proposerPosition", "criticPosition", "rebuttalPosition", "moderatorEvaluation"} <= set(record)
        assert record["moderatorEvaluation"]["confidenceLevel"] in ("HIGH", "MODERATE", "LOW")
        assert record["moderatorEvaluation"]["explicitUncertainties"]
    cost = r["overallCost"]
    assert 0 < float(cost["spentUSD"]) <= min(1.5 * float(cost["expectedUSD"]), float(cost["ceilingUSD"]))


# -- what the references allow and no format here does


@pytest.mark.parametrize(
    ("form", "option"),
    [
        ("stances", "tools"),
        ("stances", "uses"),
        ("stances", "context"),
        ("stances", "name"),
        ("stances", "judgeAgentType"),
        ("ballot", "speaker"),
        ("convergence", "name"),
    ],
)
async def test_a_format_has_no_option_for_tools_names_or_blocks(examples: Served, form: str, option: str) -> None:
    options = {"debaters": SHIP if form == "stances" else [{"name": "a"}, {"name": "b"}], option: "x"}
    case = {"question": "Should we?", "taskType": "architecture", "estimatedDownside": 500000}

    refused = await examples.http.post("/v1/debates", json={**case, "options": {"format": form, **options}})

    assert refused.status_code == 422
    assert pointers(refused.json()) == [f"/options/{option}"]


async def test_a_debater_of_stances_is_no_block_of_code(examples: Served) -> None:
    case = {"question": "Should we?", "taskType": "architecture", "estimatedDownside": 500000}

    for options in ({"debaters": [{**SHIP[0], "block": {}}, SHIP[1]]}, {"debaters": SHIP, "judge": {"verdict": "x"}}):
        refused = await examples.http.post("/v1/debates", json={**case, "options": {"format": "stances", **options}})

        assert refused.status_code == 422
        assert refused.json()["errors"]
