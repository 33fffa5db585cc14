"""Schema names of the OpenAPI document, by type.

A generated client names its classes by them, so a name stays when its Python class is renamed. Operation names are
written down in the same way, as ``id`` in `service.web.operations`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from service.checks.citations import batch
from service.checks.coverage import shape as coverage
from service.debate import entries, findings, model, options, results, suspicions
from service.debate.replies import adversarial as replies
from service.debate.replies import screening
from service.intake import request
from service.policy import limits
from service.report.events import convergence as convergence_events
from service.report.events import panel_types as panel_events
from service.report.events import replies as reply_events
from service.report.events import types as events
from service.report.result import (
    argument_types,
    bill,
    citation_counts,
    decision_types,
    notice_types,
    passage_types,
    round_types,
    seat_types,
    shown_options,
    summary,
    summary_types,
    terms,
    would_change,
)
from service.report.result import types as result
from service.reviews.evidence import key_register
from service.web import (
    audit,
    budget,
    catalogue,
    citations,
    documents,
    identity_types,
    list_types,
    model_types,
    problem_pages,
    problems,
    quote_types,
    types,
)
from service.web.completions import answer_types as chat_answers
from service.web.completions import error_form as chat_errors
from service.web.completions import names as chat_names
from service.web.completions import request as chat_requests

REF = "#/components/schemas/{name}"
_PREFIX = REF.format(name="")

SCHEMA_NAMES: dict[type, str] = {
    chat_requests.ChatRequest: "ChatRequest",
    chat_requests.Message: "ChatRequestMessage",
    chat_requests.Part: "ChatPart",
    chat_requests.FileContent: "ChatFile",
    chat_requests.StreamOptions: "ChatStreamOptions",
    chat_answers.ChatCompletion: "ChatCompletion",
    chat_answers.ChatChoice: "ChatChoice",
    chat_answers.ChatMessage: "ChatMessage",
    chat_answers.ChatUsage: "ChatUsage",
    chat_answers.PromptDetails: "ChatPromptDetails",
    chat_answers.CompletionDetails: "ChatCompletionDetails",
    chat_answers.ChatDetail: "ChatDetail",
    chat_answers.ChatChunk: "ChatChunk",
    chat_answers.ChunkChoice: "ChatChunkChoice",
    chat_answers.ChatDelta: "ChatDelta",
    chat_errors.ChatError: "ChatError",
    chat_errors.ChatErrorDetail: "ChatErrorDetail",
    chat_names.ChatModel: "ChatModel",
    batch.Batch: "Batch",
    batch.Source: "Source",
    batch.Asked: "Asked",
    batch.CharStart: "CharStart",
    coverage.DocumentCoverage: "DocumentCoverage",
    coverage.CitedSpan: "CitedSpan",
    coverage.CitedBy: "CitedBy",
    coverage.QuotedWrongly: "QuotedWrongly",
    coverage.CitedPlace: "CitedPlace",
    coverage.UncitedRange: "UncitedRange",
    coverage.PartStart: "PartStart",
    entries.Arrival: "Arrival",
    entries.Rule: "Rule",
    entries.FieldChange: "FieldChange",
    findings.Edit: "Edit",
    findings.Veto: "Veto",
    findings.NamedClaims: "NamedClaims",
    findings.ClaimAgreement: "ClaimAgreement",
    findings.UnansweredObjection: "UnansweredObjection",
    suspicions.Suspicion: "Suspicion",
    terms.ShownScores: "DebaterScores",
    model.Pair: "Pair",
    model.Case: "Case",
    model.Document: "Document",
    model.Force: "Force",
    model.Cap: "Cap",
    model.HumanReview: "HumanReview",
    model.ValidationFailure: "ValidationFailure",
    model.RankedPosition: "RankedPosition",
    model.Difference: "Difference",
    options.AdversarialOptions: "AdversarialOptions",
    options.Position: "Position",
    options.StancesOptions: "StancesOptions",
    options.Debater: "Debater",
    options.BallotOptions: "BallotOptions",
    shown_options.ShownPanelOptions: "PanelOptions",
    shown_options.ShownTrackRecord: "TrackRecord",
    shown_options.ShownConvergenceOptions: "ConvergenceOptions",
    replies.Framing: "Framing",
    replies.KeyDocument: "KeyDocument",
    replies.Concession: "Concession",
    replies.Objection: "Objection",
    replies.Shift: "Shift",
    terms.AdversarialTerms: "AdversarialResult",
    terms.StancesTerms: "StancesResult",
    results.Verdict: "Verdict",
    terms.BallotTerms: "BallotResult",
    results.Tally: "Tally",
    terms.ShownCast: "VoteCast",
    terms.PanelTerms: "PanelResult",
    terms.ConsensusStanding: "ConsensusRound",
    results.RankedIdea: "RankedIdea",
    terms.ConvergenceTerms: "ConvergenceResult",
    results.AnswerVotes: "AnswerVotes",
    request.CaseRequest: "CaseRequest",
    request.DocumentRequest: "DocumentRequest",
    request.OptionsRequest: "OptionsRequest",
    request.GateRequest: "GateRequest",
    limits.Limits: "Limits",
    catalogue.FormatSettings: "FormatsPolicy",
    catalogue.StancesSettings: "StancesPolicy",
    catalogue.BallotSettings: "BallotPolicy",
    catalogue.PanelSettings: "PanelPolicy",
    catalogue.ConvergenceSettings: "ConvergencePolicy",
    convergence_events.ConvergenceEvent: "ConvergenceEvent",
    convergence_events.PairShare: "PairShare",
    panel_events.PanelBlind: "PanelBlind",
    panel_events.PanelClaim: "PanelClaim",
    panel_events.PanelMark: "PanelMark",
    panel_events.PanelObjection: "PanelObjection",
    panel_events.NamedClaim: "NamedClaim",
    panel_events.AnsweredObjection: "AnsweredObjection",
    panel_events.Probability: "Probability",
    panel_events.PanelTurn: "PanelTurn",
    panel_events.PanelDeliberation: "PanelDeliberation",
    panel_events.ObjectionReplied: "ObjectionReplied",
    panel_events.AnswersEvent: "AnswersEvent",
    panel_events.ClassificationEvent: "ClassificationEvent",
    panel_events.AdjudicationEvent: "AdjudicationEvent",
    panel_events.Measured: "Measured",
    panel_events.ConsensusStanding: "ConsensusStanding",
    panel_events.PanelConsensus: "PanelConsensus",
    panel_events.MeasuredEvent: "MeasuredEvent",
    panel_events.PanelIdea: "PanelIdea",
    panel_events.SynthesisTurn: "SynthesisTurn",
    panel_events.PanelSynthesis: "PanelSynthesis",
    panel_events.PanelScores: "PanelScores",
    panel_events.ScoredByCode: "ScoredByCode",
    panel_events.ScoredByModel: "ScoredByModel",
    panel_events.PanelAccuracy: "PanelAccuracy",
    panel_events.PanelAccuracyReview: "PanelAccuracyReview",
    panel_events.FinalTurn: "FinalTurn",
    panel_events.PanelFinal: "PanelFinal",
    panel_events.WholePanelFinal: "WholePanelFinal",
    panel_events.WholeFinalTurn: "WholeFinalTurn",
    reply_events.VerdictEvent: "VerdictEvent",
    reply_events.ProjectionEvent: "ProjectionEvent",
    reply_events.RulingEvent: "RulingEvent",
    events.DebaterSeat: "DebaterSeat",
    events.TurnSeat: "TurnSeat",
    events.GateEvent: "GateEvent",
    events.StartedSeat: "StartedSeat",
    events.StartedHashes: "StartedHashes",
    events.StartedEvent: "StartedEvent",
    events.AskedEvent: "AskedEvent",
    events.ArguedEvent: "ArguedEvent",
    events.ModeratedEvent: "ModeratedEvent",
    events.DebaterEvent: "DebaterEvent",
    events.RoundStartedEvent: "RoundStartedEvent",
    events.CitationsEvent: "CitationsEvent",
    events.QuotedPassage: "QuotedPassage",
    events.PassagesEvent: "PassagesEvent",
    events.NoticeEvent: "NoticeEvent",
    events.FinalEvent: "FinalEvent",
    events.WholeFinalEvent: "WholeFinalEvent",
    bill.OverallCost: "OverallCost",
    bill.ByBasis: "ByBasis",
    bill.Charged: "Charged",
    bill.Account: "Account",
    bill.Tokens: "Tokens",
    bill.AttemptDetail: "AttemptDetail",
    citation_counts.CitationCounts: "CitationCounts",
    notice_types.Notice: "Notice",
    notice_types.CheckDetail: "CheckDetail",
    passage_types.PassageDetail: "PassageDetail",
    passage_types.TurnPassages: "TurnPassages",
    passage_types.PassageCounts: "PassageCounts",
    seat_types.SeatDetail: "SeatDetail",
    seat_types.DifferingReplies: "DifferingReplies",
    seat_types.ShiftDetail: "ShiftDetail",
    seat_types.Weighed: "Weighed",
    seat_types.ScreeningDetail: "ScreeningDetail",
    screening.ScreenedPassage: "ScreenedPassage",
    reply_events.ScreeningEvent: "ScreeningEvent",
    decision_types.Decision: "Decision",
    decision_types.DecisionCost: "DecisionCost",
    decision_types.DecisionDissent: "DecisionDissent",
    decision_types.Dissenter: "Dissenter",
    result.Gate: "Gate",
    would_change.GateChange: "GateChange",
    result.Hashes: "Hashes",
    result.LogPosition: "LogPosition",
    round_types.ProposerPosition: "ProposerPosition",
    argument_types.Argument: "Argument",
    argument_types.Citation: "Citation",
    argument_types.CitedEvidence: "CitedEvidence",
    round_types.CriticPosition: "CriticPosition",
    round_types.RebuttalPosition: "RebuttalPosition",
    round_types.ModeratorEvaluation: "ModeratorEvaluation",
    round_types.ArgumentQualityScore: "ArgumentQualityScore",
    result.Spoken: "Spoken",
    result.Result: "Result",
    summary.Summary: "Summary",
    summary.AdversarialFacts: "AdversarialSummary",
    summary.StancesFacts: "StancesSummary",
    summary.BallotFacts: "BallotSummary",
    summary.PanelFacts: "PanelSummary",
    summary.ConvergenceFacts: "ConvergenceSummary",
    summary_types.Labels: "Labels",
    summary_types.CoverageCounts: "CoverageCounts",
    summary_types.ResultLinks: "ResultLinks",
    round_types.RoundRecord: "RoundRecord",
    round_types.TokenCost: "TokenCost",
    round_types.RoundDetail: "RoundDetail",
    round_types.Conclusions: "Conclusions",
    round_types.PositionDetail: "PositionDetail",
    round_types.CriticFirstTake: "CriticFirstTake",
    round_types.CritiqueSigns: "CritiqueSigns",
    round_types.ModeratorFirstTake: "ModeratorFirstTake",
    round_types.SwappedModeration: "SwappedModeration",
    round_types.MaskedModeration: "MaskedModeration",
    result.Struck: "Struck",
    result.Acted: "Actor",
    argument_types.Dissent: "Dissent",
    argument_types.Maintained: "Maintained",
    audit.KeyList: "KeyList",
    key_register.KeyInRegister: "VerifierKey",
    key_register.SignedHeads: "SignedHeads",
    key_register.DatedSize: "DatedSize",
    audit.LogList: "LogList",
    audit.LogDetail: "LogDetail",
    audit.RecallList: "RecallList",
    audit.RecalledDebate: "RecalledDebate",
    budget.TenantBudget: "TenantBudget",
    budget.BudgetPeriod: "BudgetPeriod",
    catalogue.PromptList: "PromptList",
    catalogue.PromptDetail: "PromptDetail",
    catalogue.PolicyDetail: "PolicyDetail",
    catalogue.GateSettings: "GateSettings",
    catalogue.DebateSettings: "DebateSettings",
    catalogue.CallSettings: "CallSettings",
    catalogue.BudgetSettings: "BudgetSettings",
    catalogue.RateSettings: "RateSettings",
    catalogue.SeatSettings: "SeatSettings",
    citations.CheckedCitations: "CheckedCitations",
    citations.CheckedCitation: "CheckedCitation",
    model_types.ModelList: "ModelList",
    model_types.ModelDetail: "ModelDetail",
    model_types.ModelRecord: "ModelRecord",
    model_types.Price: "Price",
    model_types.LongInputDetail: "LongInputDetail",
    model_types.RateDetail: "RateDetail",
    problems.Problem: "Problem",
    problem_pages.ProblemDetail: "ProblemDetail",
    problem_pages.ProblemList: "ProblemList",
    problems.FieldError: "FieldError",
    quote_types.PriceQuote: "PriceQuote",
    quote_types.QuotedSeat: "QuotedSeat",
    quote_types.QuotedModel: "QuotedModel",
    quote_types.QuotedDocument: "QuotedDocument",
    quote_types.TenantLeft: "TenantLeft",
    types.Submission: "Submission",
    types.Links: "Links",
    list_types.DebateList: "DebateList",
    list_types.DebateSummary: "DebateSummary",
    list_types.ListedCaller: "ListedCaller",
    list_types.DebateCount: "DebateCount",
    list_types.DebateFacet: "DebateFacet",
    list_types.FacetValue: "FacetValue",
    documents.DocumentList: "DocumentList",
    documents.ListedDocument: "ListedDocument",
    types.AbortRequest: "AbortRequest",
    types.Abortion: "Abortion",
    types.Health: "Health",
    identity_types.KeyRequest: "KeyRequest",
    identity_types.RotationRequest: "RotationRequest",
    identity_types.RevocationRequest: "RevocationRequest",
    identity_types.FirstOperatorRequest: "FirstOperatorRequest",
    identity_types.TenantRequest: "TenantRequest",
    identity_types.ReviewerRequest: "ReviewerRequest",
    identity_types.ApiKey: "ApiKey",
    identity_types.IssuedKey: "IssuedKey",
    identity_types.ApiKeyList: "ApiKeyList",
    identity_types.Subject: "Subject",
    identity_types.SubjectList: "SubjectList",
    identity_types.Tenant: "Tenant",
    identity_types.CreatedTenant: "CreatedTenant",
    identity_types.TenantList: "TenantList",
    identity_types.Reviewer: "Reviewer",
    identity_types.ReviewerList: "ReviewerList",
    identity_types.KnownCaller: "KnownCaller",
}
"""Every type of the document. The schemas of one format's options are named in `service.web.option_schemas`."""


def named_schemas(mentioned: list[type]) -> tuple[dict[type, dict[str, Any]], dict[str, Any]]:
    """A reference to each mentioned type, and the schemas of these and of every type in them, under their names.

    A type without a name raises `LookupError`.
    """
    types = list(dict.fromkeys([*mentioned, *SCHEMA_NAMES]))
    found, components = msgspec.json.schema_components(types, ref_template=REF)
    # msgspec names a schema by its class, or by its module and class where two classes share a name.
    names = {
        schema["$ref"].removeprefix(_PREFIX): SCHEMA_NAMES[type_]
        for type_, schema in zip(types, found, strict=True)
        if type_ in SCHEMA_NAMES
    }
    if unnamed := components.keys() - names.keys():
        raise LookupError(f"name these types in SCHEMA_NAMES: {', '.join(sorted(unnamed))}")
    refs = {type_: _renamed(schema, names) for type_, schema in zip(types, found, strict=True)}
    return refs, {names[name]: _renamed(schema, names) | {"title": names[name]} for name, schema in components.items()}


def _renamed(schema: Any, names: dict[str, str]) -> Any:
    """The schema with every reference to another by that schema's name."""
    if isinstance(schema, dict):
        return {key: _renamed(part, names) for key, part in schema.items()}
    if isinstance(schema, list):
        return [_renamed(part, names) for part in schema]
    if isinstance(schema, str) and schema.startswith(_PREFIX):
        return REF.format(name=names[schema.removeprefix(_PREFIX)])
    return schema
