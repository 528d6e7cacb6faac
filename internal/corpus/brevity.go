package corpus

import (
	"fmt"
	"unsafe"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/token"
)

// Brevity counts how many texts have few words.
type Brevity struct {
	few   [fewWords]int64 // texts by number of words
	texts int64
	seen  int64
}

// After countAll texts, only one of countEach is counted: the result is as good, and costs
// nothing.
const (
	countAll  = 1024
	countEach = 64
)

// One changed word in a text of fewWords changes at least three of its ten shingles, which makes
// the two texts far less similar than usual thresholds require.
const fewWords = 12

// Add counts a text, unless it has no words.
func (b *Brevity) Add(text string) {
	if b.seen++; b.seen > countAll && b.seen%countEach != 0 {
		return
	}
	n := token.Rules{}.Count(unsafe.Slice(unsafe.StringData(text), len(text)), fewWords) // the bytes are only read
	if n > 0 {
		b.texts++
	}
	if n > 0 && n < fewWords {
		b.few[n]++
	}
}

// Advice suggests options that find more near-duplicates among short texts than shingles of words
// do. It returns "" if less than half of the texts are short, or if other features are compared.
func (b *Brevity) Advice(of features.Spec) string {
	const least = 8 // words; a text with fewer is short in any case
	if of.Unit != "" && of.Unit != features.Words {
		return ""
	}
	var n int64
	for words, texts := range b.few {
		if n += texts; b.texts >= 10 && 2*n >= b.texts && words+1 >= least {
			return fmt.Sprintf("half of the texts have fewer than %d words, and one other letter makes another word: %s or %s finds more",
				words+1, option.Set("Levenshtein", 0.9), option.Set("Shingle", "chars:5"))
		}
	}
	return ""
}
