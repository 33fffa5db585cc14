"""How well passages that speak to a model are found, by family, language, carrier and field, and how many honest texts
raise an alarm, with exact 95 % intervals.

`make bench ONLY=injection` prints the figures of the held-out texts beside the goals. The model has learnt the open
texts, so that theirs say nothing of how well it does: one in `ONE_IN` of them is measured to see that nothing broke.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from math import exp, fsum, lgamma, log, log1p
from typing import NamedTuple, TypeVar

from bench import corpora
from bench.corpora import injection
from bench.corpora.injection import Attack, Honest, Part
from bench.corpora.injection.carriers import CARRIERS, Carrier
from service.checks.injection import FieldText, check_injection
from service.debate.suspicions import CaseField, InjectionFamily, InjectionFound

Text = TypeVar("Text", Attack, Honest)
Check = Callable[[Sequence[FieldText]], InjectionFound]
SHORT: Sequence[CaseField] = ("question", "answer", "title", "metadata", "persona", "instructions")
"""The fields beside documents in which an attack is tried, one of them for each attack."""
OWN: frozenset[CaseField] = frozenset(("persona", "instructions"))
POSES: frozenset[InjectionFamily] = frozenset(
    ("verdict", "score", "secrecy", "fence", "reply", "tool", "system", "authority")
)
"""The families that are an attack in a text of the caller's own."""


ONE_IN = 40
"""Of the open texts, one in so many is measured."""


class Outcome(NamedTuple):
    """Whether something was found of one text, and what the text is, by each property that figures are told by."""

    id: str
    seen: bool
    family: str = ""
    language: str = ""
    carrier: str = ""
    field: str = ""
    kind: str = ""


class Share(NamedTuple):
    """How many of how many, with the exact interval of Clopper and Pearson."""

    seen: int
    all: int

    @property
    def percent(self) -> float:
        """The share in percent; 0 of none."""
        return 100 * self.seen / self.all if self.all else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval in percent."""
        return interval(self.seen, self.all)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.percent:5.1f} % [{low:.1f}, {high:.1f}] ({self.seen} of {self.all})"


@cache
def interval(seen: int, total: int) -> tuple[float, float]:
    """The exact 95 % interval of a share in percent, by halving: the bounds at which the tail has 2.5 %."""
    if not total:
        return 0.0, 100.0
    low = _bound(lambda p: 1 - _below(seen - 1, total, p) < 0.025) if seen else 0.0
    high = _bound(lambda p: _below(seen, total, p) >= 0.025) if seen < total else 1.0
    return 100 * low, 100 * high


def _below(seen: int, total: int, p: float) -> float:
    """The probability of at most that many of ``total``."""
    ways = lgamma(total + 1)
    return fsum(
        exp(ways - lgamma(k + 1) - lgamma(total - k + 1) + k * log(p) + (total - k) * log1p(-p))
        for k in range(seen + 1)
    )


def _bound(is_below: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return low


def carried(attack: Attack, part: Part) -> Iterator[tuple[str, Carrier]]:
    """The three carriers of an attack: in the middle, and two by the hash of its id."""
    yield "middle", CARRIERS["middle"]
    names = [name for name in CARRIERS if name != "middle"]
    first = _number(attack.id, "first") % len(names)
    yield names[first], CARRIERS[names[first]]
    held = injection.held_carriers() if part == "held" else {}
    if held:
        name = sorted(held)[_number(attack.id, "held") % len(held)]
        yield f"held: {name}", lambda host, text: (held[name](host, text),)
    else:
        second = (first + 1 + _number(attack.id, "second") % (len(names) - 1)) % len(names)
        yield names[second], CARRIERS[names[second]]


def found(part: Part, check: Check = check_injection) -> Iterator[Outcome]:
    """Of each attack in each of its carriers, whether it is found."""
    for attack in _measured(part, injection.attacks(part)):
        host = _hosts()[_number(attack.id, "host") % len(_hosts())]
        for name, carry in carried(attack, part):
            texts = [FieldText("document", f"D{n}", text) for n, text in enumerate(carry(host, attack.text), start=1)]
            seen = bool(check(texts).suspicions)
            yield Outcome(attack.id, seen, attack.family, attack.language, name, "document")


def found_elsewhere(part: Part, check: Check = check_injection) -> Iterator[Outcome]:
    """Of each attack in one of the short fields, whether it is found."""
    for attack in _measured(part, injection.attacks(part)):
        field = SHORT[_number(attack.id, "field") % len(SHORT)]
        if field not in OWN or attack.family in POSES:
            seen = bool(check([FieldText(field, "", attack.text)]).suspicions)
            yield Outcome(attack.id, seen, attack.family, attack.language, "alone", field)


def alarmed(part: Part, check: Check = check_injection) -> Iterator[Outcome]:
    """Of each honest text in its own field, whether something is found."""
    for text in _measured(part, injection.honest(part)):
        seen = bool(check([FieldText(text.case_field, "", text.text)]).suspicions)
        yield Outcome(text.id, seen, language=text.language, field=text.field, kind=text.kind)


def share(outcomes: Iterable[Outcome]) -> Share:
    """How many of them were found."""
    seen = [one.seen for one in outcomes]
    return Share(sum(seen), len(seen))


def by(name: str, outcomes: Iterable[Outcome]) -> Mapping[str, Share]:
    """The share for each value of a property."""
    grouped = defaultdict[str, list[Outcome]](list)
    for one in outcomes:
        grouped[getattr(one, name)].append(one)
    return {value: share(grouped[value]) for value in sorted(grouped)}


def _measured(part: Part, texts: Iterable[Text]) -> Iterator[Text]:
    return (text for text in texts if part == "held" or _number(text.id, "measured") % ONE_IN == 0)


@cache
def _hosts() -> Sequence[str]:
    return [document.text for document in corpora.documents().values()]


def _number(id_: str, what: str) -> int:
    return int.from_bytes(sha256(f"{what} {id_}".encode()).digest()[:6], "big")


class Outcomes(NamedTuple):
    """All outcomes of a part."""

    documents: Sequence[Outcome]
    elsewhere: Sequence[Outcome]
    honest: Sequence[Outcome]


@cache
def outcomes(part: Part, check: Check = check_injection) -> Outcomes:
    """The outcomes of a part, measured once."""
    return Outcomes(tuple(found(part, check)), tuple(found_elsewhere(part, check)), tuple(alarmed(part, check)))


def lines(of: Outcomes) -> Iterator[str]:
    """The figures of a part, a line each."""
    yield f"recall in documents      {share(of.documents)}"
    for name in ("family", "language", "carrier"):
        for value, figure in by(name, of.documents).items():
            yield f"  {name} {value:<16} {figure}"
    yield f"recall in other fields   {share(of.elsewhere)}"
    for value, figure in by("field", of.elsewhere).items():
        yield f"  field {value:<16} {figure}"
    yield f"false alarms             {share(of.honest)}"
    for value, figure in by("kind", of.honest).items():
        yield f"  kind {value:<17} {figure}"
