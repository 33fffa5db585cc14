"""Providers: the wire behind a vendor's name, and the settings of each wire: [providers]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from msgspec import Struct

from service.debate.wires import Wire, complete_wires
from service.policy.keys import whole
from service.policy.known_faults import ModelFaults, faults_by_model


class ProviderSetting(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The wire behind a provider's name.

    offline, scripted    ``script`` and ``latency_ms`` are theirs alone, ``faults`` an offline one's
    openai-compatible    POST ``base_url`` + ``path`` with ``query`` (Azure: ``api-version``) and ``headers``
    anthropic            the same; ``path`` is ``/v1/messages`` unless the policy names another

    ``proxy`` is the address of an HTTP proxy that calls go through; no variable of the environment chooses one.

    Secrets are named, never written here: ``key`` and the values of ``secret_headers`` are ``env:NAME`` or
    ``file:PATH``. ``auth`` is the header that carries the key. ``structured`` is how the reply schema goes out:
    ``auto`` begins with the vendor's own way and steps down where a server answers that it lacks it. ``seat_role`` is
    the role of the last message, the strongest that the server allows there, and ``messages`` whether what follows the
    first goes as messages or, for servers that want roles to alternate, as the parts of one. ``reasoning`` says
    whether the server's completion tokens include reasoning tokens if its own totals do not show it.
    """

    kind: Wire
    script: str | None = None
    latency_ms: Annotated[int, whole(0, 600_000)] = 0
    faults: Annotated[dict[str, ModelFaults], faults_by_model()] = {}
    base_url: str | None = None
    path: str | None = None
    query: dict[str, str] = {}
    proxy: str | None = None
    headers: dict[str, str] = {}
    secret_headers: dict[str, str] = {}
    key: str | None = None
    auth: Literal["bearer", "api-key", "x-api-key", "none"] | None = None
    structured: Literal["auto", "json_schema", "tool", "json_object", "text"] = "auto"
    strict_schema: bool = True
    seat_role: Literal["developer", "system", "user"] | None = None
    messages: Literal["apart", "together"] = "apart"
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    reasoning: Literal["inside", "outside"] = "inside"
    connect_timeout_s: Annotated[int, whole(1, 120)] = 10
    call_timeout_s: Annotated[int, whole(1, 3_600)] = 180
    breaker_failures: Annotated[int, whole(1, 1_000)] = 5
    breaker_pause_s: Annotated[int, whole(1, 3_600)] = 30


class WireRules(NamedTuple):
    """What the policy file may say of a provider with a wire, and of its models.

    path            joined to ``base_url`` where the file gives no ``path``, as the adapter has it; ``None``: simulated
    keys            the keys of [providers] that the wire has a place for
    structured      the ways in which the reply's schema can go out
    own_tokenizer   whether a tokenizer of the catalogue counts as the vendor does; if not, models need a ``safety``
    output_config   whether models may have the parameter ``output_config``
    """

    path: str | None
    keys: tuple[str, ...]
    structured: tuple[str, ...] = ("auto", "json_schema", "tool", "json_object", "text")
    own_tokenizer: bool = True
    output_config: bool = False


_SIMULATED = ("kind", "script", "latency_ms")
_OPENAI_ALONE = ("seat_role", "messages", "max_tokens_field", "reasoning")
_REACHED = tuple(key for key in ProviderSetting.__struct_fields__ if key not in ("script", "latency_ms", "faults"))

RULES: Mapping[Wire, WireRules] = complete_wires(
    {
        "offline": WireRules(None, (*_SIMULATED, "faults")),
        "scripted": WireRules(None, _SIMULATED),
        "openai-compatible": WireRules("/chat/completions", _REACHED),
        "anthropic": WireRules(
            "/v1/messages",
            tuple(key for key in _REACHED if key not in _OPENAI_ALONE),
            structured=("auto", "json_schema", "tool", "text"),
            own_tokenizer=False,
            output_config=True,
        ),
    },
    "policy",
    __file__,
)
SIMULATED = tuple(wire for wire, rules in RULES.items() if rules.path is None)
"""Wires of models that answer in this process."""
