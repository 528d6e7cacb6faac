package fuzz

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
	"github.com/simdb/simdb/records/lines"
	_ "github.com/simdb/simdb/records/parquet"
)

// FuzzRoundTrip loads documents from a file, or puts them, exports them, loads what was exported, and
// exports that: the documents and the exported bytes are the same. A copy of all records of a file
// is the file.
func FuzzRoundTrip(f *testing.F) {
	seed(f, 20, 60, 60, 100, 100, 150, 150, 200, 200)
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newChoices(data[:min(len(data), 1<<10)])
		o := &engine.Options{NoSync: true, Bits: 64, Shingle: 3, Sketch: 128}
		b := &batch{t: t, c: c, m: newModel(o), dir: scratch(t)}
		format := pick(c, "", "", ".csv", ".jsonl", ".parquet", ".txt", ".hashes")
		if format == "" {
			o.Bits, o.Features.Several = pick(c, 64, 128), c.once(3)
		}
		h := history{t: t, c: c, m: b.m}
		for i := range 1 + c.n(20) {
			d := h.doc()
			d.fields = strings.ReplaceAll(d.fields, `, "meta" : `, `,"meta":`) // blanks between members are not kept
			if !utf8.ValidString(d.id) || format != "" {
				d.id = fmt.Sprintf("d%03d", i)
			}
			if d.text == "" && d.fingerprints == nil || format != "" && strings.ContainsAny(d.text, "\x00\n") {
				d.text = "one"
			}
			if format == ".hashes" {
				d.text, d.fields, d.fingerprints = "", "", [][]uint64{c.print(1)}
			} else if format != "" {
				d.fingerprints, d.fields = nil, ""
			}
			b.docs, b.n = append(b.docs, d), append(b.n, c.n(6)-1)
		}
		first := must(create(b.dir+"/1.simdb", *o))(t)
		defer first.Close()
		if format == "" {
			for _, d := range b.docs {
				check(t, first.Put(context.Background(), d.given()))
				b.m.put(d)
			}
		} else {
			b.fromFile(first, format)
		}
		check(t, first.Flush(context.Background()))
		b.contents(first, format)
		check(t, first.Close())
		exported := b.export("/1.simdb")
		path := b.dir + "/out.jsonl"
		check(t, os.WriteFile(path, exported, 0o600))
		second := must(create(b.dir+"/2.simdb", *o))(t)
		b.load(second, path)
		b.contents(second, format)
		check(t, second.Close())
		if again := b.export("/2.simdb"); !bytes.Equal(again, exported) {
			t.Fatalf("exported again\n%s\nat first\n%s", again, exported)
		}
	})
}

// fromFile writes the documents to a file, copies its records, and loads it.
func (b *batch) fromFile(db *engine.DB, format string) {
	var path string
	switch format {
	case ".csv", ".jsonl":
		path = b.writeAs("in", format, b.docs, b.n)
	case ".parquet":
		type row struct {
			ID   string `parquet:"id"`
			Text string `parquet:"text"`
			N    *int64 `parquet:"n,optional"`
		}
		var rows []row
		for i, d := range b.docs {
			rows = append(rows, row{ID: d.id, Text: d.text})
			if n := int64(b.n[i]); n >= 0 {
				rows[i].N = &n
			}
		}
		path = b.dir + "/in.parquet"
		check(b.t, parquet.WriteFile(path, rows))
	default:
		var out strings.Builder
		for i := range b.docs {
			d := &b.docs[i]
			if format == ".txt" { // a line is a text, and its number the ID
				d.text = cmp.Or(strings.TrimSpace(d.text), "one")
				fmt.Fprintln(&out, d.text)
			} else {
				fmt.Fprintf(&out, "%016x\t%s\n", d.fingerprints[0][0], d.id)
			}
		}
		path = b.dir + "/in.txt"
		check(b.t, os.WriteFile(path, []byte(out.String()), 0o600))
	}
	ids := b.load(db, path)
	for i, d := range b.docs {
		if format == ".txt" && i < len(ids) {
			d.id = ids[i]
		}
		b.m.put(d)
	}
	if format == ".parquet" {
		return // a copy of Parquet has other pages
	}
	var out bytes.Buffer
	src := must(records.Open(path, records.Options{MakeID: true}))(b.t)
	defer src.Close()
	to := must(src.Info().Format.NewCopier(&out, records.CopyOptions{Like: src}))(b.t)
	for rec, err := range src.Records(context.Background()) {
		check(b.t, err)
		check(b.t, to.Copy(src, rec.Raw))
	}
	check(b.t, to.Close())
	if was := must(os.ReadFile(path))(b.t); !bytes.Equal(out.Bytes(), was) {
		b.t.Fatalf("%q is copied as %q", was, out.Bytes())
	}
}

// load loads a file, and returns the IDs of its documents.
func (b *batch) load(db *engine.DB, path string) (ids []string) {
	ctx := context.Background()
	opt := records.Options{MakeID: true, Bits: b.m.o.Bits}
	src := must(records.Open(path, opt))(b.t)
	defer src.Close()
	l := must(newLoader(db, true, 1<<20))(b.t)
	for rec, err := range src.Records(ctx) {
		check(b.t, err)
		check(b.t, l.Add(rec.Doc))
		ids = append(ids, rec.Doc.ID)
	}
	must(l.Close())(b.t)
	return ids
}

// contents compares the documents of a database with the model, without times; documents of files
// have the fields of their formats.
func (b *batch) contents(db *engine.DB, format string) {
	b.t.Helper()
	var got, want []string
	shown := func(d doc) string {
		fields := d.fields
		if format != "" {
			fields = ""
		}
		return fmt.Sprintf("%q %q %s %x", d.id, d.text, fields, d.fingerprints)
	}
	for _, d := range collect(b.t, db.Range(context.Background(), engine.Range{Load: true})) {
		got = append(got, shown(docOf(d)))
		if i := slices.IndexFunc(b.docs, func(x doc) bool { return x.id == d.ID }); format == ".jsonl" || format == ".csv" || format == ".parquet" {
			v := fieldOf(&doc{fields: string(d.Fields)}, "n")
			if v.text != map[bool]string{false: fmt.Sprint(b.n[i])}[b.n[i] < 0] {
				b.t.Fatalf("%q has the field n %v, want %d", d.ID, v, b.n[i])
			}
		}
	}
	for _, d := range b.m.sorted() {
		want = append(want, shown(d))
	}
	same(b.t, got, want, "documents of a file %s", format)
}

// export writes a database as JSON lines.
func (b *batch) export(name string) []byte {
	env := &inputs.Env{}
	s := must(env.OpenStored(b.dir+name, inputs.Access{}))(b.t)
	s.Written = true
	var out bytes.Buffer
	to := must(lines.JSONL.NewCopier(&out, records.CopyOptions{}))(b.t)
	err := env.EachInput(context.Background(), s.Sources(), inputs.Reading{Options: records.Options{Need: records.NeedAll},
		Record: func(in records.Source, rec *records.Record) error { return to.Copy(in, rec.Raw) }})
	check(b.t, err)
	check(b.t, to.Close())
	s.Close(&err)
	check(b.t, err)
	return out.Bytes()
}
