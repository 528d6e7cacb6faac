package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records"
)

// Records are those of a loop over all lines, however the bytes arrive, and a copy of all
// has the bytes of the file.
func TestRecordStart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		var content strings.Builder
		for range rng.IntN(30) {
			content.WriteString([]string{"%", "%x", "one", "two\r", "", " ", strings.Repeat("long ", 1+rng.IntN(300))}[rng.IntN(7)] + "\n")
		}
		content.WriteString([]string{"", "%", "%y", "end"}[rng.IntN(4)])
		var want []string
		var whole []byte
		begun, found := "", false
		flush := func(line int) {
			if s := strings.TrimSpace(begun); s != "" && s != "%" {
				want = append(want, fmt.Sprintf("%d|%s", line, begun))
			}
			whole = append(whole, begun...)
			begun = ""
		}
		at := 1
		for i, line := range strings.SplitAfter(content.String(), "\n") {
			if strings.HasPrefix(line, "%") {
				found = true
				flush(at)
				at = i + 1
			}
			begun += line
		}
		flush(at)
		for how, r := range map[string]io.Reader{"": strings.NewReader(content.String()), "halves": iotest.HalfReader(strings.NewReader(content.String())), "bytes": iotest.OneByteReader(strings.NewReader(content.String()))} {
			src := must.Get(records.New("a.txt", io.NopCloser(r), -1, records.Options{RecordStart: "^%"}))(t)
			var got []string
			for rec, err := range src.Records(context.Background()) {
				if !found && strings.TrimSpace(content.String()) != "" {
					if err == nil || !strings.Contains(err.Error(), `no line matches RecordStart: "^%"`) {
						t.Fatalf("%q: %v", content.String(), err)
					}
					want = nil
					break
				}
				if err != nil {
					t.Fatalf("%q: %v", content.String(), err)
				}
				got = append(got, fmt.Sprintf("%d|%s", rec.Pos, rec.Raw))
				if text := strings.TrimRight(string(rec.Raw), "\r\n"); strings.TrimRight(rec.Doc.Text, "\r\n") != text || rec.Doc.ID != fmt.Sprintf("a.txt:%d", rec.Pos) {
					t.Fatalf("%q: %v", rec.Raw, rec.Doc)
				}
			}
			if strings.Join(got, "") != strings.Join(want, "") {
				t.Fatalf("round %d, %s %.300q: %.300q, want %.300q", round, how, content.String(), got, want)
			}
		}
		if string(whole) != content.String() {
			t.Fatal("the test loses bytes")
		}
	}
}

// A line too long for the rule is decided by its beginning; a record that is too large is an Issue
// with all its bytes, and the next one is read.
func TestRecordStartLarge(t *testing.T) {
	line := "x" + strings.Repeat("%", 3*longestLine) + "\n"
	large := "%\n" + strings.Repeat(line, records.MaxRecord/len(line)+2)
	content := "%a\n" + line + "%" + line + large + "%b\nlast\n"
	src, err := records.New("a.txt", io.NopCloser(strings.NewReader(content)), -1, records.Options{RecordStart: "^%"})
	must.Do(t, err)
	var got [][]byte
	for rec, err := range src.Records(context.Background()) {
		if is, ok := errors.AsType[*records.Issue](err); ok {
			raw, done, err := is.Bytes()
			if err != nil || !strings.Contains(is.Reason, "too large") || is.Pos != 4 || is.End != records.Position(4+strings.Count(large, "\n")-1) {
				t.Fatalf("%v %d %d: %v", is, is.Pos, is.End, err)
			}
			got = append(got, bytes.Clone(raw))
			done()
		} else if err != nil {
			t.Fatal(err)
		} else {
			got = append(got, bytes.Clone(rec.Raw))
		}
	}
	if len(got) != 4 || string(bytes.Join(got, nil)) != content {
		t.Fatalf("%d records", len(got))
	}
}

func TestRecordStartRefused(t *testing.T) {
	for _, c := range []struct {
		name, content string
		opt           records.Options
		want          string
	}{
		{"a.txt", "x\n", records.Options{RecordStart: "("}, "RecordStart: \"(\": error parsing regexp: missing closing )"},
		{"a.txt", "x\n", records.Options{RecordStart: "x*"}, "matches every line"},
		{"a.txt", "x\n", records.Options{RecordStart: "^y"}, `no line matches RecordStart: "^y", so the whole file would be one record`},
		{"a.jsonl", "x\n", records.Options{RecordStart: "^y", Format: JSONL}, "RecordStart is for plain text, not for JSON lines"},
		{"a.txt", ">a\nAC\n", records.Options{RecordStart: "^y", Format: "fasta"}, "RecordStart is for plain text, not for FASTA"},
		{"a.txt", "x\n", records.Options{Format: "fasta"}, "no line begins a record of FASTA; "},
		{"a.txt", ">a\nAC\n", records.Options{Format: "fasta", TextField: "x"}, "it is FASTA, whose records have no fields: leave out IDField, TextField"},
		{"a.fastq", "@a\nACG\n+\nII\n@b\nA\n+\nI\n", records.Options{}, "1! not FASTQ: the sequence has 3 letters and the quality 7"},
		{"a.po", "\x00", records.Options{}, "NUL bytes"},
	} {
		got, _, err := read(t, c.name, c.content, c.opt)
		if all := fmt.Sprint(got, err); !strings.Contains(all, c.want) {
			t.Errorf("%q: %s, want %s", c.content, all, c.want)
		}
	}
}

// Copies of records from several files can be read again.
func TestCopiesStayApart(t *testing.T) {
	for _, c := range []struct {
		first, second string
		opt           records.Options
		want          string
	}{
		{"a\n%\nb\n", "c\n%\nd\n%\n", records.Options{RecordStart: "^%"}, "a\n%\nb\n%\nc\n%\nd\n"},
		{"a\n%\nb\n%\n", "c\n%\nd", records.Options{Format: "fortune"}, "a\n%\nb\n%\nc\n%\nd"},
		{"dn: a\n\ndn: b", "dn: c\n\n\ndn: d\n", records.Options{Format: "ldif"}, "dn: a\n\ndn: b\n\ndn: c\n\n\ndn: d\n"},
		{">a\nA\n\n>b\nA", ">c\nA\n", records.Options{Format: "fasta"}, ">a\nA\n\n>b\nA\n>c\nA\n"},
		{"a\n2: b\n", "c\n2: d\n", records.Options{RecordStart: `^\d`}, "a\n2: b\nc\n2: d\n"},
		{"a\n%%\nb\n%\nc\n%x\nd\n", "e\n%\nf\n", records.Options{RecordStart: "^%"}, "a\n%%\nb\n%\nc\n%x\nd\n%\ne\n%\nf\n"},
		{"a\n\nb\n \n", "c\n\nd\n", records.Options{RecordStart: `^$`}, "a\n\nb\n \n\nc\n\nd\n"},
		{"a\n\nb\nb\n", "c\n\nd\n", records.Options{RecordStart: `^$`}, "a\n\nb\nb\n\nc\n\nd\n"},
	} {
		var out bytes.Buffer
		to, err := TXT.NewCopier(&out, records.CopyOptions{})
		for _, content := range []string{c.first, c.second} {
			src, e := records.New("a", io.NopCloser(strings.NewReader(content)), int64(len(content)), c.opt)
			if err = errors.Join(err, e); err != nil {
				t.Fatal(err)
			}
			for rec, e := range src.Records(context.Background()) {
				if err = errors.Join(err, e, to.Copy(src, rec.Raw)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if out.String() != c.want {
			t.Errorf("%q: %q, want %q", c.first, out.String(), c.want)
		}
	}
}
