package corpus

import (
	"bytes"
	"context"

	"github.com/simdb/simdb/internal/ordered"
)

// Listing is a corpus whose documents have ids. Add a document's ID before the document; call Rank
// when all are added.
type Listing struct {
	*Corpus
	ids      []byte   // one after the other
	ends     []uint64 // of each document: where its ID ends
	byID     []uint32 // documents, ascending by ID
	rank     []uint32 // of each document: its place in byID
	Repeated int64    // documents whose ID an earlier one has
	Order    []uint32 // of preference; nil is that of their numbers
}

// AddID takes the ID of the next document.
func (l *Listing) AddID(id string) {
	l.ids = append(l.ids, id...)
	l.ends = append(l.ends, uint64(len(l.ids)))
}

func (l *Listing) id(n uint32) []byte {
	from := uint64(0)
	if n > 0 {
		from = l.ends[n-1]
	}
	return l.ids[from:l.ends[n]]
}

// Rank sorts the documents by ID. Those with the same ID are documents of their own, as in dedup.
func (l *Listing) Rank(ctx context.Context) error {
	l.byID, l.rank = make([]uint32, len(l.ends)), make([]uint32, len(l.ends))
	for n := range l.byID {
		l.byID[n] = uint32(n)
	}
	err := ordered.InPlace(ctx, l.byID, func(a, b uint32) int {
		if c := bytes.Compare(l.id(a), l.id(b)); c != 0 {
			return c
		}
		return int(int64(a) - int64(b))
	})
	if err != nil {
		return err
	}
	for at, n := range l.byID {
		l.rank[n] = uint32(at)
		if at > 0 && bytes.Equal(l.id(l.byID[at-1]), l.id(n)) {
			l.Repeated++
		}
	}
	return nil
}

// accept says whether two sets may match; nil if any two may.
func (l *Listing) accept() func(a, b int) bool {
	if l.Groups == nil {
		return nil
	}
	return func(a, b int) bool { return l.Groups.Accept(uint32(a), uint32(b)) }
}
