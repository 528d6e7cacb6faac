package engine

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/table"
)

// flipEach flips a byte in the first table of a closed database, at several places in each section
// with that name, "" for all except directories, or "*" for all, with the directory of the table.
// It yields after each flip and then restores the table.
func flipEach(t *testing.T, path, section string, places int) iter.Seq[string] {
	return func(yield func(string) bool) {
		file := must.Get(filepath.Glob(filepath.Join(path, "*.sst")))(t)[0]
		whole := must.Get(os.ReadFile(file))(t)
		r := must.Get(table.Open(file))(t)
		sections := r.Info().Sections
		r.Close()
		defer rewrite(t, file, whole)
		if last := sections[len(sections)-1]; section == "*" {
			end := last.Offset + last.Length
			sections = append(sections, table.Section{Offset: end, Length: int64(len(whole)) - end})
		}
		for _, s := range sections {
			switch isDir := strings.HasSuffix(s.Name(), " directory"); {
			case s.Length == 0, section == "" && isDir, section != "" && section != "*" && s.Name() != section:
				continue
			}
			for i := range int64(places + 1) {
				at := s.Offset + s.Length*(2*i+1)/int64(2*places+2)
				whole[at] ^= 0x10
				rewrite(t, file, whole)
				whole[at] ^= 0x10
				if !yield(fmt.Sprintf("%s, byte %d of %d", s.Name(), at-s.Offset, s.Length)) {
					return
				}
			}
		}
	}
}

// sectionsDatabase makes a closed database that has one table with each kind of section, and in its
// log puts and deletes of the table's documents. It returns the text of each document.
func sectionsDatabase(t *testing.T, path string) map[string]string {
	t.Helper()
	db := must.Get(Create(path, &Options{Containment: true, Index: []string{"n"}, DisableAutoCompaction: true}))(t)
	have := map[string]string{}
	var docs []Doc
	for i := range 1500 {
		d := sectionsDoc(fmt.Sprint("id-", i), 0)
		docs, have[d.ID] = append(docs, d), d.Text
	}
	loadStored(t, db, docs...)
	for i := 0; i < 1500; i += 20 {
		d := sectionsDoc(fmt.Sprint("id-", i), 1)
		have[d.ID] = d.Text
		must.Do(t, db.Put(t.Context(), d))
		must.Do(t, db.Delete(t.Context(), fmt.Sprint("id-", i+1)))
		delete(have, fmt.Sprint("id-", i+1))
	}
	must.Do(t, db.Close())
	return have
}

func sectionsDoc(id string, version int) Doc {
	return Doc{
		ID: id, Text: fmt.Sprintf("the text %d of document %s has some words that others have too", version, id),
		Fields: fmt.Appendf(nil, `{"n":%q}`, id),
	}
}

// TestDamagedSections flips a byte of each section of a table. The database must open, accept
// writes of other documents, and never give a wrong answer: each answer is right, or a
// CorruptionError. Afterwards it opens again.
func TestDamagedSections(t *testing.T) {
	t.Parallel()
	made := filepath.Join(t.TempDir(), "made.simdb")
	before := sectionsDatabase(t, made)
	kinds, opened := map[string]bool{}, 0
	for what := range flipEach(t, made, "", 1) {
		kinds[what[:3]] = true
		path := filepath.Join(t.TempDir(), "x.simdb")
		must.Do(t, os.CopyFS(path, os.DirFS(made)))
		have, refused := map[string]string{}, 0
		maps.Copy(have, before)
		for round := range 2 {
			db, err := Open(path, &Options{DisableAutoCompaction: true, NoSync: true})
			if err != nil {
				t.Fatalf("%s: round %d: %v", what, round, err)
			}
			opened++
			for i := 7 * round; i < 2000; i += 37 { // some from the table, some from the log, some new
				d := sectionsDoc(fmt.Sprint("id-", i), 2+round)
				if err := db.Put(t.Context(), d); err == nil {
					have[d.ID] = d.Text
				} else if refused++; !isDamage(err) {
					t.Fatalf("%s: round %d: put: %v", what, round, err)
				}
			}
			checkSections(t, fmt.Sprintf("%s: round %d", what, round), db, have)
			if err := db.Flush(t.Context()); err != nil && !isDamage(err) {
				t.Fatalf("%s: round %d: flush: %v", what, round, err)
			}
			checkSections(t, fmt.Sprintf("%s: round %d, flushed", what, round), db, have)
			if err := db.Close(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			reader := must.Get(Open(path, &Options{ReadOnly: true}))(t)
			checkSections(t, fmt.Sprintf("%s: round %d, read-only", what, round), reader, have)
			reader.Close()
		}
		if refused > 50 {
			t.Errorf("%s: %d writes of 108 are refused", what, refused)
		}
		os.RemoveAll(path)
	}
	t.Logf("%d kinds of sections, %d openings", len(kinds), opened)
}

// TestOvertakenByDamaged replaces a document that is in the log by a load, and damages the names of
// the table: the version in the log must not be shown as if it were the newest.
func TestOvertakenByDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.simdb")
	db := must.Get(Create(path, &Options{NoSketch: true, DisableAutoCompaction: true}))(t)
	must.Do(t, db.Put(t.Context(), Doc{ID: "one", Text: "old"}))
	loadStored(t, db, Doc{ID: "one", Text: "new"}, Doc{ID: "two", Text: "new"})
	must.Do(t, db.Close())
	for what := range flipEach(t, path, "names", 0) {
		for _, readOnly := range []bool{true, false} {
			db := must.Get(Open(path, &Options{ReadOnly: readOnly}))(t)
			if d, err := db.Get(t.Context(), "one"); !isDamage(err) {
				t.Errorf("%s: %q, %v", what, d.Text, err)
			}
			for d, err := range db.Range(t.Context(), Range{}) {
				if !isDamage(err) {
					t.Errorf("%s: %q is listed, %v", what, d.Text, err)
				}
			}
			if r, err := db.Check(t.Context(), nil); err != nil || len(r.Problems) == 0 {
				t.Errorf("%s: check: %v, %v", what, r.Problems, err)
			}
			if err := db.Put(t.Context(), Doc{ID: "three"}); !readOnly && (!isDamage(err) || !errors.Is(err, ErrFailed)) {
				t.Errorf("%s: a write: %v", what, err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	db = must.Get(Open(path, nil))(t)
	defer db.Close()
	if d, err := db.Get(t.Context(), "one"); d.Text != "new" || err != nil {
		t.Errorf("undamaged: %q, %v", d.Text, err)
	}
}

func isDamage(err error) bool {
	var c *CorruptionError
	return errors.As(err, &c)
}

// checkSections compares the answers of a damaged database with the documents in have.
func checkSections(t *testing.T, what string, db *DB, have map[string]string) {
	t.Helper()
	ctx := t.Context()
	for i := 0; i < 2000; i += 3 {
		id := fmt.Sprint("id-", i)
		d, err := db.Get(ctx, id)
		if text, there := have[id]; err == nil && d.Text != text || errors.Is(err, ErrNotFound) == there && !isDamage(err) {
			t.Fatalf("%s: %s is %q, %v, want %q", what, id, d.Text, err, text)
		}
	}
	seen := map[string]bool{}
	for d, err := range db.Range(ctx, Range{}) {
		if err != nil && !isDamage(err) || err == nil && (seen[d.ID] || have[d.ID] == "") {
			t.Fatalf("%s: %s is listed: %v", what, d.ID, err)
		}
		if seen[d.ID] = true; err != nil {
			seen = nil
			break
		}
	}
	if n, err := db.Count(ctx, Range{}); err != nil && !isDamage(err) || err == nil && int(n) != len(have) || seen != nil && len(seen) != len(have) {
		t.Fatalf("%s: %d are counted, %d listed, %d there: %v", what, n, len(seen), len(have), err)
	}
	for i := 0; i < 2000; i += 301 {
		for m, err := range db.Search(ctx, sectionsDoc(fmt.Sprint("id-", i), 2), Jaccard(0.9).Estimated(), nil) {
			if err != nil && !isDamage(err) || err == nil && have[m.ID] == "" {
				t.Fatalf("%s: %s is found: %v", what, m.ID, err)
			}
		}
	}
}
