"""No key is in anything that is raised, whatever the server repeats and however the connection ends."""

import logging
import pickle
import traceback
from collections.abc import Callable

import pytest

from tests.end_to_end.vendors.answering import (
    JSON,
    KEY,
    OPENAI,
    OTHER_KEY,
    PLANTED,
    completion,
    connect,
    connected,
    failure,
    http,
    serving,
)


def everything(error: BaseException) -> str:
    """Every way in which an error is shown, with the variables of all frames below the caller's."""
    outer = error.__traceback__
    below = error.with_traceback(outer.tb_next if outer else None)
    shown = traceback.TracebackException.from_exception(below, capture_locals=True)
    return "\n".join([repr(error), str(error), repr(error.args), repr(vars(error)), *shown.format()])


def echoing(status: int, place: str) -> Callable[[JSON], bytes]:
    """A server that repeats what it was given."""

    def answer(asked: JSON) -> bytes:
        sent = " ".join(asked["headers"].values())
        error = {"type": KEY, "code": KEY, "param": OTHER_KEY, "message": sent}
        bodies: dict[str, bytes | JSON] = {
            "error": {"error": error},
            "answer": completion(sent),
            "usage": {**completion(), "usage": {"prompt_tokens": 1, "completion_tokens": 1, "note": KEY}},
            "model": {**completion(), "model": KEY, "id": OTHER_KEY},
            "page": sent.encode(),
        }
        return http(status, bodies[place], x_request_id=KEY, request_id=OTHER_KEY)

    return answer


@pytest.mark.parametrize("status", [200, 400, 401, 404, 413, 429, 500, 503, 529])
@pytest.mark.parametrize("place", ["error", "answer", "usage", "model", "page"])
async def test_a_server_that_repeats_keys_gets_none_into_what_is_raised(
    status: int, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving(echoing(status, place)) as server, connected(OPENAI, server.port) as made:
        failed = await failure(made)

        shown = [everything(failed), repr(failed.answer), repr(made), caplog.text]
    assert len(server.asked) == 1
    assert not [planted for planted in PLANTED for text_ in shown if planted in text_]


async def test_no_failure_of_the_connection_shows_a_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    answers: tuple[bytes | None, ...] = (None, b"HTTP/1.1 200 OK\r\n", b"\x00 garbage\r\n\r\n", http(200, b"<html>"))
    for answer in answers:
        async with serving(lambda _, a=answer: a) as server, connected(OPENAI, server.port, call_timeout_s=1) as made:  # type: ignore[misc]
            failed = await failure(made)
        assert failed.__cause__ is None
        assert failed.__context__ is None
        assert not [planted for planted in PLANTED if planted in everything(failed) + caplog.text]
    async with connected(OPENAI, 1) as made:
        assert not [planted for planted in PLANTED if planted in everything(await failure(made))]


def test_a_provider_takes_its_keys_nowhere() -> None:
    with pytest.raises(TypeError) as refused:
        pickle.dumps(connect(OPENAI, 1)._credentials)

    assert not [planted for planted in PLANTED if planted in everything(refused.value)]
