"""Compare what the texts of a reply quote with all that its seat was shown. Pure, and bounded in steps.

    texts of a reply   every text that people read (`service.debate.replies.texts`)
    passages           words in quotation marks, and clauses that a text says to state something
    compare            with the documents by the citation engine, then with the replies, the question, the caller's
                       texts

`COMPARISONS` has every version that a recorded finding may name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from service.checks.texts.compare import ENGINE, compare
from service.checks.texts.shown import Shown
from service.debate.findings import TextsFound

Comparison = Callable[[Shown, Mapping[str, str]], TextsFound]
"""Compares a reply with what its seat was shown; the documents' texts come by id."""

COMPARISONS: Mapping[str, Comparison] = {ENGINE: compare}

__all__ = ["COMPARISONS", "ENGINE", "Comparison", "Shown", "compare"]
