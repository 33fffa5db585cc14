"""The sentences of a report and of the terminal on a case without documents, in the place of those on checks."""

from __future__ import annotations

SHOWS_REASONING = (
    "This record shows who said what, on which grounds, what others held against it, under which prompts and at what "
    "cost. No document was given, so none of it rests on evidence that could be checked."
)
UNCHECKED = (
    "No document was given. No citation was compared with a source, none was verified and none was found wrong: a "
    "citation, a quotation or a figure in this record is no more than its author's word. That no argument was struck "
    "and no critical validation failure is listed says nothing of what was said."
)
QUOTED_IN_DEBATE = (
    "Words that a text gives as those of another reply were compared with the replies that the seat was shown, and "
    "with the case. Other words in quotation marks could not be compared with anything."
)
NO_COVERAGE = "No document was given, so nothing could be cited and there is no coverage."
