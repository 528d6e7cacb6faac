package engine

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/minhash"
)

// allMatches returns all matches that AnyMatch may name: not the document itself, nor documents
// allowed with it.
func allMatches(t *testing.T, s *Snapshot, doc Doc, by Criterion) map[string]Match {
	t.Helper()
	var ms []Match
	query := Doc{Text: doc.Text}
	fp, ok := fingerprintOf(s.db, doc.Text)
	if doc.Fingerprints != nil {
		fp, ok = doc.Fingerprints[0][0], true
	}
	switch {
	case !by.by.Jaccard && ok:
		ms = collect(t, s.Search(t.Context(), ofPrint(fp), Near(by.by.K), nil))
	case by.by.Jaccard && doc.Text != "":
		ms = collect(t, s.Search(t.Context(), query, by, nil))
	}
	all := map[string]Match{}
	for _, m := range ms {
		if m.ID != doc.ID && !slices.Contains(slices.Collect(s.Allowed()), Pair{A: min(doc.ID, m.ID), B: max(doc.ID, m.ID)}) {
			all[m.ID] = m
		}
	}
	return all
}

// TestAnyMatch checks for matches by all criteria, and compares with all matches: after updates,
// deletes, flushes, compactions and loads, with crowds of equal and of nearly equal documents, and
// with allowed pairs.
func TestAnyMatch(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(61, 62))
	db, _ := create4test(t, &Options{MemtableBytes: 60000, Sketch: 64, NoSync: true})
	var texts []string
	for range 60 {
		texts = append(texts, randomText(r))
	}
	crowd := randomText(r) + " " + randomText(r)
	text := func() string {
		switch r.IntN(4) {
		case 0:
			return texts[r.IntN(len(texts))]
		case 1:
			return crowd
		case 2:
			return crowd + fmt.Sprintf(" and more %d", r.IntN(50))
		}
		return randomText(r)
	}
	criteria := []Criterion{Near(0), Near(3), Near(20), Near(64), Jaccard(0.2).Estimated(), Jaccard(0.8).Estimated(), Jaccard(1).Estimated(), Jaccard(0.3), Jaccard(0.9)}
	yes, no := 0, 0
	check := func(stage string) {
		t.Helper()
		s := snapshot4test(t, db)
		for range 40 {
			doc, by := Doc{ID: fmt.Sprintf("t%03d", r.IntN(300)), Text: cmp.Or(text(), "...")}, criteria[r.IntN(len(criteria))]
			if r.IntN(5) == 0 {
				fp := r.Uint64()
				doc.Fingerprints = []Fingerprint{{fp}}
			}
			want := allMatches(t, s, doc, by)
			m, found, err := anyMatch(ctx, s, doc, by)
			if err != nil || found != (len(want) > 0) || found && m != want[m.ID] {
				t.Fatalf("%s, %v: %v, %+v, %v; want one of %v", stage, by, found, m, err, want)
			}
			if again, _, _ := anyMatch(ctx, s, doc, by); again != m {
				t.Fatalf("%s, %v: %+v, then %+v", stage, by, m, again)
			}
			if found {
				yes++
			} else {
				no++
			}
		}
	}
	for round := range 5 {
		for range 150 {
			id := fmt.Sprintf("t%03d", r.IntN(300))
			if r.IntN(6) == 0 {
				db.Delete(ctx, id)
			} else if err := db.Put(ctx, Doc{ID: id, Text: text()}); err != nil {
				t.Fatal(err)
			}
		}
		must.Do(t, db.SetAllowed(ctx, true, Pair{A: fmt.Sprintf("t%03d", r.IntN(100)), B: fmt.Sprintf("t%03d", 100+r.IntN(100))}))
		check(fmt.Sprintf("round %d", round))
	}
	must.Do(t, db.Compact(ctx, nil))
	check("compacted")
	if yes < 20 || no < 20 {
		t.Errorf("%d matches, %d without", yes, no)
	}
}

// TestAnyMatchIsAllowed checks a document whose only matches are allowed with it.
func TestAnyMatchIsAllowed(t *testing.T) {
	ctx := context.Background()
	db, _ := create4test(t, nil)
	text := "these are words enough for a shingle or two of them"
	for i := range 40 {
		must.Do(t, db.Put(ctx, Doc{ID: fmt.Sprint(i), Text: text}))
		must.Do(t, db.SetAllowed(ctx, true, Pair{A: "new", B: fmt.Sprint(i)}))
	}
	for _, by := range []Criterion{Near(3), Jaccard(0.8).Estimated(), Jaccard(0.8)} {
		for _, id := range []string{"new", "other"} {
			if m, found, err := anyMatch(ctx, db, Doc{ID: id, Text: text}, by); err != nil || found != (id == "other") {
				t.Errorf("%v of %s: %+v, %v, %v", by, id, m, found, err)
			}
		}
	}
}

// TestAnyNear compares AnyNear with Near, both if few documents match and if so many match that
// queries run one by one.
func TestAnyNear(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(63, 64))
	db, _ := create4test(t, &Options{MemtableBytes: 40000, NoSketch: true, NoText: true, NoSync: true})
	const equal = 0x0123456789abcdef
	for i := range 3000 {
		fp := r.Uint64()
		if i%3 == 0 {
			fp = equal
		}
		put(t, db, fmt.Sprint(i), fp)
		if i%7 == 0 {
			db.Delete(ctx, fmt.Sprint(r.IntN(i+1))) // mostly an existing one
		}
	}
	var fps []uint64
	for range 200 {
		fps = append(fps, r.Uint64(), equal^1<<r.IntN(64), equal)
	}
	for _, queries := range [][]uint64{nil, fps[:3], fps, fps[:30]} {
		for _, k := range []int{0, 3, 22, 64} {
			known, err := anyOf(ctx, db, ofPrints(queries), Near(k))
			if err != nil || len(known) != len(queries) {
				t.Fatal(len(known), err)
			}
			for i, fp := range queries {
				want := false
				for _, err := range db.Near(ctx, fp, k) {
					want = err == nil
					break
				}
				if known[i] != want {
					t.Fatalf("k = %d, %d queries: %x is known: %v, want %v", k, len(queries), fp, known[i], want)
				}
			}
		}
	}
	if _, err := anyOf(ctx, db, ofPrints(fps), Near(65)); err == nil {
		t.Error("k = 65: no error")
	}
}

// slowStarsOf forms star clusters by their definition, from documents in the order of writing.
func slowStarsOf(db *DB, ids []string, m *textModel, by Criterion) map[string]Match {
	n := int(db.s.Params.Sketch)
	sets := map[string]features.Hashes{}
	for _, id := range ids {
		sets[id] = db.s.Texts.Sets().Set([]byte(m.texts[id]))
	}
	match := func(keeper, id string) (score float64, ok bool) {
		a, b := m.sketches[keeper], m.sketches[id]
		if len(a) == 0 || len(b) == 0 {
			return 0, false
		}
		estimate := minhash.Jaccard(a, b, n)
		if score = estimate.Score; !by.estimated {
			if !estimate.MayReach(by.by.T) {
				return 0, false
			}
			score = db.s.Texts.Sets().Jaccard(sets[keeper], sets[id])
		}
		return score, score >= by.by.T
	}
	keeperOf := map[string]Match{} // the keeper of each document, with the score
	for id, keeper := range starsOf(ids, match) {
		score, _ := match(keeper, id)
		keeperOf[id] = Match{ID: keeper, Score: score}
	}
	return keeperOf
}

// TestClustersOfCrowds compares star clusters by Jaccard with their definition: for documents that
// are nearly all similar, many with equal texts or sets, on any number of processors.
func TestClustersOfCrowds(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	r := rand.New(rand.NewPCG(65, 66))
	for round := range 6 {
		db, _ := create4test(t, &Options{MemtableBytes: 50000, Sketch: 32, NoSync: true})
		m := &textModel{map[string]string{}, map[string]minhash.Sketch{}}
		var ids []string
		base := []string{randomText(r) + randomText(r), randomText(r) + randomText(r)}
		for i := range 250 {
			text := base[r.IntN(2)]
			switch r.IntN(5) {
			case 0:
				text = randomText(r)
			case 1, 2:
				text += fmt.Sprintf(" changed %d %d", r.IntN(9), r.IntN(9))
			case 3:
				text = " " + text + "." // another text with the same set
			}
			id := fmt.Sprintf("t%03d", i)
			ids = append(ids, id)
			must.Do(t, db.Put(t.Context(), Doc{ID: id, Text: text}))
			m.put(db, id, text)
		}
		runtime.GOMAXPROCS(1 + round%4)
		for _, at := range []float64{0.3, 0.6, 0.8, 0.95, 1} {
			for _, by := range []Criterion{Jaccard(at).Estimated(), Jaccard(at)} {
				want := slowStarsOf(db, ids, m, by)
				keeper, members := "", 0
				for _, x := range collect(t, db.Clusters(t.Context(), by, nil)) {
					if members++; x.Keep {
						keeper = x.ID
					}
					if w := want[x.ID]; w.ID != keeper || !x.Keep && x.Score != w.Score {
						t.Fatalf("round %d, %v: %s is with %s, %v; want %+v", round, by, x.ID, keeper, x.Score, w)
					}
				}
				sizes := map[string]int{}
				for _, w := range want {
					sizes[w.ID]++
				}
				for _, n := range sizes {
					if n > 1 {
						members -= n
					}
				}
				if members != 0 {
					t.Fatalf("round %d, %v: %d members too many", round, by, members)
				}
			}
		}
	}
}

// TestAnyMatchEqual checks that a document with an equal fingerprint is named, at any position
// among many near ones.
func TestAnyMatchEqual(t *testing.T) {
	for _, at := range []int{0, 1, novelMatches - 1, novelMatches, 2*novelMatches - 1} {
		for _, flush := range []int{0, novelMatches, 2 * novelMatches} {
			db, _ := create4test(t, &Options{NoText: true, NoSketch: true, NoSync: true})
			ctx := context.Background()
			const q = 0x0123456789abcdef
			for i := range 2 * novelMatches {
				fp := uint64(q ^ 1<<i)
				if i == at {
					fp = q
				}
				must.Do(t, db.Put(ctx, Doc{ID: fmt.Sprint("d", i), Fingerprints: []Fingerprint{{fp}}}))
				if i+1 == flush {
					must.Do(t, db.Flush(ctx))
				}
			}
			want := fmt.Sprint("d", at)
			doc := Doc{ID: "new", Fingerprints: []Fingerprint{{uint64(q)}}}
			if m, found, err := anyMatch(ctx, db, doc, Near(3)); err != nil || !found || m.ID != want || m.Distance != 0 {
				t.Errorf("equal at %d, %d in a table: any match %+v, %v, %v", at, flush, m, found, err)
			}
			if m, stored, err := db.PutNovel(ctx, doc, Near(3)); err != nil || stored || m.ID != want || m.Distance != 0 {
				t.Errorf("equal at %d, %d in a table: put novel %+v, %v, %v", at, flush, m, stored, err)
			}
		}
	}
}
