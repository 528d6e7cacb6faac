package parquet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/records"
)

// sample is a row of the files in these tests.
type sample struct {
	ID    string            `parquet:"id"`
	Text  *string           `parquet:"text,optional"`
	Hash  int64             `parquet:"hash"`
	Lang  string            `parquet:"lang,dict"`
	Score *float64          `parquet:"score,optional"`
	Meta  *meta             `parquet:"meta,optional"`
	Tags  []string          `parquet:"tags,list"`
	Attrs map[string]string `parquet:"attrs"`
	Flat  []int64           `parquet:"flat"`
}

type meta struct {
	ID  int64   `parquet:"id"`
	URL *string `parquet:"url,optional"`
}

// samples returns n rows with nulls, empty lists and texts of all sizes.
func samples(n int) []sample {
	rows := make([]sample, n)
	for i := range rows {
		r := &rows[i]
		r.ID, r.Lang, r.Hash = fmt.Sprintf("doc-%d", i), []string{"en", "de", ""}[i%3], int64(i)-5
		if i%7 != 3 {
			text := strings.Repeat(fmt.Sprintf("word%d \"quoted\" ", i), i%50)
			r.Text = &text
		}
		if i%4 == 0 {
			score := float64(i) / 8
			r.Score = &score
		}
		if i%3 > 0 {
			r.Meta = &meta{ID: int64(1000 + i)}
			if i%3 == 2 {
				url := fmt.Sprintf("http://example.org/%d", i)
				r.Meta.URL = &url
			}
		}
		for j := range i % 4 {
			r.Tags = append(r.Tags, fmt.Sprint("tag", j))
			r.Flat = append(r.Flat, int64(i*j))
		}
		if i%5 == 0 {
			r.Attrs = map[string]string{"k": fmt.Sprint(i)}
		}
	}
	return rows
}

// write returns a file of rows with row groups of this size.
func write[T any](t testing.TB, rows []T, group int, options ...pq.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := pq.NewGenericWriter[T](&b, options...)
	for chunk := range slices.Chunk(rows, group) {
		if _, err := w.Write(chunk); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// source opens a file in memory.
func source(data []byte, opt records.Options) (records.Source, error) {
	return records.New("x.parquet", io.NopCloser(bytes.NewReader(data)), -1, opt)
}

// readAll returns the records of a file, with their Raw cloned, and the errors.
func readAll(src records.Source) (recs []records.Record, issues []string, err error) {
	for rec, e := range src.Records(context.Background()) {
		if is, ok := errors.AsType[*records.Issue](e); ok {
			issues = append(issues, is.Error())
		} else if e != nil {
			err = e
		} else {
			r := *rec
			r.Raw = bytes.Clone(r.Raw)
			recs = append(recs, r)
		}
	}
	return recs, issues, errors.Join(err, src.Close())
}

// fieldsOf returns the expected fields of a row.
func fieldsOf(r sample) map[string]any {
	m := map[string]any{"hash": r.Hash, "lang": r.Lang, "tags": append([]string{}, r.Tags...), "flat": append([]int64{}, r.Flat...), "attrs": r.Attrs}
	if r.Attrs == nil {
		m["attrs"] = map[string]string{}
	}
	if r.Score != nil {
		m["score"] = *r.Score
	}
	if r.Meta != nil {
		inner := map[string]any{"id": r.Meta.ID}
		if r.Meta.URL != nil {
			inner["url"] = *r.Meta.URL
		}
		m["meta"] = inner
	}
	return m
}

// sameJSON reports whether a JSON text is equal to v.
func sameJSON(text []byte, v any) bool {
	want, err := json.Marshal(v)
	var a, b any
	return err == nil && json.Unmarshal(text, &a) == nil && json.Unmarshal(want, &b) == nil && reflect.DeepEqual(a, b)
}

// writings are different ways to write a file.
var writings = map[string][]pq.WriterOption{
	"plain": {pq.Compression(&pq.Uncompressed)}, "snappy": {pq.Compression(&pq.Snappy)}, "zstd": {pq.Compression(&pq.Zstd)},
	"gzip": {pq.Compression(&pq.Gzip)}, "brotli": {pq.Compression(&pq.Brotli)},
	"lz4":   {pq.Compression(&pq.Lz4Raw)},
	"v1":    {pq.DataPageVersion(1), pq.Compression(&pq.Snappy)},
	"pages": {pq.PageBufferSize(512), pq.Compression(&pq.Zstd)},
	"delta": {pq.DefaultEncodingFor(pq.ByteArray, &pq.DeltaByteArray), pq.DefaultEncodingFor(pq.Int64, &pq.DeltaBinaryPacked)},
	"dict":  {pq.DefaultEncodingFor(pq.ByteArray, &pq.RLEDictionary), pq.PageBufferSize(300), pq.DataPageVersion(1)},
	"stats": {pq.DataPageStatistics(true), pq.DefaultEncodingFor(pq.ByteArray, &pq.DeltaLengthByteArray)},
}

// Files written in different ways yield the same records, with any number of workers, and from any
// first row.
func TestRead(t *testing.T) {
	rows := samples(300)
	for name, options := range writings {
		data := write(t, rows, 70, options...)
		for _, opt := range []records.Options{{Workers: 1}, {Workers: 3}, {After: 70}, {After: 100}, {After: 299}, {After: 300}} {
			src, err := source(data, opt)
			if err != nil {
				t.Fatal(name, err)
			}
			recs, issues, err := readAll(src)
			if err != nil || len(issues) > 0 || len(recs) != len(rows)-int(opt.After) {
				t.Fatalf("%s after %d: %d records, %v, %v", name, opt.After, len(recs), issues, err)
			}
			for i, rec := range recs {
				want := rows[i+int(opt.After)]
				text := ""
				if want.Text != nil {
					text = *want.Text
				}
				if rec.Doc.ID != want.ID || rec.Doc.Text != text || int(rec.Pos) != i+1+int(opt.After) || rec.End != rec.Pos ||
					!sameJSON(rec.Doc.Fields, fieldsOf(want)) {
					t.Fatalf("%s: row %d is %+v, want %+v", name, rec.Pos, rec.Doc, want)
				}
			}
		}
	}
}

// The ID, the text and the fingerprint may be columns of several types, and may be nested.
func TestColumns(t *testing.T) {
	data := write(t, samples(12), 5)
	for _, c := range []struct {
		opt  records.Options
		id   string // in row 2
		fp   uint64 // in row 2, if it has one
		fail string
	}{
		{opt: records.Options{IDField: "meta.id", MakeID: true}, id: "1001"},
		{opt: records.Options{IDField: "ID"}, id: "doc-1"},
		{opt: records.Options{IDField: "1", TextField: "4"}, id: "doc-1"},
		{opt: records.Options{IDField: "hash", TextField: "lang"}, id: "-4"},
		{opt: records.Options{FingerprintField: "hash"}, id: "doc-1", fp: 1<<64 - 4},
		{opt: records.Options{TextField: "meta.url"}, id: "doc-1"},
		{opt: records.Options{IDField: "idd"}, fail: `there is no column "idd" (there are "id", "text",`},
		{opt: records.Options{IDField: "meta"}, fail: `the column "meta" has columns in it (there are "meta.id", "meta.url"`},
		{opt: records.Options{TextField: "id"}, id: "doc-1"},
		{opt: records.Options{TextField: "id", FingerprintField: "hash", IDField: "hash"}, id: "-4", fp: 1<<64 - 4},
		{opt: records.Options{TextField: "id", IDFrom: records.IDFromLine, MakeID: true}, id: "x.parquet:2"},
		{opt: records.Options{TextField: "text,id,text"}, fail: `the column "text" is named twice`},
		{opt: records.Options{Delimiter: ';'}, fail: "a delimiter is for csv"},
		{opt: records.Options{Comment: '#'}, fail: "comments are for csv and tsv"},
	} {
		src, err := source(data, c.opt)
		if c.fail != "" {
			if err == nil || !strings.Contains(err.Error(), c.fail) {
				t.Errorf("%+v: %v, want %q", c.opt, err, c.fail)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c.opt, err)
			continue
		}
		recs, issues, err := readAll(src)
		if err != nil || len(issues) > 0 || len(recs) != 12 || recs[1].Doc.ID != c.id {
			t.Fatalf("%+v: %v, %v, %v", c.opt, recs, issues, err)
		}
		if fp := recs[1].Doc.Fingerprints; (c.fp != 0) != (fp != nil) || fp != nil && fp[0][0] != c.fp {
			t.Errorf("%+v: fingerprint %v, want %x", c.opt, fp, c.fp)
		}
	}
}

// Several columns make up a text with fields, and a list a set, also if they are nested.
func TestTextColumns(t *testing.T) {
	rows := samples(40)
	data := write(t, rows, 7)
	read := func(opt records.Options) []records.Record {
		src, err := source(data, opt)
		if err != nil {
			t.Fatalf("%+v: %v", opt, err)
		}
		recs, issues, err := readAll(src)
		if err != nil || len(issues) > 0 || len(recs) != len(rows) {
			t.Fatalf("%+v: %d records, %v, %v", opt, len(recs), issues, err)
		}
		return recs
	}
	for i, rec := range read(records.Options{Fields: []string{"lang", "meta.url", "text"}}) {
		texts := []string{rows[i].Lang, "", ""}
		if m := rows[i].Meta; m != nil && m.URL != nil {
			texts[1] = *m.URL
		}
		if rows[i].Text != nil {
			texts[2] = *rows[i].Text
		}
		if want := engine.JoinFields(texts...); rec.Doc.Text != want || bytes.Contains(rec.Doc.Fields, []byte(`"lang"`)) {
			t.Fatalf("row %d is %q, want %q; fields %s", i+1, rec.Doc.Text, want, rec.Doc.Fields)
		}
	}
	for i, rec := range read(records.Options{SetField: "tags"}) {
		want := append([]string{}, rows[i].Tags...)
		if !sameJSON([]byte(rec.Doc.Text), want) || bytes.Contains(rec.Doc.Fields, []byte(`"tags"`)) {
			t.Fatalf("row %d is %q, want %q; fields %s", i+1, rec.Doc.Text, want, rec.Doc.Fields)
		}
	}
	for i, rec := range read(records.Options{TextField: "tags"}) {
		if want := strings.Join(rows[i].Tags, "\n"); rec.Doc.Text != want {
			t.Fatalf("row %d is %q, want %q", i+1, rec.Doc.Text, want)
		}
	}
	for i, rec := range read(records.Options{Fields: []string{"tags", "id"}}) {
		if want := engine.JoinFields(strings.Join(rows[i].Tags, "\n"), rows[i].ID); rec.Doc.Text != want || rec.Doc.ID != rows[i].ID {
			t.Fatalf("row %d is %q with the id %q, want %q", i+1, rec.Doc.Text, rec.Doc.ID, want)
		}
	}
	for i, rec := range read(records.Options{TextField: "lang,text"}) {
		want := rows[i].Lang
		if rows[i].Text != nil && *rows[i].Text != "" {
			want += "\n" + *rows[i].Text
		}
		if rec.Doc.Text != strings.Trim(want, "\n") && rec.Doc.Text != want {
			t.Fatalf("row %d is %q, want %q", i+1, rec.Doc.Text, want)
		}
	}
	for i, rec := range read(records.Options{SetField: "meta.url"}) {
		want := ""
		if m := rows[i].Meta; m != nil && m.URL != nil {
			want = *m.URL
		}
		if rec.Doc.Text != want {
			t.Fatalf("row %d is %q, want %q", i+1, rec.Doc.Text, want)
		}
	}
	for _, opt := range []records.Options{{Fields: []string{"lang", "nothing"}}, {SetField: "nothing"}} {
		if _, err := source(data, opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
}

// A row without a required ID is an Issue, another error is a flaw, and reading continues.
func TestIssues(t *testing.T) {
	type row struct {
		ID   *string  `parquet:"id,optional"`
		UUID [16]byte `parquet:"uuid,uuid"`
		Text string   `parquet:"text"`
		FP   string   `parquet:"fingerprint"`
	}
	a, none, long := "a", "", strings.Repeat("x", 1<<16)
	data := write(t, []row{{ID: &a, FP: "0x1f"}, {Text: "b"}, {ID: &none}, {ID: &long}, {ID: &a, FP: "words"}, {ID: &a, Text: "bad\xff"}}, 4)
	src, err := source(data, records.Options{})
	if err != nil {
		t.Fatal(err)
	}
	recs, issues, err := readAll(src)
	want := []string{`x.parquet:2: no "id"; IDField names another`, "x.parquet:3: the id is empty", "x.parquet:4: the id has 65536 bytes"}
	if err != nil || len(recs) != 3 || !strings.Contains(recs[1].Flaw, `not a fingerprint: "words"`) || len(issues) != len(want) {
		t.Fatalf("%+v, %q, %v", recs, issues, err)
	}
	for i := range want {
		if !strings.HasPrefix(issues[i], want[i]) {
			t.Errorf("%q, want %q", issues[i], want[i])
		}
	}
	if r := recs[2]; r.Doc.Text != "bad\uFFFD" || !r.BadUTF8 || recs[0].Doc.Fingerprints[0][0] != 0x1f {
		t.Errorf("%+v", recs)
	}
	_, err = source(write(t, []struct{ Text string }{{"a"}}, 4), records.Options{})
	if want := `there is no column "id" (there are "Text"); IDField names another, IDFrom: "line" makes ids`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	names := write(t, []struct{ ID, Name string }{{"a", "ada"}}, 4)
	if _, err = source(names, records.Options{}); err == nil || !strings.Contains(err.Error(), `there is no column "text"`) {
		t.Error(err)
	}
	if src, err = source(names, records.Options{NoText: true}); err == nil {
		recs, _, err = readAll(src)
	}
	if err != nil || len(recs) != 1 || recs[0].Doc.ID != "a" || !strings.Contains(string(recs[0].Doc.Fields), `"ada"`) {
		t.Error(recs, err)
	}
	if src, err = source(data, records.Options{IDField: "uuid"}); err == nil {
		recs, _, err = readAll(src)
	}
	if err != nil || recs[0].Doc.ID != "00000000-0000-0000-0000-000000000000" {
		t.Errorf("%+v, %v", recs, err)
	}
}

// A file with fingerprints in both notations is refused before any record is delivered.
func TestNotations(t *testing.T) {
	type row struct {
		ID string `parquet:"id"`
		FP string `parquet:"fingerprint"`
	}
	var rows []row
	for i := range 20 {
		rows = append(rows, row{fmt.Sprint(i), "1234567890123456"})
	}
	mixed := append(slices.Clone(rows), row{"x", "17"})
	for _, c := range []struct {
		rows []row
		as   base.Notation
		fail string
	}{
		{rows, base.Auto, "the fingerprints from row 1 (1234567890123456) on have 16 decimal digits"},
		{rows, base.Hex, ""},
		{mixed, base.Auto, "the fingerprint of row 1, 1234567890123456, looks hexadecimal, but that of row 21, 17, looks decimal"},
		{mixed, base.Decimal, ""},
		{append(slices.Clone(rows), row{"x", "0xff"}), base.Auto, ""},
	} {
		src, err := source(write(t, c.rows, 7), records.Options{Fingerprints: c.as})
		if err != nil {
			t.Fatal(err)
		}
		recs, _, err := readAll(src)
		switch {
		case c.fail == "" && (err != nil || len(recs) != len(c.rows)):
			t.Errorf("%d records, %v", len(recs), err)
		case c.fail != "" && (err == nil || len(recs) > 0 || !strings.Contains(err.Error(), c.fail)):
			t.Errorf("%d records, %v, want %q", len(recs), err, c.fail)
		}
	}
}

// Copied rows are unchanged, or cut to a part of their text, in the row groups of the input, for
// any input.
func TestCopy(t *testing.T) {
	rows := samples(300)
	for name, options := range writings {
		options = append(slices.Clone(options), pq.KeyValueMetadata("made", "by a test"))
		data := write(t, rows, 70, options...)
		var out bytes.Buffer
		var want []sample
		c := must(Parquet.NewCopier(&out, records.CopyOptions{}))
		for range 2 {
			src, err := source(data, records.Options{MakeID: true})
			if err != nil {
				t.Fatal(err)
			}
			for rec, err := range src.Records(context.Background()) {
				if err != nil {
					t.Fatal(name, err)
				}
				i := int(rec.Pos) - 1
				if i%11 == 0 || i%5 == 3 || i >= 140 && i < 210 {
					continue
				}
				row, raw := rows[i], bytes.Clone(rec.Raw)
				if row.Text != nil && i%3 == 1 && len(*row.Text) >= 4 {
					n := len(*row.Text)
					keep := []records.Span{{From: 0, To: n / 4}, {From: n / 4, To: n / 4}, {From: n / 2, To: n - n/8}}
					text := (*row.Text)[:n/4] + " " + (*row.Text)[n/2:n-n/8]
					row.Text, raw = &text, records.CutText(src, rec, keep)
				}
				want = append(want, row)
				if err := c.Copy(src, raw); err != nil {
					t.Fatal(name, err)
				}
			}
			src.Close()
		}
		if err := c.Close(); err != nil {
			t.Fatal(name, err)
		}
		got, err := pq.Read[sample](bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %d rows, want %d, %v", name, len(got), len(want), err)
		}
		for i := range got {
			if !sameJSON(must(json.Marshal(fieldsOf(got[i]))), fieldsOf(want[i])) || got[i].ID != want[i].ID || !reflect.DeepEqual(got[i].Text, want[i].Text) {
				t.Fatalf("%s: row %d is %+v, want %+v", name, i, got[i], want[i])
			}
		}
		a, b := must(pq.OpenFile(bytes.NewReader(data), int64(len(data)))), must(pq.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len())))
		if a.Schema().String() != b.Schema().String() || len(b.RowGroups()) != 8 {
			t.Errorf("%s: %d row groups of %v", name, len(b.RowGroups()), b.Schema())
		}
		if made, _ := b.Lookup("made"); made != "by a test" {
			t.Errorf("%s: the metadata are %q", name, made)
		}
		for i, col := range a.Metadata().RowGroups[0].Columns {
			if codec := b.Metadata().RowGroups[0].Columns[i].MetaData.Codec; codec != col.MetaData.Codec {
				t.Errorf("%s: %v is %v", name, col.MetaData.PathInSchema, codec)
			}
		}
	}
}

// Parts of a text with invalid bytes are parts of the text as it was read. Only a single text
// column can be cut.
func TestCutText(t *testing.T) {
	type row struct {
		ID   string `parquet:"id"`
		Text []byte `parquet:"text"`
		URL  string `parquet:"url"`
	}
	data := write(t, []row{{"a", []byte("one\n\xff\ntwo"), "u"}}, 1)
	src := must(source(data, records.Options{}))
	defer src.Close()
	if err := records.CanCut(src); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := must(Parquet.NewCopier(&out, records.CopyOptions{}))
	for rec, err := range src.Records(context.Background()) {
		if err == nil {
			err = c.Copy(src, records.CutText(src, rec, []records.Span{{From: 4, To: 8}, {From: 8, To: 11}}))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := pq.Read[row](bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || len(got) != 1 || string(got[0].Text) != "\ufffd\ntwo" || got[0].URL != "u" {
		t.Errorf("%q, %v", got, err)
	}
	for _, opt := range []records.Options{{Fields: []string{"text", "url"}}, {SetField: "text"}} {
		src := must(source(data, opt))
		if records.CanCut(src) == nil {
			t.Errorf("%+v can be cut", opt)
		}
		src.Close()
	}
	for _, raw := range []string{"x", "1 2", "1 2-x", "1 -3"} {
		if _, _, err := parseRow([]byte(raw)); err == nil {
			t.Errorf("%q is taken for a row", raw)
		}
	}
}

// An output without rows has the columns of the input.
func TestCopyNothing(t *testing.T) {
	data := write(t, samples(5), 5)
	src, err := source(data, records.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := must(Parquet.NewCopier(&out, records.CopyOptions{Like: src})).Close(); err != nil {
		t.Fatal(err)
	}
	src.Close()
	f, err := pq.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || f.NumRows() != 0 || f.Schema().String() != must(pq.OpenFile(bytes.NewReader(data), int64(len(data)))).Schema().String() {
		t.Errorf("%v, %v", f, err)
	}
}

// Pages of an output go into temporary files if row groups are large.
func TestPageFiles(t *testing.T) {
	var b pageFiles
	f := b.GetBuffer()
	if _, err := f.Write([]byte("page")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(f); string(got) != "page" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	b.PutBuffer(f)
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), filepath.Base(f.(*os.File).Name()))); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
