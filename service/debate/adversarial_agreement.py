"""Agreement in an adversarial debate where opposition was due: what its conclusions and critiques show.

Each seat's latest conclusion counts, up to the last moderation: in a debate that was cut short, the moderator closes on
the critique of the round before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from service.debate.findings import CritiqueFound
from service.debate.model import TurnId
from service.debate.replies import Conclusion, Critique, Moderation, Proposal, Rebuttal, Reply
from service.debate.script import Script
from service.debate.turns import round_of, seat_of, turn_id


def agreement(
    said: Mapping[TurnId, Reply],
    found: Mapping[TurnId, CritiqueFound],
    critiques: Collection[TurnId],
    final: TurnId | None,
    *,
    several: bool,
) -> dict[str, bool]:
    """The flags for agreement; ``critiques`` are the standing ones, ``final`` is the moderation that the debate gives.

    With ``several`` positions, conclusions are not compared: the seats conclude about different things.
    """
    critic = max(critiques, default=None, key=round_of)
    views = () if several or final is None or critic is None else _views(said, critic, final)
    same = len(views) == 3 and len(set(views)) == 1
    rebuttal = said.get(turn_id(round_of(critic), "rebuttal")) if critic else None
    all_same = same and isinstance(rebuttal, Rebuttal) and rebuttal.conclusion == views[0]
    return {
        "critiqueConcedes": any(found[turn].concedes for turn in critiques if turn in found),
        "critiqueNamesNothing": any("namesNothing" in found[turn].soft for turn in critiques if turn in found),
        "proposerRejects": any(isinstance(r, Proposal) and r.conclusion == "rejected" for r in said.values()),
        "sameConclusion": all_same,
        "criticAndModeratorAsProposer": same and not all_same,
    }


def _views(said: Mapping[TurnId, Reply], critic: TurnId, final: TurnId) -> tuple[Conclusion, ...]:
    """The conclusions of the latest proposer, the latest critic and the moderator; fewer if one is missing."""
    proposer = max((t for t in said if seat_of(t) == "proposer"), default=None, key=round_of)
    replies = [said.get(turn) for turn in (proposer, critic, final) if turn]
    return tuple(r.conclusion for r in replies if isinstance(r, Proposal | Critique | Moderation))


def first_conclusion(s: Script) -> Conclusion | None:
    """The first proposal's conclusion about the proposition, before any challenge."""
    first = s.facts.said.get(turn_id(1, "proposer"))
    return first.conclusion if isinstance(first, Proposal) else None
