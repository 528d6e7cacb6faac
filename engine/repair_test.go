package engine

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
)

// TestRepair flips a byte in each section of a table in turn, directories included. The database
// must open, and be written, flushed 40 times and merged without a wrong answer; after Repair Check
// must find nothing, and every answer must be right. Only what blocks of texts and names have lost
// stays damaged until the caller gives it up, and the report names it.
func TestRepair(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	made := filepath.Join(t.TempDir(), "made.simdb")
	before := sectionsDatabase(t, made)
	o := &Options{NoSync: true}
	cases, rebuilt, refused, chosen := 0, 0, []string{}, map[int]bool{}
	for i := range exhaustive.Every(t, 5).Of(100) {
		chosen[i] = true
	}
	for what := range flipEach(t, made, "*", 1) {
		if cases++; !chosen[cases-1] {
			continue
		}
		path := filepath.Join(t.TempDir(), "x.simdb")
		must.Do(t, os.CopyFS(path, os.DirFS(made)))
		have := maps.Clone(before)
		db := must.Get(Open(path, o))(t)
		for round := range 40 {
			for i := round; i < 2000; i += 211 {
				d := sectionsDoc(fmt.Sprint("id-", i), 2+round)
				if err := db.Put(ctx, d); err == nil {
					have[d.ID] = d.Text
				} else if !isDamage(err) {
					t.Fatalf("%s: put: %v", what, err)
				}
			}
			if err := db.Flush(ctx); err != nil && !isDamage(err) {
				t.Fatalf("%s: flush: %v", what, err)
			}
		}
		waitIdle(t, db)
		if n := len(must.Get(db.Stats())(t).Tables); n > 16 {
			t.Errorf("%s: %d tables", what, n)
		}
		checkSections(t, what, db, have)
		if err := db.Close(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		db = must.Get(Open(path, o))(t)
		report := must.Get(db.Repair(ctx, nil))(t)
		if rebuilt += report.Tables; report.Lost > 0 {
			refused = append(refused, what)
			if lost := repairLosses(t, what, db, have); int64(lost) != report.Lost {
				t.Errorf("%s: %d documents were dropped, not %d", what, lost, report.Lost)
			}
		}
		if again := must.Get(db.Repair(ctx, nil))(t); again.Tables != 0 || again.Losses != nil || db.Metrics().Damaged != nil {
			t.Errorf("%s: repaired again: %+v", what, again)
		}
		for range 2 {
			repaired(t, what, db, have)
			if err := db.Close(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			db = must.Get(Open(path, o))(t)
		}
		db.Close()
		os.RemoveAll(path)
	}
	t.Logf("%d flips; Repair rebuilt %d tables, and refused to drop documents: %q", cases, rebuilt, refused)
	texts := func(what string) bool {
		return strings.HasPrefix(what, "blocks,") || strings.HasPrefix(what, "places,")
	}
	all := len(chosen) == 100
	if slices.ContainsFunc(refused, func(s string) bool { return !texts(s) }) || all && (cases < 60 || rebuilt < 30 || !slices.ContainsFunc(refused, texts)) {
		t.Errorf("%d flips, %d tables rebuilt, refused: %q", cases, rebuilt, refused)
	}
}

// repairLosses checks that documents that cannot be read are not dropped silently. It drops them,
// removes them from have, and returns how many there were.
func repairLosses(t *testing.T, what string, db *DB, have map[string]string) (n int) {
	t.Helper()
	if len(db.Metrics().Damaged) != 1 || len(must.Get(db.Check(t.Context(), nil))(t).Problems) == 0 {
		t.Errorf("%s: %v damaged", what, db.Metrics().Damaged)
	}
	for _, l := range must.Get(db.Repair(t.Context(), &RecoverOptions{Drop: true}))(t).Losses {
		for _, id := range l.IDs {
			if have[id] == "" {
				t.Errorf("%s: %s is lost, and was not there", what, id)
			}
			delete(have, id)
		}
		if n += int(l.Documents); int(l.Documents) == len(l.IDs) {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(have)) { // lost names
			if _, err := db.Get(t.Context(), id); errors.Is(err, ErrNotFound) {
				delete(have, id)
			}
		}
	}
	return n
}

// repaired checks that all answers are right, and none is an error.
func repaired(t *testing.T, what string, db *DB, have map[string]string) {
	t.Helper()
	checkSections(t, what, db, have)
	if r := must.Get(db.Check(t.Context(), nil))(t); len(r.Problems) > 0 {
		t.Errorf("%s: %v", what, r.Problems)
	}
	if n := must.Get(db.Count(t.Context(), Range{}))(t); int(n) != len(have) {
		t.Errorf("%s: %d documents, not %d", what, n, len(have))
	}
	seqs := map[uint64]string{}
	for d := range db.Range(t.Context(), Range{}) {
		if other := seqs[d.Seq]; other != "" {
			t.Errorf("%s: %s and %s are both version %d", what, other, d.ID, d.Seq)
		}
		seqs[d.Seq] = d.ID
	}
	for i := 0; i < 2000; i += 97 {
		id, found := fmt.Sprint("id-", i), false
		if have[id] == "" {
			continue
		}
		for m, err := range db.Search(t.Context(), Doc{Text: have[id]}, Jaccard(0.99).Estimated(), nil) {
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			found = found || m.ID == id
		}
		if !found {
			t.Errorf("%s: %s is not found by its text", what, id)
		}
	}
}

// createFS calls a function before a file is created in a folder.
type createFS struct {
	vfs.FS
	creating func(name string)
}

type createRoot struct {
	vfs.Root
	creating func(name string)
}

func (f createFS) OpenRoot(dir string) (vfs.Root, error) {
	r, err := f.FS.OpenRoot(dir)
	return createRoot{r, f.creating}, err
}

func (r createRoot) Create(name string) (vfs.File, error) {
	r.creating(name)
	return r.Root.Create(name)
}

// TestRepairBesideWrites deletes and replaces documents of a damaged table while Repair rebuilds it.
func TestRepairBesideWrites(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "x.simdb")
	have := sectionsDatabase(t, path)
	for what := range flipEach(t, path, "run 1", 0) {
		var db *DB
		armed := false
		fs := createFS{vfs.Disk, func(name string) {
			if !armed || !strings.HasSuffix(name, ".sst.tmp") {
				return
			}
			armed = false
			for i := 2; i < 1500; i += 20 {
				d := sectionsDoc(fmt.Sprint("id-", i), 7)
				have[d.ID] = d.Text
				delete(have, fmt.Sprint("id-", i+1))
				if err := errors.Join(db.Put(ctx, d), db.Delete(ctx, fmt.Sprint("id-", i+1))); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
		}}
		db = must.Get(Open(path, &Options{fs: fs, DisableAutoCompaction: true}))(t)
		must.Do(t, db.Flush(ctx))
		armed = true
		if r := must.Get(db.Repair(ctx, nil))(t); r.Tables != 1 || r.Lost > 0 || armed {
			t.Errorf("%s: %+v", what, r)
		}
		repaired(t, what, db, have)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		db = must.Get(Open(path, nil))(t)
		defer db.Close()
		repaired(t, what+", reopened", db, have)
	}
}

// TestRepairGiven damages fingerprints that were given, not computed from the texts: they must not be
// replaced by those of the texts.
func TestRepairGiven(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "x.simdb")
	db := must.Get(Create(path, nil))(t)
	var docs []Doc
	for i := range 600 {
		docs = append(docs, Doc{ID: fmt.Sprint(i), Text: fmt.Sprint("text ", i), Fingerprints: []Fingerprint{{uint64(i) * 0x9e3779b97f4a7c15}}})
	}
	loadStored(t, db, docs...)
	must.Do(t, db.Close())
	for what := range flipEach(t, path, "run 0", 0) {
		db := must.Get(Open(path, nil))(t)
		if r := must.Get(db.Repair(ctx, nil))(t); r.Tables > 0 || r.Lost == 0 || r.Lost > 512 {
			t.Errorf("%s: %+v", what, r)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
