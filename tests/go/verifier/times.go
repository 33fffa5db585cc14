package main

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"
)

// dated are the earlier heads of a bundle: one without the debate, and one with all of it.
var dated = []string{"times/before.txt", "times/first.txt"}

// stamped are such heads with an authority's time stamps, whose tokens stand beside them.
var stamped = []string{"times/stamped-before.txt", "times/stamped-first.txt"}

// tokenOf is the file of the token of a stamped head.
func tokenOf(head string) string { return strings.TrimSuffix(head, ".txt") + ".tst" }

// isTime says whether a bundle may have such a file under times/.
func isTime(name string) bool {
	for _, head := range append(append([]string{}, dated...), stamped...) {
		if name == head {
			return true
		}
	}
	return name == tokenOf(stamped[0]) || name == tokenOf(stamped[1])
}

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

// late is how many seconds after the last record a head may have been countersigned that still dates the debate.
const late = 3600

// times refuses records whose times run backwards, earlier heads that hold what they must not, or lack it, and records
// that are dated outside of the signed times.
func (b *bundle) times() error {
	if b.later != nil {
		return b.later
	}
	dates, err := b.ascending()
	if err != nil {
		return err
	}
	heads, err := b.earlierHeads()
	if err != nil {
		return err
	}
	stamps, err := b.stamps()
	if err != nil {
		return err
	}
	if b.records[0].v < 2 {
		return fmt.Errorf("leaves of version 1 have one time: %w", errLater)
	}
	if len(b.witnesses) == 0 && len(b.authorities) == 0 && b.quorum == 0 {
		return nil
	}
	if len(b.witnesses) == 0 && len(b.authorities) == 0 {
		return fmt.Errorf("no witness is pinned: %w", errLater)
	}
	if heads[dated[1]] == nil && len(b.witnesses) > 0 {
		return errors.New("times/first.txt is missing")
	}
	return b.between(heads, stamps, dates)
}

// stamps are what the tokens say, by their heads, whether their authority is pinned or not.
func (b *bundle) stamps() (map[string]stamp, error) {
	found := map[string]stamp{}
	for _, name := range stamped {
		_, hasHead := b.files[name]
		data, hasToken := b.files[tokenOf(name)]
		if hasHead != hasToken {
			return nil, fmt.Errorf("%s without its token, or the token alone", name)
		}
		if !hasHead {
			continue
		}
		c, err := b.earlier(name)
		if err != nil {
			return nil, err
		}
		said, err := openStamp(data, c.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", tokenOf(name), err)
		}
		found[name] = said
	}
	return found, nil
}

// earlierHeads reads the earlier heads that are there, by their names.
func (b *bundle) earlierHeads() (map[string]*checkpoint, error) {
	found := map[string]*checkpoint{}
	for at, name := range append(append([]string{}, dated...), stamped...) {
		if _, ok := b.files[name]; !ok {
			continue
		}
		c, err := b.earlier(name)
		if err != nil {
			return nil, err
		}
		if err := c.signed(b.keys); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for n := range b.records {
			p, err := parseProof(b.files[fmt.Sprintf("proofs/%04d.tlog-proof", n)])
			if err != nil || (p.index < c.size) != (at%2 == 1) {
				return nil, fmt.Errorf("%s holds what it must not, or lacks record %d", name, n)
			}
		}
		found[name] = &c
	}
	return found, nil
}

// cosigned are the times at which pinned witnesses signed a head, the earliest first.
func (b *bundle) cosigned(c *checkpoint) ([]int64, error) {
	if c == nil {
		return nil, nil
	}
	found, err := c.signers(b.witnesses)
	var list []int64
	for _, at := range found {
		list = append(list, at)
	}
	sort.Slice(list, func(i, j int) bool { return list[i] < list[j] })
	return list, err
}

// bounds are the latest time of a head without the debate and the earliest of one with all of it, where there are any.
func (b *bundle) bounds(heads map[string]*checkpoint, stamps map[string]stamp) (after, until *int64, err error) {
	before, err := b.cosigned(heads[dated[0]])
	if err != nil {
		return nil, nil, err
	}
	first, err := b.cosigned(heads[dated[1]])
	if err != nil {
		return nil, nil, err
	}
	quorum := max(1, b.quorum)
	if len(before) >= quorum {
		after = &before[len(before)-quorum]
	}
	if len(first) >= quorum {
		until = &first[quorum-1]
	}
	if s, ok := stamps[stamped[0]]; ok && b.authorities[s.authority] {
		if at := s.seconds - s.accuracy; after == nil || at > *after {
			after = &at
		}
	}
	if s, ok := stamps[stamped[1]]; ok && b.authorities[s.authority] {
		if at := s.seconds + s.accuracy; until == nil || at < *until {
			until = &at
		}
	}
	return after, until, nil
}

// between compares the records with the times of the heads without the debate and with all of it.
func (b *bundle) between(heads map[string]*checkpoint, stamps map[string]stamp, dates []time.Time) error {
	skew, err := b.clockSkew()
	if err != nil {
		return err
	}
	from, until, err := b.bounds(heads, stamps)
	if err != nil {
		return err
	}
	tolerance, last := 1+skew, dates[len(dates)-1]
	if from != nil && until != nil && *from-tolerance > *until {
		return errors.New("a head without the debate was signed after one with it")
	}
	if from != nil && dates[0].Unix() < *from-tolerance {
		return errors.New("the first record is dated before a head that lacks it")
	}
	if until != nil && after(last, *until, tolerance) {
		return errors.New("the last record is dated after a head that has it")
	}
	p, err := parseProof(b.files["proofs/0000.tlog-proof"])
	switch {
	case err != nil:
		return err
	case until == nil || *until-last.Unix() > late:
		return fmt.Errorf("no head of the hour after the debate was signed: %w", errLater)
	case from == nil && p.index > 0:
		return fmt.Errorf("no head before the debate was signed: %w", errLater)
	}
	if s, ok := stamps[stamped[1]]; len(b.authorities) > 0 && (!ok || !b.authorities[s.authority]) {
		return fmt.Errorf("no pinned authority stamped a head with all of the debate: %w", errLater)
	}
	return nil
}

// after says whether a time is more than some seconds after a signed one, which may be any number.
func after(at time.Time, signed, tolerance int64) bool {
	seconds := at.Unix() - tolerance
	return seconds > signed || seconds == signed && at.Nanosecond() > 0
}

// clockSkew is what the policy says that clocks may be apart, in seconds.
func (b *bundle) clockSkew() (int64, error) {
	policy, err := parse(b.files["policy.json"])
	if err != nil {
		return 0, err
	}
	audit, err := policy.object("audit")
	if err != nil {
		return 0, err
	}
	return audit.integer("clockSkewS")
}

// ascending refuses records whose times run backwards, and gives when they were written.
func (b *bundle) ascending() ([]time.Time, error) {
	var dates []time.Time
	var last *record
	for n := range b.records {
		if err := b.records[n].dated(last); err != nil {
			return nil, fmt.Errorf("record %d: %w", n, err)
		}
		last = &b.records[n]
		at, _ := time.Parse(time.RFC3339Nano, last.recorded)
		dates = append(dates, at)
	}
	return dates, nil
}

// dated refuses a record that was written before it occurred or before the one before it, where that is known, and the
// first record of a debate that has another millisecond than the debate's id.
func (r *record) dated(last *record) error {
	recorded, err := time.Parse(time.RFC3339Nano, r.recorded)
	occurred, errOccurred := time.Parse(time.RFC3339Nano, r.occurred)
	if err != nil || errOccurred != nil || recorded.Before(occurred) {
		return errors.New("written before it occurred")
	}
	if last != nil {
		if before, err := time.Parse(time.RFC3339Nano, last.recorded); err != nil || recorded.Before(before) {
			return errors.New("written before the record before it")
		}
	}
	id := strings.ReplaceAll(r.debate, "-", "")
	if r.n == 0 && r.v > 1 && (id[12] != '7' || id[:12] != fmt.Sprintf("%012x", recorded.UnixMilli())) {
		return errors.New("the debate's id is of another millisecond than its first record")
	}
	return nil
}
