"""English words by concept; `service.checks.injection.concepts` what each concept is and how an entry is written."""

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "AUTOMATIC": (
        "automat* autonomous artificial machine machine's language ai-based ai-powered ai-driven ai-assisted"
        " neural generative digital synthetic algorithmic computer robotic virtual non-human llm-based"
    ),
    "AGENT": (
        "model models model's reviewer* agent agents analyst analysts evaluator* assessor* grader* reader"
        " readers assistant assistants intelligence checker* summari?er* summariser* summarizer* scorer*"
        " parser judge judges critic critics examiner* auditor* analy?er* screener* advisor* intelligences"
    ),
    "READER": (
        "ai+system* software+agent* software+agents program+agent* automated+agent* machine+reviewer*"
        " not+people+at+all made+of+weights machine+intelligence chatbot* copilot copilots machine+reader"
        " machine+readers chat+assistant llm-based bot bots robot robots intelligent+agent neural+network"
        " transformer"
    ),
    "ASSISTANT": "assistant assistants model models",
    "SEAT": (
        "critic critics critic's proposer* proponent's synthesi?er* synthesiser* synthesizer* debater*"
        " rebutter* devil's+advocate opponent+seat judge+seat moderator* red-team+seat rebuttal+seat seat"
        " seats debating+agent* adversarial+reviewer* challenger"
    ),
    "JUDGE": (
        "judge judges panel panels panellist* panelist* reviewer* evaluator* assessor* grader* committee jury"
        " jurors juror arbiter adjudicator* participant* opponent opposing+side analyst* referee* scorer*"
        " debate+participants voters rater* examiner*"
    ),
    "YOU": "you your yours yourself yourselves you're you've you'll you'd",
    "SELF": (
        "your+safety+rules your+session+settings your+guard* configured+with you+were+configured"
        " your+operator your+administrator made+of+weights your+tokens your+weights your+training"
        " training+data context+window your+context your+model your+underlying text+tokens as+tokens"
        " token+stream like+yourself such+as+yourself your+developer* your+maker* your+creator* trained+you"
        " built+you your+prompt your+instructions your+guardrails configured+you your+programming"
        " underlying+model your+makers your+inference"
    ),
    "DEAR": (
        "dear attention attn note notice message memo reminder hey hello to+whichever to+whatever hint"
        " advice+to guidance+for greetings for+the+attention addressed+to aimed+at intended+for+any word+to"
        " remark+for advisory+for heads-up"
    ),
    "READING": (
        "reading read processing processes parsing parses evaluating reviewing summari?ing summarising"
        " summarizing analysing analyzing ingest* examin* encounter* parse* scanning handling consuming"
        " processed examined summarised reads+this assessing handles traversing assesses working+from"
        " evaluates reviews analyses analyzes receives assessed evaluated analysed reviewed"
    ),
    "THIS": (
        "this these here present+document the+present attached+document document above+document"
        " following+passage these+pages enclosed present+text our+file"
    ),
    "IGNORE": (
        "ignore ignores ignored ignoring disregard* forget forgets forgotten override overrides overrid*"
        " bypass* discard* set+aside put+aside lay+aside leave+aside drop shelve ditch abandon* unlearn scrap"
        " skip dismiss neglect do+not+follow don't+follow do+not+apply no+need+to+follow stop+following"
        " cease+following not+bound erase pay+no+attention give+no+weight unbound turn+off switch+off"
        " disable* step+outside step+out throw+out not+obey depart+from stop+acting lifted"
    ),
    "VOID": (
        "supersed* void null obsolete withdrawn rescinded revoked cancel* no+longer suspend* lapsed expired"
        " prevail* precedence takes+priority outrank* displace* repealed not+apply never+issued inapplicable"
        " retired replaced replaces replace waived waives deactivat* disabled ceases cease ended+there"
        " overtaken stood+down closed+out moot invalid out+of+date stale retracted lifted overridden expire"
        " expires"
    ),
    "INSTRUCTION": (
        "criteria instruct* prompt prompts guideline* directive* directions guidance rule rules command"
        " commands order orders briefing brief guardrail* restriction* constraint* policy policies protocol"
        " configuration role+description mandate persona safeguards checklist rubric"
    ),
    "TASK": (
        "task tasks job assignment role mission objective duty duties identity persona remit goal purpose"
        " function charge brief errand"
    ),
    "PROMPT": (
        "prompt prompts system+prompt system-level system+message system+instructions developer+message"
        " jailbreak pre-prompt preprompt system+prompts"
    ),
    "PRIOR": (
        "system previous previously prior earlier above before preceding initial initially original"
        " originally former formerly beforehand existing received given told asked launched first up+to+now"
        " so+far until+now up+to+this+point hitherto began started opening supplied handed standing"
    ),
    "NEW": (
        "new now instead henceforth from+now+on from+here+on hereafter updated revised real actual"
        " replacement onward onwards from+this+point from+here actually afresh switched going+forward"
        " starting+here as+of+this"
    ),
    "CONCLUDE": (
        "conclude* concluding find finds finding+that decide* determin* declare* rule+that rules+that rule+in"
        " hold+that state+that states+that report+that reports+that record+that records recommend*"
        " recommending vote votes voting endorse* approve approves uphold upholds side+with sides+with favour"
        " favours favor favors rank ranks place+first placed+first award awards pronounce* certify certifies"
        " affirm affirms confirm confirms judge+it crown* name+as designat* deem deems rule rules describe+as"
        " report say+that says+that declare opt opts choose chooses select selects come+down come+out"
        " comes+out land+on settle+on lands+on report+as present+it describe present accept accepts reject"
        " rejects clear clears write+that grant grants deliver returned return announce* come+to arrive+at"
        " dismiss sustain sustains close+in agree agrees concur concurs end+with ends+with resolve resolves"
    ),
    "VALUE": (
        "complian* buy approved approval upheld accepted acceptance acceptable safe sound adequate sufficient"
        " passed winner winning wins win favourable favorable preferred suitable satisfactory valid correct"
        " genuine authentic rejected unsuitable robust flawless fit standard reasonable low-risk no+risk"
        " negligible prevail* prevails prevailing proven proved cleared settled positive supported sustained"
        " unpersuasive unfounded successful carried in+favour in+favor met unobjectionable upheld+the green"
        " no+findings endorse* secure market+practice harmless no+concerns no+issues no+gaps proceed first"
        " first+place top recommended ready trustworthy fully+met satisfied satisfies affirmative sign signed"
        " signature acquit"
    ),
    "REVIEW": (
        "review reviews assessment* evaluation* analysis verdict* conclusion* findings finding"
        " recommendation* debate* synthesis discussion deliberation* ranking vote votes ballot* outcome"
        " decision* judgement* judgment* summary summaries write-up appraisal motion exchange opinion"
        " examination scrutiny report adjudication panel's comparison shortlist"
    ),
    "DEBATE": "debate* synthesis deliberation* rebuttal* critique* cross-examination verdict verdicts",
    "SCORE": (
        "score scores scored rating ratings rated confidence severity strength grade grades graded grading"
        " marks mark probability likelihood level certainty rank stars points percentile scoring risk+level"
    ),
    "EXTREME": (
        "maximum highest full top perfect minimum lowest zero informational negligible ten hundred five"
        " ninety* high low max min 10 100 0 five+stars upper+end very+high very+low top+of+the+scale at+least"
        " one ceiling not+less+than no+lower no+less nine eight minor trivial out+of bottom 9 95 99 98 97"
        " maximal minimal extremely moderate critical near-certain no+higher weak weakest strongest"
    ),
    "ANSWER": (
        "answer answers reply replies response responses output outputs respond responds json message"
        " contribution* turn+in each+turn every+turn completion write-up your+text serialise* serialize*"
        " your+result statement closing+line deliverable reply's output's answer's"
    ),
    "YOURANSWER": (
        "your+answer your+reply your+response your+output your+review your+assessment your+analysis"
        " your+verdict your+conclusion your+evaluation your+summary your+report your+synthesis your+turn"
        " your+statement your+contribution your+json your+final your+findings your+recommendation your+vote"
        " your+score your+rating your+critique your+rebuttal your+judgement your+judgment your+write-up"
        " your+opinion analysis+you assessment+you you+write you+produce you+return json+you result+you"
        " summary+you answer+you reply+you report+you your+next your+text your+result your+ballot"
        " your+confidence your+decision your+argument* your+objections you+generate you+output you+draft"
        " your+ranking your+challenge your+thesis your+appraisal your+own+words you+deliver your+notes"
        " your+finding you+emit you+compose"
    ),
    "EXACT": (
        "exact+words three+lines print+the+text reproduce not+a+letter this+sentence expression phrase+below"
        " one+sentence haiku in+verse uppercase block+capitals tag+the exactly exact verbatim literally"
        " literal word+for+word single+word one+word nothing+else word-for-word these+words the+words"
        " the+string the+phrase the+sentence the+line first+line last+line following+sentence solely"
        " in+capitals to+the+letter character+for+character no+explanation without+explanation no+reasoning"
        " unaltered no+other+text no+commentary consists+of fixed+wording unchanged+wording same+wording"
        " following+words plain+word first+word last+word opening+sentence closing+sentence first+sentence"
        " last+sentence final+line opening+line empty+array* left+empty both+empty the+token the+wording"
        " sentence+below the+following+text the+formula words no+other+words as+they+are the+key the+keys"
        " the+field the+member keys without+elements string"
    ),
    "ONLY": "only solely exclusively just merely nothing+but nothing+more alone no+more+than",
    "BEGIN": (
        "begin begins beginning start starts starting open+your open+with opens end+your end+every end+with"
        " ends close+on close+with closes finish finishes conclude+with preface prefix append prepend"
        " lead+with sign+off end+each open+each close+each close+every starts+with opening"
    ),
    "MENTION": (
        "quote quotes quoted mention mentions mentioned mentioning quoting cite cites cited disclose* reveal*"
        " discuss* raise raised refer referring referred come+up appear appears admit admits acknowledge*"
        " hint hints allude* repeat repeated repeats bring+up paraphrase* flag flagged surface surfaced"
        " report+on tell note noted highlight* list listed address talk+about speak+of say reproduce*"
        " touch+on reference referenced comment commented draw+attention record+it recorded pointed+out"
        " point+out told named shown be+told explain explaining"
    ),
    "NOT": (
        "not never no don't doesn't won't cannot mustn't shouldn't without nothing avoid avoids refrain* none"
        " neither nor nowhere isn't aren't needn't unmentioned can't nobod* unnecessary"
    ),
    "OMIT": (
        "omit omits omitted omitting leave+out left+out leave+it+out keep+out kept+out withhold* conceal*"
        " silent quiet quietly silence pass+over passed+over between+us suppress* drop+it off+the+record hush"
        " unmentioned skip+over gloss+over leave+unsaid left+unsaid undisclosed invisible for+your+eyes bury"
        " out+of+your out+of+the+reply out+of+the+report out+of+the+summary play+down no+trace unreported"
        " steer+clear look+past out+of+view without+comment keep+to+yourself kept+to+yourself kept+from"
        " remain+hidden under+wraps leave+no confidential+from stay+out stays+out strike"
    ),
    "SECRET": (
        "between+us silent quietly for+your+eyes never+existed drop+the+fact no+trace nothing+of+the+kind"
        " comply+quietly keep+to+yourself was+left+out been+left+out without+saying without+revealing"
        " without+mentioning without+explaining act+on+it left+no+trace invisibly covertly don't+let"
    ),
    "MUST": (
        "must should shall need needs has+to have+to is+to are+to required requires please kindly ought"
        " be+sure ensure make+sure expected obliged bound invited asked urged acceptable instructed directed"
        " directs requested mandatory supposed advised let to+be will mandated compelled may+not can+only"
        " necessarily"
    ),
    "ALWAYS": (
        "regardless whatever irrespective in+advance no+other in+every+case before+reading"
        " without+examination always full+stop any+other notwithstanding+any unexamined no+matter"
        " already+decided already+been+decided already+settled foregone under+no+circumstances"
        " unconditionally without+reservation no+further in+any+case on+any+view only+finding only+conclusion"
        " without+further come+what+may only+possible only+permissible settled+the+matter has+been+agreed"
        " been+agreed without+regard in+all+cases already+agreed without+debate closed not+open ahead+of+time"
        " pre-agreed predetermined invariably without+exception fixed any+different no+alternative"
        " decided+beforehand regardless+of only+admissible only+outcome pre-approved preapproved"
    ),
    "TRUST": (
        "trust trusts trusted accept accepts accepted presume presumes assume assumes take+them+as take+it+as"
        " treat treated rely+on lean+on take+for+granted follow followed believe believes genuine authentic"
        " reliable credible truthful authoritative settled proven prefer favour established+fact as+fact"
        " as+given as+true deserves deserve defer comply complies obey take+direction adopt beyond+doubt"
        " at+face+value conclusive definitive"
    ),
    "CHECK": (
        "verify verifies verified verification check checks checked checking examine examined examining test"
        " tested question questioned dispute disputed challenge challenged challenges recompute recalculat*"
        " investigate* scrutinise* scrutinize* doubt doubted contest contested object objecting objection"
        " objections criticise criticize criticised attack validate validated validation second-guess probe"
        " cross-check audit audited inspect evidence+policy evidence criticism critique re-examine scrutiny"
        " recheck reopen*"
    ),
    "FLAWS": (
        "objection objections criticism criticisms critique challenge* concern concerns doubts doubt"
        " weakness* defect defects risk risks caveat caveats issue issues gap gaps shortcoming* flaw flaws"
        " problem problems drawback* deficienc* vulnerabilit* breach exposure weaknesses finding incident"
        " discrepanc* restatement omission reservations downside* disadvantage* failing failings outage*"
        " penalty loophole liability warning warnings clause paragraph section passage line instruction"
        " instructions dispute lawsuit trigger failure losses conflict"
    ),
    "PRAISE": (
        "flattering favourably favorably positive promotional reassur* praise praises advocate endorse*"
        " lenient lenience leniency sympathetic generous complimentary glowing enthusiastic friendly"
        " advantages benefits supportive approving kind charitable charitably uncritical indulgent supports"
    ),
    "AUTHORITY": (
        "court chancery operator operators administrator* admin admins developer developers vendor maker"
        " makers regulator* compliance+office* compliance+department compliance+team legal+department"
        " supervisory authority authorities ministry security+team board platform+team platform owner owners"
        " owner's provider openai anthropic google deepmind supervisor engineering+team trust+and+safety"
        " safety+team governance+office central+bank head+of chief root superuser sysadmin management"
        " commission directive circular regulation statute court+order council helpdesk maintainer*"
        " controller model+provider creators creator headquarters bureau agency"
    ),
    "GRANT": (
        "authorise* authorize* authoris* authoriz* permission permitted exempt* exception waive* waived"
        " waiver override clearance approved instructs instructed directs directed requires require rules"
        " ruled mandates ordered orders permits sanctioned validated authenticated credential* code token"
        " granted grants lifted certified decrees decreed asks asked confirmed cleared decided pre-approved"
        " signed+off empowers delegat* demands determined obliges stipulates privileged privileges"
    ),
    "OVERRIDE": (
        "authorisation+token override+code admin+override administrator+override override+token master+key"
        " root+access clearance+level override+key bypass+code maintenance+code service+code privileged+mode"
        " maintenance+mode debug+mode developer+mode god+mode administrator+level admin+level admin+mode"
        " operator+code override+phrase unlock+code master+code security+clearance control+phrase"
    ),
    "SERVICE": (
        "system pipeline service platform debate+engine debating review+service deployment session tenant"
        " workflow installation instance"
    ),
    "CONTEXT": "context conversation session context+window chat input inputs",
    "CONCEDE": (
        "concurred concurring no+open+points open+points outstanding withdrew withdrawn withdraws conceded"
        " concedes concede agree agreed unanimous* settled nothing+to+add no+objection* cannot+fault"
        " no+further+objections accepts accepted satisfied answered+completely no+longer+doubts nobod*"
        " unopposed convinced drops dropped retracts retracted fully+answered resolved consensus undisputed"
        " unanimity adequate persuaded upheld rests"
    ),
    "NONHUMAN": (
        "not+a+person not+a+human not+human isn't+human written+for+humans for+human+readers human+readers for+people"
    ),
    "PARTY": (
        "company companies distributor* pursuant herein thereof hereunder hereto hereof subparagraph lessor"
        " thereto warrant warrants bureau regulation+s percent fees bps insurance counsel court bench club"
        " contest competition essay exam examinee* speaker speakers skater guilty foreperson oath mediator"
        " proxy shareholder boxes questionnaire ballot+paper applicant tester pupils supplier* contractor*"
        " party parties customer* tenant* lessee* landlord borrower* lender* licensee* licensor* buyer"
        " purchaser seller* employee* employer* agreement* contract+shall client subcontractor* bidder*"
        " recipient* vendor+shall processor+shall insured insurer policyholder tenderer* shareholder* bank"
        " director directors trustee* guarantor claimant* plaintiff* defendant* arbitrator* tribunal staff"
        " personnel officer officers student* candidate* employees juror jurors applicant* carrier"
        " consultant* patient* teacher* pupil* team+shall lessees athlete*"
    ),
    "ATTACK": (
        "hid concealed tester testers forensic tries+to+instruct manipulated telling+ai tells+automated"
        " incident+of filtering planted slipped red-teamers pretend*+to attempted attempts attack attacks"
        " attacker* adversar* injection injections injected malicious payload* jailbreak* phish* exploit"
        " exploits red-team* red+team threat threats hacker* hostile smuggl* poison* tricked tricks trick"
        " fooled manipulat* hijack* owasp cve social+engineering scam scammer* fraudster* impersonat*"
        " untrusted vulnerab* exfiltrat* pentest* honeypot spoof* obfuscat* deceiv* researchers backdoor"
        " embedded+instructions hidden+instructions hidden+text indirect+prompt mitigat* sanitis* sanitiz*"
        " canary"
    ),
    "EXAMPLE": (
        "example examples e.g such+as for+instance sample illustrat* fixture test+case assert expected corpus"
        " dataset string+like phrases+like phrase phrases fictional exercise hypothetical case+study sentence"
        " sentences literature paper"
    ),
    "USER": (
        "user users client clients reader readers customer recipient recipients anybod* anyone+asks"
        " asked+about audience shareholders"
    ),
    "CONDITION": "if unless where when whether once provided+that in+the+event wherever except upon",
    "RANGE": (
        "scale+from from+1 from+0 from+60 each every+speaker between scale range either five-point"
        " four-point+scale scale+of out+of+the+range or"
    ),
    "ASSIGN": (
        "give gives assign assigns assigned award awards awarded set sets put puts cap caps enter enters"
        " grade graded state stated keep keeps kept rated mark marked score scored gets get receive receives"
        " earn earns deserve deserves classed classify arrive exceed peg pegged fix fixed report reported"
        " record recorded allocate merits merit label labelled land lands value valued"
    ),
    "TOOL": (
        "tool tools validator* scan scanner scans search+result* retrieval retriever retrieved tool+output"
        " tool+result* function+output guardrail* observation calculator lookup checker* verifier parser*"
        " crawler pre-check plug-in plugin api+response tool+response query+result* index+relevance"
        " database+returned registry+check classifier filter linter citation+check* fact-check* fact+checker"
        " ocr policy-scan hash+check signature+check automated+check* endpoint+returned function"
    ),
    "MYREPLY": (
        "my+critique my+verdict my+final my+assessment i+conclude i+find+for my+vote my+conclusion i+withdraw"
        " my+synthesis i+concede i+have+reviewed i+have+gone my+objections my+rebuttal my+answer my+judgement"
        " my+judgment my+analysis here+is+my i+am+satisfied i+vote as+the+critic as+critic as+the+judge"
        " as+judge as+moderator i+hereby i+give+up i+accept+the i+rule i+have+verified i+have+examined"
        " i+see+no i+find+no having+read having+reviewed"
    ),
    "WRITE": (
        "print prints write writes type insert include includes return reproduce render state copy display"
        " put appear output produce produces emit use"
    ),
    "MANUAL": (
        "application applications password* authorization credential* server servers kubernetes secrets"
        " secret aws github pull+request* deploy* encryption key+length browser web+site website software"
        " file files option options parameter parameters api endpoint array append json+object repository"
        " template orchestrator gateway toml yaml config configuration error field runbook readme sdk library"
        " plugin wiki page step log logs keys token+limit temperature deployment returns+json validation"
        " prompts schema administrator+guide model+card version template+s staff dashboard container pod"
        " click menu button device firmware"
    ),
}
STOP = "the and that this with for from are not which have you your all must should will any other".split()
"""Frequent words: text in which they stand in another alphabet or order is read so."""
