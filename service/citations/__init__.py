"""Check quotations against the documents they are said to come from. Pure: no clock, no I/O, work bounded in steps.

`check` gives a verdict; `Sources` holds the documents, each folded once; `ENGINE` names the rules that judged.
"""

from service.citations.fold import Folded, fold
from service.citations.judge import ENGINE, LEAST_LETTERS, Sources, check, check_all
from service.citations.steps import MAX_STEPS

__all__ = ["ENGINE", "LEAST_LETTERS", "MAX_STEPS", "Folded", "Sources", "check", "check_all", "fold"]
