"""The endpoints of a witness (C2SP tlog-witness) and of a signer process (`service.proving.signing.remote`)."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from litestar import Response, get, post
from litestar.datastructures import State

from service import log_lines
from service.audit.note import parse_note
from service.audit.witness import KnownCheckpoint
from service.errors import BadRequest, NotFound
from service.policy.mounted_secrets import TOKEN, reveal_text
from service.proving.signing import CheckpointRefused, Signer
from service.proving.signing.countersigner import TEXT, Countersigner
from service.proving.signing.remote import HEAD_TYPE, SIGN_TYPE, bearer, head_text, parse_sign
from service.web import problem_pages, problems
from service.web.allowed_methods import with_options
from service.web.app_state import HttpRequest
from service.web.application import Application
from service.web.body import read_bytes
from service.web.metrics_door import MetricsDoor
from service.web.middleware import Middleware
from service.web.probe_server import PROBES
from service.web.refusals import Unauthorised, UnsupportedMediaType

BODY_MAX = 1 << 16
"""Three times the size of 63 hashes and a note with some twenty signatures."""


class Probed(NamedTuple):
    """How a signer or witness is watched: its ``troubles``, and the token of its metrics, if there is one."""

    troubles: Callable[[], Sequence[str]] = tuple
    metrics_token: str | None = None


def make_witness_api(witness: Countersigner, probed: Probed = Probed()) -> Middleware:  # noqa: B008 - a tuple
    """The application of a witness."""
    return Middleware(_application((add_checkpoint, latest), {"witness": witness}, probed))


def make_signer_api(signer: Signer, token: str | None, probed: Probed = Probed()) -> Middleware:  # noqa: B008 - a tuple
    """The application of a signer; without a token every client that reaches it may use it.

    ``token`` is the token, or ``file:PATH`` with it, which is read at each request.
    """
    return Middleware(_application((keys, last, sign), {"signer": signer, "token": token}, probed), quiet=True)


@post("/add-checkpoint", status_code=200)
async def add_checkpoint(request: HttpRequest) -> Response[str]:
    """Countersign a head that is consistent with the last one of its log."""
    witness: Countersigner = request.app.state.witness
    answer = await witness.add(await read_bytes(request, BODY_MAX))
    return _answer(answer.body, answer.status, answer.media_type)


@get("/{origin_hash:str}/checkpoint")
async def latest(request: HttpRequest) -> Response[str]:
    """The last cosigned head of a log, to compare with; the path has the SHA-256 of the log's origin, hex."""
    witness: Countersigner = request.app.state.witness
    note = await witness.latest(str(request.path_params["origin_hash"]))
    if note is None:
        raise NotFound(
            "this witness has cosigned no head of that log; expected the SHA-256 of the log's origin in the path, hex"
        )
    return _answer(note.decode())


@get("/keys")
async def keys(request: HttpRequest) -> Response[str]:
    """The verifier keys, one a line; the first is for new logs."""
    signer = _signer(request)
    return _answer("".join(f"{key.encode()}\n" for key in await signer.keys()))


@get("/last")
async def last(request: HttpRequest) -> Response[str]:
    """The last checkpoint of a log."""
    signer = _signer(request)
    origins = request.query_params.getall("origin", [])
    if len(origins) != 1:
        raise BadRequest("expected the log's origin as ?origin=…, once")
    return _head(origins[0], await signer.last(origins[0]), status=200, none=204)


@post("/sign", status_code=200)
async def sign(request: HttpRequest) -> Response[str]:
    """Sign a head that is consistent with the last one of its log."""
    signer = _signer(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != SIGN_TYPE:
        raise UnsupportedMediaType(f"expected the header Content-Type: {SIGN_TYPE}, found another")
    checkpoint, key, path = parse_sign(await read_bytes(request, BODY_MAX))
    if key not in await signer.keys():
        return _answer("the signer does not have this key\n", 404)
    try:
        note = await signer.sign(checkpoint, key, path)
    except CheckpointRefused as error:
        log_lines.HEAD_REFUSED(origin=checkpoint.origin, reason=error.detail)
        return _head(checkpoint.origin, error.last, status=409, none=409)
    return _answer(parse_note(note).signatures[0].line())


def _application(handlers: tuple[Any, ...], state: dict[str, Any], probed: Probed) -> Application:
    async def troubles() -> Sequence[str]:
        return await asyncio.to_thread(probed.troubles)

    return Application(
        route_handlers=with_options([*handlers, *problem_pages.HANDLERS, *PROBES]),
        guards=[MetricsDoor(probed.metrics_token).admit],
        exception_handlers={Exception: problems.answer},
        state=State({**state, "troubles": troubles}),
        openapi_config=None,
        logging_config=None,
        request_max_body_size=None,
    )


def _signer(request: HttpRequest) -> Signer:
    """The signer, if the request has its token; raises `Unauthorised`."""
    token: str | None = request.app.state.token
    given = bearer(request.headers) or ""
    if token is not None and not hmac.compare_digest(given.encode(), reveal_text(token, form=TOKEN).encode()):
        raise Unauthorised("expected the signer's token as Authorization: Bearer …, found none or another")
    signer: Signer = request.app.state.signer
    return signer


def _head(origin: str, head: KnownCheckpoint | None, *, status: int, none: int) -> Response[str]:
    return _answer(head_text(origin, head), status, HEAD_TYPE) if head else _answer("", none, HEAD_TYPE)


def _answer(text: str, status: int = 200, media_type: str = TEXT) -> Response[str]:
    """The media type is set as a header: the framework would add a charset, and clients compare C2SP's types whole."""
    typed = {} if status == 204 else {"content-type": media_type}
    return Response(content=text, status_code=status, headers={"cache-control": "no-store", **typed})
