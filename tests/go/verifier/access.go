package main

import (
	"errors"
	"fmt"
	"slices"
)

// changeMembers are the members that a change of access has, and behind them those that it may have (records.md).
var changeMembers = map[string][2][]string{
	"tenantCreated":   {{"tenant"}, nil},
	"keyIssued":       {{"key", "subject", "roles", "expires"}, {"tenant", "scopes"}},
	"keyRotated":      {{"key", "subject", "roles", "expires", "replaced"}, {"tenant", "scopes"}},
	"keyRevoked":      {{"key", "subject"}, {"tenant"}},
	"subjectRevoked":  {{"subject"}, {"tenant"}},
	"caseAssigned":    {{"subject", "debate"}, {"tenant"}},
	"caseUnassigned":  {{"subject", "debate"}, {"tenant"}},
	"webhookCreated":  {{"tenant", "webhook"}, nil},
	"webhookRotated":  {{"tenant", "webhook"}, nil},
	"webhookDisabled": {{"tenant", "webhook"}, nil},
	"webhookEnabled":  {{"tenant", "webhook"}, nil},
}

// ruled holds a payload against the rules between its members, which no schema says.
func (r *record) ruled() error {
	switch r.said {
	case "access.changed":
		return r.changed()
	case "content.read":
		readings, _ := r.body.get("readings")
		for _, reading := range readings.items {
			if err := readingRuled(reading); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *record) changed() error {
	what, err := r.body.str("what")
	if err != nil {
		return err
	}
	members, known := changeMembers[what]
	if !known {
		return fmt.Errorf("a change of access that is none: %s", what)
	}
	for _, name := range members[0] {
		if found, ok := r.body.get(name); !ok || found.kind == isList && len(found.items) == 0 {
			return fmt.Errorf("%s without %s", what, name)
		}
	}
	for _, name := range r.body.names {
		if name != "kind" && name != "what" && !slices.Contains(members[0], name) && !slices.Contains(members[1], name) {
			return fmt.Errorf("%s with %s", what, name)
		}
	}
	return nil
}

func readingRuled(reading value) error {
	what, err := reading.str("what")
	if err != nil {
		return err
	}
	if _, ok := reading.get("debate"); ok == (what == "list") {
		return errors.New("a reading of a list with a debate, or of anything else without one")
	}
	first, errFirst := reading.str("first")
	last, errLast := reading.str("last")
	if errFirst != nil || errLast != nil || last < first {
		return errors.New("a reading that ended before it began")
	}
	return nil
}
