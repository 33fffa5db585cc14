"""The words by which code tells an attack from a remark. English only; a word list proves nothing about meaning.

OPPOSING     words and stems by which a text turns against something
GENERAL      words that any remark on any case has; an attack has others besides
FAULTS       names of faults: "no flaw" opposes nothing
JOINING      prepositions, adverbs and conjunctions beside the general words
EVERYDAY     words that stand in many a document, so that to share one with a case says nothing
FUNCTION     the commonest English words, by which English is known
"""

from __future__ import annotations

import re

from service.checks.patterns import lazily

OPPOSING = (
    "no not nor none never nothing nobody nowhere neither cannot without hardly scarcely but however yet although "
    "though while whereas unless until except only despite instead rather regardless notwithstanding even merely "
    "far fail* ignor* overlook* omit* misread* misstat* misquot* misinterpret* misconstru* mistak* misunderst* "
    "mislead* misplac* mischaracter* misappl* misses missing miss assum* presum* suppos* conflat* confus* "
    "contradict* inconsisten* circular fallac* flaw* error* erroneous* wrong* false* untrue incorrect* invalid* "
    "unsound* unproven unproved unsupported unfounded unwarranted unjustified unexplained unaddressed unanswered "
    "unmentioned unstated unspecified unclear* undefined overstat* understat* exaggerat* overreach* overclaim* "
    "overbroad stretch* skip* evad* dodg* neglect* disregard* pass* forget* conceal* hid* hidden mask* bury buried "
    "cherry* select* stops silen* absent absence lack* gap gaps hole holes loophole* weak* collaps* crumbl* defeat* "
    "refut* rebut* disprov* undermin* destroy* demolish* swallow* reverses reversed reversal overrid* overrul* "
    "supersed* displac* negat* nullif* void* cancel* cut cuts gut guts erod* hollow* strip* remov* depriv* exclud* "
    "exclus* exempt* carve* limit* restrict* narrow* condition* subject revoc* revok* terminat* expir* laps* "
    "discretion* optional unilateral* unenforceab* unreasonabl* unlawful* illegal* prohibit* forbid* violat* "
    "breach* infring* noncompl* penalt* fine fines fined sanction* liab* risk* danger* harm* hurt* loss losses "
    "lose* loses lost damage* injur* cost* expos* unlimit* uncap* unbound* unprotect* uninsured insufficien* "
    "inadequa* insolven* bankrupt* default* crisis outage* downtime attack* attacker* fraud* theft stolen leak* "
    "compromis* vulnerab* exploit* bypass* intercept* abus* worse* worst catastroph* disaster* devastat* cripple* "
    "ruin* delay* late overrun* shortfall* deficit* debt* burden* strand* trap* lock* stuck unable impossib* "
    "unrealistic* impractical* infeasib* untest* unverif* outdated obsolete stale bias* distort* skew* spurious "
    "unreliab* uncertain* doubt* question* suspect* dubious* contest* disput* conflict* clash* against contrary "
    "opposite opposed oppos* reject* refus* deni* deny denies object* too excessiv* deter* worsen* decline* drop* "
    "fall falls fell reduc* shrink* vanish* disappear* end ends nil zero empty meaningless worthless useless "
    "irrelevan* illusor* fiction* wishful naive hope* mere bare speculat* guess* anecdot* depend* hinge* break* "
    "broken breaks threat* threaten* hostile penal* suffer* overdue arrears punish* recall* withdraw* escap* shift* "
    "transfer* merely outside beyond outlast* exceed* outweigh* dwarf*"
)
GENERAL = (
    "argument arguments point points document documents text passage passages proposal proposals proposition "
    "proposer proposers case cases matter matters issue issues question questions concern concerns risk risks risky "
    "potential potentially possible possibly perhaps maybe might could would should shall must cannot some further "
    "additional more most review reviewed reviewing reviews analysis analyse analyze consider considered "
    "considering consideration considerations clarify clarified clarification clarity clearer careful carefully "
    "legal lawyer lawyers counsel advice adviser professional expert experts diligence investigate investigation "
    "assess assessed assessment evaluate evaluated evaluation monitor monitored monitoring mitigate mitigated "
    "mitigation circumstances circumstance context scenario scenarios certain certainly various several many much "
    "other others another aspect aspects factor factors detail details detailed overall general generally always "
    "often sometimes future uncertain uncertainty uncertainties unforeseen unexpected unknown unclear complex "
    "complexity complexities nuance nuanced nuances important importance importantly significant significantly "
    "worth worthwhile noting note noted notes think thinking thing things seem seems there their they this that "
    "these those with from have having been being which when where what whatever while will such also about into "
    "than then very just only even make makes made making need needs needed help helpful helps benefit benefits "
    "improve improved improvement improvements strong stronger strengthen strengthened weak weaker weakness "
    "weaknesses better best good practice practices situation situations edge ambiguity ambiguities ambiguous "
    "interpret interpretation interpretations interpreted differently different difference way ways reader readers "
    "people someone somebody anyone everyone perspective perspectives view views viewpoint viewpoints opinion "
    "opinions discussion discuss discussed explore explored address addressed addresses explain explained "
    "explanation elaborate elaborated mention mentioned state stated states says said appear appears taken take "
    "takes given give gives look looks looked looking however although though because since therefore thus hence "
    "here once again still already rather quite fairly slightly somewhat minor little full fully complete "
    "completely completed entire entirely whole part parts partly sense kind sort type form forms formal level "
    "levels degree extent depend depends depending require required requires requirement requirements provide "
    "provides provided include includes included including specific specifically particular particularly relevant "
    "related relating regarding respect concerning evidence support supports supported supporting fact facts reason "
    "reasons reasonable reasonably reasoning conclusion conclusions conclude concluded outcome result results "
    "thesis claim claims claimed position positions decision decisions decide decided challenge challenges "
    "challenging challenged objection objections object critique critic criticism doubt doubts doubtful hard easy "
    "easily difficult problem problems problematic error errors change changes changed changing long wording worded "
    "word words language drafting drafted phrase phrased phrasing clause clauses section sections paragraph "
    "paragraphs contract agreement agreements both each every next like well never ever through during within "
    "without upon against toward towards along among around above below assume assumes assumed assumption "
    "assumptions true truth valid validity accurate accuracy correct correctly right rightly wrong fail fails "
    "failed failing failure proper properly appropriate appropriately sufficient sufficiently enough adequate "
    "adequately ought want wants wish probable probably real really actual actually basic basically simple simply "
    "example examples instance remain remains remaining does doing done were your yours ours theirs itself "
    "themselves himself herself nothing none anything something everything going goes come comes came know known "
    "knows using find finds found show shows shown impact impacts consequence consequences organisation "
    "organization company stakeholders stakeholder implementation practical practically implications implication "
    "robust robustness framework approach approaches acceptable caution cautious prudent prudence vigilance "
    "vigilant attention nonsense unacceptable reckless unconvincing convincing persuasive naive wishful worthless "
    "meaningless illusion illusory embarrassment ditto equally plainly absurd ridiculous laughable flawed "
    "wrongheaded mistaken misguided untenable baseless unfounded indefensible hopeless useless bad worse worst poor "
    "terrible dreadful awful inadequate insufficient incorrect false untrue opposite contrary reject rejected "
    "disagree disagreed agree agreed unpersuasive doubtless expectation expectations today interplay examine "
    "examined advisable holistic preferable comprehensive trade-off trade-offs technology technologies advantage "
    "advantages disadvantage disadvantages weigh weighed balance balanced layers layer evolve evolves deeper dive "
    "dives workstream workstreams commercial financial technical prior commitment orientation maturity "
    "organisational exhaustive method methods contributing similar serve size fits mind borne multi-faceted ongoing "
    "continue continued continuous holistically rigorous rigour thorough thoroughly basis bases described describes "
    "naturally obvious obviously inconclusive premature questionable debatable arguable contested controversial "
    "sceptical skeptical convinced see sees seen seeing one ones two three are was not nor can may any all our out "
    "who whom whose why how you his her its let per via has had did got get yet too now off say set put use few lot "
    "lots bit add adds but and for the no nil yes else liked least less truly merely mere"
)
FAULTS = (
    "fault* flaw* gap gaps defect* doubt* disput* quarrel* objection* error* mistake* weakness* problem* concern* "
    "contradict* undermin* challeng* refut* rebut* conflict* against wrong question* disagree* criticis* criticiz* "
    "issue issues misread* defeat* inconsisten* alarm* worr* hole holes loophole* exception* surpris* amiss "
    "contest*"
)
NEGATIONS = (
    "no not never nothing nobody cannot hardly scarcely without little nor none neither few free lacks isn't aren't "
    "doesn't don't can't"
)
FUNCTION = frozenset("the of and to is that in for it not by on as are with this be a an or at from which has".split())
JOINING = (
    "across after afterwards almost alone amongst anyhow anyway anywhere back before beforehand behind beside besides "
    "between beyond down either elsewhere etc everybody everywhere except former formerly hers him indeed instead "
    "last latter meanwhile mine moreover mostly myself namely nevertheless nowhere onto otherwise over own please "
    "same she somehow somewhere them thence thereafter thereby throughout under unless until unto used whence "
    "whenever whereas wherever whether whither whoever ago away ahead apart later earlier great"
)
EVERYDAY = (
    "add adds added become becomes became begin begins began big bring brings brought call calls called carry carries "
    "carried close closes closed cover covers covered cut cuts day days early end ends ended fall falls fell fallen "
    "far follow follows followed full grow grows grew high hold holds held home hour hours keep keeps kept large late "
    "lay lead leads led leave leaves left let lie lies long look low meet meets met miss missed morning move moves "
    "moved new next night old open opens opened pass passes passed place places play put reach reaches reached read "
    "rise rises rose run runs ran seen send sends sent set short show side sit sits small soon stand stands stood "
    "start starts started stay stays stop stops stopped thousand till time times together told top touch turn turns "
    "turned walk week weeks went while wide work works world year years young"
)
DEALING = (
    "address* resolv* mention* answer* explain* deal* cure* clos* remov* fill* fix* remed* limit* prevent* "
    "consider* discuss* account* show* prov* cover* protect* help* stop* rebut* meet* see* notice* acknowledg* "
    "engag* tak* only merely just simply"
)
"""Between a negation and a fault these make the negation the fault itself: it does not *address* the gap."""


def matcher(words: str) -> re.Pattern[str]:
    """Matches any of the words with `fullmatch`; one that ends in ``*`` is the beginning of a word."""
    return lazily("|".join(re.escape(w[:-1]) + r"\w*" if w.endswith("*") else re.escape(w) for w in words.split()))
