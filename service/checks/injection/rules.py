"""Passages of a case that speak to a model. Recorded under `injection/1`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from service.checks.injection.fields import FieldText
from service.checks.patterns import lazily
from service.debate.findings import InjectionFamily, InjectionFound, Suspicion


class _Sign(NamedTuple):
    """A pattern of suspicious passages. Every match holds at least one of ``words``: most documents have none of them,
    and a search for words is far cheaper than matching."""

    expression: re.Pattern[str]
    words: tuple[str, ...]

    def within(self, folded: str) -> bool:
        """Whether a text, folded by `_folded`, can hold a match at all."""
        return any(word in folded for word in self.words)


def _spoken(words: str, *expressions: str) -> _Sign:
    """A pattern for any of these, in any case and over line breaks. Repetitions are bounded, so the work is linear."""
    joined = "|".join(expressions).replace(" ", r"\s{1,8}")
    return _Sign(lazily(joined, re.IGNORECASE | re.MULTILINE), tuple(words.split("|")))


_MODEL = r"(?:(?:ai|language|reviewer|reviewing) models?|ai(?: (?:assistant|system|agent|reviewer))?|llms?|chatbots?)"
_MODELS = " ai|language model|reviewer model|reviewing model|llm|chatbot|\u201cai|'ai|\"ai|(ai"
_ORDERS = r"(?:conclude|approve|reject|uphold|score|rate|agree|recommend|favou?r|side|challenge)"
_START = r"^[ \t>*#|-]{0,8}"
_INJECTIONS: Mapping[InjectionFamily, tuple[_Sign, ...]] = {
    "override": (
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
    "address": (
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
    "verdict": (
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
    "score": (
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
    "system": (
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
    "reply": (
        _Sign(
            lazily(
                r"\b(?:confidenceLevel|recommendAnotherRound|challengeStrength|explicitUncertainties)[\"']?\s{0,8}[:=]"
            ),
            ("confidencelevel", "recommendanotherround", "challengestrength", "explicituncertainties"),
        ),
    ),
    "fence": (_Sign(lazily(r"\[\[[0-9a-f]{16} (?:begin|end) [a-z-]+"), ("[[",)),),
}
SUSPICIONS_MAX = 50
"""The most passages that are reported of one text."""
WORDS_MAX = 300
"""The most characters of a passage that a finding repeats."""


def check_injection(texts: Sequence[FieldText]) -> InjectionFound:
    """Passages of these texts that look like orders to a model; offsets are code points.

    Texts without findings may still hold such passages: the check reduces and records, it does not prevent.
    """
    suspicions: list[Suspicion] = []
    for field, name, text in texts:
        folded, here = _folded(text), dict[tuple[int, int], InjectionFamily]()
        for family, signs in _INJECTIONS.items():
            for sign in signs:
                for match in sign.expression.finditer(text) if sign.within(folded) else ():
                    here.setdefault(match.span(), family)
        found = sorted(here.items())[:SUSPICIONS_MAX]
        suspicions += [Suspicion(field, span, family, words_of(text, span), name) for span, family in found]
    return InjectionFound(tuple(suspicions))


def words_of(text: str, span: tuple[int, int]) -> str:
    """The words of a passage as a finding repeats them."""
    words = text[slice(*span)]
    half = WORDS_MAX // 2
    return words if len(words) <= WORDS_MAX else f"{words[:half]}\u2026{words[1 - half :]}"


def _folded(text: str) -> str:
    """The words of a text in small letters with one space between them, before and after."""
    return f" {' '.join(text.casefold().split())} "
