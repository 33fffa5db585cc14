"""The parameters of the list of debates as texts, read into a `DebateQuery`.

Every fault is listed at once. A value that can match nothing is refused, because an empty list would mislead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast, get_args
from unicodedata import normalize

from service.debate.formats import NAMES
from service.debate.model import Status
from service.debate.replies import ConfidenceLevel
from service.errors import BadRequest, GainsayError, did_you_mean, together
from service.policy.task_types import CHARACTERS_MAX
from service.report.labels import FLAG
from service.report.result.decision_types import DecisionOutcome
from service.reviews.instants import EMPTY_RANGE, instant, is_empty
from service.store import derived
from service.store.debate_query import FACETS, SORTS, DebateQuery, Materiality, Purpose, Sort

PAGE, PAGE_MAX = 20, 100
WORDS_MAX = 200
"""Characters of `q`."""
TEXT_MAX = 2_000
"""Characters of a use case, and of a key and value of the metadata together."""
VALUES_MAX = 50
"""Values of one parameter."""
_NAMED = 10
"""So many unknown parameters are named."""
T = TypeVar("T")

CLOSED: Mapping[str, tuple[str, ...]] = {
    "status": get_args(Status),
    "format": NAMES,
    "outcome": get_args(DecisionOutcome),
    "confidence": get_args(ConfidenceLevel),
    "flag": tuple(FLAG),
    "materiality": get_args(Materiality),
    "purpose": get_args(Purpose),
    "facets": FACETS,
}
"""The parameters that take values of closed lists, each as often as wanted."""
TEXTS = ("taskType", "useCase", "model", "metadata")
"""The parameters that take texts, each as often as wanted."""
ONCE = ("since", "until", "humanReview", "q", "sort", "limit", "after")
FILTERS = ("since", "until", *TEXTS, *(name for name in CLOSED if name != "facets"), "humanReview", "q")
"""The parameters that filter."""
PARAMETERS = (*FILTERS, "sort", "limit", "after", "facets")


def read_query(asked: Mapping[str, Sequence[str]]) -> DebateQuery:
    """The query of these parameters, by name; raises `BadRequest` with every fault."""
    reading = _Reading(asked)
    since, until = (reading.once(name, lambda text, name=name: instant(name, text)) for name in ("since", "until"))  # type: ignore[misc]
    if is_empty(since, until):
        reading.fault(EMPTY_RANGE)
    query = DebateQuery(
        since=since,
        until=until,
        task_type=reading.several("taskType", lambda text: _line("taskType", text, CHARACTERS_MAX)),
        use_case=reading.several("useCase", lambda text: _text("useCase", text)),
        model=reading.several("model", _model),
        metadata=reading.several("metadata", _pair),
        human_review=reading.once("humanReview", _is_true),
        words=reading.once("q", _words),
        sort=reading.once("sort", _sort) or SORTS[0],
        limit=reading.once("limit", page_size) or PAGE,
        after=reading.once("after", lambda text: text),
        **{name: reading.several(name, _one_of(name)) for name in CLOSED},
    )
    reading.refuse()
    return query


def unknown_parameters(asked: Iterable[str], known: Sequence[str]) -> str:
    """What is wrong with parameters that a path does not accept; an empty text if it accepts all."""
    unknown = sorted(set(asked) - set(known))[:_NAMED]
    if not unknown:
        return ""
    meant = "".join(did_you_mean(name, known) for name in unknown)
    return (
        f"unknown query parameters {[name[:80] for name in unknown]}; this path accepts: {', '.join(known) or 'none'}"
        f"{meant}"
    )


def page_size(given: str | None) -> int:
    """The most items of a page; raises `BadRequest`."""
    if given is None:
        return PAGE
    if not given.isascii() or not given.isdecimal() or not 1 <= int(given[:9]) <= PAGE_MAX:
        raise BadRequest(f"limit must be a whole number from 1 to {PAGE_MAX}, found {given[:80]!r}")
    return int(given)


class _Reading:
    """Reads parameters, and keeps what is wrong with them."""

    def __init__(self, asked: Mapping[str, Sequence[str]]) -> None:
        self._asked = asked
        self._faults: list[GainsayError] = []
        if fault := unknown_parameters(asked, PARAMETERS):
            self.fault(fault)

    def fault(self, detail: str) -> None:
        """Note a fault."""
        self._faults.append(BadRequest(detail))

    def refuse(self) -> None:
        """Raise what was noted."""
        if self._faults:
            raise together(self._faults)

    def once(self, name: str, read: Callable[[str], T]) -> T | None:
        """The value of a parameter that may be given once: one of two would have no effect."""
        given = self._asked.get(name, ())
        if len(given) > 1:
            self.fault(f"expected {name} once, found it {len(given)} times")
        return next(iter(self._read(given[:1], read)), None)

    def several(self, name: str, read: Callable[[str], T]) -> tuple[T, ...]:
        """The values of a parameter, each once and in one order."""
        given = self._asked.get(name, ())
        if len(given) > VALUES_MAX:
            self.fault(f"expected {name} at most {VALUES_MAX} times, found it {len(given)} times")
        return tuple(dict.fromkeys(self._read(sorted(given[:VALUES_MAX]), read)))

    def _read(self, given: Iterable[str], read: Callable[[str], T]) -> list[T]:
        found = []
        for text in given:
            try:
                found.append(read(text))
            except BadRequest as fault:
                self._faults.append(fault)
        return found


def _one_of(name: str) -> Callable[[str], Any]:
    return lambda text: _of(name, CLOSED[name], text)


def _of(name: str, values: Sequence[str], text: str) -> str:
    if text not in values:
        meant = did_you_mean(text, values)
        raise BadRequest(f"{name} must be one of {', '.join(values)}, found {text[:80]!r}{meant}")
    return text


def _sort(text: str) -> Sort:
    return cast(Sort, _of("sort", SORTS, text))


def _is_true(text: str) -> bool:
    return _of("humanReview", ("true", "false"), text) == "true"


def _model(text: str) -> str:
    derived.check("model", text)
    return _text("model", text)


def _line(name: str, text: str, most: int) -> str:
    if not text.isprintable():
        raise BadRequest(f"{name} must be one line of printable characters, found another text")
    return _text(name, text, most)


def _text(name: str, text: str, most: int = TEXT_MAX) -> str:
    if not text.strip() or len(text) > most or "\0" in text:
        raise BadRequest(f"{name} must be a text of 1 to {most} characters, none of them NUL; found another")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadRequest(f"{name} holds half a surrogate pair; send valid Unicode") from None
    return text


def _words(text: str) -> str:
    return normalize("NFC", _text("q", text, WORDS_MAX))  # as the words of questions are stored


def _pair(text: str) -> tuple[str, str | None]:
    """A key with a value, or a key alone; the first ``=`` divides."""
    key, divided, value = _text("metadata", text).partition("=")
    if not key:
        raise BadRequest("metadata must be KEY=VALUE, or KEY for any value of it; found no key before the first =")
    return key, value if divided else None
