package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/internal/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// check returns the error in the form of a statement.
func check(text string) error {
	_, err := Prepare(text)
	return err
}

func putAll(t testing.TB, db *engine.DB, fps map[string]uint64) {
	t.Helper()
	for id, fp := range fps {
		must.Do(t, db.Put(t.Context(), engine.Doc{ID: id, Fingerprints: []engine.Fingerprint{{fp}}, Time: time.Unix(1000, 0)}))
	}
}

func TestParameters(t *testing.T) {
	db := openTest(t, nil)
	putAll(t, db, map[string]uint64{"a": 0xff, "b": 0xfe, "c": 0xf0})
	now := time.Now()
	for _, tc := range []struct {
		text string
		args []any
		want string
	}{
		{"NEAR(?, ?)", []any{uint64(0xff), 1}, "[[a 0] [b 1]]"},
		{"NEAR(?, $k)", []any{"a", Named{"k", int64(1)}}, "[[b 1]]"},
		{"NEAR(?, 0)", []any{-1}, "[]"},
		{"NEAR($a, $k) OR ID = $a", []any{Named{"$a", "a"}, Named{"k", uint8(1)}}, "[[b 1] [a <nil>]]"},
		{"NEAR(?, 64) LIMIT ? OFFSET ?", []any{0xff, 1, 1}, "[[b 1]]"},
		{"ID LIKE ? AND ID != ?", []any{"%", []byte("b")}, "[[a] [c]]"},
		{"ID LIKE '%' SINCE ?", []any{time.Unix(1001, 0)}, "[]"},
		{"ID LIKE 'a' SINCE ?", []any{now.Sub(time.Unix(0, 0))}, "[[a]]"},
		{"NEAR(?, 64) -- ? in a comment", []any{Text(" ")}, "[]"},
		{"NEAR(TEXT ?, 64)", []any{" "}, "[]"},
		{"ID = '?' OR ID = ?", []any{"c"}, "[[c]]"},
	} {
		rows, err := Run(t.Context(), db, tc.text, tc.args...)
		if err != nil {
			t.Errorf("%s: %s", tc.text, detail(err))
			continue
		}
		if got := fmt.Sprint(append([]Row{}, read(t, rows)...)); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.text, got, tc.want)
		}
	}
	for _, tc := range []struct {
		text string
		args []any
		want string
	}{
		{"NEAR(?, 3)", nil, "parameter 1 has no value"},
		{"NEAR(?, ?)", []any{"a"}, "parameter 2 has no value"},
		{"NEAR('a', 3)", []any{1, 2}, "2 values are given, but the statement has 0 ?"},
		{"NEAR($id, 3)", []any{Named{"ID", "a"}}, "parameter $id has no value"},
		{"NEAR(?, 3)", []any{3.5}, "the value of parameter ? should be a fingerprint"},
		{"NEAR(?, 3)", []any{true}, "the value of parameter ? should be a fingerprint"},
		{"NEAR('a', ?)", []any{"3"}, "the value of parameter ? should be a whole number"},
		{"NEAR('a', ?)", []any{1.5}, "the value of parameter ? should be a whole number"},
		{"NEAR('a', ?)", []any{65}, "k is 0..64, not 65"},
		{"NEAR(?, 3)", []any{struct{}{}}, "the unsupported type struct {}"},
		{"NEAR(?, 3)", []any{(*engine.Doc)(nil)}, "the unsupported type *engine.Doc"},
		{"GET ?", []any{7}, "should be a document id in quotes"},
	} {
		_, err := Run(t.Context(), db, tc.text, tc.args...)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.text, err, tc.want)
		}
	}
}

func TestPutParameters(t *testing.T) {
	db := openTest(t, nil)
	fp := uint64(7)
	for i, doc := range []any{
		engine.Doc{ID: "d0", Fingerprints: []engine.Fingerprint{{fp}}}, &engine.Doc{ID: "d1", Fingerprints: []engine.Fingerprint{{fp}}}, json.RawMessage(`{"id": "d2", "fingerprint": 7}`),
		`{"id": "d3", "fingerprint": "7"}`, map[string]any{"id": "d4", "fingerprint": "0x7"},
	} {
		rows, err := Run(t.Context(), db, "PUT ?", doc)
		if err != nil || rows.Message() != "stored" {
			t.Fatalf("%v: %v", doc, err)
		}
		e, err := db.Get(t.Context(), fmt.Sprint("d", i))
		if err != nil || e.Fingerprints[0][0] != 7 {
			t.Errorf("%v: %+v, %v", doc, e, err)
		}
	}
}

// PUT accepts the JSON of a document that GET shows.
func TestGetPutRoundTrip(t *testing.T) {
	db := openTest(t, nil)
	fp := uint64(0x0123456789abcdef)
	want := engine.Doc{ID: "it's \"1\"\n", Text: "some\twords \u2028 é", Fields: json.RawMessage(`{"x":[1.50,null,"y"]}`), Fingerprints: []engine.Fingerprint{{fp}},
		Time: time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)}
	must.Get(Run(t.Context(), db, "PUT ?", want))(t)
	rows, err := Run(t.Context(), db, "GET ?", want.ID)
	must.Do(t, err)
	row := read(t, rows)[0]
	object := make(map[string]any)
	for i, c := range rows.Columns() {
		object[c] = row[i]
	}
	object["fingerprint"] = fmt.Sprintf("%016x", object["fingerprint"])
	must.Get(Run(t.Context(), db, "DELETE ?", want.ID))(t)
	must.Get(Run(t.Context(), db, "PUT ?", object))(t)
	got, err := db.Get(t.Context(), want.ID)
	if err != nil || got.Text != want.Text || string(got.Fields) != string(want.Fields) || got.Fingerprints[0][0] != fp || !got.Time.Equal(want.Time) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Rows show the state of the database when the statement began, and pin it only until they are
// closed.
func TestSnapshot(t *testing.T) {
	db := openTest(t, nil)
	putAll(t, db, map[string]uint64{"a": 1, "b": 1, "c": 1})
	rows := must.Get(Run(t.Context(), db, "NEAR(1, 0)"))(t)
	must.Get(Run(t.Context(), db, "DELETE WHERE ID LIKE '%'"))(t)
	if got := read(t, rows); len(got) != 3 {
		t.Errorf("%v", got)
	}
	if s := rows.Stats(); s.Candidates == 0 || s.Matches != 3 {
		t.Errorf("%+v", s)
	}
	if len(read(t, rows)) != 0 || rows.Close() != nil {
		t.Error("rows after the end")
	}
}

// Reading may stop early, by break or by Close, or never begin; goleak checks that no goroutine
// remains.
func TestStopsEarly(t *testing.T) {
	db := openTest(t, nil)
	putAll(t, db, map[string]uint64{"a": 1, "b": 1, "c": 1})
	for _, text := range []string{"NEAR(1, 0)", "NEAR(1, 0) ORDER BY id DESC", "ID LIKE '%'", "NEAREST(1, 3)", "PAIRS NEAR 3", "CLUSTERS NEAR 3", "COUNT"} {
		rows, err := Run(t.Context(), db, text)
		must.Do(t, err)
		for range rows.All() {
			break
		}
		if rows, err = Run(t.Context(), db, text); err != nil {
			t.Fatal(err)
		}
		n := 0
		for range rows.All() {
			n++
			rows.Close()
		}
		if n == 0 || len(read(t, rows)) > 0 {
			t.Errorf("%s: %d rows, and others after Close", text, n)
		}
		if rows, err = Run(t.Context(), db, text); err != nil || rows.Close() != nil {
			t.Fatal(err)
		}
	}
}

// Errors of the engine remain the same for errors.Is, and get a class.
func TestErrorClasses(t *testing.T) {
	db := openTest(t, nil)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	first := func(ctx context.Context, db *engine.DB, text string) error {
		rows, err := Run(ctx, db, text)
		if err != nil {
			return err
		}
		for _, err := range rows.All() {
			if err != nil {
				return err
			}
		}
		return nil
	}
	putAll(t, db, map[string]uint64{"a": 1})
	closed := must.Get(engine.Open(t.TempDir()+"/closed.simdb", nil))(t)
	must.Do(t, closed.Close())
	for _, tc := range []struct {
		err   error
		is    error
		class string
	}{
		{first(t.Context(), db, "GET 'nobody'"), engine.ErrNotFound, ClassNotFound},
		{first(t.Context(), db, "DELETE 'nobody'"), engine.ErrNotFound, ClassNotFound},
		{first(t.Context(), db, "NEAR('nobody', 3)"), engine.ErrNotFound, ClassNotFound},
		{first(cancelled, db, "ID LIKE '%'"), context.Canceled, classCancelled},
		{first(t.Context(), closed, "NEAR(1, 3)"), engine.ErrClosed, classOther},
		{first(t.Context(), db, `PUT {"id": "`+strings.Repeat("x", 70000)+`"}`), engine.ErrTooLarge, ClassParameter},
		{first(t.Context(), openTest(t, &engine.Options{NoSketch: true}), "JACCARD(TEXT 'a b c', 0.8)"), engine.ErrNoSketches, ClassParameter},
		{fmt.Errorf("x: %w", engine.ErrReadOnly), engine.ErrReadOnly, classReadOnly},
		{fmt.Errorf("x: %w", engine.ErrLocked), engine.ErrLocked, classLocked},
		{&engine.CorruptionError{File: "x", Err: errors.New("bad")}, engine.ErrCorruption, classCorruption},
	} {
		if !errors.Is(tc.err, tc.is) || class(tc.err) != tc.class {
			t.Errorf("%v: class %q, want %q and %v", tc.err, class(tc.err), tc.class, tc.is)
		}
		if !strings.HasPrefix(detail(tc.err), tc.class+": ") {
			t.Errorf("shown as %q", detail(tc.err))
		}
	}
}

// The error that the interface's contract specifies, letter by letter.
func TestErrorFormat(t *testing.T) {
	err := check("NEER(0xff, 3)")
	const want = "Parse error: unknown predicate \"NEER\", did you mean NEAR?\n  NEER(0xff, 3)\n  ^"
	if got := detail(err); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	e, ok := errors.AsType[*ParseError](check("NEAR('é', 3)\n  AND @"))
	if !ok || e.Line != 2 || e.Column != 7 || e.Offset != 20 {
		t.Errorf("%+v", e)
	}
}

// Statements with the same text share the parse result, concurrently and with different arguments.
func TestSharedStatement(t *testing.T) {
	db := openTest(t, nil)
	putAll(t, db, map[string]uint64{"a": 0, "b": 1, "c": 3, "d": 7})
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			for range 200 {
				rows, err := Run(context.Background(), db, "(SINCE 90000d OR NOT ID LIKE 'x') AND NEAR(?, ?) AND NOT ID = 'b'", uint64(0), k%4)
				if err != nil {
					t.Error(err)
					return
				}
				n := 0
				for range rows.All() {
					n++
				}
				if want := []int{1, 1, 2, 3}[k%4]; n != want {
					t.Errorf("k = %d: %d rows, want %d", k%4, n, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkNear(b *testing.B) {
	db := openTest(b, nil)
	for i := range 1000 {
		fp := uint64(i) * 0x9e3779b97f4a7c15
		must.Do(b, db.Put(b.Context(), engine.Doc{ID: fmt.Sprint(i), Fingerprints: []engine.Fingerprint{{fp}}}))
	}
	for b.Loop() {
		rows := must.Get(Run(b.Context(), db, "NEAR(?, 3) LIMIT 10", uint64(1)))(b)
		for _, err := range rows.All() {
			must.Do(b, err)
		}
	}
}

// A Literal has the value that a statement would have in place of the parameter.
func TestLiteral(t *testing.T) {
	db := openTest(t, nil)
	for _, id := range []string{"a", "it's", "12"} {
		must.Do(t, db.Put(t.Context(), engine.Doc{ID: id, Text: "one two three", Fields: []byte(`{"n":12,"s":"12"}`)}))
	}
	for _, c := range []struct {
		statement, value string
		rows             int // -1 for an error
	}{
		{"NEAR($x, 0)", "a", 2}, {"NEAR($x, 0)", "'12'", 2}, {"NEAR($x, 0)", "it's", 2}, {"NEAR($x, 0)", "'it''s'", 2}, {"NEAR($x, 64)", "0xff", 3},
		{"NEAR('a', $x)", "0", 2}, {"NEAR('a', $x)", "x", -1}, {"JACCARD('a', $x)", "80%", 2}, {"SINCE $x", "2d", 3}, {"GET $x", "'12'", 1},
		{"n = $x", "12", 3}, {"n = $x", "13", 0}, {"s LIKE $x", "'1%'", 3}, {"ID = $x", "a b", 0}, {"GET $x", "$y", -1}, {"NEAR(TEXT $x, 0)", "One; TWO three", 3},
	} {
		for statement, arg := range map[string]any{c.statement: Named{"x", front.Literal(c.value)}, strings.Replace(c.statement, "$x", "?", 1): front.Literal(c.value)} {
			rows, err := Run(t.Context(), db, statement, arg)
			n := -1
			if err == nil {
				n = len(read(t, rows))
			}
			if n != c.rows {
				t.Errorf("%s with %s: %d rows, %v, want %d", statement, c.value, n, err, c.rows)
			}
		}
	}
}
