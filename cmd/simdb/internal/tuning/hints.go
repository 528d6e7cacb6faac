package tuning

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup/tune"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
)

// catalogue is the share of similar pairs with a difference that recurs from which documents look like
// the entries of a catalogue: names of diagnoses have 99 %, records of persons 0 %.
const catalogue = 0.5

// hints suggests flags that suit the documents of the sample, and a rule where no threshold may do.
func (c *Command) hints(params features.Params, r *tune.Report) (said []string) {
	if !r.Scored || features.IsGiven(params.Features.Unit) {
		return nil
	}
	short, n := r.Brevity(engine.Features(params.Features))
	_, recurring := r.Differences(1)
	if recurring >= catalogue {
		short = "" // what it finds in addition would be other things
	}
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
	if hint := differences(r); hint != "" {
		said = append(said, hint)
	}
	common := common(params, r)
	if common >= templated {
		said = append(said, fmt.Sprintf("%.0f %% of the shingles of a document are in more than 1 %% of the documents, as on pages of one template: --ignore-common 1%% compares the others", 100*common))
	}
	if learn := "simdb learn " + app.ShellWord(c.Data) + " -o pairs.rule"; recurring >= catalogue {
		said = append(said, "in a catalogue one word decides, not a threshold: 20 answers find a rule: "+learn)
	} else if common >= templated {
		said = append(said, "whether pages of one template are the same, 20 answers tell: "+learn)
	} else if short != "" {
		said = append(said, "for records and other short texts, 20 answers find the unit and the threshold: "+learn)
	}
	return said
}

// templated is the share of common shingles from which documents look like pages of a template: pages of
// a manual have 24 %, licences 55 %, names of diagnoses 19 %, verses and descriptions of an API 9 %.
const templated = 0.2

// common returns which share of the shingles of a document more than 1 % of the sampled documents
// have, on average; 0 if the sample is too small to tell.
func common(params features.Params, r *tune.Report) float64 {
	docs := 0
	for _, node := range r.Nodes {
		docs += node.Count
	}
	if docs < 500 {
		return 0
	}
	hasher := params.NewSetHasher()
	sets, counts := make([]features.Hashes, len(r.Nodes)), map[uint64]int{}
	for i, node := range r.Nodes {
		sets[i] = slices.Clone(hasher.Brief([]byte(node.Doc.Text)))
		for _, h := range sets[i] {
			counts[h] += node.Count
		}
	}
	sum, some := 0.0, 0
	for i, node := range r.Nodes {
		n := 0
		for _, h := range sets[i] {
			if 100*counts[h] > docs {
				n++
			}
		}
		if len(sets[i]) > 0 {
			sum += float64(node.Count) * float64(n) / float64(len(sets[i]))
			some += node.Count
		}
	}
	return sum / float64(max(some, 1))
}

// differences names the differences in words that recur, if there are many.
func differences(r *tune.Report) string {
	all, share := r.Differences(3)
	if share < 0.02 {
		return ""
	}
	var most []string
	for _, d := range all {
		words := d.Lacks + " / " + d.Adds
		if d.Lacks == "" {
			words = "+ " + d.Adds
		} else if d.Adds == "" {
			words = "- " + d.Lacks
		}
		most = append(most, fmt.Sprintf("%s (%.0f %%)", words, 100*d.Share))
	}
	return fmt.Sprintf("%.0f %% of the pairs with a similarity of 0.8 or more differ in the same words as two other pairs, as in a catalogue, where each document may be another thing; most often: %s",
		100*share, strings.Join(most, ", "))
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
