"""An implementation that is not ours takes our notes, roots, proofs and tiles, and refuses what we refuse.

It is Go's own, ``golang.org/x/mod/sumdb`` (Debian: ``golang-go`` and ``golang-golang-x-mod-dev``), built here without a
network into a small program that answers cases in JSON, and kept in pytest's cache. Where Go or its sources are not at
hand, these tests are skipped.
"""

import json
import random
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from service.audit.checkpoint import Checkpoint, add_lines, cosign, open_checkpoint, sign_checkpoint
from service.audit.note import COSIGNATURE, BadNote, PublicKey, SigningKey, parse_note, sign_note, verify_note
from service.audit.proof import TlogProof, check_proof, parse_proof
from service.audit.tiles import Builder, Tiles, parse_tile_path, tile_path, tile_width
from service.audit.tree import (
    ProofError,
    consistency_path,
    inclusion_path,
    root_of,
    verify_consistency,
    verify_inclusion,
)
from tests.fixtures.go import program
from tests.fixtures.merkle import CT_LEAVES, CT_ROOTS, leaf, leaves, node_of

SUMDB = Path("/usr/share/gocode/src/golang.org/x/mod")
MODULE = f"""module checker

go 1.17

require golang.org/x/mod v0.0.0

replace golang.org/x/mod => {SUMDB}
"""
PROGRAM = """\
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type ask struct {
	Op       string
	Note     []byte
	Keys     []string
	Text     string
	Key      string
	Leaves   []string
	Path     []string
	Tile     string
	Old, New int64
	OldRoot  string
	NewRoot  string
	Leaf     string
	Index    int64
}

type answer struct {
	Ok    bool
	Error string
	Text  string
	Count int
	Note  []byte
	Root  string
	Roots []string
	Path  []string
	Data  []byte
}

func hash(text string) (h tlog.Hash) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(h) {
		panic("not a hash: " + text)
	}
	copy(h[:], b)
	return h
}

func hashes(texts []string) []tlog.Hash {
	list := make([]tlog.Hash, len(texts))
	for i, text := range texts {
		list[i] = hash(text)
	}
	return list
}

func hexes(list []tlog.Hash) []string {
	texts := []string{}
	for _, h := range list {
		texts = append(texts, hex.EncodeToString(h[:]))
	}
	return texts
}

// stored lays out the hashes of a tree as tlog does, and reads them.
func stored(leaves []string) tlog.HashReaderFunc {
	var store []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		found := make([]tlog.Hash, len(indexes))
		for i, at := range indexes {
			if at >= int64(len(store)) {
				return nil, fmt.Errorf("no hash %d", at)
			}
			found[i] = store[at]
		}
		return found, nil
	})
	for n, text := range leaves {
		more, err := tlog.StoredHashesForRecordHash(int64(n), hash(text), reader)
		if err != nil {
			panic(err)
		}
		store = append(store, more...)
	}
	return reader
}

// root is that of RFC 6962, which tlog leaves out for the empty tree.
func root(size int64, reader tlog.HashReader) tlog.Hash {
	if size == 0 {
		return sha256.Sum256(nil)
	}
	h, err := tlog.TreeHash(size, reader)
	if err != nil {
		panic(err)
	}
	return h
}

func open(a ask) (*note.Note, error) {
	var known []note.Verifier
	for _, key := range a.Keys {
		verifier, err := note.NewVerifier(key)
		if err != nil {
			return nil, err
		}
		known = append(known, verifier)
	}
	return note.Open(a.Note, note.VerifierList(known...))
}

// head reads a checkpoint's text; tlog.ParseTree takes no origin but its own.
func head(text string) (origin string, size int64, h tlog.Hash, err error) {
	lines := strings.Split(text, "\\n")
	if len(lines) != 4 || lines[3] != "" {
		return "", 0, h, fmt.Errorf("%d lines", len(lines))
	}
	if size, err = strconv.ParseInt(lines[1], 10, 64); err != nil {
		return "", 0, h, err
	}
	b, err := base64.StdEncoding.DecodeString(lines[2])
	copy(h[:], b)
	return lines[0], size, h, err
}

func do(a ask) (r answer, err error) {
	switch a.Op {
	case "note":
		n, err := open(a)
		if err != nil {
			return r, err
		}
		r.Text, r.Count = n.Text, len(n.Sigs)
	case "checkpoint":
		n, err := open(a)
		if err != nil {
			return r, err
		}
		origin, size, claimed, err := head(n.Text)
		if err != nil {
			return r, err
		}
		if root(size, stored(a.Leaves)) != claimed {
			return r, fmt.Errorf("another root of size %d", size)
		}
		r.Text = origin
	case "sign":
		signer, err := note.NewSigner(a.Key)
		if err != nil {
			return r, err
		}
		r.Note, err = note.Sign(&note.Note{Text: a.Text}, signer)
		return r, err
	case "generate":
		secret, public, err := note.GenerateKey(bytes.NewReader([]byte(a.Text)), a.Key)
		r.Text, r.Path = secret, []string{public}
		return r, err
	case "leaves":
		for _, text := range a.Path {
			b, _ := hex.DecodeString(text)
			h := tlog.RecordHash(b)
			r.Roots = append(r.Roots, hex.EncodeToString(h[:]))
		}
	case "roots":
		reader := stored(a.Leaves)
		for size := 0; size <= len(a.Leaves); size++ {
			h := root(int64(size), reader)
			r.Roots = append(r.Roots, hex.EncodeToString(h[:]))
		}
	case "prove record":
		p, err := tlog.ProveRecord(a.New, a.Index, stored(a.Leaves))
		r.Path = hexes(p)
		return r, err
	case "prove tree":
		p, err := tlog.ProveTree(a.New, a.Old, stored(a.Leaves))
		r.Path = hexes(p)
		return r, err
	case "check record":
		return r, tlog.CheckRecord(hashes(a.Path), a.New, hash(a.NewRoot), a.Index, hash(a.Leaf))
	case "check tree":
		return r, tlog.CheckTree(hashes(a.Path), a.New, hash(a.NewRoot), a.Old, hash(a.OldRoot))
	case "tile path":
		tile, err := tlog.ParseTilePath(a.Tile)
		if err != nil {
			return r, err
		}
		r.Text, r.Count = tile.Path(), tile.W
	case "tile":
		tile, err := tlog.ParseTilePath(a.Tile)
		if err != nil {
			return r, err
		}
		r.Data, err = tlog.ReadTileData(tile, stored(a.Leaves))
		return r, err
	default:
		return r, fmt.Errorf("no such question: %q", a.Op)
	}
	return r, nil
}

func main() {
	var asked []ask
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		panic(err)
	}
	answers := []answer{}
	for _, a := range asked {
		r, err := do(a)
		r.Ok = err == nil
		if err != nil {
			r.Error = err.Error()
		}
		answers = append(answers, r)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		panic(err)
	}
}
"""

Answers = list[dict[str, Any]]
Go = Callable[[list[dict[str, Any]]], Answers]
LOG = SigningKey.from_seed("host.example", bytes(range(32)))
OTHER = SigningKey.from_seed("other.example/log", bytes(range(1, 33)))
WITNESS = SigningKey.from_seed("witness.example", bytes(range(2, 34)), COSIGNATURE)
LEAVES = leaves(70)
HEXES = [h.hex() for h in LEAVES]


@pytest.fixture(scope="session")
def go(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Go:
    """Puts questions to the Go program; it is built when its sources are not those of the last run."""
    if not SUMDB.is_dir():
        pytest.skip("no golang.org/x/mod here (Debian: golang-golang-x-mod-dev)")
    imported = sorted(path for name in ("note", "tlog") for path in (SUMDB / "sumdb" / name).glob("*.go"))
    sources = {"go.mod": MODULE.encode(), "main.go": PROGRAM.encode()}
    checker = program(request, tmp_path_factory.mktemp("go"), sources, b"".join(path.read_bytes() for path in imported))

    def ask(questions: list[dict[str, Any]]) -> Answers:
        done = subprocess.run([checker], input=json.dumps(questions).encode(), capture_output=True, check=True)
        answers: Answers = json.loads(done.stdout)
        assert len(answers) == len(questions)
        return answers

    return ask


def base64(data: bytes) -> str:
    return b64encode(data).decode()


def test_go_opens_our_notes_whoever_else_signed_them(go: Go) -> None:
    texts = [
        "a text\n",
        "\n",
        "two\n\nparts — and a dash\n",
        "ünïcode \u200b\n",
        sign_note("inner\n", OTHER).encode().decode(),
    ]
    notes = [sign_note(text, OTHER, LOG).encode() for text in texts]
    many = [SigningKey.from_seed(f"w{n}.example", bytes([n]) * 32) for n in range(99)]
    notes.append(sign_note("a text\n", *many, LOG).encode())

    found = go([{"Op": "note", "Note": base64(n), "Keys": [LOG.public.encode()]} for n in notes])
    assert [(a["Error"], a["Text"], a["Count"]) for a in found] == [("", text, 1) for text in [*texts, "a text\n"]]
    (both,) = go([{"Op": "note", "Note": base64(notes[0]), "Keys": [LOG.public.encode(), OTHER.public.encode()]}])
    assert both["Count"] == 2
    (unknown,) = go([{"Op": "note", "Note": base64(notes[0]), "Keys": [many[0].public.encode()]}])
    assert (unknown["Ok"], unknown["Error"]) == (False, "note has no verifiable signatures")


def test_go_reads_our_keys_and_signs_notes_that_we_verify(go: Go) -> None:
    keys = [LOG, OTHER, *(SigningKey.from_seed(f"k{n}.example/ü", bytes([n]) * 32) for n in range(20))]
    text = "signed by Go\n\nin two parts\n"

    found = go([{"Op": "sign", "Key": key.encode(), "Text": text} for key in keys])

    for key, answer in zip(keys, found, strict=True):
        data = b64decode(answer["Note"])
        assert data == sign_note(text, key).encode()
        assert verify_note(parse_note(data), [key.public]) == (key.public,)


def test_we_read_the_keys_that_go_makes(go: Go) -> None:
    seed = bytes(range(65, 97))
    (made,) = go([{"Op": "generate", "Key": "made.example", "Text": seed.decode()}])

    key = SigningKey.parse(made["Text"])
    assert key.encode() == made["Text"] == SigningKey.from_seed("made.example", seed).encode()
    assert [key.public.encode()] == made["Path"]
    assert PublicKey.parse(made["Path"][0]) == key.public


def test_go_believes_our_heads_at_every_size_with_cosignatures_and_without(go: Go) -> None:
    heads = [Checkpoint("host.example/default/0", size, root_of(LEAVES[:size])) for size in range(71)]
    signed = [sign_checkpoint(head, LOG) for head in heads]
    signed += [add_lines(note, [cosign(h, 7, WITNESS)]) for note, h in zip(signed, heads, strict=True)]
    asked = {"Op": "checkpoint", "Keys": [LOG.public.encode()], "Leaves": HEXES}

    found = go([{**asked, "Note": base64(note)} for note in signed])
    assert {(a["Error"], a["Text"]) for a in found} == {("", "host.example/default/0")}
    wrong = sign_checkpoint(Checkpoint("host.example/default/0", 5, root_of(LEAVES[1:6])), LOG)
    (refused,) = go([{**asked, "Note": base64(wrong)}])
    assert refused["Error"] == "another root of size 5"


def test_go_finds_the_same_hashes_of_leaves_and_the_published_roots(go: Go) -> None:
    contents = [b"", b"x", *CT_LEAVES, bytes(65_535)]
    hashed, published = go(
        [
            {"Op": "leaves", "Path": [c.hex() for c in contents]},
            {"Op": "roots", "Leaves": [leaf(c).hex() for c in CT_LEAVES]},
        ]
    )

    assert hashed["Roots"] == [leaf(c).hex() for c in contents]
    assert published["Roots"] == CT_ROOTS


def test_go_proves_with_the_same_hashes_as_we_do(go: Go) -> None:
    sizes = [*range(1, 18), 31, 32, 33, 63, 64, 65, 70]
    records = [(index, size) for size in sizes for index in range(size)]
    trees = [(old, size) for size in sizes for old in range(1, size + 1)]
    node = node_of(LEAVES)

    (roots,) = go([{"Op": "roots", "Leaves": HEXES}])
    paths = go([{"Op": "prove record", "Leaves": HEXES[:n], "New": n, "Index": i} for i, n in records])
    between = go([{"Op": "prove tree", "Leaves": HEXES[:n], "New": n, "Old": m} for m, n in trees])

    assert roots["Roots"] == [root_of(LEAVES[:size]).hex() for size in range(71)]
    for (index, size), answer in zip(records, paths, strict=True):
        assert answer["Path"] == [h.hex() for h in inclusion_path(index, size, node)]
    for (old, size), answer in zip(trees, between, strict=True):
        assert answer["Path"] == [h.hex() for h in consistency_path(old, size, node)]


def spoilt(rng: random.Random, path: list[bytes]) -> list[bytes]:
    """The path as it is, or with a hash more, less, changed or elsewhere."""
    path, at = path.copy(), rng.randrange(len(path) + 1)
    match rng.randrange(6):
        case 0:
            path.insert(at, rng.choice([*path, LEAVES[0]]))
        case 1:
            del path[at : at + 1]
        case 2 if path:
            path[at % len(path)] = rng.choice(LEAVES)
        case 3:
            rng.shuffle(path)
    return path


def test_go_and_we_believe_the_same_proofs(go: Go) -> None:
    rng = random.Random(6962)
    node, roots = node_of(LEAVES), [root_of(LEAVES[:size]) for size in range(71)]
    questions: list[dict[str, Any]] = []
    ours: list[bool] = []
    for _ in range(6_000):
        size = rng.randint(1, 70)
        index, old = rng.randrange(size), rng.randint(1, size)
        claimed = rng.choice([size, size, size, size + 1, size - 1 or 1, rng.randint(1, 80)])
        root = rng.choice([roots[size], roots[size], roots[min(claimed, 70)], LEAVES[index]])
        place = rng.choice([index, index, rng.randrange(claimed + 1)])
        path = spoilt(rng, inclusion_path(index, size, node))
        asked = {"Path": [h.hex() for h in path], "New": claimed, "NewRoot": root.hex()}
        questions.append({"Op": "check record", "Index": place, "Leaf": HEXES[index], **asked})
        ours.append(holds(partial(verify_inclusion, LEAVES[index], place, claimed, path, root)))

        path = spoilt(rng, consistency_path(old, size, node))
        before = rng.choice([old, old, old, old - 1 or 1, old + 1])
        old_root = rng.choice([roots[old], roots[old], roots[min(before, 70)]])
        asked["Path"] = [h.hex() for h in path]
        questions.append({"Op": "check tree", "Old": before, "OldRoot": old_root.hex(), **asked})
        ours.append(holds(partial(verify_consistency, before, claimed, path, old_root, root)))

    theirs = [answer["Ok"] for answer in go(questions)]

    assert [q for q, we, they in zip(questions, ours, theirs, strict=True) if we != they] == []
    assert 1_000 < sum(ours) < 9_000


def holds(check: Callable[[], None]) -> bool:
    try:
        check()
    except ProofError:
        return False
    return True


def test_go_takes_every_note_that_we_take_and_reads_the_same_text(go: Go) -> None:
    rng = random.Random(2)
    source = sign_note("a text\n\nof two parts\n", OTHER, LOG).encode()
    pieces = [b"\n", b"\n\n", b" ", b"+", b"=", b"\r", b"\x00", b"\x1f", b"\x7f", b"\xc2\x85", b"\xe2\x80\xa8", b"\xff"]
    pieces += [b"\xe2\x80\x94 ", "é".encode(), *(line + b"\n" for line in source.split(b"\n")), b"A", b""]
    notes = [source]
    for _ in range(4_000):
        at, width = rng.randrange(len(source) + 1), rng.choice([0, 0, 1, 2])
        notes.append(source[:at] + rng.choice(pieces) + source[at + width :])
    keys = [LOG.public, OTHER.public]

    theirs = go([{"Op": "note", "Note": base64(n), "Keys": [key.encode() for key in keys]} for n in notes])

    taken, stricter = 0, set[str]()
    for data, answer in zip(notes, theirs, strict=True):
        try:
            note = parse_note(data)
            signers = verify_note(note, keys)
        except BadNote as error:
            if answer["Ok"]:
                stricter.add(error.detail)
            continue
        taken += 1
        assert (answer["Error"], answer["Text"]) == ("", note.text), data
        assert answer["Count"] == len(signers)
    assert taken > 10
    # Go takes base64 in spellings that mean the same.
    assert stricter <= {"expected a signature in base64 after the key name, found another text"}


def test_go_finds_the_same_tiles_at_the_same_places(go: Go) -> None:
    size = 600
    hashes = leaves(size)
    builder = Builder()
    full = {(tile.level, tile.index): tile.hashes for tile in builder.add(hashes)}
    places = [(0, n, tile_width(0, n, size)) for n in range(3)] + [(1, 0, 2), (0, 2, 1), (0, 1, 7)]
    paths = [tile_path(level, n, width) for level, n, width in places]

    theirs = go(
        [{"Op": "tile", "Tile": p.replace("tile/", "tile/8/"), "Leaves": [h.hex() for h in hashes]} for p in paths]
    )

    for (level, n, width), answer in zip(places, theirs, strict=True):
        ours = full.get((level, n)) or b"".join(builder.partial[level])
        assert b64decode(answer["Data"]) == ours[: 32 * width]
    data = dict(zip(places, (b64decode(a["Data"]) for a in theirs), strict=True))
    tiles = Tiles(lambda level, n, width: data[(level, n, width)], size)
    for old, new in pairwise([1, 256, 257, 600]):
        path = consistency_path(new, size, tiles.node)
        verify_consistency(new, size, path, root_of(hashes[:new]), root_of(hashes))
        verify_inclusion(hashes[old], old, size, inclusion_path(old, size, tiles.node), root_of(hashes))


def test_go_and_we_take_the_same_paths_of_tiles(go: Go) -> None:
    texts = [
        tile_path(level, n, width) for level in (0, 7) for n in (0, 999, 1_000, 1_234_067) for width in (1, 255, 256)
    ]
    texts += ["tile/0/00", "tile/0/0000", "tile/0/x000/001", "tile/0/000.p/0", "tile/0/000.p/256", "tile/0/000.p/01"]
    texts += ["tile/00/000", "tile/0/000/", "tile/0/x001", "tile/0/001/000", "tile/-1/000", "tile/0/000.p/"]

    theirs = go([{"Op": "tile path", "Tile": text.replace("tile/", "tile/8/", 1)} for text in texts])

    for text, answer in zip(texts, theirs, strict=True):
        try:
            named = parse_tile_path(text)
        except ValueError:
            assert not answer["Ok"], text
        else:
            assert (answer["Text"].replace("tile/8/", "tile/"), answer["Count"]) == (text, named.width)


def test_a_proof_file_of_ours_is_believed_by_go_piece_by_piece(go: Go) -> None:
    head = Checkpoint("host.example/default/0", 70, root_of(LEAVES))
    signed = add_lines(sign_checkpoint(head, LOG), [cosign(head, 7, WITNESS)])
    proof = parse_proof(TlogProof(42, tuple(inclusion_path(42, 70, node_of(LEAVES))), signed).encode())

    assert check_proof(proof, LEAVES[42], [LOG.public], [WITNESS.public], 1) == head
    assert open_checkpoint(proof.checkpoint, [LOG.public])[0] == head
    answers = go(
        [
            {"Op": "checkpoint", "Keys": [LOG.public.encode()], "Leaves": HEXES, "Note": base64(proof.checkpoint)},
            {
                "Op": "check record",
                "Path": [h.hex() for h in proof.path],
                "New": 70,
                "NewRoot": head.root.hex(),
                "Index": proof.index,
                "Leaf": HEXES[42],
            },
        ]
    )
    assert [answer["Error"] for answer in answers] == ["", ""]
