"""A debate lies between two times that an authority stamped. A stamp counts only where its certificate is pinned."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from msgspec.structs import replace

from service.audit.bundle import Bundle, digests, pack
from service.audit.earlier_head import parse_earlier_head
from service.audit.note import parse_note
from service.audit.timestamp_forms import Accuracy
from service.cli import main
from service.cli.audit.verify import verification_lines
from service.verify.steps import Trust, when
from tests.fixtures.bundles import LOG_KEY, PINNED, WITNESSES, Draft, moved, step, uncheckable, verify
from tests.fixtures.stamped_bundles import stamped
from tests.fixtures.stamping import AUTHORITY, RSA_KEY, a_certificate, a_token

Drafts = Mapping[str, Draft]
NAME = "authority CN=stamps.example"
CERTIFICATE = x509.load_pem_x509_certificate(AUTHORITY.encode()).fingerprint(SHA256())
STAMPS = Trust(keys=(LOG_KEY.public,), authorities=(CERTIFICATE,), allow_unwitnessed=True)
BOTH = replace(PINNED, authorities=(CERTIFICATE,))
DAY = 86_400
FIRST_TOKEN, BEFORE_TOKEN = "times/stamped-first.tst", "times/stamped-before.tst"


def changed(bundle: Bundle, **files: bytes | None) -> Bundle:
    """The bundle with other files under times/, none for ``None``, and a manifest that names them."""
    own = {f"times/stamped-{name.replace('_', '.')}": body for name, body in files.items()}
    found = {path: body for path, body in {**bundle.files, **own}.items() if body is not None}
    return Bundle(found, replace(bundle.manifest, files=digests(found)))


def test_a_pinned_authority_bounds_a_debate_without_any_witness(drafts: Drafts) -> None:
    draft = drafts["plain"]
    began, ended = draft.seconds

    report = verify(stamped(draft), STAMPS)

    assert report.code == 0, report.steps
    assert report.about["recorded"] == {
        "after": {"time": when(began - 1), "signer": NAME},
        "until": {"time": when(ended + 2), "signer": NAME},
    }
    assert step(report, "times").detail.startswith(f"recorded between {when(began - 1)} ({NAME}) and")
    assert "as authorities signed" in list(verification_lines(report))[1]


@pytest.mark.parametrize(("seconds", "state"), [(-200 * DAY, "FAILED"), (9.0, "FAILED"), (-5.5, "OK"), (6.5, "OK")])
def test_a_debate_that_is_dated_outside_of_its_stamps_fails(drafts: Drafts, seconds: float, state: str) -> None:
    draft = drafts["plain"]

    found = step(verify(stamped(moved(draft, seconds), seconds=draft.seconds), STAMPS), "times")

    assert found.state == state, found


def test_the_time_of_a_stamp_is_as_far_off_as_its_authority_says(drafts: Drafts) -> None:
    began, ended = drafts["plain"].seconds
    accuracy = Accuracy(seconds=30, millis=None, micros=None)

    report = verify(stamped(drafts["plain"], accuracy=accuracy), STAMPS)

    assert [end["time"] for end in report.about["recorded"].values()] == [when(began - 31), when(ended + 32)]


def test_witnesses_and_authority_together_say_the_narrowest(drafts: Drafts) -> None:
    began, ended = drafts["plain"].seconds

    wide = verify(stamped(drafts["plain"], before=-60, first=90, witnessed=True), BOTH)
    narrow = verify(stamped(drafts["plain"], before=0, first=0, witnessed=True), BOTH)

    ends = [list(report.about["recorded"].values()) for report in (wide, narrow)]
    witness = WITNESSES[0].public.name
    assert (wide.code, narrow.code) == (0, 0)
    assert ends[0] == [{"time": when(began - 1), "signer": witness}, {"time": when(ended + 2), "signer": witness}]
    assert ends[1] == [{"time": when(began), "signer": NAME}, {"time": when(ended), "signer": NAME}]


def test_a_stamp_of_an_authority_that_is_not_pinned_says_nothing_and_is_listed(drafts: Drafts) -> None:
    bundle = stamped(drafts["plain"], witnessed=True)

    report = verify(bundle, PINNED)
    accepted = verify(bundle, replace(PINNED, allow_unchecked_lines=True))

    assert uncheckable(report) == ["lines"]
    assert f"'CN=stamps.example' ({CERTIFICATE.hex()[:8]}) in {FIRST_TOKEN}" in step(report, "lines").detail
    assert [end["signer"] for end in accepted.about["recorded"].values()] == [WITNESSES[0].public.name] * 2
    assert accepted.code == 0


def test_a_pinned_authority_that_stamped_nothing_leaves_a_gap(drafts: Drafts) -> None:
    draft = drafts["plain"]

    none = verify(draft.bundle(), BOTH)
    stripped = verify(stamped(draft, first=None, witnessed=True), BOTH)
    loose = verify(draft.bundle(), replace(BOTH, allow_loose_times=True))

    for report in (none, stripped):
        assert uncheckable(report) == ["times"]
        assert "no pinned authority stamped a head with all of the debate" in step(report, "times").detail
    assert loose.code == 0


@pytest.mark.parametrize(("late", "state"), [(3_600, "OK"), (3_601, "NOT CHECKABLE")])
def test_a_stamp_that_comes_late_dates_loosely(drafts: Drafts, late: int, state: str) -> None:
    assert step(verify(stamped(drafts["plain"], first=late), STAMPS), "times").state == state


def test_another_certificate_of_the_same_name_is_another_authority(drafts: Drafts) -> None:
    bundle = stamped(drafts["plain"])
    head = bundle.files["times/stamped-first.txt"]
    text = parse_note(parse_earlier_head(head).checkpoint).text
    forged = a_token(text, drafts["plain"].seconds[0], key=RSA_KEY, certificate=a_certificate(key=RSA_KEY))

    report = verify(changed(bundle, first_tst=forged), STAMPS)

    assert report.code == 4
    assert uncheckable(report) == ["witnesses", "lines", "times"]


DAMAGED: dict[str, dict[str, bytes | str | None]] = {
    "no token": {"first_tst": None},
    "no head": {"first_txt": None},
    "words for a token": {"first_tst": b"Stamped in May, says the board."},
    "a byte more": {"before_tst": "longer"},
    "a bit of the token": {"before_tst": "flipped"},
    "the token of the other head": {"before_tst": "other"},
}


@pytest.mark.parametrize("trust", [STAMPS, PINNED], ids=["pinned", "not pinned"])
@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_stamp_fails_whoever_is_pinned(drafts: Drafts, what: str, trust: Trust) -> None:
    bundle = stamped(drafts["plain"], witnessed=True)
    token = bundle.files[BEFORE_TOKEN]
    made = {
        "longer": token + b"\0",
        "flipped": token[:400] + bytes([token[400] ^ 1]) + token[401:],
        "other": bundle.files[FIRST_TOKEN],
    }
    files = {name: made[body] if isinstance(body, str) else body for name, body in DAMAGED[what].items()}

    report = verify(changed(bundle, **files), trust)

    assert report.code == 1
    assert {one.name for one in report.failed} <= {"lines", "times"}


def test_heads_in_each_others_place_fail(drafts: Drafts) -> None:
    bundle = stamped(drafts["plain"])
    others = {
        "before_txt": "first.txt",
        "first_txt": "before.txt",
        "before_tst": "first.tst",
        "first_tst": "before.tst",
    }
    swapped = {name: bundle.files[f"times/stamped-{other}"] for name, other in others.items()}

    report = verify(changed(bundle, **swapped), STAMPS)

    assert [one.name for one in report.failed] == ["times"]


# At a terminal.


def run(capsys: pytest.CaptureFixture[str], bundle: Bundle, tmp_path: Path, *options: object) -> tuple[int, str]:
    file = tmp_path / "bundle.zip"
    file.write_bytes(pack(bundle))
    words = ("audit", "verify", file, "--key", LOG_KEY.public.encode(), "--allow-unwitnessed", *options)
    code = main([*map(str, words)])
    return code, "".join(capsys.readouterr())


def test_the_certificate_of_an_authority_is_given_as_a_file(
    drafts: Drafts, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pem, bundle, out = tmp_path / "stamps.pem", stamped(drafts["plain"]), tmp_path / "certificate.json"
    pem.write_text(AUTHORITY, "utf-8-sig")  # with the mark that some editors begin a file with

    code, said = run(capsys, bundle, tmp_path, "--tsa", pem, "--out", out)

    assert code in (0, 1), said  # the steps behind `times` are not of this test
    assert f"({NAME})" in said
    assert CERTIFICATE.hex() in out.read_text()


def test_a_file_that_is_no_certificate_of_an_authority_is_refused(
    drafts: Drafts, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {
        "missing.pem": None,
        "der.pem": x509.load_pem_x509_certificate(AUTHORITY.encode()).public_bytes(Encoding.DER),
        "words.pem": b"the authority, says the board",
        "purpose.pem": a_certificate(()).encode(),
        "chain.pem": (AUTHORITY + AUTHORITY).encode(),
    }
    for name, content in wrong.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
        code, said = run(capsys, stamped(drafts["plain"]), tmp_path, "--tsa", tmp_path / name)
        assert code == 2, (name, said)
        assert "--tsa" in said
        assert "Traceback" not in said
