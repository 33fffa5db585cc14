package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"regexp"
	"sort"
	"strings"
)

const (
	mostBytes = 1<<32 - 2
	mostFiles = 200_000
	mostName  = 200
)

var (
	part    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	device  = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$`)
	le      = binary.LittleEndian
	errName = errors.New("a name that is no path")
)

type file struct {
	name    string
	content []byte
}

func checkName(name string) error {
	if len(name) > mostName {
		return errName
	}
	for _, p := range strings.Split(name, "/") {
		if !part.MatchString(p) || strings.HasSuffix(p, ".") || device.MatchString(p) {
			return fmt.Errorf("%w: %q", errName, name)
		}
	}
	return nil
}

// unpack reads the members from the front, and refuses an archive that is not written as the format says.
func unpack(data []byte) ([]file, error) {
	if len(data) > mostBytes {
		return nil, errors.New("more bytes than an archive has")
	}
	var files []file
	for at := 0; bytes.HasPrefix(data[at:], []byte("PK\x03\x04")); {
		if len(data) < at+30 || len(files) == mostFiles {
			return nil, errors.New("cut off in a header, or too many files")
		}
		size, named := int(le.Uint32(data[at+18:])), int(le.Uint16(data[at+26:]))
		end := at + 30 + named + size
		if end > len(data) {
			return nil, errors.New("cut off in a file")
		}
		files = append(files, file{string(data[at+30 : at+30+named]), data[at+30+named : end]})
		at = end
	}
	if err := checkNames(files); err != nil {
		return nil, err
	}
	if !bytes.Equal(pack(files), data) {
		return nil, errors.New("bytes that differ from the archive written anew")
	}
	return files, nil
}

func checkNames(files []file) error {
	if len(files) == 0 || files[0].name != "manifest.json" {
		return errors.New("manifest.json is not the first file")
	}
	if !sort.SliceIsSorted(files[1:], func(a, b int) bool { return files[1+a].name < files[1+b].name }) {
		return errors.New("files out of order")
	}
	seen := map[string]bool{}
	for _, f := range files {
		if err := checkName(f.name); err != nil {
			return err
		}
		if lower := strings.ToLower(f.name); seen[lower] {
			return fmt.Errorf("two names of %q", f.name)
		} else {
			seen[lower] = true
		}
	}
	for name := range seen {
		for at, c := range name {
			if c == '/' && seen[name[:at]] {
				return fmt.Errorf("%q is a file and a folder", name[:at])
			}
		}
	}
	return nil
}

// header is what the local header and the line of the list have in common.
func header(out []byte, f file) []byte {
	for _, n := range []uint16{20, 0, 0, 0, 0x0021} {
		out = le.AppendUint16(out, n)
	}
	out = le.AppendUint32(out, crc32.ChecksumIEEE(f.content))
	out = le.AppendUint32(out, uint32(len(f.content)))
	out = le.AppendUint32(out, uint32(len(f.content)))
	out = le.AppendUint16(out, uint16(len(f.name)))
	return le.AppendUint16(out, 0)
}

// pack writes an archive in its only spelling.
func pack(files []file) []byte {
	var out, list []byte
	for _, f := range files {
		list = header(le.AppendUint16(append(list, "PK\x01\x02"...), 0x0314), f)
		list = append(list, 0, 0, 0, 0, 0, 0)
		list = le.AppendUint32(le.AppendUint32(list, 0x81A40000), uint32(len(out)))
		list = append(list, f.name...)
		out = append(append(header(append(out, "PK\x03\x04"...), f), f.name...), f.content...)
	}
	offset, count := len(out), min(len(files), 65535)
	out = append(out, list...)
	if len(files) >= 65535 {
		out = bigEnd(out, len(files), len(list), offset)
	}
	out = append(out, "PK\x05\x06\x00\x00\x00\x00"...)
	out = le.AppendUint16(le.AppendUint16(out, uint16(count)), uint16(count))
	out = le.AppendUint32(le.AppendUint32(out, uint32(len(list))), uint32(offset))
	return le.AppendUint16(out, 0)
}

// bigEnd appends the ZIP64 end record and its locator.
func bigEnd(out []byte, count, size, offset int) []byte {
	at := len(out)
	out = le.AppendUint64(append(out, "PK\x06\x06"...), 44)
	out = le.AppendUint16(le.AppendUint16(out, 0x0314), 45)
	out = le.AppendUint64(out, 0)
	for _, n := range []int{count, count, size, offset} {
		out = le.AppendUint64(out, uint64(n))
	}
	out = le.AppendUint32(append(out, "PK\x06\x07"...), 0)
	return le.AppendUint32(le.AppendUint64(out, uint64(at)), 1)
}
