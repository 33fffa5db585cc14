"""Whatever is done to a bundle's bytes: it fails, or it holds the same; and nothing ends in a stack trace."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.audit.bundle import Bundle, pack
from service.verify.bundle import verify_bundle
from service.verify.steps import VerificationReport
from tests.fixtures.bundles import PINNED, TOOLS, Draft, failed, rehashed, verify

Drafts = Mapping[str, Draft]


@pytest.fixture(scope="session")
def bundle(drafts: Drafts) -> Bundle:
    return drafts["plain"].bundle()


def check(data: bytes) -> VerificationReport:
    return verify_bundle(data, PINNED, TOOLS)


def test_a_packed_bundle_verifies(bundle: Bundle) -> None:
    assert check(pack(bundle)).code == 0


def test_a_byte_flipped_in_any_file_fails_by_its_hash(bundle: Bundle) -> None:
    """At the beginning, in the middle and at the end, by turns."""
    for n, (path, content) in enumerate(sorted(bundle.files.items())):
        at = (0, len(content) // 2, len(content) - 1)[n % 3]
        flipped = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]

        report = verify(Bundle({**bundle.files, path: flipped}, bundle.manifest))

        assert report.code == 1, (path, at)
        assert (report.failed[0].name, report.failed[0].file) == ("file", path)


@given(data=st.data())
def test_a_byte_flipped_in_any_file_fails_also_when_the_manifest_is_made_right(bundle: Bundle, data: Any) -> None:
    path = data.draw(st.sampled_from(sorted(bundle.files)))
    content = bundle.files[path]
    at, mask = data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(1, 255))
    flipped = content[:at] + bytes([content[at] ^ mask]) + content[at + 1 :]

    report = verify(rehashed(bundle, {**bundle.files, path: flipped}))

    assert "file" not in failed(report)
    assert report.code == 1, (path, at, mask)


def test_a_file_that_is_missing_or_extra_fails(bundle: Bundle) -> None:
    for path in bundle.files:
        less = {name: content for name, content in bundle.files.items() if name != path}

        assert "file" in failed(verify(Bundle(less, bundle.manifest))), path
        widened = path == "times/before.txt"  # a debate may have begun before its log was countersigned
        assert verify(rehashed(bundle, less)).code == (4 if widened else 1), path
    for path in (
        "more.txt",
        "records/0019.leaf.json",
        "documents/0002.txt",
        "prompts/more.md",
        "proofs/0019.tlog-proof",
    ):
        report = verify(rehashed(bundle, {**bundle.files, path: b"more"}))

        assert report.code == 1, path
        assert path in {one.file for one in report.failed}


def test_files_in_each_others_places_fail(bundle: Bundle) -> None:
    for one, other in (
        ("records/0003.leaf.json", "records/0004.leaf.json"),
        ("records/0003.payload.json", "records/0004.payload.json"),
        ("records/0003.salt", "records/0004.salt"),
        ("proofs/0003.tlog-proof", "proofs/0004.tlog-proof"),
        ("policy.json", "configuration.json"),
        ("prompts/critic.v1.md", "prompts/rebuttal.v1.md"),
        ("context.json", "context.salt"),
    ):
        swapped = {**bundle.files, one: bundle.files[other], other: bundle.files[one]}

        assert verify(rehashed(bundle, swapped)).code == 1, one


MANIFESTS: dict[str, dict[str, Any]] = {
    "the debate": {"debate": "0199c0de-0000-7000-8000-000000000001"},
    "the tenant": {"tenant": "other"},
    "the status": {"status": "truncated"},
    "a record fewer": {"records": 18},
    "a record more": {"records": 20},
    "no records": {"records": 0},
    "very many records": {"records": 10**15},
    "another log": {"logs": ("localhost/other/1",)},
    "no logs": {"logs": ()},
}


@pytest.mark.parametrize("what", MANIFESTS)
def test_what_the_manifest_says_of_the_debate_is_held_against_it(bundle: Bundle, what: str) -> None:
    assert verify(Bundle(bundle.files, replace(bundle.manifest, **MANIFESTS[what]))).code == 1


@given(data=st.data())
def test_a_byte_flipped_anywhere_in_the_zip_fails(bundle: Bundle, data: Any) -> None:
    packed = pack(bundle)
    at, mask = data.draw(st.integers(0, len(packed) - 1)), data.draw(st.integers(1, 255))
    flipped = packed[:at] + bytes([packed[at] ^ mask]) + packed[at + 1 :]

    assert check(flipped).code == 1


def test_a_bundle_that_is_cut_fails_wherever(bundle: Bundle) -> None:
    packed = pack(bundle)

    for end in range(0, len(packed), len(packed) // 40):
        assert check(packed[:end]).code == 1


# What no writer of ours writes.


def _zip(files: Mapping[str, bytes]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


DEEP = b"[" * 200_000 + b"]" * 200_000
HOSTILE: dict[str, bytes] = {
    "nothing": b"",
    "half a magic": b"PK",
    "an empty zip": _zip({}),
    "words": b"this is not a bundle",
    "a zip of something else": _zip({"hello.txt": b"hello"}),
    "a manifest that is a number": _zip({"manifest.json": b"7"}),
    "a manifest that goes deep": _zip({"manifest.json": DEEP}),
    "a path upwards": _zip({"manifest.json": b"{}", "../../etc/passwd": b"x"}),
    "a comment": _zip({"manifest.json": b"{}"})[:-2] + b"\x02\x00hi",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_is_no_bundle_fails_at_the_first_step(what: str) -> None:
    report = check(HOSTILE[what])

    assert [(one.number, one.name, one.state) for one in report.steps] == [(1, "file", "FAILED")]


PAYLOADS: dict[str, bytes] = {
    "deep": DEEP,
    "nan": b'{"kind":"turn.spoke","charge":NaN}',
    "a number beyond all": b'{"kind":"budget.refused","turns":["1.critic.1"],"limit":"debateCeiling","left":'
    + b"9" * 5_000
    + b',"needed":1}',
    "a member twice": b'{"kind":"turn.silent","turn":"1.critic.1","turn":"1.critic.1","reason":"x"}',
    "a turn that is none": b'{"kind":"turn.silent","reason":"x","turn":"x"}',
    "a seat that is none": b'{"kind":"turn.silent","reason":"x","turn":"9999999999999999999999.nobody.1"}',
    "not UTF-8": b'{"kind":"\xff\xfe"}',
    "nothing": b"",
    "half a surrogate pair": b'{"kind":"turn.silent","reason":"\\ud800","turn":"1.critic.1"}',
}


@pytest.mark.parametrize("what", PAYLOADS)
def test_a_payload_that_nobody_writes_fails_and_is_named(drafts: Drafts, what: str) -> None:
    for n in (0, 1, 2, 7):
        draft = drafts["plain"].copy()
        draft.payloads[n] = PAYLOADS[what]
        path = f"records/{n:04d}.payload.json"
        bundle = draft.bundle()

        report = verify(rehashed(bundle, {**bundle.files, path: PAYLOADS[what]}))

        assert "records" in failed(report)
        assert report.failed[0].record == n


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(data=st.data())
def test_any_value_in_any_place_of_any_payload_is_reported_and_raises_nothing(drafts: Drafts, data: Any) -> None:
    draft = drafts[data.draw(st.sampled_from(["plain", "truncated", "retried", "declined"]))]
    n = data.draw(st.integers(0, len(draft.payloads) - 1))
    content: Any = draft.entry(n)
    at = content
    while True:
        where = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        inner = at[where]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.integers(0, 3)) == 0:
            break
        at = inner
    at[where] = data.draw(JSON)
    changed = draft.copy()
    changed.payloads[n] = msgspec.json.encode(content, order="sorted")

    report = verify(_sealed(changed).bundle())

    assert report.code in (0, 1, 4)
    assert len(report.steps) == 25


def _sealed(draft: Draft) -> Draft:
    """Sealed again, with the kind that each envelope had: a payload may have none by now."""
    kinds = [msgspec.json.decode(leaf)["kind"] for leaf in draft.leaves]
    return draft.reseal(lambda n, envelope: envelope.update(kind=kinds[n]))
