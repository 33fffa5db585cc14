package main

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"
)

const (
	perMillion    = 1_000_000
	perMille      = 1_000
	shownPerMille = 1_600
	shownMore     = 160
	labelIncluded = 32
	bytesOverFour = "bytes/4"
)

// ceilDiv divides and rounds up; what is divided may be above 2^63.
func ceilDiv(a *big.Int, b int64) int64 {
	q, rest := new(big.Int).QuoRem(a, big.NewInt(b), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64()
}

func times(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }

func sum(of ...*big.Int) *big.Int {
	all := new(big.Int)
	for _, a := range of {
		all.Add(all, a)
	}
	return all
}

// whole is a member that is an integer, or another value where it is absent.
func (v value) whole(name string, otherwise int64) int64 {
	if n, err := v.integer(name); err == nil {
		return n
	}
	return otherwise
}

// countTokens counts a request of several texts under bytes/4; false under another tokenizer.
func countTokens(tokenizer string, texts ...string) (int64, bool) {
	size := int64(max(0, len(texts)-1))
	for _, text := range texts {
		size += int64(len(text))
	}
	return (size + 3) / 4, tokenizer == bytesOverFour
}

// ratesOf are the rates of a whole call; false where the row has none for it.
func ratesOf(u usage, row value) (value, bool) {
	long, is := row.get("longInput")
	above := is && long.kind == isObject && u.inputs() > long.whole("above", 0)
	rates, ok := row, true
	if tiers, _ := row.get("tiers"); u.tier != "" {
		rates, ok = tiers.get(u.tier)
		ok = ok && !above
	} else if above {
		rates, ok = long.get("rates")
	}
	if _, err := rates.integer("cacheWrite1H"); err != nil && u.cacheWrite1H > 0 {
		return value{}, false
	}
	return rates, ok
}

// costOf is the cost of a usage in micro-dollars; false where it has no price.
func costOf(u usage, row value) (int64, bool) {
	rates, ok := ratesOf(u, row)
	if !ok {
		return 0, false
	}
	var parts []*big.Int
	for i, name := range []string{"input", "cachedInput", "cacheWrite", "cacheWrite1H", "output", "reasoning"} {
		parts = append(parts, times(u.kinds()[i], rates.whole(name, 0)))
	}
	return ceilDiv(sum(parts...), perMillion), true
}

// servable says whether a tier of a price row can be served to a call with some parameters.
func servable(tier string, parameters value) bool {
	for _, part := range strings.Split(tier, "+") {
		axis, name, ok := strings.Cut(part, ":")
		asked, due := "service_tier", part
		if ok && axis == "speed" {
			asked, due = "speed", name
		} else if ok && axis == "geo" {
			asked, due = "inference_geo", name
		}
		said, err := parameters.str(asked)
		switch {
		case err != nil && asked == "speed":
			return false
		case err != nil, said == due:
		case asked == "service_tier" && (said == "auto" || said == "fast" && due == "priority"):
		default:
			return false
		}
	}
	return true
}

// worstCase is what an attempt with so many input tokens reserves.
func worstCase(tokens int64, plan value) int64 {
	row, _ := plan.get("price")
	parameters, _ := plan.get("parameters")
	m := ceilDiv(times(tokens, plan.whole("safetyPerMille", perMille)), perMille) + plan.whole("overheadTokens", 0)
	possible := []value{row}
	tiers, _ := row.get("tiers")
	for i, name := range tiers.names {
		if servable(name, parameters) {
			possible = append(possible, tiers.items[i])
		}
	}
	if long, ok := row.get("longInput"); ok && long.kind == isObject && m > long.whole("above", 0) {
		rates, _ := long.get("rates")
		possible = append(possible, rates)
	}
	most := new(big.Int)
	for _, rates := range possible {
		in := max(rates.whole("input", 0), rates.whole("cachedInput", 0), rates.whole("cacheWrite", 0), rates.whole("cacheWrite1H", 0))
		out := max(rates.whole("output", 0), rates.whole("reasoning", 0))
		if all := sum(times(m, in), times(plan.whole("allowance", 0), out)); all.Cmp(most) > 0 {
			most = all
		}
	}
	return ceilDiv(most, perMillion)
}

// closingCost is the most that a closing turn can cost while replies are missing that it will see.
func closingCost(tokens int64, allowances []int64, labels []string, plan value) (int64, bool) {
	for _, allowance := range allowances {
		tokens += ceilDiv(times(allowance, shownPerMille), perMille) + shownMore
	}
	tokenizer, _ := plan.str("tokenizer")
	for _, label := range labels {
		n, ok := countTokens(tokenizer, label)
		if !ok || !utf8.ValidString(label) {
			return 0, false
		}
		tokens += max(0, n-labelIncluded)
	}
	return worstCase(tokens, plan), true
}

// counted is what a verifier counted of a call, and the share of it that a usage must have.
type counted struct{ request, reply, floor int64 }

// below says which part of a usage is below the floor, or nothing.
func (u usage) below(c counted) string {
	if times(u.inputs(), perMille).Cmp(times(c.request, c.floor)) < 0 {
		return "input"
	}
	if times(u.output, perMille).Cmp(times(c.reply, c.floor)) < 0 {
		return "output"
	}
	return ""
}

// chargeOf is the charge of an attempt in JSON; u is nil where there is no usage that can be true.
func chargeOf(u *usage, held int64, row value, c counted) value {
	if u == nil {
		return charged(held, "reserved", nil, 0, "")
	}
	amount, basis, below := held, "reserved", u.below(c)
	if cost, ok := costOf(*u, row); ok {
		amount, basis = cost, "usage"
	}
	if below != "" && amount <= held {
		return charged(held, "reserved", nil, 0, below)
	}
	return charged(amount, basis, u, max(0, amount-held), below)
}

// charged writes a charge: members in the order of their names, those that are 0 or empty left out.
func charged(amount int64, basis string, u *usage, excess int64, below string) value {
	v := value{kind: isObject}
	put := func(name string, of kind, text string) {
		if text != "" && text != "0" || name == "amount" {
			v.names, v.items = append(v.names, name), append(v.items, value{kind: of, text: text})
		}
	}
	number := func(n int64) string { return fmt.Sprint(n) }
	put("amount", isNumber, number(amount))
	put("basis", isString, basis)
	put("belowFloor", isString, below)
	if u != nil {
		put("cacheWrite1HTokens", isNumber, number(u.cacheWrite1H))
		put("cacheWriteTokens", isNumber, number(u.cacheWrite))
		put("cachedInputTokens", isNumber, number(u.cachedInput))
		put("excess", isNumber, number(excess))
		put("inputTokens", isNumber, number(u.input))
		put("outputTokens", isNumber, number(u.output))
		put("reasoningTokens", isNumber, number(u.reasoning))
		put("tier", isString, u.tier)
	}
	return v
}

// ledger is the money of one debate.
type ledger struct {
	ceiling, spent, excess int64
	held                   map[string]int64
}

func (l *ledger) reserved() (all int64) {
	for _, held := range l.held {
		all += held
	}
	return all
}

func (l *ledger) left() int64 { return l.ceiling - l.spent - l.excess - l.reserved() }

// add folds one more entry.
func (l *ledger) add(entry value) {
	kind, _ := entry.str("kind")
	turn, _ := entry.str("turn")
	switch kind {
	case "debate.started":
		l.ceiling = entry.whole("ceiling", 0)
	case "turn.asked":
		l.held[turn] = entry.whole("held", 0)
	case "turn.spoke", "attempt.failed":
		charge, _ := entry.get("charge")
		excess := charge.whole("excess", 0)
		delete(l.held, turn)
		l.spent += charge.whole("amount", 0) - excess
		l.excess += excess
	}
}

// seatOf is the seat of a turn: the second part of its id.
func seatOf(turn string) string {
	parts := strings.Split(turn, ".")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

// planOf is the plan by which an attempt was made: the seat's, or its fallback.
func (b *bundle) planOf(asked value) (value, error) {
	turn, _ := asked.str("turn")
	model, _ := asked.str("model")
	seats, _ := b.records[2].body.get("seats")
	for _, plan := range seats.items {
		if seat, _ := plan.str("seat"); seat != seatOf(turn) {
			continue
		}
		if fallback, ok := plan.get("fallback"); ok && fallback.kind == isObject {
			if other, _ := fallback.str("model"); other == model {
				return fallback, nil
			}
		}
		return plan, nil
	}
	return value{}, fmt.Errorf("no seat of turn %q", turn)
}

// charges checks what every attempt reserved, and what it was charged.
func (b *bundle) charges() error {
	if b.later != nil || len(b.records) < 3 {
		return b.later
	}
	open := map[string]value{}
	var later error
	for n := range b.records {
		entry := b.records[n].body
		turn, _ := entry.str("turn")
		switch b.records[n].kind {
		case "turn.asked":
			plan, err := b.planOf(entry)
			if err != nil {
				return err
			}
			if held := worstCase(entry.whole("inputTokens", 0), plan); held != entry.whole("held", -1) {
				return fmt.Errorf("record %d reserves another amount than %d", n, held)
			}
			open[turn] = entry
		case "turn.spoke", "attempt.failed":
			if err := b.charge(open[turn], entry); errors.Is(err, errLater) {
				later = err
			} else if err != nil {
				return fmt.Errorf("record %d: %w", n, err)
			}
		}
	}
	return later
}

func (b *bundle) charge(asked, entry value) error {
	plan, err := b.planOf(asked)
	if err != nil {
		return err
	}
	said, err := entry.object("charge")
	if err != nil {
		return err
	}
	wire, err := plan.str("wire")
	if err != nil {
		wire = "offline"
	}
	reasoning, err := plan.str("reasoning")
	if err != nil {
		reasoning = "inside"
	}
	var u *usage
	if object, ok := entry.get("usage"); ok && object.kind != isNull {
		if found, ok := readUsage(wire, reasoning, object); ok {
			u = &found
		}
	}
	reason, _ := entry.str("reason")
	kind, _ := entry.str("kind")
	free := charged(0, "none", nil, 0, "")
	if kind == "attempt.failed" && u == nil && reason != "lost" && string(said.compact()) == string(free.compact()) {
		return nil
	}
	floor := b.records[2].body.whole("usageFloorPerMille", 0)
	reply, ok := replyTokens(entry, plan)
	if !ok && floor > 0 && u != nil {
		return fmt.Errorf("a tokenizer that is not here: %w", errLater)
	}
	row, _ := plan.get("price")
	due := chargeOf(u, asked.whole("held", 0), row, counted{asked.whole("inputTokens", 0), reply, floor})
	if string(due.compact()) != string(said.compact()) {
		return fmt.Errorf("a charge of %s, not %s", said.compact(), due.compact())
	}
	return nil
}

// replyTokens counts a reply as it is recorded.
func replyTokens(entry, plan value) (int64, bool) {
	tokenizer, _ := plan.str("tokenizer")
	text, err := entry.str("said")
	if reply, ok := entry.get("reply"); (err != nil || text == "") && ok && reply.kind != isNull {
		text = string(reply.sorted().compact())
	}
	return countTokens(tokenizer, text)
}

// money checks the ceiling at every entry, and what refusals say.
func (b *bundle) money() error {
	if b.later != nil || len(b.records) < 3 {
		return b.later
	}
	l := &ledger{held: map[string]int64{}}
	ceiling := b.records[2].body.whole("ceiling", 0)
	var later error
	for n := range b.records {
		entry := b.records[n].body
		limit, _ := entry.str("limit")
		due := "debateCeiling"
		if l.excess > 0 {
			due = "providerOverrun"
		}
		switch kind := b.records[n].kind; {
		case kind == "turn.asked" && l.excess > 0:
			return fmt.Errorf("record %d asks behind an overrun", n)
		case kind == "budget.refused" && (limit == "debateCeiling" || limit == "providerOverrun"):
			left, needed := entry.whole("left", -1), entry.whole("needed", -1)
			if limit != due || left != l.left() || limit == "debateCeiling" && needed <= left {
				return fmt.Errorf("record %d refuses otherwise than by %s, with %d left", n, due, l.left())
			}
			later = fmt.Errorf("what a refusal needed rests on requests: %w", errLater)
		}
		if l.add(entry); l.spent+l.reserved() > ceiling {
			return fmt.Errorf("record %d: spent and reserved are above the ceiling", n)
		}
	}
	return later
}
