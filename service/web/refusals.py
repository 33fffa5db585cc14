"""The errors that are HTTP's own: methods, media types, readiness, a token; and the error that nothing foresaw."""

from __future__ import annotations

from service.errors import GainsayError


class Unauthorised(GainsayError):
    """A request to the signer has no token, or a wrong one."""

    code = "unauthorised"
    status = 401
    title = "The signer's token is missing or wrong"


class Misdirected(GainsayError):
    """The request names another host than this machine, and the service knows no identities."""

    code = "misdirected"
    status = 421
    title = "The request is for another host"


class MethodNotAllowed(GainsayError):
    """The path exists but does not accept this method."""

    code = "method_not_allowed"
    status = 405
    title = "The path does not accept this method"


class NotAcceptable(GainsayError):
    """The service has none of the media types that the request accepts."""

    code = "not_acceptable"
    status = 406
    title = "The answer has no acceptable media type"


class UnsupportedMediaType(GainsayError):
    """The Content-Type of the body is not JSON, or the body is packed.

    ``wanted`` is the header that says which is taken (RFC 9110, 15.5.16).
    """

    code = "unsupported_media_type"
    status = 415
    title = "The media type of the body is not supported"

    def __init__(self, detail: str, *, wanted: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.wanted = wanted or {}


class NotReady(GainsayError):
    """The process cannot take work now."""

    code = "not_ready"
    status = 503
    title = "The service is not ready"


class Internal(GainsayError):
    """An unforeseen error."""
