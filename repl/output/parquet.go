package output

import (
	"bufio"

	"github.com/simdb/simdb/repl/output/internal/parquet"
)

// parquetFormat writes a Parquet file. Columns have the types of their values; fingerprints are
// strings, fields JSON, and all columns may be null.
type parquetFormat struct {
	w   *parquet.Writer
	err error
}

func (f *parquetFormat) begin(w *bufio.Writer, columns []string) {
	f.w = parquet.New(w, columns, func(v any) string { return string(appendText(nil, v)) })
}

func (f *parquetFormat) row(_ *bufio.Writer, values []any) {
	if f.err == nil {
		f.err = f.w.Row(values)
	}
}

func (f *parquetFormat) end(*bufio.Writer, int64) {
	if f.err == nil {
		f.err = f.w.Close()
	}
}
