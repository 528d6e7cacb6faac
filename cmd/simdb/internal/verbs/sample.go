package verbs

import (
	"cmp"
	"errors"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/ordered"
)

// sample draws documents at random, those whose IDs have the least hashes under a seed: the same
// ones in whatever order documents come. Of documents with one ID the last one counts.
type sample struct {
	n     int
	seed  uint64
	most  int64 // bytes of documents
	bytes int64
	seen  int64 // documents that were added
	byID  map[string]*drawn
	worst []*drawn // once there are n a heap: the one that leaves next is at its root
}

// drawn is a document of a sample so far.
type drawn struct {
	hash   uint64
	number int64 // of those seen
	doc    engine.Doc
}

// errLarge says that a sample does not fit into memory.
var errLarge = errors.New("--sample: so many documents have no room in half of --memory")

// newSample returns a sample that will have n documents, which take at most that many bytes.
func newSample(n int, seed uint64, most int64) *sample {
	return &sample{n: n, seed: seed, most: most, byID: map[string]*drawn{}}
}

// add takes a document, or not.
func (s *sample) add(d *engine.Doc) error {
	s.seen++
	hash := xxh3.HashStringSeed(d.ID, s.seed)
	x := s.byID[d.ID]
	switch {
	case x != nil:
		s.bytes -= x.size()
	case len(s.worst) < s.n:
		x = &drawn{hash: hash, doc: engine.Doc{ID: d.ID}}
		s.byID[d.ID] = x
		if s.worst = append(s.worst, x); len(s.worst) == s.n {
			ordered.Heap(s.worst, byHash)
		}
	case byHash(&drawn{hash: hash, doc: engine.Doc{ID: d.ID}}, s.worst[0]) < 0:
		x = s.worst[0]
		s.bytes -= x.size()
		delete(s.byID, x.doc.ID)
		s.byID[d.ID] = x
		x.hash = hash
		defer ordered.Sink(s.worst, 0, byHash) // when it has its ID
	default:
		return nil
	}
	x.number, x.doc = s.seen, engine.Doc{ID: d.ID, Text: d.Text, Fingerprint: d.Fingerprint, Rest: d.Rest, Fingerprints: d.Fingerprints}
	if s.bytes += x.size(); s.bytes > s.most {
		return errLarge
	}
	return nil
}

// distinct returns about how many documents count, each with an ID of its own: exactly if the
// sample has all of them.
func (s *sample) distinct() int64 {
	if len(s.worst) < s.n {
		return int64(len(s.worst))
	}
	return s.seen
}

// documents returns the sample in the order in which its documents came. Nothing is added after it.
func (s *sample) documents() []engine.Doc {
	slices.SortFunc(s.worst, func(x, y *drawn) int { return cmp.Compare(x.number, y.number) })
	docs := make([]engine.Doc, len(s.worst))
	for i, x := range s.worst {
		docs[i] = x.doc
	}
	return docs
}

// size is about how many bytes a document takes.
func (x *drawn) size() int64 {
	return int64(len(x.doc.ID)+len(x.doc.Text)+len(x.doc.Fingerprints)*(24+8*(1+len(x.doc.Rest)))) + 200
}

// byHash compares documents by their hashes, and of equal ones by their IDs.
func byHash(x, y *drawn) int {
	return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.doc.ID, y.doc.ID))
}
