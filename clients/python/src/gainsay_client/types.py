"""The types of requests and answers, generated from the OpenAPI document: do not edit (`make clients`).

They are read by type checkers alone. At run time an answer is the JSON that came, with members and values of a newer
service too: leave a default branch wherever you branch on one of the closed lists.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class FieldError(TypedDict):
    """
    An invalid field of the body, as a JSON Pointer (RFC 6901), and what is wrong with it.
    """

    pointer: str
    detail: str


class ChatErrorDetail(TypedDict):
    """
    An error in OpenAI's form.
    """

    message: str
    type: Literal['authentication_error', 'conflict_error', 'insufficient_quota', 'invalid_request_error', 'not_found_error', 'permission_error', 'rate_limit_error', 'server_error']
    param: str | None
    code: str


class Rule(TypedDict):
    """
    One rule of the gate: the observed value, the value it is compared with, and the effect on the decision.
    """

    rule: str
    observed: str
    threshold: str
    holds: bool
    effect: Literal['debate', 'decline', 'informs']


class FieldChange(TypedDict):
    """
    A field of the case and the values that it would have to have.

    A confidence that is left out counts as one below every limit.
    """

    field: Literal['confidenceScore', 'contested', 'estimatedDownside', 'force', 'materiality', 'singleAgentAnswer', 'taskType']
    relation: Literal['above', 'atLeast', 'atMost', 'below', 'hedging', 'in', 'leftOut', 'notHedging', 'notIn']
    values: NotRequired[list[str]]


class Position(TypedDict):
    """
    One of several options that a case is to decide between (reference 14.1).
    """

    id: str
    text: str


class Debater(TypedDict):
    """
    A debater: the caller's name for it, and its stance if the format assigns one.

    ``role`` is a persona in the caller's words, which reaches the model fenced; ``prompt`` names another pinned prompt
    of the manifest in the place of the format's own.
    """

    name: str
    stance: NotRequired[str]
    role: NotRequired[str | None]
    prompt: NotRequired[str | None]


class BallotOptions(TypedDict):
    """
    The options of a ballot: who votes in which order, on what, and how many votes decide.

    ``votes`` are the options; ``escalate`` may always be voted for and is one of them.
    """

    format: Literal['ballot/1']
    debaters: NotRequired[list[Debater]]
    maxRounds: int
    votes: NotRequired[list[str]]
    consensusThreshold: int
    humanReview: bool
    instructions: NotRequired[str]
    screened: NotRequired[bool]
    drafts: NotRequired[bool]


class TrackRecord(TypedDict):
    """
    A model's track record on questions of one type; ``score`` is a share from 0 to 1.
    """

    model: str
    debates: int
    score: float


class ConvergenceOptions(TypedDict):
    """
    The options of convergence, each of them, also where it has its usual value.

    ``maxRounds`` counts the rounds after the independent round 0. ``debaters`` are those that the caller has named, or
    a number of debaters without names. ``convergenceSimilarity`` is a share from 0 to 1. Instructions are absent where
    the case gave none.
    """

    format: Literal['convergence/1']
    debaters: NotRequired[list[Debater] | int]
    maxRounds: int
    humanReview: bool
    judge: bool
    convergenceCheck: bool
    convergenceSimilarity: float
    ties: Literal['lowestDebater', 'noAnswer']
    debaterInstructions: NotRequired[str]
    judgeInstructions: NotRequired[str]
    swapped: bool
    screened: bool
    masked: bool


class DebaterSeat(TypedDict):
    """
    A debater: its seat, its letter, the caller's name for it, and the stance that the caller assigned to it.
    """

    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    stance: NotRequired[str]


class StartedSeat(TypedDict):
    """
    The model behind a seat.
    """

    seat: str
    alias: str
    provider: str
    modelName: str
    family: str
    wire: str
    fallback: NotRequired[str]


class Pair(TypedDict):
    """
    Two seats that should have different model families, and the diversity of their models.
    """

    seats: list[str]
    diversity: Literal['crossFamily', 'sameFamily', 'sameModel']


class StartedHashes(TypedDict):
    """
    The hashes of what is fixed, as in a result.
    """

    promptsPin: str
    pins: dict[str, str]
    policyHash: str
    priceHash: str
    configurationHash: str
    buildHash: str
    seed: str


class AskedEvent(TypedDict):
    """
    An attempt has begun: its model, the tokens of its request and its reservation.
    """

    n: int
    at: str
    turn: str
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]
    debateId: str
    round: int
    attempt: int
    why: Literal['again', 'fallback', 'first', 'repair']
    model: str
    inputTokens: int
    heldUSD: str
    leftUSD: str


class KeyDocument(TypedDict):
    """
    A document that the question turns on, and why.
    """

    sourceId: str
    why: str


Edit = TypedDict(
    'Edit',
    {
        'kind': str,
        'from': str,
        'to': NotRequired[str],
        'material': bool,
        'because': NotRequired[str],
    },
)


class CitedEvidence(TypedDict):
    """
    A citation of a statement, listed once.
    """

    quote: str
    sourceId: NotRequired[str]
    verdict: NotRequired[Literal['altered', 'not_found', 'too_short', 'unchecked', 'verified']]
    span: NotRequired[list[int]]
    text: NotRequired[str]
    location: NotRequired[str]
    edits: NotRequired[list[Edit]]
    foundIn: NotRequired[str]
    reason: NotRequired[str]
    arguments: NotRequired[list[int]]


class Concession(TypedDict):
    """
    The critic's point ``n`` is granted, with what follows from that.
    """

    n: int
    text: str


class Objection(TypedDict):
    """
    A likely objection, and the proposer's answer to it in advance.
    """

    text: str
    answer: str


class Shift(TypedDict):
    """
    The seat's movement by new evidence since its reply in the round before.
    """

    movement: Literal['reversed', 'strengthened', 'unchanged', 'weakened']
    because: str


class PanelClaim(TypedDict):
    """
    A key claim with the debater's confidence in it.
    """

    claim: str
    confidence: float


class Probability(TypedDict):
    """
    A probability between two bounds, both included.
    """

    low: float
    high: float


class NamedClaim(TypedDict):
    """
    A claim of another debater, by its number from 1.
    """

    model: str
    claim: int


class AnsweredObjection(TypedDict):
    """
    A debater's answer to the objection that ``model`` raised in the round before.
    """

    model: str
    text: str


class PanelMark(TypedDict):
    """
    A debater's verdict on another's claim, by its number from 1, and its confidence in that verdict.
    """

    model: str
    claim: int
    mark: Literal['accept', 'reject', 'unsure']
    confidence: float


class PanelObjection(TypedDict):
    """
    The devil's advocate: the strongest flaw in the majority's position, in a claim of ``model``.
    """

    model: str
    claim: int
    flaw: str
    severity: Literal['high', 'low', 'medium']


class ArgumentQualityScore(TypedDict):
    """
    The moderator's scores from 1 to 10, its neutral labels read back as seats; null for a seat that had not spoken.

    With several positions, ``proposer`` and ``rebuttal`` are those of the position that it ranked first.
    """

    proposer: int | None
    critic: int | None
    rebuttal: int | None


class VerdictEvent(TypedDict):
    """
    The judge's verdict in the three members of the stances' reference; a null winner combines several stances.
    """

    n: int
    at: str
    turn: str
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]
    attempt: int
    servedModel: NotRequired[str]
    tokens: int
    chargedUSD: str
    chargeBasis: Literal['none', 'reserved', 'usage']
    spentUSD: str
    leftUSD: str
    debateId: str
    round: int
    verdict: str
    winner: str | None
    reasoning: str
    confidenceLevel: Literal['HIGH', 'LOW', 'MODERATE']
    explicitUncertainties: NotRequired[list[str]]


class RulingEvent(TypedDict):
    """
    The judge's final answer.
    """

    n: int
    at: str
    turn: str
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]
    attempt: int
    servedModel: NotRequired[str]
    tokens: int
    chargedUSD: str
    chargeBasis: Literal['none', 'reserved', 'usage']
    spentUSD: str
    leftUSD: str
    debateId: str
    round: int
    finalAnswer: str
    justification: str
    confidenceLevel: Literal['HIGH', 'LOW', 'MODERATE']
    explicitUncertainties: NotRequired[list[str]]


class AdjudicationEvent(TypedDict):
    """
    A model's scores of a round; the `consensus` that follows has what code makes of them.
    """

    n: int
    at: str
    turn: str
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]
    attempt: int
    servedModel: NotRequired[str]
    tokens: int
    chargedUSD: str
    chargeBasis: Literal['none', 'reserved', 'usage']
    spentUSD: str
    leftUSD: str
    debateId: str
    round: int
    scores: dict[str, float]
    notes: str


class PanelIdea(TypedDict):
    """
    An idea of a brainstorm, and the debaters that surfaced or endorsed it: more of them rank higher.
    """

    rank: int
    idea: str
    endorsedBy: NotRequired[list[str]]


class SynthesisTurn(TypedDict):
    """
    Our own members of the synthesis.
    """

    n: int
    at: str
    turn: str
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]
    attempt: int
    servedModel: NotRequired[str]
    tokens: int
    chargedUSD: str
    chargeBasis: Literal['none', 'reserved', 'usage']
    spentUSD: str
    leftUSD: str
    round: int
    confidenceLevel: Literal['HIGH', 'LOW', 'MODERATE']
    explicitUncertainties: NotRequired[list[str]]


class ProjectionEvent(TypedDict):
    """
    The debate in the caller's own shape: ``output`` is JSON text.
    """

    n: int
    at: str
    turn: str
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]
    attempt: int
    servedModel: NotRequired[str]
    tokens: int
    chargedUSD: str
    chargeBasis: Literal['none', 'reserved', 'usage']
    spentUSD: str
    leftUSD: str
    debateId: str
    round: int
    output: str


class QuotedPassage(TypedDict):
    """
    A passage as a result has it, without the members that do not apply.
    """

    field: str
    span: list[int]
    kind: Literal['clause', 'quotation', 'verdict']
    status: Literal['inDebate', 'inDocument', 'nowhere', 'onlyInDebate', 'opposed', 'unchecked', 'unclear']
    attributed: Literal['debate', 'document', 'open']
    sourceId: NotRequired[str]
    turn: NotRequired[str]
    reason: NotRequired[str]
    mark: NotRequired[str]


class ScreenedPassage(TypedDict):
    """
    A passage that speaks to a model, in the words of the case. Code looks for the words, and trusts no place.

    ``name`` says which one of the field it is: the id of a document or position, or a seat.
    """

    field: Literal['answer', 'debater', 'document', 'instructions', 'outputSchema', 'persona', 'position', 'question', 'stance', 'title', 'vote']
    name: str
    quote: str
    family: Literal['address', 'authority', 'fence', 'format', 'override', 'reply', 'score', 'secrecy', 'system', 'tool', 'verdict']
    why: str


class TurnSeat(TypedDict):
    """
    A turn that a notice concerns, and its seat as every event of that seat has it.
    """

    turn: str
    round: int
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]


class ClassificationEvent(TypedDict):
    """
    The type of the question as a model reads it.
    """

    n: int
    at: str
    turn: str
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]
    attempt: int
    servedModel: NotRequired[str]
    tokens: int
    chargedUSD: str
    chargeBasis: Literal['none', 'reserved', 'usage']
    spentUSD: str
    leftUSD: str
    debateId: str
    round: int
    questionType: Literal['belief', 'brainstorm', 'business', 'factual', 'normative', 'prediction']
    because: str


class Veto(TypedDict):
    """
    A fact that excludes consensus whatever the scores are, those of a model among them, with the fact in words.
    """

    code: Literal['claimsContested', 'claimsNotCompared', 'claimsOpposed', 'conclusionsDiffer', 'conclusionsNotCompared', 'fewVoices', 'frameworksApart', 'newIdeas', 'noSharedClaim', 'nothingStands', 'objectionStands', 'probabilitiesApart', 'risksNotShared']
    text: str


class ClaimAgreement(TypedDict):
    """
    The debaters' verdicts on claim ``n`` of a turn; its author counts as accepting it.

    ``supported`` says that all voices accept it with enough confidence and that a citation of it is verified.
    """

    turn: str
    n: int
    accept: NotRequired[list[str]]
    reject: NotRequired[list[str]]
    unsure: NotRequired[list[str]]
    supported: bool


class UnansweredObjection(TypedDict):
    """
    A strong objection of a devil's advocate that no other debater has answered, with its turn.
    """

    turn: str
    flaw: str


class NamedClaims(TypedDict):
    """
    Two claims, each by the turn that makes it and its number; the turn's answer has the number 0.
    """

    turns: list[str]
    numbers: list[int]


class ObjectionReplied(TypedDict):
    """
    The answer to the strong objections of one debater, by its letter.
    """

    label: str
    verdict: Literal['acceptedRisk', 'fails', 'holds']
    text: str


class PanelScores(TypedDict):
    """
    The scores of one debater.
    """

    factual_accuracy: NotRequired[int]
    logical_consistency: int
    evidence_quality: int
    trajectory_score: int


class ScoredByCode(TypedDict):
    """
    The check that scored.
    """

    n: int
    at: str
    by: Literal['algorithmic']
    check: str
    engine: str
    unchecked: NotRequired[list[str]]


class ScoredByModel(TypedDict):
    """
    The turn of the model that scored.
    """

    n: int
    at: str
    turn: str
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]
    attempt: int
    servedModel: NotRequired[str]
    tokens: int
    chargedUSD: str
    chargeBasis: Literal['none', 'reserved', 'usage']
    spentUSD: str
    leftUSD: str
    by: Literal['model']
    round: int
    unchecked: NotRequired[list[str]]


class RoundStartedEvent(TypedDict):
    """
    A round begins in which all debaters speak in parallel.
    """

    n: int
    at: str
    debateId: str
    round: int
    independent: bool
    debaters: list[DebaterSeat]


class PairShare(TypedDict):
    """
    Two answers, and how many of their words are the same.
    """

    turns: list[str]
    shared: int
    either: int
    overlap: NotRequired[float]
    apart: NotRequired[list[Literal['answers', 'negation']]]


class HumanReview(TypedDict):
    """
    Whether a person has to decide, and why.
    """

    required: bool
    reasons: NotRequired[list[str]]


class Dissenter(TypedDict):
    """
    A seat that stands, or at first stood, against the decision.

    ``points`` of a critic are those that were neither granted nor answered, of others those of the last turn that are
    not struck.
    """

    seat: str
    points: int
    until: Literal['end', 'firstDraft']
    name: NotRequired[str]
    holds: NotRequired[str]


class DecisionCost(TypedDict):
    """
    What the debate cost.
    """

    spentUSD: str
    ceilingUSD: NotRequired[str]
    excessUSD: NotRequired[str]


class RankedPosition(TypedDict):
    """
    A position in the moderator's order, best first.
    """

    rank: int
    position: str
    score: int


class StancesSummary(TypedDict):
    """
    The assigned stance that the winner names.
    """

    format: Literal['stances']
    rounds: int
    winnerStance: NotRequired[str]


class Tally(TypedDict):
    """
    The number of latest votes for an option; ``abstention`` counts those that name none.
    """

    vote: str
    count: int


class PanelSummary(TypedDict):
    """
    Whether the panel agreed, and how far; ``finalScore`` and ``overallConfidence`` are shares.
    """

    format: Literal['panel']
    questionType: Literal['belief', 'brainstorm', 'business', 'factual', 'normative', 'prediction']
    roundsCompleted: int
    consensusReached: bool
    finalScore: NotRequired[float]
    overallConfidence: NotRequired[float]
    synthesisTurn: NotRequired[str]
    missing: NotRequired[list[str]]


class ConvergenceSummary(TypedDict):
    """
    Who decided, and whether the answers converged.
    """

    format: Literal['convergence']
    rounds: int
    decidedBy: Literal['judge', 'majority', 'nobody']
    convergedIn: NotRequired[int]
    missing: NotRequired[list[str]]


class Cap(TypedDict):
    """
    A reason for which code lowered the confidence, and the level that it allows at most.
    """

    reason: str
    atMost: Literal['HIGH', 'LOW', 'MODERATE']


class Labels(TypedDict):
    """
    The words for the codes of this result: of its flags, and of the reasons of its caps and of human review.
    """

    flags: NotRequired[dict[str, str]]
    reasons: NotRequired[dict[str, str]]


class CitationCounts(TypedDict):
    """
    Citations by verdict, of all seats and takes, as far as they were checked.
    """

    verified: int
    altered: int
    tooShort: int
    notFound: int
    unchecked: int
    uncited: int
    struck: int


class CoverageCounts(TypedDict):
    """
    The documents of the case, those with a verified citation, and the share of all characters that these cover.

    A document of a round that was not reached does not count.
    """

    documents: int
    documentsCited: int
    citedShare: float


class ResultLinks(TypedDict):
    """
    The paths of the whole result, the events, the report and the audit bundle, which exists once it has ended.
    """

    full: str
    events: str
    report: str
    audit: str


class Actor(TypedDict):
    """
    Who did something, as its record says: an opaque id, and how it was authenticated.
    """

    subject: str
    kind: Literal['person', 'service', 'unknown']
    role: NotRequired[str]
    via: Literal['apiKey', 'databaseRole', 'keyboard', 'none', 'oidc', 'proxy']


class EvaluationItem(TypedDict):
    """
    Which item of which evaluation a debate is; hashes are SHA-256 in hexadecimal digits.
    """

    id: str
    plan: str
    set: str
    item: str
    arm: str
    repeat: int


class Document(TypedDict):
    """
    A source document of a case. Its text is stored apart; ``round`` is that of reference 14.3.
    """

    id: str
    title: str
    commitment: str
    characters: int
    round: NotRequired[int]


class Force(TypedDict):
    """
    A caller's order to the gate, with its reason.
    """

    debate: bool
    reason: str


class TokenCost(TypedDict):
    """
    Input and output tokens of all of a seat's attempts in the round, as far as the provider reported them.
    """

    proposer: int
    critic: int
    rebuttal: int
    moderator: int


class Conclusions(TypedDict):
    """
    Each seat's conclusion on the proposition; absent for a seat that had not spoken.
    """

    proposer: NotRequired[Literal['modified', 'rejected', 'upheld']]
    critic: NotRequired[Literal['modified', 'rejected', 'upheld']]
    rebuttal: NotRequired[Literal['modified', 'rejected', 'upheld']]
    moderator: NotRequired[Literal['modified', 'rejected', 'upheld']]


class CritiqueSigns(TypedDict):
    """
    The finding about the standing critique: hard signs of weakness, soft ones, and softening phrases.
    """

    weak: NotRequired[list[str]]
    soft: NotRequired[list[str]]
    softening: NotRequired[list[str]]


class ValidationFailure(TypedDict):
    """
    A critical validation failure: evidence that is not in the sources, or is not cited at all (reference 10.3).
    """

    turn: str
    n: int
    reason: Literal['altered', 'not_found', 'too_short', 'uncited']
    quote: NotRequired[str]
    sourceId: NotRequired[str]
    foundIn: NotRequired[str]


class CitedBy(TypedDict):
    """
    A turn that cited a passage. A turn with struck and other arguments on it is listed twice.

    Arguments are struck here because other evidence of theirs failed.
    """

    turn: str
    seat: str
    round: int
    position: NotRequired[str]
    arguments: NotRequired[list[int]]
    struck: bool
    spans: NotRequired[list[list[int]]]


class QuotedWrongly(TypedDict):
    """
    A passage that was quoted with a material change: it does not count as cited.
    """

    span: list[int]
    turn: str
    seat: str
    round: int
    position: NotRequired[str]
    argument: int


class CitedPlace(TypedDict):
    """
    A clause, heading or page that verified citations touch.
    """

    label: str
    title: NotRequired[str]
    span: list[int]
    state: Literal['cited', 'partly']
    citations: int
    seats: NotRequired[list[str]]


class UncitedRange(TypedDict):
    """
    Neighbouring parts that no verified citation touches.
    """

    name: str
    word: NotRequired[str]
    first: NotRequired[str]
    last: NotRequired[str]
    of: NotRequired[str]
    span: list[int]
    members: int
    parts: int


class PartStart(TypedDict):
    """
    The start of a part of the highest level.
    """

    numeral: str
    at: int


class ShiftDetail(TypedDict):
    """
    The shift of a seat when documents were introduced.
    """

    turn: str
    round: int
    seat: str
    position: NotRequired[str]
    movement: Literal['reversed', 'strengthened', 'unchanged', 'weakened']
    because: str
    documents: NotRequired[list[str]]


class Charged(TypedDict):
    """
    The number of attempts that were charged on one basis, and their cost together.
    """

    attempts: int
    amountUSD: str


class Tokens(TypedDict):
    """
    Tokens by kind, as far as providers reported them; the kinds do not overlap.
    """

    input: int
    cachedInput: int
    cacheWrite: int
    output: int
    reasoning: int
    cacheWrite1h: int


class AttemptDetail(TypedDict):
    """
    One attempt at a turn: the model asked, the model that answered, the reservation and the charge.

    ``servedModel``, ``requestId`` and ``fingerprint`` are the vendor's own words, absent if it gave none.
    """

    turn: str
    attempt: int
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    model: str
    servedModel: NotRequired[str]
    requestId: NotRequired[str]
    fingerprint: NotRequired[str]
    inputTokensCounted: int
    heldUSD: str
    amountUSD: NotRequired[str]
    basis: NotRequired[Literal['none', 'reserved', 'usage']]
    outcome: str


class SeatDetail(TypedDict):
    """
    The model behind a seat.
    """

    seat: str
    alias: str
    provider: str
    modelName: str
    family: str
    servedModels: NotRequired[list[str]]
    wire: str
    fallback: NotRequired[str]


class LogPosition(TypedDict):
    """
    The place of a record: the log, the leaf's index, and the first checkpoint that covers it.
    """

    log: str
    index: int
    size: int
    root: str


class Notice(TypedDict):
    """
    A remark for the reader: entry number, time, kind, the turns concerned, and the words.
    """

    n: int
    at: str
    notice: Literal['attemptFailed', 'budgetRefused', 'chargedAsHeld', 'critiqueChecked', 'documentsChecked', 'fallbackUsed', 'modelGuessed', 'neutralised', 'partsLeftOut', 'providerOverrun', 'repairAsked', 'replyGiven', 'seatSilent', 'selfNamed', 'servedModelDiffers', 'stopped', 'synthesisCompared', 'usageBelowFloor', 'voicesChecked']
    turns: NotRequired[list[str]]
    reason: str
    detail: str


class CheckDetail(TypedDict):
    """
    A check: its id, kind and engine version, its entry's number, and its finding in few words.
    """

    check: str
    kind: Literal['accuracy', 'citations', 'consensus', 'convergence', 'critique', 'injection', 'synthesis', 'texts', 'voices']
    engine: str
    n: int
    summary: str


class Suspicion(TypedDict):
    """
    A passage of a case that speaks to its reader as if it were an instruction to a model.
    """

    field: Literal['answer', 'context', 'debater', 'document', 'instructions', 'metadata', 'outputSchema', 'persona', 'position', 'question', 'stance', 'title', 'vote']
    span: list[int]
    family: Literal['address', 'authority', 'fence', 'format', 'override', 'reply', 'score', 'secrecy', 'system', 'tool', 'verdict']
    words: str
    name: NotRequired[str]
    hidden: NotRequired[str]
    by: NotRequired[Literal['both', 'rules', 'screener']]


class ScreeningDetail(TypedDict):
    """
    What the screener replied before the debate. Code looks for each passage in the case and trusts no place.
    """

    turn: str
    model: NotRequired[str]
    suspicious: bool
    passages: NotRequired[list[ScreenedPassage]]
    unlocated: int
    tokens: int
    chargedUSD: str


class Weighed(TypedDict):
    """
    The reply of a seat that does not debate: it types the question, weighs replies, or writes a synthesis.

    A second take stands in the place of a reply that quoted what does not stand where it says.
    """

    turn: str
    round: int
    seat: str
    swapped: bool
    masked: bool
    replaced: bool
    model: NotRequired[str]
    reply: dict[str, Any]
    tokens: int
    chargedUSD: str


class Verdict(TypedDict):
    """
    A judge's verdict in the shape of the stances' reference; null for a winner combines several stances.
    """

    verdict: str
    winner: str | None
    reasoning: str


class VoteCast(TypedDict):
    """
    A debater's vote in a phase: the option, absent for an abstention, and the vote's own words, if it has any.
    """

    debater: str
    round: int
    phase: str
    vote: NotRequired[str]
    written: NotRequired[str]


class ConsensusRound(TypedDict):
    """
    The standing of a panel after a round. The dimensions have the spelling of the panel's reference.
    """

    round: int
    dimensions: NotRequired[dict[str, float]]
    overall: float
    threshold: float
    terminated: bool
    notes: str
    by: Literal['algorithmic', 'model']
    lagging: NotRequired[list[Literal['confidence_convergence', 'empirical_overlap', 'framework_agreement', 'stance_alignment']]]
    unansweredObjections: NotRequired[int]
    blind: NotRequired[bool]
    counted: NotRequired[list[Literal['confidence_convergence', 'empirical_overlap', 'framework_agreement', 'stance_alignment']]]
    vetoes: NotRequired[list[Veto]]


class RankedIdea(TypedDict):
    """
    An idea of a brainstorm, with the debaters (by label) that surfaced or endorsed it.
    """

    rank: int
    idea: str
    endorsedBy: NotRequired[list[str]]


class DebaterScores(TypedDict):
    """
    The scores of one debater. They measure conduct, and not truth.
    """

    seat: str
    factualAccuracy: NotRequired[int]
    logicalConsistency: int
    evidenceQuality: int
    trajectoryScore: int


class AnswerVotes(TypedDict):
    """
    A final answer as it was first written, and the seats that gave it.
    """

    answer: str
    seats: NotRequired[list[str]]


class PassageDetail(TypedDict):
    """
    Words that a reply gives as those of another text (``quotation``), or a clause that it says to state something.

    ``status`` says where the words stand: in a document (``sourceId``), in a reply that the seat was shown (``turn``),
    or ``nowhere``; ``onlyInDebate`` are words of a reply that the text gives as a document's. ``unclear`` are words
    that stand nowhere, or only in the reply of ``turn``, which may be no quotation, or a clause of which the text
    reports something else than ``sourceId`` has. ``unchecked`` are words that a case without documents has nothing to
    compare with. A sentence of kind ``verdict`` is ``opposed``: it says the opposite of the reply's own typed verdict.
    A passage misleads a reader where it is ``nowhere``, ``onlyInDebate`` or ``opposed``.
    """

    field: str
    span: list[int]
    kind: Literal['clause', 'quotation', 'verdict']
    status: Literal['inDebate', 'inDocument', 'nowhere', 'onlyInDebate', 'opposed', 'unchecked', 'unclear']
    attributed: Literal['debate', 'document', 'open']
    sourceId: NotRequired[str]
    turn: NotRequired[str]
    reason: NotRequired[str]
    mark: NotRequired[str]


class PassageCounts(TypedDict):
    """
    Passages by status, of all seats and takes, and the replies that were compared.
    """

    replies: int
    notCompared: int
    inDocument: int
    inDebate: int
    onlyInDebate: int
    unclear: int
    unchecked: int
    nowhere: int
    marked: int


class Difference(TypedDict):
    """
    A typed member that two replies of one decider give differently.

    ``first`` and ``second`` are its values as text; a member in free words has none, because the replies have them.
    """

    member: str
    first: NotRequired[str]
    second: NotRequired[str]


class DebateEndedData(TypedDict):
    """
    The end of a case, and its place in the log.
    """

    debateId: str
    status: Literal['aborted', 'completed', 'declined', 'failed', 'truncated']
    href: str
    lastRecord: str
    log: str
    index: int
    size: int
    root: str


class WebhookTestData(TypedDict):
    """
    Which endpoint is tested.
    """

    webhook: str


class DocumentRequest(TypedDict):
    """
    A source document: its text, and the first round whose seats read it.
    """

    text: str
    id: NotRequired[str | None]
    title: NotRequired[str | None]
    round: NotRequired[int]


class Links(TypedDict):
    """
    The addresses of the debate, its events, its report and its abort.
    """

    self: str
    events: str
    report: str
    abort: NotRequired[str]


class ListedCaller(TypedDict):
    """
    The actor of a debate's first record: an opaque id, and how it was authenticated (``none``: it was not).
    """

    id: str
    via: Literal['apiKey', 'databaseRole', 'keyboard', 'none', 'oidc', 'proxy']


class DebateCount(TypedDict):
    """
    How many debates there are; with ``atLeast`` there may be more.
    """

    count: int
    atLeast: NotRequired[bool]


class FacetValue(TypedDict):
    """
    A value, and how many debates have it; with ``atLeast`` there may be more.
    """

    value: str
    count: int
    atLeast: NotRequired[bool]


class AbortRequest(TypedDict):
    """
    The reason for an abort, which is recorded.
    """

    reason: NotRequired[str | None]


class Abortion(TypedDict):
    """
    The effect of an abort. ``stillHeldUSD`` is the reservation of calls in flight, whose cost is not yet known.

    ``status`` is the status with which the debate ends. Until calls in flight return, the debate's own status stays
    ``running``.
    """

    debateId: str
    status: Literal['aborted', 'completed', 'declined', 'failed', 'queued', 'running', 'truncated']
    spentUSD: str
    stillHeldUSD: str


class ListedDocument(TypedDict):
    """
    A document of a case. ``sha256`` and ``bytes`` are of its text in UTF-8; ``href`` leads to that text.
    """

    id: str
    title: NotRequired[str]
    sha256: str
    bytes: int
    characters: int
    href: str
    suspicions: NotRequired[list[Suspicion]]


class BatchPause(TypedDict):
    """
    What keeps a batch from beginning its next case at present.
    """

    waitsFor: str
    until: NotRequired[str]


class BatchCounts(TypedDict):
    """
    How many lines stand how. Their sum is `cases`. A debate is `running` until its end is provable.
    """

    waiting: int
    queued: int
    running: int
    completed: int
    truncated: int
    failed: int
    aborted: int
    declined: int
    refused: int


class BatchRefusals(TypedDict):
    """
    How many lines were refused, by reason. Nothing of them was recorded or paid for.
    """

    budget: int
    deadline: int
    aborted: int
    revoked: int
    invalid: int
    key: int
    fault: int


class BatchLinks(TypedDict):
    """
    The addresses of the batch, its results and its abort.
    """

    self: str
    results: str
    abort: str


class BatchAbortRequest(TypedDict):
    """
    The reason for the abort of a batch, which the records of its aborted debates name.
    """

    reason: NotRequired[str | None]


class EvaluationRequest(TypedDict):
    """
    A plan that is to be registered.
    """

    plan: str


class EvaluationStop(TypedDict):
    """
    What stopped an evaluation.
    """

    by: Literal['ceiling', 'fault', 'person', 'revoked', 'set']
    why: str


class EvaluationSet(TypedDict):
    """
    One split of a golden set that an evaluation asks.
    """

    id: str
    version: int
    sha256: str
    split: Literal['held', 'open']
    items: int
    looks: int


class EvaluationArm(TypedDict):
    """
    What an arm was expected to cost when the plan was registered.
    """

    arm: str
    expectedUSD: str
    mostUSD: str


class EvaluationLinks(TypedDict):
    """
    The addresses of the evaluation and of what belongs to it.
    """

    self: str
    events: str
    audit: str
    report: str
    stop: str


class ListedEvaluation(TypedDict):
    """
    An evaluation in a list.
    """

    evaluationId: str
    name: str
    ended: bool
    lost: bool
    paused: NotRequired[str]
    caller: str
    registeredAt: str
    endedAt: NotRequired[str]
    href: str


class SplitCounts(TypedDict):
    """
    The number of items of each split, without those that are retired.
    """

    open: int
    held: int


class EvaluationEvent(TypedDict):
    """
    The data of an event of an evaluation: one of its entries. Members that an entry does not have are absent.
    """

    evaluationId: str
    n: int
    kind: Literal['evaluation.concluded', 'evaluation.proven', 'evaluation.registered', 'evaluation.stopped', 'item.asked', 'item.scored']
    planHash: NotRequired[str]
    proof: NotRequired[str]
    set: NotRequired[str]
    item: NotRequired[str]
    arm: NotRequired[str]
    repeat: NotRequired[int]
    debateId: NotRequired[str]
    score: NotRequired[dict[str, Any]]
    by: NotRequired[str]
    why: NotRequired[str]
    finding: NotRequired[str]
    resultHash: NotRequired[str]
    exploratory: NotRequired[bool]


class EvaluationStopRequest(TypedDict):
    """
    The reason for the stop of an evaluation.
    """

    reason: NotRequired[str | None]


class DatedSize(TypedDict):
    """
    A signed or countersigned head: its size, and when the database stored that, by its own clock.
    """

    size: int
    at: str


class LogDetail(TypedDict):
    """
    A log: its name, which is the origin of its checkpoints, and the verifier key of their signatures.

    ``size`` and ``root`` (hex) are those of the latest checkpoint, absent before the first.
    """

    log: str
    epoch: int
    key: str
    size: NotRequired[int]
    root: NotRequired[str]
    href: str


class RecalledDebate(TypedDict):
    """
    A debate that rests on the value searched for, and the place of its last record in the log.
    """

    debateId: str
    taskType: str
    status: Literal['aborted', 'completed', 'declined', 'failed', 'queued', 'running', 'truncated']
    createdAt: str
    log: str
    index: NotRequired[int]
    href: str


class QuotedModel(TypedDict):
    """
    A model that may sit in a seat, and the price row of its charges. ``GET /v1/models`` has the whole row.
    """

    alias: str
    provider: str
    modelName: str
    family: str
    wire: str
    tokenizer: str
    contextWindow: int
    priceEffective: str
    priceSource: str
    inputUSD: str
    outputUSD: str


class QuotedDocument(TypedDict):
    """
    A document and its length.
    """

    id: str
    title: str
    round: int
    characters: int
    tokens: dict[str, int]


class TenantLeft(TypedDict):
    """
    The amounts remaining of the tenant's limits for today and for this month.
    """

    dayUSD: NotRequired[str]
    monthUSD: NotRequired[str]


class Source(TypedDict):
    """
    A document to check against.
    """

    id: str
    text: str


class CharStart(TypedDict):
    """
    A location in code points of the source.
    """

    charStart: int


class CheckedCitation(TypedDict):
    """
    The verdict on a citation, with the caller's id.
    """

    id: str
    verdict: Literal['altered', 'not_found', 'too_short', 'unchecked', 'verified']
    sourceId: NotRequired[str]
    span: NotRequired[list[int]]
    text: NotRequired[str]
    edits: NotRequired[list[Edit]]
    foundIn: NotRequired[str]
    reason: NotRequired[str]
    note: NotRequired[str]


class PromptDetail(TypedDict):
    """
    A pinned file. New debates use the current version.
    """

    id: str
    version: int
    kind: Literal['fragment', 'prompt', 'schema', 'template']
    file: str
    sha256: str
    current: bool


class LongInputDetail(TypedDict):
    """
    The rates of a call with a long input; they apply to all its tokens.
    """

    inputUSD: str
    cachedInputUSD: str
    cacheWriteUSD: str
    outputUSD: str
    reasoningUSD: str
    cacheWrite1hUSD: NotRequired[str]
    above: int


class RateDetail(TypedDict):
    """
    US dollars per million tokens, by kind.
    """

    inputUSD: str
    cachedInputUSD: str
    cacheWriteUSD: str
    outputUSD: str
    reasoningUSD: str
    cacheWrite1hUSD: NotRequired[str]


class ModelRecord(TypedDict):
    """
    How a model did on questions of one type in the newest panels of the tenant.

    Its accuracy scores are four in each panel, or three where none of its citations could be compared. Scores measure
    conduct in debates and not truth.
    """

    questionType: Literal['belief', 'brainstorm', 'business', 'factual', 'normative', 'prediction']
    debates: int
    mean: float
    score: float


class ChatModel(TypedDict):
    """
    A format as OpenAI's clients list a model.
    """

    id: str
    object: Literal['model']
    created: int
    owned_by: Literal['gainsay']


class ChatFile(TypedDict):
    """
    A file within a message.
    """

    filename: NotRequired[str | None]
    file_data: NotRequired[str | None]
    file_id: NotRequired[str | None]


class ChatStreamOptions(TypedDict):
    """
    What a stream holds beside the answer.
    """

    include_usage: NotRequired[bool | None]
    include_obfuscation: NotRequired[bool | None]


class ChatMessage(TypedDict):
    """
    The answer as a message.
    """

    role: Literal['assistant']
    content: str
    refusal: str | None


class ChatPromptDetails(TypedDict):
    """
    Of the tokens of input, those from a cache.
    """

    cached_tokens: int


class ChatCompletionDetails(TypedDict):
    """
    Of the tokens of output, those of reasoning.
    """

    reasoning_tokens: int


class ChatDelta(TypedDict):
    """
    What a chunk adds to the message.
    """

    role: NotRequired[Literal['assistant']]
    content: NotRequired[str]


class GateSettings(TypedDict):
    """
    The gate's rules for when a question deserves a debate. Thresholds are by task type, in US dollars.
    """

    factor: int
    certainAboveUSD: str
    confidenceFloor: str
    riskCategories: NotRequired[list[str]]
    always: NotRequired[list[str]]
    never: NotRequired[list[str]]
    mayForce: NotRequired[list[str]]
    unknownTaskType: str
    thresholdsUSD: NotRequired[dict[str, str]]


class DebateSettings(TypedDict):
    """
    The settings of a debate that its case leaves out.

    Above ``swapAboveUSD`` the closing seat is asked twice, and above ``maskAboveUSD`` once more if passages of a case speak to a model; absent means never.
    """

    format: str
    ceilingUSD: str
    ceilingMaxUSD: str
    rounds: int
    highStakesRounds: int
    highStakesDownsideUSD: str
    highStakesMateriality: NotRequired[list[str]]
    minChallengeStrength: int
    requireCriticRetryBelow: int
    attemptsPerTurn: int
    humanReview: NotRequired[list[str]]
    mayChooseModels: bool
    diversity: Literal['crossFamily', 'sameFamily', 'sameModel']
    floatingNames: Literal['allowed', 'refused']
    adversarialWithoutDocuments: Literal['allowed', 'refused']
    swapAboveUSD: NotRequired[str]
    maskAboveUSD: NotRequired[str]


class Limits(TypedDict):
    """
    The limits of a case. Characters are Unicode code points.
    """

    questionCharacters: int
    answerCharacters: int
    personaCharacters: int
    noteCharacters: int
    documents: int
    documentCharacters: int
    totalCharacters: int
    positions: int
    metadata: int


class CallSettings(TypedDict):
    """
    How often a turn is tried again, and when it ends without a reply.
    """

    turnDeadlineS: int
    backoffMs: int
    backoffMaxMs: int
    unavailableAttempts: int
    usageFloor: float


class BudgetSettings(TypedDict):
    """
    The limits of the caller's tenant, in US dollars; absent where there is no limit.
    """

    zone: str
    dayUSD: NotRequired[str]
    monthUSD: NotRequired[str]


class RateSettings(TypedDict):
    """
    The most requests of one caller in a minute, and the event streams and waits that it may have in one process.
    """

    submitPerMinute: NotRequired[int]
    readPerMinute: NotRequired[int]
    checkPerMinute: NotRequired[int]
    evidencePerMinute: NotRequired[int]
    listeners: NotRequired[int]


class SeatSettings(TypedDict):
    """
    The default model of a seat, and the other models of the seat.
    """

    model: str
    allowance: int
    choices: list[str]
    fallback: NotRequired[str]


class StancesPolicy(TypedDict):
    """
    The defaults of stances, and the bounds of a case.
    """

    rounds: int
    roundsMax: int
    debatersMax: int
    anonymizeTranscript: bool
    shuffleForJudge: bool
    synthesizer: bool


class BallotPolicy(TypedDict):
    """
    The defaults of a ballot, and the bounds of a case. ``thresholdShare`` is a share of the debaters, from 0 to 1.
    """

    rounds: int
    roundsMax: int
    debaters: int
    debatersMax: int
    votes: NotRequired[list[str]]
    votesMax: int
    thresholdShare: float


class PanelPolicy(TypedDict):
    """
    The defaults of a panel, and the bounds of a case; rounds include the blind one.

    ``thresholds`` are the consensus that ends a debate, shares from 0 to 1 by question type.
    """

    rounds: int
    roundsMax: int
    debaters: int
    debatersMax: int
    adjudicator: Literal['algorithmic', 'model']
    classifier: Literal['model', 'rules']
    mode: Literal['auto', 'manual']
    trackRecordDebates: int
    thresholds: NotRequired[dict[str, float]]


class ConvergencePolicy(TypedDict):
    """
    The defaults of convergence, and the bounds of a case; rounds do not include the independent one.

    ``similarity`` is a share from 0 to 1.
    """

    rounds: int
    roundsMax: int
    debaters: int
    debatersMax: int
    judge: bool
    convergenceCheck: bool
    similarity: float
    ties: Literal['lowestDebater', 'noAnswer']


class BudgetPeriod(TypedDict):
    """
    A day or month of the tenant. With a limit, its parts add up: spent, excess, held and remaining are the limit.

    They do not where the limit was lowered below what is gone. Without any limit of the tenant nothing is counted, and
    the amounts are absent.
    """

    begins: str
    ends: str
    limited: bool
    limitUSD: NotRequired[str]
    spentUSD: NotRequired[str]
    excessUSD: NotRequired[str]
    heldUSD: NotRequired[str]
    remainingUSD: NotRequired[str]


class EvaluationUse(TypedDict):
    """
    What the tenant's evaluations may spend now, and how many of their debates are under way.

    They are counted apart: an evaluation takes nothing of the tenant's own limits, and no other debate takes anything
    of these. A debate is asked when what remains pays for the most that it can cost, reservedUSD left out.
    """

    limited: bool
    day: BudgetPeriod
    month: BudgetPeriod
    reservedUSD: str
    debates: int
    mostDebates: int


class KnownCaller(TypedDict):
    """
    Who the caller is, as the service knows it, and what it may do.
    """

    tenant: str
    subject: str
    kind: Literal['person', 'service', 'unknown']
    via: Literal['apiKey', 'databaseRole', 'keyboard', 'none', 'oidc', 'proxy']
    roles: list[Literal['administrator', 'auditor', 'operator', 'requester', 'reviewer', 'scrape', 'validator']]
    scopes: list[Literal['case.abort', 'case.assign', 'case.read', 'case.submit', 'catalogue.read', 'check', 'evaluation.manage', 'evaluation.read', 'evidence.read', 'identity.manage', 'identity.read', 'labels.read', 'log.read', 'metrics.read', 'self.read', 'tenant.manage', 'webhook.manage', 'webhook.read']]
    credential: NotRequired[str]
    expiresAt: NotRequired[str]


class KeyRequest(TypedDict):
    """
    A key that is asked for, for a new subject.
    """

    roles: list[Literal['administrator', 'auditor', 'operator', 'requester', 'reviewer', 'scrape', 'validator']]
    name: str
    days: int
    kind: NotRequired[Literal['person', 'service']]
    scopes: NotRequired[list[Literal['case.abort', 'case.assign', 'case.read', 'case.submit', 'catalogue.read', 'check', 'evaluation.manage', 'evaluation.read', 'evidence.read', 'identity.manage', 'identity.read', 'labels.read', 'log.read', 'metrics.read', 'self.read', 'tenant.manage', 'webhook.manage', 'webhook.read']] | None]
    tenant: NotRequired[str | None]


class ApiKey(TypedDict):
    """
    A key as the register shows it. The key itself is kept nowhere.
    """

    key: str
    subject: str
    tenant: NotRequired[str]
    kind: Literal['person', 'service', 'unknown']
    roles: NotRequired[list[str]]
    scopes: NotRequired[list[str]]
    name: str
    state: Literal['expired', 'revoked', 'valid']
    createdAt: str
    createdBy: str
    expiresAt: str
    lastUsedAt: NotRequired[str]
    revokedAt: NotRequired[str]
    href: str


class ApiKeyList(TypedDict):
    """
    One page of keys.
    """

    keys: list[ApiKey]
    next: NotRequired[str]


class RotationRequest(TypedDict):
    """
    How long the new key lives, and how long the old one stays valid beside it.
    """

    days: int
    keepDays: NotRequired[int]


class RevocationRequest(TypedDict):
    """
    What is confirmed with a revocation.
    """

    lastOperator: NotRequired[bool]


class Subject(TypedDict):
    """
    What the register knows of an opaque id of records.
    """

    subject: str
    tenant: str
    source: str
    external: str
    name: NotRequired[str]
    kind: Literal['person', 'service', 'unknown']
    state: Literal['good', 'revoked']
    createdAt: str
    revokedAt: NotRequired[str]
    href: str


class FirstOperatorRequest(TypedDict):
    """
    The key of the first operator of a new tenant.
    """

    name: str
    days: int
    roles: NotRequired[list[Literal['administrator', 'auditor', 'operator', 'requester', 'reviewer', 'scrape', 'validator']]]
    kind: NotRequired[Literal['person', 'service']]


class Tenant(TypedDict):
    """
    A tenant.
    """

    name: str
    createdAt: str
    createdBy: str


class Reviewer(TypedDict):
    """
    A subject to which a case is assigned.
    """

    subject: str
    assignedBy: str
    assignedAt: str


class ReviewerRequest(TypedDict):
    """
    The subject that is to review a case.
    """

    subject: str


class WebhookRequest(TypedDict):
    """
    An endpoint that is asked for.
    """

    url: str
    cases: NotRequired[Literal['own', 'tenant'] | None]


class Webhook(TypedDict):
    """
    An endpoint: where messages are posted, whose it is, and whether it is sent anything.
    """

    webhook: str
    url: str
    subject: str
    cases: Literal['own', 'tenant']
    state: Literal['active', 'disabled', 'revoked']
    disabledWhy: NotRequired[Literal['asked', 'gone']]
    createdAt: str
    disabledAt: NotRequired[str]
    bothUntil: NotRequired[str]
    failures: int
    href: str


class WebhookList(TypedDict):
    """
    One page of endpoints.
    """

    webhooks: list[Webhook]
    next: NotRequired[str]


class WebhookRotationRequest(TypedDict):
    """
    How long the earlier secrets sign beside the new one.
    """

    keepHours: NotRequired[int]


class WebhookAttempt(TypedDict):
    """
    One attempt to deliver a message, and how it went.
    """

    nth: int
    at: str
    outcome: Literal['delivered', 'failed', 'gone', 'lost', 'refused']
    reason: NotRequired[str]
    address: NotRequired[str]
    status: NotRequired[int]
    tookMs: NotRequired[int]
    nextAt: NotRequired[str]


class Health(TypedDict):
    """
    The answer to a probe that succeeds.
    """

    status: Literal['alive', 'ready']


class AdversarialRequest(TypedDict):
    """
    The options of the format adversarial.
    """

    format: Literal['adversarial']
    maxRounds: NotRequired[int | None]
    minChallengeStrength: NotRequired[int | None]
    requireCriticRetryBelow: NotRequired[int | None]
    positions: NotRequired[list[Position]]
    personas: NotRequired[dict[str, str]]
    models: NotRequired[dict[str, str]]


class StancesRequest(TypedDict):
    """
    The options of the format stances.
    """

    format: Literal['stances']
    debaters: list[Debater]
    maxRounds: NotRequired[int | None]
    anonymizeTranscript: NotRequired[bool | None]
    shuffleForJudge: NotRequired[bool | None]
    synthesizer: NotRequired[bool | None]
    outputSchema: NotRequired[dict[str, Any] | None]
    instructions: NotRequired[str | None]
    models: NotRequired[dict[str, str]]


class BallotRequest(TypedDict):
    """
    The options of the format ballot.
    """

    format: Literal['ballot']
    debaters: NotRequired[list[Debater] | None]
    maxRounds: NotRequired[int | None]
    votes: NotRequired[list[str] | None]
    consensusThreshold: NotRequired[int | None]
    instructions: NotRequired[str | None]
    models: NotRequired[dict[str, str]]


class PanelRequest(TypedDict):
    """
    The options of the format panel.
    """

    format: Literal['panel']
    debaters: NotRequired[int | None]
    maxRounds: NotRequired[int | None]
    questionType: NotRequired[Literal['belief', 'brainstorm', 'business', 'factual', 'normative', 'prediction'] | None]
    adjudicator: NotRequired[Literal['algorithmic', 'model'] | None]
    mode: NotRequired[Literal['auto', 'manual'] | None]
    instructions: NotRequired[str | None]
    models: NotRequired[dict[str, str]]


class ConvergenceRequest(TypedDict):
    """
    The options of the format convergence.
    """

    format: Literal['convergence']
    debaters: NotRequired[list[Debater] | int | None]
    maxRounds: NotRequired[int | None]
    judge: NotRequired[bool | None]
    convergenceCheck: NotRequired[bool | None]
    convergenceSimilarity: NotRequired[Decimal | int | str | float | None]
    ties: NotRequired[Literal['lowestDebater', 'noAnswer'] | None]
    debaterInstructions: NotRequired[str | None]
    judgeInstructions: NotRequired[str | None]
    models: NotRequired[dict[str, str]]


class AutoRequest(TypedDict):
    """
    The options where policy chooses the format by the task type.
    """

    format: Literal['auto']
    maxRounds: NotRequired[int | None]
    models: NotRequired[dict[str, str]]


class StreamAsked(TypedDict):
    """
    A model is called for a turn, and its money is reserved.
    """

    id: NotRequired[str]
    event: Literal['asked']
    data: AskedEvent


class StreamVerdict(TypedDict):
    """
    The judge of stances has decided.
    """

    id: NotRequired[str]
    event: Literal['verdict']
    data: VerdictEvent


class StreamClassification(TypedDict):
    """
    A model has read the type of a panel's question.
    """

    id: NotRequired[str]
    event: Literal['classification']
    data: ClassificationEvent


class StreamAdjudication(TypedDict):
    """
    A model has scored a round of a panel.
    """

    id: NotRequired[str]
    event: Literal['adjudication']
    data: AdjudicationEvent


class StreamDebateRoundStarted(TypedDict):
    """
    A round of convergence begins.
    """

    id: NotRequired[str]
    event: Literal['debate.round_started']
    data: RoundStartedEvent


class Problem(TypedDict):
    """
    An error. Clients branch on ``code``.

    Where there are several faults, ``detail`` joins them. ``limit``, ``leftUSD`` and ``ends`` are those of
    ``budget_exhausted``, ``debateId`` is that of ``idempotency_in_progress``.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    instance: str
    requestId: str
    traceId: NotRequired[str]
    errors: NotRequired[list[FieldError]]
    limit: NotRequired[Literal['tenantDay', 'tenantMonth']]
    leftUSD: NotRequired[str]
    ends: NotRequired[str]
    debateId: NotRequired[str]


class ChatError(TypedDict):
    """
    The body of an error of a drop-in route.
    """

    error: ChatErrorDetail


class GateChange(TypedDict):
    """
    Changes of the case that together would have changed the gate's decision, and the same in words.
    """

    sentence: str
    fields: list[FieldChange]


class AdversarialOptions(TypedDict):
    """
    The adversarial format's options. ``swapped`` asks the closing moderator again in the reverse order, ``masked``
    once more with the flagged passages masked.
    """

    format: Literal['adversarial/1']
    maxRounds: int
    minChallengeStrength: int
    requireCriticRetryBelow: int
    humanReview: bool
    positions: NotRequired[list[Position]]
    personas: NotRequired[dict[str, str]]
    swapped: NotRequired[bool]
    screened: NotRequired[bool]
    masked: NotRequired[bool]
    until: NotRequired[Literal['critic']]


class StancesOptions(TypedDict):
    """
    The options of stances. ``outputSchema`` is the caller's JSON Schema, ``None`` for the default one.
    """

    format: Literal['stances/1']
    debaters: NotRequired[list[Debater]]
    maxRounds: int
    humanReview: bool
    anonymizeTranscript: NotRequired[bool]
    shuffleForJudge: NotRequired[bool]
    synthesizer: NotRequired[bool]
    outputSchema: NotRequired[dict[str, Any]]
    instructions: NotRequired[str]
    swapped: NotRequired[bool]
    screened: NotRequired[bool]
    masked: NotRequired[bool]


class PanelOptions(TypedDict):
    """
    The options of a panel; ``thresholds`` by question type and scores of ``trackRecords`` are shares from 0 to 1.

    ``maxRounds`` counts the blind round. ``questionType`` is known before the debate; ``typedBy`` names its source.
    If the source is ``classifier``, a turn may still change the type. ``trackRecords`` are the basis of an automatic
    choice of models.
    """

    format: Literal['panel/1']
    debaters: int
    maxRounds: int
    humanReview: bool
    questionType: Literal['belief', 'brainstorm', 'business', 'factual', 'normative', 'prediction']
    typedBy: Literal['caller', 'classifier', 'rules']
    thresholds: NotRequired[dict[str, float]]
    adjudicator: NotRequired[Literal['algorithmic', 'model']]
    mode: NotRequired[Literal['auto', 'manual']]
    trackRecords: NotRequired[list[TrackRecord]]
    instructions: NotRequired[str]
    swapped: NotRequired[bool]
    screened: NotRequired[bool]
    masked: NotRequired[bool]


class Framing(TypedDict):
    """
    The question as a proposition that can be argued (reference 7.1, step 1).
    """

    seat: Literal['framing']
    thesis: str
    scope: str
    criteria: NotRequired[list[str]]
    keyDocuments: NotRequired[list[KeyDocument]]


class Citation(TypedDict):
    """
    A quotation as a seat gave it, and the verdict on it.
    """

    quote: str
    sourceId: NotRequired[str]
    verdict: NotRequired[Literal['altered', 'not_found', 'too_short', 'unchecked', 'verified']]
    span: NotRequired[list[int]]
    text: NotRequired[str]
    location: NotRequired[str]
    edits: NotRequired[list[Edit]]
    foundIn: NotRequired[str]
    reason: NotRequired[str]


class PanelTurn(TypedDict):
    """
    Our own members of a debater's answer.
    """

    n: int
    at: str
    turn: str
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]
    attempt: int
    servedModel: NotRequired[str]
    tokens: int
    chargedUSD: str
    chargeBasis: Literal['none', 'reserved', 'usage']
    spentUSD: str
    leftUSD: str
    stance: Literal['affirmative', 'negative', 'open', 'qualified']
    framework: Literal['consequences', 'costBenefit', 'empirical', 'other', 'precedent', 'rightsAndDuties', 'riskAssessment', 'textual']
    probability: NotRequired[Probability]
    challengedClaims: NotRequired[list[NamedClaim]]
    unresolvedClaims: NotRequired[list[NamedClaim]]
    answersToObjections: NotRequired[list[AnsweredObjection]]


class PanelDeliberation(TypedDict):
    """
    A debater's answer after it has read the others'.
    """

    event: Literal['round']
    debate_id: str
    round: int
    model: str
    answer: str
    claims: list[PanelClaim]
    overall_confidence: float
    assumptions: list[str]
    gainsay: PanelTurn
    learned_from_others: str
    corrections: str
    still_challenges: str
    unresolved: str
    marks: NotRequired[list[PanelMark]]
    objection: NotRequired[PanelObjection]


class ModeratorEvaluation(TypedDict):
    """
    The evaluation of the arguments, not of the positions.
    """

    argumentQualityScore: ArgumentQualityScore
    resolvedPoints: list[str]
    unresolvedPoints: list[str]
    recommendAnotherRound: bool
    synthesis: str
    confidenceLevel: Literal['HIGH', 'LOW', 'MODERATE']
    explicitUncertainties: list[str]


class PanelSynthesis(TypedDict):
    """
    The answer that the debate converged on, or the one that was written with the flagged passages masked.
    """

    event: Literal['masked', 'synthesis']
    debate_id: str
    synthesis_id: str
    synthesis: str
    ideas: NotRequired[list[PanelIdea]]
    gainsay: SynthesisTurn


class PassagesEvent(TypedDict):
    """
    What the texts of a turn's reply quote or report, and where it stands, counted as a result counts it.
    """

    n: int
    at: str
    turn: str
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]
    debateId: str
    round: int
    engine: str
    compared: int
    marked: int
    unclear: int
    unchecked: int
    passages: NotRequired[list[QuotedPassage]]


class ScreeningEvent(TypedDict):
    """
    What the screener says of the case before the debate, in every format.
    """

    n: int
    at: str
    turn: str
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]
    attempt: int
    servedModel: NotRequired[str]
    tokens: int
    chargedUSD: str
    chargeBasis: Literal['none', 'reserved', 'usage']
    spentUSD: str
    leftUSD: str
    debateId: str
    round: int
    suspicious: bool
    passages: NotRequired[list[ScreenedPassage]]


class NoticeEvent(TypedDict):
    """
    A remark for the reader, as in a result.
    """

    n: int
    at: str
    debateId: str
    notice: Literal['attemptFailed', 'budgetRefused', 'chargedAsHeld', 'critiqueChecked', 'documentsChecked', 'fallbackUsed', 'modelGuessed', 'neutralised', 'partsLeftOut', 'providerOverrun', 'repairAsked', 'replyGiven', 'seatSilent', 'selfNamed', 'servedModelDiffers', 'stopped', 'synthesisCompared', 'usageBelowFloor', 'voicesChecked']
    seats: NotRequired[list[TurnSeat]]
    reason: str
    detail: str


class Measured(TypedDict):
    """
    Code's measures after a round, as recorded, left out where they are undefined.

    ``scores``, ``overall``, ``terminated``, ``lagging``, ``notes``, ``counted`` and ``vetoes`` are left out where the
    consensus itself is code's, because it has them.
    """

    voices: int
    scores: NotRequired[dict[str, float]]
    overall: NotRequired[float]
    terminated: NotRequired[bool]
    lagging: NotRequired[list[Literal['confidence_convergence', 'empirical_overlap', 'framework_agreement', 'stance_alignment']]]
    notes: NotRequired[str]
    counted: NotRequired[list[Literal['confidence_convergence', 'empirical_overlap', 'framework_agreement', 'stance_alignment']]]
    vetoes: NotRequired[list[Veto]]
    claims: NotRequired[list[ClaimAgreement]]
    claimJaccard: NotRequired[float]
    beyondChance: NotRequired[float]
    wordingOverlap: NotRequired[float]
    newIdeas: NotRequired[float]
    unanswered: NotRequired[list[UnansweredObjection]]
    opposed: NotRequired[list[NamedClaims]]


class ConsensusStanding(TypedDict):
    """
    Our own members of a consensus. Consensus does not mean that an answer is right.
    """

    n: int
    at: str
    by: Literal['algorithmic', 'model']
    threshold: float
    blind: bool
    counted: NotRequired[list[Literal['confidence_convergence', 'empirical_overlap', 'framework_agreement', 'stance_alignment']]]
    vetoes: NotRequired[list[Veto]]
    unansweredObjections: int
    measured: NotRequired[Measured]


class AnswersEvent(TypedDict):
    """
    A debater's answers to the strong objections that stood after the last round; the reference has no such turn.
    """

    n: int
    at: str
    turn: str
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]
    attempt: int
    servedModel: NotRequired[str]
    tokens: int
    chargedUSD: str
    chargeBasis: Literal['none', 'reserved', 'usage']
    spentUSD: str
    leftUSD: str
    debateId: str
    round: int
    answers: list[ObjectionReplied]


class PanelAccuracy(TypedDict):
    """
    The scores of every debater by rules that code can follow, by the letter that it had in the debate.
    """

    event: Literal['accuracy']
    debate_id: str
    scores: dict[str, PanelScores]
    gainsay: ScoredByCode


class PanelAccuracyReview(TypedDict):
    """
    The scores of every debater by a model, by the letter that it had in the debate.
    """

    event: Literal['accuracy']
    debate_id: str
    scores: dict[str, PanelScores]
    gainsay: ScoredByModel


class ConvergenceEvent(TypedDict):
    """
    Word overlap of the answers of a round, pair by pair. Word overlap is not agreement.
    """

    n: int
    at: str
    debateId: str
    round: int
    engine: str
    voices: int
    similarity: float
    leastOverlap: NotRequired[float]
    pairs: NotRequired[list[PairShare]]
    converged: bool
    whyNot: NotRequired[list[Literal['overlap', 'order', 'answers', 'negation', 'noWords', 'fewVoices']]]


class DecisionDissent(TypedDict):
    """
    What stands against the decision, in a sentence and seat by seat.

    ``own`` are the minority of a ballot, a panel or convergence, and who gave way to the others.
    """

    kind: Literal['assigned', 'own']
    text: str
    by: NotRequired[list[Dissenter]]


class AdversarialSummary(TypedDict):
    """
    The conclusion, and whether it is that of the first proposal; or the order of several positions.
    """

    format: Literal['adversarial']
    conclusion: NotRequired[Literal['modified', 'rejected', 'upheld']]
    agreesWithFirstProposal: NotRequired[bool]
    ranking: NotRequired[list[RankedPosition]]


class BallotSummary(TypedDict):
    """
    The latest votes, and how many were needed.
    """

    format: Literal['ballot']
    roundsRun: int
    consensusThreshold: int
    voteTally: list[Tally]
    decision: str
    decisionRule: Literal['cut_short', 'max_rounds_exhausted', 'threshold_vote']
    votesCast: int
    seats: int


class Arrival(TypedDict):
    """
    How a case came, where that says more than that it came by ``POST /v1/debates``.
    """

    door: NotRequired[Literal['batch', 'completions', 'evaluation']]
    trace: NotRequired[str]
    batch: NotRequired[str]
    span: NotRequired[str]
    sampled: NotRequired[bool]
    evaluation: NotRequired[EvaluationItem]


class Case(TypedDict):
    """
    A request for review, as it was received.
    """

    question: str
    taskType: str
    documents: NotRequired[list[Document]]
    estimatedDownside: str
    confidenceScore: NotRequired[str]
    downsideBasis: NotRequired[str]
    singleAgentAnswer: NotRequired[str]
    contested: NotRequired[bool]
    useCase: NotRequired[str]
    intendedUse: NotRequired[str]
    materiality: NotRequired[Literal['high', 'moderate', 'low']]
    format: NotRequired[Literal['adversarial', 'stances', 'ballot', 'panel', 'convergence', 'auto']]
    force: NotRequired[Force]
    deadline: NotRequired[str]
    metadata: NotRequired[dict[str, str]]
    onDisconnect: NotRequired[Literal['abort', 'continue']]
    askedTaskType: NotRequired[str]


class SwappedModeration(TypedDict):
    """
    The closing moderation, asked for again in the reverse order. It never replaces the first one.
    """

    turn: str
    evaluation: ModeratorEvaluation
    conclusion: Literal['modified', 'rejected', 'upheld']
    labels: NotRequired[dict[str, str]]
    ranking: NotRequired[list[str]]
    agrees: bool


class MaskedModeration(TypedDict):
    """
    The closing moderation, asked for again with the passages masked that speak to a model. It never replaces the
    first one.
    """

    turn: str
    evaluation: ModeratorEvaluation
    conclusion: Literal['modified', 'rejected', 'upheld']
    labels: NotRequired[dict[str, str]]
    ranking: NotRequired[list[str]]
    agrees: bool


class ModeratorFirstTake(TypedDict):
    """
    A moderation that quoted what does not stand where it says, and that a second take replaced.

    `TurnPassages` of its turn has the passages.
    """

    turn: str
    swapped: bool
    evaluation: ModeratorEvaluation
    conclusion: Literal['modified', 'rejected', 'upheld']


class CitedSpan(TypedDict):
    """
    A stretch that verified citations of all turns cover without a gap.
    """

    span: list[int]
    by: NotRequired[list[CitedBy]]


class ByBasis(TypedDict):
    """
    The bases of charges: the reported usage, the reservation if no usage could be priced, or no use at all.
    """

    usage: Charged
    reserved: Charged
    none: Charged


class Account(TypedDict):
    """
    The cost of a seat, a round or a model.

    Only a whole seat has an estimate, and older records have none.
    """

    tokens: Tokens
    amountUSD: str
    heldUSD: str
    expectedUSD: NotRequired[str]
    actualToEstimate: NotRequired[str]
    attempts: int
    failedAttempts: int
    usageUntold: int
    byBasis: ByBasis
    tiers: NotRequired[list[str]]


class Hashes(TypedDict):
    """
    The hashes of policy, prompts and records.
    """

    promptsPin: NotRequired[str]
    pins: NotRequired[dict[str, str]]
    used: NotRequired[list[str]]
    policyHash: NotRequired[str]
    priceHash: NotRequired[str]
    configurationHash: NotRequired[str]
    buildHash: NotRequired[str]
    seed: NotRequired[str]
    lastRecord: NotRequired[str]
    log: NotRequired[LogPosition]


class StancesResult(TypedDict):
    """
    The verdict, and ``raw``: the raw output of the stances' reference, with the statements that stand.
    """

    format: Literal['stances']
    rounds: int
    verdict: NotRequired[Verdict]
    swappedVerdict: NotRequired[Verdict]
    maskedVerdict: NotRequired[Verdict]
    winnerStance: NotRequired[str]
    output: NotRequired[Any]
    raw: NotRequired[dict[str, Any]]


class BallotResult(TypedDict):
    """
    The count of votes, with the nine lines of the bounded-debate pattern.
    """

    format: Literal['ballot']
    debaterIds: list[str]
    roundsRun: int
    maxRounds: int
    phaseSequence: list[str]
    consensusThreshold: int
    voteTally: list[Tally]
    decision: str
    decisionRule: Literal['cut_short', 'max_rounds_exhausted', 'threshold_vote']
    speakerSchedule: list[str]
    votesCast: int
    seats: int
    blindTally: NotRequired[list[Tally]]
    tied: NotRequired[list[str]]
    votes: NotRequired[list[VoteCast]]
    models: NotRequired[int]
    families: NotRequired[int]
    report: NotRequired[str]
    speakerSelectedBy: NotRequired[Literal['schedule']]


class PanelResult(TypedDict):
    """
    The result of a panel.
    """

    format: Literal['panel']
    questionType: Literal['belief', 'brainstorm', 'business', 'factual', 'normative', 'prediction']
    trigger: str
    roundsCompleted: int
    consensusReached: bool
    labels: NotRequired[dict[str, str]]
    consensus: NotRequired[list[ConsensusRound]]
    finalScore: NotRequired[float]
    synthesis: NotRequired[str]
    synthesisTurn: NotRequired[str]
    maskedSynthesis: NotRequired[str]
    ideas: NotRequired[list[RankedIdea]]
    accuracy: NotRequired[list[DebaterScores]]
    accuracyBy: NotRequired[Literal['algorithmic', 'model']]
    overallConfidence: NotRequired[float]
    missing: NotRequired[list[str]]


class ConvergenceResult(TypedDict):
    """
    The final answer, its decider, and the similarity of the answers after each round.
    """

    format: Literal['convergence']
    rounds: int
    decidedBy: Literal['judge', 'majority', 'nobody']
    convergedIn: NotRequired[int]
    finalAnswer: NotRequired[str]
    swappedAnswer: NotRequired[str]
    maskedAnswer: NotRequired[str]
    votes: NotRequired[list[AnswerVotes]]
    tied: NotRequired[list[str]]
    similarities: NotRequired[list[float | None]]
    blindAnswers: NotRequired[list[AnswerVotes]]
    missing: NotRequired[list[str]]


class TurnPassages(TypedDict):
    """
    The passages of one turn's reply; none if it quotes nothing.
    """

    turn: str
    speaker: str
    replaced: bool
    round: int
    seat: str
    position: NotRequired[str]
    engine: str
    passages: NotRequired[list[PassageDetail]]


class DifferingReplies(TypedDict):
    """
    Two replies of a decider to one question that differ in more than words, and the sentence that says in what.
    """

    why: Literal['masked', 'otherOrder', 'repair', 'secondTake']
    first: str
    second: str
    attempt: NotRequired[int]
    members: list[Difference]
    sentence: str


class DebateEndedEvent(TypedDict):
    """
    A case has ended, and a signed checkpoint covers its end.
    """

    type: Literal['debate.ended']
    timestamp: str
    data: DebateEndedData


class WebhookTestEvent(TypedDict):
    """
    A test that a caller has asked for.
    """

    type: Literal['webhook.test']
    timestamp: str
    data: WebhookTestData


OptionsRequest: TypeAlias = AdversarialRequest | StancesRequest | BallotRequest | PanelRequest | ConvergenceRequest | AutoRequest


class DebateFacet(TypedDict):
    """
    The values that the filter of this name takes, the most frequent first, at most 100 of them.
    """

    facet: Literal['confidence', 'flag', 'format', 'humanReview', 'materiality', 'model', 'outcome', 'status', 'taskType', 'useCase']
    values: list[FacetValue]


class DocumentList(TypedDict):
    """
    The documents of a case, in its order.
    """

    documents: list[ListedDocument]


class BatchState(TypedDict):
    """
    How a batch stands: its lines by their state, and its money.
    """

    batchId: str
    name: NotRequired[str]
    status: Literal['ended', 'running']
    endedBy: NotRequired[Literal['aborted', 'completed', 'deadline', 'revoked']]
    stopped: NotRequired[str]
    paused: NotRequired[BatchPause]
    caller: str
    createdAt: str
    endedAt: NotRequired[str]
    deadline: NotRequired[str]
    cases: int
    counts: BatchCounts
    refused: BatchRefusals
    joined: int
    ceilingUSD: str
    spentUSD: str
    remainingUSD: str
    links: BatchLinks


class BatchList(TypedDict):
    """
    Batches, the newest first.
    """

    batches: NotRequired[list[BatchState]]
    next: NotRequired[str]


class EvaluationState(TypedDict):
    """
    How an evaluation stands: its plan, how far it is, its money, and its result once there is one.
    """

    evaluationId: str
    name: str
    question: str
    kind: Literal['critic', 'lift', 'moderator']
    status: Literal['concluded', 'lost', 'running', 'stopped']
    stopped: NotRequired[EvaluationStop]
    paused: NotRequired[str]
    caller: str
    registeredAt: str
    endedAt: NotRequired[str]
    exploratory: bool
    planHash: str
    plan: NotRequired[dict[str, Any]]
    sets: NotRequired[list[EvaluationSet]]
    quote: NotRequired[list[EvaluationArm]]
    planned: int
    asked: int
    scored: int
    ceilingUSD: str
    spentUSD: str
    finding: NotRequired[str]
    resultHash: NotRequired[str]
    result: NotRequired[dict[str, Any]]
    links: EvaluationLinks


class EvaluationList(TypedDict):
    """
    Evaluations, the newest first.
    """

    evaluations: list[ListedEvaluation]
    next: NotRequired[str]


class GoldenSetState(TypedDict):
    """
    A golden set that plans may name: what it is and how much it has, and no item and no label of it.
    """

    id: str
    version: int
    sha256: str
    taskType: str
    kind: Literal['critic', 'pairs', 'questions']
    splits: SplitCounts
    documents: int
    groups: int
    provenance: str
    labelling: str
    licence: str
    published: NotRequired[str]
    shipped: bool
    looks: int
    worn: bool
    retired: int


class SignedHeads(TypedDict):
    """
    The first and the latest head of a log that a key signed, as the database knows them.
    """

    log: str
    first: NotRequired[DatedSize]
    last: NotRequired[DatedSize]


class LogList(TypedDict):
    """
    The tenant's logs, oldest first. New debates go to the last.
    """

    logs: list[LogDetail]


class RecallList(TypedDict):
    """
    The value searched for, and the debates that rest on it, newest first. ``next`` is as in the list of debates.
    """

    asked: Literal['configuration', 'document', 'engine', 'manifest', 'model', 'price', 'prompt']
    value: str
    debates: list[RecalledDebate]
    next: NotRequired[str]


class GateRequest(TypedDict):
    """
    The body of ``POST /v1/gate``: only the members that the decision needs.
    """

    taskType: str
    estimatedDownside: Decimal | int | str
    confidenceScore: NotRequired[Decimal | int | str | float | None]
    contested: NotRequired[bool | None]
    singleAgentAnswer: NotRequired[str | None]
    options: NotRequired[OptionsRequest]
    materiality: NotRequired[Literal['high', 'low', 'moderate'] | None]
    force: NotRequired[Force | None]


class QuotedSeat(TypedDict):
    """
    A seat: how often it may speak, and its cost. The ceiling does not lower ``worstUSD``.
    """

    seat: str
    model: QuotedModel
    fallback: NotRequired[QuotedModel]
    turnsAtMost: int
    firstRequestTokens: int
    replyTokensAtMost: int
    expectedUSD: str
    worstUSD: str


class Asked(TypedDict):
    """
    A citation to check, with the caller's own id; without ``sourceId`` all sources are searched.
    """

    id: str
    quote: str
    sourceId: NotRequired[str | None]
    location: NotRequired[str | CharStart | None]


class CheckedCitations(TypedDict):
    """
    The verdicts in the order of the request, and the engine that gave them.
    """

    engine: str
    verdicts: list[CheckedCitation]


class PromptList(TypedDict):
    """
    The pinned files and ``pin``, the SHA-256 of the manifest that lists them.
    """

    pin: str
    prompts: list[PromptDetail]


class Price(TypedDict):
    """
    A price row: rates from a date on, and their source.
    """

    inputUSD: str
    cachedInputUSD: str
    cacheWriteUSD: str
    outputUSD: str
    reasoningUSD: str
    cacheWrite1hUSD: NotRequired[str]
    effective: str
    source: str
    longInput: NotRequired[LongInputDetail]
    tiers: NotRequired[dict[str, RateDetail]]


class ChatPart(TypedDict):
    """
    A part of a message.
    """

    type: Literal['file', 'image_url', 'input_audio', 'refusal', 'text']
    text: NotRequired[str | None]
    file: NotRequired[ChatFile | None]
    refusal: NotRequired[str | None]
    image_url: NotRequired[Any]
    input_audio: NotRequired[Any]


class ChatChoice(TypedDict):
    """
    The one choice.
    """

    index: int
    message: ChatMessage
    logprobs: dict[str, Any] | None
    finish_reason: Literal['length', 'stop']


class ChatUsage(TypedDict):
    """
    The tokens of all calls of the debate, as far as vendors reported them.
    """

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: ChatPromptDetails
    completion_tokens_details: ChatCompletionDetails


class ChatChunkChoice(TypedDict):
    """
    The one choice of a chunk.
    """

    index: int
    delta: ChatDelta
    logprobs: dict[str, Any] | None
    finish_reason: Literal['length', 'stop'] | None


class FormatsPolicy(TypedDict):
    """
    The rules of each format but the adversarial one.
    """

    auto: NotRequired[dict[str, str]]
    stances: StancesPolicy
    ballot: BallotPolicy
    panel: PanelPolicy
    convergence: ConvergencePolicy


class TenantBudget(TypedDict):
    """
    What the caller's tenant may spend now. A case is refused (402) if less remains than its debate needs to begin.

    The numbers are of one moment. Debates that were submitted before their tenant had a limit are not counted.
    """

    limited: bool
    zone: str
    day: BudgetPeriod
    month: BudgetPeriod
    evaluations: EvaluationUse
    ceilingUSD: str
    ceilingMaxUSD: str


class IssuedKey(TypedDict):
    """
    A new key, with the key itself, which is in this answer and in no other.
    """

    secret: str
    issued: ApiKey
    replaced: NotRequired[ApiKey]


class SubjectList(TypedDict):
    """
    One page of subjects.
    """

    subjects: list[Subject]
    next: NotRequired[str]


class TenantRequest(TypedDict):
    """
    A tenant that is asked for.
    """

    name: str
    firstOperator: NotRequired[FirstOperatorRequest | None]


class CreatedTenant(TypedDict):
    """
    A new tenant, and the key of its first operator where one was asked for.
    """

    name: str
    firstOperator: NotRequired[IssuedKey]


class TenantList(TypedDict):
    """
    One page of tenants.
    """

    tenants: list[Tenant]
    next: NotRequired[str]


class ReviewerList(TypedDict):
    """
    One page of the subjects to which a case is assigned.
    """

    reviewers: list[Reviewer]
    next: NotRequired[str]


class GrantedWebhook(TypedDict):
    """
    An endpoint with its new secret, which is in this answer and in no other.
    """

    secret: str
    webhook: Webhook


class WebhookDelivery(TypedDict):
    """
    A message of an endpoint, and what became of it.
    """

    delivery: str
    type: Literal['debate.ended', 'webhook.test']
    debateId: NotRequired[str]
    state: Literal['delivered', 'expired', 'recorded', 'sending', 'stopped', 'waiting']
    happenedAt: str
    dueAt: NotRequired[str]
    finishedAt: NotRequired[str]
    attempts: int
    log: list[WebhookAttempt]


class WebhookDeliveryList(TypedDict):
    """
    One page of the messages of an endpoint.
    """

    deliveries: list[WebhookDelivery]
    next: NotRequired[str]


class ProblemDetail(TypedDict):
    """
    A problem that the service may answer: what it means, what a caller does, and whether to send it again.

    ``again`` is ``unchanged`` (there is nothing to send), ``corrected``, ``later`` (after Retry-After), ``underKey``
    (as ``later``, a case under its Idempotency-Key), or ``operator`` (after a repair).
    """

    type: str
    code: str
    status: int
    title: str
    meaning: str
    todo: NotRequired[list[str]]
    again: Literal['corrected', 'later', 'operator', 'unchanged', 'underKey']
    document: Problem


class StreamPassages(TypedDict):
    """
    Code has looked for what the texts of a reply quote or report.
    """

    id: NotRequired[str]
    event: Literal['passages']
    data: PassagesEvent


class StreamScreening(TypedDict):
    """
    The screener has read the case, before the debate.
    """

    id: NotRequired[str]
    event: Literal['screening']
    data: ScreeningEvent


class StreamNotice(TypedDict):
    """
    A remark, such as a failed attempt, a silent seat or a stop.
    """

    id: NotRequired[str]
    event: Literal['notice']
    data: NoticeEvent


class StreamAnswers(TypedDict):
    """
    A debater of a panel has answered the objections that stood.
    """

    id: NotRequired[str]
    event: Literal['answers']
    data: AnswersEvent


class StreamAccuracy(TypedDict):
    """
    The debaters of a panel are scored.
    """

    id: NotRequired[str]
    event: Literal['accuracy']
    data: PanelAccuracy | PanelAccuracyReview


class StreamDebateConverged(TypedDict):
    """
    The answers of a round are near enough to end the debate.
    """

    id: NotRequired[str]
    event: Literal['debate.converged']
    data: ConvergenceEvent


class StreamConvergence(TypedDict):
    """
    The answers of a round are not near enough.
    """

    id: NotRequired[str]
    event: Literal['convergence']
    data: ConvergenceEvent


class Gate(TypedDict):
    """
    Whether the question deserved a debate, with every rule that was applied, in order.
    """

    debate: bool
    decidedBy: str
    rules: list[Rule]
    debateCostThresholdUSD: str
    factor: int
    policyVersion: str
    policyHash: str
    wouldChange: NotRequired[list[GateChange]]


class StartedEvent(TypedDict):
    """
    All facts that are fixed before the first turn.
    """

    n: int
    at: str
    debateId: str
    format: str
    formatReason: NotRequired[str]
    options: AdversarialOptions | StancesOptions | BallotOptions | PanelOptions | ConvergenceOptions
    debaters: NotRequired[list[DebaterSeat]]
    seats: list[StartedSeat]
    diversity: Literal['sameModel', 'sameFamily', 'crossFamily']
    pairs: NotRequired[list[Pair]]
    simulated: bool
    approvedBy: str
    ceilingUSD: str
    expectedUSD: str
    hashes: StartedHashes


class Argument(TypedDict):
    """
    An argument, a critic's point, or the answer to a critic's point.
    """

    n: int
    text: str
    citations: NotRequired[list[Citation]]
    basis: Literal['evidence', 'reasoning']
    attacks: NotRequired[list[int]]
    position: NotRequired[str]
    struck: NotRequired[Literal['uncited', 'unverified_citation']]


class CriticPosition(TypedDict):
    """
    The case against, with the critic's own rating of its strength.
    """

    thesis: str
    counter_arguments: list[Argument]
    evidence_cited: list[CitedEvidence]
    challengeStrength: int


class RebuttalPosition(TypedDict):
    """
    The answers to the critic's points by number, and the points that were granted.
    """

    thesis: str
    rebuttals: list[Argument]
    concessions: list[Concession]


class DebaterEvent(TypedDict):
    """
    The reply of a debater, without verdicts yet: the `citations` that follow name the same turn.
    """

    n: int
    at: str
    turn: str
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]
    attempt: int
    servedModel: NotRequired[str]
    tokens: int
    chargedUSD: str
    chargeBasis: Literal['none', 'reserved', 'usage']
    spentUSD: str
    leftUSD: str
    debateId: str
    round: int
    blind: bool
    stance: NotRequired[str]
    answer: NotRequired[str]
    vote: NotRequired[str]
    written: NotRequired[str]
    confidence: NotRequired[float]
    arguments: NotRequired[list[Argument]]


class PanelBlind(TypedDict):
    """
    A debater's answer in the blind round.
    """

    event: Literal['round']
    debate_id: str
    round: int
    model: str
    answer: str
    claims: list[PanelClaim]
    overall_confidence: float
    assumptions: list[str]
    gainsay: PanelTurn


class ModeratedEvent(TypedDict):
    """
    The moderator's evaluation in the shape of the round record.
    """

    n: int
    at: str
    turn: str
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]
    attempt: int
    servedModel: NotRequired[str]
    tokens: int
    chargedUSD: str
    chargeBasis: Literal['none', 'reserved', 'usage']
    spentUSD: str
    leftUSD: str
    debateId: str
    round: int
    moderatorEvaluation: ModeratorEvaluation
    conclusion: Literal['modified', 'rejected', 'upheld']
    ranking: NotRequired[list[str]]


class CitationsEvent(TypedDict):
    """
    The verdicts on every citation of the arguments of a turn, and the arguments struck for them.
    """

    n: int
    at: str
    turn: str
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]
    debateId: str
    round: int
    engine: str
    verified: int
    altered: int
    tooShort: int
    notFound: int
    unchecked: int
    struck: NotRequired[list[int]]
    arguments: NotRequired[list[Argument]]


class MeasuredEvent(TypedDict):
    """
    Code's measures after a round, if a model scores its consensus or objections are still to be answered.
    """

    n: int
    at: str
    debateId: str
    round: int
    engine: str
    threshold: float
    measured: Measured


class PanelConsensus(TypedDict):
    """
    The standing of the panel after a round.

    A score that is undefined is left out, as ``overall`` leaves it out: 0 would stand for a comparison.
    ``empirical_overlap`` is undefined in a case without documents, since nothing could be checked.
    """

    event: Literal['consensus']
    debate_id: str
    round: int
    scores: dict[str, float]
    overall: float
    terminated: bool
    lagging_dimensions: list[Literal['confidence_convergence', 'empirical_overlap', 'framework_agreement', 'stance_alignment']]
    notes: str
    gainsay: ConsensusStanding


class Decision(TypedDict):
    """
    What was decided, the same members in every format, list item, event and report.

    The answer never says that the decision is right. Code can only lower the confidence.
    """

    outcome: Literal['agreed', 'chosen', 'declined', 'escalated', 'modified', 'none', 'ranked', 'rejected', 'split', 'undecided', 'upheld']
    answer: str
    by: NotRequired[Literal['adjudicator', 'agreement', 'endorsements', 'gate', 'judge', 'moderator', 'synthesizer', 'tieRule', 'vote']]
    confidence: NotRequired[Literal['HIGH', 'LOW', 'MODERATE']]
    humanReview: HumanReview
    dissent: NotRequired[DecisionDissent]
    cost: DecisionCost


class CriticFirstTake(TypedDict):
    """
    A critique that was too weak and was asked for again.
    """

    turn: str
    position: CriticPosition
    reasons: NotRequired[list[str]]
    replaced: bool


class Struck(TypedDict):
    """
    A struck argument, which later seats did not see: its evidence is not verified or not cited at all.
    """

    turn: str
    round: int
    seat: str
    position: NotRequired[str]
    argument: Argument


class DocumentCoverage(TypedDict):
    """
    The cited and the uncited stretches of one document: together they are the whole of it.
    """

    documentId: str
    title: str
    round: int
    given: bool
    characters: int
    citations: int
    citedShare: float
    cited: NotRequired[list[CitedSpan]]
    neverCited: NotRequired[list[list[int]]]
    quotedWrongly: NotRequired[list[QuotedWrongly]]
    partsAre: Literal['characters', 'lines', 'pages', 'places']
    parts: int
    partsNeverCited: int
    places: NotRequired[list[CitedPlace]]
    neverCitedParts: NotRequired[list[UncitedRange]]
    marks: NotRequired[list[PartStart]]
    absent: NotRequired[Literal['textDiffers', 'textNotRead', 'textNotStored']]


class OverallCost(TypedDict):
    """
    Money: spent + excess is the sum of all charges, and spent + held never passes the ceiling.
    """

    ceilingUSD: NotRequired[str]
    spentUSD: str
    heldUSD: str
    expectedUSD: NotRequired[str]
    excessUSD: str
    actualToEstimate: NotRequired[str]
    byBasis: ByBasis
    bySeat: NotRequired[dict[str, Account]]
    byRound: NotRequired[dict[str, Account]]
    bySeatAndRound: NotRequired[dict[str, dict[str, Account]]]
    byModel: NotRequired[dict[str, Account]]


class Spoken(TypedDict):
    """
    One turn of a debater in a format that has them. ``tokens`` and ``chargedUSD`` are of all its attempts.
    """

    turn: str
    round: int
    phase: NotRequired[str]
    seat: str
    name: NotRequired[str]
    stance: NotRequired[str]
    label: str
    model: NotRequired[str]
    blind: bool
    text: NotRequired[str]
    arguments: NotRequired[list[Argument]]
    vote: NotRequired[str]
    answer: NotRequired[str]
    confidence: NotRequired[float]
    reply: dict[str, Any]
    tokens: int
    chargedUSD: str


class Maintained(TypedDict):
    """
    A critic's point that was neither granted nor answered by a standing argument.
    """

    round: int
    point: Argument
    why: Literal['answerStruck', 'rebuttalNotReached', 'unanswered']


class Summary(TypedDict):
    """
    A debate up to its latest entry, in short: each member is one of the whole result (``view=full``), under the same
    name and with the same value, but for ``view``; its objects may have fewer members.
    """

    decision: NotRequired[Decision]
    view: Literal['summary']
    debateId: str
    status: Literal['aborted', 'completed', 'declined', 'failed', 'queued', 'running', 'truncated']
    stopReason: NotRequired[Literal['aborted', 'auditUnavailable', 'budget', 'consensus', 'deadline', 'declined', 'fault', 'moderatorSatisfied', 'promptMismatch', 'roundCeiling', 'seatSilent', 'untilCritic']]
    question: str
    taskType: str
    format: NotRequired[str]
    simulated: bool
    createdAt: str
    concludedAt: NotRequired[str]
    entries: int
    result: NotRequired[AdversarialSummary | StancesSummary | BallotSummary | PanelSummary | ConvergenceSummary]
    synthesis: NotRequired[str]
    caps: NotRequired[list[Cap]]
    flags: NotRequired[list[str]]
    labels: NotRequired[Labels]
    citationCounts: CitationCounts
    coverageCounts: NotRequired[CoverageCounts]
    coverageAbsent: NotRequired[Literal['noDocuments', 'noRound', 'notConcluded']]
    gate: NotRequired[Gate]
    links: ResultLinks


class CaseRequest(TypedDict):
    """
    The body of ``POST /v1/debates``. Amounts are US dollars, as numbers or decimal strings.

    ``documents`` may be empty in the formats stances, ballot, panel and convergence: such a case is argued on
    reasoning, its confidence is at most MODERATE, and a person has to decide. The adversarial format refuses it unless
    policy allows it.
    """

    question: str
    taskType: str
    estimatedDownside: Decimal | int | str
    documents: NotRequired[list[DocumentRequest]]
    confidenceScore: NotRequired[Decimal | int | str | float | None]
    downsideBasis: NotRequired[str | None]
    singleAgentAnswer: NotRequired[str | None]
    contested: NotRequired[bool | None]
    useCase: NotRequired[str | None]
    intendedUse: NotRequired[str | None]
    materiality: NotRequired[Literal['high', 'low', 'moderate'] | None]
    options: NotRequired[OptionsRequest]
    costCeilingUSD: NotRequired[Decimal | int | str | None]
    deadline: NotRequired[str | None]
    force: NotRequired[Force | None]
    metadata: NotRequired[dict[str, str]]
    onDisconnect: NotRequired[Literal['abort', 'continue']]


class Submission(TypedDict):
    """
    A recorded case: queued for debate, or declined with every rule that the gate checked.

    After a wait its debate may be ``running``.
    """

    debateId: str
    status: Literal['declined', 'queued', 'running']
    gate: Gate
    links: Links


class DebateSummary(TypedDict):
    """
    A debate in a list, with its decision as its result has it, absent while it is queued or running.

    ``format`` is absent for a declined case; ``createdAt`` is that of the result. ``question``, ``metadata`` and the
    case's other members are absent once the payload of the debate's first record is.
    """

    decision: NotRequired[Decision]
    debateId: str
    question: NotRequired[str]
    taskType: str
    format: NotRequired[str]
    status: Literal['aborted', 'completed', 'declined', 'failed', 'queued', 'running', 'truncated']
    createdAt: str
    flags: NotRequired[list[str]]
    caller: ListedCaller
    useCase: NotRequired[str]
    materiality: NotRequired[str]
    estimatedDownsideUSD: NotRequired[str]
    metadata: NotRequired[dict[str, str]]
    evaluation: NotRequired[EvaluationItem]
    href: str


class BatchLine(TypedDict):
    """
    A line with a key of its own: the case, and the name by which the caller knows it.
    """

    case: CaseRequest
    key: NotRequired[str | None]


class GoldenSetList(TypedDict):
    """
    Golden sets by their ids.
    """

    sets: list[GoldenSetState]


class VerifierKey(TypedDict):
    """
    A verifier key, what it is for, and who stands for it in the operator's words.
    """

    use: Literal['approver', 'log', 'witness']
    name: str
    hash: str
    key: str
    logs: NotRequired[list[str]]
    since: NotRequired[str]
    until: NotRequired[str]
    vouchedBy: NotRequired[str]
    knownBy: list[Literal['database', 'policy', 'register']]
    heads: NotRequired[list[SignedHeads]]


class PriceQuote(TypedDict):
    """
    The cost of a case. A quote records nothing, calls no model and is not binding.

    ``gate`` is the decision that the case would get. ``options``, ``seats``, ``diversity`` and ``pairs`` are those with
    which its debate would begin. ``expectedUSD`` is the catalogue's estimate. ``worstUSD`` is the most that the debate
    can be charged: the ceiling, or ``askedAtMostUSD`` if that is less. ``askedAtMostUSD`` counts every round, with
    critic, moderator, judge and synthesizer asked twice and each attempt charged at its full reservation. Calls lost
    with their worker, and calls beyond ``attemptsPerTurn`` that find their vendor unavailable, add to it, but never
    above the ceiling. ``neededUSD`` is the least amount with which a debate begins. ``startable`` is true if the
    ceiling and the tenant's remaining limits cover it. A declined case is priced as if it were debated.

    The amounts follow from the prices and the policy of ``day``, which the hashes name. ``tenantLeft`` is absent
    where the tenant has no limits.
    """

    gate: Gate
    startable: bool
    neededUSD: str
    ceilingUSD: str
    expectedUSD: str
    cacheSavesUSD: str
    cacheableCalls: int
    worstUSD: str
    askedAtMostUSD: str
    format: str
    options: AdversarialOptions | StancesOptions | BallotOptions | PanelOptions | ConvergenceOptions
    attemptsPerTurn: int
    simulated: bool
    seats: list[QuotedSeat]
    documents: NotRequired[list[QuotedDocument]]
    diversity: Literal['crossFamily', 'sameFamily', 'sameModel']
    pairs: NotRequired[list[Pair]]
    tenantLeft: NotRequired[TenantLeft]
    day: str
    validity: str
    policyVersion: str
    policyHash: str
    priceHash: str
    promptsPin: str


class Batch(TypedDict):
    """
    Citations to check against sources; the sources' ids are distinct.
    """

    sources: list[Source]
    citations: list[Asked]


class ModelDetail(TypedDict):
    """
    A model of the catalogue, the seats that it has or may have, and whether it is simulated.

    A case may name it if policy lets cases choose and takes its kind of name, and it has a price in force.
    """

    alias: str
    provider: str
    wire: str
    name: str
    snapshot: bool
    family: str
    simulated: bool
    tokenizer: str
    safetyFactor: str
    overheadTokens: int
    contextWindow: int
    parameters: NotRequired[dict[str, Any]]
    seats: NotRequired[list[str]]
    fallbackOf: NotRequired[list[str]]
    prices: NotRequired[list[Price]]
    choosable: bool
    trackRecords: NotRequired[list[ModelRecord]]


class ChatRequestMessage(TypedDict):
    """
    A message. The last one has the role user and holds the question; those before it are texts of the caller.
    """

    role: Literal['assistant', 'developer', 'function', 'system', 'tool', 'user']
    content: NotRequired[str | list[ChatPart] | None]
    name: NotRequired[str | None]
    tool_calls: NotRequired[list[dict[str, Any]] | None]
    tool_call_id: NotRequired[str | None]
    function_call: NotRequired[Any]
    refusal: NotRequired[str | None]
    annotations: NotRequired[Any]
    audio: NotRequired[Any]
    gainsay: NotRequired[Any]


class ChatDetail(TypedDict):
    """
    What Gainsay has to say of an answer beside its text.
    """

    debateId: str
    status: Literal['aborted', 'completed', 'declined', 'failed', 'queued', 'running', 'truncated']
    decision: Decision
    explicitUncertainties: list[str]
    flags: list[str]
    gate: NotRequired[Gate]
    simulated: bool
    sources: int
    ignored: list[str]
    links: ResultLinks


class ChatChunk(TypedDict):
    """
    A part of a chat completion that is streamed.
    """

    id: str
    object: Literal['chat.completion.chunk']
    created: int
    model: str
    choices: list[ChatChunkChoice]
    usage: NotRequired[ChatUsage]
    gainsay: NotRequired[ChatDetail]


class PolicyDetail(TypedDict):
    """
    The policy that runs. Every decision names its ``hash``.

    ``formats`` are those that a case may name here. ``formatRules`` are the defaults of each format and the bounds of a
    case, with shares from 0 to 1.
    """

    version: str
    hash: str
    taskTypes: NotRequired[list[str]]
    formats: NotRequired[list[str]]
    gate: GateSettings
    debate: DebateSettings
    limits: Limits
    calls: CallSettings
    budgets: BudgetSettings
    rates: NotRequired[RateSettings]
    seats: NotRequired[dict[str, SeatSettings]]
    formatRules: FormatsPolicy


class ProblemList(TypedDict):
    """
    Every problem that the service may answer, by status and code.
    """

    problems: list[ProblemDetail]


class BatchResult(TypedDict):
    """
    A line of a batch, and what became of it.
    """

    line: int
    key: NotRequired[str]
    status: Literal['aborted', 'completed', 'declined', 'failed', 'queued', 'refused', 'running', 'truncated', 'waiting']
    debateId: NotRequired[str]
    joined: NotRequired[bool]
    refused: NotRequired[Literal['aborted', 'budget', 'deadline', 'fault', 'invalid', 'key', 'revoked']]
    detail: NotRequired[str]
    decision: NotRequired[Decision]
    spentUSD: NotRequired[str]
    href: NotRequired[str]


class StreamStarted(TypedDict):
    """
    The debate has begun: all that is fixed before its first turn.
    """

    id: NotRequired[str]
    event: Literal['started']
    data: StartedEvent


class StreamSwapped(TypedDict):
    """
    A seat that decides or scores, asked again in the reverse order, has replied.
    """

    id: NotRequired[str]
    event: Literal['swapped']
    data: ModeratedEvent | VerdictEvent | RulingEvent | AdjudicationEvent


class StreamMasked(TypedDict):
    """
    A seat that decides, asked again with the passages masked that speak to a model, has replied.
    """

    id: NotRequired[str]
    event: Literal['masked']
    data: ModeratedEvent | VerdictEvent | RulingEvent | PanelSynthesis


class StreamSynthesis(TypedDict):
    """
    The seat that closes has written the answer.
    """

    id: NotRequired[str]
    event: Literal['synthesis']
    data: ModeratedEvent | ProjectionEvent | RulingEvent | PanelSynthesis


class StreamCitations(TypedDict):
    """
    Code has compared the citations of a turn with the documents.
    """

    id: NotRequired[str]
    event: Literal['citations']
    data: CitationsEvent


class StreamMeasured(TypedDict):
    """
    Code has measured a round of a panel, and the debate goes by something else.
    """

    id: NotRequired[str]
    event: Literal['measured']
    data: MeasuredEvent


class StreamConsensus(TypedDict):
    """
    Where a panel stands after a round.
    """

    id: NotRequired[str]
    event: Literal['consensus']
    data: PanelConsensus


class StreamDebateResponse(TypedDict):
    """
    A debater of convergence has answered.
    """

    id: NotRequired[str]
    event: Literal['debate.response']
    data: DebaterEvent


class GateEvent(TypedDict):
    """
    The case and the gate's decision.
    """

    n: int
    at: str
    debateId: str
    status: Literal['declined', 'queued']
    question: str
    taskType: str
    gate: Gate


class ProposerPosition(TypedDict):
    """
    The case for the proposition, arguments in order of priority, and every citation once.
    """

    thesis: str
    supporting_arguments: list[Argument]
    evidence_cited: list[CitedEvidence]


class FinalEvent(TypedDict):
    """
    The end of a debate or of a declined case: a summary, with the number and the time of the last entry.
    """

    decision: NotRequired[Decision]
    view: Literal['summary']
    debateId: str
    status: Literal['aborted', 'completed', 'declined', 'failed', 'queued', 'running', 'truncated']
    stopReason: NotRequired[Literal['aborted', 'auditUnavailable', 'budget', 'consensus', 'deadline', 'declined', 'fault', 'moderatorSatisfied', 'promptMismatch', 'roundCeiling', 'seatSilent', 'untilCritic']]
    question: str
    taskType: str
    format: NotRequired[str]
    simulated: bool
    createdAt: str
    concludedAt: NotRequired[str]
    entries: int
    result: NotRequired[AdversarialSummary | StancesSummary | BallotSummary | PanelSummary | ConvergenceSummary]
    synthesis: NotRequired[str]
    caps: NotRequired[list[Cap]]
    flags: NotRequired[list[str]]
    labels: NotRequired[Labels]
    citationCounts: CitationCounts
    coverageCounts: NotRequired[CoverageCounts]
    coverageAbsent: NotRequired[Literal['noDocuments', 'noRound', 'notConcluded']]
    gate: NotRequired[Gate]
    links: ResultLinks
    n: int
    at: str


class RoundRecord(TypedDict):
    """
    A round as EAAPL-MAG005, section 5.2 has it; a part that was not reached is null, since it names all.
    """

    debateId: str
    roundNumber: int
    question: str
    proposerPosition: ProposerPosition | None
    criticPosition: CriticPosition | None
    rebuttalPosition: RebuttalPosition | None
    moderatorEvaluation: ModeratorEvaluation | None
    tokenCost: TokenCost


class PositionDetail(TypedDict):
    """
    One of several positions in one round.
    """

    id: str
    text: str
    proposerPosition: NotRequired[ProposerPosition]
    rebuttalPosition: NotRequired[RebuttalPosition]
    objections: NotRequired[list[Objection]]
    proposerConclusion: NotRequired[Literal['modified', 'rejected', 'upheld']]
    rebuttalConclusion: NotRequired[Literal['modified', 'rejected', 'upheld']]
    proposerScore: NotRequired[int]
    rebuttalScore: NotRequired[int]
    rank: NotRequired[int]


class Dissent(TypedDict):
    """
    The standing objections against the proposition.
    """

    thesis: str
    conclusion: Literal['modified', 'rejected', 'upheld']
    unresolvedPoints: NotRequired[list[str]]
    maintained: NotRequired[list[Maintained]]


class FinalTurn(TypedDict):
    """
    Our own member of the end: the summary of the result, the same as the answer without a stream.
    """

    n: int
    at: str
    result: Summary


class DebateList(TypedDict):
    """
    Debates in the order of ``sort``. ``next`` is the value of ``after`` for the next page, absent on the last.

    ``total`` and ``facets`` are there where ``facets`` was asked for. ``total`` counts the debates that pass all
    filters, a facet those that pass all filters but its own. Counts are exact up to 10,000 such debates; if there are
    more, the newest 10,000 are counted, and ``atLeast`` says so.
    """

    debates: list[DebateSummary]
    next: NotRequired[str]
    total: NotRequired[DebateCount]
    facets: NotRequired[list[DebateFacet]]


class KeyList(TypedDict):
    """
    Verifier keys by the word of the operator and of the database, for information: none of them is a pin.
    """

    keys: list[VerifierKey]


class ModelList(TypedDict):
    """
    The catalogue. Debates record the hash of its prices.

    ``object`` and ``data`` are what clients of OpenAI's API read: the formats, by which they name a model.
    """

    priceHash: str
    models: list[ModelDetail]
    debaterOrder: NotRequired[dict[str, list[str]]]
    object: Literal['list']
    data: list[ChatModel]


class ChatRequest(TypedDict):
    """
    The body of ``POST /v1/chat/completions``. Its names are those of OpenAI.

    Members with no effect on a debate are accepted and named in ``gainsay.ignored`` of the answer. Those that ask for
    another answer than a debate gives are refused.
    """

    messages: list[ChatRequestMessage]
    model: str
    metadata: NotRequired[dict[str, str] | None]
    stream: NotRequired[bool | None]
    stream_options: NotRequired[ChatStreamOptions | None]
    temperature: NotRequired[float | None]
    top_p: NotRequired[float | None]
    frequency_penalty: NotRequired[float | None]
    presence_penalty: NotRequired[float | None]
    seed: NotRequired[int | None]
    max_tokens: NotRequired[int | None]
    max_completion_tokens: NotRequired[int | None]
    reasoning_effort: NotRequired[str | None]
    verbosity: NotRequired[str | None]
    service_tier: NotRequired[str | None]
    user: NotRequired[str | None]
    safety_identifier: NotRequired[str | None]
    store: NotRequired[bool | None]
    prompt_cache_key: NotRequired[str | None]
    prompt_cache_retention: NotRequired[str | None]
    prompt_cache_options: NotRequired[Any]
    parallel_tool_calls: NotRequired[bool | None]
    n: NotRequired[int | None]
    stop: NotRequired[Any]
    logprobs: NotRequired[bool | None]
    top_logprobs: NotRequired[int | None]
    logit_bias: NotRequired[dict[str, float] | None]
    response_format: NotRequired[Any]
    tools: NotRequired[list[dict[str, Any]] | None]
    tool_choice: NotRequired[Any]
    functions: NotRequired[list[dict[str, Any]] | None]
    function_call: NotRequired[Any]
    modalities: NotRequired[list[str] | None]
    audio: NotRequired[Any]
    prediction: NotRequired[Any]
    web_search_options: NotRequired[Any]
    moderation: NotRequired[Any]


class ChatCompletion(TypedDict):
    """
    The decision of a debate as a chat completion.
    """

    id: str
    object: Literal['chat.completion']
    created: int
    model: str
    choices: list[ChatChoice]
    usage: ChatUsage
    gainsay: ChatDetail


class StreamGate(TypedDict):
    """
    The case is recorded and the gate has decided. The first event of every stream.
    """

    id: NotRequired[str]
    event: Literal['gate']
    data: GateEvent


class ArguedEvent(TypedDict):
    """
    The reply of a seat of the adversarial format that argues, in the shape of the round record: one of four.
    """

    n: int
    at: str
    turn: str
    seat: str
    label: NotRequired[str]
    name: NotRequired[str]
    position: NotRequired[str]
    phase: NotRequired[str]
    attempt: int
    servedModel: NotRequired[str]
    tokens: int
    chargedUSD: str
    chargeBasis: Literal['none', 'reserved', 'usage']
    spentUSD: str
    leftUSD: str
    debateId: str
    round: int
    framing: NotRequired[Framing]
    proposerPosition: NotRequired[ProposerPosition]
    criticPosition: NotRequired[CriticPosition]
    rebuttalPosition: NotRequired[RebuttalPosition]
    objections: NotRequired[list[Objection]]
    conclusion: NotRequired[Literal['modified', 'rejected', 'upheld']]
    shift: NotRequired[Shift]


class RoundDetail(TypedDict):
    """
    The details beside a round record.
    """

    roundNumber: int
    turns: NotRequired[dict[str, str]]
    conclusions: NotRequired[Conclusions]
    objections: NotRequired[list[Objection]]
    positions: NotRequired[list[PositionDetail]]
    criticFirstTake: NotRequired[CriticFirstTake]
    critiqueSigns: NotRequired[CritiqueSigns]
    labels: NotRequired[dict[str, str]]
    newDocuments: NotRequired[list[str]]
    swappedModeration: NotRequired[SwappedModeration]
    maskedModeration: NotRequired[MaskedModeration]
    moderatorFirstTakes: NotRequired[list[ModeratorFirstTake]]


class AdversarialResult(TypedDict):
    """
    The outcome of an adversarial debate in its own terms.
    """

    format: Literal['adversarial']
    conclusion: NotRequired[Literal['modified', 'rejected', 'upheld']]
    agreesWithFirstProposal: NotRequired[bool]
    ranking: NotRequired[list[RankedPosition]]
    dissent: NotRequired[Dissent]


class PanelFinal(TypedDict):
    """
    The end of a panel. ``status`` has no word for a truncated debate: it counts as completed with a synthesis, and
    as failed without one; ``gainsay.result`` has the true status.
    """

    event: Literal['final']
    debate_id: str
    status: Literal['aborted', 'completed', 'failed', 'running']
    rounds_completed: int
    consensus_reached: bool
    final_consensus_score: float | None
    synthesis_id: str | None
    gainsay: FinalTurn


class Result(TypedDict):
    """
    A debate up to its latest entry, whole.

    A member that does not apply, or that is not known yet, is left out. Always there are ``view``, ``debateId``,
    ``status``, ``question``, ``taskType``, ``simulated``, ``createdAt``, ``entries``, ``askedBy``, ``case``,
    ``caps``, ``flags``, ``labels``, ``criticalValidationFailures``, ``struck``, ``citationCounts``, ``overallCost``,
    ``hashes`` and ``links``; once the debate has ended, also ``decision``, ``stopReason``, ``detail``
    and ``concludedAt``.

    A confidence level is not a probability, and code can only lower it. The adversarial format has ``rounds`` and
    ``roundDetails``, the others ``transcript`` and ``weighed`` instead. Spans of passages are in texts that stay as
    they were written.
    """

    decision: NotRequired[Decision]
    view: Literal['full']
    debateId: str
    status: Literal['aborted', 'completed', 'declined', 'failed', 'queued', 'running', 'truncated']
    stopReason: NotRequired[Literal['aborted', 'auditUnavailable', 'budget', 'consensus', 'deadline', 'declined', 'fault', 'moderatorSatisfied', 'promptMismatch', 'roundCeiling', 'seatSilent', 'untilCritic']]
    detail: NotRequired[str]
    question: str
    taskType: str
    format: NotRequired[str]
    simulated: bool
    createdAt: str
    concludedAt: NotRequired[str]
    entries: int
    askedBy: Actor
    arrival: NotRequired[Arrival]
    abortedBy: NotRequired[Actor]
    case: Case
    options: NotRequired[AdversarialOptions | StancesOptions | BallotOptions | PanelOptions | ConvergenceOptions]
    gate: NotRequired[Gate]
    framing: NotRequired[Framing]
    framingTokenCost: NotRequired[int]
    rounds: NotRequired[list[RoundRecord]]
    roundDetails: NotRequired[list[RoundDetail]]
    moderatorConfidenceLevel: NotRequired[Literal['HIGH', 'LOW', 'MODERATE']]
    closingConfidenceLevel: NotRequired[Literal['HIGH', 'LOW', 'MODERATE']]
    caps: NotRequired[list[Cap]]
    flags: NotRequired[list[str]]
    labels: NotRequired[Labels]
    criticalValidationFailures: NotRequired[list[ValidationFailure]]
    synthesis: NotRequired[str]
    explicitUncertainties: NotRequired[list[str]]
    firstDraft: NotRequired[list[str]]
    struck: NotRequired[list[Struck]]
    citationCounts: CitationCounts
    coverage: NotRequired[list[DocumentCoverage]]
    coverageAbsent: NotRequired[Literal['noDocuments', 'noRound', 'notConcluded']]
    coverageCounts: NotRequired[CoverageCounts]
    shifts: NotRequired[list[ShiftDetail]]
    overallCost: OverallCost
    attempts: NotRequired[list[AttemptDetail]]
    seats: NotRequired[list[SeatDetail]]
    diversity: NotRequired[Literal['sameModel', 'sameFamily', 'crossFamily']]
    pairs: NotRequired[list[Pair]]
    approvedBy: NotRequired[str]
    hashes: NotRequired[Hashes]
    notices: NotRequired[list[Notice]]
    checks: NotRequired[list[CheckDetail]]
    suspicions: NotRequired[list[Suspicion]]
    screening: NotRequired[ScreeningDetail]
    formatReason: NotRequired[str]
    transcript: NotRequired[list[Spoken]]
    weighed: NotRequired[list[Weighed]]
    result: NotRequired[AdversarialResult | StancesResult | BallotResult | PanelResult | ConvergenceResult]
    passages: NotRequired[list[TurnPassages]]
    passageCounts: NotRequired[PassageCounts]
    differing: NotRequired[list[DifferingReplies]]
    links: ResultLinks


class StreamRound(TypedDict):
    """
    A seat has replied: one of the adversarial format, or a debater.
    """

    id: NotRequired[str]
    event: Literal['round']
    data: ArguedEvent | DebaterEvent | PanelBlind | PanelDeliberation


class WholeFinalEvent(TypedDict):
    """
    The same end where the request says ``view=full``: the whole result, with number and time of the last entry.
    """

    decision: NotRequired[Decision]
    view: Literal['full']
    debateId: str
    status: Literal['aborted', 'completed', 'declined', 'failed', 'queued', 'running', 'truncated']
    stopReason: NotRequired[Literal['aborted', 'auditUnavailable', 'budget', 'consensus', 'deadline', 'declined', 'fault', 'moderatorSatisfied', 'promptMismatch', 'roundCeiling', 'seatSilent', 'untilCritic']]
    detail: NotRequired[str]
    question: str
    taskType: str
    format: NotRequired[str]
    simulated: bool
    createdAt: str
    concludedAt: NotRequired[str]
    entries: int
    askedBy: Actor
    arrival: NotRequired[Arrival]
    abortedBy: NotRequired[Actor]
    case: Case
    options: NotRequired[AdversarialOptions | StancesOptions | BallotOptions | PanelOptions | ConvergenceOptions]
    gate: NotRequired[Gate]
    framing: NotRequired[Framing]
    framingTokenCost: NotRequired[int]
    rounds: NotRequired[list[RoundRecord]]
    roundDetails: NotRequired[list[RoundDetail]]
    moderatorConfidenceLevel: NotRequired[Literal['HIGH', 'LOW', 'MODERATE']]
    closingConfidenceLevel: NotRequired[Literal['HIGH', 'LOW', 'MODERATE']]
    caps: NotRequired[list[Cap]]
    flags: NotRequired[list[str]]
    labels: NotRequired[Labels]
    criticalValidationFailures: NotRequired[list[ValidationFailure]]
    synthesis: NotRequired[str]
    explicitUncertainties: NotRequired[list[str]]
    firstDraft: NotRequired[list[str]]
    struck: NotRequired[list[Struck]]
    citationCounts: CitationCounts
    coverage: NotRequired[list[DocumentCoverage]]
    coverageAbsent: NotRequired[Literal['noDocuments', 'noRound', 'notConcluded']]
    coverageCounts: NotRequired[CoverageCounts]
    shifts: NotRequired[list[ShiftDetail]]
    overallCost: OverallCost
    attempts: NotRequired[list[AttemptDetail]]
    seats: NotRequired[list[SeatDetail]]
    diversity: NotRequired[Literal['sameModel', 'sameFamily', 'crossFamily']]
    pairs: NotRequired[list[Pair]]
    approvedBy: NotRequired[str]
    hashes: NotRequired[Hashes]
    notices: NotRequired[list[Notice]]
    checks: NotRequired[list[CheckDetail]]
    suspicions: NotRequired[list[Suspicion]]
    screening: NotRequired[ScreeningDetail]
    formatReason: NotRequired[str]
    transcript: NotRequired[list[Spoken]]
    weighed: NotRequired[list[Weighed]]
    result: NotRequired[AdversarialResult | StancesResult | BallotResult | PanelResult | ConvergenceResult]
    passages: NotRequired[list[TurnPassages]]
    passageCounts: NotRequired[PassageCounts]
    differing: NotRequired[list[DifferingReplies]]
    links: ResultLinks
    n: int
    at: str


class WholeFinalTurn(TypedDict):
    """
    Our own member of the end where the request says ``view=full``: the whole result.
    """

    n: int
    at: str
    result: Result


class WholePanelFinal(TypedDict):
    """
    The end of a panel where the request says ``view=full``: ``gainsay.result`` is then the whole result.
    """

    event: Literal['final']
    debate_id: str
    status: Literal['aborted', 'completed', 'failed', 'running']
    rounds_completed: int
    consensus_reached: bool
    final_consensus_score: float | None
    synthesis_id: str | None
    gainsay: WholeFinalTurn


class StreamFinal(TypedDict):
    """
    The end of the debate, or of a declined case: its result. The last event of every stream.
    """

    id: NotRequired[str]
    event: Literal['final']
    data: FinalEvent | WholeFinalEvent | PanelFinal | WholePanelFinal


StreamEvent: TypeAlias = StreamGate | StreamStarted | StreamAsked | StreamRound | StreamSwapped | StreamMasked | StreamVerdict | StreamSynthesis | StreamCitations | StreamPassages | StreamScreening | StreamNotice | StreamClassification | StreamAdjudication | StreamMeasured | StreamConsensus | StreamAnswers | StreamAccuracy | StreamDebateRoundStarted | StreamDebateResponse | StreamDebateConverged | StreamConvergence | StreamFinal
