package dedup

import (
	"fmt"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/corpus"
)

// ofTexts reports whether the criterion compares the texts themselves.
func (c *Command) ofTexts() bool { return c.Levenshtein != nil || c.Cosine != nil }

// textCriterion is the criterion where similarities of texts decide, also with --near and --verify.
func (c *Command) textCriterion() corpus.Criterion {
	switch {
	case c.Levenshtein != nil:
		return corpus.Levenshtein(float64(*c.Levenshtein))
	case c.Cosine != nil:
		return corpus.Cosine(float64(*c.Cosine))
	case c.Near != nil && c.Verify != nil:
		return corpus.Criterion{Sets: true, T: float64(*c.Verify)}
	case c.Jaccard != nil:
		return corpus.Criterion{Sets: true, T: float64(*c.Jaccard)}
	}
	return corpus.Criterion{}
}

// textMeaning is meaning of these measures. It says how pairs were found.
func (c *Command) textMeaning() string {
	share := "enough words"
	if c.Levenshtein != nil {
		if q := c.textCriterion().Measure.Q; q > 1 {
			share = fmt.Sprintf("a run of %d characters at about the same place", q)
		} else {
			share = "about the same length"
		}
	}
	return fmt.Sprintf("%s; of all pairs those that share %s were compared, and no others can be",
		app.SimilarityFlags{Levenshtein: c.Levenshtein, Cosine: c.Cosine}.Meaning(true), share)
}

// emptyNote says what documents lack that match nothing.
func (c *Command) emptyNote() string {
	if c.Levenshtein != nil {
		return "have no text; they match nothing and are kept"
	}
	return "have no words; they match nothing and are kept"
}
