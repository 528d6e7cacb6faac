package syntax

import (
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/spelling"
)

// vocabulary is a language with words of every kind.
var vocabulary = New(Vocabulary{
	Predicates: []string{"NEAR", "NEAREST", "JACCARD", "LEVENSHTEIN", "COSINE"},
	Statements: []StatementWord{
		{"COUNT", ""}, {"GET", ExpectID}, {"PUT", "a document"}, {"WHY", ExpectTwoIDs}, {"PAIRS", ExpectCriterion}, {"BEGIN", ""},
	},
	Keywords: []string{"LIKE", "IN", "ESCAPE", "AND", "OR", "NOT", "ORDER", "BY", "LIMIT", "TEXT"},
})

func TestClosest(t *testing.T) {
	for word, want := range map[string]string{
		"NEER": "NEAR", "nerest": "NEAREST", "JACARD": "JACCARD", "levenstein": "LEVENSHTEIN", "cosin": "COSINE", "xyz": "",
		"naer": "NEAR", "levens": "LEVENSHTEIN", "": "", strings.Repeat("N", 1000): "",
	} {
		if got, _ := spelling.Closest(word, vocabulary.predicates); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
