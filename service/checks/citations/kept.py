"""Citations judged in a process that serves many debates: the documents of the last two are kept as they were read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from service.checks.citations import ENGINES, Judge
from service.debate.findings import CitationsFound
from service.debate.replies import Reply
from service.debate.turns import TurnId


def judged(engine: str, texts: Mapping[str, str], said: Mapping[TurnId, Reply]) -> CitationsFound:
    """What an engine finds of the citations of these replies; ``texts`` are the documents by id."""
    return _judge(engine, tuple(texts.items()))(said)


@lru_cache(maxsize=2)
def _judge(engine: str, texts: tuple[tuple[str, str], ...]) -> Judge:
    return ENGINES[engine](dict(texts))
