"""The options of a ballot."""

from __future__ import annotations

from collections.abc import Sequence

from service.debate.ballot import ABSTENTION, ESCALATE
from service.debate.labels import clashing, read
from service.debate.model import BallotOptions
from service.debate.replies import Ballot
from service.errors import InvalidCase
from service.intake.formats.shared import (
    DEBATERS_MIN,
    SAID,
    WHOLE,
    Reading,
    Request,
    default,
    most,
    named,
    reviewed,
    screened,
    spoken,
    unassigned,
)
from service.intake.request import OptionsRequest, terms_of
from service.intake.validation import between, check_text
from service.policy import Policy


def _read(request: Request, asked: OptionsRequest, policy: Policy) -> BallotOptions:
    rules, drafts = policy.formats.ballot, terms_of(request).drafts
    debaters = named(asked, rules.debaters, rules.debaters_max, 1 if drafts else DEBATERS_MIN)
    unassigned("a ballot", debaters)
    needed = 1 if drafts else min(len(debaters), len(debaters) * rules.threshold_per_mille // WHOLE + 1)
    threshold = default(asked.consensus_threshold, needed)
    between("consensusThreshold", threshold, 1, 1 if drafts else len(debaters))
    return BallotOptions(
        debaters=debaters,
        max_rounds=most(asked, 1, 1) if drafts else most(asked, rules.rounds, rules.rounds_max),
        votes=_votes(rules.votes if asked.votes is None else asked.votes, rules.votes_max),
        consensus_threshold=threshold,
        human_review=reviewed(request, policy),
        instructions=spoken("instructions", asked.instructions),
        screened=screened(policy),
        drafts=drafts,
    )


def _votes(votes: Sequence[str], most: int) -> tuple[str, ...]:
    """The options that can be voted for, ``escalate`` always among them, in the caller's order."""
    spelled = tuple(read(vote, (ESCALATE,)) or vote for vote in votes)
    options = spelled if ESCALATE in spelled else (*spelled, ESCALATE)
    odd = next((i for i, vote in enumerate(options) if not vote.isprintable()), None)
    if odd is not None:
        raise InvalidCase("a vote is one line of printable characters", pointers=(f"/options/votes/{odd}",))
    if read(ABSTENTION, options) or clashing(options):
        raise InvalidCase(
            f"votes have to differ in more than case and punctuation, and none is {ABSTENTION!r}, which is what an "
            f"unreadable vote is counted as; found {check_text(list(votes))}",
            pointers=("/options/votes",),
        )
    if not DEBATERS_MIN <= len(options) <= most:
        raise InvalidCase(
            f"expected at least one option beside {ESCALATE!r} and at most {most} with it, found {len(options)}",
            pointers=("/options/votes",),
        )
    return options


READING = Reading(
    options=("debaters", "maxRounds", "votes", "consensusThreshold", "instructions", "models"),
    read=_read,
    replies={
        "ballot.debater": Ballot("-", (SAID,), ""),
    },
    draws=None,
    replaceable="ballot.debater",
)
