"""The types of values that options take."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

import click

from service.debate.amounts import is_plain
from service.errors import did_you_mean


class Choice(click.Choice[str]):
    """One of a few words; a slip is answered with the nearest of them."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """What was found and what is known, with the nearest word."""
        known = [str(choice) for choice in self.choices]
        refusal = super().get_invalid_choice_message(value, ctx).removesuffix(".")
        return f"{refusal}{did_you_mean(str(value), known)}"


class Amount(click.ParamType[Decimal]):
    """A decimal number. The gate checks that it is finite and in range."""

    name = "amount"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Decimal:
        """The exact number."""
        if isinstance(value, Decimal):
            return value
        try:
            if is_plain(str(value)):
                return Decimal(str(value))
        except InvalidOperation:
            pass
        return self.fail(f"expected a number such as 250000 or 0.55, found {value!r}", param, ctx)


class Pair(click.ParamType[tuple[str, str]]):
    """``name=text``."""

    name = "pair"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """The two sides of the first equals sign."""
        if isinstance(value, tuple):
            return value
        left, equals, right = str(value).partition("=")
        if not (equals and left.strip() and right.strip()):
            self.fail(f"expected name=text, found {value!r}", param, ctx)
        return left.strip(), right.strip()


class Named(click.ParamType[tuple[str, str]]):
    """``name``, or ``name=text``."""

    name = "named"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """The name, and the text after the first equals sign: empty without one."""
        if isinstance(value, tuple):
            return value
        left, equals, right = str(value).partition("=")
        if not left.strip() or (equals and not right.strip()):
            self.fail(f"expected a name or name=text, found {value!r}", param, ctx)
        return left.strip(), right.strip()
