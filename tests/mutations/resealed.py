"""Edits of a bundle by a holder of the log's key, who makes every hash above them right again.

members    another value of one member of a payload, an envelope or the context; a member or an item left out or doubled
policy     another value of a key of the policy, with its hash wherever it stands
texts      other words in a document, its title, a prompt or the approval
salts      another salt, and what is committed with it
order      a record left out, doubled, or in another's place

Then leaves, chain, seed, commitments, the tree and its head are made again, and the report is told anew. A member is
named by its path, without the places in lists: ``turn.spoke.reply(moderator).synthesis``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from random import Random
from typing import Any, NamedTuple

import msgspec

from service.audit.record import commit, leaf_hash
from service.policy import decode_policy, encode_configuration, encode_policy, price_hash
from service.verify.steps import Tools, Trust, VerificationReport
from tests.fixtures.bundles import Draft, sha, told, verify

STARTED = 2
WORDS = "The board agrees."
_HEX = re.compile(r"[0-9a-f]{8,}")
_encoder = msgspec.json.Encoder(order="sorted")
Path = tuple[str | int, ...]


class Sealed(NamedTuple):
    """What a forger has sealed again: the member that differs, what was done, and the draft."""

    member: str
    what: str
    draft: Draft


class Place(NamedTuple):
    """A place in a JSON value: where that value stands, the way to the place, and its name."""

    where: str
    n: int
    path: Path
    name: str


def places(draft: Draft) -> list[Place]:
    """Every place of the payloads, the envelopes, the context and the policy."""
    found: list[Place] = []
    for n, leaf in enumerate(draft.leaves):
        entry = draft.entry(n)
        found += [Place("payload", n, path, _named(entry["kind"], path, entry)) for path in _paths(entry)]
        envelope = msgspec.json.decode(leaf)
        own = [path for path in _paths(envelope) if path[0] not in ("n", "prev", "commitment", "kind")]
        found += [Place("leaf", n, path, _named("leaf", path)) for path in own]
    context, rules = msgspec.json.decode(draft.context[1]), msgspec.json.decode(draft.policy)
    found += [Place("context", 0, path, _named("context", path)) for path in _paths(context)]
    return found + [Place("policy", 0, path, _named("policy.json", path[:2])) for path in _paths(rules)]


def member(draft: Draft, place: Place, pool: Mapping[str, list[Any]], random: Random) -> Sealed | None:
    """One place with another value; ``None`` where nothing else can stand there."""
    whole = _whole(draft, place)
    holder = whole
    for step in place.path[:-1]:
        holder = holder[step]
    key: Any = place.path[-1]
    before = holder[key]
    options = _others(before, [value for value in pool.get(place.name, []) if value != before], random)
    if isinstance(holder, dict):
        options.append(_LEFT_OUT)
    after = random.choice(options)
    if after is _LEFT_OUT:
        del holder[key]
    else:
        holder[key] = after
    said = "left out" if after is _LEFT_OUT else f"{_short(before)} to {_short(after)}"
    with suppress(Exception):  # what no type can hold stays as it was written
        return Sealed(place.name, f"{place.where} {place.n} {place.name}: {said}", _sealed(draft, place, whole))
    return None


_LEFT_OUT = object()


def pool_of(drafts: Mapping[str, Draft]) -> dict[str, list[Any]]:
    """The values of each member in all drafts: what may really stand there."""
    pool: dict[str, list[Any]] = {}
    for draft in drafts.values():
        for place in places(draft):
            value = _whole(draft, place)
            for step in place.path:
                value = value[step]
            pool.setdefault(place.name, []).append(value)
    return pool


def forged(sealed: Sealed, trust: Trust, own: Tools) -> VerificationReport:
    """What is found of it, with the report that its records lead to."""
    draft = sealed.draft
    tree = draft.tree(witnesses=())
    with suppress(Exception):  # of records that nothing can be told of the report stays as it was
        draft = told(draft, tree)
    return verify(draft.bundle(tree), trust, own)


def _whole(draft: Draft, place: Place) -> Any:
    match place.where:
        case "payload":
            return draft.entry(place.n)
        case "leaf":
            return msgspec.json.decode(draft.leaves[place.n])
        case "context":
            return msgspec.json.decode(draft.context[1])
        case _:
            return msgspec.json.decode(draft.policy)


def _sealed(draft: Draft, place: Place, whole: Any) -> Draft:
    """The draft with this value in its place, and all hashes over it made right again."""
    changed = draft.copy()
    match place.where:
        case "payload":
            changed.payloads[place.n] = _encoder.encode(whole)
            return seeded(changed.reseal())
        case "leaf":
            return seeded(changed.reseal(lambda n, envelope: _put(envelope, whole) if n == place.n else None))
        case "context":
            changed.context = (draft.context[0], msgspec.json.encode(whole))
            digest = commit(*changed.context)
            return seeded(changed.reseal(lambda _, envelope: envelope.update(context=digest)))
        case _:
            return with_policy(draft, msgspec.json.encode(whole))


def _put(envelope: dict[str, Any], edited: dict[str, Any]) -> None:
    kept = {name: envelope[name] for name in ("n", "prev", "commitment", "kind")}
    envelope.clear()
    envelope.update({**edited, **kept})


def seeded(draft: Draft) -> Draft:
    """The draft with the seed that its first record gives."""
    if len(draft.payloads) <= STARTED or draft.entry(STARTED)["kind"] != "debate.started":
        return draft
    seed = leaf_hash(draft.leaves[0]).hex()
    if draft.entry(STARTED)["seed"] == seed:
        return draft
    return draft.change(STARTED, lambda entry: entry.update(seed=seed))


def with_policy(draft: Draft, policy: bytes) -> Draft:
    """The draft under another policy, with every hash of it made right again."""
    changed, rules = draft.copy(), decode_policy(policy)
    changed.policy = encode_policy(rules)
    digest = sha(changed.policy)
    changed = changed.change(1, lambda e: e["decision"].update(policyHash=digest, policyVersion=rules.version))
    changed.reseal(lambda _, envelope: envelope.update(policy=digest))
    if len(draft.payloads) <= STARTED:
        return changed
    changed.configuration = encode_configuration(decode_policy(changed.policy), draft.entry(STARTED)["pin"])
    hashes = {"priceHash": price_hash(decode_policy(changed.policy)), "configurationHash": sha(changed.configuration)}
    return seeded(changed.change(STARTED, lambda entry: entry.update(policyHash=digest, **hashes)))


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """The ways to all members and items below a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield (*path, key)
        yield from _paths(below, (*path, key))


def _named(root: str, path: Path, entry: Mapping[str, Any] | None = None) -> str:
    name = root
    for step in path:
        name += "[]" if isinstance(step, int) else f".{step}"
        if entry is not None and path[0] == "reply" and name == f"{root}.reply":
            name += f"({entry['reply'].get('kind', '')})"
    return name


def _others(value: Any, known: list[Any], random: Random) -> list[Any]:
    """Other values that may stand in the place of this one."""
    others: list[Any] = [random.choice(known)] if known else []
    match value:
        case bool():
            others.append(not value)
        case int() | float():
            others += [value + 1, max(0, value - 1)]
        case str():
            found = _HEX.search(value)
            others.append(
                f"{value} {WORDS}"
                if found is None
                else value.replace(found[0][-1], "0123456789abcdef"[random.randrange(16)], 1)
            )
            if " " in value:
                words = value.split(" ")
                others.append(" ".join([*words[1:], words[0]]))
        case list():
            others += [value[1:], [*value, *value[:1]], value[::-1]]
        case dict():
            kept = [*value.items()][1:]
            others.append(dict(kept))
        case None:
            others.append(WORDS)
    return [other for other in others if other != value] or [WORDS]


def _short(value: Any) -> str:
    return repr(value)[:60]
