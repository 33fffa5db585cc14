"""What policy has to know of each format: a row of `FORMAT_RULES`.

The command line and OpenAPI read from the same rows whether a format assigns stances.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from service.debate import adversarial
from service.debate.formats import FormatName, complete_formats
from service.debate.kernel import CURRENT
from service.policy.rules import DebatePolicy, FormatsPolicy

FORMATS: Mapping[FormatName, str] = {name: form.FORMAT for name, form in CURRENT.items()}
"""The formats that a case may name, each with the version that new debates get."""


class UsualSize(NamedTuple):
    """How many rounds and debaters a case has that names neither, and the most that a case may ask for.

    ``debaters`` is ``None`` where the caller has to name the debaters.
    """

    rounds: int
    rounds_max: int
    debaters: int | None
    debaters_max: int


class FormatRules(NamedTuple):
    """A format as policy knows it.

    ``needs`` are the seats without which it cannot be played, as policy plays it. ``size`` is the usual size by the
    format's own table in [formats], ``None`` for a format without one. ``assigned`` is true where the caller must
    assign a stance to each debater: policy cannot choose such a format for a case. ``undocumented`` says whether it
    takes a case without documents.
    """

    needs: Callable[[FormatsPolicy], tuple[str, ...]]
    size: Callable[[FormatsPolicy], UsualSize] | None
    assigned: bool
    undocumented: Callable[[DebatePolicy], bool] = lambda _: True


def _stances_needs(rules: FormatsPolicy) -> tuple[str, ...]:
    return ("debater", "judge", *(["synthesizer"] if rules.stances.synthesizer else []))


def _stances_size(rules: FormatsPolicy) -> UsualSize:
    own = rules.stances
    return UsualSize(own.rounds, own.rounds_max, None, own.debaters_max)


def _ballot_size(rules: FormatsPolicy) -> UsualSize:
    own = rules.ballot
    return UsualSize(own.rounds, own.rounds_max, own.debaters, own.debaters_max)


def _panel_needs(rules: FormatsPolicy) -> tuple[str, ...]:
    adjudicator = ["adjudicator"] if rules.panel.adjudicator == "model" else []
    classifier = ["classifier"] if rules.panel.classifier == "model" else []
    return ("debater", "synthesizer", *adjudicator, *classifier)


def _panel_size(rules: FormatsPolicy) -> UsualSize:
    own = rules.panel
    return UsualSize(own.rounds, own.rounds_max, own.debaters, own.debaters_max)


def _convergence_needs(rules: FormatsPolicy) -> tuple[str, ...]:
    return ("debater", *(["judge"] if rules.convergence.judge else []))


def _convergence_size(rules: FormatsPolicy) -> UsualSize:
    own = rules.convergence
    return UsualSize(own.rounds, own.rounds_max, own.debaters, own.debaters_max)


FORMAT_RULES: Mapping[FormatName, FormatRules] = complete_formats(
    {
        "adversarial": FormatRules(
            needs=lambda _: adversarial.SEATS,
            size=None,
            assigned=False,
            undocumented=lambda debate: debate.adversarial_without_documents,
        ),
        "stances": FormatRules(needs=_stances_needs, size=_stances_size, assigned=True),
        "ballot": FormatRules(needs=lambda _: ("debater",), size=_ballot_size, assigned=False),
        "panel": FormatRules(needs=_panel_needs, size=_panel_size, assigned=False),
        "convergence": FormatRules(needs=_convergence_needs, size=_convergence_size, assigned=False),
    },
    "policy",
    __file__,
)
