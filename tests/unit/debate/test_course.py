"""A script that is kept where it rests gives the moves of one that is run from the top, and runs nothing again.

The driver of `tests.fixtures.debates` compares the two as well, after each entry of every debate of every test.
"""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate import convergence
from service.debate import course as course_module
from service.debate.course import Course
from service.debate.entries import (
    AttemptFailed,
    BudgetRefused,
    Charge,
    DebateStarted,
    DebateStopped,
    Entry,
    TurnAsked,
    TurnSilent,
    TurnSpoke,
)
from service.debate.facts import Facts
from service.debate.kernel import FORMATS, Run, decide, next_move
from service.debate.model import Conclude, Options
from service.debate.options import BallotOptions, ConvergenceOptions, PanelOptions, StancesOptions
from service.debate.script import Script
from service.errors import IllegalEntry
from tests.fixtures import formats
from tests.fixtures.debates import World, a_case, canned, drive, found, start_of
from tests.unit.debate.test_formats import EVERY, STOPS, every_format, settings_of

COURSES = 400
"""Debates of each format, drawn by number."""


def _stops(rng: Random) -> Any:
    """Somebody stops the debate once that many turns have been begun, or nobody does."""
    after, stop = rng.randrange(40), DebateStopped(rng.choice(STOPS), "somebody stopped it")
    return lambda facts: stop if len(facts.attempts) >= after else None


def _drawn(form: str, seed: int) -> list[Entry]:
    """A debate in which replies, failures, silences, unusable replies, refusals and stops are drawn."""
    rng = Random(f"{form}|{seed}")
    world = World(
        seed,
        failing=rng.choice((0, 10, 30)),
        refusing=rng.choice((0, 0, 8)),
        another=rng.choice((10, 100)),
        unfit=rng.choice((0, 15)),
        invented=rng.choice((10, 50)),
    )
    started = start_of(
        _varied(formats.plain(form), rng),
        ceiling=rng.choice((10_000_000, rng.randrange(1_000, 200_000))),
        seed=f"{seed:064x}",
        attempts_per_turn=rng.choice((1, 2, 3)),
    )
    return world.drive(started, stops=_stops(rng) if rng.random() < 0.2 else lambda _: None)


def _varied(options: Options, rng: Random) -> Options:
    """The same options with other rounds, and with what asks a decider or a screener once more."""
    on = {name: rng.random() < 0.5 for name in ("swapped", "masked", "screened") if hasattr(options, name)}
    return replace(options, max_rounds=rng.choice((1, 2, 3)), **on)


@pytest.mark.replay
@every_format
def test_after_each_entry_of_hundreds_of_debates_the_move_is_that_from_the_top(form: str) -> None:
    ends = set()
    for seed in range(COURSES):
        course, top = Course(), Facts()

        for n, entry in enumerate(_drawn(form, seed)):
            course.add(entry)
            top.add(entry)

            if top.started:
                top.move = None  # a move that the facts have kept is none from the top
                assert course.move() == decide(top), (seed, n)
        assert course.facts.concluded
        ends.add(course.facts.concluded.stop_reason)

    assert {"seatSilent", "budget", "aborted", "deadline"} <= ends


@every_format
@given(st.data())
def test_a_script_may_rest_through_any_number_of_entries(form: str, data: st.DataObject) -> None:
    """Entries may be added without a move in between, as when a debate is read that others have gone on with."""
    entries = settings_of(form, data, tight=data.draw(st.booleans())).drive()
    course, asked = Course(), data.draw(st.sets(st.integers(4, len(entries))))

    for n, entry in enumerate(entries, start=1):
        course.fold(entry)

        if n in asked:
            assert course.move() == next_move(a_case(), entries[:n])


@every_format
@given(st.data())
def test_after_a_crash_a_new_process_goes_on_with_the_same_moves(form: str, data: st.DataObject) -> None:
    setting = settings_of(form, data, tight=data.draw(st.booleans()))
    entries = setting.drive()
    n = data.draw(st.integers(3, len(entries) - 1))
    before, after = Course(), Course()
    for entry in entries[:n]:
        before.add(entry)
        after.fold(entry)

    assert after.move() == before.move() == next_move(a_case(), entries[:n])
    assert setting.drive(entries=entries[:n])[:n] == entries[:n]


def _longest(form: str, rounds: int) -> DebateStarted:
    options = replace(formats.plain(form), max_rounds=rounds)
    match options:
        case ConvergenceOptions():
            options = replace(options, convergence_check=False)
        case PanelOptions() | StancesOptions():
            pass
        case BallotOptions():
            options = replace(options, consensus_threshold=len(options.debaters))
    return start_of(options, ceiling=10**9)


def _never_agreeing(turn: Any, facts: Facts) -> Any:
    """The canned reply, but that the debaters of a ballot vote for different options."""
    reply = canned(turn, facts)
    if turn.asks == "ballot.debater" and facts.started:
        votes = getattr(facts.started.options, "votes", ())
        return replace(reply, vote=votes[int(turn.seat[-1]) % 2])
    return reply


def _waits(entries: Sequence[Entry], counted: list[str]) -> int:
    """How often a script asked for replies or findings until the debate was over."""
    counted.clear()
    course = Course()
    for entry in entries:
        course.add(entry)
    return len(counted)


@pytest.mark.parametrize("form", [form for form in EVERY if form != "adversarial/1"])
def test_what_a_script_does_grows_with_what_is_said(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the rounds are twice the work; from the top they are four times as much.

    An adversarial debate has three rounds at most.
    """
    counted = list[str]()
    for name in ("ask", "close", "find"):
        monkeypatch.setattr(Script, name, _counting(getattr(Script, name), counted))
    once, twice = (drive(_longest(form, rounds), _never_agreeing, findings=found) for rounds in (5, 10))

    few, many = _waits(once, counted), _waits(twice, counted)

    assert len(twice) > 1.7 * len(once)
    assert many / few < 1.1 * len(twice) / len(once)
    assert many < len(twice)


def _counting(wait: Any, counted: list[str]) -> Any:
    def counting(*given: Any, **named: Any) -> Any:
        counted.append(wait.__name__)
        return wait(*given, **named)

    return counting


@pytest.mark.parametrize(
    ("what", "drops"),
    [
        ({}, False),
        ({"fails": lambda _, nth: nth == 1}, False),
        ({"fails": lambda turn, _: turn == "0.debater-1.1"}, True),
        ({"refuses": lambda turns: turns[0].startswith("1.")}, True),
    ],
    ids=("nothing", "attempts", "a silence", "a refusal"),
)
def test_a_script_is_begun_again_after_a_silence_and_a_refusal_but_not_after_an_attempt(
    what: Any, drops: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a script took from the facts before a seat was silent, or the money ended, does not stay in it."""
    entries, course, begun = drive(start_of(formats.plain("convergence/1")), **what), Course(), list[Facts]()

    def counted(started: DebateStarted, facts: Facts) -> Run:
        begun.append(facts)
        return Run(started, facts)

    monkeypatch.setattr(course_module, "Run", counted)
    for entry in entries[:-1]:
        course.add(entry)
        if course.facts.started:
            course.move()

    dropping = [n for n, entry in enumerate(entries) if isinstance(entry, TurnSilent | BudgetRefused)]
    ended = next((n for n in dropping if isinstance(entries[n], BudgetRefused)), len(entries))
    # Once the money has ended, closing turns wait for attempts under way: an attempt may change the move.
    dropping += [n for n, entry in enumerate(entries) if n > ended and isinstance(entry, TurnAsked)]
    assert len(begun) == 1 + len(dropping)
    assert bool(dropping) is drops


@every_format
def test_an_entry_that_is_not_legal_leaves_the_script_where_it_rests(form: str) -> None:
    entries, course, refused = drive(start_of(formats.plain(form))), Course(), 0

    for n, entry in enumerate(entries, start=1):
        if isinstance(entry, TurnSpoke):
            with pytest.raises(IllegalEntry, match=r"turn\.spoke"):
                course.add(replace(entry, attempt=9))
            refused += 1
        course.add(entry)
        if n >= 3:
            assert course.move() == next_move(a_case(), entries[:n])

    assert refused > 4


def test_a_copy_of_the_facts_has_no_script() -> None:
    """Some code copies all members of the facts and changes the copy: a script at rest belongs to one debate."""
    course = Course()
    for entry in drive(start_of(formats.plain("convergence/1")))[:-6]:
        course.add(entry)
    course.move()

    copied = Facts()
    vars(copied).update(vars(course.facts), move=None)

    assert vars(copied).keys() == vars(Facts()).keys()


def test_a_script_that_fails_is_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    entries, course = drive(start_of(formats.plain("convergence/1"))), Course()
    last = next(n for n, entry in enumerate(entries) if isinstance(entry, TurnAsked) and ".judge" in entry.turn)
    for entry in entries[: last - 1]:
        course.fold(entry)
        if course.facts.started:
            course.move()
    course.fold(entries[last - 1])

    with monkeypatch.context() as broken:
        broken.setattr(convergence, "_judge", _failing)
        with pytest.raises(ZeroDivisionError):
            course.move()

    assert course.move() == next_move(a_case(), entries[:last])


def test_a_debate_whose_script_fails_can_be_stopped_and_its_calls_are_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only an entry that hangs on the next move asks for it: a fault in a script must not keep a charge out."""
    entries, course = drive(start_of(formats.plain("convergence/1"))), Course()
    asked = next(n for n, entry in enumerate(entries) if isinstance(entry, TurnAsked))
    for entry in entries[: asked + 1]:
        course.fold(entry)
    (turn, attempt), *_ = course.facts.open.items()
    monkeypatch.setattr(FORMATS["convergence/1"], "play", _failing)

    course.add(AttemptFailed(turn, attempt, "lost", "its worker died", Charge(1, "reserved")))
    course.add(DebateStopped("fault", "its script fails"))

    move = course.move()
    assert isinstance(move, Conclude)
    assert move.outcome.stop_reason == "fault"


def _failing(*_: Any) -> Any:
    raise ZeroDivisionError
