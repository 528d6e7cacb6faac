package query

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/syntax"
)

// Every form of statement runs on a database of every kind. Its context ends at each point where
// the statement checks it and at each file operation; each file operation fails; bytes of tables
// are damaged. The statement must not panic. It must either return an error, or say and do the same
// as without the failure. If its context ended it, it must have done nothing.

// forms returns statements of every form that the tables of predicates and statements document.
func forms() (all []string) {
	written := strings.NewReplacer("what", "'c'", ", k)", ", 6)", ", n)", ", 3)", ", t)", ", 0.5)", "'x%'", "'%'", "(...)", "('a')", ", ...", ", 0xff",
		"30d", "5h", "2d", "3h", "{...}", `{"id": "new", "text": "alpha beta gamma delta"}`, "NEAR 3", "...", "NEAR k", "...", "` *query*", " *query*")
	var queries, criteria []string
	for _, d := range predicate.Definitions {
		for _, r := range d.Docs {
			queries = append(queries, strings.Split(written.Replace(r.Syntax), "`, `")...)
		}
		switch {
		case d.Criterion != nil && d.Measure == predicate.Distance:
			criteria = append(criteria, d.Word+" 6")
		case d.Criterion != nil:
			criteria = append(criteria, d.Word+" 0.5")
		}
		if d.Bind != nil {
			queries = append(queries, strings.Replace(d.Example, "'a'", "TEXT 'alpha beta gamma delta epsilon'", 1))
		}
	}
	for _, d := range statementDefs {
		for _, r := range d.docs {
			for _, form := range strings.Split(written.Replace(r.Syntax), "`, `") {
				before, query := strings.CutSuffix(form, "*query*")
				before, criterion := strings.CutSuffix(before, "...")
				switch {
				case query:
					for _, q := range queries {
						all = append(all, before+q)
					}
				case criterion:
					for _, c := range criteria {
						all = append(all, before+c)
					}
				case check(form) == nil:
					all = append(all, form)
				}
			}
		}
	}
	for _, q := range queries {
		all = append(all, q, q+" SHOW *", "ID LIKE '%' AND NOT ("+q+" OR ID = 'e') SHOW id, text, lang, time")
	}
	for _, c := range criteria {
		all = append(all, "CLUSTERS "+c+" SHOW *", "CLUSTERS "+c+" ESTIMATE", "CLUSTER OF 'c' "+c+" LIMIT 2",
			"PAIRS "+c+" AND a.lang != b.lang SHOW *", "PAIRS "+c+" ESTIMATE LIMIT 3 OFFSET 1", "CLUSTER OF 'c' "+c+" ESTIMATE")
	}
	return append(all, "ID LIKE '%' VERIFY", "JACCARD('c', 0.5) SINCE 3h ESTIMATE ORDER BY score DESC, id, time LIMIT 9 OFFSET 1", "NEAR('c', 30) ORDER BY distance LIMIT 3",
		"PUT "+`{"id": "new", "text": "alpha"} UNLESS JACCARD 0.5 ESTIMATE`, "GET 'c' SHOW *", "COUNT lang = 'en' BY lang LIMIT 2", "ORDER BY lang DESC, fields.x", "text LIKE '%!%' ESCAPE '!' OR draft = TRUE", "SHOW * LIMIT 2000")
}

// TestFormsAreComplete checks that each word, statement and part of the grammar is in a form.
func TestFormsAreComplete(t *testing.T) {
	parts := map[string]bool{}
	var walk func(v reflect.Value, typ reflect.Type)
	walk = func(v reflect.Value, typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice:
			if typ.Kind() == reflect.Slice && v.IsValid() {
				for i := range v.Len() {
					walk(v.Index(i), typ.Elem())
				}
			} else if v.IsValid() && !v.IsNil() {
				walk(v.Elem(), typ.Elem())
			} else if !v.IsValid() {
				walk(v, typ.Elem())
			}
		case reflect.Struct:
			for i := range typ.NumField() {
				f := typ.Field(i)
				name := typ.Name() + "." + f.Name
				if _, rule := f.Tag.Lookup("parser"); !rule {
					continue
				}
				var of reflect.Value
				if v.IsValid() {
					of = v.Field(i)
				}
				if _, known := parts[name]; !known || of.IsValid() {
					parts[name] = parts[name] || of.IsValid() && !of.IsZero()
					walk(of, f.Type)
				}
			}
		}
	}
	walk(reflect.Value{}, reflect.TypeFor[syntax.Statement]())
	words, statements := map[string]bool{}, map[string]bool{}
	for _, text := range forms() {
		p, err := parse(text)
		if err != nil {
			t.Errorf("%s\n%s", text, detail(err))
			continue
		}
		statements[p.def.word] = true
		walk(reflect.ValueOf(p.Statement), reflect.TypeOf(p.Statement))
		for _, w := range strings.FieldsFunc(strings.ToUpper(text), func(r rune) bool { return r < 'A' || r > 'Z' }) {
			words[w] = true
		}
	}
	for _, d := range statementDefs {
		if !statements[d.word] {
			t.Errorf("no form is a %q", d.word)
		}
	}
	for _, w := range language.Keywords() {
		if !words[w] {
			t.Errorf("no form has %s", w)
		}
	}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		if !parts[part] {
			t.Errorf("no form has %s of the grammar", part)
		}
	}
	t.Logf("%d forms, %d parts of the grammar", len(forms()), len(parts))
}

// A formKind is a kind of database, and a database of that kind.
type formKind struct {
	name string
	o    engine.Options
	mem  *vfstest.Mem
}

// formKinds returns a database of every kind, with two tables, a log, tombstones and allowed pairs.
// Until the test ends, databases open in the file system that vfs.Disk is set to.
func formKinds(t *testing.T) []formKind {
	disk := vfs.Disk
	t.Cleanup(func() { vfs.Disk = disk })
	all := []formKind{
		{name: "plain"}, {name: "several", o: engine.Options{Features: engine.Features{Several: true}}}, {name: "wide", o: engine.Options{Bits: 256}},
		{name: "containment", o: engine.Options{Containment: true}}, {name: "indexed", o: engine.Options{Index: []string{"lang", "stars", "meta.lang"}}},
		{name: "no texts", o: engine.Options{NoText: true}}, {name: "expiring", o: engine.Options{TTL: 24 * time.Hour}},
	}
	dir, now := t.TempDir(), time.Now()
	for i := range all {
		k := &all[i]
		k.mem, k.o.DisableAutoCompaction, k.o.Memory = vfstest.NewMem(dir), true, 4<<20
		vfs.Disk = k.mem
		db, err := engine.Open("/db", &k.o)
		for n, id := range []string{"a", "b", "c", "d", "e", "c", "f", "g", "h", "d", "k"} {
			d := engine.Doc{ID: id, Time: now.Add(time.Duration(n-10) * 30 * time.Minute),
				Text:   fmt.Sprintf("alpha beta gamma delta epsilon zeta eta theta word%d iota kappa lambda mu nu", n%4),
				Fields: fmt.Appendf(nil, `{"lang":"%s","stars":%d,"draft":false,"url":"http://%s","meta":{"lang":"%d"}}`, []string{"en", "de"}[n%2], n, id, n)}
			if k.o.Features.Several {
				d.Fingerprints = []engine.Fingerprint{{uint64(n)}, {255}}[:n%3]
			}
			if err == nil {
				err = db.Put(t.Context(), d)
			}
			if err == nil && n%5 == 4 {
				err = errors.Join(db.Delete(t.Context(), []string{"b", "g"}[n/9]), db.Flush(t.Context()))
			}
		}
		if err = errors.Join(err, db.SetAllowed(t.Context(), true, engine.Pair{A: "a", B: "b"}), db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

var errInjected = fmt.Errorf("injected: %w", syscall.EIO)

// said returns the output of a statement, with its error. An error of damage, of the context or of
// an injected failure is returned as failed instead.
func said(ctx context.Context, db *engine.DB, text string) (out string, failed error) {
	var s Session
	defer s.Close()
	p, err := parse(text)
	if err != nil {
		return "", err
	}
	if p.def.word == "COMMIT" || p.def.word == "ROLLBACK" {
		for _, text := range []string{"BEGIN", `PUT {"id":"new"}`, "DELETE 'a'"} {
			if _, err := s.Run(context.Background(), db, text); err != nil {
				return "", err
			}
		}
	}
	rows, err := s.Run(ctx, db, text)
	if err == nil {
		out = rows.Message()
		for row, failed := range rows.All() {
			if err = failed; err == nil {
				out += fmt.Sprintf("%s\n", fmt.Sprint(row...))
			}
		}
	}
	_, damaged := errors.AsType[*engine.CorruptionError](err)
	if damaged || errors.Is(err, context.Canceled) || errors.Is(err, errInjected) || errors.Is(err, engine.ErrFailed) {
		return out, err
	}
	if p.def.word == "EXPLAIN" { // its output contains measured times
		out = ""
	}
	return out + fmt.Sprint(err), nil
}

// stored returns the whole content of a database.
func stored(db *engine.DB) (string, error) {
	all := ""
	for d, err := range db.Range(context.Background(), engine.Range{Load: true}) {
		if err != nil {
			return "", err
		}
		all += fmt.Sprintln(d.ID, d.Text, string(d.Fields), d.Fingerprints)
	}
	r, err := db.Check(context.Background(), nil)
	if err == nil && len(r.Problems) > 0 {
		err = r.Problems[0]
	}
	return all, err
}

// A formRun is the output and the effect of a statement.
type formRun struct {
	out           string
	before, after string // the whole content of the database
}

// run runs a statement on a copy of the database. It returns an error if the statement behaves
// wrongly, judged by want, the run without a failure; want is nil in that run itself.
func (k *formKind) run(ctx context.Context, text string, inject func(vfstest.Op) error, want *formRun) (r formRun, err error) {
	mem := k.mem.KillClone()
	defer mem.Discard()
	fs := vfstest.NewFaulty(mem, nil)
	vfs.Disk = fs
	db, err := engine.Open("/db", &k.o)
	if err != nil {
		return r, err
	}
	defer func() { db.Close() }()
	if want == nil {
		if r.before, err = stored(db); err != nil {
			return r, err
		}
	}
	fs.SetInject(inject)
	var failed error
	r.out, failed = said(ctx, db, text)
	fs.SetInject(nil)
	if want == nil {
		r.after, err = stored(db)
		return r, errors.Join(failed, err)
	}
	if failed == nil && r.out != want.out {
		return r, fmt.Errorf("it says\n%s\nwant\n%s", r.out, want.out)
	}
	if errors.Is(failed, context.Canceled) && want.before == want.after {
		if out, err := said(context.Background(), db, text); err != nil || out != want.out {
			return r, fmt.Errorf("again it says %w\n%s\nwant\n%s", err, out, want.out)
		}
	}
	for _, process := range []string{"the same process", "the next process"} {
		r.after, err = stored(db)
		was, done := r.after == want.before, r.after == want.after
		switch {
		case err != nil:
			return r, fmt.Errorf("in %s: %w", process, err)
		case failed == nil && !done, errors.Is(failed, context.Canceled) && !was, !was && !done:
			return r, fmt.Errorf("after %v %s finds\n%s\nwant\n%s", failed, process, r.after, want.after)
		}
		if db.Close(); process == "the same process" {
			if db, err = engine.Open("/db", &k.o); err != nil {
				return r, fmt.Errorf("opening it again: %w", err)
			}
		}
	}
	return r, nil
}

// TestStatementFails ends the context of every form at every check and file operation, and makes
// every file operation fail.
func TestStatementFails(t *testing.T) {
	pairs, ends, fails := exhaustive.Every(t, 10), exhaustive.Every(t, 30), exhaustive.Every(t, 8)
	pair, end, fail := 0, 0, 0
	for _, k := range formKinds(t) {
		for _, text := range forms() {
			if pair++; !pairs.Takes(pair) {
				continue
			}
			ctx, operations := exhaustive.EndAt(0), 0
			want, err := k.run(ctx, text, func(vfstest.Op) error { operations++; ctx.Look(); return nil }, nil)
			if err != nil {
				t.Fatalf("%s: %s: %v", k.name, text, err)
			}
			for n := range ctx.Looks() {
				if end++; !ends.Takes(end) {
					continue
				}
				ctx := exhaustive.EndAt(n + 1)
				if _, err := k.run(ctx, text, func(vfstest.Op) error { ctx.Look(); return nil }, &want); err != nil {
					t.Errorf("%s: %s: the context ends at look %d: %v", k.name, text, n+1, err)
				}
			}
			for n := range operations {
				if fail++; !fails.Takes(fail) {
					continue
				}
				at := 0
				inject := func(vfstest.Op) error {
					if at++; at == n+1 {
						return errInjected
					}
					return nil
				}
				if _, err := k.run(t.Context(), text, inject, &want); err != nil {
					t.Errorf("%s: %s: file operation %d fails: %v", k.name, text, n+1, err)
				}
			}
		}
	}
	t.Logf("%d forms, %d looks and %d operations", pair, end, fail)
}

// TestRowsStop ends the context while the caller reads rows that are all in memory.
func TestRowsStop(t *testing.T) {
	vfs.Disk = formKinds(t)[0].mem
	db := must.Get(engine.Open("/db", nil))(t)
	defer db.Close()
	several := 0
	for _, text := range forms() {
		if slices.Contains([]string{"EXPLAIN", "WHY"}, strings.Fields(text)[0]) || front.Language.Writes(text, false) {
			continue // its few rows need no search
		}
		ctx, cancel := context.WithCancel(t.Context())
		if rows, err := Run(ctx, db, text); err == nil {
			n := int64(0)
			for range rows.All() {
				n++
			}
			if rows, err = Run(ctx, db, text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			read := 0
			for _, err = range rows.All() {
				if err == nil {
					read++
				}
				cancel()
			}
			if n > 1 && (!errors.Is(err, context.Canceled) || read != 1) {
				t.Errorf("%s: cancelled at its first row of %d, it went on to row %d: %v", text, n, read, err)
			}
			several += int(min(n, 2)) / 2
		}
		cancel()
	}
	t.Logf("%d forms have several rows", several)
}

// TestStatementDamage damages a byte of a table. Every form of statement that reads must say the
// same as with the undamaged table, or report the damage.
func TestStatementDamage(t *testing.T) {
	kinds := formKinds(t)
	cases, pairs, pair, found := exhaustive.Every(t, 1500), exhaustive.Every(t, 3), 0, 0
	for _, k := range kinds {
		var texts, wants []string
		for _, text := range forms() {
			if !front.Language.Writes(text, false) {
				texts = append(texts, text)
			}
		}
		names := must.Get(k.mem.List("/db"))(t)
		each := func(damage string, at int, fn func(db *engine.DB)) {
			mem := k.mem.KillClone()
			defer mem.Discard()
			whole, err := vfstest.ReadFile(mem, damage)
			if err == nil && at >= 0 {
				bytes := []byte(whole)
				bytes[at] ^= 0x5a
				err = errors.Join(mem.Remove(damage), vfstest.WriteFile(mem, damage, string(bytes)))
			}
			must.Do(t, err)
			vfs.Disk = mem
			if db, err := engine.Open("/db", &k.o); err == nil {
				fn(db)
				db.Close()
			} else if _, damaged := errors.AsType[*engine.CorruptionError](err); !damaged {
				t.Errorf("%s: byte %d of %s: %v", k.name, at, damage, err)
			}
		}
		for _, name := range names {
			if !strings.HasSuffix(name, ".sst") {
				continue
			}
			name = "/db/" + name
			if wants == nil {
				each(name, -1, func(db *engine.DB) {
					for _, text := range texts {
						want, err := said(t.Context(), db, text)
						if wants = append(wants, want); err != nil {
							t.Errorf("%s: %s: %v", k.name, text, err)
						}
					}
				})
			}
			info := must.Get(k.mem.Stat(name))(t)
			for at := range cases.Of(int(info.Size)) {
				each(name, at, func(db *engine.DB) {
					for i, text := range texts {
						if pair++; !pairs.Takes(pair) {
							continue
						}
						out, err := said(t.Context(), db, text)
						if err != nil {
							found++
						} else if out != wants[i] {
							t.Errorf("%s: %s: byte %d of %s: it says\n%s\nwant\n%s", k.name, text, at, name, out, wants[i])
						}
					}
				})
			}
		}
	}
	t.Logf("%d statements, %d of those tried say what is damaged", pair, found)
}
