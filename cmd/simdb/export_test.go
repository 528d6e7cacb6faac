package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
)

// licences returns the documents of the example file.
func licences(t *testing.T) (docs []engine.Doc) {
	t.Helper()
	for line := range corpora.Lines(t, "../../examples/licenses.jsonl.gz") {
		var v map[string]json.RawMessage
		var doc engine.Doc
		err := json.Unmarshal([]byte(line), &v)
		if err = errors.Join(err, json.Unmarshal(v["id"], &doc.ID), json.Unmarshal(v["text"], &doc.Text)); err != nil {
			t.Fatal(err)
		}
		delete(v, "id")
		delete(v, "text")
		if doc.Fields, err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	return docs
}

// oddDocs returns documents that a format could store incompletely.
func oddDocs() []engine.Doc {
	long := strings.Repeat("many words of a long text, ", 20000)
	return []engine.Doc{
		{ID: "line\nbreak \"q\" \x00 \\ ü 😀\u2028", Text: "  lead\r\ntail, \"quoted\"\ttab\u2028\x7f\x1e ", Fields: []byte(`{"esc":"\u00e9\ud83d\ude00","n":-3}`)},
		{ID: " ", Text: "\ufeffa mark before"},
		{ID: "-1", Text: `["a","b"]`},
		{ID: "null", Text: "null", Fields: []byte(`{"big":12345678901234567890,"f":1.50,"e":2e3,"half":"\ud800","huge":1e400,"nul":null,"n":9007199254740993}`)},
		{ID: "empty"},
		{ID: "spaced", Text: "words", Fields: []byte("{ \"a\" : [ 1 , 2 ] ,\n \"b\":{\"id\":1} }")},
		{ID: "given", Text: "the quick brown fox jumps over the lazy dog", Fingerprints: []engine.Fingerprint{{0}}},
		{ID: "given only", Fingerprints: []engine.Fingerprint{{0x1111111111111111}}, Fields: []byte(`{"a":"text","Some Name":true}`)},
		{ID: "computed", Text: "the quick brown fox jumps over the lazy dog"},
		{ID: "long", Text: long},
	}
}

// Export and load give an equal database: ids, texts, fields, times, fingerprints, answers.
func TestExportRoundTrip(t *testing.T) {
	all := append(licences(t)[:80], oddDocs()...)
	wide := func(docs []engine.Doc, words int, several bool) []engine.Doc {
		rng := rand.New(rand.NewPCG(1, 2))
		random := func() (fp []uint64) {
			for range words {
				fp = append(fp, rng.Uint64()>>(rng.IntN(2)*60))
			}
			return fp
		}
		docs = slices.Clone(docs)
		for i := range docs {
			d := &docs[i]
			if d.Fingerprints != nil || i%7 == 0 {
				d.Fingerprints = []engine.Fingerprint{random()}
			}
			for range i % 4 {
				if several && d.Fingerprints != nil {
					d.Fingerprints = append(d.Fingerprints, random())
				}
			}
		}
		return docs
	}
	parts := slices.Clone(all)
	for i := range parts {
		if parts[i].Text != "" {
			parts[i].Text = engine.JoinFields(parts[i].ID, parts[i].Text, "")
		}
	}
	sets := slices.Clone(all)
	for i := range sets {
		sets[i].Text = features.SetText(strings.Fields(sets[i].Text)...)
	}
	for name, c := range map[string]struct {
		o     engine.Options
		docs  []engine.Doc
		lines bool // only JSON lines can represent it
	}{
		"plain":      {engine.Options{}, all, false},
		"chars":      {engine.Options{Shingle: 5, Sketch: 32, Features: engine.Features{Unit: "chars", MinWords: 20}}, all, false},
		"wide":       {engine.Options{Bits: 256}, wide(all, 4, false), false},
		"several":    {engine.Options{Bits: 128, Features: engine.Features{Several: true}}, wide(all, 2, true), true},
		"textless":   {engine.Options{NoText: true, NoSketch: true}, all, false},
		"weighted":   {engine.Options{Features: engine.Features{Fields: []engine.Field{{Name: "title", Weight: 3}, {Name: "meta.body", Weight: 1}, {Name: "c", Weight: 1}}}}, parts, true},
		"sets":       {engine.Options{Features: engine.Features{Unit: "set", SetField: "tags"}}, sets, false},
		"containing": {engine.Options{Containment: true}, all, false},
	} {
		for _, ending := range []string{".jsonl", ".jsonl.gz", ".parquet"} {
			if ending == ".jsonl.gz" && name != "plain" {
				continue // compression works the same for all formats
			}
			t.Run(name+ending, func(t *testing.T) {
				t.Chdir(t.TempDir())
				createWith(t, "old.simdb", c.o, c.docs)
				code, _, talk := simdbHere(t, "export", "old.simdb", "--times", "-o", "out"+ending)
				if c.lines && ending == ".parquet" {
					if code != 2 || !strings.Contains(talk, "JSON lines") {
						t.Errorf("exit status %d: %s", code, talk)
					}
					return
				}
				if code != 0 {
					t.Fatal(talk)
				}
				createWith(t, "new.simdb", c.o, nil)
				if code, _, talk := simdbHere(t, "load", "new.simdb", "out"+ending, "--time-field", "time"); code != 0 {
					t.Fatal(talk)
				}
				equalDatabases(t, "old.simdb", "new.simdb", ending == ".parquet")
			})
		}
	}
}

// createWith creates a database of documents in tables and a log. Some documents are replaced and
// some deleted.
func createWith(t *testing.T, path string, o engine.Options, docs []engine.Doc) {
	t.Helper()
	db := must.Get(engine.Create(path, &o))(t)
	put := func(d engine.Doc) {
		must.Do(t, db.Put(t.Context(), d))
	}
	for i, d := range docs {
		if d.Time.IsZero() {
			d.Time = time.UnixMicro(int64(i) * 1234567891)
		}
		if i%5 == 0 {
			put(engine.Doc{ID: d.ID, Text: "to be replaced"})
		}
		put(d)
		put(engine.Doc{ID: fmt.Sprint("deleted", i), Text: d.Text})
		if i == len(docs)/2 {
			must.Do(t, db.Flush(t.Context()))
		}
	}
	for i := range docs {
		must.Do(t, db.Delete(t.Context(), fmt.Sprint("deleted", i)))
	}
	must.Do(t, db.Close())
}

// contents returns all documents of a database, by ID, and the matches of some documents by NEAR and
// by similarity.
func contents(t *testing.T, path string) (docs map[string]engine.Doc, answers map[string]string) {
	t.Helper()
	db, s := snapshotOf(t, path)
	docs, answers = map[string]engine.Doc{}, map[string]string{}
	for d, err := range s.Range(t.Context(), engine.Range{Load: true}) {
		must.Do(t, err)
		d.Seq = 0
		docs[d.ID] = d
		ask := func(by engine.Criterion) {
			for m, err := range s.Search(context.Background(), engine.Doc{ID: d.ID}, by, nil) {
				answers[d.ID] += fmt.Sprintln(m, err)
			}
		}
		if ask(engine.Near(8)); db.Options().Sketch > 0 {
			ask(engine.Jaccard(0.7))
		}
	}
	return docs, answers
}

// equalDatabases compares two databases. If rewritten is set, the JSON text of fields may differ.
func equalDatabases(t *testing.T, a, b string, rewritten bool) {
	t.Helper()
	one, of1 := contents(t, a)
	two, of2 := contents(t, b)
	if len(one) != len(two) || len(one) < 80 {
		t.Fatalf("%d and %d documents", len(one), len(two))
	}
	for id, x := range one {
		y := two[id]
		if !rewritten {
			x.Fields, y.Fields = oneLine(x.Fields), oneLine(y.Fields)
		} else if !reflect.DeepEqual(decoded(t, x.Fields), decoded(t, y.Fields)) {
			t.Errorf("fields of %q: %s and %s", id, x.Fields, y.Fields)
		}
		if rewritten {
			x.Fields, y.Fields = nil, nil
		}
		if !reflect.DeepEqual(x, y) {
			t.Fatalf("%.400s\nand\n%.400s", fmt.Sprintf("%+v", x), fmt.Sprintf("%+v", y))
		}
		if of1[id] != of2[id] {
			t.Errorf("answers of %q: %s\nand\n%s", id, of1[id], of2[id])
		}
	}
	if len(of1) < 20 {
		t.Errorf("only %d documents have answers", len(of1))
	}
}

// oneLine returns fields unchanged unless they span lines.
func oneLine(fields []byte) []byte {
	if strings.ContainsAny(string(fields), "\n ") { // blanks between members may disappear
		var v map[string]json.RawMessage
		if json.Unmarshal(fields, &v) == nil {
			fields, _ = json.Marshal(v)
		}
	}
	return fields
}

// decoded returns the fields with exact numbers, except numbers that the export writes differently.
func decoded(t *testing.T, fields []byte) (v map[string]any) {
	t.Helper()
	if len(fields) == 0 {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(string(fields)))
	d.UseNumber()
	must.Do(t, d.Decode(&v))
	for name, value := range v {
		if n, ok := value.(json.Number); ok && strings.ContainsAny(n.String(), ".eE") {
			if v[name], _ = n.Float64(); v[name] == float64(int64(v[name].(float64))) {
				v[name] = json.Number(fmt.Sprint(int64(v[name].(float64))))
			}
		}
	}
	return v
}

// What JSON cannot represent is an error, and never lost silently.
func TestExportRefuses(t *testing.T) {
	for name, d := range map[string]engine.Doc{
		"id":     {ID: "a\xff", Text: "x"},
		"text":   {ID: "a", Text: "x\xc3("},
		"fields": {ID: "a", Text: "x", Fields: []byte("{\"a\":\"\xff\"}")},
		"time":   {ID: "a", Text: "x", Time: time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		for _, ending := range []string{".jsonl", ".csv", ".parquet"} {
			t.Chdir(t.TempDir())
			createWith(t, "x.simdb", engine.Options{}, []engine.Doc{d})
			code, _, talk := simdbHere(t, "export", "x.simdb", "--times", "-o", "out"+ending)
			if code != 2 || !strings.Contains(talk, "not UTF-8") && !strings.Contains(talk, "year 12345") {
				t.Errorf("%s%s: exit status %d: %s", name, ending, code, talk)
			}
			if left, _ := filepath.Glob("out*"); left != nil {
				t.Errorf("%s: there is %v", name, left)
			}
		}
	}
}
