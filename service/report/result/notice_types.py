"""The shape of notices and of checks, which stand beside the arguments."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from service.debate.model import CheckKind, TurnId

NoticeKind = Literal[
    "budgetRefused",
    "attemptFailed",
    "seatSilent",
    "stopped",
    "critiqueChecked",
    "documentsChecked",
    "neutralised",
    "synthesisCompared",
    "voicesChecked",
    "providerOverrun",
    "fallbackUsed",
    "servedModelDiffers",
    "selfNamed",
    "modelGuessed",
    "repairAsked",
    "chargedAsHeld",
    "usageBelowFloor",
    "partsLeftOut",
    "replyGiven",
]


class Notice(Struct, frozen=True, kw_only=True, rename="camel"):
    """A remark for the reader: entry number, time, kind, the turns concerned, and the words."""

    n: int
    """The number of the entry in the debate, from 0."""
    at: str
    """The time of the entry's record."""
    notice: NoticeKind
    """The kind of the remark."""
    turns: tuple[TurnId, ...]
    """The turns that it concerns."""
    reason: str
    """The code of the reason."""
    detail: str
    """The remark in words."""


class CheckDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """A check: its id, kind and engine version, its entry's number, and its finding in few words."""

    check: str
    """The id of the check: what was checked, and the kind."""
    kind: CheckKind
    """The kind of the check."""
    engine: str
    n: int
    """The number of its entry in the debate, from 0."""
    summary: str
    """The finding in few words."""
