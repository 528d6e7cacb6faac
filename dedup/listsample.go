package dedup

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/ordered"
)

// listSample draws documents at random: those whose IDs have the least hashes under a seed. The
// result does not depend on the order of the documents, except among documents with the same ID.
type listSample struct {
	n     int
	seed  uint64
	most  int64 // limit of bytes
	bytes int64
	seen  int64       // documents added so far
	worst []listDrawn // once it has n elements, a heap with the next one to leave at its root
}

// listDrawn is a document that is currently in the sample.
type listDrawn struct {
	hash   uint64
	number int64 // its position among all documents seen
	doc    engine.Doc
}

// sampleTooLarge returns the error for a sample that does not fit into memory.
func sampleTooLarge() error {
	return fmt.Errorf("%s: the documents do not fit into half of %s", option.Name("Sample"), option.Name("Memory"))
}

// add adds a document to the sample if its hash is low enough.
func (s *listSample) add(d *engine.Doc) error {
	s.seen++
	x := listDrawn{xxh3.HashStringSeed(d.ID, s.seed), s.seen, engine.Doc{ID: d.ID, Text: d.Text, Fingerprints: d.Fingerprints}}
	switch {
	case len(s.worst) < s.n:
		if s.worst = append(s.worst, x); len(s.worst) == s.n {
			ordered.Heap(s.worst, compareDrawn)
		}
	case compareDrawn(x, s.worst[0]) < 0:
		s.bytes -= s.worst[0].size()
		s.worst[0] = x
		ordered.Sink(s.worst, 0, compareDrawn)
	default:
		return nil
	}
	if s.bytes += x.size(); s.bytes > s.most {
		return sampleTooLarge()
	}
	return nil
}

// documents returns the sample in the order of its documents' arrival. It must be the last call.
func (s *listSample) documents() []engine.Doc {
	slices.SortFunc(s.worst, func(x, y listDrawn) int { return cmp.Compare(x.number, y.number) })
	docs := make([]engine.Doc, len(s.worst))
	for i, x := range s.worst {
		docs[i] = x.doc
	}
	return docs
}

// size returns the approximate memory of a document in bytes.
func (x listDrawn) size() int64 {
	return int64(len(x.doc.ID)+len(x.doc.Text)+24*len(x.doc.Fingerprints)+8*len(slices.Concat(x.doc.Fingerprints...))) + 200
}

// compareDrawn compares documents by hash, then by ID, then by arrival.
func compareDrawn(x, y listDrawn) int {
	return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.doc.ID, y.doc.ID), cmp.Compare(x.number, y.number))
}
