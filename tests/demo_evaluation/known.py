"""What is true of each plan in examples/evaluation, and which findings would say otherwise."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "evaluation"
POLICY = EXAMPLES / "policy.toml"
Finding = Mapping[str, Any]


class Known(NamedTuple):
    """A plan, the models whose faults it measures with the keys that matter, and what must be found.

    ``holds`` judges all findings of a result; ``words`` say what it asks for.
    """

    plan: str
    measured: Mapping[str, Sequence[str]]
    words: str
    holds: Callable[[Sequence[Finding]], bool]
    held: bool = False
    """Whether it asks held splits."""

    @property
    def file(self) -> Path:
        """The file of the plan."""
        return EXAMPLES / f"{self.plan}.toml"


def _outcomes(findings: Sequence[Finding], about: Sequence[str]) -> set[str]:
    return {str(one["outcome"]) for one in findings if list(one["about"])[: len(about)] == list(about)}


def _good(findings: Sequence[Finding]) -> bool:
    return all(_outcomes(findings, [arm]) == {"passes"} for arm in ("alone", "whole"))


def _always(findings: Sequence[Finding]) -> bool:
    return len(findings) > 1 and _outcomes(findings, ["alone"]) == {"stops"}


def _blind(findings: Sequence[Finding]) -> bool:
    spots = [one["about"] for one in findings if one["outcome"] == "blindSpot"]
    return spots == [["alone", "misreadFigure"]]


def _useless(findings: Sequence[Finding]) -> bool:
    return bool(findings) and not {one["outcome"] for one in findings} & {"better", "worse"}


def _helpful(findings: Sequence[Finding]) -> bool:
    judged = all(
        _outcomes(findings, [form, "vote"]) == {"better"} for form in ("adversarial", "panel", "convergence", "stances")
    )
    return judged and _outcomes(findings, ["ballot", "vote"]) == {"inconclusive"}


def _pulled(findings: Sequence[Finding]) -> bool:
    # Which side stands first is drawn from the plan's hash, so another pull is seen by chance in one of twenty builds.
    return _outcomes(findings, ["moderator", "position"]) == {"tilt"}


def _longer(findings: Sequence[Finding]) -> bool:
    return _tilts(findings) == [["moderator", "length"]]


def _even(findings: Sequence[Finding]) -> bool:
    return len(findings) == 5 and {one["outcome"] for one in findings} == {"noneSeen"}


def _tilts(findings: Sequence[Finding]) -> list[list[str]]:
    return [list(one["about"]) for one in findings if one["outcome"] == "tilt"]


_CRITIC = ("hits", "false_alarms")
_ANSWERS = ("accuracy", "mended")
_DRAFTS = dict.fromkeys(("alder-large", "birch-large"), ("accuracy",))
KNOWN: tuple[Known, ...] = (
    Known(
        "critic-good",
        {"birch-large": _CRITIC},
        "It passes in all five task types, alone and in a whole debate.",
        _good,
    ),
    Known("critic-always", {"birch-small": _CRITIC}, "It stops in all five task types.", _always),
    Known(
        "critic-blind", {"cedar-small": _CRITIC}, "misreadFigure is a blind spot, and no other family is one.", _blind
    ),
    Known(
        "lift-useless",
        {**_DRAFTS, "cedar-large": _ANSWERS},
        "No format is better or worse than a vote: its judge is no better than its debaters.",
        _useless,
    ),
    Known(
        "lift-helpful",
        {**_DRAFTS, "cedar-large": ("accuracy",), "cedar-small": _ANSWERS},
        "The four formats with a judge are better than a vote. A ballot has none, and no difference is shown.",
        _helpful,
    ),
    Known(
        "moderator-place",
        {"alder-small": ("first_slot_pull", "accuracy")},
        "A pull to the first place is seen. Another one is seen by chance, in one of twenty builds at most.",
        _pulled,
    ),
    Known(
        "moderator-longer",
        {"birch-small": ("length_pull", "accuracy")},
        "A pull to the longer side is seen, and no other one.",
        _longer,
        held=True,
    ),
    Known(
        "moderator-even",
        {"cedar-small": _ANSWERS},
        "No pull is seen, to place, side, length, confident wording or citations.",
        _even,
        held=True,
    ),
)


def faults() -> dict[str, dict[str, Any]]:
    """The tables of known faults of the policy, by model."""
    found: dict[str, dict[str, Any]] = tomllib.loads(POLICY.read_text("utf-8"))["providers"]["offline"]["faults"]
    return found


def truth(known: Known) -> list[str]:
    """What the policy says of the models that a plan measures, a line a model."""
    return [
        f"{model}: " + ", ".join(f"{key} = {_said(faults()[model][key])}" for key in keys if key in faults()[model])
        for model, keys in known.measured.items()
    ]


def _said(value: Any) -> str:
    return ", ".join(f"{name} {share}" for name, share in value.items()) if isinstance(value, dict) else str(value)
