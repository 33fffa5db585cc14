"""What OpenAPI says differently of each format's options (`Bounds`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from service.debate.formats import FormatName, complete_formats
from service.debate.model import ROUND_CEILING
from service.policy.rules import ROUNDS_MAX
from service.web.operation import Schema

_ARGUES: Schema = {"description": "The position that it argues to the end, in one line.", "minLength": 1}
_OWN_STANCE: Schema = {"description": "Nothing: debaters of a ballot take their own stances.", "maxLength": 0}


class Bounds(NamedTuple):
    """The bounds of a format's options.

    ``rounds`` are the most that any policy allows. ``debaters`` says in which shape they are given: an array where they
    have names, else a number, or not at all. ``stance`` is that of a listed debater, and ``assigned`` where the caller
    has to name the debaters with it.
    """

    rounds: int
    debaters: Literal["array", "integer", "none"]
    stance: Schema | None = None
    assigned: bool = False


BOUNDS: Mapping[FormatName, Bounds] = complete_formats(
    {
        "adversarial": Bounds(ROUND_CEILING, "none"),
        "stances": Bounds(ROUNDS_MAX, "array", _ARGUES, assigned=True),
        "ballot": Bounds(ROUNDS_MAX, "array", _OWN_STANCE),
        "panel": Bounds(ROUNDS_MAX, "integer"),
        "convergence": Bounds(ROUNDS_MAX, "integer"),
    },
    "web",
    __file__,
)
