"""Why a chat request is refused, or has no answer."""

from __future__ import annotations

from service.errors import GainsayError


class ModelNotFound(GainsayError):
    """The model of a chat request is no format of this service."""

    code = "model_not_found"
    status = 404
    title = "There is no such model"


class UnsupportedParameter(GainsayError):
    """A chat request asks for something that a debate does not give."""

    code = "unsupported_parameter"
    status = 400
    title = "The parameter is not supported"


class StakeMissing(GainsayError):
    """Neither a chat request nor policy says what kind of case it is and what a wrong answer may cost."""

    code = "stake_missing"
    status = 400
    title = "The case has no task type or no downside"


class NoAnswer(GainsayError):
    """The debate of a chat request failed or was aborted. It is no answer, and the same request gives no other one."""

    code = "no_answer"
    status = 502
    title = "The debate ended without an answer"
