package main

import (
	"crypto/sha256"
	"errors"
	"math/bits"
)

func leafHash(leaf []byte) hash { return sha256.Sum256(append([]byte{0}, leaf...)) }

func nodeHash(left, right hash) hash {
	data := append([]byte{1}, left[:]...)
	return sha256.Sum256(append(data, right[:]...))
}

// rootOf is the root over hashes of leaves.
func rootOf(leaves []hash) hash {
	switch len(leaves) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return leaves[0]
	}
	k := 1 << (bits.Len(uint(len(leaves)-1)) - 1)
	return nodeHash(rootOf(leaves[:k]), rootOf(leaves[k:]))
}

var errPath = errors.New("the path does not lead to the root")

// included checks a path of inclusion as RFC 9162, section 2.1.3.2 does.
func included(leaf hash, index, size int64, path []hash, root hash) error {
	if index < 0 || index >= size {
		return errors.New("an index that is not below the size")
	}
	fn, sn, r := uint64(index), uint64(size-1), leaf
	for _, p := range path {
		if sn == 0 {
			return errors.New("a path that is too long")
		}
		if fn&1 == 1 || fn == sn {
			r = nodeHash(p, r)
			for fn&1 == 0 && fn != 0 {
				fn, sn = fn>>1, sn>>1
			}
		} else {
			r = nodeHash(r, p)
		}
		fn, sn = fn>>1, sn>>1
	}
	if sn != 0 || r != root {
		return errPath
	}
	return nil
}

// consistent checks a path of consistency as RFC 9162, section 2.1.4.2 does, of sizes above 0.
func consistent(old, size int64, oldRoot, root hash, path []hash) error {
	if old < 1 || old > size {
		return errors.New("sizes that do not follow each other")
	}
	if old == size {
		if len(path) > 0 || oldRoot != root {
			return errPath
		}
		return nil
	}
	if old&(old-1) == 0 {
		path = append([]hash{oldRoot}, path...)
	}
	if len(path) == 0 {
		return errPath
	}
	fn, sn := uint64(old-1), uint64(size-1)
	for fn&1 == 1 {
		fn, sn = fn>>1, sn>>1
	}
	fr, sr := path[0], path[0]
	for _, c := range path[1:] {
		if sn == 0 {
			return errors.New("a path that is too long")
		}
		if fn&1 == 1 || fn == sn {
			fr, sr = nodeHash(c, fr), nodeHash(c, sr)
			for fn&1 == 0 && fn != 0 {
				fn, sn = fn>>1, sn>>1
			}
		} else {
			sr = nodeHash(sr, c)
		}
		fn, sn = fn>>1, sn>>1
	}
	if sn != 0 || fr != oldRoot || sr != root {
		return errPath
	}
	return nil
}
