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

// prober probes a block; it is the memory of one worker.
type prober struct {
	*join
	b          *block
	prefixer   prefixer
	prefix     []uint32
	marks      []uint32 // for each sketch of the block, 1 + the last one that had it as a candidate
	candidates []uint32
	passed     []uint32
	out        []found
}

// probe appends to p.out the pairs of sketch j with those of the block that come before it.
func (p *prober) probe(j int) {
	b := p.b
	a := minhash.Sketch(p.s.At(j))
	earlier := min(j, b.end()) - b.first
	if len(a) == 0 || earlier <= 0 {
		return
	}
	var bitmap minhash.Bitmap
	prefix := p.prefix[:0]
	if j < b.end() {
		bitmap, prefix = b.bitmaps[j-b.first], b.prefix(j-b.first)
	} else {
		p.prefix = p.prefixer.append(prefix, a, p.t)
		bitmap, prefix = a.Bitmap(), p.prefix
	}
	maxMissing, maxExcess := minhash.MaxMissing(len(a), p.t), minhash.MaxMissing(p.s.Size, p.t)
	p.passed = p.passed[:0]
	if p.gather(uint32(j), prefix, earlier) {
		for _, i := range p.candidates {
			if bitmap.Missing(&b.bitmaps[i]) <= maxMissing && b.bitmaps[i].Missing(&bitmap) <= maxExcess {
				p.passed = append(p.passed, i)
			}
		}
		slices.Sort(p.passed)
	} else {
		p.passed = intersect.Filter(p.passed, &bitmap, b.bitmaps[:earlier], maxMissing)
	}
	for _, i := range p.passed {
		first := b.first + int(i)
		if score, ok := minhash.JaccardAtLeast(p.s.At(first), a, p.s.Size, p.t); ok {
			p.out = append(p.out, found{uint32(first), uint32(j), score})
		}
	}
}

// gather leaves in p.candidates those of the first earlier sketches of the block that share a hash of the prefix of
// sketch j, each once. It returns false if their postings are too many to be worth it.
func (p *prober) gather(j uint32, prefix []uint32, earlier int) bool {
	b := p.b
	p.candidates = p.candidates[:0]
	left := earlier // postings that may be read
	for _, h := range prefix {
		at := b.bucket(h)
		bucket := b.postings[b.starts[at]:b.starts[at+1]]
		for n, posting := range bucket {
			i := uint32(posting)
			if int(i) >= earlier {
				bucket = bucket[:n]
				break
			}
			if uint32(posting>>32) == h && p.marks[i] != j+1 {
				p.marks[i] = j + 1
				p.candidates = append(p.candidates, i)
			}
		}
		if left -= len(bucket); left < 0 {
			return false
		}
	}
	return true
}
