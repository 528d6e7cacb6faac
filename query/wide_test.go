package query_test

import (
	"encoding/json"
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

// TestWide queries a database of fingerprints of 256 bits.
func TestWide(t *testing.T) {
	db, err := engine.Create(filepath.Join(t.TempDir(), "w.simdb"), &engine.Options{Bits: 256, NoSync: true})
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
		"NEAR(0xff, 3)":                        "the fingerprint has 64 bits, but those of the database have 256",
		"NEAR(0x" + hex(a)[:32] + ", 3)":       "the fingerprint has 128 bits, but those of the database have 256",
		"NEAR(0x" + hex(a)[:30] + ", 3)":       "30 hexadecimal digits",
		"NEAR('d05', 257)":                     "k is 0..256, not 257",
		"NEAREST(ANY OF ('d05', 'd06'), 3)":    "NEAREST accepts one argument",
		"NEAR(ANY OF (ANY OF ('d05')), 3)":     "ANY OF must be the first argument",
		"NEAR('d05', ANY OF (3))":              "ANY OF must be the first argument",
		`PUT {"id":"x","fingerprint":"0xff"}`:  "a fingerprint of 64 bits",
		`PUT {"id":"x","fingerprint":"12345"}`: "a fingerprint of 64 bits",
	} {
		if _, err := ask(statement); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", statement, err, want)
		}
	}
}

// TestSeveral queries a database whose documents have several fingerprints.
func TestSeveral(t *testing.T) {
	db, err := engine.Create(filepath.Join(t.TempDir(), "s.simdb"), &engine.Options{Features: engine.Features{Several: true}, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, c := range []struct{ statement, want string }{
		{`PUT {"id":"a","fingerprints":["0x0","0xff","0xffff"]}`, ""},
		{`PUT {"id":"b","fingerprint":"0xfff0","fingerprints":["0x1"],"n":1}`, ""},
		{`PUT {"id":"c","fingerprint":"0xff00000000000000","n":1}`, ""},
		{`NEAR(0xfe, 1)`, "a 1"},
		{`NEAR(0xffff, 4)`, "a 0;b 4"},
		{`NEAR(ANY OF (0x1, 0xff00000000000000), 0)`, "b 0;c 0"},
		{`NEAR('b', 1)`, "a 1"},
		{`NEAR('a', 1) AND n = 1`, "b 1"},
		{`NEAREST(0xffff, 2)`, "a 0;b 4"},
		{`COUNT NEAR(0x0, 64)`, "3"},
		{`COUNT`, "3"},
		{`PAIRS NEAR 1`, "a b 1"},
		{`CLUSTERS NEAR 1`, "1 a true 0;1 b false 1"},
		{`GET 'a' SHOW id, fingerprints`, `a ["00000000000000ff","000000000000ffff"]`},
		{`PUT {"id":"a","fingerprints":["0x0"]}`, ""},
		{`NEAR(0xfe, 1)`, ""},
		{`NEAR('b', 1)`, "a 1"},
		{`DELETE WHERE n = 1`, ""},
		{`NEAR(0x1, 64)`, "a 1"},
		{`PUT {"id":"d","fingerprints":[]}`, ""},
		{`PUT {"id":"d","fingerprints":["0x0",7,"0xg"]}`, `error: Parse error: "fingerprints", number 3`},
		{`PUT {"id":"d","fingerprints":"0x0"}`, `error: Parse error: "fingerprints" should be a list`},
	} {
		var got []string
		r, err := query.Run(t.Context(), db, c.statement)
		if err == nil {
			for row, failed := range r.All() {
				if err = failed; err != nil {
					break
				}
				for i := range row {
					if raw, ok := row[i].(json.RawMessage); ok {
						row[i] = string(raw)
					}
				}
				got = append(got, strings.Trim(fmt.Sprintln(row...), "\n"))
			}
		}
		if err != nil {
			got = append(got, "error: "+err.Error())
		}
		if text := strings.Join(got, ";"); text != c.want && (!strings.HasPrefix(c.want, "error") || !strings.HasPrefix(text, c.want)) {
			t.Errorf("%s: %s, want %s", c.statement, text, c.want)
		}
	}
}
