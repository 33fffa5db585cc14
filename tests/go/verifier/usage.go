package main

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// mostTokens is the most that a count of tokens of one kind may be.
const mostTokens = 1_000_000_000

// errNothing says that a usage object cannot be true.
var errNothing = errors.New("a usage that cannot be true")

// usage is the tokens of one call, of six kinds that do not overlap.
type usage struct {
	input, cachedInput, cacheWrite, cacheWrite1H, output, reasoning int64
	tier                                                            string
}

func (u usage) kinds() []int64 {
	return []int64{u.input, u.cachedInput, u.cacheWrite, u.cacheWrite1H, u.output, u.reasoning}
}

// inputs are all tokens of the request.
func (u usage) inputs() int64 { return u.input + u.cachedInput + u.cacheWrite + u.cacheWrite1H }

// reported reads a vendor's object; an error sticks, so that a reader of many members looks at it once.
type reported struct {
	value
	err error
}

func (r *reported) fail(bad bool) {
	if bad && r.err == nil {
		r.err = errNothing
	}
}

// count is a number of tokens, and whether it is there.
func (r *reported) count(of value, name string) (int64, bool) {
	m, _ := of.get(name)
	if m.kind == isNull {
		return 0, false
	}
	n, err := of.integer(name)
	r.fail(err != nil || n < 0 || n > mostTokens)
	return n, true
}

func (r *reported) required(name string) int64 {
	n, ok := r.count(r.value, name)
	r.fail(!ok)
	return n
}

func (r *reported) optional(of value, name string) int64 {
	n, _ := r.count(of, name)
	return n
}

// part is an object within one; where it is absent, an empty one.
func (r *reported) part(of value, name string) value {
	m, _ := of.get(name)
	r.fail(m.kind != isNull && m.kind != isObject)
	return m
}

// found is a count that may be absent.
type found struct {
	n     int64
	there bool
}

// one is the value of several counts that must agree, and whether any is there.
func (r *reported) one(counts ...found) found {
	var all found
	for _, c := range counts {
		r.fail(c.there && all.there && c.n != all.n)
		if c.there {
			all = c
		}
	}
	return all
}

// named are the counts of some names in an object.
func (r *reported) named(of value, names ...string) (counts []found) {
	for _, name := range names {
		n, ok := r.count(of, name)
		counts = append(counts, found{n, ok})
	}
	return counts
}

// byAge are writes to caches of five minutes and of an hour; together they are what is said of all.
func (r *reported) byAge(parts value, all found) (five, hour int64) {
	five, isFive := r.count(parts, "ephemeral_5m_input_tokens")
	hour, isHour := r.count(parts, "ephemeral_1h_input_tokens")
	if !isFive && !isHour {
		return all.n, 0
	}
	r.fail(all.there && all.n != five+hour)
	return five, hour
}

var tierName = regexp.MustCompile(`^[a-z0-9][a-z0-9_.:-]{0,39}$`)

// tier reads the name of a tier; empty for the usual one.
func (r *reported) tier(name string) string {
	m, _ := r.get(name)
	if m.kind == isNull || m.kind == isString && slices.Contains([]string{"", "default", "standard", "auto", "on_demand"}, m.text) {
		return ""
	}
	r.fail(m.kind != isString || !tierName.MatchString(m.text))
	return m.text
}

// unused fails where something was used that has no price.
func (r *reported) unused(of value, names ...string) {
	for _, name := range names {
		m, _ := of.get(name)
		if m.kind != isObject {
			r.fail(!empty(m))
			continue
		}
		for _, item := range m.items {
			r.fail(!empty(item))
		}
	}
}

// empty says whether a value is 0, null, false or without content.
func empty(v value) bool {
	switch v.kind {
	case isNumber:
		return v.text == "0" || v.text == "0.0" || v.text == "-0.0"
	case isBool:
		return v.text == "false"
	case isString:
		return v.text == ""
	case isList, isObject:
		return len(v.items) == 0
	}
	return true
}

// readUsage reads what a vendor reported; false where it cannot be true.
func readUsage(wire, reasoning string, object value) (usage, bool) {
	r := &reported{value: object}
	r.fail(object.kind != isObject)
	var u usage
	switch wire {
	case "openai-compatible":
		u = r.openAI(reasoning)
	case "anthropic":
		u = r.anthropic()
	default:
		u = usage{
			r.required("input_tokens"), r.optional(object, "cached_input_tokens"), r.optional(object, "cache_write_tokens"),
			r.optional(object, "cache_write_1h_tokens"), r.required("output_tokens"), r.optional(object, "reasoning_tokens"),
			r.tier("service_tier"),
		}
		return u, r.err == nil
	}
	for _, n := range u.kinds() {
		r.fail(n < 0 || n > mostTokens)
	}
	r.fail(u.inputs() == 0)
	return u, r.err == nil
}

func (r *reported) anthropic() usage {
	r.unused(r.value, "server_tool_use")
	steps, _ := r.get("iterations")
	r.fail(!empty(steps) && steps.kind != isList)
	for _, step := range steps.items {
		kind, err := step.str("type")
		r.fail(err != nil || kind != "message")
	}
	all, there := r.count(r.value, "cache_creation_input_tokens")
	five, hour := r.byAge(r.part(r.value, "cache_creation"), found{all, there})
	thought := r.optional(r.part(r.value, "output_tokens_details"), "thinking_tokens")
	var parts []string
	for _, part := range [][2]string{{"service_tier", ""}, {"speed", "speed:"}, {"inference_geo", "geo:"}} {
		m, _ := r.get(part[0])
		if part[0] == "inference_geo" && m.kind == isString && (m.text == "global" || m.text == "not_available") {
			continue
		}
		if tier := r.tier(part[0]); tier != "" {
			parts = append(parts, part[1]+tier)
		}
	}
	return usage{
		r.required("input_tokens"), r.optional(r.value, "cache_read_input_tokens"), five, hour,
		r.required("output_tokens") - thought, thought, strings.Join(parts, "+"),
	}
}

func (r *reported) openAI(reasoning string) usage {
	details, told := r.part(r.value, "prompt_tokens_details"), r.part(r.value, "completion_tokens_details")
	for _, of := range []value{details, told} {
		r.unused(of, "audio_tokens", "image_tokens", "video_tokens")
	}
	r.unused(r.value, "server_tool_use", "server_side_tool_usage_details", "num_sources_used", "num_search_queries",
		"citation_tokens", "prompt_audio_seconds")
	prompt, completion := r.required("prompt_tokens"), r.required("completion_tokens")
	cached := r.one(append(r.named(details, "cached_tokens"),
		r.named(r.value, "cached_tokens", "num_cached_tokens", "prompt_cache_hit_tokens")...)...).n
	if missed, ok := r.count(r.value, "prompt_cache_miss_tokens"); ok {
		r.fail(missed+cached != prompt)
	}
	if read, ok := r.count(r.value, "cache_read_input_tokens"); ok {
		r.fail(read != cached)
	}
	parts := r.part(details, "cache_creation_token_details")
	if other := r.part(details, "cache_creation"); len(parts.items) == 0 {
		parts = other
	}
	written := r.one(r.named(details, "cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens")...)
	five, hour := r.byAge(parts, written)
	if all, ok := r.count(r.value, "cache_creation_input_tokens"); ok {
		r.fail(all != five+hour)
	}
	said, thought := r.outputs(told, prompt, completion, reasoning)
	return usage{prompt - cached - five - hour, cached, five, hour, said, thought, r.tier("service_tier")}
}

// outputs are the tokens that were said, and those of reasoning; the total says whether the ones include the others.
func (r *reported) outputs(told value, prompt, completion int64, reasoning string) (int64, int64) {
	thought := r.one(append(r.named(told, "reasoning_tokens"), r.named(r.value, "reasoning_tokens")...)...)
	total, ok := r.count(r.value, "total_tokens")
	outside := reasoning == "outside"
	switch {
	case !ok:
	case total == prompt+completion:
		outside = false
	case total == prompt+completion+thought.n:
		outside = true
	case outside && !thought.there && total > prompt+completion:
		thought.n = total - prompt - completion
	default:
		r.fail(true)
	}
	if outside {
		return completion, thought.n
	}
	return completion - thought.n, thought.n
}
