"""What of the documents was quoted, by whom, and what nobody quoted. Pure, and linear in the texts.

    shape     the types that a result carries
    spans     arithmetic of stretches of a text
    quoted    from the recorded verdicts to the stretches of each document, with who cited them
    parts     the clauses, headings, pages or lines of a text, counted by citations; those never cited, in ranges
    telling   `coverage` joins these, one telling a document; `shares` is the share alone, without any text
    words     the same in sentences

Code sees what was quoted and not what was read: every seat is given all documents of its round, whole.
"""

from service.checks.coverage.measure import coverage, shares
from service.checks.coverage.shape import DocumentCoverage

__all__ = ["DocumentCoverage", "coverage", "shares"]
