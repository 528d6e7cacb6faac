package query

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/textsim"
	"github.com/simdb/simdb/internal/worddiff"
	"github.com/simdb/simdb/query/internal/record"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/simhash"
)

// why runs WHY 'a' 'b'. It compares two documents by every measure.
func (x *run) why(s *syntax.Why) error {
	var docs [2]engine.Doc
	for i, t := range []syntax.Token{s.A, s.B} {
		id, err := x.Values.String(t, syntax.ExpectID)
		if err != nil {
			return err
		}
		if docs[i], err = x.Snap.Get(x.Ctx, id); err != nil {
			return x.LookupError(t.Pos.Offset, id, err)
		}
	}
	c, err := x.Snap.Compare(x.Ctx, docs[0].ID, docs[1].ID)
	if err != nil {
		return err
	}
	rows := whyFingerprints(&c)
	rows = append(rows, x.whyShingles(&c)...)
	if docs[0].Text != "" && docs[1].Text != "" {
		common, err := x.whyPassages(docs[0], docs[1])
		if err != nil {
			return err
		}
		rows = append(append(rows, common...), x.whyTexts(docs[0].Text, docs[1].Text)...)
	}
	for p := range x.Snap.Allowed() {
		if p.A == docs[0].ID && p.B == docs[1].ID || p.A == docs[1].ID && p.B == docs[0].ID {
			rows = append(rows, Row{"allowed", true})
		}
	}
	x.answer([]string{"name", "value"}, fixed(rows...))
	return nil
}

// whyFingerprints compares fingerprints: their distance, the bits that differ (0 is the lowest),
// the share of equal bits, and the cosine of the features if both are SimHashes. For 64 bits it
// also lists the permuted tables in whose prefix the fewest bits differ: with that number as
// radius, a search of such a table finds either document from the other.
func whyFingerprints(c *engine.PairComparison) []Row {
	if c.FingerprintA == nil {
		return []Row{{"distance", "none: not both have a fingerprint; a text without words has none"}}
	}
	wa, wb := c.FingerprintA, c.FingerprintB
	var differ []string
	for i := len(wa) - 1; i >= 0; i-- { // the last word has the lowest bits
		for rest := wa[i] ^ wb[i]; rest != 0; rest &= rest - 1 {
			differ = append(differ, strconv.Itoa(64*(len(wa)-1-i)+bits.TrailingZeros64(rest)))
		}
	}
	width := 64 * len(wa)
	cosine, stderr := simhash.Cosine(c.Distance, width)
	rows := []Row{
		{"fingerprint a", record.Fingerprint([]engine.Fingerprint{wa})},
		{"fingerprint b", record.Fingerprint([]engine.Fingerprint{wb})},
		{"distance", c.Distance},
		{"bits that differ", strings.Join(differ, " ")},
		{"share of equal bits", 1 - float64(c.Distance)/float64(width)},
		{"cosine, if both are SimHashes", fmt.Sprintf("%.3f ± %.3f", cosine, stderr)},
	}
	if len(wa) > 1 {
		return rows
	}
	least := slices.Min(c.Leads)
	var leads, meet []string
	for i, d := range c.Leads {
		leads = append(leads, strconv.Itoa(d))
		if d == least {
			meet = append(meet, strconv.Itoa(i))
		}
	}
	return append(rows,
		Row{fmt.Sprintf("bits that differ in the lead of each of %s", quantity.Plain(len(leads), "table", "tables")), strings.Join(leads, " ")},
		Row{fmt.Sprintf("tables that meet with radius %d", least), strings.Join(meet, " ")})
}

// commonFeatures names the elements that two sets share.
func commonFeatures(p engine.Options) string {
	switch p.Features.Unit {
	case "set":
		return "common members"
	case "chars":
		return fmt.Sprintf("common shingles of %d characters", p.Shingle)
	}
	return fmt.Sprintf("common shingles of %d words", p.Shingle)
}

// whyShingles compares sets of shingles, by the sketches and by the texts.
func (x *run) whyShingles(c *engine.PairComparison) []Row {
	var rows []Row
	if x.DB.Options().Sketch > 0 {
		rows = append(rows, Row{"score", c.Score.Score}, Row{"error", c.Score.Error}, Row{"exact", c.Score.Exact})
	}
	if c.Verified {
		rows = append(rows,
			Row{"jaccard", c.Jaccard},
			Row{commonFeatures(x.DB.Options()), fmt.Sprintf("%d of %d", c.Shared, c.ShinglesA+c.ShinglesB-c.Shared)},
			Row{"shingles of a", c.ShinglesA},
			Row{"shingles of b", c.ShinglesB},
		)
	}
	if c.Verified || x.DB.Options().Sketch > 0 {
		rows = append(rows, Row{"share of a in b", c.AInB}, Row{"share of b in a", c.BInA})
	}
	return rows
}

// whyPassages shows the longest runs of words that two texts share.
func (x *run) whyPassages(a, b engine.Doc) ([]Row, error) {
	least := max(x.DB.Options().Shingle, 3)
	common, err := x.Snap.Passages(x.Ctx, a, least, nil)
	name := fmt.Sprintf("runs of at least %d words in common", least)
	if errors.Is(err, engine.ErrTooLarge) {
		return []Row{{name, "not shown: " + err.Error()}}, nil
	} else if err != nil {
		return nil, err
	}
	const shown, first, last = 5, 16, 8 // runs shown, and words shown of a long run
	runs := common.In(b.Text)
	rows := []Row{{name, len(runs)}}
	for i, r := range runs[:min(len(runs), shown)] {
		words := strings.Fields(a.Text[r.QueryAt:r.QueryEnd])
		if len(words) > first+last {
			words = slices.Concat(words[:first], []string{"..."}, words[len(words)-last:])
		}
		name := fmt.Sprintf("common run %d: %d words, at byte %d of a, %d of b", i+1, r.Words, r.QueryAt, r.At)
		rows = append(rows, Row{name, strings.Join(words, " ")})
	}
	return rows, nil
}

// mostDiffed is the size of the longest text whose words are compared.
const mostDiffed = 1 << 20

// whyTexts compares texts by cosine and edit distance, and shows the words that differ.
func (x *run) whyTexts(a, b string) []Row {
	of, _ := features.Spec(x.DB.Options().Features).Canonical() // a database has valid features only
	var rows []Row
	if c, ok := textsim.Cosine(of, a, 0)(x.Ctx, []byte(b)); ok {
		rows = append(rows, Row{"cosine", c})
	}
	const longest = 20000 // bytes; the time of the edit distance is proportional to the product of both lengths
	if len(a) <= longest && len(b) <= longest {
		if l, ok := textsim.Levenshtein(of, a, 0)(x.Ctx, []byte(b)); ok {
			rows = append(rows, Row{"levenshtein", l})
		}
	}
	if len(a) <= mostDiffed && len(b) <= mostDiffed {
		wordsA, wordsB := of.Words(a), of.Words(b)
		for _, d := range worddiff.Differences(wordsA, wordsB) {
			rows = append(rows, Row{d.Name, d.Text})
		}
		lacks, adds := worddiff.Words(wordsA, wordsB)
		rows = append(rows, Row{"lacks", lacks}, Row{"adds", adds})
	}
	return rows
}
