"""The keys by which final answers are compared and counted: answers that differ in print alone are the same.

    in the answer                                  folded
    case, width, ligatures, composed letters       NFKC and full case folding
    superscripts, subscripts, fractions            apart from what stands before them: 10² is not 102
    letters, marks, digits, currency, % and ‰      kept
    signs of arithmetic, - or . before a number    kept: -5 is not 5, >= 5 is not 5, .5 is not 5
    a sign within a number, # after a letter       kept: 1.5 is neither 15 nor 1 5, 1/2 is not 1-2, C# is not C
    pictures: ticks, crosses, thumbs, degrees      kept: a crossed "sign" is not a ticked one
    soft hyphens, zero widths                      nothing
    anything else                                  one space

In doubt, answers are different: a reader can join two votes later, but two wrongly joined votes have decided a debate.
Only characters newer than a Python release's Unicode data could fold in another way under that release.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from service.debate.results import AnswerVotes

_PRINT = str.maketrans(
    {**dict.fromkeys("‘’‚‛′´‹›＇ʼ", "'"), **dict.fromkeys("‐‑‒–—―−⁃﹘﹣－", "-"), **dict.fromkeys("\u00ad\ufe0e\ufe0f")}
)
_APART = ("<super>", "<sub>", "<fraction>")
_BEFORE = re.compile(r"(?<!\w)(?:-(?=[.,]?\d)|[.,](?=\d))")
_WITHIN = re.compile(r"(?<=\d)[.,:/^*-](?=\d)|(?<=[^\W_])#")
_MARKS = "©®℗"
"""Pictures that do not change the meaning of the text beside them."""


def plain(text: str) -> str:
    """A text in one width, case and composition, with plain apostrophes and hyphens."""
    apart = "".join(f" {c}" if unicodedata.decomposition(c).startswith(_APART) else c for c in text)
    once = unicodedata.normalize("NFKC", apart.translate(_PRINT)).casefold()
    return unicodedata.normalize("NFKC", once).translate(_PRINT)


def folded(answer: str) -> str:
    """The key of an answer; empty if it holds no letter, digit or sign."""
    text = plain("".join(c for c in answer if unicodedata.category(c) != "Cf"))
    kept = {m.start() for expression in (_BEFORE, _WITHIN) for m in expression.finditer(text)}
    return " ".join("".join(c if i in kept else _kept(c) for i, c in enumerate(text)).split())


def _kept(character: str) -> str:
    category = unicodedata.category(character)
    said = category[0] in "LMN" or category in ("Sc", "Sm", "So") or character in "%‰"
    return character if said and character not in _MARKS else " "


def votes(answers: Mapping[str, str], seats: Iterable[str]) -> tuple[AnswerVotes, ...]:
    """The seats that gave each answer (``answers``: seat -> answer), most seats first, then by their first seat.

    An answer is spelt as the first of its seats wrote it.
    """
    groups: dict[str, list[str]] = {}
    for seat in (seat for seat in seats if seat in answers):
        groups.setdefault(folded(answers[seat]), []).append(seat)
    ranked = sorted(groups.values(), key=lambda group: -len(group))  # stable: the order of the first seats stays
    return tuple(AnswerVotes(answers[group[0]], tuple(group)) for group in ranked)
