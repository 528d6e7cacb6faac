package parquet

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/simdb/simdb/records"
)

// copied returns a copy of all rows of a file.
func copied(t *testing.T, data []byte, o records.CopyOptions, opt records.Options) []byte {
	t.Helper()
	src, err := source(data, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var out bytes.Buffer
	c := must(Parquet.NewCopier(&out, o))
	for rec, err := range src.Records(context.Background()) {
		if err == nil {
			err = c.Copy(src, rec.Raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A column that outgrows its dictionary is written without one from then on: only its first page
// uses the dictionary.
func TestDictionaryEnds(t *testing.T) {
	type row struct {
		ID   string `parquet:"id"`
		Text string `parquet:"text,dict"`
	}
	var rows []row
	for i := range 4000 {
		rows = append(rows, row{fmt.Sprint(i), strings.Repeat(fmt.Sprint(i, " "), 200)})
	}
	out := copied(t, write(t, rows, 4000), records.CopyOptions{}, records.Options{Need: records.NeedID})
	f := must(pq.OpenFile(bytes.NewReader(out), int64(len(out))))
	text := f.Metadata().RowGroups[0].Columns[1].MetaData
	if n := text.DataPageOffset - text.DictionaryPageOffset; n <= 0 || n > 2*pageBytes {
		t.Errorf("the dictionary has %d bytes, the column %d", n, text.TotalCompressedSize)
	}
	got := must(pq.Read[row](bytes.NewReader(out), int64(len(out))))
	for i := range rows {
		if got[i] != rows[i] {
			t.Fatalf("row %d differs", i)
		}
	}
}

// A reader that does not need parts of a document does not get them; the other parts are unchanged.
func TestNeed(t *testing.T) {
	data := write(t, samples(50), 20)
	read := func(need records.Need) []records.Record {
		recs, issues, err := readAll(must(source(data, records.Options{Need: need})))
		if err != nil || len(issues) > 0 || len(recs) != 50 {
			t.Fatal(len(recs), issues, err)
		}
		return recs
	}
	all := read(records.NeedAll)
	for _, need := range []records.Need{records.NeedText, records.NeedID} {
		for i, rec := range read(need) {
			want := all[i]
			if want.Doc.Fields = nil; need == records.NeedID {
				want.Doc.Text = ""
			}
			if fmt.Sprint(rec) != fmt.Sprint(want) {
				t.Fatalf("%d: %+v, want %+v", need, rec, want)
			}
		}
	}
	if got := copied(t, data, records.CopyOptions{}, records.Options{Need: records.NeedID}); !bytes.Equal(got, copied(t, data, records.CopyOptions{}, records.Options{})) {
		t.Error("the copies differ")
	}
}
