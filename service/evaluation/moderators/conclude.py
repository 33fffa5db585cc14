"""From counts of recorded debates to figures and findings. No label is known, so nothing here says who was right.

    side         a moderator's conclusions for the proposer against those for the critic; in between is left out
    position     the same arguments in two orders, where a debate has both: the same place favoured twice

Both are asked of each moderator (model and prompt), over all of its task types and of each. Questions with fewer than
`FEWEST` decided cases are `notEnough`. The p-values of all others are adjusted together (Holm); which ones these are
follows from numbers of decided cases, and never from the side. Windows decide nothing: exploratory (Benjamini and
Hochberg). Length, family, wording and citations are left out: they need cases whose right answer is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from msgspec.structs import replace

from service.evaluation.moderators.audit import (
    ALL,
    POSITION,
    SIDE,
    ConcludedAudit,
    ModeratorAudit,
    ModeratorShown,
    Period,
    Read,
    Series,
    WindowShown,
)
from service.evaluation.moderators.recorded import Moderator
from service.evaluation.moderators.sentences import sentences_of
from service.evaluation.moderators.tally import CRITIC, MISSING, PROPOSER, TIED, Counts, Tally
from service.evaluation.moderators.windows import Window
from service.evaluation.plan.power import FEWEST
from service.evaluation.scoring.figures import Figures
from service.evaluation.scoring.moderator import fewest_same, smallest_share
from service.evaluation.scoring.result import Because, Figure, Finding

ALPHA = 0.05
POWERED = 20_000
"""The most cases that a power is computed for; with more of them a smaller tilt would be seen than is said."""


class Question(NamedTuple):
    """A question about a moderator's debates of a task type: its figure, its cases, and what they would have shown."""

    about: tuple[str, str, str]
    figure: str
    p: float
    decided: int
    visible: Callable[[float], float | None]


class Explored(NamedTuple):
    """A figure of a window, its p, and the number of its decided cases."""

    figure: str
    p: float
    decided: int


def conclude(
    period: Period,
    windows: Sequence[Window],
    tally: Tally,
    evaluations: Sequence[tuple[ConcludedAudit, Figure]] = (),
) -> ModeratorAudit:
    """The audit of what was counted in a period."""
    figures = Figures()
    made = _Making(figures, windows, tally)
    named = {f"m{n}": moderator for n, moderator in enumerate(tally.moderators, start=1)}
    series = [one for id_, moderator in named.items() for one in made.series(id_, moderator)]
    family = [question for question in made.questions if question.decided >= FEWEST]
    adjusted = figures.add("adjusted", "holm", p=[question.p for question in family])["adjusted"]
    by_figure = dict(zip([question.figure for question in family], adjusted, strict=True))
    explored = [one for one in made.explored if one.decided >= FEWEST]
    windowed = figures.add("windowsAdjusted", "benjamini_hochberg", p=[one.p for one in explored])["adjusted"]
    by_window = dict(zip([one.figure for one in explored], windowed, strict=True))
    counted = sum(tally.counts(moderator).debates for moderator in named.values())
    audit = ModeratorAudit(
        period=period,
        alpha=ALPHA,
        fewest=FEWEST,
        simulated=tally.simulated or any(one.simulated for one, _ in evaluations),
        read=Read(tally.debates, counted, {str(why): n for why, n in sorted(tally.left.items())}),
        moderators=tuple(_shown(id_, one, tally.counts(one)) for id_, one in named.items()),
        series=tuple(_with_adjusted(one, by_window) for one in series),
        family=tuple(by_figure),
        explored=tuple(by_window),
        findings=tuple(_finding(question, by_figure) for question in made.questions),
        figures=(*figures.all(), *(figure for _, figure in evaluations)),
        evaluations=tuple(one for one, _ in evaluations),
        sentences=(),
    )
    return replace(audit, sentences=sentences_of(audit))


class _Making:
    """The figures of series under way, with the questions that decide and those that explore."""

    def __init__(self, figures: Figures, windows: Sequence[Window], tally: Tally) -> None:
        self._figures, self._windows, self._tally = figures, windows, tally
        self.questions: list[Question] = []
        self.explored: list[Explored] = []

    def series(self, id_: str, moderator: Moderator) -> Iterator[Series]:
        """A moderator's series: over all task types where it has several, and of each."""
        types = self._tally.task_types(moderator)
        for task_type in (ALL, *types) if len(types) > 1 else types:
            yield self._one(id_, moderator, task_type)

    def _one(self, id_: str, moderator: Moderator, task_type: str) -> Series:
        of_type = None if task_type == ALL else task_type
        counts = self._tally.counts(moderator, of_type)
        place = f"{id_}/{task_type}"
        side, position = f"{SIDE}/{place}", f"{POSITION}/{place}"
        decided = counts.decided
        self.questions.append(
            Question(
                (id_, task_type, SIDE),
                side,
                self._side(side, counts)["p"],
                decided,
                lambda alpha: smallest_share(alpha, min(decided, POWERED)),
            )
        )
        pairs = _decided(counts)
        if counts.places:
            found = self._figures.add(position, "order_swaps", pairs=counts.pairs)
            self.questions.append(
                Question((id_, task_type, POSITION), position, found["p"], pairs, partial(fewest_same, n=pairs))
            )
        return Series(
            moderator=id_,
            task_type=task_type,
            debates=counts.debates,
            missing=counts.said[MISSING],
            side=side,
            position=position if counts.places else None,
            windows=tuple(
                self._window(place, window.name, self._tally.counts(moderator, of_type, window.name))
                for window in self._windows
            ),
        )

    def _window(self, place: str, name: str, counts: Counts) -> WindowShown:
        side, position = f"{SIDE}/{place}/{name}", f"{POSITION}/{place}/{name}"
        self.explored.append(Explored(side, self._side(side, counts)["p"], counts.decided))
        if counts.places:
            found = self._figures.add(position, "order_swaps", pairs=counts.pairs)
            self.explored.append(Explored(position, found["p"], _decided(counts)))
        return WindowShown(name, side, position if counts.places else None, None, None)

    def _side(self, id_: str, counts: Counts) -> Mapping[str, Any]:
        said = counts.said
        return self._figures.add(id_, "tilt", first=said[PROPOSER], second=said[CRITIC], ties=said[TIED])


def _decided(counts: Counts) -> int:
    """Pairs of orders in which both moderations favour a side."""
    return sum(times for pair, times in counts.places.items() if "none" not in pair)


def _with_adjusted(series: Series, adjusted: Mapping[str, float]) -> Series:
    windows = (
        replace(
            window,
            side_adjusted=adjusted.get(window.side),
            position_adjusted=adjusted.get(window.position) if window.position else None,
        )
        for window in series.windows
    )
    return replace(series, windows=tuple(windows))


def _finding(question: Question, adjusted: Mapping[str, float]) -> Finding:
    """What a question came to; the pull that it would have shown is that at the strictest step of the adjustment."""
    if question.decided < FEWEST:
        because: Because = "tooFewCases" if question.decided else "noCases"
        return Finding("pull", question.about, "notEnough", (question.figure,), (because,))
    ids = (question.figure, "adjusted")
    if adjusted[question.figure] <= ALPHA:
        return Finding("pull", question.about, "tilt", ids)
    return Finding("pull", question.about, "noneSeen", ids, ("pAboveAlpha",), question.visible(ALPHA / len(adjusted)))


def _shown(id_: str, moderator: Moderator, counts: Counts) -> ModeratorShown:
    version, _, sha256 = moderator.pin.partition(":")
    return ModeratorShown(
        id=id_,
        alias=moderator.alias,
        model=moderator.model,
        family=moderator.family,
        prompt=moderator.prompt,
        version=version,
        sha256=sha256,
        debates=counts.debates,
        missing=counts.said[MISSING],
    )
