package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records"
)

// JSON that does not have one object per line is cut into its values, which get the line numbers of
// their beginnings.
func TestSpread(t *testing.T) {
	const a, b = `{"id":"a","text":"x"}`, `{"id":"b","text":"y"}`
	for _, c := range []struct {
		name, content string
		opt           records.Options
		want          string // records and issues; "..." at the end matches any rest
	}{
		{"a.json", "[\n" + a + ",\n" + b + "\n]\n", records.Options{}, "2 a|x|| 3 b|y||"},
		{"a.json", "[" + a + "," + b + "]", records.Options{}, "1 a|x|| 1 b|y||"},
		{"-", "  [\n\n  " + a + "\n  ,\n\n" + b + "]\n\n", records.Options{}, "3 a|x|| 6 b|y||"},
		{"a.jsonl", "[\n" + a + "\n]", records.Options{}, "2 a|x||"},
		{"a.json", "{\n\"id\": \"a\",\n\"text\": \"x\"\n}\n{\n\"id\": \"b\",\n\"text\": \"y\"\n}", records.Options{}, "1 a|x|| 5 b|y||"},
		{"-", "{\"id\": 1,\n\"text\": \"x\"}\n{\"id\": 2,\n\"text\": \"y\"}\n", records.Options{}, "1 1|x|| 3 2|y||"},
		{"a.json", "{\n\"id\":1,\"text\":\"}]\\\"{[\\\\\"\n}" + b, records.Options{}, `1 1|}]"{[\|| 3 b|y||`},
		{"a.json", a + b + "\n", records.Options{}, "1 a|x|| 1 b|y||"},
		{"a.jsonl", a + b + "\n" + b + a + "\n" + a + a, records.Options{}, "1 a|x|| 1 b|y|| 2 b|y|| 2 a|x|| 3 a|x|| 3 a|x||"},
		{"-", a + ",\n" + b + ",\n" + a + "\n", records.Options{}, "1 a|x|| 2 b|y|| 3 a|x||"},
		{"a.jsonl", a + b + "\n" + a + "\n" + b + "\n", records.Options{}, "1! not JSON: ..."},
		{"a.jsonl", a + " x\n" + a + "\n", records.Options{}, "1! not JSON: ..."},
		{"a.json", "[" + a + ", 17, \"s, ]\", null, [1, [2]], " + b + "]", records.Options{},
			"1 a|x|| 1! not a JSON object 1! not a JSON object but a string: jq..."},
		{"a.json", "[\n{\"id\":\"a\"},\n{\"id\":\"b\" \"text\":1},\n" + b + "]", records.Options{}, "2 a|||~no \"text\" and..."},
		{"a.json", "[]", records.Options{}, ""},
		{"a.json", "[\n]\n", records.Options{}, ""},
		{"a.json", "[" + a + "]\n[" + b + "]\n" + a, records.Options{}, "1 a|x|| 2 b|y|| 3 a|x||"},
		{"a.json", "[\n" + a + ",\n{\"id\":\"b\",\n\"te", records.Options{}, "2 a|x|| 3! the JSON object is not closed"},
		{"a.json", "[\n" + a + ",\n", records.Options{}, "2 a|x|| 3! the JSON array is not closed"},
		{"a.json", "[\n" + a + "\n]", records.Options{After: 1}, ""},
		{"a.json", "[" + a + "," + b + "]", records.Options{After: 1}, "1 b|y||"},
		{"a.json", a + "\n" + b + "\n", records.Options{Format: JSON}, "1 a|x|| 2 b|y||"},
		{"a.txt", a + b, records.Options{Format: JSON}, "1 a|x|| 1 b|y||"},
		{"a.json", "[\n{\"id\":\"a\",\"fingerprint\":\"9f3c5a0011223344\"}\n]", records.Options{}, "2 a|||9f3c5a0011223344"},
	} {
		got, _, err := read(t, c.name, c.content, c.opt)
		all := strings.Join(got, " ")
		if cut, is := strings.CutSuffix(c.want, "..."); is && strings.HasPrefix(all, cut) {
			continue
		}
		if err != nil || all != c.want {
			t.Errorf("%q: %q, %v; want %q", c.content, all, err, c.want)
		}
	}
	if _, _, err := read(t, "a.json", "[\n"+a+"\n]\n", records.Options{Format: JSONL}); err == nil || !strings.Contains(err.Error(), "Format: \"json\" reads it") {
		t.Error("taken for JSON lines:", err)
	}
	if _, f, err := read(t, "a.json", a+"\n{\n"+b+"\n", records.Options{Format: JSON}); err != nil || f.info.Format != JSONL {
		t.Error("JSON lines are read as JSON, where a damaged line hides those after it:", err)
	}
}

// The records do not depend on where reads end, and a copy of all records has the same values.
func TestSpreadCuts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var values []string
		for i := range rng.IntN(6) {
			texts := []string{"x", `\"}`, `[{\\`, "a\\nb", "é", "]"}
			values = append(values, fmt.Sprintf("{\n\"id\":%d, \"text\":\"%s\", \"n\":[{\"m\":[]}]}", i, texts[rng.IntN(len(texts))]))
		}
		content := "[" + strings.Join(values, " ,\n") + "]\n"
		want, _, err := read(t, "a.json", content, records.Options{})
		if err != nil || len(want) != len(values) {
			t.Fatalf("%q: %q, %v", content, want, err)
		}
		src, err := records.New("a.json", io.NopCloser(iotest.OneByteReader(strings.NewReader(content))), -1, records.Options{})
		must.Do(t, err)
		var out bytes.Buffer
		to, err := src.Info().Format.NewCopier(&out, records.CopyOptions{Like: src})
		must.Do(t, err)
		n := 0
		for rec, err := range src.Records(context.Background()) {
			if err != nil || string(rec.Raw) != values[n] {
				t.Fatalf("%q: %q, %v", content, rec.Raw, err)
			}
			must.Do(t, to.Copy(src, rec.Raw))
			n++
		}
		if err := to.Close(); err != nil || n != len(values) {
			t.Fatal(n, err)
		}
		copied := strings.Replace("[\n"+strings.Join(values, ",\n")+"\n]\n", "[\n\n]", "[]", 1)
		if out.String() != copied {
			t.Fatalf("copied %q, want %q", out.String(), copied)
		}
		cut := rng.IntN(len(content)) // a truncated file yields no invented records
		part, _, _ := read(t, "a.json", content[:cut], records.Options{Format: JSON})
		for i, line := range part[:max(len(part)-1, 0)] {
			if !slices.Contains(want, line) {
				t.Fatalf("%q: record %d is %q", content[:cut], i, line)
			}
		}
	}
}

// A value larger than the limit is an issue at any position.
func TestSpreadTooLarge(t *testing.T) {
	huge := `{"id":"h","text":"` + strings.Repeat(`x\"`, records.MaxRecord/3+1) + `"}`
	content := "[\n" + `{"id":"a","text":"x"},` + "\n" + huge + ",\n" + `{"id":"b","text":"y"}` + "\n]\n"
	src, err := newFile("a.json", io.NopCloser(strings.NewReader(content)), -1, records.Options{})
	must.Do(t, err)
	for _, err := range src.Records(context.Background()) {
		if is, ok := errors.AsType[*records.Issue](err); ok {
			if raw, done, err := is.Bytes(); err != nil || string(raw) != huge {
				t.Errorf("the issue has %d bytes, %v", len(raw), err)
			} else {
				done()
			}
		}
	}
	got, _, err := read(t, "a.json", content, records.Options{})
	if err != nil || len(got) != 3 || !strings.HasPrefix(got[1], "3! too large: 6710") || got[2] != "4 b|y||" {
		for i := range got {
			got[i] = got[i][:min(len(got[i]), 60)]
		}
		t.Errorf("%q, %v", got, err)
	}
}
