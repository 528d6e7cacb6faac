package keyrun

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/keytest"
)

// TestPartsOfDamagedBlock flips a bit of every byte of a full block and of a short one, and
// verifies the positions of random prefixes. The damage must be found if the byte is in the head or
// in a part with one of their keys, and verified keys must equal the original ones.
func TestPartsOfDamagedBlock(t *testing.T) {
	rnd := keytest.Rand("parts", 0)
	keys := keytest.Shapes[0].Make(rnd, BlockLen+300)
	slices.Sort(keys)
	body, dir := Encode(keys)
	for at := range body {
		s := testSection(body, dir)
		s.Body[at] ^= 1 << (at % 8)
		r, err := Open(s)
		if err != nil {
			t.Fatal(err)
		}
		r.IndexLeads(8)
		for b := range r.NumBlocks() {
			checkSomeParts(t, r, rnd, b, at, keys[b<<BlockShift:][:r.Count(b)])
		}
	}
}

// checkPlaces verifies the keys of block b with the prefixes [from, to), and returns their
// positions.
func checkPlaces(r *Run, b int, from, to uint64) (lo, hi int, err error) {
	if err := r.CheckHead(b); err != nil {
		return 0, 0, err
	}
	lo, hi = kernel.RankZeros(r.Unary(r.Info(b)), from, to, r.Count(b))
	return lo, hi, r.CheckKeys(b, lo, hi)
}

func known(r *Run, b int) Known {
	_, k := r.InfoKnown(b)
	return k
}

// checkSomeParts verifies random prefixes of block b, in a body with a damaged byte at.
func checkSomeParts(t *testing.T, r *Run, rnd *rand.Rand, b, at int, keys []uint64) {
	t.Helper()
	in := r.Info(b)
	from, end := r.extent(b)
	head := at >= from && at < in.Off+8*in.High
	damaged := uint64(0) // bit of the damaged part
	if !head && at >= from && at < end {
		damaged = firstPartBit << min((at-in.Off-8*in.High)/(16*in.Width), blockParts-1)
	}
	for range 3 {
		lo := rnd.IntN(len(keys))
		hi := lo + rnd.IntN(len(keys)-lo)/2
		first, last := r.PrefixIn(b, in, keys[lo]), r.PrefixIn(b, in, keys[hi])+1
		for lo > 0 && r.PrefixIn(b, in, keys[lo-1]) == first {
			lo--
		}
		for hi++; hi < len(keys) && r.PrefixIn(b, in, keys[hi]) < last; hi++ {
		}
		gotLo, gotHi, err := checkPlaces(r, b, first, last)
		if bad := head || damaged&partsOf(lo, hi) != 0; bad != errors.Is(err, base.ErrCorruption) {
			t.Fatalf("byte %d damaged, keys %d to %d of block %d: %v", at, lo, hi, b, err)
		} else if bad {
			if known(r, b).Keys(lo, hi) {
				t.Fatalf("byte %d damaged, keys %d to %d of block %d are good", at, lo, hi, b)
			}
			continue
		}
		if gotLo != lo || gotHi != hi || !known(r, b).Keys(lo, hi) {
			t.Fatalf("keys %d to %d of block %d are %d to %d, checked %v", lo, hi, b, gotLo, gotHi, known(r, b).Keys(lo, hi))
		}
		var space kernel.Keys
		if got := r.Decode(b, in, lo, hi, &space); !slices.Equal(got, keys[lo:hi]) {
			t.Fatalf("byte %d damaged: keys %d to %d of block %d are wrong", at, lo, hi, b)
		}
	}
	err := r.Check(b)
	if whole := known(r, b).All(); whole != (err == nil) || whole == (head || damaged != 0) {
		t.Fatalf("byte %d damaged: all of block %d: %v", at, b, err)
	}
}

// TestKnownParts verifies all parts of a block one by one, in random order: only after the last one
// may the block count as verified.
func TestKnownParts(t *testing.T) {
	rnd := keytest.Rand("known", 0)
	keys := keytest.Shapes[0].Make(rnd, BlockLen)
	slices.Sort(keys)
	for range 20 {
		r := mustOpenRun(t, keys)
		r.IndexLeads(8)
		in := r.Info(0)
		for i, p := range rnd.Perm(blockParts) {
			key := r.PrefixIn(0, in, keys[p<<partShift+60])
			if _, _, err := checkPlaces(r, 0, key, key+1); err != nil {
				t.Fatal(err)
			}
			if all := known(r, 0).All(); all != (i+1 == blockParts) {
				t.Fatalf("after %d parts: checked %v", i+1, all)
			}
		}
	}
}
