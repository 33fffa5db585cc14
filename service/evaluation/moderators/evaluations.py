"""Audits of moderators on golden pairs that were concluded in a period, as rows beside the recorded debates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from service.evaluation.moderators.audit import ConcludedAudit
from service.evaluation.scoring.result import Figure, Result

_SEAT = "moderator: "


def concluded_audits(
    evaluation: str, concluded: str, window: str, result: Result, task_types: Sequence[str]
) -> Iterator[tuple[ConcludedAudit, Figure]]:
    """Each question of an evaluation about moderators, with the figure that decides it, under an id of its own.

    Other kinds of evaluations have none, and so has one that asked no set of these task types, if any are named.
    """
    if result.kind != "moderator" or (task_types and not {one.task_type for one in result.sets} & set(task_types)):
        return
    arms = {arm.name: arm for arm in result.arms}
    for finding in result.findings:
        name, aspect = finding.about
        figure = result.figure(finding.figures[0])
        figure = replace(figure, id=f"evaluation/{evaluation}/{figure.id}")
        yield (
            ConcludedAudit(
                evaluation=evaluation,
                name=result.plan_name,
                concluded=concluded,
                window=window,
                arm=name,
                moderators=tuple(m.removeprefix(_SEAT) for m in arms[name].models if m.startswith(_SEAT)),
                prompts=arms[name].prompts,
                standing=result.standing,
                simulated=result.simulated,
                aspect=aspect,
                outcome=finding.outcome,
                figure=figure.id,
            ),
            figure,
        )
