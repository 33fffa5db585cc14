package main

import (
	"errors"
	"fmt"
	"io"
)

// Exit codes, those of the product's own verifier.
const (
	exitOK        = 0
	exitFailed    = 1
	exitUsage     = 2
	exitUnchecked = 4
)

// trust is what the reader of a file pinned.
type trust struct {
	keys, witnesses []key
	quorum          int
	authorities     map[[32]byte]bool // of time stamps, by the SHA-256 of their certificates
	recompute       bool
	forms           schemas // nil: the members of payloads are not checked
}

// step is one step of a verifier. An error that is errLater says that it could not be carried out whole.
type step struct {
	name string
	do   func() error
}

// carry takes the steps in order, prints a line for each, and stops at the first that fails.
func carry(out io.Writer, steps []step) int {
	exit := exitOK
	for _, s := range steps {
		err := s.do()
		switch {
		case err == nil:
			fmt.Fprintf(out, "%-10s OK\n", s.name)
		case errors.Is(err, errLater):
			fmt.Fprintf(out, "%-10s NOT CHECKABLE  %v\n", s.name, err)
			exit = exitUnchecked
		default:
			fmt.Fprintf(out, "%-10s FAILED  %v\n", s.name, err)
			return exitFailed
		}
	}
	return exit
}

// witnessed refuses a wrong line of a pinned witness, and fewer of them than asked for.
func (t trust) witnessed(c checkpoint) error {
	found, err := c.signers(t.witnesses)
	if err != nil {
		return err
	}
	if len(t.witnesses) == 0 && t.quorum > 0 {
		return fmt.Errorf("no witness is pinned: %w", errLater)
	}
	if len(found) < t.quorum {
		return fmt.Errorf("%d of %d pinned witnesses signed", len(found), t.quorum)
	}
	return nil
}

// lines refuses two lines of one key, and finds lines by keys that were not pinned; carried are known elsewhere.
func (t trust) lines(c checkpoint, carried map[string]bool) error {
	if err := c.twice(); err != nil {
		return err
	}
	var strange error
	for _, s := range c.signatures {
		known := carried[s.line]
		for _, k := range append(append([]key{}, t.keys...), t.witnesses...) {
			if !s.by(k) || k.kind == plainType && !k.may(c.origin) {
				continue
			}
			if _, err := s.check(k, c.text); err != nil {
				return err
			}
			known = true
		}
		if !known {
			strange = fmt.Errorf("a line of %s, whose key is not pinned: %w", s.name, errLater)
		}
	}
	return strange
}
