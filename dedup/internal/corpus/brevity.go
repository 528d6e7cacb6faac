package corpus

import (
	"fmt"
	"unsafe"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/token"
)

// Brevity counts texts by how many words they have, few or many.
type Brevity struct {
	few   [fewWords]int64 // texts by their number of words
	texts int64
	seen  int64
}

// Of many texts one of countEach is counted: that is as good, and takes no time.
const (
	countAll  = 1024
	countEach = 64
)

// One word that changes in a text of fewWords changes at least three of its ten shingles, which
// leaves the two texts far less similar than thresholds that are usual.
const fewWords = 12

// Add counts a text; one without words does not count.
func (b *Brevity) Add(text string) {
	if b.seen++; b.seen > countAll && b.seen%countEach != 0 {
		return
	}
	n := token.Count(unsafe.Slice(unsafe.StringData(text), len(text)), false, fewWords) // only read
	if n > 0 {
		b.texts++
	}
	if n > 0 && n < fewWords {
		b.few[n]++
	}
}

// Advice says what finds more of short texts than shingles of words do, or "" if less than half of
// the texts are short, or what is compared is something else.
func (b *Brevity) Advice(of features.Spec) string {
	const least = 8 // words, which are few in any case
	if of.Unit != "" && of.Unit != features.Words {
		return ""
	}
	var n int64
	for words, texts := range b.few {
		if n += texts; b.texts >= 10 && 2*n >= b.texts && words+1 >= least {
			return fmt.Sprintf("half of the texts have fewer than %d words, and words that differ by a letter are different ones: %s or %s finds more",
				words+1, option.Set("Levenshtein", 0.9), option.Set("Shingle", "chars:5"))
		}
	}
	return ""
}
