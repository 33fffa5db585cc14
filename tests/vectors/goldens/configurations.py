"""What an approval is of, and the hash of the price table: of the shipped policy, and of models in another order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from service.policy import FORMS, decode_policy, encode_configuration, price_hash
from tests.vectors.goldens import Golden, file_of, lines
from tests.vectors.goldens.texts import every_key

PIN = "ab" * 32


def configurations(version: str) -> Iterator[object]:
    """The bytes, as text, with the hash of the prices."""
    written = FORMS[version].encode(every_key())
    policy = decode_policy(written, version)
    (model,) = policy.models.values()
    models = {alias: replace(model, alias=alias, overhead_tokens=n) for n, alias in enumerate(("b", "a"))}
    dearer = {alias: replace(one, prices=one.prices * 2) if alias == "b" else one for alias, one in models.items()}
    for found in (models, dearer, dict(reversed(dearer.items()))):
        other = replace(policy, models=found)
        yield encode_configuration(other, PIN, version).decode(), price_hash(other, version)


def goldens() -> dict[str, Golden]:
    """A golden for every version."""
    return {file_of(name, "configuration"): Golden(name, partial(_made, name)) for name in FORMS}


def _made(name: str) -> bytes:
    return lines(name, {1: configurations(name)})
