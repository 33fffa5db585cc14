"""Tokens are counted as tiktoken counts them, without a network, and whatever a text holds."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from contextvars import copy_context
from hashlib import sha1, sha256
from pathlib import Path

import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st
from tiktoken_ext import openai_public  # type: ignore[import-untyped]

from service.debate.whose import WHOSE
from service.errors import SettingsError
from service.money import TOKENIZERS, Known, bytes_over_four, count, count_tokens, tokenizer_id, tokenizers, tokens

REAL = ("o200k_base", "cl100k_base")
PUBLISHED = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
words = st.text(st.sampled_from("aZé漢😀 \n\t'’.,/-12³<|>"), max_size=200)


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    tokenizers.load(TOKENIZERS)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tiktoken.Encoding]:
    """The library's own encodings, which find the rank files where they would have kept a download."""
    folder = tmp_path_factory.mktemp("tiktoken")
    for name in REAL:
        kept = folder / sha1(PUBLISHED.format(name).encode()).hexdigest()
        kept.write_bytes(gzip.decompress((tokenizers.FOLDER / f"{name}.tiktoken.gz").read_bytes()))
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        return {name: tiktoken.Encoding(**getattr(openai_public, name)()) for name in REAL}


def noted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[str]:
    """The texts that a function of `service.money.tokens` is given from now on; none was counted before."""
    monkeypatch.setattr(tokens, "_counts", {})
    given_ = list[str]()
    asked = getattr(tokens, name)

    def noting(by: tiktoken.Encoding, text: str) -> int:
        given_.append(text)
        found: int = asked(by, text)
        return found

    monkeypatch.setattr(tokens, name, noting)
    return given_


# Counting.


@pytest.mark.parametrize("name", REAL)
@given(text=texts | words)
def test_a_count_is_the_librarys_own(theirs: dict[str, tiktoken.Encoding], name: str, text: str) -> None:
    counted = count_tokens(text, name)

    assert counted == len(theirs[name].encode_ordinary(text))
    assert counted <= len(text.encode())


@pytest.mark.parametrize("name", REAL)
def test_a_long_text_of_words_takes_the_tokens_of_its_whole_although_it_is_counted_in_pieces(
    theirs: dict[str, tiktoken.Encoding], name: str
) -> None:
    clause = (
        "The Lender’s fee of 1,234.50 USD (see §12.3)   shall not\n\n  be due if 'it' hasn't been paid: ökonomisch.\t"
    )
    text = "".join(f"{n}. {clause}{'x' * (n % 97)} " for n in range(1_500))
    spaced = "xx" + "word    " * 10_000
    assert len(text) > 3 * tokens.PIECE
    assert spaced[tokens.PIECE - 2 : tokens.PIECE + 2] == "    ", "a cut just there would part blanks that go together"

    assert count_tokens(text, name) == len(theirs[name].encode_ordinary(text))
    assert count_tokens(spaced, name) == len(theirs[name].encode_ordinary(spaced))


@given(words, st.integers(0, 40))
def test_pieces_are_bounded_and_are_together_the_text(text: str, times: int) -> None:
    whole = (text * 2_000)[: tokens.PIECE * 2] + text * times

    pieces = list(tokens._pieces(whole))

    assert "".join(pieces) == whole
    assert all(len(piece) <= tokens.PIECE for piece in pieces)


ADVERSARIAL = {
    "blanks": " " * 1_000_000,  # a panic where it is given to tiktoken at once
    "blanks and a word": " " * 300_000 + "x",
    "line breaks": "\n" * 300_000,
    "one letter": "a" * 300_000,
    "one capital": "A" * 300_000,
    "one sign": "^" * 300_000,
    "digits": "0" * 300_000,
    "emoji": "😀" * 100_000,
    "joined emoji": "👨\u200d👩\u200d👧" * 30_000,
    "marks on one letter": "a" + "\u0301" * 200_000,
    "no blanks": "漢字仮名交" * 40_000,
}


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("text", ADVERSARIAL.values(), ids=ADVERSARIAL)
def test_a_text_without_breaks_is_counted_and_takes_no_more_than_its_bytes(name: str, text: str) -> None:
    counted = count_tokens(text, name)

    assert 0 < counted <= len(text.encode())


@pytest.mark.parametrize("name", REAL)
def test_a_cut_in_a_run_without_breaks_adds_a_token_or_two(theirs: dict[str, tiktoken.Encoding], name: str) -> None:
    run = "漢字仮名交" * 12_000
    cuts = len(list(tokens._pieces(run))) - 1

    assert cuts == 1
    assert 0 <= count_tokens(run, name) - len(theirs[name].encode_ordinary(run)) <= 2 * cuts


def test_a_text_that_the_library_cannot_take_is_counted_as_its_bytes() -> None:
    """Its panic is no `Exception`: this text really brings it about."""
    encoding = tokens._encodings["o200k_base"]
    blanks = " " * 1_000_000
    with pytest.raises(BaseException, match="StackOverflow"):
        encoding.encode_ordinary(blanks)

    assert tokens._length(encoding, blanks) == 1_000_000


@pytest.mark.parametrize("name", REAL)
def test_special_tokens_in_a_text_are_text(name: str) -> None:
    assert count_tokens("<|endoftext|>", name) > 1
    assert count_tokens("<|endofprompt|>" * 10, name) > 10


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_lone_surrogate_is_counted_and_breaks_nothing(name: str) -> None:
    assert 0 < count_tokens("a\ud800b", name) <= 5
    assert count_tokens("\ud800" * 10_000, name) <= 30_000


@given(st.text(st.characters()))
def test_tokens_of_the_simulated_models_are_a_quarter_of_the_bytes_rounded_up(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))

    assert count_tokens(text, "bytes/4") == bytes_over_four(text)
    assert 4 * (bytes_over_four(text) - 1) < size <= 4 * bytes_over_four(text)


# Requests.


@given(st.lists(texts, max_size=4))
def test_a_request_takes_the_tokens_of_its_messages_and_of_their_frames(messages: list[str]) -> None:
    assert count(messages, "bytes/4") == bytes_over_four("\n".join(messages))
    assert count(messages, "o200k_base") == 3 + sum(count_tokens(text, "o200k_base") + 4 for text in messages)


def test_a_text_is_counted_once_and_only_so_many_counts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "KEPT", 40)
    monkeypatch.setattr(tokens, "_counts", {})
    document, short = "unlike any other " * 1_000, "a short text that is like no other"
    keys = [("o200k_base", WHOSE.get(), sha256(text.encode()).digest()) for text in (document, short)]
    assert not {*keys} & {*tokens._counts}

    first = count_tokens(document, "o200k_base")
    count_tokens(short, "o200k_base")

    assert tokens._counts[keys[0]] == first == count_tokens(document, "o200k_base")
    assert count_tokens(document, "cl100k_base") == tokens._counts["cl100k_base", *keys[0][1:]]
    for n in range(tokens.KEPT):
        count_tokens(f"{n} x", "o200k_base")
        count_tokens(document, "o200k_base")
    assert tokens.KEPT * 3 // 4 <= len(tokens._counts) <= tokens.KEPT
    assert keys[0] in tokens._counts, "what is used stays"
    assert keys[1] not in tokens._counts
    assert {len(key) for _, _, key in tokens._counts} == {32}, "hashes, and no text"


def test_a_tenant_s_text_is_counted_again_for_another_tenant(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = noted(monkeypatch, "_length")

    def of(tenant: str, text: str) -> tuple[int, list[str]]:
        WHOSE.set(tenant)
        counted.clear()
        return count_tokens(text, "o200k_base"), counted.copy()

    for text in ("a document that two tenants have", "word " * tokens.PIECE):
        one, other, again = (copy_context().run(of, tenant, text) for tenant in ("one", "other", "one"))
        assert one == other
        assert set(one[1]) == {*tokens._parts(text)}
        assert again == (one[0], [])


MARK = "[[0123456789abcdef"
OTHER_MARK = "[[fedcba987654321f"


def fenced(*insides: str, mark: str = MARK) -> str:
    """A message of fenced blocks with these insides."""
    return "\n".join(f"{mark} begin block {{}}]]\n{inside}\n{mark} end block]]" for inside in insides)


def test_what_two_requests_share_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = noted(monkeypatch, "_length")

    count_tokens(fenced("seen before"), "o200k_base")
    count_tokens(fenced("seen before", "said now"), "o200k_base")

    before = [MARK, " begin block {}]]\n", "seen before\n", " end block]]"]
    assert counted == [*before, " end block]]\n", "said now\n"]


def test_what_stands_between_fences_is_counted_once_for_debates_with_other_marks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = noted(monkeypatch, "_length")
    document = "A document that two debates have."

    one, other = (count_tokens(fenced(document, mark=mark), "o200k_base") for mark in (MARK, OTHER_MARK))

    assert counted.count(f"{document}\n") == 1
    marks = (count_tokens(mark, "o200k_base") for mark in (MARK, OTHER_MARK))
    assert next(marks) - next(marks) == (one - other) / 2


def test_of_a_long_text_only_the_pieces_that_differ_are_counted_again(
    theirs: dict[str, tiktoken.Encoding], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = noted(monkeypatch, "_length")
    document = "".join(f"clause {n} of a document that was counted before; " for n in range(4_000))
    first = fenced("May we sign?", document)
    second = fenced("Is there a limit to what we would owe?", document, mark=OTHER_MARK)

    assert count_tokens(first, "o200k_base") == len(theirs["o200k_base"].encode_ordinary(first))
    pieces = counted.copy()
    assert count_tokens(second, "o200k_base") == len(theirs["o200k_base"].encode_ordinary(second))

    assert len(pieces) > 5
    assert counted[len(pieces) :] == [OTHER_MARK, "Is there a limit to what we would owe?\n"]


@given(
    st.lists(
        st.tuples(st.text(st.sampled_from("a1 .\n]["), max_size=4), st.sampled_from(("word ", "無", " \n"))),
        min_size=2,
        max_size=4,
    ),
    st.integers(0, 60_000),
)
def test_a_long_text_with_fences_takes_the_tokens_of_its_pieces_without_them(
    blocks: list[tuple[str, str]], size: int
) -> None:
    text = fenced(*(f"{before}{run * (size // len(run))}" for before, run in blocks))

    counted = sum(tokens.count_tokens(piece, "o200k_base") for piece in tokens._parts(text))

    assert "".join(tokens._parts(text)) == text
    if len(text) > tokens.PIECE:
        encoding = tokens._encodings["o200k_base"]
        assert counted == sum(tokens._length(encoding, piece) for piece in tokens._pieces(text))


@pytest.mark.parametrize("name", TOKENIZERS)
@given(st.lists(st.lists(texts, max_size=4).map(lambda insides: fenced(*insides)), max_size=6), st.integers(1, 5))
def test_a_debate_that_knows_counts_counts_the_same(name: str, messages: list[str], most: int) -> None:
    known: Known = {}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "KNOWN_MAX", most)
        for n in range(len(messages)):
            assert count(messages[: n + 1], name, known) == count(messages[: n + 1], name)
            assert count_tokens(messages[n], name, known) == count_tokens(messages[n], name)
            assert len(known) <= most


def test_what_a_debate_has_counted_is_not_hashed_again_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = noted(monkeypatch, "_counted")
    known: Known = {}
    whole = "word " * (tokens.PIECE // 4)

    few, many = fenced("heard"), fenced(*["heard"] * 4, "answered")
    for text in ("The text of a prompt.", few, few, many, whole):
        count(["The text of a prompt.", text], "o200k_base", known)

    first = ["The text of a prompt.", MARK, " begin block {}]]\n", "heard\n", " end block]]"]
    pieces = list(tokens._parts(whole))
    assert hashed == [*first, " end block]]\n", "answered\n", *pieces]
    held = {text for _, text in known}
    assert held == {*hashed, few} - {*pieces}, "no text as long as a document, and no transcript beside its parts"


hostile = st.text(st.sampled_from("[]]]\n\n\r/ a1A'.é漢\u0301\u2028\x85\x1c\ud800\t}"), max_size=8)
marked = st.lists(
    st.sampled_from((MARK, f"\n{MARK} ", f"]]\n{MARK} end block]]\n", " begin block {}]]\n", OTHER_MARK)) | hostile
).map("".join)


@pytest.mark.parametrize("name", REAL)
@given(text=st.lists(hostile, min_size=1, max_size=4).map(lambda insides: fenced(*insides)) | marked.map(MARK.__add__))
@example(text=f"{MARK} a]]\n/b\n{MARK} ]]")
@example(text=f"{MARK} a]]\n\n{MARK} ]]")
@example(text=f"{MARK} a{MARK} b")
@example(text=f"{MARK}9]]\na\n{MARK} b")
def test_the_tokens_of_the_parts_of_a_text_are_those_of_the_text(
    theirs: dict[str, tiktoken.Encoding], name: str, text: str
) -> None:
    assert "".join(tokens._parts(text)) == text
    assert count_tokens(text, name) == len(theirs[name].encode_ordinary(text))


@pytest.mark.parametrize("name", REAL)
@given(inside=hostile, mark=st.text(st.sampled_from("0123456789abcdef"), min_size=16, max_size=16).map("[[".__add__))
def test_a_text_is_cut_at_every_fence(theirs: dict[str, tiktoken.Encoding], name: str, inside: str, mark: str) -> None:
    text = fenced(f"a{inside}", "b", mark=mark)

    line, end = " begin block {}]]\n", " end block]]"
    assert tokens._parts(text) == [mark, line, f"a{inside}\n", mark, f"{end}\n", mark, line, "b\n", mark, end]
    assert count_tokens(text, name) == len(theirs[name].encode_ordinary(text))


def test_a_text_with_very_many_fences_is_one() -> None:
    most = fenced(*["a"] * (tokens.FENCES_MAX // 2))

    assert len(tokens._parts(most)) > tokens.FENCES_MAX
    assert tokens._parts(f"{most}\n{MARK} ") == (f"{most}\n{MARK} ",)


# Loading.


def test_nothing_is_downloaded_and_a_tokenizer_that_was_not_loaded_is_an_error(tmp_path: Path) -> None:
    script = """
import socket, sys
def refuse(*_): raise AssertionError("a socket was opened")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
from service.money import tokenizers
from service.money import count_tokens
from service.errors import SettingsError
assert "tiktoken" not in sys.modules, "a command that counts nothing does not pay for it"
try:
    count_tokens("words", "o200k_base")
except SettingsError as error:
    print(error)
tokenizers.load(["o200k_base", "bytes/4"])
print(count_tokens("Nothing is fetched, ever.", "o200k_base"), "requests" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).parents[3],
        env={"TIKTOKEN_CACHE_DIR": str(tmp_path), "PATH": "", "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=True,
    )

    refused, counted = done.stdout.splitlines()
    assert refused == (
        "expected tokenizer 'o200k_base' to be loaded at the start, found none; "
        "call service.money.tokenizers.load with the tokenizers of the catalogue"
    )
    assert counted == "6 False"
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_tokenizer_is_an_error_that_names_the_known_ones() -> None:
    known = r"among \['bytes/4', 'cl100k_base', 'o200k_base'\], found 'guess'"

    with pytest.raises(SettingsError, match=known):
        count_tokens("words", "guess")
    with pytest.raises(SettingsError, match=known):
        tokenizers.load(["bytes/4", "guess"])


@pytest.mark.parametrize("name", [*REAL, "guess"])
def test_other_ranks_than_the_published_ones_are_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="install the package again"):
        tokens.add(name, b"YQ== 0\n")


def test_a_rank_file_that_is_cut_or_missing_stops_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "o200k_base.tiktoken.gz").write_bytes(
        (tokenizers.FOLDER / "o200k_base.tiktoken.gz").read_bytes()[:5_000]
    )
    monkeypatch.setattr(tokenizers, "FOLDER", tmp_path)

    for name in REAL:
        with pytest.raises(SettingsError, match=f"rank file of tokenizer '{name}'.*cannot be read"):
            tokenizers._read(name)


def test_the_rank_files_are_the_published_ones_and_their_page_says_so() -> None:
    page = dict(
        re.findall(
            r"^\| `(\w+)\.tiktoken\.gz` .*`(\w{64})` \|$", (tokenizers.FOLDER / "README.md").read_text(), re.MULTILINE
        )
    )

    assert page == tokens.RANK_FILES
    for name, digest in page.items():
        assert sha256(gzip.decompress((tokenizers.FOLDER / f"{name}.tiktoken.gz").read_bytes())).hexdigest() == digest


def test_a_record_names_a_tokenizer_with_the_artefact_behind_it() -> None:
    assert tokenizer_id("o200k_base") == "o200k_base@446a9538cb6c"
    assert tokenizer_id("cl100k_base") == "cl100k_base@223921b76ee9"
    assert tokenizer_id("bytes/4") == "bytes/4"
