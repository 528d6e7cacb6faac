package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/simdb/simdb/internal/must"
)

// The same documents as Parquet and as JSON lines give equal databases, keep the same documents,
// and are new to the same databases.
func TestParquetIsAsJSONLines(t *testing.T) {
	type row struct {
		ID   string   `parquet:"id" json:"id"`
		Text string   `parquet:"text" json:"text"`
		N    int64    `parquet:"n" json:"n"`
		Tags []string `parquet:"tags,list" json:"tags"`
	}
	dir := t.TempDir()
	var rows []row
	for i := range 400 {
		words := strings.Fields(strings.Repeat(fmt.Sprintf("one%d two three%d four ", i%50, i%7), 1+i%9))
		rows = append(rows, row{fmt.Sprint("doc", i), strings.Join(words[:len(words)-i%3], " "), int64(i % 13), []string{"a", fmt.Sprint(i)}})
	}
	write := func(name string, rows []row) {
		t.Helper()
		var table, lines bytes.Buffer
		w := pq.NewGenericWriter[row](&table, pq.Compression(&pq.Zstd), pq.MaxRowsPerRowGroup(64))
		must.Get(w.Write(rows))(t)
		must.Do(t, w.Close())
		e := json.NewEncoder(&lines)
		e.SetEscapeHTML(false)
		for _, r := range rows {
			e.Encode(r)
		}
		for ending, b := range map[string][]byte{".parquet": table.Bytes(), ".jsonl": lines.Bytes()} {
			write(t, filepath.Join(dir, name+ending), b)
		}
	}
	write("all", rows)
	write("some", rows[:200])
	write("new", rows[100:300])
	idsOf := func(name string) (ids []string) {
		t.Helper()
		b := readFile(t, filepath.Join(dir, name))
		if strings.HasSuffix(name, ".parquet") {
			rows, err := pq.Read[row](bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(name, err)
			}
			for _, r := range rows {
				ids = append(ids, r.ID)
			}
			return ids
		}
		for line := range strings.Lines(string(b)) {
			var r row
			must.Do(t, json.Unmarshal([]byte(line), &r))
			ids = append(ids, r.ID)
		}
		return ids
	}
	run := func(args string, stdin []byte) (data string) {
		t.Helper()
		code, data, talk := simdbIn(t, dir, string(stdin), strings.Fields(args)...)
		if code != 0 {
			t.Fatalf("%s: exit status %d, %s", args, code, talk)
		}
		return data
	}
	var outs [2][]string
	var fields [2]string
	for i, ending := range []string{".parquet", ".jsonl"} {
		run("load all"+ending+".simdb all"+ending, nil)
		for _, r := range rows {
			_, d, _ := simdbIn(t, dir, "", "all"+ending+".simdb", "GET '"+r.ID+"'")
			if r.N > 2 {
				break
			}
			fields[i] += d[:strings.LastIndexByte(strings.TrimSpace(d), '\t')] + "\n" // the time differs
		}
		run("load some"+ending+".simdb some"+ending, nil)
		for _, how := range []string{"--near 3", "--jaccard 0.8 --keep max:n", "--near 6 --keep last", "--against some" + ending + " --within-field n"} {
			run("dedup all"+ending+" "+how+" --no-audit -o kept"+ending, nil)
			outs[i] = append(outs[i], fmt.Sprint(idsOf("kept"+ending)))
		}
		run("match some"+ending+".simdb new"+ending+" --near 3 -o fresh"+ending, nil)
		outs[i] = append(outs[i], fmt.Sprint(idsOf("fresh"+ending)))
		run("create none"+ending+".simdb", nil)
		run("match none"+ending+".simdb new"+ending+" --near 3 --add --explain", nil)
		outs[i] = append(outs[i], run("fields none"+ending+".simdb", nil))
		whole := readFile(t, filepath.Join(dir, "new"+ending))
		piped := run("dedup - --near 3", whole)
		os.WriteFile(filepath.Join(dir, "piped"+ending), []byte(piped), 0o666)
		outs[i] = append(outs[i], fmt.Sprint(idsOf("piped"+ending)))
	}
	for i := range outs[0] {
		if outs[0][i] != outs[1][i] {
			t.Errorf("output %d: Parquet %s, JSON lines %s", i, outs[0][i], outs[1][i])
		}
	}
	if fields[0] != fields[1] || fields[0] == "" {
		t.Errorf("Parquet %q\nJSON lines %q", fields[0], fields[1])
	}
}

// Commands reject outputs that would not be Parquet of one kind.
func TestParquetIsRefused(t *testing.T) {
	type other struct {
		ID   string `parquet:"id"`
		Text []byte `parquet:"body"`
	}
	type row struct {
		ID   string `parquet:"id"`
		Text string `parquet:"text"`
	}
	dir := t.TempDir()
	type number struct {
		ID          string `parquet:"id"`
		Fingerprint int64  `parquet:"fingerprint"`
	}
	var a, b, n bytes.Buffer
	must.Do(t, pq.Write(&n, []number{{"a", 1}}))
	must.Do(t, pq.Write(&a, []row{{"a", "some words"}}))
	must.Do(t, pq.Write(&b, []other{{"a", []byte("some words")}}))
	for name, content := range map[string]string{
		"a.parquet": a.String(), "b.parquet": b.String(), "lines.jsonl": `{"id":"a","text":"x"}`, "cut.parquet": a.String()[:a.Len()-9],
		"empty.parquet": "", "n.parquet": n.String(), "a.warc": "WARC/1.0\r\n", "a.mbox": "From a@b Thu Jan  1 00:00:00 2026\nSubject: c\n\nd\n", "page.html": "<!doctype html><p>a",
	} {
		write(t, filepath.Join(dir, name), content)
	}
	for _, c := range []struct{ args, talk string }{
		{"dedup a.parquet --near 3 -o kept.csv", "cannot write CSV, because the output is Parquet: use .parquet"},
		{"dedup a.parquet --near 3 -o kept.parquet.gz", "Parquet compresses itself: use .parquet"},
		{"dedup lines.jsonl --near 3 -o kept.parquet", "cannot write Parquet, because the output is JSON lines"},
		{"dedup a.parquet lines.jsonl --near 3", "a.parquet is Parquet and lines.jsonl is JSON lines"},
		{"dedup a.parquet b.parquet --near 3 --text-field 2", "b.parquet has other columns than the files before it"},
		{"load x.simdb cut.parquet", "cut.parquet: it has no Parquet footer: was it cut off?"},
		{"load x.simdb empty.parquet", "empty.parquet: it is not a Parquet file"},
		{"load x.simdb b.parquet", `b.parquet: there is no column "text" (there are "id", "body"`},
		{"load x.simdb a.parquet --fingerprints hex", `a.parquet: --fingerprints hex: there is no column "fingerprint" (there are "id", "text")`},
		{"load x.simdb n.parquet --fingerprints hex", `n.parquet: --fingerprints hex: the column "fingerprint" has numbers, not texts`},
		{"load x.simdb a.warc --fingerprints hex", "a.warc: --fingerprints hex: it is WARC, which has no fingerprints"},
		{"load x.simdb a.mbox --fingerprints decimal", "a.mbox: --fingerprints decimal: it is mbox, which has no fingerprints"},
		{"load x.simdb page.html --fingerprints hex", "page.html: --fingerprints hex: it is paths of files, which has no fingerprints"},
		{"load x.simdb --files page.html --fingerprints hex", "with --files each file is one text, so --fingerprints does not apply"},
		{"load x.simdb a.parquet --input-format jsonl", "a.parquet: it is Parquet: --input-format parquet reads it"},
	} {
		if code, _, talk := simdbIn(t, dir, "", strings.Fields(c.args)...); code != 2 || !strings.Contains(talk, c.talk) {
			t.Errorf("%s: exit status %d, %q", c.args, code, talk)
		}
	}
}

// Rows that cannot be compared are copied by the second pass, which reads fewer columns.
func TestParquetWithFlaws(t *testing.T) {
	type row struct {
		ID   string `parquet:"id"`
		Text string `parquet:"text"`
		FP   string `parquet:"fingerprint"`
	}
	dir := t.TempDir()
	var b bytes.Buffer
	must.Do(t, pq.Write(&b, []row{{"a", "some words", ""}, {"b", "other words", "no number"}, {"c", "some more words here", ""}, {"d", "some words", ""}}))
	write(t, filepath.Join(dir, "a.parquet"), b.Bytes())
	code, _, talk := simdbIn(t, dir, "", "dedup", "a.parquet", "-o", "kept.parquet")
	rows, err := pq.ReadFile[row](filepath.Join(dir, "kept.parquet"))
	if code != 0 || err != nil || len(rows) != 3 || rows[0].ID != "a" || rows[1].ID != "b" || rows[2].ID != "c" || !strings.Contains(talk, "a.parquet:2: not a fingerprint") {
		t.Errorf("exit status %d, %v, %v: %s", code, rows, err, talk)
	}
}

// Texts that are digests cause the same warning as in lines.
func TestParquetOfDigests(t *testing.T) {
	type row struct {
		ID   string `parquet:"id"`
		Text string `parquet:"text"`
	}
	dir := t.TempDir()
	var b bytes.Buffer
	must.Do(t, pq.Write(&b, []row{{"a", "5f70bf18a086007016e948b04aed3b82103a36be"}, {"b", "7c211433f02071597741e6ff5a8ea34789abbf43"}}))
	write(t, filepath.Join(dir, "a.parquet"), b.String())
	_, _, talk := simdbIn(t, dir, "", "dedup", "a.parquet", "-o", "kept.parquet")
	if want := `a.parquet: its texts are hexadecimal hashes, such as "5f70bf18a0`; strings.Count(talk, want) != 1 {
		t.Errorf("%q does not say once %q", talk, want)
	}
}
