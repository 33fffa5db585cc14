package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	mostLeaf   = 65_535
	mostEpochs = 100_000
	newestLeaf = 2
)

// kinds are those of payloads; those of the log itself are true.
var kinds = map[string]bool{
	"case.received": false, "gate.decided": false, "debate.started": false, "turn.asked": false, "turn.spoke": false,
	"turn.given":     false,
	"attempt.failed": false, "turn.silent": false, "check.found": false, "budget.refused": false, "debate.stopped": false,
	"debate.concluded": false, "log.opened": true, "audit.read": true, "audit.checked": true, "audit.remembered": true,
	"report.issued": true, "access.changed": true, "content.read": true, "evaluation.registered": true,
	"evaluation.proven": true,
	"item.asked":        true, "item.scored": true, "evaluation.stopped": true, "evaluation.concluded": true,
	"moderator.found": true, "moderator.resolved": true,
}

// errLater marks what a later verifier may know: not checkable, and no failure.
var errLater = errors.New("not checkable")

// envelope is the content of a leaf.
type envelope struct {
	v, schema, n                                int64
	log, tenant, kind, debate, prev, commitment string
	build, policy, context, occurred, recorded  string
}

// record is a leaf with what it commits to; payload is nil where there is none.
type record struct {
	envelope
	leaf    []byte
	payload []byte
	salt    string
	body    value
	said    string // the kind in the payload
}

var leafNames = map[int64][]string{
	1: {"v", "log", "tenant", "kind", "schema", "debate", "n", "prev", "at", "actor", "commitment"},
	2: {"v", "log", "tenant", "kind", "schema", "debate", "n", "prev", "occurred", "recorded", "actor", "build", "policy",
		"context", "commitment"},
}

// oneOf are the words that members of an actor may have.
var oneOf = map[string][]string{"kind": {"person", "service", "unknown"}, "via": {
	"apiKey", "databaseRole", "keyboard", "none", "oidc", "proxy"}}

// parseLeaf reads a leaf, and refuses any spelling but its only one.
func parseLeaf(data []byte) (envelope, error) {
	if len(data) > mostLeaf {
		return envelope{}, errors.New("a leaf that is too long")
	}
	v, err := parse(data)
	if err != nil {
		return envelope{}, err
	}
	version, err := v.integer("v")
	if err != nil {
		return envelope{}, errors.New("no version")
	}
	if version < 1 || version > newestLeaf {
		return envelope{}, fmt.Errorf("a leaf of version %d: %w", version, errLater)
	}
	if err := v.exactly(leafNames[version]...); err != nil {
		return envelope{}, err
	}
	if !bytes.Equal(v.compact(), data) {
		return envelope{}, errors.New("another spelling of the leaf")
	}
	e := envelope{v: version}
	if err := e.fill(v); err != nil {
		return e, err
	}
	return e, e.check()
}

// fill takes the members, each of its type.
func (e *envelope) fill(v value) (err error) {
	texts := map[string]*string{
		"log": &e.log, "tenant": &e.tenant, "kind": &e.kind, "debate": &e.debate, "prev": &e.prev,
		"commitment": &e.commitment,
	}
	if e.v == 1 {
		texts["at"] = &e.recorded
	} else {
		for name, at := range map[string]*string{
			"occurred": &e.occurred, "recorded": &e.recorded, "build": &e.build, "policy": &e.policy,
			"context": &e.context,
		} {
			texts[name] = at
		}
	}
	for name, at := range texts {
		if *at, err = v.str(name); err != nil {
			return err
		}
	}
	if e.n, err = v.integer("n"); err != nil {
		return err
	}
	if e.schema, err = v.integer("schema"); errors.Is(err, strconv.ErrRange) {
		e.schema = math.MaxInt64
	} else if err != nil {
		return err
	}
	if e.v == 1 {
		e.occurred = e.recorded
		_, err = v.str("actor")
		return err
	}
	actor, _ := v.get("actor")
	return checkActor(actor)
}

func checkActor(actor value) error {
	if err := actor.exactly("id", "kind", "role", "via"); err != nil {
		return err
	}
	for _, name := range actor.names {
		text, err := actor.str(name)
		if err != nil || text == "" {
			return fmt.Errorf("an actor without %q", name)
		}
		words := oneOf[name]
		if words != nil && words[0] != text && words[1] != text && words[2] != text {
			return fmt.Errorf("an actor of the %s %q", name, text)
		}
	}
	return nil
}

// check holds the members against the rules of the page.
func (e *envelope) check() error {
	host, tenant, _, err := logName(e.log)
	if err != nil {
		return err
	}
	if host == "" || tenant != e.tenant {
		return errors.New("a tenant that is not the log's")
	}
	if e.n < 0 || e.schema < 1 || e.kind == "" || (e.n == 0) != (e.prev == "") {
		return errors.New("members that do not fit each other")
	}
	if !identifier.MatchString(e.debate) {
		return fmt.Errorf("a debate that is no UUID: %q", e.debate)
	}
	due := []string{e.commitment}
	if e.v > 1 {
		due = append(due, e.build)
	}
	if e.v > 1 && !kinds[e.kind] {
		due = append(due, e.policy, e.context)
	}
	if e.n > 0 {
		due = append(due, e.prev)
	}
	for _, h := range due {
		if !hexHash.MatchString(h) {
			return fmt.Errorf("no SHA-256 in hex: %q", h)
		}
	}
	if err := moment(e.occurred); err != nil {
		return err
	}
	return moment(e.recorded)
}

// logName takes <host>/<tenant>/<epoch> apart.
func logName(name string) (host, tenant string, epoch int64, err error) {
	parts := strings.Split(name, "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" {
		return "", "", 0, fmt.Errorf("no name of a log: %q", name)
	}
	epoch, err = decimal(parts[2])
	if err == nil && (epoch < 1 || epoch > mostEpochs) {
		err = errors.New("no epoch")
	}
	return parts[0], parts[1], epoch, err
}

// open reads the leaf and the payload, and holds one against the other.
func (r *record) open(forms schemas) (err error) {
	if r.envelope, err = parseLeaf(r.leaf); err != nil {
		return err
	}
	if !hexHash.MatchString(r.salt) || !committed(r.commitment, r.salt, r.payload) {
		return errors.New("a payload that has not the leaf's commitment")
	}
	if r.body, err = canonical(r.payload); err != nil {
		return fmt.Errorf("the payload: %w", err)
	}
	if r.said, err = r.body.str("kind"); err != nil {
		return err
	}
	if _, known := kinds[r.said]; r.schema > 1 || !known {
		return fmt.Errorf("schema %d of %s: %w", r.schema, r.said, errLater)
	}
	if err := forms.check(r); err != nil {
		return err
	}
	return r.ruled()
}

// named refuses a payload of another kind than the leaf's.
func (r *record) named() error {
	if r.said != r.kind {
		return fmt.Errorf("a payload of the kind %s in a leaf of %s", r.said, r.kind)
	}
	return nil
}

func (r *record) hash() string {
	h := leafHash(r.leaf)
	return hex.EncodeToString(h[:])
}

// follows checks a record against the one before it in its debate (rules 1 and 2 of a chain).
func (r *record) follows(before *record) error {
	switch {
	case r.n != before.n+1 || r.prev != before.hash():
		return fmt.Errorf("record %d does not follow record %d", r.n, before.n)
	}
	return r.same(before)
}

// same refuses two records of one debate that differ in what all have in common.
func (r *record) same(other *record) error {
	if r.debate != other.debate || r.tenant != other.tenant || r.log != other.log {
		return errors.New("records of different debates, tenants or logs")
	}
	if r.v == other.v && (r.policy != other.policy || r.context != other.context) {
		return errors.New("records of one debate under different policies or contexts")
	}
	return nil
}

// contextNames are the members of a context, and what the case calls them.
var contextNames = [][2]string{
	{"downside", "estimatedDownside"}, {"downsideBasis", "downsideBasis"}, {"intendedUse", "intendedUse"},
	{"materiality", "materiality"}, {"taskType", "taskType"}, {"useCase", "useCase"},
}

// parseContext reads a context; one of a later version is not checkable.
func parseContext(data []byte) (value, error) {
	v, err := canonical(data)
	if err != nil {
		return v, err
	}
	if version, err := v.integer("v"); err == nil && version > 1 {
		return v, fmt.Errorf("a context of version %d: %w", version, errLater)
	}
	var names []string
	for _, name := range contextNames {
		names = append(names, name[0])
	}
	return v, v.exactly(names...)
}

// contextOf refuses a context whose members are not those of the case.
func contextOf(context, theCase value) error {
	for _, name := range contextNames {
		said, _ := context.get(name[0])
		held, ok := theCase.get(name[1])
		if !ok {
			held = value{kind: isNull, text: "null"}
		}
		if said.kind != isString && said.kind != isNull || said.kind != held.kind || said.text != held.text {
			return fmt.Errorf("a context whose %q is not that of the case", name[0])
		}
	}
	return nil
}

// checkDocument holds a text against what record 0 lists.
func checkDocument(listed value, salt string, text []byte) error {
	commitment, err := listed.str("commitment")
	if err != nil {
		return err
	}
	if !committed(commitment, salt, text) {
		return errors.New("a document that has not its commitment")
	}
	characters, err := listed.integer("characters")
	if err != nil || !utf8.Valid(text) || int64(utf8.RuneCount(text)) != characters {
		return errors.New("a document of another length")
	}
	return nil
}
