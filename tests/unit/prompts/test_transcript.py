"""What the seats of stances, ballot, panel and convergence are shown: labels, struck arguments, and nobody's name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.entries import Entry
from service.debate.facts import Facts
from service.debate.findings import ArgumentVerdict, Citation, CitationsFound, CitationVerdict, ConsensusFound, Finding
from service.debate.kernel import FORMATS, decide
from service.debate.model import Ask, Check, Turn, seat_of
from service.debate.options import (
    DEFAULT_OUTPUT_SCHEMA,
    AdversarialOptions,
    BallotOptions,
    ConvergenceOptions,
    Debater,
    Options,
    PanelOptions,
    StancesOptions,
    debater_seats,
    debaters_of,
    format_of,
    instructions_of,
    personas_of,
)
from service.debate.replies import Argument, Projection, Statement, statements
from service.debate.script import Script
from service.debate.turns import SCREENER, TurnId, round_of
from service.money import bytes_over_four, shown_tokens
from service.prompts import Prompts, check_pins, check_schema_pin
from service.prompts.fence import Block, blocks, fence
from service.prompts.render import pins, render, turn_blocks
from service.prompts.request import Request
from tests.fixtures import formats
from tests.fixtures.debates import World, a_case, drive, found, start_of
from tests.fixtures.formats import NAMES, STANCES, THRESHOLDS, TYPES, VOTES

PROMPTS = Prompts.load()
EVERY = sorted(form for form in FORMATS if form != "adversarial/1")
CASE = a_case(1, 2)
SOURCES = {document.id: "The cap is the fees paid." for document in CASE.documents}
ROLE, TOLD = "a maritime lawyer", "Weigh the fines."
some = settings(max_examples=max(settings().max_examples // 4, 5), suppress_health_check=list(HealthCheck))


class Shown(NamedTuple):
    """A turn as it was due, what was known then, its request, and the blocks that it is shown beside the case."""

    turn: Turn
    facts: Facts
    request: Request
    blocks: tuple[Block, ...]


def shown(entries: list[Entry]) -> Iterator[Shown]:
    """Every turn that a debate asked for, once."""
    facts, done = Facts(), set[str]()
    for entry in entries:
        facts.add(entry)
        move = decide(facts) if facts.started and not facts.stopped else None
        for turn in move.turns if isinstance(move, Ask) else ():
            if turn.id not in done:
                done.add(turn.id)
                known = Facts.of(entries[: facts.count])
                request = render(PROMPTS, CASE, SOURCES, known, turn)
                yield Shown(turn, known, request, blocks(request.messages[2].content))


def played(options: Options, seed: str = "00" * 32, world: World | None = None) -> list[Shown]:
    started = start_of(options, seed=seed)
    entries = world.drive(started, case=CASE) if world else drive(started, case=CASE)
    return list(shown(entries))


def at(turns: list[Shown], turn: str) -> Shown:
    return next(one for one in turns if one.turn.id == turn)


def kinds(one: Shown) -> list[str]:
    return [block.kind for block in one.blocks]


def stances(**changes: Any) -> StancesOptions:
    return replace(StancesOptions(formats.debaters(2, stances=True), 2, human_review=False), **changes)


def ballot(**changes: Any) -> BallotOptions:
    return replace(BallotOptions(formats.debaters(2), 1, VOTES, 2, human_review=False), **changes)


def panel(**changes: Any) -> PanelOptions:
    return replace(PanelOptions(3, 3, False, "factual", "rules", THRESHOLDS, "model", "manual"), **changes)


def convergence(**changes: Any) -> ConvergenceOptions:
    return replace(ConvergenceOptions(2, 1, human_review=False), **changes)


# -- which blocks there are, and in which order


def test_a_debater_of_stances_sees_its_stance_and_what_was_argued_before_it() -> None:
    turns = played(stances())
    first, later = at(turns, "1.debater-1.1"), at(turns, "2.debater-2.1")

    assert first.blocks == (Block("stance-of-this-seat", {}, STANCES[0]),)
    assert later.blocks[0] == Block("stance-of-this-seat", {}, STANCES[1])
    assert [(b.kind, b.attributes) for b in later.blocks[1:]] == [
        ("statement", {"label": STANCES[0], "round": 1}),
        ("own-statement", {"label": STANCES[1], "round": 1}),
        ("statement", {"label": STANCES[0], "round": 2}),
    ]


@pytest.mark.parametrize(("anonymous", "label"), [(True, STANCES[0]), (False, f"{NAMES[0]} [{STANCES[0]}]")])
def test_judge_and_synthesizer_of_stances_see_names_only_where_the_case_has_it_so(anonymous: bool, label: str) -> None:
    turns = played(stances(anonymize_transcript=anonymous, max_rounds=1))

    for turn in ("1.judge.1", "1.synthesizer.1"):
        labels = {b.attributes["label"] for b in at(turns, turn).blocks if b.kind == "statement"}
        assert label in labels
        assert len(labels) == 2
    assert at(turns, "1.debater-2.1").blocks[1].attributes["label"] == STANCES[0]


@pytest.mark.parametrize("schema", [None, {"type": "object", "properties": {"go": {"type": "boolean"}}}])
def test_a_synthesizer_is_given_the_judgement_and_the_form(schema: dict[str, Any] | None) -> None:
    synthesizer = at(played(stances(output_schema=schema, max_rounds=1)), "1.synthesizer.1")

    assert kinds(synthesizer) == ["statement", "statement", "judgement", "output-schema"]
    judgement, form = (json.loads(block.text) for block in synthesizer.blocks[2:])
    assert judgement == {
        "verdict": "Clause 9 holds.",
        "winner": STANCES[0],
        "reasoning": "The cap covers all claims.",
        "confidenceLevel": "HIGH",
        "explicitUncertainties": ["No court has read it."],
    }
    assert form == (schema or DEFAULT_OUTPUT_SCHEMA)


def test_a_voter_sees_the_options_and_every_phase_but_nothing_before_its_first_proposal() -> None:
    turns = played(ballot())
    votes = Block("votes", {}, '{"options":["sign","renegotiate","escalate"],"threshold":2,"seats":2}')

    assert at(turns, "1.debater-2.proposal.1").blocks == (votes,)
    later = at(turns, "1.debater-2.critique.1")
    assert later.blocks[0] == votes
    assert [(b.kind, b.attributes) for b in later.blocks[1:]] == [
        ("statement", {"label": "Debater 1", "round": 1, "phase": "proposal"}),
        ("own-statement", {"label": "Debater 2", "round": 1, "phase": "proposal"}),
        ("statement", {"label": "Debater 1", "round": 1, "phase": "critique"}),
    ]


def test_a_panels_debater_knows_its_own_letter_and_sees_its_answer_and_the_latest_of_the_others() -> None:
    turns = played(panel())
    letters = {seat: at(turns, f"1.{seat}.1").blocks for seat in ("debater-1", "debater-2", "debater-3")}

    assert sorted(b.text for (b,) in letters.values()) == ["Model A", "Model B", "Model C"]
    for seat, (own,) in letters.items():
        assert own.kind == "label-of-this-seat"
        later = at(turns, f"3.{seat}.1").blocks
        assert later[0] == own
        assert [(b.kind, b.attributes["round"]) for b in later[1:]] == [
            ("own-statement", 2),
            ("statement", 2),
            ("statement", 2),
        ]
        assert later[1].attributes["label"] == own.text
        assert {b.attributes["label"] for b in later[1:]} == {"Model A", "Model B", "Model C"}


def test_the_scorer_of_a_panel_sees_the_synthesis_and_the_synthesizer_no_scores() -> None:
    turns = played(panel(max_rounds=1))

    assert kinds(at(turns, "1.adjudicator.1")) == ["statement"] * 3
    synthesizer = at(turns, "1.synthesizer.1")
    assert kinds(synthesizer) == [*["statement"] * 3, "end-of-debate"]
    told = {"consensus": False, "endedBecause": "roundCeiling", "round": 1, "maxRounds": 1}
    assert json.loads(synthesizer.blocks[-1].text) == told
    scorer = at(turns, "1.adjudicator.accuracy.1")
    assert kinds(scorer) == [*["statement"] * 3, "synthesis"]
    assert json.loads(scorer.blocks[-1].text)["answer"] == "Sign."
    assert "Model" not in scorer.blocks[-1].text


def test_answers_of_convergence_are_alone_at_first_and_then_with_the_whole_transcript() -> None:
    turns = played(convergence())

    assert at(turns, "0.debater-1.1").blocks == ()
    later = at(turns, "1.debater-1.1").blocks
    assert sorted((b.kind, b.attributes["round"]) for b in later) == [("own-statement", 0), ("statement", 0)]
    judge = at(turns, "1.judge.1").blocks
    assert [(b.kind, b.attributes["round"]) for b in judge] == [("statement", r) for r in (0, 0, 1, 1)]
    assert {b.attributes["label"] for b in judge} == {"Debater A", "Debater B"}


# -- what a statement shows


def test_a_statement_is_the_reply_with_the_verdicts_and_without_its_kind() -> None:
    answer = at(played(panel()), "2.debater-1.1").blocks[1]

    body = json.loads(answer.text)
    assert list(body) == ["answer", "stance", "framework", "claims", "overallConfidence", "assumptions"]
    assert body["claims"][0] == {
        "n": 1,
        "text": "The cap covers all claims.",
        "basis": "evidence",
        "citations": [
            {
                "quote": "the Supplier's liability shall not exceed the Fees",
                "sourceId": "D1",
                "verdict": "verified",
            }
        ],
        "confidence": 80,
    }


def test_what_was_struck_is_shown_to_nobody_not_even_to_whoever_said_it() -> None:
    for form in EVERY:
        entries = drive(start_of(formats.plain(form)), case=CASE, findings=_first_struck)
        for one in shown(entries):
            for block in one.blocks:
                if block.kind.endswith("statement") and '"answers":' not in block.text:
                    assert "The cap covers all claims." not in block.text, one.turn.id
                    assert "It is usual." in block.text, one.turn.id
                    assert json.loads(block.text)["struck"] == [{"n": 1, "reason": "unverified_citation"}]


def _first_struck(check: Check, facts: Facts) -> Finding:
    """The plain finding, with the first argument of every turn struck."""
    finding = found(check, facts)
    if not isinstance(finding, CitationsFound):
        return finding
    wrong = (CitationVerdict("not_found", reason="unknown_source"),)
    return CitationsFound(
        tuple(replace(a, verdicts=wrong, struck="unverified_citation") if a.n == 1 else a for a in finding.arguments)
    )


def test_a_citation_shows_what_code_says_of_it() -> None:
    facts = Facts()
    facts.case, facts.started = CASE, start_of(stances())
    said = Argument((Statement(1, "It is.", (Citation("the cap is the fees", "D1"), Citation("no such words", "D1"))),))
    facts.said[TurnId("1.debater-1.1")] = said
    verdicts = (CitationVerdict("verified", "D1", (0, 19)), CitationVerdict("altered", "D1", (0, 19)))
    facts.found["1.debater-1.1/citations"] = CitationsFound((ArgumentVerdict(TurnId("1.debater-1.1"), 1, verdicts),))

    *_, block = turn_blocks(
        CASE, facts.started, facts, Turn(TurnId("1.debater-2.1"), "debater-2", (TurnId("1.debater-1.1"),))
    )

    citations = json.loads(block.text)["arguments"][0]["citations"]
    assert [c["verdict"] for c in citations] == ["verified", "altered"]


def test_what_is_no_statement_cannot_be_shown_as_one() -> None:
    facts = Facts()
    facts.case, facts.started = CASE, start_of(stances())
    facts.said[TurnId("1.debater-1.1")] = Projection("{}")

    with pytest.raises(ValueError, match=r"the reply of 1\.debater-1\.1 is no statement"):
        list(turn_blocks(CASE, facts.started, facts, Turn(TurnId("1.judge.1"), "judge", (TurnId("1.debater-1.1"),))))


# -- the caller's texts


def test_role_and_instructions_reach_their_seats_fenced_and_with_the_fragment_that_limits_them() -> None:
    own = Debater("own", "wait", ROLE, "stances.debater.open")
    given = stances(debaters=(Debater("one", "sign", ROLE), own), instructions=TOLD, max_rounds=1)
    turns = played(given)

    default, replaced = at(turns, "1.debater-1.1"), at(turns, "1.debater-2.1")
    assert kinds(default) == ["persona", "instructions", "stance-of-this-seat"]
    assert [b.text for b in default.blocks[:2]] == [ROLE, TOLD]
    assert default.request.messages[-1].pins == ("stances.debater", "persona", "instructions")
    assert kinds(replaced) == ["stance-of-this-seat", "statement"]
    assert replaced.request.messages[-1].pins == ("stances.debater.open",)
    assert at(turns, "1.judge.1").request.messages[-1].pins == ("stances.judge", "instructions")
    assert at(turns, "1.synthesizer.1").request.messages[-1].pins == ("stances.synthesizer", "instructions")


@pytest.mark.parametrize(
    ("options", "seat", "expected"),
    [
        (convergence(debater_instructions="a", judge_instructions="b"), "debater-2", "a"),
        (convergence(debater_instructions="a", judge_instructions="b"), "judge", "b"),
        (convergence(judge_instructions="b"), "debater-1", None),
        (ballot(instructions="a"), "debater-1", "a"),
        (panel(instructions="a"), "debater-1", "a"),
        (panel(instructions="a"), "synthesizer", "a"),
        (panel(instructions="a"), "adjudicator", None),
        (panel(instructions="a"), "classifier", None),
        (panel(instructions=""), "debater-1", None),
        (AdversarialOptions(1, 6, 6, human_review=False), "critic", None),
    ],
)
def test_instructions_go_to_those_who_argue_or_write_and_to_nobody_who_measures(
    options: Options, seat: str, expected: str | None
) -> None:
    assert instructions_of(options, seat) == expected


@pytest.mark.parametrize("form", EVERY)
@some
@given(data=st.data())
def test_a_callers_text_and_the_fragment_that_limits_it_always_come_together(form: str, data: st.DataObject) -> None:
    for one in played(_pinned(data.draw(formats.options(form))), world=World(data.draw(st.integers(0, 99)))):
        for kind in ("persona", "instructions") if one.turn.id != SCREENER else ():  # to it they are data
            assert (kind in kinds(one)) == (kind in one.turn.fragments), one.turn.id


def _pinned(options: Options) -> Options:
    """The same with a prompt that there is where debaters have one of their own."""
    own = {"stances": "stances.debater.open", "ballot": "ballot.debater", "convergence": "convergence.debater"}
    if named := debaters_of(options):
        prompt = own[format_of(options)]
        return replace(options, debaters=tuple(replace(d, prompt=prompt if d.prompt else None) for d in named))
    return options


# -- what goes out


def test_every_text_of_these_formats_goes_out_as_it_is_pinned_and_none_is_left_over() -> None:
    own = (Debater("own", STANCES[0], None, "stances.debater.open"), Debater("one", STANCES[1], ROLE))
    debates: list[Options] = [
        stances(debaters=own, instructions=TOLD),
        ballot(debaters=(Debater("a", role=ROLE), Debater("b"))),
        ballot(debaters=(Debater("a"),), drafts=True, max_rounds=1, consensus_threshold=1),
        convergence(),
        *(panel(question_type=kind, typed_by=by) for kind in TYPES for by in ("rules", "classifier")),
    ]
    gone_out = set[str]()
    for options in debates:
        for one in played(options):
            asked = pins(one.facts, one.turn, one.facts.started.seat(one.turn.seat)) if one.facts.started else ()
            check_pins(PROMPTS, one.request.messages, asked)
            check_schema_pin(PROMPTS, one.turn.asks, msgspec.Raw(msgspec.json.encode(one.request.reply_schema)))
            assert one.request.schema_id == one.turn.asks
            gone_out.update(asked)

    ours = re.compile(r"(stances|ballot|panel|convergence)\.|persona|instructions")
    texts = {e.id for e in PROMPTS.entries if e.kind in ("prompt", "fragment") and ours.match(e.id)}
    texts = {id_ for id_ in texts if not id_.endswith(".undocumented")}  # test_without_documents.py sends those
    assert gone_out == texts


@pytest.mark.parametrize("form", EVERY)
@some
@given(data=st.data())
def test_every_request_of_every_format_is_what_its_pins_promise(form: str, data: st.DataObject) -> None:
    options = _pinned(data.draw(formats.options(form)))
    for one in played(options, world=World(data.draw(st.integers(0, 99)))):
        assert one.facts.started is not None
        check_pins(PROMPTS, one.request.messages, pins(one.facts, one.turn, one.facts.started.seat(one.turn.seat)))


# -- anonymity

FORBIDDEN = re.compile(rf"{'|'.join(NAMES)}|debater-\d|\b(oak|elm|ash|birch|yew|fir|larch)(-1)?\b|scripted")
"""Names of the caller's debaters, of seats, and of the families, models and providers of `tests.fixtures.debates`."""


@pytest.mark.parametrize("form", EVERY)
@some
@given(data=st.data())
def test_nobody_is_told_whose_a_reply_is_or_which_model_gave_it(form: str, data: st.DataObject) -> None:
    options = _pinned(data.draw(formats.options(form)))
    for one in played(options, world=World(data.draw(st.integers(0, 99)))):
        if one.turn.id == SCREENER:  # it reads the caller's names as data, before there is any reply
            continue
        named = not getattr(options, "anonymize_transcript", True) and one.turn.seat in ("judge", "synthesizer")
        for message in one.request.messages:
            assert named or not FORBIDDEN.search(message.content), one.turn.id
        if named:
            for block in one.blocks:
                assert not FORBIDDEN.search(block.text), one.turn.id


@pytest.mark.parametrize("form", EVERY)
def test_every_reply_stands_under_the_label_of_its_format_and_only_ones_own_is_ones_own(form: str) -> None:
    for one in played(formats.plain(form)):
        assert one.facts.started is not None
        labels = FORMATS[form].shown(Script(one.facts.started, one.facts), one.turn)
        debaters = debater_seats(one.facts.started.options)
        seen = [turn for turn in one.turn.sees if seat_of(turn) in debaters]
        said = [block for block in one.blocks if block.kind.endswith("statement")]
        assert [block.attributes["label"] for block in said] == [labels[turn] for turn in seen]
        assert [block.kind == "own-statement" for block in said] == [seat_of(t) == one.turn.seat for t in seen]
        assert [block.attributes["round"] for block in said] == [round_of(t) for t in seen]


@pytest.mark.parametrize("form", [form for form in EVERY if form != "ballot/1"])
def test_what_a_decider_sees_under_another_seed_differs_in_order_and_letters_only(form: str) -> None:
    """Everybody says the same under every seed here, and no letter stands in what is said."""
    options = formats.plain(form)
    views = [
        {one.turn.id: one for one in played(options, seed=seed) if one.turn.seat not in debater_seats(options)}
        for seed in ("00" * 32, "5e" * 32, "a7" * 32)
    ]

    for view in views[1:]:
        assert view.keys() == views[0].keys()
        for turn, one in view.items():
            assert _unlettered(one) == _unlettered(views[0][turn])
            assert one.request.messages[-1] == views[0][turn].request.messages[-1]


def _unlettered(one: Shown) -> list[str]:
    """What is shown, sorted, without letters and without the order of marks."""
    found = []
    for block in one.blocks:
        text = re.sub(r"(Model|Debater) [A-Z]", "X", fence("0" * 16, block))
        found.append("".join(sorted(text)))
    return sorted(found)


# -- how long it is


@pytest.mark.parametrize("form", EVERY)
def test_no_reply_takes_more_in_a_later_request_than_its_bound(form: str) -> None:
    seen = 0
    for one in played(formats.plain(form)):
        said = [block for block in one.blocks if block.kind in ("statement", "own-statement", "judgement", "synthesis")]
        for turn, block in zip(one.turn.sees, said, strict=True):
            size = bytes_over_four(msgspec.json.encode(one.facts.said[turn]).decode())
            assert bytes_over_four(fence("0" * 16, block)) <= shown_tokens(size), turn
            seen += 1
    assert seen > 10
    assert any(statements(reply) for reply in one.facts.said.values())


def test_roles_reach_nobody_whose_prompt_is_another() -> None:
    own = (Debater("a", "s", ROLE, "stances.debater.open"), Debater("b", "t", ROLE))

    assert personas_of(stances(debaters=own)) == {"debater-2": ROLE}


@pytest.mark.parametrize(("agrees", "why"), [(True, "consensus"), (False, "roundCeiling")])
def test_a_panels_synthesizer_is_told_whether_there_was_consensus_and_why_it_ended(agrees: bool, why: str) -> None:
    def findings(check: Check, facts: Facts) -> Finding:
        finding = found(check, facts)
        return replace(finding, terminated=agrees) if isinstance(finding, ConsensusFound) else finding

    started = start_of(panel(adjudicator="algorithmic"))
    turns = list(shown(drive(started, case=CASE, findings=findings)))
    told = next(one for one in turns if one.turn.seat == "synthesizer").blocks[-1]
    rounds = 1 if agrees else 3
    assert told.kind == "end-of-debate"
    assert json.loads(told.text) == {"consensus": agrees, "endedBecause": why, "round": rounds, "maxRounds": 3}


def test_a_panels_synthesizer_is_told_that_the_money_ended() -> None:
    entries = drive(
        start_of(panel(adjudicator="algorithmic")), case=CASE, refuses=lambda turns: "2.debater-1.1" in turns
    )
    told = next(one for one in shown(entries) if one.turn.seat == "synthesizer").blocks[-1]
    assert json.loads(told.text) == {"consensus": False, "endedBecause": "budget", "round": 1, "maxRounds": 3}


def test_an_answer_to_objections_is_shown_under_its_letter_with_its_phase() -> None:
    one = next(one for one in played(panel()) if one.turn.seat == "synthesizer")
    answers = [block for block in one.blocks if block.attributes.get("phase") == "answer"]
    assert answers
    assert {block.attributes["label"] for block in answers} <= {"Model A", "Model B", "Model C"}
    assert all(json.loads(block.text)["answers"][0]["verdict"] == "fails" for block in answers)
