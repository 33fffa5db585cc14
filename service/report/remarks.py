"""Sentences of a report about debates between debaters: what agreement and a common wording show."""

from __future__ import annotations

AGREEMENT = (
    "Agreement among models does not show that an answer is right. Models of one family share errors, and debaters who "
    "read each other give way to each other; what agreement there was before they did is the stronger sign."
)
BLIND = "First drafts: nobody had seen what any other debater said."
EXCHANGED = "Said after the debaters had read each other."
OVERLAP = (
    "Word overlap is the share of words that the arguments of two debaters have in common, of those in either, without "
    "the words of the question. It is no agreement: answers that differ, or arguments of which one negates what the "
    "other does not, never converge, however many words they share."
)
