"""What becomes of a case's task type: it is known, a slip in writing a known one, or unknown.

spelling                                        outcome
a known type                                    known
a known type but for case or two letters        misspelled: an error that names the known type
another, and unknown_task_type is decline       declined: a record that names the known types
another, and unknown_task_type is refuse        refused: an error that names the known types
another, and unknown_task_type is as:TYPE       mapped: the case is reviewed as TYPE, and names both
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from service.errors import InvalidCase, slips
from service.policy.rules import AS, GatePolicy

DECLINE, REFUSE = "decline", "refuse"
CHARACTERS_MAX = 100
_SHOWN = 80

Outcome = Literal["known", "misspelled", "declined", "refused", "mapped"]
_POLICY: dict[str, Outcome] = {DECLINE: "declined", REFUSE: "refused"}


class TypeRead(NamedTuple):
    """The outcome, and the task type that a case has by it; of a slip, the type that was probably meant."""

    outcome: Outcome
    task_type: str


def read_type(asked: str, policy: GatePolicy) -> TypeRead:
    """What becomes of a task type as a caller wrote it."""
    if asked in policy.task_types:
        return TypeRead("known", asked)
    near = [(found, known) for known in policy.task_types if (found := slips(asked, known)) is not None]
    if near:
        return TypeRead("misspelled", min(near, key=lambda one: one[0])[1])
    if policy.unknown_task_type.startswith(AS):
        return TypeRead("mapped", policy.unknown_task_type.removeprefix(AS))
    return TypeRead(_POLICY[policy.unknown_task_type], asked)


def check_type(task_type: str, asked: str | None, policy: GatePolicy, *, forced: bool) -> None:
    """Refuse a task type by policy; ``asked`` is the caller's, where another was put in its place.

    Raises `InvalidCase` for a slip, for a refused type, for a pair that policy's mapping does not give, and for an
    unknown type that is ``forced`` into a debate.
    """
    written = task_type if asked is None else asked
    outcome, read = read_type(written, policy)
    known = ", ".join(policy.task_types)
    if not written.strip() or not written.isprintable() or len(written) > CHARACTERS_MAX:
        raise _wrong(f"taskType must be one line of 1 to {CHARACTERS_MAX} printable characters; use one of: {known}")
    if outcome == "misspelled":
        raise _wrong(f"unknown taskType {_shown(written)}; did you mean {read!r}? Policy knows: {known}")
    if outcome == "refused":
        raise _wrong(f"unknown taskType {_shown(written)}; use one of: {known}")
    if read != task_type or (outcome == "mapped") is (asked is None):
        raise _wrong(f"policy reads the taskType {_shown(written)} as {read!r}, found {_shown(task_type)}")
    if outcome == "declined" and forced:
        raise _wrong(f"a debate of the unknown taskType {_shown(written)} cannot be forced; use one of: {known}")


def _wrong(detail: str) -> InvalidCase:
    return InvalidCase(detail, pointers=("/taskType",))


def _shown(written: str) -> str:
    shown = repr(written)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
