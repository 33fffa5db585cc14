"""The entries of an evaluation, as they are encoded into records that belong to no debate.

evaluation.registered  the whole plan, before the first call, or a changed plan afterwards
evaluation.proven      the signed checkpoint over the plan that was in hand before the first case
item.asked             a debate was opened for one item, in one arm, once more
item.scored            its debate ended, and came to this score
evaluation.stopped     nothing more is asked, and there is no result
evaluation.concluded   the result, by its hash

An entry names its evaluation and its number there, from 0 without gaps. Which entry may follow which is in
`service.evaluation.run.progress`. A plan and a score are JSON objects of forms of their own, which they name.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from service.audit.evaluation_rules import EvaluationRules

Uuid = Annotated[str, Meta(pattern="^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Number = Annotated[int, Meta(ge=0)]
Once = Annotated[int, Meta(ge=1)]
"""Which repeat of an item it is, from 1."""
Name = Annotated[str, Meta(min_length=1, max_length=80)]
Amount = Annotated[int, Meta(ge=0)]
"""Micro-dollars."""
PROOF_MAX = 1 << 16
"""The most characters of a proof: 63 hashes, and far more lines of signatures than any checkpoint has."""
StoppedBy = Literal["ceiling", "set", "person", "fault", "revoked"]
"""``ceiling``: what is left pays for no further item. ``set``: a golden set is gone, or is another one. ``person``: it
was stopped. ``fault``: an item could not be asked. ``revoked``: who registered it was revoked, or the key of that."""


class SetAsked(Struct, frozen=True, rename="camel", omit_defaults=True):
    """One split of a golden set, with the ids of its items. ``looks`` are the evaluations of this tenant that
    have looked at this split before or are under way with it, if it is ``held``."""

    id: Name
    version: Once
    sha256: Sha256
    split: Literal["open", "held"]
    items: tuple[Name, ...]
    looks: Number = 0


class ArmQuote(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What an arm would cost in micro-dollars: all of its debates as expected, and one of them at most."""

    arm: Name
    expected: Amount
    most: Amount


class EvaluationRegistered(
    Struct, frozen=True, rename="camel", tag="evaluation.registered", tag_field="kind", omit_defaults=True
):
    """A plan, as it was written before the first call; with an ``n`` above 0, as it was changed afterwards.

    ``plan_hash`` is SHA-256 of the plan's canonical JSON. ``rules`` are what policy decided of it at that time.
    """

    evaluation: Uuid
    n: Number
    plan: dict[str, Any]
    plan_hash: Sha256
    sets: tuple[SetAsked, ...]
    quote: tuple[ArmQuote, ...]
    rules: EvaluationRules


class EvaluationProven(
    Struct, frozen=True, rename="camel", tag="evaluation.proven", tag_field="kind", omit_defaults=True
):
    """A signed checkpoint covers the first registration, and was in hand before the first case was recorded.

    ``proof`` is the registration's proof of inclusion under it (C2SP tlog-proof), with the checkpoint and the
    cosignatures that it had then.
    """

    evaluation: Uuid
    n: Number
    proof: Annotated[str, Meta(min_length=1, max_length=PROOF_MAX)]


class ItemAsked(Struct, frozen=True, rename="camel", tag="item.asked", tag_field="kind", omit_defaults=True):
    """A debate was opened for an item, in an arm, for the ``repeat``-th time."""

    evaluation: Uuid
    n: Number
    set: Name
    item: Name
    arm: Name
    repeat: Once
    debate: Uuid


class ItemScored(Struct, frozen=True, rename="camel", tag="item.scored", tag_field="kind", omit_defaults=True):
    """The debate of an item ended. ``score`` is what it came to, also where it gave no answer."""

    evaluation: Uuid
    n: Number
    set: Name
    item: Name
    arm: Name
    repeat: Once
    debate: Uuid
    score: dict[str, Any]


class EvaluationStopped(
    Struct, frozen=True, rename="camel", tag="evaluation.stopped", tag_field="kind", omit_defaults=True
):
    """Nothing more is asked, and there is no result. ``why`` is a sentence."""

    evaluation: Uuid
    n: Number
    by: StoppedBy
    why: Annotated[str, Meta(min_length=1, max_length=2_000)]


class EvaluationConcluded(
    Struct, frozen=True, rename="camel", tag="evaluation.concluded", tag_field="kind", omit_defaults=True
):
    """Everything that was to be asked is scored. ``result`` is SHA-256 of the compared part of the result.

    ``exploratory``: by its plan, or because the plan was changed after the first score.
    """

    evaluation: Uuid
    n: Number
    result: Sha256
    finding: Name
    exploratory: bool


EvaluationEntry = (
    EvaluationRegistered | EvaluationProven | ItemAsked | ItemScored | EvaluationStopped | EvaluationConcluded
)


def is_last(entry: EvaluationEntry) -> bool:
    """Whether nothing of its evaluation follows an entry: a conclusion, or a stop because of a set."""
    return isinstance(entry, EvaluationConcluded) or (isinstance(entry, EvaluationStopped) and entry.by == "set")
