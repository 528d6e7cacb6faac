package query

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/front"
	_ "github.com/simdb/simdb/internal/golden" // the flag -update
	"github.com/simdb/simdb/internal/must"
)

// openTest opens an empty database that is closed when the test ends.
func openTest(t testing.TB, o *engine.Options) *engine.DB {
	t.Helper()
	db := must.Get(engine.Open(t.TempDir()+"/test.simdb", o))(t)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// TestGolden runs testdata/*: the input of each command is a script, its output is the terminal's.
// Run with -update to rewrite the outputs.
//
//	run               statements and their rows, a line each, cells separated by |
//	plan              the same, with N for the estimates in plans, which depend on the database
//	new [no-text]     a new database
//	flush, compact    DB.Flush, DB.Compact
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		db := openTest(t, nil)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "new":
				db = openTest(t, &engine.Options{NoText: d.HasArg("no-text")})
				return "ok\n"
			case "flush", "compact":
				err := db.Flush(t.Context())
				if err == nil && d.Cmd == "compact" {
					err = db.Compact(t.Context(), nil)
				}
				if err != nil {
					d.Fatalf(t, "%v", err)
				}
				return "ok\n"
			case "run":
				return script(db, d.Input)
			case "plan":
				return regexp.MustCompile(`\d+ (document|probe|candidate|match)(e?s)?|\d+(\.\d+)?(µs|ms|s)\b|\[[-\d ]+\]`).ReplaceAllStringFunc(
					script(db, d.Input), func(s string) string {
						if i := strings.IndexByte(s, ' '); i > 0 && s[0] != '[' {
							return "N" + s[i:]
						}
						return "N"
					})
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

// script runs the statements of text and writes the result of each.
func script(db *engine.DB, text string) string {
	var out bytes.Buffer
	s := front.Language.Splitter()
	var session Session
	s.Write(text)
	for {
		p, ok := s.Next()
		if !ok {
			if p, ok = s.Rest(); !ok {
				return out.String()
			}
		}
		rows, err := session.Run(context.Background(), db, p.Text)
		if err == nil {
			err = printRows(&out, rows)
		}
		if err != nil {
			out.WriteString(detail(err) + "\n")
		}
	}
}

func printRows(out io.Writer, rows *Rows) error {
	if rows.Message() != "" {
		fmt.Fprintln(out, rows.Message())
		return nil
	}
	fmt.Fprintln(out, strings.Join(rows.Columns(), " | "))
	for row, err := range rows.All() {
		if err != nil {
			return err
		}
		cells := make([]string, len(row))
		for i, v := range row {
			switch v := v.(type) {
			case nil:
				cells[i] = "-"
			case uint64:
				cells[i] = fmt.Sprintf("%016x", v)
			case float64:
				cells[i] = fmt.Sprintf("%.4f", v)
			case time.Time:
				cells[i] = v.UTC().Format(time.RFC3339Nano)
			case json.RawMessage:
				cells[i] = string(v)
			default:
				cells[i] = fmt.Sprint(v)
			}
		}
		fmt.Fprintln(out, strings.Join(cells, " | "))
	}
	return nil
}
