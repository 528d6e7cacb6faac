package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// wideCodes returns fingerprints of some words. Every second one differs in few bits from the
// previous one; the last are all zeros and all ones.
func wideCodes(words, n int) (codes [][]byte) {
	r := rand.New(rand.NewPCG(uint64(words), 7))
	for i := range n {
		code := make([]byte, 0, 8*words)
		for range words {
			code = binary.BigEndian.AppendUint64(code, r.Uint64())
		}
		if i%2 == 1 {
			copy(code, codes[i-1])
			for range i {
				code[r.IntN(len(code))] ^= 1 << r.IntN(8)
			}
		}
		codes = append(codes, code)
	}
	return append(codes, make([]byte, 8*words), bytes.Repeat([]byte{0xff}, 8*words))
}

// wideRows returns the rows of a join of a list of codes with itself, by comparing all pairs.
func wideRows(codes [][]byte, k int) string {
	type row struct {
		id string
		d  int
	}
	var all strings.Builder
	for q, a := range codes {
		var rows []row
		for i, b := range codes {
			d := 0
			for j := range a {
				for x := a[j] ^ b[j]; x != 0; x &= x - 1 {
					d++
				}
			}
			if d <= k {
				rows = append(rows, row{fmt.Sprint(i + 1), d})
			}
		}
		slices.SortFunc(rows, func(a, b row) int {
			if a.d != b.d {
				return a.d - b.d
			}
			return strings.Compare(a.id, b.id)
		})
		for _, r := range rows {
			fmt.Fprintf(&all, "%d\t%s\t%d\n", q+1, r.id, r.d)
		}
	}
	return all.String()
}

// wideParquet writes codes into a column of fixed-length bytes.
func wideParquet(t *testing.T, codes [][]byte, name string) string {
	t.Helper()
	row := reflect.StructOf([]reflect.StructField{
		{Name: "ID", Type: reflect.TypeFor[string](), Tag: `parquet:"id"`},
		{Name: "Fingerprint", Type: reflect.ArrayOf(len(codes[0]), reflect.TypeFor[byte]()), Tag: `parquet:"fingerprint"`},
	})
	var b bytes.Buffer
	w := pq.NewWriter(&b, pq.SchemaOf(reflect.New(row).Interface()))
	for i, code := range codes {
		v := reflect.New(row)
		v.Elem().Field(0).SetString(fmt.Sprint(i + 1))
		reflect.Copy(v.Elem().Field(1), reflect.ValueOf(code))
		must.Do(t, w.Write(v.Interface()))
	}
	must.Do(t, w.Close())
	write(t, name, b.String())
	return name
}

// Fingerprints of several words are read in every notation and format, and searches find the same
// as comparing all pairs.
func TestWideFormats(t *testing.T) {
	type texts struct {
		ID          string `parquet:"id" json:"id"`
		Fingerprint string `parquet:"fingerprint" json:"fingerprint"`
	}
	type blobs struct {
		ID          string `parquet:"id"`
		Fingerprint []byte `parquet:"fingerprint"`
	}
	widths := []int{2, 4, 16}
	for i := range exhaustive.Some(t, 3, len(widths)) {
		words := widths[i]
		codes := wideCodes(words, 60)
		write := func(file string, line func(id, code string) string) func(t *testing.T) string {
			return func(t *testing.T) string {
				var b strings.Builder
				for i, code := range codes {
					b.WriteString(line(fmt.Sprint(i+1), hex.EncodeToString(code)) + "\n")
				}
				write(t, file, b.String())
				return file
			}
		}
		bits := func(code string) (b string) {
			raw, _ := hex.DecodeString(code)
			for _, c := range raw {
				b += fmt.Sprintf("%08b", c)
			}
			return b
		}
		letters := func(code string) string {
			raw, _ := hex.DecodeString(code)
			return base64.StdEncoding.EncodeToString(raw)
		}
		rows := func(t *testing.T) (rows []texts) {
			for i, code := range codes {
				rows = append(rows, texts{fmt.Sprint(i + 1), strings.ToUpper(hex.EncodeToString(code))})
			}
			return rows
		}
		said := fmt.Sprintf("fingerprints of %d bits, ", 64*words)
		for name, c := range map[string]struct {
			write func(t *testing.T) string
			said  string
			flags []string
		}{
			"alone":     {write("alone.txt", func(_, code string) string { return code }), said + "one hexadecimal number a line (the id is the line's number); checksums", nil},
			"after id":  {write("after.tsv", func(id, code string) string { return id + "\t0x" + code }), said + "id TAB hexadecimal number a line", nil},
			"before id": {write("before", func(id, code string) string { return code + "\t" + id }), said + "hexadecimal number TAB id a line", nil},
			"binary":    {write("binary.txt", func(_, code string) string { return bits(code) }), said + "one binary number a line (the id is the line's number)\n", nil},
			"base64":    {write("base64.tsv", func(id, code string) string { return id + "\t" + letters(code) }), said + "id TAB base64 number a line\n", []string{"--fingerprints", "base64"}},
			"given":     {write("given.txt", func(_, code string) string { return code }), said, []string{"--bits", fmt.Sprint(64 * words)}},
			"csv": {write("a.csv", func(id, code string) string {
				if id == "1" {
					return "id,pdq\n1," + code
				}
				return id + "," + code
			}), fmt.Sprintf("a.csv: its fingerprints have %d bits", 64*words), []string{"--fingerprint-field", "pdq"}},
			"jsonl": {write("a.jsonl", func(id, code string) string { return fmt.Sprintf(`{"id":%s,"fingerprint":"%s"}`, id, code) }), "its fingerprints have", nil},
			"members": {func(t *testing.T) string {
				all := map[string]string{}
				for _, r := range rows(t) {
					all[r.ID] = r.Fingerprint
				}
				b := must.Get(json.Marshal(all))(t)
				must.Do(t, os.WriteFile("map.json", b, 0o666))
				return "map.json"
			}, fmt.Sprintf("a JSON object, each member an id and its fingerprint; its fingerprints have %d bits; checksums", 64*words), nil},
			"parquet text": {func(t *testing.T) string {
				must.Do(t, pq.WriteFile("text.parquet", rows(t)))
				return "text.parquet"
			}, "its fingerprints have", nil},
			"parquet bytes": {func(t *testing.T) string {
				var rows []blobs
				for i, code := range codes {
					rows = append(rows, blobs{fmt.Sprint(i + 1), code})
				}
				must.Do(t, pq.WriteFile("bytes.parquet", rows))
				return "bytes.parquet"
			}, "its fingerprints have", nil},
			"parquet fixed": {func(t *testing.T) string { return wideParquet(t, codes, "fixed.parquet") }, "its fingerprints have", nil},
		} {
			t.Run(fmt.Sprintf("%s/%d", name, 64*words), func(t *testing.T) {
				t.Chdir(t.TempDir())
				file := c.write(t)
				code, _, talk := simdbIn(t, ".", "", append([]string{"load", "x.simdb", file}, c.flags...)...)
				if code != 0 || !strings.Contains(talk, c.said) || !strings.Contains(talk, "62 documents loaded") {
					t.Fatalf("exit status %d: %s, want %s", code, talk, c.said)
				}
				var want []string
				for i, code := range codes {
					want = append(want, fmt.Sprintf("%d\t%x", i+1, code))
				}
				slices.Sort(want)
				got := strings.Fields(strings.ReplaceAll(simdb(t, ".", "x.simdb", "ID LIKE '%' SHOW id, fingerprint"), "\t", "|"))
				if strings.ReplaceAll(strings.Join(got, "\n"), "|", "\t") != strings.Join(want, "\n") {
					t.Fatalf("stored %q, want %q", got, want)
				}
				const k = 31
				joined := strings.SplitAfter(simdb(t, ".", append([]string{"join", "x.simdb", file, "--near", fmt.Sprint(k)}, c.flags...)...), "\n")
				rows := strings.SplitAfter(wideRows(codes, k), "\n")
				if name == "members" { // its documents are in another order
					slices.Sort(joined)
					slices.Sort(rows)
				}
				if !slices.Equal(joined, rows) {
					t.Errorf("join: %q\nwant %q", joined, rows)
				}
				var pairs []string
				for _, r := range rows {
					if cells := strings.Split(r, "\t"); r != "" && cells[0] < cells[1] {
						pairs = append(pairs, r)
					}
				}
				slices.Sort(pairs)
				for _, of := range []string{"x.simdb", file} {
					flags := append([]string{"pairs", of, "--near", fmt.Sprint(k)}, c.flags...)
					if of == "x.simdb" {
						flags = flags[:4]
					}
					got := strings.SplitAfter(simdb(t, ".", flags...), "\n")
					if slices.Sort(got); !slices.Equal(got[1:], pairs) {
						t.Errorf("pairs of %s: %q\nwant %q", of, got, pairs)
					}
				}
				kept := map[string]bool{} // ids: the first of similar ones
				for _, r := range strings.Fields(strings.ReplaceAll(wideRows(codes, k), "\t", ",")) {
					cells := strings.Split(r, ",")
					if _, seen := kept[cells[0]]; !seen {
						kept[cells[0]] = true
					}
					if cells[0] != cells[1] && kept[cells[0]] {
						kept[cells[1]] = false
					}
				}
				n := 0
				for _, is := range kept {
					if is {
						n++
					}
				}
				out := "kept" + filepath.Ext(file)
				simdb(t, ".", append([]string{"dedup", file, "--near", fmt.Sprint(k), "-o", out}, c.flags...)...)
				code, left, talk := simdbIn(t, ".", "", append([]string{"pairs", out, "--near", fmt.Sprint(k)}, c.flags...)...)
				if code != 1 || left != "" || !strings.Contains(talk, fmt.Sprintf("%d documents read", n)) {
					t.Errorf("of what is kept, which should be %d, these are alike: %s %s", n, left, talk)
				}
			})
		}
	}
}

// A file or database has fingerprints of one length. If the first digits could be binary or
// hexadecimal, the others decide, or a flag.
func TestWideRefusals(t *testing.T) {
	code := func(words int, c byte) string { return strings.Repeat(string(c), 16*words) }
	list := func(codes ...string) string { return strings.Join(codes, "\n") + "\n" }
	csv := func(codes ...string) string {
		b := "id,fingerprint\n"
		for i, c := range codes {
			b += fmt.Sprintf("%d,%s\n", i, c)
		}
		return b
	}
	many := slices.Repeat([]string{code(4, 'a')}, 3000) // more than the first block
	dir := t.TempDir()
	write(t, filepath.Join(dir, "base.txt"), list(code(4, 'a'), code(4, 'b')))
	simdb(t, dir, "load", "base.simdb", "base.txt")
	for name, c := range map[string]struct {
		file, content string
		args          []string // arguments after load DB FILE
		db            string
		want          string
	}{
		"mixed":           {"a.txt", list(code(4, 'a'), code(4, 'b'), code(2, 'c')), nil, "new.simdb", "the fingerprint of line 1, " + code(4, 'a')[:40] + "..., has 256 bits, but that of line 3, " + code(2, 'c') + ", has 128"},
		"mixed with 64":   {"a.csv", csv(code(1, 'a'), code(4, 'a')), nil, "new.simdb", "the fingerprint of line 2, aaaaaaaaaaaaaaaa, has 64 bits, but that of line 3, aaaaaaaa"},
		"far":             {"a.txt", list(append(many, code(2, 'b'))...), nil, "new.simdb", "the fingerprint of line 1, aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..., has 256 bits, but that of line 3001, " + code(2, 'b') + ", has 128"},
		"members":         {"a.jsonl", `{"id":1,"fingerprint":"` + code(4, 'a') + `"}` + "\n" + `{"id":2,"fingerprint":5}` + "\n", nil, "new.simdb", "..., has 256 bits, but that of line 2, 5, has 64"},
		"two lists":       {"a.txt", list(code(4, 'a')), []string{"b.tsv"}, "new.simdb", "has 128 bits, but the fingerprints to compare it with have 256"},
		"other database":  {"a.txt", list(code(2, 'a')), nil, "base.simdb", "the fingerprint of line 1, " + code(2, 'a') + ", has 128 bits, but the fingerprints to compare it with have 256"},
		"64 into 256":     {"a.tsv", "x\t" + code(1, 'a') + "\n", nil, "base.simdb", "has 64 bits, but the fingerprints to compare it with have 256"},
		"short into 256":  {"a.csv", csv("c7e7e3c18000001", "c7e7e3c18000002"), nil, "base.simdb", "the fingerprint of line 2, c7e7e3c18000001, has 64 bits, but the fingerprints to compare it with have 256"},
		"numbers into it": {"a.txt", "5\n6\n", nil, "base.simdb", "the fingerprint of line 1, 5, has 64 bits"},
		"other flag":      {"a.txt", list(code(4, 'a')), []string{"--bits", "128"}, "new.simdb", "has 256 bits, but the fingerprints to compare it with have 128"},
		"flag and db":     {"a.txt", list(code(4, 'a')), []string{"--bits", "128"}, "base.simdb", "base.simdb was created with bits 256, not 128"},
		"zeros":           {"a.txt", list(code(4, '0'), code(4, 'a')), nil, "new.simdb", "2 documents loaded"},
		"zeros alone":     {"a.txt", list(code(4, '0')), []string{"--bits", "256"}, "new.simdb", "fingerprints of 256 bits"},
		"zeros into it":   {"a.txt", list(code(4, '0')), nil, "base.simdb", "fingerprints of 256 bits"},
		"texts into it":   {"a.jsonl", `{"id":"t","text":"some words"}` + "\n", nil, "base.simdb", "1 document loaded"},
	} {
		dir := dir
		if c.db == "new.simdb" {
			dir = t.TempDir()
		}
		write(t, filepath.Join(dir, c.file), c.content)
		write(t, filepath.Join(dir, "b.tsv"), "x\t"+code(2, 'a')+"\n")
		for _, verb := range [][]string{{"load", c.db, c.file}, {"match", c.db, c.file, "--near", "3"}, {"join", c.db, c.file, "--near", "3"}} {
			if verb[0] != "load" && (c.db == "new.simdb" || !strings.Contains(c.want, "compared")) {
				continue
			}
			_, _, talk := simdbIn(t, dir, "", append(verb, c.args...)...)
			if !strings.Contains(talk, c.want) {
				t.Errorf("%s: %s says %q, not %q", name, verb[0], talk, c.want)
			}
		}
	}
	if got := simdb(t, dir, "base.simdb", "COUNT"); got != "3\n" { // with the zeros, and the text, which has replaced no document
		t.Errorf("%s documents are stored", got)
	}
}

// Texts have SimHashes of the length that the database was created with; they begin with the
// SimHash of 64 bits. match --add, PUT and statements have them, too.
func TestWideTexts(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.jsonl"), `{"id":"a","text":"the quick brown fox jumps over the lazy dog"}
{"id":"b","text":"the quick brown fox jumps over the lazy cat"}
{"id":"c","text":"words of another document that is not like these"}
`)
	simdb(t, dir, "load", "w.simdb", "a.jsonl", "--bits", "256")
	simdb(t, dir, "load", "n.simdb", "a.jsonl")
	for _, id := range []string{"a", "b", "c"} {
		wide := strings.TrimSpace(simdb(t, dir, "w.simdb", "ID = '"+id+"' SHOW fingerprint"))
		narrow := strings.TrimSpace(simdb(t, dir, "n.simdb", "ID = '"+id+"' SHOW fingerprint"))
		if len(wide) != 64 || len(narrow) != 16 || !strings.HasPrefix(wide, narrow) {
			t.Errorf("%s: %s and %s", id, wide, narrow)
		}
		if got := simdb(t, dir, "w.simdb", "NEAR(0x"+wide+", 0)"); got != id+"\t0\n" {
			t.Errorf("NEAR(0x%s, 0): %q", wide, got)
		}
		if hashed := simdb(t, dir, "hash", "a.jsonl", "--input-format", "jsonl", "--bits", "256", "--sketch", "0"); !strings.Contains(hashed, id+"\t"+wide+"\t") {
			t.Errorf("hash: %s, want %s", hashed, wide)
		}
	}
	distance := strings.Fields(simdb(t, dir, "w.simdb", "NEAR('a', 256) LIMIT 1"))[1] // the distance of b
	for name, text := range map[string]string{"a.txt": "the quick brown fox jumps over the lazy dog", "b.txt": "the quick brown fox jumps over the lazy cat"} {
		write(t, filepath.Join(dir, name), text)
	}
	row := strings.Fields(simdb(t, dir, "hash", "--bits", "256", "--compare", "a.txt", "b.txt"))
	var d int
	var equal, cosine, stderr float64
	if _, err := fmt.Sscan(strings.Join(row[2:], " "), &d, &equal, &cosine, &stderr); err != nil || fmt.Sprint(d) != distance || equal != 1-float64(d)/256 || cosine < 0.5 || stderr <= 0 || stderr > 0.1 {
		t.Errorf("hash --compare: %q, the distance is %s", row, distance)
	}
	if code, _, talk := simdbIn(t, dir, "", "hash", "--compare", "a.txt", "/dev/null"); code != 1 || !strings.Contains(talk, "no fingerprint") {
		t.Errorf("hash --compare with nothing: %d, %s", code, talk)
	}

	simdb(t, dir, "dedup", "a.jsonl", "--near", "64", "--bits", "256", "-o", "kept.jsonl")
	near := strings.Contains(simdb(t, dir, "w.simdb", "NEAR('a', 64)"), "b\t")
	if b, err := os.ReadFile(filepath.Join(dir, "kept.audit.jsonl")); err != nil || !strings.Contains(string(b), `"reading":"--bits 256"`) || strings.Contains(string(b), `"distance":`+distance) != near {
		t.Errorf("the audit of dedup --bits 256: %s, %v; near %v", b, err, near)
	}

	wide := strings.TrimSpace(simdb(t, dir, "w.simdb", "ID = 'a' SHOW fingerprint"))
	other := strings.Repeat("5a", 32)
	write(t, filepath.Join(dir, "list.tsv"), "x\t"+other+"\ny\t"+other[:62]+"5b\nz\t"+wide+"\n")
	if got := simdb(t, dir, "match", "w.simdb", "list.tsv", "--near", "3", "--add"); got != "x\t"+other+"\n" {
		t.Errorf("match --add: %q", got)
	}
	simdb(t, dir, "w.simdb", `PUT {"id":"far","fingerprint":"`+strings.Repeat("a5", 32)+`"}`)
	for id, d := range map[string]int{"x": 0, "far": 256} {
		if got := simdb(t, dir, "w.simdb", fmt.Sprintf("NEAR(0x%s, 256) AND ID = '%s'", other, id)); got != fmt.Sprintf("%s\t%d\n", id, d) {
			t.Errorf("from x to %s: %q, want %d", id, got, d)
		}
	}
	simdb(t, dir, "w.simdb", `PUT {"id":"p","fingerprint":"`+wide[:63]+`e"}`)
	words := make([]uint64, 4)
	must.Get(base.ParseWords(words, wide[:63]+"e", base.Auto))(t)
	want := "p\t" + fmt.Sprint(strings.Count(fmt.Sprintf("%b", words[3]^lastWord(t, wide)), "1")) + "\n"
	if got := simdb(t, dir, "w.simdb", "NEAR('a', 4)"); got != want {
		t.Errorf("near a: %q, want %q", got, want)
	}
	if got := simdb(t, dir, "w.simdb", ".stats"); !strings.Contains(got, "\nbits\t256\n") {
		t.Errorf(".stats: %s", got)
	}
	if got := simdb(t, dir, "why", "w.simdb", "a", "p"); !strings.Contains(got, "fingerprint a\t"+wide+"\n") {
		t.Errorf("why: %s", got)
	}
}

func lastWord(t *testing.T, code string) (w uint64) {
	t.Helper()
	w, _, err := base.ParseFingerprint(code[len(code)-16:], base.Hex)
	must.Do(t, err)
	return w
}
