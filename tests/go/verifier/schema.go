package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// schemas are the JSON Schemas of payloads, by the kind and version that a leaf names.
type schemas map[string]value

// readSchemas reads the files payload.*.json of a folder.
func readSchemas(folder string) (schemas, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "payload.*.json"))
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s: no schemas of payloads", folder)
	}
	all := schemas{}
	for _, path := range paths {
		data, errRead := os.ReadFile(path)
		if errRead != nil {
			return nil, errRead
		}
		if all[strings.TrimSuffix(filepath.Base(path), ".json")], err = parseSchema(data); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return all, err
}

// parseSchema reads a schema; defaults may be numbers with a fraction, which no file of evidence has, so they go first.
func parseSchema(data []byte) (value, error) {
	var loose any
	if err := json.Unmarshal(data, &loose); err != nil {
		return value{}, err
	}
	plain, err := json.Marshal(withoutDefaults(loose))
	if err != nil {
		return value{}, err
	}
	return parse(plain)
}

func withoutDefaults(loose any) any {
	switch v := loose.(type) {
	case map[string]any:
		delete(v, "description")
		for name, item := range v {
			if name == "default" {
				if _, schema := item.(map[string]any); !schema {
					delete(v, name)
					continue
				}
			}
			v[name] = withoutDefaults(item)
		}
	case []any:
		for i := range v {
			v[i] = withoutDefaults(v[i])
		}
	}
	return loose
}

// check holds a payload against its schema; objects have no members that the schema does not name.
func (s schemas) check(r *record) error {
	if s == nil {
		return nil
	}
	root, ok := s[fmt.Sprintf("payload.%s.v%d", r.said, r.schema)]
	if !ok {
		return fmt.Errorf("no schema of %s: %w", r.said, errLater)
	}
	return fits(r.body, root, root, "payload")
}

// fits holds a value against a schema of a root; where is its place, for people.
func fits(v, s, root value, where string) error {
	if name, err := s.str("$ref"); err == nil {
		defs, _ := root.get("$defs")
		target, ok := defs.get(strings.TrimPrefix(name, "#/$defs/"))
		if !ok {
			return fmt.Errorf("%s: a schema without %s", where, name)
		}
		return fits(v, target, root, where)
	}
	if options, ok := s.get("anyOf"); ok {
		var last error
		for _, option := range options.items {
			if last = fits(v, option, root, where); last == nil {
				break
			}
		}
		if last != nil {
			return last
		}
	}
	if !typed(v, s) {
		return fmt.Errorf("%s: of another type", where)
	}
	for _, name := range []string{"enum", "const"} {
		if words, ok := s.get(name); ok && !among(v, words) {
			return fmt.Errorf("%s: another value than the schema has", where)
		}
	}
	if !bounded(v, s) {
		return fmt.Errorf("%s: too long, too short, too large or too small", where)
	}
	if form, err := s.str("pattern"); err == nil && v.kind == isString && !regexp.MustCompile(form).MatchString(v.text) {
		return fmt.Errorf("%s: of another form", where)
	}
	switch v.kind {
	case isObject:
		return objectFits(v, s, root, where)
	case isList:
		return listFits(v, s, root, where)
	}
	return nil
}

func typed(v, s value) bool {
	due, ok := s.get("type")
	if !ok {
		return true
	}
	words := []value{due}
	if due.kind == isList {
		words = due.items
	}
	names := map[kind][]string{
		isNull: {"null"}, isBool: {"boolean"}, isNumber: {"integer", "number"}, isString: {"string"}, isList: {"array"},
		isObject: {"object"},
	}
	for _, word := range words {
		for _, name := range names[v.kind] {
			if word.text == name && (name != "integer" || v.isInteger()) {
				return true
			}
		}
	}
	return false
}

func among(v, words value) bool {
	if words.kind != isList {
		return v.kind == words.kind && v.text == words.text
	}
	for _, word := range words.items {
		if v.kind == word.kind && v.text == word.text {
			return true
		}
	}
	return false
}

// bounded checks lengths in characters and items, and the size of numbers.
func bounded(v, s value) bool {
	size, least, most := int64(len(v.items)), "minItems", "maxItems"
	switch v.kind {
	case isString:
		size, least, most = int64(utf8.RuneCountInString(v.text)), "minLength", "maxLength"
	case isNumber:
		var err error
		if size, err = strconv.ParseInt(v.text, 10, 64); err != nil {
			return true
		}
		least, most = "minimum", "maximum"
	case isNull, isBool, isObject:
		return true
	}
	low, err := s.integer(least)
	if err == nil && size < low {
		return false
	}
	high, err := s.integer(most)
	return err != nil || size <= high
}

func objectFits(v, s, root value, where string) error {
	required, _ := s.get("required")
	for _, name := range required.items {
		if _, ok := v.get(name.text); !ok {
			return fmt.Errorf("%s: without %q", where, name.text)
		}
	}
	properties, closed := s.get("properties")
	others, some := s.get("additionalProperties")
	for i, name := range v.names {
		of, ok := properties.get(name)
		if !ok && some && others.kind == isObject {
			of, ok = others, true
		}
		if !ok && closed {
			return fmt.Errorf("%s: %q, which the schema does not name", where, name)
		}
		if !ok {
			continue
		}
		if err := fits(v.items[i], of, root, where+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func listFits(v, s, root value, where string) error {
	prefix, _ := s.get("prefixItems")
	items, ok := s.get("items")
	for i, item := range v.items {
		of := items
		if i < len(prefix.items) {
			of = prefix.items[i]
		} else if !ok || of.kind != isObject {
			if ok && of.text == "false" {
				return fmt.Errorf("%s: more items than the schema has", where)
			}
			continue
		}
		if err := fits(item, of, root, fmt.Sprintf("%s[%d]", where, i)); err != nil {
			return err
		}
	}
	return nil
}
