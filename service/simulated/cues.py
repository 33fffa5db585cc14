"""The functions of a sentence that its words show: duties, caps, exclusions, exceptions, gaps, controls, figures.

A cue is a plain pattern with a name. It does not show the side of a sentence: that depends on the proposition, by the
rules in `tables`.
"""

from __future__ import annotations

import re
from functools import lru_cache

_I = re.IGNORECASE
_TIME = (
    r"(?:milliseconds?|seconds?|minutes?|hours?|(?:business |working |calendar )?days?|weeks?|months?|quarters?|years?)"
)
_NUMBER = (
    r"(?:\d[\d.,]*|(?<!-)(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|"
    r"ninety)(?:-(?:one|two|three|four|five|six|"
    r"seven|eight|nine))?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|eighteen))"
)

PATTERNS: dict[str, re.Pattern[str]] = {
    # duties and their opposites
    "duty": re.compile(
        r"\b(?:shall|must|(?:is|are) (?:required|obliged|obligated) to|agrees? (?:to|that it will)|undertakes? to|"
        r"(?:is|are) (?:liable|responsible) for|required)\b",
        _I,
    ),
    "ban": re.compile(
        r"\b(?:shall|must|may|will) (?:not|never)\b|\bmust be rejected\b|\bprohibit(?:s|ed|ing|ion)?\b|\bforbid\w*|"
        r"\bno (?:party|person|one) (?:shall|may)\b|\b(?:rejects?|refuses?) (?:a|an|any|the)\b",
        _I,
    ),
    "advice": re.compile(
        r"\bshould\b|\brecommend(?:ed|s)?\b|\bencouraged\b|\badvis(?:ed|able)\b|\bbest practice\b", _I
    ),
    "leave": re.compile(
        r"\bMAY\b|\boptional(?:ly)?\b|\bat (?:its|their|his|the) (?:sole |own )?(?:discretion|option)\b|"
        r"\bsole discretion\b|(?i:\bmay (?:choose|elect|omit|terminate|assign|waive|decide)\b)"
    ),
    # contracts
    "cap": re.compile(
        r"\b(?:shall|will|may|does|must) not exceed\b|\b(?:aggregate|maximum|total|cumulative|"
        r"entire) (?:\w+ ){0,2}?liabilit|"
        r"\bcapped\b|\bcaps?\b(?! on| at)?|\blimited to (?:the|an|a|direct|USD|\$|\d)|"
        r"\bliability\b.{0,60}\bbe limited\b|"
        r"\bonly be liable\b|\blimit(?:s|ed)? .{0,40}\bliability to\b|\bsole (?:and exclusive )?remedy\b",
        _I,
    ),
    "exclusion": re.compile(
        r"\bin no (?:event|way)\b|\b(?:not|neither|nor|none|no)\b.{0,90}\b(?:be|is|have any) liab|\bdisclaim|"
        r"\b(?:indirect|consequential|punitive|special|incidental)\b.{0,60}\b(?:damages|loss)|\bwaives?\b|\bas is\b|"
        r"\bassumes? no liabilit|\bwithout (?:any )?warrant|\bexclu(?:des?|ded|ding) (?:all|any|liab)",
        _I,
    ),
    "release": re.compile(
        r"\b(?:shall|will) have (?:any|no) (?:\w+ )?(?:liabilit|obligation)|\bno (?:further )?(?:obligation|liabilit)|"
        r"\bnot be (?:required|obliged|obligated|liable)|\bnot in breach\b|"
        r"\bshall not be deemed\b|\breleases\b|\bbe released\b",
        _I,
    ),
    "held": re.compile(
        r"\b(?:no|not|nothing)\b.{0,80}\b(?:release|relieve|discharge)d?\b|"
        r"\bnot affect any\b.{0,30}\b(?:claim|liabilit)",
        _I,
    ),
    "survival": re.compile(r"\bsurviv\w+", _I),
    "preserved": re.compile(
        r"\bnothing in\b.{0,60}\b(?:reduces?|limits?|affects?|diminish\w*|be construed to limit)\b", _I
    ),
    "indemnity": re.compile(
        r"\bindemnif(?:y|ies|ied|ication|ying)\b|\bindemnity\b|\bhold(?:s|"
        r"ing)? (?:\w+ ){0,3}harmless\b|\bmake good\b|\breimburse",
        _I,
    ),
    "uncapped": re.compile(
        r"\bunlimited\b|\bwithout limit(?! of liab)(?!ing|ation\b(?! in amount))|"
        r"\bdo(?:es)? not (?:limit|apply to|exclude)|"
        r"\b(?:will|shall) not (?:limit|apply to)\b|\bno limits?\b|\buncapped\b|"
        r"\bnot (?:limited|capped) (?:in amount|by)\b",
        _I,
    ),
    "breadth": re.compile(
        r"\b(?:any and all|all losses|every loss|all damages|whatsoever|of any kind|however arising|"
        r"all (?:claims|costs|liabilities|losses))\b",
        _I,
    ),
    "liability": re.compile(r"\bliab|\bdamages\b|\blosses\b|\bindemni", _I),
    "kinds": re.compile(
        r"\b(?:indirect|consequential|punitive|incidental|special|exemplary)\b|\bloss of (?:profit|goodwill|business)",
        _I,
    ),
    "remedy": re.compile(
        r"\bspecific performance\b|\binjuncti|\bequitable\b|\bremedies\b.{0,60}\bcumulative\b|"
        r"\bin addition to\b.{0,40}\bremed",
        _I,
    ),
    "insurance": re.compile(r"\binsur", _I),
    "claim": re.compile(r"\bclaims?\b|\bnotice\b|\bwritten notice\b", _I),
    "end": re.compile(r"\bterminat\w+|\bexpir(?:y|ation|es)\b|\brenew\w*", _I),
    # exceptions and precedence
    "exception": re.compile(
        r"\bexcept\b|\bunless\b|\bnotwithstanding\b|\bprovided,? (?:that|however)|\bprovided that\b|\bother than\b|"
        r"\bsubject to\b|\bonly (?:if|where|when)\b|\bexempt\w*|\bdoes not apply\b|"
        r"\bsave (?:that|for)\b|\bwith the exception\b|"
        r"\bin lieu of\b",
        _I,
    ),
    "override": re.compile(
        r"\bprevails?\b|\bsupersed\w+|\breplaced by\b|\bshall (?:control|govern)\b|\btakes? precedence\b|\bamends\b|"
        r"\boverrid\w+",
        _I,
    ),
    # hedges, gaps
    "hedge": re.compile(
        r"\bassum\w+|\bexpect(?:ed|s|ation)?\b|\bestimat\w+|\blikely\b|\bapproximately\b|"
        r"\bmight\b|\bbeliev\w+|\banticipat\w+|"
        r"\bproject(?:ed|ions?)\b|\bforecast\w*|\bintend\w*|\bin principle\b|"
        r"\bpresent understanding\b|\bpotential(?:ly)?\b|"
        r"\bshould be able\b|\bwe hope\b|\bplan(?:s|ned)? to\b|\bsays that\b|\bmanagement (?:says|reports|expects)\b",
        _I,
    ),
    "gap": re.compile(
        r"\bnot yet\b|\bTBD\b|\bto be (?:determined|decided|confirmed|agreed|defined)\b|"
        r"\bout of scope\b|\boutside the scope\b|"
        r"\bhas not been\b|\bhave not been\b|\bwere not\b|\bis still open\b|\bstill open\b|"
        r"\bno tested\b|\bnot (?:been )?tested\b|"
        r"\black(?:s|ing)\b|\bmissing\b|\babsent\b|\bdefer(?:red|s)?\b|\bpending\b|"
        r"\bnot known\b|\bunknown\b|\bunaudited\b|"
        r"\bexclude[sd] (?!all)\w+|\bnot (?:apply|score|checked?|detected|assessed|bound|"
        r"deployed|decided|requested|signed|hold|"
        r"appear|supported|implemented|monitored|logged|verified|documented|settle)\b|"
        r"\bcannot (?:be )?(?:verified|settle|confirm)|"
        r"\bno (?:daily limit|process|plan|procedure|evidence|record|owner|exception|"
        r"fixed charge|view|second approval)\b|"
        r"\bwithout a second\b|\bstill waiting\b|\btakes no view\b|\boutstanding\b|"
        r"\bwill cover\b|\bfurther investigation\b|"
        r"\bupcoming ADR\b|\bdo(?:es)? not (?:yet |currently )?(?:know|handle|support|include|"
        r"cover|say)\b|\bbooked for\b|"
        r"\bscheduled for\b|\badded afterwards\b",
        _I,
    ),
    "later": re.compile(
        r"\bbooked for\b|\bscheduled for\b|\bafter the go-live\b|\bfuture (?:ADR|release|"
        r"work)\b|\bupcoming\b|\bdefer\w*|"
        r"\bwill cover\b|\bnot (?:yet |been ){0,2}(?:deployed|implemented|decided|available|in place|built)\b",
        _I,
    ),
    "unproven": re.compile(
        r"\bno tested\b|\bnot (?:been )?(?:tested|assessed|verified|confirmed|audited)\b|"
        r"\bunaudited\b|\btakes no view\b|"
        r"\bcannot be verified\b|\bcannot settle\b|\boutstanding\b",
        _I,
    ),
    "unreached": re.compile(
        r"\b(?:is|are|was|were|does|do) not (?:apply|bound|detected|score|checked?|logged|"
        r"monitored|reach|cover|include)\w*|"
        r"\bbut not (?:the|for)\b|\bnot the audience\b",
        _I,
    ),
    "left out": re.compile(
        r"\bout of scope\b|\boutside the scope\b|\bexclude[sd] (?!all|any|liab)\w+|\bexcluding\b", _I
    ),
    "unlimited use": re.compile(r"\bno (?:daily )?limit\b|\bwithout a second\b|\bis optional\b", _I),
    "absence": re.compile(
        r"\bcontains? no\b|\bhas no\b|\bthere (?:is|are) no\b|\bno (?:fixed charge|procedure|"
        r"process|plan|owner|evidence|record)\b|"
        r"\b(?:does|do) not (?:hold|appear|say|state|contain|support|handle)\b|"
        r"\bnot (?:requested|signed|documented)\b|"
        r"\bstill waiting\b|\badded afterwards\b",
        _I,
    ),
    "bad case": re.compile(r"\b(?:downside|severe|stress)(?: \w+)? case\b|\bwould need an equity cure\b", _I),
    "request": re.compile(r"\basks? the (?:committee|review|board|forum)\b|\bcase assumes\b", _I),
    "fails": re.compile(r"\bfail(?:s|ed|ure)\b|\bbreach(?:es|ed)?\b|\blate\b|\bafter ten\b|\bnot \d+ percent\b", _I),
    "measured": re.compile(
        r"\bmeasured\b|\bsustained\b|\b(?:during|throughout) the trial\b|\bload test\b|"
        r"\bpercentile\b|\bstayed under\b|\bpassed\b|\bconfirmed each\b|"
        r"\bbenchmark\w*|\bwas killed\b|\bin shadow\b",
        _I,
    ),
    # figures
    "amount": re.compile(
        r"(?:USD|EUR|GBP|[$€£])\s?\d|\b\d[\d.,]*\s?(?:percent|per cent|%|basis points|times\b|million|billion)", _I
    ),
    "deadline": re.compile(
        rf"\b(?:within|no later than|not later than|no more than|at most|up to|at least|every|"
        rf"after|before)\s+(?:\w+\s+){{0,2}}?"
        rf"{_NUMBER}(?:\s\(\d+\))?[\s-]+{_TIME}\b|\bby (?:January|February|March|April|May|"
        rf"June|July|August|September|October|"
        rf"November|December)\b|\bno later than\b",
        _I,
    ),
    "number": re.compile(rf"\b{_NUMBER}\s?(?:%|percent|per cent|times|bits|characters|{_TIME})\b|\b\d{{2,}}\b", _I),
    # security
    "control": re.compile(
        r"\bencrypt\w*|\bTLS\b|\bHTTPS\b|\bmulti-?factor|\bMFA\b|\brotat\w+|\bexpir\w+|"
        r"\binvalidat\w*|\brevok\w*|\bhash(?:ed|ing)?\b|"
        r"\bsalted\b|\brate.?limit\w*|\bthrottl\w*|\blogg(?:ed|ing)\b|\bmonitor\w*|\baudit\w*|"
        r"\bauthenticat\w*|\bverif(?:y|ies|ied)\b|"
        r"\bvalidat\w*|\brestrict\w*|\bleast privilege\b|\bregenerat\w*|\brenew\w*|"
        r"\bHttpOnly\b|\bSecure\b|\bSameSite\b|\bsigned\b|"
        r"\bprotect\w*|\bprevent\w*|\bresist\w*|\bentropy\b|\bCSPRNG\b|\bmitigat\w+|"
        r"\btime-?outs?\b|\bdetect\w*|\bblock(?:s|ed)?\b|"
        r"\bhardware security module\b|\bbound to\b|\bstep-up\b|\breauthenticat\w*|\bunpredictable\b|\bapproved\b|"
        r"\b(?:shall|must) limit\b|\bdiscourag\w+|\blimits the\b|\bminimi[sz]e\w*|"
        r"\bcountermeasures?\b|\bdefen[cs]es?\b",
        _I,
    ),
    "threat": re.compile(
        r"\battack\w*|\bthreats?\b|\bvulnerab\w+|\bcompromis\w+|\bhijack\w*|\bexpos(?:e|es|ed|"
        r"ure)\b|\bleak\w*|\bstolen\b|\bsteal\w*|"
        r"\btheft\b|\bspoof\w*|\bbypass\w*|\binsecure\b|\bunauthori[sz]ed\b|\bmalicious\b|"
        r"\bdisclos\w+|\bimpersonat\w+|\bfixation\b|"
        r"\bintercept\w*|\bbrute.force\w*|\banyone who\b|\bmisuse\b|\brepeated on\b|\beavesdrop\w*|\bguess\w*",
        _I,
    ),
    "weakness": re.compile(
        r"\bcan (?:also|still|easily)\b|\banyone who\b.{0,60}\bcan\b|\bcan switch\b|"
        r"\bmay still\b|\bnot (?:be )?sufficient\b|\binsufficient\b|"
        r"\b(?:does|do|can|will|is|are)(?: not|n't)(?: \w+)? (?:limit|protect|prevent|"
        r"mitigate|stop|defend|detect|bullet)\w*|\bdefeated\b|"
        r"\bweakness\w*|\b(?:is|are|remains?) weak\b|\bnot considered\b|\bprints? the full\b|\brated (?:high|medium)\b|"
        r"\bdoes not prevent\b|\bmay not be\b|"
        r"\bin software rather\b|\bfrom 20[01]\d\b|\bclient-?side\b.{0,60}\b(?:not|easily)\b|"
        r"\bis (?:accepted|optional)\b",
        _I,
    ),
    # architecture
    "decision": re.compile(
        r"\bwe (?:will|have decided|adopt|chose|have chosen|propose|accept)\b|\bdecided to\b|"
        r"\bdecision\b|\badopt(?:ed)?\b",
        _I,
    ),
    "benefit": re.compile(
        r"\ballow(?:s|ed)?\b|\benabl\w+|\breduc\w+|\bsimplif\w+|\bsimpler\b|\bimprov\w+|"
        r"\bfaste[rs]t?\b|\bquick\w*|\beasi(?:er|ly|est)\b|"
        r"\bbenefit\w*|\badvantage\w*|\bflexib\w+|\bstandardi\w+|\bconsisten\w+|\breliab\w+|"
        r"\bsaves?\b|\bcheap\w*|\bmature\b|"
        r"\bautomat\w+|\bgood experience\w*|\bsustained\b|\bremoves the cause\b|"
        r"\breversible\b|\bwell inside\b|\bcomprehensive\b|"
        r"\bcatch\w*|\bsupports\b|\bresum(?:ed|es)\b|\bcontinue as they are\b|\bstays? open\b|"
        r"\bkept the\b|\bstayed under\b|\bmeets all\b|"
        r"\bproductiv\w+|\bbetter\b|\bsafe(?:ly|ty)\b|\bpassed\b|\baccounted for\b|\bcosts the least\b|\bdelivers\b",
        _I,
    ),
    "cost": re.compile(
        r"\bcosts?\b(?! the least)|\beffort\b|\brisk\w*|\bcomplex\w*|\btechnical debt\b|"
        r"\bdifficult\w*|\bhard(?:er)? to\b|\bslow\w*|"
        r"\bdrawback\w*|\bdisadvantage\w*|\btrade-?offs?\b|\block.?in\b|\bmaint(?:ain|"
        r"enance)\w*|\boverhead\b|\bburden\w*|\bunpredictable\b|"
        r"\bissues?\b|\bproblems?\b|\bconfusion\b|\bwill (?:need|have) to\b|\blong time\b|"
        r"\bdeprecat\w+|\bunable\b|\bcompromises\b|"
        r"\bmessy\b|\bsole authority\b|\bsecond set of\b|\btwo more\b|\blearning\b|"
        r"\bunfamiliar\b|\bsmaller (?:community|user)\b|"
        r"\bat least once\b|\bmore (?:good|test|time|processes)\b|\brequires? (?:a|more|"
        r"many)\b|\bweeks\b|\brequires? us to\b|\bhave to expand\b",
        _I,
    ),
    # investment
    "strength": re.compile(
        r"\bgr(?:ew|owth|own)\b|\bup \d|\bincreas\w+|\brose\b|\bimprov\w+|\bexceed\w*|"
        r"\brecurring\b|\bretain\w*|\bbarrier\b|\bcushion\b|"
        r"\bwithin the guideline\b|\babove budget\b|\bgood standing\b|\brecover(?:ed|s)\b|"
        r"\bcash equity\b|\bpays for\b|\bobliged? .{0,30}repeat|"
        r"\bnone of them has missed\b|\bcovers? it\b|\bcontracted\b|\bprofitab\w+|"
        r"\bagrees with\b|\brepeat\b|\bstays inside\b",
        _I,
    ),
    "decline": re.compile(
        r"\bdeclin\w+|\bdecreas\w+|\bfell\b|\bfalls?\b|\bloss(?:es)?\b|\bloses\b|\bchurn\w*|"
        r"\bconcentrat\w+|\bdefault\w*|\bimpair\w*|"
        r"\bdownside\b|\bsevere\b|\bdilut\w+|\bbelow budget\b|\bshortfall\b|"
        r"\blargest customers?\b|\bequity cure\b|\bmain risk\b|"
        r"\btender\b|\bno warning\b|\bruns? short\b|\bnot \d+ percent\b|\bdivided\b|"
        r"\boutside the guideline\b|\bseparate systems\b|"
        r"\bmay not carry\b|\bdid not belong\b|\bon Reported EBITDA\b",
        _I,
    ),
    "adjusted": re.compile(
        r"\badjust\w+|\badd(?:s|ed)?[ -]backs?\b|\badd back\b|\bsynerg\w+|\bpro forma\b|\bone-off\b", _I
    ),
    "covenant": re.compile(r"\bcovenants?\b|\bstep(?:s)?[ -]down\b|\bconditional on\b|\bcure\b", _I),
    # practice
    "practice": re.compile(
        r"\b(?:is|are|was|were) (?:kept|held|sent|checked|retained|recorded|reviewed|blocked|"
        r"recognized|logged|tested|produced|stored|"
        r"approved|read|keyed|trained|reported)\b|\bholds?\b|\bCompliance approved\b|"
        r"\b(?:bank|team|staff) (?:holds|keeps|records|checks)\b|"
        r"\btake effect\b|\bstates that\b|\btests?\b",
        _I,
    ),
}
_HEADS: dict[str, re.Pattern[str]] = {
    "in context": re.compile(r"\bcontext\b|\bproblem\b|\bbackground\b|\bcurrent\b|\bmotivation\b|\bdrivers?\b", _I),
    "in decision": re.compile(r"\bdecision\b|\brecommendation\b|\bfeatures?\b", _I),
    "in consequences": re.compile(
        r"\bconsequence|\bcost|\btechnical debt\b|\btime and energy\b|\brisk|\blimitation|\bdrawback", _I
    ),
    "in gaps": re.compile(
        r"\bgaps?\b|\bassumption|\bopen (?:issue|question|point)|\bcannot settle\b|\bdiffers\b|\blimitation", _I
    ),
    "in evidence": re.compile(r"\bevidence\b|\btrial\b|\bconfirmed\b|\bcontrols?\b|\bresults?\b", _I),
}
DEFINITION = re.compile(
    r"^[\"“']?[A-Z][\w&/ -]{1,50}(?:\([\w &-]+\) )?[\"”']?(?: or [\"“][\w ]+[\"”])? "
    r"(?:means?|refers? to|has the meaning|shall mean)\b"
)


@lru_cache(maxsize=16_384)
def cues(text: str, heading: str = "") -> frozenset[str]:
    """The names of the cues in a sentence and in its heading."""
    flat = " ".join(text.split())
    found = [name for name, pattern in PATTERNS.items() if pattern.search(flat)]
    found += [name for name, pattern in _HEADS.items() if pattern.search(heading)]
    if DEFINITION.match(flat):
        found.append("definition")
    return frozenset(found)


FIGURE = re.compile(
    r"(?:USD|EUR|GBP)\s?\d[\d.,]*\d(?:\s(?:million|billion))?|[$€£]\s?\d[\d.,]*\d(?:\s(?:million|billion))?|"
    r"\b\d[\d.,]*\s?(?:percent|per cent|%|basis points|times\b|milliseconds|bits)|"
    rf"\b{_NUMBER}(?:\s\(\d+\))?[\s-]{_TIME}\b",
    _I,
)


def figures(text: str) -> tuple[str, ...]:
    """The amounts, rates and times that a sentence names, as it writes them."""
    seen = dict.fromkeys(" ".join(m.split()) for m in FIGURE.findall(text))
    return tuple(seen)[:3]
