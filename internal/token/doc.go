// Package token splits text into words and computes the hashes of shingles. This is version 3 of
// the tokenizer, on which fingerprints and sketches are based, and version 2, for older databases.
//
// A word is a maximal run of letters, marks and numbers (Unicode L, M, N) after full case folding;
// version 2 lower-cases rune by rune instead. In scripts that are written without spaces (Han, Hiragana, Katakana, Thai, Lao, Khmer,
// Myanmar) every letter or number is a separate word, together with the marks that follow it. A
// shingle is K consecutive words; a text of 1 to K-1 words has one shingle of all its words. A text
// without letters and numbers has one word: the text itself without leading and trailing white
// space. A text of only white space has no word. With symbols, each run of other characters except
// white space is a word, too.
//
// All of this is part of the format of stored fingerprints; docs/format/fingerprints.md pins it
// with known answers.
package token

// Versions of the tokenizer and the hash function in this package.
const (
	Version     = 3
	HashVersion = 1
)

// BytesPerWord is the approximate size of a word and the following space in most languages, for
// estimates of the number of words.
const BytesPerWord = 6
