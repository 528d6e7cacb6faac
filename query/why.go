package query

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/simdb/simdb/engine"
)

// problemRow tells a problem that CHECK found.
func problemRow(err error) Row {
	if e, ok := errors.AsType[*engine.CorruptionError](err); ok {
		return Row{e.File, e.Section, e.Offset, e.Err.Error()}
	}
	return Row{nil, nil, nil, err.Error()}
}

// why runs WHY 'a' 'b': how two documents compare by every measure.
func (x *run) why(s *whyStmt) error {
	var docs [2]engine.Doc
	for i, t := range []lexer.Token{s.A, s.B} {
		id, err := x.values.str(t, expectID)
		if err != nil {
			return err
		}
		if docs[i], err = x.snap.Get(x.ctx, id); err != nil {
			return x.lookupError(t.Pos.Offset, id, err)
		}
	}
	a, b := docs[0], docs[1]
	rows := whyFingerprints(a.Fingerprint, b.Fingerprint, x.db.Params().Layout)
	if a.Text != "" && b.Text != "" {
		rows = append(rows, x.whyTexts(a.Text, b.Text)...)
	}
	x.answer([]string{"name", "value"}, fixed(rows...))
	return nil
}

// whyFingerprints compares fingerprints: their distance, the bits that differ (0 is the lowest), and which blocks of
// the layout agree. A layout m:1 finds a pair through a block that agrees, or nearly does.
func whyFingerprints(a, b *uint64, layout string) []Row {
	if a == nil || b == nil {
		return []Row{{"distance", "none: a text without words has no fingerprint"}}
	}
	diff := *a ^ *b
	var differ []string
	for rest := diff; rest != 0; rest &= rest - 1 {
		differ = append(differ, strconv.Itoa(bits.TrailingZeros64(rest)))
	}
	rows := []Row{
		{"fingerprint a", *a},
		{"fingerprint b", *b},
		{"distance", bits.OnesCount64(diff)},
		{"bits that differ", strings.Join(differ, " ")},
	}
	m, err := strconv.Atoi(strings.Split(layout, ":")[0])
	if err != nil || m < 1 || m > 64 {
		return rows
	}
	blocks := make([]string, m)
	at := 64
	for i := range blocks {
		width := (at + m - i - 1) / (m - i)
		at -= width
		blocks[i] = strconv.Itoa(bits.OnesCount64(diff >> at & (1<<width - 1)))
	}
	return append(rows, Row{fmt.Sprintf("bits that differ in each of %d blocks", m), strings.Join(blocks, " ")})
}

// whyTexts compares texts by the measures that are exact.
func (x *run) whyTexts(a, b string) []Row {
	k := x.db.Params().Shingle
	j, common, union := jaccard(a, b, k)
	rows := []Row{
		{"jaccard", j},
		{fmt.Sprintf("common shingles of %d words", k), fmt.Sprintf("%d of %d", common, union)},
	}
	if c, ok := cosine(a, 0)(x.ctx, b); ok {
		rows = append(rows, Row{"cosine", c})
	}
	const longest = 20000 // runes: the edit distance takes the product of both lengths
	if len(a) <= longest && len(b) <= longest {
		if l, ok := levenshtein(a, 0)(x.ctx, b); ok {
			rows = append(rows, Row{"levenshtein", l})
		}
	}
	return rows
}
