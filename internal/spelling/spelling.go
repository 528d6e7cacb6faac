// Package spelling suggests a known word for a misspelled one.
package spelling

import "strings"

// Suggest returns "did you mean X?" for the closest of words, or "" if none is close. A word is
// close if at most a third of its letters differ, or if it is the only one that starts with word,
// which must have at least two letters.
func Suggest(word string, words []string) string {
	if w, ok := Closest(word, words); ok {
		return "did you mean " + w + "?"
	}
	return ""
}

// longestWord is the largest size of a word to compare, in bytes. It bounds the work.
const longestWord = 40

// Closest returns the closest of words, or false if none is close; see [Suggest]. Case does not
// count.
func Closest(word string, words []string) (string, bool) {
	if len(word) > longestWord {
		return "", false
	}
	upper := strings.ToUpper(word)
	best, bestDistance := "", 1+max(1, len(upper)/3)
	for _, w := range words {
		if d := editDistance(upper, strings.ToUpper(w)); d < bestDistance {
			best, bestDistance = w, d
		}
	}
	if best != "" {
		return best, true
	}
	var prefixed []string
	for _, w := range words {
		if len(upper) >= 2 && strings.HasPrefix(strings.ToUpper(w), upper) {
			prefixed = append(prefixed, w)
		}
	}
	if len(prefixed) == 1 {
		return prefixed[0], true
	}
	return "", false
}

// editDistance counts the insertions, deletions, replacements and swaps of adjacent letters that
// turn a into b (optimal string alignment).
func editDistance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		row, above, above2 := rows[i%3], rows[(i+2)%3], rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], above2[j-2]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}

// Elsewhere reads a table of words of other programs, with what to write here: a line "a b | text"
// is for the words a and b; %s in the text stands for the word in lower case.
func Elsewhere(table string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(table) {
		words, text, _ := strings.Cut(strings.TrimSpace(line), " | ")
		for word := range strings.FieldsSeq(words) {
			all[word] = strings.ReplaceAll(text, "%s", strings.ToLower(word))
		}
	}
	return all
}

// Part returns the text of the longest part of a word for which a table of Elsewhere has a line, or
// "". Such lines name the part after a mark.
func Part(table map[string]string, mark, word string) (text string) {
	longest := ""
	for key, of := range table {
		if part, ok := strings.CutPrefix(key, mark); ok && strings.Contains(word, part) && (len(part) > len(longest) || len(part) == len(longest) && part < longest) {
			longest, text = part, of
		}
	}
	return text
}
