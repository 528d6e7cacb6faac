package corpus

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// shortTexts returns texts of a few words, mostly edited copies of others. Some are equal, empty,
// or have no words, and some repeat one word many times.
func shortTexts(r *rand.Rand, n int) []string {
	words := strings.Fields("a the of phone phones great case cases blue green history kingdom atlas clouds é ü 帝 京 篇 zz")
	letters := []rune("abé帝 -\xff")
	texts := []string{"", "", "...", "...", "a", "a", "b", "ab", "the the the the", "the the", "\xff\xfe", "\xff"}
	texts = append(texts, strings.Repeat("the ", 60)+"phone", strings.Repeat("the ", 50)+"phones")
	for len(texts) < n {
		if r.IntN(3) == 0 || len(texts) < 30 {
			var some []string
			for range 1 + r.IntN(9) {
				some = append(some, words[r.IntN(len(words))])
			}
			texts = append(texts, strings.Join(some, " "))
			continue
		}
		text := []rune(texts[14+r.IntN(len(texts)-14)])
		for range r.IntN(4) {
			at := r.IntN(len(text) + 1)
			if r.IntN(2) == 0 {
				text = slices.Insert(text, at, letters[r.IntN(len(letters))])
			} else if at < len(text) {
				text = slices.Delete(text, at, at+1)
			}
		}
		if fields := strings.Fields(string(text)); r.IntN(4) == 0 && len(fields) > 1 {
			r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
			text = []rune(strings.Join(fields, " "))
		}
		texts = append(texts, string(text))
	}
	return texts
}
