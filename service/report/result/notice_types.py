"""The shape of what a reader has to know of beside the arguments: notices, and the checks that code made."""

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
    "providerOverrun",
    "fallbackUsed",
    "servedModelDiffers",
    "repairAsked",
    "chargedAsHeld",
]


class Notice(Struct, frozen=True, kw_only=True, rename="camel"):
    """Something that a reader has to know of: entry number, time, what it is, the turns it is about, in words."""

    n: int
    at: str
    notice: NoticeKind
    turns: tuple[TurnId, ...]
    reason: str
    detail: str


class CheckDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """A check of code's own: its id, kind and engine version, its entry's number, and what it found in few words."""

    check: str
    kind: CheckKind
    engine: str
    n: int
    summary: str
