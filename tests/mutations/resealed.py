"""Edits of a bundle by a holder of the log's key, who makes every hash above them right again.

members    another value of one member of a payload, an envelope or the context; a member or an item left out or doubled
policy     another value of a key of the policy, with its hash wherever it stands
salts      another salt, and what is committed with it
texts      other words in a document, its title or a prompt; an approval by a key of the forger's own
order      a record left out, doubled, or in another's place
tokenizer  every model under a tokenizer of a later build
openings   another end, key or place of an earlier log
together   members that have to agree, each with the same other value

Then leaves, chain, seed, commitments, the tree and its head are made again, and the report is told anew. A member is
named by its path without the places in lists: ``turn.spoke.reply(moderator).synthesis``. Of a record that opens a log
the payload's members are those of ``log.opened``, and its envelope is ``opened.leaf``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from random import Random
from typing import Any, NamedTuple

import msgspec

from service.audit.approval import Approval
from service.audit.approval import encode as encode_approval
from service.audit.note import SigningKey
from service.audit.record import commit, encode_context, leaf_hash
from service.debate.entries import CaseReceived, decode
from service.policy import decode_policy, encode_configuration, encode_policy, price_hash
from service.verify.bundle import verify_opened
from service.verify.records import about
from service.verify.steps import Tools, Trust, VerificationReport
from tests.fixtures.bundles import LOG_KEY, OTHER_KEY, Draft, sha, told
from tests.fixtures.openings import OTHERS, Opening, chained, head, names

STARTED = 2
WORDS = "The board agrees."
DERIVED = ("n", "prev", "commitment")
"""Members of an envelope that `Draft.reseal` makes right."""
FORGER = SigningKey.from_seed("forger.example", bytes([66]) * 32)
_HEX = re.compile(r"[0-9a-f]{8,}")
_VERSION = re.compile(r"[a-z-]+/[0-8]")
_LEFT_OUT = object()
_encoder = msgspec.json.Encoder(order="sorted")
Path = tuple[str | int, ...]


class Sealed(NamedTuple):
    """What a forger has sealed again: the member that differs, what was done in words, and the draft."""

    member: str
    what: str
    draft: Draft


class Place(NamedTuple):
    """A place in a JSON value: where that value stands, the way to the place, and the member's name."""

    where: str
    n: int
    path: Path
    name: str


class Original(NamedTuple):
    """A recorded bundle taken apart, its places by their names, and what stands at such places in all bundles."""

    draft: Draft
    places: Mapping[str, list[Place]]
    pool: Mapping[str, list[Any]]


def originals(drafts: Mapping[str, Draft]) -> dict[str, Original]:
    """The drafts, each with its places."""
    pool: dict[str, list[Any]] = {}
    listed: dict[str, dict[str, list[Place]]] = {name: {} for name in drafts}
    for name, draft in drafts.items():
        for place in _places(draft):
            pool.setdefault(place.name, []).append(_at(_whole(draft, place), place.path))
            listed[name].setdefault(place.name, []).append(place)
    return {name: Original(draft, listed[name], pool) for name, draft in drafts.items()}


def forged(sealed: Sealed, trust: Trust, own: Tools) -> VerificationReport:
    """What is found of it. Where nothing but the report differs, the report is told anew."""
    tree = sealed.draft.tree(witnesses=())
    found = verify_opened(sealed.draft.bundle(tree), trust, own)
    if [step.name for step in found.failed] != ["report"]:
        return found
    with suppress(Exception):  # of records that nothing can be told of it stays as it was
        return verify_opened(told(sealed.draft, tree).bundle(tree), trust, own)
    return found


# One member.


def member(one: Original, random: Random, name: str | None = None) -> Sealed | None:
    """A place of this name with another value; ``None`` where the drawn value cannot stand there."""
    place = random.choice(one.places[name or random.choice([*one.places])])
    whole = _whole(one.draft, place)
    holder, key = _at(whole, place.path[:-1]), place.path[-1]
    before, known = holder[key], [value for value in one.pool[place.name] if value != holder[key]]
    others = [*_others(before, known, random), *([_LEFT_OUT] if isinstance(holder, dict) else [])]
    after = random.choice(others)
    if after is _LEFT_OUT:
        del holder[key]
    else:
        holder[key] = after
    said = "left out" if after is _LEFT_OUT else f"{_short(before)} to {_short(after)}"
    with suppress(Exception):  # what no type can hold cannot be sealed either
        changed = _resealed(one.draft, place, whole)
        named = changed.envelope.debate  # of a first leaf that is still one
        if named and _differ(changed, one.draft):
            return Sealed(place.name, f"{place.where} {place.n}, {place.name}: {said}", changed)
    return None


def _differ(one: Draft, other: Draft) -> bool:
    return (one.leaves, one.policy, one.openings) != (other.leaves, other.policy, other.openings)


def _places(draft: Draft) -> Iterator[Place]:
    """Every place of the payloads, the envelopes, the context and the policy."""
    for n, leaf in enumerate(draft.leaves):
        entry, envelope = draft.entry(n), msgspec.json.decode(leaf)
        seat = entry.get("reply", {}).get("seat", "")
        for path in _paths(entry):
            steps = [step for step in path if isinstance(step, str)]
            if path[0] == "reply":
                steps[0] = f"reply({seat})"
            if path[0] == "pins":  # a hundred of one kind
                steps = steps[:1]
            yield Place("payload", n, path, ".".join([entry["kind"], *steps]))
        for path in _paths(envelope):
            if path[0] not in DERIVED:
                yield Place("leaf", n, path, ".".join(["leaf", *map(str, path)]))
    for n, opening in enumerate(draft.openings):
        for path in _paths(opening.entry()):
            yield Place("opening", n, path, f"log.opened.{path[0]}")
        for path in _paths(msgspec.json.decode(opening.leaf)):
            yield Place("opening leaf", n, path, ".".join(["opened.leaf", *map(str, path)]))
    for path in _paths(msgspec.json.decode(draft.context[1])):
        yield Place("context", 0, path, ".".join(["context", *map(str, path)]))
    for path in _paths(msgspec.json.decode(draft.policy)):
        yield Place("policy", 0, path, f"policy.{path[0]}")


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """The ways to all members and items below a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield (*path, key)
        yield from _paths(below, (*path, key))


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _whole(draft: Draft, place: Place) -> Any:
    match place.where:
        case "payload":
            return draft.entry(place.n)
        case "leaf":
            return msgspec.json.decode(draft.leaves[place.n])
        case "opening":
            return draft.openings[place.n].entry()
        case "opening leaf":
            return msgspec.json.decode(draft.openings[place.n].leaf)
        case "context":
            return msgspec.json.decode(draft.context[1])
        case _:
            return msgspec.json.decode(draft.policy)


def _others(value: Any, known: list[Any], random: Random) -> list[Any]:
    """Other values that may stand in the place of this one, those of other places among them."""
    others: list[Any] = [random.choice(known)] if known else []
    match value:
        case bool():
            others.append(not value)
        case int() | float():
            others += [value + 1, max(0, value - 1)]
        case str():
            digits, words = _HEX.search(value), value.split(" ")
            digit = random.choice("0123456789abcdef")
            others.append(f"{value} {WORDS}" if digits is None else value.replace(digits[0], digit + digits[0][1:], 1))
            others.append(" ".join([*words[1:], words[0]]))
            others += [f"{value[:-1]}{int(value[-1]) + 1}"] if _VERSION.fullmatch(value) else []
        case list():
            others += [value[1:], [*value, *value[:1]], value[::-1]]
        case dict():
            others.append(dict([*value.items()][1:]))
        case None:
            others.append(WORDS)
    return [other for other in others if other != value] or [WORDS]


# Making the hashes right again.


def _resealed(draft: Draft, place: Place, whole: Any) -> Draft:
    """The draft with this value in its place."""
    changed = draft.copy()
    match place.where:
        case "payload":
            changed.payloads[place.n] = _encoder.encode(whole)
            return _seeded(_in_context(changed) if place.n == 0 else changed.reseal())
        case "leaf":
            return _seeded(changed.reseal(lambda n, envelope: _put(envelope, whole) if n == place.n else None))
        case "opening":
            return _reopened(changed, place.n, changed.openings[place.n].sealed(payload=_encoder.encode(whole)))
        case "opening leaf":
            return _reopened(changed, place.n, changed.openings[place.n].sealed(envelope=whole))
        case "context":
            return _seeded(_with_context(changed, changed.context[0], msgspec.json.encode(whole)))
        case _:
            return _with_policy(draft, msgspec.json.encode(whole))


def _reopened(draft: Draft, n: int, opening: Opening) -> Draft:
    """The draft with this record as the one that opens a log, and what later logs carry made right again."""
    draft.openings[n] = opening
    draft.openings = chained(draft.openings, draft.envelope.log, LOG_KEY, n + 1)
    return draft


def _put(envelope: dict[str, Any], edited: Mapping[str, Any]) -> None:
    kept = {name: envelope[name] for name in DERIVED}
    envelope.clear()
    envelope.update({**edited, **kept})


def _in_context(draft: Draft) -> Draft:
    """The draft with the context that its case has."""
    first = decode(draft.payloads[0])
    if not isinstance(first, CaseReceived):
        return draft.reseal()
    return _with_context(draft, draft.context[0], encode_context(about(first.case)))


def _with_context(draft: Draft, salt: bytes, body: bytes) -> Draft:
    draft.context = (salt, body)
    digest = commit(salt, body)
    return draft.reseal(lambda _, envelope: envelope.update(context=digest))


def _seeded(draft: Draft) -> Draft:
    """The draft with the seed that its first record gives."""
    seed = leaf_hash(draft.leaves[0]).hex()
    if len(draft.payloads) <= STARTED or draft.entry(STARTED).get("seed", seed) == seed:
        return draft
    return draft.change(STARTED, lambda entry: entry.update(seed=seed))


def _with_policy(draft: Draft, policy: bytes, **started: Any) -> Draft:
    """The draft under another policy, with every hash of it made right again."""
    changed, rules = draft.copy(), decode_policy(policy)
    changed.policy = encode_policy(rules)
    digest = sha(changed.policy)
    changed = changed.change(1, lambda e: e["decision"].update(policyHash=digest, policyVersion=rules.version))
    changed.reseal(lambda _, envelope: envelope.update(policy=digest))
    if len(draft.payloads) <= STARTED:
        return changed
    read = decode_policy(changed.policy)
    changed.configuration = encode_configuration(read, draft.entry(STARTED)["pin"])
    hashes = {"priceHash": price_hash(read), "configurationHash": sha(changed.configuration)}
    return _seeded(changed.change(STARTED, lambda entry: entry.update(policyHash=digest, **hashes, **started)))


def _short(value: Any) -> str:
    return repr(value)[:60]


# More than a member.


def salt(one: Original, random: Random) -> Sealed:
    """Another salt of a payload, of the context or of a document, and what is committed with it."""
    draft, other, n = one.draft.copy(), random.randbytes(32), random.randrange(len(one.draft.salts))
    parts = ("documents" if draft.documents else "context", "openings" if draft.openings else "context")
    what = random.choice(("records", "context", *parts))
    if what == "records":
        draft.salts[n] = other
        return Sealed("salt", f"the salt of record {n}", _seeded(draft.reseal()))
    if what == "context":
        return Sealed("salt", "the salt of the context", _seeded(_with_context(draft, other, draft.context[1])))
    if what == "openings":
        opening = draft.openings[0]._replace(salt=other)
        return Sealed("salt", "the salt of the first opening", _reopened(draft, 0, opening.sealed()))
    return Sealed("salt", "the salt of the first document", _documented(draft, salt=other))


def text(one: Original, random: Random) -> Sealed:
    """Other words in a document, in its title, or in a prompt."""
    draft = one.draft.copy()
    whats = [*(["document", "title"] if draft.documents else []), *(["prompt"] if draft.prompts else [])]
    what = random.choice(whats or ["context"])
    match what:
        case "document":
            return Sealed(
                "document", "a document's text", _documented(draft, text=draft.documents[0][2] + WORDS.encode())
            )
        case "title":
            return Sealed("title", "a document's title", _documented(draft, title=WORDS))
        case "prompt":
            path = random.choice([path for path in sorted(draft.prompts) if path.endswith(".md")])
            return Sealed("prompt", f"the prompt {path}", _prompted(draft, path))
        case _:
            return salt(one, random)


def _documented(draft: Draft, **changes: Any) -> Draft:
    """The draft with another first document."""
    id_, title, body, salted = draft.documents[0]
    title, body, salted = changes.get("title", title), changes.get("text", body), changes.get("salt", salted)
    draft.documents[0] = (id_, title, body, salted)
    members = {"title": title, "commitment": commit(salted, body), "characters": len(body.decode())}
    return _seeded(draft.change(0, lambda entry: entry["case"]["documents"][0].update(members)))


def _prompted(draft: Draft, path: str) -> Draft:
    """The draft with another text of a prompt, which its manifest, its pins and its configuration have too."""
    before = sha(draft.prompts[path])
    draft.prompts[path] += f"\n{WORDS}\n".encode()
    after = sha(draft.prompts[path])
    draft.prompts["manifest.json"] = draft.prompts["manifest.json"].replace(before.encode(), after.encode())
    pin = sha(draft.prompts["manifest.json"])
    draft.configuration = encode_configuration(decode_policy(draft.policy), pin)

    def pinned(entry: dict[str, Any]) -> None:
        pins = {id_: mark.replace(before, after) for id_, mark in entry["pins"].items()}
        entry.update(pin=pin, pins=pins, configurationHash=sha(draft.configuration))

    return draft.change(STARTED, pinned)


def approval(one: Original, random: Random) -> Sealed:
    """An approval by the forger, whose key the policy then names."""
    if len(one.draft.payloads) <= STARTED:
        return salt(one, random)
    rules = msgspec.json.decode(one.draft.policy)
    rules["approval"]["key"] = FORGER.public.encode()
    draft = _with_policy(one.draft, msgspec.json.encode(rules))
    digest = draft.entry(STARTED)["configurationHash"]
    draft.approval = encode_approval(Approval(digest, "1", "2026-11-22T09:30:00Z"), FORGER)
    note = draft.approval.decode()
    return Sealed(
        "approval",
        "an approval by the forger's own key",
        draft.change(STARTED, lambda entry: entry.update(approvedBy="forger.example", approval=note)),
    )


def tokenizer(one: Original, random: Random) -> Sealed:
    """Every model of the policy under a tokenizer of a later build."""
    rules = msgspec.json.decode(one.draft.policy)
    for model in rules["models"].values():
        model["tokenizer"] = f"later/{random.randrange(2, 9)}"
    return Sealed("tokenizer", "a tokenizer of a later build", _with_policy(one.draft, msgspec.json.encode(rules)))


def order(one: Original, random: Random) -> Sealed:
    """A record left out, doubled, or in another's place."""
    count = len(one.draft.payloads)
    n, m = random.randrange(count), random.randrange(count)
    how = random.choice(("left out", "doubled", "after the next", "in another's place"))
    if how == "left out":
        return Sealed("order", f"record {n} left out", _seeded(one.draft.drop(n)))
    if how == "doubled":
        draft = one.draft.copy()
        for part in (draft.leaves, draft.payloads, draft.salts):
            part.insert(m, part[n])
        return Sealed("order", f"record {n} doubled at {m}", _seeded(draft.reseal()))
    n = min(n, count - 2)
    m = n + 1 if how == "after the next" or n == m else m
    return Sealed("order", f"records {n} and {m} exchanged", _seeded(one.draft.swap(n, m)))


def openings(one: Original, random: Random) -> Sealed:
    """Another end or key of an earlier log, or a record that opens one in another's place."""
    draft = one.draft.copy()
    if not draft.openings:
        return salt(one, random)
    log, count = draft.envelope.log, len(draft.openings)
    how = random.choice(("another end", "another end than its checkpoint", "an end by the forger", "another key"))
    n = random.randrange(count)
    opening, before = draft.openings[n], names(log, count)[n]
    if how == "another key":
        draft.openings[n] = opening._replace(key=OTHER_KEY)
        draft.openings = chained(draft.openings, log, LOG_KEY, n)
        return Sealed("log.opened.key", f"{names(log, count)[n + 1]} under {how}", draft)
    if count > 1 and random.random() < 0.2:
        draft.openings.reverse()
        return Sealed("openings", "the records that open logs exchanged", draft)
    if n and how == "another end":
        first = draft.openings[n - 1]
        draft.openings[n - 1] = first._replace(others=(*OTHERS[: random.randrange(1, len(OTHERS))], WORDS.encode()))
        draft.openings = chained(draft.openings, log, LOG_KEY, n)
        return Sealed("log.opened.previous", f"{before}: {how}", draft)
    other = Opening(WORDS.encode(), b"", b"", OTHERS[: random.randrange(1, len(OTHERS))])
    previous = head(before, other, FORGER if how == "an end by the forger" else LOG_KEY)[0].decode()
    opening = opening.sealed(payload=_encoder.encode({**opening.entry(), "previous": previous}))
    return Sealed("log.opened.previous", f"{before}: {how}", _reopened(draft, n, opening))


def together(one: Original, random: Random) -> Sealed:
    """Members that have to agree, each with the same other value."""
    draft = one.draft
    what = random.choice(("who brought the case", "the ceiling that was asked for", "an option that was asked for"))
    if what == "who brought the case":
        named = draft.copy()
        named.payloads[0] = _encoder.encode({**draft.entry(0), "subject": WORDS})
        actor = {"id": WORDS, "kind": "person", "role": "operator", "via": "keyboard"}
        return Sealed(what, what, _seeded(named.reseal(lambda n, e: e.update(actor=actor) if n <= STARTED else None)))
    if len(draft.payloads) <= STARTED:
        return salt(one, random)
    if what == "the ceiling that was asked for":
        ceiling = draft.entry(STARTED)["ceiling"] - random.randrange(1, 1_000)
        asked = draft.change(0, lambda entry: entry.update(askedCeiling=ceiling))
        return Sealed(what, what, _seeded(asked.change(STARTED, lambda entry: entry.update(ceiling=ceiling))))
    strengths = {"minChallengeStrength": random.randrange(1, 11), "requireCriticRetryBelow": random.randrange(1, 11)}
    asked = draft.change(0, lambda entry: entry.update(asked={**entry.get("asked", {}), **strengths}))
    return Sealed(what, what, _seeded(asked.change(STARTED, lambda entry: entry["options"].update(strengths))))


class Draw(NamedTuple):
    """A kind of edit, how many of a hundred are of it, and the names of what it edits beside single members."""

    edit: Callable[[Original, Random], Sealed | None]
    weight: int
    names: tuple[str, ...] = ()


DRAWS = (
    Draw(member, 74),
    Draw(salt, 2, ("salt",)),
    Draw(text, 6, ("document", "title", "prompt")),
    Draw(approval, 1, ("approval",)),
    Draw(order, 7, ("order",)),
    Draw(tokenizer, 1, ("tokenizer",)),
    Draw(openings, 6, ("log.opened.previous", "log.opened.key")),
    Draw(together, 3, ("who brought the case",)),
)


def drawn(one: Original, random: Random) -> Sealed:
    """An edit that changes something."""
    while True:
        draw = random.choices(DRAWS, [draw.weight for draw in DRAWS])[0]
        edit = draw.edit(one, random)
        if edit is not None:
            return edit
