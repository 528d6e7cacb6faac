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

// listSample draws documents at random, those whose IDs have the least hashes under a seed: the same
// ones in whatever order documents come, but for those with the same ID.
type listSample struct {
	n     int
	seed  uint64
	most  int64 // bytes of documents
	bytes int64
	seen  int64       // documents that were added
	worst []listDrawn // once there are n a heap: the one that leaves next is at its root
}

// listDrawn is a document of a sample so far.
type listDrawn struct {
	hash   uint64
	number int64 // of those seen
	doc    engine.Doc
}

// sampleTooLarge says that a sample does not fit into memory.
func sampleTooLarge() error {
	return fmt.Errorf("%s: so many documents have no room in half of %s", option.Name("Sample"), option.Name("Memory"))
}

// add takes a document, or not.
func (s *listSample) add(d *engine.Doc) error {
	s.seen++
	x := listDrawn{xxh3.HashStringSeed(d.ID, s.seed), s.seen, engine.Doc{ID: d.ID, Text: d.Text, Fingerprint: d.Fingerprint, Rest: d.Rest, Fingerprints: d.Fingerprints}}
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

// documents returns the sample in the order in which its documents came. Nothing is added after it.
func (s *listSample) documents() []engine.Doc {
	slices.SortFunc(s.worst, func(x, y listDrawn) int { return cmp.Compare(x.number, y.number) })
	docs := make([]engine.Doc, len(s.worst))
	for i, x := range s.worst {
		docs[i] = x.doc
	}
	return docs
}

// size is about how many bytes a document takes.
func (x listDrawn) size() int64 {
	return int64(len(x.doc.ID)+len(x.doc.Text)+len(x.doc.Fingerprints)*(24+8*(1+len(x.doc.Rest)))) + 200
}

// compareDrawn compares documents by their hashes, of equal ones by their IDs, then as they came.
func compareDrawn(x, y listDrawn) int {
	return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.doc.ID, y.doc.ID), cmp.Compare(x.number, y.number))
}
