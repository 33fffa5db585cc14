package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// issuedRecords counts the records under issued/, by their leaves.
func (b *bundle) issuedRecords() (count int) {
	for _, name := range b.names {
		if strings.HasPrefix(name, "issued/") && strings.HasSuffix(name, ".leaf.json") {
			count++
		}
	}
	return count
}

// issuedUnder is the proof of the nth issued record, with the checkpoint in it.
func (b *bundle) issuedUnder(nth int) (proof, checkpoint, error) {
	name := fmt.Sprintf("issued/%04d.tlog-proof", nth)
	p, err := parseProof(b.files[name])
	if err != nil {
		return p, checkpoint{}, fmt.Errorf("%s: %w", name, err)
	}
	c, err := parseCheckpoint(p.checkpoint)
	if err != nil {
		return p, c, fmt.Errorf("%s: %w", name, err)
	}
	return p, c, nil
}

// issued refuses records of PDFs that are not of this debate as it ended, or that no log of the tenant holds behind it.
func (b *bundle) issued() error {
	if b.later != nil {
		return b.later
	}
	var later error
	epoch, index := int64(0), int64(-1)
	seen := map[string]bool{}
	for nth := 1; nth <= b.issuedRecords(); nth++ {
		r, at, err := b.issuedRecord(nth)
		if errors.Is(err, errLater) {
			later = err
		} else if err != nil {
			return fmt.Errorf("issued/%04d: %w", nth, err)
		}
		_, _, its, err := logName(r.log)
		if err != nil || its < epoch || its == epoch && at <= index {
			return fmt.Errorf("issued/%04d is out of order", nth)
		}
		epoch, index = its, at
		what := ""
		for _, name := range []string{"form", "paper", "template", "sha256"} {
			said, _ := r.body.str(name)
			what += said + "\n"
		}
		if seen[what] {
			return fmt.Errorf("issued/%04d is there twice", nth)
		}
		seen[what] = true
	}
	return later
}

// issuedRecord checks one record, and gives it with its index.
func (b *bundle) issuedRecord(nth int) (record, int64, error) {
	r := b.record(fmt.Sprintf("issued/%04d", nth))
	if r.payload == nil {
		return r, 0, errors.New("no payload")
	}
	if err := r.open(b.forms); err != nil {
		return r, 0, err
	}
	if r.kind != "report.issued" || r.n != 0 || r.prev != "" || r.tenant != b.tenant || r.named() != nil {
		return r, 0, errors.New("no record of an issued report")
	}
	if err := r.dated(nil); err != nil {
		return r, 0, err
	}
	if err := b.ofThisDebate(&r); err != nil {
		return r, 0, err
	}
	p, c, err := b.issuedUnder(nth)
	if err != nil {
		return r, 0, err
	}
	if err := included(leafHash(r.leaf), p.index, c.size, p.path, c.root); err != nil {
		return r, 0, err
	}
	if c.origin != r.log {
		return r, 0, errors.New("a checkpoint of another log")
	}
	return r, p.index, b.behind(&r, p, c)
}

// ofThisDebate holds an issued record against the debate's id, end, configuration and version of the report.
func (b *bundle) ofThisDebate(r *record) error {
	last := b.records[len(b.records)-1]
	configuration := ""
	if started, ok, err := b.started(); err != nil {
		return err
	} else if ok {
		if configuration, err = started.str("configurationHash"); err != nil {
			return err
		}
	}
	versions, err := b.records[1].body.object("versions")
	if err != nil {
		return err
	}
	template, err := versions.str("report")
	if err != nil {
		template = "report/1"
	}
	said := func(name string) string { text, _ := r.body.str(name); return text }
	if said("debate") != b.debate || said("lastRecord") != last.hash() || said("configuration") != configuration ||
		said("template") != template {
		return errors.New("of another debate, end, configuration or version of the report")
	}
	return nil
}

// behind refuses a place that is not behind the debate's end, under the bundle's checkpoint or in a later log.
func (b *bundle) behind(r *record, p proof, c checkpoint) error {
	if c.origin == b.head.origin {
		end, err := parseProof(b.files[fmt.Sprintf("proofs/%04d.tlog-proof", len(b.records)-1)])
		if err != nil || p.index <= end.index || !bytes.Equal(p.checkpoint, b.head.raw) {
			return errors.New("not behind the debate's end, or under another checkpoint")
		}
		return nil
	}
	host, tenant, epoch, err := logName(c.origin)
	ownHost, ownTenant, own, errOwn := logName(b.head.origin)
	if err != nil || errOwn != nil || host != ownHost || tenant != ownTenant || epoch <= own {
		return errors.New("in no later log of the tenant")
	}
	if c.signed(b.keys) != nil {
		return fmt.Errorf("no pinned key signed the head of %s: %w", c.origin, errLater)
	}
	if len(b.witnesses) > 0 && b.witnessed(c) != nil {
		return fmt.Errorf("too few witnesses signed the head of %s: %w", c.origin, errLater)
	}
	return nil
}
