"""The names of models at the drop-in door: ``gainsay/`` and a format, or ``gainsay/auto``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from service.errors import did_you_mean
from service.policy import AUTO, FORMATS, Policy
from service.web.completions.errors import ModelNotFound

OWNER: Literal["gainsay"] = "gainsay"
PREFIX = f"{OWNER}/"
SINCE = 1_795_564_800
"""From when formats have these names: 25 November 2026, in seconds since 1970."""


class ChatModel(Struct, frozen=True, kw_only=True):
    """A format as OpenAI's clients list a model."""

    id: str
    """`gainsay/` and the format, or `gainsay/auto`."""
    object: Literal["model"] = "model"
    """Always `model`."""
    created: int = SINCE
    """From when formats have these names, in seconds since 1970."""
    owned_by: Literal["gainsay"] = OWNER
    """Always `gainsay`."""


def chat_models(policy: Policy) -> tuple[ChatModel, ...]:
    """The formats that a case may name under a policy, and the choice of policy among them."""
    return tuple(ChatModel(id=name) for name in _names(policy))


def format_of(model: str, policy: Policy) -> str:
    """The format of a model's name, or ``auto``; raises `ModelNotFound`."""
    name = model.removeprefix(PREFIX)
    known = _names(policy)
    if model in known:
        return name
    if model.startswith(PREFIX) and name in tuple(FORMATS):
        seats = ", ".join(policy.missing(name))
        raise ModelNotFound(
            f"the model {model} cannot be used here: policy fills no seat {seats}; use one of {', '.join(known)}",
            pointers=("/model",),
        )
    raise ModelNotFound(
        f"there is no model {model[:80]!r}; a model is a format, one of {', '.join(known)}{_meant(model, known)}",
        pointers=("/model",),
    )


def _meant(model: str, known: Iterable[str]) -> str:
    """The name that was probably meant, also where the owner is left out."""
    return did_you_mean(model if "/" in model else f"{PREFIX}{model}", known)


def _names(policy: Policy) -> tuple[str, ...]:
    return tuple(f"{PREFIX}{name}" for name in (AUTO, *policy.offered))
