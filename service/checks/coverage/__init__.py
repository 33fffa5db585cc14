"""Coverage: the cited stretches of documents with their seats, and the parts never cited. Pure, linear in the texts.

    shape      the types that a result carries
    spans      arithmetic of stretches of a text
    quoted     from the recorded verdicts to the stretches of each document, with the seats that cited them
    parts      the clauses, headings, pages or lines of a text, counted by citations; those never cited, in ranges
    measure    `coverage` joins these for each document; `shares` is the share alone, without any text
    sentences  the same in sentences

Code sees quotations and not reading: every seat gets all documents of its round, whole.
"""

from service.checks.coverage.measure import coverage, shares
from service.checks.coverage.shape import DocumentCoverage

__all__ = ["DocumentCoverage", "coverage", "shares"]
