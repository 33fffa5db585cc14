package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	_ "crypto/sha512"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"sort"
	"time"
)

// stamp is what a token says: a time in seconds since 1970, how far off it may be, and the SHA-256 of its certificate.
type stamp struct {
	seconds, accuracy int64
	authority         [32]byte
}

// tokenMax is the most bytes of a token, accuracyMax the most seconds that it may say it is off, before rounding.
const (
	tokenMax    = 65536
	accuracyMax = 3600
)

var errToken = errors.New("a token that does not hold")

var (
	oidSignedData  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	oidTSTInfo     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}
	oidContentType = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	oidDigest      = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	oidCertificate = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47}
	oidRSA         = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}
	oidPurpose     = asn1.ObjectIdentifier{2, 5, 29, 37}
)

// digests are what a signer may name, by DER, with the name that ECDSA has with each.
var digests = map[string]struct {
	hash  crypto.Hash
	ecdsa asn1.ObjectIdentifier
}{
	string(der(asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1})): {crypto.SHA256, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}},
	string(der(asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2})): {crypto.SHA384, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 3}},
	string(der(asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 3})): {crypto.SHA512, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 4}},
}

// der writes a value; only values that can be written are given.
func der(value any) []byte {
	data, _ := asn1.Marshal(value)
	return data
}

// wrap writes values under a tag: 0x30 a SEQUENCE, 0x31 a SET, 0xa0 [0].
func wrap(tag byte, values ...[]byte) []byte {
	data := der(asn1.RawValue{Class: int(tag >> 6), Tag: int(tag & 0x1f), IsCompound: tag&0x20 != 0, Bytes: bytes.Join(values, nil)})
	return data
}

// parts are the values inside a value, each whole.
func parts(data []byte) ([]asn1.RawValue, error) {
	var outer asn1.RawValue
	rest, err := asn1.Unmarshal(data, &outer)
	if err != nil || len(rest) > 0 {
		return nil, errToken
	}
	var found []asn1.RawValue
	for rest = outer.Bytes; len(rest) > 0; {
		var one asn1.RawValue
		if rest, err = asn1.Unmarshal(rest, &one); err != nil {
			return nil, errToken
		}
		found = append(found, one)
	}
	return found, nil
}

// within is the value at a path of places, as 1, 0: the first value inside the second.
func within(data []byte, path ...int) (asn1.RawValue, error) {
	var found asn1.RawValue
	for _, n := range path {
		inside, err := parts(data)
		if err != nil || n >= len(inside) {
			return found, errToken
		}
		found, data = inside[n], inside[n].FullBytes
	}
	return found, nil
}

// token holds what is taken out of a token before it is written again.
type token struct {
	content, attributes, signature asn1.RawValue
	digest                         []byte
	certificate                    *x509.Certificate
}

// readToken takes a token apart.
func readToken(data []byte) (t token, err error) {
	var raw, digest asn1.RawValue
	for _, one := range []struct {
		to   *asn1.RawValue
		path []int
	}{
		{&t.content, []int{1, 0, 2, 1, 0}}, {&raw, []int{1, 0, 3, 0}}, {&digest, []int{1, 0, 4, 0, 2, 0}},
		{&t.attributes, []int{1, 0, 4, 0, 3}}, {&t.signature, []int{1, 0, 4, 0, 5}},
	} {
		if *one.to, err = within(data, one.path...); err != nil {
			return t, err
		}
	}
	t.digest = digest.FullBytes
	t.certificate, err = x509.ParseCertificate(raw.FullBytes)
	return t, err
}

// normal writes the token in its one form.
func (t token) normal() ([]byte, error) {
	named, ok := digests[string(t.digest)]
	inside, err := parts(t.attributes.FullBytes)
	if !ok || err != nil {
		return nil, errToken
	}
	sort.Slice(inside, func(i, j int) bool { return bytes.Compare(inside[i].FullBytes, inside[j].FullBytes) < 0 })
	var sorted []byte
	for _, one := range inside {
		sorted = append(sorted, one.FullBytes...)
	}
	algorithm := wrap(0x30, der(named.ecdsa))
	if _, ok := t.certificate.PublicKey.(*rsa.PublicKey); ok {
		algorithm = wrap(0x30, der(oidRSA), []byte{5, 0})
	}
	digest := wrap(0x30, t.digest)
	identity := wrap(0x30, t.certificate.RawIssuer, der(t.certificate.SerialNumber))
	signer := wrap(0x30, der(1), identity, digest, wrap(0xa0, sorted), algorithm, der(t.signature.Bytes))
	data := wrap(0x30, der(3), wrap(0x31, digest), wrap(0x30, der(oidTSTInfo), wrap(0xa0, der(t.content.Bytes))),
		wrap(0xa0, t.certificate.Raw), wrap(0x31, signer))
	return wrap(0x30, der(oidSignedData), wrap(0xa0, data)), nil
}

// openStamp verifies a token of a text but for who its authority is.
func openStamp(data []byte, text string) (stamp, error) {
	if len(data) > tokenMax {
		return stamp{}, errToken
	}
	t, err := readToken(data)
	if err != nil {
		return stamp{}, err
	}
	if again, err := t.normal(); err != nil || !bytes.Equal(again, data) {
		return stamp{}, fmt.Errorf("another form: %w", errToken)
	}
	if !stampsOnly(t.certificate) {
		return stamp{}, fmt.Errorf("a certificate for something else: %w", errToken)
	}
	if err := t.signed(); err != nil {
		return stamp{}, err
	}
	return t.said(text)
}

// stampsOnly says whether a certificate is for time stamps alone.
func stampsOnly(c *x509.Certificate) bool {
	critical := false
	for _, one := range c.Extensions {
		critical = critical || one.Id.Equal(oidPurpose) && one.Critical
	}
	only := len(c.ExtKeyUsage) == 1 && c.ExtKeyUsage[0] == x509.ExtKeyUsageTimeStamping && len(c.UnknownExtKeyUsage) == 0
	others := c.KeyUsage &^ (x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment)
	return critical && only && others == 0 && len(c.UnhandledCriticalExtensions) == 0
}

// signed checks the signed attributes and the signature over them.
func (t token) signed() error {
	hash := digests[string(t.digest)].hash
	content, err := t.attribute(oidContentType)
	if err != nil || !bytes.Equal(content.FullBytes, der(oidTSTInfo)) {
		return fmt.Errorf("another content: %w", errToken)
	}
	digest, err := t.attribute(oidDigest)
	if err != nil || digest.Tag != asn1.TagOctetString || !bytes.Equal(digest.Bytes, summed(hash, t.content.Bytes)) {
		return fmt.Errorf("another digest: %w", errToken)
	}
	if err := t.named(); err != nil {
		return err
	}
	attributes := append([]byte{}, t.attributes.FullBytes...)
	attributes[0] = 0x31
	sum := summed(hash, attributes)
	switch key := t.certificate.PublicKey.(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() < 2048 || key.N.BitLen() > 8192 || rsa.VerifyPKCS1v15(key, hash, sum, t.signature.Bytes) != nil {
			return fmt.Errorf("another signature: %w", errToken)
		}
	case *ecdsa.PublicKey:
		var both struct{ R, S *big.Int }
		_, err := asn1.Unmarshal(t.signature.Bytes, &both)
		if err != nil || key.Curve.Params().BitSize < 256 || !ecdsa.VerifyASN1(key, sum, t.signature.Bytes) {
			return fmt.Errorf("another signature: %w", errToken)
		}
		if new(big.Int).Lsh(both.S, 1).Cmp(key.Params().N) > 0 {
			return fmt.Errorf("the larger s: %w", errToken)
		}
	default:
		return fmt.Errorf("another kind of key: %w", errToken)
	}
	return nil
}

// attribute is the one value of a signed attribute that is there once.
func (t token) attribute(name asn1.ObjectIdentifier) (asn1.RawValue, error) {
	var found []asn1.RawValue
	all, err := parts(t.attributes.FullBytes)
	for _, one := range all {
		if inside, err := parts(one.FullBytes); err == nil && len(inside) == 2 && bytes.Equal(inside[0].FullBytes, der(name)) {
			values, err := parts(inside[1].FullBytes)
			if err != nil || len(values) != 1 {
				return asn1.RawValue{}, errToken
			}
			found = append(found, values[0])
		}
	}
	if err != nil || len(found) != 1 {
		return asn1.RawValue{}, errToken
	}
	return found[0], nil
}

// named checks that the first hash that the signer signed is that of its certificate.
func (t token) named() error {
	value, err := t.attribute(oidCertificate)
	if err != nil {
		return fmt.Errorf("no hash of the certificate: %w", err)
	}
	first, err := within(value.FullBytes, 0, 0)
	if err != nil {
		return err
	}
	inside, err := parts(first.FullBytes)
	hash := crypto.SHA256
	if err == nil && len(inside) > 1 && inside[0].Tag == asn1.TagSequence {
		name, errName := within(inside[0].FullBytes, 0)
		known, ok := digests[string(name.FullBytes)]
		if errName != nil || !ok {
			return errToken
		}
		hash, inside = known.hash, inside[1:]
	}
	if err != nil || len(inside) == 0 || !bytes.Equal(inside[0].Bytes, summed(hash, t.certificate.Raw)) {
		return fmt.Errorf("the hash of another certificate: %w", errToken)
	}
	return nil
}

func summed(hash crypto.Hash, data []byte) []byte {
	h := hash.New()
	h.Write(data)
	return h.Sum(nil)
}

// said is what the TSTInfo says of a text.
func (t token) said(text string) (stamp, error) {
	inside, err := parts(t.content.Bytes)
	if err != nil || len(inside) < 5 || !bytes.Equal(inside[0].FullBytes, der(1)) {
		return stamp{}, fmt.Errorf("no TSTInfo of version 1: %w", errToken)
	}
	sum := sha256.Sum256([]byte(text))
	name, errName := within(inside[2].FullBytes, 0, 0)
	imprint, errImprint := within(inside[2].FullBytes, 1)
	if errName != nil || errImprint != nil || digests[string(name.FullBytes)].hash != crypto.SHA256 || !bytes.Equal(imprint.Bytes, sum[:]) {
		return stamp{}, fmt.Errorf("of another text: %w", errToken)
	}
	at, err := time.Parse("20060102150405Z", string(inside[4].Bytes))
	if err != nil || at.Before(t.certificate.NotBefore) || at.After(t.certificate.NotAfter) {
		return stamp{}, fmt.Errorf("not within the validity of its certificate: %w", errToken)
	}
	found := stamp{seconds: at.Unix(), authority: sha256.Sum256(t.certificate.Raw)}
	if at.Nanosecond() > 0 {
		found.accuracy = 1
	}
	for _, one := range inside[5:] {
		switch {
		case one.Class == asn1.ClassUniversal && one.Tag == asn1.TagSequence:
			off, err := accuracy(one.FullBytes)
			if err != nil {
				return stamp{}, err
			}
			found.accuracy += off
		case one.Class == asn1.ClassContextSpecific && one.Tag == 1 && bytes.Contains(one.Bytes, []byte{1, 1, 0xff}):
			return stamp{}, fmt.Errorf("an extension that may be critical: %w", errToken)
		}
	}
	return found, nil
}

// accuracy is that of a TSTInfo in whole seconds, rounded up.
func accuracy(data []byte) (int64, error) {
	inside, err := parts(data)
	if err != nil {
		return 0, err
	}
	var seconds, more int64
	for _, one := range inside {
		number := new(big.Int).SetBytes(one.Bytes)
		context := one.Class == asn1.ClassContextSpecific
		if len(one.Bytes) == 0 || one.Bytes[0]&0x80 != 0 || !number.IsInt64() ||
			context && number.Int64() > 999 || number.Int64() > accuracyMax {
			return 0, fmt.Errorf("an accuracy that is none: %w", errToken)
		}
		if context && number.Sign() > 0 {
			more = 1
		} else if !context {
			seconds = number.Int64()
		}
	}
	return seconds + more, nil
}
