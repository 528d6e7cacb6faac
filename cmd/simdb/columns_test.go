package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/simdb/simdb/internal/must"
)

// marked is a record of a copy with all additional columns. Null is "".
type marked struct {
	ID, Text, Cluster, Size, Keeper, Distance, Score string
}

// expected returns the records that --all and --columns must write, derived from the audit and the
// listing of clusters.
func expected(t *testing.T, dir string, texts map[string]string) (want []marked) {
	t.Helper()
	audit := map[string]map[string]any{}
	for _, row := range jsonLines[map[string]any](t, filepath.Join(dir, "audit.jsonl")) {
		if id, ok := row["id"].(string); ok {
			audit[id] = row
		}
	}
	keepers := map[any]string{}
	listing := jsonLines[map[string]any](t, filepath.Join(dir, "clusters.jsonl"))
	for _, row := range listing {
		if row["keep"] == true {
			keepers[row["cluster"]] = row["id"].(string)
		}
	}
	text := func(v any) string {
		if v == nil {
			return ""
		}
		return fmt.Sprint(v)
	}
	for _, row := range listing {
		id := row["id"].(string)
		m := marked{ID: id, Text: texts[id]}
		if c := row["cluster"]; c != nil {
			m.Cluster, m.Size, m.Keeper = text(c), text(row["size"]), keepers[c]
			m.Distance, m.Score = text(audit[id]["distance"]), text(audit[id]["score"])
		}
		want = append(want, m)
	}
	return want
}

// jsonLines reads the objects of a file.
func jsonLines[T any](t *testing.T, path string) (rows []T) {
	t.Helper()
	b := readFile(t, path)
	for d := json.NewDecoder(bytes.NewReader(b)); d.More(); {
		var row T
		must.Do(t, d.Decode(&row))
		rows = append(rows, row)
	}
	return rows
}

func readMarked(t *testing.T, path string) (all []marked) {
	t.Helper()
	fields := []string{"id", "text", "cluster", "size", "keeper", "distance", "score"}
	add := func(value func(name string) string) {
		var v []string
		for _, name := range fields {
			v = append(v, value(name))
		}
		all = append(all, marked{v[0], v[1], v[2], v[3], v[4], v[5], v[6]})
	}
	b := readFile(t, path)
	switch filepath.Ext(path) {
	case ".parquet":
		f := must.Get(pq.OpenFile(bytes.NewReader(b), int64(len(b))))(t)
		r := pq.NewReader(f)
		for range f.NumRows() {
			row := map[string]any{}
			must.Do(t, r.Read(&row))
			add(func(name string) string { return nullAsEmpty(row[name]) })
		}
	case ".csv", ".tsv":
		r := csv.NewReader(bytes.NewReader(b))
		if r.LazyQuotes = true; strings.HasSuffix(path, "tsv") {
			r.Comma = '\t'
		}
		rows := must.Get(r.ReadAll())(t)
		for _, row := range rows[1:] {
			cells := map[string]string{}
			for i, cell := range row {
				cells[rows[0][i]] = cell
			}
			add(func(name string) string { return cells[name] })
		}
	default:
		var rows []map[string]any
		if b[0] == '[' {
			must.Do(t, json.Unmarshal(b, &rows))
		} else {
			rows = jsonLines[map[string]any](t, path)
		}
		for _, row := range rows {
			add(func(name string) string { return nullAsEmpty(row[name]) })
		}
	}
	return all
}

func nullAsEmpty(v any) string {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// Additional columns must agree with the audit and the listing for all documents, in each format
// that supports them, and the records must otherwise be unchanged.
func TestExtendedCopies(t *testing.T) {
	type row struct {
		ID   string `parquet:"id" json:"id"`
		Text string `parquet:"text" json:"text"`
	}
	dir := t.TempDir()
	texts := map[string]string{}
	var rows []row
	for i := range 60 {
		words := strings.Fields(strings.Repeat(fmt.Sprintf("w%d a%d, b ", i%20, i%20), 8))
		words[i%7] = fmt.Sprint("x", i/20)
		r := row{fmt.Sprintf("d,%d", i), strings.Join(words, " ")}
		rows, texts[r.ID] = append(rows, r), r.Text
	}
	files := map[string]*bytes.Buffer{}
	for _, name := range []string{"jsonl", "json", "csv", "tsv", "parquet"} {
		files[name] = new(bytes.Buffer)
	}
	must.Do(t, pq.Write(files["parquet"], rows, pq.MaxRowsPerRowGroup(25)))
	array := must.Get(json.MarshalIndent(rows, "", " "))(t)
	files["json"].Write(array)
	files["csv"].WriteString("id,text\r\n")
	files["tsv"].WriteString("id\ttext\n")
	for i, r := range rows {
		b := must.Get(json.Marshal(r))(t)
		fmt.Fprintf(files["jsonl"], "%s\n", bytes.Replace(b, []byte("}"), []byte(strings.Repeat(" ", i%3)+"}"), 1))
		fmt.Fprintf(files["csv"], "\"%s\",\"%s\"\r\n", r.ID, r.Text)
		fmt.Fprintf(files["tsv"], "%s\t%s\n", r.ID, r.Text)
	}
	for name, b := range files {
		write(t, filepath.Join(dir, "in."+name), b.Bytes())
		for how, column := range map[string]string{"--near 12": "distance", "--jaccard 0.5 --keep last": "score", "--near 12 --verify 0.4 --keep longest": "distance,score"} {
			args := fmt.Sprintf("dedup in.%s %s --audit audit.jsonl --clusters clusters.jsonl --all --columns cluster,size,keeper,%s -o out.%s", name, how, column, name)
			if code, _, talk := simdbIn(t, dir, "", strings.Fields(args)...); code != 0 || !strings.Contains(talk, "and so are all others") {
				t.Fatalf("%s: exit status %d, %s", args, code, talk)
			}
			want, got := expected(t, dir, texts), readMarked(t, filepath.Join(dir, "out."+name))
			clustered := 0
			for i, w := range want {
				if !strings.Contains(column, "score") {
					w.Score = ""
				}
				if clustered += len(w.Cluster); i >= len(got) || got[i] != w {
					t.Fatalf("%s: record %d of %d is %+v, want %+v", args, i, len(got), got[min(i, len(got)-1)], w)
				}
			}
			if clustered == 0 || len(got) != len(want) {
				t.Errorf("%s: %d records in clusters, %d", args, clustered, len(got))
			}
		}
		args := strings.Fields(fmt.Sprintf("dedup in.%s --near 12 --no-audit --columns keeper -o kept.%s", name, name))
		if code, _, talk := simdbIn(t, dir, "", args...); code != 0 {
			t.Fatalf("%s: exit status %d, %s", args, code, talk)
		}
		for _, m := range readMarked(t, filepath.Join(dir, "kept."+name)) {
			if m.Keeper != "" && m.Keeper != m.ID {
				t.Errorf("%s: %+v is kept", args, m)
			}
		}
	}
	for _, c := range []struct{ file, content, args, talk string }{
		{"a.txt", "some words\n", "--columns keeper", "a.txt is plain text, to which no columns can be added"},
		{"a.csv", "id,text,keeper\n1,a b c,x\n", "--columns keeper", `a.csv has a column "keeper" already`},
		{"a.jsonl", `{"id":"1","text":"a b c","keeper":2}`, "--columns keeper -o k.jsonl", `a record has a field "keeper" already`},
		{"a.jsonl", `{"id":"1","text":"a b c"}`, "--columns nothing", `"nothing" is not one of the columns cluster, size, keeper, distance, score`},
		{"a.jsonl", `{"id":"1","text":"a b c"}`, "--columns distance", "--columns distance needs --near"},
		{"a.jsonl", `{"id":"1","text":"a b c"}`, "--all", "--all needs --columns: everything is copied"},
	} {
		write(t, filepath.Join(dir, c.file), c.content)
		code, _, talk := simdbIn(t, dir, "", append([]string{"dedup", c.file}, strings.Fields(c.args)...)...)
		if code != 2 || !strings.Contains(talk, cmp.Or(c.talk, "?")) {
			t.Errorf("%s %s: exit status %d, %s", c.file, c.args, code, talk)
		}
	}
}
