package engine

import (
	"encoding/json"
	"errors"
	"testing"
)

// TestCriterionText writes criteria as JSON, and reads them.
func TestCriterionText(t *testing.T) {
	for _, c := range []Criterion{
		{}, Near(0), Near(300), Jaccard(0.1 + 0.2).Estimated(), Jaccard(1e-9), Levenshtein(0.9), Cosine(1), Contains(0.5), Within(1. / 3),
	} {
		b, err := json.Marshal(c)
		got := Near(7)
		if err == nil {
			err = json.Unmarshal(b, &got)
		}
		if err != nil || got != c {
			t.Errorf("%s: %v, %v, want %v", b, got, err, c)
		}
	}
	for _, text := range []string{"NEAR", "near 3", "JACCARD x", "OTHER 1"} {
		var c Criterion
		if err := c.UnmarshalText([]byte(text)); !errors.Is(err, ErrInvalid) || c != (Criterion{}) {
			t.Errorf("%s: %v, %v", text, c, err)
		}
	}
}
