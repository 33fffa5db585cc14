"""What ``metadata`` says of a case: the members of a case by their names, each as a text, and the case's own metadata.

    a name of `TAKEN`                        that member of the case
    a name of `ELSEWHERE`                    refused, with the place where it is said
    one of these in another spelling         refused, with the name that was meant: silently it would change the stake
    any other                                a key of the case's own metadata

What `metadata` leaves open is policy's [dropin]; without either the case is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from service.debate.amounts import usd
from service.errors import BadRequest, WrongShape, slips
from service.intake.decoding import decode
from service.intake.shape import escape
from service.policy import DropIn, Policy
from service.web.completions.errors import StakeMissing, UnsupportedParameter

TEXTS = (
    *("taskType", "estimatedDownside", "downsideBasis", "confidenceScore", "materiality", "useCase", "intendedUse"),
    *("costCeilingUSD", "deadline", "singleAgentAnswer"),
)
SWITCHES = ("contested", "reviewLastAnswer")
TAKEN = (*TEXTS, *SWITCHES, "options")
ELSEWHERE: Mapping[str, str] = {
    "question": "it is the last message",
    "documents": "they are the parts and messages beside the question",
    "format": "it is the model, as gainsay/adversarial",
    "force": "send the case to POST /v1/debates, whose force has a reason",
    "onDisconnect": "a debate of a chat request goes on without listeners, and the same request joins it again",
    "metadata": "send its keys beside the others",
}
_SLIP_FROM = 6
"""A shorter key of a caller's own is not compared with the names: it would be near too many."""
_SPOKEN = {"true": True, "false": False}


class Stake(NamedTuple):
    """The members of a case that ``metadata`` gives, by their names in JSON, and whether an answer is under review."""

    members: Mapping[str, Any]
    review_last_answer: bool


def read_stake(metadata: Mapping[str, str], format_: str, policy: Policy) -> Stake:
    """What metadata and policy say; raises `StakeMissing`, `UnsupportedParameter` and `WrongShape`."""
    found: dict[str, Any] = {"metadata": {}, "options": {"format": format_}}
    review = False
    for name, value in metadata.items():
        pointer = f"/metadata/{escape(name)}"
        if name in ELSEWHERE:
            raise UnsupportedParameter(f"metadata.{name} is not supported: {ELSEWHERE[name]}", pointers=(pointer,))
        if name in SWITCHES:
            switch = _switch(name, value)
            review = switch if name == "reviewLastAnswer" else review
            found |= {} if name == "reviewLastAnswer" else {name: switch}
        elif name == "options":
            found["options"] = _options(value, format_)
        elif name in TEXTS:
            found[name] = value
        elif meant := _meant(name):
            raise UnsupportedParameter(
                f"metadata has the unknown key {name[:80]!r}; did you mean {meant!r}? Call a key of your own otherwise",
                pointers=(pointer,),
            )
        else:
            found["metadata"][name] = value
    return Stake(_with_usual(found, policy), review)


def _with_usual(found: dict[str, Any], policy: Policy) -> dict[str, Any]:
    """The members with what policy has for those that are left out."""
    usual = policy.dropin if isinstance(policy.dropin, DropIn) else DropIn()
    if "taskType" not in found and usual.task_type is not None:
        found["taskType"] = usual.task_type
    if "estimatedDownside" not in found and usual.estimated_downside is not None:
        found["estimatedDownside"] = usd(usual.estimated_downside)
        if usual.downside_basis is not None:
            found.setdefault("downsideBasis", usual.downside_basis)
    lacking = [name for name in ("taskType", "estimatedDownside") if name not in found]
    if lacking:
        keys = {"taskType": "task_type", "estimatedDownside": "estimated_downside_usd"}
        raise StakeMissing(
            f"the case needs {' and '.join(lacking)}, found neither in metadata nor in policy; send "
            f'"metadata": {{{", ".join(f"{chr(34)}{name}{chr(34)}: ..." for name in lacking)}}}, or have the operator '
            f"set {' and '.join(keys[name] for name in lacking)} in [dropin] of the policy",
            pointers=tuple(f"/metadata/{name}" for name in lacking),
        )
    return found


def _switch(name: str, value: str) -> bool:
    if value not in _SPOKEN:
        raise WrongShape(f'expected the text "true" or "false", found {value[:40]!r}', pointers=(f"/metadata/{name}",))
    return _SPOKEN[value]


def _options(written: str, format_: str) -> dict[str, Any]:
    """The options of the format, from their JSON."""
    try:
        given = decode(written.encode(), dict[str, Any])
    except BadRequest as error:
        raise WrongShape(
            f"expected a text of JSON with the options of the format: {error.detail}", pointers=("/metadata/options",)
        ) from None
    except WrongShape as error:
        raise WrongShape(
            f"expected a JSON object with the options of the format: {error.detail}", pointers=("/metadata/options",)
        ) from None
    if given.get("format", format_) != format_:
        raise UnsupportedParameter(
            f"metadata.options has another format than the model, {format_}; leave it out of the options",
            pointers=("/metadata/options",),
        )
    return {**given, "format": format_}


def _meant(name: str) -> str | None:
    """The name that a key is another spelling or a slip of."""
    mine = _folded(name)
    known = {_folded(one): one for one in (*TAKEN, *ELSEWHERE)}
    if mine in known:
        return known[mine]
    if len(mine) < _SLIP_FROM:
        return None
    near = [(found, one) for folded, one in known.items() if (found := slips(mine, folded)) is not None]
    return min(near)[1] if near else None


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold()


def as_json(stake: Stake) -> bytes:
    """The members as a case in JSON, without its texts."""
    return msgspec.json.encode({**stake.members, "question": ""})
