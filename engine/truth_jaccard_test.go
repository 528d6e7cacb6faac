package engine_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/internal/exhaustive"
)

type idPair [2]string

// readTruth reads id1 TAB id2 TAB jaccard ... lines.
func readTruth(t *testing.T, path string) map[idPair]float64 {
	truth := map[idPair]float64{}
	for line := range corpora.Lines(t, path) {
		f := strings.Split(line, "\t")
		inter, err1 := strconv.Atoi(f[3])
		union, err2 := strconv.Atoi(f[4])
		if err1 != nil || err2 != nil {
			t.Fatalf("%s: %q", path, line)
		}
		truth[pairOf(f[0], f[1])] = float64(inter) / float64(union)
	}
	return truth
}

func pairOf(a, b string) idPair {
	if a > b {
		a, b = b, a
	}
	return idPair{a, b}
}

// TestJaccardTruth compares searches for every licence text, pairs and admissions with the exact
// similarities of all pairs: none is wrong, and none is missed. SIMDB_TRUTH names a folder of more corpora, NAME.jsonl.gz with NAME.truth.tsv.gz.
func TestJaccardTruth(t *testing.T) {
	collections := map[string]string{"../examples/licenses.jsonl.gz": "testdata/licenses.truth.tsv.gz"}
	if dir := os.Getenv("SIMDB_TRUTH"); dir != "" {
		truths, err := filepath.Glob(filepath.Join(dir, "*.truth.tsv.gz"))
		if err != nil || len(truths) == 0 {
			t.Fatal(truths, err)
		}
		for _, truth := range truths {
			collections[strings.TrimSuffix(truth, ".truth.tsv.gz")+".jsonl.gz"] = truth
		}
	}
	for docs, truth := range collections {
		t.Run(filepath.Base(docs), func(t *testing.T) {
			t.Parallel()
			checkTruth(t, docs, readTruth(t, truth))
		})
	}
}

func checkTruth(t *testing.T, docs string, truth map[idPair]float64) {
	ctx := context.Background()
	db, err := engine.Create(filepath.Join(t.TempDir(), "x.simdb"), &engine.Options{MinJaccard: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	l, err := db.NewLoader(ctx, &engine.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	var all []engine.Doc
	for _, d := range corpora.Docs(t, docs) {
		all = append(all, engine.Doc{ID: d.ID, Text: d.Text})
		if err := l.Add(all[len(ids)]); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, d.ID)
	}
	if _, err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, threshold := range exhaustive.Size([]float64{0.8}, []float64{0.5, 0.7, 0.8, 0.9}) {
		found := map[idPair]bool{}
		for _, id := range ids {
			for m, err := range db.Search(ctx, engine.Doc{ID: id}, engine.Jaccard(threshold), nil) {
				if err != nil {
					t.Fatal(err)
				}
				p := pairOf(id, m.ID)
				if want, ok := truth[p]; !ok || math.Abs(want-m.Score) > 1e-6 || m.Score < threshold {
					t.Fatalf("t = %g: %v has score %g, in truth %g", threshold, p, m.Score, want)
				}
				found[p] = true
			}
		}
		pairs := 0
		for p, err := range db.Pairs(ctx, engine.Jaccard(threshold), nil) {
			if pairs++; err != nil || !found[pairOf(p.A, p.B)] {
				t.Fatalf("t = %g: the join finds %v (%v), the searches do not", threshold, p, err)
			}
		}
		if pairs != len(found) {
			t.Errorf("t = %g: the join finds %d pairs, searches %d", threshold, pairs, len(found))
		}
		want := 0
		for _, j := range truth {
			if j >= threshold {
				want++
			}
		}
		if len(found) != want {
			t.Errorf("t = %g: %d of %d pairs found", threshold, len(found), want)
		}
		checkAdmission(t, all, truth, threshold)
	}
}

// checkAdmission adds documents one after the other to an empty database: exactly those that no
// admitted one resembles are admitted.
func checkAdmission(t *testing.T, docs []engine.Doc, truth map[idPair]float64, threshold float64) {
	db, err := engine.Create(filepath.Join(t.TempDir(), "x.simdb"), &engine.Options{NoSync: true, MinJaccard: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	done, err := db.AddNovel(t.Context(), docs, engine.Jaccard(threshold), nil)
	if err != nil {
		t.Fatal(err)
	}
	var admitted []string
	for i, d := range docs {
		known := slices.ContainsFunc(admitted, func(id string) bool { return truth[pairOf(id, d.ID)] >= threshold })
		if n := done[i]; n.Stored == known || known && truth[pairOf(n.Match.ID, d.ID)] < threshold {
			t.Errorf("t = %g, %s: %+v, although an admitted document resembles it (%t)", threshold, d.ID, n, known)
		}
		if !known {
			admitted = append(admitted, d.ID)
		}
	}
}
