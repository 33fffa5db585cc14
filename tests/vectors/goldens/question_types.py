"""The types of questions: each alternative of each rule once, beside others of its kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from service.checks.question_type import CLASSIFICATIONS, Classified
from tests.vectors.goldens import CASES, Golden, file_of, lines

LONG = 4_000
"""Characters of a question that are read."""


def questions() -> list[str]:
    """The questions, with some in which only the length or the letters matter."""
    written = (CASES / "questions.txt").read_text().splitlines()
    ends = [f"{'x' * (LONG - n)} ought" for n in (5, 6, 7)]
    return [*written, *ends, "SHOULD   we\tsell?", "\uff33hould we sell?", "don\u2019t we deserve it?", ""]


def goldens() -> dict[str, Golden]:
    """A golden for every version."""
    return {
        file_of(name, "types"): Golden(name, partial(_made, name, rules)) for name, rules in CLASSIFICATIONS.items()
    }


def _made(name: str, rules: Callable[[str], Classified]) -> bytes:
    found = (rules(question) for question in questions())
    return lines(name, {1: ((one.question_type, one.because) for one in found)})
