"""The operations of who belongs to the service, as data for OpenAPI: keys, subjects, tenants, reviewers, the caller."""

from __future__ import annotations

from typing import Any

from service.reviews.query_parameters import VALUES_MAX
from service.web.identity_types import (
    ApiKey,
    ApiKeyList,
    CreatedTenant,
    IssuedKey,
    KeyRequest,
    KnownCaller,
    ReviewerList,
    ReviewerRequest,
    RevocationRequest,
    RotationRequest,
    Subject,
    SubjectList,
    TenantList,
    TenantRequest,
)
from service.web.operation import DEBATE, JSON, LIMIT, Answer, Operation, Parameter, Schema

_KEY_ID: Schema = {"type": "string", "pattern": "^key_[0-7][0-9a-hjkmnp-tv-z]{25}$"}
_SUBJECT_ID: Schema = {"type": "string", "pattern": "^sub_[0-7][0-9a-hjkmnp-tv-z]{25}$"}
_KEY = Parameter("key", "path", "The id of the key, which is not the key itself.", {"type": "string"}, required=True)
_SUBJECT = Parameter("subject", "path", "The id of the subject, as records have it.", {"type": "string"}, required=True)
_AFTER = "The value of next on the previous page."
_AFTER_KEY = Parameter("after", "query", _AFTER, _KEY_ID)
_AFTER_SUBJECT = Parameter("after", "query", _AFTER, _SUBJECT_ID)
_AFTER_TENANT = Parameter("after", "query", _AFTER, {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,62}$"})
_ONLY = Parameter(
    "subject",
    "query",
    "Only the subject of this id. Give it several times for several subjects.",
    {"type": "array", "items": _SUBJECT_ID, "maxItems": VALUES_MAX},
)
_OF_SUBJECT = Parameter("subject", "query", "Only keys of this subject.", _SUBJECT_ID)
_UNREPEATED = (
    "The key itself is in this answer alone, so an Idempotency-Key is refused: where the answer was lost, revoke the "
    "key that it had and issue another."
)
_LAST = (
    "A revocation that would leave the tenant without a valid key of an operator is refused (identity_conflict), "
    "unless lastOperator is true: then an administrator can issue that of a first operator again."
)
_READS, _CHANGES = (400, 409, 503), (400, 404, 409, 413, 415, 422, 503)

IDENTITY_BODIES: dict[type, dict[str, Any]] = {
    KeyRequest: {"requester": {"roles": ["requester"], "name": "contract review", "days": 90}},
    RotationRequest: {"week": {"days": 90, "keepDays": 7}},
    RevocationRequest: {"plain": {}},
    TenantRequest: {
        "bank": {
            "name": "bank",
            "firstOperator": {"name": "Grace Hopper", "days": 90, "roles": ["operator", "requester", "auditor"]},
        }
    },
    ReviewerRequest: {"subject": {"subject": "sub_00041061050r3gg28a1c60t3gf"}},
}
"""Examples of bodies."""

IDENTITY: tuple[Operation, ...] = (
    Operation(
        method="get",
        path="/v1/caller",
        id="readCaller",
        scope="self.read",
        tag="identity",
        summary="Who the caller is, as the service knows it, and what it may do.",
        description="For a caller that wonders what its credential is good for, and until when.",
        answers={200: Answer("The caller.", {JSON: (KnownCaller,)})},
        problems=(400, 503),
    ),
    Operation(
        method="post",
        path="/v1/keys",
        id="issueApiKey",
        scope="identity.manage",
        tag="identity",
        summary="Issue a key for a new subject.",
        description=(
            "A caller issues no role that it does not hold, no scope that its own key leaves out, and no key of "
            "another tenant. An administrator issues keys of the whole service, and in a tenant the key of a first "
            f"operator while it has none. Recorded (access.changed) before the key works. {_UNREPEATED}"
        ),
        body=KeyRequest,
        answers={201: Answer("The key, shown this once.", {JSON: (IssuedKey,)}, ("Location",))},
        problems=_CHANGES,
    ),
    Operation(
        method="get",
        path="/v1/keys",
        id="listApiKeys",
        scope="identity.read",
        tag="identity",
        summary="List the keys of the caller's tenant; an administrator those of the whole service.",
        description="Expired and revoked keys too, each with its last use. No key itself is kept.",
        parameters=(_OF_SUBJECT, LIMIT, _AFTER_KEY),
        answers={200: Answer("One page of keys.", {JSON: (ApiKeyList,)}, ("Link",))},
        problems=_READS,
    ),
    Operation(
        method="get",
        path="/v1/keys/{key}",
        id="readApiKey",
        scope="identity.read",
        tag="identity",
        summary="Read what the register has of one key.",
        parameters=(_KEY,),
        answers={200: Answer("The key.", {JSON: (ApiKey,)})},
        problems=(*_READS, 404),
    ),
    Operation(
        method="post",
        path="/v1/keys/{key}/rotate",
        id="rotateApiKey",
        scope="identity.manage",
        tag="identity",
        summary="Issue a second key of the same subject with the same rights, and end the first some days later.",
        description=f"A subject has two valid keys at most. {_UNREPEATED}",
        parameters=(_KEY,),
        body=RotationRequest,
        answers={201: Answer("The new key, shown this once, and the old one.", {JSON: (IssuedKey,)}, ("Location",))},
        problems=_CHANGES,
    ),
    Operation(
        method="post",
        path="/v1/keys/{key}/revoke",
        id="revokeApiKey",
        scope="identity.manage",
        tag="identity",
        summary="Revoke a key for ever: every process refuses it within 5 seconds.",
        description=f"To revoke a key again changes and records nothing. {_LAST}",
        parameters=(_KEY,),
        body=RevocationRequest,
        body_required=False,
        answers={200: Answer("The key.", {JSON: (ApiKey,)})},
        problems=_CHANGES,
    ),
    Operation(
        method="get",
        path="/v1/subjects",
        id="listSubjects",
        scope="identity.read",
        tag="identity",
        summary="List the persons and services of the caller's tenant, or find out for whom ids of records stand.",
        description="An administrator sees the subjects that have keys of the whole service.",
        parameters=(_ONLY, LIMIT, _AFTER_SUBJECT),
        answers={200: Answer("One page of subjects.", {JSON: (SubjectList,)}, ("Link",))},
        problems=_READS,
    ),
    Operation(
        method="get",
        path="/v1/subjects/{subject}",
        id="readSubject",
        scope="identity.read",
        tag="identity",
        summary="Find out for whom an opaque id of records stands.",
        description="Records name subjects by opaque ids alone; names and sources stand in this register.",
        parameters=(_SUBJECT,),
        answers={200: Answer("The subject.", {JSON: (Subject,)})},
        problems=(*_READS, 404),
    ),
    Operation(
        method="post",
        path="/v1/subjects/{subject}/revoke",
        id="revokeSubject",
        scope="identity.manage",
        tag="identity",
        summary="Revoke a subject for ever, with every key and token that it has.",
        description=f"To revoke a subject again changes and records nothing. {_LAST}",
        parameters=(_SUBJECT,),
        body=RevocationRequest,
        body_required=False,
        answers={200: Answer("The subject.", {JSON: (Subject,)})},
        problems=_CHANGES,
    ),
    Operation(
        method="post",
        path="/v1/tenants",
        id="createTenant",
        scope="tenant.manage",
        tag="identity",
        summary="Create a tenant, and issue the key of its first operator where one is asked for.",
        description=(
            "The operator then issues the tenant's keys, with roles that it holds itself. Tenant and key are two "
            f"records; where the second fails, POST /v1/keys issues the key. {_UNREPEATED}"
        ),
        body=TenantRequest,
        answers={201: Answer("The tenant, and the key, shown this once.", {JSON: (CreatedTenant,)})},
        problems=(400, 409, 413, 415, 422, 503),
    ),
    Operation(
        method="get",
        path="/v1/tenants",
        id="listTenants",
        scope="tenant.manage",
        tag="identity",
        summary="List the tenants.",
        description="The tenant `gainsay` is that of the service itself: its log has what is done for no other.",
        parameters=(LIMIT, _AFTER_TENANT),
        answers={200: Answer("One page of tenants.", {JSON: (TenantList,)}, ("Link",))},
        problems=_READS,
    ),
    Operation(
        method="get",
        path="/v1/debates/{debate}/reviewers",
        id="listReviewers",
        scope="case.assign",
        tag="identity",
        summary="List the subjects to which a case is assigned.",
        parameters=(DEBATE, LIMIT, _AFTER_SUBJECT),
        answers={200: Answer("One page of reviewers.", {JSON: (ReviewerList,)}, ("Link",))},
        problems=(*_READS, 404),
    ),
    Operation(
        method="post",
        path="/v1/debates/{debate}/reviewers",
        id="assignReviewer",
        scope="case.assign",
        tag="identity",
        summary="Assign a case to a subject, which with the role reviewer then reads it.",
        description="Recorded (access.changed). To assign a case again changes and records nothing.",
        parameters=(DEBATE,),
        body=ReviewerRequest,
        answers={200: Answer("The first page of the case's reviewers.", {JSON: (ReviewerList,)}, ("Link",))},
        problems=_CHANGES,
    ),
    Operation(
        method="post",
        path="/v1/debates/{debate}/reviewers/{subject}/remove",
        id="removeReviewer",
        scope="case.assign",
        tag="identity",
        summary="Take a case back from a subject, which does not reach it any more.",
        description="Recorded (access.changed). To take it back again changes and records nothing.",
        parameters=(DEBATE, _SUBJECT),
        answers={200: Answer("The first page of the case's reviewers.", {JSON: (ReviewerList,)}, ("Link",))},
        problems=(*_READS, 404),
    ),
)
