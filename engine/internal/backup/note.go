package backup

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
)

// A packed database stores its allowed pairs in the note of its table:
//
//	+---------+-------+----------+---------+----------+---------+-----+
//	| version | pairs | length A | A       | length B | B       | ... |
//	| 1 byte  |uvarint| uvarint  |         | uvarint  |         |     |
//	+---------+-------+----------+---------+----------+---------+-----+
//
// with A < B bytewise, and pairs in order. A table without a note has no allowed pairs.
const noteVersion = 1

// EncodeNote encodes the set as the note of a table; it returns nil if the set is empty.
func EncodeNote(a *view.AllowedPairs) []byte {
	pairs := a.All()
	if len(pairs) == 0 {
		return nil
	}
	b := binary.AppendUvarint([]byte{noteVersion}, uint64(len(pairs)))
	for _, p := range pairs {
		for _, id := range []string{p.A, p.B} {
			b = append(binary.AppendUvarint(b, uint64(len(id))), id...)
		}
	}
	return b
}

// ReadAllowed returns the allowed pairs in the note of a packed table.
func ReadAllowed(t *view.Table) ([]view.IDPair, error) {
	note, err := t.Note()
	if err != nil {
		return nil, err
	}
	pairs, err := DecodeNote(note)
	if err != nil {
		return nil, base.Corruptf(t.Name, "note", -1, "%w", err)
	}
	return pairs, nil
}

var errNote = errors.New("malformed list of allowed pairs")

// DecodeNote returns the allowed pairs in the note of a packed database: the inverse of EncodeNote.
func DecodeNote(b []byte) ([]view.IDPair, error) {
	if len(b) == 0 {
		return nil, nil
	}
	if b[0] != noteVersion {
		return nil, fmt.Errorf("version %d, this program reads %d", b[0], noteVersion)
	}
	n, size := binary.Uvarint(b[1:])
	if size <= 0 || n > uint64(len(b)) {
		return nil, errNote
	}
	b = b[1+size:]
	id := func() string {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return ""
		}
		id := string(b[size:][:n])
		b = b[size+int(n):]
		return id
	}
	pairs := make([]view.IDPair, 0, min(n, uint64(len(b))/4))
	for range n {
		p := view.IDPair{A: id()}
		p.B = id()
		if in, err := p.Ordered(); err != nil || in != p {
			return nil, errNote
		}
		if k := len(pairs); k > 0 && view.ComparePairs(pairs[k-1], p) >= 0 {
			return nil, errNote
		}
		pairs = append(pairs, p)
	}
	if len(b) > 0 {
		return nil, errNote
	}
	return pairs, nil
}
