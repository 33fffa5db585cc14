"""Words that no report of an evaluation may hold, each with why. A test writes every report and looks for them.

The words of others that a report repeats (a plan's question, who labelled a set) are not searched: they are theirs.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Refused(NamedTuple):
    """An expression, in any case, and why no report may say it."""

    expression: str
    because: str


REFUSED: tuple[Refused, ...] = (
    Refused(r"\bcomplian(?:t|ce)\b", "an evaluation shows figures on a set, and nothing about a law"),
    Refused(r"\b(?:more|less|most|highly|is|are) accurate\b", "agreement with labels of a set is all that is measured"),
    Refused(r"\baccuracy\b", "agreement with labels of a set is all that is measured"),
    Refused(r"\bno bias(?:es)?\b|\bunbiased\b|\bbias-free\b|\bfree of bias\b", "what was not seen may be there"),
    Refused(r"\bneutral(?:ity)?\b|\bimpartial(?:ity)?\b", "no audit can show that"),
    Refused(r"\bno difference(?! was shown)\b", "none was shown is all that can be said"),
    Refused(r"\bas good as\b|\bequivalent\b|\bequally good\b|\bon a par\b", "a test of difference shows no equality"),
    Refused(
        r"\bprobabilit(?:y|ies)\b|\blikelihood\b", "a level of confidence is a word, and was never measured as one"
    ),
    Refused(r"\b(?:well )?calibrated\b", "no outcome enters an evaluation"),
    Refused(r"\bsignificant(?:ly)?\b", "readers take it for important"),
    Refused(r"\bprove[sn]?\b|\bguarantees?\b|\bcertainly\b|\bdefinitely\b", "figures on a set prove nothing beyond it"),
    Refused(
        r"\bfinds \d+(?:\.\d+)? ?%|\berrors in (?:general|practice)\b", "planted flaws are not the errors of documents"
    ),
    Refused(r"\b(?:superior|outperforms?|best|state of the art|world[- ]class)\b", "it is praise, and no figure"),
    Refused(r"\b(?:safe|trustworthy|reliable|robust)\b", "no figure of an evaluation means that"),
    Refused(r"\bhuman[- ]level\b|\blike an expert\b", "labels of experts are compared, and no expert is replaced"),
)


def refused_in(text: str) -> tuple[str, ...]:
    """Every refused expression that a text holds, as it stands there, with why; empty if it holds none."""
    return tuple(
        f"{found.group()!r}: {rule.because}"
        for rule in REFUSED
        for found in re.finditer(rule.expression, text, re.IGNORECASE)
    )
