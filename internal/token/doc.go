// Package token turns text into words and words into shingle hashes: tokenizer version 2, which
// fingerprints and sketches are computed from.
//
// A word is a maximal run of letters, marks and numbers (Unicode L, M, N), lower-cased rune by
// rune. In scripts that are written without spaces (Han, Hiragana, Katakana, Thai, Lao, Khmer,
// Myanmar) every letter or number, with the marks that follow it, is a word of its own. A shingle
// is K consecutive words; a text of 1 to K-1 words has one shingle, all of its words. A text
// without letters and numbers has one word, itself without the white space around it; one of white
// space alone has none. With symbols each run of other characters but white space is a word, too.
//
// Everything here is part of the format of stored fingerprints: docs/format/fingerprints.md pins it
// by known answers.
package token

// The versions of the tokenizer and of the hash that this package implements.
const (
	Version     = 2
	HashVersion = 1
)

// BytesPerWord is about what a word and the space after it take in most languages, for guesses of
// the number of words.
const BytesPerWord = 6
