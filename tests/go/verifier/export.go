package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// row is a record of an export.
type row struct {
	record
	index   int64
	context []byte // nil where there is none
	salt    string // of the context
	path    []hash
	whole   bool // no path: the export is complete
}

// export is a file that is being verified.
type export struct {
	trust
	data     []byte
	log      string
	key      string
	size     int64
	complete bool
	head     checkpoint
	rows     []row
	later    error
}

// steps are those of an export, in order.
func (e *export) steps() []step {
	return []step{
		{"file", e.file}, {"signature", e.signature}, {"witnesses", func() error { return e.witnessed(e.head) }},
		{"lines", func() error { return e.lines(e.head, nil) }}, {"records", e.records}, {"chains", e.chains},
		{"tree", e.tree}, {"logs", e.openings},
	}
}

// unseen are the characters that a line of an export escapes, beside those that JSON escapes everywhere.
var unseen = [][2]rune{
	{0x007F, 0x009F}, {0x00AD, 0x00AD}, {0x034F, 0x034F}, {0x061C, 0x061C}, {0x115F, 0x1160},
	{0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
	{0x2800, 0x2800}, {0x3164, 0x3164}, {0xE000, 0xF8FF}, {0xFDD0, 0xFDEF}, {0xFE00, 0xFE0F},
	{0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0xFFFE, 0xFFFF}, {0x13430, 0x1345F},
	{0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}, {0xF0000, 0x10FFFF},
}

// escaped spells each unseen character of a compact value as JSON's escape of its UTF-16 units.
func escaped(compact []byte) []byte {
	var out []byte
	for _, c := range string(compact) {
		among := slices.ContainsFunc(unseen, func(r [2]rune) bool { return r[0] <= c && c <= r[1] })
		if !among {
			out = utf8.AppendRune(out, c)
			continue
		}
		for _, unit := range utf16.Encode([]rune{c}) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// compactLine reads a line that must be compact, its members these.
func compactLine(data []byte, names ...string) (value, error) {
	v, err := parse(data)
	if err != nil {
		return v, err
	}
	if err := v.exactly(names...); err != nil {
		return v, err
	}
	if !bytes.Equal(escaped(v.compact()), data) {
		return v, errors.New("another spelling")
	}
	return v, nil
}

func (e *export) file() error {
	lines := bytes.Split(e.data, []byte("\n"))
	if len(lines) < 3 || len(lines[len(lines)-1]) > 0 {
		return errors.New("an export has a first line, a last line, and newlines at their ends")
	}
	if err := e.first(lines[0]); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	last := int64(-1)
	for i, line := range lines[1 : len(lines)-2] {
		r, err := e.row(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", i+2, err)
		}
		if r.index <= last {
			return fmt.Errorf("line %d: an index out of order", i+2)
		}
		last = r.index
		e.rows = append(e.rows, r)
	}
	footer, err := compactLine(lines[len(lines)-2], "records")
	if err != nil {
		return fmt.Errorf("the last line: %w", err)
	}
	if count, err := footer.integer("records"); err != nil || count != int64(len(e.rows)) {
		return errors.New("the last line counts otherwise")
	}
	if e.complete && (int64(len(e.rows)) != e.size || last != e.size-1) {
		return errors.New("a complete export without all records")
	}
	return nil
}

func (e *export) first(line []byte) (err error) {
	v, err := compactLine(line, "format", "log", "key", "size", "checkpoint", "filters", "complete")
	if err != nil {
		return err
	}
	if format, err := v.str("format"); err != nil || format != "gainsay-export/1" {
		return errors.New("another format")
	}
	if e.log, err = v.str("log"); err != nil {
		return err
	}
	if e.key, err = v.str("key"); err != nil {
		return err
	}
	if e.size, err = v.integer("size"); err != nil {
		return err
	}
	note, err := v.str("checkpoint")
	if err != nil {
		return err
	}
	filters, err := v.object("filters")
	if err != nil {
		return err
	}
	for _, filter := range filters.items {
		if filter.kind != isString {
			return errors.New("a filter that is no string")
		}
	}
	complete, _ := v.get("complete")
	if e.complete = complete.text == "true"; complete.kind != isBool || e.complete && len(filters.items) > 0 {
		return errors.New("complete, with filters or without a word")
	}
	if e.head, err = parseCheckpoint([]byte(note)); err != nil {
		return err
	}
	if e.head.origin != e.log || e.head.size != e.size {
		return errors.New("a checkpoint of another log or size")
	}
	return nil
}

func (e *export) row(line []byte) (r row, err error) {
	v, err := compactLine(line, "index", "leaf", "payload", "salt", "context", "contextSalt", "path")
	if err != nil {
		return r, err
	}
	if r.index, err = v.integer("index"); err != nil {
		return r, err
	}
	leaf, err := v.str("leaf")
	if err != nil {
		return r, err
	}
	r.leaf = []byte(leaf)
	for name, at := range map[string]*[]byte{"payload": &r.payload, "context": &r.context} {
		if err := optional(v, name, at); err != nil {
			return r, err
		}
	}
	var salt, contextSalt []byte
	for name, at := range map[string]*[]byte{"salt": &salt, "contextSalt": &contextSalt} {
		if err := optional(v, name, at); err != nil {
			return r, err
		}
	}
	r.record.salt, r.salt = string(salt), string(contextSalt)
	if (salt == nil) != (r.payload == nil) || (contextSalt == nil) != (r.context == nil) {
		return r, errors.New("content without its salt, or a salt without its content")
	}
	path, _ := v.get("path")
	if r.whole = path.kind == isNull; !r.whole && path.kind != isList {
		return r, errors.New("a path that is neither a list nor null")
	}
	var lines []string
	for _, item := range path.items {
		if item.kind != isString {
			return r, errors.New("a path of something else than strings")
		}
		lines = append(lines, item.text)
	}
	r.path, err = hashes(lines)
	return r, err
}

// optional takes a string that may be null.
func optional(v value, name string, at *[]byte) error {
	m, _ := v.get(name)
	switch m.kind {
	case isNull:
		return nil
	case isString:
		*at = append([]byte{}, m.text...)
		return nil
	}
	return fmt.Errorf("%q is neither a string nor null", name)
}

func (e *export) signature() error {
	own, err := parseKey(e.key)
	if err != nil {
		return err
	}
	if err := e.head.signed([]key{own}); err != nil {
		return fmt.Errorf("the key that the file names: %w", err)
	}
	return e.head.signed(e.keys)
}

func (e *export) records() error {
	for i := range e.rows {
		r := &e.rows[i]
		err := r.open(e.forms)
		if err == nil {
			err = r.named()
		}
		if err == nil {
			err = e.contextOfRow(r)
		}
		if err == nil && r.log != e.log {
			err = errors.New("a record of another log")
		}
		if errors.Is(err, errLater) {
			e.later = err
		} else if err != nil {
			return fmt.Errorf("the record at %d: %w", r.index, err)
		}
	}
	return e.later
}

func (e *export) contextOfRow(r *row) error {
	if r.context == nil {
		if r.envelope.context != "" {
			return errors.New("no context")
		}
		return nil
	}
	if !committed(r.envelope.context, r.salt, r.context) {
		return errors.New("a context that has not its commitment")
	}
	_, err := parseContext(r.context)
	return err
}

func (e *export) chains() error {
	if e.later != nil {
		return e.later
	}
	before := map[string]*row{}
	ended := map[string]bool{}
	for i := range e.rows {
		r := &e.rows[i]
		last := before[r.debate]
		if ended[r.debate] {
			return fmt.Errorf("the record at %d is behind the end of its debate", r.index)
		}
		if last == nil && e.complete && r.n != 0 {
			return fmt.Errorf("the record at %d has none before it", r.index)
		}
		if last != nil {
			if err := e.pair(last, r); err != nil {
				return fmt.Errorf("the record at %d: %w", r.index, err)
			}
		}
		var earlier *record
		if last != nil {
			earlier = &last.record
		}
		if err := r.dated(earlier); err != nil {
			return fmt.Errorf("the record at %d: %w", r.index, err)
		}
		before[r.debate] = r
		ended[r.debate] = ends(r)
	}
	return nil
}

// pair checks two records of a debate, the one before and the next that is there.
func (e *export) pair(last, r *row) error {
	if e.complete || r.n == last.n+1 {
		return r.follows(&last.record)
	}
	if r.n <= last.n {
		return errors.New("out of order")
	}
	return r.same(&last.record)
}

// ends says whether nothing of the debate may follow a record.
func ends(r *row) bool {
	if r.kind == "debate.concluded" || kinds[r.kind] {
		return true
	}
	if r.kind != "gate.decided" {
		return false
	}
	decision, err := r.body.object("decision")
	said, _ := decision.get("debate")
	return err == nil && said.text == "false"
}

func (e *export) tree() error {
	for i := range e.rows {
		if e.rows[i].whole != e.complete {
			return errors.New("a path in a complete export, or none in another")
		}
	}
	if !e.complete {
		for i := range e.rows {
			r := &e.rows[i]
			if err := included(leafHash(r.leaf), r.index, e.size, r.path, e.head.root); err != nil {
				return fmt.Errorf("the record at %d: %w", r.index, err)
			}
		}
		return nil
	}
	var leaves []hash
	for i := range e.rows {
		leaves = append(leaves, leafHash(e.rows[i].leaf))
	}
	if rootOf(leaves) != e.head.root {
		return errors.New("leaves that do not hash to the root")
	}
	return nil
}

func (e *export) openings() error {
	for i := range e.rows {
		r := &e.rows[i]
		if r.kind != "log.opened" || r.body.kind == isNull {
			continue
		}
		if _, err := openedLog(&r.record, r.index, e.head); err != nil {
			return fmt.Errorf("the record at %d: %w", r.index, err)
		}
	}
	return e.later
}
