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
]


class Notice(Struct, frozen=True, kw_only=True, rename="camel"):
    """A remark for the reader: entry number, time, kind, the turns concerned, and the words."""

    n: int
    at: str
    notice: NoticeKind
    turns: tuple[TurnId, ...]
    reason: str
    detail: str


class CheckDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """A check: its id, kind and engine version, its entry's number, and its finding in few words."""

    check: str
    kind: CheckKind
    engine: str
    n: int
    summary: str
