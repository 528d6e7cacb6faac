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
		if len(rest) != 10 {
			return errors.New("malformed key")
		}
		return s.decodeTombstones(binary.BigEndian.Uint64(rest), binary.BigEndian.Uint16(rest[8:]), payload)
	}
	return errors.New("unknown record")
}

// decodeTombstones adds the deleted documents of one chunk of a table. Decoding a Roaring bitmap
// does not detect all damage, and operations on an inconsistent bitmap give wrong results; Validate
// detects this.
func (s *State) decodeTombstones(table uint64, chunk uint16, payload []byte) error {
	i, ok := slices.BinarySearchFunc(s.Tables, Table{Number: table}, compareTables)
	if !ok {
		return errors.New("tombstones of a missing table")
	}
	window := roaring.New()
	n, err := window.ReadFrom(bytes.NewReader(payload))
	if err != nil {
		return err
	}
	if n != int64(len(payload)) {
		return fmt.Errorf("a bitmap of %d bytes in a record of %d", n, len(payload))
	}
	if err := window.Validate(); err != nil {
		return err
	}
	if window.IsEmpty() {
		return errors.New("no tombstones")
	}
	first, last := window.Minimum(), window.Maximum()
	if first>>16 != uint32(chunk) || last>>16 != uint32(chunk) || last >= s.Tables[i].Docs {
		return fmt.Errorf("tombstones of documents %d to %d", first, last)
	}
	if s.Tombstones[table] == nil {
		s.Tombstones[table] = roaring.New()
	}
	s.Tombstones[table].Or(window)
	return nil
}
