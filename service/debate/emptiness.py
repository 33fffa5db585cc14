"""Texts that say nothing: neither what was argued nor what follows.

    "See above."  "It is so."  "Both are right."  "I agree."  "..."  "n/a"      say nothing
    "It falls."   "Clause 9.2 holds."   any text in a script without a word list    says something

A list of words proves nothing about meaning: a text that is not empty may still be worthless.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r"[^\W_]+")
EMPTY = frozenset(
    "a an and are as at be been both but by did do does each else ever for from had has have her here how i if "
    "in is it its just me my of on one or our same she so such than that the their them then there these they this "
    "those to us very was we well were what when where which who why will with would you your also all any every "
    "everything nothing none nil no not yes yep ok okay n na tbd todo ditto idem sic amen quite really simply indeed "
    "above below before earlier previous previously prior former foregoing aforementioned said stated noted mentioned "
    "see refer reference repeat repeated again already once otherwise else elsewhere "
    "agree agrees concur concurs confirm confirmed accept accepted same like likewise similarly "
    "right true correct fine good sound clear plain obvious evident certain sure "
    "text answer answers reply verdict synthesis summary reasoning conclusion result decision upheld modified rejected "
    "moderator judge debater debaters side sides stance stances proposer critic rebuttal proposition argument "
    "arguments point points statement statements other others "
    "siehe oben unten wie gesagt ja nein genau stimmt einverstanden voir dessus ci oui non "
    "vease véase arriba si sí vedi sopra zie boven".split()
)
"""Words that point elsewhere, agree or only join others."""


def says_nothing(text: str) -> bool:
    """Whether every word of a text points elsewhere, agrees or only joins words; numbers say something."""
    return all(token in EMPTY for token in _TOKEN.findall(text.casefold()))
