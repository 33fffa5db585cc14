"""British and American spellings of one word, by rules of stems and endings.

The rules cover only pairs that are one word in every sense. These are two words, or were two once, and differ:

    metre, meter             a length and a device; but kilometre, centimetre and the like are spelled both ways
    storey, story            a floor and a tale
    programme, program       a schedule and software
    apprise, apprize         to inform and to value; so are assise and assize, reprise and reprize
    prologue, prolog         a preface and a language
    arbour, arbor            a bower and a shaft

Nor are cheque, draught, tyre and kerb, whose American spellings are other words in Britain.
"""

from __future__ import annotations

from service.checks.patterns import lazily
from service.debate.whose import by_tenant

_OUR = (
    "ard|arm|behavi|cand|clam|clang|col|cold|demean|disfav|dishon|disc?ol|enam|endeav|fav|ferv|flav|glam|harb|hon|hum"
    "|lab|misdemean|neighb|od|parl|ranc|rig|rum|sav|savi|splend|succ|tum|val|vap|vig"
)
_ELL = (
    "cancel|travel|label|model|signal|channel|counsel|total|level|fuel|marvel|libel|initial|equal|dial|rival|tunnel"
    "|quarrel|panel|shovel|funnel|pedal|barrel|jewel"
)
_RE = "(?:epi|re)?cent|(?:milli|centi|deci|hecto)?lit|(?:kilo|centi|milli|deci|nano)met|fib|theat|calib|sab|spect|lust"
_AE = "an(?=aemi|aesth)|p(?=aediatr)|h(?=aem[ao])|gyn(?=aeco)|orthop(?=aed)|encyclop(?=aed)"
_AMERICAN = (
    (lazily(r"^practis(e|es|ed|ing)$"), r"practic\1"),
    (lazily(rf"\b((?:bel|mis|re|un|dis)?(?:{_OUR}))our"), r"\1or"),
    (lazily(r"([a-z]{3})is(e|ed|es|er|ers|ing|able|ation|ations|ational)$"), r"\1iz\2"),
    (lazily(r"(anal|paral|catal|hydrol|electrol)ys(e|ed|er|ers|es|ing)$"), r"\1yz\2"),
    (lazily(rf"^({_RE}|lacklust|meag|somb|och|amphitheat)re(s)?$"), r"\1er\2"),
    (lazily(rf"^({_RE})r(ed|ing)$"), r"\1er\2"),
    (lazily(rf"({_ELL})l(ed|ing|er|ers|or|ors|ous|able|ery)$"), r"\1\2"),
    (lazily(r"^(fulfil|enrol|instil|distil|appal|instal)l?(s|ment|ments)?$"), r"\1l\2"),
    (lazily(r"^(ski|wi)ll?ful(ly|ness)?$"), r"\1lful\2"),
    (lazily(r"(licen|defen|offen|preten)c(e|es|ed|ing|eless)$"), r"\1s\2"),
    (lazily(r"(catal|dial|anal|monol|epil)ogue(s|d)?$"), r"\1og\2"),
    (lazily(r"\b((?:mis|pre)?jud|acknowled|abrid)gement"), r"\1gment"),
    (lazily(rf"^(un|dis)?({_AE})ae(.*)$"), r"\1\2e\3"),
    (lazily(r"^(manoeuv)re"), r"maneuver"),
    (lazily(r"^aluminium$"), "aluminum"),
    (lazily(r"^ageing$"), "aging"),
    (lazily(r"^grey(s|ed|er|ing)?$"), r"gray\1"),
    (lazily(r"^mould"), "mold"),
    (lazily(r"^artefact"), "artifact"),
    (lazily(r"^scept(ic)"), r"skept\1"),
    (lazily(r"^plough"), "plow"),
    (lazily(r"^sulph"), "sulf"),
)  # fmt: skip
_NOT_IZE = tuple(
    "advis compromis exercis supervis surpris improvis promis premis revis devis televis excis "
    "appris assis repris".split()
)


@by_tenant(most=1 << 12)
def american(word: str) -> str:
    """The American spelling of a word, or the word itself if there is no other spelling."""
    if word.startswith(_NOT_IZE):
        return word
    for british, spelling in _AMERICAN:
        changed = british.sub(spelling, word)
        if changed != word:
            return changed
    return word


def is_respelled(word: str, other: str) -> bool:
    """Whether two words differ in British and American spelling only."""
    return word != other and american(word) == american(other)
