package outfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

func newGuard() *Guard { return &Guard{Identify: engine.Identifier()} }

// create starts to write a file with a new guard.
func create(t *testing.T, path string) (*Writer, error) {
	return newGuard().Create(t.Context(), "-o", path, Lines)
}

func TestCommit(t *testing.T) {
	dir := t.TempDir()
	gunzip := func(b []byte) ([]byte, error) {
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	}
	for name, decode := range map[string]func([]byte) ([]byte, error){
		"a.jsonl": func(b []byte) ([]byte, error) { return b, nil },
		"a.gz":    gunzip,
		"b.GZ":    gunzip,
		"a.zst": func(b []byte) ([]byte, error) {
			d, err := zstd.NewReader(nil)
			if err != nil {
				return nil, err
			}
			return d.DecodeAll(b, nil)
		},
	} {
		path := filepath.Join(dir, name)
		os.WriteFile(path, []byte("old"), 0o640)
		os.Chmod(path, 0o640) // independent of the umask
		w := must.Get(create(t, path))(t)
		io.WriteString(w, "hello\n")
		if b, _ := os.ReadFile(path); string(b) != "old" {
			t.Errorf("%s: %q before Commit", name, b)
		}
		must.Do(t, w.Commit())
		w.Abort()
		b, _ := os.ReadFile(path)
		if got, err := decode(b); err != nil || string(got) != "hello\n" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if st, _ := os.Stat(path); st.Mode().Perm() != 0o640 && runtime.GOOS != "windows" {
			t.Errorf("%s: mode %v", name, st.Mode())
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 4 {
		t.Errorf("files left: %v", left)
	}
}

// TestCommitIsDurable commits outputs in two folders. Both folders must be synced before Commit
// returns.
func TestCommitIsDurable(t *testing.T) {
	synced := map[string]int{}
	defer func(disk vfs.FS) { vfs.Disk = disk }(vfs.Disk)
	vfs.Disk = vfstest.NewFaulty(vfs.Disk, func(op vfstest.Op) error {
		if op.Kind == vfstest.OpSyncDir {
			synced[op.Name]++
		}
		return nil
	})
	var ws []*Writer
	dirs := []string{t.TempDir(), t.TempDir()}
	for i := range 4 {
		w := must.Get(create(t, filepath.Join(dirs[i%2], fmt.Sprint(i))))(t)
		ws = append(ws, w)
	}
	must.Do(t, Commit(ws...))
	for _, dir := range dirs {
		if synced[dir] != 1 {
			t.Errorf("%s: synced %d times", dir, synced[dir])
		}
	}
}

// TestHidden checks that a file has no name while it is written, where the system supports that, so
// that a killed process leaves nothing behind. A finished file has a temporary name, and a
// committed one only its own.
func TestHidden(t *testing.T) {
	dir := t.TempDir()
	probe, err := openUnnamed(dir)
	if err != nil {
		t.Skip("files here have names: ", err)
	}
	probe.Close()
	names := func(want ...string) {
		t.Helper()
		all, err := os.ReadDir(dir)
		if err != nil || len(all) != len(want) {
			t.Fatalf("%v in the folder, %v; %q is wanted", all, err, want)
		}
		for i, e := range all {
			if ok, _ := filepath.Match(want[i], e.Name()); !ok {
				t.Errorf("%s in the folder, not %s", e.Name(), want[i])
			}
		}
	}
	for _, commit := range []bool{false, true} {
		w := must.Get(create(t, filepath.Join(dir, "a.jsonl")))(t)
		io.WriteString(w, strings.Repeat("hello\n", 1<<17))
		names()
		must.Do(t, w.Finish())
		names(".simdb-*.tmp")
		if commit {
			must.Do(t, w.Commit())
			names("a.jsonl")
		}
		w.Abort()
		if !commit {
			names()
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a.jsonl")); err != nil || len(b) != 6<<17 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

func TestAbort(t *testing.T) {
	dir := t.TempDir()
	w := must.Get(create(t, filepath.Join(dir, "a")))(t)
	io.WriteString(w, "x")
	w.Abort()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("files left: %v", left)
	}
	if _, err := create(t, dir); err == nil {
		t.Error("a folder was opened")
	}
	if _, err := create(t, filepath.Join(dir, "none", "a")); err == nil || !strings.Contains(err.Error(), "there is no folder") {
		t.Errorf("a missing folder: %v", err)
	}
}

// If one of two files that are completed together fails, neither gets its name.
func TestCommitAllOrNone(t *testing.T) {
	dir := t.TempDir()
	a, errA := create(t, filepath.Join(dir, "a"))
	b, errB := create(t, filepath.Join(dir, "b"))
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	io.WriteString(a, "x")
	io.WriteString(b, "y")
	b.file.Close()
	if err := Commit(nil, a, b); err == nil {
		t.Error("no error")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("files left: %v", left)
	}
}

// A file that appears at the path of an output while that is written is checked before it is
// replaced.
func TestCommitLooksAgain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	w, err := create(t, path)
	must.Do(t, err)
	db, err := engine.Create(path, nil)
	must.Do(t, err)
	must.Do(t, db.Close())
	if err := w.Commit(); err == nil || !strings.Contains(err.Error(), "is a database") {
		t.Errorf("a database in the place: %v", err)
	}
	w, err = create(t, filepath.Join(dir, "b"))
	must.Do(t, err)
	w.guard.Uses(filepath.Join(path, "CATALOG"), "a catalog")
	if err := os.Link(filepath.Join(path, "CATALOG"), filepath.Join(dir, "b")); err != nil {
		t.Skip(err)
	}
	if err := w.Commit(); err == nil {
		t.Error("a hard link to a catalog was replaced")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) != 0 {
		t.Errorf("files left: %v", left)
	}
}

// The guard compares files by identity, not by name.
func TestClaim(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"in.jsonl", "plain", "other"} {
		must.Do(t, os.WriteFile(at(name), []byte("x"), 0o666))
	}
	for _, err := range []error{
		os.Mkdir(at("folder"), 0o777), os.Link(at("in.jsonl"), at("hard")), os.Symlink("in.jsonl", at("soft")),
		os.Symlink("plain", at("soft2")), os.Symlink("nothing", at("dangling")), os.Symlink("/dev/null", at("null")),
		os.Symlink(".", at("here")), os.MkdirAll(at("deep/er"), 0o777), os.Symlink("deep/er", at("down")),
		os.MkdirAll(at("db/sub"), 0o777), os.WriteFile(at("db/000001.sst"), nil, 0o666), os.Symlink("db/sub", at("inside")), os.WriteFile(at("table"), []byte("\x89SDB\r\n\x1a\n and more"), 0o666),
	} {
		if err != nil {
			t.Skip(err)
		}
	}
	if to, err := os.Readlink(at("soft")); err != nil || to != "in.jsonl" {
		t.Skipf("a symbolic link to in.jsonl leads to %q: %v", to, err) // Wine
	}
	g := newGuard()
	g.Uses(at("in.jsonl"), "an input file")
	g.Uses(at("new.simdb"), "the database")
	must.Do(t, g.Claim("-o", at("taken"), Lines))
	for path, want := range map[string]string{
		"in.jsonl": "would overwrite an input file", "hard": "would overwrite an input file", "soft": "would overwrite an input file",
		"folder/../in.jsonl": "would overwrite an input file", "here/in.jsonl": "would overwrite an input file",
		"soft2": "is a symbolic link", "dangling": "is a symbolic link", "folder": "is a folder", "new/": "is a folder",
		"none/x": "there is no folder", "plain/x": "not a directory", "table": "is a table", "taken": "are the same file",
		"here/taken": "are the same file", "inside/../new": "would be a file of the database",
		"down/../../taken": "are the same file", "down/../taken": "", "./taken": "are the same file", "new.simdb": "would overwrite the database",
		"plain": "", "null": "", "fresh": "", "x.parquet": "cannot write Parquet", "x.jsonl.bz2": "cannot write bzip2",
	} {
		err := g.Claim("--audit", dir+"/"+path, JSONLines)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", path, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, not %q", path, err, want)
		}
		g.Release("--audit")
	}
	if err := g.Claim("--audit", "-", JSONLines); err != nil {
		t.Error(err)
	}
	if err := g.Claim("--rejects", "/dev/stdout", JSONLines); err == nil || !strings.Contains(err.Error(), "both standard output") {
		t.Errorf("twice standard output: %v", err)
	}
}

func TestEndings(t *testing.T) {
	csv := LinesOf("CSV", ".csv")
	for _, c := range []struct {
		kind Kind
		name string
		want string // part of the error
	}{
		{Rows, "a.csv", ""}, {Rows, "a.JSONL.gz", ""}, {Rows, "a.tsv.zst", ""}, {Rows, "a", ""}, {Rows, "a.gz", ""}, {Rows, "a.json", ""},
		{Rows, "a.parquet", "cannot write Parquet: use .csv, .jsonl, .json, .tsv, with .gz or .zst"},
		{Rows, "a.sst", "cannot write a table"}, {Rows, "a.txt", "cannot write plain text"}, {Rows, "a.csv.bz2", "cannot write bzip2"},
		{Rows, "a.foo", `cannot write ".foo"`}, {AnyRows, "a.txt", ""}, {AnyRows, "a.foo", ""}, {AnyRows, "a.parquet", "cannot write Parquet"},
		{JSONLines, "a.jsonl.zst", ""}, {JSONLines, "a.csv", "cannot write CSV, because the output is JSON lines: use .jsonl, .json, with"},
		{csv, "a.csv.gz", ""}, {csv, "a.part", ""}, {csv, "a", ""}, {csv, "a.jsonl", "cannot write JSON lines, because the output is lines of CSV"},
		{csv, "a.xlsx", "cannot write Excel"},
		{Table, "a.sst", ""}, {Table, "a", "use .sst"}, {Table, "a.sst.gz", "not compressed"}, {Table, "a.csv", "cannot write CSV"},
	} {
		err := c.kind.checkEnding(c.name)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s as %s: %v, not %q", c.name, c.kind.what, err, c.want)
		}
	}
}

// A file that is already open is written at its current position, not from the beginning.
func TestDescriptor(t *testing.T) {
	f := must.Get(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	defer f.Close()
	io.WriteString(f, "before\n")
	path := fmt.Sprintf("/dev/fd/%d", f.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	w := must.Get(create(t, path))(t)
	io.WriteString(w, "rows\n")
	must.Do(t, w.Commit())
	if b, err := os.ReadFile(f.Name()); err != nil || string(b) != "before\nrows\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// A part of a compressed file can be read without the previous one, and all parts together are the
// file. An uncompressed file has no parts.
func TestEndPart(t *testing.T) {
	for _, ending := range []string{"", ".gz", ".zst"} {
		path := filepath.Join(t.TempDir(), "out.txt"+ending)
		w := must.Get(create(t, path))(t)
		for _, part := range []string{"one ", "", "two "} {
			must.Get(io.WriteString(w, part))(t)
			must.Do(t, w.EndPart())
		}
		must.Do(t, w.Commit())
		data := must.Get(os.ReadFile(path))(t)
		begin := map[string]string{"": "no", ".gz": "\x1f\x8b\x08", ".zst": "\x28\xb5\x2f\xfd"}[ending]
		second := max(0, strings.LastIndex(string(data), begin))
		if parts := strings.Count(string(data), begin); ending != "" && parts != 2 {
			t.Errorf("%q has %d parts", ending, parts)
		}
		if all, last := unpacked(t, ending, data), unpacked(t, ending, data[second:]); all != "one two " || ending != "" && last != "two " {
			t.Errorf("%q has %q, its second part %q", ending, all, last)
		}
	}
}

// unpacked returns the content of a file with this ending.
func unpacked(t *testing.T, ending string, data []byte) string {
	t.Helper()
	var r io.Reader = bytes.NewReader(data)
	var err error
	switch ending {
	case ".gz":
		r, err = gzip.NewReader(r)
	case ".zst":
		r, err = zstd.NewReader(r)
	}
	must.Do(t, err)
	all, err := io.ReadAll(r)
	must.Do(t, err)
	return string(all)
}

// Standard output that is redirected to an input, or to a file of a database that the run uses, is
// refused before anything is written.
func TestStandardOutput(t *testing.T) {
	dir := t.TempDir()
	db, err := engine.Create(filepath.Join(dir, "x.simdb"), nil)
	must.Do(t, err)
	must.Do(t, errors.Join(db.Put(t.Context(), engine.Doc{ID: "a", Text: "b"}), db.Flush(t.Context()), db.Close()))
	in := filepath.Join(dir, "in.jsonl")
	entries, err := os.ReadDir(db.Metrics().Path)
	if err = errors.Join(err, os.WriteFile(in, []byte("x"), 0o666)); err != nil {
		t.Fatal(err)
	}
	refused := map[string]string{in: "an input file", filepath.Join(dir, "out"): ""}
	for _, e := range entries {
		refused[filepath.Join(db.Metrics().Path, e.Name())] = "a file of the database"
	}
	if len(refused) < 5 { // including CATALOG, LOCK, and a table
		t.Fatal(refused)
	}
	defer func(stdout *os.File) { os.Stdout = stdout }(os.Stdout)
	for path, want := range refused {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o666)
		must.Do(t, err)
		g := newGuard()
		g.Uses(in, "an input file")
		g.Uses(db.Metrics().Path, "the database")
		os.Stdout = f
		err = g.Claim("--output", "-", Lines)
		f.Close()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), "standard output is "+want)) {
			t.Errorf("%s: %v, not %q", path, err, want)
		}
	}
}
