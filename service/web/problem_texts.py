"""Every error that HTTP answers, in words for its page: what it means, what a caller does, whether to send it again.

An error of another part of the program (a command, a start, a sequencer) has no text here, and is answered as
``internal`` should it ever reach a caller, so each ``type`` of a problem leads to a page.
"""

from __future__ import annotations

from collections.abc import Mapping

from service.errors import (
    AddressTooLong,
    AuditUnavailable,
    BadRequest,
    BudgetExhausted,
    CeilingTooSmall,
    EvidenceDamaged,
    Fenced,
    Forbidden,
    HeadTooLarge,
    IdempotencyInProgress,
    IdempotencyKeyReused,
    IdentityUnavailable,
    IllegalEntry,
    InvalidCase,
    NotFound,
    NotProvable,
    Overloaded,
    PromptMismatch,
    QueueFull,
    RateLimited,
    RequestTimeout,
    StoreUnavailable,
    TooLarge,
    Unauthenticated,
    WrongShape,
)
from service.identity.issuing_rules import IdentityConflict, InvalidIdentity
from service.money.prices import NoPrice
from service.report.document.pdf import CannotTypeset
from service.reviews.evidence import NotOver
from service.reviews.evidence.bundle_files import OtherBuild
from service.reviews.report_issue import ReportNotProvable
from service.store.left_logs import RecordsLost
from service.store.pool import StatementRefused
from service.store.proofs import LogDamaged
from service.web.chat_problem_texts import CHATS
from service.web.evaluation_problem_texts import EVALUATION_PROBLEMS
from service.web.problem_text import AGAIN, Again, ProblemText
from service.web.refusals import (
    Internal,
    MethodNotAllowed,
    Misdirected,
    NotAcceptable,
    NotReady,
    Unauthorised,
    UnsupportedMediaType,
)
from service.web.signer_problem_texts import SIGNERS
from service.web.webhook_problem_texts import WEBHOOK_PROBLEMS

__all__ = ["AGAIN", "TEXTS", "Again", "ProblemText"]

_DEBATE = "01920000-0000-7000-8000-000000000000"
_CASES = (
    ProblemText(
        BadRequest(
            "the body must be one JSON object in UTF-8, found its end too early, at line 3, column 14 (byte 412), "
            "inside the text that begins at line 3, column 2 (byte 400); send all of it, and check Content-Length"
        ),
        "The request cannot be read: its body is no JSON or no UTF-8, or a parameter or a header has a form that the "
        "service does not know.",
        (
            "Read detail: it names what was found, what was expected, and the place in the body.",
            "Bytes are counted from 0; lines and columns from 1, columns in characters.",
        ),
        "corrected",
    ),
    ProblemText(
        WrongShape("object contains unknown field 'qestion'; did you mean 'question'?", pointers=("/qestion",)),
        "The body is JSON of another shape: a value has a wrong type, a member is unknown or missing, or one object "
        "has a member twice.",
        (
            "Correct every field in errors; each has a JSON Pointer and its own detail.",
            "Values are looked at after that: a body of the right shape may be refused once more.",
        ),
        "corrected",
    ),
    ProblemText(
        InvalidCase("unknown taskType 'Contract'; did you mean 'contract'?", pointers=("/taskType",)),
        "The shape of the body is right, and a value is one that the service does not accept.",
        (
            "Correct every field in errors.",
            "GET /v1/policy shows the limits; GET /openapi.json has them in its schemas.",
            "Nothing was recorded, and an Idempotency-Key is still free.",
        ),
        "corrected",
    ),
    ProblemText(
        TooLarge("question may have 4000 characters, found 5210; shorten it", pointers=("/question",)),
        "A text, the number of documents, or the whole body is above its limit.",
        (
            "Shorten what errors name, or send only the documents on which the question turns.",
            "GET /v1/policy shows the limits.",
        ),
        "corrected",
    ),
    ProblemText(
        CeilingTooSmall(
            "the ceiling of 0.01 USD cannot pay for the first turn and the closing, 0.14 USD",
            pointers=("/costCeilingUSD",),
        ),
        "The cost ceiling of the case does not pay for the shortest debate. A debate that cannot end is not begun.",
        (
            "Raise costCeilingUSD to the amount in detail at least, or leave it out for the policy's own.",
            "POST /v1/quotes says what a case would cost.",
        ),
        "corrected",
    ),
    ProblemText(
        BudgetExhausted(
            "the tenant's limit for the day, 5.00 USD, leaves 0.02 USD and the debate needs 0.31 USD to begin",
            limit="tenantDay",
            left=20_000,
            ends="2026-11-22T00:00:00Z",
            retry_after=3_600,
        ),
        "What is left of the tenant's limit for the day or the month does not pay for this debate. Nothing was "
        "recorded.",
        (
            "limit names the limit, leftUSD what is left of it, and ends when its period ends.",
            "GET /v1/budget, to which the header Link leads, shows both limits with what is spent and what is held.",
            "Send the case again then, or have the operator raise the limit in the policy.",
        ),
        "underKey",
    ),
    ProblemText(
        RequestTimeout("the body did not arrive within 60 s; send it without pauses"),
        "The body came too slowly. No part of it was read, and the connection is closed.",
        ("Send the request again on a new connection, without pauses.",),
        "underKey",
    ),
    ProblemText(
        IdempotencyInProgress(
            f"this case was already recorded under this key as debate {_DEBATE}, which has not ended or whose end is "
            f"not provable yet; read /v1/debates/{_DEBATE}, or send the case again later",
            debate=_DEBATE,
            retry_after=1,
        ),
        "The case was recorded before under this Idempotency-Key, and has no result yet. It was not recorded twice.",
        ("Read or follow the debate that debateId and Location name.",),
        "underKey",
    ),
    ProblemText(
        IdempotencyKeyReused("this key was used for another case; use a new key for each case"),
        "Another case was recorded before under this Idempotency-Key. Nothing was recorded now.",
        ("Use a new key, such as a new UUID, for each case.",),
        "corrected",
    ),
)
_REQUESTS = (
    ProblemText(
        Unauthenticated(
            "expected an API key or a token as Authorization: Bearer ..., found no Authorization; send the key that "
            "the operator of your tenant issued"
        ),
        "The request names no caller that this service knows: it has no credential, or one that is unknown, expired or "
        "revoked. A revoked credential is refused by every process within 5 seconds.",
        (
            "Send Authorization: Bearer with a valid API key or token of your identity provider.",
            "Ask the operator of your tenant for a key. GET /v1/caller says who you are with it.",
        ),
        "corrected",
    ),
    ProblemText(
        Forbidden(
            "submitCase needs the scope case.submit, which the roles requester and operator have; this caller has "
            "auditor"
        ),
        "The caller is known, and its roles or the scopes of its key do not allow this operation. Nothing was done.",
        (
            "Compare the scope in detail with docs/roles.md: it lists the roles that have it.",
            "Ask the operator of your tenant for a key with such a role.",
        ),
        "corrected",
    ),
    ProblemText(
        NotFound(f"there is no debate {_DEBATE}"),
        "The path, or what it names, does not exist, or not for this caller.",
        (
            "Compare the id with the one that was answered when the case was sent.",
            "For a path, /openapi.json and /docs list those that there are.",
        ),
        "unchanged",
        f"/v1/debates/{_DEBATE}",
    ),
    ProblemText(
        Misdirected(
            "expected the header Host to name this machine, as localhost, 127.0.0.1 or [::1], found 'rebound.example': "
            "no identity is configured, so the service answers this machine alone"
        ),
        "The service knows no identities, so it answers this machine alone, and the request names another host. A web "
        "page whose name was made to lead to this machine sends such requests.",
        (
            "On this machine, ask by localhost, 127.0.0.1 or [::1].",
            "For callers elsewhere the operator names an identity in GAINSAY_IDENTITY.",
        ),
        "operator",
    ),
    ProblemText(
        MethodNotAllowed("expected one of the methods GET, HEAD, OPTIONS, POST"),
        "The path exists and does not take this method.",
        ("Use one of the methods in the header Allow.",),
        "corrected",
    ),
    ProblemText(
        NotAcceptable("a report comes as text/html, text/markdown, application/pdf; accept one of them"),
        "The header Accept allows none of the media types that this answer comes in.",
        ("Send Accept with one of the types in detail, or leave it out.",),
        "corrected",
        f"/v1/debates/{_DEBATE}/report",
    ),
    ProblemText(
        UnsupportedMediaType("expected the header Content-Type: application/json, found text/plain"),
        "The body is not declared as JSON, or it is packed (Content-Encoding). Bodies are not unpacked, because a "
        "small one may grow without end.",
        (
            "Send Content-Type: application/json and no Content-Encoding.",
            "The header Accept or Accept-Encoding of the answer says which of them is wanted.",
        ),
        "corrected",
    ),
    ProblemText(
        Unauthorised("expected the signer's token as Authorization: Bearer ..., found none or another"),
        "A signer was asked without its token. Only a signer answers this.",
        ("Give the sequencer the token that the signer has.",),
        "operator",
        "/sign",
    ),
)
_REGISTERS = (
    ProblemText(
        InvalidIdentity("expected 1 to 366 days, found 900", pointers=("/days",)),
        "The registers of keys, subjects and tenants can have no such thing: too long a life, no such roles together, "
        "a subject that the tenant has not.",
        (
            "Correct every field in errors.",
            "docs/authentication.md says what a key may be. Nothing was changed or recorded.",
        ),
        "corrected",
        "/v1/keys",
    ),
    ProblemText(
        IdentityConflict(
            "no key was issued: the tenant has an operator, who alone issues its keys; ask it",
        ),
        "The request is one that the registers could admit, and in their present state they do not. Nothing was "
        "changed. A service without identities manages none over HTTP.",
        (
            "detail names the state, such as: an operator is there, the last would go, a subject has two valid keys.",
            "GET /v1/keys and GET /v1/subjects show the registers.",
        ),
        "corrected",
        "/v1/keys",
    ),
)
_UNREAD = (
    ProblemText(
        AddressTooLong("the address may have 16384 bytes, found more; send fewer parameters"),
        "The address of the request, its query included, is longer than the server reads.",
        ("Send fewer or shorter parameters; texts of a case belong into the body.",),
        "corrected",
    ),
    ProblemText(
        HeadTooLarge("the head of a request may have 100 headers and 65536 bytes, found more; send fewer"),
        "The request has more headers, or longer ones, than the server reads.",
        ("Send fewer or shorter headers; a proxy on the way may add some.",),
        "corrected",
    ),
)
_STATES = (
    ProblemText(
        NotOver(f"debate {_DEBATE} is running; come back when it is over", retry_after=5),
        "A bundle or a PDF of a debate is made when the debate has ended.",
        ("Wait for final on the stream of events, or ask again after Retry-After.",),
        "later",
        f"/v1/debates/{_DEBATE}/audit",
    ),
    ProblemText(
        Fenced(f"debate {_DEBATE} was written to or claimed by another process; read it again", retry_after=1),
        "The debate recorded other entries while this request was at work on it.",
        ("Read the debate, and send the request again if it still applies.",),
        "later",
        f"/v1/debates/{_DEBATE}/abort",
    ),
    ProblemText(
        NotProvable(f"record 4 of debate {_DEBATE} is not under a checkpoint of its log yet", retry_after=1),
        "What was asked for is recorded, and the audit log does not prove it yet. The answer is held until it does.",
        (
            "Ask again: a checkpoint usually follows within a second.",
            "If it lasts, tell the operator: no sequencer may be running.",
        ),
        "underKey",
    ),
    ProblemText(
        RecordsLost(_DEBATE, "audit.bank.example/default/1", "audit.bank.example/default/2"),
        "The log of this debate or evaluation has lost records, and the tenant goes on in its next one. No checkpoint "
        "will cover its end, so no answer or result is given. What was proven before the loss is still given.",
        ("Submit the case under another Idempotency-Key, or register the plan again: it is billed anew.",),
        "unchanged",
        f"/v1/debates/{_DEBATE}",
    ),
    ProblemText(
        ReportNotProvable("that this PDF is issued is recorded, and is not under a checkpoint yet", retry_after=1),
        "A PDF is recorded before it is handed out, and the log does not prove that record yet.",
        ("Ask again after Retry-After; HTML and Markdown are not held.",),
        "later",
        f"/v1/debates/{_DEBATE}/report",
    ),
    ProblemText(
        OtherBuild(f"debate {_DEBATE} names words that another build has; ask a process of that build", retry_after=5),
        "The debate names prompts, words or schemas that this build does not have, so this process cannot write its "
        "file.",
        ("Ask again: another process may be of that build.", "If it lasts, the operator has to run that build."),
        "later",
        f"/v1/debates/{_DEBATE}/audit",
    ),
)
_LOAD = (
    ProblemText(
        RateLimited(
            "submit: 600 requests in 60 s are the rate of this caller; send the next one later", retry_after=12
        ),
        "The caller asked more often than its rate allows, or has its share of open event streams. Nothing was "
        "recorded. Money is never a rate: a budget that is used up is budget_exhausted.",
        (
            "Send the request again after Retry-After; RateLimit and RateLimit-Policy say what is left of which rate.",
            "A higher rate is the operator's: [rates] of the policy.",
        ),
        "underKey",
    ),
    ProblemText(
        QueueFull("1000 debates wait, the most that policy allows; send the case again later", retry_after=30),
        "As many debates wait as may. Nothing was recorded.",
        (
            "Send the case again under its key after Retry-After.",
            "More workers, or a longer queue, are the operator's.",
        ),
        "underKey",
    ),
    ProblemText(
        Overloaded("this process is reading its most cases: no place came free within 5 s; try again", retry_after=1),
        "This process serves as many requests or streams as it can. Nothing was recorded; another process may be free.",
        ("Send the request again after Retry-After.",),
        "underKey",
    ),
    ProblemText(
        NotReady("the service is stopping", retry_after=5),
        "This process takes no work now: it stops, its database is away, or its prompts do not match their pin.",
        ("A load balancer sends requests elsewhere as long as /readyz answers this.",),
        "later",
        "/readyz",
    ),
    ProblemText(
        AuditUnavailable("the audit log does not confirm the record, so nothing further is done", retry_after=5),
        "The record of this step could not be written, or it is not known whether it was. No record, no step.",
        ("Send the case again under its key: if it was recorded after all, it is not recorded twice.",),
        "underKey",
    ),
    ProblemText(
        IdentityUnavailable(
            "the key of the token is not known, and the identity provider bank does not say its keys (no complete "
            "answer within 5 seconds); try again",
            retry_after=10,
        ),
        "The identity provider that issued the token does not answer, so the service cannot verify the token. It lets "
        "in no caller that it cannot verify. API keys of the service go on to work.",
        ("Send the request again after the seconds in Retry-After.",),
        "later",
    ),
    ProblemText(
        StoreUnavailable(
            "the database did not confirm 'case' (connection lost); try again when it is back", retry_after=5
        ),
        "PostgreSQL cannot be reached, or did not confirm a statement.",
        ("Send the request again after Retry-After, a case under its key.",),
        "underKey",
    ),
)
_FAULTS = (
    ProblemText(
        StatementRefused("the statement was refused", retry_after=60),
        "PostgreSQL answers and refuses a statement of the service. It would refuse it again.",
        ("Tell the operator the requestId: the service's log has the cause under it.",),
        "operator",
    ),
    ProblemText(
        EvidenceDamaged(_DEBATE, "record 4", "has a payload that it does not commit to"),
        "What is stored of a debate is not what was recorded. Nothing of it is shown, continued or handed out.",
        ("Tell the operator at once, with the whole detail, and keep every file of that debate that you have.",),
        "operator",
        f"/v1/debates/{_DEBATE}",
    ),
    ProblemText(
        LogDamaged("expected 256 hashes in tile 0 of level 0, found 255"),
        "The stored tree of the audit log contradicts its checkpoints. No proof is given from it.",
        ("Tell the operator at once, and keep every checkpoint, proof and bundle that you have.",),
        "operator",
        "/v1/audit/logs/localhost/default/1/consistency",
    ),
    ProblemText(
        PromptMismatch("expected the pinned bytes of critic/3, found others; restore the file and restart"),
        "A prompt's bytes are not those of its pin, so no model is called with it.",
        ("Tell the operator: the image or its files have changed.",),
        "operator",
    ),
    ProblemText(
        CannotTypeset("expected the report to be typeset, found: unknown font; ask for HTML"),
        "The PDF of a report could not be made. The other forms are not affected.",
        ("Ask for HTML or Markdown, and tell the operator the requestId.",),
        "operator",
        f"/v1/debates/{_DEBATE}/report",
    ),
    ProblemText(
        NoPrice("the model alder-large has no price on 2026-11-22"),
        "A model has no price on the day of the debate. No price, no call.",
        ("Have the operator add the price to the policy.",),
        "operator",
    ),
    ProblemText(
        IllegalEntry("entry 7 (round) is not legal: the debate has ended"),
        "The entries of a debate do not follow from each other. The debate stays as it was.",
        ("Tell the operator the requestId.",),
        "operator",
        f"/v1/debates/{_DEBATE}",
    ),
    ProblemText(
        Internal(
            "an unforeseen error; try again, and if it persists, search the service's log for the request id req_4f2a"
        ),
        "The service met an error that nothing foresaw. Its cause is in the service's log, never in an answer.",
        ("Send the request once more, a case under its key.", "If it persists, tell the operator the requestId."),
        "underKey",
    ),
)
_REST = (*CHATS, *WEBHOOK_PROBLEMS, *EVALUATION_PROBLEMS, *SIGNERS)
TEXTS: Mapping[str, ProblemText] = {
    text.example.code: text for text in (*_CASES, *_REQUESTS, *_REGISTERS, *_UNREAD, *_STATES, *_LOAD, *_FAULTS, *_REST)
}
"""Every problem that HTTP answers, by its code."""
