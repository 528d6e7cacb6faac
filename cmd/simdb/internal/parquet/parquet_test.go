package parquet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"github.com/simdb/simdb/repl/output"
)

var options = output.Options{Format: output.Parquet, Parquet: New}

var parquetColumns = []string{"id", "distance", "score", "exact", "time", "fields", "n", "mixed", "b a"}

// randomCell returns a random value for a column, sometimes nil.
func randomCell(r *rand.Rand, column int) any {
	if r.IntN(5) == 0 {
		return nil
	}
	switch column {
	case 1:
		return r.IntN(65)
	case 2:
		return []any{r.Float64(), 1}[r.IntN(2)]
	case 3:
		return r.IntN(2) == 0
	case 4:
		return time.UnixMicro(r.Int64N(1 << 50)).UTC()
	case 5:
		return json.RawMessage(fmt.Sprintf(`{"a":%d}`, r.IntN(9)))
	case 6:
		return r.Uint64()
	case 7:
		return []any{"x", 1, true}[r.IntN(3)]
	}
	return strings.Repeat("é", r.IntN(5))
}

// asRead returns a value as a reader should get it.
func asRead(v any, column int) string {
	switch v := v.(type) {
	case nil:
		return "<null>"
	case time.Time:
		return fmt.Sprint(v.UnixMicro())
	case json.RawMessage:
		return string(v)
	case int:
		if column == 2 {
			return fmt.Sprint(float64(v))
		}
	case uint64:
		return fmt.Sprintf("%016x", v)
	}
	return fmt.Sprint(v)
}

// TestParquetRows writes any number of rows and reads them again.
func TestParquetRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 3, heldRows - 1, heldRows, 3 * heldRows} {
		var b bytes.Buffer
		w := output.New(&b, parquetColumns, &options)
		var want [][]any
		for range n {
			row := make([]any, len(parquetColumns))
			for i := range row {
				row[i] = randomCell(r, i)
			}
			want = append(want, append([]any{}, row...))
			if err := w.Row(row...); err != nil {
				t.Fatal(err)
			}
			clear(row)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := pq.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil || f.NumRows() != int64(n) {
			t.Fatalf("%d rows, not %d: %v", f.NumRows(), n, err)
		}
		for i, c := range f.Root().Columns() {
			if c.Name() != parquetColumns[i] || !c.Optional() {
				t.Fatalf("column %d is %q, not %q", i, c.Name(), parquetColumns[i])
			}
		}
		if n == 0 && f.Root().Columns()[1].Type().Kind() != pq.Int64 {
			t.Error("without rows the distance is no number")
		}
		got := 0
		for _, g := range f.RowGroups() {
			rows := g.Rows()
			buf := make([]pq.Row, 100)
			for {
				k, err := rows.ReadRows(buf)
				for _, row := range buf[:k] {
					for i, v := range row {
						have := v.String()
						if v.IsNull() {
							have = "<null>"
						}
						if have != asRead(want[got][i], i) {
							t.Fatalf("row %d, column %s: %s, not %s", got, parquetColumns[i], have, asRead(want[got][i], i))
						}
					}
					got++
				}
				if err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			rows.Close()
		}
		if got != n {
			t.Fatalf("%d rows, not %d", got, n)
		}
	}
}

func TestParquetRefusals(t *testing.T) {
	w := output.New(io.Discard, []string{"n"}, &options)
	var err error
	for i := 0; i < heldRows && err == nil; i++ {
		err = w.Row(i)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Row("x"); err == nil || !strings.Contains(err.Error(), "several types") {
		t.Error(err)
	}
	for _, columns := range [][]string{{"a", "a"}, {"a,b"}, {""}} {
		if err := output.New(io.Discard, columns, &options).Close(); err == nil {
			t.Errorf("columns %q: no error", columns)
		}
	}
}
