package catalog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/internal/base"
)

// decodeState makes the state of all records of a catalog, which come in the order of their keys,
// so that a table precedes its tombstones. The record with the version is read first: a later
// version may have records that this one does not know.
func decodeState(name string, t tree) (*State, digest, error) {
	s := &State{
		Options:    map[string]string{},
		Tombstones: map[uint64]*roaring.Bitmap{},
		Marks:      map[string]int64{},
	}
	format, err := s.decodeFirst(name, t.entries)
	if err != nil {
		return nil, digest{}, err
	}
	var got digest
	var want []byte
	for _, r := range t.entries {
		payload, err := r.payload()
		if err == nil && string(r.key) == keyDigest {
			want = r.value
			continue
		}
		if err == nil {
			got.add(r.key, r.value)
			err = format.record(s, r.key, payload)
		}
		if err != nil {
			return nil, digest{}, base.Corruptf(name, section(r.key), -1, "%w", err)
		}
	}
	if !bytes.Equal(want, got.record(t.txid).value) {
		return nil, digest{}, base.Corruptf(name, keyDigest, -1, "records are missing or out of date")
	}
	slices.SortFunc(s.Allowed, comparePairs)
	if s.Params == nil {
		return nil, digest{}, base.Corruptf(name, keyParams, -1, "the record is missing")
	}
	return s, got, nil
}

// decodeFirst decodes the record of the fixed fields, and returns the format of the version in it.
func (s *State) decodeFirst(name string, records []record) (f format, err error) {
	i := slices.IndexFunc(records, func(r record) bool { return string(r.key) == keyState })
	if i < 0 {
		return f, base.Corruptf(name, keyState, -1, "the record is missing")
	}
	payload, err := records[i].payload()
	if err == nil {
		s.FormatVersion, err = decodeVersion(payload)
	}
	if err == nil {
		if f, err = formatOf(s.FormatVersion); err != nil {
			return f, fmt.Errorf("%s: %w", name, err)
		}
		err = f.fixed(payload, s)
	}
	if err != nil {
		return f, base.Corruptf(name, keyState, -1, "%w", err)
	}
	return f, nil
}

// decode takes in one record of version 1.
func (s *State) decode(key, payload []byte) (err error) {
	kind, rest, _ := bytes.Cut(key, []byte("/"))
	switch string(kind) + "/" {
	case keyState + "/":
		return nil // read first
	case keyParams + "/":
		s.Params = append([]byte{}, payload...)
		return nil
	case keyClosed + "/":
		s.Closed, err = decodeLogEnd(payload)
		return err
	case prefixOption:
		s.Options[string(rest)] = string(payload)
		return nil
	case prefixMark:
		if len(payload) != 8 {
			return fmt.Errorf("%d bytes instead of 8", len(payload))
		}
		s.Marks[string(rest)] = int64(binary.LittleEndian.Uint64(payload))
		return nil
	case prefixAllowed:
		p, err := decodePair(payload)
		if err == nil && allowedKey(p) != string(key) {
			err = errors.New("the key is not that of the pair")
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

// decodeTombstones adds the deleted documents of one chunk of a table. Roaring does not notice
// every damage when it decodes, and computes nonsense from a bitmap that breaks its rules; hence
// Validate.
func (s *State) decodeTombstones(table uint64, chunk uint16, payload []byte) error {
	i, ok := slices.BinarySearchFunc(s.Tables, Table{Number: table}, compareTables)
	if !ok {
		return errors.New("tombstones of a table that is not there")
	}
	window := roaring.New()
	n, err := window.ReadFrom(bytes.NewReader(payload))
	if err != nil {
		return err
	}
	if n != int64(len(payload)) {
		return fmt.Errorf("a bitmap of %d bytes in %d", n, len(payload))
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
