package dedup

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// lookupDocs returns documents of few different words, so that many are similar, with a field
// that groups them.
func lookupDocs(r *rand.Rand, prefix string, n int) (docs []engine.Doc) {
	for i := range n {
		words := make([]string, 4+r.IntN(12))
		start := r.IntN(20)
		for w := range words {
			words[w] = fmt.Sprint("w", start+w)
			if r.IntN(15) == 0 {
				words[w] = fmt.Sprint("x", r.IntN(9))
			}
		}
		if i%20 == 7 {
			words = []string{" "} // no word, and no fingerprint
		}
		docs = append(docs, engine.Doc{ID: fmt.Sprint(prefix, i), Text: strings.Join(words, " "), Fields: fmt.Appendf(nil, `{"g":%d}`, r.IntN(3))})
	}
	return docs
}

// lookupFile writes documents as JSON lines; with broken, some lines between them are not
// records.
func lookupFile(t testing.TB, docs []engine.Doc, broken bool) (src *inputs.Sources, lines []string) {
	var all strings.Builder
	for i, d := range docs {
		line := fmt.Sprintf(`{"id":%q,"text":%q,"g":%s}`+"\n", d.ID, d.Text, d.Fields[5:len(d.Fields)-1])
		all.WriteString(line)
		if lines = append(lines, line); broken && i%7 == 0 {
			all.WriteString("{broken\n")
		}
	}
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	must.Do(t, os.WriteFile(path, []byte(all.String()), 0o666))
	src, err := (&inputs.Env{}).New(t.Context(), []string{path}, inputs.Options{})
	must.Do(t, err)
	return src, lines
}

// lookupDB returns a database of documents.
func lookupDB(t testing.TB, docs []engine.Doc) *inputs.Stored {
	path := filepath.Join(t.TempDir(), "docs.simdb")
	err := engine.Build(path, func(db *engine.DB) error {
		for _, d := range docs {
			if err := db.Put(t.Context(), d); err != nil {
				return err
			}
		}
		return nil
	}, nil)
	must.Do(t, err)
	s, err := (&inputs.Env{}).OpenStored(path, inputs.Access{Write: true})
	must.Do(t, err)
	t.Cleanup(func() {
		var err error
		if s.Close(&err); err != nil {
			t.Error(err)
		}
	})
	return s
}

// lookupCriteria has one criterion of each kind.
var lookupCriteria = []engine.Criterion{
	engine.Near(12), engine.Jaccard(0.4), engine.Levenshtein(0.75), engine.Cosine(0.7), engine.Contains(0.7), engine.Within(0.7),
}

// lookupRead returns the options of inputs in these tests.
func lookupRead() records.Options { return records.Options{MakeID: true, Need: records.NeedDoc} }

// joined returns the rows of a join.
func joined(t *testing.T, src *inputs.Sources, o JoinOptions) (rows []string, j *Join) {
	env := &inputs.Env{}
	o.Read = lookupRead()
	o.Rejects = env.NewRejects(t.Context(), inputs.RejectOptions{}, "")
	j, err := NewJoin(t.Context(), env, src, o)
	must.Do(t, err)
	defer j.Close()
	for some, err := range j.Rows(t.Context()) {
		must.Do(t, err)
		for _, r := range some {
			rows = append(rows, lookupRow(r.Query, r.Match))
		}
	}
	return rows, j
}

func lookupRow(query string, m engine.Match) string {
	return fmt.Sprintf("%s %s %.9f %d", query, m.ID, m.Score, m.Distance)
}

// TestJoin compares the rows of joins, by each criterion, with a search for each document: in a
// database and in files, in many lots and in one, for all documents and across groups.
func TestJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	stored, docs := lookupDocs(r, "s", 200), lookupDocs(r, "q", 150)
	db := lookupDB(t, stored)
	group := map[string]string{}
	for _, d := range slices.Concat(stored, docs) {
		group[d.ID] = string(d.Fields)
	}
	for _, by := range lookupCriteria {
		for _, across := range []string{"", "g"} {
			var want []string
			matched := map[string]bool{}
			for _, d := range docs {
				for m, err := range db.Search(t.Context(), engine.Doc{Text: d.Text}, by, nil) {
					must.Do(t, err)
					if across == "" || group[d.ID] != group[m.ID] {
						want, matched[d.ID] = append(want, lookupRow(d.ID, m)), true
					}
				}
			}
			if len(want) < 100 {
				t.Fatalf("%v: only %d rows", by, len(want))
			}
			for _, memory := range []int64{16 << 10, 1 << 30} {
				src, _ := lookupFile(t, docs, true)
				got, j := joined(t, src, JoinOptions{By: by, Across: across, Memory: memory, Stored: db})
				if !slices.Equal(got, want) || j.Read != int64(len(docs)) || j.Matched != int64(len(matched)) {
					t.Errorf("%v across %q, memory %d: %d rows of %d documents, want %d of %d", by, across, memory, len(got), j.Matched, len(want), len(matched))
				}
				if _, _, contained := containment(by); !contained || memory < 1<<20 && across == "" {
					continue
				}
				files, _ := lookupFile(t, stored, false)
				spec := must.Get(features.Spec{}.Canonical())(t)
				src, _ = lookupFile(t, docs, true)
				got, _ = joined(t, src, JoinOptions{By: by, Across: across, Memory: max(memory, 256<<10), Files: files, Of: lookupRead(), Params: features.Params{Shingle: 3, Features: spec}})
				if !slices.Equal(got, want) {
					t.Errorf("%v across %q in files, memory %d: %d rows, want %d", by, across, memory, len(got), len(want))
				}
			}
		}
	}
}

// lookupOut is the output of a match.
type lookupOut struct{ bytes.Buffer }

func (o *lookupOut) Close(failure error) error { return failure }

// TestMatch compares what a match copies, names and counts with a search for each document; with
// Add, documents are searched for and added one by one.
func TestMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(63, 64))
	stored, docs := lookupDocs(r, "s", 60), lookupDocs(r, "q", 300)
	for _, by := range lookupCriteria {
		for _, add := range []bool{false, true} {
			db, oracle := lookupDB(t, stored), lookupDB(t, stored)
			src, lines := lookupFile(t, docs, true)
			var fresh, old []string
			for i, d := range docs {
				known := false
				if add {
					_, stored, err := oracle.DB.PutNovel(t.Context(), d, by)
					must.Do(t, err)
					known = !stored
				} else {
					for _, err := range oracle.Search(t.Context(), engine.Doc{Text: d.Text}, by, nil) {
						must.Do(t, err)
						known = true
						break
					}
				}
				if known {
					old = append(old, lines[i])
				} else {
					fresh = append(fresh, lines[i])
				}
			}
			if len(fresh) < 5 || len(old) < 5 {
				t.Fatalf("%v: %d are new, %d are not", by, len(fresh), len(old))
			}
			for _, invert := range []bool{false, true} {
				if add && invert {
					continue
				}
				env, out, known := &inputs.Env{}, &lookupOut{}, 0
				rejects := env.NewRejects(t.Context(), inputs.RejectOptions{}, "")
				m, err := NewMatch(t.Context(), env, src, db.DB, MatchOptions{
					By: by, Add: add, Named: true, Invert: invert, Memory: 1 << 20, Read: lookupRead(), Rejects: rejects,
					Open: func(outfile.Kind) (MatchOutput, error) { return out, nil },
					Known: func(_ *records.Record, n engine.Novelty) error {
						if known++; n.Match.ID == "" {
							t.Errorf("%v: a known document has no name", by)
						}
						return nil
					},
				})
				if err == nil {
					err = m.Run(t.Context())
				}
				m.Close(err)
				want := fresh
				if invert {
					want = old
				}
				if err != nil || out.String() != strings.Join(want, "") || known != len(old) || m.Fresh != int64(len(fresh)) || m.Read != int64(len(docs)) || rejects.N != 43 {
					t.Errorf("%v, add %v, invert %v: %v; %d bytes, %d known, %d new of %d, %d rejected", by, add, invert, err, out.Len(), known, m.Fresh, m.Read, rejects.N)
				}
			}
		}
	}
}

// TestLookupRefuses checks that without Rejects, input that is not a record is an error, and that
// the documents before it are looked up.
func TestLookupRefuses(t *testing.T) {
	docs := lookupDocs(rand.New(rand.NewPCG(65, 66)), "d", 3)
	db := lookupDB(t, docs)
	src, _ := lookupFile(t, docs, true)
	j, err := NewJoin(t.Context(), &inputs.Env{}, src, JoinOptions{By: engine.Near(0), Memory: 1 << 20, Read: lookupRead(), Stored: db})
	must.Do(t, err)
	defer j.Close()
	rows := 0
	for some, err2 := range j.Rows(t.Context()) {
		rows, err = rows+len(some), err2
	}
	if rows == 0 || err == nil || !strings.Contains(err.Error(), "docs.jsonl:2: ") {
		t.Errorf("%d rows, %v", rows, err)
	}
	m, err := NewMatch(t.Context(), &inputs.Env{}, src, db.DB, MatchOptions{By: engine.Near(0), Add: true, Memory: 1 << 20, Read: lookupRead()})
	if err == nil {
		err = m.Run(t.Context())
	}
	if m.Close(err); err == nil || !strings.Contains(err.Error(), "docs.jsonl:2: ") || m.Read != 1 {
		t.Errorf("%d read, %v", m.Read, err)
	}
}
