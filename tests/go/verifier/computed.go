package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// computed is for files whose cases hold JSON as records and the policy have it.
func computed(check func(value) error) func(example) error {
	return func(x example) error {
		if x.whole.kind != isObject {
			return errVector
		}
		return check(x.whole)
	}
}

// same gives an error unless a result is what a member says.
func same(x value, name string, found int64) error {
	if due, err := x.integer(name); err != nil || due != found {
		return fmt.Errorf("%d, not %d", found, due)
	}
	return nil
}

func checkTokens(x value) error {
	tokenizer, _ := x.str("tokenizer")
	found, ok := countTokens(tokenizer, x.words("texts")...)
	if !ok {
		return errVector
	}
	return same(x, "tokens", found)
}

func checkUsage(x value) error {
	wire, _ := x.str("wire")
	reasoning, _ := x.str("reasoning")
	object, _ := x.get("reported")
	found, ok := readUsage(wire, reasoning, object)
	due, _ := x.get("usage")
	if !ok {
		return when(due.kind == isNull)
	}
	return when(due.kind == isObject && usageOf(due) == found)
}

// usageOf reads a usage by the names of its kinds.
func usageOf(v value) usage {
	tier, _ := v.str("tier")
	return usage{
		v.whole("input", 0), v.whole("cachedInput", 0), v.whole("cacheWrite", 0), v.whole("cacheWrite1H", 0),
		v.whole("output", 0), v.whole("reasoning", 0), tier,
	}
}

func checkCharge(x value) error {
	row, _ := x.get("price")
	given, _ := x.get("counted")
	var u *usage
	if said, _ := x.get("usage"); said.kind == isObject {
		found := usageOf(said)
		u = &found
	}
	c := counted{given.whole("request", 0), given.whole("reply", 0), given.whole("floorPerMille", 0)}
	found := string(chargeOf(u, x.whole("held", 0), row, c).compact())
	due, _ := x.get("charge")
	if string(due.sorted().compact()) != found {
		return fmt.Errorf("%s, not %s", found, due.sorted().compact())
	}
	return nil
}

func checkReservation(x value) error {
	plan, _ := x.get("plan")
	return same(x, "held", worstCase(x.whole("inputTokens", 0), plan))
}

func checkClosing(x value) error {
	plan, _ := x.get("plan")
	var allowances []int64
	given, _ := x.get("allowances")
	for i := range given.items {
		n, err := decimal(given.items[i].text)
		if err != nil {
			return err
		}
		allowances = append(allowances, n)
	}
	found, ok := closingCost(x.whole("tokens", 0), allowances, x.words("labels"), plan)
	if !ok {
		return errVector
	}
	return same(x, "cost", found)
}

func checkLedger(x value) error {
	entries, _ := x.get("entries")
	after, _ := x.get("after")
	l := &ledger{held: map[string]int64{}}
	for i, entry := range entries.items {
		l.add(entry)
		due := after.items[i]
		for name, found := range map[string]int64{"spent": l.spent, "excess": l.excess, "held": l.reserved(), "left": l.left()} {
			if err := same(due, name, found); err != nil {
				return fmt.Errorf("entry %d: %s: %w", i, name, err)
			}
		}
	}
	return when(len(entries.items) == len(after.items))
}

func checkDecision(x value) error {
	policy, _ := x.get("policy")
	theCase, _ := x.get("case")
	role, _ := x.str("role")
	found, err := decide(policy, theCase, role, x.whole("expectedCost", 0))
	if err != nil {
		return err
	}
	due, _ := x.get("decision")
	if said := wordless(due.sorted()).compact(); string(said) != string(found.compact()) {
		return fmt.Errorf("%s, not %s", found.compact(), said)
	}
	return nil
}

// checkRequest checks the hash and the spelling of a request, its four messages, and the fences of their blocks.
func checkRequest(x value) error {
	text, _ := x.str("request")
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	seed, _ := x.str("seed")
	due, _ := x.str("sha256")
	request, err := canonical(data)
	if err != nil || digest(data) != due {
		return errors.Join(err, when(digest(data) == due))
	}
	messages, _ := request.get("messages")
	nonce := digest([]byte(seed + "|fence|debate"))[:16]
	for i, role := range []string{"house", "data", "data", "seat"} {
		if i >= len(messages.items) {
			return errVector
		}
		said, _ := messages.items[i].str("role")
		content, _ := messages.items[i].str("content")
		if said != role || role == "data" && content != "" && !fenced(content, nonce) {
			return fmt.Errorf("message %d is not as it has to be", i)
		}
	}
	return when(len(messages.items) == 4)
}

// fenced says whether a text consists of blocks between fences with this nonce, each with attributes in their spelling.
func fenced(text, nonce string) bool {
	for {
		head, rest, ok := strings.Cut(text, "]]\n")
		begin, attributes, spaced := strings.Cut(strings.TrimPrefix(head, "[["+nonce+" begin "), " ")
		if _, err := canonical([]byte(attributes)); !ok || !spaced || err != nil || !strings.HasPrefix(head, "[["+nonce) {
			return false
		}
		body, after, ok := strings.Cut(rest, "\n[["+nonce+" end "+begin+"]]")
		if !ok || strings.Contains(body, nonce) {
			return false
		}
		if after == "" {
			return true
		}
		if !strings.HasPrefix(after, "\n") {
			return false
		}
		text = after[1:]
	}
}

// checkSeed checks that a seed is the leaf hash of record 0, or that of a plan where record 0 is an item of an evaluation.
func checkSeed(x value) error {
	found, _ := x.str("seed")
	from, _ := x.str("seedFrom")
	due, _ := x.str("leafHash")
	run, ok := x.get("evaluation")
	evaluated := ok && run.kind == isObject
	if evaluated {
		plan, _ := run.str("plan")
		item, _ := run.str("item")
		arm, _ := run.str("arm")
		due = digest([]byte(fmt.Sprintf("%s\n%s\n%s\n%d", plan, item, arm, run.whole("repeat", 0))))
	}
	return when(evaluated == (from == "plan") && found == due)
}
