"""Only a true cosignature of the pinned key is taken from a witness, and each refusal says what to do next."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.audit.checkpoint import BadCheckpoint, cosign, verify_cosignature
from service.audit.note import COSIGNATURE, BadNote, SigningKey, parse_note, parse_signature_line
from service.policy import Witness
from service.proving.signing.checkpoint_files import CheckpointFiles
from service.proving.signing.countersigner import Countersigner
from service.proving.signing.witnesses import WitnessConflict, Witnesses, WitnessRefused, WitnessUnavailable
from service.web.server import serving
from service.web.signer_api import make_witness_api
from tests.fixtures.vouching import FORK, LOG, NEXT, STRANGER, TREE, WITNESS, answering, http

KEY = WITNESS.public.encode()
NAMESAKE = SigningKey.from_seed(WITNESS.public.name, bytes(32), COSIGNATURE)
LINE = cosign(TREE.checkpoint(12), 1_790_000_000, WITNESS)


@pytest.fixture
async def witness(tmp_path: Path) -> AsyncIterator[Witness]:
    """A real one that holds 12 leaves."""
    heads = CheckpointFiles(tmp_path, "witnessed")
    found = Countersigner([WITNESS], [LOG.public], heads)
    await found.add(TREE.submission(0, 12))
    async with serving(make_witness_api(found)) as address:
        yield Witness(address, KEY)
    heads.close()


@pytest.fixture
async def witnesses() -> AsyncIterator[Witnesses]:
    found = Witnesses(call_s=2.0)
    yield found
    await found.close()


async def test_the_line_of_a_witness_is_its_cosignature_over_the_head(witness: Witness, witnesses: Witnesses) -> None:
    line = await witnesses.submit(witness, 12, TREE.path(12, 30), TREE.note(30))

    assert line.startswith("— witness.example ")
    assert verify_cosignature(TREE.checkpoint(30), parse_signature_line(line), WITNESS.public) > 1_700_000_000


@pytest.mark.parametrize(("old", "new"), [(5, 30), (0, 30), (5, 11), (13, 30)])
async def test_a_witness_that_holds_another_size_says_which(
    witness: Witness, witnesses: Witnesses, old: int, new: int
) -> None:
    with pytest.raises(WitnessConflict) as error:
        await witnesses.submit(witness, old, TREE.path(old, new), TREE.note(new))

    assert error.value.size == 12


@pytest.mark.parametrize(
    ("old", "path", "note", "status", "told"),
    [
        (12, (), FORK.note(12), 409, "a split view"),
        (12, FORK.path(12, 30), FORK.note(30), 422, "rewritten"),
        (12, (), TREE.note(30), 422, "is wrong"),
        (12, TREE.path(12, 30), TREE.note(30, NEXT), 403, "another key"),
        (0, (), TREE.note(3, STRANGER).replace(b"host.example/", b"else.example/"), 404, "does not know this log"),
        (31, (), TREE.note(30), 400, "rejects the submission"),
    ],
)
async def test_a_witness_that_will_not_have_a_head_is_not_asked_again(
    witness: Witness, witnesses: Witnesses, old: int, path: tuple[bytes, ...], note: bytes, status: int, told: str
) -> None:
    with pytest.raises(WitnessRefused, match=told) as error:
        await witnesses.submit(witness, old, path, note)

    assert error.value.answered == status


async def test_a_witness_whose_key_is_not_the_pinned_one_is_not_believed(
    witness: Witness, witnesses: Witnesses
) -> None:
    for key in (NAMESAKE, SigningKey.from_seed("other.example", bytes(32), COSIGNATURE)):
        with pytest.raises(WitnessUnavailable, match="pinned"):
            await witnesses.submit(Witness(witness.url, key.public.encode()), 12, (), TREE.note(12))


USELESS = {
    "a fault": http("500 Oops"),
    "too busy": http("429 Too Many Requests"),
    "not now": http("503 Service Unavailable"),
    "a redirect": http("307 Temporary Redirect", Location="http://127.0.0.1:1/add-checkpoint"),
    "accepted for later": http("202 Accepted", LINE),
    "no lines": http("200 OK"),
    "a page": http("200 OK", "<html>\n"),
    "a line without its end": http("200 OK", LINE[:-1]),
    "an empty line too much": http("200 OK", LINE + "\n"),
    "a line and a page": http("200 OK", LINE + "<html>\n"),
    "other bytes": http("200 OK", b"\xff\xfe\n"),
    "a cosignature of another head": http("200 OK", cosign(TREE.checkpoint(11), 1_790_000_000, WITNESS)),
    "a cosignature of another key": http("200 OK", cosign(TREE.checkpoint(12), 1_790_000_000, NAMESAKE)),
    "the log's own signature": http("200 OK", parse_note(TREE.note(12)).signatures[0].line()),
    "too much": http("200 OK", LINE * 1_000),
    "packed": http("200 OK", LINE, Content_Encoding="br"),
    "half an answer": http("200 OK", LINE)[:-9],
    "not HTTP": b"SSH-2.0-OpenSSH_9.2\r\n",
    "nothing": b"",
    "a size that is none": http("409 Conflict", "twelve\n", Content_Type="text/x.tlog.size"),
    "a size with a zero before it": http("409 Conflict", "012\n", Content_Type="text/x.tlog.size"),
    "a size without its end": http("409 Conflict", "12", Content_Type="text/x.tlog.size"),
    "a size below nothing": http("409 Conflict", "-1\n", Content_Type="text/x.tlog.size"),
    "a size beyond counting": http("409 Conflict", "9223372036854775808\n", Content_Type="text/x.tlog.size"),
}


@pytest.mark.parametrize("answer", USELESS.values(), ids=list(USELESS))
async def test_what_is_no_answer_of_a_witness_is_asked_for_again(witnesses: Witnesses, answer: bytes) -> None:
    async with answering(answer) as address:
        with pytest.raises(WitnessUnavailable) as error:
            await witnesses.submit(Witness(address, KEY), 0, (), TREE.note(12))

    assert "witness.example" in error.value.detail


async def test_lines_of_keys_that_are_not_pinned_are_passed_over(witnesses: Witnesses) -> None:
    others = cosign(TREE.checkpoint(12), 1, NAMESAKE) + parse_note(TREE.note(12)).signatures[0].line()

    async with answering(http("200 OK", others + LINE)) as address:
        assert await witnesses.submit(Witness(address, KEY), 0, (), TREE.note(12)) == LINE


async def test_a_conflict_at_the_size_that_was_said_is_a_split_view(witnesses: Witnesses) -> None:
    async with answering(http("409 Conflict", "12\n", Content_Type="text/x.tlog.size")) as address:
        with pytest.raises(WitnessRefused, match="split view"):
            await witnesses.submit(Witness(address, KEY), 12, (), TREE.note(12))


async def test_a_witness_is_not_waited_for_without_end() -> None:
    hasty = Witnesses(call_s=0.3)
    async with answering(http("200 OK", LINE), pause_s=0.05) as address:
        with pytest.raises(WitnessUnavailable, match=r"within 0\.3 seconds"):
            await hasty.submit(Witness(address, KEY), 0, (), TREE.note(12))
    await hasty.close()


async def test_a_witness_that_is_not_there_is_told_so(witnesses: Witnesses) -> None:
    async with answering(b"") as address:
        pass

    with pytest.raises(WitnessUnavailable, match="no connection"):
        await witnesses.submit(Witness(address, KEY), 0, (), TREE.note(12))


async def test_no_proxy_of_the_environment_comes_between(witness: Witness, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    plain = Witnesses()

    assert await plain.submit(witness, 12, (), TREE.note(12))

    await plain.close()


async def test_what_is_no_checkpoint_is_not_submitted(witnesses: Witnesses) -> None:
    for note in (b"", TREE.checkpoint(12).body().encode(), TREE.note(12).replace(b"\n12\n", b"\n012\n")):
        with pytest.raises((BadNote, BadCheckpoint)):
            await witnesses.submit(Witness("http://127.0.0.1:1", KEY), 0, (), note)
