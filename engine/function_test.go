package engine

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// byLength yields the words of a text, each with the square root of its length as weight. A word that
// occurs twice counts twice, "!" has no weight, and "?" an invalid one.
func byLength(text string) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for w := range strings.FieldsSeq(text) {
			weight := math.Sqrt(float64(len(w)))
			switch w {
			case "!":
				weight = 0
			case "?":
				weight = math.NaN()
			}
			if !yield(w, weight) {
				return
			}
		}
	}
}

// weightsOf returns the features of a text with their weights.
func weightsOf(text string) map[string]float64 {
	all := map[string]float64{}
	for w, weight := range byLength(text) {
		if weight > 0 {
			all[w] += weight
		}
	}
	return all
}

// weightedJaccard is the similarity of two sets with weights, by brute force.
func weightedJaccard(a, b map[string]float64) float64 {
	var least, most float64
	both := maps.Clone(a)
	maps.Copy(both, b)
	for w := range both {
		least, most = least+min(a[w], b[w]), most+max(a[w], b[w])
	}
	if most == 0 {
		return 0
	}
	return least / most
}

// TestFunction stores documents whose features a function of the program yields, and compares
// searches with brute force. The database opens only with the function.
func TestFunction(t *testing.T) {
	ctx, r := t.Context(), rand.New(rand.NewPCG(87, 32))
	const threshold = 0.49877 // no similarity is so close to it that rounding decides
	own := Features{Function: "length", Compute: byLength}
	db, path := create4test(t, &Options{NoSync: true, Features: own})
	texts := map[string]string{"empty": "! ? !"}
	for i := range 150 {
		var words []string
		for range 1 + r.IntN(12) {
			words = append(words, strings.Repeat(string(rune('a'+r.IntN(9))), 1+r.IntN(3)))
		}
		texts[fmt.Sprintf("d%03d", i)] = strings.Join(words, " ")
	}
	texts["same 1"], texts["same 2"] = "aa bb aa !", "! bb  aa\naa ?"
	for i, id := range slices.Sorted(maps.Keys(texts)) {
		must.Do(t, db.Put(ctx, Doc{ID: id, Text: texts[id]}))
		if i == 100 { // some documents stay in the memtable
			must.Do(t, db.Compact(ctx, nil))
		}
	}
	compare := func(db *DB) {
		t.Helper()
		rows := 0
		for id, text := range texts {
			mine, want := weightsOf(text), map[string]float64{}
			for other, text := range texts {
				if j := weightedJaccard(mine, weightsOf(text)); other != id && j >= threshold {
					want[other] = j
				}
			}
			got := collect(t, db.Search(ctx, Doc{ID: id}, Jaccard(threshold), nil))
			for _, m := range got {
				if math.Abs(want[m.ID]-m.Score) > 1e-12 || !m.Exact {
					t.Fatalf("%s: %+v, want %v", id, m, want[m.ID])
				}
			}
			if rows += len(got); len(got) != len(want) {
				t.Fatalf("%s: %d matches, want %d", id, len(got), len(want))
			}
		}
		if near := collect(t, db.Search(ctx, Doc{ID: "same 1"}, Near(0), nil)); rows < 30 || !slices.Contains(near, Match{ID: "same 2"}) {
			t.Errorf("%d rows; at distance 0: %v", rows, near)
		}
		if r := must.Get(db.Check(ctx, nil))(t); len(r.Problems) > 0 {
			t.Errorf("check: %v", r.Problems)
		}
	}
	compare(db)
	for text, novel := range map[string]bool{"bb aa aa": false, "aa bb": true, "?": true} {
		m, stored, err := db.PutNovel(ctx, Doc{ID: "new", Text: text}, Jaccard(0.9))
		if stored != novel || err != nil {
			t.Errorf("PutNovel of %q: %v, %v, %v", text, m, stored, err)
		}
		db.Delete(ctx, "new")
	}
	for what, f := range map[string]Features{"no function": {}, "another name": {Function: "width", Compute: byLength}, "only the name": {Function: "length"}} {
		if _, err := Open(path, &Options{ReadOnly: true, Features: f}); !errors.Is(err, ErrParams) || !strings.Contains(err.Error(), "function length") {
			t.Errorf("opened with %s: %v", what, err)
		}
	}
	must.Do(t, db.Compact(ctx, nil))
	must.Do(t, db.Close())
	db = must.Get(Open(path, &Options{NoSync: true, Features: own}))(t)
	compare(db)
	like := db.Options()
	if f := like.Features; f.Function != "length" || f.Compute == nil || f.Unit != "function" {
		t.Errorf("options %+v", f)
	}
	packed := filepath.Join(t.TempDir(), "packed.sst")
	must.Do(t, db.Pack(ctx, packed, nil))
	db.Close()
	one := must.Get(Open(packed, &Options{Features: own}))(t)
	compare(one)
	one.Close()
	if _, err := Open(packed, nil); !errors.Is(err, ErrParams) {
		t.Errorf("a table opened without the function: %v", err)
	}
	set := must.Get(OpenSet([]string{packed, path}, &Options{Features: own}))(t)
	compare(set)
	set.Close()
	recoverFunction(t, path, own, compare)
	for what, f := range map[string]Features{"no name": {Compute: byLength}, "a unit": {Function: "x", Compute: byLength, Unit: "chars"}, "a line": {Function: "a\nb", Compute: byLength}, "fields": {Function: "x", Compute: byLength, Fold: []string{"case"}}} {
		if _, err := Create(filepath.Join(t.TempDir(), "x"), &Options{Features: f}); !errors.Is(err, ErrInvalid) {
			t.Errorf("created with %s: %v", what, err)
		}
	}
	if _, err := Create(filepath.Join(t.TempDir(), "x"), &Options{Features: Features{Function: "x"}}); !errors.Is(err, ErrParams) {
		t.Errorf("created without the function: %v", err)
	}
}

// recoverFunction recovers a database with features of a function: from undamaged tables, and after a table has lost the index
// that is computed from texts.
func recoverFunction(t *testing.T, path string, own Features, compare func(*DB)) {
	t.Helper()
	for _, damage := range []bool{false, true} {
		to := filepath.Join(t.TempDir(), "recovered")
		if damage {
			tables := must.Get(filepath.Glob(filepath.Join(path, "*.sst")))(t)
			data := must.Get(os.ReadFile(tables[0]))(t)
			for i := range 64 {
				data[len(data)/2+i] ^= 0xff
			}
			must.Do(t, os.WriteFile(tables[0], data, 0o600))
		}
		if _, err := Recover(t.Context(), path, to, nil); !errors.Is(err, ErrParams) {
			t.Fatalf("recovered without the function, damaged %v: %v", damage, err)
		}
		r, err := Recover(t.Context(), path, to, &RecoverOptions{Features: own})
		if err != nil || !damage && r.Lost > 0 {
			t.Fatalf("recovered: %+v, %v", r, err)
		}
		db := must.Get(Open(to, &Options{NoSync: true, Features: own}))(t)
		if !damage {
			compare(db)
		}
		if r := must.Get(db.Check(t.Context(), nil))(t); len(r.Problems) > 0 {
			t.Errorf("check of the recovered database: %v", r.Problems)
		}
		db.Close()
	}
}
