"""The common parts of the formats between debaters: turns in order, words round by round, standing dissent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from service.debate import replies
from service.debate.ballot import PHASES
from service.debate.model import Outcome, TurnId
from service.debate.options import Debater, debater_seats, debaters_of
from service.debate.replies import Closing
from service.debate.turns import round_of, seat_of
from service.report.document.arguments import argued, titles_of
from service.report.document.blocks import Block, Fact, HeadingBlock, ReportPart, Text
from service.report.document.speakers import by_round, latest, speaker_possessive
from service.report.formats.aspects import Own
from service.report.labels import DIVERSITY_OF_DEBATERS
from service.report.remarks import BLIND, EXCHANGED
from service.report.result.argument_types import Argument
from service.report.result.history import Folded, History, debater_phase, is_beside
from service.report.result.types import Result, Spoken

TITLE = "Record of a debate"
DIVERSITY = DIVERSITY_OF_DEBATERS
SAW_LABELS = "They took no part in the debate, and saw who said what under neutral labels alone."
Who = Callable[[Spoken], str]

# From the record.


def turns(h: Folded) -> tuple[TurnId, ...]:
    """Every turn of a debater that has spoken, by round, phase and declared order."""
    if h.facts.started is None:
        return ()
    seats = debater_seats(h.facts.started.options)
    return tuple(
        sorted((turn for turn in h.facts.said if seat_of(turn) in seats), key=lambda turn: _place(seats, turn))
    )


def _place(seats: tuple[str, ...], turn: TurnId) -> tuple[int, int, int]:
    named = debater_phase(turn)
    phase = PHASES.index(named) if named in PHASES else len(PHASES) if named else 0
    return round_of(turn), phase, seats.index(seat_of(turn))


def named(h: Folded, who: str) -> Debater:
    """The caller's debater in a seat, in the formats whose debaters the caller names."""
    options = h.facts.started.options if h.facts.started else None
    found = dict(zip(debater_seats(options), debaters_of(options), strict=False)) if options else {}
    return found.get(who, Debater(""))


def closing(h: Folded, _: Outcome) -> Closing | None:
    """The last closing reply, from the first time that its seat was asked."""
    found = [r for turn, said in h.facts.said.items() if (r := replies.closing(said)) and not is_beside(turn)]
    return found[-1] if found else None


def own(_: History, __: str) -> Own:
    """None: replies of debaters are in the transcript."""
    return Own()


# In words.


def lettered(one: Spoken) -> str:
    """``Model A (seat 2)``; with the caller's name before it, where the debater has one: ``skeptic, Debater A``."""
    seat = f"{one.label} (seat {one.seat.rpartition('-')[2]})"
    return f"{one.name}, {seat}" if one.name else seat


def rounds(
    r: Result, title: Callable[[int], str], round_: Callable[[tuple[Spoken, ...]], Iterator[Block]]
) -> Iterator[Block]:
    """A part for each round, in the order in which its turns are shown."""
    for number, spoken in by_round(r):
        yield ReportPart(f"round-{number}", title(number))
        yield from round_(spoken)


def drafted(spoken: Sequence[Spoken]) -> Text:
    """Whether these turns are first drafts."""
    return Text(BLIND if spoken[0].blind else EXCHANGED, "note")


def reasons(r: Result, one: Spoken, what: str = "Argument") -> Iterator[Block]:
    """The arguments of a turn."""
    yield from (argued(f"{what} {argument.n}", argument, titles_of(r)) for argument in one.arguments)


def cited(r: Result, who: Who) -> Mapping[str, Sequence[Argument]]:
    """All arguments, by their debater."""
    found: dict[str, list[Argument]] = {}
    for one in r.transcript:
        found.setdefault(who(one), []).extend(one.arguments)
    return found


def dissent_standing(
    r: Result, against: list[Spoken] | None, who: Who, last_word: Callable[[Spoken], str]
) -> Iterator[Block]:
    """Every debater whose last word is not the decision, with its case; without a decision, all debaters.

    Struck arguments are no challenge, because later seats did not see them. The transcript has them with the reason.
    """
    if against is None:
        yield ReportPart("dissent", "Where everybody stood at the end")
    else:
        yield ReportPart("dissent", "What was held against it to the end, and by whom")
    if against == []:
        yield Text("Nobody: every debater's last word was for it.")
    for one in latest(r) if against is None else against:
        yield HeadingBlock(3, who(one), last_word(one))
        standing = [argument for argument in one.arguments if not argument.struck]
        for argument in standing:
            yield argued(f"Argument {argument.n} of round {one.round}", argument, titles_of(r))
        if not standing:
            yield Text("Everything that it argued last was struck.")


def unheard(r: Result) -> str | None:
    """Why no other debater has tested the decision; ``None`` if one has, or without a decision."""
    if r.result is None or r.status not in ("completed", "truncated"):
        return None
    saw_others = any(not one.blind for one in r.transcript)
    return None if saw_others else "it ended before anybody had read another's answer"


def missing(r: Result, seats: tuple[str, ...], who: Who) -> Iterator[Fact]:
    """The silent debaters."""
    if seats:
        names = ", ".join(speaker_possessive(r, seat, who) for seat in seats)
        yield Fact("Missing", f"{names}: given up, and not counted as agreement")


def seated(debaters: Sequence[Debater]) -> Iterator[Fact]:
    """The debaters that the caller named, by seat: ``Debater 2`` may be another one than the debater with letter B."""
    for number, debater in enumerate(debaters, start=1):
        stance = f": {debater.stance}" if debater.stance else ""
        prompt = f" (prompt {debater.prompt})" if debater.prompt else ""
        yield Fact(f"Seat {number}", f"{debater.name}{stance}{prompt}")


def instructed(term: str, instructions: str | None) -> Iterator[Fact]:
    """The caller's instructions."""
    if instructions:
        yield Fact(term, instructions)


def count(number: int, what: str, many: str = "") -> str:
    """``1 round``, ``2 rounds``."""
    return f"{number} {what if number == 1 else many or what + 's'}"
