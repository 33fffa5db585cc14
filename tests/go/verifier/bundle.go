package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// places are the files and folders that a bundle may have at its top.
var places = map[string]bool{
	"README.txt": true, "report.md": true, "report.html": true, "issued": true, "policy.json": true, "configuration.json": true, "approval.txt": true,
	"context.json": true, "context.salt": true, "records": true, "proofs": true, "checkpoints": true, "heads": true,
	"documents": true, "prompts": true, "schema": true, "times": true,
}

// bundle is a file that is being verified; each step fills in what later ones read.
type bundle struct {
	trust
	data    []byte
	names   []string
	files   map[string][]byte
	debate  string
	tenant  string
	logs    []string
	records []record
	heads   []record
	head    checkpoint
	later   error // of a leaf or payload that a later verifier knows
}

// steps are those of a bundle, in order; the last three compute again what was decided and charged.
func (b *bundle) steps() []step {
	steps := []step{
		{"file", b.file}, {"signature", b.signature}, {"witnesses", func() error { return b.witnessed(b.head) }},
		{"tree", b.tree}, {"records", b.opened}, {"context", b.context}, {"chain", b.chain}, {"complete", b.complete},
		{"logs", b.follow}, {"parts", b.parts}, {"lines", b.allLines}, {"prompts", b.prompts}, {"policy", b.policies},
		{"times", b.times}, {"approval", b.approval}, {"issued", b.issued},
	}
	if b.recompute {
		steps = append(steps, step{"gate", b.gate}, step{"charges", b.charges}, step{"money", b.money})
	}
	return steps
}

func (b *bundle) file() error {
	files, err := unpack(b.data)
	if err != nil {
		return err
	}
	b.files = map[string][]byte{}
	for _, f := range files[1:] {
		b.names, b.files[f.name] = append(b.names, f.name), f.content
	}
	count, err := b.manifest(files[0].content)
	if err != nil {
		return fmt.Errorf("manifest.json: %w", err)
	}
	return b.numbered(count)
}

// manifest reads manifest.json, and holds every file against its hash; it gives the number of records.
func (b *bundle) manifest(data []byte) (count int64, err error) {
	m, err := parse(data)
	if err != nil {
		return 0, err
	}
	if err := m.exactly("debate", "files", "format", "logs", "records", "status", "tenant"); err != nil {
		return 0, err
	}
	if !bytes.Equal(m.sorted().indented(), data) {
		return 0, errors.New("another spelling")
	}
	if format, err := m.str("format"); err != nil || format != "gainsay-bundle/2" {
		return 0, errors.New("another format")
	}
	for name, at := range map[string]*string{"debate": &b.debate, "tenant": &b.tenant, "status": new(string)} {
		if *at, err = m.str(name); err != nil {
			return 0, err
		}
	}
	logs, _ := m.get("logs")
	for _, log := range logs.items {
		b.logs = append(b.logs, log.text)
		if log.kind != isString {
			return 0, errors.New("a log that is no string")
		}
	}
	if logs.kind != isList || len(logs.items) == 0 {
		return 0, errors.New("no logs")
	}
	hashes, err := m.object("files")
	if err != nil || len(hashes.names) != len(b.files) {
		return 0, errors.New("another number of files")
	}
	for name, content := range b.files {
		if given, err := hashes.str(name); err != nil || given != digest(content) {
			return 0, fmt.Errorf("%s: another hash, or none", name)
		}
	}
	count, err = m.integer("records")
	if err == nil && (count < 1 || count > int64(len(b.files))) {
		err = errors.New("another number of records")
	}
	return count, err
}

// numbered takes the files of records, and refuses others under their folders.
func (b *bundle) numbered(count int64) error {
	due := map[string]bool{}
	for i := range b.logs {
		due[fmt.Sprintf("checkpoints/%04d.txt", i+1)] = true
	}
	for n := int64(0); n < count; n++ {
		due[fmt.Sprintf("proofs/%04d.tlog-proof", n)] = true
		for _, end := range []string{"leaf.json", "payload.json", "salt"} {
			due[fmt.Sprintf("records/%04d.%s", n, end)] = true
		}
		b.records = append(b.records, b.record(fmt.Sprintf("records/%04d", n)))
	}
	for name := range due {
		if _, ok := b.files[name]; !ok {
			return fmt.Errorf("%s is missing", name)
		}
	}
	for _, name := range b.names {
		folder, _, _ := strings.Cut(name, "/")
		if (folder == "records" || folder == "proofs" || folder == "checkpoints") && !due[name] {
			return fmt.Errorf("%s is not asked for", name)
		}
		if !places[folder] || folder == "times" && !isTime(name) {
			return fmt.Errorf("%s is no file of a bundle", name)
		}
	}
	return nil
}

// record takes the files of a record as they are.
func (b *bundle) record(path string) record {
	return record{leaf: b.files[path+".leaf.json"], payload: b.files[path+".payload.json"], salt: string(b.files[path+".salt"])}
}

func (b *bundle) signature() (err error) {
	leaf, err := parse(b.records[0].leaf)
	if err != nil {
		return fmt.Errorf("leaf 0: %w", err)
	}
	log, err := leaf.str("log")
	if err != nil {
		return fmt.Errorf("leaf 0: %w", err)
	}
	if b.head, err = parseCheckpoint(b.files["checkpoints/0001.txt"]); err != nil {
		return err
	}
	if b.head.origin != log {
		return errors.New("a checkpoint of another log")
	}
	return b.head.signed(b.keys)
}

// under refuses a proof that is not of this leaf under this checkpoint, and gives the index.
func (b *bundle) under(name string, leaf []byte, c checkpoint) (int64, error) {
	p, err := parseProof(b.files[name])
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	if !bytes.Equal(p.checkpoint, c.raw) {
		return 0, fmt.Errorf("%s: another checkpoint", name)
	}
	if err := included(leafHash(leaf), p.index, c.size, p.path, c.root); err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return p.index, nil
}

func (b *bundle) tree() error {
	last := int64(-1)
	for n := range b.records {
		index, err := b.under(fmt.Sprintf("proofs/%04d.tlog-proof", n), b.records[n].leaf, b.head)
		if err != nil {
			return err
		}
		if index <= last {
			return fmt.Errorf("the proof of record %d has an index that does not ascend", n)
		}
		last = index
	}
	return nil
}

func (b *bundle) opened() error {
	for n := range b.records {
		if err := b.records[n].open(b.forms); errors.Is(err, errLater) {
			b.later = err
		} else if err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
		if kinds[b.records[n].kind] {
			b.later = fmt.Errorf("%s in a debate: %w", b.records[n].kind, errLater)
		}
	}
	return b.later
}

func (b *bundle) context() error {
	if b.later != nil {
		return b.later
	}
	first := b.records[0]
	theCase, err := first.body.object("case")
	if err != nil {
		return err
	}
	if first.envelope.context != "" {
		content, there := b.files["context.json"]
		salt, salted := b.files["context.salt"]
		if !there || !salted {
			return fmt.Errorf("the context is missing: %w", errLater)
		}
		if !committed(first.envelope.context, string(salt), content) {
			return errors.New("context.json has not its commitment")
		}
		context, err := parseContext(content)
		if err != nil {
			return err
		}
		if err := contextOf(context, theCase); err != nil {
			return err
		}
	}
	return b.documents(theCase)
}

func (b *bundle) documents(theCase value) error {
	listed, _ := theCase.get("documents")
	if len(listed.items) == 0 {
		return nil
	}
	data, there := b.files["documents/index.json"]
	if !there {
		return fmt.Errorf("documents/index.json is missing: %w", errLater)
	}
	index, err := parse(data)
	if err != nil || index.kind != isList || !bytes.Equal(index.sorted().indented(), data) {
		return errors.New("documents/index.json has another spelling")
	}
	if len(index.items) != len(listed.items) {
		return errors.New("documents/index.json has another number of documents")
	}
	for i, entry := range index.items {
		if err := entry.exactly("file", "id", "salt", "title"); err != nil {
			return err
		}
		for _, name := range []string{"id", "title"} {
			said, err := entry.str(name)
			held, errHeld := listed.items[i].str(name)
			if err != nil || errHeld != nil || said != held {
				return fmt.Errorf("a document with another %s", name)
			}
		}
		name, _ := entry.str("file")
		salt, _ := entry.str("salt")
		text, ok := b.files[name]
		if name != fmt.Sprintf("documents/%04d.txt", i+1) {
			return errors.New("a document that is not in its file")
		}
		if !ok {
			return fmt.Errorf("%s is missing: %w", name, errLater)
		}
		if err := checkDocument(listed.items[i], salt, text); err != nil {
			return err
		}
	}
	return nil
}

func (b *bundle) chain() error {
	if b.later != nil {
		return b.later
	}
	if b.records[0].n != 0 {
		return errors.New("the first record is not record 0")
	}
	for n := 1; n < len(b.records); n++ {
		r, before := &b.records[n], &b.records[n-1]
		if r.n != before.n+1 || r.prev != before.hash() {
			return fmt.Errorf("record %d does not follow the one before", n)
		}
	}
	return nil
}

// debated says whether the gate let the case be debated.
func (b *bundle) debated() (bool, error) {
	if len(b.records) < 2 || b.records[1].kind != "gate.decided" {
		return false, errors.New("record 1 is no decision of the gate")
	}
	decision, err := b.records[1].body.object("decision")
	if err != nil {
		return false, err
	}
	said, ok := decision.get("debate")
	if !ok || said.kind != isBool {
		return false, errors.New("the gate did not decide")
	}
	return said.text == "true", nil
}

func (b *bundle) complete() error {
	if b.later != nil {
		return b.later
	}
	first := &b.records[0]
	if first.kind != "case.received" {
		return errors.New("record 0 is no case")
	}
	if first.debate != b.debate || first.tenant != b.tenant || first.log != b.logs[0] {
		return errors.New("the manifest is of another debate, tenant or log")
	}
	for n := range b.records {
		if err := errors.Join(b.records[n].named(), b.records[n].same(first)); err != nil {
			return err
		}
	}
	debated, err := b.debated()
	if err != nil {
		return err
	}
	decision, _ := b.records[1].body.object("decision")
	if said, err := decision.str("policyHash"); err != nil || first.v > 1 && said != b.records[1].policy {
		return errors.New("another policy decided")
	}
	if !debated {
		if len(b.records) != 2 {
			return errors.New("a declined case with more records")
		}
		return nil
	}
	return b.begunAndEnded()
}

// begunAndEnded checks the beginning and the end of a debate.
func (b *bundle) begunAndEnded() error {
	last := len(b.records) - 1
	for n, r := range b.records {
		if (r.kind == "debate.started") != (n == 2) || (r.kind == "debate.concluded") != (n == last) {
			return fmt.Errorf("record %d is %s", n, r.kind)
		}
	}
	if last < 3 {
		return errors.New("a debate without an end")
	}
	if b.records[2].v == 1 {
		return nil
	}
	for name, want := range map[string]string{"policyHash": b.records[2].policy, "buildHash": b.records[2].build} {
		if said, err := b.records[2].body.str(name); err != nil || said != want {
			return fmt.Errorf("record 2 has another %s than its leaf", name)
		}
	}
	return nil
}
