package setjoin

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func familySet(r *rand.Rand, base []uint64, changes int) []uint64 {
	set := slices.Clone(base)
	for range r.IntN(changes + 1) {
		switch i := r.IntN(len(set)); r.IntN(3) {
		case 0:
			set = slices.Delete(set, i, i+1)
		case 1:
			set[i] = r.Uint64N(1 << 62)
		default:
			set = append(set, r.Uint64N(40)) // which others have, too
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// TestFamily compares searches with brute force, for members and other sets, while a family grows
// over several segments.
func TestFamily(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	base := make([]uint64, 60)
	for i := range base {
		base[i] = r.Uint64N(1 << 62)
	}
	slices.Sort(base)
	var sample [][]uint64
	for range FamilySample {
		sample = append(sample, familySet(r, base, 8))
	}
	f, members := NewFamily(sample), map[uint32][]uint64{}
	asked, matches := 0, 0
	for number := range uint32(4 * segmentChunks * chunkSlots / 3) {
		changes := []int{8, 30, 200}[r.IntN(3)]
		set := familySet(r, base, changes)
		if number%97 == 0 {
			similarity := []float64{0.5, 0.8, 0.81, 1}[r.IntN(4)]
			found, ok := f.Similar([]uint32{1 << 31}, set, similarity)
			if !ok {
				if len(found) != 1 || changes < 200 {
					t.Fatalf("set of %d changes: %d found, %v", changes, len(found), ok)
				}
				continue
			}
			slices.Sort(found)
			var want []uint32
			for other, y := range members {
				if score(len(set), len(y), commonOf(set, y)) >= similarity {
					want = append(want, other)
				}
			}
			want = append(want, 1<<31)
			slices.Sort(want)
			if !slices.Equal(found, want) {
				t.Fatalf("%v: found %v, want %v", similarity, found, want)
			}
			asked, matches = asked+1, matches+len(want)-1
		}
		before := f.Bytes()
		if f.Add(number, set) {
			members[number] = set
		}
		if grown := f.Bytes() > before; grown && members[number] == nil {
			t.Fatalf("one that is refused takes %d bytes", f.Bytes()-before)
		}
	}
	if len(f.crowd.segments) < 2 || asked < 50 || matches < 1000 {
		t.Errorf("%d segments, asked %d times, %d matches", len(f.crowd.segments), asked, matches)
	}
	if f.Add(1<<30, []uint64{1, 2, 3}) {
		t.Error("a set that has nothing in common is a member")
	}
}

// commonOf counts the elements that two sets share.
func commonOf(x, y []uint64) (n int) {
	for _, e := range x {
		if _, ok := slices.BinarySearch(y, e); ok {
			n++
		}
	}
	return n
}
