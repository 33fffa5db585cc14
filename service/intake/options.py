"""The options of a debate, each from the request or from policy, within the limits that policy sets.

An option of another format is refused: if it were ignored, the caller would not notice.
"""

from __future__ import annotations

from service.debate.formats import name_of
from service.debate.model import Options
from service.debate.options import debaters_of, format_of
from service.errors import InvalidCase
from service.intake.formats import OPTIONS_OF, READINGS
from service.intake.formats.shared import Request
from service.intake.validation import check_text
from service.policy import AUTO, Policy
from service.prompts import Prompts


def resolve(request: Request, format_: str, policy: Policy) -> Options:
    """The options of a format by its name; raises `InvalidCase`. A panel's track records are added by who has them."""
    asked, reading = request.options, READINGS[name_of(format_)]
    if foreign := [name for name in asked.given if name not in reading.options]:
        formats = [name for name, options in OPTIONS_OF.items() if foreign[0] in options]
        auto = f" by the task type {check_text(request.task_type)}" if request.format == AUTO else ""
        raise InvalidCase(
            f"{foreign[0]} is an option of {', '.join(formats)}, and this debate is {format_}{auto}, which knows: "
            f"{', '.join(reading.options)}; leave it out, or ask for another format",
            pointers=tuple(f"/options/{name}" for name in foreign),
        )
    return reading.read(request, asked, policy)


def known_prompts(options: Options, prompts: Prompts) -> None:
    """Refuse a prompt that is not among those which may stand in the place of a debater's own."""
    kind = READINGS[format_of(options)].replaceable
    if kind is None:
        return
    known = prompts.alternatives(kind)
    for i, debater in enumerate(debaters_of(options)):
        if debater.prompt is not None and debater.prompt not in known:
            advice = f"use one of: {', '.join(known)}" if known else "there is none to choose; leave it out"
            raise InvalidCase(
                f"no pinned prompt {check_text(debater.prompt)} may stand in the place of {kind}; {advice}",
                pointers=(f"/options/debaters/{i}/prompt",),
            )
