"""The words for the outcomes of decisions, and for what decided."""

from __future__ import annotations

from collections.abc import Mapping

OUTCOMES: Mapping[str, str] = {
    "upheld": "Upheld",
    "modified": "Modified",
    "rejected": "Rejected",
    "chosen": "Chosen",
    "ranked": "Ranked",
    "agreed": "Agreed",
    "split": "Split",
    "escalated": "Escalated to a person",
    "undecided": "Undecided",
    "declined": "No debate",
    "none": "No decision",
}
"""The outcomes of decisions, over all formats."""

DECIDERS: Mapping[str, str] = {
    "gate": "the gate",
    "moderator": "the moderator",
    "judge": "the judge",
    "vote": "a count of votes",
    "tieRule": "the rule for level answers",
    "agreement": "agreement as code measured it",
    "adjudicator": "agreement as the adjudicator scored it",
    "synthesizer": "the synthesizer",
    "endorsements": "a count of the debaters that name each idea",
}
"""What decided."""
RULE_OF_VOTES: Mapping[str, str] = {
    "threshold_vote": "it had the votes that were needed, and more of them than any other option",
    "max_rounds_exhausted": "the rounds were used up and no option led with the votes that were needed",
    "cut_short": "the ballot was cut short, so nothing was decided by it",
}
RULE_OF_SPEAKERS: Mapping[str, str] = {
    "schedule": "a schedule in code: in each phase every debater, in declared order; no model chose who spoke",
}
