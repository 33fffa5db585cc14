package main

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	mostType   = 100
	mostSlips  = 2
	asPrefix   = "as:"
	otherType  = "other"
	devilsFrom = 3
)

// hedges are the phrases of an uncertain answer, and what must not follow one.
var hedges = []struct{ phrase, unless string }{
	{"i think", ``},
	{"i believe", ``},
	{"might", ``},
	{"may be", ` [\pL\pN_]+ed(?:[^\pL\pN_]|$)`},
	{"could be", ``},
	{"possibly", ``},
	{"perhaps", ``},
	{"probably", ``},
	{"likely", ``},
	{"unlikely", ``},
	{"it seems", ``},
	{"appears to", ``},
	{"not sure", ``},
	{"not certain", ``},
	{"uncertain", ` tax(?:[^\pL\pN_]|$)`},
	{"unclear", ``},
	{"hard to say", ``},
	{"it depends", ``},
	{"cannot determine", ``},
	{"can't determine", ``},
	{"not enough information", ``},
	{"in most cases", ``},
	{"generally", ` accepted(?:[^\pL\pN_]|$)`},
	{"arguably", ``},
	{"as far as i can tell", ``},
}

// words is a list of strings in an object.
func (v value) words(name string) (list []string) {
	m, _ := v.get(name)
	for _, item := range m.items {
		list = append(list, item.text)
	}
	return list
}

// amount is a member that is a decimal; nil where it is absent or no finite number.
func (v value) amount(name string) *big.Rat {
	text, err := v.str(name)
	if err != nil || !decimalText.MatchString(text) {
		return nil
	}
	found, _ := new(big.Rat).SetString(text)
	return found
}

var decimalText = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?$`)

// dollars are micro-dollars as an exact number of dollars.
func dollars(micro *big.Int) *big.Rat { return new(big.Rat).SetFrac(micro, big.NewInt(perMillion)) }

// known are the task types that a policy names.
func known(policy value) []string {
	list := append(policy.words("riskCategories"), policy.words("always")...)
	return append(append(list, policy.words("never")...), otherType)
}

// slips are the letters in which two words differ, case and outer spaces aside; false for another word.
func slips(asked, known string) (int, bool) {
	mine, theirs := []rune(strings.ToLower(strings.TrimSpace(asked))), []rune(strings.ToLower(known))
	most := min(mostSlips, len(mine)-1, len(theirs)-1)
	row := make([]int, len(theirs)+1)
	for j := range row {
		row[j] = j
	}
	for i, letter := range mine {
		next := []int{i + 1}
		for j, other := range theirs {
			changed := row[j]
			if letter != other {
				changed++
			}
			next = append(next, min(row[j+1]+1, next[j]+1, changed))
		}
		row = next
	}
	return row[len(theirs)], row[len(theirs)] <= most
}

// refusedType refuses a task type that the policy does not take.
func refusedType(policy, theCase value, forced bool) error {
	taskType, err := theCase.str("taskType")
	if err != nil {
		return err
	}
	written, errAsked := theCase.str("askedTaskType")
	if errAsked != nil {
		written = taskType
	}
	plain := strings.TrimSpace(written) != "" && utf8.RuneCountInString(written) <= mostType
	for _, c := range written {
		plain = plain && (c == ' ' || unicode.IsPrint(c))
	}
	rule, _ := policy.str("unknownTaskType")
	read, mapped, declined := written, false, false
	if !slices.Contains(known(policy), written) {
		for _, name := range known(policy) {
			if _, near := slips(written, name); near {
				return fmt.Errorf("%q is a slip of %q", written, name)
			}
		}
		mapped, declined = strings.HasPrefix(rule, asPrefix), rule == "decline"
		if mapped {
			read = strings.TrimPrefix(rule, asPrefix)
		}
		if rule == "refuse" {
			return fmt.Errorf("policy refuses %q", written)
		}
	}
	if !plain || read != taskType || mapped != (errAsked == nil) || declined && forced {
		return fmt.Errorf("policy does not take the task type %q as %q", written, taskType)
	}
	return nil
}

// hedging says whether an answer has a phrase that hedges.
func hedging(answer string) bool {
	text := strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(answer), "\u2019", "'")), " ")
	for _, h := range hedges {
		for at := 0; ; {
			i := strings.Index(text[at:], h.phrase)
			if i < 0 {
				break
			}
			start, end := at+i, at+i+len(h.phrase)
			before, _ := utf8.DecodeLastRuneInString(text[:start])
			behind, _ := utf8.DecodeRuneInString(text[end:])
			excused := h.unless != "" && regexp.MustCompile("^"+h.unless).MatchString(text[end:])
			if !inWord(before) && !inWord(behind) && !excused {
				return true
			}
			at = start + 1
		}
	}
	return false
}

func inWord(c rune) bool {
	return c != utf8.RuneError && (c == '_' || unicode.IsLetter(c) || unicode.IsNumber(c))
}

// decide gives the decision of gate/1 without its words, its members sorted.
func decide(policy, theCase value, role string, expected int64) (value, error) {
	force, forced := theCase.get("force")
	forced = forced && force.kind == isObject
	wanted, _ := force.get("debate")
	if err := refusedType(policy, theCase, forced && wanted.text == "true"); err != nil {
		return value{}, err
	}
	confidence, downside := theCase.amount("confidenceScore"), theCase.amount("estimatedDownside")
	said, there := theCase.get("confidenceScore")
	there = there && said.kind != isNull
	if there && (confidence == nil || confidence.Sign() < 0 || confidence.Cmp(big.NewRat(1, 1)) > 0) {
		return value{}, errors.New("a confidence that is not from 0 to 1")
	}
	if downside == nil || downside.Sign() < 0 {
		return value{}, errors.New("a downside that is no amount")
	}
	if reason, _ := force.str("reason"); forced && (strings.TrimSpace(reason) == "" || !slices.Contains(policy.words("mayForce"), role)) {
		return value{}, errors.New("a force that is not allowed")
	}
	taskType, _ := theCase.str("taskType")
	thresholds, _ := policy.get("thresholds")
	threshold := thresholds.whole(taskType, expected)
	floor := dollars(times(threshold, policy.whole("factor", 0)))
	contested, _ := theCase.get("contested")
	materiality, _ := theCase.str("materiality")
	answer, _ := theCase.str("singleAgentAnswer")
	certain := downside.Cmp(dollars(big.NewInt(policy.whole("certainAbove", 0)))) <= 0
	unsure := !there || confidence.Cmp(policy.amount("confidenceFloor")) < 0
	merits := []bool{
		slices.Contains(policy.words("riskCategories"), taskType), contested.text != "false", downside.Cmp(floor) > 0,
		unsure || hedging(answer) || materiality == "high" || !certain,
	}
	always := slices.Contains(policy.words("always"), taskType)
	never := slices.Contains(policy.words("never"), taskType)
	by, debate := "merits", true
	for i, name := range []string{"risk", "contested", "worthIt", "uncertain"} {
		if !merits[i] && debate {
			by, debate = name, false
		}
	}
	if always || never {
		by, debate = "policy", always
	}
	if forced {
		by, debate = "forced", wanted.text == "true"
	}
	effects := []value{
		rule("valid", true, "informs"), rule("forced", forced, effect(wanted.text == "true", !forced)),
		rule("policy", always || never, effect(always, forced || !always && !never)),
	}
	for i, name := range []string{"risk", "contested", "worthIt", "uncertain"} {
		effects = append(effects, rule(name, merits[i], effect(merits[i], by == "forced" || by == "policy")))
	}
	version, _ := policy.str("version")
	hash, _ := policy.str("hash")
	return object(
		"debate", word(isBool, fmt.Sprint(debate)), "debateCostThreshold", word(isNumber, fmt.Sprint(threshold)),
		"decidedBy", word(isString, by), "factor", word(isNumber, fmt.Sprint(policy.whole("factor", 0))),
		"policyHash", word(isString, hash), "policyVersion", word(isString, version), "rules", value{kind: isList, items: effects},
	), nil
}

func effect(debate, informs bool) string {
	if informs {
		return "informs"
	}
	if debate {
		return "debate"
	}
	return "decline"
}

func word(of kind, text string) value { return value{kind: of, text: text} }

func rule(name string, holds bool, effect string) value {
	return object("effect", word(isString, effect), "holds", word(isBool, fmt.Sprint(holds)), "rule", word(isString, name))
}

// object builds one of names and values in turn.
func object(pairs ...any) value {
	v := value{kind: isObject}
	for i := 0; i < len(pairs); i += 2 {
		v.names, v.items = append(v.names, pairs[i].(string)), append(v.items, pairs[i+1].(value))
	}
	return v
}

// wordless is a recorded decision without the words of its rules and without what would have changed it.
func wordless(decision value) value {
	v := value{kind: isObject}
	for i, name := range decision.names {
		item := decision.items[i]
		if name == "rules" {
			rules := value{kind: isList}
			for _, r := range item.items {
				holds, _ := r.get("holds")
				said, _ := r.str("effect")
				of, _ := r.str("rule")
				rules.items = append(rules.items, rule(of, holds.text == "true", said))
			}
			item = rules
		}
		if name != "wouldChange" {
			v.names, v.items = append(v.names, name), append(v.items, item)
		}
	}
	return v
}

// gate decides again.
func (b *bundle) gate() error {
	if b.later != nil {
		return b.later
	}
	policies, err := parse(b.files["policy.json"])
	if err != nil {
		return err
	}
	policy, err := policies.object("gate")
	if err != nil {
		return err
	}
	for i, name := range policy.names {
		if name == "hash" {
			policy.items[i] = word(isString, digest(b.files["policy.json"]))
		}
	}
	leaf, _ := parse(b.records[1].leaf)
	actor, _ := leaf.object("actor")
	role, _ := actor.str("role")
	theCase, _ := b.records[0].body.object("case")
	recorded, _ := b.records[1].body.object("decision")
	expected := recorded.whole("debateCostThreshold", 0)
	var later error
	if len(b.records) > 2 {
		if expected, err = b.expected(policies); err != nil && !errors.Is(err, errLater) {
			return err
		}
		later = err
	}
	found, err := decide(policy, theCase, role, expected)
	if err != nil {
		return err
	}
	if due, said := found.compact(), wordless(recorded).compact(); string(due) != string(said) {
		return fmt.Errorf("the gate decides %s, and not %s", due, said)
	}
	return later
}

// expected checks what each seat was expected to cost, and gives the sum.
func (b *bundle) expected(policies value) (int64, error) {
	started := b.records[2].body
	rules, _ := policies.get("debate")
	texts := int64(0)
	var documents []string
	for _, name := range b.names {
		if strings.HasPrefix(name, "documents/") && strings.HasSuffix(name, ".txt") {
			documents = append(documents, string(b.files[name]))
		}
	}
	seats, _ := started.get("seats")
	bySeat, _ := started.get("expectedBySeat")
	all := int64(0)
	var later error
	for _, plan := range seats.items {
		name, _ := plan.str("seat")
		tokenizer, _ := plan.str("tokenizer")
		texts = 0
		for _, text := range documents {
			n, ok := countTokens(tokenizer, text)
			texts += n
			if !ok {
				later = fmt.Errorf("a tokenizer that is not here: %w", errLater)
			}
		}
		row, _ := plan.get("price")
		output := plan.whole("allowance", 0) * rules.whole("expectedOutputPerMille", 0) / perMille
		cost, _ := costOf(usage{input: max(rules.whole("expectedInputTokens", 0), texts), output: output}, row)
		said := bySeat.whole(name, 0)
		if due := cost * usualTurns(started, name); due != said && later == nil {
			return 0, fmt.Errorf("seat %s was expected to cost %d, not %d", name, due, said)
		}
		all += said
	}
	if total := started.whole("expectedCost", 0); all != total {
		return 0, fmt.Errorf("the seats were expected to cost %d, not %d", all, total)
	}
	return all, later
}

// usualTurns is how often a seat is asked in a debate of the usual course.
func usualTurns(started value, seat string) int64 {
	options, _ := started.get("options")
	format, _ := started.str("format")
	name, _, _ := strings.Cut(format, "/")
	r := options.whole("maxRounds", 0)
	more := int64(0)
	if swapped, _ := options.get("swapped"); swapped.text == "true" {
		more = 1
	}
	if strings.HasPrefix(seat, "debater-") {
		switch name {
		case "ballot":
			return 4 * r
		case "convergence":
			return r + 1
		case "panel":
			if r >= devilsFrom {
				return r + 1
			}
		}
		return r
	}
	switch name + " " + seat {
	case "adversarial critic":
		return r
	case "adversarial moderator":
		return r + more
	case "adversarial proposer", "adversarial rebuttal":
		positions, _ := options.get("positions")
		return r * int64(max(1, len(positions.items)))
	case "stances judge", "convergence judge":
		return 1 + more
	case "panel adjudicator":
		return r + 1 + more
	}
	return 1
}
