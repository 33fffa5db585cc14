"""What a result is concluded from, beside plan and scores: items joined with their labels, and the sets' provenance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from service.evaluation.sets.form import Basis, Split
from service.evaluation.sets.items import Item, ItemSet, QuestionItem
from service.evaluation.sets.labels import CriticLabel, Label, PairLabel

Key = tuple[str, str]
"""An item's place: the id of its set, and its own."""


class Case(Struct, frozen=True):
    """An item with what a result needs of it and of its label.

    ``pair`` is that of a critic's twins or of a moderator's crossed cases; ``answer`` the label's. ``family`` belongs
    to critics, ``feature`` and ``favours`` to moderators.
    """

    set_: str
    id: str
    task_type: str
    group: str
    answer: str
    basis: Basis
    pair: str = ""
    family: str = ""
    feature: str = ""
    favours: str = ""

    @property
    def key(self) -> Key:
        """The place by which cases are ordered, so that no order of reading enters a result."""
        return self.set_, self.id

    @property
    def flawed(self) -> bool:
        """Whether the label says that the proposal has a planted flaw."""
        return self.answer == "flawed"


class SetShown(Struct, frozen=True, rename="camel"):
    """A set as every report names it: which bytes, how many items, who labelled them and how, and its wear.

    ``published`` is a date or ``None``; ``look`` counts the scorings of this split, this one included; ``worn`` says
    that it was looked at too often to support a claim.
    """

    id: str
    version: int
    sha256: str
    split: str
    task_type: str
    items: int
    labelled_by: str
    provenance: str
    labelling: str
    basis: Basis
    licence: str
    published: str | None = None
    retired: int = 0
    look: int = 1
    worn: bool = False
    maybe_seen: tuple[str, ...] = ()
    """The aliases of the models that may have been trained on it."""
    unknown_cutoff: tuple[str, ...] = ()
    """Those of them of which policy does not say when their training ended."""


class Wear(Struct, frozen=True):
    """How often a split was looked at, this time included, and from which look on it supports no claim."""

    look: int = 1
    most: int = 10

    @property
    def worn(self) -> bool:
        """Whether this look supports no claim any more."""
        return self.look >= self.most


def cases_of(asked: ItemSet, labels: Mapping[str, Label], split: Split) -> tuple[Case, ...]:
    """The items of a split that are not retired, each with its label; raises `KeyError` for one without."""
    return tuple(_case(asked, item, labels[item.id]) for item in asked.active(split))


def _case(asked: ItemSet, item: Item, label: Label) -> Case:
    placed: dict[str, Any] = {
        "set_": asked.manifest.id,
        "id": item.id,
        "task_type": asked.manifest.task_type,
        "group": item.group,
        "answer": label.answer,
        "basis": label.basis,
    }
    if not isinstance(item, QuestionItem):
        placed["pair"] = item.pair
    if isinstance(label, CriticLabel):
        placed["family"] = label.family
    if isinstance(label, PairLabel):
        placed |= {"feature": label.feature, "favours": label.favours}
    return Case(**placed)


def shown_set(asked: ItemSet, split: Split, wear: Wear, cutoffs: Mapping[str, str | None]) -> SetShown:
    """A split as reports name it; ``cutoffs`` are the models' by alias, as ISO dates, ``None`` where unknown."""
    about = asked.manifest
    published = about.published.isoformat() if about.published else None
    maybe_seen = may_have_seen(published, cutoffs)
    return SetShown(
        id=about.id,
        version=about.version,
        sha256=asked.hash,
        split=split,
        task_type=about.task_type,
        items=len(asked.active(split)),
        labelled_by=about.labelled_by,
        provenance=about.provenance,
        labelling=about.labelling,
        basis=about.basis,
        licence=about.licence,
        published=published,
        retired=len(about.retired),
        look=wear.look,
        worn=split == "held" and wear.worn,
        maybe_seen=maybe_seen,
        unknown_cutoff=tuple(alias for alias in maybe_seen if cutoffs[alias] is None),
    )


def may_have_seen(published: str | None, cutoffs: Mapping[str, str | None]) -> tuple[str, ...]:
    """The models whose training may hold a published set: those cut off after its date, or at an unknown one.

    ``published`` and ``cutoffs`` (alias -> date) are ISO dates, which compare as text.
    """
    if published is None:
        return ()
    return tuple(sorted(alias for alias, cutoff in cutoffs.items() if cutoff is None or cutoff >= published))
