// A verifier of the integrity of bundles and exports, written from docs/format alone.
package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

var (
	hexHash     = regexp.MustCompile(`^[0-9a-f]{64}$`)
	identifier  = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	timeOfDay   = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?Z$`)
	wholeSecond = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$`)
	ascii       = regexp.MustCompile(`^(0|[1-9][0-9]{0,18})$`)
)

type hash = [sha256.Size]byte

func digest(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// unbase64 reads base64 in the spelling that writing it anew gives.
func unbase64(text string) ([]byte, error) {
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err == nil && base64.StdEncoding.EncodeToString(data) != text {
		err = errors.New("another spelling of base64")
	}
	return data, err
}

// decimal reads digits without leading zeros, up to 2^63 - 1.
func decimal(text string) (int64, error) {
	if !ascii.MatchString(text) {
		return 0, fmt.Errorf("no decimal: %q", text)
	}
	return strconv.ParseInt(text, 10, 64)
}

// moment refuses a text that is no time of the format; any fraction has one to six digits.
func moment(text string) error {
	if !timeOfDay.MatchString(text) {
		return fmt.Errorf("no time: %q", text)
	}
	t, err := time.Parse("2006-01-02T15:04:05Z", text)
	if err == nil && t.Year() == 0 {
		err = errors.New("no year")
	}
	return err
}

// committed says whether a commitment is to this content with a salt in hex.
func committed(commitment, salt string, content []byte) bool {
	raw, err := hex.DecodeString(salt)
	return err == nil && hexHash.MatchString(salt) && digest(append(raw, content...)) == commitment
}
