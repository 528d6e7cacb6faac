package backup

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/engine/internal/view"
)

// TestAllowedModel compares the set with a map during random additions and removals, and checks
// that earlier sets do not change.
func TestAllowedModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	set, model := new(view.AllowedPairs), map[view.IDPair]bool{}
	var earlier []*view.AllowedPairs
	var then [][]view.IDPair
	for range 2000 {
		var pairs []view.IDPair
		for range 1 + r.IntN(3) {
			p, err := view.IDPair{A: fmt.Sprint(r.IntN(12)), B: fmt.Sprint(12 + r.IntN(12))}.Ordered()
			if err != nil {
				t.Fatal(err)
			}
			pairs = append(pairs, p)
		}
		if add := r.IntN(2) == 0; add {
			set = set.With(pairs)
			for _, p := range pairs {
				model[p] = true
			}
		} else {
			set = set.Without(pairs)
			for _, p := range pairs {
				delete(model, p)
			}
		}
		want := slices.SortedFunc(maps.Keys(model), view.ComparePairs)
		if got := set.All(); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		for _, p := range pairs {
			if set.Has(p.A, p.B) != model[p] || set.Has(p.B, p.A) != model[p] {
				t.Fatalf("has %v is not %v", p, model[p])
			}
		}
		if r.IntN(50) == 0 {
			earlier, then = append(earlier, set), append(then, want)
		}
		if note, err := DecodeNote(EncodeNote(set)); err != nil || !slices.Equal(note, want) {
			t.Fatalf("the note of %v is read as %v, %v", want, note, err)
		}
	}
	for i, set := range earlier {
		if got := set.All(); !slices.Equal(got, then[i]) {
			t.Errorf("a set of earlier is now %v, was %v", got, then[i])
		}
	}
}

// FuzzNote reads arbitrary bytes as the note of a table: a note that is accepted must be its own
// encoding.
func FuzzNote(f *testing.F) {
	f.Add(EncodeNote(new(view.AllowedPairs).With([]view.IDPair{{A: "a", B: "b"}, {A: "a", B: "c"}, {A: "b", B: "c"}})))
	f.Add([]byte{noteVersion, 1, 1, 'b', 1, 'a'})
	f.Add([]byte{noteVersion, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, b []byte) {
		pairs, err := DecodeNote(b)
		if err != nil || len(pairs) == 0 {
			return
		}
		if again, err := DecodeNote(EncodeNote(new(view.AllowedPairs).With(pairs))); err != nil || !slices.Equal(pairs, again) {
			t.Errorf("%v is written and read as %v, %v", pairs, again, err)
		}
	})
}
