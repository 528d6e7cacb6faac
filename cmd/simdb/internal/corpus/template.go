package corpus

import (
	"math/rand/v2"
	"strings"

	"github.com/simdb/simdb/internal/features"
)

// Templates looks for text that very many documents share without being near-duplicates, in a
// sample of documents. It serves one goroutine.
type Templates struct {
	hasher  *hasher
	rng     *rand.Rand
	seen    int64
	sampled []templated
	set     []uint64
}

// templated is a document of the sample: its number, the least of its shingle hashes, and whether
// it has several lines.
type templated struct {
	n      int64
	lines  bool
	hashes []uint64
}

const (
	templateDocs   = 1000
	templateHashes = 256 // of a document: the least, which are the same ones of similar documents
	templateLeast  = 200 // documents; a smaller sample says nothing
)

// NewTemplates returns Templates for documents with these features.
func NewTemplates(p features.Params) *Templates {
	return &Templates{hasher: newHasher(p), rng: rand.New(rand.NewPCG(1, 2))}
}

// Add takes the text of the next document: every text is in the sample with the same probability.
func (t *Templates) Add(text string) {
	at := int64(len(t.sampled))
	t.seen++
	if at == templateDocs {
		if at = t.rng.Int64N(t.seen); at >= templateDocs {
			return
		}
	} else {
		t.sampled = append(t.sampled, templated{})
	}
	t.set = t.hasher.sets.Append(t.set[:0], text)
	d := &t.sampled[at]
	d.n, d.lines = t.seen-1, strings.Contains(strings.TrimSpace(text), "\n")
	d.hashes = append(d.hashes[:0], t.set[:min(len(t.set), templateHashes)]...)
}

// Share returns which share of the documents that are kept have half of their shingles, or more, in
// common with at least 2 % of them; 0 if too few are kept to say that, or if most of these
// are one line, of which no part can be removed. Documents are numbered in the order of Add.
func (t *Templates) Share(kept func(n int64) bool) float64 {
	docs, counts := 0, map[uint64]int{}
	for _, d := range t.sampled {
		if kept(d.n) {
			docs++
			for _, h := range d.hashes {
				counts[h]++
			}
		}
	}
	if docs < templateLeast {
		return 0
	}
	const minHashes = 10 // in fewer, chance decides
	many, of, lines := max(docs/50, 10), 0, 0
	for _, d := range t.sampled {
		if !kept(d.n) || len(d.hashes) < minHashes {
			continue
		}
		common := 0
		for _, h := range d.hashes {
			if counts[h] >= many {
				common++
			}
		}
		if 2*common >= len(d.hashes) {
			if of++; d.lines {
				lines++
			}
		}
	}
	if 2*lines < of {
		return 0
	}
	return float64(of) / float64(docs)
}
