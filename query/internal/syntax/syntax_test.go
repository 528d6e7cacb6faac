package syntax

import (
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/spelling"
)

// vocabulary is a language with words of every kind.
var vocabulary = New(Vocabulary{
	Predicates: []string{"NEAR", "NEAREST", "JACCARD", "LEVENSHTEIN", "COSINE"},
	Statements: []StatementWord{
		{"COUNT", Keyword, ""}, {"GET", Keyword, ExpectID}, {"PUT", Keyword, "a document"}, {"WHY", TwoIDs, ExpectTwoIDs},
		{"PAIRS", Keyword, ExpectCriterion}, {"PRUNE", Keyword, "OLDER"}, {"STATS", Bare, ""}, {"CHECK", Bare, ""},
	},
	Keywords: []string{"ID", "LIKE", "IN", "ESCAPE", "AND", "OR", "NOT", "ORDER", "BY", "LIMIT", "OLDER", "TEXT"},
})

func TestDuration(t *testing.T) {
	day := 24 * time.Hour
	for s, want := range map[string]time.Duration{
		"2d": 2 * day, "48h": 2 * day, "30m": 30 * time.Minute, "1d12h": 36 * time.Hour, "1.5h": 90 * time.Minute,
		"1w": 7 * day, "500ms": 500 * time.Millisecond, "10s": 10 * time.Second, "2D": 2 * day,
		"": -1, "d": -1, "2": -1, "2x": -1, "2dd": -1, "1..5h": -1, "99999999w": -1, "-2d": -1,
	} {
		got, ok := ParseDuration(s)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %v, %v", s, got, ok)
		}
	}
}

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
