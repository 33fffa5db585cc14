package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"
)

// dated are the earlier heads of a bundle: one without the debate, and one with all of it.
var dated = []string{"times/before.txt", "times/first.txt"}

// earlier reads an earlier head, and refuses one that the head of the bundle does not continue.
func (b *bundle) earlier(name string) (checkpoint, error) {
	head, rest, ok := bytes.Cut(b.files[name], []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	if !ok || lines[0] != "gainsay-earlier-head/1" {
		return checkpoint{}, fmt.Errorf("%s is no earlier head", name)
	}
	path, err := hashes(lines[1:])
	if err != nil {
		return checkpoint{}, fmt.Errorf("%s: %w", name, err)
	}
	c, err := parseCheckpoint(rest)
	if err == nil && c.origin != b.head.origin {
		err = errors.New("of another log")
	}
	if err == nil {
		err = consistent(c.size, b.head.size, c.root, b.head.root, path)
	}
	if err != nil {
		return checkpoint{}, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// times refuses records whose times run backwards, and earlier heads that hold what they must not, or lack it.
func (b *bundle) times() error {
	if b.later != nil {
		return b.later
	}
	if b.records[0].v < 2 {
		return fmt.Errorf("leaves of version 1 have one time: %w", errLater)
	}
	if err := b.ascending(); err != nil {
		return err
	}
	held := map[string]bool{}
	for at, name := range dated {
		if _, ok := b.files[name]; !ok {
			continue
		}
		held[name] = true
		c, err := b.earlier(name)
		if err != nil {
			return err
		}
		if err := c.signed(b.keys); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for n := range b.records {
			p, err := parseProof(b.files[fmt.Sprintf("proofs/%04d.tlog-proof", n)])
			if err != nil || (p.index < c.size) != (at == 1) {
				return fmt.Errorf("%s holds what it must not, or lacks record %d", name, n)
			}
		}
	}
	if len(b.witnesses) == 0 && b.quorum == 0 {
		return nil
	}
	if len(b.witnesses) == 0 {
		return fmt.Errorf("no witness is pinned: %w", errLater)
	}
	if !held[dated[1]] {
		return errors.New("times/first.txt is missing")
	}
	return fmt.Errorf("the signed times are not compared by this program: %w", errLater)
}

// ascending refuses a record before the one before it, or before it occurred, and another id than the first time's.
func (b *bundle) ascending() error {
	var last time.Time
	for n := range b.records {
		recorded, err := time.Parse(time.RFC3339Nano, b.records[n].recorded)
		occurred, errOccurred := time.Parse(time.RFC3339Nano, b.records[n].occurred)
		if err != nil || errOccurred != nil || recorded.Before(last) || recorded.Before(occurred) {
			return fmt.Errorf("the times of record %d run backwards", n)
		}
		last = recorded
	}
	first, _ := time.Parse(time.RFC3339Nano, b.records[0].recorded)
	id := strings.ReplaceAll(b.records[0].debate, "-", "")
	if id[12] != '7' || id[:12] != fmt.Sprintf("%012x", first.UnixMilli()) {
		return errors.New("the debate's id is of another millisecond than its first record")
	}
	return nil
}
