"""The options of a debate, each from the request or from policy, within the limits that policy sets.

An option of another format is refused: if it were ignored, the caller would not notice.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from msgspec import NODEFAULT
from msgspec.structs import fields, replace

from service.debate.formats import name_of
from service.debate.labels import clashing
from service.debate.model import Debater, Options, Position
from service.debate.options import debaters_of, format_of
from service.errors import FAULTS_MAX, Faults, InvalidCase, did_you_mean
from service.intake.formats import COMMON, OPTIONS_OF, READINGS
from service.intake.formats.shared import Request
from service.intake.request import OptionsRequest
from service.intake.validation import check_text, key
from service.policy import AUTO, FORMAT_RULES, Policy
from service.prompts import Prompts


class Read(NamedTuple):
    """The options of a debate, and what was asked for. With a fault, both are without what is at fault."""

    options: Options
    asked: OptionsRequest


def resolve(request: Request, format_: str, policy: Policy, faults: Faults) -> Read:
    """The options of a format by its name, its faults noted. A panel's track records are added by who has them.

    Where an option is at fault, the others are read as if it had been left out, so that their faults are noted too.
    Raises `InvalidCase` where nothing can be read without it.
    """
    asked, name = request.options, name_of(format_)
    reading, stance = READINGS[name], "-" if FORMAT_RULES[name].assigned else ""
    with faults.noted():
        _refuse_foreign(request, format_)
    seen: Counter[str] = Counter()
    while True:
        try:
            return Read(reading.read(request, asked, policy), asked)
        except InvalidCase as refusal:
            pointer = next(iter(refusal.pointers), "")
            mended = _without(asked, pointer, seen[pointer], stance)
            if seen.total() == FAULTS_MAX or mended is None:
                raise
            if not seen[pointer]:
                faults.found.append(refusal)
            seen[pointer] += 1
            asked = mended


def _refuse_foreign(request: Request, format_: str) -> None:
    known = COMMON if request.format == AUTO else READINGS[name_of(format_)].options
    if foreign := [name for name in request.options.given if name not in known]:
        formats = [name for name, options in OPTIONS_OF.items() if foreign[0] in options]
        raise InvalidCase(
            f"{foreign[0]} belongs to {', '.join(formats)}, and this case asks for {request.format or format_}, which "
            f"knows: {', '.join(known)}; leave it out, or ask for another format",
            pointers=tuple(f"/options/{name}" for name in foreign),
        )


def _without(asked: OptionsRequest, pointer: str, times: int, stance: str) -> OptionsRequest | None:
    """The options without what stands at a pointer; ``None`` where that has been tried or there is no such option.

    A debater that is added here has ``stance``, so that no fault is found in what the caller never sent.
    """
    _, _, name, *inner = [*pointer.split("/"), "", ""]
    field = next((f for f in fields(OptionsRequest) if f.encode_name == name), None)
    if field is None or times > (name == "debaters"):
        return None
    given = getattr(asked, field.name)
    if isinstance(given, dict):
        kept = {seat: said for seat, said in given.items() if key(seat) != inner[0]}
        return replace(asked, **{field.name: kept})
    if isinstance(given, tuple) and inner[0].isdecimal():
        at = int(inner[0])
        plain = _plain(given[at], at, inner[1])
        return replace(asked, **{field.name: (*given[:at], plain, *given[at + 1 :])})
    if name != "debaters":
        usual = field.default if field.default_factory is NODEFAULT else field.default_factory()
        return replace(asked, **{field.name: usual})
    listed = given if isinstance(given, tuple) else ()
    two = (*listed, *(Debater(f"debater-{n}", stance=stance) for n in (1, 2)))[:2]
    if clashing([debater.name for debater in two]):
        two = tuple(replace(debater, name=f"debater-{n}") for n, debater in enumerate(two, start=1))
    return replace(asked, debaters=two if listed or times else None, consensus_threshold=None, models={})


def _plain(given: object, at: int, member: str) -> object:
    """An item of a list whose member is at fault, with another one in its place."""
    match given:
        case Debater() if member == "name":
            return replace(given, name=f"debater-{at + 1}")
        case Debater() if member == "stance":
            return replace(given, stance="" if given.stance.strip() else "-")
        case Debater():
            return replace(given, role=None, prompt=None)
        case Position():
            return Position(id=f"position-{at + 1}", text="-")
        case _:
            return f"option {at + 1}"


def known_prompts(options: Options, prompts: Prompts) -> None:
    """Refuse a prompt that is not among those which may stand in the place of a debater's own."""
    kind = READINGS[format_of(options)].replaceable
    if kind is None:
        return
    known, faults = prompts.alternatives(kind), Faults()
    for i, debater in enumerate(debaters_of(options)):
        with faults.noted():
            if debater.prompt is not None and debater.prompt not in known:
                advice = f"use one of: {', '.join(known)}" if known else "there is none to choose; leave it out"
                raise InvalidCase(
                    f"no pinned prompt {check_text(debater.prompt)} may stand in the place of {kind}; {advice}"
                    f"{did_you_mean(debater.prompt, known)}",
                    pointers=(f"/options/debaters/{i}/prompt",),
                )
    faults.refuse()
