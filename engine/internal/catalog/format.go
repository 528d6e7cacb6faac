package catalog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// A format decodes the records of one version of the format. The record with the version is decoded
// first: it begins with the version in all formats.
type format struct {
	fixed  func(buf []byte, s *State) error          // decodes the whole record of the fixed fields
	record func(s *State, key, payload []byte) error // decodes any other record except the digest
}

// formats lists the versions that this package reads. Changing a catalog does not change its
// version.
var formats = map[uint32]format{
	1: {fixed: decodeFixed, record: (*State).decode},
}

// formatOf returns the format of a version, or ErrVersion.
func formatOf(version uint32) (format, error) {
	f, ok := formats[version]
	if !ok {
		var known []string
		for _, v := range slices.Sorted(maps.Keys(formats)) {
			known = append(known, fmt.Sprint(v))
		}
		return f, fmt.Errorf("%w %d; this program reads %s", ErrVersion, version, strings.Join(known, ", "))
	}
	return f, nil
}

// decode adds one record of version 1 to the state.
func (s *State) decode(key, payload []byte) (err error) {
	kind, rest, _ := bytes.Cut(key, []byte("/"))
	switch string(kind) + "/" {
	case keyState + "/":
		return nil // already decoded
	case keyParams + "/":
		s.Params = append([]byte{}, payload...)
		return nil
	case keyClosed + "/":
		s.Closed, err = decodeLogEnd(payload)
		return err
	case keySeq + "/":
		seq, err := decodeUint64(payload)
		s.LastSeq = max(s.LastSeq, seq) // Salvage finds several
		return err
	case prefixOption:
		s.Options[string(rest)] = string(payload)
		return nil
	case prefixMark:
		mark, err := decodeUint64(payload)
		s.Marks[string(rest)] = int64(mark)
		return err
	case prefixRemoved:
		return s.decodeRemoved(rest, payload)
	case prefixAllowed:
		p, err := decodePair(payload)
		if err == nil && allowedKey(p) != string(key) {
			err = errors.New("the key does not match the pair")
		}
		s.Allowed = append(s.Allowed, p)
		return err
	case prefixTable:
		if len(rest) != 8 {
			return errors.New("malformed key")
		}
		t, err := decodeTable(binary.BigEndian.Uint64(rest), payload)
		s.Tables = append(s.Tables, t)
		return err
	case prefixTombstone:
		return s.decodeTombstones(rest, payload)
	}
	return errors.New("unknown record")
}

// decodeTombstones adds the deleted documents of a chunk, or of a delta. at is the number of the
// table with that of the chunk or delta.
func (s *State) decodeTombstones(at, payload []byte) error {
	if len(at) != 10 && len(at) != 12 {
		return errors.New("malformed key")
	}
	table := binary.BigEndian.Uint64(at)
	i, ok := slices.BinarySearchFunc(s.Tables, Table{Number: table}, compareTables)
	if !ok {
		return errors.New("tombstones of a missing table")
	}
	size, first, end := s.stored[table], uint32(0), s.Tables[i].Docs
	if len(at) == 10 {
		size.chunks += crcSize + len(payload)
		first = uint32(binary.BigEndian.Uint16(at[8:])) << 16
		end = uint32(min(uint64(end), uint64(first)+1<<16))
	} else {
		if binary.BigEndian.Uint32(at[8:]) != size.count {
			return errors.New("an earlier record is missing")
		}
		size = size.plusDelta(record{append([]byte(prefixTombstone), at...), append(make([]byte, crcSize), payload...)})
	}
	if s.Tombstones[table] == nil {
		s.Tombstones[table] = roaring.New()
	}
	s.stored[table] = size
	return addTombstones(s.Tombstones[table], first, end, payload)
}

// addTombstones adds the documents of a record, which must be from first to end-1, to a bitmap.
// Decoding a Roaring bitmap does not detect all damage, and operations on an inconsistent bitmap
// give wrong results; Validate detects this.
func addTombstones(to *roaring.Bitmap, first, end uint32, payload []byte) error {
	dead := roaring.New()
	n, err := dead.ReadFrom(bytes.NewReader(payload))
	if err != nil {
		return err
	}
	if n != int64(len(payload)) {
		return fmt.Errorf("a bitmap of %d bytes in a record of %d", n, len(payload))
	}
	if err := dead.Validate(); err != nil {
		return err
	}
	if dead.IsEmpty() {
		return errors.New("no tombstones")
	}
	if dead.Minimum() < first || dead.Maximum() >= end {
		return fmt.Errorf("tombstones of documents %d to %d", dead.Minimum(), dead.Maximum())
	}
	to.Or(dead)
	return nil
}
