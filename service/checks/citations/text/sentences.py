"""The ends of sentences, items and table rows, and whether both sides have them.

    He shall pay. Within ten days the seller …      the document does not have "He shall pay within ten days"
    He shall pay; within ten days the seller …      likewise; here a comma suffices
    | Basic | 10 |⏎| Large | 90 |                   "10 Large" goes across two rows
    He shall pay within ten days                    "He shall pay. Within ten days"

The other side has the end too if it has a mark that separates more than words, a bar, an empty line, or a line that
begins with a capital.
"""

from __future__ import annotations

import re

from service.checks.patterns import lazily

ABBREVIATED = frozenset(
    "inc corp ltd co llc plc gmbh no nos art arts sec secs mr mrs ms dr st al eg ie cf para paras cl vol ed approx vs "
    "fig figs pp ch dept govt jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat "
    "sun jr sr est ave blvd rd tel ext max min ref pt rev etc viz esq messrs prof gen col capt sgt hon rep sen".split()
)
"""Words that have a point behind them within a sentence too."""
_STOP = lazily(r"[.!?][\"')\]*_]*$|[.!?][\"')\]*_]* ")
_STRONG = frozenset(".!?;:|…—–")
_WEAK = _STRONG | frozenset(",-([")
_LEAST = 3


def ends_sentence(left: str, marks: str, next_is_capital: bool) -> bool:
    """Whether the folded marks between two words end a sentence; ``left`` is the word before them."""
    if not next_is_capital or left in ABBREVIATED or not (left[:1].isdigit() or len(left) >= _LEAST):
        return False
    return _STOP.search(marks) is not None and ". ." not in marks


def ends_row(printed: str) -> bool:
    """Whether a table row ends in the printed text between two words."""
    return re.search(r"\|[ \t]*\r?\n", printed) is not None


def marks_end(printed: str, next_is_capital: bool) -> bool:
    """Whether the printed text between two words of one side may be the end that the other side has there."""
    if any(c in _STRONG for c in printed) or printed.count("\n") > 1:
        return True
    return "\n" in printed and next_is_capital


def marks_item(printed: str) -> bool:
    """The same for an end that a semicolon marks."""
    return any(c in _WEAK for c in printed) or printed.count("\n") > 1
