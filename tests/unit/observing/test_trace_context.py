"""The trace that a request takes part in: the cases of the W3C's own test suite (w3c/trace-context, test/test.py)."""

from __future__ import annotations

import re
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.observing.trace_context import STATE_CHARACTERS, STATE_MEMBERS, Trace, begun, continued, trace_of_headers

ID, PARENT = "12345678901234567890123456789012", "1234567890123456"
GOOD = f"00-{ID}-{PARENT}-01"
ZEROS = "0" * 32
ANSWERED = re.compile(rb"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[0-3]")

TAKEN = {
    "as it is": GOOD,
    "not sampled": f"00-{ID}-{PARENT}-00",
    "with a flag of Level 2": f"00-{ID}-{PARENT}-03",
    "with flags that nobody knows": f"00-{ID}-{PARENT}-ff",
    "a later version": f"cc-{ID}-{PARENT}-01",
    "a later version with more parts": f"cc-{ID}-{PARENT}-01-what-the-future-will-be-like",
    "a later version with an empty part": f"cc-{ID}-{PARENT}-01-",
    "white space before it": f" {GOOD}",
    "a tab before it": f"\t{GOOD}",
    "white space after it": f"{GOOD} ",
    "white space around it": f"\t {GOOD} \t",
}
RESTARTED = {
    "nothing": "",
    "a character after it": f"{GOOD}.",
    "more parts in version 00": f"{GOOD}-what-the-future-will-be-like",
    "an empty part in version 00": f"{GOOD}-",
    "a later version that goes on without a dash": f"cc-{ID}-{PARENT}-01.what-the-future-will-be-like",
    "version ff": f"ff-{ID}-{PARENT}-01",
    "a version with a dot": f".0-{ID}-{PARENT}-01",
    "a version that ends with a dot": f"0.-{ID}-{PARENT}-01",
    "a version of three": f"000-{ID}-{PARENT}-01",
    "a version of four": f"0000-{ID}-{PARENT}-01",
    "a version of one": f"0-{ID}-{PARENT}-01",
    "a version in capitals": f"CC-{ID}-{PARENT}-01",
    "a trace of zeros": f"00-{ZEROS}-{PARENT}-01",
    "a trace with a dot": f"00-.{ID[1:]}-{PARENT}-01",
    "a trace that ends with a dot": f"00-{ID[:-1]}.-{PARENT}-01",
    "a trace in capitals": f"00-{'A' * 32}-{PARENT}-01",
    "a trace that is too long": f"00-{ID}3-{PARENT}-01",
    "a trace that is too short": f"00-{ID[:-1]}-{PARENT}-01",
    "a parent of zeros": f"00-{ID}-{ZEROS[:16]}-01",
    "a parent with a dot": f"00-{ID}-.{PARENT[1:]}-01",
    "a parent in capitals": f"00-{ID}-{'B' * 16}-01",
    "a parent that is too long": f"00-{ID}-{PARENT}7-01",
    "a parent that is too short": f"00-{ID}-{PARENT[:-1]}-01",
    "flags with a dot": f"00-{ID}-{PARENT}-.0",
    "flags that end with a dot": f"00-{ID}-{PARENT}-0.",
    "flags that are too long": f"00-{ID}-{PARENT}-001",
    "flags that are too short": f"00-{ID}-{PARENT}-1",
    "flags in capitals": f"00-{ID}-{PARENT}-0A",
    "two in one header": f"{GOOD},{GOOD}",
    "digits of another script": GOOD.replace("1", "\u0661"),
    "a line break within": GOOD.replace("-", "\n", 1),
    "a line break at its end": f"{GOOD}\n",
}
STATES = {
    "one": (["foo=1"], "foo=1"),
    "two": (["foo=1,bar=2"], "foo=1,bar=2"),
    "none": ([""], ""),
    "none beside one": (["foo=1", ""], "foo=1"),
    "one beside none": (["", "foo=1"], "foo=1"),
    "several headers in their order": (["foo=1,bar=2", "rojo=1,congo=2", "baz=3"], "foo=1,bar=2,rojo=1,congo=2,baz=3"),
    "white space": (["foo=1 \t , \t bar=2, \t baz=3 "], "foo=1,bar=2,baz=3"),
    "blanks before a value stay": (["foo=  1"], "foo=  1"),
    "a key twice": (["foo=1,foo=1"], ""),
    "a key in two headers": (["foo=1", "foo=2"], ""),
    "a key with a blank": (["foo =1"], ""),
    "a key in capitals": (["FOO=1"], ""),
    "a key with a dot": (["foo.bar=1"], ""),
    "a vendor without a name": (["foo@=1,bar=2"], ""),
    "a tenant without a name": (["@foo=1,bar=2"], ""),
    "two signs": (["foo@@bar=1,bar=2"], ""),
    "two vendors": (["foo@bar@baz=1,bar=2"], ""),
    "a key of 256": (["foo=1", f"{'z' * 256}=1"], f"foo=1,{'z' * 256}=1"),
    "a key of 257": (["foo=1", f"{'z' * 257}=1"], ""),
    "a tenant of 241": (["foo=1", f"{'t' * 241}@{'v' * 14}=1"], f"foo=1,{'t' * 241}@{'v' * 14}=1"),
    "a tenant of 242": (["foo=1", f"{'t' * 242}@v=1"], ""),
    "a vendor of 15": (["foo=1", f"t@{'v' * 15}=1"], ""),
    "a value with an equals sign": (["foo=bar=baz"], ""),
    "an empty value": (["foo=,bar=3"], ""),
    "no sign": (["foo"], ""),
    "a control character": (["foo=a\x07b"], ""),
    "a letter of Latin 1": (["foo=\xe4"], ""),
}


@pytest.mark.parametrize("value", TAKEN.values(), ids=TAKEN)
def test_a_good_parent_is_continued_under_a_new_span(value: str) -> None:
    found = continued([value])

    assert found is not None
    assert (found.id, found.given, found.parent) == (ID, ID, PARENT)
    assert found.span not in (PARENT, ZEROS[:16])
    assert found.sampled == bool(int(value.strip()[53:55], 16) & 1)
    assert ANSWERED.fullmatch(found.header)


@pytest.mark.parametrize("value", RESTARTED.values(), ids=RESTARTED)
def test_a_bad_one_begins_a_new_trace_and_takes_its_state_with_it(value: str) -> None:
    found = trace_of_headers([(b"traceparent", value.encode("utf-8")), (b"tracestate", b"foo=1")])

    assert continued([value]) is None
    assert (found.given, found.parent, found.state, found.sampled) == (None, None, "", False)
    assert ANSWERED.fullmatch(found.header)
    assert ID.encode() not in found.header


def test_of_several_headers_none_is_taken() -> None:
    assert continued([GOOD, f"00-{'a' * 32}-{PARENT}-01"]) is None
    assert continued([GOOD, GOOD]) is None
    assert continued([]) is None


def test_flags_that_the_specification_does_not_know_are_set_to_zero() -> None:
    found = [continued([f"00-{ID}-{PARENT}-{flags}"]) for flags in ("00", "01", "02", "09", "ff")]

    assert [trace and trace.header[-2:] for trace in found] == [b"00", b"01", b"02", b"01", b"03"]


@pytest.mark.parametrize(("given_", "taken"), STATES.values(), ids=STATES)
def test_a_state_is_taken_whole_or_not_at_all_and_never_spoils_its_parent(given_: list[str], taken: str) -> None:
    found = continued([GOOD], given_)

    assert found is not None
    assert (found.id, found.state) == (ID, taken)


def test_a_value_may_have_every_character_but_a_comma_and_an_equals_sign() -> None:
    value = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) not in ",=")
    key = "abcdefghijklmnopqrstuvwxyz0123456789_-*/"

    found = continued([GOOD], [f"{key}={value}"])

    assert found is not None
    assert found.state == f"{key}={value}"


def test_a_list_beyond_a_limit_is_left() -> None:
    def state(members: int, length: int = 0) -> str:
        whole = [f"bar{n:02}={n:02}" for n in range(members)]
        rest = length - len(",".join(whole))
        return ",".join([*whole[:-1], whole[-1] + "x" * rest]) if length else ",".join(whole)

    for given_, taken in (
        (state(STATE_MEMBERS), True),
        (state(STATE_MEMBERS + 1), False),
        (state(3, STATE_CHARACTERS - 1), False),  # one value of more than 256
        (f"a={'x' * 250},b={'y' * 256}", True),
        (f"a={'x' * 250},b={'y' * 256}, \t, ,", True),
        (f"aa={'x' * 256},b={'y' * 252}", False),
    ):
        found = continued([GOOD], [given_])
        assert found is not None
        assert bool(found.state) == taken, given_[:60]
    assert len(f"a={'x' * 250},b={'y' * 256}") <= STATE_CHARACTERS < len(f"aa={'x' * 256},b={'y' * 252}")


def test_each_request_has_a_span_of_its_own_and_a_trace_that_began_here_is_random() -> None:
    spans = {found.span for found in (continued([GOOD]) for _ in range(50)) if found}
    ids = {begun().id for _ in range(50)}

    assert (len(spans), len(ids)) == (50, 50)
    assert begun().header.endswith(b"-02"), "drawn at random (Level 2), and not sampled"


def test_an_id_of_zeros_stands_for_none_and_is_drawn_again() -> None:
    drawn = count()

    def draw(octets: int) -> str:
        return ("00" if next(drawn) % 2 == 0 else "ab") * octets

    assert begun(draw) == Trace(id="ab" * 16, span="ab" * 8, flags=2)


def test_names_of_headers_are_those_of_the_specification() -> None:
    for name in (b"trace-parent", b"trace.parent", b"x-traceparent"):
        assert trace_of_headers([(name, GOOD.encode())]).given is None
    assert trace_of_headers([(b"traceparent", GOOD.encode()), (b"trace-state", b"foo=1")]).state == ""


@given(st.lists(st.binary(max_size=80), max_size=3), st.lists(st.binary(max_size=600), max_size=4))
def test_whatever_comes_nothing_but_hexadecimal_and_bounded_lists_come_of_it(
    parents: list[bytes], states: list[bytes]
) -> None:
    given_ = [(b"traceparent", value) for value in parents] + [(b"tracestate", value) for value in states]

    found = trace_of_headers([*given_, (b"traceparent", GOOD.encode())] if not parents else given_)

    assert ANSWERED.fullmatch(found.header)
    assert len(found.state) <= STATE_CHARACTERS
    assert found.state.isprintable()
    assert found.state.isascii()
