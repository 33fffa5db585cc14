"""Accept-Encoding is read with its weights, and a tag says of which coding it is."""

from __future__ import annotations

import gzip
import zlib

import pytest
import zstandard

from service.web.codings import CODINGS, Wanted, coded_tag, plain_tags, wanted_coding
from service.web.compression import PACKERS


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ((), None),
        (("",), None),
        ((" , ,",), None),
        (("identity",), None),
        (("gzip",), "gzip"),
        (("GZip",), "gzip"),
        (("x-gzip",), "gzip"),
        (("zstd",), "zstd"),
        (("gzip, zstd",), "zstd"),
        (("gzip, deflate, br, zstd",), "zstd"),
        (("gzip;q=1.0, zstd;q=0.9",), "gzip"),
        (("gzip ; q=0.5",), "gzip"),
        (("gzip;q=0.001",), "gzip"),
        (("*",), "zstd"),
        (("*;q=0.1",), "zstd"),
        (("zstd;q=0, *",), "gzip"),
        (("gzip;q=0, zstd;q=0, *",), None),
        (("gzip;q=0",), None),
        (("gzip;q=0.000",), None),
        (("br",), None),
        (("deflate, br",), None),
        (("gzip;q=0.5, identity",), None),
        (("gzip;q=0.5, identity;q=0.5",), "gzip"),
        (("identity;q=0.5, gzip;q=0.6",), "gzip"),
        (("br", "gzip"), "gzip"),
        (("gzip;q=2",), None),
        (("gzip;q=nan",), None),
        (("gzip;q=",), None),
        (("gzip;q=0.1234",), None),
        (("gzip;q=1;x=y",), None),
        (("gzipped, xgzip",), None),
        (("gzip" * 10_000,), None),
    ],
)
def test_the_coding_with_the_highest_weight_is_taken(accepted: tuple[str, ...], coding: str | None) -> None:
    assert wanted_coding(accepted) == Wanted(coding)


@pytest.mark.parametrize(
    ("accepted", "wanted"),
    [
        ("identity;q=0, gzip", Wanted("gzip", packed_only=True)),
        ("*;q=0, gzip", Wanted("gzip", packed_only=True)),
        ("*;q=0, gzip;q=0.2, identity;q=0.1", Wanted("gzip")),
        ("identity;q=0", Wanted(None, packed_only=True)),
        ("*;q=0", Wanted(None, packed_only=True)),
        ("identity;q=0, *", Wanted("zstd", packed_only=True)),
    ],
)
def test_identity_can_be_refused(accepted: str, wanted: Wanted) -> None:
    assert wanted_coding([accepted]) == wanted


def test_a_tag_names_its_coding_and_leads_back() -> None:
    for coding in CODINGS:
        assert coded_tag('"5-a"', coding) == f'"5-a+{coding}"'
        assert plain_tags([f'"5-a+{coding}"', f'W/"5-a+{coding}"'], [coding]) == ['"5-a"', 'W/"5-a"']
    assert coded_tag('W/"5-a"', "gzip") == 'W/"5-a"'


def test_a_tag_of_a_coding_that_is_not_accepted_names_no_answer() -> None:
    for accepted in ((), ("zstd",), ("gzip;q=0",), ("*;q=0",), ("zstd, gzip;q=0",)):
        assert plain_tags(['"5+gzip"', '"5+br"', '"5"', "*"], accepted) == ['"5+gzip"', '"5+br"', '"5"', "*"]
    assert plain_tags(['"5+gzip"'], ["*"]) == ['"5"']


@pytest.mark.parametrize("coding", CODINGS)
def test_each_piece_can_be_read_before_the_next(coding: str) -> None:
    packer = PACKERS[coding]()
    reader = zstandard.ZstdDecompressor().decompressobj() if coding == "zstd" else zlib.decompressobj(31)
    pieces = [b"a" * 10, b"", b"bc" * 100_000, b"d"]

    for piece in pieces:
        assert reader.decompress(packer.piece(piece)) == piece
    assert reader.decompress(packer.last(b"end")) == b"end"
    assert reader.eof


def test_one_piece_is_a_whole_file() -> None:
    assert gzip.decompress(PACKERS["gzip"]().last(b"text")) == b"text"
    assert zstandard.decompress(PACKERS["zstd"]().last(b"text")) == b"text"
