"""The wordings of softening, by kind: data of `softening`.

A pattern is matched without regard to case over a text in which single spaces divide the words. A name in angle
brackets is one of `PARTS`: <case> is what is under attack; <claim> may also be a thing of the documents, so that less
of it counts; <argued> is what only something that is argued can be granted to be.
"""

from __future__ import annotations

from collections.abc import Mapping

PARTS: Mapping[str, str] = {
    "<whose>": (
        "(?:(?:the|its|his|her|their|this|that|each|every|all|both|most of the) )?(?:(?:main|core|"
        "central|basic|underlying|overall|first|second|third|other|remaining|proposer's|proposed|"
        "legal|cited|whole|general|opposing|other side's) )*"
    ),
    "<case>": (
        r"<whose>(?:proposer(?:'s \w+)?|proposition|proposal|thesis|arguments?(?: \d+)?(?:(?:,| and| "
        r"to) \d+)*|case|reasoning|analysis|reading(?: of clause [\d.]+)?|interpretation|quotation|"
        "quoted (?:sentence|passage|clause)|logic|framing|line of argument|what (?:it|the proposer) "
        "says)"
    ),
    "<claim>": (
        "<whose>(?:points?|claims?|conclusions?|positions?|approach|assessment|explanation|"
        "submission|answer|evidence|work|rest|this|that|these|it|they)"
    ),
    "<degree>": (
        "(?:(?:in (?:itself|the main|general|principle|many (?:ways|respects)|most respects|part|"
        "essence|my view)|on the whole|by and large|for the most part|all in all|very|quite|rather|"
        "fairly|pretty|broadly|largely|mostly|mainly|generally|entirely|perfectly|clearly|certainly|"
        "probably|essentially|basically|otherwise|fundamentally|substantially|technically|"
        "undoubtedly|undeniably|indeed|also|well|both|a|an|overall|really|highly|truly|reasonably|"
        "perhaps|likely|of course|at first sight|as a whole|particularly|especially|more or less|"
        "almost|nearly|still|thoroughly|admittedly|arguably|correctly|surely),? )*"
    ),
    "<good>": (
        "(?:<argued>|valid|fair|strong|solid|robust|careful|legitimate|good|true|attractive|"
        "commendable|rigorous|justified|acceptable|understandable|appropriate|adequate|balanced|"
        "considered|undeniable|worthy|useful|helpful|satisfactory|tenable|in (?:good )?order|"
        "(?:clearly|properly|carefully)[ -](?:documented|structured|researched|drafted|written|"
        "judged|justified))"
    ),
    "<argued>": (
        "(?:sound|reasonable|correct|right|accurate|persuasive|convincing|compelling|credible|"
        "plausible|defensible|cogent|sensible|coherent|logical|impressive|unobjectionable|"
        "unassailable|excellent|thorough|fine|(?:well|carefully|soundly|solidly|amply|fully|"
        "thoroughly|strongly)[ -](?:founded|reasoned|made|taken|supported|argued|grounded|put|"
        "constructed|presented|evidenced|thought[ -]out)|on (?:firm|solid|safe) ground|(?:hard|"
        "difficult) to (?:fault|dispute|deny|argue with|disagree with|improve on)|beyond (?:reproach|"
        "dispute|doubt)|of (?:real|some|great|considerable) (?:merit|weight|force))"
    ),
    "<be>": (
        " (?:is|are|was|were|seems?|appears?|looks?|remains?|sounds?|reads?|strikes? me|feels?|"
        "(?:would|may|might|could) (?:seem|appear)|has been|have been),? (?:to be |as |me as )?"
    ),
    "<unless>": (
        r"\b(?! (?:only|if|unless|until|solely|about|where|when|for \d|enough to|market|value|price|"
        "hand|holder|faith|copies|copy|reason to (?:doubt|reject)))"
    ),
    "<voice>": r"\b(?:I|we|one|anyone|everybody|everyone|reasonable (?:minds|people|readers))",
    "<must>": (
        "(?: (?:must|has to|have to|can|should|would|will|do|may|cannot but|am bound to|am happy to|"
        "can only))?(?: (?:also|fully|largely|mostly|broadly|generally|readily|freely|entirely|"
        "partly|happily|gladly|certainly|too))*"
    ),
    "<start>": "(?:(?<=[.;:!?] )|(?<=, )|^)",
}
PATTERNS: Mapping[str, tuple[str, ...]] = {
    "grants": (
        (
            "<voice><must> (?:acknowledge|agree|concede|accept|grant|admit|concur|appreciate|"
            r"recogni[sz]e|respect|welcome|commend|praise|applaud|credit|sympathi[sz]e|endorse)\b"
        ),
        r"<voice><must> (?:share|support) (?:the|this|that|its)\b",
        r"<voice><must> see (?:the |some |much |real |a lot of )?(?:merit|force|sense|value|logic)\b",
        (
            "<voice><must> have (?:no|little|few) (?:quarrel|objections?|issue|problem|difficulty|"
            r"doubts?|complaints?)\b"
        ),
        (
            "<voice> (?:do not|don't|cannot|can't|would not|wouldn't|hardly|scarcely|can hardly|could "
            r"hardly) (?:dispute|doubt|deny|question|quarrel|disagree|object|fault|contest)\b"
        ),
        r"<voice><must> find (?:little|nothing|no (?:fault|error|flaw))\b",
        (
            "<voice><must> find (?:the|this|that|its|it|these|most|much|"
            r"argument)\b[^.;:?!]{0,60}?\b<good>\b"
        ),
        (
            r"\b(?:apart|aside) from (?:a|an|one|the) (?:\w+ )?(?:spelling|comma|typo|heading|hyphen|"
            r"footnote|typography|detail)\b"
        ),
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
            r"credit where credit)\b"
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
            r"\bit is (?:of course |certainly |perfectly |quite |undoubtedly |undeniably )?(?:true|"
            "correct|fair|right|undeniable|undisputed|clear|beyond dispute|reasonable) (?:that|to (?:say|"
            r"note|add|assume|observe|conclude|point))\b(?=[^.?!]{0,400}\b(?:but|however|yet|still|"
            r"nevertheless|nonetheless|though|although)\b)"
        ),
    ),
    "isGood": (r"\b<case><be><degree><good><unless>",),
    "isWellArgued": (r"\b<claim><be><degree><argued><unless>",),
    "holds": (
        (
            r"\b(?:<case>|<claim>) <degree>(?:stands? up|holds? (?:up|water|good|true)|stands? on firm "
            r"ground|rests? on (?:solid|firm|good)|makes? (?:good |perfect |a lot of |some )?sense)\b"
        ),
        (
            r"\b<case> <degree>(?:has|have|carr(?:y|ies)) <degree>(?:(?:real|some|much|great|considerable|"
            "genuine|clear|certain|undoubted|undeniable|obvious|its|their|many) )*(?:merits?|force|"
            r"weight|appeal|strengths?|a point|substance|validity|virtues?)\b"
        ),
        (
            r"\b(?:<case>|<claim>) (?:(?:has|have) (?:some |real |much |great |considerable )?merit|"
            "(?:does|do|did) (?:a |an )?(?:good|fine|excellent|solid|thorough|decent|commendable) (?:job|"
            r"work))\b"
        ),
        r"\bargument (?:\d+ )?stands\b(?! (?:or|only|on|if|alone|against|in))",
    ),
    "makesAGoodPoint": (
        (
            r"\b(?:makes?|made|raises?|presents?|offers?|puts?|gives?|builds?|advances?|provides?|sets? "
            "out|mounts?) (?:forward )?(?:(?:a|an|some|several|many|the|its|two|three) )?(?:(?:very|"
            "quite|generally|largely|fairly|mostly|reasonably|rather|really|otherwise) )*(?:good|valid|"
            "strong|fair|compelling|persuasive|solid|reasonable|sound|convincing|excellent|important|"
            "thoughtful|careful|thorough|legitimate|coherent|powerful|plausible|interesting|worthwhile|"
            r"balanced|well[ -]\w+) (?:\w+ )?(?:points?|cases?|arguments?|analysis|observations?|reading|"
            "claims?|reasons?|showing|summary|account|overview|submissions?|considerations?|explanation|"
            r"foundation)\b"
        ),
    ),
    "rightly": (
        (
            r"\b(?:correctly|rightly|accurately|aptly|properly|justly|fairly|sensibly|wisely|helpfully|"
            "usefully|persuasively|convincingly|carefully|rightfully|thoroughly|faithfully) (?:notes?|"
            "points? out|identif(?:y|ies)|observes?|states?|reads?|cites?|says?|quotes?|emphasi[sz]es?|"
            "stress(?:es)?|recogni[sz]es?|argues?|concludes?|relies|rely|describes?|summari[sz]es?|"
            "highlights?|explains?|shows?|captures?|applies|apply|interprets?|reports?|relates?|"
            r"identified|noted|pointed out|observed|cited|quoted|relied|concluded|argued)\b"
        ),
        (
            r"\b(?:quotes?|reads?|states?|cites?|says|describes?|puts?|reports?) (?:[\w.]+ "
            r"){0,6}(?:rightly|correctly|accurately|faithfully|fairly)\b"
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
            r"\b(?:the proposer|argument \d+|the proposition|the other side|they|it) (?:does |do |"
            r"certainly |clearly )?(?:has|have) a (?:\w+ )?point\b"
        ),
        r"\ba (?:valid|good|fair|strong|sound) point\b(?! (?:in|of)\b)",
    ),
    "muchToBeSaid": (
        (
            r"\bthere (?:is|are) (?:much|a lot|a good deal|something|merit|some merit|real merit|force|"
            "truth|some truth|little (?:to|that|doubt|wrong)|nothing (?:fundamentally |seriously |"
            "materially |obviously |really |inherently |much )?(?:wrong|objectionable|amiss|to (?:object|"
            "criticise|criticize|fault))|no (?:serious|real|major|material|fundamental|strong|"
            r"substantial|good reason to doubt)|few (?:grounds|reasons|faults))\b(?= (?:to|in|that|about|"
            "wrong|objections?|problems?|flaws?|faults?|issues?|concerns?|doubt|reason|case|fault)|"
            r"\s*[,.;])"
        ),
    ),
    "largely": (
        (
            r"\b(?:largely|mostly|broadly|generally|basically|essentially|by and large|on the whole|for "
            r"the most part|in the main|overall),? (?:a |an )?<good>\b(?=\s*[,.;:!?)]|\s*$| (?:but|and|"
            r"though|although|yet|in|as|with|here)\b)"
        ),
    ),
    "minor": (
        (
            r"\b(?:minor|trivial|cosmetic|negligible|marginal|petty) (?:\w+ )?(?:quibbles?|concerns?|"
            "issues?|reservations?|weakness(?:es)?|caveats?|objections?|flaws?|nits?|remarks?|"
            "criticisms?|imperfections?|shortcomings?|doubts?|suggestions?|comments?|details?|"
            r"observations?|points?|improvements?|blemish(?:es)?|refinements?)\b"
        ),
        (
            r"\b(?:small|slight|little|modest|tiny) (?:quibbles?|caveats?|reservations?|remarks?|"
            r"criticisms?|niggles?|nits?|suggestions?|comments?|points? to note|doubts?)\b"
        ),
        r"\b(?:nit-?picks?|nit-?picking|quibbles?)\b",
    ),
    "somewhat": (
        (
            r"\b(?:somewhat|slightly|a (?:little|bit|touch|tad|shade)|marginally|rather) (?:too "
            ")?(?:overstated|optimistic|overbroad|broad|strong|quick|generous|simplified|vague|unclear|"
            "incomplete|thin|ambitious|imprecise|bold|confident|brief|general|loose|hasty|short|"
            r"selective)\b"
        ),
    ),
    "hedges": (
        (
            r"\b(?:may|might|could|can) (?:perhaps|possibly|conceivably|arguably|potentially|well be "
            r"(?:somewhat|slightly|a (?:little|bit)))\b"
        ),
        (
            r"\b(?:perhaps|possibly|maybe) (?:it|this|that|the|one|we|there|argument) (?:\w+ "
            r"){0,4}?(?:may|might|could|should|would)\b"
        ),
        (
            r"\b(?:it|one|you) (?:may|might|could) (?:also |perhaps )?(?:be (?:argued|worth|useful|"
            r"helpful|good|wise|prudent|said)|argue|wish|wonder|ask|consider|say|quibble)\b"
        ),
        r"\b(?:arguably|conceivably)\b",
        (
            r"\bwith (?:some|a degree of|great|due|all due|a certain|no great) (?:hesitation|diffidence|"
            r"reluctance|respect|conviction|caution)\b"
        ),
        (
            r"\b(?:I|we) (?:tend|am inclined|are inclined|would be inclined|am tempted|lean) to\b|\bin my "
            r"(?:humble|modest) \w+\b|\bif anything\b"
        ),
        (
            r"\bone (?:might|may|could) (?:well |also |even )?(?:say|argue|wonder|ask|add|number|note|"
            r"think|mutter|quibble)\b"
        ),
    ),
    "couldBeBetter": (
        (
            r"\b(?:could|might|may|would) (?:perhaps |possibly |still |also |be )*(?:benefit|profit) "
            r"from\b"
        ),
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
            r"\b(?:this|that|which|these|those|they|it|none of (?:this|these)|nothing of this|such \w+|"
            r"the point|point \d+) (?:(?:does|do|would|should|need|will|may|might|could|can)(?: not|n't)|"
            r"hardly|scarcely|never|(?:does|do|would) little to|cannot) (?:\w+ )?(?:change|alter|affect|"
            "undermine|upset|defeat|disturb|detract|invalidate|weaken|shake|matter|outweigh|overturn|"
            r"displace|touch|diminish|stand in the way)\b(?: (?:from|to|of))? ?(?:(?:the|its|this|that|my|"
            r"our|any) )?(?:\w+ ){0,2}?(?:conclusion|outcome|result|overall|proposition|proposal|thesis|"
            "case|argument|main|core|validity|soundness|assessment|picture|merits?|much|greatly|anything|"
            r"approval)\b"
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
            r"\bno (?:further |serious |real |major |material |substantive |strong )?(?:objections?|"
            r"challenge|quarrel|complaints?|criticisms?)(?: (?:to|is|are|with|against|can|here|at)\b|"
            r"\s*[,.]|$)"
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
            r"\b(?:does|says|means|provides|works) (?:exactly |just )?(?:what|as) the proposer (?:says|"
            r"states|claims|argues|describes)\b"
        ),
        r"\bspeaks? for (?:itself|themselves)\b",
    ),
    "compliments": (
        (
            r"\b(?:superb|brilliant(?:ly)?|masterful(?:ly)?|masterly|outstanding (?:work|analysis|job|"
            "argument)|admirabl[ey]|spot on|stroke of genius|hats off|my compliments|kudos|well done|"
            "bravo|congratulations|elegant(?:ly)?|great skill|real (?:insight|command)|with precision|to "
            r"be applauded|to be welcomed|a pleasure to)\b"
        ),
        (
            r"\b(?:cherry on top|a joy|top marks|full marks|beautiful(?:ly)?|dazzling|insightful|on the "
            "right track|respectable case|exactly right|wise precaution|high standard|well done|cannot "
            r"be faulted|beyond reproach)\b"
        ),
    ),
    "yields": (
        (
            r"\b(?:I|we) (?:take (?:the|this|that|its) point|leave (?:that|this|it) to others|suppose|"
            "stand corrected|withdraw|hesitate|would not (?:press|insist|go so far)|do not (?:wish to|"
            "want to) (?:press|overstate|insist)|(?:may|might|could) (?:well )?be (?:wrong|mistaken)|"
            "(?:have been|am|was|stand) (?:won over|persuaded|convinced|reassured|satisfied|comfortable)|"
            "(?:would|can) (?:be|feel) comfortable|can see where|find much to like|(?:must|have to|need "
            r"to) play (?:my|our) part)\b"
        ),
        r"\bpersuades? (?:me|us)\b",
        (
            r"\b(?:my|our) (?:only|sole|main|one) (?:\w+ )?(?:niggle|quibble|reservation|concern|"
            r"objection|remark|comment|wish|caveat)\b"
        ),
        r"\b(?:a|this is a) (?:matter|question) of taste\b",
        r"\bone (?:can|could) (?:well )?live with\b",
        r"\bfor what (?:it is|they are) worth\b",
        r"\b(?:may|might) be going too far\b",
        r"\bnot (?:entirely )?(?:inconceivable|unreasonable|implausible|without merit)\b",
        r"\bgive (?:the|this|that|it) (?:\w+ )?(?:its|his|her|their) due\b",
        r"\b(?:case|argument|proposition|point) is (?:made out|made|won|conceded|granted)\b",
        r"\b(?:all|everything|notice|exit) (?:is |are )?conceded\b",
        r"\bone never knows\b",
        r"\b(?:convinces|reassures|satisfies) (?:me|us)\b",
        r"\b(?:I|we) have nothing to hold against\b",
        (
            r"\b(?:this|so) much (?:is common ground|follows|is true|is right|is plain|is clear|is "
            r"granted|can be granted)\b"
        ),
        r"\bis (?:plain from the text|common ground|documented and I leave it)\b",
        r"\b(?:I|we) leave (?:it|this|that) standing\b",
        (
            r"\b(?:is|are|was) indeed\b(?=[^.?!]{0,200}\b(?:but|however|yet|still|though|although|"
            r"elsewhere)\b)"
        ),
        (
            r"\b(?:is|are) an? (?:sensible|solid|prudent|strong|good|wise) (?:choice|step|measure|"
            r"addition|control|set of)\b"
        ),
        r"\bfor (?:the sake of )?completeness\b",
        r"\bis not wrong that\b",
        (
            r"\b(?:one|a reader|the reader|newcomers|a supervisor|somebody|some) (?:could|would|might|"
            "may) (?:also |perhaps |possibly )?(?:have )?(?:like|liked|prefer|preferred|welcome|welcomed|"
            r"wish|wished|object|feel|appreciate)\b"
        ),
        r"\bwould (?:be|have been) (?:nice|welcome|preferable|desirable|petty|a plus)\b",
        (
            r"\bcould be (?:mentioned|glossed|hyperlinked|rephrased|reworded|renamed|renumbered|"
            r"reformatted|added for)\b"
        ),
        (
            r"\b(?:I|we) (?:merely|only|just|simply) (?:flag|note|mention|ask|wonder|suggest|encourage|"
            r"observe)\b|\b(?:I|we) would (?:only|merely|rather|just) (?:encourage|leave|note|add|ask|"
            r"mention|suggest)\b"
        ),
        (
            r"\b(?:some|every|much|great|full|real) sympathy (?:for|with)\b|\b(?:I am|we are) (?:largely |"
            r"broadly |fully )?with the proposer\b|\b(?:I am|we are) not (?:certain|sure) that\b|\b(?:I|"
            r"we) (?:see|understand) why\b"
        ),
        (
            r"\bwhich is all (?:I|we)\b|\bmuch merit in\b|\bvery gently\b|\bhad there been anything\b|"
            r"\b(?:may|might) merit (?:consideration|attention|thought)\b|\b(?:unlikely|not likely) to "
            r"(?:alter|change|affect) the\b"
        ),
        (
            r"\b(?:benefit of the doubt|as far as it goes|up to a point|so far,? so good|more or less|"
            r"give or take|within reason)\b"
        ),
        (
            r"\bnot without (?:merit|force|reason|its|some)\b|\bis (?:a )?fair (?:description|summary|"
            r"reading|account|comment)\b"
        ),
        (
            r"\bthis much (?:is|follows)\b|\bis (?:all )?very well\b|\bis "
            r"(?:nice|welcome|good|fine|true), (?:but|yet|though|although)\b"
        ),
    ),
    "nothingElse": (
        (
            r"\b(?:the rest|everything else|all else) (?:I|we|is fine|is right|is sound|stands|holds)\b|"
            r"\botherwise (?:I|we)\b"
        ),
        r"\bin (?:all|every) other respects?\b",
        (
            r"\b(?:that|this|which) is (?:my|our) (?:whole|only|entire|sole|single) (?:disagreement|"
            r"objection|criticism|complaint|point)\b"
        ),
        (
            r"\b(?:all|the only thing|the one thing|the single matter) (?:that )?(?:I|we) (?:would|should|"
            r"could|can|might) (?:change|add|ask|suggest|object)\b"
        ),
        r"\b(?:the )?(?:single|only|one|sole) (?:matter|thing|point) on which I\b",
        r"\bnothing (?:further|more|else) to (?:say|add|object)\b|, nothing further\s*\.?$",
        r"\b(?:I|we) have no (?:further |other )?(?:complaints?|objections?|criticisms?|comments?)\b",
        r"\b(?:apart|aside) (?:from (?:that|this|which) )?(?:I|we)\b",
        r"\bwhat (?:remains to be wished|is left is)\b",
    ),
}
