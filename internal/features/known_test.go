package features

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	goldens "github.com/simdb/simdb/internal/golden"
	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/simhash"
)

const formatDoc = "../../docs/format/fingerprints.md"

// A question is a line of the known answers in docs/format/fingerprints.md.
type question struct {
	what string
	seed uint64
	k, n int
	text string

	version  int // of the tokenizer
	features string
	spec     Spec // of a document
}

// parseQuestion parses a line without its answer.
func parseQuestion(line string) (q question, err error) {
	if before, rest, ok := strings.Cut(line, "features="); ok {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return q, err
		}
		q.features, _ = strconv.Unquote(quoted)
		line = before + rest[len(quoted):]
	}
	q.version = token.Version
	before, rest, _ := strings.Cut(line, `"`)
	fields := strings.Fields(before)
	q.what = fields[0]
	for _, f := range fields[1:] {
		name, value, _ := strings.Cut(f, "=")
		v, err := strconv.Atoi(value)
		if err != nil {
			return q, err
		}
		switch name {
		case "seed":
			q.seed = uint64(v)
		case "k":
			q.k = v
		case "n":
			q.n = v
		case "version":
			q.version = v
		}
	}
	if q.spec, err = Parse(q.features, q.version); err != nil {
		return q, err
	}
	text, times, _ := strings.Cut(`"`+rest, " * ")
	if q.text, err = strconv.Unquote(text); err != nil || times == "" {
		return q, err
	}
	n, err := strconv.Atoi(times)
	q.text = strings.Repeat(q.text, n)
	return q, err
}

// answer computes the answer to a question, with the public packages if possible.
func (q question) answer() string {
	c := token.Config{Shingle: max(q.k, 1), Seed: q.seed, CharGrams: q.what == "grams", Version: q.version}
	switch q.what {
	case "word":
		var words strings.Builder
		for w := range q.spec.Rules().Split(q.text) {
			fmt.Fprintf(&words, " %016x", token.NewHasher(q.seed).Of(w))
		}
		return words.String()[1:]
	case "shingles", "grams":
		var all shingles
		token.New(c).Text(q.text, &all)
		return fmt.Sprintf("%016x", []uint64(all))
	case "feature":
		return fmt.Sprintf("%016x", token.NewHasher(q.seed).Feature([]byte(q.text)))
	case "simhash", "simhash256":
		bits := 64
		if q.what == "simhash256" {
			bits = 256
		}
		h, err := simhash.New(simhash.Options{Shingle: q.k, Seed: q.seed, Bits: bits})
		if err != nil {
			return err.Error()
		}
		fp := make([]uint64, bits/64)
		if !h.Wide(fp, q.text) {
			return "none"
		}
		return strings.Trim(fmt.Sprintf("%016x", fp), "[]")
	case "sketch", "encoded":
		h, err := minhash.New(minhash.Options{Shingle: q.k, Seed: q.seed, Size: q.n})
		if err != nil {
			return err.Error()
		}
		if s := h.Text(q.text); q.what == "sketch" {
			return fmt.Sprintf("%08x", []uint32(s))
		} else {
			return fmt.Sprintf("%x", s.AppendEncoded(nil))
		}
	}
	if q.what == "document" {
		r := NewFingerprinter(Params{Shingle: q.k, Sketch: q.n, Seed: q.seed, Features: q.spec}).Text(q.text)
		if r.Empty {
			return "none"
		}
		return fmt.Sprintf("%016x %08x", r.Fingerprint, []uint32(r.Sketch))
	}
	return "unknown question"
}

func TestKnownAnswers(t *testing.T) {
	doc, err := os.ReadFile(formatDoc)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "```known-answers\n", "\n```"
	head, rest, ok := strings.Cut(string(doc), begin)
	block, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no known answers", formatDoc)
	}
	var lines []string
	for line := range strings.SplitSeq(block, "\n") {
		if i := strings.LastIndex(line, " = "); i >= 0 {
			line = line[:i]
		}
		q, err := parseQuestion(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		lines = append(lines, line+" = "+q.answer())
	}
	goldens.Compare(t, formatDoc, head+begin+strings.Join(lines, "\n")+end+tail)
}
