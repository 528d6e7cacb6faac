package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

func TestIdentify(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	db, err := Create(at("x.simdb"), nil)
	must.Do(t, err)
	put(t, db, "a", 7)
	must.Do(t, db.Flush(t.Context()))
	put(t, db, "b", 7)
	must.Do(t, db.Pack(t.Context(), at("packed"), nil))
	put(t, db, "c", 7)
	must.Do(t, db.Close())
	copied := func(pattern, to string, cut int) {
		names, err := filepath.Glob(at(pattern))
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, err)
		}
		b, err := os.ReadFile(names[len(names)-1])
		if err == nil {
			err = os.WriteFile(at(to), b[cut:], 0o600)
		}
		must.Do(t, err)
	}
	copied("x.simdb/CATALOG", "catalog", 0)
	copied("x.simdb/*.wal", "log", 0)
	copied("packed", "headless", 8)
	for _, err := range []error{
		os.MkdirAll(at("folder/sub"), 0o700), os.WriteFile(at("folder/CATALOG"), []byte("of seeds"), 0o600),
		os.WriteFile(at("empty"), nil, 0o600), os.WriteFile(at("text"), []byte("text"), 0o600),
		os.MkdirAll(at("damaged"), 0o700), os.WriteFile(at("damaged/000001.sst"), nil, 0o600),
	} {
		must.Do(t, err)
	}
	many := Identifier()
	must.Do(t, os.Mkdir(at("new.simdb"), 0o700))
	if what, err := many(at("new.simdb/x")); what != "" || err != nil {
		t.Fatal(what, err)
	}
	for path, want := range map[string]string{
		"x.simdb": "a database", "x.simdb/CATALOG": "the catalog", "x.simdb/LOCK": "a file of the database", "x.simdb/new": "a file of the database",
		"damaged": "a database", "damaged/000001.sst": "a file of the database", "damaged/new": "a file of the database",
		"packed": "a table", "headless": "a table", "log": "a log", "catalog": "the catalog",
		"folder": "", "folder/CATALOG": "", "folder/new": "", "empty": "", "text": "", "none": "", "none/none": "",
	} {
		got, err := Identifier()(at(path))
		if err != nil || !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("%s is %q, %v; want %q", path, got, err, want)
		}
		for range 2 {
			if again, err := many(at(path)); again != got || err != nil {
				t.Errorf("%s is %q, %v for an Identifier; want %q", path, again, err, got)
			}
		}
	}
	// A database that is created in a listed folder is recognized.
	if db, err = Create(at("new.simdb"), nil); err != nil {
		t.Fatal(err)
	}
	must.Do(t, db.Close())
	if what, err := many(at("new.simdb/x")); !strings.HasPrefix(what, "a file of the database") || err != nil {
		t.Errorf("a file of a new database is %q, %v", what, err)
	}
}
