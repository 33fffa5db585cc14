"""The register of shipped sets: id and version, the hash they were shipped with, and what each item was.

A set that was registered is never edited: a change is a new version, a wrong item is retired with a reason and stays,
and no id is used again. The register is extended and never changed.

    1  a registered version has its registered hash
    2  a new version is the next one: 1, or one more than the last
    3  every item of an earlier version is still there, with the same content
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from service.errors import InvalidCase
from service.evaluation.sets.form import SET_ID, Hash, Id
from service.evaluation.sets.golden_set import GoldenSet

FORM = "gainsay.register/1"


class Version(Struct, frozen=True, forbid_unknown_fields=True):
    """A version of a set as it was shipped; ``items`` has the hash of each item with its label, by id."""

    version: Annotated[int, Meta(ge=1)]
    hash: Hash
    items: dict[Id, Hash]


class Register(Struct, frozen=True, forbid_unknown_fields=True):
    """All versions of all shipped sets, by the id of the set, in the order of their numbers."""

    sets: dict[Annotated[str, Meta(pattern=SET_ID)], tuple[Version, ...]]
    form: str = FORM


class BadRegister(InvalidCase):
    """Shipped sets are not what was registered, or cannot be."""

    code = "bad_register"
    title = "The shipped sets are not those of their register"


def read_register(raw: bytes) -> Register:
    """The register of a file's bytes; raises `BadRegister`."""
    try:
        found = msgspec.json.decode(raw, type=Register)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadRegister(
            f"expected the register of golden sets, found other JSON: {error}; restore the file"
        ) from error
    numbers = {id: [one.version for one in versions] for id, versions in found.sets.items()}
    if wrong := [id for id, of in numbers.items() if of != list(range(1, len(of) + 1))]:
        raise BadRegister(
            f"expected the versions 1, 2, ... in order, found others of {', '.join(wrong)}; restore the file"
        )
    return found


def write_register(register: Register) -> bytes:
    """The bytes of a register: the same for the same register."""
    return msgspec.json.format(msgspec.json.encode(register, order="sorted"), indent=1) + b"\n"


def extended(register: Register, sets: Sequence[GoldenSet]) -> Register:
    """The register with every version that it does not have; raises `BadRegister` with all that is wrong."""
    if wrong := [words for golden in sets for words in _broken(register, golden)]:
        raise BadRegister("; ".join(wrong))
    whole = dict(register.sets)
    for golden in sets:
        versions = whole.get(golden.manifest.id, ())
        if golden.manifest.version > len(versions):
            whole[golden.manifest.id] = (*versions, _version(golden))
    return Register(whole)


def differences(register: Register, sets: Sequence[GoldenSet]) -> Iterator[str]:
    """How shipped sets differ from their register, a sentence each; none where all is as registered."""
    for golden in sets:
        yield from _broken(register, golden)
        if golden.manifest.version > len(register.sets.get(golden.manifest.id, ())):
            yield f"{_named(golden)} is not registered; run: gainsay evaluate sets register"
    for id in sorted(register.sets.keys() - {golden.manifest.id for golden in sets}):
        yield f"the set {id} is registered and not shipped; restore its folder"


def _broken(register: Register, golden: GoldenSet) -> Iterator[str]:
    versions = register.sets.get(golden.manifest.id, ())
    number = golden.manifest.version
    if number > len(versions) + 1:
        yield f"{_named(golden)} follows version {len(versions)}; expected version {len(versions) + 1}"
    elif number <= len(versions) and versions[number - 1].hash != golden.hash:
        yield f"{_named(golden)} was registered as {versions[number - 1].hash} and is {golden.hash}; raise its version"
    elif number < len(versions):
        yield f"{_named(golden)} is older than the registered version {len(versions)}; restore that one"
    now = _version(golden).items
    for version in versions[: number - 1]:
        yield from _unlike(golden, version, now)


def _unlike(golden: GoldenSet, version: Version, now: Mapping[str, str]) -> Iterator[str]:
    for id, hash_ in version.items.items():
        if id not in now:
            yield f"{_named(golden)} lacks {id} of version {version.version}; keep the item and retire it with a reason"
        elif now[id] != hash_:
            yield f"{_named(golden)} has {id} of version {version.version} with other content; retire it, take a new id"


def _named(golden: GoldenSet) -> str:
    return f"{golden.manifest.id} version {golden.manifest.version}"


def _version(golden: GoldenSet) -> Version:
    items = {item.id: _hash([item, golden.sealed[item.id]]) for item in golden.asked.items}
    return Version(golden.manifest.version, golden.hash, items)


def _hash(value: object) -> str:
    return sha256(msgspec.json.encode(value, order="sorted")).hexdigest()
