package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
)

// example holds the members that cases of any file may have; bytes are base64 in JSON.
type example struct {
	Refused string
	Holds   bool

	Salt, Commitment, Text, Name, ID, Public, LeafHash, Root, OldRoot, NewRoot, Origin, Double string
	Content, Leaf, Payload, Note, Proof, Archive, Lines, Checkpoint, Spelt                     []byte

	Code                  []rune
	Type                  byte
	Leaves                [][]byte
	Path, Keys, Witnesses []string
	Index, Size, Old, New int64
	Seconds, Accuracy     int64
	Certificate           string
	Token                 []byte
	Signed                bool
	Times                 map[string]int64
	Files                 map[string][]byte

	whole value // the case with all members, in order
}

var errVector = errors.New("another result")

// vectors checks every case, prints each that ends otherwise, and counts them.
func vectors(folder string, out io.Writer) int {
	total, wrong := 0, 0
	var chain *record
	for name, check := range map[string]func(example) (bool, error){
		"commitments.json": byError(checkCommitment), "strings.json": byError(checkString),
		"numbers.json": byError(checkNumber),
		"records.json": byError(func(x example) error { return checkRecord(x, &chain) }),
		"keys.json":    byError(checkKey), "trees.json": byError(checkTree), "inclusions.json": checkInclusion,
		"consistencies.json": checkConsistency, "checkpoints.json": byError(checkCheckpoint), "proofs.json": checkProof,
		"archives.json": byError(checkArchive), "stamps.json": byError(checkStamp), "exports.json": checkExport,
		"tokens.json": byError(computed(checkTokens)), "usages.json": byError(computed(checkUsage)),
		"charges.json": byError(computed(checkCharge)), "reservations.json": byError(computed(checkReservation)),
		"closings.json": byError(computed(checkClosing)), "ledgers.json": byError(computed(checkLedger)),
		"decisions.json": byError(computed(checkDecision)), "requests.json": byError(computed(checkRequest)),
		"seeds.json": byError(computed(checkSeed)),
	} {
		var cases []example
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err == nil {
			err = json.Unmarshal(data, &cases)
		}
		if whole, errWhole := parse(data); errWhole == nil && len(whole.items) == len(cases) {
			for i := range cases {
				cases[i].whole = whole.items[i]
			}
		}
		if err != nil || len(cases) == 0 {
			fmt.Fprintf(out, "%s: no cases: %v\n", name, err)
			wrong++
		}
		for i, x := range cases {
			total++
			if agreed, err := check(x); !agreed {
				fmt.Fprintf(out, "%s: case %d: %v %s\n", name, i, err, x.Refused)
				wrong++
			}
		}
	}
	fmt.Fprintf(out, "%d cases, %d disagree\n", total, wrong)
	if wrong > 0 {
		return exitFailed
	}
	return exitOK
}

// byError is for files whose cases have to be refused where they say `refused`.
func byError(check func(example) error) func(example) (bool, error) {
	return func(x example) (bool, error) {
		err := check(x)
		return (err == nil) == (x.Refused == ""), err
	}
}

// when gives an error unless a result is what it has to be.
func when(good bool) error {
	if good {
		return nil
	}
	return errVector
}

func checkStamp(x example) error {
	said, err := openStamp(x.Token, x.Text)
	if err != nil {
		return err
	}
	same := said.seconds == x.Seconds && said.accuracy == x.Accuracy && hex.EncodeToString(said.authority[:]) == x.Certificate
	return when(same)
}

func checkCommitment(x example) error { return when(committed(x.Commitment, x.Salt, x.Content)) }

func checkString(x example) error {
	v, err := parse(x.Spelt)
	if err != nil {
		return err
	}
	return when(v.text == string(x.Code) && spell(string(x.Code)) == string(x.Spelt))
}

func checkNumber(x example) error {
	raw, err := hex.DecodeString(x.Double)
	if err != nil || len(raw) != 8 {
		return errVector
	}
	v, err := parse(x.Spelt)
	double := math.Float64frombits(binary.BigEndian.Uint64(raw))
	return errors.Join(err, when(spellDouble(double) == string(x.Spelt) && v.text == string(x.Spelt)))
}

func checkRecord(x example, before **record) error {
	r := &record{leaf: x.Leaf, payload: x.Payload, salt: x.Salt}
	if err := r.open(nil); err != nil {
		return err
	}
	if *before != nil {
		if err := r.follows(*before); err != nil {
			return err
		}
	}
	*before = r
	return when(r.hash() == x.LeafHash)
}

func checkKey(x example) error {
	k, err := parseKey(x.Text)
	if err != nil {
		return err
	}
	id, public := hex.EncodeToString(k.id[:]), hex.EncodeToString(k.public)
	return when(k.name == x.Name && k.kind == x.Type && id == x.ID && public == x.Public)
}

func checkTree(x example) error {
	var leaves []hash
	for _, leaf := range x.Leaves {
		leaves = append(leaves, leafHash(leaf))
	}
	root := rootOf(leaves)
	return when(hex.EncodeToString(root[:]) == x.Root)
}

// fromHex reads hashes; one that is none becomes zeros, which no proof leads to.
func fromHex(texts ...string) []hash {
	list := make([]hash, len(texts))
	for i, text := range texts {
		if raw, err := hex.DecodeString(text); err == nil && len(raw) == len(list[i]) {
			list[i] = hash(raw)
		}
	}
	return list
}

func checkInclusion(x example) (bool, error) {
	err := included(leafHash(x.Leaf), x.Index, x.Size, fromHex(x.Path...), fromHex(x.Root)[0])
	return (err == nil) == x.Holds, err
}

func checkConsistency(x example) (bool, error) {
	err := consistent(x.Old, x.New, fromHex(x.OldRoot)[0], fromHex(x.NewRoot)[0], fromHex(x.Path...))
	return (err == nil) == x.Holds, err
}

func keysOf(texts []string) (list []key, err error) {
	for _, text := range texts {
		k, err := parseKey(text)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	return list, nil
}

func checkCheckpoint(x example) error {
	pinned, err := keysOf(x.Keys)
	if err != nil {
		return err
	}
	witnesses, err := keysOf(x.Witnesses)
	if err != nil {
		return err
	}
	c, err := parseCheckpoint(x.Note)
	if err != nil {
		return err
	}
	if err := c.signed(pinned); err != nil {
		return err
	}
	times, err := c.signers(witnesses)
	if err != nil {
		return err
	}
	same := len(times) == len(x.Times)
	for name, at := range x.Times {
		same = same && times[name] == at
	}
	return when(same && c.origin == x.Origin && c.size == x.Size && hex.EncodeToString(c.root[:]) == x.Root)
}

func checkProof(x example) (bool, error) {
	p, err := parseProof(x.Proof)
	if err == nil && !bytes.Equal(p.checkpoint, x.Checkpoint) {
		err = errors.New("another checkpoint")
	}
	var c checkpoint
	if err == nil {
		c, err = parseCheckpoint(x.Checkpoint)
	}
	if err == nil {
		err = included(leafHash(x.Leaf), p.index, c.size, p.path, c.root)
	}
	return (err == nil) == x.Holds && (!x.Holds || p.index == x.Index), err
}

func checkArchive(x example) error {
	files, err := unpack(x.Archive)
	if err != nil {
		return err
	}
	same := len(files) == len(x.Files)
	for _, f := range files {
		content, ok := x.Files[f.name]
		same = same && ok && bytes.Equal(content, f.content)
	}
	return when(same)
}

func checkExport(x example) (bool, error) {
	pinned, err := keysOf(x.Keys)
	if err != nil {
		return false, err
	}
	var said bytes.Buffer
	exit := verify(x.Lines, trust{keys: pinned}, &said)
	return (exit == exitOK) == x.Holds, errors.New(said.String())
}
