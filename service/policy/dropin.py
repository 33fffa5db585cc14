"""What a chat request has where it says nothing: the table [dropin]."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from service.debate.amounts import MicroUSD
from service.policy.keys import dollars


class DropIn(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The stake of a case that came by ``POST /v1/chat/completions`` and names none in its metadata."""

    task_type: str | None = None
    """The task type. Absent where each chat request has to name one."""
    estimated_downside: Annotated[MicroUSD | None, dollars("estimated_downside_usd")] = None
    """US dollars that a wrong answer may cost. Absent where each chat request has to name them."""
    downside_basis: str | None = None
    """How this downside was estimated, for the record."""
