"""Every format from its request over HTTP to its stream, its verified bundle, and its page on a terminal."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
import pytest_asyncio
from msgspec import Struct

from service import samples
from service.cli import main
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, SIGNING_KEY, Event, Served, sequenced, signer_folder

pytestmark = pytest.mark.asyncio(loop_scope="module")

CASES = {"stances": "contract", "ballot": "contract", "panel": "architecture", "convergence": "contract"}
"""A sample for each format, whose variant of that name is debated."""
KEYS = ("--key", SIGNING_KEY.public.encode(), "--allow-unwitnessed")
COMMON = {"gate", "started", "asked", "citations", "passages", "notice", "final"}


class Debated(Struct, frozen=True):
    """A debate as its caller has it: the case, the result, the stream, and the bundle for an examiner."""

    case: JSON
    result: JSON
    events: list[Event]
    bundle: bytes


async def debated(site: Served, case: JSON) -> Debated:
    """Submit a case, follow its stream to the end, and fetch what there is of it."""
    debate = (await site.submit(case))["debateId"]
    events = await site.events(debate)
    result = (await site.http.get(f"/v1/debates/{debate}?view=full")).json()
    bundle = await site.http.get(f"/v1/debates/{debate}/audit")
    assert bundle.is_success, bundle.text
    return Debated(case, result, events, bundle.content)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def all_debated(site: Served) -> Mapping[str, Debated]:
    """One debate of each format, all at once."""
    cases = [samples.load(name, form).case for form, name in CASES.items()]
    return dict(zip(CASES, await asyncio.gather(*(debated(site, case) for case in cases)), strict=True))


# -- over HTTP


@pytest.mark.parametrize("form", CASES)
async def test_a_case_of_any_format_is_debated_to_its_end_over_http(
    all_debated: Mapping[str, Debated], form: str
) -> None:
    r, options = all_debated[form].result, all_debated[form].case["options"]

    assert (r["format"], r["status"]) == (f"{form}/1", "completed")
    assert r["result"]["format"] == form
    assert r["stopReason"] in ("consensus", "roundCeiling")
    assert r["decision"]["confidence"] in ("HIGH", "MODERATE", "LOW")
    assert r["options"]["maxRounds"] == options["maxRounds"]
    assert r["transcript"]
    assert r["simulated"] is True
    named = options["debaters"] if isinstance(options["debaters"], list) else [{}] * options["debaters"]
    seats = {f"debater-{n}" for n in range(1, len(named) + 1)}
    assert {one["seat"] for one in r["transcript"]} == seats
    assert {one.get("name") for one in r["transcript"]} == {d.get("name") for d in named}


@pytest.mark.parametrize("form", CASES)
async def test_every_verified_quotation_of_any_format_stands_in_its_document(
    all_debated: Mapping[str, Debated], form: str
) -> None:
    texts = {d["id"]: d["text"] for d in all_debated[form].case["documents"]}
    cited = [
        citation
        for one in all_debated[form].result["transcript"]
        for argument in one["arguments"]
        for citation in argument.get("citations", ())
    ]

    verified = [c for c in cited if c["verdict"] == "verified"]
    assert verified
    for c in verified:
        assert texts[c["sourceId"]][slice(*c["span"])] == c["text"]
    assert len(verified) == all_debated[form].result["citationCounts"]["verified"]


@pytest.mark.parametrize("form", CASES)
async def test_the_bundle_of_any_format_verifies_with_nothing_but_the_key_of_its_log(
    all_debated: Mapping[str, Debated], form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = tmp_path / "case.zip"
    bundle.write_bytes(all_debated[form].bundle)

    code = main(["audit", "verify", str(bundle), *KEYS])

    told = capsys.readouterr().out
    assert code == 0, told
    assert told.splitlines()[-1].startswith("VERIFIED")
    assert f"legal after those before it by the rules of {form}/1" in told


@pytest.mark.parametrize("form", CASES)
async def test_the_events_of_any_format_are_numbered_by_entry_and_resume_after_each(
    site: Served, all_debated: Mapping[str, Debated], form: str
) -> None:
    whole, r = all_debated[form].events, all_debated[form].result
    ids = [event.id for event in whole if event.id]

    assert ids == sorted({*ids})  # a check that found nothing has a number and no event
    assert whole[-1].id == ids[-1] == r["entries"] - 1
    for seen in (1, ids[len(ids) // 2], ids[-2]):
        rest = whole[[event.id for event in whole].index(seen) + 1 :]
        assert await site.events(r["debateId"], after=seen) == rest


async def test_stances_stream_rounds_a_verdict_and_a_synthesis(all_debated: Mapping[str, Debated]) -> None:
    events, r = all_debated["stances"].events, all_debated["stances"].result

    named = Counter(event.name for event in events)
    spoke = [event.data["seat"] for event in events if event.name in ("round", "synthesis")]
    assert set(named) <= COMMON | {"round", "verdict", "synthesis", "swapped"}
    assert spoke == [*["debater-1", "debater-2", "debater-3"] * 2, "synthesizer"]
    assert named["verdict"] == 1
    (verdict,) = (event.data for event in events if event.name == "verdict")
    assert {name: verdict[name] for name in ("verdict", "winner", "reasoning")} == r["result"]["raw"]["verdict"]
    assert r["result"]["raw"]["rounds"] == 2
    assert [one["agentName"] for one in r["result"]["raw"]["transcript"]] == ["bank", "supplier", "hosting"] * 2
    assert set(r["result"]["raw"]) == {"rounds", "question", "transcript", "verdict"}
    assert set(r["result"]["raw"]["verdict"]) == {"verdict", "winner", "reasoning"}


async def test_a_ballot_streams_votes_in_declared_order_and_reports_nine_lines(
    all_debated: Mapping[str, Debated],
) -> None:
    events, r = all_debated["ballot"].events, all_debated["ballot"].result

    voted = [e.data for e in events if e.name == "round"]
    assert {event.name for event in events} == COMMON - {"notice"} | {"round"}
    assert [one["name"] for one in voted] == r["result"]["speakerSchedule"]
    assert all(one.get("vote") in (*r["options"]["votes"], None) for one in voted)
    fields = [line.partition(": ")[0] for line in r["result"]["report"].splitlines()]
    assert fields == [
        *("debater_ids", "rounds_run", "max_rounds", "phase_sequence", "consensus_threshold"),
        *("vote_tally", "decision", "decision_rule", "speaker_schedule"),
    ]


async def test_a_panel_streams_rounds_consensus_synthesis_accuracy_and_final_as_its_reference_has_them(
    all_debated: Mapping[str, Debated],
) -> None:
    events, r = all_debated["panel"].events, all_debated["panel"].result

    own = [e for e in events if e.name in ("round", "consensus", "synthesis", "accuracy", "final")]
    rounds = r["result"]["roundsCompleted"]
    assert [e.name for e in own if e.name != "round"] == [*["consensus"] * rounds, "synthesis", "accuracy", "final"]
    assert [e.data["round"] for e in own if e.name == "round"] == sorted([*range(1, rounds + 1)] * 3)
    for event in own:
        assert event.data["event"] == event.name
        assert event.data["debate_id"] == r["debateId"]
    consensus, final = (next(e.data for e in reversed(own) if e.name == name) for name in ("consensus", "final"))
    assert set(consensus["scores"]) == {
        *("stance_alignment", "empirical_overlap", "framework_agreement", "confidence_convergence"),
    }
    assert (final["status"], final["rounds_completed"]) == ("completed", rounds)
    assert final["consensus_reached"] == consensus["terminated"] == r["result"]["consensusReached"]
    assert final["final_consensus_score"] == consensus["overall"]
    assert final["synthesis_id"] == r["result"]["synthesisTurn"]
    assert final["gainsay"]["result"]["decision"] == r["decision"]
    assert final["gainsay"]["result"]["view"] == "summary"


async def test_convergence_streams_its_three_events(all_debated: Mapping[str, Debated]) -> None:
    events, r = all_debated["convergence"].events, all_debated["convergence"].result

    own = [event for event in events if event.name.startswith("debate.")]
    began = [e.data["round"] for e in own if e.name == "debate.round_started"]
    assert began == list(range(r["result"]["rounds"] + 1))
    assert sum(event.name == "debate.response" for event in own) == len(r["transcript"])
    converged = [e.data["round"] for e in own if e.name == "debate.converged"]
    assert converged == ([r["result"].get("convergedIn")] if r["result"].get("convergedIn") is not None else [])


async def test_a_format_left_to_policy_is_chosen_by_the_task_type_and_the_record_says_why(site: Served) -> None:
    told = await debated(site, {**samples.load("architecture").case, "options": {"format": "auto"}})

    assert told.result["format"] == "ballot/1"
    assert "architecture" in told.result["formatReason"]


# -- on the command line


@pytest.mark.parametrize("form", CASES)
async def test_a_recorded_debate_of_any_format_is_told_and_replayed_on_the_command_line(
    all_debated: Mapping[str, Debated],
    form: str,
    monkeypatch: pytest.MonkeyPatch,
    module_database: Database,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("GAINSAY_DATABASE_URL", module_database.service_url)
    for name, value in sequenced(module_database.service_url, signer_folder(module_database.service_url)).items():
        monkeypatch.setenv(name, value)
    r = all_debated[form].result

    codes = [await asyncio.to_thread(main, [command, r["debateId"]]) for command in ("show", "replay")]

    told = capsys.readouterr().out
    assert codes == [0, 0]
    assert all(one["name"] in told for one in r["transcript"] if "name" in one)
    assert f"{r['entries']} entries replay, and the money agrees" in told
