package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/simdb/simdb/internal/remotetest"
)

// remoteFiles stores files of documents in all stores of a server, and in the working directory.
func remoteFiles(t *testing.T) *remotetest.Server {
	newFolder(t)
	s := remotetest.Start(t)
	var lines, table strings.Builder
	table.WriteString("id,text\n")
	type row struct {
		ID    string `parquet:"id"`
		Text  string `parquet:"text"`
		Large []byte `parquet:"large"`
	}
	var rows bytes.Buffer
	w := pq.NewGenericWriter[row](&rows, pq.MaxRowsPerRowGroup(400))
	for i := range 1200 {
		text := fmt.Sprintf("document %d has words of number %d, such as %d, and the last word is %d", i/2, i/2*7, i/2*i/2, i/2+5)
		if i%6 == 1 {
			text += " changed"
		}
		fmt.Fprintf(&lines, "{\"id\":\"d%d\",\"text\":%q}\n", i, text)
		fmt.Fprintf(&table, "d%d,%q\n", i, text)
		if _, err := w.Write([]row{{fmt.Sprint("d", i), text, bytes.Repeat([]byte{byte(i), byte(i * 7)}, 1000)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, lines.String())
	z.Close()
	for name, content := range map[string][]byte{
		"a.jsonl": []byte(lines.String()), "a.csv": []byte(table.String()), "a.jsonl.gz": packed.Bytes(), "a.parquet": rows.Bytes(),
		"b.jsonl": []byte(`{"id":"b","text":"document 3 has words of number 21, such as 18, and the last word is 8"}` + "\n"),
	} {
		write(t, name, content)
		s.Put("/bucket/in/"+name, content)
		s.Put("/datasets/owner/name/in/"+name, content)
	}
	return s
}

// TestRemoteInputs runs verbs on remote files while connections break, and compares what they write
// with that for local files.
func TestRemoteInputs(t *testing.T) {
	s := remoteFiles(t)
	var n atomic.Int64
	s.Break = func(*http.Request) int64 {
		if n.Add(1)%2 == 0 {
			return -1
		}
		return 20_000 + n.Load()*977
	}
	for _, command := range []string{
		"dedup a.jsonl", "dedup a.csv", "dedup a.jsonl.gz b.jsonl --near 3", "dedup a.parquet --no-audit", "pairs a.jsonl", "clusters a.parquet --jaccard 0.7",
		"join x.simdb a.jsonl.gz --jaccard 0.1 --format jsonl", "dedup a.jsonl --against b.jsonl", "tune a.jsonl --format csv", "hash b.jsonl",
		"dedup --files a.csv b.jsonl", "load new.simdb a.parquet b.jsonl", "match x.simdb a.jsonl --jaccard 0.8",
	} {
		code, want, talk := simdbHere(t, strings.Fields(command)...)
		if code == 2 {
			t.Fatal(command, talk)
		}
		for _, at := range []string{"s3://bucket/in/", "gs://bucket/in/", s.URL + "/bucket/in/", "hf://datasets/owner/name/in/"} {
			var args []string
			for word := range strings.FieldsSeq(command) {
				if strings.HasPrefix(word, "a.") || strings.HasPrefix(word, "b.") {
					word = at + word
				}
				args = append(args, strings.Replace(word, "new.simdb", fmt.Sprintf("new%d.simdb", n.Add(1)), 1))
			}
			again, got, talk := simdbHere(t, args...)
			if got = strings.ReplaceAll(got, at, ""); again != code || got != want {
				t.Errorf("simdb %s: status %d, not %d, %d bytes, not %d: %s", strings.Join(args, " "), again, code, len(got), len(want), talk)
			}
		}
	}
	for pattern, status := range map[string]int{"s3://bucket/in/a.*": 0, "hf://datasets/owner/name/**/*.jsonl": 0, "gs://bucket/no/*": 2} {
		if code, _, talk := simdbHere(t, "pairs", pattern); code != status {
			t.Errorf("%s: status %d: %s", pattern, code, talk)
		}
	}
	if code, _, talk := simdbHere(t, "hash", "--progress", "json", "s3://bucket/in/none"); code != 2 || !strings.Contains(talk, "s3://bucket/in/none: no such file or directory (the server says 404 Not Found: NoSuchKey") {
		t.Error(talk)
	}
	if code, _, talk := simdbHere(t, "ingest", "new.simdb", s.URL+"/bucket/in/a.sst", "--create"); code != 2 || !strings.Contains(talk, "fetch it first: curl -sLO "+s.URL) {
		t.Error(talk)
	}
}

// TestServedTables asks packed tables on servers: answers are those of the same tables on the disk.
func TestServedTables(t *testing.T) {
	s := remoteFiles(t)
	var numbers strings.Builder
	for i := range 140_000 {
		fmt.Fprintf(&numbers, "%016x\tn%d\n", uint64(i/2)*0x9e3779b97f4a7c15^uint64(i%2), i)
	}
	write(t, "n.tsv", []byte(numbers.String()))
	for _, args := range [][]string{{"load", "a.simdb", "a.jsonl", "--containment"}, {"pack", "a.simdb", "a.sst"}, {"load", "n.simdb", "n.tsv"}, {"pack", "n.simdb", "n.sst"}} {
		if code, _, talk := simdbHere(t, args...); code != 0 {
			t.Fatal(args, talk)
		}
	}
	for _, name := range []string{"a.sst", "n.sst"} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s.Put("/bucket/in/"+name, content)
	}
	for to, name := range map[string]string{"s3://bucket/out/a.sst": "/bucket/out/a.sst", "hf://datasets/owner/name/out/a.sst": "/datasets/owner/name/out/a.sst"} {
		if code, _, talk := simdbHere(t, "pack", "a.simdb", to); code != 0 {
			t.Error(talk)
		}
		if sent, _ := s.Get(name); !bytes.Equal(sent, readFile(t, "a.sst")) {
			t.Errorf("pack to %s: %d bytes", to, len(sent))
		}
	}
	same := func(url string, args ...string) {
		t.Helper()
		code, want, _ := simdbHere(t, args...)
		for i, arg := range args {
			args[i] = strings.ReplaceAll(strings.ReplaceAll(arg, "a.sst", url+"a.sst"), "n.sst", url+"n.sst")
		}
		if got, rows, talk := simdbHere(t, args...); got != code || rows != want {
			t.Errorf("simdb %q: status %d, %.300s, %s; locally %d, %.300s", args, got, rows, talk, code, want)
		}
	}
	for _, url := range []string{s.URL + "/bucket/in/", "s3://bucket/in/", "gs://bucket/in/"} {
		for _, statement := range []string{"COUNT", "GET 'd7'", "GET 'none'", "NEAR('d7', 3)", "JACCARD('d7', 0.7)", "JACCARD('d7', 0.5) ESTIMATE", "CONTAINS('d7', 0.5)",
			"PAIRS JACCARD 0.8", "CLUSTERS NEAR 3", "ID >= 'd11' LIMIT 5", "COUNT ID LIKE 'd1%'", "LEVENSHTEIN('d7', 0.9)"} {
			same(url, "a.sst", statement)
		}
		same(url, "pairs", "a.sst", "--jaccard", "0.8")
		same(url, "join", "a.sst", "b.jsonl", "--jaccard", "0.5")
		same(url, "check", "a.sst")
		same(url, "export", "a.sst")
		same(url, "n.sst", "NEAR('n7', 3)")
		same(url, "n.sst", "COUNT NEAR(0x0, 12)")
	}
	for url, most := range map[string]int{s.URL: 7, "s3:/": 12} { // with several parts by one request, and without
		s.Log()
		if code, rows, talk := simdbHere(t, url+"/bucket/in/n.sst", "NEAR(0x9e3779b97f4a7c15, 3)"); code != 0 || rows != "n2\t0\nn3\t1\n" {
			t.Error(rows, talk)
		}
		if requests, sent := s.Log(); len(requests) > most || sent > 200<<10 {
			t.Errorf("%d requests and %d bytes: %q", len(requests), sent, requests)
		}
	}
	for args, want := range map[string]string{
		s.URL + "/bucket/in/a.sst|DELETE 'd7'":                                "read-only",
		s.URL + "/bucket/in/a.sst|PUT {\"id\":\"x\",\"text\":\"some words\"}": "read-only",
		s.URL + "/bucket/in/none.sst|COUNT":                                   "404",
		s.URL + "/bucket/in/a.jsonl.sst|COUNT":                                "404",
		"match|" + s.URL + "/bucket/in/a.sst|b.jsonl|--add":                   "read-only",
		"s3://bucket/in/*.sst|COUNT":                                          "",
	} {
		if code, _, talk := simdbHere(t, strings.Split(args, "|")...); code != 2 || !strings.Contains(talk, want) {
			t.Errorf("simdb %s: status %d, %s", args, code, talk)
		}
	}
	s.NoRanges = true
	if code, _, talk := simdbHere(t, s.URL+"/bucket/in/a.sst", "COUNT"); code != 2 || !strings.Contains(talk, "only as a whole: download it first") {
		t.Error(talk)
	}
	s.NoRanges = false
	s.Put("/bucket/in/x.sst", []byte("<html>not a table</html>"))
	if code, _, talk := simdbHere(t, s.URL+"/bucket/in/x.sst", "COUNT"); code != 2 || !strings.Contains(talk, "not an .sst table") {
		t.Error(talk)
	}
	content, _ := s.Get("/bucket/in/n.sst")
	damaged := bytes.Clone(content)
	for i := 200; i < len(damaged)/2; i++ {
		damaged[i] ^= 0x40
	}
	s.Put("/bucket/in/x.sst", damaged)
	if code, _, talk := simdbHere(t, s.URL+"/bucket/in/x.sst", "NEAR(0x9e3779b97f4a7c15, 3)"); code == 0 || !strings.Contains(talk, "x.sst: corrupt run 0 at offset") {
		t.Error(code, talk)
	}
}

// TestRemoteOutputs compares remote outputs with local ones.
func TestRemoteOutputs(t *testing.T) {
	s := remoteFiles(t)
	s.Signed = true
	if code, _, talk := simdbHere(t, "dedup", "a.jsonl", "-o", "kept.jsonl.gz"); code != 0 {
		t.Fatal(talk)
	}
	for _, to := range []string{"s3://bucket/out/kept.jsonl.gz", "gs://bucket/out/kept.jsonl.gz"} {
		if code, _, talk := simdbHere(t, "dedup", "a.jsonl", "-o", to); code != 0 {
			t.Fatal(talk)
		}
		if got, _ := s.Get("/bucket/out/kept.jsonl.gz"); !bytes.Equal(got, readFile(t, "kept.jsonl.gz")) {
			t.Errorf("%s: %d bytes", to, len(got))
		}
		if got, _ := s.Get("/bucket/out/kept.audit.jsonl"); len(got) != len(readFile(t, "kept.audit.jsonl")) {
			t.Errorf("%s: the audit has %d bytes", to, len(got))
		}
	}
	s.Signed = false
	kept, audit := "/datasets/owner/name@refs/pr/1/out/kept.jsonl.gz", "/datasets/owner/name@refs/pr/1/out/kept.audit.jsonl"
	s.Put("/datasets/owner/name@refs/pr/1/x", nil)
	if code, _, talk := simdbHere(t, "dedup", "a.jsonl", "-o", "hf:/"+kept); code != 0 {
		t.Fatal(talk)
	}
	for name, local := range map[string]string{kept: "kept.jsonl.gz", audit: "kept.audit.jsonl"} {
		if got, _ := s.Get(name); len(got) != len(readFile(t, local)) || name == kept && !bytes.Equal(got, readFile(t, local)) {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
	for _, args := range [][]string{
		{"pairs", "a.jsonl", "-o", s.URL + "/web/pairs.csv?key=1"}, {"export", "x.simdb", "-o", s.URL + "/web/x.jsonl"},
		{"pairs", "a.jsonl", "-o", "hf://datasets/owner/name/out/pairs.csv"},
		{"dedup", "hf://datasets/owner/name/in/*.jsonl", "-o", "hf://datasets/owner/name/kept/"},
		{"dedup", "b.jsonl", "b.jsonl", "--against", "b.jsonl", "-o", "s3://bucket/out/empty.jsonl"},
		{"dedup", "s3://bucket/in/a.jsonl", "s3://bucket/in/b.jsonl", "-o", "s3://bucket/folder/"},
	} {
		if code, _, talk := simdbHere(t, args...); code != 0 && args[0] != "dedup" {
			t.Errorf("%v: %s", args, talk)
		}
	}
	if names, uploads := s.Names(); uploads != 0 || !strings.Contains(strings.Join(names, " "), "/bucket/folder/a.jsonl /bucket/folder/audit.jsonl /bucket/folder/b.jsonl") {
		t.Errorf("%v, %d uploads", names, uploads)
	}
	for _, name := range []string{"/web/pairs.csv", "/datasets/owner/name/out/pairs.csv"} {
		if got, ok := s.Get(name); !ok || !bytes.HasPrefix(got, []byte("a,b,")) {
			t.Errorf("%s: %.80q", name, got)
		}
	}
	// The files of a run appear by one commit.
	if got := strings.Join(s.Commits(), "; "); got != "datasets/owner/name@refs/pr/1: out/kept.audit.jsonl out/kept.jsonl.gz; datasets/owner/name@main: out/pairs.csv; datasets/owner/name@main: kept/audit.jsonl kept/a.jsonl kept/b.jsonl" {
		t.Error(got)
	}
}

// TestRemoteOutputsHurtNothing checks that a failed run leaves nothing behind, and that no input is
// overwritten.
func TestRemoteOutputsHurtNothing(t *testing.T) {
	s := remoteFiles(t)
	s.Put("/bucket/in/x.sst", nil)
	s.Put("/datasets/owner/name/in/x.sst", nil)
	before, _ := s.Names()
	s.Put("/bucket/in/bad.parquet", []byte("PAR1 and nothing else"))
	for args, want := range map[string]string{
		"dedup s3://bucket/in/a.jsonl -o s3://bucket/in/a.jsonl":                    "would overwrite an input file",
		"dedup s3://bucket/in/*.jsonl -o s3://bucket/in/b.jsonl":                    "would overwrite",
		"dedup s3://bucket/in/a.jsonl --against gs://bucket/in/b.jsonl -o s3://bu_": "s3://BUCKET/KEY",
		"dedup s3://bucket/in/a.jsonl -o s3://bucket/in/":                           "",
		"dedup s3://bucket/in/bad.parquet -o s3://bucket/out/x.parquet":             "bad.parquet",
		"pairs a.jsonl -o hf://datasets/owner/none/x.csv":                           "hf://datasets/owner/none/x.csv: no such file or directory: there is no such repository",
		"dedup a.jsonl -o hf://datasets/owner/name@none/x.jsonl":                    "no such branch or revision",
		"dedup hf://datasets/owner/name/in/*.jsonl -o hf://datasets/owner/name/in/": "would overwrite",
		"pairs a.jsonl -o s3://bucket/out/x.xlsx":                                   "cannot write Excel",
		"pack x.simdb s3://bucket/out/x.jsonl":                                      "a table",
		"pack x.simdb s3://bucket/in/x.sst":                                         "x.sst: already exists",
		"pack x.simdb hf://datasets/owner/name/in/x.sst":                            "x.sst: already exists",
	} {
		code, _, talk := simdbHere(t, strings.Fields(args)...)
		if code == 0 || !strings.Contains(talk, want) {
			t.Errorf("simdb %s: status %d, %s", args, code, talk)
		}
	}
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if complete := r.Method == http.MethodPost && r.URL.Query().Has("uploadId"); !complete {
			return false
		}
		io.WriteString(w, "<Error><Code>InternalError</Code><Message>We failed.</Message></Error>")
		return true
	}
	if code, _, talk := simdbHere(t, "dedup", "a.jsonl", "-o", "s3://bucket/out/x.jsonl", "--audit", "local.jsonl"); code != 2 || !strings.Contains(talk, "-o s3://bucket/out/x.jsonl: the server says InternalError: We failed.") {
		t.Error(code, talk)
	}
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusForbidden)
		}
		if early, _ := filepath.Glob(filepath.Join(os.TempDir(), "*", "packed.sst")); len(early) > 0 {
			t.Error("a table was packed in vain")
		}
		return r.Method == http.MethodPost
	}
	t.Setenv("TMPDIR", t.TempDir())
	if code, _, talk := simdbHere(t, "pack", "x.simdb", "hf://datasets/owner/name/y.sst"); code != 2 || !strings.Contains(talk, "403 Forbidden: the token in HF_TOKEN") {
		t.Error(code, talk)
	}
	for to, want := range map[string]string{"s3://bucket/out/x.jsonl": "403 Forbidden: the credentials come from", "hf://datasets/owner/name/x.jsonl": "403 Forbidden: the token in HF_TOKEN"} {
		if code, _, talk := simdbHere(t, "dedup", "a.jsonl", "-o", to, "--audit", "local.jsonl"); code != 2 || !strings.Contains(talk, want) || strings.Contains(talk, "read ") {
			t.Error(code, talk)
		}
	}
	s.Before = nil
	after, uploads := s.Names()
	if strings.Join(after, " ") != strings.Replace(strings.Join(before, " "), "/bucket/in/b.jsonl", "/bucket/in/b.jsonl /bucket/in/bad.parquet", 1) || uploads != 0 {
		t.Errorf("%v, %d uploads", after, uploads)
	}
	for name := range listing(t, ".") {
		if strings.Contains(name, "local") || strings.Contains(name, "audit") {
			t.Error(name)
		}
	}
}

// TestRemoteShards compares a sharded run on remote files with one on local files.
func TestRemoteShards(t *testing.T) {
	s := remoteFiles(t)
	results := map[string]string{}
	for at, out := range map[string]string{"": "local/", "s3://bucket/in/": "s3://bucket/shards/", "hf://datasets/owner/name/in/": "hf://datasets/owner/name/shards/"} {
		work := "work" + out[:2]
		for _, args := range [][]string{
			{"plan", work, "dedup", at + "a.jsonl", at + "[b-z].jsonl", "-o", out}, {"run", work, "--shard", "0/1"}, {"finish", work},
		} {
			if code, _, talk := simdbHere(t, append([]string{"shard"}, args...)...); code != 0 {
				t.Fatal(talk)
			}
		}
		for _, name := range []string{"a.jsonl", "b.jsonl"} {
			content, ok := s.Get(strings.Replace(out, "s3://", "/", 1) + name)
			if strings.HasPrefix(out, "hf") {
				content, ok = s.Get(strings.TrimPrefix(out, "hf:/") + name)
			}
			if at == "" {
				content, ok = readFile(t, out+name), true
			}
			if before, done := results[name]; !ok || done && before != string(content) {
				t.Errorf("%s%s: %d bytes, not %d", out, name, len(content), len(before))
			}
			results[name] = string(content)
		}
	}
}
