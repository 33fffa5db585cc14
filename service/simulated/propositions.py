"""From a question to a proposition for debate, and to its kind.

    question                                  proposition
    "Does X expose us to Y?"                  "X exposes us to Y."
    "Is X sufficient against Y?"              "X is sufficient against Y."
    "Should we adopt X?"                      "We should adopt X."
    "Assess whether X holds."                 "X holds."
    "What ...?", "Which ...?", a bare phrase  "The documents supplied settle ..."

An answer under review fixes the side: "No. ..." negates the proposition, and its first reason is added.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from service.simulated.tables import Kind
from service.simulated.words import topic_terms

_VERBS = frozenset(
    """accept achieve address adopt adhere affect agree allow answer apply approve assign assume authorise
    authorize avoid bar bind breach build buy cap carry cause change comply conclude conform consider constitute
    contain continue contribute cover create cut decline defer define delay deliver deny depend deploy describe
    discharge disclose eliminate enable end enforce ensure enter entitle establish exceed exclude exempt exist
    expand expire explain expose extend face fail fall follow fulfil fulfill finish met kept gone paid made done
    taken given begun fund give go grant grow guarantee handle have hire hold hurt implement impose include
    increase indemnify introduce invest involve isolate issue justify keep launch lead leave let license limit
    lock lose lower maintain make manage match mean meet migrate mitigate move need notify obligate oblige offer
    outsource pass pay permit pose prefer prevent proceed prohibit protect provide purchase put qualify raise
    reach reduce refuse reject release rely remain remove renegotiate renew replace report require resist
    restrict retain retire rewrite risk satisfy save secure sell serve set settle show shift sign spend split
    stand start state stop store subject suffice supply support survive switch take target terminate transfer
    treat trigger trust understate overstate upgrade use violate waive warrant withhold withstand work""".split()
)
_PREDICATES = frozenset(
    """sufficient insufficient adequate inadequate sound unsound secure insecure safe unsafe valid invalid
    enforceable unenforceable uncapped capped unlimited limited appropriate inappropriate acceptable
    unacceptable ready justified reasonable unreasonable correct incorrect effective ineffective right wrong
    worth likely unlikely able unable required permitted allowed prohibited protected covered exposed bound
    entitled responsible liable consistent inconsistent realistic unrealistic achievable resistant
    vulnerable robust resilient credible plausible sustainable affordable mutual exclusive binding complete
    incomplete enough strong weak fair unfair overvalued undervalued viable scalable supported conservative
    aggressive subject necessary possible good bad better the a an in""".split()
)
_BE = ("is", "are", "was", "were")
_MODALS = ("should", "can", "could", "may", "must", "will", "would", "shall", "might")
_PRONOUNS = frozenset("we they it you i he she this that these those".split())
_LIMITING = re.compile(r"\b(?:not|no longer|never)\b", re.IGNORECASE)


class Proposition(NamedTuple):
    """The proposition: its words, the table that judges sentences, and -1 if the sides are swapped, else 1."""

    thesis: str
    kind: Kind
    direction: int
    settled: bool


def frame(question: str, answer: str | None, documents: str, positions: int = 0) -> Proposition:
    """The proposition that a question puts, given the answer under review and some text of the documents."""
    asked = _asked(question)
    stated = _positive(asked)
    kind, direction = _kind(stated, documents) if stated else ("presence", 1)
    if positions > 1:
        return Proposition(
            f"One of the {positions} options is better supported by the documents than the others.", "adoption", 1, True
        )
    thesis = stated or _settle(asked)
    verdict, reason = _verdict(answer) if answer else (0, "")
    if verdict < 0 and stated:
        thesis, direction = negate(thesis), -direction
    if reason:
        thesis = f"{thesis.rstrip('.')}: {reason.rstrip('.')}." if stated else _sentence(reason)
    return Proposition(thesis, kind, direction, stated is not None)


def _asked(question: str) -> str:
    """The sentence that asks: the last with a question mark, else the first."""
    flat = " ".join(question.split())
    flat = re.sub(r"\bOught (.{2,80}?) to ", r"Should \1 ", flat)
    asking = re.findall(r"[^.?!]*(?:[.!](?=\S)[^.?!]*)*\?", flat)
    chosen = str(asking[-1] if asking else re.split(r"(?<=[.!])\s", flat)[0])
    return chosen.strip().rstrip("?.! ").strip()[:400]


def _positive(asked: str) -> str | None:
    words = asked.split()
    if found := re.search(r"\b(?:whether|that|if(?!\s+any\b))\s+(.{8,})$", asked) if not _is_polar(words) else None:
        return _sentence(found[1])
    if not _is_polar(words):
        return None
    turned = _inverted(words[0].lower(), words[1:]) if len(words) > 2 else None
    return _sentence(turned) if turned else None


def _is_polar(words: list[str]) -> bool:
    first = words[0].lower() if words else ""
    return first in (*_BE, *_MODALS, "does", "do", "did", "has", "have")


def _inverted(auxiliary: str, rest: list[str]) -> str | None:
    """Subject first: "does this agreement expose us" becomes "this agreement exposes us"."""
    if auxiliary in _BE:
        at = _predicate_at(rest)
        return None if at is None else " ".join([*rest[:at], auxiliary, *rest[at:]])
    at = _verb_at(rest, participle=auxiliary in ("has", "have"))
    if at is None:
        return None
    if auxiliary in ("do", "have", "did") or auxiliary in (*_MODALS, "has"):
        return " ".join([*rest[:at], *([] if auxiliary == "do" else [auxiliary]), *rest[at:]])
    if auxiliary == "does" and rest[at - 1].lower() == "not":
        return " ".join([*rest[: at - 1], "does", *rest[at - 1 :]])
    return " ".join([*rest[:at], _third_person(rest[at]), *rest[at + 1 :]])


def _bare(word: str) -> str:
    return word.lower().strip(",.;:()\"'“”‘’")


def _predicate_at(rest: list[str]) -> int | None:
    """Where the predicate begins in "the session management design sufficient against ..."."""
    first = _bare(rest[0])
    if first == "there":
        return 1
    if first in _PRONOUNS and (len(rest) < 2 or first in ("it", "we", "they", "you", "i")):
        return 1
    places = [
        i
        for i, word in enumerate(rest)
        if i > 0
        and (_bare(word) in _PREDICATES or _bare(word).startswith("complian"))
        and not (_bare(word) in ("the", "a", "an", "in") and i < 2)
        and _bare(rest[i - 1]) not in ("the", "a", "an", "our", "this", "its", "of", "any", "most", "in", "that", "to")
    ]
    strong = [i for i in places if _bare(rest[i]) not in ("the", "a", "an", "in", "subject", "right", "good")]
    if not strong:
        return places[0] if places else _participle_at(rest)
    clause = any(_bare(w) in ("that", "which", "who", "whose") for w in rest[: strong[-1]])
    at = strong[-1] if clause else strong[0]
    return at - 1 if at > 1 and _bare(rest[at - 1]) in ("not", "too", "fully", "still", "really", "adequately") else at


def _participle_at(rest: list[str]) -> int | None:
    for i, word in enumerate(rest[1:], start=1):
        bare = _bare(word)
        if (
            bare.endswith("ed")
            and len(bare) > 4
            and _bare(rest[i - 1]) not in ("the", "a", "an", "our", "this", "its", "any")
        ):
            return i
    return None


def _verb_at(rest: list[str], *, participle: bool) -> int | None:
    if _bare(rest[0]) in _PRONOUNS and len(rest) > 1 and (_bare(rest[0]) not in ("this", "that", "these", "those")):
        return 1
    for i, word in enumerate(rest[1:], start=1):
        bare = _bare(word)
        if bare in _VERBS or bare == "be" or (participle and bare.endswith(("ed", "en"))):
            determined = _bare(rest[i - 1]) in ("the", "a", "an", "our", "this", "its", "of", "to", "any", "for", "and")
            if not determined:
                return i
    return None


def _third_person(verb: str) -> str:
    low = verb.lower()
    if low == "have":
        return "has"
    if low == "be":
        return "is"
    if low.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if low.endswith("y") and low[-2] not in "aeiou" else verb + "s"


def _sentence(words: str) -> str:
    text = words.strip().rstrip(".;,")
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _settle(asked: str) -> str:
    """The proposition of a question that yes or no cannot answer."""
    if not asked or not topic_terms(asked):
        return "The documents supplied settle the matter."
    if len(asked.split()) <= 4:
        return f"The documents supplied settle the matter of {_lowered(asked)}."
    return f"The documents supplied settle the question: {_lowered(asked)}."


def _lowered(words: str) -> str:
    return words[:1].lower() + words[1:] if words[1:2].islower() else words


_SUBORDINATE = re.compile(r"\b(?:so that|that|which|who|whose|if|when|where|unless|because|provided)\b", re.IGNORECASE)


def negate(thesis: str) -> str:
    """The opposite, by a "not" after the main clause's first auxiliary that can carry one; else by a phrase."""
    main = _SUBORDINATE.split(thesis, maxsplit=1)[0]
    found = re.search(r"\b(?:is|are|was|were|should|can|could|may|must|will|would|has|have)\b", main)
    if found and not _LIMITING.search(thesis):
        joined = "not" if found[0] == "can" else " not"
        return f"{thesis[: found.end()]}{joined}{thesis[found.end() :]}"
    return f"It is not the case that {lowered(thesis)}"


def lowered(words: str) -> str:
    """A sentence as it goes on after another word; a name keeps its capital."""
    first = words.partition(" ")[0]
    return _lowered(words) if first.lower() in _SMALL else words


_SMALL = frozenset("the a an this that these those it we our they their its there of in no each any every one".split())


def _verdict(answer: str) -> tuple[int, str]:
    """Whether an answer says yes (1), no (-1) or neither (0), and its first reason as a clause."""
    flat = " ".join(answer.split())
    verdict = 0
    if found := re.match(r"(yes|no|approve[sd]?|reject(?:ed)?|not? approved?)\b[.,:;!—–-]*\s*", flat, re.IGNORECASE):
        verdict = -1 if found[1].lower().startswith(("no", "reject")) else 1
        flat = flat[found.end() :]
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z\"“])", flat)
    first = sentences[0].strip()
    if not verdict and len(first) < 80 and len(sentences) > 1:
        verdict = (
            -1 if re.search(r"\b(?:not|cannot|fails?|neither|insufficient|reject\w*)\b", first, re.IGNORECASE) else 1
        )
        first = sentences[1].strip()
    reason = first if 10 < len(first) <= 170 else first[:170].rpartition(",")[0]
    reason = re.sub(r"^(?:because|since)\s+", "", reason)
    starts_name = bool(re.match(r"(?:[A-Z]\w*[A-Z\d]|Section|Clause|Paragraph|Article|Annex|Schedule|§|I\b)", reason))
    return verdict, reason if starts_name or not verdict else reason[:1].lower() + reason[1:]


_ROWS: tuple[tuple[Kind, int, str], ...] = (
    (
        "exposure",
        1,
        (
            r"\bexpos|\buncapped\b|\bunlimited\b|\bliable for\b|\bopen-ended\b|"
            r"\bwithout (?:a )?(?:limit|cap)\b|\bliabilit\w+ .*\bexceed"
        ),
    ),
    (
        "exposure",
        -1,
        (
            r"\b(?:liabilit|damages|indemnit|loss)\w*\b.*\b(?:capped|limited|excluded|covered)\b|"
            r"\b(?:cap|limit|exclude)s?\b.*\b(?:liabilit|damages|loss)|\bprotects? (?:us|"
            r"the)\b.*\b(?:liabilit|claims?|loss)"
        ),
    ),
    (
        "conformity",
        1,
        (
            r"\b(?:meet|satisf|compl|conform|adher|fulfil)\w*\b.*\b(?:requirement|standard|rule|"
            r"regulation|obligation|law|act|policy|part|retention|with)\b|\bcomplian(?:t|ce)\b|"
            r"\bmay (?:it )?start\b"
        ),
    ),
    ("soundness", -1, r"\b(?:overvalued|undervalued|too (?:aggressive|high|optimistic)|unrealistic|unsound)\b"),
    ("sufficiency", -1, r"\b(?:vulnerable|insecure|insufficient|inadequate|unsafe|weak)\b"),
    (
        "soundness",
        1,
        (
            r"\b(?:thesis|valuation|forecast|covenant|invest\w*|market assumption|growth|revenue|"
            r"committee approve|commitment|fund|acquisition|unitranche|loan)\b"
        ),
    ),
    (
        "sufficiency",
        1,
        (
            r"\b(?:secure|sufficient|adequate|resist\w*|protect\w*|robust|safe|withstand|prevent|"
            r"mitigat\w+|strong enough)\b"
        ),
    ),
    (
        "adoption",
        1,
        (
            r"\bshould\b|\b(?:adopt|migrate|replace|switch|choose|approve|build|buy)(?:s|d|ed)?\b|"
            r"\bright choice\b|\bworth\b"
        ),
    ),
    ("sufficiency", 1, r"\b(?:sound|effective|appropriate|ready|acceptable|reliable)\b"),
    ("exposure", 1, r"\bliabilit|\bindemn"),
)
_KINDS = tuple((kind, direction, re.compile(pattern, re.IGNORECASE)) for kind, direction, pattern in _ROWS)
_TASKS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("soundness", re.compile(r"\bEBITDA\b|\bequity\b|\bmargin\b|\bvaluation\b|\binvestor", re.IGNORECASE)),
)


def kind_of(words: str) -> tuple[Kind, int] | None:
    """The table that knows the words of a text, and its direction; ``None`` if no table does."""
    turned = -1 if _LIMITING.search(words) else 1
    return next(((kind, side * turned) for kind, side, pattern in _KINDS if pattern.search(words)), None)


def _kind(words: str, documents: str) -> tuple[Kind, int]:
    """The table that fits a proposition, by the first row of words that it matches, and its direction."""
    turned = -1 if _LIMITING.search(words) else 1
    for kind, direction, pattern in _KINDS:
        if pattern.search(words):
            if kind == "adoption" and any(len(p.findall(documents)) >= 6 for _, p in _TASKS):
                return "soundness", direction * turned
            return kind, direction * turned
    return "presence", turned
