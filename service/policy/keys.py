"""How a table of the policy file is declared: once, by the type that keeps it.

A member of the type stands in the file under its own name and as its own type, unless it is annotated with a `Key`:

    may_choose_models: bool                                        may_choose_models = true
    rounds: Annotated[int, whole(1, 10)] = 2                       rounds = 2
    ceiling: Annotated[MicroUSD, dollars("ceiling_usd")]           ceiling_usd = "0.50"

From that declaration the table is read and refused (`read`), encoded into policy.json (by msgspec, which passes over a
`Key`), and shown over HTTP (`service/web/catalogue.py`). Bounds are those of the file: a policy in a record is decoded
without them, so that a bound may change and every sealed policy can still be read.

The file must have a member without a default, and one that is `STATED` even with a default. `OPTIONAL` is one
that the file may leave out although the type has no default, `UNWRITTEN` one that the file does not hold. What
the shipped policy settles is put in before a table is read (`service.policy.file.defaults`), so only the shipped file
must have all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from enum import Enum
from functools import cache
from itertools import chain
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from service.debate.amounts import MicroUSD, usd
from service.errors import nearest
from service.policy.bounds import money, number, share_per_mille, within
from service.policy.faults import FILL_IN, MISSING, Faults, Path, WrongSetting

T = TypeVar("T", bound=Struct)

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
NAMES = "letters, digits, '-', '_' and '.'"
UNLIMITED = "unlimited"
_WORDS = {
    "str": "a string",
    "int": "an integer",
    "bool": "true or false",
    "float": "a number with a point",
    "object": "a table",
    "array": "a list",
    "list": "a list",
    "null": "nothing",
    "datetime": "a date and time",
    "date": "a date",
    "time": "a time",
}
_UNQUOTED = (_WORDS["int"], _WORDS["float"], _WORDS["date"])
_QUOTED = re.compile(r"`([^`$]*)`")
_AT = re.compile(r" - at `\$([^`]*)`$")


# -- a declaration


def _as_it_is(value: Any) -> Any:
    return value


def _as_written(_: Path, value: Any) -> Any:
    return value


class Key(NamedTuple):
    """A member of the policy as it stands in the file and over HTTP.

    name       in the file; empty: the member's own name
    written    the type in TOML; ``None``: the member's own type
    read       what is kept of a value; raises `WrongSetting`
    shown_type the type over HTTP; ``None``: the member's own type
    shown      what HTTP shows of a kept value
    json       the name over HTTP; empty: the file's name in camel case
    member     the name in the type
    needed     whether the file has to have it
    form       what the file may say, for docs/policy.md; empty: what the type says
    schema     the same as JSON Schema (`service.policy.file.schema`), where a type or keys stand for their table;
               ``None``: the schema of ``written``
    """

    name: str = ""
    written: Any = None
    read: Callable[[Path, Any], Any] = _as_written
    shown_type: Any = None
    shown: Callable[[Any], Any] = _as_it_is
    json: str = ""
    member: str = ""
    needed: bool = False
    form: str = ""
    schema: Any = None


class Mark(Enum):
    """What an annotation says of a member beside its `Key`."""

    STATED = "the file has to have it, whatever the default"
    OPTIONAL = "the file may leave it out, although the type has no default"
    UNWRITTEN = "the file does not hold it"


STATED, OPTIONAL, UNWRITTEN = Mark


AMOUNT = {"type": "string", "pattern": "^[0-9]+([.][0-9]+)?$"}
"""A decimal in quotes. A file may also write 1e3, which an editor then points at."""
DAY = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}


def _whole(low: int, high: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high}


def _either(schema: dict[str, Any], word: str | None) -> dict[str, Any]:
    return schema if word is None else {"anyOf": [schema, {"const": word}]}


def whole(low: int, high: int, name: str = "") -> Key:
    """An integer within bounds."""

    def read(path: Path, value: int) -> int:
        within(path, value, low, high)
        return value

    return Key(name, int, read, form=f"{low} to {high}", schema=_whole(low, high))


def whole_or_unlimited(low: int, high: int, name: str = "") -> Key:
    """An integer within bounds, or the word for no limit, which is kept as ``None``."""

    def read(path: Path, value: int | str) -> int | None:
        if isinstance(value, int):
            within(path, value, low, high)
            return value
        if value != UNLIMITED:
            raise WrongSetting(path, f'expected a whole number or "{UNLIMITED}"')
        return None

    schema = _either(_whole(low, high), UNLIMITED)
    return Key(name, int | str, read, form=f'{low} to {high}, or "{UNLIMITED}"', schema=schema)


def dollars(name: str, *, none: str | None = None) -> Key:
    """An amount of US dollars, kept in micro-dollars; ``none`` is the word for no amount at all."""

    def read(path: Path, value: str) -> MicroUSD | None:
        return None if none and value == none else money(path, value)

    def shown(amount: MicroUSD | None) -> str | None:
        return None if amount is None else usd(amount)

    form = f'US dollars, or "{none}"' if none else "US dollars"
    return Key(name, str, read, str | None if none else str, shown, form=form, schema=_either(AMOUNT, none))


def dollars_each(json: str) -> Key:
    """A table of amounts of US dollars."""

    def read(path: Path, value: Mapping[str, str]) -> dict[str, MicroUSD]:
        faults, found = Faults(), {}
        for name, amount in value.items():
            with faults.noted():
                found[name] = money((*path, name), amount)
        faults.refuse()
        return found

    def shown(amounts: Mapping[str, MicroUSD]) -> dict[str, str]:
        return {name: usd(amount) for name, amount in amounts.items()}

    schema = {"type": "object", "additionalProperties": AMOUNT}
    return Key("", dict[str, str], read, dict[str, str], shown, json, form="US dollars by name", schema=schema)


def fraction() -> Key:
    """A decimal from 0 to 1."""
    return Key("", str, lambda path, value: number(path, value, 0, 1), form="0 to 1", schema=AMOUNT)


def per_mille(name: str, low: int, high: int) -> Key:
    """A decimal, kept as whole per mille; further digits are cut off."""
    form = f"{low} to {high}"
    return Key(name, str, lambda path, value: int(number(path, value, low, high) * 1_000), form=form, schema=AMOUNT)


def _shown_share(kept: int) -> float:
    return kept / 1_000


def share(name: str = "") -> Key:
    """A share with at most three decimals, kept as whole per mille, and a number from 0 to 1 over HTTP."""
    return Key(name, str, share_per_mille, float, _shown_share, form="0 to 1", schema=AMOUNT)


def shares(defaults: Mapping[Any, int]) -> Key:
    """A table of shares with these keys; one that is left out has its default."""
    keys = tuple(share()._replace(name=name, member=name) for name in defaults)

    def shown(kept: Mapping[Any, int]) -> dict[Any, float]:
        return {name: _shown_share(value) for name, value in kept.items()}

    def read(path: Path, value: Any) -> dict[Any, int]:
        return {**defaults, **members(value, keys, path)}

    return Key("", Any, read, dict[str, float], shown, schema=keys)


def names() -> Key:
    """A list of names such as task types."""

    def read(path: Path, value: tuple[str, ...]) -> tuple[str, ...]:
        if odd := [name for name in value if not NAME.fullmatch(name)]:
            raise WrongSetting(path, f"expected names of {NAMES}, found {', '.join(map(repr, odd))}")
        return value

    schema = {"type": "array", "items": {"type": "string", "pattern": f"^{NAME.pattern}$"}}
    return Key("", tuple[str, ...], read, form="a list of names", schema=schema)


def words(*allowed: str) -> Key:
    """A list of some of these words."""

    def read(path: Path, value: tuple[str, ...]) -> tuple[str, ...]:
        if odd := sorted(set(value) - set(allowed)):
            raise WrongSetting(path, f"expected {', '.join(allowed)}, found {odd}")
        return value

    schema = {"type": "array", "items": {"enum": [*allowed]}}
    return Key("", tuple[str, ...], read, form=f"a list of {', '.join(allowed)}", schema=schema)


def word(*allowed: str) -> Key:
    """One of some words."""
    either = Literal[allowed]  # type: ignore[valid-type]
    return Key("", either, form=", ".join(allowed))


def day() -> Key:
    """A day of the calendar, in quotes."""

    def read(path: Path, value: str) -> str:
        try:
            if date.fromisoformat(value).isoformat() == value:
                return value
        except ValueError:
            pass
        raise WrongSetting(path, f"expected a day such as 2026-01-31, found {value[:40]!r}")

    return Key("", str, read, form="a day, 2026-01-31", schema=DAY)


def switch(on: str, off: str) -> Key:
    """One of two words, kept as whether it is the first."""
    either = Literal[on, off]  # type: ignore[valid-type]
    return Key("", either, lambda _, value: value == on, either, lambda kept: on if kept else off, form=f"{on}, {off}")


def unread() -> Key:
    """A part of the file that is read by a function of its own, since it depends on other parts."""
    return Key("", Any)


def table_of_any() -> Key:
    """A table whose keys the deployment chooses; its values are checked together with the rest of the policy."""
    return Key("", Any, lambda path, value: dict(tables(value, path)), schema={"type": "object"})


def table(kind: type[Struct]) -> Key:
    """A table that the file may leave out, where the kept member is then ``UNSET`` and in no policy.json."""
    return Key("", Any, lambda path, value: read(value, kind, path), form="a table", schema=kind)


def list_of(kind: type[Struct]) -> Key:
    """A list of tables."""

    def read_all(path: Path, value: tuple[Any, ...]) -> tuple[Struct, ...]:
        faults, found = Faults(), []
        for i, inner in enumerate(value):
            with faults.noted():
                found.append(read(inner, kind, (*path, i)))
        faults.refuse()
        return tuple(found)

    return Key("", tuple[Any, ...], read_all, schema={"type": "array", "items": kind})


@cache
def keys_of(kind: type[Struct]) -> tuple[Key, ...]:
    """The keys that the table of a type may have, in the order in which the type declares them."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        _key(field.name, hints[field.name], field.required)
        for field in fields(kind)
        if UNWRITTEN not in get_args(hints[field.name])
    )


def _key(member: str, hint: Any, required: bool) -> Key:
    own, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    key = next((note for note in notes if isinstance(note, Key)), Key())
    needed = STATED in notes or (required and OPTIONAL not in notes)
    kinds = [kind for kind in get_args(own) if kind is not NoneType] if NoneType in get_args(own) else [own]
    if key.written is None and isinstance(kinds[0], type) and issubclass(kinds[0], Struct):
        kind = kinds[0]
        key = Key(key.name, Any, lambda path, value: read(value, kind, path), schema=kind)
    written = kinds[0] if key.written is None else key.written
    shown_type = own if key.shown_type is None else key.shown_type
    return key._replace(name=key.name or member, written=written, shown_type=shown_type, member=member, needed=needed)


def json_name(key: Key) -> str:
    """The name of a member over HTTP: ``ceilingUSD`` of ``ceiling_usd``."""
    first, *others = key.name.split("_")
    return key.json or first + "".join("USD" if word == "usd" else word.capitalize() for word in others)


# -- reading by it


def read(value: Any, kind: type[T], path: Path, **others: Any) -> T:
    """A table as its type, with ``others`` that the file does not hold; raises `WrongSetting` with the key."""
    return kind(**members(value, keys_of(kind), path), **others)


def members(value: Any, keys: tuple[Key, ...], path: Path) -> dict[str, Any]:
    """The members for which a table has keys; raises `WrongSetting` with every fault of the table."""
    faults = Faults()
    found = sound_members(value, keys, path, faults)
    faults.refuse()
    return found


def sound_members(value: Any, keys: tuple[Key, ...], path: Path, faults: Faults) -> dict[str, Any]:
    """The members of a table that can be read; the faults of the others are noted.

    Raises `WrongSetting` for what is no table.
    """
    given, found = tables(value, path), {}
    meant = _unknown(given, keys, path, faults)
    for key in keys:
        place = (*path, key.name)
        if key.name in given:
            with faults.noted():
                found[key.member] = key.read(place, _converted(given[key.name], key, place))
        elif key.needed and key.name not in meant:
            faults.note(place, MISSING)
    return found


def _unknown(given: Mapping[str, Any], keys: tuple[Key, ...], path: Path, faults: Faults) -> set[str]:
    """Note every unknown key; the names that they probably stand for."""
    names, meant = [key.name for key in keys], set()
    for name in given:
        if name in names:
            continue
        near = nearest(name, [known for known in names if known not in given]) or nearest(name, names)
        said = f"did you mean {near!r}?" if near else f"the keys here are: {', '.join(names)}"
        faults.note((*path, name), f"this key is unknown; {said}", (*path, near) if near else None)
        meant |= {near} if near else set()
    return meant


def _converted(value: Any, key: Key, path: Path) -> Any:
    """A value as the type that TOML has to give it; raises `WrongSetting`."""
    if value == FILL_IN:
        raise WrongSetting(path, "this value is still to be filled in, and only you can know it")
    try:
        return msgspec.convert(value, key.written)
    except msgspec.ValidationError as error:
        raise _wrong(str(error), key, path) from None


def tables(value: Any, path: Path) -> Mapping[str, Any]:
    """A table of names that the deployment chooses; raises `WrongSetting` for anything else."""
    if not isinstance(value, dict):
        raise WrongSetting(path, f"expected a table, found {_WORDS.get(type(value).__name__, 'something else')}")
    return value


def _wrong(said: str, key: Key, path: Path) -> WrongSetting:
    """msgspec's message in the words of TOML. It may quote a value, which may be a secret in the wrong place."""
    at = _AT.search(said)
    inside = at[1].split("[")[0].strip(".").split(".") if at else []
    place = (*path, *filter(None, inside))
    if said.startswith("Expected"):
        quoted = [re.findall(r"\w+", found) for found in _QUOTED.findall(said)]
        *expected, found = [_WORDS.get(word, word) for word in chain(*quoted)]
        quotes = "; write it in quotes" if expected == [_WORDS["str"]] and found in _UNQUOTED else ""
        return WrongSetting(place, f"expected {' or '.join(expected)}, found {found}{quotes}")
    return WrongSetting(place, f"expected one of: {', '.join(_choices(key.written))}")


def _choices(hint: Any) -> Iterator[str]:
    """The words that a key may have."""
    for inner in get_args(hint):
        if isinstance(inner, str):
            yield inner
        else:
            yield from _choices(inner)
