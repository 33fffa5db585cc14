"""The records about moderators that tilt above policy's limit, in the tenant's log: a finding, and its resolution.

moderator.found     an audit of recorded debates found a tilt; from then on a person decides with this moderator
moderator.resolved  a person says why that is no longer needed
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Id = Annotated[str, Meta(pattern="^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Time = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z$")]
Count = Annotated[int, Meta(ge=0)]
Words = Annotated[str, Meta(min_length=1, max_length=2_000)]
Aspect = Literal["side", "position"]
PER_MILLE = 1_000


class ModeratorFound(
    Struct, frozen=True, kw_only=True, rename="camel", tag="moderator.found", tag_field="kind", omit_defaults=True
):
    """An audit found that a moderator tilts above policy's limit: a model under one version of its prompt.

    ``first`` and ``second`` are decided debates for the proposer and for the critic, or of the aspect ``position``
    conclusions for the first place and for the second one. Without ``task_type`` it is about all. ``limit`` is policy's
    share, per mille; ``audit`` is the SHA-256 of the audit as JSON.
    """

    finding: Id
    alias: str
    model: str
    prompt: str
    pin: str
    task_type: str | None = None
    aspect: Aspect
    first: Count
    second: Count
    limit: Annotated[int, Meta(ge=500, le=1_000)]
    since: Time
    until: Time
    audit: Hash

    def __post_init__(self) -> None:
        """Refuse a tilt that is not above its limit; `ValueError`."""
        if not above(self.first, self.second, self.limit):
            limit = self.limit / PER_MILLE
            raise ValueError(f"expected a tilt above {limit:g} of both, found {self.first} and {self.second}")


class ModeratorResolved(
    Struct, frozen=True, rename="camel", tag="moderator.resolved", tag_field="kind", omit_defaults=True
):
    """A person says why no person is asked for any more because of a finding; ``by`` and ``why`` are their words."""

    finding: Id
    by: Words
    why: Words


ModeratorEvent = ModeratorFound | ModeratorResolved


def above(first: int, second: int, limit: int) -> bool:
    """Whether the greater of two counts is more than ``limit`` per mille of both."""
    return max(first, second) * PER_MILLE > limit * (first + second)
