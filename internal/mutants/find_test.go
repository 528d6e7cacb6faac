package mutants

import (
	"go/token"
	"strings"
	"testing"
)

// sample has the constructs that edits search for, some twice.
const sample = `package sample

func (db *DB) flush(table File) (err error) {
	// A comment, and a statement over two lines.
	if err = db.write(
		table,
	); err == nil && !db.closed {
		err = table.Sync()
	}
	defer table.Close()
	db.log.Flush()
	return err
}

func other(f File) error { return f.Sync() }

var defs = []def{
	{word: "FLUSH", writes: true},
	{word: "STATS"},
}
`

func parseSample(t *testing.T, source string) *tree {
	t.Helper()
	src := &tree{fset: token.NewFileSet()}
	if err := src.parse("store/internal", "sample.go", []byte(source)); err != nil {
		t.Fatal(err)
	}
	return src
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		decl string
		edit edit
		want string // a part of the mutated file, "" if there is no place
	}{
		{"DB.flush", skip("Sync"), "err = func() error { if false { return table.Sync() }; return nil }()"},
		{"flush", skip("table.Sync"), "return table.Sync() }; return nil }()"},
		{"DB.flush", skip("log.Flush"), "func() { if false { db.log.Flush() } }()\n"},
		{"DB.flush", skip("Close"), "defer func() { if false { table.Close() } }()\n"},
		{"DB.flush", skip("db.Sync"), ""},
		{"DB.flush", never("err == nil"), "(false && (err == nil)) && !db.closed"},
		{"DB.flush", always("!db.closed"), "(true || (!db.closed)) {"},
		{"DB.flush", never("db.closed"), "!(false && (db.closed))"},
		{"DB.flush", never("nil"), ""},
		{"DB.flush", drop("db.log.Flush()"), "Close()\n\t\n\treturn err"},
		{"DB.flush", swap("db.write(table); err == nil", "db.write(nil); err != nil"), "if err = db.write(nil); err != nil && !db"},
		{"DB.flush", swap("if e = s.write(t)", "if e = s.writeAll(t)"), "if err = db.writeAll(table)"}, // other names
		{"DB.flush", swap("x = x.Sync()", "x = nil"), ""},                                              // two names for one variable
		{"DB.flush", swap("db.log.Close()", ""), ""},
		{"DB.flush", swap("db.Log.flush()", "db.Log.sync()"), "db.log.sync()"}, // exported or not
		{"other", skip("Sync"), "func other(f File) error { return func() error { if false { return f.Sync() }; return nil }() }"},
		{"renamed", skip("f.Sync"), "func other(f File) error { return func() error"}, // unique among all declarations
		{"renamed", skip("Sync"), ""},                                                 // not unique
		{"defs", swap(`word: "FLUSH", writes: true`, `word: "FLUSH"`), `{word: "FLUSH"},`},
	} {
		src := parseSample(t, sample)
		found := c.edit.places(src, src.find("store", c.decl))
		switch {
		case c.want == "" && len(found) == 1:
			t.Errorf("%s: %v finds %q", c.decl, c.edit, found[0].d.src[found[0].start:found[0].end])
		case c.want != "" && len(found) != 1:
			t.Errorf("%s: %v finds %d places", c.decl, c.edit, len(found))
		case c.want != "" && !strings.Contains(found[0].mutated(), c.want):
			t.Errorf("%s: %v makes\n%s\nwithout\n%s", c.decl, c.edit, found[0].mutated(), c.want)
		}
	}
}

// TestFind checks that a declaration is found in the subdirectories of a directory, but nowhere
// else.
func TestFind(t *testing.T) {
	src := parseSample(t, sample)
	for in, want := range map[string]int{"store": 1, "store/internal": 1, "sto": 0, "store/internal/x": 0} {
		if got := len(src.find(in, "DB.flush")); got != want {
			t.Errorf("in %s: %d", in, got)
		}
	}
	for name, want := range map[string]int{"Other.flush": 1, "dB.Flush": 1, "Other.rename": len(src.decls)} {
		if got := src.find("store", name); len(got) != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestPackages checks that the tests that must fail are found by their names.
func TestPackages(t *testing.T) {
	src, err := source()
	if err != nil {
		t.Fatal(err)
	}
	if found, err := src.packages("internal", "^TestPackages$"); err != nil || len(found) != 1 || found[0] != "./internal/mutants" {
		t.Errorf("%q, %v", found, err)
	}
	if found, err := src.packages("internal/vfs", "^TestPackages$"); err == nil {
		t.Errorf("%q", found)
	}
}
