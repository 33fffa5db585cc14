"""The errors of evaluations, in words for their pages."""

from __future__ import annotations

from service.evaluation.plan.tables import InvalidPlan
from service.reviews.evaluations import NotConcluded
from service.web.problem_text import ProblemText

EVALUATION_PROBLEMS = (
    ProblemText(
        InvalidPlan(
            "line 10: plan.repeats: expected an odd number, so that a majority of repeats decides, found 2",
            pointers=("/plan/plan/repeats",),
        ),
        "The plan cannot be registered as it is. Nothing was recorded, and no model is called.",
        (
            "Correct every fault in errors: each names its line, and its pointer goes on from plan into the file.",
            "docs/evaluation.md lists the keys of a plan; GET /v1/evaluation-sets shows the sets and their hashes.",
        ),
        "corrected",
        "/v1/evaluations",
    ),
    ProblemText(
        NotConcluded("the evaluation is under way and has no result yet; follow its events, or GET it, until it ends"),
        "A report needs a result, a bundle a proven end: the evaluation is under way, or it ended without a result.",
        ("GET the evaluation: status says whether it runs, and stopped what ended it.",),
        "unchanged",
        "/v1/evaluations/01920000-0000-7000-8000-000000000000/report",
    ),
)
