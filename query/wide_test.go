package query_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/query"
)

// TestWide asks a database of fingerprints of 256 bits.
func TestWide(t *testing.T) {
	db, err := engine.Create(filepath.Join(t.TempDir(), "w.simdb"), &engine.Options{Bits: 256, Sync: engine.SyncNever})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ask := func(statement string, args ...any) (rows []string, err error) {
		r, err := query.Run(t.Context(), db, statement, args...)
		if err != nil {
			return nil, err
		}
		for row, err := range r.All() {
			if err != nil {
				return nil, err
			}
			rows = append(rows, fmt.Sprint(row...))
		}
		return rows, nil
	}
	answer := func(want []string, statement string, args ...any) {
		t.Helper()
		if got, err := ask(statement, args...); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", statement, got, err, want)
		}
	}
	hex := func(words []uint64) string { return string(base.AppendHexWords(nil, words)) }
	r := rand.New(rand.NewPCG(25, 6))
	docs := map[string][]uint64{}
	for i := range 60 {
		id, words := fmt.Sprintf("d%02d", i), []uint64{r.Uint64(), 0, r.Uint64(), r.Uint64N(2)}
		if i%3 > 0 {
			words = slices.Clone(docs[fmt.Sprintf("d%02d", i-1)])
			for range r.IntN(20) {
				words[r.IntN(4)] ^= 1 << r.IntN(64)
			}
		}
		docs[id] = words
		if _, err := ask(fmt.Sprintf(`PUT {"id":"%s","fingerprint":"%s"}`, id, hex(words))); err != nil {
			t.Fatal(err)
		}
	}
	near := func(k int, except string, any ...[]uint64) (want []string) {
		for distance := range k + 1 {
			for i := range 60 {
				id := fmt.Sprintf("d%02d", i)
				least := 256
				for _, q := range any {
					least = min(least, base.DistanceWords(q, docs[id]))
				}
				if least == distance && id != except {
					want = append(want, fmt.Sprint(id, distance))
				}
			}
		}
		return want
	}
	a, b := docs["d05"], docs["d31"]
	for _, k := range []int{0, 31, 90, 256} {
		answer(near(k, "", a), fmt.Sprintf("NEAR(0x%s, %d)", hex(a), k))
		answer(near(k, "", a), fmt.Sprintf("NEAR(?, %d)", k), a)
		answer(near(k, "d05", a), fmt.Sprintf("NEAR('d05', %d)", k))
		answer(near(k, "", a, b), fmt.Sprintf("NEAR(ANY OF (0x%s, 0x%s), %d)", hex(a), strings.ToUpper(hex(b)), k))
		answer([]string{fmt.Sprint(len(near(k, "", a, b)))}, fmt.Sprintf("COUNT NEAR(ANY OF (?, 0x%s), %d)", hex(b), k), a)
		answer(near(k, "", a)[:1], fmt.Sprintf("NEAR(0x%s, %d) LIMIT 1", hex(a), k))
		var without []string
		for _, row := range near(k, "", a) {
			if d := docs[row[:3]]; base.DistanceWords(d, b) > 100 && base.DistanceWords(d, a) > 0 {
				without = append(without, row)
			}
		}
		answer(without, fmt.Sprintf("NEAR(0x%s, %d) AND NOT (NEAR(ANY OF (0x%s, ?), 0) OR NEAR(0x%s, 100))", hex(a), k, hex(a), hex(b)), a)
	}
	answer(near(256, "", a)[:7], fmt.Sprintf("NEAREST(0x%s, 7)", hex(a)))
	answer(near(256, "d05", a)[:7], "NEAREST('d05', 7)")
	if rows, err := ask("GET 'd05'"); err != nil || !strings.Contains(rows[0], fmt.Sprint(a)) {
		t.Error(rows, err)
	}
	pairs := 0
	for x, wx := range docs {
		for y, wy := range docs {
			if x < y && base.DistanceWords(wx, wy) <= 31 {
				pairs++
			}
		}
	}
	answer([]string{fmt.Sprint(pairs)}, "COUNT PAIRS NEAR 31")
	if rows, err := ask("WHY 'd05' 'd31'"); err != nil || !slices.Contains(rows, fmt.Sprint("distance", base.DistanceWords(a, b))) {
		t.Error(rows, err)
	}
	for statement, want := range map[string]string{
		"NEAR(0xff, 3)":                        "a fingerprint of 64 bits, those of the database have 256",
		"NEAR(0x" + hex(a)[:32] + ", 3)":       "a fingerprint of 128 bits, those of the database have 256",
		"NEAR(0x" + hex(a)[:30] + ", 3)":       "30 hexadecimal digits",
		"NEAR('d05', 257)":                     "k is 0..256, not 257",
		"NEAREST(ANY OF ('d05', 'd06'), 3)":    "NEAREST takes one argument",
		"NEAR(ANY OF (ANY OF ('d05')), 3)":     "ANY OF stands for the first argument",
		"NEAR('d05', ANY OF (3))":              "ANY OF stands for the first argument",
		`PUT {"id":"x","fingerprint":"0xff"}`:  "a fingerprint of 64 bits",
		`PUT {"id":"x","fingerprint":"12345"}`: "a fingerprint of 64 bits",
	} {
		if _, err := ask(statement); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", statement, err, want)
		}
	}
}
