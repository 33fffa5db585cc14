"""The tenant for which work is done, so that none is answered from what was kept for another one."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar, cast

Given = ParamSpec("Given")
Result = TypeVar("Result")

WHOSE: ContextVar[str] = ContextVar("whose", default="")
"""The tenant. Set by a debate, a request, the opening of a case, a turn of an evaluation, and a call to the process for
checks."""

_forget = list[Callable[[], None]]()


def by_tenant(most: int) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Keep up to ``most`` results of a function over texts or words of cases, each for the tenant that asked for it.

    It is `lru_cache` with the tenant among the arguments. `forget` drops the results.
    """

    def keeping(work: Callable[Given, Result]) -> Callable[Given, Result]:
        @lru_cache(maxsize=most)
        def found(_tenant: str, *given: Any, **named: Any) -> Result:
            return work(*given, **named)

        _forget.append(found.cache_clear)
        kept = cast("Callable[..., Result]", found)  # its own type takes arguments of one type alone

        @wraps(work)
        def find(*given: Given.args, **named: Given.kwargs) -> Result:
            return kept(WHOSE.get(), *given, **named)

        return find

    return keeping


def forget() -> None:
    """Drop what `by_tenant` keeps: it may be of texts that are stored no more."""
    for each in _forget:
        each()
