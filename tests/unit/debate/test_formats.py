"""What holds in every format, whatever is said, fails, is refused or stopped, and in whatever order it arrives."""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.ballot import ABSTENTION, ESCALATE, PHASES
from service.debate.entries import (
    BudgetRefused,
    CheckFound,
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
from service.debate.kernel import FORMATS, decide, next_move, refuse_illegal, replay
from service.debate.model import Ask, Check, Measure, Options, Turn, TurnId, seat_of
from service.debate.options import (
    AdversarialOptions,
    BallotOptions,
    ConvergenceOptions,
    PanelOptions,
    StancesOptions,
    debater_seats,
    positions_of,
)
from service.debate.panel_answers import DEVIL_FROM
from service.debate.results import BallotResult, ConvergenceResult, PanelResult
from service.debate.script import Script
from service.debate.turns import SCREENER, round_of, take_of
from service.errors import IllegalEntry
from service.money import Ledger
from tests.fixtures import formats
from tests.fixtures.debates import FAMILIES, World, a_case, canned, drive, outcome, start_of, turns_asked
from tests.fixtures.formats import NAMES

pytestmark = pytest.mark.many

EVERY = sorted(FORMATS)
STOPS: Sequence[StoppedBy] = ("abort", "deadline", "promptMismatch", "auditUnavailable", "fault")
PROFILE = settings()
AMPLE = 10_000_000
half, fewer = (settings(max_examples=max(PROFILE.max_examples // share, 1)) for share in (2, 3))
every_format = pytest.mark.parametrize("form", EVERY)


class Setting(NamedTuple):
    """A debate that is about to run, and the world around it."""

    started: DebateStarted
    world: World
    stop: tuple[StoppedBy, int] | None

    def drive(self, **others: Any) -> list[Entry]:
        return self.world.drive(self.started, **{"stops": self.stops, **others})

    def stops(self, facts: Facts) -> DebateStopped | None:
        """Somebody stops it once that many turns have been begun."""
        if self.stop and len(facts.attempts) >= self.stop[1]:
            return DebateStopped(self.stop[0], "somebody stopped it")
        return None


@st.composite
def debates(draw: st.DrawFn, form: str, *, tight: bool = False, stopped: bool = True) -> Setting:
    """Any options; replies that cannot be used, failures, silences, refusals and stops now and then; any ceiling."""
    seed = draw(st.integers(0, 2**32))
    ceiling = draw(st.integers(1_000, 120_000)) if tight else AMPLE
    options = draw(formats.options(form))
    families = draw(st.sampled_from([("oak", "elm", "ash"), ("oak",)]))
    started = start_of(
        options,
        ceiling=ceiling,
        seed=f"{seed:064x}",
        families=families,
        attempts_per_turn=draw(st.sampled_from([1, 1, 2, 3])),
    )
    failing, refusing, unfit = (draw(st.sampled_from(shares)) for shares in ([0, 10, 25, 45], [0, 0, 8], [0, 15, 40]))
    stop = draw(st.sampled_from([None, None, *STOPS])) if stopped else None
    after = draw(st.integers(0, 12))
    world = World(seed, failing, refusing, another=draw(st.sampled_from([10, 100])), unfit=unfit)
    return Setting(started, world, (stop, after) if stop else None)


def settings_of(form: str, data: st.DataObject, **kwargs: Any) -> Setting:
    return data.draw(debates(form, **kwargs))


def asked(entries: Sequence[Entry]) -> dict[TurnId, Turn]:
    """Every turn as the kernel asked for it, in the order in which they were first asked."""
    return {turn: attempts[0] for turn, attempts in attempts_of(entries).items()}


def attempts_of(entries: Sequence[Entry]) -> dict[TurnId, list[Turn]]:
    """Every turn as the kernel asked for it at each of its attempts."""
    facts, found = Facts(), dict[TurnId, list[Turn]]()
    for entry in entries:
        if isinstance(entry, TurnAsked):
            move = decide(facts)
            assert isinstance(move, Ask)
            found.setdefault(entry.turn, []).append(next(turn for turn in move.turns if turn.id == entry.turn))
        facts.add(entry)
    return found


def spoken(entries: Sequence[Entry]) -> set[TurnId]:
    return {entry.turn for entry in entries if isinstance(entry, TurnSpoke)}


def silent(entries: Sequence[Entry]) -> set[TurnId]:
    return {entry.turn for entry in entries if isinstance(entry, TurnSilent)}


def checked(entries: Sequence[Entry]) -> list[Check]:
    """Every check that was wanted, as the kernel wanted it."""
    facts, found = Facts(), list[Check]()
    for entry in entries:
        if isinstance(entry, CheckFound):
            move = decide(facts)
            assert isinstance(move, Measure)
            found += [check for check in move.checks if check.id == entry.check]
        facts.add(entry)
    return found


# What may be asked at all, told apart from the scripts: groups of turns in their order. The turns of a group are
# asked at once or instead of each other; what closes a debate is one turn of a group, in whichever round it ends.


class Group(NamedTuple):
    turns: frozenset[TurnId]
    closing: bool = False
    """At most one of these is asked."""


def _alone(turns: Iterator[TurnId] | Sequence[TurnId]) -> Iterator[Group]:
    return (Group(frozenset({turn})) for turn in turns)


def _closing(rounds: range, *who: str) -> Iterator[Group]:
    """A group for each take of these seats; only deciders have a second one."""
    for seat in who:
        for take in (1, 2)[: 1 + (seat != "adjudicator.accuracy")]:
            yield Group(frozenset(TurnId(f"{r}.{seat}.{take}") for r in rounds), closing=True)


def schedule(options: Options) -> list[Group]:
    """Every turn that a debate with these options may ask, in the order in which it may."""
    return [*_alone([SCREENER] * options.screened), *_debated(options)]


def _debated(options: Options) -> list[Group]:
    seats = debater_seats(options)
    rounds = range(1, options.max_rounds + 1)
    match options:
        case AdversarialOptions():
            groups = [*_alone([TurnId("0.framing.1")])]
            names = [f".{position.id}" for position in positions_of(options)] or [""]
            for r in rounds:
                groups += [Group(frozenset(TurnId(f"{r}.proposer{name}.1") for name in names))]
                groups += _alone([TurnId(f"{r}.critic.1"), TurnId(f"{r}.critic.2")])
                if options.until:
                    return groups
                groups += [Group(frozenset(TurnId(f"{r}.rebuttal{name}.1") for name in names))]
                groups += _alone([TurnId(f"{r}.moderator.1"), TurnId(f"{r}.moderator.2")])
            return [*groups, *_closing(rounds, *["moderator.swapped"] * options.swapped)]
        case StancesOptions():
            last = ["judge", *["judge.swapped"] * options.swapped, *["synthesizer"] * options.synthesizer]
            return [*_alone([TurnId(f"{r}.{seat}.1") for r in rounds for seat in seats]), *_closing(rounds, *last)]
        case BallotOptions():
            phases = PHASES[:1] if options.drafts else PHASES
            return [*_alone([TurnId(f"{r}.{seat}.{phase}.1") for r in rounds for phase in phases for seat in seats])]
        case PanelOptions():
            groups = [*_alone([TurnId("0.classifier.1")] * (options.typed_by == "classifier"))]
            model = options.adjudicator == "model"
            for r in rounds:
                groups += [Group(frozenset(TurnId(f"{r}.{seat}.1") for seat in seats))]
                answers = seats if r == options.max_rounds >= DEVIL_FROM else ()
                groups += [Group(frozenset(TurnId(f"{r}.{seat}.answer.1") for seat in answers))] if answers else []
                groups += _alone([TurnId(f"{r}.adjudicator.1")] * model)
                groups += _alone([TurnId(f"{r}.adjudicator.swapped.1")] * (model and options.swapped))
            return [*groups, *_closing(rounds, "synthesizer", *["adjudicator.accuracy"] * model)]
        case ConvergenceOptions():
            every = range(options.max_rounds + 1)
            last = ["judge", *["judge.swapped"] * options.swapped] if options.judge else []
            return [*(Group(frozenset(TurnId(f"{r}.{d}.1") for d in seats)) for r in every), *_closing(every, *last)]


CLOSERS = ("moderator", "judge", "synthesizer", "adjudicator")


@every_format
@half
@given(st.data())
def test_a_debate_always_ends_and_within_its_caps(form: str, data: st.DataObject) -> None:
    setting = settings_of(form, data, tight=data.draw(st.booleans()))

    entries = setting.drive()

    groups, attempts = schedule(setting.started.options), Counter(turns_asked(entries))
    assert kind(entries[-1]) == "debate.concluded"
    assert len(attempts) <= sum(1 if group.closing else len(group.turns) for group in groups)
    assert max(attempts.values(), default=0) <= setting.started.attempts_per_turn
    assert outcome(entries).status in ("completed", "truncated", "failed", "aborted")


@every_format
@half
@given(st.data())
def test_no_seat_is_asked_out_of_turn(form: str, data: st.DataObject) -> None:
    setting = settings_of(form, data)
    groups, place, facts = schedule(setting.started.options), 0, Facts()
    closed = set[int]()

    for entry in setting.drive():
        if isinstance(entry, TurnAsked):
            here = next(i for i, group in enumerate(groups) if entry.turn in group.turns)
            if facts.refused.keys() - {SCREENER}:
                assert seat_of(entry.turn) in CLOSERS
            assert here >= place
            if groups[here].closing and facts.attempts.get(entry.turn) is None:
                assert here not in closed
                closed.add(here)
            place = here
        facts.add(entry)


@every_format
@half
@given(st.data())
def test_a_turn_sees_only_what_was_said_before_its_group_was_asked(form: str, data: st.DataObject) -> None:
    setting = settings_of(form, data)
    entries = setting.drive()
    groups = schedule(setting.started.options)

    at = {turn: i for i, group in enumerate(groups) for turn in group.turns}

    for turn in asked(entries).values():
        assert set(turn.sees) <= spoken(entries)
        assert all(at[seen] < at[turn.id] for seen in turn.sees)
        assert len(set(turn.sees)) == len(turn.sees)


@every_format
@half
@given(st.data())
def test_a_turn_that_is_asked_again_sees_no_more_than_at_first(form: str, data: st.DataObject) -> None:
    """Debaters of its round may have replied by then: a blind draft stays blind."""
    entries = settings_of(form, data).drive()

    assert {turn for turn, attempts in attempts_of(entries).items() if len(set(attempts)) > 1} == set()


@every_format
@half
@given(st.data())
def test_no_blind_draft_sees_anybody(form: str, data: st.DataObject) -> None:
    entries = settings_of(form, data).drive()

    blind = {
        "adversarial/1": "1.proposer",
        "stances/1": "1.debater-1.",
        "ballot/1": ".proposal.1",
        "panel/1": "1.debater-",
        "convergence/1": "0.debater-",
    }[form]

    for name, attempts in attempts_of(entries).items():
        for turn in attempts:
            if blind in name and turn.round <= 1 and name.startswith(("0", "1")):
                assert {seat_of(seen) for seen in turn.sees} <= {"framing"}


@every_format
@half
@given(st.data())
def test_a_silent_seat_is_never_counted_as_a_voice(form: str, data: st.DataObject) -> None:
    setting = settings_of(form, data)
    entries = setting.drive()
    said, gone, end = spoken(entries), silent(entries), outcome(entries)

    for check in checked(entries):
        assert set(check.over) <= said
    match end.result:
        case BallotResult() as ballot:
            seats = dict(zip(ballot.debater_ids, debater_seats(setting.started.options), strict=True))
            assert {f"{c.round}.{seats[c.debater]}.{c.phase}.1" for c in ballot.votes} == said - {SCREENER}
            assert sum(t.count for t in ballot.vote_tally) == len({seat_of(turn) for turn in said - {SCREENER}})
            assert ballot.votes_cast <= len({seat_of(turn) for turn in said - {SCREENER}})
            assert not gone or ballot.decision == ESCALATE
            assert ballot.decision == ESCALATE or ballot.votes_cast >= ballot.consensus_threshold
            assert ballot.decision != ABSTENTION
        case ConvergenceResult() as converged:
            assert {seat for group in converged.blind_answers for seat in group.seats} == {
                seat_of(turn) for turn in said if turn.startswith("0.debater-")
            }
            assert not {seat for group in converged.votes for seat in group.seats} & _missing_before(setting, entries)
            assert converged.missing == _given_up(setting, gone)
        case PanelResult() as panel:
            assert panel.missing == _given_up(setting, gone)
            assert {score.seat for score in panel.accuracy} <= {seat_of(turn) for turn in said}


def _given_up(setting: Setting, gone: set[TurnId]) -> tuple[str, ...]:
    return tuple(d for d in debater_seats(setting.started.options) if d in {seat_of(turn) for turn in gone})


def _missing_before(setting: Setting, entries: Sequence[Entry]) -> set[str]:
    """Debaters that were given up in the first round: they have no vote in any."""
    first = {turn for turn in silent(entries) if turn.startswith("0.")}
    return set(_given_up(setting, first))


@every_format
@half
@given(st.data())
def test_who_was_given_up_is_not_asked_again_and_two_voices_remain_or_it_fails(form: str, data: st.DataObject) -> None:
    setting = settings_of(form, data, stopped=False)
    entries = setting.drive()
    spare = {t for t in silent(entries) if ".swapped." in t or (seat_of(t) in CLOSERS and take_of(t) > 1)}
    gone, end = silent(entries) - spare - {SCREENER}, outcome(entries)
    refused = any(isinstance(entry, BudgetRefused) for entry in entries)
    seats = debater_seats(setting.started.options)

    for seat in {seat_of(turn) for turn in gone} & set(seats):
        rounds = [round_of(turn) for turn in turns_asked(entries) if seat_of(turn) == seat]
        given_up = min(round_of(turn) for turn in gone if seat_of(turn) == seat)
        assert max(rounds) == given_up
    if form in ("panel/1", "convergence/1"):
        in_rounds = {turn for turn in gone if ".answer." not in turn}  # an objection that stays unanswered stands
        left = len(seats) - len(_given_up(setting, in_rounds))
        if end.status == "completed":
            assert left >= 2
    elif gone and not refused:
        assert (end.status, end.stop_reason) == ("failed", "seatSilent")


@every_format
@half
@given(st.data())
def test_no_entry_takes_the_money_past_the_ceiling(form: str, data: st.DataObject) -> None:
    setting, ledger = settings_of(form, data, tight=True), Ledger(0)

    for entry in setting.drive():
        ledger = ledger.add(entry)

        assert ledger.spent + sum(ledger.held.values()) <= ledger.ceiling


@every_format
@half
@given(st.data())
def test_money_that_ends_is_told_and_only_what_closes_a_debate_comes_after(form: str, data: st.DataObject) -> None:
    setting = settings_of(form, data, tight=True, stopped=False)
    entries = setting.drive()

    refusals = [n for n, e in enumerate(entries) if isinstance(e, BudgetRefused) and e.turns != (SCREENER,)]

    if refusals:
        after = set(turns_asked(entries[refusals[0] :])) - spoken(entries[: refusals[0]])
        assert {seat_of(turn) for turn in after} <= set(CLOSERS)
    first = entries[refusals[0]] if refusals else None
    asks_again = isinstance(first, BudgetRefused) and any(".swapped." in t or ".accuracy." in t for t in first.turns)
    if refusals and not asks_again and outcome(entries).status != "failed":
        assert outcome(entries).status == "truncated"
        assert "DEBATE_TRUNCATED" in outcome(entries).flags
        assert outcome(entries).confidence_level == "LOW"


@pytest.mark.replay
@every_format
@half
@given(st.data())
def test_every_debate_replays_also_after_it_was_written_down(form: str, data: st.DataObject) -> None:
    setting = settings_of(form, data, tight=data.draw(st.booleans()))
    entries = setting.drive()

    read = [decode(encode(entry)) for entry in entries]

    assert read == entries
    replay(a_case(), read)
    facts = Facts()
    for n, entry in enumerate(entries, start=1):
        facts.add(entry)
        if facts.started:  # asked after every entry, the kernel says what it says of the whole list
            assert decide(facts) == next_move(a_case(), read[:n])


@every_format
@half
@given(st.data())
def test_the_order_of_arrival_changes_neither_what_is_asked_nor_the_outcome(form: str, data: st.DataObject) -> None:
    setting = settings_of(form, data, stopped=False)

    as_asked, shuffled = setting.drive(order=None), setting.drive(order=Random(setting.world.seed + 1))

    assert asked(shuffled) == asked(as_asked)
    assert Counter(turns_asked(shuffled)) == Counter(turns_asked(as_asked))
    assert {check.id: check for check in checked(shuffled)} == {check.id: check for check in checked(as_asked)}
    assert outcome(shuffled) == outcome(as_asked)


@pytest.mark.replay
@every_format
@fewer
@given(st.data())
def test_a_crash_at_any_point_changes_neither_the_outcome_nor_what_was_paid_for(form: str, data: st.DataObject) -> None:
    setting = settings_of(form, data, stopped=False)
    entries = setting.drive()

    for n in data.draw(st.lists(st.integers(0, len(entries) - 1), max_size=6, unique=True)):
        _resumes(setting, entries, n)


@pytest.mark.replay
@every_format
def test_a_crash_before_each_single_entry_changes_neither_the_outcome_nor_what_was_paid_for(form: str) -> None:
    options = formats.plain(form)
    if isinstance(options, BallotOptions):
        options = replace(options, max_rounds=1)  # each of its phases is crashed in all the same
    setting = Setting(start_of(options), World(11, failing=15, unfit=15), None)
    entries = setting.drive()

    for n in range(len(entries)):
        _resumes(setting, entries, n)


def _resumes(setting: Setting, entries: list[Entry], n: int) -> None:
    resumed = setting.drive(entries=entries[:n], order=Random(n))

    assert outcome(resumed) == outcome(entries)
    assert resumed[:n] == entries[:n]
    assert spoken(resumed) == spoken(entries)
    assert not spoken(entries[:n]) & set(turns_asked(resumed[n:])), "a recorded turn was asked again"
    replay(a_case(), resumed)


@every_format
@fewer
@given(st.data())
def test_a_crash_under_a_tight_ceiling_or_a_stop_still_ends_within_it(form: str, data: st.DataObject) -> None:
    setting = settings_of(form, data, tight=True)
    entries = setting.drive()

    for n in data.draw(st.lists(st.integers(0, len(entries) - 1), max_size=4, unique=True)):
        resumed = setting.drive(entries=entries[:n], order=Random(n))

        assert Ledger.of(resumed).spent <= setting.started.ceiling
        assert not spoken(entries[:n]) & set(turns_asked(resumed[n:]))
        replay(a_case(), resumed)


@every_format
@half
@given(st.data())
def test_a_stop_ends_every_debate_with_its_own_reason(form: str, data: st.DataObject) -> None:
    setting = settings_of(form, data)
    entries = setting.drive()

    stopped = next((n for n, entry in enumerate(entries) if isinstance(entry, DebateStopped)), None)

    if stopped is not None and setting.stop:
        status = {"abort": "aborted", "deadline": "truncated"}.get(setting.stop[0], "failed")
        assert outcome(entries).status == status
        assert outcome(entries).confidence_level == "LOW"
        assert outcome(entries).human_review.required
        assert {kind(entry) for entry in entries[stopped + 1 : -1]} <= {"turn.spoke", "attempt.failed"}


@every_format
def test_a_reply_that_cannot_be_used_is_refused_at_its_place(form: str) -> None:
    entries, facts, tried = drive(start_of(formats.plain(form))), Facts(), 0

    for entry in entries:
        if isinstance(entry, TurnSpoke):
            with pytest.raises(IllegalEntry, match=r"turn\.spoke"):
                refuse_illegal(facts, replace(entry, reply=formats.unfit(entry.reply)))
            tried += 1
        facts.add(entry)

    assert tried > 4


@every_format
@half
@given(st.data())
def test_code_only_ever_lowers_the_confidence_and_then_asks_for_a_person(form: str, data: st.DataObject) -> None:
    end = outcome(settings_of(form, data).drive())
    levels = ("LOW", "MODERATE", "HIGH")

    assert end.confidence_level is not None
    assert all(levels.index(end.confidence_level) <= levels.index(cap.at_most) for cap in end.caps)
    assert end.human_review.required >= bool(end.caps or end.confidence_level == "LOW")


# Who can know whom.


def labels(entries: Sequence[Entry]) -> dict[TurnId, dict[TurnId, str]]:
    """What every turn is shown others' replies under."""
    facts = Facts.of(entries)
    assert facts.started is not None
    script, form = Script(facts.started, facts), FORMATS[facts.started.format]
    return {name: dict(form.shown(script, turn)) for name, turn in asked(entries).items()}


@every_format
@half
@given(st.data())
def test_no_label_holds_a_name_a_model_or_a_family(form: str, data: st.DataObject) -> None:
    setting = settings_of(form, data, stopped=False)
    options = setting.started.options
    named = isinstance(options, StancesOptions) and not options.anonymize_transcript
    hidden = {plan.model for plan in setting.started.seats} | {*FAMILIES.values(), "oak", "elm", "ash", "scripted"}

    for turn, shown in labels(setting.drive()).items():
        names = () if named and seat_of(turn) in ("judge", "synthesizer") else NAMES
        for label in shown.values():
            assert not [word for word in (*hidden, *names) if word.casefold() in label.casefold()], (turn, label)


@every_format
def test_every_reply_of_a_debater_is_shown_under_one_label_and_no_two_debaters_share_it(form: str) -> None:
    entries = drive(start_of(formats.plain(form)))
    seats = debater_seats(formats.plain(form)) or ("proposer", "critic", "rebuttal")

    for turn, shown in labels(entries).items():
        sees = [seen for seen in asked(entries)[turn].sees if seat_of(seen) in seats]
        whose = {(seat_of(seen), shown[seen]) for seen in sees}
        assert len(whose) == len({seat for seat, _ in whose}) == len({label for _, label in whose})


DECIDERS = {
    "adversarial/1": ("moderator", TurnId("1.moderator.1"), TurnId("1.moderator.swapped.1")),
    "stances/1": ("judge", TurnId("2.judge.1"), TurnId("2.judge.swapped.1")),
    "panel/1": ("adjudicator", TurnId("2.adjudicator.1"), TurnId("2.adjudicator.swapped.1")),
    "convergence/1": ("judge", TurnId("2.judge.1"), TurnId("2.judge.swapped.1")),
}
one_decider = pytest.mark.parametrize("form", sorted(DECIDERS))


def by_round(turn: Turn) -> dict[str, list[TurnId]]:
    rounds: dict[str, list[TurnId]] = {}
    for seen in turn.sees:
        rounds.setdefault(seen.partition(".")[0], []).append(seen)
    return rounds


def test_every_format_with_a_single_decider_is_among_those_that_are_asked_twice() -> None:
    swappable = {form for form in EVERY if hasattr(formats.plain(form), "swapped")}

    assert swappable == set(DECIDERS)


@one_decider
@half
@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_the_deciders_view_under_two_seeds_differs_only_in_order(form: str, one: int, other: int) -> None:
    views, shown = [], []
    for seed in (one, other):
        entries = drive(start_of(formats.plain(form), seed=f"{seed:064x}"), agreeing)
        views.append(asked(entries)[DECIDERS[form][1]])
        shown.append(labels(entries)[DECIDERS[form][1]])

    assert list(by_round(views[0])) == list(by_round(views[1]))
    for mine, theirs in zip(by_round(views[0]).values(), by_round(views[1]).values(), strict=True):
        assert sorted(mine) == sorted(theirs)
    assert sorted(shown[0].values()) == sorted(shown[1].values())
    assert replace(views[0], sees=()) == replace(views[1], sees=())


@one_decider
def test_the_deciders_order_is_drawn_from_the_seed_and_every_debater_comes_first_now_and_then(form: str) -> None:
    first = Counter[str]()
    for seed in range(40):
        entries = drive(start_of(formats.plain(form), seed=f"{seed:064x}"), agreeing)
        view = by_round(asked(entries)[DECIDERS[form][1]])
        first[seat_of(view["1"][0])] += 1

    assert len(first) == 3
    assert min(first.values()) > 4, first


@one_decider
@half
@given(st.integers(0, 2**32))
def test_a_swapped_view_is_exactly_the_reverse_of_each_round(form: str, seed: int) -> None:
    turns = asked(drive(start_of(formats.plain(form), seed=f"{seed:064x}"), agreeing))
    first, again = (turns[name] for name in DECIDERS[form][1:])

    assert by_round(again) == {r: seen[::-1] for r, seen in by_round(first).items()}
    assert list(by_round(again)) == list(by_round(first))
    assert (again.asks, again.fragments, again.prompt) == (first.asks, first.fragments, first.prompt)


def agreeing(turn: Turn, facts: Facts) -> Any:
    """Canned replies, but an adjudicator that always finds consensus in the second round."""
    reply = canned(turn, facts)
    if turn.asks == "panel.adjudicator":
        score = 100 if turn.round == 2 else 0
        return replace(
            reply,
            stance_alignment=score,
            empirical_overlap=score,
            framework_agreement=score,
            confidence_convergence=score,
        )
    return reply


@one_decider
@half
@given(st.data())
def test_another_answer_in_the_other_order_decides_nothing_and_asks_for_a_person(
    form: str, data: st.DataObject
) -> None:
    drawn = settings_of(form, data, stopped=False)
    forced = {"swapped": True, **({"judge": True} if form == "convergence/1" else {})}
    started = start_of(replace(drawn.started.options, **forced), seed=drawn.started.seed)
    end = outcome(Setting(started, drawn.world._replace(failing=0, refusing=0, unfit=0), None).drive())

    if "orderSensitive" in end.flags:
        assert end.confidence_level == "LOW"
        assert "orderSensitive" in end.human_review.reasons
        assert (end.conclusion, end.ranking) == (None, ())
        assert getattr(end.result, "verdict", None) is None
        assert getattr(end.result, "final_answer", None) is None
    if form != "panel/1":  # a panel may be asked twice in several rounds
        assert not {"orderSensitive", "orderUnchecked"} <= set(end.flags)


@one_decider
def test_a_second_asking_that_fails_leaves_the_first_answer_unchecked(form: str) -> None:
    swapped = DECIDERS[form][2]

    silenced = drive(start_of(formats.plain(form)), agreeing, fails=lambda turn, _: ".swapped." in turn)
    refused = drive(start_of(formats.plain(form)), agreeing, refuses=lambda turns: any(".swapped." in t for t in turns))

    for entries in (silenced, refused):
        assert (swapped in turns_asked(entries)) is (entries is silenced)
        assert "orderUnchecked" in outcome(entries).flags
        assert "orderSensitive" not in outcome(entries).flags
        assert outcome(entries).confidence_level != "HIGH"
        assert "orderUnchecked" in outcome(entries).human_review.reasons
