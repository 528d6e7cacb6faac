package rulejoin

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/rulejoin/ruletest"
)

// TestPlan checks what lists the pairs of rules whose similarity many pairs meet, beside an equality of
// few groups and of many.
func TestPlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(54, 2))
	var docs []ruletest.Doc
	for i := range 400 {
		text := ""
		for range 20 {
			text += string(rune('a' + rng.IntN(6)))
			if rng.IntN(5) == 0 {
				text += " "
			}
		}
		docs = append(docs, ruletest.Doc{Text: text, Name: fmt.Sprint(i % 200), Year: fmt.Sprint(i % 2)})
	}
	for rule, joins := range map[string]bool{
		"JACCARD(chars:2) >= 0.2 AND a.year = b.year": true, // common elements are counted
		"JACCARD(chars:2) >= 0.2 AND a.name = b.name": false,
		"LEVENSHTEIN >= 0.8 AND a.year = b.year":      true,
		"LEVENSHTEIN >= 0.8 AND a.name = b.name":      false,
		"LEVENSHTEIN >= 0.5 AND a.year = b.year":      false, // lengths tell little
		"COSINE >= 0.3 AND a.year = b.year":           false,
		"COSINE >= 0.99 AND a.year = b.year":          true,
	} {
		parsed, err := pairrule.Parse(rule)
		if err != nil {
			t.Fatal(err)
		}
		c := build(t, parsed, docs, false)
		drivers, err := c.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if got := drivers[0].Join >= 0; got != joins {
			t.Errorf("%s: %s", rule, &drivers[0])
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
