"""The type of a question, one of the panel's six, by rules: the first that matches decides and gives the reason.

    1  documents    the contents or requirements of a text, or compliance; unless it is about an action  factual
    2  ideas        asks for many answers and not for one                                                brainstorm
    3  worldview    consciousness, free will, God, reality, the purpose of a life                        belief
    4  policy       what law or society ought to allow, forbid or demand; right and wrong                normative
    5  future       a future event, or its likelihood                                                    prediction
    6  decision     an organisation's action: "should", or risk and worth with an organisation           business
    7  ought        any other "should"                                                                   normative
    8  any other question                                                                                factual

The rules see words, in English, and not their meaning. "Will" as a name is a prediction. A business decision that names
no organisation is normative. A question that no rule knows is factual, and most wrong types are of this kind. A caller
may name the type, and policy may seat a classifier for it. At most `READ` characters are read, once by every rule. A
change here is a new version.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

from msgspec import Struct

from service.checks.patterns import lazily
from service.debate.replies.panel import QuestionType
from service.debate.versions import newest

READ = 4_000
"""The most characters of a question that are read."""


class Classified(Struct, frozen=True, rename="camel"):
    """The type of a question, and the rule that decided it."""

    question_type: QuestionType
    because: str


class _Rule(Struct, frozen=True):
    """A question has this type if ``says`` matches, ``also`` too if there is one, and ``unless`` does not."""

    question_type: QuestionType
    because: str
    says: re.Pattern[str]
    also: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None

    def holds(self, question: str) -> bool:
        """Whether the rule matches a question, which is given in small letters with one space between words."""
        return (
            bool(self.says.search(question))
            and (self.also is None or bool(self.also.search(question)))
            and not (self.unless and self.unless.search(question))
        )


def _any(*patterns: str) -> re.Pattern[str]:
    return lazily("|".join(patterns))


_OUGHT = _any(r"\b(?:should|ought|shall we|had better)\b")
_TEXT = (
    r"(?:agreement|contract|clause|section|article|polic(?:y|ies)|standard|regulation|statute|act|licen[cs]e|lease|"
    r"deed|terms|guideline|directive|specification|procedure|rules?|law)\b"
)
_DOCUMENT = _any(
    r"\b(?:under|according to|pursuant to|in breach of|within the meaning of) "
    rf"(?:(?:the|this|that|our|its|your) )?(?:\w+ ){{0,3}}{_TEXT}",
    r"\b(?:does|do|is|are|has|did) (?:\S+ ){1,12}?"
    rf"(?:meet|comply|conform|satisfy|violate|breach|complian\w|consistent|in line)\b.{{0,80}}\b{_TEXT}",
    rf"\b(?:does|do) (?:the|this|these|our|its) (?:\w+ ){{0,3}}{_TEXT} (?:\w+ )?"
    r"(?:allow|require|permit|prohibit|forbid|cap|limit|exclude|cover|oblige|say|state|mean|apply|provide|expose)",
)
_IDEAS = _any(
    r"\b(?:brainstorm|ideas?|suggestions?|come up with|think of)\b",
    r"\b(?:what are|what would be|what could be|list|name|give|suggest|propose|find|which) (?:me |us )?"
    r"(?:some |a few |\d+ |ten |five |the |other |possible |new )*"
    r"(?:unconventional|creative|innovative|novel|original|alternative|different|unusual|fun|fresh|low-cost|cheap) ",
    r"\bwhat (?:are|would be|could be) (?:some|a few|\d+|ten|five|possible|other)\b",
    r"\bwhat (?:are|would be|other) (?:\w+ ){0,4}"
    r"(?:ways|strategies|approaches|tactics|names|uses|angles|themes|possibilities)\b",
    r"^(?:please )?(?:suggest|propose|list) (?:some |a few |\d+ )?\w*s\b",
    r"\b(?:in what|how many different) ways\b",
    r"\bhow (?:might|could) \w+\b",
    r"\bwhat (?:else |(?:new|other) \w+ )?(?:could|might|can) (?:we|i|you|one|they|a|an|the|our)\b",
    r"^(?:please )?(?:name|list|give|find|suggest|propose|offer) (?:me |us )?"
    r"(?:some|a few|several|\d+|two|three|four|five|six|seven|eight|nine|ten|twenty) ",
)
_WORLDVIEW = _any(
    r"\b(?:conscious(?:ness)?|sentien(?:t|ce)|free will|determinism|souls?|god|gods|deity|divine|afterlife|"
    r"life after death|reincarnation|karma|metaphysic\w*|existential|qualia|transcenden\w+|spiritual\w*|religio\w+|"
    r"faith|enlightenment)\b",
    r"\b(?:meaning|purpose|sense) of (?:life|existence|suffering|the universe|being)\b",
    r"\b(?:nature|structure) of (?:reality|the self|time|truth|knowledge|mind)\b",
    r"\b(?:is|are|does|do|can) (?:the )?(?:morality|moral truths?|mathematics|numbers|reality|truth|beauty|time|"
    r"the self|the mind|minds|the universe) (?:\w+ ){0,2}(?:objective|subjective|relative|real|an illusion|discovered|"
    r"invented|exist|fundamental|infinite|simulated|a simulation|reduce)",
    r"\b(?:live|living) in a simulation\b",
    r"\b(?:what|does it) (?:does it )?mean to be (?:a )?(?:human|person|free|alive|good)\b",
    r"\b(?:believe|belief) in\b",
    r"\bhuman nature\b",
    r"\b(?:objective|absolute|ultimate) (?:truth|morality|values?|good|meaning)\b",
    r"\b(?:life|death|suffering|existence) (?:\w+ )?have (?:\w+ )?(?:meaning|purpose)\b",
    r"(?<!virtual )(?<!augmented )(?<!mixed )\breality\b(?! check)",
)
_VALUES = _any(
    r"\b(?:un)?(?:ethical|moral|just|fair)(?:ly|ity)?\b",
    r"\b(?:ethics|justice|immoral|injustice|fairness|permissible|morally|human rights?|moral dut(?:y|ies))\b",
    r"\b(?:is|was|would) it (?:ever )?(?:right|wrong|acceptable|justified|legitimate|defensible)\b",
    r"\b(?:do|does) (?:we|humans|people|society|everyone|anyone|nations?|governments?|(?:the )?\w+ nations?|animals|"
    r"children|parents|the rich) (?:\w+ )?"
    r"(?:have (?:a|an|any) (?:\w+ )?(?:duty|obligation|responsibility|right)|owe|deserve)\b",
    r"^(?:is|are|was) (?:\S+ ){1,6}(?:right or )?(?:wrong|evil|sinful|cruel|virtuous)\b",
    r"\bshould (?:.{1,80} )?be (?:\w+ )?(?:banned|allowed|legal|legali[sz]ed|illegal|permitted|prohibited|forbidden|"
    r"mandatory|compulsory|required|obliged|forced|regulated|taxed|labell?ed|abolished|(?:de)?criminali[sz]ed|"
    r"punished|free|guaranteed|restricted|censored|held)\b",
    r"\bshould (?:the )?(?:governments?|states?|society|societies|parliament|lawmakers|citizens|people|everyone|nobody|"
    r"humans|humanity|countries|voting|parents|schools|the law)\b",
)
_FUTURE = _any(
    r"^(?:and |so |but )?(?:when )?will\b",
    r"\bwill (?!of\b)(?:\S+ ){1,12}?(?:by|before|within|in|during|after) (?:the )?(?:(?:end|middle|start) of )?"
    r"(?:20\d\d|next|coming|\w+ (?:years?|months?|decades?|quarters?))\b",
    r"\b(?:how likely|how probable|likelihood|probabilit(?:y|ies)|odds|chances? (?:that|of)|what are the chances)\b",
    r"\b(?:forecast|predict|project(?:ed|ion)s? for|expected to (?:reach|exceed|fall|rise|grow))\w*\b",
    r"\bwhat will\b",
    r"\b(?:could|might|may|can|would) .{1,120}\b(?:by|before|within) (?:the )?(?:(?:end|middle|start) of )?"
    r"(?:20\d\d|next|coming|\w+ (?:years|months|decades))\b",
    r"\b(?:in|by|before|until) (?:the )?(?:year |end of )?(?:20[3-9]\d|21\d\d)\b",
    r"\b(?:who|which \w+|how (?:much|many|fast|soon|long)) (?:\S+ ){0,8}?will\b",
    r"\b(?:is|are) (?:\S+ ){1,8}?(?:going to|likely to|bound to|set to)\b",
)
_ORGANISATION = _any(
    r"\b(?:we|our|us|i)\b",
    r"\b(?:compan(?:y|ies)|startups?|start-ups?|firms?|business(?:es)?|enterprises?|banks?|committees?|board|teams?|"
    r"management|platforms?|suppliers?|vendors?|customers?|clients?|retailers?|manufacturers?|insurers?|lenders?|"
    r"borrowers?|tenants?|landlords?|buyers?|sellers?|purchasers?|licen[cs](?:ees?|ors?)|guarantors?|employers?|shareholders?|"
    r"founders?|ceo|cfo|cto|department|subsidiar(?:y|ies)|fund|portfolio|agency|hospital|saas|b2b|series [a-d])\b",
    r"\b(?:markets?|pricing|prices?|revenue|profit\w*|margin|cost|costs|budget|invest(?:ment|or|ing|ors)?s?|"
    r"acqui(?:re|sition)|merger|hire|hiring|layoffs?|launch|roll ?out|product|roadmap|contract|deal|loan|credit|"
    r"tranche|outsourc\w+|migrat\w+|adopt|architecture|database|cloud|go live|go-live|deploy\w*|release|renew\w*|"
    r"tender|bid|procure\w*|warehouse|supply chain|office|remote work|strategy|competit\w+|rebrand\w*|ipo)\b",
)
_WORTH = _any(
    r"\b(?:secure|safe|ready|mature|robust|reliable|good|profitable|resilient|strong|scalable) enough (?:to|for)\b",
    r"\b(?:worth|viable|feasible|build or buy|buy or build|make or buy|return on investment|roi|break even|"
    r"trade-?offs?|business case|competitive advantage|go-to-market|"
    r"best (?:\w+ ){0,2}(?:strategy|approach|way|option|course|model|plan|price|structure|mix|time)|how (?:can|should)|"
    r"biggest risks?|main risks?|key risks?|risks? of)\b",
    r"\b(?:is|are|would) .{1,60}\b(?:a good|a bad|a sound|a wise|a better|the right|the best) (?:\w+ )?"
    r"(?:investment|move|choice|idea|bet|deal|decision|strategy)\b",
    r"\bwhich (?:\w+ ){0,3}(?:option|vendor|supplier|provider|market|strategy|architecture|platform)\b",
)

_RULES: tuple[_Rule, ...] = (
    _Rule("factual", "it asks what a document says, or whether something meets it", _DOCUMENT, unless=_OUGHT),
    _Rule("brainstorm", "it asks for many ideas and not for one answer", _IDEAS),
    _Rule("belief", "it asks about consciousness, freedom, the divine or what is real", _WORLDVIEW),
    _Rule("normative", "it asks what is right, or what law and society ought to allow or demand", _VALUES),
    _Rule("prediction", "it asks what will happen or how likely it is", _FUTURE),
    _Rule("business", "it asks what an organisation should do", _OUGHT, also=_ORGANISATION),
    _Rule("business", "it asks whether a course is worth its risks", _WORTH, also=_ORGANISATION),
    _Rule("normative", "it asks what ought to be done, and names no organisation that is to do it", _OUGHT),
)


def classify(question: str) -> Classified:
    """The type of a question, with the reason; the same for the same words in any case and spacing."""
    text = unicodedata.normalize("NFKC", question[:READ]).casefold().replace("\u2019", "'")
    spaced = " ".join(text.split())
    for rule in _RULES:
        if rule.holds(spaced):
            return Classified(rule.question_type, rule.because)
    return Classified("factual", "it asks for what is the case, as no other rule tells")


CLASSIFICATIONS: Mapping[str, Callable[[str], Classified]] = {"classification/1": classify}
"""Every version of these rules. A case is typed by the newest, and verified by the one that is sealed with it."""
CLASSIFICATION = CLASSIFICATIONS[newest(CLASSIFICATIONS)]
