package fieldidx

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/simdb/simdb/internal/jsonfield"
)

// A Group has the keys of some consecutive records, for one list.
type Group struct {
	first   uint32 // number of the first record, counted through all groups
	keys    []byte
	ends    []uint32 // end of each key in keys
	records []uint32 // index in the group of each key's record
}

func (g *Group) key(i uint32) []byte {
	from := uint32(0)
	if i > 0 {
		from = g.ends[i-1]
	}
	return g.keys[from:g.ends[i]]
}

func (g *Group) end(record uint32) {
	g.ends, g.records = append(g.ends, uint32(len(g.keys))), append(g.records, record)
}

// Groups has a group for each list, for the same records.
type Groups struct {
	lists   []Group
	records uint32
}

// Add adds the next record, with its fields.
func (g *Groups) Add(paths [][]string, fields []byte) {
	if g.lists == nil {
		g.lists = make([]Group, Lists*len(paths))
	}
	for i, path := range paths {
		Each(path, fields, func(list int, key []byte) {
			l := &g.lists[Lists*i+list]
			l.keys = append(l.keys, key...)
			l.end(g.records)
		})
	}
	g.records++
}

// Each calls fn with each list of a field that a document belongs to, and its key there.
func Each(path []string, fields []byte, fn func(list int, key []byte)) {
	raw := jsonfield.Of(fields, path)
	if raw == nil {
		return
	}
	value := jsonfield.Value(raw)
	fn(Texts, jsonfield.TextKey(value))
	if jsonfield.IsNumber(value) {
		var buf [jsonfield.MostKey]byte
		fn(Numbers, jsonfield.AppendNumberKey(buf[:0], value))
	}
}

// Values has the keys of the records of a table that is being written, in memory: their bytes, and
// 24 more for each key. The zero value is empty.
type Values struct {
	lists   [][]Group
	records uint32
	bytes   int64
}

// Add adds the groups of the next records. It retains them.
func (v *Values) Add(g Groups) {
	if v.lists == nil {
		v.lists = make([][]Group, len(g.lists))
	}
	for i, l := range g.lists {
		if l.first = v.records; len(l.ends) > 0 {
			v.lists[i] = append(v.lists[i], l)
			v.bytes += int64(len(l.keys)) + 24*int64(len(l.ends))
		}
	}
	v.records += g.records
}

// Bytes returns the memory needed for the keys, including the memory for sorting them.
func (v *Values) Bytes() int64 { return v.bytes }

// NoDocument is the document number of a record that belongs to no document.
const NoDocument = 1<<32 - 1

// An entry is a key that is being sorted.
type entry struct {
	word       uint64 // a part of the key or, among equal keys, the document
	group, key uint32
}

// Sorted calls add with the keys of a list, in order. docs are the documents of the records.
func (v *Values) Sorted(list int, docs []uint32, add func(key []byte, doc uint32) error) error {
	if list >= len(v.lists) {
		return nil // no records
	}
	s := sorting{v.lists[list], docs}
	var entries []entry
	for i := range s.groups {
		for k := range s.groups[i].records {
			if e := (entry{group: uint32(i), key: uint32(k)}); s.doc(e) != NoDocument {
				entries = append(entries, e)
			}
		}
	}
	s.sort(entries, 0)
	for _, e := range entries {
		if err := add(s.key(e), s.doc(e)); err != nil {
			return err
		}
	}
	return nil
}

type sorting struct {
	groups []Group
	docs   []uint32
}

func (s *sorting) key(e entry) []byte { return s.groups[e.group].key(e.key) }
func (s *sorting) doc(e entry) uint32 {
	g := &s.groups[e.group]
	return s.docs[g.first+g.records[e.key]]
}

// wordBytes is how many bytes of a key are compared at a time.
const wordBytes = 7

// sort sorts entries whose keys have the same first offset bytes: first by the next bytes of the
// keys and the number of these bytes, then recursively those that are still equal.
func (s *sorting) sort(entries []entry, offset int) {
	if len(entries) < 2 {
		return
	}
	for i, e := range entries {
		var word [8]byte
		rest := s.key(e)[offset:]
		copy(word[:wordBytes], rest)
		word[wordBytes] = byte(min(len(rest), wordBytes+1))
		entries[i].word = binary.BigEndian.Uint64(word[:])
	}
	byWord := func(a, b entry) int { return cmp.Compare(a.word, b.word) }
	slices.SortFunc(entries, byWord)
	for from := 0; from < len(entries); {
		word := entries[from].word
		to := from + 1
		for to < len(entries) && entries[to].word == word {
			to++
		}
		if same := entries[from:to]; word&0xff > wordBytes {
			s.sort(same, offset+wordBytes)
		} else if len(same) > 1 { // the keys are equal
			for i, e := range same {
				same[i].word = uint64(s.doc(e))
			}
			slices.SortFunc(same, byWord)
		}
		from = to
	}
}

// Compare compares keys, and equal keys by document: the order of a list.
func Compare(a []byte, aDoc uint32, b []byte, bDoc uint32) int {
	return cmp.Or(bytes.Compare(a, b), cmp.Compare(aDoc, bDoc))
}
