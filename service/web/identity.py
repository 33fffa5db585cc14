"""The endpoints of who belongs to the service: keys, subjects, tenants, the reviewers of a case, and the caller itself.

A key itself is in the one answer to the request that issued it. What is decided here is whose registers are meant:
`service.identity.issuing` decides who may change them, and records it before the change holds.
"""

from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus

from litestar import Response, get, post

from service.errors import BadRequest
from service.identity.caller import Caller
from service.identity.ids import Prefix, is_id
from service.identity.issuing import Issuing
from service.identity.issuing_rules import IdentityConflict, InvalidIdentity, WantedKey, belongs_to_the_service
from service.identity.management import Management
from service.identity.tenants import check_tenant
from service.reviews.query_parameters import PAGE, VALUES_MAX, page_size
from service.web import body
from service.web.app_state import HttpRequest, app_state
from service.web.callers import caller
from service.web.debates import SMALL_BODY, answered, known_query, linked
from service.web.identity_types import (
    ApiKey,
    ApiKeyList,
    CreatedTenant,
    IssuedKey,
    KeyRequest,
    KnownCaller,
    Reviewer,
    ReviewerList,
    ReviewerRequest,
    RevocationRequest,
    RotationRequest,
    Subject,
    SubjectList,
    Tenant,
    TenantList,
    TenantRequest,
    next_of,
)

UNKEPT = {"Cache-Control": "no-store"}
"""For answers with a key, and for those that name persons: no cache keeps them."""


@get("/v1/caller")
async def who_am_i(request: HttpRequest) -> Response[bytes]:
    """Who the caller is."""
    known_query(request, ())
    found, management = caller(request), app_state(request).management
    expires = None if found.until is None else datetime.fromtimestamp(found.until, UTC)
    if found.credential and management is not None:
        expires = await management.issuing.end_of_own(found)
    return answered(KnownCaller.of(found, expires), headers=UNKEPT)


@post("/v1/keys")
async def issue(request: HttpRequest) -> Response[bytes]:
    """A key for a new subject."""
    known_query(request, ())
    asked, found = await body.read(request, KeyRequest, SMALL_BODY), caller(request)
    issuing = _issuing_keys(request)
    wanted = WantedKey(
        tenant=_own(found) if asked.tenant is None else asked.tenant,
        roles=asked.roles,
        name=asked.name,
        days=asked.days,
        kind=asked.kind,
        scopes=asked.scopes,
    )
    return _issued(IssuedKey.of(await issuing.issue(found, wanted)))


@get("/v1/keys")
async def keys(request: HttpRequest) -> Response[bytes]:
    """The keys of the caller's tenant, or of the whole service."""
    known_query(request, ("subject", "after", "limit"))
    found, (after, limit) = caller(request), page_of(request, "key_")
    subject = _id("subject", request.query_params.get("subject"), "sub_")
    rows = await _managed(request).issuing.list_keys(found, _own(found), after, subject=subject, limit=limit + 1)
    following = next_of([row.id for row in rows], limit)
    shown = ApiKeyList(keys=tuple(ApiKey.of(row) for row in rows[:limit]), next=following)
    return answered(shown, headers=UNKEPT | linked("/v1/keys", asked_again(request), following))


@get("/v1/keys/{key:str}")
async def key(request: HttpRequest) -> Response[bytes]:
    """One key."""
    known_query(request, ())
    found = caller(request)
    row = await _managed(request).issuing.show_key(found, _own(found), named_part(request, "key"))
    return answered(ApiKey.of(row), headers=UNKEPT)


@post("/v1/keys/{key:str}/rotate")
async def rotate(request: HttpRequest) -> Response[bytes]:
    """A second key of a subject, with the rights of the first."""
    known_query(request, ())
    asked, found = await body.read(request, RotationRequest, SMALL_BODY), caller(request)
    issuing = _issuing_keys(request)
    issued = await issuing.rotate(
        found, _own(found), named_part(request, "key"), days=asked.days, keep_days=asked.keep_days
    )
    return _issued(IssuedKey.of(issued))


@post("/v1/keys/{key:str}/revoke")
async def revoke(request: HttpRequest) -> Response[bytes]:
    """Revoke a key for ever."""
    known_query(request, ())
    asked = await body.read_optional(request, RevocationRequest, SMALL_BODY) or RevocationRequest()
    issuing, found = _managed(request).issuing, caller(request)
    row = await issuing.revoke_key(found, _own(found), named_part(request, "key"), last=asked.last_operator)
    return answered(ApiKey.of(row), headers=UNKEPT)


@get("/v1/subjects")
async def subjects(request: HttpRequest) -> Response[bytes]:
    """The subjects of the caller's tenant."""
    known_query(request, ("subject", "after", "limit"), several=("subject",))
    found, (after, limit) = caller(request), page_of(request, "sub_")
    only = [_id("subject", given, "sub_") or "" for given in request.query_params.getall("subject", [])]
    if len(only) > VALUES_MAX:
        raise BadRequest(f"subject may be given {VALUES_MAX} times, found {len(only)}; ask for the others apart")
    issuing = _managed(request).issuing
    rows = await issuing.list_subjects(found, found.tenant, after, only=only, limit=limit + 1)
    following = next_of([row.id for row in rows], limit)
    shown = SubjectList(subjects=tuple(Subject.of(row) for row in rows[:limit]), next=following)
    return answered(shown, headers=UNKEPT | linked("/v1/subjects", asked_again(request), following))


@get("/v1/subjects/{subject:str}")
async def subject(request: HttpRequest) -> Response[bytes]:
    """What an opaque id of records stands for."""
    known_query(request, ())
    found = caller(request)
    row = await _managed(request).issuing.show_subject(found, found.tenant, named_part(request, "subject"))
    return answered(Subject.of(row), headers=UNKEPT)


@post("/v1/subjects/{subject:str}/revoke")
async def revoke_subject(request: HttpRequest) -> Response[bytes]:
    """Revoke a subject for ever, with every credential that it has."""
    known_query(request, ())
    asked = await body.read_optional(request, RevocationRequest, SMALL_BODY) or RevocationRequest()
    issuing, found = _managed(request).issuing, caller(request)
    row = await issuing.revoke_subject(found, found.tenant, named_part(request, "subject"), last=asked.last_operator)
    return answered(Subject.of(row), headers=UNKEPT)


@post("/v1/tenants")
async def create_tenant(request: HttpRequest) -> Response[bytes]:
    """A new tenant, and the key of its first operator."""
    known_query(request, ())
    asked, found = await body.read(request, TenantRequest, SMALL_BODY), caller(request)
    _refuse_replays(request)
    operator = asked.first_operator
    issuing = _managed(request).issuing if operator is None else _issuing_keys(request)
    if operator is None:
        await issuing.create_tenant(found, asked.name)
        return answered(CreatedTenant(name=asked.name), HTTPStatus.CREATED, UNKEPT)
    wanted = WantedKey(asked.name, operator.roles, operator.name, operator.days, operator.kind)
    if "operator" not in operator.roles:
        raise InvalidIdentity(
            "expected operator among the roles of the first operator, found others alone",
            pointers=("/firstOperator/roles",),
        )
    issuing.check(wanted, "/firstOperator")
    await issuing.create_tenant(found, asked.name)
    issued = IssuedKey.of(await issuing.issue(found, wanted))
    return answered(CreatedTenant(name=asked.name, first_operator=issued), HTTPStatus.CREATED, UNKEPT)


@get("/v1/tenants")
async def tenants(request: HttpRequest) -> Response[bytes]:
    """Every tenant."""
    known_query(request, ("after", "limit"))
    limit = page_size(request.query_params.get("limit")) or PAGE
    after = request.query_params.get("after")
    if after is not None:
        check_tenant(after)
    rows = await _managed(request).issuing.list_tenants(caller(request), after or "", limit + 1)
    following = next_of([row.name for row in rows], limit)
    shown = TenantList(tenants=tuple(Tenant.of(row) for row in rows[:limit]), next=following)
    return answered(shown, headers=UNKEPT | linked("/v1/tenants", asked_again(request), following))


@get("/v1/debates/{debate:str}/reviewers")
async def reviewers(request: HttpRequest) -> Response[bytes]:
    """The subjects to which a case is assigned."""
    known_query(request, ("after", "limit"))
    return await _reviewers(request)


@post("/v1/debates/{debate:str}/reviewers")
async def assign(request: HttpRequest) -> Response[bytes]:
    """Assign a case to a subject, which then reads it."""
    known_query(request, ())
    asked = await body.read(request, ReviewerRequest, SMALL_BODY)
    await _managed(request).assigning.assign(caller(request), named_part(request, "debate"), asked.subject)
    return await _reviewers(request)


@post("/v1/debates/{debate:str}/reviewers/{subject:str}/remove")
async def remove(request: HttpRequest) -> Response[bytes]:
    """Take a case back from a subject."""
    known_query(request, ())
    assigning = _managed(request).assigning
    await assigning.remove(caller(request), named_part(request, "debate"), named_part(request, "subject"))
    return await _reviewers(request)


async def _reviewers(request: HttpRequest) -> Response[bytes]:
    debate, (after, limit) = named_part(request, "debate"), page_of(request, "sub_")
    rows = await _managed(request).assigning.reviewers(caller(request), debate, after, limit + 1)
    following = next_of([row.subject for row in rows], limit)
    shown = ReviewerList(reviewers=tuple(Reviewer.of(row) for row in rows[:limit]), next=following)
    path = f"/v1/debates/{debate}/reviewers"
    return answered(shown, headers=UNKEPT | linked(path, asked_again(request), following))


def _managed(request: HttpRequest) -> Management:
    """What manages the registers; raises `IdentityConflict` in a service without identities.

    There each program on this machine is a caller. It must issue no key that is let in once identities are configured.
    """
    found = app_state(request).management
    if found is None:
        raise IdentityConflict(
            "this service has no identities, so it manages none over HTTP; issue a first key on its machine "
            "(`gainsay keys create`), name a file with [keys] in GAINSAY_IDENTITY, and start the service again"
        )
    return found


def _issuing_keys(request: HttpRequest) -> Issuing:
    """What issues keys; raises `IdentityConflict` where a key would let its holder in nowhere."""
    found = _managed(request)
    _refuse_replays(request)
    if not found.accepts_keys:
        raise IdentityConflict(
            "this service accepts no API keys, so none is issued; add [keys] to the file of GAINSAY_IDENTITY"
        )
    return found.issuing


def _refuse_replays(request: HttpRequest) -> None:
    """A key is shown once, so an answer with one cannot be given again."""
    if "idempotency-key" in request.headers:
        raise BadRequest(
            "expected no Idempotency-Key, because a key is shown once and cannot be answered again; leave it out, and "
            "where an answer was lost, revoke the key that it had (GET /v1/keys lists it) and issue another"
        )


def _own(found: Caller) -> str | None:
    """The tenant whose keys are the caller's to see; ``None`` for those of the whole service."""
    return None if belongs_to_the_service(found) else found.tenant


def named_part(request: HttpRequest, part: str) -> str:
    """A part of the path by its name."""
    return str(request.path_params[part])


def page_of(request: HttpRequest, prefix: Prefix) -> tuple[str, int]:
    """After which id a page begins, and how many items it has at most; raises `BadRequest`."""
    limit = page_size(request.query_params.get("limit")) or PAGE
    return _id("after", request.query_params.get("after"), prefix) or "", limit


def _id(name: str, given: str | None, prefix: Prefix) -> str | None:
    """A parameter that is an id. Another text is not shown: it may be a key itself; raises `BadRequest`."""
    if given is not None and not is_id(given, prefix):
        raise BadRequest(f"{name} must be an id as answers have it ({prefix}...), found another text")
    return given


def asked_again(request: HttpRequest) -> list[tuple[str, str]]:
    """The parameters that stay the same on the next page."""
    return [(name, value) for name, value in request.query_params.multi_items() if name != "after"]


def _issued(shown: IssuedKey) -> Response[bytes]:
    return answered(shown, HTTPStatus.CREATED, UNKEPT | {"Location": shown.issued.href})


HANDLERS = (
    who_am_i,
    issue,
    keys,
    key,
    rotate,
    revoke,
    subjects,
    subject,
    revoke_subject,
    create_tenant,
    tenants,
    reviewers,
    assign,
    remove,
)
