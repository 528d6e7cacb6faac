package engine

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

func allowedOf(db *DB) []Pair { return slices.Collect(allowed(db)) }

// TestAllow records pairs, and looks for them after every operation that might lose them.
func TestAllow(t *testing.T) {
	ctx := t.Context()
	db, path := create4test(t, nil)
	long := strings.Repeat("x", base.MaxIDBytes)
	must.Do(t, db.SetAllowed(ctx, true, Pair{A: "b", B: "a"}, Pair{A: "a", B: "c"}, Pair{A: long, B: "\x00"}))
	before := snapshot4test(t, db)
	must.Do(t, db.SetAllowed(ctx, true, Pair{A: "a", B: "b"}, Pair{A: "d", B: "a"}))
	must.Do(t, db.SetAllowed(ctx, false, Pair{A: "c", B: "a"}))
	want := []Pair{{A: "\x00", B: long}, {A: "a", B: "b"}, {A: "a", B: "d"}}
	check := func(what string, db *DB) {
		t.Helper()
		if got := allowedOf(db); !slices.Equal(got, want) {
			t.Errorf("%s: %.100v, want %.100v", what, got, want)
		}
	}
	check("at once", db)
	if !slices.Contains(slices.Collect(before.Allowed()), Pair{A: min("c", "a"), B: max("c", "a")}) || slices.Contains(slices.Collect(before.Allowed()), Pair{A: min("a", "d"), B: max("a", "d")}) || len(slices.Collect(before.Allowed())) != 3 {
		t.Error("a snapshot sees changes made after it")
	}
	for _, c := range []struct {
		err, want error
	}{
		{db.SetAllowed(ctx, true, Pair{A: "e", B: "f"}, Pair{A: "a", B: "a"}), ErrInvalid},
		{db.SetAllowed(ctx, true, Pair{A: "e", B: ""}), ErrInvalid},
		{db.SetAllowed(ctx, true, Pair{A: "e", B: long + "x"}), ErrTooLarge},
		{db.SetAllowed(ctx, false, Pair{A: "a", B: "b"}, Pair{A: "a", B: "c"}), ErrNotFound},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%v, want %v", c.err, c.want)
		}
	}
	check("after refusals", db)
	put(t, db, "a", 1)
	must.Do(t, db.Compact(ctx, nil))
	packed := filepath.Join(t.TempDir(), "p.sst")
	must.Do(t, db.Pack(ctx, packed, nil))
	check("after compaction", db)
	must.Do(t, db.Close())
	if err := db.SetAllowed(ctx, true, Pair{A: "e", B: "f"}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	reopened := open4test(t, path, nil)
	check("reopened", reopened)

	single := open4test(t, packed, nil)
	check("packed", single)
	if err := single.SetAllowed(ctx, true, Pair{A: "e", B: "f"}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("in a packed database: %v", err)
	}
	again := filepath.Join(t.TempDir(), "q.sst")
	must.Do(t, single.Pack(ctx, again, nil))
	other, _ := create4test(t, nil)
	must.Do(t, other.SetAllowed(ctx, true, Pair{A: "0", B: "1"}))
	must.Do(t, other.Ingest(ctx, again))
	want = slices.Insert(want, 1, Pair{A: "0", B: "1"})
	check("ingested", other)
}

// TestAllowSurvivesCrash cuts the power after every change.
func TestAllowSurvivesCrash(t *testing.T) {
	ctx := t.Context()
	mem := vfstest.NewMem(t.TempDir())
	db := open4test(t, "/db", &Options{fs: mem})
	for i := range 5 {
		must.Do(t, db.SetAllowed(ctx, true, Pair{A: "a", B: fmt.Sprint(i)}))
		if i%2 == 1 {
			must.Do(t, db.SetAllowed(ctx, false, Pair{A: "a", B: fmt.Sprint(i)}))
		}
		after := open4test(t, "/db", &Options{fs: mem.CrashClone(0, uint64(i)), MustExist: true})
		if got, want := allowedOf(after), allowedOf(db); !slices.Equal(got, want) || len(got) != i/2+1 {
			t.Errorf("after change %d: %v, want %v", i, got, want)
		}
	}
}

// TestAllowPutNovel stores a document although it resembles another, because the pair is allowed,
// by every criterion.
func TestAllowPutNovel(t *testing.T) {
	ctx := t.Context()
	for _, by := range []Criterion{Near(3), Jaccard(0.5).Estimated(), Jaccard(0.5)} {
		db, _ := create4test(t, nil)
		text := "the quick brown fox jumps over the lazy dog and runs away from it"
		novel := func(id, text string) (string, bool) {
			t.Helper()
			m, stored, err := db.PutNovel(ctx, Doc{ID: id, Text: text}, by)
			must.Do(t, err)
			return m.ID, stored
		}
		must.Do(t, db.SetAllowed(ctx, true, Pair{A: "b", B: "a"}, Pair{A: "c", B: "a"}))
		for _, step := range []struct {
			id, like string
		}{{"a", ""}, {"b", ""}, {"c", "b"}, {"d", "*"}} {
			if like, stored := novel(step.id, text); stored != (step.like == "") || step.like != "*" && like != step.like {
				t.Errorf("%v, document %s: like %q, stored: %v; want %q", by, step.id, like, stored, step.like)
			}
		}
		must.Do(t, db.SetAllowed(ctx, false, Pair{A: "a", B: "b"}))
		if like, stored := novel("b", text+"!"); stored || like != "a" {
			t.Errorf("%v: after Unallow: like %q, stored: %v", by, like, stored)
		}
	}
}

// allowedCorpus returns documents in families of near-duplicates, many equal, with the fingerprints
// of their texts, and pairs of mostly similar documents.
func allowedCorpus(r *rand.Rand, n int) ([]Doc, []Pair) {
	docs := make([]Doc, n)
	family := make([]int, n)
	for i := range docs {
		family[i] = r.IntN(1 + n/8)
		words := strings.Fields(strings.Repeat(fmt.Sprintf("family%d has its words ", family[i]), 3))
		for w := range words {
			words[w] += fmt.Sprint(w % (7 + family[i]%5))
		}
		for range r.IntN(3) {
			words[r.IntN(len(words))] = fmt.Sprintf("changed%d", r.IntN(3))
		}
		docs[i] = Doc{ID: fmt.Sprintf("%03d", i), Text: strings.Join(words, " ")}
	}
	var pairs []Pair
	for range r.IntN(n) {
		a, b := r.IntN(n), r.IntN(n)
		for range 30 {
			if family[a] == family[b] {
				break
			}
			b = r.IntN(n)
		}
		if a != b {
			pairs = append(pairs, Pair{A: docs[a].ID, B: docs[b].ID})
		}
	}
	return docs, pairs
}

// TestClustersKeepApart compares clusters with those formed document by document.
func TestClustersKeepApart(t *testing.T) {
	exhaustive.Sequential(t)
	ctx := t.Context()
	seeds, differ := 0, 0
	for seed := range exhaustive.Every(t, 4).Of(30) {
		seeds++
		r := rand.New(rand.NewPCG(uint64(seed), 9))
		docs, pairs := allowedCorpus(r, 20+r.IntN(100))
		db, _ := create4test(t, nil)
		for i, d := range docs {
			must.Do(t, db.Put(ctx, d))
			if r.IntN(len(docs)) == 0 {
				must.Do(t, db.Flush(ctx))
			}
			if i > 0 && r.IntN(20) == 0 {
				if err := db.Put(ctx, docs[r.IntN(i)]); err != nil { // now the newest
					t.Fatal(err)
				}
			}
		}
		for _, by := range []Criterion{Near(3), Near(10), Jaccard(0.5).Estimated(), Jaccard(0.8).Estimated(), Jaccard(0.5)} {
			for _, mode := range []bool{false, true} {
				before := clustersOf(t, db, by, mode)
				must.Do(t, db.SetAllowed(ctx, true, pairs...))
				after := clustersOf(t, db, by, mode)
				if want := clustersByHand(t, db, by, mode); !maps.Equal(after, want) {
					t.Fatalf("seed %d, %v, mode %v, apart %v:\n%v, want\n%v", seed, by, mode, pairs, after, want)
				}
				if !maps.Equal(before, after) {
					differ++
				}
				unallowAll(t, db)
				if again := clustersOf(t, db, by, mode); !maps.Equal(before, again) {
					t.Fatalf("seed %d, %v, mode %v: clusters after Unallow differ from those before Allow", seed, by, mode)
				}
			}
		}
	}
	if differ < 3*seeds {
		t.Errorf("allowed pairs changed %d clusterings: too few for a test", differ)
	}
}

func unallowAll(t *testing.T, db *DB) {
	t.Helper()
	must.Do(t, db.SetAllowed(t.Context(), false, allowedOf(db)...))
}

// clustersOf returns the keeper of each document that is in a cluster.
func clustersOf(t *testing.T, db *DB, by Criterion, mode bool) map[string]string {
	t.Helper()
	keepers, keeper := map[string]string{}, ""
	for m, err := range db.Clusters(t.Context(), by, &ClusterOptions{Components: mode}) {
		must.Do(t, err)
		if m.Keep {
			keeper = m.ID
		}
		keepers[m.ID] = keeper
	}
	return keepers
}

// clustersByHand is clustersOf by comparing all pairs of documents.
func clustersByHand(t *testing.T, db *DB, by Criterion, mode bool) map[string]string {
	t.Helper()
	s := snapshot4test(t, db)
	var docs []entry
	for e, err := range entriesIn(t.Context(), s, Range{}) {
		must.Do(t, err)
		docs = append(docs, e)
	}
	slices.SortFunc(docs, func(a, b entry) int { return int(a.Seq) - int(b.Seq) })
	score := map[Pair]float64{} // of matching pairs: the nearer, the greater
	for p, err := range s.Pairs(t.Context(), by, nil) {
		must.Do(t, err)
		if v := p.Score - float64(p.Distance); !slices.Contains(slices.Collect(s.Allowed()), Pair{A: min(p.A, p.B), B: max(p.A, p.B)}) {
			score[Pair{A: p.A, B: p.B}], score[Pair{A: p.B, B: p.A}] = v, v
		}
	}
	var ids []string
	for _, d := range docs {
		ids = append(ids, d.ID)
	}
	components := componentsOf(ids, func(a, b string) bool { _, ok := score[Pair{A: a, B: b}]; return ok })
	keepers := map[string]string{}
	var so []string
	together := map[uint64]string{} // keepers by fingerprint: documents with equal fingerprints stay together unless they are in a pair
	near := by.Kind() == "near"
	for _, d := range docs {
		keeper := ""
		alone := !near || s.v.Allowed.Involves(d.ID)
		for _, q := range so {
			v, ok := score[Pair{A: d.ID, B: q}]
			if ok && (keeper == "" || v > score[Pair{A: d.ID, B: keeper}]) {
				keeper = q
			}
		}
		if same := together[d.Fingerprint]; same != "" && !alone {
			keeper = same
		}
		if mode {
			keeper = components[d.ID]
		}
		if keeper == "" || keeper == d.ID {
			keeper, so = d.ID, append(so, d.ID)
		}
		keepers[d.ID] = keeper
		if !alone {
			together[d.Fingerprint] = keeper
		}
	}
	members := map[string]int{}
	for _, q := range keepers {
		members[q]++
	}
	maps.DeleteFunc(keepers, func(_, q string) bool { return members[q] == 1 })
	return keepers
}
