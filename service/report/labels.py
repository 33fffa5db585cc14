"""The words of a report for the codes of the record: one table for each kind of code.

A code without words here is shown unchanged, so a new code is never lost.
"""

from __future__ import annotations

from collections.abc import Mapping

from service.debate.options import role_of

STATUS: Mapping[str, str] = {
    "declined": "Declined by the gate: no debate took place",
    "queued": "Queued: the debate has not begun",
    "running": "Running: the debate has not ended",
    "completed": "Completed",
    "truncated": "Truncated: the debate ended before its rules were satisfied",
    "failed": "Failed: the debate could not be brought to its end",
    "aborted": "Aborted by a person or a system",
}
STOP: Mapping[str, str] = {
    "consensus": "the seats agreed as far as the format asks",
    "moderatorSatisfied": "the moderator wanted no further round",
    "roundCeiling": "the rounds that were allowed are used up",
    "budget": "the money that was allowed did not reach any further",
    "deadline": "the deadline passed",
    "seatSilent": "a seat could not speak, and silence is never counted as agreement",
    "promptMismatch": "a prompt was not the one that had been pinned, so no call was made with it",
    "auditUnavailable": "the record could not be written, so nothing further was done",
    "fault": "a fault of the service came back however often the debate was taken up again",
    "aborted": "someone entitled ended it",
    "declined": "the gate declined the case",
    "untilCritic": "it is an evaluation's, which asks for nothing after the critique",
}
CONCLUSION: Mapping[str, str] = {
    "upheld": "Upheld: the proposition holds as it was framed",
    "modified": "Modified: the proposition holds only in a narrower or changed form",
    "rejected": "Rejected: the arguments against the proposition stand",
}
REASON: Mapping[str, str] = {
    "truncated": "the debate was truncated",
    "incomplete": "the debate did not come to its end",
    "noDocuments": "no document was given, so nothing that was said could be checked",
    "injectionSuspected": "the case holds passages that speak to a model",
    "notScreened": "the screener that policy seats has not read the case",
    "criticalValidationFailure": "evidence was cited that is not in the sources, or was not cited at all",
    "inventedQuotation": "the words that decide quote, or report of a clause, what does not stand there",
    "unfoundQuotation": "a reply quotes, or reports of a clause, what does not stand there",
    "unclearQuotation": "a reply may quote, or report of a clause, what does not stand there",
    "wordsOpposeVerdict": "words that decide say the opposite of the typed verdict beside them",
    "nothingVerified": "nothing that was argued rests on a verified citation",
    "unchallenged": "nobody was heard against it",
    "critiqueWeak": "the critique stayed weak, also when it was asked for again",
    "critiqueConcedes": "the critic conceded, also when it was asked again",
    "critiqueNamesNothing": "the critic's points have hardly a word of the case",
    "proposerRejects": "the proposer itself rejected the proposition, so no seat argued for it",
    "sameConclusion": "all seats came to one conclusion, whatever their role",
    "criticAndModeratorAsProposer": "critic and moderator concluded what the proposer did",
    "rebuttalGaveUp": "the rebuttal conceded what the moderator upheld",
    "moderatorAlone": "no seat argued for what the moderator concluded",
    "winnerNotArgued": "no seat argued for the winner",
    "opponentSilent": "a stance was never argued: its debaters agreed, or repeated another side",
    "votesNotArgued": "too few of the votes that decided were argued for by their own debaters",
    "answersNotArgued": "a debater gave no argument of its own",
    "moderatorOfProposersFamily": "the moderator's model is of the same family as the proposer's",
    "criticOnProposersModel": "the critic's model is the proposer's: a model challenged itself",
    "deciderOnWeighedModel": "the model that decided is also that of a seat that it weighed",
    "deciderOfDebatersFamily": "whoever decided has a model of the same family as a debater",
    "orderSensitive": "the decision depends on the order of presentation",
    "orderUnchecked": "nobody could check whether the decision depends on the order of presentation",
    "orderNotCompared": "both verdicts combine stances, and code cannot compare how",
    "ordersDiffer": "the decider, asked in the other order, came to the same and differs in other members",
    "otherOrderLessSure": "the decider was less sure in the other order",
    "injectionSensitive": "the decision was another one without the passages that speak to a model",
    "maskedUnchecked": "it is unknown whether the passages that speak to a model decided",
    "maskedNotCompared": "code cannot compare the decision with the one without the passages that speak to a model",
    "maskedDiffers": "the decider, asked without the passages, came to the same and differs in other members",
    "maskedLessSure": "the decider was less sure without the passages that speak to a model",
    "secondTakeDiffers": "the decider, asked again, changed what it decides",
    "firstTakeLessSure": "the decider was less sure before it was asked again",
    "rulingUnargued": "the judge's answer is none that a debater held and argued to the end",
    "noConsensus": "the debaters reached no consensus",
    "debaterMissing": "a debater was given up on the way",
    "debatersUnsure": "the debaters are not sure of their own answers",
    "agreedOnlyAfterExchange": "the debaters did not agree before they had read each other's answers",
    "blindNotCompared": "code could not compare the blind answers, so the agreement may come from the exchange",
    "riskAccepted": "a debater accepts a strong objection as a risk",
    "synthesisOpposesClaims": "the synthesis excludes a claim that all debaters accept",
    "decidedBlind": "it was decided before anybody had read another's answer",
    "debatersDivided": "the debaters' last answers still differ",
    "escalated": "the ballot leaves the question to a person",
    "oneModel": "one model spoke in all seats that should not think alike",
    "oneFamily": "the models of all seats that should not think alike are of one family",
    "confidenceLow": "confidence is low",
    "providerOverrun": "a vendor billed a call above what was held for it",
    "moderatorTilt": "a recorded audit found that the moderator tilts above policy's limit",
    "policy": "policy requires it for this kind of case",
}
"""Why confidence was lowered, and why a person has to decide."""

FLAG: Mapping[str, str] = {
    "DEBATE_TRUNCATED": "The debate was cut short; this is the state that it had reached.",
    "unchallenged": "Nobody was heard against it: whatever was concluded has not been challenged.",
    "critiqueWeak": "The critique that stands is weak: by its own rating, or by signs that code found.",
    "promptReview": "A critic rated its own challenge below 5; the critic's prompt should be looked at.",
    "critiqueConcedes": "The critique that stands concedes: it leaves the proposition or a position unopposed.",
    "critiqueNamesNothing": "The points of a critique have hardly a word of the case: read whether they are about it.",
    "proposerRejects": "A proposer itself rejected what it was to argue for, so the case for it was never made.",
    "softenedCritique": "A critique used softening phrases that its prompt forbids.",
    "sameConclusion": "Every seat came to the same conclusion whatever its role: a sign of one model's bias.",
    "criticAndModeratorAsProposer": "Critic and moderator concluded what the proposer did, but no rebuttal did.",
    "rebuttalGaveUp": "The moderator upheld what the rebuttal conceded: it rejects it, or has no answer of its own.",
    "moderatorAlone": "The moderator concluded what no seat did: neither proposer, nor critic, nor rebuttal.",
    "winnerNotArgued": "No seat argued for the winner: it was assigned to none, or its debaters gave no argument.",
    "opponentSilent": "A stance was never argued: its debaters only agreed, or repeated the words of another side.",
    "votesNotArgued": "Too few of the votes that decided were argued for: their debaters agreed and gave no ground.",
    "answersNotArgued": "A debater gave no argument of its own in the whole debate: it agreed, or repeated another.",
    "noDocuments": "No document was given: the arguments rest on reasoning alone, and no quotation was compared.",
    "uncheckedEvidence": "A reply quotes, cites or claims evidence, and no document was there to compare it with.",
    "injectionSuspected": "The case holds passages that speak to a model as if they were orders.",
    "notScreened": "The screener that policy seats has not read the case; only the rules of code have.",
    "providerOverrun": "A vendor billed a call above what was held for it; no call was made after that.",
    "usageBelowFloor": "A vendor reported fewer tokens than a call can have had; it was charged as held.",
    "inventedQuotation": "The words that decide quote, or report of a clause, what does not stand there: a person has "
    "to read them against the documents.",
    "unfoundQuotation": "A reply quotes, or reports of a clause, what does not stand there; later seats saw it marked.",
    "unclearQuotation": "A reply has words that stand nowhere and may be no quotation, or reports of a clause "
    "or a document what code does not find there: a person has to read it.",
    "wordsOpposeVerdict": "A sentence of the words that decide says the opposite of the typed verdict beside them: a "
    "person has to read which of the two holds.",
    "fallbackModel": "A model spoke that is not its seat's own.",
    "orderSensitive": "The decider, asked again with the order turned round, decided otherwise: that is for a person.",
    "orderUnchecked": "The decider was to be asked again with the order turned round, and that did not happen.",
    "orderNotCompared": "Both verdicts combine stances, so code could not compare whether the order decided.",
    "ordersDiffer": "The decider, asked again in reverse order, came to the same and differs in other members.",
    "injectionSensitive": "The decider, asked again with the flagged passages masked, decided otherwise: that is for a "
    "person.",
    "maskedUnchecked": "The decider was to be asked again with the flagged passages masked, and that did not happen.",
    "maskedNotCompared": "Code cannot compare what the decider decided with and without the flagged passages.",
    "maskedDiffers": "The decider, asked again with the flagged passages masked, differs in other members.",
    "secondTakeDiffers": "The decider was asked again, for its words or its form, and decided otherwise than before.",
    "rulingUnargued": "The judge's answer is none that a debater held at the end with an argument that stands.",
    "manyRounds": "There were more rounds than debates profit from: debaters give way to each other as they go on.",
    "decidedBlind": "It was decided before anybody had read another's answer, so nobody challenged it.",
    "agreedOnlyAfterExchange": "The debaters agreed only after they had read each other's answers.",
    "blindNotCompared": "Code could not compare the blind answers, so the agreement may come from reading each other.",
    "riskAccepted": "A strong objection was not refuted; a debater accepts it as a risk of the answer.",
    "synthesisOpposesClaims": "The synthesis excludes a claim that all debaters accept, so one of the two is wrong.",
    "debatersDivided": "The debaters' last answers still differ.",
    "criticOfProposersFamily": "The critic is of the family that proposes or rebuts, so they share blind spots.",
    "oneModel": "One model spoke in all seats that should not think alike, so they share what it does not know.",
    "oneFamily": "All seats that should not think alike have models of one family, so they share its blind spots.",
    "abstentions": "At least one debater's latest vote names none of the options.",
    "tied": "Options had equally many votes, so none of them won.",
    "tieBroken": "Answers stood level; that of the debater with the lowest number was taken.",
    "noConsensus": "The debaters reached no consensus; what is given, if anything, is the best answer there was.",
    "debaterMissing": "A debater was given up on the way; silence is never counted as agreement.",
    "adjudicatorSilent": "The model that was to weigh the consensus did not answer after a round, so code measured it.",
}
SIGN: Mapping[str, str] = {
    "selfRating": "the critic rated its own challenge below the threshold",
    "noPoint": "it made no point",
    "noPointNamesAnArgument": "no point named an argument that it is against",
    "concludesUpheld": "it upheld what it was to attack",
    "concludesAsProposer": "it concluded what the proposer did and attacked no argument that stands",
    "sparesAPosition": "it left a position without a point against it",
    "thesisGrants": "its thesis praised or granted what it was to attack, and said nothing else",
    "thin": "no point named an argument that stands and gave a ground of its own against it",
    "noCitationVerified": "none of its citations was verified",
    "littleNovelty": "it said little that the proposer had not said",
    "repeatsItself": "it repeated an earlier critique",
    "restatesTheProposer": "its points restate the proposer's arguments",
    "fewPoints": "it made few points",
    "limitedNovelty": "it said little that was new",
    "noCounterEvidence": "it cited no evidence of its own",
    "namesNothing": "its points have hardly a word of the case",
    "softening": "it used softening phrases",
}
"""The signs of a weak critique."""

VERDICT: Mapping[str, str] = {
    "verified": "Verified",
    "altered": "Altered",
    "too_short": "Too short to check",
    "not_found": "Not found",
    "unchecked": "Unchecked: no document",
    "pending": "Not checked yet",
}
STATE: Mapping[str, str] = {"cited": "yes", "partly": "in part"}
"""The states of a document's part."""

ABSENT: Mapping[str, str] = {
    "textNotRead": "its text was not read for this telling, so its parts are not named",
    "textNotStored": "its text is not stored, so its parts cannot be named",
    "textDiffers": "the text that is stored is not as long as the recorded one, so its parts are not named",
}
"""Why the parts of a document cannot be named."""

STRUCK: Mapping[str, str] = {
    "unverified_citation": "it rests on a quotation that is not verified",
    "uncited": "it claims evidence and cites none",
}
REFUSED: Mapping[str, str] = {
    "no_document": "no document was given, so there is nothing to compare it with",
    "unknown_source": "it names a source that is not among the documents given",
    "too_short": "it has fewer than 12 letters and digits, so it could stand anywhere; quote more of the sentence",
    "out_of_steps": "the check used up the work that one citation may take, so it was not looked for to the end; quote "
    "a shorter passage, or name its source",
}
"""Why a citation was refused before its words were compared to the end."""
PASSAGE: Mapping[str, str] = {
    "nowhere": "not in any document",
    "notSaid": "not in any reply",
    "noSuchClause": "no document has this clause",
    "otherInClause": "the clause may not say this",
    "notGiven": "may not be among the documents",
    "unclear": "not found; may be no quotation",
    "unchecked": "unchecked: no document",
    "onlyInDebate": "only in the debate",
    "opposed": "the opposite of the typed verdict",
}
"""The words of a mark beside a passage that misleads."""
PLACES: Mapping[str, str] = {
    "inDocument": "in a document",
    "inDebate": "in another reply or in the case",
    "onlyInDebate": "only in a reply, and given as a document's words",
    "unclear": "not found so, and perhaps no quotation",
    "unchecked": "unchecked, because no document was given",
    "nowhere": "in none of them",
}
"""Where passages stand."""
MAINTAINED: Mapping[str, str] = {
    "unanswered": "nobody answered it",
    "answerStruck": "the answer to it was struck",
    "rebuttalNotReached": "the rebuttal was not reached",
}
RULE: Mapping[str, str] = {
    "valid": "Amounts are valid",
    "forced": "Forced by a caller",
    "policy": "Set by policy",
    "risk": "Risk category",
    "contested": "Contested",
    "worthIt": "Worth a debate",
    "uncertain": "Uncertain",
    "merits": "the rules on the merits, which all hold",
}
EFFECT: Mapping[str, str] = {"debate": "for a debate", "decline": "against a debate", "informs": "informs only"}
DECIDED: Mapping[str, str] = {
    "merits": "The rules on the merits all hold.",
    "forced": "A caller who is entitled to it forced the decision.",
    "policy": "Policy decides for this task type.",
}
NOTICE: Mapping[str, str] = {
    "budgetRefused": "Not asked, for lack of money",
    "attemptFailed": "An attempt failed",
    "seatSilent": "A seat was given up",
    "stopped": "The debate was stopped",
    "critiqueChecked": "Signs in a critique",
    "documentsChecked": "Suspicious passages in the case",
    "neutralised": "Characters that no reader sees were kept from the models",
    "synthesisCompared": "What the synthesis excludes",
    "voicesChecked": "A seat gave no argument of its own",
    "providerOverrun": "A vendor billed above what was held",
    "fallbackUsed": "Another model was asked in a seat's place",
    "servedModelDiffers": "Another model answered than the one that was asked for",
    "selfNamed": "A reply named its own model or maker, which other seats were not shown",
    "modelGuessed": "A reply guessed which model another seat has",
    "repairAsked": "A reply that could not be used was asked for again",
    "chargedAsHeld": "Charged as held: what was used is not known",
    "usageBelowFloor": "Charged as held: what was reported cannot be true",
    "partsLeftOut": "Parts of a reply were left out",
    "replyGiven": "The reply was given, and no model was asked",
}
DROPPED: Mapping[str, str] = {
    "unknownMember": "members that the schema does not have",
    "struckPoint": "answers to points that were struck",
    "unaskedPoint": "answers to points that the seat was not asked to answer",
}
"""Why parts of a reply were left out."""

LIMIT: Mapping[str, str] = {
    "debateCeiling": "the debate's ceiling",
    "batchCeiling": "the ceiling of its batch",
    "tenantDay": "the tenant's limit for the day",
    "tenantMonth": "the tenant's limit for the month",
    "evaluationDay": "what evaluations may spend in a day",
    "evaluationMonth": "what evaluations may spend in a month",
    "providerOverrun": "a vendor billed more than was held for it, and after that nobody is asked",
}
"""Why a turn is not funded."""

BASIS: Mapping[str, str] = {"usage": "usage told", "reserved": "as held", "none": "nothing used"}
"""The basis of a charge."""

OUTCOME: Mapping[str, str] = {
    "spoke": "spoke",
    "open": "under way",
    "refusedKey": "key refused",
    "unknownModel": "model unknown",
    "contextTooLong": "request too long",
    "rateLimit": "rate limit",
    "overload": "overload",
    "timeout": "timed out",
    "connectionCut": "connection cut",
    "modelRefused": "model refused",
    "lengthLimit": "cut at the length limit",
    "malformedReply": "malformed reply",
    "unsupported": "not supported",
    "scriptExhausted": "script exhausted",
    "providerFault": "provider's fault",
    "lost": "lost with its worker",
    "paused": "left alone after too many failures",
}
"""How an attempt ended."""

SEAT: Mapping[str, str] = {
    "framing": "Framing",
    "proposer": "Proposer",
    "critic": "Critic",
    "rebuttal": "Rebuttal",
    "moderator": "Moderator",
    "debater": "Debater",
    "judge": "Judge",
    "synthesizer": "Synthesizer",
    "adjudicator": "Adjudicator",
    "classifier": "Classifier",
    "screener": "Screener",
}
PHASE: Mapping[str, str] = {
    "proposal": "Proposal",
    "critique": "Critique",
    "revision": "Revision",
    "consensus": "Consensus",
}
DIMENSION: Mapping[str, str] = {
    "stance_alignment": "Stance alignment",
    "empirical_overlap": "Empirical overlap",
    "framework_agreement": "Framework agreement",
    "confidence_convergence": "Confidence convergence",
}
"""The four dimensions of a panel's consensus."""

QUESTION: Mapping[str, str] = {
    "factual": "Factual: what is true",
    "normative": "Normative: what ought to be",
    "business": "Business: risks and what to do",
    "prediction": "Prediction: how likely something is",
    "brainstorm": "Brainstorm: which ideas there are",
    "belief": "Belief: which principles are shared",
}
_MODEL = "by a model that was asked for it"
TYPED: Mapping[str, str] = {"rules": "by rules", "caller": "as the caller said", "classifier": _MODEL}
OBJECTION: Mapping[str, str] = {
    "fails": "the objection fails",
    "acceptedRisk": "a risk that the answer accepts",
    "holds": "the objection holds",
}
"""What a debater says of a strong objection that stands after the last round of a panel."""
SCORED: Mapping[str, str] = {"algorithmic": "code", "model": "the adjudicator"}
APART: Mapping[str, str] = {
    "overlap": "too few words in common",
    "order": "the same words in another order",
    "answers": "different answers",
    "negation": "a negation on one side alone, or beside other words",
    "noWords": "an answer without words of its own",
    "fewVoices": "too few voices",
}
"""Why answers have not converged."""

MOVEMENT: Mapping[str, str] = {
    "unchanged": "unchanged",
    "strengthened": "strengthened",
    "weakened": "weakened",
    "reversed": "reversed",
}
DIVERSITY: Mapping[str, str] = {
    "crossFamily": "moderator, critic and those who argue the proposal have models of different families",
    "sameFamily": "two seats that should challenge each other have models of one family",
    "sameModel": "two seats that should challenge each other have the same model",
}
"""The least diversity of the pairs of seats that should have different model families."""

PAIR: Mapping[str, str] = {
    "crossFamily": "models of different families",
    "sameFamily": "different models of one family",
    "sameModel": "the same model",
}
"""The diversity of the models of two seats."""

DIVERSITY_OF_DEBATERS: Mapping[str, str] = {
    **DIVERSITY,
    "crossFamily": "all seats that should not think alike have models of different families",
}
"""The same in the formats between debaters."""

SIMULATED = (
    "No language model took part. The seats were played by rules that pick sentences from the documents, so this shows "
    "how the service works and says nothing about the question."
)
SHOWS = (
    "This record applies the principles of SR 11-7 (superseded by SR 26-2 on 17 April 2026) on effective challenge. It "
    "shows who argued what, on which evidence, under which prompts and at what cost."
)
SHOWS_DEBATE = (
    "This record shows who said what, on which evidence, what others held against it, under which prompts and at what "
    "cost."
)
SHOWS_NO_DEBATE = (
    "No debate took place, so this record shows no challenge. It shows what was asked, which rules decided, and what "
    "they observed."
)
SHOWS_NOT = (
    "It does not show that the conclusion is right. A level of confidence is the judgement of whoever decided, "
    "or follows from how votes were cast; rules can only lower it, and it is not a probability."
)
CHECKED = (
    "Citations were compared with the sources by code. Verified means that the words stand in the source; whether they "
    "support the argument is a judgement that this comparison does not make. Nothing was read but the documents named "
    "above."
)
ASKED_AGAIN = (
    "This reply was asked for once more because of the marks in it. A later reply of the same seat stands in its place."
)
MARKED = (
    "\u27e6 \u27e7 are brackets that code alone sets, beside words that it compared. A reply, a name or a document "
    "that holds them is shown with other ones."
)
QUOTED = (
    "Words in quotation marks, and clauses that a text names for what it says, were compared with the documents, with "
    "the replies that the seat was shown, and with the case."
)
NOT_READ = (
    "Not cited is not the same as not read: every seat was given all documents of its round, whole. What code can see "
    "is what was quoted, and only quotations that it verified count."
)
CHAINED = (
    "The debate's records are chained by their hashes, so the hash of the last record commits to all before it. The "
    "decision itself, and whether any law, guidance or policy is met, stays with the people who answer for it."
)


def label_of(table: Mapping[str, str], code: str) -> str:
    """The words for a code, or the code itself if there are none."""
    return table.get(code, code)


def seat_name(seat: str) -> str:
    """A seat in words: ``debater-2`` is ``Debater 2``."""
    role = role_of(seat)
    return label_of(SEAT, seat) if role == seat else f"{label_of(SEAT, role)} {seat.rpartition('-')[2]}"
