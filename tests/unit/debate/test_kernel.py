"""Which entry may follow which, whatever is said, fails, is refused, is stopped, and in whatever order it arrives."""

import re
from collections.abc import Callable, Iterator
from copy import copy
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.entries import (
    AttemptFailed,
    BudgetRefused,
    CaseReceived,
    Charge,
    CheckFound,
    DebateConcluded,
    DebateStarted,
    DebateStopped,
    Entry,
    StoppedBy,
    TurnAsked,
    TurnSilent,
    TurnSpoke,
    decode,
    encode,
    kind,
)
from service.debate.facts import Facts
from service.debate.findings import CitationsFound
from service.debate.kernel import decide, next_move, refuse_illegal, replay
from service.debate.model import Ask, Case, Conclude, Measure, Outcome
from service.debate.replies import Concession, Critique, Framing, KeyDocument, Rebuttal, Shift
from service.debate.suspicions import InjectionFound
from service.debate.turns import TurnId, round_of, seat_of
from service.errors import IllegalEntry
from service.money import Ledger
from tests.fixtures.debates import (
    DECLINED,
    TURN_COST,
    World,
    a_case,
    a_plan,
    a_start,
    asked,
    canned,
    drive,
    moderation,
    opening,
    outcome,
    reply_for,
    turns_asked,
)

STOPS: dict[StoppedBy, tuple[str, str]] = {
    "abort": ("aborted", "aborted"),
    "deadline": ("truncated", "deadline"),
    "promptMismatch": ("failed", "promptMismatch"),
    "auditUnavailable": ("failed", "auditUnavailable"),
    "fault": ("failed", "fault"),
}

PROFILE = settings()
AMPLE = st.just(10_000_000)
MIXED = st.sampled_from([10_000_000, 60_000])


class Setting(NamedTuple):
    """A debate that is about to run, and the world around it."""

    case: Case
    started: DebateStarted
    world: World

    def drive(self, **others: Any) -> list[Entry]:
        return self.world.drive(self.started, case=self.case, **others)


@st.composite
def debates(draw: st.DrawFn, ceilings: st.SearchStrategy[int] = AMPLE, refusing: int = 12) -> Setting:
    """One to three rounds, none to three positions, evidence in several rounds; sometimes failures and refusals."""
    seed = draw(st.integers(0, 2**32))
    case = a_case(*draw(st.sampled_from([(1,), (1, 2), (1, 1, 3), (1, 2, 3)])))
    positions = draw(st.sampled_from([(), (), ("adopt", "defer"), ("a", "a.b", "c")]))
    started = a_start(draw(st.integers(1, 3)), positions=positions, ceiling=draw(ceilings), seed=f"{seed:064x}")
    failing, refused = draw(st.sampled_from([0, 10, 40])), draw(st.sampled_from([0, refusing]))
    return Setting(case, started, World(seed, failing, refused, another=draw(st.sampled_from([10, 50, 100]))))


def stop_at(turn: str, by: StoppedBy) -> Any:
    """Stop once this turn is under way."""
    return lambda facts: DebateStopped(by, "somebody stopped it") if turn in facts.attempts else None


def state(facts: Facts) -> dict[str, Any]:
    return {name: copy(value) for name, value in vars(facts).items() if name != "move"}


def spoken(entries: list[Entry]) -> set[TurnId]:
    return {entry.turn for entry in entries if isinstance(entry, TurnSpoke)}


@pytest.mark.replay
@given(debates(st.sampled_from([10_000_000, 60_000, 30_000, 12_000])))
def test_replay_accepts_every_debate_at_every_prefix(setting: Setting) -> None:
    """Entries are replayed one by one, so the whole list replays each prefix; a few show that no end is needed."""
    entries = setting.drive()

    replay(setting.case, entries)
    for n in (0, 1, len(entries) // 3, len(entries) * 2 // 3, len(entries) - 1):
        replay(setting.case, entries[:n])


@pytest.mark.replay
@given(debates(MIXED))
def test_a_debate_is_the_same_after_it_was_written_down(setting: Setting) -> None:
    entries = setting.drive()

    read = [decode(encode(entry)) for entry in entries]

    assert read == entries
    assert [encode(entry) for entry in read] == [encode(entry) for entry in entries]
    replay(setting.case, read)


@given(debates(MIXED))
def test_a_move_that_is_asked_for_at_every_step_is_the_one_that_the_whole_list_gives(setting: Setting) -> None:
    entries, facts = setting.drive(stops=stop_at("2.critic.1", "abort")), Facts()

    for n, entry in enumerate(entries, start=1):
        facts.add(entry)
        if n > 2:
            assert decide(facts) == decide(facts) == next_move(setting.case, entries[:n])


@given(debates())
def test_the_order_of_arrival_never_changes_the_outcome(setting: Setting) -> None:
    as_asked, shuffled = setting.drive(order=None), setting.drive(order=Random(setting.world.seed + 1))

    assert outcome(shuffled) == outcome(as_asked)
    assert spoken(shuffled) == spoken(as_asked)


@pytest.mark.replay
@settings(max_examples=PROFILE.max_examples // 4)
@given(debates())
def test_a_crash_before_any_entry_changes_neither_the_outcome_nor_what_was_paid_for(setting: Setting) -> None:
    entries = setting.drive()

    for n in range(len(entries)):
        resumed = setting.drive(entries=entries[:n], order=Random(n))

        assert outcome(resumed) == outcome(entries)
        assert resumed[:n] == entries[:n]
        assert not spoken(entries[:n]) & set(turns_asked(resumed[n:])), "a recorded turn was asked again"


@settings(max_examples=PROFILE.max_examples // 2)
@given(debates(st.integers(3_000, 60_000), refusing=0))
def test_a_crash_under_a_tight_ceiling_still_ends_within_it(setting: Setting) -> None:
    entries = setting.drive()

    for n in range(0, len(entries), 3):
        resumed = setting.drive(entries=entries[:n], order=Random(n))

        assert outcome(resumed).status in ("completed", "truncated", "failed")
        assert Ledger.of(resumed).spent <= setting.started.ceiling
        assert not spoken(entries[:n]) & set(turns_asked(resumed[n:]))


@given(debates(), st.sampled_from(sorted(STOPS)), st.sampled_from(["0.framing.1", "1.critic.1", "2.moderator.1"]))
def test_a_stop_ends_the_debate_with_its_own_reason_once_open_attempts_are_settled(
    setting: Setting, by: StoppedBy, turn: str
) -> None:
    entries = setting.drive(stops=stop_at(turn, by))

    stopped = next((n for n, entry in enumerate(entries) if isinstance(entry, DebateStopped)), None)

    if stopped is None:
        assert turn not in turns_asked(entries)
        return
    assert (outcome(entries).status, outcome(entries).stop_reason) == STOPS[by]
    assert {kind(entry) for entry in entries[stopped + 1 : -1]} <= {"turn.spoke", "attempt.failed"}
    replay(setting.case, entries)


@given(debates(), st.sampled_from(["0.framing.1", "1.critic.1"]))
def test_a_crash_after_a_stop_changes_no_status(setting: Setting, turn: str) -> None:
    entries = setting.drive(stops=stop_at(turn, "abort"))

    for n in range(len(entries)):
        resumed = setting.drive(entries=entries[:n], stops=stop_at(turn, "abort"), order=Random(n))

        assert outcome(resumed).status == outcome(entries).status
        replay(setting.case, resumed)


@given(debates(MIXED))
def test_no_debate_has_more_rounds_than_its_options_say(setting: Setting) -> None:
    entries = setting.drive()

    assert max(map(round_of, turns_asked(entries)), default=0) <= setting.started.options.max_rounds <= 3


@given(debates(st.integers(1_000, 80_000)))
def test_no_entry_takes_the_money_past_the_ceiling(setting: Setting) -> None:
    ledger = Ledger(0)

    for entry in setting.drive():
        ledger = ledger.add(entry)

        assert ledger.spent + sum(ledger.held.values()) <= ledger.ceiling


@given(debates())
def test_the_seats_speak_in_their_order_and_only_after_all_that_they_see(setting: Setting) -> None:
    facts, places = Facts(), {"framing": 0, "proposer": 1, "critic": 2, "rebuttal": 3, "moderator": 4}
    last = (0, 0)

    for entry in setting.drive():
        if isinstance(entry, TurnAsked):
            move = decide(facts)
            assert isinstance(move, Ask)
            turn = next(turn for turn in move.turns if turn.id == entry.turn)
            assert set(turn.sees) <= set(facts.said)
            assert last <= (turn.round, places[turn.seat])
            last = (turn.round, places[turn.seat])
        facts.add(entry)


@given(debates(st.integers(12_000, 60_000)))
def test_after_a_refusal_only_the_closing_seat_is_asked_and_after_a_second_nobody(setting: Setting) -> None:
    entries = setting.drive()

    refusals = [n for n, entry in enumerate(entries) if isinstance(entry, BudgetRefused)]

    if refusals:
        after = turns_asked(entries[refusals[0] :])
        assert {seat_of(turn) for turn in after} <= {"moderator"}
        assert len({round_of(turn) for turn in after}) <= 1
        assert len(set(after)) <= 2
        # Where the second take of the last moderation could not be paid, the first one stands, with its marks.
        first = entries[refusals[0]]
        marked = isinstance(first, BudgetRefused) and first.turns[0].endswith(".moderator.2")
        assert outcome(entries).status in ("truncated", *(["completed"] if marked else []))
        assert ("inventedQuotation" if marked else "DEBATE_TRUNCATED") in outcome(entries).flags
    if len(refusals) > 1:
        assert not turns_asked(entries[refusals[1] :])
        assert len(refusals) == 2


@given(debates())
def test_a_silent_seat_fails_the_debate_unless_money_had_ended_it(setting: Setting) -> None:
    entries = setting.drive()

    gone = [entry.turn for entry in entries if isinstance(entry, TurnSilent)]
    silent = [turn for turn in gone if not turn.endswith(".moderator.2")]
    refused = any(isinstance(entry, BudgetRefused) for entry in entries)

    if silent and not refused:
        assert (outcome(entries).status, outcome(entries).stop_reason) == ("failed", "seatSilent")
        assert any(f"{turn} stayed silent" in outcome(entries).detail for turn in silent)
    if not silent:
        assert outcome(entries).status != "failed"


def test_a_debate_may_not_start_with_more_than_three_rounds_or_with_none() -> None:
    for rounds in (0, -1, 4, 5, 1_000):
        with pytest.raises(IllegalEntry, match="1 to 3 rounds"):
            replay(a_case(), opening(a_start(rounds), a_case()))


def test_a_fourth_round_is_never_asked_for_even_where_the_options_say_more() -> None:
    world = World(7, weak=0, another=100)
    entries = world.drive(a_start(3))[:-1]
    entries[2] = a_start(5)

    move = next_move(a_case(), entries)

    assert isinstance(move, Conclude)
    assert move.outcome.stop_reason == "roundCeiling"


def test_a_debate_may_not_start_with_a_seat_missing_or_positions_that_cannot_be_told_apart() -> None:
    started = a_start()
    wrong = [
        (replace(started, seats=started.seats[:-1]), r"no plan for the seats \['moderator'\]"),
        (a_start(positions=("adopt", "adopt")), "distinct ids"),
        (a_start(positions=("adopt",)), "distinct ids"),
        (replace(started, format="adversarial/2"), "not known here"),
    ]

    for start, message in wrong:
        with pytest.raises(IllegalEntry, match=message):
            replay(a_case(), opening(start, a_case()))


def test_a_declined_case_wants_nothing_and_takes_nothing_more() -> None:
    entries: list[Entry] = [CaseReceived(a_case(), "local"), DECLINED]

    move = next_move(a_case(), entries)

    assert move == Conclude(Outcome("declined", "declined", "the gate declined: worthIt"))
    for entry in (a_start(), asked(TurnId("0.framing.1")), DebateConcluded(move.outcome), DECLINED):
        with pytest.raises(IllegalEntry):
            refuse_illegal(Facts.of(entries), entry)


def test_entries_of_another_case_are_not_this_debate() -> None:
    entries = drive(a_start())

    with pytest.raises(IllegalEntry, match="another case"):
        replay(a_case(question="Another question?"), entries)
    with pytest.raises(IllegalEntry, match="another case"):
        next_move(a_case(question="Another question?"), entries)


def test_a_debate_that_has_not_started_has_no_move() -> None:
    entries = opening(a_start(), a_case())

    for n in (1, 2):
        with pytest.raises(IllegalEntry, match="has not started"):
            next_move(a_case(), entries[:n])


def test_the_turns_of_an_ask_are_refused_together_or_not_at_all() -> None:
    facts = Facts.of(_before(TurnId("1.proposer.adopt.1"), positions=("adopt", "defer")))
    both = (TurnId("1.proposer.adopt.1"), TurnId("1.proposer.defer.1"))

    refuse_illegal(facts, BudgetRefused(both, "debateCeiling", 10, 1))

    for turns in (both[:1], both[1:], (), (both[0], both[0]), (*both, TurnId("1.critic.1"))):
        with pytest.raises(IllegalEntry):
            refuse_illegal(facts, BudgetRefused(turns, "debateCeiling", 10, 1))


def test_a_retry_is_refused_alone() -> None:
    entries = _before(TurnId("1.proposer.adopt.1"), positions=("adopt", "defer"))
    entries += [asked(TurnId("1.proposer.adopt.1")), asked(TurnId("1.proposer.defer.1"))]
    entries.append(AttemptFailed(TurnId("1.proposer.defer.1"), 1, "overload", "busy", Charge(0, "none")))

    facts = Facts.of(entries)

    refuse_illegal(facts, BudgetRefused((TurnId("1.proposer.defer.1"),), "debateCeiling", 10, 1))
    with pytest.raises(IllegalEntry):
        refuse_illegal(
            facts, BudgetRefused((TurnId("1.proposer.adopt.1"), TurnId("1.proposer.defer.1")), "debateCeiling", 10, 1)
        )


def test_a_siblings_reply_is_waited_for_before_the_closing_is_asked() -> None:
    entries = _before(TurnId("1.proposer.adopt.1"), positions=("adopt", "defer"))
    entries += [asked(TurnId("1.proposer.adopt.1")), asked(TurnId("1.proposer.defer.1"))]
    entries.append(AttemptFailed(TurnId("1.proposer.defer.1"), 1, "overload", "busy", Charge(0, "none")))
    entries.append(BudgetRefused((TurnId("1.proposer.defer.1"),), "debateCeiling", 10, 1))

    waiting = next_move(a_case(), entries)
    spoke = _spoke(TurnId("1.proposer.adopt.1"), entries)
    then = next_move(a_case(), [*entries, spoke])

    assert isinstance(waiting, Ask)
    assert [turn.id for turn in waiting.turns] == ["1.proposer.adopt.1"]
    assert isinstance(then, Measure)
    replay(a_case(), [*entries, spoke])


def test_a_sibling_that_fails_after_the_money_ended_is_not_waited_for_any_more() -> None:
    entries = _before(TurnId("1.proposer.adopt.1"), positions=("adopt", "defer"))
    entries += [asked(TurnId("1.proposer.adopt.1")), asked(TurnId("1.proposer.defer.1"))]
    entries.append(AttemptFailed(TurnId("1.proposer.defer.1"), 1, "overload", "busy", Charge(0, "none")))
    entries.append(BudgetRefused((TurnId("1.proposer.defer.1"),), "debateCeiling", 10, 1))
    failed = AttemptFailed(TurnId("1.proposer.adopt.1"), 1, "overload", "busy", Charge(0, "none"))
    facts = Facts.of(entries)

    waiting = decide(facts)
    facts.add(failed)

    assert isinstance(waiting, Ask)
    assert isinstance(decide(facts), Conclude)
    assert decide(facts) == next_move(a_case(), [*entries, failed])


def test_a_late_reply_is_legal_after_a_stop_and_the_debate_waits_for_it() -> None:
    entries: list[Entry] = [
        *_before(TurnId("1.critic.1")),
        asked(TurnId("1.critic.1")),
        DebateStopped("abort", "the caller left"),
    ]
    late = _spoke(TurnId("1.critic.1"), entries)
    move = next_move(a_case(), entries)
    assert isinstance(move, Conclude)

    with pytest.raises(IllegalEntry, match="attempts are open"):
        replay(a_case(), [*entries, DebateConcluded(move.outcome)])
    after = next_move(a_case(), [*entries, late])

    assert isinstance(after, Conclude)
    replay(a_case(), [*entries, late, DebateConcluded(after.outcome)])


def test_nothing_is_asked_found_or_refused_after_a_stop() -> None:
    stopped: list[Entry] = [*_before(TurnId("1.proposer.1")), DebateStopped("deadline", "too late")]

    for entry in (
        asked(TurnId("1.proposer.1")),
        BudgetRefused((TurnId("1.proposer.1"),), "debateCeiling", 10, 1),
        TurnSilent(TurnId("1.proposer.1"), "gone"),
        CheckFound("case/injection", "canned/1", InjectionFound(())),
        DebateStopped("abort", "again"),
    ):
        with pytest.raises(IllegalEntry):
            refuse_illegal(Facts.of(stopped), entry)


def _before(turn: TurnId, positions: tuple[str, ...] = ()) -> list[Entry]:
    """The entries of a plain debate up to where this turn is due."""
    entries = drive(a_start(positions=positions))
    return entries[: next(n for n, e in enumerate(entries) if isinstance(e, TurnAsked) and e.turn == turn)]


def _spoke(turn: TurnId, entries: list[Entry]) -> TurnSpoke:
    """The canned reply to an open turn."""
    unstopped = Facts.of(e for e in entries if not isinstance(e, DebateStopped))
    move = decide(unstopped)
    assert isinstance(move, Ask)
    due = next(t for t in move.turns if t.id == turn)
    return TurnSpoke(turn, unstopped.open[turn], canned(due, unstopped), Charge(TURN_COST, "reserved"))


def _mutations(entry: Entry) -> Iterator[Entry]:
    """The same entry with one thing wrong."""
    if isinstance(entry, TurnAsked):
        yield replace(entry, model="a-model-that-sits-nowhere")
    match entry:
        case TurnAsked() | TurnSpoke() | AttemptFailed():
            yield from (replace(entry, attempt=entry.attempt + off) for off in (-1, 1, 7))
            yield from (replace(entry, turn=turn) for turn in _other_turns(entry.turn))
        case TurnSilent():
            yield from (replace(entry, turn=turn) for turn in _other_turns(entry.turn))
        case CheckFound():
            yield replace(entry, check=f"{entry.check}/again")
            yield replace(entry, check="3.moderator.1/citations")
            other = CitationsFound(()) if isinstance(entry.finding, InjectionFound) else InjectionFound(())
            yield replace(entry, finding=other)
        case BudgetRefused():
            yield replace(entry, turns=())
            yield replace(entry, turns=(*entry.turns, "9.stranger.1"))
            yield replace(entry, turns=(*entry.turns, entry.turns[0]))
        case DebateConcluded(end):
            yield DebateConcluded(replace(end, detail="another detail"))
            yield DebateConcluded(replace(end, confidence_level="LOW" if end.confidence_level != "LOW" else "HIGH"))
            yield DebateConcluded(replace(end, flags=(*end.flags, "another")))
            yield DebateConcluded(replace(end, status="failed" if end.status != "failed" else "completed"))
    if isinstance(entry, TurnSpoke):
        yield replace(entry, reply=Framing("t", "s", (), ()) if not isinstance(entry.reply, Framing) else _A_CRITIQUE)
    if isinstance(entry, CheckFound) and isinstance(entry.finding, CitationsFound) and entry.finding.arguments:
        arguments = entry.finding.arguments
        yield replace(entry, finding=CitationsFound(arguments[1:]))
        yield replace(entry, finding=CitationsFound((*arguments, arguments[0])))
        yield replace(entry, finding=CitationsFound((replace(arguments[0], n=77), *arguments[1:])))


_A_CRITIQUE = Critique("t", (), 5, "rejected")


def _other_turns(turn: str) -> Iterator[str]:
    yield from {"0.framing.1", "1.critic.2", "2.proposer.1", "3.moderator.1", "4.proposer.1", "1.stranger.1"} - {turn}
    yield turn[:-1] + str(int(turn[-1]) + 1)


@pytest.mark.replay
@given(debates(MIXED))
def test_an_entry_with_one_thing_wrong_is_refused_and_changes_nothing(setting: Setting) -> None:
    facts = Facts()

    for entry in setting.drive():
        before = state(facts)
        for wrong in _mutations(entry):
            if isinstance(entry, TurnAsked) and _also_due(facts, wrong):
                continue
            if isinstance(entry, TurnSpoke | AttemptFailed) and _also_open(facts, wrong):
                continue
            with pytest.raises(IllegalEntry, match=rf"entry {facts.count} \({re.escape(kind(wrong))}\)"):
                refuse_illegal(facts, wrong)
        assert state(facts) == before
        facts.add(entry)
        with pytest.raises(IllegalEntry):
            refuse_illegal(facts, entry)


def _also_due(facts: Facts, wrong: Entry) -> bool:
    """Whether the changed intent names another turn that is due as well: then nothing is wrong with it."""
    move = decide(facts)
    assert isinstance(move, Ask)
    assert isinstance(wrong, TurnAsked)
    attempt = facts.attempts.get(wrong.turn, 0) + 1
    return wrong.turn in {t.id for t in move.turns} - set(facts.open) and wrong.attempt == attempt


def _also_open(facts: Facts, wrong: Entry) -> bool:
    """Whether the changed settlement is that of a sibling's open attempt."""
    assert isinstance(wrong, TurnSpoke | AttemptFailed)
    return facts.open.get(wrong.turn) == wrong.attempt


@settings(max_examples=PROFILE.max_examples // 2)
@given(debates(MIXED))
def test_swapped_neighbours_are_refused_or_come_to_the_same(setting: Setting) -> None:
    entries = setting.drive()

    for n in range(len(entries) - 1):
        swapped = [*entries[:n], entries[n + 1], entries[n]]
        try:
            replay(setting.case, swapped)
        except IllegalEntry:
            continue

        assert n > 2
        assert next_move(setting.case, swapped) == next_move(setting.case, entries[: n + 2])


@settings(max_examples=PROFILE.max_examples // 3)
@given(debates())
def test_an_entry_left_out_is_noticed(setting: Setting) -> None:
    entries = setting.drive()

    for n, entry in enumerate(entries[:-1]):
        if isinstance(entry, BudgetRefused | CheckFound | TurnSpoke | TurnAsked | CaseReceived | DebateStarted):
            with pytest.raises(IllegalEntry):
                replay(setting.case, entries[:n] + entries[n + 1 :])


def test_a_reply_that_does_not_fit_its_place_is_refused_there() -> None:
    started = a_start(2, positions=("adopt", "defer"))
    entries = drive(started, lambda turn, _: _never_satisfied(turn), case=a_case(1, 2))
    replay(a_case(1, 2), entries)
    unfit = {
        "1.critic.1": lambda r: replace(r, points=(replace(r.points[0], position="neither"),)),
        "1.rebuttal.adopt.1": lambda r: replace(r, rebuttals=(replace(r.rebuttals[0], n=3),)),
        "1.moderator.1": lambda r: replace(r, scores=r.scores[1:]),
        "2.moderator.1": lambda r: replace(r, ranking=r.ranking[1:]),
        "2.proposer.adopt.1": lambda r: replace(r, shift=None),
        "2.critic.1": lambda r: replace(r, shift=None),
        "2.rebuttal.defer.1": lambda r: replace(r, shift=None),
    }

    for n, entry in enumerate(entries):
        if isinstance(entry, TurnSpoke) and entry.turn in unfit:
            wrong = replace(entry, reply=unfit.pop(entry.turn)(entry.reply))
            with pytest.raises(IllegalEntry, match=r"turn\.spoke"):
                refuse_illegal(Facts.of(entries[:n]), wrong)

    assert not unfit, "these turns did not speak"


def _never_satisfied(turn: Any) -> Any:
    reply = reply_for(turn, ("adopt", "defer"))
    return moderation(turn, another=True) if turn.seat == "moderator" else reply


def test_a_rebuttal_names_only_points_that_are_there() -> None:
    entries = [*_before(TurnId("1.rebuttal.1")), asked(TurnId("1.rebuttal.1"))]
    reply = _spoke(TurnId("1.rebuttal.1"), entries).reply
    assert isinstance(reply, Rebuttal)
    stranger = replace(reply, rebuttals=(replace(reply.rebuttals[0], n=9),))

    with pytest.raises(IllegalEntry, match=r"points \[9\] are not among those to be answered, \[1, 2\]"):
        replay(a_case(), [*entries, TurnSpoke(TurnId("1.rebuttal.1"), 1, stranger, Charge(0, "none"))])


def test_a_point_is_rebutted_or_conceded_but_not_both() -> None:
    entries = [*_before(TurnId("1.rebuttal.1")), asked(TurnId("1.rebuttal.1"))]
    spoke = _spoke(TurnId("1.rebuttal.1"), entries)
    assert isinstance(spoke.reply, Rebuttal)
    both = replace(spoke.reply, concessions=(Concession(1, "Granted."), *spoke.reply.concessions))

    with pytest.raises(IllegalEntry, match=r"points \[1\] are rebutted and conceded at once"):
        replay(a_case(), [*entries, replace(spoke, reply=both)])


def _refuses(turn: TurnId, change: Callable[[Any], Any], message: str) -> None:
    """A plain debate takes the canned reply of this turn, and refuses it with the change."""
    entries = [*_before(turn), asked(turn)]
    spoke = _spoke(turn, entries)
    replay(a_case(), [*entries, spoke])
    with pytest.raises(IllegalEntry, match=message):
        replay(a_case(), [*entries, replace(spoke, reply=change(spoke.reply))])


def test_a_framing_has_criteria_and_names_documents_that_were_given() -> None:
    unknown = (KeyDocument("D9", "It decides everything."),)
    elsewhere = r"every sourceId in keyDocuments must be one of \['D1'\], found 1 other"

    _refuses(TurnId("0.framing.1"), lambda r: replace(r, criteria=()), "at least one criterion")
    _refuses(TurnId("0.framing.1"), lambda r: replace(r, key_documents=unknown), elsewhere)


def test_a_framing_does_not_name_a_document_that_is_introduced_later() -> None:
    entries: list[Entry] = [*drive(a_start(2), case=a_case(1, 2))[:4], asked(TurnId("0.framing.1"))]
    early = Framing("t", "s", ("c",), (KeyDocument("D2", "Nobody has it yet."),))

    with pytest.raises(IllegalEntry, match=r"must be one of \['D1'\], found 1 other"):
        replay(a_case(1, 2), [*entries, TurnSpoke(TurnId("0.framing.1"), 1, early, Charge(0, "none"))])


def test_a_proposal_without_an_argument_is_no_case_for_the_proposition() -> None:
    _refuses(TurnId("1.proposer.1"), lambda r: replace(r, arguments=()), "at least one argument")


def test_a_point_names_no_position_where_there_are_none() -> None:
    _refuses(
        TurnId("1.critic.1"),
        lambda r: replace(r, points=(replace(r.points[0], position="adopt"),)),
        r"position must be null in every point; it is not in points \[1\]",
    )


def test_whoever_recommends_another_round_says_what_it_is_to_resolve() -> None:
    _refuses(
        TurnId("1.moderator.1"),
        lambda r: replace(r, recommend_another_round=True, unresolved_points=()),
        "unresolvedPoints must say",
    )


def test_a_shift_is_welcome_but_not_wanted_where_nothing_new_was_introduced() -> None:
    entries = [*_before(TurnId("1.proposer.1")), asked(TurnId("1.proposer.1"))]
    spoke = _spoke(TurnId("1.proposer.1"), entries)

    replay(a_case(), [*entries, replace(spoke, reply=replace(spoke.reply, shift=Shift("unchanged", "none")))])


# -- fallbacks


def _with_fallback(family: str = "fir") -> DebateStarted:
    start = a_start()
    seats = tuple(replace(plan, fallback=a_plan(plan.seat, family)) for plan in start.seats)
    return replace(start, seats=seats)


def test_a_fallback_may_be_asked_in_its_seat_and_nobody_else() -> None:
    entries = opening(_with_fallback(), a_case())
    entries += [e for e in drive(a_start())[3:] if isinstance(e, CheckFound)][:1]

    replay(a_case(), [*entries, asked(TurnId("0.framing.1"), model="fir-1")])
    with pytest.raises(IllegalEntry, match="does not sit in seat 'framing'"):
        replay(a_case(), [*entries, asked(TurnId("0.framing.1"), model="birch-1")])


def test_what_went_wrong_is_known_by_the_model_that_did_it() -> None:
    facts = Facts.of(opening(_with_fallback(), a_case()))
    facts.add(asked(TurnId("0.framing.1")))
    facts.add(AttemptFailed(TurnId("0.framing.1"), 1, "malformedReply", "not JSON", Charge(TURN_COST, "reserved")))
    facts.add(asked(TurnId("0.framing.1"), 2, model="fir-1"))
    facts.add(AttemptFailed(TurnId("0.framing.1"), 2, "timeout", "no answer", Charge(TURN_COST, "reserved")))

    assert facts.unusable(TurnId("0.framing.1"), "oak-1") == "not JSON"
    assert facts.unusable(TurnId("0.framing.1"), "fir-1") is None
    assert [failed.attempt for failed in facts.failures(TurnId("0.framing.1"), "fir-1")] == [2]


def test_a_reply_of_a_fallback_is_flagged_and_its_family_decides_the_caps() -> None:
    start = _with_fallback(family="oak")

    def by_fallback(entry: Entry) -> Entry:
        at_moderator = isinstance(entry, TurnAsked) and entry.turn == "1.moderator.1"
        return replace(entry, model="oak-1") if at_moderator else entry

    facts = Facts.of([start if isinstance(e, DebateStarted) else by_fallback(e) for e in drive(start)[:-1]])
    move = decide(facts)
    assert isinstance(move, Conclude)

    assert "fallbackModel" in move.outcome.flags
    assert "moderatorOfProposersFamily" in [cap.reason for cap in move.outcome.caps]
