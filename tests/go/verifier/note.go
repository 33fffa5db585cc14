package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	plainType   = 1
	witnessType = 4
	mostLines   = 100
	mostHashes  = 63
	dash        = "\u2014 "
)

var keyName = regexp.MustCompile(`^[^\s+\pZ\pC]+$`)

// key is a verifier key.
type key struct {
	name   string
	id     [4]byte
	kind   byte
	public ed25519.PublicKey
	text   string
}

func parseKey(text string) (key, error) {
	parts := strings.SplitN(text, "+", 3)
	if len(parts) != 3 || !utf8.ValidString(text) || !keyName.MatchString(parts[0]) {
		return key{}, errors.New("not <name>+<id>+<key>")
	}
	id, err := hex.DecodeString(parts[1])
	if err != nil || len(id) != 4 || hex.EncodeToString(id) != parts[1] {
		return key{}, errors.New("an id that is not eight digits")
	}
	data, err := unbase64(parts[2])
	if err != nil || len(data) != 1+ed25519.PublicKeySize || data[0] != plainType && data[0] != witnessType {
		return key{}, errors.New("no public key of a known type")
	}
	k := key{name: parts[0], kind: data[0], public: data[1:], text: text, id: [4]byte(id)}
	sum := sha256.Sum256(append([]byte(k.name+"\n"), data...))
	if k.id != [4]byte(sum[:4]) {
		return key{}, errors.New("an id that is not that of the key")
	}
	return k, nil
}

// may says whether a key may sign checkpoints of a log.
func (k key) may(log string) bool { return k.name == log || strings.HasPrefix(log, k.name+"/") }

type signature struct {
	name string
	id   [4]byte
	data []byte // without the id
	line string
}

type note struct {
	text       string
	signatures []signature
}

func parseNote(data []byte) (note, error) {
	if !utf8.Valid(data) {
		return note{}, errors.New("not UTF-8")
	}
	at := bytes.LastIndex(data, []byte("\n\n"))
	if at < 0 {
		return note{}, errors.New("no empty line")
	}
	n := note{text: string(data[:at+1])}
	for _, c := range n.text {
		if c < 0x20 && c != '\n' {
			return note{}, errors.New("a control character in the text")
		}
	}
	rest := string(data[at+2:])
	if !strings.HasSuffix(rest, "\n") {
		return note{}, errors.New("no newline at the end")
	}
	lines := strings.Split(strings.TrimSuffix(rest, "\n"), "\n")
	if len(lines) > mostLines {
		return note{}, errors.New("too many lines of signatures")
	}
	for _, line := range lines {
		name, text, ok := strings.Cut(strings.TrimPrefix(line, dash), " ")
		if !strings.HasPrefix(line, dash) || !ok || !keyName.MatchString(name) {
			return note{}, errors.New("a line that is no signature")
		}
		raw, err := unbase64(text)
		if err != nil || len(raw) < 5 {
			return note{}, errors.New("a signature that is no base64 of five bytes and more")
		}
		n.signatures = append(n.signatures, signature{name, [4]byte(raw[:4]), raw[4:], line})
	}
	return n, nil
}

// by says whether a line is of a key.
func (s signature) by(k key) bool { return s.name == k.name && s.id == k.id }

// check verifies a line of a key over a note's text, and gives the time of a cosignature.
func (s signature) check(k key, text string) (int64, error) {
	if k.kind == plainType {
		if len(s.data) != ed25519.SignatureSize || !ed25519.Verify(k.public, []byte(text), s.data) {
			return 0, fmt.Errorf("the signature of %s does not hold", k.name)
		}
		return 0, nil
	}
	if len(s.data) != 8+ed25519.SignatureSize {
		return 0, fmt.Errorf("the cosignature of %s has another length", k.name)
	}
	at := binary.BigEndian.Uint64(s.data)
	signed := fmt.Sprintf("cosignature/v1\ntime %d\n%s", at, text)
	if at > math.MaxInt64 || !ed25519.Verify(k.public, []byte(signed), s.data[8:]) {
		return 0, fmt.Errorf("the cosignature of %s does not hold", k.name)
	}
	return int64(at), nil
}

// signers gives the names of the pinned keys that signed, each with its latest time where they are of witnesses; a wrong
// line of one is an error.
func (n note) signers(pinned []key) (map[string]int64, error) {
	found := map[string]int64{}
	for _, k := range pinned {
		for _, s := range n.signatures {
			if !s.by(k) {
				continue
			}
			at, err := s.check(k, n.text)
			if err != nil {
				return nil, err
			}
			found[k.name] = max(at, found[k.name])
		}
	}
	return found, nil
}

// twice is an error where two lines are of one name and id.
func (n note) twice() error {
	seen := map[string]bool{}
	for _, s := range n.signatures {
		name := s.name + string(s.id[:])
		if seen[name] {
			return fmt.Errorf("two lines of %s", s.name)
		}
		seen[name] = true
	}
	return nil
}

// checkpoint is the head of a log, with the note that it came in.
type checkpoint struct {
	note
	origin string
	size   int64
	root   hash
	raw    []byte
}

func parseCheckpoint(data []byte) (checkpoint, error) {
	n, err := parseNote(data)
	if err != nil {
		return checkpoint{}, err
	}
	lines := strings.Split(n.text, "\n")
	if len(lines) != 4 || lines[0] == "" {
		return checkpoint{}, errors.New("a checkpoint has three lines")
	}
	size, err := decimal(lines[1])
	if err != nil {
		return checkpoint{}, err
	}
	root, err := unbase64(lines[2])
	if err != nil || len(root) != sha256.Size {
		return checkpoint{}, errors.New("no root")
	}
	c := checkpoint{n, lines[0], size, hash(root), data}
	if size == 0 && c.root != rootOf(nil) {
		return checkpoint{}, errors.New("another root of no leaves")
	}
	return c, nil
}

// signed refuses a checkpoint that no pinned key of its log signed.
func (c checkpoint) signed(pinned []key) error {
	var mine []key
	for _, k := range pinned {
		if k.kind == plainType && k.may(c.origin) {
			mine = append(mine, k)
		}
	}
	found, err := c.signers(mine)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no pinned key of %s signed it", c.origin)
	}
	return err
}

// proof is a .tlog-proof file.
type proof struct {
	index      int64
	path       []hash
	checkpoint []byte
}

// parseProof reads a proof; a line "extra" is refused, because no hash covers it.
func parseProof(data []byte) (proof, error) {
	head, rest, ok := bytes.Cut(data, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	if !ok || len(lines) < 2 || lines[0] != "c2sp.org/tlog-proof@v1" || !strings.HasPrefix(lines[1], "index ") {
		return proof{}, errors.New("no proof, or one with a line extra")
	}
	index, err := decimal(strings.TrimPrefix(lines[1], "index "))
	if err != nil {
		return proof{}, err
	}
	p := proof{index: index, checkpoint: rest}
	p.path, err = hashes(lines[2:])
	return p, err
}

// hashes reads a path: at most 63 hashes in base64.
func hashes(lines []string) ([]hash, error) {
	if len(lines) > mostHashes {
		return nil, errors.New("a path of more than 63 hashes")
	}
	var path []hash
	for _, line := range lines {
		h, err := unbase64(line)
		if err != nil || len(h) != sha256.Size {
			return nil, errors.New("no hash of a path")
		}
		path = append(path, hash(h))
	}
	return path, nil
}
