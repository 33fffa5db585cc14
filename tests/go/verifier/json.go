package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// kind says which of JSON's values a value is.
type kind byte

const (
	isNull kind = iota
	isBool
	isNumber
	isString
	isList
	isObject
)

// deepest is how far a text may nest: enough for every file, and no more than a stack holds.
const deepest = 200

// value is a JSON value that keeps the order of its members and the digits of its numbers.
type value struct {
	kind  kind
	text  string // of a string its characters, of a number or a word its spelling
	items []value
	names []string // of an object, as long as items
}

func (v value) get(name string) (value, bool) {
	for i, other := range v.names {
		if other == name {
			return v.items[i], true
		}
	}
	return value{}, false
}

// str is a member that is a string.
func (v value) str(name string) (string, error) {
	m, ok := v.get(name)
	if !ok || m.kind != isString {
		return "", fmt.Errorf("no string %q", name)
	}
	return m.text, nil
}

// integer is a member that is an integer.
func (v value) integer(name string) (int64, error) {
	m, ok := v.get(name)
	if !ok || m.kind != isNumber {
		return 0, fmt.Errorf("no integer %q", name)
	}
	return strconv.ParseInt(m.text, 10, 64)
}

// object is a member that is an object.
func (v value) object(name string) (value, error) {
	m, ok := v.get(name)
	if !ok || m.kind != isObject {
		return value{}, fmt.Errorf("no object %q", name)
	}
	return m, nil
}

type reader struct {
	data []byte
	at   int
}

// parse reads one JSON text. It refuses a second member of one name, a surrogate, and whatever is not UTF-8.
func parse(data []byte) (value, error) {
	if !utf8.Valid(data) {
		return value{}, errors.New("not UTF-8")
	}
	r := &reader{data: data}
	v, err := r.value(0)
	if err != nil {
		return value{}, fmt.Errorf("byte %d: %w", r.at, err)
	}
	if r.space(); r.at != len(data) {
		return value{}, fmt.Errorf("byte %d: more behind the value", r.at)
	}
	return v, nil
}

func (r *reader) space() {
	for r.at < len(r.data) && bytes.IndexByte([]byte(" \t\r\n"), r.data[r.at]) >= 0 {
		r.at++
	}
}

// take goes past a byte if it is the next one.
func (r *reader) take(c byte) bool {
	r.space()
	if r.at < len(r.data) && r.data[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *reader) value(depth int) (value, error) {
	r.space()
	if r.at >= len(r.data) || depth > deepest {
		return value{}, errors.New("no value")
	}
	switch c := r.data[r.at]; {
	case c == '"':
		text, err := r.string()
		return value{kind: isString, text: text}, err
	case c == '[':
		return r.list(depth)
	case c == '{':
		return r.object(depth)
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	}
	for word, k := range map[string]kind{"null": isNull, "true": isBool, "false": isBool} {
		if bytes.HasPrefix(r.data[r.at:], []byte(word)) {
			r.at += len(word)
			return value{kind: k, text: word}, nil
		}
	}
	return value{}, errors.New("no value")
}

func (r *reader) list(depth int) (value, error) {
	v := value{kind: isList}
	r.at++
	if r.take(']') {
		return v, nil
	}
	for {
		item, err := r.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
		if r.take(']') {
			return v, nil
		}
		if !r.take(',') {
			return v, errors.New("no comma")
		}
	}
}

func (r *reader) object(depth int) (value, error) {
	v := value{kind: isObject}
	seen := map[string]bool{}
	r.at++
	if r.take('}') {
		return v, nil
	}
	for {
		if r.space(); r.at >= len(r.data) || r.data[r.at] != '"' {
			return v, errors.New("no name")
		}
		name, err := r.string()
		if err != nil {
			return v, err
		}
		if seen[name] {
			return v, fmt.Errorf("a second member %q", name)
		}
		seen[name] = true
		if !r.take(':') {
			return v, errors.New("no colon")
		}
		item, err := r.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.names, v.items = append(v.names, name), append(v.items, item)
		if r.take('}') {
			return v, nil
		}
		if !r.take(',') {
			return v, errors.New("no comma")
		}
	}
}

var numeral = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// number reads a number. An integer keeps its digits; any other one is a double, and gets the only spelling of one.
func (r *reader) number() (value, error) {
	start := r.at
	for r.at < len(r.data) && bytes.IndexByte([]byte("+-.eE0123456789"), r.data[r.at]) >= 0 {
		r.at++
	}
	text := string(r.data[start:r.at])
	if !numeral.MatchString(text) || text == "-0" {
		return value{}, fmt.Errorf("no number: %q", text)
	}
	if !strings.ContainsAny(text, ".eE") {
		return value{kind: isNumber, text: text}, nil
	}
	double, err := strconv.ParseFloat(text, 64)
	return value{kind: isNumber, text: spellDouble(double)}, err
}

// spellDouble writes a double with the fewest digits that read back as the same one.
func spellDouble(double float64) string {
	if size := math.Abs(double); size == 0 || size >= 1e-5 && size < 1e16 {
		text := strconv.FormatFloat(double, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(double, 'e', -1, 64), "e")
	power, _ := strconv.Atoi(exponent)
	return fmt.Sprintf("%se%d", digits, power)
}

// isInteger says whether a number was written without a fraction and an exponent.
func (v value) isInteger() bool { return v.kind == isNumber && !strings.ContainsAny(v.text, ".e") }

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unit reads the UTF-16 unit of an escape, at its u.
func (r *reader) unit() (rune, error) {
	if r.data[r.at] != 'u' || r.at+5 > len(r.data) {
		return 0, errors.New("no escape")
	}
	code, err := strconv.ParseUint(string(r.data[r.at+1:r.at+5]), 16, 16)
	return rune(code), err
}

func (r *reader) string() (string, error) {
	var text []byte
	for r.at++; r.at < len(r.data); r.at++ {
		c := r.data[r.at]
		switch {
		case c == '"':
			r.at++
			return string(text), nil
		case c < 0x20:
			return "", errors.New("a control character in a string")
		case c != '\\':
			text = append(text, c)
		default:
			r.at++
			if r.at >= len(r.data) {
				return "", errors.New("no end of a string")
			}
			if plain, ok := escapes[r.data[r.at]]; ok {
				text = append(text, plain)
				continue
			}
			c, err := r.unit()
			if err == nil && utf16.IsSurrogate(c) && r.at+6 < len(r.data) && r.data[r.at+5] == '\\' {
				r.at += 6
				var low rune
				low, err = r.unit()
				c = utf16.DecodeRune(c, low)
			}
			if err != nil || utf16.IsSurrogate(c) || c == utf8.RuneError {
				return "", errors.New("no escape of a character")
			}
			text, r.at = utf8.AppendRune(text, c), r.at+4
		}
	}
	return "", errors.New("no end of a string")
}

// spell writes a string of JSON in its only spelling.
func spell(text string) string {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`}
	out := []byte{'"'}
	for _, c := range text {
		if s, ok := short[c]; ok {
			out = append(out, s...)
		} else if c < 0x20 {
			out = fmt.Appendf(out, `\u%04x`, c)
		} else {
			out = utf8.AppendRune(out, c)
		}
	}
	return string(append(out, '"'))
}

// sorted orders the members of all objects by code points, which is the order of their bytes.
func (v value) sorted() value {
	order := make([]int, len(v.items))
	for i := range order {
		order[i] = i
	}
	if v.kind == isObject {
		sort.Slice(order, func(a, b int) bool { return v.names[order[a]] < v.names[order[b]] })
	}
	w := value{kind: v.kind, text: v.text}
	for _, i := range order {
		w.items = append(w.items, v.items[i].sorted())
		if v.kind == isObject {
			w.names = append(w.names, v.names[i])
		}
	}
	return w
}

// compact writes a value without white space, members in the order that they have.
func (v value) compact() []byte { return v.write(nil, -1) }

// indented writes a value as a file: two spaces a level and a newline at the end.
func (v value) indented() []byte { return append(v.write(nil, 0), '\n') }

// write appends a value; a level below 0 means compact.
func (v value) write(out []byte, level int) []byte {
	switch v.kind {
	case isString:
		return append(out, spell(v.text)...)
	case isNull, isBool, isNumber:
		return append(out, v.text...)
	}
	open, end := byte('['), byte(']')
	if v.kind == isObject {
		open, end = '{', '}'
	}
	out = append(out, open)
	inner := level
	if level >= 0 {
		inner++
	}
	for i, item := range v.items {
		if i > 0 {
			out = append(out, ',')
		}
		out = line(out, inner)
		if v.kind == isObject {
			out = append(append(out, spell(v.names[i])...), ':')
			if level >= 0 {
				out = append(out, ' ')
			}
		}
		out = item.write(out, inner)
	}
	if len(v.items) > 0 {
		out = line(out, level)
	}
	return append(out, end)
}

func line(out []byte, level int) []byte {
	if level < 0 {
		return out
	}
	return append(append(out, '\n'), bytes.Repeat([]byte("  "), level)...)
}

// canonical reads a compact JSON object with sorted members, and refuses any other spelling.
func canonical(data []byte) (value, error) {
	v, err := parse(data)
	if err == nil && v.kind != isObject {
		err = errors.New("no object")
	}
	if err == nil && !bytes.Equal(v.sorted().compact(), data) {
		err = errors.New("another spelling than compact with sorted members")
	}
	return v, err
}

// exactly refuses an object whose members are others than these, in this order.
func (v value) exactly(names ...string) error {
	if v.kind != isObject || len(v.names) != len(names) {
		return fmt.Errorf("members %q, not %q", v.names, names)
	}
	for i, name := range names {
		if v.names[i] != name {
			return fmt.Errorf("member %q where %q is due", v.names[i], name)
		}
	}
	return nil
}
