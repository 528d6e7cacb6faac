package jaccardjoin

import (
	"slices"

	"github.com/simdb/simdb/internal/intersect"
	"github.com/simdb/simdb/minhash"
)

// found is a pair.
type found struct {
	i, j  uint32
	score minhash.Score
}

// A turn is a sketch that is to be compared with the entries [from, to) of a block.
type turn struct {
	sketch   int
	from, to uint32
}

// prober probes a block; it is the memory of one worker.
type prober struct {
	*join
	b          *block
	prefixer   prefixer
	prefix     []uint32
	marks      []uint32 // for each entry of the block, 1 + the last sketch that had it as a candidate
	candidates []uint32
	passed     []uint32
	out        []found
	work       int // what probes have cost, about: in comparisons of sketches
}

func (j *join) newProber(b *block) *prober {
	return &prober{join: j, b: b, prefixer: prefixer{order: j.order}, marks: make([]uint32, len(b.ends))}
}

// perComparison is how many bitmaps or postings are read in the time of one comparison of sketches,
// about.
const perComparison = 16

// probe appends to p.out the pairs of a sketch with entries of the block.
func (p *prober) probe(t turn) {
	b, j := p.b, t.sketch
	a := minhash.Sketch(p.s.At(j))
	if len(a) == 0 || t.from >= t.to {
		return
	}
	var bitmap minhash.Bitmap
	var prefix []uint32
	if j >= b.first && j < b.end() {
		bitmap, prefix = b.bitmaps[j-b.first], b.prefix(j-b.first)
	}
	if len(prefix) == 0 { // not of the block, or none that may become an entry
		p.prefix = p.prefixer.append(p.prefix[:0], a, p.t)
		bitmap, prefix = a.Bitmap(), p.prefix
	}
	maxMissing, maxExcess := minhash.MaxMissing(len(a), p.t), minhash.MaxMissing(p.s.Size, p.t)
	var known []uint32
	if p.o.Known != nil {
		known = p.o.Known()
	}
	p.passed = p.passed[:0]
	if p.gather(t, prefix) {
		for _, e := range p.candidates {
			if known != nil && known[b.first+int(b.entries[e])] == known[j] {
				continue
			}
			if bitmap.Missing(&b.bitmaps[e]) <= maxMissing && b.bitmaps[e].Missing(&bitmap) <= maxExcess {
				p.passed = append(p.passed, e)
			}
		}
		slices.Sort(p.passed)
	} else {
		p.work += int(t.to-t.from) / perComparison
		p.passed = intersect.Filter(p.passed, &bitmap, b.bitmaps[t.from:t.to], maxMissing)
		for i := range p.passed {
			p.passed[i] += t.from
		}
	}
	p.work += len(p.passed)
	for _, e := range p.passed {
		entry := b.entries[e]
		first := b.first + int(entry)
		if entry == dead || known != nil && known[first] == known[j] {
			continue
		}
		if score, ok := minhash.JaccardAtLeast(p.s.At(first), a, p.s.Size, p.t); ok {
			p.out = append(p.out, found{uint32(first), uint32(j), score})
		}
	}
}

// gather leaves in p.candidates those of a turn's entries that share a hash of the sketch's prefix,
// each once. It returns false if their postings are too many to be worth it.
func (p *prober) gather(t turn, prefix []uint32) bool {
	p.candidates = p.candidates[:0]
	mark := uint32(t.sketch) + 1
	left := int(t.to - t.from) // postings that may be read
	for _, h := range prefix {
		bucket := p.b.among(h, t.from, t.to)
		for _, posting := range bucket {
			if e := uint32(posting); uint32(posting>>32) == h && p.marks[e] != mark {
				p.marks[e] = mark
				p.candidates = append(p.candidates, e)
			}
		}
		if left -= len(bucket); left < 0 {
			return false
		}
	}
	p.work += (int(t.to-t.from) - left) / perComparison
	return true
}
