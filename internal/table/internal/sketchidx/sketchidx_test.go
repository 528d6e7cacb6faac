package sketchidx

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/keytest"
	"github.com/simdb/simdb/minhash"
)

// TestPrefix checks the claim behind candidates, for pairs of sketches around the threshold: in any
// order of hashes, the prefixes of two sketches with a score of t share a hash.
func TestPrefix(t *testing.T) {
	pairs, reached := 0, 0
	for pair := range exhaustive.Every(t, 150).Of(3_000_000) {
		pairs++
		rng := rand.New(rand.NewPCG(57, uint64(pair)))
		n := 1 + rng.IntN(40)
		if rng.IntN(4) == 0 {
			n = 128
		}
		var a minhash.Sketch
		for range 1 + rng.IntN(2*n) {
			a = append(a, rng.Uint32()>>rng.UintN(3))
		}
		slices.Sort(a)
		a = slices.Compact(a)
		a = a[:min(len(a), n)]
		b := keytest.Edited(rng, a, 0.4+0.6*rng.Float64(), n)
		if len(b) == 0 {
			continue
		}
		// An adversary's order: common hashes last, otherwise by value.
		var hashes []hot.Hash
		for _, h := range a {
			if _, both := slices.BinarySearch(b, h); both {
				hashes = append(hashes, hot.Hash{Hash: h, Documents: 1 + rng.Uint32N(8)})
			}
		}
		order := hot.NewOrder(hashes)
		score := minhash.Jaccard(a, b, n).Score
		for _, at := range []float64{score, score * 0.999, 0.3, 0.5, 0.65, 0.8, 0.9} {
			if at <= 0 || score < at {
				continue
			}
			reached++
			pa, _, _ := order.Prefix(nil, a, prefixLength(len(a), at), nil)
			pb, _, _ := order.Prefix(nil, b, prefixLength(len(b), at), nil)
			if !slices.ContainsFunc(pa, func(h uint32) bool { return slices.Contains(pb, h) }) {
				t.Fatalf("n = %d: %v and %v have score %v, but at %v the prefixes %v and %v", n, a, b, score, at, pa, pb)
			}
		}
	}
	t.Logf("%d pairs, %d times at or above a threshold", pairs, reached)
}

// TestCheckHot has lists that no table may have.
func TestCheckHot(t *testing.T) {
	for _, bad := range [][]hot.Hash{{{Hash: 5}}, {{Hash: 5, Documents: 1}, {Hash: 4, Documents: 1}}, {{Hash: 5, Documents: 1}, {Hash: 5, Documents: 1}}} {
		if checkHot(bad) == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
	if err := checkHot([]hot.Hash{{Hash: 0, Documents: 1}, {Hash: 5, Documents: 2}, {Hash: 6, Documents: 1}}); err != nil {
		t.Error(err)
	}
}

// TestRepeatedPostings has a hash with more postings than there are documents.
func TestRepeatedPostings(t *testing.T) {
	keys := make([]uint64, 3000)
	for i := range keys {
		keys[i] = 5 << 4
	}
	run, err := keyrun.Open(keyrun.InMemory("postings 0", keys))
	if err != nil {
		t.Fatal(err)
	}
	p := newPostings(run, 16)
	var buf kernel.Keys
	if docs, err := p.documents(p.find(5), &buf, nil); !errors.Is(err, base.ErrCorruption) || len(docs) > 0 {
		t.Errorf("%d documents, %v", len(docs), err)
	}
	if docs, err := p.documents(p.find(4), &buf, nil); err != nil || len(docs) > 0 {
		t.Errorf("%d documents of a hash without, %v", len(docs), err)
	}
}

// TestUnalignedBitmaps reads bitmaps at an odd address, which cannot be read in place, and compares
// them with aligned ones.
func TestUnalignedBitmaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 74))
	const n = 100
	var stored []byte
	var want [n]minhash.Bitmap
	for i := range want {
		want[i] = minhash.Sketch{rng.Uint32(), rng.Uint32(), rng.Uint32()}.Bitmap()
		stored = appendBitmap(stored, &want[i])
	}
	stored = appendBitmapSums(stored, stored)
	b, err := openBitmaps(blobs.Bytes{Data: append(make([]byte, 1, len(stored)+1), stored...)[1:]}, n, "test.sst", "bitmaps 0")
	if err != nil || b.direct != nil {
		t.Fatalf("%v; bitmaps at an odd address are read in place: %v", err, b.direct != nil)
	}
	var buf [bitmapsBlock]minhash.Bitmap
	for i := range b.numBlocks() {
		got, err := b.block(i, &buf)
		if from := i * bitmapsBlock; err != nil || !slices.Equal(got, want[from:min(from+bitmapsBlock, n)]) {
			t.Errorf("block %d is wrong, or %v", i, err)
		}
	}
}

// TestWithCapacity counts how often the capacity for postings of documents of many sizes grows: it
// should double for the first ones, then grow once or twice, to little more than needed.
func TestWithCapacity(t *testing.T) {
	const docs = 20_000
	w, err := NewWriter(Params{Size: 64, MinJaccard: 0.5}, nil, 0, docs)
	if err != nil {
		t.Fatal(err)
	}
	p, grown := &w.postings, 0
	for i := range docs {
		n := (i*i + i) % 61
		before := cap(p.hashes)
		p.hashes = w.withCapacity(p.hashes, n)
		if p.hashes, p.ends = p.hashes[:len(p.hashes)+n], append(p.ends, 0); cap(p.hashes) != before && i >= 2000 {
			grown++
		}
	}
	if most := len(p.hashes) * 9 / 8; grown > 2 || cap(p.hashes) > most {
		t.Errorf("capacity for %d postings, not at most %d, grown %d times", cap(p.hashes), most, grown)
	}
}
