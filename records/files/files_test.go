package files

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records"
)

// makeFiles makes files in a new folder, which becomes the working directory. A file whose content
// begins with "-> " becomes a symbolic link.
func makeFiles(t *testing.T, files ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for i := 0; i < len(files); i += 2 {
		name, content := files[i], files[i+1]
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o777))
		var err error
		if to, link := strings.CutPrefix(content, "-> "); link {
			err = os.Symlink(to, name)
		} else {
			err = os.WriteFile(name, []byte(content), 0o666)
		}
		must.Do(t, err)
	}
}

// slashed converts a message of any system to its form on Unix.
func slashed(message string) string {
	message = strings.ReplaceAll(message, missing(), "no such file or directory")
	return strings.ReplaceAll(message, `\`, "/")
}

// missing returns this system's error message for a missing file.
func missing() string {
	_, err := os.Stat("no file has this name")
	return errors.Unwrap(err).Error()
}

// read returns the records of a list as "id=text" or "! issue".
func read(t *testing.T, tree *Tree, opt records.Options) (got []string) {
	t.Helper()
	src := must.Get(tree.Open(opt))(t)
	defer src.Close()
	for rec, err := range src.Records(context.Background()) {
		switch is, ok := errors.AsType[*records.Issue](err); {
		case ok:
			got = append(got, "! "+slashed(is.Error()))
		case err != nil:
			t.Fatal(err)
		default:
			got = append(got, rec.Doc.ID+"="+rec.Doc.Text)
		}
	}
	return got
}

func TestList(t *testing.T) {
	makeFiles(t,
		"d/b.txt", "b", "d/a.txt", "a", "d/sub/c.md", "c", "d/sub/deep/e.txt", "e", "d/.hidden", "h", "d/.dir/x", "x",
		"d/.git/config", "g", "d/CVS/Root", "r", "d/in", "-> a.txt", "d/out", "-> /etc/hosts", "d/sub/loop", "-> ..",
		"d/sub/deep/.simdbignore", "*.log\n", "d/sub/deep/f.log", "f", "other/z.txt", "z", "linked", "-> d", "[x].txt", "brackets",
	)
	for _, c := range []struct {
		args, exclude string
		hidden        bool
		want          string
	}{
		{args: "d", want: "d/a.txt d/b.txt d/sub/c.md d/sub/deep/e.txt"},
		{args: "./d/", want: "d/a.txt d/b.txt d/sub/c.md d/sub/deep/e.txt"},
		{args: "d", hidden: true, want: "d/.dir/x d/.hidden d/a.txt d/b.txt d/sub/c.md d/sub/deep/e.txt"},
		{args: "d/.git", want: "d/.git/config"},
		{args: "d/.hidden", want: "d/.hidden"},
		{args: "d/sub d", want: "d/sub/c.md d/sub/deep/e.txt d/a.txt d/b.txt"},
		{args: "other/z.txt d/a.txt other", want: "other/z.txt d/a.txt"},
		{args: "linked", want: "linked/a.txt linked/b.txt linked/sub/c.md linked/sub/deep/e.txt"},
		{args: "d/in", want: "d/in"},
		{args: "d", exclude: "*.txt !b.txt", want: "d/b.txt d/sub/c.md"},
		{args: "d", exclude: "sub/", want: "d/a.txt d/b.txt"},
		{args: "d", exclude: "/c.md", want: "d/a.txt d/b.txt d/sub/c.md d/sub/deep/e.txt"},
		{args: "d/a.txt d/sub/c.md", exclude: "*.md", want: "d/a.txt"},
		{args: "d/**/*.txt", want: "d/a.txt d/b.txt d/sub/deep/e.txt"},
		{args: "*/*.txt", want: "d/a.txt d/b.txt other/z.txt"},
		{args: "{d,other}/?.txt", want: "d/a.txt d/b.txt other/z.txt"},
		{args: "[x].txt", want: "[x].txt"},
	} {
		tree, err := List(strings.Fields(c.args), ListOptions{Exclude: strings.Fields(c.exclude), Hidden: c.hidden})
		if c.args == "linked" || c.args == "d/in" {
			if _, broken := os.Stat(c.args); broken != nil {
				t.Logf("%s: this system does not follow the link: %v", c.args, broken) // Wine
				continue
			}
		}
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		var got []string
		for _, e := range tree.entries {
			got = append(got, filepath.ToSlash(e.path))
		}
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.args, got, want)
		}
	}

	for _, c := range []struct{ arg, want string }{
		{"-", "- cannot be read"}, {"none", "none: no such file"}, {"d/*.pdf", "d/*.pdf: no file matches"}, {os.DevNull, "neither a file nor a folder"},
	} {
		if _, err := List([]string{c.arg}, ListOptions{}); err == nil || !strings.Contains(slashed(err.Error()), c.want) {
			t.Errorf("%s: %v", c.arg, err)
		}
	}
	if _, err := List([]string{"d"}, ListOptions{Exclude: []string{"["}}); err == nil {
		t.Error("a pattern that is none was accepted")
	}
}

// Every file of a list is a document, is an issue, or is counted.
func TestRecords(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write([]byte("packed"))
	w.Close()
	late := strings.Repeat("x", binaryBytes) + "\x00"
	makeFiles(t,
		"d/1.txt", "one\ntwo\n", "d/2.txt", "", "d/3.txt", "\xef\xbb\xbfbom", "d/4.bin", "a\x00b", "d/5.txt", late,
		"d/6.gz", z.String(), "d/7.gz", z.String()[:z.Len()-9], "d/8.txt", "caf\xe9",
	)
	must.Do(t, os.Truncate("d/1.txt", 7))
	big, err := os.Create("d/9.txt")
	must.Do(t, err)
	for range records.MaxRecord>>20 + 1 {
		big.Write(bytes.Repeat([]byte("x"), 1<<20))
	}
	big.Close()
	tree, err := List([]string{"d"}, ListOptions{})
	must.Do(t, err)
	want := []string{
		"d/1.txt=one\ntwo", "d/2.txt=", "d/3.txt=bom", "d/5.txt=" + late, "d/6.gz=packed",
		"! d/7.gz: the gzip data end too early, is the file truncated? (unexpected EOF)", "d/8.txt=caf\ufffd",
		"! d/9.txt: too large: 68157440 bytes; the limit of a document is 67108864",
	}
	if got := read(t, tree, records.Options{}); !slices.Equal(got, want) {
		t.Errorf("read %q", got)
	}
	if left, counts := tree.Left(); counts.String() != "1 binary" || len(left) != 1 || slashed(left[0].Error()) != "d/4.bin: it has NUL bytes (0x00), so it is not text" {
		t.Error(left, counts)
	}
	if got := read(t, tree, records.Options{After: 4}); !slices.Equal(got, want[3:]) {
		t.Errorf("after four files %q", got)
	}

	// A missing or unreadable file is an issue; the others are read.
	os.Remove("d/1.txt")
	if got := read(t, tree, records.Options{}); len(got) != len(want) || got[0] != "! d/1.txt: no such file or directory" {
		t.Errorf("without a file %q", got)
	}
	key := tree.Key()
	if tree, err = List([]string{"d"}, ListOptions{}); err != nil || tree.Key() == key {
		t.Error("another list has the same key", err)
	}
}

// The size of a Source is the sum of the sizes of its files, and all bytes are read.
func TestProgress(t *testing.T) {
	makeFiles(t, "d/a", strings.Repeat("a", 100_000), "d/b", "bb")
	tree := must.Get(List([]string{"d"}, ListOptions{}))(t)
	src := must.Get(tree.Open(records.Options{}))(t)
	for _, err := range src.Records(context.Background()) {
		must.Do(t, err)
	}
	if done, size := src.Progress(); done != 100_002 || size != done {
		t.Error(done, size)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for rec, err := range src.Records(ctx) {
		if rec != nil || !errors.Is(err, context.Canceled) {
			t.Error(rec, err)
		}
	}
}

// A file is listed once, even if several paths lead to it. Its other names in a folder are counted.
func TestSameFile(t *testing.T) {
	makeFiles(t, "d/a.txt", "one", "d/b.txt", "two", "link", "-> d")
	must.Do(t, os.Link("d/a.txt", "d/c.txt"))
	whole := must.Get(filepath.Abs("d"))(t)
	for _, args := range [][]string{{"d", "link"}, {"d", "d/../d", whole}, {"link", "d"}, {"d/a.txt", "d/c.txt", "d"}} {
		tree := must.Get(List(args, ListOptions{}))(t)
		if got := read(t, tree, records.Options{}); len(got) != 2 || !strings.HasSuffix(got[0], "/a.txt=one") || !strings.HasSuffix(got[1], "/b.txt=two") {
			t.Errorf("%q: %q", args, got)
		}
		if _, counts := tree.Left(); counts["repeated name"] == 0 {
			t.Errorf("%q: %v", args, counts)
		}
	}
}

// Whatever is in a folder and is not read is listed with the reason, and counted unless an option or
// a convention leaves it out. Files have fields, which the fields of a mail follow.
func TestLeft(t *testing.T) {
	const mail = "From: a\nDate: Thu, 1 Jan 2026 00:00:00 +0000\n\ntext"
	makeFiles(t, "d/a.txt", "one", "d/b.eml", mail, "d/link", "-> a.txt", "d/.x/y", "z", "d/.git/z", "z", "d/c.log", "z", "d/"+IgnoreFile, "*.log", "d/nul", "\x00")
	when := time.Date(2026, 5, 4, 3, 2, 1, 7000, time.UTC)
	must.Do(t, os.Chtimes("d/a.txt", when, when))
	tree := must.Get(List([]string{"d"}, ListOptions{}))(t)
	src := must.Get(tree.Open(records.Options{}))(t)
	for rec, err := range src.Records(t.Context()) {
		want := `{"path":"d/a.txt","size":3,"mtime":"2026-05-04T03:02:01.000007Z"}`
		if err == nil && rec.Doc.ID == "d/b.eml" {
			want = `"Date":"Thu, 1 Jan 2026 00:00:00 +0000","From":"a"}`
		}
		if err != nil || !json.Valid(rec.Doc.Fields) || !strings.HasSuffix(string(rec.Doc.Fields), want) {
			t.Errorf("%s %v, not %s", rec.Doc.Fields, err, want)
		}
	}
	left, counts := tree.Left()
	var got []string
	for _, is := range left {
		got = append(got, slashed(is.Error()))
	}
	want := []string{
		"d/.git/: its name begins with a dot; Hidden includes it", "d/" + IgnoreFile + ": patterns of files to leave out", "d/.x/: its name begins with a dot; Hidden includes it",
		"d/c.log: excluded by Exclude or " + IgnoreFile, "d/link: a symbolic link, which is not followed", "d/nul: it has NUL bytes (0x00), so it is not text",
	}
	if !slices.Equal(got, want) || counts.String() != "1 binary, 1 symbolic link" {
		t.Errorf("%v\n%s\nnot\n%s", counts, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The ID of a path that is not UTF-8 is unambiguous, and a list of paths has the original bytes.
func TestOddPath(t *testing.T) {
	const path = "d/caf\xe9.txt"
	t.Chdir(t.TempDir())
	must.Do(t, os.Mkdir("d", 0o777))
	if err := os.WriteFile(path, []byte("words"), 0o666); err != nil {
		t.Skip("such a file cannot be made here:", err)
	}
	if found, err := filepath.Glob("d/*"); err != nil || len(found) != 1 || found[0] != path {
		t.Skip("such a name is not kept here")
	}
	tree := must.Get(List([]string{"d"}, ListOptions{}))(t)
	src := must.Get(tree.Open(records.Options{}))(t)
	for rec, err := range src.Records(context.Background()) {
		if err != nil || rec.Doc.ID != `d/caf\xe9.txt` || rec.File != rec.Doc.ID || string(rec.Raw) != path || records.PathOf(rec.Doc.ID) != path {
			t.Errorf("%+v, %v", rec, err)
		}
	}
}

// The texts of pages and mails are extracted, from folders and single files. From a Maildir, only
// the mails are read.
func TestPagesAndMails(t *testing.T) {
	const mail = "From: a\nDate: Thu, 1 Jan 2026 00:00:00 +0000\nSubject: s\n\n"
	makeFiles(t,
		"d/1.html", "<p>one<script>x</script>", "d/2", "<!doctype html><p>two", "d/3.eml", "Subject: x\n\nthree", "d/4", mail+"four", "d/5.txt", "<p>five",
		"d/6.htm", "\xff\xfe<\x00p\x00>\x006\x00", "m/cur/1:2,S", mail+"seen", "m/new/2", "\n"+mail+"new", "m/tmp/3", mail+"tmp", "m/index", "x", "m/.Sent/cur/4", mail+"sent",
		"m/.Sent/new/.x", "hidden", "m/.Sent/tmp/5", "x", "m/other/6", "x",
	)
	tree := must.Get(List([]string{"d", "m"}, ListOptions{}))(t)
	want := []string{
		"d/1.html=one", "d/2=two", "d/3.eml=three", "d/4=four", "d/5.txt=<p>five", "d/6.htm=6", "m/.Sent/cur/4=sent", "m/cur/1:2,S=seen", "m/new/2=new",
	}
	if got := read(t, tree, records.Options{}); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := read(t, tree, records.Options{HTML: "raw"}); got[0] != "d/1.html=<p>one<script>x</script>" {
		t.Errorf("%q", got)
	}
	for name, want := range map[string]string{"d/1.html": "", "d/2": "an HTML page, one document", "d/4": "a mail, one document"} {
		src := must.Get(records.Open(name, records.Options{}))(t)
		if info := src.Info(); info.Format != Files || info.Notice != want {
			t.Errorf("%s: %+v", name, info)
		}
		for rec, err := range src.Records(context.Background()) {
			if err != nil || rec.Doc.ID != name || name == "d/4" && string(rec.Doc.Fields) != `{"Date":"Thu, 1 Jan 2026 00:00:00 +0000","From":"a","Subject":"s"}` {
				t.Errorf("%s: %+v, %v", name, rec, err)
			}
		}
		src.Close()
	}
	if src, err := records.Open("d/2", records.Options{TextField: "x"}); err == nil {
		src.Close()
		t.Error("a page with fields was read")
	}
}
