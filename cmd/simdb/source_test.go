package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records"
)

// cards is a format that only this test registers: binary rows with a footer, as in columnar files,
// so that it needs random access and its copies must be completed.
//
//	"CARD" | rows | offsets of the rows and of the end | number of rows | "CARD"
//
// A row is the id, a zero byte, and the text. Numbers have 8 bytes.
const cards records.Format = "cards"

const cardMagic = "CARD"

// unwritable is a file whose records cannot be copied.
const unwritable = "unwritable.card"

func init() {
	records.Register(records.Family{
		Formats: []records.Description{{Name: cards, Label: "cards", Unit: "row", Endings: []string{".card"}}},
		Detect: func(in *records.Stream, _ records.Options) bool {
			head, _ := in.Head()
			return bytes.HasPrefix(head, []byte(cardMagic))
		},
		Open: openCards,
		NewCopier: func(w io.Writer, o records.CopyOptions) (records.Copier, error) {
			if o.Like != nil && o.Like.Info().Name == unwritable {
				return nil, errors.New("cannot be written")
			}
			return &cardCopier{w: w}, nil
		},
	})
}

type cardFile struct {
	in      *records.Stream
	opt     records.Options
	r       io.ReaderAt
	size    int64
	offsets []int64
}

func openCards(in *records.Stream, opt records.Options) (records.Source, error) {
	f := &cardFile{in: in, opt: opt}
	var err error
	if f.r, f.size, err = in.ReaderAt(); err != nil {
		return nil, err
	}
	var tail [12]byte
	if _, err := f.r.ReadAt(tail[:], f.size-12); err != nil || string(tail[8:]) != cardMagic {
		return nil, errors.New("it has no footer: was it cut off?")
	}
	n := int64(binary.LittleEndian.Uint64(tail[:]))
	raw := make([]byte, 8*(n+1))
	if _, err := f.r.ReadAt(raw, f.size-12-int64(len(raw))); err != nil {
		return nil, err
	}
	for i := range n + 1 {
		f.offsets = append(f.offsets, int64(binary.LittleEndian.Uint64(raw[8*i:])))
	}
	return f, nil
}

func (f *cardFile) Info() records.Info {
	return records.Info{Name: f.in.Name(), Format: cards, Shape: "cards"}
}
func (f *cardFile) Progress() (done, size int64) { return f.in.Progress() }

func (f *cardFile) Close() error {
	f.in.Release()
	return f.in.Close()
}

// Records yields the rows. A row without an ID is an Issue; a row that is not where the footer says
// ends the file.
func (f *cardFile) Records(ctx context.Context) iter.Seq2[*records.Record, error] {
	return func(yield func(*records.Record, error) bool) {
		for i := f.opt.After; int(i) < len(f.offsets)-1; i++ {
			if err := context.Cause(ctx); err != nil {
				yield(nil, err)
				return
			}
			size := f.offsets[i+1] - f.offsets[i]
			raw := make([]byte, max(size, 0))
			id, text, ok := "", "", false
			if _, err := f.r.ReadAt(raw, f.offsets[i]); err == nil {
				id, text, ok = strings.Cut(string(raw), "\x00")
			}
			if !ok {
				yield(nil, &records.ReadError{File: f.in.Name(), Pos: i, Unit: "row", Err: errors.New("the row is damaged")})
				return
			}
			rec := &records.Record{Doc: engine.Doc{ID: id, Text: text}, File: f.in.Name(), Pos: i + 1, End: i + 1, Raw: raw}
			if id == "" {
				if !yield(nil, records.NewIssue(f, rec, "the id is empty")) {
					return
				}
			} else if !yield(rec, nil) {
				return
			}
		}
	}
}

type cardCopier struct {
	w       io.Writer
	offset  int64
	offsets []byte
	n       uint64
}

func (c *cardCopier) Copy(_ records.Source, raw []byte, _ ...any) error {
	c.begin()
	c.offsets = binary.LittleEndian.AppendUint64(c.offsets, uint64(c.offset))
	c.n++
	return c.write(raw)
}

func (c *cardCopier) begin() {
	if c.offset == 0 {
		c.write([]byte(cardMagic))
	}
}

func (c *cardCopier) write(p []byte) error {
	n, err := c.w.Write(p)
	c.offset += int64(n)
	return err
}

func (c *cardCopier) Close() error {
	c.begin()
	footer := binary.LittleEndian.AppendUint64(c.offsets, uint64(c.offset))
	return c.write(append(binary.LittleEndian.AppendUint64(footer, c.n), cardMagic...))
}

// cardsOf returns a file of cards with these rows, each written "id text".
func cardsOf(rows ...string) string {
	var b bytes.Buffer
	c := cardCopier{w: &b}
	for _, row := range rows {
		c.Copy(nil, []byte(strings.Replace(row, " ", "\x00", 1)))
	}
	c.Close()
	return b.String()
}

// simdbIn runs the program in dir with this standard input and returns its exit status, standard
// output and standard error.
func simdbIn(t *testing.T, dir, stdin string, args ...string) (code int, data, talk string) {
	t.Helper()
	var out, err strings.Builder
	c := exec.Command("simdb", args...)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = dir, strings.NewReader(stdin), &out, &err
	if e := c.Run(); e != nil && c.ProcessState == nil {
		t.Fatal(e)
	}
	return c.ProcessState.ExitCode(), out.String(), err.String()
}

// A document is not stored if its line cannot be written.
func TestMatchAddUnwritable(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "first.jsonl"), `{"id":"x","text":"a first document of the database"}`+"\n")
	simdb(t, dir, "load", "a.simdb", "first.jsonl")
	write(t, filepath.Join(dir, "good.card"), cardsOf("a\x00some words that are new here"))
	write(t, filepath.Join(dir, unwritable), cardsOf("b\x00other words that nobody has read"))
	for _, args := range [][]string{
		{unwritable}, {unwritable, "-o", "new.card"}, {unwritable, "-o", "new/"}, {"good.card", unwritable, "-o", "new/"},
	} {
		code, out, talk := simdbIn(t, dir, "", append([]string{"match", "a.simdb", "--jaccard", "0.8", "--add"}, args...)...)
		if code != 2 || out != "" || !strings.Contains(talk, "cannot be written") {
			t.Errorf("%q: status %d, %q, %q", args, code, out, talk)
		}
		if n := simdb(t, dir, "a.simdb", "COUNT ID LIKE '%'"); n != "1\n" {
			t.Errorf("%q: %s documents are stored", args, n)
		}
		if made, _ := filepath.Glob(filepath.Join(dir, "new*")); made != nil {
			t.Errorf("%q: there is %q", args, made)
		}
	}
}

// A format that registers itself works with every command that reads documents.
func TestRegisteredFormat(t *testing.T) {
	rows := []string{
		"a the quick brown fox jumps over the lazy dog", "b pack my box with five dozen liquor jugs",
		"c the quick brown fox jumps over the lazy dog", "d sphinx of black quartz judge my vow",
		"e how vexingly quick daft zebras jump",
	}
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		write(t, filepath.Join(dir, name), content)
	}
	whole := cardsOf(rows...)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, whole)
	z.Close()
	write("all.card", whole)
	write("all.card.gz", packed.String())
	write("some", cardsOf(rows[:3]...))
	write("new.card", cardsOf(rows[3], "f amazingly few discotheques provide jukeboxes"))
	write("holes.card", cardsOf(rows[0], " without an id", rows[1]))
	write("cut.card", whole[:len(whole)-5])
	write("damaged.card", strings.Replace(whole, "b\x00", "bb", 1))
	write("lines.jsonl", `{"id":"a","text":"x"}`+"\n")

	for _, c := range []struct {
		args, stdin string
		code        int
		data, talk  string // expected standard output and standard error
	}{
		{args: "load f.simdb all.card", talk: "f.simdb: 5 documents loaded"},
		{args: "load z.simdb all.card.gz", talk: "z.simdb: 5 documents loaded"},
		{args: "load p.simdb -", stdin: whole, talk: "p.simdb: 5 documents loaded"},
		{args: "load n.simdb all.card --input-format cards", talk: "n.simdb: 5 documents loaded"},
		{args: "load x.simdb cut.card", code: 2, talk: "cut.card: it has no footer: was it cut off?"},
		{args: "load x.simdb damaged.card", code: 2, talk: "damaged.card: could not be read past row 1: the row is damaged"},
		{args: "load h.simdb holes.card --rejects bad.card", code: 2, talk: "holes.card:2: the id is empty\nh.simdb: 2 documents loaded in "},
		{args: "load h.simdb holes.card", code: 2, talk: "rejected 1 in h.simdb.rejects.card"},
		{args: "load h.simdb holes.card --max-errors 0", code: 2, talk: "1 row could not be used; --max-errors 0 allows no more"},
		{args: "dedup all.card --near 3", data: cardsOf(rows[0], rows[1], rows[3], rows[4]), talk: "dropped             1"},
		{args: "dedup - --near 3 --keep last", stdin: whole, data: cardsOf(rows[1:]...)},
		{args: "dedup some new.card --near 3 -o kept.card"},
		{args: "dedup all.card --near 3 -o kept.csv", code: 2, talk: "cannot write CSV, because the output is lines of cards: use .card"},
		{args: "dedup all.card lines.jsonl --near 3", code: 2, talk: "all.card is cards and lines.jsonl is JSON lines"},
		{args: "dedup damaged.card --near 3", code: 2, talk: "could not be read past row 1"},
		{args: "match f.simdb new.card --near 3", data: cardsOf("f amazingly few discotheques provide jukeboxes"), talk: "2 documents read, 1 new"},
		{args: "match f.simdb all.card --near 3", data: cardsOf(), talk: "5 documents read, 0 new"},
		{args: "plan all.card --layout 4:1", talk: "5 fingerprints"},
		{args: "tune all.card", talk: "5 of 5 documents sampled"},
		{args: "load x.simdb all.card --input-format card", code: 2, talk: `unknown input format "card": one of `},
	} {
		code, data, talk := simdbIn(t, dir, c.stdin, strings.Fields(c.args)...)
		if code != c.code || c.data != "" && data != c.data || !strings.Contains(talk, c.talk) {
			t.Errorf("%s: exit status %d, %q, %q", c.args, code, data, talk)
		}
	}
	for name, want := range map[string]string{
		"kept.card":        cardsOf(rows[0], rows[1], rows[3], "f amazingly few discotheques provide jukeboxes"),
		"bad.card":         cardsOf(" without an id"),
		"kept.audit.jsonl": `{"id":"c","file":"some","line":3,"keeper":"a","keeper_file":"some","keeper_line":1,"distance":0,"score":1,"exact":true,"rule":"first","cluster":1}` + "\n",
	} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if strings.HasSuffix(name, ".audit.jsonl") {
			_, b, _ = bytes.Cut(b, []byte("\n")) // the text after the head
		}
		if err != nil || !strings.HasPrefix(string(b), want) {
			t.Errorf("%s is %q, %v", name, b, err)
		}
	}

	// A load resumes after the last stored row.
	write("grows.card", cardsOf(rows[:2]...))
	simdb(t, dir, "load", "r.simdb", "grows.card")
	write("grows.card", whole)
	if _, _, talk := simdbIn(t, dir, "", "load", "r.simdb", "grows.card", "--resume"); !strings.Contains(talk, "continuing after row 2\n") ||
		!strings.Contains(talk, "3 documents loaded") {
		t.Errorf("resumed: %q", talk)
	}
}

// The program imports every package below records that reads formats.
func TestFormatsAreImported(t *testing.T) {
	list := readFile(t, "flags/formats.go")
	found := 0
	for _, name := range sourceFiles(t, "../../records") {
		text := readFile(t, name)
		if !bytes.Contains(text, []byte("records.Register(")) {
			continue
		}
		found++
		if path := fmt.Sprintf("simdb/%s\"", filepath.ToSlash(strings.TrimPrefix(filepath.Dir(name), "../../"))); !bytes.Contains(list, []byte(path)) {
			t.Errorf("%s registers a format, but formats.go does not import it", name)
		}
	}
	if found == 0 {
		t.Error("no format is registered")
	}
}

// sourceFiles returns the Go files below dir, without tests.
func sourceFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Every format has a row and a section in docs/formats.md.
func TestFormatsAreDocumented(t *testing.T) {
	page := readFile(t, "../../docs/formats.md")
	for _, name := range slices.DeleteFunc(records.Formats(), func(name string) bool { return name == string(cards) }) {
		if !strings.Contains(string(page), "| `"+name+"` |") || !strings.Contains(string(page), "\n### "+name+"\n") {
			t.Errorf("%s has no row or no section", name)
		}
	}
}
