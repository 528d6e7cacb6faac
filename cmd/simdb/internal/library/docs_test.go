package library

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/records"
)

// TestRowsOfFiles reads files of several formats as one table: rows are numbered through them, in every pass.
func TestRowsOfFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.jsonl": "{\"text\": \"one\"}\n\n{\"text\": \"two\", \"id\": \"x\"}\n",
		"b.csv":   "id,text\n7,three\n,\"fo\nur\"\n",
		"c.jsonl": "{\"text\": \"five\"}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := &Request{Files: map[string][]string{TableName: {filepath.Join(dir, "[ab].*"), filepath.Join(dir, "c.jsonl")}}}
	all := []string{"1 0 one", "2 x two", "3 7 three", "4 3 fo\nur", "5 4 five"}
	for after := range len(all) + 1 {
		var got []string
		err := r.each(t.Context(), records.Options{MakeID: true, After: records.Position(after)}, func(rec *records.Record) error {
			got = append(got, fmt.Sprint(rec.Pos, " ", rec.Doc.ID, " ", rec.Doc.Text))
			return nil
		})
		if want := all[after:]; err != nil || !slices.Equal(got, want) {
			t.Errorf("after %d: %q, %v, want %q", after, got, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "b.jsonl"), []byte("{\"text\": \"b\"}\n{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Files[TableName] = []string{filepath.Join(dir, "*.jsonl")}
	if _, err := dedupTable(t.Context(), r); err == nil || !strings.Contains(err.Error(), "b.jsonl:2") {
		t.Errorf("a broken line: %v", err)
	}
	r.Files[TableName] = nil
	if _, err := dedupTable(t.Context(), r); err != errNoDocs {
		t.Errorf("no files: %v", err)
	}
}

// TestKeepersOfFiles removes near-duplicates from files: rows of keepers are counted through the files, and documents of
// Against keep their file.
func TestKeepersOfFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"a.jsonl": "one two three\nfour five six\n", "b.jsonl": "four five six\nseven eight\nsix seven\n", "z.jsonl": "x y z\nseven eight\n"} {
		var lines []byte
		for line := range strings.Lines(text) {
			b, _ := json.Marshal(map[string]string{"text": strings.TrimSpace(line)})
			lines = append(append(lines, b...), '\n')
		}
		if err := os.WriteFile(path(name), lines, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	against, _ := json.Marshal([]string{path("z.jsonl")})
	r := &Request{Files: map[string][]string{TableName: {path("[ab].jsonl")}}, Keywords: map[string]json.RawMessage{"against": against}}
	reply, err := dedupTable(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	c := reply.Columns
	if got, want := fmt.Sprint(reply.Keep.Bools, c[0].Ints, c[2].Ints, c[2].Valid, c[4].Valid, string(c[4].Data)),
		fmt.Sprint([]bool{true, true, false, false, true}, []int64{2, 3}, []int64{1, 0}, []bool{true, false}, []bool{false, true}, path("z.jsonl")); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
