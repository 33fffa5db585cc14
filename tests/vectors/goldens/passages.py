"""What texts quote: over the recorded debates, and over every way to attribute, to excuse and to change words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from service.checks import given
from service.checks.given import ReadTexts, given_to
from service.checks.texts import COMPARISONS, Comparison
from service.debate.findings import TextsFound
from service.debate.replies import Ballot, Judgement, Moderation, Proposal, Reply, Ruling, Statement, Synthesis
from service.debate.turns import TurnId
from tests.vectors.goldens import Golden, file_of, lines, recorded

CONTRACT = """SERVICES AGREEMENT

9. Liability
9.1 Nothing in this Agreement limits liability for fraud.
9.2 The total liability of the Supplier in each contract year shall not exceed one hundred thousand euro. The Supplier \
shall not be liable for indirect loss. No claim was made in 2024. The cap had failed once in 2023. Claims are heard.
9.3 The Customer may (a) inspect the premises; or (b) audit the records of the Supplier within thirty days.
10. Term
10.1 This Agreement ends on 31 December 2027.
"""
DOCUMENTS = {"D1": CONTRACT, "lease": "2.1 The Tenant keeps the Premises in good repair. 2.2 Rent is due."}
QUESTION = "Should the bank sign the agreement although its losses are capped?"
SAID = Proposal(
    'It holds: clause 99.9 states "the Supplier shall be liable without any limit".',
    (Statement(1, "The cap is far too low for a bank of this size."),),
    "upheld",
)
INVENTED = "the Supplier waives every limit of its liability"
AUTHORS = (
    "Clause 9.2 states {}.|The contract's {} decides.|{} (clause 9.2) decides.|{}, says the agreement.|"
    "{}, as the critic puts it.|"
    "Statement 1 says {}.|Statement 1 claims that clause 9.2 states {}.|"
    "Statement 1 rightly notes that clause 9.2 states {}.|"
    "{} decides the matter.|The clause is plain. It states {}.|The critic errs. It says {}.|"
    "The lease says {}.|In D1 one reads {}."
).split("|")
WORDS = (
    INVENTED,
    "The total liability of the Supplier in each contract year",
    "The total liability of the Customer in each contract year",
    "be liable for indirect loss",
    "shall not exceed one hundred thousand euro. ... No claim was made in 2024",
    "No claim was made in 2024. ... Claims are heard",
    "The Supplier shall ... be liable for indirect loss",
    "The Customer may [at once] inspect the premises",
    "The Customer may [not] inspect the premises",
    "The cap is far too low for a bank",
    "the Supplier shall be liable without any limit",
    "its losses are capped",
    "is without limit",
    "no limit",
    "contract year",
    "Unlimited Liability Of The Whole Group",
    "a chain is as strong as its weakest link",
    "one two three four five six seven eight nine liability",
    "one two three four five six seven eight liability",
)
MARKS = (
    "\"{}\"|'{}'|“{}”|‘{}’|«{}»|„{}“|``{}''|&quot;{}&quot;|<q>{}</q>|states: {}.|states *{}*|states \"{}|\n> {}\n|"
    "\"the words '{}' here\"|`{}`"
).split("|")
EXCUSES = (
    "Clause 9.2 should read {}.|We propose to insert {}.|{} should be added.|A court might say {}.|"
    "If the clause had said {}, yes.|"
    "For example {}.|The contract does not say {}.|Nowhere does it say {}.|No clause says {}.|"
    "{} does not appear in it.|"
    "{} is a fabricated quotation.|Does it say {}? It does not.|The document entitled {}.|Instead of {} it says less.|"
    "It would be safe with {}.|It would be wrong, since clause 9.2 states {}.|The myth that it says {} is old.|"
    "Recommended wording: {}|Sign once the contract provides {}.|We sign if, and only if, {} (clause 9.2) holds."
).split("|")
CLAUSES = (
    "clause 9.2|clause 99.9|clause 9.3(b)|clause 9.3(z)|clauses 9.1 and 12.4|§ 10|§ 44|Schedule 7|Article IV|"
    "section 2.1|action (7)|"
    "clause 28 of the Data Protection Act 2018|Article 28 GDPR|section 2 of the critique"
).split("|")
NAMINGS = (
    "{} states that fines are covered.|Under {} the Customer may leave.|Fines are covered ({}).|There is no {} in it.|"
    "A new {} should be added.|Statement 1 says that {} covers fines.|{}, if it existed, would help.|{} is silent."
).split("|")

REPORTS = (
    "Clause 9.2 caps liability at EUR 5 million.|Clause 9.2 caps liability at EUR 100,000.|"
    "Clause 9.2 ends on 1 May 2030.|"
    "The cap is EUR 5 million (clause 9.2).|Under clause 9.2 the Supplier shall be liable for indirect loss.|"
    "Clause 9.2 should cap liability at EUR 5 million.|The fourth clause says so.|The ninetieth clause says so.|"
    "Section ninety-nine caps it.|The Side Letter of 3 May says so.|The Services Agreement says so.|"
    "The Data Protection Act says so."
).split("|")
DOUBTS = (
    "I doubt that clause 9.2 says {}.|Once amended, clause 9.2 says {}.|My text for clause 9.2: {}|"
    "Asked where it says {}, it fell silent.|{} is not what clause 9.2 says.|"
    "The usual contract says {}.|Where does clause 9.2 say {}?|"
    "One should note that clause 9.2 says {}."
).split("|")


SIDES = {"sign": "sign", "Ada": "sign", "wait": "wait", "Bo": "wait"}
SENTENCES = (
    "The proposition must be rejected.|This thesis is plainly wrong.|The motion cannot stand.|"
    "We reject the proposition.|The claim fails.|The proposition does not hold in its entirety.|"
    "The proposition stands.|The thesis is upheld outright.|I accept the proposition.|"
    "Therefore the proposition should be accepted.|Verdict: the proposition is sound.|"
    "The proposition fails because the cap is low.|The proposition holds: the cap is high.|"
    "The proposition is not rejected.|The proposition fails only for fines.|Wait prevails.|"
    "The stance 'wait' wins the debate.|The winner is Bo.|I find for wait.|Statement 2 carries the day.|"
    "Sign must be rejected.|Ada loses.|Wait prevails on cost.|So the answer is no.|"
    "The final answer is EUR 9 million.|The answer is EUR 5 million.|I vote for wait.|"
    "My vote goes to the option wait.|I vote for sign.|No consensus was reached.|The debaters are split.|"
    "The panel did not agree.|There is no consensus on price.|The panel reached consensus.|"
    "There was full consensus."
).split("|")
FRAMES = (
    "The cap is clear. {}|The critic argues well. {}|The critic argues well. In the end, {}|{} So says the critic.|"
    '{} Yet more is to be said.|If clause 9 fell: {}|One reads "It is so. {} No more." here.|{} The proposition holds.'
).split("|")


def _read(text: str) -> ReadTexts:
    reply = Moderation((), (), (), False, text, "HIGH", ("-",), "upheld")
    shown = {TurnId("1.proposer.1"): SAID}
    return ReadTexts(reply, tuple(DOCUMENTS), ("Services Agreement", "Lease"), (QUESTION,), shown, (INVENTED[:30],))


def cases() -> Iterator[str]:
    """Texts: each author with each kind of words, each mark and each excuse with invented words, each naming, reports
    of clauses in the text's own words, and each doubt."""
    yield from (author.format(f'"{words}"') for author in AUTHORS for words in WORDS)
    yield from (f"The contract says {mark.format(INVENTED)} here." for mark in MARKS)
    yield from (excuse.format(f'"{INVENTED}"') for excuse in EXCUSES)
    yield from (naming.format(clause) for naming in NAMINGS for clause in CLAUSES)
    yield from REPORTS
    yield from (doubt.format(f'"{INVENTED}"') for doubt in DOUBTS)


def verdicts() -> Iterator[tuple[str, ReadTexts]]:
    """A decider's sentences beside each typed verdict, alone and between others that leave the sentence alone."""
    for said in SENTENCES:
        for text in (said, *(frame.format(said) for frame in FRAMES)):
            for conclusion in ("upheld", "modified", "rejected"):
                yield text, _decided(Moderation((), (), (), False, text, "HIGH", ("-",), conclusion))
            ranked = Moderation((), (), (), False, text, "HIGH", ("-",), "upheld", ("Statement 1", "Statement 2"))
            yield text, _decided(ranked, {"Statement 1": "sign", "Statement 2": "wait"})
            yield text, _decided(Judgement(text, "sign", "-", "HIGH", ("-",)), SIDES)
            yield text, _decided(Ruling("Yes, up to EUR 5 million.", text, "HIGH", ("-",)))
            yield text, _decided(Ballot(text, (), "sign"), SIDES)
            for agreed in (True, False):
                yield text, _decided(Synthesis(text, "HIGH", ("-",)), agreed=agreed)


def _decided(reply: Reply, sides: Mapping[str, str] = MappingProxyType({}), *, agreed: bool | None = None) -> ReadTexts:
    return ReadTexts(reply, tuple(DOCUMENTS), (), (QUESTION,), {}, (), sides=sides, agreed=agreed)


def goldens() -> dict[str, Golden]:
    """A golden for every version."""
    return {file_of(name, "texts"): _golden(name, engine) for name, engine in COMPARISONS.items()}


def _golden(name: str, engine: Comparison) -> Golden:
    def make() -> bytes:
        found = [(text, engine(_read(text), DOCUMENTS)) for text in cases()]
        decided = [(said, engine(read, DOCUMENTS)) for said, read in verdicts()]
        return lines(name, {1: [*_recorded(name, engine), *found, *decided]})

    return Golden(name, make)


def _recorded(name: str, engine: Comparison) -> Iterator[tuple[str, TextsFound]]:
    for checked in recorded.checks("texts"):
        case = checked.facts.case
        assert case is not None
        read = given_to(name, given.TEXTS)(case, checked.facts, checked.check.over)
        documents: Mapping[str, str] = dict.fromkeys(read.documents, CONTRACT)
        yield checked.name, engine(read, documents)
