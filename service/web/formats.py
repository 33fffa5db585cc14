"""The parts of OpenAPI's options that differ by format (`Bounds`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from service.debate.formats import FormatName, complete_formats
from service.debate.model import ROUND_CEILING
from service.policy.rules import ROUNDS_MAX

if TYPE_CHECKING:  # every process checks this table at its start, and not every one needs the web framework
    from service.web.operation import Schema

ONE_LINE: Schema = {"minLength": 1, "pattern": r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$"}
"""A text on one line that is not blank."""
_ARGUES: Schema = {"description": "The position that the debater argues to the end, on one line.", **ONE_LINE}
_OWN_STANCE: Schema = {
    "description": "Leave this empty: these debaters take their own stances.",
    "maxLength": 0,
}


class Bounds(NamedTuple):
    """The bounds of a format's options.

    ``rounds`` is the most that any policy allows. ``debaters`` are the shapes in which a request may give them: an
    array where they have names, a number where they have none. ``stance`` is the schema of a listed debater's stance.
    """

    rounds: int
    debaters: tuple[Literal["array", "integer"], ...]
    stance: Schema | None = None


BOUNDS: Mapping[FormatName, Bounds] = complete_formats(
    {
        "adversarial": Bounds(ROUND_CEILING, ()),
        "stances": Bounds(ROUNDS_MAX, ("array",), _ARGUES),
        "ballot": Bounds(ROUNDS_MAX, ("array",), _OWN_STANCE),
        "panel": Bounds(ROUNDS_MAX, ("integer",)),
        "convergence": Bounds(ROUNDS_MAX, ("array", "integer"), _OWN_STANCE),
    },
    "web",
    __file__,
)
