"""The tokens by which masking may lengthen a request.

A mark takes at most the characters of the passage in its place, unless the passage is shorter than the shortest mark;
and a tokenizer may count more for the mark. So a quote adds a mark for each passage that a screener may name.
"""

from __future__ import annotations

from service import money
from service.debate.masks import SHORT
from service.debate.replies.screening import PASSAGES_MAX
from service.debate.turns import TurnId, is_masked


def mark_room(turn: TurnId, tokenizer: str) -> int:
    """The tokens to add to a turn's request for its marks; none where nothing is masked in it."""
    return money.count_tokens(SHORT * PASSAGES_MAX, tokenizer) if is_masked(turn) else 0
