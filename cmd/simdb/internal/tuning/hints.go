package tuning

import (
	"bytes"
	"fmt"

	"github.com/simdb/simdb/dedup/tune"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
)

// hints suggests flags that suit the documents of the sample.
func hints(params features.Params, r *tune.Report) (said []string) {
	if !r.Scored || features.IsGiven(params.Features.Unit) {
		return nil
	}
	short, n := r.Brevity(engine.Features(params.Features))
	if short != "" {
		said = append(said, short)
	}
	percent := func(of int) float64 { return 100 * float64(of) / float64(max(n, 1)) }
	if numbered := numbered(r); percent(numbered) >= 2 {
		said = append(said, fmt.Sprintf("%.0f %% of the sampled documents differ from another only in numbers, and are similar to no other: --mask numbers treats all numbers as equal", percent(numbered)))
	}
	if symbols := int(r.Symbols()); symbols >= 2 && percent(symbols) >= 0.2 {
		said = append(said, fmt.Sprintf("%.1f %% of the sampled documents have the same words as another but other symbols, such as operators: --symbols compares these too", percent(symbols)))
	}
	return said
}

// numbered returns how many documents have no match at the proposed threshold, although another
// document of the sample differs only in numbers.
func numbered(r *tune.Report) (n int) {
	like := map[string]int{} // number of nodes for each text without numbers
	masked := make([]string, len(r.Nodes))
	for i, node := range r.Nodes {
		masked[i] = withoutNumbers(node.Doc.Text)
		like[masked[i]]++
	}
	for i, node := range r.Nodes {
		if like[masked[i]] > 1 && r.Unmatched(i) {
			n += node.Count
		}
	}
	return n
}

// withoutNumbers replaces each run of digits in a text by one digit.
func withoutNumbers(text string) string {
	var b bytes.Buffer
	digits := false
	for i := range len(text) {
		digit := text[i] >= '0' && text[i] <= '9'
		switch {
		case !digit:
			b.WriteByte(text[i])
		case !digits:
			b.WriteByte('0')
		}
		digits = digit
	}
	return b.String()
}
