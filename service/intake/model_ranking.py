"""In which order a panel's debaters are drawn: by how their models did on questions of this type, in the tenant's own
debates.

The scores of a few debates say little, so they are drawn towards the middle of the scale, the more the fewer there are;
a model without a record has the middle itself. Who is level keeps the order of policy's preference. Scores measure
conduct in debates (`service/checks/consensus/conduct.py`), not truth, so this is a way to begin and no ranking of
models.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from service.debate.options import TrackRecord
from service.debate.replies.panel import QuestionType

MIDDLE = 500
"""The middle of the scale, per mille."""


class Standing(Struct, frozen=True):
    """How a model did on questions of one type: in how many debates, and the number and sum of its scores in them.

    A debate gives four scores of 0 to 100, or three where nothing of its factual accuracy was checked.
    """

    question_type: QuestionType
    model: str
    debates: int
    scores: int
    points: int

    @property
    def mean(self) -> int:
        """The mean of its scores, per mille."""
        return self.points * 10 // self.scores


def track_records(
    pool: Sequence[str], standings: Iterable[Standing], question_type: QuestionType, weight: int
) -> tuple[TrackRecord, ...]:
    """The record of every model of a pool, in the pool's order.

    ``weight`` debates of its own count for a model as much as the middle does.
    """
    mine = {found.model: found for found in standings if found.question_type == question_type}
    return tuple(_record(alias, mine.get(alias), weight) for alias in pool)


def rank_models(records: Iterable[TrackRecord]) -> tuple[str, ...]:
    """The models from the best record to the worst, those that are level in the order in which they came."""
    return tuple(record.model for record in sorted(records, key=lambda record: -record.score))


def _record(alias: str, found: Standing | None, weight: int) -> TrackRecord:
    if found is None:
        return TrackRecord(alias, 0, MIDDLE)
    own = found.points * 10 * found.debates // found.scores  # as much as its mean in each of its debates
    return TrackRecord(alias, found.debates, (own + MIDDLE * weight) // (found.debates + weight))
