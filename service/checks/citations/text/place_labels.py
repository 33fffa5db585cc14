"""A quotation with the name of its place before it: Clause 5: "The fee is due."."""

from __future__ import annotations

import re

from service.checks.patterns import lazily
from service.debate.findings import Citation

_LABELLED = lazily(
    r"\s*(?P<place>(?:sections?|clauses?|articles?|paragraphs?|para\.?|§+|pages?|p\.|schedule|exhibit|annex|appendix)"
    r"\s*(?:(?:[a-z]-?)?\d{1,4}(?:\.\d{1,4}){0,5}[a-z]?|[ivxlc]{1,7}|[a-z])(?:\((?:[a-z]{1,2}|[ivx]{1,5}|\d{1,2})\)){0,4}\.?)"
    r"\s*[:,–—-]\s*[\"“«](?P<words>.+)[\"”»][.,;]?\s*",
    re.IGNORECASE | re.DOTALL,
)


def without_label(citation: Citation) -> Citation | None:
    """The citation without such a name, which becomes its location if it has no other; ``None`` without a name."""
    found = _LABELLED.fullmatch(citation.quote) if len(citation.quote) < 20_000 else None
    if found is None:
        return None
    return Citation(found["words"], citation.source_id, citation.location or found["place"])
