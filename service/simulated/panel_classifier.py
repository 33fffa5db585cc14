"""The panel's classifier: a simulated model uses the rules by which code types a question."""

from __future__ import annotations

from service.checks.question_type import CLASSIFICATION
from service.debate.replies import Classification
from service.simulated.framing import SIMULATED
from service.simulated.passage_choice import Desk


def classification(desk: Desk, limit: int) -> Classification:  # noqa: ARG001 - every seat takes a limit
    """The type of the question by its words, with the reason."""
    found = CLASSIFICATION(desk.reading.question)
    return Classification(found.question_type, f"By its words {found.because}. {SIMULATED}")
