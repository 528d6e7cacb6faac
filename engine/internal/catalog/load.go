package catalog

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/internal/base"
)

// decodeState decodes the records of a catalog, which are in the order of their keys, so that a
// table precedes its tombstones. The record with the version is read first: a later version may
// have records that this one does not know.
func decodeState(name string, t tree) (*State, digest, error) {
	s := &State{
		Options:    map[string]string{},
		Tombstones: map[uint64]*roaring.Bitmap{},
		Marks:      map[string]int64{},
		stored:     map[uint64]stored{},
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

// decodeFirst decodes the record of the fixed fields, and returns the format of the version that it
// names.
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
