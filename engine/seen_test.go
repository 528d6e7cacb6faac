package engine

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
)

// A seenText has the n-grams of a text, as texts, with the position of the first word of each and
// the words.
type seenText struct {
	words []string
	grams []string
	at    []int // index in words
	field []int
}

// seenTextOf cuts a text into fields and words.
func seenTextOf(text string, o *Options) (s seenText) {
	n := o.Shingle
	for field, part := range strings.Split(text, "\x1f") {
		words := features.Spec{}.Words(part)
		from := len(s.words)
		s.words = append(s.words, words...)
		for i := 0; i == 0 && len(words) > 0 || i+n <= len(words); i++ {
			s.grams = append(s.grams, strings.Join(words[i:min(i+n, len(words))], " "))
			s.at, s.field = append(s.at, from+i), append(s.field, field)
		}
	}
	if len(s.words) < o.Features.MinWords {
		s.grams = nil
	}
	return s
}

// against returns the share of the n-grams in shown, and the runs of words that are not.
func (s seenText) against(shown map[string]bool) (share float64, runs []string) {
	seen, last := 0, -2
	var ends []int
	for i, g := range s.grams {
		switch {
		case shown[g]:
			seen++
			continue
		case i == last+1 && s.field[i] == s.field[last]:
			ends[len(ends)-1]++
		default:
			runs = append(runs, fmt.Sprint(s.at[i]))
			ends = append(ends, s.at[i]+len(strings.Fields(g)))
		}
		last = i
	}
	for i := range runs {
		runs[i] += fmt.Sprint(" ", ends[i])
	}
	return float64(seen) / float64(max(1, len(s.grams))), runs
}

// TestSeenTogether compares the share of texts that has been seen, and the runs that have not, with
// sets of texts of n-grams: with and without an index, in memtables and tables, with replaced and
// deleted documents.
func TestSeenTogether(t *testing.T) {
	for i, o := range []Options{
		{Shingle: 3}, {Shingle: 5, Containment: true}, {Shingle: 1, Containment: true}, {Shingle: 7, Features: Features{MinWords: 9}}, {Shingle: 2, Containment: true, Features: Features{Fields: []Field{{Name: "a", Weight: 3}, {Name: "b", Weight: 1}}}},
	} {
		o.NoSync, o.DisableAutoCompaction = true, true
		seenTogether(t, uint64(i), &o)
	}
}

func seenTogether(t *testing.T, seed uint64, o *Options) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(52, seed))
	db, _ := create4test(t, o)
	var all []string
	text := func() string {
		var words []string
		for range r.IntN(30) {
			words = append(words, fmt.Sprintf("w%d", r.IntN(400)))
		}
		for range r.IntN(4) {
			if len(all) > 0 {
				from := strings.Fields(strings.ReplaceAll(all[r.IntN(len(all))], "\x1f", " "))
				from = from[r.IntN(len(from)+1):]
				words = append(words, from[:r.IntN(len(from)+1)]...)
			}
		}
		text := strings.Join(words, ", ")
		if o.Features.Fields != nil {
			text = JoinFields(strings.Join(words[:len(words)/3], " "), strings.Join(words[len(words)/3:], " "))
		}
		all = append(all, text)
		return text
	}
	stored := map[string]string{}
	shownBut := func(except string) map[string]bool {
		shown := map[string]bool{}
		for id, text := range stored {
			if id != except {
				for _, g := range seenTextOf(text, o).grams {
					shown[g] = true
				}
			}
		}
		return shown
	}
	partly := 0
	compare := func(where string) {
		t.Helper()
		docs := []Doc{{Text: ""}, {Text: "w1"}, {Text: "..."}, {Text: all[0]}}
		for range 12 {
			docs = append(docs, Doc{Text: text()})
		}
		for _, id := range slices.Sorted(maps.Keys(stored)) {
			if docs = append(docs, Doc{ID: id}); len(docs) == 19 {
				break
			}
		}
		docs = append(docs, Doc{}) // it is not compared together with the stored one before it
		shown := shownBut("")
		var runs [][]Passage
		search := &SearchOptions{Together: true, Unseen: func(i int, some []Passage) {
			if i != len(runs) {
				t.Fatalf("runs of %d after those of %d", i, len(runs)-1)
			}
			runs = append(runs, some)
		}}
		for _, one := range []bool{false, true} { // all at once, or one after the other
			lots := [][]Doc{docs}
			if one {
				lots = slices.Collect(slices.Chunk(docs, 1))
			}
			var best []Match
			var known []bool
			var got [][]Passage
			for _, lot := range lots {
				runs = nil
				k, b, err := db.Any(ctx, lot, Contains(0.5), search)
				must.Do(t, err)
				known, best, got = append(known, k...), append(best, b...), append(got, runs...)
			}
			for i, d := range docs {
				text, shown := d.Text, shown
				if d.ID != "" {
					text, shown = stored[d.ID], shownBut(d.ID)
				}
				of := seenTextOf(text, o)
				share, want := of.against(shown)
				if best[i] != (Match{Score: share, Exact: true}) || known[i] != (share >= 0.5) {
					t.Fatalf("%s: %q: %+v, %v, want %v", where, text, best[i], known[i], share)
				}
				var found []string
				for _, p := range got[i] {
					found = append(found, fmt.Sprint(p.At, p.End))
					if words := (features.Spec{}).Words(text[p.QueryAt:p.QueryEnd]); p.Words != p.End-p.At || !slices.Equal(words, of.words[p.At:p.End]) {
						t.Fatalf("%s: %q: %+v has the words %q", where, text, p, words)
					}
				}
				if !slices.Equal(found, want) {
					t.Fatalf("%s: %q: %q, want %q", where, text, found, want)
				}
				if share > 0 && share < 1 {
					partly++
				}
			}
		}
	}
	for round := range 2 {
		for range 90 {
			id := fmt.Sprint("d", r.IntN(200))
			stored[id] = text()
			must.Do(t, db.Put(ctx, Doc{ID: id, Text: stored[id]}))
		}
		for _, id := range slices.Sorted(maps.Keys(stored)) {
			if r.IntN(15) == 0 {
				delete(stored, id)
				must.Do(t, db.Delete(ctx, id))
			}
		}
		compare(fmt.Sprint("memtable ", round))
		must.Do(t, db.Flush(ctx))
		compare(fmt.Sprint("tables ", round))
	}
	must.Do(t, db.Compact(ctx, nil))
	compare("one table")
	if partly < 20 {
		t.Errorf("%d shares between 0 and 1", partly)
	}
}

// TestAddSeen checks that AddNovel stores what deciding one text after the other stores.
func TestAddSeen(t *testing.T) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(52, 9))
	for _, index := range []bool{false, true} {
		db, _ := create4test(t, &Options{NoSync: true, Containment: index, Shingle: 2})
		shown, dropped := map[string]bool{}, 0
		for lot := range 12 {
			var docs []Doc
			for i := range 20 {
				var words []string
				for range 3 + r.IntN(9) {
					words = append(words, fmt.Sprint("w", min(r.IntN(40), r.IntN(40))))
				}
				docs = append(docs, Doc{ID: fmt.Sprint(lot, ".", i), Text: strings.Join(words, " ")})
			}
			got := must.Get(db.AddNovel(ctx, docs, Contains(0.6), &SearchOptions{Together: true}))(t)
			for i, d := range docs {
				of := seenTextOf(d.Text, &Options{Shingle: 2})
				share, _ := of.against(shown)
				want := Novelty{Stored: true}
				if share >= 0.6 {
					want = Novelty{Match: Match{Score: share, Exact: true}}
					dropped++
				} else {
					for _, g := range of.grams {
						shown[g] = true
					}
				}
				if got[i] != want {
					t.Fatalf("%q: %+v, want %+v", d.Text, got[i], want)
				}
			}
			if lot == 5 {
				must.Do(t, db.Flush(ctx))
			}
		}
		if dropped < 50 || dropped > 190 {
			t.Errorf("%d are dropped", dropped)
		}
		for what, f := range map[string]func() error{
			"jaccard": func() error {
				_, _, err := db.Any(ctx, []Doc{{Text: "a"}}, Jaccard(0.5), &SearchOptions{Together: true})
				return err
			},
			"within": func() error {
				_, err := db.AddNovel(ctx, []Doc{{ID: "a"}}, Within(0.5), &SearchOptions{Together: true})
				return err
			},
			"renew": func() error {
				_, err := db.AddNovel(ctx, []Doc{{ID: "a"}}, Contains(0.5), &SearchOptions{Together: true, Renew: true})
				return err
			},
			"zero": func() error { _, _, err := db.Any(ctx, nil, Contains(0), &SearchOptions{Together: true}); return err },
		} {
			if err := f(); !errors.Is(err, ErrInvalid) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	db, _ := create4test(t, &Options{NoSync: true, NoText: true})
	if _, _, err := db.Any(ctx, []Doc{{Text: "a"}}, Contains(1), &SearchOptions{Together: true}); !errors.Is(err, ErrParams) {
		t.Errorf("without texts: %v", err)
	}
}

// TestSeenInCrowd has a text in very many documents of a table, most of which are deleted.
func TestSeenInCrowd(t *testing.T) {
	ctx := t.Context()
	const many = 200
	for _, left := range []int{0, many / 2, many - 1} {
		db, _ := create4test(t, &Options{NoSync: true, Containment: true, DisableAutoCompaction: true})
		for i := range many {
			must.Do(t, db.Put(ctx, Doc{ID: fmt.Sprint(i), Text: "one two three four"}))
		}
		must.Do(t, db.Flush(ctx))
		for i := range many {
			if i != left {
				must.Do(t, db.Delete(ctx, fmt.Sprint(i)))
			}
		}
		if _, best, err := db.Any(ctx, []Doc{{Text: "zero one two three"}}, Contains(1), &SearchOptions{Together: true}); err != nil || best[0].Score != 0.5 {
			t.Errorf("document %d: %v, %v", left, best, err)
		}
	}
}
