package catalog

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
)

// A Removal says that the write Seq has removed the document with an ID, or that the document had
// expired and was dropped. Without an ID it stands for any number of documents: the History forgets
// what it has.
type Removal struct {
	ID      []byte
	Seq     uint64
	Expired bool
}

// A History has the documents removed lately. It never changes.
type History struct {
	Gone   uint64            // removals up to this number are not known
	chunks map[uint64][]byte // encoded removals, by the number of the last
}

// chunkSize is the size at which a chunk ends, in bytes.
const chunkSize = 64 << 10

// KnownHistory returns History, or one that begins with the last edit.
func (s *State) KnownHistory() *History {
	return cmp.Or(s.History, &History{Gone: max(s.FlushedSeq, s.LastSeq)})
}

// Last returns a number that no removal is above.
func (h *History) Last() uint64 {
	return max(h.Gone, slices.Max(append(slices.Collect(maps.Keys(h.chunks)), 0)))
}

// Size returns the size of the removals in bytes.
func (h *History) Size() (n int64) {
	for _, chunk := range h.chunks {
		n += int64(len(chunk))
	}
	return n
}

// After returns all removals with numbers greater than seq, which is at least Gone, and perhaps others,
// in any order.
func (h *History) After(seq uint64) (all []Removal) {
	for last, chunk := range h.chunks {
		if last > seq {
			eachRemoval(chunk, func(r Removal) { all = append(all, r) }) // checked when it was read
		}
	}
	return all
}

// with returns the history with further removals, without the oldest chunks beyond limit bytes. It
// appends the records that lead from h to it.
func (h *History) with(removed []Removal, limit int64, records []record) (*History, []record) {
	next := &History{Gone: h.Gone, chunks: map[uint64][]byte{}}
	maps.Copy(next.chunks, h.chunks)
	var chunk []byte
	for i, r := range removed {
		if len(r.ID) == 0 {
			next.Gone, limit = max(next.Gone, r.Seq), 0
		} else if chunk = appendRemoval(chunk, r); len(chunk) >= chunkSize || i == len(removed)-1 {
			records = append(records, newRecord(removedKey(r.Seq), chunk))
			next.chunks[r.Seq], chunk = chunk, nil
		}
	}
	size := int64(0)
	for _, last := range slices.Backward(slices.Sorted(maps.Keys(next.chunks))) {
		if size += int64(len(next.chunks[last])); size > limit {
			records = append(records, record{key: []byte(removedKey(last))})
			next.Gone = max(next.Gone, last)
			delete(next.chunks, last)
		}
	}
	return next, append(records, record{key: []byte(removedKey(h.Gone))}, newRecord(removedKey(next.Gone), nil))
}

// appendRemoval appends a removal to a chunk: twice its number, plus 1 if the document had expired
// (uvarint), the length of the ID (uvarint), and the ID.
func appendRemoval(b []byte, r Removal) []byte {
	seq := r.Seq << 1
	if r.Expired {
		seq |= 1
	}
	return append(binary.AppendUvarint(binary.AppendUvarint(b, seq), uint64(len(r.ID))), r.ID...)
}

// eachRemoval calls fn for the removals of a chunk, and reports whether it is well-formed.
func eachRemoval(b []byte, fn func(Removal)) bool {
	for len(b) > 0 {
		seq, n := binary.Uvarint(b)
		size, m := binary.Uvarint(b[max(n, 0):])
		if n <= 0 || m <= 0 || size == 0 || size > uint64(len(b)-n-m) {
			return false
		}
		end := n + m + int(size)
		fn(Removal{ID: b[n+m : end : end], Seq: seq >> 1, Expired: seq&1 != 0})
		b = b[end:]
	}
	return true
}

// decodeRemoved adds a record of removals. at is the number in its key.
func (s *State) decodeRemoved(at, payload []byte) error {
	if len(at) != 8 {
		return errors.New("malformed key")
	}
	if s.History == nil {
		s.History = &History{chunks: map[uint64][]byte{}}
	}
	seq, last := binary.BigEndian.Uint64(at), uint64(0)
	if len(payload) == 0 {
		s.History.Gone = max(s.History.Gone, seq) // Salvage finds several
		return nil
	}
	if !eachRemoval(payload, func(r Removal) { last = r.Seq }) || last != seq {
		return errors.New("malformed removals")
	}
	s.History.chunks[seq] = bytes.Clone(payload)
	return nil
}
