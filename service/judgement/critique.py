"""Code's own judgement of replies and documents: the checks other than the citation engine itself.

    citations   which arguments stand on verified citations, and which are struck
    critique    hard signs of a weak critique (it is asked again) and soft ones (they are flagged)
    injection   passages of documents that speak to a model

The signs and thresholds for critiques were measured on recorded debates: words and counts of arguments or quotes say
nothing about quality and are not used; naming what is attacked does. Results are recorded as findings with `ENGINE`,
so a change of these rules never changes a debate that is already recorded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from service.debate.findings import (
    ArgumentVerdict,
    Citation,
    CitationsFound,
    CitationVerdict,
    CritiqueFound,
    InjectionFound,
    StrikeReason,
    Suspicion,
)
from service.debate.replies import Cited, Critique, Proposal, Reply, statements

ENGINE = "judgement/1"


class CritiqueThresholds(Struct, frozen=True, rename="camel"):
    """When a critique counts as weak; shares are per mille."""

    novelty_hard: int = 250
    novelty_soft: int = 500
    self_overlap: int = 500
    restating: int = 800
    restated_point: int = 800
    few_points: int = 3


THRESHOLDS = CritiqueThresholds()

_WORD = re.compile(r"[^\W\d_]{4,}")
_QUOTED = re.compile(r"[\"\u201c\u00ab]([^\"\u201c\u201d\u00ab\u00bb]{12,})[\"\u201d\u00bb]")
QUOTED_WORDS = 5
"""From this many words on, what stands in quotation marks is a passage and no longer a defined term."""
_PLACE = (
    r"(?:(?:section|clause|article|paragraph|schedule|exhibit|annex|appendix) (?:\d[\w.()-]{0,12}|(?-i:[A-Z])\b)|"
    r"\u00a7 ?\d[\w.()-]{0,12})"
)
_SAYS = (
    r"(?:provide|state|say|read|require|limit|cap|exclude|permit|allow|prohibit|forbid|set|define|oblige|grant|impose|entitle|"
    r"give|make|waive|extend)s?"
)
_REPORTED = re.compile(
    rf"(?:{_PLACE}),? (?:of (?:\w+ ){{1,4}})?(?:clearly |expressly |also |only |therefore )?{_SAYS}\b|"
    rf"\b(?:according to|as stated in|as required by|pursuant to) (?:the )?(?:{_PLACE})".replace(" ", r"\s{1,8}"),
    re.IGNORECASE,
)
SOFTENING = (
    "while i acknowledge",
    "i acknowledge",
    "i agree",
    "i concede",
    "i accept that",
    "to be fair",
    "this is generally reasonable",
    "generally reasonable",
    "largely correct",
    "the proposer is right",
    "a good point",
    "a valid point",
    "i find the proposition",
    "overall the proposal is sound",
)
_SOFT = re.compile(r"\b(?:" + "|".join(re.escape(p) for p in SOFTENING) + r")\b", re.IGNORECASE)


class _Sign(NamedTuple):
    """What a suspicious passage looks like. Every match holds at least one of ``words``: most documents lack them all,
    and looking for words is far cheaper than matching."""

    expression: re.Pattern[str]
    words: tuple[str, ...]

    def within(self, folded: str) -> bool:
        """Whether a text, folded by `_folded`, can hold a match at all."""
        return any(word in folded for word in self.words)


def _spoken(words: str, *expressions: str) -> _Sign:
    """Any of these, in any case and over line breaks. Every repetition is bounded, so the work grows with the text."""
    joined = "|".join(expressions).replace(" ", r"\s{1,8}")
    return _Sign(re.compile(joined, re.IGNORECASE | re.MULTILINE), tuple(words.split("|")))


_MODEL = r"(?:(?:ai|language|reviewer|reviewing) models?|ai(?: (?:assistant|system|agent|reviewer))?|llms?|chatbots?)"
_MODELS = " ai|language model|reviewer model|reviewing model|llm|chatbot|\u201cai|'ai|\"ai|(ai"
_ORDERS = r"(?:conclude|approve|reject|uphold|score|rate|agree|recommend|favou?r|side|challenge)"
_START = r"^[ \t>*#|-]{0,8}"
_INJECTIONS: Mapping[str, tuple[_Sign, ...]] = {
    "overrides earlier instructions": (
        _spoken(
            "ignore|disregard|forget|override|bypass|not follow|n't follow",
            r"\b(?:ignore|disregard|forget|override|bypass|do not follow|don't follow) "
            r"(?:(?:all|any|the|your|these|of) ){0,3}(?:previous|prior|above|earlier|preceding|system|initial) "
            r"(?:instruction|prompt|rule|message|direction)s?\b",
            r"\b(?:ignore|disregard|forget|do not follow) (?:\w{1,9} ){0,2}instructions? "
            r"(?:above|(?:that )?you (?:were|have|are))\b",
            r"\b(?:ignore|disregard|forget) (?:everything )?(?:the )?above(?:[.,;:!]| and\b)",
            r"\bforget (?:everything|all)(?: that)? you\b",
        ),
        _spoken(
            "instruction:|instructions:|your new|your real|your actual|from now on",
            _START + r"(?:new|updated|real) (?:system )?instructions?:",
            r"\byour (?:new|real|actual) (?:task|job|goal|instructions?) (?:is|are)\b",
            r"\bfrom now on,? (?:you|always|agree)\b",
        ),
    ),
    "speaks to a model": (
        _spoken(
            f"{_MODELS}|helpful assistant|virtual assistant",
            r"\b(?:you are|you're|act as|as) (?:now )?(?:an? |the )?(?:large )?"
            rf"(?:{_MODEL}|(?:helpful|virtual) assistant)\b"
            r"(?!(?: \w{1,9})? (?:provider|deployer|developer|vendor|compan|business)\w{0,3}\b)",
        ),
        _spoken(
            "you are now|pretend|read this|reads this|reading this|review this|reviews this|reviewing this",
            r"\byou are now an? (?:\w{1,20} ){0,2}(?:reviewer|judge|moderator|critic|assistant|agent)\b",
            r"\bpretend (?:that )?you(?: are|'re)\b",
            rf"\b(?:{_MODEL}|assistants?|models?) (?:that |who |which )?(?:reads?|reading|reviews?|reviewing) this\b",
        ),
    ),
    "orders a seat": (
        _spoken(
            "dear|attention|note to",
            r"\b(?:dear |attention[,:]? |note to (?:the |any |all )?)"
            rf"(?:{_MODEL}|moderator|critic|(?:assistant|model)[,:!])(?!\w)",
        ),
        _spoken(
            f"moderator|critic |critics |proposer|{_MODELS}|ai ",
            rf"\b(?:moderators?|critics?|proposers?|{_MODEL}) (?:must|shall|should|will|has to|have to) "
            rf"(?:always |only |never |not )?{_ORDERS}\b",
        ),
    ),
    "asks for a score or a verdict": (
        _spoken(
            "10/10|10 out of 10|ten out of ten|full marks|give this|give the|assign this|assign the",
            r"\b(?:give|assign|rate|score)\b[^.]{0,60}\b(?:10/10|10 out of 10|ten out of ten|full marks)\b",
            r"\b(?:give|assign) (?:this|the) (?:argument|proposer|critic|statement|proposition|proposal)\b[^.]{0,40}"
            r"\b(?:highest|maximum|perfect|full)\b",
        ),
        _spoken(
            "confidence|conclusion|verdict|respond only|reply only|answer only|output only|exclusively",
            r"\b(?:set|report|return|output|state) (?:the |your |a )?(?:confidence(?: ?level)?|conclusion|verdict) "
            r"(?:(?:to|as|of|is) )?\W{0,2}(?:high|moderate|low|upheld|modified|rejected)\b",
            r"\b(?:respond|reply|answer|output) (?:only|exclusively) (?:with )?(?:the word |[\"'\u201c\u2018])",
        ),
    ),
    "marks a role": (
        _spoken(
            "<|inst]|sys>|<system|</system|human:|assistant:|### system|### instruction|###system|###instruction",
            r"<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[/?INST\]|<</?SYS>>|</?system(?:[_-](?:prompt|message))?>",
            r"^### ?(?:system|instruction)s?:|^(?:human|assistant):",
        ),
        _spoken(
            "system prompt|system message|system override|system:",
            _START + r"system (?:prompt|message|override)\W{0,2}:|^system: (?:you|the|ignore)\b",
            r"\b(?:begin|start of|end of) system (?:prompt|message)\b",
        ),
    ),
    "imitates a reply": (
        _Sign(
            re.compile(
                r"\b(?:confidenceLevel|recommendAnotherRound|challengeStrength|explicitUncertainties)[\"']?\s{0,8}[:=]"
            ),
            ("confidencelevel", "recommendanotherround", "challengestrength", "explicituncertainties"),
        ),
    ),
    "imitates a fence": (_Sign(re.compile(r"\[\[[0-9a-f]{16} (?:begin|end) [a-z-]+"), ("[[",)),),
}
SUSPICIONS_MAX = 50
"""A document that holds more is suspicious enough."""


def judge_citations(said: Mapping[str, Reply], verify: Callable[[Citation], CitationVerdict]) -> CitationsFound:
    """The verdict on every citation of these replies (turn id -> reply), and the arguments that are struck for them."""
    return CitationsFound(
        tuple(_judge_argument(turn, argument, verify) for turn, reply in said.items() for argument in statements(reply))
    )


def _judge_argument(turn: str, argument: Cited, verify: Callable[[Citation], CitationVerdict]) -> ArgumentVerdict:
    verdicts = tuple(verify(citation) for citation in argument.citations)
    struck: StrikeReason | None = None
    if any(found.verdict != "verified" for found in verdicts):
        struck = "unverified_citation"
    elif not verdicts and claims_evidence(argument):
        struck = "uncited"
    return ArgumentVerdict(turn, argument.n, verdicts, struck)


def claims_evidence(argument: Cited) -> bool:
    """Whether an argument claims evidence: it says so, it quotes a passage, or it reports what a clause says.

    Merely naming a clause or a defined term does neither: "Section 9 is silent on fines" has nothing to quote.
    """
    quoted = (match.group(1) for match in _QUOTED.finditer(argument.text))
    return (
        argument.basis == "evidence"
        or any(len(passage.split()) >= QUOTED_WORDS for passage in quoted)
        or bool(_REPORTED.search(argument.text))
    )


def judge_critique(
    proposals: Sequence[Proposal],
    earlier: Sequence[Critique],
    critique: Critique,
    verdicts: Sequence[ArgumentVerdict],
    thresholds: CritiqueThresholds = THRESHOLDS,
) -> CritiqueFound:
    """How a critique stands up to the signs that code can see.

    ``earlier`` are the critic's own former critiques; ``verdicts`` those on the critique's points.
    """
    attacked = _words(_text(p) for p in proposals)
    mine = _words(point.text for point in critique.points)
    arguments = {a.n for p in proposals for a in p.arguments}
    checked = [v for argument in verdicts for v in argument.verdicts]
    found = CritiqueFound(
        points=len(critique.points),
        points_naming_an_argument=sum(bool(arguments & set(point.attacks)) for point in critique.points),
        citations=len(checked),
        citations_verified=sum(v.verdict == "verified" for v in checked),
        novelty=_share(mine - attacked, mine),
        self_overlap=max((_jaccard(mine, _words(p.text for p in c.points)) for c in earlier), default=0),
        restating=_restating(proposals, critique, thresholds),
        softening=tuple(sorted({m.group(0).lower() for m in _SOFT.finditer(_critique_text(critique))})),
        weak=(),
        soft=(),
    )
    return _rate(found, thresholds)


def _rate(found: CritiqueFound, t: CritiqueThresholds) -> CritiqueFound:
    hard = {
        "noPoint": not found.points,
        "noPointNamesAnArgument": bool(found.points) and not found.points_naming_an_argument,
        "noCitationVerified": bool(found.citations) and not found.citations_verified,
        "littleNovelty": bool(found.points) and found.novelty < t.novelty_hard,
        "repeatsItself": found.self_overlap >= t.self_overlap,
        "restatesTheProposer": found.restating > t.restating,
    }
    soft = {
        "fewPoints": 0 < found.points < t.few_points,
        "limitedNovelty": t.novelty_hard <= found.novelty < t.novelty_soft,
        "noCounterEvidence": bool(found.points) and not found.citations,
        "softening": bool(found.softening),
    }
    return CritiqueFound(
        **{
            **{name: getattr(found, name) for name in found.__struct_fields__},
            "weak": tuple(name for name, holds in hard.items() if holds),
            "soft": tuple(name for name, holds in soft.items() if holds),
        }
    )


def judge_injection(sources: Mapping[str, str]) -> InjectionFound:
    """Passages of the documents (id -> text) that look like orders to a model; offsets are code points.

    Claims nothing about what it does not find: it reduces and records, it does not prevent.
    """
    suspicions: list[Suspicion] = []
    for source, text in sources.items():
        folded = _folded(text)
        for pattern, signs in _INJECTIONS.items():
            spans = {m.span() for sign in signs if sign.within(folded) for m in sign.expression.finditer(text)}
            suspicions += [Suspicion(source, span, pattern) for span in sorted(spans)]
    return InjectionFound(tuple(suspicions[:SUSPICIONS_MAX]))


def _folded(text: str) -> str:
    """The words of a text in small letters with one space between them, before and after."""
    return f" {' '.join(text.casefold().split())} "


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _WORD.findall(text.casefold()))


def _text(proposal: Proposal) -> str:
    return " ".join([proposal.thesis, *(a.text for a in proposal.arguments), *(o.answer for o in proposal.objections)])


def _critique_text(critique: Critique) -> str:
    return "\n".join([critique.thesis, *(point.text for point in critique.points)])


def _restating(proposals: Sequence[Proposal], critique: Critique, t: CritiqueThresholds) -> int:
    """The share of points of which most words stand in one single argument of the proposer."""
    arguments = [_words([a.text]) for p in proposals for a in p.arguments]
    points = [_words([point.text]) for point in critique.points]
    restated = [p for p in points if any(_share(p & a, p) >= t.restated_point for a in arguments)]
    return len(restated) * 1_000 // len(points) if points else 0


def _share(part: frozenset[str], whole: frozenset[str]) -> int:
    return len(part) * 1_000 // len(whole) if whole else 0


def _jaccard(one: frozenset[str], other: frozenset[str]) -> int:
    return _share(one & other, one | other)
