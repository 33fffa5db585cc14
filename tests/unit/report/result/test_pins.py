"""A result and a stream name the pins of the texts that the debate may ask with, all of them and no others."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.entries import DebateStarted
from service.debate.facts import Facts
from service.debate.model import (
    AdversarialOptions,
    BallotOptions,
    Case,
    ConvergenceOptions,
    Debater,
    Options,
    PanelOptions,
    Position,
    StancesOptions,
    Turn,
)
from service.debate.replies import Framing, Reply
from service.debate.replies.panel import QuestionType
from service.prompts import Prompts
from service.prompts.render import pins as pins_asked
from service.prompts.undocumented import UNDOCUMENTED, pin_of
from service.report import build_result, events
from service.report.result.pins import pins_of
from tests.fixtures import formats
from tests.fixtures.debates import World, a_case, drive, start_of
from tests.unit.report.played import FORMATS, lines

pytestmark = pytest.mark.many

PINS = Prompts.load().pins()
OWN = {"own": "v1 00"}
"""The pin of the prompt that drawn options name."""


class Listening(World):
    """A world that notes the texts of every turn that is asked."""

    def listened(self, start: DebateStarted, case: Case) -> set[str]:
        """The ids of all texts with which this debate asked."""
        noted: set[str] = set()

        def replies(turn: Turn, facts: Facts) -> Reply:
            plan = start.seat(turn.seat)
            noted.update({pin_of(facts, "house"), *pins_asked(facts, turn, plan), f"schema.{turn.asks}"})
            reply = self.replies(turn, facts)
            return replace(reply, key_documents=()) if isinstance(reply, Framing) and not case.documents else reply

        drive(start, replies, case=case, fails=self.fails, refuses=self.refuses, findings=self.findings)
        return noted


def pinned(options: Options, **changes: Any) -> DebateStarted:
    """A start of these options with the pins of every current text, as it is recorded."""
    return replace(start_of(options, **changes), pins=PINS | OWN)


def case_of(*rounds: int) -> Case:
    """A case with a document for each round; without rounds it has no documents."""
    return a_case(*rounds) if rounds else replace(a_case(), documents=())


def covered(start: DebateStarted, case: Case, named: set[str]) -> set[str]:
    """What debates with this start ask with, in as many worlds as it takes to meet these texts."""
    found = {"repair", "template.layout"}
    for seed in range(300):
        found |= Listening(seed, weak=40, unfit=15, invented=40).listened(start, case)
        if named <= found:
            break
    return found


def personified(options: Any) -> Any:
    """Options whose seats have what a caller can give them."""
    match options:
        case AdversarialOptions():
            return replace(options, personas={"critic": "An auditor."})
        case StancesOptions() | BallotOptions():
            debaters = tuple(replace(one, role="A lawyer.") for one in options.debaters)
            own = replace(debaters[-1], prompt="stances.debater.open")
            return replace(options, debaters=(*debaters[:-1], own), instructions="Weigh the fines.")
        case ConvergenceOptions():
            return replace(options, debater_instructions="Weigh the fines.")
        case PanelOptions():
            return replace(options, instructions="Weigh the fines.", typed_by="caller", question_type="brainstorm")
        case _:
            return options


def small(options: Any) -> Any:
    """Options that need the fewest texts."""
    match options:
        case AdversarialOptions():
            return replace(options, max_rounds=1)
        case StancesOptions():
            return replace(options, synthesizer=False)
        case ConvergenceOptions():
            return replace(options, judge=False, swapped=False, debaters=(Debater("Ursula"), Debater("Viktor")))
        case PanelOptions():
            return replace(options, max_rounds=2, typed_by="caller", adjudicator="algorithmic", swapped=False)
        case BallotOptions():
            return replace(options, debaters=options.debaters[:2], consensus_threshold=2)
        case _:
            return options


def evaluated(options: Any) -> Any:
    """Options as only an evaluation asks for them, in formats that have such."""
    match options:
        case AdversarialOptions():
            return replace(options, max_rounds=1, until="critic")
        case BallotOptions():
            return replace(options, debaters=options.debaters[:1], max_rounds=1, consensus_threshold=1, drafts=True)
        case _:
            return options


VARIANTS = {"plain": lambda options: options, "personified": personified, "small": small, "evaluated": evaluated}
POSITIONS = (Position("adopt", "Adopt it."), Position("defer", "Wait."))


@pytest.mark.parametrize("rounds", [(1,), (1, 2), ()])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("form", FORMATS)
def test_the_pins_are_those_of_every_text_that_some_course_of_the_debate_asks_with(
    form: str, variant: str, rounds: tuple[int, ...]
) -> None:
    start, case = pinned(VARIANTS[variant](formats.plain(form))), case_of(*rounds)

    named = set(pins_of(start, case))

    assert named == covered(start, case, named)


@pytest.mark.parametrize("rounds", [(1,), (1, 2), ()])
def test_a_debate_between_positions_names_their_texts(rounds: tuple[int, ...]) -> None:
    options = AdversarialOptions(2, 6, 6, False, POSITIONS, {"proposer": "An optimist."})
    start, case = pinned(options), case_of(*rounds)

    named = set(pins_of(start, case))

    assert named == covered(start, case, named)
    assert {"critic.positions", "rebuttal.position", "moderator.positions", "persona"} <= named


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=12)
@given(seed=st.integers(0, 400), rounds=st.sampled_from([(), (1,), (1, 2), (1, 3)]), data=st.data())
def test_no_debate_asks_with_a_text_that_is_not_named(
    form: str, seed: int, rounds: tuple[int, ...], data: st.DataObject
) -> None:
    start, case = pinned(data.draw(formats.options(form))), case_of(*rounds)

    named = pins_of(start, case)

    assert Listening(seed, failing=10, refusing=3, unfit=15, invented=40).listened(start, case) <= set(named)
    assert named.items() <= start.pins.items()
    assert not [id_ for id_ in named if f"{id_}{UNDOCUMENTED}" in named]


@pytest.mark.parametrize("form", FORMATS)
def test_the_stream_and_the_result_at_any_time_name_the_same_pins(form: str) -> None:
    told = lines(drive(pinned(formats.plain(form))))
    begun = next(n for n, line in enumerate(told) if isinstance(line.entry, DebateStarted))

    (started,) = events(told[begun], "d1", told[:begun])

    named = started.data["hashes"]["pins"]
    assert len(named) < len(PINS) / 2
    assert all(build_result("d1", told[:n]).hashes.pins == named for n in range(begun + 1, len(told) + 1))


def test_a_panel_that_a_model_types_names_every_type_of_question_and_another_its_own() -> None:
    plain = formats.plain("panel/1")
    assert isinstance(plain, PanelOptions)
    types = {f"panel.{name}" for name in get_args(QuestionType)}

    by_model = pins_of(pinned(plain), case_of(1))
    own = pins_of(pinned(replace(plain, typed_by="caller", question_type="belief")), case_of(1))

    assert {*types, "panel.ideas", "panel.classifier"} <= set(by_model)
    assert (types | {"panel.ideas", "panel.classifier"}) & set(own) == {"panel.belief"}


def test_every_text_is_named_by_some_debate() -> None:
    every = [change(formats.plain(form)) for form in FORMATS for change in VARIANTS.values()]
    every.append(AdversarialOptions(2, 6, 6, False, POSITIONS, screened=True))

    named = [pins_of(pinned(options), case_of(*rounds)) for options in every for rounds in ((1, 2), ())]

    assert set().union(*named) == set(PINS)
