package corpus

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/internal/vfs"
)

// Listing is a corpus whose documents have ids. Add a document's ID before the document; call
// Rank once all are added. Without ids, documents are in the order of their numbers.
type Listing struct {
	*Corpus
	ids      texts     // ids that do not fit into memory go to a file
	bufs     [2][]byte // hold ids from the file
	byID     []uint32  // documents in ascending order of ID; nil without ids
	rank     []uint32  // by document: its index in byID
	Repeated int64     // documents that repeat the ID of an earlier one
	Order    []uint32  // order of preference; nil means by number
}

// NewListing returns a listing without documents. Close frees its files.
func NewListing(o Options) *Listing {
	l := &Listing{Corpus: New(o)}
	l.ids = texts{memory: o.Memory / 8, create: func() (setjoin.File, error) { return vfs.Temp(o.Dir, "ids-*") }}
	return l
}

// Close frees the files.
func (l *Listing) Close() error { return cmp.Or(l.ids.close(), l.Corpus.Close()) }

// AddID adds the ID of the next document.
func (l *Listing) AddID(id string) error { return l.ids.add(id) }

// ID returns the ID of a document.
func (l *Listing) ID(n uint32) (string, error) {
	id, err := l.id(n)
	return string(id), err
}

// rankOf returns the rank of a document; ranked returns the document with a rank.
func (l *Listing) rankOf(n uint32) uint32 {
	if l.rank == nil {
		return n
	}
	return l.rank[n]
}

func (l *Listing) ranked(rank uint32) uint32 {
	if l.byID == nil {
		return rank
	}
	return l.byID[rank]
}

// id returns the ID of a document; it is valid until the next call.
func (l *Listing) id(n uint32) ([]byte, error) { return l.ids.text(&l.bufs[0], int(n)) }

// compareIDs compares the IDs of two documents.
func (l *Listing) compareIDs(a, b uint32) (int, error) {
	idA, err := l.ids.text(&l.bufs[0], int(a))
	if err != nil {
		return 0, err
	}
	idB, err := l.ids.text(&l.bufs[1], int(b))
	return bytes.Compare(idA, idB), err
}

// Rank sorts the documents by ID. Documents with the same ID remain separate, as in dedup.
func (l *Listing) Rank(ctx context.Context) error {
	n := len(l.ids.starts)
	l.byID, l.rank = ordered.Numbers(n), make([]uint32, n)
	if err := l.sortIDs(ctx, l.byID, make([]uint64, n), 0); err != nil {
		return err
	}
	for at, n := range l.byID {
		l.rank[n] = uint32(at)
		if at == 0 {
			continue
		}
		order, err := l.compareIDs(l.byID[at-1], n)
		if err != nil {
			return err
		}
		if order == 0 {
			l.Repeated++
		}
	}
	return nil
}

// IDs are sorted by keyBytes bytes at a time, after their common prefix, so that each is read
// only a few times. After mostKeys rounds, whole IDs are compared.
const (
	keyBytes = 7
	mostKeys = 16
)

// sortIDs sorts documents by ID, then by number; keys is scratch memory, indexed by document.
func (l *Listing) sortIDs(ctx context.Context, docs []uint32, keys []uint64, depth int) (err error) {
	if len(docs) < 2 {
		return nil
	}
	if depth == mostKeys {
		var failed error
		err = ordered.InPlace(ctx, docs, func(a, b uint32) int {
			order, err := l.compareIDs(a, b)
			failed = cmp.Or(failed, err)
			return cmp.Or(order, cmp.Compare(a, b))
		})
		return cmp.Or(failed, err)
	}
	first, err := l.ids.text(&l.bufs[1], int(docs[0]))
	for _, n := range docs[1:] {
		id, e := l.id(n)
		if err = cmp.Or(err, e); err != nil {
			return err
		}
		common := min(len(first), len(id))
		for i := range common {
			if first[i] != id[i] {
				common = i
				break
			}
		}
		first = first[:common]
	}
	for _, n := range docs {
		id, err := l.id(n)
		if err != nil {
			return err
		}
		var key [keyBytes + 1]byte
		key[keyBytes] = byte(min(len(id)-len(first), keyBytes+1)) // a prefix of another ID comes before it
		copy(key[:keyBytes], id[len(first):])
		keys[n] = binary.BigEndian.Uint64(key[:])
	}
	err = ordered.InPlace(ctx, docs, func(a, b uint32) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(a, b)) })
	for from := 0; from < len(docs) && err == nil; {
		to := from + 1
		for to < len(docs) && keys[docs[to]] == keys[docs[from]] {
			to++
		}
		if byte(keys[docs[from]]) > keyBytes {
			err = l.sortIDs(ctx, docs[from:to], keys, depth+1)
		}
		from = to
	}
	return err
}
