package sstable

import (
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/sieve"
)

// A table with many fingerprints in the layout 3:1 has a sieve: see package sieve. Fewer than
// sievedFingerprints are in so few pages that a sieve saves little, and are soon in memory. A sieve
// is in memory while it is written, 2.7 bits a fingerprint.
const sievedFingerprints = 4 << 20

// sieveShare is how many blocks of fingerprints are looked at together.
const sieveShare = 64

// sievedLayout is the layout that sieves are for.
var sievedLayout = Layout{Blocks: 3, Lead: 1}

// newSieve returns the builder of the sieve of a table of n fingerprints, nil if it has none.
func (t *tableFile) newSieve(n int) *sieve.Builder {
	if t.params.Layout != sievedLayout || n < t.sieved || n > sieve.Most {
		return nil
	}
	return sieve.NewBuilder(n)
}

// sieveOf is newSieve, and adds the fingerprints.
func (t *tableFile) sieveOf(fps []uint64) *sieve.Builder {
	b := t.newSieve(len(fps))
	if b != nil {
		b.Add(fps)
	}
	return b
}

// writeSieve writes a sieve, if there is one.
func (t *tableFile) writeSieve(b *sieve.Builder) {
	if b == nil {
		return
	}
	t.out.begin(KindSieve, 0)
	s := &t.out.sections[len(t.out.sections)-1]
	s.Optional = true
	dir, err := b.WriteTo(&t.out, s.Offset)
	t.out.endWithDir(b.Len(), dir, err)
}

// mergeSieve makes the sieve of the result from the fingerprints of the inputs.
func (m *merger) mergeSieve() error {
	b := m.newSieve(int(m.info.Fingerprints))
	if b == nil {
		return nil
	}
	var slots spares[uint32]
	for _, in := range m.inputs {
		run := in.runs[0]
		shares := (run.NumBlocks() + sieveShare - 1) / sieveShare
		err := pipeline.Ordered(m.ctx, shares, m.workers, func(i int) (some []uint32, err error) {
			defer unguardAny(m.readers, guard(), &err)
			some = slots.get(sieveShare * keyrun.BlockLen)[:0]
			var space kernel.Keys
			for block := i * sieveShare; block < min((i+1)*sieveShare, run.NumBlocks()); block++ {
				if err := run.Check(block); err != nil {
					return nil, err
				}
				fps := run.Decode(block, run.Info(block), 0, run.Count(block), &space)
				some = b.Slots(some, in.withoutDead(block<<keyrun.BlockShift, fps))
			}
			return some, nil
		}, func(_ int, some []uint32) error {
			b.Set(some)
			slots.put(some)
			return nil
		})
		if err != nil {
			return err
		}
	}
	m.writeSieve(b)
	return m.out.err
}

// withoutDead removes the fingerprints of documents that are left out, in place; pos is the number
// of the first document.
func (in *mergeInput) withoutDead(pos int, fps []uint64) []uint64 {
	if in.dead == nil {
		return fps
	}
	kept := fps[:0]
	for i, fp := range fps {
		if !in.dead.has(uint32(pos + i)) {
			kept = append(kept, fp)
		}
	}
	return kept
}

// openSieve opens the sieve, if there is one, and gives it to the index.
func (r *Reader) openSieve() error {
	s := r.section(KindSieve, 0)
	if s == nil {
		return nil
	}
	if r.params.Layout != sievedLayout || s.Count != uint64(r.info.Fingerprints) {
		return base.Corruptf(r.file, s.Name(), s.Offset, "of %d fingerprints of %d, in the layout %v", s.Count, r.info.Fingerprints, r.params.Layout)
	}
	src, err := r.source(KindSieve, 0)
	if err != nil {
		return err
	}
	r.sieve, err = sieve.Open(src)
	return err
}

// checkSieve verifies that the sieve is that of the fingerprints.
func (v *verifier) checkSieve() error {
	if v.sieve == nil {
		return nil
	}
	return v.sieve.Verify(v.runs[0].Len(), func(add func(fps []uint64)) error {
		return v.runs[0].EachBlock(func(pos int, fps []uint64) error {
			add(fps)
			return v.advance(int64(v.runs[0].BlockSize(pos / keyrun.BlockLen)))
		})
	})
}
