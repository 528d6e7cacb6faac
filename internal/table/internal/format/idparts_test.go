package format

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
)

// idKinds are kinds of IDs, by name.
var idKinds = map[string]func(r *rand.Rand) []byte{
	"numbers": func(r *rand.Rand) []byte { return fmt.Append(nil, r.IntN(1_000_000)) },
	"short":   func(r *rand.Rand) []byte { return []byte{byte(r.IntN(3))} },
	"paths": func(r *rand.Rand) []byte {
		return fmt.Appendf(nil, "https://example.org/%d/%d", r.IntN(5), r.IntN(9000))
	},
	"mostly a path": func(r *rand.Rand) []byte {
		return fmt.Appendf(nil, "%c/a/long/way/to/%d", "xxxxxxxxay"[r.IntN(10)], r.IntN(9000))
	},
	"zeros":      func(r *rand.Rand) []byte { return make([]byte, 1+r.IntN(40)) },
	"high bytes": func(r *rand.Rand) []byte { return bytes.Repeat([]byte{0xff}, 1+r.IntN(40)) },
	"bytes": func(r *rand.Rand) []byte {
		id := make([]byte, 1+r.IntN(12))
		for i := range id {
			id[i] = byte(r.Uint32() >> (r.IntN(2) * 7))
		}
		return id
	},
}

// TestIDParts divides IDs: parts must be in the order of IDs and of about equal size, and Range
// must not leave out a part that has an ID with the prefix.
func TestIDParts(t *testing.T) {
	for name, id := range idKinds {
		for _, n := range []int{1, 2, 255, 256, 257, 20_000} {
			r := rand.New(rand.NewPCG(uint64(n), 3))
			var sample, all [][]byte
			for range n {
				sample = append(sample, id(r))
			}
			for range 2000 {
				all = append(all, id(r))
			}
			all = append(all, sample[:min(n, 500)]...)
			d := NewIDDivider(slices.Clone(sample), []int{2, 256, 1000, MaxIDParts}[r.IntN(4)])
			slices.SortFunc(all, bytes.Compare)
			last, counts := 0, map[int]int{}
			for i, x := range all {
				p := d.Part(x)
				if p < last || p >= d.Parts() || i > 0 && p > last && bytes.Equal(x, all[i-1]) {
					t.Fatalf("%s, sample of %d: %q is in part %d of %d, after %d", name, n, x, p, d.Parts(), last)
				}
				want := 0
				for _, b := range d.bounds {
					if bytes.Compare(b, x) <= 0 {
						want++
					}
				}
				if p != want {
					t.Fatalf("%s, sample of %d: %q is in part %d, not %d", name, n, x, p, want)
				}
				counts[p]++
				last = p
			}
			if name == "numbers" && n == 20_000 && d.Parts() == 256 {
				for p := range 256 {
					if counts[p] > 40 {
						t.Errorf("part %d has %d of %d", p, counts[p], len(all))
					}
				}
			}
			for range 200 {
				prefix := all[r.IntN(len(all))]
				if r.IntN(2) == 0 {
					prefix = id(r)
				}
				prefix = prefix[:r.IntN(len(prefix)+1)]
				to := []byte(base.PrefixEnd(string(prefix)))
				if r.IntN(2) == 0 {
					to = all[r.IntN(len(all))]
				}
				first, end := d.Range(prefix, to)
				if first < 0 || end > d.Parts() || first > end {
					t.Fatalf("%s: parts %d to %d of %d for %q to %q", name, first, end, d.Parts(), prefix, to)
				}
				for _, x := range all {
					in := bytes.Compare(x, prefix) >= 0 && (len(to) == 0 || bytes.Compare(x, to) < 0)
					if p := d.Part(x); in && (p < first || p >= end) {
						t.Fatalf("%s: %q is in part %d, not among %d to %d for %q to %q", name, x, p, first, end, prefix, to)
					}
				}
			}
		}
	}
}

// TestAppendParts finds the parts of many IDs at once, with a divider, and with one made from its
// bounds, whose length is limited.
func TestAppendParts(t *testing.T) {
	long := func(r *rand.Rand) []byte {
		return fmt.Appendf(bytes.Repeat([]byte("long"), 60+r.IntN(6)), "%d", r.IntN(1000))
	}
	for name, id := range idKinds {
		for _, n := range []int{1, 7, 8, 9, 3000} {
			r := rand.New(rand.NewPCG(uint64(n), 4))
			if n == 9 {
				id = long
			}
			var sample, all [][]byte
			for range n {
				sample, all = append(sample, id(r)), append(all, id(r))
			}
			d := NewIDDivider(slices.Clone(sample), []int{2, 300}[r.IntN(2)])
			all = append(all, d.Bounds()...)
			got, again := d.AppendParts([]uint16{7}, all), DivideIDs(d.Bounds()).AppendParts(nil, all)
			for i, x := range all {
				want := 0
				for _, b := range d.bounds {
					if len(b) > MaxIDBound {
						t.Fatalf("%s: a bound of %d bytes", name, len(b))
					}
					if bytes.Compare(b, x) <= 0 {
						want++
					}
				}
				if int(got[1+i]) != want || int(again[i]) != want {
					t.Fatalf("%s, sample of %d: %q is in parts %d and %d, not %d", name, n, x, got[1+i], again[i], want)
				}
			}
			if got[0] != 7 || len(got) != len(all)+1 {
				t.Fatalf("%s: %d parts of %d IDs", name, len(got)-1, len(all))
			}
		}
	}
}
