package engine_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/internal/exhaustive"
)

// The tests in this file check the engine against real, skewed fingerprints: the perceptual hash
// codes of testdata/emoji.tsv.gz.

// A hashKind is a column of the fixture, with independently computed facts about the pairs of its
// distinct codes. The digest covers the lines "row1 TAB row2 TAB distance LF", sorted by the rows;
// a row stands for a code if it is the first one with that code.
type hashKind struct {
	name   string
	column int
	k      int // the distance for pairs and digest
	pairs  int
	digest string
}

var hashKinds = []hashKind{
	{"dHash", 0, 6, 31934, "1928e99a5f9b74f48d473de8f0c80223501b26c1c7df5ae2e39f9f40235385f2"},
	{"pHash", 1, 8, 28352, "8f465494d900fed558593bdf04244af8a82edf6ff9b814b097a0ba2fc89484b4"},
}

const truthMaxDistance = 10 // NEAR is run for every distance up to this one

func (h hashKind) codes(tb testing.TB) []uint64 {
	tb.Helper()
	var codes []uint64
	for line := range corpora.Lines(tb, "testdata/emoji.tsv.gz") {
		code, err := strconv.ParseUint(strings.Split(line, "\t")[h.column], 16, 64)
		if err != nil {
			tb.Fatal(err)
		}
		codes = append(codes, code)
	}
	if len(codes) != 11201 {
		tb.Fatal(len(codes))
	}
	return codes
}

// A truth is the expected contents of a database: row i has ID rowID(i) and code[i], unless it is
// gone.
type truth struct {
	code []uint64
	gone []bool
}

func newTruth(codes []uint64) *truth { return &truth{slices.Clone(codes), make([]bool, len(codes))} }

func rowID(row int) string { return fmt.Sprintf("emoji/%06d", row) }

func rowDoc(row int, code uint64) engine.Doc {
	return engine.Doc{ID: rowID(row), Fingerprints: []engine.Fingerprint{{code}}}
}

type rowHit struct{ row, distance int }

// near returns all rows within k bits of code by brute force, nearest first, then by row, which is
// also the order of their IDs.
func (tr *truth) near(code uint64, k int) []rowHit {
	var hits []rowHit
	for row, c := range tr.code {
		if d := bits.OnesCount64(c ^ code); d <= k && !tr.gone[row] {
			hits = append(hits, rowHit{row, d})
		}
	}
	slices.SortStableFunc(hits, func(a, b rowHit) int { return cmp.Compare(a.distance, b.distance) })
	return hits
}

// A rowPair is two rows, a < b, at a distance.
type rowPair struct{ a, b, distance int }

// pairs returns all pairs of rows within k bits by brute force, nearest first, then by row.
func (tr *truth) pairs(k int) []rowPair {
	var pairs []rowPair
	for a, ca := range tr.code {
		for b, cb := range tr.code[:a] {
			if d := bits.OnesCount64(ca ^ cb); d <= k && !tr.gone[a] && !tr.gone[b] {
				pairs = append(pairs, rowPair{b, a, d})
			}
		}
	}
	slices.SortFunc(pairs, func(x, y rowPair) int {
		return cmp.Or(cmp.Compare(x.distance, y.distance), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	return pairs
}

// load adds all rows by a Loader, as a few tables.
func (tr *truth) load(t *testing.T, db *engine.DB) {
	t.Helper()
	l, err := db.NewLoader(context.Background(), &engine.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	documents, tables := int64(0), 0
	ended := func() {
		s, err := l.Close()
		if err != nil {
			t.Fatal(err)
		}
		documents, tables = documents+s.Documents, tables+s.Tables
	}
	for row, code := range tr.code {
		if err := l.Add(rowDoc(row, code)); err != nil {
			t.Fatal(err)
		}
		if (row+1)%(len(tr.code)/3+1) == 0 {
			ended()
			if l, err = db.NewLoader(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if ended(); documents != int64(len(tr.code)) || tables != 3 {
		t.Fatal(documents, tables)
	}
}

// checkNear searches db for every step-th code of queries, at every distance up to
// truthMaxDistance.
func (tr *truth) checkNear(t *testing.T, db *engine.DB, queries []uint64, step int) {
	t.Helper()
	ctx := context.Background()
	s, err := db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for q := range exhaustive.Every(t, 4*step).Of(len(queries)) {
		want := tr.near(queries[q], truthMaxDistance)
		for k := range truthMaxDistance + 1 {
			n := 0
			for m, err := range s.Search(ctx, engine.Doc{Fingerprints: []engine.Fingerprint{{queries[q]}}}, engine.Near(k), nil) {
				if err != nil {
					t.Fatal(err)
				}
				if n == len(want) || m.ID != rowID(want[n].row) || m.Distance != want[n].distance {
					t.Fatalf("near %016x, %d: hit %d is %s at %d; brute force: %v", queries[q], k, n, m.ID, m.Distance, want[n:min(n+1, len(want))])
				}
				n++
			}
			if n < len(want) && want[n].distance <= k {
				t.Fatalf("near %016x, %d: %d hits, then %v is missing", queries[q], k, n, want[n])
			}
		}
	}
}

// checkPairs gets all pairs within k from db and returns them by their rows.
func (tr *truth) checkPairs(t *testing.T, db *engine.DB, k int) []rowPair {
	t.Helper()
	want := tr.pairs(k)
	n := 0
	for p, err := range db.Pairs(context.Background(), engine.Near(k), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if n == len(want) || p.A != rowID(want[n].a) || p.B != rowID(want[n].b) || p.Distance != want[n].distance {
			t.Fatalf("pairs within %d: pair %d is %s %s %d; brute force: %v", k, n, p.A, p.B, p.Distance, want[n:min(n+1, len(want))])
		}
		n++
	}
	if n != len(want) {
		t.Fatalf("pairs within %d: %d, then %v is missing", k, n, want[n])
	}
	return want
}

func distinct(codes []uint64) []uint64 {
	codes = slices.Clone(codes)
	slices.Sort(codes)
	return slices.Compact(codes)
}

// TestTruthPairs compares the pairs of each kind of code with brute force, and those of distinct
// codes with a digest that was not computed by this project.
func TestTruthPairs(t *testing.T) {
	for _, h := range hashKinds {
		t.Run(h.name, func(t *testing.T) {
			codes := h.codes(t)
			db, err := engine.Open(filepath.Join(t.TempDir(), "x.simdb"), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			tr := newTruth(codes)
			tr.load(t, db)
			pairs := tr.checkPairs(t, db, h.k)
			if n, digest := digestOfDistinct(codes, pairs); n != h.pairs || digest != h.digest {
				t.Errorf("%d pairs of distinct codes, digest %s; want %d, %s", n, digest, h.pairs, h.digest)
			}
		})
	}
}

// digestOfDistinct counts the pairs of rows that are the first with their codes, and returns their
// digest as defined in hashKind.
func digestOfDistinct(codes []uint64, pairs []rowPair) (n int, digest string) {
	first := map[uint64]int{}
	for row, c := range codes {
		if _, ok := first[c]; !ok {
			first[c] = row
		}
	}
	var lines []rowPair
	for _, p := range pairs {
		if p.distance > 0 && first[codes[p.a]] == p.a && first[codes[p.b]] == p.b {
			lines = append(lines, p)
		}
	}
	slices.SortFunc(lines, func(x, y rowPair) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	sum := sha256.New()
	for _, p := range lines {
		fmt.Fprintf(sum, "%d\t%d\t%d\n", p.a, p.b, p.distance)
	}
	return len(lines), fmt.Sprintf("%x", sum.Sum(nil))
}

// TestTruthLife compares NEAR and PAIRS with brute force during the life of a database: loaded,
// with every third row deleted and every fifth updated in memory, flushed, compacted, reopened, and
// read from the log.
func TestTruthLife(t *testing.T) {
	steps := map[string]int{"4:1": 23, "2:1": 47, "6:3": 47}
	for _, layout := range []string{"4:1", "2:1", "6:3"} {
		for _, h := range hashKinds {
			t.Run(layout+"/"+h.name, func(t *testing.T) {
				t.Parallel()
				truthLife(t, layout, h, steps[layout])
			})
		}
	}
}

func truthLife(t *testing.T, layout string, h hashKind, step int) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "x.simdb")
	open := func() *engine.DB {
		db, err := engine.Open(path, &engine.Options{Layout: string(layout), DisableAutoCompaction: true, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := open()
	defer func() { db.Close() }()
	tr := newTruth(h.codes(t))
	queries := distinct(tr.code)
	check := func(state string) {
		t.Helper()
		if tr.checkNear(t, db, queries, step); t.Failed() {
			t.Fatal(state)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	tr.load(t, db)
	check("loaded")
	tr.edit(t, db, 0)
	check("edited in memory")
	must(db.Flush(ctx))
	check("flushed")
	must(db.Compact(ctx, nil))
	check("compacted")
	must(db.Close())
	db = open()
	check("reopened")
	tr.edit(t, db, 1)
	must(db.Close())
	db = open()
	check("read from the log")
	tr.checkPairs(t, db, h.k)
	must(db.Compact(ctx, nil))
	tr.checkPairs(t, db, h.k)
	r, err := db.Check(ctx, nil)
	if must(err); len(r.Problems) > 0 {
		t.Fatal(r.Problems)
	}
}

// TestTruthMany compares NEAR with brute force in tables that are large enough to be probed beyond
// a distance of 3: 16 copies of the codes, each with different flipped bits, so that every copy is
// as skewed as the codes.
func TestTruthMany(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 16))
	codes := hashKinds[0].codes(t)
	var all, queries []uint64
	for range 16 {
		mask := r.Uint64()
		for i, c := range codes {
			all = append(all, c^mask)
			if i%17 == 0 {
				queries = append(queries, c^mask)
			}
		}
	}
	tr := newTruth(all)
	for _, layout := range []string{"4:1", "6:3"} {
		db, err := engine.Create(filepath.Join(t.TempDir(), "x.simdb"), &engine.Options{Layout: string(layout), DisableAutoCompaction: true, NoSketch: true})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		tr.load(t, db)
		tr.checkNear(t, db, queries, 293)
	}
}

// edit deletes every third row from offset on, and gives every fifth remaining row the code of
// another row, sometimes with a flipped bit, in batches.
func (tr *truth) edit(t *testing.T, db *engine.DB, offset int) {
	t.Helper()
	var b engine.Batch
	for row := range tr.code {
		switch {
		case row%3 == offset:
			b.Delete(rowID(row))
			tr.gone[row] = true
		case row%5 == offset:
			code := tr.code[(row*7+1)%len(tr.code)] ^ uint64(row&1)<<(row%64)
			b.Put(rowDoc(row, code))
			tr.code[row], tr.gone[row] = code, false
		}
		if b.Len() == 500 || row == len(tr.code)-1 {
			if err := db.Apply(context.Background(), &b); err != nil {
				t.Fatal(err)
			}
			b = engine.Batch{}
		}
	}
}
