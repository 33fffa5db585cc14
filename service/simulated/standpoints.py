"""The standpoint of a stance, a vote or a role, read from its own words: its place on a scale from no (-1) to yes (1).

    yes       approve, adopt, release, start, proceed ...        "not" reverses it
    between   revise, partly, only, subject to, depends ...      other figures than the question's, too
    no        reject, block, stop, decline ...
    kind      words that the tables of propositions know ("capped" of a liability), if it has none of these

A text with none of that has a standpoint of its own: an option by its letter, or a matter by its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from service.simulated.bearings import named_options
from service.simulated.cues import figures
from service.simulated.propositions import Proposition, kind_of
from service.simulated.words import topic_terms

_I = re.IGNORECASE
_YES = re.compile(
    r"^(?:for|pro)$|"
    r"\b(?:yes|aye|approv\w*|adopt\w*|accept(?:s|ed|able)?|releas\w*|ship\w*|proceed\w*|starts?|go(?: live| ahead)?|"
    r"goes|launch\w*|sign|buy|invest|uphold|confirm|allow\w*|permit\w*|grant|support|agree\w*|in favou?r|keep|safe|"
    r"ready|complie[sd]|comply|meets?|true|right|sound|secure|sufficient)\b",
    _I,
)
_NO = re.compile(
    r"^con$|\b(?:no|nay|reject\w*|declin\w*|den(?:y|ies|ied)|refus\w*|against|oppos\w*|block\w*|stop\w*|halt\w*|"
    r"cancel\w*|hold(?:s|ing)? (?:off|back|out)|^hold$|"
    r"withdraw\w*|abandon\w*|veto\w*|false|wrong|unsafe|insecure|unsound|insufficient|fails?)\b",
    _I,
)
_LATER = re.compile(r"\b(?:defer\w*|delay\w*|postpone\w*|wait\w*|later)\b", _I)
_BETWEEN = re.compile(
    r"\b(?:revis\w*|amend\w*|reduc\w*|partial\w*|partly|in part|modif\w*|chang\w*|adjust\w*|smaller|limited to|"
    r"condition\w*|only|unless|until|subject to|depends?|mixed|neutral|between|both|some)\b",
    _I,
)
_UNLESS = re.compile(r"\b(?:only|unless|until)\b", _I)
_NOT = re.compile(r"\b(?:not|never|no longer|without|cannot)\b|n[’']t\b", _I)
_HEAD = re.compile(r"[:;]|, (?=with|but|because|since|as )")
ESCALATE = re.compile(r"\bescalat\w*|\brefer(?:red)?\b|\babstain\b", _I)
_KEEN = re.compile(
    r"\byou (?:own|lead|run|wrote|brought|plan|booked|sell|negotiated|would write)\b|\bare paid for\b|\bhave booked\b",
    _I,
)
_WARY = re.compile(
    r"\brisk\b|\breview|\btest\b|\baudit|\bred team\b|\bcomplain|\banswer for\b|\bdefends? (?!the reading)|"
    r"\brecomputed\b|"
    r"\bassume that\b|\bon call\b|\bwould have to (?:stop|report|sell|say)\b|\bsign\b",
    _I,
)
KEENNESS = 0.5


def head(text: str) -> str:
    """The part of a stance that states it, without its reasons and without the stop at its end."""
    first = _HEAD.split(" ".join(text.split()), maxsplit=1)[0].strip()
    return (first or text.strip()).rstrip(".;, ")


def polarity(text: str, question: str, proposition: Proposition) -> float | None:
    """The place of a text on the scale from no (-1) to yes (1) of a proposition, or ``None`` if it has none."""
    first = head(text)
    negated = bool(_NOT.search(first))
    if known := _by_words(first, negated=negated):
        return 0.3 if known > 0 and _other_figures(first, question) else known
    if _BETWEEN.search(first) or _LATER.search(first):
        return -0.4 if _LATER.search(first) else 0.0
    return _by_kind(first, question, proposition)


def _by_words(first: str, *, negated: bool) -> float | None:
    if _NO.search(first):
        return 0.6 if negated else -1.0
    if not _YES.search(first):
        return None
    if negated:
        return -1.0
    return -0.2 if _UNLESS.search(first) else 0.2 if _BETWEEN.search(first) else 1.0


def _other_figures(first: str, question: str) -> bool:
    """Whether a stance names a figure of a kind that the question names too, and another one."""
    asked, said = figures(question), figures(first)
    return bool(asked) and bool(said) and not set(said) & set(asked)


def _by_kind(first: str, question: str, proposition: Proposition) -> float | None:
    own = kind_of(first) or kind_of(f"{' '.join(_subject(question))} {first}")
    if own is None or own[0] != proposition.kind:
        return None
    return float(own[1] * proposition.direction)


def _subject(question: str) -> Sequence[str]:
    return [w for w in question.split() if topic_terms(w)]


def scale(options: Sequence[str], question: str, proposition: Proposition) -> dict[str, float] | None:
    """The options on the scale from no to yes, or ``None`` if they are not on one."""
    found = {o: polarity(o.replace("_", " ").replace("-", " "), question, proposition) for o in options}
    placed = {o: p for o, p in found.items() if p is not None}
    return placed if len(placed) == len(found) and len(set(placed.values())) > 1 else None


def keenness(role: str) -> float:
    """The inclination of a role: the owner of a plan is keener on it than its reviewer."""
    return KEENNESS * (bool(_KEEN.search(role)) - bool(_WARY.search(role)))


def option_letter(text: str) -> str | None:
    """The letter of the option that a text is for: ``B`` of "Adopt option B", or of a bare "B"."""
    letters = named_options(text)
    if letters:
        return letters[0] if len(set(letters)) == 1 else None
    bare = re.fullmatch(r"(?:option[\s_-]*)?([a-z]\d?)", text.strip(), _I)
    return bare[1].upper() if bare else None
