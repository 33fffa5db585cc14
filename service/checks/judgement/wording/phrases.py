"""The wordings of softening, by kind: data of `softening`.

A pattern is matched without regard to case over a text in which single spaces divide the words. A name in angle
brackets is one of `PARTS`: <case> is what is under attack; <claim> may also be a thing of the documents, so that less of
it counts; <argued> is what only something that is argued can be granted to be.
"""

from __future__ import annotations

from collections.abc import Mapping

PARTS: Mapping[str, str] = {
    "<whose>": (
        "(?:(?:the|its|his|her|their|this|that|each|every|all|both|most of the) )?(?:(?:main|core|"
        "central|basic|underlying|overall|first|second|third|other|remaining|proposer's|proposed|legal|"
        "cited|whole|general|opposing|other side's) )*"
    ),
    "<case>": (
        r"<whose>(?:proposer(?:'s \w+)?|proposition|proposal|thesis|arguments?(?: \d+)?(?:(?:,| and| to) "
        r"\d+)*|case|reasoning|analysis|reading|interpretation|logic|framing|line of argument|what (?:it|"
        "the proposer) says)"
    ),
    "<claim>": (
        "<whose>(?:points?|claims?|conclusions?|positions?|approach|assessment|explanation|submission|"
        "answer|evidence|work|rest|this|that|these|it|they)"
    ),
    "<degree>": (
        "(?:(?:in (?:itself|the main|general|principle|many (?:ways|respects)|most respects|part|essence|"
        "my view)|on the whole|by and large|for the most part|all in all|very|quite|rather|fairly|pretty|"
        "broadly|largely|mostly|mainly|generally|entirely|perfectly|clearly|certainly|probably|"
        "essentially|basically|otherwise|fundamentally|substantially|technically|undoubtedly|undeniably|"
        "indeed|also|well|both|a|an|overall|really|highly|truly|reasonably|perhaps|likely|of course|at "
        "first sight|as a whole|particularly|especially|more or less|almost|nearly|still|thoroughly|"
        "admittedly|arguably|correctly|surely),? )*"
    ),
    "<good>": (
        "(?:<argued>|valid|fair|strong|solid|robust|careful|legitimate|good|true|attractive|commendable|"
        "rigorous|justified|acceptable|understandable|appropriate|adequate|balanced|considered|"
        "undeniable|worthy|useful|helpful|satisfactory|tenable|in (?:good )?order|(?:clearly|properly|"
        "carefully)[ -](?:documented|structured|researched|drafted|written|judged|justified))"
    ),
    "<argued>": (
        "(?:sound|reasonable|correct|right|accurate|persuasive|convincing|compelling|credible|plausible|"
        "defensible|cogent|sensible|coherent|logical|impressive|unobjectionable|unassailable|excellent|"
        "thorough|fine|(?:well|carefully|soundly|solidly|amply|fully|thoroughly|strongly)[ -](?:founded|"
        "reasoned|made|taken|supported|argued|grounded|put|constructed|presented|evidenced|thought[ "
        "-]out)|on (?:firm|solid|safe) ground|(?:hard|difficult) to (?:fault|dispute|deny|argue with|"
        "disagree with|improve on)|beyond (?:reproach|dispute|doubt)|of (?:real|some|great|considerable) "
        "(?:merit|weight|force))"
    ),
    "<be>": (
        " (?:is|are|was|were|seems?|appears?|looks?|remains?|sounds?|reads?|strikes? me|feels?|(?:would|"
        "may|might|could) (?:seem|appear)|has been|have been),? (?:to be |as |me as )?"
    ),
    "<unless>": (
        r"\b(?! (?:only|if|unless|until|solely|about|where|when|for \d|enough to|market|value|price|hand|"
        "holder|faith|copies|copy|reason to (?:doubt|reject)))"
    ),
    "<voice>": r"\b(?:I|we|one|anyone|everybody|everyone|reasonable (?:minds|people|readers))",
    "<must>": (
        "(?: (?:must|has to|have to|can|should|would|will|do|may|cannot but|am bound to|am happy to|can "
        "only))?(?: (?:also|fully|largely|mostly|broadly|generally|readily|freely|entirely|partly|"
        "happily|gladly|certainly|too))*"
    ),
    "<start>": "(?:(?<=[.;:!?] )|(?<=, )|^)",
}
PATTERNS: Mapping[str, tuple[str, ...]] = {
    "grants": (
        (
            "<voice><must> (?:acknowledge|agree|concede|accept|grant|admit|concur|appreciate|recogni[sz]e|"
            r"respect|welcome|commend|praise|applaud|credit|sympathi[sz]e|endorse)\b"
        ),
        r"<voice><must> (?:share|support) (?:the|this|that|its)\b",
        r"<voice><must> see (?:the |some |much |real |a lot of )?(?:merit|force|sense|value|logic)\b",
        (
            "<voice><must> have (?:no|little|few) (?:quarrel|objections?|issue|problem|difficulty|doubts?|"
            r"complaints?)\b"
        ),
        (
            "<voice> (?:do not|don't|cannot|can't|would not|wouldn't|hardly|scarcely|can hardly|could "
            r"hardly) (?:dispute|doubt|deny|question|quarrel|disagree|object|fault|contest)\b"
        ),
        r"<voice><must> find (?:little|nothing|no (?:fault|error|flaw))\b",
        r"<voice><must> find (?:the|this|that|its|it|these|most|much|argument)\b[^.;:?!]{0,60}?\b<good>\b",
    ),
    "mustBeGranted": (
        (
            r"\bit (?:must|has to|should|can|may|cannot|is to) (?:also |readily |not )?be (?:acknowledged|"
            r"conceded|granted|admitted|said|recogni[sz]ed|accepted|denied|disputed)\b(?! (?:in|by|at|"
            r"under)\b)"
        ),
    ),
    "granted": (
        (
            "<start>(?:admittedly|concededly|undoubtedly|no doubt|without doubt|fair enough|granted that|"
            r"credit where)\b"
        ),
        (
            "<start>(?:granted|true|sure|to be sure|in (?:all )?fairness|certainly|of course|naturally|"
            r"agreed)\b(?=\s*[,.]| (?:it|the propos|argument \d|to the propos))"
        ),
    ),
    "toBeFair": (r"\bto be fair\b(?=\s*[,.;:!?)]|\s*$| (?:to|it|this|that|the|argument|one|there|most)\b)",),
    "credit": (
        r"\bto (?:its|his|her|their|the \w+'s|everyone's) credit\b",
        r"\b(?:gets?|deserves?|earns?) (?:full |some |real )?(?:credit|praise|respect|recognition)\b",
    ),
    "isTrue": (
        (
            r"\bit is (?:of course |certainly |perfectly |quite |undoubtedly |undeniably )?(?:true|correct|"
            "fair|right|undeniable|undisputed|clear|beyond dispute|reasonable) (?:that|to (?:say|note|add|"
            r"assume|observe|conclude|point))\b(?=[^.?!]{0,400}\b(?:but|however|yet|still|nevertheless|"
            r"nonetheless|though|although)\b)"
        ),
    ),
    "isGood": (r"\b<case><be><degree><good><unless>",),
    "isWellArgued": (r"\b<claim><be><degree><argued><unless>",),
    "holds": (
        (
            r"\b(?:<case>|<claim>) <degree>(?:stands? up|holds? (?:up|water|good|true)|stands? on firm ground|"
            r"rests? on (?:solid|firm|good)|makes? (?:good |perfect |a lot of |some )?sense)\b"
        ),
        (
            r"\b<case> <degree>(?:has|have|carr(?:y|ies)) <degree>(?:(?:real|some|much|great|considerable|"
            "genuine|clear|certain|undoubted|undeniable|obvious|its|their|many) )*(?:merits?|force|weight|"
            r"appeal|strengths?|a point|substance|validity|virtues?)\b"
        ),
        (
            r"\b(?:<case>|<claim>) (?:(?:has|have) (?:some |real |much |great |considerable )?merit|(?:does|"
            r"do|did) (?:a |an )?(?:good|fine|excellent|solid|thorough|decent|commendable) (?:job|work))\b"
        ),
        r"\bargument (?:\d+ )?stands\b(?! (?:or|only|on|if|alone|against|in))",
    ),
    "makesAGoodPoint": (
        (
            r"\b(?:makes?|made|raises?|presents?|offers?|puts?|gives?|builds?|advances?|provides?|sets? out|"
            "mounts?) (?:forward )?(?:(?:a|an|some|several|many|the|its|two|three) )?(?:(?:very|quite|"
            "generally|largely|fairly|mostly|reasonably|rather|really|otherwise) )*(?:good|valid|strong|fair|"
            "compelling|persuasive|solid|reasonable|sound|convincing|excellent|important|thoughtful|careful|"
            r"thorough|legitimate|coherent|powerful|plausible|interesting|worthwhile|balanced|well[ -]\w+) "
            r"(?:\w+ )?(?:points?|cases?|arguments?|analysis|observations?|reading|claims?|reasons?|showing|"
            r"summary|account|overview|submissions?|considerations?|explanation|foundation)\b"
        ),
    ),
    "rightly": (
        (
            r"\b(?:correctly|rightly|accurately|aptly|properly|justly|fairly|sensibly|wisely|helpfully|"
            "usefully|persuasively|convincingly|carefully|rightfully|thoroughly|faithfully) (?:notes?|"
            "points? out|identif(?:y|ies)|observes?|states?|reads?|cites?|says?|quotes?|emphasi[sz]es?|"
            "stress(?:es)?|recogni[sz]es?|argues?|concludes?|relies|rely|describes?|summari[sz]es?|"
            "highlights?|explains?|shows?|captures?|applies|apply|interprets?|reports?|relates?|identified|"
            r"noted|pointed out|observed|cited|quoted|relied|concluded|argued)\b"
        ),
    ),
    "proposerIsRight": (
        (
            r"\bthe propos(?:er|al|ition) (?:is|was|may (?:well )?be|may have been|could be|might be) "
            r"<degree>(?:right|correct|justified|entitled|on to something)\b(?! (?:only|if|unless))"
        ),
    ),
    "hasAPoint": (
        (
            r"\b(?:the proposer|argument \d+|the proposition|the other side|they|it) (?:does |do |certainly |"
            r"clearly )?(?:has|have) a (?:\w+ )?point\b"
        ),
        r"\ba (?:valid|good|fair|strong|sound) point\b(?! (?:in|of)\b)",
    ),
    "muchToBeSaid": (
        (
            r"\bthere (?:is|are) (?:much|a lot|a good deal|something|merit|some merit|real merit|force|truth|"
            "some truth|little (?:to|that|doubt|wrong)|nothing (?:fundamentally |seriously |materially |"
            "obviously |really |inherently |much )?(?:wrong|objectionable|amiss|to (?:object|criticise|"
            "criticize|fault))|no (?:serious|real|major|material|fundamental|strong|substantial|good reason "
            r"to doubt)|few (?:grounds|reasons|faults))\b(?= (?:to|in|that|about|wrong|objections?|problems?|"
            r"flaws?|faults?|issues?|concerns?|doubt|reason|case|fault)|\s*[,.;])"
        ),
    ),
    "largely": (
        (
            r"\b(?:largely|mostly|broadly|generally|basically|essentially|by and large|on the whole|for the "
            r"most part|in the main|overall),? (?:a |an )?<good>\b(?=\s*[,.;:!?)]|\s*$| (?:but|and|though|"
            r"although|yet|in|as|with|here)\b)"
        ),
    ),
    "minor": (
        (
            r"\b(?:minor|trivial|cosmetic|negligible|marginal|petty) (?:\w+ )?(?:quibbles?|concerns?|issues?|"
            "reservations?|weakness(?:es)?|caveats?|objections?|flaws?|nits?|remarks?|criticisms?|"
            "imperfections?|shortcomings?|doubts?|suggestions?|comments?|details?|observations?|points?|"
            r"improvements?|blemish(?:es)?|refinements?)\b"
        ),
        (
            r"\b(?:small|slight|little|modest|tiny) (?:quibbles?|caveats?|reservations?|remarks?|criticisms?|"
            r"niggles?|nits?|suggestions?|comments?|points? to note|doubts?)\b"
        ),
        r"\b(?:nit-?picks?|nit-?picking|quibbles?)\b",
    ),
    "somewhat": (
        (
            r"\b(?:somewhat|slightly|a (?:little|bit|touch|tad|shade)|marginally|rather) (?:too "
            ")?(?:overstated|optimistic|overbroad|broad|strong|quick|generous|simplified|vague|unclear|"
            r"incomplete|thin|ambitious|imprecise|bold|confident|brief|general|loose|hasty|short|selective)\b"
        ),
    ),
    "hedges": (
        (
            r"\b(?:may|might|could|can) (?:perhaps|possibly|conceivably|arguably|potentially|well be "
            r"(?:somewhat|slightly|a (?:little|bit)))\b"
        ),
        (
            r"\b(?:perhaps|possibly|maybe) (?:it|this|that|the|one|we|there|argument) (?:\w+ ){0,4}?(?:may|"
            r"might|could|should|would)\b"
        ),
        (
            r"\b(?:it|one|you) (?:may|might|could) (?:also |perhaps )?(?:be (?:argued|worth|useful|helpful|"
            r"good|wise|prudent|said)|argue|wish|wonder|ask|consider|say|quibble)\b"
        ),
    ),
    "couldBeBetter": (
        r"\b(?:could|might|may|would) (?:perhaps |possibly |still |also |be )*(?:benefit|profit) from\b",
        (
            r"\b(?:could|might|would) (?:perhaps |possibly |always |still |also |usefully )*be (?:\w+ "
            ")?(?:clearer|stronger|better|improved|strengthened|tightened|refined|clarified|expanded|"
            r"sharpened|polished|elaborated|more \w+)\b"
        ),
        r"\broom for (?:\w+ )?improvement\b",
        r"\b(?:would|might) be (?:nice|good|helpful|useful|worthwhile|desirable|preferable) to\b",
    ),
    "noChange": (
        (
            r"\b(?:this|that|which|these|those|they|it|none of (?:this|these)|nothing of this|such \w+|the "
            r"point|point \d+) (?:(?:does|do|would|should|need|will|may|might|could|can)(?: not|n't)|hardly|"
            r"scarcely|never|(?:does|do|would) little to|cannot) (?:\w+ )?(?:change|alter|affect|undermine|"
            "upset|defeat|disturb|detract|invalidate|weaken|shake|matter|outweigh|overturn|displace|touch|"
            r"diminish|stand in the way)\b(?: (?:from|to|of))? ?(?:(?:the|its|this|that|my|our|any) )?(?:\w+ "
            "){0,2}?(?:conclusion|outcome|result|overall|proposition|proposal|thesis|case|argument|main|core|"
            r"validity|soundness|assessment|picture|merits?|much|greatly|anything|approval)\b"
        ),
        (
            r"\bnone of (?:this|these|which)\b[^.;]{0,40}\b(?:changes|alters|affects|undermines|defeats|"
            r"detracts)\b"
        ),
    ),
    "agrees": (
        r"\bin (?:full |broad |general |complete )?agreement with (?:the propos|argument|it\b|this)",
        r"\bcritic (?:agrees|concurs|accepts|concedes|acknowledges|has nothing)\b",
        (
            r"\b(?:should|can|may|ought to|deserves to) (?:safely |therefore |indeed |certainly )?(?:be "
            r"(?:upheld|approved|accepted|adopted|endorsed|maintained|supported)|stand as)\b"
        ),
        (
            r"\bno (?:further |serious |real |major |material |substantive |strong )?(?:objections?|challenge|"
            r"quarrel|complaints?|criticisms?)(?: (?:to|is|are|with|against|can|here|at)\b|\s*[,.]|$)"
        ),
        r"\bnothing to (?:add|object|criticise|criticize|challenge|fault|say against)\b",
        r"\b(?:hard|difficult|impossible) to (?:fault|disagree|find fault|quarrel|object|argue)\b",
    ),
    "confirms": (
        (
            r"\b(?:confirms?|supports?|corroborates?|reinforces?|backs? up|vindicates?) (?:it\b|this\b|"
            r"argument \d|the (?:argument|propos|thesis|reading|same\b)|what (?:it|the propos))"
        ),
        r"\bbears? (?:it |this |that )?out\b",
        (
            r"\b(?:does|says|means|provides|works) (?:exactly |just )?(?:what|as) the proposer (?:says|states|"
            r"claims|argues|describes)\b"
        ),
        r"\bspeaks? for (?:itself|themselves)\b",
    ),
}
